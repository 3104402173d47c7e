// SPDX-License-Identifier: Apache-2.0
// Selects the tiles that a lane draws, and visits their slices and density rows. While the tiles of
// the wanted resolution are still loading, coarser or finer tiles stand in for them.

import { TILE_PIXELS } from '../model/decode';
import type { Tile, TileLane } from '../model/engine';
import { tileRange, tileSpan, type TileCache } from '../model/tileCache';
import type { TimeScale } from './timeScale';

/** A tile, and the part of the time line for which it is drawn. */
export interface TileExcerpt {
  tile: Tile;
  from: number;
  to: number;
}

/** Return true if the tiles cover their range at resolution `res` without a gap. */
function tilesCover(tiles: readonly Tile[], res: number): boolean {
  return tiles.length === 2 || (tiles[0] !== undefined && tiles[0].res > res);
}

/**
 * Choose the tiles to draw for the visible span. `ready` returns true if a tile can be drawn in
 * this frame. A tile that is not ready waits for another frame if an older tile can stand in for
 * it.
 */
export function tileExcerptsOf(
  cache: TileCache,
  lane: TileLane,
  res: number,
  scale: TimeScale,
  ready: (tile: Tile) => boolean = () => true,
): TileExcerpt[] {
  const size = tileSpan(res);
  const { first, last } = tileRange(scale.view, res);
  const excerpts: TileExcerpt[] = [];
  for (let n = first; n <= last; n++) {
    const from = n * size;
    const to = from + size;
    const exact = cache.get(lane.kind, lane.row, res, n);
    const isReady = exact !== undefined && ready(exact);
    const others = isReady ? [] : cache.substitutes(lane.kind, lane.row, res, n);
    if (exact && (isReady || !tilesCover(others, res) || !others.every(ready))) {
      excerpts.push({ tile: exact, from, to });
      continue;
    }
    for (const tile of others) {
      const own = tileSpan(tile.res);
      excerpts.push({
        tile,
        from: Math.max(from, tile.number * own),
        to: Math.min(to, (tile.number + 1) * own),
      });
    }
  }
  return excerpts;
}

export type VisitSlice = (tile: Tile, i: number, x0: number, x1: number) => void;

/**
 * Visit every visible slice once, in the order of the row. A slice that touches several tiles is in
 * each of them. Indices grow along a row, so every slice visited so far has an index up to the last
 * one.
 */
export function visitSliceRow(
  excerpts: readonly TileExcerpt[],
  scale: TimeScale,
  visit: VisitSlice,
): void {
  let done = -1;
  for (const { tile, from, to } of excerpts) {
    for (let i = 0; i < tile.start.length; i++) {
      const start = tile.start[i] ?? 0;
      if (start >= to || start >= scale.view.to) break;
      const end = start + (tile.length[i] ?? 0);
      const index = tile.index[i] ?? 0;
      if (end <= from || end <= scale.view.from || index <= done) continue;
      done = index;
      visit(tile, i, scale.x(start), scale.x(end));
    }
  }
}

interface CallPart {
  tile: Tile;
  i: number;
  start: number;
  end: number;
}

/** Join parts of one call that touch: tile borders cut a call into parts. */
function joinCallParts(parts: CallPart[]): CallPart[] {
  parts.sort((a, b) => a.start - b.start);
  const whole: CallPart[] = [];
  for (const part of parts) {
    const last = whole[whole.length - 1];
    const same =
      last &&
      last.tile.rows[last.i] === part.tile.rows[part.i] &&
      last.tile.index[last.i] === part.tile.index[part.i];
    if (last && same && part.start <= last.end) last.end = Math.max(last.end, part.end);
    else whole.push({ ...part });
  }
  return whole;
}

/** Visit a lane of innermost calls: the intervals in which each call was the innermost one. */
export function visitInnermost(
  excerpts: readonly TileExcerpt[],
  scale: TimeScale,
  visit: VisitSlice,
): void {
  const parts: CallPart[] = [];
  for (const { tile, from, to } of excerpts) {
    for (let i = 0; i < tile.start.length; i++) {
      const start = tile.start[i] ?? 0;
      const end = start + (tile.length[i] ?? 0);
      if (start >= to || end <= from || end <= scale.view.from || start >= scale.view.to) continue;
      parts.push({ tile, i, start: Math.max(start, from), end: Math.min(end, to) });
    }
  }
  for (const part of joinCallParts(parts))
    visit(part.tile, part.i, scale.x(part.start), scale.x(part.end));
}

export type VisitDensityRow = (
  tile: Tile,
  firstPixel: number,
  pixels: number,
  x: number,
  width: number,
) => void;

/** Visit the visible parts of density rows, joined where one tile stands in for several. */
export function visitDensityRows(
  excerpts: readonly TileExcerpt[],
  scale: TimeScale,
  visit: VisitDensityRow,
): void {
  for (let k = 0; k < excerpts.length; k++) {
    const excerpt = excerpts[k];
    if (!excerpt?.tile.density) continue;
    let { to } = excerpt;
    while (excerpts[k + 1]?.tile === excerpt.tile) to = excerpts[++k]?.to ?? to;
    const pixel = 2 ** excerpt.tile.res;
    const origin = excerpt.tile.number * TILE_PIXELS;
    const first = Math.max(0, Math.floor(Math.max(excerpt.from, scale.view.from) / pixel) - origin);
    const last = Math.min(TILE_PIXELS, Math.ceil(Math.min(to, scale.view.to) / pixel) - origin);
    if (last <= first) continue;
    const x = scale.x((origin + first) * pixel);
    visit(excerpt.tile, first, last - first, x, scale.x((origin + last) * pixel) - x);
  }
}
