/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_graph.c - collecting functions and calls, and estimating stacks (call_graph.h).
 *
 * The steps of tv_call_graph_finish, for each value type:
 *
 *     1. sort the calls by caller, so that the calls of a function are one range
 *     2. find the cycles (strongly connected components, by Tarjan's algorithm)
 *     3. self cost, cost along each call, inclusive cost, cost that no caller accounts for
 *     4. walk from each cycle with uncalled cost, depth first:
 *
 *            f enters with a weight of 50; its cost is 40 self, 45 along f -> g, 15 along f -> h
 *            |-- g          45/100 of 50 = 22          enters with that weight
 *            |-- h          15/100 of 50 =  7          enters with that weight
 *            '-- f itself   the rest: 21               becomes a sample with the stack of f
 *
 * Invariant: the weights of all samples below an entry add up to its uncalled cost, because a level
 * gives away only what it has left, and adds the rest as a sample of its own.
 *
 * A function that is on the path already gets no share, so recursion ends.  Neither the search for
 * cycles nor the walk recurses in C: the depth of a file's graph must not become depth of the
 * stack.
 */
#include "readers/call_graph.h"

#include <assert.h>

#include "base/memory.h"
#include "base/sort.h"

/* Estimated paths below this share of the total are not followed. */
/* Without it, a graph with shared helpers has millions of paths that nobody can see. */
#define CUT_SHARE 10000
/* Maximum number of samples of the estimate, and of calls it looks at, over all value types. */
#define MAX_SAMPLES 1000000u
#define MAX_STEPS 50000000u

/* A weight times a share: both may have 63 bits. */
__extension__ typedef unsigned __int128 share_product;

/* ---- Collecting ---- */

/* Add to the cost of an owner. The sum stays at the limits of 64 bits instead of overflowing. */
static void call_costs_add(struct tv_call_costs *costs, uint32_t owner, uint32_t type, int64_t cost)
{
    assert(type < TV_CALL_GRAPH_TYPES);
    if (cost == 0)
        return;
    uint32_t place =
        tv_map_add(&costs->places, (uint64_t)owner << 32 | type, (uint32_t)costs->count);
    if (place == costs->count) {
        costs->rows =
            tv_array_reserve(costs->rows, &costs->capacity, costs->count + 1, sizeof *costs->rows);
        costs->rows[costs->count++] = (struct tv_call_cost){owner, type, 0};
    }
    tv_time_add(&costs->rows[place].cost, cost);
}

uint32_t tv_call_graph_add_type(struct tv_call_graph *graph, struct tv_bytes name,
                                struct tv_bytes unit)
{
    if (graph->type_count == TV_CALL_GRAPH_TYPES) {
        tv_profile_warn(graph->profile, TV_DIAGNOSTIC_MANY_TYPES, TV_NO_OFFSET);
        return TV_NONE;
    }
    graph->types[graph->type_count] = tv_profile_value_type(graph->profile, name, unit);
    return graph->type_count++;
}

uint32_t tv_call_graph_function(struct tv_call_graph *graph, uint32_t frame)
{
    uint32_t function = tv_map_add(&graph->by_frame, frame, (uint32_t)graph->function_count);
    if (function == graph->function_count) {
        graph->functions = tv_array_reserve(graph->functions, &graph->function_capacity,
                                            graph->function_count + 1, sizeof *graph->functions);
        graph->functions[graph->function_count++] = (struct tv_graph_function){.frame = frame};
    }
    return function;
}

uint32_t tv_call_graph_call(struct tv_call_graph *graph, uint32_t caller, uint32_t callee,
                            uint64_t calls)
{
    assert(caller < graph->function_count && callee < graph->function_count);
    uint64_t key = (uint64_t)caller << 32 | callee;
    uint32_t call = tv_map_add(&graph->by_pair, key, (uint32_t)graph->call_count);
    if (call == graph->call_count) {
        graph->calls = tv_array_reserve(graph->calls, &graph->call_capacity, graph->call_count + 1,
                                        sizeof *graph->calls);
        graph->calls[graph->call_count++] = (struct tv_graph_call){caller, callee, 0};
    }
    uint64_t *sum = &graph->calls[call].calls;
    if (__builtin_add_overflow(*sum, calls, sum))
        *sum = UINT64_MAX;
    return call;
}

void tv_call_graph_add_self(struct tv_call_graph *graph, uint32_t function, uint32_t type,
                            int64_t cost)
{
    assert(function < graph->function_count);
    call_costs_add(&graph->self, function, type, cost);
}

void tv_call_graph_add_inclusive(struct tv_call_graph *graph, uint32_t function, uint32_t type,
                                 int64_t cost)
{
    assert(function < graph->function_count);
    call_costs_add(&graph->inclusive, function, type, cost);
}

void tv_call_graph_add_cost(struct tv_call_graph *graph, uint32_t call, uint32_t type, int64_t cost)
{
    assert(call < graph->call_count);
    call_costs_add(&graph->along, call, type, cost);
}

static void call_costs_release(struct tv_call_costs *costs)
{
    tv_map_release(&costs->places);
    tv_free(costs->rows);
}

void tv_call_graph_release(struct tv_call_graph *graph)
{
    tv_map_release(&graph->by_frame);
    tv_map_release(&graph->by_pair);
    call_costs_release(&graph->self);
    call_costs_release(&graph->inclusive);
    call_costs_release(&graph->along);
    tv_free(graph->functions);
    tv_free(graph->calls);
}

/* ---- Sorted calls ---- */

/* Sort the calls by caller, and renumber them in their costs. */
static void call_graph_sort(struct tv_call_graph *graph)
{
    size_t count = graph->call_count;
    struct tv_sort_key *keys = tv_alloc(count, sizeof *keys);
    struct tv_graph_call *sorted = tv_alloc(count, sizeof *sorted);
    uint32_t *places = tv_alloc(count, sizeof *places);
    for (size_t i = 0; i < count; i++)
        keys[i] = (struct tv_sort_key){graph->calls[i].caller, i};
    tv_sort_keys(keys, count);
    for (size_t i = 0; i < count; i++) {
        sorted[i] = graph->calls[keys[i].index];
        places[keys[i].index] = (uint32_t)i;
    }
    for (size_t i = 0; i < graph->along.count; i++)
        graph->along.rows[i].owner = places[graph->along.rows[i].owner];
    for (size_t i = 0, f = 0; f < graph->function_count; f++) {
        graph->functions[f].first_call = (uint32_t)i;
        while (i < count && sorted[i].caller == f)
            i++;
    }
    tv_free(keys);
    tv_free(places);
    tv_free(graph->calls);
    graph->calls = sorted;
    graph->call_capacity = count;
}

/* Return the index after the last call of a function; the calls are sorted. */
static uint32_t call_graph_calls_end(const struct tv_call_graph *graph, uint32_t function)
{
    return function + 1 < graph->function_count ? graph->functions[function + 1].first_call
                                                : (uint32_t)graph->call_count;
}

/* ---- Cycles ---- */

/* Tarjan's strongly connected components, with a stack of its own. */
struct cycle_search {
    struct tv_call_graph *graph;
    uint32_t *order, *low; /* of each function; order 0: not visited */
    uint32_t *open;        /* functions whose cycle is not complete */
    uint32_t *path;        /* functions that are being visited */
    uint32_t *next;        /* of each function: the next call to follow */
    size_t open_count, depth;
    uint32_t visited, cycles;
};

static void cycle_enter(struct cycle_search *search, uint32_t function)
{
    search->order[function] = search->low[function] = ++search->visited;
    search->next[function] = search->graph->functions[function].first_call;
    search->graph->functions[function].cycle = TV_NONE;
    search->open[search->open_count++] = function;
    search->path[search->depth++] = function;
}

static void cycle_lower(uint32_t *low, uint32_t to)
{
    *low = to < *low ? to : *low;
}

/* All calls of the function were followed. If none led to a function that was entered earlier, it
 * is the root of a cycle, and the open functions down to it are the members. */
static void cycle_leave(struct cycle_search *search, uint32_t function)
{
    search->depth--;
    if (search->low[function] == search->order[function]) {
        uint32_t member;
        do {
            member = search->open[--search->open_count];
            search->graph->functions[member].cycle = search->cycles;
        } while (member != function);
        search->cycles++;
    }
    if (search->depth > 0)
        cycle_lower(&search->low[search->path[search->depth - 1]], search->low[function]);
}

/* Find the cycles that can be reached from a function (Tarjan's algorithm, without recursion). */
static void cycle_visit(struct cycle_search *search, uint32_t root)
{
    cycle_enter(search, root);
    while (search->depth > 0) {
        uint32_t function = search->path[search->depth - 1];
        if (search->next[function] == call_graph_calls_end(search->graph, function)) {
            cycle_leave(search, function);
            continue;
        }
        uint32_t callee = search->graph->calls[search->next[function]++].callee;
        if (search->order[callee] == 0)
            cycle_enter(search, callee);
        else if (search->graph->functions[callee].cycle == TV_NONE)
            cycle_lower(&search->low[function], search->order[callee]);
    }
}

/* Number the cycles of the graph, and return how many there are. */
static uint32_t call_graph_find_cycles(struct tv_call_graph *graph)
{
    size_t count = graph->function_count;
    struct cycle_search search = {.graph = graph};
    uint32_t *memory = tv_alloc(count * 5, sizeof *memory);
    search.order = memory;
    search.low = memory + count;
    search.open = memory + 2 * count;
    search.path = memory + 3 * count;
    search.next = memory + 4 * count;
    for (uint32_t f = 0; f < count; f++)
        if (search.order[f] == 0)
            cycle_visit(&search, f);
    assert(search.open_count == 0);
    tv_free(memory);
    return search.cycles;
}

/* ---- Figures of one value type ---- */

struct graph_figures {
    const struct tv_call_graph *graph;
    uint32_t type, cycles;
    int64_t *self, *inclusive, *with_recursion,
        *stated;       /* by function; stated 0: not in the file */
    int64_t *along;    /* by call */
    int64_t *uncalled; /* by cycle: inclusive cost that no call
                          from outside accounts for */
    uint64_t *called;  /* by function: number of calls */
};

static bool graph_call_is_inside(const struct tv_call_graph *graph,
                                 const struct tv_graph_call *call)
{
    return graph->functions[call->caller].cycle == graph->functions[call->callee].cycle;
}

/* Write the costs of one type into an array by owner; owners without a cost keep 0. */
static void graph_spread_costs(const struct tv_call_costs *costs, uint32_t type, int64_t *figures)
{
    for (size_t i = 0; i < costs->count; i++)
        if (costs->rows[i].type == type)
            figures[costs->rows[i].owner] = costs->rows[i].cost;
}

/* Count a call for its caller. A call inside of a cycle is left out of the inclusive cost, which
 * would otherwise contain each round of the recursion again. */
static void graph_figures_add_call(struct graph_figures *figures, uint32_t number)
{
    const struct tv_call_graph *graph = figures->graph;
    const struct tv_graph_call *call = &graph->calls[number];
    int64_t cost = figures->along[number];
    tv_time_add(&figures->with_recursion[call->caller], cost);
    if (graph_call_is_inside(graph, call))
        return;
    tv_time_add(&figures->inclusive[call->caller], cost);
    tv_time_add(&figures->uncalled[graph->functions[call->callee].cycle],
                cost == INT64_MIN ? INT64_MAX : -cost);
}

/* Compute all figures of a type; release them with tv_free of `self`. */
static void graph_figures_fill(struct graph_figures *figures)
{
    const struct tv_call_graph *graph = figures->graph;
    size_t functions = graph->function_count;
    int64_t *memory = tv_alloc(functions * 4 + graph->call_count + figures->cycles, sizeof *memory);
    figures->self = memory;
    figures->inclusive = memory + functions;
    figures->with_recursion = memory + 2 * functions;
    figures->stated = memory + 3 * functions;
    figures->along = memory + 4 * functions;
    figures->uncalled = figures->along + graph->call_count;
    graph_spread_costs(&graph->self, figures->type, figures->self);
    graph_spread_costs(&graph->inclusive, figures->type, figures->stated);
    graph_spread_costs(&graph->along, figures->type, figures->along);
    for (size_t f = 0; f < functions; f++)
        figures->inclusive[f] = figures->with_recursion[f] = figures->self[f];
    for (uint32_t i = 0; i < graph->call_count; i++)
        graph_figures_add_call(figures, i);
    for (size_t f = 0; f < functions; f++)
        tv_time_add(&figures->uncalled[graph->functions[f].cycle], figures->inclusive[f]);
}

/* Write the costs of the functions that have any.  The file's own inclusive cost is preferred to
 * the sum over the graph, which recursion makes inexact. */
static void graph_write_functions(const struct graph_figures *figures)
{
    const struct tv_call_graph *graph = figures->graph;
    for (size_t f = 0; f < graph->function_count; f++) {
        int64_t inclusive = figures->stated[f] ? figures->stated[f] : figures->inclusive[f];
        if (figures->self[f] == 0 && inclusive == 0 && figures->with_recursion[f] == 0)
            continue;
        tv_trace_info_note_saturation(graph->profile->info, figures->self[f], inclusive);
        tv_trace_info_note_saturation(graph->profile->info, figures->with_recursion[f], 0);
        *tv_table_add(&graph->profile->trace->tables.function_costs) = (struct tv_function_cost){
            .calls = figures->called[f],
            .self = figures->self[f],
            .inclusive = inclusive,
            .with_recursion = figures->with_recursion[f],
            .frame = graph->functions[f].frame,
            .type = graph->types[figures->type],
            .input = graph->profile->input,
        };
    }
}

/* Each call has a row for the first type, so that its number of calls is known; for other types
 * only if it has a cost. */
static void graph_write_calls(const struct graph_figures *figures)
{
    const struct tv_call_graph *graph = figures->graph;
    for (size_t i = 0; i < graph->call_count; i++) {
        if (figures->along[i] == 0 && figures->type > 0)
            continue;
        tv_trace_info_note_saturation(graph->profile->info, figures->along[i], 0);
        *tv_table_add(&graph->profile->trace->tables.call_edges) = (struct tv_call_edge){
            .calls = graph->calls[i].calls,
            .cost = figures->along[i],
            .caller = graph->functions[graph->calls[i].caller].frame,
            .callee = graph->functions[graph->calls[i].callee].frame,
            .type = graph->types[figures->type],
            .input = graph->profile->input,
        };
    }
}

/* ---- The estimate ---- */

/* A function on the path that is being walked. */
struct walk_level {
    uint32_t function, path, call; /* `call`: the next one to follow */
    int64_t weight, left;          /* `left`: not yet given to a callee */
    uint64_t shares;               /* of all callees and the function itself */
};

struct graph_walk {
    const struct graph_figures *figures;
    struct walk_level *levels;
    size_t depth, capacity;
    bool *on_path; /* by function */
    int64_t least; /* weight of a call that is followed */
    size_t samples, steps;
};

static bool walk_is_full(const struct graph_walk *walk)
{
    return walk->samples >= MAX_SAMPLES || walk->steps >= MAX_STEPS;
}

/* Add the estimate for one stack: no time, no processor, no place in the file. */
static void walk_add_sample(struct graph_walk *walk, uint32_t path, int64_t weight)
{
    const struct tv_call_graph *graph = walk->figures->graph;
    struct tv_sample sample = {
        .weight = tv_move_within(weight),
        .offset = TV_NO_OFFSET,
        .thread = graph->thread,
        .cpu = TV_NONE,
        .type = graph->types[walk->figures->type],
    };
    if (weight <= 0)
        return;
    walk->samples++;
    tv_profile_add_sample_at(graph->profile, sample, path, path);
}

/* Return the share of a call in the cost of its caller.  Costs inside of a cycle count the
 * recursion again and again: there, the callee's own cost is the bound. */
static uint64_t walk_share(const struct graph_walk *walk, uint32_t number)
{
    const struct graph_figures *figures = walk->figures;
    const struct tv_graph_call *call = &figures->graph->calls[number];
    int64_t cost = figures->along[number];
    if (walk->on_path[call->callee])
        return 0;
    if (graph_call_is_inside(figures->graph, call) && figures->inclusive[call->callee] < cost)
        cost = figures->inclusive[call->callee];
    return cost > 0 ? (uint64_t)cost : 0;
}

/* Sum up all shares of a function once: the weight is divided by this sum at each call. */
static void walk_sum_shares(struct graph_walk *walk, struct walk_level *level)
{
    const struct graph_figures *figures = walk->figures;
    uint32_t end = call_graph_calls_end(figures->graph, level->function);
    int64_t self = figures->self[level->function];
    level->shares = self > 0 ? (uint64_t)self : 0;
    for (uint32_t i = level->call; i < end; i++)
        if (__builtin_add_overflow(level->shares, walk_share(walk, i), &level->shares))
            level->shares = UINT64_MAX;
    walk->steps += 2 * (size_t)(end - level->call);
}

/* Put a function below a path, or give it all of its weight at once if that is not followed. */
static void walk_enter(struct graph_walk *walk, uint32_t parent, uint32_t function, int64_t weight)
{
    const struct tv_call_graph *graph = walk->figures->graph;
    uint32_t frame = graph->functions[function].frame;
    uint32_t path = tv_paths_child(&graph->profile->trace->paths, parent, frame);
    if (walk_is_full(walk) || weight < walk->least || walk->depth >= TV_PROFILE_DEPTH) {
        walk_add_sample(walk, path, weight);
        return;
    }
    walk->levels =
        tv_array_reserve(walk->levels, &walk->capacity, walk->depth + 1, sizeof *walk->levels);
    struct walk_level *level = &walk->levels[walk->depth++];
    *level = (struct walk_level){.function = function,
                                 .path = path,
                                 .call = graph->functions[function].first_call,
                                 .weight = weight,
                                 .left = weight};
    walk->on_path[function] = true;
    walk_sum_shares(walk, level);
}

/* Follow the next call of the deepest function, or leave the function. */
static void walk_step(struct graph_walk *walk)
{
    struct walk_level *level = &walk->levels[walk->depth - 1];
    if (level->call == call_graph_calls_end(walk->figures->graph, level->function) ||
        walk_is_full(walk)) {
        walk->on_path[level->function] = false;
        walk->depth--;
        walk_add_sample(walk, level->path, level->left);
        return;
    }
    uint32_t number = level->call++;
    uint64_t share = walk_share(walk, number);
    if (share == 0)
        return;
    assert(level->shares > 0);
    int64_t weight = (int64_t)((share_product)(uint64_t)level->weight * share / level->shares);
    weight = weight < level->left ? weight : level->left;
    level->left -= weight;
    if (weight > 0)
        walk_enter(walk, level->path, walk->figures->graph->calls[number].callee, weight);
}

/* Return for each cycle the function where its uncalled cost begins: that with the largest cost. */
static uint32_t *graph_find_entries(const struct graph_figures *figures)
{
    const struct tv_call_graph *graph = figures->graph;
    uint32_t *entries = tv_alloc(figures->cycles, sizeof *entries);
    for (uint32_t c = 0; c < figures->cycles; c++)
        entries[c] = TV_NONE;
    for (uint32_t f = 0; f < graph->function_count; f++) {
        uint32_t *entry = &entries[graph->functions[f].cycle];
        if (*entry == TV_NONE || figures->with_recursion[f] > figures->with_recursion[*entry])
            *entry = f;
    }
    return entries;
}

/* Walk from all cycles that nobody else calls. The ceilings hold for all types together. */
static void graph_estimate(const struct graph_figures *figures, size_t *samples, size_t *steps)
{
    struct graph_walk walk = {.figures = figures, .samples = *samples, .steps = *steps};
    uint32_t *entries = graph_find_entries(figures);
    int64_t total = 0;
    for (uint32_t c = 0; c < figures->cycles; c++)
        if (figures->uncalled[c] > 0)
            tv_time_add(&total, figures->uncalled[c]);
    walk.least = total / CUT_SHARE;
    walk.on_path = tv_alloc(figures->graph->function_count, sizeof *walk.on_path);
    /* Tarjan numbers callees first, so this begins with callers. */
    for (uint32_t c = figures->cycles; c-- > 0;) {
        if (figures->uncalled[c] <= 0)
            continue;
        walk_enter(&walk, TV_ROOT_PATH, entries[c], figures->uncalled[c]);
        while (walk.depth > 0)
            walk_step(&walk);
    }
    *samples = walk.samples;
    *steps = walk.steps;
    tv_free(entries);
    tv_free(walk.levels);
    tv_free(walk.on_path);
}

/* ---- The end ---- */

/* Return the number of calls of each function. */
static uint64_t *graph_count_calls(const struct tv_call_graph *graph)
{
    uint64_t *called = tv_alloc(graph->function_count, sizeof *called);
    for (size_t i = 0; i < graph->call_count; i++) {
        uint64_t *sum = &called[graph->calls[i].callee];
        if (__builtin_add_overflow(*sum, graph->calls[i].calls, sum))
            *sum = UINT64_MAX;
    }
    for (size_t f = 0; f < graph->function_count; f++)
        if (graph->functions[f].stated_calls)
            called[f] = graph->functions[f].stated_calls;
    return called;
}

void tv_call_graph_finish(struct tv_call_graph *graph)
{
    size_t samples = 0, steps = 0;
    call_graph_sort(graph);
    struct graph_figures figures = {.graph = graph, .cycles = call_graph_find_cycles(graph)};
    figures.called = graph_count_calls(graph);
    for (uint32_t type = 0; type < graph->type_count; type++) {
        figures.type = type;
        graph_figures_fill(&figures);
        graph_write_functions(&figures);
        graph_write_calls(&figures);
        graph_estimate(&figures, &samples, &steps);
        tv_free(figures.self);
    }
    tv_free(figures.called);
    if (graph->call_count > 0)
        tv_profile_warn(graph->profile, TV_DIAGNOSTIC_ESTIMATED_PATHS, TV_NO_OFFSET);
    if (samples >= MAX_SAMPLES || steps >= MAX_STEPS)
        tv_profile_warn(graph->profile, TV_DIAGNOSTIC_PATHS_CUT, TV_NO_OFFSET);
}
