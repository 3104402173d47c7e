// SPDX-License-Identifier: Apache-2.0
// Ranges as they are typed.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { readRange, writeRange } from '../src/model/rangeText';

const BOUNDS = { from: 0, to: 5e9 };
const ms = (from: number, to: number): { from: number; to: number } => ({
  from: from * 1e6,
  to: to * 1e6,
});

test('a range is two times, each with its own unit, that of the other, or that of the page', () => {
  for (const text of ['1.5 .. 20', '1.5ms..20ms', '1.5 20', '1.5 - 20 ms', '1.5ms 20', '1.5:20'])
    assert.deepEqual(readRange(text, 'ms', BOUNDS), ms(1.5, 20), text);
  assert.deepEqual(readRange('1.5 to 20', 'ms', BOUNDS), ms(1.5, 20));
  assert.deepEqual(readRange('300 µs – 2 s', 'ms', BOUNDS), ms(0.3, 2000));
  assert.deepEqual(readRange('1 .. 2 s', 'ms', BOUNDS), ms(1000, 2000));
  assert.deepEqual(readRange('10ns..20ns', 'ms', BOUNDS), { from: 10, to: 20 });
  assert.deepEqual(readRange('1..2', 'us', BOUNDS), { from: 1000, to: 2000 });
  assert.deepEqual(readRange('1,234.5 .. 2,000', 'ms', BOUNDS), ms(1234.5, 2000));
});

test('a range may be a start and a length, lack an end, or end beyond the trace', () => {
  assert.deepEqual(readRange('100 + 50', 'ms', BOUNDS), ms(100, 150));
  assert.deepEqual(readRange('1 s + 50 ms', 'ms', BOUNDS), ms(1000, 1050));
  assert.deepEqual(readRange('..20', 'ms', BOUNDS), ms(0, 20));
  assert.deepEqual(readRange('20 ..', 'ms', BOUNDS), ms(20, 5000));
  assert.deepEqual(
    readRange('-5 .. 1e', 'ms', BOUNDS),
    'not a time: "1e" (as in 20, 1.5 ms, 300 µs, 2 s)',
  );
  assert.deepEqual(readRange('-5 .. 9 s', 'ms', BOUNDS), ms(0, 5000));
});

test('an invalid range says so', () => {
  for (const [text, words] of [
    ['20', /two times/],
    ['a .. 5', /not a time: "a"/],
    ['20 .. 10', /not after/],
    ['6 s .. 7 s', /the trace is from 0\.000 to 5,000\.000 ms/],
  ] as const)
    assert.match(String(readRange(text, 'ms', BOUNDS)), words);
});

test('a written range can be read again', () => {
  const span = { from: 1234567000, to: 2000000000 };
  for (const unit of ['ns', 'us', 'ms', 's', 'auto'] as const)
    assert.deepEqual(readRange(writeRange(span, unit), unit, BOUNDS), span, unit);
});
