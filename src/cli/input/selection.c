/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection.c - from the words of options to what a command works on
 * (selection.h).
 *
 *     --process, --thread, --category --> check: does each word match something? --> subset
 *     --range                         --> two times                              --> selection
 *     --clock, --sort                 --> a clock that the trace has
 *
 * A word that matches nothing is an error, because a typing mistake would
 * otherwise look like an empty trace.  The message lists the names that exist.
 *
 * Words of one option are alternatives; different options must all fit.  A
 * thread, say, is selected if a --thread names it and a --process names its
 * process.
 */
#include "cli/input/selection.h"

#include <assert.h>
#include <nettle/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/out.h"
#include "base/random.h"
#include "model/trace_info.h"
#include "writers/text/names.h"

#define MS_NS INT64_C(1000000)

/* Return true when some word fits, or there are no words. */
static bool selection_matches_any(const struct tv_trace_info *head, uint32_t number,
                                  const struct tv_words *words,
                                  bool (*fits)(const struct tv_trace_info *, uint32_t,
                                               struct tv_bytes))
{
    assert(fits);
    for (size_t i = 0; i < words->count; i++) {
        if (fits(head, number, tv_bytes_of(words->items[i])))
            return true;
    }
    return words->count == 0;
}

bool tv_thread_is_named(const struct tv_trace_info *head, uint32_t thread,
                        const struct tv_words *words)
{
    return selection_matches_any(head, thread, words, tv_thread_matches);
}

bool tv_threads_are_selected(const struct tv_settings *settings)
{
    return settings->select.threads.count > 0 || settings->select.processes.count > 0;
}

bool tv_thread_is_selected(const struct tv_trace_info *head, uint32_t thread, void *context)
{
    const struct tv_settings *settings = context;
    uint32_t process = tv_thread_process(head, thread);
    if (!tv_thread_is_named(head, thread, &settings->select.threads))
        return false;
    return process == TV_NONE ? settings->select.processes.count == 0
                              : selection_matches_any(head, process, &settings->select.processes,
                                                      tv_process_matches);
}

/* Does a list of categories, "a,b", have one of --category?  True without
 * words.  A callback of subsets. */
static bool selection_has_category(struct tv_bytes list, const void *context)
{
    const struct tv_settings *settings = context;
    for (size_t i = 0; i < settings->select.categories.count; i++)
        if (tv_categories_match(list, tv_bytes_of(settings->select.categories.items[i])))
            return true;
    return settings->select.categories.count == 0;
}

/* ---- Words that match nothing ---- */

/* More would not fit into one message. */
#define NAMES_SHOWN 8

/* The list in "there are: main (1), Worker (2) and 7 more". */
struct name_list {
    struct tv_interner *seen;
    struct tv_out text;
    uint32_t count;
};

/* Freed by name_list_fail. */
static void name_list_init(struct name_list *list)
{
    *list = (struct name_list){.seen = tv_interner_new()};
    tv_out_init_memory(&list->text);
}

/* Add a name to the list, unless it is empty or in the list already. */
static void name_list_add(struct name_list *list, struct tv_bytes name)
{
    uint32_t before = tv_interner_count(list->seen);
    if (name.length == 0 || tv_interner_add(list->seen, name) < before)
        return;
    if (list->count++ >= NAMES_SHOWN)
        return;
    tv_out_text(&list->text, list->count > 1 ? ", " : "");
    tv_out_bytes(&list->text, (struct tv_bytes){name.data, name.length < 40 ? name.length : 40});
}

/* Add "name (id)", or only one of them if the other is missing. */
static void name_list_add_named(struct name_list *list, struct tv_bytes name, uint64_t id,
                                struct tv_bytes key)
{
    char text[96];
    if (key.length > 0)
        snprintf(text, sizeof text, "%.*s", (int)(key.length < 30 ? key.length : 30), key.data);
    else if (name.length > 0)
        snprintf(text, sizeof text, "%.*s (%llu)", (int)(name.length < 30 ? name.length : 30),
                 name.data, (unsigned long long)id);
    else
        snprintf(text, sizeof text, "%llu", (unsigned long long)id);
    name_list_add(list, tv_bytes_of(text));
}

