/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of Android's compositor (docs/formats/perfetto.md).
 *
 * SurfaceFlinger tells of each frame twice: when it was expected to be drawn, and when it was.
 * A display frame is what the screen shows; it consists of surface frames, one of each layer that
 * changed.  Begins carry a cookie, by which the end finds its frame:
 *
 *     expected_surface_frame_start {cookie 7, token 3} ... frame_end {cookie 7}
 *
 * The frames become slices on the tracks "Expected Timeline" and "Actual Timeline" of their
 * process, named after their tokens.  An arrow leads from each actual surface frame to the actual
 * display frame that shows it, whose token it carries.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/sort.h"
#include "readers/perfetto/reading.h"

/* Fields of FrameTimelineEvent. */
enum {
    EXPECTED_DISPLAY = 1,
    ACTUAL_DISPLAY,
    EXPECTED_SURFACE,
    ACTUAL_SURFACE,
    FRAME_END,
};

/* Reasons why a frame was not on time: bits of jank_type. */
enum {
    JANK_NONE = 1,
    JANK_SURFACEFLINGER = 2 | 4 | 8 | 16 | 32 | 512, /* deadlines, scheduling, HAL, stuffing */
    JANK_APP_DEADLINE = 64,
    JANK_BUFFER_STUFFING = 128,
    JANK_DROPPED = 1024,
};

/* Reserved colours: the ids of trace-event.md section 5 minus 22. */
enum {
    COLOUR_EXPECTED = 16,    /* grey */
    COLOUR_ON_TIME = 12,     /* good */
    COLOUR_APP_LATE = 14,    /* terrible */
    COLOUR_OTHERS_LATE = 18, /* yellow */
    COLOUR_STUFFED = 29,     /* light green */
    COLOUR_DROPPED = 20,     /* blue */
};

/* ---- Events ---- */

/* Return the colour of a frame: what made it late, the application first. */
static uint8_t pf_frame_colour(uint32_t kind, uint64_t jank)
{
    if (kind == EXPECTED_DISPLAY || kind == EXPECTED_SURFACE)
        return COLOUR_EXPECTED;
    if (jank & JANK_APP_DEADLINE)
        return COLOUR_APP_LATE;
    if (jank & JANK_DROPPED)
        return COLOUR_DROPPED;
    if (jank & JANK_SURFACEFLINGER)
        return COLOUR_OTHERS_LATE;
    if (jank & JANK_BUFFER_STUFFING)
        return COLOUR_STUFFED;
    return jank == JANK_NONE ? COLOUR_ON_TIME : 0;
}

void tv_pf_take_frame_timeline(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                               struct tv_bytes event)
{
    struct tv_pf_message message = tv_pf_message_over(event);
    struct tv_protobuf_field part;
    char text[24];
    if (!tv_pf_next(&message, &part) || part.number > FRAME_END || part.wire != TV_PROTOBUF_BYTES) {
        tv_pf_warn(reading, TV_DIAGNOSTIC_BAD_FIELDS, packet->offset);
        return;
    }
    bool surface = part.number == EXPECTED_SURFACE || part.number == ACTUAL_SURFACE;
    bool actual = part.number == ACTUAL_DISPLAY || part.number == ACTUAL_SURFACE;
    int64_t token = (int64_t)tv_pf_find(part.bytes, 2).value;
    int32_t pid = (int32_t)tv_pf_find(part.bytes, surface ? 4 : 3).value;
    int length = snprintf(text, sizeof text, "%" PRId64, token);
    tv_ft_chunk_note(reading->chunk, packet->time);
    *tv_table_add(&reading->display_frames) = (struct tv_pf_display_frame){
        .time = packet->time,
        .cookie = (int64_t)tv_pf_find(part.bytes, 1).value,
        .token = token,
        .display_token =
            part.number == ACTUAL_SURFACE ? (int64_t)tv_pf_find(part.bytes, 3).value : 0,
        .pid = pid > 0 ? pid : TV_FT_NO_ID,
        .offset = packet->offset & TV_OFFSET_MASK,
        .kind = part.number & 7,
        .colour = pf_frame_colour(part.number, tv_pf_find(part.bytes, surface ? 9 : 7).value),
        .frame = part.number == FRAME_END
                     ? 0
                     : tv_ft_chunk_frame(reading->chunk,
                                         (struct tv_bytes){(uint8_t *)text, (size_t)length},
                                         actual ? "frame.actual" : "frame.expected"),
    };
}

