/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/foreign.h"

#include <string.h>

#include "base/bytes.h"

#define FLAMEGRAPH " (https://github.com/brendangregg/FlameGraph)"
#define LEGACY_PPROF "a profile of Go, gperftools or tcmalloc as text", "\"go tool pprof\" opens it"
#define HTML_PAGE "an HTML page (systrace, perhaps)"
#define INSTRUMENTS                                                                                \
    "an export of Apple's Instruments (XML)",                                                      \
        "speedscope (https://www.speedscope.app) opens what \"Deep Copy\" of Instruments copied"

const struct tv_foreign tv_foreign_heap_dump = {"a dump of the Java heap (hprof)",
                                                "Eclipse Memory Analyzer and VisualVM open it"};

/* ---- First bytes ---- */

static const struct {
    struct tv_bytes start;
    struct tv_foreign foreign;
} signatures[] = {
#define SIGNATURE(start, ...)                                                                      \
    {                                                                                              \
        {(const uint8_t *)(start), sizeof(start) - 1},                                             \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define V8_LOG(start)                                                                              \
    SIGNATURE(start, "a V8 log (\"node --prof\")", "\"node --prof-process\" prints its profile")
#define PERF_DATA(start)                                                                           \
    SIGNATURE(start, "a perf.data file of Linux perf or simpleperf",                               \
              "\"perf script report stackcollapse -i perf.data\", or simpleperf's "                \
              "stackcollapse.py, makes collapsed stacks of it")
#define XDEBUG(start)                                                                              \
    SIGNATURE(start, "a function trace of Xdebug",                                                 \
              "its profiles (xdebug.mode=profile) open in KCachegrind")
#define PERF_REPORT(start)                                                                         \
    SIGNATURE(start, "text of \"perf report\"",                                                    \
              "\"perf script report stackcollapse -i perf.data\" makes collapsed stacks of the "   \
              "recording")
#define CTF(start)                                                                                 \
    SIGNATURE(start, "a file of a CTF trace (LTTng, Zephyr)", "\"babeltrace2\" prints the folder")
#define TRACY(start) SIGNATURE(start, "a trace of Tracy", "Tracy's tracy-csvexport prints it")
    SIGNATURE("SIMPLEPERF", "a simpleperf report",
              "simpleperf's stackcollapse.py makes collapsed stacks of the recording"),
    PERF_DATA("PERFILE2"),
    PERF_DATA("2ELIFREP"),
    PERF_DATA("PERFFILE"),
    SIGNATURE("\x17\x08\x44tracing", "a trace-cmd file", "\"trace-cmd report\" writes it as text"),
    V8_LOG("v8-version,"),
    V8_LOG("v8-platform,"),
    V8_LOG("shared-library,"),
    V8_LOG("code-creation,"),
    V8_LOG("timer-event,"),
    V8_LOG("tick,0x"),
    SIGNATURE("FLR\0", "a Java Flight Recorder file",
              "async-profiler's \"jfrconv -o collapsed\" makes collapsed stacks of it"),
    SIGNATURE("Nettrace", "a .nettrace file of .NET",
              "\"dotnet-trace convert --format Chromium\" makes Trace Event JSON of it"),
    SIGNATURE("Ftrace!\0", "a file of an uftrace folder",
              "\"uftrace dump --chrome\" makes Trace Event JSON of the folder"),
    SIGNATURE("\x10\0\x04"
              "FxT\x16\0",
              "a Fuchsia trace (FXT)", "Perfetto (https://ui.perfetto.dev) opens it"),
    SIGNATURE("# ninja log v", "a log of ninja",
              "ninjatracing (https://github.com/nico/ninjatracing) makes Trace Event JSON of it"),
    SIGNATURE("heap profile: ", LEGACY_PPROF),
    SIGNATURE("goroutine profile: ", LEGACY_PPROF),
    SIGNATURE("threadcreate profile: ", LEGACY_PPROF),
    SIGNATURE("--- contention", LEGACY_PPROF),
    SIGNATURE("--- mutex:", LEGACY_PPROF),
    SIGNATURE("--- heapz ", LEGACY_PPROF),
    SIGNATURE("sample:\n  time: ", "text of \"simpleperf report-sample\"",
              "simpleperf's stackcollapse.py makes collapsed stacks of the recording"),
    SIGNATURE("Analysis of sampling ", "text of macOS' sample",
              "stackcollapse-sample.awk" FLAMEGRAPH " makes collapsed stacks of it"),
    SIGNATURE("gmon\1\0\0\0", "a profile of gprof (gmon.out)",
              "\"gprof PROGRAM gmon.out\" prints it"),
    SIGNATURE("gmon\0\0\0\1", "a profile of gprof (gmon.out)",
              "\"gprof PROGRAM gmon.out\" prints it"),
    XDEBUG("TRACE START ["),
    XDEBUG("Version: 2."),
    XDEBUG("Version: 3."),
    PERF_REPORT("# To display the perf.data header info"),
    PERF_REPORT("# Total Lost Samples:"),
    CTF("\xc1\x1f\xfc\xc1"),
    CTF("\xc1\xfc\x1f\xc1"),
    CTF("\x75\xd1\x1d\x57"),
    CTF("\x57\x1d\xd1\x75"),
    CTF("/* CTF 1.8 */"),
    TRACY("tr\xfdP"),
    TRACY("tZst"),
    TRACY("tlZ\4"),
    SIGNATURE("MOJ", "a file of Austin (MOJO)",
              "Austin's \"mojo2austin\" makes collapsed stacks of it"),
    SIGNATURE("PK\x03\x04", "a zip archive (YAMP's .twb, Instruments and others)", NULL),
    SIGNATURE("PK\x05\x06", "an empty zip archive", NULL),
    SIGNATURE("\x1f\x8b", "gzip-compressed data", NULL),
    SIGNATURE("\x28\xb5\x2f\xfd", "zstd-compressed data", NULL),
    SIGNATURE("\xfd"
              "7zXZ\0",
              "xz-compressed data", "unpack it first, with \"xz -d\""),
    SIGNATURE("BZh", "bzip2-compressed data", "unpack it first, with \"bunzip2\""),
    SIGNATURE("SQLite format 3", "an SQLite database (Nsight Systems, perhaps)", NULL),
    SIGNATURE("\x7f"
              "ELF",
              "an ELF program or library", NULL),
    SIGNATURE("\xff\xfe", "text in UTF-16", "save it as UTF-8"),
    SIGNATURE("\xfe\xff", "text in UTF-16", "save it as UTF-8"),
    SIGNATURE("<!DOCTYPE html", HTML_PAGE, NULL),
    SIGNATURE("<!doctype html", HTML_PAGE, NULL),
    SIGNATURE("<html", HTML_PAGE, NULL),
    SIGNATURE("<trace-query-result", INSTRUMENTS),
    SIGNATURE("<?xml version=\"1.0\"?>\n<trace-", INSTRUMENTS),
    SIGNATURE("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<trace-", INSTRUMENTS),
    SIGNATURE("<?xml", "an XML file", NULL),
#undef TRACY
#undef CTF
#undef PERF_REPORT
#undef XDEBUG
#undef PERF_DATA
#undef V8_LOG
#undef SIGNATURE
};

/* ---- Protobuf ---- */

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

enum { WIRE_VARINT = 0, WIRE_64_BITS = 1, WIRE_BYTES = 2, WIRE_32_BITS = 5 };

/* The wire types of the fields of pprof's Profile, from field 1 on. */
static const uint8_t pprof_wires[] = {
    0,           WIRE_BYTES,  WIRE_BYTES,  WIRE_BYTES,  WIRE_BYTES,  WIRE_BYTES,
    WIRE_BYTES,  WIRE_VARINT, WIRE_VARINT, WIRE_VARINT, WIRE_VARINT, WIRE_BYTES,
    WIRE_VARINT, WIRE_VARINT, WIRE_VARINT, WIRE_VARINT,
};
#define PPROF_MESSAGES (1u << 2 | 1u << 4 | 1u << 5) /* samples, locations, functions */
/* A ValueType holds two numbers. */
#define PPROF_VALUE_TYPE 12u
/* So many fields one behind another are no chance. */
#define PPROF_SURE 8

static bool is_pprof_field(uint64_t tag)
{
    uint64_t field = tag >> 3, wire = tag & 7;
    return field > 0 && field < TV_COUNT(pprof_wires) &&
           (wire == pprof_wires[field] || (field == 13 && wire == WIRE_BYTES));
}

/* Go past a field that later versions or other tools added.  Its tag has two bytes, so that plain
 * text has none. */
static bool skip_later_field(struct tv_cursor *cursor, uint64_t tag)
{
    uint64_t length = 0, wire = tag & 7;
    struct tv_bytes bytes;
    if (tag >> 3 < 16 || tag > UINT32_MAX)
        return false;
    if (wire == WIRE_VARINT)
        return tv_cursor_take_uleb(cursor, &length) || tv_cursor_left(cursor) == 0;
    if (wire == WIRE_BYTES && !tv_cursor_take_uleb(cursor, &length))
        return tv_cursor_left(cursor) == 0;
    if (wire == WIRE_64_BITS || wire == WIRE_32_BITS)
        length = wire == WIRE_64_BITS ? 8 : 4;
    else if (wire != WIRE_BYTES)
        return false;
    if (!tv_cursor_take_bytes(cursor, length > SIZE_MAX ? SIZE_MAX : (size_t)length, &bytes))
        tv_cursor_take_bytes(cursor, tv_cursor_left(cursor), &bytes);
    return true;
}

/* Fields of pprof's Profile that begin a file. */
struct pprof_fields {
    unsigned seen, count;
};

/* Take a field that is known; false: it is none, or not one of pprof's. */
static bool take_pprof_field(struct pprof_fields *fields, struct tv_cursor *cursor, uint64_t tag)
{
    uint64_t value;
    struct tv_bytes bytes;
    if (!is_pprof_field(tag))
        return skip_later_field(cursor, tag);
    if (!tv_cursor_take_uleb(cursor, &value))
        return true;
    bool packed = (tag & 7) == WIRE_BYTES;
    if (packed && tag >> 3 == 1 && value > PPROF_VALUE_TYPE)
        return false;
    fields->seen |= 1u << (tag >> 3);
    fields->count++;
    if (packed &&
        !tv_cursor_take_bytes(cursor, value > SIZE_MAX ? SIZE_MAX : (size_t)value, &bytes))
        tv_cursor_take_bytes(cursor, tv_cursor_left(cursor), &bytes);
    return true;
}

/* Every field is of pprof's Profile or a later one, and there are samples, locations or functions:
 * two of them, as one may be chance (text may begin with a quote).  A long list of samples fills
 * what is seen. */
static bool is_pprof(struct tv_bytes head)
{
    struct tv_cursor cursor = tv_cursor_over(head);
    struct pprof_fields fields = {0, 0};
    uint64_t tag;
    while (tv_cursor_take_uleb(&cursor, &tag))
        if (!take_pprof_field(&fields, &cursor, tag))
            return false;
    unsigned messages = fields.seen & PPROF_MESSAGES;
    return messages & (messages - 1) || (messages && fields.count > PPROF_SURE);
}

/* Reports of simpleperf before their magic: records, each with its length in front. */
static bool is_old_simpleperf(struct tv_bytes head)
{
    struct tv_cursor cursor = tv_cursor_over(head);
    struct tv_bytes record;
    uint32_t size;
    unsigned records = 0;
    while (tv_cursor_take_u32(&cursor, &size) && size > 0) {
        struct tv_cursor inside = cursor;
        uint64_t length;
        uint8_t tag;
        if (!tv_cursor_take_u8(&inside, &tag))
            break;
        if ((tag & 7) != WIRE_BYTES || tag >> 3 == 0 || tag >> 3 > 6 ||
            !tv_cursor_take_uleb(&inside, &length) ||
            length + (tv_cursor_position(&inside) - tv_cursor_position(&cursor)) != size)
            return false;
        records++;
        if (!tv_cursor_take_bytes(&cursor, size, &record))
            break;
    }
    return records > 1;
}

/* ---- Others ---- */

/* Words 0, 3, version (1: of Java), period, 0, of 32 or 64 bits in either order. */
static bool is_gperftools_order(struct tv_bytes head, size_t word, bool big)
{
    static const uint8_t least[] = {0, 3, 0, 0, 0}, most[] = {0, 3, 1, 0, 0};
    if (head.length < TV_COUNT(least) * word)
        return false;
    for (size_t i = 0; i < TV_COUNT(least) * word; i++) {
        uint8_t byte = head.data[i];
        bool low = i % word == (big ? word - 1 : 0);
        if (i / word != 3 && (low ? byte < least[i / word] || byte > most[i / word] : byte != 0))
            return false;
    }
    return true;
}

static bool is_gperftools(struct tv_bytes head)
{
    return is_gperftools_order(head, 4, false) || is_gperftools_order(head, 4, true) ||
           is_gperftools_order(head, 8, false) || is_gperftools_order(head, 8, true);
}

/* A marshalled dictionary whose first key is a tuple of three; 0x80: it is referred to. */
static bool is_pstats(struct tv_bytes head)
{
    if (head.length < 6 || (head.data[0] & 0x7f) != '{')
        return false;
    uint8_t tuple = head.data[1] & 0x7f;
    return (tuple == ')' && head.data[2] == 3) ||
           (tuple == '(' && head.data[2] == 3 && head.data[3] == 0 && head.data[4] == 0 &&
            head.data[5] == 0);
}

/* The header of a buffer, which begins with its size, and that of the event that describes the log:
 * version, kind of header (1 and 2: system), 0xc0, size, no hook. */
static bool is_etl(struct tv_bytes head)
{
    static const size_t event = 72;
    if (head.length < event + 8)
        return false;
    const uint8_t *at = head.data;
    uint32_t size =
        (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    return size >= 1024 && size % 1024 == 0 && size <= 1u << 24 &&
           (at[event + 2] == 1 || at[event + 2] == 2) && at[event + 3] == 0xc0 &&
           at[event + 6] == 0 && at[event + 7] == 0;
}

/* "go 1.19 trace" and zeros, of 16 bytes. */
static bool is_go_trace(struct tv_bytes head)
{
    static const char word[] = " trace";
    if (head.length < 16 || !tv_bytes_starts_with(head, TV_BYTES("go 1.")))
        return false;
    for (size_t i = 5; i + sizeof word - 1 <= 16; i++)
        if (memcmp(head.data + i, word, sizeof word - 1) == 0)
            return true;
    return false;
}

static const struct {
    bool (*is)(struct tv_bytes head);
    struct tv_foreign foreign;
} formats[] = {
    {is_perfetto,
     {"a Perfetto trace (protobuf)", "Perfetto's \"traceconv json\" makes Trace Event JSON of it"}},
    {is_go_trace, {"an execution trace of Go", "\"go tool trace\" opens it"}},
    {is_gperftools,
     {"a CPU profile of gperftools",
      "\"google-pprof --collapsed PROGRAM FILE\" makes collapsed stacks of it"}},
    {is_pstats, {"a profile of Python's cProfile", "\"python3 -m pstats\" prints it"}},
    {is_etl, {"an .etl file of Windows", "PerfView and the Windows Performance Analyzer open it"}},
    {is_old_simpleperf,
     {"a simpleperf report",
      "simpleperf's stackcollapse.py makes collapsed stacks of the recording"}},
    {is_pprof,
     {"a pprof profile",
      "\"go tool pprof -raw\" and stackcollapse-go.pl" FLAMEGRAPH " make collapsed stacks of it"}},
};

/* ---- All ---- */

static size_t skip_space(struct tv_bytes text)
{
    size_t i = 0;
    while (i < text.length &&
           (text.data[i] == ' ' || (text.data[i] >= '\t' && text.data[i] <= '\r')))
        i++;
    return i;
}

/* Lines of logs begin with a bracket as well ("[    0.000000] Linux version"). */
static bool begins_json(struct tv_bytes text)
{
    if (text.data[0] != '[')
        return text.data[0] == '{';
    size_t at = 1 + skip_space((struct tv_bytes){text.data + 1, text.length - 1});
    if (at == text.length || memchr("{[\"]", text.data[at], 4))
        return true;
    if (!memchr("-0123456789tfn", text.data[at], 14))
        return false;
    while (at < text.length && !memchr(" \t\r\n,]", text.data[at], 6))
        at++;
    at += skip_space((struct tv_bytes){text.data + at, text.length - at});
    if (at == text.length || text.data[at] == ',')
        return true;
    return text.data[at] == ']' &&
           tv_foreign_is_nothing((struct tv_bytes){text.data + at + 1, text.length - at - 1});
}

enum tv_status tv_foreign_fail(const struct tv_foreign *foreign, struct tv_error *err)
{
    return tv_fail(err, TV_ERR_UNSUPPORTED, 0,
                   TV_FOREIGN_EXPECTED ", found %s, which is not read yet%s%s", foreign->name,
                   foreign->advice ? ": " : "", foreign->advice ? foreign->advice : "");
}

bool tv_foreign_is_nothing(struct tv_bytes head)
{
    return skip_space(head) == head.length;
}

const struct tv_foreign *tv_foreign_find(struct tv_bytes head)
{
    static const struct tv_foreign nothing = {"an empty file", NULL};
    static const struct tv_foreign blank = {"an empty file (white space only)", NULL};
    static const struct tv_foreign json = {"JSON that is no Trace Event Format", NULL};
    const struct tv_foreign *found;
    size_t i = skip_space(head);
    if (i == head.length)
        return i == 0 ? &nothing : &blank;
    for (size_t k = 0; k < TV_COUNT(signatures); k++)
        if (tv_bytes_starts_with(head, signatures[k].start))
            return &signatures[k].foreign;
    for (size_t k = 0; k < TV_COUNT(formats); k++)
        if (formats[k].is(head))
            return &formats[k].foreign;
    if ((found = tv_foreign_find_json(head)) || (found = tv_foreign_find_text(head)))
        return found;
    return begins_json((struct tv_bytes){head.data + i, head.length - i}) ? &json : NULL;
}
