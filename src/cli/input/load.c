/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.c - from FILE arguments to a filled sink or a finished trace (load.h).
 *
 * The order of checks is for the user: mistakes in options cost no time, unknown files are found
 * before any file is read, and damage is reported after everything readable has been read.
 *
 *     files --> sources --> unpacked inputs --> sinks      the answer needs no trace
 *                                           '-> trace
 *                       '-> index cache --------^
 *
 * Ownership: a struct tv_loading owns the sources, the mapping and the namer until a trace takes
 * them over; every function below that fails leaves nothing behind.
 */
#include "cli/input/load.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analysis/subset/filter.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/out.h"
#include "cli/command.h"
#include "cli/input/index_cache.h"
#include "cli/input/inputs.h"
#include "cli/input/selection.h"
#include "cli/input/symbols.h"
#include "cli/output/message.h"
#include "readers/reader.h"

/* Read the mapping file; *mapping is NULL without one. */
static enum tv_status load_read_mapping(const char *path, struct tv_mapping **mapping,
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
    if (status == TV_OK && tv_source_check(source, err) != TV_OK) {
        tv_mapping_free(*mapping);
        *mapping = NULL;
        status = tv_error_prefix(err, "%s", path);
    }
    tv_source_free(source);
    return status;
}

/* Files that are open and checked, but not read: the state between tv_load_open
 * and the reading. */
struct tv_loading {
    const struct tv_settings *settings;
    struct tv_inputs inputs;
    struct tv_mapping *mapping;
    struct tv_namer *namer; /* until a head takes it */
    struct tv_filter filter;
    struct tv_index_cache *cached; /* where to find or write the trace, or NULL */
    struct tv_trace *kept;         /* the trace from the cache, instead of inputs; or NULL */
    enum tv_sample_detail samples;
    uint64_t began;
};

/* Check that readers know the inputs from `first` on, before any is read: so a wrong file costs no
 * time. */
static enum tv_status load_recognise_inputs(const struct tv_inputs *inputs, size_t first,
                                            struct tv_error *err)
{
    for (size_t i = first; i < inputs->count; i++) {
        struct tv_source *source = inputs->rows[i].source;
        if (!tv_readers_find(source, err))
            return tv_reading_blame(source, err);
    }
    return TV_OK;
}

/* Parse --filter; also done early. */
static enum tv_status load_parse_filter(const char *text, struct tv_filter *filter,
                                        struct tv_error *err)
{
    size_t column;
    if (!text || tv_filter_parse(tv_bytes_of(text), filter, &column, err) == TV_OK)
        return TV_OK;
    return tv_error_prefix(err, "--filter");
}

/* Free everything that the loading still owns. */
static void loading_release(struct tv_loading *loading)
{
    tv_filter_release(&loading->filter);
    tv_inputs_release(&loading->inputs);
    tv_mapping_free(loading->mapping);
    if (loading->namer)
        loading->namer->free(loading->namer);
    tv_trace_free(loading->kept);
    tv_free(loading->cached);
}

/* Check the options before any file is opened, so that a mistake costs no time. */
static enum tv_status load_check_options(const struct tv_settings *settings,
                                         const char *const *files, size_t count, tv_ns **offsets,
                                         struct tv_error *err)
{
    struct tv_filter filter = {0};
    enum tv_status status = load_parse_filter(settings->select.filter, &filter, err);
    tv_filter_release(&filter);
    return status == TV_OK ? tv_offsets_find(&settings->input.offsets, files, count, offsets, err)
                           : status;
}

/* Everything is opened as for reading, and closed again. */
enum tv_status tv_load_check(const struct tv_settings *settings, struct tv_error *err)
{
    struct tv_filter filter = {0};
    struct tv_namer *namer = NULL;
    struct tv_source *mapping = NULL;
    enum tv_status status = load_parse_filter(settings->select.filter, &filter, err);
    tv_filter_release(&filter);
    if (status == TV_OK && settings->input.mapping)
        status = tv_inputs_open_plain(settings->input.mapping, &mapping, err);
    if (status == TV_OK)
        status = tv_symbols_open(&settings->input.symbols, &namer, err);
    if (mapping)
        tv_source_free(mapping);
    if (namer)
        namer->free(namer);
    return status;
}

