// SPDX-License-Identifier: Apache-2.0
// Finds the columns of a collapsed track that density rows occupy, so that the names of bars stop
// before them: if a name and a density row overlap, neither is readable.

import { visitDensityRows, type TileExcerpt } from './lanes';
import type { TimeScale } from './timeScale';

/** Columns below this height (of 255) stay below the letters. */
const LOW = 76;

/**
 * Return the left edges of the columns that reach the height of letters, from left to right. With
 * `all`, as for async tracks, every column counts.
 */
export function columnsTakenByDensity(
  excerpts: readonly TileExcerpt[],
  scale: TimeScale,
  all: boolean,
): number[] {
  const taken: number[] = [];
  visitDensityRows(excerpts, scale, (tile, first, pixels, x, width) => {
    const heights = tile.density?.height;
    if (!heights) return;
    const step = width / pixels;
    for (let i = 0; i < pixels; i++)
      if ((heights[first + i] ?? 0) > (all ? 0 : LOW)) taken.push(x + i * step);
  });
  return taken;
}

/** Return the first occupied column at or after x. */
export function firstTakenFrom(taken: readonly number[], x: number): number {
  let low = 0;
  let high = taken.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((taken[middle] ?? 0) < x) low = middle + 1;
    else high = middle;
  }
  return taken[low] ?? Infinity;
}
