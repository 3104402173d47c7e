/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields.h - the details after an event's name: "pid=12 comm=a b prio=120", and the marks that
 * programs write.
 */
#ifndef TV_READERS_FTRACE_FIELDS_H
#define TV_READERS_FTRACE_FIELDS_H

#include "readers/ftrace/chunk.h"

/* ---- Words and values (args.c) ---- */

/* Return the text after the first `mark`; data NULL: `mark` is not in the text. */
struct tv_bytes tv_ft_after(struct tv_bytes text, const char *mark);

/* Return the value of a key, up to the next space or comma; data NULL: the key is missing.  A key
 * is at the beginning or after a space, a comma or a '('. */
struct tv_bytes tv_ft_arg(struct tv_bytes details, const char *key);

/* Parse the value of a key as a number, decimal or 0x...  Return false when there is none. */
bool tv_ft_arg_number(struct tv_bytes details, const char *key, int64_t *number);

/* Skip the spaces at the beginning. */
static inline struct tv_bytes tv_ft_skip_spaces(struct tv_bytes text)
{
    while (text.length > 0 && text.data[0] == ' ') {
        text.data++;
        text.length--;
    }
    return text;
}

/* Return the first word, without spaces around it. */
struct tv_bytes tv_ft_first_word(struct tv_bytes text);

/* Parse a text that is one number, decimal or 0x... */
bool tv_ft_parse_number(struct tv_bytes text, int64_t *number);

/* Parse a decimal number of any size, with or without a fraction.  A number that 64 bits cannot
 * hold exactly becomes the nearest double. */
bool tv_ft_parse_quantity(struct tv_bytes text, double *number);

/* Parse the value of a key as a quantity or as 0x...  Return false when there is none. */
bool tv_ft_arg_quantity(struct tv_bytes details, const char *key, double *number);

/* A task as trace-cmd's plugins write it: "bash:10 [120]". */
struct tv_ft_short_task {
    struct tv_bytes name, tid, priority;
};

/* Cut such a task off the beginning of the text.  Return false when there is none. */
bool tv_ft_take_short_task(struct tv_bytes *text, struct tv_ft_short_task *task);

/* Write `title` to `to`, with `text` in place of its '*'.  Cut the result to `size` bytes with its
 * NUL, and return its length. */
size_t tv_ft_format_title(char *to, size_t size, const char *title, struct tv_bytes text);

/* ---- Marks (marks.c) ---- */

/*
 * Text that a program wrote to the kernel's trace_marker (ftrace.md section 4):
 *
 *     B|tgid|name          E[|tgid]            a slice of the thread that writes
 *     S|tgid|name|cookie   F|tgid|name|cookie  an async slice of the process
 *     G|tgid|track|name|cookie   H|tgid|track[|name]|cookie   the same on a track with a name
 *     I|tgid|name          N|tgid|track|name   an instant
 *     C|tgid|name|value                        a counter of the process
 *
 * Chrome appends |key=value;key=value|category.
 */
struct tv_ft_mark {
    char phase;   /* 0: plain text */
    int64_t tgid; /* 0: an E without one */
    struct tv_bytes name, track, cookie;
    struct tv_bytes args, category; /* "key=value;key=value"; data NULL: none */
    double value;
};

/* Parse the text of a mark; a '\n' or NUL at its end is cut off. */
struct tv_ft_mark tv_ft_mark_parse(struct tv_bytes text);

/* Parse the details of an event that holds a mark.  The events "print" and "bprint" of trace-cmd
 * have the name of the function that wrote in front of the text. */
struct tv_ft_mark tv_ft_mark_of_event(struct tv_bytes event, struct tv_bytes details);

/*
 * Marks of drivers and libraries of Chrome OS, which have forms of their own (ftrace.md section 3):
 *
 *     mali_driver: (mali-012345) cros_trace_print_enter: file.c@1505: gles2_texturep_upload
 *     mali_driver: cros_trace_print_exit: file.c:
 *     SyncInterpret: start: ClickWiggleFilterInterpreter      also HandleTimer, log
 */
struct tv_ft_driver_mark {
    bool begins;           /* the mark begins a slice; else it ends one */
    struct tv_bytes line;  /* name of the pseudo-thread that gets the slice */
    struct tv_bytes title; /* empty: an end without a name */
    const char *category;
    const char *key; /* name of the argument `value` */
    struct tv_bytes value, args;
};

/* Return false when the text is no such mark. */
bool tv_ft_driver_mark_parse(struct tv_bytes text, struct tv_ft_driver_mark *mark);

/* Add the half slice of such a mark to the chunk.  Return false when the text is no such mark. */
bool tv_ft_driver_mark_take(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                            struct tv_bytes text);

/* ---- Arguments with names (describe.c) ---- */

/* Called for each argument of an event. */
struct tv_ft_arg_visitor {
    void (*pair)(void *context, struct tv_bytes key, struct tv_bytes value);
    void *context;
};

/* Visit the arguments of an event in the order of the text: "key=value" of most events, and the
 * arguments of those that write other forms. */
void tv_ft_visit_args(struct tv_bytes event, struct tv_bytes details,
                      const struct tv_ft_arg_visitor *put);

/* Visit the arguments of plain text that is a mark of a driver; none for other text. */
void tv_ft_visit_driver_args(struct tv_bytes text, const struct tv_ft_arg_visitor *put);

#endif
