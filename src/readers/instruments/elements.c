/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elements.c - from XML elements to values: a stack of open elements, each of which gets the values
 * of the elements inside it when these end.
 *
 *     <row>
 *       <thread id="3" fmt="Main 0x1f (App, pid: 7)"><tid id="4">31</tid><process .../></thread>
 *       <backtrace id="9"><frame id="10" name="work" addr="0x1"/><frame ref="12"/></backtrace>
 *     </row>
 *     <row><thread ref="3"/><backtrace ref="9"/></row>
 *
 *     end of tid     --> value 31 goes to thread
 *     end of thread  --> a thread of the model; kept under id 3; goes to row
 *     end of frame   --> pushed to file->frames above the begin of the open backtrace
 *     end of row     --> a sample (instruments.c)
 *
 * xctrace writes each value once, with an id, and later only refers to it. A reference is resolved
 * when its element opens; it must name an element of the same kind that has ended. Ids are small
 * numbers, so values are an array by id; any other id is possible and goes through an interner.
 *
 * instruments_value has fields by kind: thread, process: `a` the model's number, `number` the id;
 * frame: `a` frame, `b` line; stack: `a` path, `b` path with lines; list of addresses: [a, b) in
 * file->addresses; source: `a` file name, `b` line; binary: `a` name, `number` load address.
 */
#include "readers/instruments/instruments.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/* Elements below this depth are left out.  Rows of samples nest seven deep. */
#define DEEPEST 64

/* ---- Kinds ---- */

/* Return the kind of an element by its tag.  Elements of other kinds are walked over: the schema of
 * a table has many columns that a profile does not need. */
static enum instruments_kind instruments_kind_of(struct tv_bytes name)
{
    static const struct {
        const char *name;
        enum instruments_kind kind;
    } kinds[] = {
        {"frame", INSTRUMENTS_FRAME},
        {"binary", INSTRUMENTS_BINARY},
        {"row", INSTRUMENTS_ROW},
        {"sample-time", INSTRUMENTS_TIME},
        {"thread", INSTRUMENTS_THREAD},
        {"process", INSTRUMENTS_PROCESS},
        {"core", INSTRUMENTS_CORE},
        {"thread-state", INSTRUMENTS_STATE},
        {"weight", INSTRUMENTS_WEIGHT},
        {"cycle-weight", INSTRUMENTS_CYCLES},
        {"tagged-backtrace", INSTRUMENTS_STACK},
        {"backtrace", INSTRUMENTS_STACK},
        {"source", INSTRUMENTS_SOURCE},
        {"path", INSTRUMENTS_PATH},
        {"tid", INSTRUMENTS_TID},
        {"pid", INSTRUMENTS_PID},
        {"kperf-bt", INSTRUMENTS_CALLS},
        {"text-addresses", INSTRUMENTS_ADDRESSES},
        {"text-address", INSTRUMENTS_ADDRESS},
        {"node", INSTRUMENTS_NODE},
        {"schema", INSTRUMENTS_SCHEMA},
        {"mnemonic", INSTRUMENTS_MNEMONIC},
    };
    for (size_t i = 0; i < TV_COUNT(kinds); i++)
        if (tv_bytes_equal(name, tv_bytes_of(kinds[i].name)))
            return kinds[i].kind;
    return INSTRUMENTS_OTHER;
}

/* ---- Texts ---- */

uint32_t instruments_string(struct instruments *file, struct tv_bytes text)
{
    return tv_profile_string(&file->profile, tv_xml_decode(text, &file->scratch));
}

static struct tv_bytes instruments_attribute(const struct instruments_element *element,
                                             struct tv_bytes name)
{
    return tv_xml_attribute(element->attributes, name);
}

/* Split the last "(...)" off: "App (7)" is "App" and "7".  Names of programs have brackets, too,
 * and they may be inside: "Main Thread 0x1f (App Helper (Renderer), pid: 7)". */
