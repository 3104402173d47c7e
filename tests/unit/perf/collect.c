/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records become samples: whose they are, where they were, how long a thread waited.  What is
 * expected follows from the records, which are put together by hand.
 */
#define _GNU_SOURCE
#include "unit.h"

#include "made_records.h"
#include "perf/collect.h"

#define CLOCK_EVENT 1
#define SWITCH_EVENT 2

static void collect_record(struct tv_perf_collector *collector, const struct test_record *bytes)
{
    struct tv_perf_record record;
    assert_true(tv_perf_record_read(bytes->bytes, bytes->length, &record));
    tv_perf_collector_add(collector, &record);
}

static void take_stack(struct tv_perf_collector *collector, uint64_t event, uint32_t pid,
                       uint32_t tid, uint64_t time)
{
    static const uint64_t chain[] = {
        (uint64_t)PERF_CONTEXT_KERNEL,
        UINT64_C(0xffffffff81000010),
        UINT64_C(0xffffffff81000020),
        (uint64_t)PERF_CONTEXT_USER,
        0x400100,
        0x400200,
        0x123,
        0x400300,
    };
    struct test_record bytes;
    make_sample(&bytes, event, pid, tid, time, chain, 8);
    collect_record(collector, &bytes);
}

/* A process with a name and a mapping. */
static void begin_collector(struct tv_perf_collector *collector)
{
    struct test_record bytes;
    tv_perf_collector_init(collector, 1000);
    collector->names_kernel = true;
    tv_map_set(&collector->switches, SWITCH_EVENT, 1);
    make_name(&bytes, PERF_RECORD_MISC_COMM_EXEC, 7, 7, "program");
    collect_record(collector, &bytes);
    make_mapping(&bytes, 7, 0x400000, 0x1000, 0x1000, "/bin/program");
    collect_record(collector, &bytes);
}

static const struct tv_sample_trace *trace_at(const struct tv_perf_collector *collector, size_t i)
{
    return (const struct tv_sample_trace *)collector->samples.traces.at + i;
}

static const struct tv_sample_element *frame_at(const struct tv_perf_collector *collector,
                                                const struct tv_sample_trace *trace, size_t i)
{
    const uint32_t *stack = (const uint32_t *)collector->samples.stacks.at + trace->start;
    return (const struct tv_sample_element *)collector->samples.elements.at + stack[i] - 1;
}

/* Callers stand where they call, one byte before they go on; an address that lies nowhere is left
 * out. */
static void places_frames(void **state)
{
    (void)state;
    static const uint64_t places[] = {UINT64_C(0xffffffff81000010), UINT64_C(0xffffffff8100001f),
                                      0x1100, 0x11ff, 0x12ff};
    static const int32_t files[] = {0, 0, 1, 1, 1};
    struct tv_perf_collector collector;
    begin_collector(&collector);
    take_stack(&collector, CLOCK_EVENT, 7, 7, 100);
    const struct tv_sample_trace *trace = trace_at(&collector, 0);
    assert_int_equal(trace->depth, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(frame_at(&collector, trace, i)->method, places[i]);
        assert_int_equal(frame_at(&collector, trace, i)->line, files[i]);
    }
    const struct tv_sample_moment *moment = collector.samples.moments.at;
    assert_int_equal(moment->time_ns, 100);
    assert_int_equal(moment->cpu, 1);
    assert_int_equal(moment->state, TV_SAMPLE_RUNNING);
    tv_perf_collector_release(&collector);
}

/* Without names the kernel is one frame. */
static void hides_a_nameless_kernel(void **state)
{
    (void)state;
    struct tv_perf_collector collector;
    begin_collector(&collector);
    collector.names_kernel = false;
    take_stack(&collector, CLOCK_EVENT, 7, 7, 100);
    const struct tv_sample_trace *trace = trace_at(&collector, 0);
    assert_int_equal(trace->depth, 4);
    assert_int_equal(frame_at(&collector, trace, 0)->method, 0);
    assert_int_equal(frame_at(&collector, trace, 0)->line, TV_PERF_KERNEL_FILE);
    assert_int_equal(frame_at(&collector, trace, 1)->line, 1);
    tv_perf_collector_release(&collector);
}

static const struct tv_sample_thread *thread_at(const struct tv_perf_collector *c, size_t i)
{
    return (const struct tv_sample_thread *)c->samples.threads.at + i;
}

/* Threads and children have their parent's name until they have one; a number that is given again
 * is another thread. */
