/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - the state of a view, its questions, and what their answers share; for the files of
 * this module only.
 */
#ifndef TV_VIEW_INTERNAL_H
#define TV_VIEW_INTERNAL_H

#include "analysis/calltree/profile.h"
#include "analysis/calltree/transforms.h"
#include "analysis/search/event_lookup.h"
#include "analysis/timeline/pyramid.h"
#include "base/bytes.h"
#include "base/map.h"
#include "base/out.h"
#include "base/workers.h"
#include "model/trace.h"
#include "model/trace_info.h"
#include "view/parameters.h"
#include "view/view.h"

struct tv_tree_cache;
struct tv_flow_index;
struct tv_object_index;
struct tv_filtered_views;
struct tv_display_cache;
struct tv_display_frames;

/* A track as the page shows it. */
struct tv_view_track {
    uint32_t track;
    int64_t wall, cpu; /* sums over its calls of depth 0; of states: the time that it ran */
};

struct tv_view {
    const struct tv_trace *trace;
    struct tv_pyramid *pyramid;
    uint32_t *rank;               /* [frames] rank by inclusive time, from 1; 0: never called */
    struct tv_view_track *tracks; /* in display order */
    struct tv_tree_cache *trees;
    struct tv_flow_index *flows;
    struct tv_object_index *objects;
    struct tv_display_cache *display;
    const struct tv_view
        *whole; /* of a filtered trace: the view of the whole trace; otherwise NULL */
    struct tv_filtered_views *filtered;      /* cached views of filtered traces */
    const struct tv_view_reporter *reporter; /* of the whole trace; NULL: no reports */
    uint32_t *thread_track;                  /* [threads] track of its slices; TV_NONE: none */
    uint32_t *processes, *threads;           /* in display order; NULL unless by_owner */
    bool wall, cpu;                          /* clocks of the trace */
    bool by_owner; /* order tracks by process and thread, not busiest first */
};

typedef enum tv_status tv_view_function(const struct tv_view *view,
                                        const struct tv_parameters *parameters, struct tv_out *out,
                                        struct tv_error *err);

tv_view_function tv_view_trace, tv_view_frames;                        /* trace_info.c */
tv_view_function tv_view_profile, tv_view_relations;                   /* call_trees.c */
tv_view_function tv_view_sample_profile, tv_view_sample_relations;     /* call_trees.c */
tv_view_function tv_view_tree, tv_view_sample_tree;                    /* call_trees.c */
tv_view_function tv_view_slice, tv_view_step, tv_view_inside;          /* slices.c */
tv_view_function tv_view_extents, tv_view_activity;                    /* timeline.c */
tv_view_function tv_view_flame, tv_view_sample_flame;                  /* flames.c */
tv_view_function tv_view_counters, tv_view_counter_values;             /* counters.c */
tv_view_function tv_view_counter_figures, tv_view_counter_step;        /* counters.c */
tv_view_function tv_view_instants, tv_view_instant;                    /* moments.c */
tv_view_function tv_view_flows, tv_view_flow, tv_view_flow_categories; /* flows.c */
tv_view_function tv_view_arrows;                                       /* flows.c */
tv_view_function tv_view_beside;                                       /* events.c */
tv_view_function tv_view_reference;                                    /* objects.c */
tv_view_function tv_view_objects, tv_view_object, tv_view_snapshot;    /* objects.c */
tv_view_function tv_view_samples, tv_view_sample;                      /* moments.c */
tv_view_function tv_view_sample_chart;                                 /* sample_chart.c */
tv_view_function tv_view_memory_dumps, tv_view_memory_dump;            /* moments.c */
tv_view_function tv_view_tiles;                                        /* timeline.c */
tv_view_function tv_view_search, tv_view_search_frames;                /* search.c */
tv_view_function tv_view_search_step;                                  /* search.c */
tv_view_function tv_view_states, tv_view_state;                        /* states.c */
tv_view_function tv_view_statistics;                                   /* slices.c */
tv_view_function tv_view_findings;                                     /* findings.c */
tv_view_function tv_view_display_frames, tv_view_display_marks;        /* display_frames.c */
tv_view_function tv_view_save;                                         /* downloads.c */
tv_view_function tv_view_flamegraph, tv_view_collapsed;                /* downloads.c */
tv_view_function tv_view_facts;                                        /* downloads.c */
tv_view_function tv_view_same;                                         /* caches.c */
tv_view_function tv_view_health, tv_view_at, tv_view_bytes;            /* events.c */