static bool instruments_split_brackets(struct tv_bytes *text, struct tv_bytes *inside)
{
    struct tv_bytes all = tv_bytes_trim(*text);
    size_t at = all.length, open = 0;
    if (at == 0 || all.data[at - 1] != ')')
        return false;
    do {
        at--;
        open += all.data[at] == ')';
        open -= all.data[at] == '(';
    } while (at > 0 && open > 0);
    if (open > 0)
        return false;
    *inside = (struct tv_bytes){all.data + at + 1, all.length - at - 2};
    *text = tv_bytes_trim((struct tv_bytes){all.data, at});
    return true;
}

/* Take "0x1" or "(0x1)" off the end of a thread's name. */
static bool instruments_split_tid(struct tv_bytes *name, uint64_t *tid)
{
    struct tv_bytes before = *name, word;
    if (name->length == 0)
        return false;
    if (!instruments_split_brackets(&before, &word)) {
        size_t at = before.length;
        while (at > 0 && !tv_is_blank(before.data[at - 1]))
            at--;
        word = (struct tv_bytes){before.data + at, before.length - at};
        before.length = at;
    }
    if (!tv_bytes_starts_with(word, TV_BYTES("0x")) || !tv_parse_hex(word, tid))
        return false;
    *name = tv_bytes_trim(before);
    return true;
}

/* ---- Processes and threads ---- */

/* Set an id of the system; false: it does not fit, and the value stays unknown. */
static bool instruments_fit_id(uint64_t id, struct instruments_value *value)
{
    value->known = id <= INT64_MAX;
    value->number = value->known ? (int64_t)id : 0;
    return value->known;
}

/* `<process fmt="App (7)"><pid>7</pid></process>` */
static void instruments_end_process(struct instruments *file, struct instruments_element *element)
{
    struct tv_bytes name = instruments_attribute(element, TV_BYTES("fmt")), before = name, inside;
    uint64_t pid;
    bool bracketed = instruments_split_brackets(&before, &inside) && tv_parse_u64(inside, &pid);
    name = bracketed ? before : name;
    if (!element->value.known && !(bracketed && instruments_fit_id(pid, &element->value))) {
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_BAD_XML, element->offset);
        element->value.known = true;
    }
    element->value.a = tv_profile_process(&file->profile, (uint64_t)element->value.number,
                                          tv_xml_decode(name, &file->scratch));
}

/* Return the id of a thread that has none in the file: a number for each name. */
static uint64_t instruments_number_thread(struct instruments *file, struct tv_bytes name)
{
    return tv_map_add(&file->nameless, instruments_string(file, name),
                      (uint32_t)file->nameless.count + 1);
}

/* Take "(App, pid: 7)" off the end of a thread's name. */
static bool instruments_split_process(struct tv_bytes *name, uint64_t *pid)
{
    struct tv_bytes before = *name, inside;
    if (!instruments_split_brackets(&before, &inside))
        return false;
    size_t at = inside.length;
    while (at > 0 && !tv_is_blank(inside.data[at - 1]))
        at--;
    struct tv_bytes number = {inside.data + at, inside.length - at};
    if (at == 0 || !tv_bytes_ends_with((struct tv_bytes){inside.data, at}, TV_BYTES("pid: ")) ||
        !tv_parse_u64(number, pid))
        return false;
    *name = before;
    return true;
}

/* `<thread fmt="Main Thread 0x1f (App, pid: 7)"><tid>31</tid><process ...></thread>` */
static void instruments_end_thread(struct instruments *file, struct instruments_element *element)
{
    struct tv_bytes name = tv_bytes_trim(instruments_attribute(element, TV_BYTES("fmt")));
    struct tv_bytes all = name;
    struct instruments_value *process = &element->process;
    uint64_t tid, pid = 0;
    (void)instruments_split_process(&name, &pid);
    bool numbered = instruments_split_tid(&name, &tid);
    if (!element->tid.known && !(numbered && instruments_fit_id(tid, &element->tid)))
        (void)instruments_fit_id(instruments_number_thread(file, all), &element->tid);
    if (!process->known)
        process->a = tv_profile_process(&file->profile, pid, (struct tv_bytes){NULL, 0});
    element->value.known = true;
    element->value.number = element->tid.number;
    element->value.a = tv_profile_thread(&file->profile, process->a, (uint64_t)element->tid.number,
                                         tv_xml_decode(name, &file->scratch));
}

