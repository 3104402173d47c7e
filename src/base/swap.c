/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swap.c - blocks of a mapped file in size classes, and the thread that keeps the process within
 * its budget.
 *
 *     file   | region of 16 KiB blocks | region of 32 KiB blocks | ... | region of 256 GiB blocks |
 *     region | block 0 | block 1 | block 2 | ...        all regions have the same size
 *
 * Each size class owns its addresses for ever, so the address of a block tells its class and
 * number, and no allocation table is needed.  Address space is plentiful, and a freed block holds
 * no disk space.
 *
 * Eviction uses MADV_DONTNEED on the shared mapping: the page leaves the process, but stays in the
 * page cache of the file while the system has memory, and is written out when it has none.  So the
 * budget costs little on a machine with free memory and still holds on one without.
 */
#include "base/swap.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/workers.h"

/* Blocks of 16 KiB to 256 GiB. */
#define FIRST_CLASS 14u
#define LAST_CLASS 38u
#define CLASSES (LAST_CLASS - FIRST_CLASS + 1)

/* Size of a region.  All regions together have 6.25 TiB of addresses, less than the largest file of
 * ext4; a file system or a limit may force smaller ones. */
#define LARGEST_REGION LAST_CLASS
#define SMALLEST_REGION 30u

/* Blocks below this size keep their disk space for the next owner and reserve it in groups. */
#define LARGE_FROM 20u
#define STRETCH ((size_t)1 << LARGE_FROM)

/* Disk space of a large block is reserved in these units, a multiple of every page size. */
#define ROOM_STEP ((size_t)64 * 1024)

/* Number of bytes evicted between two checks of the resident size. */
#define STEP ((size_t)8 << 20)

/* CPU time of the process between two checks: too short to touch a quarter of the smallest budget.
 * An idle process uses none, so the thread sleeps with it. */
#define PAUSE_NS 4000000L

#define TMPFS 0x01021994L
#define RAMFS 0x858458f6L

struct swap_region {
    atomic_size_t count; /* blocks ever claimed */
    size_t reserved;     /* small blocks: bytes from the region's start with disk space */
    uint64_t *room;      /* large blocks: bytes with disk space, perhaps dirty; 0: all zeros */
    uint32_t *unused;    /* numbers of freed blocks */
    size_t room_capacity, unused_count, unused_capacity;
};

/* One instance per process, as memory is. */
static struct {
    uint8_t *base; /* NULL: tv_swap_begin was not called */
    bool left;     /* tv_swap_leave was called */
    size_t size;
    unsigned region_shift;
    int fd, statm;
    uint64_t budget;
    pthread_mutex_t lock; /* guards the regions; held for long while the disk is slow */
    struct swap_region regions[CLASSES];
    pthread_mutex_t watched_lock;
    struct tv_bytes *watched;
    size_t watched_count, watched_capacity;
    size_t hand_range, hand; /* next position to evict: regions, then watched files */
} swap = {.lock = PTHREAD_MUTEX_INITIALIZER, .watched_lock = PTHREAD_MUTEX_INITIALIZER};

static _Noreturn void swap_exit_disk_full(int error)
{
    fprintf(stderr, "traceview: no room for memory in the temporary file (TMPDIR says where): %s\n",
            strerror(error));
    _Exit(1);
}

/* ---- Tables of this module, which cannot live in the file ---- */

static void *swap_table_reserve(void *table, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return table;
    size_t wanted = *capacity == 0 ? 16 : tv_size_mul(*capacity, 2);
    void *moved = realloc(table, tv_size_mul(wanted, size));
    if (!moved)
        tv_memory_exhausted();
    *capacity = wanted;
    return moved;
}

/* ---- Blocks ---- */

struct swap_block {
    unsigned class; /* the size is 1 << class */
    size_t number;
};

static struct swap_region *swap_region_of(struct swap_block block)
{
    return &swap.regions[block.class - FIRST_CLASS];
}

