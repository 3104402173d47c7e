/* SPDX-License-Identifier: Apache-2.0 */
/* Side inputs of a systrace: lists of processes, control groups, power samples. */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/side_inputs.h"
#include "readers/trace_event/trace_event.h"

/* Read the texts into one trace, each with the reader that recognizes it. NULL ends the list. */
static struct tv_trace *read_all(const char *const *texts)
{
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_read_options options = {.parts = 1};
    struct tv_error err;
    for (size_t i = 0; texts[i] != NULL; i++) {
        struct tv_source *source = tv_source_from_memory(tv_bytes_of(texts[i]), "made");
        assert_int_equal(tv_readers_build(source, builder, &options, &err), TV_OK);
        tv_source_free(source);
    }
    return tv_builder_finish(builder);
}

static struct tv_trace *read_one(const char *text)
{
    return read_all((const char *const[]){text, NULL});
}

static uint64_t count_of(const struct tv_trace *trace, enum tv_diagnostic_kind kind)
{
    return trace->head->diagnostics.kinds[kind].count;
}

/* ---- Lists of processes ---- */

/* "pid name" or "pid/tid name" of each row, one after the other. */
static void assert_rows(const char *dump, const char *rows, uint64_t bad)
{
    char text[1024] = "";
    struct tv_trace *trace = read_one(dump);
    for (size_t i = 0; i < trace->tables.known_names.count; i++) {
        const struct tv_known_name *known = &trace->tables.known_names.rows[i];
        size_t used = strlen(text);
        const char *name = (const char *)tv_trace_info_text(trace->head, known->name).data;
        if (known->is_thread)
            snprintf(text + used, sizeof text - used, "%llu/%llu %s|",
                     (unsigned long long)known->pid, (unsigned long long)known->tid, name);
        else
            snprintf(text + used, sizeof text - used, "%llu %s|", (unsigned long long)known->pid,
                     name);
    }
    assert_string_equal(text, rows);
    assert_int_equal(count_of(trace, TV_DIAGNOSTIC_BAD_LINE), bad);
    tv_trace_free(trace);
}

static void lists_of_today(void **context)
{
    (void)context;
    assert_rows("PROCESS DUMP\r\n"
                "USER           PID  PPID     VSZ    RSS WCHAN            PC S NAME                "
                "        COMM\r\n"
                "root             1     0   14388   2076 0                 0 S init                "
                "        init\r\n"
                "root             2     0       0      0 0                 0 S [kthreadd]          "
                "        kthreadd\r\n"
                "u0_a1         1234   500 1000000  90000 0                 0 S com.x y             "
                "        x y\r\n"
                "u0_a1234567890 999   500 1000000  90000 0                  0 S slipped name here "
                "slipped\r\n"
                "\r\n"
                "USER           PID   TID CMD\r\n"
                "root             1     1 init\r\n"
                "u0_a1         1234  1240 Binder:1234_1 x\r\n",
                "1 init|2 kthreadd|1234 com.x y|999 slipped|1/1 init|1234/1240 Binder:1234_1 x|",
                0);
}

static void lists_of_old(void **context)
{
    (void)context;
    assert_rows("PROCESS DUMP\n"
                "USER     PID   PPID  VSIZE  RSS     WCHAN    PC         NAME\n"
                "root      1     0     716    480   c10b5805 0805a586 S /init\n"
                "app_12    900   100   9000   800   ffffffff 00000000 R com.a:remote part\n",
                "1 /init|900 com.a:remote part|", 0);
}

/* Some writers leave the title out. */
static void lists_without_a_title(void **context)
{
    (void)context;
    assert_rows("USER           PID  PPID     VSZ    RSS WCHAN            PC S NAME  COMM\r\n"
                "root             1     0   14388   2076 0                 0 S init  init\r\n",
                "1 init|", 0);
    assert_rows("USER PID TID CMD\nroot 1 2 two\n", "1/2 two|", 0);
}

