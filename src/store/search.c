/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.c - lists of traces. Everything that a client looks for is bound as a value; the SQL is
 * one of eight constant texts, two for each order.
 *
 * Pages. The cursor holds the sort key and the identifier of the last trace of a page
 * ("ua.1700000000000.ID"; a name in hexadecimal). The next page begins after them in the order, so
 * traces that appear or disappear in between shift no others.
 *
 * A count of rows to skip would not do: if a trace is deleted between two pages, the first trace of
 * the next page would be skipped.  The identifier decides among traces of one key.
 *
 * Words are compared as bytes with a column of folded text, in which the catalogue keeps name,
 * processes, labels and note of a trace: SQLite itself folds ASCII only.
 */
#include "store/traces.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "store/internal.h"

#define DEFAULT_PAGE 100u

/* Maximum number of words in a query, and bytes of a word. */
#define WORDS 8u
#define WORD 128u

/* Size of a cursor: order, '.', key, '.', identifier, NUL. */
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

/* First letter of a cursor, by order. The second one is the direction, 'a' or 'd'. */
static const char SORT_LETTERS[] = "unbl";
#define KEY_COLUMN 20

/* The terms of a query in lower case; the texts point into the buffers. */
struct search_terms {
    struct tv_bytes words[WORDS], label, process;
    int64_t since, until;
    char room[WORDS][WORD], label_room[TV_STORE_LABEL], process_room[2 * WORD];
};

/* The position after which a page begins. */
struct search_cursor {
    bool there;
    int64_t number;
    char name[TV_STORE_NAME];
    size_t name_length;
    char id[TV_STORE_ID_DIGITS + 1];
};

/* Fold a text into a buffer; false: it is too long. */
static bool search_fold_into(struct tv_bytes text, char *room, size_t size, struct tv_bytes *folded)
{
    if (text.length > size)
        return false;
    tv_store_text_fold(text, room);
    *folded = (struct tv_bytes){(const uint8_t *)room, text.length};
    return true;
}

/* Fold the words of a query in the way in which names are stored, so that the catalogue compares
 * bytes. */
static enum tv_store_status search_make_terms(const struct tv_store_query *query,
                                              struct search_terms *terms, struct tv_error *err)
{
    struct tv_bytes rest = tv_bytes_trim(query->words);
    for (size_t i = 0; i < WORDS; i++) {
        struct tv_bytes word = tv_bytes_take_word(&rest);
        if (!search_fold_into(word, terms->room[i], WORD, &terms->words[i]))
            return tv_store_invalid(err, "a word to look for is too long");
    }
    if (tv_bytes_trim(rest).length > 0)
        return tv_store_invalid(err, "too many words to look for: 8 are possible");
    if (!search_fold_into(query->label, terms->label_room, TV_STORE_LABEL, &terms->label) ||
        !search_fold_into(query->process, terms->process_room, 2 * WORD, &terms->process))
        return tv_store_invalid(err, "a label or a process to look for is too long");
    terms->since = query->has_since ? query->since_ms : INT64_MIN;
    terms->until = query->has_until ? query->until_ms : INT64_MAX;
    return TV_STORE_OK;
}

/* ---- Cursors ---- */

/* Read a name that is written in hexadecimal digits, as it may have any byte. */
static bool search_read_hex(struct tv_bytes digits, struct search_cursor *cursor)
{
    if (digits.length % 2 != 0 || digits.length > 2 * sizeof cursor->name)
        return false;
    for (size_t i = 0; i < digits.length / 2; i++) {
        uint64_t byte;
        if (!tv_parse_hex((struct tv_bytes){digits.data + 2 * i, 2}, &byte))
            return false;
        cursor->name[i] = (char)byte;
    }
    cursor->name_length = digits.length / 2;
    return true;
}

/* Read where the last page ended: order, key and id.  A cursor of another order is refused, as it
 * would skip traces. */
