/* SPDX-License-Identifier: Apache-2.0 */
/* Qualified names of symbols: what c++filt says of them, without template arguments and parameters.
 */
#include "unit.h"

#include "recorder/native/modules.h"

static void assert_name(const char *symbol, const char *expected)
{
    char name[64] = "";
    assert_int_equal(tv_symbols_qualified_name(symbol, name, sizeof name), expected != NULL);
    if (expected)
        assert_string_equal(name, expected);
}

static void names_functions(void **state)
{
    (void)state;
    assert_name("_Z4workv", "work");
    assert_name("_ZL4workv", "work");
    assert_name("_ZN4base6Server6handleEi", "base::Server::handle");
    assert_name("_ZNK4base6Server6handleEi", "base::Server::handle");
    assert_name("_ZNKR4base1f3getEv", "base::f::get");
    assert_name("_ZN4base6ServerC1Ev", "base::Server::Server");
    assert_name("_ZN4base6ServerD0Ev", "base::Server::~Server");
    assert_name("_ZN12_GLOBAL__N_14workEv", "(anonymous namespace)::work");
    assert_name("_ZSt4moveIRiEONSt16remove_referenceIT_E4typeEOS2_", "std::move");
    assert_name("_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector::push_back");
    assert_name("_Z3getILb1ELi25EEvv", "get");
    assert_name("_ZN1aI1bIXadL_Z1fEEEE1cEv", NULL);
    assert_name("_ZN3BoxI3FooIiE5Inner9DeepInnerE3putEv", "Box::put");
    /* Rust, before its symbols began with _R. */
    assert_name("_ZN4demo5serve17h0123456789abcdefE", "demo::serve");
    assert_name("_ZN4demo17hzz23456789abcdefE", "demo::hzz23456789abcdef");
}

static void refuses_others(void **state)
{
    (void)state;
    static const char *const others[] = {
        "",
        "_",
        "_Z",
        "main",
        "_ZN",
        "_ZNE",
        "_ZN4base",
        "_ZN4basE",
        "_ZN4base6ServerplERKS0_",
        "_ZN99999999999999999999999999999999workEv",
        "_Z0v",
        "_ZNC1Ev",
        "_ZN4baseI",
        "_ZN4baseIL",
        "_ZN4baseI9E",
        "_ZZ4mainE1x",
        "_ZN67this_name_is_so_long_that_the_room_of_64_bytes_does_not_suffice_for1aEv",
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_name(others[i], NULL);
}

UNIT_TESTS(symbols, cmocka_unit_test(names_functions), cmocka_unit_test(refuses_others));
