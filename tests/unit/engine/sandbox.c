/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox.c - what a confined process tries in vain. Each attempt is a process of its own. */
#define _GNU_SOURCE
#include "engine/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

static char folder[64];
static int listener;

static unsigned enter(void)
{
    struct tv_error err = {0};
    unsigned parts = 0;
    struct tv_sandbox_options options = {
        .memory_bytes = UINT64_C(1) << 30,
        .file_bytes = 1 << 20,
        .cpu_seconds = 100,
        .scratch = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC),
    };
    if (tv_sandbox_enter(&options, &parts, &err) != TV_OK)
        _exit(90);
    return parts;
}

/* Run the attempt in a confined child process, and return its wait status. The attempt's result is
 * the exit code. */
static int status_of(int (*attempt)(void))
{
    int status = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        enter();
        _exit(attempt());
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* Return the layers that this kernel and this build have. */
static unsigned parts(void)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0)
        _exit((int)enter());
    waitpid(pid, &status, 0);
    return (unsigned)WEXITSTATUS(status);
}

static void assert_done(int (*attempt)(void))
{
    int status = status_of(attempt);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("status %x", status);
}

static void assert_killed(int (*attempt)(void))
{
    int status = status_of(attempt);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
        fail_msg("status %x", status);
}

static int open_passwd(void)
{
    return open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES ? 0 : 1;
}

static int open_above(void)
{
    char path[100];
    snprintf(path, sizeof path, "%s/../traceview-not-there", folder);
    return open(path, O_CREAT | O_WRONLY, 0600) < 0 && errno == EACCES ? 0 : 1;
}

static int use_scratch(void)
{
    char path[100], text[] = "text";
    snprintf(path, sizeof path, "%s/file-XXXXXX", folder);
    int fd = mkstemp(path);
    if (fd < 0 || unlink(path) != 0)
        return 1;
    return write(fd, text, 4) == 4 && pread(fd, text, 4, 0) == 4 ? 0 : 2;
}

static int write_much(void)
{
    char path[100];
    snprintf(path, sizeof path, "%s/file-XXXXXX", folder);
    int fd = mkstemp(path);
    unlink(path);
    return pwrite(fd, "x", 1, 2 << 20) < 0 && errno == EFBIG ? 0 : 1;
}

static void *add_one(void *number)
{
    ++*(int *)number;
    return NULL;
}

/* Do what reading a trace and answering need. */
static int work(void)
{
    int number = 0;
    pthread_t thread;
    char *memory = malloc(50 << 20);
    if (!memory || pthread_create(&thread, NULL, add_one, &number) != 0)
        return 1;
    memset(memory, 1, 50 << 20);
    pthread_join(thread, NULL);
    free(memory);
    return number == 1 ? 0 : 2;
}

static int try_socket(void)
{
    return socket(AF_INET, SOCK_STREAM, 0) < 0 ? 1 : 2;
}

static int try_unix_socket(void)
{
    int two[2];
    return socketpair(AF_UNIX, SOCK_STREAM, 0, two) < 0 ? 1 : 2;
}

static int try_exec(void)
{
    char name[] = "/bin/true", *arguments[] = {name, NULL}, *none[] = {NULL};
    return execve(name, arguments, none);
}

static int try_fork(void)
{
    return fork() < 0 ? 1 : 2;
}

static int try_kill(void)
{
    return kill(getppid(), 0) < 0 ? 1 : 2;
}

static int try_ptrace(void)
{
    return ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) < 0 ? 1 : 2;
}

static int try_limit(void)
{
    struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    return setrlimit(RLIMIT_CPU, &none) < 0 ? 1 : 2;
}

static int try_code(void)
{
    void *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page == MAP_FAILED ? 1 : 2;
}

static int eat(void)
{
    size_t size = (size_t)3 << 30;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED && errno == ENOMEM ? 0 : 1;
}

static int abort_itself(void)
{
    abort();
}

static void forbidden_calls_end_the_child(void **state)
{
    (void)state;
    if (!(parts() & TV_SANDBOX_SECCOMP))
        UNIT_SKIP("there is no seccomp here");
    assert_killed(try_socket);
    assert_killed(try_unix_socket);
    assert_killed(try_exec);
    assert_killed(try_fork);
    assert_killed(try_kill);
    assert_killed(try_ptrace);
    assert_killed(try_limit);
    assert_killed(try_code);
}

