/* SPDX-License-Identifier: Apache-2.0 */
#include "view/asked.h"

#include <stdio.h>
#include <string.h>

#include "analysis/timeline/tiles.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/workers.h"
#include "unit.h"
#include "view/parameters.h"

/* A is called twice, the second time by way of itself; `a` is still open; C waits from 1.1 to 2.9
 * ms. */
static const struct fixture_thread drawing[] = {
    {"main", " 11   ", {"AAAAaa>", "C  DAA>"}},
    {"pool \"1\"", NULL, {"  BB", "  C "}},
};

static int set_up(void **state)
{
    struct asked *asked = tv_alloc(1, sizeof *asked);
    asked->fixture = fixture_draw(drawing, 2);
    asked->view = tv_view_new(asked->fixture.trace);
    *state = asked;
    return 0;
}

static void tells_what_the_trace_is(void **state)
{
    struct asked *asked = *state;
    /* main's CPU stood for 1.8 of 4 ms; its last calls begin and end, open, at 4 ms */
    char expected[2000];
    snprintf(
        expected, sizeof expected,
        "{\"protocol\":1,\"name\":\"drawn\",\"format\":\"drawing\",\"version\":\"\",\"recorded\":"
        "null"
        ",\"clocks\":[\"real\",\"cpu\"],\"axis\":\"real\",\"order\":\"busiest\","
        "\"colours\":\"rank\",\"unit\":null,\"start_ns\":0,\"end_ns\":4000000,"
        "\"records\":0"
        ",\"overflow\":false,\"sampled\":null,\"value_types\":[],\"calls\":7,\"max_depth\":2,"
        "\"metadata\":[],"
        "\"files\":"
        "[\"drawn\"],\"processes\":[{\"id\":1,\"name\":\"demo\"}]"
        ",\"tracks\":[{\"track\":0,\"kind\":\"thread\",\"thread_id\":1,\"name\":\"main\","
        "\"process\":0,\"thread\":0,\"first_row\":0"
        ",\"rows\":2,\"calls\":5,\"start_ns\":0,\"end_ns\":4000000,\"real_ns\":4000000"
        ",\"cpu_ns\":2200000,\"waits\":1},{\"track\":1,\"kind\":\"thread\",\"thread_id\":2,"
        "\"name\":\"pool \\\"1\\\"\""
        ",\"process\":0,\"thread\":1,\"first_row\":2,\"rows\":2,\"calls\":2,\"start_ns\":2000000,"
        "\"end_ns\":"
        "4000000"
        ",\"real_ns\":2000000,\"cpu_ns\":2000000,\"waits\":0}],\"idle_threads\":[],\"diagnostics\":"
        "["
        "{\"kind\":\"open-call\",\"text\":\"calls still open at the end\",\"severity\":\"note\""
        ",\"count\":2,\"offsets\":[]}],\"counters\":0,\"instants\":0,\"flows\":0,\"objects\":0,"
        "\"samples\":0,\"memory_dumps\":0,\"display_frames\":0,\"facts\":[[\"Unfinished "
        "slices\",2]],"
        "\"saves\":[\"trace\",\"json\"],\"frames\":%u}",
        asked->fixture.trace->head->frame_count);
    assert_answer(asked, "trace", expected);
}

static void assert_has(const struct tv_out *out, const char *part)
{
    if (!strstr((const char *)out->buffer, part))
        fail_msg("missing: %s", part);
}

/* The sums of a track in the order of its tracks, from its slices one by one. */
static void assert_has_sums(const struct tv_out *out, const struct tv_trace *trace, uint32_t track)
{
    const struct tv_track *t = &trace->tracks[track];
    int64_t wall = 0, cpu = 0;
    char part[100];
    for (uint32_t i = 0; i < trace->rows[t->first_row].count; i++) {
        struct tv_slice slice = tv_slice_get(trace, t->first_row, i);
        wall += slice.length;
        cpu += slice.cpu_length;
    }
    snprintf(part, sizeof part, "\"real_ns\":%lld,\"cpu_ns\":%lld,", (long long)wall,
             (long long)cpu);
    assert_has(out, part);
}

