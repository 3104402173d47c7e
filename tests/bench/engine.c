/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.c - engine FILE [--jobs N] [--screens N] [--filters]: what no command shows, measured
 * inside the process.  A figure a line, its name and its value, in seconds and bytes:
 *
 *   ready_s           from opening the file to rows, paths and pyramid
 *   ready_peak_bytes  the process's peak until then
 *   model_bytes       resident memory that loading added
 *   range_s           the method table of a range, median over ranges of 1 %, 10 %, 50 %, 60 %,
 *                     90 % and all of the time; range_max_s: the slowest of them
 *   screen_p50_s      60 busiest rows, 1920 pixels, at random places and zooms; also screen_p99_s
 *   search_s          all calls of a frame, over frames that lie evenly among all; search_max_s:
 *                     the slowest
 *
 * With --filters, in processor time, the faster of two:
 *
 *   filter_name_s     the trace of the slices whose names hold a "7"
 *   filter_dur_s      of those longer than a microsecond
 *   filter_all_s      of all
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "analysis/calltree/profile.h"
#include "analysis/search/call_search.h"
#include "analysis/subset/filter.h"
#include "analysis/timeline/tiles.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/workers.h"
#include "model/builder/builder.h"
#include "readers/reader.h"

#define SCREENS 500u
#define SCREEN_ROWS 60u
#define SCREEN_PIXELS 1920
#define SEARCHES 20
#define MAX_JOBS 64u

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Of this process: what shares the machine counts less. */
static double processor_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long total = 0, resident = 0;
    if (!file)
        return 0;
    if (fscanf(file, "%lu %lu", &total, &resident) != 2)
        resident = 0;
    fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 16;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A function of its own, for test-counts. */
TV_NOINLINE static struct tv_trace *load(const char *path, unsigned jobs)
{
    struct tv_error err = {0};
    struct tv_source *source;
    struct tv_trace_info *head = tv_trace_info_new();
    struct tv_builder *builder = tv_builder_new(head);
    struct tv_read_options options = {.parts = jobs};
    enum tv_status status = tv_source_open_file(path, &source, &err);
    if (status == TV_OK)
        status = tv_readers_can_stream(source)
                     ? tv_readers_read(source, head, tv_builder_sink(builder), &options, &err)
                     : tv_readers_build(source, builder, &options, &err);
    if (status != TV_OK) {
        fprintf(stderr, "engine: %s: %s\n", path, err.message);
        exit(1);
    }
    tv_source_free(source);
    return tv_builder_finish(builder);
}

/* As the viewer does it: the tree of the whole is there, another is counted again for each range.
 */
struct ranges {
    const struct tv_trace *trace;
    struct tv_call_tree *whole, *tree;
    unsigned jobs;
};

static double time_range(const struct ranges *ranges, double share)
{
    const struct tv_trace *trace = ranges->trace;
    struct tv_selection selection = TV_SELECT_ALL;
    double span = (double)(trace->end - trace->start);
    if (share < 1) {
        selection.from = trace->start + (tv_ns)(span * (0.5 - share / 2));
        selection.to = trace->start + (tv_ns)(span * (0.5 + share / 2));
    }
    double before = now();
    tv_call_tree_count_within(ranges->tree, trace, &selection, ranges->whole, ranges->jobs);
    struct tv_profile *profile = tv_profile_of_tree(ranges->tree);
    double seconds = now() - before;
    tv_profile_free(profile);
    return seconds;
}

static void print_ranges(const struct tv_trace *trace, unsigned jobs)
{
    static const double shares[] = {0.01, 0.1, 0.5, 0.6, 0.9, 1};
    enum { RANGES = TV_COUNT(shares) };
    double times[3 * RANGES];
    struct tv_tree_shape *shape = tv_tree_shape_new(trace->head, &trace->paths);
    struct ranges ranges = {trace, tv_call_tree_of_shape(shape), tv_call_tree_of_shape(shape),
                            jobs};
    tv_call_tree_count(ranges.whole, trace, &TV_SELECT_ALL, jobs);
    for (int i = 0; i < 3 * RANGES; i++)
        times[i] = time_range(&ranges, shares[i % RANGES]);
    tv_call_tree_free(ranges.tree);
    tv_call_tree_free(ranges.whole);
    tv_tree_shape_free(shape);
    double slowest = 0;
    for (int i = RANGES; i < 3 * RANGES; i++) /* the first round warms up */
        slowest = times[i] > slowest ? times[i] : slowest;
    qsort(times + RANGES, 2 * RANGES, sizeof times[0], compare_doubles);
    printf("range_s %.6f\nrange_max_s %.6f\n", (times[2 * RANGES - 1] + times[2 * RANGES]) / 2,
           slowest);
}

/* The rows with most slices. */
static uint32_t busiest_rows(const struct tv_trace *trace, uint32_t *rows)
{
    uint32_t count = 0;
    for (uint32_t row = 0; row < trace->row_count; row++) {
        uint32_t at = count < SCREEN_ROWS ? count++ : SCREEN_ROWS;
        for (; at > 0 && trace->rows[rows[at - 1]].count < trace->rows[row].count; at--)
            if (at < SCREEN_ROWS)
                rows[at] = rows[at - 1];
        if (at < SCREEN_ROWS)
            rows[at] = row;
    }
    return count;
}

struct screen {
    const struct tv_pyramid *pyramid;
    uint32_t rows[SCREEN_ROWS], row_count;
    unsigned res, jobs;
    int64_t from; /* the first number */
    uint32_t numbers;
};

/* As the viewer answers for tiles: each worker draws its share, the tiles of all rows end to end.
 */
