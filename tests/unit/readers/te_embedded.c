/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of other formats embedded in Trace Event files. */
#include "te_made.h"

#include <string.h>

#include "unit.h"

static uint64_t unread(struct te_made *made)
{
    return te_made_trace(made)->head->diagnostics.kinds[TV_DIAGNOSTIC_SUBTRACE_UNREAD].count;
}

#define SLICE "'ph':'X','ts':1000,'dur':1,'name':'x','pid':7,'tid':8\n"

/* Each is an input of its own, on one clock with the events, and names their threads. */
static void are_inputs_of_their_own(void **context)
{
    (void)context;
    struct te_made *made = te_made_new((const char *const[]){
        "#'powerTraceAsString':'# BattOr\\n1.0 1000 2000\\n2.0 1000 2000 \\u003ck>\\n',"
        "'androidProcessDump':'PROCESS DUMP\\nUSER PID PPID VSZ RSS WCHAN PC S NAME COMM\\n"
        "root 7 0 0 0 0 0 S app app\\nUSER PID TID CMD\\nroot 7 8 main\\n',"
        "'cgroupDump':'CGROUP DUMP\\ncpuset 4 7 1\\n'\n" SLICE
        "'ph':'c','ts':4000,'args':{'sync_id':'k'}\n",
        NULL});
    const struct tv_trace *trace = te_made_trace(made);
    const struct tv_trace_info *head = trace->head;
    assert_int_equal(head->input_count, 4);
    assert_int_equal(unread(made), 0);
    assert_string_equal(tv_trace_info_text(head, head->inputs[1].name).data,
                        "made.json: powerTraceAsString");
    assert_int_equal(trace->tables.counters.count, 1);
    assert_int_equal(trace->tables.counters.rows[0].sample_count, 2);
    assert_int_equal(trace->offset[1] - trace->offset[0], 2000000);
    assert_string_equal(tv_trace_info_text(head, head->processes[0].name).data, "app");
    assert_string_equal(tv_trace_info_text(head, head->threads[0].name).data, "main");
    assert_string_equal(tv_trace_info_find_metadata(head, 3, "cgroup cpuset").data, "4 7 1");
    te_made_free(made);
}

/* No trace contains itself, however deep; a member without text is not unknown. */
static void what_is_unknown_is_counted(void **context)
{
    (void)context;
    struct te_made *made = te_made_new((const char *const[]){
        "#'systemTraceEvents':'[{\\u0022ph\\u0022:\\u0022X\\u0022,\\u0022ts\\u0022:1}]',"
        "'powerTraceAsString':'main;a 12\\nmain;b 13\\n','androidProcessDump':'',"
        "'cgroupDump':{'name':'ETW'}\n" SLICE,
        NULL});
    const struct tv_trace_info *head = te_made_trace(made)->head;
    assert_int_equal(head->input_count, 1);
    assert_int_equal(unread(made), 3);
    te_made_free(made);
}

/* The string is closed, so its last line is whole, although no line end follows. */
static void the_end_of_a_string_ends_its_line(void **context)
{
    (void)context;
    struct te_made *made = te_made_new((const char *const[]){
        "#'systemTraceEvents':'# tracer: nop\\n a-1 [000] .... 1.000000: ev: x=1\\n"
        " a-1 [000] .... 2.000000: ev: x=2'\n" SLICE,
        NULL});
    const struct tv_trace *trace = te_made_trace(made);
    assert_int_equal(trace->tables.instants.count, 2);
    assert_int_equal(trace->head->diagnostics.kinds[TV_DIAGNOSTIC_TRUNCATED].count, 0);
    te_made_free(made);
}

#define EVENT(guid, op, cpu, ts, payload)                                                          \
    "{'guid':'" guid "','op':" op ",'ver':3,'cpu':" cpu ",'ts':'" ts "','payload':'" payload "'},"
#define THREAD "3D6FA8D1-FE05-11D0-9DDA-00C04FD7BA7C"
#define PROCESS "3D6FA8D0-FE05-11D0-9DDA-00C04FD7BA7C"
/* On processor 0 thread 55 at 4096 us of the wall clock, 56 at 4106, idle at 4116; on processor 1
 * thread 57, to the end. */
#define SWITCHES                                                                                   \
    EVENT(THREAD, "36", "0", "100A", "OAAAADcAAAAIAAEAFwAFAAEAAAAAAAAA")                           \
    EVENT(THREAD, "36", "1", "1005", "OQAAAAEAAAAIAAEAFwAFAAEAAAAAAAAA")                           \
    EVENT(THREAD, "36", "0", "1000", "NwAAAAAAAAAIAAEAFwAFAAEAAAAAAAAA")                           \
    EVENT(THREAD, "36", "0", "1014", "AAAAADgAAAAIAAEAFwAFAAEAAAAAAAAA")
