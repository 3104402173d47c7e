// SPDX-License-Identifier: Apache-2.0
// The lines of the profile table.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import {
  profileCellText,
  profileColumns,
  figuresOf,
  measureColumns,
  widestProfileText,
} from '../src/model/profileColumns';
import type { ProfileAnswer, Relations } from '../src/model/engine';
import type { Unit } from '../src/base/format';
import {
  axisUnits,
  figureWithUnit,
  scaleOf,
  timeScale,
  usualUnit,
  type Measure,
} from '../src/model/measure';
import { profileSheet } from '../src/model/profileSheet';
import { sheetText } from '../src/model/sheet';
import { Frames } from '../src/model/names';
import {
  orderOfMeasure,
  rankedMethods,
  relationLines,
  sortMethods,
  profileLines,
  WAITS,
} from '../src/model/profileRows';
import { FRAMES } from './fixtures';

const frames = new Frames(FRAMES);
/** frame, calls, recursive, incl real, excl real, incl CPU, excl CPU */
const ANSWER: ProfileAnswer = {
  total_real_ns: 10e6,
  total_cpu_ns: 8e6,
  rows: [
    [0, 1, 0, 10e6, 1e6, 8e6, 1e6],
    [1, 3, 4, 9e6, 4e6, 7e6, 4e6],
    [2, 50, 0, 3e6, 3e6, 3e6, 3e6],
    [3, 2, 0, 3e6, 2e6, 3e6, 0],
  ],
  waits: { calls: 5, real_ns: 2e6 },
};
const RELATIONS: Relations = {
  parents: [[0, 3, 7, 9e6, 7e6]],
  children: [[2, 50, 50, 3e6, 3e6]],
  recursive_parents: [[1, 4, 7, 2e6, 2e6]],
  recursive_children: [],
  self: [4e6, 4e6],
  recursive_self: [1e6, 1e6],
};

test('a clock that the trace lacks has no columns', () => {
  assert.equal(profileColumns({ clocks: ['real', 'cpu'] }).length, 12);
  assert.deepEqual(
    profileColumns({ clocks: ['cpu'] }).map((c) => c.id),
    ['name', 'incl_cpu_pct', 'incl_cpu', 'excl_cpu_pct', 'excl_cpu', 'calls', 'cpu_per_call'],
  );
});

test('a profile without counted calls has no columns for them', () => {
  const sampled = { clocks: ['real'] as const, sampled: { interval_ns: 1e6, inferred: false } };
  const ids = ['name', 'incl_real_pct', 'incl_real', 'excl_real_pct', 'excl_real'];
  assert.deepEqual(
    profileColumns(sampled).map((c) => c.id),
    ids,
  );
});

test('cells: share of the sum over threads, time, calls+recursions, time per call', () => {
  const f = figuresOf([1, 3, 4, 9e6, 4e6, 7e6, 4e6]);
  const text = profileColumns({ clocks: ['real', 'cpu'] })
    .slice(1)
    .map((c) => profileCellText(f, c, ANSWER, timeScale('ms')));
  assert.deepEqual(text, [
    '87.5',
    '7.000',
    '50.0',
    '4.000',
    '90.0',
    '9.000',
    '40.0',
    '4.000',
    '3+4',
    '1.000',
    '1.286',
  ]);
});

test('the rank follows inclusive CPU time, whatever the order, and waits have none', () => {
  const methods = rankedMethods(ANSWER, frames);
  const byCalls = sortMethods(methods, { column: 'calls', descending: true }, frames);
  assert.deepEqual(
    byCalls.map((m) => [m.frame, m.rank]),
    [
      [2, 4],
      [1, 2],
      [WAITS, 0],
      [3, 3],
      [0, 1],
    ],
  );
});

test('without a CPU clock the rank follows wall time', () => {
  const answer: ProfileAnswer = {
    total_real_ns: 5,
    total_cpu_ns: null,
    waits: null,
    rows: [
      [0, 1, 0, 4, 4, null, null],
      [1, 1, 0, 5, 5, null, null],
    ],
  };
  assert.deepEqual(
    rankedMethods(answer, frames).map((m) => m.rank),
    [2, 1],
  );
});

test('ties are ordered by name, also in reverse', () => {
  const methods = rankedMethods(ANSWER, frames);
  const names = (descending: boolean): number[] =>
    sortMethods(methods, { column: 'incl_cpu', descending }, frames).map((m) => m.frame);
  assert.deepEqual(
    names(true),
    [0, 1, 3, 2, WAITS],
    'com.acme.Work.idle before java.util.HashMap.get',
  );
  assert.deepEqual(names(false), [WAITS, 3, 2, 1, 0]);
});

