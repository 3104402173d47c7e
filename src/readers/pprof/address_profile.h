/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_profile.h - profiles whose stacks are addresses: collect the samples, the mappings and
 * the names, which come last in such files, and add everything when all is known.
 *
 *     samples (addresses, values) --.
 *     mappings of files ------------+--> frames --> paths --> samples of the input
 *     names of addresses -----------'
 */
#ifndef TV_READERS_PPROF_ADDRESS_PROFILE_H
#define TV_READERS_PPROF_ADDRESS_PROFILE_H

#include "readers/pprof/address_map.h"

/* Value types of a profile: objects and bytes, allocated and in use. */
#define TV_ADDRESS_VALUES 4

struct tv_address_sample {
    uint64_t first; /* of its addresses, leaf first */
    uint64_t offset;
    uint32_t depth;
    int64_t values[TV_ADDRESS_VALUES];
};

/* A function at an address; several at one address are inlined, the innermost first. */
struct tv_address_name {
    uint64_t address;
    uint32_t frame;
    int32_t line;
    uint32_t next; /* its caller at the same address, or TV_NONE */
};

struct tv_address_profile {
    struct tv_profile_input profile;
    struct tv_address_sample *samples;
    uint64_t *addresses;
    struct tv_address_name *names;
    size_t sample_count, sample_capacity, address_count, address_capacity;
    size_t name_count, name_capacity;
    struct tv_map first_names; /* address -> its innermost name */
    struct tv_map last_names;  /* address -> its outermost name so far */
    struct tv_address_map map;
    uint32_t types[TV_ADDRESS_VALUES];
    unsigned type_count;
};

/* Begin an input without times, with one thread. */
void tv_address_profile_begin(struct tv_address_profile *profile, struct tv_source *source,
                              struct tv_builder *builder, const char *format);

/* Add the next value type, which is shown first unless another follows. */
void tv_address_profile_add_type(struct tv_address_profile *profile, struct tv_bytes name,
                                 struct tv_bytes unit, tv_ns interval);

/* Begin a sample, and append its addresses, leaf first. */
struct tv_address_sample *tv_address_profile_add_sample(struct tv_address_profile *profile,
                                                        uint64_t offset);
void tv_address_profile_add_address(struct tv_address_profile *profile, uint64_t address);

/* Name an address: the function at it, or the caller of the one that was named before. */
void tv_address_profile_add_name(struct tv_address_profile *profile, uint64_t address,
                                 const struct tv_frame *frame, int32_t line);

/* Name an address by the texts of its place: "main.run", "/src/main.go:71". */
void tv_address_profile_name_place(struct tv_address_profile *profile, uint64_t address,
                                   struct tv_bytes name, struct tv_bytes file);

/* Take Java's " 0x000000d com.example.f (Source.java:12)".  Return false for another line. */
bool tv_address_profile_take_java_name(struct tv_address_profile *profile, struct tv_bytes line);

/* Add the samples to the trace, finish the input and release everything. */
void tv_address_profile_end(struct tv_address_profile *profile,
                            const struct tv_read_options *options);

#endif
