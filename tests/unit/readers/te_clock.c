/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks of several files read as one trace: trace-event.md section 3.12. */
#include "te_made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#define X(ts) "'ph':'X','ts':" #ts ",'dur':1,'name':'x'\n"

/* Check by how many microseconds the clocks of files 1 and 2 are ahead of that of file 0. */
static void assert_offsets(const char *const *files, int64_t first, int64_t second)
{
    struct te_made *made = te_made_new(files);
    const struct tv_trace *trace = te_made_trace(made);
    assert_int_equal(trace->offset[1] - trace->offset[0], first * 1000);
    if (files[2] != NULL)
        assert_int_equal(trace->offset[2] - trace->offset[0], second * 1000);
    te_made_free(made);
}

static uint64_t count_of(struct te_made *made, enum tv_diagnostic_kind kind)
{
    return te_made_trace(made)->head->diagnostics.kinds[kind].count;
}

/* The file that asked takes the middle between question and answer. */
static void marks_join_two_clocks(void **context)
{
    (void)context;
    assert_offsets(
        (const char *const[]){
            X(0) "'ph':'c','ts':120,'name':'clock_sync','args':{'sync_id':'a','issue_ts':100}\n",
            X(1000) "'ph':'c','ts':1010,'name':'clock_sync','args':{'sync_id':'a'}\n", NULL},
        -900, 0);
}

/* A third clock is compared with the first by way of the second. */
static void clocks_are_joined_by_others(void **context)
{
    (void)context;
    assert_offsets((const char *const[]){X(0) "'ph':'c','ts':100,'args':{'sync_id':'a'}\n",
                                         X(0) "'ph':'c','ts':200,'args':{'sync_id':'a'}\n"
                                              "'ph':'c','ts':300,'args':{'sync_id':'b'}\n",
                                         X(0) "'ph':'c','ts':1300,'args':{'sync_id':'b'}\n", NULL},
                   -100, -1100);
}

/* Of two marks the one with the smaller error counts. */
static void the_better_mark_counts(void **context)
{
    (void)context;
    assert_offsets(
        (const char *const[]){X(0) "'ph':'c','ts':200,'args':{'sync_id':'a','issue_ts':100}\n"
                                   "'ph':'c','ts':310,'args':{'sync_id':'b','issue_ts':300}\n",
                              X(0) "'ph':'c','ts':0,'args':{'sync_id':'a'}\n"
                                   "'ph':'c','ts':5,'args':{'sync_id':'b'}\n",
                              NULL},
        300, 0);
    assert_offsets(
        (const char *const[]){X(0) "'ph':'c','ts':310,'args':{'sync_id':'b','issue_ts':300}\n"
                                   "'ph':'c','ts':200,'args':{'sync_id':'a','issue_ts':100}\n",
                              X(0) "'ph':'c','ts':5,'args':{'sync_id':'b'}\n"
                                   "'ph':'c','ts':0,'args':{'sync_id':'a'}\n",
                              NULL},
        300, 0);
}

static void named_clocks_are_one(void **context)
{
    (void)context;
    assert_offsets(
        (const char *const[]){"#'metadata':{'clock-domain':'MONO'}\n" X(
                                  0) "'ph':'c','ts':100,'args':{'sync_id':'a','issue_ts':10}\n",
                              X(0) "'ph':'c','ts':200,'args':{'sync_id':'a'}\n",
                              "#'metadata':{'x':1,'clock-domain':'MONO'}\n" X(50), NULL},
        -145, 0);
}

/* Chrome's old marks: S when it asked, F when it had the answer. */
static void old_marks_of_chrome(void **context)
{
    (void)context;
    assert_offsets((const char *const[]){X(0) "'ph':'S','ts':100,'name':'ClockSyncEvent.k'\n"
                                              "'ph':'F','ts':140,'name':'ClockSyncEvent.k'\n",
                                         X(0) "'ph':'c','ts':20,'args':{'sync_id':'k'}\n", NULL},
                   100, 0);
}

/* An id that occurs a third time, or twice in one file, is not used. */
static void faults_are_counted(void **context)
{
    (void)context;
    struct te_made *made = te_made_new((const char *const[]){
        X(0) "'ph':'c','ts':1,'args':{'sync_id':'a'}\n'ph':'c','ts':5,'args':{'sync_id':'a'}\n"
             "'ph':'c','ts':5,'args':{}\n'ph':'c','ts':5\n",
        X(0) "'ph':'c','ts':2,'args':{'sync_id':'a'}\n",
        X(0) "'ph':'c','ts':9,'args':{'sync_id':'a'}\n", NULL});
    const struct tv_trace *trace = te_made_trace(made);
    assert_int_equal(count_of(made, TV_DIAGNOSTIC_CLOCK_NO_ID), 2);
    assert_int_equal(count_of(made, TV_DIAGNOSTIC_CLOCK_EXTRA), 2); /* also file 0's second */
    assert_int_equal(trace->offset[1] - trace->offset[0], -1000);
    assert_int_equal(trace->offset[2] - trace->offset[0], 0);
    te_made_free(made);
}

/* Joins work on each file's own clock, whatever its offset. */
static void moved_files_are_joined_as_well(void **context)
{
    (void)context;
    struct te_made *made = te_made_new((const char *const[]){
        X(0) "'ph':'c','ts':100,'args':{'sync_id':'a'}\n",
        "'ph':'c','ts':900,'args':{'sync_id':'a'}\n"
        "'ph':'X','ts':1000,'dur':10,'name':'p'\n'ph':'X','ts':1002,'dur':3,'name':'q'\n"
        "'ph':'X','ts':1020,'dur':10,'name':'r'\n"
        "'ph':'s','ts':1003,'name':'f','id':1\n'ph':'f','ts':1015,'name':'f','id':1\n",
        NULL});
    const struct tv_trace *trace = te_made_trace(made);
    assert_int_equal(trace->tables.flows.count, 1);
    const struct tv_flow *flow = &trace->tables.flows.rows[0];
    assert_int_equal(tv_slice_start(trace, flow->from.row, flow->from.index) - trace->offset[1],
                     1002000);
    assert_int_equal(tv_slice_start(trace, flow->to.row, flow->to.index) - trace->offset[1],
                     1020000);
    assert_int_equal(flow->to.time, 1015000);
    te_made_free(made);
}

UNIT_TESTS(te_clock, cmocka_unit_test(marks_join_two_clocks),
           cmocka_unit_test(clocks_are_joined_by_others), cmocka_unit_test(the_better_mark_counts),
           cmocka_unit_test(named_clocks_are_one), cmocka_unit_test(old_marks_of_chrome),
           cmocka_unit_test(faults_are_counted), cmocka_unit_test(moved_files_are_joined_as_well));
