/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.c - search in names, categories and arguments, in steps of bounded
 * work.
 *
 *     cursor   slices -> instants -> counters -> ... -> metadata -> arguments -> over
 *              '---------- in memory: names, categories -------'   input files
 *
 * Names are in memory.  Each frame is compared once, and the hits of a row are
 * then found by looking at the path column: a slice costs one load.  Arguments
 * are in the files (search_arguments.c).
 *
 * Each step ends after a number of hits or an amount of work; its cursor tells
 * where the next step begins.  The server keeps no state between steps, and a
 * page that stops asking has cancelled the search.  A cursor is a letter and
 * two numbers, "s.5.1200": the phase, the row or number, and the place in it.
 * It comes back from a page, so it is checked as any parameter: a place beyond
 * the end ends its phase.
 */
#include "view/endpoints/search.h"

#include <assert.h>
#include <string.h>

#include "analysis/search/call_search.h"
#include "analysis/search/event_lookup.h"
#include "analysis/search/signature.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "view/internal.h"

/* Limits per step. */
#define STEP_SLICES ((uint64_t)16 << 20)
#define MAX_HITS 20000
#define USUAL_HITS 1000
/* Work of a slice in bytes, when the progress of a search is computed. */
#define SLICE_WORK 8

/* Bytes of a metadata value in an answer. */
#define MAX_VALUE 96

/* The letters of enum tv_view_phase, in its order; the phase after the last one
 * has none. */
static const char phase_letters[] = "sicofmtda";

/* Write the category as a JSON string if it is what matches. */
static void search_write_category(const struct tv_view_search *search, uint32_t frame,
                                  uint8_t fields)
{
    const struct tv_trace_info *head = search->trace->head;
    if (fields & TV_FIELD_NAME || frame == TV_NONE)
        tv_out_text(search->out, "null");
    else
        tv_out_json(search->out, tv_trace_info_text(head, head->frames[frame].category));
}

/* Count a hit; return true if it is to be written. */
static bool search_begin_hit(struct tv_view_search *search)
{
    search->found++;
    if (!search->count_only)
        tv_out_text(search->out, search->found > 1 ? ",\n[" : "[");
    return !search->count_only;
}

/* Write a hit if it is in the range and tracks. */
static void search_write_hit(struct tv_view_search *search, const struct tv_event_place *place,
                             uint8_t fields)
{
    struct tv_event_facts about = tv_event_facts(search->view, place);
    if (!tv_view_search_wants(search, about.time, about.length, about.track))
        return;
    if (!search_begin_hit(search))
        return;
    tv_event_facts_write(search->out, search->view, place, &about);
    tv_out_format(search->out, ",%u,", fields);
    search_write_category(search, about.frame, fields);
    tv_out_char(search->out, ']');
}

/* ---- Names and categories ---- */

/* Return the fields that match. */
static uint8_t search_match_texts(const struct tv_view_search *search, struct tv_bytes name,
                                  struct tv_bytes category)
{
    uint8_t fields = 0;
    if (search->fields & TV_FIELD_NAME && tv_text_search_matches(&search->query, name))
        fields |= TV_FIELD_NAME;
    if (search->fields & TV_FIELD_CATEGORY && tv_text_search_matches(&search->query, category))
        fields |= TV_FIELD_CATEGORY;
    return fields;
}

/* Write a class with the points that the page shows for the slashes of a JVM class. */
static void search_write_shown_class(struct tv_out *text, struct tv_bytes name)
{
    for (size_t i = 0; i < name.length; i++)
        tv_out_char(text, name.data[i] == '/' ? '.' : (char)name.data[i]);
}

/* Write "class.method signature", the text in which names of method traces are searched: as the
 * file has it, or as the page shows it. */
