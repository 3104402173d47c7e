/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.c - all places where code ever began are known before the first question, so that they
 * stand in one sorted array; what comes and goes with time is which of them are taken.  A tree of
 * flags over the array finds the nearest taken place on either side.
 */
#include "readers/trace_event/code.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/memory.h"

#define NOWHERE SIZE_MAX

struct change {
    tv_ns time;
    uint64_t offset;
    uint64_t from, to, size; /* from: moved code */
    uint32_t process, frame;
    bool moved;
};

/* Code begins here, or did or will. */
struct place {
    uint64_t start, size;
    uint32_t process, frame;
};

struct tv_te_code {
    struct tv_te_context *context;
    struct change *changes; /* by time */
    size_t change_count, change_capacity, applied;
    struct place *places; /* by process and start, each once */
    size_t place_count;
    size_t leaves; /* a power of two */
    bool *taken;   /* [2 * leaves] of a heap: one of those below is taken */
};

/* ---- Names ---- */

static bool is_word(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static struct tv_bytes without(struct tv_bytes text, size_t count)
{
    return (struct tv_bytes){text.data + count, text.length - count};
}

/* "LazyCompile:~foo http://example.com/bar.js:23": what it is, how far it is compiled ('~', '*' or
 * nothing), name, source.  An address with "//" is no such word. */
static struct tv_bytes without_kind(struct tv_bytes name)
{
    size_t i = 0;
    while (i < name.length && is_word(name.data[i]))
        i++;
    if (i < name.length && name.data[i] == ':' &&
        !tv_bytes_starts_with(without(name, i), TV_BYTES("://")))
        name = without(name, i + 1);
    if (name.length > 0 && (name.data[0] == '~' || name.data[0] == '*'))
        name = without(name, 1);
    return name;
}

/* Takes ":23" off the end. */
static bool take_line(struct tv_bytes *text, int32_t *line)
{
    uint64_t number;
    size_t i = text->length;
    while (i > 0 && text->data[i - 1] >= '0' && text->data[i - 1] <= '9')
        i--;
    if (i < 2 || text->data[i - 1] != ':' || !tv_parse_u64(without(*text, i), &number) ||
        number > INT32_MAX)
        return false;
    *line = (int32_t)number;
    text->length = i - 1;
    return true;
}

static uint32_t find_frame(struct tv_te_context *context, struct tv_bytes raw)
{
    struct tv_trace_info *head = context->trace->head;
    struct tv_bytes name = without_kind(tv_te_text(raw, &context->scratch));
    struct tv_frame frame = {.line = 0};
    size_t blank = name.length;
    while (blank > 0 && name.data[blank - 1] != ' ')
        blank--;
    struct tv_bytes file = without(name, blank);
    if (blank > 0 && take_line(&file, &frame.line)) {
        frame.file = tv_trace_info_string(head, file);
        name.length = blank - 1;
    }
    frame.name = tv_trace_info_string(head, name.length > 0 ? name : TV_BYTES("(anonymous)"));
    return tv_trace_info_add_frame(head, &frame);
}

/* ---- Reading ---- */

static bool is_added(struct tv_bytes raw)
{
    return tv_bytes_equal(raw, TV_BYTES("\"JitCodeAdded\""));
}

static bool is_moved(struct tv_bytes raw)
{
    return tv_bytes_equal(raw, TV_BYTES("\"JitCodeMoved\""));
}

bool tv_te_code_is_name(struct tv_bytes name)
{
    return is_added(name) || is_moved(name);
}

static bool read_address(struct tv_te_context *context, struct tv_bytes data, const char *key,
                         uint64_t *address)
{
    struct tv_bytes text = tv_te_text(tv_te_member(data, key), &context->scratch);
    return tv_bytes_starts_with(text, TV_BYTES("0x")) && tv_parse_hex(text, address);
}

static void read_change(struct tv_te_code *code, uint32_t process, uint64_t offset)
{
    struct tv_te_context *context = code->context;
    struct tv_te_fields fields;
    struct change change = {.offset = offset, .process = process};
    int64_t size = 0;
    if (!tv_te_event_read(context, offset, &fields) || !tv_te_code_is_name(fields.name) ||
        !tv_te_time(fields.ts, &change.time))
        return;
    struct tv_bytes data = tv_te_member(fields.args, "data");
    change.moved = is_moved(fields.name);
    bool whole = read_address(context, data, "code_start", &change.to);
    if (change.moved)
        whole = whole && read_address(context, data, "old_code_start", &change.from);
    else
        whole = whole && tv_te_integer(tv_te_member(data, "code_len"), &size) && size > 0;
    if (!whole) {
        tv_te_warn(context, TV_DIAGNOSTIC_PROFILE_BAD, offset);
        return;
    }
    change.size = (uint64_t)size;
    if (!change.moved)
        change.frame = find_frame(context, tv_te_member(data, "name"));
    code->changes = tv_array_reserve(code->changes, &code->change_capacity, code->change_count + 1,
                                     sizeof *code->changes);
    code->changes[code->change_count++] = change;
}

/* Instants of the thread or process where the code lies. */
static void read_instants(struct tv_te_code *code)
{
    const struct tv_trace *trace = code->context->trace;
    const struct tv_trace_info *head = trace->head;
    uint32_t added = tv_interner_find(head->strings, TV_BYTES("JitCodeAdded"));
    uint32_t moved = tv_interner_find(head->strings, TV_BYTES("JitCodeMoved"));
    for (size_t i = 0; i < trace->tables.instants.count; i++) {
        const struct tv_instant *instant = &trace->tables.instants.rows[i];
        uint32_t name = head->frames[instant->frame].name;
        if ((name != added && name != moved) || instant->input != code->context->input ||
            instant->scope == TV_SCOPE_GLOBAL)
            continue;
        uint32_t process =
            instant->scope == TV_SCOPE_THREAD ? head->threads[instant->of].process : instant->of;
        read_change(code, process, instant->offset);
    }
}

static int compare_changes(const void *left, const void *right)
{
    const struct change *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->start > b->start) - (a->start < b->start);
}

