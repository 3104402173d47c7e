/* SPDX-License-Identifier: Apache-2.0 */
/* ftrace text as a whole, read in one chunk and in several. */
#include <string.h>

#include "base/bytes.h"
#include "base/out.h"
#include "ft_made.h"
#include "model/builder/builder.h"
#include "readers/ftrace/ftrace.h"
#include "unit.h"

#define SWITCH(time, cpu, from, from_tid, state, to, to_tid)                                       \
    from "-" from_tid " [00" cpu "] d... " time ": sched_switch: prev_comm=" from                  \
         " prev_pid=" from_tid " prev_prio=120 prev_state=" state " ==> next_comm=" to             \
         " next_pid=" to_tid " next_prio=120\n"

/* ftrace.md section 5: a wake-up splits the gap; the last running slice is kept. */
static void knows_who_ran(void **context)
{
    (void)context;
    means(SWITCH("1.000000", "0", "swapper", "0", "R", "a b", "7") SWITCH(
              "1.000010", "0", "a b", "7", "S", "swapper",
              "0") "c-8 [001] d... 1.000015: sched_wakeup: comm=a b pid=7 prio=120 "
                   "target_cpu=000\n" SWITCH("1.000020", "0", "swapper", "0", "R", "a b", "7")
                       SWITCH("1.000024", "0", "a b", "7", "R+", "c",
                              "8") "c-8 [000] .... 1.000030: unknown_event: x=1\n",
          "cpu CPU 0\n  a b 0+10 a b 20+4 c 24+6 open\n"
          "states a b\n  Running 0+10 Sleeping 10+5 Runnable 15+5 Running 20+4"
          " Runnable (preempted) 24+6 open\n"
          "states c\n  Running 24+6 open\n"
          "instant unknown_event of c 30\n"
          "woken a b 15 by c\n");
}

static void knows_why_a_thread_was_blocked(void **context)
{
    (void)context;
    means(SWITCH("1.000000", "0", "swapper", "0", "R", "a", "7")
              SWITCH("1.000010", "0", "a", "7", "D", "swapper",
                     "0") "<idle>-0 [000] d... 1.000012: sched_blocked_reason: pid=7 iowait=1 "
                          "caller=f+0x1/0x2\n"
                          "<idle>-0 [000] d... 1.000013: sched_waking: comm=a pid=7 prio=120 "
                          "target_cpu=000\n"
                          "<idle>-0 [000] d... 1.000014: sched_wakeup: comm=a pid=7 prio=120 "
                          "target_cpu=000\n" SWITCH("1.000020", "0", "swapper", "0", "R", "a", "7"),
          "cpu CPU 0\n  a 0+10 a 20+0 open\n"
          "states a\n  Running 0+10 Uninterruptible Sleep (I/O) 10+3 Runnable 13+7\n"
          "woken a 13 by ?\n");
}

/* A reason applies to the last sleep until the thread runs again; before the switch, to the
 * sleep that follows. */
static void knows_when_a_reason_counts(void **context)
{
    (void)context;
#define LINE(time, event) "b-8 [001] d... " time ": " event "\n"
#define WAIT(io) "sched_blocked_reason: pid=7 iowait=" io " caller=f+0x1/0x2"
#define WOKEN "comm=a pid=7 prio=120 target_cpu=000"
    means(SWITCH("1.000000", "0", "a", "7", "D", "swapper",
                 "0") LINE("1.000002", "sched_waking: " WOKEN) LINE("1.000003", WAIT("1"))
              LINE("1.000004", "sched_wakeup: " WOKEN) SWITCH("1.000006", "0", "swapper", "0", "R",
                                                              "a", "7") LINE("1.000008", WAIT("1"))
                  SWITCH("1.000008", "0", "a", "7", "D", "swapper", "0")
                      SWITCH("1.000010", "0", "swapper", "0", "R", "a", "7")
                          SWITCH("1.000012", "0", "a", "7", "D", "swapper", "0")
                              LINE("1.000014", WAIT("0")) LINE("1.000016", "sched_wakeup: " WOKEN),
          "cpu CPU 0\n  a 6+2 a 10+2\n"
          "states a\n  Uninterruptible Sleep (I/O) 0+2 Runnable 2+4 Running 6+2"
          " Uninterruptible Sleep (I/O) 8+2 Running 10+2 Uninterruptible Sleep 12+4\n"
          "woken a 2 by b\nwoken a 16 by b\n");
}

