/* SPDX-License-Identifier: Apache-2.0 */
/* Async slices: trace-event.md sections 3.5 (b n e), 3.6 (S T p F) and 3.12 (=). */
#include "te_made.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "unit.h"

static void nests_by_id(void **context)
{
    (void)context;
    te_made_assert("'ph':'b','ts':524,'name':'a','id':72\n"
                   "'ph':'b','ts':525,'name':'b','id':72\n"
                   "'ph':'n','ts':530,'name':'n','id':72\n"
                   "'ph':'e','ts':560,'name':'b','id':72\n"
                   "'ph':'e','ts':565,'name':'a','id':72\n",
                   "async a T2 524+41 c::ptr:72\n"
                   "async   b T2 525+35 c::ptr:72\n"
                   "async     n T2 530+0 c::ptr:72\n");
}

/* The order of the file does not matter. */
static void sorts_by_time(void **context)
{
    (void)context;
    te_made_assert("'ph':'e','ts':560,'name':'a','id':72\n"
                   "'ph':'b','ts':524,'name':'a','id':72\n",
                   "async a T2 524+36 c::ptr:72\n");
    /* At one time the order of the file counts: the end stands before its beginning. */
    te_made_assert("'ph':'e','ts':5,'name':'a','id':1\n"
                   "'ph':'b','ts':5,'name':'a','id':1\n",
                   "async a T2 5+0 c::ptr:1 before\n"
                   "async a T2 5+0 c::ptr:1 open\n"
                   "! async-unmatched-end 1\n"
                   "! async-open 1\n");
}

/* An end closes the innermost slice of its name; slices above that one have no end. */
static void skips_to_the_name(void **context)
{
    (void)context;
    te_made_assert("'ph':'b','ts':1,'name':'a','id':1\n"
                   "'ph':'b','ts':2,'name':'b','id':1\n"
                   "'ph':'b','ts':3,'name':'c','id':1\n"
                   "'ph':'e','ts':9,'name':'a','id':1\n",
                   "async a T2 1+8 c::ptr:1\n"
                   "async   b T2 2+7 c::ptr:1 open\n"
                   "async     c T2 3+6 c::ptr:1 open\n"
                   "! async-open 2\n");
}

static void closes_same_names_from_within(void **context)
{
    (void)context;
    te_made_assert("'ph':'b','ts':1,'name':'a','id':1\n"
                   "'ph':'b','ts':2,'name':'a','id':1\n"
                   "'ph':'b','ts':3,'name':'b','id':1\n"
                   "'ph':'e','ts':4,'name':'a','id':1\n"
                   "'ph':'b','ts':5,'name':'b','id':1\n"
                   "'ph':'e','ts':6,'name':'b','id':1\n"
                   "'ph':'e','ts':9,'name':'a','id':1\n",
                   "async a T2 1+8 c::ptr:1\n"
                   "async   a T2 2+2 c::ptr:1\n"
                   "async     b T2 3+6 c::ptr:1 open\n"
                   "async   b T2 5+1 c::ptr:1\n"
                   "! async-open 1\n");
}

/* Without an end a slice lasts to the last event of the id; without a beginning it starts at the
 * first. */
static void keeps_what_does_not_match(void **context)
{
    (void)context;
    te_made_assert("'ph':'b','ts':1,'name':'a','id':1\n"
                   "'ph':'b','ts':2,'name':'b','id':1\n"
                   "'ph':'e','ts':5,'name':'b','id':1\n",
                   "async a T2 1+4 c::ptr:1 open\n"
                   "async   b T2 2+3 c::ptr:1\n"
                   "! async-open 1\n");
    te_made_assert("'ph':'n','ts':1,'name':'n','id':1\n"
                   "'ph':'e','ts':5,'name':'b','id':1\n",
                   "async n T2 1+0 c::ptr:1\n"
                   "async b T2 1+4 c::ptr:1 before\n"
                   "! async-unmatched-end 1\n");
}

