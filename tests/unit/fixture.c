/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "model/builder/builder.h"

#define LETTERS 26
#define MILLISECOND 1000 /* ticks */

static struct tv_trace_info *new_head(unsigned clocks, int64_t tick_ns)
{
    struct tv_trace_info *head = tv_trace_info_new();
    uint32_t input = tv_trace_info_add_input(head, "drawn", "drawing");
    head->inputs[input].clocks = clocks;
    head->inputs[input].tick_ns = tick_ns;
    tv_trace_info_add_process(head, 1, TV_BYTES("demo"));
    return head;
}

static void add_thread(struct tv_trace_info *head, uint32_t number, const char *name)
{
    struct tv_thread thread = {.id = number + 1, .listed = true};
    thread.name = tv_trace_info_string(head, tv_bytes_of(name));
    tv_trace_info_add_thread(head, &thread);
}

/* Frame i has the i-th letter, and a number from the 27th on. */
static void add_frame(struct tv_trace_info *head, uint32_t i)
{
    char class_name[32] = "demo.", name[16] = "";
    size_t at = 0;
    for (uint32_t rest = i; at == 0 || rest; rest /= LETTERS, at++) {
        class_name[5 + at] = (char)('A' + rest % LETTERS);
        name[at] = (char)('a' + rest % LETTERS);
    }
    struct tv_frame frame = {
        .class_name = tv_trace_info_string(head, tv_bytes_of(class_name)),
        .name = tv_trace_info_string(head, tv_bytes_of(name)),
        .signature = tv_trace_info_string(head, TV_BYTES("()V")),
        .file = tv_trace_info_string(head, TV_BYTES("Demo.java")),
        .line = (int32_t)i + 1,
    };
    tv_trace_info_add_frame(head, &frame);
}

static void add_event(struct fixture *fixture, size_t *capacity, struct tv_event event)
{
    fixture->events = tv_array_reserve(fixture->events, capacity, fixture->event_count + 1,
                                       sizeof *fixture->events);
    fixture->events[fixture->event_count++] = event;
}

static void feed(struct tv_sink *sink, unsigned pass, unsigned parts, const struct fixture *fixture)
{
    for (unsigned part = 0; part < parts; part++) {
        size_t first = fixture->event_count * part / parts,
               end = fixture->event_count * (part + 1) / parts;
        struct tv_batch batch = {fixture->events + first, end - first, first, 1, NULL};
        sink->ops->take(sink, pass, part, &batch);
    }
}

static void build(struct fixture *fixture, struct tv_trace_info *head, unsigned parts)
{
    struct tv_builder *builder = tv_builder_new(head);
    struct tv_sink *sink = tv_builder_sink(builder);
    enum tv_stitch_result stitch = TV_STITCH_DONE;
    if (!fixture->events)
        fixture->events = tv_alloc(1, sizeof *fixture->events);
    do {
        if (stitch == TV_STITCH_SERIAL)
            parts = 1;
        sink->ops->begin(sink, head, 0, parts);
        for (unsigned pass = 0; pass < sink->ops->passes; pass++) {
            feed(sink, pass, parts, fixture);
            stitch = sink->ops->stitch(sink, pass);
            if (stitch == TV_STITCH_SERIAL)
                break;
        }
    } while (stitch == TV_STITCH_SERIAL);
    sink->ops->end(sink);
    fixture->trace = tv_builder_finish(builder);
}

/* --- Drawings
 * ---------------------------------------------------------------------------------------- */

static char letter_at(const char *row, size_t column)
{
    if (!row || column >= strlen(row))
        return ' ';
    if (row[column] == '<')
        return row[column + 1];
    if (row[column] == '>')
        return row[column - 1];
    return row[column];
}

static size_t width_of(const struct fixture_thread *thread)
{
    size_t width = 0;
    for (unsigned i = 0; i < FIXTURE_DEPTH && thread->rows[i]; i++)
        if (strlen(thread->rows[i]) > width)
            width = strlen(thread->rows[i]);
    return width;
}

