/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/messages.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"
#include "unit.h"

static const struct tv_view_parameter pairs[] = {
    {{(const uint8_t *)"from", 4}, {(const uint8_t *)"-5", 2}},
    {{(const uint8_t *)"filter", 6}, {(const uint8_t *)"a\0b", 3}},
    {{(const uint8_t *)"empty", 5}, {NULL, 0}},
};

static void questions_come_back(void **state)
{
    (void)state;
    struct tv_view_question question = {TV_BYTES("profile"), pairs, TV_COUNT(pairs)}, again;
    struct tv_view_parameter parameters[TV_ENGINE_PARAMETERS];
    struct tv_out out;
    tv_out_init_memory(&out);
    assert_true(tv_engine_write_question(&out, &question));
    struct tv_bytes bytes = {out.buffer, out.length};
    assert_true(tv_engine_read_question(bytes, &again, parameters));
    assert_true(tv_bytes_equal(again.name, question.name));
    assert_int_equal(again.count, TV_COUNT(pairs));
    for (size_t i = 0; i < again.count; i++) {
        assert_true(tv_bytes_equal(parameters[i].name, pairs[i].name));
        assert_true(tv_bytes_equal(parameters[i].value, pairs[i].value));
    }
    /* a truncated question is invalid, except between two parameters */
    unsigned good = 0;
    for (size_t length = 0; length < out.length; length++)
        good += tv_engine_read_question((struct tv_bytes){out.buffer, length}, &again, parameters);
    assert_int_equal(good, TV_COUNT(pairs));
    tv_out_release(&out);
}

static void long_questions_are_refused(void **state)
{
    (void)state;
    uint8_t *text = tv_alloc(TV_ENGINE_QUESTION_SIZE, 1);
    struct tv_view_parameter many[TV_ENGINE_PARAMETERS + 1] = {0};
    struct tv_view_question question = {TV_BYTES("profile"), many, TV_COUNT(many)};
    struct tv_out out;
    tv_out_init_memory(&out);
    assert_false(tv_engine_write_question(&out, &question));
    question.count = 1;
    many[0].value = (struct tv_bytes){text, TV_ENGINE_QUESTION_SIZE};
    assert_false(tv_engine_write_question(&out, &question));
    many[0].value.length++;
    assert_false(tv_engine_write_question(&out, &question));
    many[0] = (struct tv_view_parameter){{text, TV_ENGINE_QUESTION_SIZE + 1}, {NULL, 0}};
    assert_false(tv_engine_write_question(&out, &question));
    question.count = 0;
    question.name = (struct tv_bytes){text, TV_ENGINE_QUESTION_SIZE + 1};
    assert_false(tv_engine_write_question(&out, &question));
    question.name = (struct tv_bytes){text, SIZE_MAX - 2};
    assert_false(tv_engine_write_question(&out, &question));
    assert_int_equal(out.length, 0);
    tv_out_release(&out);
    tv_free(text);
}

static void lengths_are_not_believed(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0xff, 0xff, 0xff, 0xff, 'a', 'b'};
    struct tv_view_question question;
    struct tv_view_parameter parameters[TV_ENGINE_PARAMETERS];
    assert_false(
        tv_engine_read_question((struct tv_bytes){bytes, sizeof bytes}, &question, parameters));
    /* a name, then more empty parameters than there is room for */
    uint8_t zeros[4 + 8 * (TV_ENGINE_PARAMETERS + 1)] = {0};
    assert_false(
        tv_engine_read_question((struct tv_bytes){zeros, sizeof zeros}, &question, parameters));
    assert_true(
        tv_engine_read_question((struct tv_bytes){zeros, sizeof zeros - 8}, &question, parameters));
}

