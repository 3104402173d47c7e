/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - a sink in front of another that gives frames their original names before events pass.
 */
#ifndef TV_CLI_NAMES_H
#define TV_CLI_NAMES_H

#include "model/builder/sink.h"
#include "symbols/mapping.h"

struct tv_naming_sink {
    struct tv_sink sink;
    struct tv_sink_ops ops;
    struct tv_sink *inner;
    const struct tv_mapping *mapping;
    uint32_t named; /* frames of the head that have been looked up */
};

/* `inner` gets everything that the naming sink gets. */
void tv_naming_sink_init(struct tv_naming_sink *naming, struct tv_sink *inner,
                         const struct tv_mapping *mapping);

#endif
