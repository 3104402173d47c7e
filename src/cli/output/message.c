/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.c - messages, losses and progress on standard error (message.h).
 *
 * Messages have names of files and texts of traces in them.  Control characters
 * are replaced, so that no trace can command the terminal.  A line is written
 * with one call, so those of several threads do not mix.
 *
 * The meter is a thread that draws the progress of another one over and over in
 * the same line.  It draws nothing in the first second, and nothing if standard
 * error is no terminal.
 */
#include "cli/output/message.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/workers.h"

/* Replace control characters and invalid UTF-8 by '?', in place. Return the new length. */
static size_t message_replace_controls(char *text, size_t length)
{
    assert(text);
    size_t to = 0;
    /* `to` never passes `at`: a character becomes at most as long as it was. */
    for (size_t at = 0; at < length;) {
        struct tv_bytes rest = {(const uint8_t *)text + at, length - at};
        size_t control = tv_bytes_control(rest);
        size_t whole = rest.data[0] < 0x80 ? 1 : tv_bytes_utf8(rest);
        if (control > 0 || whole == 0) {
            text[to++] = '?';
            at += control > 0 ? control : 1;
            continue;
        }
        memmove(text + to, text + at, whole);
        to += whole;
        at += whole;
    }
    return to;
}

/* Buffer for the messages of this thread (tv_message_collect); NULL: they are printed. */
static _Thread_local struct tv_out *message_collected;

/* The text is formatted twice: first to learn its length, which a name of a
 * file can make long. */
void tv_message(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        return;
    char *line = tv_alloc((size_t)length + 2, 1);
    va_start(args, format);
    vsnprintf(line, (size_t)length + 1, format, args);
    va_end(args);
    size_t kept = message_replace_controls(line, (size_t)length);
    line[kept] = '\n';
    if (message_collected)
        tv_out_bytes(message_collected, (struct tv_bytes){(uint8_t *)line, kept + 1});
    else
        fwrite(line, 1, kept + 1, stderr);
    tv_free(line);
}

void tv_message_collect(struct tv_out *out)
{
    message_collected = out;
}

void tv_message_print(struct tv_out *kept)
{
    fwrite(kept->buffer, 1, kept->length, stderr);
    kept->length = 0;
}

/* ---- Losses ---- */

void tv_losses_print(const char *name, struct tv_bytes lines)
{
    while (lines.length > 0) {
        const uint8_t *end = memchr(lines.data, '\n', lines.length);
        size_t length = end ? (size_t)(end - lines.data) : lines.length;
        tv_message("%s: loss: %.*s", name, (int)length, (const char *)lines.data);
        length += end != NULL;
        lines = (struct tv_bytes){lines.data + length, lines.length - length};
    }
}

/* ---- Progress ---- */

#define FIRST_MS 1000
#define STEP_MS 200

/* A meter that runs; `stop` and `drawn` are read and written under the mutex,
 * or after the thread has ended. */
struct tv_meter {
    struct tv_progress *progress;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    uint64_t start; /* tv_monotonic_ns */
    bool stop, drawn;
};

/* Draw the line over the one before. */
static void meter_draw(struct tv_meter *meter)
{
    struct tv_progress_shown shown = tv_progress_show(meter->progress);
    uint64_t bytes = shown.bytes, total = shown.total_bytes;
    double records = (double)shown.records;
    double seconds = (double)(tv_monotonic_ns() - meter->start) / 1e9;
    meter->drawn = true;
    const char *work = atomic_load(&meter->progress->work);
    if (work && bytes < total)
        fprintf(stderr, "\r%s %3.0f%%  %.0f s\033[K", work, 100.0 * (double)bytes / (double)total,
                seconds);
    else if (bytes < total)
        fprintf(stderr, "\rreading %3.0f%%  %.1f M records  %.1f M/s  %.0f s\033[K",
                100.0 * (double)bytes / (double)total, records / 1e6, records / 1e6 / seconds,
                seconds);
    else if (total == 0 && bytes > 0)
        fprintf(stderr, "\rwriting  %.0f MB  %.0f s\033[K", (double)bytes / 1e6, seconds);
    else
        fprintf(stderr, "\rworking  %.0f s\033[K", seconds);
    fflush(stderr);
}

/* Draw from time to time, until the work is done; short work shows nothing. */
static void *meter_thread(void *context)
{
    struct tv_meter *meter = context;
    struct timespec next = tv_monotonic_deadline(FIRST_MS);
    pthread_mutex_lock(&meter->mutex);
    while (!meter->stop) {
        if (pthread_cond_timedwait(&meter->wake, &meter->mutex, &next) != ETIMEDOUT)
            continue;
        meter_draw(meter);
        next = tv_monotonic_deadline(STEP_MS);
    }
    pthread_mutex_unlock(&meter->mutex);
    return NULL;
}

/* One meter at a time has the line. */
static atomic_flag meter_draws = ATOMIC_FLAG_INIT;

struct tv_meter *tv_meter_start(struct tv_progress *progress, bool quiet)
{
    if (quiet || !isatty(STDERR_FILENO) || atomic_flag_test_and_set(&meter_draws))
        return NULL;
    struct tv_meter *meter = tv_alloc(1, sizeof *meter);
    pthread_condattr_t attributes;
    meter->progress = progress;
    meter->start = tv_monotonic_ns();
    pthread_mutex_init(&meter->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&meter->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    if (tv_thread_start(&meter->thread, TV_THREAD_STACK, meter_thread, meter) == 0)
        return meter;
    pthread_cond_destroy(&meter->wake);
    pthread_mutex_destroy(&meter->mutex);
    tv_free(meter);
    atomic_flag_clear(&meter_draws);
    return NULL;
}

void tv_meter_stop(struct tv_meter *meter)
{
    if (!meter)
        return;
    pthread_mutex_lock(&meter->mutex);
    meter->stop = true;
    pthread_cond_signal(&meter->wake);
    pthread_mutex_unlock(&meter->mutex);
    pthread_join(meter->thread, NULL);
    if (meter->drawn)
        fputs("\r\033[K", stderr);
    pthread_cond_destroy(&meter->wake);
    pthread_mutex_destroy(&meter->mutex);
    tv_free(meter);
    atomic_flag_clear(&meter_draws);
}
