/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callgrind.c - profiles of valgrind's callgrind and cachegrind, and of all who write their format
 * (Xdebug, "pprof -callgrind"): docs/formats/callgrind.md.
 *
 *     # callgrind format
 *     events: Ir                  one value type
 *     fl=(1) main.c               current file; (1) is short for it from now on
 *     fn=(1) main                 current function: main in main.c
 *     16 20                       line 16: 20 instructions of main itself
 *     cfn=(2) parse               the next call is of parse
 *     calls=3 51                  3 calls
 *     17 400                      from line 17; 400 instructions in parse and below
 *
 * Costs are added up by function and by call (caller, callee): lines are dropped. call_graph.c
 * turns the sums into tables, and estimates the stacks that the format does not have.
 *
 * The format is specified in valgrind's manual, "Callgrind Format Specification". A line that is
 * not understood is diagnosed and skipped; costs before the first "fn=" have no function and count
 * as such a line.
 */
#include "readers/readers.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/call_graph.h"
#include "readers/text_lines.h"

/* The tables of compressed names: "(12) name" defines, "(12)" uses. */
enum callgrind_names { NAMES_FILES, NAMES_FUNCTIONS, NAMES_OBJECTS, NAMES_COUNT };

/* Cancelling is looked for once per this many lines. */
#define LINES_PER_CHECK 65536

struct callgrind {
    struct tv_profile_input profile;
    struct tv_call_graph graph;
    struct tv_map names[NAMES_COUNT];      /* id -> string */
    uint32_t columns[TV_CALL_GRAPH_TYPES]; /* type of each cost of a line; TV_NONE: left out */
    uint32_t column_count;
    uint32_t positions;    /* numbers before the costs: 1, or 2 with "positions: instr line" */
    uint32_t file, object; /* strings */
    uint32_t function;     /* of the graph; TV_NONE before the first */
    uint32_t called_file, called_object, called_name; /* of the next call; TV_NONE: not given */
    uint32_t call;   /* whose costs the next line has; TV_NONE: none */
    bool jump;       /* the next line has positions of a jump */
    bool ends_parts; /* valgrind's own files end each part with "totals:" */
    bool in_part;    /* a part has begun ("events:") and not ended yet */
    uint64_t offset; /* offset of the line */
};

static void callgrind_warn(struct callgrind *callgrind, enum tv_diagnostic_kind kind)
{
    tv_profile_warn(&callgrind->profile, kind, callgrind->offset);
}

/* Take the next word of a line; false: there is none. */
static bool callgrind_take_word(struct tv_bytes *line, struct tv_bytes *word)
{
    *line = tv_bytes_trim(*line);
    return line->length > 0 && (tv_bytes_split(line, ' ', word), true);
}

/* ---- Names ---- */

/* Return the length of "(12)" at the begin of a name, and its id; 0: the name is not compressed. */
static size_t callgrind_parse_id(struct tv_bytes text, uint64_t *id)
{
    const uint8_t *end = text.length > 2 && text.data[0] == '('
                             ? memchr(text.data, ')', text.length < 24 ? text.length : 24)
                             : NULL;
    if (!end || !tv_parse_u64((struct tv_bytes){text.data + 1, (size_t)(end - text.data) - 1}, id))
        return 0;
    return (size_t)(end - text.data) + 1;
}

/* Return the string of a name, which may be compressed. */
static uint32_t callgrind_name(struct callgrind *callgrind, enum callgrind_names table,
                               struct tv_bytes text)
{
    struct tv_map *names = &callgrind->names[table];
    uint64_t id;
    text = tv_bytes_trim(text);
    size_t length = callgrind_parse_id(text, &id);
    if (length == 0)
        return tv_profile_string(&callgrind->profile, text);
    struct tv_bytes name =
        tv_bytes_trim((struct tv_bytes){text.data + length, text.length - length});
    uint32_t string = tv_map_find(names, id);
    if (name.length > 0 || string == TV_NONE) {
        if (name.length == 0)
            callgrind_warn(callgrind, TV_DIAGNOSTIC_UNLISTED_METHOD);
        string = tv_profile_string(&callgrind->profile, name.length > 0 ? name : text);
        tv_map_set(names, id, string);
    }
    return string;
}

