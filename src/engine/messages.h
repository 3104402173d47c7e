/* SPDX-License-Identifier: Apache-2.0 */
/*
 * messages.h - what a server and its child say to each other: packets over one socket, answers
 * through pipes of their own.
 *
 * Both are the same program, so numbers stand as this machine has them; but what is hostile may
 * have taken the child over: the server checks each of them.  The child gets its files by the
 * numbers below.
 *
 * An answer is a byte of its status (enum tv_engine_outcome), then pieces: the length in 4 bytes,
 * at most TV_ENGINE_PIECE, and so many bytes.  0 ends an answer that is whole; a pipe that ends
 * before has lost the rest.
 */
#ifndef TV_ENGINE_MESSAGES_H
#define TV_ENGINE_MESSAGES_H

#include "base/error.h"
#include "view/view.h"

enum tv_engine_fd {
    TV_ENGINE_FD_SOCKET = 3,
    TV_ENGINE_FD_SCRATCH, /* the folder */
    TV_ENGINE_FD_TRACE,
    TV_ENGINE_FD_INDEX,
    TV_ENGINE_FD_NEW_INDEX,
    TV_ENGINE_FD_END,
};

/* The command that the server runs: no file that somebody wants to look at is called so. */
#define TV_ENGINE_COMMAND "(engine)"

enum tv_engine_message_kind {
    TV_ENGINE_BEGIN,    /* to the child: the first */
    TV_ENGINE_QUESTION, /* to the child, with the pipe for its answer; text behind it */
    TV_ENGINE_HELLO,    /* from the child: it is locked in */
    TV_ENGINE_PROGRESS,
    TV_ENGINE_LOADED,
    TV_ENGINE_REFUSED, /* from the child: it cannot be loaded */
    TV_ENGINE_INDEXED,
};

struct tv_engine_begin {
    uint64_t memory_bytes, file_bytes, unpacked_bytes, load_seconds;
    int64_t server; /* its process */
    uint32_t jobs;
    bool only_hello, has_index, has_new_index;
    char name[512];
};

/* How far it is: struct tv_progress_shown, in parts. */
struct tv_engine_progress {
    uint64_t bytes, total_bytes, records;
    uint32_t unpacking;
};

struct tv_engine_refused {
    uint64_t offset;
    uint32_t status; /* enum tv_status */
    char message[sizeof((struct tv_error){0}.message)];
};

struct tv_engine_message {
    uint32_t word;  /* enum tv_engine_message_kind */
    uint32_t parts; /* HELLO: of the sandbox */
    uint32_t flag;  /* LOADED: from the index; INDEXED: it is whole */
    union {
        struct tv_engine_begin begin;
        struct tv_engine_progress progress;
        struct tv_engine_refused refused;
    };
};

enum tv_engine_outcome {
    TV_OUTCOME_OK,
    TV_OUTCOME_WRONG,
    TV_OUTCOME_NOT_READY,
    TV_OUTCOME_OTHER_TRACE,
    TV_OUTCOME_BUSY,
    TV_OUTCOME_TOO_LARGE,
    TV_OUTCOMES,
};

#define TV_ENGINE_PIECE ((uint32_t)64 * 1024)

/* The longest question: its name and parameters as text. */
#define TV_ENGINE_QUESTION_SIZE ((size_t)64 * 1024)

/* Names have at most 4 GiB; more parameters than the viewer's own queries have are a mistake. */
#define TV_ENGINE_PARAMETERS 16

/* A question as bytes: 4 of a length before the name, and before each parameter's name and value.
 * False: it is too long. */
bool tv_engine_write_question(struct tv_out *out, const struct tv_view_question *question);

/* Takes it apart in place; `parameters` has TV_ENGINE_PARAMETERS places. */
bool tv_engine_read_question(struct tv_bytes bytes, struct tv_view_question *question,
                             struct tv_view_parameter *parameters);

/* One packet, with the file `fd` unless that is -1; never waits.  False: the other side has gone,
 * or does not listen. */
bool tv_engine_send(int socket, const struct tv_engine_message *message, struct tv_bytes more,
                    int fd);

/* What tv_engine_receive has got. */
enum tv_engine_got {
    TV_GOT_MESSAGE,
    TV_GOT_NOTHING, /* yet */
    TV_GOT_END,     /* the other side has gone, or sent what is none */
};

/* One packet without waiting.  `fd` NULL: files are not taken. `more`: what stands behind the
 * message, at most `room` bytes; both may be 0. */
enum tv_engine_got tv_engine_receive(int socket, struct tv_engine_message *message, void *more,
                                     size_t *length, int *fd);

#endif
