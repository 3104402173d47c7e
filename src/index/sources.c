/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sources.c - sources that open when they are first read.  A trace from an index needs its file
 * only for the arguments of events, and unpacking a compressed file takes time.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/source.h"
#include "base/workers.h"
#include "index/index.h"
#include "index/layout.h"

struct tv_index_lender {
    struct tv_index_inputs inputs;
    bool there;
    struct tv_lock lock; /* one source is opened at a time */
    atomic_uint holders; /* the creator and its sources */
};

struct late_source {
    struct tv_index_lender *lender;
    uint32_t number;
    uint64_t size;
    _Atomic(struct tv_source *) source; /* NULL: not opened yet */
    struct tv_error failure;            /* status TV_OK: no failure yet */
};

struct tv_index_lender *tv_index_lender_new(const struct tv_index_inputs *inputs)
{
    struct tv_index_lender *lender = tv_alloc(1, sizeof *lender);
    if (inputs)
        lender->inputs = *inputs;
    lender->there = inputs != NULL;
    tv_lock_init(&lender->lock);
    atomic_init(&lender->holders, 1);
    return lender;
}

void tv_index_lender_release(struct tv_index_lender *lender)
{
    unsigned holders = atomic_fetch_sub(&lender->holders, 1);
    assert(holders > 0);
    if (holders > 1)
        return;
    if (lender->inputs.free)
        lender->inputs.free(lender->inputs.context);
    tv_lock_release(&lender->lock);
    tv_free(lender);
}

/* Open the source.  The caller holds the lock. */
static void late_source_open(struct late_source *late)
{
    const struct tv_index_inputs *inputs = &late->lender->inputs;
    struct tv_source *source = NULL;
    if (late->failure.status != TV_OK ||
        inputs->open(inputs->context, late->number, &source, &late->failure) != TV_OK)
        return;
    uint64_t size = tv_source_size(source);
    if (size == late->size) {
        atomic_store_explicit(&late->source, source, memory_order_release);
        return;
    }
    tv_source_free(source);
    tv_fail(&late->failure, TV_ERR_IO, TV_NO_OFFSET,
            "the file changed since it was read: it had %" PRIu64 " bytes, now it has %" PRIu64,
            late->size, size);
}

/* Read from a file that is opened at the first read, by whichever thread comes first. */
static enum tv_status late_source_read(void *context, uint64_t offset, void *buffer, size_t size,
                                       struct tv_error *err)
{
    struct late_source *late = context;
    struct tv_source *source = atomic_load_explicit(&late->source, memory_order_acquire);
    size_t got;
    if (!source) {
        tv_lock_enter(&late->lender->lock);
        if (!atomic_load_explicit(&late->source, memory_order_relaxed))
            late_source_open(late);
        tv_lock_leave(&late->lender->lock);
        source = atomic_load_explicit(&late->source, memory_order_acquire);
    }
    if (!source) {
        if (err)
            *err = late->failure; /* final, so no lock is needed */
        return late->failure.status;
    }
    return tv_source_read(source, offset, buffer, size, &got, err);
}

static void late_source_close(void *context)
{
    struct late_source *late = context;
    tv_source_free(atomic_load_explicit(&late->source, memory_order_relaxed));
    tv_index_lender_release(late->lender);
    tv_free(late);
}

struct tv_source *tv_index_lender_source(struct tv_index_lender *lender, uint32_t number,
                                         uint64_t size, const char *name)
{
    static const struct tv_source_reads reads = {.read = late_source_read,
                                                 .close = late_source_close};
    if (!lender->there)
        return NULL;
    struct late_source *late = tv_alloc(1, sizeof *late);
    late->lender = lender;
    late->number = number;
    late->size = size;
    atomic_init(&late->source, NULL);
    atomic_fetch_add(&lender->holders, 1);
    return tv_source_from_reads(&reads, late, size, name);
}

static enum tv_status copied_source_read(void *context, uint64_t offset, void *buffer, size_t size,
                                         struct tv_error *err)
{
    (void)err;
    memcpy(buffer, (const uint8_t *)context + offset, size);
    return TV_OK;
}

struct tv_source *tv_index_copied_source(struct tv_bytes bytes, const char *name)
{
    static const struct tv_source_reads reads = {.read = copied_source_read, .close = tv_free};
    uint8_t *copy = tv_alloc(bytes.length, 1);
    if (bytes.length > 0)
        memcpy(copy, bytes.data, bytes.length);
    return tv_source_from_reads(&reads, copy, bytes.length, name);
}
