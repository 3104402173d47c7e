// SPDX-License-Identifier: Apache-2.0
// The overview of very many tracks.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { bucketsFor, fewerLanes } from '../src/model/activity';

test('of very many tracks the overview is coarser, but never one block', () => {
  assert.equal(bucketsFor(0, 2000), 2000);
  assert.equal(bucketsFor(2000, 2000), 2000);
  assert.equal(bucketsFor(4000, 2000), 1000);
  assert.equal(bucketsFor(10_000_000, 2000), 100);
});

test('lanes that have no room become one, as high as the highest of them', () => {
  const lane = (track: number, ...height: number[]): { track: number; height: Uint8Array } => ({
    ...{ track, height: Uint8Array.from(height) },
  });
  const lanes = [lane(0, 1, 9), lane(1, 5, 2), lane(2, 3, 3)];
  assert.deepEqual(fewerLanes(lanes, 3), lanes);
  assert.deepEqual(fewerLanes(lanes, 2), [lane(0, 5, 9), lane(2, 3, 3)]);
  assert.deepEqual(lanes[0], lane(0, 1, 9));
});
