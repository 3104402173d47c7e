/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunks.c - writes the bytes of uploads, and decides who may write.
 *
 * Claims. An upload has one writer. A chunk holds the claim on its upload, and whoever finishes or
 * cancels the upload takes it first. A chunk is "inside" while it uses the file, and only outside
 * it can lose its claim; so a connection that hangs is replaced, but never in the middle of a
 * write. There are as many claims as connections that write, so a linked list is fast enough.
 *
 * Durability. The length of the file is the offset at which the upload resumes. The row's `held`
 * follows it: it is written after the bytes were synced.
 *
 *     write bytes ... -> fdatasync(file) [-> fsync(uploads/), once] -> UPDATE held, durable
 *     |<--------------- lost if the power fails ---------------->|     safe from here on
 *
 * If only the process dies, the kernel still has all bytes, and the upload resumes at the end of
 * the file. After a power loss, bytes after `held` may be anything, so recovery cuts the file
 * there.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/internal.h"
#include "store/uploads.h"

/* Find the link to the claim on an upload. Runs under claim_lock. */
static struct tv_store_claim **claim_find(struct tv_store *store, const char *uid)
{
    struct tv_store_claim **link = &store->claims;
    while (*link && strcmp((*link)->uid.text, uid) != 0)
        link = &(*link)->next;
    return link;
}

/* Wait until the claim on an upload is outside its file, or gone. Return the link to it. */
static struct tv_store_claim **claim_wait_outside(struct tv_store *store, const char *uid)
{
    struct tv_store_claim **link = claim_find(store, uid);
    while (*link && (*link)->can_be_taken && (*link)->inside) {
        pthread_cond_wait(&store->claim_change, &store->claim_lock);
        link = claim_find(store, uid);
    }
    return link;
}

enum tv_store_status tv_store_claim_take(struct tv_store *store, struct tv_store_claim *claim,
                                         uint64_t *at, enum tv_store_status verdict)
{
    enum tv_store_status status = TV_STORE_OK;
    pthread_mutex_lock(&store->claim_lock);
    struct tv_store_claim **link = claim_wait_outside(store, claim->uid.text);
    struct tv_store_claim *other = *link;
    if (other && (!other->can_be_taken || verdict == TV_STORE_OK)) {
        status = TV_STORE_BUSY;
    } else if (other && at && *at != other->at) {
        *at = other->at;
        status = TV_STORE_WRONG_OFFSET;
    } else if (other) {
        other->lost = verdict;
        *link = other->next;
    }
    if (status == TV_STORE_OK) {
        claim->inside = true;
        claim->next = store->claims;
        store->claims = claim;
    }
    pthread_mutex_unlock(&store->claim_lock);
    return status;
}

enum tv_store_status tv_store_claim_enter(struct tv_store *store, struct tv_store_claim *claim)
{
    pthread_mutex_lock(&store->claim_lock);
    enum tv_store_status lost = claim->lost;
    claim->inside = lost == TV_STORE_OK;
    pthread_mutex_unlock(&store->claim_lock);
    return lost;
}

void tv_store_claim_leave(struct tv_store *store, struct tv_store_claim *claim, uint64_t at)
{
    assert(claim->inside);
    pthread_mutex_lock(&store->claim_lock);
    claim->inside = false;
    claim->at = at;
    pthread_cond_broadcast(&store->claim_change);
    pthread_mutex_unlock(&store->claim_lock);
}

void tv_store_claim_drop(struct tv_store *store, struct tv_store_claim *claim)
{
    pthread_mutex_lock(&store->claim_lock);
    struct tv_store_claim **link = &store->claims;
    while (*link && *link != claim)
        link = &(*link)->next;
    if (*link)
        *link = claim->next;
    pthread_cond_broadcast(&store->claim_change);
    pthread_mutex_unlock(&store->claim_lock);
}

bool tv_store_is_claimed(struct tv_store *store, const char *uid)
{
    pthread_mutex_lock(&store->claim_lock);
    bool claimed = *claim_find(store, uid) != NULL;
    pthread_mutex_unlock(&store->claim_lock);
    return claimed;
}

