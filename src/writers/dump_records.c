/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/dump_records.h"

#include "writers/names.h"

static void dump_records_begin(struct tv_teller *teller, const struct tv_head *head, uint32_t input)
{
    struct tv_dump_records *dump = (struct tv_dump_records *)teller;
    dump->listed = false;
    dump->mute = dump->start && !dump->start(head, dump->context);
    if (dump->mute)
        return;
    tv_out_text(dump->out, "FORMAT: ");
    tv_out_text(dump->out, head->inputs[input].format);
    tv_out_char(dump->out, '\n');
}

void tv_dump_column(struct tv_dump_records *dump, size_t width, struct tv_bytes text)
{
    struct tv_out *out = dump->out;
    size_t blanks = text.length < width ? width - text.length : 0;
    memset(tv_out_room(out, width), ' ', blanks);
    out->length += blanks;
    tv_out_bytes(out, text);
    tv_out_char(out, ' ');
}

void tv_dump_records_init(struct tv_dump_records *dump, struct tv_out *out)
{
    *dump = (struct tv_dump_records){
        .teller = {dump_records_begin, tv_dump_event, tv_dump_beside, tv_dump_line},
        .out = out,
    };
    tv_out_init_memory(&dump->cell);
}

void tv_dump_records_release(struct tv_dump_records *dump)
{
    tv_out_release(&dump->cell);
}
