/* SPDX-License-Identifier: Apache-2.0 */
/* ---- HTML pages: each trace in a page is a member (html/html_page.h) ---- */
#ifndef TV_UNPACK_HTML_H
#define TV_UNPACK_HTML_H

#include "unpack/member.h"

/* Return true when these first bytes begin an HTML page. */
bool tv_html_knows(struct tv_bytes head);

/* Extract the wanted traces in their order, and note the others. *cut_off: the page ends inside
 * a trace, or its base64 is damaged. */
enum tv_status tv_html_unpack(struct tv_extraction *taking, struct tv_source *packed, bool *cut_off,
                              struct tv_error *err) TV_MUST_CHECK;

#endif