static void search_write_frame_text(struct tv_out *text, const struct tv_trace_info *head,
                                    const struct tv_frame *frame, bool shown)
{
    struct tv_bytes class_name = tv_trace_info_text(head, frame->class_name);
    struct tv_bytes signature = tv_trace_info_text(head, frame->signature);
    text->length = 0;
    if (class_name.length > 0) {
        if (shown)
            search_write_shown_class(text, class_name);
        else
            tv_out_bytes(text, class_name);
        tv_out_char(text, '.');
    }
    tv_out_bytes(text, tv_trace_info_text(head, frame->name));
    if (signature.length > 0) {
        tv_out_char(text, ' ');
        if (shown)
            tv_signature_write_readable(text, signature);
        else
            tv_out_bytes(text, signature);
    }
}

/* Match every frame once. */
static void search_match_frames(struct tv_view_search *search)
{
    const struct tv_trace_info *head = search->trace->head;
    struct tv_out text;
    tv_out_init_memory(&text);
    search->frames = tv_alloc(head->frame_count, sizeof *search->frames);
    for (uint32_t i = 0; i < head->frame_count; i++) {
        const struct tv_frame *frame = &head->frames[i];
        struct tv_bytes category = tv_trace_info_text(head, frame->category);
        bool two_forms =
            frame->class_name != TV_EMPTY_STRING || frame->signature != TV_EMPTY_STRING;
        for (unsigned shown = 0; shown <= two_forms; shown++) {
            search_write_frame_text(&text, head, frame, shown > 0);
            search->frames[i] |=
                search_match_texts(search, (struct tv_bytes){text.buffer, text.length}, category);
        }
        search->any_frame |= search->frames[i] > 0;
    }
    tv_out_release(&text);
}

/* Search a row until it is done or the answer is full; false in the latter case. */
static bool search_scan_row(struct tv_view_search *search, uint32_t row, uint32_t first,
                            uint32_t end)
{
    const struct tv_trace *trace = search->trace;
    const uint32_t *paths = tv_row_columns(trace, row)->path + trace->rows[row].first;
    for (uint32_t i = first; i < end; i++) {
        uint8_t fields = search->frames[trace->paths.nodes[paths[i]].frame];
        if (TV_LIKELY(fields == 0))
            continue;
        if (search->found == search->limit) {
            search->cursor.b = i;
            return false;
        }
        search_write_hit(search, &(struct tv_event_place){TV_EVENT_SLICE, row, i, 0}, fields);
    }
    return true;
}

/* Return true if the phase is over. */
static bool search_step_slices(struct tv_view_search *search)
{
    const struct tv_trace *trace = search->trace;
    struct tv_view_cursor *cursor = &search->cursor;
    uint64_t left = STEP_SLICES;
    for (; search->any_frame && cursor->a < trace->row_count; cursor->a++, cursor->b = 0) {
        uint32_t row = (uint32_t)cursor->a, first, end;
        if (!search->wanted[trace->rows[row].track])
            continue;
        tv_row_overlap(trace, row, search->selection.from, search->selection.to, &first, &end);
        if (cursor->b > first)
            first = cursor->b < end ? (uint32_t)cursor->b : end;
        uint32_t stop = end - first > left ? first + (uint32_t)left : end;
        if (!search_scan_row(search, row, first, stop))
            return false;
        left -= stop - first;
        if (left == 0) {
            cursor->b = stop;
            return false;
        }
    }
    return true;
}

/* Write the row at the cursor as a hit if some of its fields match.  Return false when the answer
 * has as many hits as were asked for; the cursor then stays at this row. */
static bool search_take_hit(struct tv_view_search *search, enum tv_event_kind kind, uint8_t fields)
{
    if (fields == 0)
        return true;
    if (search->found == search->limit)
        return false;
    const struct tv_event_place place = {kind, (uint32_t)search->cursor.a, 0, 0};
    search_write_hit(search, &place, fields);
    return true;
}

/* The steps of a search go through one table each, from the cursor on.  They return false when the
 * answer is full; the next question then continues at the cursor. */

