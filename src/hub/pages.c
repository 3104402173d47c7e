/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.c - the pages inside the binary, and the original files.
 */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "hub/handlers.h"
#include "hub/page.h"
#include "server/page.h"

static void answer_page(struct tv_asked *asked, const char *start, const char *end,
                        struct tv_answer *answer)
{
    const struct tv_bytes page = {(const uint8_t *)start, (size_t)(end - start)};
    const char *known = tv_request_header(asked->request, "If-None-Match");
    struct tv_page_headers *headers = tv_arena_alloc(&answer->arena, 1, sizeof *headers);
    tv_page_describe(page, headers);
    answer->type = "text/html; charset=utf-8";
    answer->policy = headers->policy;
    answer->tag = headers->tag;
    if (known != NULL && strcmp(known, headers->tag) == 0)
        answer->status = TV_HTTP_NOT_MODIFIED;
    else
        answer->constant = page;
}

void tv_hub_front_page(struct tv_asked *asked, struct tv_answer *answer)
{
    answer_page(asked, tv_hub_page, tv_hub_page_end, answer);
}

void tv_hub_view_page(struct tv_asked *asked, struct tv_answer *answer)
{
    answer_page(asked, tv_page, tv_page_end, answer);
}

void tv_hub_to_folder(struct tv_asked *asked, struct tv_answer *answer)
{
    const struct tv_bytes path = asked->request->path;
    answer->status = TV_HTTP_MOVED;
    tv_answer_header(answer, "Location", "%.*s/", (int)path.length, (const char *)path.data);
}

/* As RFC 8187 has it. */
void tv_hub_add_name(struct tv_answer *answer, const char *name)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    char text[3 * TV_STORE_NAME + 1];
    size_t length = 0;
    for (const char *c = name; *c != '\0' && length + 3 < sizeof text; c++) {
        if (strchr(plain, *c) != NULL)
            text[length++] = *c;
        else
            length += (size_t)snprintf(text + length, 4, "%%%02X", (unsigned)(uint8_t)*c);
    }
    text[length] = '\0';
    tv_answer_header(answer, "Content-Disposition", "attachment; filename*=UTF-8''%s", text);
}

void tv_hub_original(struct tv_asked *asked, struct tv_answer *answer)
{
    struct tv_store *store = asked->hub->store;
    struct tv_store_trace trace;
    struct tv_error err = {0};
    uint64_t bytes;
    int fd = -1;
    enum tv_store_status status =
        tv_store_trace_get(store, asked->id, &answer->arena, &trace, &err);
    if (status == TV_STORE_OK)
        status = tv_store_file_open(store, asked->id, &fd, &bytes, &err);
    if (status != TV_STORE_OK) {
        tv_hub_refuse_store(answer, status, &err);
        return;
    }
    if (tv_source_open_fd(fd, trace.name, &answer->source, &err) != TV_OK) {
        tv_hub_refuse(answer, TV_HTTP_FAULT, err.message);
        return;
    }
    answer->type = "application/octet-stream";
    answer->ranges = true;
    tv_hub_add_name(answer, trace.name);
}