static struct tv_event event_of(uint32_t thread, char letter, enum tv_action action)
{
    uint32_t frame = (uint32_t)((letter >= 'a' ? letter - 'a' : letter - 'A'));
    return (struct tv_event){.thread = thread, .action = action, .frame = frame & TV_ANY_FRAME};
}

struct pen {
    struct fixture *fixture;
    size_t *capacity;
    const struct fixture_thread *thread;
    uint32_t number;
    size_t column;
    int64_t cpu;
};

static void put(const struct pen *pen, unsigned depth, size_t letter_column, enum tv_action action)
{
    const char *row = pen->thread->rows[depth];
    struct tv_event event = event_of(pen->number, letter_at(row, letter_column), action);
    event.wall = (int64_t)pen->column * MILLISECOND;
    event.cpu = pen->cpu;
    add_event(pen->fixture, pen->capacity, event);
}

/* The exits and entries between a column and the one before it. */
static void draw_column(const struct pen *pen)
{
    const char *const *rows = pen->thread->rows;
    unsigned same = 0, depth = 0;
    size_t column = pen->column;
    if (column > 0) {
        while (depth < FIXTURE_DEPTH && letter_at(rows[depth], column - 1) != ' ')
            depth++;
        while (same < depth && letter_at(rows[same], column) == letter_at(rows[same], column - 1))
            same++;
    }
    for (unsigned i = depth; i-- > same;) {
        if (rows[i][column - 1] != '>')
            put(pen, i, column - 1, TV_EXIT);
    }
    for (unsigned i = same; i < FIXTURE_DEPTH && letter_at(rows[i], column) != ' '; i++) {
        if (rows[i][column] != '<')
            put(pen, i, column, TV_ENTER);
    }
}

struct fixture fixture_draw(const struct fixture_thread *threads, unsigned count)
{
    struct fixture fixture = {NULL, NULL, 0};
    struct tv_trace_info *head = new_head(TV_CLOCK_WALL | TV_CLOCK_CPU, 1000);
    size_t capacity = 0;
    for (uint32_t i = 0; i < LETTERS; i++)
        add_frame(head, i);
    for (uint32_t i = 0; i < count; i++) {
        struct pen pen = {&fixture, &capacity, &threads[i], i, 0, 0};
        const char *cpu = threads[i].cpu ? threads[i].cpu : "";
        size_t width = width_of(&threads[i]);
        add_thread(head, i, threads[i].name);
        for (; pen.column <= width; pen.column++) {
            draw_column(&pen);
            bool digit = pen.column < strlen(cpu) && cpu[pen.column] != ' ';
            pen.cpu += digit ? (cpu[pen.column] - '0') * MILLISECOND / 10 : MILLISECOND;
        }
    }
    build(&fixture, head, 1);
    return fixture;
}

/* --- Random traces
 * ----------------------------------------------------------------------------------- */

uint32_t fixture_roll(uint32_t *state, uint32_t below)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state % below;
}

struct actor {
    int64_t cpu;
    int64_t wall;
    unsigned depth;
    uint32_t stack[64];
};

static void step_clocks(const struct fixture_dice *dice, uint32_t *state, struct actor *actor,
                        int64_t *now)
{
    int64_t step = fixture_roll(state, 3) ? fixture_roll(state, 40) : 0;
    if (dice->long_gap && fixture_roll(state, 50) == 0)
        step = (int64_t)fixture_roll(state, 1000) * dice->long_gap / 1000;
    *now += step;
    int64_t passed = *now - actor->wall;
    int64_t part = fixture_roll(state, 3) ? 8 : fixture_roll(state, 9);
    actor->cpu += passed / 8 * part + passed % 8 * part / 8;
    actor->wall = *now;
}