static void draw_share(void *context, unsigned index)
{
    const struct screen *screen = context;
    uint64_t tiles = (uint64_t)screen->row_count * screen->numbers;
    uint64_t end = tiles * (index + 1) / screen->jobs;
    struct tv_tile tile;
    tv_tile_init(&tile);
    for (uint64_t i = tiles * index / screen->jobs; i < end; i++)
        tv_tile_draw(screen->pyramid,
                     &(struct tv_tile_key){TV_TILE_ROW, screen->rows[i / screen->numbers],
                                           screen->res,
                                           screen->from + (int64_t)(i % screen->numbers)},
                     &tile);
    tv_tile_release(&tile);
}

static double time_screen(struct screen *screen, uint64_t *random)
{
    const struct tv_trace *trace = screen->pyramid->trace;
    unsigned deepest = 0;
    while (((tv_ns)SCREEN_PIXELS << deepest) < trace->end - trace->start)
        deepest++;
    unsigned res = (unsigned)(next_random(random) % (deepest + 1));
    tv_ns shown = (tv_ns)SCREEN_PIXELS << res, room = trace->end - trace->start - shown;
    tv_ns from = trace->start + (room > 0 ? (tv_ns)(next_random(random) % (uint64_t)room) : 0);
    screen->res = res;
    screen->from = from >> (res + 9);
    screen->numbers = (uint32_t)(((from + shown) >> (res + 9)) - screen->from + 1);
    double before = now();
    tv_workers_run(screen->jobs, draw_share, screen);
    return now() - before;
}

static void print_screens(const struct tv_pyramid *pyramid, unsigned jobs, unsigned count)
{
    struct screen screen = {.pyramid = pyramid, .jobs = jobs ? jobs : tv_workers_available()};
    double times[SCREENS];
    uint64_t random = 1;
    screen.row_count = busiest_rows(pyramid->trace, screen.rows);
    for (unsigned i = 0; i < count; i++)
        times[i] = time_screen(&screen, &random);
    qsort(times, count, sizeof times[0], compare_doubles);
    printf("screen_p50_s %.6f\nscreen_p99_s %.6f\n", times[count / 2], times[count * 99 / 100]);
}

static void print_filter(const struct tv_trace *trace, unsigned jobs, const char *name,
                         const char *text)
{
    struct tv_filter filter;
    struct tv_error err;
    size_t column;
    double best = 0;
    uint64_t kept = 0;
    if (tv_filter_parse(tv_bytes_of(text), &filter, &column, &err) != TV_OK)
        return;
    filter.workers = jobs;
    for (int i = 0; i < 2; i++) {
        double before = processor_time();
        struct tv_trace *filtered = tv_filter_trace(trace, &filter);
        double seconds = processor_time() - before;
        best = i == 0 || seconds < best ? seconds : best;
        kept = filtered->slice_count;
        tv_trace_free(filtered);
    }
    tv_filter_release(&filter);
    printf("filter_%s_s %.6f\nfilter_%s_slices %" PRIu64 "\n", name, best, name, kept);
}

/* Every call of each of some frames, over all rows. */
static void print_searches(const struct tv_trace *trace)
{
    double times[SEARCHES];
    uint32_t frames = trace->head->frame_count;
    for (uint32_t i = 0; i < SEARCHES; i++) {
        struct tv_call_search search;
        double before = now();
        tv_call_search_init(&search, trace, (uint32_t)((uint64_t)frames * i / SEARCHES));
        for (uint32_t row = 0; row < trace->row_count; row++)
            if (tv_call_search_has_row(&search, row))
                (void)tv_call_search_count(&search, row, 0, trace->rows[row].count);
        tv_call_search_release(&search);
        times[i] = now() - before;
    }
    qsort(times, SEARCHES, sizeof times[0], compare_doubles);
    printf("search_s %.6f\nsearch_max_s %.6f\n", times[SEARCHES / 2], times[SEARCHES - 1]);
}

static double peak_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024;
}

struct words {
    unsigned jobs, screens;
    bool filters;
};

/* What follows FILE; false: something else. */
static bool read_words(char **words, struct words *read)
{
    uint64_t number;
    *read = (struct words){.screens = SCREENS};
    for (; *words; words++) {
        const char *name = *words;
        if (strcmp(name, "--filters") == 0) {
            read->filters = true;
            continue;
        }
        if (!words[1] || !tv_parse_u64(tv_bytes_of(*++words), &number))
            return false;
        if (strcmp(name, "--jobs") == 0 && number <= MAX_JOBS)
            read->jobs = (unsigned)number;
        else if (strcmp(name, "--screens") == 0 && number > 0 && number <= SCREENS)
            read->screens = (unsigned)number;
        else
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct words words;
    if (argc < 2 || !read_words(argv + 2, &words)) {
        fputs("usage: engine FILE [--jobs N] [--screens N] [--filters]\n", stderr);
        return 2;
    }
    unsigned jobs = words.jobs;
    double memory = resident_bytes(), before = now();
    struct tv_trace *trace = load(argv[1], jobs);
    struct tv_pyramid *pyramid = tv_pyramid_new(trace, jobs);
    printf("ready_s %.6f\nready_peak_bytes %.0f\n", now() - before, peak_bytes());
    printf("model_bytes %.0f\n", resident_bytes() - memory);
    print_ranges(trace, jobs);
    print_screens(pyramid, jobs, words.screens);
    print_searches(trace);
    if (words.filters) {
        print_filter(trace, jobs, "name", "name:7");
        print_filter(trace, jobs, "dur", "dur>1us");
        print_filter(trace, jobs, "all", "depth>=0");
    }
    tv_pyramid_free(pyramid);
    tv_trace_free(trace);
    return 0;
}
