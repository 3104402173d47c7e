/* SPDX-License-Identifier: Apache-2.0 */
/* json_profiles.c - profiles in JSON, cut and damaged at every byte. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/firefox/firefox.h"
#include "readers/readers.h"
#include "readers/v8/v8.h"

#define CPUPROFILE                                                                                 \
    "{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"(root)\"},\"children\":[2,3]},"       \
    "{\"id\":2,\"callFrame\":{\"functionName\":\"f\",\"url\":\"a.js\",\"lineNumber\":4}},"         \
    "{\"id\":3,\"callFrame\":{\"functionName\":\"(garbage collector)\"}}],"                        \
    "\"startTime\":1000,\"endTime\":1300,\"samples\":[2,3,2],\"timeDeltas\":[100,50,50]}"
#define HEAPPROFILE                                                                                \
    "{\"head\":{\"callFrame\":{\"functionName\":\"(root)\"},\"selfSize\":0,\"id\":1,\"children\":" \
    "[{\"callFrame\":{\"functionName\":\"h\",\"url\":\"c.js\"},\"selfSize\":64,\"id\":2,"          \
    "\"children\":[]}]},\"samples\":[{\"size\":64,\"nodeId\":2,\"ordinal\":1}]}"
#define SAMPLED                                                                                    \
    "{\"profiles\":[{\"type\":\"sampled\",\"name\":\"w\",\"unit\":\"seconds\",\"startValue\":0,"   \
    "\"endValue\":3,\"samples\":[[0],[0,1]],\"weights\":[1,0.5]}],"                                \
    "\"shared\":{\"frames\":[{\"name\":\"a\",\"file\":\"a.c\",\"line\":3},{\"name\":\"b\"}]}}"
#define EVENTED                                                                                    \
    "{\"profiles\":[{\"type\":\"evented\",\"name\":\"w\",\"unit\":\"none\",\"startValue\":0,"      \
    "\"endValue\":9,\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":0},"                            \
    "{\"type\":\"C\",\"frame\":0,\"at\":5}]}],\"shared\":{\"frames\":[{\"name\":\"a\"}]}}"
#define PROCESSED                                                                                  \
    "{\"meta\":{\"startTime\":5,\"preprocessedProfileVersion\":66},\"libs\":[{\"name\":\"l\"}],"   \
    "\"shared\":{\"stringArray\":[\"f\",\"a.c\"],\"stackTable\":{\"frame\":[0,0],"                 \
    "\"prefixOffset\":[0,1]},\"frameTable\":{\"func\":[0],\"line\":[3]},\"funcTable\":{"           \
    "\"name\":[0],\"source\":[0]},\"sources\":{\"filename\":[1]}},\"threads\":[{\"tid\":\"x\","    \
    "\"samples\":{\"stack\":[1,0],\"timeDeltas\":[0,1]},\"markers\":{\"name\":[0],"                \
    "\"startTime\":[1],\"phase\":[0],\"data\":[{}]}}],\"counters\":[{\"name\":\"c\",\"pid\":1,"    \
    "\"samples\":{\"time\":[0,1],\"count\":[5,2]}}]}"
#define GECKO                                                                                      \
    "{\"meta\":{\"startTime\":0},\"threads\":[{\"stringTable\":[\"f (a.js:3:4)\",\"x (in l)\"],"   \
    "\"stackTable\":{\"schema\":{\"prefix\":0,\"frame\":1},\"data\":[[null,0],[0,1]]},"            \
    "\"frameTable\":{\"schema\":{\"location\":0},\"data\":[[0],[1]]},"                             \
    "\"samples\":{\"schema\":{\"stack\":0,\"time\":1},\"data\":[[1,0.5],[0,2]]}}],"                \
    "\"processes\":[{\"meta\":{\"startTime\":10},\"threads\":[]}]}"

static const struct {
    const struct tv_reader *reader;
    const char *text;
    size_t samples, slices;
} files[] = {
    {&tv_reader_cpuprofile, CPUPROFILE, 3, 0}, {&tv_reader_heapprofile, HEAPPROFILE, 1, 0},
    {&tv_reader_speedscope, SAMPLED, 2, 0},    {&tv_reader_speedscope, EVENTED, 0, 1},
    {&tv_reader_firefox, PROCESSED, 2, 0},     {&tv_reader_firefox, GECKO, 2, 0},
};

/* Read a file.  A reader may refuse it, and then the trace is empty. */
static struct tv_trace *read_json_profile(const struct tv_reader *reader, struct tv_bytes bytes)
{
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_source *source = tv_source_from_memory(bytes, "test");
    struct tv_read_options options = {.parts = 1};
    struct tv_error err = {0};
    (void)!reader->assemble(source, builder, &options, &err);
    struct tv_trace *trace = tv_builder_finish(builder);
    tv_source_free(source);
    return trace;
}

