/* SPDX-License-Identifier: Apache-2.0 */
/* ---- zstd: the end of the last frame (RFC 8878, section 3.1) ----
 *
 * libarchive treats the bytes behind the last frame as another frame, and drops the block that
 * it has just unpacked when they are none. So libarchive gets only the bytes of frames. */
#ifndef TV_UNPACK_ZSTD_FRAMES_H
#define TV_UNPACK_ZSTD_FRAMES_H

#include "base/source.h"

/* A walk over the frames. Zeros: at the start of the bytes. */
struct tv_zstd_frames {
    uint64_t at;  /* offset of the next frame or block */
    bool inside;  /* inside a frame whose blocks have not ended */
    bool summed;  /* the frame has a checksum */
    bool unknown; /* the stream cannot be walked, so nothing is dropped */
    bool ended;   /* other frames ended at `at`, and no frame begins there */
    bool damaged; /* the bytes at `at` are not padding with zeros either */
};

/* Return the end of the frames among the packed bytes up to `limit`. At the end of a frame, four
 * more bytes decide whether another frame follows. */
uint64_t tv_zstd_frames_end(struct tv_zstd_frames *frames, struct tv_source *packed,
                            uint64_t limit);

#endif