/* The first bytes decide, as they will for the reader. */
enum tv_status tv_load_check_file(const char *path, struct tv_error *err)
{
    struct tv_source *source;
    enum tv_status status = tv_inputs_open_argument(path, &source, err);
    if (status != TV_OK)
        return status;
    status = tv_inputs_check(source, err);
    tv_source_free(source);
    return status;
}

/* Takes the files over, also after an error. */
enum tv_status tv_load_open_files(const struct tv_settings *settings, struct tv_input_file *given,
                                  size_t count, struct tv_progress *progress,
                                  struct tv_loading **loading, struct tv_error *err)
{
    struct tv_loading opened = {.settings = settings};
    opened.inputs = (struct tv_inputs){
        .quiet = settings->quiet,
        .progress = progress,
        .ceiling = settings->input.unpacked_bytes,
        .one_by_one = settings->input.one_by_one,
    };
    enum tv_status status = load_parse_filter(settings->select.filter, &opened.filter, err);
    if (status == TV_OK)
        status = load_read_mapping(settings->input.mapping, &opened.mapping, err);
    if (status == TV_OK)
        status = tv_symbols_open(&settings->input.symbols, &opened.namer, err);
    if (status == TV_OK)
        status = tv_inputs_add(&opened.inputs, given, count, err);
    else
        tv_input_files_free(given, count);
    if (status == TV_OK)
        status = load_recognise_inputs(&opened.inputs, 0, err);
    if (status != TV_OK) {
        tv_inputs_give_up(&opened.inputs);
        loading_release(&opened);
        return status;
    }
    *loading = tv_alloc(1, sizeof **loading);
    **loading = opened;
    return TV_OK;
}

/* Smaller files are not searched for in the cache: reading them is as fast. */
#define CACHE_MIN_BYTES ((uint64_t)8 << 20)

/* Are the files large? Their sizes must be known. */
static bool load_are_large(const struct tv_input_file *given, size_t count)
{
    uint64_t size = 0;
    for (size_t i = 0; i < count && size < CACHE_MIN_BYTES; i++)
        size += tv_source_size(given[i].source);
    return size >= CACHE_MIN_BYTES;
}

/* Can the source be read only once (a pipe)? It is never cached, and its end is not awaited here.
 */
static bool load_comes_once(struct tv_source *source)
{
    uint64_t size;
    return !tv_source_has_size(source, &size);
}

/* Return the cache key of the files; NULL when it is better to read them. */
static struct tv_index_cache *load_find_cached(const struct tv_settings *settings,
                                               const char *const *files, size_t count,
                                               const tv_ns *offsets,
                                               const struct tv_input_file *given)
{
    struct tv_index_cache *cached = tv_alloc(1, sizeof *cached);
    bool good = true, needs_trace = false;
    cached->settings = settings;
    for (size_t i = 0; i < count && good; i++) {
        if (tv_inputs_is_second_half(files, i))
            continue;
        good = cached->count < TV_INDEX_CACHE_FILES;
        if (!good)
            break;
        struct tv_source *source = given[cached->count].source;
        good = !load_comes_once(source);
        needs_trace = needs_trace || (good && tv_inputs_need_trace(source));
        cached->offsets[cached->count] = offsets[i];
        cached->paths[cached->count++] = files[i];
    }
    if (good && needs_trace && load_are_large(given, cached->count) &&
        tv_index_cache_make_key(cached))
        return cached;
    tv_free(cached);
    return NULL;
}

/* Take the trace from the cache. Not for formats that stream: sinks and the model give the same
 * numbers, but not all the same facts besides. */
static bool load_take_cached(struct tv_loading *loading)
{
    assert(!loading->kept);
    if (!loading->cached || !tv_index_cache_read(loading->cached, &loading->kept))
        return false;
    if (tv_index_cache_is_assembled(loading->kept))
        return true;
    tv_trace_free(loading->kept);
    loading->kept = NULL;
    return false;
}

