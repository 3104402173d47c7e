/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash.c - processes that are killed in the middle of their work, and disks that refuse it.
 *
 * A child works on the store and records in shared memory what the store confirmed: so many bytes
 * are held, a trace exists, a trace is deleted. Whatever happens to the child, the next start must
 * find exactly that, or the operation that was in progress; and each file has its row.
 */
#include "unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "faults.h"
#include "place.h"

#define SLOTS 8u
#define WORKERS 3u

enum step {
    FREE, /* nothing, or an upload that was not confirmed */
    RUNNING,
    FINISHING,
    DONE,
    CANCELLING,
    DELETING,
};

/* One upload, as its worker knows it. */
struct slot {
    enum step step;
    uint32_t seed;
    uint64_t bytes, held;
    char uid[TV_STORE_ID_DIGITS + 1], trace[TV_STORE_ID_DIGITS + 1];
};

struct memory {
    struct slot slots[WORKERS][SLOTS];
    uint64_t done;  /* number of traces made */
    uint64_t steps; /* number of operations that ended */
    uint32_t random[WORKERS];
};

struct worker {
    struct tv_store *store;
    struct memory *memory;
    uint32_t number;
    bool faulty; /* failures are expected */
};

static uint32_t next_random(struct memory *memory, uint32_t worker)
{
    memory->random[worker]++;
    return (uint32_t)(tv_hash_u64(memory->random[worker] * UINT64_C(16777619) + worker + 1) >> 20);
}

static void check(const struct worker *worker, bool right, const char *what)
{
    if (right || worker->faulty)
        return;
    fprintf(stderr, "# %s\n", what);
    _exit(3);
}

/* ---- Operations of a worker ---- */

static void begin_slot(struct worker *worker, struct slot *slot)
{
    char name[40];
    struct tv_store_id uid;
    slot->seed = next_random(worker->memory, worker->number);
    slot->bytes = next_random(worker->memory, worker->number) % 90000;
    slot->held = 0;
    snprintf(name, sizeof name, "%u:%llu", slot->seed, (unsigned long long)slot->bytes);
    bool known = slot->seed % 2 == 0;
    struct tv_store_new_upload upload = {.name = tv_bytes_of(name),
                                         .bytes = known ? slot->bytes : TV_STORE_SIZE_UNKNOWN};
    enum tv_store_status status = tv_store_upload_begin(worker->store, &upload, &uid, NULL);
    check(worker, status == TV_STORE_OK, "begin");
    if (status != TV_STORE_OK)
        return;
    memcpy(slot->uid, uid.text, sizeof slot->uid);
    slot->step = RUNNING;
}

static void put_slot(struct worker *worker, struct slot *slot)
{
    uint64_t held = slot->held;
    uint64_t length = 1 + next_random(worker->memory, worker->number) % 60000;
    length = length < slot->bytes - slot->held ? length : slot->bytes - slot->held;
    enum tv_store_status status =
        put_piece(worker->store, slot->uid, slot->seed, slot->held, (size_t)length, &held);
    /* more than was confirmed: the worker before was killed within a chunk */
    bool ahead = status == TV_STORE_WRONG_OFFSET && held > slot->held && held <= slot->bytes;
    check(worker, ahead || (status == TV_STORE_OK && held == slot->held + length), "piece");
    /* "so many bytes are held" is a promise even if the call failed; 0 promises nothing */
    if (held > 0)
        slot->held = held;
}

static void finish_slot(struct worker *worker, struct slot *slot)
{
    struct tv_store_id trace;
    slot->step = FINISHING;
    enum tv_store_status status = tv_store_upload_finish(worker->store, slot->uid, &trace, NULL);
    check(worker, status == TV_STORE_OK, "finish");
    if (status != TV_STORE_OK)
        return;
    memcpy(slot->trace, trace.text, sizeof slot->trace);
    slot->step = DONE;
    __atomic_fetch_add(&worker->memory->done, 1, __ATOMIC_SEQ_CST);
}

static void end_slot(struct worker *worker, struct slot *slot)
{
    bool upload = slot->step == RUNNING;
    slot->step = upload ? CANCELLING : DELETING;
    enum tv_store_status status = upload ? tv_store_upload_cancel(worker->store, slot->uid, NULL)
                                         : tv_store_trace_delete(worker->store, slot->trace, NULL);
    check(worker, status == TV_STORE_OK, upload ? "cancel" : "delete");
    if (status == TV_STORE_OK)
        slot->step = FREE;
}