/* A calls longest of all, but B lies outermost; only the thread without a name needs that. */
static void names_threads_by_what_they_hold(void **state)
{
    (void)state;
    const struct fixture_thread threads[] = {{"", NULL, {"C BBBBB D", "   AAA"}},
                                             {"main", NULL, {"CC"}}};
    struct asked asked = {.fixture = fixture_draw(threads, 2)};
    asked.view = tv_view_new(asked.fixture.trace);
    assert_int_equal(ask(&asked, "trace"), TV_OK);
    tv_out_char(&asked.out, 0);
    assert_has(&asked.out, "\"name\":\"\",\"process\":0,\"thread\":0,\"holds\":\"b\"");
    assert_null(strstr(strstr((const char *)asked.out.buffer, "\"name\":\"main\""), "holds"));
    tv_out_release(&asked.out);
    tv_view_free(asked.view);
    fixture_free(&asked.fixture);
}

static void tells_what_else_there_is(void **state)
{
    (void)state;
    const struct fixture_dice dice = {3,    2, 2, 1,   1000, TV_CLOCK_WALL | TV_CLOCK_CPU,
                                      1000, 0, 1, true};
    struct asked asked = {.fixture = fixture_random(&dice)};
    const struct tv_trace *trace = asked.fixture.trace;
    struct tv_trace_info *head = trace->head;
    struct tv_thread idle = {.id = 70, .name = tv_trace_info_string(head, TV_BYTES("</script>"))};
    tv_trace_info_add_thread(head, &idle);
    idle.id = 71;
    tv_trace_info_add_thread(head, &idle);
    tv_trace_info_add_metadata(head, 0, TV_BYTES("vm"), TV_BYTES("art"));
    tv_trace_info_add_metadata(head, 0, TV_BYTES("pid"), TV_BYTES("12"));
    tv_diagnostics_add(&head->diagnostics, TV_DIAGNOSTIC_TRUNCATED, 1234);
    tv_diagnostics_add(&head->diagnostics, TV_DIAGNOSTIC_TRUNCATED, 1300);
    head->inputs[0].recorded_us = 1000000;
    head->inputs[0].figures = TV_FIGURES_SAMPLED;
    head->inputs[0].sampled_ns = 5000;
    head->inputs[0].records = 77;
    head->inputs[0].overflow = true;
    asked.view = tv_view_new(trace);
    assert_int_equal(ask(&asked, "trace"), TV_OK);
    tv_out_char(&asked.out, 0);
    assert_has(&asked.out,
               "\"idle_threads\":[{\"thread\":2,\"thread_id\":70,\"name\":\"</script>\"},"
               "{\"thread\":3,\"thread_id\":71,");
    assert_has(&asked.out, "\"metadata\":[[\"vm\",\"art\"],[\"pid\",\"12\"]]");
    assert_has(&asked.out, "\"severity\":\"error\",\"count\":2,\"offsets\":[1234,1300]}");
    assert_has(&asked.out, "\"recorded\":\"1970-01-01T00:00:01");
    assert_has(
        &asked.out,
        "\"records\":77,\"overflow\":true,\"sampled\":{\"interval_ns\":5000,\"inferred\":false}");
    assert_true(trace->rows[0].count > 200);
    assert_has_sums(&asked.out, trace, 0);
    assert_has_sums(&asked.out, trace, 1);
    tv_out_release(&asked.out);
    tv_view_free(asked.view);
    fixture_free(&asked.fixture);
}

/* A page is called as the file is, and is of the format of its trace, not of what stands beside. */
static void is_named_by_its_main_trace(void **state)
{
    (void)state;
    static const struct {
        const char *input, *name;
    } cases[] = {
        {"/a/page.html: block 12", "\"name\":\"page.html\",\"format\":\"made\""},
        {"page.html: block", "\"name\":\"page.html: block\""},
        {"page.html: block x", "\"name\":\"page.html: block x\""},
        {": block 1", "\"name\":\": block 1\""},
        {"7", "\"name\":\"7\""},
    };
    const struct fixture_dice dice = {1, 1, 1, 1, 10, TV_CLOCK_WALL, 1000, 0, 1, true};
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        struct asked asked = {.fixture = fixture_random(&dice)};
        struct tv_trace_info *head = asked.fixture.trace->head;
        head->inputs[0].eventless = true;
        tv_trace_info_add_input(head, cases[i].input, "made");
        asked.view = tv_view_new(asked.fixture.trace);
        assert_int_equal(ask(&asked, "trace"), TV_OK);
        tv_out_char(&asked.out, 0);
        assert_has(&asked.out, cases[i].name);
        tv_out_release(&asked.out);
        tv_view_free(asked.view);
        fixture_free(&asked.fixture);
    }
}

