/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limiter.c - the connection limiter: accepts connections, and cuts those that are too slow.
 *
 * One thread polls the listening sockets. It accepts a connection if the limits leave room, and
 * hands the socket to the server; otherwise it answers 503. Four times per shortest limit it checks
 * every connection:
 *
 *     state      head ----> handler <----> body ----> response ----> idle
 *     limit      head_ms    none           min rate   min rate       idle_ms
 *
 * The minimum rate is measured over windows of rate_ms. A window pauses while the handler works.
 * How much of an answer the client has read is known from the kernel (TCP_INFO: bytes
 * acknowledged), because the library only sees the socket buffer.
 *
 * A connection is cut with shutdown(), never with close(): its own thread owns the descriptor, sees
 * the end of input and detaches itself. `lock` covers the list of connections and all their
 * members, except `lingers`, which belongs to the connection's thread.
 *
 * Fairness: while a client may not use all connections (client_connections), it gets at most as
 * many as are still free. So the first client, or one with many addresses, leaves some to others.
 */
#define _GNU_SOURCE /* accept4, pipe2 */
#include "base/clock.h"
#include "http/internal.h"

#include <arpa/inet.h>
#include <assert.h>
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

/* Number of closing sockets whose input is drained at a time, and for how long. */
#define LINGERERS 64u
#define LINGER_MS 2000u
/* After running out of file descriptors, accept nobody for this long. */
#define PAUSE_MS 200u
/* Interval between checks for slow connections, and its lower bound. */
#define POLL_MS 1000u
#define POLL_MIN_MS 10u
/* The server attaches a connection within microseconds, or never if it ran out of memory. */
#define ATTACH_MS 1000u

struct tv_connection {
    struct tv_connection *next, *previous;
    int fd;
    uint8_t client[16]; /* identifies the client, see limiter_identify_client */
    char peer[INET6_ADDRSTRLEN];
    enum tv_connection_state state;
    enum tv_connection_state before; /* in state HANDLER: the state that it interrupts */
    bool attached;                   /* the server has a thread for it */
    bool cut, lingers;
    uint64_t since; /* ms: when the state, or its present window, began */
    uint64_t paused;
    uint64_t received; /* bytes of the body in this window */
    uint64_t acked;    /* bytes that the client had acknowledged when the window began */
};

struct limiter_lingerer {
    int fd;
    uint64_t until;
};

struct tv_limiter {
    struct tv_limiter_options options;
    struct tv_listener listeners[TV_LISTENERS];
    struct limiter_lingerer lingerers[LINGERERS]; /* used by the limiter's thread only */
    uint64_t paused_until;
    pthread_t thread;
    bool runs;
    int wake[2];
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a connection was attached or detached */
    struct tv_connection *connections;
    struct tv_http_counts counts;
    int leaving[LINGERERS]; /* duplicated descriptors of sockets to linger on */
    size_t leaving_count;
    bool closed, ending;
};

/*
 * Three kinds of threads meet here:
 *
 *     the limiter's     accepts, cuts, and reads the rest from sockets that linger
 *     a connection's    attach -> set_state ... -> detach; its library closes the socket afterwards
 *     the main thread   close (no new ones), wait_empty, stop, free
 *
 * A connection is in the list from before the server gets its socket until detach.
 */

/* Wake the thread, so that it looks at the lists again. */
static void limiter_wake(const struct tv_limiter *limiter)
{
    ssize_t written = write(limiter->wake[1], "", 1);
    (void)written; /* a full pipe wakes the thread as well */
}

/* ---- Slowness ---- */

/* Read how many bytes the client has acknowledged, and whether more are on their way to it. False:
 * the system does not tell. */
static bool limiter_read_acked(int fd, uint64_t *acked, bool *more)
{
#ifdef __linux__
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return false;
    *acked = info.tcpi_bytes_acked;
    *more = info.tcpi_unacked > 0 || info.tcpi_notsent_bytes > 0;
    return true;
#else
    (void)fd;
    *acked = 0;
    *more = false;
    return false;
#endif
}

