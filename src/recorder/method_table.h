/* SPDX-License-Identifier: Apache-2.0 */
/*
 * methods.h - the methods by number, as lines of the trace's *methods section, and the numbers of
 * the addresses that native code is recorded by.  The caller locks.
 */
#ifndef TV_RECORDER_METHOD_TABLE_H
#define TV_RECORDER_METHOD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/recording.h"

#define TV_METHODS_LIMIT (UINT32_C(1) << 29)
#define TV_METHOD_LINE 4096u /* a line is no longer */

struct tv_output_file;

struct tv_method_table {
    char *text; /* lines one after the other, without line ends */
    size_t used, size;
    size_t *ends;
    uint32_t count, room;
    uint32_t *index; /* open addressing; numbers of find_or_add, 0: free */
    uint32_t indexed, index_room;
    struct tv_output_file *names; /* NULL, or where each line goes too, behind "M\t" */
};

/* 0: no memory, or no more numbers. */
uint32_t tv_method_table_add(struct tv_method_table *list,
                             const struct tv_recording_method *method);

/* The number of one that was added here and has the same texts, or of a new one. */
uint32_t tv_method_table_find_or_add(struct tv_method_table *list,
                                     const struct tv_recording_method *method);

/* Adds a line that is ready. */
uint32_t tv_method_table_add_line(struct tv_method_table *list, const char *line, size_t length);
void tv_method_table_release(struct tv_method_table *list);

/* Its line, which ends with *length and nothing else; good until the next is added. */
const char *tv_method_table_line(const struct tv_method_table *list, uint32_t number,
                                 size_t *length);

/* Writes all lines to the names file. */
void tv_method_table_write_names(const struct tv_method_table *list);

/* The key of an address at a time (history.h), where 0 is no time. */
typedef uint64_t (*tv_address_key)(uint64_t address, uint64_t ticks);

/* Fills the texts of the method at an address, or of what the key stands for; they may lie in
 * `room`. */
typedef void (*tv_address_namer)(uint64_t address, struct tv_recording_method *method, char *room,
                                 size_t size);

struct tv_address_table {
    uint64_t *addresses; /* open addressing, 0: free */
    uint32_t *numbers;
    uint32_t count, room; /* room is a power of two */
};

/* The address's method, added when it is seen the first time. 0: no memory. */
uint32_t tv_address_table_find_or_add(struct tv_address_table *list,
                                      struct tv_method_table *methods, tv_address_namer namer,
                                      uint64_t address);
/* Gives the address a number that it had; false: no memory. */
bool tv_address_table_set(struct tv_address_table *list, uint64_t address, uint32_t number);

/* Writes all to the names file of the methods: "A\tADDRESS\tNUMBER\n" each. */
void tv_address_table_write_names(const struct tv_address_table *list,
                                  const struct tv_method_table *methods);
void tv_address_table_release(struct tv_address_table *list);

/*
 * history.h - the files that code lay in, each with the addresses and the time that it lay there.
 *
 * dlclose gives addresses back and dlopen takes them again: what an address means depends on when
 * it was recorded.  A key is an address and the number of its file in one word.  The caller locks.
 */

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
bool tv_module_history_add(struct tv_module_history *history, const struct tv_module_span *span);
void tv_module_history_release(struct tv_module_history *history);

/* The number of the file, from 1 on, that lay at the address then; 0: none is known.  Without a
 * time it is the only one that ever lay there, 0 when there were others. */
uint32_t tv_module_history_find(struct tv_module_history *history, uint64_t address,
                                uint64_t ticks);

/* The address with that number; the address alone when it is unknown or has more than 48 bits. */
uint64_t tv_module_history_key(struct tv_module_history *history, uint64_t address, uint64_t ticks);

/* The file of a key, NULL: unknown. */
const struct tv_module_span *tv_module_history_span(const struct tv_module_history *history,
                                                    uint64_t key);
uint64_t tv_module_key_address(uint64_t key);

/* The texts of a key, of which the name comes into `room`: the file's name as the class, its path
 * as the source file, the address within the file as the name.  Of an unknown file the address
 * alone. */
void tv_module_history_name(const struct tv_module_history *history, uint64_t key,
                            struct tv_recording_method *method, char *room, size_t size);

#endif
