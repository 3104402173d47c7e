// SPDX-License-Identifier: Apache-2.0
// What a lane shows of the tiles that are there, and what lies under a point of it.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import type { CallDetails, Tile, TileLane } from '../src/model/engine';
import { hitLane, resolveDensity } from '../src/model/hit';
import {
  boxAt,
  firstExpanded,
  firstWhole,
  laneAt,
  lanesOf,
  layoutTimeline,
  layoutTracks,
  totalHeight,
} from '../src/model/layout';
import { TileCache } from '../src/model/tileCache';
import { wordsFor } from '../src/model/words';
import { flagWords, visibleCalls } from '../src/model/visibleCalls';
import { busyActivity, waitingShares } from '../src/model/activity';
import {
  tileExcerptsOf,
  visitInnermost,
  visitSliceRow,
  visitDensityRows,
} from '../src/render/lanes';
import { TimeScale } from '../src/render/timeScale';
import { settle, tile, tileEngine, track, type TileQuestion } from './fixtures';

const ROW: TileLane = { kind: 'r', row: 4 };
/** At resolution 0 a tile is 512 ns. */
const BOUNDS = { from: 0, to: 100000 };
const HEIGHTS = { row: 18, bar: 17, foot: 8, collapsed: 22, state: 8, group: 22, counter: 36 };

async function cacheWith(...tiles: Tile[]): Promise<TileCache> {
  const questions: TileQuestion[] = [];
  const cache = new TileCache(
    tileEngine(questions),
    BOUNDS,
    () => undefined,
    () => undefined,
  );
  for (const t of tiles) {
    cache.show({
      lanes: [{ kind: t.kind, row: t.row }],
      res: t.res,
      first: t.number,
      last: t.number,
    });
    questions.pop()?.answer([t]);
    await settle();
  }
  return cache;
}

function strip(pixel: number, frame: number, height: number): NonNullable<Tile['density']> {
  const made = { frame: new Uint32Array(512), height: new Uint8Array(512) };
  made.frame[pixel] = frame;
  made.height[pixel] = height;
  return made;
}

test('a slice in two tiles is visited once, at its place', async () => {
  const cache = await cacheWith(
    tile(ROW, 0, 0, [
      [100, 50, 0, 1],
      [400, 300, 1, 2],
    ]),
    tile(ROW, 0, 1, [
      [400, 300, 1, 2],
      [800, 10, 2, 3],
    ]),
  );
  const scale = new TimeScale({ from: 0, to: 1024 }, 512);
  const seen: number[][] = [];
  visitSliceRow(tileExcerptsOf(cache, ROW, 0, scale), scale, (t, i, x0, x1) =>
    seen.push([t.frame[i] ?? -1, x0, x1]),
  );
  assert.deepEqual(seen, [
    [1, 50, 75],
    [2, 200, 350],
    [3, 400, 405],
  ]);
});

test('slices that end before the view or begin after it are left out', async () => {
  const cache = await cacheWith(
    tile(ROW, 0, 0, [
      [0, 100, 0, 1],
      [200, 20, 1, 2],
      [300, 50, 2, 3],
    ]),
  );
  const scale = new TimeScale({ from: 150, to: 300 }, 150);
  const seen: number[] = [];
  visitSliceRow(tileExcerptsOf(cache, ROW, 0, scale), scale, (t, i) => seen.push(t.index[i] ?? -1));
  assert.deepEqual(seen, [1]);
});

test('a coarser tile replaces only the missing one', async () => {
  const cache = await cacheWith(
    tile(ROW, 1, 0, [
      [0, 90, 0, 1],
      [600, 90, 5, 2],
    ]),
    tile(ROW, 0, 0, [
      [0, 90, 0, 1],
      [300, 3, 3, 7],
    ]),
  );
  const scale = new TimeScale({ from: 0, to: 1024 }, 1024);
  const seen: number[] = [];
  visitSliceRow(tileExcerptsOf(cache, ROW, 0, scale), scale, (t, i) => seen.push(t.index[i] ?? -1));
  assert.deepEqual(seen, [0, 3, 5]);
});

