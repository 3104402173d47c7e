// SPDX-License-Identifier: Apache-2.0
// The state of the page after another filter: what has numbers is found by what it is.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { readAddress } from '../src/model/address';
import type { Track } from '../src/model/traceFacts';
import { OpenTracks, refilter, sameTracks } from '../src/model/refilter';

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

test('tracks are found again by their identity', () => {
  const there = [...sameTracks(whole, left)];
  assert.deepEqual(there, [
    [1, 0],
    [2, 1],
    [3, 2],
  ]);
});

test('removed tracks are left out, and the others get their new numbers', () => {
  const place = readAddress(
    'view=1-9&threads=0,3&method=7&call=5.2&mark=instant.3&open=0,2&flows=1&tab=flame',
  );
  const there = { call: { row: 1, index: 0 }, openTracks: new OpenTracks() };
  const moved = refilter(place, whole, left, 'thread:io', there);
  assert.equal(moved.filter, 'thread:io');
  assert.deepEqual(moved.tracks, [2]);
  assert.deepEqual(moved.expanded, [1]);
  assert.deepEqual(moved.call, { row: 1, index: 0 });
  assert.equal(moved.mark, null); // an instant is gone: 3 may be another one
  assert.deepEqual(moved.flows.categories, [1]);
  assert.deepEqual([moved.view, moved.frame, moved.tab], [place.view, 7, 'flame']);
});

test('tracks that a filter removed come back open or closed, as they were', () => {
  const openTracks = new OpenTracks();
  const to = (open: string, from: typeof whole, now: typeof whole): readonly number[] | null =>
    refilter(readAddress(`open=${open}`), from, now, '', { call: null, openTracks }).expanded;
  const nothing = { ...counts, tracks: [] };
  assert.deepEqual(to('0,3', whole, left), [2]);
  assert.deepEqual(to('none', left, nothing), []); // io was closed meanwhile
  assert.deepEqual(to('none', nothing, whole), [0]);
});

test('lines of many rows stay open where they are the same', () => {
  const there = { call: null, openTracks: new OpenTracks() };
  const place = readAddress('rows=async.1,counter.0,lanes.4,async.0');
  assert.deepEqual(refilter(place, whole, left, '', there).folds, [
    'async.0',
    'counter.0',
    'lanes.4',
  ]);
  const fewer = { ...left, objects: 7 };
  assert.deepEqual(refilter(place, whole, fewer, '', there).folds, ['async.0', 'counter.0']);
});
