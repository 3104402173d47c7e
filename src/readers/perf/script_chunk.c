/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_chunk.c - lines of "perf script" into samples of a chunk, and chunks into the input
 * (script_chunk.h).
 *
 *     head line    ends the open sample and opens the next
 *     frame        is pushed onto the stack of the open sample
 *     "  a.c:12"   gives file and line to the frame above it
 *     blank line   ends the open sample, if it has frames
 *
 * A chunk has numbers of its own for strings, functions, threads, events and paths, so workers need
 * no locks. Merging gives each row its number in the trace, once per row and not once per sample.
 *
 * Lines of stacks repeat thousands of times. The hash of a line's bytes leads to its meaning: two
 * lines with the same 64 bits would be confused, which is accepted.
 */
#include "readers/perf/script_chunk.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "readers/text_lines.h"

/* Meaning of a line: a function, a place (PLACE | its number), or nothing. */
#define PLACE (UINT32_C(1) << 30)
#define NOTHING (UINT32_C(1) << 31)

void tv_script_chunk_init(struct tv_script_chunk *chunk, unsigned fields)
{
    *chunk = (struct tv_script_chunk){.fields = fields};
    chunk->strings = tv_interner_new();
    tv_paths_init(&chunk->paths);
    tv_map_init(&chunk->lines);
    tv_map_init(&chunk->function_index);
    tv_map_init(&chunk->thread_index);
    tv_map_init(&chunk->event_index);
}

void tv_script_chunk_release(struct tv_script_chunk *chunk)
{
    tv_diagnostics_clear(&chunk->diagnostics);
    tv_interner_free(chunk->strings);
    tv_paths_release(&chunk->paths);
    tv_map_release(&chunk->lines);
    tv_map_release(&chunk->function_index);
    tv_map_release(&chunk->thread_index);
    tv_map_release(&chunk->event_index);
    tv_free(chunk->functions.rows);
    tv_free(chunk->places.rows);
    tv_free(chunk->threads.rows);
    tv_free(chunk->events.rows);
    tv_free(chunk->records.rows);
    tv_free(chunk->samples.rows);
    tv_free(chunk->switches.rows);
    tv_free(chunk->stack.rows);
}

static void script_chunk_warn(struct tv_script_chunk *chunk, enum tv_diagnostic_kind kind,
                              uint64_t offset)
{
    tv_diagnostics_add(&chunk->diagnostics, kind, offset);
}

static uint64_t script_hash(const void *row, size_t size)
{
    return tv_hash_bytes((struct tv_bytes){row, size});
}

/* ---- Tables of the chunk ---- */

/* Return the number of a function; equal ones have one. */
static uint32_t script_add_function(struct tv_script_chunk *chunk, struct script_function function)
{
    uint32_t key[] = {function.name, function.module, function.file, (uint32_t)function.line};
    uint32_t count = (uint32_t)chunk->functions.count;
    uint32_t number = tv_map_add(&chunk->function_index, script_hash(key, sizeof key), count);
    if (number == count)
        *tv_table_add(&chunk->functions) = function;
    return number;
}

/* Return the number of a thread; the last name that it has in this chunk counts. */
static uint32_t script_add_thread(struct tv_script_chunk *chunk, const struct tv_script_head *head)
{
    uint32_t name = TV_EMPTY_STRING;
    if (head->comm.length > 0)
        name = tv_interner_add(chunk->strings, head->comm);
    /* No pid has 64 bits, so none of these keys is that of a thread with an id. */
    bool by_name = (chunk->fields & TV_SCRIPT_TID) == 0;
    uint64_t key[] = {by_name ? UINT64_MAX : head->pid, by_name ? name : head->tid};
    uint32_t count = (uint32_t)chunk->threads.count;
    uint32_t number = tv_map_add(&chunk->thread_index, script_hash(key, sizeof key), count);
    if (number == count)
        *tv_table_add(&chunk->threads) =
            (struct script_thread){.by_name = by_name, .pid = head->pid, .tid = head->tid};
    if (name != TV_EMPTY_STRING)
        chunk->threads.rows[number].comm = name;
    return number;
}

