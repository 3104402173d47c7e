/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reporter.h"

#include "base/file.h"
#include "base/memory.h"
#include "cli/disguise.h"
#include "server/viewer.h"

enum tv_status tv_reporter_write(const struct tv_report *report, struct tv_out *out,
                                 struct tv_error *err)
{
    const struct tv_bytes page = {(const uint8_t *)tv_page, (size_t)(tv_page_end - tv_page)};
    return tv_report_write(page, report, out, err);
}

static enum tv_status write_files(const struct tv_view_file *files, size_t count, const char *note,
                                  struct tv_out *out, struct tv_error *err)
{
    struct tv_report_file *carried = tv_alloc(count, sizeof *carried);
    struct tv_report report = {carried, count, note, 0};
    for (size_t i = 0; i < count; i++)
        carried[i] = (struct tv_report_file){files[i].source, tv_source_name(files[i].source),
                                             files[i].machine, files[i].offset};
    enum tv_status status = tv_reporter_write(&report, out, err);
    tv_free(carried);
    return status;
}

/* ---- Of one file that is made for it ---- */

static enum tv_status add_to_spool(void *context, struct tv_bytes bytes, struct tv_error *err)
{
    return tv_spool_add(context, bytes, err);
}

enum tv_status tv_reporter_make(const struct tv_view_making *making, struct tv_source **source,
                                struct tv_error *err)
{
    struct tv_spool *spool = tv_spool_new(making->name);
    struct tv_out out;
    tv_out_init(&out, add_to_spool, spool);
    enum tv_status status = making->write(making->context, &out, err);
    if (status == TV_OK)
        status = tv_out_finish(&out, err);
    tv_out_release(&out);
    if (status == TV_OK)
        *source = tv_spool_finish(spool);
    else
        tv_spool_free(spool);
    return status;
}

static enum tv_status write_made(const struct tv_view_making *making, struct tv_out *out,
                                 struct tv_error *err)
{
    struct tv_view_file file = {.source = NULL};
    struct tv_out note;
    enum tv_status status = tv_reporter_make(making, &file.source, err);
    if (status != TV_OK)
        return status;
    tv_out_init_memory(&note);
    if (making->note)
        making->note(making->context, &note);
    bool any = note.length > 0;
    tv_out_char(&note, '\0');
    status = write_files(&file, 1, any ? (const char *)note.buffer : NULL, out, err);
    tv_out_release(&note);
    tv_source_free(file.source);
    return status;
}

const struct tv_view_reporter *tv_reporter(bool renames)
{
    static const struct tv_view_reporter reporters[] = {
        {write_files, write_made, tv_disguise_by_chance, false},
        {write_files, write_made, tv_disguise_by_chance, true}};
    return tv_report_is_there() ? &reporters[renames] : NULL;
}
