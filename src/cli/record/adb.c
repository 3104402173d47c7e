/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adb.c - runs adb, and chooses the device (record.h).
 *
 * adb is a client of a server that it starts by itself and that stays.  Each command here is one
 * run of the client with a time limit, because a device that was unplugged may never answer.
 * Words for the device go through its shell, so every name is quoted (tv_adb_quote).
 *
 *     we  --spawn-->  adb client  --socket-->  adb server  --USB-->  adbd, shell on the device
 *      ^                  |
 *      '-- pipe: output --'   until it closes, the time is over, or a signal comes
 *
 * Both outputs come as one text: old devices write errors of a command to its output, and new ones
 * apart.  The exit code of a command reaches us only from newer devices, so callers also look at
 * what it wrote.
 */
#define _GNU_SOURCE
#include "base/clock.h"
#include "base/program.h"
#include "cli/record/record.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ADB_WORDS 16
#define ADB_SHELL_LIMIT_MS 60000
#define ADB_LIST_MAX 400

/* ---- the program ---- */

/* Return true when we may execute the file. */
static bool adb_is_executable(const char *path)
{
    return access(path, X_OK) == 0;
}

enum tv_status tv_adb_find(struct tv_adb *adb, struct tv_error *err)
{
    static const char *const variables[] = {"ANDROID_HOME", "ANDROID_SDK_ROOT"};
    if (tv_record_find_program("adb", adb->program))
        return TV_OK;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *folder = getenv(variables[i]);
        int length =
            folder ? snprintf(adb->program, sizeof adb->program, "%s/platform-tools/adb", folder)
                   : 0;
        if (length > 0 && (size_t)length < sizeof adb->program && adb_is_executable(adb->program))
            return TV_OK;
    }
    return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                   "adb not found: install it (apt install adb), add platform-tools of the Android "
                   "SDK to PATH, or set ANDROID_HOME");
}

/* Read some output; what does not fit is dropped. False at the end of the output. */
static bool adb_read_output(int output, char *text, size_t *used)
{
    char piece[4096];
    ssize_t got = read(output, piece, sizeof piece);
    for (ssize_t i = 0; i < got && *used + 1 < TV_ADB_ANSWER; i++)
        text[(*used)++] = piece[i] ? piece[i] : ' ';
    text[*used] = '\0';
    return got > 0 || (got < 0 && errno == EINTR);
}

/* Read the output until it is closed, which happens when the program ends. A server that adb has
 * started does not inherit it. */
static void adb_collect_output(const struct tv_adb *adb, int output, pid_t process, int limit_ms,
                               struct tv_adb_answer *answer)
{
    struct pollfd files[] = {{output, POLLIN, 0}, {adb->signals, POLLIN, 0}};
    int64_t until = tv_monotonic_ms() + limit_ms;
    size_t used = 0;
    bool more = true;
    while (more && !answer->interrupted && !answer->timed_out) {
        int64_t left = limit_ms > 0 ? until - tv_monotonic_ms() : 1000;
        int ready = poll(files, 2, left > 0 ? (int)left : 0);
        answer->interrupted = ready > 0 && files[1].revents != 0;
        answer->timed_out = ready == 0 && limit_ms > 0 && tv_monotonic_ms() >= until;
        if (ready > 0 && files[0].revents != 0)
            more = adb_read_output(output, answer->text, &used);
    }
    if (more)
        kill(process, SIGKILL);
}

/* Remove CR, which old devices send, and lines such as "* daemon started successfully". */
static void adb_clean_output(char *text)
{
    char *to = text;
    for (char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        bool wanted = line[0] != '*' || line[1] != ' ' || !strstr(line, "daemon");
        char *end = line + length + (line[length] == '\n');
        for (; line < end; line++)
            if (wanted && *line != '\r')
                *to++ = *line;
    }
    *to = '\0';
}

enum tv_status tv_adb_run(const struct tv_adb *adb, const char *const *words, int limit_ms,
                          struct tv_adb_answer *answer, struct tv_error *err)
{
    assert(adb->program[0]);
    const char *all[ADB_WORDS + 4] = {"adb"};
    size_t count = 1;
    int ends[2];
    pid_t process;
    if (adb->serial[0]) {
        all[count++] = "-s";
        all[count++] = adb->serial;
    }
    for (size_t i = 0; words[i] && count < ADB_WORDS + 3; i++)
        all[count++] = words[i];
    *answer = (struct tv_adb_answer){0};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "pipe: %s", strerror(errno));
    /* a group of its own: Ctrl-C must reach only us, who stop the recording */
    const struct tv_program program = {
        .name = adb->program,
        .words = all,
        .fds = (const struct tv_program_fd[]){{0, -1}, {1, ends[1]}, {2, ends[1]}},
        .fd_count = 3,
        .own_group = true};
    int error = tv_program_start(&program, &process);
    close(ends[1]);
    if (error == 0) {
        adb_collect_output(adb, ends[0], process, limit_ms, answer);
        (void)tv_program_wait(process, &answer->code);
        adb_clean_output(answer->text);
    }
    close(ends[0]);
    if (error == 0)
        return TV_OK;
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: cannot be started: %s", adb->program,
                   strerror(error));
}

