/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of what the kernel does: interrupts, work, locks, memory, functions.  Interrupts and the
 * like stand on lines of the kernel's own, the others on the thread that did them. */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "readers/ftrace/args.h"
#include "readers/ftrace/events.h"

#define LONGEST_NAME 160

/* event->title around a text. */
static uint32_t frame_of(struct tv_ft_part *part, const struct tv_ft_event *event,
                         struct tv_bytes text)
{
    char name[LONGEST_NAME];
    size_t length = tv_ft_title(name, sizeof name, event->title, text);
    return tv_ft_frame(part, (struct tv_bytes){(const uint8_t *)name, length},
                       event->category ? event->category : "");
}

/* The line of the processor that event->series names: a constant, so that with the processor it
 * stands for the whole name. */
static uint32_t line_of_cpu(struct tv_ft_part *part, const struct tv_ft_at *at,
                            const struct tv_ft_event *event)
{
    uint64_t key = (uint64_t)(uintptr_t)event->series << 16 | at->cpu;
    uint32_t line = tv_map_find(&part->cpu_lines, key);
    if (line == TV_NONE) {
        line = tv_ft_kernel_line(part, tv_bytes_of(event->series), at->cpu);
        tv_map_set(&part->cpu_lines, key, line);
    }
    return line;
}

/* "irq=27 name=arch_timer", "vec=9 [action=RCU]", "(Rescheduling interrupts)" */
static enum tv_ft_taken begin_on_cpu(struct tv_ft_part *part, const struct tv_ft_line *line,
                                     const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_bytes text = line->details;
    if (event->key) {
        text = tv_ft_behind(text, event->key);
        if (text.data == NULL)
            return TV_FT_MALFORMED;
    }
    while (text.length > 0 &&
           (text.data[text.length - 1] == ']' || text.data[text.length - 1] == ')'))
        text.length--;
    tv_ft_kernel_begin(part, at, line_of_cpu(part, at, event), frame_of(part, event, text));
    return TV_FT_TAKEN;
}

static enum tv_ft_taken end_on_cpu(struct tv_ft_part *part, const struct tv_ft_line *line,
                                   const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    (void)line;
    tv_ft_kernel_end(part, at, line_of_cpu(part, at, event), TV_NONE);
    return TV_FT_TAKEN;
}

/* "caller=schedule+0x30 parent=foo+0x10": "foo+0x10: schedule+0x30" */
static enum tv_ft_taken begin_critical(struct tv_ft_part *part, const struct tv_ft_line *line,
                                       const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_bytes caller = tv_ft_arg(line->details, "caller");
    struct tv_bytes parent = tv_ft_arg(line->details, "parent");
    char name[LONGEST_NAME];
    if (caller.data == NULL || parent.data == NULL || caller.length > 70 || parent.length > 70)
        return TV_FT_MALFORMED;
    int length = snprintf(name, sizeof name, "%.*s: %.*s", (int)parent.length,
                          (const char *)parent.data, (int)caller.length, (const char *)caller.data);
    tv_ft_kernel_begin(part, at, line_of_cpu(part, at, event),
                       tv_ft_frame(part, (struct tv_bytes){(uint8_t *)name, (size_t)length}, ""));
    return TV_FT_TAKEN;
}

/* On the thread: event->title around what stands behind event->key. */
static enum tv_ft_taken begin_on_task(struct tv_ft_part *part, const struct tv_ft_line *line,
                                      const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_bytes text = {NULL, 0};
    if (event->key) {
        text = tv_ft_behind(line->details, event->key);
        if (text.data == NULL)
            return TV_FT_MALFORMED;
        text = tv_ft_word(text);
    }
    tv_ft_kernel_begin(part, at, at->task, frame_of(part, event, text));
    return TV_FT_TAKEN;
}

static enum tv_ft_taken end_on_task(struct tv_ft_part *part, const struct tv_ft_line *line,
                                    const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    uint32_t frame = TV_NONE;
    if (event->key) {
        struct tv_bytes text = tv_ft_behind(line->details, event->key);
        if (text.data == NULL)
            return TV_FT_MALFORMED;
        frame = frame_of(part, event, tv_ft_word(text));
    } else if (event->title) {
        frame = frame_of(part, event, (struct tv_bytes){NULL, 0});
    }
    tv_ft_kernel_end(part, at, at->task, frame);
    return TV_FT_TAKEN;
}

/* The lock is there: waiting ends, holding begins. */
static enum tv_ft_taken got_lock(struct tv_ft_part *part, const struct tv_ft_line *line,
                                 const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    (void)line;
    tv_ft_kernel_end(part, at, at->task,
                     tv_ft_frame(part, TV_BYTES("binder lock waiting"), event->category));
    tv_ft_kernel_begin(part, at, at->task,
                       tv_ft_frame(part, TV_BYTES("binder lock held"), event->category));
    return TV_FT_TAKEN;
}

