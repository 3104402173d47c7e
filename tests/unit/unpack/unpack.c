/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "unpack/made_file.h"
#include "unpack/unpack.h"

/* "trace one\n" three times, by gzip. */
static const char gzip[] =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x2b\x29\x4a\x4c\x4e\x55\xc8\xcf\x4b\xe5"
    "\x2a\xc1\xc2\x02\x00\x0d\x43\xe5\x95\x1e\x00\x00\x00";

/* A zip of no.txt ("nothing"), a/one ("trace one") and two ("trace two"), stored. */
static const char zip[] =
    "\x50\x4b\x03\x04\x14\x00\x00\x00\x00\x00\x00\x00\x21\x5c\xd7\x8e\x29\x22\x07\x00"
    "\x00\x00\x07\x00\x00\x00\x06\x00\x00\x00\x6e\x6f\x2e\x74\x78\x74\x6e\x6f\x74\x68"
    "\x69\x6e\x67\x50\x4b\x03\x04\x14\x00\x00\x00\x00\x00\x00\x00\x21\x5c\xdf\x22\x5f"
    "\x72\x09\x00\x00\x00\x09\x00\x00\x00\x05\x00\x00\x00\x61\x2f\x6f\x6e\x65\x74\x72"
    "\x61\x63\x65\x20\x6f\x6e\x65\x50\x4b\x03\x04\x14\x00\x00\x00\x00\x00\x00\x00\x21"
    "\x5c\x48\x2e\xf9\x19\x09\x00\x00\x00\x09\x00\x00\x00\x03\x00\x00\x00\x74\x77\x6f"
    "\x74\x72\x61\x63\x65\x20\x74\x77\x6f\x50\x4b\x01\x02\x14\x03\x14\x00\x00\x00\x00"
    "\x00\x00\x00\x21\x5c\xd7\x8e\x29\x22\x07\x00\x00\x00\x07\x00\x00\x00\x06\x00\x00"
    "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x01\x00\x00\x00\x00\x6e\x6f\x2e\x74\x78"
    "\x74\x50\x4b\x01\x02\x14\x03\x14\x00\x00\x00\x00\x00\x00\x00\x21\x5c\xdf\x22\x5f"
    "\x72\x09\x00\x00\x00\x09\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
    "\x00\x80\x01\x2b\x00\x00\x00\x61\x2f\x6f\x6e\x65\x50\x4b\x01\x02\x14\x03\x14\x00"
    "\x00\x00\x00\x00\x00\x00\x21\x5c\x48\x2e\xf9\x19\x09\x00\x00\x00\x09\x00\x00\x00"
    "\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x01\x57\x00\x00\x00\x74\x77"
    "\x6f\x50\x4b\x05\x06\x00\x00\x00\x00\x03\x00\x03\x00\x98\x00\x00\x00\x81\x00\x00"
    "\x00\x00\x00";

/* "trace" and 100000 zeros, by gzip. */
static const char zeros[] =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xed\xc1\x31\x09\x00\x00\x08\x00\x30\xab"
    "\x8a\x58\x40\xec\x8f\x35\x3c\xb6\xed\x64\x75\x00\x00\x00\x00\x00\x00\x00\x00\x00"
    "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
    "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
    "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
    "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
    "\x00\x00\x00\x00\x00\x00\x00\x00\x6f\x1d\xc1\x9d\x9b\xf5\xa5\x86\x01\x00";

/* A trace here is what begins with "trace". */
static bool is_trace(void *context, struct tv_bytes head)
{
    (void)context;
    return tv_bytes_starts_with(head, TV_BYTES("trace"));
}

struct result {
    enum tv_status status;
    struct tv_unpacked members[TV_UNPACK_MEMBERS];
    size_t count;
    bool cut_off;
    struct tv_error err;
};

static struct result ask(struct tv_source *packed, struct tv_unpack_question question)
{
    struct result r = {.err = {0}};
    question.wanted = is_trace;
    r.status = tv_unpack(packed, &question, r.members, &r.count, &r.cut_off, &r.err);
    tv_source_free(packed);
    return r;
}

