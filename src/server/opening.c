/* SPDX-License-Identifier: Apache-2.0 */
#include "server/opening.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/encoding.h"
#include "model/trace_info.h"
#include "server/questions.h"

/* What came of a question: a status and, when that is none of success, a sentence. */
struct outcome {
    enum tv_http_status status;
    struct tv_error error;
};

/* A piece of a file on its way. */
struct incoming {
    struct tv_shelf_piece *piece; /* NULL: refused, or over */
    struct outcome outcome;
    uint64_t held;
};

static enum tv_http_status http_status(enum tv_status status)
{
    switch (status) {
    case TV_OK:
        return TV_HTTP_OK;
    case TV_ERR_USAGE:
        return TV_HTTP_BAD_QUESTION;
    default:
        return TV_HTTP_NO_ROOM;
    }
}

static const struct tv_bytes *need(const struct tv_query *query, const char *name,
                                   struct tv_error *err)
{
    const struct tv_bytes *value = tv_query_find(query, name);
    if (value == NULL)
        tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "%s: it is missing", name);
    return value;
}

static enum tv_status need_number(const struct tv_query *query, const char *name, uint64_t most,
                                  uint64_t *number, struct tv_error *err)
{
    const struct tv_bytes *value = need(query, name, err);
    if (value == NULL)
        return TV_ERR_USAGE;
    if (tv_parse_u64(*value, number) && *number <= most)
        return TV_OK;
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "%s: expected a number up to %" PRIu64, name,
                   most);
}

/* Taking files in. */

static enum tv_status begin_file(struct tv_desk *desk, const struct tv_query *query,
                                 struct tv_out *out, struct tv_error *err)
{
    uint32_t number;
    uint64_t bytes;
    const struct tv_bytes *name = need(query, "name", err);
    enum tv_status status =
        name ? need_number(query, "bytes", INT64_MAX, &bytes, err) : TV_ERR_USAGE;
    if (status == TV_OK)
        status = tv_shelf_begin(tv_desk_shelf(desk), *name, bytes, &number, err);
    if (status == TV_OK)
        tv_out_format(out, "{\"input\":%" PRIu32 "}", number);
    return status;
}

static enum tv_status drop_file(struct tv_desk *desk, const struct tv_query *query,
                                struct tv_out *out, struct tv_error *err)
{
    uint64_t number;
    enum tv_status status = need_number(query, "input", UINT32_MAX, &number, err);
    if (status != TV_OK)
        return status;
    tv_shelf_drop(tv_desk_shelf(desk), (uint32_t)number);
    tv_out_text(out, "{}");
    return TV_OK;
}

/* What goes wrong is kept for the answer: the rest comes all the same, and is dropped. */
static enum tv_status take_piece(void *context, struct tv_bytes bytes, struct tv_answer *answer)
{
    struct incoming *incoming = context;
    (void)answer;
    if (incoming->piece)
        tv_shelf_piece_add(incoming->piece, bytes);
    return TV_OK;
}

static void end_piece(struct incoming *incoming)
{
    struct tv_shelf_piece *piece = incoming->piece;
    struct outcome *outcome = &incoming->outcome;
    incoming->piece = NULL;
    if (piece && tv_shelf_piece_end(piece, &incoming->held, &outcome->error) != TV_OK)
        outcome->status =
            outcome->error.status == TV_ERR_LIMIT ? TV_HTTP_TOO_LARGE : TV_HTTP_NO_ROOM;
}

/* A client that has gone may come back with the rest. */
static void end_incoming(void *context, bool whole)
{
    (void)whole;
    end_piece(context);
    tv_free(context);
}

/* Claims the file; a piece that is refused is read all the same, and the answer tells why: an
 * answer before the end of a body is one that browsers do not see. */
static void claim(struct tv_desk *desk, const struct tv_request *request, struct incoming *incoming)
{
    struct tv_query query;
    struct tv_error *err = &incoming->outcome.error;
    uint64_t number, offset = 0;
    enum tv_status status = tv_query_parse(&query, request->query, request->query_length, err);
    incoming->outcome.status = TV_HTTP_BAD_QUESTION;
    if (status == TV_OK)
        status = need_number(&query, "input", UINT32_MAX, &number, err);
    if (status == TV_OK)
        status = need_number(&query, "offset", INT64_MAX, &offset, err);
    if (status != TV_OK)
        return;
    status = tv_shelf_begin_piece(tv_desk_shelf(desk), (uint32_t)number, offset, &incoming->piece,
                                  &incoming->held, err);
    incoming->outcome.status = status == TV_OK          ? TV_HTTP_OK
                               : status == TV_ERR_USAGE ? TV_HTTP_NOT_READY
                                                        : TV_HTTP_GONE;
}

static bool is_named(const struct tv_request *request, const char *name)
{
    return tv_bytes_equal(request->path, tv_bytes_of(name));
}

bool tv_opening_begin(struct tv_desk *desk, const struct tv_request *request, struct tv_body *body,
                      struct tv_answer *answer)
{
    if (request->method != TV_HTTP_PUT || !is_named(request, "api/upload"))
        return true;
    if (tv_request_header(request, TV_HTTP_OWN_HEADER) == NULL) {
        tv_questions_refuse(answer, TV_HTTP_FORBIDDEN,
                            "the header " TV_HTTP_OWN_HEADER " is missing");
        return false;
    }
    struct incoming *incoming = tv_alloc(1, sizeof *incoming);
    claim(desk, request, incoming);
    *body = (struct tv_body){take_piece, end_incoming, incoming};
    return true;
}

