/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite_ids.c - the ids of one file's events, changed where they clash with those of other files.
 *
 *     pid      an earlier file has it: a new number, from 10000000 on
 *     id       all processes share it and an earlier file has it: "2/0x5" in the second file
 *     sf, esf  ids of stack frames: "2/7" when the tables of several files become one
 *     ts       plus the distance of the clocks
 *
 * Everything else stays as it is.
 */
#include "readers/trace_event/rewrite.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/json/json.h"
#include "readers/trace_event/container.h"
#include "readers/trace_event/tables.h"
#include "readers/trace_event/text/fields.h"

/* New pids begin beyond those that systems assign. */
#define FIRST_NEW_PID UINT64_C(10000000)

/* ---- What is used ---- */

void tv_te_used_ids_init(struct tv_te_used_ids *used)
{
    *used = (struct tv_te_used_ids){
        .pids = tv_interner_new(), .ids = tv_interner_new(), .next = FIRST_NEW_PID};
    tv_map_init(&used->avoid);
}

void tv_te_used_ids_release(struct tv_te_used_ids *used)
{
    tv_interner_free(used->pids);
    tv_interner_free(used->ids);
    tv_free(used->id_files);
    tv_map_release(&used->avoid);
}

/* Add a text; false: it was there. */
static bool te_used_ids_add(struct tv_interner *texts, struct tv_bytes text)
{
    uint32_t count = tv_interner_count(texts);
    return tv_interner_add(texts, text) == count;
}

bool tv_te_used_ids_add_pid(struct tv_te_used_ids *used, uint64_t pid)
{
    uint8_t text[24] = "n";
    size_t length = 1 + tv_digits_u64(text + 1, pid);
    return te_used_ids_add(used->pids, (struct tv_bytes){text, length});
}

uint64_t tv_te_used_ids_new_pid(struct tv_te_used_ids *used)
{
    while (tv_map_find(&used->avoid, used->next) != TV_NONE ||
           !tv_te_used_ids_add_pid(used, used->next))
        used->next++;
    return used->next++;
}

/* ---- Files ---- */

void tv_te_id_rewriter_init(struct tv_te_id_rewriter *rewriter, struct tv_te_used_ids *used,
                            uint32_t file, tv_ns shift)
{
    *rewriter = (struct tv_te_id_rewriter){
        .used = used, .file = file, .shift = shift, .pids = tv_interner_new()};
    snprintf(rewriter->prefix, sizeof rewriter->prefix, "%u/", (unsigned)file + 1);
}

void tv_te_id_rewriter_release(struct tv_te_id_rewriter *rewriter)
{
    tv_interner_free(rewriter->pids);
    tv_free(rewriter->processes);
    tv_te_scratch_release(&rewriter->scratch);
}

/* True for a short string of plain letters or digits, which most keys and values are: it is strict
 * JSON already. */
static bool te_rewrite_is_strict(struct tv_bytes raw)
{
    if (raw.length < 2 || raw.data[0] != '"' || raw.data[raw.length - 1] != '"')
        return false;
    for (size_t i = 1; i < raw.length - 1; i++)
        if (raw.data[i] < 0x20 || raw.data[i] > 0x7e || strchr("\"\\<", raw.data[i]))
            return false;
    return true;
}

/* Write a value as strict JSON; most are copied. */
static void te_rewrite_put_value(struct tv_bytes value, struct tv_out *out)
{
    if (te_rewrite_is_strict(value))
        tv_out_bytes(out, value);
    else
        tv_json_normalise(value, out, NULL);
}

/* Write a key and the comma before it. */
static void te_rewrite_put_key(struct tv_out *out, bool *any, struct tv_bytes key)
{
    tv_out_text(out, *any ? "," : "");
    *any = true;
    if (tv_te_is_string(key))
        te_rewrite_put_value(key, out);
    else
        tv_out_json(out, key);
    tv_out_char(out, ':');
}

