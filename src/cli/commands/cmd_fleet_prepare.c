/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_fleet_prepare.c - `fleet prepare`: the files that make `trends` and `changes` fast
 * (src/fleet/prepared.c).
 *
 *     FOLDER/prepared/NAME.FIGURE.parquet
 *
 * Each file is complete when it has its name, so a killed command goes on where it was.  Files of
 * traces that came or went are removed when they are an hour old: a question may still read them.
 */
#include "cli/commands/cmd_fleet.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "cli/output/message.h"
#include "cli/output/output.h"
#include "sql/values.h"

#define NAME_DIGITS 32u
#define HOUR (60 * 60)
#define LONGEST_NAME 80 /* of a file: digits, figure and suffix */

struct prepare_part {
    int64_t number;
    char name[NAME_DIGITS + 1];
};

struct prepare_parts {
    struct prepare_part *items;
    size_t count, room;
};

static enum tv_status prepare_take_part(void *context, const struct tv_sql_value *values,
                                        struct tv_error *err)
{
    struct prepare_parts *parts = context;
    if (values[1].kind != TV_SQL_IS_TEXT || values[1].text.length != NAME_DIGITS)
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET, "SQL: a part has no name");
    parts->items =
        tv_array_reserve(parts->items, &parts->room, parts->count + 1, sizeof *parts->items);
    struct prepare_part *part = &parts->items[parts->count++];
    part->number = values[0].integer;
    memcpy(part->name, values[1].text.data, NAME_DIGITS);
    part->name[NAME_DIGITS] = '\0';
    return TV_OK;
}

/* List the parts that the fleet has now. */
static enum tv_status prepare_list(struct tv_fleet_store *store, struct prepare_parts *parts,
                                   struct tv_error *err)
{
    parts->count = 0;
    return tv_sql_for_each_row(store->sql, tv_fleet_prepared_parts, 2, prepare_take_part, parts,
                               err);
}

static void prepare_put_path(char path[PATH_MAX], const char *to, const struct prepare_part *part,
                             const char *figure)
{
    snprintf(path, PATH_MAX, "%s/prepared/%s.%s.parquet", to, part->name, figure);
}

static bool prepare_has_file(const char *to, const struct prepare_part *part, const char *figure)
{
    char path[PATH_MAX];
    struct stat info;
    prepare_put_path(path, to, part, figure);
    return stat(path, &info) == 0;
}

/* ---- Writing ---- */

static enum tv_status prepare_write_file(struct tv_fleet_store *store, const char *path,
                                         const struct tv_out *query, struct tv_error *err)
{
    struct tv_output output;
    struct tv_sql_output how = {.format = TV_SQL_PARQUET};
    enum tv_status status = tv_output_open(&output, path, true, err);
    if (status != TV_OK)
        return status;
    status = tv_sql_run(store->sql, (const char *)query->buffer, &how, &output.out, err);
    return tv_output_finish(&output, status, err);
}

/* Write the files of a part that are not there.  Its rows are collected for the first of them. */
static enum tv_status prepare_write_part(struct tv_fleet_store *store,
                                         const struct prepare_part *part, size_t *written,
                                         struct tv_error *err)
{
    const char *to = store->settings->fleet.to, *figure;
    enum tv_status status = TV_OK;
    bool is_collected = false;
    for (unsigned i = 0; status == TV_OK && (figure = tv_fleet_figure_name(i)); i++) {
        struct tv_out query;
        char path[PATH_MAX];
        if (prepare_has_file(to, part, figure))
            continue;
        tv_out_init_memory(&query);
        if (!is_collected)
            tv_fleet_put_part(&query, part->number);
        tv_fleet_put_prepared(&query, figure);
        tv_out_char(&query, '\0');
        prepare_put_path(path, to, part, figure);
        status = prepare_write_file(store, path, &query, err);
        is_collected = true;
        *written += status == TV_OK;
        tv_out_release(&query);
    }
    return status;
}

static bool prepare_is_listed(const struct prepare_parts *parts, const char *file)
{
    for (size_t i = 0; i < parts->count; i++)
        if (strncmp(file, parts->items[i].name, NAME_DIGITS) == 0)
            return true;
    return false;
}