/* Return the number of an event. With a period it is another value type than without. */
static uint32_t script_add_event(struct tv_script_chunk *chunk, struct tv_bytes name,
                                 bool has_period)
{
    uint32_t key[] = {tv_interner_add(chunk->strings, name), has_period};
    uint32_t count = (uint32_t)chunk->events.count;
    uint32_t number = tv_map_add(&chunk->event_index, script_hash(key, sizeof key), count);
    if (number == count)
        *tv_table_add(&chunk->events) =
            (struct script_event){.name = key[0], .has_period = has_period};
    return number;
}

/* ---- Samples ---- */

/* Return the function in the file that the line below its frame names, at that line. */
static uint32_t script_at_line(struct tv_script_chunk *chunk, struct script_entry entry)
{
    struct script_function at = chunk->functions.rows[entry.function];
    if (entry.line <= 0)
        return entry.function;
    at.line = entry.line;
    at.function = entry.function;
    return script_add_function(chunk, at);
}

/* Set the paths of the open sample, from the root. */
static void script_build_paths(struct tv_script_chunk *chunk)
{
    const struct script_entry *stack = chunk->stack.rows;
    size_t depth = chunk->stack.count, least = 0;
    uint32_t path = TV_ROOT_PATH, line_path = TV_ROOT_PATH;
    if (depth > TV_PROFILE_DEPTH) {
        least = depth - TV_PROFILE_DEPTH;
        script_chunk_warn(chunk, TV_DIAGNOSTIC_TOO_DEEP, chunk->open.offset);
    }
    for (size_t i = depth; i > least; i--)
        path = tv_paths_child(&chunk->paths, path, stack[i - 1].function);
    for (size_t i = depth; chunk->has_lines && i > least; i--)
        line_path = tv_paths_child(&chunk->paths, line_path, script_at_line(chunk, stack[i - 1]));
    chunk->open.path = path;
    chunk->open.line_path = chunk->has_lines ? line_path : path;
}

void tv_script_chunk_end(struct tv_script_chunk *chunk)
{
    if (!chunk->is_open)
        return;
    script_build_paths(chunk);
    if (chunk->samples.count == 0)
        chunk->first = chunk->open.time;
    else
        chunk->falls += chunk->open.time < chunk->previous;
    chunk->previous = chunk->open.time;
    chunk->events.rows[chunk->open.type].count++;
    *tv_table_add(&chunk->samples) = chunk->open;
    chunk->stack.count = 0;
    chunk->is_open = chunk->has_lines = chunk->has_tail = false;
}

static void script_push(struct tv_script_chunk *chunk, uint32_t function)
{
    *tv_table_add(&chunk->stack) = (struct script_entry){function, 0};
}

static uint32_t script_know_frame(struct tv_script_chunk *chunk,
                                  const struct tv_script_frame *frame)
{
    return script_add_function(chunk, (struct script_function){
                                          .name = tv_interner_add(chunk->strings, frame->name),
                                          .module = tv_interner_add(chunk->strings, frame->module),
                                          .kind = frame->kind,
                                      });
}

/* Return the name of a sample's value type. */
static struct tv_bytes script_type_name(const struct tv_script_head *head)
{
    if (head->event.length > 0)
        return head->event;
    return head->has_period ? TV_BYTES("period") : TV_BYTES("samples");
}

/* Note what a tracepoint of the scheduler says beside being a sample.  It needs a time and ids of
 * threads. */
static void script_note_switch(struct tv_script_chunk *chunk, const struct tv_script_head *head,
                               uint64_t offset)
{
    const unsigned needed = TV_SCRIPT_TID | TV_SCRIPT_TIME;
    struct tv_perf_sched_event event = {
        .time = head->time,
        .offset = offset,
        .cpu = head->cpu,
        .by = head->tid < TV_NONE ? (uint32_t)head->tid : TV_NONE,
    };
    struct tv_bytes name;
    enum tv_perf_sched_kind kind;
    if ((chunk->fields & needed) != needed || !tv_perf_sched_find_kind(head->event, &kind))
        return;
    if (!tv_perf_sched_parse(kind, head->tail, &event, &name))
        return;
    event.name = tv_interner_add(chunk->strings, name);
    *tv_table_add(&chunk->switches) = event;
}

