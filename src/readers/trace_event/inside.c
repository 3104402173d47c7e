/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/trace_event/inside.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/etw.h"
#include "readers/trace_event/trace_event.h"

static const char *const keys[] = {
    "systemTraceEvents",
    "powerTraceAsString",
    "androidProcessDump",
    "cgroupDump",
};

static struct tv_bytes key_of(const struct tv_te_top_member *member)
{
    return tv_te_key((struct tv_bytes){(const uint8_t *)member->key, member->key_length});
}

/* Machines of traces with numbered keys begin here: those of files are few. */
#define MACHINES UINT32_C(0x80000000)

/* The key; or with a number behind it, "cgroupDump+2": a second one; "cgroupDump2": the trace of
 * another machine. */
bool tv_te_inside_is(const struct tv_te_top_member *member)
{
    struct tv_bytes key = key_of(member);
    for (size_t i = 0; i < TV_COUNT(keys); i++) {
        size_t at = strlen(keys[i]);
        if (!tv_bytes_starts_with(key, tv_bytes_of(keys[i])))
            continue;
        at += at < key.length && key.data[at] == '+';
        while (at < key.length && key.data[at] >= '0' && key.data[at] <= '9')
            at++;
        if (at == key.length)
            return true;
    }
    return false;
}

static void name_input(const struct tv_te_context *context, const struct tv_te_top_member *member,
                       char *name, size_t size)
{
    struct tv_bytes key = key_of(member);
    snprintf(name, size, "%s: %.*s", tv_source_name(context->source), (int)key.length,
             (const char *)key.data);
}

/* ---- The text as a source ---- */

static enum tv_status read_text(void *context, uint64_t offset, void *buffer, size_t size,
                                struct tv_error *err)
{
    const uint8_t *text = context;
    (void)err;
    memcpy(buffer, text + offset, size);
    return TV_OK;
}

static void close_text(void *context)
{
    tv_free(context);
}

/* "app.json: systemTraceEvents", with the string's escapes resolved; NULL: it cannot be read. */
static struct tv_source *open_text(struct tv_te_context *context,
                                   const struct tv_te_top_member *member)
{
    static const struct tv_source_reads reads = {read_text, close_text};
    struct tv_bytes raw = tv_te_stretch_read(context, member->value);
    if (!tv_te_is_string(raw))
        return NULL;
    struct tv_bytes text = tv_te_text(raw, &context->scratch);
    char name[1024];
    name_input(context, member, name, sizeof name);
    /* The string is whole, and so its last line is. */
    bool ended = text.length > 0 && text.data[text.length - 1] == '\n';
    uint8_t *copy = tv_alloc(text.length + 1, 1);
    if (text.length > 0)
        memcpy(copy, text.data, text.length);
    copy[text.length] = '\n';
    return tv_source_from_reads(&reads, copy, text.length + !ended, name);
}

/* ---- */

/* Formats that are assembled, but no JSON: so that nothing is in itself. */
static bool is_known(struct tv_source *source)
{
    struct tv_error reason;
    const struct tv_reader *reader = tv_readers_find(source, &reason);
    return reader && reader->assemble && reader != &tv_reader_trace_event;
}

/* The object of Chrome on Windows. */
static bool read_etw(struct tv_te_context *context, const struct tv_te_top_member *member,
                     struct tv_builder *builder)
{
    char name[1024];
    struct tv_bytes raw = tv_te_stretch_read(context, member->value);
    struct tv_etw_place place = {name, context->input};
    name_input(context, member, name, sizeof name);
    return tv_etw_is(raw) && tv_etw_build(raw, &place, builder);
}

static bool is_apart(const struct tv_te_top_member *member)
{
    struct tv_bytes key = key_of(member);
    uint8_t last = key.data[key.length - 1];
    return last >= '0' && last <= '9' && !memchr(key.data, '+', key.length);
}

/* Processes since `first` are not those of the file. */
static void set_apart(struct tv_te_context *context, const struct tv_te_top_member *member,
                      uint32_t first)
{
    struct tv_head *head = context->trace->head;
    for (uint32_t i = first; i < head->process_count && is_apart(member); i++)
        head->processes[i].machine = MACHINES + head->input_count;
}

static enum tv_status read_member(struct tv_te_context *context,
                                  const struct tv_te_top_member *member, struct tv_builder *builder,
                                  struct tv_error *err)
{
    struct tv_read_options options = {.parts = context->options->parts,
                                      .progress = context->options->progress};
    if (tv_bytes_equal(tv_te_stretch_read(context, member->value), TV_BYTES("\"\"")))
        return TV_OK; /* nobody recorded any */
    if (read_etw(context, member, builder))
        return TV_OK;
    struct tv_source *source = open_text(context, member);
    if (!source || !is_known(source)) {
        tv_te_warn(context, TV_DIAGNOSTIC_SUBTRACE_UNREAD, member->value.offset);
        tv_source_free(source);
        return TV_OK;
    }
    enum tv_status status = tv_readers_build(source, builder, &options, err);
    tv_trace_keep_inner_source(context->trace, source);
    return status == TV_OK ? TV_OK : tv_error_prefix(err, "%s", tv_source_name(source));
}

enum tv_status tv_te_inside_read(struct tv_te_context *context,
                                 const struct tv_te_container *container,
                                 struct tv_builder *builder, struct tv_error *err)
{
    for (size_t i = 0; i < container->member_count; i++) {
        if (!tv_te_inside_is(&container->members[i]))
            continue;
        uint32_t first = context->trace->head->process_count;
        enum tv_status status = read_member(context, &container->members[i], builder, err);
        set_apart(context, &container->members[i], first);
        if (status != TV_OK)
            return status;
    }
    return TV_OK;
}
