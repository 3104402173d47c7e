/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/method_trace/tail.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/method_trace/text.h"

/* A summary says its length in 16 bits. */
#define LARGEST_SUMMARY (TV_MT_PACKET_SUMMARY_HEAD + (size_t)65535)

static bool stands_at(struct tv_bytes bytes, size_t at, const char *text)
{
    return tv_bytes_starts_with((struct tv_bytes){bytes.data + at, bytes.length - at},
                                tv_bytes_of(text));
}

/* The last text that begins as a summary does and has its last line; empty: there is none. */
static struct tv_bytes find_summary(struct tv_bytes tail)
{
    size_t end = 0;
    for (size_t at = tail.length; at-- > TV_MT_PACKET_SUMMARY_HEAD;) {
        if (tail.data[at] != '*')
            continue;
        if (end == 0 && stands_at(tail, at, TV_MT_SECTION_END "\n"))
            end = at;
        bool begins = tail.data[at - TV_MT_PACKET_SUMMARY_HEAD] == TV_MT_PACKET_SUMMARY &&
                      stands_at(tail, at, TV_MT_SECTION_VERSION "\n");
        if (begins && end > at)
            return (struct tv_bytes){tail.data + at, end - at};
    }
    return (struct tv_bytes){0};
}

enum tv_status tv_mt_tail_look(struct tv_mt_file *file, struct tv_mt_told *told,
                               struct tv_error *err)
{
    uint64_t size;
    size_t got;
    struct tv_mt_facts facts = {0};
    if (!tv_source_has_size(file->source, &size))
        return TV_OK;
    size_t length = size < LARGEST_SUMMARY ? (size_t)size : LARGEST_SUMMARY;
    uint8_t *bytes = tv_alloc(length, 1);
    enum tv_status status = tv_source_read(file->source, size - length, bytes, length, &got, err);
    if (status == TV_OK)
        tv_mt_text_look(find_summary((struct tv_bytes){bytes, got}), &facts);
    tv_free(bytes);
    if (facts.in_us || facts.in_ns)
        told->tick_ns = facts.in_us ? 1000 : 1;
    told->clocks = facts.clocks;
    return status;
}

enum tv_status tv_mt_tail_take(struct tv_mt_file *file, struct tv_mt_told *told,
                               struct tv_error *err)
{
    enum tv_status status = told->tick_ns == 0 ? tv_mt_tail_look(file, told, err) : TV_OK;
    file->facts.in_us = told->tick_ns == 1000;
    file->facts.in_ns = told->tick_ns == 1;
    file->facts.clocks = told->clocks;
    return status;
}

enum tv_status tv_mt_tail_check(struct tv_mt_file *file, const struct tv_mt_told *told,
                                struct tv_error *err)
{
    bool tick = told->tick_ns == 0 || told->tick_ns == tv_mt_input(file)->tick_ns;
    bool clock =
        told->clocks == 0 || file->version == TV_MT_PACKETS_2 || told->clocks == file->clocks;
    if (tick && clock)
        return TV_OK;
    return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET,
                   "the times that were printed were taken for %s, and are not by the packets that "
                   "came behind",
                   !clock               ? "those of the other clock"
                   : told->tick_ns == 1 ? "nanoseconds"
                                        : "microseconds");
}
