/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thrower.cpp - exceptions through functions with hooks: 20 rounds, each of one catcher, one rethrower
 * and one middle, and of seven throwers, one below the other; before them three methods with names of C++.
 *
 * It is not linked with the recorder, which comes by `traceview record`.
 */
#define CALL extern "C" __attribute__((noinline))
#define OFF __attribute__((no_instrument_function))

static volatile int cleaned, caught;

struct guard {
    OFF guard() {}
    OFF ~guard()
    {
        cleaned = cleaned + 1;
    }
};

CALL void thrower(int n)
{
    guard here;
    if (n == 0)
        throw 7;
    thrower(n - 1);
}

CALL void middle()
{
    guard here;
    thrower(6);
}

CALL void rethrower()
{
    try {
        middle();
    } catch (...) {
        caught = caught + 1;
        throw;
    }
}

CALL void catcher()
{
    try {
        rethrower();
    } catch (int number) {
        caught = caught + number;
    }
}

/* Two of one name, which the linker's names tell apart. */
namespace shop
{
struct order {
    __attribute__((noinline)) void pay(int cents);
    __attribute__((noinline)) void pay(const char *whom) const;
};

void order::pay(int cents)
{
    caught = caught + cents - cents;
}

void order::pay(const char *whom) const
{
    caught = caught + (whom ? 0 : 1);
}
} // namespace shop

OFF int main()
{
    shop::order order;
    order.pay(5);
    order.pay("till");
    order.pay("bank");
    for (int i = 0; i < 20; i++)
        catcher();
    return caught == 20 * 8 && cleaned == 20 * 8 ? 0 : 1;
}
