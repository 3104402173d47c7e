/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/config.h"

#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"

#define CONFIG_LARGEST_FILE ((size_t)1 << 20)

/* Whether the option was set before the file was opened. */
static bool config_is_given(const struct tv_option *table, struct tv_bytes name, uint64_t given)
{
    for (size_t i = 0; table[i].name != NULL; i++)
        if (tv_bytes_equal(tv_bytes_of(table[i].name), name))
            return (given >> i & 1) != 0;
    return false;
}

/* A line without its end, which may be changed: a NUL is put behind the value. */
static enum tv_status config_read_line(const struct tv_option *table, char *line, size_t length,
                                uint64_t given, struct tv_settings *settings, struct tv_error *err)
{
    struct tv_bytes rest = tv_bytes_trim((struct tv_bytes){(const uint8_t *)line, length}), name;
    const char *value = NULL;
    if (rest.length == 0 || rest.data[0] == '#')
        return TV_OK;
    if (tv_bytes_split(&rest, '=', &name)) {
        rest = tv_bytes_trim(rest);
        char *start = line + (rest.data - (const uint8_t *)line);
        start[rest.length] = '\0';
        value = start;
    }
    name = tv_bytes_trim(name);
    if (tv_bytes_equal(name, TV_BYTES("config")) || tv_bytes_equal(name, TV_BYTES("help")))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--%.*s stands on the command line alone",
                       (int)name.length, (const char *)name.data);
    if (config_is_given(table, name, given))
        return TV_OK;
    return tv_options_set(table, name, value, settings, err);
}

enum tv_status tv_config_read(const struct tv_option *table, const char *path,
                              struct tv_settings *settings, char **text, struct tv_error *err)
{
    const uint64_t given = settings->given;
    size_t length;
    *text = NULL;
    enum tv_status status = tv_file_read_text(path, CONFIG_LARGEST_FILE, text, &length, err);
    if (status != TV_OK) {
        *text = NULL;
        return tv_error_prefix(err, "%s", path);
    }
    char *line = *text, *end = *text + length;
    for (unsigned number = 1; status == TV_OK && line < end; number++) {
        char *next = memchr(line, '\n', (size_t)(end - line));
        if (next == NULL)
            next = end;
        status = config_read_line(table, line, (size_t)(next - line), given, settings, err);
        if (status != TV_OK)
            tv_error_prefix(err, "%s: line %u", path, number);
        line = next + 1;
    }
    return status;
}
