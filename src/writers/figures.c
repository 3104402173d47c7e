/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/figures.h"

#include <string.h>

#define MS 1000000

/* Titles of times, and what they are when figures are samples, which have no clock. */
static const char *const titles[][2] = {
    {"Incl Real ms", "Incl samples"},
    {"Excl Real ms", "Excl samples"},
    {"Incl Real", "Incl"},
    {"Excl Real", "Excl"},
    {"Total ms", "Total samples"},
    {"Self ms", "Self samples"},
    {"A ms", "A samples"},
    {"B ms", "B samples"},
};

/* Return the decimals of milliseconds: to the nanosecond when an input asks for that
 * (displayTimeUnit), else to the microsecond. */
static int figures_ms_decimals(const struct tv_head *head)
{
    for (uint32_t i = 0; i < head->input_count; i++)
        if (head->inputs[i].unit && strcmp(head->inputs[i].unit, "ns") == 0)
            return 6;
    return 3;
}

struct tv_figure_unit tv_figures_unit(const struct tv_head *head)
{
    struct tv_figure_unit samples = {"samples", TV_SAMPLE_NS, 0};
    if (tv_head_figures(head) != TV_FIGURES_SAMPLES)
        return (struct tv_figure_unit){"ms", MS, figures_ms_decimals(head)};
    for (uint32_t i = 0; i < head->input_count; i++)
        if (head->inputs[i].tick_ns < TV_SAMPLE_NS)
            samples.decimals = 3; /* an input has fractions of a sample */
    return samples;
}

bool tv_figures_count_calls(const struct tv_head *head)
{
    for (uint32_t i = 0; i < head->input_count; i++)
        if (head->inputs[i].figures != TV_FIGURES_CALLS)
            return false;
    return true;
}

/* Return true when one input has samples without times and another has times. */
static bool figures_mixes_samples(const struct tv_head *head)
{
    uint32_t samples = 0;
    for (uint32_t i = 0; i < head->input_count; i++)
        samples += head->inputs[i].figures == TV_FIGURES_SAMPLES;
    return samples > 0 && samples < head->input_count;
}

void tv_figures_note(struct tv_out *out, const struct tv_head *head)
{
    if (figures_mixes_samples(head))
        tv_out_text(out, "Samples without times beside times: each sample is shown as 0.001 ms, "
                         "and calls are not counted.\n");
    struct tv_sampling sampling = tv_head_sampling(head);
    if (sampling.interval == 0)
        return;
    tv_out_text(out,
                sampling.inferred ? "Sampled (inferred), interval at most " : "Sampled every ");
    tv_out_time(out, sampling.interval, MS, 3);
    tv_out_text(out, " ms: times are estimates, calls are not counted.\n");
}

const char *tv_figures_title(const struct tv_head *head, const char *title)
{
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (tv_head_figures(head) == TV_FIGURES_SAMPLES && strcmp(titles[i][0], title) == 0)
            return titles[i][1];
    return title;
}