/* Ids are texts.  Categories, scopes and, for local ids, processes tell them apart. */
static void tells_ids_apart(void **context)
{
    (void)context;
    te_made_assert("'ph':'b','ts':1,'name':'a','id':'0x1'\n"
                   "'ph':'e','ts':2,'name':'a','id':'0x1'\n"
                   "'ph':'b','ts':3,'name':'a','id':'1'\n"
                   "'ph':'e','ts':4,'name':'a','id':1\n"
                   "'ph':'b','ts':5,'name':'a','id':1,'scope':'s'\n"
                   "'ph':'b','ts':6,'name':'a','id':1,'cat':'d'\n"
                   "'ph':'e','ts':7,'name':'a','id':1,'scope':'s'\n"
                   "'ph':'e','ts':8,'name':'a','id':1,'cat':'d'\n",
                   "async a T2 1+1 c::ptr:0x1\n"
                   "async a T2 3+1 c::ptr:1\n"
                   "async a T2 5+2 c::s:1\n"
                   "async a T2 6+2 d::ptr:1\n");
    te_made_assert("'ph':'b','ts':1,'name':'a','id2':{'local':'0x1'}\n"
                   "'ph':'b','ts':2,'name':'a','pid':7,'tid':8,'id2':{'local':'0x1'}\n"
                   "'ph':'e','ts':5,'name':'a','id2':{'local':'0x1'}\n"
                   "'ph':'e','ts':6,'name':'a','pid':7,'tid':8,'id2':{'local':'0x1'}\n"
                   "'ph':'b','ts':7,'name':'g','id2':{'global':'0x1'}\n"
                   "'ph':'e','ts':9,'name':'g','id':'0x1'\n",
                   "async a T2 1+4 c:1:ptr:0x1\n"
                   "async a T8 2+4 c:7:ptr:0x1\n"
                   "async g T2 7+2 c::ptr:0x1\n");
}

static void needs_id_and_name(void **context)
{
    (void)context;
    te_made_assert("'ph':'b','ts':1,'name':'a'\n"
                   "'ph':'b','ts':2,'name':'a','id':1,'id2':{'local':1}\n"
                   "'ph':'b','ts':3,'name':'a','id2':{}\n"
                   "'ph':'b','ts':4,'id':1\n"
                   "'ph':'S','ts':5,'name':'a'\n",
                   "! id-missing 2\n"
                   "! id-ambiguous 2\n"
                   "! async-nameless 1\n");
}

/* A slice whose ends are on two threads belongs to the process. */
static void moves_to_the_process(void **context)
{
    (void)context;
    te_made_assert("'ph':'b','ts':1,'name':'a','id':1\n"
                   "'ph':'e','ts':5,'name':'a','id':1,'tid':3\n",
                   "async a P1 1+4 c::ptr:1\n");
}

static void groups_measures(void **context)
{
    (void)context;
    te_made_assert("'ph':'b','ts':1,'cat':'blink.user_timing','name':'A:a1','id':3\n"
                   "'ph':'e','ts':11,'cat':'blink.user_timing','name':'A:a1','id':3\n"
                   "'ph':'b','ts':2,'cat':'blink.user_timing','name':'A:a2/eyJhIjoxfQ==','id':4\n"
                   "'ph':'e','ts':4,'cat':'blink.user_timing','name':'A:a2/eyJhIjoxfQ==','id':4\n"
                   "'ph':'n','ts':20,'cat':'blink.user_timing','name':'plain','id':5\n",
                   "async a1 T2 1+10 A:blink.user_timing\n"
                   "async   a2 T2 2+2 A:blink.user_timing\n"
                   "async plain T2 20+0 blink.user_timing::ptr:5\n");
}

/* Searching a million open slices one by one would take minutes; this test would need 20000 squared
 * steps. */
static void ends_of_deep_stacks_are_found(void **context)
{
    enum { DEPTH = 20000 };
    (void)context;
    char *file = malloc(DEPTH * 100), *at = file;
    for (int i = 0; i < DEPTH; i++)
        at += snprintf(at, 400, "'ph':'b','ts':%d,'name':'n%d','id':1\n", i, i % 1000);
    for (int i = 0; i < DEPTH; i++)
        at += snprintf(at, 400, "'ph':'e','ts':%d,'name':'x','id':1\n", DEPTH);
    struct te_made *made = te_made_new((const char *const[]){file, NULL});
    const struct tv_trace_info *head = te_made_trace(made)->head;
    assert_int_equal(head->diagnostics.kinds[TV_DIAGNOSTIC_ASYNC_OPEN].count, DEPTH);
    assert_int_equal(head->diagnostics.kinds[TV_DIAGNOSTIC_ASYNC_UNMATCHED_END].count, DEPTH);
    te_made_free(made);
    free(file);
}

