/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_splits.c - reading a file in chunks gives exactly the trace of a serial reading: the indexes
 * of both are equal byte for byte (columns, paths, tables, strings, diagnostics).
 *
 *     test-splits ROUNDS FILE...
 *
 * Each round draws 2 to 9 chunks that begin anywhere: evenly distributed, close together, at the
 * same byte.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "kept.h"

#define MAX_PARTS 9u
#define MAX_BYTES ((size_t)64 << 20)

static uint64_t state = 1;

static uint64_t below(uint64_t limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % limit;
}

static void bail_out(const char *path, const struct tv_error *err)
{
    printf("Bail out! %s: %s\n", path, err->message);
    exit(1);
}

/* Write the index of what the chunks give, or the error of the reading. */
static void put_reading(struct tv_bytes bytes, unsigned parts, const uint64_t *starts,
                        struct tv_out *out)
{
    struct tv_read_options options = {.parts = parts, .part_starts = starts};
    struct tv_error err;
    struct tv_trace *trace = kept_load_with(bytes, &options, &err);
    tv_out_init_memory(out);
    if (!trace) {
        tv_out_text(out, err.message);
        return;
    }
    if (tv_index_write(trace, TV_BYTES("key"), NULL, out, &err) != TV_OK)
        bail_out("the index", &err);
    tv_trace_free(trace);
}

static int compare_starts(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static unsigned draw_starts(uint64_t size, uint64_t starts[MAX_PARTS])
{
    unsigned parts = 2 + (unsigned)below(MAX_PARTS - 1);
    uint64_t span = below(3) == 0 ? 1 + below(200) : size + 1;
    uint64_t from = below(size + 1);
    for (unsigned i = 0; i < MAX_PARTS; i++)
        starts[i] = (from + below(span)) % (size + 1);
    qsort(starts, parts, sizeof *starts, compare_starts);
    return parts;
}

static bool is_same(struct tv_bytes bytes, const struct tv_out *serial)
{
    uint64_t starts[MAX_PARTS];
    unsigned parts = draw_starts(bytes.length, starts);
    struct tv_out got;
    put_reading(bytes, parts, starts, &got);
    bool same = tv_bytes_equal((struct tv_bytes){serial->buffer, serial->length},
                               (struct tv_bytes){got.buffer, got.length});
    size_t at = 0;
    while (!same && at < serial->length && at < got.length && serial->buffer[at] == got.buffer[at])
        at++;
    if (!same)
        printf("# %u parts: %zu bytes instead of %zu, first difference at byte %zu\n", parts,
               got.length, serial->length, at);
    for (unsigned i = 0; i < parts && !same; i++)
        printf("# a start at %" PRIu64 "\n", starts[i]);
    tv_out_release(&got);
    return same;
}

static bool check_file(const char *path, unsigned number, unsigned rounds)
{
    struct tv_error err;
    struct tv_out serial;
    char *text;
    size_t length;
    if (tv_file_read_text(path, MAX_BYTES, &text, &length, &err) != TV_OK)
        bail_out(path, &err);
    struct tv_bytes bytes = {(const uint8_t *)text, length};
    put_reading(bytes, 1, NULL, &serial);
    bool same = true;
    for (unsigned i = 0; i < rounds && same; i++)
        same = is_same(bytes, &serial);
    const char *slash = strrchr(path, '/');
    printf("%sok %u - %s: %u splits\n", same ? "" : "not ", number, slash ? slash + 1 : path,
           rounds);
    fflush(stdout);
    tv_out_release(&serial);
    tv_free(text);
    return same;
}

int main(int argc, char **argv)
{
    bool good = argc > 2;
    unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    for (int i = 2; i < argc; i++)
        good = check_file(argv[i], (unsigned)i - 1, rounds) && good;
    printf("1..%d\n", argc - 2);
    return good ? 0 : 1;
}
