/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/ftrace/details.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "readers/ftrace/args.h"
#include "readers/ftrace/said.h"

static void put_text(const struct tv_ft_put *put, const char *key, struct tv_bytes value)
{
    if (value.length > 0)
        put->pair(put->context, tv_bytes_of(key), value);
}

/* ---- key=value ---- */

static bool is_before_key(uint8_t c)
{
    return c == ' ' || c == ',' || c == '(' || c == '[';
}

/* Where the key in front of the '=' at `sign` begins: f2fs writes "ino = 12". */
static size_t key_start(struct tv_bytes text, size_t sign)
{
    size_t key = sign;
    while (key > 0 && text.data[key - 1] == ' ')
        key--;
    while (key > 0 && !is_before_key(text.data[key - 1]))
        key--;
    return key;
}

/* How long the value at the beginning is: up to the space before the next key, or the end. */
static size_t value_length(struct tv_bytes text)
{
    for (size_t i = 1; i < text.length; i++) {
        if (text.data[i] != '=')
            continue;
        /* "S ==> next_comm=b": an arrow is no key, and no value goes on behind it. */
        bool arrow = text.data[i - 1] == ' ' && i + 1 < text.length && text.data[i + 1] == '=';
        size_t key = arrow ? i : key_start(text, i);
        if (key > 1 && text.data[key - 1] != ' ' && text.data[key - 2] == ' ')
            return key - 2;
        if (key > 0)
            return key - 1;
    }
    return text.length;
}

/* A number may have a unit behind it ("12 [ns]"), and lists have commas. */
static struct tv_bytes tidy(struct tv_bytes value)
{
    int64_t number;
    while (value.length > 0 && value.data[value.length - 1] == ',')
        value.length--;
    const uint8_t *open = value.length > 0 ? memchr(value.data, '[', value.length) : NULL;
    if (!open && value.length > 0 && value.data[value.length - 1] == ']')
        value.length--;
    if (open && open - value.data > 1 && open[-1] == ' ') {
        struct tv_bytes head = {value.data, (size_t)(open - value.data) - 1};
        if (tv_ft_number(head, &number))
            return head;
    }
    return value;
}

/* f2fs writes "ino = 12". */
static struct tv_bytes without_blanks(struct tv_bytes text)
{
    while (text.length > 0 && text.data[0] == ' ') {
        text.data++;
        text.length--;
    }
    return text;
}

/* Every key=value; a value may hold spaces ("comm=a b pid=1"). */
static void put_pairs(const struct tv_ft_put *put, struct tv_bytes text)
{
    for (size_t at = 0; at < text.length;) {
        const uint8_t *equals = memchr(text.data + at, '=', text.length - at);
        if (!equals)
            return;
        size_t sign = (size_t)(equals - text.data), end = sign;
        while (end > at && text.data[end - 1] == ' ')
            end--;
        size_t key = end;
        while (key > at && !is_before_key(text.data[key - 1]))
            key--;
        struct tv_bytes rest = {text.data + sign + 1, text.length - sign - 1};
        rest = without_blanks(rest);
        size_t length = value_length(rest);
        if (key < end && rest.length > 0 && rest.data[0] != '=')
            put->pair(put->context, (struct tv_bytes){text.data + key, end - key},
                      tidy((struct tv_bytes){rest.data, length}));
        at = (size_t)(rest.data - text.data) + length;
    }
}

/* ---- Other forms ---- */

/* The plugin of trace-cmd: "bash:10 [120] S ==> other:11 [120]"; others write pairs. */
static void put_switch(const struct tv_ft_put *put, struct tv_bytes details)
{
    struct tv_ft_end from, to;
    struct tv_bytes rest = details;
    if (tv_ft_behind(details, "prev_pid=").data || !tv_ft_take_end(&rest, &from)) {
        put_pairs(put, details);
        return;
    }
    put_text(put, "prev_comm", from.name);
    put_text(put, "prev_pid", from.tid);
    put_text(put, "prev_prio", from.priority);
    put_text(put, "prev_state", tv_ft_word(rest));
    rest = tv_ft_behind(rest, "==> ");
    if (rest.data == NULL || !tv_ft_take_end(&rest, &to))
        return;
    put_text(put, "next_comm", to.name);
    put_text(put, "next_pid", to.tid);
    put_text(put, "next_prio", to.priority);
}

/* The same of a wake-up: "bash:10 [120] success=1 CPU:001". */
static void put_wakeup(const struct tv_ft_put *put, struct tv_bytes details)
{
    struct tv_ft_end end;
    struct tv_bytes rest = details;
    if (tv_ft_behind(details, " pid=").data || !tv_ft_take_end(&rest, &end)) {
        put_pairs(put, details);
        return;
    }
    put_text(put, "comm", end.name);
    put_text(put, "pid", end.tid);
    put_text(put, "prio", end.priority);
    put_text(put, "success", tv_ft_arg(rest, "success"));
    put_text(put, "target_cpu", tv_ft_word(tv_ft_behind(rest, "CPU:")));
}

