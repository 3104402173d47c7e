/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_editor.h - lines that somebody types at a terminal, with history and completion.
 *
 * libedit edits the lines; it is opened while the program runs, and without it there is no editor.
 * An editor changes the terminal and reads files of its user, which the sandbox does not allow.  So
 * a process of its own, started before the sandbox, edits and reads nothing but the terminal:
 *
 *     confined process  --- prompt --->  editor  <---> terminal
 *                       <---- line -----
 */
#ifndef TV_CLI_INPUT_LINE_EDITOR_H
#define TV_CLI_INPUT_LINE_EDITOR_H

#include "base/out.h"

struct tv_words;

/* Start the editor, if standard input and output are a terminal and libedit is there.  It completes
 * the words; the history is kept in a file of the user's state folder.  False: there is none. */
bool tv_line_editor_start(const struct tv_words *words, const char *history);

/* Was it started? */
bool tv_line_editor_is_there(void);

/* The end of asking for a line. */
enum tv_line_end {
    TV_LINE_TYPED,
    TV_LINE_DROPPED, /* by Ctrl-C */
    TV_LINE_NONE,    /* the user ended the input */
};

/* Ask for a line, and append it with a line end. */
enum tv_line_end tv_line_editor_ask(const char *prompt, struct tv_out *line);

/* Let the editor save its history, and wait for its end.  Does nothing if there is none. */
void tv_line_editor_end(void);

#endif
