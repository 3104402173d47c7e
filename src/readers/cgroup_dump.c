/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/cgroup_dump.h"

#include <string.h>

#include "base/bytes.h"
#include "base/out.h"
#include "readers/side_input.h"

static int sniff(struct tv_bytes head, uint64_t size)
{
    (void)size;
    return tv_bytes_starts_with(head, TV_BYTES("CGROUP DUMP")) ? 95 : 0;
}

/* Where the key ends: of tasks at the last " :", of a subsystem at the first blank. */
static size_t key_length(struct tv_bytes text)
{
    if (text.data[0] == '/')
        for (size_t i = text.length; i > 1; i--)
            if (text.data[i - 1] == ':' && tv_is_blank(text.data[i - 2]))
                return i - 1;
    size_t length = 0;
    while (length < text.length && !tv_is_blank(text.data[length]))
        length++;
    return length;
}

static void take_line(void *context, const struct tv_text_line *line)
{
    struct tv_side_input *side = context;
    struct tv_trace_info *head = side->trace->head;
    struct tv_bytes text = tv_bytes_trim(line->text);
    if (line->too_long)
        tv_diagnostics_add(&head->diagnostics, TV_DIAGNOSTIC_BAD_LINE, line->offset);
    if (text.length == 0 || text.data[0] == '#' || tv_bytes_equal(text, TV_BYTES("CGROUP DUMP")))
        return;
    size_t length = key_length(text);
    struct tv_bytes key = tv_bytes_trim((struct tv_bytes){text.data, length});
    struct tv_bytes value =
        tv_bytes_trim((struct tv_bytes){text.data + length, text.length - length});
    if (value.length > 0 && value.data[0] == ':')
        value = tv_bytes_trim((struct tv_bytes){value.data + 1, value.length - 1});
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_out_text(&out, "cgroup ");
    tv_out_bytes(&out, key);
    tv_trace_info_add_metadata(head, side->input, (struct tv_bytes){out.buffer, out.length}, value);
    tv_out_release(&out);
    head->inputs[side->input].records++;
}

static enum tv_status assemble(struct tv_source *source, struct tv_builder *builder,
                               const struct tv_read_options *options, struct tv_error *err)
{
    struct tv_side_input side;
    tv_side_input_begin(&side, source, builder, "Cgroup dump");
    enum tv_status status = tv_side_input_lines(&side, options, take_line, &side, err);
    tv_side_input_end(&side);
    return status;
}

const struct tv_reader tv_reader_cgroup_dump = {
    .name = "cgroup-dump",
    .summary = "Control groups beside a systrace (\"CGROUP DUMP\")",
    .sniff = sniff,
    .assemble = assemble,
};
