/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiler works in two passes, and neither recurses on the user's input:
 *
 *   "a(b|c)*"  --parse-->  a b c EITHER STAR CONCAT  --build-->  states
 *
 * The parser writes postfix notation (`tokens`), with a stack of open groups.  The builder turns it
 * into a nondeterministic automaton by Thompson's construction.  A search walks all states that are
 * active side by side (`front`), so that each character of the text costs at most as many steps as
 * there are states.
 *
 * The bound is the reason for an engine of our own.  Engines that try one way after the other
 * take exponential time for some expressions, such as "(a*)*b", and anybody who may search a
 * shared trace could send one to the server.  Here the limits on states and ranges bound time and
 * memory.
 *
 * The automaton of "a(b|c)*", where each arrow is `to` or `other` of a state:
 *
 *     start -> a -> SPLIT -----------------------> DONE
 *                   ^ '-> SPLIT -> b -.
 *                   |         '--> c -|
 *                   '-----------------'
 *
 * A search wants to know whether and where the first match ends, never where groups lie, so
 * nothing is captured, and lazy quantifiers mean the same as greedy ones.
 */
#include "analysis/search/regex.h"

#include <assert.h>
#include <string.h>

#include "analysis/search/text_search.h"
#include "base/bytes.h"
#include "base/memory.h"

#define GROUPS 100
#define MAX_TIMES 1000
#define NO_STATE UINT16_MAX
#define NO_CHARACTER UINT32_MAX
#define LAST_CHARACTER 0x10ffffu

enum regex_kind {
    SET,    /* a character of a set */
    BEGIN,  /* ^ */
    END,    /* $ */
    EDGE,   /* \b */
    EMPTY,  /* continue with `to` */
    SPLIT,  /* continue with `to` and with `other` */
    DONE,   /* a match */
    CONCAT, /* from here on only in postfix notation */
    EITHER,
    STAR,
    PLUS,
    MAYBE,
};

struct regex_token {
    enum regex_kind kind;
    uint16_t set;
};

/* Characters: ranges [first, first + count), or every other character. */
struct regex_set {
    uint16_t first, count;
    bool others;
};

struct regex_range {
    uint32_t low, high;
};

struct regex_state {
    enum regex_kind kind;
    uint16_t set;
    uint16_t to, other;
};

struct tv_regex {
    struct regex_token tokens[TV_REGEX_STATES];
    struct regex_state states[TV_REGEX_STATES + 1];
    struct regex_set sets[TV_REGEX_STATES];
    struct regex_range ranges[TV_REGEX_RANGES];
    uint16_t token_count, state_count, set_count, range_count;
    uint16_t start;
    bool fold;
    bool starts[256]; /* bytes that can begin a match */
};

/* ---- Parsing ---- */

/* An open group: atoms of the current alternative that are not joined yet, alternatives before it,
 * and its first token. */
struct regex_group {
    uint16_t atoms, choices, begin;
};

/* State of the parser. The first fault stays, and ends parsing. */
struct regex_parser {
    struct tv_regex *regex;
    struct tv_bytes rest;
    struct regex_group groups[GROUPS];
    unsigned depth;
    uint16_t last; /* first token of the last atom */
    const char *fault;
};

/* Take the next character of the expression; the rest must not be empty. */
static uint32_t regex_next_character(struct regex_parser *r)
{
    size_t length;
    uint32_t c = tv_character_decode(r->rest, &length);
    r->rest = (struct tv_bytes){r->rest.data + length, r->rest.length - length};
    return c;
}

/* Return true when the rest of the expression begins with the text. */
static bool regex_rest_begins(const struct regex_parser *r, const char *text)
{
    return tv_bytes_starts_with(r->rest, tv_bytes_of(text));
}

/* Skip bytes of the expression. */
static void regex_skip(struct regex_parser *r, size_t count)
{
    r->rest = (struct tv_bytes){r->rest.data + count, r->rest.length - count};
}

