/* SPDX-License-Identifier: Apache-2.0 */
#include "server/desk.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/out.h"
#include "base/source.h"
#include "base/workers.h"

/* A session and who holds it. */
struct place {
    struct tv_session *session; /* NULL: nothing lies there */
    uint32_t trace;
};

/* Who holds a session besides its place: those who ask it, and the thread that loads it. */
struct hold {
    struct tv_session *session;
    uint32_t holders;
};

struct tv_desk {
    struct tv_loader loader;
    void (*ended)(void *context, enum tv_session_state state, const struct tv_error *error);
    void *context;
    struct tv_shelf *shelf;
    struct tv_desk_choice own;
    pthread_mutex_t lock;
    pthread_cond_t idle; /* no loading runs any more */
    struct place open, next;
    struct hold *holds;
    size_t hold_count, hold_capacity;
    uint32_t loadings, last_trace;
};

/* What a loading thread is given. */
struct loading {
    struct tv_desk *desk;
    struct tv_session *session;
};

struct tv_desk *tv_desk_new(const struct tv_desk_options *options)
{
    struct tv_desk *desk = tv_alloc(1, sizeof *desk);
    pthread_condattr_t attributes;
    desk->loader = options->loader;
    desk->ended = options->ended;
    desk->context = options->context;
    desk->shelf = tv_shelf_new();
    for (size_t i = 0; i < options->file_count; i++) {
        tv_shelf_add_own(desk->shelf, options->files[i].name);
        if (i >= TV_DESK_INPUTS)
            continue;
        desk->own.numbers[i] = (uint32_t)i;
        desk->own.offsets[i] = options->files[i].offset;
        desk->own.count++;
    }
    pthread_mutex_init(&desk->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&desk->idle, &attributes);
    pthread_condattr_destroy(&attributes);
    return desk;
}

struct tv_shelf *tv_desk_shelf(struct tv_desk *desk)
{
    return desk->shelf;
}

/* Holding, with the lock held. */

static struct hold *find_hold(struct tv_desk *desk, const struct tv_session *session)
{
    size_t i = 0;
    while (i < desk->hold_count && desk->holds[i].session != session)
        i++;
    return i < desk->hold_count ? &desk->holds[i] : NULL;
}

static void hold(struct tv_desk *desk, struct tv_session *session)
{
    struct hold *found = find_hold(desk, session);
    if (!found) {
        desk->holds = tv_array_reserve(desk->holds, &desk->hold_capacity, desk->hold_count + 1,
                                       sizeof *desk->holds);
        found = &desk->holds[desk->hold_count++];
        *found = (struct hold){session, 0};
    }
    found->holders++;
}

/* The session when nobody holds it any more: to be freed without the lock, for it takes a while. */
static struct tv_session *let_go(struct tv_desk *desk, struct tv_session *session)
{
    struct hold *found = session ? find_hold(desk, session) : NULL;
    if (!found || --found->holders > 0)
        return NULL;
    *found = desk->holds[--desk->hold_count];
    return session;
}

/* A trace that is there now takes the place of the one that lies open, which is returned when it is
 * to be freed.  Whoever looks first does so: what is said to be ready can be asked. */
static struct tv_session *put_in_place(struct tv_desk *desk)
{
    struct tv_session *old = desk->open.session;
    if (!desk->next.session || tv_session_state(desk->next.session) != TV_SESSION_READY)
        return NULL;
    desk->open = desk->next;
    desk->next.session = NULL;
    return let_go(desk, old);
}

struct tv_session *tv_desk_hold(struct tv_desk *desk, uint32_t *trace)
{
    pthread_mutex_lock(&desk->lock);
    struct tv_session *left = put_in_place(desk);
    struct tv_session *session = desk->open.session;
    *trace = desk->open.trace;
    if (session)
        hold(desk, session);
    pthread_mutex_unlock(&desk->lock);
    tv_session_free(left);
    return session;
}

