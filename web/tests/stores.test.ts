// SPDX-License-Identifier: Apache-2.0
// The state of the page and the questions that follow from it, on an engine that answers by hand.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { httpHost } from '../src/app/host';
import { HttpEngine } from '../src/app/httpEngine';
import { Latest } from '../src/base/latest';
import { flushEffects } from '../src/base/signal';
import { readAddress, writeAddress } from '../src/model/address';
import {
  EngineError,
  type CallDetails,
  type Engine,
  type ProfileAnswer,
  type Relations,
  type Scope,
} from '../src/model/engine';
import type { TraceFacts } from '../src/model/traceFacts';
import { firstTab } from '../src/model/firstScreen';
import { Frames } from '../src/model/names';
import { ProfileStore } from '../src/model/profileStore';
import { SearchStore } from '../src/model/searchStore';
import { Viewer } from '../src/model/viewer';
import { sampledWords } from '../src/views/topBar';
import { call, FRAMES, settle, tileEngine, track } from './fixtures';

const FACTS: TraceFacts = {
  protocol: 1,
  name: 'a.trace',
  format: 'Android method trace',
  version: '3',
  clocks: ['real', 'cpu'],
  axis: 'real',
  order: 'busiest',
  colours: 'rank',
  start_ns: 100,
  end_ns: 10000,
  recorded: null,
  records: 10,
  calls: 5,
  max_depth: 3,
  overflow: false,
  sampled: null,
  metadata: [],
  files: ['a.trace'],
  processes: [],
  tracks: [track(3), track(5)],
  idle_threads: [],
  diagnostics: [],
  counters: 0,
  instants: 0,
  flows: 0,
  objects: 0,
  samples: 0,
  memory_dumps: 0,
  display_frames: 0,
  facts: [],
  frames: 4,
};
const ANSWER: ProfileAnswer = {
  total_real_ns: 100,
  total_cpu_ns: 100,
  waits: null,
  rows: [
    [0, 1, 0, 100, 10, 100, 10],
    [1, 2, 1, 90, 40, 90, 40],
    [2, 5, 0, 50, 50, 50, 50],
  ],
};
const NOTHING: Relations = {
  parents: [],
  children: [],
  recursive_parents: [],
  recursive_children: [],
  self: [0, 0],
  recursive_self: [0, 0],
};

function engine(answers: Partial<Engine>): Engine {
  return { ...tileEngine([]), ...answers };
}

function viewerOn(answers: Partial<Engine>): Viewer {
  return new Viewer(engine(answers), FACTS, new Frames(FRAMES));
}

async function quiet(): Promise<void> {
  for (let i = 0; i < 3; i++) {
    flushEffects();
    await settle();
  }
}

test('of several questions only the newest answer counts', async () => {
  const got: string[] = [];
  const waiting: ((text: string) => void)[] = [];
  const signals: AbortSignal[] = [];
  const latest = new Latest(() => got.push('failed'));
  const ask = (): void =>
    latest.run(
      (signal) => {
        signals.push(signal);
        return new Promise<string>((answer) => waiting.push(answer));
      },
      (text) => got.push(text),
    );
  ask();
  ask();
  assert.deepEqual(
    signals.map((s) => s.aborted),
    [true, false],
  );
  waiting[1]?.('second');
  waiting[0]?.('first');
  await settle();
  assert.deepEqual(got, ['second']);
});

test('a failure is shown unless its question was cancelled', async () => {
  const failures: unknown[] = [];
  const latest = new Latest((error) => failures.push(error));
  latest.run(
    () => Promise.reject(new Error('old')),
    () => undefined,
  );
  latest.run(
    () => Promise.reject(new Error('new')),
    () => undefined,
  );
  await settle();
  assert.equal(failures.map(String).join(), 'Error: new');
});

