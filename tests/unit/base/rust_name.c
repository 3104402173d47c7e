/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of Rust.  rustc made the mangled ones (-C symbol-mangling-version=v0); what they mean
 * is what c++filt of binutils says, without the hashes of crates and the types of constants.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/native_name.h"

static const struct {
    const char *mangled, *name; /* NULL: it is none */
} known[] = {
    {"_RNvCsjMaewn57Afh_1t4main", "t::main"},
    {"_RNvCsjMaewn57Afh_1t4main.llvm.1234", "t::main"},
    {"_RNCNvCsjMaewn57Afh_1t4mains_0B3_", "t::main::{closure#1}"},
    {"_RINvCsjMaewn57Afh_1t5applyNCNvB2_4mains_0EB2_", "t::apply::<t::main::{closure#1}>"},
    {"_RNvMNtCsgEmfK2I1SDS_4core5sliceSx4iterCsjMaewn57Afh_1t", "<[i64]>::iter"},
    {"_RNvXs_NtCsjMaewn57Afh_1t4shopAxj3_NtB4_3Sum3sum", "<[i64; 3] as t::shop::Sum>::sum"},
    {"_RNvXs0_NtCsjMaewn57Afh_1t4shopReNtB5_3Sum3sum", "<&str as t::shop::Sum>::sum"},
    {"_RNvNtCsjMaewn57Afh_1tu9gre_6ka8iu8zhle_loa", "t::gr\u00F6\u00DFe::z\u00E4hle"},
    {"_RINvCsjMaewn57Afh_1t4gen2FG_QL0_ShEuEB2_", "t::gen2::<for<'a> fn(&'a mut [u8])>"},
    {"_RINvCsjMaewn57Afh_1t4gen2FKClElEB2_", "t::gen2::<extern \"C\" fn(i32) -> i32>"},
    {"_RINvCsjMaewn57Afh_1t7genericKj3_Kb1_Kce9_INtNtCslNYArtu3iFV_5alloc3vec3VechEEB2_",
     "t::generic::<3, true, '\u00E9', alloc::vec::Vec<u8>>"},
    {"_RINvCsjMaewn57Afh_1t4gen2TFG0_RL1_hRL0_eEhAhj4_OaRDNtNtCsgEmfK2I1SDS_4core3fmt5DebugEL_"
     "EEB2_",
     "t::gen2::<(for<'a, 'b> fn(&'a u8, &'b str) -> u8, [u8; 4], *mut i8, &dyn core::fmt::Debug)>"},
    {"_RNSNvYNCNvCsjMaewn57Afh_1t4main0INtNtNtCsgEmfK2I1SDS_4core3ops8function6FnOnceThEE9call_"
     "once6vtableB8_",
     "<t::main::{closure#0} as core::ops::function::FnOnce<(u8,)>>::call_once::{shim:vtable#0}"},
    {"_RNvCsjMaewn57Afh_1t4mai", NULL}, /* cut */
    {"_RNvCsjMaewn57Afh_1t99999999999999999999main", NULL},
    {"_RNvB_4main", NULL}, /* points to itself */
    {"_RNvC1t4mainX", NULL},
    {"_R", NULL},
    {"_ZN1t4mainE", NULL},
};

static void reads_names(void **state)
{
    char text[4096];
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        bool is = tv_rust_demangle(tv_bytes_of(known[i].mangled), text, sizeof text);
        assert_int_equal(is, known[i].name != NULL);
        if (is)
            assert_string_equal(text, known[i].name);
    }
}

/* Room is never passed, and a name that is as long as its room is refused. */
static void keeps_to_its_room(void **state)
{
    (void)state;
    char text[64];
    size_t length = strlen(known[2].name);
    for (size_t room = 0; room < sizeof text; room++) {
        memset(text, 'x', sizeof text);
        bool is = tv_rust_demangle(tv_bytes_of(known[2].mangled), text, room);
        assert_int_equal(is, room > length);
        for (size_t i = room; i < sizeof text; i++)
            assert_int_equal(text[i], 'x');
    }
}

/* Each tuple of two points to the one before it twice: 2^n types, of which no machine has room. */
static void refuses_names_that_explode(void **state)
{
    (void)state;
    char mangled[4096] = "_RINvC1a1b", text[4096];
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    memcpy(mangled + strlen(mangled), "TuuE", 5);
    size_t at = strlen(mangled) - 4 - 2;
    for (int i = 0; i < 30; i++) {
        size_t here = strlen(mangled) - 2;
        char back[8] = "B_";
        if (at > 0 && at <= 62)
            snprintf(back, sizeof back, "B%c_", digits[at - 1]);
        else
            snprintf(back, sizeof back, "B%c%c_", digits[(at - 1) / 62], digits[(at - 1) % 62]);
        snprintf(mangled + here + 2, sizeof mangled - here - 2, "T%s%sE", back, back);
        at = here;
    }
    memcpy(mangled + strlen(mangled), "E", 2);
    assert_false(tv_rust_demangle(tv_bytes_of(mangled), text, sizeof text));
    /* Nor is depth a matter of the name's. */
    memset(mangled, 'R', sizeof mangled - 1);
    memcpy(mangled, "_RINvC1a1b", 10);
    assert_false(tv_rust_demangle(tv_bytes_of(mangled), text, sizeof text));
}

UNIT_TESTS(rust_name, cmocka_unit_test(reads_names), cmocka_unit_test(keeps_to_its_room),
           cmocka_unit_test(refuses_names_that_explode));
