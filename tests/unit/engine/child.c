/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.c - the program that the tests' engines run instead of traceview. The trace file's text
 * selects its behaviour:
 *
 *     draw       a trace of dice (engine_dice.h)
 *     wait       the same, once the file's first byte is no 'w' any more
 *     fail       no trace: a syntax error at byte 7
 *     spin, eat, crash, talk             use CPU time, use memory, crash, write many lines
 *     open, socket, fork, exec, kill     try what the sandbox forbids
 *     env        no trace: an error that lists the environment
 *     mutter     write a long line with odd characters and no end, and crash
 *     lie X      break the protocol in one way (see `lie`)
 *     refuse CALL AT ERROR TEXT          behave as TEXT says, but one system call fails (refused.h)
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/source.h"
#include "engine/child.h"
#include "engine/engine_dice.h"
#include "engine/messages.h"
#include "engine/refused.h"

static bool begins(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

static void spin(void)
{
    for (volatile unsigned i = 0;; i++)
        ;
}

static void eat(void)
{
    for (;;) {
        size_t size = (size_t)1 << 20;
        char *memory = malloc(size);
        if (!memory) {
            fputs("traceview: out of memory\n", stderr);
            _exit(1);
        }
        memset(memory, 1, size);
    }
}

static void talk(void)
{
    for (int i = 0; i < 100000; i++)
        fprintf(stderr, "line %d\t\x1b[31m\n", i);
}

static void mutter(void)
{
    for (int i = 0; i < 3000; i++)
        fputs("~", stderr);
    fputs("\x7f\t", stderr);
    raise(SIGSEGV);
}

static enum tv_status list_environment(struct tv_error *err)
{
    char text[200] = "";
    for (char **variable = environ; *variable; variable++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%.40s;", *variable);
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "%s", text);
}

/* A call that fails with an error number is reported as the error of the loading. */
static enum tv_status try(const char *what, struct tv_error *err)
{
    char name[] = "/bin/true", *arguments[] = {name, NULL};
    int got = -1;
    if (begins(what, "open"))
        got = open("/etc/passwd", O_RDONLY);
    else if (begins(what, "socket"))
        got = socket(AF_INET, SOCK_STREAM, 0);
    else if (begins(what, "fork"))
        got = fork();
    else if (begins(what, "exec"))
        got = execv(name, arguments);
    else if (begins(what, "kill"))
        got = kill(getppid(), 0);
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "%s: %s", what,
                   got < 0 ? strerror(errno) : "done");
}

static void wait_for_change(void)
{
    char first = 'w';
    while (first == 'w' && pread(TV_ENGINE_FD_TRACE, &first, 1, 0) == 1)
        poll(NULL, 0, 5);
}

static enum tv_status load(void *context, const struct tv_engine_input *wish,
                           struct tv_progress *progress, struct tv_trace **trace,
                           struct tv_error *err)
{
    char all[64] = "";
    size_t got = 0;
    (void)context;
    enum tv_status status = tv_source_read(wish->source, 0, all, sizeof all - 1, &got, err);
    const char *text = begins(all, "refuse") ? strrchr(all, ' ') + 1 : all;
    atomic_store(&progress->total_bytes, 1000);
    atomic_store(&progress->input_bytes, 1000);
    atomic_store(&progress->bytes, 250);
    if (begins(text, "wait"))
        wait_for_change();
    else if (begins(text, "spin"))
        spin();
    else if (begins(text, "eat"))
        eat();
    else if (begins(text, "crash"))
        raise(SIGSEGV);
    else if (begins(text, "talk"))
        talk();
    else if (begins(text, "mutter"))
        mutter();
    tv_source_free(wish->source);
    if (status != TV_OK)
        return status;
    if (begins(text, "env"))
        return list_environment(err);
    if (begins(text, "fail"))
        return tv_fail(err, TV_ERR_SYNTAX, 7, "no trace");
    if (!begins(text, "wait") && !begins(text, "draw") && !begins(text, "talk"))
        return try(text, err);
    *trace = engine_dice().trace;
    return TV_OK;
}

