/* SPDX-License-Identifier: Apache-2.0 */
/* The function_graph tracer and the tracers of latencies (ftrace.md section 2). */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "ft_made.h"
#include "readers/ftrace/chunk.h"
#include "unit.h"

/* Calls without times lie one after the other on each processor. */
static void lays_calls_one_behind_the_other(void **context)
{
    (void)context;
    means("# tracer: function_graph\n"
          " 0)               |  sys_open() {\n"
          " 0)   1.000 us    |    kfree();\n"
          " 0) + 12.000 us   |    vfs_open() {\n"
          " 0)   3.000 us    |      foo [ext4]();\n"
          " 0) ! 120.000 us  |    }\n"
          " 0) # 1125.000 us |  } /* sys_open */\n"
          " 1)   2.000 us    |  bar(a=0x1); /* <-caller+0x1/0x2 */\n"
          " 0)   1.000 us    |  baz();\n",
          "thread functions cpu 0 of 0\n"
          "  sys_open 0+1125 baz 1125+1\n"
          "   kfree 0+1 vfs_open 1+120\n"
          "    foo [ext4] 1+3\n"
          "thread functions cpu 1 of 0\n  bar 0+2\n");
}

/* A switch also shows which task ran before it; an interrupt is a call. */
static void follows_switches(void **context)
{
    (void)context;
    means(" 0)               |  read() {\n"
          " ------------------------------------------\n"
          " 0)   kworker-33   =>   bash-4251  \n"
          " ------------------------------------------\n"
          "\n"
          " 0)   2.000 us    |  foo();\n"
          " 0)   ==========> |\n"
          " 0)   1.000 us    |  do_IRQ();\n"
          " 0)   <========== |\n"
          " 0)   bash-4251   =>   kworker-33  \n"
          " 0)   5.000 us    |  }\n",
          "thread kworker\n  read 0+5\n"
          "thread bash\n  foo 0+2 interrupt 2+1\n   do_IRQ 2+1\n");
}

/* With absolute times and tasks, an event in a comment is handled like any other. */
static void reads_all_columns(void **context)
{
    (void)context;
    means(
        "    7.000010 |   1)  sh-4802  | d..1. |               |  open() {\n"
        "    7.000012 |   1)  sh-4802  | d..1. |   1.500 us    |    dput();\n"
        "    7.000014 |   1)  sh-4802  |  ....  |              |  /* tracing_mark_write: B|9|x */\n"
        "    7.000016 |   1)  sh-4802  |  ....  |              |  /* tracing_mark_write: E|9 */\n"
        "    7.000020 |   1)  sh-4802  | d..1. | + 10.250 us   |  }\n"
        "    7.000025 |   1)  sh-4802  | d..1. |   4.000 us    |  } /* sys_close ret=0 */\n"
        "    7.000030 |   2)  sh-4803  |       |               |  wait() {\n",
        "thread sh of 9\n  open 0+10 sys_close 11+4\n   dput 2+1 x 4+2\n"
        "thread sh\n  wait 20+0 open\n"
        "! unmatched-exit 1\n! open-call 1\n");
}

/* trace-cmd report prints the same lines as events. */
static void reads_graphs_of_trace_cmd(void **context)
{
    (void)context;
    means("cpus=2\n"
          " ls-7 [000]  5.000001: funcgraph_entry:                   |  sys_open() {\n"
          " ls-7 [000]  5.000003: funcgraph_entry:        1.000 us   |    kfree();\n"
          " ls-7 [000]  5.000009: funcgraph_exit:         8.000 us   |  }\n",
          "thread ls\n  sys_open 0+8\n   kfree 2+1\n");
}

/* The innermost function is the first below the event. */
static void takes_stacks(void **context)
{
    (void)context;
    means("a-7 [000] .... 1.000000: kfree <-path_put\n"
          " => sys_open\n"
          " => entry [ext4]\n"
          "a-7 [000] .... 1.000002: <stack trace>\n"
          " => inner (ffffffff8115)\n"
          " => outer <ffffffff81151930>\n"
          "a-7 [000] .... 1.000003: ev: x=1\n",
          "instant kfree of a 0\n"
          "instant kernel_stack of a 2\n"
          "instant ev of a 3\n"
          "stack kfree of a 0: entry [ext4] sys_open\n"
          "stack kernel_stack of a 2: outer inner\n");
}

