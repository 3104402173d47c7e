/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swap.c - tests of base/swap.h, each in a process of its own: memory lies in the file until that
 * ends.
 */
#include "unit.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/swap.h"
#include "base/workers.h"
#include "child.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

/* The exit code of a child is the line that did not hold. */
#define HOLD(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                \
            _Exit(2);                                                                              \
        }                                                                                          \
    } while (0)

/* The thread sanitizer notes in memory of its own what is done to the file's, several bytes for
 * each, and has no addresses left for more than there is. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NOTES_ALL true
#endif
#endif
#ifndef NOTES_ALL
#define NOTES_ALL false
#endif

static void pass_over_notes(void)
{
    if (!NOTES_ALL)
        return;
    fputs("the thread sanitizer takes more memory than this", stderr);
    _Exit(77);
}

/* 77: temporary files lie in memory here, or cannot be made. */
static void begin(void)
{
    struct tv_error err = {0};
    if (tv_swap_begin(TV_SWAP_MIN, &err) != TV_OK || tv_swap_start_thread(&err) != TV_OK) {
        fprintf(stderr, "%s\n", err.message);
        _Exit(77);
    }
}

static void run(void (*work)(void))
{
    char text[CHILD_TEXT];
    int code = child_run(work, text);
    if (code == 77) {
        print_message("# skipped: %s\n", text);
        return;
    }
    if (code != 0)
        fail_msg("exit code %d: %s", code, text);
}

static bool is_all(const uint8_t *bytes, size_t size, uint8_t value)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

/* Sizes around those where the kind of a block changes. */
static const size_t sizes[] = {
    TV_SWAP_FROM, TV_SWAP_FROM + 1, 65536, 100000, MIB - 1, MIB, MIB + 1, 3 * MIB + 5, 9 * MIB,
};

static void give_zeros(void)
{
    begin();
    for (unsigned round = 0; round < 3; round++) {
        uint8_t *blocks[2 * TV_COUNT(sizes)];
        for (size_t i = 0; i < TV_COUNT(blocks); i++) {
            size_t size = sizes[i / 2];
            blocks[i] = i % 2 ? tv_pages_alloc(size) : tv_alloc(size, 1);
            HOLD(tv_swap_owns(blocks[i]));
            HOLD((uintptr_t)blocks[i] % 4096 == 0);
            HOLD(is_all(blocks[i], size, 0));
            memset(blocks[i], (int)i + 1, size); /* for the next round to find */
        }
        for (size_t i = 0; i < TV_COUNT(blocks); i++) {
            HOLD(is_all(blocks[i], sizes[i / 2], (uint8_t)(i + 1)));
            if (i % 2)
                tv_pages_free(blocks[i], sizes[i / 2]);
            else
                tv_free(blocks[i]);
        }
    }
}

static void blocks_are_zeros_and_their_own(void **state)
{
    (void)state;
    run(give_zeros);
}

static void keep_what_grows(void)
{
    uint8_t *before = tv_alloc(3 * TV_SWAP_FROM, 1);
    memset(before, 7, 3 * TV_SWAP_FROM);
    begin();
    HOLD(!tv_swap_owns(before));
    before = tv_realloc(before, 5 * MIB, 1); /* a block of the C library moves */
    HOLD(tv_swap_owns(before) && is_all(before, 3 * TV_SWAP_FROM, 7));
    tv_free(before);

    uint32_t *numbers = NULL;
    size_t capacity = 0, count = 4 * MIB;
    for (size_t i = 0; i < count; i++) {
        numbers = tv_array_reserve(numbers, &capacity, i + 1, sizeof *numbers);
        numbers[i] = (uint32_t)(i * 2654435761u);
    }
    HOLD(tv_swap_owns(numbers));
    numbers = tv_realloc(numbers, count, sizeof *numbers);
    for (size_t i = 0; i < count; i++)
        HOLD(numbers[i] == (uint32_t)(i * 2654435761u));
    numbers = tv_realloc(numbers, 1, sizeof *numbers);
    HOLD(numbers[0] == 0);
    tv_free(numbers);
    char *small = tv_alloc(TV_SWAP_FROM - 1, 1);
    HOLD(!tv_swap_owns(small));
    tv_free(small);
    HOLD(!tv_swap_owns(NULL));
    tv_free(NULL);
}

