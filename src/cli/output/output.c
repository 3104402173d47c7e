/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.c - the result of a command (output.h).
 *
 *     terminal   text is held until it exceeds the screen; then a pager gets it, else it is printed
 *     pipe       text is written as it comes
 *     file       text goes to a new file, which gets its name at the end (atomic_file.h)
 *
 *     command --> tv_out --> output_write_to_screen --> output_write_bytes --> descriptor
 *                            counts lines, may start    writes all, counts     of a file, a pipe
 *                            a pager                    the progress           or the pager
 *
 * A user who leaves the pager early has seen enough: that is no error.  Any
 * other output that fails is one, and the first error counts.
 */
#define _GNU_SOURCE /* pipe2 */
#include "cli/output/output.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/calltree/call_tree.h"
#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/program.h"
#include "cli/confine.h"
#include "cli/input/inputs.h"
#include "cli/input/symbols.h"
#include "cli/output/message.h"

/* ---- The terminal ---- */

/* The screen that standard output goes to, if any. */
struct terminal_info {
    struct tv_layout layout; /* width 0: not a terminal */
    uint32_t rows;           /* height of the screen; 0: not a terminal */
    bool dumb;               /* it understands no control sequences */
};

/* The size of a terminal that does not tell its own, and the largest size that is believed. */
#define USUAL_COLUMNS 80
#define USUAL_ROWS 24
#define MAX_CELLS 10000

/* Return the value of an environment variable; "" if it is not set. */
static const char *terminal_variable(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

/* Return the first valid number of: the environment variable, the terminal's answer, the usual
 * size. */
static uint32_t terminal_choose_size(const char *variable, uint32_t told, uint32_t usual)
{
    uint64_t value;
    if (tv_parse_u64(tv_bytes_of(terminal_variable(variable)), &value) && value > 0 &&
        value <= MAX_CELLS)
        return (uint32_t)value;
    return told > 0 && told <= MAX_CELLS ? told : usual;
}

/* Does the locale use UTF-8? The first variable that is set decides, as in setlocale. */
static bool terminal_has_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < TV_COUNT(variables); i++) {
        const char *value = terminal_variable(variables[i]), *set = strchr(value, '.');
        if (value[0] != '\0')
            return set && (strncasecmp(set, ".UTF-8", 6) == 0 || strncasecmp(set, ".utf8", 5) == 0);
    }
    return false;
}

/* Find out what the terminal can show. A file or pipe has no limits and no colours. */
static void terminal_look(struct terminal_info *terminal, int descriptor,
                          const struct tv_settings *settings)
{
    struct winsize size = {.ws_col = 0};
    const char *kind = terminal_variable("TERM");
    *terminal = (struct terminal_info){.layout.columns = settings->table.columns};
    if (!isatty(descriptor))
        return;
    (void)ioctl(descriptor, TIOCGWINSZ, &size);
    terminal->dumb = kind[0] == '\0' || strcmp(kind, "dumb") == 0;
    terminal->rows = terminal_choose_size("LINES", size.ws_row, USUAL_ROWS);
    terminal->layout.terminal = true;
    terminal->layout.colors = !terminal->dumb && terminal_variable("NO_COLOR")[0] == '\0';
    terminal->layout.utf8 = terminal_has_utf8();
    if (!settings->table.wide)
        terminal->layout.width = terminal_choose_size("COLUMNS", size.ws_col, USUAL_COLUMNS);
}

/* ---- The pager ---- */

/* A command with one of these characters is run by a shell; any other is a program with its
 * arguments. */
#define FOR_SHELLS "|&;<>()$`\\\"'*?[#~=%\n\t"
#define MAX_WORDS 32
#define CONFINED_PAGER 1 /* stands for the pager that the broker has started */

/* Return the pager's command line, or NULL. */
static const char *pager_choose(void)
{
    static const char *const variables[] = {"TRACEVIEW_PAGER", "PAGER"};
    const char *command = NULL;
    for (size_t i = 0; i < TV_COUNT(variables) && !command; i++)
        command = getenv(variables[i]);
    if (!command)
        command = "less";
    return command[strspn(command, " ")] == '\0' || strcmp(command, "cat") == 0 ? NULL : command;
}

