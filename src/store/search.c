/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.c - one question to the catalogue.  What is looked for are values; of SQL there are eight
 * fixed texts, one for each order.
 *
 * The end of a page is the key and the identifier of its last trace ("ua.1700000000000.ID"; a name
 * as hexadecimal digits): the next page is what lies behind it, whatever came or went before.
 */
#include "store/traces.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/number.h"
#include "store/internal.h"

#define DEFAULT_PAGE 100u

/* So many words are looked for; each has at most so many bytes. */
#define WORDS 8u
#define WORD 128u

/* Order, '.', key, '.', identifier. */
#define CURSOR (3 + 2 * TV_STORE_NAME + 20 + 1 + TV_STORE_ID_DIGITS + 1)

#define FITS                                                                                       \
    " FROM traces t WHERE instr(t.words, ?1) AND instr(t.words, ?2) AND instr(t.words, ?3)"        \
    " AND instr(t.words, ?4) AND instr(t.words, ?5) AND instr(t.words, ?6)"                        \
    " AND instr(t.words, ?7) AND instr(t.words, ?8)"                                               \
    " AND (?9='' OR EXISTS(SELECT 1 FROM labels WHERE trace=t.number AND label_key=?9))"           \
    " AND (?10='' OR EXISTS(SELECT 1 FROM processes WHERE trace=t.number"                          \
    " AND instr(name_key, ?10)))"                                                                  \
    " AND t.uploaded>=?11 AND t.uploaded<?12"

#define PAGE(key, than, order)                                                                     \
    "SELECT " TV_STORE_TRACE_COLUMNS ", " key FITS " AND (?13 IS NULL OR (" key ", t.id)" than     \
    "(?13, ?14)) ORDER BY " key order ", t.id" order " LIMIT ?15"

#define BOTH(key)                                                                                  \
    {                                                                                              \
        PAGE(key, ">", ""), PAGE(key, "<", " DESC")                                                \
    }

static const char *const PAGES[][2] = {
    [TV_STORE_BY_UPLOADED] = BOTH("t.uploaded"),
    [TV_STORE_BY_NAME] = BOTH("t.name_key"),
    [TV_STORE_BY_BYTES] = BOTH("t.bytes"),
    [TV_STORE_BY_LENGTH] = BOTH("t.length_ns"),
};

/* The first letter of a page's end; the second is that of the direction. */
static const char SORT_LETTERS[] = "unbl";
#define KEY_COLUMN 20

/* A question with its texts in small letters. */
struct search_terms {
    struct tv_bytes words[WORDS], label, process;
    int64_t since, until;
    char room[WORDS][WORD], label_room[TV_STORE_LABEL], process_room[2 * WORD];
};

/* Where the page before ended. */
struct search_cursor {
    bool there;
    int64_t number;
    char name[TV_STORE_NAME];
    size_t name_length;
    char id[TV_STORE_ID_DIGITS + 1];
};

static enum tv_store_status store_fail_invalid(struct tv_error *err, const char *what)
{
    tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "%s", what);
    return TV_STORE_INVALID;
}

static bool search_fold_into(struct tv_bytes text, char *room, size_t size, struct tv_bytes *folded)
{
    if (text.length > size)
        return false;
    tv_store_text_fold(text, room);
    *folded = (struct tv_bytes){(const uint8_t *)room, text.length};
    return true;
}

static enum tv_store_status search_make_terms(const struct tv_store_query *query,
                                          struct search_terms *question, struct tv_error *err)
{
    struct tv_bytes rest = tv_bytes_trim(query->words);
    for (size_t i = 0; i < WORDS; i++) {
        struct tv_bytes word = tv_bytes_take_word(&rest);
        if (!search_fold_into(word, question->room[i], WORD, &question->words[i]))
            return store_fail_invalid(err, "a word to look for is too long");
    }
    if (tv_bytes_trim(rest).length > 0)
        return store_fail_invalid(err, "too many words to look for: 8 are possible");
    if (!search_fold_into(query->label, question->label_room, TV_STORE_LABEL, &question->label) ||
        !search_fold_into(query->process, question->process_room, 2 * WORD, &question->process))
        return store_fail_invalid(err, "a label or a process to look for is too long");
    question->since = query->has_since ? query->since_ms : INT64_MIN;
    question->until = query->has_until ? query->until_ms : INT64_MAX;
    return TV_STORE_OK;
}

/* Ends of pages. */

static bool search_read_hex(struct tv_bytes digits, struct search_cursor *place)
{
    if (digits.length % 2 != 0 || digits.length > 2 * sizeof place->name)
        return false;
    for (size_t i = 0; i < digits.length / 2; i++) {
        uint64_t byte;
        if (!tv_parse_hex((struct tv_bytes){digits.data + 2 * i, 2}, &byte))
            return false;
        place->name[i] = (char)byte;
    }
    place->name_length = digits.length / 2;
    return true;
}

