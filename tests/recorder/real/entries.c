/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entries.c - an agent that knows nothing of the recorder and counts the entries of each Java
 * method by JVMTI's MethodEntry event, to compare with.  Under it HotSpot interprets everything.
 *
 *     java -agentpath:libentries.so=FILE ...
 *
 * FILE has a line for each method at the end: class, name, signature and entries, with tabs
 * between them.  Native methods, and classes of the boot loader, are left out as the recorder
 * leaves them out.
 */
#include <jvmti.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define METHODS (1u << 20) /* a power of two */

struct entry {
    _Atomic(jmethodID) method;
    atomic_ullong count;
};

static struct entry entries[METHODS];
static char *path;

static struct entry *entry_of(jmethodID method)
{
    uint64_t hash = (uint64_t)(uintptr_t)method * 0x9E3779B97F4A7C15u;
    for (uint32_t i = (uint32_t)(hash >> 44);; i++) {
        struct entry *entry = &entries[i % METHODS];
        jmethodID none = NULL;
        if (atomic_load(&entry->method) == method ||
            atomic_compare_exchange_strong(&entry->method, &none, method) || none == method)
            return entry;
    }
}

static void JNICALL on_entry(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jmethodID method)
{
    (void)jvmti, (void)jni, (void)thread;
    atomic_fetch_add_explicit(&entry_of(method)->count, 1, memory_order_relaxed);
}

static void print_entry(FILE *file, jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method,
                        unsigned long long count)
{
    jclass class = NULL;
    jobject loader = NULL;
    jboolean is_native = JNI_FALSE;
    char *class_signature = NULL, *name = NULL, *signature = NULL;
    if ((*jvmti)->GetMethodDeclaringClass(jvmti, method, &class) != JVMTI_ERROR_NONE)
        return; /* the class is unloaded */
    (*jvmti)->IsMethodNative(jvmti, method, &is_native);
    if (!is_native && (*jvmti)->GetClassLoader(jvmti, class, &loader) == JVMTI_ERROR_NONE &&
        loader != NULL &&
        (*jvmti)->GetClassSignature(jvmti, class, &class_signature, NULL) == JVMTI_ERROR_NONE &&
        (*jvmti)->GetMethodName(jvmti, method, &name, &signature, NULL) == JVMTI_ERROR_NONE)
        fprintf(file, "%.*s\t%s\t%s\t%llu\n", (int)strlen(class_signature) - 2, class_signature + 1,
                name, signature, count);
    (*jni)->DeleteLocalRef(jni, loader);
    (*jni)->DeleteLocalRef(jni, class);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)class_signature);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
}

static void JNICALL on_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
    FILE *file = fopen(path, "w");
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE, JVMTI_EVENT_METHOD_ENTRY, NULL);
    if (file == NULL)
        return;
    for (uint32_t i = 0; i < METHODS; i++)
        if (atomic_load(&entries[i].method) != NULL)
            print_entry(file, jvmti, jni, atomic_load(&entries[i].method),
                        atomic_load(&entries[i].count));
    fclose(file);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *unused)
{
    jvmtiEnv *jvmti;
    jvmtiCapabilities capabilities = {.can_generate_method_entry_events = 1};
    jvmtiEventCallbacks callbacks = {.MethodEntry = on_entry, .VMDeath = on_death};
    (void)unused;
    path = options == NULL ? NULL : strdup(options);
    if (path == NULL || (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK ||
        (*jvmti)->AddCapabilities(jvmti, &capabilities) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE)
        return JNI_ERR;
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_METHOD_ENTRY, NULL);
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL);
    return JNI_OK;
}
