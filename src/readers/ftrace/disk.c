/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of block devices and work of file systems: async slices, as one may begin on one thread
 * and end on another. */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/ftrace/args.h"
#include "readers/ftrace/events.h"

static void add(struct tv_ft_part *part, const struct tv_ft_at *at, enum tv_ft_async_kind kind,
                const struct tv_ft_event *event, struct tv_bytes id)
{
    struct tv_ft_async async = {
        .kind = kind,
        .key = tv_ft_key(part, event->series, TV_FT_NO_ID, id, (struct tv_bytes){NULL, 0}),
        .id = tv_ft_text(part, id),
        .frame = tv_ft_frame(part, tv_bytes_of(event->title), event->category),
    };
    tv_ft_add_async(part, at, &async);
}

/* "WS": write, sync. Letters of blk_fill_rwbs: an F before that of the operation is a flush, one
 * behind it forces the medium to be written. */
static void request_name(struct tv_bytes letters, char *name, size_t size)
{
    static const char operations[] = "RWDN", more[] = "FASM";
    static const char *const words[] = {"read", "write", "discard", "none"}, *const additions[] = {
                                                                                 " fua", " ahead",
                                                                                 " sync", " meta"};
    bool flush = letters.length > 1 && letters.data[0] == 'F';
    size_t length = 0;
    if (flush) {
        letters.data++;
        letters.length--;
    }
    name[0] = '\0';
    for (size_t i = 0; i < TV_COUNT(words); i++)
        if (memchr(letters.data, operations[i], letters.length))
            length += (size_t)snprintf(name + length, size - length, "%s", words[i]);
    if (flush)
        length += (size_t)snprintf(name + length, size - length, " flush");
    for (size_t i = 0; i < TV_COUNT(additions); i++)
        if (memchr(letters.data, more[i], letters.length))
            length += (size_t)snprintf(name + length, size - length, "%s", additions[i]);
}

/* "179,0 WS 0 () 3427120 + 16 [mmcqd/0]" or, when it is done, "179,0 WS () 3427120 + 16 [0]": the
 * device, the sector and the number of sectors name it. */
static enum tv_ft_taken request(struct tv_ft_part *part, const struct tv_ft_line *line,
                                const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_bytes device = tv_ft_word(line->details);
    struct tv_bytes rest = {device.data + device.length, line->details.length - device.length};
    if (device.length < line->details.length && rest.data[0] == ',') {
        /* The word ended at the comma of "179,0". */
        struct tv_bytes minor = tv_ft_word(rest);
        device.length = (size_t)(minor.data + minor.length - device.data);
        rest = (struct tv_bytes){
            minor.data + minor.length,
            (size_t)(line->details.data + line->details.length - (minor.data + minor.length))};
    }
    struct tv_bytes letters = tv_ft_word(rest), place = tv_ft_behind(rest, ") ");
    char id[96], name[64];
    if (device.length == 0 || letters.length == 0 || place.data == NULL || device.length > 24)
        return TV_FT_MALFORMED;
    size_t length = 0;
    while (length < place.length && length < 48 && place.data[length] != '[')
        length++;
    length = (size_t)snprintf(id, sizeof id, "%.*s-%.*s", (int)device.length,
                              (const char *)device.data, (int)length, (const char *)place.data);
    request_name(letters, name, sizeof name);
    struct tv_ft_event named = *event;
    named.title = name;
    add(part, at, event->value[0] == 'B' ? TV_FT_ASYNC_BEGIN : TV_FT_ASYNC_END, &named,
        (struct tv_bytes){(uint8_t *)id, length});
    return TV_FT_TAKEN;
}

/* "key=value", "key = value" of f2fs, or "key value" of ext4, whose marks end with a space. */
static struct tv_bytes value_of(struct tv_bytes details, const char *key)
{
    char mark[16];
    struct tv_bytes value = tv_ft_arg(details, key);
    if (value.data)
        return value;
    snprintf(mark, sizeof mark, "%s ", key);
    return tv_ft_word(tv_ft_behind(details, mark));
}

/* "259,1" of "dev 259,1" or "dev = (259,14)". */
static struct tv_bytes device_of(struct tv_bytes details)
{
    struct tv_bytes text = tv_ft_behind(details, "dev ");
    size_t length = 0;
    while (text.length > 0 && (text.data[0] < '0' || text.data[0] > '9')) {
        text.data++;
        text.length--;
    }
    while (length < text.length && text.data[length] != ' ' && text.data[length] != ')')
        length++;
    return (struct tv_bytes){text.data, length};
}

/* What is written is named by device, inode, and event->key, if there is one. */
static enum tv_ft_taken file_work(struct tv_ft_part *part, const struct tv_ft_line *line,
                                  const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_bytes device = device_of(line->details), inode = value_of(line->details, "ino");
    struct tv_bytes place = {NULL, 0};
    char id[96];
    if (event->key)
        place = value_of(line->details, event->key);
    if (device.length == 0 || device.length > 24 || inode.length == 0 || inode.length > 24 ||
        place.length > 24)
        return TV_FT_MALFORMED;
    int length = snprintf(id, sizeof id, "%.*s-%.*s%s%.*s", (int)device.length,
                          (const char *)device.data, (int)inode.length, (const char *)inode.data,
                          place.length ? "-" : "", (int)place.length, (const char *)place.data);
    /* The beginning may say that only the data is written. */
    struct tv_bytes data_only = value_of(line->details, "datasync");
    struct tv_ft_event named = *event;
    if (data_only.length == 1 && data_only.data[0] == '1')
        named.title = "fdatasync";
    add(part, at, event->value[0] == 'B' ? TV_FT_ASYNC_BEGIN : TV_FT_ASYNC_END, &named,
        (struct tv_bytes){(uint8_t *)id, (size_t)length});
    return TV_FT_TAKEN;
}

#define WORK(event, what, title_of, category_of, half, key_of)                                     \
    {                                                                                              \
        .name = (event), .handle = file_work, .series = (what), .title = (title_of),               \
        .category = (category_of), .value = (half), .key = (key_of)                                \
    }

const struct tv_ft_event tv_ft_disk_events[] = {
    {.name = "block_rq_issue",
     .handle = request,
     .series = "block",
     .category = "block",
     .value = "B"},
    {.name = "block_rq_complete",
     .handle = request,
     .series = "block",
     .category = "block",
     .value = "E"},
    WORK("ext4_da_write_begin", "ext4 write", "ext4_write", "ext4", "B", "pos"),
    WORK("ext4_da_write_end", "ext4 write", "ext4_write", "ext4", "E", "pos"),
    WORK("ext4_sync_file_enter", "ext4 sync", "fsync", "ext4", "B", NULL),
    WORK("ext4_sync_file_exit", "ext4 sync", "fsync", "ext4", "E", NULL),
    WORK("f2fs_write_begin", "f2fs write", "f2fs_write", "f2fs", "B", "pos"),
    WORK("f2fs_write_end", "f2fs write", "f2fs_write", "f2fs", "E", "pos"),
    WORK("f2fs_sync_file_enter", "f2fs sync", "fsync", "f2fs", "B", NULL),
    WORK("f2fs_sync_file_exit", "f2fs sync", "fsync", "f2fs", "E", NULL),
    {.name = NULL},
};