static void knows_its_questions(void **state)
{
    (void)state;
    enum tv_answer_type type;
    assert_true(tv_view_find_question(TV_BYTES("profile"), &type));
    assert_string_equal(tv_answer_type_name(type), "application/json");
    assert_true(tv_view_find_question(TV_BYTES("tiles"), &type));
    assert_string_equal(tv_answer_type_name(type), "application/octet-stream");
    assert_false(tv_view_find_question(TV_BYTES("quit"), &type));
    assert_int_equal(type, TV_ANSWER_JSON);
    assert_true(tv_view_is_large(TV_BYTES("save")));
    assert_false(tv_view_is_large(TV_BYTES("trace")));
    assert_false(tv_view_is_large(TV_BYTES("quit")));
}

static void ranks_the_frames(void **state)
{
    struct asked *asked = *state;
    const char *expected = "{\"frames\":[[\"demo.A\",\"a\",\"()V\",\"Demo.java\",1,1],\n"
                           "[\"demo.B\",\"b\",\"()V\",\"Demo.java\",2,2],\n"
                           "[\"demo.C\",\"c\",\"()V\",\"Demo.java\",3,3],\n"
                           "[\"demo.D\",\"d\",\"()V\",\"Demo.java\",4,4],\n"
                           "[\"demo.E\",\"e\",\"()V\",\"Demo.java\",5,0],";
    assert_int_equal(ask(asked, "frames"), TV_OK);
    assert_memory_equal(asked->out.buffer, expected, strlen(expected));
    tv_out_release(&asked->out);
}

static void profiles_a_selection(void **state)
{
    assert_answer(
        *state, "profile",
        "{\"total_real_ns\":6000000,\"total_cpu_ns\":4200000,\"rows\":["
        "[0,2,1,4000000,2000000,2200000,200000],\n"
        "[1,1,0,2000000,1000000,2000000,1000000],\n"
        "[2,2,0,2000000,2000000,2000000,2000000],\n"
        "[3,1,0,1000000,1000000,1000000,1000000]],\"waits\":{\"calls\":1,\"real_ns\":1800000}}");
    /* between 1 and 3 ms main's CPU clock advances by 200 us: 50 in the first half millisecond */
    assert_answer(
        *state, "profile?from=500000&to=1500000&tracks=0",
        "{\"total_real_ns\":1000000,\"total_cpu_ns\":550000,\"cut\":2,\"rows\":["
        "[0,1,0,1000000,500000,550000,50000],\n"
        "[2,1,0,500000,500000,500000,500000]],\"waits\":{\"calls\":1,\"real_ns\":400000}}");
    /* what begins at the end of the range is outside, also where the trace ends */
    assert_answer(
        *state, "profile?to=4000000&tracks=0",
        "{\"total_real_ns\":4000000,\"total_cpu_ns\":2200000,\"rows\":["
        "[0,1,0,4000000,2000000,2200000,200000],\n"
        "[2,1,0,1000000,1000000,1000000,1000000],\n"
        "[3,1,0,1000000,1000000,1000000,1000000]],\"waits\":{\"calls\":1,\"real_ns\":1800000}}");
    assert_answer(*state, "profile?tracks=",
                  "{\"total_real_ns\":0,\"total_cpu_ns\":0,\"rows\":[],\"waits\":{\"calls\":0,"
                  "\"real_ns\":0}}");
}

