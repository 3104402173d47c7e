/* SPDX-License-Identifier: Apache-2.0 */
/* The lines against plain ones: every chain written out, sorted as text, equal ones summed. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calltree/call_tree.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "feed.h"
#include "writers/stacks/collapsed.h"

/* Names that are hard to sort: blanks, bytes below and above ';' and ' ', one that continues
 * another, a ';'. */
static const char *const hard[] = {"run", "run 5", "run 50", "run!",       "run<",
                                   "ru",  "run;",  "run:",   "r\xc3\xbcn", "run 5;"};

/* So many that the items of a node are sorted in the other way, and none continues another. */
static const char *const many[] = {"n", "d", "r", "a", "k", "z", "c",  "t",  "b",  "q",
                                   "y", "e", "o", "i", "l", "x", "aa", "ab", "ba", "zz"};

/* The names of a test's frames. */
static const char *const *names;
static size_t name_count;

static struct tv_trace_info *hard_head(const struct feed *feed)
{
    struct tv_trace_info *head = feed_head(feed);
    for (uint32_t i = 0; i < head->frame_count && i < name_count; i++) {
        head->frames[i].class_name = TV_EMPTY_STRING;
        head->frames[i].name = tv_trace_info_string(head, tv_bytes_of(names[i]));
    }
    return head;
}

struct line {
    char chain[2048]; /* with a blank at its end */
    int64_t self;
};

static void add_name(char *chain, const char *name)
{
    size_t at = strlen(chain);
    if (at > 0)
        chain[at - 1] = ';';
    for (; *name; name++)
        chain[at++] = *name == ';' ? ':' : *name;
    chain[at++] = ' ';
    chain[at] = '\0';
}

static int compare_chains(const void *left, const void *right)
{
    const struct line *a = left, *b = right;
    return strcmp(a->chain, b->chain);
}

static int compare_texts(const void *left, const void *right)
{
    const char *const *a = left, *const *b = right;
    return strcmp(*a, *b);
}

/* The chain of a call: names from the root, joined. */
static void write_chain(const struct feed_call *calls, uint32_t call, char *chain)
{
    uint32_t path[256], depth = 0;
    for (; call != TV_NONE; call = calls[call].parent)
        path[depth++] = calls[call].frame;
    chain[0] = '\0';
    while (depth-- > 0)
        add_name(chain, names[path[depth]]);
}

static struct line *plain_lines(const struct feed *feed, size_t *count)
{
    size_t capacity = 0;
    struct line *lines = NULL;
    *count = 0;
    for (uint32_t thread = 0; thread < feed->threads; thread++) {
        uint32_t n;
        struct feed_call *calls = feed_calls(feed, thread, &n);
        lines = tv_array_reserve(lines, &capacity, *count + n + 1, sizeof *lines);
        for (uint32_t i = 0; i < n; i++) {
            struct line *line = &lines[*count + i];
            write_chain(calls, i, line->chain);
            line->self = calls[i].end - calls[i].start;
        }
        for (uint32_t i = 0; i < n; i++) {
            if (calls[i].parent != TV_NONE)
                lines[*count + calls[i].parent].self -= calls[i].end - calls[i].start;
        }
        *count += n;
        tv_free(calls);
    }
    return lines;
}

/* Sums equal chains and writes the lines, sorted as whole texts. */
static struct tv_out expected(const struct feed *feed)
{
    size_t count, kept = 0;
    struct line *lines = plain_lines(feed, &count);
    qsort(lines, count, sizeof *lines, compare_chains);
    char **texts = tv_alloc(count, sizeof *texts);
    for (size_t i = 0, end; i < count; i = end) {
        int64_t self = 0;
        for (end = i; end < count && strcmp(lines[end].chain, lines[i].chain) == 0; end++)
            self += lines[end].self;
        if (self == 0)
            continue;
        texts[kept] = tv_alloc(sizeof lines->chain + 32, 1);
        snprintf(texts[kept++], sizeof lines->chain + 32, "%s%lld\n", lines[i].chain,
                 (long long)self);
    }
    qsort(texts, kept, sizeof *texts, compare_texts);
    struct tv_out out;
    tv_out_init_memory(&out);
    for (size_t i = 0; i < kept; i++) {
        tv_out_text(&out, texts[i]);
        tv_free(texts[i]);
    }
    tv_free(texts);
    tv_free(lines);
    return out;
}

static struct tv_out written(const struct feed *feed, unsigned workers)
{
    struct tv_tree_sink_options options = {.fold_names = true};
    struct tv_name_tree_options naming = {.cpu = false, .thread = TV_NONE};
    size_t start = 0;
    struct tv_trace_info *head = hard_head(feed);
    struct tv_tree_sink *sink = tv_tree_sink_new(&options);
    feed_to(feed, head, tv_tree_sink_sink(sink), &start, 1);
    struct tv_call_tree *tree = tv_tree_sink_finish(sink, head);
    struct tv_name_tree *stacks = tv_name_tree_new(tree, &naming);
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_collapsed_write(&out, stacks, (struct tv_collapsed_unit){1000, false}, workers);
    uint64_t longest;
    assert_int_equal(
        tv_collapsed_measure(stacks, (struct tv_collapsed_unit){1000, false}, &longest),
        out.length);
    tv_name_tree_free(stacks);
    tv_call_tree_free(tree);
    tv_trace_info_free(head);
    return out;
}

