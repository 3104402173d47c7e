/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.c - tests of base/file.h, with files of their own in a temporary folder.
 */
#include "unit.h"

#include "base/bytes.h"
#include "base/file.h"
#include "base/workers.h"
#include "child.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_SIZE 1000003

static char folder[] = "/tmp/traceview-unit-XXXXXX";
static char path[64];

static uint8_t byte_at(uint64_t offset)
{
    return (uint8_t)(offset * 31 + (offset >> 11));
}

static void fill(uint8_t *buffer, uint64_t offset, size_t size)
{
    for (size_t i = 0; i < size; i++)
        buffer[i] = byte_at(offset + i);
}

static bool is_filled(const uint8_t *buffer, uint64_t offset, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (buffer[i] != byte_at(offset + i))
            return false;
    }
    return true;
}

static void write_file(size_t size)
{
    uint8_t *bytes = test_malloc(size + 1);
    fill(bytes, 0, size);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    test_free(bytes);
}

static struct tv_source *must_open(const char *name)
{
    struct tv_source *source = NULL;
    struct tv_error err = {0};
    assert_int_equal(tv_source_open_file(name, &source, &err), TV_OK);
    assert_int_equal(err.status, TV_OK);
    return source;
}

static void assert_is_filled(struct tv_source *source, uint64_t from, uint64_t size)
{
    uint8_t *buffer = test_malloc(70001);
    size_t got;
    assert_int_equal(tv_source_size(source), size);
    for (uint64_t offset = 0; offset < size; offset += got) {
        assert_int_equal(tv_source_read(source, offset, buffer, 70001, &got, NULL), TV_OK);
        assert_int_equal(got, size - offset < 70001 ? size - offset : 70001);
        assert_true(is_filled(buffer, from + offset, got));
    }
    assert_int_equal(tv_source_read(source, size, buffer, 1, &got, NULL), TV_OK);
    assert_int_equal(got, 0);
    test_free(buffer);
}

static int make_folder(void **state)
{
    (void)state;
    memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/trace", folder);
    return 0;
}

/* Fails when a test leaves anything but its file: temporary files must have no names. */
static int remove_folder(void **state)
{
    (void)state;
    unsetenv("TMPDIR");
    unlink(path);
    return rmdir(folder);
}

static void reads_in_place(void **state)
{
    (void)state;
    write_file(FILE_SIZE);
    struct tv_source *source = must_open(path);
    assert_string_equal(tv_source_name(source), path);
    assert_is_filled(source, 0, FILE_SIZE);
    uint8_t buffer[100];
    size_t got;
    for (uint64_t offset = FILE_SIZE + 50; offset > 0; offset -= 79 < offset ? 79 : offset) {
        assert_int_equal(tv_source_read(source, offset, buffer, 100, &got, NULL), TV_OK);
        assert_true(is_filled(buffer, offset, got));
    }
    tv_source_free(source);
}

static void says_what_cannot_be_opened(void **state)
{
    (void)state;
    struct tv_source *source;
    struct tv_error err = {0};
    assert_int_equal(tv_source_open_file(path, &source, &err), TV_ERR_IO);
    assert_string_equal(err.message, "cannot open: No such file or directory");
    assert_true(err.offset == TV_NO_OFFSET);
    assert_int_equal(tv_source_open_file(folder, &source, &err), TV_ERR_IO);
    assert_string_equal(err.message, "cannot open: Is a directory");
    assert_int_equal(tv_source_open_file("", &source, NULL), TV_ERR_IO);
}

static void an_empty_file_is_an_empty_source(void **state)
{
    (void)state;
    write_file(0);
    struct tv_source *source = must_open(path);
    assert_is_filled(source, 0, 0);
    tv_source_free(source);
    source = must_open("/dev/null");
    assert_is_filled(source, 0, 0);
    tv_source_free(source);
}

/* The kernel says that such a file is empty; it is not. */
static void files_without_a_size_are_read(void **state)
{
    (void)state;
    if (access("/proc/self/stat", R_OK) != 0)
        return; /* not on Linux */
    struct tv_source *source = must_open("/proc/self/stat");
    assert_true(tv_source_size(source) > 10);
    tv_source_free(source);
}

