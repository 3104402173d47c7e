# SPDX-License-Identifier: Apache-2.0
# bash completion for traceview.  Commands, options and their choices come from the program's own
# help, so that this file cannot fall behind it.

_traceview_help() {
    traceview "$@" --help 2> /dev/null
}

_traceview() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command=() words=
    [[ $COMP_CWORD -gt 1 && ${COMP_WORDS[1]} =~ ^[a-z]+$ ]] && command=("${COMP_WORDS[1]}")

    if [[ $previous == -* ]]; then
        # "  --clock real|cpu": what stands in small letters are the choices.
        words=$(_traceview_help "${command[@]}" | sed -n "s/^  $previous \([a-z|-]*\)$/\1/p")
    fi
    if [[ -z $words && $word == -* ]]; then
        words=$(_traceview_help "${command[@]}" | grep -o '^  --\?[a-z-]*')
    elif [[ -z $words && $COMP_CWORD -eq 1 ]]; then
        words=$(_traceview_help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p')
    fi

    mapfile -t COMPREPLY < <(compgen -W "${words//|/ }" -- "$word")
    # A file may stand wherever neither an option nor one of its choices does.
    if [[ $word != -* && ($COMP_CWORD -eq 1 || -z $words) ]]; then
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
    fi
}

complete -o filenames -F _traceview traceview
