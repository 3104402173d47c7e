# SPDX-License-Identifier: Apache-2.0
# bash completion for traceview.  The program itself says what fits (src/cli/commands/cmd_help.c), so that
# this file cannot fall behind it.

_traceview() {
    local word=${COMP_WORDS[COMP_CWORD]} words=() line
    # bash takes "--format=csv" for three words: put them together again.
    for line in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if [[ ${#words[@]} -gt 0 && ($line == = || ${words[-1]} == --*=) ]]; then
            words[-1]+=$line
        else
            words+=("$line")
        fi
    done
    [[ $word == = ]] && word=
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
        else
            line=${line%%$'\t'*}
            [[ ${words[-1]} == --*=* ]] && line=${line#*=}
            COMPREPLY+=("$line")
        fi
    done < <(traceview --complete "${words[@]}" 2> /dev/null)
}

complete -o filenames -F _traceview traceview
