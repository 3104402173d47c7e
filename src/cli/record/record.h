/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - the internal header of `traceview record`.
 *
 *     commands/cmd_record.c   parses the command line
 *     plan.c                  makes the plan of one recording, and starts it
 *     sides.c                 records two programs in turn, many times, for a comparison
 *     words.c                 splits a command line into words
 *     rules.c                 which options go with which kind of recording
 *     host.c                  is the program Java or native, and why is a recording empty?
 *     program.c               starts a program; passes signals on
 *     jvm.c                   attaches to a running JVM; the options of the agent
 *     attach.c                HotSpot's attach protocol
 *     kernel.c                samples taken by the kernel, of any program or process (perf/perf.h)
 *     android.c, adb.c        an app on an Android device
 *     snapshot.c              copies the ring of a recording that continues
 *     native_names.c          replaces addresses by function names after the recording
 *     native_samples.c        does the same for samples
 */
#ifndef TV_CLI_RECORD_RECORD_H
#define TV_CLI_RECORD_RECORD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include "base/error.h"
#include "cli/options.h"

struct tv_command;

#define TV_RECORD_PATH 4096u
#define TV_RECORD_PATTERN 512u

/* --host: index of the word in "auto|java|native". */
enum tv_record_host { TV_RECORD_AUTO, TV_RECORD_JAVA, TV_RECORD_NATIVE };

/* --stack: index of the word in "auto|jvmti|agct|shadow|fp|perf|dwarf".  jvmti and agct are for
 * JVMs, shadow and fp for native programs, perf and dwarf (taken by the kernel) for both. */
enum tv_record_stack {
    TV_RECORD_STACK_AUTO,
    TV_RECORD_STACK_JVMTI,
    TV_RECORD_STACK_AGCT,
    TV_RECORD_STACK_SHADOW,
    TV_RECORD_STACK_FP,
    TV_RECORD_STACK_PERF,
    TV_RECORD_STACK_DWARF,
};

/* --full: index of the word in "stop|ring|stream". */
enum tv_record_full { TV_RECORD_STOP, TV_RECORD_RING, TV_RECORD_STREAM };

/* Ways of the recorder into the program. */
enum tv_record_way {
    TV_RECORD_PRELOADED, /* a native program: LD_PRELOAD */
    TV_RECORD_ARGUMENT,  /* a Java launcher: -agentpath as its first argument */
    TV_RECORD_INHERITED, /* a program that starts a JVM: JAVA_TOOL_OPTIONS */
    TV_RECORD_ATTACHED,  /* a running JVM */
    TV_RECORD_ANDROID,   /* an app on a device: its own runtime records */
    TV_RECORD_SNAPSHOT,  /* the recorder runs already: copy its ring */
    TV_RECORD_KERNEL,    /* any program: the kernel takes samples (perf/perf.h) */
};

/* Everything that is decided before a recording starts. */
struct tv_record_plan {
    const struct tv_settings *settings;
    enum tv_record_way way;
    char output[TV_RECORD_PATH];    /* absolute: the program may change its directory */
    char spool[TV_RECORD_PATH];     /* absolute; "": no spool */
    unsigned form;                  /* enum tv_samples_form: the format of samples */
    uint64_t delay_ms, duration_ms; /* 0: not given */
    uint64_t least_us;              /* leave out shorter calls; 0: keep all */
    unsigned full;                  /* enum tv_record_full */
    char slow[TV_RECORD_PATTERN]; /* stop after a call of these methods takes slow_us; "": never */
    uint64_t slow_us;
    uint64_t lock_us;           /* leave out shorter waits for locks; 0: keep all */
    bool with_alloc, with_lock; /* record allocations, waits for locks */
    bool has_samples;           /* write samples, allocations or waits instead of calls */
    bool grows;                 /* the buffer may grow: no --buffer was given */
    bool into_children;         /* the program has no hooks, so record the programs it starts */
    bool has_older;             /* a file was at `output` before the recording */
    struct stat older;
};

/* Return true when this recording has written the file at `output`.  Recorders write to a new file
 * and rename it, so an unchanged inode and time mean that the older file is still there. */
