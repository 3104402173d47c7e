/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite.c - events and members of Trace Event files, written as one strict file.
 *
 * Events are written while the files are read, so their number does not matter.  The members of all
 * files are written after them, from the files again.
 *
 *     {"traceEvents":[
 *       events of file 0, of file 1, ...    normalised, edited, with new ids if there are several
 *     ],
 *     "displayTimeUnit": ...                of the first file
 *     "systemTraceEvents": ...              members, each under its key or "FILE: key"
 *     "stackFrames":{...}, "samples":[...]  one table of all files, with new ids
 *     }                                     the caller closes the object
 *
 * The result holds all of the text of an event, also fields that traceview does not know: a
 * selection must not lose what other tools read. Lenient JSON becomes strict on the way.
 */
#include "readers/trace_event/rewrite.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/source.h"
#include "readers/json/json.h"
#include "readers/trace_event/container.h"
#include "readers/trace_event/trace_event.h"

/* Most events fit into the first size; none is longer than the last, or reading would not have
 * taken it. */
#define FIRST_WANT ((size_t)4096)
#define MAX_WANT ((size_t)128 << 20)

/* Read the event if it fits into `want` bytes.  False: it is longer, or *status says what failed.
 */
static bool te_event_text_try(struct tv_te_event_text *event, struct tv_source *source,
                              uint64_t offset, size_t want, enum tv_status *status,
                              struct tv_error *err)
{
    const uint8_t *end;
    size_t got = 0;
    event->bytes = tv_realloc(event->bytes, want + TV_WINDOW_SLACK, 1);
    *status = tv_source_read(source, offset, event->bytes, want, &got, err);
    if (*status != TV_OK)
        return false;
    memset(event->bytes + got, 0, TV_WINDOW_SLACK);
    enum tv_te_read read =
        tv_te_fields_read(event->bytes, event->bytes + got, &event->fields, &end);
    if (read == TV_TE_CUT && got < want && got > 0)
        read = tv_te_fields_close(event->bytes, event->bytes + got, &event->fields, &end);
    if (read == TV_TE_READ)
        event->object = (struct tv_bytes){event->bytes, (size_t)(end - event->bytes)};
    else if (read != TV_TE_CUT || got < want)
        *status = tv_fail(err, TV_ERR_SYNTAX, offset, "no event here any more: the file changed");
    return read == TV_TE_READ;
}

enum tv_status tv_te_event_text_read(struct tv_te_event_text *event, struct tv_source *source,
                                     uint64_t offset, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    for (size_t want = FIRST_WANT; want <= MAX_WANT && status == TV_OK; want *= 4)
        if (te_event_text_try(event, source, offset, want, &status, err))
            return TV_OK;
    return status == TV_OK ? tv_fail(err, TV_ERR_LIMIT, offset, "the event is too long") : status;
}

void tv_te_key_write(struct tv_out *out, struct tv_bytes key)
{
    if (tv_te_is_string(key))
        tv_json_normalise(key, out, NULL);
    else
        tv_out_json(out, key);
}

/* ---- Editing ---- */

bool tv_te_rewrite_edit_is_any(const struct tv_te_rewrite_edit *edit)
{
    return edit->phase != 0 || edit->has_ts || edit->has_dur || edit->has_tts || edit->has_tdur ||
           edit->no_flow_out || edit->no_flow_in || edit->around || edit->no_args || edit->bare;
}

/* True for members that say whose event it is. */
static bool te_edit_is_identity(struct tv_bytes key)
{
    static const char *const keys[] = {"name", "cat", "ph", "pid", "tid", "id", "id2", "scope"};
    for (size_t i = 0; i < TV_COUNT(keys); i++)
        if (tv_te_key_is(key, keys[i]))
            return true;
    return false;
}

/* True for members that are written after the others, or not at all. */
static bool te_edit_drops(const struct tv_te_rewrite_edit *edit, struct tv_bytes key)
{
    const struct {
        bool out;
        const char *key;
    } members[] = {
        {edit->phase != 0, "ph"},      {edit->has_ts, "ts"},
        {edit->has_dur, "dur"},        {edit->has_tts, "tts"},
        {edit->has_tdur, "tdur"},      {edit->around, "bp"},
        {edit->no_args, "args"},       {edit->no_flow_out, "flow_out"},
        {edit->no_flow_in, "flow_in"}, {edit->no_flow_out && edit->no_flow_in, "bind_id"},
    };
    for (size_t i = 0; i < TV_COUNT(members); i++)
        if (members[i].out && tv_te_key_is(key, members[i].key))
            return true;
    return edit->bare && !te_edit_is_identity(key);
}