static void files_are_out_of_reach(void **state)
{
    (void)state;
    if (!(parts() & (TV_SANDBOX_LANDLOCK | TV_SANDBOX_SECCOMP)))
        UNIT_SKIP("there is neither Landlock nor seccomp here");
    assert_done(open_passwd);
    assert_done(open_above);
}

static void needed_calls_work(void **state)
{
    (void)state;
    assert_done(work);
    int status = status_of(abort_itself);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    if (parts() & TV_SANDBOX_LANDLOCK) {
        assert_done(use_scratch);
        assert_done(write_much);
    }
}

static int look_at_passwd(void)
{
    struct stat info;
    struct statx more;
    if (stat("/etc/passwd", &info) == 0 || errno != EACCES)
        return 1;
    if (fstatat(AT_FDCWD, "/etc/passwd", &info, AT_EMPTY_PATH) == 0 || errno != EACCES)
        return 2;
    if (fstatat(0, "/etc/passwd", &info, AT_EMPTY_PATH) == 0)
        return 3;
    return statx(AT_FDCWD, "/etc/passwd", AT_EMPTY_PATH, STATX_SIZE, &more) == 0 ? 4 : 0;
}

static int look_at_open_file(void)
{
    struct stat info = {.st_mode = 0}, again = {.st_mode = 0};
    int ends[2] = {0, 1};
    if (fstat(ends[1], &info) != 0 || info.st_mode == 0)
        return 1;
    if (fstatat(ends[1], "", &again, AT_EMPTY_PATH) != 0 || again.st_ino != info.st_ino)
        return 2;
    return fstat(1000, &info) < 0 && errno == EBADF ? 0 : 3;
}

static void other_files_cannot_be_looked_at(void **state)
{
    (void)state;
    assert_done(look_at_open_file);
    if (!(parts() & TV_SANDBOX_SECCOMP))
        UNIT_SKIP("there is no seccomp here");
#if defined(__x86_64__) || defined(__aarch64__)
    assert_done(look_at_passwd);
#else
    (void)look_at_passwd;
#endif
}

/* ---- Commands ---- */

static int refuses_all(void)
{
    char name[] = "/bin/true", *arguments[] = {name, NULL}, *none[] = {NULL};
    int two[2], failed = 0;
    failed |= open("/etc/passwd", O_RDONLY) >= 0 ? 1 : 0;
    failed |= open("/tmp", O_TMPFILE | O_WRONLY, 0600) >= 0 ? 2 : 0;
    failed |= socketpair(AF_UNIX, SOCK_STREAM, 0, two) == 0 ? 4 : 0;
    failed |= execve(name, arguments, none) == 0 ? 8 : 0;
    failed |= kill(getppid(), 0) == 0 ? 16 : 0;
    failed |= try_code() == 2 ? 32 : 0;
    failed |= unlink(folder) == 0 || errno != EACCES ? 64 : 0;
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    return failed | (pid > 0 ? 128 : 0);
}

static int serve_a_client(void)
{
    char got = 0;
    struct sockaddr_in address = {.sin_family = AF_INET};
    int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    return send(client, "x", 1, 0) == 1 && recv(client, &got, 1, 0) == 1 && got == 'y' &&
                   connect(client, (struct sockaddr *)&address, sizeof address) != 0
               ? 0
               : 1;
}

/* Return the status like status_of, in the sandbox of a command. */
static int code_of_command(unsigned uses, int (*attempt)(void))
{
    int status = 0;
    unsigned available = tv_sandbox_available();
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(tv_sandbox_confine(uses) == available ? attempt() : 250);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void commands_are_refused_and_go_on(void **state)
{
    (void)state;
    if (!(tv_sandbox_available() & TV_SANDBOX_SECCOMP))
        UNIT_SKIP("there is no seccomp here");
    assert_int_equal(code_of_command(0, refuses_all), 0);
    assert_int_equal(code_of_command(0, look_at_passwd), 0);
    assert_int_equal(code_of_command(0, look_at_open_file), 0);
    assert_int_equal(code_of_command(0, work), 0);
}

/* The viewer's sandbox accepts clients on a socket that already listens, and nothing more. */
static void viewers_answer_clients(void **state)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    (void)state;
    if (!(tv_sandbox_available() & TV_SANDBOX_SECCOMP))
        UNIT_SKIP("there is no seccomp here");
    listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    int client = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(send(client, "y", 1, 0), 1);
    assert_int_equal(code_of_command(TV_SANDBOX_SERVES, serve_a_client), 0);
    assert_int_equal(code_of_command(TV_SANDBOX_SERVES, refuses_all), 0);
    close(client);
    close(listener);
}

