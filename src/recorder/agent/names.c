/* SPDX-License-Identifier: Apache-2.0 */
/* names.c - names of methods, classes, lines and threads, and marks on threads (see agent.h). */
#include <string.h>

#include "recorder/agent/agent.h"
#include "recorder/samples/samples.h"
#include "recorder/text.h"

/* Maximum number of levels of thread groups to search. */
#define GROUPS 64

/* Copy and release a string of the JVM. `skip` bytes are cut off at both ends; if there are any,
 * slashes become dots. NULL gives "". */
static void name_copy_and_free(char *text, size_t skip, char out[TV_AGENT_NAME])
{
    jvmtiEnv *jvmti = tv_agent.jvmti;
    out[0] = '\0';
    if (text == NULL)
        return;
    size_t length = strlen(text);
    length = length > 2 * skip ? length - 2 * skip : 0;
    tv_text_from_jvm(out, TV_AGENT_NAME, text + skip, length, skip > 0 ? "/." : NULL);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)text);
}

bool tv_agent_method_read(JNIEnv *jni, jmethodID method, struct tv_agent_method *out)
{
    jvmtiEnv *jvmti = tv_agent.jvmti;
    char *name = NULL, *signature = NULL, *class_name = NULL, *file = NULL;
    jclass class = NULL;
    if ((*jvmti)->GetMethodDeclaringClass(jvmti, method, &class) != JVMTI_ERROR_NONE)
        return false;
    if ((*jvmti)->GetMethodName(jvmti, method, &name, &signature, NULL) != JVMTI_ERROR_NONE) {
        (*jni)->DeleteLocalRef(jni, class);
        return false;
    }
    if ((*jvmti)->GetClassSignature(jvmti, class, &class_name, NULL) != JVMTI_ERROR_NONE)
        class_name = NULL;
    if ((*jvmti)->GetSourceFileName(jvmti, class, &file) != JVMTI_ERROR_NONE)
        file = NULL;
    (*jni)->DeleteLocalRef(jni, class);
    name_copy_and_free(class_name, 1, out->class_name);
    if (out->class_name[0] == '\0')
        snprintf(out->class_name, sizeof out->class_name, "<Unknown Class>");
    name_copy_and_free(name, 0, out->name);
    name_copy_and_free(signature, 0, out->signature);
    name_copy_and_free(file, 0, out->file);
    return true;
}

/* Return "byte" for 'B', and so on. */
static const char *class_primitive_name(char letter)
{
    static const char letters[] = "ZBCSIJFD";
    static const char *const names[] = {"boolean", "byte", "char",  "short",
                                        "int",     "long", "float", "double"};
    const char *found = letter == '\0' ? NULL : strchr(letters, letter);
    return found == NULL ? "[unknown]" : names[found - letters];
}

void tv_agent_class_read(jclass class, char out[TV_AGENT_NAME])
{
    jvmtiEnv *jvmti = tv_agent.jvmti;
    char *signature = NULL;
    char name[TV_AGENT_NAME];
    size_t dimensions = 0;
    if (class == NULL ||
        (*jvmti)->GetClassSignature(jvmti, class, &signature, NULL) != JVMTI_ERROR_NONE) {
        snprintf(out, TV_AGENT_NAME, "[unknown]");
        return;
    }
    while (signature[dimensions] == '[')
        dimensions++;
    const char *element = signature + dimensions;
    size_t length = strlen(element);
    if (element[0] == 'L' && length > 2)
        tv_text_from_jvm(name, sizeof name, element + 1, length - 2, "/.");
    else
        snprintf(name, sizeof name, "%s", class_primitive_name(element[0]));
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    size_t at = (size_t)snprintf(out, TV_AGENT_NAME, "%s", name);
    for (; dimensions > 0 && at + 2 < TV_AGENT_NAME; dimensions--, at += 2)
        memcpy(out + at, "[]", 3);
}

int32_t tv_agent_line_of(jmethodID method, jlocation location)
{
    jvmtiEnv *jvmti = tv_agent.jvmti;
    jint count;
    jvmtiLineNumberEntry *lines;
    int32_t line = TV_SAMPLES_NO_LINE;
    jlocation nearest = -1;
    if (location < 0)
        return TV_SAMPLES_NATIVE_LINE;
    if ((*jvmti)->GetLineNumberTable(jvmti, method, &count, &lines) != JVMTI_ERROR_NONE)
        return line;
    for (jint i = 0; i < count; i++) {
        if (lines[i].start_location > location || lines[i].start_location < nearest)
            continue;
        nearest = lines[i].start_location;
        line = lines[i].line_number;
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)lines);
    return line;
}