/* Split a command line into words, in place. A command for a shell becomes "sh -c COMMAND". */
static void pager_split_command(char *command, const char **words)
{
    size_t count = 0;
    if (strpbrk(command, FOR_SHELLS)) {
        words[0] = "sh";
        words[1] = "-c";
        words[2] = command;
        words[3] = NULL;
        return;
    }
    while (*command && count < MAX_WORDS) {
        command += strspn(command, " ");
        if (*command)
            words[count++] = command;
        command += strcspn(command, " ");
        if (*command)
            *command++ = '\0';
    }
    words[count] = NULL;
}

/* Ignore signals until the pager has ended: if they ended us, two programs would use the terminal.
 */
static void pager_ignore_signals(void)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
}

/* False: the text goes to the terminal.  In the sandbox the broker starts the
 * pager. */
bool tv_pager_start(int *descriptor, pid_t *process)
{
    if (tv_is_confined()) {
        int ours = tv_confined_pager_start();
        if (ours < 0)
            return false;
        pager_ignore_signals();
        *descriptor = ours;
        *process = CONFINED_PAGER;
        return true;
    }
    const char *command = pager_choose();
    const char *words[MAX_WORDS + 1];
    int ends[2];
    if (!command || pipe2(ends, O_CLOEXEC) != 0)
        return false;
    setenv("LESS", "FRX", 0); /* exit if one screen is enough; show colours; keep the screen */
    setenv("LV", "-c", 0);    /* lv, another pager: colours */
    size_t length = strlen(command) + 1;
    char *own = tv_alloc(length, 1);
    memcpy(own, command, length);
    pager_split_command(own, words);
    const struct tv_program pager = {.name = words[0],
                                     .words = words,
                                     .fds = (const struct tv_program_fd[]){{STDIN_FILENO, ends[0]}},
                                     .fd_count = 1};
    bool started = tv_program_start(&pager, process) == 0;
    tv_free(own);
    close(ends[0]);
    if (!started) {
        close(ends[1]);
        return false;
    }
    pager_ignore_signals();
    *descriptor = ends[1];
    return true;
}

/* The end of its input tells the pager that the text is complete; it ends when
 * the user leaves it. */
void tv_pager_finish(int descriptor, pid_t process)
{
    close(descriptor);
    if (tv_is_confined()) {
        tv_confined_pager_finish();
        return;
    }
    (void)tv_program_wait(process, NULL);
}

/* ---- The output ---- */

/* For messages. */
static const char *output_name(const struct tv_output *output)
{
    return output->path ? output->path : "standard output";
}

/* Write all bytes (the write function of an output). */
static enum tv_status output_write_bytes(void *context, struct tv_bytes bytes, struct tv_error *err)
{
    struct tv_output *output = context;
    if (output->waits) {
        tv_meter_stop(output->meter);
        output->meter = NULL;
        output->waits = false;
    }
    while (bytes.length > 0) {
        ssize_t written = write(output->descriptor, bytes.data, bytes.length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EPIPE && output->screen.pager > 0)
            return TV_OK; /* the user has left the pager */
        if (written < 0)
            return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", output_name(output),
                           strerror(errno));
        bytes.data += written;
        bytes.length -= (size_t)written;
        atomic_fetch_add(&output->progress.bytes, (uint64_t)written);
    }
    return TV_OK;
}

/* ---- On a terminal ---- */

/* Write what is made for scripts to a terminal: characters that it would obey become blanks.  Text
 * that is laid out has replaced them before. */
static enum tv_status output_write_harmless(void *context, struct tv_bytes bytes,
                                            struct tv_error *err)
{
    struct tv_output *output = context;
    struct tv_out shown;
    tv_out_init_memory(&shown);
    while (bytes.length > 0) {
        size_t control = tv_bytes_control(bytes), length = control > 0 ? control : 1;
        bool ends_control = output->split_control && (bytes.data[0] & 0xe0) == 0x80; /* a C1 */
        output->split_control = bytes.length == 1 && bytes.data[0] == 0xc2;
        if (ends_control || (control > 0 && !memchr("\t\r\n", bytes.data[0], 3)))
            tv_out_char(&shown, ' ');
        else
            tv_out_char(&shown, (char)bytes.data[0]);
        bytes.data += length;
        bytes.length -= length;
    }
    enum tv_status status =
        output_write_bytes(output, (struct tv_bytes){shown.buffer, shown.length}, err);
    tv_out_release(&shown);
    return status;
}

