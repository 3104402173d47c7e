/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claims.c - one writer for each upload.  There are as many claims as connections that write, so a
 * list will do.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/internal.h"
#include "store/uploads.h"

/* With claim_lock held. */
static struct tv_store_claim **claim_find(struct tv_store *store, const char *uid)
{
    struct tv_store_claim **link = &store->claims;
    while (*link && strcmp((*link)->uid.text, uid) != 0)
        link = &(*link)->next;
    return link;
}

/* The claim that is in the way, away from the file. */
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

/*
 * pieces.c - bytes of an upload on their way to its file.
 *
 * The file's length is the offset.  The row follows when the bytes are on the disk: after the power
 * went, a start cuts the file there, for what lies behind may be anything (recovery.c).
 */

/* After so many bytes of one piece they are put on the disk: not more is lost with the power, nor
 * waits in memory. */
#define SYNC_BYTES ((uint64_t)64 * 1024 * 1024)

/* Linux moves at most 2 GiB - 4 KiB a call. */
#define LARGEST_IO ((size_t)1 << 30)

struct tv_store_chunk {
    struct tv_store *store;
    struct tv_store_claim claim;
    int fd;
    uint64_t at, synced, most;    /* `most`: the upload must not have more bytes */
    enum tv_store_status failure; /* the first one */
    struct tv_error error;
};

static enum tv_store_status chunk_fail(struct tv_store_chunk *piece, enum tv_store_status status)
{
    if (piece->failure == TV_STORE_OK)
        piece->failure = status;
    return status;
}

static enum tv_store_status chunk_fail_claim_lost(struct tv_store_chunk *piece, enum tv_store_status verdict)
{
    if (verdict == TV_STORE_NOT_FOUND)
        tv_store_not_found(&piece->error, "upload (any more)");
    else
        tv_fail(&piece->error, TV_ERR_USAGE, TV_NO_OFFSET,
                "another connection goes on with this upload");
    return chunk_fail(piece, verdict);
}

/* Beginning. */

static enum tv_store_status chunk_fail_offset(uint64_t held, struct tv_error *err)
{
    tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "%" PRIu64 " bytes are here: go on with these", held);
    return TV_STORE_WRONG_OFFSET;
}

/* How far the upload may go. */
static enum tv_store_status chunk_find_limit(struct tv_store_chunk *piece, struct tv_error *err)
{
    struct tv_store_upload upload;
    uint64_t most = piece->store->options.max_upload_bytes;
    enum tv_store_status status =
        tv_store_upload_get(piece->store, piece->claim.uid.text, &upload, err);
    if (status != TV_STORE_OK)
        return status;
    most = most == 0 || most > INT64_MAX ? INT64_MAX : most;
    piece->most = upload.bytes < most ? upload.bytes : most;
    piece->at = upload.held;
    return TV_STORE_OK;
}

static enum tv_store_status chunk_find_synced(struct tv_store_chunk *piece, struct tv_error *err)
{
    struct tv_db *db = &piece->store->read;
    tv_db_begin(db, TV_DB_READ);
    uint64_t held = (uint64_t)tv_db_number(db, 0, "SELECT held FROM uploads WHERE uid=?", "z",
                                           piece->claim.uid.text);
    piece->synced = held < piece->at ? held : piece->at;
    return tv_db_end(db, TV_STORE_OK, err);
}

/* With the claim: opens the file at the offset. */
static enum tv_store_status chunk_open_at(struct tv_store_chunk *piece, uint64_t offset, uint64_t *held,
                                    struct tv_error *err)
{
    enum tv_store_status status = chunk_find_limit(piece, err);
    if (status != TV_STORE_OK)
        return status;
    *held = piece->at;
    if (offset != piece->at)
        return chunk_fail_offset(piece->at, err);
    status = chunk_find_synced(piece, err);
    if (status != TV_STORE_OK)
        return status;
    piece->fd = tv_store_open_file(piece->store->uploads, piece->claim.uid.text, O_WRONLY);
    /* One that is done takes an empty piece at its end, which changes nothing. */
    if (piece->fd < 0 && piece->at < piece->most)
        return tv_store_not_found(err, "upload");
    return TV_STORE_OK;
}

static enum tv_store_status chunk_begin(struct tv_store_chunk *piece, uint64_t offset, uint64_t *held,
                                  struct tv_error *err)
{
    uint64_t at = offset;
    piece->claim.can_be_taken = true;
    enum tv_store_status status =
        tv_store_claim_take(piece->store, &piece->claim, &at, TV_STORE_BUSY);
    if (status == TV_STORE_BUSY) {
        tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "this upload is just being finished");
        return status;
    }
    if (status == TV_STORE_WRONG_OFFSET) {
        *held = at;
        return chunk_fail_offset(at, err);
    }
    status = chunk_open_at(piece, offset, held, err);
    if (status == TV_STORE_OK)
        tv_store_claim_leave(piece->store, &piece->claim, piece->at);
    else
        tv_store_claim_drop(piece->store, &piece->claim);
    return status;
}

enum tv_store_status tv_store_chunk_begin(struct tv_store *store, const char *uid, uint64_t offset,
                                          struct tv_store_chunk **piece, uint64_t *held,
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
        *piece = made;
    else
        tv_free(made);
    return status;
}

/* Writing. */

/* How many of the bytes the disk took; fewer than all: errno says why. */
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