static void steps_follow_or_lead(void **context)
{
    (void)context;
    /* T lasts from its event to the next. */
    te_made_assert("'ph':'F','ts':560,'name':'a','id':72\n"
                   "'ph':'T','ts':540,'name':'a','id':72,'args':{'step':'s1'}\n"
                   "'ph':'T','ts':548,'name':'a','id':72,'args':{'step':'s2'}\n"
                   "'ph':'S','ts':524,'name':'a','id':72\n",
                   "async a T2 524+36 :ptr:72\n"
                   "async   s1 T2 540+8 :ptr:72\n"
                   "async   s2 T2 548+12 :ptr:72\n");
    /* p lasts from the event before to its own. */
    te_made_assert("'ph':'S','ts':1,'name':'a','id':1\n"
                   "'ph':'p','ts':3,'name':'a','id':1,'args':{'step':'one'}\n"
                   "'ph':'p','ts':4,'name':'a','id':1,'args':{'step':'two'}\n"
                   "'ph':'F','ts':9,'name':'a','id':1\n",
                   "async a T2 1+8 :ptr:1\n"
                   "async   one T2 1+2 :ptr:1\n"
                   "async   two T2 3+1 :ptr:1\n");
}

static void mixed_steps_are_left_out(void **context)
{
    (void)context;
    te_made_assert("'ph':'S','ts':1,'name':'a','id':1\n"
                   "'ph':'T','ts':3,'name':'a','id':1,'args':{'step':'one'}\n"
                   "'ph':'p','ts':4,'name':'a','id':1,'args':{'step':'two'}\n"
                   "'ph':'F','ts':9,'name':'a','id':1\n",
                   "async a T2 1+8 :ptr:1\n"
                   "async   one T2 3+1 :ptr:1\n"
                   "! async-mixed-steps 1\n");
}

static void old_ones_end_with_the_trace(void **context)
{
    (void)context;
    te_made_assert("'ph':'S','ts':0,'name':'a','id':72\n"
                   "'ph':'T','ts':5,'name':'a','id':72,'args':{'step':'s1'}\n"
                   "'ph':'X','ts':1000,'dur':1000,'name':'b'\n",
                   "async a T2 0+2000 :ptr:72 open\n"
                   "async   s1 T2 5+1995 :ptr:72 open\n"
                   "! async-open 1\n");
}

/* Name and id are the key; the category is not. */
static void old_ones_match_by_name(void **context)
{
    (void)context;
    te_made_assert("'ph':'S','ts':1,'name':'a','id':1\n"
                   "'ph':'S','ts':2,'name':'a','id':1\n"
                   "'ph':'F','ts':3,'name':'b','id':1\n"
                   "'ph':'T','ts':3,'name':'b','id':1\n"
                   "'ph':'F','ts':5,'name':'a','id':1,'cat':'other'\n",
                   "async a T2 1+4 :ptr:1\n"
                   "! async-begun-twice 1\n"
                   "! async-stray-step 2\n");
}

/* A T with a length is the state of a thread.  A running state is on its processor's track, too.
 * Colours are those of thread_state_running and so on, letters those of the kernel. */
