/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.c - the process that reads a trace: one thread listens to the server, one loads, and each
 * question has one while it is answered.
 */
#define _GNU_SOURCE /* close_range */
#include "engine/child.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/workers.h"
#include "engine/engine.h"
#include "engine/kept.h"
#include "engine/messages.h"
#include "engine/status.h"
#include "view/session.h"

/* How often the server is told how far the loading is. */
#define TICK_MS 100

/* Of a thread that answers: address space, of which the limit of memory counts all. */
#define STACK_SIZE ((size_t)1024 * 1024)

/* The server comes first, and whoever sits before this machine. */
#define NICE 5
#define NICE_WRITING 15

struct child {
    const struct tv_engine_loader *loader;
    struct tv_engine_begin begin;
    struct tv_session *session;
    const struct tv_trace *trace; /* the session's */
    struct tv_kept_key key;
    bool has_key, from_index;
    atomic_uint questions; /* being answered */
};

/* False: the server has gone. */
static bool say(const struct tv_engine_message *message)
{
    while (!tv_engine_send(TV_ENGINE_FD_SOCKET, message, (struct tv_bytes){NULL, 0}, -1)) {
        struct pollfd wait = {.fd = TV_ENGINE_FD_SOCKET, .events = POLLOUT};
        if (errno != EAGAIN || (poll(&wait, 1, -1) < 0 && errno != EINTR))
            return false;
    }
    return true;
}

/* Answers. */

struct answer {
    int pipe;
    enum tv_engine_outcome outcome;
    bool begun; /* the outcome is on its way */
};

static enum tv_status write_pipe(int pipe, const void *bytes, size_t length, struct tv_error *err)
{
    const uint8_t *at = bytes;
    while (length > 0) {
        ssize_t n = write(pipe, at, length);
        if (n < 0 && errno != EINTR)
            return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "nobody reads the answer");
        if (n > 0) {
            at += n;
            length -= (size_t)n;
        }
    }
    return TV_OK;
}

static enum tv_status begin_answer(struct answer *answer, struct tv_error *err)
{
    uint8_t outcome = (uint8_t)answer->outcome;
    if (answer->begun)
        return TV_OK;
    answer->begun = true;
    return write_pipe(answer->pipe, &outcome, 1, err);
}

static enum tv_status write_length(struct answer *answer, uint32_t length, struct tv_error *err)
{
    return write_pipe(answer->pipe, &length, sizeof length, err);
}

/* As an out's function. */
static enum tv_status write_pieces(void *context, struct tv_bytes bytes, struct tv_error *err)
{
    struct answer *answer = context;
    enum tv_status status = begin_answer(answer, err);
    while (bytes.length > 0 && status == TV_OK) {
        uint32_t length = bytes.length < TV_ENGINE_PIECE ? (uint32_t)bytes.length : TV_ENGINE_PIECE;
        status = write_length(answer, length, err);
        if (status == TV_OK)
            status = write_pipe(answer->pipe, bytes.data, length, err);
        bytes.data += length;
        bytes.length -= length;
    }
    return status;
}

static void refuse(struct answer *answer, struct tv_out *out, enum tv_engine_outcome outcome,
                   const char *sentence)
{
    answer->outcome = outcome;
    tv_engine_write_refusal(out, sentence);
}

/* A wrong filter has a place. */
static void refuse_wrong(struct answer *answer, struct tv_out *out, const struct tv_error *err)
{
    out->length = 0;
    refuse(answer, out, err->status == TV_ERR_LIMIT ? TV_OUTCOME_TOO_LARGE : TV_OUTCOME_WRONG,
           err->message);
    if (err->offset == TV_NO_OFFSET)
        return;
    out->length--;
    tv_out_format(out, ",\"column\":%" PRIu64 "}", err->offset);
}

static void write_status(const struct child *child, struct tv_out *out)
{
    tv_out_char(out, '{');
    tv_session_write_status(child->session, out);
    tv_engine_write_status_end(out, child->begin.name);
}

