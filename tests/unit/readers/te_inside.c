/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of other formats inside of Trace Event files. */
#include "te_made.h"

#include <string.h>

#include "unit.h"

static uint64_t unread(struct te_made *made)
{
    return te_made_trace(made)->head->diagnostics.kinds[TV_DIAGNOSTIC_SUBTRACE_UNREAD].count;
}

#define SLICE "'ph':'X','ts':1000,'dur':1,'name':'x','pid':7,'tid':8\n"

/* Each is an input of its own, on one clock with the events and naming their threads. */
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
    const struct tv_head *head = trace->head;
    assert_int_equal(head->input_count, 4);
    assert_int_equal(unread(made), 0);
    assert_string_equal(tv_head_text(head, head->inputs[1].name).data,
                        "made.json: powerTraceAsString");
    assert_int_equal(trace->tables.counters.count, 1);
    assert_int_equal(trace->tables.counters.rows[0].sample_count, 2);
    assert_int_equal(trace->offset[1] - trace->offset[0], 2000000);
    assert_string_equal(tv_head_text(head, head->processes[0].name).data, "app");
    assert_string_equal(tv_head_text(head, head->threads[0].name).data, "main");
    assert_string_equal(tv_head_find_metadata(head, 3, "cgroup cpuset").data, "4 7 1");
    te_made_free(made);
}

/* Nothing is in itself, however deep. */
static void what_is_unknown_is_counted(void **context)
{
    (void)context;
    struct te_made *made = te_made_new((const char *const[]){
        "#'systemTraceEvents':'[{\\u0022ph\\u0022:\\u0022X\\u0022,\\u0022ts\\u0022:1}]',"
        "'powerTraceAsString':'main;a 12\\nmain;b 13\\n','androidProcessDump':'',"
        "'cgroupDump':{'name':'ETW'}\n" SLICE,
        NULL});
    const struct tv_head *head = te_made_trace(made)->head;
    assert_int_equal(head->input_count, 1);
    assert_int_equal(unread(made), 4);
    te_made_free(made);
}

UNIT_TESTS(te_inside, cmocka_unit_test(are_inputs_of_their_own),
           cmocka_unit_test(what_is_unknown_is_counted));
