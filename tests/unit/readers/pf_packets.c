/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of a Perfetto trace: docs/formats/perfetto.md section 1, whole, cut off and damaged.
 */
#include "readers/perfetto/packets.h"

#include "unit.h"

#include <stdio.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"

/* Field 36 of a packet, the synchronization marker, with its tag and length. */
#define MARKER "\xa2\2\x10\x82\x47\x7a\x76\xb2\x8d\x42\xba\x81\xdc\x33\x32\x6d\x57\xa0\x79"
#define MARKED "\n\x13" MARKER

/* More than a damaged frame can take for a head. */
#define JUNK "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"

/* Write "offset+length" of each packet, then the kind and count of diagnostics. */
static void write_packets(struct tv_source *source, struct tv_out *out)
{
    struct tv_diagnostics diagnostics = {0};
    struct tv_pf_packets packets;
    struct tv_pf_packet packet;
    struct tv_error err;
    tv_pf_packets_init(&packets, source, 0, &diagnostics);
    while (tv_pf_packets_next(&packets, &packet, &err) == TV_OK && !packet.none)
        tv_out_format(out, "%u+%u ", (unsigned)packet.offset, (unsigned)packet.bytes.length);
    for (int kind = 0; kind < TV_DIAGNOSTIC_COUNT; kind++)
        if (diagnostics.kinds[kind].count > 0)
            tv_out_format(out, "%s %u ", tv_diagnostic_name((enum tv_diagnostic_kind)kind),
                          (unsigned)diagnostics.kinds[kind].count);
    tv_pf_packets_release(&packets);
    tv_diagnostics_clear(&diagnostics);
}

static void assert_packets(struct tv_bytes trace, const char *expected)
{
    struct tv_out out;
    struct tv_source *source = tv_source_from_memory(trace, "trace");
    tv_out_init_memory(&out);
    write_packets(source, &out);
    tv_out_char(&out, '\0');
    assert_string_equal(out.buffer, expected);
    tv_out_release(&out);
    tv_source_free(source);
}

#define ASSERT_PACKETS(trace, expected) assert_packets(TV_BYTES(trace), expected)

static void whole_frames(void **state)
{
    (void)state;
    ASSERT_PACKETS("", "");
    ASSERT_PACKETS("\n\2ab\n\3cde", "0+2 4+3 ");
    ASSERT_PACKETS("\n\0\n\1a", "2+1 "); /* an empty packet is none */
    ASSERT_PACKETS("\n\x81\0a", "0+1 "); /* a length may be longer than it need be */
    ASSERT_PACKETS(MARKED "\n\1a", "0+19 21+1 ");
}

static void fields_that_are_no_packets(void **state)
{
    (void)state;
    ASSERT_PACKETS("\x12\2xy\n\1a", "4+1 field-unknown 1 ");
    ASSERT_PACKETS("\x18\x96\1\n\1a\x21"
                   "12345678\n\1b",
                   "3+1 15+1 field-unknown 2 ");
    ASSERT_PACKETS("\x25"
                   "1234\n\1a",
                   "5+1 field-unknown 1 ");
}

static void cut_off_anywhere(void **state)
{
    (void)state;
    ASSERT_PACKETS("\n\2ab\n", "0+2 truncated 1 ");
    ASSERT_PACKETS("\n\2ab\n\x80", "0+2 truncated 1 ");
    ASSERT_PACKETS("\n\2ab\n\3cd", "0+2 truncated 1 ");
    ASSERT_PACKETS("\n\2ab\n\xff\xff\xff\xff\x0f"
                   "cd",
                   "0+2 truncated 1 ");
    ASSERT_PACKETS("\n\2ab\x12", "0+2 truncated 1 ");
    ASSERT_PACKETS("\n\2ab\x12\x80", "0+2 truncated 1 ");
    ASSERT_PACKETS("\n\2ab\x12\7xyz", "0+2 truncated 1 ");
    ASSERT_PACKETS("\n\2ab\x21"
                   "1234",
                   "0+2 truncated 1 ");
}

/* The walk goes on at the packet around the next marker. */
static void damage_ends_at_a_marker(void **state)
{
    (void)state;
    ASSERT_PACKETS("\n\1a" JUNK MARKED "\n\1b", "0+1 23+19 44+1 bad-packet 1 ");
    /* A length of eleven bytes, field 0, wire type 7, and a field number above 2^29. */
    ASSERT_PACKETS("\n" JUNK MARKED, "21+19 bad-packet 1 ");
    ASSERT_PACKETS("\2" JUNK MARKED, "21+19 bad-packet 1 ");
    ASSERT_PACKETS("\x0f" JUNK MARKED, "21+19 bad-packet 1 ");
    ASSERT_PACKETS("\x82\x80\x80\x80\x80\x02" JUNK MARKED, "26+19 bad-packet 1 ");
    /* A field of a terabyte, and one that is only longer than the trace. */
    ASSERT_PACKETS("\x12\x80\x80\x80\x80\x80\x20" JUNK MARKED, "27+19 bad-packet 1 ");
    ASSERT_PACKETS("\x12\x7f" JUNK MARKED, "22+19 bad-packet 1 ");
    /* A packet that is longer than the trace, by little and by much: its length is damaged. */
    ASSERT_PACKETS("\n\1a\n\x7f" JUNK MARKED "\n\1b", "0+1 25+19 46+1 bad-packet 1 ");
    ASSERT_PACKETS("\n\xff\xff\xff\xff\x0f" JUNK MARKED, "26+19 bad-packet 1 ");
    /* A marker that no frame contains, one whose frame ends too soon, one half, none at all. */
    ASSERT_PACKETS(JUNK MARKER JUNK MARKED, "59+19 bad-packet 1 ");
    ASSERT_PACKETS(JUNK "\n\x12" MARKER JUNK MARKED, "61+19 bad-packet 1 ");
    ASSERT_PACKETS(JUNK "\x82\x47\x7a" JUNK MARKED, "43+19 bad-packet 1 ");
    ASSERT_PACKETS("\n\1a" JUNK, "0+1 bad-packet 1 ");
}

/* Markers are found however far away they are: the search goes on window by window. */
static void damage_of_any_length(void **state)
{
    (void)state;
    static const size_t lengths[] = {1000, 1024, 1025, TV_WINDOW_SIZE - 7, 3 * TV_WINDOW_SIZE + 5};
    for (size_t i = 0; i < TV_COUNT(lengths); i++) {
        struct tv_out trace;
        char expected[64];
        tv_out_init_memory(&trace);
        tv_out_bytes(&trace, TV_BYTES("\n\1a"));
        for (size_t k = 0; k < lengths[i]; k++)
            tv_out_char(&trace, (char)0xff);
        tv_out_bytes(&trace, TV_BYTES(MARKED));
        snprintf(expected, sizeof expected, "0+1 %zu+19 bad-packet 1 ", 3 + lengths[i]);
        assert_packets((struct tv_bytes){trace.buffer, trace.length}, expected);
        tv_out_release(&trace);
    }
}

UNIT_TESTS(pf_packets, cmocka_unit_test(whole_frames), cmocka_unit_test(fields_that_are_no_packets),
           cmocka_unit_test(cut_off_anywhere), cmocka_unit_test(damage_ends_at_a_marker),
           cmocka_unit_test(damage_of_any_length));
