/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - a store in a directory of its own, and bytes to upload, for the tests of this module.
 */
#ifndef TV_TESTS_STORE_PLACE_H
#define TV_TESTS_STORE_PLACE_H

#include "store/store.h"
#include "store/traces.h"
#include "store/uploads.h"

struct place {
    char folder[64]; /* of the store; "" before place_open made it */
    struct tv_store *store;
    struct tv_store_options options; /* place_open sets report and context */
    char said[8192];                 /* everything reported, one per line */
};

/* Open the store, or create it the first time. This must succeed. */
void place_open(struct place *place);

/* Close the store and open it again. */
void place_reopen(struct place *place);

/* Close the store and remove the directory. */
void place_remove(struct place *place);

/* Return true when the store has this file; get its size. */
bool place_has(const struct place *place, const char *name);
uint64_t place_size(const struct place *place, const char *name);

/* Count the files in a directory of the store, and their bytes. */
size_t place_count(const struct place *place, const char *folder);
uint64_t place_bytes(const struct place *place, const char *folder);

/* Write a file of the store from outside. */
void place_write(const struct place *place, const char *name, const char *text);

/* Wait until what is uploaded next is later than what was uploaded before. */
void place_wait_for_later(void);

/* Let the cache of a trace have been used so many seconds ago. */
void place_age_cache(const struct place *place, const char *id, int64_t seconds);

/* Run SQL on the catalogue from outside, while the store is closed. */
void place_sql(const struct place *place, const char *sql);

/* Make bytes that depend on the seed and their position only. */
void seed_bytes(uint32_t seed, uint64_t at, uint8_t *bytes, size_t length);

/* Return true when the file consists of exactly these bytes. */
bool holds_seed(int fd, uint32_t seed, uint64_t bytes);

/* Begin an upload; TV_STORE_SIZE_UNKNOWN is allowed. */
struct tv_store_id begin_upload(struct tv_store *store, const char *name, uint64_t bytes);

/* Upload a chunk of seed bytes. Return the status of tv_store_chunk_end. */
enum tv_store_status put_piece(struct tv_store *store, const char *uid, uint32_t seed,
                               uint64_t offset, size_t bytes, uint64_t *held);

/* Upload a whole trace of seed bytes. */
struct tv_store_id put_trace(struct tv_store *store, const char *name, uint32_t seed, size_t bytes);

#endif
