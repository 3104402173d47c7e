/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events, as the file has them: "+a" a call's begin, "-a" its end, "~a" unrolled.  What is expected
 * follows from the calls that are made; frames are invented, lower for callees.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/fast_path.h"
#include "recorder/recording.h"
#include "recorder/triggers.h"

#define TEXT_SIZE 4096

static char path[] = "/tmp/tv-events-XXXXXX";
static uint32_t method_a, method_b;

static void begin_by(struct tv_recording_options options)
{
    memcpy(strrchr(path, '-') + 1, "XXXXXX", 6);
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    options.path = path;
    options.vm = "native";
    options.quiet = true;
    assert_int_equal(tv_recording_start(&options), 0);
    if (method_a != 0)
        return;
    method_a = tv_recording_add_method(&(struct tv_recording_method){.name = "a"});
    method_b = tv_recording_add_method(&(struct tv_recording_method){.name = "b"});
}

static void begin_with(uint64_t buffer, enum tv_recording_full full)
{
    begin_by((struct tv_recording_options){.buffer_bytes = buffer, .full = full});
}

static void begin(void)
{
    begin_with(0, TV_RECORDING_STOP);
}

static uint8_t *read_trace(size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    uint8_t *bytes = malloc(1 << 22);
    *size = fread(bytes, 1, (1 << 22) - 1, file);
    bytes[*size] = '\0';
    fclose(file);
    unlink(path);
    return bytes;
}

/* The name of a method in the text of the file: its line is id, class, name. */
static void name_of(const uint8_t *text, uint32_t id, char *name, size_t size)
{
    char start[32];
    snprintf(start, sizeof start, "\n%#x\t\t", id);
    const char *line = strstr((const char *)text, start);
    assert_non_null(line);
    snprintf(name, size, "%.*s", (int)strcspn(line + strlen(start), "\t"), line + strlen(start));
}

/* Ends the recording; all its events in a line.  NULL: nothing is asked of them. */
static void end(struct tv_recording_info *info, char *events)
{
    size_t size;
    assert_int_equal(tv_recording_stop(info), 0);
    uint8_t *bytes = read_trace(&size);
    const uint8_t *data = memmem(bytes, size, "\n*end\n", 6);
    assert_non_null(data);
    data += 6 + TV_MT_HEADER_SIZE;
    size_t count = (size_t)(bytes + size - data) / TV_MT_RECORD_SIZE_V2, used = 0;
    if (info)
        assert_int_equal(count, info->records);
    for (size_t i = 0; events && i < count; i++) {
        char name[64];
        uint32_t word = tv_le_get_u32(data + i * TV_MT_RECORD_SIZE_V2 + 2);
        name_of(bytes, tv_mt_word_method(word), name, sizeof name);
        used += (size_t)snprintf(events + used, TEXT_SIZE - used, "%s%c%s", i > 0 ? " " : "",
                                 "+-~"[tv_mt_word_action(word)], name);
    }
    free(bytes);
}

static void assert_events(const char *expected)
{
    char events[TEXT_SIZE] = "";
    end(NULL, events);
    assert_string_equal(events, expected);
}

/* A native function by its address; 1 is where it returns to unless told otherwise. */
static void enter_at(uintptr_t function, uintptr_t frame, uintptr_t site)
{
    tv_recording_enter_address((void *)function, (void *)site, (void *)frame);
}

static void leave_at(uintptr_t function, uintptr_t frame, bool tail)
{
    tv_recording_leave_address((void *)function, (void *)frame, tail);
}

static void tells_calls(void **state)
{
    (void)state;
    tv_recording_enter(1); /* nothing is recorded yet */
    begin();
    tv_recording_enter(method_a);
    tv_recording_enter(method_b);
    tv_recording_leave(method_b, TV_MT_EXIT);
    tv_recording_leave(method_a, TV_MT_UNROLL);
    assert_events("+a +b -b ~a");
    tv_recording_enter(method_a);
    begin();
    tv_recording_leave(method_b, TV_MT_EXIT); /* began before */
    tv_recording_enter(method_b);
    assert_events("-b +b");
}