/* Begin to measure the rate anew. */
static void limiter_begin_window(struct tv_connection *connection, uint64_t now)
{
    bool more;
    connection->since = now;
    connection->received = 0;
    if (connection->state == TV_CONNECTION_RESPONSE &&
        !limiter_read_acked(connection->fd, &connection->acked, &more))
        connection->acked = 0;
}

/* Return true when a connection stayed below the minimum rate in the window that ends now. */
static bool limiter_was_slow(const struct tv_limiter *limiter,
                             const struct tv_connection *connection)
{
    assert(connection->state == TV_CONNECTION_BODY || connection->state == TV_CONNECTION_RESPONSE);
    const struct tv_http_limits *limits = &limiter->options.limits;
    uint64_t least = (uint64_t)limits->rate * limits->rate_ms / 1000, acked;
    bool more;
    if (connection->state == TV_CONNECTION_BODY)
        return connection->received < least;
    return limiter_read_acked(connection->fd, &acked, &more) && more &&
           acked - connection->acked < least;
}

/* Return true when the time limit of the connection's state has passed. */
static bool limiter_is_due(const struct tv_limiter *limiter, struct tv_connection *connection,
                           uint64_t now)
{
    const struct tv_http_limits *limits = &limiter->options.limits;
    uint64_t passed = now - connection->since;
    switch (connection->state) {
    case TV_CONNECTION_HEAD:
        return passed >= limits->head_ms;
    case TV_CONNECTION_IDLE:
        return limiter->closed || passed >= limits->idle_ms;
    case TV_CONNECTION_BODY:
    case TV_CONNECTION_RESPONSE:
        if (passed < limits->rate_ms)
            return false;
        if (limiter_was_slow(limiter, connection))
            return true;
        limiter_begin_window(connection, now);
        return false;
    default:
        return false;
    }
}

/* Cut the connections that are over a limit. Runs under the lock, so that no descriptor is closed
 * and reused meanwhile. */
static void limiter_cut_due(struct tv_limiter *limiter)
{
    uint64_t now = (uint64_t)tv_monotonic_ms();
    for (struct tv_connection *connection = limiter->connections; connection;
         connection = connection->next) {
        if (connection->cut || !limiter_is_due(limiter, connection, now))
            continue;
        connection->cut = true;
        if (connection->state != TV_CONNECTION_IDLE)
            limiter->counts.slow++;
        shutdown(connection->fd, SHUT_RDWR);
    }
}

void tv_limiter_set_state(struct tv_limiter *limiter, struct tv_connection *connection,
                          enum tv_connection_state state, size_t bytes)
{
    uint64_t now = (uint64_t)tv_monotonic_ms();
    pthread_mutex_lock(&limiter->lock);
    connection->received += bytes;
    /* Time in the handler is the server's, not the client's: the window is moved by it. */
    if (state == TV_CONNECTION_HANDLER && connection->state != TV_CONNECTION_HANDLER) {
        connection->before = connection->state;
        connection->paused = now;
    } else if (connection->state == TV_CONNECTION_HANDLER && state == connection->before) {
        connection->since += now - connection->paused;
        connection->state = state;
    } else if (connection->state != state) {
        connection->state = state;
        limiter_begin_window(connection, now);
    }
    connection->state = state;
    pthread_mutex_unlock(&limiter->lock);
    if (state == TV_CONNECTION_IDLE && tv_limiter_is_closed(limiter))
        limiter_wake(limiter);
}

void tv_limiter_begin_head(struct tv_limiter *limiter, struct tv_connection *connection)
{
    pthread_mutex_lock(&limiter->lock);
    if (connection->state != TV_CONNECTION_HEAD) {
        connection->state = TV_CONNECTION_HEAD;
        connection->since = (uint64_t)tv_monotonic_ms();
    }
    pthread_mutex_unlock(&limiter->lock);
}

