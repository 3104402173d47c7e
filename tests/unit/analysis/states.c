/* SPDX-License-Identifier: Apache-2.0 */
/* What threads did in a range, of a schedule drawn by hand: a column is a millisecond. */
#include "analysis/states/states.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"
#include "model/assembly/assembly.h"
#include "model/builder/builder.h"
#include "unit.h"

#define MS 1000000
#define PROCESSORS 2
#define THREADS 3

/* Processors run threads "a", "b" and "c".  States: R running, w runnable, p preempted, s sleeping,
 * d uninterruptible, i such sleep for I/O, z a zombie.  Wake-ups: '*'.  A blank is nothing that is
 * known. */
struct drawing {
    const char *processors[PROCESSORS];
    const char *threads[THREADS];
    const char *wakeups[THREADS];
    int known[PROCESSORS]; /* since when */
};

static const struct drawing drawn = {
    {"aabbbba   ",  /* CPU 0 */
     "   ccc bbc"}, /* CPU 1: idle since 1, though nothing ran there till 3 */
    {"RRiiiwRzzz",  /* a */
     "swRRRRpRRp",  /* b */
     " wwRRRdwwR"}, /* c */
    {"     *    ", " *        ", " *     *  "},
    {0, 1},
};

/* CPU 1 turned to nothing but the idle task; who is woken when the trace ends is woken in it. */
static const struct drawing ending = {{"aa", ""}, {"RR", "ss", ""}, {"", "  *", "  *"}, {0, 1}};

/* ---- The trace of a drawing ---- */

static const struct {
    char letter;
    const char *name;
    uint8_t colour; /* as readers give them (trace-event.md section 5, less 22) */
} kinds[] = {
    {'R', "Running", 3},
    {'w', "Runnable", 4},
    {'p', "Runnable (preempted)", 4},
    {'s', "Sleeping", 5},
    {'d', "Uninterruptible Sleep", 1},
    {'i', "Uninterruptible Sleep (I/O)", 2},
    {'z', "Zombie", 6},
};

struct making {
    struct tv_trace_info *head;
    struct tv_assembly *assembly;
    struct tv_state_slice slices[64];
    size_t count;
};

static uint32_t add_frame(struct tv_trace_info *head, const char *name, uint8_t colour)
{
    struct tv_frame frame = {.name = tv_trace_info_string(head, tv_bytes_of(name))};
    uint32_t number = tv_trace_info_add_frame(head, &frame);
    head->frames[number].colour = colour;
    return number;
}

static uint32_t frame_of(struct tv_trace_info *head, char letter)
{
    char name[2] = {letter, 0};
    for (size_t i = 0; i < TV_COUNT(kinds); i++)
        if (kinds[i].letter == letter)
            return add_frame(head, kinds[i].name, kinds[i].colour);
    return add_frame(head, name, 0);
}

/* A run of equal letters is a slice; what a thread begins at a time has one place in the file. */
static void add_strip(struct making *making, uint32_t state_track, const char *letters)
{
    for (size_t from = 0, end; letters[from]; from = end) {
        for (end = from; letters[end] == letters[from];)
            end++;
        char thread = letters[from];
        if (state_track >= PROCESSORS)
            thread = (char)('a' + state_track - PROCESSORS);
        if (letters[from] != ' ')
            making->slices[making->count++] = (struct tv_state_slice){
                .start = (int64_t)from * MS,
                .length = (int64_t)(end - from) * MS,
                .offset = (from * 32 + (size_t)(thread - 'a')) & 0xffff,
                .frame = frame_of(making->head, letters[from]),
                .state_track = state_track,
            };
    }
}

static void add_wakeups(struct tv_tables *tables, uint32_t thread, const char *marks)
{
    for (int64_t i = 0; marks[i]; i++)
        if (marks[i] == '*')
            *tv_table_add(&tables->wakeups) = (struct tv_wakeup){
                .time = i * MS, .thread = thread, .by = TV_NONE, .offset = TV_NO_OFFSET};
}

