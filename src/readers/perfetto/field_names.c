/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/perfetto/field_names.h"

#include <string.h>

#include "base/sort.h"

enum {
    U = TV_PF_UNSIGNED,
    I = TV_PF_SIGNED,
    Z = TV_PF_ZIGZAG,
    B = TV_PF_BOOL,
    S = TV_PF_TEXT,
    Y = TV_PF_BLOB,
    D = TV_PF_REAL,
    E = TV_PF_ENUM,
    M = TV_PF_MESSAGE,
};

struct pf_message_names {
    const char *name;
    uint16_t first, count;
};

static const struct pf_message_names messages[] = {
#define MESSAGE(name, first, count) {name, first, count},
#include "readers/perfetto/field_names.inc"
#undef MESSAGE
};

static const struct tv_pf_member members[] = {
#define MEMBER(number, name, kind, of, repeated) {name, number, of, kind, repeated},
#include "readers/perfetto/field_names.inc"
#undef MEMBER
};

struct pf_enum_range {
    uint16_t first, count;
};

static const struct pf_enum_range enums[] = {
#define ENUM(first, count) {first, count},
#include "readers/perfetto/field_names.inc"
#undef ENUM
};

struct pf_enum_value {
    int32_t value;
    const char *name;
};

static const struct pf_enum_value enum_values[] = {
#define ENUM_VALUE(value, name) {value, name},
#include "readers/perfetto/field_names.inc"
#undef ENUM_VALUE
};

const struct tv_pf_member *tv_pf_find_member(uint32_t message, uint32_t number)
{
    if (message >= TV_COUNT(messages))
        return NULL;
    size_t at = messages[message].first, end = at + messages[message].count;
    TV_LOWER_BOUND(at, end, i, members[i].number < number);
    return at < end && members[at].number == number ? &members[at] : NULL;
}

uint32_t tv_pf_find_message(const char *name)
{
    for (uint32_t i = 0; i < TV_COUNT(messages); i++)
        if (strcmp(messages[i].name, name) == 0)
            return i;
    return TV_PF_NO_MESSAGE;
}

const char *tv_pf_enum_name(uint32_t id, int64_t value)
{
    if (id >= TV_COUNT(enums))
        return NULL;
    for (uint16_t i = 0; i < enums[id].count; i++)
        if (enum_values[enums[id].first + i].value == value)
            return enum_values[enums[id].first + i].name;
    return NULL;
}