/* Write a time in microseconds with three decimals. */
static void te_edit_put_time(struct tv_out *out, const char *key, bool there, tv_ns time)
{
    if (!there)
        return;
    tv_out_format(out, ",\"%s\":", key);
    tv_out_time(out, time, 1000, 3);
}

void tv_te_rewrite_edit_write(struct tv_bytes event, const struct tv_te_rewrite_edit *edit,
                              struct tv_out *out)
{
    assert(event.length > 0 && event.data[0] == '{');
    struct tv_bytes key, value;
    bool any = edit->phase != 0;
    const uint8_t *at = event.data + 1, *end = event.data + event.length;
    tv_out_char(out, '{');
    if (edit->phase != 0)
        tv_out_format(out, "\"ph\":\"%c\"", edit->phase);
    while (tv_te_member_next(&at, end, &key, &value)) {
        if (te_edit_drops(edit, key))
            continue;
        tv_out_text(out, any ? "," : "");
        any = true;
        tv_te_key_write(out, key);
        tv_out_char(out, ':');
        tv_json_normalise(value, out, NULL);
    }
    /* An event with a time to change has other members, so a comma is right. */
    te_edit_put_time(out, "ts", edit->has_ts, edit->ts);
    te_edit_put_time(out, "dur", edit->has_dur, edit->dur);
    te_edit_put_time(out, "tts", edit->has_tts, edit->tts);
    te_edit_put_time(out, "tdur", edit->has_tdur, edit->tdur);
    if (edit->around)
        tv_out_text(out, ",\"bp\":\"e\"");
    tv_out_char(out, '}');
}

bool tv_te_rewrite_is_input(const struct tv_input *input)
{
    return input->describe == tv_te_describe;
}

struct te_rewrite_input {
    struct tv_source *source;
    const struct tv_te_rewrite_selection *choice; /* NULL: everything is wanted */
    struct tv_te_container container;
    struct tv_te_id_rewriter rewriter;
};

struct tv_te_rewrite {
    struct tv_out *out;
    struct tv_te_used_ids *used; /* ids of all files so far; NULL: there is only one file */
    struct te_rewrite_input **files;
    size_t count, capacity;
    bool any;                 /* an event was written */
    struct tv_out edited;     /* the current event */
    struct tv_interner *keys; /* of members written */
};

struct tv_te_rewrite *tv_te_rewrite_begin(struct tv_out *out, struct tv_te_used_ids *used)
{
    struct tv_te_rewrite *rewrite = tv_alloc(1, sizeof *rewrite);
    *rewrite = (struct tv_te_rewrite){.out = out, .used = used, .keys = tv_interner_new()};
    tv_out_init_memory(&rewrite->edited);
    tv_out_text(out, "{\"traceEvents\":[\n");
    return rewrite;
}

void tv_te_rewrite_free(struct tv_te_rewrite *rewrite)
{
    for (size_t i = 0; i < rewrite->count; i++) {
        tv_te_container_release(&rewrite->files[i]->container);
        tv_te_id_rewriter_release(&rewrite->files[i]->rewriter);
        tv_free(rewrite->files[i]);
    }
    tv_free(rewrite->files);
    tv_interner_free(rewrite->keys);
    tv_out_release(&rewrite->edited);
    tv_free(rewrite);
}

void tv_te_rewrite_pids(const struct tv_te_rewrite *rewrite, size_t file, struct tv_out *out)
{
    assert(file < rewrite->count);
    tv_te_id_rewriter_write_new_pids(&rewrite->files[file]->rewriter, out);
}

void tv_te_rewrite_processes(const struct tv_te_rewrite *rewrite, size_t file, struct tv_out *out)
{
    assert(file < rewrite->count);
    tv_te_id_rewriter_write_pids(&rewrite->files[file]->rewriter, out);
}

/* ---- Events ---- */

void tv_te_rewrite_separate(struct tv_te_rewrite *rewrite)
{
    tv_out_text(rewrite->out, rewrite->any ? ",\n" : "");
    rewrite->any = true;
}

/* Write an event of the current file, with the new ids if there are several files. */
static void te_rewrite_put_event(struct tv_te_rewrite *rewrite,
                                 const struct tv_te_list_event *event)
{
    assert(rewrite->count > 0);
    struct te_rewrite_input *file = rewrite->files[rewrite->count - 1];
    tv_te_rewrite_separate(rewrite);
    if (rewrite->used)
        tv_te_id_rewriter_write_event(&file->rewriter, event, rewrite->out);
    else
        tv_json_normalise(event->text, rewrite->out, NULL);
}