/* Append a token, unless the expression is too long. */
static void regex_put_token(struct regex_parser *r, enum regex_kind kind, uint16_t set)
{
    struct tv_regex *p = r->regex;
    if (p->token_count == TV_REGEX_STATES)
        r->fault = "it is too long";
    else
        p->tokens[p->token_count++] = (struct regex_token){kind, set};
}

/* Return the innermost open group; groups[0] is the whole expression. */
static struct regex_group *regex_current_group(struct regex_parser *r)
{
    return &r->groups[r->depth];
}

/* Join the last two atoms of the current group. */
static void regex_join_atoms(struct regex_parser *r)
{
    if (regex_current_group(r)->atoms > 1) {
        regex_current_group(r)->atoms--;
        regex_put_token(r, CONCAT, 0);
    }
}

/* Append an atom, to be joined with the one before it. */
static void regex_put_atom(struct regex_parser *r, enum regex_kind kind, uint16_t set)
{
    regex_join_atoms(r);
    r->last = r->regex->token_count;
    regex_put_token(r, kind, set);
    regex_current_group(r)->atoms++;
}

/* Reduce the alternative that was read so far to one atom. */
static void regex_end_alternative(struct regex_parser *r)
{
    if (regex_current_group(r)->atoms == 0)
        regex_put_atom(r, EMPTY, 0);
    regex_join_atoms(r);
}

/* Reduce the alternatives of a group to one atom. */
static void regex_end_group(struct regex_parser *r)
{
    regex_end_alternative(r);
    for (; regex_current_group(r)->choices > 0; regex_current_group(r)->choices--)
        regex_put_token(r, EITHER, 0);
}

/* Open "(" or "(?:". */
static void regex_open_group(struct regex_parser *r)
{
    if (regex_rest_begins(r, "?:"))
        regex_skip(r, 2);
    else if (regex_rest_begins(r, "?"))
        r->fault = "\"(?\" is not known";
    regex_join_atoms(r);
    if (r->depth + 1 == GROUPS) {
        r->fault = "its groups are too deep";
        return;
    }
    r->depth++;
    *regex_current_group(r) = (struct regex_group){0, 0, r->regex->token_count};
}

/* Reduce the group to one atom of the group around it. A quantifier that follows repeats all of
 * it. */
static void regex_close_group(struct regex_parser *r)
{
    if (r->depth == 0) {
        r->fault = "a \")\" has no \"(\"";
        return;
    }
    regex_end_group(r);
    r->last = regex_current_group(r)->begin;
    r->depth--;
    regex_current_group(r)->atoms++;
}

/* ---- Sets of characters ---- */

/* Add a range to the set that is being read. */
static void regex_add_range(struct regex_parser *r, uint32_t low, uint32_t high)
{
    struct tv_regex *p = r->regex;
    if (p->range_count == TV_REGEX_RANGES || low > high)
        r->fault = low > high ? "a range ends before it begins" : "it is too long";
    else
        p->ranges[p->range_count++] = (struct regex_range){low, high};
}

/* Begin a set of characters and return its number. Its ranges must follow without those of another
 * set. */
static uint16_t regex_begin_set(struct regex_parser *r, bool others)
{
    struct tv_regex *p = r->regex;
    if (p->set_count == TV_REGEX_STATES) {
        r->fault = "it is too long";
        return 0;
    }
    p->sets[p->set_count] = (struct regex_set){p->range_count, 0, others};
    return p->set_count++;
}

/* End a set: it has all ranges that were added since it began. */
static void regex_end_set(struct regex_parser *r, uint16_t set)
{
    assert(set < TV_REGEX_STATES);
    struct regex_set *s = &r->regex->sets[set];
    s->count = (uint16_t)(r->regex->range_count - s->first);
}

/* Add the gaps between a class's ranges: \D is every character that is not a digit. */
static void regex_add_complement(struct regex_parser *r, const struct regex_range *ranges,
                                 size_t count)
{
    uint32_t from = 0;
    for (size_t i = 0; i < count; i++) {
        if (ranges[i].low > from)
            regex_add_range(r, from, ranges[i].low - 1);
        from = ranges[i].high + 1;
    }
    regex_add_range(r, from, LAST_CHARACTER);
}

