/* SPDX-License-Identifier: Apache-2.0 */
/* task_states.c - states of tasks as the kernels of all times number them (reading.h). */
#include "base/bytes.h"
#include "readers/ftrace/fields.h"
#include "readers/perfetto/reading.h"

/* Parse the kernel's version: "5.10.43-android12". */
void tv_pf_set_kernel(struct tv_pf_reading *reading, struct tv_bytes release)
{
    struct tv_bytes major, minor, rest = release;
    uint64_t version, level;
    size_t length = 0;
    if (!tv_bytes_split(&rest, '.', &major) || !tv_parse_u64(major, &version))
        return;
    while (length < rest.length && tv_ft_is_digit(rest.data[length]))
        length++;
    minor = (struct tv_bytes){rest.data, length};
    if (!tv_parse_u64(minor, &level))
        return;
    reading->kernel.is_known = true;
    reading->kernel.is_old = version < 4 || (version == 4 && level < 14);
    reading->kernel.preempted_low = version < 4 || (version == 4 && level < 8);
}

/* Return the state for the bits of kernels before 4.14. */
static enum tv_ft_state pf_old_state(const struct tv_pf_reading *reading, uint64_t bits)
{
    static const struct {
        uint64_t bit;
        enum tv_ft_state state;
    } table[] = {
        {1, TV_FT_SLEEPING},   {2, TV_FT_BLOCKED},  {4, TV_FT_STOPPED},    {8, TV_FT_TRACED},
        {16, TV_FT_EXIT_DEAD}, {32, TV_FT_ZOMBIE},  {64, TV_FT_TASK_DEAD}, {128, TV_FT_WAKE_KILL},
        {256, TV_FT_WAKING},   {512, TV_FT_PARKED},
    };
    uint64_t preempted = reading->kernel.preempted_low && reading->kernel.is_known ? 2048 : 4096;
    if ((bits & 0x402) == 0x402)
        return TV_FT_IDLE;
    if ((bits & 2) && (bits & 128))
        return TV_FT_BLOCKED_KILLABLE;
    for (size_t i = 0; i < TV_COUNT(table); i++)
        if (bits & table[i].bit)
            return table[i].state;
    return bits & preempted ? TV_FT_PREEMPTED : TV_FT_RUNNABLE;
}

enum tv_ft_state tv_pf_task_state(const struct tv_pf_reading *reading, int64_t state)
{
    static const uint8_t states[] = {TV_FT_SLEEPING,  TV_FT_BLOCKED, TV_FT_STOPPED, TV_FT_TRACED,
                                     TV_FT_EXIT_DEAD, TV_FT_ZOMBIE,  TV_FT_PARKED,  TV_FT_IDLE};
    uint64_t bits = (uint64_t)state & 0xffff;
    if (!reading->kernel.is_known || reading->kernel.is_old)
        return pf_old_state(reading, bits);
    for (unsigned i = 0; i < TV_COUNT(states); i++)
        if (bits >> i & 1)
            return (enum tv_ft_state)states[i];
    return bits & 256 ? TV_FT_PREEMPTED : bits > 256 ? TV_FT_UNKNOWN : TV_FT_RUNNABLE;
}

int64_t tv_pf_task_bits(const struct tv_pf_reading *reading, struct tv_bytes name)
{
    /* One bit each, and the combinations that are states of their own: killable, idle. */
    static const int64_t numbers[] = {0,   1,   2,   4,   8,    16,   32,  64,
                                      128, 256, 512, 130, 1026, 2048, 4096};
    enum tv_ft_state state = tv_ft_find_state(name);
    if (state == TV_FT_BLOCKED_IO)
        state = TV_FT_BLOCKED; /* the reason that is told apart makes the difference */
    for (size_t i = 0; i < TV_COUNT(numbers); i++)
        if (tv_pf_task_state(reading, numbers[i]) == state)
            return numbers[i];
    return 0;
}