/* Return the string without callgrind's word for unknown files and objects. */
static uint32_t callgrind_known(struct callgrind *callgrind, uint32_t string)
{
    struct tv_bytes text = tv_trace_info_text(callgrind->profile.info, string);
    return tv_bytes_equal(text, TV_BYTES("???")) ? TV_EMPTY_STRING : string;
}

static uint32_t callgrind_function(struct callgrind *callgrind, uint32_t name, uint32_t file,
                                   uint32_t object)
{
    struct tv_frame frame = {.name = name,
                             .file = callgrind_known(callgrind, file),
                             .module = callgrind_known(callgrind, object)};
    return tv_call_graph_function(&callgrind->graph,
                                  tv_trace_info_add_frame(callgrind->profile.info, &frame));
}

/* ---- The header ---- */

/* Return the unit of an event: callgrind counts, and others write "Time_(10ns)" or "cpu(ms)". */
static struct tv_bytes callgrind_unit(struct tv_bytes event)
{
    if (tv_bytes_ends_with(event, TV_BYTES("(ms)")))
        return TV_BYTES("ms");
    for (size_t i = 0; i + 3 < event.length; i++)
        if (event.data[i] == '_' && event.data[i + 1] == '(' && event.data[event.length - 1] == ')')
            return (struct tv_bytes){event.data + i + 2, event.length - i - 3};
    return TV_BYTES("count");
}

/* Return the type of an event, adding it if needed. */
static uint32_t callgrind_type(struct callgrind *callgrind, struct tv_bytes event)
{
    const struct tv_call_graph *graph = &callgrind->graph;
    uint32_t name = tv_profile_string(&callgrind->profile, event);
    const struct tv_value_type *rows = callgrind->profile.trace->tables.value_types.rows;
    for (uint32_t i = 0; i < graph->type_count; i++)
        if (rows[graph->types[i]].name == name)
            return i;
    return tv_call_graph_add_type(&callgrind->graph, event, callgrind_unit(event));
}

static void callgrind_take_events(struct callgrind *callgrind, struct tv_bytes events)
{
    struct tv_bytes event;
    callgrind->column_count = 0;
    while (callgrind->column_count < TV_CALL_GRAPH_TYPES && callgrind_take_word(&events, &event))
        callgrind->columns[callgrind->column_count++] = callgrind_type(callgrind, event);
    if (tv_bytes_trim(events).length > 0)
        callgrind_warn(callgrind, TV_DIAGNOSTIC_MANY_TYPES);
}

/* Count the names of "positions: instr line"; a profile without that line has line numbers. */
static void callgrind_take_positions(struct callgrind *callgrind, struct tv_bytes names)
{
    struct tv_bytes name;
    callgrind->positions = 0;
    while (callgrind->positions < 8 && callgrind_take_word(&names, &name))
        callgrind->positions++;
}

static void callgrind_take_pid(struct callgrind *callgrind, struct tv_bytes text)
{
    uint64_t pid;
    struct tv_trace_info *info = callgrind->profile.info;
    if (tv_parse_u64(text, &pid))
        info->processes[info->threads[callgrind->graph.thread].process].id = pid;
}

/* Warn when a part of valgrind's own file has no end: calls without the costs below them would have
 * shares of more than 100 %. */
static void callgrind_end_part(struct callgrind *callgrind)
{
    if (callgrind->ends_parts && callgrind->in_part)
        callgrind_warn(callgrind, TV_DIAGNOSTIC_TRUNCATED);
    callgrind->in_part = false;
}

