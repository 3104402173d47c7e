/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packets in which Chrome wrote its old traces (docs/formats/perfetto.md): metadata, the
 * kernel's events as ftrace text, and Trace Event JSON.  The texts of all packets are one trace
 * each.  Their times are of the monotonic clock, whatever the packets say.
 */
#include <inttypes.h>
#include <stdio.h>

#include "readers/embedded.h"
#include "readers/ftrace/ftrace.h"
#include "readers/perfetto/reading.h"
#include "readers/trace_event/trace_event.h"

/* ---- Metadata ---- */

/* Add a fact of Chrome: a text, JSON, or a number, under Perfetto's name for it. */
static void pf_add_chrome_metadata(struct tv_pf_reading *reading, struct tv_bytes bytes)
{
    char key[96], number[32];
    struct tv_bytes name = tv_pf_find(bytes, 1).bytes, value = tv_pf_find(bytes, 2).bytes;
    if (value.length == 0)
        value = tv_pf_find(bytes, 5).bytes;
    if (value.length == 0) {
        struct tv_protobuf_field whole = tv_pf_find(bytes, 4);
        if (whole.wire == TV_PF_MISSING)
            whole = tv_pf_find(bytes, 3);
        int length = snprintf(number, sizeof number, "%" PRId64, (int64_t)whole.value);
        value = (struct tv_bytes){(uint8_t *)number, (size_t)length};
    }
    snprintf(key, sizeof key, "cr-%.*s", (int)(name.length < 80 ? name.length : 80),
             (const char *)name.data);
    tv_pf_add_metadata(reading, key, value);
}

/* Trials of one packet that are listed; more are not believed. */
#define MAX_TRIALS 10000u

/* Take a ChromeMetadataPacket: its fields, the groups of experiments {1 name, 2 group} as one text,
 * and what began a recording in the background. */
void tv_pf_take_chrome_metadata(struct tv_pf_reading *reading, struct tv_bytes bytes)
{
    static const char *const names[] = {
        [2] = "cr-a-playstore_version_code",
        [3] = "cr-a-enabled_categories",
        [5] = "cr-a-package-name",
        [6] = "cr-a-product-version",
        [7] = "cr-a-channel",
        [8] = "cr-a-os-name",
    };
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    struct tv_out trials, background;
    tv_out_init_memory(&trials);
    tv_out_init_memory(&background);
    tv_pf_add_metadata_fields(reading, bytes, names, TV_COUNT(names));
    for (uint32_t i = 0; i < MAX_TRIALS && tv_pf_next(&message, &field);)
        if (field.number == 4) {
            i++;
            tv_out_format(&trials, "{ name: %" PRIu64 ", group: %" PRIu64 " } ",
                          tv_pf_find(field.bytes, 1).value, tv_pf_find(field.bytes, 2).value);
        } else if (field.number == 1) {
            background.length = 0;
            tv_pf_write_message(&background, "BackgroundTracingMetadata", field.bytes);
        }
    tv_pf_add_metadata(reading, "cr-a-field_trial_hashes",
                       (struct tv_bytes){trials.buffer, trials.length});
    tv_pf_add_metadata(reading, "cr-background_tracing_metadata",
                       (struct tv_bytes){background.buffer, background.length});
    tv_out_release(&trials);
    tv_out_release(&background);
}

/* Take a ChromeBenchmarkMetadata. */
void tv_pf_take_benchmark_metadata(struct tv_pf_reading *reading, struct tv_bytes bytes)
{
    static const char *const names[] = {
        [1] = "cr-benchmark-start-time-us", [2] = "cr-benchmark-story-run-time-us",
        [3] = "cr-benchmark-name",          [4] = "cr-benchmark-description",
        [5] = "cr-benchmark-label",         [6] = "cr-benchmark-story-name",
        [7] = "cr-benchmark-story-tags",    [8] = "cr-benchmark-story-run-index",
        [9] = "cr-benchmark-had-failures",
    };
    tv_pf_add_metadata_fields(reading, bytes, names, TV_COUNT(names));
}

/* ---- Traces inside ---- */

/* Keep events of Trace Event JSON, which stand without the brackets around them. */
static void pf_keep_json(struct tv_pf_reading *reading, struct tv_bytes text)
{
    if (text.length == 0)
        return;
    tv_out_char(&reading->json_text, reading->json_text.length > 0 ? ',' : '[');
    tv_out_bytes(&reading->json_text, text);
}

void tv_pf_take_chrome_events(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                              struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    while (tv_pf_next(&message, &field))
        switch (field.number) {
        case 1: /* the very old form of events */
            tv_pf_warn(reading, TV_DIAGNOSTIC_PACKET_UNREAD, packet->offset);
            break;
        case 2:
            pf_add_chrome_metadata(reading, field.bytes);
            break;
        case 4:
            tv_out_bytes(&reading->kernel_text, field.bytes);
            break;
        case 5:
            pf_keep_json(reading, tv_pf_find(field.bytes, 2).bytes);
            break;
        default:
            break;
        }
}

/* Read a text as an input of its own, on the clock of the trace. */
static enum tv_status pf_build_text(struct tv_pf_reading *reading, struct tv_builder *builder,
                                    const struct tv_out *text, const char *field,
                                    struct tv_error *err)
{
    char name[1024];
    struct tv_error reason;
    struct tv_trace_info *head = tv_builder_trace_info(builder);
    uint32_t outer = reading->input, input = head->input_count;
    if (text->length == 0)
        return TV_OK;
    snprintf(name, sizeof name, "%s: %s", tv_source_name(reading->source), field);
    struct tv_source *source =
        tv_embedded_open((struct tv_bytes){text->buffer, text->length}, name);
    const struct tv_reader *reader = tv_readers_find(source, &reason);
    if (reader != &tv_reader_ftrace && reader != &tv_reader_trace_event) {
        head->diagnostics.input = outer;
        tv_diagnostics_add(&head->diagnostics, TV_DIAGNOSTIC_SUBTRACE_UNREAD, TV_NO_OFFSET);
        tv_source_free(source);
        return TV_OK;
    }
    enum tv_status status =
        tv_embedded_build(source, builder, reading->trace, reading->options, err);
    int64_t shift = 0;
    if (status == TV_OK && input < head->input_count &&
        tv_pf_clocks_convert(&reading->clocks, TV_PF_CLOCK_MONOTONIC, &shift))
        reading->trace->offset[input] = tv_move_add(
            reading->trace->offset[input], tv_move_add(reading->trace->offset[outer], shift));
    return status;
}

enum tv_status tv_pf_build_texts(struct tv_pf_reading *reading, struct tv_builder *builder,
                                 struct tv_error *err)
{
    if (reading->json_text.length > 0)
        tv_out_char(&reading->json_text, ']');
    enum tv_status status =
        pf_build_text(reading, builder, &reading->kernel_text, "legacy_ftrace_output", err);
    if (status == TV_OK)
        status = pf_build_text(reading, builder, &reading->json_text, "legacy_json_trace", err);
    return status;
}
