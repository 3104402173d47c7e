/* SPDX-License-Identifier: Apache-2.0 */
/* chosen.c - see chosen.h. */
#include "recorder/chosen.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "recorder/pages.h"
#include "recorder/state.h"
#include "recorder/texts.h"

#define FIRST_ROOM ((size_t)4096)
#define NAME 2048

/* Open addressing: an entry's word with the answer in the two bits of its action, 0: free.  A
 * larger table takes the place of a full one, which stays for those who are reading it. */
struct table {
    size_t room, used; /* room is a power of two */
    struct table *before;
    _Atomic uint64_t entries[];
};

static struct {
    const char *trigger, *timed;
    uint64_t sought; /* an address whose name goes to `name`; 0: none */
    char *name;
    size_t name_size;
    uint32_t round;
    _Atomic(struct table *) table;
} chosen;

static size_t size_of(size_t room)
{
    return sizeof(struct table) + room * sizeof(uint64_t);
}

/* The word's place, or the free one for it. */
static _Atomic uint64_t *find(struct table *table, uint64_t word)
{
    size_t at = (size_t)((word >> 2) * UINT64_C(0x9E3779B97F4A7C15) >> 20);
    for (;; at++) {
        _Atomic uint64_t *entry = &table->entries[at & (table->room - 1)];
        uint64_t there = atomic_load_explicit(entry, memory_order_acquire);
        if (there == 0 || (there & ~(uint64_t)TV_MT_ACTION_MASK) == word)
            return entry;
    }
}

/* The lock is held, here and below.  NULL: there is no memory. */
static struct table *widen(struct table *old)
{
    size_t room = old ? 2 * old->room : FIRST_ROOM;
    struct table *table = tv_mmap_alloc(size_of(room));
    if (!table)
        return NULL;
    table->room = room;
    table->before = old;
    for (size_t i = 0; old && i < old->room; i++) {
        uint64_t entry = atomic_load(&old->entries[i]);
        if (entry != 0)
            atomic_store(find(table, entry & ~(uint64_t)TV_MT_ACTION_MASK), entry);
    }
    table->used = old ? old->used : 0;
    atomic_store(&chosen.table, table);
    return table;
}

static void keep(uint64_t word, unsigned flags)
{
    struct table *table = atomic_load(&chosen.table);
    if (!table || table->used * 2 >= table->room)
        table = widen(table);
    if (!table)
        return;
    _Atomic uint64_t *entry = find(table, word);
    uint64_t there = atomic_load(entry);
    table->used += there == 0;
    atomic_store(entry, (there ? there : word) | flags);
}

static unsigned match_one(const char *patterns, const char *name, unsigned flag)
{
    return patterns && tv_wildcard_matches_any(patterns, '\n', name) ? flag : 0;
}

static unsigned match(const char *name)
{
    return match_one(chosen.trigger, name, TV_FILTER_TRIGGER) |
           match_one(chosen.timed, name, TV_FILTER_TIMED);
}

/* "Class.method"; returns where the method's name begins in it. */
static size_t name_method(uint32_t number, char *name, size_t size)
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

/* By the whole name, and by the method's alone. */
static unsigned match_method(uint32_t number)
{
    char name[NAME];
    size_t class = name_method(number, name, sizeof name);
    return match(name) | match(name + class);
}

void tv_method_filter_offer(uint64_t address, const char *name)
{
    unsigned flags = match(name);
    if (address == chosen.sought && chosen.sought != 0)
        snprintf(chosen.name, chosen.name_size, "%s", name);
    if (flags != 0)
        keep(TV_WORD_ADDRESS | address << 2, flags);
}

static void learn(uint64_t word)
{
    uint64_t number = (word & ~TV_WORD_ADDRESS) >> 2;
    unsigned flags = 0;
    if (!(word & TV_WORD_ADDRESS) && number > 0 && number <= tv_recorder.methods.count)
        flags = match_method((uint32_t)number);
    else if ((word & TV_WORD_ADDRESS) && tv_recorder.find_functions)
        tv_recorder.find_functions(number);
    keep(word, flags);
}

static uint64_t look(uint64_t word)
{
    struct table *table = atomic_load_explicit(&chosen.table, memory_order_acquire);
    return table ? atomic_load_explicit(find(table, word), memory_order_acquire) : 0;
}

unsigned tv_method_filter_lookup(uint64_t word)
{
    sigset_t before;
    uint64_t found = look(word);
    if (found != 0 || tv_recorder_inside)
        return (unsigned)(found & TV_MT_ACTION_MASK);
    tv_recorder_inside++;
    tv_recorder_lock(&before);
    learn(word);
    found = look(word);
    tv_recorder_unlock(&before);
    tv_recorder_inside--;
    return (unsigned)(found & TV_MT_ACTION_MASK);
}

static void clean(char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name < ' ')
            *name = ' ';
}

/* Functions of a file are offered once a round, so here begins another. */
static void name_function(uint64_t address, char *name, size_t size)
{
    snprintf(name, size, "0x%llx", (unsigned long long)address);
    if (!tv_recorder.find_functions)
        return;
    chosen.sought = address;
    chosen.name = name;
    chosen.name_size = size;
    chosen.round++;
    tv_recorder.find_functions(address);
    chosen.sought = 0;
}

void tv_method_filter_name(uint64_t word, char *name, size_t size)
{
    uint64_t number = (word & ~TV_WORD_ADDRESS) >> 2;
    if (word & TV_WORD_ADDRESS)
        name_function(number, name, size);
    else
        (void)name_method((uint32_t)number, name, size);
    clean(name);
}

void tv_method_filter_begin(const char *trigger, const char *timed)
{
    tv_method_filter_end();
    chosen.trigger = trigger;
    chosen.timed = timed;
    chosen.round++;
}

uint32_t tv_method_filter_round(void)
{
    return chosen.round;
}

void tv_method_filter_end(void)
{
    struct table *table = atomic_exchange(&chosen.table, NULL);
    while (table) {
        struct table *before = table->before;
        tv_mmap_free(table, size_of(table->room));
        table = before;
    }
}

void tv_method_filter_reset(void)
{
    struct table *table = atomic_load(&chosen.table);
    for (size_t i = 0; table && i < table->room; i++)
        atomic_store(&table->entries[i], 0);
    if (table)
        table->used = 0;
    chosen.round++;
}
