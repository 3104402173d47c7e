/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "model/trace.h"
#include "view/asked.h"

/*
 * Objects with their snapshots, samples, memory dumps, and what of them has a row.
 */

#define MS 1000000

static const struct fixture_thread drawing[] = {
    {"main", NULL, {"AAAA C", " BB   "}},
};

static uint32_t text(struct tv_trace *trace, const char *word)
{
    return tv_trace_info_string(trace->head, tv_bytes_of(word));
}

struct life {
    const char *type, *base, *id;
    tv_ns created, deleted;
    uint8_t flags;
    uint32_t group;
};

static void add_object(struct tv_trace *trace, const struct life *life, const tv_ns *snapshots,
                       uint32_t count)
{
    struct tv_object *object = tv_table_add(&trace->tables.objects);
    uint32_t number = (uint32_t)trace->tables.objects.count - 1;
    *object = (struct tv_object){
        .created = life->created,
        .deleted = life->deleted,
        .type = text(trace, life->type),
        .base_type = text(trace, life->base),
        .category = text(trace, "cat"),
        .id = text(trace, life->id),
        .scope = text(trace, "ptr"),
        .first_snapshot = (uint32_t)trace->tables.snapshots.count,
        .snapshot_count = count,
        .group = life->group,
        .flags = life->flags,
    };
    for (uint32_t i = 0; i < count; i++) {
        struct tv_snapshot *snapshot = tv_table_add(&trace->tables.snapshots);
        *snapshot = (struct tv_snapshot){
            .time = snapshots[i], .offset = TV_NO_OFFSET, .object = number, .inner = i == 1};
    }
}

/* Of type Tree three, of which the first two live at once; a Leaf, which is a Node. */
static void add_objects(struct tv_trace *trace)
{
    const tv_ns first[] = {1500000, 2 * MS}, second[] = {2 * MS};
    const struct life lives[] = {
        {"Tree", "", "0x1", 1 * MS, 3 * MS, TV_OBJECT_CREATED | TV_OBJECT_DELETED, 7},
        {"Tree", "", "0x2", 2 * MS, 5 * MS, 0, TV_NONE},
        {"Leaf", "Node", "0x1", 0, 6 * MS, TV_OBJECT_CREATED, 7},
        {"Tree", "", "0x3", 3 * MS, 4 * MS, TV_OBJECT_CREATED, TV_NONE},
    };
    add_object(trace, &lives[0], first, 2);
    add_object(trace, &lives[1], second, 1);
    add_object(trace, &lives[2], NULL, 0);
    add_object(trace, &lives[3], NULL, 0);
}

static void add_sample(struct tv_trace *trace, tv_ns time, uint32_t thread, uint32_t path)
{
    struct tv_sample *sample = tv_table_add(&trace->tables.samples);
    *sample = (struct tv_sample){.time = time,
                                 .weight = 3,
                                 .offset = 99,
                                 .thread = thread,
                                 .cpu = thread == 0 ? TV_NONE : 2,
                                 .path = path,
                                 .line_path = path,
                                 .type = fixture_value_type(trace, "tick", "count")};
}

/* The path of B made by A. */
static uint32_t inner_path(const struct tv_trace *trace)
{
    uint32_t path = 1;
    while (trace->paths.nodes[path].frame != FIXTURE_FRAME('B'))
        path++;
    return path;
}

static void add_dump(struct tv_trace *trace, uint32_t process, const char *of, double value)
{
    struct tv_memory_dump *dump = tv_table_add(&trace->tables.memory_dumps);
    *dump = (struct tv_memory_dump){.time = 4 * MS,
                                    .offset = 50,
                                    .process = process,
                                    .id = text(trace, "0xd"),
                                    .level = text(trace, "light"),
                                    .first_figure = (uint32_t)trace->tables.memory_figures.count,
                                    .figure_count = 2};
    struct tv_memory_figure *figure = tv_table_add(&trace->tables.memory_figures);
    *figure = (struct tv_memory_figure){.of = text(trace, "totals"),
                                        .name = text(trace, "resident"),
                                        .units = text(trace, "bytes"),
                                        .value = 4096};
    figure = tv_table_add(&trace->tables.memory_figures);
    *figure = (struct tv_memory_figure){.of = text(trace, of),
                                        .name = text(trace, "size"),
                                        .units = text(trace, "bytes"),
                                        .value = value};
}