static void look_at_slot(struct worker *worker, struct slot *slot)
{
    struct tv_store_new_cache cache;
    bool yes = true;
    struct tv_bytes note = TV_BYTES("a note of some length, so that there is something to write");
    struct tv_store_change change = {.note = &note, .pinned = &yes};
    enum tv_store_status status = tv_store_trace_change(worker->store, slot->trace, &change, NULL);
    check(worker, status == TV_STORE_OK, "change");
    status = tv_store_cache_begin(worker->store, slot->trace, &cache, NULL);
    if (status == TV_STORE_OK) {
        check(worker, write(cache.fd, "cache", 5) == 5, "write of a cache");
        status = tv_store_cache_end(worker->store, &cache, true, NULL);
    }
    check(worker, status == TV_STORE_OK, "cache");
}

static void do_something(struct worker *worker)
{
    uint32_t random = next_random(worker->memory, worker->number);
    struct slot *slot = &worker->memory->slots[worker->number][random % SLOTS];
    uint32_t dice = random / SLOTS % 10;
    if (slot->step == FREE)
        begin_slot(worker, slot);
    else if (slot->step == RUNNING && dice == 0)
        end_slot(worker, slot);
    else if (slot->step == RUNNING && slot->held < slot->bytes)
        put_slot(worker, slot);
    else if (slot->step == RUNNING || slot->step == FINISHING)
        finish_slot(worker, slot);
    else if (slot->step == DONE && dice < 6)
        look_at_slot(worker, slot);
    else if (slot->step == DONE)
        end_slot(worker, slot);
}

/* ---- Checks after the next start ---- */

static bool trace_is_whole(struct tv_store *store, const char *id, uint32_t seed, uint64_t bytes)
{
    int fd;
    uint64_t size;
    if (tv_store_file_open(store, id, &fd, &size, NULL) != TV_STORE_OK)
        return false;
    bool whole = size == bytes && holds_seed(fd, seed, bytes);
    close(fd);
    return whole;
}

static bool upload_is_right(const struct place *place, const struct slot *slot, uint64_t held)
{
    char path[160];
    snprintf(path, sizeof path, "%s/uploads/%s", place->folder, slot->uid);
    int fd = open(path, O_RDONLY);
    bool right = fd >= 0 && holds_seed(fd, slot->seed, held);
    if (fd >= 0)
        close(fd);
    return right;
}

/* A confirmed upload has what was held, or became its trace. */
static void check_upload(const struct place *place, struct slot *slot)
{
    struct tv_store_upload upload;
    enum tv_store_status status = tv_store_upload_get(place->store, slot->uid, &upload, NULL);
    if (slot->step == CANCELLING && status == TV_STORE_NOT_FOUND) {
        slot->step = FREE;
        return;
    }
    assert_int_equal(status, TV_STORE_OK);
    if (upload.done) {
        assert_int_equal(slot->step, FINISHING);
        memcpy(slot->trace, upload.trace.text, sizeof slot->trace);
        slot->step = DONE;
        return;
    }
    /* on a full disk the bytes are removed before the row */
    assert_true(slot->step == CANCELLING || upload.held >= slot->held);
    assert_true(upload.held <= slot->bytes);
    assert_true(upload_is_right(place, slot, upload.held));
    slot->held = upload.held;
    slot->step = RUNNING;
}

static void check_slot(const struct place *place, struct slot *slot)
{
    struct tv_arena arena;
    struct tv_store_trace trace;
    if (slot->step == RUNNING || slot->step == FINISHING || slot->step == CANCELLING)
        check_upload(place, slot);
    if (slot->step != DONE && slot->step != DELETING)
        return;
    tv_arena_init(&arena);
    enum tv_store_status status =
        tv_store_trace_get(place->store, slot->trace, &arena, &trace, NULL);
    if (slot->step == DELETING && status == TV_STORE_NOT_FOUND) {
        slot->step = FREE;
    } else {
        assert_int_equal(status, TV_STORE_OK);
        assert_true(trace_is_whole(place->store, slot->trace, slot->seed, slot->bytes));
        slot->step = DONE;
    }
    tv_arena_release(&arena);
}