/* Cache of call trees.  tv_trees_enter returns the tree of a selection, cached or counted now; it
 * belongs to the caller alone until tv_trees_leave. */
struct tv_tree_cache *tv_trees_new(const struct tv_trace *trace);
void tv_trees_free(struct tv_tree_cache *cache);

/* Write the tree of the whole trace to an index file. */
void tv_trees_store(const struct tv_tree_cache *cache, struct tv_sections_writer *writer);

/* Do in advance what the first questions would have to wait for. */
void tv_trees_prepare(struct tv_tree_cache *cache);
const struct tv_call_tree *tv_trees_enter(struct tv_tree_cache *cache,
                                          const struct tv_selection *selection);
void tv_trees_leave(struct tv_tree_cache *cache);

/* Write the numbers of display frames of each process that has some, as an object member. */
void tv_view_write_display_rows(struct tv_out *out, const struct tv_view *view);

/* The smallest share of the whole that may be asked for as the narrowest frame. */
#define TV_VIEW_MIN_SHARE 0.000001

/* Changes to a tree before it answers a question. */
struct tv_tree_changes {
    tv_ns cost; /* subtracted for each clock reading (tv_call_tree_compensate); 0: nothing */
    struct tv_bytes text; /* the transforms as asked for */
    struct tv_transforms transforms;
};

/* Read the parameters for compensated costs and transforms; fail if the trace does not state a
 * cost. The texts are those of the parameters. */
enum tv_status tv_view_read_changes(const struct tv_view *view,
                                    const struct tv_parameters *parameters,
                                    struct tv_tree_changes *changes,
                                    struct tv_error *err) TV_MUST_CHECK; /* caches.c */

/* Read only the transforms: samples cost nothing each. */
enum tv_status tv_view_read_transforms(const struct tv_parameters *parameters,
                                       struct tv_tree_changes *changes,
                                       struct tv_error *err) TV_MUST_CHECK; /* caches.c */

/* Return the bounds of a frame parameter: frames of the trace, and of collapsed packages. */
struct tv_parameter_bounds tv_view_frame_bounds(const struct tv_view *view,
                                                const struct tv_tree_changes *changes);

/* As tv_trees_enter, with changes.  After an error the cache is left already. */
enum tv_status tv_trees_enter_changed(struct tv_tree_cache *cache,
                                      const struct tv_selection *selection,
                                      const struct tv_tree_changes *changes,
                                      const struct tv_call_tree **tree,
                                      struct tv_error *err) TV_MUST_CHECK;

/* Apply the transforms to a tree that the caller owns, which is replaced. */
enum tv_status tv_view_transform_tree(const struct tv_tree_changes *changes,
                                      struct tv_call_tree **tree,
                                      struct tv_error *err) TV_MUST_CHECK; /* caches.c */

/* An event of an input to read again. */
struct tv_view_event {
    uint32_t input, frame;       /* frame TV_NONE: the category is written elsewhere */
    uint64_t offset, end_offset; /* TV_NO_OFFSET: none */
};

/* Write the event's category, offset and all that the trace does not hold, as members of an open
 * JSON object; nothing if the input says no more. */
void tv_view_write_event(struct tv_out *out, const struct tv_trace *trace,
                         const struct tv_view_event *event); /* slices.c */

/* Write a slice as [row, index], or null if it does not exist. */
void tv_view_write_place(struct tv_out *out, const char *key, bool exists, uint32_t row,
                         uint32_t index); /* slices.c */

/* Write a flow with both ends: an object that is left open for more members. */
void tv_view_write_flow(struct tv_out *out, const struct tv_trace *trace,
                        uint32_t number); /* flows.c */

/* Return a process as references name it: its key, or its number, which is written into `room`. */
#define TV_PROCESS_ROOM 24
struct tv_bytes tv_view_process_name(const struct tv_trace_info *head, uint32_t process,
                                     char room[TV_PROCESS_ROOM]); /* objects.c */

