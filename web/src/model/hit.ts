// SPDX-License-Identifier: Apache-2.0
// Hit test: find the slice under a point of a lane, in the tiles that are loaded.

import { TILE_PIXELS } from './decode';
import type { Call, Engine, Tile, TileLane } from './engine';
import { tileRange, tileSpan, type TileCache } from './tileCache';

/** The slice under a point. */
export interface Hit {
  frame: number;
  /**
   * null: the point hit a pixel of a density row, which knows only the frame of its longest call.
   */
  call: Call | null;
  start: number;
  length: number;
  flags: number;
}

/**
 * Return the innermost slice of a tile that contains time t. A lane of innermost calls may nest.
 */
function sliceAt(tile: Tile, t: number, slop: number): Hit | null {
  let best = -1;
  for (let i = 0; i < tile.start.length; i++) {
    const start = tile.start[i] ?? 0;
    if (start > t + slop) break;
    if (t > start + (tile.length[i] ?? 0) + slop) continue;
    if (best < 0 || (tile.rows[i] ?? 0) >= (tile.rows[best] ?? 0)) best = i;
  }
  return best < 0
    ? null
    : {
        frame: tile.frame[best] ?? 0,
        call: { row: tile.rows[best] ?? 0, index: tile.index[best] ?? 0 },
        start: tile.start[best] ?? 0,
        length: tile.length[best] ?? 0,
        flags: tile.flags[best] ?? 0,
      };
}

/** Return the pixel of the tile's density row at time t; null: the pixel is empty. */
function densityAt(tile: Tile, t: number): Hit | null {
  if (!tile.density) return null;
  const pixel = 2 ** tile.res;
  const at = Math.floor(t / pixel) - tile.number * TILE_PIXELS;
  // The screen pixel may overlap the neighbouring tile pixel by half.
  for (const p of [at, at - 1, at + 1]) {
    if (p < 0 || p >= TILE_PIXELS || !tile.density.height[p]) continue;
    const start = (tile.number * TILE_PIXELS + p) * pixel;
    return { frame: tile.density.frame[p] ?? 0, call: null, start, length: pixel, flags: 0 };
  }
  return null;
}

/** Return what is drawn at time t of a lane; null: nothing, or the tile is not loaded. */
export function hitLane(cache: TileCache, lane: TileLane, res: number, t: number): Hit | null {
  const number = tileRange({ from: t, to: t }, res).first;
  const exact = cache.get(lane.kind, lane.row, res, number);
  const tiles = exact ? [exact] : cache.substitutes(lane.kind, lane.row, res, number);
  for (const tile of tiles) {
    const found = sliceAt(tile, t, 0) ?? densityAt(tile, t);
    if (found) return found;
  }
  return null;
}

/**
 * Return the call at a pixel of a density row of a track: load a finer resolution, where this pixel
 * is two tiles wide, and take the longest call there. If all are too short for the finest
 * resolution, take the first one.
 */
export async function resolveDensity(
  engine: Engine,
  { track, lane }: { track: number; lane: TileLane },
  res: number,
  hit: Hit,
): Promise<Call | null> {
  const fine = Math.max(0, res - 8);
  const size = tileSpan(fine);
  const first = Math.floor(hit.start / size);
  const last = Math.floor((hit.start + hit.length - 1) / size);
  let best: Call | null = null;
  let longest = -1;
  for (const tile of await engine.tiles(fine, first, last, [lane])) {
    for (let i = 0; i < tile.start.length; i++) {
      const start = tile.start[i] ?? 0;
      if (start < hit.start || start >= hit.start + hit.length) continue;
      const length = tile.length[i] ?? 0;
      if (tile.frame[i] === hit.frame && length > longest) {
        longest = length;
        best = { row: tile.rows[i] ?? 0, index: tile.index[i] ?? 0 };
      }
    }
  }
  if (best) return best;
  const shortest = await engine.step(hit.frame, hit.start - 1, 1, [track]);
  if (!shortest || lane.kind === 'r') return shortest?.row === lane.row ? shortest : null;
  // A lane of innermost calls has those of every row.
  const { start_ns: start } = await engine.slice(shortest);
  return start < hit.start + hit.length ? shortest : null;
}