test('the clock changes the sort column of the table', () => {
  const viewer = viewerOn({});
  const first = { column: 'incl_cpu', descending: true };
  assert.deepEqual([viewer.clock.get(), viewer.sort.get()], ['cpu', first]);
  viewer.setClock('real');
  assert.equal(viewer.sort.get().column, 'incl_real');
  assert.equal(viewer.by.get().column, 'total');
  viewer.setClock('cpu');
  assert.deepEqual(viewer.sort.get(), first, 'there and back is where one was');
  viewer.sort.set({ column: 'excl_cpu_pct', descending: false });
  viewer.setClock('real');
  assert.deepEqual(viewer.sort.get(), { column: 'excl_real_pct', descending: false });
});

test('a link names its clock, whatever the user prefers', () => {
  const ofReader = (clock: 'real' | 'cpu' | null): Viewer =>
    new Viewer(engine({}), FACTS, new Frames(FRAMES), '', null, { unit: null, clock });
  for (const sender of ['real', 'cpu', null] as const)
    for (const reader of ['cpu', null] as const) {
      const [from, to] = [ofReader(sender), ofReader(reader)];
      to.goTo(readAddress(writeAddress(from.place())));
      assert.equal(to.clock.get(), from.clock.get());
      assert.deepEqual(to.sort.get(), from.sort.get());
    }
});

test('a trace opens on a tab that has data', () => {
  const tab = (facts: Partial<TraceFacts>): string => firstTab({ ...FACTS, ...facts });
  const none = { calls: 0, tracks: [] };
  assert.equal(tab({}), 'profile');
  assert.equal(tab({ ...none, samples: 4 }), 'flame');
  assert.equal(tab({ ...none, tracks: [{ ...track(3), kind: 'states' }] }), 'states');
  assert.equal(tab({ ...none, tracks: [{ ...track(3), kind: 'async' }] }), 'selection');
  assert.equal(tab({ ...none, counters: 2 }), 'counters');
  assert.equal(tab({ ...none, instants: 2 }), 'info');
  const empty = { ...none, instants: 0, end_ns: FACTS.start_ns };
  const damage = { kind: 'x', text: '', severity: 'error', count: 1, offsets: [] } as const;
  assert.equal(tab({ ...empty, diagnostics: [] }), 'info');
  assert.equal(tab({ ...empty, diagnostics: [{ ...damage, offsets: [] }] }), 'health');
  // The profile says that the filter leaves nothing, and leads back.
  assert.equal(tab({ ...none, filtered: { slices: 0, of: 5 } }), 'profile');
});

test('samples lead where they are what was recorded, slices everywhere else', () => {
  const tab = (facts: Partial<TraceFacts>): string => firstTab({ ...FACTS, samples: 9, ...facts });
  const jfr = { format: 'Java Flight Recorder' };
  const type = (name: string, unit: string) => ({ value_types: [{ name, unit, first: true }] });
  assert.equal(tab({ ...jfr, ...type('jdk.ExecutionSample', 'count') }), 'flame');
  assert.equal(tab({ ...jfr, ...type('jdk.ThreadSleep', 'nanoseconds') }), 'profile');
  assert.equal(tab({ ...jfr, samples: 0 }), 'profile');
  assert.equal(tab({ format: 'Firefox Profiler', ...type('samples', 'count') }), 'flame');
  assert.equal(tab({ format: 'Trace Event Format', ...type('V8 Sample', '') }), 'profile');
  const states = { calls: 0, tracks: [{ ...track(3), kind: 'states' as const }] };
  assert.equal(tab({ ...states, ...type('cpu-clock', 'count') }), 'flame');
  assert.equal(tab({ ...states, ...type('sched:sched_switch', 'count') }), 'states');
});

test('a sampled trace names its interval where it is known', () => {
  const words = (interval: number, inferred = false): string | null =>
    sampledWords({ ...FACTS, sampled: { interval_ns: interval, inferred } }, 'ms');
  assert.equal(words(2_000_000), 'sampled every 2.000 ms');
  assert.equal(words(2_000_000, true), 'sampled (inferred), interval ≤ 2.000 ms');
  assert.equal(words(0), 'sampled');
  assert.equal(sampledWords({ ...FACTS, sampled: null }, 'ms'), null);
});

