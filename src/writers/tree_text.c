/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/tree_text.h"

#include "writers/compensation_text.h"
#include "writers/names.h"

#define MS 1000000

/* Deeper lines are not indented further: the level stands in front. */
#define INDENT_LIMIT 200

static void text_line(struct tv_out *out, const struct tv_head *head, const struct tv_flame *flame,
                      const struct tv_flame_frame *frame)
{
    tv_names_time_column(out, 14, frame->width, MS, 3);
    tv_names_percent_column(out, 7, frame->width, flame->total);
    tv_names_time_column(out, 14, frame->self, MS, 3);
    tv_out_format(out, "%12llu%6u  ", (unsigned long long)frame->calls, frame->depth);
    for (uint32_t i = 0; i < frame->depth && i < INDENT_LIMIT; i++)
        tv_out_char(out, ' ');
    tv_names_frame(out, head, frame->frame);
    tv_out_char(out, '\n');
}

static void json_line(struct tv_out *out, const struct tv_head *head,
                      const struct tv_flame_frame *frame, tv_ns compensated)
{
    const struct tv_frame *f = &head->frames[frame->frame];
    tv_out_format(out, "{\"depth\": %u, \"class\": ", frame->depth);
    tv_out_json(out, tv_head_text(head, f->class_name));
    tv_out_text(out, ", \"method\": ");
    tv_out_json(out, tv_head_text(head, f->name));
    tv_out_text(out, ", \"signature\": ");
    tv_out_json(out, tv_head_text(head, f->signature));
    tv_out_text(out, ", \"calls\": ");
    tv_out_u64(out, frame->calls);
    tv_out_text(out, ", \"total_ns\": ");
    tv_out_i64(out, frame->width);
    tv_out_text(out, ", \"self_ns\": ");
    tv_out_i64(out, frame->self);
    if (compensated > 0) {
        tv_out_text(out, ", \"compensated_ns\": ");
        tv_out_i64(out, compensated);
    }
    tv_out_char(out, '}');
}

static bool is_shown(const struct tv_flame_frame *frame, const struct tv_tree_text_options *options)
{
    return options->depth == 0 || frame->depth < options->depth;
}

static void write_text(struct tv_out *out, const struct tv_head *head, const struct tv_flame *flame,
                       const struct tv_tree_text_options *options)
{
    tv_compensation_write(out, &options->compensation, options->clocks);
    tv_out_text(out, "      Total ms      %       Self ms       Calls Level  Method\n");
    for (uint32_t i = 0; i < flame->count; i++) {
        if (is_shown(&flame->frames[i], options))
            text_line(out, head, flame, &flame->frames[i]);
    }
    if (flame->left_out == 0)
        return;
    tv_names_time_column(out, 14, flame->left_out, MS, 3);
    tv_names_percent_column(out, 7, flame->left_out, flame->total);
    tv_out_text(out, "  in calls that are too small to be shown (see --min-percent)\n");
}

static void write_json(struct tv_out *out, const struct tv_head *head, const struct tv_flame *flame,
                       const struct tv_tree_text_options *options)
{
    bool any = false;
    tv_out_char(out, '[');
    for (uint32_t i = 0; i < flame->count; i++) {
        if (!is_shown(&flame->frames[i], options))
            continue;
        tv_out_text(out, any ? ",\n  " : "\n  ");
        json_line(out, head, &flame->frames[i], options->compensation.cost);
        any = true;
    }
    tv_out_text(out, "\n]\n");
}

void tv_tree_text_write(struct tv_out *out, const struct tv_head *head,
                        const struct tv_flame *flame, const struct tv_tree_text_options *options)
{
    if (options->json)
        write_json(out, head, flame, options);
    else
        write_text(out, head, flame, options);
}
