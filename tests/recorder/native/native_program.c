/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_program.c - calls that can be counted by hand, and every way to end.
 *
 *     native_program WORD [ARGUMENT]
 *
 *     fib(n) is called 2 F(n+1) - 1 times: fib(10) 177, fib(15) 1973, fib(5) 15
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "recorder/native/traceview_record.h"

#define OFF __attribute__((no_instrument_function))
#define CALL __attribute__((noinline))

int fib(int n);
int overflow(int n);
void jump_from(int n);
void jump_over(void);
void after_jump(void);
void jump_to(void);
void *thread_main(void *unused);
void leave_thread(int n);
void *thread_busy(void *unused);
void busy(void);
void settle(void);
void leave_by_jump(int number);
void on_alarm(int number);

static jmp_buf here;
static sigjmp_buf signalled;

CALL int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

CALL void jump_from(int n)
{
    if (n > 5)
        return;
    if (n > 0)
        jump_from(n - 1);
    else
        longjmp(here, 1);
    __asm__ volatile("");
}

/* Its frame is the larger one, so that after_jump shows that it is gone. */
CALL void jump_over(void)
{
    volatile char room[64];
    room[0] = 0;
    jump_from(5);
    room[1] = room[0];
}

CALL void after_jump(void)
{
    __asm__ volatile("");
}

CALL void jump_to(void)
{
    if (!setjmp(here))
        jump_over();
    after_jump();
}

CALL void busy(void)
{
    __asm__ volatile("");
}

CALL void settle(void)
{
    __asm__ volatile("");
}

CALL void *thread_main(void *unused)
{
    (void)unused;
    fib(15);
    return NULL;
}

CALL void leave_thread(int n)
{
    if (n == 0)
        pthread_exit(NULL);
    if (n > 0)
        leave_thread(n - 1);
    busy();
}

CALL void *thread_busy(void *unused)
{
    busy();
    return unused;
}

CALL void on_alarm(int number)
{
    (void)number;
}

OFF static void run_threads(int count)
{
    pthread_t threads[64];
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, thread_main, NULL);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

CALL void leave_by_jump(int number)
{
    (void)number;
    siglongjmp(signalled, 1);
}

/* Deeper than any stack. */
CALL int overflow(int n)
{
    volatile char room[4096];
    room[0] = (char)n;
    return n < 0 ? 0 : overflow(n + 1) + room[0];
}

/* All are alive until each has done its work. */
OFF static void *stay(void *barrier)
{
    fib(15);
    fib(15);
    pthread_barrier_wait(barrier);
    return NULL;
}

OFF static void run_crowd(unsigned count)
{
    static pthread_t threads[200];
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, count);
    for (unsigned i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, stay, &barrier);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

OFF static void *leave_deeply(void *unused)
{
    leave_thread(4);
    return unused;
}

OFF static void run_leavers(void)
{
    pthread_t threads[10];
    for (int i = 0; i < 10; i++)
        pthread_create(&threads[i], NULL, leave_deeply, NULL);
    for (int i = 0; i < 10; i++)
        pthread_join(threads[i], NULL);
}

/* One after another, far more than there are numbers for; and what they leave in memory. */
OFF static int run_sequence(int count)
{
    char text[256] = "";
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, thread_busy, NULL) != 0)
            return 20;
        pthread_join(thread, NULL);
    }
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fgets(text, sizeof text, file))
        printf("%ld\n", strtol(strchr(text, ' '), NULL, 10));
    return file ? fclose(file) : 21;
}

/* Again and again a handler leaves what it has interrupted, which mostly is a hook: of a small
 * function, and of a deep stack. */
OFF static void under_jumps(void)
{
    struct sigaction action = {.sa_handler = leave_by_jump};
    struct itimerval every = {.it_value = {0, 300}};
    sigaction(SIGALRM, &action, NULL);
    for (volatile int i = 0; i < 400; i++) {
        if (sigsetjmp(signalled, 1)) {
            settle();
            continue;
        }
        setitimer(ITIMER_REAL, &every, NULL);
        for (;;)
            i % 2 ? busy() : (void)fib(12);
    }
}

/* The next alarm counts from the end of the last one: the program gets on however slow its handler
 * is. */
OFF static void alarm_again(int number)
{
    struct itimerval once = {.it_value = {0, 100}};
    on_alarm(number);
    setitimer(ITIMER_REAL, &once, NULL);
}

