/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.c - snapshots of a ring (recording.h).
 *
 *     requester            listening thread             threads of the program
 *       connect, 'S' + fd ---> check uid and file
 *                              `on` = TV_ON_PAUSED        next event waits (events.c)
 *                              wait for busy threads
 *                              copy the buffer
 *                              `on` = generation          go on
 *                              write the copy into fd
 *       "+RECORDS\n" <-------- answer
 *
 * The copy needs as much memory as the buffer in use, for a moment.  The pause is as long as the
 * copy.
 */
#define _GNU_SOURCE
#include "recorder/recording.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "recorder/memory.h"
#include "recorder/state.h"

#define POLL_MS 250      /* a program may close the socket, which wakes nobody */
#define REQUEST_POLLS 20 /* a request may take so many polls */

/* ---- The copy ---- */

/* Write a snapshot into the requester's file, which has no name here: device and inode stand for
 * it. Releases the writer; 0 or -errno. */
static int snapshot_write_copy(struct tv_trace_writer *writer, int file, uint64_t *records)
{
    struct stat found;
    if (fstat(file, &found) != 0)
        return -errno;
    struct tv_output_file output = {
        .descriptor = file, .device = found.st_dev, .inode = found.st_ino, .path = ""};
    writer->out = tv_output_buffer_new(&output);
    int failed = writer->out ? tv_trace_writer_write(writer) : -ENOMEM;
    if (failed == 0)
        failed = tv_output_buffer_flush(writer->out);
    tv_output_buffer_free(writer->out);
    tv_trace_writer_release(writer);
    *records = writer->written;
    return failed;
}

/* Write the copy.  The lock is held throughout, as naming addresses adds to the method table. */
static int snapshot_write(struct tv_trace_buffer *copy, uint64_t ended, int file, uint64_t *records)
{
    assert(copy->head);
    struct tv_trace_writer *writer = tv_mmap_alloc(sizeof *writer);
    if (!writer)
        return -ENOMEM;
    struct tv_clock_pair last = tv_clock_read_pair(copy->head->counter);
    *writer = tv_recorder.writer;
    writer->buffer = copy;
    writer->used = NULL;
    writer->used_size = 0;
    writer->written = writer->unnamed = writer->shift_ns = 0;
    writer->scale = tv_clock_scale_between(copy->head->counter, copy->head->start, last);
    writer->end_ns = tv_clock_to_ns(&writer->scale, ended);
    int failed = snapshot_write_copy(writer, file, records);
    tv_mmap_free(writer, sizeof *writer);
    return failed;
}

/* The lock is held. */
static bool snapshot_has_ring(void)
{
    return tv_recorder.started && tv_recorder.buffer.head &&
           tv_recorder.buffer.head->full == TV_RECORDING_RING;
}

/* Pause the events; return the number of the recording, 0: there is none with a ring.  Events
 * that have ended already need no pause. */
static uint32_t snapshot_pause_events(void)
{
    sigset_t before;
    tv_recorder_lock(&before);
    uint32_t number = snapshot_has_ring() ? tv_recorder.generation : 0, on = number;
    bool paused = number != 0 && atomic_compare_exchange_strong(&tv_recorder.on, &on, TV_ON_PAUSED);
    tv_recorder_unlock(&before);
    if (paused)
        tv_recorder_wait_for_events();
    return number;
}

int tv_recorder_snapshot(int file, uint64_t *records)
{
    sigset_t before;
    struct tv_trace_buffer copy = {0};
    int failed = -ENOENT;
    *records = 0;
    uint32_t number = snapshot_pause_events(), paused = TV_ON_PAUSED;
    if (number == 0)
        return -ENOENT;
    tv_recorder_lock(&before);
    if (snapshot_has_ring() && tv_recorder.generation == number) {
        tv_recorder_read_thread_names();
        failed = tv_trace_buffer_copy(&copy, &tv_recorder.buffer);
    }
    uint64_t ended = atomic_load(&tv_recorder.ended_ticks);
    if (ended == 0 && failed == 0)
        ended = tv_clock_read(copy.head->counter);
    /* A stop may have cleared `on` meanwhile. */
    atomic_compare_exchange_strong(&tv_recorder.on, &paused, number);
    if (failed == 0)
        failed = snapshot_write(&copy, ended, file, records);
    tv_recorder_unlock(&before);
    tv_trace_buffer_release(&copy);
    return failed;
}

/* ---- Requests ---- */

static struct {
    pthread_t thread;
    bool runs;
    _Atomic bool quit;
    int socket;         /* the program may have given its number to another file */
    struct statx found; /* when it was opened */
} requests = {.socket = -1};

/* statx, as the thread sanitizer takes fstat for a race with a program that closes all
 * descriptors. */
static bool snapshot_stat(int file, struct statx *found)
{
    return statx(file, "", AT_EMPTY_PATH, STATX_INO, found) == 0;
}

/* True while `requests.socket` is still the socket that the recorder opened. The program may close
 * descriptors it does not know (a daemon does) and get the same number for another file: then the
 * recorder must neither read nor close it. */
