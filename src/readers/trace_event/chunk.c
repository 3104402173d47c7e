/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk.c - from the fields of each event to spans, instants, counters and deferred events.
 *
 * This is the hot loop of reading: every event of a file comes through tv_te_chunk_take.  It stays
 * fast because it decodes nothing that it can number instead: threads are found by the raw text of
 * their ids (the id cache), names by that of name and category (tables.c).
 *
 *     fields of an event --> thread, name --> X B E        spans, packed (model/assembly/gather.c)
 *                                        --> i I R C      instants and counters
 *                                        --> s t f        flow events, packed
 *                                        --> all others   deferred: place and ids only
 *
 * Deferred events are few, and their meaning depends on others, maybe of other chunks; join/ reads
 * them again when all chunks are there.
 *
 * Numbers of threads and names count within the chunk.  Merging gives them their numbers in the
 * trace in the order of chunks, so that a split changes nothing.
 */
#include "readers/trace_event/chunk.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/json/json.h"

/* ---- Threads ---- */

/* An id of up to 15 bytes, compared as two numbers. */
struct te_packed_id {
    uint64_t low, high;
};

struct te_cached_thread {
    struct te_packed_id pid, tid;
    uint32_t process;
    uint32_t thread; /* TV_NONE: no event of the thread so far */
};

struct tv_te_id_cache {
    struct te_cached_thread *rows;
    size_t count, capacity;
    uint32_t *slots; /* number of a row; TV_NONE: free */
    size_t mask;
    struct tv_interner *longer; /* ids longer than 15 bytes */
    uint32_t last;
};

#define FIRST_ID_SLOTS 256

/* Return free slots. */
static uint32_t *te_id_cache_new_slots(size_t count)
{
    uint32_t *slots = tv_alloc(count, sizeof *slots);
    memset(slots, 0xff, count * sizeof *slots);
    return slots;
}

/* Make an empty cache. */
static struct tv_te_id_cache *te_id_cache_new(void)
{
    struct tv_te_id_cache *cache = tv_alloc(1, sizeof *cache);
    cache->longer = tv_interner_new();
    cache->slots = te_id_cache_new_slots(FIRST_ID_SLOTS);
    cache->mask = FIRST_ID_SLOTS - 1;
    cache->last = TV_NONE;
    return cache;
}

/* Free the cache with its rows. */
static void te_id_cache_free(struct tv_te_id_cache *cache)
{
    tv_interner_free(cache->longer);
    tv_free(cache->slots);
    tv_free(cache->rows);
    tv_free(cache);
}

/* Pack an id.  The last byte is the length, or 0xff for a number of `longer`, so no two ids are
 * equal. */
TV_INLINE struct te_packed_id te_id_cache_pack(struct tv_te_id_cache *cache, struct tv_bytes raw)
{
    struct te_packed_id id = {0, 0};
    if (TV_LIKELY(raw.length <= 7)) {
        if (raw.length > 0) {
            memcpy(&id.low, raw.data, 8); /* the slack after the window makes this safe */
            id.low &= ((uint64_t)1 << raw.length * 8) - 1;
        }
    } else if (raw.length <= 15) {
        memcpy(&id.low, raw.data, 8);
        memcpy(&id.high, raw.data + 8, raw.length - 8);
    } else {
        id.low = tv_interner_add(cache->longer, raw);
        id.high = (uint64_t)0xff << 56;
        return id;
    }
    id.high |= (uint64_t)raw.length << 56;
    return id;
}

/* Compare without a branch in between: both halves differ rarely. */
TV_INLINE bool te_id_cache_same(struct te_packed_id a, struct te_packed_id b)
{
    return ((a.low ^ b.low) | (a.high ^ b.high)) == 0;
}

/* Hash both ids to a slot. */
static size_t te_id_cache_slot_of(const struct tv_te_id_cache *cache, struct te_packed_id pid,
                                  struct te_packed_id tid)
{
    uint64_t hash = (pid.low ^ pid.high * 31) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 29 ^ tid.low ^ tid.high * 31) * UINT64_C(0xd6e8feb86659fd93);
    return (size_t)(hash ^ hash >> 32) & cache->mask;
}

