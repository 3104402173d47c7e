/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broker.c - opens files for a sandboxed command (broker.h).
 *
 * Every request comes from a process that a hostile trace may control.  So a request names things
 * only by path, key or number; the broker looks each of them up in what the user's command line
 * allows, or in what it has made itself, and refuses everything else with EACCES.  The size of a
 * packet is fixed, texts must end within it, and no request can make the broker block: it opens
 * files with O_NONBLOCK.
 */
#define _GNU_SOURCE /* MSG_CMSG_CLOEXEC */
#include "cli/broker.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/confine.h"
#include "cli/input/index_cache.h"
#include "cli/input/recent_files.h"
#include "cli/input/symbol_folders.h"
#include "cli/input/symbols.h"
#include "cli/options.h"
#include "cli/output/atomic_file.h"
#include "cli/output/output.h"
#include "cli/output/push_process.h"
#include "fleet/fleet.h"
#include "symbols/debug_folders.h"
#include "viewer/viewer.h"

/* Limits: cache entries that are written at the same time, and keys to remember. */
#define BROKER_ENTRIES 4u
#define BROKER_KEYS 16u

struct broker_key {
    uint8_t bytes[TV_SECTIONS_KEY];
    size_t length;
};

struct broker {
    const struct tv_settings *settings;
    struct broker_key keys[BROKER_KEYS];
    size_t key_count; /* number of keys made so far; the last ones are remembered */
    struct tv_cache_file entries[BROKER_ENTRIES];
    bool entry_used[BROKER_ENTRIES];
    struct tv_atomic_file output;
    bool output_open;
    pid_t pager; /* 0: none */
    pid_t push;  /* 0: none, or it has been waited for */
    const char *address;
    struct tv_browser browser;
};

/* ---- Packets ---- */

bool tv_broker_send(int socket, const void *packet, size_t size, int descriptor)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {.room = {0}};
    struct iovec bytes = {(void *)(uintptr_t)packet, size};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof descriptor);
        memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    }
    ssize_t sent;
    do
        sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent >= 0 && (size_t)sent == size;
}

bool tv_broker_receive(int socket, void *packet, size_t size, int *descriptor)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec bytes = {packet, size};
    struct msghdr message = {.msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t got;
    do
        got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    *descriptor = -1;
    if (got <= 0)
        return false;
    const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len == CMSG_LEN(sizeof *descriptor))
        memcpy(descriptor, CMSG_DATA(header), sizeof *descriptor);
    return (size_t)got == size && !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC));
}

/* ---- Access checks: what does the command line name? ---- */

/* Return whether a path is the first `length` bytes of a stem and this ending. */
static bool broker_is_joined_name(const char *path, const char *stem, size_t length,
                                  const char *end)
{
    return strncmp(path, stem, length) == 0 && strcmp(path + length, end) == 0;
}

/* Return true for a path that tv_inputs_find_files would try for this FILE. */
static bool broker_is_of_file(const char *path, const char *file)
{
    size_t length = strlen(file);
    const char *dot = strrchr(file, '.');
    if (dot && (strcmp(dot, ".key") == 0 || strcmp(dot, ".data") == 0) &&
        (broker_is_joined_name(path, file, (size_t)(dot - file), ".key") ||
         broker_is_joined_name(path, file, (size_t)(dot - file), ".data")))
        return true;
    return strcmp(path, file) == 0 || broker_is_joined_name(path, file, length, ".trace") ||
           broker_is_joined_name(path, file, length, ".key") ||
           broker_is_joined_name(path, file, length, ".data");
}

/* Is the path an input of the command line (a FILE, the mapping, a symbol file or one in a folder
 * of them), or a program or debug file in the usual folders, which profiles name by build ID? */
static bool broker_allows_input(const struct tv_settings *settings, const char *path)
{
    char symbols[PATH_MAX];
    const char *const others[] = {settings->input.mapping, settings->compare.base_mapping,
                                  settings->compare.new_mapping, settings->compare.rules,
                                  settings->compare.rename};
    bool named = tv_debug_path_is_usual(path);
    for (size_t i = 0; i < TV_COUNT(others); i++)
        named = named || (others[i] && strcmp(path, others[i]) == 0);
    for (size_t i = 0; i < settings->files.count && !named; i++)
        named = broker_is_of_file(path, settings->files.items[i]);
    const char *word;
    for (size_t i = 0; !named && (word = tv_symbols_word(settings, i)); i++)
        named =
            tv_symbols_path(word, symbols, sizeof symbols) && tv_symbol_folder_has(symbols, path);
    return named;
}