/* Take the trace from the cache, or else load the files. Takes `given` and `cached` over. */
static enum tv_status load_or_take_cached(const struct tv_settings *settings,
                                          struct tv_input_file *given, size_t count,
                                          struct tv_index_cache *cached,
                                          struct tv_loading **loading, struct tv_error *err)
{
    struct tv_loading kept = {.settings = settings, .cached = cached, .began = tv_monotonic_ns()};
    enum tv_status status = TV_OK;
    if (!load_take_cached(&kept)) {
        status = tv_load_open_files(settings, given, count, NULL, loading, err);
        if (status == TV_OK) {
            (*loading)->cached = cached;
            (*loading)->began = kept.began;
        } else {
            tv_free(cached);
        }
        return status;
    }
    tv_input_files_free(given, count);
    status = load_parse_filter(settings->select.filter, &kept.filter, err);
    if (status != TV_OK) {
        loading_release(&kept);
        return status;
    }
    *loading = tv_alloc(1, sizeof **loading);
    **loading = kept;
    return TV_OK;
}

/* Return the facts of a FILE argument; "-" is standard input. */
static bool load_stat_input(const char *path, struct stat *info)
{
    return strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, info) == 0 : tv_file_stat(path, info) == 0;
}

/* May a later argument be the same pipe? The first one gets all data, so it is read to its end
 * before the later one is opened. */
static bool load_comes_again(const char *const *files, size_t count, size_t i)
{
    struct stat first, later;
    if (i + 1 == count || !load_stat_input(files[i], &first) || S_ISREG(first.st_mode))
        return false;
    for (i++; i < count; i++)
        if (load_stat_input(files[i], &later) && later.st_dev == first.st_dev &&
            later.st_ino == first.st_ino)
            return true;
    return false;
}

/* A pipe that is named twice is read to its end for the first of the two, or
 * the second would get part of it. */
enum tv_status tv_load_open(const struct tv_settings *settings, const char *const *files,
                            size_t count, struct tv_loading **loading, struct tv_error *err)
{
    tv_ns *offsets;
    enum tv_status status = load_check_options(settings, files, count, &offsets, err);
    if (status != TV_OK)
        return status;
    struct tv_input_file *given = tv_alloc(count, sizeof *given);
    size_t opened = 0;
    for (size_t i = 0; i < count && status == TV_OK; i++) {
        if (tv_inputs_is_second_half(files, i))
            continue;
        given[opened].offset = offsets[i];
        status = tv_inputs_open_argument(files[i], &given[opened].source, err);
        if (status == TV_OK && load_comes_again(files, count, i))
            tv_source_size(given[opened].source);
        opened += status == TV_OK;
    }
    if (status == TV_OK)
        status = load_or_take_cached(settings, given, opened,
                                     load_find_cached(settings, files, count, offsets, given),
                                     loading, err);
    else
        tv_input_files_free(given, opened);
    tv_free(given);
    tv_free(offsets);
    return status;
}

void tv_load_close(struct tv_loading *loading)
{
    if (!loading)
        return;
    loading_release(loading);
    tv_free(loading);
}

/* The sources are the caller's then; the mapping and the rest are freed. */
void tv_load_take_sources(struct tv_loading *loading, struct tv_source ***sources, size_t *count)
{
    *count = loading->inputs.count;
    *sources = tv_alloc(*count, sizeof(struct tv_source *));
    for (size_t i = 0; i < *count; i++)
        (*sources)[i] = loading->inputs.rows[i].source;
    loading->inputs.count = 0;
    tv_load_close(loading);
}

bool tv_load_is_packed(const struct tv_loading *loading)
{
    return loading->inputs.packed;
}

bool tv_load_has_notes(const struct tv_loading *loading)
{
    return loading->inputs.remarked;
}

/* A trace from the cache has no inputs that are open, but knows how many it was
 * made of. */
size_t tv_load_count(const struct tv_loading *loading)
{
    return loading->kept ? loading->kept->head->input_count : loading->inputs.count;
}

const struct tv_inputs_row *tv_load_input(const struct tv_loading *loading, size_t i)
{
    assert(i < loading->inputs.count);
    return &loading->inputs.rows[i];
}

void tv_load_before_waiting(struct tv_loading *loading, void (*call)(void *context), void *context)
{
    for (size_t i = 0; i < loading->inputs.count; i++)
        tv_source_before_waiting(loading->inputs.rows[i].source, call, context);
}

/* Can this input be read by itself? An offset moves events, which only a trace can do. */
static bool load_is_readable_alone(const struct tv_inputs_row *row, bool tell)
{
    return row->offset == 0 &&
           (tv_readers_can_stream(row->source) || (tell && tv_readers_has_records(row->source)));
}