/* Ways to write the values of one key. */
struct te_rewrite_change {
    const char *name;
    void (*put)(struct tv_te_id_rewriter *rewriter, struct tv_bytes value, struct tv_out *out);
};

#define MAX_CHANGES 2

/* Write an object, changing the values of some keys. */
static void te_rewrite_put_object(struct tv_te_id_rewriter *rewriter, struct tv_bytes object,
                                  const struct te_rewrite_change changes[MAX_CHANGES],
                                  struct tv_out *out)
{
    struct tv_bytes key, value;
    bool any = false;
    if (object.length == 0 || object.data[0] != '{') {
        tv_json_normalise(object, out, NULL);
        return;
    }
    const uint8_t *at = object.data + 1;
    tv_out_char(out, '{');
    while (tv_te_member_next(&at, object.data + object.length, &key, &value)) {
        size_t i = 0;
        te_rewrite_put_key(out, &any, key);
        while (i < MAX_CHANGES && !(changes[i].name && tv_te_key_is(key, changes[i].name)))
            i++;
        if (i < MAX_CHANGES)
            changes[i].put(rewriter, value, out);
        else
            te_rewrite_put_value(value, out);
    }
    tv_out_char(out, '}');
}

/* ---- Values ---- */

/* Write a time, shifted to the clock of the first file. */
static void te_rewrite_put_time(struct tv_te_id_rewriter *rewriter, struct tv_bytes value,
                                struct tv_out *out)
{
    int64_t time;
    if (rewriter->shift == 0 || !tv_te_parse_time(value, &time) ||
        __builtin_add_overflow(time, rewriter->shift, &time))
        te_rewrite_put_value(value, out);
    else
        tv_out_time(out, time, 1000, 3);
}

/* Write an id with the prefix of the file. */
static void te_rewrite_put_prefixed(struct tv_te_id_rewriter *rewriter, struct tv_bytes value,
                                    struct tv_out *out)
{
    struct tv_bytes text = tv_te_decode_text(value, &rewriter->scratch);
    struct tv_out whole;
    tv_out_init_memory(&whole);
    tv_out_text(&whole, rewriter->prefix);
    tv_out_bytes(&whole, text);
    tv_out_json(out, (struct tv_bytes){whole.buffer, whole.length});
    tv_out_release(&whole);
}

/* True when no earlier file has the id; from then on this file has it.  Kinds of ids are
 * independent. */
static bool te_rewrite_owns_id(struct tv_te_id_rewriter *rewriter, const char *kind,
                               struct tv_bytes id)
{
    assert(rewriter->used);
    struct tv_te_used_ids *used = rewriter->used;
    struct tv_out text;
    tv_out_init_memory(&text);
    tv_out_text(&text, kind);
    tv_out_bytes(&text, id);
    uint32_t count = tv_interner_count(used->ids);
    uint32_t number = tv_interner_add(used->ids, (struct tv_bytes){text.buffer, text.length});
    tv_out_release(&text);
    used->id_files = tv_array_reserve(used->id_files, &used->id_capacity, (size_t)number + 1,
                                      sizeof *used->id_files);
    if (number == count)
        used->id_files[number] = rewriter->file;
    return used->id_files[number] == rewriter->file;
}

/* Write an id of a kind: unchanged, if no earlier file has it. */
static void te_rewrite_put_id_of(struct tv_te_id_rewriter *rewriter, const char *kind,
                                 struct tv_bytes value, struct tv_out *out)
{
    struct tv_bytes text = tv_te_decode_text(value, &rewriter->scratch);
    if (!rewriter->used || text.length == 0 || te_rewrite_owns_id(rewriter, kind, text))
        te_rewrite_put_value(value, out);
    else
        te_rewrite_put_prefixed(rewriter, value, out);
}

/* Write an id that all processes share. */
static void te_rewrite_put_id(struct tv_te_id_rewriter *rewriter, struct tv_bytes value,
                              struct tv_out *out)
{
    te_rewrite_put_id_of(rewriter, "i", value, out);
}

