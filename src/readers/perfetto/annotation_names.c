/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotation_names.c - the sorted lists of numbers and starts, and bisection in them.
 *
 *     packets of sequence 5     start  {3: "url"}  start  {3: "size"}  event
 *     offset                    10     20          50     60           90
 *
 *     names     (5, names, iid 3, 20) url     (5, names, iid 3, 60) size
 *     starts    (5, 10)  (5, 50)
 *     event at 90: the last start is 50, and the first name of iid 3 from there on is "size"
 *
 * The lists are made by one more walk over the file, when the first event is described.  Most
 * traces are opened without anyone looking at an argument.
 */
#include "readers/perfetto/annotation_names.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "readers/perfetto/message.h"
#include "readers/perfetto/packets.h"

/* Limit of the list; numbers that later packets define stay unknown. */
#define MAX_NAMES ((size_t)4 << 20)

/* ---- Reading ---- */

/* Is it a table whose entries are kept? */
static bool annotation_is_kept(uint32_t table)
{
    return table == TV_PF_ANNOTATION_NAMES || table == TV_PF_ANNOTATION_TEXTS ||
           table == TV_PF_ANNOTATION_TASKS || table == TV_PF_ANNOTATION_EXECUTIONS ||
           table == TV_PF_ANNOTATION_ASYNCS;
}

/* List a number and its text; the tables of messages keep the whole message. */
static void annotation_add_name(struct tv_pf_annotation_list *list, uint32_t sequence,
                                uint64_t offset, const struct tv_protobuf_field *entry)
{
    bool is_text = entry->number <= TV_PF_ANNOTATION_TEXTS;
    bool is_default = entry->number == TV_PF_ANNOTATION_DEFAULTS;
    if (list->name_count == MAX_NAMES)
        return;
    list->names = tv_array_reserve(list->names, &list->name_capacity, list->name_count + 1,
                                   sizeof *list->names);
    list->names[list->name_count++] = (struct tv_pf_annotation_name){
        .iid = is_default ? 0 : tv_pf_find(entry->bytes, 1).value,
        .offset = offset,
        .sequence = sequence,
        .table = entry->number,
        .text = tv_interner_add(list->texts,
                                is_text ? tv_pf_find(entry->bytes, 2).bytes : entry->bytes),
    };
}

/* List that the numbers of a sequence begin anew. */
static void annotation_add_start(struct tv_pf_annotation_list *list, uint32_t sequence,
                                 uint64_t offset)
{
    if (list->start_count == MAX_NAMES)
        return;
    list->starts = tv_array_reserve(list->starts, &list->start_capacity, list->start_count + 1,
                                    sizeof *list->starts);
    list->starts[list->start_count++] = (struct tv_pf_sequence_start){offset, sequence};
}

/* List what a packet says of its sequence. */
static void annotation_take_packet(struct tv_pf_annotation_list *list,
                                   const struct tv_pf_packet *packet)
{
    struct tv_protobuf_field interned = tv_pf_find(packet->bytes, 12), entry;
    uint32_t sequence = (uint32_t)tv_pf_find(packet->bytes, 10).value;
    if ((tv_pf_find(packet->bytes, 13).value & 1) != 0 || tv_pf_find(packet->bytes, 41).value != 0)
        annotation_add_start(list, sequence, packet->offset);
    struct tv_pf_message message = tv_pf_message_over(interned.bytes);
    while (interned.number == 12 && tv_pf_next(&message, &entry))
        if (entry.wire == TV_PROTOBUF_BYTES && annotation_is_kept(entry.number))
            annotation_add_name(list, sequence, packet->offset, &entry);
    struct tv_protobuf_field all = tv_pf_find(packet->bytes, 59);
    struct tv_protobuf_field defaults = tv_pf_find(all.bytes, 100);
    if (all.number == 59 && defaults.number == 100) {
        defaults.number = TV_PF_ANNOTATION_DEFAULTS;
        annotation_add_name(list, sequence, packet->offset, &defaults);
    }
}

/* Compare two numbers as qsort wants it. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* Order by what is looked for: sequence, table, number, then the place in the file. */
static int annotation_order_names(const void *left, const void *right)
{
    const struct tv_pf_annotation_name *a = left, *b = right;
    return a->sequence != b->sequence ? ORDER(a->sequence, b->sequence)
           : a->table != b->table     ? ORDER(a->table, b->table)
           : a->iid != b->iid         ? ORDER(a->iid, b->iid)
                                      : ORDER(a->offset, b->offset);
}