static struct tv_source *box(const char *bytes, size_t length)
{
    return tv_source_from_memory((struct tv_bytes){(const uint8_t *)bytes, length}, "box");
}

static struct result unpack(const char *bytes, size_t length, uint64_t ceiling)
{
    return ask(box(bytes, length), (struct tv_unpack_question){.ceiling = ceiling});
}

static struct result unpack_as_it_comes(const char *bytes, size_t length, uint64_t ceiling)
{
    return ask(box(bytes, length),
               (struct tv_unpack_question){.ceiling = ceiling, .as_it_comes = true});
}

static void release(struct result *r)
{
    for (size_t i = 0; r->status == TV_OK && i < r->count; i++)
        tv_source_free(r->members[i].source);
}

static void assert_holds(struct tv_source *source, const char *text)
{
    char bytes[64] = "";
    size_t got;
    assert_int_equal(tv_source_size(source), strlen(text));
    assert_int_equal(tv_source_read(source, 0, bytes, sizeof bytes - 1, &got, NULL), TV_OK);
    assert_string_equal(bytes, text);
}

static void knows_containers(void **state)
{
    (void)state;
    assert_true(tv_unpack_knows((struct tv_bytes){(const uint8_t *)gzip, sizeof gzip - 1}));
    assert_true(tv_unpack_knows((struct tv_bytes){(const uint8_t *)zip, sizeof zip - 1}));
    assert_false(tv_unpack_knows(TV_BYTES("*version\n3\n")));
    assert_false(tv_unpack_knows(TV_BYTES("PK")));
    assert_false(tv_unpack_knows(TV_BYTES("")));
}

/* Of a tar the magic alone is no more than a word: no text has a NUL before it. */
static void knows_a_tar_from_text(void **state)
{
    (void)state;
    char head[512] = "a.trace";
    memcpy(head + 257, "ustar", 5);
    assert_true(tv_unpack_knows((struct tv_bytes){(const uint8_t *)head, sizeof head}));
    memset(head, '#', 257);
    assert_false(tv_unpack_knows((struct tv_bytes){(const uint8_t *)head, sizeof head}));
}

static void unpacks_a_stream(void **state)
{
    (void)state;
    struct result r = unpack(gzip, sizeof gzip - 1, 0);
    assert_int_equal(r.status, TV_OK);
    assert_int_equal(r.count, 1);
    assert_false(r.cut_off);
    assert_holds(r.members[0].source, "trace one\ntrace one\ntrace one\n");
    assert_string_equal(tv_source_name(r.members[0].source), "box");
    release(&r);
}

static void takes_wanted_members(void **state)
{
    (void)state;
    struct result r = unpack(zip, sizeof zip - 1, 0);
    assert_int_equal(r.status, TV_OK);
    assert_int_equal(r.count, 2);
    assert_holds(r.members[0].source, "trace one");
    assert_holds(r.members[1].source, "trace two");
    assert_string_equal(tv_source_name(r.members[0].source), "box: a/one");
    release(&r);
}

/* The first member of `length` bytes of the zip is unpacked while it is read, the others behind it:
 * what stands unpacked together, as text. */
static void read_one_by_one(size_t length, char *text, size_t size, bool *cut_off)
{
    struct tv_archive_rest *rest = NULL;
    struct tv_unpack_question question = {.wanted = is_trace, .as_it_comes = true, .rest = &rest};
    struct tv_source *packed = box(zip, length);
    struct tv_unpacked members[TV_UNPACK_MEMBERS];
    size_t count, got;
    *text = '\0';
    if (tv_unpack(packed, &question, members, &count, cut_off, NULL) == TV_OK) {
        assert_int_equal(count, 1);
        assert_non_null(rest);
        assert_int_equal(tv_source_read(members[0].source, 0, text, size, &got, NULL), TV_OK);
        tv_source_free(members[0].source);
        assert_int_equal(tv_unpack_rest(rest, &question, members, &count, cut_off, NULL), TV_OK);
        for (size_t i = 0; i < count; i++) {
            size_t more;
            assert_int_equal(
                tv_source_read(members[i].source, 0, text + got, size - got, &more, NULL), TV_OK);
            got += more;
            tv_source_free(members[i].source);
        }
        text[got] = '\0';
    }
    tv_source_free(packed);
}

