/* SPDX-License-Identifier: Apache-2.0 */
/*
 * player.c - runs a scenario's steps, one thread at a time, always the one furthest behind.
 */
#include "player.h"

#include "die.h"

#include <stdbool.h>
#include <stdlib.h>

#define MAX_DEPTH 256
#define MAX_LOOPS 6 /* loops inside each other in one body */
#define NS_PER_US 1000ull

/* 60 frames a second; the display's first pulse is not the trace's first moment. */
#define VSYNC_PERIOD_NS 16666667u
#define VSYNC_PHASE_NS 9200000u

/* What tracing itself costs before each record, and how long a thread takes to wake up. */
#define RECORD_COST_MIN_NS 700u
#define RECORD_COST_MAX_NS 1900u
#define WAKE_MIN_NS 35000u
#define WAKE_MAX_NS 160000u

/* A running thread loses its core now and then: after this much CPU time, for this long. */
#define QUANTUM_MIN_NS 9000000u
#define QUANTUM_MAX_NS 70000000u
#define STALL_MIN_NS 110000u
#define STALL_MAX_NS 1900000u

/* A scenario that calls without end is a mistake; stop before it fills the disk. */
#define MAX_EVENTS 4000000

enum state { RUNNING, WAITING_FOR_MESSAGE, WAITING_FOR_LOCK, FINISHED };

struct loop {
    int first;
    uint32_t left;
};

struct frame {
    int method; /* -1 for the thread's own body */
    int step;
    int payload;
    struct loop loops[MAX_LOOPS];
    int loop_count;
    bool catches; /* an exception ends here: the caller goes on behind its call */
};

struct thread {
    bool traced;
    enum state state;
    int awaited;   /* queue or lock */
    bool drops;    /* the awaited message only wakes */
    bool throwing; /* an exception is on its way up */
    bool has_message;
    int message; /* payload of the message taken last */
    uint64_t wall_ns;
    uint64_t cpu_ns;
    uint64_t first_cpu_ns; /* of its first event */
    bool started;
    uint64_t quantum_ns; /* CPU time left before it loses its core */
    uint64_t random;
    struct frame frames[MAX_DEPTH];
    int depth;
    uint16_t *open; /* activations of each method */
};

struct queue {
    int *messages;
    int count;
    int head;
    bool vsync_under_way;
};

struct lock {
    int owner; /* a thread, while depth is not 0 */
    int depth; /* the owner may take it again, as a Java monitor */
};

struct timer {
    uint64_t at_ns;
    int queue;
    int payload;
    bool vsync;
};

struct player {
    const struct scenario *scenario;
    struct thread *threads;
    struct queue *queues;
    struct lock *locks;
    uint32_t *flags;
    struct timer *timers;
    int timer_count;
    struct recording recording;
    bool stopped;
};

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t next_random(struct thread *thread)
{
    uint64_t mixed = thread->random += 0x9E3779B97F4A7C15u;

    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return mixed ^ mixed >> 31;
}

static uint64_t random_between(struct thread *thread, uint64_t low, uint64_t high)
{
    return low + next_random(thread) % (high - low + 1);
}

/* As above, but small values are more likely: durations have a long tail. */
static uint64_t random_duration(struct thread *thread, uint64_t low, uint64_t high)
{
    uint64_t share = next_random(thread) >> 48; /* of 65536 */

    return low + (((high - low) * share >> 16) * share >> 16);
}

static void run_on_cpu(struct thread *thread, uint64_t ns)
{
    thread->wall_ns += ns;
    thread->cpu_ns += ns;
    if (thread->quantum_ns > ns) {
        thread->quantum_ns -= ns;
        return;
    }
    thread->quantum_ns = random_between(thread, QUANTUM_MIN_NS, QUANTUM_MAX_NS);
    thread->wall_ns += random_duration(thread, STALL_MIN_NS, STALL_MAX_NS);
}

static void record(struct player *player, struct thread *thread, int method,
                   enum tv_mt_action action)
{
    struct recording *recording = &player->recording;

    if (!thread->traced)
        return;
    if (recording->count == MAX_EVENTS)
        die("more than %d events: does a method call itself without a limit?", MAX_EVENTS);
    if (!thread->started) {
        thread->started = true;
        thread->first_cpu_ns = thread->cpu_ns;
    }
    recording->events = grow(recording->events, recording->count, sizeof *recording->events);
    recording->events[recording->count++] = (struct event){
        .thread = (int)(thread - player->threads),
        .method = player->scenario->methods[method].shown_as,
        .action = action,
        .cpu_ns = thread->cpu_ns - thread->first_cpu_ns,
        .wall_ns = thread->wall_ns,
    };
    run_on_cpu(thread, random_between(thread, RECORD_COST_MIN_NS, RECORD_COST_MAX_NS));
}

