/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/reader.h"

#include "base/bytes.h"
#include "readers/method_trace.h"

const struct tv_reader *const tv_readers[] = {
    &tv_reader_method_trace,
    NULL,
};

const struct tv_reader *tv_readers_find(struct tv_source *source, struct tv_error *err)
{
    uint8_t bytes[TV_SNIFF_SIZE];
    size_t got;
    if (tv_source_read(source, 0, bytes, sizeof bytes, &got, err) != TV_OK)
        return NULL;
    const struct tv_reader *surest = NULL;
    int best = 0;
    for (size_t i = 0; tv_readers[i] != NULL; i++) {
        int sure = tv_readers[i]->sniff((struct tv_bytes){bytes, got}, tv_source_size(source));
        if (sure > best) {
            surest = tv_readers[i];
            best = sure;
        }
    }
    if (!surest)
        tv_fail(err, TV_ERR_UNSUPPORTED, 0,
                "expected a trace in a format that is known, found something else");
    return surest;
}

enum tv_status tv_readers_read(struct tv_source *source, struct tv_head *head, struct tv_sink *sink,
                               const struct tv_read_options *options, struct tv_error *err)
{
    struct tv_error reason;
    const struct tv_reader *reader = tv_readers_find(source, &reason);
    if (!reader) {
        *err = reason;
        return reason.status;
    }
    return reader->read(source, head, sink, options, err);
}
