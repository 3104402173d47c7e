// SPDX-License-Identifier: Apache-2.0
// Numbers as text.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { axisWords } from '../src/model/words';
import {
  fixedUnit,
  formatCount,
  formatMemory,
  formatFine,
  formatPercent,
  formatRough,
  formatShort,
  formatTick,
  formatTime,
  formatTimeUnit,
  formatValue,
  unitHead,
  plural,
  versionWords,
} from '../src/base/format';

test('values have six digits, and commas between thousands before the point', () => {
  assert.equal(formatValue(1488.3333), '1,488.33');
  assert.equal(formatValue(-80039.62), '-80,039.6');
  assert.equal(formatValue(-950039.62), '-950,040');
  assert.equal(formatValue(0.0810286123), '0.0810286');
  assert.equal(formatValue(1.5e-9), '1.5e-9');
  assert.equal(formatValue(-9216), '-9,216');
});

test('times are rounded from whole nanoseconds, half a digit up', () => {
  assert.equal(formatTime(1234567890, 'ms'), '1,234.568');
  assert.equal(formatTime(499, 'ms'), '0.000');
  assert.equal(formatTime(500, 'ms'), '0.001');
  assert.equal(formatTime(1499, 'us'), '1.499');
  assert.equal(formatTime(1234567, 'ns'), '1,234,567');
  assert.equal(formatTime(1500000499, 's'), '1.500000');
  assert.equal(formatTime(-1500, 'ms'), '-0.002');
});

test('the largest time of the protocol keeps its digits', () => {
  assert.equal(formatTime(2 ** 53 - 1, 'ns'), '9,007,199,254,740,991');
  assert.equal(formatTime(2 ** 53 - 1, 'ms'), '9,007,199,254.741');
});

test('shares have one decimal, also shares of zero', () => {
  assert.equal(formatPercent(1, 3), '33.3');
  assert.equal(formatPercent(5, 0), '0.0');
});

test('counts are grouped and their noun has the right number', () => {
  assert.equal(formatCount(1284611), '1,284,611');
  assert.equal(plural(1, 'call'), '1 call');
  assert.equal(plural(1200, 'process', 'processes'), '1,200 processes');
});

test('marks of the ruler have as many digits as their step needs', () => {
  assert.equal(formatTick(200e6, 100e6, 'auto'), '0.2 s');
  assert.equal(formatTick(20e6, 20e6, 'auto'), '20 ms');
  assert.equal(formatTick(4660e6, 20e6, 'auto'), '4.66 s');
  assert.equal(formatTick(500e3, 500e3, 'auto'), '0.5 ms');
  assert.equal(formatTick(12, 2, 'auto'), '12 ns');
});

test('marks of the ruler keep the chosen unit', () => {
  assert.equal(formatTick(2500e6, 500e6, 'ms'), '2,500 ms');
  assert.equal(formatTick(200e6, 100e6, 'ns'), '200,000,000 ns');
  assert.equal(formatTick(20e6, 20e6, 's'), '0.02 s');
  assert.equal(formatTick(1500, 500, 'ms'), '0.0015 ms');
});

test('the time under the pointer has more digits where pixels are short', () => {
  assert.equal(formatFine(75542315, 1e4, 'ms'), '75.542 ms');
  assert.equal(formatFine(75542315, 10, 'ms'), '75.54232 ms');
  assert.equal(formatFine(75542315, 0.5, 'ms'), '75.542315 ms');
  assert.equal(formatFine(75542315, 1e4, 'ns'), '75,542,315 ns');
});

test('a time beside a name has few digits', () => {
  assert.equal(formatRough(75542315, 'ms'), '75.5 ms');
  assert.equal(formatRough(75542315, 'us'), '75,542.3 µs');
  assert.equal(formatRough(75542315, 's'), '0.076 s');
  assert.equal(formatRough(2e9, 'auto'), '2.0 s');
});

