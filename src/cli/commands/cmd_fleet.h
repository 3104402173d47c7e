/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_fleet.h - what the files of the command `fleet` share. */
#ifndef TV_CLI_COMMANDS_CMD_FLEET_H
#define TV_CLI_COMMANDS_CMD_FLEET_H

#include <stdatomic.h>

#include "base/map.h"
#include "base/progress.h"
#include "cli/command.h"
#include "fleet/fleet.h"
#include "sql/sql.h"
#include "sql/statement.h"
#include "sql/values.h"

/* ---- Times and values of rows (cmd_fleet_open.c) ---- */

/* Return the time so many seconds ago, in microseconds since 1970; 0: it was before 1970. */
int64_t tv_fleet_time_before(uint64_t seconds);

/* Return the time, in seconds since 1970, that the file system gives to a file which is made now in
 * a folder of the fleet `to`.  Compare times of files with it: the clock of a file server, or of a
 * machine whose clock was set, may be days from this one.  0: no file can be made there; then no
 * file counts as old. */
int64_t tv_fleet_read_disk_clock(const char *to, const char *folder);

/* Return an integer, 0 for NULL; a key of the tables; a text, empty for NULL. */
int64_t tv_fleet_value_integer(const struct tv_sql_value *value);
uint64_t tv_fleet_value_key(const struct tv_sql_value *value);
struct tv_bytes tv_fleet_value_text(const struct tv_sql_value *value);

/* Return the one number that answers a query; 0 also for an answer without rows. */
enum tv_status tv_fleet_read_number(struct tv_sql *sql, const char *query, uint64_t *number,
                                    struct tv_error *err) TV_MUST_CHECK;

/* ---- Files of the folder (cmd_fleet_files.c) ---- */

/* Refuse a path that DuckDB would take for a pattern. */
enum tv_status tv_fleet_check_path(const char *path, struct tv_error *err) TV_MUST_CHECK;

/* Refuse such a folder that may not be there yet. */
enum tv_status tv_fleet_check_new_path(const char *to, struct tv_error *err) TV_MUST_CHECK;

/* Check the number of the schema in fleet.json, or make the folder a fleet if it is new or empty.
 */
enum tv_status tv_fleet_init(const char *to, struct tv_error *err) TV_MUST_CHECK;

/* Make a folder, unless it is there. */
enum tv_status tv_fleet_make_folder(const char *path, struct tv_error *err) TV_MUST_CHECK;

/* Put the path of a file of a batch, of PATH_MAX bytes; `suffix` is ".parquet" or ".ids". */
void tv_fleet_put_path(char *path, const char *to, enum tv_fleet_table table, uint64_t batch,
                       const char *suffix);

/* Return the batch of a file by its name: 16 digits and the suffix.  0: another name, or the file
 * without rows that each table has. */
uint64_t tv_fleet_batch_of_name(const char *name, const char *suffix);

/* Tell if a batch should have a file of a table.  A batch may have no rows of a detail table, and
 * then no file; the other tables always have one. */
bool tv_fleet_has_file(const char *to, enum tv_fleet_table table, uint64_t batch);

/* Return the numbers of the traces of a file BATCH.ids, to be freed; NULL: it cannot be read. */
uint64_t *tv_fleet_read_ids(const char *path, size_t *count);

/* Add these; a damaged file only costs reading traces again. */
void tv_fleet_read_known_list(const char *path, struct tv_map *known);

/* Add the numbers of the traces that the batches of a table, or its rollups, have. */
enum tv_status tv_fleet_read_known(const char *to, enum tv_fleet_table table, struct tv_map *known,
                                   struct tv_error *err) TV_MUST_CHECK;

/* Add the tables that a fleet of an older version lacks; a folder that is no fleet stays as it is.
 */
enum tv_status tv_fleet_add_tables(const char *to, struct tv_error *err) TV_MUST_CHECK;

/* The contents of a batch that is written. */
struct tv_fleet_contents {
    uint64_t batch;
    const struct tv_out *ids; /* ids of its traces */
    enum tv_status (*put)(void *context, enum tv_fleet_table table, struct tv_out *out,
                          struct tv_error *err);
    void *context;
    unsigned without; /* a bit for each table that has no file */
};

/* Write the files of a batch, that of the traces last, and the numbers of its traces. */
enum tv_status tv_fleet_write_files(const char *to, const struct tv_fleet_contents *contents,
                                    struct tv_error *err) TV_MUST_CHECK;

/* ---- Missing and damaged files (cmd_fleet_damage.c) ---- */

/* Return the byte after the numbers of the traces in trace/BATCH.ids: a bit for each detail table
 * with a file.  `without` is that of struct tv_fleet_contents. */
char tv_fleet_detail_bits(unsigned without);

/* Call a function with each batch whose file of traces is gone though it has traces that are
 * nowhere else. */
