/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine.c - the command's side of the sandbox (confine.h): one function for
 * each thing that a command can ask of its broker.
 *
 *     command, in the sandbox                      broker, with the user's rights
 *     ---- word, path or key, flags ------------>  decides whether the command may have it
 *     <--- number, error, perhaps a descriptor --  opens, renames, starts
 *
 * All requests share one socket and one lock, because threads of the command
 * open files at the same time.  A request that fails because the broker has
 * gone is an error of that file, not of the program.
 *
 * Nothing here protects anything: a hostile trace that took over the command
 * could send what it likes.  The broker checks every request as if it came from
 * an enemy (broker.c); here, errors only have to be plain.
 */
#define _GNU_SOURCE /* SOCK_CLOEXEC */
#include "cli/confine.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/program.h"
#include "base/swap.h"
#include "cli/broker.h"
#include "cli/input/symbols.h"
#include "cli/options.h"
#include "cli/output/message.h"
#include "engine/sandbox.h"
#include "symbols/demangle.h"
#include "unpack/unpack.h"

static struct {
    struct tv_confine_options options;
    pid_t broker; /* 0: there is no broker */
    int socket;
    pthread_mutex_t lock; /* one request at a time */
} confined = {.socket = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

bool tv_is_confined(void)
{
    return confined.broker > 0;
}

/* ---- Requests to the broker ---- */

/* Send a request and receive the reply. False: the broker has ended. `descriptor` may be NULL. */
static bool confine_ask_broker(const struct tv_broker_request *request,
                               struct tv_broker_reply *reply, int *descriptor)
{
    assert(tv_is_confined());
    int got = -1;
    pthread_mutex_lock(&confined.lock);
    bool done = tv_broker_send(confined.socket, request, sizeof *request, -1) &&
                tv_broker_receive(confined.socket, reply, sizeof *reply, &got);
    pthread_mutex_unlock(&confined.lock);
    if (!done)
        memset(reply, 0, sizeof *reply);
    if (descriptor)
        *descriptor = got;
    else if (got >= 0)
        close(got);
    return done;
}

/* A request and its reply, on the heap because they are large. */
struct broker_exchange {
    struct tv_broker_request request;
    struct tv_broker_reply reply;
};

/* The caller frees it with tv_free. */
static struct broker_exchange *broker_exchange_new(enum tv_broker_word word)
{
    struct broker_exchange *made = tv_alloc(1, sizeof *made);
    made->request.word = word;
    return made;
}

/* False: the path is too long. */
static bool broker_exchange_set_path(struct broker_exchange *exchange, const char *path)
{
    size_t size = strlen(path) + 1;
    if (size > sizeof exchange->request.path)
        return false;
    memcpy(exchange->request.path, path, size);
    return true;
}

/* False: the key is too long; none is made so. */
static bool broker_exchange_set_key(struct broker_exchange *exchange, struct tv_bytes key)
{
    if (key.length > sizeof exchange->request.key)
        return false;
    memcpy(exchange->request.key, key.data, key.length);
    exchange->request.length = (uint32_t)key.length;
    return true;
}

/* Only a broker that was killed ends before the command. */
static enum tv_status confine_fail_gone(struct tv_error *err)
{
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                   "internal error: the process that opens files for this command has ended");
}

/* ---- Files to read ---- */

/* Wait until a FIFO has a writer, as open(2) would. Linux reports POLLHUP only if there was a
 * writer since the FIFO was opened (fs/pipe.c, pipe_poll). */
static void confine_await_writer(int descriptor)
{
    struct pollfd file = {descriptor, POLLIN, 0};
    struct stat info;
    if (fstat(descriptor, &info) == 0 && S_ISFIFO(info.st_mode))
        while (poll(&file, 1, -1) < 0 && errno == EINTR)
            ;
}

/* Replaces open(2) for files to read. */
static int confine_open(const char *path, int flags)
{
    struct broker_exchange *exchange = broker_exchange_new(TV_BROKER_OPEN);
    int descriptor = -1, error = ENAMETOOLONG;
    exchange->request.flags = flags;
    if (broker_exchange_set_path(exchange, path))
        error = confine_ask_broker(&exchange->request, &exchange->reply, &descriptor)
                    ? exchange->reply.number
                    : EIO;
    tv_free(exchange);
    if (descriptor >= 0 && !(flags & O_NONBLOCK))
        confine_await_writer(descriptor);
    errno = error;
    return descriptor;
}

/* Replaces stat(2), with errno as it sets it. */
static int confine_stat(const char *path, struct stat *info)
{
    struct broker_exchange *exchange = broker_exchange_new(TV_BROKER_STAT);
    int error = ENAMETOOLONG;
    if (broker_exchange_set_path(exchange, path))
        error = confine_ask_broker(&exchange->request, &exchange->reply, NULL)
                    ? exchange->reply.number
                    : EIO;
    if (error == 0)
        *info = exchange->reply.info;
    tv_free(exchange);
    errno = error;
    return error == 0 ? 0 : -1;
}

