/* SPDX-License-Identifier: Apache-2.0 */
/*
 * triggers.c - the table of chosen methods, and the end of a recording by a slow call.
 *
 * Matching a name against patterns is far too slow for every event.  So a method is matched once,
 * at its first call, and the answer is kept under the call's word:
 *
 *     entry:  | method number or address ... | flags |      flags in the 2 bits of the action
 *                                                           0 as a whole: a free slot
 *
 * tv_method_filter_lookup reads without a lock.  An entry is one atomic word, so key and answer
 * appear together, and only the holder of the recorder's lock writes.  A full table is copied into
 * one twice as large, and stays until the recording has ended: a thread that still reads the old
 * table at worst misses an entry and looks again with the lock held.  All tables together are at
 * most twice the last one.
 *
 * A word with the answer "not chosen" is stored as well, with no flag set.  It differs from a free
 * slot, because method numbers begin at 1 and addresses carry TV_WORD_ADDRESS.
 */
#include "recorder/triggers.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "recorder/memory.h"
#include "recorder/state.h"
#include "recorder/text.h"

#define FILTER_FIRST_ROOM ((size_t)4096)
#define FILTER_NAME_SIZE 2048

/* A hash table with open addressing: an entry is a call's word, with the answer in the two bits
 * of its action; 0: free.  A larger table replaces a full one, which stays for threads that are
 * reading it. */
struct filter_table {
    size_t room, used; /* `room` is a power of two */
    struct filter_table *before;
    _Atomic uint64_t entries[];
};

/* One recording at a time, so one filter.  Only `table` is read without the recorder's lock. */
static struct {
    const char *trigger, *timed; /* patterns, one a line; NULL: none; the caller's */
    uint64_t sought;             /* an address whose name goes to `name`; 0: none */
    char *name;
    size_t name_size;
    uint32_t round; /* see tv_method_filter_round */
    _Atomic(struct filter_table *) table;
} filter;

static size_t filter_table_size(size_t room)
{
    return sizeof(struct filter_table) + room * sizeof(uint64_t);
}

/* Return the slot of the word, or the free slot for it. */
static _Atomic uint64_t *filter_entry_find(struct filter_table *table, uint64_t word)
{
    assert((word & TV_MT_ACTION_MASK) == 0 && (table->room & (table->room - 1)) == 0);
    size_t at = (size_t)((word >> 2) * UINT64_C(0x9E3779B97F4A7C15) >> 20);
    for (;; at++) {
        _Atomic uint64_t *entry = &table->entries[at & (table->room - 1)];
        uint64_t there = atomic_load_explicit(entry, memory_order_acquire);
        if (there == 0 || (there & ~(uint64_t)TV_MT_ACTION_MASK) == word)
            return entry;
    }
}

/* The lock is held, here and below.  NULL: no memory. */
static struct filter_table *filter_table_grow(struct filter_table *old)
{
    size_t room = old ? 2 * old->room : FILTER_FIRST_ROOM;
    struct filter_table *table = tv_mmap_alloc(filter_table_size(room));
    if (!table)
        return NULL;
    table->room = room;
    table->before = old;
    for (size_t i = 0; old && i < old->room; i++) {
        uint64_t entry = atomic_load(&old->entries[i]);
        if (entry != 0)
            atomic_store(filter_entry_find(table, entry & ~(uint64_t)TV_MT_ACTION_MASK), entry);
    }
    table->used = old ? old->used : 0;
    atomic_store(&filter.table, table);
    return table;
}

/* Add flags to the answer for a word.  One function can be offered under several names (aliases),
 * so flags are only ever added.  Without memory the word has no entry, and is matched again at its
 * next call. */
static void filter_entry_set(uint64_t word, unsigned flags)
{
    struct filter_table *table = atomic_load(&filter.table);
    if (!table || table->used * 2 >= table->room)
        table = filter_table_grow(table);
    if (!table)
        return;
    _Atomic uint64_t *entry = filter_entry_find(table, word);
    uint64_t there = atomic_load(entry);
    table->used += there == 0;
    atomic_store(entry, (there ? there : word) | flags);
}

static unsigned filter_match_patterns(const char *patterns, const char *name, unsigned flag)
{
    return patterns && tv_wildcard_matches_any(patterns, '\n', name) ? flag : 0;
}

static unsigned filter_match_name(const char *name)
{
    return filter_match_patterns(filter.trigger, name, TV_FILTER_TRIGGER) |
           filter_match_patterns(filter.timed, name, TV_FILTER_TIMED);
}