void tv_desk_let_go(struct tv_desk *desk, struct tv_session *session)
{
    pthread_mutex_lock(&desk->lock);
    struct tv_session *left = let_go(desk, session);
    pthread_mutex_unlock(&desk->lock);
    tv_session_free(left);
}

/* Loading. */

/* The last thing a loading thread does: the desk may be gone when it comes back. */
static void finish(struct tv_desk *desk, struct tv_session *session)
{
    pthread_mutex_lock(&desk->lock);
    struct tv_session *old = put_in_place(desk);
    bool wanted = desk->open.session == session || desk->next.session == session;
    pthread_mutex_unlock(&desk->lock);
    desk->ended(desk->context, wanted ? tv_session_state(session) : TV_SESSION_EMPTY,
                wanted ? tv_session_error(session) : NULL);
    tv_session_free(old);
    tv_session_show(session);
    tv_desk_let_go(desk, session);
    pthread_mutex_lock(&desk->lock);
    if (--desk->loadings == 0)
        pthread_cond_broadcast(&desk->idle);
    pthread_mutex_unlock(&desk->lock);
}

static void *load(void *context)
{
    struct loading loading = *(struct loading *)context;
    tv_free(context);
    tv_session_load(loading.session);
    finish(loading.desk, loading.session);
    return NULL;
}

/* Begins the session's loading with the lock held. */
static enum tv_status begin(struct tv_desk *desk, struct tv_session *session, struct tv_error *err)
{
    pthread_t thread;
    struct loading *loading = tv_alloc(1, sizeof *loading);
    *loading = (struct loading){desk, session};
    int error = tv_thread_start(&thread, TV_THREAD_STACK, load, loading);
    if (error != 0) {
        tv_free(loading);
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot start a thread: %s", strerror(error));
    }
    pthread_detach(thread);
    desk->loadings++;
    hold(desk, session); /* the thread */
    hold(desk, session); /* the desk */
    return TV_OK;
}

/* Drops the files that came for this session alone. */
static void drop_files(struct tv_desk *desk, const struct tv_session *session,
                       const struct tv_session *spare)
{
    uint32_t number;
    for (size_t i = 0; tv_session_input(session, i, &number); i++) {
        bool wanted = (desk->open.session && tv_session_has(desk->open.session, number)) ||
                      (spare && tv_session_has(spare, number));
        if (!wanted)
            tv_shelf_drop(desk->shelf, number);
    }
}

/* Takes what is being loaded, or has failed, off the desk. */
static struct tv_session *take_next_off(struct tv_desk *desk, const struct tv_session *spare)
{
    struct tv_session *session = desk->next.session;
    if (!session)
        return NULL;
    tv_session_cancel(session);
    drop_files(desk, session, spare);
    desk->next.session = NULL;
    return let_go(desk, session);
}

void tv_desk_cancel(struct tv_desk *desk)
{
    pthread_mutex_lock(&desk->lock);
    struct tv_session *left = take_next_off(desk, NULL);
    pthread_mutex_unlock(&desk->lock);
    tv_session_free(left);
}

/* The session of these files, not begun; NULL when one of them is not there. */
static struct tv_session *make_session(struct tv_desk *desk, const struct tv_desk_choice *choice,
                                       struct tv_error *err)
{
    struct tv_session_input inputs[TV_DESK_INPUTS];
    const char *names[TV_DESK_INPUTS];
    struct tv_shelf_file *files = tv_alloc(TV_DESK_INPUTS, sizeof *files);
    struct tv_session *session = NULL;
    size_t got = 0;
    while (got < choice->count && tv_shelf_get(desk->shelf, choice->numbers[got], &files[got])) {
        inputs[got] = (struct tv_session_input){choice->numbers[got], files[got].source,
                                                choice->offsets[got]};
        names[got] = files[got].name;
        got++;
    }
    if (got == choice->count) {
        session = tv_session_new(&desk->loader, inputs, names, got);
    } else {
        tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "file %" PRIu32 " is not here (any more)",
                choice->numbers[got]);
        for (size_t i = 0; i < got; i++)
            if (files[i].source)
                tv_source_free(files[i].source);
    }
    tv_free(files);
    return session;
}

