/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.c - start and stop from outside.
 *
 * One control thread sleeps in poll() until a time, a signal or a line from a fifo arrives. The
 * signal handler only writes to an eventfd, which is async-signal-safe. A second thread ends an
 * attached recording when the command that requested it is gone (see the end of this file).
 *
 *     option       means                    wakes the thread
 *     delay        start later              time
 *     duration     stop later               time, counted anew from each start
 *     control      a signal: toggle         eventfd
 *                  fifo: start, stop, ...   a whole line in the fifo
 *
 * Signals are counted and not only noted: two in quick succession start and stop.  The thread
 * blocks all signals, because the program may wait for one with sigwait in a thread of its own.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "recorder/agent/agent.h"
#include "recorder/clock.h"

#define THOUSAND 1000
#define LINE 64

static struct {
    pthread_t thread;
    bool running;
    atomic_bool ending;
    int event;           /* eventfd: a signal has arrived, or the end has come */
    int fifo;            /* -1: none */
    bool made;           /* created by the agent, which removes it at the end */
    char line[LINE];     /* the line read so far */
    size_t length;       /* LINE: too long, skip the rest of the line */
    atomic_uint toggles; /* signals not yet handled */
    bool start_pending;  /* start when the delay is over */
} control = {.event = -1, .fifo = -1};

/* Count a signal and wake the thread.  In a signal handler: no lock and no memory. */
static void control_on_signal(int number)
{
    int error = errno;
    uint64_t one = 1;
    (void)number;
    atomic_fetch_add(&control.toggles, 1);
    ssize_t written = write(control.event, &one, sizeof one);
    (void)written; /* EAGAIN means that the counter is full: the thread is awake anyway */
    errno = error;
}

/* Let a signal toggle recording. */
static void control_install_signal(const char *name)
{
    struct sigaction action = {0}, before;
    int number = tv_agent_signal_number(name);
    if (number == 0 || sigaction(number, NULL, &before) != 0) {
        tv_agent_say("control=%s: no such signal", name);
        return;
    }
    /* Refuse a signal that the JVM or the program uses. */
    bool ours = (before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == control_on_signal;
    if (!ours && ((before.sa_flags & SA_SIGINFO) != 0 || before.sa_handler != SIG_DFL)) {
        tv_agent_say("control=%s: that signal is in use", name);
        return;
    }
    action.sa_handler = control_on_signal;
    action.sa_flags = SA_RESTART;
    if (sigaction(number, &action, NULL) != 0)
        tv_agent_say("control=%s: %s", name, strerror(errno));
}

/* Open a fifo, newly made if it is not there. Reading must not block: the thread sleeps in poll()
 * alone. */
static void control_open_fifo(const char *path)
{
    control.length = 0;
    control.made = mkfifo(path, 0600) == 0;
    if (!control.made && errno != EEXIST) {
        tv_agent_say("%s: %s", path, strerror(errno));
        return;
    }
    /* O_RDWR keeps a writer open, so that read() never sees the end of the file. */
    int file = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0 || !S_ISFIFO(status.st_mode)) {
        tv_agent_say("%s: not a fifo that can be opened", path);
        if (file >= 0)
            close(file);
        return;
    }
    control.fifo = file;
}

/* Obey an order; an unknown one is reported. */
static void control_obey(const char *word)
{
    bool toggle = strcmp(word, "toggle") == 0;
    if (strcmp(word, "start") == 0 || (toggle && !tv_agent_session_active()))
        tv_agent_session_start();
    else if (strcmp(word, "stop") == 0 || toggle)
        tv_agent_session_stop();
    else if (word[0] != '\0')
        tv_agent_say("control: expected start, stop or toggle, not \"%.40s\"", word);
}

/* Add a byte to the line; its end is an order. */
static void control_add_byte(char byte)
{
    if (byte != '\n') {
        if (control.length < LINE)
            control.line[control.length++] = byte;
        return;
    }
    if (control.length < LINE) {
        control.line[control.length] = '\0';
        control_obey(control.line);
    } else {
        tv_agent_say("control: a line of more than %d bytes is no order", LINE - 1);
    }
    control.length = 0;
}

/* A writer may send a line in several writes: obey it when the newline arrives. */
static void control_read_fifo(void)
{
    char text[512];
    ssize_t got = read(control.fifo, text, sizeof text);
    for (ssize_t i = 0; i < got; i++)
        control_add_byte(text[i]);
}

/* Return the time of a clock that nobody sets. */
static int64_t control_now_us(void)
{
    return (int64_t)(tv_clock_ns(CLOCK_MONOTONIC) / THOUSAND);
}