/* Write a clock mark: of files on the same clock, the mark of a later file must not match. */
static void te_rewrite_put_sync_id(struct tv_te_id_rewriter *rewriter, struct tv_bytes value,
                                   struct tv_out *out)
{
    te_rewrite_put_id_of(rewriter, "c", value, out);
}

/* Write "id2"; only a global id is shared. */
static void te_rewrite_put_id2(struct tv_te_id_rewriter *rewriter, struct tv_bytes value,
                               struct tv_out *out)
{
    static const struct te_rewrite_change changes[MAX_CHANGES] = {{"global", te_rewrite_put_id}};
    te_rewrite_put_object(rewriter, value, changes, out);
}

/* Write "linked_id", which is like "id" or like "id2". */
static void te_rewrite_put_linked_id(struct tv_te_id_rewriter *rewriter, struct tv_bytes value,
                                     struct tv_out *out)
{
    if (value.length > 0 && value.data[0] == '{')
        te_rewrite_put_id2(rewriter, value, out);
    else
        te_rewrite_put_id(rewriter, value, out);
}

/* Write the id of a stack frame. */
static void te_rewrite_put_frame(struct tv_te_id_rewriter *rewriter, struct tv_bytes value,
                                 struct tv_out *out)
{
    if (rewriter->frames)
        te_rewrite_put_prefixed(rewriter, value, out);
    else
        te_rewrite_put_value(value, out);
}

void tv_te_id_rewriter_write_frames(struct tv_te_id_rewriter *rewriter, struct tv_bytes object,
                                    bool *any, struct tv_out *out)
{
    static const struct te_rewrite_change changes[MAX_CHANGES] = {{"parent", te_rewrite_put_frame}};
    struct tv_bytes key, value;
    if (object.length == 0 || object.data[0] != '{')
        return;
    const uint8_t *at = object.data + 1;
    while (tv_te_member_next(&at, object.data + object.length, &key, &value)) {
        tv_out_text(out, *any ? ",\n" : "");
        *any = true;
        if (tv_te_is_string(key))
            te_rewrite_put_frame(rewriter, key, out);
        else
            te_rewrite_put_prefixed(rewriter, key, out);
        tv_out_char(out, ':');
        te_rewrite_put_object(rewriter, value, changes, out);
    }
}

static void te_rewrite_put_frames(struct tv_te_id_rewriter *rewriter, struct tv_bytes value,
                                  struct tv_out *out)
{
    bool any = false;
    tv_out_char(out, '{');
    tv_te_id_rewriter_write_frames(rewriter, value, &any, out);
    tv_out_char(out, '}');
}

static void te_rewrite_put_profile_data(struct tv_te_id_rewriter *rewriter, struct tv_bytes value,
                                        struct tv_out *out)
{
    static const struct te_rewrite_change changes[MAX_CHANGES] = {
        {"startTime", te_rewrite_put_time}};
    te_rewrite_put_object(rewriter, value, changes, out);
}

/* ---- Processes ---- */

/* Write the name of a process, for a pid that was a string and so was the name. */
static void te_rewrite_put_process_name(uint64_t pid, struct tv_bytes name, struct tv_out *out)
{
    assert(pid != 0);
    tv_out_format(out, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%llu,\"args\":{\"name\":",
                  (unsigned long long)pid);
    tv_out_json(out, name);
    tv_out_text(out, "}},\n");
}

/* Return the new pid of a process; 0: it keeps its own. */
static uint64_t te_rewrite_new_pid(const struct tv_te_id_rewriter *rewriter, struct tv_bytes text)
{
    struct tv_te_used_ids *used = rewriter->used;
    if (!used || te_used_ids_add(used->pids, text) || rewriter->keeps_pids)
        return 0;
    return tv_te_used_ids_new_pid(used);
}