/* Write "Class.method"; return where the method's name begins in it. */
static size_t filter_name_method(uint32_t number, char *name, size_t size)
{
    size_t length;
    const char *line = tv_method_table_line(&tv_recorder.methods, number, &length);
    const char *tab = memchr(line, '\t', length);
    size_t class = tab ? (size_t)(tab - line) : 0;
    name[0] = '\0';
    if (!tab || class + 2 > size)
        return 0;
    const char *end = memchr(tab + 1, '\t', length - class - 1);
    size_t method = end ? (size_t)(end - tab - 1) : length - class - 1;
    snprintf(name, size, "%.*s.%.*s", (int)class, line, (int)method, tab + 1);
    return class + 1;
}

/* Match the whole name, and the method's name alone. */
static unsigned filter_match_method(uint32_t number)
{
    char name[FILTER_NAME_SIZE];
    size_t class = filter_name_method(number, name, sizeof name);
    return filter_match_name(name) | filter_match_name(name + class);
}

void tv_method_filter_offer(uint64_t address, const char *name)
{
    unsigned flags = filter_match_name(name);
    if (address == filter.sought && filter.sought != 0)
        snprintf(filter.name, filter.name_size, "%s", name);
    if (flags != 0)
        filter_entry_set(TV_WORD_ADDRESS | address << 2, flags);
}

/* Match a method that has no entry yet.  A native function is matched by the host, which offers all
 * functions of its file (tv_method_filter_offer); if none of their names matches, the entry that
 * is set last says so. */
static void filter_match_word(uint64_t word)
{
    uint64_t number = (word & ~TV_WORD_ADDRESS) >> 2;
    unsigned flags = 0;
    if (!(word & TV_WORD_ADDRESS) && number > 0 && number <= tv_recorder.methods.count)
        flags = filter_match_method((uint32_t)number);
    else if ((word & TV_WORD_ADDRESS) && tv_recorder.host.find_functions)
        tv_recorder.host.find_functions(number);
    filter_entry_set(word, flags);
}

static uint64_t filter_entry_load(uint64_t word)
{
    struct filter_table *table = atomic_load_explicit(&filter.table, memory_order_acquire);
    return table ? atomic_load_explicit(filter_entry_find(table, word), memory_order_acquire) : 0;
}

/* tv_recorder_inside: the event comes from the recorder's own work in this thread, which may hold
 * the lock. */
unsigned tv_method_filter_lookup(uint64_t word)
{
    sigset_t before;
    uint64_t found = filter_entry_load(word);
    if (found != 0 || tv_recorder_inside)
        return (unsigned)(found & TV_MT_ACTION_MASK);
    tv_recorder_inside++;
    tv_recorder_lock(&before);
    filter_match_word(word);
    found = filter_entry_load(word);
    tv_recorder_unlock(&before);
    tv_recorder_inside--;
    return (unsigned)(found & TV_MT_ACTION_MASK);
}

static void filter_name_clean(char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name < ' ')
            *name = ' ';
}

/* A file's functions are offered once a round, so begin another round. */
static void filter_name_function(uint64_t address, char *name, size_t size)
{
    snprintf(name, size, "0x%llx", (unsigned long long)address);
    if (!tv_recorder.host.find_functions)
        return;
    filter.sought = address;
    filter.name = name;
    filter.name_size = size;
    filter.round++;
    tv_recorder.host.find_functions(address);
    filter.sought = 0;
}

void tv_method_filter_name(uint64_t word, char *name, size_t size)
{
    uint64_t number = (word & ~TV_WORD_ADDRESS) >> 2;
    if (word & TV_WORD_ADDRESS)
        filter_name_function(number, name, size);
    else
        (void)filter_name_method((uint32_t)number, name, size);
    filter_name_clean(name);
}

void tv_method_filter_begin(const char *trigger, const char *timed)
{
    tv_method_filter_end();
    filter.trigger = trigger;
    filter.timed = timed;
    filter.round++;
}

uint32_t tv_method_filter_round(void)
{
    return filter.round;
}

void tv_method_filter_end(void)
{
    struct filter_table *table = atomic_exchange(&filter.table, NULL);
    while (table) {
        struct filter_table *before = table->before;
        tv_mmap_free(table, filter_table_size(table->room));
        table = before;
    }
}

void tv_method_filter_reset(void)
{
    struct filter_table *table = atomic_load(&filter.table);
    for (size_t i = 0; table && i < table->room; i++)
        atomic_store(&table->entries[i], 0);
    if (table)
        table->used = 0;
    filter.round++;
}

