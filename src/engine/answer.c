/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.c - asks a child a question, and reads the answer from a pipe (messages.h).
 *
 * Reading waits at most question_seconds for each piece. A child that is late, or breaks the
 * protocol, is killed. Each second that somebody reads, the child is granted CPU time again, so a
 * long answer is not cut as long as it flows.
 *
 * Questions that no child can answer now are answered here from memory: "status" while there is no
 * child, and refusals.
 */
#define _GNU_SOURCE /* pipe2 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/out.h"
#include "engine/internal.h"

/* Interval at which a reader grants the child more CPU time. */
#define ALLOW_MS 1000

struct tv_engine_answer {
    struct tv_engine *engine;
    enum tv_answer_status status;
    enum tv_answer_type type;
    int pipe;        /* -1: the answer is `text` */
    uint32_t left;   /* bytes left of the current block */
    bool over;       /* nothing more will arrive */
    bool failed;     /* the answer ended too early */
    int64_t allowed; /* ms: last time that CPU time was granted */
    struct tv_out text;
    size_t at;
};

/* Kill the engine because it broke the protocol or took too long. */
static enum tv_status answer_kill_engine(struct tv_engine_answer *answer, struct tv_error *err,
                                         const char *words)
{
    struct tv_engines *engines = answer->engine->engines;
    pthread_mutex_lock(&engines->lock);
    tv_engine_kill(answer->engine, "%s", words);
    pthread_mutex_unlock(&engines->lock);
    answer->over = true;
    return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "%s", words);
}

static enum tv_status answer_fail_timeout(struct tv_engine_answer *answer, struct tv_error *err)
{
    char words[64];
    unsigned seconds = answer->engine->engines->options.question_seconds;
    snprintf(words, sizeof words, "a question took more than %u %s", seconds,
             tv_plural(seconds, "second", "seconds"));
    return answer_kill_engine(answer, err, words);
}

/* Wait until the pipe is readable or closed. */
static enum tv_status answer_wait_readable(struct tv_engine_answer *answer, struct tv_error *err)
{
    int64_t until =
        tv_monotonic_ms() + (int64_t)answer->engine->engines->options.question_seconds * 1000;
    for (;;) {
        int64_t left = until - tv_monotonic_ms();
        struct pollfd wait = {.fd = answer->pipe, .events = POLLIN};
        int got = poll(&wait, 1, left < 0 ? 0 : (int)left);
        if (got > 0)
            return TV_OK;
        if (got == 0)
            return answer_fail_timeout(answer, err);
        if (errno != EINTR)
            return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot wait: %s", strerror(errno));
    }
}

/* Read at least one byte and at most `size`. */
static enum tv_status answer_read_some(struct tv_engine_answer *answer, void *buffer, size_t size,
                                       size_t *got, struct tv_error *err)
{
    assert(size > 0);
    ssize_t n = -1;
    while (n < 0) {
        enum tv_status status = answer_wait_readable(answer, err);
        if (status != TV_OK)
            return status;
        n = read(answer->pipe, buffer, size);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot read: %s", strerror(errno));
    }
    if (n == 0) {
        answer->over = true;
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "the process that reads the trace has ended in the middle of the answer");
    }
    *got = (size_t)n;
    return TV_OK;
}

static enum tv_status answer_read_all(struct tv_engine_answer *answer, void *buffer, size_t size,
                                      struct tv_error *err)
{
    uint8_t *to = buffer;
    enum tv_status status = TV_OK;
    while (size > 0 && status == TV_OK) {
        size_t got = 0;
        status = answer_read_some(answer, to, size, &got, err);
        to += got;
        size -= got;
    }
    return status;
}

/* ---- Answers from the server itself ---- */

static void answer_refuse_locally(struct tv_engine_answer *answer, enum tv_answer_status status,
                                  const char *sentence)
{
    answer->status = status;
    answer->type = TV_ANSWER_JSON;
    answer->text.length = 0;
    tv_engine_write_refusal(&answer->text, sentence);
}