/* Replaces opening a temporary file, which has no name. *descriptor belongs to
 * the caller. */
static enum tv_status confine_open_temporary(int *descriptor, struct tv_error *err)
{
    struct broker_exchange *exchange = broker_exchange_new(TV_BROKER_TEMPORARY);
    bool asked = confine_ask_broker(&exchange->request, &exchange->reply, descriptor);
    enum tv_status status = TV_OK;
    if (!asked)
        status = confine_fail_gone(err);
    else if (*descriptor < 0)
        status = (*err = exchange->reply.error).status;
    tv_free(exchange);
    return status;
}

/* ---- The cache ---- */

/* Find the index of the file among the FILE arguments. */
static bool confine_find_file(const char *path, uint32_t *number)
{
    const struct tv_words *files = &confined.options.settings->files;
    for (*number = 0; *number < files->count; ++*number)
        if (strcmp(files->items[*number], path) == 0)
            return true;
    return false;
}

/* The broker makes the key itself, so that a hostile command cannot choose a cache entry. */
bool tv_confined_make_key(struct tv_index_cache *cached)
{
    struct broker_exchange *exchange = broker_exchange_new(TV_BROKER_MAKE_KEY);
    bool known = true;
    for (size_t i = 0; i < cached->count && known; i++) {
        known = confine_find_file(cached->paths[i], &exchange->request.look.files[i]);
        exchange->request.look.offsets[i] = cached->offsets[i];
    }
    exchange->request.length = (uint32_t)cached->count;
    known = known && confine_ask_broker(&exchange->request, &exchange->reply, NULL) &&
            exchange->reply.done;
    if (known) {
        cached->key_length = exchange->reply.looked.key_length;
        cached->places_length = exchange->reply.looked.places_length;
        memcpy(cached->key, exchange->reply.looked.key, cached->key_length);
        memcpy(cached->places, exchange->reply.looked.places, cached->places_length);
    }
    tv_free(exchange);
    return known;
}

/* -1: the cache has no such entry, or there is no cache. */
int tv_confined_cache_open(struct tv_bytes key)
{
    struct broker_exchange *exchange = broker_exchange_new(TV_BROKER_CACHE_OPEN);
    int descriptor = -1;
    if (broker_exchange_set_key(exchange, key))
        (void)confine_ask_broker(&exchange->request, &exchange->reply, &descriptor);
    tv_free(exchange);
    return descriptor;
}

/* `folder` is the number that the broker gave the entry, not a descriptor of
 * this process. */
bool tv_confined_cache_begin(struct tv_bytes key, struct tv_cache_file *file)
{
    struct broker_exchange *exchange = broker_exchange_new(TV_BROKER_CACHE_BEGIN);
    *file = (struct tv_cache_file){.folder = -1, .fd = -1};
    if (broker_exchange_set_key(exchange, key))
        (void)confine_ask_broker(&exchange->request, &exchange->reply, &file->fd);
    file->folder = exchange->reply.number;
    file->room = exchange->reply.room;
    tv_free(exchange);
    return file->fd >= 0;
}

/* An entry that is not whole is removed. */
void tv_confined_cache_end(struct tv_cache_file *file, bool whole)
{
    struct broker_exchange *exchange = broker_exchange_new(TV_BROKER_CACHE_END);
    exchange->request.whole = close(file->fd) == 0 && whole;
    exchange->request.number = (uint32_t)file->folder;
    (void)confine_ask_broker(&exchange->request, &exchange->reply, NULL);
    tv_free(exchange);
}

/* ---- Outputs ---- */

/* The broker decides whether the path is an output of this command. */
enum tv_status tv_confined_file_open(struct tv_atomic_file *file, const char *path,
                                     struct tv_error *err)
{
    struct broker_exchange *exchange = broker_exchange_new(TV_BROKER_OUTPUT_OPEN);
    enum tv_status status = TV_OK;
    *file = (struct tv_atomic_file){.descriptor = -1};
    if (!broker_exchange_set_path(exchange, path))
        status = tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", path, strerror(ENAMETOOLONG));
    else if (!confine_ask_broker(&exchange->request, &exchange->reply, &file->descriptor))
        status = confine_fail_gone(err);
    else if (file->descriptor < 0)
        status = (*err = exchange->reply.error).status;
    tv_free(exchange);
    return status;
}

/* The broker renames the file, after it has made sure that everything is on the
 * disk. */
enum tv_status tv_confined_file_commit(struct tv_atomic_file *file, struct tv_error *err)
{
    assert(file->descriptor >= 0);
    struct broker_exchange *exchange = broker_exchange_new(TV_BROKER_OUTPUT_COMMIT);
    enum tv_status status = TV_OK;
    close(file->descriptor); /* the broker also has it, and sees errors */
    file->descriptor = -1;
    if (!confine_ask_broker(&exchange->request, &exchange->reply, NULL))
        status = confine_fail_gone(err);
    else if (!exchange->reply.done)
        status = (*err = exchange->reply.error).status;
    tv_free(exchange);
    return status;
}