test('a tile that is not ready waits while other tiles cover its place without a gap', async () => {
  const fine = tile(ROW, 1, 0, []);
  const coarse = tile(ROW, 2, 0, []);
  const halves = [tile(ROW, 0, 0, []), tile(ROW, 0, 1, [])];
  const scale = new TimeScale({ from: 0, to: 1000 }, 500);
  const shown = async (tiles: Tile[], ready: (t: Tile) => boolean): Promise<Tile[]> =>
    tileExcerptsOf(await cacheWith(...tiles), ROW, 1, scale, ready).map((p) => p.tile);
  const others = (t: Tile): boolean => t !== fine;
  assert.deepEqual(await shown([fine, coarse], others), [coarse]);
  assert.deepEqual(await shown([fine, coarse], () => true), [fine]);
  assert.deepEqual(await shown([fine, ...halves], others), halves);
  assert.deepEqual(await shown([fine, ...halves.slice(0, 1)], others), [fine], 'half of it');
  assert.deepEqual(await shown([fine], others), [fine], 'nothing could stand in');
  assert.deepEqual(await shown([fine, coarse], () => false), [fine], 'no less work');
});

test('density of neighbouring tiles is contiguous and scaled by less than two', async () => {
  const cache = await cacheWith(
    tile(ROW, 0, 0, [], strip(500, 1, 200)),
    tile(ROW, 0, 1, [], strip(3, 1, 200)),
  );
  const scale = new TimeScale({ from: 256, to: 768 }, 400);
  const seen: number[][] = [];
  visitDensityRows(tileExcerptsOf(cache, ROW, 0, scale), scale, (_, first, pixels, x, width) =>
    seen.push([first, pixels, x, width]),
  );
  assert.deepEqual(seen, [
    [256, 256, 0, 200],
    [0, 256, 200, 200],
  ]);
});

test('pieces of an innermost call that tiles have cut are one bar', async () => {
  const lane: TileLane = { kind: 'i', row: 0 };
  const cache = await cacheWith(
    tile(lane, 0, 0, [
      [0, 300, 7, 1],
      [300, 212, 8, 2],
    ]),
    tile(lane, 0, 1, [
      [512, 100, 8, 2],
      [700, 50, 7, 1],
    ]),
  );
  const scale = new TimeScale({ from: 0, to: 1024 }, 1024);
  const seen: number[][] = [];
  visitInnermost(tileExcerptsOf(cache, lane, 0, scale), scale, (t, i, x0, x1) =>
    seen.push([t.index[i] ?? -1, x0, x1]),
  );
  assert.deepEqual(seen, [
    [7, 0, 300],
    [8, 300, 612],
    [7, 700, 750],
  ]);
});

test('a point hits a bar with its call, else the density with its frame', async () => {
  const cache = await cacheWith(tile(ROW, 0, 0, [[100, 50, 3, 1, 4]], strip(200, 9, 255)));
  const bar = hitLane(cache, ROW, 0, 120);
  assert.deepEqual(
    [bar?.frame, bar?.call?.index, bar?.start, bar?.length, bar?.flags],
    [1, 3, 100, 50, 4],
  );
  const pixel = hitLane(cache, ROW, 0, 200.7);
  assert.deepEqual([pixel?.frame, pixel?.call, pixel?.start, pixel?.length], [9, null, 200, 1]);
  assert.equal(hitLane(cache, ROW, 0, 400), null);
  assert.equal(hitLane(cache, ROW, 0, 5000), null, 'no tile there');
});

test('the call for a density pixel is the longest of its method that starts there', async () => {
  const questions: TileQuestion[] = [];
  const hit = { frame: 9, call: null, start: 1048576, length: 1024, flags: 0 };
  const found = resolveDensity(tileEngine(questions), { track: 0, lane: ROW }, 10, hit);
  const q = questions[0];
  assert.deepEqual([q?.res, q?.from, q?.to, q?.lanes], [2, 512, 512, 'r4']);
  q?.answer([
    tile(ROW, 2, 512, [
      [1048000, 900, 1, 9],
      [1048600, 20, 2, 9],
      [1048700, 40, 3, 9],
      [1048800, 90, 4, 8],
    ]),
  ]);
  assert.deepEqual(await found, { row: 4, index: 3 });
});