/* ---- Chunks ---- */

/* Sync after this many bytes of a chunk. This bounds what a power loss costs, and dirty memory. */
#define SYNC_BYTES ((uint64_t)64 * 1024 * 1024)

/* Linux writes at most 2 GiB - 4 KiB per call. */
#define LARGEST_IO ((size_t)1 << 30)

struct tv_store_chunk {
    struct tv_store *store;
    struct tv_store_claim claim;
    int fd;
    uint64_t at, synced,
        most; /* offset of the next byte, synced bytes, maximum size of the upload */
    enum tv_store_status failure; /* the first failure, which all later calls repeat */
    struct tv_error error;
};

/* Keep the first failure, which all later calls return. */
static enum tv_store_status chunk_fail(struct tv_store_chunk *chunk, enum tv_store_status status)
{
    assert(status != TV_STORE_OK);
    if (chunk->failure == TV_STORE_OK)
        chunk->failure = status;
    return status;
}

/* Fail because somebody else took the claim: to go on with the upload, or to cancel it. */
static enum tv_store_status chunk_fail_claim_lost(struct tv_store_chunk *chunk,
                                                  enum tv_store_status verdict)
{
    if (verdict == TV_STORE_NOT_FOUND)
        tv_store_not_found(&chunk->error, "upload (any more)");
    else
        tv_fail(&chunk->error, TV_ERR_USAGE, TV_NO_OFFSET,
                "another connection goes on with this upload");
    return chunk_fail(chunk, verdict);
}

/* ---- Begin ---- */

/* Fail because the client sends from another offset than the end of the file. */
static enum tv_store_status chunk_fail_offset(uint64_t held, struct tv_error *err)
{
    tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "%" PRIu64 " bytes are here: go on with these", held);
    return TV_STORE_WRONG_OFFSET;
}

/* Find the maximum size of the upload, and how many bytes it has. */
static enum tv_store_status chunk_find_limit(struct tv_store_chunk *chunk, struct tv_error *err)
{
    struct tv_store_upload upload;
    uint64_t most = chunk->store->options.max_upload_bytes;
    enum tv_store_status status =
        tv_store_upload_get(chunk->store, chunk->claim.uid.text, &upload, err);
    if (status != TV_STORE_OK)
        return status;
    most = most == 0 || most > INT64_MAX ? INT64_MAX : most;
    chunk->most = upload.bytes < most ? upload.bytes : most;
    chunk->at = upload.held;
    return TV_STORE_OK;
}

/* Read how many bytes are safe. The file may be longer: bytes that no sync has covered. */
static enum tv_store_status chunk_find_synced(struct tv_store_chunk *chunk, struct tv_error *err)
{
    struct tv_db *db = &chunk->store->read;
    tv_db_begin(db, TV_DB_READ);
    uint64_t held = (uint64_t)tv_db_number(db, 0, "SELECT held FROM uploads WHERE uid=?", "z",
                                           chunk->claim.uid.text);
    chunk->synced = held < chunk->at ? held : chunk->at;
    return tv_db_end(db, TV_STORE_OK, err);
}

/* Open the file at the offset. The caller has the claim. */
static enum tv_store_status chunk_open_at(struct tv_store_chunk *chunk, uint64_t offset,
                                          uint64_t *held, struct tv_error *err)
{
    enum tv_store_status status = chunk_find_limit(chunk, err);
    if (status != TV_STORE_OK)
        return status;
    *held = chunk->at;
    if (offset != chunk->at)
        return chunk_fail_offset(chunk->at, err);
    status = chunk_find_synced(chunk, err);
    if (status != TV_STORE_OK)
        return status;
    chunk->fd = tv_store_open_file(chunk->store->uploads, chunk->claim.uid.text, O_WRONLY);
    /* a finished upload accepts an empty chunk at its end, which changes nothing */
    if (chunk->fd < 0 && chunk->at < chunk->most)
        return tv_store_not_found(err, "upload");
    return TV_STORE_OK;
}

/* Claim the upload for this connection and open its file at `offset`. *held is set to the offset
 * the store has when the client's is another, so that it can go on from there. An upload that is
 * being finished refuses. */
