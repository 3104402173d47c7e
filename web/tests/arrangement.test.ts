// SPDX-License-Identifier: Apache-2.0
// What is pinned, hidden, moved and found by its name stands where it should.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import {
  hideUnit,
  moveUnit,
  applyMoves,
  readKeys,
  readMoves,
  togglePin,
  UNARRANGED,
  type Arrangement,
} from '../src/model/arrangement';
import type { Process } from '../src/model/traceFacts';
import { boxesIn, layoutTimeline, type TimelineLayout } from '../src/model/layout';
import { counterRow, cpuTracksByName, type Row } from '../src/model/rows';
import { theme, track } from './fixtures';

const { heights } = theme();

const PROCESSES = [
  { id: 7, name: 'app' },
  { id: 8, name: 'gpu' },
] as Process[];

/** Process 0: main (0) with its states (1), disk (2); process 1: raster (3). */
const TRACKS = [
  track(0, { name: 'main' }),
  track(1, { kind: 'states', thread: 0, name: 'main' }),
  track(2, { name: 'disk' }),
  track(3, { name: 'raster', process: 1 }),
];

const MEMORY = counterRow({
  ...{ counter: 4, name: 'memory', category: '', process: 0, series: ['a'] },
  ...{ samples: 1, low: 0, high: 1, bounds: [[0, 1]], last_ns: 0, colour: 0 },
});

function laid(arrangement: Arrangement, only = '', closed: number[] = []): TimelineLayout {
  const opened = { expanded: new Set<number>(), whole: new Set<number>(), closed: new Set(closed) };
  return layoutTimeline(
    { order: 'owner', processes: PROCESSES, tracks: TRACKS },
    { ...opened, arrangement, only },
    heights,
    [MEMORY],
  );
}

/** From the top down, a bar behind what is pinned. */
function order(placed: TimelineLayout): string {
  const words = [
    ...placed.groups.map((g) => ({ top: g.top, word: `P${g.process}` })),
    ...placed.rows.map((b) => ({ top: b.top, word: b.row.key })),
    ...placed.tracks.map((b) => ({ top: b.top, word: String(b.track.track) })),
  ].sort((a, b) => a.top - b.top);
  const pinned = words.filter(({ top }) => top < placed.pinned).map(({ word }) => word);
  const rest = words.slice(pinned.length).map(({ word }) => word);
  return [...pinned, ...(pinned.length > 0 ? ['|'] : []), ...rest].join(' ');
}

const { pinned, hidden, moves } = UNARRANGED;

test('without an arrangement the order is that of the trace', () => {
  assert.equal(order(laid(UNARRANGED)), 'P0 0 1 2 c4 P1 3');
});

test('a pinned item comes first with all its tracks, outside its process', () => {
  assert.equal(order(laid({ hidden, moves, pinned: ['t3', 't0'] })), '3 0 1 | P0 2 c4');
});

test('a pinned item stays visible when its process is closed', () => {
  assert.equal(order(laid({ hidden, moves, pinned: ['t0'] }, '', [0])), '0 1 | P0 P1 3');
});

test('hidden items are counted, a process as one', () => {
  const placed = laid({ pinned, moves, hidden: ['t0', 'p1'] });
  assert.equal(order(placed), 'P0 2 c4');
  assert.equal(placed.hidden, 2);
});

test('items move within their process, processes among each other', () => {
  const down = [
    { what: 't0', before: '' },
    { what: 'p1', before: 'p0' },
  ];
  assert.equal(order(laid({ pinned, hidden, moves: down })), 'P1 3 P0 2 c4 0 1');
});

test('a text keeps items that have it in their name or process name, open or closed', () => {
  assert.equal(order(laid(UNARRANGED, 'mem', [0])), 'P0 c4');
  assert.equal(order(laid(UNARRANGED, '12')), 'P0 2');
  assert.equal(order(laid(UNARRANGED, 'gpu')), 'P1 3');
  assert.equal(order(laid(UNARRANGED, 'Main')), '');
});

