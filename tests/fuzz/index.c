/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.c - an index with any changes that its checksums do not show is refused, or is a trace that
 * answers every question.
 *
 * The input is a list of changes, 8 bytes each (../index/damage.h).
 */
#include <stdlib.h>
#include <string.h>

#include "../index/damage.h"
#include "../index/kept.h"
#include "base/bytes.h"
#include "index/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define KEY TV_BYTES("fuzzed")
#define MAX_CHANGES 16

/* A little of everything. */
static const char trace_text[] =
    "{\"traceEvents\":["
    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"demo\"}},"
    "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,\"args\":{\"name\":\"main\"}},"
    "{\"ph\":\"X\",\"name\":\"a\",\"cat\":\"x\",\"ts\":1,\"dur\":9,\"tts\":1,\"tdur\":5,\"pid\":1,"
    "\"tid\":2,\"args\":{\"n\":1},\"cname\":\"good\"},"
    "{\"ph\":\"B\",\"name\":\"b\",\"cat\":\"x\",\"ts\":2,\"pid\":1,\"tid\":2},"
    "{\"ph\":\"E\",\"ts\":4,\"pid\":1,\"tid\":2},"
    "{\"ph\":\"X\",\"name\":\"a\",\"cat\":\"x\",\"ts\":5,\"dur\":3,\"pid\":1,\"tid\":2},"
    "{\"ph\":\"X\",\"name\":\"far\",\"cat\":\"x\",\"ts\":9000000000,\"dur\":3,\"pid\":1,\"tid\":2},"
    "{\"ph\":\"X\",\"name\":\"c\",\"cat\":\"y\",\"ts\":3,\"dur\":3,\"pid\":1,\"tid\":3},"
    "{\"ph\":\"b\",\"name\":\"as\",\"cat\":\"z\",\"id\":\"0x1\",\"ts\":1,\"pid\":1,\"tid\":2},"
    "{\"ph\":\"e\",\"name\":\"as\",\"cat\":\"z\",\"id\":\"0x1\",\"ts\":7,\"pid\":1,\"tid\":3},"
    "{\"ph\":\"i\",\"name\":\"mark\",\"cat\":\"x\",\"s\":\"t\",\"ts\":3,\"pid\":1,\"tid\":2},"
    "{\"ph\":\"C\",\"name\":\"count\",\"ts\":1,\"pid\":1,\"args\":{\"u\":1,\"v\":2}},"
    "{\"ph\":\"C\",\"name\":\"count\",\"ts\":5,\"pid\":1,\"args\":{\"u\":3}},"
    "{\"ph\":\"s\",\"name\":\"f\",\"cat\":\"x\",\"id\":7,\"ts\":2,\"pid\":1,\"tid\":2},"
    "{\"ph\":\"f\",\"name\":\"f\",\"cat\":\"x\",\"id\":7,\"ts\":4,\"pid\":1,\"tid\":3,\"bp\":\"e\"}"
    ","
    "{\"ph\":\"N\",\"name\":\"o\",\"cat\":\"x\",\"id\":\"0x2\",\"ts\":1,\"pid\":1,\"tid\":2},"
    "{\"ph\":\"O\",\"name\":\"o\",\"cat\":\"x\",\"id\":\"0x2\",\"ts\":2,\"pid\":1,\"tid\":2,"
    "\"args\":{\"snapshot\":{\"k\":{\"id_ref\":\"0x2\"}}}},"
    "{\"ph\":\"D\",\"name\":\"o\",\"cat\":\"x\",\"id\":\"0x2\",\"ts\":8,\"pid\":1,\"tid\":2},"
    "{\"ph\":\"v\",\"id\":\"d1\",\"ts\":6,\"pid\":1,\"tid\":2,\"args\":{\"dumps\":{"
    "\"process_totals\":{\"resident_set_bytes\":\"1f\"}}}},"
    "{\"ph\":\"P\",\"name\":\"s\",\"ts\":4,\"pid\":1,\"tid\":2,\"sf\":1},"
    "{\"ph\":\"c\",\"name\":\"clock_sync\",\"ts\":1,\"pid\":1,\"tid\":2,\"args\":{\"sync_id\":"
    "\"s\"}}],"
    "\"stackFrames\":{\"0\":{\"name\":\"root\"},\"1\":{\"name\":\"leaf\",\"parent\":0}}}";

static struct tv_bytes bytes_of(const struct tv_out *out)
{
    return (struct tv_bytes){out->buffer, out->length};
}

static struct tv_sections *make(const struct tv_sections_id *id, struct tv_trace **trace)
{
    static struct tv_out index; /* reachable until the end */
    struct tv_sections *sections;
    struct tv_error err;
    *trace = kept_load(tv_bytes_of(trace_text));
    if (!*trace)
        abort();
    kept_write(*trace, KEY, &index);
    struct tv_sections_memory memory = {.bytes = bytes_of(&index)};
    if (tv_sections_open(&memory, id, 1, &sections, &err) != TV_OK)
        abort();
    return sections;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tv_sections *sections; /* made once */
    static struct tv_trace *trace;
    struct tv_sections_id id = {TV_VERSION, tv_index_layout(), KEY};
    struct damage damages[MAX_CHANGES];
    size_t count = size / sizeof *damages;
    struct tv_out damaged, answers;
    struct tv_trace *changed;
    struct tv_error err;
    if (!sections)
        sections = make(&id, &trace);
    if (count > MAX_CHANGES)
        count = MAX_CHANGES;
    if (count > 0)
        memcpy(damages, data, count * sizeof *damages);
    tv_out_init_memory(&damaged);
    damage_write(sections, &id, damages, count, &damaged);
    if (kept_read(bytes_of(&damaged), KEY, trace, &changed, &err) == TV_OK) {
        kept_answers(changed, 3, &answers);
        tv_out_release(&answers);
        tv_trace_free(changed);
    }
    tv_out_release(&damaged);
    return 0;
}
