/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seccomp.c - the system calls that a confined process may use (a seccomp filter).
 *
 * A child may use what reading a trace and answering needs, and is killed by any other call. A
 * command may use a few more; other calls fail with ENOSYS and the command goes on. Without
 * libseccomp this file is a stub.
 *
 *     allowed           reading and writing open descriptors, memory, threads, time
 *     with conditions   mmap and mprotect without execution, clone of threads only, fcntl ...
 *     refused           calls for which the C library has another way (clone3, ioctl)
 *     paths             refused, or allowed where Landlock limits them
 *     everything else   the end of the process
 *
 * An attacker inside the process could still compute and read what it has open.  It cannot run
 * another program, open a connection, make memory executable or signal another process, nor open
 * files other than those that its paths allow.
 *
 * A filter sees numbers, not what pointers lead to.  Calls that take flags in memory or a path are
 * therefore refused as a whole, or raise SIGSYS and are done by a handler in another way.
 */
#define _GNU_SOURCE /* CLONE_THREAD, AT_EMPTY_PATH */
#include "engine/sandbox.h"

#ifdef TV_HAS_SECCOMP

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/types.h"

/* Allowed with any arguments. */
static const int seccomp_allowed[] = {
    /* open files */
    SCMP_SYS(read),
    SCMP_SYS(write),
    SCMP_SYS(pread64),
    SCMP_SYS(pwrite64),
    SCMP_SYS(readv),
    SCMP_SYS(writev),
    SCMP_SYS(lseek),
    SCMP_SYS(_llseek),
    SCMP_SYS(close),
    SCMP_SYS(fstat),
    SCMP_SYS(fstat64),
    SCMP_SYS(fstatfs),
    SCMP_SYS(fstatfs64),
    SCMP_SYS(ftruncate),
    SCMP_SYS(ftruncate64),
    SCMP_SYS(fsync),
    SCMP_SYS(fdatasync),
    /* messages from the server, and pipes for answers */
    SCMP_SYS(recvmsg),
    SCMP_SYS(sendmsg),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(ppoll_time64),
    /* memory */
    SCMP_SYS(brk),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(membarrier),
    /* threads */
    SCMP_SYS(futex),
    SCMP_SYS(futex_time64),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(gettid),
    SCMP_SYS(getpid),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigreturn),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(restart_syscall),
    /* time, random numbers, and the size of the machine */
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_gettime64),
    SCMP_SYS(clock_getres),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(clock_nanosleep_time64),
    SCMP_SYS(nanosleep),
    SCMP_SYS(getrandom),
    SCMP_SYS(sysinfo),
};

/* Commands may also use a file as memory (--max-memory), read ahead, wait for the broker to end,
 * and ask for the user's limits. */
static const int seccomp_command_calls[] = {
    SCMP_SYS(fallocate), SCMP_SYS(fadvise64), SCMP_SYS(mincore),    SCMP_SYS(wait4),
    SCMP_SYS(getrusage), SCMP_SYS(getrlimit), SCMP_SYS(ugetrlimit), SCMP_SYS(dup),
};

/* The viewer also serves clients, and has threads that wait for each other and for signals. */
static const int seccomp_viewer_calls[] = {
    SCMP_SYS(accept4),         SCMP_SYS(recvfrom),
    SCMP_SYS(sendto),          SCMP_SYS(shutdown),
    SCMP_SYS(getsockopt),      SCMP_SYS(getsockname),
    SCMP_SYS(pipe2),           SCMP_SYS(eventfd2),
    SCMP_SYS(rt_sigtimedwait), SCMP_SYS(rt_sigtimedwait_time64),
};

/* Calls that open or remove a file by name. */
static const int seccomp_path_calls[] = {SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(unlink),
                                         SCMP_SYS(unlinkat)};

struct seccomp_rule {
    int call;
    struct scmp_arg_cmp condition;
};

static bool seccomp_add_rules(scmp_filter_ctx filter, const struct seccomp_rule *rules,
                              size_t count)
{
    bool good = true;
    for (size_t i = 0; i < count; i++)
        good &= seccomp_rule_add(filter, SCMP_ACT_ALLOW, rules[i].call, 1, rules[i].condition) == 0;
    return good;
}

/*
 * The C library implements fstat as newfstatat with an empty path and AT_EMPTY_PATH. A filter
 * cannot see whether the path is empty, and with another path the call reveals metadata of any
 * file. So newfstatat raises SIGSYS, and the handler does the same with fstat, which takes no path.
 */
#if defined(__x86_64__) || defined(__aarch64__)