static void growing_keeps_the_contents(void **state)
{
    (void)state;
    run(keep_what_grows);
}

/* Kilobytes of a line of /proc/self/status. */
static long kilobytes(const char *line)
{
    char text[256];
    long value = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(text, sizeof text, status))
        if (strncmp(text, line, strlen(line)) == 0)
            value = strtol(text + strlen(line), NULL, 10);
    if (status)
        fclose(status);
    return value;
}

/* Busy, as the thread looks when the process has done something. */
static bool wait_until_below(const char *line, long most)
{
    time_t late = time(NULL) + 60;
    while (kilobytes(line) >= most && time(NULL) < late)
        ;
    return kilobytes(line) < most;
}

#define WORDS_OF_STEP (MIB / sizeof(uint64_t))
#define WORK 8u
#define STEPS 384u

/* Each writes its own stretches and finds them again after all of the others. */
static void write_and_read(void *context, unsigned worker)
{
    uint64_t *words = context;
    for (uint64_t round = 0; round < 2; round++)
        for (uint64_t step = worker; step < STEPS; step += WORK) {
            uint64_t *place = words + step * WORDS_OF_STEP;
            for (size_t i = 0; i < WORDS_OF_STEP; i++) {
                HOLD(place[i] == round * (step * WORDS_OF_STEP + i));
                place[i] = step * WORDS_OF_STEP + i;
            }
        }
}

/* Of what the tests before left in memory (sanitizers keep much) nothing is said. */
static void hold_the_budget(void)
{
    pass_over_notes();
    begin();
    long most = (long)(TV_SWAP_MIN / 1024), before = kilobytes("RssAnon:");
    uint64_t *words = tv_pages_alloc(STEPS * MIB);
    tv_workers_run(WORK, write_and_read, words);
    HOLD(kilobytes("RssAnon:") < before + most / 2);
    HOLD(wait_until_below("RssFile:", most));
    tv_pages_free(words, STEPS * MIB);
}

static void more_than_the_budget_is_not_resident(void **state)
{
    (void)state;
    run(hold_the_budget);
}

static void map_a_file(void)
{
    begin();
    int fd;
    struct tv_error err;
    struct tv_bytes bytes;
    uint8_t *piece = tv_alloc(MIB, 1);
    HOLD(tv_file_open_temporary(&fd, &err) == TV_OK);
    for (unsigned i = 0; i < STEPS; i++) {
        memset(piece, (int)i, MIB);
        HOLD(write(fd, piece, MIB) == (ssize_t)MIB);
    }
    HOLD(tv_file_map(fd, &bytes, &err) == TV_OK);
    for (unsigned i = 0; i < STEPS; i++)
        HOLD(is_all(bytes.data + i * MIB, MIB, (uint8_t)i));
    HOLD(wait_until_below("RssFile:", (long)(TV_SWAP_MIN / 1024)));
    HOLD(bytes.data[5 * MIB] == 5);
    tv_file_unmap(bytes);
    close(fd);
}

static void mapped_files_are_not_resident_either(void **state)
{
    (void)state;
    run(map_a_file);
}

/* More than there is, which nobody tries to have; a disk that fills up is in tests/tools. */
static void fill_the_disk(void)
{
    pass_over_notes();
    begin();
    int fd;
    struct tv_error err;
    struct statvfs disk;
    HOLD(tv_file_open_temporary(&fd, &err) == TV_OK && fstatvfs(fd, &disk) == 0);
    uint64_t free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (free_bytes > (uint64_t)200 * 1024 * MIB) {
        fputs("a disk of so much room is not for this test", stderr);
        _Exit(77);
    }
    uint8_t *first = tv_alloc(2 * MIB, 1);
    memset(first, 1, 2 * MIB);
    tv_pages_alloc((size_t)free_bytes + (size_t)50 * 1024 * MIB);
}