static struct tv_trace *make(const struct drawing *drawing)
{
    struct making making = {.head = tv_trace_info_new()};
    struct tv_builder *builder = tv_builder_new(making.head);
    struct tv_state_track strips[PROCESSORS + THREADS];
    uint32_t input = tv_trace_info_add_input(making.head, "x", "test");
    making.head->inputs[input].clocks = TV_CLOCK_WALL;
    making.head->inputs[input].last_wall = (int64_t)strlen(drawing->threads[0]) * MS;
    making.assembly = tv_assembly_new(builder, input);
    struct tv_trace *trace = tv_assembly_trace(making.assembly);
    for (uint32_t i = 0; i < PROCESSORS; i++) {
        const char *name = i == 0 ? "CPU 0" : "CPU 1";
        strips[i] =
            (struct tv_state_track){.kind = TV_TRACK_CPU,
                                    .name = tv_trace_info_string(making.head, tv_bytes_of(name)),
                                    .process = TV_NONE,
                                    .thread = TV_NONE,
                                    .known = true,
                                    .since = (int64_t)drawing->known[i] * MS};
        add_strip(&making, i, drawing->processors[i]);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        char name[2] = {(char)('a' + i), 0};
        struct tv_thread thread = {.id = i + 1,
                                   .name = tv_trace_info_string(making.head, tv_bytes_of(name)),
                                   .process = TV_NONE};
        strips[PROCESSORS + i] =
            (struct tv_state_track){.kind = TV_TRACK_STATES,
                                    .name = thread.name,
                                    .process = TV_NONE,
                                    .thread = tv_trace_info_add_thread(making.head, &thread)};
        add_strip(&making, PROCESSORS + i, drawing->threads[i]);
        add_wakeups(&trace->tables, i, drawing->wakeups[i]);
    }
    tv_assembly_build_rows(making.assembly, &(struct tv_row_options){.end = 10 * MS});
    tv_assembly_add_state_tracks(making.assembly, strips, TV_COUNT(strips), making.slices,
                                 making.count, 1);
    tv_assembly_end(making.assembly);
    return tv_builder_finish(builder);
}

/* ---- Questions ---- */

/* "a R3 w1 s3 i3 =10 1,2 woken 1 wait 1" of a thread: milliseconds of each state but 0 and of all,
 * what it ran on each processor, wake-ups, the longest wait; "CPU 0 busy 7 unknown 0". */
static void write_states(struct tv_out *out, const struct tv_trace *trace,
                         const struct tv_states *states)
{
    static const char letters[TV_STATE_COUNT + 1] = "Rwpsdiz";
    for (uint32_t i = 0; i < states->thread_count; i++) {
        const struct tv_thread_states *thread = &states->threads[i];
        tv_out_bytes(out,
                     tv_trace_info_text(trace->head, trace->head->threads[thread->thread].name));
        for (int state = 0; state < TV_STATE_COUNT; state++)
            if (thread->time[state] > 0)
                tv_out_format(out, " %c%d", letters[state], (int)(thread->time[state] / MS));
        tv_out_format(out, " =%d ", (int)(thread->total / MS));
        for (uint32_t k = 0; k < states->cpu_count; k++)
            tv_out_format(out, "%s%d", k > 0 ? "," : "", (int)(tv_states_ran(states, i, k) / MS));
        tv_out_format(out, " woken %d wait %d\n", (int)thread->wakeups,
                      (int)(thread->longest_wait / MS));
    }
    for (uint32_t i = 0; i < states->cpu_count; i++)
        tv_out_format(out, "CPU %u busy %d unknown %d\n",
                      tv_cpu_number(trace, states->cpus[i].track), (int)(states->cpus[i].busy / MS),
                      (int)(states->cpus[i].unknown / MS));
}

static void assert_states_of(const struct drawing *drawing,
                             const struct tv_states_question *question, const char *expected)
{
    struct tv_trace *trace = make(drawing);
    struct tv_states *states = tv_states_of(trace, question);
    struct tv_out out;
    tv_out_init_memory(&out);
    write_states(&out, trace, states);
    tv_out_char(&out, '\0');
    assert_string_equal((const char *)out.buffer, expected);
    tv_out_release(&out);
    tv_states_free(states);
    tv_trace_free(trace);
}

static void assert_states(const struct tv_states_question *question, const char *expected)
{
    assert_states_of(&drawn, question, expected);
}

/* b ran longest; CPU 1 is not known before 1, and idles from then to 3. */
static void sums_the_whole(void **context)
{
    (void)context;
    assert_states(&(struct tv_states_question){.from = 0, .to = 10 * MS},
                  "b R6 w1 p2 s1 =10 4,2 woken 1 wait 1\n"
                  "c R4 w4 d1 =9 0,4 woken 2 wait 2\n"
                  "a R3 w1 i3 z3 =10 3,0 woken 1 wait 1\n"
                  "CPU 0 busy 7 unknown 0\nCPU 1 busy 6 unknown 1\n");
}

/* States and waits are cut at both ends; a wake-up at the beginning counts, one at the end does
 * not, unless the trace ends there (last_state_ends_with_the_trace). */
