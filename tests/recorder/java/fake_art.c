/* SPDX-License-Identifier: Apache-2.0 */
/* fake_art.c - see fake_art.h. */
#include "fake_art.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_art fake_art = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread struct fake_thread *self;
static __thread int references;      /* local ones that were handed out */
static __thread int frames_from[64]; /* what there was when a frame was pushed */
static __thread int frames;

void fake_art_fault(const char *what)
{
    printf("fault: %s\n", what);
    atomic_fetch_add(&fake_art.faults, 1);
}

static struct fake_environment *of(jvmtiEnv *env)
{
    return &fake_art.of[env - fake_art.jvmti];
}

/* Every function says it, as ART's do first of all. */
static jvmtiError check(jvmtiEnv *env)
{
    if (env < fake_art.jvmti || env >= fake_art.jvmti + fake_art.environments)
        fake_art_fault("an environment that is none");
    if (fake_art.dead)
        fake_art_fault("asked after the machine's death");
    if (self != NULL || fake_art.phase == JVMTI_PHASE_ONLOAD)
        return JVMTI_ERROR_NONE;
    fake_art_fault("asked in a thread that is not attached");
    return JVMTI_ERROR_UNATTACHED_THREAD;
}

/* Was the same asked and refused before?  Remembers it. */
static bool was_refused(const char *text)
{
    static char seen[64][64];
    for (size_t i = 0; i < 64; i++) {
        if (seen[i][0] == '\0') {
            snprintf(seen[i], sizeof seen[i], "%s", text);
            return false;
        }
        if (strcmp(seen[i], text) == 0)
            return true;
    }
    return true;
}

/* Once is a question; twice the same one is not to have listened. */
static jvmtiError refuse(const char *what, int more, jvmtiError error)
{
    char text[64];
    snprintf(text, sizeof text, "refused already: %s %d", what, more);
    pthread_mutex_lock(&fake_art.lock);
    bool again = was_refused(text);
    pthread_mutex_unlock(&fake_art.lock);
    if (again)
        fake_art_fault(text);
    return error;
}

static char *text_of(const char *text)
{
    atomic_fetch_add(&fake_art.memory, 1);
    return strdup(text);
}

static jvmtiError JNICALL allocate(jvmtiEnv *env, jlong size, unsigned char **at)
{
    (void)env;
    *at = malloc((size_t)size);
    atomic_fetch_add(&fake_art.memory, 1);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *at)
{
    (void)env;
    if (at != NULL)
        atomic_fetch_sub(&fake_art.memory, 1);
    free(at);
    return JVMTI_ERROR_NONE;
}

/* art_jvmti.h, kPotentialCapabilities, and what it takes away when not debuggable. */
static jvmtiError JNICALL offer(jvmtiEnv *env, jvmtiCapabilities *offered)
{
    jvmtiCapabilities all = {
        .can_tag_objects = 1,
        .can_generate_field_modification_events = 1,
        .can_generate_field_access_events = 1,
        .can_get_bytecodes = 1,
        .can_get_synthetic_attribute = 1,
        .can_get_owned_monitor_info = 1,
        .can_get_current_contended_monitor = 1,
        .can_get_monitor_info = 1,
        .can_pop_frame = fake_art.debuggable,
        .can_redefine_classes = fake_art.debuggable,
        .can_signal_thread = 1,
        .can_get_source_file_name = 1,
        .can_get_line_numbers = 1,
        .can_get_source_debug_extension = 1,
        .can_access_local_variables = 1,
        .can_maintain_original_method_order = 1,
        .can_generate_single_step_events = 1,
        .can_generate_exception_events = 1,
        .can_generate_frame_pop_events = 1,
        .can_generate_breakpoint_events = 1,
        .can_suspend = 1,
        .can_generate_method_entry_events = !fake_art.no_calls,
        .can_generate_method_exit_events = !fake_art.no_calls,
        .can_generate_monitor_events = 1,
        .can_generate_vm_object_alloc_events = 1,
        .can_generate_native_method_bind_events = 1,
        .can_generate_garbage_collection_events = 1,
        .can_generate_object_free_events = 1,
        .can_force_early_return = fake_art.debuggable,
        .can_get_owned_monitor_stack_depth_info = 1,
        .can_retransform_classes = fake_art.debuggable,
    };
    *offered = all;
    return check(env);
}

