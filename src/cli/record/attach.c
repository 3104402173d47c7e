/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.c - HotSpot's attach protocol, and what /proc says about a process (record.h).
 *
 * HotSpot opens its socket only when somebody asks for it:
 *
 *     traceview                                        JVM (in /proc/PID/root, its own /tmp)
 *     create /tmp/.attach_pidN, owned by its user
 *     SIGQUIT  ------------------------------------->  finds the file, opens /tmp/.java_pidN
 *     connect  ------------------------------------->  checks the user of the client
 *     "1\0" command "\0" three arguments  ---------->
 *              <-------------------------------------  code, newline, text
 *
 * N is the number of the process in its own name space.  Both sides check owners, because anybody
 * may create files in /tmp: the socket must belong to the JVM's user, and we act as that user
 * while we touch its files.  A JVM that does not handle SIGQUIT would be ended by it, so that is
 * checked first.
 */
#define _GNU_SOURCE
#include "base/clock.h"
#include "cli/record/record.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* HotSpot's own tools give up after about ten seconds; a busy machine may need longer. */
#define SOCKET_MS 30000
#define ANSWER_MS 120000
#define STEP_MS 20

/* ---- The process ---- */

/* Read the line "NAME:\t..." of /proc/PID/status; false when there is none. */
static bool jvm_read_status(pid_t pid, const char *name, char *value, size_t room)
{
    char path[64], line[512];
    size_t length = strlen(name);
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *in = fopen(path, "r");
    while (in && !found && fgets(line, sizeof line, in))
        found = strncmp(line, name, length) == 0 && line[length] == ':';
    if (in)
        fclose(in);
    if (found)
        snprintf(value, room, "%s", line + length + 1);
    return found;
}

/* Return the process id in its innermost name space: the last number in the line. */
static pid_t jvm_inner_pid(pid_t pid)
{
    char text[512], *at = text, *end;
    long last = pid;
    if (!jvm_read_status(pid, "NSpid", text, sizeof text))
        return pid;
    for (long number = strtol(at, &end, 10); end != at; number = strtol(at, &end, 10)) {
        last = number;
        at = end;
    }
    return last > 0 && last <= INT32_MAX ? (pid_t)last : pid;
}

/* Read the effective id, the second of real, effective, saved and file system id. */
static bool jvm_read_id(pid_t pid, const char *name, unsigned *id)
{
    char text[512], *end;
    if (!jvm_read_status(pid, name, text, sizeof text))
        return false;
    (void)strtoul(text, &end, 10);
    *id = (unsigned)strtoul(end, NULL, 10);
    return true;
}

/* Does the process handle SIGQUIT? Any other process would be ended by it. */
static bool jvm_handles_sigquit(pid_t pid)
{
    char text[512];
    return jvm_read_status(pid, "SigCgt", text, sizeof text) &&
           (strtoull(text, NULL, 16) >> (SIGQUIT - 1) & 1) != 0;
}

/* Return the path in a line of /proc/PID/maps, without the mark of a deleted file. */
static char *jvm_mapped_path(char *line)
{
    static const char gone[] = " (deleted)";
    size_t length = strcspn(line, "\n"), end = sizeof gone - 1;
    line[length] = '\0';
    if (length > end && strcmp(line + length - end, gone) == 0)
        line[length - end] = '\0';
    return strchr(line, '/');
}

/* Is a file of this name mapped? 1: yes, at `found` (TV_JVM_PATH bytes, or NULL); 0: no; -1: we may
 * not look. */
static int jvm_find_mapped(pid_t pid, const char *name, char *found)
{
    char file[64], line[TV_JVM_PATH + 128];
    int result = 0;
    snprintf(file, sizeof file, "/proc/%d/maps", (int)pid);
    FILE *in = fopen(file, "r");
    if (!in)
        return -1;
    while (result == 0 && fgets(line, sizeof line, in)) {
        const char *path = jvm_mapped_path(line);
        if (!path || strcmp(strrchr(path, '/') + 1, name) != 0)
            continue;
        result = 1;
        if (found)
            snprintf(found, TV_JVM_PATH, "%s", path);
    }
    if (ferror(in))
        result = -1;
    fclose(in);
    return result;
}

bool tv_process_is_jvm(pid_t pid)
{
    return jvm_find_mapped(pid, "libjvm.so", NULL) > 0 ||
           jvm_find_mapped(pid, "libj9jvm.so", NULL) > 0 ||
           jvm_find_mapped(pid, "libj9vm29.so", NULL) > 0;
}

