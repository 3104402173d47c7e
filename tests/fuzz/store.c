/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - any order of calls about uploads and traces leaves a store that does what its headers
 * say, beside a plain model of it; now and then it is closed and opened again.
 *
 * The input is a list of steps: a byte for what is done (low half) and with which of the slots
 * (high half), and the texts and numbers that it takes.
 */
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "store/store.h"
#include "store/traces.h"
#include "store/uploads.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SLOTS 4u
#define STEPS 32u
#define MAX_BYTES 5000u

/* An upload, or the trace that it became, as it ought to be. */
struct slot {
    bool open, done;
    uint64_t announced, held;
    struct tv_store_id upload, trace;
    struct tv_store_chunk *piece;
};

struct run {
    struct tv_bytes input;
    struct slot slots[SLOTS];
    struct slot *slot; /* of the step */
    uint8_t step;
};

static struct tv_store *store;
static char folder[64];

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

/* ---- The store, which many runs share ---- */

static void open_store(void)
{
    struct tv_error err = {0};
    struct tv_store_options options = {.max_upload_bytes = MAX_BYTES,
                                       .max_store_bytes = 60000,
                                       .reserve_bytes = 1,
                                       .max_uploads = 64};
    require(tv_store_open(folder, &options, &store, &err) == TV_OK, err.message);
}

static void remove_store(void)
{
    char *roots[] = {folder, NULL};
    const FTSENT *entry;
    tv_store_close(store);
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    while (walk && (entry = fts_read(walk)) != NULL)
        if (entry->fts_info != FTS_D)
            remove(entry->fts_accpath);
    if (walk)
        fts_close(walk);
}

static void make_store(void)
{
    snprintf(folder, sizeof folder, "%s/fuzz-store-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    require(mkdtemp(folder) != NULL, "no folder");
    atexit(remove_store);
    open_store();
}

/* ---- The input ---- */

static uint8_t take_byte(struct run *run)
{
    if (run->input.length == 0)
        return 0;
    run->input.length--;
    return *run->input.data++;
}

static struct tv_bytes take_text(struct run *run)
{
    size_t length = take_byte(run);
    if (length > run->input.length)
        length = run->input.length;
    struct tv_bytes text = {run->input.data, length};
    run->input.data += length;
    run->input.length -= length;
    return text;
}

/* ---- Steps ---- */

static void begin_upload(struct run *run)
{
    struct slot *slot = run->slot;
    struct tv_error err;
    struct tv_bytes name = take_text(run), labels[2] = {take_text(run), take_text(run)};
    uint8_t bytes = take_byte(run);
    if (slot->open)
        return;
    struct tv_store_new_upload upload = {
        .name = name,
        .bytes = bytes == 255 ? TV_STORE_SIZE_UNKNOWN : bytes,
        .labels = labels,
        .label_count = labels[0].length > 0 ? 2 : 0,
        .client = name,
    };
    *slot = (struct slot){.announced = upload.bytes};
    slot->open = tv_store_upload_begin(store, &upload, &slot->upload, &err) == TV_STORE_OK;
}

static void begin_piece(struct run *run)
{
    struct slot *slot = run->slot;
    struct tv_error err;
    uint64_t at = take_byte(run), held = 0;
    if (!slot->open || slot->piece)
        return;
    at = at == 255 ? slot->held : at;
    enum tv_store_status status =
        tv_store_chunk_begin(store, slot->upload.text, at, &slot->piece, &held, &err);
    if (status == TV_STORE_WRONG_OFFSET)
        require(held == slot->held && at != held, "the bytes that are there, told to a piece");
    if (status == TV_STORE_OK)
        require(at == slot->held, "a piece that begins elsewhere");
    else
        slot->piece = NULL;
}

static void add_bytes(struct run *run)
{
    struct slot *slot = run->slot;
    struct tv_error err;
    struct tv_bytes text = take_text(run);
    if (!slot->piece)
        return;
    if (tv_store_chunk_write(slot->piece, text, &err) == TV_STORE_OK)
        slot->held += text.length;
    require(slot->held <= slot->announced, "more than was announced");
}

static void announce(struct run *run)
{
    struct slot *slot = run->slot;
    struct tv_error err;
    uint64_t bytes = take_byte(run);
    if (!slot->piece || tv_store_chunk_announce(slot->piece, bytes, &err) != TV_STORE_OK)
        return;
    require(slot->announced == TV_STORE_SIZE_UNKNOWN || slot->announced == bytes,
            "announced twice");
    require(slot->held <= bytes, "announced less than there is");
    slot->announced = bytes;
}

static void end_piece(struct run *run)
{
    struct slot *slot = run->slot;
    struct tv_error err;
    uint64_t held = 0;
    if (!slot->piece)
        return;
    enum tv_store_status status = tv_store_chunk_end(slot->piece, &held, &err);
    slot->piece = NULL;
    require(status != TV_STORE_OK || held == slot->held, "the bytes that a piece left");
}

static void finish_upload(struct run *run)
{
    struct slot *slot = run->slot;
    struct tv_error err;
    if (!slot->open)
        return;
    enum tv_store_status status =
        tv_store_upload_finish(store, slot->upload.text, &slot->trace, &err);
    if (status != TV_STORE_OK)
        return;
    require(!slot->piece, "finished while a piece is written");
    require(slot->done || slot->announced == TV_STORE_SIZE_UNKNOWN || slot->announced == slot->held,
            "finished early");
    slot->done = true;
}

static void get_upload(struct run *run)
{
    struct slot *slot = run->slot;
    struct tv_store_upload upload;
    struct tv_error err;
    if (!slot->open || tv_store_upload_get(store, slot->upload.text, &upload, &err) != TV_STORE_OK)
        return;
    require(upload.done == slot->done, "whether an upload is done");
    require(slot->done || slot->piece || upload.held == slot->held, "the bytes of an upload");
}

static void cancel_upload(struct run *run)
{
    struct slot *slot = run->slot;
    struct tv_error err;
    if (!slot->open || slot->piece ||
        tv_store_upload_cancel(store, slot->upload.text, &err) != TV_STORE_OK)
        return;
    require(!slot->done, "a trace was cancelled");
    slot->open = false;
}

static void change_trace(struct run *run)
{
    struct tv_error err;
    struct tv_bytes name = take_text(run), note = take_text(run), label = take_text(run);
    bool pinned = take_byte(run) & 1;
    struct tv_store_change change = {.name = name.length > 0 ? &name : NULL,
                                     .note = &note,
                                     .labels = label.length > 0 ? &label : NULL,
                                     .label_count = label.length > 0,
                                     .pinned = &pinned};
    if (run->slot->done)
        (void)!tv_store_trace_change(store, run->slot->trace.text, &change, &err);
}

static void set_found(struct run *run)
{
    struct tv_error err;
    struct tv_bytes processes[2] = {take_text(run), take_text(run)};
    struct tv_store_trace_facts found = {
        .state = (enum tv_store_state)(take_byte(run) & 3),
        .error = processes[0],
        .format = take_text(run),
        .length_ns = take_byte(run),
        .recorded_ms = TV_STORE_NEVER,
        .processes = processes,
        .process_count = 2,
        .facts = take_text(run),
    };
    if (run->slot->done)
        (void)!tv_store_trace_set_facts(store, run->slot->trace.text, &found, &err);
}

/* Every trace is on one of the pages, once. */
static void search(struct run *run)
{
    struct tv_arena arena;
    struct tv_error err;
    struct tv_store_page page = {0};
    struct tv_store_query query = {.words = take_text(run),
                                   .label = take_text(run),
                                   .process = take_text(run),
                                   .after = take_text(run)};
    uint8_t how = take_byte(run);
    uint64_t count = 0;
    bool from_start = query.after.length == 0;
    query.sort = (enum tv_store_sort)(how & 3);
    query.descending = how & 4;
    query.limit = 1 + (how >> 3 & 3);
    tv_arena_init(&arena);
    do {
        if (tv_store_search(store, &query, &arena, &page, &err) != TV_STORE_OK)
            break;
        count += page.count;
        require(page.count <= query.limit, "a page that is too long");
        if (page.after)
            query.after = tv_bytes_of(page.after);
    } while (page.after && count <= SLOTS);
    require(!from_start || page.after || count == page.total || page.total == 0,
            "the traces of all pages");
    tv_arena_release(&arena);
}

static void get_trace(struct run *run)
{
    struct slot *slot = run->slot;
    struct tv_arena arena;
    struct tv_error err;
    struct tv_store_trace trace;
    if (!slot->done)
        return;
    tv_arena_init(&arena);
    if (tv_store_trace_get(store, slot->trace.text, &arena, &trace, &err) == TV_STORE_OK)
        require(trace.bytes == slot->held, "the bytes of a trace");
    tv_arena_release(&arena);
}

/* Check that the store still has everything that it acknowledged.  No piece is open. */
static void open_again(struct run *run)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        run->slot = &run->slots[i];
        end_piece(run);
    }
    tv_store_close(store);
    open_store();
    for (unsigned i = 0; i < SLOTS; i++) {
        run->slot = &run->slots[i];
        get_upload(run);
    }
}

