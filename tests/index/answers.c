/* SPDX-License-Identifier: Apache-2.0 */
#include "answers.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "writers/dump/dump.h"

struct asking {
    const struct tv_view *view;
    const struct tv_trace *trace;
    struct tv_out *out;
    uint32_t most;
};

static void put_answer(struct asking *a, struct tv_bytes asked)
{
    struct tv_view_parameter parameters[10];
    struct tv_view_question question = {.parameters = parameters};
    struct tv_bytes rest = asked, pair;
    struct tv_error err = {0};
    struct tv_out answer;
    tv_bytes_split(&rest, '?', &question.name);
    while (rest.length > 0 && question.count < TV_COUNT(parameters)) {
        tv_bytes_split(&rest, '&', &pair);
        tv_bytes_split(&pair, '=', &parameters[question.count].name);
        parameters[question.count++].value = pair;
    }
    tv_out_init_memory(&answer);
    tv_out_bytes(a->out, asked);
    tv_out_char(a->out, '\n');
    if (tv_view_answer(a->view, &question, &answer, &err) == TV_OK)
        tv_out_bytes(a->out, (struct tv_bytes){answer.buffer, answer.length});
    else
        tv_out_text(a->out, err.message);
    tv_out_char(a->out, '\n');
    tv_out_release(&answer);
}

static void ask(struct asking *a, const char *format, ...) TV_PRINTF(2, 3);

static void ask(struct asking *a, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length > 0 && (size_t)length < sizeof text)
        put_answer(a, tv_bytes_of(text));
}

static void ask_ranges(struct asking *a, const char *name, const char *more)
{
    const struct tv_trace *t = a->trace;
    tv_ns span = t->end - t->start;
    ask(a, "%s?from=%" PRId64 "&to=%" PRId64 "%s", name, t->start, t->end + 1, more);
    ask(a, "%s?from=%" PRId64 "&to=%" PRId64 "%s", name, t->start + span / 4,
        t->start + span / 4 * 3 + 1, more);
}

static void ask_whole(struct asking *a)
{
    static const char *const plain[] = {"trace",
                                        "frames",
                                        "profile",
                                        "counters",
                                        "flow_categories",
                                        "beside",
                                        "health",
                                        "findings",
                                        "statistics",
                                        "states",
                                        "activity",
                                        "tree",
                                        "sample_tree",
                                        "at?offset=0",
                                        "bytes?offset=0",
                                        "save?as=json",
                                        "save?as=trace",
                                        "search_frames?q=a",
                                        "memory_dumps",
                                        "search?q=a&in=names,categories,args",
                                        "relations?frame=0",
                                        "sample_relations?frame=0"};
    static const char *const flames[] = {"flame",
                                         "flame?clock=cpu",
                                         "flame?order=time",
                                         "flame?inverted=1",
                                         "flame?fold=1",
                                         "flame?threads=apart",
                                         "flame?frame=0&side=callers",
                                         "sample_flame?measure=count",
                                         "sample_flame?measure=weight",
                                         "sample_flame?measure=time"};
    for (size_t i = 0; i < TV_COUNT(plain); i++)
        put_answer(a, tv_bytes_of(plain[i]));
    for (size_t i = 0; i < TV_COUNT(flames); i++)
        put_answer(a, tv_bytes_of(flames[i]));
    ask_ranges(a, "profile", "");
    ask_ranges(a, "instants", "&pixels=100");
    ask_ranges(a, "arrows", "&pixels=100");
    ask_ranges(a, "samples", "&pixels=100");
    ask_ranges(a, "memory_dumps", "&pixels=100");
    ask_ranges(a, "states", "");
    ask_ranges(a, "statistics", "");
    ask_ranges(a, "findings", "");
    ask_ranges(a, "flame", "");
    ask_ranges(a, "extents", "&frame=0&pixels=100");
    ask_ranges(a, "objects", "&rows=0,1,2,3&pixels=100");
    ask_ranges(a, "counter_values", "&counters=0,1,2&pixels=100");
    ask_ranges(a, "counter_figures", "");
    ask_ranges(a, "tree", "&nodes=0,1,2,3");
    ask_ranges(a, "tree", "&bottom_up=1&nodes=0,1,2,3");
    ask_ranges(a, "sample_profile", "&measure=weight");
    ask_ranges(a, "sample_tree", "&nodes=0,1,2");
}