/* Can each input be read by itself, because it streams (or, with `tell`, its records can be
 * visited) and no filter needs all of them? */
static bool load_are_readable_alone(const struct tv_loading *loading, bool tell)
{
    if (loading->settings->select.filter || loading->kept)
        return false;
    for (size_t i = 0; i < loading->inputs.count; i++)
        if (!load_is_readable_alone(&loading->inputs.rows[i], tell))
            return false;
    return true;
}

/* A filter or an offset needs the whole trace, and so does a trace from the
 * cache, which has no records. */
bool tv_load_can_stream(const struct tv_loading *loading)
{
    return load_are_readable_alone(loading, false);
}

bool tv_load_can_dump(const struct tv_loading *loading)
{
    return load_are_readable_alone(loading, true);
}

/* Reset the counters after unpacking: from now on they count reading. */
static void load_reset_progress(struct tv_progress *progress)
{
    atomic_store(&progress->input_bytes, 0);
    atomic_store(&progress->total_bytes, 0);
    atomic_store(&progress->bytes, 0);
    atomic_store(&progress->unpacking, false);
}

/* Read a packed file to its end, to report damage after the last record, too. */
static enum tv_status load_check_end(struct tv_source *source, struct tv_error *err)
{
    tv_source_size(source);
    enum tv_status status = tv_source_check(source, err);
    return status == TV_OK ? TV_OK : tv_reading_blame(source, err);
}

/* Add the traces after the first one in an archive. If the first one was printed while it was read,
 * the others must be as well: it is too late to merge them into one trace. */
static enum tv_status load_add_rest(struct tv_loading *loading, bool tell, struct tv_error *err)
{
    struct tv_inputs *inputs = &loading->inputs;
    size_t first = inputs->count;
    enum tv_status status = tv_inputs_add_rest(inputs, err);
    if (status == TV_OK)
        status = load_recognise_inputs(inputs, first, err);
    for (size_t i = first; i < inputs->count && status == TV_OK && tell; i++)
        if (!load_is_readable_alone(&inputs->rows[i], true))
            status = tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                             "%s: its records cannot be printed while they are read, unlike those "
                             "of the traces before it in the archive: use --order time",
                             tv_source_name(inputs->rows[i].source));
    return status;
}

/* Read one input, and a packed one to its very end. */
static enum tv_status load_read_input(struct tv_loading *loading, size_t i,
                                      const struct tv_reading *to,
                                      const struct tv_read_options *options, struct tv_error *err)
{
    assert(i < loading->inputs.count && !loading->kept);
    const struct tv_inputs_row *row = &loading->inputs.rows[i];
    const struct tv_reading_input input = {row->source, row->machine, row->offset};
    enum tv_status status = tv_reading_add(to, &input, options, err);
    if (status == TV_OK && loading->inputs.packed)
        status = load_check_end(row->source, err);
    tv_inputs_finish(&loading->inputs, i);
    return status;
}

/* Read all inputs into a sink or builder. How far a reader looks ahead depends on what must be
 * known before the first event: names, the clock or all threads. */
static enum tv_status load_read_all(struct tv_loading *loading, struct tv_reading to,
                                    struct tv_progress *progress, struct tv_error *err)
{
    struct tv_progress own = {0};
    struct tv_meter *meter = progress ? NULL : tv_meter_start(&own, loading->settings->quiet);
    struct tv_naming_sink naming;
    to.head->namer = loading->namer;
    loading->namer = NULL;
    if (loading->mapping) {
        tv_naming_sink_init(&naming, to.sink, loading->mapping);
        to.sink = &naming.sink;
    }
    bool asks_for_clock = loading->settings->clock != TV_CHOICE_ANY;
    struct tv_read_options options = {
        .parts = tv_settings_jobs(loading->settings),
        .progress = progress ? progress : &own,
        .ahead = tv_threads_are_selected(loading->settings) ? TV_AHEAD_ALL
                 : loading->mapping                         ? TV_AHEAD_NAMES
                 : asks_for_clock                           ? TV_AHEAD_CLOCK
                                                            : TV_AHEAD_SHORT,
    };
    enum tv_status status = TV_OK;
    load_reset_progress(options.progress);
    for (size_t i = 0; status == TV_OK; i++) {
        if (i == loading->inputs.count)
            status = load_add_rest(loading, to.visitor != NULL, err);
        if (status != TV_OK || i == loading->inputs.count)
            break;
        status = load_read_input(loading, i, &to, &options, err);
    }
    if (status != TV_OK)
        tv_inputs_give_up(&loading->inputs);
    for (size_t i = 0; i < loading->inputs.cut_count; i++)
        tv_diagnostics_add(&to.head->diagnostics, TV_DIAGNOSTIC_CONTAINER_CUT, TV_NO_OFFSET);
    tv_meter_stop(meter);
    return status;
}