static enum tv_store_status chunk_fail_disk(struct tv_store_chunk *piece)
{
    tv_fail(&piece->error, TV_ERR_LIMIT, TV_NO_OFFSET, "the disk does not take it: %s",
            strerror(errno));
    return chunk_fail(piece, TV_STORE_FULL);
}

/* Write down that the bytes are on the disk.  After a loss of power the upload goes on from here
 * only if its row is on the disk as well; that of a complete upload is about to be, with its trace.
 */
static enum tv_store_status chunk_record_held(struct tv_store_chunk *piece)
{
    struct tv_db *db = &piece->store->write;
    struct tv_error err;
    enum tv_store_status status = TV_STORE_OK;
    tv_db_begin(db, piece->at < piece->most ? TV_DB_DURABLE : TV_DB_QUICK);
    if (tv_db_run(db, "UPDATE uploads SET held=?, touched=? WHERE uid=? AND done=0", "iiz",
                  (int64_t)piece->at, tv_store_now(), piece->claim.uid.text) == 0)
        status = tv_store_not_found(&err, "upload");
    status = tv_db_end(db, status, &err);
    if (status == TV_STORE_OK)
        return status;
    piece->error = err;
    return chunk_fail(piece, status);
}

/* Puts the bytes on the disk.  What it does not take then may not be there at a second look, though
 * it seems to: so it is cut off. */
static enum tv_store_status chunk_sync(struct tv_store_chunk *piece)
{
    struct tv_store *store = piece->store;
    /* The file's name, once; one that is complete gets another name at once. */
    bool first = piece->synced == 0 && piece->at < piece->most;
    if (fdatasync(piece->fd) == 0 && (!first || fsync(store->uploads) == 0)) {
        piece->synced = piece->at;
        return chunk_record_held(piece);
    }
    enum tv_store_status status = chunk_fail_disk(piece);
    if (ftruncate(piece->fd, (off_t)piece->synced) == 0) {
        tv_store_count(store, &store->totals.upload_bytes, -(int64_t)(piece->at - piece->synced));
        piece->at = piece->synced;
    }
    return status;
}

/* Has room taken for the bytes already. */
static enum tv_store_status chunk_write_and_sync(struct tv_store_chunk *piece, struct tv_bytes bytes)
{
    struct tv_store *store = piece->store;
    enum tv_store_status status = TV_STORE_OK;
    size_t done = chunk_write_bytes(piece->fd, piece->at, bytes);
    piece->at += done;
    if (done < bytes.length) {
        status = chunk_fail_disk(piece);
        tv_store_count(store, &store->totals.upload_bytes, -(int64_t)(bytes.length - done));
    } else if (piece->at - piece->synced >= SYNC_BYTES) {
        status = chunk_sync(piece);
    }
    return status;
}

static enum tv_store_status chunk_write(struct tv_store_chunk *piece, struct tv_bytes bytes)
{
    if (bytes.length > piece->most - piece->at) {
        tv_fail(&piece->error, TV_ERR_LIMIT, TV_NO_OFFSET,
                "more than the %" PRIu64 " bytes that were announced or are allowed", piece->most);
        return chunk_fail(piece, TV_STORE_TOO_LARGE);
    }
    enum tv_store_status status = tv_store_claim_enter(piece->store, &piece->claim);
    if (status != TV_STORE_OK)
        return chunk_fail_claim_lost(piece, status);
    status = tv_store_reserve_bytes(piece->store, bytes.length, false, &piece->error);
    status = status == TV_STORE_OK ? chunk_write_and_sync(piece, bytes) : chunk_fail(piece, status);
    tv_store_claim_leave(piece->store, &piece->claim, piece->at);
    return status;
}

enum tv_store_status tv_store_chunk_announce(struct tv_store_chunk *piece, uint64_t bytes,
                                             struct tv_error *err)
{
    enum tv_store_status status = tv_store_claim_enter(piece->store, &piece->claim);
    if (status != TV_STORE_OK) {
        chunk_fail_claim_lost(piece, status);
        if (err)
            *err = piece->error;
        return status;
    }
    status = tv_store_upload_announce(piece->store, piece->claim.uid.text, bytes, err);
    if (status == TV_STORE_OK)
        piece->most = bytes;
    tv_store_claim_leave(piece->store, &piece->claim, piece->at);
    return status;
}

enum tv_store_status tv_store_chunk_write(struct tv_store_chunk *piece, struct tv_bytes bytes,
                                        struct tv_error *err)
{
    if (piece->failure == TV_STORE_OK && bytes.length > 0)
        chunk_write(piece, bytes);
    if (piece->failure != TV_STORE_OK && err)
        *err = piece->error;
    return piece->failure;
}

enum tv_store_status tv_store_chunk_end(struct tv_store_chunk *piece, uint64_t *held,
                                        struct tv_error *err)
{
    enum tv_store_status status = tv_store_claim_enter(piece->store, &piece->claim);
    if (status != TV_STORE_OK)
        chunk_fail_claim_lost(piece, status);
    else if (piece->fd >= 0)
        chunk_sync(piece);
    *held = piece->at;
    if (piece->failure != TV_STORE_OK && err)
        *err = piece->error;
    status = piece->failure;
    tv_store_claim_drop(piece->store, &piece->claim);
    if (piece->fd >= 0)
        close(piece->fd);
    tv_free(piece);
    return status;
}
