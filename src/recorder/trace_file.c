/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_file.c - from a recording's buffers to the bytes of a .trace.
 *
 * Records are sorted by time within a thread, so the file's order is a merge: a heap of one cursor
 * a thread.  Of the header, the number of records must be known before the first is written, hence
 * a walk ahead that also resolves addresses.
 */
#include "recorder/trace_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/pages.h"
#include "recorder/recording.h"
#include "wire/method_trace.h"

#define NS_PER_US 1000u
#define LAST_US UINT64_C(0xFFFFFFFF) /* 71 minutes 35 seconds */

/* Goes through a thread's records. */
struct cursor {
    uint64_t ns; /* of `record`, for the heap */
    uint64_t *record;
    uint32_t thread, chunk, at;
    uint32_t chunks_left; /* a spooled chain may be a ring by an accident */
};

static struct cursor begin(const struct tv_trace_writer *job, uint32_t thread)
{
    return (struct cursor){.thread = thread,
                           .chunk = job->area->threads[thread - 1].first_chunk,
                           .chunks_left = atomic_load(&job->area->head->next_chunk)};
}

/* The next record that belongs to the file; false: there is none. */
static bool advance(const struct tv_trace_writer *job, struct cursor *cursor)
{
    while (cursor->chunk != 0 && cursor->chunks_left > 0) {
        const struct tv_buffer_chunk *chunk = &job->area->chunks[cursor->chunk - 1];
        while (cursor->at < chunk->count) {
            cursor->record = tv_trace_buffer_record(job->area, chunk->first + cursor->at++);
            if (cursor->record[0] == 0)
                break;
            if (cursor->record[0] != TV_WORD_LEFT_OUT)
                return true;
        }
        cursor->chunk = chunk->next;
        cursor->at = 0;
        cursor->chunks_left--;
    }
    return false;
}

static bool has_wall(const struct tv_trace_writer *job)
{
    return job->area->head->clock != TV_RECORDING_CPU;
}

/* Since the start, or since the thread's start for CPU time. */
static uint64_t time_of(const struct tv_trace_writer *job, uint32_t thread, const uint64_t *record)
{
    if (has_wall(job))
        return tv_clock_to_ns(&job->scale, record[1]);
    uint64_t start = job->area->threads[thread - 1].cpu_start;
    return record[1] > start ? record[1] - start : 0;
}

static bool make_used(struct tv_trace_writer *job)
{
    size_t needed = job->methods->count / 8 + (size_t)1;
    if (needed <= job->used_size)
        return true;
    size_t size = job->used_size ? job->used_size : 4096;
    while (size < needed)
        size *= 2;
    uint8_t *used = tv_mmap_grow(job->used, job->used_size, size);
    if (!used)
        return false;
    job->used = used;
    job->used_size = size;
    return true;
}

/* Marks a method; true: for the first time. */
static bool use(struct tv_trace_writer *job, uint32_t number)
{
    uint8_t bit = (uint8_t)(1u << (number & 7));
    if (job->used[number >> 3] & bit)
        return false;
    job->used[number >> 3] |= bit;
    return true;
}

/* Begin a chunk: what lay at an address may be another file than in the one before. */
static void begin_chunk(struct tv_trace_writer *job, uint32_t chunk)
{
    const struct tv_buffer_chunk *from = &job->area->chunks[chunk - 1];
    memset(job->cached, 0, sizeof job->cached);
    job->cached_until =
        from->count > 0 ? tv_trace_buffer_record(job->area, from->first + from->count - 1)[1] : 0;
}

/* Which of the files that lay at an address it is of, the time tells: CPU time does not. */
static uint64_t key_of(const struct tv_trace_writer *job, uint64_t address, uint64_t ticks)
{
    return job->key ? job->key(address, has_wall(job) ? ticks : 0) : address;
}

/* The number of the method at an address; 0: none, or there is no memory for it.  A file lies at an
 * address for one span of time: when it lay there at the record's time and at the chunk's last one,
 * it is that of all records between. */
