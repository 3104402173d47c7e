/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.c - a library for LD_PRELOAD that lets the n-th call of a class fail.
 *
 * The environment says which: TORTURE_CLASS (classes[] below), TORTURE_ERROR (errno of the failed
 * call; 0: the call is cut short instead, half of the bytes are read or written), TORTURE_LASTING=1
 * (every later call of the class fails too), TORTURE_COUNTER (a file of sizeof(struct counter)
 * bytes).  The file is mapped by every process with the library, so the n-th call is the n-th of
 * all processes; the driver (run) writes `at` there before the start and reads the rest afterwards.
 * With `at` 0 calls are only counted.
 *
 * A program that starts another without this environment (the server, its engines) hands it on all
 * the same: posix_spawn() below adds it.
 */
#undef _FILE_OFFSET_BITS /* both open() and open64() are defined here */
#undef _FORTIFY_SOURCE
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { ALLOC, MAP, READ, WRITE, SYNC, NAME, OPEN, STAT, SOCKET, THREAD, KINDS };

static const char *const classes[KINDS] = {"alloc", "map",  "read", "write",  "sync",
                                           "name",  "open", "stat", "socket", "thread"};

/* The layout of the file; `run` knows it. */
struct counter {
    _Atomic uint64_t calls; /* calls of the class so far */
    uint64_t at;            /* the call that fails, counted from 1; 0: none */
    _Atomic uint64_t fired; /* number of calls that failed */
};

static struct {
    struct counter *counter; /* NULL: no call fails */
    enum kind kind;
    int error;
    bool lasting;
} faults;

#define VARIABLES 5
static const char *const variables[VARIABLES] = {
    "LD_PRELOAD=", "TORTURE_CLASS=", "TORTURE_ERROR=", "TORTURE_LASTING=", "TORTURE_COUNTER="};

__attribute__((constructor)) static void read_environment(void)
{
    const char *kind = getenv("TORTURE_CLASS"), *path = getenv("TORTURE_COUNTER");
    const char *error = getenv("TORTURE_ERROR"), *lasting = getenv("TORTURE_LASTING");
    while (kind && faults.kind < KINDS && strcmp(kind, classes[faults.kind]) != 0)
        faults.kind++;
    int file = kind && path && faults.kind < KINDS ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    faults.error = error ? (int)strtol(error, NULL, 10) : EIO;
    faults.lasting = lasting && lasting[0] == '1';
    void *mapped = mmap(NULL, sizeof *faults.counter, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED)
        faults.counter = mapped;
}

/* The code of libseccomp. Without memory, version 2.5 silently loses rules of a filter and frees
 * twice, so its allocations do not fail here. */
static struct {
    uintptr_t start, end;
} spared;

static int find_spared(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    if (!strstr(info->dlpi_name, "/libseccomp.so"))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
            continue;
        spared.start = info->dlpi_addr + part->p_vaddr;
        spared.end = spared.start + part->p_memsz;
    }
    return 1;
}

static bool is_spared(const void *caller)
{
    return (uintptr_t)caller >= spared.start && (uintptr_t)caller < spared.end;
}

/* Before main(), the loader and the constructors of other libraries run. */
static int (*real_main)(int, char **, char **);
static bool has_begun;

static int begin_main(int count, char **arguments, char **environment)
{
    dl_iterate_phdr(find_spared, NULL);
    has_begun = true;
    return real_main(count, arguments, environment);
}

int __libc_start_main(int (*main)(int, char **, char **), int count, char **arguments,
                      void (*init)(void), void (*fini)(void), void (*end)(void), void *stack);

int __libc_start_main(int (*main)(int, char **, char **), int count, char **arguments,
                      void (*init)(void), void (*fini)(void), void (*end)(void), void *stack)
{
    int (*next)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void),
                void (*)(void), void *);
    *(void **)&next = dlsym(RTLD_NEXT, "__libc_start_main");
    real_main = main;
    return next(begin_main, count, arguments, init, fini, end, stack);
}

/* Count a call, and return true when it must fail. */
static bool is_hit(enum kind kind)
{
    struct counter *counter = faults.counter;
    if (!counter || kind != faults.kind || !has_begun)
        return false;
    uint64_t call = atomic_fetch_add(&counter->calls, 1) + 1;
    if (counter->at == 0 || call < counter->at || (call > counter->at && !faults.lasting))
        return false;
    atomic_fetch_add(&counter->fired, 1);
    return true;
}