/* Open a sample; with -F ip,sym but no chain, its only frame is at the end of the head. */
static void script_open_sample(struct tv_script_chunk *chunk, const struct tv_script_head *head,
                               uint64_t offset)
{
    struct tv_script_frame frame;
    tv_script_chunk_end(chunk);
    chunk->open = (struct tv_sample){
        .time = head->time,
        .weight = head->period,
        .offset = offset,
        .thread = script_add_thread(chunk, head),
        .cpu = head->cpu,
        .type = script_add_event(chunk, script_type_name(head), head->has_period),
    };
    script_note_switch(chunk, head, offset);
    chunk->is_open = true;
    chunk->has_tail = tv_script_parse_tail(head, &frame);
    if (chunk->has_tail)
        script_push(chunk, script_know_frame(chunk, &frame));
}

/* ---- Lines ---- */

/* Count a record that is no sample: "PERF_RECORD_COMM exec: mt:4811/4811". */
static void script_take_record(struct tv_script_chunk *chunk, struct tv_script_head *head,
                               struct tv_bytes text, uint64_t offset)
{
    size_t length = 0;
    while (length < text.length && (text.data[length] == '_' || text.data[length] == '2' ||
                                    (text.data[length] >= 'A' && text.data[length] <= 'Z')))
        length++;
    struct tv_bytes name = {text.data, length};
    uint32_t string = tv_interner_add(chunk->strings, name);
    size_t i = 0;
    tv_script_chunk_end(chunk);
    while (i < chunk->records.count && chunk->records.rows[i].name != string)
        i++;
    if (i == chunk->records.count && i < TV_TYPES_MAX)
        tv_table_add(&chunk->records)->name = string;
    if (i < chunk->records.count)
        chunk->records.rows[i].count++;
    if (tv_bytes_starts_with(name, TV_BYTES("PERF_RECORD_LOST")))
        script_chunk_warn(chunk, TV_DIAGNOSTIC_EVENTS_LOST, offset);
    bool names = tv_script_parse_comm(text, head) && (chunk->fields & TV_SCRIPT_TID) != 0;
    if ((chunk->fields & TV_SCRIPT_PID) == 0)
        head->pid = 0; /* as in samples */
    if (names)
        script_add_thread(chunk, head);
}

/* Return the text of a record after the head, or an empty view. */
static struct tv_bytes script_find_record(struct tv_bytes line)
{
    static const char start[] = "PERF_RECORD_";
    size_t length = sizeof start - 1;
    const uint8_t *at = line.data, *end = line.data + line.length;
    while ((size_t)(end - at) >= length && (at = memchr(at, 'P', (size_t)(end - at))) != NULL) {
        if ((size_t)(end - at) >= length && memcmp(at, start, length) == 0)
            return (struct tv_bytes){at, (size_t)(end - at)};
        at++;
    }
    return (struct tv_bytes){line.data, 0};
}

/* Take a line that is the head of a sample or of another record. */
static bool script_take_head(struct tv_script_chunk *chunk, const struct tv_text_line *line)
{
    struct tv_script_head head;
    bool is_head = tv_script_parse_head(line->text, chunk->fields, &head);
    struct tv_bytes back = is_head ? (head.event.length > 0 ? head.event : head.tail) : line->text;
    struct tv_bytes record = {back.data, 0};
    if (!is_head || tv_bytes_starts_with(back, TV_BYTES("PERF_RECORD_")))
        record = script_find_record(line->text);
    if (record.length > 0)
        script_take_record(chunk, &head, record, line->offset);
    else if (is_head)
        script_open_sample(chunk, &head, line->offset);
    return is_head || record.length > 0;
}

/* Parse a line that was not seen before. */
static uint32_t script_know_line(struct tv_script_chunk *chunk, const struct tv_text_line *line)
{
    struct tv_script_frame frame;
    struct script_place place;
    struct tv_bytes file;
    if (tv_script_parse_frame(line->text, &frame))
        return script_know_frame(chunk, &frame);
    if (tv_script_is_no_place(line->text) || !tv_script_parse_place(line->text, &file, &place.line))
        return NOTHING;
    place.file = tv_interner_add(chunk->strings, file);
    *tv_table_add(&chunk->places) = place;
    return PLACE | (uint32_t)(chunk->places.count - 1);
}

