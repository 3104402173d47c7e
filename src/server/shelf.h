/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shelf.h - every file that can be opened: those the program was started with, which only its
 * loader can read, and those that came over HTTP, each a file without a name in the folder for
 * temporary files.
 *
 * Files have numbers that are never used again.  What a client says of one (its name, its size, a
 * piece of it) is not trusted; a name is shown and never a path.  Everything here may be called
 * from several threads at once.
 */
#ifndef TV_SERVER_SHELF_H
#define TV_SERVER_SHELF_H

#include "base/error.h"
#include "base/types.h"

struct tv_out;
struct tv_shelf;
struct tv_source;

/* So many files that came over HTTP are kept: of more the oldest that is complete goes. */
#define TV_SHELF_UPLOADS 64u

/* Longer names are cut. */
#define TV_SHELF_NAME 255u

/* One that no piece came for so long is given up when there is need of its place. */
#define TV_SHELF_IDLE_SECONDS 600

struct tv_shelf *tv_shelf_new(void);

/* Nobody takes a piece in any more. */
void tv_shelf_free(struct tv_shelf *shelf);

/* A file of the program's own: they come first and have the numbers from 0. */
void tv_shelf_add_own(struct tv_shelf *shelf, const char *name);

/* Makes place for a file of so many bytes.  TV_ERR_LIMIT when there is none. */
enum tv_status tv_shelf_begin(struct tv_shelf *shelf, struct tv_bytes name, uint64_t bytes,
                              uint32_t *number, struct tv_error *err) TV_MUST_CHECK;

/*
 * Takes in a piece of a file, which must begin where the last one ended: *held is how much of the
 * file is there, also when this fails (TV_ERR_USAGE: it begins elsewhere, or another piece is just
 * coming; TV_ERR_IO: there is no such file).  Bytes beyond the size that was announced, and what
 * cannot be written, make the piece fail: tv_shelf_end_piece tells, and the file is gone then.
 */
struct tv_shelf_piece;
enum tv_status tv_shelf_begin_piece(struct tv_shelf *shelf, uint32_t number, uint64_t offset,
                                    struct tv_shelf_piece **piece, uint64_t *held,
                                    struct tv_error *err) TV_MUST_CHECK;
void tv_shelf_piece_add(struct tv_shelf_piece *piece, struct tv_bytes bytes);
enum tv_status tv_shelf_piece_end(struct tv_shelf_piece *piece, uint64_t *held,
                                  struct tv_error *err) TV_MUST_CHECK;

/* Forgets a file that came over HTTP, when all that have its source have freed it.  No such file:
 * nothing happens. */
void tv_shelf_drop(struct tv_shelf *shelf, uint32_t number);

/* A file that is there whole. */
struct tv_shelf_file {
    char name[TV_SHELF_NAME + 1];
    struct tv_source *source; /* to be freed; NULL: the program's own */
};

/* False when there is no such file, or it is not there whole. */
bool tv_shelf_get(struct tv_shelf *shelf, uint32_t number, struct tv_shelf_file *file);

/* "[{"input":0,"name":"app.trace","bytes":12},...]" of all that are there whole, and null where
 * only the loader knows how many bytes there are. */
void tv_shelf_write(struct tv_shelf *shelf, struct tv_out *out);

#endif
