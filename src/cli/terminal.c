/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/number.h"

/* The size of a terminal that does not tell its own, and the largest size that is believed. */
#define USUAL_COLUMNS 80
#define USUAL_ROWS 24
#define MOST_CELLS 10000

/* The value of a variable; "" stands for none. */
static const char *terminal_variable(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

/* Return the first valid number of: the environment variable, the terminal's answer, the usual
 * size. */
static uint32_t terminal_choose_size(const char *variable, uint32_t told, uint32_t usual)
{
    uint64_t value;
    if (tv_parse_u64(tv_bytes_of(terminal_variable(variable)), &value) && value > 0 && value <= MOST_CELLS)
        return (uint32_t)value;
    return told > 0 && told <= MOST_CELLS ? told : usual;
}

/* The first of these variables that is set decides, as in setlocale. */
static bool terminal_has_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < TV_COUNT(variables); i++) {
        const char *value = terminal_variable(variables[i]), *set = strchr(value, '.');
        if (value[0] != '\0')
            return set && (strncasecmp(set, ".UTF-8", 6) == 0 || strncasecmp(set, ".utf8", 5) == 0);
    }
    return false;
}

void tv_terminal_look(struct tv_terminal *terminal, int descriptor,
                      const struct tv_settings *settings)
{
    struct winsize size = {.ws_col = 0};
    const char *kind = terminal_variable("TERM");
    *terminal = (struct tv_terminal){.layout.columns = settings->columns};
    if (!isatty(descriptor))
        return;
    (void)ioctl(descriptor, TIOCGWINSZ, &size);
    terminal->dumb = kind[0] == '\0' || strcmp(kind, "dumb") == 0;
    terminal->rows = terminal_choose_size("LINES", size.ws_row, USUAL_ROWS);
    terminal->layout.terminal = true;
    terminal->layout.colors = !terminal->dumb && terminal_variable("NO_COLOR")[0] == '\0';
    terminal->layout.utf8 = terminal_has_utf8();
    if (!settings->wide)
        terminal->layout.width = terminal_choose_size("COLUMNS", size.ws_col, USUAL_COLUMNS);
}