static enum tv_store_status chunk_begin(struct tv_store_chunk *chunk, uint64_t offset,
                                        uint64_t *held, struct tv_error *err)
{
    uint64_t at = offset;
    chunk->claim.can_be_taken = true;
    enum tv_store_status status =
        tv_store_claim_take(chunk->store, &chunk->claim, &at, TV_STORE_BUSY);
    if (status == TV_STORE_BUSY) {
        tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "this upload is just being finished");
        return status;
    }
    if (status == TV_STORE_WRONG_OFFSET) {
        *held = at;
        return chunk_fail_offset(at, err);
    }
    status = chunk_open_at(chunk, offset, held, err);
    if (status == TV_STORE_OK)
        tv_store_claim_leave(chunk->store, &chunk->claim, chunk->at);
    else
        tv_store_claim_drop(chunk->store, &chunk->claim);
    return status;
}

enum tv_store_status tv_store_chunk_begin(struct tv_store *store, const char *uid, uint64_t offset,
                                          struct tv_store_chunk **chunk, uint64_t *held,
                                          struct tv_error *err)
{
    *held = 0;
    if (!tv_store_is_id(uid))
        return tv_store_not_found(err, "upload");
    struct tv_store_chunk *made = tv_alloc(1, sizeof *made);
    made->store = store;
    made->fd = -1;
    snprintf(made->claim.uid.text, sizeof made->claim.uid.text, "%s", uid);
    enum tv_store_status status = chunk_begin(made, offset, held, err);
    if (status == TV_STORE_OK)
        *chunk = made;
    else
        tv_free(made);
    return status;
}

/* ---- Write ---- */

