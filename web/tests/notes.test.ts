// SPDX-License-Identifier: Apache-2.0
// Ranges that are kept: in the order of time, one of each range, never too many.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import {
  lanesOfNotes,
  LONGEST_NOTE,
  MOST_LANES,
  MOST_NOTES,
  readNotes,
  withNote,
  writeNote,
} from '../src/model/notes';

test('notes are ordered by time, and the newest note of a range is kept', () => {
  const first = withNote([], { from: 50, to: 60, text: 'late' });
  const both = withNote(first, { from: 10, to: 90, text: 'early' });
  assert.deepEqual(
    withNote(both, { from: 50, to: 60, text: 'new' }).map((n) => n.text),
    ['early', 'new'],
  );
});

test('a text may contain the separators of the address', () => {
  const note = { from: -3, to: 1e15, text: 'a~b-c, 50 % & more\nlines' };
  assert.deepEqual(readNotes([writeNote(note)]), [note]);
  assert.deepEqual(readNotes(['5-7']), [{ from: 5, to: 7, text: '' }]);
});

test('an invalid note is left out, and a long one is cut', () => {
  assert.deepEqual(readNotes(['7-5', 'x', '', '5-', '1-2x']), []);
  assert.equal(readNotes([`1-2~${'x'.repeat(999)}`])[0]?.text.length, LONGEST_NOTE);
  assert.equal(readNotes(Array(99).fill('1-2')).length, MOST_NOTES);
});

test('notes at the same time are in as many lanes as needed', () => {
  const at = (...spans: [number, number][]): number[] =>
    lanesOfNotes(
      spans.map(([from, to]) => ({ from, to, text: '' })),
      10,
    );
  assert.deepEqual(at([0, 20], [20, 40], [50, 60]), [0, 0, 0]);
  assert.deepEqual(at([0, 90], [10, 40], [40, 50], [45, 60], [90, 95]), [0, 1, 1, 2, 0]);
  // As long as their texts need.
  assert.deepEqual(at([0, 1], [5, 6], [11, 12]), [0, 1, 0]);
  // The last ones share the lane that is free first.
  assert.deepEqual(at([0, 90], [1, 80], [2, 70], [3, 60], [4, 50]), [0, 1, 2, 3, 3]);
  assert.equal(MOST_LANES, 4);
});