/* ---- Slices ---- */

/* Stands for a frame that is left out, in the map of open frames. */
#define LEFT_OUT (TV_NONE - 1)

/* Return true when an expected surface frame of its process repeats a token. */
static bool pf_frame_is_repeated(const struct tv_pf_display_frame *event, struct tv_interner *seen)
{
    int64_t key[2] = {event->pid, event->token};
    uint32_t known = tv_interner_count(seen);
    return event->kind == EXPECTED_SURFACE &&
           tv_interner_add(seen, (struct tv_bytes){(const uint8_t *)key, sizeof key}) < known;
}

static void pf_frame_begin(struct tv_ft_merge *merge, const struct tv_pf_display_frame *event)
{
    bool actual = event->kind == ACTUAL_DISPLAY || event->kind == ACTUAL_SURFACE;
    struct tv_bytes track = actual ? TV_BYTES("Actual Timeline") : TV_BYTES("Expected Timeline");
    struct tv_async_slice *slice =
        tv_ft_merge_add_async(merge, event->time, merge->last - event->time, event->offset);
    slice->frame = merge->numbers[0].frames[event->frame];
    slice->process = tv_ft_merge_process(merge, event->pid);
    slice->track = tv_trace_info_string(merge->trace->head, track);
    slice->flags = TV_SLICE_OPEN;
    slice->colour = event->colour;
}

static void pf_frame_end(struct tv_ft_merge *merge, const struct tv_pf_display_frame *event,
                         uint32_t open)
{
    if (open == LEFT_OUT)
        return;
    if (open == TV_NONE) {
        tv_diagnostics_add(&merge->trace->head->diagnostics, TV_DIAGNOSTIC_ASYNC_STRAY_STEP,
                           event->offset);
        return;
    }
    struct tv_async_slice *slice = &merge->whole_asyncs.rows[open];
    slice->length = event->time - slice->start;
    slice->flags = 0;
}

/* ---- Arrows ---- */

/* Add the arrow from a surface frame to its display frame. */
static void pf_frame_add_arrow(struct tv_ft_merge *merge, const struct tv_pf_display_frame *surface,
                               const struct tv_pf_display_frame *display)
{
    char text[24];
    int length = snprintf(text, sizeof text, "%" PRId64, display->token);
    struct tv_bytes token = {(uint8_t *)text, (size_t)length};
    *tv_table_add(&merge->flows) = (struct tv_ft_flow){
        .from = {TV_NONE, surface->time, surface->time, surface->offset, TV_FT_BY_EVENT},
        .to = {TV_NONE, display->time, display->time, display->offset, TV_FT_BY_EVENT},
        .offset = surface->offset,
        .end_offset = display->offset,
        .frame = tv_ft_merge_frame(merge, TV_BYTES("shown by"), "frame.actual"),
        .id = tv_trace_info_string(merge->trace->head, token),
    };
}

