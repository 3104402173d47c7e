/* SPDX-License-Identifier: Apache-2.0 */
/* sides.c - records two programs in turn, many times, so that `diff` can compare them.
 *
 *     warm-up   base  new            recorded like the rest, then removed
 *     round 1   new   base           DIR/new-01.trace  DIR/base-01.trace
 *     round 2   base  new            DIR/base-02.trace DIR/new-02.trace
 *     ...
 *
 * A machine drifts (temperature, other load), and a run can leave something behind for the next
 * one. Each round has both sides, so a drift meets both alike; the order within a round is drawn,
 * so that neither side always comes second. `diff` reads the order from the start times in the
 * files.
 *
 * The folder has no file of these labels in the beginning. So every file whose name begins with the
 * name of a run belongs to that run, and a failed run can be removed with all of its files. */
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/out.h"
#include "base/random.h"
#include "cli/command.h"
#include "cli/output/message.h"
#include "cli/record/record.h"
#include "recorder/labels.h"

#define SIDES 2u
#define MAX_RUNS 9999u
#define LABEL_BYTES 64u
#define RUN_NAME_BYTES (LABEL_BYTES + 16u)
#define DEFAULT_FOLDER "runs"
#define CLOCK_DUAL 2u /* --clock: index of "dual" */

/* Prefix of the recordings that are not kept; no label begins with a dot. */
#define WARM_UP ".warm-up-"

struct recorded_side {
    char label[LABEL_BYTES + 1];
    char *text; /* holds the words */
    struct tv_words words;
    unsigned kept; /* complete runs in the folder */
};

struct sides_recording {
    const struct tv_option *table;
    const struct tv_settings *settings;
    const char *folder;
    bool made_folder;
    unsigned runs;
    uint64_t seed;
    char session[16 + 1], boot[64]; /* labels of all runs */
    struct recorded_side sides[SIDES];
};

/* ---- The command line ---- */

/* Refuse options of recordings that are no run of a program, or whose result is not one file. */
static enum tv_status sides_check_options(const struct tv_option *table,
                                          const struct tv_settings *settings, struct tv_error *err)
{
    static const char *const others[] = {"pid",     "snapshot", "android", "device",
                                         "mapping", "follow",   "open"};
    for (size_t i = 0; i < TV_COUNT(others); i++)
        if (tv_record_is_given(table, settings, others[i]))
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--%s cannot be combined with --side",
                           others[i]);
    if (settings->files.count > 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "%s: with --side, the programs are part of it: --side LABEL='COMMAND'",
                       settings->files.items[0]);
    if (settings->output && settings->output[0] == '\0')
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--output: expected a value, found ''");
    if (settings->record.sides.count != SIDES)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--side: expected two sides, as --side base='COMMAND' --side new='COMMAND', "
                       "found %zu",
                       settings->record.sides.count);
    if (settings->record.runs < 1 || settings->record.runs > MAX_RUNS)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--runs: expected a number from 1 to %u",
                       MAX_RUNS);
    return TV_OK;
}

/* Take the label before '='. It becomes part of file names, and of a command line to be typed. */
static enum tv_status sides_take_label(struct recorded_side *side, const char *word,
                                       const char **command, struct tv_error *err)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : 0;
    if (length == 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--side: expected LABEL='COMMAND', found '%.100s'", word);
    if (length > LABEL_BYTES || strspn(word, allowed) < length || strchr("._-", word[0]))
        return tv_fail(
            err, TV_ERR_USAGE, TV_NO_OFFSET,
            "--side: the label '%.*s' becomes part of file names: use at most %u letters, "
            "digits, '.', '_' and '-', a letter or digit first",
            length < 100 ? (int)length : 100, word, LABEL_BYTES);
    memcpy(side->label, word, length);
    side->label[length] = '\0';
    *command = equals + 1;
    return TV_OK;
}

/* Does the pattern "LABEL-*" of the one side also name runs of the other? */
static bool sides_label_covers(const char *label, const char *other)
{
    size_t length = strlen(label);
    return strncmp(label, other, length) == 0 && (other[length] == '-' || other[length] == '\0');
}