static void opens_a_method(void **state)
{
    assert_answer(*state, "relations?frame=0",
                  "{\"parents\":[[-1,2,3,4000000,2200000]],\n"
                  "\"children\":[[2,1,2,1000000,1000000],[3,1,1,1000000,1000000],[0,1,3,0,0]],\n"
                  "\"recursive_parents\":[[0,1,3,0,0]],\n"
                  "\"recursive_children\":[],\n"
                  "\"self\":[2000000,200000],\"recursive_self\":[0,0]}");
}

static void describes_a_call(void **state)
{
    assert_answer(*state, "slice?row=0&index=0",
                  "{\"row\":0,\"index\":0,\"track\":0,\"depth\":0,\"frame\":0,\"start_ns\":0,"
                  "\"length_ns\":4000000"
                  ",\"cpu_start_ns\":0,\"cpu_length_ns\":2200000,\"excl_real_ns\":2000000,\"excl_"
                  "cpu_ns\":200000"
                  ",\"wait_ns\":1800000,\"children\":2,\"unrolled\":false,\"entered_before\":false"
                  ",\"open_at_end\":false,\"missing_exit\":false,\"path\":[],\"recursion\":0"
                  ",\"first_child\":[1,0],\"previous\":null,\"next\":[0,1],\"nth\":1,\"of\":3}");
    assert_answer(
        *state, "slice?index=2&row=1",
        "{\"row\":1,\"index\":2,\"track\":0,\"depth\":1,\"frame\":0,\"start_ns\":4000000,\"length_"
        "ns\":0"
        ",\"cpu_start_ns\":2200000,\"cpu_length_ns\":0,\"excl_real_ns\":0,\"excl_cpu_ns\":0"
        ",\"wait_ns\":0,\"children\":0,\"unrolled\":false,\"entered_before\":false"
        ",\"open_at_end\":true,\"missing_exit\":false,\"path\":[[0,1,0]],\"recursion\":1"
        ",\"first_child\":null,\"previous\":[1,1],\"next\":null,\"nth\":3,\"of\":3}");
}

/* The id counts the slices of row 0, then those of row 1, and so on. */
static void describes_a_call_by_its_id(void **state)
{
    struct asked *asked = *state;
    const struct tv_trace *trace = asked->fixture.trace;
    unsigned id = 0;
    for (uint32_t row = 0; row < trace->row_count; row++) {
        for (uint32_t index = 0; index < trace->rows[row].count; index++, id++) {
            char question[40], begin[60];
            snprintf(question, sizeof question, "slice?id=%u", id);
            snprintf(begin, sizeof begin, "{\"row\":%u,\"index\":%u,", row, index);
            assert_int_equal(ask(asked, question), TV_OK);
            assert_memory_equal(asked->out.buffer, begin, strlen(begin));
            tv_out_release(&asked->out);
        }
    }
    assert_true(id > 3);
}

static void steps_from_call_to_call(void **state)
{
    assert_answer(*state, "step?frame=2&t=0&direction=1", "[3,0]");
    assert_answer(*state, "step?frame=2&t=-1", "[1,0]");
    assert_answer(*state, "step?frame=2&t=2000000&direction=-1", "[1,0]");
    assert_answer(*state, "step?frame=2&t=2000000&direction=1", "null");
    assert_answer(*state, "step?frame=2&t=0&direction=1&tracks=0", "null");
}

static void finds_extents(void **state)
{
    assert_answer(*state, "extents?frame=2&pixels=10",
                  "{\"tracks\":[[0,[0,1000000]],\n[1,[2000000,3000000]]]}");
    assert_answer(*state, "extents?frame=2&from=1000000", "{\"tracks\":[[1,[2000000,3000000]]]}");
    assert_answer(*state, "extents?frame=25", "{\"tracks\":[]}");
}

/* --- Bytes
 * ------------------------------------------------------------------------------------------- */

static uint32_t u32_at(const struct tv_out *out, size_t at)
{
    uint32_t value;
    assert_true(at + 4 <= out->length);
    memcpy(&value, out->buffer + at, 4);
    return value;
}

static double f64_at(const struct tv_out *out, size_t at)
{
    double value;
    assert_true(at + 8 <= out->length);
    memcpy(&value, out->buffer + at, 8);
    return value;
}

