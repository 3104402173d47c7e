// SPDX-License-Identifier: Apache-2.0
// Scrolling asks few questions, and their answers repaint only the rows that they are about.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { signal } from '../src/base/signal';
import type { Tile } from '../src/model/engine';
import type { TrackBox } from '../src/model/layout';
import { NonSliceStore } from '../src/model/nonSliceStore';
import type { Viewer } from '../src/model/viewer';
import type { Scene } from '../src/render/trackPainter';
import { LaneTiles } from '../src/views/timeline/laneTiles';
import { theme, track } from './fixtures';

const fail = (error: unknown): never => {
  throw error;
};

test('rows of objects are requested once, with those around the screen', async () => {
  const asked: (readonly number[])[] = [];
  let answered = (): void => undefined;
  const objects = (rows: readonly number[]): Promise<object> => {
    asked.push(rows);
    answered();
    return Promise.resolve({ objects: [], snapshots: [], leftOut: 0 });
  };
  const none = { objects: 0, samples: 0, memory_dumps: 0, display_frames: 0, instants: 0 };
  const store = new NonSliceStore({
    facts: none,
    engine: { nonSlice: { objects } },
    view: signal({ from: 0, to: 1000 }),
    failed: fail,
  } as object as Viewer);
  const show = async (rows: number[], around: number[]): Promise<void> => {
    const answer = new Promise<void>((done) => (answered = done));
    store.showObjects(rows, () => around);
    await answer;
  };
  await show([3, 4], [1, 2, 3, 4, 5, 6]);
  store.showObjects([4, 5, 6], () => fail(new Error('these rows are known')));
  await show([6, 7], [4, 5, 6, 7, 8]);
  assert.deepEqual(asked, [
    [3, 4, 1, 2, 5, 6],
    [6, 7, 4, 5, 8],
  ]);
});

test('more rows on a screen than one question may have are requested once', () => {
  let questions = 0;
  const store = new NonSliceStore({
    facts: { objects: 0, samples: 0, memory_dumps: 0, display_frames: 0, instants: 0 },
    engine: { nonSlice: {} },
  } as object as Viewer);
  store.objects.again = () => void questions++;
  const rows = Array.from({ length: 100 }, (_, row) => row);
  for (let frame = 0; frame < 3; frame++) store.showObjects(rows, () => []);
  assert.equal(questions, 1);
});

test('tiles update the tracks in view and no others', () => {
  const boxes = [0, 1].map((number): TrackBox => {
    const facts = { ...track(1), track: number, first_row: number };
    return { track: facts, expanded: true, shown: 1, top: 40 * number, height: 40 };
  });
  const lanes = new LaneTiles();
  const scene = { theme: theme(), statesOf: new Map() } as object as Scene;
  const found = lanes.lanes(boxes, scene, { top: 0, bottom: 100, pinned: 0 });
  const second = found.at(-1);
  assert.equal(second?.row, 1, 'the second track has a lane');
  const tile = (res: number, number: number): Tile => ({ ...second, res, number }) as Tile;
  // Tiles of resolution 2 have 512 x 4 ns: the view lies in tile 1.
  const view = { from: 2048, to: 4000 };
  assert.deepEqual(lanes.changed([tile(2, 1), tile(2, 1)], 2, view), [boxes[1]]);
  assert.deepEqual(lanes.changed([tile(2, 0), tile(2, 2)], 2, view), [], 'tiles beside the view');
  assert.deepEqual(lanes.changed([tile(3, 0)], 2, view), [boxes[1]], 'a substitute');
  assert.deepEqual(lanes.changed([{ ...tile(2, 1), row: 99 }], 2, view), [], 'an unknown row');
});
