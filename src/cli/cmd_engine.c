/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_engine.c - the child of an upload server that reads one trace: no help tells of it, for only
 * the server can run it.
 */
#include <stdio.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/load.h"
#include "cli/reporter.h"
#include "engine/child.h"
#include "unpack/unpack.h"

/* Jobs are of the wish, all else as it is without options.  Little that unpacks to much would keep
 * others waiting: the ceiling of the command line holds as well. */
static void init_settings(struct tv_settings *settings, const struct tv_engine_input *wish)
{
    tv_settings_init(settings);
    settings->quiet = true;
    settings->jobs = wish->jobs;
    settings->unpacked_bytes =
        tv_unpack_ceiling(tv_source_size(wish->source), wish->unpacked_bytes);
}

static enum tv_status load(void *context, const struct tv_engine_input *wish,
                           struct tv_progress *progress, struct tv_trace **trace,
                           struct tv_error *err)
{
    (void)context;
    struct tv_settings settings;
    struct tv_given given = {wish->source, 0};
    struct tv_loading *loading;
    init_settings(&settings, wish);
    enum tv_status status = tv_load_given(&settings, &given, 1, progress, &loading, err);
    if (status == TV_OK)
        status = tv_load_build(loading, progress, trace, err);
    tv_settings_release(&settings);
    return status;
}

static enum tv_status open_sources(void *context, const struct tv_engine_input *wish,
                                   struct tv_source ***sources, size_t *count, struct tv_error *err)
{
    (void)context;
    struct tv_settings settings;
    struct tv_given given = {wish->source, 0};
    struct tv_loading *loading;
    init_settings(&settings, wish);
    enum tv_status status = tv_load_given(&settings, &given, 1, NULL, &loading, err);
    if (status == TV_OK)
        tv_load_take_sources(loading, sources, count);
    tv_settings_release(&settings);
    return status;
}

/* The sandbox forbids what is done at the end of a program. */
int tv_command_engine(void)
{
    const struct tv_engine_loader loader = {
        .load = load, .open = open_sources, .reporter = tv_reporter(false)};
    tv_unpack_prepare();
    _exit(tv_engine_main(&loader));
}