/* Does the process have another root directory or mount name space than we? */
static bool jvm_has_other_root(pid_t pid)
{
    char path[64];
    struct stat its, ours;
    snprintf(path, sizeof path, "/proc/%d/root/tmp", (int)pid);
    if (stat(path, &its) != 0 || stat("/tmp", &ours) != 0)
        return true;
    bool other_tmp = its.st_dev != ours.st_dev || its.st_ino != ours.st_ino;
    snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)pid);
    return other_tmp || stat(path, &its) != 0 || stat("/proc/self/ns/mnt", &ours) != 0 ||
           its.st_ino != ours.st_ino;
}

bool tv_jvm_find_library(const struct tv_jvm *jvm, const char *name, char path[TV_JVM_PATH])
{
    char link[64], root[TV_JVM_PATH];
    if (jvm_find_mapped(jvm->pid, name, path) != 1)
        return false;
    /* For a process with another root, the kernel shows paths from our root. */
    snprintf(link, sizeof link, "/proc/%d/root", (int)jvm->pid);
    ssize_t length = readlink(link, root, sizeof root - 1);
    if (length > 1 && strncmp(path, root, (size_t)length) == 0 && path[length] == '/')
        memmove(path, path + length, strlen(path + length) + 1);
    return true;
}

/* Check that the process is a HotSpot JVM that we may attach to. */
static enum tv_status jvm_look_up(pid_t pid, struct tv_jvm *jvm, struct tv_error *err)
{
    unsigned uid, gid;
    if (!jvm_read_id(pid, "Uid", &uid) || !jvm_read_id(pid, "Gid", &gid))
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "there is no process %d", (int)pid);
    if (geteuid() != 0 && geteuid() != uid)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "process %d belongs to another user: only that user or root can attach",
                       (int)pid);
    if (jvm_find_mapped(pid, "libj9jvm.so", NULL) > 0 ||
        jvm_find_mapped(pid, "libj9vm29.so", NULL) > 0)
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                       "process %d is an OpenJ9 JVM, which has its own attach protocol: start it "
                       "with -agentpath, or use its jcmd",
                       (int)pid);
    int mapped = jvm_find_mapped(pid, "libjvm.so", NULL);
    if (mapped < 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "process %d cannot be inspected: %s", (int)pid,
                       strerror(errno));
    if (mapped == 0)
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                       "process %d is not a JVM: it has not loaded libjvm.so", (int)pid);
    *jvm = (struct tv_jvm){
        .pid = pid, .inner_pid = jvm_inner_pid(pid), .file = -1, .uid = uid, .gid = gid};
    jvm->other_files = jvm_has_other_root(pid) || geteuid() != uid;
    return TV_OK;
}

enum tv_status tv_jvm_open(pid_t pid, int signals, struct tv_jvm *jvm, struct tv_error *err)
{
    /* Open the pidfd first, so that no other process can get the number meanwhile. */
    int file = (int)syscall(SYS_pidfd_open, pid, 0);
    enum tv_status status = jvm_look_up(pid, jvm, err);
    jvm->file = file;
    jvm->signals = signals;
    if (status != TV_OK)
        tv_jvm_close(jvm);
    return status;
}

void tv_jvm_close(struct tv_jvm *jvm)
{
    if (jvm->file >= 0)
        close(jvm->file);
    jvm->file = -1;
}

bool tv_jvm_has_ended(const struct tv_jvm *jvm)
{
    struct pollfd file = {jvm->file, POLLIN, 0};
    if (jvm->file < 0)
        return kill(jvm->pid, 0) != 0 && errno == ESRCH;
    return poll(&file, 1, 0) > 0;
}

void tv_jvm_enter_user(const struct tv_jvm *jvm)
{
    assert(jvm->pid > 0);
    if (geteuid() != 0 || (jvm->uid == 0 && jvm->gid == getegid()))
        return;
    if (setegid(jvm->gid) != 0 || seteuid(jvm->uid) != 0)
        abort(); /* cannot fail for root */
}

void tv_jvm_leave_user(const struct tv_jvm *jvm)
{
    (void)jvm;
    if (seteuid(getuid()) != 0 || setegid(getgid()) != 0)
        abort();
}

/* ---- its socket ---- */

/* Fail because the JVM is gone. */
static enum tv_status jvm_fail_ended(const struct tv_jvm *jvm, struct tv_error *err)
{
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "process %d has ended", (int)jvm->pid);
}

/* Write the path of the attach file or of the socket, as seen from our root. */
static void jvm_name_attach_file(const struct tv_jvm *jvm, const char *kind, char *path,
                                 size_t room)
{
    snprintf(path, room, "/proc/%d/root/tmp/.%s_pid%d", (int)jvm->pid, kind, (int)jvm->inner_pid);
}