/* Is the path OUTPUT/NAME.ENDING, a table of `export`? */
static bool broker_is_exported(const struct tv_settings *settings, const char *path)
{
    size_t length = strlen(settings->output);
    if (strncmp(path, settings->output, length) != 0 || path[length] != '/')
        return false;
    const char *name = path + length + 1;
    size_t stem = strspn(name, "abcdefghijklmnopqrstuvwxyz_");
    return stem > 0 && name[stem] == '.' && strcmp(name + stem + 1, settings->sql.ending) == 0;
}

/* Is the path TO/TABLE/BATCH.ENDING, a file of `fleet add`? */
static bool broker_is_of_fleet(const struct tv_settings *settings, const char *path)
{
    size_t length = strlen(settings->fleet.to);
    if (strncmp(path, settings->fleet.to, length) != 0 || path[length] != '/')
        return false;
    const char *name = strchr(path + length + 1, '/');
    for (int i = 0; i < TV_FLEET_TABLES && name; i++) {
        const char *table = tv_fleet_table_name((enum tv_fleet_table)i);
        size_t stem = strlen(table);
        if ((size_t)(name - path) == length + 1 + stem && memcmp(name - stem, table, stem) == 0 &&
            strspn(name + 1, "0123456789abcdef") == 16)
            return strcmp(name + 17, ".parquet") == 0 || strcmp(name + 17, ".ids") == 0;
    }
    return false;
}

/* Is the path the output, or a file of --split-threads, `export` or `fleet add`? */
static bool broker_allows_output(const struct tv_settings *settings, const char *path)
{
    if (settings->split_threads)
        return tv_per_thread_is_name(settings, path);
    if (settings->fleet.adds)
        return broker_is_of_fleet(settings, path);
    if (settings->sql.ending)
        return broker_is_exported(settings, path);
    for (size_t i = 0; i < settings->compare.reports.count; i++) {
        const char *report = strchr(settings->compare.reports.items[i], '=');
        if (report && strcmp(report + 1, path) == 0)
            return true;
    }
    return settings->output && strcmp(settings->output, path) == 0;
}

/* ---- Files ---- */

/* Open an input. Return the descriptor for the reply, which is closed after sending; or -1. Opening
 * a FIFO must not block the broker until somebody writes to it, so the command waits for that
 * (confine.c). */
static int broker_open_input(const struct broker *broker, const struct tv_broker_request *request,
                             struct tv_broker_reply *reply)
{
    int kept = request->flags & (O_NOCTTY | O_NONBLOCK);
    int descriptor = -1;
    errno = EACCES;
    if (broker_allows_input(broker->settings, request->path))
        descriptor = open(request->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | kept);
    reply->number = descriptor < 0 ? errno : 0;
    if (descriptor >= 0 && !(kept & O_NONBLOCK))
        (void)fcntl(descriptor, F_SETFL, 0);
    return descriptor;
}

static void broker_stat_input(const struct broker *broker, const struct tv_broker_request *request,
                              struct tv_broker_reply *reply)
{
    errno = EACCES;
    bool known = broker_allows_input(broker->settings, request->path) &&
                 stat(request->path, &reply->info) == 0;
    reply->number = known ? 0 : errno;
}

static int broker_open_temporary(struct tv_broker_reply *reply)
{
    int descriptor = -1;
    reply->error = (struct tv_error){0};
    return tv_file_open_temporary(&descriptor, &reply->error) == TV_OK ? descriptor : -1;
}

/* ---- The cache ---- */

/* Make the key of FILE arguments and remember it: only these entries can be opened or written
 * later. */
static void broker_make_key(struct broker *broker, const struct tv_broker_request *request,
                            struct tv_broker_reply *reply)
{
    static struct tv_index_cache cached;
    const struct tv_words *files = &broker->settings->files;
    cached = (struct tv_index_cache){.settings = broker->settings};
    for (size_t i = 0; i < request->length && i < TV_INDEX_CACHE_FILES; i++) {
        if (request->look.files[i] >= files->count)
            return;
        cached.paths[i] = files->items[request->look.files[i]];
        cached.offsets[i] = request->look.offsets[i];
        cached.count++;
    }
    reply->done = tv_index_cache_make_key(&cached);
    if (!reply->done)
        return;
    struct broker_key *key = &broker->keys[broker->key_count++ % BROKER_KEYS];
    memcpy(key->bytes, cached.key, cached.key_length);
    key->length = cached.key_length;
    memcpy(reply->looked.key, cached.key, cached.key_length);
    memcpy(reply->looked.places, cached.places, cached.places_length);
    reply->looked.key_length = (uint32_t)cached.key_length;
    reply->looked.places_length = (uint32_t)cached.places_length;
}