static void thread_states_are_tracks(void **context)
{
    (void)context;
    te_made_assert("'ph':'T','ts':15,'dur':2.5,'name':'Sleeping'\n"
                   "'ph':'T','ts':10,'dur':5,'name':'Running','args':{'cpu':3}\n"
                   "'ph':'T','ts':18,'dur':1,'name':'D','args':{'io_wait':1,'cpu':9}\n"
                   "'ph':'T','ts':19,'dur':1,'name':'D','args':{'io_wait':0}\n"
                   "'ph':'T','ts':20,'dur':1,'name':'R+'\n"
                   "'ph':'T','ts':21,'dur':1,'name':'odd'\n"
                   "'ph':'T','ts':0,'dur':1,'name':'Running','args':{'cpu':0},'tid':3\n"
                   "'ph':'M','name':'thread_name','args':{'name':'main'}\n",
                   "cpu CPU 0 Thread 3 0+1\n"
                   "cpu CPU 3 main 10+5\n"
                   "states T2 Running#3 10+5\n"
                   "states T2 Sleeping#5 15+2.500\n"
                   "states T2 Uninterruptible Sleep (I/O)#2 18+1\n"
                   "states T2 Uninterruptible Sleep#1 19+1\n"
                   "states T2 Runnable (preempted)#4 20+1\n"
                   "states T2 odd#6 21+1\n"
                   "states T3 Running#3 0+1\n");
}

/* The reason stands inside of the state that names it, not where the state before ends. */
static void states_tell_why_threads_wait(void **context)
{
    (void)context;
    te_made_assert("'ph':'T','ts':10,'dur':5,'name':'D'\n"
                   "'ph':'T','ts':15,'dur':2,'name':'D','args':{'blocked_function':'read_page',"
                   "'io_wait':1}\n"
                   "'ph':'T','ts':17,'dur':0,'name':'D','args':{'blocked_function':'mutex'}\n"
                   "'ph':'T','ts':17,'dur':1,'name':'R','args':{'blocked_function':null}\n",
                   "states T2 Uninterruptible Sleep#1 10+5\n"
                   "states T2 Uninterruptible Sleep (I/O)#2 15+2\n"
                   "states T2 Uninterruptible Sleep#1 17+0\n"
                   "states T2 Runnable#4 17+1\n"
                   "blocked T2 read_page io 15.001\n"
                   "blocked T2 mutex 17\n");
}

static void states_that_overlap_are_cut(void **context)
{
    (void)context;
    te_made_assert("'ph':'T','ts':10,'dur':5,'name':'S'\n"
                   "'ph':'T','ts':12,'dur':9,'name':'R'\n"
                   "'ph':'T','ts':12,'dur':1,'name':'R','tid':3\n",
                   "states T2 Sleeping#5 10+2\n"
                   "states T2 Runnable#4 12+9\n"
                   "states T3 Runnable#4 12+1\n"
                   "! state-overlap 1\n");
}

/* Ids join directly or through others, in any order, of async events and objects. */
static void joins_ids(void **context)
{
    (void)context;
    te_made_assert("'ph':'=','ts':0,'name':'j','id':'B','args':{'linked_id':'C'}\n"
                   "'ph':'n','ts':1,'name':'a','id':'A'\n"
                   "'ph':'n','ts':2,'name':'c','id':'C'\n"
                   "'ph':'n','ts':3,'name':'d','id':'D'\n"
                   "'ph':'N','ts':4,'name':'O','id':'B'\n"
                   "'ph':'N','ts':4,'name':'O','id':'B','pid':9\n"
                   "'ph':'=','ts':9,'name':'j','id':'A','args':{'linked_id':'B'}\n",
                   "async a P1 1+0 c::ptr:A joined\n"
                   "async c P1 2+0 c::ptr:C joined\n"
                   "async d T2 3+0 c::ptr:D\n"
                   "async O P1 4+5 c:ptr:B open joined\n"
                   "object O B ptr P1 4..9 N joined\n"
                   "object O B ptr P9 4..9 N\n");
}

/* Each slice lies in the innermost one that is open when it starts; all stand on the earliest one's
 * track. */
