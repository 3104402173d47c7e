/* SPDX-License-Identifier: Apache-2.0 */
/* write.c - over a whole text: writing it as strict JSON, or only looking what is wrong. */
#include "base/bytes.h"
#include "readers/json/walk.h"
#include "readers/trace_event/values.h"

struct json_writer {
    struct tv_json_walk walk;
    struct tv_out *out; /* NULL: look only */
    struct tv_te_scratch scratch;
    uint32_t depth;
    bool first;                    /* in the innermost container */
    bool in_object[TV_JSON_DEPTH]; /* which kind each one is */
};

static void json_writer_put_char(struct json_writer *w, char c)
{
    if (w->out)
        tv_out_char(w->out, c);
}

static void json_writer_put_null(struct json_writer *w)
{
    if (w->out)
        tv_out_text(w->out, "null");
}

static void json_writer_put_string(struct json_writer *w, struct tv_bytes raw)
{
    bool cut = (w->walk.faults & TV_JSON_FAULT_CUT) && raw.data + raw.length == w->walk.end;
    tv_json_judge_string(&w->walk, raw);
    if (!w->out)
        return;
    /* The last byte of a string is not looked at, as it is the quote. */
    raw.length += cut;
    tv_out_json(w->out, tv_te_decode_text(raw, &w->scratch));
}

static void json_writer_take_string(struct json_writer *w)
{
    struct tv_bytes raw;
    tv_json_take_string(&w->walk, &raw);
    json_writer_put_string(w, raw);
}

static void json_writer_validate_utf8(struct json_writer *w, struct tv_bytes word)
{
    for (struct tv_bytes rest = word; rest.length > 0;) {
        size_t length = tv_bytes_utf8(rest);
        if (length == 0)
            tv_json_blame(&w->walk, TV_JSON_FAULT_UTF8, rest.data);
        length += length == 0;
        rest = (struct tv_bytes){rest.data + length, rest.length - length};
    }
}

static void json_writer_put_word(struct json_writer *w, struct tv_bytes word)
{
    json_writer_validate_utf8(w, word);
    if (w->out)
        tv_out_json(w->out, word);
}

/* Strict JSON has no number in hexadecimal digits; what reads the text takes it for one. */
static void json_writer_put_bare(struct json_writer *w, struct tv_bytes word)
{
    uint64_t number;
    uint8_t digits[24];
    if (!tv_te_parse_hex(word, &number))
        json_writer_put_word(w, word);
    else if (w->out)
        tv_out_bytes(w->out, (struct tv_bytes){digits, tv_digits_u64(digits, number)});
}

static void json_writer_take_word(struct json_writer *w)
{
    struct tv_bytes word;
    tv_json_take_word(&w->walk, &word);
    enum tv_json_type type = tv_json_judge_word(&w->walk, word);
    if (type == TV_JSON_WORD)
        json_writer_put_bare(w, word);
    else if (type == TV_JSON_NUMBER && w->out)
        tv_json_number_write(w->out, word);
    else if (w->out)
        tv_out_bytes(w->out, word);
}

static void json_writer_take_key(struct json_writer *w)
{
    struct tv_bytes key = tv_json_take_key(&w->walk);
    if (tv_te_is_string(key))
        json_writer_put_string(w, key);
    else
        json_writer_put_word(w, key);
    json_writer_put_char(w, ':');
}

static void json_writer_open_nested(struct json_writer *w, bool object)
{
    if (w->depth == TV_JSON_DEPTH) {
        tv_json_blame(&w->walk, TV_JSON_FAULT_DEPTH, w->walk.at);
        tv_json_skip_nested(&w->walk);
        json_writer_put_null(w);
        return;
    }
    w->walk.at++;
    w->in_object[w->depth++] = object;
    w->first = true;
    json_writer_put_char(w, object ? '{' : '[');
}

static void json_writer_take_value(struct json_writer *w)
{
    int c = tv_json_look_value(&w->walk);
    if (c == '{' || c == '[')
        json_writer_open_nested(w, c == '{');
    else if (c == '"' || c == '\'')
        json_writer_take_string(w);
    else if (c >= 0)
        json_writer_take_word(w);
    else
        json_writer_put_null(w);
}

/* Before an item of the innermost container; false when that ended. */
static bool json_writer_next_item(struct json_writer *w)
{
    bool object = w->in_object[w->depth - 1];
    if (!tv_json_more(&w->walk, object, w->first)) {
        json_writer_put_char(w, object ? '}' : ']');
        w->depth--;
        w->first = false;
        return false;
    }
    if (!w->first)
        json_writer_put_char(w, ',');
    w->first = false;
    return true;
}

/* Goes over all of the text and returns how that was. */
static struct tv_json_walk json_writer_write_all(struct tv_bytes raw, struct tv_out *out)
{
    struct json_writer w;
    w.walk = tv_json_walk_over(raw);
    w.out = out;
    w.scratch = (struct tv_te_scratch){NULL, 0};
    w.depth = 0;
    json_writer_take_value(&w);
    while (w.depth > 0) {
        if (!json_writer_next_item(&w))
            continue;
        if (w.in_object[w.depth - 1])
            json_writer_take_key(&w);
        json_writer_take_value(&w);
    }
    tv_te_scratch_release(&w.scratch);
    if (tv_json_look(&w.walk) != -1)
        tv_json_blame(&w.walk, TV_JSON_FAULT_TRAILING, w.walk.at);
    return w.walk;
}

void tv_json_normalise(struct tv_bytes raw, struct tv_out *out, unsigned *faults)
{
    struct tv_json_walk walk = json_writer_write_all(raw, out);
    if (faults)
        *faults = walk.faults;
}

bool tv_json_equal(struct tv_bytes a, struct tv_bytes b)
{
    struct tv_out first, second;
    if (tv_bytes_equal(a, b))
        return true;
    tv_out_init_memory(&first);
    tv_out_init_memory(&second);
    tv_json_normalise(a, &first, NULL);
    tv_json_normalise(b, &second, NULL);
    bool same = tv_bytes_equal((struct tv_bytes){first.buffer, first.length},
                               (struct tv_bytes){second.buffer, second.length});
    tv_out_release(&first);
    tv_out_release(&second);
    return same;
}

bool tv_json_is_too_deep(struct tv_bytes raw)
{
    unsigned faults;
    size_t opening = 0;
    if (raw.length <= TV_JSON_DEPTH)
        return false;
    /* '[' and '{' differ in one bit; those in strings only cost time. */
    for (size_t i = 0; i < raw.length; i++)
        opening += (raw.data[i] | 0x20) == '{';
    if (opening <= TV_JSON_DEPTH)
        return false;
    tv_json_check(raw, &faults, NULL);
    return faults & TV_JSON_FAULT_DEPTH;
}

bool tv_json_check(struct tv_bytes raw, unsigned *faults, size_t *bad_offset)
{
    struct tv_json_walk walk = json_writer_write_all(raw, NULL);
    if (faults)
        *faults = walk.faults;
    if (bad_offset)
        *bad_offset = walk.bad ? (size_t)(walk.bad - raw.data) : raw.length;
    return !walk.bad;
}