static void ask_tiles(struct asking *a)
{
    unsigned deepest = 0;
    uint32_t rows = a->trace->row_count < a->most ? a->trace->row_count : a->most;
    while (deepest < 52 && a->trace->end >> (deepest + 9) > 0)
        deepest++;
    for (unsigned res = deepest; rows > 0; res = res > 6 ? res - 6 : 0) {
        tv_ns first = a->trace->start >> (res + 9);
        ask(a, "tiles?res=%u&from=%" PRId64 "&to=%" PRId64 "&rows=r0-%" PRIu32, res, first,
            first + 2, rows - 1);
        if (res == 0)
            break;
    }
    ask(a, "tiles?res=%u&from=0&to=0&rows=i0,w0,i1", deepest);
}

/* Ask for the first, the last and a middle slice of each row. */
static void ask_slices(struct asking *a)
{
    for (uint32_t row = 0; row < a->trace->row_count && row < a->most; row++) {
        uint32_t count = a->trace->rows[row].count, last = TV_NONE;
        for (uint32_t i = 0; i < 3 && count > 0; i++) {
            uint32_t index = (uint32_t)((uint64_t)(count - 1) * i / 2);
            if (index == last)
                continue;
            last = index;
            ask(a, "slice?row=%" PRIu32 "&index=%" PRIu32, row, index);
            ask(a, "flows?row=%" PRIu32 "&index=%" PRIu32, row, index);
            ask(a, "state?row=%" PRIu32 "&index=%" PRIu32, row, index);
            ask(a, "same?row=%" PRIu32 "&index=%" PRIu32 "&filter=depth>=0", row, index);
        }
    }
}

static void ask_each(struct asking *a, const char *format, size_t count)
{
    char text[64];
    const char *number = strchr(format, '#');
    for (size_t i = 0; i < count && i < a->most; i++) {
        size_t which = count > a->most ? (count - 1) * i / (a->most - 1) : i;
        snprintf(text, sizeof text, "%.*s%zu%s", (int)(number - format), format, which, number + 1);
        put_answer(a, tv_bytes_of(text));
    }
}

static void ask_things(struct asking *a)
{
    const struct tv_tables *t = &a->trace->tables;
    ask_each(a, "instant?instant=#", t->instants.count);
    ask_each(a, "flows?instant=#", t->instants.count);
    ask_each(a, "flow?flow=#", t->flows.count);
    ask_each(a, "object?object=#", t->objects.count);
    ask_each(a, "snapshot?snapshot=#", t->snapshots.count);
    ask_each(a, "reference?snapshot=#&id=0x1", t->snapshots.count);
    ask_each(a, "sample?sample=#", t->samples.count);
    ask_each(a, "memory_dump?dump=#", t->memory_dumps.count);
    ask_each(a, "relations?frame=#", a->trace->head->frame_count);
    ask_each(a, "step?frame=#&t=0&direction=1", a->trace->head->frame_count);
    ask_each(a, "bytes?input=#&offset=0", a->trace->head->input_count);
}

static void ask_filtered(struct asking *a)
{
    static const char *const questions[] = {
        "trace?filter=depth>=0",        "profile?filter=depth>=1",
        "flame?filter=depth>=1",        "trace?filter=name:a",
        "save?as=json&filter=depth>=1", "counters?filter=name:e",
        "findings?filter=name:e",       "tree?filter=name:e"};
    for (size_t i = 0; i < TV_COUNT(questions); i++)
        put_answer(a, tv_bytes_of(questions[i]));
}

void answers_write(const struct tv_view *view, const struct tv_trace *trace, uint32_t most,
                   struct tv_out *out)
{
    struct asking a = {view, trace, out, most};
    ask_whole(&a);
    ask_tiles(&a);
    ask_slices(&a);
    ask_things(&a);
    ask_filtered(&a);
    if (trace->slice_count < 100000)
        tv_model_jsonl_write(out, trace, NULL);
}
