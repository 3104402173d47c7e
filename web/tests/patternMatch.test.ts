// SPDX-License-Identifier: Apache-2.0
// What a pattern matched, and which patterns are left to the engine.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { patternAt, quickPattern } from '../src/model/patternMatch';

const matched = (text: string, pattern: string, matchCase = false): string | null => {
  const found = patternAt(text, pattern, matchCase);
  return found && text.slice(...found);
};

test('the first match is as long as possible', () => {
  assert.equal(matched('aab ab', 'a+b'), 'aab');
  assert.equal(matched('RunTask', '^run'), 'Run');
  assert.equal(matched('RunTask', '^run', true), null);
  assert.equal(matched('Grüße 12', 'ü(ß|s)e \\d+'), 'üße 12');
});

test('in arguments the anchors match the ends of key and value', () => {
  assert.equal(matched('place: Worker 1', '^work'), 'Work');
  assert.equal(matched('place: Worker 1', 'place$'), 'place');
  assert.equal(matched('place: Worker 1', 'e: w'), 'e: W');
});

test('a pattern that may take exponential time is not run here', () => {
  for (const slow of ['(a+)+$', '(a|b)*c', 'a*a*a*b', 'a{1,200}b{1,200}c{1,200}', 'a?'.repeat(30)])
    assert.equal(quickPattern(slow, true), null, slow);
  for (const quick of ['[*+{(]+', '\\(+a+', '(?:a|b)c', 'Draw.*Frame$'])
    assert.equal(quickPattern(quick, true) === null, false, quick);
  assert.equal(quickPattern('[', true), null, 'no pattern');
});