static void wake(struct thread *thread, uint64_t now_ns)
{
    uint64_t at_ns = now_ns + random_between(thread, WAKE_MIN_NS, WAKE_MAX_NS);

    if (thread->wall_ns < at_ns)
        thread->wall_ns = at_ns;
    thread->state = RUNNING;
    thread->frames[thread->depth - 1].step++;
}

static struct thread *find_waiting(struct player *player, enum state state, int awaited)
{
    for (int i = 0; i < player->scenario->thread_count; i++) {
        struct thread *thread = &player->threads[i];

        if (thread->state == state && thread->awaited == awaited)
            return thread;
    }
    return NULL;
}

static void take_message(struct thread *thread, int payload)
{
    thread->has_message = !thread->drops;
    thread->message = payload;
}

static void deliver(struct player *player, int queue_index, int payload, uint64_t now_ns)
{
    struct queue *queue = &player->queues[queue_index];
    struct thread *receiver = find_waiting(player, WAITING_FOR_MESSAGE, queue_index);

    if (receiver) {
        take_message(receiver, payload);
        wake(receiver, now_ns);
        return;
    }
    queue->messages = grow(queue->messages, queue->count, sizeof *queue->messages);
    queue->messages[queue->count++] = payload;
}

static bool take_from_queue(struct player *player, struct thread *thread, int queue_index)
{
    struct queue *queue = &player->queues[queue_index];

    if (queue->head == queue->count)
        return false;
    take_message(thread, queue->messages[queue->head++]);
    return true;
}

static void add_timer(struct player *player, struct timer timer)
{
    player->timers = grow(player->timers, player->timer_count, sizeof *player->timers);
    player->timers[player->timer_count++] = timer;
}

static uint64_t next_vsync(uint64_t now_ns)
{
    if (now_ns < VSYNC_PHASE_NS)
        return VSYNC_PHASE_NS;
    return now_ns + VSYNC_PERIOD_NS - (now_ns - VSYNC_PHASE_NS) % VSYNC_PERIOD_NS;
}

static void post(struct player *player, struct thread *thread, const struct step *step)
{
    uint64_t delay_ns = random_duration(thread, step->low, step->high) * NS_PER_US;
    struct queue *queue = &player->queues[step->target];

    if (step->kind == STEP_POST_VSYNC) {
        if (queue->vsync_under_way)
            return;
        queue->vsync_under_way = true;
        add_timer(player,
                  (struct timer){next_vsync(thread->wall_ns), step->target, step->payload, true});
    } else if (delay_ns) {
        add_timer(player,
                  (struct timer){thread->wall_ns + delay_ns, step->target, step->payload, false});
    } else {
        deliver(player, step->target, step->payload, thread->wall_ns);
    }
}

static void enter(struct player *player, struct thread *thread, const struct step *call, int method,
                  int payload)
{
    if (thread->depth == MAX_DEPTH)
        die("%s: the stack is deeper than %d", player->scenario->methods[method].key, MAX_DEPTH);
    record(player, thread, method, TV_MT_ENTER);
    thread->open[method]++;
    thread->frames[thread->depth++] = (struct frame){
        .method = method,
        .step = player->scenario->methods[method].body,
        .payload = payload,
        .catches = call->catches,
    };
}

static void leave(struct player *player, struct thread *thread, enum tv_mt_action action)
{
    struct frame *frame = &thread->frames[--thread->depth];

    record(player, thread, frame->method, action);
    thread->open[frame->method]--;
}

static void finish_body(struct player *player, struct thread *thread)
{
    struct frame *caller;
    const struct step *call;

    if (thread->depth == 1) {
        thread->state = FINISHED;
        return;
    }
    leave(player, thread, TV_MT_EXIT);
    caller = &thread->frames[thread->depth - 1];
    call = &player->scenario->steps[caller->step];
    caller->step = call->jump >= 0 ? call->jump : caller->step + 1;
}

/* Leaves one frame; the one whose call catches is the last. */
static void unwind(struct player *player, struct thread *thread)
{
    if (thread->depth == 1)
        die("an exception that nobody catches");
    thread->throwing = !thread->frames[thread->depth - 1].catches;
    leave(player, thread, TV_MT_UNROLL);
    if (!thread->throwing)
        thread->frames[thread->depth - 1].step++;
}

/* Skips a step that is not taken, or goes on behind it. */
static void go_on(struct frame *frame, const struct step *step, bool taken)
{
    frame->step = taken || step->jump < 0 ? frame->step + 1 : step->jump;
}

static void call(struct player *player, struct thread *thread, const struct step *step)
{
    struct frame *frame = &thread->frames[thread->depth - 1];

    if (thread->open[step->target] >= step->low)
        go_on(frame, step, false);
    else
        enter(player, thread, step, step->target,
              step->payload == NO_PAYLOAD ? frame->payload : step->payload);
}