/* Count the screen lines that the text needs; long lines wrap. */
static void output_count_lines(struct tv_output_screen *screen, struct tv_bytes bytes)
{
    assert(screen->rows > 0);
    uint32_t width = screen->layout.width > 0 ? screen->layout.width : UINT32_MAX;
    for (size_t i = 0; i < bytes.length && screen->lines < screen->rows; i++) {
        uint8_t c = bytes.data[i];
        screen->in_colour |= c == '\033'; /* a sequence up to "m" takes no space */
        bool shown = c != '\n' && !screen->in_colour && (c & 0xc0) != 0x80;
        bool full = shown && screen->columns == width;
        screen->in_colour &= c != 'm';
        screen->lines += c == '\n' || full;
        screen->columns = c == '\n' || full ? shown : screen->columns + shown;
    }
}

/* From now on text is written as it comes. */
static enum tv_status output_write_held(struct tv_output *output, struct tv_error *err)
{
    assert(output->screen.rows > 0);
    struct tv_out *held = &output->screen.held;
    output->screen.rows = 0;
    enum tv_status status =
        output_write_bytes(output, (struct tv_bytes){held->buffer, held->length}, err);
    tv_out_release(held);
    return status;
}

/* The write function of a screen: without a pager, the text that was held is
 * printed all the same. */
static enum tv_status output_write_to_screen(void *context, struct tv_bytes bytes,
                                             struct tv_error *err)
{
    struct tv_output *output = context;
    struct tv_output_screen *screen = &output->screen;
    if (screen->rows == 0)
        return output_write_bytes(output, bytes, err);
    tv_out_bytes(&screen->held, bytes);
    output_count_lines(screen, bytes);
    if (screen->lines < screen->rows)
        return TV_OK;
    (void)tv_pager_start(&output->descriptor, &screen->pager);
    return output_write_held(output, err);
}

/* ---- Files ---- */

/* Also by another name: links lead to the same inode. */
static bool output_is_same_file(const struct stat *output, const char *path)
{
    struct stat input;
    return stat(path, &input) == 0 && input.st_dev == output->st_dev &&
           input.st_ino == output->st_ino;
}

/* Is the output one of the files that an input name means (inputs.h)? */
static bool output_is_trace(const struct stat *output, const char *name)
{
    struct tv_inputs_files files;
    return tv_inputs_find_files(name, &files) &&
           (output_is_same_file(output, files.first) ||
            (files.second[0] != '\0' && output_is_same_file(output, files.second)));
}

/* Is the output the file of a --symbols word? */
static bool output_is_symbol_file(const struct stat *output, const char *word)
{
    char path[4096];
    return tv_symbols_path(word, path, sizeof path) && output_is_same_file(output, path);
}

/* Only regular files are compared: a terminal or /dev/null may well be both. */
enum tv_status tv_output_check(const char *path, const struct tv_settings *settings,
                               struct tv_error *err)
{
    struct stat output;
    if (!path || strcmp(path, "-") == 0 || stat(path, &output) != 0 || !S_ISREG(output.st_mode))
        return TV_OK;
    const char *const maps[] = {settings->input.mapping, settings->compare.base_mapping,
                                settings->compare.new_mapping};
    bool input = false;
    for (size_t i = 0; i < TV_COUNT(maps); i++)
        input = input || (maps[i] && output_is_same_file(&output, maps[i]));
    for (size_t i = 0; i < settings->files.count && !input; i++)
        input = output_is_trace(&output, settings->files.items[i]);
    const char *word;
    for (size_t i = 0; !input && (word = tv_symbols_word(settings, i)); i++)
        input = output_is_symbol_file(&output, word);
    if (input)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--output: '%s' is also an input: choose another file", path);
    return TV_OK;
}

/* The meter shows nothing on a terminal that gets text: the two would mix. */
enum tv_status tv_output_open(struct tv_output *output, const char *path, bool quiet,
                              struct tv_error *err)
{
    *output = (struct tv_output){.descriptor = STDOUT_FILENO};
    output->path = path && strcmp(path, "-") != 0 ? path : NULL;
    if (output->path && tv_atomic_file_open(&output->file, output->path, err) != TV_OK)
        return err->status;
    if (output->path)
        output->descriptor = output->file.descriptor;
    bool terminal = isatty(output->descriptor) != 0;
    tv_out_init(&output->out, terminal ? output_write_harmless : output_write_bytes, output);
    output->meter = tv_meter_start(&output->progress, quiet || terminal);
    return TV_OK;
}

