/* SPDX-License-Identifier: Apache-2.0 */
/*
 * methods.h - the methods by number, as lines of the trace's *methods section, and the numbers of
 * the addresses that native code is recorded by.  The caller locks.
 */
#ifndef TV_RECORDER_METHODS_H
#define TV_RECORDER_METHODS_H

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
uint32_t tv_method_table_add(struct tv_method_table *list, const struct tv_recording_method *method);

/* The number of one that was added here and has the same texts, or of a new one. */
uint32_t tv_method_table_find_or_add(struct tv_method_table *list,
                                    const struct tv_recording_method *method);

/* Adds a line that is ready. */
uint32_t tv_method_table_add_line(struct tv_method_table *list, const char *line, size_t length);
void tv_method_table_release(struct tv_method_table *list);

/* Its line, which ends with *length and nothing else; good until the next is added. */
const char *tv_method_table_line(const struct tv_method_table *list, uint32_t number, size_t *length);

/* Writes all lines to the names file. */
void tv_method_table_write_names(const struct tv_method_table *list);

/* The key of an address at a time (homes.h), where 0 is no time. */
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
uint32_t tv_address_table_find_or_add(struct tv_address_table *list, struct tv_method_table *methods,
                                tv_address_namer namer, uint64_t address);
/* Gives the address a number that it had; false: no memory. */
bool tv_address_table_set(struct tv_address_table *list, uint64_t address, uint32_t number);

/* Writes all to the names file of the methods: "A\tADDRESS\tNUMBER\n" each. */
void tv_address_table_write_names(const struct tv_address_table *list,
                                 const struct tv_method_table *methods);
void tv_address_table_release(struct tv_address_table *list);

#endif