static void cuts_a_range(void **context)
{
    (void)context;
    assert_states(&(struct tv_states_question){.from = 1 * MS, .to = 5 * MS},
                  "b R3 w1 =4 3,0 woken 1 wait 1\n"
                  "c R2 w2 =4 0,2 woken 1 wait 2\n"
                  "a R1 i3 =4 1,0 woken 0 wait 0\n"
                  "CPU 0 busy 4 unknown 0\nCPU 1 busy 2 unknown 0\n");
    assert_states(&(struct tv_states_question){.from = 2 * MS, .to = 6 * MS},
                  "b R4 =4 4,0 woken 0 wait 0\n"
                  "c R3 w1 =4 0,3 woken 0 wait 1\n"
                  "a w1 i3 =4 0,0 woken 1 wait 1\n"
                  "CPU 0 busy 4 unknown 0\nCPU 1 busy 3 unknown 0\n");
}

static void last_state_ends_with_the_trace(void **context)
{
    (void)context;
    assert_states_of(&ending, &(struct tv_states_question){.from = 0, .to = 2 * MS},
                     "a R2 =2 2,0 woken 0 wait 0\n"
                     "b s2 =2 0,0 woken 1 wait 0\n"
                     "c =0 0,0 woken 1 wait 0\n"
                     "CPU 0 busy 2 unknown 0\nCPU 1 busy 0 unknown 1\n");
    assert_states_of(&ending, &(struct tv_states_question){.from = 0, .to = 1 * MS},
                     "a R1 =1 1,0 woken 0 wait 0\n"
                     "b s1 =1 0,0 woken 0 wait 0\n"
                     "CPU 0 busy 1 unknown 0\nCPU 1 busy 0 unknown 1\n");
}

/* The processors tell all the same what they did. */
static void takes_only_wanted_threads(void **context)
{
    (void)context;
    const bool threads[THREADS] = {false, false, true};
    assert_states(&(struct tv_states_question){.from = 6 * MS, .to = 10 * MS, .threads = threads},
                  "c R1 w2 d1 =4 0,1 woken 1 wait 2\n"
                  "CPU 0 busy 1 unknown 0\nCPU 1 busy 3 unknown 0\n");
}

/* Threads that ran on the wanted processor, and what they did all the while. */
static void takes_only_wanted_processors(void **context)
{
    (void)context;
    const bool cpus[PROCESSORS + THREADS] = {false, true};
    assert_states(&(struct tv_states_question){.from = 0, .to = 10 * MS, .cpus = cpus},
                  "c R4 w4 d1 =9 4 woken 2 wait 2\n"
                  "b R6 w1 p2 s1 =10 2 woken 1 wait 1\n"
                  "CPU 1 busy 6 unknown 1\n");
}

static void a_range_outside_has_no_states(void **context)
{
    (void)context;
    assert_states(&(struct tv_states_question){.from = 20 * MS, .to = 30 * MS},
                  "CPU 0 busy 0 unknown 0\nCPU 1 busy 0 unknown 0\n");
}

/* ---- One slice ---- */

/* What c runs from 3 on, as a state and on CPU 1. */
static void knows_both_sides_of_a_run(void **context)
{
    (void)context;
    struct tv_trace *trace = make(&drawn);
    struct tv_slice_place state = tv_states_at(trace, 2, 4 * MS);
    struct tv_slice_place ran = tv_states_cpu_slice(trace, state);
    assert_int_equal(ran.row, trace->tracks[1].first_row);
    assert_int_equal(tv_slice_start(trace, ran.row, ran.index), 3 * MS);
    struct tv_slice_place back = tv_states_running(trace, ran);
    assert_int_equal(back.row, state.row);
    assert_int_equal(back.index, state.index);
    state = tv_states_at(trace, 2, 6 * MS); /* asleep */
    assert_int_equal(tv_states_cpu_slice(trace, state).row, TV_NONE);
    assert_int_equal(tv_states_at(trace, 2, 0).row, TV_NONE); /* nothing is known of it */
    tv_trace_free(trace);
}

static void finds_the_wakeup_of_a_wait(void **context)
{
    (void)context;
    struct tv_trace *trace = make(&drawn);
    const struct tv_wakeup *wakeup = tv_states_wakeup(trace, 2, 7 * MS);
    assert_non_null(wakeup);
    assert_int_equal(wakeup->thread, 2);
    assert_null(tv_states_wakeup(trace, 2, 6 * MS));
    assert_null(tv_states_wakeup(trace, 1, 7 * MS));
    tv_trace_free(trace);
}

UNIT_TESTS(states, cmocka_unit_test(sums_the_whole), cmocka_unit_test(cuts_a_range),
           cmocka_unit_test(last_state_ends_with_the_trace),
           cmocka_unit_test(takes_only_wanted_threads),
           cmocka_unit_test(takes_only_wanted_processors),
           cmocka_unit_test(a_range_outside_has_no_states),
           cmocka_unit_test(knows_both_sides_of_a_run),
           cmocka_unit_test(finds_the_wakeup_of_a_wait));