/* Return the number of a process among those of the file. */
static uint32_t te_rewrite_find_process(struct tv_te_id_rewriter *rewriter, struct tv_bytes pid)
{
    struct tv_out name;
    tv_out_init_memory(&name);
    tv_out_char(&name, pid.data ? (char)tv_te_raw_id_kind(pid) : 'n');
    tv_out_bytes(&name, pid.data ? tv_te_decode_text(pid, &rewriter->scratch) : TV_BYTES("0"));
    struct tv_bytes text = {name.buffer, name.length};
    uint32_t count = tv_interner_count(rewriter->pids);
    uint32_t number = tv_interner_add(rewriter->pids, text);
    rewriter->processes = tv_array_reserve(rewriter->processes, &rewriter->process_capacity,
                                           (size_t)number + 1, sizeof *rewriter->processes);
    if (number == count)
        rewriter->processes[number] = (struct tv_te_rewritten_process){
            .pid = te_rewrite_new_pid(rewriter, text),
            .named = text.data[0] != 's',
        };
    tv_out_release(&name);
    return number;
}

/* As above, with a cache: most events have the pid of the event before. */
static uint32_t te_rewrite_process_of(struct tv_te_id_rewriter *rewriter, struct tv_bytes pid)
{
    if (pid.length > 0 && pid.length == rewriter->last_length &&
        memcmp(pid.data, rewriter->last_pid, pid.length) == 0)
        return rewriter->last_process;
    uint32_t number = te_rewrite_find_process(rewriter, pid);
    rewriter->last_length = pid.length <= sizeof rewriter->last_pid ? pid.length : 0;
    rewriter->last_process = number;
    if (rewriter->last_length > 0)
        memcpy(rewriter->last_pid, pid.data, rewriter->last_length);
    return number;
}

void tv_te_id_rewriter_write_new_pids(const struct tv_te_id_rewriter *rewriter, struct tv_out *out)
{
    bool any = false;
    tv_out_char(out, '{');
    for (uint32_t i = 1; i < tv_interner_count(rewriter->pids); i++) {
        struct tv_bytes text = tv_interner_get(rewriter->pids, i);
        if (rewriter->processes[i].pid == 0)
            continue;
        tv_out_format(out, "%s\"%llu\":", any ? "," : "",
                      (unsigned long long)rewriter->processes[i].pid);
        any = true;
        tv_out_json(out, (struct tv_bytes){text.data + 1, text.length - 1});
    }
    tv_out_char(out, '}');
}

/* Write a pid as the new file has it; false: it is not a valid pid. */
static bool te_rewrite_put_pid(const struct tv_te_id_rewriter *rewriter, uint32_t number,
                               struct tv_out *out)
{
    assert(number > 0 && number < tv_interner_count(rewriter->pids));
    struct tv_bytes text = tv_interner_get(rewriter->pids, number);
    struct tv_bytes pid = {text.data + 1, text.length - 1}, digits = pid;
    uint64_t plain = rewriter->processes[number].pid;
    if (plain == 0 && text.data[0] == 's') {
        tv_out_json(out, pid);
        return true;
    }
    bool minus = plain == 0 && tv_bytes_starts_with(pid, TV_BYTES("-"));
    digits.data += minus;
    digits.length -= minus;
    if (plain == 0 && !tv_parse_u64(digits, &plain))
        return false;
    tv_out_format(out, "%s%llu", minus ? "-" : "", (unsigned long long)plain);
    return true;
}

void tv_te_id_rewriter_write_pids(const struct tv_te_id_rewriter *rewriter, struct tv_out *out)
{
    struct tv_out pid;
    bool any = false;
    tv_out_init_memory(&pid);
    tv_out_char(out, '[');
    for (uint32_t i = 1; i < tv_interner_count(rewriter->pids); i++) {
        pid.length = 0;
        if (!te_rewrite_put_pid(rewriter, i, &pid))
            continue;
        tv_out_text(out, any ? "," : "");
        any = true;
        tv_out_bytes(out, (struct tv_bytes){pid.buffer, pid.length});
    }
    tv_out_char(out, ']');
    tv_out_release(&pid);
}

/* ---- Events ---- */

