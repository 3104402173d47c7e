/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uploads.h - traces on their way into the store, in one chunk or many.
 *
 *     begin -> (begin chunk -> write ... -> end chunk) ... -> finish
 *
 * Bytes are written to disk as they arrive.  An upload has one writer at a time: a client that
 * begins a chunk where the bytes end takes over from a connection that hangs, and that one gets
 * TV_STORE_BUSY from then on.
 */
#ifndef TV_STORE_UPLOADS_H
#define TV_STORE_UPLOADS_H

#include "store/store.h"

#define TV_STORE_SIZE_UNKNOWN UINT64_MAX

/* Longer names are cut, in bytes. */
#define TV_STORE_NAME 255u

/* Maximum number of labels of a trace, and bytes of a label. */
#define TV_STORE_LABELS 32u
#define TV_STORE_LABEL 64u

struct tv_store_new_upload {
    struct tv_bytes name;          /* from the client, only for display; empty: "trace" */
    uint64_t bytes;                /* announced size, or TV_STORE_SIZE_UNKNOWN */
    const struct tv_bytes *labels; /* of the future trace */
    size_t label_count;
    struct tv_bytes client; /* bytes that identify the client; empty: unknown */
};

/* Begin an upload.  If too many are in progress, of this client or in total, the oldest one without
 * bytes is dropped.  TV_STORE_TOO_LARGE: larger than an upload may be; TV_STORE_FULL: no space can
 * be freed for it, or too many uploads with bytes are in progress; TV_STORE_INVALID: a bad label.
 */
enum tv_store_status tv_store_upload_begin(struct tv_store *store,
                                           const struct tv_store_new_upload *upload,
                                           struct tv_store_id *uid,
                                           struct tv_error *err) TV_MUST_CHECK;

struct tv_store_upload {
    uint64_t held;  /* bytes received: the offset of the next chunk */
    uint64_t bytes; /* announced size, or TV_STORE_SIZE_UNKNOWN */
    bool done;      /* it has become a trace; remembered until it expires, so that a client
                       that missed the answer finds the trace */
    struct tv_store_id trace; /* the identifier of the trace, also before it exists */
    int64_t expires_ms;       /* when it is dropped unless another chunk arrives */
};

/* Look up an upload. */
enum tv_store_status tv_store_upload_get(struct tv_store *store, const char *uid,
                                         struct tv_store_upload *upload,
                                         struct tv_error *err) TV_MUST_CHECK;

/* Begin a chunk at this offset.  *held is the number of bytes received, also with
 * TV_STORE_WRONG_OFFSET.  TV_STORE_BUSY: the upload is being finished. */
struct tv_store_chunk;
enum tv_store_status tv_store_chunk_begin(struct tv_store *store, const char *uid, uint64_t offset,
                                          struct tv_store_chunk **chunk, uint64_t *held,
                                          struct tv_error *err) TV_MUST_CHECK;

/* Announce the size of an upload that began with TV_STORE_SIZE_UNKNOWN.  Only its writer may, so
 * that nobody writes beyond it.  TV_STORE_WRONG_OFFSET: another size was announced before, or more
 * bytes have arrived; TV_STORE_BUSY and TV_STORE_NOT_FOUND as for tv_store_chunk_write. */
enum tv_store_status tv_store_chunk_announce(struct tv_store_chunk *chunk, uint64_t bytes,
                                             struct tv_error *err) TV_MUST_CHECK;

/* Write the next bytes.  After an error all later calls fail the same way, the bytes before stay,
 * and tv_store_chunk_end must still be called.  TV_STORE_TOO_LARGE: none of these bytes was
 * written; TV_STORE_FULL: some may have been; TV_STORE_BUSY: another connection took over;
 * TV_STORE_NOT_FOUND: the upload was cancelled. */
enum tv_store_status tv_store_chunk_write(struct tv_store_chunk *chunk, struct tv_bytes bytes,
                                          struct tv_error *err) TV_MUST_CHECK;

/* Sync the bytes to disk and free the chunk, also when the client disconnected.  *held is the
 * number of bytes of the upload that are safe; the result is that of the first failure. */
enum tv_store_status tv_store_chunk_end(struct tv_store_chunk *chunk, uint64_t *held,
                                        struct tv_error *err) TV_MUST_CHECK;

/* Make a trace of a complete upload (an unknown size is complete at any time), which then waits to
 * be read.  A repeated call returns the same trace.  TV_STORE_WRONG_OFFSET: bytes are missing;
 * TV_STORE_BUSY: a chunk is being written. */
enum tv_store_status tv_store_upload_finish(struct tv_store *store, const char *uid,
                                            struct tv_store_id *trace,
                                            struct tv_error *err) TV_MUST_CHECK;

/* Drop an upload and its bytes, even while a chunk is being written.  A finished upload is
 * TV_STORE_NOT_FOUND: its trace stays. */
enum tv_store_status tv_store_upload_cancel(struct tv_store *store, const char *uid,
                                            struct tv_error *err) TV_MUST_CHECK;

#endif
