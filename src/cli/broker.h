/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broker.h - the process that opens files for a command that has locked itself in (confine.h), and
 * what the two say to each other.
 *
 * The command is believed nothing: a hostile trace may have taken it over.  So the broker was
 * forked before the first byte of a trace was read, keeps what the user's command line said, and
 * gives out only what that names:
 *
 *   - for reading: the FILEs (x.trace, x.key and x.data where they stand for x), --mapping and
 *     --symbols;
 *   - for output: --output; with --split-threads the names that begin with it and add no folder,
 *     all written and renamed as atomic_file.h says;
 *   - in the cache: entries whose key the broker has computed itself from those files;
 *   - temporary files, which have no name;
 *   - the pager, where standard output is a terminal;
 *   - the browser, which opens the viewer's address.
 *
 * Requests and replies are packets over one socket.  A request has one reply, with a descriptor
 * where one was asked for.  The broker ends when the command has.
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
    TV_BROKER_MAKE_KEY,    /* look: makes the key of files (cached.h) */
    TV_BROKER_CACHE_OPEN,  /* key */
    TV_BROKER_CACHE_BEGIN, /* key */
    TV_BROKER_CACHE_END,   /* number of the reply to BEGIN; whole */
    TV_BROKER_OUTPUT_OPEN, /* path */
    TV_BROKER_OUTPUT_COMMIT,
    TV_BROKER_OUTPUT_DISCARD,
    TV_BROKER_PAGER_START,
    TV_BROKER_PAGER_FINISH,
    TV_BROKER_BROWSER_OPEN,
};

struct tv_broker_request {
    uint32_t word; /* enum tv_broker_word */
    int32_t flags;
    uint32_t number, length; /* length: of the key, or count of the files */
    bool whole;
    union {
        char path[PATH_MAX];
        uint8_t key[TV_SECTIONS_KEY];
        struct {
            uint32_t files[TV_INDEX_CACHE_FILES]; /* their places on the command line */
            tv_ns offsets[TV_INDEX_CACHE_FILES];
        } look;
    };
};

struct tv_broker_reply {
    int32_t number; /* of the system's error, or 0; of CACHE_BEGIN: names the file */
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

/* One packet of `size` bytes, with the descriptor unless that is -1.  False: nobody takes it. */
bool tv_broker_send(int socket, const void *packet, size_t size, int descriptor);

/* One packet of exactly `size` bytes; *descriptor is -1 where none came.  False: none came. */
bool tv_broker_receive(int socket, void *packet, size_t size, int *descriptor);

#endif
