/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_formats.c - the formats that `convert` writes.
 *
 *     trace --> selection --> format_write_...  --> bytes of the file
 *                                               '-> lines: what the format could not hold
 *
 * A format is a row of `formats`: its name, the endings of its files, whether
 * it is binary or a method trace, and the function that calls its writer.
 * `variant` tells a function which of its formats is wanted.  Losses are put
 * into words here, so that every format says what it lost in the same way.
 */
#include "writers/trace/trace_formats.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "writers/stacks/pprof.h"
#include "writers/trace/excerpt.h"
#include "writers/trace/sample_files.h"

/* Write an Android method trace of the version that the format names. */
static enum tv_status format_write_method_trace(const struct tv_trace_format *format,
                                                const struct tv_trace_conversion *conversion,
                                                struct tv_out *out, struct tv_out *lines,
                                                struct tv_error *err)
{
    const struct tv_trace *trace = conversion->trace;
    enum tv_trace_target target = (enum tv_trace_target)format->variant;
    struct tv_trace_file_options options = {.target = target,
                                            .cpu = conversion->cpu,
                                            .keep = conversion->keep,
                                            .closed = trace->is_subset};
    struct tv_trace_file_losses losses;
    enum tv_status status = tv_trace_file_write(out, trace, &options, &losses, err);
    if (status == TV_OK)
        tv_losses_write_method_trace(lines, trace, target, &losses);
    return status;
}

/* Profiles for other viewers. */
static enum tv_status format_write_samples(const struct tv_trace_format *format,
                                           const struct tv_trace_conversion *conversion,
                                           struct tv_out *out, struct tv_out *lines,
                                           struct tv_error *err)
{
    struct tv_sample_file_losses losses;
    enum tv_status status =
        tv_sample_file_write(out, conversion->trace, conversion->keep,
                             (enum tv_sample_format)format->variant, &losses, err);
    if (status == TV_OK)
        tv_losses_write_samples(lines, &losses);
    return status;
}

/* Write the events of an excerpt: files in this format keep the text of their events. */
static enum tv_status format_write_json(const struct tv_trace_format *format,
                                        const struct tv_trace_conversion *conversion,
                                        struct tv_out *out, struct tv_out *lines,
                                        struct tv_error *err)
{
    struct tv_crop crop = {conversion->keep, INT64_MIN, INT64_MAX, false};
    struct tv_excerpt excerpt;
    struct tv_excerpt_losses losses;
    (void)format;
    tv_excerpt_make(&excerpt, conversion->trace, &crop);
    enum tv_status status = tv_excerpt_write_events(&excerpt, out, &losses, err);
    tv_excerpt_release(&excerpt);
    if (status == TV_OK)
        tv_losses_write_events(lines, conversion->trace, &losses);
    return status;
}

/* Write a pprof profile.  A selection is cut out of the trace first, because
 * the writer knows no selections. */
static enum tv_status format_write_pprof(const struct tv_trace_format *format,
                                         const struct tv_trace_conversion *conversion,
                                         struct tv_out *out, struct tv_out *lines,
                                         struct tv_error *err)
{
    struct tv_crop crop = {conversion->keep, INT64_MIN, INT64_MAX, false};
    struct tv_excerpt excerpt;
    struct tv_pprof_losses losses;
    (void)format;
    tv_excerpt_make(&excerpt, conversion->trace, &crop);
    const struct tv_trace *trace = excerpt.made ? excerpt.made : conversion->trace;
    enum tv_status status = tv_pprof_write(out, trace, conversion->keep->types, &losses, err);
    tv_excerpt_release(&excerpt);
    if (status == TV_OK)
        tv_pprof_losses_write(lines, &losses);
    return status;
}

/* Write a Perfetto trace; a selection is cut out first. */
static enum tv_status format_write_perfetto(const struct tv_trace_format *format,
                                            const struct tv_trace_conversion *conversion,
                                            struct tv_out *out, struct tv_out *lines,
                                            struct tv_error *err)
{
    struct tv_crop crop = {conversion->keep, INT64_MIN, INT64_MAX, false};
    struct tv_excerpt excerpt;
    struct tv_perfetto_losses losses;
    (void)format, (void)err;
    tv_excerpt_make(&excerpt, conversion->trace, &crop);
    tv_perfetto_write(out, excerpt.made ? excerpt.made : conversion->trace, &losses);
    tv_excerpt_release(&excerpt);
    tv_losses_write_perfetto(lines, conversion->trace, &losses);
    return TV_OK;
}

#define METHOD_TRACE(title, target)                                                                \
    {                                                                                              \
        .name = (title), .binary = true, .method_trace = true, .variant = (target),                \
        .write = format_write_method_trace                                                         \
    }
#define SAMPLES(title, ending, target)                                                             \
    {                                                                                              \
        .name = (title), .endings = {ending}, .profile = true, .variant = (target),                \
        .write = format_write_samples                                                              \
    }

/* In the order of TV_TRACE_FORMAT_NAMES. */
static const struct tv_trace_format formats[] = {
    METHOD_TRACE("v1", TV_TRACE_V1),
    METHOD_TRACE("v2", TV_TRACE_V2),
    METHOD_TRACE("v3", TV_TRACE_V3),
    METHOD_TRACE("f2", TV_TRACE_STREAM_1),
    METHOD_TRACE("f3", TV_TRACE_STREAM_2),
    {.name = "json", .endings = {".json"}, .write = format_write_json},
    {.name = "pprof",
     .endings = {".pprof", ".pb.gz", ".prof.gz"},
     .binary = true,
     .packed = true,
     .profile = true,
     .write = format_write_pprof},
    {.name = "perfetto",
     .endings = {".perfetto-trace", ".pftrace"},
     .binary = true,
     .write = format_write_perfetto},
    SAMPLES("speedscope", ".speedscope.json", TV_SAMPLES_SPEEDSCOPE),
    SAMPLES("firefox", NULL, TV_SAMPLES_FIREFOX),
    SAMPLES("cpuprofile", ".cpuprofile", TV_SAMPLES_CPUPROFILE),
};

const struct tv_trace_format *tv_trace_format_at(size_t place)
{
    return place < TV_COUNT(formats) ? &formats[place] : NULL;
}

const struct tv_trace_format *tv_trace_format_named(const char *name)
{
    size_t place = 0;
    while (place < TV_COUNT(formats) && strcmp(formats[place].name, name) != 0)
        place++;
    return tv_trace_format_at(place);
}

/* Return the length of the ending when the path has it, alone or before ".gz", else 0. */
static size_t format_match_ending(const char *path, const char *ending)
{
    size_t length = strlen(path), end = ending ? strlen(ending) : length;
    if (length > 3 && strcmp(path + length - 3, ".gz") == 0 && ending &&
        !tv_text_ends_with(ending, ".gz"))
        length -= 3;
    return end < length && strncmp(path + length - end, ending, end) == 0 ? end : 0;
}

/* The longest ending wins: "x.speedscope.json" is a speedscope profile,
 * "x.json" Trace Event JSON. */
const struct tv_trace_format *tv_trace_format_of_file(const char *path)
{
    const struct tv_trace_format *found = NULL;
    size_t longest = 0;
    for (size_t i = 0; i < TV_COUNT(formats); i++) {
        for (size_t j = 0; j < TV_COUNT(formats[i].endings); j++) {
            size_t length = format_match_ending(path, formats[i].endings[j]);
            if (length > longest) {
                found = &formats[i];
                longest = length;
            }
        }
    }
    return found;
}