/* Note where the parts of a file begin and end: "creator:", then for each part "events:", its
 * functions, and "totals:". */
static void callgrind_follow_parts(struct callgrind *callgrind, struct tv_bytes key,
                                   struct tv_bytes value)
{
    if (tv_bytes_equal(key, TV_BYTES("creator"))) {
        callgrind->ends_parts = tv_bytes_starts_with(value, TV_BYTES("callgrind-"));
    } else if (tv_bytes_equal(key, TV_BYTES("events"))) {
        callgrind_end_part(callgrind);
        callgrind->in_part = true;
    } else if (tv_bytes_equal(key, TV_BYTES("totals"))) {
        callgrind->in_part = false;
    }
}

/* Take a line "key: value" of the header. */
static void callgrind_take_header(struct callgrind *callgrind, struct tv_bytes key,
                                  struct tv_bytes value)
{
    static const char *const kept[] = {"creator", "cmd", "desc", "event"};
    callgrind_follow_parts(callgrind, key, value);
    if (tv_bytes_equal(key, TV_BYTES("events")))
        callgrind_take_events(callgrind, value);
    else if (tv_bytes_equal(key, TV_BYTES("positions")))
        callgrind_take_positions(callgrind, value);
    else if (tv_bytes_equal(key, TV_BYTES("pid")))
        callgrind_take_pid(callgrind, value);
    for (size_t i = 0; i < TV_COUNT(kept); i++)
        if (tv_bytes_equal(key, tv_bytes_of(kept[i])) && value.length > 0)
            tv_trace_info_add_metadata(callgrind->profile.info, callgrind->profile.input, key,
                                       value);
}

/* Take "key: value"; false: the line has another form. */
static bool callgrind_take_header_line(struct callgrind *callgrind, struct tv_bytes line)
{
    size_t i = 0;
    while (i < line.length && ((line.data[i] >= 'a' && line.data[i] <= 'z') || line.data[i] == '_'))
        i++;
    if (i == 0 || i == line.length || line.data[i] != ':')
        return false;
    struct tv_bytes value = {line.data + i + 1, line.length - i - 1};
    callgrind_take_header(callgrind, (struct tv_bytes){line.data, i}, tv_bytes_trim(value));
    return true;
}

/* ---- The body ---- */

/* Later "fi=" and "fe=" lines name files of inlined code; the function stays that of "fl=". */
static void callgrind_take_function(struct callgrind *callgrind, struct tv_bytes text)
{
    uint32_t name = callgrind_name(callgrind, NAMES_FUNCTIONS, text);
    callgrind->function = callgrind_function(callgrind, name, callgrind->file, callgrind->object);
}

/* Take "calls=COUNT POSITION": the next line of costs belongs to this call. Without "cfi=" and
 * "cob=" the callee is in the current file and object; they hold for one call only. */
static void callgrind_take_calls(struct callgrind *callgrind, struct tv_bytes text)
{
    uint32_t file = callgrind->called_file, object = callgrind->called_object;
    struct tv_bytes count;
    uint64_t calls;
    callgrind->called_file = callgrind->called_object = TV_NONE;
    if (callgrind->function == TV_NONE || callgrind->called_name == TV_NONE ||
        !callgrind_take_word(&text, &count) || !tv_parse_u64(count, &calls)) {
        callgrind_warn(callgrind, TV_DIAGNOSTIC_BAD_LINE);
        callgrind->jump = true;
        return;
    }
    uint32_t callee = callgrind_function(callgrind, callgrind->called_name,
                                         file == TV_NONE ? callgrind->file : file,
                                         object == TV_NONE ? callgrind->object : object);
    callgrind->called_name = TV_NONE;
    callgrind->call = tv_call_graph_call(&callgrind->graph, callgrind->function, callee, calls);
}

#define IS(text) tv_bytes_equal(key, TV_BYTES(text))