static bool search_step_instants(struct tv_view_search *search)
{
    const struct tv_tables *tables = &search->trace->tables;
    struct tv_view_cursor *cursor = &search->cursor;
    for (; search->any_frame && cursor->a < tables->instants.count; cursor->a++) {
        if (!search_take_hit(search, TV_EVENT_INSTANT,
                             search->frames[tables->instants.rows[cursor->a].frame]))
            return false;
    }
    return true;
}

/* Series names count as part of the counter's name. */
static uint8_t search_match_counter(const struct tv_view_search *search,
                                    const struct tv_counter *counter)
{
    const struct tv_trace_info *head = search->trace->head;
    const struct tv_tables *tables = &search->trace->tables;
    uint8_t fields = search_match_texts(search, tv_trace_info_text(head, counter->name),
                                        tv_trace_info_text(head, counter->category));
    for (uint32_t i = 0; fields == 0 && i < counter->series_count; i++)
        fields = search_match_texts(
            search, tv_trace_info_text(head, tables->series.rows[counter->first_series + i].name),
            (struct tv_bytes){NULL, 0});
    return fields;
}

static bool search_step_counters(struct tv_view_search *search)
{
    const struct tv_tables *tables = &search->trace->tables;
    struct tv_view_cursor *cursor = &search->cursor;
    for (; cursor->a < tables->counters.count; cursor->a++) {
        if (!search_take_hit(search, TV_EVENT_COUNTER,
                             search_match_counter(search, &tables->counters.rows[cursor->a])))
            return false;
    }
    return true;
}

static bool search_step_objects(struct tv_view_search *search)
{
    const struct tv_trace_info *head = search->trace->head;
    const struct tv_tables *tables = &search->trace->tables;
    struct tv_view_cursor *cursor = &search->cursor;
    for (; cursor->a < tables->objects.count; cursor->a++) {
        const struct tv_object *object = &tables->objects.rows[cursor->a];
        if (!search_take_hit(search, TV_EVENT_OBJECT,
                             search_match_texts(search, tv_trace_info_text(head, object->type),
                                                tv_trace_info_text(head, object->category))))
            return false;
    }
    return true;
}

/* Go on through the flows from the cursor.  Return false when the answer has as many hits as were
 * asked for. */
static bool search_step_flows(struct tv_view_search *search)
{
    const struct tv_tables *tables = &search->trace->tables;
    struct tv_view_cursor *cursor = &search->cursor;
    for (; search->any_frame && cursor->a < tables->flows.count; cursor->a++) {
        if (!search_take_hit(search, TV_EVENT_FLOW,
                             search->frames[tables->flows.rows[cursor->a].frame]))
            return false;
    }
    return true;
}

/* A sample matches by any frame of its stack.  Parents come before their children. */
static void search_match_stacks(struct tv_view_search *search)
{
    const struct tv_paths *paths = &search->trace->paths;
    search->paths = tv_alloc(paths->count, sizeof *search->paths);
    for (uint32_t i = TV_ROOT_PATH + 1; i < paths->count; i++)
        search->paths[i] =
            search->frames[paths->nodes[i].frame] | search->paths[paths->nodes[i].parent];
}

/* Search the stacks of samples from the cursor on.  Each path is matched once, whatever the number
 * of its samples. */
static bool search_step_samples(struct tv_view_search *search)
{
    const struct tv_tables *tables = &search->trace->tables;
    struct tv_view_cursor *cursor = &search->cursor;
    if (search->any_frame && cursor->a < tables->samples.count)
        search_match_stacks(search);
    for (; search->any_frame && cursor->a < tables->samples.count; cursor->a++) {
        if (!search_take_hit(search, TV_EVENT_SAMPLE,
                             search->paths[tables->samples.rows[cursor->a].path]))
            return false;
    }
    return true;
}