/* Lines are counted from 0, and those that no number of 32 bits can hold are unknown. */
static void lines_of_functions_are_in_range(void **state)
{
    static const struct {
        const char *number;
        int32_t line;
    } lines[] = {{"0", 1},
                 {"-1", 0},
                 {"2147483646", INT32_MAX},
                 {"2147483647", 0},
                 {"-9223372036854775808", 0},
                 {"9223372036854775807", 0}};
    (void)state;
    for (size_t i = 0; i < TV_COUNT(lines); i++) {
        char text[512];
        snprintf(
            text, sizeof text,
            "{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"(root)\"},\"children\":[2]},"
            "{\"id\":2,\"callFrame\":{\"functionName\":\"f\",\"url\":\"a.js\",\"lineNumber\":%s}}],"
            "\"startTime\":0,\"endTime\":1,\"samples\":[2],\"timeDeltas\":[1]}",
            lines[i].number);
        struct tv_trace *trace = read_json_profile(&tv_reader_cpuprofile, tv_bytes_of(text));
        assert_true(trace->tables.samples.count > 0);
        const struct tv_frame *frame = tv_path_frame(trace, trace->tables.samples.rows[0].path);
        assert_int_equal(frame->line, lines[i].line);
        tv_trace_free(trace);
    }
}

/* Samples whose times cannot go back become rows at once, others are sorted first: both ways give
 * the same rows.  The collector is on top of the code before it, and a sample without a time is
 * left out. */
static void order_of_samples_gives_the_same_rows(void **state)
{
    static const char *const lists[] = {
        "\"samples\":[2,3,2,2],\"timeDeltas\":[100,50,50]",  /* as they come */
        "\"samples\":[2,3,2],\"timeDeltas\":[100,\t50,5e1]", /* the list is not plain */
        "\"samples\":[2,2,3],\"timeDeltas\":[100,100,-50]",  /* out of order */
    };
    static const struct {
        int64_t time, weight; /* of the CPU: until the next sample, or the end of the recording */
        const char *name;
    } rows[] = {
        {1100000, 50000, "f"}, {1150000, 50000, "(garbage collector)"}, {1200000, 100000, "f"}};
    (void)state;
    for (size_t i = 0; i < TV_COUNT(lists); i++) {
        char text[512];
        snprintf(
            text, sizeof text,
            "{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"(root)\"},\"children\":"
            "[2,3]},{\"id\":2,\"callFrame\":{\"functionName\":\"f\"}},{\"id\":3,\"callFrame\":"
            "{\"functionName\":\"(garbage collector)\"}}],\"startTime\":1000,\"endTime\":1300,%s}",
            lists[i]);
        struct tv_trace *trace = read_json_profile(&tv_reader_cpuprofile, tv_bytes_of(text));
        assert_int_equal(trace->tables.samples.count, 2 * TV_COUNT(rows));
        for (size_t k = 0; k < 2 * TV_COUNT(rows); k++) {
            const struct tv_sample *sample = &trace->tables.samples.rows[k];
            const struct tv_frame *frame = tv_path_frame(trace, sample->path);
            assert_int_equal(sample->time, rows[k / 2].time);
            assert_int_equal(sample->weight, k % 2 == 0 ? 1 : rows[k / 2].weight);
            assert_true(tv_bytes_equal(tv_trace_info_text(trace->head, frame->name),
                                       tv_bytes_of(rows[k / 2].name)));
            assert_int_equal(trace->paths.nodes[sample->path].parent == TV_ROOT_PATH, k / 2 != 1);
        }
        tv_trace_free(trace);
    }
}

