/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event read again when the user looks at it: its arguments by name, and the line as it stands.
 */
#include "readers/ftrace/ftrace.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"
#include "readers/ftrace/chunk.h"
#include "readers/ftrace/fields.h"
#include "readers/text_lines.h"

static void ft_put_text(const struct tv_ft_arg_visitor *put, const char *key, struct tv_bytes value)
{
    if (value.length > 0)
        put->pair(put->context, tv_bytes_of(key), value);
}

/* ---- key=value ---- */

static bool ft_is_before_key(uint8_t c)
{
    return c == ' ' || c == ',' || c == '(' || c == '[';
}

/* Return where the key before the '=' at `sign` begins. f2fs writes "ino = 12". */
static size_t ft_arg_key_start(struct tv_bytes text, size_t sign)
{
    size_t key = sign;
    while (key > 0 && text.data[key - 1] == ' ')
        key--;
    while (key > 0 && !ft_is_before_key(text.data[key - 1]))
        key--;
    return key;
}

/* Return the length of the value at the beginning: up to the space before the next key, or all. */
static size_t ft_arg_value_length(struct tv_bytes text)
{
    for (size_t i = 1; i < text.length; i++) {
        if (text.data[i] != '=')
            continue;
        /* The arrow in "S ==> next_comm=b" is not a key and ends the value. */
        bool arrow = text.data[i - 1] == ' ' && i + 1 < text.length && text.data[i + 1] == '=';
        size_t key = arrow ? i : ft_arg_key_start(text, i);
        if (key > 1 && text.data[key - 1] != ' ' && text.data[key - 2] == ' ')
            return key - 2;
        if (key > 0)
            return key - 1;
    }
    return text.length;
}

/* Cut off commas of a list, and the unit after a number ("12 [ns]"). */
static struct tv_bytes ft_arg_trim_value(struct tv_bytes value)
{
    int64_t number;
    while (value.length > 0 && value.data[value.length - 1] == ',')
        value.length--;
    const uint8_t *open = value.length > 0 ? memchr(value.data, '[', value.length) : NULL;
    if (!open && value.length > 0 && value.data[value.length - 1] == ']')
        value.length--;
    if (open && open - value.data > 1 && open[-1] == ' ') {
        struct tv_bytes head = {value.data, (size_t)(open - value.data) - 1};
        if (tv_ft_parse_number(head, &number))
            return head;
    }
    return value;
}

/* Visit every key=value. A value may contain spaces ("comm=a b pid=1"). */
static void ft_put_pairs(const struct tv_ft_arg_visitor *put, struct tv_bytes text)
{
    for (size_t at = 0; at < text.length;) {
        const uint8_t *equals = memchr(text.data + at, '=', text.length - at);
        if (!equals)
            return;
        size_t sign = (size_t)(equals - text.data), end = sign;
        while (end > at && text.data[end - 1] == ' ')
            end--;
        size_t key = end;
        while (key > at && !ft_is_before_key(text.data[key - 1]))
            key--;
        struct tv_bytes rest = {text.data + sign + 1, text.length - sign - 1};
        rest = tv_ft_skip_spaces(rest);
        size_t length = ft_arg_value_length(rest);
        if (key < end && rest.length > 0 && rest.data[0] != '=')
            put->pair(put->context, (struct tv_bytes){text.data + key, end - key},
                      ft_arg_trim_value((struct tv_bytes){rest.data, length}));
        at = (size_t)(rest.data - text.data) + length;
    }
}

/* ---- Other forms of details ---- */

/* Visit the fields of a switch, by the names of the kernel's form: trace-cmd's plugin writes
 * "bash:10 [120] S ==> other:11 [120]". */
static void ft_put_switch(const struct tv_ft_arg_visitor *put, struct tv_bytes details)
{
    struct tv_ft_short_task from, to;
    struct tv_bytes rest = details;
    if (tv_ft_after(details, "prev_pid=").data || !tv_ft_take_short_task(&rest, &from)) {
        ft_put_pairs(put, details);
        return;
    }
    ft_put_text(put, "prev_comm", from.name);
    ft_put_text(put, "prev_pid", from.tid);
    ft_put_text(put, "prev_prio", from.priority);
    ft_put_text(put, "prev_state", tv_ft_first_word(rest));
    rest = tv_ft_after(rest, "==> ");
    if (rest.data == NULL || !tv_ft_take_short_task(&rest, &to))
        return;
    ft_put_text(put, "next_comm", to.name);
    ft_put_text(put, "next_pid", to.tid);
    ft_put_text(put, "next_prio", to.priority);
}

