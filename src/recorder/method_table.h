/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method_table.h - methods by number, method numbers of addresses, and the files that addresses
 * belong to.  The caller locks.
 *
 *     address + time --(module history)--> key --(address table)--> number --(method table)--> line
 */
#ifndef TV_RECORDER_METHOD_TABLE_H
#define TV_RECORDER_METHOD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/recording.h"

#define TV_METHODS_LIMIT (UINT32_C(1) << 29)
#define TV_METHOD_LINE 4096u /* the longest line */

struct tv_output_file;

struct tv_method_table {
    char *text; /* the lines of the *methods section, one after the other, without line ends */
    size_t used, size;
    size_t *ends;
    uint32_t count, room;
    uint32_t *index; /* open addressing; method numbers from 1; 0: free */
    uint32_t indexed, index_room;
    struct tv_output_file *names; /* NULL, or where each line is written as well, as "M\tLINE\n" */
};

/* Add a method; return its number, from 1 on.  0: no memory, or no more numbers. */
uint32_t tv_method_table_add(struct tv_method_table *list,
                             const struct tv_recording_method *method);

/* Return the number of a method with the same texts that was added here, or of a new one. */
uint32_t tv_method_table_find_or_add(struct tv_method_table *list,
                                     const struct tv_recording_method *method);

/* Add a finished line. */
uint32_t tv_method_table_add_line(struct tv_method_table *list, const char *line, size_t length);
void tv_method_table_release(struct tv_method_table *list);

/* Return the line of a method, which is `*length` bytes and not terminated.  Valid until the
 * next method is added. */
const char *tv_method_table_line(const struct tv_method_table *list, uint32_t number,
                                 size_t *length);

/* Write all lines to the names file. */
void tv_method_table_write_names(const struct tv_method_table *list);

/* Return the key of an address at a time (tv_module_history_key).  TV_MODULE_TIME_NONE: no time. */
typedef uint64_t (*tv_address_key)(uint64_t address, uint64_t ticks);

/* Fill in the texts of the method at an address or key.  They may point into `room`. */
typedef void (*tv_address_namer)(uint64_t address, struct tv_recording_method *method, char *room,
                                 size_t size);

struct tv_address_table {
    uint64_t *addresses; /* open addressing; 0: free */
    uint32_t *numbers;
    uint32_t count, room; /* a power of two */
};

/* Return the method of an address, which is named and added when it is new.  0: no memory. */
uint32_t tv_address_table_find_or_add(struct tv_address_table *list,
                                      struct tv_method_table *methods, tv_address_namer namer,
                                      uint64_t address);
/* Give an address a known number; false: no memory. */
bool tv_address_table_set(struct tv_address_table *list, uint64_t address, uint32_t number);

/* Write all to the methods' names file, as "A\tADDRESS\tNUMBER\n" each. */
void tv_address_table_write_names(const struct tv_address_table *list,
                                  const struct tv_method_table *methods);
void tv_address_table_release(struct tv_address_table *list);

/*
 * The module history: the files that were loaded, with the addresses and the time that each was
 * there.
 *
 * dlclose frees addresses and dlopen reuses them, so the meaning of an address depends on when it
 * was recorded.  A key is an address together with the number of its file, in one word:
 *
 *     bits 63..48: number of the file, 0: unknown      bits 47..0: address
 */

#define TV_MODULE_SPANS_MAX 4096u
#define TV_MODULE_PATH 512u

struct tv_recording_method;

/* Times are readings of tv_clock_read. */
#define TV_MODULE_TIME_NOW UINT64_MAX
#define TV_MODULE_TIME_NONE UINT64_C(0)

struct tv_module_span {
    uint64_t start, end; /* of its code */
    uint64_t bias;       /* address here minus address in the file */
    uint64_t dynamic;    /* address of its dynamic section while it is loaded; 0: unknown */
    uint64_t from, to;   /* loaded after `from`, until `to`; TV_MODULE_TIME_NOW: still loaded */
    uint32_t offered;    /* the filter's round (triggers.h) for which its functions were offered */
    bool seen;           /* for the scan that finds what is gone */
    char path[TV_MODULE_PATH];
};

struct tv_module_history {
    struct tv_module_span *list; /* TV_MODULE_SPANS_MAX; NULL: none yet */
    uint32_t count;
    uint32_t recent; /* number that was found last; calls tend to stay in a file */
};

/* Add a file.  One with the same addresses, start time and path is updated.  False: no memory,
 * or too many. */
bool tv_module_history_add(struct tv_module_history *history, const struct tv_module_span *span);
void tv_module_history_release(struct tv_module_history *history);

/* Return the number, from 1 on, of the file that was at the address at that time; 0: unknown.
 * TV_MODULE_TIME_NONE: the only file that ever was there, or 0 when there were several. */
uint32_t tv_module_history_find(struct tv_module_history *history, uint64_t address,
                                uint64_t ticks);

/* Return the key of an address; the address itself when its file is unknown or it has more than
 * 48 bits. */
uint64_t tv_module_history_key(struct tv_module_history *history, uint64_t address, uint64_t ticks);

/* Return the file of a key, or NULL. */
const struct tv_module_span *tv_module_history_span(const struct tv_module_history *history,
                                                    uint64_t key);
uint64_t tv_module_key_address(uint64_t key);

/* Fill in the texts of a key: the file's name as the class, its path as the source file, and the
 * address within the file as the name, in `room`.  An unknown file gives the address alone. */
void tv_module_history_name(const struct tv_module_history *history, uint64_t key,
                            struct tv_recording_method *method, char *room, size_t size);

#endif
