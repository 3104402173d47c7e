// SPDX-License-Identifier: Apache-2.0
// The table of counters: order, texts and export.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import {
  figureLines,
  figuresSheet,
  processText,
  readFigureSort,
  USUAL_FIGURE_SORT,
  writeFigureSort,
  type FigureLine,
  type FigureSort,
  type SeriesFigures,
} from '../src/model/counterFigures';
import type { CounterFacts } from '../src/model/engine';
import { sheetText } from '../src/model/sheet';

const counterOf = (name: string, process: number, ...series: string[]): CounterFacts => ({
  ...{ counter: 0, name, category: '', process, series, samples: 2 },
  ...{ low: 0, high: 9, bounds: series.map(() => [0, 9]), last_ns: 0, colour: 0 },
});

const COUNTERS = [counterOf('mem', 0, 'heap', 'code'), counterOf('=load', -1, 'value')];

/** Figures of a series whose value is always the same; null: it has none. */
const figuresOf = (counter: number, series: number, value: number | null): SeriesFigures => ({
  ...{ counter, series, samples: value === null ? 0 : 1, known_ns: value === null ? 0 : 5000 },
  ...{ first: value, last: value, change: value && 0, rate_per_s: value && 0, mean: value },
  ...{ min: value, min_at_ns: value && 1500, max: value, max_at_ns: value && 1500 },
});

const ANSWER = {
  from_ns: 0,
  to_ns: 5000,
  rows: [figuresOf(0, 0, 1234567.5), figuresOf(0, 1, null), figuresOf(1, 0, 0.25)],
};

const lines = (sort: FigureSort, find = ''): FigureLine[] =>
  figureLines(ANSWER, COUNTERS, [{ name: 'app' }], sort, find);

test('unknown figures come last in either direction', () => {
  const names = (sort: FigureSort): string[] => lines(sort).map((line) => line.name);
  const up = { column: 'mean', descending: false } as const;
  assert.deepEqual(names(up), ['=load', 'mem: heap', 'mem: code']);
  assert.deepEqual(names({ ...up, descending: true }), ['mem: heap', '=load', 'mem: code']);
  assert.deepEqual(names(USUAL_FIGURE_SORT), ['=load', 'mem: code', 'mem: heap']);
});

test('a process without a name has its number where there are several', () => {
  const [load, mem] = lines(USUAL_FIGURE_SORT);
  assert(load && mem);
  const named = { id: 7, name: 'app' };
  const unnamed = { id: 360, name: '' };
  assert.equal(processText([named, unnamed], mem), 'app');
  assert.equal(processText([unnamed, named], { ...mem, process: '' }), 'Process 360');
  assert.equal(processText([unnamed], { ...mem, process: '' }), '');
  assert.equal(processText([named, unnamed], load), '', 'of no process');
});

test('a text is found in the names of counter, series and process', () => {
  const found = (text: string): string[] => lines(USUAL_FIGURE_SORT, text).map((line) => line.name);
  assert.deepEqual(found('heap'), ['mem: heap']);
  assert.deepEqual(found('app'), ['mem: code', 'mem: heap']);
  assert.deepEqual(found('none'), []);
});

test('CSV has the keys and exact values of the command line', () => {
  assert.deepEqual(sheetText(figuresSheet(lines(USUAL_FIGURE_SORT), 'us'), 'csv').split('\r\n'), [
    'process,counter,category,series,samples,known_ns,first,last,change,rate_per_s,mean,min,min_at_ns,max,max_at_ns',
    ",'=load,,value,1,5000,0.25,0.25,0,0,0.25,0.25,1500,0.25,1500",
    'app,mem,,code,0,0,,,,,,,,,',
    'app,mem,,heap,1,5000,1234567.5,1234567.5,0,0,1234567.5,1234567.5,1500,1234567.5,1500',
    '',
  ]);
});

test('TSV has the formatted texts', () => {
  const text = sheetText(figuresSheet(lines({ column: 'max', descending: true }), 'us'), 'tsv');
  assert.equal(
    text.split('\n')[1],
    'app\tmem: heap\t1\t1234568\t1234568\t1234568\t1234568\t1234568\t0\t0\t1.500\t1.500',
  );
});

test('the address restores the sort order', () => {
  const sort = { column: 'rate_per_s', descending: true } as const;
  assert.deepEqual(readFigureSort(writeFigureSort(sort)), sort);
  assert.equal(readFigureSort('name.up'), USUAL_FIGURE_SORT);
  assert.equal(readFigureSort('cost.up'), null);
});
