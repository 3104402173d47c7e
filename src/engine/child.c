/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.c - the child process: reads one trace and answers questions about it.
 *
 * Threads: the main thread receives messages; one thread loads the trace and then writes its index;
 * each question has a thread of its own while it is answered.
 *
 *     main      BEGIN -> sandbox -> HELLO -> [QUESTION -> start a thread] ... end of the socket
 *     loader    load, or read the index -> LOADED -> write the index -> INDEXED
 *     question  parse -> answer through its pipe -> end
 *
 * The process ends with the server: when the socket closes, and by PR_SET_PDEATHSIG.
 *
 * The index cache (index/index.h) lets a trace open without reading it again. Its key is made of
 * the trace file's size and time and of the trace's name, which is part of the trace. When the
 * trace comes from its index and an event's details are needed, the original is opened, and
 * unpacked, on demand.
 */
#define _GNU_SOURCE /* close_range */
#include "engine/child.h"

#include <assert.h>
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
#include "base/source.h"
#include "base/workers.h"
#include "engine/engine.h"
#include "engine/internal.h"
#include "engine/messages.h"
#include "index/index.h"
#include "view/session.h"
#include "view/view.h"

/* Identifies what was read: size and time of the file, and the name of the trace. */
#define INDEX_CACHE_KEY 600

struct index_cache_key {
    uint8_t bytes[INDEX_CACHE_KEY];
    size_t length;
};

/* Make the key of a file; false when it cannot be made, and no index is used. */
static bool index_cache_make_key(int fd, const char *name, struct index_cache_key *key)
{
    struct stat info;
    size_t length = strlen(name);
    if (fstat(fd, &info) != 0)
        return false;
    const int64_t numbers[] = {info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
    if (length > sizeof key->bytes - sizeof numbers)
        return false;
    memcpy(key->bytes, numbers, sizeof numbers);
    memcpy(key->bytes + sizeof numbers, name, length);
    key->length = sizeof numbers + length;
    return true;
}

/* Return the key as bytes. */
static struct tv_bytes index_cache_key_bytes(const struct index_cache_key *key)
{
    return (struct tv_bytes){key->bytes, key->length};
}

/* The inputs of a trace that came from its index. They are opened when they are first needed. */
struct index_cache_inputs {
    const struct tv_engine_loader *loader;
    struct tv_engine_input input; /* with a source of its own; NULL after `tried` */
    pthread_mutex_t lock;
    bool tried;
    struct tv_error error;      /* of the attempt */
    struct tv_source **sources; /* each NULL once it was handed out */
    size_t count;
};

/* Open and unpack the trace's file, once. Runs under the lock of the inputs. */
static void index_cache_open_sources(struct index_cache_inputs *later)
{
    if (later->tried)
        return;
    later->tried = true;
    struct tv_engine_input input = later->input;
    later->input.source = NULL;
    if (later->loader->open(later->loader->context, &input, &later->sources, &later->count,
                            &later->error) != TV_OK)
        later->count = 0;
}

/* Hand out one input (struct tv_index_inputs). */
static enum tv_status index_cache_open_input(void *context, uint32_t number,
                                             struct tv_source **source, struct tv_error *err)
{
    struct index_cache_inputs *later = context;
    enum tv_status status = TV_OK;
    pthread_mutex_lock(&later->lock);
    index_cache_open_sources(later);
    if (number < later->count && later->sources[number]) {
        *source = later->sources[number];
        later->sources[number] = NULL;
    } else if (later->error.status != TV_OK) {
        *err = later->error;
        status = err->status;
    } else {
        status = tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "it is not in the file any more");
    }
    pthread_mutex_unlock(&later->lock);
    return status;
}

/* Free the inputs that were not handed out (struct tv_index_inputs). */
static void index_cache_free_inputs(void *context)
{
    struct index_cache_inputs *later = context;
    for (size_t i = 0; i < later->count; i++)
        if (later->sources[i])
            tv_source_free(later->sources[i]);
    tv_free(later->sources);
    if (later->input.source)
        tv_source_free(later->input.source);
    pthread_mutex_destroy(&later->lock);
    tv_free(later);
}