/* Look for the socket. 1: it is there; 0: not yet; -1: another user created it. */
static int jvm_look_for_socket(const struct tv_jvm *jvm, const char *path)
{
    struct stat found;
    if (lstat(path, &found) != 0)
        return 0;
    return S_ISSOCK(found.st_mode) && found.st_uid == jvm->uid ? 1 : -1;
}

/* Create the attach file as the JVM's user, because the JVM checks its owner. */
static enum tv_status jvm_make_attach_file(const struct tv_jvm *jvm, const char *path,
                                           struct tv_error *err)
{
    tv_jvm_enter_user(jvm);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int error = errno;
    tv_jvm_leave_user(jvm);
    if (file < 0 && error != EEXIST)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", path, strerror(error));
    if (file >= 0)
        close(file);
    return TV_OK;
}

/* Send SIGQUIT through the pidfd, if the kernel has one. */
static void jvm_send_sigquit(const struct tv_jvm *jvm)
{
    if (jvm->file >= 0)
        (void)syscall(SYS_pidfd_send_signal, jvm->file, SIGQUIT, NULL, 0);
    else
        kill(jvm->pid, SIGQUIT);
}

/* Wait. TV_ERR_CANCELLED when we must stop, TV_ERR_IO when the JVM has ended. */
static enum tv_status jvm_pause(const struct tv_jvm *jvm, int ms, struct tv_error *err)
{
    struct pollfd files[] = {{jvm->signals, POLLIN, 0}, {jvm->file, POLLIN, 0}};
    (void)poll(files, 2, ms);
    if (files[0].revents & POLLIN)
        return tv_fail(err, TV_ERR_CANCELLED, TV_NO_OFFSET, "ended before process %d answered",
                       (int)jvm->pid);
    return files[1].revents & POLLIN ? jvm_fail_ended(jvm, err) : TV_OK;
}

/* Wait until the socket is there, whoever created it; jvm_connect checks that. */
static enum tv_status jvm_wait_for_socket(const struct tv_jvm *jvm, const char *path,
                                          struct tv_error *err)
{
    for (int waited = 0; waited < SOCKET_MS; waited += STEP_MS) {
        if (jvm_look_for_socket(jvm, path) != 0)
            return TV_OK;
        enum tv_status status = jvm_pause(jvm, STEP_MS, err);
        if (status != TV_OK)
            return status;
    }
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                   "process %d does not answer: it is stopped, or was started with "
                   "-XX:+DisableAttachMechanism",
                   (int)jvm->pid);
}

/* Make the JVM open its socket: create the attach file and send SIGQUIT. */
static enum tv_status jvm_wake(const struct tv_jvm *jvm, const char *socket_path,
                               struct tv_error *err)
{
    char path[64];
    if (!jvm_handles_sigquit(jvm->pid))
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                       "cannot attach to process %d: it does not handle SIGQUIT (it has just "
                       "started, or runs with -Xrs)",
                       (int)jvm->pid);
    jvm_name_attach_file(jvm, "attach", path, sizeof path);
    enum tv_status status = jvm_make_attach_file(jvm, path, err);
    if (status != TV_OK)
        return status;
    jvm_send_sigquit(jvm);
    status = jvm_wait_for_socket(jvm, socket_path, err);
    tv_jvm_enter_user(jvm);
    unlink(path);
    tv_jvm_leave_user(jvm);
    return status;
}

/* Connect to the socket as the JVM's user, after checking its owner. */
static enum tv_status jvm_connect(const struct tv_jvm *jvm, int *connection, struct tv_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    jvm_name_attach_file(jvm, "java", address.sun_path, sizeof address.sun_path);
    enum tv_status status = TV_OK;
    if (jvm_look_for_socket(jvm, address.sun_path) == 0)
        status = jvm_wake(jvm, address.sun_path, err);
    if (status != TV_OK)
        return status;
    if (jvm_look_for_socket(jvm, address.sun_path) < 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "%s does not belong to process %d: another user created it",
                       address.sun_path, (int)jvm->pid);
    *connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    tv_jvm_enter_user(jvm);
    int failed = *connection < 0 ||
                 connect(*connection, (const struct sockaddr *)&address, sizeof address) != 0;
    int error = errno;
    tv_jvm_leave_user(jvm);
    if (!failed)
        return TV_OK;
    if (*connection >= 0)
        close(*connection);
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", address.sun_path, strerror(error));
}

/* ---- A command ---- */

struct attach_command {
    char bytes[16 + 3 * TV_ATTACH_ARGUMENT];
    size_t length;
    const struct tv_jvm *jvm;
    int connection;
    int64_t until; /* deadline for the whole answer */
};

