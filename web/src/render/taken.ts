// SPDX-License-Identifier: Apache-2.0
// Where strips stand on a collapsed track, so that the names of its bars leave room for them: a name
// under a strip can be read as little as the strip.

import { visitStrips, type Piece } from './lanes';
import type { TimeScale } from './timeScale';

/** Lower columns, of 255, stay below the letters. */
const LOW = 76;

/** The left edges of columns as high as letters are, from left to right; of async tracks of all. */
export function takenByStrips(pieces: readonly Piece[], scale: TimeScale, all: boolean): number[] {
  const taken: number[] = [];
  visitStrips(pieces, scale, (tile, first, pixels, x, width) => {
    const heights = tile.density?.height;
    if (!heights) return;
    const step = width / pixels;
    for (let i = 0; i < pixels; i++)
      if ((heights[first + i] ?? 0) > (all ? 0 : LOW)) taken.push(x + i * step);
  });
  return taken;
}

/** The first of them at or behind a place. */
export function takenFrom(taken: readonly number[], x: number): number {
  let low = 0;
  let high = taken.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((taken[middle] ?? 0) < x) low = middle + 1;
    else high = middle;
  }
  return taken[low] ?? Infinity;
}