/* Return whether the broker made the key of a request.  It makes keys of files on the command line
 * only, so the sandboxed process can open no other index. */
static bool broker_knows_key(const struct broker *broker, const struct tv_broker_request *request)
{
    for (size_t i = 0; i < BROKER_KEYS; i++)
        if (broker->keys[i].length > 0 && broker->keys[i].length == request->length &&
            memcmp(broker->keys[i].bytes, request->key, request->length) == 0)
            return true;
    return false;
}

static int broker_open_entry(const struct broker *broker, const struct tv_broker_request *request)
{
    return broker_knows_key(broker, request)
               ? tv_cache_open((struct tv_bytes){request->key, request->length})
               : -1;
}

/* Begin a cache entry for a sandboxed command.  Only a key of a file that the command was given is
 * allowed.  Return the descriptor for it, or -1. */
static int broker_begin_entry(struct broker *broker, const struct tv_broker_request *request,
                              struct tv_broker_reply *reply)
{
    assert(!reply->has_file);
    uint32_t free = 0;
    while (free < BROKER_ENTRIES && broker->entry_used[free])
        free++;
    if (free == BROKER_ENTRIES || !broker_knows_key(broker, request) ||
        !tv_cache_begin((struct tv_bytes){request->key, request->length}, &broker->entries[free]))
        return -1;
    broker->entry_used[free] = true;
    reply->number = (int32_t)free;
    reply->room = broker->entries[free].room;
    return fcntl(broker->entries[free].fd, F_DUPFD_CLOEXEC, 0);
}

static void broker_end_entry(struct broker *broker, uint32_t number, bool whole)
{
    if (number >= BROKER_ENTRIES || !broker->entry_used[number])
        return;
    tv_cache_end(&broker->entries[number], whole);
    broker->entry_used[number] = false;
}

/* ---- The output ---- */

/* Open the output; there is one at a time. */
static int broker_open_output(struct broker *broker, const struct tv_broker_request *request,
                              struct tv_broker_reply *reply)
{
    const char *path = request->path;
    reply->error = (struct tv_error){0};
    if (broker->output_open || !broker_allows_output(broker->settings, path))
        tv_fail(&reply->error, TV_ERR_IO, TV_NO_OFFSET, "%s: not the output of this command", path);
    else if (tv_output_check(path, broker->settings, &reply->error) == TV_OK &&
             tv_atomic_file_open(&broker->output, path, &reply->error) == TV_OK)
        broker->output_open = true;
    return broker->output_open ? fcntl(broker->output.descriptor, F_DUPFD_CLOEXEC, 0) : -1;
}

static void broker_commit_output(struct broker *broker, struct tv_broker_reply *reply)
{
    reply->error = (struct tv_error){0};
    if (broker->output_open)
        reply->done = tv_atomic_file_commit(&broker->output, &reply->error) == TV_OK;
    broker->output_open = false;
}

static void broker_discard_output(struct broker *broker)
{
    if (broker->output_open)
        tv_atomic_file_discard(&broker->output);
    broker->output_open = false;
}

/* Return the pipe to a pager, -1: none. At most one per command, and only for a terminal. */
static int broker_start_pager(struct broker *broker)
{
    int descriptor = -1;
    if (broker->pager == 0 && isatty(STDOUT_FILENO) && !broker->settings->table.no_pager &&
        tv_pager_start(&descriptor, &broker->pager))
        return descriptor;
    return -1;
}

static void broker_finish_pager(struct broker *broker)
{
    if (broker->pager > 0)
        tv_pager_finish(-1, broker->pager);
    broker->pager = 0;
}

static void broker_open_browser(struct broker *broker, struct tv_broker_reply *reply)
{
    if (broker->address && broker->browser.directory[0] == '\0')
        reply->done = tv_browser_open(&broker->browser, broker->address);
}

/* ---- Recent files ---- */

