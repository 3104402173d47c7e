/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent.c - entry points of the agent: load, attach, VMInit and VMDeath.
 *
 * Loaded at the start of the JVM, the agent begins at VMInit. Attached to a running JVM, it begins
 * at once. After the options have been read, no failure stops the program: it runs on without a
 * recording.
 */
#include "recorder/agent/agent.h"

#include <assert.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/agent/kernel_threads.h"
#include "recorder/agent/options.h"
#include "recorder/agent/profiler.h"
#include "recorder/samples/samples.h"

/* JVMTI version that ART offers to programs that are not debuggable. */
#define ART_VERSION 0x70010200

struct tv_agent tv_agent;

/* Serializes attach requests, the end of a lost command, and VMDeath. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

void tv_agent_say(const char *format, ...)
{
    char text[512];
    va_list arguments;
    if (tv_agent.options.quiet)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "traceview: %s\n", text);
}

static bool agent_traces_calls(void)
{
    return tv_agent.calls_wanted ||
           (!tv_agent.by_facade && tv_agent.options.mode != TV_AGENT_SAMPLE);
}

static bool agent_rewrites_classes(void)
{
    return agent_traces_calls() && !tv_agent.uses_events;
}

/* Callers of JVMTI hold it for reading (tv_agent_hold); VMDeath takes it for writing. */
static pthread_rwlock_t life = PTHREAD_RWLOCK_INITIALIZER;

bool tv_agent_hold(void)
{
    pthread_rwlock_rdlock(&life);
    if (atomic_load(&tv_agent.live))
        return true;
    pthread_rwlock_unlock(&life);
    return false;
}

void tv_agent_release(void)
{
    pthread_rwlock_unlock(&life);
}

JNIEnv *tv_agent_attach(bool *attached)
{
    static char name[] = "traceview";
    JavaVM *vm = tv_agent.vm;
    JavaVMAttachArgs agent_attach_again = {JNI_VERSION_1_6, name, NULL};
    JNIEnv *jni;
    *attached = false;
    if ((*vm)->GetEnv(vm, (void **)&jni, JNI_VERSION_1_6) == JNI_OK)
        return jni;
    *attached =
        (*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&jni, &agent_attach_again) == JNI_OK;
    return *attached ? jni : NULL;
}

void tv_agent_detach(bool attached)
{
    if (attached)
        (*tv_agent.vm)->DetachCurrentThread(tv_agent.vm);
}

/* Define the hooks once, then allow class rewriting. */
static void agent_begin_call_tracing(JNIEnv *jni)
{
    static bool defined;
    tv_agent_virtual_begin(jni);
    defined = defined || tv_agent_hooks_define(jni);
    atomic_store(&tv_agent.rewrites, defined);
    if (defined && (tv_agent.attached || tv_agent.calls_wanted || tv_agent.options.boot))
        tv_agent_tracing_retransform();
}

/* Start what the options ask for. The JVM must be past VMInit. */
static void agent_begin_recording(JNIEnv *jni)
{
    assert(tv_agent.vm != NULL && tv_agent.jvmti != NULL);
    atomic_store(&tv_agent.live, true);
    tv_agent_facade_announce(jni);
    if (agent_rewrites_classes())
        agent_begin_call_tracing(jni);
    if (tv_agent.uses_events)
        tv_agent_virtual_begin(jni);
    if (!tv_agent.by_facade && tv_agent.options.mode != TV_AGENT_TRACE)
        tv_agent_virtual_begin_samples(jni);
    tv_kernel_threads_begin(jni);
    tv_agent_agct_begin(jni);
    tv_agent_control_begin();
}

static void JNICALL jvmti_on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void)jvmti;
    (void)thread;
    agent_begin_recording(jni);
}

/* Callback for VMDeath: return from main, System.exit, halt, an uncaught exception, or SIGTERM. */
static void JNICALL jvmti_on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
    (void)jvmti;
    (void)jni;
    atomic_store(&tv_agent.dying, true); /* tells the holder of `turn` to finish early */
    pthread_mutex_lock(&turn);
    tv_agent_control_end();
    tv_agent_session_stop();
    tv_profiler_end_all();
    atomic_store(&tv_agent.rewrites, false);
    pthread_rwlock_wrlock(&life);
    atomic_store(&tv_agent.live, false);
    pthread_rwlock_unlock(&life);
    pthread_mutex_unlock(&turn);
    if (agent_rewrites_classes() && tv_agent.options.verbose)
        tv_agent_tracing_report();
}

