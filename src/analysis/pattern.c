/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pattern is read into postfix notation, and that becomes an automaton of Thompson's; its states
 * are walked side by side.  Nothing recurs: groups stand on a stack of their own.
 */
#include "analysis/pattern.h"

#include <string.h>

#include "analysis/needle.h"
#include "base/bytes.h"
#include "base/memory.h"

#define GROUPS 100
#define MOST_TIMES 1000
#define NOBODY UINT16_MAX
#define NO_CHARACTER UINT32_MAX
#define LAST_CHARACTER 0x10ffffu

enum kind {
    SET,    /* a character of a set */
    BEGIN,  /* ^ */
    END,    /* $ */
    EDGE,   /* \b */
    EMPTY,  /* goes on */
    SPLIT,  /* goes on in two ways */
    DONE,   /* a match */
    CONCAT, /* the others stand only in postfix notation */
    EITHER,
    STAR,
    PLUS,
    MAYBE,
};

struct token {
    enum kind kind;
    uint16_t set;
};

/* Characters: ranges [first, first + count), or all but these. */
struct set {
    uint16_t first, count;
    bool others;
};

struct range {
    uint32_t low, high;
};

struct state {
    enum kind kind;
    uint16_t set;
    uint16_t to, other;
};

struct tv_pattern {
    struct token tokens[TV_PATTERN_STATES];
    struct state states[TV_PATTERN_STATES + 1];
    struct set sets[TV_PATTERN_STATES];
    struct range ranges[TV_PATTERN_RANGES];
    uint16_t token_count, state_count, set_count, range_count;
    uint16_t start;
    bool fold;
    bool starts[256]; /* the bytes with which a match may begin */
};

/* ---- Reading ---- */

struct group {
    uint16_t atoms, choices, begin;
};

struct reading {
    struct tv_pattern *pattern;
    struct tv_bytes rest;
    struct group groups[GROUPS];
    unsigned depth;
    uint16_t last; /* where the last atom begins in the tokens */
    const char *fault;
};

static uint32_t next_character(struct reading *r)
{
    size_t length;
    uint32_t c = tv_needle_take_plain(r->rest, &length);
    r->rest = (struct tv_bytes){r->rest.data + length, r->rest.length - length};
    return c;
}

static bool begins(const struct reading *r, const char *text)
{
    return tv_bytes_starts_with(r->rest, tv_bytes_of(text));
}

static void skip(struct reading *r, size_t count)
{
    r->rest = (struct tv_bytes){r->rest.data + count, r->rest.length - count};
}

static void put(struct reading *r, enum kind kind, uint16_t set)
{
    struct tv_pattern *p = r->pattern;
    if (p->token_count == TV_PATTERN_STATES)
        r->fault = "it is too long";
    else
        p->tokens[p->token_count++] = (struct token){kind, set};
}

static struct group *group(struct reading *r)
{
    return &r->groups[r->depth];
}

static void join_atoms(struct reading *r)
{
    if (group(r)->atoms > 1) {
        group(r)->atoms--;
        put(r, CONCAT, 0);
    }
}

static void put_atom(struct reading *r, enum kind kind, uint16_t set)
{
    join_atoms(r);
    r->last = r->pattern->token_count;
    put(r, kind, set);
    group(r)->atoms++;
}

/* The alternative that was read so far is one atom. */
static void end_choice(struct reading *r)
{
    if (group(r)->atoms == 0)
        put_atom(r, EMPTY, 0);
    join_atoms(r);
}

static void end_group(struct reading *r)
{
    end_choice(r);
    for (; group(r)->choices > 0; group(r)->choices--)
        put(r, EITHER, 0);
}

static void open_group(struct reading *r)
{
    if (begins(r, "?:"))
        skip(r, 2);
    else if (begins(r, "?"))
        r->fault = "\"(?\" is not known";
    join_atoms(r);
    if (r->depth + 1 == GROUPS) {
        r->fault = "its groups are too deep";
        return;
    }
    r->depth++;
    *group(r) = (struct group){0, 0, r->pattern->token_count};
}

static void close_group(struct reading *r)
{
    if (r->depth == 0) {
        r->fault = "a \")\" has no \"(\"";
        return;
    }
    end_group(r);
    r->last = group(r)->begin;
    r->depth--;
    group(r)->atoms++;
}

/* ---- Sets of characters ---- */

