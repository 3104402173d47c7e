/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots of a ring while threads call: each is whole, and the recording lacks nothing. */
#define _GNU_SOURCE
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/fast_path.h"
#include "recorder/recording.h"

#define CALLERS 3
#define CALLS 100000
#define RECORDS ((uint64_t)CALLERS * CALLS * 4)

static char path[] = "/tmp/tv-recorded-XXXXXX";
static uint32_t outer, inner;
static _Atomic unsigned callers_done;

static void begin(enum tv_recording_full full)
{
    close(mkstemp(path));
    assert_int_equal(
        tv_recording_start(&(struct tv_recording_options){
            .path = path, .vm = "native", .full = full, .buffer_bytes = 256 << 20, .quiet = true}),
        0);
    outer = tv_recording_add_method(&(struct tv_recording_method){.name = "outer"});
    inner = tv_recording_add_method(&(struct tv_recording_method){.name = "inner"});
}

static void end(struct tv_recording_info *info)
{
    assert_int_equal(tv_recording_stop(info), 0);
    unlink(path);
    memcpy(strrchr(path, '-') + 1, "XXXXXX", 6);
}

/* Every other call is left by an exception, which is seen where it is caught. */
static void *call_so_often(void *unused)
{
    (void)unused;
    for (int i = 0; i < CALLS; i++) {
        tv_recording_enter(outer);
        tv_recording_enter(inner);
        if (i % 2 == 0)
            tv_recorder_method_caught((uint64_t)outer << 2);
        else
            tv_recording_leave(inner, TV_MT_EXIT);
        tv_recording_leave(outer, TV_MT_EXIT);
    }
    atomic_fetch_add(&callers_done, 1);
    return NULL;
}

static uint64_t take_snapshot(void)
{
    char name[] = "/tmp/tv-snapshot-XXXXXX", head[4096] = "", expected[64];
    uint64_t records;
    int file = mkstemp(name);
    assert_int_equal(tv_recorder_snapshot(file, &records), 0);
    ssize_t size = pread(file, head, sizeof head, 0);
    const char *data = memmem(head, (size_t)size, "\n*end\n", 6);
    assert_non_null(data);
    assert_int_equal(lseek(file, 0, SEEK_END), (uint64_t)(data - head) + 6 + TV_MT_HEADER_SIZE +
                                                   records * TV_MT_RECORD_SIZE_V2);
    snprintf(expected, sizeof expected, "\nnum-method-calls=%llu\n", (unsigned long long)records);
    assert_non_null(memmem(head, (size_t)size, expected, strlen(expected)));
    close(file);
    unlink(name);
    return records;
}

static void goes_on_beside_snapshots(void **state)
{
    (void)state;
    pthread_t threads[CALLERS];
    struct tv_recording_info info;
    uint64_t records = 0;
    begin(TV_RECORDING_RING);
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_so_often, NULL), 0);
    do {
        uint64_t more = take_snapshot();
        assert_true(more >= records);
        records = more;
    } while (atomic_load(&callers_done) < CALLERS);
    for (int i = 0; i < CALLERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(take_snapshot(), RECORDS);
    assert_true(tv_recording_active());
    end(&info);
    assert_int_equal(info.records, RECORDS);
    assert_int_equal(info.dropped, 0);
}

static void wants_a_ring(void **state)
{
    (void)state;
    uint64_t records;
    int file = open("/dev/null", O_WRONLY);
    assert_int_equal(tv_recorder_snapshot(file, &records), -ENOENT);
    begin(TV_RECORDING_STOP);
    assert_int_equal(tv_recorder_snapshot(file, &records), -ENOENT);
    end(NULL);
    begin(TV_RECORDING_RING);
    tv_recording_enter(outer);
    assert_int_equal(tv_recorder_snapshot(-1, &records), -EBADF);
    assert_int_equal(take_snapshot(), 1);
    end(NULL);
    close(file);
}

UNIT_TESTS(snapshot, cmocka_unit_test(goes_on_beside_snapshots), cmocka_unit_test(wants_a_ring));
