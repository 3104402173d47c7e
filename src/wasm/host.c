/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.c - one trace in a WebAssembly instance: inputs and files that the page provides, a session
 * over them, and answers in memory.
 */
#include "wasm/host.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/encoding.h"
#include "base/memory.h"
#include "base/source.h"
#include "html/html_page.h"
#include "model/builder/builder.h"
#include "readers/foreign.h"
#include "readers/reader.h"
#include "view/session.h"
#include "view/view.h"

enum host_status {
    FOUND = 200,
    WRONG = 400,
    UNKNOWN = 404,
    NOT_READY = 409,
    TOO_LARGE = 413,
};

#define PIECE ((size_t)256 * 1024)

struct host_input {
    uint32_t number, cut;
    char *name;
    tv_ns offset;
};

struct host_file {
    uint32_t number, machine;
    size_t input;
    const char *name;
    double size;
    tv_ns offset;
};

/* An HTML page and the traces that were found in it. */
struct host_page {
    struct host_file file;
    struct tv_source *source;
    struct tv_html_page found;
    struct tv_html_text text;
    bool begun; /* `text` is initialised */
};

/* The state of the instance, which holds one trace. */
static struct {
    uint8_t *room;
    size_t room_size;
    struct host_input *inputs;
    size_t input_count, input_capacity;
    struct host_file *files;
    size_t count, capacity;
    struct host_page page;
    struct tv_session *session;
    struct tv_out answer;
    bool begun; /* `answer` is initialised */
} host;

void *tv_host_room(uint32_t size)
{
    /* One byte more, so that an empty text has an address too. */
    host.room = tv_array_reserve(host.room, &host.room_size, (size_t)size + 1, 1);
    return host.room;
}

/* Copy a name from the input buffer. */
static char *host_take_name(uint32_t length)
{
    char *name = tv_alloc((size_t)length + 1, 1);
    return memcpy(name, host.room, length);
}

void tv_host_input(uint32_t input, uint32_t name_length, int64_t offset)
{
    host.inputs = tv_array_reserve(host.inputs, &host.input_capacity, host.input_count + 1,
                                   sizeof *host.inputs);
    host.inputs[host.input_count++] =
        (struct host_input){.number = input, .name = host_take_name(name_length), .offset = offset};
}

void tv_host_add(uint32_t file, uint32_t name_length, double size, uint32_t machine, int64_t offset)
{
    assert(host.input_count > 0);
    host.files = tv_array_reserve(host.files, &host.capacity, host.count + 1, sizeof *host.files);
    host.files[host.count++] = (struct host_file){
        file, machine, host.input_count - 1, host_take_name(name_length), size, offset};
}

void tv_host_cut(uint32_t containers)
{
    if (host.input_count > 0)
        host.inputs[host.input_count - 1].cut = containers;
}

/* ---- Sources ---- */

static enum tv_status host_read_file(void *context, uint64_t offset, void *buffer, size_t size,
                                     struct tv_error *err)
{
    const struct host_file *file = context;
    if (tv_host_read(file->number, (double)offset, buffer, (uint32_t)size) != 0)
        return TV_OK;
    return tv_fail(err, TV_ERR_IO, offset, "the browser cannot read it any more");
}

static struct tv_source *host_open_file(struct host_file *file)
{
    static const struct tv_source_reads reads = {.read = host_read_file};
    return tv_source_from_reads(&reads, file, (uint64_t)file->size, file->name);
}

/* ---- Loading ---- */

/* Read the files one after the other into one trace. Truncated containers become diagnostics of
 * the trace. */
static enum tv_status host_read_files(const struct tv_reading *to, struct tv_source **sources,
                                      struct tv_progress *progress, struct tv_error *err)
{
    struct tv_read_options options = {.parts = 1, .progress = progress};
    for (size_t i = 0; i < host.count; i++) {
        const struct host_file *file = &host.files[i];
        tv_ns offset = tv_move_add(host.inputs[file->input].offset, file->offset);
        struct tv_reading_input input = {sources[i], file->machine, offset};
        enum tv_status status = tv_reading_add(to, &input, &options, err);
        if (status != TV_OK)
            return status;
    }
    for (size_t i = 0; i < host.input_count; i++)
        for (uint32_t k = 0; k < host.inputs[i].cut; k++)
            tv_diagnostics_add(&to->head->diagnostics, TV_DIAGNOSTIC_CONTAINER_CUT, TV_NO_OFFSET);
    return TV_OK;
}

/* Load the files of this instance. The session's inputs carry nothing that the files do not
 * have. */