/* Check every listed trace, confirmed or not: its name contains seed and size. */
static void check_list(const struct place *place)
{
    struct tv_arena arena;
    struct tv_store_page page;
    struct tv_store_query query = {.limit = TV_STORE_PAGE};
    tv_arena_init(&arena);
    assert_int_equal(tv_store_search(place->store, &query, &arena, &page, NULL), TV_STORE_OK);
    assert_int_equal(page.count, page.total);
    for (size_t i = 0; i < page.count; i++) {
        unsigned seed;
        unsigned long long bytes;
        assert_int_equal(sscanf(page.traces[i].name, "%u:%llu", &seed, &bytes), 2);
        assert_true(trace_is_whole(place->store, page.traces[i].id.text, seed, bytes));
    }
    tv_arena_release(&arena);
}

/* There are as many files as rows. */
static void check_counts(const struct place *place)
{
    struct tv_store_totals totals = tv_store_totals(place->store);
    assert_int_equal(place_count(place, "traces"), totals.traces);
    assert_int_equal(place_count(place, "uploads"), totals.uploads);
    assert_int_equal(place_count(place, "cache"), totals.caches);
    assert_int_equal(place_count(place, "scratch"), 0);
}

/* Open and check the store that a worker left. */
static void check_store(struct place *place, struct memory *memory)
{
    place_open(place);
    check_counts(place);
    check_list(place);
    for (size_t i = 0; i < WORKERS * SLOTS; i++)
        check_slot(place, &memory->slots[i / SLOTS][i % SLOTS]);
    tv_store_close(place->store);
    place->store = NULL;
}

