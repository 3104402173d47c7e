/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broker.h - the process that opens files for a sandboxed command (confine.h), and the protocol
 * between the two.
 *
 *     command (sandboxed)                          broker (the user's rights)
 *       | -- struct tv_broker_request  --->          |  is it named on the command line?
 *       | <--- struct tv_broker_reply, descriptor -- |
 *
 * The broker does not trust the command, because a hostile trace may have taken it over. So the
 * broker is forked before the first byte of a trace is read, remembers the user's command line, and
 * gives out only what that names:
 *
 *   - for reading: the FILEs (also x.trace, x.key and x.data for x), --mapping and --symbols,
 *     programs and debug files in the usual folders (symbols/debug_folders.h);
 *   - for output: --output; with --split-threads names that begin with it and add no directory; the
 *     tables of `export` in it; the batches of `fleet add`; all are written and renamed as
 *     atomic_file.h says;
 *   - in the cache: entries whose key the broker has computed itself from those files;
 *   - temporary files, which have no name;
 *   - the pager, if standard output is a terminal;
 *   - the browser, for the viewer's address;
 *   - a place in the list of recent files (input/recent_files.h), for a FILE;
 *   - for the viewer, a process that sends FILEs to the user's server (output/push_process.h).
 *
 * Requests and replies are packets on one socket. Each request has one reply, with a descriptor if
 * one was asked for. The broker ends when the command ends.
 */
#ifndef TV_CLI_BROKER_H
#define TV_CLI_BROKER_H

#include <limits.h>
#include <sys/stat.h>

#include "base/error.h"
#include "cli/input/index_cache.h"

enum tv_broker_word {
    TV_BROKER_OPEN, /* path, flags */
    TV_BROKER_STAT, /* path */
    TV_BROKER_TEMPORARY,
    TV_BROKER_MAKE_KEY,    /* look: make the key of these files (index_cache.h) */
    TV_BROKER_CACHE_OPEN,  /* key */
    TV_BROKER_CACHE_BEGIN, /* key */
    TV_BROKER_CACHE_END,   /* number, from the reply to BEGIN; whole */
    TV_BROKER_OUTPUT_OPEN, /* path */
    TV_BROKER_OUTPUT_COMMIT,
    TV_BROKER_OUTPUT_DISCARD,
    TV_BROKER_PAGER_START,
    TV_BROKER_PAGER_FINISH,
    TV_BROKER_BROWSER_OPEN,
    TV_BROKER_REMEMBER, /* path */
    TV_BROKER_PUSH,     /* look: send these files */
};

struct tv_broker_request {
    uint32_t word; /* enum tv_broker_word */
    int32_t flags;
    uint32_t number, length; /* length: of the key, or the number of files */
    bool whole;
    union {
        char path[PATH_MAX];
        uint8_t key[TV_SECTIONS_KEY];
        struct {
            uint32_t files[TV_INDEX_CACHE_FILES]; /* their indices among the FILE arguments */
            tv_ns offsets[TV_INDEX_CACHE_FILES];
        } look;
    };
};

struct tv_broker_reply {
    int32_t number; /* errno, or 0; for CACHE_BEGIN: identifies the file */
    bool done, has_file;
    uint64_t room;
    union {
        struct stat info;
        struct tv_error error;
        struct {
            uint32_t key_length, places_length;
            uint8_t key[TV_SECTIONS_KEY], places[TV_SECTIONS_KEY];
        } looked;
    };
};

struct tv_confine_options;

/* Answer requests until the other end of the socket is closed.  Never returns. */
void tv_broker_main(int socket, const struct tv_confine_options *options);

/* Send one packet of `size` bytes, with a descriptor unless it is -1. False: the other side has
 * closed the socket. */
bool tv_broker_send(int socket, const void *packet, size_t size, int descriptor);

/* Receive one packet of exactly `size` bytes; *descriptor is -1 if none came with it. False: no
 * packet came. */
bool tv_broker_receive(int socket, void *packet, size_t size, int *descriptor);

#endif
