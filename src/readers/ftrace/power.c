/* SPDX-License-Identifier: Apache-2.0 */
/* Power management of the kernel: the steps of suspend and resume, and wake locks, as async slices
 * on tracks of their own. */
#include <stdio.h>

#include "base/bytes.h"
#include "readers/ftrace/chunk.h"
#include "readers/ftrace/fields.h"

#define LONGEST_NAME 160
#define SUSPEND_TRACK "Suspend/Resume Latency"

static struct tv_ft_async ft_power_async(struct tv_ft_chunk *chunk, const char *what,
                                         struct tv_bytes name, enum tv_ft_async_kind kind)
{
    return (struct tv_ft_async){
        .kind = kind,
        .global = 1,
        .key = tv_ft_chunk_async_key(chunk, what, TV_FT_NO_ID, name, (struct tv_bytes){NULL, 0}),
        .id = TV_EMPTY_STRING,
        .frame = tv_ft_chunk_frame(chunk, name, "power"),
    };
}

/* Return true and cut "[3] begin" off the details of suspend_resume: the action, its value and
 * whether it begins. */
static bool ft_suspend_parse(struct tv_bytes details, struct tv_bytes *action, uint64_t *value,
                             bool *begins)
{
    struct tv_bytes rest = details, number;
    if (!tv_bytes_split(&rest, '[', action) || !tv_bytes_split(&rest, ']', &number) ||
        !tv_parse_u64(number, value))
        return false;
    rest = tv_ft_first_word(rest);
    *begins = tv_bytes_equal(rest, TV_BYTES("begin")) || tv_bytes_equal(rest, TV_BYTES("1"));
    return *begins || tv_bytes_equal(rest, TV_BYTES("end")) || tv_bytes_equal(rest, TV_BYTES("0"));
}

/* Handle "suspend_enter[3] begin".  A suspend that is given up has no end of its own: its last step
 * is to thaw the processes. */
static enum tv_ft_taken ft_handle_suspend(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                                          const struct tv_ft_at *at,
                                          const struct tv_ft_event *event)
{
    struct tv_bytes action;
    uint64_t value;
    bool begins;
    char name[LONGEST_NAME];
    if (!ft_suspend_parse(line->details, &action, &value, &begins) || action.length == 0 ||
        action.length > LONGEST_NAME / 2)
        return TV_FT_MALFORMED;
    if (tv_bytes_equal(action, TV_BYTES("timekeeping_freeze")))
        value = 0; /* the number of a processor, which may differ between begin and end */
    int length = snprintf(name, sizeof name, "%.*s(%llu)", (int)action.length,
                          (const char *)action.data, (unsigned long long)value);
    struct tv_ft_async async =
        ft_power_async(chunk, event->series, action, begins ? TV_FT_ASYNC_BEGIN : TV_FT_ASYNC_END);
    async.frame =
        tv_ft_chunk_frame(chunk, (struct tv_bytes){(uint8_t *)name, (size_t)length}, "power");
    async.track = tv_ft_chunk_string(chunk, tv_bytes_of(event->title));
    tv_ft_chunk_add_async(chunk, at, &async);
    if (!begins && tv_bytes_equal(action, TV_BYTES("thaw_processes"))) {
        struct tv_ft_async given_up =
            ft_power_async(chunk, event->series, TV_BYTES("suspend_enter"), TV_FT_ASYNC_END);
        given_up.if_open = 1;
        tv_ft_chunk_add_async(chunk, at, &given_up);
    }
    return TV_FT_TAKEN;
}

/* Handle "alarmtimer state=0x10001": the source may be activated several times, and is active until
 * it is deactivated as often. */
static enum tv_ft_taken ft_handle_wakeup_source(struct tv_ft_chunk *chunk,
                                                const struct tv_ft_line *line,
                                                const struct tv_ft_at *at,
                                                const struct tv_ft_event *event)
{
    struct tv_bytes source = line->details;
    char name[LONGEST_NAME];
    size_t length = 0;
    const struct tv_bytes state = TV_BYTES(" state=");
    while (length < source.length &&
           !tv_bytes_starts_with((struct tv_bytes){source.data + length, source.length - length},
                                 state))
        length++;
    if (length == 0 || length == source.length)
        return TV_FT_MALFORMED;
    source.length = length;
    length = tv_ft_format_title(name, sizeof name, "Wakelock(*)", source);
    struct tv_bytes text = {(uint8_t *)name, length};
    struct tv_ft_async async = ft_power_async(
        chunk, "wakelock", text, event->value[0] == 'B' ? TV_FT_ASYNC_BEGIN : TV_FT_ASYNC_END);
    async.counted = 1;
    async.track = tv_ft_chunk_string(chunk, text);
    tv_ft_chunk_add_async(chunk, at, &async);
    return TV_FT_TAKEN;
}

const struct tv_ft_event tv_ft_power_events[] = {
    {.name = "suspend_resume",
     .handle = ft_handle_suspend,
     .series = "suspend",
     .title = SUSPEND_TRACK},
    {.name = "wakeup_source_activate", .handle = ft_handle_wakeup_source, .value = "B"},
    {.name = "wakeup_source_deactivate", .handle = ft_handle_wakeup_source, .value = "E"},
    {.name = NULL},
};