static enum tv_status host_load_trace(void *context, const struct tv_session_input *inputs,
                                      size_t count, struct tv_progress *progress,
                                      struct tv_trace **trace, struct tv_error *err)
{
    (void)context, (void)inputs, (void)count;
    struct tv_source **sources = tv_alloc(host.count, sizeof *sources);
    struct tv_reading to = {.head = tv_trace_info_new()};
    to.builder = tv_builder_new(to.head);
    to.sink = tv_builder_sink(to.builder);
    for (size_t i = 0; i < host.count; i++)
        sources[i] = host_open_file(&host.files[i]);
    enum tv_status status = host_read_files(&to, sources, progress, err);
    if (status == TV_OK)
        *trace = tv_builder_finish(to.builder);
    else
        tv_builder_free(to.builder);
    for (size_t i = 0; i < host.count; i++) {
        if (status == TV_OK)
            tv_trace_keep_source(*trace, sources[i]);
        else
            tv_source_free(sources[i]);
    }
    tv_free(sources);
    return status;
}

bool tv_host_load(void)
{
    static const struct tv_loader loader = {.load = host_load_trace};
    struct tv_session_input *inputs = tv_alloc(host.input_count, sizeof *inputs);
    const char **names = tv_alloc(host.input_count, sizeof *names);
    for (size_t i = 0; i < host.input_count; i++) {
        const struct host_input *input = &host.inputs[i];
        inputs[i] = (struct tv_session_input){input->number, NULL, input->offset};
        names[i] = input->name;
    }
    host.session = tv_session_new(&loader, inputs, names, host.input_count);
    tv_free(inputs);
    tv_free(names);
    return tv_session_load(host.session) == TV_SESSION_READY;
}

/* ---- Answers ---- */

/* Drop the last answer and return an empty one. */
static struct tv_out *host_begin_answer(void)
{
    if (host.begun)
        tv_out_release(&host.answer);
    tv_out_init_memory(&host.answer);
    host.begun = true;
    return &host.answer;
}

/* Answer with {"error": message, "column": offset}; the column is that of a filter line. */
static enum host_status host_answer_error(enum host_status status, const struct tv_error *err)
{
    struct tv_out *out = host_begin_answer();
    tv_out_text(out, "{\"error\":");
    tv_out_json(out, tv_bytes_of(err->message));
    if (err->offset != TV_NO_OFFSET)
        tv_out_format(out, ",\"column\":%" PRIu64, err->offset);
    tv_out_char(out, '}');
    return status;
}

static enum host_status host_answer_refusal(enum host_status status, const char *sentence)
{
    struct tv_error err = {0};
    tv_fail(&err, TV_ERR_USAGE, TV_NO_OFFSET, "%s", sentence);
    return host_answer_error(status, &err);
}

/* Let the view answer. Answers beyond a limit have another status than wrong questions. */
static enum host_status host_ask_view(const struct tv_view *view, struct tv_bytes name,
                                      const struct tv_query *query)
{
    struct tv_error err = {0};
    struct tv_view_parameter parameters[TV_QUERY_PARAMETERS];
    for (size_t i = 0; i < query->count; i++)
        parameters[i] = (struct tv_view_parameter){query->items[i].name, query->items[i].value};
    struct tv_view_question question = {name, parameters, query->count};
    if (tv_view_answer(view, &question, host_begin_answer(), &err) != TV_OK)
        return host_answer_error(err.status == TV_ERR_LIMIT ? TOO_LARGE : WRONG, &err);
    return FOUND;
}

void tv_host_status(void)
{
    struct tv_out *out = host_begin_answer();
    if (host.session)
        tv_session_write_status(host.session, out);
}

uint32_t tv_host_ask(uint32_t length)
{
    struct tv_bytes name = {host.room, length};
    struct tv_bytes rest = tv_query_split(&name);
    struct tv_query query;
    struct tv_error err = {0};
    enum tv_answer_type type;
    const struct tv_view *view = host.session ? tv_session_view(host.session) : NULL;
    if (!tv_view_find_question(name, &type))
        return host_answer_refusal(UNKNOWN, "there is no such question");
    if (!view)
        return host_answer_refusal(NOT_READY, "the trace is not there yet");
    /* The query is parsed in place, in the input buffer. */
    if (tv_query_parse(&query, host.room + (length - rest.length), rest.length, &err) != TV_OK)
        return host_answer_error(WRONG, &err);
    return host_ask_view(view, name, &query);
}

/* ---- Containers ---- */

