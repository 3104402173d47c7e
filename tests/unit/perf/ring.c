/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the kernel's buffers: taken apart, whole or not, and in the order of their times. */
#define _GNU_SOURCE
#include "unit.h"

#include <stdlib.h>
#include <unistd.h>

#include "made_records.h"
#include "perf/records.h"

static void reads_records(void **state)
{
    (void)state;
    struct test_record bytes;
    struct tv_perf_record record;
    const uint64_t chain[] = {0x401000, 0x402000};
    make_sample(&bytes, 99, 7, 8, 123, chain, 2);
    assert_true(tv_perf_record_read(bytes.bytes, bytes.length, &record));
    assert_int_equal(record.pid, 7);
    assert_int_equal(record.tid, 8);
    assert_int_equal(record.time_ns, 123);
    assert_int_equal(record.cpu, 1);
    assert_int_equal(record.event, 99);
    assert_int_equal(record.sample.depth, 2);
    assert_int_equal(tv_perf_record_address(&record, 1), 0x402000);
    make_mapping(&bytes, 7, 0x400000, 0x1000, 0x2000, "/bin/true");
    assert_true(tv_perf_record_read(bytes.bytes, bytes.length, &record));
    assert_string_equal(record.mapping.path, "/bin/true");
    assert_int_equal(record.mapping.offset, 0x2000);
    assert_int_equal(record.mapping.build_id_size, 20);
    assert_int_equal(record.mapping.build_id[19], 1);
    assert_true(record.mapping.executable);
    /* The trailer of an exit has no thread any more: its body does. */
    make_task(&bytes, PERF_RECORD_EXIT, 7, 1, 8, 1);
    assert_true(tv_perf_record_read(bytes.bytes, bytes.length, &record));
    assert_int_equal(record.pid, 7);
    assert_int_equal(record.tid, 8);
    make_name(&bytes, 0, 7, 8, "worker");
    assert_true(tv_perf_record_read(bytes.bytes, bytes.length, &record));
    assert_string_equal(record.name, "worker");
}

static void put_copy(struct test_record *to, uint64_t abi, uint64_t size, uint64_t length)
{
    put_u64(to, abi);
    for (uint64_t i = 0; abi != PERF_SAMPLE_REGS_ABI_NONE && i < TV_PERF_REGISTER_COUNT; i++)
        put_u64(to, 1000 + i);
    put_u64(to, size);
    for (uint64_t i = 0; i < size; i += 8)
        put_u64(to, i);
    if (size > 0)
        put_u64(to, length);
    end_record(to);
}

/* Registers and stack after the chain, of threads that have a user part of 64 bits. */
static void reads_copies(void **state)
{
    (void)state;
    struct test_record bytes;
    struct tv_perf_record record;
    const uint64_t chain[] = {0x401000};
    make_sample(&bytes, 99, 7, 8, 123, chain, 1);
    put_copy(&bytes, PERF_SAMPLE_REGS_ABI_64, 64, 24);
    assert_true(tv_perf_record_read(bytes.bytes, bytes.length, &record));
    assert_int_equal(record.sample.depth, 1);
    assert_non_null(record.sample.registers);
    assert_int_equal(record.sample.stack_length, 24);
    assert_ptr_equal(record.sample.stack, bytes.bytes + bytes.length - 72);
    /* A stated length beyond the copy counts as the length of the copy. */
    make_sample(&bytes, 99, 7, 8, 123, chain, 1);
    put_copy(&bytes, PERF_SAMPLE_REGS_ABI_64, 64, UINT64_MAX);
    assert_true(tv_perf_record_read(bytes.bytes, bytes.length, &record));
    assert_int_equal(record.sample.stack_length, 64);
    for (uint64_t abi = 0; abi < 2; abi++) {
        make_sample(&bytes, 99, 7, 8, 123, chain, 1);
        put_copy(&bytes, abi, 0, 0);
        assert_true(tv_perf_record_read(bytes.bytes, bytes.length, &record));
        assert_null(record.sample.registers);
    }
    /* A size that leads out of the record. */
    make_sample(&bytes, 99, 7, 8, 123, chain, 1);
    put_copy(&bytes, PERF_SAMPLE_REGS_ABI_64, 64, 24);
    uint64_t size = UINT64_MAX - 7;
    memcpy(bytes.bytes + bytes.length - 80, &size, sizeof size);
    assert_false(tv_perf_record_read(bytes.bytes, bytes.length, &record));
}

