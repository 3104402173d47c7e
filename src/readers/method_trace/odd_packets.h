/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odd_packets.h - packet files that are known but not read.
 *
 * They look like those that are read until lengths do not add up; then these functions tell whether
 * they add up in the other way.
 */
#ifndef TV_READERS_METHOD_TRACE_ODD_PACKETS_H
#define TV_READERS_METHOD_TRACE_ODD_PACKETS_H

#include "readers/method_trace/file.h"

/* Format V2 as ART's development builds of February to June 2024 wrote it. */
bool tv_mt_odd_is_variant_a(const struct tv_mt_file *file);

/* A dump of all methods: their order, without times. */
bool tv_mt_odd_is_order_dump(const struct tv_mt_file *file);

#endif
