/* SPDX-License-Identifier: Apache-2.0 */
/* Memory dumps: trace-event.md section 3.11. */
#include "te_made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

/* 'NAME':{guid, attributes}; SIZE is hexadecimal. */
#define SIZE(size) "'size':{'type':'scalar','units':'bytes','value':'" size "'}"
#define ALLOCATOR(name, guid, attrs) "'" name "':{'guid':'" guid "','attrs':{" attrs "}}"
#define MOOD ",'mood':{'type':'string'}"
#define OWNS(source, target, importance)                                                           \
    "{'source':'" source "','target':'" target "','type':'ownership','importance':" importance "}"
#define DUMP(members) "'ph':'v','ts':5,'id':'0xd1','args':{'dumps':{" members "}}\n"

static void totals_are_figures(void **context)
{
    (void)context;
    te_made_assert(DUMP("'level_of_detail':'detailed','process_totals':{'resident_set_bytes':'100',"
                        "'peak_resident_set_bytes':'1fffffffffffff','is_peak_rss_resetable':true}"),
                   "dump 5 P1 0xd1 detailed\n"
                   "  totals resident_set_bytes 256 bytes\n"
                   "  totals peak_resident_set_bytes 9.0072e+15 bytes\n"
                   "  totals is_peak_rss_resetable 1 \n");
}

/* The size of a parent beyond its leaves becomes a child. */
static void remainders_are_unspecified(void **context)
{
    (void)context;
    te_made_assert(DUMP("'allocators':{" ALLOCATOR("malloc", "a1", SIZE("20")) "," ALLOCATOR(
                       "malloc/x", "a2", SIZE("10")) "}"),
                   "dump 5 P1 0xd1 light\n"
                   "  malloc size 32 bytes\n"
                   "  malloc effective_size 32 bytes\n"
                   "  malloc/<unspecified> size 16 bytes\n"
                   "  malloc/<unspecified> effective_size 16 bytes\n"
                   "  malloc/x size 16 bytes\n"
                   "  malloc/x effective_size 16 bytes\n");
}

#define OBJECTS(count) "'n':{'type':'scalar','units':'objects','value':'" count "'}"

/* Parents that no entry describes have the sums of their children. */
static void parents_are_inferred(void **context)
{
    (void)context;
    te_made_assert(
        DUMP("'allocators':{" ALLOCATOR("o/h1", "1", SIZE("4000") "," OBJECTS("3f")) "," ALLOCATOR(
            "o/h2/b", "2", OBJECTS("1f") "," SIZE("2000") MOOD) "}"),
        "dump 5 P1 0xd1 light\n"
        "  o n 94 objects\n"
        "  o size 24576 bytes\n"
        "  o effective_size 24576 bytes\n"
        "  o/h1 size 16384 bytes\n"
        "  o/h1 n 63 objects\n"
        "  o/h1 effective_size 16384 bytes\n"
        "  o/h2 n 31 objects\n"
        "  o/h2 size 8192 bytes\n"
        "  o/h2 effective_size 8192 bytes\n"
        "  o/h2/b n 31 objects\n"
        "  o/h2/b size 8192 bytes\n"
        "  o/h2/b effective_size 8192 bytes\n");
}

#define EIGHT ALLOCATOR("a", "1", SIZE("8"))
#define TWELVE ALLOCATOR("b", "2", SIZE("c"))
#define FIRST_OWNS "'allocators_graph':[" OWNS("1", "9", "0") "]"
#define SECOND_OWNS "'allocators_graph':[" OWNS("2", "9", "2") "]"
#define BOTH_OWN "'allocators_graph':[" OWNS("1", "9", "1") "," OWNS("2", "9", "1") "]"
#define SHARED(name) ALLOCATOR(name, "9", SIZE("10"))