/* Read the trace from its index, and close the index. On success the source of the input belongs to
 * the trace. */
static enum tv_status index_cache_read(int fd, const struct index_cache_key *key,
                                       const struct tv_engine_loader *loader,
                                       const struct tv_engine_input *input, struct tv_trace **trace,
                                       struct tv_error *err)
{
    struct tv_sections_memory memory = {.release = tv_file_unmap};
    enum tv_status status = tv_file_map(fd, &memory.bytes, err);
    close(fd);
    if (status != TV_OK)
        return status;
    struct index_cache_inputs *later = tv_alloc(1, sizeof *later);
    later->loader = loader;
    later->input = *input;
    later->input.source = tv_source_range(input->source, 0, tv_source_size(input->source),
                                          tv_source_name(input->source));
    pthread_mutex_init(&later->lock, NULL);
    struct tv_index_inputs inputs = {index_cache_open_input, index_cache_free_inputs, later};
    status = tv_index_read(&memory, index_cache_key_bytes(key), &inputs, trace, err);
    if (status ==
        TV_OK) /* `later` may already be freed if the trace never reads its inputs again */
        tv_source_free(input->source);
    return status;
}

/* The write function of an output to a descriptor. */
static enum tv_status index_cache_write_bytes(void *context, struct tv_bytes bytes,
                                              struct tv_error *err)
{
    int fd = *(const int *)context;
    while (bytes.length > 0) {
        ssize_t n = write(fd, bytes.data, bytes.length);
        if (n < 0 && errno != EINTR)
            return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot write the index: %s",
                           strerror(errno));
        if (n > 0) {
            bytes.data += n;
            bytes.length -= (size_t)n;
        }
    }
    return TV_OK;
}

/* Add what the view has computed, so that it need not be computed again (struct tv_index_more). */
static void index_cache_add_view(const void *view, struct tv_sections_writer *writer)
{
    tv_view_store(view, writer);
}

/* Write the index of a trace, and sync it: the server renames it only then. */
static enum tv_status index_cache_write(int fd, const struct index_cache_key *key,
                                        const struct tv_trace *trace, const struct tv_view *view,
                                        struct tv_error *err)
{
    struct tv_index_more more = {index_cache_add_view, view};
    struct tv_out out;
    tv_out_init(&out, index_cache_write_bytes, &fd);
    enum tv_status status = tv_index_write(trace, index_cache_key_bytes(key), &more, &out, err);
    tv_out_release(&out);
    if (status == TV_OK && fsync(fd) != 0)
        status =
            tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot write the index: %s", strerror(errno));
    return status;
}

/* ---- The child ---- */

/* Interval between progress messages. */
#define TICK_MS 100

/* Stack of a thread that answers. The memory limit counts all of it, used or not. */
#define STACK_SIZE ((size_t)1024 * 1024)

/* Run at lower priority than the server and the user of this machine. */
#define NICE 5
#define NICE_WRITING 15

struct engine_child {
    const struct tv_engine_loader *loader;
    struct tv_engine_begin begin;
    struct tv_session *session;
    const struct tv_trace *trace; /* owned by the session */
    struct index_cache_key key;
    bool has_key, from_index;
    atomic_uint questions; /* in progress */
};

/* In a build with coverage, write the counts of branches now, before the server hears something:
 * after it the server may kill this process at any moment, and no exit handler would run. */
static void child_save_counts(void)
{
#ifdef TV_COVERAGE
    void __gcov_dump(void);
    void __gcov_reset(void);
    __gcov_dump();
    __gcov_reset();
#endif
}

/* Send a message, and wait while the queue is full. If the message cannot be sent, end the process:
 * the server would wait for it as long as this process lives. */