/* Add \d \w \s, or their complement for a capital letter; false if the letter names no class. */
static bool regex_add_class(struct regex_parser *r, uint32_t letter)
{
    static const struct regex_range digits[] = {{'0', '9'}};
    static const struct regex_range blanks[] = {{'\t', '\r'}, {' ', ' '}, {0xa0, 0xa0}};
    static const struct regex_range words[] = {
        {'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}, {0xc0, LAST_CHARACTER - 1}};
    static const struct {
        char letter, other;
        const struct regex_range *ranges;
        size_t count;
    } classes[] = {{'d', 'D', digits, TV_COUNT(digits)},
                   {'w', 'W', words, TV_COUNT(words)},
                   {'s', 'S', blanks, TV_COUNT(blanks)}};
    for (size_t i = 0; i < TV_COUNT(classes); i++) {
        if (letter == (uint32_t)classes[i].other) {
            regex_add_complement(r, classes[i].ranges, classes[i].count);
            return true;
        }
        for (size_t k = 0; letter == (uint32_t)classes[i].letter && k < classes[i].count; k++)
            regex_add_range(r, classes[i].ranges[k].low, classes[i].ranges[k].high);
        if (letter == (uint32_t)classes[i].letter)
            return true;
    }
    return false;
}

/* Return true for characters of words. Every character from U+00C0 on counts, as names in other
 * scripts should. */
static bool regex_is_word_character(uint32_t c)
{
    return c != NO_CHARACTER && ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' ||
                                 (c >= 'a' && c <= 'z') || c >= 0xc0);
}

/* Return the character that an escaped letter stands for. */
static uint32_t regex_escaped_character(struct regex_parser *r, uint32_t letter)
{
    switch (letter) {
    case 't':
        return '\t';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    default:
        if (letter < 0x80 && regex_is_word_character(letter))
            r->fault = "a letter or digit after \"\\\" is not known";
        return letter;
    }
}

/* Read a character of a set; NO_CHARACTER: it was a class, which is added already. */
static uint32_t regex_read_set_member(struct regex_parser *r)
{
    uint32_t c = regex_next_character(r);
    if (c != '\\' || r->rest.length == 0)
        return c;
    c = regex_next_character(r);
    return regex_add_class(r, c) ? NO_CHARACTER : regex_escaped_character(r, c);
}

/* Read "[a-z]" or "[^a-z]". */
static void regex_read_set(struct regex_parser *r)
{
    bool others = regex_rest_begins(r, "^");
    regex_skip(r, others);
    uint16_t set = regex_begin_set(r, others);
    bool first = true;
    while (!r->fault && r->rest.length > 0 && (first || r->rest.data[0] != ']')) {
        uint32_t low = regex_read_set_member(r), high = low;
        first = false;
        if (low == NO_CHARACTER)
            continue;
        if (regex_rest_begins(r, "-") && r->rest.length > 1 && r->rest.data[1] != ']') {
            regex_skip(r, 1);
            high = regex_read_set_member(r);
        }
        regex_add_range(r, low, high == NO_CHARACTER ? LAST_CHARACTER : high);
    }
    if (r->rest.length == 0)
        r->fault = "a \"[\" has no \"]\"";
    else
        regex_skip(r, 1);
    regex_end_set(r, set);
    regex_put_atom(r, SET, set);
}

/* Append an atom that matches one character. */
static void regex_put_character(struct regex_parser *r, uint32_t c)
{
    uint16_t set = regex_begin_set(r, false);
    regex_add_range(r, c, c);
    regex_end_set(r, set);
    regex_put_atom(r, SET, set);
}

/* Read the escape after a backslash: an assertion, a class or a character. */
static void regex_read_escape(struct regex_parser *r)
{
    if (r->rest.length == 0) {
        r->fault = "it ends with \"\\\"";
        return;
    }
    uint32_t c = regex_next_character(r);
    if (c == 'b') {
        regex_put_atom(r, EDGE, 0);
        return;
    }
    uint16_t set = regex_begin_set(r, false);
    if (!regex_add_class(r, c)) {
        c = regex_escaped_character(r, c);
        regex_add_range(r, c, c);
    }
    regex_end_set(r, set);
    regex_put_atom(r, SET, set);
}

/* ---- Quantifiers ---- */

/* Read a count. False: no digits, or too large, which is a fault. */
static bool regex_read_number(struct regex_parser *r, unsigned *number)
{
    bool any = false;
    *number = 0;
    while (r->rest.length > 0 && r->rest.data[0] >= '0' && r->rest.data[0] <= '9') {
        *number = *number * 10 + (unsigned)(r->rest.data[0] - '0');
        if (*number > MAX_TIMES) {
            r->fault = "it is too long";
            return false;
        }
        any = true;
        regex_skip(r, 1);
    }
    return any;
}

/* Append a copy of an atom's tokens, with an operator after them. */
static void regex_copy_atom(struct regex_parser *r, uint16_t begin, uint16_t count,
                            enum regex_kind how)
{
    for (uint16_t i = 0; i < count && !r->fault; i++)
        regex_put_token(r, r->regex->tokens[begin + i].kind, r->regex->tokens[begin + i].set);
    if (how != EMPTY)
        regex_put_token(r, how, 0);
}

/* Expand {least,most}: the last atom `least` times, then `most - least` optional copies. */
static void regex_repeat_atom(struct regex_parser *r, unsigned least, unsigned most, bool endless)
{
    struct tv_regex *p = r->regex;
    uint16_t begin = r->last, count = (uint16_t)(p->token_count - begin);
    unsigned times = endless ? least + 1 : most;
    if (times == 0) {
        p->token_count = begin;
        regex_put_token(r, EMPTY, 0);
        return;
    }
    /* The first copy is the atom itself. */
    if (least == 0)
        regex_put_token(r, endless ? STAR : MAYBE, 0);
    for (unsigned i = 1; i < times && !r->fault; i++) {
        regex_copy_atom(r, begin, count, i < least ? EMPTY : endless ? STAR : MAYBE);
        regex_put_token(r, CONCAT, 0);
    }
}

/* Read "m}", "m,}" or "m,n}" and repeat the last atom. */
static void regex_read_counts(struct regex_parser *r)
{
    unsigned least, most;
    bool known = regex_read_number(r, &least);
    bool endless = false;
    most = least;
    if (known && regex_rest_begins(r, ",")) {
        regex_skip(r, 1);
        endless = !regex_read_number(r, &most);
    }
    if (!known || !regex_rest_begins(r, "}") || (!endless && most < least))
        r->fault = r->fault ? r->fault : "\"{\" is not followed by \"m}\", \"m,}\" or \"m,n}\"";
    else
        regex_skip(r, 1);
    if (!r->fault)
        regex_repeat_atom(r, least, most, endless);
}

/* Read what follows an atom: how often it may repeat. */
static void regex_read_quantifier(struct regex_parser *r, uint32_t c)
{
    if (regex_current_group(r)->atoms == 0) {
        r->fault = "nothing stands before a \"*\", \"+\", \"?\" or \"{\"";
        return;
    }
    if (c == '{')
        regex_read_counts(r);
    else
        regex_put_token(r, c == '*' ? STAR : c == '+' ? PLUS : MAYBE, 0);
    /* Lazy and greedy quantifiers are the same here. */
    if (regex_rest_begins(r, "?"))
        regex_skip(r, 1);
}

/* Append an atom for any character: every other one than those of an empty set. */
static void regex_put_any(struct regex_parser *r)
{
    uint16_t set = regex_begin_set(r, true);
    regex_end_set(r, set);
    regex_put_atom(r, SET, set);
}

/* End an alternative at "|", and begin the next one. */
static void regex_begin_alternative(struct regex_parser *r)
{
    regex_end_alternative(r);
    regex_current_group(r)->atoms = 0;
    regex_current_group(r)->choices++;
}

/* Read everything but quantifiers. */
static void regex_read_one(struct regex_parser *r, uint32_t c)
{
    switch (c) {
    case '(':
        regex_open_group(r);
        break;
    case ')':
        regex_close_group(r);
        break;
    case '|':
        regex_begin_alternative(r);
        break;
    case '[':
        regex_read_set(r);
        break;
    case '\\':
        regex_read_escape(r);
        break;
    case '^':
        regex_put_atom(r, BEGIN, 0);
        break;
    case '$':
        regex_put_atom(r, END, 0);
        break;
    case '.':
        regex_put_any(r);
        break;
    default:
        regex_put_character(r, c);
    }
}

/* Parse the whole expression into postfix notation. */
static void regex_parse(struct regex_parser *r)
{
    while (r->rest.length > 0 && !r->fault) {
        uint32_t c = regex_next_character(r);
        if (c == '*' || c == '+' || c == '?' || c == '{')
            regex_read_quantifier(r, c);
        else
            regex_read_one(r, c);
    }
    if (!r->fault && r->depth > 0)
        r->fault = "a \"(\" has no \")\"";
    if (!r->fault)
        regex_end_group(r);
}

/* ---- The automaton ---- */

/* A fragment of the automaton: its first state, and its only loose end, an EMPTY state. */
struct regex_fragment {
    uint16_t begin, end;
};

/* Append a state and return its number; NO_STATE: there are too many. */
static uint16_t regex_add_state(struct tv_regex *p, enum regex_kind kind, uint16_t to,
                                uint16_t other)
{
    if (p->state_count == TV_REGEX_STATES)
        return NO_STATE;
    p->states[p->state_count] = (struct regex_state){kind, 0, to, other};
    return p->state_count++;
}

/* Build a set or an assertion. */
static struct regex_fragment regex_build_single(struct tv_regex *p, const struct regex_token *token)
{
    uint16_t end = regex_add_state(p, EMPTY, NO_STATE, NO_STATE);
    uint16_t begin = regex_add_state(p, token->kind, end, NO_STATE);
    if (begin != NO_STATE)
        p->states[begin].set = token->set;
    return (struct regex_fragment){begin, end};
}

/* Add a loop, an option or both around a fragment. */
static struct regex_fragment regex_build_repeated(struct tv_regex *p, struct regex_fragment a,
                                                  enum regex_kind how)
{
    assert(how == STAR || how == PLUS || how == MAYBE);
    uint16_t end = regex_add_state(p, EMPTY, NO_STATE, NO_STATE);
    uint16_t split = regex_add_state(p, SPLIT, a.begin, end);
    if (split == NO_STATE)
        return (struct regex_fragment){NO_STATE, NO_STATE};
    p->states[a.end].to = how == MAYBE ? end : split;
    return (struct regex_fragment){how == PLUS ? a.begin : split, end};
}

/* Build an alternative of two fragments. */
static struct regex_fragment regex_build_either(struct tv_regex *p, struct regex_fragment a,
                                                struct regex_fragment b)
{
    uint16_t end = regex_add_state(p, EMPTY, NO_STATE, NO_STATE);
    uint16_t split = regex_add_state(p, SPLIT, a.begin, b.begin);
    if (split == NO_STATE)
        return (struct regex_fragment){NO_STATE, NO_STATE};
    p->states[a.end].to = p->states[b.end].to = end;
    return (struct regex_fragment){split, end};
}

/* Build a sequence of two fragments. */
static struct regex_fragment regex_build_chain(struct tv_regex *p, struct regex_fragment a,
                                               struct regex_fragment b)
{
    p->states[a.end].to = b.begin;
    return (struct regex_fragment){a.begin, b.end};
}

/* Turn the postfix notation into states; false if there are too many. */
static bool regex_build(struct tv_regex *p)
{
    struct regex_fragment *stack = tv_alloc((size_t)p->token_count + 1, sizeof *stack);
    size_t height = 0;
    bool fits = true;
    for (uint16_t i = 0; i < p->token_count && fits; i++) {
        const struct regex_token *token = &p->tokens[i];
        struct regex_fragment made;
        assert(token->kind < CONCAT || height >= (token->kind <= EITHER ? 2u : 1u));
        if (token->kind == CONCAT || token->kind == EITHER) {
            struct regex_fragment b = stack[--height], a = stack[--height];
            made = token->kind == CONCAT ? regex_build_chain(p, a, b) : regex_build_either(p, a, b);
        } else if (token->kind >= STAR) {
            made = regex_build_repeated(p, stack[--height], token->kind);
        } else {
            made = regex_build_single(p, token);
        }
        fits = made.begin != NO_STATE;
        stack[height++] = made;
    }
    if (fits) {
        p->start = stack[0].begin;
        p->states[p->state_count] = (struct regex_state){DONE, 0, NO_STATE, NO_STATE};
        p->states[stack[0].end].to = p->state_count++;
    }
    tv_free(stack);
    return fits;
}

/* ---- Searching ---- */

/* A set of active states. */
struct regex_front {
    uint16_t states[TV_REGEX_STATES + 1];
    uint16_t count;
};

struct regex_search {
    const struct tv_regex *regex;
    struct regex_front now, next;
    uint32_t mark[TV_REGEX_STATES + 1]; /* step in which the state was added last */
    uint32_t step;
    uint16_t stack[2 * (TV_REGEX_STATES + 1)];
    uint32_t before,
        here; /* characters on both sides of the position; NO_CHARACTER: an end of the text */
    bool loose, matched;
};

/* Return true if ^, $ or \b holds at the current position. */
static bool regex_assertion_holds(const struct regex_search *walk, enum regex_kind kind)
{
    if (walk->loose)
        return true;
    if (kind == BEGIN)
        return walk->before == NO_CHARACTER;
    if (kind == END)
        return walk->here == NO_CHARACTER;
    return regex_is_word_character(walk->before) != regex_is_word_character(walk->here);
}

/* Add every state that can be reached from `first` without reading a character. */
static void regex_reach(struct regex_search *walk, uint16_t first)
{
    assert(walk->mark[first == NO_STATE ? 0 : first] <= walk->step);
    size_t height = 0;
    walk->stack[height++] = first;
    while (height > 0) {
        uint16_t at = walk->stack[--height];
        if (at == NO_STATE || walk->mark[at] == walk->step)
            continue;
        walk->mark[at] = walk->step;
        const struct regex_state *state = &walk->regex->states[at];
        if (state->kind == SET)
            walk->now.states[walk->now.count++] = at;
        else if (state->kind == DONE)
            walk->matched = true;
        else if (state->kind == EMPTY || state->kind == SPLIT ||
                 regex_assertion_holds(walk, state->kind)) {
            walk->stack[height++] = state->to;
            walk->stack[height++] = state->other;
        }
    }
}

/* Return true when a range of the set has the character. */
static bool regex_in_ranges(const struct tv_regex *p, const struct regex_set *set, uint32_t c)
{
    for (uint16_t i = 0; i < set->count; i++) {
        const struct regex_range *range = &p->ranges[set->first + i];
        if (c >= range->low && c <= range->high)
            return true;
    }
    return false;
}

/* Return true if a set has a character, in either case if case is ignored. */
static bool regex_in_set(const struct tv_regex *p, const struct regex_set *set, uint32_t c)
{
    bool in = regex_in_ranges(p, set, c);
    if (!in && p->fold)
        in = regex_in_ranges(p, set, tv_character_lower(c)) ||
             regex_in_ranges(p, set, tv_character_upper(c));
    return in != set->others;
}

/* Move from each active state over one character. */
static void regex_step(struct regex_search *walk, uint32_t c)
{
    const struct tv_regex *p = walk->regex;
    walk->next.count = 0;
    for (uint16_t i = 0; i < walk->now.count; i++) {
        const struct regex_state *state = &p->states[walk->now.states[i]];
        if (regex_in_set(p, &p->sets[state->set], c))
            walk->next.states[walk->next.count++] = state->to;
    }
}

/* Activate all states at a position: those that follow the last character, and the start. */
static void regex_arrive(struct regex_search *walk)
{
    walk->step++;
    walk->now.count = 0;
    walk->matched = false;
    for (uint16_t i = 0; i < walk->next.count; i++)
        regex_reach(walk, walk->next.states[i]);
    regex_reach(walk, walk->regex->start);
}

/* Return a search at the begin of a text. `loose`: assertions always hold, for texts whose
 * surroundings are unknown. */
static struct regex_search *regex_search_new(const struct tv_regex *regex, bool loose)
{
    struct regex_search *walk = tv_alloc(1, sizeof *walk);
    walk->regex = regex;
    walk->loose = loose;
    walk->before = walk->here = NO_CHARACTER;
    return walk;
}

size_t tv_regex_find(const struct tv_regex *regex, struct tv_bytes text, tv_character_decoder *take)
{
    struct regex_search *walk = regex_search_new(regex, false);
    size_t at = 0, found = TV_REGEX_NONE, length = 0;
    if (text.length == 0)
        text.data = (const uint8_t *)""; /* an empty text may have no address */
    for (;;) {
        struct tv_bytes rest = {text.data + at, text.length - at};
        walk->here = rest.length > 0 ? take(rest, &length) : NO_CHARACTER;
        regex_arrive(walk);
        if (walk->matched)
            found = at;
        if (walk->matched || rest.length == 0)
            break;
        regex_step(walk, walk->here);
        walk->before = walk->here;
        at += length;
    }
    tv_free(walk);
    return found;
}

size_t tv_regex_find_in_json(const struct tv_regex *regex, struct tv_bytes bytes, size_t from,
                             tv_character_decoder *take)
{
    struct regex_search *walk = regex_search_new(regex, true);
    size_t found = TV_REGEX_NONE;
    for (size_t at = from, length; at < bytes.length && found == TV_REGEX_NONE; at += length) {
        length = 1;
        if (bytes.data[at] == '"')
            walk->next.count = 0;
        if (bytes.data[at] == '"' || (walk->next.count == 0 && !regex->starts[bytes.data[at]]))
            continue;
        if (walk->next.count == 0)
            regex_arrive(walk);
        regex_step(walk, take((struct tv_bytes){bytes.data + at, bytes.length - at}, &length));
        regex_arrive(walk);
        if (walk->matched)
            found = at;
    }
    tv_free(walk);
    return found;
}

/* ---- Compiling ---- */

/* Find the bytes that can begin a match: exact for ASCII; any other byte may. */
static void regex_set_first_bytes(struct tv_regex *p, const struct regex_search *walk)
{
    p->starts['\\'] = true;
    for (uint32_t byte = 0; byte < 256; byte++) {
        for (uint16_t i = 0; byte < 0x80 && i < walk->now.count && !p->starts[byte]; i++)
            p->starts[byte] = regex_in_set(p, &p->sets[p->states[walk->now.states[i]].set], byte);
        p->starts[byte] = p->starts[byte] || byte >= 0x80;
    }
}

/* Compile a text; return what is wrong with it, or NULL. */
static const char *regex_compile(struct tv_regex *p, struct tv_bytes text)
{
    struct regex_parser *r = tv_alloc(1, sizeof *r);
    r->regex = p;
    r->rest = text;
    regex_parse(r);
    const char *fault = r->fault;
    tv_free(r);
    if (!fault && !regex_build(p))
        fault = "it is too long";
    if (fault)
        return fault;
    struct regex_search *walk = regex_search_new(p, true);
    regex_arrive(walk);
    regex_set_first_bytes(p, walk);
    if (walk->matched)
        fault = "it matches the empty text";
    tv_free(walk);
    return fault;
}

enum tv_status tv_regex_new(struct tv_bytes text, bool fold, struct tv_regex **regex,
                            struct tv_error *err)
{
    struct tv_regex *made = tv_alloc(1, sizeof *made);
    made->fold = fold;
    const char *fault = regex_compile(made, text);
    if (fault) {
        tv_free(made);
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "the pattern cannot be used: %s", fault);
    }
    *regex = made;
    return TV_OK;
}

void tv_regex_free(struct tv_regex *regex)
{
    tv_free(regex);
}
