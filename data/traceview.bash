# SPDX-License-Identifier: Apache-2.0
# bash completion for traceview.  Commands and options come from the program's own help, so that
# this file cannot fall behind it.

_traceview_commands() {
    traceview --help 2> /dev/null | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p'
}

_traceview_options() {
    traceview "$@" --help 2> /dev/null | grep -o -e '--[a-z][a-z-]*' | sort -u
}

_traceview() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command=
    [[ $COMP_CWORD -gt 1 && ${COMP_WORDS[1]} != -* ]] && command=${COMP_WORDS[1]}

    COMPREPLY=()
    case $previous in
    --clock)
        mapfile -t COMPREPLY < <(compgen -W "real cpu" -- "$word")
        return
        ;;
    esac
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_traceview_options $command)" -- "$word")
        return
    fi
    mapfile -t COMPREPLY < <(
        [[ $COMP_CWORD -eq 1 ]] && compgen -W "$(_traceview_commands)" -- "$word"
        compgen -f -- "$word"
    )
}

complete -o filenames -F _traceview traceview