/* Write the contexts that a slice began in, as an object member; nothing if there are none. */
void tv_view_write_contexts(struct tv_out *out, const struct tv_trace *trace, uint32_t row,
                            uint32_t index); /* objects.c */

/* Write what "=" events say about a group of joined ids, as an object member; nothing if there
 * are none. */
void tv_view_write_joins(struct tv_out *out, const struct tv_trace *trace,
                         uint32_t group); /* events.c */

/* Return [frames] the reserved colour that all slices and instants of a frame have, 0: automatic.
 * Free it with tv_free. */
uint8_t *tv_view_frame_colours(const struct tv_trace *trace); /* timeline.c */

/* Return the main input, the first that has events on the common clock, and its name.  There must
 * be an input. */
const struct tv_input *tv_view_main_input(const struct tv_trace_info *head); /* trace_info.c */
struct tv_bytes tv_view_input_name(const struct tv_trace_info *head);        /* trace_info.c */

/* Write a time, or null if there is no such clock. */
static inline void tv_view_time(struct tv_out *out, bool there, int64_t value)
{
    if (there)
        tv_out_i64(out, value);
    else
        tv_out_text(out, "null");
}

/* ---- Members of JSON objects ----
 *
 * A key comes with the punctuation around it: ",\"count\":".
 */

static inline void tv_member_number(struct tv_out *out, const char *key, int64_t value)
{
    tv_out_text(out, key);
    tv_out_i64(out, value);
}

/* Write an index; TV_NONE is -1. */
static inline void tv_member_index(struct tv_out *out, const char *key, uint32_t value)
{
    tv_member_number(out, key, value == TV_NONE ? -1 : (int64_t)value);
}

static inline void tv_member_flag(struct tv_out *out, const char *key, bool value)
{
    tv_out_text(out, key);
    tv_out_text(out, value ? "true" : "false");
}

/* Write a string of the head. */
static inline void tv_member_text(struct tv_out *out, const char *key,
                                  const struct tv_trace_info *head, uint32_t string)
{
    tv_out_text(out, key);
    tv_out_json(out, tv_trace_info_text(head, string));
}

/* ---- Measures of samples ----
 */

/* Read measure, and value: the number of a value type from 1; 0: the trace's default. */
enum tv_status tv_view_read_sampled(const struct tv_view *view,
                                    const struct tv_parameters *parameters,
                                    struct tv_sample_question *question,
                                    struct tv_error *err) TV_MUST_CHECK;

/* Words of enum tv_sample_measure, NULL-terminated. */
extern const char *const tv_view_measures[4];

/* ---- Columns of binary answers ----
 *
 * The values of one field, one after the other, little-endian and padded to a multiple of 8 bytes,
 * as the page's typed arrays need them.
 */

/* Memory for one column at a time. */
struct tv_answer_column {
    uint32_t count;
    double *times;
    uint32_t *numbers; /* shares the memory of `times` */
};

struct tv_answer_column tv_column_new(uint32_t count);
void tv_column_release(struct tv_answer_column *column);

/* Write a column in the page's byte order: float64 times; u32 numbers, padded to 8 bytes. */
void tv_column_write_times(struct tv_out *out, const struct tv_answer_column *column);
void tv_column_write_numbers(struct tv_out *out, const struct tv_answer_column *column);

/* Write a column whose row `i` has this value, an expression. */
#define TV_COLUMN_OF_TIMES(out, column, i, value)                                                  \
    do {                                                                                           \
        for (uint32_t i = 0; i < (column)->count; i++)                                             \
            (column)->times[i] = (double)(value);                                                  \
        tv_column_write_times(out, column);                                                        \
    } while (0)
#define TV_COLUMN_OF_NUMBERS(out, column, i, value)                                                \
    do {                                                                                           \
        for (uint32_t i = 0; i < (column)->count; i++)                                             \
            (column)->numbers[i] = (value);                                                        \
        tv_column_write_numbers(out, column);                                                      \
    } while (0)

/* Write numbers without padding. */
void tv_column_write_u32(struct tv_out *out, const uint32_t *numbers, uint32_t count);

/* ---- Order of tracks ---- */

/* Fill view->tracks, and where the order is by owner view->processes and view->threads.  For method
 * traces, the busiest track comes first.  Other formats are ordered by process and thread as
 * order.c says; overflow and asynchronous tracks follow their thread, asynchronous tracks of a
 * process follow its threads. */
