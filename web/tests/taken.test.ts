// SPDX-License-Identifier: Apache-2.0
// Where strips stand in the way of names.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { firstTakenFrom } from '../src/render/taken';

test('the first column at or after a position is found', () => {
  const taken = [10, 20, 20.5, 40];
  assert.equal(firstTakenFrom(taken, 0), 10);
  assert.equal(firstTakenFrom(taken, 10), 10);
  assert.equal(firstTakenFrom(taken, 10.1), 20);
  assert.equal(firstTakenFrom(taken, 21), 40);
  assert.equal(firstTakenFrom(taken, 41), Infinity);
  assert.equal(firstTakenFrom([], 0), Infinity);
});