static void takes_members_one_by_one(void **state)
{
    (void)state;
    char text[64];
    bool cut_off;
    read_one_by_one(sizeof zip - 1, text, sizeof text, &cut_off);
    assert_string_equal(text, "trace onetrace two");
    assert_false(cut_off);
}

/* Wherever it is cut off, what came before is the same as when all is taken at once. */
static void takes_what_is_left_one_by_one(void **state)
{
    (void)state;
    for (size_t length = 0; length < sizeof zip - 1; length++) {
        char text[64], wanted[64] = "";
        bool cut_off = false;
        size_t total = 0;
        struct result r = unpack(zip, length, 0);
        for (size_t i = 0; i < r.count; i++) {
            size_t got;
            assert_int_equal(tv_source_read(r.members[i].source, 0, wanted + total,
                                            sizeof wanted - 1 - total, &got, NULL),
                             TV_OK);
            total += got;
        }
        read_one_by_one(length, text, sizeof text, &cut_off);
        assert_string_equal(text, wanted);
        assert_int_equal(cut_off, r.cut_off);
        release(&r);
    }
}

static void does_without_the_rest(void **state)
{
    (void)state;
    for (unsigned first = 0; first < 2; first++) {
        struct tv_archive_rest *rest;
        struct result r = ask(box(zip, sizeof zip - 1),
                              (struct tv_unpack_question){.as_it_comes = true, .rest = &rest});
        assert_int_equal(r.count, 1);
        if (first == 0)
            tv_archive_rest_free(rest);
        assert_holds(r.members[0].source, "trace one");
        release(&r);
        if (first == 1)
            tv_archive_rest_free(rest);
    }
}

/* What comes out of a small file has an end. */
static void has_a_ceiling(void **state)
{
    (void)state;
    struct result r = unpack(zeros, sizeof zeros - 1, 50000);
    assert_int_equal(r.status, TV_ERR_LIMIT);
    r = unpack(zeros, sizeof zeros - 1, 100005);
    assert_int_equal(r.status, TV_OK);
    assert_int_equal(tv_source_size(r.members[0].source), 100005);
    release(&r);
}

static void has_a_ceiling_by_its_size(void **state)
{
    (void)state;
    const uint64_t free = UINT64_C(1073741824);
    assert_int_equal(tv_unpack_ceiling(0, 0), free);
    assert_int_equal(tv_unpack_ceiling(131586, 0), UINT64_C(1107427840));
    assert_int_equal(tv_unpack_ceiling(131586, UINT64_C(17179869184)), UINT64_C(1107427840));
    assert_int_equal(tv_unpack_ceiling(131586, 1000), 1000);
    assert_int_equal(tv_unpack_ceiling(UINT64_MAX, 0), UINT64_MAX);
    assert_int_equal(tv_unpack_ceiling(UINT64_MAX / 256, 5), 5);
}

static void says_when_nothing_is_wanted(void **state)
{
    (void)state;
    static const char other[] =
        "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\xcb\x2f\xc9\xc8\xcc\x4b\x07\x00\xd7"
        "\x8e\x29\x22\x07\x00\x00\x00";
    struct result r = unpack(other, sizeof other - 1, 0);
    assert_int_equal(r.status, TV_ERR_UNSUPPORTED);
    assert_int_equal(r.count, 0);
}

/* Every cut gives what was before it, or an error; every changed byte too. */
static void survives_damage(void **state)
{
    (void)state;
    char bytes[sizeof zip];
    for (size_t length = 0; length < sizeof zip - 1; length++) {
        struct result r = unpack(zip, length, 0);
        assert_true(r.status != TV_OK || r.count > 0);
        release(&r);
    }
    for (size_t i = 0; i < sizeof zip - 1; i++) {
        memcpy(bytes, zip, sizeof zip);
        bytes[i] = (char)(bytes[i] ^ 0x41);
        struct result r = unpack(bytes, sizeof zip - 1, 0);
        release(&r);
    }
}