/* Tries every length that is too short for each kind, and depths that a record has no room for. */
static void refuses_what_is_short(void **state)
{
    (void)state;
    struct test_record all[4];
    const uint64_t chain[] = {1, 2, 3};
    make_sample(&all[0], 99, 7, 8, 123, chain, 3);
    make_mapping(&all[1], 7, 1, 2, 3, "/a");
    make_name(&all[2], 0, 7, 8, "a");
    make_task(&all[3], PERF_RECORD_FORK, 7, 1, 8, 1);
    for (size_t i = 0; i < 4; i++)
        for (uint16_t length = 0; length < all[i].length; length = (uint16_t)(length + 8)) {
            /* On the heap, so that a sanitizer sees a byte too far. */
            uint8_t *bytes = malloc(length > 0 ? length : 1u);
            struct tv_perf_record record;
            memcpy(bytes, all[i].bytes, length);
            if (length >= 8)
                memcpy(bytes + 6, &length, sizeof length);
            bool read = tv_perf_record_read(bytes, length, &record);
            /* A record of another kind may look like a shorter one when it is cut. */
            assert_true(!read || i > 0);
            free(bytes);
        }
    struct tv_perf_record record;
    for (uint64_t depth = 4; depth != 0; depth <<= 1) {
        memcpy(all[0].bytes + 48, &depth, sizeof depth);
        assert_false(tv_perf_record_read(all[0].bytes, all[0].length, &record));
    }
}

/* A buffer as the kernel shares it. */
struct fake {
    struct tv_perf_ring ring;
    struct perf_event_mmap_page *control;
    uint8_t *records;
};

static void make_ring(struct fake *fake, uint64_t at)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    fake->ring = (struct tv_perf_ring){aligned_alloc(page, 2 * page), page};
    memset(fake->ring.pages, 0, 2 * page);
    fake->control = fake->ring.pages;
    fake->records = (uint8_t *)fake->ring.pages + page;
    fake->control->data_head = fake->control->data_tail = at;
}

static void put_in_ring(struct fake *fake, const struct test_record *record)
{
    for (uint16_t i = 0; i < record->length; i++)
        fake->records[(fake->control->data_head + i) % fake->ring.size] = record->bytes[i];
    fake->control->data_head += record->length;
}

struct seen {
    uint64_t times[64];
    size_t count;
};

static void note_time(void *context, const struct tv_perf_record *record)
{
    struct seen *seen = context;
    seen->times[seen->count++] = record->time_ns;
}

/* Two processors, one of whose buffers goes on at its start in the middle of a record. */
static void orders_records(void **state)
{
    (void)state;
    struct fake one, other;
    struct tv_perf_queue queue = {0};
    struct test_record record;
    struct seen seen = {.count = 0};
    make_ring(&one, 0);
    make_ring(&other, (uint64_t)sysconf(_SC_PAGESIZE) * 5 - 20);
    for (uint64_t time = 10; time <= 50; time += 20) {
        make_sample(&record, 1, 7, 7, time, NULL, 0);
        put_in_ring(&one, &record);
        make_sample(&record, 1, 7, 7, time - 5, NULL, 0);
        put_in_ring(&other, &record);
    }
    tv_perf_ring_drain(&one.ring, &queue);
    tv_perf_ring_drain(&other.ring, &queue);
    assert_int_equal(one.control->data_tail, one.control->data_head);
    tv_perf_queue_flush(&queue, 30, note_time, &seen);
    const uint64_t early[] = {5, 10, 25, 30};
    assert_int_equal(seen.count, 4);
    assert_memory_equal(seen.times, early, sizeof early);
    /* One that is older than what is left stands before it. */
    make_sample(&record, 1, 7, 7, 40, NULL, 0);
    put_in_ring(&other, &record);
    tv_perf_ring_drain(&other.ring, &queue);
    tv_perf_queue_flush(&queue, UINT64_MAX, note_time, &seen);
    const uint64_t late[] = {40, 45, 50};
    assert_int_equal(seen.count, 7);
    assert_memory_equal(seen.times + 4, late, sizeof late);
    tv_perf_queue_release(&queue);
    free(one.ring.pages);
    free(other.ring.pages);
}

/* A length that leads nowhere ends the look, and the buffer is free again. */
static void leaves_damaged_buffers(void **state)
{
    (void)state;
    for (uint16_t length = 0; length < 5000; length = (uint16_t)(length + 777)) {
        struct fake fake;
        struct tv_perf_queue queue = {0};
        struct test_record record;
        struct seen seen = {.count = 0};
        make_ring(&fake, 0);
        make_sample(&record, 1, 7, 7, 10, NULL, 0);
        put_in_ring(&fake, &record);
        memcpy(record.bytes + 6, &length, sizeof length);
        put_in_ring(&fake, &record);
        tv_perf_ring_drain(&fake.ring, &queue);
        assert_int_equal(fake.control->data_tail, fake.control->data_head);
        tv_perf_queue_flush(&queue, UINT64_MAX, note_time, &seen);
        assert_int_equal(seen.count, 1);
        tv_perf_queue_release(&queue);
        free(fake.ring.pages);
    }
}

UNIT_TESTS(ring, cmocka_unit_test(reads_records), cmocka_unit_test(reads_copies),
           cmocka_unit_test(refuses_what_is_short), cmocka_unit_test(orders_records),
           cmocka_unit_test(leaves_damaged_buffers));