/* Ten thousand of them, and each again, as when its class is loaded once more. */
static void knows_methods_by_their_texts(void **state)
{
    (void)state;
    static uint32_t numbers[10000];
    for (uint32_t i = 0; i < 30000; i++) {
        char name[32];
        snprintf(name, sizeof name, "m%u", i % 10000);
        struct tv_recording_method method = {"C", name, "()V", "C.java", i < 20000 ? 7 : 0};
        uint32_t number = tv_recording_find_method(&method);
        if (i < 10000)
            numbers[i] = number;
        assert_int_equal(number, numbers[i % 10000]);
        assert_true(i == 0 || i >= 10000 || number == numbers[i - 1] + 1);
    }
    struct tv_recording_method others[] = {{"D", "m1", "()V", "C.java", 7},
                                           {"C", "m1", "(I)V", "C.java", 7},
                                           {"C", "m1", "()V", "D.java", 7},
                                           {"C", "m1", "()V", NULL, 0}};
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(tv_recording_find_method(&others[i]), numbers[9999] + 1 + i);
}

/* What tv_recording_add_method returns when there is no memory. */
static void passes_over_no_method(void **state)
{
    (void)state;
    begin();
    tv_recording_enter(0);
    tv_recording_enter(method_a);
    tv_recording_leave(0, TV_MT_EXIT);
    tv_recording_leave(method_a, TV_MT_EXIT);
    assert_events("+a -a");
}

static void unrolls_what_an_exception_left(void **state)
{
    (void)state;
    begin();
    tv_recording_enter(method_a);
    tv_recording_enter(method_b);
    tv_recording_enter(method_b);
    tv_recording_leave(method_a, TV_MT_EXIT);
    tv_recording_leave(method_a, TV_MT_EXIT); /* of which nothing is known */
    assert_events("+a +b +b ~b ~b -a -a");
}

static void unrolls_what_was_caught(void **state)
{
    (void)state;
    begin();
    tv_recorder_method_caught((uint64_t)method_a << 2); /* no part in the recording yet */
    tv_recording_enter(method_a);
    tv_recorder_method_caught((uint64_t)method_a << 2); /* nothing above it */
    tv_recording_enter(method_b);
    tv_recording_enter(method_b);
    tv_recorder_method_caught((uint64_t)method_a << 2);
    tv_recording_enter(method_b);
    tv_recorder_method_caught((uint64_t)(method_b + 1) << 2); /* began before */
    tv_recording_enter(method_a);
    tv_recording_leave(method_a, TV_MT_EXIT);
    assert_events("+a +b +b ~b ~b +b ~b ~a +a -a");
}

/* A constructor, b, makes another one, and catches what that one's super() throws. */
static void tells_constructors_apart(void **state)
{
    (void)state;
    uint64_t b = (uint64_t)method_b << 2;
    for (uint32_t deep = 0; deep < 2; deep++) {
        struct tv_recording_info info;
        uint32_t below = deep * TV_FRAMES_MAX;
        char events[TEXT_SIZE] = "";
        tv_recorder_super_returned(b); /* nothing is recorded yet */
        begin();
        for (uint32_t i = 0; i < below; i++)
            tv_recording_enter(method_a);
        tv_recording_enter(method_b);
        tv_recorder_super_returned(b);
        tv_recording_enter(method_b);
        tv_recorder_constructor_caught(b);
        tv_recorder_constructor_caught(b); /* nothing above it */
        tv_recording_leave(method_b, TV_MT_EXIT);
        for (uint32_t i = 0; i < below; i++)
            tv_recording_leave(method_a, TV_MT_EXIT);
        assert_int_equal(tv_recorder_depth_of(tv_recorder_self), 0);
        tv_recording_enter(method_b);
        tv_recorder_constructor_caught(b); /* began before */
        end(&info, deep ? NULL : events);
        assert_int_equal(info.records, 2 * below + 6);
        assert_string_equal(events, deep ? "" : "+b +b ~b -b +b ~b");
    }
}

static void unrolls_what_a_jump_left(void **state)
{
    (void)state;
    begin();
    enter_at(0x10, 0x7000, 1);
    enter_at(0x20, 0x6000, 1);
    enter_at(0x30, 0x6800, 1); /* where 0x20 was */
    leave_at(0x10, 0x7000, false);
    assert_events("+0x10 +0x20 ~0x20 +0x30 ~0x30 -0x10");
}

