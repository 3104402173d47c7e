/* SPDX-License-Identifier: Apache-2.0 */
/* A hostile command asks the broker: which files it gets, and which it does not. */
#include "cli/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/confine.h"
#include "cli/options.h"
#include "unit.h"

struct place {
    char folder[64], file[100], output[100];
    struct tv_settings settings;
    int socket;
    pid_t broker;
};

static void write_file(const char *path)
{
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "older", 5), 5);
    close(fd);
}

static int start_broker(void **state, bool split)
{
    struct place *p = calloc(1, sizeof *p);
    int ends[2];
    snprintf(p->folder, sizeof p->folder, "/tmp/traceview-broker-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    snprintf(p->file, sizeof p->file, "%s/a.json", p->folder);
    snprintf(p->output, sizeof p->output, "%s/out", p->folder);
    write_file(p->file);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    p->broker = fork();
    if (p->broker == 0) {
        static const char *files[1];
        files[0] = p->file;
        setenv("XDG_STATE_HOME", p->folder, 1);
        tv_settings_init(&p->settings);
        p->settings.files.items = files;
        p->settings.files.count = 1;
        p->settings.output = p->output;
        p->settings.split_threads = split;
        close(ends[0]);
        struct tv_confine_options options = {.settings = &p->settings};
        tv_broker_main(ends[1], &options);
    }
    close(ends[1]);
    p->socket = ends[0];
    *state = p;
    return 0;
}

static int make_one(void **state)
{
    return start_broker(state, false);
}

static int make_split(void **state)
{
    return start_broker(state, true);
}

static int end_broker(void **state)
{
    struct place *p = *state;
    int status;
    close(p->socket);
    assert_int_equal(waitpid(p->broker, &status, 0), p->broker);
    assert_true(WIFEXITED(status));
    unlink(p->file);
    unlink(p->output);
    int removed = rmdir(p->folder); /* nothing else is in it */
    free(p);
    return removed;
}

/* The descriptor of the reply, or -1. */
static int ask_broker(const struct place *p, enum tv_broker_word word, const char *path,
                      struct tv_broker_reply *reply)
{
    struct tv_broker_request request = {.word = word};
    int descriptor;
    snprintf(request.path, sizeof request.path, "%s", path);
    assert_true(tv_broker_send(p->socket, &request, sizeof request, -1));
    assert_true(tv_broker_receive(p->socket, reply, sizeof *reply, &descriptor));
    assert_int_equal(reply->has_file, descriptor >= 0);
    return descriptor;
}

static void assert_refused(const struct place *p, enum tv_broker_word word, const char *path)
{
    struct tv_broker_reply reply;
    assert_int_equal(ask_broker(p, word, path, &reply), -1);
    if (word == TV_BROKER_OPEN || word == TV_BROKER_STAT)
        assert_int_equal(reply.number, EACCES);
}

static void opens_what_the_command_line_names(void **state)
{
    struct place *p = *state;
    struct tv_broker_reply reply;
    char text[8] = "", path[120];
    int fd = ask_broker(p, TV_BROKER_OPEN, p->file, &reply);
    assert_int_equal(read(fd, text, 5), 5);
    assert_string_equal(text, "older");
    assert_int_equal(write(fd, "x", 1), -1);
    close(fd);
    ask_broker(p, TV_BROKER_STAT, p->file, &reply);
    assert_int_equal(reply.number, 0);
    assert_int_equal(reply.info.st_size, 5);
    /* Names that a FILE may stand for, which are not there. */
    snprintf(path, sizeof path, "%s.trace", p->file);
    ask_broker(p, TV_BROKER_OPEN, path, &reply);
    assert_int_equal(reply.number, ENOENT);
    fd = ask_broker(p, TV_BROKER_TEMPORARY, "", &reply);
    assert_int_equal(write(fd, "x", 1), 1);
    close(fd);
}

static void refuses_everything_else(void **state)
{
    struct place *p = *state;
    char path[200];
    snprintf(path, sizeof path, "%s/../%s", p->folder, p->file);
    const char *const paths[] = {"/etc/passwd", "", ".", p->folder, path, p->output};
    for (size_t i = 0; i < TV_COUNT(paths); i++) {
        assert_refused(p, TV_BROKER_OPEN, paths[i]);
        assert_refused(p, TV_BROKER_STAT, paths[i]);
    }
    snprintf(path, sizeof path, "%s.txt", p->output);
    assert_refused(p, TV_BROKER_OUTPUT_OPEN, path);
    assert_refused(p, TV_BROKER_OUTPUT_OPEN, p->file);
    assert_refused(p, TV_BROKER_CACHE_OPEN, "a key that it has not made");
    assert_refused(p, TV_BROKER_CACHE_BEGIN, "a key that it has not made");
    assert_refused(p, TV_BROKER_PAGER_START, "");
    assert_refused(p, (enum tv_broker_word)1000, "");
}

static void lives_through_nonsense(void **state)
{
    struct place *p = *state;
    struct tv_broker_request request;
    struct tv_broker_reply reply;
    int descriptor;
    for (uint32_t word = 0; word <= TV_BROKER_OUTPUT_DISCARD + 4; word++) {
        if (word == TV_BROKER_TEMPORARY)
            continue;
        memset(&request, 0xff, sizeof request);
        request.word = word;
        request.whole = false;
        assert_true(tv_broker_send(p->socket, &request, sizeof request, -1));
        assert_true(tv_broker_receive(p->socket, &reply, sizeof reply, &descriptor));
        assert_int_equal(descriptor, -1);
    }
}

static void gives_the_output_its_name_at_the_end(void **state)
{
    struct place *p = *state;
    struct tv_broker_reply reply;
    int fd = ask_broker(p, TV_BROKER_OUTPUT_OPEN, p->output, &reply);
    assert_true(fd >= 0);
    assert_int_equal(access(p->output, F_OK), -1);
    assert_int_equal(write(fd, "new", 3), 3);
    close(fd);
    ask_broker(p, TV_BROKER_OUTPUT_COMMIT, "", &reply);
    assert_true(reply.done);
    assert_int_equal(access(p->output, F_OK), 0);
}

static void drops_the_output_of_a_command_that_ends(void **state)
{
    struct place *p = *state;
    struct tv_broker_reply reply;
    int fd = ask_broker(p, TV_BROKER_OUTPUT_OPEN, p->output, &reply);
    assert_true(fd >= 0);
    close(fd);
    shutdown(p->socket, SHUT_RDWR);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)p->broker, &info, WNOWAIT | WEXITED), 0);
    assert_int_equal(access(p->output, F_OK), -1);
}