static void assert_changed(struct tv_source *source, const char *message)
{
    uint8_t buffer[10];
    size_t got;
    struct tv_error err = {0};
    assert_int_equal(tv_source_read(source, 0, buffer, 10, &got, &err), TV_ERR_IO);
    assert_string_equal(err.message, message);
    tv_source_free(source);
}

static void a_changed_file_is_an_error(void **state)
{
    (void)state;
    static const struct timespec then[2] = {{1000000000, 1}, {1000000000, 1}};
    static const struct timespec later[2] = {{1000000000, 2}, {1000000000, 2}};

    write_file(1000);
    struct tv_source *source = must_open(path);
    assert_int_equal(truncate(path, 999), 0);
    assert_changed(source,
                   "the file changed since it was opened: it had 1000 bytes, now it has 999");

    write_file(1000);
    source = must_open(path);
    assert_int_equal(truncate(path, 1001), 0);
    assert_changed(source,
                   "the file changed since it was opened: it had 1000 bytes, now it has 1001");

    write_file(1000);
    assert_int_equal(utimensat(AT_FDCWD, path, then, 0), 0);
    source = must_open(path);
    assert_int_equal(utimensat(AT_FDCWD, path, later, 0), 0);
    assert_changed(source, "the file was written to since it was opened");

    /* The name is not the file: what was opened stays. */
    write_file(1000);
    source = must_open(path);
    assert_int_equal(unlink(path), 0);
    assert_is_filled(source, 0, 1000);
    tv_source_free(source);
}

struct reads {
    struct tv_source *source;
    unsigned wrong[8];
};

static void read_all_over(void *context, unsigned index)
{
    struct reads *reads = context;
    uint8_t buffer[3000];
    uint32_t random = index;
    for (int i = 0; i < 300; i++) {
        random = random * 1664525 + 1013904223;
        uint64_t offset = random % FILE_SIZE;
        size_t got = 0;
        if (tv_source_read(reads->source, offset, buffer, sizeof buffer, &got, NULL) != TV_OK ||
            got == 0 || !is_filled(buffer, offset, got))
            reads->wrong[index]++;
    }
}

static void many_threads_read_at_once(void **state)
{
    (void)state;
    write_file(FILE_SIZE);
    struct reads reads = {.source = must_open(path)};
    tv_workers_run(8, read_all_over, &reads);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(reads.wrong[i], 0);
    tv_source_free(reads.source);
}

/* Standard input. */

static struct tv_source *open_as_input(int fd)
{
    int saved = dup(STDIN_FILENO);
    assert_true(dup2(fd, STDIN_FILENO) == STDIN_FILENO);
    close(fd);
    struct tv_source *source = must_open("-");
    assert_string_equal(tv_source_name(source), "standard input");
    if (saved < 0) {
        close(STDIN_FILENO);
        return source;
    }
    dup2(saved, STDIN_FILENO);
    close(saved);
    return source;
}

static void a_pipe_is_read_to_its_end(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t writer = fork();
    assert_true(writer >= 0);
    if (writer == 0) {
        uint8_t chunk[7777];
        close(ends[0]);
        for (size_t at = 0; at < FILE_SIZE; at += sizeof chunk) {
            size_t size = FILE_SIZE - at < sizeof chunk ? FILE_SIZE - at : sizeof chunk;
            fill(chunk, at, size);
            if (write(ends[1], chunk, size) != (ssize_t)size)
                _Exit(1);
        }
        _Exit(0);
    }
    close(ends[1]);
    struct tv_source *source = open_as_input(ends[0]);
    assert_is_filled(source, 0, FILE_SIZE);
    tv_source_free(source);
    waitpid(writer, NULL, 0);
}

static void a_file_as_input_is_read_from_where_it_stands(void **state)
{
    (void)state;
    write_file(5000);
    struct tv_source *source = open_as_input(open(path, O_RDONLY));
    assert_is_filled(source, 0, 5000);
    tv_source_free(source);

    int fd = open(path, O_RDONLY);
    assert_int_equal(lseek(fd, 1234, SEEK_SET), 1234);
    source = open_as_input(fd);
    assert_is_filled(source, 1234, 5000 - 1234);
    tv_source_free(source);
}