/* "begin name=SurfaceView:6 state=1", "end name=..." */
static enum tv_ft_taken wait_for_fence(struct tv_ft_part *part, const struct tv_ft_line *line,
                                       const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_bytes name = tv_ft_arg(line->details, "name");
    if (name.data == NULL)
        return TV_FT_MALFORMED;
    uint32_t frame = frame_of(part, event, name);
    if (tv_bytes_starts_with(line->details, TV_BYTES("begin")))
        tv_ft_kernel_begin(part, at, at->task, frame);
    else
        tv_ft_kernel_end(part, at, at->task, frame);
    return TV_FT_TAKEN;
}

/* A moment on the kernel's line event->series: event->title around a value, or around nothing. */
static enum tv_ft_taken point(struct tv_ft_part *part, const struct tv_ft_line *line,
                              const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_bytes text = {NULL, 0};
    if (event->key) {
        text = tv_ft_arg(line->details, event->key);
        if (text.data == NULL)
            return TV_FT_MALFORMED;
    }
    uint32_t task =
        event->series ? tv_ft_kernel_line(part, tv_bytes_of(event->series), TV_NONE) : at->task;
    tv_ft_slice(part, at, task, frame_of(part, event, text), 0);
    return TV_FT_TAKEN;
}

/* "dev=0, ring=1, seqno=1178364": a ring of a device. */
static enum tv_ft_taken on_ring(struct tv_ft_part *part, const struct tv_ft_line *line,
                                const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    int64_t device, ring;
    char name[48];
    if (!tv_ft_arg_number(line->details, "dev", &device) ||
        !tv_ft_arg_number(line->details, "ring", &ring))
        return TV_FT_MALFORMED;
    int length = snprintf(name, sizeof name, "%lld.%lld", (long long)device, (long long)ring);
    struct tv_bytes text = {(const uint8_t *)name, (size_t)length};
    tv_ft_slice(part, at, tv_ft_kernel_line(part, TV_BYTES("i915_gem_ring"), TV_NONE),
                frame_of(part, event, text), 0);
    return TV_FT_TAKEN;
}

/* "write reg=0x100030, len=8, val=(0xfca9001, 0xfce8007)" */
static enum tv_ft_taken on_register(struct tv_ft_part *part, const struct tv_ft_line *line,
                                    const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_bytes act = tv_ft_word(line->details), place = tv_ft_arg(line->details, "reg");
    char name[64];
    (void)event;
    if (act.length > 16 || place.length == 0 || place.length > 24)
        return TV_FT_MALFORMED;
    int length = snprintf(name, sizeof name, "%.*s:%.*s", (int)act.length, (const char *)act.data,
                          (int)place.length, (const char *)place.data);
    struct tv_bytes text = {(const uint8_t *)name, (size_t)length};
    tv_ft_slice(part, at, tv_ft_kernel_line(part, TV_BYTES("i915_reg"), TV_NONE),
                tv_ft_frame(part, text, ""), 0);
    return TV_FT_TAKEN;
}

/* "i2c-3 #0 a=020 f=0000 l=2 [15-00]": what an adapter does lasts until it does something else, or
 * tells the result. */
static enum tv_ft_taken on_i2c(struct tv_ft_part *part, const struct tv_ft_line *line,
                               const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_bytes adapter = tv_ft_behind(line->details, "i2c-");
    char name[48];
    if (adapter.data == NULL)
        return TV_FT_MALFORMED;
    adapter = tv_ft_word(adapter);
    int length =
        snprintf(name, sizeof name, "i2c adapter %.*s",
                 (int)(adapter.length < 8 ? adapter.length : 8), (const char *)adapter.data);
    uint32_t task =
        tv_ft_kernel_line(part, (struct tv_bytes){(uint8_t *)name, (size_t)length}, TV_NONE);
    if (event->title)
        tv_ft_kernel_turn(part, at, task, frame_of(part, event, (struct tv_bytes){NULL, 0}));
    else
        tv_ft_kernel_end(part, at, task, TV_NONE);
    return TV_FT_TAKEN;
}

#define ON_CPU(event, act, line_of, title_of, key_of)                                              \
    {                                                                                              \
        .name = (event), .handle = (act), .series = (line_of), .title = (title_of),                \
        .key = (key_of)                                                                            \
    }
#define ON_TASK(event, act, title_of, category_of, key_of)                                         \
    {                                                                                              \
        .name = (event), .handle = (act), .title = (title_of), .category = (category_of),          \
        .key = (key_of)                                                                            \
    }
#define POINT(event, line_of, title_of, key_of)                                                    \
    {                                                                                              \
        .name = (event), .handle = point, .series = (line_of), .title = (title_of),                \
        .key = (key_of)                                                                            \
    }
#define CPUFREQ(event) POINT(event, "cpufreq", event, NULL)
#define I915(event) POINT(event, "i915_gem", event ":*", "obj")
#define I915_RING(event)                                                                           \
    {                                                                                              \
        .name = (event), .handle = on_ring, .title = event ":*"                                    \
    }