/* What the thread does next: mostly what keeps its depth in the middle. */
static struct tv_event next_event(const struct fixture_dice *dice, uint32_t *state,
                                  struct actor *actor)
{
    struct tv_event event = {.action = TV_ENTER};
    bool deep = actor->depth >= dice->depth;
    bool stray = !dice->no_strays && fixture_roll(state, 20) == 0;
    if (!deep && (actor->depth == 0 ? !stray : fixture_roll(state, 9) < 5)) {
        event.frame = fixture_roll(state, dice->frames) & TV_ANY_FRAME;
        actor->stack[actor->depth++] = event.frame;
        return event;
    }
    event.action = fixture_roll(state, 12) ? TV_EXIT : TV_UNROLL;
    if (actor->depth == 0)
        event.frame = fixture_roll(state, dice->frames) & TV_ANY_FRAME; /* began before the trace */
    else
        event.frame = actor->stack[--actor->depth] & TV_ANY_FRAME;
    return event;
}

struct fixture fixture_random(const struct fixture_dice *dice)
{
    struct fixture fixture = {NULL, NULL, 0};
    struct tv_trace_info *head = new_head(dice->clocks, dice->tick_ns);
    struct actor *actors = tv_alloc(dice->threads, sizeof *actors);
    uint32_t state = dice->seed * 2654435761u + 1;
    size_t capacity = 0;
    int64_t now = 1000;
    assert(dice->depth <= TV_COUNT(actors[0].stack));
    for (uint32_t i = 0; i < dice->frames; i++)
        add_frame(head, i);
    for (uint32_t i = 0; i < dice->threads; i++) {
        char name[] = {'t', (char)('A' + i % LETTERS), 0};
        add_thread(head, i, name);
        actors[i].wall = now;
    }
    for (size_t i = 0; i < dice->events; i++) {
        uint32_t thread = fixture_roll(&state, dice->threads);
        step_clocks(dice, &state, &actors[thread], &now);
        struct tv_event event = next_event(dice, &state, &actors[thread]);
        event.thread = thread;
        event.wall = dice->clocks & TV_CLOCK_WALL ? actors[thread].wall : 0;
        event.cpu = dice->clocks & TV_CLOCK_CPU ? actors[thread].cpu : 0;
        add_event(&fixture, &capacity, event);
    }
    tv_free(actors);
    build(&fixture, head, dice->parts);
    return fixture;
}

struct fixture fixture_nest(uint32_t depth)
{
    struct fixture fixture = {NULL, NULL, 0};
    struct tv_trace_info *head = new_head(TV_CLOCK_WALL | TV_CLOCK_CPU, 1000);
    size_t capacity = 0;
    add_thread(head, 0, "deep");
    for (uint32_t i = 0; i < LETTERS; i++)
        add_frame(head, i);
    for (uint32_t i = 0; i < 2 * depth; i++) {
        uint32_t level = i < depth ? i : 2 * depth - 1 - i;
        struct tv_event event = {.wall = i, .cpu = i};
        event.action = i < depth ? TV_ENTER : TV_EXIT;
        event.frame = level % LETTERS & TV_ANY_FRAME;
        add_event(&fixture, &capacity, event);
    }
    build(&fixture, head, 1);
    return fixture;
}

uint32_t fixture_value_type(struct tv_trace *trace, const char *name, const char *unit)
{
    return tv_tables_value_type(&trace->tables, 0,
                                tv_trace_info_string(trace->head, tv_bytes_of(name)),
                                tv_trace_info_string(trace->head, tv_bytes_of(unit)));
}

void fixture_add_counter(struct fixture *fixture, const char *name, const tv_ns *times,
                         uint32_t count)
{
    struct tv_trace *trace = fixture->trace;
    double values[16];
    uint64_t offsets[16] = {0};
    struct tv_counter counter = {.name = tv_trace_info_string(trace->head, tv_bytes_of(name)),
                                 .process = TV_NONE,
                                 .series_count = 1,
                                 .sample_count = count};
    const uint32_t series = counter.name;
    assert(count <= TV_COUNT(values));
    for (uint32_t i = 0; i < count; i++)
        values[i] = i % 2;
    tv_tables_add_counter(&trace->tables, &counter, &series, times, offsets, values);
}

void fixture_free(struct fixture *fixture)
{
    tv_trace_free(fixture->trace);
    tv_free(fixture->events);
}