/* CPU time is the time that the thread ran. */
static void reads_marks(void **context)
{
    (void)context;
    means(
        "main-7 (7) [000] .... 1.000000: tracing_mark_write: B|7|outer\n" SWITCH(
            "1.000000", "0", "swapper", "0", "R", "main",
            "7") "main-7 (7) [000] .... 1.000002: tracing_mark_write: B|7|inner\n" SWITCH("1."
                                                                                          "000004",
                                                                                          "0",
                                                                                          "main",
                                                                                          "7", "S",
                                                                                          "swapper",
                                                                                          "0")
            SWITCH("1.000007", "0", "swapper", "0", "R", "main",
                   "7") "main-7 (7) [000] .... 1.000008: tracing_mark_write: E|7\n"
                        "main-7 (7) [000] .... 1.000009: tracing_mark_write: C|7|used|12\n"
                        "main-7 (7) [000] .... 1.000010: tracing_mark_write: S|7|load|1\n"
                        "main-7 (7) [000] .... 1.000011: tracing_mark_write: hello,\n"
                        "  world\n"
                        "main-7 (7) [000] .... 1.000012: tracing_mark_write: F|7|load|1\n"
                        "main-7 (7) [000] .... 1.000013: tracing_mark_write: F|7|load|2\n"
                        "main-7 (7) [000] .... 1.000014: tracing_mark_write: E\n",
        "thread main of 7\n  outer 0+14(11)\n   inner 2+6(3)\n"
        "cpu CPU 0\n  main 0+4 main 7+7 open\n"
        "states main of 7\n  Running 0+4 Sleeping 4+3 Running 7+7 open\n"
        "async loadmain of 7\n  load 0+13 entered\n"
        "async loadmain of 7\n  load 10+2\n"
        "counter used 9:12\n"
        "instant hello, of main 11\n");
}

/* An end without a name belongs to the program; the kernel's ends have names. */
static void keeps_the_kernel_apart(void **context)
{
    (void)context;
    means("k-7 (7) [000] .... 1.000000: graph_ent: func=sys_write\n"
          "k-7 (7) [000] .... 1.000002: tracing_mark_write: B|7|draw\n"
          "k-7 (7) [000] .... 1.000004: graph_ret: func=sys_write\n"
          "k-7 (7) [000] .... 1.000006: tracing_mark_write: E\n"
          "k-7 (7) [001] .... 1.000007: irq_handler_entry: irq=27 name=timer\n"
          "k-7 (7) [001] .... 1.000009: irq_handler_exit: irq=27 ret=handled\n",
          "thread k of 7\n  sys_write 0+4\n"
          "overflow k of 7\n  draw 2+4\n"
          "thread irqs cpu 1 of 0\n  IRQ (timer) 7+2\n"
          "! overlap 1\n");
}

static void counts_what_the_kernel_counts(void **context)
{
    (void)context;
    means(
        "<idle>-0 [000] .... 1.000000: cpu_idle: state=1 cpu_id=0\n"
        "<idle>-0 [000] .... 1.000003: cpu_idle: state=4294967295 cpu_id=0\n"
        "k-7 [000] .... 1.000004: cpu_frequency_limits: min=5 max=28 cpu_id=1\n"
        "k-7 [000] .... 1.000005: sched_cpu_hotplug: cpu 1 offline error=0\n"
        "k-7 [000] .... 1.000006: thermal_temperature: thermal_zone=tz1 id=0 temp_prev=4 temp=39\n"
        "k-7 [000] .... 1.000007: regulator_enable: name=vdd\n",
        "counter CPU 0 C-State 0:2 3:0\n"
        "counter CPU 1 Clock Frequency Limits 4:5,28\n"
        "counter CPU 1 Cpu Hotplug 5:0\n"
        "counter tz1 Temperature 6:39\n"
        "counter vreg vdd enabled 7:1\n");
}

/* The first suspend is given up: it ends when the processes are thawed.  The wake lock is active
 * until it was released as often as it was taken. */