enum tv_status tv_fleet_find_lost(const char *to, void (*visit)(void *context, uint64_t batch),
                                  void *context, struct tv_error *err) TV_MUST_CHECK;

/* Write a line for each file of a batch that is missing or damaged, and how to repair the batch;
 * tell if there is one. */
bool tv_fleet_check_files(struct tv_sql *sql, const char *to, uint64_t number, struct tv_out *out);

/* ---- Traces that end the process which reads them (cmd_fleet_watch.c) ---- */

/* State of a FILE of `add`. */
enum tv_fleet_fate {
    TV_FLEET_UNREAD,
    TV_FLEET_READ,    /* in a batch that is not written; after a crash: unread */
    TV_FLEET_ADDED,   /* in a batch that was written, or in two FILEs of it */
    TV_FLEET_KNOWN,   /* the fleet had it */
    TV_FLEET_FAILED,  /* told, and not read again */
    TV_FLEET_SUSPECT, /* a process ended that read it and others: it is read alone */
    TV_FLEET_FATAL,   /* it ended a process: it gets a row with the error, and has FAILED then */
};

struct tv_fleet_watched_file {
    atomic_uchar fate; /* enum tv_fleet_fate */
    atomic_bool is_being_read;
    atomic_bool is_hashed; /* the hash is that of the unpacked bytes */
    bool is_told, is_unlabelled;
    struct tv_fleet_hash hash;
    char error[64]; /* error of a fatal one */
};

/* Memory that the command and the process which reads share. */
struct tv_fleet_watch {
    unsigned ends; /* processes that ended before they were finished */
    atomic_bool is_gathering, is_finished;
    int code;                             /* of the finished process */
    struct tv_fleet_watched_file files[]; /* of settings->files */
};

typedef enum tv_status tv_fleet_watched(struct tv_fleet_watch *watch,
                                        const struct tv_command *command,
                                        const struct tv_settings *settings, int *code,
                                        struct tv_error *err);

/* Call a function in a process of its own, and again in another one when that ends before the
 * function does.  An error of the function is told there, and sets the exit code. */
enum tv_status tv_fleet_watch(tv_fleet_watched *work, const struct tv_command *command,
                              const struct tv_settings *settings, int *code,
                              struct tv_error *err) TV_MUST_CHECK;

/* ---- Labels from a table (cmd_fleet_labels.c) ---- */

struct tv_fleet_label_entry {
    uint32_t file, text; /* strings: of `files`, and "KEY=VALUE" with a NUL of `texts` */
};

struct tv_fleet_labels {
    struct tv_interner *files, *texts;
    struct tv_fleet_label_entry *entries; /* in the order of the table */
    size_t count, room;
    struct tv_map first; /* file -> its first entry; of a file that is listed twice the last */
};

/* Read the table; of a NULL path an empty one.  Release it, also after an error. */
enum tv_status tv_fleet_labels_read(struct tv_fleet_labels *table, const char *path,
                                    struct tv_error *err) TV_MUST_CHECK;
void tv_fleet_labels_release(struct tv_fleet_labels *table);

/* Append the labels of a trace, which belong to the table; false: it has no row. */
bool tv_fleet_labels_find(const struct tv_fleet_labels *table, const char *path,
                          struct tv_words *labels);

/* ---- The files at one moment (cmd_fleet_listing.c) ---- */

struct tv_fleet_listing {
    struct tv_words names[TV_FLEET_FOLDERS]; /* without ".parquet", in ascending order */
    bool is_steady;                          /* no other program changed them meanwhile */
};

/* Call a function with each name in the folder of a table, in no order.  A folder that is not there
 * has none; one that cannot be listed is an error, because its files would be taken as absent. */
enum tv_status tv_fleet_visit_files(const char *to, enum tv_fleet_table table,
                                    void (*visit)(void *context, const char *name), void *context,
                                    struct tv_error *err) TV_MUST_CHECK;

/* Read all names.  A listing that was read before may be read again.  Fails when a folder that is
 * there cannot be read; release the listing also then. */
enum tv_status tv_fleet_listing_read(struct tv_fleet_listing *listing, const char *to,
                                     struct tv_error *err) TV_MUST_CHECK;

/* Fail unless the listing is steady: who removes files needs the names of one moment. */
enum tv_status tv_fleet_listing_refuse_unsteady(const struct tv_fleet_listing *listing,
                                                const char *to, struct tv_error *err) TV_MUST_CHECK;
void tv_fleet_listing_release(struct tv_fleet_listing *listing);

/* Tell whether the same batches and rollups count. */
bool tv_fleet_listing_is_equal(const struct tv_fleet_listing *a, const struct tv_fleet_listing *b);

/* Tell whether there is a file of this name, or of a batch. */
bool tv_fleet_listing_has(const struct tv_fleet_listing *listing, enum tv_fleet_table table,
                          const char *name);
bool tv_fleet_listing_has_batch(const struct tv_fleet_listing *listing, enum tv_fleet_table table,
                                uint64_t batch);

