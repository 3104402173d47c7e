/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facade.c - native methods of the Java classes in src/recorder/java.
 *
 * JNI_OnLoad finds the classes with the class loader that loads this library, which is the loader
 * of these classes. The functions return error codes or messages; the Java side throws the
 * exceptions.
 *
 *     program  ->  android.os.Debug, dalvik.system.SamplingProfiler, traceview.Recorder  (bundle)
 *                        | System.load of the path in the property "traceview.agent"
 *                        v
 *                  this file  ->  the session and the profiler of the same agent
 *
 * The agent may have come with -agentpath or not at all; then traceview.Recorder connects it.  On
 * ART these classes are the system's own, so nothing is announced there.
 *
 * A profiler lives in Java as a number, its address, which Java frees when nobody has the object
 * any more.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/agent/agent.h"
#include "recorder/agent/profiler.h"
#include "recorder/recording.h"

#define BILLION 1000000000
#define FASTEST 10000

static JavaVM *machine;

/* Return the error text in the C locale, for the exception that Java throws; NULL for 0. */
static jstring facade_error_text(JNIEnv *jni, int error)
{
    if (error == 0)
        return NULL;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    jstring text =
        (*jni)->NewStringUTF(jni, plain == (locale_t)0 ? "?" : strerror_l(-error, plain));
    if (plain != (locale_t)0)
        freelocale(plain);
    return text;
}

/* Copy the string as modified UTF-8. The caller frees it. Return NULL for null or without memory.
 */
static char *facade_copy_string(JNIEnv *jni, jstring string)
{
    const char *text = string == NULL ? NULL : (*jni)->GetStringUTFChars(jni, string, NULL);
    if (text == NULL)
        return NULL;
    char *copy = strdup(text);
    (*jni)->ReleaseStringUTFChars(jni, string, text);
    return copy;
}

/* Copy the array and add a NUL. The caller frees it. Return NULL for null or without memory. */
static char *facade_byte_array(JNIEnv *jni, jbyteArray array)
{
    jsize length = (*jni)->GetArrayLength(jni, array);
    char *bytes = calloc((size_t)length + 1, 1);
    if (bytes != NULL)
        (*jni)->GetByteArrayRegion(jni, array, 0, length, (jbyte *)bytes);
    return bytes;
}

/* Make this library an agent of the JVM, with the options. Return why it cannot be one; NULL: it
 * is. */
static jstring JNICALL facade_connect_recorder(JNIEnv *jni, jclass class, jstring options)
{
    char why[256] = "";
    char *text = facade_copy_string(jni, options);
    (void)class;
    if ((*jni)->ExceptionCheck(jni))
        return NULL;
    bool fine = tv_agent_connect(machine, text, why, sizeof why);
    free(text);
    return fine ? NULL : (*jni)->NewStringUTF(jni, why);
}

/* Start a trace for Java code.  As with Android's Debug class, a second start is no error. */
static int facade_start_trace(JNIEnv *jni, struct tv_agent_trace *wanted, size_t length)
{
    if (wanted->path == NULL)
        return -ENOMEM;
    if (strlen(wanted->path) != length)
        return -EINVAL; /* the name contains a NUL */
    if (wanted->interval_us == 0 && !tv_agent_want_calls(jni))
        return -ENOTSUP;
    int error = tv_agent_session_start_trace(wanted);
    if (error == -EBUSY)
        tv_agent_say("%s: not started, calls are recorded already", wanted->path);
    return error == -EBUSY ? 0 : error;
}

/* Start a trace with the limits of Android's Debug class. An array of bytes keeps names of files
 * that are not Unicode. */