/* Visit the fields of a wake-up: "bash:10 [120] success=1 CPU:001". */
static void ft_put_wakeup(const struct tv_ft_arg_visitor *put, struct tv_bytes details)
{
    struct tv_ft_short_task end;
    struct tv_bytes rest = details;
    if (tv_ft_after(details, " pid=").data || !tv_ft_take_short_task(&rest, &end)) {
        ft_put_pairs(put, details);
        return;
    }
    ft_put_text(put, "comm", end.name);
    ft_put_text(put, "pid", end.tid);
    ft_put_text(put, "prio", end.priority);
    ft_put_text(put, "success", tv_ft_arg(rest, "success"));
    ft_put_text(put, "target_cpu", tv_ft_first_word(tv_ft_after(rest, "CPU:")));
}

/* Return the length of the value at the beginning, up to the comma before the next "key: ". */
static size_t ft_arg_colon_value_length(struct tv_bytes text)
{
    size_t comma = text.length;
    for (size_t i = 0; i + 1 < text.length; i++) {
        if (text.data[i] == ',')
            comma = i;
        else if (text.data[i] == ':' && text.data[i + 1] == ' ' && comma < text.length)
            return comma;
        else if (text.data[i] == ' ' && comma + 1 != i)
            comma = text.length;
    }
    return text.length;
}

/* Visit the pairs of "dfd: ffffff9c, filename: 7f". */
static void ft_put_colon_pairs(const struct tv_ft_arg_visitor *put, struct tv_bytes text)
{
    while (text.length > 0) {
        struct tv_bytes key, value;
        text = tv_ft_skip_spaces(text);
        if (!tv_bytes_split(&text, ':', &key))
            return;
        value = tv_ft_skip_spaces(text);
        value.length = ft_arg_colon_value_length(value);
        if (key.length > 0 && value.length > 0)
            put->pair(put->context, key, value);
        size_t used = (size_t)(value.data - text.data) + value.length;
        used += used < text.length; /* skip the comma */
        text = (struct tv_bytes){text.data + used, text.length - used};
    }
}

/* Visit the arguments of a system call: "(dfd: 9c, filename: 7f)" and "-> 0x3" of the kernel;
 * "dfd: 0x9c, filename: 0x7f", "0x3", "NR 3 (9c, 7f)" and "NR 3 = 5" of events. */
static void ft_put_syscall(const struct tv_ft_arg_visitor *put, struct tv_bytes details)
{
    struct tv_bytes number = tv_ft_after(details, "NR "), result = tv_ft_after(details, "-> ");
    struct tv_bytes inside = tv_ft_after(details, "(");
    int64_t value;
    if (inside.length > 0 && inside.data[inside.length - 1] == ')')
        inside.length--;
    if (number.data) {
        ft_put_text(put, "NR", tv_ft_first_word(number));
        ft_put_text(put, "args", inside);
        ft_put_text(put, "ret", tv_ft_first_word(tv_ft_after(number, "= ")));
    } else if (result.data || tv_ft_parse_number(details, &value)) {
        ft_put_text(put, "ret", result.data ? result : details);
    } else {
        ft_put_colon_pairs(put, details.length > 0 && details.data[0] == '(' ? inside : details);
    }
}

/* Visit the fields of a block request: "179,0 WS 0 () 3427120 + 16 [mmcqd/0]". At the end of the
 * request the brackets hold the error. */