static void shows_suspends_and_wake_locks(void **context)
{
    (void)context;
    means("k-7 (7) [000] .... 1.000000: suspend_resume: suspend_enter[3] begin\n"
          "k-7 (7) [001] .... 1.000001: wakeup_source_activate: alarm timer state=0x10001\n"
          "k-7 (7) [000] .... 1.000002: suspend_resume: thaw_processes[0] begin\n"
          "k-7 (7) [001] .... 1.000003: wakeup_source_activate: alarm timer state=0x10002\n"
          "k-7 (7) [001] .... 1.000004: wakeup_source_deactivate: alarm timer state=0x20001\n"
          "k-7 (7) [000] .... 1.000005: suspend_resume: thaw_processes[0] end\n"
          "k-7 (7) [001] .... 1.000006: wakeup_source_deactivate: alarm timer state=0x30000\n"
          "k-7 (7) [000] .... 1.000007: suspend_resume: timekeeping_freeze[4] begin\n"
          "k-7 (7) [000] .... 1.000008: suspend_resume: suspend_enter[3] begin\n"
          "k-7 (7) [001] .... 1.000009: suspend_resume: timekeeping_freeze[5] end\n"
          "k-7 (7) [000] .... 1.000010: suspend_resume: suspend_enter[3] end\n"
          "k-7 (7) [000] .... 1.000011: suspend_resume: odd\n",
          "async Suspend/Resume Latency of 0\n  suspend_enter(3) 0+5 timekeeping_freeze(0) 7+2\n"
          "async Suspend/Resume Latency of 0\n  thaw_processes(0) 2+3 suspend_enter(3) 8+2\n"
          "async Wakelock(alarm timer) of 0\n  Wakelock(alarm timer) 1+5\n"
          "instant suspend_resume of k 11\n"
          "! bad-fields 1\n");
}

/* The first and the third do not fit into 64 bits; the fourth is the largest that does. */
static void counts_large_numbers(void **context)
{
    (void)context;
    means("k-7 [000] .... 1.000000: clock_set_rate: a state=18446744073709551616 cpu_id=0\n"
          "k-7 [000] .... 1.000001: clock_set_rate: a state=-3 cpu_id=0\n"
          "k-7 [000] .... 1.000002: clock_set_rate: a state=-9223372036854775809 cpu_id=0\n"
          "k-7 [000] .... 1.000003: mali_hwc_ANY: val=0xffffffffffffffff\n"
          "k-7 [000] .... 1.000004: thermal_temperature: thermal_zone=z id=0 temp=39.5\n"
          "k-7 [000] .... 1.000005: clock_set_rate: a state=many cpu_id=0\n",
          "counter a Frequency 0:1.84467e+19 1:-3 2:-9.22337e+18\n"
          "counter mali_hwc_ANY 3:1.84467e+19\n"
          "counter z Temperature 4:39.5\n"
          "instant clock_set_rate of k 5\n"
          "! bad-fields 1\n");
}

static void says_what_it_cannot_read(void **context)
{
    (void)context;
    means("# tracer: nop\n"
          "#\n"
          "# entries-in-buffer/entries-written: 2/9   #P:4\n"
          "what is this\n"
          "a-7 [000] .... 1.000000: ev: x\n"
          "and this\n"
          "CPU:1 [LOST 12 EVENTS]\n"
          "a-7 [001] .... 1.000002: ev: x\n",
          "instant ev of a 0\n"
          "instant CPU 1: LOST 12 EVENTS of all 2\n"
          "instant ev of a 2\n"
          "! bad-line 2\n! events-lost 1\n! overwritten 1\n");
}

/* "67890" may have been cut to "6", so nothing of the line is trusted. */
static void leaves_out_a_cut_line(void **context)
{
    (void)context;
#define MEM(time, value) "a-7 [000] .... " time ": tracing_mark_write: C|1|mem|" value
    means(MEM("1.000000", "12345\n") MEM("1.000002", "6"), "counter mem 0:12345\n! truncated 1\n");
    means(MEM("1.000000", "12345\n") "a-7 [0", "counter mem 0:12345\n! truncated 1\n");
    /* The only time for the lost events is that of the cut line. */
    means(MEM("1.000000", "12345\n") "CPU:1 [LOST 12 EVENTS]\n" MEM("1.000002", "6"),
          "counter mem 0:12345\ninstant CPU 1: LOST 12 EVENTS of all 0\n"
          "! truncated 1\n! events-lost 1\n");
    /* The end of a JavaScript string ends the line; a line of blanks is none. */
    means(MEM("1.000000", "12345\\n\\\n") MEM("1.000002", "6\\n\";"), "counter mem 0:12345 2:6\n");
    means(MEM("1.000000", "12345\n") "   ", "counter mem 0:12345\n");
}

