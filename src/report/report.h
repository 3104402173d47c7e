/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - a trace with the page that shows it, in one HTML file that needs no program and no
 * network.
 *
 * It is the viewer's page with three things more: the engine as WebAssembly (src/wasm), the files
 * of the trace, and a list of them.  All stand in elements that no browser runs or shows; the page
 * takes them out (web/src/app/report.ts).
 */
#ifndef TV_REPORT_REPORT_H
#define TV_REPORT_REPORT_H

#include "base/error.h"
#include "base/out.h"
#include "base/source.h"

struct tv_report_file {
    struct tv_source *source; /* not packed */
    const char *name;         /* of it nothing but what stands behind the last '/' travels */
    uint32_t machine;         /* files of one number are of one machine */
    tv_ns offset;             /* added to its times */
};

/* What is told of what was left out, shown with the trace; or NULL. */
struct tv_report {
    const struct tv_report_file *files;
    size_t count;
    const char *note;
    unsigned workers; /* threads that pack the files; 0: one a processor */
};

/* Whether this build has the engine. */
bool tv_report_is_there(void);

/* Writes it on the viewer's page (server/viewer.h). */
enum tv_status tv_report_write(struct tv_bytes page, const struct tv_report *report,
                               struct tv_out *out, struct tv_error *err) TV_MUST_CHECK;

#endif