static void JNICALL jvmti_on_thread_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void)jni;
    tv_agent_hooks_end_thread(jvmti, thread);
    tv_agent_events_end_thread();
}

static jvmtiEnv *jvm_get_environment(JavaVM *vm)
{
    jvmtiEnv *jvmti = NULL;
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) == JNI_OK)
        return jvmti;
    if ((*vm)->GetEnv(vm, (void **)&jvmti, ART_VERSION) != JNI_OK)
        return NULL;
    tv_agent.is_art = true;
    return jvmti;
}

/* HotSpot crashes when GetEnv for JVMTI is called in a thread that is not attached. */
jvmtiEnv *tv_agent_new_environment(void)
{
    bool attached = false;
    if (atomic_load(&tv_agent.live) && tv_agent_attach(&attached) == NULL)
        return NULL;
    jvmtiEnv *jvmti = jvm_get_environment(tv_agent.vm);
    tv_agent_detach(attached);
    return jvmti;
}

jvmtiEnv *tv_agent_new_marks(void)
{
    jvmtiCapabilities offered = {0}, wanted = {.can_tag_objects = 1};
    bool attached;
    jvmtiEnv *jvmti = tv_agent_new_environment();
    if (jvmti == NULL || tv_agent_attach(&attached) == NULL)
        return NULL;
    if ((*jvmti)->GetPotentialCapabilities(jvmti, &offered) == JVMTI_ERROR_NONE)
        (void)tv_agent_virtual_allow(&wanted, &offered);
    if ((*jvmti)->AddCapabilities(jvmti, &wanted) != JVMTI_ERROR_NONE) {
        (void)(*jvmti)->DisposeEnvironment(jvmti);
        jvmti = NULL;
    }
    tv_agent_detach(attached);
    return jvmti;
}

static bool agent_connect_jvm(JavaVM *vm)
{
    tv_agent.vm = vm;
    tv_agent.jvmti = tv_agent_new_environment();
    return tv_agent.jvmti != NULL;
}