/* Double the table; rows keep their numbers, only their slots move. */
static void te_id_cache_grow(struct tv_te_id_cache *cache)
{
    assert((cache->mask & (cache->mask + 1)) == 0);
    tv_free(cache->slots);
    cache->mask = tv_size_mul(cache->mask + 1, 2) - 1;
    cache->slots = te_id_cache_new_slots(cache->mask + 1);
    for (size_t i = 0; i < cache->count; i++) {
        size_t slot = te_id_cache_slot_of(cache, cache->rows[i].pid, cache->rows[i].tid);
        while (cache->slots[slot] != TV_NONE)
            slot = (slot + 1) & cache->mask;
        cache->slots[slot] = (uint32_t)i;
    }
}

/* Look the ids up in the hash table, and remember the row for the next event. */
static TV_NOINLINE struct te_cached_thread *te_id_cache_find_or_add(struct tv_te_chunk *chunk,
                                                                    struct te_packed_id pid,
                                                                    struct te_packed_id tid,
                                                                    struct tv_bytes raw_pid)
{
    struct tv_te_id_cache *cache = chunk->cache;
    size_t slot = te_id_cache_slot_of(cache, pid, tid);
    for (; cache->slots[slot] != TV_NONE; slot = (slot + 1) & cache->mask) {
        struct te_cached_thread *row = &cache->rows[cache->slots[slot]];
        if (te_id_cache_same(row->pid, pid) && te_id_cache_same(row->tid, tid)) {
            cache->last = cache->slots[slot];
            return row;
        }
    }
    if (cache->count >= TV_NONE - 1)
        tv_memory_exhausted();
    cache->last = cache->slots[slot] = (uint32_t)cache->count;
    *tv_table_add(cache) = (struct te_cached_thread){
        pid, tid, tv_te_threads_add_process(&chunk->threads, raw_pid), TV_NONE};
    if (cache->count > cache->mask / 2)
        te_id_cache_grow(cache);
    return &cache->rows[cache->last];
}

/* Return the row of the event's ids.  Most events have those of the event before. */
TV_INLINE struct te_cached_thread *te_id_cache_find(struct tv_te_chunk *chunk,
                                                    const struct tv_te_fields *fields)
{
    struct tv_te_id_cache *cache = chunk->cache;
    struct te_packed_id pid = te_id_cache_pack(cache, fields->pid),
                        tid = te_id_cache_pack(cache, fields->tid);
    if (TV_LIKELY(cache->last != TV_NONE)) {
        struct te_cached_thread *row = &cache->rows[cache->last];
        if (te_id_cache_same(row->pid, pid) && te_id_cache_same(row->tid, tid))
            return row;
    }
    return te_id_cache_find_or_add(chunk, pid, tid, fields->pid);
}

/* Return the process of the event, which its pid alone decides. */
static uint32_t te_chunk_process_of(struct tv_te_chunk *chunk, const struct tv_te_fields *fields)
{
    return te_id_cache_find(chunk, fields)->process;
}

/* Return the thread of the event.  It is added only now: events of a process do not make a thread.
 */
TV_INLINE uint32_t te_chunk_thread_of(struct tv_te_chunk *chunk, const struct tv_te_fields *fields)
{
    struct te_cached_thread *row = te_id_cache_find(chunk, fields);
    if (TV_UNLIKELY(row->thread == TV_NONE))
        row->thread =
            tv_te_threads_add_thread(&chunk->threads, row->process, fields->pid, fields->tid);
    return row->thread;
}

/* ---- The chunk ---- */

void tv_te_chunk_init(struct tv_te_chunk *chunk)
{
    memset(chunk, 0, sizeof *chunk);
    chunk->gather = tv_gather_new();
    chunk->counters = tv_te_counters_new();
    chunk->cache = te_id_cache_new();
    tv_idle_gap_init(&chunk->times);
    tv_te_names_init(&chunk->names);
    tv_te_threads_init(&chunk->threads, NULL, 0);
}