/* May be called for a file that could not be opened. */
void tv_confined_file_discard(struct tv_atomic_file *file)
{
    struct broker_exchange *exchange = broker_exchange_new(TV_BROKER_OUTPUT_DISCARD);
    if (file->descriptor >= 0) {
        close(file->descriptor);
        (void)confine_ask_broker(&exchange->request, &exchange->reply, NULL);
    }
    file->descriptor = -1;
    tv_free(exchange);
}

int tv_confined_pager_start(void)
{
    struct broker_exchange *exchange = broker_exchange_new(TV_BROKER_PAGER_START);
    int descriptor;
    (void)confine_ask_broker(&exchange->request, &exchange->reply, &descriptor);
    tv_free(exchange);
    return descriptor;
}

void tv_confined_pager_finish(void)
{
    struct broker_exchange *exchange = broker_exchange_new(TV_BROKER_PAGER_FINISH);
    (void)confine_ask_broker(&exchange->request, &exchange->reply, NULL);
    tv_free(exchange);
}

/* The broker knows the address: the command cannot choose it. */
bool tv_confined_browser_open(void)
{
    struct broker_exchange *exchange = broker_exchange_new(TV_BROKER_BROWSER_OPEN);
    (void)confine_ask_broker(&exchange->request, &exchange->reply, NULL);
    bool done = exchange->reply.done;
    tv_free(exchange);
    return done;
}

/* Only FILE arguments can be sent; they are named by their numbers. */
int tv_confined_push_start(const char *const *files, size_t count)
{
    struct broker_exchange *exchange = broker_exchange_new(TV_BROKER_PUSH);
    int descriptor = -1;
    bool known = count <= TV_INDEX_CACHE_FILES;
    for (size_t i = 0; i < count && known; i++)
        known = confine_find_file(files[i], &exchange->request.look.files[i]);
    exchange->request.length = (uint32_t)count;
    if (known)
        (void)confine_ask_broker(&exchange->request, &exchange->reply, &descriptor);
    tv_free(exchange);
    return descriptor;
}

void tv_confined_remember(const char *path)
{
    struct broker_exchange *exchange = broker_exchange_new(TV_BROKER_REMEMBER);
    if (broker_exchange_set_path(exchange, path))
        (void)confine_ask_broker(&exchange->request, &exchange->reply, NULL);
    tv_free(exchange);
}

/* ---- Entering and leaving ---- */

/* errno is that of the call that failed. */
static void confine_warn(const struct tv_confine_options *options)
{
    if (!options->settings->quiet)
        tv_message("traceview: warning: no sandbox, because a second process to open files could "
                   "not be started (%s)",
                   strerror(errno));
}

/* Without a broker, the command goes on without a sandbox. */
static void confine_start_broker(const struct tv_confine_options *options)
{
    assert(!tv_is_confined());
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        confine_warn(options);
        return;
    }
    pid_t broker = fork();
    if (broker == 0) {
        close(ends[0]);
        tv_broker_main(ends[1], options);
    }
    if (broker < 0)
        confine_warn(options);
    close(ends[1]);
    if (broker < 0) {
        close(ends[0]);
        return;
    }
    confined.broker = broker;
    confined.socket = ends[0];
    confined.options = *options;
}

/* No way leads out again.  A kernel without the means confines less, which is
 * no error (sandbox.h). */
static void confine_lock_in(void)
{
    assert(tv_is_confined());
    static const struct tv_file_access access = {confine_open, confine_stat,
                                                 confine_open_temporary};
    /* Libraries open some files by name at their first use: trigger that now. */
    tzset();
    tv_unpack_prepare();
    if (tv_symbols_word(confined.options.settings, 0))
        tv_demangler_prepare();
    tv_file_set_access(&access);
    unsigned uses = confined.options.address ? TV_SANDBOX_SERVES : 0;
    if (confined.options.forks)
        uses |= TV_SANDBOX_FORKS;
    (void)tv_sandbox_confine(uses);
}

/* The order matters. The broker is forked first, so that its memory is not in the swap file.
 * The thread is started last, because Landlock would not restrict an existing thread. */
enum tv_status tv_confine(const struct tv_confine_options *options, struct tv_error *err)
{
    uint64_t memory = options->settings->input.max_memory;
    bool swaps = memory != TV_ANY_MEMORY;
    if (!options->opens_files)
        confine_start_broker(options);
    enum tv_status status = swaps ? tv_swap_begin(memory, err) : TV_OK;
    if (status == TV_OK && tv_is_confined())
        confine_lock_in();
    return status == TV_OK && swaps ? tv_swap_start_thread(err) : status;
}

void tv_confine_end(void)
{
    if (!tv_is_confined())
        return;
    close(confined.socket);
    (void)tv_program_wait(confined.broker, NULL);
    tv_file_set_access(NULL);
    confined.broker = 0;
}
