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

#define TV_HOMES_MOST 4096u
#define TV_HOME_PATH 512u

struct tv_recording_method;

/* Ticks are those of tv_clock_read. */
#define TV_HOMES_NOW UINT64_MAX
#define TV_HOMES_NO_TIME UINT64_C(0)

struct tv_home {
    uint64_t start, end; /* where its code lies */
    uint64_t bias;       /* that minus the address in the file */
    uint64_t dynamic;    /* where its dynamic section lies while it is loaded, 0: unknown */
    uint64_t from, to;   /* it is there after `from`, until `to`; TV_HOMES_NOW: still */
    uint32_t offered;    /* the round (chosen.h) for which its functions were offered */
    bool seen;           /* for who looks which are still there */
    char path[TV_HOME_PATH];
};

struct tv_homes {
    struct tv_home *list; /* NULL: none yet */
    uint32_t count;
    uint32_t recent; /* the number that was found last: calls stay in a file for a while */
};

/* Adds one; if it is known by place, begin and path, only its end is new.  False: no memory, or too
 * many. */
bool tv_homes_add(struct tv_homes *homes, const struct tv_home *home);
void tv_homes_free(struct tv_homes *homes);

/* The number of the file, from 1 on, that lay at the address then; 0: none is known.  Without a
 * time it is the only one that ever lay there, 0 when there were others. */
uint32_t tv_homes_find(struct tv_homes *homes, uint64_t address, uint64_t ticks);

/* The address with that number; the address alone when it is unknown or has more than 48 bits. */
uint64_t tv_homes_key(struct tv_homes *homes, uint64_t address, uint64_t ticks);

/* The file of a key, NULL: unknown. */
const struct tv_home *tv_homes_of(const struct tv_homes *homes, uint64_t key);
uint64_t tv_homes_address(uint64_t key);

/* The texts of a key, of which the name comes into `room`: the file's name as the class, its path
 * as the source file, the address within the file as the name.  Of an unknown file the address
 * alone. */
void tv_homes_name(const struct tv_homes *homes, uint64_t key, struct tv_recording_method *method,
                   char *room, size_t size);

#endif
