// SPDX-License-Identifier: Apache-2.0
// The state of the page after another filter: what has numbers is found by what it is.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { readPlace } from '../src/model/address';
import type { Track } from '../src/model/engine';
import { refilter, sameTracks } from '../src/model/refilter';

function track(number: number, kind: Track['kind'], thread: number, name: string): Track {
  return {
    ...{ track: number, kind, thread, name, thread_id: thread, process: 0 },
    ...{ first_row: 0, rows: 1, calls: 1, start_ns: 0, end_ns: 1 },
    ...{ real_ns: 1, cpu_ns: null, waits: 0 },
  };
}

const counts = { counters: 2, instants: 9, objects: 0, samples: 0, memory_dumps: 0, flows: 4 };
const whole = {
  ...counts,
  tracks: [
    track(0, 'thread', 0, 'main'),
    track(1, 'async', -1, 'load'),
    track(2, 'async', -1, 'load'),
    track(3, 'thread', 1, 'io'),
  ],
};
const left = {
  ...counts,
  instants: 8,
  tracks: [
    track(0, 'async', -1, 'load'),
    track(1, 'async', -1, 'load'),
    track(2, 'thread', 1, 'io'),
  ],
};

test('tracks are found by what they are', () => {
  const there = [...sameTracks(whole, left)];
  assert.deepEqual(there, [
    [1, 0],
    [2, 1],
    [3, 2],
  ]);
});

test('what is gone is left out, the rest has its new number', () => {
  const place = readPlace(
    'view=1-9&threads=0,3&method=7&call=5.2&mark=instant.3&open=0,2&flows=1&tab=flame',
  );
  const moved = refilter(place, whole, left, 'thread:io', { row: 1, index: 0 });
  assert.equal(moved.filter, 'thread:io');
  assert.deepEqual(moved.tracks, [2]);
  assert.deepEqual(moved.expanded, [1]);
  assert.deepEqual(moved.call, { row: 1, index: 0 });
  assert.equal(moved.mark, null); // an instant is gone: 3 may be another one
  assert.deepEqual(moved.flows.categories, [1]);
  assert.deepEqual([moved.view, moved.frame, moved.tab], [place.view, 7, 'flame']);
});
