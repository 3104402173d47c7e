/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/compensation_text.h"

#define MS 1000000

void tv_compensation_write(struct tv_out *out, const struct tv_compensation *compensation,
                           unsigned clocks)
{
    if (compensation->cost == 0)
        return;
    tv_out_text(out, "Compensated: ");
    tv_out_i64(out, compensation->cost);
    tv_out_text(out, " ns taken off each call, and as much off its caller;");
    if (clocks & TV_CLOCK_CPU) {
        tv_out_char(out, ' ');
        tv_out_time(out, compensation->cpu, MS, 3);
        tv_out_text(out, " ms CPU");
    }
    if (clocks & TV_CLOCK_WALL) {
        tv_out_text(out, clocks & TV_CLOCK_CPU ? ", " : " ");
        tv_out_time(out, compensation->wall, MS, 3);
        tv_out_text(out, " ms real");
    }
    tv_out_text(out, " in all.\n");
}
