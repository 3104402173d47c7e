/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_plain.h - JSON looked at a byte at a time, straight from RFC 8259: what the readers'
 * scanning is compared with.
 */
#ifndef TV_TESTS_JSON_PLAIN_H
#define TV_TESTS_JSON_PLAIN_H

#include "base/types.h"

/* One value with white space around it, at most `depth` containers deep. */
bool plain_is_json(struct tv_bytes text, unsigned depth);

/* The quote that ends the string whose text begins at `at`, or NULL. */
const uint8_t *plain_string_end(const uint8_t *at, const uint8_t *end);

/* Behind the bracket that closes the one at `at`, of whatever kind, or NULL. */
const uint8_t *plain_nested_end(const uint8_t *at, const uint8_t *end);

#endif
