/* SPDX-License-Identifier: Apache-2.0 */
/*
 * looks.c - what an engine says of a trace, carried to whoever looks at it: the viewer's questions,
 * flame graphs, collapsed stacks.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/query.h"
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

/* Asks the trace's engine, which is started when there is none.  A title that is not empty is one
 * parameter more. */
static void relay(struct tv_asked *asked, struct tv_bytes name, const struct tv_query *query,
                  struct tv_bytes title, struct tv_answer *answer)
{
    struct tv_view_parameter parameters[TV_QUERY_PARAMETERS + 1];
    size_t count = query->count;
    for (size_t i = 0; i < count; i++)
        parameters[i] = (struct tv_view_parameter){query->items[i].name, query->items[i].value};
    if (title.length > 0)
        parameters[count++] = (struct tv_view_parameter){tv_bytes_of("title"), title};
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
        relay(asked, asked->rest, &query, TV_BYTES(""), answer);
}

/* The picture has a script of its own, for searching and zooming: it may run, but is nobody's page:
 * without an origin it can ask this server nothing. */
#define PICTURE_POLICY                                                                             \
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "                  \
    "sandbox allow-scripts; frame-ancestors 'none'"

/* The picture is called as the trace is, unless somebody wants another title. */
void tv_hub_flamegraph(struct tv_asked *asked, struct tv_answer *answer)
{
    struct tv_query query;
    struct tv_store_trace trace;
    struct tv_error err = {0};
    if (!parse_query(asked, &query, answer) || !is_there(asked, answer))
        return;
    enum tv_store_status status =
        tv_store_trace_get(asked->hub->store, asked->id, &answer->arena, &trace, &err);
    if (status != TV_STORE_OK) {
        tv_hub_refuse_store(answer, status, &err);
        return;
    }
    bool titled = tv_query_find(&query, "title") != NULL;
    relay(asked, TV_BYTES("flamegraph"), &query, tv_bytes_of(titled ? "" : trace.name), answer);
    answer->policy = PICTURE_POLICY;
}

void tv_hub_collapsed(struct tv_asked *asked, struct tv_answer *answer)
{
    struct tv_query query;
    if (parse_query(asked, &query, answer) && is_there(asked, answer))
        relay(asked, TV_BYTES("collapsed"), &query, TV_BYTES(""), answer);
}
