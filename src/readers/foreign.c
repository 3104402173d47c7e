/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign.c - recognises formats that cannot be read, to say what the file is and what opens it.
 *
 *     traceview: trace.dat: byte 0: expected a trace in a format that is known, found a trace-cmd
 *     file, which is not read yet: "trace-cmd report" writes it as text
 *
 * Only asked when no reader is sure of a file. The tests go from certain to vague, because the
 * first that matches wins: first bytes, fixed structs, keys of JSON (foreign_json.c), the look of
 * lines, and at last "JSON" in general. docs/foreign.md lists all formats. To add one with a
 * signature, add a row to `signatures` in front of rows whose text it begins with.
 */
#include "readers/foreign.h"

#include <string.h>

#include "base/bytes.h"
#include "readers/text_lines.h"

#define FLAMEGRAPH " (https://github.com/brendangregg/FlameGraph)"
#define HTML_PAGE "an HTML page (systrace, perhaps)"
#define INSTRUMENTS                                                                                \
    "a table of contents of Apple's Instruments (XML)",                                            \
        "\"xctrace export --xpath\" writes the table time-profile or cpu-profile of the recording"

#define PERFETTO_TEXT                                                                              \
    "a Perfetto trace as text (protobuf text format)", "\"traceconv binary\" makes the trace of "  \
                                                       "it"
#define PERFETTO_CONFIG                                                                            \
    "a configuration of Perfetto", "\"perfetto --txt -c FILE -o TRACE\" records a trace with it"

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
    SIGNATURE(start, "a perf.data file that is big-endian or of the first version",                \
              "\"perf script\" on the machine that recorded it writes it as text")
#define XDEBUG(start)                                                                              \
    SIGNATURE(start, "a function trace of Xdebug",                                                 \
              "its profiles (xdebug.mode=profile) open in KCachegrind")
#define PERF_REPORT(start)                                                                         \
    SIGNATURE(start, "text of \"perf report\"",                                                    \
              "\"perf script report stackcollapse -i perf.data\" makes collapsed stacks of the "   \
              "recording")
#define CTF(start)                                                                                 \
    SIGNATURE(start, "a file of a CTF trace (LTTng, Zephyr)", "\"babeltrace2\" prints the folder")
#define SVG(start)                                                                                 \
    SIGNATURE(start, "an SVG image (a flame graph, perhaps)",                                      \
              "open the stacks that it was drawn of")
