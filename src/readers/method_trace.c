/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/method_trace.h"

#include <string.h>

#include "base/bytes.h"
#include "readers/mt_deliver.h"
#include "readers/mt_text.h"

static bool is_text_header(struct tv_bytes head)
{
    struct tv_cursor cursor = tv_cursor_over(head);
    struct tv_bytes line;
    if (!tv_cursor_take_line(&cursor, &line))
        return false;
    if (line.length > 0 && line.data[line.length - 1] == '\r')
        line.length--;
    return tv_bytes_equal(line, TV_BYTES(TV_MT_SECTION_VERSION));
}

static int sniff(struct tv_bytes head, uint64_t size)
{
    (void)size;
    if (is_text_header(head))
        return 100;
    return 0;
}

static enum tv_status walk(struct tv_mt_file *file, struct tv_bytes head, struct tv_error *err)
{
    (void)head;
    return tv_mt_text_walk(file, err);
}

static enum tv_status read_file(struct tv_source *source, struct tv_head *head,
                                struct tv_sink *sink, const struct tv_read_options *options,
                                struct tv_error *err)
{
    uint8_t start[TV_SNIFF_SIZE];
    size_t got;
    struct tv_progress unseen = {0};
    struct tv_mt_file file;
    enum tv_status status = tv_source_read(source, 0, start, sizeof start, &got, err);
    if (status != TV_OK)
        return status;
    tv_mt_file_init(&file, source, head);
    file.progress = options->progress ? options->progress : &unseen;
    status = walk(&file, (struct tv_bytes){start, got}, err);
    if (status == TV_OK)
        status = tv_mt_deliver(&file, sink, options, err);
    tv_mt_file_release(&file);
    return status;
}

const struct tv_reader tv_reader_method_trace = {
    .name = "android-trace",
    .summary = "Android method trace (.trace), versions 1 to 5, long-running-method dumps",
    .sniff = sniff,
    .read = read_file,
};