static void make_places(struct tv_te_code *code)
{
    code->places = tv_alloc(code->change_count, sizeof *code->places);
    for (size_t i = 0; i < code->change_count; i++)
        code->places[i] =
            (struct place){.start = code->changes[i].to, .process = code->changes[i].process};
    qsort(code->places, code->change_count, sizeof *code->places, compare_places);
    for (size_t i = 0; i < code->change_count; i++)
        if (i == 0 || compare_places(&code->places[i - 1], &code->places[i]) != 0)
            code->places[code->place_count++] = code->places[i];
    for (code->leaves = 1; code->leaves < code->place_count;)
        code->leaves *= 2;
    code->taken = tv_alloc(tv_size_mul(code->leaves, 2), sizeof *code->taken);
}

struct tv_te_code *tv_te_code_new(struct tv_te_context *context)
{
    struct tv_te_code *code = tv_alloc(1, sizeof *code);
    code->context = context;
    for (size_t i = 0; i < context->frame_table_count; i++)
        read_change(code, context->frame_tables[i].process, context->frame_tables[i].offset);
    read_instants(code);
    if (code->change_count > 0) {
        qsort(code->changes, code->change_count, sizeof *code->changes, compare_changes);
        make_places(code);
    }
    return code;
}

void tv_te_code_free(struct tv_te_code *code)
{
    tv_free(code->changes);
    tv_free(code->places);
    tv_free(code->taken);
    tv_free(code);
}

/* ---- What lies where ---- */

static void set_taken(struct tv_te_code *code, size_t place, bool taken)
{
    size_t i = place + code->leaves;
    code->taken[i] = taken;
    for (i /= 2; i > 0; i /= 2)
        code->taken[i] = code->taken[2 * i] || code->taken[2 * i + 1];
}

/* The taken place at `place` or the nearest before it (`side` 0), or behind it (1). */
static size_t nearest(const struct tv_te_code *code, size_t place, size_t side)
{
    size_t i = place + code->leaves;
    while (!code->taken[i]) {
        while (i > 1 && i % 2 == side) /* nothing on that side below this parent */
            i /= 2;
        if (i <= 1)
            return NOWHERE;
        i = side ? i + 1 : i - 1;
    }
    while (i < code->leaves)
        i = 2 * i + (code->taken[2 * i + !side] ? !side : side);
    return i - code->leaves;
}

/* How many places begin at or before an address. */
static size_t count_places(const struct tv_te_code *code, uint32_t process, uint64_t address)
{
    struct place wanted = {.start = address, .process = process};
    size_t low = 0, high = code->place_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_places(&code->places[middle], &wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The place of code that lies at an address. */
static size_t find_place(const struct tv_te_code *code, uint32_t process, uint64_t address)
{
    size_t count = count_places(code, process, address);
    size_t found = count == 0 ? NOWHERE : nearest(code, count - 1, 0);
    if (found == NOWHERE || code->places[found].process != process ||
        address - code->places[found].start >= code->places[found].size)
        return NOWHERE;
    return found;
}

/* Code takes a place; what lay under it is gone. */
static void put(struct tv_te_code *code, const struct change *change, uint64_t size, uint32_t frame)
{
    size_t place = count_places(code, change->process, change->to) - 1;
    size_t other;
    while ((other = nearest(code, place, 1)) != NOWHERE &&
           code->places[other].process == change->process &&
           code->places[other].start - change->to < size)
        set_taken(code, other, false);
    code->places[place].size = size;
    code->places[place].frame = frame;
    set_taken(code, place, true);
}

static void apply(struct tv_te_code *code, const struct change *change)
{
    if (!change->moved) {
        put(code, change, change->size, change->frame);
        return;
    }
    size_t from = find_place(code, change->process, change->from);
    if (from == NOWHERE || code->places[from].start != change->from)
        return;
    struct place moved = code->places[from];
    set_taken(code, from, false);
    put(code, change, moved.size, moved.frame);
}

bool tv_te_code_find(struct tv_te_code *code, uint32_t process, tv_ns time, uint64_t address,
                     uint32_t *frame)
{
    while (code->applied < code->change_count && code->changes[code->applied].time <= time)
        apply(code, &code->changes[code->applied++]);
    size_t place = code->place_count == 0 ? NOWHERE : find_place(code, process, address);
    if (place == NOWHERE)
        return false;
    *frame = code->places[place].frame;
    return true;
}
