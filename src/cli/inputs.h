/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inputs.h - from FILE arguments to sources a reader knows.
 *
 * As Traceview did, an argument x means x, else x.trace, else x.key joined with x.data.  "-" is
 * standard input.  What no reader knows but unpack does is unpacked, every trace in it becoming an
 * input; there, too, x.key and x.data are one.
 */
#ifndef TV_CLI_INPUTS_H
#define TV_CLI_INPUTS_H

#include "base/source.h"
#include "cli/options.h"

struct tv_inputs {
    struct tv_source **sources;
    uint32_t *machines; /* of each: those of one HTML page are of one (model/machines.h) */
    uint32_t machine_count;
    size_t count, capacity;
    bool quiet;
};

/* Opens every argument. On failure nothing stays open.  Unless `quiet`, a container that ends early
 * is said to on standard error. */
enum tv_status tv_inputs_open(struct tv_inputs *inputs, const char *const *files, size_t count,
                              bool quiet, struct tv_error *err) TV_MUST_CHECK;
void tv_inputs_release(struct tv_inputs *inputs);

/* Opens one file, "-" included, without asking readers: a mapping file. */
enum tv_status tv_inputs_open_plain(const char *path, struct tv_source **source,
                                    struct tv_error *err) TV_MUST_CHECK;

#endif