static void whole_files_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < TV_COUNT(files); i++) {
        struct tv_trace *trace = read_json_profile(files[i].reader, tv_bytes_of(files[i].text));
        assert_int_equal(trace->head->inputs[0].samples, files[i].samples);
        assert_int_equal(trace->slice_count, files[i].slices);
        tv_trace_free(trace);
    }
}

/* In a recording of the old developer tools, samples and the outer markers count from its start,
 * markers inside of the profile from that of the process: here 4,998 ms earlier. */
static void markers_of_a_recording_are_on_the_axis_of_its_samples(void **state)
{
    static const struct {
        const char *outer;
        tv_ns shift;
    } cases[] = {
        {"{\"name\":\"Styles\",\"start\":1},{\"name\":\"MinorGC\",\"start\":10,\"end\":12}",
         -4998000000},
        /* Another number of collections: nothing tells which is which. */
        {"{\"name\":\"MinorGC\",\"start\":10},{\"name\":\"MinorGC\",\"start\":20}", 0},
        {"", 0},
    };
    (void)state;
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        char text[1024];
        snprintf(
            text, sizeof text,
            "{\"markers\":[%s],\"profile\":{\"meta\":{\"startTime\":3},\"threads\":[{\"tid\":7,"
            "\"stringTable\":[\"GCMinor\",\"x\"],\"stackTable\":{\"schema\":{\"prefix\":0,"
            "\"frame\":1},\"data\":[]},\"samples\":{\"schema\":{\"stack\":0,\"time\":1},"
            "\"data\":[[null,9]]},\"markers\":{\"schema\":{\"name\":0,\"time\":1,\"data\":2},"
            "\"data\":[[1,5000],[0,5008,{\"startTime\":5008,\"endTime\":5010}]]}}]}}",
            cases[i].outer);
        struct tv_trace *trace = read_json_profile(&tv_reader_firefox, tv_bytes_of(text));
        struct tv_slice slice;
        assert_int_equal(trace->tables.samples.rows[0].time, 9000000);
        assert_int_equal(trace->tables.instants.count, 1);
        assert_int_equal(trace->tables.instants.rows[0].time, 5000000000 + cases[i].shift);
        assert_int_equal(trace->slice_count, 1);
        tv_slices_read(trace, 0, 0, 1, &slice);
        assert_int_equal(trace->origin + slice.start, 5008000000 + cases[i].shift);
        assert_int_equal(slice.length, 2000000);
        tv_trace_free(trace);
    }
}

/* Without its list of threads or profiles, a file has nothing to show: it is refused, unless the
 * end of the file is missing. */
static void files_without_their_list_are_refused(void **state)
{
    static const struct {
        const struct tv_reader *reader;
        const char *text;
        enum tv_status status;
    } cases[] = {
        {&tv_reader_firefox, "{\"meta\":{\"startTime\":0},\"threads\":[]}", TV_OK},
        {&tv_reader_firefox, "{\"meta\":{\"startTime\":0},\"counters\":[]}", TV_OK},
        {&tv_reader_firefox, "{\"meta\":{\"startTime\":0},\"libs\":[", TV_OK},
        {&tv_reader_firefox, "{\"meta\":{\"startTime\":0},\"thread\":[]}", TV_ERR_SYNTAX},
        {&tv_reader_firefox, "{\"label\":\"\",\"profile\":{\"meta\":{},\"threads\":[]}}", TV_OK},
        {&tv_reader_firefox, "{\"label\":\"\",\"profile\":null}", TV_ERR_SYNTAX},
        {&tv_reader_firefox, "{\"label\":\"\",\"prgfile\":{\"threads\":[]}}", TV_ERR_SYNTAX},
        {&tv_reader_heapprofile, "{\"head\":null,\"samples\":[]}", TV_ERR_SYNTAX},
        {&tv_reader_heapprofile, "{\"head\":", TV_OK},
        {&tv_reader_cpuprofile, "{\"nodes\":[],\"samples\":[]}", TV_ERR_SYNTAX},
        {&tv_reader_speedscope, "{\"shared\":{\"frames\":[]},\"profiles\":[]}", TV_OK},
        {&tv_reader_speedscope, "{\"shared\":{\"frames\":[", TV_OK},
        {&tv_reader_speedscope, "{\"shared\":{\"frames\":[]},\"profile\":[]}", TV_ERR_SYNTAX},
    };
    (void)state;
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
        struct tv_source *source = tv_source_from_memory(tv_bytes_of(cases[i].text), "test");
        struct tv_read_options options = {.parts = 1};
        struct tv_error err = {0};
        assert_int_equal(cases[i].reader->assemble(source, builder, &options, &err),
                         cases[i].status);
        tv_builder_free(builder);
        tv_source_free(source);
    }
}

