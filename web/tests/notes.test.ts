// SPDX-License-Identifier: Apache-2.0
// Ranges that are kept: in the order of time, one of each range, never too many.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { LONGEST_NOTE, MOST_NOTES, readNotes, withNote, writeNote } from '../src/model/notes';

test('notes stand in the order of time, the newest of a range stays', () => {
  const first = withNote([], { from: 50, to: 60, text: 'late' });
  const both = withNote(first, { from: 10, to: 90, text: 'early' });
  assert.deepEqual(
    withNote(both, { from: 50, to: 60, text: 'new' }).map((n) => n.text),
    ['early', 'new'],
  );
});

test('a text may hold what parts the words of an address', () => {
  const note = { from: -3, to: 1e15, text: 'a~b-c, 50 % & more\nlines' };
  assert.deepEqual(readNotes([writeNote(note)]), [note]);
  assert.deepEqual(readNotes(['5-7']), [{ from: 5, to: 7, text: '' }]);
});

test('what is no note is left out, what is too much cut', () => {
  assert.deepEqual(readNotes(['7-5', 'x', '', '5-', '1-2x']), []);
  assert.equal(readNotes([`1-2~${'x'.repeat(999)}`])[0]?.text.length, LONGEST_NOTE);
  assert.equal(readNotes(Array(99).fill('1-2')).length, MOST_NOTES);
});