/* Make a copy, which is confined too, and limits its memory. */
static int fork_and_limit(void)
{
    int status = 0;
    char name[] = "/bin/true", *arguments[] = {name, NULL}, *none[] = {NULL};
    pid_t pid = fork();
    if (pid == 0) {
        bool starts = execve(name, arguments, none) == 0 || kill(getppid(), 0) == 0;
        tv_sandbox_limit_memory((uint64_t)64 << 20);
        void *memory = malloc((size_t)256 << 20);
        _exit(starts ? 1 : memory ? 2 : 3);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return 9;
    return WEXITSTATUS(status);
}

static void copies_are_confined(void **state)
{
    (void)state;
    if (!(tv_sandbox_available() & TV_SANDBOX_SECCOMP))
        UNIT_SKIP("there is no seccomp here");
    assert_int_equal(code_of_command(TV_SANDBOX_FORKS, fork_and_limit), 3);
    assert_int_equal(code_of_command(TV_SANDBOX_SERVES, fork_and_limit), 9);
}

static void memory_has_a_limit(void **state)
{
    (void)state;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
    assert_done(eat);
#else
    (void)eat; /* builds with sanitizers have no memory limit */
#endif
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/traceview-sandbox-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

/* The rights of each version, from the kernel's documentation (landlock.rst, "Compatibility"): 13
 * to files; 2 adds refer, 3 truncate, 4 TCP, 5 ioctl on devices, 6 abstract sockets and signals. */
static void every_right_is_taken_away(void **state)
{
    (void)state;
    static const struct {
        long version;
        struct tv_landlock_ruleset rights;
        size_t size;
    } cases[] = {{1, {0x1fff, 0, 0}, 8},  {2, {0x3fff, 0, 0}, 8},  {3, {0x7fff, 0, 0}, 8},
                 {4, {0x7fff, 3, 0}, 16}, {5, {0xffff, 3, 0}, 16}, {6, {0xffff, 3, 3}, 24},
                 {9, {0xffff, 3, 3}, 24}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tv_landlock_ruleset got = tv_landlock_all_rights(cases[i].version);
        assert_memory_equal(&got, &cases[i].rights, sizeof got);
        assert_int_equal(tv_landlock_ruleset_size(cases[i].version), cases[i].size);
    }
}

/* A process whose limits are lower already keeps the lower ones. */
static int keep_low_limit(void)
{
    struct rlimit low = {50, 50}, now;
    if (setrlimit(RLIMIT_NOFILE, &low) != 0)
        return 1;
    enter();
    return getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_max == 50 ? 0 : 2;
}

static void lower_limits_stay(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0)
        _exit(keep_low_limit());
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
}

UNIT_TESTS(
    sandbox, cmocka_unit_test(every_right_is_taken_away),
    cmocka_unit_test_setup_teardown(lower_limits_stay, make_folder, remove_folder),
    cmocka_unit_test_setup_teardown(forbidden_calls_end_the_child, make_folder, remove_folder),
    cmocka_unit_test_setup_teardown(files_are_out_of_reach, make_folder, remove_folder),
    cmocka_unit_test_setup_teardown(needed_calls_work, make_folder, remove_folder),
    cmocka_unit_test_setup_teardown(other_files_cannot_be_looked_at, make_folder, remove_folder),
    cmocka_unit_test_setup_teardown(commands_are_refused_and_go_on, make_folder, remove_folder),
    cmocka_unit_test_setup_teardown(viewers_answer_clients, make_folder, remove_folder),
    cmocka_unit_test(copies_are_confined),
    cmocka_unit_test_setup_teardown(memory_has_a_limit, make_folder, remove_folder));
