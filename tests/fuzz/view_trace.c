/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_trace.c - any trace that some reader takes has an answer, or an error, to every question.
 *
 * The input is questions, a line each as they stand after "api/", a NUL and a file.  Without
 * questions all of `usual` are asked.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "model/builder/builder.h"
#include "readers/reader.h"
#include "view/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LONGEST_QUESTIONS 1024u
#define MAX_QUESTIONS 8u

/* No answer about a file of this size is longer. */
#define LONGEST_FILE ((size_t)64 * 1024)
#define LONGEST_ANSWER ((size_t)256 << 20)

static const char *const usual[] = {
    "trace",
    "health",
    "facts",
    "findings",
    "frames",
    "profile",
    "profile?compensate=1",
    "profile?from=100&to=5000",
    "relations?frame=0",
    "tree",
    "tree?transforms=focus:1:a",
    "profile?transforms=merge:1:adrop:1:b",
    "tree?nodes=0&bottom_up=1",
    "sample_tree",
    "sample_profile?measure=weight",
    "sample_relations?frame=0",
    "statistics",
    "statistics?frame=0",
    "slice?row=0&index=0",
    "inside?row=0&index=0",
    "step?frame=0&t=0&direction=1",
    "extents?frame=0",
    "tiles?rows=0&from=0&to=99999",
    "activity?buckets=100",
    "flame",
    "flame?order=time",
    "flame?inverted=1",
    "sample_flame",
    "flamegraph",
    "flamegraph?inverted=1",
    "collapsed",
    "counters",
    "counter_values?counters=0",
    "counter_figures?at=5",
    "counter_step?counter=0&series=0&t=0&direction=1&to=peak",
    "counter_step?counter=0&series=0&t=1000000&direction=-1&to=trough",
    "instants",
    "instant?instant=0",
    "flows?row=0&index=0",
    "flow?flow=0",
    "flow_categories",
    "arrows?from=0&to=1000000",
    "beside?row=0&index=0",
    "objects",
    "object?object=0",
    "snapshot?snapshot=0",
    "reference?snapshot=0&id=0x1",
    "samples",
    "sample?sample=0",
    "sample_chart?threads=0&pixels=100",
    "memory_dumps",
    "memory_dump?dump=0",
    "search?q=a&in=names,categories,args&count=1",
    "search?q=[a-z]%2B&re=1&in=names,args",
    "search_frames?q=a&re=1",
    "search_step?q=a&t=5&direction=-1",
    "states",
    "state?row=0&index=0",
    "display_frames",
    "display_marks?from=0&to=1000000000&pixels=100",
    "same?row=0&index=0",
    "save?as=json",
    "save?as=trace",
    "save?as=json&from=1&to=1000",
    "at?offset=1",
    "bytes?offset=0&length=64",
    "profile?filter=name:a",
    "findings?filter=-cat:c dur>1us",
};

static void ask_view(const struct tv_view *view, struct tv_bytes rest)
{
    struct tv_view_parameter parameters[8];
    struct tv_view_question question = {.parameters = parameters};
    struct tv_bytes pair;
    struct tv_out out;
    struct tv_error error;
    tv_bytes_split(&rest, '?', &question.name);
    while (rest.length > 0 && question.count < TV_COUNT(parameters)) {
        tv_bytes_split(&rest, '&', &pair);
        tv_bytes_split(&pair, '=', &parameters[question.count].name);
        parameters[question.count++].value = pair;
    }
    tv_out_init_memory(&out);
    enum tv_status status = tv_view_answer(view, &question, &out, &error);
    if ((status != TV_OK && out.length > 0) || out.length > LONGEST_ANSWER)
        abort(); /* an answer, or an error, and never both */
    tv_out_release(&out);
}

static struct tv_trace *load(struct tv_bytes bytes)
{
    struct tv_read_options options = {.parts = 1};
    struct tv_error err;
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_source *source = tv_source_from_memory(bytes, "fuzz");
    if (tv_readers_build(source, builder, &options, &err) != TV_OK) {
        tv_builder_free(builder);
        tv_source_free(source);
        return NULL;
    }
    struct tv_trace *trace = tv_builder_finish(builder);
    tv_trace_keep_source(trace, source);
    return trace;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t looked_at = size < LONGEST_QUESTIONS ? size : LONGEST_QUESTIONS;
    const uint8_t *nul = looked_at > 0 ? memchr(data, 0, looked_at) : NULL;
    if (!nul || size > LONGEST_FILE)
        return -1;
    struct tv_bytes questions = {data, (size_t)(nul - data)}, question;
    struct tv_trace *trace = load((struct tv_bytes){nul + 1, size - questions.length - 1});
    if (!trace)
        return -1;
    struct tv_view *view = tv_view_new(trace);
    for (size_t i = 0; questions.length == 0 && i < TV_COUNT(usual); i++)
        ask_view(view, tv_bytes_of(usual[i]));
    for (unsigned i = 0; questions.length > 0 && i < MAX_QUESTIONS; i++) {
        tv_bytes_split(&questions, '\n', &question);
        ask_view(view, question);
    }
    tv_view_free(view);
    tv_trace_free(trace);
    return 0;
}
