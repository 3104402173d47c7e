// SPDX-License-Identifier: Apache-2.0
// Decode the binary answers of docs/view-protocol.md. The result holds typed arrays that are views
// of the received buffer, not copies: it keeps the whole buffer alive, and nobody may write to it.
//
// Every answer begins with four bytes of magic ("TVT1", "TVF1", ...) and a count, then follow
// columns rather than records, so that each column becomes one typed array:
//
//   TVT1 | count | tile | tile | ...        tile: header, start[n], length[n], row[n], index[n],
//                                           frame[n], flags[n], density row (if present)
//
// Columns of 64-bit floats start at multiples of eight, hence the padding after 32-bit columns.

import { ByteReader } from '../base/bytes';
import type { Activity, CounterValues, FlameGraph, Tile, TileKind } from './engine';

/** Width of a tile in pixels. */
export const TILE_PIXELS = 512;

/** Kinds of tiles by their number in the answer. */
const KINDS: readonly TileKind[] = ['r', 'i', 'w'];

/** Read a column of n 32-bit numbers and the padding after it. */
function paddedU32s(reader: ByteReader, n: number): Uint32Array {
  const array = reader.u32s(n);
  reader.align(8);
  return array;
}

function decodeTile(reader: ByteReader): Tile {
  reader.align(8);
  const kind = KINDS[reader.u32()];
  if (!kind) throw new Error('answer holds a tile of an unknown kind');
  const row = reader.u32();
  const res = reader.u32();
  const n = reader.u32();
  const number = reader.f64();
  const hasStrip = reader.u32() !== 0;
  reader.u32();
  const start = reader.f64s(n);
  const length = reader.f64s(n);
  const rows = paddedU32s(reader, n);
  const index = paddedU32s(reader, n);
  const frame = paddedU32s(reader, n);
  const flags = paddedU32s(reader, n);
  const strip = hasStrip
    ? { frame: reader.u32s(TILE_PIXELS), height: reader.u8s(TILE_PIXELS) }
    : null;
  return { kind, row, res, number, start, length, rows, index, frame, flags, density: strip };
}

/** Decode the answer to `tiles`. */
export function decodeTiles(bytes: ArrayBuffer): Tile[] {
  const reader = new ByteReader(bytes);
  reader.magic('TVT1');
  const tiles: Tile[] = [];
  for (let n = reader.u32(); n > 0; n--) tiles.push(decodeTile(reader));
  return tiles;
}

/** Decode the answer to `flame` and `sampleFlame`. */
export function decodeFlame(bytes: ArrayBuffer): FlameGraph {
  const reader = new ByteReader(bytes);
  reader.magic('TVF1');
  const n = reader.u32();
  return {
    total: reader.f64(),
    leftOut: reader.f64(),
    start: reader.f64s(n),
    width: reader.f64s(n),
    self: reader.f64s(n),
    depth: paddedU32s(reader, n),
    frame: paddedU32s(reader, n),
    path: paddedU32s(reader, n),
    calls: paddedU32s(reader, n),
  };
}

/** Unmerged samples have one column per series, which then serves as all four. */
function decodeCounter(reader: ByteReader): CounterValues {
  const counter = reader.u32();
  const count = reader.u32();
  const n = reader.u32();
  const merged = reader.u32() !== 0;
  const time = reader.f64s(n);
  const series: CounterValues['series'] = [];
  for (let k = 0; k < count; k++) {
    const first = reader.f64s(n);
    if (merged)
      series.push({ first, last: reader.f64s(n), lowest: reader.f64s(n), highest: reader.f64s(n) });
    else series.push({ first, last: first, lowest: first, highest: first });
  }
  return { counter, merged, time, series };
}

/** Decode the answer to `counterValues`. */
export function decodeCounters(bytes: ArrayBuffer): CounterValues[] {
  const reader = new ByteReader(bytes);
  reader.magic('TVC1');
  const counters: CounterValues[] = [];
  for (let n = reader.u32(); n > 0; n--) counters.push(decodeCounter(reader));
  return counters;
}

/** Decode the answer to `activity`; heights are from 0 to 255. */
export function decodeActivity(bytes: ArrayBuffer): Activity {
  const reader = new ByteReader(bytes);
  reader.magic('TVA1');
  const n = reader.u32();
  const buckets = reader.u32();
  reader.u32();
  const from = reader.f64();
  const to = reader.f64();
  const lanes: Activity['lanes'] = [];
  for (let i = 0; i < n; i++) {
    const track = reader.u32();
    const height = reader.u8s(buckets);
    reader.align(4);
    lanes.push({ track, height });
  }
  return { buckets, from, to, lanes };
}