static jvmtiError JNICALL add_capabilities(jvmtiEnv *env, const jvmtiCapabilities *wanted)
{
    jvmtiCapabilities offered;
    jvmtiError error = offer(env, &offered);
    unsigned char want[sizeof offered], have[sizeof offered], now[sizeof offered];
    memcpy(want, wanted, sizeof want);
    memcpy(have, &offered, sizeof have);
    memcpy(now, &of(env)->capabilities, sizeof now);
    for (size_t i = 0; i < sizeof want; i++) {
        if ((want[i] & ~have[i]) != 0) {
            fake_art_fault("a capability that is not offered");
            error = JVMTI_ERROR_NOT_AVAILABLE;
        }
        now[i] = (unsigned char)(now[i] | (want[i] & have[i]));
    }
    memcpy(&of(env)->capabilities, now, sizeof now);
    return error;
}

static jvmtiError JNICALL set_callbacks(jvmtiEnv *env, const jvmtiEventCallbacks *callbacks,
                                        jint size)
{
    jvmtiEventCallbacks *kept = &of(env)->callbacks;
    memcpy(kept, callbacks, (size_t)size < sizeof *kept ? (size_t)size : sizeof *kept);
    return check(env);
}

static bool is_allowed(jvmtiEnv *env, jvmtiEvent event)
{
    const jvmtiCapabilities *have = &of(env)->capabilities;
    switch (event) {
    case JVMTI_EVENT_VM_INIT:
    case JVMTI_EVENT_VM_DEATH:
    case JVMTI_EVENT_THREAD_START:
    case JVMTI_EVENT_THREAD_END:
        return true;
    case JVMTI_EVENT_METHOD_ENTRY:
        return have->can_generate_method_entry_events;
    case JVMTI_EVENT_METHOD_EXIT:
        return have->can_generate_method_exit_events;
    case JVMTI_EVENT_VM_OBJECT_ALLOC:
        return have->can_generate_vm_object_alloc_events;
    case JVMTI_EVENT_GARBAGE_COLLECTION_FINISH:
        return have->can_generate_garbage_collection_events;
    case JVMTI_EVENT_CLASS_FILE_LOAD_HOOK:
        fake_art_fault("class files, of which ART has none");
        return false;
    default:
        return false;
    }
}

