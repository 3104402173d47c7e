/* SPDX-License-Identifier: Apache-2.0 */
/* Samples, stack frames and contexts: trace-event.md sections 3.9, 3.12 and 1. */
#include "te_made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#define FRAMES                                                                                     \
    "#'stackFrames':{'5':{'name':'main','category':'m'},'7':{'parent':5,'name':'f7'},"             \
    "'8':{'parent':'7','name':'f8'}}\n"

static void events_have_a_stack(void **context)
{
    (void)context;
    te_made_assert(FRAMES "'ph':'P','ts':5,'name':'sam'\n"
                          "'ph':'P','ts':6,'name':'sam','sf':7\n"
                          "'ph':'P','ts':7,'name':'sam','sf':'8','tid':3\n"
                          "'ph':'P','ts':8,'name':'sam','stack':['root','0x100']\n"
                          "'ph':'P','ts':9,'name':'sam','sf':99\n",
                   "sample 5 T2 weight 1 sam \"Trace Event Sample\"\n"
                   "sample 6 T2 weight 1 main;f7 \"Trace Event Sample\"\n"
                   "sample 7 T3 weight 1 main;f7;f8 \"Trace Event Sample\"\n"
                   "sample 8 T2 weight 1 root;0x100 \"Trace Event Sample\"\n"
                   "sample 9 T2 weight 1 sam \"Trace Event Sample\"\n"
                   "! stack-unknown 1\n");
}

/* V8 wrote the leaf first. */
static void old_samples_of_v8_have_addresses(void **context)
{
    (void)context;
    te_made_assert("'ph':'P','ts':5,'name':'V8Sample','args':{'data':{'stack':['0x61','0x22'],"
                   "'vm_state':'js'}}\n"
                   "'ph':'P','ts':6,'name':'V8Sample','args':{'data':{'stack':[],"
                   "'vm_state':'gc'}}\n",
                   "sample 5 T2 weight 1 0x22;0x61 \"V8 Sample\"\n"
                   "sample 6 T2 weight 1 gc \"V8 Sample\"\n");
}

#define ADDED(ts, start, length, name)                                                             \
    "'ph':'M','ts':" ts ",'name':'JitCodeAdded','args':{'data':{'code_start':'" start              \
    "','code_len':" length ",'name':'" name "'}}\n"
#define MOVED(ts, from, to)                                                                        \
    "'ph':'M','ts':" ts ",'name':'JitCodeMoved','args':{'data':{'old_code_start':'" from           \
    "','code_start':'" to "','code_len':1}}\n"
#define TICK(ts, stack)                                                                            \
    "'ph':'P','ts':" ts ",'name':'V8Sample','args':{'data':{'stack':[" stack "]}}\n"

/* Code that was added and moved up to the time of a sample counts, wherever the events stand.
 * Moved code keeps its size and replaces the code that it overlaps. */
static void code_of_v8_has_names(void **context)
{
    (void)context;
    te_made_assert(
        TICK("4", "'0x2a574306061','0x2a574306224'") /* as in Chrome's own test */
        ADDED("1", "0x2a574306060", "2", "LazyCompile:~foo http://example.com/bar.js:23")
            ADDED("2", "0x2a574306220", "20", "bar") MOVED("3", "0x2a574306220", "0x2a574306222")
                ADDED("4", "0xffffffff9f90a1a0", "20", "baz") /* at the last address of all */
        TICK("3", "'0xffffffff9f90a1a0','0x2a574306221'")
            TICK("5", "'0xffffffff9f90a1b3','0x2a574306062','0x2a574306236'"),
        "sample 3 T2 weight 1 0x2a574306221;0xffffffff9f90a1a0 \"V8 Sample\"\n"
        "sample 4 T2 weight 1 bar;foo(http://example.com/bar.js:23) \"V8 Sample\"\n"
        "sample 5 T2 weight 1 0x2a574306236;0x2a574306062;baz \"V8 Sample\"\n");
}