#if defined(__x86_64__)
#define ARGUMENT(registers, number) ((registers)->gregs[call_registers[number]])
#define RESULT(registers) ((registers)->gregs[REG_RAX])
static const int call_registers[] = {REG_RDI, REG_RSI, REG_RDX, REG_R10};
#else
#define ARGUMENT(registers, number) ((registers)->regs[number])
#define RESULT(registers) ((registers)->regs[0])
#endif

/* Answer newfstatat for an open descriptor, which the C library uses for fstat (a signal handler).
 * A path is refused. */
static void seccomp_emulate_fstat(int number, siginfo_t *info, void *context)
{
    mcontext_t *registers = &((ucontext_t *)context)->uc_mcontext;
    const char *path = (const char *)(uintptr_t)ARGUMENT(registers, 1);
    int before = errno;
    long result = -EACCES;
    (void)number;
    if (info->si_syscall == SYS_newfstatat && (ARGUMENT(registers, 3) & AT_EMPTY_PATH) &&
        (!path || *path == '\0'))
        result = syscall(SYS_fstat, (int)ARGUMENT(registers, 0), ARGUMENT(registers, 2)) == 0
                     ? 0
                     : -errno;
    errno = before;
    RESULT(registers) = (__typeof__(RESULT(registers)))result;
}

static bool seccomp_add_stat_calls(scmp_filter_ctx filter)
{
    struct sigaction action = {.sa_sigaction = seccomp_emulate_fstat,
                               .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
    return sigaction(SIGSYS, &action, NULL) == 0 &&
           seccomp_rule_add(filter, SCMP_ACT_TRAP, SCMP_SYS(newfstatat), 0) == 0 &&
           seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(statx), 0) == 0;
}

#else

/* On other processors the size and times of any file are visible unless Landlock helps. */
static bool seccomp_add_stat_calls(scmp_filter_ctx filter)
{
    const struct seccomp_rule rules[] = {
        {SCMP_SYS(newfstatat), SCMP_A3_64(SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, AT_EMPTY_PATH)},
        {SCMP_SYS(statx), SCMP_A2_64(SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, AT_EMPTY_PATH)},
    };
    return seccomp_add_rules(filter, rules, TV_COUNT(rules));
}

#endif

/* Add the calls that are harmless with certain arguments only. */
static bool seccomp_add_conditional(scmp_filter_ctx filter)
{
    const struct seccomp_rule rules[] = {
        {SCMP_SYS(mmap), SCMP_A2_64(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)},
        {SCMP_SYS(mmap2), SCMP_A2_64(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)},
        {SCMP_SYS(mprotect), SCMP_A2_64(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)},
        {SCMP_SYS(clone), SCMP_A0_64(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD)},
        {SCMP_SYS(fcntl), SCMP_A1_64(SCMP_CMP_EQ, F_GETFD, 0)},
        {SCMP_SYS(fcntl), SCMP_A1_64(SCMP_CMP_EQ, F_SETFD, 0)},
        {SCMP_SYS(fcntl), SCMP_A1_64(SCMP_CMP_EQ, F_GETFL, 0)},
        {SCMP_SYS(fcntl64), SCMP_A1_64(SCMP_CMP_EQ, F_GETFD, 0)},
        {SCMP_SYS(fcntl64), SCMP_A1_64(SCMP_CMP_EQ, F_SETFD, 0)},
        {SCMP_SYS(fcntl64), SCMP_A1_64(SCMP_CMP_EQ, F_GETFL, 0)},
        /* the priority of the calling thread */
        {SCMP_SYS(setpriority), SCMP_A1_64(SCMP_CMP_EQ, 0, 0)},
        /* abort() */
        {SCMP_SYS(tgkill), SCMP_A0_64(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0)},
        /* reading a limit; setting one has a third argument */
        {SCMP_SYS(prlimit64), SCMP_A2_64(SCMP_CMP_EQ, 0, 0)},
    };
    return seccomp_add_rules(filter, rules, TV_COUNT(rules)) && seccomp_add_stat_calls(filter);
}

/* Add the calls that take paths, with one action for all. */
static bool seccomp_add_path_calls(scmp_filter_ctx filter, uint32_t action)
{
    bool good = true;
    for (size_t i = 0; i < TV_COUNT(seccomp_path_calls); i++)
        good &= seccomp_rule_add(filter, action, seccomp_path_calls[i], 0) == 0;
    return good;
}

/* Refuse calls for which there is a fallback: clone3 passes its flags in memory, where no filter
 * sees them, and the C library then uses clone; ioctl asks whether standard error is a terminal. */
