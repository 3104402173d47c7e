/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_kept.c - a trace read from an index gives the same answers as the original.
 *
 *     test-kept PATH...   .case and .te files: each of their inputs; directories: every trace file
 *                         in them, and each one together with the one before it
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../readers/cases.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "cli/input/load.h"
#include "kept.h"
#include "model/subset/subset.h"

/* LARGEST_FILE: larger ones take long and find nothing that smaller ones do not. */

#define KEY TV_BYTES("the key of a test")

static unsigned tests, failures;

static struct tv_bytes bytes_of(const struct tv_out *out)
{
    return (struct tv_bytes){out->buffer, out->length};
}

static void report(bool good, const char *name, const char *what)
{
    printf("%sok %u - %s: %s\n", good ? "" : "not ", ++tests, name, what);
    failures += !good;
}

/* Print the first line that differs, and the question before it. */
static void show_difference(const struct tv_out *expected, const struct tv_out *got)
{
    size_t at = 0, line;
    while (at < expected->length && at < got->length && expected->buffer[at] == got->buffer[at])
        at++;
    line = at > 400 ? at - 400 : 0;
    printf("# %.*s\n", (int)(at - line), (const char *)expected->buffer + line);
    printf("# expected: %.*s\n", (int)(expected->length - at < 200 ? expected->length - at : 200),
           (const char *)expected->buffer + at);
    printf("# got: %.*s\n", (int)(got->length - at < 200 ? got->length - at : 200),
           (const char *)got->buffer + at);
}

static void compare(const char *name, const char *what, const struct tv_out *expected,
                    const struct tv_out *got)
{
    bool same = tv_bytes_equal(bytes_of(expected), bytes_of(got));
    if (!same)
        show_difference(expected, got);
    report(same, name, what);
}

/* A filtered trace may take everything over from the trace of an index. */
static struct tv_trace *take_over(struct tv_trace *trace)
{
    struct tv_subset_filter subset_filter = {.threads = NULL};
    tv_slice_set_init(&subset_filter.slices, trace);
    for (uint32_t row = 0; row < trace->row_count; row++)
        for (uint32_t i = 0; i < trace->rows[row].count; i += 2)
            tv_slice_set_put(&subset_filter.slices, trace->rows[row].columns,
                             trace->rows[row].first + i, true);
    struct tv_trace *sifted = tv_trace_subset(trace, &subset_filter);
    tv_subset_filter_release(&subset_filter);
    tv_trace_take_over(sifted, trace);
    return sifted;
}

/* Takes the trace over. */
static void check_trace(const char *name, struct tv_trace *trace, uint32_t most)
{
    struct tv_out index, again, expected, got, sifted;
    struct tv_trace *read;
    struct tv_error err = {0};
    kept_write(trace, KEY, &index);
    kept_answers(trace, most, &expected);
    if (kept_read(bytes_of(&index), KEY, trace, &read, &err) != TV_OK) {
        printf("# %s\n", err.message);
        report(false, name, "is read");
    } else {
        kept_answers(read, most, &got);
        compare(name, "all answers", &expected, &got);
        tv_out_release(&got);
        kept_write(read, KEY, &again);
        report(again.length > 0, name, "is written again");
        tv_out_release(&again);
        trace = take_over(trace);
        kept_answers(trace, most, &sifted);
        tv_trace_free(trace);
        trace = take_over(read);
        kept_answers(trace, most, &got);
        compare(name, "what is made of it outlives it", &sifted, &got);
        tv_out_release(&got);
        tv_out_release(&sifted);
    }
    tv_out_release(&expected);
    tv_out_release(&index);
    tv_trace_free(trace);
}

static void check_case(struct test_case *test, void *context)
{
    struct tv_trace *trace = kept_load(test->input);
    const char *name = context;
    if (trace)
        check_trace(name ? name : test->name, trace, 8);
}

/* Check the lines between "input" and "expect" of a .te file, which need no assembler. */
static void check_te_file(const char *path)
{
    struct tv_out text;
    struct tv_bytes line, input = {NULL, 0};
    char name[128] = "";
    tv_out_init_memory(&text);
    cases_read_file(path, &text);
    struct tv_cursor cursor = tv_cursor_over(bytes_of(&text));
    while (tv_cursor_take_line(&cursor, &line)) {
        if (tv_bytes_starts_with(line, TV_BYTES("case ")))
            snprintf(name, sizeof name, "%.*s", (int)line.length, (const char *)line.data);
        if (tv_bytes_equal(line, TV_BYTES("input")))
            input.data = cursor.at;
        if (!tv_bytes_equal(line, TV_BYTES("expect")) || !input.data)
            continue;
        input.length = (size_t)(line.data - input.data);
        check_case(&(struct test_case){.assembly = NULL, .input = input}, name);
        input.data = NULL;
    }
    tv_out_release(&text);
}

/* ---- Directories ---- */

struct files {
    char **paths;
    size_t count, capacity;
};

static void add_files(struct files *files, const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[4096];
        struct stat info;
        int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        bool known = entries[i]->d_name[0] != '.' && length > 0 && (size_t)length < sizeof path &&
                     stat(path, &info) == 0;
        if (known && S_ISDIR(info.st_mode))
            add_files(files, path);
        if (known && S_ISREG(info.st_mode) && info.st_size <= LARGEST_FILE) {
            files->paths = tv_array_reserve(files->paths, &files->capacity, files->count + 1,
                                            sizeof *files->paths);
            files->paths[files->count++] = strdup(path);
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

static void check_files(const char *const *paths, size_t count, uint32_t most)
{
    struct tv_settings settings;
    struct tv_progress progress = {.sketch = NULL};
    struct tv_trace *trace;
    struct tv_error err;
    tv_settings_init(&settings);
    settings.quiet = true;
    if (tv_load_trace(&settings, paths, count, &progress, &trace, &err) == TV_OK)
        check_trace(paths[count - 1], trace, most);
    tv_settings_release(&settings);
}

static void check_folder(const char *folder)
{
    struct files files = {NULL, 0, 0};
    add_files(&files, folder);
    for (size_t i = 0; i < files.count; i++) {
        const char *pair[] = {files.paths[i], i > 0 ? files.paths[i - 1] : ""};
        check_files(pair, 1, 6);
        if (i % 8 == 1)
            check_files(pair, 2, 6);
    }
    for (size_t i = 0; i < files.count; i++)
        free(files.paths[i]);
    tv_free(files.paths);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct stat info;
        if (stat(argv[i], &info) != 0)
            printf("ok %u # skip %s is not there\n", ++tests, argv[i]);
        else if (S_ISDIR(info.st_mode))
            check_folder(argv[i]);
        else if (strstr(argv[i], ".te"))
            check_te_file(argv[i]);
        else
            cases_for_each(argv[i], check_case, NULL);
    }
    printf("1..%u\n", tests);
    return failures != 0;
}