/* Refuse labels that make the files of both sides alike: a run is LABEL-NUMBER. */
static enum tv_status sides_check_labels(const struct sides_recording *recording,
                                         struct tv_error *err)
{
    const char *base = recording->sides[0].label, *new = recording->sides[1].label;
    if (strcmp(base, new) == 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--side: both sides are called '%s'", base);
    if (sides_label_covers(base, new) || sides_label_covers(new, base))
        return tv_fail(
            err, TV_ERR_USAGE, TV_NO_OFFSET,
            "--side: the files of '%s' and '%s' could not be told apart: one label begins "
            "with the other and '-'",
            base, new);
    return TV_OK;
}

/* Read label and command of both sides; check that their programs exist. */
static enum tv_status sides_read(struct sides_recording *recording, struct tv_error *err)
{
    const struct tv_words *given = &recording->settings->record.sides;
    enum tv_status status = TV_OK;
    for (size_t i = 0; i < SIDES && status == TV_OK; i++) {
        struct recorded_side *side = &recording->sides[i];
        char path[TV_RECORD_PATH];
        const char *command = NULL;
        status = sides_take_label(side, given->items[i], &command, err);
        if (status != TV_OK)
            return status;
        status = tv_record_split_words(command, &side->text, &side->words, err);
        if (status == TV_OK && !tv_record_find_program(side->words.items[0], path))
            status = tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "%s: there is no such program",
                             side->words.items[0]);
        if (status != TV_OK)
            return tv_error_prefix(err, "--side %s", side->label);
    }
    return status == TV_OK ? sides_check_labels(recording, err) : status;
}

static void sides_release(struct sides_recording *recording)
{
    for (size_t i = 0; i < SIDES; i++) {
        tv_free(recording->sides[i].words.items);
        tv_free(recording->sides[i].text);
    }
}

/* ---- The folder ---- */

/* Call `found` for each entry whose name begins with `prefix`, until it returns false. */
static void sides_each_file(const char *folder, const char *prefix,
                            bool (*found)(int folder, const char *name, void *context),
                            void *context)
{
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries)) != NULL;)
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
            !found(dirfd(entries), entry->d_name, context))
            break;
    if (entries)
        closedir(entries);
}

static bool sides_copy_name(int folder, const char *name, void *context)
{
    (void)folder;
    snprintf(context, NAME_MAX + 1, "%s", name);
    return false;
}

/* Refuse a folder with older runs: they would count as runs of this recording. */
static enum tv_status sides_check_folder_empty(const struct sides_recording *recording,
                                               struct tv_error *err)
{
    char prefix[RUN_NAME_BYTES], name[NAME_MAX + 1] = "";
    for (size_t i = 0; i < SIDES && name[0] == '\0'; i++) {
        snprintf(prefix, sizeof prefix, "%s-", recording->sides[i].label);
        sides_each_file(recording->folder, prefix, sides_copy_name, name);
    }
    if (name[0] == '\0')
        return TV_OK;
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                   "%s/%s already exists and would count as a run: remove it, or choose another "
                   "directory with -o",
                   recording->folder, name);
}

static enum tv_status sides_open_folder(struct sides_recording *recording, struct tv_error *err)
{
    struct stat found;
    recording->made_folder = mkdir(recording->folder, 0777) == 0;
    if (!recording->made_folder && errno != EEXIST)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", recording->folder, strerror(errno));
    if (stat(recording->folder, &found) == 0 && !S_ISDIR(found.st_mode))
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s is not a directory", recording->folder);
    return sides_check_folder_empty(recording, err);
}

static bool sides_remove_file(int folder, const char *name, void *context)
{
    (void)context;
    unlinkat(folder, name, 0);
    return true;
}

/* Remove all files of a run: those of its processes and unfinished ones, too. */
static void sides_remove_run(const struct sides_recording *recording, const char *name)
{
    char prefix[RUN_NAME_BYTES + 1];
    snprintf(prefix, sizeof prefix, "%s.", name);
    sides_each_file(recording->folder, prefix, sides_remove_file, NULL);
}