/* Append a word with its NUL; return false when it is longer than `most`. */
static bool attach_add_word(struct attach_command *command, const char *word, size_t most)
{
    assert(command->length + most <= sizeof command->bytes);
    size_t size = strlen(word) + 1;
    if (size > most)
        return false;
    memcpy(command->bytes + command->length, word, size);
    command->length += size;
    return true;
}

/* Make a command in version 1 of the protocol, which every HotSpot accepts. */
static bool attach_make_command(struct attach_command *command, const char *const words[4])
{
    command->length = 0;
    bool fits = attach_add_word(command, "1", 2) && attach_add_word(command, words[0], 14);
    for (size_t i = 1; i < 4 && fits; i++)
        fits = attach_add_word(command, words[i] ? words[i] : "", TV_ATTACH_ARGUMENT);
    return fits;
}

/* Wait until the connection is ready for the events. */
static enum tv_status attach_wait(const struct attach_command *command, short events,
                                  struct tv_error *err)
{
    struct pollfd files[] = {{command->connection, events, 0}, {command->jvm->signals, POLLIN, 0}};
    int pid = (int)command->jvm->pid;
    for (int64_t left = command->until - tv_monotonic_ms(); left > 0;
         left = command->until - tv_monotonic_ms()) {
        (void)poll(files, 2, (int)left);
        if (files[1].revents & POLLIN)
            return tv_fail(err, TV_ERR_CANCELLED, TV_NO_OFFSET, "ended before process %d answered",
                           pid);
        if (files[0].revents)
            return TV_OK;
    }
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "process %d does not answer", pid);
}

/* Return true for an error that waiting does not mend. */
static bool attach_has_failed(ssize_t result)
{
    return result < 0 && errno != EINTR && errno != EAGAIN;
}

/* Send the whole command. */
static enum tv_status attach_send(const struct attach_command *command, struct tv_error *err)
{
    size_t sent = 0;
    while (sent < command->length) {
        enum tv_status status = attach_wait(command, POLLOUT, err);
        if (status != TV_OK)
            return status;
        ssize_t put =
            send(command->connection, command->bytes + sent, command->length - sent, MSG_NOSIGNAL);
        if (attach_has_failed(put))
            return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "process %d accepts no command: %s",
                           (int)command->jvm->pid, strerror(errno));
        sent += put > 0 ? (size_t)put : 0;
    }
    return TV_OK;
}

/* Read the whole answer; what does not fit is dropped. */
static enum tv_status attach_read_answer(const struct attach_command *command, char *answer,
                                         size_t room, struct tv_error *err)
{
    char piece[512];
    size_t used = 0;
    ssize_t got;
    do {
        enum tv_status status = attach_wait(command, POLLIN, err);
        if (status != TV_OK)
            return status;
        got = recv(command->connection, piece, sizeof piece, 0);
        if (attach_has_failed(got))
            return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "process %d: %s", (int)command->jvm->pid,
                           strerror(errno));
        size_t fits = got > 0 ? (size_t)got : 0;
        fits = fits < room - 1 - used ? fits : room - 1 - used;
        memcpy(answer + used, piece, fits);
        used += fits;
    } while (got != 0);
    answer[used] = '\0';
    return TV_OK;
}

/* Remove the line with the code, and replace characters that a terminal may execute. */
static bool attach_clean_answer(char *answer, int *code)
{
    char *end;
    long number = strtol(answer, &end, 10);
    if (end == answer || (*end != '\n' && *end != '\0') || number < INT32_MIN || number > INT32_MAX)
        return false;
    *code = (int)number;
    end += *end == '\n';
    memmove(answer, end, strlen(end) + 1);
    for (char *at = answer; *at; at++)
        if ((unsigned char)*at < ' ' || (unsigned char)*at >= 0x7f)
            *at = ' ';
    for (size_t length = strlen(answer); length > 0 && answer[length - 1] == ' '; length--)
        answer[length - 1] = '\0';
    return true;
}

enum tv_status tv_jvm_command(const struct tv_jvm *jvm, const char *const words[4], int *code,
                              char *answer, size_t room, struct tv_error *err)
{
    struct attach_command command;
    if (!attach_make_command(&command, words))
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET,
                       "paths and options for a running JVM are limited to %u bytes",
                       TV_ATTACH_ARGUMENT - 1);
    command.jvm = jvm;
    enum tv_status status = jvm_connect(jvm, &command.connection, err);
    if (status != TV_OK)
        return status;
    command.until = tv_monotonic_ms() + ANSWER_MS;
    status = attach_send(&command, err);
    if (status == TV_OK)
        status = attach_read_answer(&command, answer, room, err);
    close(command.connection);
    if (status == TV_OK && !attach_clean_answer(answer, code))
        status = tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET,
                         "process %d sent an answer that is not from a JVM", (int)jvm->pid);
    return status;
}