/* Make the error message from the list, and free the list. */
static enum tv_status name_list_fail(struct name_list *list, const char *option, const char *what,
                                     const char *word, struct tv_error *err)
{
    char more[32] = "";
    if (list->count > NAMES_SHOWN)
        snprintf(more, sizeof more, " and %u more", list->count - NAMES_SHOWN);
    tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--%s: no %s matches '%.60s'; there %s%.*s%s", option,
            what, word, list->count > 0 ? "are: " : "are none",
            (int)(list->text.length < 280 ? list->text.length : 280),
            (const char *)list->text.buffer, more);
    tv_out_release(&list->text);
    tv_interner_free(list->seen);
    return TV_ERR_USAGE;
}

/* Fail for a thread that does not exist, and name those that do. */
static enum tv_status selection_fail_thread(const struct tv_trace_info *head, const char *word,
                                            struct tv_error *err)
{
    struct name_list list;
    name_list_init(&list);
    for (uint32_t i = 0; i < head->thread_count; i++) {
        const struct tv_thread *thread = &head->threads[i];
        name_list_add_named(&list, tv_trace_info_text(head, thread->name), thread->id,
                            tv_trace_info_text(head, thread->key));
    }
    return name_list_fail(&list, "thread", "thread", word, err);
}

/* Fail for a process that does not exist, and name those that do. */
static enum tv_status selection_fail_process(const struct tv_trace_info *head, const char *word,
                                             struct tv_error *err)
{
    struct name_list list;
    name_list_init(&list);
    for (uint32_t i = 0; i < head->process_count; i++) {
        const struct tv_process *process = &head->processes[i];
        name_list_add_named(&list, tv_trace_info_text(head, process->name), process->id,
                            tv_trace_info_text(head, process->key));
    }
    return name_list_fail(&list, "process", "process", word, err);
}

/* Add each category of a list, "a,b". */
static void name_list_add_categories(struct name_list *list, struct tv_bytes categories)
{
    struct tv_bytes name;
    while (tv_categories_next(&categories, &name))
        name_list_add(list, name);
}

/* Fail for a category that does not exist, and name those that do. */
static enum tv_status selection_fail_category(const struct tv_trace_info *head,
                                              const struct tv_tables *tables, const char *word,
                                              struct tv_error *err)
{
    struct name_list list;
    name_list_init(&list);
    for (uint32_t i = 0; i < head->frame_count; i++)
        name_list_add_categories(&list, tv_trace_info_text(head, head->frames[i].category));
    for (size_t i = 0; tables && i < tables->counters.count; i++)
        name_list_add_categories(&list,
                                 tv_trace_info_text(head, tables->counters.rows[i].category));
    return name_list_fail(&list, "category", "category", word, err);
}

/* Does a frame or a counter have the category? */
static bool selection_category_exists(const struct tv_trace_info *head,
                                      const struct tv_tables *tables, struct tv_bytes word)
{
    for (uint32_t i = 0; i < head->frame_count; i++)
        if (tv_categories_match(tv_trace_info_text(head, head->frames[i].category), word))
            return true;
    for (size_t i = 0; tables && i < tables->counters.count; i++)
        if (tv_categories_match(tv_trace_info_text(head, tables->counters.rows[i].category), word))
            return true;
    return false;
}

/* The words are compared with all names of the head, also with those that never occur in an event.
 */
enum tv_status tv_selection_check(const struct tv_settings *settings,
                                  const struct tv_trace_info *head, const struct tv_tables *tables,
                                  struct tv_error *err)
{
    for (size_t i = 0; i < settings->select.processes.count; i++) {
        const char *word = settings->select.processes.items[i];
        uint32_t process = 0;
        while (process < head->process_count &&
               !tv_process_matches(head, process, tv_bytes_of(word)))
            process++;
        if (process == head->process_count)
            return selection_fail_process(head, word, err);
    }
    for (size_t i = 0; i < settings->select.threads.count; i++) {
        const char *word = settings->select.threads.items[i];
        uint32_t thread = 0;
        while (thread < head->thread_count && !tv_thread_matches(head, thread, tv_bytes_of(word)))
            thread++;
        if (thread == head->thread_count)
            return selection_fail_thread(head, word, err);
    }
    for (size_t i = 0; i < settings->select.categories.count; i++)
        if (!selection_category_exists(head, tables,
                                       tv_bytes_of(settings->select.categories.items[i])))
            return selection_fail_category(head, tables, settings->select.categories.items[i], err);
    return TV_OK;
}

