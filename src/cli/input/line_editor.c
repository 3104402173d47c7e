/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_editor.c - edits lines at the prompt of `sql`, with history and
 * completion (line_editor.h).
 *
 *     confined process             editor: a fork, made before the confinement
 *     --- length, prompt ------->  libedit: reads the terminal, completes words
 *     <-- length, line ----------  writes the history to the user's folder before it sends a line
 *     --- length 0 ------------->  ends
 *
 * Ctrl-C at the prompt drops the line.  While a query runs, the editor ignores it.
 *
 * libedit needs the terminal and a file, which the process that runs queries
 * over a hostile trace must not have.  So it runs in a process of its own,
 * which never sees anything of the trace.  Lines are cut off at LONGEST_LINE,
 * and the other side checks that, too.
 */
#define _GNU_SOURCE /* pipe2, ppoll */
#include "cli/input/line_editor.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include "base/file.h"
#include "base/library.h"
#include "base/memory.h"
#include "base/program.h"
#include "cli/input/user_folder.h"
#include "cli/options.h"

#define LIBRARY "libedit.so.2"

/* Lines that are longer are cut off, and so many are remembered. */
#define LONGEST_LINE ((uint32_t)1 << 20)
#define MAX_LINES 1000

/* A word to complete begins after one of these characters. */
#define BREAKS " \t\n\"\\'`@$><=;|&{(,.)+-*/%!"

/* The lengths that stand for the end of the input, and for a line that Ctrl-C dropped. */
#define END_OF_INPUT UINT32_MAX
#define DROPPED_LINE (UINT32_MAX - 1)

static struct {
    pid_t process; /* 0: there is no editor */
    int prompts, lines;
} editor;

bool tv_line_editor_is_there(void)
{
    return editor.process > 0;
}

/* ---- The editor's process ---- */

/* The functions of libedit that readline has, too. */
struct editor_library {
    char *(*ask)(const char *prompt);
    int (*add_history)(const char *line);
    int (*read_history)(const char *path);
    int (*write_history)(const char *path);
    void (*stifle_history)(int lines);
    char *(**complete)(const char *word, int again);
    const char **breaks;
    int (**read_key)(FILE *terminal);
};

/* The words of the completion, which is called without a context. */
static const struct tv_words *editor_words;

/* Load libedit at run time; without it, lines are read as they come. */
static bool editor_load(struct editor_library *library)
{
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    const struct tv_library_function functions[] = {
        {"readline", &library->ask},
        {"add_history", &library->add_history},
        {"read_history", &library->read_history},
        {"write_history", &library->write_history},
        {"stifle_history", &library->stifle_history},
        {"rl_completion_entry_function", &library->complete},
        {"rl_completer_word_break_characters", &library->breaks},
        {"rl_getc_function", &library->read_key},
    };
    return handle && !tv_library_find(handle, functions, TV_COUNT(functions));
}

/* Return the next word that begins as typed, in memory that libedit frees; NULL after the last. */
static char *editor_complete(const char *typed, int again)
{
    static size_t next;
    size_t length = strlen(typed);
    if (!again)
        next = 0;
    while (next < editor_words->count) {
        const char *word = editor_words->items[next++];
        if (strncasecmp(word, typed, length) != 0)
            continue;
        char *copy = tv_alloc(strlen(word) + 1, 1);
        memcpy(copy, word, strlen(word));
        return copy;
    }
    return NULL;
}

/* Find the file of the history; false: the user has no folder for it. */
static bool editor_find_history(const char *name, char path[PATH_MAX])
{
    char folder[PATH_MAX - 64];
    int made = tv_user_folder_open(TV_USER_STATE, true);
    if (made < 0)
        return false;
    close(made);
    return tv_user_folder_find(TV_USER_STATE, folder, sizeof folder) &&
           snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX;
}

/*
 * Ctrl-C drops the line that is edited; while nothing is edited, the key is for the process that
 * runs the query.  The signal is blocked but while libedit waits for a key, so it interrupts
 * neither libedit nor the allocator:
 *
 *     readline --> editor_read_key --> ppoll, which lets SIGINT in --> editor_note_interrupt
 *     NULL    <--  end of the input <------------------------------'
 */
static volatile sig_atomic_t editor_interrupted;
static sigset_t editor_waiting_mask; /* without SIGINT */

static void editor_note_interrupt(int number)
{
    (void)number;
    editor_interrupted = 1;
}

/* Wait for a byte of the terminal; -1 at the end of the input, or after Ctrl-C. */
static int editor_read_byte(int terminal)
{
    struct pollfd wanted = {.fd = terminal, .events = POLLIN};
    uint8_t byte;
    while (!editor_interrupted) {
        if (ppoll(&wanted, 1, NULL, &editor_waiting_mask) < 0 && errno != EINTR)
            return -1;
        if (editor_interrupted || wanted.revents == 0)
            continue;
        ssize_t count = read(terminal, &byte, 1);
        if (count == 1)
            return byte;
        if (count == 0 || errno != EINTR)
            return -1;
    }
    return -1;
}

/* Return the next character that is typed; -1: the line ends here.  What is no character is left
 * out. */
static int editor_read_key(FILE *terminal)
{
    mbstate_t state = {0};
    wchar_t character;
    for (int byte; (byte = editor_read_byte(fileno(terminal))) >= 0;) {
        char c = (char)byte;
        size_t used = mbrtowc(&character, &c, 1, &state);
        if (used == 0)
            return 0; /* Ctrl-@ */
        if (used == 1)
            return (int)character;
        if (used == (size_t)-1)
            state = (mbstate_t){0};
    }
    return -1;
}