/* ---- Frames ---- */

/* Addresses of the kernel, of Intel and of Apple's processors. */
#define KERNEL_BASE UINT64_C(0xffff800000000000)

static uint8_t instruments_address_kind(uint64_t address)
{
    return address >= KERNEL_BASE ? TV_FRAME_KERNEL : TV_FRAME_NATIVE;
}

/* Write the name of code without symbols: "libfoo.dylib+0x1f0", or the address. */
static void instruments_write_address(struct tv_out *out, struct tv_bytes module, uint64_t base,
                                      uint64_t address)
{
    if (module.length > 0 && base > 0 && base <= address) {
        tv_out_bytes(out, module);
        tv_out_format(out, "+0x%llx", (unsigned long long)(address - base));
    } else {
        tv_out_format(out, "0x%llx", (unsigned long long)address);
    }
}

/* `<frame name="work" addr="0x1"><binary .../><source line="39"><path>..</path></source></frame>`
 * Without a symbol the name is the address. */
static void instruments_end_frame(struct instruments *file, struct instruments_element *element)
{
    struct tv_bytes name = instruments_attribute(element, TV_BYTES("name"));
    uint64_t address = 0, same;
    struct tv_frame frame = {.file = element->source.a, .module = element->binary.a};
    bool placed = tv_parse_hex(instruments_attribute(element, TV_BYTES("addr")), &address);
    bool numbered = tv_bytes_starts_with(name, TV_BYTES("0x")) && tv_parse_hex(name, &same);
    if (placed && (name.length == 0 || numbered)) {
        struct tv_out text;
        tv_out_init_memory(&text);
        instruments_write_address(&text, tv_trace_info_text(file->profile.info, element->binary.a),
                                  (uint64_t)element->binary.number, address);
        frame.name = tv_profile_string(&file->profile, (struct tv_bytes){text.buffer, text.length});
        tv_out_release(&text);
    } else {
        frame.name = instruments_string(file, name.length > 0 ? name : TV_BYTES("[unknown]"));
    }
    if (placed)
        frame.kind = instruments_address_kind(address);
    element->value.known = true;
    element->value.a = tv_trace_info_add_frame(file->profile.info, &frame);
    element->value.b = element->source.b;
}

/* `<binary name="libfoo.dylib" path="/usr/lib/libfoo.dylib" load-addr="0x1000"/>` */
static void instruments_end_binary(struct instruments *file, struct instruments_element *element)
{
    struct tv_bytes name = instruments_attribute(element, TV_BYTES("name"));
    uint64_t base;
    if (name.length == 0)
        name = instruments_attribute(element, TV_BYTES("path"));
    element->value.known = true;
    element->value.a = instruments_string(file, name);
    if (tv_parse_hex(instruments_attribute(element, TV_BYTES("load-addr")), &base))
        element->value.number = (int64_t)base;
}

static void instruments_end_source(struct instruments_element *element)
{
    uint64_t line;
    element->value.known = true;
    if (tv_parse_u64(instruments_attribute(element, TV_BYTES("line")), &line) && line <= INT32_MAX)
        element->value.b = (uint32_t)line;
}

/* ---- Stacks ---- */

static uint32_t instruments_unknown_frame(struct instruments *file)
{
    if (file->unknown == TV_NONE) {
        struct tv_frame frame = {.name = tv_profile_string(&file->profile, TV_BYTES("[unknown]"))};
        file->unknown = tv_trace_info_add_frame(file->profile.info, &frame);
    }
    return file->unknown;
}

/* Frames of a stack that are kept: one more than a stack may have, so that it is known as cut. */
#define FRAMES_KEPT ((size_t)TV_PROFILE_DEPTH + 1)

/* Add a frame to the open stack.  The outermost frames come last and are the ones that a stack that
 * is too deep keeps, so the first ones can go. */
