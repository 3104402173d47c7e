// SPDX-License-Identifier: Apache-2.0
// Joining the lengths of a method's calls over the runs of both sides.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { joinCalls } from '../src/model/comparedCalls';
import type { Durations } from '../src/model/statistics';

/** Durations of one run: bounds, counts, median; the slowest call is as long as the last bound. */
function run(bounds: number[], counts: number[], median: number): Durations {
  const calls = counts.reduce((sum, n) => sum + n, 0);
  const longest = bounds.at(-1) ?? 0;
  return {
    row: [0, calls, 0, 0, null, 0, 0, median, median, longest, 0],
    ...{ bounds, counts, slowest: [[1, 2, 30, longest, 0]] },
  };
}

test('empty buckets are kept, and runs of one side are added', () => {
  const base = run([63, 79, 100], [1, 2], 80);
  const fresh = run([160, 200], [5], 170);
  const calls = joinCalls(
    'f',
    'cpu',
    [
      [[], base],
      [[], base],
    ],
    [
      [null, fresh],
      [[], null],
    ],
  );
  assert.deepEqual(calls.bounds, [63, 79, 100, 130, 160, 200]);
  assert.deepEqual(calls.base.counts, [2, 4, 0, 0, 0]);
  assert.deepEqual(calls.new.counts, [0, 0, 0, 0, 5]);
  assert.deepEqual([calls.base.calls, calls.new.calls], [6, 5]);
});

test('percentiles are medians over the runs that have the method', () => {
  const sides = [100, 300, 200].map((median) => [[], run([100, 130], [1], median)] as const);
  assert.equal(joinCalls('f', 'cpu', sides, []).base.median, 200);
  assert.equal(joinCalls('f', 'cpu', [...sides, [[], null]], []).base.median, 200);
  assert.equal(joinCalls('f', 'cpu', sides.slice(0, 2), []).base.median, 200, 'mean of two');
  assert.equal(joinCalls('f', 'cpu', sides, []).new.median, null);
});

test('the slowest calls of a side come from all its runs, longest first', () => {
  const sides = [130, 160].map((end) => [[], run([100, end], [1], 100)] as const);
  const { slowest } = joinCalls('f', 'real', sides, []).base;
  assert.deepEqual(
    slowest.map(({ length }) => length),
    [160, 130],
  );
});

test('a method without calls has no buckets', () => {
  assert.deepEqual(joinCalls('f', 'real', [[null, null]], []).bounds, []);
});
