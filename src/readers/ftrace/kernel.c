/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.c - slices of the kernel: interrupts, work, locks, memory, functions, requests of disks.
 *
 *     <idle>-0 [001] d.h. 12.5: irq_handler_entry: irq=27 name=arch_timer
 *         --> begin "IRQ (arch_timer)" on the pseudo-thread "irqs cpu 1"
 *     kworker-9 [000] .... 12.6: workqueue_execute_start: work struct ...: function flush
 *         --> begin "flush" on thread 9
 *     mmcqd-7 [000] .... 12.7: block_rq_issue: 179,0 WS 0 () 3427120 + 16 [mmcqd/0]
 *         --> begin of the async slice "write sync", ended by block_rq_complete of the same sectors
 *
 * Interrupts and the like are on pseudo-threads, because they do not belong to the thread that they
 * interrupt; the others are on the thread that did the work.
 *
 * The tables name handler, title ('*' is replaced by a word of the line), category, and `key`, the
 * text in front of that word. An end closes the innermost slice, or the one with its title. The
 * kernel's include/trace/events defines the lines; names are those of Trace Viewer.
 */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/ftrace/chunk.h"
#include "readers/ftrace/decoded.h"
#include "readers/ftrace/fields.h"

/* Longer titles are cut. */
#define LONGEST_NAME 160

/* Return the frame with the name event->title, in which `text` replaces the '*'. */
static uint32_t ft_kernel_frame(struct tv_ft_chunk *chunk, const struct tv_ft_event *event,
                                struct tv_bytes text)
{
    char name[LONGEST_NAME];
    size_t length = tv_ft_format_title(name, sizeof name, event->title, text);
    return tv_ft_chunk_frame(chunk, (struct tv_bytes){(const uint8_t *)name, length},
                             event->category ? event->category : "");
}

/* Return the pseudo-thread "event->series cpu N". The series is a constant, so its address and
 * the processor identify the name without a hash of the text. */
static uint32_t ft_kernel_cpu_thread(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                                     const struct tv_ft_event *event)
{
    uint64_t key = (uint64_t)(uintptr_t)event->series << 16 | at->cpu;
    uint32_t line = tv_map_find(&chunk->cpu_lines, key);
    if (line == TV_NONE) {
        line = tv_ft_chunk_pseudo_thread(chunk, tv_bytes_of(event->series), at->cpu);
        tv_map_set(&chunk->cpu_lines, key, line);
    }
    return line;
}

static void ft_kernel_begin_on_cpu(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                                   const struct tv_ft_event *event, struct tv_bytes text)
{
    while (text.length > 0 &&
           (text.data[text.length - 1] == ']' || text.data[text.length - 1] == ')'))
        text.length--;
    tv_ft_chunk_begin_kernel(chunk, at, ft_kernel_cpu_thread(chunk, at, event),
                             ft_kernel_frame(chunk, event, text));
}

/* Begin a slice on the processor's pseudo-thread: "irq=27 name=arch_timer", "vec=9
 * [action=RCU]", "(Rescheduling interrupts)". */
static enum tv_ft_taken ft_handle_begin_on_cpu(struct tv_ft_chunk *chunk,
                                               const struct tv_ft_line *line,
                                               const struct tv_ft_at *at,
                                               const struct tv_ft_event *event)
{
    struct tv_bytes text = line->details;
    if (event->key) {
        text = tv_ft_after(text, event->key);
        if (text.data == NULL)
            return TV_FT_MALFORMED;
    }
    ft_kernel_begin_on_cpu(chunk, at, event, text);
    return TV_FT_TAKEN;
}

static enum tv_ft_taken ft_handle_end_on_cpu(struct tv_ft_chunk *chunk,
                                             const struct tv_ft_line *line,
                                             const struct tv_ft_at *at,
                                             const struct tv_ft_event *event)
{
    (void)line;
    tv_ft_chunk_end_kernel(chunk, at, ft_kernel_cpu_thread(chunk, at, event), TV_NONE);
    return TV_FT_TAKEN;
}