const struct tv_ft_event tv_ft_kernel_events[] = {
    ON_CPU("irq_handler_entry", begin_on_cpu, "irqs", "IRQ (*)", "name="),
    ON_CPU("irq_handler_exit", end_on_cpu, "irqs", NULL, NULL),
    ON_CPU("softirq_entry", begin_on_cpu, "softirq", "*", "action="),
    ON_CPU("softirq_exit", end_on_cpu, "softirq", NULL, NULL),
    ON_CPU("ipi_entry", begin_on_cpu, "irqs", "IPI (*)", "("),
    ON_CPU("ipi_exit", end_on_cpu, "irqs", NULL, NULL),
    ON_CPU("preempt_disable", begin_critical, "preempt", NULL, NULL),
    ON_CPU("preempt_enable", end_on_cpu, "preempt", NULL, NULL),
    ON_CPU("irq_disable", begin_critical, "irqoff", NULL, NULL),
    ON_CPU("irq_enable", end_on_cpu, "irqoff", NULL, NULL),
    ON_TASK("workqueue_execute_start", begin_on_task, "*", NULL, ": function "),
    ON_TASK("workqueue_execute_end", end_on_task, NULL, NULL, NULL),
    ON_TASK("graph_ent", begin_on_task, "*", NULL, "func="),
    ON_TASK("graph_ret", end_on_task, "*", NULL, "func="),
    ON_TASK("binder_lock", begin_on_task, "binder lock waiting", "binder", NULL),
    ON_TASK("binder_locked", got_lock, NULL, "binder", NULL),
    ON_TASK("binder_unlock", end_on_task, "binder lock held", "binder", NULL),
    ON_TASK("mm_vmscan_direct_reclaim_begin", begin_on_task, "direct reclaim", "memreclaim", NULL),
    ON_TASK("mm_vmscan_direct_reclaim_end", end_on_task, "direct reclaim", "memreclaim", NULL),
    ON_TASK("sync_wait", wait_for_fence, "fence_wait(\"*\")", NULL, NULL),
    ON_TASK("dma_fence_wait_start", begin_on_task, "dma_fence_wait(\"*\")", NULL, "timeline="),
    ON_TASK("dma_fence_wait_end", end_on_task, "dma_fence_wait(\"*\")", NULL, "timeline="),
    ON_TASK("fence_wait_start", begin_on_task, "dma_fence_wait(\"*\")", NULL, "timeline="),
    ON_TASK("fence_wait_end", end_on_task, "dma_fence_wait(\"*\")", NULL, "timeline="),
    ON_TASK("lowmemory_kill", point, "low memory kill", "lowmemory", NULL),
    POINT("drm_vblank_event", "drm_vblank", "vblank:*", "crtc"),
    POINT("cpufreq_interactive_boost", "cpufreq_boost", "cpufreq_interactive_boost", NULL),
    POINT("cpufreq_interactive_unboost", "cpufreq_boost", "cpufreq_interactive_unboost", NULL),
    CPUFREQ("cpufreq_interactive_up"),
    CPUFREQ("cpufreq_interactive_down"),
    CPUFREQ("cpufreq_interactive_already"),
    CPUFREQ("cpufreq_interactive_notyet"),
    CPUFREQ("cpufreq_interactive_setspeed"),
    CPUFREQ("cpufreq_interactive_target"),
    I915("i915_gem_object_clflush"),
    I915("i915_gem_object_create"),
    I915("i915_gem_object_destroy"),
    I915("i915_gem_object_bind"),
    I915("i915_gem_object_unbind"),
    I915("i915_gem_object_change_domain"),
    I915("i915_gem_object_pread"),
    I915("i915_gem_object_pwrite"),
    I915("i915_gem_object_fault"),
    I915_RING("i915_gem_request_add"),
    I915_RING("i915_gem_request_complete"),
    I915_RING("i915_gem_request_retire"),
    I915_RING("i915_gem_request_wait_begin"),
    I915_RING("i915_gem_request_wait_end"),
    I915_RING("i915_gem_ring_wait_begin"),
    I915_RING("i915_gem_ring_wait_end"),
    I915_RING("i915_gem_ring_dispatch"),
    I915_RING("i915_gem_ring_flush"),
    {.name = "i915_reg_rw", .handle = on_register},
    POINT("intel_gpu_freq_change", "i915_gpu_freq", "intel_gpu_freq_change", NULL),
    ON_TASK("i2c_write", on_i2c, "i2c write", NULL, NULL),
    ON_TASK("i2c_read", on_i2c, "i2c read", NULL, NULL),
    ON_TASK("i2c_reply", on_i2c, "i2c reply", NULL, NULL),
    ON_TASK("i2c_result", on_i2c, NULL, NULL, NULL),
    {.name = NULL},
};
