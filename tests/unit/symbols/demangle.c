/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of C++.  The mangled ones are those of the ABI's own examples and rules, written by hand:
 * <nested-name> is N..E, each part is its length and its letters, v is no parameter, i an int.
 */
#include "unit.h"

#include <string.h>

#include "base/bytes.h"
#include "symbols/demangle.h"

static void check(struct tv_demangler *demangler, const char *mangled, const char *name,
                  const char *parameters)
{
    struct tv_demangled found;
    bool known = tv_demangler_read(demangler, tv_bytes_of(mangled), &found);
    /* Without the library nothing can be read, which must do no harm. */
    if (!demangler->demangle && !known)
        return;
    assert_int_equal(known, name != NULL);
    if (!known)
        return;
    assert_true(tv_bytes_equal(found.name, tv_bytes_of(name)));
    assert_true(tv_bytes_equal(found.parameters, tv_bytes_of(parameters)));
}

static void names(void **state)
{
    (void)state;
    struct tv_demangler demangler = {0};
    check(&demangler, "_Z3payv", "pay", "()");
    check(&demangler, "_ZN4shop5Order3payEi", "shop::Order::pay", "(int)");
    check(&demangler, "_ZNK4shop5Order3payEPFviE", "shop::Order::pay", "(void (*)(int)) const");
    check(&demangler, "_ZN4shop5OrderclEi", "shop::Order::operator()", "(int)");
    check(&demangler, "_ZN12_GLOBAL__N_13payEv", "(anonymous namespace)::pay", "()");
    check(&demangler, "_Z3payv.cold", "pay", "()");
    check(&demangler, "_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write", "");
    /* "impl P for A" by rustc 1.95; c++filt -s rust reads it so, with the hash. */
    check(&demangler, "_ZN41_$LT$r..shop..A$u20$as$u20$r..shop..P$GT$1p17h23a5673786e32e80E",
          "<r::shop::A as r::shop::P>::p", "");
    check(&demangler, "_RNvC1a4main", "a::main", "");
    check(&demangler, "main", NULL, "");
    check(&demangler, "_Z", NULL, "");
    check(&demangler, "_ZN4shop", NULL, "");
    check(&demangler, "", NULL, "");
    tv_demangler_release(&demangler);
}

/* Longer than is read, or nested deeper than anybody writes: refused or answered, no more. */
static void hostile(void **state)
{
    (void)state;
    static char text[1 << 16];
    struct tv_demangler demangler = {0};
    struct tv_demangled found;
    memcpy(text, "_Z1f", 4);
    memset(text + 4, 'P', sizeof text - 4);
    for (size_t length = 4; length <= sizeof text; length *= 4)
        (void)tv_demangler_read(&demangler, (struct tv_bytes){(uint8_t *)text, length}, &found);
    assert_false(
        tv_demangler_read(&demangler, (struct tv_bytes){(uint8_t *)text, sizeof text}, &found));
    tv_demangler_release(&demangler);
}

UNIT_TESTS(demangle, cmocka_unit_test(names), cmocka_unit_test(hostile));