enum tv_status tv_desk_open(struct tv_desk *desk, const struct tv_desk_choice *choice,
                            uint32_t *trace, struct tv_error *err)
{
    struct tv_session *session = make_session(desk, choice, err), *left = NULL;
    if (!session)
        return TV_ERR_USAGE;
    pthread_mutex_lock(&desk->lock);
    enum tv_status status = begin(desk, session, err);
    if (status == TV_OK) {
        left = take_next_off(desk, session);
        *trace = ++desk->last_trace;
        desk->next = (struct place){session, *trace};
    }
    pthread_mutex_unlock(&desk->lock);
    tv_session_free(status == TV_OK ? left : session);
    return status;
}

enum tv_status tv_desk_start(struct tv_desk *desk, struct tv_error *err)
{
    uint32_t trace;
    return desk->own.count > 0 ? tv_desk_open(desk, &desk->own, &trace, err) : TV_OK;
}

bool tv_desk_free(struct tv_desk *desk, unsigned timeout_ms)
{
    struct timespec until;
    int error = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    tv_desk_cancel(desk);
    pthread_mutex_lock(&desk->lock);
    while (desk->loadings > 0 && error == 0)
        error = pthread_cond_timedwait(&desk->idle, &desk->lock, &until);
    bool over = desk->loadings == 0;
    struct tv_session *left = over ? let_go(desk, desk->open.session) : NULL;
    pthread_mutex_unlock(&desk->lock);
    if (!over)
        return false;
    tv_session_free(left);
    tv_shelf_free(desk->shelf);
    tv_free(desk->holds);
    pthread_cond_destroy(&desk->idle);
    pthread_mutex_destroy(&desk->lock);
    tv_free(desk);
    return true;
}

bool tv_desk_is_sketched(struct tv_desk *desk)
{
    pthread_mutex_lock(&desk->lock);
    bool sketched = desk->next.session && tv_session_is_sketched(desk->next.session);
    pthread_mutex_unlock(&desk->lock);
    return sketched;
}

/* The files that the program was started with, as an address without any means them. */
static void write_start(const struct tv_desk_choice *own, struct tv_out *out)
{
    tv_out_text(out, ",\"start\":[");
    for (size_t i = 0; i < own->count; i++)
        tv_out_format(out, "%s{\"input\":%" PRIu32 ",\"offset_ns\":\"%" PRId64 "\"}",
                      i > 0 ? "," : "", own->numbers[i], own->offsets[i]);
    tv_out_char(out, ']');
}

void tv_desk_write_status(struct tv_desk *desk, struct tv_out *out)
{
    pthread_mutex_lock(&desk->lock);
    struct tv_session *left = put_in_place(desk);
    struct place place = desk->next.session ? desk->next : desk->open;
    bool behind = desk->next.session && desk->open.session;
    if (place.session)
        hold(desk, place.session);
    pthread_mutex_unlock(&desk->lock);
    tv_session_free(left);
    tv_out_char(out, '{');
    if (place.session)
        tv_session_write_status(place.session, out);
    else
        tv_out_text(out, "\"state\":\"empty\",\"name\":\"\",\"bytes\":0,\"total_bytes\":0,"
                         "\"records\":0,\"inputs\":[]");
    tv_out_format(out, ",\"trace\":%" PRIu32 ",\"behind\":%s,\"files\":",
                  place.session ? place.trace : 0, behind ? "true" : "false");
    tv_shelf_write(desk->shelf, out);
    write_start(&desk->own, out);
    tv_out_char(out, '}');
    if (place.session)
        tv_desk_let_go(desk, place.session);
}
