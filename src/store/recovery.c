/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recovery.c - repairs the store at its start. Afterwards each file has its row and each row its
 * file, and every repair was reported.
 *
 * Apart from what other programs do to the directory, the order of writes (uploads.c, chunks.c,
 * traces.c) leaves only these cases:
 *
 *     file in uploads/ without a row     half begun or half cancelled: remove it
 *     row of an upload, file in traces/  half finished: insert the row of the trace
 *     file in traces/ without a row      half deleted: remove it
 *     file longer than its row says      same boot: the bytes are good, only the process died;
 *                                        another boot: cut them, they may not be on disk
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "store/internal.h"
#include "store/traces.h"

/* A text that changes with each boot of the machine; empty where the system has none. */
struct boot_id {
    char name[64];
};

struct recovered_upload {
    struct recovered_upload *next;
    const char *uid, *trace;
    bool done, known;
    uint64_t bytes, held;
};

struct store_recovery {
    struct tv_store *store;
    struct tv_db *db;
    struct tv_arena arena;
    bool same_boot;
};

static struct boot_id recovery_read_boot(void)
{
    struct boot_id boot = {""};
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, boot.name, sizeof boot.name - 1);
    if (fd >= 0)
        close(fd);
    boot.name[length > 0 ? strcspn(boot.name, "\n") : 0] = '\0';
    return boot;
}

static void recovery_compare_boot(struct store_recovery *recovery)
{
    struct boot_id boot = recovery_read_boot();
    recovery->same_boot =
        boot.name[0] != '\0' &&
        tv_db_number(recovery->db, 0, "SELECT 1 FROM store WHERE key='boot' AND value=?", "z",
                     boot.name) == 1;
    if (!recovery->same_boot)
        tv_db_run(recovery->db, "REPLACE INTO store(key, value) VALUES('boot', ?)", "z", boot.name);
}

/* ---- Uploads ---- */

static struct recovered_upload *recovery_read_uploads(struct store_recovery *recovery)
{
    struct recovered_upload *first = NULL;
    sqlite3_stmt *row =
        tv_db_query(recovery->db, "SELECT uid, trace, bytes, held, done FROM uploads", "");
    while (tv_db_row(recovery->db, row)) {
        struct recovered_upload *upload = tv_arena_alloc(&recovery->arena, 1, sizeof *upload);
        upload->next = first;
        upload->uid = tv_arena_text(&recovery->arena, tv_db_column_text(row, 0));
        upload->trace = tv_arena_text(&recovery->arena, tv_db_column_text(row, 1));
        upload->known = sqlite3_column_type(row, 2) != SQLITE_NULL;
        upload->bytes = (uint64_t)sqlite3_column_int64(row, 2);
        upload->held = (uint64_t)sqlite3_column_int64(row, 3);
        upload->done = sqlite3_column_int(row, 4) != 0;
        first = upload;
    }
    return first;
}

static bool recovery_truncate_upload(struct tv_store *store, const char *uid, uint64_t bytes)
{
    int fd = tv_store_open_file(store->uploads, uid, O_WRONLY);
    bool done = fd >= 0 && ftruncate(fd, (off_t)bytes) == 0;
    if (fd >= 0)
        close(fd);
    return done;
}

/* Let an upload resume at the end of its file. */
static void recovery_resume_upload(struct store_recovery *recovery,
                                   const struct recovered_upload *upload, uint64_t size)
{
    struct tv_store *store = recovery->store;
    uint64_t wanted = size;
    if (!recovery->same_boot && wanted > upload->held)
        wanted = upload->held;
    if (upload->known && wanted > upload->bytes)
        wanted = upload->bytes;
    if (wanted < size && recovery_truncate_upload(store, upload->uid, wanted))
        tv_store_report(store,
                        "upload %.*s: cut from %" PRIu64 " to the %" PRIu64
                        " bytes that are known to be good",
                        TV_STORE_ID_SHOWN, upload->uid, size, wanted);
    if (wanted < upload->held) {
        tv_store_report(store, "upload %.*s: only %" PRIu64 " of %" PRIu64 " bytes are here",
                        TV_STORE_ID_SHOWN, upload->uid, wanted, upload->held);
        tv_db_run(recovery->db, "UPDATE uploads SET held=? WHERE uid=?", "iz", (int64_t)wanted,
                  upload->uid);
    }
    store->totals.uploads++;
    store->totals.upload_bytes += wanted;
}