static inline bool tv_record_is_written(const struct tv_record_plan *plan)
{
    struct stat found;
    return stat(plan->output, &found) == 0 &&
           !(plan->has_older && found.st_dev == plan->older.st_dev &&
             found.st_ino == plan->older.st_ino &&
             found.st_mtim.tv_sec == plan->older.st_mtim.tv_sec &&
             found.st_mtim.tv_nsec == plan->older.st_mtim.tv_nsec);
}

/* ---- plan.c ---- */

/* Make the plan of a recording from the command line.  `table` is the table of options. */
enum tv_status tv_record_make_plan(const struct tv_option *table,
                                   const struct tv_settings *settings, struct tv_record_plan *plan,
                                   struct tv_error *err) TV_MUST_CHECK;

/* Record as the plan says.  *code and *files as of tv_record_program. */
enum tv_status tv_record_start(struct tv_record_plan *plan, int *code, struct tv_words *files,
                               struct tv_error *err) TV_MUST_CHECK;

/* Return the ending of the default file name: ".trace" or that of the format of samples. */
const char *tv_record_ending(const struct tv_record_plan *plan);

/* ---- sides.c ---- */

/* Record each program of --side --runs times, print what happens, and return the exit code: that of
 * a program that failed, or 128 plus the signal that stopped the command. */
int tv_record_sides(const struct tv_command *command, const struct tv_settings *settings);

/* ---- words.c ---- */

/* Split a command line as a shell does, without running one: blanks separate words, and quotes and
 * backslashes keep characters as they are.  TV_ERR_USAGE for what only a shell can do: variables,
 * patterns, pipes, redirections.  *words point into *text, which the caller frees with tv_free,
 * also after an error. */
enum tv_status tv_record_split_words(const char *command, char **text, struct tv_words *words,
                                     struct tv_error *err) TV_MUST_CHECK;

/* ---- rules.c ---- */

/* Was the option given on the command line? */
bool tv_record_is_given(const struct tv_option *table, const struct tv_settings *settings,
                        const char *name);

/* Check the options against the kind of recording, and fill in the times of the plan.  TV_ERR_USAGE
 * for an option that has no meaning for this recording, or for a value that is not valid. */
enum tv_status tv_record_check(const struct tv_option *table, struct tv_record_plan *plan,
                               struct tv_error *err) TV_MUST_CHECK;

/* ---- host.c ---- */

/* Decide how to record a program, which is searched for as execvp does.  `host` (--host) overrides
 * what the file says. */
enum tv_record_way tv_record_way_of(const char *program, unsigned host);

/* Record the programs that this one starts?  True for scripts, and for native programs without
 * hooks of their own, such as sh, env and taskset. */
bool tv_record_follows_children(enum tv_record_way way, const struct tv_record_settings *record,
                                const char *program);

/* Find the file of a program as execvp does; false when there is none. */
bool tv_record_find_program(const char *program, char path[TV_RECORD_PATH]);

/* Return TV_OK when the recording at `output` has calls or samples, else an error that explains why
 * it has none. */
enum tv_status tv_record_check_events(const struct tv_record_plan *plan,
                                      struct tv_error *err) TV_MUST_CHECK;

/* Return the error for a program that wrote no file; `code` is its exit code. */
enum tv_status tv_record_fail_unwritten(const struct tv_record_plan *plan, int code,
                                        struct tv_error *err);

/* Is it a script whose interpreter is neither a shell nor a JVM (Python, Perl, node, ...)? */
bool tv_record_is_script_without_jvm(const char *program);

/* ---- jvm.c ---- */

/* Find a library of the recorder: in `folder` beside the program in a build, or in lib where both
 * are installed.  `path` has TV_RECORD_PATH bytes. */
enum tv_status tv_record_find_library(const char *folder, const char *name, char *path,
                                      struct tv_error *err) TV_MUST_CHECK;

/* Return the agent's options for a recording into `file`; the caller frees them with tv_free.  With
 * `with_pid` a %p in `file` becomes the process id. */
char *tv_record_agent_options(const struct tv_record_plan *plan, const char *file, bool with_pid);

/* Quote a word for JAVA_TOOL_OPTIONS, which JVMs split at blanks outside of quotes.  The caller
 * frees it with tv_free. */