test('a collapsed track resolves its density, too: a call of any row that starts in the pixel', async () => {
  const hit = { frame: 9, call: null, start: 1048576, length: 1024, flags: 0 };
  const lane = { kind: 'i', row: 7 } as const;
  const starting = async (start: number): Promise<unknown> => {
    const questions: TileQuestion[] = [];
    const engine = tileEngine(questions);
    const asked: unknown[] = [];
    engine.step = (frame, time, direction, tracks) => {
      asked.push(frame, time, direction, tracks);
      return Promise.resolve({ row: 12, index: 5 });
    };
    engine.slice = () => Promise.resolve({ start_ns: start } as CallDetails);
    const found = resolveDensity(engine, { track: 7, lane }, 10, hit);
    questions[0]?.answer([]);
    const call = await found;
    assert.deepEqual(asked, [9, 1048575, 1, [7]]);
    return call;
  };
  assert.deepEqual(await starting(1049599), { row: 12, index: 5 });
  assert.equal(await starting(1049600), null, 'of a later pixel');
});

test('tracks are below each other, expanded ones with a row for each level', () => {
  const boxes = layoutTracks([track(0, { rows: 3 }), track(1)], new Set([0]), HEIGHTS);
  assert.deepEqual(
    boxes.map((b) => [b.top, b.height]),
    [
      [0, 3 + 54 + 8 + 3],
      [68, 22],
    ],
  );
  assert.equal(totalHeight(boxes), 90);
  assert.equal(boxAt(boxes, 67)?.track.track, 0);
  assert.equal(boxAt(boxes, 68)?.track.track, 1);
  assert.equal(boxAt(boxes, 90), null);
  const [first, second] = boxes;
  assert(first && second);
  assert.deepEqual(
    lanesOf(first, HEIGHTS, 21, 38).map((l) => [l.lane.row, l.top]),
    [
      [1, 21],
      [2, 39],
    ].slice(0, 1),
  );
  assert.deepEqual(laneAt(first, HEIGHTS, 40)?.lane, { kind: 'r', row: 2 });
  assert.equal(laneAt(first, HEIGHTS, 60), null, 'the foot lane holds no calls');
  assert.deepEqual(laneAt(second, HEIGHTS, 75)?.lane, { kind: 'i', row: 1 });
});

test('a deep track shows its outer levels until all are requested', () => {
  const tracks = [track(0, { rows: 76 }), track(1, { rows: 16 })];
  const open = new Set([0, 1]);
  const [deep, other] = layoutTracks(tracks, open, HEIGHTS);
  assert.deepEqual([deep?.shown, other?.shown], [14, 16]);
  assert.equal(deep && lanesOf(deep, HEIGHTS, 0, 5000).length, 14);
  const [whole] = layoutTracks(tracks, open, HEIGHTS, new Set([0]));
  assert.equal(whole?.shown, 76);
  assert.equal(whole && deep && whole.height - deep.height, 62 * HEIGHTS.row);
});

test('the busiest threads are expanded while they fit, the first one always', () => {
  const tracks = [track(0, { rows: 10 }), track(1, { rows: 3 }), track(2, { rows: 3 })];
  assert.deepEqual([...firstExpanded(tracks, HEIGHTS, 10)], [0]);
  assert.deepEqual([...firstExpanded(tracks, HEIGHTS, 10 * 18 + 14 + 2 * 22 + 50)], [0, 1]);
});

test('deep threads show every level from the start where all of them fit', () => {
  const tracks = [track(0, { rows: 40 }), track(1, { rows: 20 }), track(2, { rows: 2 })];
  const open = new Set([0, 1]);
  const used = totalHeight(layoutTracks(tracks, open, HEIGHTS));
  const whole = (room: number): number[] => [...firstWhole(tracks, open, HEIGHTS, used + room)];
  assert.deepEqual(whole(0), []);
  assert.deepEqual(whole(6 * 18), [1]); // 20 levels, of which 14 are shown
  assert.deepEqual(whole(26 * 18), [0]);
  assert.deepEqual(whole(32 * 18), [0, 1]);
});