static size_t swap_block_offset(struct swap_block block)
{
    return ((size_t)(block.class - FIRST_CLASS) << swap.region_shift) +
           (block.number << block.class);
}

static struct swap_block swap_block_at(const void *memory)
{
    assert(tv_swap_owns(memory));
    size_t offset = (size_t)((const uint8_t *)memory - swap.base);
    unsigned class = (unsigned)(offset >> swap.region_shift) + FIRST_CLASS;
    size_t inside = offset & (((size_t)1 << swap.region_shift) - 1);
    return (struct swap_block){class, inside >> class};
}

static unsigned swap_class_for(size_t size)
{
    unsigned class = FIRST_CLASS;
    while (class <= swap.region_shift && (size_t)1 << class < size)
        class ++;
    if (class > swap.region_shift)
        tv_memory_exhausted();
    return class;
}

static bool swap_block_is_large(struct swap_block block)
{
    return block.class >= LARGE_FROM;
}

static size_t swap_block_reserved(struct swap_block block)
{
    return swap_block_is_large(block) ? (size_t)swap_region_of(block)->room[block.number]
                                      : (size_t)1 << block.class;
}

/* Reject a request that cannot fit at once: trying would fill the disk for everybody meanwhile. */
static bool swap_disk_has_room(size_t size)
{
    struct statvfs info;
    return fstatvfs(swap.fd, &info) != 0 || info.f_frsize == 0 ||
           size / info.f_frsize <= info.f_bavail;
}

static void swap_disk_reserve(size_t offset, size_t size)
{
    int error;
    if (!swap_disk_has_room(size))
        swap_exit_disk_full(ENOSPC);
    do
        error = posix_fallocate(swap.fd, (off_t)offset, (off_t)size);
    while (error == EINTR);
    if (error != 0)
        swap_exit_disk_full(error);
}

/* Reserve disk space for the first `size` bytes of the block. */
static void swap_block_reserve(struct swap_block block, size_t size)
{
    struct swap_region *region = swap_region_of(block);
    assert(size <= (size_t)1 << block.class && block.number < region->count);
    size_t offset = swap_block_offset(block),
           wanted = (size + ROOM_STEP - 1) / ROOM_STEP * ROOM_STEP;
    if (!swap_block_is_large(block)) {
        if ((block.number + 1) << block.class > region->reserved) {
            swap_disk_reserve(offset, STRETCH);
            region->reserved += STRETCH;
        }
    } else if (wanted > region->room[block.number]) {
        size_t room = (size_t)region->room[block.number];
        swap_disk_reserve(offset + room, wanted - room);
        region->room[block.number] = wanted;
    }
}

/* Claim a free or new block; *used tells that it may hold old bytes. */
static struct swap_block swap_block_claim(unsigned class, bool *used)
{
    struct swap_block block = {class, 0};
    struct swap_region *region = swap_region_of(block);
    if (region->unused_count > 0) {
        block.number = region->unused[--region->unused_count];
        *used = swap_block_reserved(block) > 0;
        return block;
    }
    if (region->count >> (swap.region_shift - class) > 0)
        tv_memory_exhausted();
    block.number = atomic_fetch_add(&region->count, 1);
    *used = false;
    assert(block.number <= UINT32_MAX);
    if (swap_block_is_large(block)) {
        region->room = swap_table_reserve(region->room, &region->room_capacity, region->count,
                                          sizeof *region->room);
        region->room[block.number] = 0;
    }
    return block;
}

void tv_swap_leave(void)
{
    swap.left = true;
}

bool tv_swap_wants(size_t size)
{
    return swap.base && !swap.left && size >= TV_SWAP_FROM;
}

bool tv_swap_owns(const void *memory)
{
    return swap.base && (uintptr_t)memory - (uintptr_t)swap.base < swap.size;
}

