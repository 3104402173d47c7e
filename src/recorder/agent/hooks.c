/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks.c - the class java.traceview.Hooks, whose six native methods rewritten methods call.
 *
 * The class belongs to the unnamed module of the boot loader, which every module can read after its
 * classes have been rewritten. Its package starts with java., which every class loader delegates to
 * its parent; by default, OSGi loaders delegate nothing else. In a package of java.base, such as
 * java.lang, HotSpot would print a warning for each native method that is bound.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/agent/agent.h"
#include "recorder/agent/classfile.h"
#include "recorder/fast_path.h"
#include "recorder/memory.h"
#include "recorder/recording.h"
#include "recorder/text.h"

enum { PUBLIC = 1, STATIC = 8, FINAL = 0x10, SUPER = 0x20, NATIVE = 0x100 };

/* The thread has been part of a recording. */
static __thread bool joined __attribute__((tls_model("initial-exec")));

#define HOOKS 6

static _Atomic(jmethodID) hooks[HOOKS];

/* A virtual thread has an empty name unless the program sets one. */
static void name_virtual(jvmtiEnv *jvmti, JNIEnv *jni, char *name, size_t room)
{
    jthread self;
    if (tv_recording_is_fiber() && (*jvmti)->GetCurrentThread(jvmti, &self) == JVMTI_ERROR_NONE)
        tv_agent_virtual_name(jni, self, name, room);
}

static void hooks_read_thread_name(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    jvmtiThreadInfo info;
    char name[256];
    if ((*jvmti)->GetThreadInfo(jvmti, thread, &info) != JVMTI_ERROR_NONE || info.name == NULL)
        return;
    tv_text_from_jvm(name, sizeof name, info.name, strlen(info.name), NULL);
    if (name[0] == '\0')
        name_virtual(jvmti, jni, name, sizeof name);
    tv_recording_name_thread(name);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)info.name);
}

/* Name the calling thread. The local frame frees the references in jvmtiThreadInfo, which would
 * stay until the end of the event otherwise. */
static void hooks_name_thread(jvmtiEnv *jvmti, jthread thread)
{
    JNIEnv *jni;
    if (!tv_agent_hold())
        return;
    if ((*tv_agent.vm)->GetEnv(tv_agent.vm, (void **)&jni, JNI_VERSION_1_6) == JNI_OK &&
        (*jni)->PushLocalFrame(jni, 8) == 0) {
        hooks_read_thread_name(jvmti, jni, thread);
        (*jni)->PopLocalFrame(jni, NULL);
    }
    tv_agent_release();
}

void tv_agent_hooks_end_thread(jvmtiEnv *jvmti, jthread thread)
{
    if (!joined)
        return; /* no call of this thread was recorded */
    hooks_name_thread(jvmti, thread);
    tv_recording_end_thread();
}

static void hooks_join_thread(void)
{
    joined = joined || !tv_recording_is_fiber();
    hooks_name_thread(tv_agent.jvmti, NULL);
}

void tv_agent_hooks_name_threads(void)
{
    tv_recorder.host.joined = hooks_join_thread;
}

static void JNICALL hooks_on_enter(JNIEnv *jni, jclass class, jint id)
{
    (void)jni;
    (void)class;
    tv_fast_enter((uint64_t)(uint32_t)id << 2, TV_FRAME_OFF_STACK);
}

static void JNICALL hooks_on_leave(JNIEnv *jni, jclass class, jint id)
{
    (void)jni;
    (void)class;
    tv_fast_leave((uint64_t)(uint32_t)id << 2 | TV_MT_EXIT, 0, false);
}

static void JNICALL hooks_unwind_calls(JNIEnv *jni, jclass class, jint id)
{
    (void)jni;
    (void)class;
    tv_fast_leave((uint64_t)(uint32_t)id << 2 | TV_MT_UNROLL, 0, false);
}

static void JNICALL hooks_on_exception_caught(JNIEnv *jni, jclass class, jint id)
{
    (void)jni;
    (void)class;
    tv_recorder_method_caught((uint64_t)(uint32_t)id << 2);
}

static void JNICALL hooks_on_object_made(JNIEnv *jni, jclass class, jint id)
{
    (void)jni;
    (void)class;
    tv_recorder_super_returned((uint64_t)(uint32_t)id << 2);
}

static void JNICALL hooks_on_handler(JNIEnv *jni, jclass class, jint id)
{
    (void)jni;
    (void)class;
    tv_recorder_constructor_caught((uint64_t)(uint32_t)id << 2);
}

static void hooks_put_utf8_constant(struct tv_byte_buffer *out, const char *text)
{
    assert(strlen(text) <= UINT16_MAX);
    tv_byte_buffer_put_u8(out, TV_CONSTANT_TEXT);
    tv_byte_buffer_put_u16(out, (unsigned)strlen(text));
    tv_byte_buffer_put(out, text, strlen(text));
}

static void hooks_put_class_constant(struct tv_byte_buffer *out, unsigned name)
{
    tv_byte_buffer_put_u8(out, TV_CONSTANT_CLASS);
    tv_byte_buffer_put_u16(out, name);
}

