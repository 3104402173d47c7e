/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_fleet_damage.c - the files of a batch that are missing or damaged, for `fleet check`.
 *
 * A batch may have no rows of a detail table, and then has no file of it.  The last byte of
 * trace/BATCH.ids has a bit for each detail table with a file; batches of older versions lack the
 * byte, and what they lack is not known.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "cli/commands/cmd_fleet.h"
#include "cli/output/message.h"
#include "sql/values.h"

#define LARGEST_IDS ((size_t)64 << 20)
#define SHOWN_TRACES 5u

char tv_fleet_detail_bits(unsigned without)
{
    unsigned bits = 0;
    for (unsigned i = TV_FLEET_THREAD; i < TV_FLEET_TRACE; i++)
        bits |= (without & 1u << i) ? 0 : 1u << (i - TV_FLEET_THREAD);
    return (char)bits;
}

/* A batch whose files are looked at. */
struct damage_batch {
    const char *to;
    uint64_t number;
    uint64_t traces;  /* by the list of their numbers; 0: it cannot be read */
    unsigned details; /* as tv_fleet_detail_bits */
};

static void damage_read_list(struct damage_batch *batch)
{
    char path[PATH_MAX], *text;
    size_t length;
    struct tv_error ignored = {0};
    snprintf(path, sizeof path, "%s/trace/%016" PRIx64 ".ids", batch->to, batch->number);
    if (tv_file_read_text(path, LARGEST_IDS, &text, &length, &ignored) != TV_OK)
        return;
    batch->traces = length / 8;
    if (length % 8 == 1)
        batch->details = (unsigned char)text[length - 1];
    tv_free(text);
}

/* Write a line if a file of the batch is missing or damaged; tell if it is. */
static bool damage_check_file(struct tv_sql *sql, const struct damage_batch *batch,
                              enum tv_fleet_table table, struct tv_out *out)
{
    char path[PATH_MAX], name[32];
    struct stat info;
    struct tv_error reason = {0};
    const char *folder = tv_fleet_table_name(table);
    snprintf(name, sizeof name, "%016" PRIx64 ".parquet", batch->number);
    snprintf(path, sizeof path, "%s/%s/%s", batch->to, folder, name);
    bool missing = stat(path, &info) != 0;
    if (missing && tv_fleet_is_detail(table) &&
        !(batch->details & 1u << ((unsigned)table - TV_FLEET_THREAD)))
        return false;
    if (!missing && tv_fleet_read_file(sql, table, name, &reason) == TV_OK)
        return false;
    tv_out_format(out, "%016" PRIx64 ": %s/%s is %s: the rows of %s of ", batch->number, folder,
                  name, missing ? "missing" : "damaged", folder);
    if (batch->traces > 0)
        tv_out_format(out, "%" PRIu64 " %s are lost", batch->traces,
                      tv_plural((size_t)batch->traces, "trace", "traces"));
    else
        tv_out_text(out, "its traces are lost");
    if (!missing)
        tv_out_format(out, " (%s)", reason.message);
    tv_out_char(out, '\n');
    return true;
}

static enum tv_status damage_take_trace(void *context, const struct tv_sql_value *values,
                                        struct tv_error *err)
{
    struct tv_out *out = context;
    (void)err;
    tv_out_text(out, "    ");
    /* A name comes from outside: as JSON it has no control characters. */
    tv_out_json(out, values[0].kind == TV_SQL_IS_TEXT ? values[0].text : (struct tv_bytes){0});
    tv_out_char(out, '\n');
    return TV_OK;
}

/* Write how the batch is repaired, with its traces if they are known. */
static void damage_put_advice(struct tv_sql *sql, const struct damage_batch *batch,
                              struct tv_out *out)
{
    struct tv_out query, traces;
    struct tv_error ignored = {0};
    tv_out_format(out,
                  "  restore the file from a copy; or remove the batch, rm %s/*/%016" PRIx64
                  ".*, and add its traces again",
                  batch->to, batch->number);
    tv_out_init_memory(&query);
    tv_out_init_memory(&traces);
    tv_out_format(&query,
                  "select uri from read_parquet(getvariable('folder') || '/trace/%016" PRIx64
                  ".parquet') order by uri limit %u",
                  batch->number, SHOWN_TRACES);
    tv_out_char(&query, '\0');
    /* Without the file of traces they are not known. */
    bool is_known = tv_sql_for_each_row(sql, (const char *)query.buffer, 1, damage_take_trace,
                                        &traces, &ignored) == TV_OK;
    tv_out_text(out, is_known ? ":\n" : "; those of other batches are skipped\n");
    tv_out_bytes(out, (struct tv_bytes){traces.buffer, is_known ? traces.length : 0});
    if (is_known && batch->traces > SHOWN_TRACES)
        tv_out_format(out, "    and %" PRIu64 " more\n", batch->traces - SHOWN_TRACES);
    tv_out_release(&query);
    tv_out_release(&traces);
}

bool tv_fleet_check_files(struct tv_sql *sql, const char *to, uint64_t number, struct tv_out *out)
{
    struct damage_batch batch = {.to = to, .number = number};
    bool is_faulty = false;
    damage_read_list(&batch);
    for (int i = 0; i < TV_FLEET_TABLES; i++)
        is_faulty = damage_check_file(sql, &batch, (enum tv_fleet_table)i, out) || is_faulty;
    if (is_faulty)
        damage_put_advice(sql, &batch, out);
    return is_faulty;
}