/* ---- Answers (cmd_fleet_open.c) ---- */

/* The folder as a database, without the batches of damaged files. */
struct tv_fleet_store {
    const struct tv_settings *settings;
    struct tv_sql *sql;
    struct tv_words damaged;         /* names of files, "0123456789abcdef.parquet" */
    struct tv_fleet_listing listing; /* the files that the views read */
    unsigned changes;                /* how often other files were found after an error */
    struct tv_progress progress;
    struct tv_meter *meter; /* shows the work on a terminal, until something is written */
    uint64_t rows;          /* rows of the last answer */
};

/* Open the folder of the fleet, with the views of tv_fleet_views or with none.  Damaged files are
 * told.  Close the store also after an error; a damaged file turns the exit code 0 into 1. */
enum tv_status tv_fleet_open(struct tv_fleet_store *store, const struct tv_settings *settings,
                             struct tv_error *err) TV_MUST_CHECK;
enum tv_status tv_fleet_open_bare(struct tv_fleet_store *store, const struct tv_settings *settings,
                                  struct tv_error *err) TV_MUST_CHECK;
/* Return the SELECT from `answer` that --format chart draws instead of the answer; NULL: none.
 * (cmd_fleet.c) */
const char *tv_fleet_chart(const struct tv_settings *settings);

/* Tell how many traces lack the label by which a question groups, unless -q or none does: the
 * question leaves them out. (cmd_fleet.c) */
void tv_fleet_tell_unlabelled(struct tv_fleet_store *store,
                              const struct tv_fleet_question *question);

/* End the progress line, before anything else is written.  tv_fleet_close does so, too. */
void tv_fleet_stop_meter(struct tv_fleet_store *store);
void tv_fleet_close(struct tv_fleet_store *store, int *code);

/* Look for the reason of an error in the files.  True: other programs have replaced some of them,
 * or some are damaged, which was told; the database was opened again with the files of now, without
 * the damaged ones, so that the question can be asked again. */
bool tv_fleet_recover(struct tv_fleet_store *store, struct tv_error *err);

/* Open the database again with the files of now. */
enum tv_status tv_fleet_reopen(struct tv_fleet_store *store, struct tv_error *err) TV_MUST_CHECK;

/* Leave out the batches that lack a file of a table that the action reads, and tell which.
 * (cmd_fleet_damage.c) */
enum tv_status tv_fleet_note_missing(struct tv_fleet_store *store,
                                     struct tv_error *err) TV_MUST_CHECK;

/* Is a file damaged, by its name without the table's folder? */
bool tv_fleet_is_damaged(const struct tv_fleet_store *store, const char *name);

/* Read all of a file; it fails if that is damaged. */
enum tv_status tv_fleet_read_file(struct tv_sql *sql, enum tv_fleet_table table, const char *name,
                                  struct tv_error *err) TV_MUST_CHECK;

/* Write the answer of a query in the format, and to the output, of the settings. */
enum tv_status tv_fleet_write_answer(struct tv_fleet_store *store, const char *query,
                                     struct tv_error *err) TV_MUST_CHECK;

/* Return the word of --figure; or the word with a number, NULL behind the last one. */
const char *tv_fleet_figure(const struct tv_settings *settings);
const char *tv_fleet_figure_name(unsigned number);

/* Let a question read prepared files, if all that it needs are there; `files` keeps their names.
 * (cmd_fleet_prepare.c) */
void tv_fleet_find_prepared(struct tv_fleet_store *store, struct tv_fleet_question *question,
                            struct tv_out *files);

/* After a question failed: let it do without prepared files if one of them may be damaged, and say
 * so.  Return whether it is worth asking again. */
bool tv_fleet_drop_prepared(const struct tv_fleet_store *store, struct tv_fleet_question *question,
                            struct tv_error *err);

/* May a damaged file be the reason of an error?  (cmd_fleet_open.c) */
bool tv_fleet_may_be_damage(const struct tv_error *err);

/* ---- Actions: they set the exit code, TV_EXIT_OK at first (cmd_fleet_add.c, cmd_fleet_compare.c,
 * cmd_fleet_changes.c, cmd_fleet_prepare.c, cmd_fleet_folder.c) ---- */

typedef enum tv_status tv_fleet_action(const struct tv_command *command,
                                       const struct tv_settings *settings, int *code,
                                       struct tv_error *err);

tv_fleet_action tv_fleet_add;
tv_fleet_action tv_fleet_rows;
tv_fleet_action tv_fleet_regressions;
tv_fleet_action tv_fleet_flamegraph;
tv_fleet_action tv_fleet_changes;
tv_fleet_action tv_fleet_prepare;
tv_fleet_action tv_fleet_compact;
tv_fleet_action tv_fleet_expire;
tv_fleet_action tv_fleet_migrate;
tv_fleet_action tv_fleet_check;

#endif