static void code_of_v8_covers_what_was_there(void **context)
{
    (void)context;
    te_made_assert(
        ADDED("1", "0x100", "16", "a") ADDED("1", "0x110", "16", "b") ADDED("1", "0x120", "16", "c")
            TICK("1", "'0x10f'") TICK("1", "'0x11f'") TICK("1", "'0x120'") TICK("1", "'0x130'")
                ADDED("2", "0x108", "32", "*d (eval) x.js:7") TICK("2", "'0x107'")
                    TICK("2", "'0x110'") TICK("2", "'0x127'") TICK("2", "'0x128'")
                        MOVED("3", "0x108", "0x200") MOVED("3", "0x999", "0x300")
                            TICK("3", "'0x110'") TICK("3", "'0x21f'")
                                TICK("3", "'0x300'") "'ph':'P','pid':5,'ts':3,'name':'V8Sample','"
                                                     "args':{'data':{'stack':['0x200']}}\n"
                                                     "'ph':'M','ts':4,'name':'JitCodeAdded','args':"
                                                     "{'data':{'code_start':7}}\n",
        "sample 1 T2 weight 1 a \"V8 Sample\"\nsample 1 T2 weight 1 b \"V8 Sample\"\n"
        "sample 1 T2 weight 1 c \"V8 Sample\"\nsample 1 T2 weight 1 0x130 \"V8 Sample\"\n"
        "sample 2 T2 weight 1 a \"V8 Sample\"\nsample 2 T2 weight 1 d (eval)(x.js:7) \"V8 "
        "Sample\"\n"
        "sample 2 T2 weight 1 d (eval)(x.js:7) \"V8 Sample\"\nsample 2 T2 weight 1 0x128 \"V8 "
        "Sample\"\n"
        "sample 3 T2 weight 1 0x110 \"V8 Sample\"\nsample 3 T2 weight 1 d (eval)(x.js:7) \"V8 "
        "Sample\"\n"
        "sample 3 T2 weight 1 0x300 \"V8 Sample\"\nsample 3 T2 weight 1 0x200 \"V8 Sample\"\n"
        "! profile-bad 1\n");
}

/* A table of a process is searched after that of the file. */
static void processes_have_frames(void **context)
{
    (void)context;
    te_made_assert(
        FRAMES
        "'ph':'M','name':'stackFrames','args':{'stackFrames':{'5':{'name':'x'},'9':{'name':'y'}}}\n"
        "'ph':'P','ts':5,'name':'sam','sf':5\n"
        "'ph':'P','ts':6,'name':'sam','sf':9\n"
        "'ph':'P','ts':7,'name':'sam','sf':9,'pid':3\n",
        "sample 5 T2 weight 1 main \"Trace Event Sample\"\n"
        "sample 6 T2 weight 1 y \"Trace Event Sample\"\n"
        "sample 7 T2 weight 1 sam \"Trace Event Sample\"\n"
        "! stack-unknown 1\n");
}

/* Missing parents, circles, duplicates. */
static void faulty_frames_are_roots(void **context)
{
    (void)context;
    te_made_assert("#'stackFrames':{'1':{'name':'a','parent':'x'},'2':{'name':'b','parent':3},"
                   "'3':{'name':'c','parent':2},'4':{'name':'old'},'4':{'name':'d','parent':4}}\n"
                   "'ph':'P','ts':1,'name':'s','sf':1\n"
                   "'ph':'P','ts':2,'name':'s','sf':2\n"
                   "'ph':'P','ts':3,'name':'s','sf':3\n"
                   "'ph':'P','ts':4,'name':'s','sf':4\n",
                   "sample 1 T2 weight 1 a \"Trace Event Sample\"\n"
                   "sample 2 T2 weight 1 c;b \"Trace Event Sample\"\n"
                   "sample 3 T2 weight 1 c \"Trace Event Sample\"\n"
                   "sample 4 T2 weight 1 d \"Trace Event Sample\"\n"
                   "! stack-no-parent 1\n"
                   "! stack-circle 2\n");
}

static void global_samples_find_their_thread(void **context)
{
    (void)context;
    te_made_assert(FRAMES "#'samples':[{'cpu':0,'tid':2,'ts':1000,'name':'cycles','sf':7,"
                          "'weight':3},{'tid':'2','ts':2000.5,'name':'cycles','sf':5},"
                          "{'tid':77,'ts':3000,'sf':5},{'tid':2},null,{'tid':2,'ts':4,'sf':'x'}]\n"
                          "'ph':'X','ts':0,'dur':1,'name':'x'\n",
                   "sample 4 T2 weight 1  \"samples\"\n"
                   "sample 1000 T2 cpu 0 weight 3 main;f7 \"cycles\"\n"
                   "sample 2000.500 T2 weight 1 main \"cycles\"\n"
                   "sample 3000 T77 weight 1 main \"samples\"\n"
                   "! stack-unknown 1\n"
                   "! sample-no-thread 1\n"
                   "! sample-no-time 2\n");
}

