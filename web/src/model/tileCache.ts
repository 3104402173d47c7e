// SPDX-License-Identifier: Apache-2.0
// Cache of tiles. A tile holds the slices of one lane in one range of time at one resolution.
// Resolution r has 2^r ns per pixel, and each tile has TILE_PIXELS pixels, so a tile of resolution
// r + 1 covers two tiles of resolution r, as in a map:
//
//   res 2   [        0        ][        1        ]
//   res 1   [   0   ][   1    ][   2   ][   3    ]
//   res 0   [ 0 ][ 1 ][ 2 ][ 3 ] ...
//
// In every frame the painter names the tiles that it wants, and draws those that are cached, or
// substitutes of another resolution. The cache then asks the engine for the missing ones: one batch
// at a time; a batch is aborted when the view has left it. When all wanted tiles are there, the
// cache prefetches those of the lanes around for scrolling, and then the neighbours for panning.
// The least recently used tiles are dropped.

import { TILE_PIXELS } from './decode';
import { isAbort, type Engine, type Tile, type TileKind, type TileLane } from './engine';
import type { Span } from './span';

/** Capacity: about 120 MB in the worst case; one screen needs a few hundred tiles. */
const CAPACITY = 6000;
/** Limit of the engine: tiles in one answer. */
const MOST_AT_ONCE = 2048;
const FINEST = 0;
const COARSEST = 52;

/** The tiles that the screen shows: of these lanes, from `first` to `last`. */
export interface WantedTiles {
  lanes: readonly TileLane[];
  /** Return the lanes that scrolling may bring onto the screen. */
  around?: () => readonly TileLane[];
  res: number;
  first: number;
  last: number;
}

/** One question to the engine. */
interface TileQuestion {
  res: number;
  first: number;
  last: number;
  lanes: TileLane[];
}

/** Return the resolution at which a tile pixel is between half a screen pixel and a whole one. */
export function resolutionFor(nsPerPixel: number): number {
  return Math.min(COARSEST, Math.max(FINEST, Math.floor(Math.log2(Math.max(1, nsPerPixel)))));
}

/** Return the length of a tile in nanoseconds. */
export function tileSpan(res: number): number {
  return TILE_PIXELS * 2 ** res;
}

/** Return the numbers of the tiles that a view touches. */
export function tileRange(view: Span, res: number): { first: number; last: number } {
  const size = tileSpan(res);
  return { first: Math.floor(view.from / size), last: Math.floor(view.to / size) };
}

export function tileKey(kind: TileKind, row: number, res: number, number: number): string {
  return `${kind}${row}/${res}/${number}`;
}

/**
 * Return the questions for missing tiles. Lanes that lack the same tiles share a question, up to
 * the limit of one answer.
 */
export function tileQuestions(want: WantedTiles, has: (key: string) => boolean): TileQuestion[] {
  const questions: TileQuestion[] = [];
  const open = new Map<string, TileQuestion>();
  for (const lane of want.lanes) {
    let first = want.first;
    let last = want.last;
    while (first <= last && has(tileKey(lane.kind, lane.row, want.res, first))) first++;
    while (last >= first && has(tileKey(lane.kind, lane.row, want.res, last))) last--;
    if (first > last) continue;
    const most = Math.max(1, Math.floor(MOST_AT_ONCE / (last - first + 1)));
    let question = open.get(`${first}-${last}`);
    if (!question || question.lanes.length >= most) {
      question = { res: want.res, first, last, lanes: [] };
      questions.push(question);
      open.set(`${first}-${last}`, question);
    }
    question.lanes.push(lane);
  }
  return questions;
}

/**
 * The cache. `arrived` is called with the tiles of each answer, `failed` after an error; after an error the
 * cache pauses until the view changes.
 */
export class TileCache {
  private readonly tiles = new Map<string, Tile>();
  private want: WantedTiles | null = null;
  private asked: { want: WantedTiles; controller: AbortController } | null = null;
  private failedFor: WantedTiles | null = null;

  constructor(
    private readonly engine: Engine,
    private readonly bounds: Span,
    private readonly arrived: (tiles: readonly Tile[]) => void,
    private readonly failed: (error: unknown) => void,
  ) {}