/* The instant is on the track of its processor; without such a track, on the whole trace. */
/* The clock is that of most of the first lines; lines with another clock are errors. */
static void keeps_one_clock(void **context)
{
    (void)context;
    means("a-7 [000] .... 1000: odd: x=1\n"
          "a-7 [000] .... 2.000000: ev: x=1\n"
          "a-7 [000] .... 2.000003: ev: x=2\n"
          "a-7 0d..1 12us : f <-g\n",
          "instant ev of a 0\ninstant ev of a 3\n! bad-line 2\n");
    means("a-7 [000] .... 1000000: ev: x=1\n"
          "a-7 [000] .... 2.000003: odd: x=2\n"
          "a-7 [000] .... 1003000: ev: x=2\n",
          "instant ev of a 0\ninstant ev of a 3\n! bad-line 1\n! clock-unitless 2\n");
}

/* Output of adb before the text, and a byte-order mark. */
static void begins_behind_the_preamble(void **context)
{
    (void)context;
    means("capturing trace... done\nTRACE:\n# tracer: nop\na-7 [000] .... 2.000000: ev: x=1\n",
          "instant ev of a 0\n");
    means("\xef\xbb\xbf# tracer: nop\na-7 [000] .... 2.000000: ev: x=1\n", "instant ev of a 0\n");
    means("a-7 [000] .... 1.000000: ev: x=1\nTRACE:\na-7 [000] .... 1.000002: ev: x=1\n",
          "instant ev of a 0\ninstant ev of a 2\n");
}

/* A thread that was only woken, or only seen to stop, has no CPU time. */
static void has_a_cpu_clock_when_threads_run(void **context)
{
    (void)context;
#define WOKEN_AT(time) "<idle>-0 [000] d... " time ": sched_wakeup: comm=a pid=7 prio=120\n"
    assert_int_equal(clocks_of(WOKEN_AT("1.000000") WOKEN_AT("1.000004")), TV_CLOCK_WALL);
    assert_int_equal(
        clocks_of(SWITCH("1.000000", "0", "a", "7", "S", "swapper", "0") WOKEN_AT("1.000004")),
        TV_CLOCK_WALL);
    assert_int_equal(
        clocks_of(SWITCH("1.000000", "0", "swapper", "0", "R", "a", "7") WOKEN_AT("1.000004")),
        TV_CLOCK_WALL | TV_CLOCK_CPU);
}

static void puts_losses_on_their_processors(void **context)
{
    (void)context;
    means(SWITCH("1.000000", "0", "swapper", "0", "R", "a", "7")
              SWITCH("1.000001", "2", "swapper", "0", "R", "b",
                     "8") "CPU:2 [LOST 12 EVENTS]\nCPU:1 [EVENTS DROPPED]\n"
                          "b-8 [002] .... 1.000004: ev: x\n"
                          "CPU:0 [LOST 3 EVENTS]\nCPU:9 [LOST 1 EVENTS]\n",
          "cpu CPU 0\n  a 0+4 open\n"
          "cpu CPU 2\n  b 1+3 open\n"
          "states a\n  Running 0+4 open\nstates b\n  Running 1+3 open\n"
          "instant CPU 2: LOST 12 EVENTS of CPU 2 4\n"
          "instant CPU 1: EVENTS DROPPED of all 4\n"
          "instant ev of b 4\n"
          "instant CPU 0: LOST 3 EVENTS of CPU 0 4\n"
          "instant CPU 9: LOST 1 EVENTS of all 4\n"
          "! events-lost 4\n");
}