char *tv_record_quote(const char *word);

/* Record the running JVM --pid until its duration is over, a signal comes or the JVM ends. */
enum tv_status tv_record_attached(const struct tv_record_plan *plan,
                                  struct tv_error *err) TV_MUST_CHECK;

/* ---- program.c ---- */

/* Run the program to its end.  *code is its exit code, or 128 plus the signal that ended it; after
 * an error 0, or as in shells 127 (program not found) and 126 (program could not be started).
 * *files are the files that --open shows, to be released. */
enum tv_status tv_record_program(const struct tv_record_plan *plan, int *code,
                                 struct tv_words *files, struct tv_error *err) TV_MUST_CHECK;

/* Handle a .part file whose writer has ended.  An empty one is removed.  Any other can be opened as
 * it is and gets the names of native functions, except with a spool: `recover` will finish it. */
void tv_record_finish_part(const struct tv_record_plan *plan, const char *part);

/* Free the paths and the list. */
void tv_record_release(struct tv_words *files);

/* Signals that end programs, while the command waits for its program.
 *
 *     block - fork - unblock (in the child) | pass_on (in the parent) - wait - restore
 *
 * The kernel sends the signals of keys (Ctrl-C, Ctrl-\) to the program as well.  A signal from
 * another process comes to the command alone, so the command passes it on.  In both cases the
 * command stays alive to finish its file. */
#define TV_RECORD_SIGNALS 4u

struct tv_record_signal_state {
    sigset_t mask;
    struct sigaction actions[TV_RECORD_SIGNALS];
};

/* Block the signals, so that none comes between a fork and the calls after it. */
void tv_record_signals_block(struct tv_record_signal_state *before);

/* Restore the signal mask. */
void tv_record_signals_unblock(const struct tv_record_signal_state *before);

/* Pass the signals on to the child from now on. */
void tv_record_signals_pass_on(struct tv_record_signal_state *before, pid_t child);

/* Remember these signals from now on instead of ending, for a command that runs many programs;
 * those that are ignored (nohup) do not count. */
void tv_record_signals_note(void);

/* Return the last signal that was remembered; 0: none. */
int tv_record_signals_last(void);

/* Restore the handlers: with --open the command becomes the viewer, which these signals must end.
 */
void tv_record_signals_restore(const struct tv_record_signal_state *before);

/* Block the signals that end the recording of a running process and return a signalfd for them,
 * which the caller closes; -1: too many open files.  An ignored SIGHUP (nohup) stays ignored. */
int tv_record_signals_watch(sigset_t *blocked);

/* ---- kernel.c ---- */

/* Should the kernel take the samples?  --stack overrides the default. */
bool tv_record_wants_kernel(const struct tv_record_plan *plan);

/* Sample a program, as tv_record_program, or the process --pid.  TV_ERR_UNSUPPORTED: the system
 * does not allow it; the program was not started. */
enum tv_status tv_record_by_kernel(const struct tv_record_plan *plan, int *code,
                                   struct tv_words *files, struct tv_error *err) TV_MUST_CHECK;

/* ---- android.c ---- */

/* Record the app --android until its duration is over or a signal comes. */
enum tv_status tv_record_android(const struct tv_record_plan *plan,
                                 struct tv_error *err) TV_MUST_CHECK;

/* ---- snapshot.c ---- */

/* Write the contents of the ring of the process --snapshot. */
enum tv_status tv_record_snapshot(const struct tv_record_plan *plan,
                                  struct tv_error *err) TV_MUST_CHECK;

/* ---- attach.c ----
 *
 * Commands to a running JVM by HotSpot's attach protocol.
 *
 *     we:  create /tmp/.attach_pidN, send SIGQUIT
 *     JVM: opens the socket /tmp/.java_pidN
 *     we:  connect, send one command (version, word, three arguments), read the answer
 *
 * /tmp and N are as the JVM sees them; in a container both differ from ours (/proc/N/root, NSpid).
 * SIGQUIT ends programs that do not handle it, so it is sent through a pidfd, and only to a process
 * that is known to be a JVM.
 *
 * The other side is not trusted: a socket of another user is refused, answers are cut and cleaned,
 * and every wait has a limit. */

