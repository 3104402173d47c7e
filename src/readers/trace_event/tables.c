/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c - names, processes, threads and stack frame ids of Trace Event files, numbered.
 *
 *     "name":"draw","cat":"gfx"       --> name 12     a frame of the trace, when chunks are merged
 *     "pid":7                         --> process 0   key "n7": a number
 *     "pid":"7"                       --> process 1   key "s7": a string is another process
 *     "pid":7,"tid":"io"              --> thread 3
 *
 * Each chunk of a file has tables of its own, so workers need no locks; merging translates their
 * numbers in the order of the file, which makes the result independent of the cut.
 *
 * The names are a hash table of their own, not an interner (base/map.h), because every event is
 * looked up: hash and comparison are inline and read whole words, up to the slack after the text.
 * Names are compared as raw text; two spellings of one name ("a" and "\u0061") become one frame
 * when they are merged.
 */
#include "readers/trace_event/tables.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/memory.h"

/* Part of the hash is beside the number, so texts are compared only when they are very likely
 * equal. */
struct tv_te_name_slot {
    uint32_t hash;
    uint32_t number; /* TV_NONE: free */
};

#define FIRST_NAME_SLOTS 1024

static struct tv_te_name_slot *te_names_new_slots(size_t count)
{
    struct tv_te_name_slot *slots = tv_alloc(count, sizeof *slots);
    for (size_t i = 0; i < count; i++)
        slots[i].number = TV_NONE;
    return slots;
}

void tv_te_names_init(struct tv_te_names *names)
{
    *names = (struct tv_te_names){.mask = FIRST_NAME_SLOTS - 1,
                                  .slots = te_names_new_slots(FIRST_NAME_SLOTS)};
    tv_arena_init(&names->texts);
}

void tv_te_names_release(struct tv_te_names *names)
{
    tv_arena_release(&names->texts);
    tv_free(names->names);
    tv_free(names->slots);
}

#define MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)