/* ---- Accept and close ---- */

/* Identify the client by its IPv4 address or its IPv6 /64 network: a client usually has all the
 * addresses in such a network. */
static void limiter_identify_client(struct tv_connection *connection,
                                    const struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
        memcpy(connection->client, &six->sin6_addr, 8);
        connection->client[15] = 6;
        inet_ntop(AF_INET6, &six->sin6_addr, connection->peer, sizeof connection->peer);
    } else {
        const struct sockaddr_in *four = (const struct sockaddr_in *)address;
        memcpy(connection->client, &four->sin_addr, 4);
        connection->client[15] = 4;
        inet_ntop(AF_INET, &four->sin_addr, connection->peer, sizeof connection->peer);
    }
}

/* Return true when the limits allow one more connection. Runs under the lock. */
static bool limiter_has_room(const struct tv_limiter *limiter,
                             const struct tv_connection *connection)
{
    const struct tv_http_limits *limits = &limiter->options.limits;
    uint32_t same = 0;
    if (limiter->counts.connections >= limits->connections)
        return false;
    for (const struct tv_connection *other = limiter->connections; other; other = other->next)
        same += memcmp(other->client, connection->client, sizeof connection->client) == 0;
    /* The fairness rule of the opening comment. */
    uint32_t free = limits->connections - limiter->counts.connections;
    return same < limits->client_connections &&
           (limits->client_connections >= limits->connections || same < free);
}

/* Add a connection to the list. Runs under the lock. */
static void limiter_link(struct tv_limiter *limiter, struct tv_connection *connection)
{
    assert(connection->next == NULL && connection->previous == NULL);
    connection->next = limiter->connections;
    if (connection->next)
        connection->next->previous = connection;
    limiter->connections = connection;
    limiter->counts.connections++;
}

/* Drain input from a socket whose answer is complete, see tv_connection_set_linger. */
static void limiter_linger(struct tv_limiter *limiter, int fd)
{
    assert(fd >= 0);
    for (size_t i = 0; i < LINGERERS; i++) {
        if (limiter->lingerers[i].fd >= 0)
            continue;
        limiter->lingerers[i] =
            (struct limiter_lingerer){fd, (uint64_t)tv_monotonic_ms() + LINGER_MS};
        return;
    }
    close(fd);
}

