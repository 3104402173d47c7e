/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_values.c - the value types of a trace, one for each name.
 *
 * Each input has value types of its own.  Types with one name are one value for the user, such as
 * "alloc_space" of two profiles: their samples are added, provided that the units agree.  Weights
 * in different units cannot be added, so asking for their sum is an error; counts and times still
 * can.
 */
#include "analysis/calltree/sample_values.h"

#include <assert.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/out.h"

/* Maximum number of names that a message lists. */
#define NAMES_LISTED 20

struct tv_sample_values tv_sample_values_of(const struct tv_trace *trace)
{
    struct tv_sample_values values = {NULL, 0};
    struct tv_map by_name;
    tv_map_init(&by_name);
    values.list = tv_alloc(trace->tables.value_types.count, sizeof *values.list);
    for (size_t i = 0; i < trace->tables.value_types.count; i++) {
        const struct tv_value_type *type = &trace->tables.value_types.rows[i];
        uint32_t place = tv_map_add(&by_name, type->name, (uint32_t)values.count);
        struct tv_sample_value *value = &values.list[place];
        if (place == values.count)
            values.list[values.count++] =
                (struct tv_sample_value){.name = type->name, .unit = type->unit};
        value->samples += type->samples;
        tv_time_add(&value->total, type->total);
        value->preferred |= type->preferred;
        value->counted |= type->counted;
        value->disagrees |= value->unit != type->unit;
    }
    tv_map_release(&by_name);
    return values;
}

void tv_sample_values_release(struct tv_sample_values *values)
{
    tv_free(values->list);
    *values = (struct tv_sample_values){NULL, 0};
}

const struct tv_sample_value *tv_sample_values_default(const struct tv_sample_values *values)
{
    assert(values->count == 0 || values->list);
    for (size_t i = 0; i < values->count; i++)
        if (values->list[i].preferred)
            return &values->list[i];
    return values->count > 0 ? &values->list[0] : NULL;
}

struct tv_bytes tv_weight_axis_unit(const struct tv_trace *trace)
{
    const struct tv_tables *tables = &trace->tables;
    assert(!tv_trace_info_has_times(trace->head));
    uint32_t unit = tables->value_types.count > 0 ? tables->value_types.rows[0].unit
                                                  : (uint32_t)TV_EMPTY_STRING;
    for (size_t i = 1; i < tables->value_types.count; i++)
        if (tables->value_types.rows[i].unit != unit)
            return TV_BYTES("");
    return tv_trace_info_text(trace->head, unit);
}

/* Fail with the names that exist. */
static enum tv_status sample_values_fail(const struct tv_trace *trace,
                                         const struct tv_sample_values *values, const char *name,
                                         struct tv_error *err)
{
    struct tv_out names;
    if (values->count == 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--value: the trace has no samples");
    tv_out_init_memory(&names);
    for (size_t i = 0; i < values->count && i < NAMES_LISTED; i++) {
        tv_out_text(&names, i > 0 ? ", " : "");
        tv_out_bytes(&names, tv_trace_info_text(trace->head, values->list[i].name));
    }
    if (values->count > NAMES_LISTED)
        tv_out_text(&names, ", ...");
    enum tv_status status = tv_fail(
        err, TV_ERR_USAGE, TV_NO_OFFSET, "--value: no value type '%.100s'; the trace has: %.*s",
        name, names.length < 400 ? (int)names.length : 400, (const char *)names.buffer);
    tv_out_release(&names);
    return status;
}

/* Return the value with a name, or the default one for NULL; NULL when there is none. */
static const struct tv_sample_value *sample_values_find(const struct tv_trace *trace,
                                                        const struct tv_sample_values *values,
                                                        const char *name)
{
    if (!name)
        return tv_sample_values_default(values);
    for (size_t i = 0; i < values->count; i++)
        if (tv_bytes_equal(tv_trace_info_text(trace->head, values->list[i].name),
                           tv_bytes_of(name)))
            return &values->list[i];
    return NULL;
}

enum tv_status tv_sample_question_choose(const struct tv_trace *trace, const char *name,
                                         struct tv_sample_question *question, struct tv_error *err)
{
    struct tv_sample_values values = tv_sample_values_of(trace);
    const struct tv_sample_value *value = sample_values_find(trace, &values, name);
    enum tv_status status = TV_OK;
    if (!value)
        status = sample_values_fail(trace, &values, name ? name : "", err);
    else if (value->disagrees && question->measure == TV_SAMPLES_WEIGHT)
        status = tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                         "--value: the files have different units for '%.100s'",
                         (const char *)tv_trace_info_text(trace->head, value->name).data);
    else
        question->value = value->name;
    tv_sample_values_release(&values);
    return status;
}

uint32_t tv_sample_question_value(const struct tv_trace *trace,
                                  const struct tv_sample_question *question)
{
    if (question->value != TV_NONE)
        return question->value;
    struct tv_sample_values values = tv_sample_values_of(trace);
    const struct tv_sample_value *first = tv_sample_values_default(&values);
    uint32_t name = first ? first->name : TV_NONE;
    tv_sample_values_release(&values);
    return name;
}

struct tv_bytes tv_sample_figures_unit(const struct tv_trace_info *head,
                                       const struct tv_sample_figures *figures)
{
    assert(figures->sampled);
    switch (figures->measure) {
    case TV_SAMPLES_COUNT:
        return TV_BYTES("samples");
    case TV_SAMPLES_TIME:
        return TV_BYTES("ns");
    case TV_SAMPLES_WEIGHT:
        break;
    }
    return tv_trace_info_text(head, figures->unit);
}

bool tv_sample_figures_are_thousandths(const struct tv_trace_info *head,
                                       const struct tv_sample_figures *figures)
{
    return figures->sampled && figures->measure == TV_SAMPLES_WEIGHT &&
           tv_bytes_equal(tv_trace_info_text(head, figures->unit), TV_BYTES("thousandths"));
}

bool tv_sample_figures_are_times(const struct tv_trace_info *head,
                                 const struct tv_sample_figures *figures)
{
    if (!figures->sampled)
        return true;
    struct tv_bytes unit = tv_sample_figures_unit(head, figures);
    return tv_bytes_equal(unit, TV_BYTES("ns")) || tv_bytes_equal(unit, TV_BYTES("nanoseconds"));
}
