/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "engine/started.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "unit.h"

static enum tv_status open_trace(void *context, const char *id, struct tv_engine_files *files,
                                 struct tv_error *err)
{
    struct started *started = context;
    char path[200];
    snprintf(path, sizeof path, "%s/%s", started->folder, id);
    files->trace = open(path, O_RDONLY | O_CLOEXEC);
    snprintf(files->name, sizeof files->name, "%s.trace", id);
    if (started->keeps_index) {
        snprintf(path, sizeof path, "%s/%s.index", started->folder, id);
        files->index = open(path, O_RDONLY | O_CLOEXEC);
        snprintf(path, sizeof path, "%s/%s.new", started->folder, id);
        files->new_index = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    }
    if (files->trace >= 0)
        return TV_OK;
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "it is not here");
}

static void take_index(void *context, const char *id, bool whole)
{
    struct started *started = context;
    char fresh[200], path[200];
    snprintf(fresh, sizeof fresh, "%s/%s.new", started->folder, id);
    snprintf(path, sizeof path, "%s/%s.index", started->folder, id);
    if (whole)
        rename(fresh, path);
    atomic_fetch_add(&started->whole, whole);
    atomic_fetch_add(&started->indexed, 1);
}

static void note_line(void *context, const char *id, const char *line)
{
    struct started *started = context;
    size_t length = strlen(started->lines);
    snprintf(started->lines + length, sizeof started->lines - length, "%s: %s\n", id, line);
}

void prepare(struct started *started)
{
    *started = (struct started){.options = TV_ENGINES_DEFAULTS};
    snprintf(started->folder, sizeof started->folder, "/tmp/traceview-engine-XXXXXX");
    assert_non_null(mkdtemp(started->folder));
    ssize_t length = readlink("/proc/self/exe", started->program, sizeof started->program - 40);
    assert_true(length > 0);
    started->program[length] = '\0';
    snprintf(strrchr(started->program, '/'), 30, "/engine/engine-child");
    started->options.program = started->program;
    started->options.scratch = started->folder;
    started->options.host = (struct tv_engine_host){
        .open = open_trace, .indexed = take_index, .said = note_line, .context = started};
}

void start(struct started *started)
{
    struct tv_error err = {0};
    if (tv_engines_new(&started->options, &started->engines, &err) != TV_OK)
        fail_msg("%s", err.message);
}

void finish(struct started *started)
{
    tv_engines_free(started->engines);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    DIR *folder = opendir(started->folder);
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
            fail_msg("%s was left", entry->d_name);
        unlinkat(dirfd(folder), entry->d_name, 0);
    }
    closedir(folder);
    assert_int_equal(rmdir(started->folder), 0);
}

void set_trace(struct started *started, const char *id, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", started->folder, id);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

struct tv_engine *settle(struct started *started, const char *id, enum tv_engine_state expected)
{
    struct tv_engine *engine = tv_engine_open(started->engines, id);
    enum tv_engine_state state = tv_engine_wait(engine, 300000);
    if (state != expected) {
        struct tv_engine_status status;
        tv_engine_get_status(engine, &status);
        fail_msg("%s: state %d, %s\n%s", id, (int)state, status.error.message, started->lines);
    }
    return engine;
}

char *ask_engine(struct tv_engine *engine, const char *text, enum tv_answer_status expected,
                 size_t *length)
{
    struct tv_view_parameter parameters[8];
    struct tv_bytes rest = tv_bytes_of(text), pair;
    struct tv_view_question question = {.parameters = parameters};
    struct tv_out all;
    struct tv_error err = {0};
    uint8_t buffer[3000];
    size_t got = 1;
    tv_bytes_split(&rest, '?', &question.name);
    while (rest.length > 0) {
        tv_bytes_split(&rest, '&', &pair);
        tv_bytes_split(&pair, '=', &parameters[question.count].name);
        parameters[question.count++].value = pair;
    }
    tv_out_init_memory(&all);
    struct tv_engine_answer *answer = tv_engine_ask(engine, &question);
    while (got > 0) {
        assert_int_equal(tv_engine_answer_read(answer, buffer, sizeof buffer, &got, &err), TV_OK);
        tv_out_bytes(&all, (struct tv_bytes){buffer, got});
    }
    if (tv_engine_answer_status(answer) != expected)
        fail_msg("%s: %d %.*s", text, (int)tv_engine_answer_status(answer), (int)all.length,
                 (const char *)all.buffer);
    tv_engine_answer_free(answer);
    if (length)
        *length = all.length;
    tv_out_char(&all, '\0');
    char *copy = tv_alloc(all.length, 1);
    memcpy(copy, all.buffer, all.length);
    tv_out_release(&all);
    return copy;
}

void assert_ended(struct tv_engine *engine, const char *kind, const char *words)
{
    struct tv_engine_status status;
    tv_engine_get_status(engine, &status);
    assert_non_null(status.kind);
    assert_string_equal(status.kind, kind);
    if (!strstr(status.error.message, words))
        fail_msg("\"%s\" without \"%s\"", status.error.message, words);
}
