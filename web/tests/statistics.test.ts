// SPDX-License-Identifier: Apache-2.0
// The labels of the histogram of lengths.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { powerTicks } from '../src/model/statistics';

/** The first two powers of ten in steps of ten bars each, as the engine gives them. */
const STEPS = [10, 13, 16, 20, 25, 32, 40, 50, 63, 79];
const BOUNDS = [...STEPS, ...STEPS.map((n) => 10 * n), ...STEPS.map((n) => 100 * n)];

test('an axis of lengths is labelled at powers of ten that have room', () => {
  const labelled = (from: number, to: number, apart: number): number[] => {
    const bounds = BOUNDS.filter((n) => n >= from && n <= to);
    return powerTicks(bounds, apart).map((i) => bounds[i] ?? 0);
  };
  assert.deepEqual(labelled(10, 7900, 4), [100, 1000]);
  assert.deepEqual(labelled(10, 1300, 4), [100], '1000 is one bar from the end');
  assert.deepEqual(labelled(79, 7900, 4), [1000], '100 is one bar from the start');
  assert.deepEqual(
    labelled(10, 7900, 11),
    [],
    '100 is ten bars from the start, 1000 nine from the end',
  );
  assert.deepEqual(labelled(10, 10, 4), []);
});