test('the name column sorts upwards first', () => {
  const methods = rankedMethods(ANSWER, frames);
  const sorted = sortMethods(methods, { column: 'name', descending: false }, frames);
  assert.deepEqual(
    sorted.map((m) => m.frame),
    [WAITS, 0, 3, 1, 2],
  );
});

test('an opened method shows its groups, and children begin with self', () => {
  const sorted = sortMethods(
    rankedMethods(ANSWER, frames),
    { column: 'incl_cpu', descending: true },
    frames,
  );
  const lines = profileLines(sorted, new Map([[1, RELATIONS]])).slice(1, 11);
  const words = lines.map((l) =>
    l.kind === 'method'
      ? `method ${l.frame}`
      : l.kind === 'pending'
        ? 'pending'
        : l.kind === 'group'
          ? l.group
          : `${l.kind} ${l.frame}`,
  );
  assert.deepEqual(words, [
    'method 1',
    'parents',
    'relation 0',
    'children',
    'self 1',
    'relation 2',
    'recursive_parents',
    'relation 1',
    'recursive_children',
    'self 1',
  ]);
});

test('a method that never recurses has no groups for it, and a pending answer says so', () => {
  const sorted = sortMethods(
    rankedMethods(ANSWER, frames),
    { column: 'incl_cpu', descending: true },
    frames,
  );
  const plain: Relations = { ...RELATIONS, recursive_parents: [], recursive_self: [0, 0] };
  const groups = profileLines(sorted, new Map([[1, plain]])).filter((l) => l.kind === 'group');
  assert.equal(groups.length, 2);
  assert.equal(profileLines(sorted, new Map([[0, null]]))[1]?.kind, 'pending');
});

test('a group whose calls are nested is marked, as its shares pass 100 %', () => {
  const owner = { frame: 1, figures: figuresOf([1, 3, 4, 9e6, 4e6, 7e6, 4e6]), rank: 1 };
  const marked = (relations: Relations): string[] =>
    relationLines(owner, relations).flatMap((line) =>
      line.kind === 'group' && line.exceeds ? [line.group] : [],
    );
  assert.deepEqual(marked(RELATIONS), []);
  // Two levels of recursion, each nearly as long as the outermost call.
  const nested: Relations = { ...RELATIONS, recursive_parents: [[1, 4, 7, 16e6, 12e6]] };
  assert.deepEqual(marked(nested), ['recursive_parents']);
  // Also in one clock alone.
  const single: Relations = { ...RELATIONS, recursive_children: [[2, 4, 7, 0, 6.5e6]] };
  assert.deepEqual(marked(single), ['recursive_children']);
});

test('copied rows have tabs and newlines, a head and plain numbers', () => {
  const methods = sortMethods(
    rankedMethods(ANSWER, frames),
    { column: 'incl_cpu', descending: true },
    frames,
  );
  const lines = sheetText(
    profileSheet(
      methods.slice(0, 2),
      profileColumns({ clocks: ['real', 'cpu'] }),
      ANSWER,
      frames,
      timeScale('us'),
    ),
    'tsv',
  ).split('\n');
  assert.equal(lines[0]?.split('\t')[2], 'Incl CPU us');
  assert.equal(
    lines[1],
    [
      ...['com.acme.Main.main (String[]) void', '100.0', '8000.000', '12.5', '1000.000'],
      ...['100.0', '10000.000', '10.0', '1000.000', '1+0', '8000.000', '10000.000'],
    ].join('\t'),
  );
  assert.equal(lines.length, 4);
});

test('exports have whole nanoseconds and escape awkward names', () => {
  const odd = new Frames([['a"b', 'x,y|z', '()V', 'F.java', 1, 1]]);
  const methods = rankedMethods(
    {
      total_real_ns: 5,
      total_cpu_ns: null,
      waits: null,
      rows: [[0, 1, 0, 5, 5, null, null]],
    },
    odd,
  );
  const sheet = profileSheet(
    methods,
    profileColumns({ clocks: ['real'] }),
    ANSWER,
    odd,
    timeScale('ms'),
  );
  const [head, line] = sheetText(sheet, 'csv').split('\r\n');
  assert.match(head ?? '', /^class,method,signature,source,calls,recursive_calls,incl_real_ns,/);
  assert.equal(line, '"a""b","x,y|z",()V,F.java:1,1,0,5,5,,');
  assert.deepEqual(JSON.parse(sheetText(sheet, 'json')), [
    {
      class: 'a"b',
      method: 'x,y|z',
      signature: '()V',
      source: 'F.java:1',
      calls: 1,
      recursive_calls: 0,
      incl_real_ns: 5,
      excl_real_ns: 5,
      incl_cpu_ns: null,
      excl_cpu_ns: null,
    },
  ]);
  const table = sheetText(sheet, 'markdown').split('\n');
  assert.match(table[2] ?? '', /^\| `a"b\.x,y\\\|z \(\) void` \|/);
});