/* Threads come first, then processes, in one sequence of numbers. */
static bool search_step_threads(struct tv_view_search *search)
{
    const struct tv_trace_info *head = search->trace->head;
    struct tv_view_cursor *cursor = &search->cursor;
    const struct tv_bytes none = {NULL, 0};
    for (; cursor->a < (uint64_t)head->thread_count + head->process_count; cursor->a++) {
        bool thread = cursor->a < head->thread_count;
        uint32_t number = (uint32_t)(thread ? cursor->a : cursor->a - head->thread_count);
        uint32_t name = thread ? head->threads[number].name : head->processes[number].name;
        if (search_match_texts(search, tv_trace_info_text(head, name), none) == 0)
            continue;
        if (search->found == search->limit)
            return false;
        enum tv_event_kind kind = thread ? TV_EVENT_THREAD : TV_EVENT_PROCESS;
        search_write_hit(search, &(struct tv_event_place){kind, number, 0, 0}, TV_FIELD_NAME);
    }
    return true;
}

/* Keys count as names, values as arguments. */
static void search_write_metadata(struct tv_view_search *search, uint32_t number, uint8_t fields)
{
    const struct tv_trace_info *head = search->trace->head;
    struct tv_event_place place = {TV_EVENT_METADATA, number, 0, 0};
    struct tv_event_facts about = tv_event_facts(search->view, &place);
    struct tv_bytes value = tv_trace_info_text(head, head->metadata[number].value);
    if (!tv_view_search_wants(search, about.time, about.length, about.track) ||
        !search_begin_hit(search))
        return;
    if (value.length > MAX_VALUE)
        value.length = MAX_VALUE;
    tv_event_facts_write(search->out, search->view, &place, &about);
    tv_out_format(search->out, ",%u,", fields);
    tv_out_json(search->out, value);
    tv_out_char(search->out, ']');
}

/* Search the metadata from the cursor on.  False: the answer is full, and the cursor is at the hit
 * that did not fit. */
static bool search_step_metadata(struct tv_view_search *search)
{
    const struct tv_trace_info *head = search->trace->head;
    struct tv_view_cursor *cursor = &search->cursor;
    for (; cursor->a < head->metadata_count; cursor->a++) {
        const struct tv_metadata *metadata = &head->metadata[cursor->a];
        uint8_t fields = search_match_texts(search, tv_trace_info_text(head, metadata->key),
                                            (struct tv_bytes){NULL, 0});
        if (search->fields & TV_FIELD_ARGUMENTS &&
            tv_text_search_matches(&search->query, tv_trace_info_text(head, metadata->value)))
            fields |= TV_FIELD_ARGUMENTS;
        if (fields > 0 && search->found == search->limit)
            return false;
        if (fields > 0)
            search_write_metadata(search, (uint32_t)cursor->a, fields);
    }
    return true;
}

/* ---- The question ---- */

/* Skip inputs whose events cannot be read again. */
static void search_skip_inputs(struct tv_view_search *search)
{
    const struct tv_trace_info *head = search->trace->head;
    struct tv_view_cursor *cursor = &search->cursor;
    if (!(search->fields & TV_FIELD_ARGUMENTS))
        cursor->a = head->input_count;
    while (cursor->a < head->input_count &&
           (!head->inputs[cursor->a].describe || !head->inputs[cursor->a].source))
        *cursor = (struct tv_view_cursor){TV_PHASE_ARGUMENTS, cursor->a + 1, 0};
    if (cursor->a >= head->input_count)
        cursor->phase = TV_PHASE_OVER;
}

/* Continue until the answer is full or the step's work is done.  Arguments are searched only in a
 * step that has found nothing yet, so that quick hits are shown at once. */
static void search_run(struct tv_view_search *search)
{
    static bool (*const steps[])(struct tv_view_search *) = {
        search_step_slices, search_step_instants, search_step_counters, search_step_objects,
        search_step_flows,  search_step_samples,  search_step_threads,  search_step_metadata,
    };
    struct tv_view_cursor *cursor = &search->cursor;
    while (cursor->phase < TV_PHASE_ARGUMENTS) {
        if (!steps[cursor->phase](search))
            return;
        *cursor = (struct tv_view_cursor){cursor->phase + 1, 0, 0};
    }
    search_skip_inputs(search);
    if (cursor->phase == TV_PHASE_OVER || search->found > 0)
        return;
    if (tv_view_search_arguments(search))
        *cursor = (struct tv_view_cursor){TV_PHASE_ARGUMENTS, cursor->a + 1, 0};
    search_skip_inputs(search);
}

