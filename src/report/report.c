/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - a report: the viewer's page with the engine, a manifest and the files inside.
 */
#include "report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

/* Defined by the assembly file that tools/embed-assets writes. Both are at the same address in a
 * build without WebAssembly. */
extern const uint8_t tv_engine_wasm[];
extern const uint8_t tv_engine_wasm_end[];

/* Return the module of src/wasm, compressed by gzip; empty in a build without WebAssembly. */
static struct tv_bytes report_engine(void)
{
    return (struct tv_bytes){tv_engine_wasm, (size_t)(tv_engine_wasm_end - tv_engine_wasm)};
}

bool tv_report_is_available(void)
{
    return report_engine().length > 0;
}

static size_t report_find_word(struct tv_bytes text, struct tv_bytes word)
{
    size_t at = 0;
    while (at + word.length <= text.length && memcmp(text.data + at, word.data, word.length) != 0)
        at++;
    return at + word.length <= text.length ? at : SIZE_MAX;
}

/* Write the page up to `word`, which is dropped, then `instead`. */
static enum tv_status report_replace_word(struct tv_bytes *page, const char *word,
                                          const char *instead, struct tv_out *out,
                                          struct tv_error *err)
{
    struct tv_bytes wanted = tv_bytes_of(word);
    size_t at = report_find_word(*page, wanted);
    if (at == SIZE_MAX)
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                       "the page in this program has no place for '%s'", word);
    tv_out_bytes(out, (struct tv_bytes){page->data, at});
    tv_out_text(out, instead);
    page->data += at + wanted.length;
    page->length -= at + wanted.length;
    return TV_OK;
}

/* Return the name without its directories, which are private. */
static const char *report_base_name(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash && slash[1] != '\0' ? slash + 1 : name;
}

/* Write the list of files as JSON without '<', so that no name can end the element. */
static void report_write_manifest(const struct tv_report *report, struct tv_out *out)
{
    tv_out_text(out, "<script type=\"application/json\" data-of=\"manifest\">{\"files\":[");
    for (size_t i = 0; i < report->count; i++) {
        const struct tv_report_file *file = &report->files[i];
        tv_out_text(out, i > 0 ? ",{\"name\":" : "{\"name\":");
        tv_out_json_in_html(out, tv_bytes_of(report_base_name(file->name)));
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

static enum tv_status report_write_files(const struct tv_report *report, struct tv_out *out,
                                         struct tv_error *err)
{
    enum tv_status status = TV_OK;
    for (size_t i = 0; i < report->count && status == TV_OK; i++) {
        char what[32];
        snprintf(what, sizeof what, "file%zu", i);
        status = tv_payload_write_source(out, what, report->files[i].source, report->workers, err);
    }
    return status;
}

/* Write the beginning of the page. Its content security policy is changed: the engine and its
 * worker may run, and nothing may be loaded from a network. */
static enum tv_status report_write_head(struct tv_bytes *page, struct tv_out *out,
                                        struct tv_error *err)
{
    enum tv_status status =
        report_replace_word(page, "script-src ", "script-src 'wasm-unsafe-eval' ", out, err);
    if (status == TV_OK)
        status =
            report_replace_word(page, "connect-src 'self'; img-src 'self' data:",
                                "connect-src 'none'; worker-src blob:; img-src data:", out, err);
    if (status == TV_OK)
        status = report_replace_word(page, "<!-- @CARRIED@ -->\n", "", out, err);
    return status;
}

enum tv_status tv_report_write(struct tv_bytes page, const struct tv_report *report,
                               struct tv_out *out, struct tv_error *err)
{
    if (!tv_report_is_available())
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                       "this program was built without the engine as WebAssembly, which such a "
                       "file has inside");
    enum tv_status status = report_write_head(&page, out, err);
    if (status != TV_OK)
        return status;
    report_write_manifest(report, out);
    tv_payload_write_packed(out, "engine", report_engine());
    status = report_write_files(report, out, err);
    tv_out_bytes(out, page);
    return status;
}