/* trace-cmd report prints the bits of the state, or its own short form. */
static void reads_trace_cmd(void **context)
{
    (void)context;
    means("cpus=2\n"
          "   <idle>-0  [000]  1.000000: sched_switch:  swapper/0:0 [120] R ==> a b:7 [120]\n"
          "   a b-7     [000]  1.000004: sched_switch:  prev_comm=a b prev_pid=7 prev_prio=120 "
          "prev_state=1 next_comm=swapper/0 next_pid=0 next_prio=120\n"
          "   <idle>-0  [001]  1.000006: sched_wakeup:  a b:7 [120] success=1 CPU:001\n"
          "   <idle>-0  [001]  1.000009: print:  hello\n",
          "cpu CPU 0\n  a b 0+4\n"
          "states a b\n  Running 0+4 Sleeping 4+2 Runnable 6+3 open\n"
          "instant hello of <idle> 9\n"
          "woken a b 6 by ?\n");
    means("   <idle>-0  [000]  1.000000: sched_switch:  a [b]:7 [120] S ==> c [d:8 [120]\n"
          "   <idle>-0  [001]  1.000006: sched_wakeup:  a [b]:7 [120] success=1 CPU:001\n"
          "   <idle>-0  [001]  1.000009: print:  hello\n",
          "cpu CPU 0\n  c [d 0+9 open\n"
          "states a [b]\n  Sleeping 0+6 Runnable 6+3 open\n"
          "states c [d\n  Running 0+9 open\n"
          "instant hello of <idle> 9\n"
          "woken a [b] 6 by ?\n");
}

/* trace-cmd puts the name of the writing function before a mark; a mark of the wall clock is no
 * event. */
static void reads_marks_of_trace_cmd(void **context)
{
    (void)context;
    means("a-7 [000] 0.500000: print:  tracing_mark_write: trace_event_clock_sync: realtime_ts=14\n"
          "a-7 [000] 1.000000: print:  tracing_mark_write: B|7|hello\n"
          "a-7 [000] 1.000004: bprint:  write+0x1/0x2: E|7\n"
          "a-7 [000] 1.000005: print:  tracing_mark_write: some: text\n",
          "thread a of 7\n  hello 0+4\n"
          "instant some: text of a 5\n");
}

/* A mark of the clock may have the time 0.0: it is no event. */
static void moves_the_clock(void **context)
{
    (void)context;
    means("a-7 [000] .... 5.000000: ev: x\n"
          "dummy-0000  [000] 0.0: 0: trace_event_clock_sync: parent_ts=0.0\n"
          "a-7 [000] .... 5.000003: ev: x\n",
          "instant ev of a 0\ninstant ev of a 3\n");
}

/* Text from several buffers need not be in order. */
static void puts_switches_in_order(void **context)
{
    (void)context;
    means(SWITCH("1.000010", "0", "a", "7", "S", "swapper", "0")
              SWITCH("1.000000", "0", "swapper", "0", "R", "a", "7"),
          "cpu CPU 0\n  a 0+10\n"
          "states a\n  Running 0+10\n");
}

/* A processor that only switched to its idle task has a track, and so have its losses. */
static void knows_idle_processors(void **context)
{
    (void)context;
    means(SWITCH("1.000000", "1", "a", "7", "S", "swapper/1", "0") "CPU:1 [LOST 3 EVENTS]\n" SWITCH(
              "1.000004", "2", "swapper/2", "0", "R", "swapper/2",
              "0") "b-8 [003] .... 1.000009: ev: x=1\n",
          "cpu CPU 1\n \n"
          "cpu CPU 2\n \n"
          "states a\n  Sleeping 0+9 open\n"
          "instant CPU 1: LOST 3 EVENTS of CPU 1 4\n"
          "instant ev of b 9\n"
          "! events-lost 1\n");
}

/* Lines that only wake threads extend the trace, too. */
static void ends_with_the_last_line(void **context)
{
    (void)context;
    means("b-8 [001] d... 1.000000: sched_waking: comm=a pid=7 prio=120 target_cpu=000\n"
          "b-8 [001] d... 1.000005: sched_waking: comm=c pid=9 prio=120 target_cpu=000\n",
          "states a\n  Runnable 0+5 open\n"
          "woken a 0 by b\nwoken c 5 by b\n");
}