static void answer_piece(struct incoming *incoming, struct tv_answer *answer)
{
    end_piece(incoming);
    if (incoming->outcome.status != TV_HTTP_OK) {
        tv_questions_refuse(answer, incoming->outcome.status, incoming->outcome.error.message);
        answer->body.length--;
        tv_out_format(&answer->body, ",\"held\":%" PRIu64 "}", incoming->held);
        return;
    }
    tv_out_format(&answer->body, "{\"held\":%" PRIu64 "}", incoming->held);
}

/* Opening them. */

static enum tv_status read_inputs(struct tv_bytes text, struct tv_desk_choice *choice,
                                  struct tv_error *err)
{
    struct tv_bytes word;
    uint64_t number;
    while (text.length > 0) {
        tv_bytes_split(&text, ',', &word);
        if (choice->count == TV_DESK_INPUTS)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "inputs: more than %u files",
                           TV_DESK_INPUTS);
        if (!tv_parse_u64(word, &number) || number > UINT32_MAX)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "inputs: expected numbers of files");
        for (size_t i = 0; i < choice->count; i++)
            if (choice->numbers[i] == number)
                return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "inputs: one stands there twice");
        choice->numbers[choice->count++] = (uint32_t)number;
    }
    return choice->count > 0 ? TV_OK
                             : tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "inputs: there are none");
}

static enum tv_status read_offsets(struct tv_bytes text, struct tv_desk_choice *choice,
                                   struct tv_error *err)
{
    struct tv_bytes word;
    int64_t offset;
    for (size_t i = 0; text.length > 0; i++) {
        tv_bytes_split(&text, ',', &word);
        if (i == choice->count || !tv_parse_i64(word, &offset) || offset > TV_MOVE_MAX ||
            offset < -TV_MOVE_MAX)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "offsets: expected nanoseconds for each file, at most 73 years");
        choice->offsets[i] = offset;
    }
    return TV_OK;
}

static enum tv_status open_files(struct tv_desk *desk, const struct tv_query *query,
                                 struct tv_out *out, struct tv_error *err)
{
    struct tv_desk_choice choice = {.count = 0};
    uint32_t trace;
    const struct tv_bytes *inputs = need(query, "inputs", err);
    const struct tv_bytes *offsets = tv_query_find(query, "offsets");
    enum tv_status status = inputs ? read_inputs(*inputs, &choice, err) : TV_ERR_USAGE;
    if (status == TV_OK && offsets)
        status = read_offsets(*offsets, &choice, err);
    if (status == TV_OK)
        status = tv_desk_open(desk, &choice, &trace, err);
    if (status == TV_OK)
        tv_out_format(out, "{\"trace\":%" PRIu32 "}", trace);
    return status;
}

static enum tv_status cancel(struct tv_desk *desk, const struct tv_query *query, struct tv_out *out,
                             struct tv_error *err)
{
    (void)query;
    (void)err;
    tv_desk_cancel(desk);
    tv_out_text(out, "{}");
    return TV_OK;
}

static const struct question {
    const char *name;
    enum tv_status (*answer)(struct tv_desk *desk, const struct tv_query *query, struct tv_out *out,
                             struct tv_error *err);
} questions[] = {
    {"upload", begin_file},
    {"drop", drop_file},
    {"open", open_files},
    {"cancel", cancel},
};

static const struct question *find(struct tv_bytes name)
{
    for (size_t i = 0; i < TV_COUNT(questions); i++)
        if (tv_bytes_equal(name, tv_bytes_of(questions[i].name)))
            return &questions[i];
    return NULL;
}

bool tv_opening_knows(struct tv_bytes name)
{
    return find(name) != NULL;
}

void tv_opening_answer(struct tv_desk *desk, const struct tv_request *request,
                       struct tv_answer *answer)
{
    struct tv_query query;
    struct tv_error err = {0};
    const struct tv_bytes api = TV_BYTES("api/");
    const struct question *question =
        find((struct tv_bytes){request->path.data + api.length, request->path.length - api.length});
    answer->type = "application/json";
    if (request->body) {
        answer_piece(request->body, answer);
        return;
    }
    if (request->method != TV_HTTP_POST) {
        tv_questions_refuse(answer, TV_HTTP_WRONG_METHOD, "this question has another method");
        answer->allow = question->answer == begin_file ? "POST, PUT" : "POST";
        return;
    }
    if (tv_request_header(request, TV_HTTP_OWN_HEADER) == NULL) {
        tv_questions_refuse(answer, TV_HTTP_FORBIDDEN,
                            "the header " TV_HTTP_OWN_HEADER " is missing");
        return;
    }
    enum tv_status status = tv_query_parse(&query, request->query, request->query_length, &err);
    if (status == TV_OK)
        status = question->answer(desk, &query, &answer->body, &err);
    if (status != TV_OK)
        tv_questions_refuse(answer, http_status(status), err.message);
}
