/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - a store in a folder of its own for a test, and bytes to put into it.
 */
#ifndef TV_TESTS_STORE_PLACE_H
#define TV_TESTS_STORE_PLACE_H

#include "store/store.h"
#include "store/traces.h"
#include "store/uploads.h"

struct place {
    char folder[64]; /* the store's; "" before place_open made it */
    struct tv_store *store;
    struct tv_store_options options; /* report and context are the place's */
    char said[8192];                 /* all that was reported, a line each */
};

/* Opens a store in the folder, a new one the first time.  It must succeed. */
void place_open(struct place *place);

/* Closes the store and opens it again. */
void place_reopen(struct place *place);

/* Closes it and removes the folder. */
void place_remove(struct place *place);

/* Whether a file is in the store, and its size. */
bool place_has(const struct place *place, const char *name);
uint64_t place_size(const struct place *place, const char *name);

/* How many files a folder of the store has, and their bytes. */
size_t place_count(const struct place *place, const char *folder);
uint64_t place_bytes(const struct place *place, const char *folder);

/* Writes a file of the store from outside. */
void place_write(const struct place *place, const char *name, const char *text);

/* Runs SQL on the catalogue from outside, while the store is closed. */
void place_sql(const struct place *place, const char *sql);

/* Bytes that only depend on the seed and where they are. */
void seed_bytes(uint32_t seed, uint64_t at, uint8_t *bytes, size_t length);

/* Whether the file has so many of them and nothing else. */
bool holds_seed(int fd, uint32_t seed, uint64_t bytes);

/* Begins an upload; TV_STORE_SIZE_UNKNOWN is possible. */
struct tv_store_id begin_upload(struct tv_store *store, const char *name, uint64_t bytes);

/* Puts a piece of seed bytes; what piece_end says. */
enum tv_store_status put_piece(struct tv_store *store, const char *uid, uint32_t seed,
                               uint64_t offset, size_t bytes, uint64_t *held);

/* A whole trace of seed bytes. */
struct tv_store_id put_trace(struct tv_store *store, const char *name, uint32_t seed, size_t bytes);

#endif
