/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler_run.c - the sampler that the environment asks for: all threads, from the load of the
 * library to the end of the process.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/native/modules.h"
#include "recorder/native/sampler.h"
#include "recorder/native/sampler_run.h"
#include "recorder/state.h"

#define DEPTH 64
#define NUMBER_MOST 1000000L

static struct {
    struct tvrec_sampler *sampler;
    enum tvrec_hprof form;
} running;

/* Behind the text, for who resolves its addresses (cli/native_samples.c): the period, and of each
 * sample its time, its stack and what the thread did. */
static void write_times(const struct tv_samples *samples, FILE *to)
{
    const struct tv_sample_moment *moments = samples->moments.at;
    if (samples->period_ns == 0)
        return;
    fprintf(to, "PERIOD %llu\n", (unsigned long long)samples->period_ns);
    for (uint32_t i = 0; i < samples->moments.count; i++)
        fprintf(to, "AT %llu %u %u\n", (unsigned long long)moments[i].time_ns,
                TV_SAMPLES_FIRST_TRACE + moments[i].trace, moments[i].state);
}

static int write_file(void)
{
    struct tv_file_limit_guard limit;
    FILE *to = fopen(tv_recorder.part, "we");
    if (!to)
        return -errno;
    tv_file_limit_begin(&limit);
    int failed = tvrec_sampler_write(running.sampler, to, running.form);
    write_times(&running.sampler->samples, to);
    failed = tv_output_stream_publish(to, failed, tv_recorder.part, tv_recorder.path);
    tv_file_limit_end(&limit);
    return failed;
}

/* Of a share that would mislead who reads the result. */
static void tell_of_blocked(const struct tvrec_sampler *sampler)
{
    char line[TV_BUFFER_PATH + 200];
    uint64_t all = sampler->samples.total + sampler->missed;
    if (sampler->blocked == 0 || sampler->blocked < all / 100)
        return;
    snprintf(line, sizeof line,
             "traceview: %s: %llu of %llu samples are missing, of threads that run with signal %d "
             "blocked\n",
             tv_recorder.path, (unsigned long long)sampler->blocked, (unsigned long long)all,
             sampler->signal_number);
    tv_recorder_print_line(line);
}

/* A tenth of all is told: a few are always on their way into a function or out of it. */
static void tell_of_lost(const struct tvrec_sampler *sampler)
{
    char line[TV_BUFFER_PATH + 256];
    if (sampler->lost <= sampler->walked / 10)
        return;
    snprintf(line, sizeof line,
             "traceview: %s: %llu of %llu stacks have lost their callers, in code without frame "
             "pointers: compile it with -fno-omit-frame-pointer or with -finstrument-functions\n",
             tv_recorder.path, (unsigned long long)sampler->lost,
             (unsigned long long)sampler->walked);
    tv_recorder_print_line(line);
}

static void finish(void)
{
    tv_recorder_inside++;
    tvrec_sampler_shutdown(running.sampler);
    int failed = write_file();
    if (failed != 0)
        tv_recorder_notice(TV_RECORDING_FAILED, failed);
    if (failed == 0) {
        tell_of_blocked(running.sampler);
        tell_of_lost(running.sampler);
    }
    tvrec_sampler_free(running.sampler);
    running.sampler = NULL;
    tv_recorder_inside--;
}

/* A number from 1 on; -1: it is none. */
static int number_of(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);
    return end == text || *end || number < 1 || number > NUMBER_MOST ? -1 : (int)number;
}

/* The word's place in a list that ends with NULL; -1: it is not there.  NULL: the first. */
static int choose(const char *word, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (!word || strcmp(word, words[i]) == 0)
            return i;
    return -1;
}

static int start(int rate)
{
    static const char *const forms[] = {"android", "jdk", "binary", NULL};
    static const char *const stacks[] = {"auto", "shadow", "fp", NULL};
    const char *depth_text = getenv("TRACEVIEW_RECORD_SAMPLE_DEPTH");
    int form = choose(getenv("TRACEVIEW_RECORD_SAMPLE_FORMAT"), forms);
    int stack = choose(getenv("TRACEVIEW_RECORD_SAMPLE_STACK"), stacks);
    int depth = depth_text ? number_of(depth_text) : DEPTH;
    if (rate < 0 || form < 0 || stack < 0 || depth < 0)
        return -EINVAL;
    running.form = (enum tvrec_hprof)form;
    running.sampler = tvrec_sampler_new(depth, tvrec_set_group(NULL));
    if (!running.sampler)
        return -errno;
    int failed = tvrec_sampler_use(running.sampler, (enum tvrec_stack)stack, 0);
    if (getenv("TRACEVIEW_RECORD_SAMPLE_TIMES"))
        tv_sampler_keep_times(running.sampler);
    if (failed == 0)
        failed = tvrec_sampler_start(running.sampler, rate);
    if (failed != 0)
        tvrec_sampler_free(running.sampler);
    return failed;
}

void tv_sampler_run(const char *path, const char *rate, bool quiet)
{
    int length = snprintf(tv_recorder.part, sizeof tv_recorder.part, "%s.part", path);
    bool fits = length > 0 && (size_t)length < sizeof tv_recorder.part;
    snprintf(tv_recorder.path, sizeof tv_recorder.path, "%s", path);
    tv_recorder.options.quiet = quiet;
    tv_watcher_run_at_exit(finish);
    int failed = fits ? tv_output_file_check_path(path) : -ENAMETOOLONG;
    if (failed == 0)
        failed = start(number_of(rate));
    if (failed == 0)
        return;
    tv_watcher_run_at_exit(NULL);
    tv_recorder_notice(TV_RECORDING_FAILED, failed);
}
