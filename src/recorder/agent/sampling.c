/* SPDX-License-Identifier: Apache-2.0 */
/* sampling.c - the profiler that the options ask for.  See agent.h. */
#include <errno.h>
#include <string.h>

#include "recorder/agent/agent.h"
#include "recorder/agent/profiler.h"

#define BILLION 1000000000
#define MILLION 1000000

/* One for all recordings: samples add up. */
static struct tv_profiler *profiler;

bool tv_agent_wants_thread(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void)jvmti;
    return tv_agent_thread_matches(jni, thread, tv_agent.options.threads);
}

static struct tv_profiler *the_profiler(void)
{
    const struct tv_agent_options *options = &tv_agent.options;
    JNIEnv *jni = NULL; /* only a set needs it, and there is none */
    if (profiler == NULL)
        profiler =
            tv_profiler_new(jni, &(struct tv_profiler_options){
                                     .pattern = options->threads,
                                     .depth = (int64_t)options->depth,
                                     .only_runnable = options->state == TV_AGENT_STATE_RUNNABLE,
                                 });
    return profiler;
}

void tv_agent_sampling_renew(void)
{
    if (profiler != NULL)
        tv_profiler_free(profiler);
    profiler = NULL;
}

bool tv_agent_sampling_start(void)
{
    const struct tv_agent_options *options = &tv_agent.options;
    int64_t period = options->interval_ms > 0 ? (int64_t)options->interval_ms * MILLION
                                              : BILLION / (int64_t)options->rate;
    int error = the_profiler() == NULL ? -ENOMEM : tv_profiler_start(profiler, period);
    if (error != 0)
        tv_agent_say("no thread for the sampler: %s", strerror(-error));
    return error == 0;
}

void tv_agent_sampling_stop(const char *path)
{
    struct tv_profiler_counts counts = {0};
    tv_profiler_stop(profiler);
    FILE *to = fopen(path, "we");
    int error = to == NULL ? -errno : 0;
    if (error == 0)
        error =
            tv_profiler_write(profiler, (enum tv_agent_format)tv_agent.options.format, to, &counts);
    if (to != NULL && fclose(to) != 0 && error == 0)
        error = -errno;
    if (error != 0)
        tv_agent_say("%s: could not be written: %s", path, strerror(-error));
    else if (tv_agent.options.verbose)
        tv_agent_say("%s: %llu samples, %llu ticks left out", path,
                     (unsigned long long)counts.samples, (unsigned long long)counts.late);
}