test('the counter of a processor is found without its track', () => {
  const cpu = track(0, { kind: 'cpu', thread: -1, name: 'CPU 3', process: -2 });
  const row = counterRow({ ...MEMORY.counter, name: 'CPU 3 Frequency' }, cpuTracksByName([cpu]));
  const facts = { order: 'owner' as const, processes: [], tracks: [cpu] };
  const shut = { expanded: new Set<number>(), whole: new Set<number>(), closed: new Set<number>() };
  assert.equal(order(layoutTimeline(facts, shut, heights, [row])), 'P-2 0 c4');
  assert.equal(order(layoutTimeline(facts, { ...shut, only: 'freq' }, heights, [row])), 'P-2 c4');
});

test('moves apply one after the other, and moves of unknown items change nothing', () => {
  const made = (text: string): string => applyMoves([...'abcd'], (c) => c, steps(text)).join('');
  const steps = (text: string): { what: string; before: string }[] =>
    text.split(' ').map((m) => ({ what: m[0] ?? '', before: m[1] ?? '' }));
  assert.equal(made('da'), 'dabc');
  assert.equal(made('a'), 'bcda');
  assert.equal(made('da ab'), 'dabc');
  assert.equal(made('xa bx'), 'abcd');
});

test('pinning shows a hidden item, hiding unpins it, pinned items move among themselves', () => {
  let a = togglePin(hideUnit(UNARRANGED, 't1'), 't1');
  assert.deepEqual(a, { pinned: ['t1'], hidden: [], moves: [] });
  a = moveUnit(togglePin(a, 't2'), 't2', 't1');
  assert.deepEqual(a, { pinned: ['t2', 't1'], hidden: [], moves: [] });
  assert.deepEqual(hideUnit(a, 't2'), { pinned: ['t1'], hidden: ['t2'], moves: [] });
  assert.deepEqual(togglePin(a, 't2').pinned, ['t1']);
  assert.equal(moveUnit(UNARRANGED, 't1', 't1'), UNARRANGED);
});

test('an address with other parts is valid', () => {
  assert.deepEqual(readKeys('t1,<b>,p-1,t1,,counter.-1'), ['t1', 'p-1', 'counter.-1']);
  assert.deepEqual(readMoves('t1~t2,x,~t1,t3~<,t4~'), [
    { what: 't1', before: 't2' },
    { what: 't4', before: '' },
  ]);
});

test('layout reads the order of threads once, not once for each process', () => {
  const many = Array.from({ length: 500 }, (_, i) => track(i, { process: i, thread: i }));
  let read = 0;
  const standing = {
    processes: many.map((t) => t.process),
    get threads(): number[] {
      read++;
      return many.map((t) => t.thread);
    },
  };
  const facts = { order: 'owner' as const, processes: [], tracks: many };
  const shut = { expanded: new Set<number>(), whole: new Set<number>(), closed: new Set<number>() };
  const placed = layoutTimeline({ ...facts, standing }, shut, heights, []);
  assert.equal(placed.tracks.length, many.length);
  assert.equal(read, 1);
});

test('a thread with rows but no slices comes before the first track that follows it in order', () => {
  const facts = {
    ...{ order: 'owner' as const, processes: PROCESSES, tracks: TRACKS },
    standing: { processes: [0, 1], threads: [9, 0, 8, 7, 2, 3] },
  };
  const shut = { expanded: new Set<number>(), whole: new Set<number>(), closed: new Set<number>() };
  const lone = (thread: number): Row => ({
    ...{ kind: 'thread', key: `u${thread}`, process: 0, thread },
    of: { thread, thread_id: thread, name: '', process: 0, instants: 1 },
  });
  const rows = [6, 7, 8, 9].map(lone);
  assert.equal(order(layoutTimeline(facts, shut, heights, rows)), 'P0 u9 0 1 u8 u7 2 u6 P1 3');
});

test('a search between two heights finds the items inside and those at the edges', () => {
  const boxes = [0, 10, 20, 30].map((top) => ({ top, height: 10 }));
  const tops = (from: number, to: number): number[] => boxesIn(boxes, from, to).map((b) => b.top);
  assert.deepEqual(tops(11, 19), [10]);
  assert.deepEqual(tops(10, 20), [0, 10, 20]);
  assert.deepEqual(tops(-5, 100), [0, 10, 20, 30]);
  assert.deepEqual(tops(41, 50), []);
});