bool tv_host_knows(uint32_t length, double size)
{
    struct tv_bytes head = {host.room, length};
    for (const struct tv_reader *const *reader = tv_readers; *reader; reader++) {
        if ((*reader)->sniff(head, (uint64_t)size) > 0)
            return true;
    }
    return false;
}

bool tv_host_is_page(uint32_t length)
{
    return tv_html_begins((struct tv_bytes){host.room, length});
}

void tv_host_foreign(uint32_t length)
{
    struct tv_bytes head = {host.room, length};
    struct tv_out *out = host_begin_answer();
    const struct tv_foreign *foreign = tv_foreign_find(head);
    if (!foreign)
        return;
    tv_out_format(out, "%s, which is not read yet", foreign->name);
    if (foreign->advice)
        tv_out_format(out, ": %s", foreign->advice);
}

static void host_text_release(struct host_page *page)
{
    if (page->begun)
        tv_html_text_release(&page->text);
    page->begun = false;
}

/* Write a trace of a page as JSON, as host.h documents. */
static void host_write_page_trace(const struct tv_html_trace *trace, struct tv_out *out)
{
    const struct tv_html_block *last = &trace->blocks[trace->count - 1];
    assert(trace->count > 0);
    tv_out_format(
        out,
        "{\"start\":%" PRIu64 ",\"end\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"plain\":%s,\"open\":%s",
        trace->blocks->start, last->end, tv_html_trace_bytes(trace),
        trace->blocks->form == TV_HTML_TEXT ? "true" : "false", last->open ? "true" : "false");
    tv_out_text(out, ",\"name\":");
    tv_out_json(out, tv_bytes_of(trace->name));
    tv_out_format(out, ",\"machine\":%" PRIu32 ",\"offset_ns\":\"%" PRId64 "\"}", trace->machine,
                  trace->offset);
}

/* The callback of tv_html_page_describe. */
static void host_write_note(void *context, const char *text)
{
    bool *first = context;
    tv_out_text(&host.answer, *first ? "" : ",");
    tv_out_json(&host.answer, tv_bytes_of(text));
    *first = false;
}

static void host_write_page(const struct tv_html_page *found, struct tv_out *out)
{
    bool first = true;
    tv_out_text(out, "{\"traces\":[");
    for (size_t i = 0; i < found->count; i++) {
        tv_out_text(out, i > 0 ? "," : "");
        host_write_page_trace(&found->traces[i], out);
    }
    tv_out_text(out, "],\"notes\":[");
    tv_html_page_describe(found, host_write_note, &first);
    tv_out_format(out, "],\"cut\":%s}", found->missing > 0 ? "true" : "false");
}

static void host_page_release(struct host_page *page)
{
    host_text_release(page);
    if (!page->source)
        return;
    tv_html_page_release(&page->found);
    tv_source_free(page->source);
}

bool tv_host_page(uint32_t file, double size)
{
    struct host_page *page = &host.page;
    struct tv_error err;
    host_page_release(page);
    page->file = (struct host_file){.number = file, .name = "", .size = size};
    page->source = host_open_file(&page->file);
    enum tv_status status = tv_html_page_find(&page->found, page->source, &err);
    struct tv_out *out = host_begin_answer();
    if (status == TV_OK) {
        host_write_page(&page->found, out);
        return true;
    }
    tv_out_text(out, "{\"message\":");
    tv_out_json(out, tv_bytes_of(err.message));
    tv_out_format(out, ",\"kind\":\"%s\"}", status == TV_ERR_LIMIT ? "limit" : "syntax");
    return false;
}

void tv_host_trace(uint32_t trace)
{
    struct host_page *page = &host.page;
    host_text_release(page);
    if (trace >= page->found.count)
        return;
    const struct tv_html_trace *of = &page->found.traces[trace];
    tv_html_text_init(&page->text, page->source, of->blocks, of->count);
    page->begun = true;
}

bool tv_host_trace_more(void)
{
    struct tv_error err;
    size_t got = 0;
    uint8_t *buffer = tv_alloc(PIECE, 1);
    enum tv_status status = TV_OK;
    if (host.page.begun)
        status = tv_html_text_read(&host.page.text, buffer, PIECE, &got, &err);
    tv_out_bytes(host_begin_answer(), (struct tv_bytes){buffer, got});
    tv_free(buffer);
    return status == TV_OK && !host.page.text.damaged;
}

const uint8_t *tv_host_answer(void)
{
    assert(host.begun);
    return host.answer.buffer;
}

uint32_t tv_host_answer_length(void)
{
    return (uint32_t)host.answer.length;
}
