// SPDX-License-Identifier: Apache-2.0
// The state in the page's address.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { readAddress, writeAddress, type PageState } from '../src/model/address';

const USUAL: PageState = {
  files: null,
  filter: '',
  base: [],
  more: [],
  compare: {
    view: 'table',
    width: 'larger',
    by: 'method',
    figure: 'excl',
    changed: false,
    sort: null,
  },
  pairing: null,
  view: null,
  range: null,
  tracks: [],
  frame: null,
  call: null,
  slice: null,
  pinned: null,
  mark: null,
  tab: null,
  clock: null,
  sort: null,
  unit: null,
  find: '',
  onlyFound: false,
  openMethods: null,
  openDown: null,
  openUp: null,
  search: '',
  sql: { text: '', chart: null, track: false },
  searchIn: ['names', 'categories', 'args'],
  matchCase: false,
  regex: false,
  hits: null,
  by: null,
  states: null,
  figures: null,
  findings: { sort: null, open: null },
  displayFrames: { sort: null, open: null },
  health: { sort: null, open: null },
  flame: 'left-heavy',
  zoom: null,
  fold: false,
  compensate: false,
  transforms: [],
  apart: false,
  tree: null,
  expanded: null,
  closed: [],
  folds: [],
  arrangement: { pinned: [], hidden: [], moves: [] },
  only: '',
  rows: { order: 'usual', active: false },
  notes: [],
  flameOf: null,
  value: '',
  flows: { selection: true, categories: [] },
  counters: new Map(),
  overlays: new Map(),
  hold: true,
};

test('defaults are left out of the address', () => {
  assert.equal(writeAddress(USUAL), '');
  assert.deepEqual(readAddress(''), USUAL);
});

test('every part of the state can be read back from the address', () => {
  const place: PageState = {
    files: [
      { input: 0, offset: 0n },
      { input: 3, offset: -(2n ** 60n) },
    ],
    filter: 'thread:"a b" -name:%20 dur>2ms',
    base: [
      [
        { input: 4, offset: 0n },
        { input: 6, offset: 70n },
      ],
      [{ input: 5, offset: 0n }],
    ],
    more: [[{ input: 1, offset: 0n }]],
    compare: {
      view: 'flame',
      width: 'base',
      by: 'class',
      figure: 'incl',
      changed: true,
      sort: { column: 'calls', descending: true },
    },
    pairing: { shift: -1500, at: { row: 3, index: 17 } },
    rows: { order: 'busiest', active: true },
    view: { from: -120, to: 5e9 },
    range: { from: 10, to: 2 ** 52 },
    tracks: [0, 7],
    frame: 33,
    call: { row: 4, index: 70000 },
    slice: null, // the page writes `call`
    pinned: { row: 0, index: 3 },
    mark: { kind: 'snapshot', number: 5 },
    tab: 'flame',
    clock: 'cpu',
    sort: { column: 'excl_real_pct', descending: false },
    unit: 'us',
    find: 'a=b&c #ü',
    onlyFound: true,
    openMethods: [3, 36, 70000],
    openDown: '5k(7*,9(2))',
    openUp: '',
    search: 'Layout,<init>',
    sql: {
      text: "-- a\nselect 'é&=%' from slice;",
      chart: { kind: 'lines', column: 12 },
      track: true,
    },
    searchIn: ['names', 'args'],
    matchCase: true,
    regex: true,
    hits: { column: 'name', descending: true },
    by: { column: 'p95', descending: false },
    states: { by: 'cpu', column: 'cpu3', descending: false },
    figures: { column: 'rate_per_s', descending: true },
    findings: { sort: { column: 'start', descending: true }, open: ['slow-frame', 'looked-for'] },
    displayFrames: { sort: { column: 'late', descending: true }, open: ['process-3'] },
    health: { sort: null, open: [] },
    flame: 'inverted',
    zoom: { path: 12, frame: 3 },
    fold: true,
    apart: true,
    compensate: true,
    transforms: [
      { word: 'focus', name: 'com.app.Main.run(I)V' },
      { word: 'collapse-package', name: 'std' },
      { word: 'drop', name: 'std::a<b, c>:d & e=f' },
    ],
    tree: { column: 'excl_cpu', descending: false },
    expanded: [1, 2],
    closed: [0, 3],
    folds: ['counter.0', 'objects.-1'],
    arrangement: {
      pinned: ['t3', 'n7'],
      hidden: ['p-1', 'counter.-1'],
      moves: [
        { what: 'c2', before: 'lanes.4' },
        { what: 'p1', before: '' },
      ],
    },
    only: 'a,b=c',
    notes: [
      { from: -5, to: 2 ** 52, text: '' },
      { from: 1, to: 2, text: 'a~b&c=, ü' },
    ],
    flameOf: 'time',
    value: 'alloc space,&=ü',
    flows: { selection: false, categories: [0, 12] },
    counters: new Map([[3, 'overlap' as const]]),
    overlays: new Map([[3, 7]]),
    hold: false,
  };
  assert.deepEqual(readAddress(writeAddress(place)), place);
  const counter: PageState = {
    ...place,
    mark: { kind: 'counter', number: 3, series: 1, at: -2500000 },
  };
  assert.deepEqual(readAddress(writeAddress(counter)), counter);
});

test('all tracks collapsed differs from no statement about tracks', () => {
  const text = writeAddress({ ...USUAL, expanded: [] });
  assert.deepEqual(readAddress(text).expanded, []);
});

test('arrows of the selection and by category are chosen separately', () => {
  const flows = (selection: boolean, categories: number[]): string =>
    writeAddress({ ...USUAL, flows: { selection, categories } });
  assert.equal(flows(true, [2, 5]), 'flows=2,5');
  assert.equal(flows(false, []), 'flows=none');
  assert.deepEqual(readAddress('flows=none,3').flows, { selection: false, categories: [3] });
});

test('a link that the page does not write itself names a call by its id', () => {
  const place = readAddress('slice=4711&tab=flame');
  assert.equal(place.slice, 4711);
  assert.equal(writeAddress(place), 'tab=flame');
  for (const text of ['', '-1', '1e3', 'x', '9'.repeat(16)])
    assert.equal(readAddress(`slice=${text}`).slice, null, text);
});

test('an invalid link gives the default state', () => {
  const nonsense =
    'view=9-3&range=x&threads=-1,a&method=1e3&call=7&tab=nope&clock=moon&sort=evil.down&' +
    'by=evil.up&in=all&case=2&unit=h&flame=up&open=,&base=x/&new=-1&compare=path,evil.up,figure';
  assert.deepEqual(readAddress(nonsense), { ...USUAL, expanded: [] });
});

test('an invalid table of states gives the default one', () => {
  for (const text of ['', 'cpu', 'thread.running.up', 'state.<b>.up'])
    assert.equal(readAddress(`states=${encodeURIComponent(text)}`).states, null, text);
});
