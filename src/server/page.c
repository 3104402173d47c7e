/* SPDX-License-Identifier: Apache-2.0 */
#include "server/page.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/hash.h"

/* As tools of web/ write it. */
#define META "<meta http-equiv=\"Content-Security-Policy\" content=\""

/* The text between the META and its closing quote, empty when there is none. */
static struct tv_bytes find_policy(struct tv_bytes page)
{
    struct tv_bytes policy = {NULL, 0};
    const struct tv_bytes meta = TV_BYTES(META);
    while (page.length > meta.length && !tv_bytes_starts_with(page, meta)) {
        page.data++;
        page.length--;
    }
    if (page.length <= meta.length)
        return policy;
    page.data += meta.length;
    page.length -= meta.length;
    if (!tv_bytes_split(&page, '"', &policy))
        policy.length = 0;
    return policy;
}

void tv_page_describe(struct tv_bytes page, struct tv_page_headers *headers)
{
    static const char framing[] = "; frame-ancestors 'none'";
    struct tv_bytes policy = find_policy(page);
    if (policy.length == 0 || policy.length > sizeof headers->policy - sizeof framing)
        policy = TV_BYTES("default-src 'none'");
    snprintf(headers->policy, sizeof headers->policy, "%.*s%s", (int)policy.length,
             (const char *)policy.data, framing);
    snprintf(headers->tag, sizeof headers->tag, "\"%016" PRIx64 "\"", tv_hash_bytes(page));
}
