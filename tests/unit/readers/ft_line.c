/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/ftrace/line.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "unit.h"

/* "task|tid|tgid|cpu|flags|ns|event|details", or "none". */
static void reads(const char *text, const char *expected)
{
    struct tv_ft_line line;
    char found[512] = "none";
    if (tv_ft_line_parse(tv_bytes_of(text), &line))
        snprintf(
            found, sizeof found, "%.*s|%" PRId64 "|%" PRId64 "|%u|%.*s|%s%s%" PRId64 "|%.*s|%.*s",
            (int)line.task.length, line.task.data, line.tid, line.tgid, line.cpu,
            (int)line.flags.length, line.flags.data, line.clock == TV_FT_CLOCK_DELTA ? "+" : "",
            line.clock == TV_FT_CLOCK_TICKS ? "#" : "", line.time, (int)line.event.length,
            line.event.data, (int)line.details.length, line.details.data);
    assert_string_equal(found, expected);
}

static void reads_of(const char *text, const char *buffer, const char *expected)
{
    struct tv_ft_line line;
    reads(text, expected);
    assert_true(tv_ft_line_parse(tv_bytes_of(text), &line));
    assert_true(tv_bytes_equal(line.buffer, tv_bytes_of(buffer)));
}

/* ftrace.md section 2: no flags before Linux 3.2, four until 5.11, five and more later. */
static void knows_every_header(void **context)
{
    (void)context;
    reads("          <idle>-0     [001]  4467.843475: sched_switch: a=b",
          "<idle>|0|-1|1||4467843475000|sched_switch|a=b");
    reads("foo-1 [000] d.h1 1.000001: ev: x", "foo|1|-1|0|d.h1|1000001000|ev|x");
    reads("foo-1 [000] d..1. 1.000001: ev: x", "foo|1|-1|0|d..1.|1000001000|ev|x");
    reads("foo-1 [000] d..1.. 1.000001: ev: x", "foo|1|-1|0|d..1..|1000001000|ev|x");
    reads("foo-1 [000] bNZ1# 1.000001: ev: x", "foo|1|-1|0|bNZ1#|1000001000|ev|x");
    reads("foo-1   (  234) [001] d..3 2.5: ev: x", "foo|1|234|1|d..3|2500000000|ev|x");
    reads("foo-1   (-----) [001] d..3 2.5: ev: x", "foo|1|-1|1|d..3|2500000000|ev|x");
    reads("foo-1   (  234) [001] 2.5: ev: x", "foo|1|234|1||2500000000|ev|x");
    reads("foo-1 [012] .... 1.123456789: ev: x", "foo|1|-1|12|....|1123456789|ev|x");
}

static void finds_the_name_of_the_task(void **context)
{
    (void)context;
    reads("  my-thread-name-12-345 [000] ...1 1.5: ev: x",
          "my-thread-name-12|345|-1|0|...1|1500000000|ev|x");
    reads("     Binder-Thread #-647   (  234) [001] d..3 1.5: ev: x",
          "Binder-Thread #|647|234|1|d..3|1500000000|ev|x");
    reads("Surface Flinger -4831  [001] ...1 1.5: ev: x",
          "Surface Flinger |4831|-1|1|...1|1500000000|ev|x");
    reads("kworker/u16:1-77 [004] .... 1.5: ev: x", "kworker/u16:1|77|-1|4|....|1500000000|ev|x");
    reads("a [000] b-7 [001] .... 1.5: ev: x", "a [000] b|7|-1|1|....|1500000000|ev|x");
    reads("weird(name)-7 [001] .... 1.5: ev: x", "weird(name)|7|-1|1|....|1500000000|ev|x");
    reads("<...>-7 [001] .... 1.5: ev: y-8 [002] .... 1.6: ev: x",
          "<...>|7|-1|1|....|1500000000|ev|y-8 [002] .... 1.6: ev: x");
}

/* trace-cmd report of several buffers: the name is right-aligned before a comm of 16 columns, 8 of
 * the latency format; before the main buffer stand spaces. */
static void takes_the_buffer_off_the_task(void **context)
{
    (void)context;
    reads_of("boot:               sh-11 [000]  1.5: ev: x", "boot", "sh|11|-1|0||1500000000|ev|x");
    reads_of("  my run:       my program-11 (    7) [000]  1.5: ev: x", "my run",
             "my program|11|7|0||1500000000|ev|x");
    reads_of("a:  kworker/u16:1-e-11 [000] .... 1.5: ev: x", "a",
             "kworker/u16:1-e|11|-1|0|....|1500000000|ev|x");
    reads_of("boot:       sh-11   0d..2. 1.5: ev: x", "boot", "sh|11|-1|0|d..2.|1500000000|ev|x");
    reads_of("                    sh-11 [000]  1.5: ev: x", "", "sh|11|-1|0||1500000000|ev|x");
    reads_of("        a: b-11 [000]  1.5: ev: x", "", "a: b|11|-1|0||1500000000|ev|x");
}

/* Perfetto's text importer accepts a time that touches the flags. */
static void splits_flags_from_the_time(void **context)
{
    (void)context;
    reads("foo-1 [000] ....316.19: ev: x", "foo|1|-1|0|....|316190000000|ev|x");
    reads("foo-1 [000] .....316.19: ev: x", "foo|1|-1|0|.....|316190000000|ev|x");
}

