/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_file.c - see trace_file.h.
 *
 * The records of a thread are ordered by time, so a whole file is a merge of all threads: a heap
 * with one cursor a thread.
 *
 *     thread 1: 3 7 9 ...   \
 *     thread 2: 1 4 8 ...    > heap of {time, thread} -> 1 3 4 7 8 9 ...
 *     thread 3: ...         /
 *
 * The number of records and the methods are in front of the records.  So a first pass
 * (trace_writer_prepare_thread) counts the records, resolves addresses in place and marks what does
 * not go to the file.
 *
 * A streamed file is written chunk by chunk.  A packet with a method's or a thread's name precedes
 * its first record; the readers order the records.  Its end is the summary.
 */
#include "recorder/trace_file.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/memory.h"
#include "recorder/recording.h"
#include "wire/method_trace.h"

#define NS_PER_US 1000u
#define TIME_US_MAX UINT64_C(0xFFFFFFFF) /* 71 minutes 35 seconds */

/* A position in a thread's records. */
struct record_cursor {
    uint64_t ns; /* of `record`, for the heap */
    uint64_t *record;
    uint32_t thread, chunk, at;
    uint32_t chunks_left; /* guards against a cycle in the chain of a damaged spool */
};

static struct record_cursor record_cursor_begin(const struct tv_trace_writer *writer,
                                                uint32_t thread)
{
    return (struct record_cursor){.thread = thread,
                                  .chunk = writer->buffer->threads[thread - 1].first_chunk,
                                  .chunks_left = atomic_load(&writer->buffer->head->next_chunk)};
}