static void knows_functions_in_one_frame(void **state)
{
    (void)state;
    begin();
    enter_at(0x10, 0x7000, 1);
    enter_at(0x20, 0x7000, 1); /* inlined into 0x10 */
    leave_at(0x20, 0x7000, false);
    enter_at(0x30, 0x7000, 2); /* called from elsewhere */
    assert_events("+0x10 +0x20 -0x20 ~0x10 +0x30");
}

/* The hook of an end that was jumped to sees the place of the caller. */
static void knows_ends_without_a_frame(void **state)
{
    (void)state;
    begin();
    enter_at(0x10, 0x7000, 1);
    enter_at(0x20, 0x6000, 1);
    leave_at(0x20, 0x6ff0, true);
    enter_at(0x20, 0x6000, 1);
    enter_at(0x20, 0x5000, 1); /* which a jump leaves */
    leave_at(0x20, 0x6ff0, true);
    leave_at(0x10, 0x7ff0, true);
    assert_events("+0x10 +0x20 -0x20 +0x20 +0x20 ~0x20 -0x20 -0x10");
}

static void mixes_with_calls_by_hand(void **state)
{
    (void)state;
    begin();
    enter_at(0x10, 0x7000, 1);
    tv_recording_enter(method_a);
    enter_at(0x20, 0x7800, 1); /* says nothing of what lies below method_a */
    tv_recording_leave(method_a, TV_MT_EXIT);
    leave_at(0x10, 0x7000, false);
    assert_events("+0x10 +a +0x20 ~0x20 -a -0x10");
}

static void goes_deeper_than_its_stack(void **state)
{
    (void)state;
    struct tv_recording_info info;
    uint32_t depth = TV_FRAMES_MAX + 10;
    for (int native = 0; native < 2; native++) {
        begin();
        for (uint32_t i = 0; i < depth; i++)
            native ? enter_at(0x10, 0x7000000 - i * 16, 1) : tv_recording_enter(method_a);
        for (uint32_t i = depth; i-- > 0;) {
            native ? leave_at(0x10, 0x7000000 - i * 16, false)
                   : tv_recording_leave(method_a, TV_MT_EXIT);
            assert_int_equal(tv_recorder_depth_of(tv_recorder_self),
                             i < TV_FRAMES_MAX ? i : TV_FRAMES_MAX);
        }
        end(&info, NULL);
        assert_int_equal(info.records, 2 * depth);
        assert_int_equal(info.dropped, 0);
    }
}

static void unrolls_beyond_its_stack(void **state)
{
    (void)state;
    struct tv_recording_info info;
    uint32_t depth = TV_FRAMES_MAX + 10000, times = 20000;
    begin();
    for (uint32_t i = 0; i < depth; i++)
        tv_recording_enter(method_a);
    for (uint32_t i = 0; i < times; i++) {
        tv_recording_enter(method_b);
        tv_recorder_method_caught((uint64_t)method_a << 2);
    }
    for (uint32_t i = 0; i < depth; i++)
        tv_recording_leave(method_a, TV_MT_EXIT);
    assert_int_equal(tv_recorder_depth_of(tv_recorder_self), 0);
    for (uint32_t i = 0; i < depth; i++)
        tv_recording_enter(method_a);
    tv_recorder_method_caught((uint64_t)method_b << 2); /* began before */
    assert_int_equal(tv_recorder_depth_of(tv_recorder_self), 0);
    end(&info, NULL);
    assert_int_equal(info.records, 4 * depth + 2 * times);
    assert_int_equal(info.dropped, 0);
}

static void ends_when_it_is_full(void **state)
{
    (void)state;
    struct tv_recording_info info;
    begin_with(TV_RECORDING_BUFFER_MIN, TV_RECORDING_STOP);
    for (int i = 0; i < 1000; i++)
        tv_recording_enter(method_a);
    assert_false(tv_recording_active());
    end(&info, NULL);
    assert_true(info.overflow);
    assert_int_equal(info.records,
                     (TV_RECORDING_BUFFER_MIN - TV_MT_HEADER_SIZE) / TV_MT_RECORD_SIZE_V2);
}