/* Answer 503 without a thread, and close the connection gently. */
static void limiter_reject(struct tv_limiter *limiter, int fd)
{
    static const char text[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n"
                               "Retry-After: 5\r\nConnection: close\r\n\r\n";
    if (limiter->options.speaks_first) {
        ssize_t sent = send(fd, text, sizeof text - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        (void)sent; /* a client that misses the answer sees the connection close */
    }
    shutdown(fd, SHUT_WR);
    limiter_linger(limiter, fd);
}

/* Admit a connection or reject it. It is listed before the server gets it, because the server's
 * thread looks for it at once. */
static void limiter_admit(struct tv_limiter *limiter, int fd,
                          const struct sockaddr_storage *address, socklen_t size)
{
    struct tv_connection *connection = tv_alloc(1, sizeof *connection);
    connection->fd = fd;
    connection->since = (uint64_t)tv_monotonic_ms();
    connection->lingers = true;
    limiter_identify_client(connection, address);
    pthread_mutex_lock(&limiter->lock);
    bool admitted = !limiter->closed && limiter_has_room(limiter, connection);
    if (admitted) {
        limiter_link(limiter, connection);
        limiter->counts.accepted++;
    } else {
        limiter->counts.refused++;
    }
    pthread_mutex_unlock(&limiter->lock);
    if (!admitted) {
        tv_free(connection);
        limiter_reject(limiter, fd);
    } else if (!limiter->options.enter(limiter->options.context, fd,
                                       (const struct sockaddr *)address, size)) {
        tv_connection_set_linger(connection, false);
        tv_limiter_detach(limiter, connection);
    }
}

/* Accept everybody who waits, so many at most that slow connections are checked in between. When
 * that fails, as without descriptors, it pauses instead of spinning. */
static void limiter_accept_all(struct tv_limiter *limiter, int listener)
{
    for (unsigned i = 0; i < LINGERERS; i++) {
        struct sockaddr_storage address = {0};
        socklen_t size = sizeof address;
        int fd =
            accept4(listener, (struct sockaddr *)&address, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            limiter_admit(limiter, fd, &address, size);
            continue;
        }
        if (errno == EAGAIN)
            return;
        if (errno != ECONNABORTED && errno != EINTR) {
            limiter->paused_until = (uint64_t)tv_monotonic_ms() + PAUSE_MS;
            return;
        }
    }
}

struct tv_connection *tv_limiter_attach(struct tv_limiter *limiter, int fd)
{
    pthread_mutex_lock(&limiter->lock);
    struct tv_connection *connection = limiter->connections;
    while (connection && connection->fd != fd)
        connection = connection->next;
    if (connection)
        connection->attached = true;
    pthread_cond_broadcast(&limiter->changed);
    pthread_mutex_unlock(&limiter->lock);
    return connection;
}

const char *tv_connection_peer(const struct tv_connection *connection)
{
    return connection->peer;
}

void tv_connection_set_linger(struct tv_connection *connection, bool lingers)
{
    connection->lingers = lingers;
}

void tv_limiter_detach(struct tv_limiter *limiter, struct tv_connection *connection)
{
    pthread_mutex_lock(&limiter->lock);
    if (connection->previous)
        connection->previous->next = connection->next;
    else
        limiter->connections = connection->next;
    if (connection->next)
        connection->next->previous = connection->previous;
    limiter->counts.connections--;
    pthread_cond_broadcast(&limiter->changed);
    /* Closing a socket with unread input resets the connection, and a reset may overtake our
     * answer.  So a duplicate stays open until the client has stopped sending; the library closes
     * its own. */
    bool lingers = connection->lingers && !connection->cut && !limiter->ending &&
                   limiter->leaving_count < LINGERERS;
    int copy = lingers ? fcntl(connection->fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (copy >= 0)
        limiter->leaving[limiter->leaving_count++] = copy;
    pthread_mutex_unlock(&limiter->lock);
    if (copy >= 0)
        limiter_wake(limiter);
    tv_free(connection);
}

/* ---- The thread ---- */

/* Take over the sockets that other threads left behind. */
static void limiter_take_lingerers(struct tv_limiter *limiter)
{
    int fds[LINGERERS];
    pthread_mutex_lock(&limiter->lock);
    size_t count = limiter->leaving_count;
    memcpy(fds, limiter->leaving, count * sizeof *fds);
    limiter->leaving_count = 0;
    pthread_mutex_unlock(&limiter->lock);
    for (size_t i = 0; i < count; i++)
        limiter_linger(limiter, fds[i]);
}

/* Read what a client still sends after its refusal, so that the refusal reaches it; close when it
 * stops or the time is up. */
static void limiter_drain_lingerer(struct limiter_lingerer *lingerer, bool readable, uint64_t now)
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

static int limiter_least_ms(uint64_t a, uint64_t b)
{
    return (int)(a < b ? a : b);
}

/* Return the time in ms until a check is due; -1, without limit, if there is nothing to check. */
static int limiter_poll_timeout(struct tv_limiter *limiter, size_t lingering, bool paused)
{
    const struct tv_http_limits *limits = &limiter->options.limits;
    uint64_t shortest = POLL_MS * 4;
    const uint32_t all[] = {limits->idle_ms, limits->head_ms, limits->rate_ms};
    for (size_t i = 0; i < TV_COUNT(all); i++)
        shortest = all[i] < shortest ? all[i] : shortest;
    pthread_mutex_lock(&limiter->lock);
    bool has_any = limiter->connections != NULL;
    pthread_mutex_unlock(&limiter->lock);
    if (!has_any && lingering == 0 && !paused)
        return -1;
    uint64_t look = shortest / 4 > POLL_MIN_MS ? shortest / 4 : POLL_MIN_MS;
    return limiter_least_ms(look, paused || lingering > 0 ? PAUSE_MS : POLL_MS);
}

/* Wait once and handle the events: poll 0 is the wake-up pipe, then the listeners, then the
 * lingerers. */
static void limiter_poll_once(struct tv_limiter *limiter)
{
    struct pollfd polls[1 + TV_LISTENERS + LINGERERS] = {
        {.fd = limiter->wake[0], .events = POLLIN}};
    struct limiter_lingerer *lingerers[LINGERERS];
    uint8_t buffer[256];
    size_t lingering = 0, count = 1;
    bool paused = (uint64_t)tv_monotonic_ms() < limiter->paused_until;
    for (size_t i = 0; i < limiter->options.count; i++)
        polls[count++] =
            (struct pollfd){.fd = paused ? -1 : limiter->listeners[i].fd, .events = POLLIN};
    for (size_t i = 0; i < LINGERERS; i++) {
        if (limiter->lingerers[i].fd < 0)
            continue;
        polls[count++] = (struct pollfd){.fd = limiter->lingerers[i].fd, .events = POLLIN};
        lingerers[lingering++] = &limiter->lingerers[i];
    }
    if (poll(polls, count, limiter_poll_timeout(limiter, lingering, paused)) < 0)
        return;
    if (polls[0].revents != 0) {
        ssize_t got = read(limiter->wake[0], buffer, sizeof buffer);
        (void)got; /* the bytes only wake */
    }
    for (size_t i = 0; i < lingering; i++)
        limiter_drain_lingerer(lingerers[i], polls[1 + limiter->options.count + i].revents != 0,
                               (uint64_t)tv_monotonic_ms());
    for (size_t i = 0; i < limiter->options.count; i++)
        if (polls[1 + i].revents != 0)
            limiter_accept_all(limiter, limiter->listeners[i].fd);
}

static bool limiter_should_stop(struct tv_limiter *limiter)
{
    pthread_mutex_lock(&limiter->lock);
    limiter_cut_due(limiter);
    bool ending = limiter->ending;
    bool closed = limiter->closed;
    pthread_mutex_unlock(&limiter->lock);
    if (closed)
        tv_listen_end(limiter->listeners, limiter->options.count);
    return ending;
}

static void *limiter_run(void *context)
{
    struct tv_limiter *limiter = context;
    while (!limiter_should_stop(limiter)) {
        limiter_take_lingerers(limiter);
        limiter_poll_once(limiter);
    }
    return NULL;
}

/* ---- Life cycle ---- */

struct tv_limiter *tv_limiter_new(const struct tv_limiter_options *options)
{
    assert(options->count <= TV_LISTENERS && options->limits.connections > 0);
    struct tv_limiter *limiter = tv_alloc(1, sizeof *limiter);
    pthread_condattr_t attributes;
    limiter->options = *options;
    memcpy(limiter->listeners, options->listeners, options->count * sizeof *options->listeners);
    for (size_t i = 0; i < LINGERERS; i++)
        limiter->lingerers[i].fd = -1;
    limiter->wake[0] = limiter->wake[1] = -1;
    pthread_mutex_init(&limiter->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&limiter->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return limiter;
}

/* Start the thread with all signals blocked: they are for the program's other threads. */
static int limiter_start_thread(struct tv_limiter *limiter)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = tv_thread_start(&limiter->thread, TV_THREAD_STACK, limiter_run, limiter);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

enum tv_status tv_limiter_start(struct tv_limiter *limiter, struct tv_error *err)
{
    assert(!limiter->runs);
    if (pipe2(limiter->wake, O_CLOEXEC | O_NONBLOCK) != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot make a pipe: %s", strerror(errno));
    int error = limiter_start_thread(limiter);
    if (error != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot start a thread: %s", strerror(error));
    limiter->runs = true;
    return TV_OK;
}

static void limiter_set_flag(struct tv_limiter *limiter, bool *flag)
{
    pthread_mutex_lock(&limiter->lock);
    *flag = true;
    pthread_mutex_unlock(&limiter->lock);
    limiter_wake(limiter);
}

void tv_limiter_close(struct tv_limiter *limiter)
{
    limiter_set_flag(limiter, &limiter->closed);
}

bool tv_limiter_is_closed(struct tv_limiter *limiter)
{
    pthread_mutex_lock(&limiter->lock);
    bool closed = limiter->closed;
    pthread_mutex_unlock(&limiter->lock);
    return closed;
}

static bool limiter_is_empty(const struct tv_limiter *limiter)
{
    return limiter->connections == NULL;
}

static bool limiter_has_attached_all(const struct tv_limiter *limiter)
{
    const struct tv_connection *connection = limiter->connections;
    while (connection != NULL && connection->attached)
        connection = connection->next;
    return connection == NULL;
}

static bool limiter_wait_until(struct tv_limiter *limiter,
                               bool (*holds)(const struct tv_limiter *limiter), unsigned timeout_ms)
{
    /* monotonic, as the condition's clock: setting the system's clock does not change the wait */
    struct timespec until = tv_monotonic_deadline(timeout_ms);
    int error = 0;
    pthread_mutex_lock(&limiter->lock);
    while (!holds(limiter) && error == 0)
        error = pthread_cond_timedwait(&limiter->changed, &limiter->lock, &until);
    bool held = holds(limiter);
    pthread_mutex_unlock(&limiter->lock);
    return held;
}

bool tv_limiter_wait_empty(struct tv_limiter *limiter, unsigned timeout_ms)
{
    return limiter_wait_until(limiter, limiter_is_empty, timeout_ms);
}

void tv_limiter_count(struct tv_limiter *limiter, struct tv_http_counts *counts)
{
    pthread_mutex_lock(&limiter->lock);
    counts->accepted = limiter->counts.accepted;
    counts->refused = limiter->counts.refused;
    counts->slow = limiter->counts.slow;
    counts->connections = limiter->counts.connections;
    pthread_mutex_unlock(&limiter->lock);
}

/* Attached connections detach themselves. Those that were never attached are freed by
 * tv_limiter_free. */
void tv_limiter_stop(struct tv_limiter *limiter)
{
    if (!limiter->runs)
        return;
    limiter_set_flag(limiter, &limiter->ending);
    pthread_join(limiter->thread, NULL);
    limiter->runs = false;
    (void)limiter_wait_until(limiter, limiter_has_attached_all, ATTACH_MS);
}

void tv_limiter_free(struct tv_limiter *limiter)
{
    assert(!limiter->runs);
    while (limiter->connections) {
        struct tv_connection *forgotten = limiter->connections;
        limiter->connections = forgotten->next;
        tv_free(forgotten);
    }
    for (size_t i = 0; i < LINGERERS; i++)
        if (limiter->lingerers[i].fd >= 0)
            close(limiter->lingerers[i].fd);
    for (size_t i = 0; i < limiter->leaving_count; i++)
        close(limiter->leaving[i]);
    tv_listen_end(limiter->listeners, limiter->options.count);
    for (size_t i = 0; i < 2; i++)
        if (limiter->wake[i] >= 0)
            close(limiter->wake[i]);
    pthread_cond_destroy(&limiter->changed);
    pthread_mutex_destroy(&limiter->lock);
    tv_free(limiter);
}
