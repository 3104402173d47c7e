/* SPDX-License-Identifier: Apache-2.0 */
/*
 * second.c - takes the place of plugin.c when that has been unloaded: of the same shape, with other
 * names.
 */
int second_step(int value);
int plugin_call(int value);

__attribute__((noinline)) int second_step(int value)
{
    return value * 3 + 1;
}

__attribute__((noinline)) int plugin_call(int value)
{
    return second_step(value) + second_step(value + 1);
}