/* Write an event from its text. */
static void te_rewrite_put_text(struct tv_te_rewrite *rewrite, struct tv_bytes text)
{
    struct tv_te_fields fields;
    const uint8_t *end;
    struct tv_te_list_event event = {.fields = &fields, .text = text};
    if (tv_te_fields_read(text.data, text.data + text.length, &fields, &end) == TV_TE_READ)
        te_rewrite_put_event(rewrite, &event);
}

void tv_te_rewrite_event(struct tv_te_rewrite *rewrite, struct tv_bytes text,
                         const struct tv_te_rewrite_edit *edit)
{
    struct tv_out *edited = &rewrite->edited;
    if (!tv_te_rewrite_edit_is_any(edit)) {
        te_rewrite_put_text(rewrite, text);
        return;
    }
    edited->length = 0;
    tv_te_rewrite_edit_write(text, edit, edited);
    size_t length = edited->length;
    memset(tv_out_room(edited, TV_WINDOW_SLACK), 0, TV_WINDOW_SLACK);
    te_rewrite_put_text(rewrite, (struct tv_bytes){edited->buffer, length});
}

/* Write the event if the selection wants it. */
static void te_rewrite_take_event(void *context, const struct tv_te_list_event *event)
{
    struct tv_te_rewrite *rewrite = context;
    const struct tv_te_rewrite_selection *choice = rewrite->files[rewrite->count - 1]->choice;
    struct tv_te_rewrite_edit edit = {0};
    if (choice && !choice->wanted(choice->context, event, &edit))
        return;
    if (tv_te_rewrite_edit_is_any(&edit))
        tv_te_rewrite_event(rewrite, event->text, &edit);
    else
        te_rewrite_put_event(rewrite, event);
}

enum tv_status tv_te_rewrite_file(struct tv_te_rewrite *rewrite,
                                  const struct tv_te_rewrite_file *added, struct tv_error *err)
{
    struct te_rewrite_input *file = tv_alloc(1, sizeof *file);
    struct tv_te_visitor visitor = {.event = te_rewrite_take_event, .context = rewrite};
    *file = (struct te_rewrite_input){.source = added->source, .choice = added->choice};
    tv_te_id_rewriter_init(&file->rewriter, rewrite->used, (uint32_t)rewrite->count, added->shift);
    file->rewriter.frames = added->frames;
    file->rewriter.keeps_pids = added->keeps_pids;
    rewrite->files = tv_array_reserve(rewrite->files, &rewrite->capacity, rewrite->count + 1,
                                      sizeof(struct te_rewrite_input *));
    rewrite->files[rewrite->count++] = file;
    enum tv_status status = TV_OK;
    if (file->choice)
        status = file->choice->begin(file->choice->context, rewrite, err);
    if (status == TV_OK)
        status = tv_te_container_visit(&file->container, added->source, &visitor, err);
    /* The events read so far are not needed during the next file. */
    tv_te_lists_release(&file->container.lists);
    memset(&file->container.lists, 0, sizeof file->container.lists);
    if (status == TV_OK && file->choice)
        status = file->choice->end(file->choice->context, rewrite, err);
    return status;
}

/* ---- Members ---- */

static struct tv_bytes te_rewrite_member_key(const struct tv_te_top_member *member)
{
    return (struct tv_bytes){(const uint8_t *)member->key, member->key_length};
}

static bool te_rewrite_member_is(const struct tv_te_top_member *member, const char *key)
{
    return tv_te_key_is(te_rewrite_member_key(member), key);
}

/* Read a value with slack after it; *text is owned by the caller. */
static enum tv_status te_rewrite_read_value(const struct te_rewrite_input *file,
                                            const struct tv_te_top_member *member,
                                            struct tv_bytes *text, struct tv_error *err)
{
    size_t length = (size_t)member->value.length, got = 0;
    uint8_t *bytes = tv_alloc(length + TV_WINDOW_SLACK, 1);
    enum tv_status status =
        tv_source_read(file->source, member->value.offset, bytes, length, &got, err);
    *text = (struct tv_bytes){bytes, got};
    if (status != TV_OK)
        tv_free(bytes);
    return status;
}

