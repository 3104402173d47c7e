/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf.c - tests of base/protobuf.h and base/protobuf_out.h.  The bytes follow the encoding
 * page of the protobuf manual.
 */
#include "unit.h"

#include "base/protobuf.h"
#include "base/protobuf_out.h"

static void takes_fields_of_each_wire_type(void **state)
{
    (void)state;
    struct tv_cursor cursor =
        tv_cursor_over(TV_BYTES("\x08\x96\x01"                                 /* 1: 150 */
                                "\x12\x02hi"                                   /* 2: "hi" */
                                "\x19\x01\x02\x03\x04\x05\x06\x07\x08"         /* 3: fixed64 */
                                "\xa5\x06\xff\xff\xff\xff"                     /* 100: fixed32 */
                                "\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" /* 5: -1 */
                                "\x32\x00")); /* 6: an empty message */
    struct tv_protobuf_field field;
    assert_true(tv_protobuf_next(&cursor, &field));
    assert_int_equal(field.number, 1);
    assert_int_equal(field.wire, TV_PROTOBUF_VARINT);
    assert_int_equal(field.value, 150);
    assert_true(tv_protobuf_next(&cursor, &field));
    assert_int_equal(field.number, 2);
    assert_true(tv_bytes_equal(field.bytes, TV_BYTES("hi")));
    assert_true(tv_protobuf_next(&cursor, &field));
    assert_int_equal(field.number, 3);
    assert_true(field.value == 0x0807060504030201);
    assert_true(tv_protobuf_next(&cursor, &field));
    assert_int_equal(field.number, 100);
    assert_int_equal(field.value, 0xffffffff);
    assert_true(tv_protobuf_next(&cursor, &field));
    assert_true((int64_t)field.value == -1);
    assert_true(tv_protobuf_next(&cursor, &field));
    assert_int_equal(field.number, 6);
    assert_int_equal(field.bytes.length, 0);
    assert_false(tv_protobuf_next(&cursor, &field));
    assert_true(tv_protobuf_is_sound(&cursor));
}

/* Some writers extend the sign of a number into bits that 64 do not have. */
static void bits_beyond_64_are_dropped(void **state)
{
    (void)state;
    struct tv_cursor cursor =
        tv_cursor_over(TV_BYTES("\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"));
    struct tv_protobuf_field field;
    assert_true(tv_protobuf_next(&cursor, &field));
    assert_true((int64_t)field.value == -1);
    assert_true(tv_protobuf_is_sound(&cursor));
}

/* Each length of a varint, with other bytes after it and at the end of the message. */
static void takes_varints_of_each_length(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 64; bits++) {
        uint64_t number = UINT64_C(0xa5a5a5a5a5a5a5a5) >> (63 - bits);
        uint8_t bytes[24];
        size_t length = 0;
        for (uint64_t rest = number; rest >= 0x80; rest >>= 7)
            bytes[length++] = (uint8_t)(rest | 0x80);
        bytes[length] = (uint8_t)(number >> 7 * length);
        length++;
        memset(bytes + length, 0xff, sizeof bytes - length);
        for (size_t behind = 0; behind <= 8; behind++) {
            struct tv_cursor cursor = tv_cursor_over((struct tv_bytes){bytes, length + behind});
            uint64_t taken;
            assert_true(tv_protobuf_take_varint(&cursor, &taken));
            assert_true(taken == number);
            assert_int_equal(tv_cursor_left(&cursor), behind);
        }
    }
}

/* A damaged field ends the message; the cursor stays at its key. */
static void stops_at_damage(void **state)
{
    (void)state;
    const struct {
        const char *what;
        struct tv_bytes bytes;
    } cases[] = {
        {"key without value", TV_BYTES("\x08\x01\x08")},
        {"number without end", TV_BYTES("\x08\x01\x08\x80\x80")},
        {"number of eleven bytes",
         TV_BYTES("\x08\x01\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")},
        {"length beyond the end", TV_BYTES("\x08\x01\x12\x03hi")},
        {"length of 2^64 - 1", TV_BYTES("\x08\x01\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01hi")},
        {"fixed64 of 7 bytes", TV_BYTES("\x08\x01\x19\x01\x02\x03\x04\x05\x06\x07")},
        {"fixed32 of 3 bytes", TV_BYTES("\x08\x01\x1d\x01\x02\x03")},
        {"group", TV_BYTES("\x08\x01\x13\x14")},
        {"wire type 7", TV_BYTES("\x08\x01\x0f\x00")},
        {"field number 0", TV_BYTES("\x08\x01\x00\x00")},
        {"field number of 32 bits", TV_BYTES("\x08\x01\x80\x80\x80\x80\x80\x01\x00")},
    };
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        struct tv_cursor cursor = tv_cursor_over(cases[i].bytes);
        struct tv_protobuf_field field = {0};
        assert_true(tv_protobuf_next(&cursor, &field));
        assert_int_equal(field.value, 1);
        if (tv_protobuf_next(&cursor, &field))
            fail_msg("%s: taken", cases[i].what);
        assert_int_equal(tv_cursor_position(&cursor), 2);
        assert_false(tv_protobuf_is_sound(&cursor));
    }
}