/* Let Ctrl-C in only where editor_read_byte waits. */
static void editor_block_interrupts(void)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    sigprocmask(SIG_BLOCK, &blocked, &editor_waiting_mask);
    sigdelset(&editor_waiting_mask, SIGINT);
}

/* Let somebody edit a line; NULL at the end of the input, or if it is dropped. */
static char *editor_ask_line(const struct editor_library *library, const char *prompt,
                             bool *is_dropped)
{
    /* To ignore the signal takes away one that came while a query ran. */
    sigaction(SIGINT, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    sigaction(SIGINT, &(struct sigaction){.sa_handler = editor_note_interrupt}, NULL);
    editor_interrupted = 0;
    char *line = library->ask(prompt);
    *is_dropped = !line && editor_interrupted;
    if (*is_dropped) {
        (void)fputs("\n", stdout);
        fflush(stdout);
    }
    return line;
}

/* Edit one line and send it, or that there is none; false: nobody reads it.  The history is written
 * at once, to the file `history` (NULL: none): a signal may end both processes while a query runs.
 */
static bool editor_edit_line(const struct editor_library *library, const char *history,
                             const char *prompt, int lines)
{
    bool is_dropped;
    char *line = editor_ask_line(library, prompt, &is_dropped);
    size_t length = line ? strlen(line) : 0;
    uint32_t sent = length < LONGEST_LINE ? (uint32_t)length : LONGEST_LINE;
    if (!line)
        sent = is_dropped ? DROPPED_LINE : END_OF_INPUT;
    if (length > 0) {
        library->add_history(line);
        if (history)
            library->write_history(history);
    }
    bool is_sent = tv_file_write_fully(lines, &sent, sizeof sent) &&
                   (!line || tv_file_write_fully(lines, line, sent));
    tv_free(line);
    return is_sent;
}

/* Edit a line for each prompt, until there are no more: after the end of the input, too, because
 * the other side tells the end, and must not write into a closed pipe. */
static _Noreturn void editor_main(const struct editor_library *library, const char *history,
                                  int prompts, int lines)
{
    char path[PATH_MAX], prompt[32];
    uint8_t length;
    bool kept = editor_find_history(history, path);
    /* The terminal's characters, in this thread alone: numbers are read and printed as ever. */
    locale_t characters = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (characters)
        uselocale(characters);
    *library->read_key = editor_read_key; /* before stifle_history, which starts libedit */
    *library->complete = editor_complete;
    *library->breaks = BREAKS;
    library->stifle_history(MAX_LINES);
    umask(077);
    editor_block_interrupts();
    if (kept)
        library->read_history(path);
    while (tv_file_read_fully(prompts, &length, 1) && length > 0 && length < sizeof prompt &&
           tv_file_read_fully(prompts, prompt, length)) {
        prompt[length] = '\0';
        if (!editor_edit_line(library, kept ? path : NULL, prompt, lines))
            break;
    }
    fflush(stdout);
    _exit(0);
}

/* ---- The confined process's side ---- */

bool tv_line_editor_start(const struct tv_words *words, const char *history)
{
    struct editor_library library;
    int prompts[2], lines[2];
    assert(!tv_line_editor_is_there());
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !editor_load(&library))
        return false;
    if (pipe2(prompts, O_CLOEXEC) != 0)
        return false;
    if (pipe2(lines, O_CLOEXEC) != 0) {
        close(prompts[0]);
        close(prompts[1]);
        return false;
    }
    fflush(stdout);
    editor_words = words;
    pid_t process = fork();
    if (process == 0) {
        close(prompts[1]);
        close(lines[0]);
        editor_main(&library, history, prompts[0], lines[1]);
    }
    close(prompts[0]);
    close(lines[1]);
    if (process < 0) {
        close(prompts[1]);
        close(lines[0]);
        return false;
    }
    editor.process = process;
    editor.prompts = prompts[1];
    editor.lines = lines[0];
    return true;
}

enum tv_line_end tv_line_editor_ask(const char *prompt, struct tv_out *line)
{
    uint8_t length = (uint8_t)strlen(prompt);
    uint32_t left;
    assert(tv_line_editor_is_there() && length > 0);
    if (!tv_file_write_fully(editor.prompts, &length, 1) ||
        !tv_file_write_fully(editor.prompts, prompt, length) ||
        !tv_file_read_fully(editor.lines, &left, sizeof left))
        return TV_LINE_NONE;
    if (left > LONGEST_LINE)
        return left == DROPPED_LINE ? TV_LINE_DROPPED : TV_LINE_NONE;
    while (left > 0) {
        uint8_t piece[512];
        size_t wanted = left < sizeof piece ? left : sizeof piece;
        if (!tv_file_read_fully(editor.lines, piece, wanted))
            return TV_LINE_NONE;
        tv_out_bytes(line, (struct tv_bytes){piece, wanted});
        left -= (uint32_t)wanted;
    }
    tv_out_char(line, '\n');
    return TV_LINE_TYPED;
}

/* The editor ends when it reads a prompt without length, or when its pipe is
 * closed. */
void tv_line_editor_end(void)
{
    const uint8_t last = 0;
    if (!tv_line_editor_is_there())
        return;
    (void)tv_file_write_fully(editor.prompts, &last, 1);
    close(editor.prompts);
    close(editor.lines);
    (void)tv_program_wait(editor.process, NULL);
    editor.process = 0;
}
