/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.c - copies the ring of a recording that continues (recorder/recording.h).
 *
 * We open the output file and send its descriptor over a socket, so the recorder can write only
 * there. Anybody can create a socket with that name, so we check that the other side is the process
 * itself. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/output/atomic_file.h"
#include "cli/output/message.h"
#include "cli/record/native_names.h"
#include "cli/record/record.h"
#include "recorder/recording.h"

#define SNAPSHOT_WAIT_MS 60000 /* enough to copy 1 GB to a slow disk */

/* Return the process id in its own name space, the last number of NSpid; 0 when there is no such
 * process. */
static int snapshot_inner_pid(int pid)
{
    char path[64], line[256];
    int inner = 0;
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *status = fopen(path, "re");
    while (status && fgets(line, sizeof line, status)) {
        line[strcspn(line, "\n")] = '\0';
        const char *last = strrchr(line, '\t');
        if (strncmp(line, "NSpid:", 6) == 0 && last)
            inner = (int)strtol(last + 1, NULL, 10);
    }
    if (status)
        fclose(status);
    return inner;
}

/* Check that the process exists and is ours, so that the error explains more than a failed
 * connection. */
static enum tv_status snapshot_check_process(int pid, int *inner, struct tv_error *err)
{
    char path[64];
    struct stat found;
    snprintf(path, sizeof path, "/proc/%d", pid);
    *inner = snapshot_inner_pid(pid);
    if (*inner <= 0 || stat(path, &found) != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "there is no process %d", pid);
    if (geteuid() == 0 || found.st_uid == geteuid())
        return TV_OK;
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                   "process %d belongs to another user: only that user or root can take a snapshot",
                   pid);
}

/* Fail because nobody listens: no recording, or one without a ring. */
static enum tv_status snapshot_fail_unrecorded(int pid, struct tv_error *err)
{
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                   "process %d is not being recorded with a ring (traceview record --full ring)",
                   pid);
}

/* Is the process at the other end the one that is meant?  The kernel tells, so
 * it cannot lie. */
static bool snapshot_is_peer(int connection, int pid)
{
    struct ucred who;
    socklen_t size = sizeof who;
    return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.pid == pid;
}

/* Connect to the recorder.  The name of its socket has the number that the
 * process has for itself, in a container another one than for us. */
static enum tv_status snapshot_connect(int pid, int *connection, struct tv_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int inner;
    enum tv_status status = snapshot_check_process(pid, &inner, err);
    if (status != TV_OK)
        return status;
    int length =
        snprintf(address.sun_path + 1, sizeof address.sun_path - 1, TV_SNAPSHOT_NAME, inner);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    *connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*connection >= 0 && connect(*connection, (const void *)&address, size) == 0 &&
        snapshot_is_peer(*connection, pid))
        return TV_OK;
    if (*connection >= 0)
        close(*connection);
    return snapshot_fail_unrecorded(pid, err);
}

/* Send the request and the descriptor of the output file. */
static bool snapshot_send_request(int connection, int file)
{
    char byte = TV_SNAPSHOT_REQUEST;
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {{0}};
    struct iovec piece = {&byte, 1};
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof control.room};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(head), &file, sizeof file);
    return sendmsg(connection, &message, MSG_NOSIGNAL) == 1;
}

/* Read one line without its end; control characters become '?'. False when none came. */
static bool snapshot_read_answer(int connection, char line[TV_SNAPSHOT_ANSWER])
{
    struct pollfd file = {connection, POLLIN, 0};
    size_t used = 0;
    line[0] = '\0';
    while (used + 1 < TV_SNAPSHOT_ANSWER && !strchr(line, '\n')) {
        if (poll(&file, 1, SNAPSHOT_WAIT_MS) <= 0)
            return false;
        ssize_t got = read(connection, line + used, TV_SNAPSHOT_ANSWER - 1 - used);
        if (got <= 0)
            return false;
        used += (size_t)got;
        line[used] = '\0';
    }
    line[strcspn(line, "\n")] = '\0';
    for (char *at = line; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    return true;
}

/* Ask the process for its ring; *records is the number of records written. */
static enum tv_status snapshot_request(int pid, int file, uint64_t *records, struct tv_error *err)
{
    char line[TV_SNAPSHOT_ANSWER];
    int connection;
    enum tv_status status = snapshot_connect(pid, &connection, err);
    if (status != TV_OK)
        return status;
    bool answered =
        snapshot_send_request(connection, file) && snapshot_read_answer(connection, line);
    close(connection);
    if (!answered)
        return tv_fail(
            err, TV_ERR_IO, TV_NO_OFFSET,
            "process %d does not answer: it or its recording has ended, or it is stopped", pid);
    if (line[0] != '+')
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "process %d has written no snapshot: %s", pid,
                       line[0] == '-' ? line + 1 : line);
    *records = strtoull(line + 1, NULL, 10);
    return TV_OK;
}

enum tv_status tv_record_snapshot(const struct tv_record_plan *plan, struct tv_error *err)
{
    struct tv_atomic_file file;
    const int pid = (int)plan->settings->record.snapshot;
    uint64_t records = 0;
    enum tv_status status = tv_atomic_file_open_to_replace(&file, plan->output, err);
    if (status != TV_OK)
        return status;
    status = snapshot_request(pid, file.descriptor, &records, err);
    if (status == TV_OK && records == 0)
        status =
            tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                    "process %d has recorded no call yet; %s was not written", pid, plan->output);
    if (status != TV_OK) {
        tv_atomic_file_discard(&file);
        return status;
    }
    status = tv_atomic_file_commit(&file, err);
    if (status == TV_OK)
        /* Names of native functions are looked up after the recording, here as
         * well. */
        status = tv_native_names_resolve(plan->output, err);
    if (status == TV_OK && !plan->settings->quiet)
        tv_message("traceview: %s: %" PRIu64 " records of process %d, whose recording continues",
                   plan->output, records, pid);
    return status;
}
