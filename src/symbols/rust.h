/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rust.h - names of Rust as they are written in a program, from those that rustc gives the linker
 * since its mangling "v0" (RFC 2603).  The older ones are names of C++ (demangle.h).
 */
#ifndef TV_SYMBOLS_RUST_H
#define TV_SYMBOLS_RUST_H

#include "base/types.h"

/* Decode a name of Rust's mangling "v0" (RFC 2603) into `text`, which has `room` bytes, NUL
 * included: "shop::Order::pay". Return false when it is no such name or too long. Hashes of
 * crates and suffixes of the compiler are omitted. */
bool tv_rust_demangle(struct tv_bytes mangled, char *text, size_t room);

#endif
