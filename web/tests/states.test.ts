// SPDX-License-Identifier: Apache-2.0
// The tables of states, and the bands of the display's beat.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import type { CounterFacts, CounterValues, FrameRow } from '../src/model/engine';
import { Frames } from '../src/model/names';
import { namedTracks, threadsOf, tracksOfSlices, type StatesAnswer } from '../src/model/states';
import { statesColumns, statesLines, statesSheet } from '../src/model/statesTable';
import { sheetText } from '../src/model/sheet';
import { bandsOfBeats, vsyncBands, vsyncCounter, vsyncFrame } from '../src/model/vsync';
import { track } from './fixtures';

/** Two processors over 10 ms; `b` was never blocked, and on CPU 1 alone. */
const ANSWER: StatesAnswer = {
  from_ns: 0,
  to_ns: 10e6,
  cpus: [
    [7, 0, 4e6, 0],
    [8, 1, 3e6, 2e6],
  ],
  threads: [
    [0, 100, 'a', 0, [4e6, 1e6, 0, 3e6, 0, 2e6, 0], 2, 1e6, 3, 1, [[0, 4e6]]],
    [1, 200, 'b', 0, [3e6, 0, 0, 7e6, 0, 0, 0], 1, 0, -1, -1, [[1, 3e6]]],
  ],
};

const all = (): boolean => true;

test('states without time have no column, except the usual ones', () => {
  const ids = statesColumns(ANSWER, 'state').map((c) => c.id);
  const states = ['running', 'runnable', 'sleeping', 'uninterruptible', 'io'];
  assert.deepEqual(ids, ['name', ...states, 'wakeups', 'longest_wait']);
});

test('lines are sorted, and processors first show how busy they were', () => {
  const sort = { column: 'cpu1', descending: true };
  const lines = statesLines(ANSWER, 'cpu', sort, all);
  assert.deepEqual(
    lines.map((l) => [l.name, l.cpus.get(0) ?? 0, l.cpus.get(1) ?? 0]),
    [
      ['(busy)', 4e6, 3e6],
      ['(idle)', 6e6, 5e6],
      ['(unknown)', 0, 2e6],
      ['[200] b', 0, 3e6],
      ['[100] a', 4e6, 0],
    ],
  );
  const found = statesLines(ANSWER, 'state', sort, (text) => text.includes('b'));
  assert.deepEqual(
    found.map((l) => l.name),
    ['[200] b'],
  );
});

test('exports have nanoseconds, and the readable form has the unit', () => {
  const sort = { column: 'name', descending: false };
  const lines = statesLines(ANSWER, 'cpu', sort, all);
  const csv = sheetText(statesSheet(ANSWER, 'cpu', lines, 'ms'), 'csv').split('\r\n');
  assert.equal(csv[0], 'thread,all_ns,cpu0_ns,cpu1_ns');
  assert.equal(csv[4], '[100] a,4000000,4000000,0');
  const tsv = sheetText(statesSheet(ANSWER, 'cpu', lines, 'ms'), 'tsv').split('\n');
  assert.equal(tsv[0], 'Thread\tAll CPUs ms\tCPU 0 ms\tCPU 1 ms');
  assert.equal(tsv[5], '[200] b\t3.000\t0.000\t3.000');
});

test('states and processors are neither threads nor tracks of slices', () => {
  const tracks = [
    track(0, { kind: 'cpu', thread: -1 }),
    track(1, { thread: 5 }),
    track(2, { kind: 'states', thread: 5 }),
    track(3, { kind: 'states', thread: 6 }),
  ];
  assert.equal(threadsOf(tracks), 2);
  assert.equal(tracksOfSlices(tracks), 1);
  assert.deepEqual(
    namedTracks(tracks).map((t) => t.track),
    [0, 1, 3],
  );
});

function counter(number: number, name: string): CounterFacts {
  const rest = { category: '', process: 0, series: ['x'], low: 0, high: 1, colour: 0 };
  const more = { bounds: [[0, 1]] as [number, number][], last_ns: 40 };
  return { counter: number, name, samples: 4, ...rest, ...more };
}

test('the VSync of applications counts, and a band is drawn where it is on', () => {
  const counters = ['HW_VSYNC_0', 'VSYNC-sf', 'VSYNC-app', 'other'].map((name, i) =>
    counter(i, name),
  );
  assert.equal(vsyncCounter(counters)?.name, 'VSYNC-app');
  assert.equal(vsyncCounter(counters.slice(3)), null);
  const one = Float64Array.of(1, 0, 1);
  const series = [{ first: one, last: one, lowest: one, highest: one }];
  const values: CounterValues = {
    ...{ counter: 2, merged: false, time: Float64Array.of(10, 20, 30), series },
  };
  assert.deepEqual(vsyncBands(values, 40), [
    { from: 10, to: 20 },
    { from: 30, to: 40 },
  ]);
  assert.deepEqual(vsyncBands({ ...values, merged: true }, 40), []);
});

test('without a VSync counter only slices named VSYNC count', () => {
  const frames = (...names: string[]): Frames =>
    new Frames(names.map((name, i): FrameRow => ['', name, '', '', 0, i + 1]));
  assert.equal(vsyncFrame(frames('doVSync', 'VSyncProvider', 'VSync')), 2);
  assert.equal(vsyncFrame(frames('HW_VSYNC_0', 'VSYNC-app')), 1);
  assert.equal(vsyncFrame(frames('OnVSync', 'vsync_clk')), -1);
  // Of several threads, in any order; the last band goes on to the end.
  assert.deepEqual(bandsOfBeats([10, 30, 20], 35), [
    { from: 10, to: 20 },
    { from: 30, to: 35 },
  ]);
});
