/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracing.c - call tracing: choice of classes, method ids, and retransformation of loaded classes.
 *
 * ClassFileLoadHook rewrites each class when it is loaded. Classes loaded before the recording are
 * sent through the same callback by RetransformClasses, in batches (see below); at its end they are
 * sent again, without hooks, if the agent was attached.
 */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "recorder/agent/agent.h"
#include "recorder/agent/rewrite.h"
#include "recorder/clock.h"
#include "recorder/recording.h"
#include "recorder/text.h"

#define LONGEST_NAME 65536

/* HotSpot accepts no larger capacity for PushLocalFrame. */
#define MAX_REFERENCES 4096

/* Totals for tv_agent_tracing_report. */
static atomic_uint classes, methods, refused, not_understood;

/* Methods that could not be rewritten since the last message; it names the first few. */
#define NAMED 3u
static struct {
    pthread_mutex_t lock;
    unsigned count;
    char names[1024];
} lacking = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Boot classes have been rewritten in this or an earlier recording, so their hooks must go at its
 * end. */
static bool boot_rewritten;

/* Never rewritten: the hooks, Object (its constructor is the root of all others), and the facade,
 * whose methods start and stop recordings. */
static const char never[] =
    "java.traceview.*:java.lang.Object:android.os.Debug:dalvik.system.SamplingProfiler*"
    ":traceview.Recorder";

static char *tracing_copy_utf8(struct tv_class_span span, bool dots)
{
    /* Each byte becomes one character at most. */
    size_t room = span.length + 1;
    char *text = malloc(room);
    if (text != NULL)
        tv_text_from_jvm(text, room, span.data, span.length, dots ? "/." : NULL);
    return text;
}

bool tv_agent_tracing_wants(const char *class_name)
{
    const struct tv_agent_options *options = &tv_agent.options;
    return !tv_wildcard_matches_any(never, ':', class_name) &&
           (options->include == NULL ||
            tv_wildcard_matches_any(options->include, ':', class_name)) &&
           (options->exclude == NULL ||
            !tv_wildcard_matches_any(options->exclude, ':', class_name));
}

/* Return the number by which the rewritten code announces a method; 0 (no number) when there is no
 * memory, and the rewriter leaves the method as it is. */
static uint32_t tracing_add_method(void *context, const struct tv_rewrite_method *method)
{
    const char *class_name = context;
    char *name = tracing_copy_utf8(method->name, false);
    char *signature = tracing_copy_utf8(method->signature, false);
    char *source = tracing_copy_utf8(method->source, false);
    uint32_t id = 0;
    if (name != NULL && signature != NULL && source != NULL)
        id = tv_recording_find_method(&(struct tv_recording_method){
            .class_name = class_name,
            .name = name,
            .signature = signature,
            .file = source,
            .line = (int32_t)method->first_line,
        });
    free(name);
    free(signature);
    free(source);
    return id;
}

/* Note a method that the rewriter could not record. All are counted, the first NAMED are told by
 * name. `context` is the class's name; called by any thread that loads a class, so under a lock. */
static void tracing_refuse_method(void *context, struct tv_class_span name)
{
    char *text = tracing_copy_utf8(name, false);
    pthread_mutex_lock(&lacking.lock);
    size_t used = lacking.count == 0 ? 0 : strlen(lacking.names);
    if (lacking.count++ < NAMED && text != NULL)
        snprintf(lacking.names + used, sizeof lacking.names - used, "%s%s.%s", used > 0 ? ", " : "",
                 (const char *)context, text);
    pthread_mutex_unlock(&lacking.lock);
    free(text);
}

unsigned tv_agent_tracing_lacking(void)
{
    pthread_mutex_lock(&lacking.lock);
    unsigned count = lacking.count;
    pthread_mutex_unlock(&lacking.lock);
    return count;
}

void tv_agent_tracing_say_lacking(void)
{
    pthread_mutex_lock(&lacking.lock);
    unsigned count = lacking.count;
    lacking.count = 0;
    if (count > 0)
        tv_agent_say("%u method%s not in the trace, as the code has no room for hooks (64 kB are "
                     "the most): %s%s",
                     count, count == 1 ? " is" : "s are", lacking.names,
                     count > NAMED ? ", ..." : "");
    pthread_mutex_unlock(&lacking.lock);
}

/* Return the class's name with dots, for free(), or NULL when the options exclude it. */
static char *tracing_wanted_name(const unsigned char *bytes, size_t length)
{
    struct tv_classfile file;
    struct tv_class_span span;
    char *name = NULL;
    if (!tv_classfile_read(&file, bytes, length))
        return NULL;
    if (tv_classfile_class_name(&file, file.this_class, &span))
        name = tracing_copy_utf8(span, true);
    tv_classfile_release(&file);
    if (name == NULL || tv_agent_tracing_wants(name))
        return name;
    free(name);
    return NULL;
}