/* trace-cmd report pads behind the colon and writes no flags, or cpu and flags as one (-l). */
static void knows_trace_cmd(void **context)
{
    (void)context;
    reads("     trace-cmd-6244  [005] 162534.215742: sched_switch:         trace-cmd:6244 [120] x "
          "==> swapper/5:0 [120]",
          "trace-cmd|6244|-1|5||162534215742000|sched_switch|trace-cmd:6244 [120] x ==> "
          "swapper/5:0 [120]");
    reads("    bash-2930    3d..2.  2084.202306: sched_switch:  bash:2930 [120] R ==> x:3 [120]",
          "bash|2930|-1|3|d..2.|2084202306000|sched_switch|bash:2930 [120] R ==> x:3 [120]");
}

/* The kernel's latency tracers and the function tracer. */
static void knows_tracers(void **context)
{
    (void)context;
    reads("    bash-5939    3d...    0us : trace_hardirqs_off <-call_function_interrupt",
          "bash|5939|-1|3|d...|+0||trace_hardirqs_off <-call_function_interrupt");
    reads("    bash-5939    3d...   12us!: trace_hardirqs_off <-call_function_interrupt",
          "bash|5939|-1|3|d...|+12000||trace_hardirqs_off <-call_function_interrupt");
    reads("   bash-4251  [01] 10152.583854: path_put <-path_walk",
          "bash|4251|-1|1||10152583854000||path_put <-path_walk");
}

/* tracefs prints system calls without a colon after the name. */
static void knows_system_calls(void **context)
{
    (void)context;
    reads("cat-7 [000] .... 1.5: sys_openat(dfd: ffff, filename: 7f)",
          "cat|7|-1|0|....|1500000000|sys_openat|(dfd: ffff, filename: 7f)");
    reads("cat-7 [000] 1.5: sys_getpid()", "cat|7|-1|0||1500000000|sys_getpid|()");
    reads("cat-7 [000] .... 1.5: sys_openat -> 0x3",
          "cat|7|-1|0|....|1500000000|sys_openat|-> 0x3");
    reads("cat-7 [000] .... 1.5: sys_enter: NR 0 (1, 2)",
          "cat|7|-1|0|....|1500000000|sys_enter|NR 0 (1, 2)");
    reads("cat-7 [000] .... 1.5: sys_open <-do_syscall_64",
          "cat|7|-1|0|....|1500000000||sys_open <-do_syscall_64");
}

static void keeps_what_stands_behind_the_event(void **context)
{
    (void)context;
    reads("foo-1 [000] .... 1.5: tracing_mark_write: B|1|a: b  ",
          "foo|1|-1|0|....|1500000000|tracing_mark_write|B|1|a: b");
    reads("foo-1 [000] .... 1.5: 0: E", "foo|1|-1|0|....|1500000000|0|E");
    reads("foo-1 [000] .... 1.5: ev:", "foo|1|-1|0|....|1500000000|ev|");
    reads("foo-1 [000] .... 1.5: a::b: x", "foo|1|-1|0|....|1500000000|a::b|x");
    reads("foo-1 [000] .... 1000: ev: x", "foo|1|-1|0|....|#1000|ev|x");
}

static void refuses_other_lines(void **context)
{
    (void)context;
    reads("foo-1 [65535] .... 1.5: ev: x", "foo|1|-1|65535|....|1500000000|ev|x");
    reads("foo-1 [65536] .... 1.5: ev: x", "none"); /* rows keep 16 bits */
    reads("foo-1 65536d..1 1.5: ev: x", "none");
    const char *const others[] = {
        "",
        "# tracer: nop",
        "cpus=8",
        "CPU:3 [LOST 12 EVENTS]",
        "CPU 3 is empty",
        "  0)   1.382 us    |    kfree();",
        "          <idle>-0       0 [001] d...  1.230000: sched_switch: a=b",
        "foo-1 [000] .... 1.000001: ev:x",
        "foo-1 [000] .... 1.000001: ev",
        "foo-1 [000] .... 1.: ev: x",
        "foo-1 [000] .... 99999999999999999999.0: ev: x",
        "foo-99999999999 [000] .... 1.0: ev: x",
        "foo- [000] .... 1.0: ev: x",
        "foo-1 (x) [000] .... 1.0: ev: x",
        "foo-1 [x00] .... 1.0: ev: x",
        "foo-1 [000] .. 1.0: ev: x",
        "{\"ph\":\"X\"}",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        reads(others[i], "none");
}

UNIT_TESTS(ft_line, cmocka_unit_test(knows_every_header),
           cmocka_unit_test(finds_the_name_of_the_task),
           cmocka_unit_test(takes_the_buffer_off_the_task),
           cmocka_unit_test(splits_flags_from_the_time), cmocka_unit_test(knows_trace_cmd),
           cmocka_unit_test(knows_tracers), cmocka_unit_test(knows_system_calls),
           cmocka_unit_test(keeps_what_stands_behind_the_event),
           cmocka_unit_test(refuses_other_lines));
