/* SPDX-License-Identifier: Apache-2.0 */
/* For accept4 and pipe2: no moment in which a child process could inherit a client. */
#define _GNU_SOURCE
#include "http/door.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/tcp.h>
#endif

#include "base/memory.h"
#include "base/workers.h"

/* So many of those who were told no are read from at a time, each so long at most. */
#define LINGERERS 64u
#define LINGER_MS 2000u
/* When there are no more file descriptors nobody is let in for so long. */
#define REST_MS 200u
/* So often somebody looks who is slow; never more often than the shortest limit needs. */
#define LOOK_MS 1000u
#define LOOK_LEAST_MS 10u
/* The server, woken, begins with a connection within microseconds; or never, without memory. */
#define RECEIVE_MS 1000u

struct tv_guest {
    struct tv_guest *next, *previous;
    int fd;
    uint8_t client[16]; /* what counts as one client */
    char peer[INET6_ADDRSTRLEN];
    enum tv_guest_state state;
    enum tv_guest_state before; /* WAITS: the state that it interrupts */
    bool received;              /* the server has begun with it */
    bool shown_out, lingers;
    uint64_t since; /* ms: the state, or its present window, began */
    uint64_t paused;
    uint64_t moved; /* bytes of the body in this window */
    uint64_t taken; /* bytes that the client had taken when the window began */
};

struct lingerer {
    int fd;
    uint64_t until;
};

struct tv_door {
    struct tv_door_options options;
    struct tv_listener listeners[TV_LISTENERS];
    struct lingerer lingerers[LINGERERS]; /* the thread's own */
    uint64_t rests_until;
    pthread_t thread;
    bool runs;
    int wake[2];
    pthread_mutex_t lock;
    pthread_cond_t moved; /* somebody was received, or left */
    struct tv_guest *guests;
    struct tv_http_counts counts;
    int leaving[LINGERERS]; /* sockets to linger on */
    size_t leaving_count;
    bool closed, ending;
};

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void wake(const struct tv_door *door)
{
    ssize_t written = write(door->wake[1], "", 1);
    (void)written; /* a full pipe wakes as well */
}

/* Slowness. */

/* How many bytes the client has taken, and whether there are more for it.  False: nobody knows. */
static bool read_taken(int fd, uint64_t *taken, bool *more)
{
#ifdef __linux__
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return false;
    *taken = info.tcpi_bytes_acked;
    *more = info.tcpi_unacked > 0 || info.tcpi_notsent_bytes > 0;
    return true;
#else
    (void)fd;
    *taken = 0;
    *more = false;
    return false;
#endif
}

static void begin_window(struct tv_guest *guest, uint64_t now)
{
    bool more;
    guest->since = now;
    guest->moved = 0;
    if (guest->state == TV_GUEST_TAKES && !read_taken(guest->fd, &guest->taken, &more))
        guest->taken = 0;
}

/* At the end of a window. */
static bool was_slow(const struct tv_door *door, const struct tv_guest *guest)
{
    const struct tv_http_limits *limits = &door->options.limits;
    uint64_t least = (uint64_t)limits->rate * limits->rate_ms / 1000, taken;
    bool more;
    if (guest->state == TV_GUEST_SENDS)
        return guest->moved < least;
    return read_taken(guest->fd, &taken, &more) && more && taken - guest->taken < least;
}

/* Whether its time is over. */
static bool must_go(const struct tv_door *door, struct tv_guest *guest, uint64_t now)
{
    const struct tv_http_limits *limits = &door->options.limits;
    uint64_t passed = now - guest->since;
    switch (guest->state) {
    case TV_GUEST_ASKS:
        return passed >= limits->head_ms;
    case TV_GUEST_RESTS:
        return door->closed || passed >= limits->idle_ms;
    case TV_GUEST_SENDS:
    case TV_GUEST_TAKES:
        if (passed < limits->rate_ms)
            return false;
        if (was_slow(door, guest))
            return true;
        begin_window(guest, now);
        return false;
    default:
        return false;
    }
}

/* With the lock held, so that the socket is not closed meanwhile: its thread finds it at its end.
 */
static void show_out(struct tv_door *door)
{
    uint64_t now = now_ms();
    for (struct tv_guest *guest = door->guests; guest; guest = guest->next) {
        if (guest->shown_out || !must_go(door, guest, now))
            continue;
        guest->shown_out = true;
        if (guest->state != TV_GUEST_RESTS)
            door->counts.slow++;
        shutdown(guest->fd, SHUT_RDWR);
    }
}

