/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_fleet_folder.h - what the actions share that change a fleet's folder (cmd_fleet_folder.c). */
#ifndef TV_CLI_COMMANDS_CMD_FLEET_FOLDER_H
#define TV_CLI_COMMANDS_CMD_FLEET_FOLDER_H

#include "cli/commands/cmd_fleet.h"

/* A batch, the month of its earliest trace, as year * 12 + month, and when its traces began. */
struct fleet_entry {
    uint64_t batch, bytes;
    int64_t month, oldest, newest; /* microseconds since 1970 */
    uint64_t traces;
    bool is_lost; /* its file of traces is gone */
};

/* The folder, as `compact` and `check` find it. */
struct fleet_folder {
    const char *to;
    struct tv_fleet_store store;
    struct fleet_entry *entries; /* in the order of months */
    size_t count, room;
    struct tv_map index; /* batch -> entry */
    uint64_t *ids;       /* ids of the traces asked for last */
    size_t id_count, id_room;
    struct tv_out readable; /* those without an error, as BATCH.ids has them */
    bool removes;
    int64_t now; /* seconds since 1970, by the file system's clock; set when it removes */
    uint64_t left_files, removed_files; /* left: they do not count */
    enum tv_status removing;            /* an error: a file that does not count stays */
    struct tv_error reason;             /* of the first such file */
};

/* Open a fleet after adding the tables that an older one lacks; or release it. */
enum tv_status tv_fleet_open_complete(struct tv_fleet_store *store,
                                      const struct tv_settings *settings,
                                      struct tv_error *err) TV_MUST_CHECK;
void tv_fleet_release_folder(struct fleet_folder *folder, int *code);

/* Refuse to remove traces while a file is damaged: it may be needed to see which are old. */
enum tv_status tv_fleet_refuse_damage(const struct fleet_folder *folder,
                                      struct tv_error *err) TV_MUST_CHECK;

/* List the batches of a query: number, month, times of the first and the last trace, traces. */
enum tv_status tv_fleet_list_batches(struct fleet_folder *folder, const char *query,
                                     struct tv_error *err) TV_MUST_CHECK;

/* List the traces of a query in folder->ids and folder->readable: number, and could it be read? */
enum tv_status tv_fleet_list_traces(struct fleet_folder *folder, const char *query,
                                    struct tv_error *err) TV_MUST_CHECK;

/* Write the traces of some batches that have not expired as one batch, and remove the batches. */
enum tv_status tv_fleet_replace_batches(struct fleet_folder *folder,
                                        const struct fleet_entry *entries, size_t count,
                                        struct tv_error *err) TV_MUST_CHECK;

/* Remove a file; one that is not there has been removed by another process. */
enum tv_status tv_fleet_remove_file(const char *path, struct tv_error *err) TV_MUST_CHECK;

/* Remove the rollup of a batch that is there.  An older version that was killed left it; it would
 * count once the batch is gone. */
enum tv_status tv_fleet_remove_old_rollup(const char *to, uint64_t batch,
                                          struct tv_error *err) TV_MUST_CHECK;

/* Write the lists of traces that rollups lack: `add` must know these traces, and a batch whose file
 * of traces is gone is not missing if they are in a list. (cmd_fleet_expire.c) */
enum tv_status tv_fleet_write_lists(struct fleet_folder *folder,
                                    struct tv_error *err) TV_MUST_CHECK;

/* Remove the rows of expired traces, whatever batches they are in now. (cmd_fleet_expire.c) */
enum tv_status tv_fleet_remove_expired(struct fleet_folder *folder,
                                       struct tv_error *err) TV_MUST_CHECK;

#endif
