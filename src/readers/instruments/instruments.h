/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instruments.h - the parts of the reader of exports of Apple's Instruments (instruments.c).
 *
 *     bytes --> xml.c: tokens --> elements.c: values, and rows of a table --> samples
 */
#ifndef TV_READERS_INSTRUMENTS_INSTRUMENTS_H
#define TV_READERS_INSTRUMENTS_INSTRUMENTS_H

#include "base/bytes.h"
#include "base/out.h"
#include "readers/profile_input.h"

/* ---- xml.c ----
 *
 * A pull parser for the XML that tools write: elements, attributes and text.
 *
 *     <row><weight id="9">5</weight></row>
 *     OPEN  OPEN          TEXT CLOSE CLOSE
 */

enum tv_xml_kind {
    TV_XML_OPEN,
    TV_XML_CLOSE,
    TV_XML_TEXT,
    TV_XML_END, /* of the document */
    TV_XML_CUT, /* the document ends within markup */
};

struct tv_xml_token {
    enum tv_xml_kind kind;
    struct tv_bytes name;       /* name of an element; of text the text, with its entities */
    struct tv_bytes attributes; /* attributes of an element, as in the file */
    bool empty;                 /* <name/>: no CLOSE follows */
    bool literal;               /* CDATA: '&' begins no entity */
    uint64_t offset;
};

/* Return the next token.  After TV_XML_END and TV_XML_CUT come only these. */
struct tv_xml_token tv_xml_next(struct tv_cursor *cursor);

/* Return the value of an attribute as in the file, with its entities; empty when there is none. */
struct tv_bytes tv_xml_attribute(struct tv_bytes attributes, struct tv_bytes name);

/* Return a text with its entities replaced, in `scratch` if there are any.  Unknown entities stay
 * as they are. */
struct tv_bytes tv_xml_decode(struct tv_bytes text, struct tv_out *scratch);

/* ---- elements.c ----
 *
 * Elements of an export of Instruments: values that are written once and then
 * referred to.
 *
 *     <weight id="9" fmt="1.00 ms">1000000</weight>     defines value 9
 *     <weight ref="9"/>                                 is the same value
 *
 * Any element may have an id, also one inside another, and ids are those of the whole file.  The
 * value of an element is complete when it ends; only then can it be referred to, so references
 * never form a circle.
 */

enum instruments_kind {
    INSTRUMENTS_OTHER,
    INSTRUMENTS_NODE, /* a table */
    INSTRUMENTS_SCHEMA,
    INSTRUMENTS_MNEMONIC, /* the name of a column */
    INSTRUMENTS_ROW,
    INSTRUMENTS_TIME,
    INSTRUMENTS_THREAD,
    INSTRUMENTS_TID,
    INSTRUMENTS_PROCESS,
    INSTRUMENTS_PID,
    INSTRUMENTS_CORE,
    INSTRUMENTS_STATE,
    INSTRUMENTS_WEIGHT,
    INSTRUMENTS_CYCLES,
    INSTRUMENTS_STACK,
    INSTRUMENTS_FRAME,
    INSTRUMENTS_BINARY,
    INSTRUMENTS_SOURCE,
    INSTRUMENTS_PATH,
    INSTRUMENTS_CALLS, /* kperf-bt: addresses, of which one is the leaf */
    INSTRUMENTS_ADDRESSES,
    INSTRUMENTS_ADDRESS,
};

/* The value of an element; the meaning of its members depends on the kind. */
struct instruments_value {
    enum instruments_kind kind;
    bool known;
    int64_t number; /* a time, an id, a weight, an address */
    uint32_t a, b;  /* process, thread: its number in the trace
                     * state, path: the string
                     * frame, source: frame or string, and the sampled line
                     * binary: the string of its name
                     * stack: path and path with lines
                     * addresses, calls: from and to in `addresses` */
};

struct instruments_element {
    enum instruments_kind kind;
    struct tv_bytes tag, attributes, text;
    uint32_t id; /* INSTRUMENTS_NO_ID: it has none */
    uint64_t offset;
    bool referred; /* the value is another element's */
    bool literal;  /* the text has no entities */
    struct instruments_value value;
    struct instruments_value tid, process, binary, source; /* of the elements inside */
    size_t frames; /* place in `frames` of the first frame inside */
};

#define INSTRUMENTS_NO_ID 0

/* Values by the number of their id. */
struct instruments_values {
    struct instruments_value *rows;
    size_t count, capacity;
};

struct instruments_frame {
    uint32_t frame;
    int32_t line;
};

/* The row that is being read. */
struct instruments_row {
    uint64_t offset;
    struct instruments_value time, thread, process, core, state, weight, stack;
    struct instruments_value calls[2]; /* calls of the program, of the kernel */
    unsigned column;                   /* number of elements so far */
};

struct instruments {
    struct tv_profile_input profile;
    struct tv_out scratch;
    struct tv_interner *ids;                        /* those that are no small numbers */
    uint64_t max_id;                                /* largest id that is its own number */
    struct instruments_values values, named_values; /* of ids that are numbers, and of `ids` */
    struct instruments_element *open; /* elements that have not ended, the outermost first */
    size_t open_count, open_capacity;
    uint64_t ignored;                 /* open elements below the deepest that is read */
    struct instruments_frame *frames; /* frames of the open stacks, the leaf of each first */
    size_t frame_count, frame_capacity;
    uint64_t *addresses; /* addresses of all address lists */
    size_t address_count, address_capacity;
    struct tv_map address_frames; /* address -> frame */
    struct tv_map nameless;       /* string -> id of a thread that has only a name */
    uint64_t budget;              /* frames that stacks may still take from address lists */
    uint32_t unknown;             /* frame; TV_NONE: not made yet */
    bool timeless;                /* no row has a time */

    /* The table. */
    struct tv_bytes schema;
    unsigned columns;        /* number of names of columns so far */
    uint64_t kernel_columns; /* bit i: column i has stacks of the kernel */
    uint64_t samples;        /* samples of the table */
    uint64_t all_samples;
    struct tv_bytes unread; /* schema of a table without samples */
    uint64_t unread_tables;
    struct instruments_row row;
    uint32_t last_type, last_state; /* the value type of the sample before */
    bool last_cycles, last_weighted;
};

/* Begin or end an element, and let it have a text. */
void instruments_open(struct instruments *file, const struct tv_xml_token *tag);
void instruments_close(struct instruments *file, const struct tv_xml_token *tag);
void instruments_text(struct instruments *file, const struct tv_xml_token *text);

/* Push the frames of a list of addresses, which begins with the leaf. */
void instruments_push_calls(struct instruments *file, const struct instruments_value *calls);

/* Intern a text of the file. */
uint32_t instruments_string(struct instruments *file, struct tv_bytes text);

/* Take a value into the row, the name of a column into the table; end a row or a table. */
void instruments_take_cell(struct instruments *file, const struct instruments_value *value);
void instruments_take_column(struct instruments *file, struct tv_bytes mnemonic);
void instruments_begin_row(struct instruments *file, uint64_t offset);
void instruments_end_row(struct instruments *file);
void instruments_begin_table(struct instruments *file, uint64_t offset);
void instruments_end_table(struct instruments *file, uint64_t offset);

#endif