static void child_send(const struct tv_engine_message *message)
{
    child_save_counts();
    while (!tv_engine_send(TV_ENGINE_FD_SOCKET, message, (struct tv_bytes){NULL, 0}, -1)) {
        struct pollfd wait = {.fd = TV_ENGINE_FD_SOCKET, .events = POLLOUT};
        if (errno != EAGAIN || (poll(&wait, 1, -1) < 0 && errno != EINTR)) {
            child_save_counts();
            _exit(2);
        }
    }
}

/* ---- Answers ---- */

/* An answer on its way: outcome byte, blocks with their lengths, and a block of length 0
 * (messages.h). */
struct child_reply_state {
    int pipe;
    enum tv_engine_outcome outcome;
    bool begun; /* the outcome byte was written */
};

/* Write all bytes to a pipe. */
static enum tv_status child_write_pipe(int pipe, const void *bytes, size_t length,
                                       struct tv_error *err)
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

/* Write the outcome before the first block. */
static enum tv_status child_begin_reply(struct child_reply_state *answer, struct tv_error *err)
{
    assert(answer->pipe >= 0);
    uint8_t outcome = (uint8_t)answer->outcome;
    if (answer->begun)
        return TV_OK;
    answer->begun = true;
    return child_write_pipe(answer->pipe, &outcome, 1, err);
}

/* Write the length of a block; 0 ends the answer. */
static enum tv_status child_write_block_length(struct child_reply_state *answer, uint32_t length,
                                               struct tv_error *err)
{
    return child_write_pipe(answer->pipe, &length, sizeof length, err);
}

/* Write function of a tv_out: send the bytes in blocks. */
static enum tv_status child_write_blocks(void *context, struct tv_bytes bytes, struct tv_error *err)
{
    struct child_reply_state *answer = context;
    enum tv_status status = child_begin_reply(answer, err);
    while (bytes.length > 0 && status == TV_OK) {
        uint32_t length = bytes.length < TV_ENGINE_PIECE ? (uint32_t)bytes.length : TV_ENGINE_PIECE;
        status = child_write_block_length(answer, length, err);
        if (status == TV_OK)
            status = child_write_pipe(answer->pipe, bytes.data, length, err);
        bytes.data += length;
        bytes.length -= length;
    }
    return status;
}

/* Refuse a question with a sentence for the user. */
static void child_refuse(struct child_reply_state *answer, struct tv_out *out,
                         enum tv_engine_outcome outcome, const char *sentence)
{
    answer->outcome = outcome;
    tv_engine_write_refusal(out, sentence);
}

/* Refuse with an error of the view. The error of a filter has a column. */
static void child_refuse_error(struct child_reply_state *answer, struct tv_out *out,
                               const struct tv_error *err)
{
    out->length = 0;
    child_refuse(answer, out, err->status == TV_ERR_LIMIT ? TV_OUTCOME_TOO_LARGE : TV_OUTCOME_WRONG,
                 err->message);
    if (err->offset == TV_NO_OFFSET)
        return;
    out->length--;
    tv_out_format(out, ",\"column\":%" PRIu64 "}", err->offset);
}

/* Write the status of loading, which is answered at any time. */
static void child_write_status(const struct engine_child *child, struct tv_out *out)
{
    tv_out_char(out, '{');
    tv_session_write_status(child->session, out);
    tv_engine_write_status_end(out, child->begin.name);
}

/* Return true when a question names no trace, or this one. */
static bool child_is_about_trace(const struct tv_view_question *question)
{
    uint64_t asked;
    for (size_t i = 0; i < question->count; i++)
        if (tv_bytes_equal(question->parameters[i].name, TV_BYTES("trace")))
            return tv_parse_u64(question->parameters[i].value, &asked) && asked == TV_ENGINE_TRACE;
    return true;
}

/* Answer a question. False: part of the answer was already sent and the rest failed, so the pipe
 * must close without the final block. */
