/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - the sections of an index: what write.c puts there and read.c takes.
 *
 * For the files of this room alone.  docs/trace-index.md tells the same in words.
 */
#ifndef TV_INDEX_LAYOUT_H
#define TV_INDEX_LAYOUT_H

#include <string.h>

#include "base/sections.h"
#include "model/trace.h"

/* To be raised when the meaning of something in an index changes and its size does not. */
#define TV_INDEX_FORMAT 2u

#define TV_INDEX_FACTS TV_SECTION_TAG('f', 'a', 'c', 't')
#define TV_INDEX_STRINGS TV_SECTION_TAG('s', 't', 'r', 'g')
#define TV_INDEX_STRING_ENDS TV_SECTION_TAG('s', 't', 'r', 'e')
#define TV_INDEX_INPUTS TV_SECTION_TAG('i', 'n', 'p', 't')
#define TV_INDEX_FORMATS TV_SECTION_TAG('f', 'r', 'm', 't')
#define TV_INDEX_SOURCES TV_SECTION_TAG('s', 'r', 'c', 's')
#define TV_INDEX_SOURCE_NAME TV_SECTION_TAG('s', 'r', 'c', 'n')
#define TV_INDEX_SOURCE_BYTES TV_SECTION_TAG('s', 'r', 'c', 'b')
#define TV_INDEX_DIAGNOSTICS TV_SECTION_TAG('d', 'i', 'a', 'g')
#define TV_INDEX_QUIET TV_SECTION_TAG('q', 'u', 'i', 'e')
#define TV_INDEX_PHASES TV_SECTION_TAG('p', 'h', 'a', 's')
#define TV_INDEX_PROCESSES TV_SECTION_TAG('p', 'r', 'o', 'c')
#define TV_INDEX_THREADS TV_SECTION_TAG('t', 'h', 'r', 'd')
#define TV_INDEX_FRAMES TV_SECTION_TAG('f', 'r', 'a', 'm')
#define TV_INDEX_METADATA TV_SECTION_TAG('m', 'e', 't', 'a')
#define TV_INDEX_OFFSETS TV_SECTION_TAG('o', 'f', 'f', 's')
#define TV_INDEX_PATHS TV_SECTION_TAG('p', 'a', 't', 'h')
#define TV_INDEX_TRACKS TV_SECTION_TAG('t', 'r', 'c', 'k')
#define TV_INDEX_WAITS TV_SECTION_TAG('w', 'a', 'i', 't')
#define TV_INDEX_ROWS TV_SECTION_TAG('r', 'o', 'w', 's')

/* Numbered by the columns they belong to.  X(member, letters) */
#define TV_INDEX_COLUMNS(X)                                                                        \
    X(start, 'w', 's', 't', 'a')                                                                   \
    X(length, 'w', 'l', 'e', 'n')                                                                  \
    X(cpu_start, 'c', 's', 't', 'a')                                                               \
    X(cpu_length, 'c', 'l', 'e', 'n')                                                              \
    X(path, 'c', 'p', 't', 'h')                                                                    \
    X(flags, 'c', 'f', 'l', 'g')                                                                   \
    X(offset, 'c', 'o', 'f', 'f')                                                                  \
    X(offset_high, 'c', 'o', 'f', 'h')
#define TV_INDEX_BLOCKS TV_SECTION_TAG('c', 'b', 'l', 'k')
#define TV_INDEX_WIDE TV_SECTION_TAG('c', 'w', 'i', 'd')

