/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk.c - a small disk that fills up: a tmpfs of a few megabytes that only a child of the test
 * sees.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "place.h"

/* Exit code of the child. */
enum { RIGHT = 0, WRONG = 1, NOT_ALLOWED = 77 };

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "# disk.c:%d: %s\n", __LINE__, #condition);                            \
            _exit(WRONG);                                                                          \
        }                                                                                          \
    } while (0)

#define MEGABYTE ((size_t)1024 * 1024)

static bool write_line(const char *path, const char *line)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && write(fd, line, strlen(line)) == (ssize_t)strlen(line);
    if (fd >= 0)
        close(fd);
    return done;
}

/* Mount a tmpfs, as root or in a user namespace. */
static bool mount_disk(const char *folder, const char *options)
{
    char map[64];
    uid_t uid = getuid();
    if (syscall(SYS_unshare, CLONE_NEWNS) != 0) {
        if (syscall(SYS_unshare, CLONE_NEWNS | CLONE_NEWUSER) != 0)
            return false;
        snprintf(map, sizeof map, "0 %u 1", (unsigned)uid);
        if (!write_line("/proc/self/uid_map", map))
            return false;
    }
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", folder, "tmpfs", 0, options) == 0;
}

/* Upload traces of a megabyte until the disk is full. Return how much of the last one is held. */
static uint64_t fill(struct tv_store *store, size_t *traces, struct tv_store_id *last)
{
    struct tv_store_new_upload upload = {.name = TV_BYTES("x"), .bytes = TV_STORE_SIZE_UNKNOWN};
    struct tv_store_id trace;
    uint64_t held;
    for (*traces = 0; *traces < 100; ++*traces) {
        CHECK(tv_store_upload_begin(store, &upload, last, NULL) == TV_STORE_OK);
        enum tv_store_status status = put_piece(store, last->text, 5, 0, MEGABYTE, &held);
        if (status == TV_STORE_FULL)
            return held;
        CHECK(status == TV_STORE_OK && held == MEGABYTE);
        CHECK(tv_store_upload_finish(store, last->text, &trace, NULL) == TV_STORE_OK);
    }
    return 0;
}

static void check_trace(struct tv_store *store, const char *id)
{
    int fd;
    uint64_t bytes;
    CHECK(tv_store_file_open(store, id, &fd, &bytes, NULL) == TV_STORE_OK);
    CHECK(holds_seed(fd, 5, MEGABYTE));
    close(fd);
}

/* Check that the list has this many complete traces. Return the identifier of one. */
static struct tv_store_id check_list(struct tv_store *store, size_t count)
{
    struct tv_arena arena;
    struct tv_store_page page;
    struct tv_store_query query = {0};
    tv_arena_init(&arena);
    CHECK(tv_store_search(store, &query, &arena, &page, NULL) == TV_STORE_OK);
    CHECK(page.total == count);
    for (size_t i = 0; i < page.count; i++)
        check_trace(store, page.traces[i].id.text);
    struct tv_store_id id = page.traces[0].id;
    tv_arena_release(&arena);
    return id;
}

static void fill_up(const char *folder)
{
    struct tv_store_options options = {0};
    struct tv_store *store;
    struct tv_store_upload upload;
    struct tv_store_id last, trace;
    struct tv_store_new_upload large = {.name = TV_BYTES("x"), .bytes = 50 * MEGABYTE};
    size_t traces;
    CHECK(tv_store_open(folder, &options, &store, NULL) == TV_OK);
    /* refused at once, because the size is known */
    CHECK(tv_store_upload_begin(store, &large, &last, NULL) == TV_STORE_FULL);
    uint64_t held = fill(store, &traces, &last);
    CHECK(traces >= 3 && traces < 8 && held < MEGABYTE);
    CHECK(tv_store_upload_get(store, last.text, &upload, NULL) == TV_STORE_OK);
    CHECK(upload.held == held);
    check_list(store, traces);
    /* another process finds the same */
    tv_store_close(store);
    CHECK(tv_store_open(folder, &options, &store, NULL) == TV_OK);
    CHECK(tv_store_upload_get(store, last.text, &upload, NULL) == TV_STORE_OK);
    CHECK(upload.held == held);
    trace = check_list(store, traces);
    /* with space it goes on */
    CHECK(tv_store_trace_delete(store, trace.text, NULL) == TV_STORE_OK);
    CHECK(put_piece(store, last.text, 5, held, (size_t)(MEGABYTE - held), &held) == TV_STORE_OK);
    CHECK(held == MEGABYTE);
    CHECK(tv_store_upload_finish(store, last.text, &trace, NULL) == TV_STORE_OK);
    check_list(store, traces);
    tv_store_close(store);
}