/* Times count from the tracer's start; switches are "pid:prio:state". */
static void reads_latency_tracers(void **context)
{
    (void)context;
    means("# tracer: wakeup\n"
          "#\n"
          "# wakeup latency trace v1.1.5 on 3.8.0-test+\n"
          "# latency: 259 us, #4/4, CPU#2 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:4)\n"
          "  <idle>-0       3dNs7    0us :      0:120:R   + [003]  2312: 98:R kworker/3:1H\n"
          "  <idle>-0       3dNs7    1us+: ttwu_do_activate.constprop.87 <-try_to_wake_up\n"
          "  <idle>-0       3d..3   15us : __schedule [nf] <-schedule\n"
          "  <idle>-0       3d..3   16us :      0:120:R ==> [003]  2312: 98:R kworker/3:1H\n",
          "cpu CPU 3\n  kworker/3:1H 16+0 open\n"
          "states kworker/3:1H\n  Runnable 0+16\n"
          "instant ttwu_do_activate.constprop.87 of <idle> 1\n"
          "instant __schedule of <idle> 15\n"
          "woken kworker/3:1H 0 by ?\n");
}

/* An end without a begin encloses everything that ended before it. */
static void encloses_what_ended_before(void **context)
{
    (void)context;
    means(" 1)   9.000 us    |  first();\n"
          " 1)               |  second() {\n"
          " 1)   7.000 us    |  }\n"
          " 1)   7.000 us    |  }\n"
          " 1)   7.000 us    |  } /* third */\n",
          "thread functions cpu 1 of 0\n"
          "  first 0+9 third 9+7\n"
          "   (unknown function) 9+7\n"
          "    second 9+7\n"
          "! unmatched-exit 2\n");
}

/* The preamble of these tracers becomes metadata. */
static void keeps_heads_of_latency_tracers(void **context)
{
    (void)context;
    char found[256] = "";
    struct tv_ft_chunk_reader reader;
    struct tv_source *source =
        tv_source_from_memory(TV_BYTES("# tracer: irqsoff\n"
                                       "# irqsoff latency trace v1.1.5 on 5.15.0\n"
                                       "# latency: 259 us, #4/4, CPU#2\n"
                                       "#    | task: ps-6143 (uid:0)\n"
                                       "#  => started at: lock\n"
                                       "#  => ended at:   unlock\n"),
                              "x.txt");
    tv_ft_chunk_reader_init(&reader, source, 0, tv_source_size(source));
    tv_ft_chunk_reader_run(&reader);
    for (size_t i = 0; i < reader.comments.count; i++) {
        struct tv_bytes key = tv_interner_get(reader.chunk.texts, reader.comments.rows[i].key);
        struct tv_bytes value = tv_interner_get(reader.chunk.texts, reader.comments.rows[i].value);
        size_t length = strlen(found);
        snprintf(found + length, sizeof found - length, "%.*s=%.*s;", (int)key.length,
                 (const char *)key.data, (int)value.length, (const char *)value.data);
    }
    assert_string_equal(found, "tracer=irqsoff;latency trace=v1.1.5 on 5.15.0;latency=259 us, "
                               "#4/4, CPU#2;task=ps-6143 (uid:0);"
                               "started at=lock;ended at=unlock;");
    tv_ft_chunk_reader_release(&reader);
    tv_source_free(source);
}

static void counts_what_is_no_line(void **context)
{
    (void)context;
    means(" 0)   1.000 us    |  foo();\n"
          " 0)   1.000 us    |  no call at all\n"
          " 0)   1.000 xx    |  foo();\n"
          " x)   1.000 us    |  foo();\n",
          "thread functions cpu 0 of 0\n  foo 0+1\n"
          "! bad-line 3\n");
}

UNIT_TESTS(ft_graph, cmocka_unit_test(lays_calls_one_behind_the_other),
           cmocka_unit_test(follows_switches), cmocka_unit_test(reads_all_columns),
           cmocka_unit_test(reads_graphs_of_trace_cmd), cmocka_unit_test(takes_stacks),
           cmocka_unit_test(reads_latency_tracers), cmocka_unit_test(encloses_what_ended_before),
           cmocka_unit_test(keeps_heads_of_latency_tracers),
           cmocka_unit_test(counts_what_is_no_line));
