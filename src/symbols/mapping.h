/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapping.h - original names of an obfuscated program, from the mapping file of R8 or ProGuard.
 *
 *     com.acme.Cart -> a.b:
 *     # {"id":"sourceFile","fileName":"Cart.kt"}
 *         int total -> a
 *         1:4:void add(com.acme.Item,int):20:23 -> a
 *         5:5:void log(java.lang.String):9:9 -> a       an inlined body and, the last line of the
 *         5:5:void add(com.acme.Item,int):24 -> a       same range, the method it was inlined into
 *         # {"id":"com.android.tools.r8.residualsignature","signature":"(La/c;I)V"}
 *
 * A trace names a method by class, name and descriptor. The descriptor distinguishes overloads
 * that share an obfuscated name; then the line does, if the trace has one.
 */
#ifndef TV_SYMBOLS_MAPPING_H
#define TV_SYMBOLS_MAPPING_H

#include "base/memory.h"
#include "base/source.h"

struct tv_mapping;

/* Largest mapping file that is read, in bytes. */
#define TV_MAPPING_LIMIT (UINT64_C(1) << 30)

/* Read the whole file. A line that is not a mapping is an error with its offset. */
enum tv_status tv_mapping_read(struct tv_source *source, struct tv_mapping **mapping,
                               struct tv_error *err) TV_MUST_CHECK;
void tv_mapping_free(struct tv_mapping *mapping);

/* A method as a trace names it, or as the mapping restores it. */
struct tv_mapped_method {
    struct tv_bytes class_name; /* with dots */
    struct tv_bytes name;
    struct tv_bytes signature; /* a descriptor, "(ILa/b;)V", or empty */
    struct tv_bytes file;      /* empty: unknown */
    int32_t line;              /* 0 or less: unknown */
};

/* Fill *original with the restored names, which come from the arena. Return true when the
 * mapping changes anything. When several methods match, their names are joined by '|'. */
bool tv_mapping_find(const struct tv_mapping *mapping, const struct tv_mapped_method *method,
                     struct tv_arena *arena, struct tv_mapped_method *original);

#endif