/* Give the frame above its source line. */
static void script_take_place(struct tv_script_chunk *chunk, const struct script_place *place)
{
    struct script_entry *top = &chunk->stack.rows[chunk->stack.count - 1];
    struct script_function function = chunk->functions.rows[top->function];
    function.file = place->file;
    top->function = script_add_function(chunk, function);
    top->line = place->line;
    chunk->has_lines = chunk->has_lines || place->line > 0;
}

/* Take a blank line: it ends a sample. Some tools put one between a head and its frames, too. */
static void script_take_blank(struct tv_script_chunk *chunk)
{
    if (chunk->stack.count > 0)
        tv_script_chunk_end(chunk);
}

/* Prepare the open sample for a frame of a chain, or open one if samples have no heads. */
static void script_begin_chain(struct tv_script_chunk *chunk, uint64_t offset)
{
    static const struct tv_script_head none = {.cpu = TV_NONE, .period = 1};
    if (chunk->has_tail) {
        chunk->stack.count = 0; /* the head ended with the address of data (-F addr) */
        chunk->has_tail = false;
    }
    if (!chunk->is_open && chunk->fields == TV_SCRIPT_CHAIN)
        script_open_sample(chunk, &none, offset);
}

/* Take a line of a stack. */
static void script_take_frame(struct tv_script_chunk *chunk, const struct tv_text_line *line)
{
    uint64_t hash = tv_hash_bytes(line->text);
    uint32_t meaning = tv_map_find(&chunk->lines, hash);
    if (meaning == TV_NONE) {
        meaning = script_know_line(chunk, line);
        tv_map_set(&chunk->lines, hash, meaning);
    }
    bool is_frame = (meaning & (PLACE | NOTHING)) == 0;
    if (is_frame)
        script_begin_chain(chunk, line->offset);
    if (is_frame && chunk->is_open)
        script_push(chunk, meaning);
    else if ((meaning & PLACE) != 0 && chunk->is_open && chunk->stack.count > 0)
        script_take_place(chunk, &chunk->places.rows[meaning & ~PLACE]);
    else if (tv_bytes_trim(line->text).length == 0)
        script_take_blank(chunk);
    else if (!(chunk->stack.count > 0 && tv_script_is_no_place(line->text)) &&
             !tv_script_is_extra(line->text))
        script_chunk_warn(chunk, TV_DIAGNOSTIC_BAD_LINE, line->offset);
}

void tv_script_chunk_take(struct tv_script_chunk *chunk, const struct tv_text_line *line)
{
    struct tv_bytes text = line->text;
    if (line->too_long) {
        script_chunk_warn(chunk, TV_DIAGNOSTIC_BAD_LINE, line->offset);
    } else if (text.length > 0 && text.data[0] == '\t') {
        script_take_frame(chunk, line);
    } else if (tv_bytes_trim(text).length == 0) {
        script_take_blank(chunk);
    } else if (text.data[0] != '#' && !script_take_head(chunk, line)) {
        script_take_frame(chunk, line);
    }
}

/* ---- Merging ---- */

struct script_merge {
    struct tv_script_chunk *chunk;
    struct tv_profile_input *profile;
    uint32_t *strings, *frames, *threads, *types, *paths;
};

static void script_merge_strings(struct script_merge *merge)
{
    const struct tv_interner *strings = merge->chunk->strings;
    uint32_t count = tv_interner_count(strings);
    merge->strings = tv_alloc(count, sizeof *merge->strings);
    for (uint32_t i = 0; i < count; i++)
        merge->strings[i] = tv_profile_string(merge->profile, tv_interner_get(strings, i));
}

/* Add the frames. A function at a line follows its function, so that is numbered already. */
static void script_merge_functions(struct script_merge *merge)
{
    size_t count = merge->chunk->functions.count;
    merge->frames = tv_alloc(count, sizeof *merge->frames);
    for (size_t i = 0; i < count; i++) {
        const struct script_function *function = &merge->chunk->functions.rows[i];
        struct tv_frame frame = {
            .name = merge->strings[function->name],
            .module = merge->strings[function->module],
            .file = merge->strings[function->file],
            .kind = (uint8_t)function->kind,
        };
        merge->frames[i] =
            function->line > 0
                ? tv_profile_line_frame(merge->profile, merge->frames[function->function],
                                        function->line)
                : tv_trace_info_add_native_frame(merge->profile->info, &frame);
    }
}