/* Write the bytes, and return how many were written. Fewer than all: errno says why. */
static size_t chunk_write_bytes(int fd, uint64_t at, struct tv_bytes bytes)
{
    size_t done = 0;
    while (done < bytes.length) {
        size_t part = bytes.length - done < LARGEST_IO ? bytes.length - done : LARGEST_IO;
        ssize_t n = pwrite(fd, bytes.data + done, part, (off_t)(at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        done += (size_t)n;
    }
    return done;
}

static enum tv_store_status chunk_fail_disk(struct tv_store_chunk *chunk)
{
    tv_fail(&chunk->error, TV_ERR_LIMIT, TV_NO_OFFSET, "the disk does not take it: %s",
            strerror(errno));
    return chunk_fail(chunk, TV_STORE_FULL);
}

/* Record in the catalogue that the bytes are on disk. The row of an unfinished upload must itself
 * be durable; that of a complete one follows at once, together with its trace. */
static enum tv_store_status chunk_record_held(struct tv_store_chunk *chunk)
{
    struct tv_db *db = &chunk->store->write;
    struct tv_error err;
    enum tv_store_status status = TV_STORE_OK;
    tv_db_begin(db, chunk->at < chunk->most ? TV_DB_DURABLE : TV_DB_QUICK);
    if (tv_db_run(db, "UPDATE uploads SET held=?, touched=? WHERE uid=? AND done=0", "iiz",
                  (int64_t)chunk->at, tv_store_now(), chunk->claim.uid.text) == 0)
        status = tv_store_not_found(&err, "upload");
    status = tv_db_end(db, status, &err);
    if (status == TV_STORE_OK)
        return status;
    chunk->error = err;
    return chunk_fail(chunk, status);
}

/* Sync the bytes to disk. After a failed sync the kernel may show bytes that are not on disk and
 * report no error a second time, so cut the file to its last good length. */
static enum tv_store_status chunk_sync(struct tv_store_chunk *chunk)
{
    assert(chunk->fd >= 0 && chunk->synced <= chunk->at);
    struct tv_store *store = chunk->store;
    /* sync the new file's name as well, once; a complete upload gets another name at once */
    bool first = chunk->synced == 0 && chunk->at < chunk->most;
    if (fdatasync(chunk->fd) == 0 && (!first || fsync(store->uploads) == 0)) {
        chunk->synced = chunk->at;
        return chunk_record_held(chunk);
    }
    enum tv_store_status status = chunk_fail_disk(chunk);
    if (ftruncate(chunk->fd, (off_t)chunk->synced) == 0) {
        tv_store_count(store, &store->totals.upload_bytes, -(int64_t)(chunk->at - chunk->synced));
        chunk->at = chunk->synced;
    }
    return status;
}

/* Write bytes for which space is reserved, and sync from time to time. */
static enum tv_store_status chunk_write_and_sync(struct tv_store_chunk *chunk,
                                                 struct tv_bytes bytes)
{
    assert(chunk->claim.inside && bytes.length <= chunk->most - chunk->at);
    struct tv_store *store = chunk->store;
    enum tv_store_status status = TV_STORE_OK;
    size_t done = chunk_write_bytes(chunk->fd, chunk->at, bytes);
    chunk->at += done;
    if (done < bytes.length) {
        status = chunk_fail_disk(chunk);
        tv_store_count(store, &store->totals.upload_bytes, -(int64_t)(bytes.length - done));
    } else if (chunk->at - chunk->synced >= SYNC_BYTES) {
        status = chunk_sync(chunk);
    }
    return status;
}

/* Write bytes at the end of the upload. The claim is entered for this write only: another
 * connection that took it over while the client paused is noticed here. Room is reserved before the
 * write, not after. */
static enum tv_store_status chunk_write(struct tv_store_chunk *chunk, struct tv_bytes bytes)
{
    if (bytes.length > chunk->most - chunk->at) {
        tv_fail(&chunk->error, TV_ERR_LIMIT, TV_NO_OFFSET,
                "more than the %" PRIu64 " bytes that were announced or are allowed", chunk->most);
        return chunk_fail(chunk, TV_STORE_TOO_LARGE);
    }
    enum tv_store_status status = tv_store_claim_enter(chunk->store, &chunk->claim);
    if (status != TV_STORE_OK)
        return chunk_fail_claim_lost(chunk, status);
    status = tv_store_reserve_bytes(chunk->store, bytes.length, false, &chunk->error);
    status = status == TV_STORE_OK ? chunk_write_and_sync(chunk, bytes) : chunk_fail(chunk, status);
    tv_store_claim_leave(chunk->store, &chunk->claim, chunk->at);
    return status;
}

enum tv_store_status tv_store_chunk_announce(struct tv_store_chunk *chunk, uint64_t bytes,
                                             struct tv_error *err)
{
    enum tv_store_status status = tv_store_claim_enter(chunk->store, &chunk->claim);
    if (status != TV_STORE_OK) {
        chunk_fail_claim_lost(chunk, status);
        if (err)
            *err = chunk->error;
        return status;
    }
    status = tv_store_upload_announce(chunk->store, chunk->claim.uid.text, bytes, err);
    if (status == TV_STORE_OK)
        chunk->most = bytes;
    tv_store_claim_leave(chunk->store, &chunk->claim, chunk->at);
    return status;
}

enum tv_store_status tv_store_chunk_write(struct tv_store_chunk *chunk, struct tv_bytes bytes,
                                          struct tv_error *err)
{
    if (chunk->failure == TV_STORE_OK && bytes.length > 0)
        chunk_write(chunk, bytes);
    if (chunk->failure != TV_STORE_OK && err)
        *err = chunk->error;
    return chunk->failure;
}

enum tv_store_status tv_store_chunk_end(struct tv_store_chunk *chunk, uint64_t *held,
                                        struct tv_error *err)
{
    enum tv_store_status status = tv_store_claim_enter(chunk->store, &chunk->claim);
    if (status != TV_STORE_OK)
        chunk_fail_claim_lost(chunk, status);
    else if (chunk->fd >= 0)
        chunk_sync(chunk);
    *held = chunk->at;
    if (chunk->failure != TV_STORE_OK && err)
        *err = chunk->error;
    status = chunk->failure;
    tv_store_claim_drop(chunk->store, &chunk->claim);
    if (chunk->fd >= 0)
        close(chunk->fd);
    tv_free(chunk);
    return status;
}