/* How long the value at the beginning is, up to the comma before the next "key: ". */
static size_t said_length(struct tv_bytes text)
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

/* "dfd: ffffff9c, filename: 7f" */
static void put_said_pairs(const struct tv_ft_put *put, struct tv_bytes text)
{
    while (text.length > 0) {
        struct tv_bytes key, value;
        text = without_blanks(text);
        if (!tv_bytes_split(&text, ':', &key))
            return;
        value = without_blanks(text);
        value.length = said_length(value);
        if (key.length > 0 && value.length > 0)
            put->pair(put->context, key, value);
        size_t used = (size_t)(value.data - text.data) + value.length;
        used += used < text.length; /* the comma */
        text = (struct tv_bytes){text.data + used, text.length - used};
    }
}

/* "(dfd: 9c, filename: 7f)" and "-> 0x3" of the kernel; "dfd: 0x9c, filename: 0x7f", "0x3", and
 * "NR 3 (9c, 7f)" and "NR 3 = 5" of events. */
static void put_syscall(const struct tv_ft_put *put, struct tv_bytes details)
{
    struct tv_bytes number = tv_ft_behind(details, "NR "), result = tv_ft_behind(details, "-> ");
    struct tv_bytes inside = tv_ft_behind(details, "(");
    int64_t value;
    if (inside.length > 0 && inside.data[inside.length - 1] == ')')
        inside.length--;
    if (number.data) {
        put_text(put, "NR", tv_ft_word(number));
        put_text(put, "args", inside);
        put_text(put, "ret", tv_ft_word(tv_ft_behind(number, "= ")));
    } else if (result.data || tv_ft_number(details, &value)) {
        put_text(put, "ret", result.data ? result : details);
    } else {
        put_said_pairs(put, details.length > 0 && details.data[0] == '(' ? inside : details);
    }
}

/* "179,0 WS 0 () 3427120 + 16 [mmcqd/0]": the number in brackets is the error, when it is done. */
static void put_request(const struct tv_ft_put *put, struct tv_bytes details)
{
    struct tv_bytes device, sector = tv_ft_behind(details, ") ");
    struct tv_bytes count = tv_ft_behind(details, " + "), error = tv_ft_behind(details, " [");
    int64_t number;
    if (!tv_bytes_split(&details, ' ', &device) || sector.data == NULL)
        return;
    put_text(put, "device", device);
    put_text(put, "rwbs", tv_ft_word(details));
    put_text(put, "sector", tv_ft_word(sector));
    put_text(put, "numSectors", tv_ft_word(count));
    if (error.length > 1 && error.data[error.length - 1] == ']')
        error.length--;
    if (tv_ft_number(error, &number))
        put_text(put, "error", error);
}

/* "dev 259,1 ino 81993 pos 0 len 75 ret 0": words in pairs. */
static void put_words(const struct tv_ft_put *put, struct tv_bytes details)
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

/* "dev = (259,14), ino = 4882, ..., ret = 0" */
static void put_f2fs(const struct tv_ft_put *put, struct tv_bytes details)
{
    struct tv_bytes device = tv_ft_behind(details, "dev = ("), rest = device;
    if (rest.data && tv_bytes_split(&rest, ')', &device))
        put_text(put, "device", device);
    put_text(put, "inode", tv_ft_arg(details, "ino"));
    put_text(put, "error", tv_ft_arg(details, "ret"));
    put_pairs(put, rest.data ? rest : details);
}

/* "d.process.media (10517), page cache 311740kB (limit 322560kB), free -1456Kb" */
static void put_kill(const struct tv_ft_put *put, struct tv_bytes details)
{
    struct tv_bytes name, pid, rest = details;
    if (!tv_bytes_split(&rest, '(', &name) || !tv_bytes_split(&rest, ')', &pid))
        return;
    while (name.length > 0 && name.data[name.length - 1] == ' ')
        name.length--;
    put_text(put, "killed_name", name);
    put_text(put, "killed_pid", pid);
    static const char *const amounts[][2] = {{"page cache ", "cache"}, {", free ", "free"}};
    for (size_t i = 0; i < TV_COUNT(amounts); i++) {
        struct tv_bytes amount = tv_ft_word(tv_ft_behind(rest, amounts[i][0]));
        if (amount.length > 2)
            amount.length -= 2;
        put_text(put, amounts[i][1], amount);
    }
}

/* What drivers and libraries of Chrome OS wrote (said.c). */
void tv_ft_put_said(struct tv_bytes text, const struct tv_ft_put *put)
{
    struct tv_ft_said said;
    if (!tv_ft_said_parse(text, &said))
        return;
    put_text(put, said.key, said.value);
    put_text(put, "args", said.args);
}