static void activity_bytes(void **state)
{
    struct asked *asked = *state;
    const uint8_t main_track[] = {0, 0, 0, 0, 255, 255, 255, 255};
    const uint8_t pool[] = {1, 0, 0, 0, 0, 0, 255, 255};
    assert_int_equal(ask(asked, "activity?buckets=4"), TV_OK);
    assert_int_equal(asked->out.length, 32 + 2 * 8);
    assert_memory_equal(asked->out.buffer, "TVA1", 4);
    assert_int_equal(u32_at(&asked->out, 4), 2);
    assert_int_equal(u32_at(&asked->out, 8), 4);
    assert_true(f64_at(&asked->out, 16) == 0 && f64_at(&asked->out, 24) == 4e6);
    assert_memory_equal(asked->out.buffer + 32, main_track, 8);
    assert_memory_equal(asked->out.buffer + 40, pool, 8);
    tv_out_release(&asked->out);
}

static void flame_bytes(void **state)
{
    struct asked *asked = *state;
    /* A with C and D, B with C */
    const double times[3][5] = {
        {0, 0, 1e6, 4e6, 4e6}, {4e6, 1e6, 1e6, 2e6, 1e6}, {2e6, 1e6, 1e6, 1e6, 1e6}};
    const uint32_t depth[5] = {0, 1, 1, 0, 1}, frame[5] = {0, 2, 3, 1, 2},
                   calls[5] = {2, 1, 1, 1, 1};
    assert_int_equal(ask(asked, "flame?clock=real&min=0"), TV_OK);
    assert_memory_equal(asked->out.buffer, "TVF1", 4);
    assert_int_equal(u32_at(&asked->out, 4), 5);
    assert_true(f64_at(&asked->out, 8) == 6e6 && f64_at(&asked->out, 16) == 0);
    assert_int_equal(asked->out.length, 24 + 3 * 5 * 8 + 4 * 24);
    for (size_t i = 0; i < 5; i++) {
        for (size_t k = 0; k < 3; k++)
            assert_true(f64_at(&asked->out, 24 + (k * 5 + i) * 8) == times[k][i]);
        assert_int_equal(u32_at(&asked->out, 144 + i * 4), depth[i]);
        assert_int_equal(u32_at(&asked->out, 168 + i * 4), frame[i]);
        assert_int_equal(u32_at(&asked->out, 216 + i * 4), calls[i]);
    }
    tv_out_release(&asked->out);
}

/* Reads one tile at `at`, holds it against the tile itself, and returns where the next begins. */
static size_t check_tile(const struct tv_out *out, size_t at, const struct tv_tile *tile)
{
    size_t n = tile->count, odd = (n + 1) / 2 * 2;
    assert_int_equal(at % 8, 0);
    assert_int_equal(u32_at(out, at), tile->key.kind);
    assert_int_equal(u32_at(out, at + 4), tile->key.of);
    assert_int_equal(u32_at(out, at + 8), tile->key.res);
    assert_int_equal(u32_at(out, at + 12), n);
    assert_true(f64_at(out, at + 16) == (double)tile->key.number);
    assert_int_equal(u32_at(out, at + 24), tile->has_density);
    at += 32;
    for (size_t i = 0; i < n; i++) {
        assert_true(f64_at(out, at + i * 8) == (double)tile->slices[i].start);
        assert_true(f64_at(out, at + (n + i) * 8) == (double)tile->slices[i].length);
        assert_int_equal(u32_at(out, at + n * 16 + i * 4), tile->slices[i].row);
        assert_int_equal(u32_at(out, at + n * 16 + (odd + i) * 4), tile->slices[i].index);
        assert_int_equal(u32_at(out, at + n * 16 + (2 * odd + i) * 4), tile->slices[i].frame);
        assert_int_equal(u32_at(out, at + n * 16 + (3 * odd + i) * 4), tile->slices[i].flags);
    }
    at += n * 16 + odd * 16;
    if (!tile->has_density)
        return at;
    assert_memory_equal(out->buffer + at + TV_TILE_PIXELS * 4, tile->height, TV_TILE_PIXELS);
    for (size_t i = 0; i < TV_TILE_PIXELS; i++)
        assert_int_equal(u32_at(out, at + i * 4), tile->frame[i]);
    return at + (size_t)TV_TILE_PIXELS * 5;
}