/* Remove old files that belong to no part, also those that a killed command left. */
static void prepare_remove_rest(const char *to, const struct prepare_parts *parts)
{
    char path[PATH_MAX];
    struct stat info;
    int64_t now = tv_fleet_read_disk_clock(to, "prepared");
    snprintf(path, sizeof path, "%s/prepared", to);
    DIR *files = opendir(path);
    const struct dirent *file;
    while (files && (file = readdir(files))) {
        if (strlen(file->d_name) > LONGEST_NAME || prepare_is_listed(parts, file->d_name))
            continue;
        snprintf(path, sizeof path, "%s/prepared/%.*s", to, LONGEST_NAME, file->d_name);
        if (lstat(path, &info) == 0 && S_ISREG(info.st_mode) && now - info.st_mtime > HOUR)
            (void)unlink(path);
    }
    if (files)
        closedir(files);
}

/* Write all files that are not there.  Parts are listed again after damage was found: then they
 * are others. */
static enum tv_status prepare_write(struct tv_fleet_store *store, struct prepare_parts *parts,
                                    size_t *written, struct tv_error *err)
{
    enum tv_status status;
    do {
        status = prepare_list(store, parts, err);
        for (size_t i = 0; i < parts->count && status == TV_OK; i++)
            status = prepare_write_part(store, &parts->items[i], written, err);
    } while (status != TV_OK && tv_fleet_recover(store, err));
    return status;
}

enum tv_status tv_fleet_prepare(const struct tv_command *command,
                                const struct tv_settings *settings, int *code, struct tv_error *err)
{
    struct tv_fleet_store store;
    struct prepare_parts parts = {.items = NULL};
    char path[PATH_MAX];
    size_t written = 0;
    (void)command;
    enum tv_status status = tv_fleet_open(&store, settings, err);
    snprintf(path, sizeof path, "%s/prepared", settings->fleet.to);
    if (status == TV_OK && mkdir(path, 0777) != 0 && errno != EEXIST)
        status = tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", path, strerror(errno));
    if (status == TV_OK)
        status = prepare_write(&store, &parts, &written, err);
    tv_fleet_stop_meter(&store);
    if (status == TV_OK)
        prepare_remove_rest(settings->fleet.to, &parts);
    if (status == TV_OK && !settings->quiet)
        tv_message("traceview: %zu %s written for %zu %s of the versions", written,
                   tv_plural(written, "file", "files"), parts.count,
                   tv_plural(parts.count, "part", "parts"));
    tv_fleet_close(&store, code);
    tv_free(parts.items);
    return status;
}

/* ---- Reading ---- */

void tv_fleet_find_prepared(struct tv_fleet_store *store, struct tv_fleet_question *question,
                            struct tv_out *files)
{
    const char *to = store->settings->fleet.to;
    struct prepare_parts parts = {.items = NULL};
    struct tv_error ignored = {0};
    char path[PATH_MAX];
    struct stat info;
    bool complete = tv_fleet_can_be_prepared(question);
    snprintf(path, sizeof path, "%s/prepared", to);
    /* Without the folder, the question does not pay for listing the parts. */
    complete = complete && stat(path, &info) == 0 && prepare_list(store, &parts, &ignored) == TV_OK;
    for (size_t i = 0; i < parts.count && complete; i++) {
        complete = prepare_has_file(to, &parts.items[i], question->figure);
        tv_out_format(files, "%sgetvariable('folder') || '/prepared/%s.%s.parquet'",
                      i > 0 ? ", " : "", parts.items[i].name, question->figure);
    }
    tv_out_char(files, '\0');
    if (complete && parts.count > 0)
        question->prepared = (const char *)files->buffer;
    tv_free(parts.items);
}

bool tv_fleet_drop_prepared(const struct tv_fleet_store *store, struct tv_fleet_question *question,
                            struct tv_error *err)
{
    if (!question->prepared || !tv_fleet_may_be_damage(err))
        return false;
    tv_message("traceview: a file in %s/prepared is damaged (%s); the answer is computed without "
               "them: remove the folder and run 'traceview fleet prepare'",
               store->settings->fleet.to, err->message);
    question->prepared = NULL;
    *err = (struct tv_error){0};
    return true;
}