enum tv_status tv_load_stream(struct tv_loading *loading, struct tv_trace_info *head,
                              struct tv_sink *sink, struct tv_progress *progress,
                              struct tv_error *err)
{
    return tv_load_dump(loading, head, sink, NULL, progress, err);
}

/* Closes the loading, also after an error. */
enum tv_status tv_load_dump(struct tv_loading *loading, struct tv_trace_info *head,
                            struct tv_sink *sink, struct tv_record_visitor *visitor,
                            struct tv_progress *progress, struct tv_error *err)
{
    struct tv_reading to = {.head = head, .sink = sink, .visitor = visitor};
    enum tv_status status = load_read_all(loading, to, progress, err);
    tv_load_close(loading);
    return status;
}

/* Return the name of the file for diagnostics; several files share one list. */
static const char *load_input_name(const struct tv_trace_info *head)
{
    if (head->input_count != 1)
        return "all files";
    return (const char *)tv_trace_info_text(head, head->inputs[0].name).data;
}

/* Print how much a filter left: of slices, of samples, or of both. */
static void load_note_filter(const struct tv_trace *trace, const struct tv_trace *whole)
{
    uint64_t samples = tv_tables_sample_count(&whole->tables);
    char text[64] = "";
    if (samples > 0)
        snprintf(text, sizeof text, "%" PRIu64 " of %" PRIu64 " %s",
                 tv_tables_sample_count(&trace->tables), samples,
                 tv_plural(samples, "sample", "samples"));
    if (samples > 0 && whole->slice_count == 0)
        tv_message("%s: filter: %s", load_input_name(whole->head), text);
    else
        tv_message("%s: filter: %" PRIu64 " of %" PRIu64 " %s%s%s", load_input_name(whole->head),
                   trace->slice_count, whole->slice_count,
                   tv_plural(whole->slice_count, "slice", "slices"), samples > 0 ? ", " : "", text);
}

/* Apply --filter. Terms about arguments read the files again; an event that cannot be read matches
 * no term. */
static enum tv_status load_filter_trace(const struct tv_loading *loading, struct tv_trace **trace,
                                        struct tv_error *err)
{
    const struct tv_settings *settings = loading->settings;
    struct tv_trace *whole = *trace;
    if (!settings->select.filter)
        return TV_OK;
    tv_trace_await(whole);
    struct tv_filter filter = loading->filter;
    filter.workers = tv_settings_jobs(settings);
    *trace = tv_filter_trace(whole, &filter);
    if (!settings->quiet)
        load_note_filter(*trace, whole);
    tv_trace_take_over(*trace, whole);
    enum tv_status status = tv_trace_check_sources(*trace, err);
    if (status != TV_OK)
        tv_trace_free(*trace);
    return status;
}

/* Hand the sources to the trace, which reads arguments of events on demand. */
static void load_hand_over_sources(struct tv_loading *loading, struct tv_trace *trace)
{
    for (size_t i = 0; i < loading->inputs.count; i++)
        tv_trace_keep_source(trace, loading->inputs.rows[i].source);
    loading->inputs.count = 0;
}

/* Only what any command could use is kept: whole traces with single samples,
 * without notes that a second reading would not print. */
static void load_write_to_cache(const struct tv_loading *loading, struct tv_trace *trace)
{
    assert(!loading->kept);
    const struct tv_index_cache *cached = loading->cached;
    if (cached && loading->samples == TV_SAMPLES_SINGLE && !loading->inputs.remarked &&
        tv_index_cache_is_assembled(trace) &&
        tv_index_cache_is_worth_waiting(cached, tv_monotonic_ns() - loading->began))
        tv_index_cache_write_behind(cached, trace);
}