struct te_rewrite_event {
    struct tv_te_id_rewriter *rewriter;
    const struct tv_te_fields *fields;
    uint64_t pid; /* new; 0: unchanged */
    char phase;
};

/* An id that "=" joins is an id of objects as well, and objects keep theirs: write it beside the
 * changed one. */
static void te_rewrite_put_object_id(const struct te_rewrite_event *w, const char *key,
                                     struct tv_bytes id, struct tv_out *out)
{
    struct tv_te_id_rewriter *rewriter = w->rewriter;
    if (id.length == 0 || id.data[0] == '{' || !rewriter->used ||
        tv_te_member(w->fields->args, key).data ||
        te_rewrite_owns_id(rewriter, "i", tv_te_decode_text(id, &rewriter->scratch)))
        return;
    tv_out_format(out, ",\"%s\":", key);
    te_rewrite_put_value(id, out);
}

/* Write the arguments of a "=", with the ids of the objects that it also joins. */
static void te_rewrite_put_id_link(const struct te_rewrite_event *w, struct tv_bytes args,
                                   struct tv_out *out)
{
    static const struct te_rewrite_change changes[MAX_CHANGES] = {
        {"linked_id", te_rewrite_put_linked_id}, {"linked id", te_rewrite_put_linked_id}};
    struct tv_bytes linked = tv_te_member(args, "linked_id");
    linked = linked.data ? linked : tv_te_member(args, "linked id");
    struct tv_out whole;
    tv_out_init_memory(&whole);
    te_rewrite_put_object(w->rewriter, args, changes, &whole);
    if (!linked.data) {
        tv_out_bytes(out, (struct tv_bytes){whole.buffer, whole.length});
    } else {
        tv_out_bytes(out, (struct tv_bytes){whole.buffer, whole.length - 1});
        te_rewrite_put_object_id(w, "object_id", w->fields->id, out);
        te_rewrite_put_object_id(w, "linked_object_id", linked, out);
        tv_out_char(out, '}');
    }
    tv_out_release(&whole);
}

/* Write the arguments; those of some phases hold ids or times. */
static void te_rewrite_put_args(const struct te_rewrite_event *w, struct tv_bytes value,
                                struct tv_out *out)
{
    static const struct te_rewrite_change none[MAX_CHANGES] = {{NULL, NULL}};
    static const struct te_rewrite_change frames[MAX_CHANGES] = {
        {"stackFrames", te_rewrite_put_frames}};
    static const struct te_rewrite_change clock[MAX_CHANGES] = {
        {"issue_ts", te_rewrite_put_time}, {"sync_id", te_rewrite_put_sync_id}};
    static const struct te_rewrite_change profile[MAX_CHANGES] = {
        {"data", te_rewrite_put_profile_data}};
    const struct te_rewrite_change *changes = none;
    struct tv_bytes name = w->fields->name;
    if (w->phase == 'M' && (tv_te_key_is(name, "stackFrames") || tv_te_key_is(name, "typeNames")))
        changes = frames;
    else if (w->phase == 'c')
        changes = clock;
    else if (w->phase == 'P')
        changes = profile;
    if (w->phase == '=')
        te_rewrite_put_id_link(w, value, out);
    else if (changes == none)
        te_rewrite_put_value(value, out);
    else
        te_rewrite_put_object(w->rewriter, value, changes, out);
}

/* True when all processes share the plain id of the event. */
static bool te_rewrite_shares_id(char phase)
{
    return phase != 0 && strchr("bneSTpFstfvV=", phase) != NULL;
}