test('an axis of bytes has powers of 1,024, other weights have no unit', () => {
  assert.equal(formatTimeUnit(1536, 'KiB'), '1.5 KiB');
  assert.equal(formatTimeUnit(1, 'bytes'), '1 byte');
  assert.equal(formatTimeUnit(1234, 'weight'), '1,234');
  assert.equal(formatTick(2 * 1024 ** 2, 1024 ** 2, 'MiB'), '2 MiB');
  assert.equal(formatTick(3000, 1000, 'weight'), '3,000');
  assert.equal(formatMemory(3 * 1024 ** 3), '3.00 GiB');
});

test('in "auto" each time has its own unit', () => {
  assert.equal(formatTime(1500, 'auto'), '1.500 µs');
  assert.equal(formatTimeUnit(1500000, 'auto'), '1.500 ms');
  assert.equal(unitHead('Start', 'auto'), 'Start');
  assert.equal(unitHead('Start', 'us'), 'Start µs');
  assert.equal(fixedUnit('auto'), 'ms');
});

test('lengths choose a unit', () => {
  assert.equal(formatShort(4812337000), '4.812 s');
  assert.equal(formatShort(1e6), '1.000 ms');
  assert.equal(formatShort(999), '999 ns');
  assert.equal(formatShort(0), '0');
  assert.equal(formatShort(469_076_500_000), '7 min 49 s');
  assert.equal(formatShort(-120e9), '-2 min');
  assert.equal(formatShort((2 * 3600 + 13 * 60 + 59) * 1e9), '2 h 13 min');
  assert.equal(formatShort((3 * 24 + 4) * 3600e9), '3 d 4 h');
  // Rounded up to the next unit, a length has that unit.
  assert.equal(formatShort(59.96e9), '1 min');
  assert.equal(formatShort(999.96e6), '1.000 s');
  assert.equal(formatShort(999.6), '1.000 µs');
});

test('without a chosen unit, a time on the ruler has minutes from a minute on', () => {
  assert.equal(formatTick(59e9, 1e9, 'auto'), '59 s');
  assert.equal(formatTick(600e9, 60e9, 'auto'), '10 min');
  assert.equal(formatTick(469.25e9, 0.25e9, 'auto'), '7 min 49.3 s');
  assert.equal(formatTick(119.99e9, 1e9, 'auto'), '2 min');
  assert.equal(formatTick(-90e9, 10e9, 'auto'), '-1 min 30 s');
  assert.equal(formatTick(600e9, 60e9, 's'), '600 s');
  assert.equal(formatTick(3600e9, 60e9, 'auto'), '1 h');
  assert.equal(formatTick(5400e9, 60e9, 'auto'), '1 h 30 min');
  assert.equal(
    formatTick((12 * 86400 + 23 * 3600 + 46 * 60 + 56) * 1e9, 1e9, 'auto'),
    '12 d 23 h 46 min 56 s',
  );
});

test('versions are written as words', () => {
  assert.equal(versionWords('3'), 'version 3');
  assert.equal(versionWords('0xF3'), 'version 3, streamed (0xF3)');
  assert.equal(versionWords(''), '');
});

test('samples are whole numbers, weights may have fractions', () => {
  assert.equal(formatTime(5000, 'samples'), '5,000');
  assert.equal(formatTimeUnit(1, 'samples'), '1 sample');
  assert.equal(formatTimeUnit(1234, 'samples'), '1,234 samples');
  assert.equal(formatRough(5000, 'samples'), '5,000 samples');
  assert.equal(formatTick(20000, 10000, 'samples'), '20,000 samples');
  assert.equal(unitHead('Incl', 'samples'), 'Incl samples');
  assert.equal(formatTimeUnit(1501, 'thousandths'), '1.501');
  assert.equal(formatTimeUnit(500, 'thousandths'), '0.500');
});

test('a ruler of weights says what they count, unless its marks do', () => {
  const words = (unit: string): string => axisWords({ axis: 'weight', axis_unit: unit });
  assert.equal(axisWords({ axis: 'real' }), '');
  assert.deepEqual(
    ['bytes', 'nanoseconds', 'samples'].map(words),
    Array(3).fill('weight, not time'),
  );
  assert.equal(words('count'), 'weight (count), not time');
  assert.equal(words(''), 'weights of several units, not time');
});
