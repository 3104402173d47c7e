/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_program.c - a program in the fake machine of fake_art.h, under the agent.
 *
 *     fake-program AGENT OPTIONS load|attach [debuggable] [no-calls] [wait]
 *
 * Two threads, the second one beginning after the first has worked; what each calls is written in
 * `work`.  wait: until the sampler has looked often enough.  Prints faults; the last line says how
 * many.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake_art.h"

#define LOOKS 40

static char of_work[] = "Lcom/example/Work;", work_file[] = "Work.java";
static char of_list[] = "Ljava/util/ArrayList;", list_file[] = "ArrayList.java";
static struct fake_class work_class = {of_work, work_file, false};
static struct fake_class list_class = {of_list, list_file, true};

static char nothing[] = "()V", run[] = "run", twice[] = "twice", leaf[] = "leaf", fib[] = "fib",
            number[] = "(I)I", thrower[] = "thrower", catcher[] = "catcher", add[] = "add",
            object[] = "(Ljava/lang/Object;)Z", busy[] = "busy";
static struct fake_method m_run = {run, nothing, &work_class, 10};
static struct fake_method m_twice = {twice, nothing, &work_class, 20};
static struct fake_method m_leaf = {leaf, nothing, &work_class, 30};
static struct fake_method m_fib = {fib, number, &work_class, 40};
static struct fake_method m_thrower = {thrower, nothing, &work_class, 50};
static struct fake_method m_catcher = {catcher, nothing, &work_class, 60};
static struct fake_method m_add = {add, object, &list_class, 0};
static struct fake_method m_busy = {busy, nothing, &work_class, 70};

static bool waits;

static void call(struct fake_method *method)
{
    fake_art_call(method);
    fake_art_return(false);
}

/* fib(8): 2 * fib(9) - 1 = 67 calls. */
static void call_fib(int n)
{
    fake_art_call(&m_fib);
    for (int i = 1; n >= 2 && i <= 2; i++)
        call_fib(n - i);
    fake_art_return(false);
}

static void wait_for_looks(struct fake_thread *self)
{
    struct timespec pause = {0, 1000000};
    int first = atomic_load(&self->looks);
    fake_art_call(&m_busy);
    while (waits && atomic_load(&self->looks) - first < LOOKS && atomic_load(&fake_art.faults) == 0)
        nanosleep(&pause, NULL);
    fake_art_return(false);
}

static void work(struct fake_thread *self)
{
    fake_art_call(&m_run);
    for (int i = 0; i < 100; i++) {
        fake_art_call(&m_twice);
        call(&m_leaf);
        call(&m_leaf);
        fake_art_return(false);
        call(&m_add);
        fake_art_allocate(24);
    }
    call_fib(8);
    for (int i = 0; i < 10; i++) {
        fake_art_call(&m_catcher);
        fake_art_call(&m_thrower);
        fake_art_return(true);
        fake_art_return(false);
    }
    fake_art_collect();
    wait_for_looks(self);
    fake_art_return(false);
}

static void *work_in_second(void *arg)
{
    work(fake_art_join("worker-1"));
    fake_art_leave();
    return arg;
}

static bool has(char **words, const char *word)
{
    for (; *words != NULL; words++)
        if (strcmp(*words, word) == 0)
            return true;
    return false;
}

typedef jint(JNICALL *agent_entry)(JavaVM *vm, char *options, void *reserved);

static agent_entry find_entry(const char *path, const char *name)
{
    agent_entry entry = NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library == NULL ? NULL : dlsym(library, name);
    if (symbol == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    memcpy(&entry, &symbol, sizeof entry);
    return entry;
}

int main(int argc, char **argv)
{
    pthread_t second;
    if (argc < 4)
        return 2;
    bool attaches = has(argv + 3, "attach");
    waits = has(argv + 3, "wait");
    fake_art_begin(has(argv + 3, "debuggable"), has(argv + 3, "no-calls"),
                   attaches ? JVMTI_PHASE_LIVE : JVMTI_PHASE_ONLOAD);
    setvbuf(stdout, NULL, _IOLBF, 4096);
    printf("a fake of ART's JVMTI, no device\n");
    agent_entry entry = find_entry(argv[1], attaches ? "Agent_OnAttach" : "Agent_OnLoad");
    struct fake_thread *self = attaches ? fake_art_join("main") : NULL;
    jint result = entry(&fake_art.vm, argv[2], NULL);
    if (!attaches) {
        self = fake_art_join("main");
        fake_art_born();
    }
    work(self);
    pthread_create(&second, NULL, work_in_second, NULL);
    pthread_join(second, NULL);
    fake_art_die();
    printf("result %d, faults %d\n", (int)result, atomic_load(&fake_art.faults));
    return 0;
}
