/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_fleet_labels.c - labels of traces from a table (`fleet add --labels-from`).
 *
 *     file,version,device          a row for each trace; the column `file` has its path, or the end
 *     runs/1.trace,1.4,"lab, 1"    of it from a folder on; an empty cell is no label
 *
 * The table is CSV as in RFC 4180.
 */
#include "cli/commands/cmd_fleet.h"

#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"

#define LARGEST_TABLE ((size_t)256 << 20)
#define MAX_COLUMNS 256u

/* A table that is being read. */
struct labels_reader {
    struct tv_fleet_labels *table;
    char *at, *end;
    unsigned line;
    const char *names[MAX_COLUMNS]; /* names of the columns, in the text */
    size_t columns, file_column;
};

/* Take a quoted cell; its text is moved over the quotes.  NULL: the quote is not closed. */
static char *labels_take_quoted(struct labels_reader *reader)
{
    char *start = ++reader->at, *to = start;
    while (reader->at < reader->end) {
        if (*reader->at == '"') {
            if (reader->at[1] != '"') {
                reader->at++;
                *to = '\0';
                return start;
            }
            reader->at++;
        }
        reader->line += *reader->at == '\n';
        *to++ = *reader->at++;
    }
    return NULL;
}

/* Take a cell and the separator after it; *last: the row ends with it. */
static enum tv_status labels_take_cell(struct labels_reader *reader, const char **cell, bool *last,
                                       struct tv_error *err)
{
    char *start = reader->at, *end = NULL;
    if (reader->at < reader->end && *reader->at == '"') {
        start = labels_take_quoted(reader);
    } else {
        reader->at += strcspn(reader->at, ",\r\n");
        end = reader->at;
    }
    char separator = *reader->at;
    if (!start ||
        (separator != ',' && separator != '\r' && separator != '\n' && reader->at < reader->end))
        return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET, "line %u: a quote is not closed",
                       reader->line);
    *last = separator != ',';
    if (reader->at < reader->end)
        reader->at += separator == '\r' && reader->at[1] == '\n' ? 2 : 1;
    if (end)
        *end = '\0';
    *cell = start;
    return TV_OK;
}

/* Take a row; *count: its cells. */
static enum tv_status labels_take_row(struct labels_reader *reader, const char *cells[MAX_COLUMNS],
                                      size_t *count, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    *count = 0;
    reader->line++;
    for (bool last = false; !last && status == TV_OK;) {
        if (*count == MAX_COLUMNS)
            return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "line %u: more than %u columns",
                           reader->line, MAX_COLUMNS);
        status = labels_take_cell(reader, &cells[*count], &last, err);
        ++*count;
    }
    return status;
}

static enum tv_status labels_take_header(struct labels_reader *reader, struct tv_error *err)
{
    enum tv_status status = labels_take_row(reader, reader->names, &reader->columns, err);
    if (status != TV_OK)
        return status;
    reader->file_column = reader->columns;
    for (size_t i = 0; i < reader->columns; i++) {
        if (strcmp(reader->names[i], "file") == 0)
            reader->file_column = i;
        else if (reader->names[i][0] == '\0' || strchr(reader->names[i], '='))
            return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET, "line 1: '%s' cannot name a label",
                           reader->names[i]);
    }
    if (reader->file_column == reader->columns)
        return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET, "line 1: there is no column 'file'");
    return TV_OK;
}

/* Add the labels of a row, as "KEY=VALUE". */
static void labels_add_row(struct labels_reader *reader, const char *cells[MAX_COLUMNS])
{
    struct tv_fleet_labels *table = reader->table;
    uint32_t file = tv_interner_add(table->files, tv_bytes_of(cells[reader->file_column]));
    tv_map_set(&table->first, file, (uint32_t)table->count);
    for (size_t i = 0; i < reader->columns; i++) {
        if (i == reader->file_column || cells[i][0] == '\0')
            continue;
        struct tv_out text;
        tv_out_init_memory(&text);
        tv_out_text(&text, reader->names[i]);
        tv_out_char(&text, '=');
        tv_out_text(&text, cells[i]);
        tv_out_char(&text, '\0');
        table->entries = tv_array_reserve(table->entries, &table->room, table->count + 1,
                                          sizeof *table->entries);
        table->entries[table->count++] = (struct tv_fleet_label_entry){
            file, tv_interner_add(table->texts, (struct tv_bytes){text.buffer, text.length})};
        tv_out_release(&text);
    }
}

static enum tv_status labels_read(struct tv_fleet_labels *table, char *text, size_t length,
                                  struct tv_error *err)
{
    struct labels_reader reader = {.table = table, .at = text, .end = text + length};
    const char *cells[MAX_COLUMNS];
    size_t count;
    if (memchr(text, '\0', length))
        return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET, "is not text");
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        reader.at += 3;
    enum tv_status status = labels_take_header(&reader, err);
    while (status == TV_OK && reader.at < reader.end) {
        status = labels_take_row(&reader, cells, &count, err);
        if (status != TV_OK || (count == 1 && cells[0][0] == '\0'))
            continue;
        if (count != reader.columns)
            return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET, "line %u: %zu cells, not %zu",
                           reader.line, count, reader.columns);
        labels_add_row(&reader, cells);
    }
    return status;
}

enum tv_status tv_fleet_labels_read(struct tv_fleet_labels *table, const char *path,
                                    struct tv_error *err)
{
    char *text;
    size_t length;
    *table = (struct tv_fleet_labels){.files = tv_interner_new(), .texts = tv_interner_new()};
    tv_map_init(&table->first);
    if (!path)
        return TV_OK;
    enum tv_status status = tv_file_read_text(path, LARGEST_TABLE, &text, &length, err);
    if (status != TV_OK)
        return tv_error_prefix(err, "--labels-from: %s", path);
    status = labels_read(table, text, length, err);
    tv_free(text);
    return status == TV_OK ? TV_OK : tv_error_prefix(err, "--labels-from: %s", path);
}

void tv_fleet_labels_release(struct tv_fleet_labels *table)
{
    tv_interner_free(table->files);
    tv_interner_free(table->texts);
    tv_map_release(&table->first);
    tv_free(table->entries);
}

bool tv_fleet_labels_find(const struct tv_fleet_labels *table, const char *path,
                          struct tv_words *labels)
{
    uint32_t file = tv_interner_find(table->files, tv_bytes_of(path));
    for (const char *slash = path; file == TV_NONE && (slash = strchr(slash, '/')); slash++)
        file = tv_interner_find(table->files, tv_bytes_of(slash + 1));
    if (file == TV_EMPTY_STRING || file == TV_NONE)
        return false;
    for (size_t i = tv_map_find(&table->first, file); i < table->count; i++) {
        if (table->entries[i].file != file)
            break;
        tv_words_add(labels,
                     (const char *)tv_interner_get(table->texts, table->entries[i].text).data);
    }
    return true;
}
