/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/trace_event/threads.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/number.h"

enum te_raw_id_kind {
    ID_NUMBER = 'n',
    ID_STRING = 's',
    ID_OTHER = 'o', /* null, true, an object */
};

void tv_te_threads_init(struct tv_te_threads *threads, struct tv_head *head, uint32_t input)
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

static enum te_raw_id_kind te_threads_id_kind(struct tv_bytes raw)
{
    if (tv_te_is_string(raw))
        return ID_STRING;
    return strchr("+-.0123456789", raw.data[0]) ? ID_NUMBER : ID_OTHER;
}

/* The key of a raw id that is there. */
static uint32_t te_threads_id_key(struct tv_te_threads *threads, struct tv_bytes raw)
{
    struct tv_bytes text = tv_te_decode_text(raw, &threads->scratch);
    uint8_t *copy = tv_alloc(text.length + 1, 1);
    copy[0] = (uint8_t)te_threads_id_kind(raw);
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

static struct te_shown_id te_threads_shown_id(struct tv_te_threads *threads, uint32_t key)
{
    struct te_shown_id id = {0, TV_EMPTY_STRING, TV_EMPTY_STRING};
    struct tv_bytes text = tv_interner_get(threads->keys, key);
    uint8_t kind = text.data[0];
    text.data++;
    text.length--;
    if (kind != ID_NUMBER || !tv_parse_u64(text, &id.number)) {
        id.number = 0;
        id.key = tv_head_string(threads->head, text);
    }
    if (kind == ID_STRING)
        id.name = id.key;
    return id;
}

static void te_threads_add_head_process(struct tv_te_threads *threads, uint32_t key)
{
    struct te_shown_id id = te_threads_shown_id(threads, key);
    uint32_t process = tv_head_add_process(threads->head, id.number, TV_BYTES(""));
    threads->head->processes[process].name = id.name;
    threads->head->processes[process].key = id.key;
}

static void te_threads_add_head_thread(struct tv_te_threads *threads, uint32_t process, uint32_t key)
{
    struct te_shown_id id = te_threads_shown_id(threads, key);
    struct tv_thread thread = {
        .id = id.number,
        .key = id.key,
        .name = id.name,
        .process = threads->first_process + process,
        .input = threads->input,
    };
    tv_head_add_thread(threads->head, &thread);
}

/* ---- */

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

static uint32_t te_threads_thread_of_key(struct tv_te_threads *threads, uint32_t process, uint32_t key)
{
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

uint32_t tv_te_threads_add_process(struct tv_te_threads *threads, struct tv_bytes pid)
{
    if (!pid.data)
        pid = TV_BYTES("0");
    return threads->first_process + te_threads_process_of_key(threads, te_threads_id_key(threads, pid));
}

uint32_t tv_te_threads_find_process(struct tv_te_threads *threads, struct tv_bytes pid)
{
    uint32_t found = tv_map_find(&threads->process_index, te_threads_id_key(threads, pid));
    return found == TV_NONE ? TV_NONE : threads->first_process + found;
}

uint32_t tv_te_threads_add_thread(struct tv_te_threads *threads, uint32_t process, struct tv_bytes pid,
                      struct tv_bytes tid)
{
    if (!tid.data)
        tid = pid.data ? pid : TV_BYTES("0");
    uint32_t key = te_threads_id_key(threads, tid);
    return threads->first_thread + te_threads_thread_of_key(threads, process - threads->first_process, key);
}

void tv_te_threads_merge_processes(struct tv_te_threads *all, const struct tv_te_threads *chunk,
                                   uint32_t *processes)
{
    for (size_t i = 0; i < chunk->process_count; i++) {
        uint32_t key = tv_interner_add(all->keys, tv_interner_get(chunk->keys, chunk->processes[i]));
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
