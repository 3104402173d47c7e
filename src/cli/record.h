/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - the parts of `traceview record`.
 *
 *   cmd_record.c       the command
 *   record_rules.c     which options go with what is recorded
 *   record_host.c      what a program is: of Java, or native
 *   record_empty.c     why a recording has nothing in it
 *   record_agent.c     what the agent is told, and where the libraries are
 *   record_program.c   a program that is started
 *   record_attached.c  a JVM that runs (attach.h)
 *   record_signals.h   signals meanwhile
 *   record_android.c   an app of an Android device (adb.h)
 *   record_snapshot.c  the ring of a recording that goes on
 *   record_kernel.c    any program or process, whose samples the kernel takes (perf/perf.h)
 */
#ifndef TV_CLI_RECORD_H
#define TV_CLI_RECORD_H

#include <sys/stat.h>

#include "cli/options.h"

#define TV_RECORD_PATH 4096u
#define TV_RECORD_PATTERN 512u

/* --host, its places among "auto|java|native". */
enum tv_record_host { TV_RECORD_AUTO, TV_RECORD_JAVA, TV_RECORD_NATIVE };

/* --stack, its places among "auto|jvmti|agct|shadow|fp|perf|dwarf": two of JVMs, two of native
 * programs, and the kernel's two for any. */
enum tv_record_stack {
    TV_RECORD_STACK_AUTO,
    TV_RECORD_STACK_JVMTI,
    TV_RECORD_STACK_AGCT,
    TV_RECORD_STACK_SHADOW,
    TV_RECORD_STACK_FP,
    TV_RECORD_STACK_PERF,
    TV_RECORD_STACK_DWARF,
};

/* --full, its places among "stop|ring|stream". */
enum tv_record_full { TV_RECORD_STOP, TV_RECORD_RING, TV_RECORD_STREAM };

/* How the recorder comes into the program. */
enum tv_record_way {
    TV_RECORD_PRELOADED, /* a native program: LD_PRELOAD */
    TV_RECORD_ARGUMENT,  /* a launcher of Java: -agentpath as its first argument */
    TV_RECORD_INHERITED, /* something that starts a JVM: JAVA_TOOL_OPTIONS */
    TV_RECORD_ATTACHED,  /* a JVM that runs */
    TV_RECORD_ANDROID,   /* an app of a device: by its own runtime */
    TV_RECORD_SNAPSHOT,  /* it is there: only the ring is asked for */
    TV_RECORD_KERNEL,    /* any program: the kernel takes samples of it (perf/perf.h) */
};

/* A recording as it is to be. */
struct tv_record_plan {
    const struct tv_settings *settings;
    enum tv_record_way way;
    char output[TV_RECORD_PATH];    /* absolute: programs may be in another folder */
    char spool[TV_RECORD_PATH];     /* too; empty: none */
    unsigned form;                  /* enum tv_samples_form, of samples */
    uint64_t delay_ms, duration_ms; /* 0: not given */
    uint64_t least_us;              /* shorter calls are left out; 0: none */
    unsigned full;                  /* enum tv_record_full */
    char slow[TV_RECORD_PATTERN]; /* a call of these methods that lasts slow_us ends it; "": none */
    uint64_t slow_us;
    uint64_t lock_us;           /* shorter waits for locks are left out; 0: none */
    bool with_alloc, with_lock; /* allocations and waits for locks are recorded */
    bool has_samples;           /* samples are written, or those two, and no calls */
    bool grows;                 /* the buffer, as nobody has said how large it is */
    bool into_children;         /* the program has no hooks: what it starts may have some */
    bool has_older;             /* a file was at `output` before the recording */
    struct stat older;
};

/* Is a file of this recording at `output`?  The recorders write beside it and rename, so an older
 * file that is still there is the same file as before. */
static inline bool tv_record_is_written(const struct tv_record_plan *plan)
{
    struct stat found;
    return stat(plan->output, &found) == 0 &&
           !(plan->has_older && found.st_dev == plan->older.st_dev &&
             found.st_ino == plan->older.st_ino &&
             found.st_mtim.tv_sec == plan->older.st_mtim.tv_sec &&
             found.st_mtim.tv_nsec == plan->older.st_mtim.tv_nsec);
}

/* ---- record_rules.c ---- */

