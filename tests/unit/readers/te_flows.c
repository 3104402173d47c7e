/* SPDX-License-Identifier: Apache-2.0 */
/* Flows: trace-event.md section 3.7. */
#include "te_made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "unit.h"

/* Three slices of three threads. */
#define SLICES                                                                                     \
    "'ph':'X','ts':0,'dur':10,'tid':1,'name':'s1'\n"                                               \
    "'ph':'X','ts':20,'dur':10,'tid':2,'name':'s2'\n"                                              \
    "'ph':'X','ts':40,'dur':10,'tid':3,'name':'s3'\n"
#define START "'ph':'s','ts':5,'tid':1,'name':'fl','id':1\n"

static void binds_around(void **context)
{
    (void)context;
    te_made_assert(SLICES START "'ph':'f','ts':25,'tid':2,'name':'fl','id':1,'bp':'e'\n",
                   "flow fl 1 s1@5 -> s2@25\n");
    /* Categories of Chrome that bind to the enclosing slice without saying so. */
    te_made_assert(SLICES "'ph':'s','ts':5,'tid':1,'name':'fl','id':1,'cat':'input'\n"
                          "'ph':'f','ts':25,'tid':2,'name':'fl','id':1,'cat':'input'\n",
                   "flow fl 1 s1@5 -> s2@25\n");
    te_made_assert(SLICES "'ph':'s','ts':5,'tid':1,'name':'fl','id':0,'cat':'x.ipc.flow'\n"
                          "'ph':'f','ts':25,'tid':2,'name':'fl','id':0,'cat':'x.ipc.flow'\n",
                   "flow fl 0 s1@5 -> s2@25\n");
}

/* The deepest slice; it includes both ends, and at a shared boundary the earlier slice counts. */
static void binds_the_deepest(void **context)
{
    (void)context;
    te_made_assert("'ph':'X','ts':0,'dur':10,'name':'a'\n"
                   "'ph':'X','ts':2,'dur':4,'name':'b'\n"
                   "'ph':'X','ts':10,'dur':10,'name':'c'\n"
                   "'ph':'X','ts':10,'dur':5,'name':'d'\n"
                   "'ph':'s','ts':2,'name':'fl','id':1\n"
                   "'ph':'t','ts':6,'name':'fl','id':1\n"
                   "'ph':'t','ts':7,'name':'fl','id':1\n"
                   "'ph':'t','ts':10,'name':'fl','id':1\n"
                   "'ph':'t','ts':11,'name':'fl','id':1\n"
                   "'ph':'f','ts':20,'name':'fl','id':1,'bp':'e'\n",
                   "flow fl 1 b@2 -> b@6\n"
                   "flow fl 1 b@6 -> a@7\n"
                   "flow fl 1 a@7 -> a@10\n"
                   "flow fl 1 a@10 -> d@11\n"
                   "flow fl 1 d@11 -> c@20\n");
}

/* Without a binding point the next slice that starts. */
static void binds_the_next(void **context)
{
    (void)context;
    te_made_assert(SLICES START "'ph':'f','ts':15,'tid':2,'name':'fl','id':1\n",
                   "flow fl 1 s1@5 -> s2@15\n");
    te_made_assert(SLICES START "'ph':'f','ts':25,'tid':2,'name':'fl','id':1\n",
                   "! flow-no-slice 1\n");
    /* Among slices that start at its time, a flow binds to one that comes later in the file. */
    te_made_assert(SLICES START "'ph':'f','ts':20,'tid':2,'name':'fl','id':1\n",
                   "! flow-no-slice 1\n");
    te_made_assert(START "'ph':'X','ts':0,'dur':10,'tid':1,'name':'s1'\n"
                         "'ph':'X','ts':20,'dur':10,'tid':2,'name':'before'\n"
                         "'ph':'f','ts':20,'tid':2,'name':'fl','id':1\n"
                         "'ph':'X','ts':20,'dur':5,'tid':2,'name':'after'\n"
                         "'ph':'X','ts':20,'dur':4,'tid':2,'name':'last'\n",
                   "flow fl 1 s1@5 -> after@20\n");
    /* Also one inside of the enclosing slice. */
    te_made_assert("'ph':'X','ts':0,'dur':100,'name':'a'\n"
                   "'ph':'X','ts':10,'dur':5,'name':'b'\n"
                   "'ph':'X','ts':30,'dur':5,'name':'c'\n"
                   "'ph':'s','ts':1,'name':'fl','id':1\n"
                   "'ph':'f','ts':20,'name':'fl','id':1\n",
                   "flow fl 1 a@1 -> c@20\n");
}

