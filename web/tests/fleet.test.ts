// SPDX-License-Identifier: Apache-2.0
// The page of the fleet: its choices and the chart of a trend.
import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import {
  changeText,
  deviationText,
  exemplarHash,
  figureText,
  labelOf,
  labelValues,
  lastChange,
  methodAlone,
  sortChanged,
  sparkPath,
  trendChart,
  typicalTrace,
  usualUnit,
  valuesOf,
  versionsOf,
} from '../src/fleet/model';

const row = (version: string | null, device: string | null) => ({
  ...{ version, device, scenario: null, traces: 1 },
});

test('fleet: versions keep their order, labels are sorted, and missing ones are left out', () => {
  const rows = [row('1.10', 'b'), row('1.9', 'a'), row('1.10', null), row(null, 'b')];
  assert.deepEqual(versionsOf(rows), ['1.10', '1.9']);
  assert.deepEqual(valuesOf(rows, 'device'), ['a', 'b']);
  assert.deepEqual(valuesOf(rows, 'scenario'), []);
});

test('fleet: figures are in the unit of most traces, and calls in none', () => {
  const label = (name: string, value: string, traces: number) => ({ label: name, value, traces });
  const rows = [label('host', 'a', 9), label('unit', 'bytes', 2), label('unit', 'ns', 5)];
  assert.equal(usualUnit(rows), 'ns');
  assert.equal(usualUnit([]), '');
  assert.deepEqual(labelValues(rows, 'unit'), ['bytes', 'ns']);
  assert.deepEqual(
    ['ns', 'bytes'].map((unit) => figureText('excl', 2_500_000, unit)),
    ['2.500 ms', '2,500,000 bytes'],
  );
  assert.equal(figureText('calls', 3, 'bytes'), '3');
});

test('fleet: a label has quotes if its value would end too early or lose blanks', () => {
  const values = ['v30 beta', 'a=b', 'lab os=14', ' x', 'x ', '"x"', ''];
  assert.deepEqual(
    values.map((value) => labelOf('k', value)),
    ['k=v30 beta', 'k=a=b', 'k="lab os=14"', 'k=" x"', 'k="x "', 'k=""x""', 'k='],
  );
});

test('fleet: changes that are hardly chance come first, the largest of either kind before others', () => {
  const method = (key: string, base: number, fresh: number | null, p: number | null) => ({
    ...{ key, base, new: fresh, change: null, low: null, high: null, p },
  });
  const rows = [
    method('noise', 900, 990, 0.9),
    method('sure', 100, 110, 0.01),
    method('unknown', 500, null, null),
    method('surer', 100, 80, 0.001),
  ];
  assert.deepEqual(
    sortChanged(rows).map(({ key }) => key),
    ['surer', 'sure', 'unknown', 'noise'],
  );
});

test('fleet: changes are percentages up to ten times', () => {
  assert.deepEqual([1.25, -1.25, -0.04, null].map(deviationText), ['1.3', '−1.3', '0.0', '–']);
  assert.equal(changeText(0.05), '+5.0 %');
  assert.equal(changeText(-0.5), '−50.0 %');
  assert.equal(changeText(11), '× 12.0');
  assert.deepEqual([0.0004, -0.0004, -0.0006].map(changeText), ['0.0 %', '0.0 %', '−0.1 %']);
  assert.equal(changeText(null), '–');
});

test('fleet: a trend has its band and its change points at their versions', () => {
  const rows = ['1', '2'].map((version) => ({ version, traces: 3, low: 1, median: 2, high: 3 }));
  const points = ['2', '9'].map((version) => ({ method: 'm', version, change: 0.3 }));
  const chart = trendChart('m', { figure: 'calls', unit: 'ns' }, rows, points);
  assert.deepEqual(chart.marks, [{ at: 1, label: '+30.0 %' }]);
  assert.deepEqual(
    chart.band?.map((i) => chart.series[i]?.values),
    [
      [1, 1],
      [3, 3],
    ],
  );
  assert.equal(chart.x.text?.(1), '2');
  assert.equal(chart.x.named, true);
});

test('fleet: a link names the longest call by its id, or searches where there are only samples', () => {
  const trace = { uri: '', label: null, figure: 1, deviations: null };
  assert.equal(exemplarHash({ ...trace, slice: 7 }, 'a.B.c'), 'tab=profile&slice=7');
  assert.equal(exemplarHash({ ...trace, slice: null }, 'a.B.c'), 'tab=profile&search=c');
  assert.match(exemplarHash({ ...trace, slice: null }, 'a.B.c (La.b;)V'), /search=c$/);
});

test('fleet: the typical trace is the uploaded one next to the median of all', () => {
  const uri = (i: number): string => String(i).repeat(32);
  const row = (uri: string, figure: number) => ({
    ...{ uri, figure, label: null, deviations: null, slice: 1 },
  });
  const rows = [row(uri(1), 1), row('run.trace', 5), row(uri(2), 9), row(uri(3), 6), row('b', 2)];
  assert.equal(typicalTrace(rows)?.uri, uri(3));
  assert.equal(typicalTrace([row('run.trace', 5)]), null);
});

test('fleet: the last change point of a method is that of the latest version', () => {
  const point = (method: string, version: string) => ({ method, version, change: 0.1 });
  const points = [point('a', '1.10'), point('a', '1.9'), point('b', '1.11')];
  const versions = ['1.8', '1.9', '1.10', '1.11'];
  assert.equal(lastChange(points, versions, 'a')?.version, '1.10');
  assert.equal(lastChange(points, versions, 'c'), null);
});

test('fleet: a method of one version has its latest median, and no change', () => {
  const { key, base, change, ...row } = methodAlone({ method: 'a', medians: '3,7' });
  assert.deepEqual([key, base, row.new, change], ['a', null, 7, null]);
  assert.equal(methodAlone({ method: 'a', medians: '3,' }).new, null);
});

test('fleet: a line of medians has gaps, and lies in the middle if nothing changes', () => {
  assert.equal(sparkPath('1,3,,2', 30, 10), 'M0.0 10.0L10.0 0.0M30.0 5.0');
  assert.equal(sparkPath('4,4', 30, 10), 'M0.0 5.0L30.0 5.0');
  assert.equal(sparkPath('', 30, 10), '');
  assert.equal(sparkPath('0,0', 30, 10), 'M0.0 5.0L30.0 5.0');
});

test('fleet: a line of medians shows noise smaller than a step', () => {
  // The box is at least a quarter of 100 high, so 10 points are 10 / 25 of it: 4.
  assert.equal(sparkPath('90,100', 30, 10), 'M0.0 7.0L30.0 3.0');
  assert.equal(sparkPath('60,100', 30, 10), 'M0.0 10.0L30.0 0.0');
});
