/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink.h - who takes a reader's events: the builder (model), the streaming profile and call tree
 * (analysis), the dump (writers).
 *
 * For each input the reader calls
 *
 *     begin(parts)
 *     for each pass in 0 .. passes - 1:
 *         take(pass, part, batch) ...     parts run side by side, each in its own order
 *         splice(pass)                    one thread again
 *     end()
 *
 * A part is a stretch of the input; the parts are consecutive.  With one part the reading is
 * serial.  What a part's walk cannot decide without knowing its start (walk.h) makes splice
 * answer TV_SPLICE_SERIAL; the reader then calls begin again with one part.  A sink may ask for
 * that once more after one part, when it must do its work in another way.  The reader may also
 * call begin again by itself after it stopped half-way through pass 0 (it met a thread or method
 * that it had to add to the head).  A sink that cannot start afresh says `writes`: it gets one
 * part, and each event once.  When begin comes again for its input, the head has more threads and
 * frames behind those it had, and the events go on where they stopped.
 */
#ifndef TV_MODEL_SINK_H
#define TV_MODEL_SINK_H

#include "model/event.h"
#include "model/head.h"

enum tv_splice {
    TV_SPLICE_DONE,
    TV_SPLICE_SERIAL,
};

struct tv_sink;

struct tv_sink_ops {
    unsigned passes; /* 1 or 2 */
    bool writes;     /* output leaves while events come: cannot start afresh */
    void (*begin)(struct tv_sink *sink, struct tv_head *head, uint32_t input, unsigned parts);
    void (*take)(struct tv_sink *sink, unsigned pass, unsigned part, const struct tv_batch *batch);
    enum tv_splice (*splice)(struct tv_sink *sink, unsigned pass);
    void (*end)(struct tv_sink *sink);
};

/* The first member of every sink. */
struct tv_sink {
    const struct tv_sink_ops *ops;
};

#endif
