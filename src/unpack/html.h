/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html.h - an HTML page as a container: each trace in it (html_blocks.h) is a member.
 */
#ifndef TV_UNPACK_HTML_H
#define TV_UNPACK_HTML_H

#include "unpack/member.h"

/* Do these first bytes begin a page? */
bool tv_html_knows(struct tv_bytes head);

/* Takes the wanted members in their order; what is not wanted is noted.  *cut_off: the page ends in
 * a trace, or base64 is damaged. */
enum tv_status tv_html_unpack(struct tv_taking *taking, struct tv_source *packed, bool *cut_off,
                              struct tv_error *err) TV_MUST_CHECK;

#endif
