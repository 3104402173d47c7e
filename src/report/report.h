/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - a trace, the page that shows it and the engine in one HTML file, which needs no
 * program and no network.
 *
 * A report is the viewer's page with three additions: the engine as WebAssembly (src/wasm), the
 * files of the trace, and a manifest that lists these files. All of them are in <script>
 * elements that browsers neither run nor show; the page reads them (web/src/app/report.ts).
 *
 *     <script type="application/json" data-of="manifest">{"files": [...], "note": "..."}</script>
 *     <script type="application/octet-stream" data-of="engine">base64 of gzip</script>
 *     <script type="application/octet-stream" data-of="file0">...</script>
 */
#ifndef TV_REPORT_REPORT_H
#define TV_REPORT_REPORT_H

#include "base/error.h"
#include "base/out.h"
#include "base/source.h"
#include "base/types.h"

struct tv_report_file {
    struct tv_source *source; /* not compressed */
    const char *name;         /* only the part after the last '/' is written */
    uint32_t machine;         /* files with the same number come from the same machine */
    tv_ns offset;             /* nanoseconds to add to its times */
};

/* `note` says what the report omits, in sentences shown with the trace; NULL: nothing. */
struct tv_report {
    const struct tv_report_file *files;
    size_t count;
    const char *note;
    unsigned workers; /* threads that compress the files; 0: one a processor */
};

/* Return true when this build contains the engine. */
bool tv_report_is_available(void);

/* Write the report, based on the viewer's page (viewer/viewer.h). */
enum tv_status tv_report_write(struct tv_bytes page, const struct tv_report *report,
                               struct tv_out *out, struct tv_error *err) TV_MUST_CHECK;

/* ---- Payloads (payload.c): compressed bytes as base64, in elements of a few megabytes, because
 * browsers limit the length of one text ---- */

/* Write bytes that are compressed already. `name` becomes the element's data-of attribute. */
void tv_payload_write_packed(struct tv_out *out, const char *name, struct tv_bytes packed);

/* Compress and write a whole source on `workers` threads; 0: one a processor. The output does
 * not depend on the number of threads. */
enum tv_status tv_payload_write_source(struct tv_out *out, const char *name,
                                       struct tv_source *source, unsigned workers,
                                       struct tv_error *err) TV_MUST_CHECK;

#endif
