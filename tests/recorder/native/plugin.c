/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin.c - code that is loaded, called and unloaded while it is recorded.
 */
int plugin_step(int value);
int plugin_call(int value);

__attribute__((noinline)) int plugin_step(int value)
{
    return value * 3 + 1;
}

__attribute__((noinline)) int plugin_call(int value)
{
    return plugin_step(value) + plugin_step(value + 1);
}
