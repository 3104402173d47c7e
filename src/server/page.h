/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - the viewer's page inside the binary.
 *
 * The build bundles web/ into one HTML file and tools/embed-assets turns that file into these
 * two symbols.  The page is the bytes [tv_page, tv_page_end); a NUL stands behind them.
 */
#ifndef TV_SERVER_PAGE_H
#define TV_SERVER_PAGE_H

extern const char tv_page[];
extern const char tv_page_end[];

#endif