/* ART reports the VM name Dalvik. */
static bool jvm_is_art(jvmtiEnv *jvmti)
{
    char *name;
    if (tv_agent.is_art ||
        (*jvmti)->GetSystemProperty(jvmti, "java.vm.name", &name) != JVMTI_ERROR_NONE)
        return tv_agent.is_art;
    bool is = strcmp(name, "Dalvik") == 0;
    (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    return is;
}

/* Choose JVMTI events for calls: always on ART, and on other JVMs if engine=events and available.
 */
static bool agent_choose_call_events(const jvmtiCapabilities *offered)
{
    unsigned engine = tv_agent.options.engine;
    bool can =
        offered->can_generate_method_entry_events && offered->can_generate_method_exit_events;
    if (tv_agent.is_art && engine == TV_AGENT_ENGINE_BCI)
        tv_agent_say("engine=bci: this JVM cannot rewrite classes; events are used instead");
    else if (!tv_agent.is_art && engine == TV_AGENT_ENGINE_EVENTS && !can)
        tv_agent_say("engine=events: this JVM does not offer them; classes are rewritten instead");
    return tv_agent.is_art || (engine == TV_AGENT_ENGINE_EVENTS && can);
}

/* Request only offered capabilities: AddCapabilities grants all or none. */
static void jvmti_add_capabilities(jvmtiEnv *jvmti)
{
    jvmtiCapabilities offered = {0}, wanted = {0};
    if ((*jvmti)->GetPotentialCapabilities(jvmti, &offered) != JVMTI_ERROR_NONE)
        return;
    tv_agent.uses_events = agent_traces_calls() && agent_choose_call_events(&offered);
    wanted.can_get_line_numbers = offered.can_get_line_numbers;
    wanted.can_get_source_file_name = offered.can_get_source_file_name;
    (void)tv_agent_virtual_allow(&wanted, &offered);
    if (agent_rewrites_classes()) {
        wanted.can_retransform_classes = offered.can_retransform_classes;
        wanted.can_generate_all_class_hook_events = offered.can_generate_all_class_hook_events;
    }
    if (tv_agent.uses_events) {
        wanted.can_generate_method_entry_events = offered.can_generate_method_entry_events;
        wanted.can_generate_method_exit_events = offered.can_generate_method_exit_events;
    }
    if ((*jvmti)->AddCapabilities(jvmti, &wanted) != JVMTI_ERROR_NONE)
        return;
    tv_agent.can_retransform = wanted.can_retransform_classes;
    tv_agent.can_see_calls =
        wanted.can_generate_method_entry_events && wanted.can_generate_method_exit_events;
}

/* Enable the permanent events. MethodEntry and MethodExit are enabled only during a recording. */
static bool jvmti_enable_events(jvmtiEnv *jvmti)
{
    jvmtiEventCallbacks callbacks = {
        .VMInit = jvmti_on_vm_init,
        .VMDeath = jvmti_on_vm_death,
        .ThreadStart = tv_agent_events_start_thread,
        .ThreadEnd = jvmti_on_thread_end,
        .ClassFileLoadHook = tv_agent_tracing_load,
        .MethodEntry = tv_agent_events_enter,
        .MethodExit = tv_agent_events_leave,
    };
    const struct {
        jvmtiEvent event;
        bool wanted;
    } events[] = {
        {JVMTI_EVENT_VM_INIT, true},
        {JVMTI_EVENT_VM_DEATH, true},
        {JVMTI_EVENT_THREAD_START, tv_agent.uses_events},
        {JVMTI_EVENT_THREAD_END, agent_traces_calls()},
        {JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, agent_rewrites_classes()},
    };
    if ((*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE)
        return false;
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        if (events[i].wanted && (*jvmti)->SetEventNotificationMode(
                                    jvmti, JVMTI_ENABLE, events[i].event, NULL) != JVMTI_ERROR_NONE)
            return false;
    return true;
}

static bool agent_parse_options(struct tv_agent_options *options, const char *text, char *why,
                                size_t room)
{
    tv_agent_options_init(options);
    return tv_agent_options_read(options, text, why, room) &&
           tv_agent_options_read(options, getenv("TRACEVIEW_AGENT_OPTIONS"), why, room);
}

static bool options_are_order(const struct tv_agent_options *options)
{
    return options->help || options->stop;
}

/* Parse the options and check the output paths, so that errors show before the program runs. */
static bool agent_read_options(struct tv_agent_options *options, const char *text)
{
    char why[TV_AGENT_PATH + 256];
    if (agent_parse_options(options, text, why, sizeof why) &&
        (options_are_order(options) || tv_agent_paths_check(options, why, sizeof why)))
        return true;
    fprintf(stderr, "traceview: %s\n", why);
    return false;
}

static void agent_print_help(void)
{
    tv_agent_options_help(stdout);
    fflush(stdout);
}

/* Does the recording need the kernel's thread states? */
static bool agent_samples_running_threads(void)
{
    return !tv_agent.by_facade && tv_agent.options.mode != TV_AGENT_TRACE &&
           (tv_agent.options.state == TV_AGENT_STATE_RUNNING ||
            tv_agent.options.format == TV_SAMPLES_EVENTS);
}

static bool agent_samples_allocations(void)
{
    return !tv_agent.by_facade && tv_agent_options_sample_allocations(&tv_agent.options);
}

/* Return JNI_OK, or JNI_ERR after a message that says why nothing will be recorded. */
static jint agent_prepare_jvmti(JavaVM *vm)
{
    if (tv_agent.jvmti == NULL && !agent_connect_jvm(vm)) {
        tv_agent_say("this machine has no JVMTI");
        return JNI_ERR;
    }
    tv_agent.is_art = jvm_is_art(tv_agent.jvmti);
    jvmti_add_capabilities(tv_agent.jvmti);
    if (agent_samples_running_threads())
        (void)tv_kernel_threads_prepare(vm);
    tv_agent_agct_prepare(vm);
    if (agent_samples_allocations() && !tv_agent_heap_prepare()) {
        tv_agent_say("alloc: this machine cannot sample allocations, which takes HotSpot of JDK 11 "
                     "or later");
        return JNI_ERR;
    }
    if (tv_agent.options.alloc.on && !agent_samples_allocations())
        (void)tv_agent_allocations_prepare();
    return jvmti_enable_events(tv_agent.jvmti) ? JNI_OK : JNI_ERR;
}

static void agent_report_ignored_options(void)
{
    char names[256];
    if (tv_agent_options_idle(&tv_agent.options, tv_agent.uses_events, names, sizeof names))
        tv_agent_say("without effect beside the other options: %s", names);
}

/* Read the options of -agentpath and prepare; the recording begins at VMInit. */
static jint agent_load_at_start(JavaVM *vm, const char *text)
{
    if (tv_agent.vm != NULL) {
        tv_agent_say("the agent is loaded already");
        return JNI_ERR;
    }
    if (!agent_read_options(&tv_agent.options, text))
        return JNI_ERR;
    if (tv_agent.options.help) {
        agent_print_help();
        _Exit(0);
    }
    jint result = agent_prepare_jvmti(vm);
    if (result == JNI_OK)
        agent_report_ignored_options();
    return result;
}

/* Stop the recording and restore all classes, so that the program runs at its former speed. */
static void agent_end_attached(void)
{
    tv_agent_watch_end();
    tv_agent_control_end();
    tv_agent_session_stop();
    tv_agent_agct_end();
    if (tv_agent.attached && atomic_exchange(&tv_agent.rewrites, false))
        tv_agent_tracing_retransform();
    tv_agent_virtual_end();
}

void tv_agent_end_lost(unsigned number)
{
    bool attached = false;
    pthread_mutex_lock(&turn);
    if (tv_agent_watch_is(number) && atomic_load(&tv_agent.live) &&
        tv_agent_attach(&attached) != NULL) {
        agent_end_attached();
        tv_agent_detach(attached);
    }
    pthread_mutex_unlock(&turn);
}

/* Start a recording with these options. The strings of earlier options are never freed, because
 * threads may still read them. */
static jint agent_begin_attached(JavaVM *vm, const struct tv_agent_options *options)
{
    JNIEnv *jni;
    bool dead = tv_agent.vm != NULL && !atomic_load(&tv_agent.live);
    if (dead || (*vm)->GetEnv(vm, (void **)&jni, JNI_VERSION_1_6) != JNI_OK)
        return JNI_ERR;
    tv_agent_control_end();
    tv_agent_session_renew();
    tv_agent_events_renew();
    tv_agent.options = *options;
    tv_agent.attached = true;
    tv_agent.by_facade = false;
    jint result = agent_prepare_jvmti(vm);
    if (result == JNI_OK) {
        agent_report_ignored_options();
        agent_begin_recording(jni);
        tv_agent_watch_begin();
    }
    /* The reason has been printed to the program's standard error. */
    bool failed = options->start && options->delay_us == 0 && !tv_agent_session_active();
    return failed ? JNI_ERR : result;
}

/* Obey a command for the agent that is loaded already: print help, end, or begin another recording.
 */
static jint agent_attach_again(JavaVM *vm, const char *text)
{
    struct tv_agent_options options;
    if (!agent_read_options(&options, text))
        return JNI_ERR;
    if (!options.help && !options.stop && !tv_agent_session_active())
        return agent_begin_attached(vm, &options);
    if (options.help)
        agent_print_help();
    else if (options.stop)
        agent_end_attached();
    jint result = options.help || options.stop ? JNI_OK : JNI_EEXIST;
    tv_agent_options_release(&options);
    return result;
}

/* Connect the agent from Java code (the facade) instead of -agentpath. A second call finds it
 * connected; after a failure the VM is forgotten, so a later call may try again. */
static bool agent_connect_facade(JavaVM *vm, const char *text, char *why, size_t room)
{
    if (tv_agent.vm != NULL)
        return true;
    if (!agent_parse_options(&tv_agent.options, text, why, room))
        return false;
    tv_agent.by_facade = true;
    if (agent_prepare_jvmti(vm) == JNI_OK) {
        atomic_store(&tv_agent.live, true);
        return true;
    }
    snprintf(why, room, "this machine has no JVMTI");
    tv_agent.vm = NULL;
    return false;
}

bool tv_agent_connect(JavaVM *vm, const char *options, char *why, size_t room)
{
    pthread_mutex_lock(&turn);
    bool fine = agent_connect_facade(vm, options, why, room);
    pthread_mutex_unlock(&turn);
    return fine;
}

bool tv_agent_want_calls(JNIEnv *jni)
{
    pthread_mutex_lock(&turn);
    bool live = atomic_load(&tv_agent.live);
    if (live && !tv_agent.uses_events && !atomic_load(&tv_agent.rewrites)) {
        tv_agent.calls_wanted = true;
        if (agent_prepare_jvmti(tv_agent.vm) == JNI_OK && agent_rewrites_classes())
            agent_begin_call_tracing(jni);
    }
    bool fine = live && (tv_agent.uses_events || atomic_load(&tv_agent.rewrites));
    pthread_mutex_unlock(&turn);
    return fine;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void)reserved;
    return agent_load_at_start(vm, options);
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
    (void)reserved;
    pthread_mutex_lock(&turn);
    jint result = agent_attach_again(vm, options);
    pthread_mutex_unlock(&turn);
    return result;
}

JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
    (void)vm;
}
