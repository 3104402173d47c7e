/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library.h - the functions of libmicrohttpd and GnuTLS that are used.
 *
 * Both are opened, with the nine libraries that they bring, when a server is made and before its
 * process locks itself in.  All other commands start without them.
 */
#ifndef TV_HTTP_LIBRARY_H
#define TV_HTTP_LIBRARY_H

#include <gnutls/gnutls.h>
#include <microhttpd.h>

#include "base/error.h"

/* libmicrohttpd is linked with GnuTLS, so its handle finds the functions of both. */
#define TV_MHD_FUNCTIONS(X)                                                                        \
    X(MHD_add_connection)                                                                          \
    X(MHD_add_response_header)                                                                     \
    X(MHD_create_response_from_buffer)                                                             \
    X(MHD_create_response_from_buffer_with_free_callback)                                          \
    X(MHD_create_response_from_callback)                                                           \
    X(MHD_destroy_response)                                                                        \
    X(MHD_get_connection_info)                                                                     \
    X(MHD_get_connection_values)                                                                   \
    X(MHD_get_reason_phrase_for)                                                                   \
    X(MHD_lookup_connection_value)                                                                 \
    X(MHD_queue_response)                                                                          \
    X(MHD_set_response_options)                                                                    \
    X(MHD_start_daemon)                                                                            \
    X(MHD_stop_daemon)                                                                             \
    X(gnutls_record_send)

struct tv_mhd {
#define X(function) __typeof__(function) *function;
    TV_MHD_FUNCTIONS(X)
#undef X
};

/* The functions, after tv_mhd_open. */
extern struct tv_mhd tv_mhd;

/* Open the library; later calls do nothing.  TV_ERR_UNSUPPORTED: it is not there, or too old; the
 * message names the package to install.  Call it before the sandbox
 * closes and before other threads run. */
enum tv_status tv_mhd_open(struct tv_error *err) TV_MUST_CHECK;

#endif