test('waiting time is subtracted from what calls cover', async () => {
  const lane: TileLane = { kind: 'w', row: 0 };
  const activity = {
    buckets: 4,
    from: 0,
    to: 1024,
    lanes: [{ track: 0, height: Uint8Array.from([255, 255, 100, 0]) }],
  };
  const half = tile(lane, 0, 0, [[128, 256, 0, 1]]);
  assert.deepEqual([...waitingShares([half], activity)], [0.5, 0.5, 0, 0]);
  const across = [tile(lane, 0, 0, [[500, 100, 0, 1]]), tile(lane, 0, 1, [[500, 100, 0, 1]])];
  const once = [...waitingShares(across, activity)];
  assert.deepEqual(once, [0, 12 / 256, 88 / 256, 0], 'in two tiles, but one wait');
  const inStrip = tile(lane, 7, 0, [], strip(5, 1, 255));
  assert.deepEqual([...waitingShares([inStrip], activity)], [0, 0, 0.5, 0]);

  const engine = tileEngine([]);
  engine.activity = () => Promise.resolve(activity);
  engine.tiles = () => Promise.resolve([half]);
  const busy = await busyActivity(engine, [track(0, { waits: 1 })], { from: 0, to: 1024 }, 4);
  assert.deepEqual([...(busy.lanes[0]?.height ?? [])], [128, 128, 100, 0]);
});

test('the list of visible calls keeps the longest, callers before callees', async () => {
  const cache = await cacheWith(
    tile({ kind: 'r', row: 0 }, 0, 0, [[0, 500, 0, 1, 4]]),
    tile({ kind: 'r', row: 1 }, 0, 0, [
      [0, 90, 0, 2],
      [100, 5, 1, 3],
      [300, 80, 2, 2],
    ]),
  );
  const rows = track(0, { first_row: 0, rows: 2 });
  const names = (most: number, from = 0): string[] =>
    visibleCalls(cache, rows, 0, { from, to: 511 }, most).map(
      (c) => `${c.depth}:${c.start}+${c.length}`,
    );
  assert.deepEqual(names(9), ['0:0+500', '1:0+90', '1:100+5', '1:300+80']);
  assert.deepEqual(names(3), ['0:0+500', '1:0+90', '1:300+80']);
  assert.deepEqual(names(9, 200), ['0:0+500', '1:300+80']);
  assert.equal(
    flagWords(1 | 4, wordsFor({ order: 'busiest' })),
    'open at the end, left by an exception',
  );
});

test('tracks are below their processes, and a closed process shows only its line', () => {
  const tracks = [
    track(0, { rows: 1, process: 1 }),
    track(1, { rows: 1, process: 1 }),
    track(2, { rows: 1, process: 0 }),
  ];
  const opened = { expanded: new Set([0]), whole: new Set<number>(), closed: new Set<number>() };
  const all = layoutTimeline({ order: 'owner', processes: [], tracks }, opened, HEIGHTS);
  // A line of 22, an expanded track of 3 + 18 + 8 + 3, collapsed ones of 22.
  assert.deepEqual(
    all.groups.map((g) => [g.process, g.top, g.bottom]),
    [
      [1, 0, 76],
      [0, 76, 120],
    ],
  );
  assert.deepEqual(
    all.tracks.map((b) => b.top),
    [22, 54, 98],
  );
  assert.equal(all.height, 120);
  const closed = layoutTimeline(
    { order: 'owner', processes: [], tracks },
    { ...opened, closed: new Set([1]) },
    HEIGHTS,
  );
  assert.deepEqual(
    closed.tracks.map((b) => [b.track.track, b.top]),
    [[2, 44]],
  );
  assert.equal(closed.groups[0]?.open, false);
  assert.deepEqual(
    layoutTimeline({ order: 'busiest', processes: [], tracks }, opened, HEIGHTS).groups,
    [],
  );
});
