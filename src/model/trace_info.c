/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_info.c - adding inputs, processes, threads and frames, and questions about all inputs.
 *
 * All lists grow only, and their elements are known by number: a number stays valid when an array
 * moves, and is never used again.  Texts are interned, so two texts are equal if their numbers are.
 *
 * Inputs, processes, threads and metadata are appended as they come.  Frames are found again: equal
 * frames get the number that the first one got, through a map from hash to frame.
 *
 * A frame may get a better name while it is added; addresses need the symbols of `namer`:
 *
 *     tv_trace_info_add_frame            as it is
 *     tv_trace_info_add_native_frame     a mangled name is decoded, and kept as the signature
 *     tv_trace_info_add_stack_frame      "0x..." is an address of the process
 *     tv_trace_info_add_recorded_frame   "0x..." is an address in the file that is its class
 *
 */
#include "model/trace_info.h"

#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/native_name.h"

struct tv_trace_info *tv_trace_info_new(void)
{
    struct tv_trace_info *head = tv_alloc(1, sizeof *head);
    head->strings = tv_interner_new();
    tv_map_init(&head->frame_index);
    return head;
}

void tv_trace_info_free(struct tv_trace_info *head)
{
    if (!head)
        return;
    if (head->namer)
        head->namer->free(head->namer);
    tv_diagnostics_clear(&head->diagnostics);
    tv_interner_free(head->strings);
    tv_map_release(&head->frame_index);
    tv_free(head->inputs);
    tv_free(head->processes);
    tv_free(head->threads);
    tv_free(head->frames);
    tv_free(head->metadata);
    tv_free(head);
}

/* The copy owns its strings, frames and index; everything else still belongs to `base`, which must
 * live longer.  tv_trace_info_free_extended frees just these three. */
struct tv_trace_info *tv_trace_info_extend(const struct tv_trace_info *base)
{
    struct tv_trace_info *head = tv_alloc(1, sizeof *head);
    *head = *base;
    tv_map_init(&head->frame_index); /* frames of `base` are not found in it */
    head->strings = tv_interner_extend(base->strings);
    head->frame_capacity = (size_t)base->frame_count + 1;
    head->frames = tv_alloc(head->frame_capacity, sizeof *head->frames);
    if (base->frame_count > 0)
        memcpy(head->frames, base->frames, base->frame_count * sizeof *head->frames);
    return head;
}

void tv_trace_info_free_extended(struct tv_trace_info *head)
{
    if (!head)
        return;
    tv_interner_free(head->strings);
    tv_map_release(&head->frame_index);
    tv_free(head->frames);
    tv_free(head);
}

/* Reserve room for one more element in a table. */
#define RESERVE(head, table, count, capacity)                                                      \
    ((head)->table = tv_array_reserve((head)->table, &(head)->capacity, (size_t)(head)->count + 1, \
                                      sizeof *(head)->table))

uint32_t tv_trace_info_add_input(struct tv_trace_info *head, const char *name, const char *format)
{
    RESERVE(head, inputs, input_count, input_capacity);
    head->inputs[head->input_count] = (struct tv_input){
        .name = tv_trace_info_string(head, tv_bytes_of(name)),
        .format = format,
        .clocks = TV_CLOCK_WALL,
        .tick_ns = 1,
        .elapsed_ns = -1,
        .announced = -1,
        .machine = TV_NONE,
    };
    head->diagnostics.input = head->input_count;
    return head->input_count++;
}

uint32_t tv_trace_info_add_process(struct tv_trace_info *head, uint64_t id, struct tv_bytes name)
{
    RESERVE(head, processes, process_count, process_capacity);
    head->processes[head->process_count] =
        (struct tv_process){.id = id, .name = tv_trace_info_string(head, name), .machine = TV_NONE};
    return head->process_count++;
}

uint32_t tv_trace_info_add_thread(struct tv_trace_info *head, const struct tv_thread *thread)
{
    RESERVE(head, threads, thread_count, thread_capacity);
    head->threads[head->thread_count] = *thread;
    return head->thread_count++;
}