/* HotSpot hides methods of the boot loader with this annotation from the stack traces of programs.
 * The first name is for JDK 13 and older, the second for later ones; each JVM ignores the other
 * name. */
enum { ANNOTATIONS = 12, FIRST_ANNOTATION };

static void hooks_put_annotations(struct tv_byte_buffer *out)
{
    tv_byte_buffer_put_u16(out, 1); /* one method attribute */
    tv_byte_buffer_put_u16(out, ANNOTATIONS);
    tv_byte_buffer_put_u32(out, 2 + 2 * 4);
    tv_byte_buffer_put_u16(out, 2);
    for (unsigned i = 0; i < 2; i++) {
        tv_byte_buffer_put_u16(out, FIRST_ANNOTATION + i);
        tv_byte_buffer_put_u16(out, 0); /* no values */
    }
}

/* Build the class file. Version 49 needs no StackMapTable. */
static void hooks_build_class(struct tv_byte_buffer *out)
{
    tv_byte_buffer_put_u32(out, 0xCAFEBABE);
    tv_byte_buffer_put_u32(out, 49);
    tv_byte_buffer_put_u16(out, 9 + HOOKS);
    hooks_put_utf8_constant(out, TV_AGENT_HOOKS);                         /* #1 */
    hooks_put_class_constant(out, 1);                                     /* #2 */
    hooks_put_utf8_constant(out, "java/lang/Object");                     /* #3 */
    hooks_put_class_constant(out, 3);                                     /* #4 */
    hooks_put_utf8_constant(out, "(I)V");                                 /* #5 */
    hooks_put_utf8_constant(out, "enter");                                /* #6 */
    hooks_put_utf8_constant(out, "exit");                                 /* #7 */
    hooks_put_utf8_constant(out, "unroll");                               /* #8 */
    hooks_put_utf8_constant(out, "caught");                               /* #9 */
    hooks_put_utf8_constant(out, "made");                                 /* #10 */
    hooks_put_utf8_constant(out, "handled");                              /* #11 */
    hooks_put_utf8_constant(out, "RuntimeVisibleAnnotations");            /* #12 */
    hooks_put_utf8_constant(out, "Ljava/lang/invoke/LambdaForm$Hidden;"); /* #13 */
    hooks_put_utf8_constant(out, "Ljdk/internal/vm/annotation/Hidden;");  /* #14 */
    tv_byte_buffer_put_u16(out, PUBLIC | FINAL | SUPER);
    tv_byte_buffer_put_u16(out, 2);
    tv_byte_buffer_put_u16(out, 4);
    tv_byte_buffer_put_u32(out, 0); /* no interfaces, no fields */
    tv_byte_buffer_put_u16(out, HOOKS);
    for (unsigned name = 6; name < 6 + HOOKS; name++) {
        tv_byte_buffer_put_u16(out, PUBLIC | STATIC | NATIVE);
        tv_byte_buffer_put_u16(out, name);
        tv_byte_buffer_put_u16(out, 5);
        hooks_put_annotations(out);
    }
    tv_byte_buffer_put_u16(out, 0);
}

/* JNI declares names as writable char * and functions as void *. */
static bool hooks_register_natives(JNIEnv *jni, jclass class)
{
    static char names[HOOKS][8] = {"enter", "exit", "unroll", "caught", "made", "handled"};
    static char signature[] = "(I)V";
    void(JNICALL *const functions[])(JNIEnv *, jclass, jint) = {
        hooks_on_enter,       hooks_on_leave,  hooks_unwind_calls, hooks_on_exception_caught,
        hooks_on_object_made, hooks_on_handler};
    JNINativeMethod methods[HOOKS];
    for (unsigned i = 0; i < HOOKS; i++) {
        methods[i] = (JNINativeMethod){names[i], signature, NULL};
        memcpy(&methods[i].fnPtr, &functions[i], sizeof functions[i]);
    }
    if ((*jni)->RegisterNatives(jni, class, methods, HOOKS) != 0)
        return false;
    for (unsigned i = 0; i < HOOKS; i++)
        atomic_store(&hooks[i], (*jni)->GetStaticMethodID(jni, class, names[i], signature));
    return !(*jni)->ExceptionCheck(jni);
}

jint tv_agent_hooks_frames(const jvmtiFrameInfo *frames, jint depth)
{
    for (unsigned i = 0; i < HOOKS && depth > 0; i++)
        if (frames[0].method == atomic_load_explicit(&hooks[i], memory_order_relaxed))
            return 1; /* hooks call no Java method, so at most one is on the stack */
    return 0;
}

bool tv_agent_hooks_define(JNIEnv *jni)
{
    struct tv_byte_buffer bytes = {0};
    jclass class = NULL;
    hooks_build_class(&bytes);
    if (!bytes.failed)
        class = (*jni)->DefineClass(jni, TV_AGENT_HOOKS, NULL, (const jbyte *)bytes.data,
                                    (jsize)bytes.length);
    tv_byte_buffer_release(&bytes);
    if (class != NULL && hooks_register_natives(jni, class))
        return true;
    (*jni)->ExceptionClear(jni);
    tv_agent_say("the class of the hooks could not be defined");
    return false;
}
