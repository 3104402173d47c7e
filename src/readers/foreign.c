/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/foreign.h"

#include "base/bytes.h"

static const struct {
    struct tv_bytes start;
    const char *name;
    const char *advice; /* NULL: there is none */
} signatures[] = {
#define ADVISED(start, name, advice)                                                               \
    {                                                                                              \
        {(const uint8_t *)(start), sizeof(start) - 1}, name, advice                                \
    }
#define SIGNATURE(start, name) ADVISED(start, name, NULL)
#define V8_LOG(start)                                                                              \
    ADVISED(start, "a V8 log", "\"node --cpu-prof\" records a profile that is read")
    ADVISED("SIMPLEPERF", "a simpleperf report",
            "simpleperf's stackcollapse.py makes collapsed stacks of the recording"),
    ADVISED("PERFILE2", "a perf.data file of Linux perf or simpleperf",
            "\"perf script | stackcollapse-perf.pl\", or simpleperf's stackcollapse.py, makes "
            "collapsed stacks of it"),
    ADVISED("\x17\x08\x44tracing", "a trace-cmd file", "\"trace-cmd report\" writes it as text"),
    V8_LOG("v8-version,"),
    V8_LOG("v8-platform,"),
    V8_LOG("shared-library,"),
    V8_LOG("code-creation,"),
    V8_LOG("timer-event,"),
    V8_LOG("tick,0x"),
    ADVISED("FLR\0", "a Java Flight Recorder file",
            "async-profiler's jfrconv makes collapsed stacks of it"),
    SIGNATURE("PK\x03\x04", "a zip archive (YAMP's .twb, Instruments and others)"),
    SIGNATURE("PK\x05\x06", "an empty zip archive"),
    SIGNATURE("\x1f\x8b", "gzip-compressed data"),
    SIGNATURE("\x28\xb5\x2f\xfd", "zstd-compressed data"),
    ADVISED("\xfd"
            "7zXZ\0",
            "xz-compressed data", "unpack it first, with \"xz -d\""),
    ADVISED("BZh", "bzip2-compressed data", "unpack it first, with \"bunzip2\""),
    SIGNATURE("SQLite format 3", "an SQLite database"),
    SIGNATURE("\x7f"
              "ELF",
              "an ELF program or library"),
    ADVISED("\xff\xfe", "text in UTF-16", "save it as UTF-8"),
    ADVISED("\xfe\xff", "text in UTF-16", "save it as UTF-8"),
    SIGNATURE("<!DOCTYPE html", "an HTML page (systrace, perhaps)"),
    SIGNATURE("<!doctype html", "an HTML page (systrace, perhaps)"),
    SIGNATURE("<html", "an HTML page (systrace, perhaps)"),
    SIGNATURE("<?xml", "an XML file"),
#undef V8_LOG
#undef SIGNATURE
#undef ADVISED
};

/* Only one field of Perfetto's outermost message is in use: 1, packets with their length. */
static bool is_perfetto(struct tv_bytes head)
{
    struct tv_cursor cursor = tv_cursor_over(head);
    struct tv_bytes packet;
    uint64_t length;
    uint8_t tag;
    unsigned packets = 0;
    while (tv_cursor_take_u8(&cursor, &tag)) {
        /* One packet alone may be chance: text may begin with a line feed. */
        if (tag != 0x0a)
            return false;
        if (!tv_cursor_take_uleb(&cursor, &length))
            break;
        packets++;
        if (!tv_cursor_take_bytes(&cursor, length > SIZE_MAX ? SIZE_MAX : (size_t)length, &packet))
            break;
    }
    return packets > 1 || (packets == 1 && tv_cursor_left(&cursor) == 0);
}

static size_t skip_space(struct tv_bytes text)
{
    size_t i = 0;
    while (i < text.length &&
           (text.data[i] == ' ' || (text.data[i] >= '\t' && text.data[i] <= '\r')))
        i++;
    return i;
}

bool tv_foreign_is_nothing(struct tv_bytes head)
{
    return skip_space(head) == head.length;
}

const char *tv_foreign_advice(struct tv_bytes head)
{
    for (size_t k = 0; k < TV_COUNT(signatures); k++)
        if (tv_bytes_starts_with(head, signatures[k].start))
            return signatures[k].advice;
    return is_perfetto(head) ? "Perfetto's \"traceconv json\" makes Trace Event JSON of it" : NULL;
}

const char *tv_foreign_name(struct tv_bytes head)
{
    size_t i = skip_space(head);
    if (i == head.length)
        return i == 0 ? "an empty file" : "an empty file (white space only)";
    for (size_t k = 0; k < TV_COUNT(signatures); k++)
        if (tv_bytes_starts_with(head, signatures[k].start))
            return signatures[k].name;
    if (is_perfetto(head))
        return "a Perfetto trace (protobuf)";
    if (head.data[i] == '{' || head.data[i] == '[')
        return "JSON that is no Trace Event Format";
    return NULL;
}
