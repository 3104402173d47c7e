/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_svg.c - the picture of a flame graph. Coordinates are exact to a hundredth of a pixel.
 *
 *     TOP      title, sum (or the source's lines), controls of the script
 *              frames: level 0 ("all") at the bottom, callees above their callers;
 *              with --inverted level 0 is at the top
 *     BOTTOM   details of the frame under the pointer
 *
 * One element per frame, <g><title><rect><text>, holds everything that the script needs to zoom and
 * to search: it reads the picture and has no data of its own.  Without scripts, the picture is
 * complete, and browsers show <title> as a tooltip.
 *
 * A rectangle goes from the rounded start to the rounded end; a rounded width would leave gaps and
 * overlaps that add up over a row.
 *
 * Names, figures and looks come from the source's functions, because a difference of two traces is
 * drawn here as well (flame_svg.h).
 */
#include "writers/stacks/flame_svg.h"

#include <assert.h>
#include <string.h>

#include "analysis/calltree/call_tree.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "writers/text/names.h"

/* Sizes in pixels. */
#define LEFT 10
#define TOP 64 /* title, controls and one line above the frames */
#define LINE 17
#define BOTTOM 34
#define FRAME 18
#define GAP 1 /* between levels */

/* Width of an average letter of the 12 px sans-serif font, in tenths of a pixel. It is generous,
 * because a label must fit. */
#define LETTER_TENTHS 67
#define LABEL_PADDING 8

/* Maximum number of levels that are drawn: no browser shows a million pixels. */
#define LEVEL_LIMIT 4000u

/* Steps of a coordinate in a pixel. */
#define STEPS 100

struct flame_svg_picture {
    struct tv_out *out;
    const struct tv_flame_svg_source *source;
    const struct tv_flame *flame;
    const struct tv_flame_svg_options *options;
    int top, height;
};

/* Scale a time to hundredths of a pixel. */
static int64_t flame_svg_scale(const struct flame_svg_picture *p, int64_t value)
{
    double share = p->flame->total > 0 ? (double)value / (double)p->flame->total : 0;
    return (int64_t)(share * TV_FLAME_SVG_INNER * STEPS + 0.5);
}

/* Write an attribute in pixels; whole ones have no decimals. */
static void flame_svg_add_number(struct tv_out *out, const char *attribute, int64_t hundredths)
{
    tv_out_format(out, " %s=\"", attribute);
    tv_out_time(out, hundredths, STEPS, hundredths % STEPS == 0 ? 0 : 2);
    tv_out_char(out, '"');
}

/* "1,234,567" */
static void flame_svg_add_grouped(struct tv_out *out, uint64_t value)
{
    struct tv_out digits;
    tv_out_init_memory(&digits);
    tv_out_u64(&digits, value);
    for (size_t i = 0; i < digits.length; i++) {
        if (i > 0 && (digits.length - i) % 3 == 0)
            tv_out_char(out, ',');
        tv_out_char(out, (char)digits.buffer[i]);
    }
    tv_out_release(&digits);
}

/* Write a number in the unit of the picture, with its name: whole units, but a part of one with its
 * decimals ("0.25 us"), as "0 us" would deny it. */
static void flame_svg_add_count(const struct flame_svg_picture *p, int64_t value)
{
    if (value > 0 && value < p->options->unit_ns)
        tv_out_time_short(p->out, value, p->options->unit_ns);
    else
        flame_svg_add_grouped(p->out, (uint64_t)(value / p->options->unit_ns));
    tv_out_char(p->out, ' ');
    tv_out_xml(p->out, tv_bytes_of(p->options->count_name));
}

/* Write the lines of a text that is a list of strings, ended by NULL. */
static void flame_svg_write_lines(struct tv_out *out, const char *const *text)
{
    for (; *text; text++) {
        tv_out_text(out, *text);
        tv_out_char(out, '\n');
    }
}

/* ---- Names and labels ---- */

/* Write the complete name of a frame of a trace. */
static void flame_svg_put_trace_name(struct tv_out *out, const void *of,
                                     const struct tv_flame_frame *frame)
{
    const struct tv_trace_info *head = of;
    if (frame->frame & TV_THREAD_FRAME)
        tv_names_thread(out, head, frame->frame & ~TV_THREAD_FRAME);
    else
        tv_names_method(out, head, &head->frames[frame->frame]);
}

/* Return the kind of a frame of a trace; threads have none. */
static enum tv_frame_kind flame_svg_trace_kind(const void *of, const struct tv_flame_frame *frame)
{
    const struct tv_trace_info *head = of;
    bool is_method = frame->frame < head->frame_count;
    return is_method ? (enum tv_frame_kind)head->frames[frame->frame].kind : TV_FRAME_UNKNOWN;
}

/* Return true for a name of dotted words only, which may be shortened from the left and still be
 * recognised. */
static bool flame_svg_is_dotted(struct tv_bytes name)
{
    for (size_t i = 0; i < name.length; i++) {
        uint8_t c = name.data[i];
        bool word = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                    c == '.' || c == '_' || c == '$' || c == '<' || c == '>' || c == '-' ||
                    c >= 0x80;
        if (!word)
            return false;
    }
    return true;
}

/* Return the part after the last dots, `dots` of which it keeps. */
static struct tv_bytes flame_svg_shorten_name(struct tv_bytes name, int dots)
{
    size_t at = name.length;
    if (at == 0)
        return name;
    while (at > 0) {
        if (name.data[at - 1] == '.' && dots-- == 0)
            break;
        at--;
    }
    return (struct tv_bytes){name.data + at, name.length - at};
}

/* Count characters: bytes that do not continue a UTF-8 sequence. */
static size_t flame_svg_count_letters(struct tv_bytes text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.length; i++)
        count += (text.data[i] & 0xc0) != 0x80;
    return count;
}