static void keeps_the_last_in_a_ring(void **state)
{
    (void)state;
    struct tv_recording_info info;
    char events[TEXT_SIZE] = "";
    begin_with(4096, TV_RECORDING_RING);
    for (int i = 0; i < 1000; i++) {
        tv_recording_enter(method_a);
        tv_recording_leave(method_a, TV_MT_EXIT);
    }
    tv_recording_enter(method_b);
    assert_true(tv_recording_active());
    end(&info, events);
    assert_in_range(info.records, 270, 406); /* two thirds of a buffer so small */
    assert_string_equal(events + strlen(events) - 8, "+a -a +b");
}

#define HOUR_NS (UINT64_C(3600) * 1000000000)

/* All that has ended was too short, whichever clock says so; what is open stays. */
static void leaves_out_short_calls(void **state)
{
    (void)state;
    for (int clock = TV_RECORDING_WALL; clock <= TV_RECORDING_DUAL; clock++) {
        char events[TEXT_SIZE] = "";
        struct tv_recording_info info;
        begin_by((struct tv_recording_options){.clock = (enum tv_recording_clock)clock,
                                               .least_ns = HOUR_NS});
        for (int i = 0; i < 100000; i++) { /* more than the buffer holds */
            tv_recording_enter(method_a);
            tv_recording_enter(method_b);
            tv_recording_enter(method_b); /* left by an exception, with its caller */
            tv_recording_leave(method_a, i & 1 ? TV_MT_EXIT : TV_MT_UNROLL);
        }
        tv_recording_enter(method_a);
        tv_recording_enter(method_b);
        tv_recording_leave(method_b, TV_MT_EXIT);
        end(&info, clock == TV_RECORDING_DUAL ? NULL : events);
        assert_int_equal(info.records, 1);
        assert_int_equal(info.dropped, 0);
        assert_string_equal(events, clock == TV_RECORDING_DUAL ? "" : "+a");
    }
}

/* A call that is long enough is there, with its callers, and what comes after it goes as before.
 */
static void keeps_long_calls_with_their_callers(void **state)
{
    (void)state;
    char events[TEXT_SIZE] = "";
    struct tv_recording_info info;
    struct timespec now, start;
    begin_by((struct tv_recording_options){.least_ns = 20000000});
    tv_recording_enter(method_a);
    tv_recording_enter(method_b);
    tv_recording_leave(method_b, TV_MT_EXIT);
    tv_recording_enter(method_b);
    clock_gettime(CLOCK_MONOTONIC, &start);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec < 40000000);
    tv_recording_leave(method_b, TV_MT_EXIT);
    tv_recording_leave(method_a, TV_MT_EXIT);
    end(&info, events);
    assert_string_equal(events, "+a +b -b -a");
}

static void begin_triggered(const char *trigger, uint64_t least_ns)
{
    begin_by((struct tv_recording_options){.trigger = trigger, .least_ns = least_ns});
}

/* What is below a call of the method, and the call; another trigger within it changes nothing. */
static void records_below_a_trigger(void **state)
{
    (void)state;
    static const char *const patterns[] = {"a", "*.a", ".a", "x\na", "*nothing\na\n"};
    begin(); /* the methods have their names */
    end(NULL, NULL);
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        begin_triggered(patterns[i], 0);
        tv_recording_enter(method_b);
        tv_recording_enter(method_a);
        tv_recording_enter(method_b);
        tv_recording_enter(method_a);
        tv_recording_leave(method_a, TV_MT_UNROLL);
        tv_recording_leave(method_b, TV_MT_EXIT);
        tv_recording_leave(method_a, TV_MT_EXIT);
        tv_recording_leave(method_b, TV_MT_EXIT);
        tv_recording_enter(method_b);
        tv_recording_enter(method_a);
        assert_events("+a +b +a ~a -b -a +a");
    }
    begin_triggered("aa\nb?\n.\n", 0);
    tv_recording_enter(method_a);
    tv_recording_enter(method_b);
    assert_events("");
}