void *tv_swap_alloc(size_t size, bool zeros)
{
    bool used;
    unsigned class = swap_class_for(size);
    pthread_mutex_lock(&swap.lock);
    struct swap_block block = swap_block_claim(class, &used);
    assert(block.class == class);
    swap_block_reserve(block, size);
    uint8_t *memory = swap.base + swap_block_offset(block);
    pthread_mutex_unlock(&swap.lock);
    if (used && zeros)
        memset(memory, 0, size);
    return memory;
}

/* Release the disk space of the block, which then reads as zeros. */
static bool swap_block_punch(uint8_t *memory, size_t size)
{
#ifdef MADV_REMOVE
    return madvise(memory, size, MADV_REMOVE) == 0;
#else
    (void)memory, (void)size;
    return false;
#endif
}

void tv_swap_free(void *memory)
{
    struct swap_block block = swap_block_at(memory);
    struct swap_region *region = swap_region_of(block);
    bool empty = false;
    if (swap_block_is_large(block)) {
        pthread_mutex_lock(&swap.lock);
        size_t room = swap_block_reserved(block);
        pthread_mutex_unlock(&swap.lock);
        empty = swap_block_punch(memory, room);
    }
    pthread_mutex_lock(&swap.lock);
    if (empty)
        region->room[block.number] = 0;
    region->unused = swap_table_reserve(region->unused, &region->unused_capacity,
                                        region->unused_count + 1, sizeof *region->unused);
    region->unused[region->unused_count++] = (uint32_t)block.number;
    pthread_mutex_unlock(&swap.lock);
}

void *tv_swap_realloc(void *memory, size_t size)
{
    struct swap_block block = swap_block_at(memory);
    bool fits = size <= (size_t)1 << block.class;
    pthread_mutex_lock(&swap.lock);
    if (fits)
        swap_block_reserve(block, size);
    size_t room = swap_block_reserved(block);
    pthread_mutex_unlock(&swap.lock);
    if (fits)
        return memory;
    void *moved = tv_swap_alloc(size, false);
    memcpy(moved, memory, room);
    tv_swap_free(memory);
    return moved;
}

void tv_swap_prefetch(struct tv_bytes bytes)
{
    if (!swap.base || bytes.length == 0)
        return;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), skipped = (uintptr_t)bytes.data % page;
    const uint8_t *first = bytes.data - skipped;
    void *start;
    memcpy(&start, &first, sizeof start); /* nothing writes through it */
    madvise(start, bytes.length + skipped, MADV_WILLNEED);
}

/* ---- Eviction ---- */

void tv_swap_watch(struct tv_bytes mapped)
{
    if (!swap.base)
        return;
    pthread_mutex_lock(&swap.watched_lock);
    swap.watched = swap_table_reserve(swap.watched, &swap.watched_capacity, swap.watched_count + 1,
                                      sizeof *swap.watched);
    swap.watched[swap.watched_count++] = mapped;
    pthread_mutex_unlock(&swap.watched_lock);
}

void tv_swap_forget(struct tv_bytes mapped)
{
    pthread_mutex_lock(&swap.watched_lock);
    for (size_t i = 0; i < swap.watched_count; i++)
        if (swap.watched[i].data == mapped.data) {
            swap.watched[i] = swap.watched[--swap.watched_count];
            break;
        }
    pthread_mutex_unlock(&swap.watched_lock);
}

/* Return the resident bytes of this process, or 0 when the system does not tell.  The file holds
 * "size resident shared ...", in pages. */
