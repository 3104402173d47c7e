/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_dumps.c - memory dumps: phases v and V (trace-event.md section 3.11).
 *
 * All events with one id are one dump, of several processes.  An event may hold only a part of it:
 *
 *     v  pid 1  id 0x1  totals, regions     |
 *     v  pid 1  id 0x1  allocators          |-> one dump: a row for each process, and one
 *     v  pid 2  id 0x1  allocators, graph   |   for "global/" allocators; each with its figures
 *     V         id 0x1  global allocators   |
 *
 * Totals in the file, shortened:
 *
 *     "args": {"dumps": {"level_of_detail": "light",
 *                        "process_totals": {"resident_set_bytes": "1f000"}}}
 *
 * become a figure "resident_set_bytes" of "totals": 126976 bytes.  Numbers are strings of
 * hexadecimal digits; 64 bits become a double, which is exact up to 2^53.
 *
 * Ownership between allocators may cross processes and refer to events that come later.  So a dump
 * is read whole, all figures of one dump are collected, and then memory_graph.c computes the sizes.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/trace_event/join/join.h"
#include "readers/trace_event/join/memory_graph.h"

enum te_memory_level { UNTOLD, BACKGROUND, LIGHT, DETAILED };

/* A figure of a dump, before those of a process are sorted together. */
struct te_memory_figure {
    uint32_t process;
    size_t nth; /* keeps the order of reading */
    struct tv_memory_figure row;
};

/* One process of a dump, from its earliest event on. */
struct te_memory_process {
    uint32_t process; /* TV_NONE: the global one */
    int64_t time;     /* the earliest of its events, on the clock of the file */
    uint64_t offset;
    enum te_memory_level level;
};

struct te_memory_reading {
    struct tv_te_context *context;
    struct tv_te_memory_graph *graph; /* of the current dump */
    struct tv_te_id_key text;
    struct te_memory_figure *figures;
    struct te_memory_process *entries;
    size_t figure_count, figure_capacity, entry_count, entry_capacity;
    struct tv_map entry_of; /* process -> index in entries */
    uint64_t offset;        /* offset of the current event */
    bool bad;               /* some number of the current event is invalid */
};

static uint32_t te_memory_add_string(struct te_memory_reading *reading, struct tv_bytes text)
{
    return tv_trace_info_string(reading->context->trace->head, text);
}

static uint32_t te_memory_decode_string(struct te_memory_reading *reading, struct tv_bytes raw)
{
    return te_memory_add_string(reading, tv_te_decode_text(raw, &reading->context->scratch));
}

/* Return "prefix" and a raw text as one string. */
static uint32_t te_memory_join_string(struct te_memory_reading *reading, const char *prefix,
                                      struct tv_bytes raw)
{
    reading->text.length = 0;
    tv_te_id_key_add(&reading->text, tv_bytes_of(prefix));
    tv_te_id_key_add(&reading->text, tv_te_decode_text(raw, &reading->context->scratch));
    return te_memory_add_string(reading, tv_te_id_key_text(&reading->text));
}

/* Numbers are strings of hexadecimal digits; true and false count as 1 and 0. */
static bool te_memory_read_number(struct te_memory_reading *reading, struct tv_bytes raw,
                                  double *value)
{
    uint64_t number;
    if (!tv_te_is_string(raw)) {
        *value = raw.length > 0 && raw.data[0] == 't' ? 1 : 0;
        return (raw.length > 0 && (raw.data[0] == 't' || raw.data[0] == 'f')) ||
               tv_te_parse_number(raw, value);
    }
    if (!tv_parse_hex(tv_te_decode_text(raw, &reading->context->scratch), &number))
        return false;
    *value = (double)number;
    return true;
}

static void te_memory_add_figure(struct te_memory_reading *reading, uint32_t process, uint32_t of,
                                 uint32_t name, uint32_t units, double value)
{
    size_t nth = reading->figure_count++;
    reading->figures = tv_array_reserve(reading->figures, &reading->figure_capacity, nth + 1,
                                        sizeof *reading->figures);
    reading->figures[nth] = (struct te_memory_figure){
        process, nth, {.of = of, .name = name, .units = units, .value = value}};
}