/* Return the text up to `count` characters, which may be more bytes. */
static struct tv_bytes flame_svg_first_letters(struct tv_bytes text, size_t count)
{
    size_t i = 0;
    for (; i < text.length; i++) {
        if ((text.data[i] & 0xc0) != 0x80 && count-- == 0)
            break;
    }
    return (struct tv_bytes){text.data, i};
}

/* Write the longest of "a.b.Class.method", "Class.method", "method" and "meth.." that fits. The
 * script does the same. */
static void flame_svg_add_label(struct tv_out *out, const char *mark, struct tv_bytes name,
                                int64_t width)
{
    int64_t room = (width / STEPS - LABEL_PADDING) * 10 / LETTER_TENTHS;
    size_t letters = room > 0 ? (size_t)room : 0;
    if (*mark && letters >= 3) {
        tv_out_format(out, "%s ", mark);
        letters -= 2;
    }
    bool dotted = flame_svg_is_dotted(name);
    for (int dots = 1; dotted && dots >= 0 && flame_svg_count_letters(name) > letters; dots--)
        name = flame_svg_shorten_name(name, dots);
    if (letters < 3)
        return;
    if (flame_svg_count_letters(name) <= letters) {
        tv_out_xml(out, name);
        return;
    }
    tv_out_xml(out, flame_svg_first_letters(name, letters - 2));
    tv_out_text(out, "..");
}

/* ---- Colours ---- */

struct flame_svg_shade {
    int hue, hue_range, saturation, lightness, lightness_range;
};

/* Light enough for black letters: a contrast of at least 7:1. */
static const struct flame_svg_shade shades[] = {
    [TV_COLORS_HOT] = {8, 44, 92, 62, 14},      [TV_COLORS_COOL] = {170, 80, 55, 68, 12},
    [TV_COLORS_RED] = {0, 10, 85, 68, 14},      [TV_COLORS_ORANGE] = {26, 14, 92, 62, 14},
    [TV_COLORS_YELLOW] = {48, 10, 85, 60, 16},  [TV_COLORS_GREEN] = {110, 26, 50, 62, 16},
    [TV_COLORS_AQUA] = {176, 14, 52, 60, 16},   [TV_COLORS_BLUE] = {210, 14, 80, 70, 14},
    [TV_COLORS_PURPLE] = {276, 24, 65, 74, 12}, [TV_COLORS_GREY] = {220, 1, 6, 70, 16},
};

/* The hues that async-profiler and perf's flame graphs have: compiled Java green, interpreted
 * lighter, inlined aqua, C++ yellow, native red, the kernel orange. */