/* The same with a handler that returns to the hook. */
OFF static void under_alarms(int calls)
{
    struct sigaction again = {.sa_handler = alarm_again}, ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGALRM, &again, NULL);
    raise(SIGALRM);
    for (int i = 0; i < calls; i++)
        i % 1000 ? busy() : (void)fib(5);
    sigaction(SIGALRM, &ignore, NULL);
}

OFF static void in_child(void)
{
    pid_t child = fork();
    if (child == 0) {
        fib(5);
        exit(0);
    }
    waitpid(child, NULL, 0);
}

/* One that no handler of forks hears of: it calls, names its thread and ends as it wants. */
OFF static int in_raw_child(void)
{
    int status = 0;
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        fib(20);
        tvrec_thread_name("child");
        tvrec_stop(NULL);
        fib(5);
        exit(42);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

OFF static void call_plugin(const char *path)
{
    int (*call)(int) = NULL;
    void *plugin = dlopen(path, RTLD_NOW);
    void *symbol = plugin ? dlsym(plugin, "plugin_call") : NULL;
    memcpy(&call, &symbol, sizeof call);
    if (symbol)
        call(1);
    printf("%p\n", symbol);
    fflush(stdout);
    if (plugin)
        dlclose(plugin);
}

OFF static void *load_for_ever(void *path)
{
    for (;;) {
        void *plugin = dlopen(path, RTLD_NOW);
        if (plugin)
            dlclose(plugin);
        busy();
    }
    return NULL;
}

/* So that a signal mostly comes while the loader is at work. */
_Noreturn OFF static void load_until_end(char *path)
{
    pthread_t thread;
    for (int i = 0; i < 3; i++)
        pthread_create(&thread, NULL, load_for_ever, path);
    puts("here");
    fflush(stdout);
    for (;;)
        load_for_ever(path);
}

/* The handler may come in the middle of a hook: its calls are recorded or counted as dropped. */
OFF static void under_signals(void)
{
    struct sigaction action = {.sa_handler = on_alarm};
    sigaction(SIGPROF, &action, NULL);
    pthread_t self = pthread_self();
    for (int i = 0; i < 1000; i++) {
        pthread_kill(self, SIGPROF);
        fib(3);
    }
}

/* The library by its functions: a method by hand, one of them left by an error. */
OFF static int by_hand(const char *path)
{
    struct tvrec_options options = {.size = sizeof options, .path = path, .quiet = 1};
    struct tvrec_info info = {.size = sizeof info};
    if (tvrec_stop(NULL) == 0 || tvrec_start(NULL) == 0 || tvrec_start(&options) != 0)
        return 10;
    if (tvrec_start(&options) == 0)
        return 11;
    uint32_t outer = tvrec_method("Shop", "order", "()V", "shop.c", 10);
    uint32_t inner = tvrec_method("Shop", "pay", NULL, NULL, 0);
    tvrec_thread_name("till\t1");
    for (int i = 0; i < 100; i++) {
        tvrec_enter(outer);
        tvrec_enter(inner);
        if (i % 2)
            tvrec_exit(inner); /* else it is unrolled with the other */
        tvrec_unroll(outer);
    }
    if (tvrec_stop(&info) != 0 || tvrec_active())
        return 12;
    return info.records == 400 && info.threads == 1 && info.dropped == 0 ? 0 : 13;
}

/* So that a sampler has its turn on a busy machine too. */
OFF static void work_long(void)
{
    while (clock() < CLOCKS_PER_SEC * 3 / 10)
        fib(20);
}

/* A daemon: it closes what it may have inherited and opens files of its own, also under the numbers
 * that were the recorder's.  False: it did not have any. */
OFF static bool close_all(const char *path)
{
    char name[64], found[4096];
    int taken[8], count = 0;
    for (int i = 3; i < 5000 && count < 8; i++) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", i);
        ssize_t length = readlink(name, found, sizeof found - 1);
        found[length > 0 ? length : 0] = '\0';
        if (strstr(found, ".part") || strstr(found, ".names") || strstr(found, ".spool"))
            taken[count++] = i;
    }
    for (int i = 3; i < 5000; i++)
        close(i);
    int own = open(path, O_RDWR | O_CREAT | O_APPEND, 0600);
    for (int i = 0; i < count; i++)
        dup2(own, taken[i]);
    while (dup(own) < 200)
        continue;
    return count > 0;
}

