/* SPDX-License-Identifier: Apache-2.0 */
/* otlp.h - the reader of OpenTelemetry profiles (OTLP), in protobuf and in JSON:
 * docs/formats/otlp.md has the fields. */
#ifndef TV_READERS_OTLP_OTLP_H
#define TV_READERS_OTLP_OTLP_H

#include "readers/reader.h"

extern const struct tv_reader tv_reader_otlp;

#endif