static void lines_that_are_no_rows(void **context)
{
    (void)context;
    assert_rows("PROCESS DUMP\nroot 1 0 2 3\n" /* before any heading */
                "USER PPID NAME\nroot 1 x\n"   /* no PID */
                "USER PID TID CMD\nroot 1 1\nroot x 1 y\nroot 1 -1 y\n"
                "root 18446744073709551616 1 y\nroot 7 8 []\n",
                "7/8 []|", 7);
    assert_rows("PROCESS DUMP", "", 0);
    assert_rows("PROCESS DUMP\nUSER PID NAME\n x 1 a\n", "", 1); /* the state is missing */
}

/* The order of the inputs does not matter. */
static void lists_name_the_threads_of_a_trace(void **context)
{
    (void)context;
    static const char json[] = "[{\"ph\":\"X\",\"pid\":5,\"tid\":6,\"ts\":1000000,\"dur\":5,"
                               "\"name\":\"x\"}]";
    static const char dump[] = "PROCESS DUMP\nUSER PID PPID VSZ RSS WCHAN PC S NAME COMM\n"
                               "root 5 0 0 0 0 0 S process process\n"
                               "USER PID TID CMD\nroot 5 6 thread\n";
    for (int order = 0; order < 2; order++) {
        struct tv_trace *trace = read_all(
            (const char *const[]){order == 0 ? json : dump, order == 0 ? dump : json, NULL});
        const struct tv_trace_info *head = trace->head;
        assert_string_equal(tv_trace_info_text(head, head->processes[0].name).data, "process");
        assert_string_equal(tv_trace_info_text(head, head->threads[0].name).data, "thread");
        assert_int_equal(trace->start, 0);
        assert_int_equal(trace->origin, 1000000000);
        tv_trace_free(trace);
    }
}

static void control_groups_are_metadata(void **context)
{
    (void)context;
    struct tv_trace *trace = read_one("CGROUP DUMP\n#subsys_name\thierarchy\tnum_cgroups\tenabled\n"
                                      "cpuset\t4\t7\t1\n# cgroup task attachment\n"
                                      "/background (root=4) : 466 467\n/a : b (root=4) : \n/\n");
    const struct tv_trace_info *head = trace->head;
    assert_string_equal(tv_trace_info_find_metadata(head, 0, "cgroup cpuset").data, "4\t7\t1");
    assert_string_equal(tv_trace_info_find_metadata(head, 0, "cgroup /background (root=4)").data,
                        "466 467");
    assert_string_equal(tv_trace_info_find_metadata(head, 0, "cgroup /a : b (root=4)").data, "");
    assert_string_equal(tv_trace_info_find_metadata(head, 0, "cgroup /").data, "");
    assert_int_equal(head->metadata_count, 4);
    tv_trace_free(trace);
}

/* ---- Power ---- */

static void takes_lines_of_power(void **context)
{
    (void)context;
    struct tv_battor_line line;
    assert_true(tv_battor_line(TV_BYTES("2.500000 1000.0 4000.000000 <AB-1>"), &line));
    assert_int_equal(line.time, 2500000);
    assert_true(line.watts == 4.0);
    assert_true(tv_bytes_equal(line.sync_id, TV_BYTES("AB-1")));
    assert_true(tv_battor_line(TV_BYTES("-1\t1 \t 1\r"), &line));
    assert_int_equal(line.time, -1000000);
    assert_true(line.watts == 0.000001);
    assert_int_equal(line.sync_id.length, 0);
    assert_true(tv_battor_line(TV_BYTES("1 -1 1"), &line));
    assert_true(line.watts < 0);
    static const char *const bad[] = {"",
                                      "1",
                                      "1 2",
                                      "1 2 x",
                                      "1ms 2 3",
                                      "1 2 3 4",
                                      "1 2 3 <>",
                                      "1 2 3 <a",
                                      "1 2 3 <",
                                      "1 2 3 <a> b",
                                      "1 2 1-",
                                      "99999999999999999999 1 1",
                                      "9000000000000 1 1"};
    for (size_t i = 0; i < TV_COUNT(bad); i++)
        assert_false(tv_battor_line(tv_bytes_of(bad[i]), &line));
}

