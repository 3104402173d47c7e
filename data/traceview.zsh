#compdef traceview
# SPDX-License-Identifier: Apache-2.0
# zsh completion for traceview.  The program itself says what fits (src/cli/commands/cmd_help.c), so that this
# file cannot fall behind it.

_traceview() {
    local -a lines offers
    local line files=
    lines=("${(@f)$(traceview --complete "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2> /dev/null)}")
    for line in $lines; do
        if [[ $line == :files ]]; then
            files=1
        else
            line=${line//:/\\:}
            offers+=("${line/$'\t'/:}")
        fi
    done
    (( $#offers )) && _describe -t values traceview offers
    if [[ -n $files ]]; then
        [[ $PREFIX == --*=* ]] && compset -P '*='
        _files
    fi
}

_traceview "$@"
