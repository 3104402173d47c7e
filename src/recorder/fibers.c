/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fibers.c - threads of the host that the system does not know; see recording.h.
 *
 * A fiber is a struct tv_recorder_thread like any other, so that events are as quick as ever: mount
 * puts it in the place of the thread that carries it, and unmount puts that one back.
 */
#include <stdbool.h>

#include "recorder/quick.h"
#include "recorder/recording.h"
#include "recorder/state.h"

/* Moves when mounts are no longer told: what a thread knows of its fiber is void then. */
static _Atomic uint32_t epoch = 1;

static __thread struct {
    uint32_t epoch; /* 0: no fiber is mounted */
    struct tv_recorder_thread *carrier;
} mounted __attribute__((tls_model("initial-exec")));

/* The carrier is in its place again, whoever was there. */
static void put_carrier_back(void)
{
    if (mounted.epoch != 0)
        tv_recorder_self = mounted.carrier;
    mounted.epoch = 0;
}

bool tv_recording_is_fiber(void)
{
    return mounted.epoch != 0 && mounted.epoch == atomic_load(&epoch);
}

void tv_recording_forget_mounts(void)
{
    atomic_fetch_add(&epoch, 1);
}

static bool is_recorded(struct tv_recorder_thread *fiber)
{
    uint32_t on = tv_recorder_read_on();
    return fiber != NULL && !fiber->finished && tv_recorder_is_recording(on) &&
           tv_recorder_generation_of(fiber) == on;
}

void tv_recording_mount(struct tv_recorder_thread *fiber, uint32_t away)
{
    uint64_t word = (uint64_t)away << 2;
    put_carrier_back();
    mounted.carrier = tv_recorder_self;
    mounted.epoch = atomic_load(&epoch);
    if (fiber != NULL && fiber->cpu)
        fiber->cpu_shift = (int64_t)tv_cpu_clock_ns() - fiber->cpu_left;
    tv_recorder_self = fiber;
    if (away != 0 && is_recorded(fiber) && fiber->over == 0 &&
        atomic_load(&atomic_load(&fiber->top)->word) == word)
        tv_fast_leave(word | TV_MT_EXIT, 0, false);
}

struct tv_recorder_thread *tv_recording_unmount(uint32_t away)
{
    struct tv_recorder_thread *fiber = tv_recorder_self;
    if (!tv_recording_is_fiber()) {
        put_carrier_back();
        return NULL;
    }
    if (away != 0 && is_recorded(fiber) && fiber->over == 0)
        tv_fast_enter((uint64_t)away << 2, TV_FRAME_OFF_STACK);
    if (fiber != NULL && fiber->cpu)
        fiber->cpu_left = (int64_t)tv_recorder_cpu_ns(fiber);
    if (is_recorded(fiber))
        tv_recorder_flush_fiber(fiber);
    put_carrier_back();
    return fiber;
}

void tv_recording_mix_fibers(void)
{
    sigset_t before;
    tv_recorder_lock(&before);
    tv_recorder.job.mixes_fibers = true;
    tv_recorder_unlock(&before);
}

void tv_recording_end_fiber(struct tv_recorder_thread *fiber)
{
    if (fiber != NULL)
        tv_recorder_end_fiber(fiber);
}
