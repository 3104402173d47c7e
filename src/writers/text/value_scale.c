/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_scale.c - the units in which weights of samples are written.
 *
 * A weight is an integer in the unit of its file: "nanoseconds", "bytes",
 * "count", or any other text.  Known units are converted to the smallest of
 * their kind (`times`), and written in the largest unit in which the largest
 * weight of a table is at least 1.  So all figures of a table have the same
 * unit, which stands in its heading.  A unit that is not known is written
 * behind the number as it is.
 */
#include <assert.h>
#include <stdio.h>

#include "base/bytes.h"
#include "writers/text/names.h"

/* The units that formats use, in the smallest unit of their kind. */
static const struct value_unit {
    const char *name;
    int64_t times;
    bool bytes; /* else time */
} value_units[] = {
    {"nanoseconds", 1, false},
    {"nanosecond", 1, false},
    {"ns", 1, false},
    {"microseconds", 1000, false},
    {"microsecond", 1000, false},
    {"us", 1000, false},
    {"milliseconds", 1000000, false},
    {"millisecond", 1000000, false},
    {"ms", 1000000, false},
    {"seconds", 1000000000, false},
    {"second", 1000000000, false},
    {"s", 1000000000, false},
    {"bytes", 1, true},
    {"byte", 1, true},
    {"B", 1, true},
    {"kilobytes", 1024, true},
    {"kilobyte", 1024, true},
    {"kb", 1024, true},
    {"KiB", 1024, true},
    {"megabytes", 1024 * 1024, true},
    {"megabyte", 1024 * 1024, true},
    {"MiB", 1024 * 1024, true},
};

/* Weights with fractions: the unit itself has no name. */
static const struct tv_figure_unit thousandths = {"", 1000, 3};

static const struct tv_figure_unit time_units[] = {
    {"ns", 1, 0}, {"us", 1000, 3}, {"ms", 1000000, 3}, {"s", 1000000000, 3}};
static const struct tv_figure_unit byte_units[] = {
    {"B", 1, 0}, {"KiB", 1024, 1}, {"MiB", 1024 * 1024, 2}, {"GiB", 1024 * 1024 * 1024, 2}};

/* Return true for numbers whose unit says nothing. */
static bool value_scale_is_plain(struct tv_bytes unit)
{
    return unit.length == 0 || tv_bytes_equal(unit, TV_BYTES("count")) ||
           tv_bytes_equal(unit, TV_BYTES("none"));
}

enum tv_unit_kind tv_unit_kind_of(struct tv_bytes unit, int64_t *times)
{
    *times = 1;
    for (size_t i = 0; i < TV_COUNT(value_units); i++) {
        if (!tv_bytes_equal(unit, tv_bytes_of(value_units[i].name)))
            continue;
        *times = value_units[i].times;
        return value_units[i].bytes ? TV_UNIT_BYTES : TV_UNIT_TIME;
    }
    return value_scale_is_plain(unit) || tv_bytes_equal(unit, TV_BYTES("samples")) ? TV_UNIT_PLAIN
                                                                                   : TV_UNIT_OTHER;
}

/* Choose the largest unit of which `largest` has at least one. */
static struct tv_figure_unit value_scale_step(const struct tv_figure_unit *units, size_t count,
                                              int64_t largest)
{
    size_t at = 0;
    while (at + 1 < count && largest >= units[at + 1].ns)
        at++;
    return units[at];
}

/* The text of an unknown unit is copied into the scale, cut off at its size. */
void tv_value_scale_of_unit(struct tv_value_scale *scale, struct tv_bytes unit, int64_t largest)
{
    assert(largest >= 0);
    *scale = (struct tv_value_scale){.unit = {"", 1, 0}, .times = 1};
    enum tv_unit_kind kind = tv_unit_kind_of(unit, &scale->times);
    largest = tv_time_times(largest, scale->times);
    if (kind == TV_UNIT_TIME)
        scale->unit = value_scale_step(time_units, TV_COUNT(time_units), largest);
    else if (kind == TV_UNIT_BYTES)
        scale->unit = value_scale_step(byte_units, TV_COUNT(byte_units), largest);
    else if (tv_bytes_equal(unit, TV_BYTES("thousandths")))
        scale->unit = thousandths;
    if (kind != TV_UNIT_OTHER || scale->unit.decimals > 0)
        return;
    struct tv_out text;
    tv_out_init_memory(&text);
    tv_names_line(&text, unit);
    snprintf(scale->text, sizeof scale->text, "%.*s", (int)text.length, (const char *)text.buffer);
    tv_out_release(&text);
    scale->unit.name = scale->text;
}

void tv_value_scale_choose(struct tv_value_scale *scale, const struct tv_trace_info *head,
                           const struct tv_sample_figures *figures, int64_t largest)
{
    tv_value_scale_of_unit(scale, tv_sample_figures_unit(head, figures), largest);
}

void tv_value_scale_write(struct tv_out *out, const struct tv_value_scale *scale, int64_t weight)
{
    tv_out_time(out, tv_time_times(weight, scale->times), scale->unit.ns, scale->unit.decimals);
}

void tv_names_value(struct tv_out *out, const struct tv_trace_info *head,
                    const struct tv_sample_figures *figures)
{
    struct tv_value_scale scale;
    assert(figures->sampled);
    tv_value_scale_choose(&scale, head, figures, figures->total);
    tv_names_line(out, tv_trace_info_text(head, figures->name));
    tv_out_text(out, ": ");
    tv_out_counted(out, figures->samples, "sample|samples");
    if (figures->measure != TV_SAMPLES_COUNT) {
        tv_out_text(out, ", ");
        tv_value_scale_write(out, &scale, figures->sum);
        tv_out_format(out, "%s%s in all", *scale.unit.name ? " " : "", scale.unit.name);
    }
    tv_out_char(out, '\n');
}

void tv_names_weight_axis(struct tv_out *out, struct tv_bytes unit)
{
    tv_out_text(out, "weight, not time");
    if (!value_scale_is_plain(unit)) {
        tv_out_text(out, ", in ");
        tv_names_line(out, unit);
    }
}