/* Two processes own a global allocator of 16; the more important one pays first. */
static void owners_pay_by_importance(void **context)
{
    (void)context;
    te_made_assert(
        DUMP("'allocators':{" EIGHT "," SHARED(
            "global/s") "}," FIRST_OWNS) "'pid':3,'ph':'v','ts':6,'id':'0xd1','args':{'dumps':{"
                                         "'allocators':{" TWELVE
                                         ",'global/s':{'guid':'9'}}," SECOND_OWNS "}}\n",
        "dump 5 P1 0xd1 light\n"
        "  a size 8 bytes\n"
        "  a effective_size 0 bytes\n" /* all of it belongs to b, which pays for 12 */
        "dump 5 - 0xd1 light\n"
        "  s size 16 bytes\n"
        "  s effective_size 4 bytes\n"
        "dump 6 P3 0xd1 light\n"
        "  b size 12 bytes\n"
        "  b effective_size 12 bytes\n");
}

/* Equally important owners share what both have; what only one has it pays alone. */
static void equals_share(void **context)
{
    (void)context;
    te_made_assert(DUMP("'allocators':{" EIGHT "," TWELVE "," SHARED("s") "}," BOTH_OWN),
                   "dump 5 P1 0xd1 light\n"
                   "  a size 8 bytes\n"
                   "  a effective_size 4 bytes\n"
                   "  b size 12 bytes\n"
                   "  b effective_size 8 bytes\n"
                   "  s size 16 bytes\n"
                   "  s effective_size 4 bytes\n");
}

/* One child owns another: the parent has that memory once. */
static void children_may_own_each_other(void **context)
{
    (void)context;
    te_made_assert(
        DUMP("'allocators':{" ALLOCATOR("p", "0", "") "," ALLOCATOR(
            "p/a", "1",
            SIZE("8")) "," ALLOCATOR("p/b", "2",
                                     SIZE("10")) "},'allocators_graph':[" OWNS("1", "2", "0") "]"),
        "dump 5 P1 0xd1 light\n"
        "  p size 16 bytes\n"
        "  p effective_size 16 bytes\n"
        "  p/a size 8 bytes\n"
        "  p/a effective_size 8 bytes\n"
        "  p/b size 16 bytes\n"
        "  p/b effective_size 8 bytes\n");
}

/* Weak allocators go, with everything below them, their owners, and parents of nothing else. */
static void weak_dumps_are_removed(void **context)
{
    (void)context;
    te_made_assert(
        DUMP("'allocators':{'w':{'guid':'1','flags':1,'attrs':{" SIZE("1") "}}," ALLOCATOR(
            "w/x", "2",
            SIZE("1")) "," ALLOCATOR("owner", "3",
                                     SIZE("1")) ",'i/weak':{'guid':'4','flags':1},"
                                                "'j/weak':{'guid':'5','flags':1}," ALLOCATOR(
                                                    "j/strong", "6",
                                                    SIZE("2")) "},"
                                                               "'allocators_graph':[" OWNS(
                                                                   "3", "2", "0") "]"),
        "dump 5 P1 0xd1 light\n"
        "  j size 2 bytes\n"
        "  j effective_size 2 bytes\n"
        "  j/strong size 2 bytes\n"
        "  j/strong effective_size 2 bytes\n");
}

/* Parts of one dump may come in several events, and several dumps in any order. */
static void events_of_one_id_are_one_dump(void **context)
{
    (void)context;
    te_made_assert("'ph':'v','ts':9,'id':2,'args':{'dumps':{}}\n"
                   "'ph':'v','ts':7,'id':1,'args':{'dumps':{'process_totals':{'a':'1'}}}\n"
                   "'ph':'v','ts':8,'id':2,'args':{'dumps':{'process_totals':{'a':'2'}}}\n"
                   "'ph':'v','ts':8,'id':1,'pid':4,'args':{'dumps':{}}\n"
                   "'ph':'v','ts':8,'id':1,'args':{'dumps':{'process_totals':{'b':'3'}}}\n",
                   "dump 7 P1 1 light\n"
                   "  totals a 1 bytes\n"
                   "  totals b 3 bytes\n"
                   "dump 8 P1 2 light\n"
                   "  totals a 2 bytes\n"
                   "dump 8 P4 1 light\n");
}