void tv_trace_info_add_metadata(struct tv_trace_info *head, uint32_t input, struct tv_bytes key,
                                struct tv_bytes value)
{
    RESERVE(head, metadata, metadata_count, metadata_capacity);
    head->metadata[head->metadata_count++] = (struct tv_metadata){
        input, tv_trace_info_string(head, key), tv_trace_info_string(head, value)};
}

/* Tell whether two frames are one to a user: all that is shown is equal. */
static bool frames_are_equal(const struct tv_frame *a, const struct tv_frame *b)
{
    return a->class_name == b->class_name && a->name == b->name && a->signature == b->signature &&
           a->file == b->file && a->line == b->line && a->category == b->category &&
           a->module == b->module && a->with_line == b->with_line &&
           a->function_line == b->function_line && a->column == b->column;
}

/* Most frames have neither module nor columns, and are spared the last round.  `colour` and `kind`
 * take part neither here nor in frames_are_equal. */
static uint64_t frame_hash(const struct tv_frame *frame)
{
    uint64_t hash = tv_hash_u64((uint64_t)frame->class_name << 32 | frame->name);
    hash = tv_hash_u64(hash ^ ((uint64_t)frame->signature << 32 | frame->file));
    hash = tv_hash_u64(hash ^ ((uint64_t)frame->category << 32 | (uint32_t)frame->line));
    uint64_t more = (uint64_t)frame->module << 32 ^ (uint32_t)frame->function_line ^
                    (uint64_t)(uint32_t)frame->column << 40;
    return more || frame->with_line ? tv_hash_u64(hash ^ more ^ frame->with_line) : hash;
}

uint32_t tv_trace_info_add_frame(struct tv_trace_info *head, const struct tv_frame *frame)
{
    /* Frames with equal hashes use consecutive keys. */
    uint64_t key = frame_hash(frame);
    for (;; key++) {
        uint32_t found = tv_map_add(&head->frame_index, key, head->frame_count);
        if (found == head->frame_count)
            break;
        if (frames_are_equal(&head->frames[found], frame))
            return found;
    }
    RESERVE(head, frames, frame_count, frame_capacity);
    head->frames[head->frame_count] = *frame;
    return head->frame_count++;
}

uint32_t tv_trace_info_add_native_frame(struct tv_trace_info *head, const struct tv_frame *frame)
{
    char text[TV_NATIVE_NAME_ROOM];
    struct tv_frame named = *frame;
    struct tv_bytes mangled = tv_trace_info_text(head, frame->name);
    if (tv_is_mangled(mangled) && tv_native_name(mangled, text, sizeof text)) {
        named.name = tv_trace_info_string(head, tv_bytes_of(text));
        if (frame->signature == TV_EMPTY_STRING)
            named.signature = frame->name;
    }
    return tv_trace_info_add_frame(head, &named);
}

bool tv_trace_info_find_address(const struct tv_trace_info *head, struct tv_bytes text,
                                enum tv_stack_entry entry, struct tv_address_place *place)
{
    uint64_t address;
    if (!head->namer || !tv_bytes_starts_with(text, TV_BYTES("0x")) ||
        !tv_parse_hex(text, &address))
        return false;
    /* A call that never returns may be the last instruction of its function, so the return address
     * can belong to the next one. */
    if (entry == TV_STACK_CALLER && address > 0)
        address--;
    return head->namer->find(head->namer, address, place);
}

uint32_t tv_trace_info_add_stack_frame(struct tv_trace_info *head, const struct tv_frame *frame,
                                       enum tv_stack_entry entry)
{
    struct tv_address_place place;
    struct tv_frame named = *frame;
    if (tv_trace_info_find_address(head, tv_trace_info_text(head, frame->name), entry, &place)) {
        if (place.function.length > 0)
            named.name = tv_trace_info_string(head, place.function);
        named.file = tv_trace_info_string(head, place.file);
        named.line = place.line;
    }
    return tv_trace_info_add_frame(head, &named);
}

/* Return whether the text is the last component of the path. */
static bool text_is_file_name_of(struct tv_bytes text, struct tv_bytes path)
{
    size_t rest = path.length - text.length;
    return text.length > 0 && text.length <= path.length &&
           memcmp(path.data + rest, text.data, text.length) == 0 &&
           (rest == 0 || path.data[rest - 1] == '/');
}