void tv_view_order_tracks(struct tv_view *view);

/* If tracks are ordered by process and thread, write the order of these as object members,
 * including those without tracks, which may have other rows. */
void tv_view_write_order(const struct tv_view *view, struct tv_out *out);

/* Compare names in the order in which people look for them: below, equal to (only for equal
 * bytes) or above 0.
 *
 * Like localeCompare of a browser for ASCII: blanks, marks, digits, letters; digits together are
 * one number, so that "worker-2" is before "worker-10"; upper case next to lower case, and
 * after it if nothing else differs.  Control characters come first; bytes of other letters come
 * last, in the order of their code points. */
int tv_collate(struct tv_bytes a, struct tv_bytes b);

/* ---- Marks in pixels ----
 *
 * Events that a screen shows as marks: those of one owner (a thread, a lane) in one pixel are
 * merged, and their number is limited.
 */

#define TV_PIXEL_LIMIT 8192
#define TV_PIXEL_ROWS 20000

struct tv_pixel_row {
    uint32_t number; /* the first of its pixel */
    uint32_t count;
    uint32_t owner;
    tv_ns time; /* of the first */
    tv_ns end;  /* of the last */
};

struct tv_pixels {
    struct tv_view_window window;
    struct tv_pixel_row *rows;
    size_t capacity;
    uint32_t count;
    uint64_t left_out;
    uint32_t *open; /* [owners] index + 1 of the owner's last row */
};

void tv_pixels_init(struct tv_pixels *pixels, const struct tv_view_window *window, size_t owners);
void tv_pixels_release(struct tv_pixels *pixels);

/* Add the next event of an owner, from `time` to `end`.  One of two pixels or more stands alone.
 * The caller leaves out events outside of the window. */
void tv_pixels_add(struct tv_pixels *pixels, uint32_t owner, uint32_t number, tv_ns time,
                   tv_ns end);

/* Events of one kind that are points in time. */
struct tv_moments {
    const char *name; /* of the list in the answer */
    size_t count;
    size_t owners;
    uint32_t (*owner)(const struct tv_trace *trace, size_t number); /* below `owners` */
    tv_ns (*time)(const struct tv_trace *trace, size_t number);
    void (*write)(struct tv_out *out, const struct tv_trace *trace, const struct tv_pixel_row *row);
};

/* Answer with the events in the window that the parameters give: {name: [rows], "left_out": n}. */
enum tv_status tv_view_moments_write(const struct tv_view *view,
                                     const struct tv_parameters *parameters,
                                     const struct tv_moments *moments, struct tv_out *out,
                                     struct tv_error *err) TV_MUST_CHECK;

/* Return the position of a time, in pixels from the beginning of the window. */
double tv_pixels_at(const struct tv_pixels *pixels, tv_ns time);

/* ---- Cached views of filtered traces ----
 *
 * Each view is built when it is first asked for.  The latest few stay cached, as long as they hold
 * no more slices in total than the whole trace.
 */

struct tv_filtered_views;

struct tv_filtered_views *tv_filtered_views_new(const struct tv_view *whole);
void tv_filtered_views_free(struct tv_filtered_views *views);

/* One of these views, which stays valid until tv_filtered_leave. */
struct tv_filtered;

/* Get the view of a filter; a view that is being built is waited for.  TV_ERR_USAGE: the filter
 * is wrong at character err->offset, from 1. */
enum tv_status tv_filtered_enter(struct tv_filtered_views *views, struct tv_bytes text,
                                 struct tv_filtered **filtered, struct tv_error *err) TV_MUST_CHECK;
void tv_filtered_leave(struct tv_filtered_views *views, struct tv_filtered *filtered);

/* Valid until tv_filtered_leave. */
const struct tv_view *tv_filtered_view(const struct tv_filtered *filtered);

/* ---- Index of flows ----
 *
 * Finds flows by the slice at either end, by the time that they span and by category, so that a
 * million of them answer at once.  Built on first use, 28 bytes per flow.
 */

#define TV_FLOW_LEVELS 4

/* A flow of several categories ("a,b") counts in each. */
struct tv_flow_category {
    struct tv_bytes name;
    uint64_t count;
};