static uint32_t number_address(struct tv_trace_writer *job, const uint64_t *record, uint64_t address)
{
    size_t slot = (size_t)(address * 0x9E3779B97F4A7C15u >> 32) % TV_TRACE_CACHE_SIZE;
    if (job->cached[slot].number != 0 && job->cached[slot].address == address)
        return job->cached[slot].number;
    uint64_t key = key_of(job, address, record[1]);
    uint32_t number = tv_address_table_find_or_add(job->addresses, job->methods, job->namer, key);
    if (number != 0 && key_of(job, address, job->cached_until) == key) {
        job->cached[slot].address = address;
        job->cached[slot].number = number;
    }
    if (key == 0 || (number != 0 && make_used(job)))
        return number;
    atomic_store(&job->area->head->overflow, 1);
    job->unnamed++;
    return 0;
}

/* An address becomes its method's number.  What has no method is left out. */
static uint32_t resolve(struct tv_trace_writer *job, uint64_t *record)
{
    uint64_t word = record[0];
    uint32_t action = (uint32_t)(word & TV_MT_ACTION_MASK);
    uint64_t number = (word & ~TV_WORD_ADDRESS) >> 2;
    if (word & TV_WORD_ADDRESS)
        number = number_address(job, record, number);
    if (number == 0 || number > job->methods->count || action == TV_MT_ACTION_UNDEFINED ||
        !make_used(job)) {
        record[0] = TV_WORD_LEFT_OUT;
        return 0;
    }
    record[0] = number << 2 | action;
    return (uint32_t)number;
}

static void prepare_thread(struct tv_trace_writer *job, uint32_t thread, bool trim)
{
    struct cursor cursor = begin(job, thread);
    uint32_t chunk = 0;
    uint64_t depth = 0;
    while (advance(job, &cursor)) {
        if (cursor.chunk != chunk)
            begin_chunk(job, chunk = cursor.chunk);
        uint32_t number = resolve(job, cursor.record);
        if (number == 0)
            continue;
        bool enter = tv_mt_word_action((uint32_t)cursor.record[0]) == TV_MT_ENTER;
        uint64_t ns = time_of(job, thread, cursor.record);
        uint64_t since = ns > job->shift_ns ? ns - job->shift_ns : 0;
        bool late = since / NS_PER_US > LAST_US;
        if (late)
            atomic_store(&job->area->head->overflow, 1);
        if (late || (trim && !enter && depth == 0)) {
            cursor.record[0] = TV_WORD_LEFT_OUT;
            continue;
        }
        depth = enter ? depth + 1 : depth - (depth > 0);
        use(job, number);
        job->written++;
    }
}

/* A ring that went on for so long that its times would not fit starts with its oldest record. */
static uint64_t find_shift(const struct tv_trace_writer *job)
{
    uint64_t first = UINT64_MAX;
    if (job->area->head->full != TV_RECORDING_RING || !has_wall(job) ||
        job->end_ns / NS_PER_US <= LAST_US)
        return 0;
    for (uint32_t i = 1; i <= atomic_load(&job->area->head->threads); i++) {
        struct cursor cursor = begin(job, i);
        if (!advance(job, &cursor))
            continue;
        uint64_t ns = time_of(job, i, cursor.record);
        first = ns < first ? ns : first;
    }
    return first == UINT64_MAX ? 0 : first;
}

static uint16_t version_of(const struct tv_trace_writer *job)
{
    return job->area->head->clock == TV_RECORDING_DUAL ? TV_MT_V3 : TV_MT_V2;
}

static void put_data_header(struct tv_trace_writer *job, uint16_t version)
{
    struct tv_mt_header header = {
        .version = version,
        .data_offset = TV_MT_HEADER_SIZE,
        .start = job->area->head->start_us + job->shift_ns / NS_PER_US,
    };
    if (tv_mt_plain_version(version) == TV_MT_V3)
        header.record_size = TV_MT_RECORD_SIZE_V3;
    tv_mt_put_header(tv_output_buffer_reserve(job->sink, TV_MT_HEADER_SIZE), &header);
    job->sink->used += TV_MT_HEADER_SIZE;
}