/* Add the threads. Without -F pid all of them are in one process, "perf script". */
static void script_merge_threads(struct script_merge *merge)
{
    struct tv_profile_input *profile = merge->profile;
    size_t count = merge->chunk->threads.count;
    merge->threads = tv_alloc(count, sizeof *merge->threads);
    for (size_t i = 0; i < count; i++) {
        const struct script_thread *thread = &merge->chunk->threads.rows[i];
        struct tv_bytes comm = tv_interner_get(merge->chunk->strings, thread->comm);
        struct tv_bytes name = thread->pid == 0 ? TV_BYTES("perf script") : TV_BYTES("");
        if (thread->by_name) {
            uint32_t process = tv_profile_process(profile, 0, name);
            merge->threads[i] = tv_profile_named_thread(profile, process, comm);
            continue;
        }
        if (thread->pid != 0 && thread->pid == thread->tid)
            name = comm;
        uint32_t process = tv_profile_process(profile, thread->pid, name);
        merge->threads[i] = tv_profile_thread(profile, process, thread->tid, comm);
    }
}

/* Add the value types, and count samples and records of the chunk. */
static void script_merge_events(struct script_merge *merge)
{
    struct tv_profile_input *profile = merge->profile;
    struct tv_tables *tables = &profile->trace->tables;
    size_t count = merge->chunk->events.count;
    merge->types = tv_alloc(count, sizeof *merge->types);
    for (size_t i = 0; i < count; i++) {
        const struct script_event *event = &merge->chunk->events.rows[i];
        struct tv_bytes name = tv_interner_get(merge->chunk->strings, event->name);
        merge->types[i] = tv_profile_value_type(
            profile, name, event->has_period ? tv_perf_unit(name) : TV_BYTES("count"));
        tv_tables_count_events(tables, profile->input, merge->strings[event->name], event->count);
    }
    for (size_t i = 0; i < merge->chunk->records.count; i++) {
        const struct script_event *record = &merge->chunk->records.rows[i];
        tv_tables_count_events(tables, profile->input, merge->strings[record->name], record->count);
    }
}

/* Functions of a chunk are distinct frames of the trace, so its paths are distinct ones, too. */
static void script_merge_paths(struct script_merge *merge)
{
    struct tv_paths *paths = &merge->chunk->paths;
    merge->paths = tv_alloc(paths->count, sizeof *merge->paths);
    for (uint32_t i = 1; i < paths->count; i++)
        paths->nodes[i].frame = merge->frames[paths->nodes[i].frame];
    tv_paths_merge(&merge->profile->trace->paths, paths, merge->paths);
}

static void script_merge_samples(struct script_merge *merge)
{
    struct tv_profile_input *profile = merge->profile;
    for (size_t i = 0; i < merge->chunk->samples.count; i++) {
        struct tv_sample sample = merge->chunk->samples.rows[i];
        sample.thread = merge->threads[sample.thread];
        sample.type = merge->types[sample.type];
        tv_profile_add_sample_at(profile, sample, merge->paths[sample.path],
                                 merge->paths[sample.line_path]);
    }
    profile->info->inputs[profile->input].samples += merge->chunk->samples.count;
}

static void script_merge_switches(const struct script_merge *merge, struct tv_perf_sched *sched)
{
    for (size_t i = 0; i < merge->chunk->switches.count; i++) {
        struct tv_perf_sched_event event = merge->chunk->switches.rows[i];
        event.name = merge->strings[event.name];
        *tv_table_add(&sched->events) = event;
    }
}

void tv_script_chunk_merge(struct tv_script_chunk *chunk, struct tv_profile_input *profile,
                           struct tv_perf_sched *sched)
{
    struct script_merge merge = {.chunk = chunk, .profile = profile};
    assert(!chunk->is_open);
    script_merge_strings(&merge);
    script_merge_functions(&merge);
    script_merge_threads(&merge);
    script_merge_events(&merge);
    script_merge_paths(&merge);
    script_merge_samples(&merge);
    script_merge_switches(&merge, sched);
    tv_diagnostics_merge(&profile->info->diagnostics, &chunk->diagnostics);
    tv_free(merge.strings);
    tv_free(merge.frames);
    tv_free(merge.threads);
    tv_free(merge.types);
    tv_free(merge.paths);
}