static void instruments_add_frame(struct instruments *file, const struct instruments_element *stack,
                                  struct instruments_frame frame)
{
    if (file->frame_count - stack->frames == 2 * FRAMES_KEPT) {
        struct instruments_frame *first = file->frames + stack->frames;
        memmove(first, first + FRAMES_KEPT, FRAMES_KEPT * sizeof *first);
        file->frame_count -= FRAMES_KEPT;
    }
    file->frames = tv_array_reserve(file->frames, &file->frame_capacity, file->frame_count + 1,
                                    sizeof *file->frames);
    file->frames[file->frame_count++] = frame;
}

/* Return the frame for an address without a symbol; each address has one. */
static uint32_t instruments_address_frame(struct instruments *file, uint64_t address)
{
    uint32_t known = tv_map_find(&file->address_frames, address);
    if (known != TV_NONE)
        return known;
    char name[24];
    int length = snprintf(name, sizeof name, "0x%llx", (unsigned long long)address);
    struct tv_frame frame = {
        .name = tv_profile_string(&file->profile,
                                  (struct tv_bytes){(const uint8_t *)name, (size_t)length}),
        .kind = instruments_address_kind(address)};
    known = tv_trace_info_add_frame(file->profile.info, &frame);
    tv_map_set(&file->address_frames, address, known);
    return known;
}

/* Return how many addresses of a list a stack may take.  A reference is short and a list may be
 * long: together they are held to a multiple of the file's size. */
static uint32_t instruments_spend(struct instruments *file, uint32_t wanted, uint64_t offset)
{
    if (wanted <= file->budget) {
        file->budget -= wanted;
        return wanted;
    }
    tv_profile_warn(&file->profile, TV_DIAGNOSTIC_TOO_DEEP, offset);
    wanted = (uint32_t)file->budget;
    file->budget = 0;
    return wanted;
}

/* Before Xcode 14.3 a stack has no frames, only addresses, and the text that describes it names the
 * function of the first one: "work ← (16 other frames)".  Return that name, or nothing. */
static struct tv_bytes instruments_leaf_name(const struct instruments_element *stack)
{
    static const uint8_t arrow[] = {' ', 0xe2, 0x86, 0x90, ' ', '('};
    struct tv_bytes text = instruments_attribute(stack, TV_BYTES("fmt"));
    for (size_t i = 0; i + sizeof arrow <= text.length; i++)
        if (memcmp(text.data + i, arrow, sizeof arrow) == 0)
            return (struct tv_bytes){text.data, i};
    return (struct tv_bytes){NULL, 0};
}

/* Add the frames of addresses to the open stack. */
static void instruments_add_addresses(struct instruments *file,
                                      const struct instruments_element *stack,
                                      const struct instruments_value *list)
{
    assert(list->a <= list->b && list->b <= file->address_count);
    uint32_t count = instruments_spend(file, list->b - list->a, stack->offset);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t address = file->addresses[list->a + i];
        struct tv_bytes name = {NULL, 0};
        if (file->frame_count == stack->frames)
            name = instruments_leaf_name(stack);
        struct tv_frame named = {.kind = instruments_address_kind(address)};
        uint32_t frame;
        if (name.length > 0) {
            named.name = instruments_string(file, name);
            frame = tv_trace_info_add_frame(file->profile.info, &named);
        } else {
            frame = instruments_address_frame(file, address);
        }
        instruments_add_frame(file, stack, (struct instruments_frame){frame, 0});
    }
}

/* Turn the frames of the stack into a path: pushed from the last, the outermost, to the first. */
static void instruments_end_stack(struct instruments *file, struct instruments_element *element)
{
    assert(element->frames <= file->frame_count);
    if (element->value.known && element->frames == file->frame_count)
        return; /* it only holds another stack */
    tv_profile_stack_begin(&file->profile);
    for (size_t i = file->frame_count; i > element->frames; i--)
        tv_profile_stack_push(&file->profile, file->frames[i - 1].frame, file->frames[i - 1].line);
    file->frame_count = element->frames;
    element->value.known = true;
    element->value.a = file->profile.path;
    element->value.b = file->profile.line_path;
}