static const char *const kind_colors[TV_FRAME_KINDS] = {
    [TV_FRAME_UNKNOWN] = "#c9ccd1", [TV_FRAME_NATIVE] = "#f08a84",
    [TV_FRAME_CPP] = "#ddd35a",     [TV_FRAME_KERNEL] = "#f5a142",
    [TV_FRAME_JIT] = "#6fcf6f",     [TV_FRAME_INTERPRETED] = "#c3edbb",
    [TV_FRAME_INLINED] = "#6fd3d3", [TV_FRAME_GC] = "#c6a5ec",
};

/* Return the kind of a frame, as far as the source knows it. */
static enum tv_frame_kind flame_svg_kind_of(const struct flame_svg_picture *p,
                                            const struct tv_flame_frame *frame)
{
    return p->source->kind && frame->frame != TV_NONE ? p->source->kind(p->source->of, frame)
                                                      : TV_FRAME_UNKNOWN;
}

/* Return everything in front of the class: the package, or the text in its place. */
static struct tv_bytes flame_svg_package_of(struct tv_bytes name)
{
    struct tv_bytes method = flame_svg_shorten_name(name, 1);
    return (struct tv_bytes){name.data, name.length - method.length};
}

/* Write how a frame is filled: by its kind, by its package (a class of the style sheet, so that one
 * can be highlighted), or by a palette whose hue and lightness a hash of the name or the place
 * chooses. */
static void flame_svg_add_color(const struct flame_svg_picture *p,
                                const struct tv_flame_frame *frame, struct tv_bytes name,
                                uint32_t place)
{
    if (p->options->colors == TV_COLORS_KIND) {
        tv_out_format(p->out, " fill=\"%s\"", kind_colors[flame_svg_kind_of(p, frame)]);
        return;
    }
    if (p->options->colors == TV_COLORS_PACKAGE) {
        struct tv_bytes package =
            flame_svg_is_dotted(name) ? flame_svg_package_of(name) : (struct tv_bytes){NULL, 0};
        uint64_t hash = tv_hash_u64(tv_hash_bytes(package.length > 0 ? package : name));
        tv_out_format(p->out, " class=\"c%u\"", (unsigned)(hash % 16));
        return;
    }
    assert(p->options->colors < TV_COUNT(shades));
    const struct flame_svg_shade *shade = &shades[p->options->colors];
    uint64_t mixed = tv_hash_u64(p->options->hash ? tv_hash_bytes(name) : place + 1);
    tv_out_format(p->out, " fill=\"hsl(%d,%d%%,%d%%)\"",
                  shade->hue + (int)(mixed % (uint64_t)shade->hue_range), shade->saturation,
                  shade->lightness + (int)(mixed / 1024 % (uint64_t)shade->lightness_range));
}

/* ---- Frames ---- */

/* Return the upper edge of a level. */
static int flame_svg_top_of(const struct flame_svg_picture *p, uint32_t level)
{
    if (p->options->inverted)
        return p->top + (int)level * FRAME;
    return p->height - BOTTOM - (int)(level + 1) * FRAME;
}

/* Write the figures of a frame: its width and share, its own part, its calls, its kind. */
static void flame_svg_add_figures(const struct flame_svg_picture *p,
                                  const struct tv_flame_frame *frame)
{
    flame_svg_add_count(p, frame->width);
    tv_out_text(p->out, ", ");
    tv_names_percent(p->out, frame->width, p->flame->total);
    tv_out_text(p->out, "%, self ");
    flame_svg_add_count(p, frame->self);
    if (frame->calls > 0 && p->options->each) {
        tv_out_text(p->out, ", ");
        flame_svg_add_grouped(p->out, frame->calls);
        tv_out_format(p->out, " %s%s", p->options->each, frame->calls == 1 ? "" : "s");
    }
    enum tv_frame_kind kind = flame_svg_kind_of(p, frame);
    if (kind != TV_FRAME_UNKNOWN)
        tv_out_format(p->out, ", %s", tv_names_frame_kind(kind));
}

/* Write a frame's tooltip: its name, then its figures. */
static void flame_svg_add_title(const struct flame_svg_picture *p, struct tv_bytes name,
                                const struct tv_flame_frame *frame)
{
    tv_out_text(p->out, "<title>");
    tv_out_xml(p->out, name);
    tv_out_char(p->out, '\n');
    if (p->source->put_figures)
        p->source->put_figures(p->out, p->source->of, frame);
    else
        flame_svg_add_figures(p, frame);
    tv_out_text(p->out, "</title>");
}

