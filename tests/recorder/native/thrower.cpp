/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thrower.cpp - exceptions through functions with hooks: 20 rounds, each of one catcher, one rethrower
 * and one middle, and of seven throwers, one below the other.
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

OFF int main()
{
    for (int i = 0; i < 20; i++)
        catcher();
    return caught == 20 * 8 && cleaned == 20 * 8 ? 0 : 1;
}
