/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.c - has an engine read a file and asks it, as an upload server does.
 *
 *     ask [--memory BYTES] [--cpu SECONDS] [--unpacked BYTES] [--index FILE]
 *         PROGRAM FILE FOLDER [QUESTION]...
 *
 * A question is "name" or "name?a=b&c=d", undecoded.  Answers become the files FOLDER/0, FOLDER/1
 * and so on; a line tells the status and type of each, after one that tells how the loading ended.
 * "sleep" waits for ever.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "engine/engine.h"

static const char *path, *index_path;
static atomic_int kept = -1; /* the new index: complete (1) or not (0); -1: still being written */

static enum tv_status open_trace(void *context, const char *id, struct tv_engine_files *files,
                                 struct tv_error *err)
{
    const char *slash = strrchr(path, '/');
    (void)context, (void)id;
    files->trace = open(path, O_RDONLY | O_CLOEXEC);
    if (index_path) {
        char fresh[4096];
        snprintf(fresh, sizeof fresh, "%s.new", index_path);
        files->index = open(index_path, O_RDONLY | O_CLOEXEC);
        files->new_index = open(fresh, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    }
    snprintf(files->name, sizeof files->name, "%s", slash ? slash + 1 : path);
    return files->trace >= 0 ? TV_OK
                             : tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: cannot open", path);
}

static void keep(void *context, const char *id, bool whole)
{
    char fresh[4096];
    (void)context, (void)id;
    snprintf(fresh, sizeof fresh, "%s.new", index_path);
    if (whole)
        rename(fresh, index_path);
    else
        unlink(fresh);
    atomic_store(&kept, whole);
}

static void say(void *context, const char *id, const char *line)
{
    (void)context, (void)id;
    fprintf(stderr, "said: %s\n", line);
}

static void ask(struct tv_engine *engine, char *text, const char *folder, int number)
{
    static const char *const types[] = {"json", "bytes", "svg", "text"};
    struct tv_view_parameter parameters[16];
    struct tv_bytes query = tv_bytes_of(text), name, pair;
    struct tv_view_question question = {.parameters = parameters};
    struct tv_error err = {0};
    char file[4096], buffer[5000];
    size_t got = 1;
    tv_bytes_split(&query, '?', &name);
    question.name = name;
    while (query.length > 0 && question.count < TV_COUNT(parameters)) {
        tv_bytes_split(&query, '&', &pair);
        tv_bytes_split(&pair, '=', &parameters[question.count].name);
        parameters[question.count++].value = pair;
    }
    struct tv_engine_answer *answer = tv_engine_ask(engine, &question);
    snprintf(file, sizeof file, "%s/%d", folder, number);
    FILE *out = fopen(file, "w");
    while (out && got > 0) {
        if (tv_engine_answer_read(answer, buffer, sizeof buffer, &got, &err) != TV_OK) {
            printf("broken off: %s\n", err.message);
            break;
        }
        fwrite(buffer, 1, got, out);
    }
    if (out)
        fclose(out);
    printf("%d %s\n", (int)tv_engine_answer_status(answer), types[tv_engine_answer_type(answer)]);
    tv_engine_answer_free(answer);
}

static void print_status(struct tv_engine *engine)
{
    static const char *const states[] = {"waiting", "loading", "ready", "failed", "died"};
    char line[600];
    struct tv_engine_status status;
    tv_engine_get_status(engine, &status);
    printf("%s", states[status.state]);
    if (status.from_index)
        printf(" from the index");
    if (status.kind)
        printf(" %s: %s", status.kind, tv_error_text(&status.error, line, sizeof line));
    printf("\n");
    fflush(stdout);
}

static int run(struct tv_engines_options *options, char **arguments)
{
    struct tv_error err = {0};
    struct tv_engines *engines;
    options->program = arguments[0];
    path = arguments[1];
    options->scratch = arguments[2];
    if (tv_engines_new(options, &engines, &err) != TV_OK) {
        printf("none: %s\n", err.message);
        return 1;
    }
    printf("sandbox %u\n", tv_engines_sandbox(engines));
    struct tv_engine *engine = tv_engine_open(engines, "the-trace");
    tv_engine_wait(engine, 600000);
    print_status(engine);
    for (int i = 3; arguments[i]; i++) {
        if (strcmp(arguments[i], "sleep") == 0)
            pause();
        ask(engine, arguments[i], arguments[2], i - 3);
    }
    print_status(engine);
    while (index_path && atomic_load(&kept) < 0)
        poll(NULL, 0, 5);
    if (index_path)
        printf("index %s\n", atomic_load(&kept) > 0 ? "kept" : "not kept");
    tv_engine_close(engine);
    tv_engines_free(engines);
    return 0;
}

int main(int count, char **arguments)
{
    struct tv_engines_options options = TV_ENGINES_DEFAULTS;
    options.host = (struct tv_engine_host){.open = open_trace, .indexed = keep, .said = say};
    int at = 1;
    for (; at + 1 < count && strncmp(arguments[at], "--", 2) == 0; at += 2) {
        uint64_t value = strtoull(arguments[at + 1], NULL, 10);
        if (strcmp(arguments[at], "--memory") == 0)
            options.memory_bytes = value;
        else if (strcmp(arguments[at], "--cpu") == 0)
            options.load_seconds = (unsigned)value;
        else if (strcmp(arguments[at], "--unpacked") == 0)
            options.unpacked_bytes = value;
        else if (strcmp(arguments[at], "--index") == 0)
            index_path = arguments[at + 1];
    }
    if (count - at < 3) {
        fputs("usage: ask [OPTION VALUE]... PROGRAM FILE FOLDER [QUESTION]...\n", stderr);
        return 2;
    }
    return run(&options, arguments + at);
}
