/* SPDX-License-Identifier: Apache-2.0 */
#include "wasm/host.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/query.h"
#include "base/source.h"
#include "model/builder.h"
#include "readers/reading.h"
#include "view/session.h"
#include "view/view.h"

enum http_status {
    FOUND = 200,
    WRONG = 400,
    UNKNOWN = 404,
    NOT_READY = 409,
};

struct file {
    uint32_t number, machine;
    char *name;
    double size;
    tv_ns offset;
};

/* An instance is of one trace, so that it has one of each. */
static struct {
    uint8_t *room;
    size_t room_size;
    struct file *files;
    size_t count, capacity;
    struct tv_session *session;
    struct tv_out answer;
    bool begun; /* the answer can be written to */
} host;

void *tv_host_room(uint32_t size)
{
    /* A byte more, so that an empty text has a place too. */
    host.room = tv_array_reserve(host.room, &host.room_size, (size_t)size + 1, 1);
    return host.room;
}

void tv_host_add(uint32_t file, uint32_t name_length, double size, uint32_t machine, int64_t offset)
{
    char *name = tv_alloc((size_t)name_length + 1, 1);
    memcpy(name, host.room, name_length);
    host.files = tv_array_reserve(host.files, &host.capacity, host.count + 1, sizeof *host.files);
    host.files[host.count++] = (struct file){file, machine, name, size, offset};
}

/* Sources. */

static enum tv_status read_file(void *context, uint64_t offset, void *buffer, size_t size,
                                struct tv_error *err)
{
    const struct file *file = context;
    if (tv_host_read(file->number, (double)offset, buffer, (uint32_t)size) != 0)
        return TV_OK;
    return tv_fail(err, TV_ERR_IO, offset, "the browser cannot read it any more");
}

static struct tv_source *open_file(struct file *file)
{
    static const struct tv_source_reads reads = {.read = read_file};
    return tv_source_from_reads(&reads, file, (uint64_t)file->size, file->name);
}

/* Loading. */

static enum tv_status read_inputs(const struct tv_reading *to,
                                  const struct tv_session_input *inputs, size_t count,
                                  struct tv_progress *progress, struct tv_error *err)
{
    struct tv_read_options options = {.parts = 1, .progress = progress};
    for (size_t i = 0; i < count; i++) {
        struct tv_reading_input input = {inputs[i].source, host.files[i].machine, inputs[i].offset};
        enum tv_status status = tv_reading_add(to, &input, &options, err);
        if (status != TV_OK)
            return status;
    }
    return TV_OK;
}

static enum tv_status load(void *context, const struct tv_session_input *inputs, size_t count,
                           struct tv_progress *progress, struct tv_trace **trace,
                           struct tv_error *err)
{
    (void)context;
    struct tv_reading to = {.head = tv_head_new()};
    to.builder = tv_builder_new(to.head);
    to.sink = tv_builder_sink(to.builder);
    enum tv_status status = read_inputs(&to, inputs, count, progress, err);
    if (status != TV_OK) {
        tv_builder_free(to.builder);
        for (size_t i = 0; i < count; i++)
            tv_source_free(inputs[i].source);
        return status;
    }
    *trace = tv_builder_finish(to.builder);
    for (size_t i = 0; i < count; i++)
        tv_trace_keep_source(*trace, inputs[i].source);
    return TV_OK;
}

bool tv_host_load(void)
{
    static const struct tv_loader loader = {.load = load};
    struct tv_session_input *inputs = tv_alloc(host.count, sizeof *inputs);
    const char **names = tv_alloc(host.count, sizeof *names);
    for (size_t i = 0; i < host.count; i++) {
        struct file *file = &host.files[i];
        inputs[i] = (struct tv_session_input){file->number, open_file(file), file->offset};
        names[i] = file->name;
    }
    host.session = tv_session_new(&loader, inputs, names, host.count);
    tv_free(inputs);
    tv_free(names);
    return tv_session_load(host.session) == TV_SESSION_READY;
}

/* Answers. */

static struct tv_out *begin_answer(void)
{
    if (host.begun)
        tv_out_release(&host.answer);
    tv_out_init_memory(&host.answer);
    host.begun = true;
    return &host.answer;
}

static enum http_status refuse(enum http_status status, const struct tv_error *err)
{
    struct tv_out *out = begin_answer();
    tv_out_text(out, "{\"error\":");
    tv_out_json(out, tv_bytes_of(err->message));
    if (err->offset != TV_NO_OFFSET)
        tv_out_format(out, ",\"column\":%" PRIu64, err->offset);
    tv_out_char(out, '}');
    return status;
}

static enum http_status refuse_plainly(enum http_status status, const char *sentence)
{
    struct tv_error err = {0};
    tv_fail(&err, TV_ERR_USAGE, TV_NO_OFFSET, "%s", sentence);
    return refuse(status, &err);
}

static enum http_status ask_view(const struct tv_view *view, struct tv_bytes name,
                                 const struct tv_query *query)
{
    struct tv_error err = {0};
    struct tv_view_parameter parameters[TV_QUERY_PARAMETERS];
    for (size_t i = 0; i < query->count; i++)
        parameters[i] = (struct tv_view_parameter){query->items[i].name, query->items[i].value};
    struct tv_view_question question = {name, parameters, query->count};
    if (tv_view_answer(view, &question, begin_answer(), &err) != TV_OK)
        return refuse(WRONG, &err);
    return FOUND;
}

void tv_host_status(void)
{
    struct tv_out *out = begin_answer();
    if (host.session)
        tv_session_write_status(host.session, out);
}

uint32_t tv_host_ask(uint32_t length)
{
    struct tv_bytes name = {host.room, length};
    struct tv_bytes rest = tv_target_split(&name);
    struct tv_query query;
    struct tv_error err = {0};
    enum tv_answer_type type;
    const struct tv_view *view = host.session ? tv_session_view(host.session) : NULL;
    if (!tv_view_knows(name, &type))
        return refuse_plainly(UNKNOWN, "there is no such question");
    if (!view)
        return refuse_plainly(NOT_READY, "the trace is not there yet");
    /* The query lies in the room, which is ours to write to. */
    if (tv_query_parse(&query, host.room + (length - rest.length), rest.length, &err) != TV_OK)
        return refuse(WRONG, &err);
    return ask_view(view, name, &query);
}

const uint8_t *tv_host_answer(void)
{
    return host.answer.buffer;
}

uint32_t tv_host_answer_length(void)
{
    return (uint32_t)host.answer.length;
}
