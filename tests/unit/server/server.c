/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.c - how the viewer ends, and what it waits for.
 */
#include "unit.h"

#include <sched.h>

#include "base/bytes.h"
#include "fixture.h"
#include "model/sketch.h"
#include "server/server.h"

enum how { LOADS, FAILS, HANGS_UNTIL_CANCELLED, HANGS_WITH_A_SKETCH, HANGS_WELL_READ };

struct source {
    enum how how;
    struct fixture fixture;
};

static enum tv_status load(void *context, const struct tv_session_input *inputs, size_t count,
                           struct tv_progress *progress, struct tv_trace **trace,
                           struct tv_error *err)
{
    struct source *source = context;
    (void)inputs;
    assert_int_equal(count, 1);
    if (source->how == HANGS_WITH_A_SKETCH) {
        struct tv_sketch_mark mark = {5, tv_sketch_track(progress->sketch, TV_BYTES("a"))};
        tv_sketch_add(progress->sketch, &mark, 1);
    }
    if (source->how == HANGS_WELL_READ)
        atomic_store(&progress->bytes, (uint64_t)1 << 30);
    while (source->how >= HANGS_UNTIL_CANCELLED) {
        if (atomic_load(&progress->cancel))
            return tv_fail(err, TV_ERR_CANCELLED, TV_NO_OFFSET, "stopped");
        sched_yield();
    }
    if (source->how == FAILS)
        return tv_fail(err, TV_ERR_SYNTAX, 7, "no trace");
    *trace = source->fixture.trace;
    source->fixture.trace = NULL;
    return TV_OK;
}

static struct tv_server *serve(struct source *source)
{
    static const struct fixture_thread drawing[] = {{"main", NULL, {"AAAA", " BB "}}};
    struct tv_desk_file file = {"x", 0};
    struct tv_server_options options = {
        .files = &file, .file_count = 1, .loader = {.load = load, .context = source}};
    struct tv_server *server;
    if (source->how == LOADS)
        source->fixture = fixture_draw(drawing, 1);
    assert_int_equal(tv_server_new(&options, &server, NULL), TV_OK);
    assert_int_equal(tv_server_start(server, NULL), TV_OK);
    return server;
}

static void waits_for_the_trace(void **state)
{
    (void)state;
    struct source source = {.how = LOADS};
    struct tv_server *server = serve(&source);
    assert_int_equal(tv_server_wait_loaded(server, TV_FOREVER), TV_SESSION_READY);
    assert_null(tv_server_error(server));
    tv_server_end(server);
    tv_server_wait_end(server, false);
    assert_true(tv_server_free(server));
    fixture_free(&source.fixture);
}

/* Who waits for a sketch has an hour; without one nobody waits longer than was said. */
static void waits_for_a_sketch_alone(void **state)
{
    (void)state;
    const struct {
        enum how how;
        unsigned wait_ms;
        enum tv_session_state comes;
    } cases[] = {
        {HANGS_WITH_A_SKETCH, 3600 * 1000, TV_SESSION_LOADING},
        {HANGS_WELL_READ, 3600 * 1000, TV_SESSION_LOADING},
        {HANGS_UNTIL_CANCELLED, 20, TV_SESSION_LOADING},
        {LOADS, 3600 * 1000, TV_SESSION_READY},
        {FAILS, 3600 * 1000, TV_SESSION_FAILED},
    };
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        struct source source = {.how = cases[i].how};
        struct tv_server *server = serve(&source);
        assert_int_equal(tv_server_wait_sketched(server, cases[i].wait_ms), cases[i].comes);
        tv_server_end(server);
        assert_true(tv_server_free(server));
        fixture_free(&source.fixture);
    }
}

static void stops_a_loading_that_is_not_wanted_any_more(void **state)
{
    (void)state;
    struct source source = {.how = HANGS_UNTIL_CANCELLED};
    struct tv_server *server = serve(&source);
    assert_int_equal(tv_server_wait_loaded(server, 1), TV_SESSION_LOADING);
    tv_server_end(server);
    assert_int_equal(tv_server_wait_loaded(server, TV_FOREVER), TV_SESSION_LOADING);
    tv_server_wait_end(server, true);
    assert_true(tv_server_free(server));
}

/* With no page open there is nobody to tell. */
static void ends_by_itself_when_there_is_no_trace(void **state)
{
    (void)state;
    struct source source = {.how = FAILS};
    struct tv_server *server = serve(&source);
    assert_int_equal(tv_server_wait_loaded(server, TV_FOREVER), TV_SESSION_FAILED);
    assert_string_equal(tv_server_error(server)->message, "no trace");
    tv_server_wait_end(server, false);
    assert_true(tv_server_free(server));
}

/* The page asks for a file, for as long as somebody wants it. */
static void needs_no_file(void **state)
{
    (void)state;
    struct source source = {.how = FAILS};
    struct tv_server_options options = {.loader = {.load = load, .context = &source}};
    struct tv_server *server;
    assert_int_equal(tv_server_new(&options, &server, NULL), TV_OK);
    assert_int_equal(tv_server_start(server, NULL), TV_OK);
    assert_int_equal(tv_server_wait_loaded(server, TV_FOREVER), TV_SESSION_EMPTY);
    assert_null(tv_server_error(server));
    tv_server_end(server);
    tv_server_wait_end(server, false);
    assert_true(tv_server_free(server));
}

UNIT_TESTS(server, cmocka_unit_test(needs_no_file), cmocka_unit_test(waits_for_the_trace),
           cmocka_unit_test(waits_for_a_sketch_alone),
           cmocka_unit_test(stops_a_loading_that_is_not_wanted_any_more),
           cmocka_unit_test(ends_by_itself_when_there_is_no_trace));