#define PERF_RECORD "\"perf record\" records a file that is read"
#define TRACY(start) SIGNATURE(start, "a trace of Tracy", "Tracy's tracy-csvexport prints it")
    PERF_DATA("2ELIFREP"),
    PERF_DATA("PERFFILE"),
    SIGNATURE("\x17\x08\x44tracing", "a trace-cmd file", "\"trace-cmd report\" writes it as text"),
    V8_LOG("v8-version,"),
    V8_LOG("v8-platform,"),
    V8_LOG("shared-library,"),
    V8_LOG("code-creation,"),
    V8_LOG("timer-event,"),
    V8_LOG("tick,0x"),
    SIGNATURE("Nettrace", "a .nettrace file of .NET",
              "\"dotnet-trace convert --format Chromium\" makes Trace Event JSON of it"),
    SIGNATURE("Ftrace!\0", "a file of an uftrace folder",
              "\"uftrace dump --chrome\" makes Trace Event JSON of the folder"),
    SIGNATURE("\x10\0\x04"
              "FxT\x16\0",
              "a Fuchsia trace (FXT)", "Perfetto (https://ui.perfetto.dev) opens it"),
    SIGNATURE("# ninja log v", "a log of ninja of another version than 5 to 7",
              "ninjatracing (https://github.com/nico/ninjatracing) makes Trace Event JSON of it"),
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
    SIGNATURE("Flat profile:\n", "text of gprof", PERF_RECORD),
    SIGNATURE("\n Performance counter stats for", "text of \"perf stat\"", PERF_RECORD),
    SIGNATURE(" Percent |\tSource code & Disassembly of", "text of \"perf annotate\"",
              "open perf.data itself"),
    SIGNATURE("% time     seconds  usecs/call", "text of \"strace -c\"",
              "\"strace -f -ttt -T -o FILE\" writes each call"),
    SIGNATURE("#\n# A fatal error has been detected by the Java", "a crash report of a JVM", NULL),
    SIGNATURE("2CRT", "a trace of Unreal Engine (.utrace)", "Unreal Insights opens it"),
    SIGNATURE("ECRT", "a trace of Unreal Engine (.utrace)", "Unreal Insights opens it"),
    SIGNATURE("packet {", PERFETTO_TEXT),
    SIGNATURE("packet: {", PERFETTO_TEXT),
    SIGNATURE("buffers {", PERFETTO_CONFIG),
    SIGNATURE("buffers: {", PERFETTO_CONFIG),
    SIGNATURE("SLF0", "a build log of Xcode (.xcactivitylog)",
              "\"xclogparser parse --reporter chromeTracer\" makes Trace Event JSON of it"),
    SIGNATURE("memray\0", "a file of memray", "\"memray flamegraph\" draws it"),
    SIGNATURE("rbspy0", "a recording of rbspy",
              "\"rbspy report --format speedscope\" makes a file that is read"),
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
    SIGNATURE("SQLite format 3", "an SQLite database (an export of Nsight Systems, perhaps)",
              "Nsight Systems opens the recording, and \"nsys stats\" prints its tables"),
    SIGNATURE("heap_v2/", "a heap profile of jemalloc",
              "\"jeprof --collapsed PROGRAM FILE\" makes collapsed stacks of it"),
    SIGNATURE("JSLB", "a binary profile of the Firefox Profiler (JSON slabs)",
              "https://profiler.firefox.com opens it"),
    SIGNATURE("\x7f"
              "ELF",
              "an ELF program or library", NULL),
    SIGNATURE("\xff\xfe", "text in UTF-16", "save it as UTF-8"),
    SIGNATURE("\xfe\xff", "text in UTF-16", "save it as UTF-8"),
    SIGNATURE("<!DOCTYPE html", HTML_PAGE, NULL),
    SIGNATURE("<!doctype html", HTML_PAGE, NULL),
    SIGNATURE("<html", HTML_PAGE, NULL),
    SIGNATURE("<trace-toc", INSTRUMENTS),
    SIGNATURE("<?xml version=\"1.0\"?>\n<trace-toc", INSTRUMENTS),
    SIGNATURE("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<trace-toc", INSTRUMENTS),
    SVG("<?xml version=\"1.0\" standalone=\"no\"?>\n<!DOCTYPE svg"),
    SVG("<svg "),
    SIGNATURE("<?xml", "an XML file", NULL),
#undef TRACY
#undef PERF_RECORD
#undef SVG
#undef CTF
#undef PERF_REPORT
#undef XDEBUG
#undef PERF_DATA
#undef V8_LOG
#undef SIGNATURE
};

/* ---- Others ---- */

/* Return true for the header of a buffer, which begins with its size, and that of the event that
 * describes the log: version, kind of header (1 and 2: system), 0xc0, size, no hook. */