enum tv_status tv_adb_shell(const struct tv_adb *adb, struct tv_adb_answer *answer,
                            struct tv_error *err, const char *format, ...)
{
    char line[2048];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof line)
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "a command for the device is too long");
    const char *const words[] = {"shell", line, NULL};
    return tv_adb_run(adb, words, ADB_SHELL_LIMIT_MS, answer, err);
}

bool tv_adb_quote(const char *word, char *quoted, size_t size)
{
    size_t used = 0;
    if (size < 3)
        return false;
    quoted[used++] = '\'';
    for (; *word; word++) {
        const char *piece = *word == '\'' ? "'\\''" : NULL;
        size_t length = piece ? strlen(piece) : 1;
        if (used + length + 2 > size)
            return false;
        memcpy(quoted + used, piece ? piece : word, length);
        used += length;
    }
    quoted[used++] = '\'';
    quoted[used] = '\0';
    return true;
}

/* ---- the device ---- */

/* A line "SERIAL\tSTATE"; the state of an unusable device can have several words. */
struct adb_device {
    char serial[TV_ADB_SERIAL], state[64];
};

/* Parse the next device of the list; NULL at the end. */
static const char *adb_next_device(const char *at, struct adb_device *device)
{
    while (*at) {
        size_t length = strcspn(at, "\n"), serial = strcspn(at, " \t\n");
        size_t state = serial + strspn(at + serial, " \t");
        const char *next = at + length + (at[length] == '\n');
        if (serial > 0 && state < length && strncmp(at, "List of devices", 15) != 0) {
            snprintf(device->serial, sizeof device->serial, "%.*s", (int)serial, at);
            snprintf(device->state, sizeof device->state, "%.*s", (int)(length - state),
                     at + state);
            return next;
        }
        at = next;
    }
    return NULL;
}

/* Format the devices as "emulator-5554 (device), R58M (unauthorized)". */
static void adb_list_devices(const char *text, char *list, size_t size)
{
    struct adb_device device;
    size_t used = 0;
    list[0] = '\0';
    while ((text = adb_next_device(text, &device)) && used + 200 < size)
        used += (size_t)snprintf(list + used, size - used, "%s%s (%s)", used > 0 ? ", " : "",
                                 device.serial, device.state);
}

/* Explain what the user can do about a device that is not ready. */
static enum tv_status adb_check_state(const struct adb_device *device, struct tv_error *err)
{
    if (strcmp(device->state, "device") == 0)
        return TV_OK;
    if (strcmp(device->state, "unauthorized") == 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "%s is unauthorized: allow debugging by this computer in the dialog on its "
                       "screen, and try again ('adb kill-server' brings the dialog back)",
                       device->serial);
    if (strcmp(device->state, "offline") == 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "%s is offline: it does not answer adb; connect it again", device->serial);
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s cannot be used: adb says '%s'", device->serial,
                   device->state);
}

/* Check the device with this serial number, or name those that are connected. */
static enum tv_status adb_choose_named(const char *text, const char *serial, struct tv_error *err)
{
    char list[ADB_LIST_MAX];
    struct adb_device device;
    for (const char *at = text; (at = adb_next_device(at, &device));)
        if (strcmp(device.serial, serial) == 0)
            return adb_check_state(&device, err);
    adb_list_devices(text, list, sizeof list);
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "no device '%s' is connected, but %s", serial,
                   list[0] ? list : "none at all");
}

/* Choose the only device; with several the user must choose. */
static enum tv_status adb_choose_only(const char *text, char *serial, struct tv_error *err)
{
    char list[ADB_LIST_MAX];
    struct adb_device device, other;
    const char *rest = adb_next_device(text, &device);
    if (!rest)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "no device is connected: turn on USB debugging in its developer options, "
                       "or start an emulator; 'adb devices' lists what is there");
    if (adb_next_device(rest, &other)) {
        adb_list_devices(text, list, sizeof list);
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "several devices are connected: %s; choose one with --device or "
                       "ANDROID_SERIAL",
                       list);
    }
    snprintf(serial, TV_ADB_SERIAL, "%s", device.serial);
    return adb_check_state(&device, err);
}

enum tv_status tv_adb_choose(struct tv_adb *adb, const char *serial, struct tv_error *err)
{
    static const char *const words[] = {"devices", NULL};
    struct tv_adb_answer answer;
    const char *named = serial ? serial : getenv("ANDROID_SERIAL");
    enum tv_status status = tv_adb_run(adb, words, ADB_SHELL_LIMIT_MS, &answer, err);
    if (status != TV_OK)
        return status;
    if (answer.code != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "adb devices: %.*s",
                       (int)strcspn(answer.text, "\n"), answer.text[0] ? answer.text : "no answer");
    if (!named || !named[0])
        return adb_choose_only(answer.text, adb->serial, err);
    status = adb_choose_named(answer.text, named, err);
    if (status == TV_OK)
        snprintf(adb->serial, sizeof adb->serial, "%s", named);
    return status;
}