/* Read a text in which a word is replaced wherever it occurs by one of the same length. */
static struct tv_trace *read_renamed(const struct tv_reader *reader, const char *text,
                                     const char *word)
{
    char renamed[2048];
    size_t length = strlen(word);
    assert_true(strlen(text) < sizeof renamed);
    memcpy(renamed, text, strlen(text) + 1);
    for (char *at = renamed; (at = strstr(at, word)); at += length)
        memset(at + 1, 'x', length - 2);
    return read_json_profile(reader, tv_bytes_of(renamed));
}

/* Inner members that are missing leave stacks or figures empty: each place is counted, and so are
 * allocations of nodes that no tree holds. */
static void missing_members_are_counted(void **state)
{
    static const struct {
        const struct tv_reader *reader;
        const char *text, *key;
        uint64_t missing, unknown;
    } cases[] = {
        {&tv_reader_cpuprofile, CPUPROFILE, "\"callFrame\"", 3, 0},
        {&tv_reader_heapprofile, HEAPPROFILE, "\"callFrame\"", 2, 0},
        {&tv_reader_heapprofile, HEAPPROFILE, "\"functionName\"", 2, 0},
        {&tv_reader_heapprofile, HEAPPROFILE, "\"selfSize\"", 2, 0},
        {&tv_reader_heapprofile, HEAPPROFILE, "\"children\"", 1, 1},
        {&tv_reader_heapprofile, HEAPPROFILE, "\"id\"", 0, 1},
        {&tv_reader_heapprofile, HEAPPROFILE, "\"ordinal\"", 0, 0},
        {&tv_reader_firefox, GECKO, "\"schema\"", 5, 0},
        {&tv_reader_firefox, GECKO, "\"data\"", 5, 0},
        {&tv_reader_firefox, GECKO, "\"samples\"", 1, 0},
        {&tv_reader_firefox, GECKO, "\"stack\"", 1, 0},
        {&tv_reader_firefox, GECKO, "\"prefix\"", 1, 0},
        {&tv_reader_firefox, GECKO, "\"location\"", 1, 0},
        {&tv_reader_firefox, GECKO, "\"stringTable\"", 1, 0},
        {&tv_reader_firefox, GECKO, "\"tid\"", 0, 0},
        {&tv_reader_firefox, PROCESSED, "\"samples\"", 1, 0},
        {&tv_reader_firefox, PROCESSED, "\"timeDeltas\"", 1, 0},
        {&tv_reader_firefox, PROCESSED, "\"func\"", 1, 0},
        {&tv_reader_firefox, PROCESSED, "\"funcTable\"", 1, 0},
        {&tv_reader_firefox, PROCESSED, "\"prefixOffset\"", 1, 0},
        {&tv_reader_firefox, PROCESSED, "\"stringArray\"", 1, 0},
        {&tv_reader_firefox, PROCESSED, "\"line\"", 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        struct tv_trace *trace = read_renamed(cases[i].reader, cases[i].text, cases[i].key);
        const struct tv_diagnostic *kinds = trace->head->diagnostics.kinds;
        if (kinds[TV_DIAGNOSTIC_MEMBER_MISSING].count != cases[i].missing ||
            kinds[TV_DIAGNOSTIC_PROFILE_BAD].count != cases[i].unknown)
            fail_msg("%s: %d missing, %d unknown", cases[i].key,
                     (int)kinds[TV_DIAGNOSTIC_MEMBER_MISSING].count,
                     (int)kinds[TV_DIAGNOSTIC_PROFILE_BAD].count);
        tv_trace_free(trace);
    }
}

/* A profile whose tree is missing is still no Trace Event JSON, which would be empty. */
static void profiles_without_a_tree_are_recognised(void **state)
{
    static const struct {
        const char *text;
        bool heap;
    } cases[] = {
        {"{\"head\":null,\"samples\":[]}", true},
        {"{\"samples\":[],\"head\":{}}", true},
        {"{\"head\":{\"selfSize\":0}}", true},
        {"{\"head\":null}", false}, /* as in many other files */
        {"{\"head\":null,\"samples\":[],\"traceEvents\":[]}", false},
    };
    (void)state;
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        struct tv_bytes text = tv_bytes_of(cases[i].text);
        bool heap = tv_reader_heapprofile.sniff(text, text.length) > 0;
        if (heap != cases[i].heap)
            fail_msg("%s: %d", cases[i].text, heap);
    }
}

