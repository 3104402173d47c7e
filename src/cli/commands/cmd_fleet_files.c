/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_fleet_files.c - the files of a fleet's folder: making the folder, and writing batches.
 *
 *     fleet.json   TABLE/BATCH.parquet   trace/BATCH.ids
 *
 * Each file is written as a whole and renamed.  A batch writes its file of traces last, because a
 * batch without it does not count; the numbers of its traces follow in a small file, so that adding
 * needs no reader of Parquet.  Without that file traces are only read again, and then found twice.
 */
#include "cli/commands/cmd_fleet.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/map.h"
#include "base/memory.h"
#include "cli/output/output.h"

#define LARGEST_IDS ((size_t)64 << 20)

/* ---- Making the folder ---- */

enum tv_status tv_fleet_make_folder(const char *path, struct tv_error *err)
{
    struct stat info;
    if (mkdir(path, 0777) != 0 &&
        (errno != EEXIST || stat(path, &info) != 0 || !S_ISDIR(info.st_mode)))
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", path, strerror(errno));
    return TV_OK;
}

/* Write a file as a whole, unless it is there. */
static enum tv_status fleet_make_file(const char *path, const struct tv_out *contents,
                                      struct tv_error *err)
{
    struct stat info;
    struct tv_output output;
    if (stat(path, &info) == 0)
        return TV_OK;
    enum tv_status status = tv_output_open(&output, path, true, err);
    if (status != TV_OK)
        return status;
    tv_out_bytes(&output.out, (struct tv_bytes){contents->buffer, contents->length});
    return tv_output_finish(&output, TV_OK, err);
}

/* Make the folder of a table, with a file without rows: the table is then never without files. */
static enum tv_status fleet_make_table(const char *to, enum tv_fleet_table table,
                                       struct tv_error *err)
{
    char path[PATH_MAX];
    struct tv_out empty;
    snprintf(path, sizeof path, "%s/%s", to, tv_fleet_table_name(table));
    enum tv_status status = tv_fleet_make_folder(path, err);
    if (status != TV_OK)
        return status;
    snprintf(path, sizeof path, "%s/%s/%016d.parquet", to, tv_fleet_table_name(table), 0);
    tv_out_init_memory(&empty);
    status = tv_fleet_batch_write(NULL, table, TV_FLEET_PARQUET, &empty, err);
    if (status == TV_OK)
        status = fleet_make_file(path, &empty, err);
    tv_out_release(&empty);
    return status;
}

enum tv_status tv_fleet_check_path(const char *path, struct tv_error *err)
{
    if (!strpbrk(path, "*?[{"))
        return TV_OK;
    return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                   "%s: a folder with * ? [ or { in its name cannot be asked", path);
}

enum tv_status tv_fleet_check_new_path(const char *to, struct tv_error *err)
{
    char path[PATH_MAX], parent[PATH_MAX];
    if (realpath(to, path))
        return tv_fleet_check_path(path, err);
    enum tv_status status = tv_fleet_check_path(to, err);
    size_t length = strlen(to);
    while (length > 0 && to[length - 1] == '/')
        length--;
    while (length > 0 && to[length - 1] != '/')
        length--;
    snprintf(parent, sizeof parent, "%.*s", length > 0 ? (int)length : 1, length > 0 ? to : ".");
    return status == TV_OK && realpath(parent, path) ? tv_fleet_check_path(path, err) : status;
}

/* Is a name in a folder one that a fleet may have before its fleet.json is written?  Names with a
 * dot are also those of files that are being written; a disk has lost+found. */
static bool fleet_may_have(const char *name)
{
    for (int i = 0; i < TV_FLEET_FOLDERS; i++)
        if (strcmp(name, tv_fleet_table_name((enum tv_fleet_table)i)) == 0)
            return true;
    return name[0] == '.' || tv_text_starts_with(name, "served.") ||
           strcmp(name, "lost+found") == 0;
}

/* Refuse a folder that has something else: it was hardly meant to become a fleet. */
static enum tv_status fleet_check_empty(const char *to, struct tv_error *err)
{
    DIR *folder = opendir(to);
    const struct dirent *entry;
    enum tv_status status = TV_OK;
    while (folder && status == TV_OK && (entry = readdir(folder)))
        if (!fleet_may_have(entry->d_name))
            status = tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                             "%s: no fleet: it has '%.100s', but no fleet.json: name the folder of "
                             "a fleet, or an empty one",
                             to, entry->d_name);
    if (folder)
        closedir(folder);
    return status;
}

