/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pipe.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

/* A pipe gives at most 64 KiB at a time unless somebody made it larger. */
#define PIPE_CHUNK ((size_t)256 * 1024)

struct pipe {
    int fd; /* -1: the end was seen */
    struct tv_spool *spool;
    uint8_t *chunk;
};

/* Nothing more is read: whoever writes there learns it. */
static void end_pipe(struct pipe *pipe)
{
    if (pipe->fd >= 0)
        close(pipe->fd);
    pipe->fd = -1;
    tv_free(pipe->chunk);
    pipe->chunk = NULL;
}

/* Takes what is there, at least a byte of it. */
static enum tv_status take_chunk(struct pipe *pipe, struct tv_error *err)
{
    ssize_t n;
    do
        n = read(pipe->fd, pipe->chunk, PIPE_CHUNK);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot read: %s", strerror(errno));
    if (n == 0)
        end_pipe(pipe);
    return tv_spool_add(pipe->spool, (struct tv_bytes){pipe->chunk, (size_t)n}, err);
}

static enum tv_status grow(void *context, uint64_t wanted, uint64_t *size, bool *ended,
                           struct tv_error *err)
{
    struct pipe *pipe = context;
    enum tv_status status = TV_OK;
    while (status == TV_OK && pipe->fd >= 0 && tv_spool_size(pipe->spool) < wanted)
        status = take_chunk(pipe, err);
    if (status != TV_OK)
        end_pipe(pipe);
    *size = tv_spool_size(pipe->spool);
    *ended = pipe->fd < 0;
    return status;
}

static enum tv_status read_pipe(void *context, uint64_t offset, void *buffer, size_t size,
                                struct tv_error *err)
{
    const struct pipe *pipe = context;
    return tv_spool_read(pipe->spool, offset, buffer, size, err);
}

/* An end that can be read is there, too. */
static bool would_wait(void *context)
{
    const struct pipe *pipe = context;
    struct pollfd wanted = {.fd = pipe->fd, .events = POLLIN};
    return pipe->fd >= 0 && poll(&wanted, 1, 0) == 0;
}

static void close_pipe(void *context)
{
    struct pipe *pipe = context;
    end_pipe(pipe);
    tv_spool_free(pipe->spool);
    tv_free(pipe);
}

struct tv_source *tv_pipe_open(int fd, const char *name)
{
    static const struct tv_source_growth growth = {
        .reads = {.read = read_pipe, .close = close_pipe},
        .grow = grow,
        .would_wait = would_wait,
    };
    struct pipe *pipe = tv_alloc(1, sizeof *pipe);
    *pipe = (struct pipe){fd, tv_spool_new(name), tv_alloc(PIPE_CHUNK, 1)};
    return tv_source_from_growth(&growth, pipe, name);
}