/* Write how much of all work is done, in bytes. */
static void search_write_progress(const struct tv_view_search *search)
{
    const struct tv_trace *trace = search->trace;
    const struct tv_view_cursor *cursor = &search->cursor;
    uint64_t slices = trace->slice_count * SLICE_WORK, of = slices, done = slices;
    if (cursor->phase == TV_PHASE_SLICES && cursor->a < trace->row_count) {
        done = cursor->b * SLICE_WORK;
        for (uint32_t row = 0; row < cursor->a; row++)
            done += (uint64_t)trace->rows[row].count * SLICE_WORK;
    }
    for (uint32_t i = 0; search->fields & TV_FIELD_ARGUMENTS && i < trace->head->input_count; i++) {
        uint64_t bytes = trace->head->inputs[i].bytes;
        of += bytes;
        if (cursor->phase == TV_PHASE_OVER ||
            (cursor->phase == TV_PHASE_ARGUMENTS && i < cursor->a))
            done += bytes;
        else if (cursor->phase == TV_PHASE_ARGUMENTS && i == cursor->a)
            done += cursor->b < bytes ? cursor->b : bytes; /* samples come after the bytes */
    }
    tv_out_format(search->out, ",\"count\":%u", search->found);
    tv_out_text(search->out, ",\"done\":");
    tv_out_u64(search->out, done);
    tv_out_text(search->out, ",\"of\":");
    tv_out_u64(search->out, of);
}

/* Write where the next step begins. */
static void search_write_cursor(const struct tv_view_search *search)
{
    assert(search->cursor.phase <= TV_PHASE_OVER);
    const struct tv_view_cursor *cursor = &search->cursor;
    tv_out_text(search->out, "],\n\"next\":");
    if (cursor->phase == TV_PHASE_OVER) {
        tv_out_text(search->out, "null");
        return;
    }
    tv_out_format(search->out, "\"%c.", phase_letters[cursor->phase]);
    tv_out_u64(search->out, cursor->a);
    tv_out_char(search->out, '.');
    tv_out_u64(search->out, cursor->b);
    tv_out_char(search->out, '"');
}

/* Read where this step begins. */
static enum tv_status search_read_cursor(const struct tv_parameters *parameters,
                                         struct tv_view_cursor *cursor, struct tv_error *err)
{
    struct tv_bytes text = tv_parameter_text(parameters, "after"), letter, a;
    *cursor = (struct tv_view_cursor){TV_PHASE_SLICES, 0, 0};
    if (!text.data)
        return TV_OK;
    bool dots = tv_bytes_split(&text, '.', &letter) && tv_bytes_split(&text, '.', &a);
    const char *found =
        dots && letter.length == 1 ? memchr(phase_letters, letter.data[0], TV_PHASE_OVER) : NULL;
    if (!found || !tv_parse_u64(a, &cursor->a) || !tv_parse_u64(text, &cursor->b))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "after: expected the value of next in the previous answer");
    cursor->phase = (enum tv_view_phase)(found - phase_letters);
    return TV_OK;
}

/* Read which fields to search in. */
static enum tv_status search_read_fields(const struct tv_parameters *parameters, unsigned *fields,
                                         struct tv_error *err)
{
    static const char *const names[] = {"names", "categories", "args"};
    struct tv_bytes text = tv_parameter_text(parameters, "in"), item;
    *fields = text.data ? 0 : TV_FIELD_NAME | TV_FIELD_CATEGORY | TV_FIELD_ARGUMENTS;
    while (text.length > 0) {
        unsigned field = 0;
        tv_bytes_split(&text, ',', &item);
        for (unsigned i = 0; i < TV_COUNT(names); i++)
            if (tv_bytes_equal(item, tv_bytes_of(names[i])))
                field = 1u << i;
        if (field == 0)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "in: expected names, categories, args with commas");
        *fields |= field;
    }
    return TV_OK;
}

