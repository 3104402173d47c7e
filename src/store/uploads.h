/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uploads.h - traces on their way into the store, in one piece or in many.
 *
 *     begin -> (begin_piece -> piece_add ... -> piece_end) ... -> finish
 *
 * A whole upload is a begin, one piece and a finish.  A piece goes to the disk while it comes.  An
 * upload has one writer: whoever begins a piece where the bytes end takes it over from one whose
 * connection hangs, which hears TV_STORE_BUSY from then on.
 */
#ifndef TV_STORE_UPLOADS_H
#define TV_STORE_UPLOADS_H

#include "store/store.h"

#define TV_STORE_SIZE_UNKNOWN UINT64_MAX

/* Longer names are cut. */
#define TV_STORE_NAME 255u

/* Labels: at most so many of a trace, of so many bytes each. */
#define TV_STORE_LABELS 32u
#define TV_STORE_LABEL 64u

struct tv_store_new_upload {
    struct tv_bytes name;          /* as the client says it: only ever shown.  None: "trace" */
    uint64_t bytes;                /* as announced, or TV_STORE_SIZE_UNKNOWN */
    const struct tv_bytes *labels; /* for the trace that becomes of it */
    size_t label_count;
    struct tv_bytes client; /* any bytes that tell clients apart; empty: of no known one */
};

/* Makes place for a trace.  When too many uploads are running, of this client or in all, the one of
 * them that has no bytes for the longest time is forgotten.  TV_STORE_TOO_LARGE: larger than an
 * upload may be; TV_STORE_FULL: no room can be made for it, or too many uploads with bytes are
 * running; TV_STORE_INVALID: a label is none. */
enum tv_store_status tv_store_upload_begin(struct tv_store *store,
                                           const struct tv_store_new_upload *upload,
                                           struct tv_store_id *uid,
                                           struct tv_error *err) TV_MUST_CHECK;

struct tv_store_upload {
    uint64_t held;            /* bytes that are there: where the next piece begins */
    uint64_t bytes;           /* announced, or TV_STORE_SIZE_UNKNOWN */
    bool done;                /* it became a trace already; kept until it expires, so that a client
                                 who missed the answer finds the trace */
    struct tv_store_id trace; /* the identifier that the trace has, or will have */
    int64_t expires_ms;       /* when it goes unless another piece comes */
};

/* What is known of an upload. */
enum tv_store_status tv_store_upload_get(struct tv_store *store, const char *uid,
                                         struct tv_store_upload *upload,
                                         struct tv_error *err) TV_MUST_CHECK;

/* Begins a piece at this offset.  *held is how many bytes are there, also with TV_STORE_WRONG_OFFSET;
 * TV_STORE_BUSY: just being finished. */
struct tv_store_chunk;
enum tv_store_status tv_store_chunk_begin(struct tv_store *store, const char *uid, uint64_t offset,
                                          struct tv_store_chunk **piece, uint64_t *held,
                                          struct tv_error *err) TV_MUST_CHECK;

/* Says how large the upload is, when it began with TV_STORE_SIZE_UNKNOWN: only its one writer may,
 * so that nobody writes beyond it.  TV_STORE_WRONG_OFFSET: something else was announced already, or more
 * is there; TV_STORE_BUSY and TV_STORE_NOT_FOUND as for tv_store_chunk_write. */
enum tv_store_status tv_store_chunk_announce(struct tv_store_chunk *piece, uint64_t bytes,
                                             struct tv_error *err) TV_MUST_CHECK;

/* Writes bytes of it.  After a failure the rest of the piece fails in the same way, what was there
 * stays, and tv_store_chunk_end is still to be called: TV_STORE_TOO_LARGE (nothing of these bytes
 * is taken), TV_STORE_FULL (some of these bytes may be taken), TV_STORE_BUSY
 * (somebody took over), TV_STORE_NOT_FOUND (cancelled). */
enum tv_store_status tv_store_chunk_write(struct tv_store_chunk *piece, struct tv_bytes bytes,
                                        struct tv_error *err) TV_MUST_CHECK;

/* Ends the piece, which is gone: its bytes are on the disk now.  *held is how many of the upload
 * are there; the status is that of the first failure.  Also to be called when the client went away.
 */
enum tv_store_status tv_store_chunk_end(struct tv_store_chunk *piece, uint64_t *held,
                                        struct tv_error *err) TV_MUST_CHECK;

/* Makes a trace of an upload of which all is there (of unknown size: what is there is all); it
 * waits to be read then.  Done already: the same trace again.  TV_STORE_WRONG_OFFSET: bytes are missing;
 * TV_STORE_BUSY: a piece is being written. */
enum tv_store_status tv_store_upload_finish(struct tv_store *store, const char *uid,
                                            struct tv_store_id *trace,
                                            struct tv_error *err) TV_MUST_CHECK;

/* Forgets an upload and its bytes, also while a piece of it is being written.  One that is done is
 * TV_STORE_NOT_FOUND: its trace is there and stays. */
enum tv_store_status tv_store_upload_cancel(struct tv_store *store, const char *uid,
                                            struct tv_error *err) TV_MUST_CHECK;

#endif
