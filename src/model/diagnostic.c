/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnostic.c - names, counts and offsets of diagnostics.
 */
#include "model/diagnostic.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static const char *const severities[TV_SEVERITIES] = {
    [TV_NOTE] = "note",
    [TV_WARNING] = "warning",
    [TV_ERROR] = "error",
};

/* Short names of the severities for the table of kinds. */
enum { N = TV_NOTE, W = TV_WARNING, E = TV_ERROR };

static const struct {
    const char *name;
    const char *text;
    enum tv_severity severity;
} kinds[TV_DIAGNOSTIC_COUNT] = {
#define KIND(id, name, severity, text) {name, text, (enum tv_severity)(severity)},
    TV_DIAGNOSTIC_KINDS(KIND)
#undef KIND
};

const char *tv_severity_name(enum tv_severity severity)
{
    return severities[severity];
}

enum tv_severity tv_severity_find(const char *name)
{
    unsigned severity = 0;
    while (severity < TV_SEVERITIES && strcmp(severities[severity], name) != 0)
        severity++;
    return (enum tv_severity)severity;
}

const char *tv_diagnostic_name(enum tv_diagnostic_kind kind)
{
    return kinds[kind].name;
}

const char *tv_diagnostic_text(enum tv_diagnostic_kind kind)
{
    return kinds[kind].text;
}

enum tv_severity tv_diagnostic_severity(enum tv_diagnostic_kind kind)
{
    return kinds[kind].severity;
}

const char *tv_diagnostic_severity_name(enum tv_diagnostic_kind kind)
{
    return tv_severity_name(kinds[kind].severity);
}

void tv_diagnostics_write_text(struct tv_out *out, const struct tv_diagnostics *all,
                               enum tv_diagnostic_kind kind)
{
    const char *before = ": ";
    tv_out_text(out, tv_diagnostic_text(kind));
    if (kind == TV_DIAGNOSTIC_OPEN_UNTIL_SILENCE && all->quiet > 0) {
        tv_out_text(out, "; the last ends at ");
        tv_out_time(out, all->quiet, 1000000, 3);
        tv_out_text(out, " ms");
    }
    if (kind != TV_DIAGNOSTIC_UNKNOWN_PHASE)
        return;
    for (unsigned letter = 0; letter < TV_DIAGNOSTIC_LETTERS; letter++) {
        if (all->phases[letter] == 0)
            continue;
        tv_out_text(out, before);
        tv_out_u64(out, all->phases[letter]);
        tv_out_char(out, ' ');
        if (letter == 0)
            tv_out_text(out, "without a letter");
        else
            tv_out_char(out, (char)letter);
        before = ", ";
    }
}

void tv_diagnostics_write_json(struct tv_out *out, const struct tv_diagnostics *all,
                               enum tv_diagnostic_kind kind)
{
    struct tv_out text;
    tv_out_init_memory(&text);
    tv_diagnostics_write_text(&text, all, kind);
    tv_out_json(out, (struct tv_bytes){text.buffer, text.length});
    tv_out_release(&text);
}

static bool diagnostic_is_after(const struct tv_diagnostic_places *places, uint32_t i,
                                uint64_t offset, uint32_t input)
{
    return places->inputs[i] != input ? places->inputs[i] > input : places->offsets[i] > offset;
}

/* Keep the first offsets of the file, in whatever order they come: threads and chunks run in
 * parallel. */
static void diagnostic_keep_offset(struct tv_diagnostic *diagnostic, uint64_t offset,
                                   uint32_t input)
{
    uint32_t at = diagnostic->offset_count;
    if (offset == TV_NO_OFFSET)
        return;
    if (!diagnostic->places)
        diagnostic->places = tv_alloc(1, sizeof *diagnostic->places);
    struct tv_diagnostic_places *places = diagnostic->places;
    if (at == TV_DIAGNOSTIC_OFFSETS && !diagnostic_is_after(places, --at, offset, input))
        return;
    for (; at > 0 && diagnostic_is_after(places, at - 1, offset, input); at--) {
        places->offsets[at] = places->offsets[at - 1];
        places->inputs[at] = places->inputs[at - 1];
    }
    assert(at < TV_DIAGNOSTIC_OFFSETS);
    places->offsets[at] = offset;
    places->inputs[at] = input;
    diagnostic->offset_count += diagnostic->offset_count < TV_DIAGNOSTIC_OFFSETS;
}

void tv_diagnostics_add(struct tv_diagnostics *all, enum tv_diagnostic_kind kind, uint64_t offset)
{
    struct tv_diagnostic *diagnostic = &all->kinds[kind];
    assert(kind < TV_DIAGNOSTIC_COUNT);
    diagnostic->count++;
    diagnostic_keep_offset(diagnostic, offset, all->input);
}

void tv_diagnostics_merge_kind(struct tv_diagnostics *to, enum tv_diagnostic_kind kind,
                               const struct tv_diagnostic *from)
{
    to->kinds[kind].count += from->count;
    for (uint32_t i = 0; i < from->offset_count; i++)
        diagnostic_keep_offset(&to->kinds[kind], from->places->offsets[i], to->input);
}

void tv_diagnostics_merge(struct tv_diagnostics *to, const struct tv_diagnostics *from)
{
    for (unsigned kind = 0; kind < TV_DIAGNOSTIC_COUNT; kind++)
        tv_diagnostics_merge_kind(to, (enum tv_diagnostic_kind)kind, &from->kinds[kind]);
    for (unsigned letter = 0; letter < TV_DIAGNOSTIC_LETTERS; letter++)
        to->phases[letter] += from->phases[letter];
    to->quiet = from->quiet > to->quiet ? from->quiet : to->quiet;
}

void tv_diagnostics_clear_kind(struct tv_diagnostics *all, enum tv_diagnostic_kind kind)
{
    tv_free(all->kinds[kind].places);
    all->kinds[kind] = (struct tv_diagnostic){0};
}

void tv_diagnostics_clear(struct tv_diagnostics *all)
{
    for (unsigned kind = 0; kind < TV_DIAGNOSTIC_COUNT; kind++)
        if (all->kinds[kind].places)
            tv_free(all->kinds[kind].places);
    *all = (struct tv_diagnostics){.input = all->input};
}