static void check_names(const char *const *some, size_t count)
{
    struct feed_style style = {2000, 3, (uint32_t)count, 5, 0, 30, TV_CLOCK_WALL | TV_CLOCK_CPU};
    names = some;
    name_count = count;
    for (uint32_t seed = 1; seed < 30; seed++) {
        struct feed *feed = feed_random(seed, &style);
        struct tv_out want = expected(feed), got = written(feed, seed % 4);
        assert_true(want.length > 0);
        assert_int_equal(got.length, want.length);
        assert_memory_equal(got.buffer, want.buffer, want.length);
        tv_out_release(&want);
        tv_out_release(&got);
        feed_free(feed);
    }
}

static void equals_plain_sorting(void **state)
{
    (void)state;
    check_names(hard, TV_COUNT(hard));
    check_names(many, TV_COUNT(many));
}

/* One caller with a long name and many callees. */
static void check_long_lines(size_t length, uint32_t children)
{
    enum { MOST = 150 };
    uint32_t parent[MOST + 2] = {0}, name[MOST + 2] = {0};
    int64_t self[MOST + 2] = {0};
    uint64_t longest;
    uint8_t *long_name = tv_alloc(length, 1);
    memset(long_name, 'w', length);
    struct tv_name_tree tree = {.count = children + 2,
                                .parent = parent,
                                .name = name,
                                .self = self,
                                .names = tv_interner_new()};
    name[1] = tv_interner_add(tree.names, (struct tv_bytes){long_name, length});
    for (uint32_t i = 0; i < children; i++) {
        char text[8];
        snprintf(text, sizeof text, "c%03u", children - i);
        parent[i + 2] = 1;
        name[i + 2] = tv_interner_add(tree.names, tv_bytes_of(text));
        self[i + 2] = children - i;
    }
    for (unsigned workers = 1; workers <= 3; workers++) {
        struct tv_out out;
        tv_out_init_memory(&out);
        tv_collapsed_write(&out, &tree, (struct tv_collapsed_unit){1, false}, workers);
        const uint8_t *at = out.buffer;
        for (unsigned i = 1; i <= children; i++) {
            char rest[32];
            size_t rest_length = (size_t)snprintf(rest, sizeof rest, ";c%03u %u\n", i, i);
            assert_true((size_t)(at - out.buffer) + length + rest_length <= out.length);
            assert_memory_equal(at, long_name, length);
            assert_memory_equal(at + length, rest, rest_length);
            at += length + rest_length;
        }
        assert_int_equal(at - out.buffer, out.length);
        tv_out_release(&out);
    }
    tv_collapsed_measure(&tree, (struct tv_collapsed_unit){1, false}, &longest);
    assert_int_equal(longest, length + strlen(";c001 \n") + (children > 99 ? 3 : 2));
    tv_interner_free(tree.names);
    tv_free(long_name);
}

/* Lines so long that no thread writes its share of them at once. */
static void writes_long_lines_in_turns(void **state)
{
    (void)state;
    check_long_lines(300000, 150);
}

/* Lines so long that none is held in memory. */
static void writes_longest_lines_name_by_name(void **state)
{
    (void)state;
    check_long_lines(1100000, 70);
}

/* A deep chain is as long as the square of its depth: that is counted, not written. */
static void measures_what_nobody_could_write(void **state)
{
    enum { DEPTH = 1000000 };
    uint32_t *parent = tv_alloc(DEPTH + 1, sizeof *parent);
    uint32_t *name = tv_alloc(DEPTH + 1, sizeof *name);
    int64_t *self = tv_alloc(DEPTH + 1, sizeof *self);
    uint64_t longest;
    (void)state;
    struct tv_name_tree tree = {.count = DEPTH + 1,
                                .parent = parent,
                                .name = name,
                                .self = self,
                                .names = tv_interner_new()};
    uint32_t frame = tv_interner_add(tree.names, TV_BYTES("frame"));
    for (uint32_t i = 1; i <= DEPTH; i++) {
        parent[i] = i - 1;
        name[i] = frame;
        self[i] = 7;
    }
    /* Line d is d times "frame;", with " 7" and the line's end in place of the last ';'. */
    uint64_t bytes = tv_collapsed_measure(&tree, (struct tv_collapsed_unit){1, false}, &longest);
    assert_int_equal(bytes, (uint64_t)DEPTH * (DEPTH + 1) / 2 * 6 + (uint64_t)DEPTH * 2);
    assert_int_equal(longest, (uint64_t)DEPTH * 6 + 2);
    tv_interner_free(tree.names);
    tv_free(parent);
    tv_free(name);
    tv_free(self);
}

UNIT_TESTS(collapsed, cmocka_unit_test(equals_plain_sorting),
           cmocka_unit_test(writes_long_lines_in_turns),
           cmocka_unit_test(writes_longest_lines_name_by_name),
           cmocka_unit_test(measures_what_nobody_could_write));