static bool foreign_is_etl(struct tv_bytes prefix)
{
    static const size_t event = 72;
    if (prefix.length < event + 8)
        return false;
    const uint8_t *at = prefix.data;
    uint32_t size =
        (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    return size >= 1024 && size % 1024 == 0 && size <= 1u << 24 &&
           (at[event + 2] == 1 || at[event + 2] == 2) && at[event + 3] == 0xc0 &&
           at[event + 6] == 0 && at[event + 7] == 0;
}

/* Return true for "go 1.19 trace" and zeros, 16 bytes. */
static bool foreign_is_go_trace(struct tv_bytes prefix)
{
    static const char word[] = " trace";
    if (prefix.length < 16 || !tv_bytes_starts_with(prefix, TV_BYTES("go 1.")))
        return false;
    for (size_t i = 5; i + sizeof word - 1 <= 16; i++)
        if (memcmp(prefix.data + i, word, sizeof word - 1) == 0)
            return true;
    return false;
}

/* Return true when the bytes contain the text. */
static bool foreign_contains(struct tv_bytes bytes, struct tv_bytes text)
{
    for (size_t i = 0; i + text.length <= bytes.length; i++)
        if (memcmp(bytes.data + i, text.data, text.length) == 0)
            return true;
    return false;
}

/* Return true for a Hash of Ruby (Marshal 4.8) with stackprof's symbols :version and :mode. */
static bool foreign_is_stackprof(struct tv_bytes prefix)
{
    return tv_bytes_starts_with(prefix, TV_BYTES("\x04\x08{")) &&
           foreign_contains(prefix, TV_BYTES(":\x0cversion")) &&
           foreign_contains(prefix, TV_BYTES(":\x09mode"));
}

/* Return true for PHP's serialize() of a map from "caller==>callee" to counts and times. */
static bool foreign_is_xhprof(struct tv_bytes prefix)
{
    return tv_bytes_starts_with(prefix, TV_BYTES("a:")) &&
           foreign_contains(prefix, TV_BYTES("==>")) &&
           foreign_contains(prefix, TV_BYTES("s:2:\"ct\";i:"));
}

static const struct {
    bool (*is)(struct tv_bytes prefix);
    struct tv_foreign foreign;
} formats[] = {
    {foreign_is_go_trace, {"an execution trace of Go", "\"go tool trace\" opens it"}},
    {foreign_is_stackprof,
     {"a stackprof profile (Ruby's Marshal)",
      "\"stackprof --stackcollapse\" makes collapsed stacks of one that was recorded with raw: "
      "true"}},
    {foreign_is_xhprof, {TV_FOREIGN_XHPROF}},
    {foreign_is_etl,
     {"an .etl file of Windows", "PerfView and the Windows Performance Analyzer open it"}},
};

const struct tv_foreign *tv_foreign_find_page(struct tv_bytes prefix)
{
    static const struct tv_foreign flames = {
        "a flame graph of async-profiler (HTML)",
        "\"asprof -o collapsed\" and \"asprof -o jfr\" write files that are read"};
    bool page = tv_bytes_starts_with(prefix, TV_BYTES("<!DOCTYPE html>"));
    return page && (foreign_contains(prefix, TV_BYTES("The async-profiler authors")) ||
                    foreign_contains(prefix, TV_BYTES("Andrei Pangin")))
               ? &flames
               : NULL;
}

/* ---- All formats ---- */

/* Return the number of white-space bytes at the begin of the text. */
static size_t foreign_skip_space(struct tv_bytes text)
{
    size_t i = 0;
    while (i < text.length &&
           (text.data[i] == ' ' || (text.data[i] >= '\t' && text.data[i] <= '\r')))
        i++;
    return i;
}

/* Return true when the text begins like JSON. Lines of logs may begin with a bracket, too ("[
 * 0.000000] Linux version"). */
static bool foreign_begins_json(struct tv_bytes text)
{
    if (text.data[0] != '[')
        return text.data[0] == '{';
    size_t at = 1 + foreign_skip_space((struct tv_bytes){text.data + 1, text.length - 1});
    if (at == text.length || memchr("{[\"]", text.data[at], 4))
        return true;
    if (!memchr("-0123456789tfn", text.data[at], 14))
        return false;
    while (at < text.length && !memchr(" \t\r\n,]", text.data[at], 6))
        at++;
    at += foreign_skip_space((struct tv_bytes){text.data + at, text.length - at});
    if (at == text.length || text.data[at] == ',')
        return true;
    return text.data[at] == ']' &&
           tv_foreign_is_empty((struct tv_bytes){text.data + at + 1, text.length - at - 1});
}

enum tv_status tv_foreign_fail(const struct tv_foreign *foreign, struct tv_error *err)
{
    return tv_fail(err, TV_ERR_UNSUPPORTED, 0,
                   TV_FOREIGN_EXPECTED ", found %s, which is not read yet%s%s", foreign->name,
                   foreign->advice ? ": " : "", foreign->advice ? foreign->advice : "");
}

bool tv_foreign_is_empty(struct tv_bytes prefix)
{
    return foreign_skip_space(prefix) == prefix.length;
}

const struct tv_foreign *tv_foreign_find(struct tv_bytes prefix)
{
    static const struct tv_foreign nothing = {"an empty file", NULL};
    static const struct tv_foreign blank = {"an empty file (white space only)", NULL};
    static const struct tv_foreign json = {"JSON that is no Trace Event Format", NULL};
    const struct tv_foreign *found;
    size_t i = foreign_skip_space(prefix);
    if (i == prefix.length)
        return i == 0 ? &nothing : &blank;
    if ((found = tv_foreign_find_page(prefix)))
        return found;
    for (size_t k = 0; k < TV_COUNT(signatures); k++)
        if (tv_bytes_starts_with(prefix, signatures[k].start))
            return &signatures[k].foreign;
    for (size_t k = 0; k < TV_COUNT(formats); k++)
        if (formats[k].is(prefix))
            return &formats[k].foreign;
    if ((found = tv_foreign_find_json(prefix)) || (found = tv_foreign_find_text(prefix)))
        return found;
    return foreign_begins_json((struct tv_bytes){prefix.data + i, prefix.length - i}) ? &json
                                                                                      : NULL;
}

/* ---- Formats of lines, recognized by the look of the lines ---- */

static bool foreign_is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* Take the next word of a line; data NULL: there is none. */
static struct tv_bytes foreign_take_word(struct tv_bytes *line)
{
    while (line->length > 0 && tv_is_blank(line->data[0])) {
        line->data++;
        line->length--;
    }
    size_t end = 0;
    while (end < line->length && !tv_is_blank(line->data[end]))
        end++;
    struct tv_bytes word = {end > 0 ? line->data : NULL, end};
    line->data = line->length > 0 ? line->data + end : line->data;
    line->length -= end;
    return word;
}

/* Return true when the word consists of digits, at least one, and `marks`. */
static bool foreign_is_number_with(struct tv_bytes word, const char *marks)
{
    bool any = false;
    for (size_t i = 0; i < word.length; i++) {
        if (!foreign_is_digit(word.data[i]) && !strchr(marks, word.data[i]))
            return false;
        any = any || foreign_is_digit(word.data[i]);
    }
    return any;
}

/* ---- Valgrind ---- */

/* Massif's "desc:" is a header line of callgrind too; only Massif has a unit of time. */
static bool foreign_is_massif(struct tv_bytes prefix)
{
    return tv_bytes_starts_with(prefix, TV_BYTES("desc: ")) &&
           tv_text_has_header_key(prefix, TV_BYTES("time_unit: "));
}

/* ---- heaptrack ---- */

/* Return true for "v 10400 3", versions in hexadecimal, and a line of the program or its command.
 */
static bool foreign_is_heaptrack(struct tv_bytes prefix)
{
    struct tv_cursor cursor = tv_cursor_over(prefix);
    struct tv_bytes line;
    if (!tv_cursor_take_line(&cursor, &line) ||
        !tv_bytes_equal(foreign_take_word(&line), TV_BYTES("v")) ||
        !foreign_is_number_with(foreign_take_word(&line), "abcdef") ||
        !foreign_is_number_with(foreign_take_word(&line), "abcdef") ||
        foreign_take_word(&line).data)
        return false;
    return tv_cursor_take_line(&cursor, &line) && (tv_bytes_starts_with(line, TV_BYTES("x ")) ||
                                                   tv_bytes_starts_with(line, TV_BYTES("X ")));
}

/* ---- strace, ltrace, DTrace, bpftrace ---- */

/* Return true for "name(..." and "module->Name(...". */
static bool foreign_is_call(struct tv_bytes word)
{
    size_t start = tv_text_ltrace_module(word), end = start;
    for (; end < word.length; end++) {
        uint8_t c = word.data[end], lower = start > 0 ? c | 0x20 : c;
        if (c != '_' && !foreign_is_digit(c) && (lower < 'a' || lower > 'z'))
            break;
    }
    return end > start && end < word.length && word.data[end] == '(';
}

/* Return true for "[14931] [time] name(...) = result" or "name(... <unfinished ...>"; ltrace writes
 * "module->name". */
static bool foreign_is_strace_line(struct tv_bytes line)
{
    struct tv_bytes word = foreign_take_word(&line);
    if (tv_bytes_equal(word, TV_BYTES("[pid")))
        word = foreign_take_word(&line);
    for (int i = 0; i < 2 && foreign_is_number_with(word, ":.]"); i++)
        word = foreign_take_word(&line);
    if (!foreign_is_call(word))
        return false;
    struct tv_bytes last = word;
    while (word.data) {
        if (tv_bytes_equal(last, TV_BYTES("=")) || tv_bytes_equal(word, TV_BYTES("<unfinished")))
            return true;
        last = word;
        word = foreign_take_word(&line);
    }
    return false;
}

/* Return true for "    genunix`kmem_cache_free+0xce". */
static bool foreign_is_dtrace_line(struct tv_bytes line)
{
    if (line.length == 0 || line.data[0] != ' ')
        return false;
    struct tv_bytes word = foreign_take_word(&line);
    const uint8_t *quote = word.data ? memchr(word.data, '`', word.length) : NULL;
    return quote && quote > word.data && (size_t)(quote - word.data) + 1 < word.length;
}

/* Return true when at least two of the lines fit, and most of those that are not blank. */
static bool foreign_most_lines(struct tv_bytes prefix, bool (*is_so)(struct tv_bytes line))
{
    struct tv_cursor cursor = tv_cursor_over(prefix);
    struct tv_bytes line;
    unsigned so = 0, others = 0;
    while (tv_cursor_take_line(&cursor, &line)) {
        struct tv_bytes rest = line;
        if (!foreign_take_word(&rest).data)
            continue;
        *(is_so(line) ? &so : &others) += 1;
    }
    return so > 1 && so > others;
}

/* Return true for " 0.010 ( 0.002 ms): ls/1234 close(fd: 3) = 0". */
static bool foreign_is_perf_trace_line(struct tv_bytes line)
{
    struct tv_bytes word = foreign_take_word(&line);
    if (!word.data || !foreign_is_number_with(word, "."))
        return false;
    word = foreign_take_word(&line);
    if (!tv_bytes_starts_with(word, TV_BYTES("(")))
        return false;
    if (word.length == 1)
        word = foreign_take_word(&line);
    return tv_bytes_equal(foreign_take_word(&line), TV_BYTES("ms):"));
}

static bool foreign_is_perf_trace(struct tv_bytes prefix)
{
    return foreign_most_lines(prefix, foreign_is_perf_trace_line);
}

/* Return true for "main;read 5 7": a chain and two counts. */
static bool foreign_is_difffolded_line(struct tv_bytes line)
{
    struct tv_bytes last[2] = {{NULL, 0}}, word;
    bool deep = memchr(line.data, ';', line.length) != NULL;
    while ((word = foreign_take_word(&line)).data) {
        last[0] = last[1];
        last[1] = word;
    }
    return deep && last[0].data && foreign_is_number_with(last[0], ".") &&
           foreign_is_number_with(last[1], ".");
}

static bool foreign_is_difffolded(struct tv_bytes prefix)
{
    return foreign_most_lines(prefix, foreign_is_difffolded_line);
}

/* Return true for "[0.005s][info][gc", the first line of the unified log of a JVM. */
static bool foreign_is_jvm_log(struct tv_bytes prefix)
{
    const uint8_t *end = memchr(prefix.data, ']', prefix.length);
    if (prefix.length == 0 || prefix.data[0] != '[' || !end)
        return false;
    struct tv_bytes rest = {end, prefix.length - (size_t)(end - prefix.data)};
    return end[-1] == 's' && (tv_bytes_starts_with(rest, TV_BYTES("][info][")) ||
                              tv_bytes_starts_with(rest, TV_BYTES("][debug][")) ||
                              tv_bytes_starts_with(rest, TV_BYTES("][warning][")));
}

static bool foreign_is_strace(struct tv_bytes prefix)
{
    return foreign_most_lines(prefix, foreign_is_strace_line);
}

static bool foreign_is_ltrace(struct tv_bytes prefix)
{
    return tv_text_is_ltrace(prefix) && foreign_is_strace(prefix);
}

static bool foreign_is_dtrace(struct tv_bytes prefix)
{
    return foreign_most_lines(prefix, foreign_is_dtrace_line);
}

/* Return true for "@[" and a stack, after the line "Attaching 2 probes..." of bpftrace. */
static bool foreign_is_bpftrace(struct tv_bytes prefix)
{
    struct tv_cursor cursor = tv_cursor_over(prefix);
    struct tv_bytes line;
    while (tv_cursor_take_line(&cursor, &line)) {
        struct tv_bytes word = foreign_take_word(&line), count = foreign_take_word(&line);
        bool attached = tv_bytes_equal(word, TV_BYTES("Attaching")) ||
                        tv_bytes_equal(word, TV_BYTES("Attached"));
        if (word.data && !(attached && foreign_is_number_with(count, "")))
            return tv_bytes_starts_with(word, TV_BYTES("@["));
    }
    return false;
}

/* The title may follow lines with the process (of jcmd) and the date. */
static bool foreign_is_jstack(struct tv_bytes prefix)
{
    struct tv_cursor cursor = tv_cursor_over(prefix);
    struct tv_bytes line;
    for (int i = 0; i < 3 && tv_cursor_take_line(&cursor, &line); i++)
        if (tv_bytes_starts_with(line, TV_BYTES("Full thread dump ")))
            return true;
    return false;
}

static const struct {
    bool (*is)(struct tv_bytes prefix);
    struct tv_foreign foreign;
} texts[] = {
    {foreign_is_bpftrace,
     {"stacks of bpftrace",
      "stackcollapse-bpftrace.pl" FLAMEGRAPH " makes collapsed stacks of it"}},
    {foreign_is_perf_trace,
     {"text of \"perf trace\"", "\"strace -f -ttt -T -o FILE\" writes the same calls"}},
    {foreign_is_difffolded,
     {"differential stacks of difffolded.pl",
      "\"traceview diff\" compares the two files of collapsed stacks that they are made of"}},
    {foreign_is_jvm_log,
     {"a log of a JVM", "a recording has collections, too: \"jcmd PID JFR.start\""}},
    {foreign_is_massif, {"a heap profile of massif", "\"ms_print\" of valgrind prints it"}},
    {foreign_is_heaptrack,
     {"a recording of heaptrack",
      "\"heaptrack_print -f FILE -F STACKS\" writes collapsed stacks of it"}},
    {foreign_is_ltrace,
     {"text of ltrace without times", "\"ltrace -f -ttt -T -o FILE\" writes them"}},
    {foreign_is_strace,
     {"text of strace without times", "\"strace -f -ttt -T -o FILE\" writes them"}},
    {foreign_is_dtrace,
     {"stacks of DTrace", "stackcollapse.pl" FLAMEGRAPH " makes collapsed stacks of it"}},
    {foreign_is_jstack,
     {"a thread dump of a JVM",
      "stackcollapse-jstack.pl" FLAMEGRAPH " makes collapsed stacks of it"}},
};

const struct tv_foreign *tv_foreign_find_text(struct tv_bytes prefix)
{
    for (size_t i = 0; i < TV_COUNT(texts); i++)
        if (texts[i].is(prefix))
            return &texts[i].foreign;
    return NULL;
}