static void add_range(struct reading *r, uint32_t low, uint32_t high)
{
    struct tv_pattern *p = r->pattern;
    if (p->range_count == TV_PATTERN_RANGES || low > high)
        r->fault = low > high ? "a range ends before it begins" : "it is too long";
    else
        p->ranges[p->range_count++] = (struct range){low, high};
}

static uint16_t begin_set(struct reading *r, bool others)
{
    struct tv_pattern *p = r->pattern;
    if (p->set_count == TV_PATTERN_STATES) {
        r->fault = "it is too long";
        return 0;
    }
    p->sets[p->set_count] = (struct set){p->range_count, 0, others};
    return p->set_count++;
}

static void end_set(struct reading *r, uint16_t set)
{
    struct set *s = &r->pattern->sets[set];
    s->count = (uint16_t)(r->pattern->range_count - s->first);
}

/* The ranges between those of a class: \D is all that is no digit. */
static void add_others(struct reading *r, const struct range *ranges, size_t count)
{
    uint32_t from = 0;
    for (size_t i = 0; i < count; i++) {
        if (ranges[i].low > from)
            add_range(r, from, ranges[i].low - 1);
        from = ranges[i].high + 1;
    }
    add_range(r, from, LAST_CHARACTER);
}

/* \d \w \s, or with a capital all others; false: the letter means none. */
static bool add_class(struct reading *r, uint32_t letter)
{
    static const struct range digits[] = {{'0', '9'}};
    static const struct range blanks[] = {{'\t', '\r'}, {' ', ' '}, {0xa0, 0xa0}};
    static const struct range words[] = {
        {'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}, {0xc0, LAST_CHARACTER - 1}};
    static const struct {
        char letter, other;
        const struct range *ranges;
        size_t count;
    } classes[] = {{'d', 'D', digits, TV_COUNT(digits)},
                   {'w', 'W', words, TV_COUNT(words)},
                   {'s', 'S', blanks, TV_COUNT(blanks)}};
    for (size_t i = 0; i < TV_COUNT(classes); i++) {
        if (letter == (uint32_t)classes[i].other) {
            add_others(r, classes[i].ranges, classes[i].count);
            return true;
        }
        for (size_t k = 0; letter == (uint32_t)classes[i].letter && k < classes[i].count; k++)
            add_range(r, classes[i].ranges[k].low, classes[i].ranges[k].high);
        if (letter == (uint32_t)classes[i].letter)
            return true;
    }
    return false;
}

static bool is_word(uint32_t c)
{
    return c != NO_CHARACTER && ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' ||
                                 (c >= 'a' && c <= 'z') || c >= 0xc0);
}

/* The character that stands behind a backslash. */
static uint32_t escaped(struct reading *r, uint32_t letter)
{
    switch (letter) {
    case 't':
        return '\t';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    default:
        if (letter < 0x80 && is_word(letter))
            r->fault = "a letter or digit behind \"\\\" is not known";
        return letter;
    }
}

/* One character of a set, or a class: then NO_CHARACTER. */
static uint32_t read_member(struct reading *r)
{
    uint32_t c = next_character(r);
    if (c != '\\' || r->rest.length == 0)
        return c;
    c = next_character(r);
    return add_class(r, c) ? NO_CHARACTER : escaped(r, c);
}

static void read_set(struct reading *r)
{
    bool others = begins(r, "^");
    skip(r, others);
    uint16_t set = begin_set(r, others);
    bool first = true;
    while (!r->fault && r->rest.length > 0 && (first || r->rest.data[0] != ']')) {
        uint32_t low = read_member(r), high = low;
        first = false;
        if (low == NO_CHARACTER)
            continue;
        if (begins(r, "-") && r->rest.length > 1 && r->rest.data[1] != ']') {
            skip(r, 1);
            high = read_member(r);
        }
        add_range(r, low, high == NO_CHARACTER ? LAST_CHARACTER : high);
    }
    if (r->rest.length == 0)
        r->fault = "a \"[\" has no \"]\"";
    else
        skip(r, 1);
    end_set(r, set);
    put_atom(r, SET, set);
}

static void put_character(struct reading *r, uint32_t c)
{
    uint16_t set = begin_set(r, false);
    add_range(r, c, c);
    end_set(r, set);
    put_atom(r, SET, set);
}

static void read_escape(struct reading *r)
{
    if (r->rest.length == 0) {
        r->fault = "it ends with \"\\\"";
        return;
    }
    uint32_t c = next_character(r);
    if (c == 'b') {
        put_atom(r, EDGE, 0);
        return;
    }
    uint16_t set = begin_set(r, false);
    if (!add_class(r, c)) {
        c = escaped(r, c);
        add_range(r, c, c);
    }
    end_set(r, set);
    put_atom(r, SET, set);
}

/* ---- How often ---- */

static bool read_number(struct reading *r, unsigned *number)
{
    bool any = false;
    *number = 0;
    while (r->rest.length > 0 && r->rest.data[0] >= '0' && r->rest.data[0] <= '9') {
        *number = *number * 10 + (unsigned)(r->rest.data[0] - '0');
        if (*number > MOST_TIMES) {
            r->fault = "it is too long";
            return false;
        }
        any = true;
        skip(r, 1);
    }
    return any;
}

static void copy_atom(struct reading *r, uint16_t begin, uint16_t count, enum kind how)
{
    for (uint16_t i = 0; i < count && !r->fault; i++)
        put(r, r->pattern->tokens[begin + i].kind, r->pattern->tokens[begin + i].set);
    if (how != EMPTY)
        put(r, how, 0);
}

/* {m,n}: the last atom m times, and n - m times perhaps. */
static void repeat(struct reading *r, unsigned least, unsigned most, bool endless)
{
    struct tv_pattern *p = r->pattern;
    uint16_t begin = r->last, count = (uint16_t)(p->token_count - begin);
    unsigned times = endless ? least + 1 : most;
    if (times == 0) {
        p->token_count = begin;
        put(r, EMPTY, 0);
        return;
    }
    /* The first of them is the atom itself. */
    if (least == 0)
        put(r, endless ? STAR : MAYBE, 0);
    for (unsigned i = 1; i < times && !r->fault; i++) {
        copy_atom(r, begin, count, i < least ? EMPTY : endless ? STAR : MAYBE);
        put(r, CONCAT, 0);
    }
}

static void read_times(struct reading *r)
{
    unsigned least, most;
    bool known = read_number(r, &least);
    bool endless = false;
    most = least;
    if (known && begins(r, ",")) {
        skip(r, 1);
        endless = !read_number(r, &most);
    }
    if (!known || !begins(r, "}") || (!endless && most < least))
        r->fault = r->fault ? r->fault : "\"{\" is not followed by \"m}\", \"m,}\" or \"m,n}\"";
    else
        skip(r, 1);
    if (!r->fault)
        repeat(r, least, most, endless);
}

static void read_quantifier(struct reading *r, uint32_t c)
{
    if (group(r)->atoms == 0) {
        r->fault = "nothing stands before a \"*\", \"+\", \"?\" or \"{\"";
        return;
    }
    if (c == '{')
        read_times(r);
    else
        put(r, c == '*' ? STAR : c == '+' ? PLUS : MAYBE, 0);
    /* Lazy or greedy is the same here. */
    if (begins(r, "?"))
        skip(r, 1);
}

static void put_any(struct reading *r)
{
    uint16_t set = begin_set(r, true);
    end_set(r, set);
    put_atom(r, SET, set);
}

static void begin_choice(struct reading *r)
{
    end_choice(r);
    group(r)->atoms = 0;
    group(r)->choices++;
}

static void read_one(struct reading *r, uint32_t c)
{
    switch (c) {
    case '(':
        open_group(r);
        break;
    case ')':
        close_group(r);
        break;
    case '|':
        begin_choice(r);
        break;
    case '[':
        read_set(r);
        break;
    case '\\':
        read_escape(r);
        break;
    case '^':
        put_atom(r, BEGIN, 0);
        break;
    case '$':
        put_atom(r, END, 0);
        break;
    case '.':
        put_any(r);
        break;
    default:
        put_character(r, c);
    }
}

static void read_all(struct reading *r)
{
    while (r->rest.length > 0 && !r->fault) {
        uint32_t c = next_character(r);
        if (c == '*' || c == '+' || c == '?' || c == '{')
            read_quantifier(r, c);
        else
            read_one(r, c);
    }
    if (!r->fault && r->depth > 0)
        r->fault = "a \"(\" has no \")\"";
    if (!r->fault)
        end_group(r);
}

/* ---- The automaton ---- */

/* A part of it: where it begins, and the last of its loose ends, an EMPTY state of its own. */
struct part {
    uint16_t begin, end;
};

static uint16_t add_state(struct tv_pattern *p, enum kind kind, uint16_t to, uint16_t other)
{
    if (p->state_count == TV_PATTERN_STATES)
        return NOBODY;
    p->states[p->state_count] = (struct state){kind, 0, to, other};
    return p->state_count++;
}

static struct part single(struct tv_pattern *p, const struct token *token)
{
    uint16_t end = add_state(p, EMPTY, NOBODY, NOBODY);
    uint16_t begin = add_state(p, token->kind, end, NOBODY);
    if (begin != NOBODY)
        p->states[begin].set = token->set;
    return (struct part){begin, end};
}

/* Once it has gone through, it may go on or begin again. */
static struct part repeated(struct tv_pattern *p, struct part a, enum kind how)
{
    uint16_t end = add_state(p, EMPTY, NOBODY, NOBODY);
    uint16_t split = add_state(p, SPLIT, a.begin, end);
    if (split == NOBODY)
        return (struct part){NOBODY, NOBODY};
    p->states[a.end].to = how == MAYBE ? end : split;
    return (struct part){how == PLUS ? a.begin : split, end};
}

static struct part either(struct tv_pattern *p, struct part a, struct part b)
{
    uint16_t end = add_state(p, EMPTY, NOBODY, NOBODY);
    uint16_t split = add_state(p, SPLIT, a.begin, b.begin);
    if (split == NOBODY)
        return (struct part){NOBODY, NOBODY};
    p->states[a.end].to = p->states[b.end].to = end;
    return (struct part){split, end};
}

static struct part chain(struct tv_pattern *p, struct part a, struct part b)
{
    p->states[a.end].to = b.begin;
    return (struct part){a.begin, b.end};
}

/* False: it has too many states. */
static bool build(struct tv_pattern *p)
{
    struct part *stack = tv_alloc((size_t)p->token_count + 1, sizeof *stack);
    size_t height = 0;
    bool fits = true;
    for (uint16_t i = 0; i < p->token_count && fits; i++) {
        const struct token *token = &p->tokens[i];
        struct part made;
        if (token->kind == CONCAT || token->kind == EITHER) {
            struct part b = stack[--height], a = stack[--height];
            made = token->kind == CONCAT ? chain(p, a, b) : either(p, a, b);
        } else if (token->kind >= STAR) {
            made = repeated(p, stack[--height], token->kind);
        } else {
            made = single(p, token);
        }
        fits = made.begin != NOBODY;
        stack[height++] = made;
    }
    if (fits) {
        p->start = stack[0].begin;
        p->states[p->state_count] = (struct state){DONE, 0, NOBODY, NOBODY};
        p->states[stack[0].end].to = p->state_count++;
    }
    tv_free(stack);
    return fits;
}

/* ---- Walking ---- */

/* States side by side. */
struct front {
    uint16_t states[TV_PATTERN_STATES + 1];
    uint16_t count;
};

struct walk {
    const struct tv_pattern *pattern;
    struct front now, next;
    uint32_t mark[TV_PATTERN_STATES + 1]; /* the step in which a state was added last */
    uint32_t step;
    uint16_t stack[2 * (TV_PATTERN_STATES + 1)];
    uint32_t before, here; /* characters on both sides; NO_CHARACTER: an end */
    bool loose, matched;
};

static bool holds(const struct walk *walk, enum kind kind)
{
    if (walk->loose)
        return true;
    if (kind == BEGIN)
        return walk->before == NO_CHARACTER;
    if (kind == END)
        return walk->here == NO_CHARACTER;
    return is_word(walk->before) != is_word(walk->here);
}

/* Adds to `now` what can be reached without a character. */
static void reach(struct walk *walk, uint16_t first)
{
    size_t height = 0;
    walk->stack[height++] = first;
    while (height > 0) {
        uint16_t at = walk->stack[--height];
        if (at == NOBODY || walk->mark[at] == walk->step)
            continue;
        walk->mark[at] = walk->step;
        const struct state *state = &walk->pattern->states[at];
        if (state->kind == SET)
            walk->now.states[walk->now.count++] = at;
        else if (state->kind == DONE)
            walk->matched = true;
        else if (state->kind == EMPTY || state->kind == SPLIT || holds(walk, state->kind)) {
            walk->stack[height++] = state->to;
            walk->stack[height++] = state->other;
        }
    }
}

static bool in_ranges(const struct tv_pattern *p, const struct set *set, uint32_t c)
{
    for (uint16_t i = 0; i < set->count; i++) {
        const struct range *range = &p->ranges[set->first + i];
        if (c >= range->low && c <= range->high)
            return true;
    }
    return false;
}

static bool in_set(const struct tv_pattern *p, const struct set *set, uint32_t c)
{
    bool in = in_ranges(p, set, c);
    if (!in && p->fold)
        in = in_ranges(p, set, tv_needle_small(c)) || in_ranges(p, set, tv_needle_capital(c));
    return in != set->others;
}

/* The states behind a character. */
static void pass(struct walk *walk, uint32_t c)
{
    const struct tv_pattern *p = walk->pattern;
    walk->next.count = 0;
    for (uint16_t i = 0; i < walk->now.count; i++) {
        const struct state *state = &p->states[walk->now.states[i]];
        if (in_set(p, &p->sets[state->set], c))
            walk->next.states[walk->next.count++] = state->to;
    }
}

/* All that is reached at a place: from the states before it, and from the start. */
static void arrive(struct walk *walk)
{
    walk->step++;
    walk->now.count = 0;
    walk->matched = false;
    for (uint16_t i = 0; i < walk->next.count; i++)
        reach(walk, walk->next.states[i]);
    reach(walk, walk->pattern->start);
}

static struct walk *new_walk(const struct tv_pattern *pattern, bool loose)
{
    struct walk *walk = tv_alloc(1, sizeof *walk);
    walk->pattern = pattern;
    walk->loose = loose;
    walk->before = walk->here = NO_CHARACTER;
    return walk;
}

size_t tv_pattern_find(const struct tv_pattern *pattern, struct tv_bytes text,
                       tv_pattern_take *take)
{
    struct walk *walk = new_walk(pattern, false);
    size_t at = 0, found = TV_PATTERN_NONE, length = 0;
    if (text.length == 0)
        text.data = (const uint8_t *)""; /* what is empty may have no place */
    for (;;) {
        struct tv_bytes rest = {text.data + at, text.length - at};
        walk->here = rest.length > 0 ? take(rest, &length) : NO_CHARACTER;
        arrive(walk);
        if (walk->matched)
            found = at;
        if (walk->matched || rest.length == 0)
            break;
        pass(walk, walk->here);
        walk->before = walk->here;
        at += length;
    }
    tv_free(walk);
    return found;
}

size_t tv_pattern_find_loose(const struct tv_pattern *pattern, struct tv_bytes bytes, size_t from,
                             tv_pattern_take *take)
{
    struct walk *walk = new_walk(pattern, true);
    size_t found = TV_PATTERN_NONE;
    for (size_t at = from, length; at < bytes.length && found == TV_PATTERN_NONE; at += length) {
        length = 1;
        if (bytes.data[at] == '"')
            walk->next.count = 0;
        if (bytes.data[at] == '"' || (walk->next.count == 0 && !pattern->starts[bytes.data[at]]))
            continue;
        if (walk->next.count == 0)
            arrive(walk);
        pass(walk, take((struct tv_bytes){bytes.data + at, bytes.length - at}, &length));
        arrive(walk);
        if (walk->matched)
            found = at;
    }
    tv_free(walk);
    return found;
}

/* ---- A pattern ---- */

/* The bytes that can begin a match: exact for ASCII, all others when any of them may. */
static void set_starts(struct tv_pattern *p, const struct walk *walk)
{
    p->starts['\\'] = true;
    for (uint32_t byte = 0; byte < 256; byte++) {
        for (uint16_t i = 0; byte < 0x80 && i < walk->now.count && !p->starts[byte]; i++)
            p->starts[byte] = in_set(p, &p->sets[p->states[walk->now.states[i]].set], byte);
        p->starts[byte] = p->starts[byte] || byte >= 0x80;
    }
}

static const char *compile(struct tv_pattern *p, struct tv_bytes text)
{
    struct reading *r = tv_alloc(1, sizeof *r);
    r->pattern = p;
    r->rest = text;
    read_all(r);
    const char *fault = r->fault;
    tv_free(r);
    if (!fault && !build(p))
        fault = "it is too long";
    if (fault)
        return fault;
    struct walk *walk = new_walk(p, true);
    arrive(walk);
    set_starts(p, walk);
    if (walk->matched)
        fault = "it matches the empty text";
    tv_free(walk);
    return fault;
}

enum tv_status tv_pattern_new(struct tv_bytes text, bool fold, struct tv_pattern **pattern,
                              struct tv_error *err)
{
    struct tv_pattern *made = tv_alloc(1, sizeof *made);
    made->fold = fold;
    const char *fault = compile(made, text);
    if (fault) {
        tv_free(made);
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "the pattern cannot be used: %s", fault);
    }
    *pattern = made;
    return TV_OK;
}

void tv_pattern_free(struct tv_pattern *pattern)
{
    tv_free(pattern);
}
