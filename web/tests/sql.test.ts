// SPDX-License-Identifier: Apache-2.0
// The tab SQL: links of cells, order of rows, completion, kept queries, export.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { sheetText } from '../src/model/sheet';
import {
  asksForSlices,
  completions,
  joinedAnswer,
  linksOf,
  readQueries,
  sortedRows,
  sqlSheet,
  sqlText,
  titleOf,
  withQuery,
  type SqlAnswer,
  type SqlName,
  type SqlValue,
} from '../src/model/sql';

function answer(columns: SqlAnswer['columns'], ...rows: SqlValue[][]): SqlAnswer {
  return { columns, rows, offset: 0, more: false, cut: 0 };
}

test('id is the id of a slice where the first table has slices', () => {
  const cases: [string, boolean][] = [
    ['select * from slice', true],
    ['SELECT id FROM slices s JOIN thread USING (utid)', true],
    ['select id from thread', false],
    ["select 'from slice' from thread -- from slice\n", false],
    ['create temp table t as select 1; select * from slice_in(0, 5)', true],
    ['create temp table t as select * from slice; select * from t', false],
    ['select id from thread_state', false],
  ];
  for (const [text, expected] of cases) assert.equal(asksForSlices(text), expected, text);
});

test('cells link to slices, threads, tracks and times', () => {
  const columns: SqlAnswer['columns'] = [
    ['id', 'integer'],
    ['ts', 'integer'],
    ['dur', 'integer'],
    ['utid', 'integer'],
    ['track_id', 'integer'],
    ['arg_max(s.id, dur)', 'integer'],
    ['name', 'text'],
    ['count_star()', 'integer'],
  ];
  const row = [7, 100, 20, 2, 3, 9, 'draw', 4];
  const links = linksOf('select * from slice s', columns).map((link) => link?.(row) ?? null);
  assert.deepEqual(links, [
    { to: 'slice', id: 7 },
    { to: 'time', from: 100, length: 20 },
    null,
    { to: 'thread', thread: 2 },
    { to: 'track', track: 3 },
    { to: 'slice', id: 9 },
    null,
    null,
  ]);
  const others = linksOf('select * from counter', columns).map((link) => link?.(row) ?? null);
  assert.deepEqual(
    others.map((link) => link?.to),
    [...[undefined, 'time', undefined, 'thread'], ...[undefined, undefined, undefined, undefined]],
  );
  const open = [null, -5, -1, null, null, '9007199254740993', 'x', 1];
  const none = linksOf('select * from slice', columns).map((link) => link?.(open) ?? null);
  assert.deepEqual(none, Array(8).fill(null));
});

test('rows are sorted by numbers or texts, NULL and NaN last', () => {
  const numbers = answer(
    [['n', 'real']],
    [3],
    [null],
    ['nan'],
    [-1],
    ['inf'],
    ['18446744073709551615'],
  );
  const order = (descending: boolean): SqlValue[] =>
    sortedRows(numbers, { column: 0, descending }).map(([n = null]) => n);
  // "inf" is no number of JavaScript: it stands after all, as NaN does.
  assert.deepEqual(order(false).slice(0, 3), [-1, 3, '18446744073709551615']);
  assert.deepEqual(order(false).at(-1), null);
  assert.deepEqual(order(true).at(-1), null);
  const texts = answer([['t', 'text']], ['b'], ['10'], ['9'], ['a']);
  assert.deepEqual(sortedRows(texts, { column: 0, descending: false }).flat(), [
    '10',
    '9',
    'a',
    'b',
  ]);
  assert.deepEqual(sortedRows(texts, null), texts.rows);
});

test('values are short in cells and whole in exports', () => {
  assert.deepEqual([null, 0.1, 1 / 3, 1e-9, 12, true, 'x'].map(sqlText), [
    'NULL',
    '0.1',
    '0.333',
    '1.00000e-9',
    '12',
    'true',
    'x',
  ]);
  const two = answer(
    [
      ['a', 'integer'],
      ['a', 'text'],
    ],
    [1 / 3, '=1+1'],
    ['9007199254740993', null],
  );
  const sheet = sqlSheet(two, two.rows);
  assert.equal(
    sheetText(sheet, 'csv'),
    "a,a_1\r\n0.3333333333333333,'=1+1\r\n9007199254740993,\r\n",
  );
  assert.equal(sheetText(sheet, 'tsv'), "a\ta\n0.3333333333333333\t'=1+1\n9007199254740993\t\n");
  assert.deepEqual(JSON.parse(sheetText(sheet, 'json')), [
    { a: 1 / 3, a_1: '=1+1' },
    { a: '9007199254740993', a_1: null },
  ]);
});

test('arriving parts of the rows are joined', () => {
  const first = { ...answer([['n', 'integer']], [1], [2]), more: true, cut: 1 };
  const next = { ...answer([['n', 'integer']], [3]), offset: 2, cut: 2 };
  const all = { ...answer([['n', 'integer']], [1], [2], [3]), cut: 3 };
  assert.deepEqual(joinedAnswer(first, next), all);
});

test('names are completed, tables first after FROM', () => {
  const names: SqlName[] = [
    { name: 'self_dur', kind: 'column' },
    { name: 'slice', kind: 'table' },
    { name: 'slice_id', kind: 'column' },
    { name: 'slice_in', kind: 'function' },
  ];
  const offered = (text: string): string[] =>
    completions(names, text, text.length).map(({ name }) => name);
  assert.deepEqual(offered('select * from sl'), ['slice', 'slice_id', 'slice_in']);
  assert.deepEqual(offered('select SL'), ['slice_id', 'slice_in', 'slice']);
  assert.deepEqual(offered('select s.s'), ['self_dur', 'slice_id']);
  assert.deepEqual(offered('select slice'), ['slice_id', 'slice_in']);
  assert.deepEqual(offered('select '), []);
});

test('queries are kept by text, the latest first', () => {
  assert.deepEqual(withQuery(['a', 'b', 'c'], 'b', 3), ['b', 'a', 'c']);
  assert.deepEqual(withQuery(['a', 'b'], 'c', 2), ['c', 'a']);
  assert.deepEqual(readQueries('["a", 1, null, "b"]'), ['a', 'b']);
  for (const wrong of [null, '', '{', '{"a":1}', '5']) assert.deepEqual(readQueries(wrong), []);
  assert.equal(titleOf('-- late  frames\nselect 1'), 'late frames');
  assert.equal(titleOf('select\n  1'), 'select 1');
  assert.equal(titleOf(`select ${'x'.repeat(100)}`).length, 70);
});