struct tile_question {
    const char *text;
    unsigned res;
    int64_t from, to;
    const struct tv_tile_row *rows;
    size_t row_count;
};

static void check_tiles(const struct tv_trace *trace, const struct tv_view *view,
                        const struct tile_question *question)
{
    struct tv_pyramid *pyramid = tv_pyramid_new(trace, 1);
    struct tv_tile tile;
    struct tv_out out;
    struct tv_error error;
    size_t at = 8, tiles = 0;
    tv_tile_init(&tile);
    assert_int_equal(ask_view(view, question->text, &out, &error), TV_OK);
    for (size_t i = 0; i < question->row_count; i++)
        for (int64_t number = question->from; number <= question->to; number++, tiles++) {
            struct tv_tile_key key = {question->rows[i].kind, question->rows[i].of, question->res,
                                      number};
            tv_tile_draw(pyramid, &key, &tile);
            at = check_tile(&out, at, &tile);
        }
    assert_memory_equal(out.buffer, "TVT1", 4);
    assert_int_equal(u32_at(&out, 4), tiles);
    assert_int_equal(at, out.length);
    tv_out_release(&out);
    tv_tile_release(&tile);
    tv_pyramid_free(pyramid);
}

static void tile_bytes(void **state)
{
    struct asked *asked = *state;
    const struct tv_tile_row rows[] = {
        {TV_TILE_ROW, 0},   {TV_TILE_ROW, 1},       {TV_TILE_ROW, 2},       {TV_TILE_ROW, 3},
        {TV_TILE_WAITS, 0}, {TV_TILE_INNERMOST, 1}, {TV_TILE_INNERMOST, 0}, {TV_TILE_ROW, 3}};
    const struct tile_question one = {
        "tiles?res=14&from=0&to=0&rows=r0-3,w0,i1,i0,r3", 14, 0, 0, rows, 8};
    check_tiles(asked->fixture.trace, asked->view, &one);
    const struct tile_question many = {
        "tiles?res=11&from=-2&to=40&rows=r0-3,w0,i1,i0,r3", 11, -2, 40, rows, 8};
    check_tiles(asked->fixture.trace, asked->view, &many);
    const struct tile_question far = {
        "tiles?res=52&from=-1&to=0&rows=r0-3,w0,i1,i0,r3", 52, -1, 0, rows, 8};
    check_tiles(asked->fixture.trace, asked->view, &far);
}

/* --- Trust
 * ------------------------------------------------------------------------------------------- */

static const char *const wrong_questions[] = {
    "",
    "quit",
    "Trace",
    "profile?from=x",
    "profile?from=1e9",
    "profile?from=9223372036854775807",
    "profile?to=-9223372036854775808",
    "profile?tracks=2",
    "profile?tracks=0,1,0",
    "profile?tracks=-1",
    "profile?tracks=0,,1",
    "profile?tracks=0;1",
    "relations",
    "relations?frame=-1",
    "relations?frame=27",
    "relations?frame=4294967296",
    "slice?row=0",
    "slice?index=0",
    "slice?row=4&index=0",
    "slice?row=0&index=2",
    "slice?row=0&index=-1",
    "slice?id=-1",
    "slice?id=x",
    "slice?id=1000",
    "slice?id=99999999999999999999",
    "step?frame=0",
    "step?frame=0&t=0&direction=0",
    "step?frame=0&t=0&direction=2",
    "extents?frame=0&pixels=0",
    "extents?frame=0&pixels=1000000",
    "activity?buckets=0",
    "activity?buckets=99999999999",
    "flame?clock=wall",
    "flame?order=heavy",
    "flame?inverted=yes",
    "flame?root=-1",
    "flame?root=4294967295",
    "flame?min=2",
    "flame?min=-0.1",
    "flame?min=nan",
    "tiles?from=0&to=0&rows=r0",
    "tiles?res=53&from=0&to=0&rows=r0",
    "tiles?res=-1&from=0&to=0&rows=r0",
    "tiles?res=52&from=0&to=1&rows=r0",
    "tiles?res=0&from=0&to=4096&rows=r0",
    "tiles?res=0&from=0&to=4095&rows=r0-1",
    "tiles?res=0&from=1&to=0&rows=r0",
    "tiles?res=0&from=-4503599627370497&to=0&rows=r0",
    "tiles?res=0&from=0&to=0&rows=r4",
    "tiles?res=0&from=0&to=0&rows=r3-1",
    "tiles?res=0&from=0&to=0&rows=r0-4294967295",
    "tiles?res=0&from=0&to=0&rows=i2",
    "tiles?res=0&from=0&to=0&rows=w2",
    "tiles?res=0&from=0&to=0&rows=x0",
    "tiles?res=0&from=0&to=0&rows=r",
    "tiles?res=0&from=0&to=0&rows=,",
    "tiles?res=0&from=0&to=0&rows=r0-",
};

