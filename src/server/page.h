/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - the viewer's page inside the binary.
 *
 * The build bundles web/ into one HTML file and tools/embed-assets turns that file into these
 * two symbols.  The page is the bytes [tv_page, tv_page_end); a NUL stands behind them.
 */
#ifndef TV_SERVER_PAGE_H
#define TV_SERVER_PAGE_H

#include "base/types.h"

extern const char tv_page[];
extern const char tv_page_end[];

/* What the page's answer says besides its bytes. */
struct tv_page_headers {
    char policy[1024]; /* Content-Security-Policy */
    char tag[24];      /* ETag, with its quotes */
};

/*
 * The policy is the one that the page states itself in a <meta> element, where the build put the
 * hashes of its script and style; the header adds what only a header may say: that no other page
 * may frame this one. A page without a policy is allowed nothing.
 */
void tv_page_describe(struct tv_bytes page, struct tv_page_headers *headers);

#endif
