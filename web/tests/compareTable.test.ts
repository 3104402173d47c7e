// SPDX-License-Identifier: Apache-2.0
// The table of a comparison.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import {
  USUAL_COMPARE,
  type CompareChoice,
  type ComparedRow,
  type Comparison,
} from '../src/model/comparison';
import {
  compareColumns,
  compareLines,
  compareMark,
  compareText,
  signedPercent,
} from '../src/model/compareTable';

function row(key: string, base: number, fresh: number, more: Partial<ComparedRow>): ComparedRow {
  return {
    ...{ key, base, new: fresh, effect: fresh - base, change: base ? fresh / base - 1 : null },
    ...{ match: 'exact', side: 'both', low: null, high: null, p: null },
    ...{ base_calls: 1, new_calls: 1, calls_differ: false },
    ...more,
  };
}

function answer(...rows: ComparedRow[]): Comparison {
  const total = {
    base: 10e6,
    new: 12e6,
    change: 0.2,
    ...{ low: null, high: null, p: rows[0]?.p === null ? null : 0.5 },
  };
  return {
    ...{ by: 'method', figure: 'excl', clock: 'cpu', note: '', left_out: 0 },
    ...{ sides: { base: [], new: [] }, total, rows },
  };
}

const GROUPS = answer(
  row('noisy', 1e6, 9e6, { p: 0.4 }),
  row('slower', 1e6, 2e6, { p: 0.001, low: 0.8, high: 1.25 }),
  row('more calls', 1e6, 1.1e6, { p: 0.6, calls_differ: true, new_calls: 3 }),
  row('gone', 3e6, 0, { side: 'base', new_calls: 0 }),
  row('fresh', 0, 2e6, { side: 'new', base_calls: 0 }),
);

function names(shown: Partial<CompareChoice>, find = '', of = GROUPS): string[] {
  return compareLines(of, { ...USUAL_COMPARE, ...shown }, find).map(({ key }) => key);
}

test('certain changes come first, then the largest differences', () => {
  assert.deepEqual(names({}), [
    ...['(total of all threads)', 'slower', 'more calls', 'noisy', 'gone', 'fresh'],
  ]);
});

test('a column head sorts by its figure, and unknown figures come last', () => {
  assert.deepEqual(names({ sort: { column: 'p', descending: false } }).slice(0, 4), [
    ...['(total of all threads)', 'slower', 'noisy', 'more calls'],
  ]);
  assert.deepEqual(names({ sort: { column: 'change', descending: true } }).slice(1, 3), [
    ...['fresh', 'noisy'],
  ]);
});

test('"only what changed" leaves out differences that chance may explain', () => {
  const kept = names({ changed: true }).slice(1);
  assert.deepEqual(kept, ['slower', 'more calls', 'gone', 'fresh']);
});

test('with one run on each side, any difference is a change', () => {
  const single = answer(row('same', 1, 1, {}), row('other', 1, 2, {}));
  assert.deepEqual(names({ changed: true }, '', single).slice(1), ['other']);
  assert.deepEqual(compareColumns(single), ['key', 'base', 'new', 'effect', 'change', 'calls']);
});

test('the find text filters the rows', () => {
  assert.deepEqual(names({}, 'NOISY'), []);
  assert.deepEqual(names({}, 'o'), ['slower', 'more calls', 'noisy', 'gone']);
});

test('each cell has its formatted figure', () => {
  const cells = (key: string): string[] => {
    const found = GROUPS.rows.find((r) => r.key === key) as ComparedRow;
    return compareColumns(GROUPS).map((column) => compareText(GROUPS, found, column, 'ms'));
  };
  assert.deepEqual(cells('slower'), [
    ...['slower', '1.000', '2.000', '+1.000', '+100.0 %', '+80.0 % … +125.0 %', '0.0010', '1'],
  ]);
  assert.deepEqual(cells('gone'), ['gone', '3.000', '0.000', '−3.000', 'gone', '', '', '1 → 0']);
  assert.equal(compareMark(row('a', 1, 1, { match: 'similar', base_key: 'a$1' }))[0], '~');
  assert.equal(compareMark(row('a', 1, 1, { tiny: true }))[0], 't');
  assert.equal(compareMark(row('a', 1, 1, { tiny: true, calls_differ: true }))[0], '!');
});

test('a change of ten times or more is a factor', () => {
  assert.equal(signedPercent(-0.333), '−33.3 %');
  // Nothing has no sign.
  assert.equal(signedPercent(-0.0004), '0.0 %');
  assert.equal(signedPercent(0), '0.0 %');
  assert.equal(signedPercent(-0.0006), '−0.1 %');
  assert.equal(signedPercent(8.99), '+899.0 %');
  assert.equal(signedPercent(9), '10×');
  assert.equal(signedPercent(15.974), '17×');
  assert.equal(signedPercent(22513.655), '22,500×');
});