/* A stream that ends early gives everything that its bytes tell. */
static void says_that_a_stream_is_cut(void **state)
{
    (void)state;
    struct result r = unpack(gzip, sizeof gzip - 9, 0); /* without its checksum and length */
    assert_int_equal(r.status, TV_OK);
    assert_true(r.cut_off);
    assert_holds(r.members[0].source, "trace one\ntrace one\ntrace one\n");
    release(&r);
    /* A match of 258 zeros is 2 bits here: 8 bytes less are at most 32 matches and what ends them.
     */
    r = unpack(zeros, sizeof zeros - 1 - 16, 0);
    assert_int_equal(r.status, TV_OK);
    assert_true(r.cut_off);
    assert_in_range(tv_source_size(r.members[0].source), 100005 - 64 * 258, 100005);
    release(&r);
}

/* So is one whose checksum or length is wrong, alone or after another; padding is no damage. */
static void says_that_a_checksum_is_wrong(void **state)
{
    (void)state;
    char bytes[3 * sizeof gzip] = "";
    const size_t length = sizeof gzip - 1;
    for (size_t copies = 1; copies <= 2; copies++) {
        memcpy(bytes + (copies - 1) * length, gzip, length);
        for (size_t padding = 0; padding <= 30; padding += 10) {
            struct result r = unpack(bytes, copies * length + padding, 0);
            assert_int_equal(r.status, TV_OK);
            assert_false(r.cut_off);
            assert_int_equal(tv_source_size(r.members[0].source), copies * 30);
            release(&r);
        }
        for (size_t at = copies * length - 8; at < copies * length; at++) {
            bytes[at] ^= 1;
            struct result r = unpack(bytes, copies * length, 0);
            assert_int_equal(r.status, TV_OK);
            assert_true(r.cut_off);
            assert_int_equal(tv_source_size(r.members[0].source), copies * 30);
            release(&r);
            r = unpack_as_it_comes(bytes, copies * length, 0);
            assert_int_equal(tv_source_size(r.members[0].source), copies * 30);
            assert_true(tv_source_is_truncated(r.members[0].source));
            release(&r);
            bytes[at] ^= 1;
        }
    }
}

/* What the source says of itself when all of it was asked for. */
static void assert_comes(struct result *r, uint64_t least, uint64_t most, bool cut)
{
    uint64_t size;
    assert_int_equal(r->status, TV_OK);
    assert_int_equal(r->count, 1);
    assert_false(r->cut_off);
    assert_false(tv_source_has_size(r->members[0].source, &size));
    assert_false(tv_source_is_truncated(r->members[0].source));
    assert_in_range(tv_source_size(r->members[0].source), least, most);
    assert_int_equal(tv_source_check(r->members[0].source, NULL), TV_OK);
    assert_int_equal(tv_source_is_truncated(r->members[0].source), cut);
}

/* The packed source is the caller's no more, and goes on to be read. */
static void unpacks_a_stream_while_it_is_read(void **state)
{
    (void)state;
    uint8_t bytes[1000];
    size_t got;
    struct result r = unpack_as_it_comes(zeros, sizeof zeros - 1, 0);
    assert_comes(&r, 100005, 100005, false);
    assert_int_equal(tv_source_read(r.members[0].source, 99500, bytes, sizeof bytes, &got, NULL),
                     TV_OK);
    assert_int_equal(got, 505);
    assert_int_equal(bytes[504], 0);
    assert_string_equal(tv_source_name(r.members[0].source), "box");
    release(&r);
    r = unpack_as_it_comes(zeros, sizeof zeros - 1 - 16, 0);
    assert_comes(&r, 100005 - 64 * 258, 100005, true);
    release(&r);
    r = unpack_as_it_comes(gzip, sizeof gzip - 1, 0); /* which nobody reads */
    assert_int_equal(r.status, TV_OK);
    release(&r);
}