static void steps_make_arrows(void **context)
{
    (void)context;
    te_made_assert(SLICES START "'ph':'t','ts':25,'tid':2,'name':'fl','id':1\n"
                                "'ph':'f','ts':45,'tid':3,'name':'fl','id':1,'bp':'e'\n",
                   "flow fl 1 s1@5 -> s2@25\n"
                   "flow fl 1 s2@25 -> s3@45\n");
}

/* One start, many ends.  A start after an end begins anew; a start before an end does not count. */
static void fans_out(void **context)
{
    (void)context;
    te_made_assert(SLICES START "'ph':'s','ts':6,'tid':1,'name':'fl','id':1\n"
                                "'ph':'f','ts':25,'tid':2,'name':'fl','id':1,'bp':'e'\n"
                                "'ph':'f','ts':45,'tid':3,'name':'fl','id':1,'bp':'e'\n"
                                "'ph':'s','ts':46,'tid':3,'name':'fl','id':1\n"
                                "'ph':'f','ts':47,'tid':3,'name':'fl','id':1,'bp':'e'\n",
                   "flow fl 1 s1@5 -> s2@25\n"
                   "flow fl 1 s1@5 -> s3@45\n"
                   "flow fl 1 s3@46 -> s3@47\n"
                   "! flow-begun-twice 1\n");
}

/* Category, name and id are the key: 1 and "1" are two ids. */
static void keys_differ(void **context)
{
    (void)context;
    te_made_assert(SLICES START "'ph':'f','ts':25,'tid':2,'name':'fl','id':'1','bp':'e'\n"
                                "'ph':'f','ts':25,'tid':2,'name':'other','id':1,'bp':'e'\n"
                                "'ph':'f','ts':25,'tid':2,'name':'fl','id':1,'cat':'o','bp':'e'\n"
                                "'ph':'f','ts':4,'tid':1,'name':'fl','id':1,'bp':'e'\n",
                   "! flow-no-start 4\n");
}

/* Ids that are kept as numbers (join/flows.h) are equal only when their texts are. */
static void long_ids_differ(void **context)
{
    static const char *const ids[] = {
        "123456789",
        "'0123456789'",
        "'123456789'",
        "'18446744073709551615'",
        "'18446744073709551616'",
        "'0x1234567f'",
        "'0x1234567F'",
        "'0X1234567f'",
        "'0x01234567f'",
        "'0xffffffffffffffff'",
        "'0xfffffffffffffffff'",
        "'0x12345678'",
        "'305419896'",
        "'12345678 '",
        "'the same id'",
    };
    static char file[10000], expected[10000];
    size_t count = sizeof ids / sizeof ids[0], length = 0, written = 0;
    (void)context;
    length += (size_t)snprintf(file, sizeof file, SLICES);
    for (size_t i = 0; i < 2 * count; i++)
        length += (size_t)snprintf(
            file + length, sizeof file - length, "'ph':'%s','ts':%d,'tid':%d,'name':'fl','id':%s\n",
            i < count ? "s" : "f','bp':'e", i < count ? 5 : 25, i < count ? 1 : 2, ids[i % count]);
    /* Each start has the end of its own id, in the order of the starts. */
    for (size_t i = 0; i < count; i++) {
        struct tv_bytes id = tv_bytes_of(ids[i]);
        if (id.data[0] == '\'')
            id = (struct tv_bytes){id.data + 1, id.length - 2};
        written += (size_t)snprintf(expected + written, sizeof expected - written,
                                    "flow fl %.*s s1@5 -> s2@25\n", (int)id.length, id.data);
    }
    te_made_assert(file, expected);
}