/* Begin a slice "foo+0x10: schedule+0x30" for "caller=schedule+0x30 parent=foo+0x10". */
static enum tv_ft_taken ft_handle_begin_critical(struct tv_ft_chunk *chunk,
                                                 const struct tv_ft_line *line,
                                                 const struct tv_ft_at *at,
                                                 const struct tv_ft_event *event)
{
    struct tv_bytes caller = tv_ft_arg(line->details, "caller");
    struct tv_bytes parent = tv_ft_arg(line->details, "parent");
    char name[LONGEST_NAME];
    if (caller.data == NULL || parent.data == NULL || caller.length > 70 || parent.length > 70)
        return TV_FT_MALFORMED;
    int length = snprintf(name, sizeof name, "%.*s: %.*s", (int)parent.length,
                          (const char *)parent.data, (int)caller.length, (const char *)caller.data);
    tv_ft_chunk_begin_kernel(
        chunk, at, ft_kernel_cpu_thread(chunk, at, event),
        tv_ft_chunk_frame(chunk, (struct tv_bytes){(uint8_t *)name, (size_t)length}, ""));
    return TV_FT_TAKEN;
}

/* Begin a slice on the thread, with the word after event->key in its name. */
static enum tv_ft_taken ft_handle_begin_on_task(struct tv_ft_chunk *chunk,
                                                const struct tv_ft_line *line,
                                                const struct tv_ft_at *at,
                                                const struct tv_ft_event *event)
{
    struct tv_bytes text = {NULL, 0};
    if (event->key) {
        text = tv_ft_after(line->details, event->key);
        if (text.data == NULL)
            return TV_FT_MALFORMED;
        text = tv_ft_first_word(text);
    }
    tv_ft_chunk_begin_kernel(chunk, at, at->task, ft_kernel_frame(chunk, event, text));
    return TV_FT_TAKEN;
}

/* End a slice of the thread; without a title the innermost one of the kernel. */
static enum tv_ft_taken ft_handle_end_on_task(struct tv_ft_chunk *chunk,
                                              const struct tv_ft_line *line,
                                              const struct tv_ft_at *at,
                                              const struct tv_ft_event *event)
{
    uint32_t frame = TV_NONE;
    if (event->key) {
        struct tv_bytes text = tv_ft_after(line->details, event->key);
        if (text.data == NULL)
            return TV_FT_MALFORMED;
        frame = ft_kernel_frame(chunk, event, tv_ft_first_word(text));
    } else if (event->title) {
        frame = ft_kernel_frame(chunk, event, (struct tv_bytes){NULL, 0});
    }
    tv_ft_chunk_end_kernel(chunk, at, at->task, frame);
    return TV_FT_TAKEN;
}

/* Handle a lock that was taken: waiting ends, holding begins. */
static enum tv_ft_taken ft_handle_lock_taken(struct tv_ft_chunk *chunk,
                                             const struct tv_ft_line *line,
                                             const struct tv_ft_at *at,
                                             const struct tv_ft_event *event)
{
    (void)line;
    tv_ft_chunk_end_kernel(
        chunk, at, at->task,
        tv_ft_chunk_frame(chunk, TV_BYTES("binder lock waiting"), event->category));
    tv_ft_chunk_begin_kernel(
        chunk, at, at->task,
        tv_ft_chunk_frame(chunk, TV_BYTES("binder lock held"), event->category));
    return TV_FT_TAKEN;
}

/* Handle "begin name=SurfaceView:6 state=1" and "end name=...". */
static enum tv_ft_taken ft_handle_fence_wait(struct tv_ft_chunk *chunk,
                                             const struct tv_ft_line *line,
                                             const struct tv_ft_at *at,
                                             const struct tv_ft_event *event)
{
    struct tv_bytes name = tv_ft_arg(line->details, "name");
    if (name.data == NULL)
        return TV_FT_MALFORMED;
    uint32_t frame = ft_kernel_frame(chunk, event, name);
    if (tv_bytes_starts_with(line->details, TV_BYTES("begin")))
        tv_ft_chunk_begin_kernel(chunk, at, at->task, frame);
    else
        tv_ft_chunk_end_kernel(chunk, at, at->task, frame);
    return TV_FT_TAKEN;
}

