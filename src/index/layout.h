/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - the sections of an index, and helpers of the files of this module, which alone use it.
 *
 * docs/trace-index.md describes the sections in words.
 */
#ifndef TV_INDEX_LAYOUT_H
#define TV_INDEX_LAYOUT_H

#include <string.h>

#include "base/sections.h"
#include "model/trace.h"

/* Increase this when the meaning of a section changes but its size does not. */
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

/* One section per set of columns, numbered.  X(member, letters) */
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
    X(value_types, 'v', 't', 'y', 'p')                                                             \
    X(samples, 's', 'a', 'm', 'p')                                                                 \
    X(event_types, 'e', 't', 'y', 'p')                                                             \
    X(function_costs, 'f', 'n', 'c', 'o')                                                          \
    X(call_edges, 'c', 'e', 'd', 'g')                                                              \
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
    X(blockings, 'b', 'l', 'o', 'c')                                                               \
    X(task_facts, 't', 'f', 'c', 't')
#define TV_INDEX_OBJECT_KEYS TV_SECTION_TAG('o', 'k', 'e', 'y')
#define TV_INDEX_COUNTER_TIMES TV_SECTION_TAG('c', 'n', 't', 't')
#define TV_INDEX_COUNTER_OFFSETS TV_SECTION_TAG('c', 'n', 't', 'o')
#define TV_INDEX_COUNTER_VALUES TV_SECTION_TAG('c', 'n', 't', 'v')

/* The scalar members of struct tv_trace. */
struct tv_index_facts {
    int64_t origin, start, end;
    uint64_t slice_count, recorded_calls, unmatched_exits, open_calls;
    uint32_t max_depth, columns_count;
    uint32_t cpu_axis, is_subset;
};

enum tv_index_unit { TV_INDEX_NO_UNIT, TV_INDEX_NS, TV_INDEX_US, TV_INDEX_MS };

/* An input; numbers replace its pointers. */
struct tv_index_input {
    struct tv_input input; /* the pointers are NULL */
    uint32_t source;       /* TV_NONE: it cannot be read again */
    uint32_t format_end;   /* end of its format in the section of formats */
    uint32_t unit;         /* enum tv_index_unit */
    uint32_t describes;    /* 1: its reader can read events again */
};

struct tv_index_source {
    uint64_t size;
    uint32_t inner; /* 1: a section holds its bytes */
    uint32_t unused;
};

struct tv_index_diagnostic {
    uint64_t kind, count;
    uint32_t offset_count, unused;
    struct tv_diagnostic_places places;
};

/* Return a number that depends on the size of every struct in an index. */
uint64_t tv_index_layout(void);

/* Return a pointer into a section for the structs of the model, which are not const; nobody writes
 * to a finished trace. */
static inline void *tv_index_lent(const void *elements)
{
    void *lent;
    memcpy(&lent, &elements, sizeof lent);
    return lent;
}

/* ---- sources.c ---- */

struct tv_index_inputs;
struct tv_index_lender;

/* Create a lender of sources and take `inputs` over, which may be NULL. */
struct tv_index_lender *tv_index_lender_new(const struct tv_index_inputs *inputs);

/* Return a source that opens when it is first read, or NULL without inputs. */
struct tv_source *tv_index_lender_source(struct tv_index_lender *lender, uint32_t number,
                                         uint64_t size, const char *name);

/* Return a source over a copy of the bytes. */
struct tv_source *tv_index_copied_source(struct tv_bytes bytes, const char *name);

/* Release the creator's reference; the lender lives as long as its sources. */
void tv_index_lender_release(struct tv_index_lender *lender);

/* ---- check.c, check_columns.c ---- */

/* Check that everything used as an index, a length or a number of ticks is valid; return NULL or
 * the name of the invalid part.  Each check relies on those before it, in this order. */
const char *tv_index_check_head(const struct tv_trace *trace);
const char *tv_index_check_rows(const struct tv_trace *trace);
const char *tv_index_check_columns(const struct tv_trace *trace);
const char *tv_index_check_tables(const struct tv_trace *trace);

/*
 * Predicates of the checks.
 */

/* Maximum distance of a time from 0 on the axis, ns: differences of two times fit 64 bits. */
#define TV_INDEX_TIME_MAX ((int64_t)1 << 61)

/* Larger than the sum of two 32-bit lengths in ticks of any input. */
#define TV_INDEX_ROOM ((int64_t)1 << 44)
#define TV_INDEX_TICK_MAX 1000

static inline bool tv_index_is_time(int64_t time)
{
    return time >= -TV_INDEX_TIME_MAX && time <= TV_INDEX_TIME_MAX;
}

/* Return whether a time of an input, which may count from a distant epoch, is valid on the axis. */
static inline bool tv_index_is_on_axis(const struct tv_trace *trace, uint32_t input, int64_t time)
{
    int64_t offset = trace->offset[input];
    if (time > INT64_MAX - TV_INDEX_ROOM || time < INT64_MIN + TV_INDEX_ROOM)
        return false;
    if (offset > 0 ? time > INT64_MAX - offset : time < INT64_MIN - offset)
        return false;
    return tv_index_is_time(time + offset);
}

/* As above, for ticks of the input. */
static inline bool tv_index_is_tick_on_axis(const struct tv_trace *trace, uint32_t input,
                                            int64_t ticks)
{
    int64_t tick = trace->head->inputs[input].tick_ns;
    return ticks <= INT64_MAX / tick && ticks >= INT64_MIN / tick &&
           tv_index_is_on_axis(trace, input, ticks * tick);
}

/* Return whether a length, or a time since the input's start, in ticks of `tick` ns is valid. */
static inline bool tv_index_are_ticks(int64_t ticks, int64_t tick)
{
    return ticks >= -TV_INDEX_TIME_MAX / tick && ticks <= TV_INDEX_TIME_MAX / tick;
}

/* Return whether the value is an index below `count`, or none. */
static inline bool tv_index_is_of(uint32_t index, uint64_t count)
{
    return index == TV_NONE || index < count;
}

/* Return whether [first, first + count) is within `all` elements. */
static inline bool tv_index_is_range(uint64_t first, uint64_t count, uint64_t all)
{
    return first <= all && count <= all - first;
}

/* Return whether the byte is a valid bool. */
static inline bool tv_index_is_flag(const bool *flag)
{
    uint8_t byte;
    memcpy(&byte, flag, sizeof byte);
    return byte <= 1;
}

static inline uint32_t tv_index_strings(const struct tv_trace *trace)
{
    return tv_interner_count(trace->head->strings);
}

#endif