void tv_door_set(struct tv_door *door, struct tv_guest *guest, enum tv_guest_state state,
                 size_t bytes)
{
    uint64_t now = now_ms();
    pthread_mutex_lock(&door->lock);
    guest->moved += bytes;
    if (state == TV_GUEST_WAITS && guest->state != TV_GUEST_WAITS) {
        guest->before = guest->state;
        guest->paused = now;
    } else if (guest->state == TV_GUEST_WAITS && state == guest->before) {
        guest->since += now - guest->paused;
        guest->state = state;
    } else if (guest->state != state) {
        guest->state = state;
        begin_window(guest, now);
    }
    guest->state = state;
    pthread_mutex_unlock(&door->lock);
    if (state == TV_GUEST_RESTS && tv_door_is_closed(door))
        wake(door);
}

void tv_door_asks(struct tv_door *door, struct tv_guest *guest)
{
    pthread_mutex_lock(&door->lock);
    if (guest->state != TV_GUEST_ASKS) {
        guest->state = TV_GUEST_ASKS;
        guest->since = now_ms();
    }
    pthread_mutex_unlock(&door->lock);
}

/* Coming and going. */

/* Of IPv6 the network's 64 bits: each client has all the addresses in it. */
static void note_client(struct tv_guest *guest, const struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
        memcpy(guest->client, &six->sin6_addr, 8);
        guest->client[15] = 6;
        inet_ntop(AF_INET6, &six->sin6_addr, guest->peer, sizeof guest->peer);
    } else {
        const struct sockaddr_in *four = (const struct sockaddr_in *)address;
        memcpy(guest->client, &four->sin_addr, 4);
        guest->client[15] = 4;
        inet_ntop(AF_INET, &four->sin_addr, guest->peer, sizeof guest->peer);
    }
}

/* With the lock held. */
static bool has_room(const struct tv_door *door, const struct tv_guest *guest)
{
    const struct tv_http_limits *limits = &door->options.limits;
    uint32_t same = 0;
    if (door->counts.connections >= limits->connections)
        return false;
    for (const struct tv_guest *other = door->guests; other; other = other->next)
        same += memcmp(other->client, guest->client, sizeof guest->client) == 0;
    /* A client that may not have all has at most as many as are free: who comes first, or has many
     * addresses, leaves some to others. */
    uint32_t free = limits->connections - door->counts.connections;
    return same < limits->client_connections &&
           (limits->client_connections >= limits->connections || same < free);
}

static void put_in(struct tv_door *door, struct tv_guest *guest)
{
    guest->next = door->guests;
    if (guest->next)
        guest->next->previous = guest;
    door->guests = guest;
    door->counts.connections++;
}

/* Reads on from a socket that was told all there is to say. */
static void linger_on(struct tv_door *door, int fd)
{
    for (size_t i = 0; i < LINGERERS; i++) {
        if (door->lingerers[i].fd >= 0)
            continue;
        door->lingerers[i] = (struct lingerer){fd, now_ms() + LINGER_MS};
        return;
    }
    close(fd);
}