/* Read everything except the selection. */
static enum tv_status search_read_question(const struct tv_parameters *parameters,
                                           struct tv_view_search *search, struct tv_error *err)
{
    struct tv_bytes text = tv_parameter_text(parameters, "q");
    const struct tv_parameter_bounds limits = {1, MAX_HITS};
    bool match_case = false, pattern = false;
    int64_t limit;
    enum tv_status status = tv_parameter_switch(parameters, "case", &match_case, err);
    if (status == TV_OK)
        status = tv_parameter_switch(parameters, "re", &pattern, err);
    if (status == TV_OK)
        status = tv_parameter_switch(parameters, "count", &search->count_only, err);
    if (status == TV_OK)
        status = tv_parameter_integer(parameters, "limit", limits, USUAL_HITS, &limit, err);
    if (status == TV_OK)
        status = search_read_fields(parameters, &search->fields, err);
    if (status == TV_OK)
        status = search_read_cursor(parameters, &search->cursor, err);
    if (status != TV_OK)
        return status;
    search->limit = search->count_only ? UINT32_MAX : (uint32_t)limit;
    if (pattern > 0 && text.length <= TV_TEXT_SEARCH_LIMIT)
        return tv_text_search_init_regex(&search->query, text, match_case > 0, err);
    if (pattern > 0 || !tv_text_search_init(&search->query, text, match_case > 0))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "q: expected 1 to %u characters",
                       TV_TEXT_SEARCH_LIMIT);
    return TV_OK;
}

/* Answer api/search: the hits of one step, where to go on, and how much of the
 * work is done. */
enum tv_status tv_view_search(const struct tv_view *view, const struct tv_parameters *parameters,
                              struct tv_out *out, struct tv_error *err)
{
    struct tv_view_search search = {.view = view, .trace = view->trace, .out = out};
    enum tv_status status = search_read_question(parameters, &search, err);
    if (status == TV_OK)
        status = tv_parameter_selection(parameters, view->trace, &search.selection, err);
    if (status != TV_OK) {
        tv_text_search_release(&search.query);
        return status;
    }
    search.wanted = tv_selection_wanted(view->trace, &search.selection);
    for (uint32_t i = 0; !search.selection.tracks && i < view->trace->track_count; i++)
        search.wanted[i] = true; /* include asynchronous tracks */
    search_match_frames(&search);
    tv_out_text(out, "{\"hits\":[");
    search_run(&search);
    search_write_cursor(&search);
    search_write_progress(&search);
    tv_out_char(out, '}');
    tv_free(search.frames);
    tv_free(search.paths);
    tv_free(search.wanted);
    tv_text_search_release(&search.query);
    tv_parameter_release_selection(&search.selection);
    return TV_OK;
}

/* Answer api/search_frames: the frames whose names match, for highlighting. */
enum tv_status tv_view_search_frames(const struct tv_view *view,
                                     const struct tv_parameters *parameters, struct tv_out *out,
                                     struct tv_error *err)
{
    struct tv_view_search search = {.view = view, .trace = view->trace, .out = out};
    bool any = false;
    enum tv_status status = search_read_question(parameters, &search, err);
    if (status != TV_OK)
        return status;
    search.fields = TV_FIELD_NAME;
    search_match_frames(&search);
    tv_out_text(out, "{\"frames\":[");
    for (uint32_t i = 0; i < view->trace->head->frame_count; i++) {
        if (search.frames[i] == 0)
            continue;
        tv_out_text(out, any ? "," : "");
        tv_out_u64(out, i);
        any = true;
    }
    tv_out_text(out, "]}");
    tv_free(search.frames);
    tv_text_search_release(&search.query);
    return TV_OK;
}