static bool is_about(const struct tv_view_question *question)
{
    uint64_t asked;
    for (size_t i = 0; i < question->count; i++)
        if (tv_bytes_equal(question->parameters[i].name, TV_BYTES("trace")))
            return tv_parse_u64(question->parameters[i].value, &asked) && asked == TV_ENGINE_TRACE;
    return true;
}

/* False: what was written of it is not whole, and cannot be taken back. */
static bool reply(const struct child *child, const struct tv_view_question *question,
                  struct answer *answer, struct tv_out *out)
{
    struct tv_error err = {0};
    const struct tv_view *view = tv_session_view(child->session);
    if (tv_bytes_equal(question->name, TV_BYTES("status")))
        write_status(child, out);
    else if (!view)
        refuse(answer, out, TV_OUTCOME_NOT_READY, "the trace is not there yet");
    else if (!is_about(question))
        refuse(answer, out, TV_OUTCOME_OTHER_TRACE, "another trace lies open now");
    else if (tv_view_answer(view, question, out, &err) != TV_OK) {
        if (answer->begun)
            return false;
        refuse_wrong(answer, out, &err);
    }
    return true;
}

/* A picture is called as the file is that was sent, as the command calls it; a packed one has
 * another name inside. */
static void add_title(struct tv_view_question *question, struct tv_view_parameter *parameters,
                      const char *name)
{
    if (!tv_bytes_equal(question->name, TV_BYTES("flamegraph")) ||
        question->count == TV_ENGINE_PARAMETERS)
        return;
    for (size_t i = 0; i < question->count; i++)
        if (tv_bytes_equal(parameters[i].name, TV_BYTES("title")))
            return;
    parameters[question->count++] =
        (struct tv_view_parameter){TV_BYTES("title"), tv_bytes_of(name)};
}

/* A question on its way to its thread. */
struct asked {
    struct child *child;
    uint8_t *text;
    size_t length;
    int pipe;
};

static void *answer_one(void *context)
{
    struct asked *asked = context;
    struct tv_view_parameter parameters[TV_ENGINE_PARAMETERS];
    struct tv_view_question question;
    struct answer answer = {.pipe = asked->pipe};
    struct tv_error err = {0};
    struct tv_out out;
    bool whole = false;
    tv_out_init(&out, write_pieces, &answer);
    if (tv_engine_read_question((struct tv_bytes){asked->text, asked->length}, &question,
                                parameters)) {
        add_title(&question, parameters, asked->child->begin.name);
        whole = reply(asked->child, &question, &answer, &out);
    }
    if (whole && tv_out_finish(&out, &err) == TV_OK && begin_answer(&answer, &err) == TV_OK &&
        write_length(&answer, 0, &err) != TV_OK)
        err.status = TV_ERR_IO; /* the pipe's end tells the server */
    tv_out_release(&out);
    close(asked->pipe);
    atomic_fetch_sub(&asked->child->questions, 1);
    tv_free(asked->text);
    tv_free(asked);
    return NULL;
}

/* Takes the pipe over. */
static void refuse_now(int pipe)
{
    struct answer answer = {.pipe = pipe};
    struct tv_error err = {0};
    struct tv_out out;
    tv_out_init(&out, write_pieces, &answer);
    refuse(&answer, &out, TV_OUTCOME_BUSY, "too many questions at once");
    if (tv_out_finish(&out, &err) == TV_OK && write_length(&answer, 0, &err) != TV_OK)
        err.status = TV_ERR_IO;
    tv_out_release(&out);
    close(pipe);
}

static bool start_thread(void *(*run)(void *context), void *context, size_t stack)
{
    pthread_t thread;
    bool started = tv_thread_start(&thread, stack, run, context) == 0;
    if (started)
        pthread_detach(thread);
    return started;
}