/* Return the row of a process in the dump; it keeps the earliest time. */
static struct te_memory_process *te_memory_find_process(struct te_memory_reading *reading,
                                                        uint32_t process, int64_t time)
{
    uint32_t number = tv_map_add(&reading->entry_of, process, (uint32_t)reading->entry_count);
    if (number == reading->entry_count) {
        reading->entries = tv_array_reserve(reading->entries, &reading->entry_capacity,
                                            reading->entry_count + 1, sizeof *reading->entries);
        reading->entries[reading->entry_count++] =
            (struct te_memory_process){process, time, reading->offset, UNTOLD};
    }
    struct te_memory_process *entry = &reading->entries[number];
    if (time < entry->time) {
        entry->time = time;
        entry->offset = reading->offset;
    }
    return entry;
}

/* True for true and false, which are figures without a unit. */
static bool te_memory_is_boolean(struct tv_bytes raw)
{
    return raw.length > 0 && (raw.data[0] == 't' || raw.data[0] == 'f');
}

/* Read "process_totals": a figure for each member. */
static void te_memory_read_totals(struct te_memory_reading *reading, uint32_t process,
                                  struct tv_bytes totals)
{
    struct tv_bytes key, value;
    double number;
    if (totals.length == 0 || totals.data[0] != '{')
        return;
    const uint8_t *at = totals.data + 1;
    while (tv_te_member_next(&at, totals.data + totals.length, &key, &value)) {
        if (!te_memory_read_number(reading, value, &number)) {
            reading->bad = true;
            continue;
        }
        uint32_t units = te_memory_is_boolean(value)
                             ? TV_EMPTY_STRING
                             : te_memory_add_string(reading, TV_BYTES("bytes"));
        te_memory_add_figure(reading, process, te_memory_add_string(reading, TV_BYTES("totals")),
                             te_memory_decode_string(reading, key), units, number);
    }
}

/* Byte statistics of mapped regions: the file's key and our name. */
static const struct {
    const char *key, *name;
} region_sums[] = {
    {"pss", "proportional_resident"}, {"pd", "private_dirty_resident"},
    {"pc", "private_clean_resident"}, {"sd", "shared_dirty_resident"},
    {"sc", "shared_clean_resident"},  {"sw", "swapped"},
};

struct te_region_sums {
    double size, regions;
    double bytes[TV_COUNT(region_sums)];
    bool present[TV_COUNT(region_sums)];
};

/* Add a mapped region to the sums of its process. */
static void te_memory_add_region(struct te_memory_reading *reading, struct te_region_sums *sums,
                                 struct tv_bytes region)
{
    struct tv_bytes statistics = tv_te_member(region, "bs");
    double number;
    sums->regions++;
    if (te_memory_read_number(reading, tv_te_member(region, "sz"), &number))
        sums->size += number;
    for (size_t i = 0; i < TV_COUNT(region_sums); i++) {
        struct tv_bytes value = tv_te_member(statistics, region_sums[i].key);
        if (value.data == NULL)
            continue;
        if (te_memory_read_number(reading, value, &number))
            sums->bytes[i] += number;
        else
            reading->bad = true;
        sums->present[i] = true;
    }
}

/* Sum the regions up; the regions themselves stay in the event's text. */
static void te_memory_read_regions(struct te_memory_reading *reading, uint32_t process,
                                   struct tv_bytes regions)
{
    struct te_region_sums sums = {.size = 0};
    struct tv_bytes region;
    if (regions.length == 0 || regions.data[0] != '[')
        return;
    const uint8_t *at = regions.data + 1;
    while (tv_te_element_next(&at, regions.data + regions.length, &region))
        te_memory_add_region(reading, &sums, region);
    uint32_t of = te_memory_add_string(reading, TV_BYTES("mmaps"));
    uint32_t bytes = te_memory_add_string(reading, TV_BYTES("bytes"));
    te_memory_add_figure(reading, process, of, te_memory_add_string(reading, TV_BYTES("regions")),
                         te_memory_add_string(reading, TV_BYTES("objects")), sums.regions);
    te_memory_add_figure(reading, process, of, te_memory_add_string(reading, TV_BYTES("size")),
                         bytes, sums.size);
    for (size_t i = 0; i < TV_COUNT(region_sums); i++)
        if (sums.present[i])
            te_memory_add_figure(reading, process, of,
                                 te_memory_add_string(reading, tv_bytes_of(region_sums[i].name)),
                                 bytes, sums.bytes[i]);
}