/* The threads of Trace Viewer hold instants as slices of no length. */
static void instants_are_bound(void **context)
{
    (void)context;
    te_made_assert("'ph':'i','ts':10,'tid':1,'name':'sent','s':'t'\n"
                   "'ph':'s','ts':10,'tid':1,'name':'fl','id':1\n"
                   "'ph':'t','ts':20,'tid':2,'name':'fl','id':1\n"
                   "'ph':'i','ts':20,'tid':2,'name':'first','s':'t'\n"
                   "'ph':'i','ts':20,'tid':2,'name':'passed','s':'t'\n"
                   "'ph':'f','ts':25,'tid':1,'name':'fl','id':1\n"
                   "'ph':'i','ts':30,'tid':1,'name':'got','s':'t'\n"
                   "'ph':'i','ts':31,'tid':1,'name':'late','s':'t'\n",
                   "flow fl 1 !sent@10 -> !passed@20\n"
                   "flow fl 1 !passed@20 -> !got@25\n");
    /* Not of a process, not beside the time, and not where there is a slice. */
    te_made_assert(SLICES "'ph':'i','ts':5,'tid':1,'name':'in','s':'t'\n"
                          "'ph':'i','ts':12,'tid':2,'name':'own','s':'t'\n"
                          "'ph':'i','ts':15,'tid':1,'name':'of all','s':'p'\n" START
                          "'ph':'f','ts':11,'tid':2,'name':'fl','id':1\n"
                          "'ph':'s','ts':15,'tid':1,'name':'g','id':1\n"
                          "'ph':'s','ts':13,'tid':2,'name':'g','id':2\n",
                   "flow fl 1 s1@5 -> !own@11\n! flow-no-slice 2\n");
    /* The slice is the next one when it comes first or at the same time. */
    te_made_assert(SLICES START "'ph':'f','ts':15,'tid':2,'name':'fl','id':1\n"
                                "'ph':'i','ts':20,'tid':2,'name':'i','s':'t'\n",
                   "flow fl 1 s1@5 -> s2@15\n");
}

static void faults_are_counted(void **context)
{
    (void)context;
    te_made_assert(SLICES START "'ph':'f','ts':25,'tid':2,'name':'fl','id':1,'bp':'x'\n"
                                "'ph':'s','ts':15,'tid':1,'name':'g','id':1\n"
                                "'ph':'s','ts':15,'tid':77,'name':'g','id':1\n"
                                "'ph':'s','ts':5,'tid':1,'name':'g','id2':{'local':1}\n",
                   "! id-missing 1\n"
                   "! flow-no-slice 2\n"
                   "! flow-bad-binding 1\n");
}

static void slices_are_bound(void **context)
{
    (void)context;
    te_made_assert(
        "'ph':'X','ts':0,'dur':10,'name':'p','bind_id':'0x9','flow_out':true\n"
        "'ph':'X','ts':20,'dur':10,'name':'m','bind_id':'0x9','flow_in':1,'flow_out':true\n"
        "'ph':'X','ts':40,'dur':10,'name':'c1','bind_id':'0x9','flow_in':true\n"
        "'ph':'X','ts':60,'dur':10,'name':'c2','bind_id':'0x9','flow_in':true\n",
        "flow p 0x9 p@10 -> m@20\n"
        "flow m 0x9 m@30 -> c1@40\n"
        "flow m 0x9 m@30 -> c2@60\n");
}

/* Beginnings and async slices, too, which Trace Viewer leaves out. */
static void other_slices_are_bound(void **context)
{
    (void)context;
    te_made_assert("'ph':'B','ts':0,'name':'p','bind_id':1,'flow_out':true\n"
                   "'ph':'E','ts':5\n"
                   "'ph':'b','ts':10,'name':'a','id':1,'bind_id':1,'flow_in':true,'flow_out':true\n"
                   "'ph':'e','ts':15,'name':'a','id':1\n"
                   "'ph':'n','ts':20,'name':'n','id':2,'bind_id':1,'flow_in':true\n",
                   "async a T2 10+5 c::ptr:1\n"
                   "async n T2 20+0 c::ptr:2\n"
                   "flow p 1 p@5 -> a@10\n"
                   "flow a 1 a@15 -> n@20\n");
}

/* The later producer counts; a consumer before any producer has none. */
static void producers_replace(void **context)
{
    (void)context;
    te_made_assert("'ph':'X','ts':0,'dur':1,'name':'c0','bind_id':1,'flow_in':true\n"
                   "'ph':'X','ts':5,'dur':1,'name':'p1','bind_id':1,'flow_out':true\n"
                   "'ph':'X','ts':10,'dur':1,'name':'p2','bind_id':1,'flow_out':true\n"
                   "'ph':'X','ts':20,'dur':1,'name':'c','bind_id':1,'flow_in':true\n"
                   "'ph':'X','ts':30,'dur':1,'name':'none','bind_id':1\n",
                   "flow p2 1 p2@11 -> c@20\n"
                   "! flow-no-start 1\n"
                   "! flow-no-direction 1\n");
}