static void put_keys(struct tv_trace_writer *job)
{
    static const char *const clocks[] = {TV_MT_CLOCK_WALL, TV_MT_CLOCK_THREAD_CPU,
                                         TV_MT_CLOCK_DUAL};
    const struct tv_buffer_header *head = job->area->head;
    uint64_t elapsed = job->end_ns > job->shift_ns ? job->end_ns - job->shift_ns : 0;
    tv_output_buffer_print(job->sink, TV_MT_SECTION_VERSION "\n%u\n", version_of(job));
    tv_output_buffer_print(job->sink, TV_MT_KEY_OVERFLOW "=%s\n",
                         atomic_load(&job->area->head->overflow) ? "true" : "false");
    tv_output_buffer_print(job->sink, TV_MT_KEY_CLOCK "=%s\n", clocks[head->clock]);
    tv_output_buffer_print(job->sink, TV_MT_KEY_ELAPSED_US "=%llu\n",
                         (unsigned long long)(elapsed / NS_PER_US));
    tv_output_buffer_print(job->sink, TV_MT_KEY_RECORDS "=%llu\n", (unsigned long long)job->written);
    tv_output_buffer_print(job->sink, TV_MT_KEY_OVERHEAD_NS "=%u\n", head->overhead_ns);
    if (head->least_ns > 0)
        tv_output_buffer_print(job->sink, TV_MT_KEY_LEAST_NS "=%llu\n",
                             (unsigned long long)head->least_ns);
    if (head->trigger[0])
        tv_output_buffer_print(job->sink, TV_MT_KEY_TRIGGER "=%s\n", head->trigger);
    if (head->slow_ns > 0)
        tv_output_buffer_print(job->sink,
                             TV_MT_KEY_SLOW_CALL "=%s\n" TV_MT_KEY_SLOW_NS
                                                 "=%llu\n" TV_MT_KEY_SLOW_THREAD "=%u\n",
                             head->slow_call, (unsigned long long)head->slow_ns, head->slow_thread);
    tv_output_buffer_print(job->sink, TV_MT_KEY_VM "=%s\n", head->vm);
    tv_output_buffer_print(job->sink, TV_MT_KEY_PID "=%u\n", head->pid);
    if (job->left_out > 0)
        tv_output_buffer_print(job->sink, TV_MT_KEY_LEFT_OUT "=%u\n", job->left_out);
    if (job->mixes_fibers)
        tv_output_buffer_print(job->sink, TV_MT_KEY_FIBERS "=mixed\n");
    if (job->has_allocations)
        tv_output_buffer_print(job->sink,
                             TV_MT_KEY_ALLOC_COUNT "=%llu\n" TV_MT_KEY_ALLOC_SIZE
                                                   "=%llu\n" TV_MT_KEY_GC_COUNT "=%llu\n",
                             (unsigned long long)job->allocations.objects,
                             (unsigned long long)job->allocations.bytes,
                             (unsigned long long)job->allocations.collections);
}

static void put_threads(struct tv_trace_writer *job)
{
    tv_output_buffer_print(job->sink, TV_MT_SECTION_THREADS "\n");
    uint32_t threads = atomic_load(&job->area->head->threads);
    for (uint32_t i = 0; i < threads && i < TV_BUFFER_THREADS_MAX; i++)
        tv_output_buffer_print(job->sink, "%u\t%.*s\n", i + 1, (int)TV_BUFFER_NAME,
                             job->area->threads[i].name);
}

static void put_method(struct tv_trace_writer *job, uint32_t number)
{
    size_t length;
    const char *line = tv_method_table_line(job->methods, number, &length);
    tv_output_buffer_print(job->sink, "%#x\t", number << 2);
    tv_output_buffer_put(job->sink, line, length);
    tv_output_buffer_put(job->sink, "\n", 1);
}

static void put_record(struct tv_trace_writer *job, uint32_t thread, const uint64_t *record)
{
    uint8_t *at = tv_output_buffer_reserve(job->sink, TV_MT_RECORD_SIZE_V3);
    uint8_t *start = at;
    uint64_t ns = time_of(job, thread, record);
    uint32_t time = (uint32_t)((ns > job->shift_ns ? ns - job->shift_ns : 0) / NS_PER_US);
    uint64_t cpu_start = job->area->threads[thread - 1].cpu_start;
    if (job->area->head->words == 3)
        at = tv_mt_put_record_v3(
            at, (uint16_t)thread, (uint32_t)record[0],
            (uint32_t)((record[2] > cpu_start ? record[2] - cpu_start : 0) / NS_PER_US), time);
    else
        at = tv_mt_put_record_v2(at, (uint16_t)thread, (uint32_t)record[0], time);
    job->sink->used += (size_t)(at - start);
}

static bool comes_before(const struct cursor *a, const struct cursor *b)
{
    return a->ns < b->ns || (a->ns == b->ns && a->thread < b->thread);
}

static void sift_down(struct cursor *heap, uint32_t count, uint32_t at)
{
    struct cursor moved = heap[at];
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && comes_before(&heap[child + 1], &heap[child]))
            child++;
        if (!comes_before(&heap[child], &moved))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

