/* SPDX-License-Identifier: Apache-2.0 */
/*
 * messages.c - serializes questions, and sends and receives packets with descriptors.
 */
#define _GNU_SOURCE /* MSG_CMSG_CLOEXEC */
#include "engine/messages.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- Questions as bytes ---- */

static void message_write_text(struct tv_out *out, struct tv_bytes text)
{
    tv_out_le32(out, (uint32_t)text.length);
    tv_out_bytes(out, text);
}

bool tv_engine_write_question(struct tv_out *out, const struct tv_view_question *question)
{
    size_t length = 4 + question->name.length;
    if (question->count > TV_ENGINE_PARAMETERS || question->name.length > TV_ENGINE_QUESTION_SIZE)
        return false;
    for (size_t i = 0; i < question->count; i++) {
        const struct tv_view_parameter *parameter = &question->parameters[i];
        if (parameter->name.length > TV_ENGINE_QUESTION_SIZE ||
            parameter->value.length > TV_ENGINE_QUESTION_SIZE)
            return false;
        length += 8 + parameter->name.length + parameter->value.length;
    }
    if (length > TV_ENGINE_QUESTION_SIZE)
        return false;
    message_write_text(out, question->name);
    for (size_t i = 0; i < question->count; i++) {
        message_write_text(out, question->parameters[i].name);
        message_write_text(out, question->parameters[i].value);
    }
    return true;
}

static bool message_take_text(struct tv_bytes *bytes, struct tv_bytes *text)
{
    if (bytes->length < 4)
        return false;
    const uint8_t *d = bytes->data;
    size_t length = d[0] | (size_t)d[1] << 8 | (size_t)d[2] << 16 | (size_t)d[3] << 24;
    if (length > bytes->length - 4)
        return false;
    *text = (struct tv_bytes){d + 4, length};
    *bytes = (struct tv_bytes){d + 4 + length, bytes->length - 4 - length};
    return true;
}

bool tv_engine_read_question(struct tv_bytes bytes, struct tv_view_question *question,
                             struct tv_view_parameter *parameters)
{
    *question = (struct tv_view_question){.parameters = parameters};
    if (!message_take_text(&bytes, &question->name))
        return false;
    while (bytes.length > 0) {
        struct tv_view_parameter *next = &parameters[question->count];
        if (question->count == TV_ENGINE_PARAMETERS || !message_take_text(&bytes, &next->name) ||
            !message_take_text(&bytes, &next->value))
            return false;
        question->count++;
    }
    return true;
}

/* ---- Packets ---- */

union message_fd_space {
    struct cmsghdr header;
    uint8_t bytes[CMSG_SPACE(sizeof(int))];
};

bool tv_engine_send(int socket, const struct tv_engine_message *message, struct tv_bytes more,
                    int fd)
{
    assert(more.length <= TV_ENGINE_QUESTION_SIZE);
    struct tv_engine_message copy = *message;
    /* sendmsg() does not modify its buffers, though their type is not const */
    struct iovec parts[] = {{&copy, sizeof copy}, {(void *)(uintptr_t)more.data, more.length}};
    union message_fd_space room = {.header = {.cmsg_len = 0}};
    struct msghdr packet = {.msg_iov = parts, .msg_iovlen = more.length > 0 ? 2 : 1};
    if (fd >= 0) {
        packet.msg_control = &room;
        packet.msg_controllen = sizeof room;
        room.header.cmsg_level = SOL_SOCKET;
        room.header.cmsg_type = SCM_RIGHTS;
        room.header.cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(&room.header), &fd, sizeof fd);
    }
    ssize_t sent;
    do
        sent = sendmsg(socket, &packet, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent >= 0;
}

/* Return the descriptor that came with a packet, or -1. */
static int message_take_fd(struct msghdr *packet)
{
    int fd = -1;
    struct cmsghdr *header = CMSG_FIRSTHDR(packet);
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len == CMSG_LEN(sizeof fd))
        memcpy(&fd, CMSG_DATA(header), sizeof fd);
    return fd;
}

enum tv_engine_got tv_engine_receive(int socket, struct tv_engine_message *message, void *more,
                                     size_t *length, int *fd)
{
    assert(more == NULL || length != NULL);
    struct iovec parts[] = {{message, sizeof *message}, {more, more ? *length : 0}};
    union message_fd_space room;
    struct msghdr packet = {.msg_iov = parts, .msg_iovlen = more ? 2 : 1};
    if (fd) {
        packet.msg_control = &room;
        packet.msg_controllen = sizeof room;
    }
    ssize_t got = recvmsg(socket, &packet, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return TV_GOT_NOTHING;
    if (fd)
        *fd = got < 0 ? -1 : message_take_fd(&packet);
    if (got < (ssize_t)sizeof *message || (packet.msg_flags & MSG_TRUNC) != 0) {
        if (fd && *fd >= 0)
            close(*fd);
        return TV_GOT_END;
    }
    if (length)
        *length = (size_t)got - sizeof *message;
    return TV_GOT_MESSAGE;
}