/* A sample makes the thread that it names; without a tid it has none. */
static void samples_make_threads(void **context)
{
    (void)context;
    struct te_made *made = te_made_new((const char *const[]){
        FRAMES "#'samples':[{'pid':9,'tid':2,'ts':1,'sf':5},{'pid':1,'tid':2,'ts':2,'sf':5},"
               "{'tid':77,'ts':3,'sf':5},{'tid':77,'ts':4,'sf':5},{'ts':5,'sf':5}]\n"
               "'ph':'X','ts':0,'dur':1,'name':'x'\n",
        NULL});
    const struct tv_trace *trace = te_made_trace(made);
    const struct tv_trace_info *head = trace->head;
    const struct tv_sample *samples = trace->tables.samples.rows;
    assert_int_equal(head->processes[head->threads[samples[0].thread].process].id, 9);
    assert_int_equal(head->processes[head->threads[samples[1].thread].process].id, 1);
    assert_int_equal(head->processes[head->threads[samples[2].thread].process].id, 77);
    assert_int_equal(samples[3].thread, samples[2].thread);
    assert_int_equal(samples[4].thread, TV_NONE);
    assert_int_equal(head->diagnostics.kinds[TV_DIAGNOSTIC_SAMPLE_NO_THREAD].count, 3);
    te_made_free(made);
}

/* The tables may stand after the events, and belong to a process. */
static void unknown_stacks_of_slices_are_counted(void **context)
{
    (void)context;
    te_made_assert(
        "'ph':'X','ts':0,'dur':1,'name':'x','sf':5\n"
        "'ph':'X','ts':1,'dur':1,'name':'x','sf':99\n"
        "'ph':'i','ts':2,'name':'x','sf':'99'\n"
        "'ph':'X','ts':3,'dur':1,'name':'x','sf':5,'esf':98,'estack':['a']\n"
        "'ph':'B','ts':4,'name':'x','sf':5,'stack':['a']\n"
        "'ph':'E','ts':5,'sf':41\n"
        "'ph':'X','ts':6,'dur':1,'name':'x','sf':41,'pid':3\n"
        "'ph':'M','name':'stackFrames','args':{'stackFrames':{'41':{'name':'f'}}}\n" FRAMES,
        "! stack-unknown 3\n"
        "! stack-twice 2\n");
}

/* A file with only samples: the thread's process has its id. */
static void samples_alone_make_threads(void **context)
{
    (void)context;
    te_made_assert(FRAMES "#'samples':[{'tid':1,'ts':1000,'name':'a','sf':5,'weight':1},"
                          "{'tid':1,'ts':2000,'name':'b','sf':8,'weight':1}]\n",
                   "sample 1000 T1 weight 1 main \"a\"\n"
                   "sample 2000 T1 weight 1 main;f7;f8 \"b\"\n");
}

#define CHUNK                                                                                      \
    "'ph':'P','ts':4,'tid':3,'name':'ProfileChunk','id':123,'args':{'data':{'timeDeltas':[1,1],"   \
    "'cpuProfile':{'nodes':[{'callFrame':{'functionName':'(root)'},'id':1},"                       \
    "{'callFrame':{'functionName':'a','url':'a.js','lineNumber':1},'id':2,'parent':1},"            \
    "{'callFrame':{'functionName':'','url':'b.js','lineNumber':-1},'id':3,'parent':2}],"           \
    "'samples':[3,2]}}}\n"
#define PROFILE "'ph':'P','ts':3,'name':'Profile','id':123,'args':{'data':{'startTime':10}}\n"

/* Times continue from the start; samples belong to the thread on which the profile began. */
static void v8_profiles_come_in_chunks(void **context)
{
    (void)context;
    te_made_assert(
        PROFILE CHUNK
        "'ph':'P','ts':5,'tid':3,'name':'ProfileChunk','id':123,'args':{'data':{'timeDeltas':[3],"
        "'cpuProfile':{'nodes':[{'callFrame':{'functionName':'c'},'id':4,'parent':2}],"
        "'samples':[4]}}}\n"
        "'ph':'P','ts':5,'tid':3,'name':'ProfileChunk','id':123,'args':{'data':{'endTime':30}}\n",
        "sample 11 T2 weight 1 a(a.js:2);(anonymous)(b.js:0) \"samples\"\n"
        "sample 11 T2 weight 1000 a(a.js:2);(anonymous)(b.js:0) \"cpu\"\n"
        "sample 12 T2 weight 1 a(a.js:2) \"samples\"\n"
        "sample 12 T2 weight 3000 a(a.js:2) \"cpu\"\n"
        "sample 15 T2 weight 1 a(a.js:2);c \"samples\"\n"
        "sample 15 T2 weight 15000 a(a.js:2);c \"cpu\"\n");
    /* The beginning may stand anywhere in the file.  Without an end the last sample lasts as long
     * as the others on average: 1 us. */
    te_made_assert(CHUNK PROFILE,
                   "sample 11 T2 weight 1 a(a.js:2);(anonymous)(b.js:0) \"samples\"\n"
                   "sample 11 T2 weight 1000 a(a.js:2);(anonymous)(b.js:0) \"cpu\"\n"
                   "sample 12 T2 weight 1 a(a.js:2) \"samples\"\n"
                   "sample 12 T2 weight 1000 a(a.js:2) \"cpu\"\n");
}

