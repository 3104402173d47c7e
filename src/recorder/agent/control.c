/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.c - start and stop from outside: one thread waits for a time, a signal or a line.
 *
 * The signal's handler writes one number to an eventfd, which handlers may.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "recorder/agent/agent.h"

#define MILLION 1000000
#define THOUSAND 1000
#define LINE 64

static struct {
    pthread_t thread;
    bool running;
    atomic_bool ending;
    int event;           /* the signal came, or the end did */
    int fifo;            /* -1: none */
    bool made;           /* the fifo is ours */
    char line[LINE];     /* what has been read of an order */
    size_t length;       /* LINE: it is too long, and passed over */
    atomic_uint toggles; /* signals not yet seen to */
    bool start_pending;  /* after the delay */
} control = {.event = -1, .fifo = -1};

static void control_on_signal(int number)
{
    int error = errno;
    uint64_t one = 1;
    (void)number;
    atomic_fetch_add(&control.toggles, 1);
    ssize_t written = write(control.event, &one, sizeof one);
    (void)written; /* when it is full, the thread is awake anyway */
    errno = error;
}

static void control_install_signal(const char *name)
{
    struct sigaction action = {0}, before;
    int number = tv_agent_signal_number(name);
    if (number == 0 || sigaction(number, NULL, &before) != 0) {
        tv_agent_say("control=%s: no such signal", name);
        return;
    }
    /* Of those that the machine or the program uses, none is taken. */
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

static void control_open_fifo(const char *path)
{
    control.length = 0;
    control.made = mkfifo(path, 0600) == 0;
    if (!control.made && errno != EEXIST) {
        tv_agent_say("%s: %s", path, strerror(errno));
        return;
    }
    /* Open for writing too: then there is no end when a writer closes it. */
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

/* Who writes may do so in parts: an order is there when its line ends. */
static void control_read_fifo(void)
{
    char text[512];
    ssize_t got = read(control.fifo, text, sizeof text);
    for (ssize_t i = 0; i < got; i++)
        control_add_byte(text[i]);
}

static int64_t control_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * MILLION + now.tv_nsec / THOUSAND;
}

/* Waits for something to do until `until`, or for ever when that is 0; obeys. */
static void control_wait_and_obey(int64_t until)
{
    uint64_t count;
    struct pollfd files[] = {{control.event, POLLIN, 0}, {control.fifo, POLLIN, 0}};
    /* In milliseconds, and not too early. */
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

/* Signals are for the program's threads. */
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
