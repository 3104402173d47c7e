/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapping.h - original names from the mapping file that R8 or ProGuard writes beside an obfuscated
 * program.
 *
 *     com.acme.Cart -> a.b:
 *     # {"id":"sourceFile","fileName":"Cart.kt"}
 *         int total -> a
 *         1:4:void add(com.acme.Item,int):20:23 -> a
 *         5:5:void log(java.lang.String):9:9 -> a       an inlined body and, the last line of the
 *         5:5:void add(com.acme.Item,int):24 -> a       same range, the method it was inlined into
 *         # {"id":"com.android.tools.r8.residualsignature","signature":"(La/c;I)V"}
 *
 * A trace names methods by class, name and descriptor: overloads that share an obfuscated name are
 * told apart by the descriptor, then by the line when the trace has one.
 */
#ifndef TV_SYMBOLS_MAPPING_H
#define TV_SYMBOLS_MAPPING_H

#include "base/memory.h"
#include "base/source.h"

struct tv_mapping;

/* A mapping file may be so large. */
#define TV_MAPPING_LIMIT (UINT64_C(1) << 30)

/* Reads all of it. A line that is no mapping is an error that names its offset. */
enum tv_status tv_mapping_read(struct tv_source *source, struct tv_mapping **mapping,
                               struct tv_error *err) TV_MUST_CHECK;
void tv_mapping_free(struct tv_mapping *mapping);

/* A method as the trace has it, or as the mapping gives it back. */
struct tv_mapped_method {
    struct tv_bytes class_name; /* with dots */
    struct tv_bytes name;
    struct tv_bytes signature; /* a descriptor, "(ILa/b;)V", or empty */
    struct tv_bytes file;      /* empty: unknown */
    int32_t line;              /* 0 or less: unknown */
};

/* Fills *original and returns true when the mapping changes anything; new texts come from the
 * arena.  When several methods fit, their names are joined by '|'. */
bool tv_mapping_find(const struct tv_mapping *mapping, const struct tv_mapped_method *method,
                     struct tv_arena *arena, struct tv_mapped_method *original);

#endif
