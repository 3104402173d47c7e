/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reporter.h - reports on the page of this program: for the command, and for whoever saves one from
 * a page or a server.
 */
#ifndef TV_CLI_REPORTER_H
#define TV_CLI_REPORTER_H

#include "report/report.h"
#include "view/view.h"

/* Writes it on the viewer's page. */
enum tv_status tv_reporter_write(const struct tv_report *report, struct tv_out *out,
                                 struct tv_error *err) TV_MUST_CHECK;

/* *source becomes the file that is made. */
enum tv_status tv_reporter_make(const struct tv_view_generated_file *making, struct tv_source **source,
                                struct tv_error *err) TV_MUST_CHECK;

/* NULL: this build has no engine for pages. */
const struct tv_view_reporter *tv_reporter(bool renames);

#endif