/* Takes the pipe over. */
static void take_question(struct child *child, const void *text, size_t length, int pipe)
{
    if (pipe < 0)
        return;
    if (atomic_fetch_add(&child->questions, 1) >= TV_ENGINE_QUESTIONS) {
        atomic_fetch_sub(&child->questions, 1);
        refuse_now(pipe);
        return;
    }
    struct asked *asked = tv_alloc(1, sizeof *asked);
    *asked = (struct asked){child, tv_alloc(length, 1), length, pipe};
    memcpy(asked->text, text, length);
    if (start_thread(answer_one, asked, STACK_SIZE))
        return;
    atomic_fetch_sub(&child->questions, 1);
    tv_free(asked->text);
    tv_free(asked);
    refuse_now(pipe);
}

/* Loading. */

static enum tv_status load(void *context, const struct tv_session_input *inputs, size_t count,
                           struct tv_progress *progress, struct tv_trace **trace,
                           struct tv_error *err)
{
    struct child *child = context;
    struct tv_error why = {0};
    (void)count;
    struct tv_engine_wish wish = {inputs[0].source, child->begin.unpacked_bytes, child->begin.jobs};
    if (child->begin.has_index && child->has_key) {
        child->from_index = tv_kept_read(TV_ENGINE_FD_INDEX, &child->key, child->loader, &wish,
                                         trace, &why) == TV_OK;
        if (!child->from_index)
            fprintf(stderr, "the index is made anew: %s\n", why.message);
    }
    enum tv_status status = TV_OK;
    if (!child->from_index)
        status = child->loader->load(child->loader->context, &wish, progress, trace, err);
    child->trace = status == TV_OK ? *trace : NULL;
    return status;
}

/* While questions are answered, which come first. */
static void write_index(const struct child *child)
{
    struct tv_engine_message message = {.word = TV_ENGINE_INDEXED};
    struct tv_error err = {0};
    setpriority(PRIO_PROCESS, 0, NICE_WRITING); /* of this thread alone */
    message.flag =
        child->has_key && tv_kept_write(TV_ENGINE_FD_NEW_INDEX, &child->key, child->trace,
                                        tv_session_view(child->session), &err) == TV_OK;
    if (!message.flag)
        fprintf(stderr, "no index is kept: %s\n", err.message);
    close(TV_ENGINE_FD_NEW_INDEX);
    say(&message);
}

static void say_refused(const struct tv_error *error)
{
    struct tv_engine_message message = {.word = TV_ENGINE_REFUSED};
    message.refused.offset = error->offset;
    message.refused.status = error->status;
    /* The offset goes apart: what tv_error_text puts between is put there by the server. */
    memcpy(message.refused.message, error->message, sizeof message.refused.message);
    message.parts = (uint32_t)error->context;
    say(&message);
}

static void *load_all(void *context)
{
    struct child *child = context;
    struct tv_engine_message message = {.word = TV_ENGINE_LOADED};
    if (tv_session_load(child->session) != TV_SESSION_READY) {
        say_refused(tv_session_error(child->session));
        return NULL;
    }
    message.flag = child->from_index;
    say(&message);
    if (child->begin.has_new_index && !child->from_index)
        write_index(child);
    return NULL;
}

static bool begin_loading(struct child *child)
{
    struct tv_error err = {0};
    struct tv_source *source;
    struct tv_loader loader = {.load = load, .context = child, .reporter = child->loader->reporter};
    const char *name = child->begin.name;
    child->has_key = tv_kept_make_key(TV_ENGINE_FD_TRACE, name, &child->key);
    if (tv_source_open_fd(TV_ENGINE_FD_TRACE, name, &source, &err) != TV_OK) {
        say_refused(&err);
        return false;
    }
    struct tv_session_input input = {.source = source};
    child->session = tv_session_new(&loader, &input, &name, 1);
    if (start_thread(load_all, child, TV_THREAD_STACK))
        return true;
    tv_fail(&err, TV_ERR_LIMIT, TV_NO_OFFSET, "the limits leave no room for a thread");
    say_refused(&err);
    return false;
}