static bool child_reply(const struct engine_child *child, const struct tv_view_question *question,
                        struct child_reply_state *answer, struct tv_out *out)
{
    struct tv_error err = {0};
    const struct tv_view *view = tv_session_view(child->session);
    if (tv_bytes_equal(question->name, TV_BYTES("status")))
        child_write_status(child, out);
    else if (!view)
        child_refuse(answer, out, TV_OUTCOME_NOT_READY, "the trace is not there yet");
    else if (!child_is_about_trace(question))
        child_refuse(answer, out, TV_OUTCOME_OTHER_TRACE, "another trace lies open now");
    else if (tv_view_answer(view, question, out, &err) != TV_OK) {
        if (answer->begun)
            return false;
        child_refuse_error(answer, out, &err);
    }
    return true;
}

/* Use the file's name as the title of a flame graph, as the command does. A packed trace has
 * another name inside. */
static void child_add_title(struct tv_view_question *question, struct tv_view_parameter *parameters,
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
struct child_question {
    struct engine_child *child;
    uint8_t *text;
    size_t length;
    int pipe;
};

/* The thread of one question. */
static void *child_answer_question(void *context)
{
    struct child_question *asked = context;
    struct tv_view_parameter parameters[TV_ENGINE_PARAMETERS];
    struct tv_view_question question;
    struct child_reply_state answer = {.pipe = asked->pipe};
    struct tv_error err = {0};
    struct tv_out out;
    bool whole = false;
    tv_out_init(&out, child_write_blocks, &answer);
    if (tv_engine_read_question((struct tv_bytes){asked->text, asked->length}, &question,
                                parameters)) {
        child_add_title(&question, parameters, asked->child->begin.name);
        whole = child_reply(asked->child, &question, &answer, &out);
        child_save_counts();
    }
    if (whole && tv_out_finish(&out, &err) == TV_OK && child_begin_reply(&answer, &err) == TV_OK &&
        child_write_block_length(&answer, 0, &err) != TV_OK)
        err.status = TV_ERR_IO; /* the server sees the pipe close early */
    tv_out_release(&out);
    atomic_fetch_sub(&asked->child->questions, 1);
    child_save_counts();
    close(asked->pipe);
    tv_free(asked->text);
    tv_free(asked);
    return NULL;
}

/* Refuse a question from the main thread. Closes the pipe. */
static void child_refuse_at_once(int pipe)
{
    struct child_reply_state answer = {.pipe = pipe};
    struct tv_error err = {0};
    struct tv_out out;
    tv_out_init(&out, child_write_blocks, &answer);
    child_refuse(&answer, &out, TV_OUTCOME_BUSY, "too many questions at once");
    if (tv_out_finish(&out, &err) == TV_OK && child_write_block_length(&answer, 0, &err) != TV_OK)
        err.status = TV_ERR_IO;
    tv_out_release(&out);
    close(pipe);
}

/* Start a thread that nobody waits for. */
static bool child_start_thread(void *(*run)(void *context), void *context, size_t stack)
{
    pthread_t thread;
    bool started = tv_thread_start(&thread, stack, run, context) == 0;
    if (started)
        pthread_detach(thread);
    return started;
}

/* Start a thread for the question, which owns the pipe from now on. */
static void child_take_question(struct engine_child *child, const void *text, size_t length,
                                int pipe)
{
    assert(length <= TV_ENGINE_QUESTION_SIZE);
    if (pipe < 0)
        return;
    if (atomic_fetch_add(&child->questions, 1) >= TV_ENGINE_QUESTIONS) {
        atomic_fetch_sub(&child->questions, 1);
        child_refuse_at_once(pipe);
        return;
    }
    struct child_question *asked = tv_alloc(1, sizeof *asked);
    *asked = (struct child_question){child, tv_alloc(length, 1), length, pipe};
    memcpy(asked->text, text, length);
    if (child_start_thread(child_answer_question, asked, STACK_SIZE))
        return;
    atomic_fetch_sub(&child->questions, 1);
    tv_free(asked->text);
    tv_free(asked);
    child_refuse_at_once(pipe);
}

/* ---- Loading ---- */

/* Read the trace: from its index if that is right, else from the file. */
static enum tv_status child_load(void *context, const struct tv_session_input *inputs, size_t count,
                                 struct tv_progress *progress, struct tv_trace **trace,
                                 struct tv_error *err)
{
    struct engine_child *child = context;
    struct tv_error why = {0};
    (void)count;
    struct tv_engine_input input = {inputs[0].source, child->begin.unpacked_bytes,
                                    child->begin.jobs};
    if (child->begin.has_index && child->has_key) {
        child->from_index = index_cache_read(TV_ENGINE_FD_INDEX, &child->key, child->loader, &input,
                                             trace, &why) == TV_OK;
        if (!child->from_index)
            fprintf(stderr, "the index is made anew: %s\n", why.message);
    }
    enum tv_status status = TV_OK;
    if (!child->from_index)
        status = child->loader->load(child->loader->context, &input, progress, trace, err);
    child->trace = status == TV_OK ? *trace : NULL;
    return status;
}

/* Write the index at low priority, while questions are answered. */
static void child_write_index(const struct engine_child *child)
{
    struct tv_engine_message message = {.kind = TV_ENGINE_INDEXED};
    struct tv_error err = {0};
    setpriority(PRIO_PROCESS, 0, NICE_WRITING); /* of this thread only (a property of Linux) */
    message.flag =
        child->has_key && index_cache_write(TV_ENGINE_FD_NEW_INDEX, &child->key, child->trace,
                                            tv_session_view(child->session), &err) == TV_OK;
    if (!message.flag)
        fprintf(stderr, "no index is kept: %s\n", err.message);
    close(TV_ENGINE_FD_NEW_INDEX);
    child_send(&message);
}

static void child_send_refused(const struct tv_error *error)
{
    struct tv_engine_message message = {.kind = TV_ENGINE_REFUSED};
    message.refused.offset = error->offset;
    message.refused.status = error->status;
    /* Send the offset apart from the message: the server composes the text with tv_error_text. */
    memcpy(message.refused.message, error->message, sizeof message.refused.message);
    message.parts = (uint32_t)error->context;
    child_send(&message);
}

/* Load and tell the parent. The parent hears LOADED before the index is written, so that answers do
 * not wait for a file that only the next opening needs. */
static void *child_run_loading(void *context)
{
    assert(((struct engine_child *)context)->session != NULL);
    struct engine_child *child = context;
    struct tv_engine_message message = {.kind = TV_ENGINE_LOADED};
    if (tv_session_load(child->session) != TV_SESSION_READY) {
        child_send_refused(tv_session_error(child->session));
        return NULL;
    }
    message.flag = child->from_index;
    child_send(&message);
    if (child->begin.has_new_index && !child->from_index)
        child_write_index(child);
    child_save_counts();
    return NULL;
}

/* Open the trace from its descriptor and load it in a thread, so that the main thread can answer
 * progress and cancel. The cache's key is made first: made after reading, it could be that of a
 * newer file. False: refused, and the parent was told why. */
static bool child_begin_loading(struct engine_child *child)
{
    struct tv_error err = {0};
    struct tv_source *source;
    struct tv_loader loader = {
        .load = child_load, .context = child, .reporter = child->loader->reporter};
    const char *name = child->begin.name;
    child->has_key = index_cache_make_key(TV_ENGINE_FD_TRACE, name, &child->key);
    if (tv_source_open_fd(TV_ENGINE_FD_TRACE, name, &source, &err) != TV_OK) {
        child_send_refused(&err);
        return false;
    }
    struct tv_session_input input = {.source = source};
    child->session = tv_session_new(&loader, &input, &name, 1);
    if (child_start_thread(child_run_loading, child, TV_THREAD_STACK))
        return true;
    tv_fail(&err, TV_ERR_LIMIT, TV_NO_OFFSET, "the limits leave no room for a thread");
    child_send_refused(&err);
    return false;
}

static void child_send_progress(struct engine_child *child, struct tv_engine_progress *sent)
{
    struct tv_progress_shown shown = tv_session_progress(child->session);
    struct tv_engine_message message = {.kind = TV_ENGINE_PROGRESS};
    message.progress = (struct tv_engine_progress){shown.bytes, shown.total_bytes, shown.records,
                                                   tv_session_is_unpacking(child->session)};
    if (memcmp(sent, &message.progress, sizeof *sent) == 0)
        return;
    *sent = message.progress;
    /* a lost message does not matter, the next one follows soon */
    (void)tv_engine_send(TV_ENGINE_FD_SOCKET, &message, (struct tv_bytes){NULL, 0}, -1);
}

/* Receive messages until the server is gone. */
static void child_serve(struct engine_child *child)
{
    struct tv_engine_progress sent = {0};
    struct tv_engine_message message;
    uint8_t *text = tv_alloc(TV_ENGINE_QUESTION_SIZE, 1);
    enum tv_engine_got got = TV_GOT_NOTHING;
    while (got != TV_GOT_END) {
        struct pollfd wait = {.fd = TV_ENGINE_FD_SOCKET, .events = POLLIN};
        bool loading = tv_session_state(child->session) == TV_SESSION_LOADING;
        if (got == TV_GOT_NOTHING && poll(&wait, 1, loading ? TICK_MS : -1) < 0 && errno != EINTR)
            break;
        if (loading)
            child_send_progress(child, &sent);
        int pipe = -1;
        size_t length = TV_ENGINE_QUESTION_SIZE;
        got = tv_engine_receive(TV_ENGINE_FD_SOCKET, &message, text, &length, &pipe);
        if (got == TV_GOT_MESSAGE)
            child_take_question(child, text, length, pipe);
    }
    tv_free(text);
}

/* ---- Start ---- */

/* Wait for the first message, which says what to read. */
static bool child_receive_begin(struct tv_engine_begin *begin)
{
    struct tv_engine_message message;
    enum tv_engine_got got = TV_GOT_NOTHING;
    while (got == TV_GOT_NOTHING) {
        struct pollfd wait = {.fd = TV_ENGINE_FD_SOCKET, .events = POLLIN};
        if (poll(&wait, 1, -1) < 0 && errno != EINTR)
            return false;
        got = tv_engine_receive(TV_ENGINE_FD_SOCKET, &message, NULL, NULL, NULL);
    }
    if (got != TV_GOT_MESSAGE || message.kind != TV_ENGINE_BEGIN)
        return false;
    *begin = message.begin;
    begin->name[sizeof begin->name - 1] = '\0';
    return true;
}

/* Ask the kernel to kill this process with the server. The server may already have died since its
 * fork, so compare the parent. */
static bool child_die_with_server(int64_t server)
{
    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && getppid() == (pid_t)server;
}

static bool child_enter_sandbox(const struct tv_engine_begin *begin)
{
    struct tv_error err = {0};
    /* The server enforces the CPU limit itself, with a better message. This limit is for a server
     * that does not get to it. */
    struct tv_sandbox_options options = {begin->memory_bytes, begin->file_bytes,
                                         begin->load_seconds + 1, TV_ENGINE_FD_SCRATCH};
    struct tv_engine_message hello = {.kind = TV_ENGINE_HELLO};
    unsigned parts = 0;
    umask(077);
    signal(SIGPIPE, SIG_IGN);
    setpriority(PRIO_PROCESS, 0, NICE);
    if (tv_sandbox_enter(&options, &parts, &err) != TV_OK) {
        child_send_refused(&err);
        return false;
    }
    hello.parts = parts;
    child_send(&hello);
    return true;
}

int tv_engine_main(const struct tv_engine_loader *loader)
{
    struct engine_child child = {.loader = loader};
    close_range(TV_ENGINE_FD_END, ~0u, 0);
    if (!child_receive_begin(&child.begin) || !child_die_with_server(child.begin.server) ||
        !child_enter_sandbox(&child.begin))
        return 2;
    if (child.begin.only_hello)
        return 0;
    if (!child_begin_loading(&child))
        return 2;
    child_serve(&child);
    return 0;
}