/* ---- One run ---- */

/* The plan of one run; it points to the settings, and these to the path. */
struct side_run {
    struct tv_record_plan plan;
    struct tv_settings settings;
    char path[TV_RECORD_PATH]; /* without the ending */
};

/* Make the plan of a run: that of `traceview record OPTIONS -o FOLDER/NAME.ENDING -- COMMAND`. */
static enum tv_status sides_make_plan(const struct sides_recording *recording,
                                      const struct recorded_side *side, const char *name,
                                      struct side_run *run, struct tv_error *err)
{
    *run = (struct side_run){.settings = *recording->settings};
    int length = snprintf(run->path, sizeof run->path, "%s/%s", recording->folder, name);
    if ((unsigned)length >= sizeof run->path)
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "%.100s...: the path is too long",
                       run->path);
    run->settings.files = side->words;
    run->settings.output = run->path;
    /* CPU time has a fraction of the noise of wall time. */
    if (!tv_record_is_given(recording->table, &run->settings, "clock"))
        run->settings.record.clock = CLOCK_DUAL;
    enum tv_status status = tv_record_make_plan(recording->table, &run->settings, &run->plan, err);
    if (status != TV_OK)
        return status;
    const char *ending = tv_record_ending(&run->plan);
    size_t used = strlen(run->plan.output);
    if (used + strlen(ending) >= sizeof run->plan.output)
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "%.100s...: the path is too long",
                       run->path);
    memcpy(run->plan.output + used, ending, strlen(ending) + 1);
    return TV_OK;
}

/* Check the options of both sides before a program runs. */
static enum tv_status sides_check_plans(const struct sides_recording *recording,
                                        struct tv_error *err)
{
    enum tv_status status = TV_OK;
    for (size_t i = 0; i < SIDES && status == TV_OK; i++) {
        struct side_run run;
        const struct recorded_side *side = &recording->sides[i];
        status = sides_make_plan(recording, side, side->label, &run, err);
    }
    return status;
}

/* Return an error for a run that was recorded but cannot be used; TV_OK for any other. */
static enum tv_status sides_check_run(int code, const struct tv_words *files, struct tv_error *err)
{
    if (tv_record_signals_last() != 0)
        return tv_fail(err, TV_ERR_CANCELLED, TV_NO_OFFSET, "stopped: %s",
                       strsignal(tv_record_signals_last()));
    if (code > 128 && code < 128 + NSIG)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the program ended with exit code %d (%s)",
                       code, strsignal(code - 128));
    if (code != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the program ended with exit code %d", code);
    if (files->count > 1)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "%zu processes were recorded, but a comparison needs one file for each run: "
                       "give the program itself, without a script",
                       files->count);
    return TV_OK;
}

/* Read the boot id of the system, which is a word of its machine until it is started anew. */
static void sides_read_boot(char *boot, size_t size)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (!file || !fgets(boot, (int)size, file))
        boot[0] = '\0';
    boot[strcspn(boot, "\n")] = '\0';
    if (file)
        fclose(file);
}

/* Give the labels of a run to the recorder, which writes them into its file. */
static enum tv_status sides_set_labels(const struct sides_recording *recording,
                                       const struct recorded_side *side, unsigned round,
                                       struct tv_error *err)
{
    char labels[TV_LABELS_SIZE];
    snprintf(labels, sizeof labels,
             TV_LABEL_SIDE "=%s\n" TV_LABEL_ROUND "=%u\n" TV_LABEL_SESSION "=%s\n" TV_LABEL_BOOT
                           "=%s\n",
             side->label, round, recording->session, recording->boot);
    if (setenv(TV_LABELS_VARIABLE, labels, 1) == 0)
        return TV_OK;
    return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "the environment has no room");
}

/* Record a side once, as `name`, in this round (0: the warm-up). Nothing of the run remains after
 * an error. */