/* ---- The slow-call trigger ---- */

#define SLOW_CALLS_FIRST 64u
#define NS_PER_MS 1e6

/* States of tv_slow_trigger.state, passed in this order.  One thread wins the change to FILLING and
 * writes the other members; tv_slow_call_report reads them from FILLED on, and prints them once
 * because only one caller wins the change to REPORTED. */
enum { SLOW_NONE, SLOW_FILLING, SLOW_FILLED, SLOW_REPORTED };

static uint64_t slow_call_read_time(const struct tv_recorder_thread *self)
{
    return self->wall ? tv_clock_read(self->counter) : tv_recorder_cpu_ns(self);
}

/* A call without room is not timed. */
static bool slow_calls_reserve(struct tv_slow_calls *calls)
{
    uint32_t room = calls->room ? 2 * calls->room : SLOW_CALLS_FIRST;
    if (calls->count < calls->room)
        return true;
    struct tv_slow_call *list =
        tv_mmap_grow(calls->list, calls->room * sizeof *list, room * sizeof *list);
    if (!list)
        return false;
    calls->list = list;
    calls->room = room;
    return true;
}

void tv_slow_call_enter(struct tv_recorder_thread *self, uint64_t word, uint32_t open)
{
    assert(open > 0);
    struct tv_slow_calls *calls = &self->slow;
    if (slow_calls_reserve(calls))
        calls->list[calls->count++] = (struct tv_slow_call){word, slow_call_read_time(self), open};
}

/* The first call that comes here ends the recording. */
static void slow_call_end_recording(const struct tv_recorder_thread *self, uint64_t word,
                                    uint64_t ticks)
{
    struct tv_slow_trigger *end = &tv_recorder.slow_end;
    uint32_t nothing = SLOW_NONE;
    if (!atomic_compare_exchange_strong(&end->state, &nothing, SLOW_FILLING))
        return;
    end->word = word;
    end->ticks = ticks;
    end->thread = self->id;
    (void)tv_recorder_end_events();
    atomic_store(&end->state, SLOW_FILLED);
    tv_watcher_notify_slow_call();
}

/* An exception may leave several calls at once, so every timed call above `open` ends here. */
void tv_slow_call_leave(struct tv_recorder_thread *self, uint32_t open)
{
    struct tv_slow_calls *calls = &self->slow;
    while (calls->count > 0 && calls->list[calls->count - 1].open > open) {
        const struct tv_slow_call *call = &calls->list[--calls->count];
        uint64_t now = slow_call_read_time(self);
        if (now > call->start && now - call->start >= tv_recorder.slow_limit)
            slow_call_end_recording(self, call->word, now - call->start);
    }
}

/* Ticks of the CPU's counter are scaled by the rate between the recording's start and now; every
 * other clock already counts nanoseconds. */
static uint64_t slow_call_to_ns(const struct tv_buffer_header *head, uint64_t ticks)
{
    bool counts = head->counter && head->clock != TV_RECORDING_CPU;
    struct tv_clock_pair now = tv_clock_read_pair(head->counter);
    struct tv_clock_scale scale = tv_clock_scale_between(head->counter, head->start, now);
    return counts ? (uint64_t)((double)ticks * scale.ns_per_tick) : ticks;
}

bool tv_slow_call_report(void)
{
    struct tv_slow_trigger *end = &tv_recorder.slow_end;
    char line[2 * TV_BUFFER_PATH];
    sigset_t before;
    uint32_t filled = SLOW_FILLED;
    if (!atomic_compare_exchange_strong(&end->state, &filled, SLOW_REPORTED))
        return false;
    tv_recorder_lock(&before);
    struct tv_buffer_header *head = tv_recorder.buffer.head;
    if (head) {
        tv_method_filter_name(end->word, head->slow_call, sizeof head->slow_call);
        head->slow_ns = slow_call_to_ns(head, end->ticks);
        head->slow_thread = end->thread;
        const char *thread = end->thread ? tv_recorder.buffer.threads[end->thread - 1].name : "";
        snprintf(line, sizeof line,
                 "traceview: %s: %s took %.3f ms in thread \"%s\": the recording has ended, and "
                 "is written\n",
                 tv_recorder.texts.path, head->slow_call, (double)head->slow_ns / NS_PER_MS,
                 thread);
    }
    tv_recorder_unlock(&before);
    if (head)
        tv_recorder_print_line(line);
    return head != NULL;
}