/* Write a rectangle with its label.  Places are whole steps, so that neighbours meet without a gap.
 */
static void flame_svg_add_frame(const struct flame_svg_picture *p,
                                const struct tv_flame_frame *frame, struct tv_bytes name,
                                uint32_t level, uint32_t place)
{
    tv_ns behind = frame->start;
    assert(level <= LEVEL_LIMIT);
    tv_time_add(&behind, frame->width); /* a sum may be saturated */
    int64_t start = flame_svg_scale(p, frame->start), end = flame_svg_scale(p, behind);
    if (level == 0)
        end = TV_FLAME_SVG_INNER * STEPS; /* the root is full even when there is no time at all */
    int top = flame_svg_top_of(p, level);
    const char *mark = level > 0 && p->source->mark ? p->source->mark(p->source->of, frame) : "";
    tv_out_format(p->out, "<g data-l=\"%u\"", level);
    if (*mark)
        tv_out_format(p->out, " data-m=\"%s\"", mark);
    if (level == 0)
        tv_out_text(p->out, " class=\"root\"");
    tv_out_char(p->out, '>');
    flame_svg_add_title(p, name, frame);
    tv_out_text(p->out, "<rect");
    flame_svg_add_number(p->out, "x", start + LEFT * STEPS);
    tv_out_format(p->out, " y=\"%d\"", top);
    flame_svg_add_number(p->out, "width", end - start);
    tv_out_format(p->out, " height=\"%d\"", FRAME - GAP);
    if (level == 0)
        tv_out_text(p->out, " class=\"all\"");
    else if (p->source->put_look)
        p->source->put_look(p->out, p->source->of, frame);
    else
        flame_svg_add_color(p, frame, name, place);
    tv_out_text(p->out, "/><text");
    flame_svg_add_number(p->out, "x", start + (LEFT + LABEL_PADDING / 2) * STEPS);
    tv_out_format(p->out, " y=\"%d\">", top + 13);
    flame_svg_add_label(p->out, mark, name, end - start);
    tv_out_text(p->out, "</text></g>\n");
}

/* Write the frame of everything and all others. A name is made in memory first, because both
 * tooltip and label need it. */
static void flame_svg_add_frames(const struct flame_svg_picture *p)
{
    struct tv_flame_frame all = {.width = p->flame->total, .frame = TV_NONE};
    tv_out_text(p->out, "<g id=\"frames\">\n");
    flame_svg_add_frame(p, &all, TV_BYTES("all"), 0, 0);
    for (uint32_t i = 0; i < p->flame->count; i++) {
        const struct tv_flame_frame *frame = &p->flame->frames[i];
        if (frame->depth >= LEVEL_LIMIT)
            continue;
        struct tv_out name;
        tv_out_init_memory(&name);
        p->source->put_name(&name, p->source->of, frame);
        flame_svg_add_frame(p, frame, (struct tv_bytes){name.buffer, name.length}, frame->depth + 1,
                            i);
        tv_out_release(&name);
    }
    tv_out_text(p->out, "</g>\n");
}

/* ---- Document ---- */

