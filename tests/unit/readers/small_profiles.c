/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small_profiles.c - Austin, callgrind, cProfile, strace and ninja: a file, and what it means as
 * text.
 *
 *     type NAME UNIT TOTAL
 *     function[:TYPE] NAME FILE:LINE self S inclusive I recursive R calls C
 *     call[:TYPE] NAME -> NAME calls C cost I
 *     sample[:TYPE] a;b WEIGHT               sorted by their text
 *     slice PID TID NAME START+LENGTH        nanoseconds
 *     instant TID NAME TIME
 *     ! diagnostic COUNT
 *
 * TYPE is the name of the value type, which the first one leaves out.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"
#include "model/builder/builder.h"
#include "profile_made.h"
#include "readers/reader.h"
#include "readers/readers.h"
#include "readers/text_lines.h"
#include "readers/v8/v8.h"
#include "unit.h"

#define MAX_LINES 64

struct small {
    const struct tv_trace *trace;
    struct tv_out out;
};

static const char *small_string(const struct small *small, uint32_t string)
{
    return (const char *)tv_trace_info_text(small->trace->head, string).data;
}

static const char *small_frame(const struct small *small, uint32_t frame)
{
    return small_string(small, small->trace->head->frames[frame].name);
}

/* Write the first word of a line about a value type. */
static void small_tell_kind(const struct small *small, struct tv_out *out, const char *kind,
                            uint32_t type)
{
    tv_out_text(out, kind);
    if (type != 0)
        tv_out_format(out, ":%s",
                      small_string(small, small->trace->tables.value_types.rows[type].name));
}

static void small_tell_types(struct small *small)
{
    const struct tv_tables *tables = &small->trace->tables;
    for (size_t i = 0; i < tables->value_types.count; i++) {
        const struct tv_value_type *type = &tables->value_types.rows[i];
        tv_out_format(&small->out, "type %s %s %lld\n", small_string(small, type->name),
                      small_string(small, type->unit), (long long)type->total);
    }
}

static void small_tell_costs(struct small *small)
{
    const struct tv_tables *tables = &small->trace->tables;
    for (size_t i = 0; i < tables->function_costs.count; i++) {
        const struct tv_function_cost *cost = &tables->function_costs.rows[i];
        const struct tv_frame *frame = &small->trace->head->frames[cost->frame];
        small_tell_kind(small, &small->out, "function", cost->type);
        tv_out_format(&small->out, " %s %s:%d self %lld inclusive %lld recursive %lld",
                      small_frame(small, cost->frame), small_string(small, frame->file),
                      frame->line, (long long)cost->self, (long long)cost->inclusive,
                      (long long)cost->with_recursion);
        tv_out_format(&small->out, " calls %llu\n", (unsigned long long)cost->calls);
    }
    for (size_t i = 0; i < tables->call_edges.count; i++) {
        const struct tv_call_edge *edge = &tables->call_edges.rows[i];
        small_tell_kind(small, &small->out, "call", edge->type);
        tv_out_format(&small->out, " %s -> %s calls %llu cost %lld\n",
                      small_frame(small, edge->caller), small_frame(small, edge->callee),
                      (unsigned long long)edge->calls, (long long)edge->cost);
    }
}

static void small_tell_path(struct small *small, struct tv_out *out, uint32_t path)
{
    uint32_t frames[16], depth = 0;
    for (; path != TV_ROOT_PATH && depth < 16; path = small->trace->paths.nodes[path].parent)
        frames[depth++] = small->trace->paths.nodes[path].frame;
    while (depth-- > 0)
        tv_out_format(out, "%s%s", small_frame(small, frames[depth]), depth > 0 ? ";" : "");
}

