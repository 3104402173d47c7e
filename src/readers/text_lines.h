/* SPDX-License-Identifier: Apache-2.0 */
/* text_lines.h - iterating over the lines of a range of a source. */
#ifndef TV_READERS_TEXT_LINES_H
#define TV_READERS_TEXT_LINES_H

#include "base/source.h"

/* Longer lines are skipped and marked `too_long`. */
#define TV_TEXT_LINE_LIMIT ((size_t)1 << 20)

struct tv_text_lines {
    struct tv_window window;
    uint64_t offset; /* offset of the next line */
    uint64_t end;
};

struct tv_text_line {
    struct tv_bytes text; /* without "\n" or "\r\n" */
    uint64_t offset;
    bool ended;    /* by a '\n', not by the end of the range; false too when there is none */
    bool too_long; /* `text` is empty */
    bool none;     /* no more lines */
};

/* Iterate over the lines of [offset, end); `end` may be after the end of the source. */
void tv_text_lines_init(struct tv_text_lines *lines, struct tv_source *source, uint64_t offset,
                        uint64_t end);
void tv_text_lines_release(struct tv_text_lines *lines);

/* Return the next line, which is valid until the next call. */
enum tv_status tv_text_lines_next(struct tv_text_lines *lines, struct tv_text_line *line,
                                  struct tv_error *err) TV_MUST_CHECK;

/* Return a line without characters that copying added: carriage returns of terminals ("\r\r\n"),
 * and the end of a line inside a JavaScript string (`\n\`, or `\n";` after the last one). */
struct tv_bytes tv_text_line_bare(struct tv_bytes text);

/* Return true when the header of one of Valgrind's files has a line that starts with `key`
 * ("events: ").  The header is the lines "key: value", empty lines and "#" comments; the first line
 * of another form ends it. */
bool tv_text_has_header_key(struct tv_bytes prefix, struct tv_bytes key);

/* Return the length of "module->" in front of a function's name, as ltrace writes it; 0: none. */
size_t tv_text_ltrace_module(struct tv_bytes call);

/* ltrace writes calls as strace does. Return true for text that it alone writes: a module in front
 * of a function, or "+++ exited (status 0) +++". */
bool tv_text_is_ltrace(struct tv_bytes prefix);

#endif