/* A trigger that is left by an exception or a jump, or whose caller is left, triggers no more. */
static void ends_with_its_trigger(void **state)
{
    (void)state;
    begin_triggered("a", 0);
    tv_recording_enter(method_b);
    tv_recording_enter(method_a);
    tv_recording_enter(method_b);
    tv_recorder_method_caught((uint64_t)method_b << 2); /* the inner one */
    tv_recording_leave(method_b, TV_MT_EXIT);
    tv_recording_enter(method_b);
    tv_recording_enter(method_b);
    tv_recording_leave(method_a, TV_MT_UNROLL);
    tv_recording_enter(method_b);
    tv_recording_leave(method_b, TV_MT_EXIT);
    tv_recording_enter(method_a);
    tv_recording_leave(method_b, TV_MT_EXIT); /* the outermost */
    tv_recording_enter(method_b);
    assert_events("+a +b -b +b +b ~b ~b ~a +a ~a");
}

/* Deeper than the frames that are kept, and with the least duration. */
static void triggers_deep_below(void **state)
{
    (void)state;
    struct tv_recording_info info;
    begin_triggered("b", 0);
    for (uint32_t i = 0; i < TV_FRAMES_MAX + 10; i++)
        tv_recording_enter(method_a);
    tv_recording_enter(method_b);
    tv_recording_enter(method_a);
    tv_recording_leave(method_b, TV_MT_EXIT);
    tv_recording_leave(method_a, TV_MT_EXIT);
    assert_events("+b +a ~a -b");
    begin_triggered("b", HOUR_NS);
    for (int i = 0; i < 100; i++) {
        tv_recording_enter(method_a);
        tv_recording_enter(method_b);
        tv_recording_enter(method_a);
        tv_recording_leave(method_a, TV_MT_EXIT);
        tv_recording_leave(method_b, TV_MT_EXIT);
        tv_recording_leave(method_a, TV_MT_EXIT);
    }
    end(&info, NULL);
    assert_int_equal(info.records, 0);
    assert_int_equal(info.dropped, 0);
}

static uint64_t found_for;
static unsigned finds;

static void offer_functions(uint64_t address)
{
    found_for = address;
    finds++;
    tv_method_filter_offer(0x4000, "serve");
    tv_method_filter_offer(0x5000, "other");
    tv_method_filter_offer(0x6000, "base::serve");
}

/* Functions are asked for when one of their file is called; code that goes away is asked for anew.
 */
static void triggers_by_addresses(void **state)
{
    (void)state;
    tv_recorder.host.find_functions = offer_functions;
    finds = 0;
    begin_triggered("serve", 0);
    enter_at(0x5000, 0x9000, 1);
    assert_int_equal(found_for, 0x5000);
    for (int i = 0; i < 10; i++) {
        enter_at(0x4000, 0x8000, 1);
        enter_at(0x5000, 0x7000, 1);
        leave_at(0x5000, 0x7000, false);
        leave_at(0x4000, 0x8000, false);
    }
    enter_at(0x6000, 0x8000, 1);
    leave_at(0x6000, 0x8000, false);
    assert_int_equal(finds, 2); /* 4000 was an answer of the first */
    struct tv_recording_info info;
    end(&info, NULL);
    assert_int_equal(info.records, 40);
    begin_triggered("serve", 0);
    enter_at(0x4000, 0x8000, 1);
    tv_recorder.host.find_functions = NULL;
    tv_method_filter_reset();
    enter_at(0x4000, 0x7000, 1);
    leave_at(0x4000, 0x7000, false);
    leave_at(0x4000, 0x8000, false);
    enter_at(0x4000, 0x8000, 1); /* nobody says that it is one */
    end(&info, NULL);
    assert_int_equal(info.records, 4);
    assert_int_equal(finds, 3);
}

/* Waits as a host whose own stop is under way, the first time. */
static unsigned stops_asked;
static _Atomic unsigned stops_done;

static bool stop_by_host(void *arg)
{
    (void)arg;
    if (stops_asked++ == 0)
        return false;
    tv_recording_stop(NULL);
    atomic_store(&stops_done, 1);
    return true;
}

/* In every clock: CPU time is no more than wall time, and may be much less on a busy machine. */
static void wait_ms(int ms)
{
    struct timespec now, start;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < ms);
}

static void assert_text(const char *expected)
{
    size_t size;
    uint8_t *bytes = read_trace(&size);
    if (!strstr((const char *)bytes, expected))
        fail_msg("%s is not in\n%s", expected, (const char *)bytes);
    free(bytes);
}

/* A call of the method that lasts as long, also when its records are long forgotten; the file is
 * there without a stop. */