/* The meter of the reading goes on until the first text is written. */
void tv_output_wait(struct tv_output *output, struct tv_meter *meter)
{
    if (output->meter || !isatty(output->descriptor)) {
        tv_meter_stop(meter);
        return;
    }
    output->meter = meter;
    output->waits = true;
}

/* Only text on a terminal is laid out; other formats are the same everywhere. */
enum tv_status tv_output_open_text(struct tv_output *output, const struct tv_settings *settings,
                                   bool text, struct tv_error *err)
{
    struct terminal_info terminal;
    if (settings->table.columns && !text)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--columns needs --format text");
    enum tv_status status = tv_output_open(output, settings->output, settings->quiet, err);
    if (status != TV_OK || !text)
        return status;
    terminal_look(&terminal, output->descriptor, settings);
    output->out.write = output_write_bytes;
    output->screen.layout = terminal.layout;
    output->out.layout = &output->screen.layout;
    if (output->path || settings->table.no_pager || terminal.dumb)
        return TV_OK;
    output->screen.rows = terminal.rows;
    tv_out_init_memory(&output->screen.held);
    output->out.write = output_write_to_screen;
    return TV_OK;
}

/* Rows of a table on a terminal, unless --limit is given. */
#define SCREEN_LIMIT 40

uint64_t tv_output_limit(const struct tv_output *output, const struct tv_settings *settings)
{
    if (settings->table.limit != TV_ANY_LIMIT)
        return settings->table.limit;
    return output->screen.layout.terminal ? SCREEN_LIMIT : 0;
}

enum tv_status tv_output_open_binary(struct tv_output *output, const char *path, bool quiet,
                                     struct tv_error *err)
{
    if ((!path || strcmp(path, "-") == 0) && isatty(STDOUT_FILENO))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "the output is binary and standard output is a terminal: use --output FILE");
    return tv_output_open(output, path, quiet, err);
}

/* Write the remaining text, and wait for the pager. */
static enum tv_status output_flush(struct tv_output *output, struct tv_error *err)
{
    if (output->screen.layout.hid_columns)
        tv_layout_text(&output->out, TV_STYLE_DIM, "More columns: --wide or --columns\n");
    if (output->screen.layout.lacks_columns && !output->screen.layout.found_columns)
        tv_message("traceview: --columns: this file has none of these columns; showing all");
    enum tv_status status = tv_out_finish(&output->out, err);
    if (output->screen.rows > 0 && status == TV_OK)
        status = output_write_held(output, err);
    if (output->screen.pager > 0)
        tv_pager_finish(output->descriptor, output->screen.pager);
    tv_meter_stop(output->meter);
    tv_out_release(&output->out);
    return status;
}

/* A file gets its name only if both the work and all writing succeeded. */
enum tv_status tv_output_finish(struct tv_output *output, enum tv_status work, struct tv_error *err)
{
    assert(output->out.write);
    struct tv_error late = {0};
    enum tv_status status = output_flush(output, &late);
    if (work == TV_OK && status != TV_OK)
        *err = late;
    work = work == TV_OK ? status : work;
    if (output->path && work == TV_OK)
        work = tv_atomic_file_commit(&output->file, err);
    else if (output->path)
        tv_atomic_file_discard(&output->file);
    return work;
}

enum tv_status tv_output_close(struct tv_output *output, struct tv_error *err)
{
    return tv_output_finish(output, TV_OK, err);
}

/* ---- A file for each thread ---- */

/* Use at most this many characters of a thread's name in a file name. */
#define NAME_LENGTH 40

/* Choose the prefix of the file names. */
static void per_thread_prefix(const struct tv_settings *settings, char *prefix, size_t size)
{
    const char *input = settings->files.items[0], *slash = strrchr(input, '/');
    if (settings->output) {
        snprintf(prefix, size, "%s", settings->output);
        return;
    }
    snprintf(prefix, size, "%s", slash ? slash + 1 : input);
    if (strcmp(prefix, "-") == 0)
        snprintf(prefix, size, "stdin");
    size_t length = strlen(prefix);
    if (length > 6 && strcmp(prefix + length - 6, ".trace") == 0)
        prefix[length - 6] = '\0';
}

/* Characters of the POSIX portable file name set. */
static bool per_thread_is_safe(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
           c == '_' || c == '.';
}

/* Replace every character that a shell or a file system could misinterpret by '_'. */
static void per_thread_make_safe(struct tv_bytes name, char *safe)
{
    size_t length = name.length < NAME_LENGTH ? name.length : NAME_LENGTH;
    for (size_t i = 0; i < length; i++)
        safe[i] = per_thread_is_safe(name.data[i]) ? (char)name.data[i] : '_';
    safe[length] = '\0';
}

