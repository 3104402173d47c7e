/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_damage.c - every truncation and single-byte changes of the inputs of .case files, and of
 * other small files.
 *
 *     test-damage --ways N FILE...   .case files, or traces of at most 4 KiB; each byte becomes N
 *                                    others (255: all)
 *
 * All must end in a result or an error; sanitizers watch.  Of a file cut off, the records before
 * the cut are kept.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/workers.h"
#include "cases.h"
#include "recording.h"

#define LARGEST 4096

static unsigned tests, failures, ways;

static struct recording *read_bytes(struct tv_bytes bytes, unsigned parts)
{
    struct tv_source *source = tv_source_from_memory(bytes, "test");
    struct recording *recording = recording_read(source, parts, NULL, RECORDING_PLAIN);
    tv_source_free(source);
    return recording;
}

static int compare_offsets(const void *left, const void *right)
{
    uint64_t a = ((const struct recorded *)left)->offset;
    uint64_t b = ((const struct recorded *)right)->offset;
    return a < b ? -1 : a > b;
}

static struct recorded *events_by_offset(const struct recording *recording, size_t *count)
{
    struct recorded *all = recording_all(recording, count);
    qsort(all, *count, sizeof *all, compare_offsets);
    return all;
}

static uint64_t thread_id(const struct recording *recording, const struct recorded *recorded)
{
    return recording->head->threads[recorded->event.thread].id;
}

/* How many events surely end before the cut: those after which the next begins before it. */
static size_t surely_before(const struct recorded *events, size_t count, uint64_t cut)
{
    size_t before = 0;
    while (before + 1 < count && events[before + 1].offset <= cut)
        before++;
    return before;
}

/* Are the events of a file cut off those of the whole one? */
static bool keeps_events(const struct recording *whole, const struct recording *part, uint64_t cut)
{
    size_t whole_count, count, i = 0;
    struct recorded *all = events_by_offset(whole, &whole_count);
    struct recorded *kept = events_by_offset(part, &count);
    bool good = count >= surely_before(all, whole_count, cut) && count <= whole_count;
    for (; good && i < count; i++)
        good = kept[i].offset == all[i].offset && kept[i].event.action == all[i].event.action &&
               thread_id(part, &kept[i]) == thread_id(whole, &all[i]);
    if (!good)
        printf("# cut at %u: %zu events kept, of %zu\n", (unsigned)cut, count, whole_count);
    tv_free(all);
    tv_free(kept);
    return good;
}

/* Offsets are those of the file, and records stand for themselves. */
static bool is_cuttable(const struct recording *whole, struct tv_bytes bytes)
{
    return whole->status == TV_OK && whole->head->inputs[0].bytes == bytes.length;
}

static bool truncations_keep_records(struct tv_bytes bytes)
{
    struct recording *whole = read_bytes(bytes, 1);
    bool compares = is_cuttable(whole, bytes), good = true;
    for (size_t cut = 0; cut < bytes.length && good; cut++) {
        /* A block of its own, so that a byte too far is seen. */
        uint8_t *copy = tv_alloc(cut, 1);
        if (cut > 0)
            memcpy(copy, bytes.data, cut);
        struct recording *part = read_bytes((struct tv_bytes){copy, cut}, 1 + (unsigned)cut % 3);
        good = !compares || keeps_events(whole, part, cut);
        recording_free(part);
        tv_free(copy);
    }
    recording_free(whole);
    return good;
}

/* When not all values are tried: single bits, and values with a meaning somewhere. */
static uint8_t changed(uint8_t byte, unsigned way)
{
    static const uint8_t values[] = {0, 0xff, 0x7f, 0x80, '\n', '*', '0', '\t'};
    if (ways == 255)
        return (uint8_t)(byte ^ (way + 1));
    return way < 8 ? (uint8_t)(byte ^ 1u << way) : values[(way - 8) % TV_COUNT(values)];
}

static void change_bytes(struct tv_bytes bytes)
{
    uint8_t *copy = tv_alloc(bytes.length, 1);
    if (bytes.length > 0)
        memcpy(copy, bytes.data, bytes.length);
    for (size_t i = 0; i < bytes.length; i++) {
        for (unsigned way = 0; way < ways; way++) {
            copy[i] = changed(bytes.data[i], way);
            recording_free(read_bytes((struct tv_bytes){copy, bytes.length}, 1 + way % 2));
        }
        copy[i] = bytes.data[i];
    }
    tv_free(copy);
}

static void damage(struct tv_bytes bytes, const char *name)
{
    bool good = truncations_keep_records(bytes);
    printf("%sok %u - %s: cut anywhere\n", good ? "" : "not ", ++tests, name);
    failures += !good;
    fflush(stdout);
    change_bytes(bytes);
    printf("ok %u - %s: changed anywhere\n", ++tests, name);
}

static void damage_case(struct test_case *test, void *context)
{
    (void)context;
    damage(test->input, test->name);
}

static void damage_file(const char *path)
{
    struct tv_out bytes;
    tv_out_init_memory(&bytes);
    cases_read_file(path, &bytes);
    if (bytes.length <= LARGEST)
        damage((struct tv_bytes){bytes.buffer, bytes.length}, strrchr(path, '/') + 1);
    tv_out_release(&bytes);
}

int main(int argc, char **argv)
{
    if (argc < 3 || strcmp(argv[1], "--ways") != 0)
        return 2;
    tv_workers_run_inline(true);
    ways = (unsigned)atoi(argv[2]);
    for (int i = 3; i < argc; i++) {
        const char *ending = strrchr(argv[i], '.');
        if (ending && strcmp(ending, ".case") == 0)
            cases_for_each(argv[i], damage_case, NULL);
        else
            damage_file(argv[i]);
    }
    printf("1..%u\n", tests);
    return failures > 0;
}