void tv_load_sum_samples(struct tv_loading *loading, enum tv_sample_detail detail)
{
    loading->samples = detail;
}

/* A trace from the cache is complete; only --filter remains to be applied. */
enum tv_status tv_load_build(struct tv_loading *loading, struct tv_progress *progress,
                             struct tv_trace **trace, struct tv_error *err)
{
    if (loading->kept) {
        *trace = loading->kept;
        loading->kept = NULL;
        enum tv_status status = load_filter_trace(loading, trace, err);
        tv_load_close(loading);
        return status;
    }
    struct tv_reading to = {.head = tv_trace_info_new()};
    to.builder = tv_builder_new(to.head);
    to.sink = tv_builder_sink(to.builder);
    tv_builder_sum_samples(to.builder, loading->samples);
    enum tv_status status = load_read_all(loading, to, progress, err);
    if (status == TV_OK) {
        *trace = tv_builder_finish(to.builder);
        load_hand_over_sources(loading, *trace);
        load_write_to_cache(loading, *trace);
        status = load_filter_trace(loading, trace, err);
    } else {
        tv_builder_free(to.builder);
    }
    tv_load_close(loading);
    return status;
}

/* Opens and builds at once, for commands that need nothing in between. */
enum tv_status tv_load_trace(const struct tv_settings *settings, const char *const *files,
                             size_t count, struct tv_progress *progress, struct tv_trace **trace,
                             struct tv_error *err)
{
    struct tv_loading *loading;
    enum tv_status status = tv_load_open(settings, files, count, &loading, err);
    return status == TV_OK ? tv_load_build(loading, progress, trace, err) : status;
}

/* Report inputs that lack a clock: in sums, their calls count as 0 on it. */
static void load_report_clocks(const struct tv_trace_info *head)
{
    unsigned all = tv_trace_info_clocks(head);
    for (uint32_t i = 0; i < head->input_count; i++) {
        const struct tv_input *input = &head->inputs[i];
        unsigned lacking = input->callless ? 0 : all & ~input->clocks;
        if (lacking != 0)
            tv_message("%s: note: this file has no %s clock; its calls count as 0 on that clock",
                       (const char *)tv_trace_info_text(head, input->name).data,
                       lacking & TV_CLOCK_CPU ? "CPU" : "wall");
    }
}

void tv_load_report(const struct tv_settings *settings, const struct tv_trace_info *head)
{
    if (settings->quiet)
        return;
    load_report_clocks(head);
    for (unsigned i = 0; i < TV_DIAGNOSTIC_COUNT; i++) {
        const struct tv_diagnostic *diagnostic = &head->diagnostics.kinds[i];
        enum tv_diagnostic_kind kind = (enum tv_diagnostic_kind)i;
        if (diagnostic->count == 0 || kind == TV_DIAGNOSTIC_UNMATCHED_EXIT ||
            kind == TV_DIAGNOSTIC_OPEN_CALL)
            continue;
        struct tv_out text;
        tv_out_init_memory(&text);
        tv_diagnostics_write_text(&text, &head->diagnostics, kind);
        char first[48] = "";
        if (diagnostic->offset_count > 0)
            snprintf(first, sizeof first, ", first at byte %" PRIu64,
                     diagnostic->places->offsets[0]);
        tv_message("%s: %s: %.*s (%s: %" PRIu64 "%s)", load_input_name(head),
                   tv_diagnostic_severity_name(kind), (int)text.length, (const char *)text.buffer,
                   tv_diagnostic_name(kind), diagnostic->count, first);
        tv_out_release(&text);
    }
}

/* Most commands are this: read a trace, report its damage, act on it. */
int tv_load_run(const struct tv_command *command, const struct tv_settings *settings,
                enum tv_status (*act)(const struct tv_settings *settings,
                                      const struct tv_trace *trace, struct tv_error *err))
{
    struct tv_error err = {0};
    struct tv_trace *trace = NULL;
    enum tv_status status =
        tv_load_trace(settings, settings->files.items, settings->files.count, NULL, &trace, &err);
    if (status == TV_OK) {
        tv_load_report(settings, trace->head);
        status = act(settings, trace, &err);
        tv_trace_free(trace);
    }
    return status == TV_OK ? TV_EXIT_OK : tv_command_failed(command, &err);
}