/* Take a jump, which has no costs but may define names; false: it is none. */
static bool callgrind_take_jump(struct callgrind *callgrind, struct tv_bytes key,
                                struct tv_bytes value)
{
    if (IS("jfi"))
        (void)callgrind_name(callgrind, NAMES_FILES, value);
    else if (IS("jfn"))
        (void)callgrind_name(callgrind, NAMES_FUNCTIONS, value);
    else if (IS("jump") || IS("jcnd"))
        callgrind->jump = true;
    else
        return false;
    return true;
}

/* Take "key=value"; false: the line has another form. */
static bool callgrind_take_name_line(struct callgrind *callgrind, struct tv_bytes line)
{
    struct tv_bytes key, value = line;
    if (!tv_bytes_split(&value, '=', &key))
        return false;
    if (IS("fl") || IS("fi") || IS("fe"))
        callgrind->file = callgrind_name(callgrind, NAMES_FILES, value);
    else if (IS("fn"))
        callgrind_take_function(callgrind, value);
    else if (IS("ob"))
        callgrind->object = callgrind_name(callgrind, NAMES_OBJECTS, value);
    else if (IS("cfl") || IS("cfi"))
        callgrind->called_file = callgrind_name(callgrind, NAMES_FILES, value);
    else if (IS("cob"))
        callgrind->called_object = callgrind_name(callgrind, NAMES_OBJECTS, value);
    else if (IS("cfn"))
        callgrind->called_name = callgrind_name(callgrind, NAMES_FUNCTIONS, value);
    else if (IS("calls"))
        callgrind_take_calls(callgrind, value);
    else
        return callgrind_take_jump(callgrind, key, value);
    return true;
}
#undef IS

/* Parse a number: decimal, hexadecimal after 0x, perhaps with a sign. */
static bool callgrind_parse_cost(struct tv_bytes text, int64_t *cost)
{
    uint64_t hex;
    if (text.length > 1 && text.data[0] == '+')
        text = (struct tv_bytes){text.data + 1, text.length - 1};
    if (!tv_bytes_starts_with(text, TV_BYTES("0x")))
        return tv_parse_i64(text, cost);
    if (!tv_parse_hex(text, &hex) || hex > INT64_MAX)
        return false;
    *cost = (int64_t)hex;
    return true;
}

/* Add a cost to the call that was announced, else to the current function. */
static void callgrind_add_cost(struct callgrind *callgrind, uint32_t column, int64_t cost)
{
    uint32_t type = callgrind->columns[column];
    if (type == TV_NONE)
        return;
    if (callgrind->call != TV_NONE)
        tv_call_graph_add_cost(&callgrind->graph, callgrind->call, type, cost);
    else
        tv_call_graph_add_self(&callgrind->graph, callgrind->function, type, cost);
}

/* Take a line of positions and costs. Costs that are missing at its end are 0. */
static void callgrind_take_costs(struct callgrind *callgrind, struct tv_bytes line)
{
    struct tv_bytes word;
    int64_t cost;
    bool good = callgrind->function != TV_NONE;
    for (uint32_t i = 0; i < callgrind->positions && good; i++)
        good = callgrind_take_word(&line, &word);
    for (uint32_t i = 0; good && i < callgrind->column_count && callgrind_take_word(&line, &word);
         i++) {
        good = callgrind_parse_cost(word, &cost);
        if (good)
            callgrind_add_cost(callgrind, i, cost);
    }
    if (!good)
        callgrind_warn(callgrind, TV_DIAGNOSTIC_BAD_LINE);
    callgrind->profile.info->inputs[callgrind->profile.input].samples +=
        good && callgrind->call == TV_NONE;
    callgrind->call = TV_NONE;
}