static void profiles_are_of_processes(void **context)
{
    (void)context;
    te_made_assert(PROFILE "'ph':'P','ts':3,'pid':7,'tid':8,'name':'Profile','id':123,"
                           "'args':{'data':{'startTime':100}}\n"
                           "'ph':'P','ts':4,'pid':7,'tid':9,'name':'ProfileChunk','id':123,"
                           "'args':{'data':{'timeDeltas':[5],'cpuProfile':{'nodes':["
                           "{'callFrame':{'functionName':'z'},'id':2}],'samples':[2]}}}\n" CHUNK,
                   "sample 11 T2 weight 1 a(a.js:2);(anonymous)(b.js:0) \"samples\"\n"
                   "sample 11 T2 weight 1000 a(a.js:2);(anonymous)(b.js:0) \"cpu\"\n"
                   "sample 12 T2 weight 1 a(a.js:2) \"samples\"\n"
                   "sample 12 T2 weight 1000 a(a.js:2) \"cpu\"\n"
                   "sample 105 T8 weight 1 z \"samples\"\n"
                   "sample 105 T8 weight 0 z \"cpu\"\n");
}

static void faulty_profiles_are_counted(void **context)
{
    (void)context;
    te_made_assert(CHUNK, "! profile-bad 1\n");
    te_made_assert(PROFILE "'ph':'P','ts':4,'name':'ProfileChunk','id':123,'args':{}\n"
                           "'ph':'P','ts':4,'name':'Profile'\n",
                   "sample 4 T2 weight 1 Profile \"Trace Event Sample\"\n"
                   "! profile-bad 1\n");
    te_made_assert(PROFILE
                   "'ph':'P','ts':4,'name':'ProfileChunk','id':123,'args':{'data':{'timeDeltas':"
                   "[1,2],'cpuProfile':{'nodes':[{'id':'x'},{'id':5,'parent':4,'callFrame':"
                   "{'functionName':'f'}}],'samples':[9,5,5]}}}\n",
                   "sample 13 T2 weight 1 f \"samples\"\n"
                   "sample 13 T2 weight 0 f \"cpu\"\n"
                   "! profile-bad 4\n");
}

/* Entering a context suspends the one of its type; leaving resumes it. */
static void contexts_are_intervals(void **context)
{
    (void)context;
    te_made_assert("'ph':'(','ts':1,'name':'Tree','id':'A'\n"
                   "'ph':'(','ts':3,'name':'Tree','id':'B'\n"
                   "'ph':'(','ts':4,'name':'Other','id':'A'\n"
                   "'ph':')','ts':5,'name':'Tree','id':'B'\n"
                   "'ph':')','ts':6,'name':'Tree','id':'nobody'\n"
                   "'ph':')','ts':6,'name':'Tree','id':'A','tid':3\n"
                   "'ph':')','ts':8,'name':'Tree','id':'A'\n"
                   "'ph':'n','ts':9,'name':'n','id':1\n",
                   "async n T2 9+0 c::ptr:1\n"
                   "context T2 Tree A 1..3\n"
                   "context T2 Tree B 3..5\n"
                   "context T2 Other A 4..9\n"
                   "context T2 Tree A 5..8\n"
                   "! context-unmatched 2\n");
}

UNIT_TESTS(
    te_samples, cmocka_unit_test(events_have_a_stack),
    cmocka_unit_test(old_samples_of_v8_have_addresses), cmocka_unit_test(code_of_v8_has_names),
    cmocka_unit_test(code_of_v8_covers_what_was_there), cmocka_unit_test(processes_have_frames),
    cmocka_unit_test(faulty_frames_are_roots), cmocka_unit_test(global_samples_find_their_thread),
    cmocka_unit_test(samples_make_threads), cmocka_unit_test(unknown_stacks_of_slices_are_counted),
    cmocka_unit_test(samples_alone_make_threads), cmocka_unit_test(v8_profiles_come_in_chunks),
    cmocka_unit_test(profiles_are_of_processes), cmocka_unit_test(faulty_profiles_are_counted),
    cmocka_unit_test(contexts_are_intervals));
