/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sending.c - "Send to server": another process sends the files of a trace, and the page asks how
 * far it is.
 *
 *     POST api/send --> the loader's side starts `traceview push FILE...`
 *     GET api/sent  --> read what that process has written so far, and whether it has ended
 *
 * This process reads traces of strangers, so it knows neither the address nor the token of the
 * user's server: it sees only what `push` prints. No thread waits: the page asks again.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"
#include "viewer/internal.h"

/* Maximum length of the messages that are kept. */
#define SENDING_TEXT ((size_t)16 << 10)

struct tv_sending {
    struct tv_viewer_sender sender;
    pthread_mutex_t lock;
    int descriptor; /* -1: nothing is being sent */
    bool begun;
    struct tv_out text; /* what `push` has printed */
};

struct tv_sending *tv_sending_new(const struct tv_viewer_sender *sender)
{
    struct tv_sending *made = tv_alloc(1, sizeof *made);
    made->sender = *sender;
    made->descriptor = -1;
    pthread_mutex_init(&made->lock, NULL);
    tv_out_init_memory(&made->text);
    return made;
}

void tv_sending_free(struct tv_sending *sending)
{
    if (sending->descriptor >= 0)
        close(sending->descriptor);
    tv_out_release(&sending->text);
    pthread_mutex_destroy(&sending->lock);
    tv_free(sending);
}

/* Read what has arrived. Runs under the lock. */
static void sending_read(struct tv_sending *sending)
{
    uint8_t bytes[4096];
    while (sending->descriptor >= 0) {
        ssize_t got = read(sending->descriptor, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (got <= 0) {
            close(sending->descriptor);
            sending->descriptor = -1;
            return;
        }
        assert(sending->text.length <= SENDING_TEXT);
        size_t room = SENDING_TEXT - sending->text.length;
        tv_out_bytes(&sending->text,
                     (struct tv_bytes){bytes, (size_t)got < room ? (size_t)got : room});
    }
}

enum tv_status tv_sending_start(struct tv_sending *sending, const uint32_t *numbers, size_t count,
                                struct tv_error *err)
{
    enum tv_status status = TV_OK;
    if (!sending->sender.start)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "this program cannot send files");
    pthread_mutex_lock(&sending->lock);
    sending_read(sending);
    if (sending->descriptor >= 0) {
        status = tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "a trace is being sent already");
    } else {
        sending->text.length = 0;
        sending->descriptor = sending->sender.start(sending->sender.context, numbers, count);
        sending->begun = sending->descriptor >= 0;
        if (!sending->begun)
            status = tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "'traceview push' cannot be started");
    }
    pthread_mutex_unlock(&sending->lock);
    return status;
}

/* Are all lines addresses, as those of a `push` that has succeeded? */
static bool sending_is_addresses(struct tv_bytes text)
{
    struct tv_bytes line;
    bool any = false;
    while (text.length > 0) {
        tv_bytes_split(&text, '\n', &line);
        if (!tv_bytes_starts_with(line, TV_BYTES("http://")) &&
            !tv_bytes_starts_with(line, TV_BYTES("https://")))
            return false;
        any = true;
    }
    return any;
}

void tv_sending_write_status(struct tv_sending *sending, struct tv_out *out)
{
    pthread_mutex_lock(&sending->lock);
    sending_read(sending);
    const struct tv_bytes text = {sending->text.buffer, sending->text.length};
    const char *state = !sending->begun              ? "none"
                        : sending->descriptor >= 0   ? "sending"
                        : sending_is_addresses(text) ? "sent"
                                                     : "failed";
    tv_out_format(out, "{\"state\":\"%s\",\"text\":", state);
    tv_out_json(out, text);
    tv_out_char(out, '}');
    pthread_mutex_unlock(&sending->lock);
}