test('a range is whole nanoseconds inside the trace, or absent', () => {
  const viewer = viewerOn({});
  viewer.setRange({ from: -50, to: 2000.4 });
  assert.deepEqual(viewer.range.get(), { from: 100, to: 2000 });
  viewer.setRange({ from: 20000, to: 30000 });
  assert.equal(viewer.range.get(), null);
});

test('a selected thread replaces another one or is added', () => {
  const viewer = viewerOn({});
  viewer.toggleTrack(5, false);
  viewer.toggleTrack(3, true);
  assert.deepEqual(viewer.scope(), { tracks: [3, 5] });
  viewer.toggleTrack(3, false);
  assert.deepEqual(viewer.tracks.get(), [3]);
  viewer.toggleTrack(3, false);
  assert.deepEqual(viewer.scope(), {});
});

test('a link restores a place, and parts that the trace lacks are dropped', () => {
  const viewer = viewerOn({});
  const text =
    'view=1000-2000&range=1200-1400&threads=3&method=2&call=301.7&tab=flame&clock=real&sort=calls.up&find=x&open=5';
  const view = viewer.goTo(readAddress(text));
  viewer.view.set(view);
  assert.equal(writeAddress(viewer.place()), text);
  viewer.goTo(readAddress('threads=3,99&method=77&open=4,5'));
  assert.deepEqual(
    [viewer.tracks.get(), viewer.frame.get(), [...viewer.expanded.get()]],
    [[3], null, [5]],
  );
});

test('the profile follows range and threads, and open methods stay open with new figures', async () => {
  const asked: Scope[] = [];
  const related: [number, Scope][] = [];
  const viewer = viewerOn({
    profile: (scope) => {
      asked.push(scope);
      return Promise.resolve(ANSWER);
    },
    relations: (frame, scope) => {
      related.push([frame, scope]);
      return Promise.resolve(NOTHING);
    },
  });
  const store = new ProfileStore(viewer);
  await quiet();
  store.open(1);
  await quiet();
  viewer.setRange({ from: 1000, to: 2000 });
  viewer.toggleTrack(5, false);
  await quiet();
  const scope = { from: 1000, to: 2000, tracks: [5], of: 'calls' };
  assert.deepEqual(asked, [{ of: 'calls' }, scope]);
  assert.deepEqual(
    related.map(([frame]) => frame),
    [1, 1],
  );
  assert.deepEqual(related[1]?.[1], scope);
  assert.equal(store.opened.get().get(1), NOTHING);
});

test('a selected method opens and closes with the selection, one opened by hand stays', async () => {
  const viewer = viewerOn({
    profile: () => Promise.resolve(ANSWER),
    relations: () => Promise.resolve(NOTHING),
  });
  const store = new ProfileStore(viewer);
  await quiet();
  store.open(0);
  for (const frame of [1, 2]) {
    viewer.selectFrame(frame);
    await quiet();
    assert.deepEqual([...store.opened.get().keys()].sort(), [0, frame]);
  }
  viewer.selectFrame(3);
  await quiet();
  assert.deepEqual(
    [...store.opened.get().keys()],
    [0],
    'what is not called in the range cannot open',
  );
});

test('the table finds by name and signature, in its own order', async () => {
  const viewer = viewerOn({ profile: () => Promise.resolve(ANSWER) });
  const store = new ProfileStore(viewer);
  await quiet();
  viewer.find.set('a');
  await quiet();
  assert.deepEqual(store.found.get(), [0, 1, 2]);
  viewer.find.set('Object) Object');
  await quiet();
  assert.deepEqual(store.found.get(), [2]);
});

/** Calls of methods 1 and 2 at these times. */
const CALLS: [number, number][] = [
  [1, 500],
  [2, 800],
  [1, 900],
  [1, 4000],
];