/* Read the numbers of an allocator into the graph. */
static void te_memory_read_attributes(struct te_memory_reading *reading, uint32_t allocator,
                                      struct tv_bytes attributes)
{
    struct tv_bytes key, value;
    double number;
    if (attributes.length == 0 || attributes.data[0] != '{')
        return;
    const uint8_t *at = attributes.data + 1;
    while (tv_te_member_next(&at, attributes.data + attributes.length, &key, &value)) {
        struct tv_bytes type = tv_te_member(value, "type");
        type = tv_te_decode_text(type, &reading->context->scratch);
        if (!tv_bytes_equal(type, TV_BYTES("scalar")))
            continue; /* texts are not figures */
        if (!te_memory_read_number(reading, tv_te_member(value, "value"), &number)) {
            reading->bad = true;
            continue;
        }
        uint32_t units = te_memory_decode_string(reading, tv_te_member(value, "units"));
        tv_te_memory_graph_set(reading->graph, allocator, te_memory_decode_string(reading, key),
                               units, number);
    }
}

/* Read an allocator.  Paths that begin with "global/" belong to the whole system. */
static void te_memory_read_allocator(struct te_memory_reading *reading, uint32_t process,
                                     int64_t time, struct tv_bytes key, struct tv_bytes value)
{
    struct tv_bytes path =
        tv_trace_info_text(reading->context->trace->head, te_memory_decode_string(reading, key));
    int64_t flags = 0;
    if (tv_bytes_starts_with(path, TV_BYTES("global/"))) {
        path.data += 7;
        path.length -= 7;
        process = TV_NONE;
        te_memory_find_process(reading, TV_NONE, time);
    }
    uint32_t allocator = tv_te_memory_graph_add(reading->graph, process, path);
    if (allocator == TV_NONE) {
        reading->bad = true;
        return;
    }
    tv_te_parse_integer(tv_te_member(value, "flags"), &flags);
    struct tv_bytes guid = tv_te_member(value, "guid");
    if (guid.data == NULL)
        tv_te_warn(reading->context, TV_DIAGNOSTIC_MEMORY_NO_GUID, reading->offset);
    tv_te_memory_graph_describe(reading->graph, allocator,
                                tv_te_decode_text(guid, &reading->context->scratch),
                                (flags & 1) != 0);
    te_memory_read_attributes(reading, allocator, tv_te_member(value, "attrs"));
}

static void te_memory_read_allocators(struct te_memory_reading *reading, uint32_t process,
                                      int64_t time, struct tv_bytes allocators)
{
    struct tv_bytes key, value;
    if (allocators.length == 0 || allocators.data[0] != '{')
        return;
    const uint8_t *at = allocators.data + 1;
    while (tv_te_member_next(&at, allocators.data + allocators.length, &key, &value))
        te_memory_read_allocator(reading, process, time, key, value);
}

/* Read the "ownership" of allocators; "retention" changes no sizes. */
static void te_memory_read_edges(struct te_memory_reading *reading, struct tv_bytes edges)
{
    struct tv_trace_info *head = reading->context->trace->head;
    struct tv_bytes edge;
    if (edges.length == 0 || edges.data[0] != '[')
        return;
    const uint8_t *at = edges.data + 1;
    while (tv_te_element_next(&at, edges.data + edges.length, &edge)) {
        struct tv_bytes type =
            tv_te_decode_text(tv_te_member(edge, "type"), &reading->context->scratch);
        double importance = 0;
        if (!tv_bytes_equal(type, TV_BYTES("ownership")))
            continue;
        uint32_t source = te_memory_decode_string(reading, tv_te_member(edge, "source"));
        uint32_t target = te_memory_decode_string(reading, tv_te_member(edge, "target"));
        if (!tv_te_parse_number(tv_te_member(edge, "importance"), &importance) ||
            importance != importance)
            importance = 0;
        tv_te_memory_graph_own(reading->graph, tv_trace_info_text(head, source),
                               tv_trace_info_text(head, target), importance);
    }
}

