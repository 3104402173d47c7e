/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/inlined.h"

#include <assert.h>
#include <dwarf.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"

/* Namespaces and classes around a function, and scopes in it.  Files nest deeper only by damage. */
#define MAX_CONTAINERS 32u
#define MAX_SCOPES 512u

/* A range of addresses of a function. */
struct inlined_range {
    uint64_t start, end;
    Dwarf_Off function;
};

/* Entries of a damaged file may share one long list of ranges. */
#define MAX_RANGES ((size_t)1 << 22) /* of all functions of a file */

struct tv_inlined_unit {
    struct inlined_range *ranges; /* sorted by start */
    size_t count, capacity;
};

void tv_inlined_init(struct tv_inlined *inlined, Dwarf *dwarf)
{
    *inlined = (struct tv_inlined){.dwarf = dwarf};
    tv_map_init(&inlined->numbers);
}

void tv_inlined_release(struct tv_inlined *inlined)
{
    for (size_t i = 0; i < inlined->count; i++)
        tv_free(inlined->units[i].ranges);
    tv_free(inlined->units);
    tv_map_release(&inlined->numbers);
}

/* ---- Functions of a unit ---- */

static void inlined_add_function(struct tv_inlined *inlined, struct tv_inlined_unit *unit,
                                 Dwarf_Die *function)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t next = 0;
    while (inlined->range_count < MAX_RANGES &&
           (next = dwarf_ranges(function, next, &base, &start, &end)) > 0) {
        if (start >= end)
            continue;
        unit->ranges =
            tv_array_reserve(unit->ranges, &unit->capacity, unit->count + 1, sizeof *unit->ranges);
        unit->ranges[unit->count++] = (struct inlined_range){start, end, dwarf_dieoffset(function)};
        inlined->range_count++;
    }
}

static bool inlined_is_container(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
           tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

/* Add the functions of the unit: C++ has them also in namespaces, and Rust has all of them there.
 * `open` are the entries on the way to the current one. */
static void inlined_add_functions(struct tv_inlined *inlined, struct tv_inlined_unit *unit,
                                  Dwarf_Die *top)
{
    Dwarf_Die open[MAX_CONTAINERS];
    Dwarf_Off before = 0;
    size_t depth = 0;
    bool more = dwarf_child(top, &open[0]) == 0;
    while (more) {
        Dwarf_Die *die = &open[depth];
        int tag = dwarf_tag(die);
        if (dwarf_dieoffset(die) <= before)
            break; /* damage: an entry whose sibling is one of its children would be read again */
        before = dwarf_dieoffset(die);
        if (tag == DW_TAG_subprogram)
            inlined_add_function(inlined, unit, die);
        if (inlined_is_container(tag) && depth + 1 < MAX_CONTAINERS &&
            dwarf_child(die, &open[depth + 1]) == 0) {
            depth++;
            continue;
        }
        while ((more = dwarf_siblingof(&open[depth], &open[depth]) == 0) == false && depth > 0)
            depth--;
    }
}

static int inlined_compare_ranges(const void *left, const void *right)
{
    const struct inlined_range *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->function > b->function) - (a->function < b->function);
}

/* Return the unit with its functions, which are read when it is first asked for. */
static const struct tv_inlined_unit *inlined_unit(struct tv_inlined *inlined, Dwarf_Die *die)
{
    uint32_t number = tv_map_add(&inlined->numbers, dwarf_dieoffset(die), (uint32_t)inlined->count);
    if (number < inlined->count)
        return &inlined->units[number];
    inlined->units = tv_array_reserve(inlined->units, &inlined->capacity, inlined->count + 1,
                                      sizeof *inlined->units);
    struct tv_inlined_unit *unit = &inlined->units[inlined->count++];
    *unit = (struct tv_inlined_unit){.count = 0};
    inlined_add_functions(inlined, unit, die);
    if (unit->count > 0)
        qsort(unit->ranges, unit->count, sizeof *unit->ranges, inlined_compare_ranges);
    return unit;
}

/* ---- Scopes of an address ---- */

static bool inlined_is_scope(int tag)
{
    return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
           tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

/* Replace a scope by the one in it that contains the address.  Return false when there is none. */
static bool inlined_enter_scope(Dwarf_Die *scope, uint64_t address)
{
    Dwarf_Die child;
    bool more = dwarf_child(scope, &child) == 0;
    for (; more; more = dwarf_siblingof(&child, &child) == 0) {
        if (inlined_is_scope(dwarf_tag(&child)) && dwarf_haspc(&child, address) > 0) {
            *scope = child;
            return true;
        }
    }
    return false;
}

size_t tv_inlined_find(struct tv_inlined *inlined, Dwarf_Die *unit, uint64_t address,
                       Dwarf_Die *found, size_t room)
{
    const struct tv_inlined_unit *functions = inlined_unit(inlined, unit);
    size_t low = 0, count = 0;
    TV_LOWER_BOUND(low, functions->count, i, functions->ranges[i].start <= address);
    Dwarf_Die scope;
    if (low == 0 || address >= functions->ranges[low - 1].end ||
        !dwarf_offdie(inlined->dwarf, functions->ranges[low - 1].function, &scope))
        return 0;
    for (unsigned depth = 0; depth < MAX_SCOPES && count < room; depth++) {
        if (!inlined_enter_scope(&scope, address))
            break;
        if (dwarf_tag(&scope) == DW_TAG_inlined_subroutine)
            found[count++] = scope;
    }
    assert(count <= room);
    return count;
}

const char *tv_inlined_name(Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    const char *name = NULL;
    if (dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute) ||
        dwarf_attr_integrate(function, DW_AT_MIPS_linkage_name, &attribute))
        name = dwarf_formstring(&attribute);
    return name ? name : dwarf_diename(function);
}

int32_t tv_inlined_call_line(Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    Dwarf_Word line = 0;
    if (!dwarf_attr(function, DW_AT_call_line, &attribute) ||
        dwarf_formudata(&attribute, &line) != 0 || line > INT32_MAX)
        return 0;
    return (int32_t)line;
}