/* Read the place that a step begins at: t alone is before (after, going back) the calls that begin
 * after (before) it; with row and index, t is the start of that call. */
static enum tv_status search_read_place(const struct tv_parameters *parameters, int direction,
                                        struct tv_call_place *place, struct tv_error *err)
{
    const struct tv_parameter_bounds times = {-((int64_t)1 << 61), (int64_t)1 << 61};
    const struct tv_parameter_bounds numbers = {-1, (int64_t)UINT32_MAX - 1};
    int64_t row, index;
    enum tv_status status = tv_parameter_required(parameters, "t", times, &place->start, err);
    if (status == TV_OK)
        status = tv_parameter_integer(parameters, "row", numbers, -1, &row, err);
    if (status == TV_OK)
        status = tv_parameter_integer(parameters, "index", numbers, 0, &index, err);
    if (status != TV_OK)
        return status;
    if (row < 0 || index < 0) { /* after all calls that begin at t, or before them */
        row = UINT32_MAX;
        place->start -= direction > 0 ? 0 : 1;
    }
    place->row = (uint32_t)row;
    place->index = (uint32_t)index;
    return TV_OK;
}

/* Find the next matching call and write it with its number. */
static void search_write_next(const struct tv_view_search *search, const struct tv_call_place *from,
                              int direction)
{
    const struct tv_call_place ends[] = {{INT64_MIN, 0, 0}, {INT64_MAX, UINT32_MAX, UINT32_MAX}};
    struct tv_call_search calls;
    struct tv_call_place found;
    uint64_t of;
    tv_call_search_init_frames(&calls, search->trace, search->frames);
    bool wrapped = !tv_call_search_next_place(&calls, search->wanted, from, direction, &found);
    bool any = !wrapped || tv_call_search_next_place(&calls, search->wanted, &ends[direction < 0],
                                                     direction, &found);
    uint64_t nth = tv_call_search_count_places(&calls, search->wanted, &found, &of);
    tv_call_search_release(&calls);
    tv_out_text(search->out, "{\"call\":");
    if (any)
        tv_out_format(search->out, "[%u,%u]", found.row, found.index);
    else
        tv_out_text(search->out, "null");
    tv_member_number(search->out, ",\"nth\":", any ? (int64_t)nth : 0);
    tv_member_number(search->out, ",\"of\":", (int64_t)of);
    tv_out_text(search->out, any && wrapped ? ",\"wrapped\":true}" : ",\"wrapped\":false}");
}

/* Answer api/search_step: the next matching call from a place on, and which of
 * how many it is.  After the last one the search goes on at the first one. */
enum tv_status tv_view_search_step(const struct tv_view *view,
                                   const struct tv_parameters *parameters, struct tv_out *out,
                                   struct tv_error *err)
{
    static const char *const directions[] = {"1", "-1", NULL};
    struct tv_view_search search = {.view = view, .trace = view->trace, .out = out};
    struct tv_call_place from;
    unsigned back = 0;
    enum tv_status status = tv_parameter_choice(parameters, "direction", directions, &back, err);
    if (status == TV_OK)
        status = search_read_place(parameters, back ? -1 : 1, &from, err);
    if (status == TV_OK)
        status = search_read_question(parameters, &search, err);
    if (status == TV_OK)
        status = tv_parameter_selection(parameters, view->trace, &search.selection, err);
    if (status != TV_OK) {
        tv_text_search_release(&search.query);
        return status;
    }
    search.fields = TV_FIELD_NAME;
    search.wanted = tv_selection_wanted(view->trace, &search.selection);
    search_match_frames(&search);
    search_write_next(&search, &from, back ? -1 : 1);
    tv_free(search.frames);
    tv_free(search.wanted);
    tv_text_search_release(&search.query);
    tv_parameter_release_selection(&search.selection);
    return TV_OK;
}
