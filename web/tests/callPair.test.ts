// SPDX-License-Identifier: Apache-2.0
// Two calls side by side: the times between them, the calls inside, and arguments that differ.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { differingArguments, distancesOf, insideBoth } from '../src/model/callPair';
import type { CallDetails } from '../src/model/engine';

test('times between two calls count from the earlier one', () => {
  const [early, late] = [
    { from: 10, to: 30 },
    { from: 45, to: 50 },
  ];
  const expected = { startToStart: 35, gap: 15, endToEnd: 20, union: 40 };
  assert.deepEqual(distancesOf(early, late), expected);
  assert.deepEqual(distancesOf(late, early), expected);
});

test('calls that overlap have a negative gap, and an inner call ends first', () => {
  const inside = distancesOf({ from: 10, to: 100 }, { from: 20, to: 40 });
  assert.deepEqual(inside, { startToStart: 10, gap: -80, endToEnd: -60, union: 90 });
});

test('children of both calls are joined by name, the largest difference first', () => {
  const selected = { rows: [[1, 2, 50, null] as const, [2, 1, 30, null] as const], left_out: 0 };
  const pinned = { rows: [[2, 4, 90, null] as const, [3, 1, 5, null] as const], left_out: 0 };
  const lines = insideBoth(
    { ...selected, rows: selected.rows.map((row) => [...row]) },
    { ...pinned, rows: pinned.rows.map((row) => [...row]) },
  );
  assert.deepEqual(lines, [
    { frame: 2, selected: { calls: 1, real: 30 }, pinned: { calls: 4, real: 90 } },
    { frame: 1, selected: { calls: 2, real: 50 }, pinned: { calls: 0, real: 0 } },
    { frame: 3, selected: { calls: 0, real: 0 }, pinned: { calls: 1, real: 5 } },
  ]);
});

test('arguments are compared by path, and only differences are shown', () => {
  const call = (args: unknown): CallDetails => ({ event: { args } }) as CallDetails;
  const a = call({ url: 'x', size: 3, data: { list: [1, 2], same: true } });
  const b = call({ url: 'y', size: 3, data: { list: [1, 5], same: true }, more: null });
  assert.deepEqual(differingArguments(a, b), [
    ['data.list.1', '2', '5'],
    ['more', null, 'null'],
    ['url', 'x', 'y'],
  ]);
  assert.deepEqual(differingArguments(a, a), []);
  assert.deepEqual(differingArguments(call(undefined), call(3)), [['', null, '3']]);
});