static void recovery_forget_upload(struct store_recovery *recovery,
                                   const struct recovered_upload *upload)
{
    tv_db_run(recovery->db, "DELETE FROM uploads WHERE uid=?", "z", upload->uid);
}

/* Check an upload that is complete in the catalogue: its trace may be deleted, or its file not
 * moved. */
static void recovery_check_done_upload(struct store_recovery *recovery,
                                       const struct recovered_upload *upload)
{
    struct tv_store *store = recovery->store;
    uint64_t size;
    int64_t row =
        tv_db_number(recovery->db, 0, "SELECT 1 FROM traces WHERE id=?", "z", upload->trace);
    if (row == 0)
        recovery_forget_upload(recovery, upload);
    /* the disk refused the transaction and the file was moved back, but the transaction took
     * effect */
    else if (!tv_store_file_size(store->traces, upload->trace, &size) &&
             renameat(store->uploads, upload->uid, store->traces, upload->trace) == 0)
        tv_store_report(store, "trace %.*s: moved to its place", TV_STORE_ID_SHOWN, upload->trace);
}

static void recovery_check_running_upload(struct store_recovery *recovery,
                                          const struct recovered_upload *upload)
{
    struct tv_store *store = recovery->store;
    uint64_t size;
    if (tv_store_file_size(store->uploads, upload->uid, &size)) {
        recovery_resume_upload(recovery, upload, size);
    } else if (tv_store_file_size(store->traces, upload->trace, &size)) {
        tv_store_insert_trace(recovery->db, upload->uid, size, tv_store_now());
        tv_store_report(store, "upload %.*s: was complete, is trace %.*s now", TV_STORE_ID_SHOWN,
                        upload->uid, TV_STORE_ID_SHOWN, upload->trace);
    } else {
        recovery_forget_upload(recovery, upload);
        tv_store_report(store, "upload %.*s: has no bytes, forgotten", TV_STORE_ID_SHOWN,
                        upload->uid);
    }
}

/* ---- Files without rows ---- */

static void recovery_remove_file(struct tv_store *store, int folder, const char *folder_name,
                                 const char *name)
{
    if (unlinkat(folder, name, 0) == 0)
        tv_store_report(store, "%s/%.80s: belongs to nothing, removed", folder_name, name);
    else
        tv_store_report(store, "%s/%.80s: belongs to nothing, cannot be removed: %s", folder_name,
                        name, strerror(errno));
}

/* Remove a file that no running upload has. A database error is not an answer of "none": then the
 * file stays. */
static void recovery_check_upload_file(void *context, const char *name)
{
    struct store_recovery *recovery = context;
    if (tv_db_number(recovery->db, 0, "SELECT 1 FROM uploads WHERE uid=? AND done=0", "z", name) ==
            0 &&
        recovery->db->code == SQLITE_OK)
        recovery_remove_file(recovery->store, recovery->store->uploads, "uploads", name);
}

static void recovery_check_trace_file(void *context, const char *name)
{
    struct store_recovery *recovery = context;
    if (tv_db_number(recovery->db, 0, "SELECT 1 FROM traces WHERE id=?", "z", name) == 0 &&
        recovery->db->code == SQLITE_OK)
        recovery_remove_file(recovery->store, recovery->store->traces, "traces", name);
}

/* Count a cache file of a trace that there is, and remove any other.  After an error of the
 * catalogue nothing is removed: it cannot tell. */
static void recovery_check_cache_file(void *context, const char *name)
{
    struct store_recovery *recovery = context;
    struct tv_store *store = recovery->store;
    char id[TV_STORE_ID_DIGITS + 1] = "", good[TV_STORE_CACHE_NAME];
    uint64_t size;
    snprintf(id, sizeof id, "%s", name);
    tv_store_cache_name(good, id, NULL);
    bool ours = strcmp(name, good) == 0 && tv_store_file_size(store->cache, name, &size) &&
                tv_db_number(recovery->db, 0, "SELECT 1 FROM traces WHERE id=?", "z", id) == 1;
    if (ours) {
        store->totals.caches++;
        store->totals.cache_bytes += size;
    } else if (recovery->db->code == SQLITE_OK) {
        recovery_remove_file(store, store->cache, "cache", name);
    }
}

/* ---- Rows without files ---- */

/* Check the file of a trace. One that is gone is forgotten; one of another size is kept, and marked
 * as damaged. */