/* Size of one argument of a command, with its NUL. */
#define TV_ATTACH_ARGUMENT 1024u

#define TV_JVM_PATH 4096u

struct tv_jvm {
    pid_t pid;       /* in our name space */
    pid_t inner_pid; /* in its own */
    int file;        /* a pidfd: readable when the process has ended; -1: the kernel has none */
    int signals;     /* a signalfd: readable when we must stop; every wait watches it */
    uid_t uid;
    gid_t gid;
    bool other_files; /* another root or user: paths that we name may not exist for the JVM */
};

/* Is the process a JVM of any vendor? */
bool tv_process_is_jvm(pid_t pid);

/* Open a JVM that we may attach to.  The error explains why we may not. */
enum tv_status tv_jvm_open(pid_t pid, int signals, struct tv_jvm *jvm,
                           struct tv_error *err) TV_MUST_CHECK;
void tv_jvm_close(struct tv_jvm *jvm);

/* Find a library that the JVM has loaded, by file name; the path is as the JVM sees it, even when
 * the file is deleted.  False when it has loaded none. */
bool tv_jvm_find_library(const struct tv_jvm *jvm, const char *name, char path[TV_JVM_PATH]);

/* Send a command (a word and up to three arguments; NULL: empty) and read the answer: *code, 0 for
 * success, and text of at most `room` bytes, in which control characters become blanks. */
enum tv_status tv_jvm_command(const struct tv_jvm *jvm, const char *const words[4], int *code,
                              char *answer, size_t room, struct tv_error *err) TV_MUST_CHECK;

/* Take the rights of the JVM's user between enter and leave, for files that this user must own or
 * trust. */
void tv_jvm_enter_user(const struct tv_jvm *jvm);
void tv_jvm_leave_user(const struct tv_jvm *jvm);

/* Has the JVM ended? */
bool tv_jvm_has_ended(const struct tv_jvm *jvm);

/* ---- adb.c ----
 *
 * Commands to an Android device through adb, the debug bridge of the Android SDK.
 *
 * adb is started with a list of words, never through a shell of this machine.  `adb shell` hands
 * one line to the shell of the device; tv_adb_quote keeps its words apart.  Answers are cut to a
 * fixed length and not trusted. */

#define TV_ADB_ANSWER 8192u
#define TV_ADB_SERIAL 128u
#define TV_ADB_PATH 4096u

struct tv_adb {
    char program[TV_ADB_PATH];
    char serial[TV_ADB_SERIAL]; /* "": no device is chosen yet */
    int signals;                /* a signalfd: a command is stopped when it becomes readable */
};

/* The result of a command. */
struct tv_adb_answer {
    int code;         /* exit code, or 128 plus the signal */
    bool interrupted; /* a signal came, and the command was stopped */
    bool timed_out;
    char text[TV_ADB_ANSWER]; /* both outputs, without CR and without lines of the adb server */
};

/* Find adb: in PATH, or in platform-tools below ANDROID_HOME or ANDROID_SDK_ROOT. */
enum tv_status tv_adb_find(struct tv_adb *adb, struct tv_error *err) TV_MUST_CHECK;

/* Choose the device: `serial`, else ANDROID_SERIAL, else the only one that is connected. */
enum tv_status tv_adb_choose(struct tv_adb *adb, const char *serial,
                             struct tv_error *err) TV_MUST_CHECK;

/* Run adb with these words, which end with NULL, on the chosen device.  `limit_ms` 0: no limit.
 * TV_OK means that adb has run; its exit code is in the answer. */
enum tv_status tv_adb_run(const struct tv_adb *adb, const char *const *words, int limit_ms,
                          struct tv_adb_answer *answer, struct tv_error *err) TV_MUST_CHECK;

/* Run one line, made as by printf, in the shell of the device. */
enum tv_status tv_adb_shell(const struct tv_adb *adb, struct tv_adb_answer *answer,
                            struct tv_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5))) TV_MUST_CHECK;

/* Put the word between single quotes; false when it does not fit. */
bool tv_adb_quote(const char *word, char *quoted, size_t size);

#endif