struct tv_flow_index {
    const struct tv_trace *trace;
    struct tv_lock lock;
    bool made;
    uint32_t count;
    uint32_t *by_from, *by_to; /* flow numbers, sorted by row and index of that end */
    uint32_t *by_start;        /* sorted by the earlier of their two times */
    tv_ns *start;              /* the earlier times */
    /* The later times, in the order of by_start: of each flow, then the maximum of 64, of 64 *
     * 64, ... */
    tv_ns *latest[TV_FLOW_LEVELS];
    struct tv_interner *names;
    struct tv_flow_category *categories; /* by first use */
    uint32_t category_count;
};

struct tv_flow_index *tv_flow_index_new(const struct tv_trace *trace);
void tv_flow_index_free(struct tv_flow_index *index);

/* Build the index if necessary; any number of threads may call this. */
const struct tv_flow_index *tv_flow_index_get(struct tv_flow_index *index);

/* Return the position in by_to (arriving) or by_from of the first flow at a slice. */
uint32_t tv_flow_index_at(const struct tv_flow_index *index, bool arriving, uint32_t row,
                          uint32_t slice);

/* Return a flow's two times on the trace's axis. */
static inline tv_ns tv_flow_from(const struct tv_trace *trace, const struct tv_flow *flow)
{
    return tv_trace_time(trace, flow->input, flow->from.time);
}

static inline tv_ns tv_flow_to(const struct tv_trace *trace, const struct tv_flow *flow)
{
    return tv_trace_time(trace, flow->input, flow->to.time);
}

/* Iterates over the flows that touch [from, to), by start; begin with `next` 0.  TV_NONE ends. */
struct tv_flow_walk {
    const struct tv_flow_index *index;
    tv_ns from, to;
    uint32_t next;
};
uint32_t tv_flow_walk_next(struct tv_flow_walk *walk);

/* Split the next category off a comma-separated list, as an index of index->categories. */
bool tv_flow_index_category(const struct tv_flow_index *index, struct tv_bytes *list,
                            uint32_t *category);

/* ---- Index of objects ----
 *
 * The rows in which objects are drawn: one per process and type, with as many lanes as objects live
 * at once.  Built on first use, 12 bytes per object.
 */

/* Objects that find no free lane overlap others in the last one. */
#define TV_OBJECT_LANES 16u

struct tv_object_row {
    uint32_t process;      /* TV_NONE: none */
    uint32_t type;         /* string: the base type if there is one */
    uint32_t first, count; /* range of `order` */
    uint32_t lanes;
    uint64_t snapshots;
};

struct tv_object_index {
    const struct tv_trace *trace;
    struct tv_lock lock;
    bool made;
    struct tv_object_row *rows; /* by process and type name */
    size_t row_capacity;
    uint32_t row_count;
    uint32_t *order;  /* objects by row, then by creation */
    uint32_t *row_of; /* [objects] */
    uint32_t *lane;   /* [objects] within the row */
};

struct tv_object_index *tv_object_index_new(const struct tv_trace *trace);
void tv_object_index_free(struct tv_object_index *index);

/* Build the index if necessary; any number of threads may call this. */
const struct tv_object_index *tv_object_index_get(struct tv_object_index *index);

/* Return when an object began and ended on the trace's axis. */
static inline tv_ns tv_object_begin(const struct tv_trace *trace, const struct tv_object *object)
{
    return tv_trace_time(trace, object->input, object->created);
}

static inline tv_ns tv_object_end(const struct tv_trace *trace, const struct tv_object *object)
{
    return tv_trace_time(trace, object->input, object->deleted);
}

/* ---- Facts of an event that are known without reading it again ----
 */

struct tv_event_facts {
    tv_ns time, length;
    uint32_t track, process, frame; /* each may be TV_NONE */
    uint32_t name;                  /* string; used if there is no frame */
};

/* Return the facts of an event of this trace. */
struct tv_event_facts tv_event_facts(const struct tv_view *view,
                                     const struct tv_event_place *place);

/* Write kind, a, b, time, length, track, process, frame, name, without brackets; -1 for none, and
 * null as name if there is a frame. */
void tv_event_facts_write(struct tv_out *out, const struct tv_view *view,
                          const struct tv_event_place *place, const struct tv_event_facts *about);

#endif