static void joined_ids_are_one_tree(void **context)
{
    (void)context;
    te_made_assert("'ph':'b','ts':0,'name':'fetch','id':'A'\n"
                   "'ph':'b','ts':1,'name':'dns','id':'A'\n"
                   "'ph':'e','ts':5,'name':'dns','id':'A'\n"
                   "'ph':'b','ts':6,'name':'read','id':'B','tid':3\n"
                   "'ph':'e','ts':15,'name':'read','id':'B','tid':3\n"
                   "'ph':'e','ts':12,'name':'fetch','id':'A'\n"
                   "'ph':'S','ts':20,'name':'paint','id':'C','pid':9\n"
                   "'ph':'F','ts':25,'name':'paint','id':'C','pid':9\n"
                   "'ph':'=','ts':9,'name':'j','id':'C','args':{'linked_id':'B'}\n"
                   "'ph':'=','ts':9,'name':'j','id':'B','args':{'linked_id':'A'}\n",
                   "async fetch P1 0+12 c::ptr:A joined\n"
                   "async   dns P1 1+4 c::ptr:A joined\n"
                   "async   read P1 6+9 c::ptr:B joined\n"
                   "async paint P1 20+5 :ptr:C joined\n");
    /* Lifetimes of objects are slices of the tree, also of objects that only have a snapshot. */
    te_made_assert("'ph':'N','ts':1,'name':'Page','id':'P'\n"
                   "'ph':'b','ts':2,'name':'fetch','id':'A'\n"
                   "'ph':'O','ts':3,'name':'Body','id':'Q','pid':9,'args':{'snapshot':{}}\n"
                   "'ph':'n','ts':5,'name':'part','id':'B','tid':3\n"
                   "'ph':'D','ts':6,'name':'Body','id':'Q','pid':9\n"
                   "'ph':'e','ts':8,'name':'fetch','id':'A'\n"
                   "'ph':'D','ts':9,'name':'Page','id':'P'\n"
                   "'ph':'D','ts':9,'name':'Other','id':'R'\n"
                   "'ph':'=','ts':9,'name':'j','id':'P','args':{'linked_id':'B'}\n"
                   "'ph':'=','ts':9,'name':'j','id':'B','args':{'linked_id':'A'}\n"
                   "'ph':'=','ts':9,'name':'j','id':'Q','pid':9,'args':{'linked_id':'P'}\n"
                   "'ph':'=','ts':9,'name':'j','id':'P','args':{'linked_id':'A'}\n",
                   "async Page P1 1+8 c:ptr:P joined\n"
                   "async   fetch P1 2+6 c::ptr:A joined\n"
                   "async     Body P1 3+3 c:ptr:Q joined\n"
                   "async       part P1 5+0 c::ptr:B joined\n"
                   "object Page P ptr P1 1..9 N D joined\n"
                   "object Body Q ptr P9 3..6 D snapshots 3 joined\n"
                   "object Other R ptr P1 9..9 D\n"
                   "! joined-again 1\n");
    /* The names differ but the track is the same one; the other fetch has a track of its own. */
    struct te_made *made =
        te_made_new((const char *const[]){"'ph':'b','ts':0,'name':'fetch','id':'A'\n"
                                          "'ph':'e','ts':1,'name':'fetch','id':'A'\n"
                                          "'ph':'b','ts':5,'name':'read','id':'B'\n"
                                          "'ph':'e','ts':9,'name':'read','id':'B'\n"
                                          "'ph':'n','ts':3,'name':'fetch','id':'D'\n"
                                          "'ph':'=','ts':9,'name':'j','id':'B','args':"
                                          "{'linked_id':'A'}\n",
                                          NULL});
    const struct tv_trace *trace = te_made_trace(made);
    size_t shared = trace->tracks[0].slice_count == 2 ? 0 : 1;
    assert_int_equal(trace->track_count, 2);
    assert_int_equal(trace->tracks[shared].slice_count, 2);
    assert_int_equal(trace->tracks[shared].last_wall - trace->tracks[shared].first_wall, 9000);
    assert_int_equal(trace->tracks[0].name, trace->tracks[1].name);
    te_made_free(made);
}