/* Join each actual surface frame to the display frame of its token, whichever came first. */
static void pf_frames_add_arrows(const struct tv_pf_reading *reading, struct tv_ft_merge *merge)
{
    const struct tv_pf_display_frame *rows = reading->display_frames.rows;
    struct tv_map displays; /* token -> number of the actual display frame */
    tv_map_init(&displays);
    for (size_t i = 0; i < reading->display_frames.count; i++)
        if (rows[i].kind == ACTUAL_DISPLAY)
            tv_map_set(&displays, (uint64_t)rows[i].token, (uint32_t)i);
    for (size_t i = 0; i < reading->display_frames.count; i++) {
        uint32_t display = rows[i].kind == ACTUAL_SURFACE && rows[i].display_token != 0
                               ? tv_map_find(&displays, (uint64_t)rows[i].display_token)
                               : TV_NONE;
        if (display != TV_NONE)
            pf_frame_add_arrow(merge, &rows[i], &rows[display]);
    }
    tv_map_release(&displays);
}

/* ---- All frames ---- */

/* Return the order of the events: by time, then as they came. */
static struct tv_sort_key *pf_sort_display_frames(const struct tv_pf_reading *reading)
{
    size_t count = reading->display_frames.count;
    struct tv_sort_key *keys = tv_alloc(count, sizeof *keys);
    for (size_t i = 0; i < count; i++)
        keys[i] = (struct tv_sort_key){tv_sort_signed(reading->display_frames.rows[i].time), i};
    tv_sort_keys(keys, count);
    return keys;
}

void tv_pf_add_display_frames(struct tv_pf_reading *reading, struct tv_ft_merge *merge)
{
    struct tv_sort_key *keys = pf_sort_display_frames(reading);
    struct tv_interner *seen = tv_interner_new();
    struct tv_map open; /* cookie -> slice */
    tv_map_init(&open);
    for (size_t i = 0; i < reading->display_frames.count; i++) {
        const struct tv_pf_display_frame *event = &reading->display_frames.rows[keys[i].index];
        uint64_t cookie = (uint64_t)event->cookie;
        uint32_t slice = (uint32_t)merge->whole_asyncs.count;
        if (event->kind == FRAME_END) {
            pf_frame_end(merge, event, tv_map_find(&open, cookie));
            tv_map_set(&open, cookie, LEFT_OUT); /* further ends have nothing to end */
        } else if (pf_frame_is_repeated(event, seen)) {
            tv_map_set(&open, cookie, LEFT_OUT);
        } else {
            pf_frame_begin(merge, event);
            tv_map_set(&open, cookie, slice);
        }
    }
    tv_map_release(&open);
    tv_interner_free(seen);
    tv_free(keys);
    pf_frames_add_arrows(reading, merge);
}

/* ---- Arguments ---- */

static const char *const present_types[] = {"Unspecified Present", "On-time Present",
                                            "Late Present",        "Early Present",
                                            "Dropped Frame",       "Unknown Present"};
static const char *const predictions[] = {"Unspecified Prediction", "Valid Prediction",
                                          "Expired Prediction", "Unknown Prediction"};
static const char *const severities[] = {"Unknown", "None", "Partial", "Full"};
#define SEVERITY_NONE 1u

/* By bit. */
static const char *const jank_types[] = {
    "None",
    "SurfaceFlinger Scheduling",
    "Prediction Error",
    "Display HAL",
    "SurfaceFlinger CPU Deadline Missed",
    "SurfaceFlinger GPU Deadline Missed",
    "App Deadline Missed",
    "Buffer Stuffing",
    "Unknown Jank",
    "SurfaceFlinger Stuffing",
    "Dropped Frame",
    "Non Animating",
    "App Resynced Jitter",
    "Display not ON",
    "ModeChange in progress",
    "PowerModeChange in progress",
};

static void pf_write_choice(struct tv_out *out, const char *key, const char *const *names,
                            size_t count, uint64_t value)
{
    if (value < count)
        tv_out_format(out, ",\"%s\":\"%s\"", key, names[value]);
    else
        tv_out_format(out, ",\"%s\":%" PRIu64, key, value);
}