static struct memory *share_memory(void)
{
    struct memory *memory =
        mmap(NULL, sizeof *memory, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    return memory;
}

/* ---- Killed at random moments ---- */

static void *work(void *context)
{
    struct worker *worker = context;
    char folder[256];
    for (unsigned i = 0;; i++) {
        if (i % 16 == 0)
            check(worker,
                  tv_store_scratch_make(worker->store, folder, sizeof folder, NULL) == TV_STORE_OK,
                  "scratch");
        do_something(worker);
        __atomic_fetch_add(&worker->memory->steps, 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

/* Work until killed. */
static void work_on(const struct place *place, struct memory *memory)
{
    static struct worker workers[WORKERS];
    struct tv_store_options options = {0};
    struct tv_store *store;
    struct tv_error err = {0};
    pthread_t thread;
    if (tv_store_open(place->folder, &options, &store, &err) != TV_OK) {
        fprintf(stderr, "# %s\n", err.message);
        _exit(2);
    }
    for (uint32_t i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){store, memory, i, false};
        if (i + 1 < WORKERS && pthread_create(&thread, NULL, work, &workers[i]) != 0)
            _exit(4);
    }
    work(&workers[WORKERS - 1]);
}

static void sleep_ns(uint32_t ns)
{
    struct timespec pause = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    nanosleep(&pause, NULL);
}

/* Wait until the child's threads have ended so many more operations, however long they take. */
static void wait_for_steps(pid_t child, struct memory *memory, uint32_t steps)
{
    uint64_t until = __atomic_load_n(&memory->steps, __ATOMIC_SEQ_CST) + steps;
    while (__atomic_load_n(&memory->steps, __ATOMIC_SEQ_CST) < until) {
        siginfo_t ended = {0};
        assert_int_equal(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT), 0);
        assert_int_equal(ended.si_pid, 0);
        sleep_ns(200000);
    }
}

/* Wait for a random moment while the child works. Return how many nanoseconds it took to start. */
static uint64_t wait_for_work(pid_t child, struct memory *memory, struct memory *moments)
{
    uint64_t begun = tv_monotonic_ns();
    wait_for_steps(child, memory, 1);
    uint64_t started = tv_monotonic_ns();
    wait_for_steps(child, memory, next_random(moments, 0) % 32);
    sleep_ns(next_random(moments, 0) % 1000000);
    return started - begun;
}

#ifdef SANITIZED
#define ROUNDS 50
#else
#define ROUNDS 150
#endif

static void killed_at_random(void **state)
{
    (void)state;
    struct place place = {0};
    struct memory *memory = share_memory(), moments = {.random = {20261121}};
    uint64_t start_ns = 3000000; /* time that a child takes to start; measured again and again */
    place_open(&place);
    tv_store_close(place.store);
    place.store = NULL;
    for (unsigned round = 0; round < ROUNDS; round++) {
        int how;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            work_on(&place, memory);
        /* mostly while it works, sometimes while it starts */
        if (round % 4 == 0)
            sleep_ns((uint32_t)(next_random(&moments, 0) % start_ns));
        else
            start_ns = wait_for_work(child, memory, &moments);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFSIGNALED(how));
        /* now and then the next worker does the recovery */
        if (round % 3 != 0)
            check_store(&place, memory);
    }
    check_store(&place, memory);
    print_message("# %llu operations, %llu traces made\n", (unsigned long long)memory->steps,
                  (unsigned long long)memory->done);
    assert_true(memory->done > ROUNDS / 8);
    munmap(memory, sizeof *memory);
    place_remove(&place);
}

/* ---- Killed, or refused, at each system call ---- */

#ifdef SANITIZED
#define CALLS_APART 7
#else
#define CALLS_APART 1
#endif

/* Return true when the totals match the files. */
static bool counts_are_right(const struct place *place, struct tv_store *store)
{
    struct tv_store_totals totals = tv_store_totals(store);
    return totals.upload_bytes == place_bytes(place, "uploads") &&
           totals.trace_bytes == place_bytes(place, "traces") &&
           totals.cache_bytes == place_bytes(place, "cache") &&
           totals.uploads == place_count(place, "uploads");
}

/* Run a fixed sequence of all operations, and record the results. False: the store's totals are
 * wrong. */
static bool play(const struct place *place, struct memory *memory)
{
    struct tv_store_options options = {0};
    struct worker worker = {.memory = memory, .faulty = true};
    if (tv_store_open(place->folder, &options, &worker.store, NULL) != TV_OK)
        return true;
    for (unsigned i = 0; i < 14; i++)
        do_something(&worker);
    bool right = counts_are_right(place, worker.store);
    tv_store_close(worker.store);
    return right;
}

/* Play with a fault at one call. Return true when that call was reached. */
static bool play_with(enum fault fault, long at)
{
    struct place place = {0};
    struct memory *memory = share_memory();
    int how;
    memory->random[0] = 77;
    place_open(&place);
    tv_store_close(place.store);
    place.store = NULL;
    assert_true(play(&place, memory)); /* something to begin with */
    memory->random[0] = (uint32_t)at;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        faults_arm(fault, at);
        bool right = play(&place, memory);
        /* the next start finds a file that the disk refused to remove */
        if (!right && fault == FAULT_FULL)
            _exit(2);
        _exit(faults_happened() ? 1 : 0);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    check_store(&place, memory);
    bool reached = WIFSIGNALED(how) || WEXITSTATUS(how) == 1;
    assert_false(WIFEXITED(how) && WEXITSTATUS(how) > 1);
    munmap(memory, sizeof *memory);
    place_remove(&place);
    return reached;
}

static void play_all(enum fault fault)
{
    long at = 0;
    while (play_with(fault, at))
        at += CALLS_APART;
    assert_true(at > 20);
    print_message("# %ld calls\n", at);
}

static void killed_at_each_call(void **state)
{
    (void)state;
    play_all(FAULT_KILL);
    play_all(FAULT_HALF_KILL);
}

static void refused_at_each_call(void **state)
{
    (void)state;
    play_all(FAULT_REFUSE);
    play_all(FAULT_FULL);
}

/* A finish that the disk refused can be repeated without a restart. */
static void finishes_again(void **state)
{
    (void)state;
    long at = 0;
    bool refused = true;
    for (; refused; at++) {
        struct place place = {0};
        struct tv_store_id trace;
        uint64_t held;
        place_open(&place);
        struct tv_store_id uid = begin_upload(place.store, "x", 5000);
        assert_int_equal(put_piece(place.store, uid.text, 6, 0, 5000, &held), TV_STORE_OK);
        faults_arm(FAULT_REFUSE, at);
        (void)!tv_store_upload_finish(place.store, uid.text, &trace, NULL);
        refused = faults_happened();
        faults_arm(FAULT_NONE, 0);
        assert_int_equal(tv_store_upload_finish(place.store, uid.text, &trace, NULL), TV_STORE_OK);
        assert_true(trace_is_whole(place.store, trace.text, 6, 5000));
        assert_true(counts_are_right(&place, place.store));
        place_remove(&place);
    }
    assert_true(at > 4);
}

UNIT_TESTS(crash, cmocka_unit_test(killed_at_random), cmocka_unit_test(killed_at_each_call),
           cmocka_unit_test(refused_at_each_call), cmocka_unit_test(finishes_again));