static void say_progress(struct child *child, struct tv_engine_progress *said)
{
    struct tv_progress_shown shown = tv_session_progress(child->session);
    struct tv_engine_message message = {.word = TV_ENGINE_PROGRESS};
    message.progress = (struct tv_engine_progress){shown.bytes, shown.total_bytes, shown.records,
                                                   tv_session_is_unpacking(child->session)};
    if (memcmp(said, &message.progress, sizeof *said) == 0)
        return;
    *said = message.progress;
    /* The next one comes soon. */
    (void)tv_engine_send(TV_ENGINE_FD_SOCKET, &message, (struct tv_bytes){NULL, 0}, -1);
}

/* Until the server has gone. */
static void listen_to_server(struct child *child)
{
    struct tv_engine_progress said = {0};
    struct tv_engine_message message;
    uint8_t *text = tv_alloc(TV_ENGINE_QUESTION_SIZE, 1);
    enum tv_engine_got got = TV_GOT_NOTHING;
    while (got != TV_GOT_END) {
        struct pollfd wait = {.fd = TV_ENGINE_FD_SOCKET, .events = POLLIN};
        bool loading = tv_session_state(child->session) == TV_SESSION_LOADING;
        if (got == TV_GOT_NOTHING && poll(&wait, 1, loading ? TICK_MS : -1) < 0 && errno != EINTR)
            break;
        if (loading)
            say_progress(child, &said);
        int pipe = -1;
        size_t length = TV_ENGINE_QUESTION_SIZE;
        got = tv_engine_receive(TV_ENGINE_FD_SOCKET, &message, text, &length, &pipe);
        if (got == TV_GOT_MESSAGE)
            take_question(child, text, length, pipe);
    }
    tv_free(text);
}

/* The beginning. */

static bool hear_begin(struct tv_engine_begin *begin)
{
    struct tv_engine_message message;
    enum tv_engine_got got = TV_GOT_NOTHING;
    while (got == TV_GOT_NOTHING) {
        struct pollfd wait = {.fd = TV_ENGINE_FD_SOCKET, .events = POLLIN};
        if (poll(&wait, 1, -1) < 0 && errno != EINTR)
            return false;
        got = tv_engine_receive(TV_ENGINE_FD_SOCKET, &message, NULL, NULL, NULL);
    }
    if (got != TV_GOT_MESSAGE || message.word != TV_ENGINE_BEGIN)
        return false;
    *begin = message.begin;
    begin->name[sizeof begin->name - 1] = '\0';
    return true;
}

/* The server may have ended between its fork and this: then nobody would tell us. */
static bool follow_server(int64_t server)
{
    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && getppid() == (pid_t)server;
}

static bool lock_in(const struct tv_engine_begin *begin)
{
    struct tv_error err = {0};
    /* The server looks itself, and has words for it; this is for one that does not come to it. */
    struct tv_sandbox_options options = {begin->memory_bytes, begin->file_bytes,
                                         begin->load_seconds + 1, TV_ENGINE_FD_SCRATCH};
    struct tv_engine_message hello = {.word = TV_ENGINE_HELLO};
    unsigned parts = 0;
    umask(077);
    signal(SIGPIPE, SIG_IGN);
    setpriority(PRIO_PROCESS, 0, NICE);
    if (tv_sandbox_enter(&options, &parts, &err) != TV_OK) {
        say_refused(&err);
        return false;
    }
    hello.parts = parts;
    return say(&hello);
}

int tv_engine_main(const struct tv_engine_loader *loader)
{
    struct child child = {.loader = loader};
    close_range(TV_ENGINE_FD_END, ~0u, 0);
    if (!hear_begin(&child.begin) || !follow_server(child.begin.server) || !lock_in(&child.begin))
        return 2;
    if (child.begin.only_hello)
        return 0;
    if (!begin_loading(&child))
        return 2;
    listen_to_server(&child);
    return 0;
}