static int small_compare(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static void small_tell_samples(struct small *small)
{
    const struct tv_tables *tables = &small->trace->tables;
    char *lines[MAX_LINES];
    size_t count = 0;
    for (; count < tables->samples.count && count < MAX_LINES; count++) {
        const struct tv_sample *sample = &tables->samples.rows[count];
        struct tv_out line;
        tv_out_init_memory(&line);
        small_tell_kind(small, &line, "sample", sample->type);
        tv_out_char(&line, ' ');
        small_tell_path(small, &line, sample->path);
        tv_out_format(&line, " %lld\n", (long long)sample->weight);
        lines[count] = strndup((const char *)line.buffer, line.length);
        tv_out_release(&line);
    }
    qsort(lines, count, sizeof *lines, small_compare);
    for (size_t i = 0; i < count; i++) {
        tv_out_text(&small->out, lines[i]);
        free(lines[i]);
    }
}

static void small_tell_slices(struct small *small)
{
    const struct tv_trace *trace = small->trace;
    for (uint32_t row = 0; row < trace->row_count; row++)
        for (uint32_t i = 0; i < trace->rows[row].count; i++) {
            const struct tv_track *track = &trace->tracks[trace->rows[row].track];
            const struct tv_thread *thread = &trace->head->threads[track->thread];
            struct tv_slice slice = tv_slice_get(trace, row, i);
            tv_out_format(&small->out, "slice %llu %llu %s %lld+%lld\n",
                          (unsigned long long)trace->head->processes[thread->process].id,
                          (unsigned long long)thread->id,
                          small_frame(small, trace->paths.nodes[slice.path].frame),
                          (long long)tv_slice_start(trace, row, i),
                          (long long)(tv_slice_end(trace, row, i) - tv_slice_start(trace, row, i)));
        }
    for (size_t i = 0; i < trace->tables.instants.count; i++) {
        const struct tv_instant *instant = &trace->tables.instants.rows[i];
        tv_out_format(&small->out, "instant %llu %s %lld\n",
                      (unsigned long long)trace->head->threads[instant->of].id,
                      small_frame(small, instant->frame),
                      (long long)tv_trace_time(trace, instant->input, instant->time));
    }
}

static void small_tell_diagnostics(struct small *small)
{
    for (unsigned kind = 0; kind < TV_DIAGNOSTIC_COUNT; kind++) {
        uint64_t count = small->trace->head->diagnostics.kinds[kind].count;
        if (count > 0)
            tv_out_format(&small->out, "! %s %llu\n",
                          tv_diagnostic_name((enum tv_diagnostic_kind)kind),
                          (unsigned long long)count);
    }
}

/* Return the trace of some bytes, or NULL when they are refused. */
static struct tv_trace *small_read(struct tv_source *source)
{
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_read_options options = {.parts = 1};
    struct tv_error err;
    if (tv_readers_build(source, builder, &options, &err) == TV_OK)
        return tv_builder_finish(builder);
    tv_builder_free(builder);
    return NULL;
}

/* Every beginning of the bytes, and each byte changed, ends in a trace or an error. */
static void small_damage(struct tv_bytes bytes)
{
    static const uint8_t changes[] = {0xff, 0x80, 0x20, 0x01};
    uint8_t *copy = tv_alloc(bytes.length, 1);
    memcpy(copy, bytes.data, bytes.length);
    for (size_t i = 0; i < bytes.length; i++)
        for (size_t way = 0; way <= TV_COUNT(changes); way++) {
            bool cut = way == TV_COUNT(changes);
            copy[i] = cut ? bytes.data[i] : bytes.data[i] ^ changes[way];
            struct tv_bytes damaged = {copy, cut ? i : bytes.length};
            struct tv_source *source = tv_source_from_memory(damaged, "damaged");
            struct tv_trace *trace = small_read(source);
            if (trace)
                tv_trace_free(trace);
            tv_source_free(source);
        }
    tv_free(copy);
}

static void small_assert(struct tv_bytes bytes, const char *expected)
{
    struct tv_source *source = tv_source_from_memory(bytes, "test");
    struct tv_trace *trace = small_read(source);
    struct small small = {.trace = trace};
    assert_non_null(trace);
    tv_out_init_memory(&small.out);
    small_tell_types(&small);
    small_tell_costs(&small);
    small_tell_samples(&small);
    small_tell_slices(&small);
    small_tell_diagnostics(&small);
    tv_out_char(&small.out, '\0');
    assert_string_equal((const char *)small.out.buffer, expected);
    tv_out_release(&small.out);
    tv_trace_free(trace);
    tv_source_free(source);
    small_damage(bytes);
}

#define SMALL_ASSERT(literal, expected) small_assert(TV_BYTES(literal), expected)

/* ---- callgrind ---- */

/* A call of a function by itself counts again and again; its inclusive cost leaves that out. */
static void callgrind_has_exact_costs(void **context)
{
    (void)context;
    SMALL_ASSERT("# callgrind format\nevents: Ir Dr\n\n"
                 "fl=(1) a.c\nfn=(1) main\n1 10 1\ncfn=(2) work\ncalls=2 5\n1 60 6\n"
                 "fn=(2)\n5 40\n+1 20 6\ncfn=(2)\ncalls=3 5\n* 500 50\n",
                 "type Ir count 70\ntype Dr count 7\n"
                 "function main a.c:0 self 10 inclusive 70 recursive 70 calls 0\n"
                 "function work a.c:0 self 60 inclusive 60 recursive 560 calls 5\n"
                 "function:Dr main a.c:0 self 1 inclusive 7 recursive 7 calls 0\n"
                 "function:Dr work a.c:0 self 6 inclusive 6 recursive 56 calls 5\n"
                 "call main -> work calls 2 cost 60\n"
                 "call work -> work calls 3 cost 500\n"
                 "call:Dr main -> work calls 2 cost 6\n"
                 "call:Dr work -> work calls 3 cost 50\n"
                 "sample main 10\nsample main;work 60\n"
                 "sample:Dr main 1\nsample:Dr main;work 6\n"
                 "! estimated-paths 1\n");
}

/* a costs 40, of which 8 its own: x called it for 30 and y for 10, so x gets 6 of the 8. */
static void callgrind_shares_costs_among_callers(void **context)
{
    (void)context;
    SMALL_ASSERT(
        "events: Ir\nfn=x\n1 1\ncfn=a\ncalls=1 1\n1 30\nfn=y\n1 2\ncfn=a\ncalls=1 1\n1 10\n"
        "fn=a\n1 8\ncfn=b\ncalls=1 1\n1 32\nfn=b\n1 32\n",
        "type Ir count 43\n"
        "function x :0 self 1 inclusive 31 recursive 31 calls 0\n"
        "function a :0 self 8 inclusive 40 recursive 40 calls 2\n"
        "function y :0 self 2 inclusive 12 recursive 12 calls 0\n"
        "function b :0 self 32 inclusive 32 recursive 32 calls 1\n"
        "call x -> a calls 1 cost 30\n"
        "call a -> b calls 1 cost 32\n"
        "call y -> a calls 1 cost 10\n"
        "sample x 1\nsample x;a 6\nsample x;a;b 24\n"
        "sample y 2\nsample y;a 2\nsample y;a;b 8\n"
        "! estimated-paths 1\n");
}

/* Two functions that call each other: each comes once a path, and neither cost is lost. */
static void callgrind_cuts_cycles(void **context)
{
    (void)context;
    SMALL_ASSERT("events: Ir\nfn=main\ncfn=odd\ncalls=1 1\n1 60\nfn=odd\n1 20\ncfn=even\n"
                 "calls=9 1\n1 500\nfn=even\n1 40\ncfn=odd\ncalls=8 1\n1 480\n",
                 "type Ir count 60\n"
                 "function main :0 self 0 inclusive 60 recursive 60 calls 0\n"
                 "function odd :0 self 20 inclusive 20 recursive 520 calls 9\n"
                 "function even :0 self 40 inclusive 40 recursive 520 calls 9\n"
                 "call main -> odd calls 1 cost 60\n"
                 "call odd -> even calls 9 cost 500\n"
                 "call even -> odd calls 8 cost 480\n"
                 "sample main;odd 20\nsample main;odd;even 40\n"
                 "! estimated-paths 1\n");
}

/* Two costs of 7 * 10^18 do not fit into 63 bits together; the weight of a sample ends at 2^61. */
static void callgrind_sums_saturate(void **context)
{
    (void)context;
    SMALL_ASSERT("events: Ir\nfn=a\n1 7000000000000000000\n2 7000000000000000000\n",
                 "type Ir count 9223372036854775807\n"
                 "function a :0 self 9223372036854775807 inclusive 9223372036854775807 "
                 "recursive 9223372036854775807 calls 0\n"
                 "sample a 2305843009213693952\n! time-saturated 1\n");
}

/* fi= and fe= change the file of lines, not of the function; the callee's file and object are for
 * one call only; lines of jumps have no costs; a second part adds; units stand in names. */
static void callgrind_has_many_kinds_of_lines(void **context)
{
    (void)context;
    SMALL_ASSERT("version: 1\ncreator: xdebug\npositions: instr line\nevents: Time_(10ns)\n"
                 "ob=app\nfl=a.c\nfn=(below main)\n0x10 1 5\nfi=a.h\n+4 2 0x10\nfe=a.c\n"
                 "jcnd=1/2 +4 9\n+4 9\ncob=lib\ncfi=b.c\ncfn=f\ncalls=1 0x20 1\n* * 7\n"
                 "cfn=f\ncalls=1 0 0\n* * 1\ntotals: 21\npart: 2\nevents: Time_(10ns)\n"
                 "fn=(below main)\n0x10 1 100\nbad line\n",
                 "type Time_(10ns) 10ns 121\n"
                 "function (below main) a.c:0 self 121 inclusive 129 recursive 129 calls 0\n"
                 "call (below main) -> f calls 1 cost 7\n"
                 "call (below main) -> f calls 1 cost 1\n"
                 "sample (below main) 121\nsample (below main);f 1\nsample (below main);f 7\n"
                 "! bad-line 1\n! estimated-paths 1\n");
}

/* Valgrind ends each part with "totals:", which other programs do not write: a first part without
 * them, and a last one, were cut. */
static void callgrind_knows_cut_parts(void **context)
{
    (void)context;
#define CALLGRIND_PART "events: Ir\nsummary: 7\n\nfn=f\n1 7\n"
    SMALL_ASSERT("creator: callgrind-3.19.0\n" CALLGRIND_PART "totals: 7\n",
                 "type Ir count 7\nfunction f :0 self 7 inclusive 7 recursive 7 calls 0\n"
                 "sample f 7\n");
    SMALL_ASSERT("creator: callgrind-3.19.0\n" CALLGRIND_PART CALLGRIND_PART,
                 "type Ir count 14\nfunction f :0 self 14 inclusive 14 recursive 14 calls 0\n"
                 "sample f 14\n! truncated 2\n");
    SMALL_ASSERT("creator: pyprof2calltree\n" CALLGRIND_PART,
                 "type Ir count 7\nfunction f :0 self 7 inclusive 7 recursive 7 calls 0\n"
                 "sample f 7\n");
#undef CALLGRIND_PART
}

/* ---- cProfile ---- */

#define QUARTER "g\0\0\0\0\0\0\xd0\x3f"
#define HALF "g\0\0\0\0\0\0\xe0\x3f"
#define THREE_QUARTERS "g\0\0\0\0\0\0\xe8\x3f"
#define INTEGER(n) "i" n "\0\0\0"

/* The first key is object 0, and its file object 1; both come again. */
static void pstats_has_functions_and_callers(void **context)
{
    (void)context;
    SMALL_ASSERT(
        "{\xa9\3\xda\4m.py" INTEGER("\3") "z\1f)\5" INTEGER("\1") INTEGER("\1")
            QUARTER THREE_QUARTERS "{0"
                                   ")\3r\1\0\0\0" INTEGER("\7") "z\1g)\5" INTEGER("\2")
                                       INTEGER("\3") HALF HALF "{r\0\0\0\0)\4" INTEGER("\3")
                                           INTEGER("\2") HALF HALF "00",
        "type time nanoseconds 750000000\n"
        "function f m.py:3 self 250000000 inclusive 750000000 recursive 750000000 calls 1\n"
        "function g m.py:7 self 500000000 inclusive 500000000 recursive 500000000 calls 3\n"
        "call f -> g calls 3 cost 500000000\n"
        "sample f 250000000\nsample f;g 500000000\n"
        "! estimated-paths 1\n");
}

/* A file of one function, "f" at a line, with calls and its own and its cumulative time, which
 * are marshalled in some way. */
#define PSTATS_OF(line, calls, own, cumulative)                                                    \
    "{)\3z\4m.py" line "z\1f)\5" INTEGER("\1") calls own cumulative "{00"
#define ONE_SECOND "g\0\0\0\0\0\0\xf0\x3f"
#define PSTATS_TOLD(line, calls)                                                                   \
    "type time nanoseconds 1000000000\n"                                                           \
    "function f m.py:" line                                                                        \
    " self 1000000000 inclusive 1000000000 recursive 1000000000 calls " calls                      \
    "\nsample f 1000000000\n"

/* Python marshals integers above 31 bits as digits of 15 bits, strings in seven ways, and tuples
 * in two. */
static void pstats_has_values_of_any_type(void **context)
{
    (void)context;
    const char *all = PSTATS_TOLD("3", "7");
    SMALL_ASSERT(PSTATS_OF("l\1\0\0\0\3\0", INTEGER("\7"), ONE_SECOND, ONE_SECOND), all);
    SMALL_ASSERT(PSTATS_OF(INTEGER("\3"), INTEGER("\7"), INTEGER("\1"), INTEGER("\1")), all);
    SMALL_ASSERT(PSTATS_OF(INTEGER("\3"), "l\3\0\0\0\0\0\0\0\2\0", ONE_SECOND, ONE_SECOND),
                 PSTATS_TOLD("3", "2147483648"));
    SMALL_ASSERT(PSTATS_OF(INTEGER("\3"), "l\4\0\0\0\xff\x7f\xff\x7f\xff\x7f\xff\x7f", ONE_SECOND,
                           ONE_SECOND),
                 PSTATS_TOLD("3", "1152921504606846975"));
    /* A number that cannot be of calls, or a line, is none. */
    SMALL_ASSERT(PSTATS_OF(INTEGER("\3"), "l\xff\xff\xff\xff\5\0", ONE_SECOND, ONE_SECOND),
                 PSTATS_TOLD("3", "0"));
    SMALL_ASSERT(PSTATS_OF(INTEGER("\3"), "N", ONE_SECOND, ONE_SECOND), PSTATS_TOLD("3", "0"));
    SMALL_ASSERT(PSTATS_OF("T", INTEGER("\7"), ONE_SECOND, ONE_SECOND), PSTATS_TOLD("0", "7"));
    SMALL_ASSERT(PSTATS_OF("l\3\0\0\0\0\0\0\0\2\0", INTEGER("\7"), ONE_SECOND, ONE_SECOND),
                 PSTATS_TOLD("0", "7"));
    SMALL_ASSERT("{(\3\0\0\0s\4\0\0\0m.pyi\3\0\0\0u\1\0\0\0f(\5\0\0\0" INTEGER("\1") INTEGER("\7")
                     ONE_SECOND ONE_SECOND "{00",
                 all);
    SMALL_ASSERT("{)\3Z\4m.py" INTEGER("\3") "A\1\0\0\0f)\5" INTEGER("\1") INTEGER("\7")
                     ONE_SECOND ONE_SECOND "{00",
                 all);
    SMALL_ASSERT("{)\3a\4\0\0\0m.py" INTEGER("\3") "t\1\0\0\0f)\5" INTEGER("\1") INTEGER("\7")
                     ONE_SECOND ONE_SECOND "{00",
                 all);
}

/* The functions before the damage stay. */
static void pstats_says_what_is_damaged(void **context)
{
    (void)context;
#define WHOLE                                                                                      \
    "{)\3z\4m.py" INTEGER("\3") "z\1f)\5" INTEGER("\1") INTEGER("\7") ONE_SECOND ONE_SECOND "{0"
#define KEPT(diagnostic) PSTATS_TOLD("3", "7") "! " diagnostic " 1\n"
    SMALL_ASSERT(WHOLE "0x", KEPT("trailing-bytes"));
    SMALL_ASSERT(WHOLE, KEPT("truncated"));
    SMALL_ASSERT(WHOLE ")\2z\1m", KEPT("bad-event"));           /* a tuple of two */
    SMALL_ASSERT(WHOLE "i\1\0\0\0......", KEPT("bad-event"));   /* no tuple */
    SMALL_ASSERT(WHOLE ")\3x......", KEPT("bad-event"));        /* an unknown type */
    SMALL_ASSERT(WHOLE ")\3r\x63\0\0\0...", KEPT("bad-event")); /* a value that is not there */
    /* An integer of 75 bits, in a function that is whole otherwise. */
    SMALL_ASSERT(WHOLE ")\3z\1ml\5\0\0\0\1\0\1\0\1\0\1\0\1\0z\1g)\5" INTEGER("\1") INTEGER("\7")
                     ONE_SECOND ONE_SECOND "{00",
                 KEPT("bad-event"));
#undef KEPT
#undef WHOLE
}

/* ---- strace ---- */

static void strace_joins_interrupted_calls(void **context)
{
    (void)context;
    SMALL_ASSERT("1 1700000000.000000 read(0,  <unfinished ...>\n"
                 "2 1700000000.000010 getpid()   = 2 <0.000004>\n"
                 "1 1700000000.000100 <... read resumed>\"x\", 1) = 1 <0.000095>\n"
                 "2 1700000000.000200 --- SIGTERM {si_signo=SIGTERM} ---\n"
                 "2 1700000000.000300 +++ killed by SIGTERM +++\n"
                 "1 1700000000.000400 pause( <unfinished ...>\n",
                 "slice 1 1 read 0+95000\nslice 1 1 pause 400000+0\n"
                 "slice 1 2 getpid 10000+4000\n"
                 "instant 2 SIGTERM 200000\ninstant 2 killed by SIGTERM 300000\n"
                 "! open-call 1\n");
}

/* -r counts from the line before, -tt from midnight. */
static void strace_has_times_of_several_kinds(void **context)
{
    (void)context;
    SMALL_ASSERT(
        "     0.000000 brk(NULL) = 0x1 <0.000007>\n     0.000030 brk(NULL) = 0x1 <0.000002>\n"
        "     0.000010 close(3) = 0 <0.000001>\n",
        "slice 0 0 brk 0+7000\nslice 0 0 brk 30000+2000\nslice 0 0 close 40000+1000\n");
    SMALL_ASSERT("[pid 7] 23:59:59.999990 brk(NULL) = 0x1 <0.000007>\n"
                 "[pid 7] 00:00:00.000010 close(3) = -1 EBADF (Bad file descriptor) <0.000001>\n",
                 "slice 7 7 brk 0+7000\nslice 7 7 close 20000+1000\n");
}

/* ltrace's calls have the module that calls in their names, and its ends have another form. */
static void ltrace_is_not_called_strace(void **context)
{
    (void)context;
    SMALL_ASSERT("7 1700000000.000000 a.out->strlen(\"x\") = 1 <0.000030>\n"
                 "7 1700000000.000100 libc.so.6->_ZN1AC1Ev(1) = 2 <0.000004>\n"
                 "7 1700000000.000200 +++ exited (status 0) +++\n",
                 "slice 7 7 a.out->strlen 0+30000\n"
                 "slice 7 7 libc.so.6->_ZN1AC1Ev 100000+4000\n"
                 "instant 7 exited (status 0) 200000\n");
    assert_true(tv_text_is_ltrace(TV_BYTES("7 1.0 a.out->free(0x5)")));
    assert_true(tv_text_is_ltrace(TV_BYTES("brk(NULL) = 1\n+++ exited (status 0) +++")));
    assert_false(
        tv_text_is_ltrace(TV_BYTES("write(1, \"a->b(c)\", 7) = 7\n7 2.0 +++ exited with 0 +++\n")));
}

/* ---- ninja ---- */

/* a and b are outputs of one command.  The last line ends before the one before: another run. */
static void ninja_has_lanes_and_runs(void **context)
{
    (void)context;
    SMALL_ASSERT("# ninja log v5\n"
                 "10\t20\t1\ta\tcafe\n10\t20\t1\tb\tcafe\n0\t30\t1\tc\tbeef\n30\t40\t1\td\tf00d\n"
                 "0\t5\t1\tc\tbeef\n7\tx\t1\te\tbad\n",
                 "slice 1 1 c 0+30000000\nslice 1 1 d 30000000+10000000\n"
                 "slice 1 2 a (+1) 10000000+10000000\n"
                 "slice 2 1 c 40000000+5000000\n"
                 "! bad-line 1\n");
}

/* ---- Austin ---- */

/* Samples of two threads, of time; the same function at two lines, and one without a line. */
static void austin_has_time_of_threads(void **context)
{
    (void)context;
    assert_samples(&tv_reader_austin,
                   TV_BYTES("# austin: 3.7.0\n# interval: 100\n# mode: cpu\n\n"
                            "P42;Tmain;app.py:<module>:12;app.py:load:30 100\n"
                            "P42;Tmain;app.py:<module>:12;app.py:load:31 20\n"
                            "P42;Tother;app.py:<module>:12;:GC: 50\n# duration: 383\n"),
                   "cpu 100 main < load:30 < <module>:12\n"
                   "cpu 50 other < :GC: < <module>:12\n"
                   "cpu 20 main < load:31 < <module>:12\n");
}

/* Three numbers: time, whether the thread was idle, and memory that was taken or given back.  Lines
 * may be frames of their own (-a). */
static void austin_has_all_numbers(void **context)
{
    (void)context;
    assert_samples(&tv_reader_austin,
                   TV_BYTES("P42;T0:main;app.py:<module>;L12;C:\\a.py:load;L30 100,0,-4096\n"
                            "P42;T0:main;app.py:<module>;L13 10,1,8192\n"),
                   "wall 100 main < load:30 < <module>:12\n"
                   "cpu 100 main < load:30 < <module>:12\n"
                   "memory_dealloc 4096 main < load:30 < <module>:12\n"
                   "memory_alloc 8192 main < <module>:13\n"
                   "wall 10 main < <module>:13\n");
}

static void austin_survives_damage(void **context)
{
    (void)context;
    assert_damage_survived(&tv_reader_austin,
                           TV_BYTES("# austin: 3.7.0\n# mode: memory\nP1;T0x7;a:b:c:5;L6;d 7\n"
                                    "P1;T;a 5\nP;T1 5\nP1;T1;;x -9\nP1;T1 1,2\nP1;T1 1,2,3"));
}

/* ---- Collapsed stacks ---- */

/* A suffix is the frame's kind and not part of its name; other brackets are. */
static void collapsed_frames_have_kinds(void **context)
{
    static const struct {
        const char *name;
        uint8_t kind;
    } expected[] = {{"main", TV_FRAME_UNKNOWN},
                    {"read", TV_FRAME_KERNEL},
                    {"run", TV_FRAME_JIT},
                    {"get", TV_FRAME_INLINED},
                    {"a_[x]", TV_FRAME_UNKNOWN}};
    (void)context;
    struct tv_source *source = tv_source_from_memory(
        TV_BYTES("main;read_[k] 1\nmain;run_[j];get_[i] 2\nmain;a_[x] 3\nmain;read 4\n"), "test");
    struct tv_trace *trace = small_read(source);
    assert_non_null(trace);
    assert_int_equal(trace->head->frame_count, TV_COUNT(expected));
    struct small small = {.trace = trace};
    for (uint32_t i = 0; i < TV_COUNT(expected); i++) {
        assert_string_equal(small_frame(&small, i), expected[i].name);
        assert_int_equal(trace->head->frames[i].kind, expected[i].kind);
    }
    tv_trace_free(trace);
    tv_source_free(source);
}

/* A place of py-spy is a file and a line; parentheses of other tools are part of the name. */
static void collapsed_frames_have_places(void **context)
{
    static const struct {
        const char *name, *file;
    } expected[] = {
        {"main", "app.py"}, {"<module> f", "a b.py"}, {"load", "app.py"},     {"f(int)", ""},
        {"g (x)", ""},      {"h (a:b)", ""},          {"operator() (12)", ""}};
    (void)context;
    struct tv_bytes text =
        TV_BYTES("main (app.py:12);<module> f (a b.py:7);load (app.py);f(int);g (x);h (a:b);"
                 "operator() (12) 3\nmain (app.py:14) 4\n");
    struct tv_source *source = tv_source_from_memory(text, "test");
    struct tv_trace *trace = small_read(source);
    assert_non_null(trace);
    struct small small = {.trace = trace};
    for (uint32_t i = 0, k = 0; i < trace->head->frame_count; i++) {
        if (trace->head->frames[i].with_line)
            continue;
        assert_true(k < TV_COUNT(expected));
        assert_string_equal(small_frame(&small, i), expected[k].name);
        assert_true(tv_bytes_equal(tv_trace_info_text(trace->head, trace->head->frames[i].file),
                                   tv_bytes_of(expected[k++].file)));
    }
    tv_trace_free(trace);
    tv_source_free(source);
    assert_samples(&tv_reader_collapsed,
                   TV_BYTES("main (app.py:12);load (app.py:3) 3\nmain (app.py:14);load (app.py) 4\n"
                            "main (app.py:14);load (app.py:5) 1\n"),
                   "samples 3 all < load:3 < main:12\nsamples 4 all < load < main:14\n"
                   "samples 1 all < load:5 < main:14\n");
}

/* ---- V8 ---- */

/* Three of the four samples of f have lines, which count from 1; g has none. */
static void cpuprofiles_have_lines_of_ticks(void **context)
{
    (void)context;
    assert_samples(
        &tv_reader_cpuprofile,
        TV_BYTES(
            "{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"(root)\"},\"children\":[2]},"
            "{\"id\":2,\"callFrame\":{\"functionName\":\"f\"},\"hitCount\":4,\"children\":[3],"
            "\"positionTicks\":[{\"line\":9,\"ticks\":1},{\"line\":0,\"ticks\":5},"
            "{\"line\":12,\"ticks\":2}]},{\"id\":3,\"callFrame\":{\"functionName\":\"g\"}}],"
            "\"startTime\":0,\"endTime\":6,\"samples\":[2,2,3,2,2],"
            "\"timeDeltas\":[1,1,1,1,1]}"),
        "samples 1 V8 at 1000 < f:9\ncpu 1000 V8 at 1000 < f:9\n"
        "samples 1 V8 at 2000 < f:12\ncpu 1000 V8 at 2000 < f:12\n"
        "samples 1 V8 at 3000 < g < f\ncpu 1000 V8 at 3000 < g < f\n"
        "samples 1 V8 at 4000 < f:12\ncpu 1000 V8 at 4000 < f:12\n"
        "samples 1 V8 at 5000 < f\ncpu 1000 V8 at 5000 < f\n");
}

/* ---- simpleperf ---- */

/* Thread 7: on at 100, cpu-clock in run at 110, sched_switch in wait at 120, off at 121, on at 160,
 * sched_switch in wait at 170 and in run at 200; the functions, the thread, the events. */
#define OFF_CPU_REPORT                                                                             \
    "SIMPLEPERF\001\000"                                                                           \
    "\010\000\000\000\062\006\010\001\020d\030\007"                                                \
    "\022\000\000\000\012\020\010n\020\007\032\006\010\001\020\000\030\000 \012(\000"              \
    "\022\000\000\000\012\020\010x\020\007\032\006\010\001\020\000\030\001 \001(\001"              \
    "\010\000\000\000\062\006\010\000\020y\030\007"                                                \
    "\011\000\000\000\062\007\010\001\020\240\001\030\007"                                         \
    "\023\000\000\000\012\021\010\252\001\020\007\032\006\010\001\020\000\030\001 \001(\001"       \
    "\023\000\000\000\012\021\010\310\001\020\007\032\006\010\001\020\000\030\000 \001(\001"       \
    "\023\000\000\000\032\021\010\000\022\002/a\032\003run\032\004wait"                            \
    "\013\000\000\000\042\011\010\007\020\007\032\003app"                                          \
    "#\000\000\000*!\012\011cpu-clock\012\022sched:sched_switch\060\001"                           \
    "\000\000\000\000"

/* Away from 120 to the switch at 160, and from 170 to the sample at 200; nobody knows until when
 * from 200 on. It runs from 100 to 121, and from 160 to the end. */
static void simpleperf_has_times_off_the_processor(void **context)
{
    (void)context;
    assert_samples(&tv_reader_simpleperf, TV_BYTES(OFF_CPU_REPORT),
                   "cpu-clock 10 app at 110 < run\n"
                   "sched:sched_switch 1 app at 120 < wait\noff-CPU 40 app at 120 < wait\n"
                   "sched:sched_switch 1 app at 170 < wait\noff-CPU 30 app at 170 < wait\n"
                   "sched:sched_switch 1 app at 200 < run\n");
    assert_damage_survived(&tv_reader_simpleperf, TV_BYTES(OFF_CPU_REPORT));
    struct tv_source *source = tv_source_from_memory(TV_BYTES(OFF_CPU_REPORT), "test");
    struct tv_trace *trace = small_read(source);
    assert_int_equal(trace->track_count, 1);
    assert_int_equal(trace->tracks[0].kind, TV_TRACK_STATES);
    uint32_t row = trace->tracks[0].first_row;
    assert_int_equal(trace->rows[row].count, 2);
    assert_int_equal(tv_slice_start(trace, row, 0), 0);
    assert_int_equal(tv_slice_end(trace, row, 0), 21);
    assert_int_equal(tv_slice_start(trace, row, 1), 60);
    assert_int_equal(tv_slice_end(trace, row, 1), 100);
    tv_trace_free(trace);
    tv_source_free(source);
}

UNIT_TESTS(
    small_profiles, cmocka_unit_test(austin_has_time_of_threads),
    cmocka_unit_test(austin_has_all_numbers), cmocka_unit_test(austin_survives_damage),
    cmocka_unit_test(collapsed_frames_have_kinds), cmocka_unit_test(collapsed_frames_have_places),
    cmocka_unit_test(cpuprofiles_have_lines_of_ticks),
    cmocka_unit_test(simpleperf_has_times_off_the_processor),
    cmocka_unit_test(callgrind_has_exact_costs),
    cmocka_unit_test(callgrind_shares_costs_among_callers), cmocka_unit_test(callgrind_cuts_cycles),
    cmocka_unit_test(callgrind_sums_saturate), cmocka_unit_test(callgrind_has_many_kinds_of_lines),
    cmocka_unit_test(callgrind_knows_cut_parts), cmocka_unit_test(pstats_has_functions_and_callers),
    cmocka_unit_test(pstats_has_values_of_any_type), cmocka_unit_test(pstats_says_what_is_damaged),
    cmocka_unit_test(strace_joins_interrupted_calls),
    cmocka_unit_test(strace_has_times_of_several_kinds),
    cmocka_unit_test(ltrace_is_not_called_strace), cmocka_unit_test(ninja_has_lanes_and_runs));