/* Write the key of a member; one that an earlier file has, too, is named after its file. */
static void te_rewrite_put_member_key(struct tv_te_rewrite *rewrite,
                                      const struct te_rewrite_input *file, struct tv_bytes key)
{
    struct tv_te_scratch scratch = {NULL, 0};
    struct tv_bytes text = tv_te_decode_text(key, &scratch);
    uint32_t count = tv_interner_count(rewrite->keys);
    bool known = rewrite->count > 1 && tv_interner_add(rewrite->keys, text) < count;
    struct tv_out name;
    tv_out_init_memory(&name);
    if (known) {
        tv_out_text(&name, tv_source_name(file->source));
        tv_out_text(&name, ": ");
        tv_out_bytes(&name, text);
        tv_interner_add(rewrite->keys, (struct tv_bytes){name.buffer, name.length});
        tv_out_json(rewrite->out, (struct tv_bytes){name.buffer, name.length});
    } else {
        tv_json_normalise(key, rewrite->out, NULL);
    }
    tv_out_release(&name);
    tv_te_scratch_release(&scratch);
}

/* Write a member; `name` NULL: under its own key. */
static enum tv_status te_rewrite_put_member(struct tv_te_rewrite *rewrite,
                                            const struct te_rewrite_input *file,
                                            const struct tv_te_top_member *member, const char *name,
                                            struct tv_error *err)
{
    struct tv_bytes text;
    enum tv_status status = te_rewrite_read_value(file, member, &text, err);
    if (status != TV_OK)
        return status;
    tv_out_text(rewrite->out, ",\n");
    if (name)
        tv_out_json(rewrite->out, tv_bytes_of(name));
    else
        te_rewrite_put_member_key(rewrite, file, te_rewrite_member_key(member));
    tv_out_char(rewrite->out, ':');
    tv_json_normalise(text, rewrite->out, NULL);
    tv_free((void *)(uintptr_t)text.data);
    return TV_OK;
}

/* Write the wanted elements of "samples". */
static void te_rewrite_put_samples(struct tv_te_rewrite *rewrite, struct te_rewrite_input *file,
                                   struct tv_bytes text, uint64_t offset, bool *any)
{
    const struct tv_te_rewrite_selection *choice = file->choice;
    struct tv_bytes value;
    if (text.length == 0 || text.data[0] != '[')
        return;
    const uint8_t *at = text.data + 1;
    while (tv_te_element_next(&at, text.data + text.length, &value)) {
        uint64_t place = offset + (uint64_t)(value.data - text.data);
        if (choice && !choice->wanted_sample(choice->context, place))
            continue;
        tv_out_text(rewrite->out, *any ? ",\n" : "");
        *any = true;
        tv_te_id_rewriter_write_sample(&file->rewriter, value, rewrite->out);
    }
}

/* Write "stackFrames" or "samples", which become one table of all files. */
static enum tv_status te_rewrite_put_table(struct tv_te_rewrite *rewrite, const char *key,
                                           char open, struct tv_error *err)
{
    assert(open == '{' || open == '[');
    bool any = false, begun = false;
    for (size_t i = 0; i < rewrite->count; i++) {
        struct te_rewrite_input *file = rewrite->files[i];
        for (size_t k = 0; k < file->container.member_count; k++) {
            const struct tv_te_top_member *member = &file->container.members[k];
            struct tv_bytes text;
            if (!te_rewrite_member_is(member, key))
                continue;
            enum tv_status status = te_rewrite_read_value(file, member, &text, err);
            if (status != TV_OK)
                return status;
            if (!begun)
                tv_out_format(rewrite->out, ",\n\"%s\":%c", key, open);
            begun = true;
            if (open == '{')
                tv_te_id_rewriter_write_frames(&file->rewriter, text, &any, rewrite->out);
            else
                te_rewrite_put_samples(rewrite, file, text, member->value.offset, &any);
            tv_free((void *)(uintptr_t)text.data);
        }
    }
    if (begun)
        tv_out_char(rewrite->out, open == '{' ? '}' : ']');
    return TV_OK;
}

/* True when the member is merged with those of other files, or is written only once. */
static bool te_rewrite_is_merged(const struct tv_te_rewrite *rewrite, size_t file,
                                 const struct tv_te_top_member *member)
{
    if (!rewrite->used && !rewrite->files[file]->choice)
        return false;
    if (te_rewrite_member_is(member, "displayTimeUnit"))
        return file > 0;
    return te_rewrite_member_is(member, "stackFrames") || te_rewrite_member_is(member, "samples");
}