static void tracing_hand_over_class(jvmtiEnv *jvmti, const struct tv_rewrite_result *result,
                                    jint *new_length, unsigned char **new_bytes)
{
    unsigned char *bytes;
    if (result->bytes == NULL ||
        (*jvmti)->Allocate(jvmti, (jlong)result->length, &bytes) != JVMTI_ERROR_NONE)
        return;
    memcpy(bytes, result->bytes, result->length);
    *new_bytes = bytes;
    *new_length = (jint)result->length;
    atomic_fetch_add(&classes, 1);
    atomic_fetch_add(&methods, result->rewritten);
}

void JNICALL tv_agent_tracing_load(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined, jobject loader,
                                   const char *name, jobject domain, jint length,
                                   const unsigned char *bytes, jint *new_length,
                                   unsigned char **new_bytes)
{
    (void)jni;
    (void)redefined;
    (void)name;
    (void)domain;
    if (!atomic_load(&tv_agent.rewrites) || (loader == NULL && !tv_agent.options.boot))
        return;
    char *class_name = tracing_wanted_name(bytes, (size_t)length);
    if (class_name == NULL)
        return;
    struct tv_rewrite_plan plan = {TV_AGENT_HOOKS, tracing_add_method, class_name,
                                   tracing_refuse_method};
    struct tv_rewrite_result result;
    if (tv_rewrite_class(bytes, (size_t)length, &plan, &result))
        tracing_hand_over_class(jvmti, &result, new_length, new_bytes);
    else
        atomic_fetch_add(&not_understood, 1);
    atomic_fetch_add(&refused, result.refused);
    free(result.bytes);
    free(class_name);
}

/* ---- Retransformation of loaded classes ---- */

/* RetransformClasses stops the program once per call, and HotSpot walks all loaded classes in each
 * call. One call per class would be quadratic; one call for all classes would be a long pause. In
 * Tomcat with 4,539 classes, a call stops the program for 14 ms plus 20 us per class. So batches
 * double while pauses are short and halve when they are long, but not below 256 classes or 1/64 of
 * all. */
#define MIN_BATCH 256
#define MAX_CALLS 64
#define LARGEST_BATCH 1024
#define SHORT_PAUSE_NS 40000000
#define LONG_PAUSE_NS 80000000

/* Totals of one pass over the loaded classes. */
struct retransform_passage {
    jvmtiEnv *jvmti;
    unsigned calls, done, refused;
};

/* Options by which classes have been rewritten; `several`: recordings with different options. */
static struct {
    const char *include, *exclude;
    bool any, several;
} rewritten_by;

static bool tracing_text_is_same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Remember the options of this recording. `rewrites` is false at the end of a recording, after
 * which no class has hooks. */
static void tracing_note_options(bool rewrites)
{
    const struct tv_agent_options *options = &tv_agent.options;
    if (rewritten_by.any && (!tracing_text_is_same(rewritten_by.include, options->include) ||
                             !tracing_text_is_same(rewritten_by.exclude, options->exclude)))
        rewritten_by.several = true;
    rewritten_by.include = options->include;
    rewritten_by.exclude = options->exclude;
    rewritten_by.any = rewrites;
}

/* Is this the signature "Lcom/example/Class;" of an included class? Arrays and primitive types have
 * no methods. */
static bool tracing_wants_signature(const char *signature)
{
    size_t length = strlen(signature);
    if (length < 3 || signature[0] != 'L')
        return false;
    char *name =
        tracing_copy_utf8((struct tv_class_span){(const uint8_t *)signature + 1, length - 2}, true);
    bool wanted = name != NULL && tv_agent_tracing_wants(name);
    free(name);
    return wanted;
}

/* Tell whether a loaded class is to be rewritten: its name is wanted, the JVM allows it, and
 * classes of the boot loader only where these are recorded. */
static bool tracing_wants_class(jvmtiEnv *jvmti, JNIEnv *jni, jclass class)
{
    jboolean modifiable = JNI_FALSE;
    jobject loader = NULL;
    char *signature;
    if ((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL) != JVMTI_ERROR_NONE)
        return false;
    bool wanted = rewritten_by.several || tracing_wants_signature(signature);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    if (!wanted || (*jvmti)->IsModifiableClass(jvmti, class, &modifiable) != JVMTI_ERROR_NONE ||
        !modifiable || (*jvmti)->GetClassLoader(jvmti, class, &loader) != JVMTI_ERROR_NONE)
        return false;
    (*jni)->DeleteLocalRef(jni, loader);
    return loader != NULL || boot_rewritten;
}

/* Move the wanted classes to the front and release the others. Return how many are wanted. */
static jint tracing_keep_wanted_classes(jvmtiEnv *jvmti, JNIEnv *jni, jclass *loaded, jint count)
{
    jint kept = 0;
    for (jint i = 0; i < count; i++) {
        jclass class = loaded[i];
        if (tracing_wants_class(jvmti, jni, class))
            loaded[kept++] = class;
        else
            (*jni)->DeleteLocalRef(jni, class);
    }
    return kept;
}