static void names_of_threads_stay_in_the_folder(void **state)
{
    struct place *p = *state;
    static const char *const wrong[] = {"",      "/../../etc/x", ".1-/etc/x", ".1-a b",
                                        "x.1-a", ".1-\n",        ".1-../x"};
    struct tv_broker_reply reply;
    char path[200];
    for (size_t i = 0; i < TV_COUNT(wrong); i++) {
        snprintf(path, sizeof path, "%s%s", p->output, wrong[i]);
        assert_refused(p, TV_BROKER_OUTPUT_OPEN, path);
    }
    snprintf(path, sizeof path, "%s.1-main.collapsed", p->output);
    int fd = ask_broker(p, TV_BROKER_OUTPUT_OPEN, path, &reply);
    assert_true(fd >= 0);
    close(fd);
    ask_broker(p, TV_BROKER_OUTPUT_COMMIT, "", &reply);
    assert_int_equal(unlink(path), 0);
}

static void remembers_files_of_the_command_line_only(void **state)
{
    struct place *p = *state;
    struct tv_broker_reply reply;
    char folder[100], path[120], text[200] = "", expected[200];
    snprintf(folder, sizeof folder, "%s/traceview", p->folder);
    snprintf(path, sizeof path, "%s/recent", folder);
    ask_broker(p, TV_BROKER_REMEMBER, "/etc/passwd", &reply);
    assert_int_equal(access(path, F_OK), -1);
    ask_broker(p, TV_BROKER_REMEMBER, p->file, &reply);
    ask_broker(p, TV_BROKER_REMEMBER, p->file, &reply); /* it stands there once */
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0 && read(fd, text, sizeof text - 1) > 0);
    close(fd);
    snprintf(expected, sizeof expected, "%s\n", p->file);
    assert_string_equal(text, expected);
    unlink(path);
    rmdir(folder);
}

#define TEST_IN(name, how) cmocka_unit_test_setup_teardown(name, how, end_broker)

UNIT_TESTS(broker, TEST_IN(opens_what_the_command_line_names, make_one),
           TEST_IN(refuses_everything_else, make_one), TEST_IN(lives_through_nonsense, make_one),
           TEST_IN(gives_the_output_its_name_at_the_end, make_one),
           TEST_IN(drops_the_output_of_a_command_that_ends, make_one),
           TEST_IN(names_of_threads_stay_in_the_folder, make_split),
           TEST_IN(remembers_files_of_the_command_line_only, make_one));