/* Somebody else uses up the reserve: only reading works, and nothing is lost. */
static void fill_completely(const char *folder)
{
    static const char zeros[65536];
    struct tv_store_options options = {.reserve_bytes = 1};
    struct tv_store *store;
    struct tv_store_id last;
    char name[128];
    size_t traces;
    uint64_t held;
    CHECK(tv_store_open(folder, &options, &store, NULL) == TV_OK);
    fill(store, &traces, &last);
    snprintf(name, sizeof name, "%s/other", folder);
    int fd = open(name, O_WRONLY | O_CREAT, 0600);
    while (write(fd, zeros, sizeof zeros) > 0)
        continue;
    for (int i = 0; i < 100; i++) {
        struct tv_store_new_upload upload = {.name = TV_BYTES("x")};
        struct tv_store_id uid;
        enum tv_store_status status = tv_store_upload_begin(store, &upload, &uid, NULL);
        CHECK(status == TV_STORE_OK || status == TV_STORE_FULL);
    }
    CHECK(put_piece(store, last.text, 5, 0, 1, &held) == TV_STORE_WRONG_OFFSET);
    CHECK(put_piece(store, last.text, 5, held, 70000, &held) == TV_STORE_FULL);
    struct tv_store_id id = check_list(store, traces);
    /* somebody else takes all space that becomes free, to the last byte */
    while (write(fd, zeros, sizeof zeros) > 0)
        continue;
    while (write(fd, zeros, 1) > 0)
        continue;
    CHECK(tv_store_trace_delete(store, id.text, NULL) == TV_STORE_OK);
    id = check_list(store, traces - 1);
    while (write(fd, zeros, sizeof zeros) > 0)
        continue;
    CHECK(tv_store_upload_cancel(store, last.text, NULL) == TV_STORE_OK);
    CHECK(ftruncate(fd, 0) == 0);
    check_list(store, traces - 1);
    last = begin_upload(store, "x", MEGABYTE);
    CHECK(put_piece(store, last.text, 5, 0, MEGABYTE, &held) == TV_STORE_OK);
    tv_store_close(store);
    CHECK(unlink(name) == 0);
    CHECK(tv_store_open(folder, &options, &store, NULL) == TV_OK);
    check_list(store, traces - 1);
    tv_store_close(store);
    close(fd);
}

static void on_a_disk_of_its_own(void (*play)(const char *folder), const char *options)
{
    char folder[] = "/tmp/traceview-disk-XXXXXX";
    int how;
    assert_non_null(mkdtemp(folder));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (!mount_disk(folder, options))
            _exit(NOT_ALLOWED);
        play(folder);
        _exit(RIGHT);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    rmdir(folder);
    assert_true(WIFEXITED(how));
    if (WEXITSTATUS(how) == NOT_ALLOWED)
        print_message("# skipped: a tmpfs cannot be mounted here\n");
    else
        assert_int_equal(WEXITSTATUS(how), RIGHT);
}

static void fills_up(void **state)
{
    (void)state;
    on_a_disk_of_its_own(fill_up, "size=8m");
}

static void fills_completely(void **state)
{
    (void)state;
    on_a_disk_of_its_own(fill_completely, "size=6m");
}

UNIT_TESTS(disk, cmocka_unit_test(fills_up), cmocka_unit_test(fills_completely));