test('a value of samples has one unit: times, KiB, MiB, or a number with its name', () => {
  const heads = (unit: string, most: number, figure: number, time: 'us' | 'ms' = 'ms'): string => {
    const measure: Measure = { of: 'weight', name: 'alloc', unit };
    return figureWithUnit(scaleOf(measure, time, most), figure);
  };
  assert.equal(heads('nanoseconds', 5e9, 1_500_000), '1.500 ms');
  assert.equal(heads('milliseconds', 9, 2, 'us'), '2,000.000 µs');
  assert.equal(heads('bytes', 27_213_312, 1_024_400), '0.98 MiB');
  assert.equal(heads('bytes', 27_213, 999), '1.0 KiB');
  assert.equal(heads('bytes', 999, 999), '999 bytes');
  assert.equal(heads('KiB', 2, 1), '1.0 KiB');
  assert.equal(heads('bytes', 2e6, -17_000), '-0.02 MiB');
  assert.equal(heads('count', 9, 1234), '1,234 alloc');
  assert.equal(heads('objects', 9, 3), '3 objects');
  assert.equal(heads('', 9, 3), '3 of weight');
});

test('an axis of weights has their unit, not times', () => {
  const axis = (axis_unit: string, end_ns = 0): [Unit, number] => {
    const facts = { axis: 'weight' as const, axis_unit, end_ns };
    return [usualUnit(facts), axisUnits(facts).length];
  };
  assert.deepEqual(axis('bytes', 3_000_000), ['MiB', 4]);
  assert.deepEqual(axis('bytes', 1023), ['bytes', 4]);
  assert.deepEqual(axis('nanoseconds', 1e9), ['auto', 5]);
  // The page does not know what one of these is on the axis; "": several value types differ.
  for (const unit of ['', 'count', 'microseconds', 'KiB'])
    assert.deepEqual(axis(unit, 9), ['weight', 1]);
});

test('a profile of samples has no columns of calls and is sorted by its own', () => {
  const measure: Measure = { of: 'weight', name: 'alloc_space', unit: 'bytes' };
  const answer: ProfileAnswer = {
    ...{ total_real_ns: 4000, total_cpu_ns: null, waits: null, measure },
    rows: [[0, 3, 5, 3000, 1000, null, null]],
  };
  const columns = measureColumns('weight', { clocks: ['real', 'cpu'] });
  const sheet = profileSheet(
    rankedMethods(answer, frames),
    columns,
    answer,
    frames,
    scaleOf(measure, 'ms', 4000),
  );
  assert.deepEqual(sheetText(sheet, 'tsv').split('\n').slice(0, 2), [
    'Name\tTotal %\tTotal KiB\tSelf %\tSelf KiB\tSamples',
    'com.acme.Main.main (String[]) void\t75.0\t2.9\t25.0\t1.0\t3',
  ]);
  assert.match(
    sheetText(sheet, 'csv'),
    /^class,function,signature,source,samples,total,self\r\n.*,3,3000,1000/,
  );
  const byCpu = { column: 'excl_cpu', descending: true } as const;
  assert.equal(orderOfMeasure(byCpu, 'weight').column, 'excl_real');
  assert.equal(orderOfMeasure(byCpu, 'calls').column, 'excl_cpu');
});

test('a column is as wide as its largest number, calls as their longest pair', () => {
  const text = (id: string): string => {
    const column = profileColumns({ clocks: ['real', 'cpu'] }).find((c) => c.id === id);
    assert(column);
    return widestProfileText(ANSWER, column, timeScale('ms'));
  };
  assert.equal(text('incl_real'), '10.000');
  assert.equal(text('excl_cpu'), '4.000');
  assert.equal(text('real_per_call'), '10.000');
  assert.equal(text('calls'), '50/50');
});
