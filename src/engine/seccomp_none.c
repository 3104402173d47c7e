/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seccomp_none.c - a build without libseccomp.
 */
#include "engine/sandbox.h"

bool tv_sandbox_filter_calls(bool files)
{
    (void)files;
    return false;
}

bool tv_sandbox_filter_command(bool serves)
{
    (void)serves;
    return false;
}

bool tv_sandbox_has_filter(void)
{
    return false;
}
