/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/ftrace/fields.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "unit.h"

static void write_pair(void *context, struct tv_bytes key, struct tv_bytes value)
{
    char *found = context;
    size_t length = strlen(found);
    snprintf(found + length, 512 - length, "%s%.*s: <%.*s>", length ? ", " : "", (int)key.length,
             (const char *)key.data, (int)value.length, (const char *)value.data);
}

static void says(const char *event, const char *details, const char *expected)
{
    char found[512] = "";
    struct tv_ft_arg_visitor put = {write_pair, found};
    tv_ft_visit_args(tv_bytes_of(event), tv_bytes_of(details), &put);
    assert_string_equal(found, expected);
}

static void reads_pairs(void **context)
{
    (void)context;
    says("ev", "x=1 y=hello world z=2", "x: <1>, y: <hello world>, z: <2>");
    says("ev", "a:b, c = 5, d = 0x5, e=(1,2)", "c: <5>, d: <0x5>, e: <(1,2)>");
    says("ev", "name = a b, next = (8,1), last = ", "name: <a b>, next: <(8,1)>");
    says("ev", "time=12 [ns] [flag=1]", "time: <12>, flag: <1>");
    says("sched_switch",
         "prev_comm=a b prev_pid=1 prev_prio=2 prev_state=S ==> next_comm=c next_pid=3",
         "prev_comm: <a b>, prev_pid: <1>, prev_prio: <2>, prev_state: <S>, next_comm: <c>, "
         "next_pid: <3>");
}

static void reads_file_systems(void **context)
{
    (void)context;
    says("f2fs_write_begin", "dev = (8,1), ino = 5, pos = 0, len = 6, flags = 0",
         "device: <8,1>, inode: <5>, ino: <5>, pos: <0>, len: <6>, flags: <0>");
}

static void reads_plugins_of_trace_cmd(void **context)
{
    (void)context;
    says("sched_wakeup", "bash:10 [120] success=1 CPU:001",
         "comm: <bash>, pid: <10>, prio: <120>, success: <1>, target_cpu: <001>");
    says("sched_wakeup", "a [b]:10 [120] success=1 CPU:001",
         "comm: <a [b]>, pid: <10>, prio: <120>, success: <1>, target_cpu: <001>");
    says("sched_waking", "a:b c:11 [-1] CPU:002",
         "comm: <a:b c>, pid: <11>, prio: <-1>, target_cpu: <002>");
    says("sched_switch", "bash:10 [120] S ==> a b:c:11 [97]",
         "prev_comm: <bash>, prev_pid: <10>, prev_prio: <120>, prev_state: <S>, "
         "next_comm: <a b:c>, next_pid: <11>, next_prio: <97>");
    says("sched_wakeup", "comm=a [1] b pid=3 prio=4 target_cpu=000",
         "comm: <a [1] b>, pid: <3>, prio: <4>, target_cpu: <000>");
}

/* Forms of tracefs (kernel/trace/trace_syscalls.c) and of trace-cmd. */
static void reads_system_calls(void **context)
{
    (void)context;
    says("sys_openat", "(dfd: ffff, filename: 7f \"a, b\", flags: 80000)",
         "dfd: <ffff>, filename: <7f \"a, b\">, flags: <80000>");
    says("sys_getpid", "()", "");
    says("sys_openat", "-> 0x3", "ret: <0x3>");
    says("sys_enter_openat", "dfd: 0x9c, filename: 0x7f", "dfd: <0x9c>, filename: <0x7f>");
    says("sys_exit_openat", "0x3", "ret: <0x3>");
    says("sys_enter", "NR 257 (9c, 7f)", "NR: <257>, args: <9c, 7f>");
    says("sys_exit", "NR 257 = -2", "NR: <257>, ret: <-2>");
}

/* Kernels since 6.5 tell what functions return, since 6.13 with what and by whom they are called
 * (kernel/trace/trace_functions_graph.c). */
static void reads_functions(void **context)
{
    (void)context;
    says("", "vfs_read(file=0xff81, buf=0x7f \"a\", count=0x400) {",
         "file: <0xff81>, buf: <0x7f \"a\">, count: <0x400>");
    says("", "f(a=1); /* <-g+0x1/0x2 ret=0x3 */", "a: <1>, caller: <g+0x1/0x2>, ret: <0x3>");
    says("", "f(); /* = 0x3 */", "ret: <0x3>");
    says("", "} /* f = -22 */", "ret: <-22>");
    says("", "} /* f <-g ret=0 */", "caller: <g>, ret: <0>");
    says("", "} /* f */", "");
    says("", "kfree [m] <-vfs_read", "caller: <vfs_read>");
}

UNIT_TESTS(ft_details, cmocka_unit_test(reads_functions), cmocka_unit_test(reads_pairs),
           cmocka_unit_test(reads_file_systems), cmocka_unit_test(reads_plugins_of_trace_cmd),
           cmocka_unit_test(reads_system_calls));
