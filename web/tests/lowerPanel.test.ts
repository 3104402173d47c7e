// SPDX-License-Identifier: Apache-2.0
// What the tabs of the lower panel work out: the list of hits, the table by name, words, bytes.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import type { SearchRow } from '../src/model/eventAnswers';
import { Frames, indexOfMatch, substringMatcher } from '../src/model/names';
import { HitTable } from '../src/model/searchList';
import { sheetText } from '../src/model/sheet';
import {
  statisticsColumns,
  statisticsRows,
  statisticsText,
  type StatisticsRow,
  statisticsSheet,
} from '../src/model/statistics';
import { inTermsOf, countSlices, wordsFor } from '../src/model/words';
import { bytesOfHex, lineStarts, looksLikeText } from '../src/views/details/bytesView';
import { FRAMES } from './fixtures';

const frames = new Frames(FRAMES);

function hit(time: number, length: number, frame: number, name: string | null = null): SearchRow {
  return [1, frame, 7, time, length, 0, 0, frame, name, 1, name && `about ${name}`];
}

test('hits come back as they were stored, however many', () => {
  const hits = new HitTable();
  for (let i = 0; i < 5000; i++) hits.add(hit(i * 2 ** 33, i, i % 4, i % 7 === 0 ? `n${i}` : null));
  assert.equal(hits.count, 5000);
  assert.deepEqual(hits.get(4999), hit(4999 * 2 ** 33, 4999, 3));
  assert.deepEqual(hits.get(7), hit(7 * 2 ** 33, 7, 3, 'n7'));
});

test('hits are ordered by a column, and by time where it is equal', () => {
  const hits = new HitTable();
  [hit(30, 5, 2), hit(10, 7, 1), hit(20, 5, 0), hit(40, 7, 1)].forEach((row) => hits.add(row));
  const order = (column: 'time' | 'length' | 'name', descending: boolean): number[] =>
    [0, 1, 2, 3].sort(hits.comparer({ column, descending }, frames));
  assert.deepEqual(order('time', false), [1, 2, 0, 3]);
  assert.deepEqual(order('time', true), [3, 0, 2, 1]);
  assert.deepEqual(order('length', true), [1, 3, 2, 0]);
  assert.deepEqual(order('name', false), [2, 1, 3, 0]); // Main, Work, Work, HashMap of java
});

const ROWS: StatisticsRow[] = [
  [0, 2, 300, 100, 250, 100, 150, 150, 200, 200, 1],
  [1, 9, 300, 300, null, 10, 33, 20, 90, 90, 0],
  [2, 1, 50, 50, 40, 50, 50, 50, 50, 50, 2],
];

test('the table by name is sorted, then by name, and shows the matches', () => {
  const sorted = (column: 'total' | 'cpu' | 'name', descending: boolean, find = ''): number[] =>
    statisticsRows(ROWS, { column, descending }, find, frames).map((row) => row[0]);
  assert.deepEqual(sorted('total', true), [0, 1, 2]);
  assert.deepEqual(sorted('total', false), [2, 0, 1]);
  assert.deepEqual(sorted('cpu', true), [0, 2, 1], 'what has no CPU time stands last');
  assert.deepEqual(sorted('name', false), [0, 1, 2]);
  assert.deepEqual(sorted('total', true, 'work'), [1]);
});

test('a clock that the trace lacks has no column, and a missing time no text', () => {
  const facts = (clocks: string[]): never => ({ clocks, axis: 'real' }) as never;
  assert.equal(statisticsColumns(facts(['real'])).includes('cpu'), false);
  assert.equal(statisticsColumns(facts(['real', 'cpu'])).includes('cpu'), true);
  assert.equal(statisticsText(ROWS[1] ?? ([] as never), 'cpu', 'ns'), '');
  assert.equal(statisticsText(ROWS[0] ?? ([] as never), 'p95', 'ns'), '200');
  assert.equal(statisticsText(ROWS[0] ?? ([] as never), 'count', 'ms'), '2');
});

test('the table by name can be copied as text', () => {
  const facts = { clocks: ['real'], axis: 'real' } as never;
  const text = (format: 'csv' | 'tsv' | 'json' | 'markdown'): string =>
    sheetText(statisticsSheet(ROWS.slice(0, 1), facts, frames, 'us'), format);
  assert.equal(
    text('csv'),
    'name,count,total_ns,self_ns,min_ns,average_ns,median_ns,p95_ns,max_ns\r\n' +
      'com.acme.Main.main,2,300,100,100,150,150,200,200\r\n',
  );
  assert.equal(
    text('tsv').split('\n')[1],
    'com.acme.Main.main\t2\t0.300\t0.100\t0.100\t0.150\t0.150\t0.200\t0.200',
  );
  assert.deepEqual(JSON.parse(text('json')), [
    {
      ...{ name: 'com.acme.Main.main', count: 2, total_ns: 300, self_ns: 100, min_ns: 100 },
      ...{ average_ns: 150, median_ns: 150, p95_ns: 200, max_ns: 200 },
    },
  ]);
  assert.match(text('markdown'), /^\| Name \| Count \| Real us \|/);
});

test('a file of events has slices and names, a method trace calls and methods', () => {
  const events = wordsFor({ order: 'owner' });
  const methods = wordsFor({ order: 'busiest' });
  assert.equal(countSlices(events, 1), '1 slice');
  assert.equal(countSlices(methods, 2), '2 calls');
  assert.equal(
    inTermsOf(events, 'Calls of the method, call by call'),
    'Slices of the name, slice by slice',
  );
  assert.equal(inTermsOf(events, 'first call inside, caller'), 'first slice inside, parent');
  assert.equal(
    inTermsOf(events, 'Callers: called by its callers'),
    'Parents: children of its parents',
  );
  assert.equal(inTermsOf(methods, 'Calls of the method'), 'Calls of the method');
  assert.equal(inTermsOf(events, 'recalls methodically'), 'recalls methodically');
});

test('case matters on request, or when the text has a capital', () => {
  assert.equal(substringMatcher('work')('Work'), true);
  assert.equal(substringMatcher('work', true)('Work'), false);
  assert.equal(substringMatcher('Work')('work'), false);
  assert.equal(indexOfMatch('a Needle', 'needle'), 2);
  assert.equal(indexOfMatch('a Needle', 'needle', true), -1);
});

test('bytes are shown as lines of text or as rows of sixteen', () => {
  const text = new TextEncoder().encode(`{"a":1},\n{"bb":"${'é'.repeat(100)}"}`);
  assert.equal(looksLikeText(text), true);
  const starts = lineStarts(text, true);
  assert.deepEqual(starts.slice(0, 2), [0, 9]);
  // A line goes on below after 120 bytes, or one more where a character would be taken apart.
  assert.equal(starts[2], 9 + 121);
  const binary = bytesOfHex('00ff0102030405060708090a0b0c0d0e0f10');
  assert.equal(binary.length, 18);
  assert.equal(looksLikeText(binary), false);
  assert.deepEqual(lineStarts(binary, false), [0, 16]);
});