/* Without wall time all are equal and the heap gives thread by thread. */
static bool load(const struct tv_trace_writer *job, struct cursor *cursor)
{
    if (!advance(job, cursor))
        return false;
    cursor->ns = has_wall(job) ? time_of(job, cursor->thread, cursor->record) : 0;
    return true;
}

static void put_merged(struct tv_trace_writer *job, struct cursor *heap, uint32_t count)
{
    for (uint32_t i = count; i-- > 0;)
        sift_down(heap, count, i);
    while (count > 0) {
        put_record(job, heap[0].thread, heap[0].record);
        if (!load(job, &heap[0]))
            heap[0] = heap[--count];
        sift_down(heap, count, 0);
    }
}

static int put_records(struct tv_trace_writer *job)
{
    uint32_t threads = atomic_load(&job->area->head->threads), count = 0;
    struct cursor *heap = tv_mmap_alloc((threads + (size_t)1) * sizeof *heap);
    if (!heap)
        return -ENOMEM;
    for (uint32_t i = 1; i <= threads; i++) {
        heap[count] = begin(job, i);
        if (load(job, &heap[count]))
            count++;
    }
    put_merged(job, heap, count);
    tv_mmap_free(heap, (threads + (size_t)1) * sizeof *heap);
    return 0;
}

int tv_trace_writer_write(struct tv_trace_writer *job)
{
    bool trim = job->drop_orphans || job->area->head->full == TV_RECORDING_RING;
    if (!make_used(job))
        return -ENOMEM;
    job->shift_ns = find_shift(job);
    uint32_t threads = atomic_load(&job->area->head->threads);
    for (uint32_t i = 1; i <= threads; i++)
        prepare_thread(job, i, trim);
    put_keys(job);
    put_threads(job);
    tv_output_buffer_print(job->sink, TV_MT_SECTION_METHODS "\n");
    for (uint32_t i = 1; i <= job->methods->count && i / 8 < job->used_size; i++)
        if (job->used[i >> 3] >> (i & 7) & 1)
            put_method(job, i);
    tv_output_buffer_print(job->sink, TV_MT_SECTION_END "\n");
    put_data_header(job, version_of(job));
    return put_records(job);
}

void tv_trace_stream_begin(struct tv_trace_writer *job)
{
    put_data_header(job, version_of(job) | TV_MT_STREAMING);
}

static void know_method(struct tv_trace_writer *job, const uint8_t *text)
{
    uint64_t number = strtoull((const char *)text, NULL, 16) >> 2;
    if (number > 0 && number <= job->methods->count && make_used(job))
        use(job, (uint32_t)number);
}

static void know_thread(struct tv_trace_writer *job, uint16_t thread)
{
    job->known_threads[thread >> 3] |= (uint8_t)(1u << (thread & 7));
}

/* The size of the packet or record at the begin of the bytes, 0: there is no whole one. */
static size_t look_at_packet(struct tv_trace_writer *job, const uint8_t *at, size_t left)
{
    size_t size = job->area->head->words == 3 ? TV_MT_RECORD_SIZE_V3 : TV_MT_RECORD_SIZE_V2;
    if (left < TV_MT_STREAM_THREAD_HEAD || tv_le_get_u16(at) != TV_MT_STREAM_ESCAPE)
        return left < size ? 0 : size;
    if (at[2] == TV_MT_STREAM_METHOD) {
        size = TV_MT_STREAM_METHOD_HEAD + (size_t)tv_le_get_u16(at + 3);
        if (size <= left &&
            memchr(at + TV_MT_STREAM_METHOD_HEAD, '\t', size - TV_MT_STREAM_METHOD_HEAD))
            know_method(job, at + TV_MT_STREAM_METHOD_HEAD);
    } else if (at[2] == TV_MT_STREAM_THREAD) {
        size = TV_MT_STREAM_THREAD_HEAD + (size_t)tv_le_get_u16(at + 5);
        if (size <= left)
            know_thread(job, tv_le_get_u16(at + 3));
    } else {
        return 0;
    }
    return size <= left ? size : 0;
}