/* Add the figures of a heap; a count of 0 is unknown. */
static void te_memory_add_heap(struct te_memory_reading *reading, uint32_t process,
                               struct tv_bytes name, double size, double count)
{
    uint32_t of = te_memory_join_string(reading, "heaps/", name);
    te_memory_add_figure(reading, process, of, te_memory_add_string(reading, TV_BYTES("size")),
                         te_memory_add_string(reading, TV_BYTES("bytes")), size);
    if (count > 0)
        te_memory_add_figure(reading, process, of, te_memory_add_string(reading, TV_BYTES("count")),
                             te_memory_add_string(reading, TV_BYTES("objects")), count);
}

/* True when an entry of a heap is its total: without backtrace and type. */
static bool te_memory_is_heap_total(struct te_memory_reading *reading, struct tv_bytes entry)
{
    struct tv_bytes backtrace = tv_te_member(entry, "bt");
    return tv_te_decode_text(backtrace, &reading->context->scratch).length == 0 &&
           tv_te_member(entry, "type").data == NULL;
}

/* Read a heap of the old form: its total is one of its entries. */
static void te_memory_read_heap(struct te_memory_reading *reading, uint32_t process,
                                struct tv_bytes name, struct tv_bytes heap)
{
    struct tv_bytes entries = tv_te_member(heap, "entries"), entry;
    if (entries.length == 0 || entries.data[0] != '[')
        return;
    const uint8_t *at = entries.data + 1;
    while (tv_te_element_next(&at, entries.data + entries.length, &entry)) {
        double size = 0, count = 0;
        if (!te_memory_is_heap_total(reading, entry))
            continue;
        reading->bad |= !te_memory_read_number(reading, tv_te_member(entry, "size"), &size);
        if (!te_memory_read_number(reading, tv_te_member(entry, "count"), &count))
            count = 0;
        te_memory_add_heap(reading, process, name, size, count);
        return;
    }
}

/* Return the sum of an array of plain numbers. */
static double te_memory_sum_array(struct tv_bytes array)
{
    double sum = 0, number;
    struct tv_bytes value;
    if (array.length == 0 || array.data[0] != '[')
        return 0;
    const uint8_t *at = array.data + 1;
    while (tv_te_element_next(&at, array.data + array.length, &value))
        if (tv_te_parse_number(value, &number))
            sum += number;
    return sum;
}

/* Read heaps of the old form, and of the new one, whose totals must be summed up. */
static void te_memory_read_heaps(struct te_memory_reading *reading, uint32_t process,
                                 struct tv_bytes dumps)
{
    struct tv_bytes old = tv_te_member(dumps, "heaps"), key, value;
    struct tv_bytes heaps = tv_te_member(tv_te_member(dumps, "heaps_v2"), "allocators");
    if (old.length > 0 && old.data[0] == '{') {
        const uint8_t *at = old.data + 1;
        while (tv_te_member_next(&at, old.data + old.length, &key, &value))
            te_memory_read_heap(reading, process, key, value);
    }
    if (heaps.length == 0 || heaps.data[0] != '{')
        return;
    const uint8_t *at = heaps.data + 1;
    while (tv_te_member_next(&at, heaps.data + heaps.length, &key, &value))
        te_memory_add_heap(reading, process, key, te_memory_sum_array(tv_te_member(value, "sizes")),
                           te_memory_sum_array(tv_te_member(value, "counts")));
}

static const char *const level_names[] = {"", "background", "light", "detailed"};

/* Return the level that the event states; without one, regions mean a detailed dump. */
static enum te_memory_level te_memory_read_level(struct te_memory_reading *reading,
                                                 struct tv_bytes dumps)
{
    struct tv_bytes raw = tv_te_member(dumps, "level_of_detail");
    struct tv_bytes text = tv_te_decode_text(raw, &reading->context->scratch);
    for (unsigned level = BACKGROUND; level <= DETAILED; level++)
        if (tv_bytes_equal(text, tv_bytes_of(level_names[level])))
            return (enum te_memory_level)level;
    if (raw.data != NULL)
        reading->bad = true;
    return tv_te_member(tv_te_member(dumps, "process_mmaps"), "vm_regions").data != NULL ? DETAILED
                                                                                         : LIGHT;
}

