/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/incoming.h"

#include "base/memory.h"
#include "hub/reading.h"

struct tv_incoming *tv_incoming_new(struct tv_hub *hub, bool single)
{
    struct tv_incoming *incoming = tv_alloc(1, sizeof *incoming);
    incoming->hub = hub;
    incoming->single = single;
    return incoming;
}

void tv_incoming_free(struct tv_incoming *incoming)
{
    struct tv_error err;
    uint64_t held;
    struct tv_hub *hub = incoming->hub;
    /* What went wrong was said, or there is nobody left to be told. */
    if (incoming->piece != NULL) {
        (void)!tv_store_piece_end(incoming->piece, &held, &err);
        hub->counts.broken_uploads++;
    }
    if (!incoming->finished && incoming->single && incoming->upload.text[0] != '\0')
        (void)!tv_store_upload_cancel(hub->store, incoming->upload.text, &err);
    tv_free(incoming);
}

static enum tv_status take(void *context, struct tv_bytes piece, struct tv_answer *answer)
{
    struct tv_incoming *incoming = context;
    struct tv_error err = {0};
    enum tv_store_status status = tv_store_piece_add(incoming->piece, piece, &err);
    incoming->hub->counts.upload_bytes += piece.length;
    if (status == TV_STORE_OK)
        return TV_OK;
    if (status == TV_STORE_FULL)
        incoming->hub->counts.full_disks++;
    tv_hub_refuse_store(answer, status, &err);
    return TV_ERR_IO;
}

static void end(void *context, bool whole)
{
    (void)whole;
    tv_incoming_free(context);
}

void tv_incoming_take(struct tv_incoming *incoming, struct tv_body *body)
{
    *body = (struct tv_body){.take = take, .end = end, .context = incoming};
}

bool tv_incoming_end(struct tv_incoming *incoming, uint64_t *held, struct tv_answer *answer)
{
    struct tv_error err = {0};
    enum tv_store_status status = tv_store_piece_end(incoming->piece, held, &err);
    incoming->piece = NULL;
    if (status == TV_STORE_OK)
        return true;
    tv_hub_refuse_store(answer, status, &err);
    return false;
}

bool tv_incoming_finish(struct tv_incoming *incoming, struct tv_asked *asked,
                        struct tv_store_id *trace, struct tv_answer *answer)
{
    struct tv_hub *hub = incoming->hub;
    struct tv_error err = {0};
    struct tv_log_line line;
    enum tv_store_status status =
        tv_store_upload_finish(hub->store, incoming->upload.text, trace, &err);
    if (status != TV_STORE_OK) {
        tv_hub_refuse_store(answer, status, &err);
        return false;
    }
    incoming->finished = true;
    hub->counts.uploads++;
    tv_reading_wake(hub->reading);
    tv_log_begin(&line, &hub->options.log, TV_LOG_INFO, "upload.done");
    tv_log_text(&line, "trace", trace->text);
    tv_log_text(&line, "client", asked->peer);
    tv_log_end(&line);
    return true;
}