void tv_te_chunk_release(struct tv_te_chunk *chunk)
{
    tv_gather_free(chunk->gather);
    tv_diagnostics_clear(&chunk->diagnostics);
    tv_te_names_release(&chunk->names);
    tv_te_threads_release(&chunk->threads);
    tv_te_counters_free(chunk->counters);
    tv_free(chunk->deferred.rows);
    tv_te_flow_list_release(&chunk->flows);
    tv_free(chunk->metadata.rows);
    tv_free(chunk->instants.rows);
    tv_free(chunk->sketching.tracks);
    tv_te_stack_uses_release(&chunk->uses);
    te_id_cache_free(chunk->cache);
}

/* The event that is being read. */
struct te_chunk_event {
    const struct tv_te_fields *fields;
    uint64_t offset;
    int64_t time;
    char phase;
};

/* Count a diagnostic at the event. */
static void te_chunk_warn(struct tv_te_chunk *chunk, enum tv_diagnostic_kind kind,
                          const struct te_chunk_event *event)
{
    tv_diagnostics_add(&chunk->diagnostics, kind, event->offset);
}

/* Count an unknown phase by its letter; [0] counts those that are no printable character. */
static void te_chunk_warn_phase(struct tv_te_chunk *chunk, const struct te_chunk_event *event)
{
    bool letter = event->phase > ' ' && event->phase < 0x7f;
    te_chunk_warn(chunk, TV_DIAGNOSTIC_UNKNOWN_PHASE, event);
    chunk->diagnostics.phases[letter ? (unsigned char)event->phase : 0]++;
}

/* ---- What events must say ---- */

/* Return true when the phase is among these letters. */
static bool te_phase_is_one_of(char phase, const char *phases)
{
    return strchr(phases, phase) != NULL;
}

/* True for an instant with this scope. */
static bool te_event_has_scope(const struct te_chunk_event *event, struct tv_bytes scope)
{
    return te_phase_is_one_of(event->phase, "iIR") && tv_bytes_equal(event->fields->s, scope);
}

/* Ends may omit their name; dumps, clocks and "=" go by their ids, a sample by its stack.  Async
 * events are checked when they are paired. */
static bool te_event_needs_name(const struct te_chunk_event *event)
{
    if (event->phase == 'P' && (event->fields->sf.data || event->fields->stack.data))
        return false;
    return te_phase_is_one_of(event->phase, "XBiIRCSTpFstfPNOD()");
}

/* True when the phase belongs to a process. */
static bool te_event_needs_process(const struct te_chunk_event *event)
{
    return !te_phase_is_one_of(event->phase, "Vc=") &&
           !te_event_has_scope(event, TV_BYTES("\"g\""));
}

/* True when the phase belongs to a thread. */
static bool te_event_needs_thread(const struct te_chunk_event *event)
{
    return te_event_needs_process(event) && !te_phase_is_one_of(event->phase, "CNODv") &&
           !te_event_has_scope(event, TV_BYTES("\"p\""));
}

/* Count the missing fields that the phase needs. */
static TV_NOINLINE void te_chunk_warn_missing(struct tv_te_chunk *chunk,
                                              const struct te_chunk_event *event)
{
    if (!event->fields->pid.data && te_event_needs_process(event))
        te_chunk_warn(chunk, TV_DIAGNOSTIC_PID_MISSING, event);
    if (!event->fields->tid.data && te_event_needs_thread(event))
        te_chunk_warn(chunk, TV_DIAGNOSTIC_TID_MISSING, event);
    if (!event->fields->name.data && te_event_needs_name(event))
        te_chunk_warn(chunk, TV_DIAGNOSTIC_NAME_MISSING, event);
}

/* Return the reserved colour of the event; 0: it names none, or an unknown one. */
static unsigned te_chunk_read_colour(struct tv_te_chunk *chunk, const struct te_chunk_event *event)
{
    if (TV_LIKELY(!event->fields->cname.data))
        return 0;
    unsigned colour = tv_te_parse_colour(event->fields->cname);
    if (colour == 0)
        te_chunk_warn(chunk, TV_DIAGNOSTIC_BAD_COLOUR, event);
    return colour;
}