/* Add a slice without length to the pseudo-thread event->series, or to the thread. */
static enum tv_ft_taken ft_handle_point(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                                        const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_bytes text = {NULL, 0};
    if (event->key) {
        text = tv_ft_arg(line->details, event->key);
        if (text.data == NULL)
            return TV_FT_MALFORMED;
    }
    uint32_t task = event->series
                        ? tv_ft_chunk_pseudo_thread(chunk, tv_bytes_of(event->series), TV_NONE)
                        : at->task;
    tv_ft_chunk_add_kernel_slice(chunk, at, task, ft_kernel_frame(chunk, event, text), 0);
    return TV_FT_TAKEN;
}

/* Handle "dev=0, ring=1, seqno=1178364", an event of a ring of a device. */
static enum tv_ft_taken ft_handle_ring(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                                       const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    int64_t device, ring;
    char name[48];
    if (!tv_ft_arg_number(line->details, "dev", &device) ||
        !tv_ft_arg_number(line->details, "ring", &ring))
        return TV_FT_MALFORMED;
    int length = snprintf(name, sizeof name, "%lld.%lld", (long long)device, (long long)ring);
    struct tv_bytes text = {(const uint8_t *)name, (size_t)length};
    tv_ft_chunk_add_kernel_slice(
        chunk, at, tv_ft_chunk_pseudo_thread(chunk, TV_BYTES("i915_gem_ring"), TV_NONE),
        ft_kernel_frame(chunk, event, text), 0);
    return TV_FT_TAKEN;
}

/* Handle "write reg=0x100030, len=8, val=(0xfca9001, 0xfce8007)". */
static enum tv_ft_taken ft_handle_register(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                                           const struct tv_ft_at *at,
                                           const struct tv_ft_event *event)
{
    struct tv_bytes act = tv_ft_first_word(line->details), place = tv_ft_arg(line->details, "reg");
    char name[64];
    (void)event;
    if (act.length > 16 || place.length == 0 || place.length > 24)
        return TV_FT_MALFORMED;
    int length = snprintf(name, sizeof name, "%.*s:%.*s", (int)act.length, (const char *)act.data,
                          (int)place.length, (const char *)place.data);
    struct tv_bytes text = {(const uint8_t *)name, (size_t)length};
    tv_ft_chunk_add_kernel_slice(chunk, at,
                                 tv_ft_chunk_pseudo_thread(chunk, TV_BYTES("i915_reg"), TV_NONE),
                                 tv_ft_chunk_frame(chunk, text, ""), 0);
    return TV_FT_TAKEN;
}

/* Handle "i2c-3 #0 a=020 f=0000 l=2 [15-00]". An action of an adapter lasts until its next one,
 * or until its result. */
static enum tv_ft_taken ft_handle_i2c(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                                      const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_bytes adapter = tv_ft_after(line->details, "i2c-");
    char name[48];
    if (adapter.data == NULL)
        return TV_FT_MALFORMED;
    adapter = tv_ft_first_word(adapter);
    int length =
        snprintf(name, sizeof name, "i2c adapter %.*s",
                 (int)(adapter.length < 8 ? adapter.length : 8), (const char *)adapter.data);
    uint32_t task = tv_ft_chunk_pseudo_thread(
        chunk, (struct tv_bytes){(uint8_t *)name, (size_t)length}, TV_NONE);
    if (event->title)
        tv_ft_chunk_switch_kernel(chunk, at, task,
                                  ft_kernel_frame(chunk, event, (struct tv_bytes){NULL, 0}));
    else
        tv_ft_chunk_end_kernel(chunk, at, task, TV_NONE);
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
        .name = (event), .handle = ft_handle_point, .series = (line_of), .title = (title_of),      \
        .key = (key_of)                                                                            \
    }
#define CPUFREQ(event) POINT(event, "cpufreq", event, NULL)
#define I915(event) POINT(event, "i915_gem", event ":*", "obj")
#define I915_RING(event)                                                                           \
    {                                                                                              \
        .name = (event), .handle = ft_handle_ring, .title = event ":*"                             \
    }