  get(kind: TileKind, row: number, res: number, number: number): Tile | undefined {
    const key = tileKey(kind, row, res, number);
    const tile = this.tiles.get(key);
    if (tile) {
      // A Map iterates in order of insertion: reinserting makes the tile the most recently used.
      this.tiles.delete(key);
      this.tiles.set(key, tile);
    }
    return tile;
  }

  /**
   * Return substitutes for a missing tile: a coarser tile, or else the finer ones that are cached.
   */
  substitutes(kind: TileKind, row: number, res: number, number: number): Tile[] {
    for (let up = 1; up <= 10; up++) {
      const tile = this.tiles.get(tileKey(kind, row, res + up, Math.floor(number / 2 ** up)));
      if (tile) return [tile];
    }
    const found: Tile[] = [];
    for (let i = 0; i < 2; i++) {
      const tile = this.tiles.get(tileKey(kind, row, res - 1, number * 2 + i));
      if (tile) found.push(tile);
    }
    return found;
  }

  /** Name the tiles that the screen shows now. */
  show(want: WantedTiles): void {
    this.want = want;
    this.askNext();
  }

  /** True when all tiles of the last `show` are cached. */
  get complete(): boolean {
    return this.want !== null && tileQuestions(this.inside(this.want), this.has).length === 0;
  }

  private readonly has = (key: string): boolean => this.tiles.has(key);

  /** Limit a range of tiles to the extent of the trace. */
  private inside(want: WantedTiles): WantedTiles {
    const size = tileSpan(want.res);
    return {
      ...want,
      first: Math.max(want.first, Math.floor(this.bounds.from / size)),
      last: Math.min(want.last, Math.floor(this.bounds.to / size)),
    };
  }

  /** Start the next batch unless a useful one is pending. */
  private askNext(): void {
    const want = this.want;
    if (!want || want === this.failedFor) return;
    if (this.asked) {
      const old = this.asked.want;
      const useful = old.res === want.res && old.first <= want.last && old.last >= want.first;
      if (useful) return;
      this.asked.controller.abort();
      this.asked = null;
    }
    let questions: TileQuestion[] = [];
    for (const wanted of [
      () => want,
      () => ({ ...want, lanes: want.around?.() ?? [] }),
      () => ({ ...want, first: want.first - 1, last: want.last + 1 }),
    ]) {
      questions = tileQuestions(this.inside(wanted()), this.has);
      if (questions.length > 0) break;
    }
    if (questions.length > 0) void this.ask(want, questions);
  }

  private async ask(want: WantedTiles, questions: TileQuestion[]): Promise<void> {
    const controller = new AbortController();
    const mine = { want, controller };
    this.asked = mine;
    try {
      await Promise.all(
        questions.map(async (q) => {
          this.insert(await this.engine.tiles(q.res, q.first, q.last, q.lanes, controller.signal));
        }),
      );
    } catch (error) {
      if (!isAbort(error)) {
        this.failedFor = this.want;
        this.failed(error);
      }
    }
    if (this.asked === mine) {
      this.asked = null;
      this.askNext();
    }
  }

  /** Insert tiles, and drop the least recently used ones. */
  private insert(tiles: Tile[]): void {
    for (const tile of tiles)
      this.tiles.set(tileKey(tile.kind, tile.row, tile.res, tile.number), tile);
    for (const key of this.tiles.keys()) {
      if (this.tiles.size <= CAPACITY) break;
      this.tiles.delete(key);
    }
    this.arrived(tiles);
  }
}

/** Format a list of lanes as r5-9,r12,i0: a run of neighbouring rows is written once. */
export function laneList(lanes: readonly TileLane[]): string {
  const words: string[] = [];
  for (let i = 0; i < lanes.length; i++) {
    const first = lanes[i];
    if (!first) break;
    let last = first.row;
    while (lanes[i + 1]?.kind === first.kind && lanes[i + 1]?.row === last + 1) {
      last++;
      i++;
    }
    words.push(first.kind + (last > first.row ? `${first.row}-${last}` : first.row));
  }
  return words.join(',');
}
