/* SPDX-License-Identifier: Apache-2.0 */
/* tracing.c - which methods are rewritten, and their numbers.  See agent.h. */
#include <stdlib.h>
#include <string.h>

#include "recorder/agent/agent.h"
#include "recorder/agent/rewrite.h"
#include "recorder/agent/texts.h"
#include "recorder/recording.h"

#define LONGEST_NAME 65536

/* HotSpot takes no larger promise. */
#define MOST_REFERENCES 4096

/* Counted for the report. */
static atomic_uint classes, methods, refused, not_understood;

/* By this recording or one before it, whose hooks are to go. */
static bool boot_rewritten;

/* Never: the hooks themselves, the root of all constructors, and the facade, whose methods start
 * and stop what is recorded. */
static const char never[] =
    "java.traceview.*:java.lang.Object:android.os.Debug:dalvik.system.SamplingProfiler*"
    ":traceview.Recorder";

static char *text_of(struct tv_class_span span, bool dots)
{
    /* Longest: a question mark or less for each byte. */
    size_t room = span.length + 1;
    char *text = malloc(room);
    if (text != NULL)
        tv_text_from_jvm(text, room, span.data, span.length, dots ? "/." : NULL);
    return text;
}

bool tv_agent_tracing_wants(const char *class_name)
{
    const struct tv_agent_options *options = &tv_agent.options;
    return !tv_text_matches_any(never, class_name) &&
           (options->include == NULL || tv_text_matches_any(options->include, class_name)) &&
           (options->exclude == NULL || !tv_text_matches_any(options->exclude, class_name));
}

static uint32_t add_method(void *context, const struct tv_rewrite_method *method)
{
    const char *class_name = context;
    char *name = text_of(method->name, false);
    char *signature = text_of(method->signature, false);
    char *source = text_of(method->source, false);
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

/* The class's name with dots, for free(); NULL when it is not to be traced. */
static char *wanted_name(const unsigned char *bytes, size_t length)
{
    struct tv_classfile file;
    struct tv_class_span span;
    char *name = NULL;
    if (!tv_classfile_read(&file, bytes, length))
        return NULL;
    if (tv_classfile_class_name(&file, file.this_class, &span))
        name = text_of(span, true);
    tv_classfile_release(&file);
    if (name == NULL || tv_agent_tracing_wants(name))
        return name;
    free(name);
    return NULL;
}

static void hand_over(jvmtiEnv *jvmti, const struct tv_rewrite_result *result, jint *new_length,
                      unsigned char **new_bytes)
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
    char *class_name = wanted_name(bytes, (size_t)length);
    if (class_name == NULL)
        return;
    struct tv_rewrite_plan plan = {TV_AGENT_HOOKS, add_method, class_name};
    struct tv_rewrite_result result;
    if (tv_rewrite_class(bytes, (size_t)length, &plan, &result))
        hand_over(jvmti, &result, new_length, new_bytes);
    else
        atomic_fetch_add(&not_understood, 1);
    atomic_fetch_add(&refused, result.refused);
    free(result.bytes);
    free(class_name);
}

/* One at a time: a class that refuses must not hold up the others. */
static void retransform(jvmtiEnv *jvmti, jclass class)
{
    jboolean modifiable = JNI_FALSE;
    jobject loader = NULL;
    JNIEnv *jni;
    if ((*jvmti)->IsModifiableClass(jvmti, class, &modifiable) != JVMTI_ERROR_NONE || !modifiable ||
        (*jvmti)->GetClassLoader(jvmti, class, &loader) != JVMTI_ERROR_NONE)
        return;
    if ((*tv_agent.vm)->GetEnv(tv_agent.vm, (void **)&jni, JNI_VERSION_1_6) == JNI_OK)
        (*jni)->DeleteLocalRef(jni, loader);
    if (loader == NULL && !boot_rewritten)
        return;
    (void)(*jvmti)->RetransformClasses(jvmti, 1, &class);
}

static void retransform_all(jvmtiEnv *jvmti, JNIEnv *jni, jclass *loaded, jint count)
{
    for (jint i = 0; i < count; i++) {
        retransform(jvmti, loaded[i]);
        (*jni)->DeleteLocalRef(jni, loaded[i]);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)loaded);
}

void tv_agent_tracing_retransform(void)
{
    jvmtiEnv *jvmti = tv_agent.jvmti;
    JNIEnv *jni;
    jint count;
    jclass *loaded;
    boot_rewritten = boot_rewritten || tv_agent.options.boot;
    if (!tv_agent.can_retransform ||
        (*tv_agent.vm)->GetEnv(tv_agent.vm, (void **)&jni, JNI_VERSION_1_6) != JNI_OK)
        return;
    /* A promise: there are more classes than that, and the machine makes room. */
    bool framed = (*jni)->PushLocalFrame(jni, MOST_REFERENCES) == 0;
    if (!framed)
        (*jni)->ExceptionClear(jni);
    if ((*jvmti)->GetLoadedClasses(jvmti, &count, &loaded) == JVMTI_ERROR_NONE)
        retransform_all(jvmti, jni, loaded, count);
    if (framed)
        (*jni)->PopLocalFrame(jni, NULL);
}

void tv_agent_tracing_report(void)
{
    tv_agent_say("%u methods of %u classes rewritten, %u left alone, %u classes not understood",
                 atomic_load(&methods), atomic_load(&classes), atomic_load(&refused),
                 atomic_load(&not_understood));
}