/* The spool. */

static void add_filled(struct tv_spool *spool, uint64_t offset, size_t size)
{
    uint8_t *chunk = test_malloc(size + 1);
    fill(chunk, offset, size);
    assert_int_equal(tv_spool_add(spool, (struct tv_bytes){chunk, size}, NULL), TV_OK);
    test_free(chunk);
}

static void a_small_spool_stays_in_memory(void **state)
{
    (void)state;
    setenv("TMPDIR", "/nowhere", 1);
    struct tv_spool *spool = tv_spool_new("small");
    assert_int_equal(tv_spool_add(spool, (struct tv_bytes){NULL, 0}, NULL), TV_OK);
    uint64_t size = 0;
    for (size_t part = 0; part < 1000; size += part, part += 7)
        add_filled(spool, size, part);
    struct tv_source *source = tv_spool_finish(spool);
    assert_string_equal(tv_source_name(source), "small");
    assert_is_filled(source, 0, size);
    tv_source_free(source);

    source = tv_spool_finish(tv_spool_new("empty"));
    assert_is_filled(source, 0, 0);
    tv_source_free(source);
    tv_spool_free(tv_spool_new("dropped"));
    tv_spool_free(NULL);
}

static void a_large_spool_moves_to_a_file_without_a_name(void **state)
{
    (void)state;
    setenv("TMPDIR", folder, 1);
    struct tv_spool *spool = tv_spool_new("large");
    uint64_t size = 0;
    while (size <= TV_SPOOL_MEMORY + 3000000) {
        size_t part = 999983;
        add_filled(spool, size, part);
        size += part;
    }
    struct tv_source *source = tv_spool_finish(spool);
    /* Nothing with a name is in the folder. */
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_is_filled(source, 0, size);
    tv_source_free(source);
}

static void a_spool_in_a_file_can_be_dropped(void **state)
{
    (void)state;
    setenv("TMPDIR", "/nowhere", 1); /* then /tmp will do */
    struct tv_spool *spool = tv_spool_new("large");
    add_filled(spool, 0, TV_SPOOL_MEMORY);
    add_filled(spool, TV_SPOOL_MEMORY, 1);
    tv_spool_free(spool);
}

/* Where no file may grow: exit code 2 when adding within the cap fails, 3 when adding beyond it
 * does not, 4 for another error than the one expected. */
static void fill_beyond_the_cap_without_disk(void)
{
    struct rlimit none = {0, 0};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &none);
    struct tv_spool *spool = tv_spool_new("full");
    uint8_t *chunk = calloc(TV_SPOOL_MEMORY, 1);
    struct tv_error err = {0};
    if (chunk == NULL ||
        tv_spool_add(spool, (struct tv_bytes){chunk, TV_SPOOL_MEMORY}, &err) != TV_OK)
        _Exit(2);
    if (tv_spool_add(spool, (struct tv_bytes){chunk, 1}, &err) != TV_ERR_IO)
        _Exit(3);
    if (strcmp(err.message,
               "cannot write to the temporary file (TMPDIR says where): File too large") != 0)
        _Exit(4);
    free(chunk);
    tv_spool_free(spool);
}

static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    char text[CHILD_TEXT];
    assert_int_equal(child_run(fill_beyond_the_cap_without_disk, text), 0);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

UNIT_TESTS(file, IN_FOLDER(reads_in_place), IN_FOLDER(says_what_cannot_be_opened),
           IN_FOLDER(an_empty_file_is_an_empty_source),
           cmocka_unit_test(files_without_a_size_are_read), IN_FOLDER(a_changed_file_is_an_error),
           IN_FOLDER(many_threads_read_at_once), cmocka_unit_test(a_pipe_is_read_to_its_end),
           IN_FOLDER(a_file_as_input_is_read_from_where_it_stands),
           IN_FOLDER(a_small_spool_stays_in_memory),
           IN_FOLDER(a_large_spool_moves_to_a_file_without_a_name),
           IN_FOLDER(a_spool_in_a_file_can_be_dropped), cmocka_unit_test(a_full_disk_is_an_error));