static void call_given(struct player *player, struct thread *thread, const struct step *step)
{
    struct frame *frame = &thread->frames[thread->depth - 1];
    const int *list;

    if (frame->payload == NO_PAYLOAD) {
        go_on(frame, step, true);
        return;
    }
    list = &player->scenario->payloads[frame->payload];
    enter(player, thread, step, list[0], list[1] < 0 ? NO_PAYLOAD : frame->payload + 1);
}

static void choose(struct thread *thread, const struct step *step)
{
    struct frame *frame = &thread->frames[thread->depth - 1];
    uint32_t chosen;

    if (step->kind == STEP_CHOOSE) {
        chosen = (uint32_t)random_between(thread, 0, step->low - 1);
    } else {
        chosen = thread->open[frame->method] - 1u;
        if (chosen >= step->low)
            chosen = step->low - 1;
    }
    frame->step += 1 + (int)chosen;
}

static void begin_loop(struct thread *thread, const struct step *step)
{
    struct frame *frame = &thread->frames[thread->depth - 1];
    uint32_t rounds = FOREVER;

    if (step->low != FOREVER)
        rounds = (uint32_t)random_between(thread, step->low, step->high);
    if (!rounds) {
        frame->step = step->jump;
        return;
    }
    if (frame->loop_count == MAX_LOOPS)
        die("more than %d loops inside each other", MAX_LOOPS);
    frame->loops[frame->loop_count++] = (struct loop){frame->step + 1, rounds};
    frame->step++;
}

static void end_loop(struct frame *frame)
{
    struct loop *loop = &frame->loops[frame->loop_count - 1];

    if (loop->left != FOREVER)
        loop->left--;
    if (loop->left) {
        frame->step = loop->first;
        return;
    }
    frame->loop_count--;
    frame->step++;
}

static void await_message(struct player *player, struct thread *thread, const struct step *step)
{
    thread->drops = step->low != 0;
    if (take_from_queue(player, thread, step->target)) {
        thread->frames[thread->depth - 1].step++;
        return;
    }
    thread->state = WAITING_FOR_MESSAGE;
    thread->awaited = step->target;
}

static void poll_queue(struct player *player, struct thread *thread, const struct step *step)
{
    thread->drops = false;
    take_from_queue(player, thread, step->target);
    thread->frames[thread->depth - 1].step++;
}

static void lock(struct player *player, struct thread *thread, const struct step *step)
{
    struct lock *lock = &player->locks[step->target];
    int self = (int)(thread - player->threads);

    if (lock->depth && lock->owner != self) {
        thread->state = WAITING_FOR_LOCK;
        thread->awaited = step->target;
        return;
    }
    lock->owner = self;
    lock->depth++;
    thread->frames[thread->depth - 1].step++;
}

static void unlock(struct player *player, struct thread *thread, const struct step *step)
{
    struct lock *lock = &player->locks[step->target];
    struct thread *next;

    thread->frames[thread->depth - 1].step++;
    if (--lock->depth)
        return;
    next = find_waiting(player, WAITING_FOR_LOCK, step->target);
    if (!next)
        return;
    lock->owner = (int)(next - player->threads);
    lock->depth = 1;
    wake(next, thread->wall_ns);
}

/* The steps that only look at or change the frame, the clocks and the flags. */
static void make_plain_step(struct player *player, struct thread *thread, const struct step *step)
{
    struct frame *frame = &thread->frames[thread->depth - 1];
    uint32_t *flag = step->target >= 0 ? &player->flags[step->target] : NULL;
    uint64_t unit_ns = player->scenario->pace_percent * (uint64_t)NS_PER_US / 100;
    bool taken = true;

    switch (step->kind) {
    case STEP_BURN:
        run_on_cpu(thread, random_duration(thread, step->low * unit_ns, step->high * unit_ns));
        break;
    case STEP_SLEEP:
        thread->wall_ns += random_duration(thread, step->low * NS_PER_US, step->high * NS_PER_US);
        break;
    case STEP_CHANCE:
        taken = random_between(thread, 0, 99) < step->low;
        break;
    case STEP_IF:
        taken = (*flag == 0) == (step->low != 0);
        break;
    case STEP_IF_EMPTY:
        taken = !thread->has_message;
        break;
    case STEP_SET:
        *flag = step->low;
        break;
    case STEP_SUBTRACT:
        *flag -= *flag < step->low ? *flag : step->low;
        break;
    case STEP_TAKE:
        frame->payload = thread->message;
        thread->has_message = false;
        break;
    default:
        die("step %d of kind %d", frame->step, (int)step->kind);
    }
    go_on(frame, step, taken);
}