#define NAMES                                                                                      \
    EVENT(PROCESS, "3", "0", "1000",                                                               \
          "AQAAAAAAAAAsAAAABAAAAAEAAAADAQAABQAAAAAAAAAAAAAAY2hyb21lLmV4ZQAAAA==")                  \
    EVENT(THREAD, "3", "0", "1000",                                                                \
          "LAAAADgAAAAAAAAAAAAAAAEAAAAAAAAAAgAAAAAAAAADAAAAAAAAAAQAAAAAAAAABQAAAAAAAAAGAAAAAAAAAA" \
          "AAAAAAAAAA")

static void assert_ran(const struct tv_trace *trace, uint32_t row, uint32_t index, const char *name,
                       int64_t start_us, int64_t length_us)
{
    struct tv_slice slice = tv_slice_get(trace, row, index);
    const struct tv_frame *frame = tv_path_frame(trace, slice.path);
    assert_string_equal(tv_trace_info_text(trace->head, frame->name).data, name);
    assert_int_equal(slice.start, start_us * 1000);
    assert_int_equal(slice.length, length_us * 1000);
}

/* The tracks of the processors, on the clock of the events: 1000 us there are 4096 us of the wall
 * clock. */
static void windows_tells_what_ran(void **context)
{
    (void)context;
    struct te_made *made = te_made_new((const char *const[]){
        "#'systemTraceEvents':{'name':'ETW','content':["
        "{'guid':'ClockSync','walltime':'1000','tick':'3E8'}," SWITCHES NAMES "{}]}\n"
        "'ph':'X','ts':1000,'dur':1,'name':'x','pid':44,'tid':55\n"
        "'ph':'M','name':'thread_name','pid':44,'tid':55,'args':{'name':'CrMain'}\n",
        NULL});
    const struct tv_trace *trace = te_made_trace(made);
    const struct tv_trace_info *head = trace->head;
    uint32_t rows[2] = {TV_NONE, TV_NONE};
    unsigned count = 0;
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (trace->tracks[i].kind == TV_TRACK_CPU && count < 2)
            rows[count++] = trace->tracks[i].first_row;
    assert_int_equal(count, 2);
    assert_int_equal(unread(made), 0);
    assert_string_equal(
        tv_trace_info_text(head, trace->tracks[trace->rows[rows[1]].track].name).data, "CPU 1");
    assert_int_equal(trace->rows[rows[0]].count, 2);
    assert_ran(trace, rows[0], 0, "CrMain", 0, 10);
    assert_ran(trace, rows[0], 1, "chrome.exe (tid 56)", 10, 10);
    assert_int_equal(trace->rows[rows[1]].count, 1);
    assert_ran(trace, rows[1], 0, "tid 57", 5, 15);
    assert_int_equal(tv_slice_get(trace, rows[1], 0).flags & TV_SLICE_OPEN, TV_SLICE_OPEN);
    assert_string_equal(tv_trace_info_text(head, head->processes[0].name).data, "chrome.exe");
    te_made_free(made);
}

/* Return the row of the states of a thread, or TV_NONE. */
static uint32_t states_of(const struct tv_trace *trace, uint64_t tid)
{
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (trace->tracks[i].kind == TV_TRACK_STATES &&
            trace->head->threads[trace->tracks[i].thread].id == tid)
            return trace->tracks[i].first_row;
    return TV_NONE;
}

/* Chrome wrote microseconds since 1601 (content/browser/tracing/etw_tracing_agent.cc); the
 * nanoseconds of 2015 would not fit into 64 bits. */
static void windows_counts_from_1601(void **context)
{
    (void)context;
    struct te_made *made = te_made_new((const char *const[]){
        "#'systemTraceEvents':{'name':'ETW','content':["
        "{'guid':'ClockSync','walltime':'002E8B0000001000','tick':'00000000000003E8'}," EVENT(
            THREAD, "36", "0", "002E8B0000001002", "NwAAAAAAAAAIAAEAFwAFAAEAAAAAAAAA")
            EVENT(THREAD, "36", "0", "002E8B000000100A",
                  "OAAAADcAAAAIAAEAFwAFAAEAAAAAAAAA") "{}]}\n"
                                                      "'ph':'X','ts':1000,'dur':20,'name':'x','pid'"
                                                      ":44,'tid':55\n",
        NULL});
    const struct tv_trace *trace = te_made_trace(made);
    uint32_t row = states_of(trace, 55);
    assert_int_not_equal(row, TV_NONE);
    assert_ran(trace, row, 0, "Running", 2, 8);
    assert_int_equal(tv_slice_get(trace, 0, 0).cpu_length, 8000);
    te_made_free(made);
}

