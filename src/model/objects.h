/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects.h - what a reference to an object means at a time ("id_ref" in arguments).
 */
#ifndef TV_MODEL_OBJECTS_H
#define TV_MODEL_OBJECTS_H

#include "model/trace.h"

struct tv_object_reference {
    uint32_t input;
    struct tv_bytes pid;   /* of the process: its number, or its key where it has one */
    struct tv_bytes scope; /* data NULL: the usual one */
    struct tv_bytes id;
    tv_ns time; /* on the input's clock, as in tables */
};

/* Puts the objects of a trace in the order in which they are looked for; once. */
void tv_objects_index(struct tv_trace *trace);

/* The object's last snapshot up to the time, or its first when all are later; TV_NONE when the
 * object is unknown, gone by then, or has none. */
uint32_t tv_object_find_snapshot(const struct tv_trace *trace,
                                 const struct tv_object_reference *reference);

#endif