static void wrong_questions_are_refused(void **state)
{
    struct asked *asked = *state;
    for (size_t i = 0; i < TV_COUNT(wrong_questions); i++) {
        memset(&asked->error, 0, sizeof asked->error);
        assert_int_equal(ask(asked, wrong_questions[i]), TV_ERR_USAGE);
        assert_int_equal(asked->out.length, 0);
        assert_int_equal(asked->error.status, TV_ERR_USAGE);
        assert_true(strlen(asked->error.message) > 0);
        tv_out_release(&asked->out);
    }
}

/* Any text as any parameter gives an answer or an error. */
static void random_parameters_do_no_harm(void **state)
{
    static const char *const names[] = {"trace",   "profile",  "relations", "slice", "step",
                                        "extents", "activity", "flame",     "tiles"};
    static const char *const keys[] = {"from",  "to",    "tracks",  "frame",   "row",
                                       "index", "t",     "res",     "rows",    "root",
                                       "min",   "clock", "buckets", "inverted"};
    static const char letters[] = "0123456789-,.rwi19";
    struct asked *asked = *state;
    uint32_t seed = 99;
    for (int round = 0; round < 3000; round++) {
        char question[200] = "";
        size_t at = (size_t)snprintf(question, sizeof question, "%s?",
                                     names[fixture_roll(&seed, TV_COUNT(names))]);
        for (int i = 0; i < 4; i++) {
            at += (size_t)snprintf(question + at, sizeof question - at,
                                   "%s=", keys[fixture_roll(&seed, TV_COUNT(keys))]);
            for (uint32_t k = fixture_roll(&seed, 4); k > 0; k--)
                question[at++] = letters[fixture_roll(&seed, sizeof letters - 1)];
            question[at++] = '&';
        }
        question[at] = 0;
        enum tv_status status = ask(asked, question);
        assert_true(status == TV_OK || (status == TV_ERR_USAGE && asked->out.length == 0));
        tv_out_release(&asked->out);
    }
}

/* --- Several at once
 * --------------------------------------------------------------------------------- */

static const char *const parallel_questions[] = {
    "profile",          "profile?from=1000000",   "profile?to=3000000",
    "profile?tracks=1", "profile?tracks=0",       "relations?frame=0",
    "flame?min=0",      "flame?min=0&inverted=1", "tiles?res=12&from=0&to=20&rows=r0-3",
    "extents?frame=0",
};

struct crowd {
    const struct tv_view *view;
    struct tv_out expected[TV_COUNT(parallel_questions)];
    _Atomic int wrong;
};

static void ask_all(void *context, unsigned index)
{
    struct crowd *crowd = context;
    for (unsigned round = 0; round < 40; round++) {
        size_t i = (index * 3 + round) % TV_COUNT(parallel_questions);
        struct tv_out out;
        struct tv_error error;
        enum tv_status status = ask_view(crowd->view, parallel_questions[i], &out, &error);
        if (status != TV_OK || out.length != crowd->expected[i].length ||
            memcmp(out.buffer, crowd->expected[i].buffer, out.length) != 0)
            crowd->wrong++;
        tv_out_release(&out);
    }
}