/* Slices that did not nest lie on overflow tracks. */
static void overflow_is_searched(void **context)
{
    (void)context;
    te_made_assert("'ph':'X','ts':0,'dur':10,'name':'a'\n"
                   "'ph':'X','ts':5,'dur':20,'name':'over'\n"
                   "'ph':'s','ts':3,'name':'fl','id':1\n"
                   "'ph':'f','ts':20,'name':'fl','id':1,'bp':'e'\n",
                   "flow fl 1 a@3 -> over@20\n"
                   "! overlap 1\n");
}

/* ---- Against the plain way: every slice is looked at for every event ---- */

enum { SLICE_COUNT = 120, FLOW_COUNT = 60 };

struct slice {
    int start, end, depth;
};

static uint32_t seed;

/* Return a number below a limit; a linear congruence suffices. */
static int random_below(int limit)
{
    seed = seed * 1664525u + 1013904223u;
    return (int)(seed >> 16) % limit;
}

/* Make slices that nest and share boundaries here and there; no two start at one time. */
static void make_slices(struct slice *slices)
{
    int stack[SLICE_COUNT], depth = 0, count = 0, time = 1;
    while (count < SLICE_COUNT || depth > 0) {
        if (depth > 0 && (count == SLICE_COUNT || random_below(2) == 0)) {
            slices[stack[--depth]].end = time;
            time += random_below(2);
        } else {
            slices[count] = (struct slice){time, 0, depth};
            stack[depth++] = count++;
            time += 1 + random_below(2);
        }
    }
}

/* Return the earliest top slice that touches the time, and then the same among its children. */
static int plain_around(const struct slice *slices, int time)
{
    int found = -1;
    for (int i = 0; i < SLICE_COUNT; i++) {
        bool inside = found < 0 ? slices[i].depth == 0
                                : slices[i].depth == slices[found].depth + 1 && i > found &&
                                      slices[i].start < slices[found].end;
        if (inside && slices[i].start <= time && time <= slices[i].end)
            found = i;
    }
    return found;
}

static int plain_next(const struct slice *slices, int time)
{
    for (int i = 0; i < SLICE_COUNT; i++)
        if (slices[i].start > time)
            return i;
    return -1;
}

/* The slices stand before all flows in the file, so none that starts at an end is its next. */
static size_t write_case(char *file, char *expected, const struct slice *slices)
{
    size_t length = (size_t)snprintf(file, 400, "'ph':'X','ts':0,'dur':1,'tid':9,'name':'from'\n");
    size_t lost = 0;
    expected[0] = '\0';
    for (int i = 0; i < SLICE_COUNT; i++)
        length += (size_t)snprintf(file + length, 400, "'ph':'X','ts':%d,'dur':%d,'name':'n%d'\n",
                                   slices[i].start, slices[i].end - slices[i].start, i);
    for (int i = 0; i < FLOW_COUNT; i++) {
        int time = random_below(250), around = random_below(2);
        int found = around ? plain_around(slices, time) : plain_next(slices, time);
        length += (size_t)snprintf(file + length, 400,
                                   "'ph':'s','ts':0,'tid':9,'name':'f','id':%d\n"
                                   "'ph':'f','ts':%d,'name':'f','id':%d%s\n",
                                   i, time, i, around ? ",'bp':'e'" : "");
        lost += found < 0;
        if (found >= 0)
            snprintf(expected + strlen(expected), 100, "flow f %d from@0 -> n%d@%d\n", i, found,
                     time);
    }
    return lost;
}

static void agrees_with_looking_at_all(void **context)
{
    static char file[100000], expected[100000];
    struct slice slices[SLICE_COUNT];
    (void)context;
    seed = 7;
    for (int round = 0; round < 50; round++) {
        make_slices(slices);
        size_t lost = write_case(file, expected, slices);
        if (lost > 0)
            snprintf(expected + strlen(expected), 100, "! flow-no-slice %d\n", (int)lost);
        te_made_assert(file, expected);
    }
}

UNIT_TESTS(te_flows, cmocka_unit_test(binds_around), cmocka_unit_test(binds_the_deepest),
           cmocka_unit_test(binds_the_next), cmocka_unit_test(steps_make_arrows),
           cmocka_unit_test(fans_out), cmocka_unit_test(keys_differ),
           cmocka_unit_test(long_ids_differ), cmocka_unit_test(instants_are_bound),
           cmocka_unit_test(faults_are_counted), cmocka_unit_test(slices_are_bound),
           cmocka_unit_test(other_slices_are_bound), cmocka_unit_test(producers_replace),
           cmocka_unit_test(overflow_is_searched), cmocka_unit_test(agrees_with_looking_at_all));