/* Defer an event: keep its place and, if there is room, what joins it. */
static void te_chunk_add_deferred(struct tv_te_chunk *chunk, const struct te_chunk_event *event,
                                  uint32_t process, uint32_t thread)
{
    struct tv_te_deferred *deferred = tv_table_add(&chunk->deferred);
    *deferred = (struct tv_te_deferred){
        .time = event->time,
        .offset = event->offset,
        .thread = thread,
        .process = process,
        .frame = tv_te_names_add(&chunk->names, event->fields->name, event->fields->cat),
        .phase = event->phase,
    };
    tv_te_link_keep(deferred, event->fields);
}

/* Defer an event of a phase that is joined later.  A thread state extends the trace to its end. */
static void te_chunk_take_deferred(struct tv_te_chunk *chunk, const struct te_chunk_event *event)
{
    bool of_process = strchr("NODvVc", event->phase) != NULL;
    int64_t length;
    if (event->phase == 'T' && tv_te_parse_time(event->fields->dur, &length))
        tv_idle_gap_widen(&chunk->times, event->time + tv_te_state_length(event->time, length));
    uint32_t process = te_chunk_process_of(chunk, event->fields);
    te_chunk_add_deferred(chunk, event, process,
                          of_process ? TV_NONE : te_chunk_thread_of(chunk, event->fields));
}

/* Pack a flow event; it is not read again. */
static void te_chunk_take_flow(struct tv_te_chunk *chunk, const struct te_chunk_event *event)
{
    uint32_t thread = te_chunk_thread_of(chunk, event->fields);
    struct tv_te_flow_event flow = {
        .time = event->time,
        .offset = event->offset & TV_OFFSET_MASK,
        .phase = (uint8_t)event->phase,
        .of = thread,
        .frame = tv_te_names_add(&chunk->names, event->fields->name, event->fields->cat),
    };
    tv_te_flow_list_add(&chunk->flows, &flow, event->fields, &chunk->threads.scratch);
}

/* ---- Stacks ---- */

/* Count the use of a stack frame; an event with both forms of a stack uses neither. */
static void te_chunk_use_stack(struct tv_te_chunk *chunk, const struct te_chunk_event *event,
                               struct tv_bytes frame, struct tv_bytes stack)
{
    if (frame.data && stack.data)
        te_chunk_warn(chunk, TV_DIAGNOSTIC_STACK_TWICE, event);
    else if (frame.data)
        tv_te_stack_uses_add(&chunk->uses, te_chunk_process_of(chunk, event->fields),
                             tv_te_decode_text(frame, &chunk->threads.scratch), event->offset);
}

/* The stacks of samples are looked up when the samples are made. */
static void te_chunk_use_stacks(struct tv_te_chunk *chunk, const struct te_chunk_event *event)
{
    const struct tv_te_fields *fields = event->fields;
    if (event->phase == 'P')
        return;
    te_chunk_use_stack(chunk, event, fields->sf, fields->stack);
    te_chunk_use_stack(chunk, event, fields->esf, fields->estack);
}

/* ---- The preview ---- */

/* Append an id to the name of a track, cut to half of the room. */
static size_t te_sketch_put_text(char *to, size_t at, struct tv_bytes text)
{
    size_t room = TV_SKETCH_NAME / 2 - 1;
    size_t length = text.length < room ? text.length : room;
    if (length > 0)
        memcpy(to + at, text.data, length);
    return at + length;
}

/* Return the text of an id without the letter of its kind. */
static struct tv_bytes te_sketch_id_text(const struct tv_te_chunk *chunk, uint32_t key)
{
    struct tv_bytes text = tv_interner_get(chunk->threads.keys, key);
    return (struct tv_bytes){text.data + 1, text.length - 1};
}