/* As the C library's manual has it. */
OFF static void end_as_usual(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

/* "signal:15", "default:15", "handler:15": by a signal as it is, or as the program has it. */
OFF static void end_by_signal(const char *word)
{
    const char *number = strchr(word, ':');
    struct sigaction normal = {.sa_handler = SIG_DFL}, before;
    if (!number)
        return;
    int is = (int)strtol(number + 1, NULL, 10);
    if (word[0] == 'd' && (sigaction(is, &normal, &before) != 0 || before.sa_handler != SIG_DFL))
        exit(18);
    if (word[0] == 'h' && signal(is, end_as_usual) != SIG_DFL)
        exit(19);
    raise(is);
}

/* "jail", "nobody", "nobody_closes": what daemons do, as root. */
OFF static bool give_up(const char *word, const char *folder)
{
    if (strcmp(word, "jail") == 0 && (chroot(folder) != 0 || chdir("/") != 0))
        return false;
    if (strncmp(word, "nobody", 6) == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        return false;
    for (int i = 3; strcmp(word, "nobody_closes") == 0 && i < 5000; i++)
        close(i);
    return true;
}

OFF static void end_by(const char *word)
{
    end_by_signal(word);
    if (strcmp(word, "exit") == 0)
        exit(4);
    if (strcmp(word, "_exit") == 0)
        _exit(5);
    if (strcmp(word, "abort") == 0)
        abort();
    if (strcmp(word, "pthread_exit") == 0)
        pthread_exit(NULL);
    if (strcmp(word, "kill") == 0 || strcmp(word, "deepkill") == 0 ||
        strcmp(word, "plugin_kill") == 0)
        raise(SIGKILL);
    if (strcmp(word, "pause") == 0) {
        puts("here");
        fflush(stdout);
        pause();
    }
    if (strcmp(word, "term") == 0)
        raise(SIGTERM);
    if (strcmp(word, "hangup") == 0)
        raise(SIGHUP);
    if (strcmp(word, "fault") == 0)
        raise(SIGSEGV);
}

OFF int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    if (strcmp(word, "hand") == 0)
        return by_hand(argv[2]);
    if (strcmp(word, "jump") == 0)
        for (int i = 0; i < 10; i++)
            jump_to();
    if (strcmp(word, "threads") == 0)
        run_threads(argc > 2 ? (int)strtol(argv[2], NULL, 10) : 4);
    if (strcmp(word, "fork") == 0)
        in_child();
    if (!give_up(word, argc > 2 ? argv[2] : NULL))
        return 23;
    if (strncmp(word, "away", 4) == 0 && chdir("/") != 0)
        return 22;
    if (strcmp(word, "away_fork") == 0)
        in_child();
    if (strcmp(word, "leavers") == 0)
        run_leavers();
    if (strcmp(word, "sequence") == 0 && run_sequence(66000) != 0)
        return 20;
    if (strcmp(word, "loads") == 0)
        load_until_end(argv[2]);
    if (strcmp(word, "rawfork") == 0 && in_raw_child() != 42)
        return 17;
    if (strncmp(word, "plugin", 6) == 0)
        for (int i = 2; i < argc; i++)
            call_plugin(argv[i]);
    if (strcmp(word, "signals") == 0)
        under_signals();
    if (strcmp(word, "overflow") == 0)
        exit(overflow(fib(10) > 0));
    if (strcmp(word, "crowd") == 0)
        run_crowd(200);
    if (strcmp(word, "alarms") == 0)
        under_alarms(argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1000);
    if (strcmp(word, "jumps") == 0)
        under_jumps();
    if (strcmp(word, "deep") == 0 || strcmp(word, "deepkill") == 0)
        fib(25);
    if (strcmp(word, "closes") == 0 && !close_all(argv[2]))
        return 14;
    if (strcmp(word, "closes") == 0 && argc > 3 && unlink(argv[3]) != 0)
        return 15;
    if (strcmp(word, "closes") == 0)
        fib(20);
    if (strcmp(word, "folder") == 0 && mkdir(argv[2], 0700) != 0)
        return 16;
    if (strcmp(word, "long") == 0)
        work_long();
    fib(10);
    end_by(word);
    return 0;
}
