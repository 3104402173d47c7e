// SPDX-License-Identifier: Apache-2.0
// The widths of columns, and which of them give way.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { figureWidth, givingWay } from '../src/model/columnFit';

/** Digits of 7 pixels, everything else of 3. */
const measure = (text: string): number =>
  [...text].reduce((sum, sign) => sum + (/\d/.test(sign) ? 7 : 3), 0);

test('a column is as wide as its widest number, not its longest', () => {
  // 5 digits and a comma; 6 digits.
  assert.equal(figureWidth(measure, 'n', ['1,234.5', '123456'], 0), 42 + 18);
  assert.equal(figureWidth(measure, 'a long head', ['1'], 0), 13 * 3 + 18);
  assert.equal(figureWidth(measure, 'n', ['1'], 56), 56 + 18);
});

test('columns are dropped in order, and only as many as needed', () => {
  const columns = [
    { id: 'name', width: 0 },
    { id: 'a', width: 100 },
    { id: 'b', width: 50 },
    { id: 'c', width: 50 },
  ];
  const shown = (room: number): string =>
    givingWay(columns, room, 160, ['b', 'a'])
      .map(({ id }) => id)
      .join(' ');
  assert.equal(shown(0), 'name a b c'); // The room is not known yet.
  assert.equal(shown(360), 'name a b c');
  assert.equal(shown(359), 'name a c');
  assert.equal(shown(309), 'name c');
  assert.equal(shown(100), 'name c');
});