static int set_up(void **state)
{
    struct asked *asked = tv_alloc(1, sizeof *asked);
    asked->fixture = fixture_draw(drawing, 1);
    struct tv_trace *trace = asked->fixture.trace;
    struct tv_thread lone = {.id = 99, .name = text(trace, "lone"), .listed = true};
    uint32_t thread = tv_trace_info_add_thread(trace->head, &lone);
    add_objects(trace);
    add_sample(trace, 1 * MS, 0, inner_path(trace));
    add_sample(trace, 1 * MS + 1, 0, TV_ROOT_PATH);
    add_sample(trace, 2 * MS, thread, 1);
    add_sample(trace, 5 * MS, 0, 1);
    add_dump(trace, 0, "malloc/heap", 12.5);
    add_dump(trace, TV_NONE, "shared", NAN);
    struct tv_instant *instant = tv_table_add(&trace->tables.instants);
    *instant = (struct tv_instant){.time = 1, .offset = TV_NO_OFFSET, .of = thread};
    tv_objects_index(trace);
    asked->view = tv_view_new(trace);
    *state = asked;
    return 0;
}

static void tells_which_rows_there_are(void **state)
{
    assert_answer(*state, "beside",
                  "{\"objects\":[{\"row\":0,\"type\":\"Node\",\"process\":0,\"objects\":1,"
                  "\"snapshots\":0,\"lanes\":1},\n"
                  "{\"row\":1,\"type\":\"Tree\",\"process\":0,\"objects\":3,\"snapshots\":3,"
                  "\"lanes\":2}],"
                  "\"samples\":[{\"thread\":0,\"process\":0,\"samples\":3,\"levels\":2},\n"
                  "{\"thread\":1,\"process\":0,\"samples\":1,\"levels\":1}],"
                  "\"memory_dumps\":[{\"process\":0,\"dumps\":1},\n{\"process\":-1,\"dumps\":1}],"
                  "\"display_frames\":[],"
                  "\"threads\":[{\"thread\":1,\"thread_id\":99,\"name\":\"lone\",\"process\":0,"
                  "\"instants\":1}]}");
}

/* The sample without a stack ends that of 1 ms; the distances, 1 ns and nearly 4 ms, make 4 ms the
 * length of the last one. */
static void draws_stacks_over_time(void **state)
{
    struct asked *asked = *state;
    assert_answer(asked, "sample_chart?threads=0,1&from=999000&to=1001000&pixels=2000",
                  "{\"boxes\":[[0,0,1000000,1,0,1,0],\n[0,1,1000000,1,1,1,0]],"
                  "\"grain\":1,\"left_out\":0}");
    assert_answer(asked, "sample_chart?threads=0,1,0&from=4000000&to=6000000&pixels=100",
                  "{\"boxes\":[[0,0,5000000,3999999,0,1,3]],\"grain\":1,\"left_out\":0}");
    assert_int_equal(ask(asked, "sample_chart?threads=2"), TV_ERR_USAGE);
    tv_out_release(&asked->out);
    assert_int_equal(ask(asked, "sample_chart?threads=0,x"), TV_ERR_USAGE);
    tv_out_release(&asked->out);
}

static void objects_of_a_range(void **state)
{
    /* 0x3 takes the lane that 0x1 has left */
    assert_answer(*state, "objects?rows=1&from=0&to=6000000&pixels=60",
                  "{\"objects\":[[0,1000000,3000000,1,0,1,3,\"0x1\"],\n"
                  "[1,2000000,5000000,1,1,1,0,\"0x2\"],\n"
                  "[3,3000000,4000000,1,0,1,1,\"0x3\"]],\n"
                  "\"snapshots\":[[0,1500000,0,1,0,1],\n[1,2000000,0,1,0,1],\n"
                  "[2,2000000,1,1,1,1]],\"left_out\":0}");
    /* the snapshot that holds at 2.5 ms was taken before */
    assert_answer(*state, "objects?rows=1&from=2500000&to=2900000",
                  "{\"objects\":[[0,1000000,3000000,1,0,1,3,\"0x1\"],\n"
                  "[1,2000000,5000000,1,1,1,0,\"0x2\"]],\n"
                  "\"snapshots\":[[1,2000000,0,1,0,1],\n[2,2000000,1,1,1,1]],\"left_out\":0}");
}