/* Name the track by the ids: names of threads may be anywhere in the file. */
static uint32_t te_sketch_find_track(const struct tv_te_chunk *chunk, uint32_t thread)
{
    char name[TV_SKETCH_NAME];
    const struct tv_te_thread *known = &chunk->threads.threads[thread];
    size_t length = te_sketch_put_text(
        name, 0, te_sketch_id_text(chunk, chunk->threads.processes[known->process]));
    name[length++] = '/';
    length = te_sketch_put_text(name, length, te_sketch_id_text(chunk, known->key));
    return tv_sketch_track(chunk->sketching.sketch,
                           (struct tv_bytes){(const uint8_t *)name, length});
}

/* Give the threads up to this one their tracks. */
static void te_sketch_add_threads(struct tv_te_chunk *chunk, uint32_t thread)
{
    struct tv_te_sketching *sketching = &chunk->sketching;
    for (; sketching->track_count <= thread; sketching->track_count++) {
        sketching->tracks = tv_array_reserve(sketching->tracks, &sketching->track_capacity,
                                             sketching->track_count + 1, sizeof *sketching->tracks);
        sketching->tracks[sketching->track_count] =
            te_sketch_find_track(chunk, (uint32_t)sketching->track_count);
    }
}

/* Mark an event; marks go into the shared preview in batches, as that takes a lock. */
static TV_NOINLINE void te_sketch_add_event(struct tv_te_chunk *chunk, uint32_t thread,
                                            int64_t time)
{
    assert(chunk->sketching.count < TV_COUNT(chunk->sketching.marks));
    struct tv_te_sketching *sketching = &chunk->sketching;
    te_sketch_add_threads(chunk, thread);
    sketching->marks[sketching->count++] = (struct tv_sketch_mark){time, sketching->tracks[thread]};
    if (sketching->count < TV_COUNT(sketching->marks))
        return;
    tv_sketch_add(sketching->sketch, sketching->marks, sketching->count);
    sketching->count = 0;
}

/* ---- Slices ---- */

/* Read how long a complete slice is.  False: it never ends. */
static bool te_chunk_read_duration(struct tv_te_chunk *chunk, const struct te_chunk_event *event,
                                   int64_t *length)
{
    *length = 0;
    if (!event->fields->dur.data)
        return false;
    if (TV_UNLIKELY(!tv_te_parse_time(event->fields->dur, length))) {
        te_chunk_warn(chunk, TV_DIAGNOSTIC_BAD_DURATION, event);
        return tv_bytes_equal(event->fields->dur, TV_BYTES("null"));
    }
    if (TV_UNLIKELY(*length < 0)) {
        te_chunk_warn(chunk, TV_DIAGNOSTIC_NEGATIVE_DURATION, event);
        *length = 0;
    }
    if (TV_UNLIKELY(event->time > 0 && *length > TV_TE_LATEST - event->time)) {
        te_chunk_warn(chunk, TV_DIAGNOSTIC_BAD_DURATION, event);
        *length = TV_TE_LATEST - event->time;
    }
    return true;
}

/* Read a CPU time; an invalid one counts as missing. */
static int64_t te_chunk_read_cpu_time(struct tv_te_chunk *chunk, struct tv_bytes raw)
{
    int64_t time;
    if (!raw.data || !tv_te_parse_time(raw, &time) || time < TV_TE_EARLIEST)
        return TV_NO_TIME;
    chunk->has_cpu = true;
    return time;
}

/* Read start and length of a complete slice on its thread's CPU clock. */
static struct tv_cpu_times te_chunk_read_cpu_times(struct tv_te_chunk *chunk,
                                                   const struct tv_te_fields *fields)
{
    int64_t start = te_chunk_read_cpu_time(chunk, fields->tts),
            length = te_chunk_read_cpu_time(chunk, fields->tdur);
    return (struct tv_cpu_times){start, length < 0 ? TV_NO_TIME : length};
}

/* Return true for a slice that names a flow by bind_id. */
static bool te_event_is_bound(const struct tv_te_fields *fields)
{
    return fields->bind_id.data || fields->flow_in.data || fields->flow_out.data;
}