bool tv_agent_thread_read(JNIEnv *jni, jthread thread, struct tv_agent_thread *out)
{
    jvmtiEnv *jvmti = tv_agent.jvmti;
    jvmtiThreadInfo info;
    jvmtiThreadGroupInfo group;
    if ((*jvmti)->GetThreadInfo(jvmti, thread, &info) != JVMTI_ERROR_NONE)
        return false;
    name_copy_and_free(info.name, 0, out->name);
    out->group[0] = '\0';
    out->has_group =
        info.thread_group != NULL &&
        (*jvmti)->GetThreadGroupInfo(jvmti, info.thread_group, &group) == JVMTI_ERROR_NONE;
    if (out->has_group) {
        name_copy_and_free(group.name, 0, out->group);
        (*jni)->DeleteLocalRef(jni, group.parent);
    }
    (*jni)->DeleteLocalRef(jni, info.thread_group);
    (*jni)->DeleteLocalRef(jni, info.context_class_loader);
    return true;
}

bool tv_agent_mark_read(jvmtiEnv *marks, jthread thread, uint32_t *mark)
{
    jint state;
    jlong tag = 0;
    if ((*marks)->GetThreadState(marks, thread, &state) != JVMTI_ERROR_NONE ||
        (state & JVMTI_THREAD_STATE_ALIVE) == 0 ||
        (*marks)->GetTag(marks, thread, &tag) != JVMTI_ERROR_NONE)
        return false;
    *mark = (uint32_t)tag;
    return true;
}

void tv_agent_mark(jvmtiEnv *marks, jthread thread, uint32_t mark)
{
    (void)(*marks)->SetTag(marks, thread, mark);
}

void tv_agent_mark_self(jvmtiEnv *marks, JNIEnv *jni, uint32_t mark)
{
    jthread self;
    if ((*marks)->GetCurrentThread(marks, &self) != JVMTI_ERROR_NONE)
        return;
    tv_agent_mark(marks, self, mark);
    (*jni)->DeleteLocalRef(jni, self);
}

/* Replace *group by its parent. Return whether the group's name was `wanted`. */
static bool thread_group_read(JNIEnv *jni, jthreadGroup *group, const char *wanted)
{
    jvmtiEnv *jvmti = tv_agent.jvmti;
    jvmtiThreadGroupInfo info;
    char name[TV_AGENT_NAME];
    if ((*jvmti)->GetThreadGroupInfo(jvmti, *group, &info) != JVMTI_ERROR_NONE)
        info = (jvmtiThreadGroupInfo){0};
    name_copy_and_free(info.name, 0, name);
    (*jni)->DeleteLocalRef(jni, *group);
    *group = info.parent;
    return strcmp(name, wanted) == 0;
}

/* Return whether a group of that name is the one of a thread, or around it. */
static bool thread_group_is_below(JNIEnv *jni, jthread thread, const char *wanted)
{
    jvmtiEnv *jvmti = tv_agent.jvmti;
    jvmtiThreadInfo info;
    bool found = false;
    if ((*jvmti)->GetThreadInfo(jvmti, thread, &info) != JVMTI_ERROR_NONE)
        return false;
    (*jvmti)->Deallocate(jvmti, (unsigned char *)info.name);
    (*jni)->DeleteLocalRef(jni, info.context_class_loader);
    jthreadGroup group = info.thread_group;
    for (unsigned i = 0; group != NULL && !found && i < GROUPS; i++)
        found = thread_group_read(jni, &group, wanted);
    (*jni)->DeleteLocalRef(jni, group);
    return found;
}

bool tv_agent_thread_matches(JNIEnv *jni, jthread thread, const char *pattern)
{
    struct tv_agent_thread names;
    if (pattern == NULL || strcmp(pattern, "all") == 0)
        return true;
    if (strncmp(pattern, "group:", 6) == 0)
        return thread_group_is_below(jni, thread, pattern + 6);
    return tv_agent_thread_read(jni, thread, &names) &&
           tv_wildcard_matches_any(pattern, ':', names.name);
}
