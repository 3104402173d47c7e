# SPDX-License-Identifier: Apache-2.0
# fish completion for traceview.  The program itself says what fits (src/cli/commands/cmd_help.c), so that
# this file cannot fall behind it.

function __traceview_complete
    set -l before (commandline -opc)
    set -l word (commandline -ct)
    test (count $word) -eq 0; and set word ""
    for line in (traceview --complete $before[2..-1] $word 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path $word
        else
            echo $line
        end
    end
end

complete -c traceview -f -a "(__traceview_complete)"
