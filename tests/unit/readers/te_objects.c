/* SPDX-License-Identifier: Apache-2.0 */
/* Objects: trace-event.md section 3.8. */
#include "te_made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/source.h"
#include "model/trace.h"
#include "unit.h"

static void lives_from_creation_to_deletion(void **context)
{
    (void)context;
    te_made_assert("'ph':'N','ts':0,'name':'Obj','id':'0x1'\n"
                   "'ph':'O','ts':10,'name':'Obj','id':'0x1','args':{'snapshot':{'v':1}}\n"
                   "'ph':'O','ts':20,'name':'Obj','id':'0x1','args':{'snapshot':2}\n"
                   "'ph':'D','ts':30,'name':'Obj','id':'0x1'\n",
                   "object Obj 0x1 ptr P1 0..30 N D snapshots 10,20\n");
    te_made_assert("'ph':'D','ts':30,'name':'Obj','id':'0x1'\n"
                   "'ph':'N','ts':0,'name':'Obj','id':'0x1'\n",
                   "object Obj 0x1 ptr P1 0..30 N D\n");
}

/* The first snapshot creates an object, and the end of the trace deletes it. */
static void infers_ends(void **context)
{
    (void)context;
    te_made_assert("'ph':'O','ts':10,'name':'Obj','id':'0x1','args':{'snapshot':{}}\n"
                   "'ph':'N','ts':5,'name':'Obj','id':'0x2'\n"
                   "'ph':'D','ts':6,'name':'Obj','id':'0x3'\n"
                   "'ph':'X','ts':0,'dur':50,'name':'x'\n",
                   "object Obj 0x2 ptr P1 5..50 N\n"
                   "object Obj 0x3 ptr P1 6..6 D\n"
                   "object Obj 0x1 ptr P1 10..50 snapshots 10\n");
}

static void ids_are_used_again(void **context)
{
    (void)context;
    te_made_assert("'ph':'N','ts':0,'name':'Obj','id':'0x1'\n"
                   "'ph':'N','ts':5,'name':'Obj','id':'0x1'\n"
                   "'ph':'D','ts':20,'name':'Obj','id':'0x1'\n"
                   "'ph':'N','ts':20,'name':'Other','id':'0x1'\n"
                   "'ph':'D','ts':25,'name':'Other','id':'0x1'\n",
                   "object Obj 0x1 ptr P1 0..20 N D\n"
                   "object Other 0x1 ptr P1 20..25 N D\n"
                   "! object-created-twice 1\n");
}

/* Scopes tell ids apart, and processes always do. */
static void ids_have_owners(void **context)
{
    (void)context;
    te_made_assert("'ph':'N','ts':0,'name':'Obj','id':'0x1','scope':'a'\n"
                   "'ph':'N','ts':1,'name':'Obj','id':'0x1','scope':'b'\n"
                   "'ph':'D','ts':5,'name':'Obj','id':'0x1','scope':'a'\n"
                   "'ph':'D','ts':6,'name':'Obj','id':'0x1','scope':'b'\n"
                   "'ph':'N','ts':7,'name':'Obj','id2':{'global':'0x1'}\n"
                   "'ph':'N','ts':8,'name':'Obj','pid':9,'id2':{'global':'0x1'}\n"
                   "'ph':'N','ts':9,'name':'Obj'\n",
                   "object Obj 0x1 a P1 0..5 N D\n"
                   "object Obj 0x1 b P1 1..6 N D\n"
                   "object Obj 0x1 ptr P1 7..9 N\n"
                   "object Obj 0x1 ptr P9 8..9 N\n"
                   "! id-missing 1\n");
}

/* "base_type" lets an object turn out to be of a derived type; "cat" says what it was created as.
 */