static bool search_read_cursor(const struct tv_store_query *query, struct search_cursor *cursor)
{
    struct tv_bytes rest = query->after, order, key;
    char letters[2] = {SORT_LETTERS[query->sort], query->descending ? 'd' : 'a'};
    if (!tv_bytes_split(&rest, '.', &order) || !tv_bytes_split(&rest, '.', &key) ||
        order.length != sizeof letters || memcmp(order.data, letters, sizeof letters) != 0 ||
        rest.length != TV_STORE_ID_DIGITS)
        return false;
    memcpy(cursor->id, rest.data, TV_STORE_ID_DIGITS);
    cursor->there = true;
    return tv_store_is_id(cursor->id) &&
           (query->sort == TV_STORE_BY_NAME ? search_read_hex(key, cursor)
                                            : tv_parse_i64(key, &cursor->number));
}

/* Write the cursor of the page after this one. */
static const char *search_write_cursor(const struct tv_store_query *query,
                                       const struct search_cursor *cursor, struct tv_arena *arena)
{
    char *text = tv_arena_alloc(arena, CURSOR, 1);
    int at =
        snprintf(text, CURSOR, "%c%c.", SORT_LETTERS[query->sort], query->descending ? 'd' : 'a');
    if (query->sort != TV_STORE_BY_NAME)
        at += snprintf(text + at, CURSOR - (size_t)at, "%" PRId64, cursor->number);
    for (size_t i = 0; query->sort == TV_STORE_BY_NAME && i < cursor->name_length; i++)
        at += snprintf(text + at, CURSOR - (size_t)at, "%02x", (uint8_t)cursor->name[i]);
    snprintf(text + at, CURSOR - (size_t)at, ".%s", cursor->id);
    return text;
}

/* Note the position of this row. */
static void search_note_cursor(sqlite3_stmt *row, enum tv_store_sort sort,
                               struct search_cursor *cursor)
{
    struct tv_bytes id = tv_db_column_text(row, 1), name = tv_db_column_text(row, KEY_COLUMN);
    if (id.length == TV_STORE_ID_DIGITS)
        memcpy(cursor->id, id.data, id.length);
    cursor->number = sqlite3_column_int64(row, KEY_COLUMN);
    if (sort != TV_STORE_BY_NAME || name.length > sizeof cursor->name)
        return;
    if (name.length > 0)
        memcpy(cursor->name, name.data, name.length);
    cursor->name_length = name.length;
}

/* ---- Queries ---- */

static sqlite3_stmt *search_query(struct tv_db *db, const char *sql, const struct search_terms *q)
{
    const struct tv_bytes *w = q->words;
    return tv_db_query(db, sql, "ttttttttttii", w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7],
                       q->label, q->process, q->since, q->until);
}

static uint64_t search_count(struct tv_db *db, const struct search_terms *terms)
{
    uint64_t total = 0;
    sqlite3_stmt *row = search_query(db, "SELECT count(*)" FITS, terms);
    while (tv_db_row(db, row))
        total = (uint64_t)sqlite3_column_int64(row, 0);
    return total;
}

/* Query one row more than the page holds: it tells whether there is another page. */
static sqlite3_stmt *search_query_page(struct tv_db *db, const struct tv_store_query *query,
                                       const struct search_terms *terms,
                                       const struct search_cursor *after, uint32_t limit)
{
    assert(limit > 0 && limit <= TV_STORE_PAGE);
    sqlite3_stmt *rows = search_query(db, PAGES[query->sort][query->descending], terms);
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
    assert(page->count > 0);
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
    struct search_terms terms;
    struct search_cursor after = {0};
    struct tv_db *db = &store->read;
    uint32_t limit = query->limit == 0 ? DEFAULT_PAGE : query->limit;
    enum tv_store_status status = search_make_terms(query, &terms, err);
    if (status != TV_STORE_OK)
        return status;
    if (query->after.length > 0 && !search_read_cursor(query, &after))
        return tv_store_invalid(err, "this is no end of a page in this order");
    limit = limit < TV_STORE_PAGE ? limit : TV_STORE_PAGE;
    struct tv_store_page found = {.count = limit};
    found.traces = tv_arena_alloc(arena, limit, sizeof *found.traces);
    tv_db_begin(db, TV_DB_READ);
    found.total = search_count(db, &terms);
    search_read_page(store, query, search_query_page(db, query, &terms, &after, limit), arena,
                     &found);
    status = tv_db_end(db, TV_STORE_OK, err);
    if (status == TV_STORE_OK)
        *page = found;
    return status;
}