static const struct tv_te_rewrite_text *te_rewrite_find_text(const struct tv_te_rewrite_text *texts,
                                                             size_t count, size_t file,
                                                             const struct tv_te_top_member *member)
{
    for (size_t i = 0; i < count; i++)
        if (texts[i].file == file && te_rewrite_member_is(member, texts[i].member))
            return &texts[i];
    return NULL;
}

/* ---- Texts ---- */

#define CHUNK ((size_t)1 << 16)

/* Return how many bytes end with a whole character; the rest waits for the next chunk. */
static size_t te_rewrite_whole_characters(const uint8_t *bytes, size_t length)
{
    size_t back = 0;
    while (back < 3 && back < length && (bytes[length - 1 - back] & 0xc0) == 0x80)
        back++;
    if (back == length || bytes[length - 1 - back] < 0xc0)
        return length;
    return length - 1 - back;
}

/* Write the source as one string. */
static enum tv_status te_rewrite_put_source(struct tv_out *out, struct tv_source *source,
                                            struct tv_error *err)
{
    uint8_t *bytes = tv_alloc(CHUNK, 1);
    size_t held = 0, got = 0;
    uint64_t at = 0;
    enum tv_status status = TV_OK;
    struct tv_out piece;
    tv_out_init_memory(&piece);
    tv_out_char(out, '"');
    do {
        status = tv_source_read(source, at, bytes + held, CHUNK - held, &got, err);
        if (status != TV_OK)
            break;
        at += got;
        held += got;
        size_t ready = got == 0 ? held : te_rewrite_whole_characters(bytes, held);
        piece.length = 0;
        tv_out_json(&piece, (struct tv_bytes){bytes, ready});
        tv_out_bytes(out, (struct tv_bytes){piece.buffer + 1, piece.length - 2});
        memmove(bytes, bytes + ready, held - ready);
        held -= ready;
    } while (got > 0);
    tv_out_char(out, '"');
    tv_out_release(&piece);
    tv_free(bytes);
    return status;
}

/* Write the embedded traces that are given as sources. */
static enum tv_status te_rewrite_put_texts(struct tv_te_rewrite *rewrite,
                                           const struct tv_te_rewrite_text *texts, size_t count,
                                           struct tv_error *err)
{
    enum tv_status status = TV_OK;
    for (size_t i = 0; i < count && status == TV_OK; i++) {
        if (!texts[i].source || !texts[i].key[0])
            continue;
        tv_out_format(rewrite->out, ",\n\"%s\":", texts[i].key);
        status = te_rewrite_put_source(rewrite->out, texts[i].source, err);
    }
    return status;
}

/* Write the members of a file, except those that are merged, replaced or too long. */
static enum tv_status te_rewrite_put_members(struct tv_te_rewrite *rewrite, size_t file,
                                             const struct tv_te_rewrite_text *texts, size_t count,
                                             uint64_t most, struct tv_error *err)
{
    const struct tv_te_container *container = &rewrite->files[file]->container;
    enum tv_status status = TV_OK;
    for (size_t i = 0; i < container->member_count && status == TV_OK; i++) {
        const struct tv_te_top_member *member = &container->members[i];
        const struct tv_te_rewrite_text *text = te_rewrite_find_text(texts, count, file, member);
        if (te_rewrite_is_merged(rewrite, file, member) ||
            (text && (text->source || !text->key[0])))
            continue;
        if (!text && member->value.length > most && !te_rewrite_member_is(member, "convertedFrom"))
            continue;
        status = te_rewrite_put_member(rewrite, rewrite->files[file], member,
                                       text ? text->key : NULL, err);
    }
    return status;
}

enum tv_status tv_te_rewrite_members(struct tv_te_rewrite *rewrite,
                                     const struct tv_te_rewrite_text *texts, size_t text_count,
                                     uint64_t most, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    bool tables = rewrite->used || (rewrite->count > 0 && rewrite->files[0]->choice);
    tv_out_text(rewrite->out, "\n]");
    for (size_t i = 0; i < text_count; i++)
        tv_interner_add(rewrite->keys, tv_bytes_of(texts[i].key));
    for (size_t i = 0; i < rewrite->count && status == TV_OK; i++)
        status = te_rewrite_put_members(rewrite, i, texts, text_count, most, err);
    if (status == TV_OK && tables)
        status = te_rewrite_put_table(rewrite, "stackFrames", '{', err);
    if (status == TV_OK && tables)
        status = te_rewrite_put_table(rewrite, "samples", '[', err);
    return status == TV_OK ? te_rewrite_put_texts(rewrite, texts, text_count, err) : status;
}
