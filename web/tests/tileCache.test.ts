// SPDX-License-Identifier: Apache-2.0
// Which tiles are asked for, when, and what is shown until they are there.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import {
  tileQuestions,
  resolutionFor,
  TileCache,
  tileKey,
  tileRange,
  laneList,
} from '../src/model/tileCache';
import { settle, tile, tileEngine, type TileQuestion } from './fixtures';
import type { TileLane } from '../src/model/engine';

const ROWS: TileLane[] = [0, 1, 2].map((row) => ({ kind: 'r', row }));
/** The trace covers tiles 0 to 9 at resolution 20. */
const BOUNDS = { from: 0, to: 10 * 512 * 2 ** 20 - 1 };

function cacheOf(questions: TileQuestion[]): { cache: TileCache; failures: unknown[] } {
  const failures: unknown[] = [];
  const cache = new TileCache(
    tileEngine(questions),
    BOUNDS,
    () => undefined,
    (e) => failures.push(e),
  );
  return { cache, failures };
}

function answer(q: TileQuestion | undefined): void {
  assert(q);
  const lanes = q.lanes
    .split(',')
    .map((name) => ({ kind: 'r' as const, row: Number(name.slice(1)) }));
  const tiles = lanes.flatMap((lane) =>
    Array.from({ length: q.to - q.from + 1 }, (_, i) => tile(lane, q.res, q.from + i, [])),
  );
  q.answer(tiles);
}

test('a pixel of the tile is between half a pixel of the screen and a whole one', () => {
  for (const nsPerPixel of [1, 1.9, 2, 3, 1000, 123456789]) {
    const scale = 2 ** resolutionFor(nsPerPixel) / nsPerPixel;
    assert(scale > 0.5 && scale <= 1, `${nsPerPixel}: ${scale}`);
  }
  assert.equal(resolutionFor(0.1), 0);
});

test('tiles of a view are numbered from the origin, also below it', () => {
  const size = 512 * 1024;
  assert.deepEqual(tileRange({ from: -1, to: size }, 10), { first: -1, last: 1 });
});

test('lanes that miss the same tiles share a question', () => {
  const have = new Set([tileKey('r', 1, 5, 2), tileKey('r', 2, 5, 1), tileKey('r', 2, 5, 2)]);
  const questions = tileQuestions({ lanes: ROWS, res: 5, first: 1, last: 2 }, (key) =>
    have.has(key),
  );
  assert.deepEqual(
    questions.map((q) => [q.first, q.last, q.lanes.map((l) => l.row)]),
    [
      [1, 2, [0]],
      [1, 1, [1]],
    ],
  );
});

test('a question never requests more than the engine gives', () => {
  const lanes = Array.from({ length: 900 }, (_, row): TileLane => ({ kind: 'r', row }));
  const questions = tileQuestions({ lanes, res: 5, first: 0, last: 6 }, () => false);
  assert.equal(
    questions.reduce((n, q) => n + q.lanes.length, 0),
    900,
  );
  assert(questions.every((q) => q.lanes.length * 7 <= 4096));
  assert(questions.length > 1);
});

test('visible tiles are requested once, then their neighbours', async () => {
  const questions: TileQuestion[] = [];
  const { cache } = cacheOf(questions);
  cache.show({ lanes: ROWS, res: 20, first: 3, last: 4 });
  cache.show({ lanes: ROWS, res: 20, first: 3, last: 4 });
  assert.deepEqual(
    questions.map((q) => [q.res, q.from, q.to, q.lanes]),
    [[20, 3, 4, 'r0,r1,r2']],
  );
  answer(questions[0]);
  await settle();
  assert.equal(cache.complete, true);
  assert.deepEqual([questions[1]?.from, questions[1]?.to], [2, 5]);
});

test('tiles of the lanes around are requested before the neighbours', async () => {
  const questions: TileQuestion[] = [];
  const { cache } = cacheOf(questions);
  const [lane, ...around] = ROWS;
  assert(lane);
  cache.show({ lanes: [lane], around: () => around, res: 20, first: 3, last: 4 });
  for (let asked = 0; asked < 2; asked++) {
    answer(questions[asked]);
    await settle();
  }
  assert.deepEqual(
    questions.map((q) => [q.from, q.to, q.lanes]),
    [
      [3, 4, 'r0'],
      [3, 4, 'r1,r2'],
      [2, 5, 'r0'],
    ],
  );
});

test('nothing is requested outside the trace', async () => {
  const questions: TileQuestion[] = [];
  const { cache } = cacheOf(questions);
  cache.show({ lanes: ROWS, res: 20, first: -2, last: 12 });
  answer(questions[0]);
  await settle();
  assert.deepEqual(
    questions.map((q) => [q.from, q.to]),
    [[0, 9]],
  );
});

test('an abandoned question is cancelled, and a useful one is awaited', async () => {
  const questions: TileQuestion[] = [];
  const { cache, failures } = cacheOf(questions);
  cache.show({ lanes: ROWS, res: 20, first: 3, last: 4 });
  cache.show({ lanes: ROWS, res: 20, first: 4, last: 5 });
  assert.equal(questions.length, 1, 'panning on waits for the answer under way');
  cache.show({ lanes: ROWS, res: 19, first: 8, last: 9 });
  assert.equal(questions[0]?.signal?.aborted, true);
  assert.deepEqual([questions[1]?.res, questions[1]?.from], [19, 8]);
  await settle();
  assert.equal(failures.length, 0, 'taking back is no failure');
});

test('a failed question is reported once and not repeated for the same view', async () => {
  const failures: unknown[] = [];
  let asked = 0;
  const engine = tileEngine([]);
  engine.tiles = () => {
    asked++;
    return Promise.reject(new Error('broken'));
  };
  const cache = new TileCache(
    engine,
    BOUNDS,
    () => undefined,
    (e) => failures.push(e),
  );
  cache.show({ lanes: ROWS, res: 20, first: 3, last: 4 });
  await settle();
  assert.deepEqual([asked, failures.length], [1, 1]);
});

test('until a tile arrives a coarser one replaces it, else finer ones', async () => {
  const questions: TileQuestion[] = [];
  const { cache } = cacheOf(questions);
  cache.show({ lanes: [{ kind: 'r', row: 0 }], res: 20, first: 2, last: 3 });
  answer(questions[0]);
  await settle();
  assert.deepEqual(
    cache.substitutes('r', 0, 18, 8).map((t) => [t.res, t.number]),
    [[20, 2]],
  );
  assert.deepEqual(
    cache.substitutes('r', 0, 21, 1).map((t) => [t.res, t.number]),
    [
      [20, 2],
      [20, 3],
    ],
  );
  assert.deepEqual(cache.substitutes('r', 7, 20, 2), []);
});

test('runs of rows are written once', () => {
  const lanes: TileLane[] = [
    { kind: 'r', row: 5 },
    { kind: 'r', row: 6 },
    { kind: 'r', row: 7 },
    { kind: 'w', row: 8 },
    { kind: 'r', row: 12 },
    { kind: 'i', row: 13 },
  ];
  assert.equal(laneList(lanes), 'r5-7,w8,r12,i13');
});