static void ft_put_request(const struct tv_ft_arg_visitor *put, struct tv_bytes details)
{
    struct tv_bytes device, sector = tv_ft_after(details, ") ");
    struct tv_bytes count = tv_ft_after(details, " + "), error = tv_ft_after(details, " [");
    int64_t number;
    if (!tv_bytes_split(&details, ' ', &device) || sector.data == NULL)
        return;
    ft_put_text(put, "device", device);
    ft_put_text(put, "rwbs", tv_ft_first_word(details));
    ft_put_text(put, "sector", tv_ft_first_word(sector));
    ft_put_text(put, "numSectors", tv_ft_first_word(count));
    if (error.length > 1 && error.data[error.length - 1] == ']')
        error.length--;
    if (tv_ft_parse_number(error, &number))
        ft_put_text(put, "error", error);
}

/* Visit pairs of words: "dev 259,1 ino 81993 pos 0 len 75 ret 0". */
static void ft_put_words(const struct tv_ft_arg_visitor *put, struct tv_bytes details)
{
    static const char *const shown[][2] = {{"dev", "device"}, {"ino", "inode"}, {"ret", "error"}};
    struct tv_bytes key, value;
    while (tv_bytes_split(&details, ' ', &key)) {
        tv_bytes_split(&details, ' ', &value);
        for (size_t i = 0; i < TV_COUNT(shown); i++)
            if (tv_bytes_equal(key, tv_bytes_of(shown[i][0])))
                key = tv_bytes_of(shown[i][1]);
        if (key.length > 0 && value.length > 0)
            put->pair(put->context, key, value);
    }
}

/* Visit the fields of f2fs: "dev = (259,14), ino = 4882, ..., ret = 0". */
static void ft_put_f2fs(const struct tv_ft_arg_visitor *put, struct tv_bytes details)
{
    struct tv_bytes device = tv_ft_after(details, "dev = ("), rest = device;
    if (rest.data && tv_bytes_split(&rest, ')', &device))
        ft_put_text(put, "device", device);
    ft_put_text(put, "inode", tv_ft_arg(details, "ino"));
    ft_put_text(put, "error", tv_ft_arg(details, "ret"));
    ft_put_pairs(put, rest.data ? rest : details);
}

/* Visit the fields of "d.process.media (10517), page cache 311740kB (limit 322560kB), free
 * -1456Kb". */
static void ft_put_kill(const struct tv_ft_arg_visitor *put, struct tv_bytes details)
{
    struct tv_bytes name, pid, rest = details;
    if (!tv_bytes_split(&rest, '(', &name) || !tv_bytes_split(&rest, ')', &pid))
        return;
    while (name.length > 0 && name.data[name.length - 1] == ' ')
        name.length--;
    ft_put_text(put, "killed_name", name);
    ft_put_text(put, "killed_pid", pid);
    static const char *const amounts[][2] = {{"page cache ", "cache"}, {", free ", "free"}};
    for (size_t i = 0; i < TV_COUNT(amounts); i++) {
        struct tv_bytes amount = tv_ft_first_word(tv_ft_after(rest, amounts[i][0]));
        if (amount.length > 2)
            amount.length -= 2;
        ft_put_text(put, amounts[i][1], amount);
    }
}

void tv_ft_visit_driver_args(struct tv_bytes text, const struct tv_ft_arg_visitor *put)
{
    struct tv_ft_driver_mark said;
    if (!tv_ft_driver_mark_parse(text, &said))
        return;
    ft_put_text(put, said.key, said.value);
    ft_put_text(put, "args", said.args);
}

/* Visit a binder transaction, and its flags in words (include/uapi/linux/android/binder.h). */
static void ft_put_transaction(const struct tv_ft_arg_visitor *put, struct tv_bytes details)
{
    static const struct {
        int64_t bit;
        const char *words;
    } bits[] = {
        {0x01, "one way, no answer"},
        {0x04, "holds the root object"},
        {0x08, "holds a status code"},
        {0x10, "the answer may hold file descriptors"},
    };
    char text[160] = "";
    int64_t flags;
    size_t length = 0;
    ft_put_pairs(put, details);
    if (!tv_ft_arg_number(details, "flags", &flags))
        return;
    for (size_t i = 0; i < TV_COUNT(bits); i++)
        if (flags & bits[i].bit)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%s",
                                       length ? "; " : "", bits[i].words);
    ft_put_text(put, "flags mean", (struct tv_bytes){(const uint8_t *)text, length});
}