/* Return who is to blame for the reasons. */
static const char *pf_jank_tag(uint32_t bits, bool surface)
{
    const uint32_t compositor = 2 | 4 | 8 | 16 | 32, unknown = 256, stuffing = 512;
    const uint32_t jitter = 4096, app = JANK_APP_DEADLINE | unknown | jitter;
    if (bits == JANK_NONE)
        return "No Jank";
    if (bits & (surface ? app : compositor | unknown))
        return "Self Jank";
    if (bits & compositor)
        return "Other Jank";
    if (bits & JANK_DROPPED)
        return "Dropped Frame";
    if (bits & stuffing)
        return "SurfaceFlinger Stuffing";
    if (bits & JANK_BUFFER_STUFFING)
        return "Buffer Stuffing";
    return bits == 0 ? "Unspecified" : "Non-perceivable Jank";
}

/* Write the reasons, joined by ", "; bits without a name in hexadecimal. */
static void pf_write_jank_type(struct tv_out *out, uint32_t bits)
{
    bool any = false;
    tv_out_text(out, ",\"Jank type\":\"");
    for (size_t i = 0; i < TV_COUNT(jank_types); i++) {
        if (!(bits >> i & 1))
            continue;
        tv_out_format(out, "%s%s", any ? ", " : "", jank_types[i]);
        any = true;
    }
    bits >>= TV_COUNT(jank_types);
    if (bits != 0)
        tv_out_format(out, "%s0x%" PRIx32 "0000", any ? ", " : "", bits);
    tv_out_text(out, any || bits != 0 ? "\"" : "Unspecified\"");
}

/* Write what became of an actual frame.  `at`: number of its first field after those that all
 * frames have. */
static void pf_write_outcome(struct tv_out *out, struct tv_bytes bytes, uint32_t at, bool surface)
{
    pf_write_choice(out, "Present type", present_types, TV_COUNT(present_types),
                    tv_pf_find(bytes, at).value);
    tv_out_format(out, ",\"On time finish\":%s",
                  tv_pf_find(bytes, at + 1).value ? "true" : "false");
    tv_out_format(out, ",\"GPU composition\":%s",
                  tv_pf_find(bytes, at + 2).value ? "true" : "false");
    uint32_t jank = (uint32_t)tv_pf_find(bytes, at + 3).value;
    pf_write_jank_type(out, jank);
    tv_out_format(out, ",\"Jank tag\":\"%s\"", pf_jank_tag(jank, surface));
    struct tv_protobuf_field severity = tv_pf_find(bytes, at + 5 + surface);
    if (severity.number == 0 && jank == JANK_NONE)
        severity.value = SEVERITY_NONE; /* older recorders do not tell */
    pf_write_choice(out, "Jank severity type", severities, TV_COUNT(severities), severity.value);
    pf_write_choice(out, "Prediction type", predictions, TV_COUNT(predictions),
                    tv_pf_find(bytes, at + 4).value);
    if (surface)
        tv_out_format(out, ",\"Is buffer\":%s", tv_pf_find(bytes, at + 5).value ? "true" : "false");
}

void tv_pf_write_display_frame(struct tv_out *out, struct tv_bytes event)
{
    struct tv_pf_message message = tv_pf_message_over(event);
    struct tv_protobuf_field part;
    tv_out_char(out, '{');
    if (tv_pf_next(&message, &part) && part.number < FRAME_END) {
        bool surface = part.number == EXPECTED_SURFACE || part.number == ACTUAL_SURFACE;
        int64_t token = (int64_t)tv_pf_find(part.bytes, 2).value;
        tv_out_format(out, "\"%s frame token\":%" PRId64, surface ? "Surface" : "Display", token);
        if (surface) {
            tv_out_format(out, ",\"Display frame token\":%" PRId64 ",\"Layer name\":",
                          (int64_t)tv_pf_find(part.bytes, 3).value);
            tv_out_json(out, tv_pf_find(part.bytes, 5).bytes);
        }
        if (part.number == ACTUAL_DISPLAY || part.number == ACTUAL_SURFACE)
            pf_write_outcome(out, part.bytes, surface ? 6 : 4, surface);
    }
    tv_out_char(out, '}');
}
