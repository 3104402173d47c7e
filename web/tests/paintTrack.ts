// SPDX-License-Identifier: Apache-2.0
// One track, drawn on a surface that notes it.

import type { Tile, TileLane } from '../src/model/engine';
import type { Track } from '../src/model/traceFacts';
import { layoutTracks } from '../src/model/layout';
import { Frames } from '../src/model/names';
import { TileCache } from '../src/model/tileCache';
import { NarrowBars } from '../src/render/narrowBars';
import { DensityImages } from '../src/render/densityRows';
import { TextMeter } from '../src/render/text';
import { TimeScale } from '../src/render/timeScale';
import { paintTracks, type Scene } from '../src/render/trackPainter';
import { DrawLog } from './drawLog';
import {
  FRAMES,
  settle,
  theme,
  tile,
  tileEngine,
  track,
  type SliceRow,
  type TileQuestion,
} from './fixtures';

export const THEME = theme();
export const frames = new Frames(FRAMES);
/** Every letter is 6 px wide. */
export const meter = new TextMeter((text) => text.length * 6);
export const BOUNDS = { from: 0, to: 1000 };

export interface Setup {
  rows?: SliceRow[][];
  waits?: SliceRow[];
  view?: { from: number; to: number };
  expanded?: boolean;
  /** Of the row of that number. */
  strips?: (NonNullable<Tile['density']> | undefined)[];
  /** Innermost calls, for a closed track. */
  innermost?: SliceRow[];
  track?: Partial<Track>;
  height?: number;
  change?: Partial<Scene>;
}

/** Draw one track, 500 px wide; 1000 ns fill it unless the view says otherwise. */
export async function paintTrack(setup: Setup): Promise<DrawLog> {
  const tiles: Tile[] = (setup.rows ?? []).map((rows, row) =>
    tile({ kind: 'r', row }, 1, 0, rows, setup.strips?.[row]),
  );
  tiles.push(tile({ kind: 'w', row: 0 }, 1, 0, setup.waits ?? []));
  tiles.push(tile({ kind: 'i', row: 0 }, 1, 0, setup.innermost ?? []));
  const questions: TileQuestion[] = [];
  const cache = new TileCache(
    tileEngine(questions),
    BOUNDS,
    () => undefined,
    () => undefined,
  );
  const lanes: TileLane[] = tiles.map((t) => ({ kind: t.kind, row: t.row }));
  cache.show({ lanes, res: 1, first: 0, last: 0 });
  questions[0]?.answer(tiles);
  await settle();
  const scene: Scene = {
    theme: THEME,
    frames,
    meter,
    densityImages: new DensityImages(),
    narrow: new NarrowBars(),
    cache,
    statesOf: new Map(),
    scale: new TimeScale(setup.view ?? BOUNDS, 500),
    res: 1,
    ratio: 1,
    unit: 'ns',
    bounds: BOUNDS,
    range: null,
    notes: [],
    bands: [],
    pointer: null,
    frame: null,
    call: null,
    pinned: null,
    extents: null,
    hovered: null,
    matches: null,
    dimmed: false,
    hit: null,
    ...setup.change,
  };
  const context = new DrawLog();
  const own = track(0, { first_row: 0, rows: 2, waits: 1, ...setup.track });
  const expanded = new Set(setup.expanded === false ? [] : [0]);
  paintTracks(context, scene, layoutTracks([own], expanded, THEME.heights), 0, setup.height ?? 80);
  return context;
}
