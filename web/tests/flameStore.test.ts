// SPDX-License-Identifier: Apache-2.0
// What is asked for a flame graph, the way to a frame of it, and the two sides of a sandwich.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { flushEffects, signal } from '../src/base/signal';
import {
  THREAD_FRAME,
  type FlameGraph,
  type FlameQuestion,
  type ProfileAnswer,
} from '../src/model/engine';
import type { IdleThread, TraceFacts } from '../src/model/traceFacts';
import { FlameNames } from '../src/model/flameNames';
import { joinSides, NO_SELF } from '../src/model/flameSides';
import { FlameStore } from '../src/model/flameStore';
import { nextFlameFrame } from '../src/model/flameWalk';
import { Frames } from '../src/model/names';
import type { ProfileStore } from '../src/model/profileStore';
import { Viewer } from '../src/model/viewer';
import { FRAMES, settle, tileEngine, track } from './fixtures';

/** start, width, depth, frame, path */
function graph(total: number, rows: [number, number, number, number, number][]): FlameGraph {
  return {
    total,
    leftOut: 0,
    start: Float64Array.from(rows, (r) => r[0]),
    width: Float64Array.from(rows, (r) => r[1]),
    self: Float64Array.from(rows, () => 1),
    depth: Uint32Array.from(rows, (r) => r[2]),
    frame: Uint32Array.from(rows, (r) => r[3]),
    path: Uint32Array.from(rows, (r) => r[4]),
    calls: Uint32Array.from(rows, () => 1),
  };
}

const FACTS = {
  clocks: ['real', 'cpu'],
  order: 'busiest',
  start_ns: 0,
  end_ns: 10000,
  calls: 5,
  samples: 0,
  tracks: [track(0, { name: 'main' })],
  idle_threads: [] as IdleThread[],
} as TraceFacts;

const MAIN = graph(100, [
  [0, 90, 0, 0, 1],
  [0, 50, 1, 1, 2],
  [0, 20, 2, 2, 3],
  [50, 30, 1, 2, 4],
]);

function onStore(): { viewer: Viewer; store: FlameStore; asked: FlameQuestion[] } {
  const asked: FlameQuestion[] = [];
  const engine = {
    ...tileEngine([]),
    flame: (question: FlameQuestion) => {
      asked.push(question);
      return Promise.resolve(MAIN);
    },
  };
  const viewer = new Viewer(engine, FACTS, new Frames(FRAMES));
  const profile = { answer: signal<ProfileAnswer | null>(null) } as ProfileStore;
  return { viewer, store: new FlameStore(viewer, profile, () => true), asked };
}

test('the path to a frame has all its callers and continues to the zoomed frame', () => {
  const { viewer, store } = onStore();
  const way = store.wayTo(MAIN, 2);
  assert.deepEqual(
    way?.map((f) => f.path),
    [1, 2, 3],
  );
  viewer.flameZoom.set(store.wayTo(MAIN, 1) ?? []);
  // The zoomed graph begins with frame 2.
  const zoomed = graph(50, [
    [0, 50, 0, 1, 2],
    [0, 20, 1, 2, 3],
  ]);
  assert.deepEqual(
    store.wayTo(zoomed, 1)?.map((f) => f.path),
    [1, 2, 3],
  );
  const unnamed = graph(5, [[0, 5, 0, 1, 0xffffffff]]);
  assert.equal(store.wayTo(unnamed, 0), null);
});

test('a zoom belongs to its graph, whatever the clock', async () => {
  const { viewer, asked } = onStore();
  viewer.flameZoom.set([{ path: 2, frame: 1 }]);
  flushEffects();
  assert.equal(asked.at(-1)?.root, 2);
  viewer.setClock('cpu');
  flushEffects();
  assert.deepEqual([asked.at(-1)?.clock, asked.at(-1)?.root], ['cpu', 2]);
  viewer.flameFold.set(true);
  flushEffects();
  assert.deepEqual([asked.at(-1)?.fold, asked.at(-1)?.root], [true, undefined]);
  viewer.flameFold.set(false);
  viewer.flameOrder.set('time');
  flushEffects();
  assert.deepEqual([asked.at(-1)?.order, asked.at(-1)?.root], ['time', undefined]);
  await settle();
});

test('the address has the zoom, and Back undoes it', () => {
  const { viewer } = onStore();
  const way = [1, 2, 3].map((path) => ({ path, frame: path }));
  viewer.flameZoom.set(way);
  const place = viewer.place();
  assert.deepEqual(place.zoom, { path: 3, frame: 3 });
  viewer.goTo({ ...place, zoom: { path: 2, frame: 2 } });
  assert.deepEqual(viewer.flameZoom.way(), way.slice(0, 2));
  viewer.goTo({ ...place, zoom: { path: 9, frame: 1 } });
  assert.deepEqual(viewer.flameZoom.way(), [{ path: 9, frame: 1 }]);
  viewer.goTo({ ...place, zoom: null });
  assert.deepEqual(viewer.flameZoom.way(), []);
});

test('a sandwich requests both sides of the selected method, and nothing without one', async () => {
  const { viewer, store, asked } = onStore();
  viewer.flameOrder.set('sandwich');
  flushEffects();
  const before = asked.length;
  assert.equal(store.graph.peek(), null);
  viewer.selectFrame(2);
  flushEffects();
  assert.deepEqual(
    asked.slice(before).map((q) => [q.frame, q.side]),
    [
      [2, 'callers'],
      [2, 'callees'],
    ],
  );
  await settle();
  assert.equal(store.graph.peek()?.depth.length, 3 + 4);
});

test('both sides become one graph, with callers above the method', () => {
  const callers = graph(50, [
    [0, 50, 0, 7, 1],
    [0, 30, 1, 8, 2],
    [0, 30, 2, 9, 3],
    [30, 20, 1, 9, 4],
  ]);
  const callees = graph(50, [
    [0, 50, 0, 7, 1],
    [0, 10, 1, 6, 2],
  ]);
  const both = joinSides(callers, callees);
  assert.deepEqual([...both.depth], [1, 0, 1, 2, 3]);
  assert.deepEqual([...both.frame], [8, 9, 9, 7, 6]);
  assert.deepEqual([...both.self], [NO_SELF, NO_SELF, NO_SELF, 1, 1]);
  assert.equal(nextFlameFrame(both, 3, 'ArrowUp'), 0); // the widest caller
  assert.equal(nextFlameFrame(both, 0, 'ArrowUp'), 1);
  assert.equal(nextFlameFrame(both, 0, 'ArrowDown'), 3);
  assert.equal(nextFlameFrame(both, 3, 'ArrowDown'), 4);
});

test('threads have names of their own and no colour', () => {
  const names = new FlameNames(new Frames(FRAMES), FACTS);
  assert.equal(names.short(1), 'Work.run');
  assert.equal(names.short(THREAD_FRAME), '[10] main');
  assert.equal(names.method(THREAD_FRAME), '[10] main');
  assert.equal(names.colour(THREAD_FRAME), -1);
  assert.equal(names.short(THREAD_FRAME + 5), 'thread');
});
