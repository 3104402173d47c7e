/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_name.h - readable names of C++ and Rust functions, from the names that the linker uses.
 *
 *     _ZN4shop5Order3payEi                        shop::Order::pay
 *     _ZNSt6vectorIiSaIiEE9push_backERKi          std::vector<int, std::allocator<int> >::push_back
 *     _ZN4shop5order3pay17h0123456789abcdefE      shop::order::pay      (Rust's older names)
 *     _RNvNtC4shop5order3pay                      shop::order::pay      (Rust's names now)
 *
 * Names come from files.  Work, depth and text are bounded, whatever they contain: one that is too
 * long stays mangled.
 */
#ifndef TV_BASE_NATIVE_NAME_H
#define TV_BASE_NATIVE_NAME_H

#include "base/types.h"

/* Bytes of the longest readable name, NUL included. */
#define TV_NATIVE_NAME_ROOM 4096

/* Return whether a name may be mangled: it begins like one. */
static inline bool tv_is_mangled(struct tv_bytes name)
{
    return name.length > 2 && name.data[0] == '_' &&
           (name.data[1] == 'Z' || name.data[1] == 'R' || name.data[1] == '_');
}

/* Write the readable name of a C++ or Rust function, without its parameters, into text[0..room) and
 * end it with a NUL.  Return false when the name is not mangled, cannot be decoded, or does not
 * fit.
 */
bool tv_native_name(struct tv_bytes mangled, char *text, size_t room);

/* Decode one kind of name: of the Itanium C++ ABI, or of Rust's "v0" (RFC 2603).  Expressions in
 * template arguments of C++ are not decoded.  Hashes of crates and suffixes of Rust's compiler are
 * omitted. */
bool tv_cxx_demangle(struct tv_bytes mangled, char *text, size_t room);
bool tv_rust_demangle(struct tv_bytes mangled, char *text, size_t room);

#endif