static void turn_away(struct tv_door *door, int fd)
{
    static const char text[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n"
                               "Retry-After: 5\r\nConnection: close\r\n\r\n";
    if (door->options.speaks_first) {
        ssize_t sent = send(fd, text, sizeof text - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        (void)sent; /* who does not hear it finds the connection closed */
    }
    shutdown(fd, SHUT_WR);
    linger_on(door, fd);
}

static void admit(struct tv_door *door, int fd, const struct sockaddr_storage *address,
                  socklen_t size)
{
    struct tv_guest *guest = tv_alloc(1, sizeof *guest);
    guest->fd = fd;
    guest->since = now_ms();
    guest->lingers = true;
    note_client(guest, address);
    pthread_mutex_lock(&door->lock);
    bool comes_in = !door->closed && has_room(door, guest);
    if (comes_in) {
        put_in(door, guest);
        door->counts.accepted++;
    } else {
        door->counts.refused++;
    }
    pthread_mutex_unlock(&door->lock);
    if (!comes_in) {
        tv_free(guest);
        turn_away(door, fd);
    } else if (!door->options.enter(door->options.context, fd, (const struct sockaddr *)address,
                                    size)) {
        tv_guest_lingers(guest, false);
        tv_door_leave(door, guest);
    }
}

static void accept_all(struct tv_door *door, int listener)
{
    for (unsigned i = 0; i < LINGERERS; i++) {
        struct sockaddr_storage address = {0};
        socklen_t size = sizeof address;
        int fd =
            accept4(listener, (struct sockaddr *)&address, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            admit(door, fd, &address, size);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            door->rests_until = now_ms() + REST_MS;
        if (errno != ECONNABORTED && errno != EINTR)
            return;
    }
}

struct tv_guest *tv_door_receive(struct tv_door *door, int fd)
{
    pthread_mutex_lock(&door->lock);
    struct tv_guest *guest = door->guests;
    while (guest && guest->fd != fd)
        guest = guest->next;
    if (guest)
        guest->received = true;
    pthread_cond_broadcast(&door->moved);
    pthread_mutex_unlock(&door->lock);
    return guest;
}

const char *tv_guest_peer(const struct tv_guest *guest)
{
    return guest->peer;
}

void tv_guest_lingers(struct tv_guest *guest, bool lingers)
{
    guest->lingers = lingers;
}

void tv_door_leave(struct tv_door *door, struct tv_guest *guest)
{
    pthread_mutex_lock(&door->lock);
    if (guest->previous)
        guest->previous->next = guest->next;
    else
        door->guests = guest->next;
    if (guest->next)
        guest->next->previous = guest->previous;
    door->counts.connections--;
    pthread_cond_broadcast(&door->moved);
    bool lingers =
        guest->lingers && !guest->shown_out && !door->ending && door->leaving_count < LINGERERS;
    int copy = lingers ? fcntl(guest->fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (copy >= 0)
        door->leaving[door->leaving_count++] = copy;
    pthread_mutex_unlock(&door->lock);
    if (copy >= 0)
        wake(door);
    tv_free(guest);
}

/* The thread. */

static void take_lingerers(struct tv_door *door)
{
    int fds[LINGERERS];
    pthread_mutex_lock(&door->lock);
    size_t count = door->leaving_count;
    memcpy(fds, door->leaving, count * sizeof *fds);
    door->leaving_count = 0;
    pthread_mutex_unlock(&door->lock);
    for (size_t i = 0; i < count; i++)
        linger_on(door, fds[i]);
}

static void drop_input(struct lingerer *lingerer, bool readable, uint64_t now)
{
    uint8_t buffer[16384];
    ssize_t got = 1;
    if (readable)
        got = recv(lingerer->fd, buffer, sizeof buffer, MSG_DONTWAIT);
    bool over = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    if (!over && now < lingerer->until)
        return;
    close(lingerer->fd);
    lingerer->fd = -1;
}

static int least_of(uint64_t a, uint64_t b)
{
    return (int)(a < b ? a : b);
}

/* How long nothing can become due: without limit when nobody is there. */
static int find_patience(struct tv_door *door, size_t lingering, bool rests)
{
    const struct tv_http_limits *limits = &door->options.limits;
    uint64_t shortest = LOOK_MS * 4;
    const uint32_t all[] = {limits->idle_ms, limits->head_ms, limits->rate_ms};
    for (size_t i = 0; i < TV_COUNT(all); i++)
        shortest = all[i] < shortest ? all[i] : shortest;
    pthread_mutex_lock(&door->lock);
    bool somebody = door->guests != NULL;
    pthread_mutex_unlock(&door->lock);
    if (!somebody && lingering == 0 && !rests)
        return -1;
    uint64_t look = shortest / 4 > LOOK_LEAST_MS ? shortest / 4 : LOOK_LEAST_MS;
    return least_of(look, rests || lingering > 0 ? REST_MS : LOOK_MS);
}

/* One wait and what came of it: [0] wakes, then the listeners, then those who linger. */
static void look_once(struct tv_door *door)
{
    struct pollfd polls[1 + TV_LISTENERS + LINGERERS] = {{.fd = door->wake[0], .events = POLLIN}};
    struct lingerer *lingerers[LINGERERS];
    uint8_t buffer[256];
    size_t lingering = 0, count = 1;
    bool rests = now_ms() < door->rests_until;
    for (size_t i = 0; i < door->options.count; i++)
        polls[count++] =
            (struct pollfd){.fd = rests ? -1 : door->listeners[i].fd, .events = POLLIN};
    for (size_t i = 0; i < LINGERERS; i++) {
        if (door->lingerers[i].fd < 0)
            continue;
        polls[count++] = (struct pollfd){.fd = door->lingerers[i].fd, .events = POLLIN};
        lingerers[lingering++] = &door->lingerers[i];
    }
    if (poll(polls, count, find_patience(door, lingering, rests)) < 0)
        return;
    if (polls[0].revents != 0 && read(door->wake[0], buffer, sizeof buffer) < 0 && errno != EAGAIN)
        return;
    for (size_t i = 0; i < lingering; i++)
        drop_input(lingerers[i], polls[1 + door->options.count + i].revents != 0, now_ms());
    for (size_t i = 0; i < door->options.count; i++)
        if (polls[1 + i].revents != 0)
            accept_all(door, door->listeners[i].fd);
}

static bool is_ending(struct tv_door *door)
{
    pthread_mutex_lock(&door->lock);
    show_out(door);
    bool ending = door->ending;
    bool closed = door->closed;
    pthread_mutex_unlock(&door->lock);
    if (closed)
        tv_listen_end(door->listeners, door->options.count);
    return ending;
}

static void *keep_door(void *context)
{
    struct tv_door *door = context;
    while (!is_ending(door)) {
        take_lingerers(door);
        look_once(door);
    }
    return NULL;
}

/* Life. */

struct tv_door *tv_door_new(const struct tv_door_options *options)
{
    struct tv_door *door = tv_alloc(1, sizeof *door);
    pthread_condattr_t attributes;
    door->options = *options;
    memcpy(door->listeners, options->listeners, options->count * sizeof *options->listeners);
    for (size_t i = 0; i < LINGERERS; i++)
        door->lingerers[i].fd = -1;
    door->wake[0] = door->wake[1] = -1;
    pthread_mutex_init(&door->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&door->moved, &attributes);
    pthread_condattr_destroy(&attributes);
    return door;
}

/* The program's signals are for its other threads. */
static int start_thread(struct tv_door *door)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = tv_thread_start(&door->thread, TV_THREAD_STACK, keep_door, door);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

enum tv_status tv_door_open(struct tv_door *door, struct tv_error *err)
{
    if (pipe2(door->wake, O_CLOEXEC | O_NONBLOCK) != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot make a pipe: %s", strerror(errno));
    int error = start_thread(door);
    if (error != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot start a thread: %s", strerror(error));
    door->runs = true;
    return TV_OK;
}

static void set_flag(struct tv_door *door, bool *flag)
{
    pthread_mutex_lock(&door->lock);
    *flag = true;
    pthread_mutex_unlock(&door->lock);
    wake(door);
}

void tv_door_close(struct tv_door *door)
{
    set_flag(door, &door->closed);
}

bool tv_door_is_closed(struct tv_door *door)
{
    pthread_mutex_lock(&door->lock);
    bool closed = door->closed;
    pthread_mutex_unlock(&door->lock);
    return closed;
}

static bool is_empty(const struct tv_door *door)
{
    return door->guests == NULL;
}

static bool has_received_all(const struct tv_door *door)
{
    const struct tv_guest *guest = door->guests;
    while (guest != NULL && guest->received)
        guest = guest->next;
    return guest == NULL;
}

static bool wait_until(struct tv_door *door, bool (*holds)(const struct tv_door *door),
                       unsigned timeout_ms)
{
    struct timespec until;
    int error = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&door->lock);
    while (!holds(door) && error == 0)
        error = pthread_cond_timedwait(&door->moved, &door->lock, &until);
    bool held = holds(door);
    pthread_mutex_unlock(&door->lock);
    return held;
}

bool tv_door_wait_empty(struct tv_door *door, unsigned timeout_ms)
{
    return wait_until(door, is_empty, timeout_ms);
}

void tv_door_count(struct tv_door *door, struct tv_http_counts *counts)
{
    pthread_mutex_lock(&door->lock);
    counts->accepted = door->counts.accepted;
    counts->refused = door->counts.refused;
    counts->slow = door->counts.slow;
    counts->connections = door->counts.connections;
    pthread_mutex_unlock(&door->lock);
}

/* Whom the server has received leaves by tv_door_leave; whom it has not it may forget at its end.
 */
void tv_door_end(struct tv_door *door)
{
    if (!door->runs)
        return;
    set_flag(door, &door->ending);
    pthread_join(door->thread, NULL);
    door->runs = false;
    (void)wait_until(door, has_received_all, RECEIVE_MS);
}

void tv_door_free(struct tv_door *door)
{
    while (door->guests) {
        struct tv_guest *forgotten = door->guests;
        door->guests = forgotten->next;
        tv_free(forgotten);
    }
    for (size_t i = 0; i < LINGERERS; i++)
        if (door->lingerers[i].fd >= 0)
            close(door->lingerers[i].fd);
    for (size_t i = 0; i < door->leaving_count; i++)
        close(door->leaving[i]);
    tv_listen_end(door->listeners, door->options.count);
    for (size_t i = 0; i < 2; i++)
        if (door->wake[i] >= 0)
            close(door->wake[i]);
    pthread_cond_destroy(&door->moved);
    pthread_mutex_destroy(&door->lock);
    tv_free(door);
}