static jstring JNICALL facade_debug_start(JNIEnv *jni, jclass class, jbyteArray path, jint buffer,
                                          jboolean allocations, jint interval_us)
{
    uint64_t bytes = (uint64_t)buffer;
    char *name = facade_byte_array(jni, path);
    struct tv_agent_trace wanted = {
        .path = name,
        .buffer_bytes = bytes < TV_RECORDING_BUFFER_MIN     ? TV_RECORDING_BUFFER_MIN
                        : bytes > TV_RECORDING_BUFFER_LIMIT ? TV_RECORDING_BUFFER_LIMIT
                                                            : bytes,
        .interval_us = interval_us,
        .count_allocs = allocations,
    };
    (void)class;
    int error = facade_start_trace(jni, &wanted, (size_t)(*jni)->GetArrayLength(jni, path));
    free(name);
    return facade_error_text(jni, error);
}

/* Stop the trace. No trace is no error, as in Android. */
static jstring JNICALL facade_debug_stop(JNIEnv *jni, jclass class)
{
    (void)class;
    int error = tv_agent_session_stop_trace();
    return facade_error_text(jni, error == -ENOENT ? 0 : error);
}

static struct tv_profiler *facade_profiler_handle(jlong address)
{
    return (struct tv_profiler *)(uintptr_t)address;
}

/* Return the address of a new profiler; 0: an exception is pending, or there is no memory. */
static jlong JNICALL facade_profiler_make(JNIEnv *jni, jclass class, jobject set, jint depth)
{
    (void)class;
    jclass sets = (*jni)->FindClass(jni, "dalvik/system/SamplingProfiler$ThreadSet");
    jmethodID threads =
        sets == NULL ? NULL : (*jni)->GetMethodID(jni, sets, "threads", "()[Ljava/lang/Thread;");
    if (threads == NULL)
        return 0;
    struct tv_profiler *profiler = tv_profiler_new(
        jni, &(struct tv_profiler_options){.set = set, .threads = threads, .depth = depth});
    return (jlong)(uintptr_t)profiler;
}

/* Return 0, or the positive errno of tv_profiler_start. */
static jint JNICALL facade_profiler_start(JNIEnv *jni, jobject self, jlong profiler, jint rate)
{
    (void)jni;
    (void)self;
    return -tv_profiler_start(facade_profiler_handle(profiler),
                              BILLION / (rate > FASTEST ? FASTEST : rate));
}

static void JNICALL facade_profiler_stop(JNIEnv *jni, jobject self, jlong profiler)
{
    (void)jni;
    (void)self;
    tv_profiler_stop(facade_profiler_handle(profiler));
}

static void JNICALL facade_profiler_shut_down(JNIEnv *jni, jobject self, jlong profiler)
{
    (void)jni;
    (void)self;
    tv_profiler_shut_down(facade_profiler_handle(profiler));
}

/* Return the samples as UTF-8 text, or NULL while sampling is on or an exception is pending. */
static jbyteArray JNICALL facade_profiler_write(JNIEnv *jni, jobject self, jlong profiler)
{
    char *text = NULL;
    size_t length = 0;
    jbyteArray array = NULL;
    struct tv_profiler_counts counts;
    (void)self;
    FILE *to = open_memstream(&text, &length);
    int error = to == NULL ? -ENOMEM
                           : tv_profiler_write(facade_profiler_handle(profiler), TV_SAMPLES_ANDROID,
                                               to, &counts);
    if (to != NULL && fclose(to) != 0 && error == 0)
        error = -ENOMEM;
    if (error == 0 && length <= INT_MAX)
        array = (*jni)->NewByteArray(jni, (jsize)length);
    if (array != NULL)
        (*jni)->SetByteArrayRegion(jni, array, 0, (jsize)length, (const jbyte *)text);
    free(text);
    jclass class = NULL;
    if (array == NULL && error != -EBUSY && !(*jni)->ExceptionCheck(jni))
        class = (*jni)->FindClass(jni, "java/lang/OutOfMemoryError");
    if (class != NULL)
        (*jni)->ThrowNew(jni, class, "hprof data");
    return array;
}