void instruments_push_calls(struct instruments *file, const struct instruments_value *calls)
{
    assert(calls->a <= calls->b && calls->b <= file->address_count);
    uint32_t count = instruments_spend(file, calls->b - calls->a, file->row.offset);
    uint64_t leaf = (uint64_t)calls->number;
    for (uint32_t i = calls->a + count; i > calls->a; i--) {
        uint64_t address = file->addresses[i - 1];
        /* A list may begin with the leaf, and end with 0. */
        if (address != 0 && !(i - 1 == calls->a && address == leaf))
            tv_profile_stack_push(&file->profile, instruments_address_frame(file, address), 0);
    }
    if (leaf != 0)
        tv_profile_stack_push(&file->profile, instruments_address_frame(file, leaf), 0);
}

/* ---- Numbers and lists ---- */

static void instruments_end_number(struct instruments *file, struct instruments_element *element)
{
    element->value.known = tv_parse_i64(element->text, &element->value.number);
    if (!element->value.known && element->text.length > 0)
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_BAD_XML, element->offset);
}

static void instruments_end_address(struct instruments *file, struct instruments_element *element)
{
    uint64_t address;
    element->value.known = tv_parse_u64(element->text, &address);
    if (element->value.known)
        element->value.number = (int64_t)address;
    else
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_BAD_XML, element->offset);
}

/* Append the decimal addresses of a list; an address that is no number ends the list. */
static void instruments_end_addresses(struct instruments *file, struct instruments_element *element)
{
    struct tv_bytes rest = element->text, word;
    uint64_t address;
    element->value.known = true;
    element->value.a = (uint32_t)file->address_count;
    while ((word = tv_bytes_take_word(&rest)).length > 0) {
        if (!tv_parse_u64(word, &address) || file->address_count == UINT32_MAX) {
            tv_profile_warn(&file->profile, TV_DIAGNOSTIC_BAD_XML, element->offset);
            break;
        }
        file->addresses = tv_array_reserve(file->addresses, &file->address_capacity,
                                           file->address_count + 1, sizeof *file->addresses);
        file->addresses[file->address_count++] = address;
    }
    element->value.b = (uint32_t)file->address_count;
}

/* ---- Elements inside others ---- */

/* Give the value of a frame or a list of addresses to the stack around it. */
static void instruments_give_stack(struct instruments *file, struct instruments_element *stack,
                                   const struct instruments_value *value)
{
    struct instruments_frame frame = {value->a, (int32_t)value->b};
    if (value->kind == INSTRUMENTS_STACK && value->known)
        stack->value = *value;
    else if (value->kind == INSTRUMENTS_ADDRESSES)
        instruments_add_addresses(file, stack, value);
    else if (value->kind == INSTRUMENTS_FRAME)
        instruments_add_frame(
            file, stack,
            value->known ? frame : (struct instruments_frame){instruments_unknown_frame(file), 0});
}

static void instruments_give_calls(struct instruments_element *calls,
                                   const struct instruments_value *value)
{
    if (value->kind == INSTRUMENTS_ADDRESSES)
        calls->value.a = value->a, calls->value.b = value->b;
    else if (value->kind == INSTRUMENTS_ADDRESS)
        calls->value.number = value->number;
    calls->value.known = true;
}

/* Give the value of an element inside a process, a thread, a frame or a source to it. */
static void instruments_give_part(struct instruments_element *parent,
                                  const struct instruments_value *value)
{
    struct instruments_value *part = NULL;
    if (parent->kind == INSTRUMENTS_THREAD)
        part = value->kind == INSTRUMENTS_TID       ? &parent->tid
               : value->kind == INSTRUMENTS_PROCESS ? &parent->process
                                                    : NULL;
    else if (parent->kind == INSTRUMENTS_FRAME)
        part = value->kind == INSTRUMENTS_BINARY   ? &parent->binary
               : value->kind == INSTRUMENTS_SOURCE ? &parent->source
                                                   : NULL;
    if (part)
        *part = *value;
    if (parent->kind == INSTRUMENTS_PROCESS && value->kind == INSTRUMENTS_PID)
        parent->value.known = value->known, parent->value.number = value->number;
    if (parent->kind == INSTRUMENTS_SOURCE && value->kind == INSTRUMENTS_PATH)
        parent->value.a = value->a;
}

