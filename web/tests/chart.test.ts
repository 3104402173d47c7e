// SPDX-License-Identifier: Apache-2.0
// Charts as data: what they say to screen readers, and how values are counted in a histogram.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import {
  chartWords,
  extremes,
  histogramOf,
  logHistogramOf,
  markTexts,
  type LineChart,
} from '../src/model/chart';

const LINES: LineChart = {
  kind: 'lines',
  title: 'Frames by version',
  x: { name: 'version', text: (at) => `1.${at}` },
  y: { name: 'ms' },
  places: [0, 1, 2],
  series: [
    { name: 'median', values: [5, null, 7.5] },
    { name: 'p90', values: [null, null, null] },
  ],
  marks: [{ at: 1, label: '+20 %' }],
};

test('the description of a line chart names its positions, ranges and marks', () => {
  assert.equal(
    chartWords(LINES),
    'Line chart, Frames by version: 3 places of version from 1.0 to 1.2; median: 5 to 7.5; ' +
      'p90: no values; marks: +20 % at 1.1',
  );
});

test('the marks of an axis have the decimals that one of their unit needs', () => {
  const marks = (...texts: string[]): string[] =>
    markTexts(
      { name: 'ts', text: (at) => texts[at] ?? '' },
      texts.map((_, i) => i),
    );
  assert.deepEqual(marks('0', '50.000 ms', '100.0 ms'), ['0', '50 ms', '100 ms']);
  assert.deepEqual(marks('45.000 ms', '47.500 ms'), ['45.0 ms', '47.5 ms']);
  assert.deepEqual(marks('50.000 ms', '100.0 ms', '100.5 ms'), ['50.0 ms', '100.0 ms', '100.5 ms']);
  assert.deepEqual(marks('500.000 µs', '1.000 ms', '1.500 ms'), ['500 µs', '1.0 ms', '1.5 ms']);
  assert.deepEqual(marks('0', '1.005 s'), ['0', '1.005 s']);
  assert.deepEqual(marks('1,000', '1.5', '0.25 %'), ['1,000', '1.5', '0.25 %']);
});

test('the marks of an axis of names are the names', () => {
  const versions = ['1.0', '2.0', '2.10'];
  const axis = { name: 'version', text: (at: number) => versions[at] ?? '', named: true };
  assert.deepEqual(markTexts(axis, [0, 1, 2]), versions);
});

test('the description of a chart stays short', () => {
  const series = Array.from({ length: 100 }, (_, i) => ({ name: `s${i}`, values: [1] }));
  const words = chartWords({ ...LINES, series, marks: [] });
  assert.match(words, /s7: 1 to 1; 92 more series$/);
  const names = series.map(({ name }) => name.repeat(1000));
  const bars = { kind: 'bars', title: 't', y: { name: 'calls' }, names } as const;
  const told = chartWords({ ...bars, values: names.map(() => null) });
  assert.match(told, /^Bar chart, t: 100 bars of calls; s0s0.*: none; 92 more$/);
  assert.equal(told.length < 1000, true);
});

test('a histogram has round bounds and counts every value once', () => {
  // 0, 1, ... 99 with at most 10 bars: 99 / 9 = 11, so the widths are 20.
  const values = Array.from({ length: 100 }, (_, i) => i);
  assert.deepEqual(histogramOf(values, 10), {
    bounds: [0, 20, 40, 60, 80, 100],
    counts: [20, 20, 20, 20, 20],
  });
  assert.deepEqual(histogramOf([-0.25, 0.1, 0.3], 4), {
    bounds: [-0.4, -0.2, 0, 0.2, 0.4],
    counts: [1, 0, 1, 1],
  });
});

test('a histogram of integers has no bar between two integers', () => {
  assert.deepEqual(histogramOf([3, 3, 4], 40), { bounds: [3, 4, 5], counts: [2, 1] });
});

test('a histogram takes any value that a trace may contain', () => {
  assert.deepEqual(histogramOf([]), { bounds: [], counts: [] });
  assert.deepEqual(histogramOf([null, NaN, Infinity]), { bounds: [], counts: [] });
  assert.deepEqual(histogramOf([7, null, NaN]).counts, [1]);
  for (const values of [
    [-1e300, 1e300],
    [5e-324, 1],
    [0.1, 0.1 + 2 ** -54],
    [1e18, 1e18 + 1e6],
    [-1.7e308, 1.7e308],
  ]) {
    const { bounds, counts } = histogramOf(values);
    assert.equal(
      counts.reduce((a, b) => a + b, 0),
      2,
    );
    assert.equal(bounds.length, counts.length + 1);
    assert.equal(counts.length <= 40, true);
    assert.deepEqual(
      bounds,
      [...bounds].sort((a, b) => a - b),
    );
  }
});

test('the extremes ignore NaN and infinities', () => {
  assert.deepEqual(extremes([null, 3, NaN, -2, Infinity]), [-2, 3]);
  assert.equal(extremes([null]), null);
});

test('the description of a histogram names its fullest bar', () => {
  const { bounds, counts } = histogramOf([1, 2, 2, 3]);
  const x = { name: 'dur' };
  assert.equal(
    chartWords({ kind: 'histogram', title: 'dur', x, y: { name: 'rows' }, bounds, counts }),
    'Histogram, dur: 4 values of dur from 1 to 4; most of them, 2, between 2 and 3',
  );
  assert.equal(
    chartWords({ kind: 'histogram', title: 't', x, y: { name: 'n' }, bounds: [], counts: [] }),
    'Histogram, t: no values of dur',
  );
});

test('crowded values have bars on a logarithmic scale', () => {
  // Nine short ones would share one bar of 40 with the long one at the other end.
  const values = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20_000, null];
  assert.deepEqual(logHistogramOf(values), {
    bounds: [0, 1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700].concat([
      ...[1000, 1500, 2000, 3000, 5000, 7000, 10_000, 15_000, 20_000, 30_000],
    ]),
    counts: [1, 1, 0, 1, 2, 2, 3].concat(new Array<number>(20).fill(0), [1]),
  });
  assert.equal(logHistogramOf([1, 2, 3, 4, 5, 6, 7, 8, 9, 999]), null); // not 1,000 times as much
  assert.equal(logHistogramOf([1, 5000, 6000, 7000, 8000]), null); // equal widths spread them
  assert.equal(logHistogramOf([0, -1, null]), null);
  const wide = logHistogramOf([...new Array<number>(9).fill(1e-9), 1e300]);
  assert.equal(
    wide?.counts.reduce((n, count) => n + count, 0),
    10,
  );
  assert.equal((wide?.bounds.at(-1) ?? 0) > 1e300, true);
});
