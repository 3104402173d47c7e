/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cxx_name.c - readable names of C++.  The mangled names are of libstdc++, LLVM and HotSpot, or
 * made by gcc; what they mean is what c++filt -p of binutils says (of Rust's, c++filt -s rust).
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/native_name.h"

static const struct {
    const char *mangled, *name;
} names[] = {
    /* Functions, classes, namespaces. */
    {"_Z4mainv", "main"},
    {"_ZL12thread_entryP10JavaThreadP6Thread", "thread_entry"},
    {"_ZN10JavaThread3runEv", "JavaThread::run"},
    {"_ZNK9__gnu_cxx24__concurrence_lock_error4whatEv",
     "__gnu_cxx::__concurrence_lock_error::what"},
    {"_ZN12_GLOBAL__N_14pool4freeEPv", "(anonymous namespace)::pool::free"},
    {"__ZN3app3runEv", "app::run"},
    /* Constructors, destructors, operators, conversions. */
    {"_ZN4shop5OrderC1Ev", "shop::Order::Order"},
    {"_ZN4shop5OrderD0Ev", "shop::Order::~Order"},
    {"_ZNSt3mapIiiSt4lessIiESaISt4pairIKiiEEEC2ERKS6_",
     "std::map<int, int, std::less<int>, std::allocator<std::pair<int const, int> > >::map"},
    {"_ZNSt8ios_base7failureB5cxx11C1EPKc", "std::ios_base::failure[abi:cxx11]::failure"},
    {"_ZlsRSoRK5Order", "operator<<"},
    {"_ZN4shop5OrderlsIiEERS0_T_", "shop::Order::operator<< <int>"},
    {"_ZNK5OrdercvbEv", "Order::operator bool"},
    {"_Znwm", "operator new"},
    {"_Zli3_kmy", "operator\"\" _km"},
    /* Templates, substitutions, abbreviations. */
    {"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back"},
    {"_ZNSs6appendEPKc",
     "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::append"},
    {"_ZN1aILb1ELi5ELin3ELm7EE1fEv", "a<true, 5, -3, 7ul>::f"},
    {"_Z1fIJicEEvDpT_", "f<int, char>"},
    {"_Z1fIPFviPKcEEvT_", "f<void (*)(int, char const*)>"},
    {"_Z1fIRA3_KiEvT_", "f<int const (&) [3]>"},
    {"_Z1fIM5OrderKFivEEvT_", "f<int (Order::*)() const>"},
    {"_ZNSt8functionIFviEEC1IZ4mainEUlvE_vEET_",
     "std::function<void (int)>::function<main::{lambda()#1}, void>"},
    /* Inside of functions, thunks, tables; what the compiler appended is left out. */
    {"_ZZN3foo3barEiE1x", "foo::bar(int)::x"},
    {"_ZZNK3foo3barIcEEvT_ENKUlvE0_clEv", "foo::bar<char>(char) const::{lambda()#2}::operator()"},
    {"_ZThn16_N5OrderD1Ev", "non-virtual thunk to Order::~Order"},
    {"_ZTVN4shop5OrderE", "vtable for shop::Order"},
    {"_ZN4shop3payEi.constprop.0.isra.1", "shop::pay"},
    /* Rust's older names. */
    {"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
    {"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar"
     "17h930b740aa94f1d3aE",
     "<Test + 'static as foo::Bar<Test>>::bar"},
};

static void names_become_readable(void **state)
{
    (void)state;
    char text[TV_NATIVE_NAME_ROOM];
    for (size_t i = 0; i < TV_COUNT(names); i++) {
        if (!tv_native_name(tv_bytes_of(names[i].mangled), text, sizeof text))
            fail_msg("not decoded: %s", names[i].mangled);
        assert_string_equal(text, names[i].name);
    }
}

/* Names that are not mangled, are cut, or have expressions stay as they are. */
static void other_names_stay(void **state)
{
    (void)state;
    static const char *const others[] = {"main",
                                         "_start",
                                         "_Z",
                                         "_Zmain",
                                         "_ZN3foo",

                                         "_Z99999999999f",
                                         "_ZNS3_1fE",
                                         "_ZS_",
                                         "_Z1fIXadL_Z1gvEEEvv",
                                         "__libc_start_main",
                                         "_Z1fIT_EvT_"};
    char text[TV_NATIVE_NAME_ROOM];
    for (size_t i = 0; i < TV_COUNT(others); i++)
        assert_false(tv_native_name(tv_bytes_of(others[i]), text, sizeof text));
}

/* A NUL in a name would end it early, and two names would become one. */
static void names_with_control_bytes_stay(void **state)
{
    (void)state;
    char text[TV_NATIVE_NAME_ROOM];
    assert_false(tv_native_name(TV_BYTES("_Z3a\0b"), text, sizeof text));
    assert_false(tv_native_name(TV_BYTES("_Z3a\nb"), text, sizeof text));
    assert_true(tv_native_name(TV_BYTES("_Z3a_b"), text, sizeof text));
}

/* Each argument is the pair of the one before with itself: twice as long. */
static void doubling_ends(void **state)
{
    (void)state;
    char mangled[2048] = "_Z1fI1aSt4pairIS_S_E", text[TV_NATIVE_NAME_ROOM];
    for (unsigned i = 0; i < 30; i++) {
        size_t length = strlen(mangled);
        snprintf(mangled + length, sizeof mangled - length, "St4pairIS%u_S%u_E", i + 1, i + 1);
    }
    size_t end = strlen(mangled);
    snprintf(mangled + end, sizeof mangled - end, "EvT_");
    assert_false(tv_native_name(tv_bytes_of(mangled), text, sizeof text));
    /* Nesting ends, too. */
    memset(mangled, 'P', sizeof mangled - 1);
    memcpy(mangled, "_Z1fI", 5);
    mangled[sizeof mangled - 1] = '\0';
    assert_false(tv_native_name(tv_bytes_of(mangled), text, sizeof text));
}

UNIT_TESTS(cxx_name, cmocka_unit_test(names_become_readable), cmocka_unit_test(other_names_stay),
           cmocka_unit_test(names_with_control_bytes_stay), cmocka_unit_test(doubling_ends));