const struct tv_ft_event tv_ft_kernel_events[] = {
    ON_CPU("irq_handler_entry", ft_handle_begin_on_cpu, "irqs", "IRQ (*)", "name="),
    ON_CPU("irq_handler_exit", ft_handle_end_on_cpu, "irqs", NULL, NULL),
    ON_CPU("softirq_entry", ft_handle_begin_on_cpu, "softirq", "*", "action="),
    ON_CPU("softirq_exit", ft_handle_end_on_cpu, "softirq", NULL, NULL),
    ON_CPU("ipi_entry", ft_handle_begin_on_cpu, "irqs", "IPI (*)", "("),
    ON_CPU("ipi_exit", ft_handle_end_on_cpu, "irqs", NULL, NULL),
    ON_CPU("preempt_disable", ft_handle_begin_critical, "preempt", NULL, NULL),
    ON_CPU("preempt_enable", ft_handle_end_on_cpu, "preempt", NULL, NULL),
    ON_CPU("irq_disable", ft_handle_begin_critical, "irqoff", NULL, NULL),
    ON_CPU("irq_enable", ft_handle_end_on_cpu, "irqoff", NULL, NULL),
    ON_TASK("workqueue_execute_start", ft_handle_begin_on_task, "*", NULL, ": function "),
    ON_TASK("workqueue_execute_end", ft_handle_end_on_task, NULL, NULL, NULL),
    ON_TASK("graph_ent", ft_handle_begin_on_task, "*", NULL, "func="),
    ON_TASK("graph_ret", ft_handle_end_on_task, "*", NULL, "func="),
    ON_TASK("binder_lock", ft_handle_begin_on_task, "binder lock waiting", "binder", NULL),
    ON_TASK("binder_locked", ft_handle_lock_taken, NULL, "binder", NULL),
    ON_TASK("binder_unlock", ft_handle_end_on_task, "binder lock held", "binder", NULL),
    ON_TASK("mm_vmscan_direct_reclaim_begin", ft_handle_begin_on_task, "direct reclaim",
            "memreclaim", NULL),
    ON_TASK("mm_vmscan_direct_reclaim_end", ft_handle_end_on_task, "direct reclaim", "memreclaim",
            NULL),
    ON_TASK("sync_wait", ft_handle_fence_wait, "fence_wait(\"*\")", NULL, NULL),
    ON_TASK("dma_fence_wait_start", ft_handle_begin_on_task, "dma_fence_wait(\"*\")", NULL,
            "timeline="),
    ON_TASK("dma_fence_wait_end", ft_handle_end_on_task, "dma_fence_wait(\"*\")", NULL,
            "timeline="),
    ON_TASK("fence_wait_start", ft_handle_begin_on_task, "dma_fence_wait(\"*\")", NULL,
            "timeline="),
    ON_TASK("fence_wait_end", ft_handle_end_on_task, "dma_fence_wait(\"*\")", NULL, "timeline="),
    ON_TASK("lowmemory_kill", ft_handle_point, "low memory kill", "lowmemory", NULL),
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
    {.name = "i915_reg_rw", .handle = ft_handle_register},
    POINT("intel_gpu_freq_change", "i915_gpu_freq", "intel_gpu_freq_change", NULL),
    ON_TASK("i2c_write", ft_handle_i2c, "i2c write", NULL, NULL),
    ON_TASK("i2c_read", ft_handle_i2c, "i2c read", NULL, NULL),
    ON_TASK("i2c_reply", ft_handle_i2c, "i2c reply", NULL, NULL),
    ON_TASK("i2c_result", ft_handle_i2c, NULL, NULL, NULL),
    {.name = NULL},
};

/* ---- Disks ---- */

/* Add a half of an async slice; event->series and the id tell which halves belong together. */
static void ft_disk_add_async(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                              enum tv_ft_async_kind kind, const struct tv_ft_event *event,
                              struct tv_bytes id)
{
    struct tv_ft_async async = {
        .kind = kind,
        .key = tv_ft_chunk_async_key(chunk, event->series, TV_FT_NO_ID, id,
                                     (struct tv_bytes){NULL, 0}),
        .id = tv_ft_chunk_string(chunk, id),
        .frame = tv_ft_chunk_frame(chunk, tv_bytes_of(event->title), event->category),
    };
    tv_ft_chunk_add_async(chunk, at, &async);
}