/* True, and counted, when the slice is of the tracing itself. */
static bool te_chunk_is_overhead(struct tv_te_chunk *chunk, const struct te_chunk_event *event,
                                 uint32_t name)
{
    if (TV_LIKELY(!chunk->names.names[name].overhead))
        return false;
    te_chunk_warn(chunk, TV_DIAGNOSTIC_TRACING_OVERHEAD, event);
    return true;
}

/* One event of so many goes into the preview, which costs next to nothing. */
#define MARKED 8

/* Return the colour of a slice whose end rewriting kept in "end": the end's own, or that of its
 * name if it has another one. */
static TV_NOINLINE unsigned te_chunk_end_colour(struct tv_te_chunk *chunk,
                                                const struct te_chunk_event *event, unsigned colour)
{
    const struct tv_te_fields *fields = event->fields;
    struct tv_bytes name = tv_te_member(fields->end, "name");
    unsigned own = tv_te_parse_colour(tv_te_member(fields->end, "cname"));
    if (own > 0)
        return own;
    if (!tv_te_is_string(name) || tv_bytes_equal(name, fields->name))
        return colour;
    return TV_COLOUR_HASHED + tv_te_name_colour(tv_te_decode_text(name, &chunk->threads.scratch));
}

/* Add a span to its thread.  One with a bind_id is deferred as well, for its arrows. */
static void te_chunk_add_span(struct tv_te_chunk *chunk, const struct te_chunk_event *event,
                              struct tv_span *span, const struct tv_cpu_times *cpu)
{
    uint32_t thread = te_chunk_thread_of(chunk, event->fields);
    span->time = event->time;
    span->offset = event->offset & TV_OFFSET_MASK;
    unsigned colour = te_chunk_read_colour(chunk, event);
    if (TV_UNLIKELY(event->fields->end.data) && event->phase == 'X')
        colour = te_chunk_end_colour(chunk, event, colour);
    if (TV_UNLIKELY(colour > 0))
        span->colour = (uint8_t)colour;
    tv_gather_span(chunk->gather, thread, span, cpu);
    if (TV_UNLIKELY(chunk->events % MARKED == 0 && chunk->sketching.sketch))
        te_sketch_add_event(chunk, thread, event->time);
    if (TV_UNLIKELY(te_event_is_bound(event->fields)) && event->phase != 'E')
        te_chunk_add_deferred(chunk, event, te_chunk_process_of(chunk, event->fields), thread);
}

/* Take phase X: a slice with its length in one event. */
static void te_chunk_take_complete(struct tv_te_chunk *chunk, const struct te_chunk_event *event)
{
    int64_t length;
    uint32_t name = tv_te_names_add(&chunk->names, event->fields->name, event->fields->cat);
    if (te_chunk_is_overhead(chunk, event, name))
        return;
    bool ends = te_chunk_read_duration(chunk, event, &length);
    chunk->has_open |= !ends;
    struct tv_span span = {
        .length = length,
        .flags = ends ? TV_SPAN_WHOLE : TV_SPAN_WHOLE | TV_SPAN_UNFINISHED,
        .frame = name,
    };
    struct tv_cpu_times cpu;
    bool timed = event->fields->tts.data || event->fields->tdur.data;
    if (timed)
        cpu = te_chunk_read_cpu_times(chunk, event->fields);
    tv_idle_gap_count(&chunk->times, event->time);
    tv_idle_gap_widen(&chunk->times, event->time + length);
    te_chunk_add_span(chunk, event, &span, timed ? &cpu : NULL);
}

/* Take phase B.  The CPU time travels in the length, which a beginning does not have. */
static void te_chunk_take_begin(struct tv_te_chunk *chunk, const struct te_chunk_event *event)
{
    struct tv_span span = {
        .length = te_chunk_read_cpu_time(chunk, event->fields->tts),
        .flags = TV_SPAN_BEGIN,
        .frame = tv_te_names_add(&chunk->names, event->fields->name, event->fields->cat),
    };
    te_chunk_add_span(chunk, event, &span, NULL);
}

