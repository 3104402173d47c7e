// SPDX-License-Identifier: Apache-2.0
// Flows: what is asked for, where arrows stand, and which is followed.

import { strict as assert } from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { flushEffects } from '../src/base/signal';
import type { Call, Engine, Scope } from '../src/model/engine';
import type { Arrows, Flow, FlowEnd } from '../src/model/flowAnswers';
import type { TraceFacts } from '../src/model/traceFacts';
import { FlowStore, Trail } from '../src/model/flows';
import { TRACK_PADDING, type TimelineLayout } from '../src/model/layout';
import { Frames } from '../src/model/names';
import { Viewer } from '../src/model/viewer';
import {
  flowCurveOf,
  distanceToCurve,
  flowAt,
  flowLineOf,
  paintFlows,
} from '../src/render/flowPainter';
import { TimeScale } from '../src/render/timeScale';
import { DrawLog } from './drawLog';
import { FRAMES, settle, theme, tileEngine, track } from './fixtures';

function must<T>(value: T | null): T {
  if (value === null) throw new Error('there is none');
  return value;
}

function end(row: number, time: number, of = 3): FlowEnd {
  return { row, index: 0, time, track: of, frame: 0 };
}

function flow(number: number, from: FlowEnd, to: FlowEnd, count = 1): Flow {
  return { flow: number, frame: 1, id: '7', from, to, count };
}

/** Track 3 expanded at 20, with rows 300 to 302, of which two are shown; track 5 collapsed at 80. */
const PLACED = {
  tracks: [
    { track: track(3), expanded: true, shown: 2, top: 20, height: 60 },
    { track: track(5), expanded: false, shown: 3, top: 80, height: 22 },
  ],
  rows: [],
  threads: new Map([[7, { top: 80, height: 22 }]]),
  groups: [{ process: 4, open: false, top: 102, height: 24, bottom: 126 }],
  height: 126,
  pinned: 0,
} as object as TimelineLayout;

const SCENE = {
  theme: theme(),
  scale: new TimeScale({ from: 0, to: 1000 }, 500),
  placed: PLACED,
  scroll: 0,
  processOf: (of: FlowEnd): number => (of.track === 9 ? 4 : 0),
};

test('an end is in the middle of its row, or of the line that remains of it', () => {
  const at = (row: number, of: number): number | null =>
    flowLineOf(PLACED, SCENE.theme.heights, end(row, 0, of), SCENE.processOf);
  // rows of 18 with bars of 17 pixels
  assert.equal(at(300, 3), 20 + TRACK_PADDING + 8.5);
  assert.equal(at(301, 3), 20 + TRACK_PADDING + 18 + 8.5);
  assert.equal(at(302, 3), 20 + TRACK_PADDING + 36, 'a level that waits: under those shown');
  assert.equal(at(501, 5), 91, 'a collapsed track');
  assert.equal(at(900, 9), 114, 'a closed process');
  assert.equal(at(900, 8), null, 'a track that is nowhere');
  const instant = (thread: number, of = -1): number | null =>
    flowLineOf(PLACED, SCENE.theme.heights, { ...end(-1, 0, of), thread }, SCENE.processOf);
  assert.equal(instant(7), 84, "an instant: in the middle of its mark, at its thread's top");
  assert.equal(instant(8, 9), 114, 'an instant of a closed process');
});

test('an arrow goes from point to point and leaves at the edge towards an end out of view', () => {
  const inside = flowCurveOf(SCENE, flow(1, end(300, 100), end(500, 500, 5)));
  assert.deepEqual([inside?.x[0], inside?.x[3]], [50, 250]);
  assert.deepEqual([inside?.y[0], inside?.y[3]], [31.5, 91]);
  assert.deepEqual([inside?.cutFrom, inside?.cutTo], [0, 0]);
  const behind = flowCurveOf(SCENE, flow(1, end(300, 100), end(500, 1e15, 5)));
  assert.deepEqual([behind?.x[3], behind?.y[3], behind?.cutTo], [500, 91, 1]);
  const across = flowCurveOf(SCENE, flow(1, end(300, -1e15), end(500, 1e15, 5)));
  assert.deepEqual([across?.x[0], across?.cutFrom, across?.cutTo], [0, -1, 1]);
  const back = flowCurveOf(SCENE, flow(1, end(300, 500), end(500, -1, 5)));
  assert.deepEqual([back?.x[3], back?.cutTo], [0, -1]);
});

test('invisible arrows are not drawn', () => {
  assert.equal(flowCurveOf(SCENE, flow(1, end(300, 2000), end(500, 3000, 5))), null, 'both behind');
  assert.equal(flowCurveOf(SCENE, flow(1, end(300, -9), end(500, -8, 5))), null, 'both before');
  assert.equal(flowCurveOf(SCENE, flow(1, end(300, 100), end(300, 102))), null, 'one point');
  assert.equal(flowCurveOf(SCENE, flow(1, end(300, 100), end(900, 200, 8))), null, 'nowhere');
});

test('an end on a pinned track stays in place while the others scroll', () => {
  const scrolled = { ...SCENE, placed: { ...PLACED, pinned: 80 }, scroll: 1000 };
  const y = (scene: typeof SCENE): readonly number[] =>
    must(flowCurveOf(scene, flow(1, end(300, 100), end(500, 500, 5)))).y;
  assert.equal(y(scrolled)[0], (y(SCENE)[0] ?? 0) + 1000);
  assert.equal(y(scrolled)[3], y(SCENE)[3]);
});

