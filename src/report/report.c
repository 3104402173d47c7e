/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "report/carry.h"
#include "report/engine.h"

bool tv_report_is_there(void)
{
    return tv_report_engine().length > 0;
}

static size_t find(struct tv_bytes text, struct tv_bytes word)
{
    size_t at = 0;
    while (at + word.length <= text.length && memcmp(text.data + at, word.data, word.length) != 0)
        at++;
    return at + word.length <= text.length ? at : SIZE_MAX;
}

/* Writes the page up to the word, which is taken off, and `instead`. */
static enum tv_status put_instead(struct tv_bytes *page, const char *word, const char *instead,
                                  struct tv_out *out, struct tv_error *err)
{
    struct tv_bytes wanted = tv_bytes_of(word);
    size_t at = find(*page, wanted);
    if (at == SIZE_MAX)
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                       "the page in this program has no place for '%s'", word);
    tv_out_bytes(out, (struct tv_bytes){page->data, at});
    tv_out_text(out, instead);
    page->data += at + wanted.length;
    page->length -= at + wanted.length;
    return TV_OK;
}

/* Names of folders are nobody's business. */
static const char *last_part(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash && slash[1] != '\0' ? slash + 1 : name;
}

/* JSON without a '<', which is safe inside an element. */
static void write_manifest(const struct tv_report *report, struct tv_out *out)
{
    tv_out_text(out, "<script type=\"application/json\" data-of=\"manifest\">{\"files\":[");
    for (size_t i = 0; i < report->count; i++) {
        const struct tv_report_file *file = &report->files[i];
        tv_out_text(out, i > 0 ? ",{\"name\":" : "{\"name\":");
        tv_out_json_in_html(out, tv_bytes_of(last_part(file->name)));
        tv_out_format(out, ",\"machine\":%" PRIu32 ",\"offset_ns\":\"%" PRId64 "\"}", file->machine,
                      file->offset);
    }
    tv_out_char(out, ']');
    if (report->note) {
        tv_out_text(out, ",\"note\":");
        tv_out_json_in_html(out, tv_bytes_of(report->note));
    }
    tv_out_text(out, "}</script>\n");
}

static enum tv_status write_files(const struct tv_report *report, struct tv_out *out,
                                  struct tv_error *err)
{
    enum tv_status status = TV_OK;
    for (size_t i = 0; i < report->count && status == TV_OK; i++) {
        char what[32];
        snprintf(what, sizeof what, "file%zu", i);
        status = tv_carry_source(out, what, report->files[i].source, report->workers, err);
    }
    return status;
}

/* The policy of the page lets the engine run and its worker begin, and asks no network for
 * anything.
 */
static enum tv_status write_head(struct tv_bytes *page, struct tv_out *out, struct tv_error *err)
{
    enum tv_status status =
        put_instead(page, "script-src ", "script-src 'wasm-unsafe-eval' ", out, err);
    if (status == TV_OK)
        status = put_instead(page, "connect-src 'self'; img-src 'self' data:",
                             "connect-src 'none'; worker-src blob:; img-src data:", out, err);
    if (status == TV_OK)
        status = put_instead(page, "<!-- @CARRIED@ -->\n", "", out, err);
    return status;
}

enum tv_status tv_report_write(struct tv_bytes page, const struct tv_report *report,
                               struct tv_out *out, struct tv_error *err)
{
    if (!tv_report_is_there())
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                       "this program was built without the engine as WebAssembly, which such a "
                       "file has inside");
    enum tv_status status = write_head(&page, out, err);
    if (status != TV_OK)
        return status;
    write_manifest(report, out);
    tv_carry_packed(out, "engine", tv_report_engine());
    status = write_files(report, out, err);
    tv_out_bytes(out, page);
    return status;
}
