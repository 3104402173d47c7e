/* SPDX-License-Identifier: Apache-2.0 */
/*
 * looks.c - what an engine says of a trace, carried to whoever looks at it: the viewer's questions,
 * flame graphs, collapsed stacks.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/encoding.h"
#include "hub/handlers.h"

/* An engine that has ended since its page looked last, or that only an address asks for, is there
 * again in a moment: from its index. */
#define PATIENCE_MS 30000

/* Answers go to the client as they come, and are held nowhere whole. */

static enum tv_status read_piece(void *context, uint8_t *buffer, size_t size, size_t *got)
{
    struct tv_error err;
    return tv_engine_answer_read(context, buffer, size, got, &err);
}

static void close_answer(void *context)
{
    tv_engine_answer_free(context);
}

/* Whether there is such a trace; else the answer says no. */
static bool is_there(struct tv_asked *asked, struct tv_answer *answer)
{
    struct tv_error err = {0};
    enum tv_store_status status =
        tv_store_trace_touch(asked->hub->store, asked->id, tv_store_now(), &err);
    if (status == TV_STORE_OK)
        return true;
    tv_hub_refuse_store(answer, status, &err);
    return false;
}

/* Asks the trace's engine, which is started when there is none.  `more`: one parameter more, or
 * NULL. */
static void relay(struct tv_asked *asked, struct tv_bytes name, const struct tv_query *query,
                  const struct tv_view_parameter *more, struct tv_answer *answer)
{
    struct tv_view_parameter parameters[TV_QUERY_PARAMETERS + 1];
    size_t count = query->count;
    for (size_t i = 0; i < count; i++)
        parameters[i] = (struct tv_view_parameter){query->items[i].name, query->items[i].value};
    if (more)
        parameters[count++] = *more;
    const struct tv_view_question question = {name, parameters, count};
    struct tv_engine *engine = tv_engine_open(asked->hub->engines, asked->id);
    if (!tv_bytes_equal(name, TV_BYTES("status")))
        tv_engine_wait(engine, PATIENCE_MS);
    struct tv_engine_answer *from = tv_engine_ask(engine, &question);
    tv_engine_close(engine);
    answer->status = (enum tv_http_status)tv_engine_answer_status(from);
    answer->type = tv_answer_type_name(tv_engine_answer_type(from));
    answer->stream = (struct tv_stream){
        .read = read_piece,
        .close = close_answer,
        .context = from,
        .length = TV_HTTP_UNKNOWN_LENGTH,
    };
}

static bool parse_query(struct tv_asked *asked, struct tv_query *query, struct tv_answer *answer)
{
    struct tv_error err = {0};
    if (tv_query_parse(query, asked->request->query, asked->request->query_length, &err) == TV_OK)
        return true;
    tv_hub_refuse(answer, TV_HTTP_BAD_QUESTION, err.message);
    return false;
}

void tv_hub_view_question(struct tv_asked *asked, struct tv_answer *answer)
{
    struct tv_query query;
    if (parse_query(asked, &query, answer) && is_there(asked, answer))
        relay(asked, asked->rest, &query, NULL, answer);
}

/* The picture has a script of its own, for searching and zooming: it may run, but is nobody's page:
 * without an origin it can ask this server nothing. */
#define PICTURE_POLICY                                                                             \
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "                  \
    "sandbox allow-scripts; frame-ancestors 'none'"

/* What the trace is called; NULL: the answer says why not. */
static const char *find_name(struct tv_asked *asked, struct tv_answer *answer)
{
    struct tv_store_trace trace;
    struct tv_error err = {0};
    if (!is_there(asked, answer))
        return NULL;
    enum tv_store_status status =
        tv_store_trace_get(asked->hub->store, asked->id, &answer->arena, &trace, &err);
    if (status == TV_STORE_OK)
        return trace.name;
    tv_hub_refuse_store(answer, status, &err);
    return NULL;
}

/* The picture is called as the trace is, unless somebody wants another title. */
void tv_hub_flamegraph(struct tv_asked *asked, struct tv_answer *answer)
{
    struct tv_query query;
    const char *name = parse_query(asked, &query, answer) ? find_name(asked, answer) : NULL;
    if (!name)
        return;
    const struct tv_view_parameter title = {TV_BYTES("title"), tv_bytes_of(name)};
    bool titled = tv_query_find(&query, "title") != NULL || *name == '\0';
    relay(asked, TV_BYTES("flamegraph"), &query, titled ? NULL : &title, answer);
    answer->policy = PICTURE_POLICY;
}

void tv_hub_collapsed(struct tv_asked *asked, struct tv_answer *answer)
{
    struct tv_query query;
    if (parse_query(asked, &query, answer) && is_there(asked, answer))
        relay(asked, TV_BYTES("collapsed"), &query, NULL, answer);
}

/* A page that is to be saved, not looked at from here: what it may do is said in it.  Whoever opens
 * it in spite of that gets a page without an origin. */
#define REPORT_POLICY "default-src 'none'; sandbox; frame-ancestors 'none'"

static void add_report_name(struct tv_answer *answer, const char *name)
{
    struct tv_out file;
    tv_out_init_memory(&file);
    tv_out_text(&file, name);
    tv_out_bytes(&file, TV_BYTES(".html"));
    tv_out_char(&file, '\0');
    tv_hub_add_name(answer, (const char *)file.buffer);
    tv_out_release(&file);
}

static bool hides_names(const struct tv_query *query)
{
    const struct tv_bytes *hashed = tv_query_find(query, "hash_names");
    return hashed != NULL && tv_bytes_equal(*hashed, TV_BYTES("yes"));
}

void tv_hub_report(struct tv_asked *asked, struct tv_answer *answer)
{
    const struct tv_view_parameter as = {TV_BYTES("as"), TV_BYTES("html")};
    struct tv_query query;
    if (!asked->hub->options.reports) {
        tv_hub_refuse(answer, TV_HTTP_NOT_FOUND, "this server was built without reports");
        return;
    }
    const char *name = parse_query(asked, &query, answer) ? find_name(asked, answer) : NULL;
    if (!name)
        return;
    if (tv_query_find(&query, "as") != NULL) {
        tv_hub_refuse(answer, TV_HTTP_BAD_QUESTION, "as: it is HTML here");
        return;
    }
    relay(asked, TV_BYTES("save"), &query, &as, answer);
    answer->policy = REPORT_POLICY;
    if (answer->status != TV_HTTP_OK)
        return;
    answer->type = "text/html; charset=utf-8";
    /* Where names are hashed the file's is none to tell. */
    add_report_name(answer, hides_names(&query) ? "report" : name);
}