static void follows_threads(void **state)
{
    (void)state;
    struct tv_perf_collector collector;
    struct test_record bytes;
    begin_collector(&collector);
    take_stack(&collector, CLOCK_EVENT, 7, 7, 100);
    make_task(&bytes, PERF_RECORD_FORK, 7, 7, 8, 7);
    collect_record(&collector, &bytes);
    take_stack(&collector, CLOCK_EVENT, 7, 8, 110);
    make_name(&bytes, 0, 7, 8, "worker");
    collect_record(&collector, &bytes);
    make_task(&bytes, PERF_RECORD_FORK, 9, 7, 9, 8);
    collect_record(&collector, &bytes);
    take_stack(&collector, CLOCK_EVENT, 9, 9, 120);
    make_task(&bytes, PERF_RECORD_EXIT, 7, 7, 8, 7);
    collect_record(&collector, &bytes);
    make_task(&bytes, PERF_RECORD_FORK, 7, 7, 8, 7);
    collect_record(&collector, &bytes);
    take_stack(&collector, CLOCK_EVENT, 7, 8, 130);
    assert_int_equal(collector.samples.threads.count, 4);
    static const char *const names[] = {"program", "worker", "worker", "program"};
    static const uint32_t pids[] = {7, 7, 9, 7}, tids[] = {7, 8, 9, 8};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(thread_at(&collector, i)->name, names[i]);
        assert_int_equal(thread_at(&collector, i)->pid, pids[i]);
        assert_int_equal(thread_at(&collector, i)->tid, tids[i]);
        assert_int_equal(thread_at(&collector, i)->ended, i == 1);
    }
    /* The child has its parent's mappings. */
    assert_int_equal(trace_at(&collector, 2)->depth, 5);
    /* Its exec takes them away. */
    make_name(&bytes, PERF_RECORD_MISC_COMM_EXEC, 9, 9, "other");
    collect_record(&collector, &bytes);
    take_stack(&collector, CLOCK_EVENT, 9, 9, 140);
    assert_int_equal(trace_at(&collector, 4)->depth, 3);
    assert_string_equal(thread_at(&collector, 2)->name, "other");
    tv_perf_collector_release(&collector);
}

/* From leaving to coming back, with the stack of leaving; the end of the recording is an end. */
static void measures_waits(void **state)
{
    (void)state;
    struct tv_perf_collector collector;
    struct test_record bytes;
    begin_collector(&collector);
    take_stack(&collector, SWITCH_EVENT, 7, 7, 199);
    make_switch(&bytes, PERF_RECORD_MISC_SWITCH_OUT, 7, 7, 200);
    collect_record(&collector, &bytes);
    make_switch(&bytes, 0, 7, 7, 350);
    collect_record(&collector, &bytes);
    make_switch(&bytes, 0, 7, 8, 360); /* nobody saw that one leave */
    collect_record(&collector, &bytes);
    make_switch(&bytes, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, 7, 8,
                400);
    collect_record(&collector, &bytes);
    take_stack(&collector, CLOCK_EVENT, 7, 7, 500);
    tv_perf_collector_end(&collector);
    const struct tv_sample_wait *waits = collector.samples.waits.at;
    assert_int_equal(collector.samples.waits.count, 2);
    assert_int_equal(waits[0].from_ns, 200);
    assert_int_equal(waits[0].to_ns, 350);
    assert_false(waits[0].is_preempted);
    assert_int_equal(trace_at(&collector, waits[0].trace)->depth, 5);
    assert_int_equal(waits[1].from_ns, 400);
    assert_int_equal(waits[1].to_ns, 500);
    assert_true(waits[1].is_preempted);
    assert_int_equal(waits[1].trace, TV_SAMPLES_NO_TRACE);
    /* A look at leaving is no sample. */
    assert_int_equal(collector.samples.total, 1);
    tv_perf_collector_release(&collector);
}

static void counts_what_is_lost(void **state)
{
    (void)state;
    struct tv_perf_collector collector;
    struct test_record bytes;
    begin_collector(&collector);
    begin_record(&bytes, PERF_RECORD_LOST, 0);
    put_u64(&bytes, 1);
    put_u64(&bytes, 40);
    end_with_trailer(&bytes, 7, 7, 1);
    collect_record(&collector, &bytes);
    begin_record(&bytes, PERF_RECORD_LOST_SAMPLES, 0);
    put_u64(&bytes, 2);
    end_with_trailer(&bytes, 7, 7, 1);
    collect_record(&collector, &bytes);
    assert_int_equal(collector.kernel_lost, 42);
    tv_perf_collector_release(&collector);
}

UNIT_TESTS(collect, cmocka_unit_test(places_frames), cmocka_unit_test(hides_a_nameless_kernel),
           cmocka_unit_test(follows_threads), cmocka_unit_test(measures_waits),
           cmocka_unit_test(counts_what_is_lost));
