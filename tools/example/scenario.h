/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario.h - the program that the threads of the example play.
 *
 * A scenario is a text file: methods with what they do, and threads.  README.md in this folder
 * describes the language.  Reading it gives one flat list of steps; a method's or thread's body is
 * a run of them that ends with STEP_RETURN.  Whatever is wrong with the text ends the program with
 * one line on standard error: the reader is a tool's, its input is part of this repository.
 */
#ifndef TV_TOOLS_EXAMPLE_SCENARIO_H
#define TV_TOOLS_EXAMPLE_SCENARIO_H

#include <stdint.h>

#define NO_PAYLOAD (-1)
#define FOREVER UINT32_MAX

enum step_kind {
    STEP_BURN,       /* runs on a CPU for low..high microseconds, times the pace */
    STEP_SLEEP,      /* wall time passes, CPU time does not */
    STEP_CALL,       /* calls method `target`, unless `low` activations of it are open already */
    STEP_CALL_GIVEN, /* calls the first method of the frame's payload */
    STEP_CHOOSE,     /* one of the next `low` steps, at random */
    STEP_CHOOSE_NTH, /* the one whose number is the method's own count of open activations */
    STEP_LOOP,       /* low..high rounds up to the matching STEP_LOOP_END */
    STEP_LOOP_END,
    STEP_CHANCE,     /* goes on in `low` percent of all cases, else to `jump` */
    STEP_IF,         /* goes on if flag `target` is not zero (zero, if `low`), else to `jump` */
    STEP_IF_EMPTY,   /* goes on if the thread holds no message, else to `jump` */
    STEP_SET,        /* flag `target` = low */
    STEP_SUBTRACT,   /* flag `target` -= low, not below zero */
    STEP_POST,       /* a message with `payload` to queue `target`, after low..high microseconds */
    STEP_POST_VSYNC, /* the same at the next vertical sync, unless one is under way */
    STEP_AWAIT,      /* blocks until queue `target` yields a message */
    STEP_POLL,       /* takes a message if there is one */
    STEP_TAKE,       /* the message becomes the frame's payload */
    STEP_LOCK,       /* blocks until lock `target` is free */
    STEP_UNLOCK,
    STEP_THROW, /* leaves frames by exception up to the nearest `try:` */
    STEP_LEAVE, /* leaves method `target` without having entered it */
    STEP_STOP,  /* ends the trace */
    STEP_RETURN,
};

struct step {
    enum step_kind kind;
    uint32_t low;
    uint32_t high;
    int target;  /* method, flag, queue or lock; -1 for none */
    int payload; /* index into payloads, or NO_PAYLOAD */
    int jump;    /* where to go on when the step is not taken; for a call: after its return */
    int catches; /* a call that an exception does not pass */
};

struct method {
    char *key;        /* how the scenario names it: Class.name or Class.name#mark */
    char *class_name; /* with its package; NULL until the method is defined */
    char *name;
    char *signature;
    char *file;
    int body;
    int shown_as; /* the first method of the same class, name and signature: itself, or another */
};

struct thread_role {
    uint32_t tid; /* 0: a part of the world outside, which leaves no records */
    char *name;
    int body;
};

/* Names of one kind (flags, queues, locks), numbered as they appear. */
struct name_list {
    char **names;
    int count;
};

struct scenario {
    struct method *methods;
    int method_count;
    struct thread_role *threads;
    int thread_count;
    struct step *steps;
    int step_count;
    int *payloads; /* lists of methods, each ended by -1 */
    int payload_count;
    uint32_t pace_percent; /* what a microsecond of CPU time in the text takes */
    struct name_list flags;
    struct name_list queues;
    struct name_list locks;
};

/* Reads the scenario at `path`.  Never fails: see above. */
struct scenario *scenario_read(const char *path);

void scenario_free(struct scenario *scenario);

#endif
