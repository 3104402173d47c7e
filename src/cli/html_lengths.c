/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/html_lengths.h"

#include <stdio.h>

#include "base/bytes.h"

static const unsigned char length_digits[] = {10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30,
                                       33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91};

static tv_ns html_length_of_step(size_t step)
{
    tv_ns length = length_digits[step % TV_COUNT(length_digits)];
    for (size_t i = 0; i < step / TV_COUNT(length_digits); i++)
        length *= 10;
    return length;
}

void tv_html_length_text(size_t step, char text[16])
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    double length = (double)html_length_of_step(step);
    size_t unit = 0;
    for (; length >= 1000 && unit + 1 < TV_COUNT(units); unit++)
        length /= 1000;
    snprintf(text, 16, "%g%s", length, units[unit]);
}

/* The first step that leaves a slice of that length out. */
static size_t html_step_of_length(tv_ns length)
{
    size_t low = 0, high = TV_HTML_LENGTHS;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (html_length_of_step(middle) > length)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void html_lengths_add_row(struct tv_html_lengths *lengths, const struct tv_trace *trace, uint32_t row)
{
    const struct tv_row *r = &trace->rows[row];
    for (uint32_t i = 0; i < r->count; i++) {
        tv_ns length = tv_slice_get(trace, row, i).length;
        size_t step = html_step_of_length(length);
        uint32_t parent = r->depth > 0 ? tv_slice_parent(trace, row, i) : TV_NONE;
        lengths->self[step] += (double)length;
        lengths->count[step]++;
        if (parent != TV_NONE)
            lengths->self[html_step_of_length(tv_slice_get(trace, row - 1, parent).length)] -= (double)length;
    }
    lengths->slices += r->count;
}

void tv_html_lengths_add(void *lengths, const struct tv_trace *trace)
{
    struct tv_html_lengths *all = lengths;
    for (uint32_t i = 0; i < trace->row_count; i++)
        html_lengths_add_row(all, trace, i);
    all->span = trace->end - trace->start;
}

size_t tv_html_lengths_idle(const struct tv_html_lengths *lengths)
{
    size_t step = 0;
    while (step < TV_HTML_LENGTHS && lengths->count[step] == 0)
        step++;
    return step;
}

size_t tv_html_lengths_telling(const struct tv_html_lengths *lengths, double share)
{
    double all = 0, left;
    size_t idle = tv_html_lengths_idle(lengths), step = idle;
    for (size_t i = 0; i <= TV_HTML_LENGTHS; i++)
        all += lengths->self[i];
    left = all;
    while (step < TV_HTML_LENGTHS && all > 0 && html_length_of_step(step) <= lengths->span / 100) {
        left -= lengths->self[step];
        if (left < share * all)
            break;
        step++;
    }
    return step;
}
