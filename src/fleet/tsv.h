/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsv.h - an answer of ClickHouse, in its format TabSeparatedWithNamesAndTypes, as a Parquet file.
 *
 *     name1 TAB name2 LF   UInt64 TAB Array(String) LF   1 TAB ['a','b'] LF ...
 *
 * The answer comes in parts of any length, and is not trusted.
 */
#ifndef TV_FLEET_TSV_H
#define TV_FLEET_TSV_H

#include "parquet/parquet.h"

struct tv_fleet_tsv;

/* Begin a file, which is written to `out`.  With columns, which must outlive the reader, the answer
 * must have these; empty texts and the key 0 become NULL (rowbinary.h).  NULL: the columns are
 * those of the answer; what is no number is a text. */
struct tv_fleet_tsv *tv_fleet_tsv_new(const struct tv_parquet_column *columns, size_t count,
                                      struct tv_out *out);
void tv_fleet_tsv_free(struct tv_fleet_tsv *tsv);

/* Take a part of the answer. */
enum tv_status tv_fleet_tsv_take(struct tv_fleet_tsv *tsv, struct tv_bytes bytes,
                                 struct tv_error *err) TV_MUST_CHECK;

/* End the file.  TV_ERR_SYNTAX when the answer ends within a row, or before its first one. */
enum tv_status tv_fleet_tsv_finish(struct tv_fleet_tsv *tsv, struct tv_error *err) TV_MUST_CHECK;

#endif