function callAt(index: number): CallDetails {
  const [frame, start] = CALLS[index] ?? [0, 0];
  return call({ index, track: 3, frame, start_ns: start, length_ns: 10 });
}

test('the search walks through calls of all matching methods in time and wraps around', async () => {
  const viewer = viewerOn({
    extents: () => Promise.resolve({ tracks: [[3, [500, 510]]] }),
    slice: (call) => Promise.resolve(callAt(call.index)),
    searchStep: ({ time, direction }) => {
      const order = CALLS.map(([, start], index) => ({ start, index }));
      order.sort((a, b) => a.start - b.start);
      const there = order.filter(({ start }) => direction * (start - time) > 0);
      const found = (there.length > 0 ? there : order).at(direction > 0 ? 0 : -1);
      return Promise.resolve({
        call: found ? { row: 0, index: found.index } : null,
        nth: found ? order.indexOf(found) + 1 : 0,
        of: order.length,
        wrapped: there.length === 0,
      });
    },
  });
  const shown: number[] = [];
  const search = new SearchStore(viewer, (call) => shown.push(call.start_ns));
  viewer.search.set('() void');
  await quiet();
  assert.deepEqual(search.hits.get()?.frames, [1, 3]);
  viewer.search.set('get');
  await quiet();
  assert.deepEqual(search.hits.get()?.frames, [2]);
  viewer.search.set('e');
  await quiet();
  const positions: number[] = [];
  const passed: number[] = [];
  for (const direction of [1, 1, 1, 1, 1, -1] as const) {
    search.step(direction);
    for (let i = 0; i < 4; i++) await quiet();
    positions.push(search.current.get()?.position ?? -1);
    passed.push(search.current.get()?.wrapped ?? NaN);
  }
  assert.deepEqual(shown, [500, 800, 900, 4000, 500, 4000]);
  assert.deepEqual(positions, [1, 2, 3, 4, 1, 4]);
  assert.deepEqual(passed, [0, 0, 0, 0, 1, -1]);
  assert.deepEqual(viewer.call.get(), { row: 0, index: 3 }, 'the hit is selected');
});

test('questions become addresses, refusals become sentences', async () => {
  const asked: string[] = [];
  const replies: (() => Promise<Response>)[] = [];
  const original = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    asked.push(`${init?.method ?? 'GET'} ${String(input)}`);
    return replies.shift()?.() ?? Promise.resolve(new Response('{}'));
  };
  try {
    const http = new HttpEngine(httpHost());
    await http.profile({ from: 5, to: 9, tracks: [3, 5] });
    await http.profile({});
    await http.relations(7, { tracks: [3] });
    await http.slice({ row: 12, index: 4 });
    replies.push(
      () => Promise.resolve(new Response('[12,4]')),
      () => Promise.resolve(new Response('null')),
    );
    assert.deepEqual(await http.step(7, 100, -1, [3]), { row: 12, index: 4 });
    assert.equal(await http.step(7, 100, 1, undefined), null);
    await http.extents(7, { from: 1, to: 2 }, 800);
    await http.quit();
    assert.deepEqual(asked, [
      'GET api/profile?from=5&to=9&tracks=3,5',
      'GET api/profile',
      'GET api/relations?frame=7&tracks=3',
      'GET api/slice?row=12&index=4',
      'GET api/step?frame=7&t=100&direction=-1&tracks=3',
      'GET api/step?frame=7&t=100&direction=1',
      'GET api/extents?frame=7&pixels=800&from=1&to=2',
      'POST api/quit',
    ]);
    replies.push(() =>
      Promise.resolve(new Response('{"error":"frame is no number"}', { status: 400 })),
    );
    await assert.rejects(http.relations(-1, {}), /frame is no number/);
    replies.push(() => Promise.reject(new TypeError('failed to fetch')));
    const gone = await http.status().catch((error: unknown) => error);
    assert(gone instanceof EngineError && gone.gone);
  } finally {
    globalThis.fetch = original;
  }
});