static void ends_with_a_slow_call(void **state)
{
    (void)state;
    for (int clock = TV_RECORDING_WALL; clock <= TV_RECORDING_DUAL; clock++) {
        stops_asked = 0;
        atomic_store(&stops_done, 0);
        begin_by((struct tv_recording_options){.clock = (enum tv_recording_clock)clock,
                                               .slow = "x\nb",
                                               .slow_ns = 200000000,
                                               .full = TV_RECORDING_RING,
                                               .buffer_bytes = 1 << 16,
                                               .stop = stop_by_host});
        tv_recording_enter(method_a);
        wait_ms(250); /* is not asked for */
        for (int i = 0; i < 10; i++) {
            tv_recording_enter(method_b);
            tv_recording_leave(method_b, TV_MT_EXIT);
        }
        tv_recording_enter(method_b);
        for (int i = 0; i < 50000; i++) {
            tv_recording_enter(method_a);
            tv_recording_leave(method_a, TV_MT_EXIT);
        }
        wait_ms(250);
        assert_true(tv_recording_active());
        tv_recording_leave(method_a, TV_MT_EXIT); /* leaves b, by an exception */
        assert_false(tv_recording_active());
        while (atomic_load(&stops_done) == 0)
            usleep(1000);
        assert_int_equal(stops_asked, 2);
        assert_text("\nslow-call=.b\nslow-call-nsec=");
    }
}

/* The watcher may have taken the stop, and be writing the file. */
static void wait_for_release(void)
{
    for (bool released = false; !released; usleep(1000)) {
        pthread_mutex_lock(&tv_recorder.lock);
        released = !tv_recorder.buffer.head;
        pthread_mutex_unlock(&tv_recorder.lock);
    }
}

/* Who stops by himself at that moment gets the file, with the call in it. */
static void says_a_slow_call_at_a_stop(void **state)
{
    (void)state;
    begin_by((struct tv_recording_options){.slow = "b", .slow_ns = 1});
    tv_recording_enter(method_b);
    tv_recording_enter(method_a);
    tv_recording_leave(method_a, TV_MT_EXIT);
    tv_recording_leave(method_b, TV_MT_EXIT);
    tv_recording_enter(method_a); /* too late */
    while (tv_recording_stop(NULL) == 0)
        continue;
    wait_for_release();
    size_t size;
    uint8_t *bytes = read_trace(&size);
    assert_non_null(strstr((const char *)bytes, "\nnum-method-calls=4\n"));
    assert_non_null(strstr((const char *)bytes, "\nslow-call-thread=1\n"));
    free(bytes);
}

static void keeps_stacks_without_a_recording(void **state)
{
    (void)state;
    tv_recorder_acquire_stacks();
    enter_at(0x10, 0x7000, 1);
    enter_at(0x20, 0x6000, 1);
    enter_at(0x30, 0x5000, 1);
    enter_at(0x40, 0x6800, 1);
    struct tv_recorder_thread *self = tv_recorder_self;
    assert_int_equal(tv_recorder_depth_of(self), 2);
    assert_int_equal(atomic_load(&self->frames[1].word), tv_fast_word((void *)0x40));
    assert_int_equal(atomic_load(&self->busy) & 1, 0);
    leave_at(0x40, 0x6800, false);
    leave_at(0x10, 0x7000, false);
    assert_int_equal(tv_recorder_depth_of(self), 0);
    tv_recorder_release_stacks();
    enter_at(0x10, 0x7000, 1);
    assert_int_equal(tv_recorder_depth_of(self), 0);
}

static _Atomic bool enough;

static void *call_on(void *unused)
{
    (void)unused;
    while (!atomic_load(&enough)) {
        tv_recording_enter(method_a);
        tv_recording_enter(method_b);
        tv_recording_leave(method_b, TV_MT_EXIT);
        tv_recording_leave(method_a, TV_MT_EXIT);
    }
    return NULL;
}