/* Visit a type, such as "pulse". */
static void ft_put_type(const struct tv_ft_arg_visitor *put, struct tv_bytes details)
{
    ft_put_text(put, "type", details);
}

/* Visit the fields of "i2c-3 #0 a=020 f=0000 l=2 [15-00]". */
static void ft_put_i2c(const struct tv_ft_arg_visitor *put, struct tv_bytes details)
{
    const uint8_t *data = details.length > 0 ? memchr(details.data, '[', details.length) : NULL;
    ft_put_text(put, "Message number", tv_ft_first_word(tv_ft_after(details, "#")));
    ft_put_pairs(put, details);
    if (data)
        ft_put_text(put, "Data",
                    (struct tv_bytes){data, (size_t)(details.data + details.length - data)});
}

/* Visit the fields of i915: "write reg=0x100030, len=8" or "obj=ffff8800a88d1400, GTT index=0 ,
 * writable". A comma ends a value; a word without '=' may be before the key. */
static void ft_put_i915(const struct tv_ft_arg_visitor *put, struct tv_bytes details)
{
    struct tv_bytes item;
    for (bool more = true; more;) {
        more = tv_bytes_split(&details, ',', &item);
        item = tv_ft_skip_spaces(item);
        while (item.length > 0 && item.data[item.length - 1] == ' ')
            item.length--;
        const uint8_t *equals = item.length > 0 ? memchr(item.data, '=', item.length) : NULL;
        const uint8_t *blank = equals ? memchr(item.data, ' ', (size_t)(equals - item.data)) : NULL;
        if (blank)
            ft_put_text(put, equals - blank > 1 && equals[-1] == 'g' ? "rw" : "type",
                        (struct tv_bytes){item.data, (size_t)(blank - item.data)});
        if (equals)
            ft_put_pairs(put, item);
    }
}

/* Visit the fields of "S|6962|vertex-job|85|84|1|0|0|920d408|...": process, kind, job, the two
 * jobs that it waits for, and the context. */
static void ft_put_mali_job(const struct tv_ft_arg_visitor *put, struct tv_bytes details)
{
    static const char *const keys[] = {NULL, "pid", NULL, "job", "dep0", NULL, "dep1", NULL, "ctx"};
    struct tv_bytes field;
    for (size_t i = 0; i < TV_COUNT(keys) && tv_bytes_split(&details, '|', &field); i++)
        if (keys[i])
            ft_put_text(put, keys[i], field);
}

/* Return the text before `mark`; all of it when the mark is missing. */
static struct tv_bytes ft_text_before(struct tv_bytes text, const char *mark)
{
    struct tv_bytes behind = tv_ft_after(text, mark);
    if (behind.data)
        text.length = (size_t)(behind.data - text.data) - strlen(mark);
    return text;
}

/* Visit the fields of a function: "f(a=0x1, b=2) {", "f(); ... = 0x3" and "} ... f <-caller
 * ret=0x3" of function_graph, where "..." begins a comment, and "f <-parent". */
static void ft_put_function(const struct tv_ft_arg_visitor *put, struct tv_bytes details)
{
    struct tv_bytes said = tv_ft_after(details, "/*"), answer = tv_ft_after(said, "ret=");
    ft_put_pairs(put, ft_text_before(ft_text_before(tv_ft_after(details, "("), ") {"), ");"));
    ft_put_text(put, "caller", tv_ft_first_word(tv_ft_after(details, "<-")));
    ft_put_text(put, "ret", tv_ft_first_word(answer.data ? answer : tv_ft_after(said, "= ")));
}

