/* SPDX-License-Identifier: Apache-2.0 */
/* homes.c - see homes.h. */
#include "recorder/homes.h"

#include <stdio.h>
#include <string.h>

#include "recorder/pages.h"
#include "recorder/recording.h"

#define ADDRESS_BITS 48
#define ADDRESS_MASK ((UINT64_C(1) << ADDRESS_BITS) - 1)

static struct tv_module_span *find_same(const struct tv_module_history *homes, const struct tv_module_span *home)
{
    for (uint32_t i = 0; i < homes->count; i++) {
        struct tv_module_span *known = &homes->list[i];
        if (known->start == home->start && known->end == home->end && known->from == home->from &&
            strcmp(known->path, home->path) == 0)
            return known;
    }
    return NULL;
}

bool tv_module_history_add(struct tv_module_history *homes, const struct tv_module_span *home)
{
    struct tv_module_span *same = find_same(homes, home);
    if (!homes->list)
        homes->list = tv_mmap_alloc(TV_MODULE_SPANS_MAX * sizeof *homes->list);
    if (same)
        *same = *home;
    if (same || !homes->list || homes->count == TV_MODULE_SPANS_MAX)
        return same != NULL;
    homes->list[homes->count++] = *home;
    return true;
}

void tv_module_history_release(struct tv_module_history *homes)
{
    tv_mmap_free(homes->list, TV_MODULE_SPANS_MAX * sizeof *homes->list);
    *homes = (struct tv_module_history){0};
}

static bool is_within(const struct tv_module_span *home, uint64_t address)
{
    return address >= home->start && address < home->end;
}

static uint32_t find_only(const struct tv_module_history *homes, uint64_t address)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < homes->count; i++) {
        if (!is_within(&homes->list[i], address))
            continue;
        if (found != 0 && strcmp(homes->list[found - 1].path, homes->list[i].path) != 0)
            return 0;
        found = i + 1;
    }
    return found;
}

static bool was_at(const struct tv_module_span *home, uint64_t address, uint64_t ticks)
{
    return is_within(home, address) && ticks > home->from && ticks <= home->to;
}

uint32_t tv_module_history_find(struct tv_module_history *homes, uint64_t address, uint64_t ticks)
{
    if (ticks == TV_MODULE_TIME_NONE)
        return find_only(homes, address);
    if (homes->recent > 0 && was_at(&homes->list[homes->recent - 1], address, ticks))
        return homes->recent;
    for (uint32_t i = 0; i < homes->count; i++)
        if (was_at(&homes->list[i], address, ticks))
            return homes->recent = i + 1;
    return 0;
}

uint64_t tv_module_history_key(struct tv_module_history *homes, uint64_t address, uint64_t ticks)
{
    if (address > ADDRESS_MASK)
        return address;
    return address | (uint64_t)tv_module_history_find(homes, address, ticks) << ADDRESS_BITS;
}

const struct tv_module_span *tv_module_history_span(const struct tv_module_history *homes, uint64_t key)
{
    uint64_t number = key >> ADDRESS_BITS;
    return number > 0 && number <= homes->count ? &homes->list[number - 1] : NULL;
}

uint64_t tv_module_key_address(uint64_t key)
{
    return key & ADDRESS_MASK;
}

void tv_module_history_name(const struct tv_module_history *homes, uint64_t key, struct tv_recording_method *method,
                   char *room, size_t size)
{
    const struct tv_module_span *home = tv_module_history_span(homes, key);
    uint64_t address = home ? tv_module_key_address(key) - home->bias : key;
    snprintf(room, size, "0x%llx", (unsigned long long)address);
    method->name = room;
    if (!home)
        return;
    const char *slash = strrchr(home->path, '/');
    method->class_name = slash ? slash + 1 : home->path;
    method->file = home->path;
}