static jvmtiError JNICALL set_mode(jvmtiEnv *env, jvmtiEventMode mode, jvmtiEvent event,
                                   jthread thread, ...)
{
    jvmtiError error = check(env);
    struct fake_thread *who = (struct fake_thread *)(void *)thread;
    bool on = mode == JVMTI_ENABLE;
    bool calls = event == JVMTI_EVENT_METHOD_ENTRY || event == JVMTI_EVENT_METHOD_EXIT;
    if (error != JVMTI_ERROR_NONE)
        return error;
    if (!is_allowed(env, event))
        return refuse("event", (int)event, JVMTI_ERROR_MUST_POSSESS_CAPABILITY);
    if (who != NULL && !calls)
        return refuse("event of a thread", (int)event, JVMTI_ERROR_ILLEGAL_ARGUMENT);
    if (calls && fake_art.phase != JVMTI_PHASE_LIVE)
        fake_art_fault("events of calls before the machine's birth");
    if (who == NULL)
        of(env)->enabled[event] = on;
    else
        *(event == JVMTI_EVENT_METHOD_ENTRY ? &who->entry : &who->exit) = on;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL property(jvmtiEnv *env, const char *name, char **value)
{
    if (strcmp(name, "java.vm.name") != 0)
        return refuse(name, 0, JVMTI_ERROR_NOT_AVAILABLE);
    *value = text_of("Dalvik");
    return check(env);
}

static jvmtiError JNICALL all_threads(jvmtiEnv *env, jint *count, jthread **threads)
{
    jthread *list = malloc(FAKE_THREADS * sizeof *list);
    jvmtiError error = check(env);
    atomic_fetch_add(&fake_art.memory, 1);
    *count = 0;
    pthread_mutex_lock(&fake_art.lock);
    for (int i = 0; i < FAKE_THREADS; i++)
        if (fake_art.threads[i].here)
            list[(*count)++] = (jthread)(void *)&fake_art.threads[i];
    pthread_mutex_unlock(&fake_art.lock);
    references += *count;
    *threads = list;
    return error;
}

static struct fake_thread *thread_of(jthread thread)
{
    struct fake_thread *who = (struct fake_thread *)(void *)thread;
    return who == NULL ? self : who;
}

static jvmtiError JNICALL thread_info(jvmtiEnv *env, jthread thread, jvmtiThreadInfo *info)
{
    struct fake_thread *who = thread_of(thread);
    if (!who->here)
        return JVMTI_ERROR_THREAD_NOT_ALIVE;
    *info = (jvmtiThreadInfo){.name = text_of(who->name), .priority = 5};
    info->thread_group = (jthreadGroup)(void *)&fake_art;
    info->context_class_loader = (jobject)(void *)&fake_art;
    references += 2;
    return check(env);
}

static jvmtiError JNICALL group_info(jvmtiEnv *env, jthreadGroup group, jvmtiThreadGroupInfo *info)
{
    (void)group;
    *info = (jvmtiThreadGroupInfo){.name = text_of("main"), .max_priority = 10};
    return check(env);
}

static jvmtiError JNICALL get_tag(jvmtiEnv *env, jobject thread, jlong *tag)
{
    if (!of(env)->capabilities.can_tag_objects)
        return refuse("tags", 0, JVMTI_ERROR_MUST_POSSESS_CAPABILITY);
    *tag = thread_of(thread)->tags[env - fake_art.jvmti];
    return check(env);
}

static jvmtiError JNICALL set_tag(jvmtiEnv *env, jobject thread, jlong tag)
{
    if (!of(env)->capabilities.can_tag_objects)
        return refuse("tags", 0, JVMTI_ERROR_MUST_POSSESS_CAPABILITY);
    thread_of(thread)->tags[env - fake_art.jvmti] = tag;
    return check(env);
}

static jvmtiError JNICALL current_thread(jvmtiEnv *env, jthread *thread)
{
    *thread = (jthread)(void *)self;
    references++;
    return check(env);
}

static jvmtiError JNICALL thread_state(jvmtiEnv *env, jthread thread, jint *state)
{
    *state = thread_of(thread)->here ? JVMTI_THREAD_STATE_ALIVE | JVMTI_THREAD_STATE_RUNNABLE : 0;
    return check(env);
}

static jvmtiError JNICALL stack_trace(jvmtiEnv *env, jthread thread, jint from, jint most,
                                      jvmtiFrameInfo *out, jint *count)
{
    struct fake_thread *who = thread_of(thread);
    *count = 0;
    pthread_mutex_lock(&fake_art.lock);
    for (int i = who->depth - 1 - from; i >= 0 && *count < most; i--)
        out[(*count)++] = (jvmtiFrameInfo){(jmethodID)(void *)who->stack[i], 3};
    pthread_mutex_unlock(&fake_art.lock);
    atomic_fetch_add(&who->looks, 1);
    return check(env);
}

static jvmtiError JNICALL method_name(jvmtiEnv *env, jmethodID id, char **name, char **signature,
                                      char **generic)
{
    struct fake_method *method = (struct fake_method *)(void *)id;
    if (name != NULL)
        *name = text_of(method->name);
    if (signature != NULL)
        *signature = text_of(method->signature);
    if (generic != NULL)
        *generic = NULL;
    return check(env);
}

static jvmtiError JNICALL declaring_class(jvmtiEnv *env, jmethodID id, jclass *class)
{
    *class = (jclass)(void *)((struct fake_method *)(void *)id)->class;
    references++;
    return check(env);
}

static jvmtiError JNICALL line_numbers(jvmtiEnv *env, jmethodID id, jint *count,
                                       jvmtiLineNumberEntry **lines)
{
    struct fake_method *method = (struct fake_method *)(void *)id;
    if (!of(env)->capabilities.can_get_line_numbers)
        return refuse("lines", 0, JVMTI_ERROR_MUST_POSSESS_CAPABILITY);
    if (method->line == 0)
        return JVMTI_ERROR_ABSENT_INFORMATION;
    *lines = malloc(2 * sizeof **lines);
    atomic_fetch_add(&fake_art.memory, 1);
    (*lines)[0] = (jvmtiLineNumberEntry){0, method->line};
    (*lines)[1] = (jvmtiLineNumberEntry){2, method->line + 1};
    *count = 2;
    return check(env);
}

static jvmtiError JNICALL class_signature(jvmtiEnv *env, jclass class, char **signature,
                                          char **generic)
{
    *signature = text_of(((struct fake_class *)(void *)class)->signature);
    if (generic != NULL)
        *generic = NULL;
    return check(env);
}

static jvmtiError JNICALL source_file(jvmtiEnv *env, jclass class, char **name)
{
    if (!of(env)->capabilities.can_get_source_file_name)
        return refuse("source file", 0, JVMTI_ERROR_MUST_POSSESS_CAPABILITY);
    *name = text_of(((struct fake_class *)(void *)class)->file);
    return check(env);
}

static jvmtiError JNICALL class_loader(jvmtiEnv *env, jclass class, jobject *loader)
{
    bool of_machine = ((struct fake_class *)(void *)class)->of_machine;
    *loader = of_machine ? NULL : (jobject)(void *)&fake_art;
    references += !of_machine;
    return check(env);
}

/* In the place of every other function. */
static jvmtiError JNICALL not_here(void)
{
    fake_art_fault("a function of JVMTI that this fake does not have");
    return JVMTI_ERROR_NOT_AVAILABLE;
}

static void JNICALL delete_reference(JNIEnv *jni, jobject object)
{
    (void)jni;
    references -= object != NULL;
}

static jint JNICALL push_frame(JNIEnv *jni, jint room)
{
    (void)jni;
    (void)room;
    frames_from[frames++] = references;
    return 0;
}

static jobject JNICALL pop_frame(JNIEnv *jni, jobject result)
{
    (void)jni;
    references = frames_from[--frames];
    return result;
}

static jboolean JNICALL no_exception(JNIEnv *jni)
{
    (void)jni;
    return JNI_FALSE;
}

static jvmtiError JNICALL dispose(jvmtiEnv *env)
{
    return check(env);
}

/* As ART's: it says so in its log. */
static jclass JNICALL define_class(JNIEnv *jni, const char *name, jobject loader,
                                   const jbyte *bytes, jsize length)
{
    (void)jni;
    (void)name;
    (void)loader;
    (void)bytes;
    (void)length;
    fake_art_fault("DefineClass, which ART does not do");
    return NULL;
}

static jint JNICALL no_jni(void)
{
    fake_art_fault("a function of JNI that this fake does not have");
    return JNI_ERR;
}

static jint JNICALL get_env(JavaVM *vm, void **env, jint version)
{
    (void)vm;
    bool jvmti = version == FAKE_ART_VERSION || (version >> 16) == 0x3001;
    if (jvmti && self == NULL && fake_art.phase == JVMTI_PHASE_LIVE)
        fake_art_fault("an environment for a thread that is not attached");
    if (jvmti && (version == FAKE_ART_VERSION || fake_art.debuggable)) {
        if (fake_art.environments == FAKE_ENVIRONMENTS)
            abort();
        *env = &fake_art.jvmti[fake_art.environments++];
        return JNI_OK;
    }
    *env = NULL;
    if (jvmti || (version & 0x70000000) == JVMTI_VERSION_INTERFACE_JVMTI)
        return JNI_EVERSION;
    if (self == NULL)
        return JNI_EDETACHED;
    *env = &fake_art.jni;
    return JNI_OK;
}

static jint JNICALL attach(JavaVM *vm, void **env, void *args)
{
    JavaVMAttachArgs *how = args;
    (void)vm;
    if (fake_art.dead)
        fake_art_fault("attached after the machine's death");
    fake_art_join(how->name);
    *env = &fake_art.jni;
    return JNI_OK;
}

static jint JNICALL detach(JavaVM *vm)
{
    (void)vm;
    fake_art_leave();
    return JNI_OK;
}

static struct jvmtiInterface_1_ functions = {
    .Allocate = allocate,
    .Deallocate = deallocate,
    .GetPotentialCapabilities = offer,
    .AddCapabilities = add_capabilities,
    .SetEventCallbacks = set_callbacks,
    .SetEventNotificationMode = set_mode,
    .GetSystemProperty = property,
    .GetAllThreads = all_threads,
    .GetThreadInfo = thread_info,
    .GetThreadGroupInfo = group_info,
    .GetTag = get_tag,
    .SetTag = set_tag,
    .GetCurrentThread = current_thread,
    .GetThreadState = thread_state,
    .GetStackTrace = stack_trace,
    .GetMethodName = method_name,
    .GetMethodDeclaringClass = declaring_class,
    .GetLineNumberTable = line_numbers,
    .GetClassSignature = class_signature,
    .GetSourceFileName = source_file,
    .GetClassLoader = class_loader,
    .DisposeEnvironment = dispose,
};

static struct JNINativeInterface_ jni_functions = {
    .DeleteLocalRef = delete_reference,
    .PushLocalFrame = push_frame,
    .PopLocalFrame = pop_frame,
    .DefineClass = define_class,
    .ExceptionCheck = no_exception,
};

static const struct JNIInvokeInterface_ vm_functions = {
    .GetEnv = get_env,
    .AttachCurrentThread = attach,
    .AttachCurrentThreadAsDaemon = attach,
    .DetachCurrentThread = detach,
};

/* A table is pointers to functions, all of one size. */
static void fill(void *table, size_t size, const void *function)
{
    unsigned char none[sizeof(void *)] = {0};
    for (size_t at = 0; at < size; at += sizeof none)
        if (memcmp((char *)table + at, none, sizeof none) == 0)
            memcpy((char *)table + at, function, sizeof none);
}

void fake_art_begin(bool debuggable, bool no_calls, jvmtiPhase phase)
{
    jvmtiError(JNICALL * missing)(void) = not_here;
    jint(JNICALL * no_function)(void) = no_jni;
    fill(&functions, sizeof functions, &missing);
    fill(&jni_functions, sizeof jni_functions, &no_function);
    fake_art.vm = &vm_functions;
    for (int i = 0; i < FAKE_ENVIRONMENTS; i++)
        fake_art.jvmti[i] = &functions;
    fake_art.jni = &jni_functions;
    fake_art.debuggable = debuggable;
    fake_art.no_calls = no_calls;
    fake_art.phase = phase;
}

/* An event is over: what it was given stays its own, what it made is to be gone. */
static void over(int before)
{
    if (references != before)
        fake_art_fault("local references that an event leaves behind");
    references = before;
}

/* The environments that want the event, one after the other; NULL: no more. */
static struct fake_environment *next(jvmtiEvent event, struct fake_environment *before)
{
    struct fake_environment *end = fake_art.of + fake_art.environments;
    struct fake_environment *at = before == NULL ? fake_art.of : before + 1;
    bool calls = event == JVMTI_EVENT_METHOD_ENTRY || event == JVMTI_EVENT_METHOD_EXIT;
    if (fake_art.dead || fake_art.phase != JVMTI_PHASE_LIVE)
        return NULL;
    for (; at < end; at++)
        if (at->enabled[event] || (calls && at == fake_art.of &&
                                   (event == JVMTI_EVENT_METHOD_ENTRY ? self->entry : self->exit)))
            return at;
    return NULL;
}

static jvmtiEnv *env_of(const struct fake_environment *environment)
{
    return &fake_art.jvmti[environment - fake_art.of];
}

#define EACH(event) (struct fake_environment *e = next(event, NULL); e != NULL; e = next(event, e))

struct fake_thread *fake_art_join(const char *name)
{
    pthread_mutex_lock(&fake_art.lock);
    for (int i = 0; i < FAKE_THREADS && self == NULL; i++)
        if (!fake_art.threads[i].here && fake_art.threads[i].name[0] == '\0')
            self = &fake_art.threads[i];
    if (self == NULL)
        abort();
    snprintf(self->name, sizeof self->name, "%s", name);
    self->here = true;
    pthread_mutex_unlock(&fake_art.lock);
    int before = references;
    for
        EACH(JVMTI_EVENT_THREAD_START)
    e->callbacks.ThreadStart(env_of(e), &fake_art.jni, (jthread)(void *)self);
    over(before);
    return self;
}

void fake_art_leave(void)
{
    int before = references;
    for
        EACH(JVMTI_EVENT_THREAD_END)
    e->callbacks.ThreadEnd(env_of(e), &fake_art.jni, (jthread)(void *)self);
    over(before);
    pthread_mutex_lock(&fake_art.lock);
    self->here = self->entry = self->exit = false;
    pthread_mutex_unlock(&fake_art.lock);
    self = NULL;
}

void fake_art_call(struct fake_method *method)
{
    int before = references;
    pthread_mutex_lock(&fake_art.lock);
    self->stack[self->depth++] = method;
    pthread_mutex_unlock(&fake_art.lock);
    for
        EACH(JVMTI_EVENT_METHOD_ENTRY)
    e->callbacks.MethodEntry(env_of(e), &fake_art.jni, (jthread)(void *)self,
                             (jmethodID)(void *)method);
    over(before);
}

void fake_art_return(bool by_exception)
{
    int before = references;
    jvalue value = {.j = -1};
    pthread_mutex_lock(&fake_art.lock);
    struct fake_method *method = self->stack[self->depth - 1];
    pthread_mutex_unlock(&fake_art.lock);
    for
        EACH(JVMTI_EVENT_METHOD_EXIT)
    e->callbacks.MethodExit(env_of(e), &fake_art.jni, (jthread)(void *)self,
                            (jmethodID)(void *)method, by_exception, value);
    over(before);
    pthread_mutex_lock(&fake_art.lock);
    self->depth--;
    pthread_mutex_unlock(&fake_art.lock);
}

void fake_art_allocate(long size)
{
    int before = references;
    for
        EACH(JVMTI_EVENT_VM_OBJECT_ALLOC)
    e->callbacks.VMObjectAlloc(env_of(e), &fake_art.jni, (jthread)(void *)self,
                               (jobject)(void *)&fake_art, (jclass)(void *)&fake_art, size);
    over(before);
}

/* No function of JNI, and of JVMTI few, may be called in it. */
void fake_art_collect(void)
{
    for
        EACH(JVMTI_EVENT_GARBAGE_COLLECTION_FINISH)
    e->callbacks.GarbageCollectionFinish(env_of(e));
}

void fake_art_born(void)
{
    int before = references;
    fake_art.phase = JVMTI_PHASE_LIVE;
    for
        EACH(JVMTI_EVENT_VM_INIT)
    e->callbacks.VMInit(env_of(e), &fake_art.jni, (jthread)(void *)self);
    over(before);
}

void fake_art_die(void)
{
    int before = references;
    for
        EACH(JVMTI_EVENT_VM_DEATH)
    e->callbacks.VMDeath(env_of(e), &fake_art.jni);
    over(before);
    fake_art.dead = true;
    if (atomic_load(&fake_art.memory) != 0)
        fake_art_fault("memory of the machine that was not given back");
}