/* Positions may be relative to the line before ("+3", "-2", "*"), so these begin costs, too. */
static void callgrind_take_line(struct callgrind *callgrind, struct tv_bytes line)
{
    line = tv_bytes_trim(line);
    if (line.length == 0 || line.data[0] == '#')
        return;
    uint8_t first = line.data[0];
    if ((first >= '0' && first <= '9') || first == '+' || first == '-' || first == '*') {
        if (!callgrind->jump)
            callgrind_take_costs(callgrind, line);
        callgrind->jump = false;
    } else if (!callgrind_take_name_line(callgrind, line) &&
               !callgrind_take_header_line(callgrind, line)) {
        callgrind_warn(callgrind, TV_DIAGNOSTIC_BAD_LINE);
    }
}

/* Take all lines, and look now and then whether the user has stopped reading. */
static enum tv_status callgrind_take_lines(struct callgrind *callgrind, struct tv_bytes text,
                                           struct tv_progress *progress, struct tv_error *err)
{
    struct tv_cursor cursor = tv_cursor_over(text);
    struct tv_bytes line;
    enum tv_status status = TV_OK;
    for (size_t i = 0; status == TV_OK && tv_cursor_take_line(&cursor, &line); i++) {
        callgrind->offset = (uint64_t)(line.data - text.data);
        callgrind_take_line(callgrind, line);
        if (i % LINES_PER_CHECK == 0)
            status = tv_reader_check_cancel(progress, err);
    }
    if (text.length > 0 && text.data[text.length - 1] != '\n')
        callgrind_warn(callgrind, TV_DIAGNOSTIC_UNENDED_LINE);
    callgrind_end_part(callgrind);
    return status;
}

/* ---- The reader ---- */

static void callgrind_begin(struct callgrind *callgrind, struct tv_source *source,
                            struct tv_builder *builder)
{
    struct tv_profile_input *profile = &callgrind->profile;
    tv_profile_input_begin(profile, source, builder, "Callgrind profile");
    struct tv_input *input = &profile->info->inputs[profile->input];
    input->weight_axis = true;
    uint32_t process = tv_profile_process(profile, 0, TV_BYTES(""));
    callgrind->graph.profile = profile;
    callgrind->graph.thread = tv_profile_thread(
        profile, process, 0, TV_BYTES("all (estimated: callgrind keeps no paths)"));
    callgrind->positions = 1;
    callgrind->function = callgrind->call = TV_NONE;
    callgrind->called_file = callgrind->called_object = callgrind->called_name = TV_NONE;
}

static enum tv_status callgrind_assemble(struct tv_source *source, struct tv_builder *builder,
                                         const struct tv_read_options *options,
                                         struct tv_error *err)
{
    struct tv_profile_text text;
    enum tv_status status = tv_profile_text_read(source, &text, err);
    if (status != TV_OK)
        return status;
    struct callgrind *callgrind = tv_alloc(1, sizeof *callgrind);
    callgrind_begin(callgrind, source, builder);
    status = callgrind_take_lines(callgrind, text.bytes, options->progress, err);
    tv_call_graph_finish(&callgrind->graph);
    tv_profile_input_end(&callgrind->profile, options);
    tv_call_graph_release(&callgrind->graph);
    for (size_t i = 0; i < NAMES_COUNT; i++)
        tv_map_release(&callgrind->names[i]);
    tv_free(callgrind);
    tv_profile_text_release(&text);
    return status;
}

static int callgrind_sniff(struct tv_bytes prefix, uint64_t size)
{
    (void)size;
    if (tv_bytes_starts_with(prefix, TV_BYTES("# callgrind format")))
        return TV_SNIFF_SURE;
    if (tv_bytes_starts_with(prefix, TV_BYTES("desc: I1 cache:")) ||
        tv_text_has_header_key(prefix, TV_BYTES("events: ")))
        return 90;
    return 0;
}

const struct tv_reader tv_reader_callgrind = {
    .name = "callgrind",
    .sniff = callgrind_sniff,
    .assemble = callgrind_assemble,
    .refuses_empty = true,
};
