/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto.h - the reader of Perfetto's protobuf traces (docs/formats/perfetto.md).
 */
#ifndef TV_READERS_PERFETTO_PERFETTO_H
#define TV_READERS_PERFETTO_PERFETTO_H

#include "readers/reader.h"

extern const struct tv_reader tv_reader_perfetto;

#endif
