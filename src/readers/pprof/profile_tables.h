/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_tables.h - what pprof and OpenTelemetry profiles share: tables of strings, mappings,
 * functions and locations, and stacks of locations.
 *
 * A location is an address in a mapping, and the lines of functions there: the innermost inlined
 * function first.  It becomes frames once, when the first sample has it.  Stacks become paths by
 * steps: (step of the caller, location) -> (path, path with lines).  So a location costs one
 * look-up a sample, however many functions were inlined there.
 *
 * Entries of pprof's tables begin with an id, which is any number of 64 bits.  OpenTelemetry refers
 * to entries by their index, where 0 means none; its fields count one less for that.
 *
 *     init --> add entries --> resolve --> steps of each sample --> release
 */
#ifndef TV_READERS_PPROF_PROFILE_TABLES_H
#define TV_READERS_PPROF_PROFILE_TABLES_H

#include "readers/pprof/address_map.h"
#include "readers/profile_input.h"

struct tv_profile_function {
    uint32_t name, file; /* strings of the trace */
    int32_t line;
    uint32_t frame, module; /* its frame, TV_NONE at first, and the module of that */
};

/* A location, and the frames that it stands for, once a sample has it. */
struct tv_profile_location {
    struct tv_bytes message;
    uint32_t first, count; /* in `lines`, from the caller to the innermost; count 0: not yet */
};

struct tv_profile_line {
    uint32_t frame;
    int32_t line;
};

/* The stack that ends with a location called from another step.  Step 0 is the root. */
struct tv_profile_step {
    uint32_t path, line_path;
    uint32_t depth;                    /* frames */
    uint32_t last_location, last_step; /* the callee that was looked up last; 0: none */
};

struct tv_profile_tables {
    struct tv_profile_input *profile; /* not owned */
    const uint8_t *file; /* offsets of diagnostics count from it; NULL: they have none */
    bool indexed;        /* entries are referred to by index, not by id */
    struct tv_bytes *strings;
    uint32_t *string_numbers; /* strings of the trace; TV_NONE: not added yet */
    struct tv_bytes *function_messages;
    struct tv_profile_function *functions;
    struct tv_profile_location *locations;
    struct tv_profile_line *lines;
    struct tv_profile_step *steps;
    size_t string_count, string_capacity, function_count, function_capacity;
    size_t location_count, location_capacity, line_count, line_capacity, step_count, step_capacity;
    struct tv_lookup function_ids, location_ids, mapping_ids; /* id -> number */
    struct tv_map step_places;      /* caller's step << 32 | location -> step */
    struct tv_address_map mappings; /* in the order of the file */
    uint32_t unknown_frame;
};

/* Begin empty tables of a file (or NULL), whose bytes must outlive them. */
void tv_profile_tables_init(struct tv_profile_tables *tables, struct tv_profile_input *profile,
                            const uint8_t *file, bool indexed);
void tv_profile_tables_release(struct tv_profile_tables *tables);

/* Append an entry of a table. */
void tv_profile_tables_add_string(struct tv_profile_tables *tables, struct tv_bytes text);
void tv_profile_tables_add_mapping(struct tv_profile_tables *tables, struct tv_bytes message);
void tv_profile_tables_add_location(struct tv_profile_tables *tables, struct tv_bytes message);
void tv_profile_tables_add_function(struct tv_profile_tables *tables, struct tv_bytes message);

/* Translate what refers to other entries, now that all of them are known. */
void tv_profile_tables_resolve(struct tv_profile_tables *tables);

/* Return a string of the file; it is empty, with a diagnostic, when there is none. */
struct tv_bytes tv_profile_tables_text(struct tv_profile_tables *tables, uint64_t index);

/* Return the number of a location: TV_NONE, with a diagnostic at `at`, when there is none. */
uint32_t tv_profile_tables_location(struct tv_profile_tables *tables, uint64_t id,
                                    const uint8_t *at);

/* Return the step of a location (TV_NONE: unknown) that was called from another step. */
uint32_t tv_profile_tables_step(struct tv_profile_tables *tables, uint32_t caller,
                                uint32_t location);

/* Collect the numbers of a small message: values[i] becomes field i, a nested message is skipped.
 * Return whether it is sound. */
bool tv_profile_take_numbers(struct tv_bytes message, uint64_t *values, uint32_t count);

/* Count a message that is not sound. */
void tv_profile_tables_check(struct tv_profile_tables *tables, bool sound, struct tv_bytes message);

#endif