static void broker_remember(const struct broker *broker, const struct tv_broker_request *request)
{
    const struct tv_words *files = &broker->settings->files;
    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->items[i], request->path) == 0) {
            tv_recent_files_remember(request->path);
            return;
        }
}

/* ---- Sending ---- */

/* Start to send FILEs to the user's server. The broker does not know the server and its token
 * either: the new process reads them. */
static int broker_start_push(struct broker *broker, const struct tv_broker_request *request)
{
    const struct tv_words *files = &broker->settings->files;
    const char *paths[TV_INDEX_CACHE_FILES];
    if (!broker->address || request->length == 0 || request->length > TV_INDEX_CACHE_FILES)
        return -1;
    for (size_t i = 0; i < request->length; i++) {
        if (request->look.files[i] >= files->count)
            return -1;
        paths[i] = files->items[request->look.files[i]];
    }
    return tv_push_process_start(paths, request->length, &broker->push);
}

/* ---- The loop ---- */

/* Handle one request. Return the descriptor for the reply, or -1. */
static int broker_answer(struct broker *broker, struct tv_broker_request *request,
                         struct tv_broker_reply *reply)
{
    switch (request->word) {
    case TV_BROKER_OPEN:
        return broker_open_input(broker, request, reply);
    case TV_BROKER_STAT:
        broker_stat_input(broker, request, reply);
        break;
    case TV_BROKER_TEMPORARY:
        return broker_open_temporary(reply);
    case TV_BROKER_MAKE_KEY:
        broker_make_key(broker, request, reply);
        break;
    case TV_BROKER_CACHE_OPEN:
        return broker_open_entry(broker, request);
    case TV_BROKER_CACHE_BEGIN:
        return broker_begin_entry(broker, request, reply);
    case TV_BROKER_CACHE_END:
        broker_end_entry(broker, request->number, request->whole);
        break;
    case TV_BROKER_OUTPUT_OPEN:
        return broker_open_output(broker, request, reply);
    case TV_BROKER_OUTPUT_COMMIT:
        broker_commit_output(broker, reply);
        break;
    case TV_BROKER_OUTPUT_DISCARD:
        broker_discard_output(broker);
        break;
    case TV_BROKER_PAGER_START:
        return broker_start_pager(broker);
    case TV_BROKER_PAGER_FINISH:
        broker_finish_pager(broker);
        break;
    case TV_BROKER_BROWSER_OPEN:
        broker_open_browser(broker, reply);
        break;
    case TV_BROKER_REMEMBER:
        broker_remember(broker, request);
        break;
    case TV_BROKER_PUSH:
        return broker_start_push(broker, request);
    default:
        break;
    }
    return -1;
}

/* Is the request well formed: does its path end within the packet, does its key fit? */
static bool broker_is_sound(struct tv_broker_request *request)
{
    bool has_key = request->word == TV_BROKER_CACHE_OPEN || request->word == TV_BROKER_CACHE_BEGIN;
    if (has_key)
        return request->length <= sizeof request->key;
    return request->word == TV_BROKER_MAKE_KEY || request->word == TV_BROKER_PUSH ||
           memchr(request->path, '\0', sizeof request->path) != NULL;
}

/* Block the signals that the terminal sends to both the viewer and its broker. The broker must
 * still remove the browser's file, and ends when the viewer ends. */
static void broker_block_signals(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
}

void tv_broker_main(int socket, const struct tv_confine_options *options)
{
    assert(options->settings);
    static struct broker broker;
    static struct tv_broker_request request;
    static struct tv_broker_reply reply;
    int unwanted;
    broker.settings = options->settings;
    broker.address = options->address;
    if (options->address)
        broker_block_signals();
    while (tv_broker_receive(socket, &request, sizeof request, &unwanted)) {
        if (unwanted >= 0)
            close(unwanted);
        memset(&reply, 0, sizeof reply);
        int descriptor = broker_is_sound(&request) ? broker_answer(&broker, &request, &reply) : -1;
        reply.has_file = descriptor >= 0;
        bool sent = tv_broker_send(socket, &reply, sizeof reply, descriptor);
        if (descriptor >= 0)
            close(descriptor);
        if (!sent)
            break;
    }
    broker_discard_output(&broker);
    for (uint32_t i = 0; i < BROKER_ENTRIES; i++)
        broker_end_entry(&broker, i, false);
    tv_browser_close(&broker.browser);
    _exit(0);
}