/* Flags of include/uapi/linux/android/binder.h. */
static void put_transaction(const struct tv_ft_put *put, struct tv_bytes details)
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
    put_pairs(put, details);
    if (!tv_ft_arg_number(details, "flags", &flags))
        return;
    for (size_t i = 0; i < TV_COUNT(bits); i++)
        if (flags & bits[i].bit)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%s",
                                       length ? "; " : "", bits[i].words);
    put_text(put, "flags mean", (struct tv_bytes){(const uint8_t *)text, length});
}

/* "pulse" */
static void put_type(const struct tv_ft_put *put, struct tv_bytes details)
{
    put_text(put, "type", details);
}

/* "i2c-3 #0 a=020 f=0000 l=2 [15-00]" */
static void put_i2c(const struct tv_ft_put *put, struct tv_bytes details)
{
    const uint8_t *data = details.length > 0 ? memchr(details.data, '[', details.length) : NULL;
    put_text(put, "Message number", tv_ft_word(tv_ft_behind(details, "#")));
    put_pairs(put, details);
    if (data)
        put_text(put, "Data",
                 (struct tv_bytes){data, (size_t)(details.data + details.length - data)});
}

/* "write reg=0x100030, len=8", "obj=ffff8800a88d1400, GTT index=0 , writable": commas end values,
 * a word without '=' stands before the key. */
static void put_i915(const struct tv_ft_put *put, struct tv_bytes details)
{
    struct tv_bytes item;
    for (bool more = true; more;) {
        more = tv_bytes_split(&details, ',', &item);
        item = without_blanks(item);
        while (item.length > 0 && item.data[item.length - 1] == ' ')
            item.length--;
        const uint8_t *equals = item.length > 0 ? memchr(item.data, '=', item.length) : NULL;
        const uint8_t *blank = equals ? memchr(item.data, ' ', (size_t)(equals - item.data)) : NULL;
        if (blank)
            put_text(put, equals - blank > 1 && equals[-1] == 'g' ? "rw" : "type",
                     (struct tv_bytes){item.data, (size_t)(blank - item.data)});
        if (equals)
            put_pairs(put, item);
    }
}

/* "S|6962|vertex-job|85|84|1|0|0|920d408|...": process, kind, job, two that it waits for, context.
 */
static void put_mali_job(const struct tv_ft_put *put, struct tv_bytes details)
{
    static const char *const keys[] = {NULL, "pid", NULL, "job", "dep0", NULL, "dep1", NULL, "ctx"};
    struct tv_bytes field;
    for (size_t i = 0; i < TV_COUNT(keys) && tv_bytes_split(&details, '|', &field); i++)
        if (keys[i])
            put_text(put, keys[i], field);
}

/* All when the mark is not there. */
static struct tv_bytes before(struct tv_bytes text, const char *mark)
{
    struct tv_bytes behind = tv_ft_behind(text, mark);
    if (behind.data)
        text.length = (size_t)(behind.data - text.data) - strlen(mark);
    return text;
}

/* "f(a=0x1, b=2) {", "f(); ... = 0x3" and "} ... f <-caller ret=0x3" of function_graph, where "..."
 * begins a comment, and "f <-parent". */
static void put_function(const struct tv_ft_put *put, struct tv_bytes details)
{
    struct tv_bytes said = tv_ft_behind(details, "/*"), answer = tv_ft_behind(said, "ret=");
    put_pairs(put, before(before(tv_ft_behind(details, "("), ") {"), ");"));
    put_text(put, "caller", tv_ft_word(tv_ft_behind(details, "<-")));
    put_text(put, "ret", tv_ft_word(answer.data ? answer : tv_ft_behind(said, "= ")));
}

void tv_ft_put_details(struct tv_bytes event, struct tv_bytes details, const struct tv_ft_put *put)
{
    static const struct {
        const char *beginning;
        void (*put)(const struct tv_ft_put *put, struct tv_bytes details);
    } forms[] = {
        {"sched_switch", put_switch},
        {"sched_wak", put_wakeup},
        {"sys_", put_syscall},
        {"block_rq_", put_request},
        {"ext4_", put_words},
        {"f2fs_", put_f2fs},
        {"lowmemory_kill", put_kill},
        {"binder_transaction", put_transaction},
        {"cpufreq_interactive_boost", put_type},
        {"cpufreq_interactive_unboost", put_type},
        {"i2c_", put_i2c},
        {"i915_", put_i915},
        {"mali_job_systrace_event", put_mali_job},
    };
    if (event.length == 0) {
        put_function(put, details);
        return;
    }
    for (size_t i = 0; i < TV_COUNT(forms); i++)
        if (tv_bytes_starts_with(event, tv_bytes_of(forms[i].beginning))) {
            forms[i].put(put, details);
            return;
        }
    put_pairs(put, details);
}
