/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ending.c - a library that ends the program while the loader is at work, by the signal whose
 * number PLUGIN_SIGNAL is.
 */
#include <signal.h>
#include <stdlib.h>

__attribute__((constructor, no_instrument_function)) static void end_as_asked(void)
{
    const char *number = getenv("PLUGIN_SIGNAL");
    if (number)
        raise((int)strtol(number, NULL, 10));
}