/* Threads of the other input have their states there; a thread that left waits (state 5). */
static void windows_tells_states(void **context)
{
    (void)context;
    struct te_made *made = te_made_new((const char *const[]){
        "#'systemTraceEvents':{'name':'ETW','content':["
        "{'guid':'ClockSync','walltime':'1000','tick':'3E8'}," SWITCHES "{}]}\n"
        "'ph':'X','ts':1000,'dur':1,'name':'x','pid':44,'tid':55\n",
        NULL});
    const struct tv_trace *trace = te_made_trace(made);
    uint32_t row = states_of(trace, 55);
    assert_int_not_equal(row, TV_NONE);
    assert_int_equal(trace->head->threads[trace->tracks[trace->rows[row].track].thread].input, 0);
    assert_ran(trace, row, 0, "Running", 0, 10);
    assert_ran(trace, row, 1, "Sleeping", 10, 10);
    row = states_of(trace, 57);
    assert_int_not_equal(row, TV_NONE);
    assert_int_equal(trace->rows[row].count, 1);
    assert_ran(trace, row, 0, "Running", 5, 15);
    assert_int_equal(states_of(trace, 0), TV_NONE);
    te_made_free(made);
}

#define READY(cpu, ts, payload) EVENT(THREAD, "50", cpu, ts, payload)

static void assert_woken(const struct tv_trace *trace, const struct tv_wakeup *wakeup, uint64_t tid,
                         int64_t time_us, uint64_t by)
{
    const struct tv_thread *threads = trace->head->threads;
    assert_int_equal(threads[wakeup->thread].id, tid);
    assert_int_equal(tv_trace_time(trace, wakeup->input, wakeup->time), time_us * 1000);
    assert_int_equal(wakeup->by == TV_NONE ? 0 : threads[wakeup->by].id, by);
}

/* ReadyThread: 55 by the thread that runs on processor 1 (57), and once more in vain; 56 by the
 * thread that the event names; 58, which nothing else knows, by a deferred call, which is not a
 * thread. */
static void windows_tells_who_woke(void **context)
{
    (void)context;
    struct te_made *made = te_made_new((const char *const[]){
        "#'systemTraceEvents':{'name':'ETW','content':["
        "{'guid':'ClockSync','walltime':'1000','tick':'3E8'}," SWITCHES READY("1", "1010",
                                                                              "NwAAAAEAAAA=")
            READY("1", "1011", "NwAAAAEAAAA=") "{'guid':'" THREAD
                                               "','op':50,'ver':2,'cpu':1,'tid':55,'ts':'1016','"
                                               "payload':'OAAAAAEAAAA='}," READY(
                                                   "1", "1018", "OgAAAAEAAQA=") "{}]}\n" SLICE,
        NULL});
    const struct tv_trace *trace = te_made_trace(made);
    uint32_t row = states_of(trace, 55);
    assert_int_equal(trace->rows[row].count, 3);
    assert_ran(trace, row, 1, "Sleeping", 10, 6);
    assert_ran(trace, row, 2, "Runnable", 16, 8);
    row = states_of(trace, 56);
    assert_ran(trace, row, 1, "Sleeping", 20, 2);
    assert_ran(trace, row, 2, "Runnable", 22, 2);
    assert_int_equal(trace->tables.wakeups.count, 3);
    assert_woken(trace, &trace->tables.wakeups.rows[0], 55, 16, 57);
    assert_woken(trace, &trace->tables.wakeups.rows[1], 56, 22, 55);
    assert_woken(trace, &trace->tables.wakeups.rows[2], 58, 24, 0);
    te_made_free(made);
}

/* The clock of such a trace cannot be aligned. */
static void windows_without_a_clock_is_left_out(void **context)
{
    (void)context;
    struct te_made *made = te_made_new((const char *const[]){
        "#'systemTraceEvents':{'name':'ETW','content':[" SWITCHES "{}]}\n" SLICE, NULL});
    assert_int_equal(te_made_trace(made)->head->input_count, 1);
    assert_int_equal(unread(made), 1);
    te_made_free(made);
}

UNIT_TESTS(te_embedded, cmocka_unit_test(are_inputs_of_their_own),
           cmocka_unit_test(what_is_unknown_is_counted),
           cmocka_unit_test(the_end_of_a_string_ends_its_line),
           cmocka_unit_test(windows_tells_what_ran), cmocka_unit_test(windows_tells_states),
           cmocka_unit_test(windows_counts_from_1601), cmocka_unit_test(windows_tells_who_woke),
           cmocka_unit_test(windows_without_a_clock_is_left_out));