/* Calls that cannot be cut short fail with this error instead. */
static int whole_error(void)
{
    return faults.error != 0 ? faults.error : EIO;
}

static bool fails(enum kind kind)
{
    if (!is_hit(kind))
        return false;
    errno = whole_error();
    return true;
}

/* Fail (true) or shorten a call that may read or write fewer bytes than requested. */
static bool fails_or_shortens(enum kind kind, size_t *size)
{
    if (!is_hit(kind))
        return false;
    if (faults.error == 0 && *size > 1)
        *size /= 2;
    errno = faults.error;
    return faults.error != 0;
}

/* Find the C library's own function. */
static void *real(const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    if (!symbol)
        abort();
    return symbol;
}

/* Define a wrapper that returns `bad`, or calls the real function. */
#define FAILING(kind, type, name, parameters, arguments, bad)                                      \
    type name parameters                                                                           \
    {                                                                                              \
        static type(*next) parameters;                                                             \
        if (fails(kind))                                                                           \
            return bad;                                                                            \
        if (!next)                                                                                 \
            *(void **)&next = real(#name);                                                         \
        return next arguments;                                                                     \
    }

/* Define a wrapper of a call whose parameter `size` may be shortened. */
#define SHORTENED(kind, type, name, parameters, arguments, bad)                                    \
    type name parameters                                                                           \
    {                                                                                              \
        static type(*next) parameters;                                                             \
        if (fails_or_shortens(kind, &size))                                                        \
            return bad;                                                                            \
        if (!next)                                                                                 \
            *(void **)&next = real(#name);                                                         \
        return next arguments;                                                                     \
    }

/* ---- Memory: dlsym() allocates, so these go to the C library by its other names ---- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

#define NO_MEMORY() (!is_spared(__builtin_return_address(0)) && fails(ALLOC))

void *malloc(size_t size)
{
    return NO_MEMORY() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return NO_MEMORY() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return NO_MEMORY() ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(ALLOC) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (fails(ALLOC))
        return ENOMEM;
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}

FAILING(MAP, void *, mmap, (void *at, size_t size, int how, int flags, int fd, off_t offset),
        (at, size, how, flags, fd, offset), MAP_FAILED)
FAILING(MAP, void *, mmap64, (void *at, size_t size, int how, int flags, int fd, off64_t offset),
        (at, size, how, flags, fd, offset), MAP_FAILED)

void *mremap(void *at, size_t old, size_t size, int flags, ...)
{
    static void *(*next)(void *, size_t, size_t, int, ...);
    if (fails(MAP))
        return MAP_FAILED;
    if (!next)
        *(void **)&next = real("mremap");
    return next(at, old, size, flags);
}

/* ---- Bytes ---- */

SHORTENED(READ, ssize_t, read, (int fd, void *to, size_t size), (fd, to, size), -1)
SHORTENED(READ, ssize_t, pread, (int fd, void *to, size_t size, off_t at), (fd, to, size, at), -1)
SHORTENED(READ, ssize_t, pread64, (int fd, void *to, size_t size, off64_t at), (fd, to, size, at),
          -1)

/* Writes to an event or a pipe between threads cannot fail like this, and libmicrohttpd aborts if
 * they do. */
static bool is_file(int fd)
{
    static int (*next)(int, struct stat *);
    struct stat info;
    int error = errno;
    if (!next)
        *(void **)&next = real("fstat");
    bool file = fd == STDOUT_FILENO || (next(fd, &info) == 0 && S_ISREG(info.st_mode));
    errno = error;
    return file;
}

ssize_t write(int fd, const void *from, size_t size)
{
    static ssize_t (*next)(int, const void *, size_t);
    if (faults.kind == WRITE && faults.counter && is_file(fd) && fails_or_shortens(WRITE, &size))
        return -1;
    if (!next)
        *(void **)&next = real("write");
    return next(fd, from, size);
}

SHORTENED(WRITE, ssize_t, pwrite, (int fd, const void *from, size_t size, off_t at),
          (fd, from, size, at), -1)
SHORTENED(WRITE, ssize_t, pwrite64, (int fd, const void *from, size_t size, off64_t at),
          (fd, from, size, at), -1)
FAILING(WRITE, ssize_t, writev, (int fd, const struct iovec *from, int count), (fd, from, count),
        -1)
FAILING(WRITE, int, ftruncate, (int fd, off_t size), (fd, size), -1)
FAILING(WRITE, int, ftruncate64, (int fd, off64_t size), (fd, size), -1)
FAILING(WRITE, int, posix_fallocate, (int fd, off_t at, off_t size), (fd, at, size), whole_error())
FAILING(WRITE, int, posix_fallocate64, (int fd, off64_t at, off64_t size), (fd, at, size),
        whole_error())

/* Streams call the kernel without a symbol, so the program's call fails instead. Standard streams
 * carry messages and never fail. */
#define STREAM_FAILED 0x20 /* glibc's _IO_ERR_SEEN */

static bool is_standard(const FILE *stream)
{
    return !stream || stream == stdin || stream == stdout || stream == stderr;
}

static bool stream_fails(enum kind kind, FILE *stream)
{
    if (is_standard(stream) || faults.error == 0 || !fails(kind))
        return false;
    stream->_flags |= STREAM_FAILED;
    return true;
}

#define STREAMED(kind, type, name, parameters, arguments, bad)                                     \
    type name parameters                                                                           \
    {                                                                                              \
        static type(*next) parameters;                                                             \
        if (stream_fails(kind, stream))                                                            \
            return bad;                                                                            \
        if (!next)                                                                                 \
            *(void **)&next = real(#name);                                                         \
        return next arguments;                                                                     \
    }

STREAMED(READ, size_t, fread, (void *to, size_t size, size_t count, FILE *stream),
         (to, size, count, stream), 0)
STREAMED(READ, char *, fgets, (char *to, int size, FILE *stream), (to, size, stream), NULL)
STREAMED(WRITE, size_t, fwrite, (const void *from, size_t size, size_t count, FILE *stream),
         (from, size, count, stream), 0)
STREAMED(WRITE, int, fflush, (FILE * stream), (stream), EOF)

int fclose(FILE *stream)
{
    static int (*next)(FILE *);
    if (!next)
        *(void **)&next = real("fclose");
    bool failed = stream_fails(WRITE, stream);
    int result = next(stream), error = errno;
    errno = failed ? faults.error : error;
    return failed ? EOF : result;
}

FAILING(SYNC, int, fsync, (int fd), (fd), -1)
FAILING(SYNC, int, fdatasync, (int fd), (fd), -1)
FAILING(SYNC, int, msync, (void *at, size_t size, int flags), (at, size, flags), -1)

/* ---- Names ---- */

FAILING(NAME, int, rename, (const char *from, const char *to), (from, to), -1)
FAILING(NAME, int, renameat, (int old, const char *from, int new, const char *to),
        (old, from, new, to), -1)
FAILING(NAME, int, linkat, (int old, const char *from, int new, const char *to, int flags),
        (old, from, new, to, flags), -1)
FAILING(NAME, int, mkdir, (const char *path, mode_t mode), (path, mode), -1)
FAILING(NAME, int, mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode), -1)
FAILING(NAME, int, fchmod, (int fd, mode_t mode), (fd, mode), -1)
FAILING(NAME, int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group), -1)

#define OPENED(name)                                                                               \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        static int (*next)(const char *, int, ...);                                                \
        va_list more;                                                                              \
        va_start(more, flags);                                                                     \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;                  \
        va_end(more);                                                                              \
        if (fails(OPEN))                                                                           \
            return -1;                                                                             \
        if (!next)                                                                                 \
            *(void **)&next = real(#name);                                                         \
        return next(path, flags, mode);                                                            \
    }
#define OPENED_AT(name)                                                                            \
    int name(int folder, const char *path, int flags, ...)                                         \
    {                                                                                              \
        static int (*next)(int, const char *, int, ...);                                           \
        va_list more;                                                                              \
        va_start(more, flags);                                                                     \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;                  \
        va_end(more);                                                                              \
        if (fails(OPEN))                                                                           \
            return -1;                                                                             \
        if (!next)                                                                                 \
            *(void **)&next = real(#name);                                                         \
        return next(folder, path, flags, mode);                                                    \
    }
#define CONTROLLED(name)                                                                           \
    int name(int fd, int command, ...)                                                             \
    {                                                                                              \
        static int (*next)(int, int, ...);                                                         \
        va_list more;                                                                              \
        va_start(more, command);                                                                   \
        void *argument = va_arg(more, void *);                                                     \
        va_end(more);                                                                              \
        if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && fails(OPEN))                     \
            return -1;                                                                             \
        if (!next)                                                                                 \
            *(void **)&next = real(#name);                                                         \
        return next(fd, command, argument);                                                        \
    }
OPENED(open)
OPENED(open64)
OPENED_AT(openat)
OPENED_AT(openat64)
CONTROLLED(fcntl)
CONTROLLED(fcntl64)

FAILING(OPEN, FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL)
FAILING(OPEN, FILE *, fopen64, (const char *path, const char *mode), (path, mode), NULL)
FAILING(OPEN, FILE *, fdopen, (int fd, const char *mode), (fd, mode), NULL)
FAILING(OPEN, DIR *, opendir, (const char *path), (path), NULL)
FAILING(OPEN, DIR *, fdopendir, (int fd), (fd), NULL)
FAILING(OPEN, int, dup, (int fd), (fd), -1)
FAILING(OPEN, int, pipe, (int fds[2]), (fds), -1)
FAILING(OPEN, int, pipe2, (int fds[2], int flags), (fds, flags), -1)
FAILING(OPEN, int, eventfd, (unsigned int value, int flags), (value, flags), -1)
FAILING(OPEN, int, epoll_create1, (int flags), (flags), -1)

FAILING(STAT, int, fstat, (int fd, struct stat *info), (fd, info), -1)
FAILING(STAT, int, fstat64, (int fd, struct stat64 *info), (fd, info), -1)
FAILING(STAT, int, stat, (const char *path, struct stat *info), (path, info), -1)
FAILING(STAT, int, stat64, (const char *path, struct stat64 *info), (path, info), -1)
FAILING(STAT, int, fstatat, (int folder, const char *path, struct stat *info, int flags),
        (folder, path, info, flags), -1)
FAILING(STAT, int, fstatat64, (int folder, const char *path, struct stat64 *info, int flags),
        (folder, path, info, flags), -1)

/* ---- The network ---- */

FAILING(SOCKET, int, socket, (int domain, int type, int protocol), (domain, type, protocol), -1)
FAILING(SOCKET, int, socketpair, (int domain, int type, int protocol, int fds[2]),
        (domain, type, protocol, fds), -1)
FAILING(SOCKET, int, bind, (int fd, __CONST_SOCKADDR_ARG address, socklen_t size),
        (fd, address, size), -1)
FAILING(SOCKET, int, listen, (int fd, int backlog), (fd, backlog), -1)
FAILING(SOCKET, int, accept4, (int fd, __SOCKADDR_ARG address, socklen_t *size, int flags),
        (fd, address, size, flags), -1)
FAILING(SOCKET, int, connect, (int fd, __CONST_SOCKADDR_ARG address, socklen_t size),
        (fd, address, size), -1)
FAILING(SOCKET, int, setsockopt, (int fd, int level, int name, const void *value, socklen_t size),
        (fd, level, name, value, size), -1)
FAILING(SOCKET, int, getsockname, (int fd, __SOCKADDR_ARG address, socklen_t *size),
        (fd, address, size), -1)
FAILING(SOCKET, int, epoll_ctl, (int fd, int what, int other, struct epoll_event *event),
        (fd, what, other, event), -1)
SHORTENED(SOCKET, ssize_t, recv, (int fd, void *to, size_t size, int flags), (fd, to, size, flags),
          -1)
SHORTENED(SOCKET, ssize_t, send, (int fd, const void *from, size_t size, int flags),
          (fd, from, size, flags), -1)
FAILING(SOCKET, ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags),
        -1)
FAILING(SOCKET, ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags),
        (fd, message, flags), -1)

/* ---- Threads and processes ---- */

FAILING(THREAD, int, pthread_create,
        (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *),
         void *context),
        (thread, attributes, start, context), faults.error)
FAILING(THREAD, pid_t, fork, (void), (), -1)

#define MAX_VARIABLES 64

/* Copy the environment of a child and add the variables of this library. */
static void add_variables(char *const *environment, char **all)
{
    size_t count = 0;
    while (environment[count] && count < MAX_VARIABLES - VARIABLES - 1) {
        all[count] = environment[count];
        count++;
    }
    for (size_t i = 0; i < VARIABLES; i++)
        for (char **ours = environ; *ours; ours++)
            if (strncmp(*ours, variables[i], strlen(variables[i])) == 0)
                all[count++] = *ours;
    all[count] = NULL;
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const *arguments,
                char *const *environment)
{
    static int (*next)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                       const posix_spawnattr_t *, char *const *, char *const *);
    char *all[MAX_VARIABLES];
    if (fails(THREAD))
        return faults.error;
    if (!next)
        *(void **)&next = real("posix_spawn");
    if (environment == environ)
        return next(pid, path, actions, attributes, arguments, environment);
    add_variables(environment, all);
    return next(pid, path, actions, attributes, arguments, all);
}