/* Write a value that may have to change.  False: nothing can change in it. */
static bool te_rewrite_put_changed(const struct te_rewrite_event *w, struct tv_bytes key,
                                   struct tv_bytes value, struct tv_out *out)
{
    struct tv_te_id_rewriter *rewriter = w->rewriter;
    if (tv_te_key_is(key, "ts"))
        te_rewrite_put_time(rewriter, value, out);
    else if (tv_te_key_is(key, "id") && te_rewrite_shares_id(w->phase))
        te_rewrite_put_id(rewriter, value, out);
    else if (tv_te_key_is(key, "id2") && te_rewrite_shares_id(w->phase))
        te_rewrite_put_id2(rewriter, value, out);
    else if (tv_te_key_is(key, "bind_id"))
        te_rewrite_put_id(rewriter, value, out);
    else if (tv_te_key_is(key, "sf") || tv_te_key_is(key, "esf"))
        te_rewrite_put_frame(rewriter, value, out);
    else if (tv_te_key_is(key, "args"))
        te_rewrite_put_args(w, value, out);
    else
        return false;
    return true;
}

/* Write a changed pid.  A missing tid was the old pid and must be written, too. */
static void te_rewrite_put_process(const struct te_rewrite_event *w, bool *any, struct tv_out *out)
{
    assert(w->pid != 0);
    tv_out_format(out, "%s\"pid\":%llu", *any ? "," : "", (unsigned long long)w->pid);
    *any = true;
    if (w->fields->tid.data)
        return;
    tv_out_text(out, ",\"tid\":");
    if (w->fields->pid.data)
        tv_json_normalise(w->fields->pid, out, NULL);
    else
        tv_out_char(out, '0');
}

/* True for members that are left out, or written after the others. */
static bool te_rewrite_drops(const struct te_rewrite_event *w, struct tv_bytes key)
{
    return w->pid != 0 && tv_te_key_is(key, "pid");
}

/* A global instant makes no process. */
static bool te_rewrite_is_global(const struct te_rewrite_event *w)
{
    return w->phase != 0 && strchr("iIR", w->phase) && tv_te_key_is(w->fields->s, "g");
}

/* True when nothing in the event can change. */
static bool te_rewrite_is_unchanged(const struct te_rewrite_event *w)
{
    const struct tv_te_id_rewriter *rewriter = w->rewriter;
    return w->pid == 0 && rewriter->shift == 0 && !w->fields->rare &&
           !(w->phase != 0 && strchr("McP=", w->phase));
}

void tv_te_id_rewriter_write_event(struct tv_te_id_rewriter *rewriter,
                                   const struct tv_te_list_event *event, struct tv_out *out)
{
    uint32_t number = te_rewrite_process_of(rewriter, event->fields->pid);
    struct tv_te_rewritten_process *process = &rewriter->processes[number];
    struct te_rewrite_event w = {.rewriter = rewriter,
                                 .fields = event->fields,
                                 .pid = process->pid,
                                 .phase = tv_te_fields_phase(event->fields)};
    if (w.pid != 0 && !process->named && !te_rewrite_is_global(&w)) {
        struct tv_bytes text = tv_interner_get(rewriter->pids, number);
        te_rewrite_put_process_name(w.pid, (struct tv_bytes){text.data + 1, text.length - 1}, out);
        process->named = true;
    }
    if (te_rewrite_is_unchanged(&w)) {
        tv_json_normalise(event->text, out, NULL);
        return;
    }
    struct tv_bytes key, value;
    bool any = false;
    const uint8_t *at = event->text.data + 1, *end = event->text.data + event->text.length;
    tv_out_char(out, '{');
    while (tv_te_member_next(&at, end, &key, &value)) {
        if (te_rewrite_drops(&w, key))
            continue;
        te_rewrite_put_key(out, &any, key);
        if (!te_rewrite_put_changed(&w, key, value, out))
            te_rewrite_put_value(value, out);
    }
    if (w.pid != 0)
        te_rewrite_put_process(&w, &any, out);
    tv_out_char(out, '}');
}

void tv_te_id_rewriter_write_sample(struct tv_te_id_rewriter *rewriter, struct tv_bytes object,
                                    struct tv_out *out)
{
    static const struct te_rewrite_change changes[MAX_CHANGES] = {{"ts", te_rewrite_put_time},
                                                                  {"sf", te_rewrite_put_frame}};
    te_rewrite_put_object(rewriter, object, changes, out);
}