/* True for an object with members, or any value that is not an object. */
static bool te_event_has_content(struct tv_bytes raw)
{
    size_t i = 1;
    if (raw.length == 0)
        return false;
    while (i < raw.length && (raw.data[i] == ' ' || raw.data[i] == '\n'))
        i++;
    return raw.data[0] != '{' || raw.data[i] != '}';
}

/* Return the colour of a name, for an end that may belong to a slice of another name and colours
 * it. */
static uint8_t te_chunk_name_colour(struct tv_te_chunk *chunk, uint32_t number)
{
    assert(number < chunk->names.count);
    struct tv_te_name *name = &chunk->names.names[number];
    if (TV_UNLIKELY(name->colour == 0)) {
        struct tv_bytes raw = {name->text, name->name_length};
        struct tv_bytes text = tv_te_decode_text(raw, &chunk->threads.scratch);
        name->colour = (uint8_t)(TV_COLOUR_HASHED + tv_te_name_colour(text));
    }
    return name->colour;
}

/* Take phase E, with the colour that it would give a slice of another name. */
static void te_chunk_take_end(struct tv_te_chunk *chunk, const struct te_chunk_event *event)
{
    const struct tv_te_fields *fields = event->fields;
    struct tv_span span = {
        .length = te_chunk_read_cpu_time(chunk, fields->tts),
        .flags = TV_SPAN_END,
    };
    if (te_event_has_content(fields->args) || fields->rare)
        span.flags |= TV_SPAN_TELLS;
    if (fields->name.data) {
        span.frame = tv_te_names_add(&chunk->names, fields->name, fields->cat);
        span.colour = te_chunk_name_colour(chunk, span.frame);
    } else {
        span.flags |= TV_SPAN_NAMELESS;
    }
    te_chunk_add_span(chunk, event, &span, NULL);
}

/* ---- Instants, counters, metadata ---- */

/* Take phases i, I and R: an instant of its scope. */
static void te_chunk_take_instant(struct tv_te_chunk *chunk, const struct te_chunk_event *event)
{
    struct tv_bytes s = event->fields->s;
    struct tv_instant instant = {.time = event->time, .offset = event->offset};
    if (!s.data || tv_bytes_equal(s, TV_BYTES("\"t\""))) {
        instant.scope = TV_SCOPE_THREAD;
        instant.of = te_chunk_thread_of(chunk, event->fields);
    } else if (tv_bytes_equal(s, TV_BYTES("\"p\""))) {
        instant.scope = TV_SCOPE_PROCESS;
        instant.of = te_chunk_process_of(chunk, event->fields);
    } else if (tv_bytes_equal(s, TV_BYTES("\"g\""))) {
        instant.scope = TV_SCOPE_GLOBAL;
        instant.of = TV_NONE;
    } else {
        te_chunk_warn(chunk, TV_DIAGNOSTIC_BAD_SCOPE, event);
        return;
    }
    instant.frame = tv_te_names_add(&chunk->names, event->fields->name, event->fields->cat);
    instant.colour = (uint8_t)te_chunk_read_colour(chunk, event);
    *tv_table_add(&chunk->instants) = instant;
}

/* Take phase C. */
static void te_chunk_take_counter(struct tv_te_chunk *chunk, const struct te_chunk_event *event)
{
    struct tv_te_counter_event counter = {
        .process = te_chunk_process_of(chunk, event->fields),
        .name = tv_te_names_add(&chunk->names, event->fields->name, event->fields->cat),
        .id = event->fields->id,
        .args = event->fields->args,
        .time = event->time,
        .offset = event->offset,
        .colour = te_chunk_read_colour(chunk, event),
    };
    tv_te_counters_add(chunk->counters, &counter, &chunk->diagnostics);
}