static uint64_t swap_resident_bytes(void)
{
    char text[128];
    ssize_t got = pread(swap.statm, text, sizeof text - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    const char *space = strchr(text, ' ');
    return space ? strtoull(space, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

/* Return the used addresses of a region, or a watched file. */
static struct tv_bytes swap_range_at(size_t index)
{
    if (index >= CLASSES)
        return swap.watched[index - CLASSES];
    return (struct tv_bytes){swap.base + (index << swap.region_shift),
                             swap.regions[index].count << (index + FIRST_CLASS)};
}

/* Evict the next step of one range and return false after the last range.  The lock keeps a watched
 * file mapped meanwhile. */
static bool swap_evict_step(void)
{
    pthread_mutex_lock(&swap.watched_lock);
    size_t ranges = CLASSES + swap.watched_count;
    struct tv_bytes range = {NULL, 0};
    if (swap.hand_range < ranges)
        range = swap_range_at(swap.hand_range);
    if (swap.hand < range.length) {
        size_t left = range.length - swap.hand;
        void *start;
        const uint8_t *at = range.data + swap.hand;
        memcpy(&start, &at, sizeof start); /* nothing writes through it */
        madvise(start, left < STEP ? left : STEP, MADV_DONTNEED);
        swap.hand += STEP;
    } else {
        swap.hand = 0;
        swap.hand_range++;
    }
    bool more = swap.hand_range < ranges;
    if (!more)
        swap.hand_range = 0;
    pthread_mutex_unlock(&swap.watched_lock);
    return more;
}

/* Go around at most once: pages that are still resident then are in use or are elsewhere. */
static void swap_evict_pages(void)
{
    unsigned ends = 0;
    while (ends < 2 && swap_resident_bytes() > swap.budget / 3)
        ends += !swap_evict_step();
}

static void *swap_thread_run(void *unused)
{
    static const struct timespec pause = {0, PAUSE_NS};
    (void)unused;
    for (;;) {
        clock_nanosleep(CLOCK_PROCESS_CPUTIME_ID, 0, &pause, NULL);
        if (swap_resident_bytes() > swap.budget / 2)
            swap_evict_pages();
    }
    return NULL;
}

enum tv_status tv_swap_start_thread(struct tv_error *err)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all); /* the program's own threads handle signals */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = tv_thread_start(&thread, TV_THREAD_STACK, swap_thread_run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "--max-memory: cannot start a thread: %s",
                       strerror(error));
    pthread_detach(thread);
    return TV_OK;
}

/* ---- Setup ---- */

/* Map the largest file that the system allows. */
static bool swap_map_file(int fd)
{
    for (unsigned shift = LARGEST_REGION; shift >= SMALLEST_REGION; shift--) {
        size_t size = (size_t)CLASSES << shift;
        if (ftruncate(fd, (off_t)size) != 0)
            continue;
        void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
        if (base == MAP_FAILED)
            continue;
        /* Slices are written to thousands of rows in turn: readahead would load 128 KiB (8 MiB on
         * some machines) around each.  Code that reads sequentially says so by tv_swap_prefetch. */
        madvise(base, size, MADV_RANDOM);
        swap.fd = fd;
        swap.region_shift = shift;
        swap.size = size;
        swap.base = base;
        return true;
    }
    return false;
}

/* Open the file for data that exceeds the limit.  A file system in memory would make the limit
 * pointless, so it is refused. */
static enum tv_status swap_open_files(int *fd, struct tv_error *err)
{
    struct statfs info;
    enum tv_status status = tv_file_open_temporary(fd, err);
    if (status != TV_OK)
        return status;
    if (fstatfs(*fd, &info) == 0 && ((long)info.f_type == TMPFS || (long)info.f_type == RAMFS)) {
        close(*fd);
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "--max-memory: temporary files lie in memory; let TMPDIR name a folder on "
                       "a disk");
    }
    swap.statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (swap.statm >= 0)
        return TV_OK;
    close(*fd);
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "--max-memory: /proc/self/statm: %s",
                   strerror(errno));
}

enum tv_status tv_swap_begin(uint64_t budget, struct tv_error *err)
{
    int fd;
    assert(swap.base == NULL); /* once per process */
    if (budget < TV_SWAP_MIN)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--max-memory: expected at least %uM",
                       (unsigned)(TV_SWAP_MIN >> 20));
    enum tv_status status = swap_open_files(&fd, err);
    if (status != TV_OK)
        return status;
    signal(SIGXFSZ, SIG_IGN); /* treat a file size limit like a full disk */
    swap.budget = budget;
    if (swap_map_file(fd))
        return TV_OK;
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "--max-memory: cannot use a temporary file: %s",
                   strerror(errno));
}