/* Return the sum of all numbers of a message whose field 1 is a list, and whether all was sound. */
static uint64_t sum_of_list(struct tv_bytes message, bool *sound)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    uint64_t sum = 0, number;
    *sound = true;
    while (tv_protobuf_next(&cursor, &field)) {
        struct tv_cursor list = tv_protobuf_numbers(&field);
        while (tv_protobuf_next_number(&list, &field, &number))
            sum += number;
        *sound = *sound && tv_protobuf_is_sound(&list);
    }
    *sound = *sound && tv_protobuf_is_sound(&cursor);
    return sum;
}

static void takes_lists_packed_or_not(void **state)
{
    (void)state;
    bool sound;
    assert_int_equal(sum_of_list(TV_BYTES("\x0a\x04\x01\x02\xac\x02"), &sound), 303);
    assert_true(sound);
    assert_int_equal(sum_of_list(TV_BYTES("\x08\x01\x08\x02\x08\xac\x02"), &sound), 303);
    assert_true(sound);
    assert_int_equal(sum_of_list(TV_BYTES("\x08\x01\x0a\x02\x02\x03\x08\x04\x0a\x00"), &sound), 10);
    assert_true(sound);
    assert_int_equal(sum_of_list(TV_BYTES("\x0a\x03\x01\x02\xac"), &sound), 3);
    assert_false(sound); /* the last number has no end */
    assert_int_equal(sum_of_list(TV_BYTES(""), &sound), 0);
    assert_true(sound);
}

static void writes_fields_of_each_wire_type(void **state)
{
    (void)state;
    struct tv_out out, inner;
    tv_out_init_memory(&out);
    tv_out_init_memory(&inner);
    tv_protobuf_put_number(&out, 1, 150);
    tv_protobuf_put_bytes(&out, 2, TV_BYTES("hi"));
    tv_protobuf_put_fixed64(&out, 3, 0x0807060504030201);
    tv_protobuf_put_number(&out, 5, (uint64_t)-1);
    tv_protobuf_put_number(&out, 6, 0);
    tv_protobuf_put_nonzero(&out, 7, 0);
    tv_protobuf_put_double(&out, 8, -2);
    tv_protobuf_put_number(&inner, 1, 150);
    tv_protobuf_put_message(&out, 100, &inner);
    assert_int_equal(inner.length, 0);
    struct tv_bytes written = {out.buffer, out.length};
    assert_true(
        tv_bytes_equal(written, TV_BYTES("\x08\x96\x01"                         /* 1: 150 */
                                         "\x12\x02hi"                           /* 2: "hi" */
                                         "\x19\x01\x02\x03\x04\x05\x06\x07\x08" /* 3: fixed64 */
                                         "\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" /* 5: -1 */
                                         "\x30\x00"                                     /* 6: 0 */
                                         "\x41\x00\x00\x00\x00\x00\x00\x00\xc0" /* 8: -2.0 */
                                         "\xa2\x06\x03\x08\x96\x01")));         /* 100: {1: 150} */
    tv_out_release(&inner);
    tv_out_release(&out);
}

UNIT_TESTS(protobuf, cmocka_unit_test(takes_fields_of_each_wire_type),
           cmocka_unit_test(takes_varints_of_each_length),
           cmocka_unit_test(bits_beyond_64_are_dropped), cmocka_unit_test(stops_at_damage),
           cmocka_unit_test(takes_lists_packed_or_not),
           cmocka_unit_test(writes_fields_of_each_wire_type));