void tv_ft_visit_args(struct tv_bytes event, struct tv_bytes details,
                      const struct tv_ft_arg_visitor *put)
{
    static const struct {
        const char *beginning;
        void (*put)(const struct tv_ft_arg_visitor *put, struct tv_bytes details);
    } forms[] = {
        {"sched_switch", ft_put_switch},
        {"sched_wak", ft_put_wakeup},
        {"sys_", ft_put_syscall},
        {"block_rq_", ft_put_request},
        {"ext4_", ft_put_words},
        {"f2fs_", ft_put_f2fs},
        {"lowmemory_kill", ft_put_kill},
        {"binder_transaction", ft_put_transaction},
        {"cpufreq_interactive_boost", ft_put_type},
        {"cpufreq_interactive_unboost", ft_put_type},
        {"i2c_", ft_put_i2c},
        {"i915_", ft_put_i915},
        {"mali_job_systrace_event", ft_put_mali_job},
    };
    if (event.length == 0) {
        ft_put_function(put, details);
        return;
    }
    for (size_t i = 0; i < TV_COUNT(forms); i++)
        if (tv_bytes_starts_with(event, tv_bytes_of(forms[i].beginning))) {
            forms[i].put(put, details);
            return;
        }
    ft_put_pairs(put, details);
}

/* Lines of one event that are shown. */
#define MAX_LINES 256

/* Maximum number of arguments that describe lists; "details" has all. */
#define MAX_ARGS 64

struct ft_described_event {
    struct tv_ft_line line;
    struct tv_out text;        /* all of its lines; the texts of `line` point into it */
    struct tv_out more;        /* of another event that belongs to it, see `allocated` */
    struct tv_bytes allocated; /* of a transaction: "transaction=1 data_size=2 ..."; NULL: none */
    struct tv_bytes duration;  /* of a line of function_graph: "1.3 us"; empty: none */
};

static bool ft_describe_is_mark(const struct ft_described_event *event)
{
    return tv_ft_event_continues(event->line.event);
}

/* Parse a line of function_graph as if it were an event without a name. */
static bool ft_describe_parse_call(struct ft_described_event *event, struct tv_bytes text)
{
    struct tv_ft_graph_line call;
    if (!tv_ft_graph_parse(text, &call))
        return false;
    event->line = (struct tv_ft_line){
        .task = call.task,
        .tid = call.tid,
        .tgid = TV_FT_NO_ID,
        .cpu = call.cpu,
        .flags = call.flags,
        .time = call.time,
        .details = call.kind == TV_FT_GRAPH_EVENT ? call.name : call.text,
    };
    struct tv_bytes details = tv_ft_after(call.name, ": ");
    if (call.kind == TV_FT_GRAPH_EVENT && details.data) {
        event->line.event =
            (struct tv_bytes){call.name.data, (size_t)(details.data - call.name.data) - 2};
        event->line.details = details;
    }
    event->duration = call.printed;
    return true;
}

/* Parse a line that reports lost events. */
static bool ft_describe_parse_loss(struct ft_described_event *event, struct tv_bytes text)
{
    uint32_t cpu;
    if (!tv_ft_loss_parse(text, &cpu))
        return false;
    event->line =
        (struct tv_ft_line){.tid = TV_FT_NO_ID, .tgid = TV_FT_NO_ID, .cpu = cpu, .details = text};
    return true;
}

static bool ft_describe_parse_any(struct ft_described_event *event, struct tv_bytes text)
{
    return tv_ft_line_parse(text, &event->line) || ft_describe_parse_call(event, text) ||
           ft_describe_parse_loss(event, text);
}

/* Read the next line of an event. An event may have several, as a stack has. */
static enum tv_status ft_describe_read_line(struct ft_described_event *event,
                                            struct tv_text_lines *lines, uint64_t offset,
                                            struct tv_error *err)
{
    struct tv_text_line line;
    enum tv_status status = tv_text_lines_next(lines, &line, err);
    if (status != TV_OK)
        return status;
    if (!line.none)
        tv_out_bytes(&event->text, tv_text_line_bare(line.text));
    struct tv_bytes all = {event->text.buffer, event->text.length};
    if (line.none || !ft_describe_parse_any(event, all))
        return tv_fail(err, TV_ERR_SYNTAX, offset, "no event here any more: the file changed");
    return TV_OK;
}