/* ---- The subset ---- */

/* Mark the processes that --process selects. */
static void selection_choose_processes(const struct tv_settings *settings,
                                       const struct tv_trace_info *head, struct tv_subset *subset)
{
    subset->processes = tv_alloc(head->process_count, sizeof *subset->processes);
    for (uint32_t i = 0; i < head->process_count; i++)
        subset->processes[i] =
            selection_matches_any(head, i, &settings->select.processes, tv_process_matches);
}

/* Mark the tracks and threads that --thread and --process select. */
static void selection_choose_tracks(const struct tv_settings *settings,
                                    const struct tv_trace *trace, struct tv_subset *subset)
{
    assert(!subset->tracks && !subset->threads);
    subset->tracks = tv_alloc(trace->track_count, sizeof *subset->tracks);
    for (uint32_t i = 0; i < trace->track_count; i++) {
        uint32_t thread = trace->tracks[i].thread;
        bool named = settings->select.threads.count == 0 ||
                     (thread != TV_NONE &&
                      tv_thread_is_named(trace->head, thread, &settings->select.threads));
        subset->tracks[i] = named && tv_subset_has_process(subset, tv_track_process(trace, i));
    }
    subset->threads = tv_alloc(trace->head->thread_count, sizeof *subset->threads);
    for (uint32_t i = 0; i < trace->head->thread_count; i++)
        subset->threads[i] = tv_thread_is_named(trace->head, i, &settings->select.threads) &&
                             tv_subset_has_process(subset, tv_thread_process(trace->head, i));
}

/* Mark the frames that --category selects. */
static void selection_choose_frames(const struct tv_settings *settings,
                                    const struct tv_trace_info *head, struct tv_subset *subset)
{
    assert(!subset->frames);
    subset->category = selection_has_category;
    subset->context = settings;
    subset->frames = tv_alloc(head->frame_count, sizeof *subset->frames);
    for (uint32_t i = 0; i < head->frame_count; i++)
        subset->frames[i] =
            selection_has_category(tv_trace_info_text(head, head->frames[i].category), settings);
}

/* Arrays are made only for options that were given: NULL selects all, and costs
 * nothing. */
enum tv_status tv_subset_choose(const struct tv_settings *settings, const struct tv_trace *trace,
                                struct tv_subset *subset, struct tv_error *err)
{
    *subset = (struct tv_subset){.processes = NULL};
    enum tv_status status = tv_selection_check(settings, trace->head, &trace->tables, err);
    if (status != TV_OK)
        return status;
    if (settings->select.processes.count > 0)
        selection_choose_processes(settings, trace->head, subset);
    if (tv_threads_are_selected(settings))
        selection_choose_tracks(settings, trace, subset);
    if (settings->select.categories.count > 0)
        selection_choose_frames(settings, trace->head, subset);
    return TV_OK;
}

/* Times without a unit are milliseconds. */
enum tv_status tv_range_parse(const char *text, tv_ns *from, tv_ns *to, struct tv_error *err)
{
    struct tv_bytes rest = tv_bytes_of(text), head;
    *from = INT64_MIN;
    *to = INT64_MAX;
    bool good = tv_bytes_split(&rest, ':', &head) &&
                (head.length == 0 || tv_parse_time(head, MS_NS, from)) &&
                (rest.length == 0 || tv_parse_time(rest, MS_NS, to));
    if (!good)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--range: expected A:B, two times such as 1.5ms:2s, found '%s'", text);
    if (*from >= *to)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--range: '%s' ends before it begins",
                       text);
    return TV_OK;
}

