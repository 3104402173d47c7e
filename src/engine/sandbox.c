/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.c - resource limits and Landlock, and how the layers of the sandbox work together.
 *
 * Two kinds of process are confined:
 *
 *                      child of the upload server        command or viewer of the user
 *     function         tv_sandbox_enter                  tv_sandbox_confine
 *     limits           memory, CPU, files, processes     none: it is the user's machine
 *     Landlock         one scratch directory             no directory at all
 *     seccomp          short list, else the process      longer list, else ENOSYS
 *                      is killed
 *     files come       as open descriptors, before       from the broker (cli/broker.c), a process
 *     from             the sandbox is entered            outside that opens files on request
 *
 * The layers cover for each other. Landlock decides which paths may be opened, which seccomp
 * cannot: a filter sees pointers, not the strings that they point to. Seccomp removes the attack
 * surface of the kernel, which Landlock leaves open. Limits bound what an attacker may consume,
 * which neither of the two does.
 *
 * The order matters: set limits, give up privileges (no_new_privs, which both layers require),
 * Landlock, then seccomp, after which no further layer can be installed. A missing layer is not an
 * error, but the server logs it at its start. Without Landlock, seccomp refuses to open any file by
 * name; then packed traces that need temporary files cannot be read.
 *
 * In a build with sanitizers or coverage, tv_sandbox_confine does nothing, because their run-time
 * libraries open files when the process exits. With coverage, tv_sandbox_enter only sets limits, so
 * that the tests also count what runs in children of the upload server.
 */
#define _GNU_SOURCE /* O_PATH */
#include "engine/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/types.h"

/* Does this build write the counts of its branches when the process exits? */
#ifdef TV_COVERAGE
#define COUNTS_AT_END true
#else
#define COUNTS_AT_END false
#endif

/* Does the run-time library of this build open files when the process exits? */
#define WRITES_AT_END (COUNTS_AT_END || TV_IS_SANITIZED)

/* Enough for the spools of an archive's members and the pipes of answers. */
#define OPEN_FILES 1024

/* Counts all processes and threads of the user, including the server's threads. Bounds a fork bomb
 * where seccomp is missing. */
#define PROCESSES 4096

/* Lower a resource limit to `value`, unless it is lower already; `for_good` lowers the hard limit
 * too. */
static int sandbox_lower_limit(int resource, uint64_t value, bool for_good)
{
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit) != 0)
        return -1;
    if (limit.rlim_max == RLIM_INFINITY || value < limit.rlim_max)
        limit.rlim_cur = (rlim_t)value;
    else
        limit.rlim_cur = limit.rlim_max;
    if (for_good)
        limit.rlim_max = limit.rlim_cur;
    return setrlimit((__rlimit_resource_t)resource, &limit);
}

/* Make the kernel's out-of-memory killer choose this process before the server. */
static void sandbox_prefer_oom_kill(void)
{
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return;
    ssize_t written = write(file, "1000", 4);
    (void)written; /* if this fails, the score is that of the server */
    close(file);
}