static bool search_read_cursor(const struct tv_store_query *query, struct search_cursor *place)
{
    struct tv_bytes rest = query->after, order, key;
    char letters[2] = {SORT_LETTERS[query->sort], query->descending ? 'd' : 'a'};
    if (!tv_bytes_split(&rest, '.', &order) || !tv_bytes_split(&rest, '.', &key) ||
        order.length != sizeof letters || memcmp(order.data, letters, sizeof letters) != 0 ||
        rest.length != TV_STORE_ID_DIGITS)
        return false;
    memcpy(place->id, rest.data, TV_STORE_ID_DIGITS);
    place->there = true;
    return tv_store_is_id(place->id) &&
           (query->sort == TV_STORE_BY_NAME ? search_read_hex(key, place)
                                            : tv_parse_i64(key, &place->number));
}

static const char *search_write_cursor(const struct tv_store_query *query, const struct search_cursor *place,
                               struct tv_arena *arena)
{
    char *text = tv_arena_alloc(arena, CURSOR, 1);
    int at =
        snprintf(text, CURSOR, "%c%c.", SORT_LETTERS[query->sort], query->descending ? 'd' : 'a');
    if (query->sort != TV_STORE_BY_NAME)
        at += snprintf(text + at, CURSOR - (size_t)at, "%" PRId64, place->number);
    for (size_t i = 0; query->sort == TV_STORE_BY_NAME && i < place->name_length; i++)
        at += snprintf(text + at, CURSOR - (size_t)at, "%02x", (uint8_t)place->name[i]);
    snprintf(text + at, CURSOR - (size_t)at, ".%s", place->id);
    return text;
}

/* Where this row stands. */
static void search_note_cursor(sqlite3_stmt *row, enum tv_store_sort sort, struct search_cursor *place)
{
    struct tv_bytes id = tv_db_column_text(row, 1), name = tv_db_column_text(row, KEY_COLUMN);
    if (id.length == TV_STORE_ID_DIGITS)
        memcpy(place->id, id.data, id.length);
    place->number = sqlite3_column_int64(row, KEY_COLUMN);
    if (sort != TV_STORE_BY_NAME || name.length > sizeof place->name)
        return;
    if (name.length > 0)
        memcpy(place->name, name.data, name.length);
    place->name_length = name.length;
}

/* Asking. */

static sqlite3_stmt *search_query(struct tv_db *db, const char *sql, const struct search_terms *q)
{
    const struct tv_bytes *w = q->words;
    return tv_db_query(db, sql, "ttttttttttii", w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7],
                       q->label, q->process, q->since, q->until);
}

static uint64_t search_count(struct tv_db *db, const struct search_terms *question)
{
    uint64_t total = 0;
    sqlite3_stmt *row = search_query(db, "SELECT count(*)" FITS, question);
    while (tv_db_row(db, row))
        total = (uint64_t)sqlite3_column_int64(row, 0);
    return total;
}

/* One more than the page has room for tells whether there is another page. */
static sqlite3_stmt *search_query_page(struct tv_db *db, const struct tv_store_query *query,
                              const struct search_terms *question, const struct search_cursor *after,
                              uint32_t limit)
{
    sqlite3_stmt *rows = search_query(db, PAGES[query->sort][query->descending], question);
    if (rows && after->there && query->sort == TV_STORE_BY_NAME)
        sqlite3_bind_text(rows, 13, after->name, (int)after->name_length, SQLITE_STATIC);
    else if (rows && after->there)
        sqlite3_bind_int64(rows, 13, after->number);
    if (rows) {
        sqlite3_bind_text(rows, 14, after->id, -1, SQLITE_STATIC);
        sqlite3_bind_int64(rows, 15, (int64_t)limit + 1);
    }
    return rows;
}

static void search_read_page(struct tv_store *store, const struct tv_store_query *query,
                      sqlite3_stmt *rows, struct tv_arena *arena, struct tv_store_page *page)
{
    struct search_cursor last = {0};
    size_t limit = page->count;
    page->count = 0;
    while (tv_db_row(&store->read, rows)) {
        if (page->count == limit) {
            page->after = search_write_cursor(query, &last, arena);
            tv_db_reset(rows);
            return;
        }
        search_note_cursor(rows, query->sort, &last);
        tv_store_read_trace(store, rows, arena, &page->traces[page->count++]);
    }
}

enum tv_store_status tv_store_search(struct tv_store *store, const struct tv_store_query *query,
                                     struct tv_arena *arena, struct tv_store_page *page,
                                     struct tv_error *err)
{
    struct search_terms question;
    struct search_cursor after = {0};
    struct tv_db *db = &store->read;
    uint32_t limit = query->limit == 0 ? DEFAULT_PAGE : query->limit;
    enum tv_store_status status = search_make_terms(query, &question, err);
    if (status != TV_STORE_OK)
        return status;
    if (query->after.length > 0 && !search_read_cursor(query, &after))
        return store_fail_invalid(err, "this is no end of a page in this order");
    limit = limit < TV_STORE_PAGE ? limit : TV_STORE_PAGE;
    struct tv_store_page found = {.count = limit};
    found.traces = tv_arena_alloc(arena, limit, sizeof *found.traces);
    tv_db_begin(db, TV_DB_READ);
    found.total = search_count(db, &question);
    search_read_page(store, query, search_query_page(db, query, &question, &after, limit), arena, &found);
    status = tv_db_end(db, TV_STORE_OK, err);
    if (status == TV_STORE_OK)
        *page = found;
    return status;
}
