// SPDX-License-Identifier: Apache-2.0
// The orders of processes and threads that the user can choose, and the rows that are active.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { timelineRows } from '../src/model/rows';
import { activeRows, orderRows, tracksActiveIn, type RowOrder } from '../src/model/rowOrder';
import type { Process } from '../src/model/traceFacts';
import { track } from './fixtures';

const NOTHING = { objects: [], samples: [], memory_dumps: [], threads: [], display_frames: [] };

/** Process 0 has threads 0 and 1, process 1 has threads 2 and 3; 3 has only samples. */
const TRACKS = [
  track(0, { thread: 0, name: 'main', real_ns: 40, cpu_ns: null, sort_index: 3 }),
  track(1, { kind: 'states', thread: 0, name: 'main', real_ns: 900 }),
  track(2, { thread: 1, name: 'worker-10', real_ns: 50, cpu_ns: null }),
  track(3, { kind: 'async', thread: 1, name: 'load', real_ns: 5000 }),
  track(4, { thread: 2, process: 1, name: 'worker-9', real_ns: 20, cpu_ns: null, sort_index: -1 }),
];
const FACTS = {
  order: 'owner' as const,
  tracks: TRACKS,
  processes: [
    { id: 7, name: 'beta', sort_index: 5 },
    { id: 8, name: 'alpha' },
  ] as Process[],
  idle_threads: [{ thread: 3, thread_id: 12, name: 'idle' }],
  standing: { processes: [0, 1], threads: [0, 1, 2, 3] },
};
const ROWS = timelineRows(
  { ...NOTHING, samples: [{ thread: 3, process: 1, samples: 9 }] },
  [],
  TRACKS,
  FACTS.idle_threads,
);

/** Processes, threads and tracks in an order. */
function ordered(order: RowOrder): string {
  const { standing, tracks } = orderRows(FACTS, order, ROWS);
  const numbers = tracks.map((t) => t.track);
  return [standing?.processes, standing?.threads, numbers].map((all) => all?.join('')).join(' ');
}

test('each order sorts processes, threads and their tracks', () => {
  assert.equal(ordered('usual'), '01 0123 01234');
  // Sort indexes 5, 0 and 3, 0, -1, 0.
  assert.equal(ordered('file'), '10 2130 42301');
  // 90 against 20 ns of calls; 50, 40, 20 and 0.
  assert.equal(ordered('busiest'), '01 1023 23014');
  // idle, main, worker-9, worker-10
  assert.equal(ordered('name'), '10 3021 01423');
});

function active(within: ReadonlySet<number> | null, tracks = TRACKS): string {
  const left = activeRows({ tracks }, ROWS, within);
  return [left.tracks.map((t) => t.track), left.rows.map((row) => row.key)].join(' ');
}

test('active rows have calls, in the selected range if there is one', () => {
  assert.equal(active(null), '0,1,2,3,4 ');
  assert.equal(active(new Set([2])), '2 ');
  // The states of a thread stay with its calls, its async slices are on their own.
  assert.equal(active(new Set([0, 3])), '0,1,3 ');
});

test('without calls, threads that ran or have samples are active', () => {
  const asleep = track(5, { kind: 'states', thread: 1, real_ns: 0 });
  const states = TRACKS.filter((t) => t.kind === 'states');
  assert.equal(active(null, [...states, asleep]), '1 s3');
});

test('activity counts in the buckets that a range touches', () => {
  const height = Uint8Array.from([0, 0, 1, 0]);
  const activity = { buckets: 4, from: 0, to: 40, lanes: [{ track: 6, height }] };
  const isIn = (from: number, to: number): boolean => tracksActiveIn(activity, { from, to }).has(6);
  assert.deepEqual(
    [isIn(0, 20), isIn(0, 21), isIn(29, 40), isIn(30, 40)],
    [false, true, true, false],
  );
});