static bool snapshot_socket_is_ours(void)
{
    struct statx now;
    return requests.socket >= 0 && snapshot_stat(requests.socket, &now) &&
           now.stx_ino == requests.found.stx_ino &&
           now.stx_dev_major == requests.found.stx_dev_major &&
           now.stx_dev_minor == requests.found.stx_dev_minor;
}

static bool snapshot_peer_may_ask(int connection)
{
    struct ucred who;
    socklen_t size = sizeof who;
    return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 &&
           (who.uid == 0 || who.uid == geteuid());
}

static bool snapshot_wait_for_request(int connection)
{
    struct pollfd file = {connection, POLLIN, 0};
    for (int i = 0; i < REQUEST_POLLS && !atomic_load(&requests.quit); i++)
        if (poll(&file, 1, POLL_MS) > 0)
            return true;
    return false;
}

/* Return the descriptor that was sent; of several, none is accepted. */
static int snapshot_take_descriptor(struct msghdr *message)
{
    int files[2] = {-1, -1};
    struct cmsghdr *head = CMSG_FIRSTHDR(message);
    if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS ||
        head->cmsg_len < CMSG_LEN(sizeof files[0]) || head->cmsg_len > CMSG_LEN(sizeof files))
        return -1;
    memcpy(files, CMSG_DATA(head), head->cmsg_len - CMSG_LEN(0));
    if (files[1] < 0)
        return files[0];
    close(files[0]);
    close(files[1]);
    return -1;
}

/* Receive a request and return its descriptor; -1: it is malformed. */
static int snapshot_receive_request(int connection)
{
    char byte = 0;
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec piece = {&byte, 1};
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof control.room};
    if (recvmsg(connection, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) != 1)
        return -1;
    int file = snapshot_take_descriptor(&message);
    if (byte == TV_SNAPSHOT_REQUEST && file >= 0)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

/* True for an empty regular file open for writing: the only kind of descriptor that a requester may
 * hand over, so a request never overwrites or reads anything. */
static bool snapshot_is_empty_file(int file)
{
    struct stat found;
    int flags = fcntl(file, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fstat(file, &found) == 0 &&
           S_ISREG(found.st_mode) && found.st_size == 0;
}

static void snapshot_answer(int connection, int file)
{
    char line[TV_SNAPSHOT_ANSWER];
    uint64_t records = 0;
    int failed = snapshot_is_empty_file(file) ? tv_recorder_snapshot(file, &records) : -EINVAL;
    if (failed == 0)
        snprintf(line, sizeof line, "+%llu\n", (unsigned long long)records);
    else
        snprintf(line, sizeof line, "-%s\n", tv_recording_error(failed));
    ssize_t sent = send(connection, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)sent; /* the requester is gone */
}

static void snapshot_serve(int connection)
{
    int file = snapshot_peer_may_ask(connection) && snapshot_wait_for_request(connection)
                   ? snapshot_receive_request(connection)
                   : -1;
    if (file < 0)
        return;
    snapshot_answer(connection, file);
    close(file);
}

/* Serve requests for snapshots (a thread).  The socket may become another file of the program,
 * which closes descriptors that it does not know; then this ends. */
static void *snapshot_run(void *unused)
{
    (void)unused;
    tv_recorder_inside = 1;
    prctl(PR_SET_NAME, "traceview");
    while (!atomic_load(&requests.quit) && snapshot_socket_is_ours()) {
        struct pollfd file = {requests.socket, POLLIN, 0};
        if (poll(&file, 1, POLL_MS) <= 0 || !snapshot_socket_is_ours())
            continue;
        int connection = accept4(requests.socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (connection < 0)
            continue;
        snapshot_serve(connection);
        close(connection);
    }
    return NULL;
}

/* -1: impossible. */
static int snapshot_open_socket(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, TV_SNAPSHOT_NAME,
                          (int)getpid());
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (file < 0)
        return -1;
    if (bind(file, (const void *)&address, size) != 0 || listen(file, 4) != 0 ||
        !snapshot_stat(file, &requests.found)) {
        close(file);
        return -1;
    }
    return tv_output_file_move_high(file);
}

void tv_snapshot_listen(void)
{
    sigset_t all, before;
    if (requests.runs || (requests.socket = snapshot_open_socket()) < 0)
        return;
    atomic_store(&requests.quit, false);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    requests.runs = tv_recorder_start_thread(&requests.thread, snapshot_run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (requests.runs)
        atomic_fetch_add(&tv_recorder.own_threads, 1);
    else
        tv_snapshot_reset_after_fork();
}

void tv_snapshot_stop_listening(void)
{
    if (!requests.runs)
        return;
    atomic_store(&requests.quit, true);
    if (snapshot_socket_is_ours())
        shutdown(requests.socket, SHUT_RDWR); /* wakes the thread */
    pthread_join(requests.thread, NULL);
    atomic_fetch_sub(&tv_recorder.own_threads, 1);
    tv_snapshot_reset_after_fork();
}

void tv_snapshot_reset_after_fork(void)
{
    if (snapshot_socket_is_ours())
        close(requests.socket);
    requests.socket = -1;
    requests.runs = false;
}
