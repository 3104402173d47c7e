// SPDX-License-Identifier: Apache-2.0
// The visible calls of a track as a list, for screen readers and the keyboard.

import type { Tile } from './engine';
import type { Track } from './traceFacts';
import { FLAG } from './engine';
import type { Span } from './span';
import { tileRange, type TileCache } from './tileCache';
import type { Words } from './words';

/** A call in view. */
export interface VisibleCall {
  row: number;
  index: number;
  frame: number;
  depth: number;
  start: number;
  length: number;
  flags: number;
}

function addVisible(calls: Map<string, VisibleCall>, tile: Tile, depth: number, view: Span): void {
  for (let i = 0; i < tile.start.length; i++) {
    const start = tile.start[i] ?? 0;
    const length = tile.length[i] ?? 0;
    if (start >= view.to || start + length <= view.from) continue;
    const row = tile.rows[i] ?? 0;
    const index = tile.index[i] ?? 0;
    const flags = tile.flags[i] ?? 0;
    calls.set(`${row}.${index}`, {
      row,
      index,
      frame: tile.frame[i] ?? 0,
      depth,
      start,
      length,
      flags,
    });
  }
}

/** Return the `most` longest calls in view, sorted by start, callers before their callees. */
export function visibleCalls(
  cache: TileCache,
  track: Track,
  res: number,
  view: Span,
  most: number,
): VisibleCall[] {
  const { first, last } = tileRange(view, res);
  const calls = new Map<string, VisibleCall>();
  for (let depth = 0; depth < track.rows; depth++) {
    for (let n = first; n <= last; n++) {
      const tile = cache.get('r', track.first_row + depth, res, n);
      if (tile) addVisible(calls, tile, depth, view);
    }
  }
  return [...calls.values()]
    .sort((a, b) => b.length - a.length)
    .slice(0, most)
    .sort((a, b) => a.start - b.start || a.depth - b.depth);
}

/** Describe the flags of a slice in words. */
export function flagWords(flags: number, { events }: Words): string {
  const words = [
    flags & FLAG.enteredBefore ? `${events ? 'begun' : 'entered'} before the trace` : '',
    flags & FLAG.openAtEnd ? 'open at the end' : '',
    flags & FLAG.missingExit ? `${events ? 'end' : 'exit'} missing` : '',
    flags & FLAG.unrolled ? 'left by an exception' : '',
  ];
  return words.filter((word) => word !== '').join(', ');
}