static void several_ask_at_once(void **state)
{
    struct asked *asked = *state;
    struct crowd crowd = {.view = asked->view};
    for (size_t i = 0; i < TV_COUNT(parallel_questions); i++)
        assert_int_equal(
            ask_view(asked->view, parallel_questions[i], &crowd.expected[i], &asked->error), TV_OK);
    tv_workers_run(4, ask_all, &crowd);
    assert_int_equal(crowd.wrong, 0);
    for (size_t i = 0; i < TV_COUNT(parallel_questions); i++)
        tv_out_release(&crowd.expected[i]);
}

static void a_missing_clock_is_null(void **state)
{
    (void)state;
    const struct fixture_dice dice = {7, 1, 2, 2, 6, TV_CLOCK_CPU, 1000, 0, 1, true};
    struct asked asked = {.fixture = fixture_random(&dice)};
    asked.view = tv_view_new(asked.fixture.trace);
    assert_int_equal(ask(&asked, "profile"), TV_OK);
    tv_out_char(&asked.out, 0);
    assert_non_null(
        strstr((const char *)asked.out.buffer, "{\"total_real_ns\":null,\"total_cpu_ns\":"));
    assert_non_null(strstr((const char *)asked.out.buffer, ",null,null,"));
    assert_non_null(strstr((const char *)asked.out.buffer, "\"waits\":null}"));
    tv_out_release(&asked.out);
    assert_int_equal(ask(&asked, "flame?clock=real"), TV_ERR_USAGE);
    tv_out_release(&asked.out);
    assert_int_equal(ask(&asked, "flame"), TV_OK);
    tv_out_release(&asked.out);
    tv_view_free(asked.view);
    fixture_free(&asked.fixture);
}

/* A trace without any event is a trace. */
static void an_empty_trace_has_answers(void **state)
{
    (void)state;
    struct asked asked = {.fixture = fixture_draw(NULL, 0)};
    asked.view = tv_view_new(asked.fixture.trace);
    assert_answer(&asked, "extents?frame=0", "{\"tracks\":[]}");
    assert_answer(&asked, "step?frame=0&t=0", "null");
    assert_int_equal(ask(&asked, "flame"), TV_OK);
    assert_int_equal(asked.out.length, 24);
    tv_out_release(&asked.out);
    assert_int_equal(ask(&asked, "slice?row=0&index=0"), TV_ERR_USAGE);
    tv_out_release(&asked.out);
    tv_view_free(asked.view);
    fixture_free(&asked.fixture);
}

#define asked_test(f) cmocka_unit_test_setup_teardown(f, set_up, asked_tear_down)

/* A makes B three times, for 2 ms each, and C once; the last B makes D, which is not A's. */
static void adds_up_what_a_call_made(void **state)
{
    (void)state;
    static const struct fixture_thread thread = {
        "main", NULL, {"AAAAAAAA", "BBCbb BB", "      D "}};
    struct asked *asked = tv_alloc(1, sizeof *asked);
    asked->fixture = fixture_draw(&thread, 1);
    asked->view = tv_view_new(asked->fixture.trace);
    assert_answer(asked, "inside?row=0&index=0",
                  "{\"left_out\":0,\"rows\":[[1,3,6000000,6000000],[2,1,1000000,1000000]]}");
    assert_answer(asked, "inside?row=1&index=0", "{\"left_out\":0,\"rows\":[]}");
    void *done = asked;
    asked_tear_down(&done);
}

UNIT_TESTS(view, asked_test(tells_what_the_trace_is),
           cmocka_unit_test(names_threads_by_what_they_hold),
           cmocka_unit_test(tells_what_else_there_is), cmocka_unit_test(is_named_by_its_main_trace),
           cmocka_unit_test(knows_its_questions), asked_test(ranks_the_frames),
           asked_test(profiles_a_selection), asked_test(opens_a_method),
           asked_test(describes_a_call), asked_test(describes_a_call_by_its_id),
           cmocka_unit_test(adds_up_what_a_call_made), asked_test(steps_from_call_to_call),
           asked_test(finds_extents), asked_test(activity_bytes), asked_test(flame_bytes),
           asked_test(tile_bytes), asked_test(wrong_questions_are_refused),
           asked_test(random_parameters_do_no_harm), asked_test(several_ask_at_once),
           cmocka_unit_test(a_missing_clock_is_null), cmocka_unit_test(an_empty_trace_has_answers));
