/* SPDX-License-Identifier: Apache-2.0 */
/*
 * messages.h - the protocol between the server and a child.
 *
 *     server                                 child
 *       | ---- BEGIN (limits) ---------------> |  enters the sandbox
 *       | <--- HELLO (parts of the sandbox) -- |
 *       | <--- PROGRESS ... ------------------ |  loads the trace
 *       | <--- LOADED or REFUSED ------------- |
 *       | ---- QUESTION + write end of pipe -> |  one thread for each question
 *       | <=== answer through that pipe ====== |
 *       | <--- INDEXED ----------------------- |  while it answers questions
 *
 * Messages are packets (SOCK_SEQPACKET) of a fixed struct; a question has text after the struct
 * and a descriptor with it.  Each answer has a pipe of its own, so a slow reader only delays
 * itself, and either side ends an answer by closing its end.
 *
 * An answer is one byte (enum tv_engine_outcome), then blocks: a length of 4 bytes, at most
 * TV_ENGINE_PIECE, and that many bytes.  Length 0 ends a complete answer; a pipe that closes before
 * has lost the rest.
 *
 * Both sides are the same program on the same machine, so numbers are in native byte order.  But a
 * hostile trace may have taken over the child: the server trusts no number, no length and no
 * string, and kills a child that breaks the protocol.
 */
#ifndef TV_ENGINE_MESSAGES_H
#define TV_ENGINE_MESSAGES_H

#include "base/error.h"
#include "view/view.h"

/* Descriptors of the child. */
enum tv_engine_fd {
    TV_ENGINE_FD_SOCKET = 3,
    TV_ENGINE_FD_SCRATCH, /* the directory for temporary files */
    TV_ENGINE_FD_TRACE,
    TV_ENGINE_FD_INDEX,
    TV_ENGINE_FD_NEW_INDEX,
    TV_ENGINE_FD_END,
};

/* The hidden command that the server runs.  Nobody names a trace file like this. */
#define TV_ENGINE_COMMAND "(engine)"

enum tv_engine_message_kind {
    TV_ENGINE_BEGIN,    /* to the child: the first message */
    TV_ENGINE_QUESTION, /* to the child, with a pipe for the answer and text after the message */
    TV_ENGINE_HELLO,    /* from the child: it is in the sandbox */
    TV_ENGINE_PROGRESS, /* from the child, while it loads */
    TV_ENGINE_LOADED,   /* from the child: questions can be asked */
    TV_ENGINE_REFUSED,  /* from the child: the trace cannot be loaded */
    TV_ENGINE_INDEXED,  /* from the child: the new index is complete, or cannot be written */
};

struct tv_engine_begin {
    uint64_t memory_bytes, file_bytes, unpacked_bytes, load_seconds;
    int64_t server; /* process id */
    uint32_t jobs;
    bool only_hello, has_index, has_new_index;
    char name[512];
};

/* Progress of loading, as in struct tv_progress_shown. */
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
    uint32_t kind;  /* enum tv_engine_message_kind */
    uint32_t parts; /* HELLO: enum tv_sandbox_part; REFUSED: tv_error.context */
    uint32_t flag;  /* LOADED: from the index; INDEXED: it is complete */
    union {
        struct tv_engine_begin begin;
        struct tv_engine_progress progress;
        struct tv_engine_refused refused;
    };
};

/* First byte of an answer. */
enum tv_engine_outcome {
    TV_OUTCOME_OK,
    TV_OUTCOME_WRONG,
    TV_OUTCOME_NOT_READY,
    TV_OUTCOME_OTHER_TRACE,
    TV_OUTCOME_BUSY,
    TV_OUTCOME_TOO_LARGE,
    TV_OUTCOMES,
};

/* Maximum length of one block of an answer. */
#define TV_ENGINE_PIECE ((uint32_t)64 * 1024)

/* Maximum length of a question: its name and parameters as bytes. */
#define TV_ENGINE_QUESTION_SIZE ((size_t)64 * 1024)

/* Maximum number of parameters.  The page never sends as many. */
#define TV_ENGINE_PARAMETERS 16

/* Serialize a question: a length of 4 bytes before the name and before each parameter's name and
 * value.  False: it is too long. */
bool tv_engine_write_question(struct tv_out *out, const struct tv_view_question *question);

/* Parse a question in place.  `parameters` has room for TV_ENGINE_PARAMETERS. */
bool tv_engine_read_question(struct tv_bytes bytes, struct tv_view_question *question,
                             struct tv_view_parameter *parameters);

/* Send one packet, with `more` after the message and the descriptor `fd` unless it is -1.  Never
 * blocks.  False, with errno: the other side has closed the socket, or its queue is full. */
bool tv_engine_send(int socket, const struct tv_engine_message *message, struct tv_bytes more,
                    int fd);

enum tv_engine_got {
    TV_GOT_MESSAGE,
    TV_GOT_NOTHING, /* yet */
    TV_GOT_END,     /* the other side closed the socket, or sent an invalid packet */
};

/* Receive one packet without blocking.  `more` takes what follows the message: at most *length
 * bytes, which is set to the number received; NULL: nothing may follow.  `fd` takes a descriptor or
 * -1; NULL: descriptors are not accepted. */
enum tv_engine_got tv_engine_receive(int socket, struct tv_engine_message *message, void *more,
                                     size_t *length, int *fd);

#endif
