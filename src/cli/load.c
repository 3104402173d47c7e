/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/load.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "cli/inputs.h"
#include "cli/meter.h"
#include "cli/names.h"
#include "readers/reader.h"

static enum tv_status read_mapping(const char *path, struct tv_mapping **mapping,
                                   struct tv_error *err)
{
    struct tv_source *source;
    *mapping = NULL;
    if (!path)
        return TV_OK;
    enum tv_status status = tv_inputs_open_plain(path, &source, err);
    if (status != TV_OK)
        return status;
    status = tv_mapping_read(source, mapping, err);
    tv_source_free(source);
    return status;
}

static enum tv_status read_sources(const struct tv_inputs *inputs, struct tv_head *head,
                                   struct tv_sink *sink, const struct tv_read_options *options,
                                   struct tv_error *err)
{
    for (size_t i = 0; i < inputs->count; i++) {
        enum tv_status status = tv_readers_read(inputs->sources[i], head, sink, options, err);
        if (status != TV_OK)
            return tv_error_prefix(err, "%s", tv_source_name(inputs->sources[i]));
    }
    return TV_OK;
}

/* What a loading opens and its end gives back. */
struct loading {
    struct tv_inputs inputs;
    struct tv_mapping *mapping;
};

static enum tv_status open_loading(struct loading *loading, const struct tv_settings *settings,
                                   const char *const *files, size_t count, struct tv_error *err)
{
    enum tv_status status = read_mapping(settings->mapping, &loading->mapping, err);
    if (status != TV_OK)
        return status;
    status = tv_inputs_open(&loading->inputs, files, count, err);
    if (status != TV_OK)
        tv_mapping_free(loading->mapping);
    return status;
}

static enum tv_status load(const struct tv_settings *settings, struct loading *loading,
                           struct tv_head *head, struct tv_sink *sink, struct tv_progress *progress,
                           struct tv_error *err)
{
    struct tv_progress own = {0};
    struct tv_meter *meter = progress ? NULL : tv_meter_start(&own, settings->quiet);
    struct tv_naming_sink naming;
    if (loading->mapping) {
        tv_naming_sink_init(&naming, sink, loading->mapping);
        sink = &naming.sink;
    }
    struct tv_read_options options = {
        .parts = tv_settings_jobs(settings),
        .progress = progress ? progress : &own,
    };
    enum tv_status status = read_sources(&loading->inputs, head, sink, &options, err);
    tv_meter_stop(meter);
    tv_inputs_release(&loading->inputs);
    tv_mapping_free(loading->mapping);
    return status;
}

enum tv_status tv_load_sink(const struct tv_settings *settings, struct tv_head *head,
                            struct tv_sink *sink, struct tv_progress *progress,
                            struct tv_error *err)
{
    struct loading loading;
    enum tv_status status =
        open_loading(&loading, settings, settings->files.items, settings->files.count, err);
    if (status != TV_OK)
        return status;
    return load(settings, &loading, head, sink, progress, err);
}

enum tv_status tv_load_trace(const struct tv_settings *settings, const char *const *files,
                             size_t count, struct tv_progress *progress, struct tv_trace **trace,
                             struct tv_error *err)
{
    struct loading loading;
    enum tv_status status = open_loading(&loading, settings, files, count, err);
    if (status != TV_OK)
        return status;
    struct tv_head *head = tv_head_new();
    struct tv_builder *builder = tv_builder_new(head);
    status = load(settings, &loading, head, tv_builder_sink(builder), progress, err);
    if (status != TV_OK) {
        tv_builder_free(builder);
        return status;
    }
    *trace = tv_builder_finish(builder);
    return TV_OK;
}

/* The name of the file that the diagnostics are about; several files share one list. */
static const char *input_name(const struct tv_head *head)
{
    if (head->input_count != 1)
        return "the files together";
    return (const char *)tv_head_text(head, head->inputs[0].name).data;
}

void tv_load_report(const struct tv_settings *settings, const struct tv_head *head)
{
    if (settings->quiet)
        return;
    for (unsigned i = 0; i < TV_DIAGNOSTIC_COUNT; i++) {
        const struct tv_diagnostic *diagnostic = &head->diagnostics.kinds[i];
        enum tv_diagnostic_kind kind = (enum tv_diagnostic_kind)i;
        if (diagnostic->count == 0 || kind == TV_DIAGNOSTIC_UNMATCHED_EXIT ||
            kind == TV_DIAGNOSTIC_OPEN_CALL)
            continue;
        fprintf(stderr, "%s: %s: %s (%s: %" PRIu64, input_name(head),
                tv_diagnostic_is_warning(kind) ? "warning" : "note", tv_diagnostic_text(kind),
                tv_diagnostic_name(kind), diagnostic->count);
        if (diagnostic->offset_count > 0)
            fprintf(stderr, ", first at byte %" PRIu64, diagnostic->offsets[0]);
        fputs(")\n", stderr);
    }
}
