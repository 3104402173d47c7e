/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swap.c - blocks of a mapped file, by classes of a power of two, and the thread that keeps what is
 * resident below the budget.
 *
 * A block's address is its class's alone for ever, so that no table of holes is needed: addresses
 * are plenty, and what was given back has no room on the disk.  A page that is taken away with
 * MADV_DONTNEED stays in the system's cache of the file while that has room, and is written out by
 * it; so the budget costs little where the machine has memory, and holds where it has none.
 */
#include "base/swap.h"

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

/* Part of a class: all addresses together are 6.25 TiB, which is less than the largest file of
 * ext4, or less where the file system or a limit wants that. */
#define LARGEST_PART LAST_CLASS
#define SMALLEST_PART 30u

/* Smaller blocks keep their room on the disk for the next one, and take it together. */
#define LARGE_FROM 20u
#define STRETCH ((size_t)1 << LARGE_FROM)

/* What the room of a large block is a multiple of: of pages of any size. */
#define ROOM_STEP ((size_t)64 * 1024)

/* So much is taken away between two looks at what is resident. */
#define STEP ((size_t)8 << 20)

/* The thread looks again when the process has used so much time of its processors, which is too
 * short to touch a quarter of the smallest budget; while that is idle it sleeps. */
#define PAUSE_NS 4000000L

#define TMPFS 0x01021994L
#define RAMFS 0x858458f6L

struct part {
    atomic_size_t count; /* blocks that ever were */
    size_t reserved;     /* small ones: bytes from the part's start with room on the disk */
    uint64_t *room;      /* large ones: bytes of each that have room, perhaps used; 0: all zeros */
    uint32_t *unused;    /* numbers of blocks that were given back */
    size_t room_capacity, unused_count, unused_capacity;
};

/* One a process, as its memory is. */
static struct {
    uint8_t *base; /* NULL: not begun */
    size_t size;
    unsigned part_shift;
    int fd, statm;
    uint64_t budget;
    pthread_mutex_t lock; /* of the parts; may be held for long, while the disk is slow */
    struct part parts[CLASSES];
    pthread_mutex_t watched_lock;
    struct tv_bytes *watched;
    size_t watched_count, watched_capacity;
    size_t hand_range, hand; /* where pages are taken away next: parts, then watched files */
} swap = {.lock = PTHREAD_MUTEX_INITIALIZER, .watched_lock = PTHREAD_MUTEX_INITIALIZER};

static _Noreturn void end_without_room(int error)
{
    fprintf(stderr, "traceview: no room for memory in the temporary file (TMPDIR says where): %s\n",
            strerror(error));
    _Exit(1);
}

/* ---- Tables of our own, which cannot lie in the file ---- */

static void *grow(void *table, size_t *capacity, size_t needed, size_t size)
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

struct block {
    unsigned class; /* its size is 1 << class */
    size_t number;
};

static struct part *part_of(struct block block)
{
    return &swap.parts[block.class - FIRST_CLASS];
}

static size_t offset_of(struct block block)
{
    return ((size_t)(block.class - FIRST_CLASS) << swap.part_shift) + (block.number << block.class);
}

static struct block block_at(const void *memory)
{
    size_t offset = (size_t)((const uint8_t *)memory - swap.base);
    unsigned class = (unsigned)(offset >> swap.part_shift) + FIRST_CLASS;
    size_t inside = offset & (((size_t)1 << swap.part_shift) - 1);
    return (struct block){class, inside >> class};
}

static unsigned class_of(size_t size)
{
    unsigned class = FIRST_CLASS;
    while (class <= swap.part_shift && (size_t)1 << class < size)
        class ++;
    if (class > swap.part_shift)
        tv_memory_exhausted();
    return class;
}

static bool is_large(struct block block)
{
    return block.class >= LARGE_FROM;
}

static size_t room_of(struct block block)
{
    return is_large(block) ? (size_t)part_of(block)->room[block.number] : (size_t)1 << block.class;
}

