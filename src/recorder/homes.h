/* SPDX-License-Identifier: Apache-2.0 */
/*
 * homes.h - the files that code lay in, each with the addresses and the time that it lay there.
 *
 * dlclose gives addresses back and dlopen takes them again: what an address means depends on when
 * it was recorded.  A key is an address and the number of its file in one word.  The caller locks.
 */
#ifndef TV_RECORDER_HOMES_H
#define TV_RECORDER_HOMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TV_MODULE_SPANS_MAX 4096u
#define TV_MODULE_PATH 512u

struct tv_recording_method;

/* Ticks are those of tv_clock_read. */
#define TV_MODULE_TIME_NOW UINT64_MAX
#define TV_MODULE_TIME_NONE UINT64_C(0)

struct tv_module_span {
    uint64_t start, end; /* where its code lies */
    uint64_t bias;       /* that minus the address in the file */
    uint64_t dynamic;    /* where its dynamic section lies while it is loaded, 0: unknown */
    uint64_t from, to;   /* it is there after `from`, until `to`; TV_MODULE_TIME_NOW: still */
    uint32_t offered;    /* the round (chosen.h) for which its functions were offered */
    bool seen;           /* for who looks which are still there */
    char path[TV_MODULE_PATH];
};

struct tv_module_history {
    struct tv_module_span *list; /* NULL: none yet */
    uint32_t count;
    uint32_t recent; /* the number that was found last: calls stay in a file for a while */
};

/* Adds one; if it is known by place, begin and path, only its end is new.  False: no memory, or too
 * many. */
bool tv_module_history_add(struct tv_module_history *homes, const struct tv_module_span *home);
void tv_module_history_release(struct tv_module_history *homes);

/* The number of the file, from 1 on, that lay at the address then; 0: none is known.  Without a
 * time it is the only one that ever lay there, 0 when there were others. */
uint32_t tv_module_history_find(struct tv_module_history *homes, uint64_t address, uint64_t ticks);

/* The address with that number; the address alone when it is unknown or has more than 48 bits. */
uint64_t tv_module_history_key(struct tv_module_history *homes, uint64_t address, uint64_t ticks);

/* The file of a key, NULL: unknown. */
const struct tv_module_span *tv_module_history_span(const struct tv_module_history *homes, uint64_t key);
uint64_t tv_module_key_address(uint64_t key);

/* The texts of a key, of which the name comes into `room`: the file's name as the class, its path
 * as the source file, the address within the file as the name.  Of an unknown file the address
 * alone. */
void tv_module_history_name(const struct tv_module_history *homes, uint64_t key, struct tv_recording_method *method,
                   char *room, size_t size);

#endif