static void take_step(struct run *run)
{
    static void (*const acts[])(struct run * run) = {
        begin_upload, begin_piece,   add_bytes, end_piece, finish_upload, announce,  get_upload,
        change_trace, cancel_upload, set_found, get_trace, search,        add_bytes, begin_upload,
    };
    run->step = take_byte(run);
    run->slot = &run->slots[run->step >> 4 & (SLOTS - 1)];
    if ((run->step & 15) < TV_COUNT(acts))
        acts[run->step & 15](run);
    else if (run->step == 0xff) /* takes long */
        open_again(run);
}

/* ---- The end of a run: everything goes ---- */

static void end_slot(struct run *run)
{
    struct slot *slot = run->slot;
    struct tv_error err;
    int file;
    uint64_t bytes;
    end_piece(run);
    if (slot->open && !slot->done)
        (void)!tv_store_upload_cancel(store, slot->upload.text, &err);
    if (!slot->done)
        return;
    if (tv_store_file_open(store, slot->trace.text, &file, &bytes, &err) == TV_STORE_OK) {
        require(bytes == slot->held, "the bytes of an original");
        close(file);
    }
    (void)!tv_store_trace_delete(store, slot->trace.text, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run run = {.input = {data, size}};
    if (!store)
        make_store();
    for (unsigned i = 0; i < STEPS && run.input.length > 0; i++)
        take_step(&run);
    for (unsigned i = 0; i < SLOTS; i++) {
        run.slot = &run.slots[i];
        end_slot(&run);
    }
    struct tv_store_totals totals = tv_store_totals(store);
    require(totals.uploads == 0 && totals.upload_bytes == 0, "uploads are left");
    require(totals.traces == 0 && totals.trace_bytes == 0, "traces are left");
    return 0;
}