/* Return how long this thread has waited for a processor (ns), or 0 if the kernel does not tell. */
static int64_t tracing_queued_ns(void)
{
    unsigned long long queued = 0;
    char text[128] = "", *behind_run;
    int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    if (read(file, text, sizeof text - 1) > 0) {
        (void)strtoull(text, &behind_run, 10);
        queued = strtoull(behind_run, NULL, 10);
    }
    close(file);
    return (int64_t)queued;
}

/* Return how long this thread has been blocked (ns). It rewrites the classes itself, and is blocked
 * while HotSpot stops the program to replace them. */
static int64_t tracing_blocked_ns(void)
{
    uint64_t now = tv_clock_ns(CLOCK_MONOTONIC);
    return (int64_t)(now - tv_clock_ns(CLOCK_THREAD_CPUTIME_ID)) - tracing_queued_ns();
}

/* Retransform a batch. The JVM refuses the whole batch when it refuses one class, so bisect a
 * refused batch. Return false when VMDeath is near. */
static bool retransform_batch_bisecting(struct retransform_passage *passage, const jclass *wanted,
                                        jint count)
{
    assert(count > 0);
    if (atomic_load(&tv_agent.dying) || !tv_agent_hold())
        return false;
    passage->calls++;
    jvmtiError error = (*passage->jvmti)->RetransformClasses(passage->jvmti, count, wanted);
    tv_agent_release();
    if (error == JVMTI_ERROR_NONE || count == 1) {
        passage->done += error == JVMTI_ERROR_NONE ? (unsigned)count : 0;
        passage->refused += error != JVMTI_ERROR_NONE;
        return true;
    }
    jint half = count / 2;
    return retransform_batch_bisecting(passage, wanted, half) &&
           retransform_batch_bisecting(passage, wanted + half, count - half);
}

/* Rewrite loaded classes in batches.  The JVM stops all threads for each, so a batch grows while
 * its pause is short and shrinks when it is long.  It is never so small that the number of calls
 * becomes a cost of its own. */
static void retransform_in_batches(struct retransform_passage *passage, const jclass *wanted,
                                   jint count)
{
    const jint least = count / MAX_CALLS > MIN_BATCH ? count / MAX_CALLS : MIN_BATCH;
    jint most = least;
    while (count > 0) {
        jint batch = most < count ? most : count;
        assert(batch > 0 && most >= least);
        int64_t start = tracing_blocked_ns();
        if (!retransform_batch_bisecting(passage, wanted, batch))
            return;
        int64_t pause = tracing_blocked_ns() - start;
        wanted += batch;
        count -= batch;
        if (pause < SHORT_PAUSE_NS && most <= LARGEST_BATCH / 2)
            most *= 2;
        else if (pause > LONG_PAUSE_NS && most / 2 >= least)
            most /= 2;
    }
}

/* Rewrite classes that were loaded before recording began. Those that nobody wants to trace are
 * left out before, because each retransformation stops the VM. */
static void retransform_loaded_classes(jvmtiEnv *jvmti, JNIEnv *jni)
{
    struct retransform_passage passage = {.jvmti = jvmti};
    jclass *loaded;
    jint count;
    if ((*jvmti)->GetLoadedClasses(jvmti, &count, &loaded) != JVMTI_ERROR_NONE)
        return;
    jint kept = tracing_keep_wanted_classes(jvmti, jni, loaded, count);
    retransform_in_batches(&passage, loaded, kept);
    for (jint i = 0; i < kept; i++)
        (*jni)->DeleteLocalRef(jni, loaded[i]);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)loaded);
    if (tv_agent.options.verbose)
        tv_agent_say("%d of %d loaded classes are to be traced; %u retransformed in %u calls, %u "
                     "refused",
                     (int)kept, (int)count, passage.done, passage.calls, passage.refused);
}

void tv_agent_tracing_retransform(void)
{
    JNIEnv *jni;
    boot_rewritten = boot_rewritten || tv_agent.options.boot;
    tracing_note_options(atomic_load(&tv_agent.rewrites));
    if (!tv_agent.can_retransform ||
        (*tv_agent.vm)->GetEnv(tv_agent.vm, (void **)&jni, JNI_VERSION_1_6) != JNI_OK)
        return;
    /* Only a hint: HotSpot makes room for more references than this. */
    bool framed = (*jni)->PushLocalFrame(jni, MAX_REFERENCES) == 0;
    if (!framed)
        (*jni)->ExceptionClear(jni);
    retransform_loaded_classes(tv_agent.jvmti, jni);
    if (framed)
        (*jni)->PopLocalFrame(jni, NULL);
    if (!atomic_load(&tv_agent.rewrites))
        rewritten_by.several = false;
}

void tv_agent_tracing_report(void)
{
    tv_agent_say("%u methods of %u classes rewritten, %u left alone, %u classes not understood",
                 atomic_load(&methods), atomic_load(&classes), atomic_load(&refused),
                 atomic_load(&not_understood));
}
