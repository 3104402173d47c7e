/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/sample.h"

#include <string.h>

#include "base/memory.h"
#include "base/bytes.h"
#include "base/file.h"
#include "store/files.h"
#include "store/search.h"

#define LABEL "sample"
#define PIECE ((size_t)256 * 1024)
/* Traces with the label that are looked at: others may have given it to theirs. */
#define MOST_LABELLED 100u

static bool same_bytes(struct tv_source *one, struct tv_source *other)
{
    struct tv_error err;
    uint64_t bytes = tv_source_size(one), at = 0;
    uint8_t *buffers = tv_alloc(2, PIECE);
    bool same = tv_source_size(other) == bytes;
    while (same && at < bytes) {
        size_t got, other_got;
        same = tv_source_read(one, at, buffers, PIECE, &got, &err) == TV_OK &&
               tv_source_read(other, at, buffers + PIECE, got, &other_got, &err) == TV_OK &&
               got > 0 && got == other_got && memcmp(buffers, buffers + PIECE, got) == 0;
        at += same ? got : 0;
    }
    tv_free(buffers);
    return same;
}

static bool is_sample(struct tv_hub *hub, const struct tv_store_trace *trace,
                      struct tv_source *file)
{
    struct tv_error err;
    struct tv_source *kept;
    uint64_t bytes;
    int fd;
    if (trace->bytes != tv_source_size(file) ||
        tv_store_file_open(hub->store, trace->id.text, &fd, &bytes, &err) != TV_STORE_OK)
        return false;
    if (tv_source_open_fd(fd, trace->name, &kept, &err) != TV_OK)
        return false;
    bool same = same_bytes(kept, file);
    tv_source_free(kept);
    return same;
}

/* Looks for it among those with the label. */
static bool find(struct tv_hub *hub, struct tv_source *file)
{
    const struct tv_store_query query = {.label = tv_bytes_of(LABEL), .limit = MOST_LABELLED};
    struct tv_store_page page = {0};
    struct tv_arena arena;
    struct tv_error err;
    bool found = false;
    tv_arena_init(&arena);
    if (tv_store_search(hub->store, &query, &arena, &page, &err) != TV_STORE_OK)
        page.count = 0;
    for (size_t i = 0; i < page.count && !found; i++) {
        found = is_sample(hub, &page.traces[i], file);
        if (found)
            hub->sample = page.traces[i].id;
    }
    tv_arena_release(&arena);
    return found;
}

static enum tv_store_status copy(struct tv_store_piece *piece, struct tv_source *file,
                                 struct tv_error *err)
{
    uint8_t *buffer = tv_alloc(PIECE, 1);
    enum tv_store_status status = TV_STORE_OK;
    size_t got;
    for (uint64_t at = 0; at < tv_source_size(file) && status == TV_STORE_OK; at += got) {
        if (tv_source_read(file, at, buffer, PIECE, &got, err) != TV_OK)
            status = TV_STORE_FAILED;
        else
            status = tv_store_piece_add(piece, (struct tv_bytes){buffer, got}, err);
    }
    tv_free(buffer);
    return status;
}

/* Puts the file into the store, as an upload. */
static enum tv_store_status put(struct tv_hub *hub, struct tv_source *file, struct tv_error *err)
{
    const struct tv_bytes label = tv_bytes_of(LABEL);
    const struct tv_store_new_upload upload = {
        .name = tv_bytes_of("example.trace"),
        .bytes = tv_source_size(file),
        .labels = &label,
        .label_count = 1,
    };
    const bool pinned = true;
    const struct tv_store_change change = {.pinned = &pinned};
    struct tv_store_id uid;
    struct tv_store_piece *piece;
    uint64_t held;
    enum tv_store_status status = tv_store_upload_begin(hub->store, &upload, &uid, err);
    if (status != TV_STORE_OK)
        return status;
    status = tv_store_piece_begin(hub->store, uid.text, 0, &piece, &held, err);
    if (status == TV_STORE_OK) {
        status = copy(piece, file, err);
        enum tv_store_status ended = tv_store_piece_end(piece, &held, err);
        status = status == TV_STORE_OK ? ended : status;
    }
    if (status == TV_STORE_OK)
        status = tv_store_upload_finish(hub->store, uid.text, &hub->sample, err);
    if (status == TV_STORE_OK)
        status = tv_store_trace_change(hub->store, hub->sample.text, &change, err);
    return status;
}

void tv_sample_find(struct tv_hub *hub)
{
    struct tv_source *file;
    struct tv_error err = {0};
    if (tv_source_open_file(hub->options.sample, &file, &err) != TV_OK) {
        tv_error_prefix(&err, "%s", hub->options.sample);
        tv_log_failure(&hub->options.log, "sample.missing", NULL, &err);
        return;
    }
    if (!find(hub, file) && put(hub, file, &err) != TV_STORE_OK)
        tv_log_failure(&hub->options.log, "sample.missing", NULL, &err);
    tv_source_free(file);
}