/* Move to the next record that belongs to the file; false: there is none. */
static bool record_cursor_next(const struct tv_trace_writer *writer, struct record_cursor *cursor)
{
    while (cursor->chunk != 0 && cursor->chunks_left > 0) {
        const struct tv_buffer_chunk *chunk = &writer->buffer->chunks[cursor->chunk - 1];
        while (cursor->at < chunk->count) {
            cursor->record = tv_trace_buffer_record(writer->buffer, chunk->first + cursor->at++);
            /* a place whose thread was stopped before it wrote: the chunk ends here */
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

static bool trace_writer_has_wall(const struct tv_trace_writer *writer)
{
    return writer->buffer->head->clock != TV_RECORDING_CPU;
}

/* Return a record's time since the start; CPU time since the thread's start. */
static uint64_t trace_writer_record_ns(const struct tv_trace_writer *writer, uint32_t thread,
                                       const uint64_t *record)
{
    if (trace_writer_has_wall(writer))
        return tv_clock_to_ns(&writer->scale, record[1]);
    uint64_t start = writer->buffer->threads[thread - 1].cpu_start;
    return record[1] > start ? record[1] - start : 0;
}

/* Make room for a bit for each method.  The set is mapped, not malloc's memory: a file is also
 * written after a crash, when the crashed thread may hold the lock of malloc. */
static bool used_methods_reserve(struct tv_trace_writer *writer)
{
    size_t needed = writer->methods->count / 8 + (size_t)1;
    if (needed <= writer->used_size)
        return true;
    size_t size = writer->used_size ? writer->used_size : 4096;
    while (size < needed)
        size *= 2;
    uint8_t *used = tv_mmap_grow(writer->used, writer->used_size, size);
    if (!used)
        return false;
    writer->used = used;
    writer->used_size = size;
    return true;
}

/* Mark a method as used; true: for the first time. */
static bool used_methods_mark(struct tv_trace_writer *writer, uint32_t number)
{
    assert(number >> 3 < writer->used_size);
    uint8_t bit = (uint8_t)(1u << (number & 7));
    if (writer->used[number >> 3] & bit)
        return false;
    writer->used[number >> 3] |= bit;
    return true;
}

/* Begin a chunk: other files may be at the addresses than in the last one. */
static void address_cache_begin_chunk(struct tv_trace_writer *writer, uint32_t chunk)
{
    const struct tv_buffer_chunk *from = &writer->buffer->chunks[chunk - 1];
    memset(writer->cached, 0, sizeof writer->cached);
    writer->cached_until =
        from->count > 0 ? tv_trace_buffer_record(writer->buffer, from->first + from->count - 1)[1]
                        : 0;
}

/* The time decides which of the files at an address is meant.  CPU time cannot tell. */
static uint64_t trace_writer_address_key(const struct tv_trace_writer *writer, uint64_t address,
                                         uint64_t ticks)
{
    return writer->key ? writer->key(address, trace_writer_has_wall(writer) ? ticks : 0) : address;
}

/* Return the number of the method at an address; 0: there is none, or no memory for it.  A file
 * is at an address for one span of time.  So if the same file was there at the record's time
 * and at the chunk's last time, it was there for all records between, and the answer is cached. */
static uint32_t trace_writer_number_address(struct tv_trace_writer *writer, const uint64_t *record,
                                            uint64_t address)
{
    size_t slot = (size_t)(address * 0x9E3779B97F4A7C15u >> 32) % TV_TRACE_CACHE_SIZE;
    if (writer->cached[slot].number != 0 && writer->cached[slot].address == address)
        return writer->cached[slot].number;
    uint64_t key = trace_writer_address_key(writer, address, record[1]);
    uint32_t number =
        tv_address_table_find_or_add(writer->addresses, writer->methods, writer->namer, key);
    if (number != 0 && trace_writer_address_key(writer, address, writer->cached_until) == key) {
        writer->cached[slot].address = address;
        writer->cached[slot].number = number;
    }
    if (key == 0 || (number != 0 && used_methods_reserve(writer)))
        return number;
    atomic_store(&writer->buffer->head->overflow, 1);
    writer->unnamed++;
    return 0;
}

/* Replace an address by its method's number.  Return the number, or 0 when the record is left
 * out. */
static uint32_t trace_writer_resolve(struct tv_trace_writer *writer, uint64_t *record)
{
    uint64_t word = record[0];
    uint32_t action = (uint32_t)(word & TV_MT_ACTION_MASK);
    uint64_t number = (word & ~TV_WORD_ADDRESS) >> 2;
    if (word & TV_WORD_ADDRESS)
        number = trace_writer_number_address(writer, record, number);
    if (number == 0 || number > writer->methods->count || action == TV_MT_ACTION_UNDEFINED ||
        !used_methods_reserve(writer)) {
        record[0] = TV_WORD_LEFT_OUT;
        return 0;
    }
    record[0] = number << 2 | action;
    return (uint32_t)number;
}

/* Decide about the records of a thread before any is written: the tables at the beginning of the
 * file list the methods that are used, and the header counts the records.  `trim`: exits of calls
 * that began before the recording are left out. */
static void trace_writer_prepare_thread(struct tv_trace_writer *writer, uint32_t thread, bool trim)
{
    struct record_cursor cursor = record_cursor_begin(writer, thread);
    uint32_t chunk = 0;
    uint64_t depth = 0;
    while (record_cursor_next(writer, &cursor)) {
        if (cursor.chunk != chunk)
            address_cache_begin_chunk(writer, chunk = cursor.chunk);
        uint32_t number = trace_writer_resolve(writer, cursor.record);
        if (number == 0)
            continue;
        bool enter = tv_mt_word_action((uint32_t)cursor.record[0]) == TV_MT_ENTER;
        uint64_t ns = trace_writer_record_ns(writer, thread, cursor.record);
        uint64_t since = ns > writer->shift_ns ? ns - writer->shift_ns : 0;
        /* A file has 32 bits of microseconds.  A call whose exit is late stays open in the file;
         * wrapped times would be wrong everywhere after. */
        bool late = since / NS_PER_US > TIME_US_MAX;
        if (late)
            atomic_store(&writer->buffer->head->overflow, 1);
        if (late || (trim && !enter && depth == 0)) {
            cursor.record[0] = TV_WORD_LEFT_OUT;
            continue;
        }
        /* what is left out above changes no depth: it is not in the file either */
        depth = enter ? depth + 1 : depth - (depth > 0);
        used_methods_mark(writer, number);
        writer->written++;
    }
}

/* A ring whose first times would overflow the file's 32 bits begins at its oldest record. */
static uint64_t trace_writer_find_shift(const struct tv_trace_writer *writer)
{
    uint64_t first = UINT64_MAX;
    if (writer->buffer->head->full != TV_RECORDING_RING || !trace_writer_has_wall(writer) ||
        writer->end_ns / NS_PER_US <= TIME_US_MAX)
        return 0;
    for (uint32_t i = 1; i <= atomic_load(&writer->buffer->head->threads); i++) {
        struct record_cursor cursor = record_cursor_begin(writer, i);
        if (!record_cursor_next(writer, &cursor))
            continue;
        uint64_t ns = trace_writer_record_ns(writer, i, cursor.record);
        first = ns < first ? ns : first;
    }
    return first == UINT64_MAX ? 0 : first;
}

static uint16_t trace_writer_version(const struct tv_trace_writer *writer)
{
    return writer->buffer->head->clock == TV_RECORDING_DUAL ? TV_MT_V3 : TV_MT_V2;
}

static void trace_writer_put_header(struct tv_trace_writer *writer, uint16_t version)
{
    struct tv_mt_header header = {
        .version = version,
        .data_offset = TV_MT_HEADER_SIZE,
        .start = writer->buffer->head->start_us + writer->shift_ns / NS_PER_US,
    };
    if (tv_mt_plain_version(version) == TV_MT_V3)
        header.record_size = TV_MT_RECORD_SIZE_V3;
    tv_mt_put_header(tv_output_buffer_reserve(writer->out, TV_MT_HEADER_SIZE), &header);
    writer->out->used += TV_MT_HEADER_SIZE;
}

/* Write the text header: what the recorder did, as keys that readers may skip. */
static void trace_writer_put_keys(struct tv_trace_writer *writer)
{
    static const char *const clocks[] = {TV_MT_CLOCK_WALL, TV_MT_CLOCK_THREAD_CPU,
                                         TV_MT_CLOCK_DUAL};
    const struct tv_buffer_header *head = writer->buffer->head;
    uint64_t elapsed = writer->end_ns > writer->shift_ns ? writer->end_ns - writer->shift_ns : 0;
    tv_output_buffer_print(writer->out, TV_MT_SECTION_VERSION "\n%u\n",
                           trace_writer_version(writer));
    tv_output_buffer_print(writer->out, TV_MT_KEY_OVERFLOW "=%s\n",
                           atomic_load(&writer->buffer->head->overflow) ? "true" : "false");
    tv_output_buffer_print(writer->out, TV_MT_KEY_CLOCK "=%s\n", clocks[head->clock]);
    tv_output_buffer_print(writer->out, TV_MT_KEY_ELAPSED_US "=%llu\n",
                           (unsigned long long)(elapsed / NS_PER_US));
    tv_output_buffer_print(writer->out, TV_MT_KEY_RECORDS "=%llu\n",
                           (unsigned long long)writer->written);
    tv_output_buffer_print(writer->out, TV_MT_KEY_OVERHEAD_NS "=%u\n", head->overhead_ns);
    if (head->least_ns > 0)
        tv_output_buffer_print(writer->out, TV_MT_KEY_MIN_NS "=%llu\n",
                               (unsigned long long)head->least_ns);
    if (head->trigger[0])
        tv_output_buffer_print(writer->out, TV_MT_KEY_TRIGGER "=%s\n", head->trigger);
    if (head->slow_ns > 0)
        tv_output_buffer_print(
            writer->out,
            TV_MT_KEY_SLOW_CALL "=%s\n" TV_MT_KEY_SLOW_NS "=%llu\n" TV_MT_KEY_SLOW_THREAD "=%u\n",
            head->slow_call, (unsigned long long)head->slow_ns, head->slow_thread);
    tv_output_buffer_print(writer->out, TV_MT_KEY_SAMPLING_US "=0\n");
    tv_output_buffer_print(writer->out, TV_MT_KEY_VM "=%s\n", head->vm);
    tv_output_buffer_print(writer->out, TV_MT_KEY_PID "=%u\n", head->pid);
    const char *labels = head->labels;
    for (struct tv_label label; tv_labels_next(&labels, &label);)
        tv_output_buffer_print(writer->out, "%.*s=%.*s\n", label.key_length, label.key,
                               label.value_length, label.value);
    if (writer->left_out > 0)
        tv_output_buffer_print(writer->out, TV_MT_KEY_LEFT_OUT "=%u\n", writer->left_out);
    if (writer->mixes_fibers)
        tv_output_buffer_print(writer->out, TV_MT_KEY_FIBERS "=mixed\n");
    if (writer->has_allocations)
        tv_output_buffer_print(writer->out,
                               TV_MT_KEY_ALLOC_COUNT "=%llu\n" TV_MT_KEY_ALLOC_SIZE
                                                     "=%llu\n" TV_MT_KEY_GC_COUNT "=%llu\n",
                               (unsigned long long)writer->allocations.objects,
                               (unsigned long long)writer->allocations.bytes,
                               (unsigned long long)writer->allocations.collections);
}

static void trace_writer_put_threads(struct tv_trace_writer *writer)
{
    tv_output_buffer_print(writer->out, TV_MT_SECTION_THREADS "\n");
    uint32_t threads = atomic_load(&writer->buffer->head->threads);
    for (uint32_t i = 0; i < threads && i < TV_BUFFER_THREADS_MAX; i++)
        tv_output_buffer_print(writer->out, "%u\t%.*s\n", i + 1, (int)TV_BUFFER_NAME,
                               writer->buffer->threads[i].name);
}

static void trace_writer_put_method(struct tv_trace_writer *writer, uint32_t number)
{
    assert(number > 0 && number <= writer->methods->count);
    size_t length;
    const char *line = tv_method_table_line(writer->methods, number, &length);
    tv_output_buffer_print(writer->out, "%#x\t", number << 2);
    tv_output_buffer_put(writer->out, line, length);
    tv_output_buffer_put(writer->out, "\n", 1);
}

/* Write a record of the buffer in the file's form, with times in microseconds since the start. */
static void trace_writer_put_record(struct tv_trace_writer *writer, uint32_t thread,
                                    const uint64_t *record)
{
    assert(thread > 0 && !(record[0] & TV_WORD_ADDRESS)); /* resolved before */
    uint8_t *at = tv_output_buffer_reserve(writer->out, TV_MT_RECORD_SIZE_V3);
    uint8_t *start = at;
    uint64_t ns = trace_writer_record_ns(writer, thread, record);
    uint32_t time = (uint32_t)((ns > writer->shift_ns ? ns - writer->shift_ns : 0) / NS_PER_US);
    uint64_t cpu_start = writer->buffer->threads[thread - 1].cpu_start;
    if (writer->buffer->head->words == 3)
        at = tv_mt_put_record_v3(
            at, (uint16_t)thread, (uint32_t)record[0],
            (uint32_t)((record[2] > cpu_start ? record[2] - cpu_start : 0) / NS_PER_US), time);
    else
        at = tv_mt_put_record_v2(at, (uint16_t)thread, (uint32_t)record[0], time);
    writer->out->used += (size_t)(at - start);
}

static bool record_cursor_is_before(const struct record_cursor *a, const struct record_cursor *b)
{
    return a->ns < b->ns || (a->ns == b->ns && a->thread < b->thread);
}

/*
 * The cursor with the smallest time is at the root; children of i are 2i+1 and 2i+2.  Taking a
 * record changes the root alone, so one walk down restores the order: log2(threads) comparisons a
 * record.
 */

/* Move a cursor down the heap to where it belongs. */
static void record_heap_sift_down(struct record_cursor *heap, uint32_t count, uint32_t at)
{
    assert(at <= count);
    struct record_cursor moved = heap[at];
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && record_cursor_is_before(&heap[child + 1], &heap[child]))
            child++;
        if (!record_cursor_is_before(&heap[child], &moved))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

/* Without wall time all cursors are equal, and the heap yields thread by thread. */
static bool record_cursor_load(const struct tv_trace_writer *writer, struct record_cursor *cursor)
{
    if (!record_cursor_next(writer, cursor))
        return false;
    cursor->ns = trace_writer_has_wall(writer)
                     ? trace_writer_record_ns(writer, cursor->thread, cursor->record)
                     : 0;
    return true;
}

static void trace_writer_put_merged(struct tv_trace_writer *writer, struct record_cursor *heap,
                                    uint32_t count)
{
    for (uint32_t i = count; i-- > 0;)
        record_heap_sift_down(heap, count, i);
    while (count > 0) {
        trace_writer_put_record(writer, heap[0].thread, heap[0].record);
        if (!record_cursor_load(writer, &heap[0]))
            heap[0] = heap[--count];
        record_heap_sift_down(heap, count, 0);
    }
}

/* Merge the threads' records by time with a heap of one cursor per thread. A cursor that has no
 * record to begin with does not enter the heap. */
static int trace_writer_put_records(struct tv_trace_writer *writer)
{
    uint32_t threads = atomic_load(&writer->buffer->head->threads), count = 0;
    struct record_cursor *heap = tv_mmap_alloc((threads + (size_t)1) * sizeof *heap);
    if (!heap)
        return -ENOMEM;
    for (uint32_t i = 1; i <= threads; i++) {
        heap[count] = record_cursor_begin(writer, i);
        if (record_cursor_load(writer, &heap[count]))
            count++;
    }
    trace_writer_put_merged(writer, heap, count);
    tv_mmap_free(heap, (threads + (size_t)1) * sizeof *heap);
    return 0;
}

int tv_trace_writer_write(struct tv_trace_writer *writer)
{
    bool trim = writer->drop_orphans || writer->buffer->head->full == TV_RECORDING_RING;
    if (!used_methods_reserve(writer))
        return -ENOMEM;
    writer->shift_ns = trace_writer_find_shift(writer);
    uint32_t threads = atomic_load(&writer->buffer->head->threads);
    for (uint32_t i = 1; i <= threads; i++)
        trace_writer_prepare_thread(writer, i, trim);
    trace_writer_put_keys(writer);
    trace_writer_put_threads(writer);
    tv_output_buffer_print(writer->out, TV_MT_SECTION_METHODS "\n");
    for (uint32_t i = 1; i <= writer->methods->count && i / 8 < writer->used_size; i++)
        if (writer->used[i >> 3] >> (i & 7) & 1)
            trace_writer_put_method(writer, i);
    tv_output_buffer_print(writer->out, TV_MT_SECTION_END "\n");
    trace_writer_put_header(writer, trace_writer_version(writer));
    return trace_writer_put_records(writer);
}

void tv_trace_stream_begin(struct tv_trace_writer *writer)
{
    trace_writer_put_header(writer, trace_writer_version(writer) | TV_MT_STREAMING);
}

static void stream_mark_method(struct tv_trace_writer *writer, const uint8_t *text)
{
    uint64_t number = strtoull((const char *)text, NULL, 16) >> 2;
    if (number > 0 && number <= writer->methods->count && used_methods_reserve(writer))
        used_methods_mark(writer, (uint32_t)number);
}

static void stream_mark_thread(struct tv_trace_writer *writer, uint16_t thread)
{
    writer->known_threads[thread >> 3] |= (uint8_t)(1u << (thread & 7));
}

/* Return the size of the packet or record at the beginning of the bytes, 0: it is not whole. */
static size_t stream_scan_packet(struct tv_trace_writer *writer, const uint8_t *at, size_t left)
{
    size_t size = writer->buffer->head->words == 3 ? TV_MT_RECORD_SIZE_V3 : TV_MT_RECORD_SIZE_V2;
    if (left < TV_MT_STREAM_THREAD_HEAD || tv_le_get_u16(at) != TV_MT_STREAM_ESCAPE)
        return left < size ? 0 : size;
    if (at[2] == TV_MT_STREAM_METHOD) {
        size = TV_MT_STREAM_METHOD_HEAD + (size_t)tv_le_get_u16(at + 3);
        if (size <= left &&
            memchr(at + TV_MT_STREAM_METHOD_HEAD, '\t', size - TV_MT_STREAM_METHOD_HEAD))
            stream_mark_method(writer, at + TV_MT_STREAM_METHOD_HEAD);
    } else if (at[2] == TV_MT_STREAM_THREAD) {
        size = TV_MT_STREAM_THREAD_HEAD + (size_t)tv_le_get_u16(at + 5);
        if (size <= left)
            stream_mark_thread(writer, tv_le_get_u16(at + 3));
    } else {
        return 0;
    }
    return size <= left ? size : 0;
}

uint64_t tv_trace_stream_resume(struct tv_trace_writer *writer, const uint8_t *bytes, size_t size)
{
    size_t packet, at = TV_MT_HEADER_SIZE;
    uint64_t records = 0;
    /* A recorder that was killed left a file that may end within a packet: keep what is whole, and
     * note which methods and threads it has named, so that the rest does not name them again. */
    while (at < size && (packet = stream_scan_packet(writer, bytes + at, size - at)) > 0) {
        records += tv_le_get_u16(bytes + at) != TV_MT_STREAM_ESCAPE;
        at += packet;
    }
    tv_output_buffer_put(writer->out, bytes, at);
    return records;
}

static void stream_put_method(struct tv_trace_writer *writer, uint32_t number)
{
    char id[16];
    size_t length;
    _Static_assert(sizeof id + TV_METHOD_LINE + 1 <= UINT16_MAX, "a packet holds every line");
    const char *line = tv_method_table_line(writer->methods, number, &length);
    size_t id_length = (size_t)snprintf(id, sizeof id, "%#x\t", number << 2);
    uint8_t *at = tv_output_buffer_reserve(writer->out, TV_MT_STREAM_METHOD_HEAD);
    tv_le_put_u16(at, TV_MT_STREAM_ESCAPE);
    at[2] = TV_MT_STREAM_METHOD;
    tv_le_put_u16(at + 3, (uint16_t)(id_length + length + 1));
    writer->out->used += TV_MT_STREAM_METHOD_HEAD;
    tv_output_buffer_put(writer->out, id, id_length);
    tv_output_buffer_put(writer->out, line, length);
    tv_output_buffer_put(writer->out, "\n", 1);
}

/* Write the thread's present name; the summary will have its last one. */
static void stream_put_thread(struct tv_trace_writer *writer, uint32_t thread)
{
    assert(thread > 0 && thread <= TV_BUFFER_THREADS_MAX);
    if (writer->known_threads[thread >> 3] >> (thread & 7) & 1)
        return;
    stream_mark_thread(writer, (uint16_t)thread);
    const char *name = writer->buffer->threads[thread - 1].name;
    uint16_t length = (uint16_t)strnlen(name, TV_BUFFER_NAME);
    uint8_t *at = tv_output_buffer_reserve(writer->out, TV_MT_STREAM_THREAD_HEAD);
    tv_le_put_u16(at, TV_MT_STREAM_ESCAPE);
    at[2] = TV_MT_STREAM_THREAD;
    tv_le_put_u16(at + 3, (uint16_t)thread);
    tv_le_put_u16(at + 5, length);
    writer->out->used += TV_MT_STREAM_THREAD_HEAD;
    tv_output_buffer_put(writer->out, name, length);
}

int tv_trace_stream_chunk(struct tv_trace_writer *writer, uint32_t chunk)
{
    assert(chunk > 0);
    const struct tv_buffer_chunk *from = &writer->buffer->chunks[chunk - 1];
    address_cache_begin_chunk(writer, chunk);
    for (uint32_t i = 0; i < from->count; i++) {
        uint64_t *record = tv_trace_buffer_record(writer->buffer, from->first + i);
        if (record[0] == 0)
            break;
        uint32_t number = record[0] == TV_WORD_LEFT_OUT ? 0 : trace_writer_resolve(writer, record);
        bool late = trace_writer_record_ns(writer, from->thread, record) / NS_PER_US > TIME_US_MAX;
        if (late)
            atomic_store(&writer->buffer->head->overflow, 1);
        if (number == 0 || late)
            continue;
        /* names before their first use: the file can be read up to any byte */
        if (used_methods_mark(writer, number))
            stream_put_method(writer, number);
        stream_put_thread(writer, from->thread);
        trace_writer_put_record(writer, from->thread, record);
        writer->written++;
    }
    return writer->out->error;
}

static void stream_put_summary(struct tv_trace_writer *writer)
{
    trace_writer_put_keys(writer);
    trace_writer_put_threads(writer);
    tv_output_buffer_print(writer->out, TV_MT_SECTION_METHODS "\n" TV_MT_SECTION_END "\n");
}

int tv_trace_stream_end(struct tv_trace_writer *writer)
{
    /* Count the bytes first: the summary's size precedes it. */
    struct tv_output_buffer *file = writer->out, *count = tv_output_buffer_new(NULL);
    if (!count)
        return -ENOMEM;
    writer->out = count;
    stream_put_summary(writer);
    writer->out = file;
    uint8_t *at = tv_output_buffer_reserve(file, TV_MT_STREAM_SUMMARY_HEAD);
    tv_le_put_u16(at, TV_MT_STREAM_ESCAPE);
    at[2] = TV_MT_STREAM_SUMMARY;
    tv_le_put_u32(at + 3, (uint32_t)(count->flushed + count->used));
    file->used += TV_MT_STREAM_SUMMARY_HEAD;
    tv_output_buffer_free(count);
    stream_put_summary(writer);
    return 0;
}

void tv_trace_writer_release(struct tv_trace_writer *writer)
{
    tv_mmap_free(writer->used, writer->used_size);
    writer->used = NULL;
    writer->used_size = 0;
}