static void types_are_derived(void **context)
{
    (void)context;
    te_made_assert("'ph':'N','ts':0,'name':'Obj','id':1\n"
                   "'ph':'O','ts':10,'name':'Sub','id':1,'cat':'other',"
                   "'args':{'snapshot':{'base_type':'Obj','cat':'c'}}\n"
                   "'ph':'O','ts':11,'name':'Sub','id':1,"
                   "'args':{'snapshot':{'base_type':'Obj'}}\n"
                   "'ph':'D','ts':30,'name':'Obj','id':1\n",
                   "object Sub:Obj 1 ptr P1 0..30 N D snapshots 10,11\n");
    /* The category may also stand beside the snapshot, as the format's text prints it. */
    te_made_assert("'ph':'N','ts':5,'name':'Obj','id':1,'cat':'c'\n"
                   "'ph':'O','ts':10,'name':'Obj','id':1,'cat':'d',"
                   "'args':{'cat':'c','snapshot':{}}\n",
                   "object Obj 1 ptr P1 5..10 N snapshots 10\n");
    te_made_assert("'ph':'O','ts':10,'name':'Sub','id':1,'args':{'snapshot':{'base_type':'Obj'}}\n"
                   "'ph':'D','ts':30,'name':'Obj','id':1\n",
                   "object Sub:Obj 1 ptr P1 10..30 D snapshots 10\n");
}

static void faults_are_counted(void **context)
{
    (void)context;
    te_made_assert("'ph':'N','ts':0,'name':'Obj','id':1\n"
                   "'ph':'O','ts':1,'name':'Obj','id':1\n"
                   "'ph':'O','ts':2,'name':'Obj','id':1,'args':{'snapshot':1}\n"
                   "'ph':'O','ts':2,'name':'Obj','id':1,'args':{'snapshot':1}\n"
                   "'ph':'O','ts':3,'name':'Wrong','id':1,'args':{'snapshot':1}\n"
                   "'ph':'O','ts':4,'name':'Obj','id':1,'cat':'x','args':{'snapshot':1}\n",
                   "object Obj 1 ptr P1 0..4 N snapshots 2,3,4\n"
                   "! object-mismatch 2\n"
                   "! snapshot-missing 1\n"
                   "! snapshot-twice 1\n");
}

/* An object in a snapshot with an id "Type/0x1" is a snapshot of its own. */
static void finds_inner_snapshots(void **context)
{
    (void)context;
    te_made_assert("'ph':'N','ts':10,'name':'a','id':'0x1000'\n"
                   "'ph':'O','ts':15,'name':'a','id':'0x1000','args':{'snapshot':"
                   "[{'id':'sub/0x1','foo':[{'id':'n::x/y/0x7'}]}]}\n"
                   "'ph':'O','ts':20,'name':'a','id':'0x1000','args':{'snapshot':"
                   "[{'foo':'id','id':'sub/0x1'},{'id':'sub/0x2','foo':{'id':3}}]}\n"
                   "'ph':'O','ts':21,'name':'a','id':'0x1000','args':{'snapshot':{'id':'top/1'}}\n",
                   "object a 0x1000 ptr P1 10..21 N snapshots 15,20,21\n"
                   "object n::x/y 0x7 ptr P1 15..21 snapshots 15i\n"
                   "object sub 0x1 ptr P1 15..21 snapshots 15i,20i\n"
                   "object sub 0x2 ptr P1 20..21 snapshots 20i\n");
}

/* The offset of an inner snapshot is that of its own text. */
static void inner_snapshots_are_found_in_the_file(void **context)
{
    const char *line = "'ph':'O','ts':15,'name':'a','id':9,"
                       "'args':{'snapshot':{'x':{'id':'sub/1','foo':7}}}\n";
    (void)context;
    struct te_made *made = te_made_new((const char *const[]){line, NULL});
    const struct tv_trace *trace = te_made_trace(made);
    char text[30] = "";
    size_t got;
    struct tv_error err;
    assert_int_equal(trace->tables.snapshots.count, 2);
    for (size_t i = 0; i < 2; i++)
        if (trace->tables.snapshots.rows[i].inner)
            assert_int_equal(tv_source_read(te_made_source(made, 0),
                                            trace->tables.snapshots.rows[i].offset, text, 24, &got,
                                            &err),
                             TV_OK);
    assert_string_equal(text, "{\"id\":\"sub/1\",\"foo\":7}}}");
    te_made_free(made);
}

