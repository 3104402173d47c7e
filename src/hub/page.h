/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - the upload server's page inside the binary.
 *
 * The build bundles web/src/hub into one HTML file and tools/embed-assets turns that file into
 * these two symbols.  The page is the bytes [tv_hub_page, tv_hub_page_end); a NUL stands behind
 * them.  It serves / and every /t/ID/: which of the two it shows, it reads from its own address.
 */
#ifndef TV_HUB_PAGE_H
#define TV_HUB_PAGE_H

extern const char tv_hub_page[];
extern const char tv_hub_page_end[];

#endif