/* A profile of speedscope without its samples or events, or without the type that names them. */
static void profiles_of_speedscope_without_rows_are_counted(void **state)
{
    static const struct {
        const char *members;
        uint64_t bad;
    } cases[] = {
        {"\"type\":\"sampled\",\"samples\":[],\"weights\":[]", 0},
        {"\"type\":\"evented\",\"events\":[]", 0},
        {"\"type\":\"sampled\",\"sample\":[[0]],\"weights\":[1]", 1},
        {"\"type\":\"evented\",\"event\":[]", 1},
        {"\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":1}]", 1},
    };
    (void)state;
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "{\"shared\":{\"frames\":[{\"name\":\"a\"}]},\"profiles\":[{%s}]}",
                 cases[i].members);
        struct tv_trace *trace = read_json_profile(&tv_reader_speedscope, tv_bytes_of(text));
        assert_int_equal(trace->head->diagnostics.kinds[TV_DIAGNOSTIC_BAD_EVENT].count,
                         cases[i].bad);
        tv_trace_free(trace);
    }
}

/* Read a file cut before a byte, and with each bit of that byte flipped, in memory of its own
 * length, so that ASan sees what is read beyond. */
static void read_damaged_at(const struct tv_reader *reader, struct tv_bytes file, size_t at)
{
    for (unsigned bit = 0; bit <= 8; bit++) {
        size_t length = bit == 8 ? at : file.length;
        uint8_t *copy = tv_alloc(length, 1);
        memcpy(copy, file.data, length);
        if (bit < 8)
            copy[at] ^= (uint8_t)(1u << bit);
        tv_trace_free(read_json_profile(reader, (struct tv_bytes){copy, length}));
        tv_free(copy);
    }
}

static void damage_of_json_is_survived(void **state)
{
    (void)state;
    for (size_t i = 0; i < TV_COUNT(files); i++) {
        struct tv_bytes file = tv_bytes_of(files[i].text);
        for (size_t at = 0; at < file.length; at++)
            read_damaged_at(files[i].reader, file, at);
    }
}

UNIT_TESTS(json_profiles, cmocka_unit_test(whole_files_are_read),
           cmocka_unit_test(order_of_samples_gives_the_same_rows),
           cmocka_unit_test(markers_of_a_recording_are_on_the_axis_of_its_samples),
           cmocka_unit_test(files_without_their_list_are_refused),
           cmocka_unit_test(missing_members_are_counted),
           cmocka_unit_test(profiles_without_a_tree_are_recognised),
           cmocka_unit_test(profiles_of_speedscope_without_rows_are_counted),
           cmocka_unit_test(lines_of_functions_are_in_range),
           cmocka_unit_test(damage_of_json_is_survived));
