/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/reading.h"

enum tv_status tv_reading_blame(struct tv_source *source, struct tv_error *err)
{
    tv_source_quote(source, err);
    return tv_error_prefix(err, "%s", tv_source_name(source));
}

static enum tv_status read_source(struct tv_source *source, const struct tv_reading *to,
                                  const struct tv_read_options *options, struct tv_error *err)
{
    enum tv_status status;
    if (to->visitor && tv_readers_tell(source))
        status = tv_readers_read_records(source, to->head, to->visitor, options, err);
    else if (to->builder && !tv_readers_stream(source))
        status = tv_readers_build(source, to->builder, options, err);
    else
        status = tv_readers_read(source, to->head, to->sink, options, err);
    if (status == TV_OK)
        status = tv_source_check(source, err);
    return status == TV_OK ? TV_OK : tv_reading_blame(source, err);
}

/* Of the inputs and processes that a source added; of machines a reader may know better. */
static void set_origin(struct tv_head *head, uint32_t processes, uint32_t inputs,
                       const struct tv_reading_input *input)
{
    for (uint32_t i = processes; i < head->process_count; i++)
        if (head->processes[i].machine == TV_NONE)
            head->processes[i].machine = input->machine;
    for (uint32_t i = inputs; i < head->input_count; i++) {
        head->inputs[i].moved = input->offset;
        if (head->inputs[i].machine == TV_NONE)
            head->inputs[i].machine = input->machine;
    }
}

enum tv_status tv_reading_add(const struct tv_reading *to, const struct tv_reading_input *input,
                              const struct tv_read_options *options, struct tv_error *err)
{
    uint32_t processes = to->head->process_count, inputs = to->head->input_count;
    enum tv_status status = read_source(input->source, to, options, err);
    set_origin(to->head, processes, inputs, input);
    return status;
}