test('the nearest arrow within reach is hit', () => {
  const first = flow(1, end(300, 100), end(500, 500, 5));
  const second = flow(2, end(301, 100), end(500, 500, 5));
  const curve = must(flowCurveOf(SCENE, first));
  // By symmetry the middle of a curve is half-way between its ends.
  assert.equal(distanceToCurve(curve, 150, (31.5 + 91) / 2) < 0.01, true);
  assert.equal(flowAt(SCENE, [second, first], 150, (31.5 + 91) / 2 + 1, 5)?.flow, 1);
  assert.equal(flowAt(SCENE, [second, first], 50, 50, 5)?.flow, 2);
  assert.equal(flowAt(SCENE, [second, first], 400, 91, 5), null);
});

test('an arrow that leaves the view is dashed', () => {
  const dashed = (to: number): boolean => {
    const g = new DrawLog();
    paintFlows(g, SCENE, [flow(1, end(300, 100), end(500, to, 5))], 'selected', {
      from: 0,
      to: 200,
    });
    return g.drawn.some((d) => d.dashed);
  };
  assert.equal(dashed(500), false);
  assert.equal(dashed(5000), true);
});

const SEND: Call = { row: 1, index: 0 };

test('several arrows are followed one after the other', () => {
  const trail = new Trail();
  const arrows = [2, 3, 4].map((row) => flow(row, { ...end(1, 0) }, end(row, 5)));
  const seen: number[] = [];
  for (let i = 0; i < 4; i++) {
    const choice = must(trail.choose(SEND, arrows, 1));
    seen.push(choice.nth);
    // back to where it came from, whatever else arrives there
    const others = [flow(90, end(8, 0), choice.end), choice.flow];
    assert.equal(trail.choose(choice.end, others, -1)?.end.row, 1);
  }
  assert.deepEqual(seen, [1, 2, 3, 1]);
  assert.equal(trail.choose(SEND, [], -1), null);
});

test('a trail can be walked back step by step, until another call is selected', () => {
  const trail = new Trail();
  const first = flow(1, end(1, 0), end(2, 5));
  const second = flow(2, end(2, 6), end(3, 9));
  const other = flow(3, end(7, 0), end(2, 5));
  trail.choose(SEND, [first], 1);
  trail.choose(first.to, [second], 1);
  assert.equal(trail.choose(second.to, [second], -1)?.end.row, 2);
  assert.equal(trail.choose(first.to, [other, first], -1)?.end.row, 1);
  trail.choose(SEND, [first], 1);
  // elsewhere in between: then [ takes the first there is
  trail.choose({ row: 50, index: 1 }, [], 1);
  assert.equal(trail.choose(first.to, [other, first], -1)?.end.row, 7);
});

const FACTS = {
  clocks: ['real'],
  start_ns: 0,
  end_ns: 100000,
  flows: 3,
  tracks: [track(3), track(5)],
} as object as TraceFacts;

interface Asked {
  scope: Scope;
  pixels: number;
  categories: readonly number[];
}

function storeOn(arrows: Arrows): { viewer: Viewer; store: FlowStore; asked: Asked[] } {
  const asked: Asked[] = [];
  const engine: Engine = {
    ...tileEngine([]),
    flowCategories: () => Promise.resolve([{ name: 'net', count: 3 }]),
    flowsOf: () => Promise.resolve({ in: [], out: arrows.list, inCount: 0, outCount: 1 }),
    arrows: (scope, pixels, categories) => {
      asked.push({ scope, pixels, categories });
      return Promise.resolve(arrows);
    },
  };
  const viewer = new Viewer(engine, FACTS, new Frames(FRAMES));
  const store = new FlowStore(viewer);
  store.setWidth(1000);
  return { viewer, store, asked };
}

/**
 * Hold the timers of a test. Return what lets them fire, and questions be answered, until nothing
 * more happens.
 */
function holdTimers({ mock }: TestContext): () => Promise<void> {
  const timers = new Map<number, () => void>();
  let started = 0;
  mock.method(globalThis, 'setTimeout', (work: () => void) => {
    timers.set(++started, work);
    return started;
  });
  mock.method(globalThis, 'clearTimeout', (timer: number) => timers.delete(timer));
  return async () => {
    do {
      flushEffects();
      await settle();
      const due = [...timers.values()];
      timers.clear();
      for (const work of due) work();
      flushEffects();
      await settle();
    } while (timers.size > 0);
  };
}

const ONE: Arrows = { list: [flow(1, end(1, 0), end(2, 5))], flows: 1, leftOut: 0 };

test('arrows of a category are requested around the view, for the chosen tracks', async (context) => {
  const rest = holdTimers(context);
  const { viewer, store, asked } = storeOn(ONE);
  await rest();
  assert.equal(asked.length, 0, 'nothing is asked for while none is chosen');
  viewer.view.set({ from: 1000, to: 3000 });
  viewer.toggleTrack(5, false);
  // 7 is no category: a link may say what it likes
  viewer.flows.set({ selection: true, categories: [0, 7] });
  await rest();
  assert.deepEqual(asked, [
    { scope: { from: 0, to: 4000, tracks: [5] }, pixels: 2000, categories: [0] },
  ]);
  assert.equal(store.others.get().length, 1);
  store.toggleCategory(0);
  store.toggleCategory(7);
  await rest();
  assert.equal(store.others.get().length, 0);
  assert.equal(asked.length, 1);
});

test('the arrows of the selected call are drawn once, and not when switched off', async (context) => {
  const rest = holdTimers(context);
  const { viewer, store } = storeOn(ONE);
  viewer.flows.set({ selection: true, categories: [0] });
  viewer.selectCall(SEND, 1);
  await rest();
  assert.deepEqual([store.selected.get().length, store.others.get().length], [1, 0]);
  viewer.flows.set({ selection: false, categories: [0] });
  await rest();
  assert.deepEqual([store.selected.get().length, store.others.get().length], [0, 1]);
  viewer.clearSelection();
  await rest();
  assert.equal(store.ofCall.get(), null);
});
