/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unread.c - packets that are not drawn.  Each type is a row of metadata: the number of its
 * packets, their bytes, and the first of them with all fields by name.
 *
 *     unread heap_graph={"packets":12,"bytes":81234,"first":[{"pid":7,...},...]}
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "readers/perfetto/field_names.h"
#include "readers/perfetto/perfetto.h"
#include "readers/perfetto/reading.h"

/* Types that are listed; the length of a packet that is shown, in the file and as JSON. */
#define MAX_TYPES 256u
#define MAX_PACKET_LENGTH 1048576u
#define MAX_SHOWN_LENGTH 65536u

/* Return the row of a type; NULL: there are too many. */
static struct tv_pf_unread *pf_unread_row(struct tv_pf_reading *reading, uint32_t number)
{
    for (size_t i = 0; i < reading->unread.count; i++)
        if (reading->unread.rows[i].number == number)
            return &reading->unread.rows[i];
    if (reading->unread.count == MAX_TYPES)
        return NULL;
    struct tv_pf_unread *row = tv_table_add(&reading->unread);
    *row = (struct tv_pf_unread){.number = number};
    return row;
}

void tv_pf_keep_unread(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                       const struct tv_protobuf_field *payload)
{
    const struct tv_pf_member *member = tv_pf_find_member(TV_PF_TRACE_PACKET, payload->number);
    struct tv_pf_unread *row = pf_unread_row(reading, payload->number);
    tv_pf_warn(reading, member ? TV_DIAGNOSTIC_PACKET_UNREAD : TV_DIAGNOSTIC_PACKET_UNKNOWN,
               packet->offset);
    if (!row)
        return;
    row->packets++;
    row->bytes += payload->bytes.length;
    if (row->packets > TV_PF_UNREAD_SHOWN || packet->bytes.length > MAX_PACKET_LENGTH)
        return;
    struct tv_out json;
    tv_out_init_memory(&json);
    tv_pf_write_packet(&json, packet->bytes);
    if (json.length <= MAX_SHOWN_LENGTH)
        row->texts[row->shown++] = tv_pf_text(reading, (struct tv_bytes){json.buffer, json.length});
    tv_out_release(&json);
}

void tv_pf_add_unread(struct tv_pf_reading *reading)
{
    for (size_t i = 0; i < reading->unread.count; i++) {
        const struct tv_pf_unread *row = &reading->unread.rows[i];
        const struct tv_pf_member *member = tv_pf_find_member(TV_PF_TRACE_PACKET, row->number);
        char key[128];
        struct tv_out value;
        if (member)
            snprintf(key, sizeof key, "unread %s", member->name);
        else
            snprintf(key, sizeof key, "unread #%" PRIu32, row->number);
        tv_out_init_memory(&value);
        tv_out_format(&value, "{\"packets\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"first\":[",
                      row->packets, row->bytes);
        for (uint32_t k = 0; k < row->shown; k++) {
            tv_out_text(&value, k > 0 ? "," : "");
            tv_out_bytes(&value, tv_interner_get(reading->chunk->texts, row->texts[k]));
        }
        tv_out_text(&value, "]}");
        tv_pf_add_metadata(reading, key, (struct tv_bytes){value.buffer, value.length});
        tv_out_release(&value);
    }
}