/* What cannot fit is not tried, which would fill the disk for everybody meanwhile. */
static bool has_room(size_t size)
{
    struct statvfs info;
    return fstatvfs(swap.fd, &info) != 0 || info.f_frsize == 0 ||
           size / info.f_frsize <= info.f_bavail;
}

static void reserve(size_t offset, size_t size)
{
    int error;
    if (!has_room(size))
        end_without_room(ENOSPC);
    do
        error = posix_fallocate(swap.fd, (off_t)offset, (off_t)size);
    while (error == EINTR);
    if (error != 0)
        end_without_room(error);
}

/* Room on the disk for the block's first `size` bytes. */
static void make_room(struct block block, size_t size)
{
    struct part *part = part_of(block);
    size_t offset = offset_of(block), wanted = (size + ROOM_STEP - 1) / ROOM_STEP * ROOM_STEP;
    if (!is_large(block)) {
        if ((block.number + 1) << block.class > part->reserved) {
            reserve(offset, STRETCH);
            part->reserved += STRETCH;
        }
    } else if (wanted > part->room[block.number]) {
        size_t room = (size_t)part->room[block.number];
        reserve(offset + room, wanted - room);
        part->room[block.number] = wanted;
    }
}

/* A block that is nobody's; *used: bytes may stand in it. */
static struct block take(unsigned class, bool *used)
{
    struct block block = {class, 0};
    struct part *part = part_of(block);
    if (part->unused_count > 0) {
        block.number = part->unused[--part->unused_count];
        *used = room_of(block) > 0;
        return block;
    }
    if (part->count >> (swap.part_shift - class) > 0)
        tv_memory_exhausted();
    block.number = atomic_fetch_add(&part->count, 1);
    *used = false;
    if (is_large(block)) {
        part->room = grow(part->room, &part->room_capacity, part->count, sizeof *part->room);
        part->room[block.number] = 0;
    }
    return block;
}

bool tv_swap_wants(size_t size)
{
    return swap.base && size >= TV_SWAP_FROM;
}

bool tv_swap_owns(const void *memory)
{
    return swap.base && (uintptr_t)memory - (uintptr_t)swap.base < swap.size;
}

void *tv_swap_alloc(size_t size, bool zeros)
{
    bool used;
    unsigned class = class_of(size);
    pthread_mutex_lock(&swap.lock);
    struct block block = take(class, &used);
    make_room(block, size);
    uint8_t *memory = swap.base + offset_of(block);
    pthread_mutex_unlock(&swap.lock);
    if (used && zeros)
        memset(memory, 0, size);
    return memory;
}

/* Gives the block's room on the disk back, so that it is zeros. */
static bool punch(uint8_t *memory, size_t size)
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
    struct block block = block_at(memory);
    struct part *part = part_of(block);
    bool empty = false;
    if (is_large(block)) {
        pthread_mutex_lock(&swap.lock);
        size_t room = room_of(block);
        pthread_mutex_unlock(&swap.lock);
        empty = punch(memory, room);
    }
    pthread_mutex_lock(&swap.lock);
    if (empty)
        part->room[block.number] = 0;
    part->unused =
        grow(part->unused, &part->unused_capacity, part->unused_count + 1, sizeof *part->unused);
    part->unused[part->unused_count++] = (uint32_t)block.number;
    pthread_mutex_unlock(&swap.lock);
}

void *tv_swap_realloc(void *memory, size_t size)
{
    struct block block = block_at(memory);
    bool fits = size <= (size_t)1 << block.class;
    pthread_mutex_lock(&swap.lock);
    if (fits)
        make_room(block, size);
    size_t room = room_of(block);
    pthread_mutex_unlock(&swap.lock);
    if (fits)
        return memory;
    void *moved = tv_swap_alloc(size, false);
    memcpy(moved, memory, room);
    tv_swap_free(memory);
    return moved;
}