/* A range contains its start, but not its end. */
enum tv_status tv_range_choose(const struct tv_settings *settings, const struct tv_trace *trace,
                               tv_ns *from, tv_ns *to, struct tv_error *err)
{
    *from = INT64_MIN;
    *to = INT64_MAX;
    enum tv_status status = TV_OK;
    if (settings->select.range)
        status = tv_range_parse(settings->select.range, from, to, err);
    if (status != TV_OK || (*from <= trace->end && *to > trace->start))
        return status;
    if (!tv_trace_info_has_times(trace->head))
        return tv_fail(
            err, TV_ERR_USAGE, TV_NO_OFFSET,
            "--range: '%.60s' is outside of the trace, whose samples have weights and no "
            "times",
            settings->select.range);
    struct tv_out extent;
    tv_out_init_memory(&extent);
    tv_out_text(&extent, "from ");
    tv_out_time_short(&extent, trace->start, MS_NS);
    tv_out_text(&extent, "ms to ");
    tv_out_time_short(&extent, trace->end, MS_NS);
    status = tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                     "--range: '%.60s' is outside of the trace, which lasts %.*sms",
                     settings->select.range, (int)extent.length, (const char *)extent.buffer);
    tv_out_release(&extent);
    return status;
}

/* Asynchronous slices are not mixed with calls, which they overlap. */
static bool selection_is_of_kind(const struct tv_settings *settings, const struct tv_track *track)
{
    return settings->stacks.async ? track->kind == TV_TRACK_ASYNC : tv_track_has_calls(track);
}

/* Without --thread, --process and --async the selection of all tracks with
 * calls needs no list. */
enum tv_status tv_selection_make(const struct tv_settings *settings, const struct tv_trace *trace,
                                 const struct tv_subset *subset, uint32_t *tracks,
                                 struct tv_selection *selection, struct tv_error *err)
{
    *selection = TV_SELECT_ALL;
    enum tv_status status = tv_range_choose(settings, trace, &selection->from, &selection->to, err);
    if (status != TV_OK)
        return status;
    if (!subset->tracks && !settings->stacks.async)
        return TV_OK;
    selection->tracks = tracks;
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (selection_is_of_kind(settings, &trace->tracks[i]) &&
            (!subset->tracks || subset->tracks[i]))
            tracks[selection->track_count++] = i;
    return TV_OK;
}

enum tv_status tv_clock_choose(const struct tv_settings *settings, unsigned clocks, bool *cpu,
                               struct tv_error *err)
{
    bool has_cpu = clocks & TV_CLOCK_CPU, has_wall = clocks & TV_CLOCK_WALL;
    *cpu = settings->clock == TV_CHOICE_CPU || (settings->clock == TV_CHOICE_ANY && !has_wall);
    if (*cpu ? has_cpu : has_wall)
        return TV_OK;
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--clock: the trace has no %s clock",
                   *cpu ? "CPU" : "wall");
}

/* The numbers are the indices of the words of --sort: 3 and 4 are wall times, from 5 on CPU times.
 */
enum tv_status tv_sort_check(const struct tv_settings *settings, unsigned clocks,
                             struct tv_error *err)
{
    bool wants_cpu = settings->table.sort >= 5,
         wants_wall = settings->table.sort == 3 || settings->table.sort == 4;
    if ((wants_cpu && !(clocks & TV_CLOCK_CPU)) || (wants_wall && !(clocks & TV_CLOCK_WALL)))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--sort: the trace has no %s clock",
                       wants_cpu ? "CPU" : "wall");
    return TV_OK;
}

/* 2 is the index of "calls" among the words of --sort. */
enum tv_status tv_sort_check_calls(const struct tv_settings *settings,
                                   const struct tv_trace_info *head, struct tv_error *err)
{
    if (settings->table.sort == 2 && !tv_figures_count_calls(head))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--sort calls: this trace has samples, and no call counts");
    return TV_OK;
}

/* ---- --offset ---- */

/* "a=b.trace=12ms": a file's name may hold the sign, a time does not. */
static bool offset_split(const char *word, struct tv_bytes *name, struct tv_bytes *time)
{
    const char *equals = strrchr(word, '=');
    if (!equals || equals == word)
        return false;
    *name = (struct tv_bytes){(const uint8_t *)word, (size_t)(equals - word)};
    *time = tv_bytes_of(equals + 1);
    return true;
}

/* Return the number of files that the name means; *found is the last of them. */
static size_t offset_find_file(struct tv_bytes name, const char *const *files, size_t count,
                               size_t *found)
{
    size_t fits = 0;
    for (size_t i = 0; i < count; i++) {
        if (tv_bytes_equal(tv_bytes_of(files[i]), name)) {
            *found = i;
            return 1;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!tv_bytes_equal(tv_bytes_base_name(tv_bytes_of(files[i])), name))
            continue;
        *found = i;
        fits++;
    }
    return fits;
}