static void answer_status_locally(struct tv_engine_answer *answer)
{
    struct tv_engine_status status;
    char name[sizeof answer->engine->name];
    tv_engine_get_status(answer->engine, &status);
    pthread_mutex_lock(&answer->engine->engines->lock);
    memcpy(name, answer->engine->name, sizeof name);
    pthread_mutex_unlock(&answer->engine->engines->lock);
    answer->status = TV_ANSWER_OK;
    answer->text.length = 0;
    tv_engine_write_status(&answer->text, &status, name);
}

/* ---- Asking ---- */

/* Send the question with the write end of a new pipe. Return the read end; -1: the child takes no
 * question now. Runs under the lock. */
static int answer_send_question(struct tv_engine *engine, struct tv_bytes question)
{
    static const struct tv_engine_message message = {.kind = TV_ENGINE_QUESTION};
    int pipes[2];
    if (!tv_engine_is_alive(engine) || pipe2(pipes, O_CLOEXEC) != 0)
        return -1;
    bool sent = tv_engine_send(engine->child.socket, &message, question, pipes[1]);
    close(pipes[1]);
    if (sent) {
        fcntl(pipes[0], F_SETFL, O_NONBLOCK);
        tv_engine_grant_cpu_time(engine);
        return pipes[0];
    }
    close(pipes[0]);
    return -1;
}

/* Read the first byte. False: the child does not answer, and *err says why. */
static bool answer_read_outcome(struct tv_engine_answer *answer, struct tv_error *err)
{
    static const enum tv_answer_status statuses[] = {
        [TV_OUTCOME_OK] = TV_ANSWER_OK,
        [TV_OUTCOME_WRONG] = TV_ANSWER_WRONG,
        [TV_OUTCOME_NOT_READY] = TV_ANSWER_NOT_READY,
        [TV_OUTCOME_OTHER_TRACE] = TV_ANSWER_OTHER_TRACE,
        [TV_OUTCOME_BUSY] = TV_ANSWER_BUSY,
        [TV_OUTCOME_TOO_LARGE] = TV_ANSWER_TOO_LARGE,
    };
    uint8_t outcome = TV_OUTCOMES;
    enum tv_status status = answer_read_all(answer, &outcome, 1, err);
    if (status == TV_OK && outcome >= TV_OUTCOMES)
        status = answer_kill_engine(answer, err, "it broke the rules of the conversation");
    if (status == TV_OK) {
        answer->status = statuses[outcome];
        if (outcome != TV_OUTCOME_OK)
            answer->type = TV_ANSWER_JSON;
        return true;
    }
    close(answer->pipe);
    answer->pipe = -1;
    return false;
}

/* Send a question to the child and wait for the first byte of its answer.  A child that is not
 * ready answers only for its status; any other failure becomes an answer of the server's own. */
static void answer_ask_child(struct tv_engine_answer *answer,
                             const struct tv_view_question *question, bool is_status)
{
    assert(answer->pipe < 0);
    struct tv_engine *engine = answer->engine;
    struct tv_out bytes;
    tv_out_init_memory(&bytes);
    bool fits = tv_engine_write_question(&bytes, question);
    pthread_mutex_lock(&engine->engines->lock);
    bool ready = engine->state == TV_ENGINE_READY;
    bool loading = engine->state == TV_ENGINE_LOADING;
    if (fits && (ready || (is_status && loading)))
        answer->pipe = answer_send_question(engine, (struct tv_bytes){bytes.buffer, bytes.length});
    pthread_mutex_unlock(&engine->engines->lock);
    tv_out_release(&bytes);
    struct tv_error err = {.message = "the process that reads the trace does not answer"};
    if (answer->pipe >= 0 && answer_read_outcome(answer, &err))
        return;
    if (is_status)
        answer_status_locally(answer);
    else if (!fits)
        answer_refuse_locally(answer, TV_ANSWER_WRONG, "the question is too long");
    else if (ready)
        answer_refuse_locally(answer, TV_ANSWER_BUSY, err.message);
    else
        answer_refuse_locally(answer, TV_ANSWER_NOT_READY, "the trace is not there yet");
}