/* An id may end what a joined id began; each looks under its own id first. */
static void joined_ids_end_each_other(void **context)
{
    (void)context;
    te_made_assert("'ph':'b','ts':1,'name':'a','id':'A'\n"
                   "'ph':'e','ts':4,'name':'a','id':'B'\n"
                   "'ph':'b','ts':5,'name':'a','id':'A'\n"
                   "'ph':'b','ts':6,'name':'a','id':'B'\n"
                   "'ph':'e','ts':7,'name':'a','id':'A'\n"
                   "'ph':'e','ts':8,'name':'a','id':'B'\n"
                   "'ph':'e','ts':9,'name':'a','id':'C'\n"
                   "'ph':'S','ts':10,'name':'s','id':'A'\n"
                   "'ph':'T','ts':11,'name':'s','id':'B','args':{'step':'x'}\n"
                   "'ph':'F','ts':12,'name':'s','id':'C'\n"
                   "'ph':'=','ts':9,'name':'j','id':'A','args':{'linked_id':'B'}\n"
                   "'ph':'=','ts':9,'name':'j','id':'B','args':{'linked_id':'C'}\n",
                   "async a T2 1+3 c::ptr:A joined\n"
                   "async a T2 5+2 c::ptr:A joined\n"
                   "async   a T2 6+2 c::ptr:B joined\n"
                   "async a T2 9+0 c::ptr:C before joined\n"
                   "async s T2 10+2 :ptr:A joined\n"
                   "async   x T2 11+1 :ptr:A joined\n"
                   "! async-unmatched-end 1\n");
}

/* The "=" events stay in a table, each with its group; an id joined to itself has none. */
static void joins_are_kept(void **context)
{
    size_t first;
    (void)context;
    struct te_made *made = te_made_new(
        (const char *const[]){"'ph':'b','ts':1,'name':'a','id':'A'\n"
                              "'ph':'=','ts':9,'name':'j','id':'X','args':{'linked_id':'X'}\n"
                              "'ph':'=','ts':9,'name':'j','id':'A','args':{'linked_id':'B'}\n"
                              "'ph':'=','ts':9,'name':'j','id':'B','args':{'linked_id':'C'}\n"
                              "'ph':'=','ts':9,'name':'j','id':'P','args':{'linked_id':'Q'}\n",
                              NULL});
    const struct tv_trace *trace = te_made_trace(made);
    assert_int_equal(trace->tables.joins.count, 4);
    assert_int_equal(tv_tables_joins(&trace->tables, TV_NONE, &first), 0);
    assert_int_equal(
        tv_tables_joins(&trace->tables, trace->tables.async_extras.rows[0].group, &first), 2);
    assert_true(tv_bytes_equal(tv_trace_info_text(trace->head, trace->tables.joins.rows[first].id),
                               TV_BYTES("A")));
    assert_true(
        tv_bytes_equal(tv_trace_info_text(trace->head, trace->tables.joins.rows[first + 1].linked),
                       TV_BYTES("C")));
    te_made_free(made);
}

static void joins_once(void **context)
{
    (void)context;
    te_made_assert("'ph':'=','ts':0,'name':'j','id':'A','args':{'linked_id':'A'}\n"
                   "'ph':'=','ts':0,'name':'j','id':'A','args':{'linked_id':'B'}\n"
                   "'ph':'=','ts':0,'name':'j','id':'B','args':{'linked_id':'A'}\n"
                   "'ph':'=','ts':0,'name':'j','id':'B'\n",
                   "! id-missing 1\n"
                   "! joined-to-itself 1\n"
                   "! joined-again 1\n");
}

UNIT_TESTS(te_async, cmocka_unit_test(nests_by_id), cmocka_unit_test(sorts_by_time),
           cmocka_unit_test(skips_to_the_name), cmocka_unit_test(closes_same_names_from_within),
           cmocka_unit_test(keeps_what_does_not_match), cmocka_unit_test(tells_ids_apart),
           cmocka_unit_test(needs_id_and_name), cmocka_unit_test(moves_to_the_process),
           cmocka_unit_test(groups_measures), cmocka_unit_test(ends_of_deep_stacks_are_found),
           cmocka_unit_test(steps_follow_or_lead), cmocka_unit_test(mixed_steps_are_left_out),
           cmocka_unit_test(old_ones_end_with_the_trace), cmocka_unit_test(old_ones_match_by_name),
           cmocka_unit_test(thread_states_are_tracks),
           cmocka_unit_test(states_tell_why_threads_wait),
           cmocka_unit_test(states_that_overlap_are_cut), cmocka_unit_test(joins_ids),
           cmocka_unit_test(joins_once), cmocka_unit_test(joined_ids_are_one_tree),
           cmocka_unit_test(joined_ids_end_each_other), cmocka_unit_test(joins_are_kept));