uint64_t tv_trace_stream_resume(struct tv_trace_writer *job, const uint8_t *bytes, size_t size)
{
    size_t packet, at = TV_MT_HEADER_SIZE;
    uint64_t records = 0;
    while (at < size && (packet = look_at_packet(job, bytes + at, size - at)) > 0) {
        records += tv_le_get_u16(bytes + at) != TV_MT_STREAM_ESCAPE;
        at += packet;
    }
    tv_output_buffer_put(job->sink, bytes, at);
    return records;
}

static void put_method_packet(struct tv_trace_writer *job, uint32_t number)
{
    char id[16];
    size_t length;
    _Static_assert(sizeof id + TV_METHOD_LINE + 1 <= UINT16_MAX, "a packet holds every line");
    const char *line = tv_method_table_line(job->methods, number, &length);
    size_t id_length = (size_t)snprintf(id, sizeof id, "%#x\t", number << 2);
    uint8_t *at = tv_output_buffer_reserve(job->sink, TV_MT_STREAM_METHOD_HEAD);
    tv_le_put_u16(at, TV_MT_STREAM_ESCAPE);
    at[2] = TV_MT_STREAM_METHOD;
    tv_le_put_u16(at + 3, (uint16_t)(id_length + length + 1));
    job->sink->used += TV_MT_STREAM_METHOD_HEAD;
    tv_output_buffer_put(job->sink, id, id_length);
    tv_output_buffer_put(job->sink, line, length);
    tv_output_buffer_put(job->sink, "\n", 1);
}

/* Its name of now; the summary has the last one. */
static void put_thread_packet(struct tv_trace_writer *job, uint32_t thread)
{
    if (job->known_threads[thread >> 3] >> (thread & 7) & 1)
        return;
    know_thread(job, (uint16_t)thread);
    const char *name = job->area->threads[thread - 1].name;
    uint16_t length = (uint16_t)strnlen(name, TV_BUFFER_NAME);
    uint8_t *at = tv_output_buffer_reserve(job->sink, TV_MT_STREAM_THREAD_HEAD);
    tv_le_put_u16(at, TV_MT_STREAM_ESCAPE);
    at[2] = TV_MT_STREAM_THREAD;
    tv_le_put_u16(at + 3, (uint16_t)thread);
    tv_le_put_u16(at + 5, length);
    job->sink->used += TV_MT_STREAM_THREAD_HEAD;
    tv_output_buffer_put(job->sink, name, length);
}

int tv_trace_stream_chunk(struct tv_trace_writer *job, uint32_t chunk)
{
    const struct tv_buffer_chunk *from = &job->area->chunks[chunk - 1];
    begin_chunk(job, chunk);
    for (uint32_t i = 0; i < from->count; i++) {
        uint64_t *record = tv_trace_buffer_record(job->area, from->first + i);
        if (record[0] == 0)
            break;
        uint32_t number = record[0] == TV_WORD_LEFT_OUT ? 0 : resolve(job, record);
        bool late = time_of(job, from->thread, record) / NS_PER_US > LAST_US;
        if (late)
            atomic_store(&job->area->head->overflow, 1);
        if (number == 0 || late)
            continue;
        if (use(job, number))
            put_method_packet(job, number);
        put_thread_packet(job, from->thread);
        put_record(job, from->thread, record);
        job->written++;
    }
    return job->sink->error;
}

static void put_summary(struct tv_trace_writer *job)
{
    put_keys(job);
    put_threads(job);
    tv_output_buffer_print(job->sink, TV_MT_SECTION_METHODS "\n" TV_MT_SECTION_END "\n");
}

int tv_trace_stream_end(struct tv_trace_writer *job)
{
    /* Its size stands in front of the summary. */
    struct tv_output_buffer *file = job->sink, *count = tv_output_buffer_new(NULL);
    if (!count)
        return -ENOMEM;
    job->sink = count;
    put_summary(job);
    job->sink = file;
    uint8_t *at = tv_output_buffer_reserve(file, TV_MT_STREAM_SUMMARY_HEAD);
    tv_le_put_u16(at, TV_MT_STREAM_ESCAPE);
    at[2] = TV_MT_STREAM_SUMMARY;
    tv_le_put_u32(at + 3, (uint32_t)(count->flushed + count->used));
    file->used += TV_MT_STREAM_SUMMARY_HEAD;
    tv_output_buffer_free(count);
    put_summary(job);
    return 0;
}

void tv_trace_writer_release(struct tv_trace_writer *job)
{
    tv_mmap_free(job->used, job->used_size);
    job->used = NULL;
    job->used_size = 0;
}