/* Read one event of the current dump. */
static void te_memory_read_event(struct te_memory_reading *reading,
                                 const struct tv_te_deferred *event)
{
    struct tv_te_context *context = reading->context;
    struct tv_te_fields fields;
    uint32_t process = event->process;
    reading->offset = event->offset;
    reading->bad = false;
    if (!tv_te_event_read(context, event->offset, &fields))
        return;
    struct tv_bytes dumps = tv_te_member(fields.args, "dumps");
    enum te_memory_level level = te_memory_read_level(reading, dumps);
    struct te_memory_process *entry = te_memory_find_process(reading, process, event->time);
    if (entry->level != UNTOLD && entry->level != level)
        reading->bad = true;
    entry->level = level > entry->level ? level : entry->level;
    if (dumps.data == NULL) {
        tv_te_warn(context, TV_DIAGNOSTIC_MEMORY_DUMP_EMPTY, event->offset);
        return;
    }
    te_memory_read_totals(reading, process, tv_te_member(dumps, "process_totals"));
    te_memory_read_regions(reading, process,
                           tv_te_member(tv_te_member(dumps, "process_mmaps"), "vm_regions"));
    te_memory_read_allocators(reading, process, event->time, tv_te_member(dumps, "allocators"));
    te_memory_read_edges(reading, tv_te_member(dumps, "allocators_graph"));
    te_memory_read_heaps(reading, process, dumps);
    if (reading->bad)
        tv_te_warn(context, TV_DIAGNOSTIC_MEMORY_DUMP_BAD, event->offset);
}

static void te_memory_take_number(void *context, const struct tv_te_memory_number *number)
{
    te_memory_add_figure(context, number->process, number->path, number->name, number->units,
                         number->value);
}

/* Sort by process, then in the order of reading. */
static int te_memory_compare_figures(const void *left, const void *right)
{
    const struct te_memory_figure *a = left, *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->nth > b->nth) - (a->nth < b->nth);
}

static int te_memory_compare_processes(const void *left, const void *right)
{
    const struct te_memory_process *a = left, *b = right;
    return (a->process > b->process) - (a->process < b->process);
}

/* The global part gets the level of the most detailed process. */
static void te_memory_set_global_level(struct te_memory_reading *reading)
{
    enum te_memory_level most = UNTOLD;
    for (size_t i = 0; i < reading->entry_count; i++)
        if (reading->entries[i].level > most)
            most = reading->entries[i].level;
    for (size_t i = 0; i < reading->entry_count; i++)
        if (reading->entries[i].level == UNTOLD)
            reading->entries[i].level = most;
}

/* Write the row of a process and its figures, which are sorted by process. */
static void te_memory_write_process(struct te_memory_reading *reading,
                                    const struct te_memory_process *entry, uint32_t id,
                                    size_t *figure)
{
    assert(entry->level != UNTOLD);
    struct tv_tables *tables = &reading->context->trace->tables;
    struct tv_memory_dump *dump = tv_table_add(&tables->memory_dumps);
    *dump = (struct tv_memory_dump){
        .time = entry->time,
        .offset = entry->offset,
        .process = entry->process,
        .id = id,
        .level = te_memory_add_string(reading, tv_bytes_of(level_names[entry->level])),
        .input = reading->context->input,
        .first_figure = (uint32_t)tables->memory_figures.count,
    };
    for (; *figure < reading->figure_count && reading->figures[*figure].process == entry->process;
         ++*figure)
        *tv_table_add(&tables->memory_figures) = reading->figures[*figure].row;
    dump->figure_count = (uint32_t)tables->memory_figures.count - dump->first_figure;
}