static bool seccomp_add_refused(scmp_filter_ctx filter, bool files)
{
    bool good = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0 &&
                seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOTTY), SCMP_SYS(ioctl), 0) == 0;
    return good && seccomp_add_path_calls(filter, files ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EACCES));
}

/* Allow calls with any arguments. */
static bool seccomp_add_allowed(scmp_filter_ctx filter, const int *calls, size_t count)
{
    bool good = true;
    for (size_t i = 0; i < count; i++)
        good &= seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0) == 0;
    return good;
}

/* Make a filter with the rules that all filters share; all other calls get the action `otherwise`.
 * NULL: out of memory, or the kernel lacks seccomp. */
static scmp_filter_ctx seccomp_make_filter(uint32_t otherwise)
{
    scmp_filter_ctx filter = seccomp_init(otherwise);
    if (!filter)
        return NULL;
    if (seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0 &&
        seccomp_add_allowed(filter, seccomp_allowed, TV_COUNT(seccomp_allowed)) &&
        seccomp_add_conditional(filter))
        return filter;
    seccomp_release(filter);
    return NULL;
}

bool tv_sandbox_filter_calls(bool files)
{
    scmp_filter_ctx filter = seccomp_make_filter(SCMP_ACT_KILL_PROCESS);
    bool good = filter && seccomp_add_refused(filter, files) && seccomp_load(filter) == 0;
    if (filter)
        seccomp_release(filter);
    return good;
}

static bool seccomp_add_viewer_calls(scmp_filter_ctx filter)
{
    const struct seccomp_rule rules[] = {
        {SCMP_SYS(fcntl), SCMP_A1_64(SCMP_CMP_EQ, F_SETFL, 0)},
        {SCMP_SYS(fcntl64), SCMP_A1_64(SCMP_CMP_EQ, F_SETFL, 0)},
        {SCMP_SYS(setsockopt), SCMP_A1_64(SCMP_CMP_EQ, IPPROTO_TCP, 0)},
    };
    return seccomp_add_allowed(filter, seccomp_viewer_calls, TV_COUNT(seccomp_viewer_calls)) &&
           seccomp_add_rules(filter, rules, TV_COUNT(rules));
}

/* Allow fork() as the C library calls it, for clone with other flags would also make namespaces,
 * and that a process limits its own memory. */
static bool seccomp_add_fork(scmp_filter_ctx filter)
{
    const uint64_t flags = CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD;
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                            SCMP_A0_64(SCMP_CMP_EQ, flags, 0)) == 0 &&
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 2,
                            SCMP_A0_64(SCMP_CMP_EQ, 0, 0),
                            SCMP_A1_64(SCMP_CMP_EQ, RLIMIT_DATA, 0)) == 0;
}

bool tv_sandbox_filter_command(unsigned uses)
{
    const struct seccomp_rule rules[] = {
        {SCMP_SYS(ioctl), SCMP_A1_64(SCMP_CMP_EQ, TCGETS, 0)},
        {SCMP_SYS(ioctl), SCMP_A1_64(SCMP_CMP_EQ, TIOCGWINSZ, 0)},
        {SCMP_SYS(fcntl), SCMP_A1_64(SCMP_CMP_EQ, F_DUPFD_CLOEXEC, 0)},
        {SCMP_SYS(fcntl64), SCMP_A1_64(SCMP_CMP_EQ, F_DUPFD_CLOEXEC, 0)},
    };
    scmp_filter_ctx filter = seccomp_make_filter(SCMP_ACT_ERRNO(ENOSYS));
    bool good =
        filter &&
        seccomp_add_allowed(filter, seccomp_command_calls, TV_COUNT(seccomp_command_calls)) &&
        seccomp_add_rules(filter, rules, TV_COUNT(rules)) &&
        (!(uses & TV_SANDBOX_SERVES) || seccomp_add_viewer_calls(filter)) &&
        (!(uses & TV_SANDBOX_FORKS) || seccomp_add_fork(filter)) &&
        seccomp_add_path_calls(filter, SCMP_ACT_ERRNO(EACCES)) && seccomp_load(filter) == 0;
    if (filter)
        seccomp_release(filter);
    return good;
}

bool tv_sandbox_has_filter(void)
{
    return true;
}

#else

bool tv_sandbox_filter_calls(bool files)
{
    (void)files;
    return false;
}

bool tv_sandbox_filter_command(unsigned uses)
{
    (void)uses;
    return false;
}

bool tv_sandbox_has_filter(void)
{
    return false;
}

#endif