static enum tv_status sandbox_set_limits(const struct tv_sandbox_options *options,
                                         struct tv_error *err)
{
    int failed = sandbox_lower_limit(RLIMIT_CORE, 0, true) |
                 sandbox_lower_limit(RLIMIT_FSIZE, options->file_bytes, true) |
                 sandbox_lower_limit(RLIMIT_NOFILE, OPEN_FILES, true) |
                 sandbox_lower_limit(RLIMIT_NPROC, PROCESSES, true) |
                 sandbox_lower_limit(RLIMIT_CPU, options->cpu_seconds, false);
    if (!TV_IS_SANITIZED)
        failed |= sandbox_lower_limit(RLIMIT_DATA, options->memory_bytes, true);
    if (failed != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot set the limits: %s", strerror(errno));
    sandbox_prefer_oom_kill();
    /* A file that grows beyond its limit makes write() fail with EFBIG, instead of a signal. */
    signal(SIGXFSZ, SIG_IGN);
    return TV_OK;
}

/*
 * Landlock, with the numbers of the kernel's interface (linux/landlock.h), because the headers may
 * be older than the kernel: https://docs.kernel.org/userspace-api/landlock.html
 */
#define LANDLOCK_TRUNCATE (UINT64_C(1) << 14)

struct tv_landlock_ruleset tv_landlock_all_rights(long version)
{
    struct tv_landlock_ruleset all = {(UINT64_C(1) << 13) - 1, 0, 0};
    if (version >= 2)
        all.files |= UINT64_C(1) << 13; /* rename and link across directories */
    if (version >= 3)
        all.files |= LANDLOCK_TRUNCATE;
    if (version >= 4)
        all.network = 3; /* bind and connect of TCP */
    if (version >= 5)
        all.files |= UINT64_C(1) << 15; /* ioctl on devices */
    if (version >= 6)
        all.scopes = 3; /* abstract UNIX sockets, and signals to processes outside */
    return all;
}

size_t tv_landlock_ruleset_size(long version)
{
    return version >= 6 ? 24 : version >= 4 ? 16 : 8;
}

#ifdef SYS_landlock_create_ruleset

struct landlock_path_rule {
    uint64_t allowed;
    int32_t folder;
} __attribute__((packed));

#define VERSION_FLAG 1u
#define RULE_BENEATH 1

#define WRITE_FILE (UINT64_C(1) << 1)
#define READ_FILE (UINT64_C(1) << 2)
#define REMOVE_FILE (UINT64_C(1) << 5)
#define MAKE_REG (UINT64_C(1) << 8)

static long landlock_version(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0, VERSION_FLAG);
}

/* Allow nothing but plain files in the directory for temporary files; -1: nothing at all. False:
 * the kernel has no Landlock. */
static bool landlock_restrict_files(int scratch)
{
    long version = landlock_version();
    if (version < 1)
        return false;
    struct tv_landlock_ruleset all = tv_landlock_all_rights(version);
    int rules =
        (int)syscall(SYS_landlock_create_ruleset, &all, tv_landlock_ruleset_size(version), 0);
    if (rules < 0)
        return false;
    struct landlock_path_rule own = {
        (WRITE_FILE | READ_FILE | REMOVE_FILE | MAKE_REG | LANDLOCK_TRUNCATE) & all.files, scratch};
    bool held =
        (scratch < 0 || syscall(SYS_landlock_add_rule, rules, RULE_BENEATH, &own, 0) == 0) &&
        syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    close(rules);
    return held;
}

#else

static long landlock_version(void)
{
    return -1;
}

static bool landlock_restrict_files(int scratch)
{
    (void)scratch;
    return false;
}

#endif

unsigned tv_sandbox_available(void)
{
    unsigned parts = 0;
    if (WRITES_AT_END)
        return 0;
    if (landlock_version() >= 1)
        parts |= TV_SANDBOX_LANDLOCK;
    if (tv_sandbox_has_filter() && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0)
        parts |= TV_SANDBOX_SECCOMP;
    return parts;
}

void tv_sandbox_limit_memory(uint64_t bytes)
{
    if (!TV_IS_SANITIZED)
        (void)sandbox_lower_limit(RLIMIT_DATA, bytes, true);
}

unsigned tv_sandbox_confine(unsigned uses)
{
    unsigned parts = 0;
    if (WRITES_AT_END || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return 0;
    if (landlock_restrict_files(-1))
        parts |= TV_SANDBOX_LANDLOCK;
    if (tv_sandbox_filter_command(uses))
        parts |= TV_SANDBOX_SECCOMP;
    return parts;
}

enum tv_status tv_sandbox_enter(const struct tv_sandbox_options *options, unsigned *parts,
                                struct tv_error *err)
{
    *parts = 0;
    enum tv_status status = sandbox_set_limits(options, err);
    if (status != TV_OK)
        return status;
    *parts |= TV_SANDBOX_LIMITS;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot give up privileges: %s",
                       strerror(errno));
    if (!COUNTS_AT_END && landlock_restrict_files(options->scratch))
        *parts |= TV_SANDBOX_LANDLOCK;
    if (options->scratch >= 0)
        close(options->scratch);
    if (!COUNTS_AT_END && tv_sandbox_filter_calls(*parts & TV_SANDBOX_LANDLOCK))
        *parts |= TV_SANDBOX_SECCOMP;
    return TV_OK;
}