/* Hand the value of an element that ended to the one around it. */
static void instruments_give(struct instruments *file, struct instruments_element *parent,
                             const struct instruments_value *value)
{
    if (parent->kind == INSTRUMENTS_ROW)
        instruments_take_cell(file, value);
    else if (parent->kind == INSTRUMENTS_STACK)
        instruments_give_stack(file, parent, value);
    else if (parent->kind == INSTRUMENTS_CALLS)
        instruments_give_calls(parent, value);
    else
        instruments_give_part(parent, value);
}

/* Complete the value of an element that ends. */
static void instruments_complete(struct instruments *file, struct instruments_element *element)
{
    switch (element->kind) {
    case INSTRUMENTS_THREAD:
        instruments_end_thread(file, element);
        break;
    case INSTRUMENTS_PROCESS:
        instruments_end_process(file, element);
        break;
    case INSTRUMENTS_STATE:
    case INSTRUMENTS_PATH:
        element->value.known = true;
        element->value.a = element->literal ? tv_profile_string(&file->profile, element->text)
                                            : instruments_string(file, element->text);
        break;
    case INSTRUMENTS_STACK:
        instruments_end_stack(file, element);
        break;
    case INSTRUMENTS_FRAME:
        instruments_end_frame(file, element);
        break;
    case INSTRUMENTS_BINARY:
        instruments_end_binary(file, element);
        break;
    case INSTRUMENTS_SOURCE:
        instruments_end_source(element);
        break;
    case INSTRUMENTS_ADDRESSES:
        instruments_end_addresses(file, element);
        break;
    case INSTRUMENTS_ADDRESS:
        instruments_end_address(file, element);
        break;
    case INSTRUMENTS_MNEMONIC:
        instruments_take_column(file, element->text);
        break;
    case INSTRUMENTS_ROW:
        instruments_end_row(file);
        break;
    case INSTRUMENTS_NODE:
        instruments_end_table(file, element->offset);
        break;
    case INSTRUMENTS_OTHER:
    case INSTRUMENTS_SCHEMA:
    case INSTRUMENTS_CALLS:
        break;
    default:
        instruments_end_number(file, element);
    }
}

/* ---- References ---- */

/* Bit of an id that is no small number; its other bits are the id's number in `ids`. */
#define NAMED (UINT32_C(1) << 31)

/* Return the number of an id, or INSTRUMENTS_NO_ID when it was never added. */
static uint32_t instruments_find_id(struct instruments *file, struct tv_bytes text, bool add)
{
    uint64_t number;
    if (text.length == 0)
        return INSTRUMENTS_NO_ID;
    if (text.data[0] != '0' && tv_parse_u64(text, &number) && number <= file->max_id)
        return (uint32_t)number;
    uint32_t named = add ? tv_interner_add(file->ids, text) : tv_interner_find(file->ids, text);
    return named < NAMED ? NAMED | named : INSTRUMENTS_NO_ID;
}

static struct instruments_values *instruments_values_of(struct instruments *file, uint32_t id)
{
    return id & NAMED ? &file->named_values : &file->values;
}

/* Keep the value of an element under its id. Of two elements with one id the later counts. */
static void instruments_define(struct instruments *file, const struct instruments_element *element)
{
    struct instruments_values *values = instruments_values_of(file, element->id);
    size_t row = element->id & ~NAMED;
    values->rows = tv_array_reserve(values->rows, &values->capacity, row + 1, sizeof *values->rows);
    while (values->count <= row)
        values->rows[values->count++] = (struct instruments_value){.kind = INSTRUMENTS_OTHER};
    if (values->rows[row].known)
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_DUPLICATE_ID, element->offset);
    values->rows[row] = element->value;
}