enum tv_status tv_fleet_init(const char *to, struct tv_error *err)
{
    char path[PATH_MAX], *text = NULL;
    size_t length;
    struct stat info;
    struct tv_out json;
    snprintf(path, sizeof path, "%s/fleet.json", to);
    if (stat(path, &info) == 0) {
        enum tv_status status = tv_file_read_text(path, 1 << 16, &text, &length, err);
        if (status != TV_OK)
            return tv_error_prefix(err, "%s", path);
        const char *number = strstr(text, "\"schema\":");
        unsigned long schema = number ? strtoul(number + 9, NULL, 10) : 0;
        tv_free(text);
        if (schema == 0 || schema > TV_FLEET_SCHEMA)
            return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                           "%s: schema %lu; this version of traceview knows 1 to %d", path, schema,
                           TV_FLEET_SCHEMA);
        return TV_OK;
    }
    enum tv_status status = fleet_check_empty(to, err);
    if (status == TV_OK)
        status = tv_fleet_make_folder(to, err);
    for (int i = 0; i < TV_FLEET_TABLES && status == TV_OK; i++)
        status = fleet_make_table(to, (enum tv_fleet_table)i, err);
    if (status != TV_OK)
        return status;
    tv_out_init_memory(&json);
    tv_out_format(&json, "{\"schema\": %d}\n", TV_FLEET_SCHEMA);
    status = fleet_make_file(path, &json, err);
    tv_out_release(&json);
    return status;
}

enum tv_status tv_fleet_add_tables(const char *to, struct tv_error *err)
{
    char path[PATH_MAX];
    struct stat info;
    enum tv_status status = TV_OK;
    snprintf(path, sizeof path, "%s/fleet.json", to);
    if (stat(path, &info) != 0)
        return TV_OK;
    for (int i = TV_FLEET_THREAD; i < TV_FLEET_TRACE && status == TV_OK; i++)
        status = fleet_make_table(to, (enum tv_fleet_table)i, err);
    return status;
}

uint64_t *tv_fleet_read_ids(const char *path, size_t *count)
{
    struct tv_error ignored = {0};
    char *text;
    size_t length;
    *count = 0;
    if (tv_file_read_text(path, LARGEST_IDS, &text, &length, &ignored) != TV_OK)
        return NULL;
    uint64_t *ids = tv_alloc(length / 8 + 1, sizeof *ids);
    for (size_t i = 0; i + 8 <= length; i += 8) {
        uint64_t number = 0;
        for (size_t k = 0; k < 8; k++)
            number |= (uint64_t)(uint8_t)text[i + k] << 8 * k;
        ids[(*count)++] = number;
    }
    tv_free(text);
    return ids;
}

void tv_fleet_read_known_list(const char *path, struct tv_map *known)
{
    size_t count;
    uint64_t *ids = tv_fleet_read_ids(path, &count);
    for (size_t i = 0; i < count; i++)
        tv_map_set(known, ids[i], 1);
    tv_free(ids);
}

/* Lists of traces that are added to a map. */
struct fleet_known {
    const char *to;
    enum tv_fleet_table table;
    struct tv_map *traces;
};

static void fleet_take_list(void *context, const char *name)
{
    char path[PATH_MAX];
    const struct fleet_known *known = context;
    if (tv_fleet_batch_of_name(name, ".ids") == 0)
        return;
    snprintf(path, sizeof path, "%s/%s/%.20s", known->to, tv_fleet_table_name(known->table), name);
    tv_fleet_read_known_list(path, known->traces);
}

enum tv_status tv_fleet_read_known(const char *to, enum tv_fleet_table table, struct tv_map *known,
                                   struct tv_error *err)
{
    struct fleet_known lists = {to, table, known};
    return tv_fleet_visit_files(to, table, fleet_take_list, &lists, err);
}

/* ---- Writing batches ---- */

uint64_t tv_fleet_batch_of_name(const char *name, const char *suffix)
{
    return strspn(name, "0123456789abcdef") == 16 && strcmp(name + 16, suffix) == 0
               ? strtoull(name, NULL, 16)
               : 0;
}

void tv_fleet_put_path(char *path, const char *to, enum tv_fleet_table table, uint64_t batch,
                       const char *suffix)
{
    snprintf(path, PATH_MAX, "%s/%s/%016" PRIx64 "%s", to, tv_fleet_table_name(table), batch,
             suffix);
}

enum tv_status tv_fleet_write_files(const char *to, const struct tv_fleet_contents *contents,
                                    struct tv_error *err)
{
    char path[PATH_MAX];
    struct tv_output output;
    for (int i = 0; i < TV_FLEET_TABLES; i++) {
        if (contents->without & 1u << i)
            continue;
        tv_fleet_put_path(path, to, (enum tv_fleet_table)i, contents->batch, ".parquet");
        enum tv_status status = tv_output_open(&output, path, true, err);
        if (status == TV_OK) {
            status = contents->put(contents->context, (enum tv_fleet_table)i, &output.out, err);
            status = tv_output_finish(&output, status, err);
        }
        if (status != TV_OK)
            return status;
    }
    tv_fleet_put_path(path, to, TV_FLEET_TRACE, contents->batch, ".ids");
    enum tv_status status = tv_output_open(&output, path, true, err);
    if (status != TV_OK)
        return status;
    tv_out_bytes(&output.out, (struct tv_bytes){contents->ids->buffer, contents->ids->length});
    tv_out_char(&output.out, tv_fleet_detail_bits(contents->without));
    return tv_output_finish(&output, TV_OK, err);
}

bool tv_fleet_has_file(const char *to, enum tv_fleet_table table, uint64_t batch)
{
    char path[PATH_MAX];
    struct stat info;
    tv_fleet_put_path(path, to, table, batch, ".parquet");
    return !tv_fleet_is_detail(table) || stat(path, &info) == 0;
}
