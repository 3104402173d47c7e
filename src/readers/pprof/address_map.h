/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_map.h - the programs and libraries that lay at the addresses of a profile, and frames for
 * addresses without a function.
 *
 * Profiles of native programs list where each file was mapped, as /proc/PID/maps does.  An address
 * becomes a function when the user gives the program (--symbols) or this machine has the one with
 * that build ID, else "libc.so.6+0x271f4": the name of the file and the offset in it, which is what
 * addr2line wants.
 */
#ifndef TV_READERS_PPROF_ADDRESS_MAP_H
#define TV_READERS_PPROF_ADDRESS_MAP_H

#include "readers/profile_input.h"

struct tv_mapped_file {
    uint64_t start, limit;    /* addresses [start, limit) */
    uint64_t offset;          /* in the file, of the byte at `start` */
    struct tv_bytes name;     /* path; empty: unknown */
    struct tv_bytes build_id; /* hexadecimal digits, or another text */
};

struct tv_address_map {
    struct tv_mapped_file *files; /* sorted when tv_address_map_find is used */
    size_t count, capacity;
};

/* Append a mapping.  Its texts must outlive the map. */
void tv_address_map_add(struct tv_address_map *map, const struct tv_mapped_file *file);

/* Append the executable mappings that lines of /proc/PID/maps list, or lines of the short form
 * "400000-4c3000: name".  Return whether the line was either, executable or not. */
bool tv_address_map_add_line(struct tv_address_map *map, struct tv_bytes line);

/* Sort the mappings by address, so that they can be found. */
void tv_address_map_sort(struct tv_address_map *map);

/* Return the mapping that contains an address, or NULL. */
const struct tv_mapped_file *tv_address_map_find(const struct tv_address_map *map,
                                                 uint64_t address);

/* Add the mappings to the metadata of the input. */
void tv_address_map_list(const struct tv_address_map *map, struct tv_profile_input *profile);

void tv_address_map_release(struct tv_address_map *map);

/* A function at an address, and the line there. */
struct tv_address_frame {
    uint32_t frame;
    int32_t line; /* 0: unknown */
};

/* Store the frames of an address in a mapping (NULL: none), at most TV_ADDRESS_PLACES; return their
 * number, at least 1.  The last one is the function, the ones before were inlined there, the
 * innermost first. */
size_t tv_address_frames(struct tv_profile_input *profile, const struct tv_mapped_file *file,
                         uint64_t address, struct tv_address_frame *frames);

#endif