/* Write the name of a request by its letters, as blk_fill_rwbs writes them: "WS" is write, sync.
 * An F before the letter of the operation is a flush; after it, it forces the data onto the
 * medium. */
static void ft_disk_format_request(struct tv_bytes letters, char *name, size_t size)
{
    static const char operations[] = "RWDN", more[] = "FASM";
    static const char *const words[] = {"read", "write", "discard", "none"}, *const additions[] = {
                                                                                 " fua", " ahead",
                                                                                 " sync", " meta"};
    bool flush = letters.length > 1 && letters.data[0] == 'F';
    size_t length = 0;
    if (flush) {
        letters.data++;
        letters.length--;
    }
    name[0] = '\0';
    for (size_t i = 0; i < TV_COUNT(words); i++)
        if (memchr(letters.data, operations[i], letters.length))
            length += (size_t)snprintf(name + length, size - length, "%s", words[i]);
    if (flush)
        length += (size_t)snprintf(name + length, size - length, " flush");
    for (size_t i = 0; i < TV_COUNT(additions); i++)
        if (memchr(letters.data, more[i], letters.length))
            length += (size_t)snprintf(name + length, size - length, "%s", additions[i]);
}

/* Handle "179,0 WS 0 () 3427120 + 16 [mmcqd/0]" and, at the end of the request, "179,0 WS ()
 * 3427120 + 16 [0]". Device, sector and number of sectors identify the request. */
static enum tv_ft_taken ft_handle_block_request(struct tv_ft_chunk *chunk,
                                                const struct tv_ft_line *line,
                                                const struct tv_ft_at *at,
                                                const struct tv_ft_event *event)
{
    struct tv_bytes device = tv_ft_first_word(line->details);
    struct tv_bytes rest = {device.data + device.length, line->details.length - device.length};
    if (device.length < line->details.length && rest.data[0] == ',') {
        /* tv_ft_first_word stopped at the comma of "179,0". */
        struct tv_bytes minor = tv_ft_first_word(rest);
        device.length = (size_t)(minor.data + minor.length - device.data);
        rest = (struct tv_bytes){
            minor.data + minor.length,
            (size_t)(line->details.data + line->details.length - (minor.data + minor.length))};
    }
    struct tv_bytes letters = tv_ft_first_word(rest), place = tv_ft_after(rest, ") ");
    char id[96], name[64];
    if (device.length == 0 || letters.length == 0 || place.data == NULL || device.length > 24)
        return TV_FT_MALFORMED;
    size_t length = 0;
    while (length < place.length && length < 48 && place.data[length] != '[')
        length++;
    length = (size_t)snprintf(id, sizeof id, "%.*s-%.*s", (int)device.length,
                              (const char *)device.data, (int)length, (const char *)place.data);
    ft_disk_format_request(letters, name, sizeof name);
    struct tv_ft_event named = *event;
    named.title = name;
    ft_disk_add_async(chunk, at, event->value[0] == 'B' ? TV_FT_ASYNC_BEGIN : TV_FT_ASYNC_END,
                      &named, (struct tv_bytes){(uint8_t *)id, length});
    return TV_FT_TAKEN;
}

/* Return the value of "key=value", of "key = value" as f2fs writes it, or of "key value" as ext4
 * does. */
static struct tv_bytes ft_disk_find_value(struct tv_bytes details, const char *key)
{
    char mark[16];
    struct tv_bytes value = tv_ft_arg(details, key);
    if (value.data)
        return value;
    snprintf(mark, sizeof mark, "%s ", key);
    return tv_ft_first_word(tv_ft_after(details, mark));
}

/* Return "259,1" from "dev 259,1" or "dev = (259,14)". */
static struct tv_bytes ft_disk_parse_device(struct tv_bytes details)
{
    struct tv_bytes text = tv_ft_after(details, "dev ");
    size_t length = 0;
    while (text.length > 0 && (text.data[0] < '0' || text.data[0] > '9')) {
        text.data++;
        text.length--;
    }
    while (length < text.length && text.data[length] != ' ' && text.data[length] != ')')
        length++;
    return (struct tv_bytes){text.data, length};
}