/* Join all events of one dump. */
static void te_memory_join_dump(struct te_memory_reading *reading, uint32_t id,
                                const size_t *deferred, size_t count)
{
    struct tv_te_context *context = reading->context;
    size_t figure = 0;
    reading->graph = tv_te_memory_graph_new(context->trace->head->strings);
    reading->figure_count = reading->entry_count = 0;
    tv_map_init(&reading->entry_of);
    for (size_t i = 0; i < count; i++)
        te_memory_read_event(reading, &context->deferred.rows[deferred[i]]);
    size_t lost = tv_te_memory_graph_finish(reading->graph);
    for (size_t i = 0; i < lost; i++)
        tv_te_warn(context, TV_DIAGNOSTIC_MEMORY_LINK, reading->offset);
    tv_te_memory_graph_visit(reading->graph, te_memory_take_number, reading);
    if (reading->figure_count > 1)
        qsort(reading->figures, reading->figure_count, sizeof *reading->figures,
              te_memory_compare_figures);
    if (reading->entry_count > 1)
        qsort(reading->entries, reading->entry_count, sizeof *reading->entries,
              te_memory_compare_processes);
    te_memory_set_global_level(reading);
    for (size_t i = 0; i < reading->entry_count; i++)
        te_memory_write_process(reading, &reading->entries[i], id, &figure);
    assert(figure == reading->figure_count); /* each is of a process of the dump */
    tv_map_release(&reading->entry_of);
    tv_te_memory_graph_free(reading->graph);
}

/* An event and the id of its dump. */
struct te_memory_event {
    uint32_t id;    /* string; TV_NONE: none */
    uint32_t group; /* number of the dump, in the order of first events */
    size_t deferred;
};

static int te_memory_compare_events(const void *left, const void *right)
{
    const struct te_memory_event *a = left, *b = right;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return (a->deferred > b->deferred) - (a->deferred < b->deferred);
}

/* Group the events by dump, in the order of the file.  Return how many have an id. */
static size_t te_memory_group_events(struct te_memory_reading *reading,
                                     const struct tv_te_selection *selection,
                                     struct te_memory_event *named)
{
    struct tv_te_context *context = reading->context;
    struct tv_map groups;
    size_t count = 0;
    tv_map_init(&groups);
    for (size_t i = 0; i < selection->count; i++) {
        const struct tv_te_deferred *event = &context->deferred.rows[selection->rows[i]];
        struct tv_te_fields fields;
        struct tv_bytes raw;
        if (!tv_te_event_read(context, event->offset, &fields))
            continue;
        enum tv_te_id_kind kind = tv_te_fields_id(&fields, &raw);
        if (kind == TV_TE_ID_NONE || kind == TV_TE_ID_BAD) {
            tv_te_warn(context,
                       kind == TV_TE_ID_NONE ? TV_DIAGNOSTIC_ID_MISSING
                                             : TV_DIAGNOSTIC_ID_AMBIGUOUS,
                       event->offset);
            continue;
        }
        uint32_t id = te_memory_decode_string(reading, raw);
        uint32_t group = tv_map_add(&groups, id, (uint32_t)count);
        named[count++] = (struct te_memory_event){id, group, selection->rows[i]};
    }
    tv_map_release(&groups);
    if (count > 1)
        qsort(named, count, sizeof *named, te_memory_compare_events);
    return count;
}

void tv_te_memory_read(struct tv_te_context *context)
{
    struct te_memory_reading reading = {.context = context};
    struct tv_te_selection selection;
    tv_te_select(&selection, context, "vV");
    struct te_memory_event *named = tv_alloc(selection.count, sizeof *named);
    size_t *deferred = tv_alloc(selection.count, sizeof *deferred);
    size_t count = te_memory_group_events(&reading, &selection, named);
    for (size_t i = 0; i < count; i++)
        deferred[i] = named[i].deferred;
    for (size_t first = 0, end; first < count; first = end) {
        end = first + 1;
        while (end < count && named[end].group == named[first].group)
            end++;
        te_memory_join_dump(&reading, named[first].id, deferred + first, end - first);
    }
    tv_free(named);
    tv_free(deferred);
    tv_free(reading.figures);
    tv_free(reading.entries);
    tv_te_id_key_release(&reading.text);
    tv_te_selection_release(&selection);
}