static uint32_t found_at(const struct tv_trace *trace, const char *id, int64_t us)
{
    struct tv_object_reference reference = {
        .input = 0,
        .pid = TV_BYTES("1"),
        .id = {(const uint8_t *)id, strlen(id)},
        .time = us * 1000,
    };
    return tv_object_find_snapshot(trace, &reference);
}

/* An id_ref means the last snapshot up to its time, or else the first one. */
static void references_mean_a_snapshot(void **context)
{
    const char *file = "'ph':'N','ts':10,'name':'a','id':'1'\n"
                       "'ph':'O','ts':15,'name':'a','id':'1','args':{'snapshot':1}\n"
                       "'ph':'O','ts':20,'name':'a','id':'1','args':{'snapshot':2}\n"
                       "'ph':'D','ts':50,'name':'a','id':'1'\n"
                       "'ph':'O','ts':60,'name':'b','id':'1','args':{'snapshot':3}\n"
                       "'ph':'O','ts':15,'name':'c','id':'2','args':{'snapshot':3}\n"
                       "'ph':'X','ts':0,'dur':100,'name':'x'\n";
    static const int64_t created_from[][2] = {{10, 15}, {14, 15}, {15, 15}, {19, 15},
                                              {20, 20}, {49, 20}, {60, 60}, {100, 60}};
    (void)context;
    struct te_made *made = te_made_new((const char *const[]){file, NULL});
    const struct tv_trace *trace = te_made_trace(made);
    const struct tv_snapshot *rows = trace->tables.snapshots.rows;
    for (size_t i = 0; i < TV_COUNT(created_from); i++) {
        uint32_t found = found_at(trace, "1", created_from[i][0]);
        assert_int_not_equal(found, TV_NONE);
        assert_int_equal(rows[found].time, created_from[i][1] * 1000);
    }
    assert_int_equal(found_at(trace, "3", 20), TV_NONE);
    /* An object that no event created may be older than its first snapshot. */
    assert_int_equal(rows[found_at(trace, "2", 1)].time, 15000);
    te_made_free(made);
}

/* Nested deeper than any call stack could bear, with quotes and braces that do not close. */
static void deep_snapshots_are_walked(void **context)
{
    enum { DEPTH = 50000 };
    (void)context;
    char *file = malloc(DEPTH * 8 + 1000), *at = file;
    at += snprintf(at, 400, "'ph':'O','ts':1,'name':'a','id':9,'args':{'snapshot':");
    for (int i = 0; i < DEPTH; i++)
        at += snprintf(at, 400, "{'a':");
    at += snprintf(at, 400, "{'id':'t/1','s':'}{\\\\'}");
    for (int i = 0; i < DEPTH; i++)
        at += snprintf(at, 400, "}");
    snprintf(at, 400, "}\n");
    te_made_assert(file, "object a 9 ptr P1 1..1 snapshots 1\n"
                         "object t 1 ptr P1 1..1 snapshots 1i\n"
                         "! too-nested 1\n");
    free(file);
}

UNIT_TESTS(te_objects, cmocka_unit_test(lives_from_creation_to_deletion),
           cmocka_unit_test(infers_ends), cmocka_unit_test(ids_are_used_again),
           cmocka_unit_test(ids_have_owners), cmocka_unit_test(types_are_derived),
           cmocka_unit_test(faults_are_counted), cmocka_unit_test(finds_inner_snapshots),
           cmocka_unit_test(inner_snapshots_are_found_in_the_file),
           cmocka_unit_test(references_mean_a_snapshot),
           cmocka_unit_test(deep_snapshots_are_walked));