static void flame_svg_add_head(const struct flame_svg_picture *p)
{
    if (!p->options->embedded)
        tv_out_text(p->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    tv_out_format(p->out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"flame\" width=\"%d\" "
                  "height=\"%d\" viewBox=\"0 0 %d %d\" role=\"application\" tabindex=\"0\" "
                  "data-count=\"",
                  TV_FLAME_SVG_WIDTH, p->height, TV_FLAME_SVG_WIDTH, p->height);
    tv_out_xml(p->out, tv_bytes_of(p->options->count_name));
    tv_out_format(p->out, "\" data-inverted=\"%d\" aria-label=\"", p->options->inverted);
    tv_out_xml(p->out, tv_bytes_of(p->options->title));
    tv_out_text(p->out, "\">\n<style>\n");
    flame_svg_write_lines(p->out, tv_flame_svg_style);
    tv_out_text(p->out, "</style>\n");
    if (p->source->definitions)
        tv_out_format(p->out, "<defs>%s</defs>\n", p->source->definitions);
    tv_out_text(p->out, "<rect id=\"paper\" width=\"100%\" height=\"100%\"/>\n");
}

/* Write the line under the title: the time or number of everything, and what is left out. */
static void flame_svg_add_sum(const struct flame_svg_picture *p)
{
    flame_svg_add_count(p, p->flame->total);
    if (p->source->note)
        tv_out_format(p->out, ", %s", p->source->note);
    if (p->options->inverted)
        tv_out_text(p->out, ", from the methods that used the time down to their callers");
    if (p->flame->left_out > 0) {
        tv_out_text(p->out, ", ");
        tv_names_percent(p->out, p->flame->left_out, p->flame->total);
        tv_out_text(p->out, "% in frames too narrow to be drawn");
    }
}

/* The heading follows the frames in the file, so that it covers them when it stays visible on a
 * page that scrolls. */
static void flame_svg_add_heading(const struct flame_svg_picture *p)
{
    tv_out_format(p->out,
                  "<g id=\"head\">\n<rect id=\"cover\" width=\"100%%\" height=\"%d\"/>\n"
                  "<text id=\"title\" x=\"10\" y=\"26\">",
                  p->top - 6);
    tv_out_xml(p->out, tv_bytes_of(p->options->title));
    tv_out_text(p->out, "</text>\n<text id=\"sum\" x=\"10\" y=\"48\">");
    if (p->source->lines == 0)
        flame_svg_add_sum(p);
    for (unsigned line = 0; line < p->source->lines; line++) {
        if (line > 0)
            tv_out_format(p->out, "</text>\n<text class=\"line\" x=\"10\" y=\"%u\">",
                          48 + line * LINE);
        p->source->put_line(p->out, p->source->of, line);
    }
    tv_out_text(p->out, "</text>\n<g id=\"controls\"></g>\n</g>\n");
}

/* Return the name of the numbers of samples. */
static const char *flame_svg_sample_name(const struct tv_call_tree *tree)
{
    struct tv_bytes unit = tv_sample_figures_unit(tree->head, &tree->figures);
    if (tree->figures.measure == TV_SAMPLES_COUNT)
        return "samples";
    if (unit.length == 0 || tv_bytes_equal(unit, TV_BYTES("count")) ||
        tv_bytes_equal(unit, TV_BYTES("samples")))
        unit = tv_trace_info_text(tree->head, tree->figures.name);
    return unit.length > 0 ? (const char *)unit.data : "of weight";
}

void tv_flame_svg_choose_units(struct tv_flame_svg_options *options,
                               const struct tv_call_tree *tree)
{
    bool times = tv_sample_figures_are_times(tree->head, &tree->figures);
    options->unit_ns = times ? 1000 : 1;
    if (tree->figures.sampled) {
        options->count_name = times ? "us" : flame_svg_sample_name(tree);
        options->each = tree->figures.measure == TV_SAMPLES_COUNT ? NULL : "sample";
    } else {
        options->count_name = "us";
        options->each = tv_figures_count_calls(tree->head) ? "call" : NULL;
    }
}

struct tv_flame_svg_source tv_flame_svg_of_trace(const struct tv_trace_info *head,
                                                 const struct tv_flame *flame)
{
    bool sampled = tv_trace_info_figures(head) == TV_FIGURES_SAMPLED;
    return (struct tv_flame_svg_source){
        .flame = flame,
        .of = head,
        .put_name = flame_svg_put_trace_name,
        .kind = flame_svg_trace_kind,
        .note = sampled ? "sampled" : NULL,
    };
}

void tv_flame_svg_write(struct tv_out *out, const struct tv_flame_svg_source *source,
                        const struct tv_flame_svg_options *options)
{
    const struct tv_flame *flame = source->flame;
    uint32_t levels = flame->levels < LEVEL_LIMIT ? flame->levels : LEVEL_LIMIT;
    int top = TOP + (source->lines > 1 ? (int)(source->lines - 1) * LINE : 0);
    struct flame_svg_picture p = {out,     source, flame,
                                  options, top,    top + BOTTOM + (int)(levels + 1) * FRAME};
    flame_svg_add_head(&p);
    flame_svg_add_frames(&p);
    flame_svg_add_heading(&p);
    tv_out_format(out, "<text id=\"details\" x=\"10\" y=\"%d\"></text>\n", p.height - 12);
    tv_out_text(out, "<script><![CDATA[\n");
    flame_svg_write_lines(out, tv_flame_svg_script);
    tv_out_text(out, "]]></script>\n</svg>\n");
}