static void make_step(struct player *player, struct thread *thread)
{
    struct frame *frame = &thread->frames[thread->depth - 1];
    const struct step *step = &player->scenario->steps[frame->step];

    if (thread->throwing) {
        unwind(player, thread);
        return;
    }
    switch (step->kind) {
    case STEP_CALL:
        call(player, thread, step);
        break;
    case STEP_CALL_GIVEN:
        call_given(player, thread, step);
        break;
    case STEP_CHOOSE:
    case STEP_CHOOSE_NTH:
        choose(thread, step);
        break;
    case STEP_LOOP:
        begin_loop(thread, step);
        break;
    case STEP_LOOP_END:
        end_loop(frame);
        break;
    case STEP_POST:
    case STEP_POST_VSYNC:
        post(player, thread, step);
        frame->step++;
        break;
    case STEP_AWAIT:
        await_message(player, thread, step);
        break;
    case STEP_POLL:
        poll_queue(player, thread, step);
        break;
    case STEP_LOCK:
        lock(player, thread, step);
        break;
    case STEP_UNLOCK:
        unlock(player, thread, step);
        break;
    case STEP_THROW:
        thread->throwing = true;
        break;
    case STEP_LEAVE:
        record(player, thread, step->target, TV_MT_EXIT);
        frame->step++;
        break;
    case STEP_STOP:
        player->stopped = true;
        player->recording.end_ns = thread->wall_ns;
        break;
    case STEP_RETURN:
        finish_body(player, thread);
        break;
    default:
        make_plain_step(player, thread, step);
    }
}

static struct thread *find_next_thread(struct player *player)
{
    struct thread *next = NULL;

    for (int i = 0; i < player->scenario->thread_count; i++) {
        struct thread *thread = &player->threads[i];

        if (thread->state == RUNNING && (!next || thread->wall_ns < next->wall_ns))
            next = thread;
    }
    return next;
}

/* Delivers the earliest message that is due before `limit_ns`. */
static bool fire_timer(struct player *player, uint64_t limit_ns)
{
    int next = -1;
    struct timer timer;

    for (int i = 0; i < player->timer_count; i++)
        if (next < 0 || player->timers[i].at_ns < player->timers[next].at_ns)
            next = i;
    if (next < 0 || player->timers[next].at_ns > limit_ns)
        return false;
    timer = player->timers[next];
    for (int i = next + 1; i < player->timer_count; i++)
        player->timers[i - 1] = player->timers[i];
    player->timer_count--;
    if (timer.vsync)
        player->queues[timer.queue].vsync_under_way = false;
    deliver(player, timer.queue, timer.payload, timer.at_ns);
    return true;
}

static void *new_zeroed(int count, size_t size)
{
    void *block = calloc((size_t)count + 1, size);

    if (!block)
        die("out of memory");
    return block;
}

static void start_threads(struct player *player, uint64_t seed)
{
    const struct scenario *scenario = player->scenario;

    for (int i = 0; i < scenario->thread_count; i++) {
        struct thread *thread = &player->threads[i];

        thread->traced = scenario->threads[i].tid != 0;
        thread->random = seed + (uint64_t)i * 0xD1B54A32D192ED03u;
        thread->quantum_ns = random_between(thread, QUANTUM_MIN_NS, QUANTUM_MAX_NS);
        thread->open = new_zeroed(scenario->method_count, sizeof *thread->open);
        thread->frames[0] =
            (struct frame){.method = -1, .step = scenario->threads[i].body, .payload = NO_PAYLOAD};
        thread->depth = 1;
    }
}

static void release(struct player *player)
{
    for (int i = 0; i < player->scenario->thread_count; i++)
        free(player->threads[i].open);
    for (int i = 0; i < player->scenario->queues.count; i++)
        free(player->queues[i].messages);
    free(player->threads);
    free(player->queues);
    free(player->locks);
    free(player->flags);
    free(player->timers);
}

struct recording scenario_play(const struct scenario *scenario, uint64_t seed)
{
    struct player player = {
        .scenario = scenario,
        .threads = new_zeroed(scenario->thread_count, sizeof(struct thread)),
        .queues = new_zeroed(scenario->queues.count, sizeof(struct queue)),
        .locks = new_zeroed(scenario->locks.count, sizeof(struct lock)),
        .flags = new_zeroed(scenario->flags.count, sizeof(uint32_t)),
    };

    start_threads(&player, seed);
    while (!player.stopped) {
        struct thread *thread = find_next_thread(&player);

        if (fire_timer(&player, thread ? thread->wall_ns : UINT64_MAX))
            continue;
        if (!thread)
            die("every thread waits for another");
        make_step(&player, thread);
    }
    release(&player);
    return player.recording;
}