/* Keep phase M for the merge: names may come before or after the events that they name. */
static void te_chunk_take_metadata(struct tv_te_chunk *chunk, const struct te_chunk_event *event)
{
    struct tv_bytes name = event->fields->name;
    bool of_thread = tv_bytes_equal(name, TV_BYTES("\"thread_name\"")) ||
                     tv_bytes_equal(name, TV_BYTES("\"thread_sort_index\""));
    bool of_process = of_thread || tv_bytes_starts_with(name, TV_BYTES("\"process_"));
    if (of_process && !event->fields->pid.data)
        te_chunk_warn(chunk, TV_DIAGNOSTIC_PID_MISSING, event);
    if (of_thread && !event->fields->tid.data)
        te_chunk_warn(chunk, TV_DIAGNOSTIC_TID_MISSING, event);
    *tv_table_add(&chunk->metadata) = (struct tv_te_deferred){
        .offset = event->offset,
        .thread = of_thread ? te_chunk_thread_of(chunk, event->fields) : TV_NONE,
        .process = te_chunk_process_of(chunk, event->fields),
        .frame = TV_NONE, /* metadata is not a slice */
        .phase = event->phase,
    };
}

/* ---- One event ---- */

/* Dispatch an event that has a valid time. */
static void te_chunk_take_timed(struct tv_te_chunk *chunk, const struct te_chunk_event *event)
{
    if (event->phase != 'X') /* X may still be dropped as overhead, and has an end */
        tv_idle_gap_count(&chunk->times, event->time);
    switch (event->phase) {
    case 'X':
        te_chunk_take_complete(chunk, event);
        break;
    case 'B':
        te_chunk_take_begin(chunk, event);
        break;
    case 'E':
        te_chunk_take_end(chunk, event);
        break;
    case 'i':
    case 'I':
    case 'R':
        te_chunk_take_instant(chunk, event);
        break;
    case 'C':
        te_chunk_take_counter(chunk, event);
        break;
    case 's':
    case 't':
    case 'f':
        te_chunk_take_flow(chunk, event);
        break;
    default:
        te_chunk_take_deferred(chunk, event);
        break;
    }
}

/* Take a "=" without a time: ids are joined at all times. */
static TV_NOINLINE void te_chunk_take_timeless(struct tv_te_chunk *chunk,
                                               struct te_chunk_event *event)
{
    event->time = 0;
    if (event->phase == '=')
        te_chunk_take_deferred(chunk, event);
    else
        te_chunk_warn(chunk, TV_DIAGNOSTIC_BAD_TIMESTAMP, event);
}

/* Return true for a phase of the specification; those of slices, which most events have, come
 * first. */
TV_INLINE bool te_phase_is_known(char phase)
{
    if (TV_LIKELY(phase == 'X' || phase == 'B' || phase == 'E'))
        return true;
    return phase != '\0' && strchr("iIRCbneSTpFstfPNODVvc()=", phase);
}

void tv_te_chunk_take(struct tv_te_chunk *chunk, const struct tv_te_fields *fields, uint64_t offset)
{
    struct te_chunk_event event = {
        .fields = fields, .offset = offset, .phase = tv_te_fields_phase(fields)};
    chunk->events++;
    chunk->phases[(unsigned char)event.phase < 128 ? (unsigned char)event.phase : 0]++;
    if (TV_UNLIKELY(fields->faults))
        te_chunk_warn(chunk, TV_DIAGNOSTIC_BAD_JSON, &event);
    if (TV_UNLIKELY(fields->args.length > TV_JSON_DEPTH) && tv_json_is_too_deep(fields->args))
        te_chunk_warn(chunk, TV_DIAGNOSTIC_TOO_NESTED, &event);
    if (event.phase == 'M') {
        te_chunk_take_metadata(chunk, &event);
        return;
    }
    if (TV_UNLIKELY(!te_phase_is_known(event.phase))) {
        te_chunk_warn_phase(chunk, &event);
        return;
    }
    if (TV_UNLIKELY(!tv_te_parse_time(fields->ts, &event.time) || event.time < TV_TE_EARLIEST)) {
        te_chunk_take_timeless(chunk, &event);
        return;
    }
    if (TV_UNLIKELY(!fields->pid.data || !fields->tid.data || !fields->name.data))
        te_chunk_warn_missing(chunk, &event);
    if (TV_UNLIKELY(fields->rare))
        te_chunk_use_stacks(chunk, &event);
    te_chunk_take_timed(chunk, &event);
}