uint32_t tv_trace_info_add_recorded_frame(struct tv_trace_info *head, const struct tv_frame *frame)
{
    struct tv_address_place place = {.line = 0};
    struct tv_frame named = *frame;
    struct tv_bytes text = tv_trace_info_text(head, frame->name);
    struct tv_bytes class_name = tv_trace_info_text(head, frame->class_name);
    uint64_t address;
    if (head->namer && tv_bytes_starts_with(text, TV_BYTES("0x")) &&
        text_is_file_name_of(class_name, tv_trace_info_text(head, frame->file)) &&
        tv_parse_hex(text, &address) &&
        head->namer->find_in(head->namer, class_name, address, &place) &&
        place.function.length > 0) {
        named.name = tv_trace_info_string(head, place.function);
        named.signature = tv_trace_info_string(head, place.signature);
        named.line = place.line;
        if (place.file.length > 0)
            named.file = tv_trace_info_string(head, place.file);
    }
    return tv_trace_info_add_frame(head, &named);
}

struct tv_bytes tv_trace_info_find_metadata(const struct tv_trace_info *head, uint32_t input,
                                            const char *key)
{
    uint32_t string = tv_interner_find(head->strings, tv_bytes_of(key));
    for (uint32_t i = 0; string != TV_NONE && i < head->metadata_count; i++)
        if (head->metadata[i].input == input && head->metadata[i].key == string)
            return tv_trace_info_text(head, head->metadata[i].value);
    return (struct tv_bytes){NULL, 0};
}

bool tv_trace_info_has_categories(const struct tv_trace_info *head)
{
    for (uint32_t i = 0; i < head->input_count; i++)
        if (!head->inputs[i].assembled)
            return false;
    return head->input_count > 0;
}

unsigned tv_trace_info_clocks(const struct tv_trace_info *head)
{
    unsigned clocks = 0;
    for (uint32_t i = 0; i < head->input_count; i++)
        clocks |= head->inputs[i].clocks;
    return clocks;
}

enum tv_figures tv_trace_info_figures(const struct tv_trace_info *head)
{
    for (uint32_t i = 0; i < head->input_count; i++)
        if (head->inputs[i].figures == TV_FIGURES_SAMPLED)
            return TV_FIGURES_SAMPLED;
    return TV_FIGURES_CALLS;
}

bool tv_trace_info_has_times(const struct tv_trace_info *head)
{
    for (uint32_t i = 0; i < head->input_count; i++)
        if (!head->inputs[i].weight_axis)
            return true;
    return head->input_count == 0;
}

/* On Linux, the first thread of a process has the id of the process. */
bool tv_thread_leads_process(const struct tv_trace_info *head, uint32_t thread)
{
    const struct tv_thread *t = &head->threads[thread];
    return t->process < head->process_count && head->processes[t->process].id == t->id &&
           !t->line &&
           !tv_bytes_starts_with(tv_trace_info_text(head, t->name), TV_BYTES("kworker/"));
}

struct tv_sampling tv_trace_info_sampling(const struct tv_trace_info *head)
{
    struct tv_sampling sampling = {0};
    for (uint32_t i = 0; i < head->input_count; i++) {
        const struct tv_input *input = &head->inputs[i];
        if (input->figures != TV_FIGURES_SAMPLED)
            continue;
        if (sampling.interval == 0 || input->sampled_ns < sampling.interval)
            sampling.interval = input->sampled_ns;
        sampling.inferred |= input->sampling_inferred;
    }
    return sampling;
}

void tv_trace_info_note_saturation(struct tv_trace_info *head, tv_ns wall, tv_ns cpu)
{
    struct tv_diagnostics *all = &head->diagnostics;
    if ((wall == INT64_MAX || cpu == INT64_MAX) &&
        all->kinds[TV_DIAGNOSTIC_TIME_SATURATED].count == 0)
        tv_diagnostics_add(all, TV_DIAGNOSTIC_TIME_SATURATED, TV_NO_OFFSET);
}