static void those_of_one_pixel_are_one(void **state)
{
    /* a pixel is 6 ms: in lane 0 two objects and two snapshots, in lane 1 one each */
    assert_answer(*state, "objects?rows=1&from=0&to=6000000&pixels=1",
                  "{\"objects\":[[0,1000000,4000000,1,0,2,0,\"\"],\n"
                  "[1,2000000,5000000,1,1,1,0,\"0x2\"]],\n"
                  "\"snapshots\":[[0,1500000,0,1,0,2],\n[2,2000000,1,1,1,1]],\"left_out\":0}");
}

#define FIRST                                                                                      \
    "{\"object\":0,\"type\":\"Tree\",\"base_type\":\"\",\"category\":\"cat\",\"id\":\"0x1\","      \
    "\"scope\":\"ptr\",\"process\":0,\"created_ns\":1000000,\"deleted_ns\":3000000,"               \
    "\"created\":true,\"deleted\":true,\"first_snapshot\":0,\"snapshots\":2,"                      \
    "\"joined\":[[2,\"Leaf\",\"0x1\"]]}"

static void all_about_an_object_and_a_snapshot(void **state)
{
    assert_answer(*state, "object?object=0", FIRST);
    assert_answer(*state, "snapshot?snapshot=0",
                  "{\"snapshot\":0,\"time_ns\":1500000,\"until_ns\":2000000,\"nth\":1,"
                  "\"inner\":false,\"of\":" FIRST "}");
    /* the last one holds as long as the object lives */
    assert_answer(*state, "snapshot?snapshot=1",
                  "{\"snapshot\":1,\"time_ns\":2000000,\"until_ns\":3000000,\"nth\":2,"
                  "\"inner\":true,\"of\":" FIRST "}");
}

static void what_an_id_means_at_a_snapshot(void **state)
{
    /* the snapshot of 0x2 was taken at 2 ms, when 0x1 had its second and 0x3 was not there */
    assert_answer(*state, "reference?snapshot=2&id=0x2", "{\"snapshot\":2}");
    assert_answer(*state, "reference?snapshot=2&id=0x3", "{\"snapshot\":-1}");
    assert_answer(*state, "reference?snapshot=2&id=0x1&scope=other", "{\"snapshot\":-1}");
    assert_answer(*state, "reference?snapshot=0&id=0x2&scope=ptr", "{\"snapshot\":2}");
    /* in a process that is named */
    assert_answer(*state, "reference?snapshot=2&id=0x2&pid=1", "{\"snapshot\":2}");
    assert_answer(*state, "reference?snapshot=2&id=0x2&pid=8", "{\"snapshot\":-1}");
}

static void samples_of_a_range(void **state)
{
    assert_answer(*state, "samples?from=0&to=6000000&pixels=6",
                  "{\"samples\":[[0,1000000,1,0,2],\n[2,2000000,0,1,1],\n[3,5000000,0,0,1]],"
                  "\"left_out\":0}");
    assert_answer(*state, "sample?sample=0",
                  "{\"sample\":0,\"time_ns\":1000000,\"weight\":3,\"thread\":0,\"cpu\":-1,"
                  "\"title\":\"tick\",\"stack\":[0,1],\"previous\":-1,\"next\":1,\"offset\":99}");
    assert_answer(*state, "sample?sample=3",
                  "{\"sample\":3,\"time_ns\":5000000,\"weight\":3,\"thread\":0,\"cpu\":-1,"
                  "\"title\":\"tick\",\"stack\":[0],\"previous\":1,\"next\":-1,\"offset\":99}");
}

