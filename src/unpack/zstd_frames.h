/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstd_frames.h - where the frames of a zstd stream end (RFC 8878, section 3.1).
 *
 * libarchive takes what follows the last frame for another one, and drops the block that it has
 * unpacked when that is none.
 */
#ifndef TV_UNPACK_ZSTD_FRAMES_H
#define TV_UNPACK_ZSTD_FRAMES_H

#include "base/source.h"

/* Zeroed: at the start of the bytes. */
struct tv_zstd_frames {
    uint64_t at;  /* of the next frame or block */
    bool inside;  /* a frame, whose blocks are not over */
    bool summed;  /* the frame has a checksum */
    bool unknown; /* what cannot be walked: nothing is left out */
    bool ended;   /* no frame begins at `at`, where others ended */
    bool damaged; /* and what stands there is no padding of zeros */
};

/* Of packed bytes that came up to the limit, how far those of frames go.  At the end of a frame
 * waits for four bytes more. */
uint64_t tv_zstd_frames_end(struct tv_zstd_frames *frames, struct tv_source *packed,
                            uint64_t limit);

#endif