static enum tv_status sides_record_run(const struct sides_recording *recording,
                                       const struct recorded_side *side, unsigned round,
                                       const char *name, int *code, struct tv_error *err)
{
    struct side_run run;
    struct tv_words files = {0};
    enum tv_status status = TV_ERR_CANCELLED;
    if (tv_record_signals_last() == 0) /* since the run before */
        status = sides_make_plan(recording, side, name, &run, err);
    if (status == TV_OK)
        status = sides_set_labels(recording, side, round, err);
    if (status == TV_OK)
        status = tv_record_start(&run.plan, code, &files, err);
    /* A stopped or failed program often explains why nothing was recorded. */
    if (status == TV_OK || tv_record_signals_last() != 0) {
        enum tv_status checked = sides_check_run(*code, &files, err);
        status = checked != TV_OK ? checked : status;
    }
    tv_record_release(&files);
    if (status == TV_OK)
        return TV_OK;
    sides_remove_run(recording, name);
    if (tv_record_signals_last() != 0)
        *code = 128 + tv_record_signals_last();
    return status;
}

/* ---- All runs ---- */

/* Run each side once and throw the trace away: the first run fills caches of files and of the
 * processor. */
static enum tv_status sides_warm_up(const struct sides_recording *recording, int *code,
                                    struct tv_error *err)
{
    for (size_t i = 0; i < SIDES; i++) {
        const struct recorded_side *side = &recording->sides[i];
        char name[RUN_NAME_BYTES];
        snprintf(name, sizeof name, WARM_UP "%s", side->label);
        if (sides_record_run(recording, side, 0, name, code, err) != TV_OK)
            return tv_error_prefix(err, "warm-up run of %s", side->label);
        sides_remove_run(recording, name);
    }
    return TV_OK;
}

/* Return the next number of the generator SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t sides_next_random(uint64_t *state)
{
    uint64_t mixed = *state += UINT64_C(0x9E3779B97F4A7C15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
    return mixed ^ (mixed >> 31);
}

/* Names of runs have as many digits as the last one, and two at least: sorted by name, runs are
 * sorted by number. */
static void sides_name_run(const struct sides_recording *recording,
                           const struct recorded_side *side, unsigned number,
                           char name[RUN_NAME_BYTES])
{
    int digits = recording->runs > 999 ? 4 : recording->runs > 99 ? 3 : 2;
    snprintf(name, RUN_NAME_BYTES, "%s-%0*u", side->label, digits, number);
}

/* Record one run of each side, `first` first. Sides alternate and the caller draws who begins, so a
 * machine that slows down meanwhile slows both. */
static enum tv_status sides_record_round(struct sides_recording *recording, unsigned number,
                                         size_t first, int *code, struct tv_error *err)
{
    char name[RUN_NAME_BYTES];
    assert(first < SIDES);
    if (!recording->settings->quiet)
        tv_message("traceview: round %u of %u: %s, then %s", number, recording->runs,
                   recording->sides[first].label, recording->sides[1 - first].label);
    for (size_t i = 0; i < SIDES; i++) {
        struct recorded_side *side = &recording->sides[(first + i) % SIDES];
        sides_name_run(recording, side, number, name);
        if (sides_record_run(recording, side, number, name, code, err) != TV_OK)
            return tv_error_prefix(err, "run %u of %s", number, side->label);
        side->kept++;
    }
    return TV_OK;
}

/* Record the runs.  The order of the sides is drawn for each round from the seed, so that drift of
 * the machine favours neither side; the same seed gives the same order. */
static enum tv_status sides_record_all(struct sides_recording *recording, int *code,
                                       struct tv_error *err)
{
    uint64_t state = recording->seed;
    if (!recording->settings->quiet)
        tv_message("traceview: one warm-up run and %u %s of each side; seed %" PRIu64,
                   recording->runs, tv_plural(recording->runs, "run", "runs"), recording->seed);
    enum tv_status status = sides_warm_up(recording, code, err);
    for (unsigned i = 1; i <= recording->runs && status == TV_OK; i++)
        status = sides_record_round(recording, i, sides_next_random(&state) >> 63, code, err);
    return status;
}

/* ---- Before and after ---- */