/* Only the ends of Chrome's marks have more than a time; others are not stored. */
static void keeps_ends_that_tell_more(void **context)
{
    (void)context;
    static const char text[] = "a-7 [000] .... 1.000000: tracing_mark_write: B|7|bare\n"
                               "a-7 [000] .... 1.000001: tracing_mark_write: B|7|chrome\n"
                               "a-7 [000] .... 1.000002: tracing_mark_write: B|7|plain\n"
                               "a-7 [000] .... 1.000003: tracing_mark_write: E|7\n"
                               "a-7 [000] .... 1.000004: tracing_mark_write: E|7|chrome|k=v|cat\n"
                               "a-7 [000] .... 1.000005: tracing_mark_write: E\n";
    struct tv_source *source = tv_source_from_memory(tv_bytes_of(text), "x.txt");
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_read_options options = {.parts = 1};
    struct tv_error error;
    assert_int_equal(tv_reader_ftrace.assemble(source, builder, &options, &error), TV_OK);
    struct tv_trace *trace = tv_builder_finish(builder);
    assert_int_equal(trace->slice_count, 3);
    assert_int_equal(trace->tables.slice_extras.count, 1);
    const struct tv_slice_extra *extra = &trace->tables.slice_extras.rows[0];
    assert_int_equal(trace->rows[extra->row].depth, 1);
    struct tv_out said;
    tv_out_init_memory(&said);
    assert_int_equal(trace->head->inputs[0].describe(trace, 0,
                                                     tv_slice_offset(trace, extra->row, 0),
                                                     extra->end_offset, &said, &error),
                     TV_OK);
    tv_out_char(&said, '\0');
    assert_non_null(strstr((const char *)said.buffer, "{\"args\":{\"k\":\"v\"}"));
    tv_out_release(&said);
    tv_trace_free(trace);
    tv_source_free(source);
}

/* Stops after two lines. */
struct stopping_visitor {
    struct tv_record_visitor visitor;
    uint32_t lines;
};

static void stopping_begin(struct tv_record_visitor *visitor, const struct tv_trace_info *head,
                           uint32_t input)
{
    (void)visitor;
    (void)head;
    (void)input;
}

static void stopping_take_line(struct tv_record_visitor *base, const struct tv_ft_record *record)
{
    struct stopping_visitor *visitor = (struct stopping_visitor *)base;
    (void)record;
    visitor->lines++;
    tv_read_limit_add(base->limit, 5);
}

static void ends_a_visit_early(void **state)
{
    static const char text[] = "a-1 [0] 1.0: x: y\na-1 [0] 2.0: x: y\na-1 [0] 3.0: x: y\n";
    struct tv_read_limit limit = {.max_bytes = 9};
    struct stopping_visitor visitor = {
        .visitor = {.begin = stopping_begin, .take_line = stopping_take_line, .limit = &limit}};
    struct tv_error error = {.status = TV_OK};
    (void)state;
    for (uint32_t run = 0; run < 2; run++) { /* the second time, it is stopped before */
        struct tv_source *source = tv_source_from_memory(tv_bytes_of(text), "a.txt");
        struct tv_trace_info *head = tv_trace_info_new();
        assert_int_equal(tv_reader_ftrace.visit_records(source, head, &visitor.visitor, &error),
                         TV_OK);
        assert_int_equal(visitor.lines, 2);
        tv_trace_info_free(head);
        tv_source_free(source);
    }
    assert_true(limit.is_exceeded && limit.stop);
}

UNIT_TESTS(ftrace, cmocka_unit_test(keeps_one_clock), cmocka_unit_test(begins_behind_the_preamble),
           cmocka_unit_test(knows_who_ran), cmocka_unit_test(knows_idle_processors),
           cmocka_unit_test(ends_with_the_last_line),
           cmocka_unit_test(knows_why_a_thread_was_blocked),
           cmocka_unit_test(knows_when_a_reason_counts), cmocka_unit_test(reads_marks),
           cmocka_unit_test(keeps_the_kernel_apart),
           cmocka_unit_test(counts_what_the_kernel_counts),
           cmocka_unit_test(shows_suspends_and_wake_locks), cmocka_unit_test(counts_large_numbers),
           cmocka_unit_test(says_what_it_cannot_read), cmocka_unit_test(leaves_out_a_cut_line),
           cmocka_unit_test(has_a_cpu_clock_when_threads_run),
           cmocka_unit_test(puts_losses_on_their_processors), cmocka_unit_test(reads_trace_cmd),
           cmocka_unit_test(reads_marks_of_trace_cmd), cmocka_unit_test(moves_the_clock),
           cmocka_unit_test(puts_switches_in_order), cmocka_unit_test(keeps_ends_that_tell_more),
           cmocka_unit_test(ends_a_visit_early));