/* Append the lines that continue the text of a mark. */
static enum tv_status ft_describe_read_more(struct ft_described_event *event,
                                            struct tv_text_lines *lines, struct tv_error *err)
{
    size_t details = (size_t)(event->line.details.data - event->text.buffer);
    size_t first = event->text.length;
    for (unsigned i = 0; i < MAX_LINES; i++) {
        struct tv_text_line line;
        struct tv_ft_line parsed;
        enum tv_status status = tv_text_lines_next(lines, &line, err);
        if (status != TV_OK)
            return status;
        struct tv_bytes bare = tv_text_line_bare(line.text);
        if (line.none || (bare.length > 0 && bare.data[0] == '#') ||
            tv_ft_line_parse(bare, &parsed))
            break;
        tv_out_char(&event->text, '\n');
        tv_out_bytes(&event->text, bare);
    }
    /* The buffer may have moved, so parse the first line again. */
    size_t length = event->text.length;
    ft_describe_parse_any(event, (struct tv_bytes){event->text.buffer, first});
    event->line.details = (struct tv_bytes){event->text.buffer + details, length - details};
    return TV_OK;
}

/* Find the event that allocated the buffer of a binder transaction; it comes after it. */
static enum tv_status ft_describe_read_allocation(struct ft_described_event *event,
                                                  struct tv_text_lines *lines, struct tv_error *err)
{
    struct tv_bytes id = tv_ft_arg(event->line.details, "transaction");
    for (unsigned i = 0; id.length > 0 && i < MAX_LINES; i++) {
        struct tv_text_line line;
        struct tv_ft_line parsed;
        enum tv_status status = tv_text_lines_next(lines, &line, err);
        if (status != TV_OK || line.none)
            return status;
        if (!tv_ft_line_parse(tv_text_line_bare(line.text), &parsed) ||
            !tv_bytes_equal(parsed.event, TV_BYTES("binder_transaction_alloc_buf")) ||
            !tv_bytes_equal(tv_ft_arg(parsed.details, "transaction"), id))
            continue;
        tv_out_bytes(&event->more, parsed.details);
        event->allocated = (struct tv_bytes){event->more.buffer, event->more.length};
        return TV_OK;
    }
    return TV_OK;
}

/* Read the event at `offset` with the lines that belong to it: a text that a program printed may go
 * on in further lines, and a binder transaction's allocation, which ftrace writes as an event of
 * its own. */
static enum tv_status ft_describe_read_event(struct ft_described_event *event,
                                             struct tv_source *source, uint64_t offset,
                                             struct tv_error *err)
{
    struct tv_text_lines lines;
    tv_text_lines_init(&lines, source, offset, tv_source_size(source));
    enum tv_status status = ft_describe_read_line(event, &lines, offset, err);
    if (status == TV_OK && tv_ft_event_continues(event->line.event))
        status = ft_describe_read_more(event, &lines, err);
    else if (status == TV_OK && tv_bytes_equal(event->line.event, TV_BYTES("binder_transaction")))
        status = ft_describe_read_allocation(event, &lines, err);
    tv_text_lines_release(&lines);
    return status;
}

/* Arguments written so far: the first value of a key counts. */
struct ft_described_args {
    struct tv_out *out;
    struct tv_bytes keys[MAX_ARGS];
    size_t count;
};

/* Write an argument unless its key was written before.  A number is written as one only if JSON
 * would read the same digits again. */
static void ft_describe_put_pair(struct ft_described_args *args, struct tv_bytes key,
                                 struct tv_bytes value)
{
    int64_t number;
    for (size_t i = 0; i < args->count; i++)
        if (tv_bytes_equal(args->keys[i], key))
            return;
    if (args->count == MAX_ARGS)
        return;
    if (args->count > 0)
        tv_out_char(args->out, ',');
    args->keys[args->count++] = key;
    tv_out_json(args->out, key);
    tv_out_char(args->out, ':');
    bool plain = tv_ft_parse_number(value, &number) && value.length < 16 &&
                 (value.data[0] != '0' || value.length == 1);
    if (plain)
        tv_out_bytes(args->out, value);
    else
        tv_out_json(args->out, value);
}

/* Write Chrome's arguments: "key=value;key=value". */
static void ft_describe_put_chrome_args(struct ft_described_args *args, struct tv_bytes text)
{
    struct tv_bytes pair, key;
    while (text.length > 0) {
        tv_bytes_split(&text, ';', &pair);
        if (tv_bytes_split(&pair, '=', &key))
            ft_describe_put_pair(args, key, pair);
    }
}