static void JNICALL facade_profiler_free(JNIEnv *jni, jclass class, jlong profiler)
{
    (void)jni;
    (void)class;
    tv_profiler_free(facade_profiler_handle(profiler));
}

/* JNI declares names as writable char * and functions as void *. */
struct native {
    char class_name[32];
    char name[16];
    char signature[64];
    void (*function)(void);
};

#define FUNCTION(name) ((void (*)(void))(name))

static struct native natives[] = {
    {"traceview/Recorder", "connect", "(Ljava/lang/String;)Ljava/lang/String;",
     FUNCTION(facade_connect_recorder)},
    {"android/os/Debug", "start", "([BIZI)Ljava/lang/String;", FUNCTION(facade_debug_start)},
    {"android/os/Debug", "stop", "()Ljava/lang/String;", FUNCTION(facade_debug_stop)},
    {"dalvik/system/SamplingProfiler", "make", "(Ldalvik/system/SamplingProfiler$ThreadSet;I)J",
     FUNCTION(facade_profiler_make)},
    {"dalvik/system/SamplingProfiler", "start", "(JI)I", FUNCTION(facade_profiler_start)},
    {"dalvik/system/SamplingProfiler", "stop", "(J)V", FUNCTION(facade_profiler_stop)},
    {"dalvik/system/SamplingProfiler", "shutDown", "(J)V", FUNCTION(facade_profiler_shut_down)},
    {"dalvik/system/SamplingProfiler", "write", "(J)[B", FUNCTION(facade_profiler_write)},
    {"dalvik/system/SamplingProfiler", "free", "(J)V", FUNCTION(facade_profiler_free)},
};

/* Bind a Java method to its function. */
static bool facade_register_natives(JNIEnv *jni, struct native *native)
{
    JNINativeMethod method = {native->name, native->signature, NULL};
    memcpy(&method.fnPtr, &native->function, sizeof native->function);
    jclass class = (*jni)->FindClass(jni, native->class_name);
    if (class == NULL)
        return false;
    bool fine = (*jni)->RegisterNatives(jni, class, &method, 1) == 0;
    (*jni)->DeleteLocalRef(jni, class);
    return fine;
}

/* Runs when Java code loads the library. A missing class leaves its exception pending. */
JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    JNIEnv *jni;
    (void)reserved;
    machine = vm;
    if ((*vm)->GetEnv(vm, (void **)&jni, JNI_VERSION_1_6) != JNI_OK)
        return JNI_ERR;
    for (size_t i = 0; i < sizeof natives / sizeof natives[0]; i++)
        if (!facade_register_natives(jni, &natives[i]))
            return JNI_ERR;
    return JNI_VERSION_1_6;
}

/* Set a system property; an exception stays pending. */
static void facade_set_property(JNIEnv *jni, const char *name, const char *value)
{
    jclass class = (*jni)->FindClass(jni, "java/lang/System");
    if (class == NULL)
        return;
    jmethodID method = (*jni)->GetStaticMethodID(
        jni, class, "setProperty", "(Ljava/lang/String;Ljava/lang/String;)Ljava/lang/String;");
    jstring key = method == NULL ? NULL : (*jni)->NewStringUTF(jni, name);
    jstring text = key == NULL ? NULL : (*jni)->NewStringUTF(jni, value);
    if (text != NULL)
        (*jni)->DeleteLocalRef(jni, (*jni)->CallStaticObjectMethod(jni, class, method, key, text));
    (*jni)->DeleteLocalRef(jni, text);
    (*jni)->DeleteLocalRef(jni, key);
    (*jni)->DeleteLocalRef(jni, class);
}

void tv_agent_facade_announce(JNIEnv *jni)
{
    Dl_info info;
    if (tv_agent.is_art || dladdr(&tv_agent, &info) == 0 || info.dli_fname == NULL)
        return;
    char *path = realpath(info.dli_fname, NULL);
    if (path != NULL)
        facade_set_property(jni, "traceview.agent", path);
    free(path);
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
}
