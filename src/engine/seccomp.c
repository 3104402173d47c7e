/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seccomp.c - the calls of the system that reading a trace and answering need.  Any other ends the
 * process.
 */
#define _GNU_SOURCE /* CLONE_THREAD, AT_EMPTY_PATH */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/types.h"
#include "engine/sandbox.h"

/* Whatever their arguments are. */
static const int allowed[] = {
    /* files that are open */
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
    /* what came from the server: the conversation, and the pipes of answers */
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
    /* time, chance, and how large the machine is */
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

/* Those that name files. */
static const int by_name[] = {SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(unlink),
                              SCMP_SYS(unlinkat)};

struct rule {
    int call;
    struct scmp_arg_cmp condition;
};

/* With the arguments that are harmless alone. */
static bool add_conditions(scmp_filter_ctx filter)
{
    const struct rule rules[] = {
        {SCMP_SYS(mmap), SCMP_A2_64(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)},
        {SCMP_SYS(mmap2), SCMP_A2_64(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)},
        {SCMP_SYS(mprotect), SCMP_A2_64(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)},
        {SCMP_SYS(clone), SCMP_A0_64(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD)},
        {SCMP_SYS(newfstatat), SCMP_A3_64(SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, AT_EMPTY_PATH)},
        {SCMP_SYS(statx), SCMP_A2_64(SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, AT_EMPTY_PATH)},
        {SCMP_SYS(fcntl), SCMP_A1_64(SCMP_CMP_EQ, F_GETFD, 0)},
        {SCMP_SYS(fcntl), SCMP_A1_64(SCMP_CMP_EQ, F_SETFD, 0)},
        {SCMP_SYS(fcntl), SCMP_A1_64(SCMP_CMP_EQ, F_GETFL, 0)},
        {SCMP_SYS(fcntl64), SCMP_A1_64(SCMP_CMP_EQ, F_GETFD, 0)},
        {SCMP_SYS(fcntl64), SCMP_A1_64(SCMP_CMP_EQ, F_SETFD, 0)},
        {SCMP_SYS(fcntl64), SCMP_A1_64(SCMP_CMP_EQ, F_GETFL, 0)},
        /* of a thread that stands back: its own priority */
        {SCMP_SYS(setpriority), SCMP_A1_64(SCMP_CMP_EQ, 0, 0)},
        /* abort() */
        {SCMP_SYS(tgkill), SCMP_A0_64(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0)},
        /* asking for a limit; setting one has a third argument */
        {SCMP_SYS(prlimit64), SCMP_A2_64(SCMP_CMP_EQ, 0, 0)},
    };
    bool good = true;
    for (size_t i = 0; i < TV_COUNT(rules); i++)
        good &= seccomp_rule_add(filter, SCMP_ACT_ALLOW, rules[i].call, 1, rules[i].condition) == 0;
    return good;
}

/* What has another way when it is refused: clone3 hides its flags where no filter sees them, and
 * the C library takes clone then; ioctl asks whether standard error is a terminal. */
static bool add_refusals(scmp_filter_ctx filter, bool files)
{
    bool good = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0 &&
                seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOTTY), SCMP_SYS(ioctl), 0) == 0;
    uint32_t action = files ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EACCES);
    for (size_t i = 0; i < TV_COUNT(by_name); i++)
        good &= seccomp_rule_add(filter, action, by_name[i], 0) == 0;
    return good;
}

bool tv_sandbox_filter_calls(bool files)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
    if (!filter)
        return false;
    bool good = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0;
    for (size_t i = 0; i < TV_COUNT(allowed); i++)
        good &= seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0) == 0;
    good =
        good && add_conditions(filter) && add_refusals(filter, files) && seccomp_load(filter) == 0;
    seccomp_release(filter);
    return good;
}
