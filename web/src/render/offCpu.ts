// SPDX-License-Identifier: Apache-2.0
// The parts of a slice during which its thread was not on a processor. They are drawn pale.
//
// The state track of a thread says when it ran, so the parts are read from its tiles, as the state
// lane draws them:
//
//    slice    [  full  |  pale  |   full   ]
//    states   running   sleeping   running
//
// Time without a state is not pale, because nothing is known about it. Without a state track only
// the sum of a slice's CPU time is known; that share keeps the full colour at the left.

import { eventColour } from '../model/colours';
import { reservedColour } from '../model/engine';
import type { Frames } from '../model/names';
import type { TileCache } from '../model/tileCache';
import { tileExcerptsOf, visitDensityRows, visitSliceRow } from './lanes';
import { isRunning } from './statePainter';
import type { TimeScale } from './timeScale';

/** An interval of x. */
export type XInterval = readonly [from: number, to: number];

/** The answers that the parts are read from. */
export interface StateTiles {
  cache: TileCache;
  frames: Frames;
  res: number;
  scale: TimeScale;
}

/**
 * Return the visible parts in which the thread with the states in `row` did not run, in order and
 * without overlaps. States shorter than a pixel follow the longest one there, as in the state lane.
 */
export function partsOffCpu(s: StateTiles, row: number): XInterval[] {
  const found: [number, number][] = [];
  const excerpts = tileExcerptsOf(s.cache, { kind: 'r', row }, s.res, s.scale);
  visitSliceRow(excerpts, s.scale, (tile, i, x0, x1) => {
    const automatic = s.frames.colour(tile.frame[i] ?? 0);
    if (!isRunning(eventColour(reservedColour(tile.flags[i] ?? 0), automatic)))
      found.push([x0, x1]);
  });
  visitDensityRows(excerpts, s.scale, (tile, first, pixels, x, width) => {
    const { density } = tile;
    const step = width / pixels;
    for (let i = 0; density && i < pixels; i++) {
      if (!density.height[first + i]) continue;
      if (!isRunning(s.frames.colour(density.frame[first + i] ?? 0)))
        found.push([x + i * step, x + (i + 1) * step]);
    }
  });
  return joinParts(found);
}

/** The largest gap, in pixels, between parts that are drawn as one. */
const NO_GAP = 0.01;

/** Join parts that touch: a thread that waits twice in a row did not run in between. */
function joinParts(parts: [number, number][]): XInterval[] {
  parts.sort((a, b) => a[0] - b[0]);
  const joined: [number, number][] = [];
  for (const part of parts) {
    const last = joined[joined.length - 1];
    if (last && part[0] <= last[1] + NO_GAP) last[1] = Math.max(last[1], part[1]);
    else joined.push(part);
  }
  return joined;
}

/** Return the intersections of [from, to) with sorted parts. */
export function partsWithin(parts: readonly XInterval[], from: number, to: number): XInterval[] {
  let low = 0;
  let high = parts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((parts[middle]?.[1] ?? 0) <= from) low = middle + 1;
    else high = middle;
  }
  const within: XInterval[] = [];
  for (let part = parts[low]; part && part[0] < to; part = parts[++low])
    within.push([Math.max(from, part[0]), Math.min(to, part[1])]);
  return within;
}

/** Return the part of [from, to) without CPU when only the share of time with CPU is known. */
export function partOffShare(share: number, from: number, to: number): XInterval[] {
  return share < 1 ? [[from + (to - from) * share, to]] : [];
}