/* Recordings come and go under threads that are in the middle of calls. */
static void starts_and_stops_under_calls(void **state)
{
    (void)state;
    static const enum tv_recording_full ways[] = {TV_RECORDING_STOP, TV_RECORDING_RING,
                                                  TV_RECORDING_STREAM};
    struct tv_recording_info info;
    pthread_t threads[3];
    atomic_store(&enough, false);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_on, NULL), 0);
    for (int i = 0; i < 30; i++) {
        begin_with(1 << 18, ways[i % 3]);
        usleep(1000);
        assert_int_equal(tv_recording_stop(&info), 0);
        unlink(path);
    }
    atomic_store(&enough, true);
    for (size_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

#define LONG_NAME "org.springframework.kafka.KafkaListenerEndpointContainer#"

static void *call_by_a_long_name(void *unused)
{
    (void)unused;
    tv_recording_name_thread(LONG_NAME "17-0-C-1");
    tv_recording_enter(method_a);
    tv_recording_leave(method_a, TV_MT_EXIT);
    return NULL;
}

/* Names of Java's threads tell them apart by their ends. */
static void keeps_long_names_of_threads(void **state)
{
    (void)state;
    pthread_t thread;
    size_t size;
    begin();
    assert_int_equal(pthread_create(&thread, NULL, call_by_a_long_name, NULL), 0);
    pthread_join(thread, NULL);
    assert_int_equal(tv_recording_stop(NULL), 0);
    uint8_t *bytes = read_trace(&size);
    assert_non_null(strstr((const char *)bytes, "\t" LONG_NAME "17-0-C-1\n"));
    free(bytes);
}

/* The events with the numbers of their threads, in the order of threads. */
static void assert_rows(const char *expected)
{
    size_t size, used = 0;
    char events[TEXT_SIZE] = "";
    assert_int_equal(tv_recording_stop(NULL), 0);
    uint8_t *bytes = read_trace(&size);
    const uint8_t *data = memmem(bytes, size, "\n*end\n", 6);
    assert_non_null(data);
    data += 6 + TV_MT_HEADER_SIZE;
    size_t count = (size_t)(bytes + size - data) / TV_MT_RECORD_SIZE_V2;
    for (unsigned thread = 1; thread < 10; thread++)
        for (size_t i = 0; i < count; i++) {
            const uint8_t *record = data + i * TV_MT_RECORD_SIZE_V2;
            char name[64];
            if (tv_le_get_u16(record) != thread)
                continue;
            uint32_t word = tv_le_get_u32(record + 2);
            name_of(bytes, tv_mt_word_method(word), name, sizeof name);
            used +=
                (size_t)snprintf(events + used, TEXT_SIZE - used, "%s%u%c%s", used > 0 ? " " : "",
                                 thread, "+-~"[tv_mt_word_action(word)], name);
        }
    free(bytes);
    assert_string_equal(events, expected);
}

/* Two fibers that take turns on one thread, which calls too: 1 is the thread. */
static void gives_fibers_rows(void **state)
{
    (void)state;
    begin();
    uint32_t away = tv_recording_find_method(&(struct tv_recording_method){.name = "away"});
    tv_recording_enter(method_a);
    assert_false(tv_recording_is_fiber());
    tv_recording_mount(NULL, away);
    assert_true(tv_recording_is_fiber());
    tv_recording_enter(method_b);
    struct tv_recorder_thread *first = tv_recording_unmount(away);
    assert_non_null(first);
    tv_recording_mount(NULL, away);
    tv_recording_enter(method_a);
    struct tv_recorder_thread *second = tv_recording_unmount(0);
    tv_recording_enter(method_b);
    tv_recording_mount(first, away);
    tv_recording_leave(method_b, TV_MT_EXIT);
    assert_ptr_equal(tv_recording_unmount(away), first);
    tv_recording_leave(method_b, TV_MT_EXIT);
    tv_recording_mount(second, away);
    tv_recording_leave(method_a, TV_MT_EXIT);
    assert_ptr_equal(tv_recording_unmount(0), second);
    tv_recording_end_fiber(second);
    tv_recording_leave(method_a, TV_MT_EXIT);
    assert_rows("1+a 1+b 1-b 1-a 2+b 2+away 2-away 2-b 2+away 3+a 3-a");
    /* A fiber without events has nothing to keep, nor has a thread that carries none. */
    tv_recording_mount(NULL, away);
    assert_null(tv_recording_unmount(away));
    assert_null(tv_recording_unmount(away));
    /* One of an earlier recording joins the next: what it is in began before. */
    begin();
    tv_recording_mount(first, away);
    tv_recording_enter(method_a);
    tv_recording_leave(method_a, TV_MT_EXIT);
    assert_ptr_equal(tv_recording_unmount(0), first);
    tv_recording_end_fiber(first);
    assert_rows("1+a 1-a");
}

/* Many more than a stream has room for at once. */
static void streams_fibers_that_rest(void **state)
{
    (void)state;
    enum { FIBERS = 2000 };
    static struct tv_recorder_thread *fibers[FIBERS];
    struct tv_recording_info info = {0};
    begin_with(TV_RECORDING_BUFFER_MIN, TV_RECORDING_STREAM);
    for (int i = 0; i < FIBERS; i++) {
        tv_recording_mount(NULL, 0);
        tv_recording_enter(method_a);
        fibers[i] = tv_recording_unmount(0);
    }
    for (int i = 0; i < FIBERS; i++) {
        tv_recording_mount(fibers[i], 0);
        tv_recording_leave(method_a, TV_MT_EXIT);
        fibers[i] = tv_recording_unmount(0);
        tv_recording_end_fiber(fibers[i]);
    }
    assert_int_equal(tv_recording_stop(&info), 0);
    unlink(path);
    assert_false(info.overflow);
    assert_int_equal(info.dropped, 0);
    assert_int_equal(info.threads, FIBERS);
    assert_int_equal(info.records, 2 * FIBERS);
}

static void says_that_fibers_are_mixed(void **state)
{
    (void)state;
    for (int mixed = 1; mixed >= 0; mixed--) {
        size_t size;
        begin();
        tv_recording_enter(method_a);
        if (mixed)
            tv_recording_mix_fibers();
        assert_int_equal(tv_recording_stop(NULL), 0);
        uint8_t *bytes = read_trace(&size);
        bool said = strstr((const char *)bytes, "\nvirtual-threads=mixed\n") != NULL;
        free(bytes);
        assert_int_equal(said, mixed);
    }
}

/* Whoever told of mounts is gone: what is left mounted is not taken for the next fiber. */
static void forgets_mounts(void **state)
{
    (void)state;
    begin();
    tv_recording_mount(NULL, 0);
    tv_recording_enter(method_a);
    tv_recording_forget_mounts();
    assert_false(tv_recording_is_fiber());
    assert_null(tv_recording_unmount(0));
    tv_recording_enter(method_b);
    tv_recording_leave(method_b, TV_MT_EXIT);
    assert_rows("1+a 2+b 2-b");
}

UNIT_TESTS(events, cmocka_unit_test(ends_with_a_slow_call),
           cmocka_unit_test(says_a_slow_call_at_a_stop), cmocka_unit_test(records_below_a_trigger),
           cmocka_unit_test(ends_with_its_trigger), cmocka_unit_test(triggers_deep_below),
           cmocka_unit_test(triggers_by_addresses), cmocka_unit_test(gives_fibers_rows),
           cmocka_unit_test(forgets_mounts), cmocka_unit_test(streams_fibers_that_rest),
           cmocka_unit_test(says_that_fibers_are_mixed), cmocka_unit_test(tells_calls),
           cmocka_unit_test(keeps_long_names_of_threads), cmocka_unit_test(passes_over_no_method),
           cmocka_unit_test(knows_methods_by_their_texts),
           cmocka_unit_test(unrolls_what_an_exception_left),
           cmocka_unit_test(unrolls_what_was_caught), cmocka_unit_test(tells_constructors_apart),
           cmocka_unit_test(unrolls_what_a_jump_left),
           cmocka_unit_test(knows_functions_in_one_frame),
           cmocka_unit_test(knows_ends_without_a_frame), cmocka_unit_test(mixes_with_calls_by_hand),
           cmocka_unit_test(goes_deeper_than_its_stack), cmocka_unit_test(unrolls_beyond_its_stack),
           cmocka_unit_test(ends_when_it_is_full), cmocka_unit_test(keeps_the_last_in_a_ring),
           cmocka_unit_test(leaves_out_short_calls),
           cmocka_unit_test(keeps_long_calls_with_their_callers),
           cmocka_unit_test(keeps_stacks_without_a_recording),
           cmocka_unit_test(starts_and_stops_under_calls));