/* Is the option of the table there? */
bool tv_record_is_given(const struct tv_option *table, const struct tv_settings *settings,
                        const char *name);

/* TV_ERR_USAGE when an option of the table was given that means nothing to such a recording, or a
 * value that it does not know; else the plan's times. */
enum tv_status tv_record_check(const struct tv_option *table, struct tv_record_plan *plan,
                               struct tv_error *err) TV_MUST_CHECK;

/* ---- record_host.c ---- */

/* How a program that is called so (as execvp finds it) is recorded, if `host` does not say it. */
enum tv_record_way tv_record_way_of(const char *program, unsigned host);

/* Is what the program starts recorded too: a script, or a native program that has no calls to
 * record itself, such as sh, env or taskset? */
bool tv_record_goes_into_children(enum tv_record_way way, const struct tv_record_settings *record,
                                  const char *program);

/* Find the file of a program as execvp does; false: there is none. */
bool tv_record_find_program(const char *program, char path[TV_RECORD_PATH]);

/* ---- record_empty.c ---- */

/* TV_OK when there are calls or samples in the recording at `output`, else the error that says why
 * there are none. */
enum tv_status tv_record_check_events(const struct tv_record_plan *plan,
                                      struct tv_error *err) TV_MUST_CHECK;

/* The error of a program that wrote no file; `code` is its exit code. */
enum tv_status tv_record_not_written(const struct tv_record_plan *plan, int code,
                                     struct tv_error *err);

/* Is it a script for an interpreter that is no shell and no JVM: of Python, Perl, node ...? */
bool tv_record_is_script_without_jvm(const char *program);

/* ---- record_agent.c ---- */

/* The library of that name, in `folder` beside the program as it was built or where both are
 * installed. */
enum tv_status tv_record_find_library(const char *folder, const char *name, char *path,
                                      struct tv_error *err) TV_MUST_CHECK;

/* The options of the agent for a recording into `file`, whose %p stays one if `with_pid`; to be
 * given back with tv_free. */
char *tv_record_agent_options(const struct tv_record_plan *plan, const char *file, bool with_pid);

/* A word as it stands in JAVA_TOOL_OPTIONS, which JVMs split at blanks that are not quoted; to be
 * given back with tv_free. */
char *tv_record_quote(const char *word);

/* ---- record_program.c ---- */

/* Runs the program to its end.  The exit code is its own; 128 and the signal when one ended it.
 * With an error it is 0 or, as shells have it, 127 when the program could not be found and 126 when
 * it could not be started.  *files, if any, are what --open shows, until they are released. */
enum tv_status tv_record_program(const struct tv_record_plan *plan, int *code,
                                 struct tv_words *files, struct tv_error *err) TV_MUST_CHECK;

/* See to a part that nobody will finish: it goes if it is empty; a streamed file can be read as it
 * is, and one that is written has only its name to come, so both get the names of native functions.
 * The part of a spool is left to `recover`. */
void tv_record_leave_part(const struct tv_record_plan *plan, const char *part);

/* Gives back the paths and the list. */
void tv_record_release(struct tv_words *files);

/* ---- record_kernel.c ---- */

/* Is the kernel to take the samples, unless the user says otherwise? */
bool tv_record_wants_kernel(const struct tv_record_plan *plan);

/* Samples of a program that is started, as tv_record_program; of --pid without a program.
 * TV_ERR_UNSUPPORTED: the system does not allow it, and the program was not started. */
enum tv_status tv_record_by_kernel(const struct tv_record_plan *plan, int *code,
                                   struct tv_words *files, struct tv_error *err) TV_MUST_CHECK;

/* ---- record_android.c ---- */

/* Records the app --android until its duration is over or a signal comes. */
enum tv_status tv_record_android(const struct tv_record_plan *plan,
                                 struct tv_error *err) TV_MUST_CHECK;

/* ---- record_snapshot.c ---- */

/* Writes what is in the ring of the process --snapshot. */
enum tv_status tv_record_snapshot(const struct tv_record_plan *plan,
                                  struct tv_error *err) TV_MUST_CHECK;

/* ---- record_attached.c ---- */

/* Records the running JVM --pid until its duration is over, a signal comes or it ends. */
enum tv_status tv_record_attached(const struct tv_record_plan *plan,
                                  struct tv_error *err) TV_MUST_CHECK;

#endif