/* Parse one word of --offset. */
static enum tv_status offset_parse(const char *word, const char *const *files, size_t count,
                                   size_t *file, tv_ns *offset, struct tv_error *err)
{
    struct tv_bytes name, time;
    if (!offset_split(word, &name, &time) || !tv_parse_time(time, MS_NS, offset))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--offset: expected FILE=TIME such as b.trace=12ms, found '%s'", word);
    if (*offset > TV_MOVE_MAX || *offset < -TV_MOVE_MAX)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--offset: '%s' is more than 73 years",
                       word);
    size_t fits = offset_find_file(name, files, count, file);
    if (fits == 1)
        return TV_OK;
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--offset: %s called '%.*s'",
                   fits == 0 ? "none of the files is" : "several files are", (int)name.length,
                   (const char *)name.data);
}

/* Files without a word keep the offset 0. */
enum tv_status tv_offsets_find(const struct tv_words *words, const char *const *files, size_t count,
                               tv_ns **offsets, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    tv_ns *made = tv_alloc(count, sizeof *made);
    bool *is_given = tv_alloc(count, sizeof *is_given);
    for (size_t i = 0; i < words->count && status == TV_OK; i++) {
        tv_ns offset;
        size_t file = 0;
        status = offset_parse(words->items[i], files, count, &file, &offset, err);
        if (status == TV_OK && is_given[file])
            status = tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--offset: '%s' is given twice",
                             files[file]);
        if (status != TV_OK)
            break;
        is_given[file] = true;
        made[file] = offset;
    }
    tv_free(is_given);
    if (status == TV_OK)
        *offsets = made;
    else
        tv_free(made);
    return status;
}

bool tv_offsets_move(const tv_ns *offsets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (offsets[i] != 0)
            return true;
    return false;
}

/* ---- Redaction ---- */

/* FIPS 180-4, section 6.2; RFC 2104. */
void tv_redaction_hmac(const uint8_t key[TV_REDACTION_KEY_SIZE], struct tv_bytes text,
                       uint8_t digest[TV_REDACTION_KEY_SIZE])
{
    struct hmac_sha256_ctx state;
    hmac_sha256_set_key(&state, TV_REDACTION_KEY_SIZE, key);
    hmac_sha256_update(&state, text.length, text.data);
    hmac_sha256_digest(&state, TV_REDACTION_KEY_SIZE, digest);
}

/* SHA-256 makes a key of the right length from a salt of any length. */
static void redaction_set_key(struct tv_redaction_options *options, struct tv_bytes salt)
{
    assert(options->mac || salt.length > 0);
    struct sha256_ctx state;
    sha256_init(&state);
    sha256_update(&state, salt.length, salt.data);
    sha256_digest(&state, TV_REDACTION_KEY_SIZE, options->key);
}

enum tv_status tv_redaction_random(struct tv_redaction_options *options, struct tv_error *err)
{
    char salt[TV_RANDOM_DIGITS + 1];
    enum tv_status status = tv_random_hex(salt, TV_RANDOM_DIGITS, err);
    if (status != TV_OK)
        return status;
    options->mac = tv_redaction_hmac;
    redaction_set_key(options, tv_bytes_of(salt));
    return TV_OK;
}

/* A salt without --hash-names would do nothing, so it is refused. */
enum tv_status tv_redaction_choose(const struct tv_settings *settings,
                                   struct tv_redaction_options *options, bool *chosen,
                                   struct tv_error *err)
{
    *options = (struct tv_redaction_options){
        settings->redact.hash_names, settings->redact.strip_args, tv_redaction_hmac, {0}};
    *chosen = settings->redact.hash_names || settings->redact.strip_args;
    if (settings->redact.salt && (!settings->redact.hash_names || *settings->redact.salt == '\0'))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--salt: expected a secret, together with --hash-names");
    if (!settings->redact.hash_names)
        return TV_OK;
    if (!settings->redact.salt)
        return tv_redaction_random(options, err);
    redaction_set_key(options, tv_bytes_of(settings->redact.salt));
    return TV_OK;
}