/* What lies before it has been there; more is an error of whoever reads on. */
static void has_a_ceiling_while_it_is_read(void **state)
{
    (void)state;
    struct tv_error err = {0};
    uint8_t bytes[10];
    size_t got;
    struct result r = unpack_as_it_comes(zeros, sizeof zeros - 1, 50000);
    assert_int_equal(r.status, TV_OK);
    assert_int_equal(tv_source_read(r.members[0].source, 0, bytes, 10, &got, NULL), TV_OK);
    assert_memory_equal(bytes, "trace", 5);
    assert_true(tv_source_size(r.members[0].source) <= 50000);
    assert_int_equal(tv_source_check(r.members[0].source, &err), TV_ERR_LIMIT);
    assert_non_null(strstr(err.message, "50000"));
    release(&r);
    r = unpack_as_it_comes(zeros, sizeof zeros - 1, 100005);
    assert_comes(&r, 100005, 100005, false);
    release(&r);
}

/* The second read fails, as of a file that was changed meanwhile. */
static enum tv_status read_once(void *context, uint64_t offset, void *buffer, size_t size,
                                struct tv_error *err)
{
    if (offset > 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the file changed");
    memcpy(buffer, (const char *)context + offset, size);
    return TV_OK;
}

/* That is an error, and no container which ends early.  The packed bytes are stored blocks. */
static void says_that_the_packed_bytes_cannot_be_read(void **state)
{
    (void)state;
    static const struct tv_source_reads reads = {.read = read_once};
    static char stored[400000] = "\x1f\x8b\x08\0\0\0\0\0\x02\x03";
    for (size_t at = 10; at + 65540 <= sizeof stored; at += 65540)
        memcpy(stored + at, "\0\xff\xff\0\0trace", 10);
    struct tv_error err = {0};
    struct tv_source *packed = tv_source_from_reads(&reads, stored, sizeof stored, "box");
    struct result r = ask(packed, (struct tv_unpack_question){.as_it_comes = true});
    assert_int_equal(r.status, TV_OK);
    assert_true(tv_source_size(r.members[0].source) >= 65535);
    assert_int_equal(tv_source_check(r.members[0].source, &err), TV_ERR_IO);
    assert_false(tv_source_is_truncated(r.members[0].source));
    release(&r);
    assert_string_equal(err.message, "the file changed");
}

static char last_note[256];

static void take_note(void *context, const char *text)
{
    (void)context;
    snprintf(last_note, sizeof last_note, "%s", text);
}

/* Where the heads of the members of `zip` are, and the flag of encryption in a head. */
enum { ONE = 0x2b, TWO = 0x57, FLAGS = 6, HEAD_OF_TWO = 33 };

static struct result unpack_encrypted(size_t member, size_t length)
{
    char bytes[sizeof zip];
    memcpy(bytes, zip, sizeof zip);
    bytes[member + FLAGS] = 1;
    last_note[0] = '\0';
    return ask(box(bytes, length), (struct tv_unpack_question){.note = take_note});
}

/* An encrypted member is told of however the archive goes on after it. */
static void says_that_a_member_is_encrypted(void **state)
{
    (void)state;
    static const struct {
        size_t member, length;
        bool cut_off;
        const char *note;
    } cases[] = {
        {ONE, sizeof zip - 1, false, "a/one: encrypted: left out"},
        {ONE, TWO + HEAD_OF_TWO + 7, true, "a/one: encrypted: left out"},
        {TWO, sizeof zip - 1, false, "two: encrypted: left out"},
        {TWO, TWO + HEAD_OF_TWO + 7, true, "two: encrypted: left out"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct result r = unpack_encrypted(cases[i].member, cases[i].length);
        assert_int_equal(r.status, TV_OK);
        assert_int_equal(r.count, 1);
        assert_int_equal(r.cut_off, cases[i].cut_off);
        assert_string_equal(last_note, cases[i].note);
        release(&r);
    }
    struct result r = unpack_encrypted(ONE, TWO - 2); /* nothing else is a trace */
    assert_int_equal(r.status, TV_ERR_UNSUPPORTED);
    assert_non_null(strstr(r.err.message, "an encrypted zip (a/one)"));
}

/* Traces of a page are members; what is no trace is said to be left out. */
static void takes_traces_of_a_page(void **state)
{
    (void)state;
    static const char page[] = "<html><script class=trace-data>trace one</script>"
                               "<script class=trace-data>other</script>"
                               "<script id=viewer-data>dHJhY2UgdHdv</script>";
    struct tv_unpacked members[TV_UNPACK_MEMBERS];
    struct tv_unpack_question question = {
        .wanted = is_trace,
        .note = take_note,
    };
    struct tv_source *packed = tv_source_from_memory(tv_bytes_of(page), "page");
    size_t count;
    bool cut_off;
    assert_int_equal(tv_unpack(packed, &question, members, &count, &cut_off, NULL), TV_OK);
    tv_source_free(packed); /* what stands in it as it is stays readable */
    assert_int_equal(count, 2);
    assert_holds(members[0].source, "trace one");
    assert_holds(members[1].source, "trace two");
    assert_string_equal(tv_source_name(members[0].source), "page: block 1");
    assert_string_equal(tv_source_name(members[1].source), "page: block 3");
    assert_string_equal(last_note, "block 2, 5 bytes at byte 74, is of no known format: left out");
    assert_false(cut_off);
    tv_source_free(members[0].source);
    tv_source_free(members[1].source);
}

static void says_that_a_page_has_no_trace(void **state)
{
    (void)state;
    static const char page[] = "<html><script>trace one</script>";
    struct result r = unpack(page, sizeof page - 1, 0);
    assert_int_equal(r.status, TV_ERR_UNSUPPORTED);
    assert_string_equal(r.err.message, "an HTML page without a trace in it");
}

/* The checksum of the first one is wrong: it is told, and nothing is left out. */
static void says_that_a_member_is_damaged(void **state)
{
    (void)state;
    char bytes[sizeof zip];
    memcpy(bytes, zip, sizeof zip);
    bytes[ONE + 14] ^= 1;
    struct result r = unpack(bytes, sizeof zip - 1, 0);
    assert_int_equal(r.status, TV_OK);
    assert_true(r.cut_off);
    assert_int_equal(r.count, 2);
    assert_holds(r.members[0].source, "trace one");
    assert_holds(r.members[1].source, "trace two");
    release(&r);
}

static void reports_unreadable_bytes(void **state)
{
    (void)state;
    static const struct tv_bytes files[] = {
        {(const uint8_t *)gzip, sizeof gzip - 1},
        {(const uint8_t *)zip, sizeof zip - 1},
    };
    for (size_t i = 0; i < TV_COUNT(files); i++) {
        struct made_file file = {.length = 0};
        made_file_append(&file, files[i].data, files[i].length);
        made_file_assert_reports_breaks(&file, is_trace);
        made_file_assert_unwanted(&file);
    }
}

UNIT_TESTS(unpack, cmocka_unit_test(takes_traces_of_a_page),
           cmocka_unit_test(says_that_a_page_has_no_trace), cmocka_unit_test(knows_containers),
           cmocka_unit_test(knows_a_tar_from_text), cmocka_unit_test(unpacks_a_stream),
           cmocka_unit_test(takes_wanted_members), cmocka_unit_test(takes_members_one_by_one),
           cmocka_unit_test(takes_what_is_left_one_by_one), cmocka_unit_test(does_without_the_rest),
           cmocka_unit_test(has_a_ceiling), cmocka_unit_test(has_a_ceiling_by_its_size),
           cmocka_unit_test(says_when_nothing_is_wanted), cmocka_unit_test(survives_damage),
           cmocka_unit_test(says_that_a_stream_is_cut),
           cmocka_unit_test(says_that_a_checksum_is_wrong),
           cmocka_unit_test(unpacks_a_stream_while_it_is_read),
           cmocka_unit_test(has_a_ceiling_while_it_is_read),
           cmocka_unit_test(says_that_the_packed_bytes_cannot_be_read),
           cmocka_unit_test(says_that_a_member_is_damaged),
           cmocka_unit_test(says_that_a_member_is_encrypted),
           cmocka_unit_test(reports_unreadable_bytes));