static void files_come_where_they_are_wanted(void **state)
{
    (void)state;
    int sockets[2], pipes[2], got_fd = -1;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
    assert_int_equal(pipe(pipes), 0);
    struct tv_engine_message message = {.kind = TV_ENGINE_QUESTION}, got;
    char more[8];
    size_t length = sizeof more;
    assert_true(tv_engine_send(sockets[0], &message, TV_BYTES("hello"), pipes[1]));
    assert_int_equal(tv_engine_receive(sockets[1], &got, more, &length, &got_fd), TV_GOT_MESSAGE);
    assert_int_equal(length, 5);
    assert_memory_equal(more, "hello", 5);
    assert_true(got_fd >= 0);
    assert_int_equal(fcntl(got_fd, F_GETFD), FD_CLOEXEC);
    close(got_fd);
    /* the server does not accept it: it is closed unseen */
    assert_true(tv_engine_send(sockets[1], &message, (struct tv_bytes){NULL, 0}, pipes[1]));
    close(pipes[1]);
    assert_int_equal(tv_engine_receive(sockets[0], &got, NULL, NULL, NULL), TV_GOT_MESSAGE);
    assert_int_equal(read(pipes[0], more, 1), 0);
    /* packets that are too long or too short end the connection */
    assert_true(tv_engine_send(sockets[1], &message, TV_BYTES("x"), -1));
    assert_int_equal(tv_engine_receive(sockets[0], &got, NULL, NULL, NULL), TV_GOT_END);
    assert_int_equal(send(sockets[1], "junk", 4, 0), 4);
    assert_int_equal(tv_engine_receive(sockets[0], &got, NULL, NULL, NULL), TV_GOT_END);
    assert_int_equal(tv_engine_receive(sockets[0], &got, NULL, NULL, NULL), TV_GOT_NOTHING);
    close(sockets[1]);
    assert_int_equal(tv_engine_receive(sockets[0], &got, NULL, NULL, NULL), TV_GOT_END);
    close(sockets[0]);
    close(pipes[0]);
}

/* A packet that is too short ends the connection, and the file in it is closed. */
static void files_of_bad_packets_are_closed(void **state)
{
    (void)state;
    int sockets[2], pipes[2], got_fd = -1;
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } room = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
    char junk[4] = "junk", more[8];
    size_t length = sizeof more;
    struct iovec part = {junk, sizeof junk};
    struct msghdr packet = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};
    struct tv_engine_message got;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
    assert_int_equal(pipe(pipes), 0);
    memcpy(CMSG_DATA(&room.header), &pipes[1], sizeof pipes[1]);
    assert_int_equal(sendmsg(sockets[0], &packet, 0), sizeof junk);
    close(pipes[1]);
    assert_int_equal(tv_engine_receive(sockets[1], &got, more, &length, &got_fd), TV_GOT_END);
    assert_int_equal(read(pipes[0], more, 1), 0); /* nobody has the other end any more */
    close(pipes[0]);
    close(sockets[0]);
    close(sockets[1]);
}

/* Data that comes with a packet and is no descriptor is not taken for one. */
static void credentials_are_no_files(void **state)
{
    (void)state;
    int sockets[2], on = 1, got_fd = 0;
    struct tv_engine_message message = {.kind = TV_ENGINE_QUESTION}, got;
    char more[8];
    size_t length = sizeof more;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
    assert_int_equal(setsockopt(sockets[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof on), 0);
    assert_true(tv_engine_send(sockets[0], &message, TV_BYTES("hello"), -1));
    assert_int_equal(tv_engine_receive(sockets[1], &got, more, &length, &got_fd), TV_GOT_MESSAGE);
    assert_int_equal(got_fd, -1);
    close(sockets[0]);
    close(sockets[1]);
}

UNIT_TESTS(messages, cmocka_unit_test(credentials_are_no_files),
           cmocka_unit_test(questions_come_back), cmocka_unit_test(long_questions_are_refused),
           cmocka_unit_test(lengths_are_not_believed),
           cmocka_unit_test(files_come_where_they_are_wanted),
           cmocka_unit_test(files_of_bad_packets_are_closed));