static int annotation_order_starts(const void *left, const void *right)
{
    const struct tv_pf_sequence_start *a = left, *b = right;
    return a->sequence != b->sequence ? ORDER(a->sequence, b->sequence)
                                      : ORDER(a->offset, b->offset);
}

enum tv_status tv_pf_annotation_list_open(struct tv_pf_annotation_list *list,
                                          struct tv_source *source, struct tv_error *err)
{
    struct tv_diagnostics unused = {0};
    struct tv_pf_packets packets;
    struct tv_pf_packet packet = {.offset = 0};
    enum tv_status status;
    if (list->source == source)
        return TV_OK;
    tv_pf_annotation_list_release(list);
    list->source = tv_source_ref(source);
    list->texts = tv_interner_new();
    tv_pf_packets_init(&packets, source, 0, &unused);
    while ((status = tv_pf_packets_next(&packets, &packet, err)) == TV_OK && !packet.none)
        annotation_take_packet(list, &packet);
    tv_pf_packets_release(&packets);
    tv_diagnostics_clear(&unused);
    if (status != TV_OK) {
        tv_pf_annotation_list_release(list);
        return status;
    }
    if (list->name_count > 0)
        qsort(list->names, list->name_count, sizeof *list->names, annotation_order_names);
    if (list->start_count > 0)
        qsort(list->starts, list->start_count, sizeof *list->starts, annotation_order_starts);
    return TV_OK;
}

void tv_pf_annotation_list_release(struct tv_pf_annotation_list *list)
{
    if (!list->source)
        return;
    tv_interner_free(list->texts);
    tv_free(list->names);
    tv_free(list->starts);
    tv_source_free(list->source);
    *list = (struct tv_pf_annotation_list){.source = NULL};
}

/* ---- Looking up ---- */

/* Return where the sequence was cleared last, at or before an offset; 0: never. */
static uint64_t annotation_find_start(const struct tv_pf_annotation_list *list, uint32_t sequence,
                                      uint64_t offset)
{
    struct tv_pf_sequence_start wanted = {offset, sequence};
    size_t low = 0;
    TV_LOWER_BOUND(low, list->start_count, i,
                   annotation_order_starts(&list->starts[i], &wanted) <= 0);
    bool found = low > 0 && list->starts[low - 1].sequence == sequence;
    return found ? list->starts[low - 1].offset : 0;
}

bool tv_pf_annotation_list_find(const struct tv_pf_annotation_list *list, uint32_t sequence,
                                enum tv_pf_annotation_table table, uint64_t iid, uint64_t offset,
                                struct tv_bytes *text)
{
    /* The first packet that names a number counts, as in the reader. */
    struct tv_pf_annotation_name wanted = {
        .iid = iid,
        .offset = annotation_find_start(list, sequence, offset),
        .sequence = sequence,
        .table = table,
    };
    size_t low = 0;
    TV_LOWER_BOUND(low, list->name_count, i, annotation_order_names(&list->names[i], &wanted) < 0);
    if (low == list->name_count)
        return false;
    const struct tv_pf_annotation_name *name = &list->names[low];
    if (name->sequence != sequence || name->table != (uint32_t)table || name->iid != iid ||
        name->offset > offset)
        return false;
    *text = tv_interner_get(list->texts, name->text);
    return true;
}

struct tv_bytes tv_pf_annotation_list_defaults(const struct tv_pf_annotation_list *list,
                                               uint32_t sequence, uint64_t offset)
{
    /* The last ones count, but not those from before the sequence began anew. */
    struct tv_pf_annotation_name wanted = {
        .offset = offset, .sequence = sequence, .table = TV_PF_ANNOTATION_DEFAULTS};
    uint64_t start = annotation_find_start(list, sequence, offset);
    size_t low = 0;
    TV_LOWER_BOUND(low, list->name_count, i, annotation_order_names(&list->names[i], &wanted) <= 0);
    const struct tv_pf_annotation_name *last = low > 0 ? &list->names[low - 1] : NULL;
    if (!last || last->sequence != sequence || last->table != TV_PF_ANNOTATION_DEFAULTS ||
        last->offset < start)
        return (struct tv_bytes){NULL, 0};
    return tv_interner_get(list->texts, last->text);
}