static void regions_and_heaps_are_summed(void **context)
{
    (void)context;
    te_made_assert(
        DUMP("'process_mmaps':{'vm_regions':[{'sa':'f0','sz':'150','pf':6,'mf':'[stack]','bs':"
             "{'pss':'9e','sw':'50'}},{'sa':'350','sz':'250','bs':{'pss':'2','pd':'cd'}}]},"
             "'heaps':{'malloc':{'entries':[{'bt':'4','size':'5'},{'bt':'','size':'789','count':"
             "'10'},{'type':'3','size':'1'}]}},'heaps_v2':{'allocators':{'pa':"
             "{'sizes':[1,2,3],'counts':[1,1,1]}}}"),
        "dump 5 P1 0xd1 detailed\n"
        "  mmaps regions 2 objects\n"
        "  mmaps size 928 bytes\n"
        "  mmaps proportional_resident 160 bytes\n"
        "  mmaps private_dirty_resident 205 bytes\n"
        "  mmaps swapped 80 bytes\n"
        "  heaps/malloc size 1929 bytes\n"
        "  heaps/malloc count 16 objects\n"
        "  heaps/pa size 6 bytes\n"
        "  heaps/pa count 3 objects\n");
}

static void faults_are_counted(void **context)
{
    (void)context;
    te_made_assert("'ph':'v','ts':1,'args':{'dumps':{}}\n"
                   "'ph':'v','ts':2,'id':1,'args':{}\n"
                   "'ph':'v','ts':3,'id':2,'args':{'dumps':{'level_of_detail':'much',"
                   "'process_totals':{'a':'xyz'},'allocators':{'x':{},'':{'guid':'1'}},"
                   "'allocators_graph':[" OWNS("7", "8", "0") "]}}\n",
                   "dump 2 P1 1 light\n"
                   "dump 3 P1 2 light\n"
                   "! id-missing 1\n"
                   "! memory-dump-empty 1\n"
                   "! memory-dump-bad 1\n"
                   "! memory-no-guid 1\n"
                   "! memory-link 1\n");
}

/* Ownership in circles, owners of owners, paths of slashes: reading ends, and nothing is lost. */
static void hostile_graphs_end(void **context)
{
    enum { COUNT = 3000 };
    (void)context;
    char *file = malloc(COUNT * 200), *at = file;
    at += snprintf(at, 400, "'ph':'v','ts':1,'id':1,'args':{'dumps':{'allocators':{");
    for (int i = 0; i < COUNT; i++)
        at += snprintf(at, 400, "'n%d/%.*s':{'guid':'%d','attrs':{" SIZE("10") "}},", i, i % 50,
                       "//////////////////////////////////////////////////", i);
    at += snprintf(at, 400, "'z':{}},'allocators_graph':[");
    for (int i = 0; i < COUNT; i++)
        at += snprintf(at, 400, OWNS("%d", "%d", "1") ",", i, (i + 1) % COUNT);
    snprintf(at, 400, "{}]}}\n");
    struct te_made *made = te_made_new((const char *const[]){file, NULL});
    const struct tv_tables *tables = &te_made_trace(made)->tables;
    assert_int_equal(tables->memory_dumps.count, 1);
    assert_true(tables->memory_figures.count >= 2 * COUNT);
    te_made_free(made);
    free(file);
}

UNIT_TESTS(te_memory, cmocka_unit_test(totals_are_figures),
           cmocka_unit_test(remainders_are_unspecified), cmocka_unit_test(parents_are_inferred),
           cmocka_unit_test(owners_pay_by_importance), cmocka_unit_test(equals_share),
           cmocka_unit_test(children_may_own_each_other), cmocka_unit_test(weak_dumps_are_removed),
           cmocka_unit_test(events_of_one_id_are_one_dump),
           cmocka_unit_test(regions_and_heaps_are_summed), cmocka_unit_test(faults_are_counted),
           cmocka_unit_test(hostile_graphs_end));