/* Sleep until `until` (0: for ever) or until there is a request, and obey it. */
static void control_wait_and_obey(int64_t until)
{
    uint64_t count;
    struct pollfd files[] = {{control.event, POLLIN, 0}, {control.fifo, POLLIN, 0}};
    /* poll() takes milliseconds; round up, so as not to wake too early. */
    int64_t left = until == 0 ? -1 : (until - control_now_us() + THOUSAND - 1) / THOUSAND;
    if (until != 0 && left < 0)
        left = 0;
    if (poll(files, 2, left > INT32_MAX ? INT32_MAX : (int)left) <= 0)
        return;
    if ((files[0].revents & POLLIN) != 0 && read(control.event, &count, sizeof count) > 0)
        for (unsigned n = atomic_exchange(&control.toggles, 0); n > 0; n--)
            control_obey("toggle");
    if ((files[1].revents & POLLIN) != 0 && !atomic_load(&control.ending))
        control_read_fifo();
}

/* Start after the delay and stop after the duration, and obey orders meanwhile.  The duration
 * counts from the start of each recording, whoever started it. */
static void *control_thread_main(void *arg)
{
    const struct tv_agent_options *options = &tv_agent.options;
    int64_t start = control.start_pending ? control_now_us() + (int64_t)options->delay_us : 0;
    int64_t stop = 0;
    (void)arg;
    while (!atomic_load(&control.ending)) {
        if (start != 0 && control_now_us() >= start) {
            start = 0;
            tv_agent_session_start();
        }
        if (!tv_agent_session_active())
            stop = 0;
        else if (stop == 0 && options->duration_us > 0)
            stop = control_now_us() + (int64_t)options->duration_us;
        if (stop != 0 && control_now_us() >= stop) {
            stop = 0;
            tv_agent_session_stop();
        }
        control_wait_and_obey(start != 0 ? start : stop);
    }
    return NULL;
}

/* Block all signals in the new thread: they belong to the program's threads. */
static bool control_start_thread(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = tv_recorder_start_thread(&control.thread, control_thread_main, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        tv_agent_say("no thread for the control: %s", strerror(error));
    return error == 0;
}

void tv_agent_control_begin(void)
{
    const struct tv_agent_options *options = &tv_agent.options;
    control.start_pending = options->start && options->delay_us > 0;
    if (options->start && !control.start_pending)
        tv_agent_session_start();
    if (options->control == NULL && !control.start_pending && options->duration_us == 0)
        return;
    if (control.event < 0)
        control.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (control.event < 0)
        return;
    if (options->control != NULL && strncmp(options->control, "fifo:", 5) == 0)
        control_open_fifo(options->control + 5);
    else if (options->control != NULL)
        control_install_signal(options->control);
    atomic_store(&control.ending, false);
    control.running = control_start_thread();
}

void tv_agent_control_end(void)
{
    uint64_t one = 1;
    if (!control.running)
        return;
    atomic_store(&control.ending, true);
    ssize_t written = write(control.event, &one, sizeof one);
    (void)written;
    pthread_join(control.thread, NULL);
    control.running = false;
    if (control.fifo < 0)
        return;
    if (control.made)
        unlink(tv_agent.options.control + 5);
    close(control.fifo);
    control.fifo = -1;
}

/*
 * ---- end with the command ----
 *
 * The command that attached the agent holds a lock on a file. The kernel releases this lock when
 * the command ends in any way, also by SIGKILL. A thread waits for the same lock. Unlike a process
 * id, the lock works across containers with separate PID namespaces, and it needs no polling.
 */

/* Number of the attached recording being watched. Its end increases the number. */
static atomic_uint watched;

static bool watch_wait_for_lock(int file)
{
    int failed;
    while ((failed = flock(file, LOCK_SH)) != 0 && errno == EINTR)
        continue;
    return failed == 0;
}

/* Argument of the watching thread, which frees it. */
struct watch {
    int file;
    unsigned number;
};

static void *watch_wait_for_command(void *context)
{
    struct watch watch = *(struct watch *)context;
    free(context);
    bool is_gone = watch_wait_for_lock(watch.file);
    close(watch.file);
    if (is_gone)
        tv_agent_end_lost(watch.number);
    return NULL;
}

/* Block all signals in the new thread: they belong to the program's threads. */
static int watch_start_thread(struct watch *watch)
{
    assert(watch->file >= 0);
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = tv_recorder_start_thread(&thread, watch_wait_for_command, watch);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0)
        pthread_detach(thread);
    return error;
}

void tv_agent_watch_begin(void)
{
    const char *path = tv_agent.options.watch;
    unsigned number = atomic_fetch_add(&watched, 1) + 1;
    if (path == NULL)
        return;
    struct watch *watch = malloc(sizeof *watch);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    int error = watch == NULL ? ENOMEM : file < 0 ? errno : 0;
    if (error == 0) {
        *watch = (struct watch){file, number};
        error = watch_start_thread(watch);
    }
    if (error == 0)
        return;
    tv_agent_say("%s: %s: the recording goes on when its command is killed", path, strerror(error));
    free(watch);
    if (file >= 0)
        close(file);
}

bool tv_agent_watch_is(unsigned number)
{
    return atomic_load(&watched) == number;
}

void tv_agent_watch_end(void)
{
    atomic_fetch_add(&watched, 1);
}
