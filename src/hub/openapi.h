/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi.h - docs/openapi.json inside the binary: the bytes [tv_openapi, tv_openapi_end).
 */
#ifndef TV_HUB_OPENAPI_H
#define TV_HUB_OPENAPI_H

extern const char tv_openapi[];
extern const char tv_openapi_end[];

#endif
