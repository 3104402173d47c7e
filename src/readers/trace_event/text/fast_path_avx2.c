/* SPDX-License-Identifier: Apache-2.0 */
/* fast_path_avx2.c - the fast path compiled for processors with AVX2. */
#include "readers/trace_event/text/fields.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>
#include <string.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,pclmul"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,pclmul")
#endif

#define TV_SCAN_AVX2
#include "readers/trace_event/text/fast_path.h"

bool tv_te_fast_path_avx2(const uint8_t *at, const uint8_t *end, struct tv_te_fields *fields,
                          const uint8_t **event_end)
{
    return tv_te_fast_path(at, end, fields, event_end);
}

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
