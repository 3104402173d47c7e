/* SPDX-License-Identifier: Apache-2.0 */
#include "view/filtered.h"

#include <string.h>

#include "analysis/subset/filter.h"
#include "base/bytes.h"
#include "base/lock.h"
#include "base/memory.h"

#define KEPT 4

struct tv_filtered {
    struct tv_filtered *next; /* asked for longer ago */
    struct tv_bytes text;     /* owned */
    struct tv_filter filter;
    unsigned askers;
    struct tv_lock making;
    /* Written under that lock, and not any more when there. */
    struct tv_trace *trace;
    struct tv_view *view;
};

struct tv_filtered_views {
    const struct tv_view *whole;
    struct tv_lock lock;
    struct tv_filtered *first;
};

struct tv_filtered_views *tv_filtered_views_new(const struct tv_view *whole)
{
    struct tv_filtered_views *views = tv_alloc(1, sizeof *views);
    views->whole = whole;
    tv_lock_init(&views->lock);
    return views;
}

static void free_one(struct tv_filtered *filtered)
{
    tv_view_free(filtered->view);
    tv_trace_free(filtered->trace);
    tv_filter_release(&filtered->filter);
    tv_lock_release(&filtered->making);
    tv_free((void *)(uintptr_t)filtered->text.data);
    tv_free(filtered);
}

void tv_filtered_views_free(struct tv_filtered_views *views)
{
    if (!views)
        return;
    for (struct tv_filtered *next, *filtered = views->first; filtered; filtered = next) {
        next = filtered->next;
        free_one(filtered);
    }
    tv_lock_release(&views->lock);
    tv_free(views);
}

/* ---- The list, under its lock ---- */

/* Finds the one of a text and puts it first. */
static struct tv_filtered *find(struct tv_filtered_views *views, struct tv_bytes text)
{
    struct tv_filtered **link = &views->first, *found;
    while (*link && !tv_bytes_equal((*link)->text, text))
        link = &(*link)->next;
    found = *link;
    if (!found)
        return NULL;
    *link = found->next;
    found->next = views->first;
    views->first = found;
    found->askers++;
    return found;
}

static struct tv_filtered *add(struct tv_filtered_views *views, struct tv_bytes text,
                               const struct tv_filter *filter)
{
    struct tv_filtered *added = tv_alloc(1, sizeof *added);
    uint8_t *copy = tv_alloc(text.length + 1, 1);
    memcpy(copy, text.data, text.length);
    added->text = (struct tv_bytes){copy, text.length};
    added->filter = *filter;
    added->askers = 1;
    tv_lock_init(&added->making);
    added->next = views->first;
    views->first = added;
    return added;
}

/* Gives up those asked for longest ago that nobody uses. */
static void forget(struct tv_filtered_views *views)
{
    uint64_t slices = 0, most = views->whole->trace->slice_count;
    unsigned count = 0;
    struct tv_filtered **link = &views->first;
    while (*link) {
        struct tv_filtered *filtered = *link;
        bool used = filtered->askers > 0;
        /* What is in use may be about to be made. */
        uint64_t own = used || !filtered->trace ? 0 : filtered->trace->slice_count;
        if (!used && count > 0 && (count >= KEPT || slices + own > most)) {
            *link = filtered->next;
            free_one(filtered);
            continue;
        }
        count++;
        slices += own;
        link = &filtered->next;
    }
}

/* ---- One view ---- */

/* Tracks stand as in the whole trace, whatever is left of them. */
static void order_tracks(struct tv_view *view, const struct tv_view *whole)
{
    uint32_t count = view->trace->track_count, at = 0, put = 0;
    uint32_t *places = tv_alloc(whole->trace->track_count, sizeof *places);
    struct tv_view_track *ordered = tv_alloc(count, sizeof *ordered);
    struct tv_view_track *by_number = tv_alloc(count, sizeof *by_number);
    for (uint32_t i = 0; i < count; i++)
        by_number[view->tracks[i].track] = view->tracks[i];
    for (uint32_t i = 0; i < whole->trace->track_count; i++) {
        bool kept =
            at < count && tv_filter_same_track(&whole->trace->tracks[i], &view->trace->tracks[at]);
        places[i] = kept ? at++ : TV_NONE;
    }
    for (uint32_t i = 0; i < whole->trace->track_count; i++)
        if (places[whole->tracks[i].track] != TV_NONE)
            ordered[put++] = by_number[places[whole->tracks[i].track]];
    tv_free(places);
    tv_free(by_number);
    tv_free(view->tracks);
    view->tracks = ordered;
}

/* A method keeps its rank: colours go by it. */
static void make(struct tv_filtered *filtered, const struct tv_view *whole)
{
    filtered->trace = tv_filter_trace(whole->trace, &filtered->filter);
    struct tv_view *view = tv_view_new(filtered->trace);
    view->whole = whole;
    if (whole->trace->head->frame_count > 0)
        memcpy(view->rank, whole->rank, whole->trace->head->frame_count * sizeof *view->rank);
    order_tracks(view, whole);
    filtered->view = view;
}

enum tv_status tv_filtered_enter(struct tv_filtered_views *views, struct tv_bytes text,
                                 struct tv_filtered **filtered, struct tv_error *err)
{
    struct tv_filter filter;
    size_t column = 0;
    tv_lock_enter(&views->lock);
    struct tv_filtered *found = find(views, text);
    if (!found) {
        enum tv_status status = tv_filter_parse(text, &filter, &column, err);
        if (status != TV_OK) {
            tv_lock_leave(&views->lock);
            err->offset = column;
            return status;
        }
        found = add(views, text, &filter);
        forget(views);
    }
    tv_lock_leave(&views->lock);
    tv_lock_enter(&found->making);
    if (!found->view)
        make(found, views->whole);
    tv_lock_leave(&found->making);
    *filtered = found;
    return TV_OK;
}

void tv_filtered_leave(struct tv_filtered_views *views, struct tv_filtered *filtered)
{
    tv_lock_enter(&views->lock);
    filtered->askers--;
    forget(views);
    tv_lock_leave(&views->lock);
}

const struct tv_view *tv_filtered_view(const struct tv_filtered *filtered)
{
    return filtered->view;
}

/* ---- Questions ---- */

/* A slice of the trace that `was` left, or of the whole one; where it is in the present one. */
static void write_same(struct tv_out *out, const struct tv_trace *from, const struct tv_trace *to,
                       uint32_t row, uint32_t index)
{
    uint32_t other_row, other_index;
    if (tv_filter_same_slice(from, row, index, to, &other_row, &other_index))
        tv_out_format(out, "{\"slice\":[%u,%u]}", other_row, other_index);
    else
        tv_out_text(out, "{\"slice\":null}");
}

enum tv_status tv_view_same(const struct tv_view *view, const struct tv_parameters *parameters,
                            struct tv_out *out, struct tv_error *err)
{
    const struct tv_view *whole = view->whole ? view->whole : view;
    struct tv_bytes was = tv_parameter_text(parameters, "was");
    struct tv_filtered *filtered = NULL;
    uint32_t row, index;
    if (was.length > 0 && tv_filtered_enter(whole->filtered, was, &filtered, err) != TV_OK)
        return TV_ERR_USAGE;
    const struct tv_trace *from = filtered ? filtered->trace : whole->trace;
    enum tv_status status = tv_parameter_slice(parameters, from, &row, &index, err);
    if (status == TV_OK)
        write_same(out, from, view->trace, row, index);
    if (filtered)
        tv_filtered_leave(whole->filtered, filtered);
    return status;
}