static void ft_describe_put_argument(void *context, struct tv_bytes key, struct tv_bytes value)
{
    ft_describe_put_pair(context, key, value);
}

/* Write the arguments of an event: of a mark those of the mark, otherwise those of the line. */
static void ft_describe_put_event_args(struct ft_described_args *args,
                                       const struct ft_described_event *event)
{
    struct tv_ft_mark mark = {.phase = 0};
    struct tv_ft_arg_visitor put = {ft_describe_put_argument, args};
    if (ft_describe_is_mark(event))
        mark = tv_ft_mark_of_event(event->line.event, event->line.details);
    if (mark.phase == 0 && ft_describe_is_mark(event))
        tv_ft_visit_driver_args(mark.name, &put);
    if (mark.phase == 0)
        tv_ft_visit_args(event->line.event, event->line.details, &put);
    if (mark.args.data)
        ft_describe_put_chrome_args(args, mark.args);
    if (mark.track.data)
        ft_describe_put_pair(args, TV_BYTES("track"), mark.track);
    if (event->allocated.data)
        tv_ft_visit_args(event->line.event, event->allocated, &put);
    if (event->duration.length > 0)
        ft_describe_put_pair(args, TV_BYTES("duration"), event->duration);
}

/* A transaction ends a "binder reply".  Write its number as "answer", because the arguments of the
 * beginning already have the key "transaction". */
static void ft_describe_put_answer(struct ft_described_args *args,
                                   const struct ft_described_event *event)
{
    struct tv_bytes id = tv_ft_arg(event->line.details, "transaction");
    if (tv_bytes_equal(event->line.event, TV_BYTES("binder_transaction")) && id.length > 0)
        ft_describe_put_pair(args, TV_BYTES("answer"), id);
}

static void ft_describe_put_line(struct tv_out *out, const struct tv_ft_line *line)
{
    tv_out_text(out, ",\"event\":");
    tv_out_json(out, line->event);
    tv_out_text(out, ",\"details\":");
    tv_out_json(out, line->details);
    if (line->buffer.length > 0) {
        tv_out_text(out, ",\"buffer\":");
        tv_out_json(out, line->buffer);
    }
    tv_out_text(out, ",\"task\":");
    tv_out_json(out, line->task);
    tv_out_format(out, ",\"cpu\":%u", line->cpu);
    if (line->flags.length > 0) {
        tv_out_text(out, ",\"flags\":");
        tv_out_json(out, line->flags);
    }
}

enum tv_status tv_ft_describe(const struct tv_trace *trace, uint32_t input, uint64_t offset,
                              uint64_t end_offset, struct tv_out *out, struct tv_error *err)
{
    struct tv_source *source = trace->head->inputs[input].source;
    struct ft_described_event first = {0}, last = {0};
    struct ft_described_args args = {.out = out};
    bool ended = end_offset != TV_NO_OFFSET;
    tv_out_init_memory(&first.text);
    tv_out_init_memory(&last.text);
    tv_out_init_memory(&first.more);
    tv_out_init_memory(&last.more);
    enum tv_status status = ft_describe_read_event(&first, source, offset, err);
    if (status == TV_OK && ended)
        status = ft_describe_read_event(&last, source, end_offset, err);
    if (status == TV_OK) {
        tv_out_text(out, "{\"args\":{");
        /* The end of a program's mark has more arguments than its begin; for all others it is
         * the begin. */
        if (ended && ft_describe_is_mark(&last))
            ft_describe_put_event_args(&args, &last);
        ft_describe_put_event_args(&args, &first);
        if (ended && !ft_describe_is_mark(&last)) {
            ft_describe_put_answer(&args, &last);
            ft_describe_put_event_args(&args, &last);
        }
        tv_out_char(out, '}');
        ft_describe_put_line(out, &first.line);
        tv_out_char(out, '}');
    }
    tv_out_release(&first.text);
    tv_out_release(&last.text);
    tv_out_release(&first.more);
    tv_out_release(&last.more);
    return status;
}