struct tv_engine_answer *tv_engine_ask(struct tv_engine *engine,
                                       const struct tv_view_question *question)
{
    struct tv_engine_answer *answer = tv_alloc(1, sizeof *answer);
    bool is_status = tv_bytes_equal(question->name, TV_BYTES("status"));
    answer->engine = engine;
    answer->pipe = -1;
    tv_out_init_memory(&answer->text);
    pthread_mutex_lock(&engine->engines->lock);
    engine->holders++;
    pthread_mutex_unlock(&engine->engines->lock);
    if (is_status || tv_view_find_question(question->name, &answer->type))
        answer_ask_child(answer, question, is_status);
    else
        answer_refuse_locally(answer, TV_ANSWER_UNKNOWN, "there is no such question");
    return answer;
}

enum tv_answer_status tv_engine_answer_status(const struct tv_engine_answer *answer)
{
    return answer->status;
}

enum tv_answer_type tv_engine_answer_type(const struct tv_engine_answer *answer)
{
    return answer->type;
}

/* ---- Reading ---- */

static enum tv_status answer_read_text(struct tv_engine_answer *answer, void *buffer, size_t size,
                                       size_t *got)
{
    size_t left = answer->text.length - answer->at;
    *got = left < size ? left : size;
    if (*got > 0)
        memcpy(buffer, answer->text.buffer + answer->at, *got);
    answer->at += *got;
    return TV_OK;
}

static void answer_extend_cpu_time(struct tv_engine_answer *answer)
{
    struct tv_engines *engines = answer->engine->engines;
    int64_t now = tv_monotonic_ms();
    if (now - answer->allowed < ALLOW_MS)
        return;
    answer->allowed = now;
    pthread_mutex_lock(&engines->lock);
    if (tv_engine_is_alive(answer->engine))
        tv_engine_grant_cpu_time(answer->engine);
    pthread_mutex_unlock(&engines->lock);
}

static enum tv_status answer_begin_block(struct tv_engine_answer *answer, struct tv_error *err)
{
    assert(answer->left == 0 && !answer->over);
    uint32_t length = 0;
    enum tv_status status = answer_read_all(answer, &length, sizeof length, err);
    if (status != TV_OK)
        return status;
    if (length > TV_ENGINE_PIECE)
        return answer_kill_engine(answer, err, "it broke the rules of the conversation");
    answer->left = length;
    answer->over = length == 0;
    answer_extend_cpu_time(answer);
    return TV_OK;
}

/* Read a part of the answer.  It comes in blocks with their length, so that its end is told from
 * the death of the child. */
static enum tv_status answer_read_pipe(struct tv_engine_answer *answer, void *buffer, size_t size,
                                       size_t *got, struct tv_error *err)
{
    enum tv_status status =
        answer->left == 0 && !answer->over ? answer_begin_block(answer, err) : TV_OK;
    if (status != TV_OK || answer->left == 0)
        return status;
    status = answer_read_some(answer, buffer, size < answer->left ? size : answer->left, got, err);
    if (status == TV_OK)
        answer->left -= (uint32_t)*got;
    return status;
}

enum tv_status tv_engine_answer_read(struct tv_engine_answer *answer, void *buffer, size_t size,
                                     size_t *got, struct tv_error *err)
{
    *got = 0;
    if (answer->pipe < 0)
        return answer_read_text(answer, buffer, size, got);
    if (answer->failed)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the rest of the answer is not to be had");
    enum tv_status status = answer_read_pipe(answer, buffer, size, got, err);
    answer->failed = status != TV_OK;
    return status;
}

void tv_engine_answer_free(struct tv_engine_answer *answer)
{
    if (!answer)
        return;
    if (answer->pipe >= 0)
        close(answer->pipe);
    tv_out_release(&answer->text);
    tv_engine_close(answer->engine);
    tv_free(answer);
}
