/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_damage.c - a changed index is rejected, or it gives the same answers.
 *
 *     test-damage TIMES FILE...   trace files; TIMES changes to the index of each
 *
 * Then it makes changes that checksums do not reveal: these may change answers, but must never do
 * harm.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../readers/cases.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "damage.h"
#include "index/layout.h"
#include "kept.h"

#define KEY TV_BYTES("the key of a test")
#define MOST 3

static unsigned tests, failures;
static uint64_t random_state = 1;

static uint32_t next_random(uint32_t limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((random_state >> 33) % limit);
}

static struct tv_bytes bytes_of(const struct tv_out *out)
{
    return (struct tv_bytes){out->buffer, out->length};
}

static void report(bool good, const char *name, const char *what)
{
    printf("%sok %u - %s: %s\n", good ? "" : "not ", ++tests, name, what);
    failures += !good;
}

/* Flip bits, truncate, fill with zeros, or move a range. */
static void damage_bytes(struct tv_out *index)
{
    size_t at = next_random((uint32_t)index->length), to, length;
    switch (next_random(4)) {
    case 0:
        index->buffer[at] ^= (uint8_t)(1 + next_random(255));
        break;
    case 1:
        index->length = at;
        break;
    case 2:
        length = 1 + next_random(4096);
        memset(index->buffer + at, 0, length < index->length - at ? length : index->length - at);
        break;
    default:
        to = next_random((uint32_t)index->length);
        length = index->length - (at > to ? at : to);
        memmove(index->buffer + to, index->buffer + at, length);
        break;
    }
}

/* Return whether the index is rejected or gives the right answers. */
static bool is_harmless(const struct tv_out *index, const struct tv_trace *trace,
                        const struct tv_out *expected, unsigned *refused)
{
    struct tv_trace *read;
    struct tv_error err;
    struct tv_out got;
    if (kept_read(bytes_of(index), KEY, trace, &read, &err) != TV_OK) {
        ++*refused;
        return err.status == TV_ERR_SYNTAX || err.status == TV_ERR_UNSUPPORTED;
    }
    kept_answers(read, MOST, &got);
    bool same = tv_bytes_equal(bytes_of(expected), bytes_of(&got));
    tv_out_release(&got);
    tv_trace_free(read);
    return same;
}

static void check_accidents(const char *name, const struct tv_trace *trace,
                            const struct tv_out *index, unsigned times)
{
    struct tv_out expected, damaged;
    unsigned refused = 0;
    bool good = true;
    kept_answers(trace, MOST, &expected);
    for (unsigned i = 0; i < times && good; i++) {
        tv_out_init_memory(&damaged);
        tv_out_bytes(&damaged, bytes_of(index));
        damage_bytes(&damaged);
        good = is_harmless(&damaged, trace, &expected, &refused);
        tv_out_release(&damaged);
    }
    printf("# %u of %u refused\n", refused, times);
    report(good && refused > times / 2, name, "damaged by accident");
    tv_out_release(&expected);
}

static void check_changes(const char *name, const struct tv_trace *trace,
                          const struct tv_out *index, unsigned times)
{
    struct tv_sections_memory memory = {.bytes = bytes_of(index)};
    struct tv_sections_id id = {TV_VERSION, tv_index_layout(), KEY};
    struct tv_sections *sections;
    struct tv_error err;
    unsigned read = 0;
    if (tv_sections_open(&memory, &id, 1, &sections, &err) != TV_OK) {
        report(false, name, err.message);
        return;
    }
    for (unsigned i = 0; i < times; i++) {
        struct damage damages[3];
        size_t count = 1 + next_random(3);
        struct tv_out damaged, got;
        struct tv_trace *changed;
        for (size_t j = 0; j < count; j++)
            damages[j] = (struct damage){(uint8_t)next_random(256), (uint8_t)next_random(256),
                                         (uint16_t)next_random(65536), (uint16_t)next_random(65536),
                                         (uint16_t)(next_random(64) - 32)};
        tv_out_init_memory(&damaged);
        damage_write(sections, &id, damages, count, &damaged);
        if (kept_read(bytes_of(&damaged), KEY, trace, &changed, &err) == TV_OK) {
            kept_answers(changed, MOST, &got);
            tv_out_release(&got);
            tv_trace_free(changed);
            read++;
        }
        tv_out_release(&damaged);
    }
    printf("# %u of %u read\n", read, times);
    report(read > 0 && read < times, name, "changed on purpose");
    tv_sections_close(sections);
}

static void check_ids(const char *name, const struct tv_out *index)
{
    struct tv_sections_memory memory = {.bytes = bytes_of(index)};
    struct tv_sections_id id = {"0.0.0-older", tv_index_layout(), KEY};
    struct tv_sections *sections;
    struct tv_trace *trace;
    struct tv_error err = {0};
    report(kept_read(bytes_of(index), TV_BYTES("the key of a tesT"), NULL, &trace, &err) ==
               TV_ERR_UNSUPPORTED,
           name, "of another file");
    report(kept_read(bytes_of(index), TV_BYTES(""), NULL, &trace, &err) == TV_ERR_UNSUPPORTED, name,
           "of a file without a key");
    report(tv_sections_open(&memory, &id, 1, &sections, &err) == TV_ERR_UNSUPPORTED, name,
           "of another version");
    id.version = TV_VERSION;
    id.layout++;
    report(tv_sections_open(&memory, &id, 1, &sections, &err) == TV_ERR_UNSUPPORTED, name,
           "of another build");
    report(kept_read((struct tv_bytes){index->buffer, 0}, KEY, NULL, &trace, &err) == TV_ERR_SYNTAX,
           name, "empty");
}

static void check_file(const char *path, unsigned times)
{
    struct tv_out text, index;
    tv_out_init_memory(&text);
    cases_read_file(path, &text);
    struct tv_trace *trace = kept_load(bytes_of(&text));
    if (!trace) {
        report(false, path, "is read");
        tv_out_release(&text);
        return;
    }
    kept_write(trace, KEY, &index);
    check_ids(path, &index);
    check_accidents(path, trace, &index, times);
    check_changes(path, trace, &index, times);
    tv_out_release(&index);
    tv_trace_free(trace);
    tv_out_release(&text);
}

int main(int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        check_file(argv[i], (unsigned)strtoul(argv[1], NULL, 10));
    printf("1..%u\n", tests);
    return failures != 0 || argc < 3;
}