/* The broker asks this for each file that a confined command wants to write. */
bool tv_per_thread_is_name(const struct tv_settings *settings, const char *path)
{
    char prefix[2048];
    per_thread_prefix(settings, prefix, sizeof prefix);
    size_t length = strlen(prefix);
    if (strncmp(path, prefix, length) != 0 || path[length] != '.')
        return false;
    while (path[length] != '\0' && per_thread_is_safe((uint8_t)path[length]))
        length++;
    return path[length] == '\0';
}

/* The common parts of all file names. */
struct per_thread_names {
    char prefix[2048];
    const char *ending;
    struct tv_map ids; /* id -> first thread with this id */
};

/* The map keeps the first thread of each id. */
static void per_thread_note_ids(struct per_thread_names *naming, const struct tv_trace_info *head)
{
    tv_map_init(&naming->ids);
    for (uint32_t i = 0; i < head->thread_count; i++)
        tv_map_add(&naming->ids, head->threads[i].id, i);
}

/* PREFIX.ID-NAME.ENDING. */
static enum tv_status per_thread_name_file(const struct per_thread_names *naming,
                                           const struct tv_trace_info *head, uint32_t thread,
                                           char *path, size_t size, struct tv_error *err)
{
    assert(thread < head->thread_count);
    char name[NAME_LENGTH + 1], again[16] = "";
    per_thread_make_safe(tv_trace_info_text(head, head->threads[thread].name), name);
    /* Threads of two files can have the same id: add the index of the thread. */
    if (tv_map_find(&naming->ids, head->threads[thread].id) != thread)
        snprintf(again, sizeof again, ".%u", thread);
    int n = snprintf(path, size, "%s.%llu%s-%s.%s", naming->prefix,
                     (unsigned long long)head->threads[thread].id, again, name, naming->ending);
    if (n < 0 || (size_t)n >= size)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "the file name is too long");
    return TV_OK;
}

/* `names` is standard output, which lists the files that were written. */
struct per_thread_work {
    const struct tv_settings *settings;
    const struct tv_call_tree *tree;
    tv_per_thread_write *write_thread;
    void *context;
    struct tv_output *names;
};

/* The part of the tree below a thread is a copy, which is freed before the next
 * thread. */
static enum tv_status per_thread_write_file(const struct per_thread_work *work, uint32_t node,
                                            uint32_t thread, const char *path, struct tv_error *err)
{
    assert(node > 0 && node < work->tree->count);
    struct tv_output output;
    enum tv_status status = tv_output_check(path, work->settings, err);
    if (status == TV_OK)
        status = tv_output_open(&output, path, true, err);
    if (status != TV_OK)
        return status;
    struct tv_call_tree *part = tv_call_tree_part(work->tree, node);
    work->write_thread(&output.out, part, thread, work->context);
    tv_call_tree_free(part);
    status = tv_output_close(&output, err);
    if (status == TV_OK) {
        tv_out_text(&work->names->out, path);
        tv_out_char(&work->names->out, '\n');
    }
    return status;
}

/* Nodes of threads are in the tree as frames with the bit TV_THREAD_FRAME. */
enum tv_status tv_per_thread(const struct tv_settings *settings, const struct tv_call_tree *tree,
                             const char *ending, tv_per_thread_write *write_thread, void *context,
                             struct tv_error *err)
{
    struct per_thread_names naming = {.ending = ending};
    char path[4096];
    struct tv_output names;
    struct per_thread_work work = {settings, tree, write_thread, context, &names};
    per_thread_prefix(settings, naming.prefix, sizeof naming.prefix);
    enum tv_status status = tv_output_open(&names, NULL, true, err);
    if (status != TV_OK)
        return status;
    per_thread_note_ids(&naming, tree->head);
    for (uint32_t i = 1; i < tree->count && status == TV_OK; i++) {
        uint32_t thread = tree->frame[i] & ~TV_THREAD_FRAME;
        if (!(tree->frame[i] & TV_THREAD_FRAME))
            continue;
        status = per_thread_name_file(&naming, tree->head, thread, path, sizeof path, err);
        if (status == TV_OK)
            status = per_thread_write_file(&work, i, thread, path, err);
    }
    tv_map_release(&naming.ids);
    return tv_output_finish(&names, status, err);
}