static void recovery_check_trace_row(struct store_recovery *recovery, const char *id,
                                     uint64_t bytes)
{
    struct tv_store *store = recovery->store;
    uint64_t size;
    if (!tv_store_file_size(store->traces, id, &size)) {
        tv_db_run(recovery->db, "DELETE FROM traces WHERE id=?", "z", id);
        tv_store_report(store, "trace %.*s: its file is not there, forgotten", TV_STORE_ID_SHOWN,
                        id);
        return;
    }
    if (size == bytes)
        return;
    tv_db_run(recovery->db, "UPDATE traces SET state=?, error=?, bytes=? WHERE id=?", "iziz",
              (int64_t)TV_STORE_UNREADABLE, "the file in the store was changed from outside",
              (int64_t)size, id);
    tv_store_report(store, "trace %.*s: has %" PRIu64 " bytes instead of %" PRIu64 ", damaged",
                    TV_STORE_ID_SHOWN, id, size, bytes);
}

static void recovery_check_trace_rows(struct store_recovery *recovery)
{
    struct recovered_trace {
        struct recovered_trace *next;
        const char *id;
        uint64_t bytes;
    } *first = NULL;
    sqlite3_stmt *row = tv_db_query(recovery->db, "SELECT id, bytes FROM traces", "");
    while (tv_db_row(recovery->db, row)) {
        struct recovered_trace *known = tv_arena_alloc(&recovery->arena, 1, sizeof *known);
        *known = (struct recovered_trace){
            first, tv_arena_text(&recovery->arena, tv_db_column_text(row, 0)),
            (uint64_t)sqlite3_column_int64(row, 1)};
        first = known;
    }
    for (const struct recovered_trace *known = first; known; known = known->next)
        recovery_check_trace_row(recovery, known->id, known->bytes);
}

static void recovery_count_traces(struct store_recovery *recovery)
{
    struct tv_store_totals *totals = &recovery->store->totals;
    totals->traces = (uint64_t)tv_db_number(recovery->db, 0, "SELECT count(*) FROM traces", "");
    totals->trace_bytes =
        (uint64_t)tv_db_number(recovery->db, 0, "SELECT coalesce(sum(bytes), 0) FROM traces", "");
}

static bool recovery_check_files(struct store_recovery *recovery)
{
    struct tv_store *store = recovery->store;
    return tv_store_each_name(store->uploads, recovery_check_upload_file, recovery) &&
           tv_store_each_name(store->traces, recovery_check_trace_file, recovery) &&
           tv_store_each_name(store->cache, recovery_check_cache_file, recovery);
}

/* Bring rows and files together in one transaction: uploads first, since a finished one becomes a
 * trace, then rows without files, then files without rows. A trace that was being converted (state
 * 1) waits again (0). Totals are counted last, over what is left. */
static enum tv_store_status recovery_run(struct store_recovery *recovery, struct tv_error *err)
{
    assert(recovery->db == &recovery->store->write);
    struct tv_store *store = recovery->store;
    enum tv_store_status status = TV_STORE_OK;
    store->totals = (struct tv_store_totals){0};
    tv_db_begin(recovery->db, TV_DB_DURABLE);
    recovery_compare_boot(recovery);
    for (const struct recovered_upload *u = recovery_read_uploads(recovery); u; u = u->next)
        if (u->done)
            recovery_check_done_upload(recovery, u);
        else
            recovery_check_running_upload(recovery, u);
    recovery_check_trace_rows(recovery);
    if (!recovery_check_files(recovery))
        status = tv_store_fail_errno(err, "the store cannot be looked through");
    tv_db_run(recovery->db, "UPDATE traces SET state=0 WHERE state=1", "");
    recovery_count_traces(recovery);
    return tv_db_end(recovery->db, status, err);
}

enum tv_status tv_store_recover(struct tv_store *store, struct tv_error *err)
{
    assert(store->has_write && store->has_read);
    struct store_recovery recovery = {.store = store, .db = &store->write};
    struct tv_error failure = {0};
    size_t scratch = tv_store_scratch_empty(store);
    if (scratch > 0)
        tv_store_report(store, "scratch/: %zu temporary files and folders removed", scratch);
    tv_arena_init(&recovery.arena);
    enum tv_store_status status = recovery_run(&recovery, &failure);
    /* on a full disk, caches can go */
    while (status == TV_STORE_FULL && tv_store_evict_oldest_cache(store))
        status = recovery_run(&recovery, &failure);
    tv_arena_release(&recovery.arena);
    if (status == TV_STORE_OK)
        return TV_OK;
    if (err)
        *err = failure;
    return failure.status;
}
