/* SPDX-License-Identifier: Apache-2.0 */
/* What a page calls, in its order: an instance is of one trace, and so are these tests, but for
 * what is tried in a process of its own.  That answers are the program's is shown by tests/wasm. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "wasm/host.h"

static const char app[] =
    "[{\"ph\":\"X\",\"name\":\"outer\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":9},"
    "{\"ph\":\"X\",\"name\":\"inner\",\"pid\":1,\"tid\":1,\"ts\":2,\"dur\":3}]";
static const char note[] = "this is no trace of any kind";

static const char page[] = "<!DOCTYPE html><html><script class=\"trace-data\">one</script>"
                           "<script id=\"viewer-data\">dHdv</script>"
                           "<script id=\"viewer-data\">dG*v</script>";

static struct tv_bytes files[] = {{(const uint8_t *)app, sizeof app - 1},
                                  {(const uint8_t *)note, sizeof note - 1},
                                  {(const uint8_t *)page, sizeof page - 1}};
static bool gone; /* files cannot be read any more */

int tv_host_read(uint32_t file, double offset, void *buffer, uint32_t size)
{
    assert_true(file < TV_COUNT(files));
    assert_true(offset >= 0 && offset + size <= (double)files[file].length);
    if (gone)
        return 0;
    memcpy(buffer, files[file].data + (size_t)offset, size);
    return 1;
}

static uint32_t put(const char *text)
{
    uint32_t length = (uint32_t)strlen(text);
    memcpy(tv_host_room(length), text, length);
    return length;
}

static void add(uint32_t file, const char *name, int64_t offset)
{
    tv_host_input(file, put(name), offset);
    tv_host_add(file, put(name), (double)files[file].length, 0, 0);
}

/* The answer's text holds `words`. */
static void tells(const char *words)
{
    char *text = test_calloc(tv_host_answer_length() + 1, 1);
    memcpy(text, tv_host_answer(), tv_host_answer_length());
    if (!strstr(text, words))
        fail_msg("%s is not in %s", words, text);
    test_free(text);
}

static void asked(const char *question, uint32_t status, const char *words)
{
    uint32_t length = (uint32_t)strlen(question);
    memcpy(tv_host_room(length), question, length);
    assert_int_equal(tv_host_ask(length), status);
    tells(words);
}

static void is_not_ready_before_it_has_read(void **state)
{
    (void)state;
    tv_host_status();
    assert_int_equal(tv_host_answer_length(), 0);
    asked("profile", 409, "the trace is not there yet");
    asked("nonsense", 404, "there is no such question");
    asked("", 404, "there is no such question");
}

/* In a process of its own; the exit code is 0. */
static void in_a_child(void (*act)(void))
{
    int how = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        act();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
}

static void load_a_note(void)
{
    add(1, "note.txt", 0);
    if (tv_host_load())
        _exit(1);
    tv_host_status();
    tells("\"state\":\"error\"");
    tells("note.txt: ");
    asked("profile", 409, "the trace is not there yet");
}

static void load_what_has_gone(void)
{
    gone = true;
    add(0, "app.json", 0);
    if (tv_host_load())
        _exit(1);
    tv_host_status();
    tells("the browser cannot read it any more");
    tells("\"kind\":\"io\"");
}

static void tells_why_there_is_no_trace(void **state)
{
    (void)state;
    in_a_child(load_a_note);
    in_a_child(load_what_has_gone);
}

/* Both as far as numbers go: held to the 73 years of TV_MOVE_MAX, 2^61 ns. */
static void load_what_is_moved_far(void)
{
    tv_host_input(0, put("app.json"), INT64_MAX);
    tv_host_add(0, put("app.json"), sizeof app - 1, 0, INT64_MAX);
    if (!tv_host_load())
        _exit(1);
    asked("trace", 200, "\"start_ns\":2305843009213693952");
}

static void holds_moves_within_their_limit(void **state)
{
    (void)state;
    in_a_child(load_what_is_moved_far);
}

static void answers_when_it_has_read(void **state)
{
    (void)state;
    add(0, "app.json", 1000);
    assert_true(tv_host_load());
    tv_host_status();
    tells("\"state\":\"ready\",\"name\":\"app.json\"");
    tells("\"offset_ns\":\"1000\"");
    asked("collapsed", 200, "outer 6\nouter;inner 3\n");
    asked("trace", 200, "\"calls\":2");
    asked("slice?row=0", 400, "index");
    asked("search?q=%ZZ", 400, "error");
    asked("trace?filter=dur%3E", 400, "\"column\":");
    asked("save?as=html", 400, "no report can be made here");
    asked("nonsense", 404, "there is no such question");
}

/* Questions are as long as whoever asks wants. */
static void takes_long_questions(void **state)
{
    (void)state;
    static const char name[] = "search?q=";
    const uint32_t length = 3000000;
    char *room = tv_host_room(length);
    memset(room, 'x', length);
    memcpy(room, name, sizeof name - 1);
    uint32_t status = tv_host_ask(length);
    assert_true(status == 200 || status == 400);
    asked("collapsed", 200, "outer 6\n");
}

static void knows_traces_and_pages_by_their_beginning(void **state)
{
    (void)state;
    assert_true(tv_host_knows(put(app), sizeof app - 1));
    assert_false(tv_host_knows(put(note), sizeof note - 1));
    assert_true(tv_host_is_page(put(page)));
    assert_false(tv_host_is_page(put(app)));
    tv_host_foreign(put("\x7f"
                        "ELF"));
    tells(", which is not read yet");
    tv_host_foreign(put(note));
    assert_int_equal(tv_host_answer_length(), 0);
}

static void finds_the_traces_of_a_page(void **state)
{
    (void)state;
    assert_true(tv_host_page(2, sizeof page - 1));
    tells("\"bytes\":3,\"plain\":true,\"open\":false,\"name\":\"\",\"machine\":0,\"offset_ns\":"
          "\"0\"},{");
    tells("\"plain\":false,");
    tells("],\"notes\":[],\"cut\":false}");
    tv_host_trace(1);
    assert_true(tv_host_trace_more());
    tells("two");
    assert_true(tv_host_trace_more());
    assert_int_equal(tv_host_answer_length(), 0);
    tv_host_trace(2);
    assert_true(tv_host_trace_more());
    tells("dG*v");     /* plain, as it is no base64 */
    tv_host_trace(99); /* there is none */
    assert_true(tv_host_trace_more());
    assert_int_equal(tv_host_answer_length(), 0);
    gone = true;
    assert_false(tv_host_page(2, sizeof page - 1));
    tells("cannot read it any more");
    gone = false;
}

UNIT_TESTS(host, cmocka_unit_test(knows_traces_and_pages_by_their_beginning),
           cmocka_unit_test(finds_the_traces_of_a_page),
           cmocka_unit_test(is_not_ready_before_it_has_read),
           cmocka_unit_test(tells_why_there_is_no_trace),
           cmocka_unit_test(holds_moves_within_their_limit),
           cmocka_unit_test(answers_when_it_has_read), cmocka_unit_test(takes_long_questions));