/* Choose a seed that is short enough to be typed again. */
static enum tv_status sides_choose_seed(struct sides_recording *recording, struct tv_error *err)
{
    char digits[8 + 1];
    recording->seed = recording->settings->record.seed;
    if (tv_record_is_given(recording->table, recording->settings, "seed"))
        return TV_OK;
    enum tv_status status = tv_random_hex(digits, sizeof digits - 1, err);
    if (status == TV_OK)
        recording->seed = strtoull(digits, NULL, 16);
    return status;
}

/* Give all runs an empty standard input: the first would read what the others miss. */
static enum tv_status sides_empty_input(struct tv_error *err)
{
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (file < 0 || dup2(file, STDIN_FILENO) < 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "/dev/null: %s", strerror(errno));
    if (file != STDIN_FILENO)
        close(file);
    return TV_OK;
}

/* Print the folder so that it can be typed, in quotes if a shell would change it. */
static void sides_quote_folder(const char *folder, char *quoted, size_t size)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/+,:@%";
    size_t length = strlen(folder), to = 0;
    while (length > 1 && folder[length - 1] == '/')
        length--;
    if (strspn(folder, plain) >= length) {
        snprintf(quoted, size, "%.*s", (int)length, folder);
        return;
    }
    quoted[to++] = '\'';
    for (size_t i = 0; i < length && to + 6 < size; i++)
        if (folder[i] == '\'')
            to += (size_t)snprintf(quoted + to, size - to, "'\\''");
        else
            quoted[to++] = folder[i];
    snprintf(quoted + to, size - to, "'");
}

/* Print the command that compares the runs. */
static void sides_tell_next(const struct sides_recording *recording)
{
    char folder[4 * TV_RECORD_PATH];
    sides_quote_folder(recording->folder, folder, sizeof folder);
    if (!recording->settings->quiet)
        tv_message("traceview diff --base %s/%s-* --new %s/%s-*", folder, recording->sides[0].label,
                   folder, recording->sides[1].label);
}

/* Print which runs there are after an error. */
static void sides_tell_kept(const struct sides_recording *recording)
{
    const struct recorded_side *base = &recording->sides[0], *new = &recording->sides[1];
    if (base->kept + new->kept > 0)
        tv_message("traceview: complete runs in %s: %u of %s, %u of %s; nothing else was kept",
                   recording->folder, base->kept, base->label, new->kept, new->label);
    else if (recording->made_folder)
        rmdir(recording->folder);
}

/* Check and prepare everything that can fail before the first program runs. */
static enum tv_status sides_prepare(struct sides_recording *recording, struct tv_error *err)
{
    enum tv_status status = sides_check_options(recording->table, recording->settings, err);
    if (status == TV_OK)
        status = sides_read(recording, err);
    if (status == TV_OK)
        status = sides_choose_seed(recording, err);
    if (status == TV_OK)
        status = tv_random_hex(recording->session, sizeof recording->session - 1, err);
    sides_read_boot(recording->boot, sizeof recording->boot);
    if (status == TV_OK)
        status = sides_open_folder(recording, err);
    if (status == TV_OK)
        status = sides_check_plans(recording, err);
    return status == TV_OK ? sides_empty_input(err) : status;
}

int tv_record_sides(const struct tv_command *command, const struct tv_settings *settings)
{
    struct sides_recording recording = {.table = command->options, .settings = settings};
    struct tv_error err = {0};
    int code = TV_EXIT_OK;
    recording.folder = settings->output ? settings->output : DEFAULT_FOLDER;
    recording.runs = (unsigned)settings->record.runs;
    enum tv_status status = sides_prepare(&recording, &err);
    if (status == TV_OK) {
        tv_record_signals_note();
        status = sides_record_all(&recording, &code, &err);
    }
    if (status == TV_OK) {
        sides_tell_next(&recording);
    } else {
        int failed = tv_command_failed(command, &err);
        code = code != TV_EXIT_OK ? code : failed;
        sides_tell_kept(&recording);
    }
    sides_release(&recording);
    return code;
}