/* A trace of dice has no sources. */
static enum tv_status open_sources(void *context, const struct tv_engine_input *wish,
                                   struct tv_source ***sources, size_t *count, struct tv_error *err)
{
    (void)context, (void)sources, (void)count;
    tv_source_free(wish->source);
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "nobody asks for this");
}

/* ---- Breaking the protocol ---- */

static void say(enum tv_engine_message_kind word)
{
    struct tv_engine_message message = {.kind = word};
    tv_engine_send(TV_ENGINE_FD_SOCKET, &message, (struct tv_bytes){NULL, 0}, -1);
}

static void answer(char lie, int out)
{
    static const uint8_t bad_outcome[] = {99}, huge[] = {0, 0xff, 0xff, 0xff, 0x7f},
                         cut[] = {0, 10, 0, 0, 0, 'x', 'y'}, bad_error[] = {77, 1};
    if (lie == 'o' && write(out, bad_outcome, sizeof bad_outcome) < 0)
        return;
    if (lie == 'h' && write(out, huge, sizeof huge) < 0)
        return;
    if (lie == 'c' && write(out, cut, sizeof cut) < 0)
        return;
    if (lie == 'e' && write(out, bad_error, sizeof bad_error) < 0)
        return;
    if (lie == 's')
        pause();
    if (lie == 'd')
        _exit(3);
    close(out);
}

/* Refuse the trace with a status that is none, and a message without its end. */
static int refuse(uint32_t status)
{
    struct tv_engine_message message = {
        .kind = TV_ENGINE_REFUSED, .parts = UINT32_MAX, .refused = {.offset = 7, .status = status}};
    memset(message.refused.message, 'A', sizeof message.refused.message);
    tv_engine_send(TV_ENGINE_FD_SOCKET, &message, (struct tv_bytes){NULL, 0}, -1);
    return pause();
}

static int lie(char kind)
{
    struct tv_engine_message message;
    static uint8_t text[TV_ENGINE_QUESTION_SIZE];
    if (kind == 'j' && send(TV_ENGINE_FD_SOCKET, "junk", 4, 0) < 0)
        return 1;
    if (kind == 'w')
        say((enum tv_engine_message_kind)4711);
    if (kind == 'x')
        return 0;
    if (kind == '0' || kind == '9')
        return refuse(kind == '0' ? TV_OK : 4711);
    say(TV_ENGINE_HELLO);
    say(TV_ENGINE_LOADED);
    if (kind == '2')
        say(TV_ENGINE_LOADED);
    for (;;) {
        struct pollfd wait = {.fd = TV_ENGINE_FD_SOCKET, .events = POLLIN};
        int pipe = -1;
        size_t length = sizeof text;
        poll(&wait, 1, -1);
        enum tv_engine_got got =
            tv_engine_receive(TV_ENGINE_FD_SOCKET, &message, text, &length, &pipe);
        if (got == TV_GOT_END)
            return 0;
        if (got == TV_GOT_MESSAGE && pipe >= 0)
            answer(kind, pipe);
    }
}

/* Write the counts of branches in a build that has them; no exit handler of this process must run.
 */
static void leave(int status)
{
#ifdef TV_COVERAGE
    void __gcov_dump(void);
    refused_disarm();
    __gcov_dump();
#endif
    _exit(status);
}

int main(void)
{
    const struct tv_engine_loader loader = {.load = load, .open = open_sources};
    char text[64] = "";
    int call, error;
    long at;
    signal(SIGPIPE, SIG_IGN);
    if (pread(TV_ENGINE_FD_TRACE, text, sizeof text - 1, 0) > 4 && begins(text, "lie "))
        _exit(lie(text[4]));
    if (sscanf(text, "refuse %d %ld %d", &call, &at, &error) == 3)
        refused_arm((enum refused_call)call, at, error);
    leave(tv_engine_main(&loader));
}
