// SPDX-License-Identifier: Apache-2.0
// The overview of very many tracks.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { bucketsFor, fewerLanes, sampleLanes } from '../src/model/activity';

test('the overview of very many tracks is coarser, but never a single block', () => {
  assert.equal(bucketsFor(0, 2000), 2000);
  assert.equal(bucketsFor(2000, 2000), 2000);
  assert.equal(bucketsFor(4000, 2000), 1000);
  assert.equal(bucketsFor(10_000_000, 2000), 100);
});

test('lanes without room merge into one as high as the highest', () => {
  const lane = (track: number, ...height: number[]): { track: number; height: Uint8Array } => ({
    ...{ track, height: Uint8Array.from(height) },
  });
  const lanes = [lane(0, 1, 9), lane(1, 5, 2), lane(2, 3, 3)];
  assert.deepEqual(fewerLanes(lanes, 3), lanes);
  assert.deepEqual(fewerLanes(lanes, 2), [lane(0, 5, 9), lane(2, 3, 3)]);
  assert.deepEqual(lanes[0], lane(0, 1, 9));
});

test('samples make a lane for each thread, and the fullest bucket is the highest', () => {
  const samples = [
    { thread: 7, time: 100, count: 4 },
    { thread: 7, time: 149, count: 4 },
    { thread: 2, time: 150, count: 6 },
    { thread: 2, time: 200, count: 1 },
  ];
  assert.deepEqual(sampleLanes(samples, { from: 100, to: 200 }, 4), [
    { track: 7, height: Uint8Array.of(170, 170, 0, 0) },
    { track: 2, height: Uint8Array.of(0, 0, 255, 80) },
  ]);
});
