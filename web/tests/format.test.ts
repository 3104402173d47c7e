// SPDX-License-Identifier: Apache-2.0
// Numbers as text.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatCount,
  formatPercent,
  formatShort,
  formatTick,
  formatTime,
  plural,
  versionWords,
} from '../src/base/format';

test('times are rounded from whole nanoseconds, half a digit up', () => {
  assert.equal(formatTime(1234567890, 'ms'), '1,234.568');
  assert.equal(formatTime(499, 'ms'), '0.000');
  assert.equal(formatTime(500, 'ms'), '0.001');
  assert.equal(formatTime(1499, 'us'), '1.499');
  assert.equal(formatTime(1234567, 'ns'), '1,234,567');
  assert.equal(formatTime(1500000499, 's'), '1.500000');
  assert.equal(formatTime(-1500, 'ms'), '-0.002');
});

test('the greatest time of the protocol keeps its digits', () => {
  assert.equal(formatTime(2 ** 53 - 1, 'ns'), '9,007,199,254,740,991');
  assert.equal(formatTime(2 ** 53 - 1, 'ms'), '9,007,199,254.741');
});

test('shares have one decimal, of nothing too', () => {
  assert.equal(formatPercent(1, 3), '33.3');
  assert.equal(formatPercent(5, 0), '0.0');
});

test('counts are grouped and have a noun in the right number', () => {
  assert.equal(formatCount(1284611), '1,284,611');
  assert.equal(plural(1, 'call'), '1 call');
  assert.equal(plural(1200, 'process', 'processes'), '1,200 processes');
});

test('marks of the ruler have the digits their step needs', () => {
  assert.equal(formatTick(200e6, 100e6), '0.2 s');
  assert.equal(formatTick(20e6, 20e6), '20 ms');
  assert.equal(formatTick(4660e6, 20e6), '4.66 s');
  assert.equal(formatTick(500e3, 500e3), '0.5 ms');
  assert.equal(formatTick(12, 2), '12 ns');
});

test('lengths choose a unit', () => {
  assert.equal(formatShort(4812337000), '4.812 s');
  assert.equal(formatShort(1e6), '1.000 ms');
  assert.equal(formatShort(999), '999 ns');
});

test('versions are told in words', () => {
  assert.equal(versionWords('3'), 'version 3');
  assert.equal(versionWords('0xF3'), 'version 3, streamed (0xF3)');
  assert.equal(versionWords(''), '');
});