/* "TVF1", frames, total and what was left out, then columns. */
static void a_flame_graph_of_samples(void **state)
{
    struct asked *asked = *state;
    uint32_t count;
    double numbers[2 + 3 * 2];
    /* A has three samples, one of them is of B in it; each weighs 3 */
    const double expected[] = {9, 0, 0, 0, 9, 3, 6, 3};
    assert_int_equal(ask(asked, "sample_flame?measure=weight"), TV_OK);
    memcpy(&count, asked->out.buffer + 4, 4);
    memcpy(numbers, asked->out.buffer + 8, sizeof numbers);
    assert_memory_equal(asked->out.buffer, "TVF1", 4);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < TV_COUNT(expected); i++)
        assert_true(numbers[i] == expected[i]);
    tv_out_release(&asked->out);
}

static void memory_dumps_with_their_figures(void **state)
{
    assert_answer(*state, "memory_dumps",
                  "{\"memory_dumps\":[[0,4000000,0,1,\"light\"],\n[1,4000000,-1,1,\"light\"]],"
                  "\"left_out\":0}");
    /* beside the others stands what is of the whole, or of an allocator without parts */
    assert_answer(*state, "memory_dump?dump=0",
                  "{\"dump\":0,\"time_ns\":4000000,\"process\":0,\"id\":\"0xd\","
                  "\"level\":\"light\",\"offset\":50,"
                  "\"figures\":[[\"totals\",\"resident\",\"bytes\",4096],"
                  "[\"malloc/heap\",\"size\",\"bytes\",12.5]],"
                  "\"together\":[{\"dump\":0,\"process\":0,"
                  "\"figures\":[[\"totals\",\"resident\",\"bytes\",4096]]},\n"
                  "{\"dump\":1,\"process\":-1,"
                  "\"figures\":[[\"totals\",\"resident\",\"bytes\",4096],"
                  "[\"shared\",\"size\",\"bytes\",null]]}]}");
}

static const char *const wrong_questions[] = {
    "objects?rows=2",          "objects?rows=0,,1",
    "objects?rows=x",          "objects?rows=0&from=2&to=1",
    "objects?rows=0&pixels=0", "object",
    "object?object=4",         "object?object=-1",
    "snapshot?snapshot=3",     "samples?pixels=9999",
    "sample?sample=4",         "sample_flame?measure=joy",
    "sample_flame?min=2",      "memory_dumps?from=1&to=1",
    "memory_dump?dump=2",
};

static void wrong_questions_are_refused(void **state)
{
    struct asked *asked = *state;
    for (size_t i = 0; i < TV_COUNT(wrong_questions); i++) {
        assert_int_equal(ask(asked, wrong_questions[i]), TV_ERR_USAGE);
        assert_int_equal(asked->out.length, 0);
        tv_out_release(&asked->out);
    }
}

static void an_answer_is_bounded(void **state)
{
    struct asked *asked = *state;
    struct tv_trace *trace = asked->fixture.trace;
    /* each wide enough to stand alone */
    const struct life life = {"Many", "", "0x9", 0, 6 * MS, TV_OBJECT_CREATED, TV_NONE};
    for (int i = 0; i < 25000; i++)
        add_object(trace, &life, NULL, 0);
    assert_int_equal(ask(asked, "objects?rows=0"), TV_OK);
    tv_out_char(&asked->out, 0);
    assert_non_null(strstr((const char *)asked->out.buffer, "\"left_out\":5000}"));
    tv_out_release(&asked->out);
    assert_int_equal(ask(asked, "beside"), TV_OK);
    tv_out_char(&asked->out, 0);
    assert_non_null(strstr((const char *)asked->out.buffer, "\"objects\":25000,\"snapshots\":0,"
                                                            "\"lanes\":16}"));
    tv_out_release(&asked->out);
}

#define asked_test(f) cmocka_unit_test_setup_teardown(f, set_up, asked_tear_down)

UNIT_TESTS(objects, asked_test(tells_which_rows_there_are), asked_test(draws_stacks_over_time),
           asked_test(objects_of_a_range), asked_test(those_of_one_pixel_are_one),
           asked_test(all_about_an_object_and_a_snapshot),
           asked_test(what_an_id_means_at_a_snapshot), asked_test(samples_of_a_range),
           asked_test(a_flame_graph_of_samples), asked_test(memory_dumps_with_their_figures),
           asked_test(wrong_questions_are_refused), asked_test(an_answer_is_bounded));
