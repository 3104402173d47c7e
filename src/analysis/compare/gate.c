/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.c - parsing and judging rules (gate.h).
 *
 * Each rule chooses its rows and gets p for them; then Holm's method raises the p of all rules, and
 * only then limits and guards decide.
 *
 *     rule -> may it be judged at all? --no--> reason
 *          -> comparison by its figure and clock (the caller's, or one of its own)
 *          -> candidates: rows of its pattern, or their sum, the total, rows of one side
 *          -> p of each candidate, raised for the number of rows, then for the number of rules
 *          -> limit and guards --> hits
 *
 * p is raised twice, because a file of rules is a family of families: among the rows of one rule
 * some false alarms are tolerated (false discovery rate), among rules none is (family-wise rate).
 * A p from relabeling is a lower bound of both: few runs have few labelings, whatever the figures.
 *
 * A reason is not a pass.  A pattern without rows, too few runs or a missing clock would otherwise
 * let every change through, and nobody would see it.
 */
#include "analysis/compare/gate.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/subset/subset.h"
#include "base/bytes.h"
#include "base/memory.h"

/* ---- Parsing ---- */

/* A rule while it is parsed: `rest` is what follows the place of the parser in `whole`. Functions
 * that take something skip blanks first. */
struct gate_parser {
    struct tv_bytes whole, rest;
    struct tv_error *err;
};

/* Report what the rule should have at this place; characters count from 1, as in editors. */
static enum tv_status gate_fail(const struct gate_parser *parser, const char *expected)
{
    size_t at = parser->whole.length - parser->rest.length;
    return tv_fail(parser->err, TV_ERR_USAGE, TV_NO_OFFSET,
                   "rule \"%.*s\", character %zu: expected %s", (int)parser->whole.length,
                   (const char *)parser->whole.data, at + 1, expected);
}

static void gate_skip_blanks(struct gate_parser *parser)
{
    while (parser->rest.length > 0 && tv_is_blank(parser->rest.data[0])) {
        parser->rest.data++;
        parser->rest.length--;
    }
}

static bool gate_is_letter(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Take a word of letters if it is `word`. */
static bool gate_take_word(struct gate_parser *parser, const char *word)
{
    size_t length = strlen(word);
    gate_skip_blanks(parser);
    if (!tv_bytes_starts_with(parser->rest, tv_bytes_of(word)) ||
        (parser->rest.length > length && gate_is_letter((uint8_t)word[length - 1]) &&
         gate_is_letter(parser->rest.data[length])))
        return false;
    parser->rest.data += length;
    parser->rest.length -= length;
    return true;
}

/* Take digits with an optional fraction. */
static bool gate_take_number(struct gate_parser *parser, double *number)
{
    gate_skip_blanks(parser);
    double value = 0, place = 1;
    bool any = false, fraction = false;
    while (parser->rest.length > 0) {
        uint8_t c = parser->rest.data[0];
        if (c == '.' && !fraction) {
            fraction = true;
        } else if (c >= '0' && c <= '9') {
            any = true;
            place = fraction ? place / 10 : 1;
            value = fraction ? value + (c - '0') * place : value * 10 + (c - '0');
        } else {
            break;
        }
        parser->rest.data++;
        parser->rest.length--;
    }
    *number = value;
    return any;
}

/* Take "> +5%", "> 16.7ms", "< -3". */
static enum tv_status gate_take_limit(struct gate_parser *parser, struct tv_gate_limit *limit)
{
    static const struct {
        const char *name;
        double factor;
        bool relative;
    } units[] = {{"%", 0.01, true},
                 {"ns", 1, false},
                 {"us", 1e3, false},
                 {"ms", 1e6, false},
                 {"s", 1e9, false}};
    double sign = 1;
    if (gate_take_word(parser, ">="))
        limit->way = TV_GATE_AT_LEAST;
    else if (gate_take_word(parser, ">"))
        limit->way = TV_GATE_ABOVE;
    else if (gate_take_word(parser, "<"))
        limit->way = TV_GATE_BELOW;
    else
        return gate_fail(parser, "> , >= or <");
    if (gate_take_word(parser, "+"))
        limit->is_change = true;
    else if (gate_take_word(parser, "-")) {
        limit->is_change = true;
        sign = -1;
    }
    if (!gate_take_number(parser, &limit->number))
        return gate_fail(parser, "a number");
    limit->number *= sign;
    for (size_t i = 0; i < TV_COUNT(units); i++)
        if (gate_take_word(parser, units[i].name)) {
            limit->number *= units[i].factor;
            limit->is_relative = units[i].relative;
            break;
        }
    return TV_OK;
}

/* Fields of what a rule looks at. */
static const char *const gate_fields[] = {"name:", "class:", "path:", "thread:"};
enum gate_field {
    GATE_NAME,
    GATE_CLASS,
    GATE_PATH,
    GATE_THREAD,
    GATE_NO_FIELD,
};

/* Return the field that a text begins with. */
static enum gate_field gate_field_at(struct tv_bytes text)
{
    size_t field = 0;
    while (field < GATE_NO_FIELD && !tv_bytes_starts_with(text, tv_bytes_of(gate_fields[field])))
        field++;
    return (enum gate_field)field;
}

/* Return the length of the value that a text begins with: up to its closing quote, or to a blank
 * before the next field.  Names may have blanks. */
static size_t gate_value_length(struct tv_bytes text)
{
    size_t length = 0;
    bool quoted = text.length > 0 && text.data[0] == '"';
    for (length = quoted; length < text.length; length++) {
        struct tv_bytes rest = {text.data + length, text.length - length};
        if (quoted
                ? rest.data[0] == '"'
                : length > 0 && tv_is_blank(rest.data[-1]) && gate_field_at(rest) != GATE_NO_FIELD)
            break;
    }
    return quoted && length < text.length ? length + 1 : length;
}

/* Split "class:com.app.* thread:main" into the parts of a rule.  Return false if a part is there
 * twice or empty. */
static bool gate_split_what(struct tv_bytes what, struct tv_gate_rule *rule)
{
    while (what.length > 0) {
        enum gate_field field = gate_field_at(what);
        size_t skipped = field == GATE_NO_FIELD ? 0 : strlen(gate_fields[field]);
        struct tv_bytes *to = field == GATE_THREAD ? &rule->thread : &rule->pattern;
        what.data += skipped;
        what.length -= skipped;
        size_t length = gate_value_length(what);
        struct tv_bytes value = tv_bytes_trim((struct tv_bytes){what.data, length});
        if (value.length >= 2 && value.data[0] == '"' && value.data[value.length - 1] == '"')
            value = (struct tv_bytes){value.data + 1, value.length - 2};
        if (to->length > 0 || value.length == 0)
            return false;
        *to = value;
        rule->of_class = rule->of_class || field == GATE_CLASS;
        rule->of_path = rule->of_path || field == GATE_PATH;
        what = tv_bytes_trim((struct tv_bytes){what.data + length, what.length - length});
    }
    return true;
}

/* Take what is in parentheses; names may contain parentheses in pairs. */
static enum tv_status gate_take_pattern(struct gate_parser *parser, struct tv_gate_rule *rule)
{
    size_t depth = 1, length = 0;
    if (!gate_take_word(parser, "("))
        return TV_OK;
    for (; length < parser->rest.length; length++) {
        depth += parser->rest.data[length] == '(';
        depth -= parser->rest.data[length] == ')';
        if (depth == 0)
            break;
    }
    if (depth > 0)
        return gate_fail(parser, "a closing )");
    struct tv_bytes what = tv_bytes_trim((struct tv_bytes){parser->rest.data, length});
    if (!gate_split_what(what, rule))
        return gate_fail(parser,
                         "at most one of NAME, class:NAME and path:PATH, and one thread:NAME");
    if (rule->figure == TV_GATE_TOTAL && rule->pattern.length > 0)
        return gate_fail(parser, "no more than thread:NAME of a total (sum incl takes names)");
    parser->rest.data += length + 1;
    parser->rest.length -= length + 1;
    return TV_OK;
}

/* Take [sum] FIGURE [CLOCK]; the names have the order of enum tv_gate_figure. */
static enum tv_status gate_take_figure(struct gate_parser *parser, struct tv_gate_rule *rule)
{
    static const char *const figures[] = {"excl", "incl", "calls", "mean",  "p50", "p90",
                                          "p95",  "p99",  "max",   "total", "new", "gone"};
    rule->sum = gate_take_word(parser, "sum");
    size_t i = 0;
    while (i < TV_COUNT(figures) && !gate_take_word(parser, figures[i]))
        i++;
    if (i == TV_COUNT(figures))
        return gate_fail(parser,
                         "excl, incl, calls, mean, p50, p90, p95, p99, max, total, new or gone");
    rule->figure = (enum tv_gate_figure)i;
    if (gate_take_word(parser, "cpu"))
        rule->clock = TV_GATE_CPU;
    else if (gate_take_word(parser, "wall") || gate_take_word(parser, "real"))
        rule->clock = TV_GATE_WALL;
    if (rule->sum && rule->figure > TV_GATE_CALLS)
        return gate_fail(parser, "sum excl, sum incl or sum calls");
    return TV_OK;
}

/* Take one condition after "and". 0.5 is the largest p: above it, a rule would fire on a change in
 * the other direction. */
static enum tv_status gate_take_guard(struct gate_parser *parser, struct tv_gate_rule *rule)
{
    double runs;
    if (gate_take_word(parser, "p")) {
        if (!gate_take_word(parser, "<") || !gate_take_number(parser, &rule->p) || rule->p <= 0 ||
            rule->p > 0.5)
            return gate_fail(parser, "p < and a number up to 0.5");
        return TV_OK;
    }
    if (gate_take_word(parser, "runs")) {
        if (!gate_take_word(parser, ">=") || !gate_take_number(parser, &runs) || runs > 1e6)
            return gate_fail(parser, "runs >= and a number");
        rule->runs = (uint32_t)runs;
        return TV_OK;
    }
    if (gate_take_word(parser, "low"))
        return gate_take_limit(parser, &rule->low);
    if (gate_take_word(parser, "share"))
        return gate_take_limit(parser, &rule->share);
    if (gate_take_word(parser, "time"))
        return gate_take_limit(parser, &rule->time);
    if (gate_take_word(parser, "calls"))
        return gate_take_limit(parser, &rule->calls);
    return gate_fail(parser, "p, low, share, time, calls or runs");
}

/* Check that the rule is complete and has ended. */
static enum tv_status gate_check_end(struct gate_parser *parser, const struct tv_gate_rule *rule)
{
    gate_skip_blanks(parser);
    if (parser->rest.length > 0)
        return gate_fail(parser, "\"and\" or the end");
    if (rule->change.way == TV_GATE_NO_LIMIT && rule->figure < TV_GATE_NEW)
        return gate_fail(parser, "a limit such as > +5%");
    if (rule->p > 0 && !rule->change.is_change)
        return gate_fail(parser, "a change such as > +5% in a rule with p");
    return TV_OK;
}

enum tv_status tv_gate_rule_parse(struct tv_bytes text, struct tv_gate_rule *rule,
                                  struct tv_error *err)
{
    text = tv_bytes_trim(text);
    struct gate_parser parser = {text, text, err};
    *rule = (struct tv_gate_rule){.text = text};
    enum tv_status status = gate_take_figure(&parser, rule);
    if (status == TV_OK)
        status = gate_take_pattern(&parser, rule);
    gate_skip_blanks(&parser);
    if (status == TV_OK && parser.rest.length > 0 &&
        (parser.rest.data[0] == '>' || parser.rest.data[0] == '<'))
        status = gate_take_limit(&parser, &rule->change);
    while (status == TV_OK && gate_take_word(&parser, "and"))
        status = gate_take_guard(&parser, rule);
    return status == TV_OK ? gate_check_end(&parser, rule) : status;
}

/* ---- Judging ---- */

/* Tell whether a value is beyond a limit, which is true of any value where no limit was given. A
 * value that is not a number holds no limit. */
static bool gate_limit_holds(const struct tv_gate_limit *limit, double value)
{
    switch (limit->way) {
    case TV_GATE_ABOVE:
        return value > limit->number;
    case TV_GATE_AT_LEAST:
        return value >= limit->number;
    case TV_GATE_BELOW:
        return value < limit->number;
    default:
        return true;
    }
}

/* A row (or the sum, or the total) that a rule looks at. */
struct gate_candidate {
    struct tv_gate_hit hit; /* p: of false discoveries, before the other rules count */
    double least_p;         /* of relabeling, which p cannot be below */
    double low;             /* lower end of the relative change */
    double share, calls;
    bool in_both;
};

/* A rule while it is judged. */
struct gate_case {
    const struct tv_comparison *comparison; /* by the rule's figure and clock */
    struct tv_comparison own;               /* if it is not the caller's */
    bool owns;
    struct gate_candidate *candidates;
    uint32_t count, tiny;
    double least_p;
};

/* Return the direction of change that the rule looks for: p is one-sided. */
static enum tv_change_direction gate_direction(const struct tv_gate_rule *rule)
{
    return rule->change.way == TV_GATE_BELOW ? TV_CHANGE_DOWN : TV_CHANGE_UP;
}

/* Tell whether a rule's pattern means a row: by its class, or by its full or its bare name. */
static bool gate_matches(const struct tv_gate_rule *rule, const struct tv_run_table *table,
                         const struct tv_run_row *row)
{
    struct tv_out name;
    if (rule->pattern.length == 0)
        return true;
    if (rule->of_class)
        return tv_glob_matches(tv_run_text(table, row->class_name), rule->pattern);
    tv_out_init_memory(&name);
    tv_run_row_name(&name, table, row);
    bool matches = tv_glob_matches((struct tv_bytes){name.buffer, name.length}, rule->pattern);
    name.length = 0;
    tv_run_row_bare_name(&name, table, row); /* a pattern need not spell signatures */
    matches =
        matches || tv_glob_matches((struct tv_bytes){name.buffer, name.length}, rule->pattern);
    tv_out_release(&name);
    return matches;
}

/* Make the comparison by a rule's own figure and clock, of times as they were recorded. */
static const char *gate_choose_comparison(const struct tv_comparison *comparison,
                                          const struct tv_gate_rule *rule, struct gate_case *one)
{
    enum tv_run_figure figure =
        rule->figure <= TV_GATE_MAX ? (enum tv_run_figure)rule->figure : TV_FIGURE_EXCL;
    bool same_clock =
        rule->clock == TV_GATE_BEST_CLOCK || (rule->clock == TV_GATE_CPU) == comparison->cpu;
    one->comparison = comparison;
    if (comparison->figure == figure && same_clock && comparison->scale == TV_SCALE_NONE)
        return NULL;
    struct tv_error err;
    struct tv_comparison_options options = {.figure = figure,
                                            .least_share = comparison->least_share};
    options.clock = rule->clock == TV_GATE_CPU || (same_clock && comparison->cpu) ? TV_COMPARE_CPU
                                                                                  : TV_COMPARE_WALL;
    if (tv_comparison_init(&one->own, comparison->table, &options, &err) != TV_OK)
        return "not all runs have the clock that it names: record with --clock dual";
    one->owns = true;
    one->comparison = &one->own;
    return NULL;
}

/* Append; gate_open made room for all rows and one more. */
static void gate_add_candidate(struct gate_case *one, const struct gate_candidate *candidate)
{
    assert(one->count <= one->comparison->count);
    one->candidates[one->count++] = *candidate;
}

/* List the rows of the pattern, and p of those that were tested. */
static void gate_list_rows(const struct tv_gate_rule *rule, struct gate_case *one)
{
    const struct tv_comparison *comparison = one->comparison;
    uint32_t *tested = tv_alloc(comparison->tested, sizeof *tested), tested_count = 0;
    uint32_t *places = tv_alloc(comparison->count, sizeof *places);
    double *p = tv_alloc(comparison->tested, sizeof *p);
    double *least = tv_alloc(comparison->tested, sizeof *least);
    for (uint32_t i = 0; i < comparison->count; i++) {
        const struct tv_compared_row *row = &comparison->rows[i];
        const struct tv_run_row *named = &comparison->table->rows[row->row];
        if (!gate_matches(rule, comparison->table, named))
            continue;
        if (row->tiny && !rule->sum && rule->figure != TV_GATE_CALLS) {
            one->tiny++;
            continue;
        }
        struct gate_candidate *candidate = &one->candidates[one->count];
        *candidate = (struct gate_candidate){
            .hit = {row->row, row->base, row->new, row->new / row->base - 1, 1},
            .low = -(double)INFINITY,
            .share = row->share,
            .calls = (double)(row->base_calls > row->new_calls ? row->base_calls : row->new_calls),
            .in_both = named->in_base && named->in_new,
        };
        if (row->tested) {
            const struct tv_change *change = &comparison->changes.of[row->change];
            if (comparison->can_test) {
                candidate->hit.change = exp(change->difference) - 1;
                candidate->low = exp(change->low) - 1;
            }
            places[tested_count] = one->count;
            tested[tested_count++] = row->change;
        }
        one->count++;
    }
    if (rule->p > 0) {
        enum tv_change_direction direction = gate_direction(rule);
        tv_changes_discover(&comparison->changes, tested, tested_count, direction, p);
        tv_changes_relabel(&comparison->changes, tested, tested_count, direction, least);
    }
    for (uint32_t i = 0; i < tested_count && rule->p > 0; i++) {
        one->candidates[places[i]].hit.p = p[i];
        one->candidates[places[i]].least_p = least[i];
    }
    tv_free(least);
    tv_free(p);
    tv_free(places);
    tv_free(tested);
}

/* Sum the rows of the pattern in a run. */
static double gate_sum_run(const struct gate_case *one, uint32_t run)
{
    const struct tv_comparison *comparison = one->comparison;
    double sum = 0;
    for (uint32_t i = 0; i < one->count; i++) {
        const struct tv_run_row *row = &comparison->table->rows[one->candidates[i].hit.row];
        double value = tv_comparison_value(comparison, row, run, comparison->figure);
        sum += isnan(value) ? 0 : value;
    }
    return sum;
}

/* Test one more row, the sums, beside all tested rows, which tell the common factor and the prior.
 */
static void gate_test_sum(const struct tv_gate_rule *rule, const struct gate_case *one,
                          const double *sums, struct gate_candidate *candidate)
{
    const struct tv_comparison *comparison = one->comparison;
    const struct tv_run_table *table = comparison->table;
    uint32_t runs = table->run_count, rows = comparison->tested + 1, last = rows - 1;
    double *logs = tv_alloc((size_t)rows * runs, sizeof *logs);
    uint8_t *sides = tv_alloc(runs, sizeof *sides);
    uint32_t *sessions = tv_alloc(runs, sizeof *sessions);
    for (uint32_t run = 0; run < runs; run++) {
        sides[run] = (uint8_t)table->runs[run].side;
        sessions[run] = table->runs[run].session;
        logs[(size_t)last * runs + run] = tv_comparison_log(comparison, sums[run]);
    }
    for (uint32_t i = 0; i < last; i++)
        for (uint32_t run = 0; run < runs; run++)
            logs[(size_t)i * runs + run] = tv_comparison_log(
                comparison, tv_comparison_value(comparison, &table->rows[comparison->rows[i].row],
                                                run, comparison->figure));
    struct tv_run_matrix matrix = {rows, runs, logs, sides, sessions};
    struct tv_changes changes;
    tv_changes_init(&changes, &matrix);
    tv_changes_discover(&changes, &last, 1, gate_direction(rule), &candidate->hit.p);
    tv_changes_relabel(&changes, &last, 1, gate_direction(rule), &candidate->least_p);
    candidate->hit.change = exp(changes.of[last].difference) - 1;
    candidate->low = exp(changes.of[last].low) - 1;
    tv_changes_release(&changes);
    tv_free(sessions);
    tv_free(sides);
    tv_free(logs);
}

/* Replace the rows by their sum. */
static void gate_sum_rows(const struct tv_gate_rule *rule, struct gate_case *one)
{
    const struct tv_run_table *table = one->comparison->table;
    double *sums = tv_alloc(table->run_count, sizeof *sums);
    double *side = tv_alloc(table->run_count, sizeof *side);
    struct gate_candidate sum = {.hit = {TV_NONE, 0, 0, 0, 1}, .low = -(double)INFINITY};
    bool positive = true;
    for (uint32_t run = 0; run < table->run_count; run++) {
        sums[run] = gate_sum_run(one, run);
        positive = positive && sums[run] > 0;
    }
    for (int is_new = 0; is_new < 2; is_new++) {
        uint32_t count = 0;
        for (uint32_t run = 0; run < table->run_count; run++)
            if (table->runs[run].side == (is_new ? TV_RUN_NEW : TV_RUN_BASE))
                side[count++] = sums[run];
        *(is_new ? &sum.hit.new : &sum.hit.base) = tv_comparison_middle(side, count);
    }
    sum.hit.change = sum.hit.new / sum.hit.base - 1;
    sum.share = sum.calls = (double)INFINITY;
    sum.in_both = sum.hit.base > 0 && sum.hit.new > 0;
    if (positive && one->comparison->can_test)
        gate_test_sum(rule, one, sums, &sum);
    one->count = 0;
    gate_add_candidate(one, &sum);
    tv_free(side);
    tv_free(sums);
}

/* Make the whole run the only candidate. Its p is not one of many, so it is not raised for false
 * discoveries among rows. */
static void gate_take_total(const struct tv_gate_rule *rule, struct gate_case *one)
{
    const struct tv_comparison *comparison = one->comparison;
    struct gate_candidate total = {
        .hit = {TV_NONE, comparison->base_total, comparison->new_total,
                exp(comparison->total.difference) - 1, 1},
        .low = exp(comparison->total.low) - 1,
        .share = 1,
        .calls = (double)INFINITY,
        .in_both = true,
    };
    if (!comparison->can_test)
        total.hit.change = comparison->new_total / comparison->base_total - 1;
    total.hit.p = tv_change_p(&comparison->total, gate_direction(rule));
    gate_add_candidate(one, &total);
}

/* Rows that every run of one side has, and none of the other. */
static void gate_list_lone_rows(const struct tv_gate_rule *rule, struct gate_case *one)
{
    const struct tv_comparison *comparison = one->comparison;
    const struct tv_run_table *table = comparison->table;
    bool is_new = rule->figure == TV_GATE_NEW;
    for (uint32_t i = 0; i < comparison->count; i++) {
        const struct tv_compared_row *row = &comparison->rows[i];
        const struct tv_run_row *named = &table->rows[row->row];
        if (!tv_comparison_has_all(comparison, named, is_new ? TV_RUN_NEW : TV_RUN_BASE) ||
            (is_new ? named->in_base : named->in_new) || row->inlined ||
            !gate_matches(rule, table, named))
            continue;
        struct gate_candidate candidate = {
            .hit = {row->row, row->base, row->new, is_new ? (double)INFINITY : -1, 0},
            .low = (double)INFINITY,
            .share = row->share,
            .calls = (double)(is_new ? row->new_calls : row->base_calls),
        };
        gate_add_candidate(one, &candidate);
    }
}

/* Tell why a rule cannot be judged; NULL: it can. */
static const char *gate_refuse(const struct tv_comparison *comparison,
                               const struct tv_gate_rule *rule)
{
    if (comparison->obfuscated && rule->figure != TV_GATE_TOTAL)
        return "names are obfuscated and differ from build to build: give --mapping, or "
               "--base-mapping and --new-mapping";
    if (rule->p > 0 && comparison->mixed)
        return "p needs runs of one format: record both sides alike";
    if (rule->p > 0 && (comparison->base_runs < 3 || comparison->new_runs < 3))
        return "p needs at least 3 runs a side, and 5 for its promise: record more runs, or leave "
               "p out";
    if (rule->low.way != TV_GATE_NO_LIMIT && !comparison->can_test && rule->figure < TV_GATE_NEW)
        return "one run on a side has no interval, so nothing is known about low: record more "
               "runs, or leave low out";
    if (rule->runs > comparison->new_runs ||
        (rule->runs > comparison->base_runs && rule->change.is_change))
        return "there are fewer runs than the rule asks for";
    return NULL;
}

/* Can a rule about changes see one: is a row on both sides, or for a sum a row on each? */
static bool gate_has_both_sides(const struct tv_gate_rule *rule, const struct gate_case *one)
{
    bool both = false, base = false, fresh = false;
    for (uint32_t i = 0; i < one->count; i++) {
        const struct tv_run_row *row = &one->comparison->table->rows[one->candidates[i].hit.row];
        both = both || (row->in_base && row->in_new);
        base = base || row->in_base;
        fresh = fresh || row->in_new;
    }
    return rule->sum ? base && fresh : both;
}

/* List what a rule looks at. */
static void gate_list_candidates(const struct tv_gate_rule *rule, struct gate_case *one)
{
    one->candidates = tv_alloc((size_t)one->comparison->count + 1, sizeof *one->candidates);
    if (rule->figure == TV_GATE_TOTAL)
        gate_take_total(rule, one);
    else if (rule->figure >= TV_GATE_NEW)
        gate_list_lone_rows(rule, one);
    else
        gate_list_rows(rule, one);
}

/* Tell why a rule about methods has nothing to look at; NULL: it has. */
static const char *gate_refuse_rows(const struct tv_gate_rule *rule, const struct gate_case *one)
{
    if (rule->figure == TV_GATE_TOTAL && rule->thread.length > 0 &&
        one->comparison->base_total == 0 && one->comparison->new_total == 0)
        return "it names threads that no run has: correct the name, or say --allow-none";
    if (rule->figure >= TV_GATE_TOTAL)
        return NULL;
    if (one->count == 0 && one->tiny > 0)
        return "recording its calls makes up half or more of their time: use a rule about calls";
    if (one->count == 0)
        return "its pattern matches nothing: correct the name, or say --allow-none";
    if (rule->change.is_change && !gate_has_both_sides(rule, one))
        return "no row that its pattern matches is on both sides: give renamed methods with "
               "--rename, or say --allow-none";
    return NULL;
}

/* List the candidates of a rule with their p.  Return why it cannot be judged, or NULL. */
static const char *gate_open(const struct tv_comparison *comparison,
                             const struct tv_gate_rule *rule, bool allow_none,
                             struct gate_case *one, struct tv_gate_result *result)
{
    const char *reason = gate_refuse(comparison, rule);
    if (!reason)
        reason = gate_choose_comparison(comparison, rule, one);
    if (reason)
        return reason;
    gate_list_candidates(rule, one);
    result->looked_at = one->count;
    result->tiny = one->tiny;
    reason = allow_none ? NULL : gate_refuse_rows(rule, one);
    if (reason)
        return reason;
    if (rule->sum && one->count > 0)
        gate_sum_rows(rule, one);
    one->least_p = 1;
    for (uint32_t i = 0; i < one->count; i++)
        if (one->candidates[i].hit.p < one->least_p)
            one->least_p = one->candidates[i].hit.p;
    return NULL;
}

/* Tell whether a row makes the rule fire: its change and every guard hold. */
static bool gate_fires(const struct tv_gate_rule *rule, const struct gate_candidate *candidate)
{
    const struct tv_gate_hit *hit = &candidate->hit;
    double larger = hit->base > hit->new ? hit->base : hit->new;
    double value = !rule->change.is_change    ? hit->new
                   : rule->change.is_relative ? hit->change
                                              : hit->new - hit->base;
    if (rule->change.is_change && !candidate->in_both && rule->figure < TV_GATE_NEW)
        return false; /* what only one side has is for "new" and "gone" */
    return gate_limit_holds(&rule->change, value) && gate_limit_holds(&rule->low, candidate->low) &&
           gate_limit_holds(&rule->share, candidate->share) &&
           gate_limit_holds(&rule->time, larger) &&
           gate_limit_holds(&rule->calls, candidate->calls) && (rule->p <= 0 || hit->p < rule->p);
}

/* A rule with p, to be sorted by the smallest p of its rows. */
struct gate_order {
    double p;
    uint32_t rule;
};

static int gate_compare_order(const void *left, const void *right)
{
    const struct gate_order *a = left, *b = right;
    if (a->p != b->p)
        return a->p > b->p ? 1 : -1;
    return (a->rule > b->rule) - (a->rule < b->rule);
}

/* Raise the p of all rules by Holm's method: the smallest counts for all of them, the next for one
 * less, ...  That of relabeling is not raised: 5 + 5 runs have 252 labelings, so a few rules would
 * make each of them blind. */
static void gate_raise_by_rules(const struct tv_gate_rule *rules, struct gate_case *cases,
                                uint32_t count)
{
    struct gate_order *order = tv_alloc(count, sizeof *order);
    uint32_t with_p = 0;
    double least = 0;
    for (uint32_t i = 0; i < count; i++)
        if (rules[i].p > 0 && cases[i].count > 0)
            order[with_p++] = (struct gate_order){cases[i].least_p, i};
    if (with_p > 0)
        qsort(order, with_p, sizeof *order, gate_compare_order);
    for (uint32_t place = 0; place < with_p; place++) {
        struct gate_case *one = &cases[order[place].rule];
        for (uint32_t i = 0; i < one->count; i++) {
            double p = one->candidates[i].hit.p * (with_p - place);
            p = p > least ? p : least;
            p = p > one->candidates[i].least_p ? p : one->candidates[i].least_p;
            one->candidates[i].hit.p = p < 1 ? p : 1;
        }
        double raised = order[place].p * (with_p - place);
        least = raised > least ? raised : least;
    }
    tv_free(order);
}

void tv_gate_judge(const struct tv_comparison *const *comparisons, const struct tv_gate_rule *rules,
                   uint32_t count, bool allow_none, struct tv_gate_result *results)
{
    struct gate_case *cases = tv_alloc(count, sizeof *cases);
    for (uint32_t i = 0; i < count; i++) {
        results[i] = (struct tv_gate_result){.comparison = comparisons[i]};
        results[i].reason =
            gate_open(comparisons[i], &rules[i], allow_none, &cases[i], &results[i]);
    }
    gate_raise_by_rules(rules, cases, count);
    for (uint32_t i = 0; i < count; i++) {
        results[i].hits = tv_alloc(cases[i].count, sizeof *results[i].hits);
        for (uint32_t k = 0; k < cases[i].count && !results[i].reason; k++)
            if (gate_fires(&rules[i], &cases[i].candidates[k]))
                results[i].hits[results[i].hit_count++] = cases[i].candidates[k].hit;
        results[i].fired = results[i].hit_count > 0;
        if (cases[i].owns)
            tv_comparison_release(&cases[i].own);
        tv_free(cases[i].candidates);
    }
    tv_free(cases);
}

void tv_gate_results_release(struct tv_gate_result *results, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        tv_free(results[i].hits);
}
