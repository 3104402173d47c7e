/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file behind the trace: what is wrong with it, which event stands at a place, its bytes.
 */
#include "base/bytes.h"
#include "analysis/places.h"
#include "base/source.h"
#include "view/event_about.h"
#include "writers/tables/check_report.h"

#define MOST_BYTES 4096

enum tv_status tv_view_health(const struct tv_view *view, const struct tv_parameters *parameters,
                              struct tv_out *out, struct tv_error *err)
{
    const struct tv_head *head = view->trace->head;
    bool any = false;
    (void)parameters, (void)err;
    tv_out_text(out, "{\"readable\":[");
    for (uint32_t i = 0; i < head->input_count; i++) {
        tv_out_text(out, i > 0 ? "," : "");
        tv_out_text(out, head->inputs[i].source ? "true" : "false");
    }
    tv_out_char(out, ']');
    tv_out_text(out, ",\"diagnostics\":[");
    tv_check_write_json(out, view->trace, NULL, true, &any);
    tv_out_text(out, "\n]\n}");
    return TV_OK;
}

/* input (0 when it is not given) and offset. */
static enum tv_status read_place(const struct tv_parameters *parameters,
                                 const struct tv_trace *trace, uint32_t *input, uint64_t *offset,
                                 struct tv_error *err)
{
    int64_t number, place;
    enum tv_status status = tv_parameter_integer(
        parameters, "input", (struct tv_parameter_bounds){0, (int64_t)trace->head->input_count - 1},
        0, &number, err);
    if (status == TV_OK)
        status = tv_parameter_required(parameters, "offset",
                                       (struct tv_parameter_bounds){0, INT64_MAX}, &place, err);
    if (status != TV_OK)
        return status;
    *input = (uint32_t)number;
    *offset = (uint64_t)place;
    return TV_OK;
}

enum tv_status tv_view_at(const struct tv_view *view, const struct tv_parameters *parameters,
                          struct tv_out *out, struct tv_error *err)
{
    struct tv_neighbours found;
    uint32_t input;
    uint64_t offset;
    enum tv_status status = read_place(parameters, view->trace, &input, &offset, err);
    if (status != TV_OK)
        return status;
    tv_places_find(view->trace, input, &offset, 1, &found);
    bool exact = found.at.kind != TV_EVENT_NONE && found.at.offset == offset;
    const struct tv_event_place *place =
        exact || found.after.kind == TV_EVENT_NONE ? &found.at : &found.after;
    tv_out_text(out, exact ? "{\"exact\":true,\"event\":" : "{\"exact\":false,\"event\":");
    if (place->kind == TV_EVENT_NONE) {
        tv_out_text(out, "null}");
        return TV_OK;
    }
    struct tv_event_about about = tv_event_about(view, place);
    tv_out_char(out, '[');
    tv_event_about_write(out, view, place, &about);
    tv_out_text(out, "],\"offset\":");
    tv_out_u64(out, place->offset);
    tv_out_char(out, '}');
    return TV_OK;
}

static void write_hex(struct tv_out *out, const uint8_t *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        tv_out_char(out, digits[bytes[i] >> 4]);
        tv_out_char(out, digits[bytes[i] & 15]);
    }
}

enum tv_status tv_view_bytes(const struct tv_view *view, const struct tv_parameters *parameters,
                             struct tv_out *out, struct tv_error *err)
{
    const struct tv_parameter_bounds lengths = {1, MOST_BYTES};
    uint8_t bytes[MOST_BYTES];
    uint32_t input;
    uint64_t offset;
    int64_t length;
    size_t got = 0;
    enum tv_status status = read_place(parameters, view->trace, &input, &offset, err);
    if (status == TV_OK)
        status = tv_parameter_integer(parameters, "length", lengths, MOST_BYTES, &length, err);
    if (status != TV_OK)
        return status;
    struct tv_source *source = view->trace->head->inputs[input].source;
    if (!source)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "the bytes of this file are not at hand");
    if (offset < tv_source_size(source))
        status = tv_source_read(source, offset, bytes, (size_t)length, &got, err);
    if (status != TV_OK)
        return status;
    tv_out_text(out, "{\"offset\":");
    tv_out_u64(out, offset);
    tv_out_text(out, ",\"size\":");
    tv_out_u64(out, tv_source_size(source));
    tv_out_text(out, ",\"hex\":\"");
    write_hex(out, bytes, got);
    tv_out_text(out, "\"}");
    return TV_OK;
}