/* Handle work on a file, which device, inode and the value of event->key (if there is one)
 * identify. */
static enum tv_ft_taken ft_handle_file_work(struct tv_ft_chunk *chunk,
                                            const struct tv_ft_line *line,
                                            const struct tv_ft_at *at,
                                            const struct tv_ft_event *event)
{
    struct tv_bytes device = ft_disk_parse_device(line->details),
                    inode = ft_disk_find_value(line->details, "ino");
    struct tv_bytes place = {NULL, 0};
    char id[96];
    if (event->key)
        place = ft_disk_find_value(line->details, event->key);
    if (device.length == 0 || device.length > 24 || inode.length == 0 || inode.length > 24 ||
        place.length > 24)
        return TV_FT_MALFORMED;
    int length = snprintf(id, sizeof id, "%.*s-%.*s%s%.*s", (int)device.length,
                          (const char *)device.data, (int)inode.length, (const char *)inode.data,
                          place.length ? "-" : "", (int)place.length, (const char *)place.data);
    /* The begin may show that only the data is written. */
    struct tv_bytes data_only = ft_disk_find_value(line->details, "datasync");
    struct tv_ft_event named = *event;
    if (data_only.length == 1 && data_only.data[0] == '1')
        named.title = "fdatasync";
    ft_disk_add_async(chunk, at, event->value[0] == 'B' ? TV_FT_ASYNC_BEGIN : TV_FT_ASYNC_END,
                      &named, (struct tv_bytes){(uint8_t *)id, (size_t)length});
    return TV_FT_TAKEN;
}

#define WORK(event, what, title_of, category_of, half, key_of)                                     \
    {                                                                                              \
        .name = (event), .handle = ft_handle_file_work, .series = (what), .title = (title_of),     \
        .category = (category_of), .value = (half), .key = (key_of)                                \
    }

/* The first rows of the table above. */
enum { IRQ_BEGIN, IRQ_END, SOFTIRQ_BEGIN, SOFTIRQ_END };

void tv_ft_take_irq_begin(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, bool soft,
                          struct tv_bytes name)
{
    ft_kernel_begin_on_cpu(chunk, at, &tv_ft_kernel_events[soft ? SOFTIRQ_BEGIN : IRQ_BEGIN], name);
}

void tv_ft_take_irq_end(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, bool soft)
{
    const struct tv_ft_event *event = &tv_ft_kernel_events[soft ? SOFTIRQ_END : IRQ_END];
    tv_ft_chunk_end_kernel(chunk, at, ft_kernel_cpu_thread(chunk, at, event), TV_NONE);
}

const struct tv_ft_event tv_ft_disk_events[] = {
    {.name = "block_rq_issue",
     .handle = ft_handle_block_request,
     .series = "block",
     .category = "block",
     .value = "B"},
    {.name = "block_rq_complete",
     .handle = ft_handle_block_request,
     .series = "block",
     .category = "block",
     .value = "E"},
    WORK("ext4_da_write_begin", "ext4 write", "ext4_write", "ext4", "B", "pos"),
    WORK("ext4_da_write_end", "ext4 write", "ext4_write", "ext4", "E", "pos"),
    WORK("ext4_sync_file_enter", "ext4 sync", "fsync", "ext4", "B", NULL),
    WORK("ext4_sync_file_exit", "ext4 sync", "fsync", "ext4", "E", NULL),
    WORK("f2fs_write_begin", "f2fs write", "f2fs_write", "f2fs", "B", "pos"),
    WORK("f2fs_write_end", "f2fs write", "f2fs_write", "f2fs", "E", "pos"),
    WORK("f2fs_sync_file_enter", "f2fs sync", "fsync", "f2fs", "B", NULL),
    WORK("f2fs_sync_file_exit", "f2fs sync", "fsync", "f2fs", "E", NULL),
    {.name = NULL},
};