/* X(table, letters) */
#define TV_INDEX_TABLES(X)                                                                         \
    X(instants, 'i', 'n', 's', 't')                                                                \
    X(counters, 'c', 'o', 'u', 'n')                                                                \
    X(series, 's', 'e', 'r', 'i')                                                                  \
    X(flows, 'f', 'l', 'o', 'w')                                                                   \
    X(objects, 'o', 'b', 'j', 'e')                                                                 \
    X(snapshots, 's', 'n', 'a', 'p')                                                               \
    X(samples, 's', 'a', 'm', 'p')                                                                 \
    X(memory_dumps, 'm', 'd', 'm', 'p')                                                            \
    X(memory_figures, 'm', 'f', 'i', 'g')                                                          \
    X(contexts, 'c', 'o', 'n', 't')                                                                \
    X(joins, 'j', 'o', 'i', 'n')                                                                   \
    X(clock_syncs, 's', 'y', 'n', 'c')                                                             \
    X(known_names, 'k', 'n', 'o', 'w')                                                             \
    X(stack_frames, 's', 't', 'f', 'r')                                                            \
    X(slice_extras, 's', 'l', 'e', 'x')                                                            \
    X(async_extras, 'a', 's', 'e', 'x')                                                            \
    X(wakeups, 'w', 'a', 'k', 'e')                                                                 \
    X(blockings, 'b', 'l', 'o', 'c')
#define TV_INDEX_OBJECT_KEYS TV_SECTION_TAG('o', 'k', 'e', 'y')
#define TV_INDEX_COUNTER_TIMES TV_SECTION_TAG('c', 'n', 't', 't')
#define TV_INDEX_COUNTER_OFFSETS TV_SECTION_TAG('c', 'n', 't', 'o')
#define TV_INDEX_COUNTER_VALUES TV_SECTION_TAG('c', 'n', 't', 'v')

/* What stands in struct tv_trace itself. */
struct tv_index_facts {
    int64_t origin, start, end;
    uint64_t slice_count, recorded_calls, unmatched_exits, open_calls;
    uint32_t max_depth, columns_count;
    uint32_t cpu_axis, is_subset;
};

enum tv_index_unit { TV_INDEX_NO_UNIT, TV_INDEX_NS, TV_INDEX_US, TV_INDEX_MS };

/* An input, and in numbers what it points to. */
struct tv_index_input {
    struct tv_input input; /* its pointers are NULL */
    uint32_t source;       /* TV_NONE: it is not read again */
    uint32_t format_end;   /* in the section of formats, where each stands behind the last */
    uint32_t unit;         /* enum tv_index_unit */
    uint32_t describes;    /* 1: its reader reads events again */
};

struct tv_index_source {
    uint64_t size;
    uint32_t inner; /* 1: its bytes are a section */
    uint32_t unused;
};

struct tv_index_diagnostic {
    uint64_t kind, count;
    uint32_t offset_count, unused;
    struct tv_diagnostic_places places;
};

/* What an index of this build says about its structs. */
uint64_t tv_index_layout(void);

/* A pointer into a section, for the structs of the model: nobody writes to a finished trace. */
static inline void *tv_index_lent(const void *elements)
{
    void *lent;
    memcpy(&lent, &elements, sizeof lent);
    return lent;
}

/* ---- sources.c ---- */

struct tv_index_inputs;
struct tv_index_lender;

/* Takes the inputs over, of which there may be NULL. */
struct tv_index_lender *tv_index_lender_new(const struct tv_index_inputs *inputs);

/* A source that is opened when somebody reads it; NULL: there is nobody who could. */
struct tv_source *tv_index_lender_source(struct tv_index_lender *lender, uint32_t number,
                                         uint64_t size, const char *name);

/* A source over a copy of the bytes. */
struct tv_source *tv_index_copied_source(struct tv_bytes bytes, const char *name);

/* Its maker holds it no more: it lives as long as its sources. */
void tv_index_lender_release(struct tv_index_lender *lender);

/* ---- check.c, check_tables.c, check_columns.c ---- */

/* Whether everything that is used as an index, a length or a number of ticks is one that can be
 * used.  Each part relies on those before it. */
const char *tv_index_check_head(const struct tv_trace *trace);
const char *tv_index_check_rows(const struct tv_trace *trace);
const char *tv_index_check_columns(const struct tv_trace *trace);
const char *tv_index_check_tables(const struct tv_trace *trace);

#endif