static void a_full_disk_ends_the_program(void **state)
{
    (void)state;
    char text[CHILD_TEXT];
    int code = child_run(fill_the_disk, text);
    if (code == 77) {
        print_message("# skipped: %s\n", text);
        return;
    }
    assert_string_equal(text, "traceview: no room for memory in the temporary file (TMPDIR says "
                              "where): No space left on device\n");
    assert_int_equal(code, 1);
}

static size_t pages_there(const struct tv_bytes *bytes)
{
    unsigned char there[1024];
    size_t count = 0, page = (size_t)sysconf(_SC_PAGESIZE);
    void *start;
    memcpy(&start, &bytes->data, sizeof start);
    HOLD(bytes->length / page <= sizeof there && mincore(start, bytes->length, there) == 0);
    for (size_t i = 0; i < bytes->length / page; i++)
        count += there[i] & 1;
    return count;
}

/* A file that the system has forgotten comes back without being touched. */
static void expect_bytes(void)
{
    static uint8_t text[2 * MIB];
    struct tv_error err;
    struct tv_bytes mapped;
    struct timespec pause = {0, 10 * 1000 * 1000};
    int fd;
    memset(text, 7, sizeof text);
    begin();
    HOLD(tv_file_open_temporary(&fd, &err) == TV_OK);
    HOLD(write(fd, text, sizeof text) == (ssize_t)sizeof text && fsync(fd) == 0);
    HOLD(tv_file_map(fd, &mapped, &err) == TV_OK);
    HOLD(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0);
    if (pages_there(&mapped) > 0) {
        fputs("this file system forgets nothing", stderr);
        _Exit(77);
    }
    tv_memory_prefetch(mapped.data, 0);
    HOLD(pages_there(&mapped) == 0);
    tv_memory_prefetch(mapped.data + 100, MIB); /* from the middle of a page on */
    size_t wanted = MIB / (size_t)sysconf(_SC_PAGESIZE);
    for (unsigned i = 0; i < 1000 && pages_there(&mapped) < wanted; i++)
        nanosleep(&pause, NULL);
    HOLD(pages_there(&mapped) >= wanted);
    HOLD(is_all(mapped.data, mapped.length, 7));
    tv_file_unmap(mapped);
    close(fd);
}

static void prefetched_pages_are_resident(void **state)
{
    (void)state;
    uint8_t byte = 5;
    tv_memory_prefetch(&byte, 1); /* nothing, where memory lies in no file */
    assert_int_equal(byte, 5);
    run(expect_bytes);
}

static void ask_for_too_little(void)
{
    struct tv_error err = {0};
    HOLD(tv_swap_begin(TV_SWAP_MIN - 1, &err) == TV_ERR_USAGE);
    HOLD(strcmp(err.message, "--max-memory: expected at least 128M") == 0);
    HOLD(!tv_swap_wants(MIB));
}

/* Wherever Linux is, /dev/shm is memory. */
static void ask_for_a_file_in_memory(void)
{
    struct tv_error err = {0};
    if (access("/dev/shm", W_OK) != 0)
        _Exit(77);
    setenv("TMPDIR", "/dev/shm", 1);
    HOLD(tv_swap_begin(TV_SWAP_MIN, &err) == TV_ERR_IO);
    HOLD(strstr(err.message, "temporary files lie in memory") != NULL);
    HOLD(!tv_swap_wants(MIB));
}

static void an_unusable_budget_is_refused(void **state)
{
    (void)state;
    run(ask_for_too_little);
    run(ask_for_a_file_in_memory);
}

UNIT_TESTS(swap, cmocka_unit_test(blocks_are_zeros_and_their_own),
           cmocka_unit_test(growing_keeps_the_contents),
           cmocka_unit_test(more_than_the_budget_is_not_resident),
           cmocka_unit_test(prefetched_pages_are_resident),
           cmocka_unit_test(mapped_files_are_not_resident_either),
           cmocka_unit_test(a_full_disk_ends_the_program),
           cmocka_unit_test(an_unusable_budget_is_refused));