/* Give an element the value that it refers to. */
static void instruments_refer(struct instruments *file, struct instruments_element *element,
                              struct tv_bytes reference)
{
    uint32_t id = instruments_find_id(file, reference, false);
    const struct instruments_values *values = instruments_values_of(file, id);
    size_t row = id & ~NAMED;
    element->referred = true;
    if (id != INSTRUMENTS_NO_ID && row < values->count && values->rows[row].kind == element->kind)
        element->value = values->rows[row];
    else if (element->kind != INSTRUMENTS_OTHER)
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_BAD_REFERENCE, element->offset);
}

/* ---- Tags ---- */

/* End the innermost open element: complete its value, keep it, and give it to its parent. */
static void instruments_end_element(struct instruments *file)
{
    struct instruments_element *element = &file->open[--file->open_count];
    if (!element->referred)
        instruments_complete(file, element);
    if (element->id != INSTRUMENTS_NO_ID && element->kind != INSTRUMENTS_OTHER)
        instruments_define(file, element);
    if (element->kind == INSTRUMENTS_STACK)
        file->frame_count = element->frames;
    if (file->open_count > 0)
        instruments_give(file, &file->open[file->open_count - 1], &element->value);
}

/* Too deep elements are only counted, so that their end tags are recognised. */
void instruments_open(struct instruments *file, const struct tv_xml_token *tag)
{
    if (file->open_count == DEEPEST) {
        if (file->ignored == 0)
            tv_profile_warn(&file->profile, TV_DIAGNOSTIC_BAD_XML, tag->offset);
        file->ignored += !tag->empty;
        return;
    }
    struct instruments_element element = {.kind = instruments_kind_of(tag->name),
                                          .tag = tag->name,
                                          .attributes = tag->attributes,
                                          .offset = tag->offset,
                                          .frames = file->frame_count};
    element.value.kind = element.kind;
    struct tv_bytes id = tv_xml_attribute(tag->attributes, TV_BYTES("id"));
    struct tv_bytes reference = tv_xml_attribute(tag->attributes, TV_BYTES("ref"));
    element.id = instruments_find_id(file, id, true);
    if (reference.length > 0)
        instruments_refer(file, &element, reference);
    if (element.kind == INSTRUMENTS_ROW)
        instruments_begin_row(file, tag->offset);
    else if (element.kind == INSTRUMENTS_NODE)
        instruments_begin_table(file, tag->offset);
    else if (element.kind == INSTRUMENTS_SCHEMA)
        file->schema = tv_xml_attribute(tag->attributes, TV_BYTES("name"));
    file->open = tv_array_reserve(file->open, &file->open_capacity, file->open_count + 1,
                                  sizeof *file->open);
    file->open[file->open_count++] = element;
    if (tag->empty)
        instruments_end_element(file);
}

/* An end tag closes the elements inside its own, too; one that was never opened is ignored. */
void instruments_close(struct instruments *file, const struct tv_xml_token *tag)
{
    size_t depth = file->open_count;
    if (file->ignored > 0) {
        file->ignored--;
        return;
    }
    while (depth > 0 && !tv_bytes_equal(file->open[depth - 1].tag, tag->name))
        depth--;
    if (depth != file->open_count || depth == 0)
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_BAD_XML, tag->offset);
    while (depth > 0 && file->open_count >= depth)
        instruments_end_element(file);
}

void instruments_text(struct instruments *file, const struct tv_xml_token *text)
{
    struct tv_cursor cursor = tv_cursor_over(text->name);
    if (file->open_count == 0 || file->ignored > 0)
        return;
    while (cursor.at < cursor.end && (tv_is_blank(*cursor.at) || *cursor.at == '\n'))
        cursor.at++;
    while (cursor.at < cursor.end && (tv_is_blank(cursor.end[-1]) || cursor.end[-1] == '\n'))
        cursor.end--;
    if (cursor.at == cursor.end)
        return;
    /* A text in parts has what is between them, too, so it is no number: half of one is wrong. */
    struct instruments_element *element = &file->open[file->open_count - 1];
    const uint8_t *from = element->text.length > 0 ? element->text.data : cursor.at;
    element->text = (struct tv_bytes){from, (size_t)(cursor.end - from)};
    element->literal = text->literal;
}