static void power_is_a_counter(void **context)
{
    (void)context;
    struct tv_trace *trace = read_one("# BattOr\n# sample_rate 2000 Hz, gain 5.0x\n#\n\n"
                                      "0.5 1000 2000\n1.5 1000 3000\n1.0 1000 2500\n"
                                      "2.0 -1 5 <sync>\nnonsense\n");
    const struct tv_counter *counter = trace->tables.counters.rows;
    assert_int_equal(trace->tables.counters.count, 1);
    assert_int_equal(counter->sample_count, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(trace->tables.counter_times[i], 500000 * (i + 1));
        assert_true(trace->tables.counter_values[i] == 2 + 0.5 * i);
    }
    assert_int_equal(trace->end, 1000000);
    assert_int_equal(trace->tables.clock_syncs.count, 1);
    assert_int_equal(trace->tables.clock_syncs.rows[0].time, 2000000);
    assert_int_equal(count_of(trace, TV_DIAGNOSTIC_BAD_LINE), 2);
    assert_string_equal(tv_trace_info_find_metadata(trace->head, 0, "sample_rate").data,
                        "2000 Hz, gain 5.0x");
    tv_trace_free(trace);
}

static void power_is_put_beside_a_trace(void **context)
{
    (void)context;
    struct tv_trace *trace = read_all(
        (const char *const[]){"[{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":0,\"name\":\"a\"},"
                              "{\"ph\":\"c\",\"ts\":10000,\"pid\":1,\"args\":{\"sync_id\":\"k\"}}]",
                              "# BattOr\n2.0 1 1\n2.5 1 1 <k>\n", NULL});
    assert_int_equal(trace->offset[1] - trace->offset[0], 7500000);
    tv_trace_free(trace);
    trace = read_one("# BattOr\n");
    assert_int_equal(trace->tables.counters.count, 0);
    tv_trace_free(trace);
}

/* Its milliseconds are not those of the other clock. */
static void power_that_is_not_tied_stretches_nothing(void **context)
{
    (void)context;
    static const char json[] =
        "[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":9000000,\"dur\":5000,\"name\":\"a\"}]";
    static const char power[] = "# BattOr\n2.0 1 1\n4.0 1 1 <k>\n";
    for (int order = 0; order < 2; order++) {
        struct tv_trace *trace = read_all(
            (const char *const[]){order == 0 ? json : power, order == 0 ? power : json, NULL});
        uint32_t input = order == 0 ? 1 : 0;
        assert_int_equal(trace->end - trace->start, 5000000);
        assert_int_equal(trace->origin, INT64_C(9000000000));
        assert_int_equal(tv_trace_time(trace, input, 2000000), 0);
        assert_int_equal(count_of(trace, TV_DIAGNOSTIC_CLOCK_UNTIED), 1);
        tv_trace_free(trace);
    }
    struct tv_trace *alone = read_all((const char *const[]){power, power, NULL});
    assert_int_equal(count_of(alone, TV_DIAGNOSTIC_CLOCK_UNTIED), 0);
    tv_trace_free(alone);
}

UNIT_TESTS(side_inputs, cmocka_unit_test(lists_of_today), cmocka_unit_test(lists_of_old),
           cmocka_unit_test(lists_without_a_title), cmocka_unit_test(lines_that_are_no_rows),
           cmocka_unit_test(lists_name_the_threads_of_a_trace),
           cmocka_unit_test(control_groups_are_metadata), cmocka_unit_test(takes_lines_of_power),
           cmocka_unit_test(power_is_a_counter), cmocka_unit_test(power_is_put_beside_a_trace),
           cmocka_unit_test(power_that_is_not_tied_stretches_nothing));