/* Hash a text; inline, as every event needs two.  Reads up to 7 bytes after the text. */
TV_INLINE uint64_t te_names_hash(uint64_t hash, struct tv_bytes text)
{
    const uint8_t *at = text.data;
    size_t left = text.length;
    uint64_t word;
    hash = (hash ^ left) * MULTIPLIER;
    for (; left > 8; at += 8, left -= 8) {
        memcpy(&word, at, sizeof word);
        hash = (hash ^ word) * MULTIPLIER;
        hash ^= hash >> 29;
    }
    if (left > 0) {
        memcpy(&word, at, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word >>= 64 - left * 8;
#else
        word <<= 64 - left * 8;
#endif
        hash = (hash ^ word) * MULTIPLIER;
        hash ^= hash >> 29;
    }
    return hash;
}

/* Compare two texts; inline, too.  Most have a few words. */
TV_INLINE bool te_names_same_text(const uint8_t *a, const uint8_t *b, size_t length)
{
    uint64_t left, right;
    if (length < sizeof left)
        return length == 0 || memcmp(a, b, length) == 0;
    for (size_t i = 0; i + sizeof left < length; i += sizeof left) {
        memcpy(&left, a + i, sizeof left);
        memcpy(&right, b + i, sizeof right);
        if (left != right)
            return false;
    }
    memcpy(&left, a + length - sizeof left, sizeof left);
    memcpy(&right, b + length - sizeof right, sizeof right);
    return left == right;
}

/* True when a name of the table is this one. */
TV_INLINE bool te_names_match(const struct tv_te_name *known, struct tv_bytes name,
                              struct tv_bytes category)
{
    return known->name_length == name.length && known->category_length == category.length &&
           known->has_name == (name.data != NULL) &&
           te_names_same_text(known->text, name.data, name.length) &&
           te_names_same_text(known->text + name.length, category.data, category.length);
}

/* Double the table.  The stored hashes save hashing the texts again. */
static void te_names_grow(struct tv_te_names *names)
{
    assert((names->mask & (names->mask + 1)) == 0);
    size_t mask = tv_size_mul(names->mask + 1, 2) - 1;
    struct tv_te_name_slot *slots = te_names_new_slots(mask + 1);
    for (size_t i = 0; i <= names->mask; i++) {
        struct tv_te_name_slot moved = names->slots[i];
        if (moved.number == TV_NONE)
            continue;
        size_t to = moved.hash & mask;
        while (slots[to].number != TV_NONE)
            to = (to + 1) & mask;
        slots[to] = moved;
    }
    tv_free(names->slots);
    names->slots = slots;
    names->mask = mask;
}

/* Add a name to a free slot; name and category are copied one after the other. */
static TV_NOINLINE uint32_t te_names_add_new(struct tv_te_names *names,
                                             struct tv_te_name_slot *slot, struct tv_bytes name,
                                             struct tv_bytes category)
{
    assert(slot->number == TV_NONE);
    uint8_t *text = tv_arena_alloc(&names->texts, name.length + category.length + 1, 1);
    uint32_t number = (uint32_t)names->count;
    if (names->count >= TV_NONE - 1 || name.length > UINT32_MAX || category.length > UINT32_MAX)
        tv_memory_exhausted();
    if (name.length > 0)
        memcpy(text, name.data, name.length);
    if (category.length > 0)
        memcpy(text + name.length, category.data, category.length);
    names->names =
        tv_array_reserve(names->names, &names->capacity, names->count + 1, sizeof *names->names);
    names->names[names->count++] = (struct tv_te_name){
        .text = text,
        .name_length = (uint32_t)name.length,
        .category_length = (uint32_t)category.length,
        .has_name = name.data != NULL,
        .overhead = tv_te_text_contains(category, TV_BYTES("trace_event_overhead")),
    };
    slot->number = number;
    if (names->count > names->mask / 2)
        te_names_grow(names);
    return number;
}

uint32_t tv_te_names_add(struct tv_te_names *names, struct tv_bytes name, struct tv_bytes category)
{
    /* The two hashes are independent, so the processor computes them in parallel. */
    uint64_t full =
        te_names_hash(name.data != NULL, name) * MULTIPLIER ^ te_names_hash(2, category);
    uint32_t hash = (uint32_t)(full ^ full >> 32);
    for (size_t i = hash & names->mask;; i = (i + 1) & names->mask) {
        struct tv_te_name_slot *slot = &names->slots[i];
        if (TV_UNLIKELY(slot->number == TV_NONE)) {
            slot->hash = hash;
            return te_names_add_new(names, slot, name, category);
        }
        if (slot->hash == hash && te_names_match(&names->names[slot->number], name, category))
            return slot->number;
    }
}

static uint32_t te_names_string(struct tv_trace_info *head, struct tv_bytes raw,
                                struct tv_te_scratch *scratch)
{
    return tv_trace_info_string(head, tv_te_decode_text(raw, scratch));
}

void tv_te_names_merge(const struct tv_te_names *names, struct tv_trace_info *head,
                       uint32_t *frames)
{
    struct tv_te_scratch scratch = {NULL, 0};
    for (size_t i = 0; i < names->count; i++) {
        const struct tv_te_name *known = &names->names[i];
        struct tv_bytes name = {known->text, known->name_length};
        struct tv_bytes category = {known->text + known->name_length, known->category_length};
        struct tv_frame frame = {
            .name = known->has_name ? te_names_string(head, name, &scratch)
                                    : tv_trace_info_string(head, TV_BYTES("[No name]")),
            .category =
                category.length > 0 ? te_names_string(head, category, &scratch) : TV_EMPTY_STRING,
        };
        frames[i] = tv_trace_info_add_frame(head, &frame);
    }
    tv_te_scratch_release(&scratch);
}

enum te_raw_id_kind {
    ID_NUMBER = 'n',
    ID_STRING = 's',
    ID_OTHER = 'o', /* null, true, an object */
};

void tv_te_threads_init(struct tv_te_threads *threads, struct tv_trace_info *head, uint32_t input)
{
    *threads = (struct tv_te_threads){
        .head = head,
        .input = input,
        .first_process = head ? head->process_count : 0,
        .first_thread = head ? head->thread_count : 0,
        .keys = tv_interner_new(),
    };
    tv_map_init(&threads->process_index);
    tv_map_init(&threads->thread_index);
}

void tv_te_threads_release(struct tv_te_threads *threads)
{
    tv_interner_free(threads->keys);
    tv_free(threads->processes);
    tv_free(threads->threads);
    tv_map_release(&threads->process_index);
    tv_map_release(&threads->thread_index);
    tv_te_scratch_release(&threads->scratch);
}

uint8_t tv_te_raw_id_kind(struct tv_bytes raw)
{
    if (tv_te_is_string(raw))
        return ID_STRING;
    return raw.length > 0 && strchr("+-.0123456789", raw.data[0]) ? ID_NUMBER : ID_OTHER;
}

/* Return the key of a raw id that is present: its kind, then its text. */
static uint32_t te_threads_id_key(struct tv_te_threads *threads, struct tv_bytes raw)
{
    struct tv_bytes text = tv_te_decode_text(raw, &threads->scratch);
    uint8_t *copy = tv_alloc(text.length + 1, 1);
    copy[0] = tv_te_raw_id_kind(raw);
    if (text.length > 0)
        memcpy(copy + 1, text.data, text.length);
    uint32_t key = tv_interner_add(threads->keys, (struct tv_bytes){copy, text.length + 1});
    tv_free(copy);
    return key;
}

/* ---- In the head ---- */

/* An id as the head shows it. */
struct te_shown_id {
    uint64_t number;
    uint32_t key, name; /* strings */
};

/* Split a key into what the head shows: a number, or a text, which may be the name. */
static struct te_shown_id te_threads_shown_id(struct tv_te_threads *threads, uint32_t key)
{
    assert(threads->head);
    struct te_shown_id id = {0, TV_EMPTY_STRING, TV_EMPTY_STRING};
    struct tv_bytes text = tv_interner_get(threads->keys, key);
    uint8_t kind = text.data[0];
    text.data++;
    text.length--;
    if (kind != ID_NUMBER || !tv_parse_u64(text, &id.number)) {
        id.number = 0;
        id.key = tv_trace_info_string(threads->head, text);
    }
    if (kind == ID_STRING)
        id.name = id.key;
    return id;
}

/* Add a process to the head under the next number, which is that of this table. */
static void te_threads_add_head_process(struct tv_te_threads *threads, uint32_t key)
{
    struct te_shown_id id = te_threads_shown_id(threads, key);
    uint32_t process = tv_trace_info_add_process(threads->head, id.number, TV_BYTES(""));
    assert(process == threads->first_process + threads->process_count - 1);
    threads->head->processes[process].name = id.name;
    threads->head->processes[process].key = id.key;
}

static void te_threads_add_head_thread(struct tv_te_threads *threads, uint32_t process,
                                       uint32_t key)
{
    struct te_shown_id id = te_threads_shown_id(threads, key);
    struct tv_thread thread = {
        .id = id.number,
        .key = id.key,
        .name = id.name,
        .process = threads->first_process + process,
        .input = threads->input,
    };
    assert(threads->head->thread_count == threads->first_thread + threads->thread_count - 1);
    tv_trace_info_add_thread(threads->head, &thread);
}

/* ---- Looking up and merging ---- */

/* Counted from 0. */
static uint32_t te_threads_process_of_key(struct tv_te_threads *threads, uint32_t key)
{
    uint32_t count = (uint32_t)threads->process_count;
    uint32_t found = tv_map_add(&threads->process_index, key, count);
    if (found != count)
        return found;
    threads->processes = tv_array_reserve(threads->processes, &threads->process_capacity,
                                          (size_t)count + 1, sizeof *threads->processes);
    threads->processes[threads->process_count++] = key;
    if (threads->head)
        te_threads_add_head_process(threads, key);
    return count;
}

/* Return a thread, counted from 0; add it when new. */
static uint32_t te_threads_thread_of_key(struct tv_te_threads *threads, uint32_t process,
                                         uint32_t key)
{
    assert(process < threads->process_count);
    uint32_t count = (uint32_t)threads->thread_count;
    uint32_t found = tv_map_add(&threads->thread_index, (uint64_t)process << 32 | key, count);
    if (found != count)
        return found;
    threads->threads = tv_array_reserve(threads->threads, &threads->thread_capacity,
                                        (size_t)count + 1, sizeof *threads->threads);
    threads->threads[threads->thread_count++] = (struct tv_te_thread){process, key};
    if (threads->head)
        te_threads_add_head_thread(threads, process, key);
    return count;
}

/* An event without a pid belongs to process 0, as in Trace Viewer. */
uint32_t tv_te_threads_add_process(struct tv_te_threads *threads, struct tv_bytes pid)
{
    if (!pid.data)
        pid = TV_BYTES("0");
    return threads->first_process +
           te_threads_process_of_key(threads, te_threads_id_key(threads, pid));
}

uint32_t tv_te_threads_find_process(struct tv_te_threads *threads, struct tv_bytes pid)
{
    uint32_t found = tv_map_find(&threads->process_index, te_threads_id_key(threads, pid));
    return found == TV_NONE ? TV_NONE : threads->first_process + found;
}

/* An event without a tid belongs to the thread that has the pid as its id. */
uint32_t tv_te_threads_add_thread(struct tv_te_threads *threads, uint32_t process,
                                  struct tv_bytes pid, struct tv_bytes tid)
{
    if (!tid.data)
        tid = pid.data ? pid : TV_BYTES("0");
    uint32_t key = te_threads_id_key(threads, tid);
    return threads->first_thread +
           te_threads_thread_of_key(threads, process - threads->first_process, key);
}

/* Processes of all chunks first, since threads refer to them. */
void tv_te_threads_merge_processes(struct tv_te_threads *all, const struct tv_te_threads *chunk,
                                   uint32_t *processes)
{
    assert(all->head && !chunk->head);
    for (size_t i = 0; i < chunk->process_count; i++) {
        uint32_t key =
            tv_interner_add(all->keys, tv_interner_get(chunk->keys, chunk->processes[i]));
        processes[i] = all->first_process + te_threads_process_of_key(all, key);
    }
}

void tv_te_threads_merge(struct tv_te_threads *all, const struct tv_te_threads *chunk,
                         const uint32_t *processes, uint32_t *numbers)
{
    for (size_t i = 0; i < chunk->thread_count; i++) {
        const struct tv_te_thread *thread = &chunk->threads[i];
        uint32_t key = tv_interner_add(all->keys, tv_interner_get(chunk->keys, thread->key));
        uint32_t process = processes[thread->process] - all->first_process;
        numbers[i] = all->first_thread + te_threads_thread_of_key(all, process, key);
    }
}

void tv_te_stack_uses_release(struct tv_te_stack_uses *uses)
{
    if (!uses->keys)
        return;
    tv_interner_free(uses->keys);
    tv_map_release(&uses->index);
    tv_free(uses->rows);
    memset(uses, 0, sizeof *uses);
}

/* Return the row of an id; add it when new. */
static struct tv_te_stack_use *te_stack_uses_find(struct tv_te_stack_uses *uses, uint32_t process,
                                                  struct tv_bytes key)
{
    if (!uses->keys) {
        uses->keys = tv_interner_new();
        tv_map_init(&uses->index);
    }
    uint32_t number = tv_interner_add(uses->keys, key);
    uint32_t row =
        tv_map_add(&uses->index, (uint64_t)process << 32 | number, (uint32_t)uses->count);
    if (row == uses->count) {
        uses->rows =
            tv_array_reserve(uses->rows, &uses->capacity, uses->count + 1, sizeof *uses->rows);
        uses->rows[uses->count++] = (struct tv_te_stack_use){.process = process, .key = number};
    }
    return &uses->rows[row];
}

/* Count a use of a stack frame id. Only the first offsets are kept: they are for diagnostics of ids
 * that the file does not define. */
void tv_te_stack_uses_add(struct tv_te_stack_uses *uses, uint32_t process, struct tv_bytes key,
                          uint64_t offset)
{
    struct tv_te_stack_use *use = te_stack_uses_find(uses, process, key);
    if (use->count < TV_TE_STACK_USE_OFFSETS)
        use->offsets[use->count] = offset;
    use->count++;
}

void tv_te_stack_uses_merge(struct tv_te_stack_uses *uses, uint32_t process, struct tv_bytes key,
                            const struct tv_te_stack_use *use)
{
    assert(use->count > 0);
    struct tv_te_stack_use *all = te_stack_uses_find(uses, process, key);
    for (uint64_t i = 0; i < use->count && all->count + i < TV_TE_STACK_USE_OFFSETS; i++)
        all->offsets[all->count + i] = use->offsets[i];
    all->count += use->count;
}