void tv_swap_expect(struct tv_bytes bytes)
{
    if (!swap.base || bytes.length == 0)
        return;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), skipped = (uintptr_t)bytes.data % page;
    const uint8_t *first = bytes.data - skipped;
    void *start;
    memcpy(&start, &first, sizeof start); /* not written to */
    madvise(start, bytes.length + skipped, MADV_WILLNEED);
}

/* ---- What is resident ---- */

void tv_swap_watch(struct tv_bytes mapped)
{
    if (!swap.base)
        return;
    pthread_mutex_lock(&swap.watched_lock);
    swap.watched =
        grow(swap.watched, &swap.watched_capacity, swap.watched_count + 1, sizeof *swap.watched);
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

/* Bytes of this process in memory, 0 when the system does not tell: "size resident shared ...". */
static uint64_t resident(void)
{
    char text[128];
    ssize_t got = pread(swap.statm, text, sizeof text - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    const char *space = strchr(text, ' ');
    return space ? strtoull(space, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

/* The used addresses of a part, or a watched file. */
static struct tv_bytes range_at(size_t index)
{
    if (index >= CLASSES)
        return swap.watched[index - CLASSES];
    return (struct tv_bytes){swap.base + (index << swap.part_shift),
                             swap.parts[index].count << (index + FIRST_CLASS)};
}

/* Takes the next pages away, of one range; the lock keeps a watched one mapped.  False: that was
 * the last range. */
static bool take_step(void)
{
    pthread_mutex_lock(&swap.watched_lock);
    size_t ranges = CLASSES + swap.watched_count;
    struct tv_bytes range = {NULL, 0};
    if (swap.hand_range < ranges)
        range = range_at(swap.hand_range);
    if (swap.hand < range.length) {
        size_t left = range.length - swap.hand;
        void *start;
        const uint8_t *at = range.data + swap.hand;
        memcpy(&start, &at, sizeof start); /* not written to */
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

/* Once around at most: what is left then is in use this moment, or lies elsewhere. */
static void take_pages(void)
{
    unsigned ends = 0;
    while (ends < 2 && resident() > swap.budget / 3)
        ends += !take_step();
}

static void *keep_small(void *unused)
{
    static const struct timespec pause = {0, PAUSE_NS};
    (void)unused;
    for (;;) {
        clock_nanosleep(CLOCK_PROCESS_CPUTIME_ID, 0, &pause, NULL);
        if (resident() > swap.budget / 2)
            take_pages();
    }
    return NULL;
}

enum tv_status tv_swap_start_thread(struct tv_error *err)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all); /* signals are for the program's own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = tv_thread_start(&thread, TV_THREAD_STACK, keep_small, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "--max-memory: cannot start a thread: %s",
                       strerror(error));
    pthread_detach(thread);
    return TV_OK;
}

/* ---- The beginning ---- */

/* Maps the largest file that the system wants to have. */
static bool map(int fd)
{
    for (unsigned shift = LARGEST_PART; shift >= SMALLEST_PART; shift--) {
        size_t size = (size_t)CLASSES << shift;
        if (ftruncate(fd, (off_t)size) != 0)
            continue;
        void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
        if (base == MAP_FAILED)
            continue;
        /* Slices are written to the places of thousands of rows: with reading ahead, each of them
         * would hold 128 KiB, or the 8 MiB that some machines are set to.  Whoever reads much in
         * one go says so (tv_swap_expect). */
        madvise(base, size, MADV_RANDOM);
        swap.fd = fd;
        swap.part_shift = shift;
        swap.size = size;
        swap.base = base;
        return true;
    }
    return false;
}

static enum tv_status open_files(int *fd, struct tv_error *err)
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
    if (budget < TV_SWAP_LEAST)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--max-memory: expected at least %uM",
                       (unsigned)(TV_SWAP_LEAST >> 20));
    enum tv_status status = open_files(&fd, err);
    if (status != TV_OK)
        return status;
    signal(SIGXFSZ, SIG_IGN); /* a limit of files is an error like that of a full disk */
    swap.budget = budget;
    if (map(fd))
        return TV_OK;
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "--max-memory: cannot use a temporary file: %s",
                   strerror(errno));
}
