/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/trace_event/flow_ids.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/number.h"

/* ---- Texts ---- */

/* Whether the text is what the number is written as; it has more than one digit. */
static bool te_flow_id_is_decimal(struct tv_bytes text, uint64_t *number)
{
    return text.data[0] != '0' && tv_parse_u64(text, number);
}

static bool te_flow_id_is_hex(struct tv_bytes text, uint64_t *number)
{
    if (text.data[0] != '0' || text.data[1] != 'x' || text.data[2] == '0' || text.length > 18)
        return false;
    *number = 0;
    for (size_t i = 2; i < text.length; i++) {
        uint8_t c = text.data[i];
        bool digit = c >= '0' && c <= '9';
        if (!digit && (c < 'a' || c > 'f'))
            return false;
        *number = *number << 4 | (uint64_t)(digit ? c - '0' : c - 'a' + 10);
    }
    return true;
}

struct tv_te_flow_id tv_te_flow_id_of(struct tv_bytes text, bool string,
                                      struct tv_interner **longer)
{
    struct tv_te_flow_id id = {0, string ? TV_TE_FLOW_STRING : 0};
    if (text.length <= sizeof id.bits) {
        id.form |= (uint8_t)text.length;
        if (text.length > 0)
            memcpy(&id.bits, text.data, text.length);
    } else if (te_flow_id_is_decimal(text, &id.bits)) {
        id.form |= TV_TE_FLOW_DECIMAL;
    } else if (te_flow_id_is_hex(text, &id.bits)) {
        id.form |= TV_TE_FLOW_HEX;
    } else {
        if (*longer == NULL)
            *longer = tv_interner_new();
        id.form |= TV_TE_FLOW_LONG;
        id.bits = tv_interner_add(*longer, text);
    }
    return id;
}

struct tv_bytes tv_te_flow_id_text(const struct tv_te_flow_id *id, const struct tv_interner *longer,
                                   char room[TV_TE_FLOW_ROOM])
{
    unsigned form = id->form & TV_TE_FLOW_TEXT;
    if (form <= sizeof id->bits)
        return (struct tv_bytes){(const uint8_t *)&id->bits, form};
    if (form == TV_TE_FLOW_LONG)
        return tv_interner_get(longer, (uint32_t)id->bits);
    snprintf(room, TV_TE_FLOW_ROOM, form == TV_TE_FLOW_HEX ? "0x%" PRIx64 : "%" PRIu64, id->bits);
    return tv_bytes_of(room);
}

/* ---- Keys ---- */

/* The hash stands beside the number, so that few keys are looked at in vain. */
struct tv_te_flow_place {
    uint32_t hash;
    uint32_t number; /* and 1; 0: free */
};

#define FIRST_PLACES ((size_t)1024)

static size_t te_flow_keys_bytes(size_t places)
{
    return tv_size_mul(places, sizeof(struct tv_te_flow_place));
}

void tv_te_flow_keys_freeze(struct tv_te_flow_keys *keys)
{
    if (keys->places)
        tv_pages_free(keys->places, te_flow_keys_bytes(keys->place_count));
    keys->places = NULL;
    keys->place_count = 0;
}

void tv_te_flow_keys_release(struct tv_te_flow_keys *keys)
{
    tv_te_flow_keys_freeze(keys);
    tv_free(keys->rows);
    *keys = (struct tv_te_flow_keys){.rows = NULL};
}

static TV_NOINLINE void te_flow_keys_grow(struct tv_te_flow_keys *keys)
{
    size_t count = keys->place_count ? tv_size_mul(keys->place_count, 2) : FIRST_PLACES;
    struct tv_te_flow_place *places = tv_pages_alloc(te_flow_keys_bytes(count));
    for (size_t i = 0; i < keys->place_count; i++) {
        struct tv_te_flow_place moved = keys->places[i];
        size_t at = moved.hash & (count - 1);
        if (moved.number == 0)
            continue;
        while (places[at].number != 0)
            at = (at + 1) & (count - 1);
        places[at] = moved;
    }
    tv_te_flow_keys_freeze(keys);
    keys->places = places;
    keys->place_count = count;
}

static bool te_flow_keys_equal(const struct tv_te_flow_key *a, const struct tv_te_flow_key *b)
{
    return a->bits == b->bits && a->frame == b->frame && a->form == b->form;
}

uint32_t tv_te_flow_keys_add(struct tv_te_flow_keys *keys, struct tv_te_flow_key key)
{
    uint64_t beside = (uint64_t)key.frame << 8 | key.form;
    uint32_t hash = (uint32_t)tv_hash_u64(key.bits ^ beside * UINT64_C(0x9e3779b97f4a7c15));
    if (TV_UNLIKELY(keys->count >= keys->place_count / 4 * 3))
        te_flow_keys_grow(keys);
    size_t at = hash & (keys->place_count - 1);
    for (; keys->places[at].number != 0; at = (at + 1) & (keys->place_count - 1))
        if (keys->places[at].hash == hash &&
            te_flow_keys_equal(&keys->rows[keys->places[at].number - 1], &key))
            return keys->places[at].number - 1;
    if (keys->count >= TV_NONE - 1)
        tv_memory_exhausted();
    keys->rows = tv_array_reserve(keys->rows, &keys->capacity, keys->count + 1, sizeof *keys->rows);
    keys->rows[keys->count++] = key;
    keys->places[at] = (struct tv_te_flow_place){hash, (uint32_t)keys->count};
    return (uint32_t)keys->count - 1;
}
