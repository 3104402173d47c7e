// SPDX-License-Identifier: Apache-2.0
// Rows of a query as a chart, and as a track of the time line.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { barAt, hasTrack, queryTrack } from '../src/model/queryTrack';
import type { SqlAnswer, SqlType, SqlValue } from '../src/model/sql';
import { chartColumns, MOST_BARS, sqlChart } from '../src/model/sqlChart';

type Columns = SqlAnswer['columns'];

const SLICES: Columns = [
  ['id', 'integer'],
  ['ts', 'integer'],
  ['dur', 'integer'],
  ['name', 'text'],
];

function answerOf(columns: Columns, rows: SqlValue[][]): SqlAnswer {
  return { columns, rows, offset: 0, more: false, cut: 0 };
}

test('a chart draws numbers, the likeliest column first', () => {
  assert.deepEqual(chartColumns(SLICES, 'bars'), [2, 1, 0]);
  // ts is the axis of lines.
  assert.deepEqual(chartColumns(SLICES, 'lines'), [2, 0]);
  assert.deepEqual(chartColumns(SLICES, 'histogram'), [2, 1, 0]);
});

test('rows without a fitting column offer no chart', () => {
  const texts: Columns = [['name', 'text']];
  const one: Columns = [['n', 'integer']];
  const named: Columns = [...texts, ...one];
  for (const kind of ['bars', 'lines', 'histogram'] as const)
    assert.deepEqual(chartColumns(texts, kind), []);
  assert.deepEqual(chartColumns(one, 'lines'), []);
  assert.deepEqual(chartColumns(one, 'bars'), []);
  assert.deepEqual(chartColumns(one, 'histogram'), [0]);
  // A name and a number are no line: nothing is a place.
  assert.deepEqual(chartColumns(named, 'lines'), []);
  assert.equal(sqlChart(texts, [['a']], { kind: 'bars', column: 0 }), null);
});

test('bars have the names and numbers of the rows, in their order', () => {
  const columns: Columns = [
    ['name', 'text'],
    ['n', 'integer'],
  ];
  const rows: SqlValue[][] = [
    ['b', 2],
    [null, null],
    ['\u202ea', '9007199254740993'],
  ];
  const made = sqlChart(columns, rows, { kind: 'bars', column: 1 });
  assert.equal(made?.chart.kind, 'bars');
  if (made?.chart.kind !== 'bars') return;
  assert.deepEqual(made.chart.names, ['b', 'NULL', '\ufffda']);
  assert.deepEqual(made.chart.values, [2, null, 9007199254740992]);
  assert.equal(made.rowOf({ series: 0, index: 2 }), 2);
  const many = Array.from({ length: MOST_BARS + 1 }, (_, i) => [`n${i}`, i]);
  const cut = sqlChart(columns, many, { kind: 'bars', column: 1 });
  assert.match(cut?.chart.title ?? '', /the first 200 rows/);
  assert.equal(cut?.chart.kind === 'bars' && cut.chart.values.length, MOST_BARS);
});

test('lines are sorted by time, one for each of a few names, and link to their rows', () => {
  const rows: SqlValue[][] = [
    [1, 30, 3, 'a'],
    [2, 10, 1, 'b'],
    [3, 20, 2, 'a'],
    [4, null, 9, 'a'],
  ];
  const made = sqlChart(SLICES, rows, { kind: 'lines', column: 2 });
  assert.equal(made?.chart.kind, 'lines');
  if (made?.chart.kind !== 'lines') return;
  assert.deepEqual(made.chart.places, [10, 20, 30]);
  assert.deepEqual(made.chart.series, [
    { name: 'b', values: [1, null, null] },
    { name: 'a', values: [null, 2, 3] },
  ]);
  assert.deepEqual(
    [0, 1, 2].map((index) => made.rowOf({ series: 0, index })),
    [1, 2, 0],
  );
});

test('rows with too many names make one line', () => {
  const rows = Array.from({ length: 13 }, (_, i): SqlValue[] => [i, i, i, `n${i}`]);
  const made = sqlChart(SLICES, rows, { kind: 'lines', column: 2 });
  assert.equal(made?.chart.kind === 'lines' && made.chart.series.length, 1);
});

test('rows of a track are clipped to the trace and put into lanes', () => {
  const answer = answerOf(SLICES, [
    [1, -50, 60, 'before'],
    [2, 20, 30, 'a'],
    [3, 30, 10, 'inside a'],
    [4, 50, 10, 'b'],
    [5, 90, -1, 'open'],
    [6, 200, 5, 'outside'],
    [7, null, 5, 'nowhere'],
    [8, 60, null, 'without a length'],
  ]);
  const track = queryTrack('select', answer, { from: 0, to: 100 });
  const lanes = track.lanes.map((lane) => lane.map(({ from, to, name }) => [from, to, name]));
  assert.deepEqual(lanes, [
    [
      [0, 10, 'before'],
      [20, 50, 'a'],
      [50, 60, 'b'],
      [90, 100, 'open'],
    ],
    [[30, 40, 'inside a']],
  ]);
  assert.equal(track.bars, 5);
  assert.equal(track.leftOut, 3);
});

test('a track has a few lanes and says what it leaves out', () => {
  const rows = Array.from({ length: 9 }, (_, i): SqlValue[] => [i, i, 100, 'x']);
  const track = queryTrack('select', answerOf(SLICES, rows), { from: 0, to: 1000 });
  assert.equal(track.lanes.length, 6);
  assert.equal(track.leftOut, 3);
});

test('a bar is hit at its time, and a narrow one near it', () => {
  const rows: SqlValue[][] = [
    [1, 10, 0, 'mark'],
    [2, 20, 10, 'bar'],
  ];
  const [lane] = queryTrack('select', answerOf(SLICES, rows), { from: 0, to: 100 }).lanes;
  assert.equal(barAt(lane, 25, 0)?.name, 'bar');
  assert.equal(barAt(lane, 12, 3)?.name, 'mark');
  assert.equal(barAt(lane, 12, 1), null);
  assert.equal(barAt(undefined, 12, 1), null);
});

test('a track needs ts and dur as numbers', () => {
  const column = (name: string, type: SqlType): Columns[number] => [name, type];
  assert.equal(hasTrack(SLICES), true);
  assert.equal(hasTrack([column('TS', 'integer'), column('dur', 'real')]), true);
  assert.equal(hasTrack([column('ts', 'text'), column('dur', 'integer')]), false);
  assert.equal(hasTrack([column('ts', 'integer')]), false);
});
