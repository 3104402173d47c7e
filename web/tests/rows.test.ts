// SPDX-License-Identifier: Apache-2.0
// Rows that are no tracks, lines that stand for many, and figures of memory as a tree.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import type { NonSliceRows } from '../src/model/nonSliceEvents';
import type { CounterFacts } from '../src/model/engine';
import { layoutTimeline, type LayoutOptions, type TimelineLayout } from '../src/model/layout';
import { memoryColumns, memoryTree, type MemoryNode } from '../src/model/memoryTree';
import {
  chartKey,
  UNFOLDED_ROWS,
  foldOfTrack,
  foldRows,
  timelineRows,
  type Row,
} from '../src/model/rows';
import { CPUS, activeThreads, allThreads } from '../src/model/states';
import { theme, track } from './fixtures';

const { heights } = theme();

function counter(number: number, process: number): CounterFacts {
  return {
    ...{ counter: number, name: `c${number}`, category: '', process, series: ['a'] },
    ...{ samples: 1, low: 0, high: 1, bounds: [[0, 1]], last_ns: 0, colour: 0 },
  };
}

function objects(row: number, process: number, lanes: number): NonSliceRows['objects'][number] {
  return { row, type: `T${row}`, process, objects: lanes, snapshots: 0, lanes };
}

const NOTHING: NonSliceRows = {
  objects: [],
  samples: [],
  memory_dumps: [],
  display_frames: [],
  threads: [],
};

const SHUT: LayoutOptions = { expanded: new Set(), whole: new Set(), closed: new Set() };

/** Everything from the top down, by a word each. */
function order(placed: TimelineLayout): string {
  return [
    ...placed.groups.map((g) => ({ top: g.top, word: `P${g.process}` })),
    ...placed.rows.map((b) => ({ top: b.top, word: b.row.key })),
    ...placed.tracks.map((b) => ({ top: b.top, word: `${b.track.kind[0]}${b.track.track}` })),
  ]
    .sort((a, b) => a.top - b.top)
    .map(({ word }) => word)
    .join(' ');
}

test('rows are in their process: those of a thread below its slices, async ones below all threads', () => {
  const tracks = [
    track(0),
    track(1, { kind: 'overflow', thread: 0 }),
    track(2, { kind: 'async', thread: 0 }),
    track(3, { thread: 3, process: 1 }),
  ];
  const beside: NonSliceRows = {
    objects: [objects(0, 0, 2)],
    samples: [
      { thread: 0, process: 0, samples: 5 },
      { thread: 9, process: 0, samples: 1 },
    ],
    memory_dumps: [{ process: 1, dumps: 1 }],
    display_frames: [{ process: 1, frames: 3, late: 1 }],
    threads: [{ thread: 9, thread_id: 99, name: 'lone', process: 0, instants: 2 }],
  };
  const rows = timelineRows(beside, [counter(0, 0)], tracks);
  const placed = layoutTimeline({ order: 'owner', processes: [], tracks }, SHUT, heights, rows);
  assert.equal(order(placed), 'P0 t0 o1 s0 u9 s9 a2 c0 lanes.0 P1 v1 t3 d1');
  // Nothing lies over anything else.
  const boxes = [...placed.groups, ...placed.rows, ...placed.tracks].sort((a, b) => a.top - b.top);
  const over = boxes.filter((box, i) => box.top + box.height > (boxes[i + 1]?.top ?? Infinity));
  assert.equal(over.length, 0);
  assert.equal(placed.threads.get(0)?.top, placed.tracks[0]?.top);
  assert.equal(placed.threads.get(9)?.top, placed.rows.find((b) => b.row.key === 'u9')?.top);
});

test('processes and threads without slices are at their places, too', () => {
  const tracks = [
    track(0, { thread: 3, process: 1 }),
    track(1, { thread: 5, process: 1 }),
    track(2, { kind: 'async', thread: -1, process: 1 }),
    track(3, { thread: 6, process: 2 }),
  ];
  const lone = (thread: number, process: number) => {
    return { thread, thread_id: thread, name: `lone ${thread}`, process, instants: 2 };
  };
  const beside: NonSliceRows = {
    ...NOTHING,
    samples: [{ thread: 9, process: 1, samples: 1 }],
    memory_dumps: [{ process: 3, dumps: 1 }],
    threads: [lone(4, 1), lone(7, 1), lone(8, 0)],
  };
  const rows = timelineRows(beside, [counter(1, 1), counter(2, -1)], tracks);
  const facts = {
    order: 'owner' as const,
    processes: [],
    tracks,
    standing: { processes: [2, 3, 0, 1], threads: [9, 3, 4, 5, 7, 6, 8] },
  };
  assert.equal(
    order(layoutTimeline(facts, SHUT, heights, rows)),
    'P2 t3 P3 d3 P0 u8 P1 s9 t0 u4 t1 u7 a2 c1 P-1 c2',
  );
});

test('a thread with only async slices is named above them, one with slices is not named again', () => {
  const tracks = [
    track(0, { kind: 'async', thread: 4 }),
    track(1, { kind: 'async', thread: 4 }),
    track(2, { kind: 'async', thread: 5 }),
    track(3, { thread: 6 }),
    track(4, { kind: 'async', thread: 6 }),
    track(5, { kind: 'states', thread: 7 }),
    track(6, { kind: 'async', thread: 7 }),
    track(7, { kind: 'async', thread: -1 }),
  ];
  const idle = [4, 5, 7, 8].map((thread) => {
    return { thread, thread_id: thread, name: `worker ${thread}` };
  });
  const samples = [{ thread: 5, process: 0, samples: 5 }];
  const rows = timelineRows({ ...NOTHING, samples }, [], tracks, idle);
  const placed = layoutTimeline({ order: 'owner', processes: [], tracks }, SHUT, heights, rows);
  assert.equal(order(placed), 'P0 t3 s5 u4 a0 a1 u5 a2 s5 a4 a6 a7');
  const named = rows.map((row) => (row.kind === 'thread' ? row.of.name : row.kind));
  assert.deepEqual(named, ['worker 4', 'worker 5', 'samples']);
  assert.equal(rows[2]?.kind === 'samples' && rows[2].name, 'worker 5');
  // Its instants are drawn where it is named.
  assert.equal(placed.threads.get(4)?.top, placed.rows.find((b) => b.row.key === 'u4')?.top);
  // 4 to 8: two of them have no slices but a track, one has nothing.
  assert.equal(allThreads({ tracks, idle_threads: idle }), 5);
  // Lines of the kernel are no threads.
  const irqs = track(8, { thread: 9, line: true });
  const quiet = { thread: 10, thread_id: 10, name: 'tl', line: true } as const;
  assert.equal(allThreads({ tracks: [...tracks, irqs], idle_threads: [...idle, quiet] }), 5);
  assert.equal(activeThreads([...tracks, irqs]), activeThreads(tracks));
});

test('a closed process hides its rows, and a process may have nothing but rows', () => {
  const rows = timelineRows(NOTHING, [counter(0, 0), counter(1, 4)], [track(0)]);
  const tracks = [track(0)];
  const closed = { ...SHUT, closed: new Set([0]) };
  assert.equal(
    order(layoutTimeline({ order: 'owner', processes: [], tracks }, closed, heights, rows)),
    'P0 P4 c1',
  );
});

test('many counters of a process are one line until it is opened', () => {
  const rows = timelineRows(
    NOTHING,
    Array.from({ length: UNFOLDED_ROWS + 1 }, (_, i) => counter(i, 2)),
    [],
  );
  const shut = foldRows(rows, new Set());
  assert.deepEqual(
    shut.map((row) => row.key),
    ['counter.2'],
  );
  const open = foldRows(rows, new Set(['counter.2']));
  assert.equal(open.length, UNFOLDED_ROWS + 2);
  assert.equal(open[0]?.kind === 'fold' && open[0].count, UNFOLDED_ROWS + 1);
  // As many as that need no line.
  assert.equal(foldRows(rows.slice(1), new Set()).length, UNFOLDED_ROWS);
});

test('counters of several processes fold together, but a single row does not', () => {
  const tracks = [
    track(0),
    track(1, { thread: 1, process: 1 }),
    track(2, { thread: 2, process: 2 }),
  ];
  const owners = [0, 0, 0, 1, 1, 1, 2];
  const counters = owners.map((process, i) => counter(i, process));
  const facts = { order: 'owner' as const, processes: [], tracks };
  const laid = (some: typeof counters): string =>
    order(layoutTimeline(facts, SHUT, heights, timelineRows(NOTHING, some, tracks)));
  assert.equal(laid(counters), 'P0 t0 counter.0 P1 t1 counter.1 P2 t2 c6');
  assert.equal(laid(counters.slice(1)), 'P0 t0 c1 c2 P1 t1 c3 c4 c5 P2 t2 c6');
});

test('a row of many objects shows a few lanes until more are requested', () => {
  const shown = (rows: Row[]): number[] =>
    rows.map((row) => (row.kind === 'objects' ? row.shown : -1));
  const rows = timelineRows({ ...NOTHING, objects: [objects(0, 0, 5), objects(1, 0, 6)] }, [], []);
  assert.deepEqual(shown(foldRows(rows, new Set())), [5, 3]);
  assert.deepEqual(shown(foldRows(rows, new Set(['lanes.1']))), [5, 6]);
});

function drawn(nodes: readonly MemoryNode[], indent = ''): string[] {
  return nodes.flatMap((node) => [
    `${indent}${node.name} ${node.figures.get('size')?.value ?? '-'}`,
    ...drawn(node.children, `${indent}.`),
  ]);
}

test('allocators form a tree, with missing parents added', () => {
  const tree = memoryTree([
    ['v8/main/heap', 'size', 'bytes', 5],
    ['malloc', 'size', 'bytes', 7],
    ['malloc/objects', 'size', 'bytes', 3],
    ['malloc/objects', 'count', 'objects', 2],
    ['v8', 'size', 'bytes', 6],
  ]);
  assert.deepEqual(drawn(tree), ['v8 6', '.main -', '..heap 5', 'malloc 7', '.objects 3']);
});

test('size columns come first, and very deep paths are cut', () => {
  const columns = memoryColumns([
    ['a', 'count', 'objects', 1],
    ['a', 'size', 'bytes', 1],
    ['a', 'effective_size', 'bytes', 1],
  ]);
  assert.deepEqual(columns, ['effective_size', 'size', 'count']);
  let [node] = memoryTree([['x/'.repeat(100000), 'size', 'bytes', 1]]);
  let depth = 0;
  for (; node; node = node.children[0]) depth++;
  assert.equal(depth, 64);
});

test('of many processors two are shown, and the others on request', () => {
  const cpus = (count: number): ReturnType<typeof track>[] =>
    Array.from({ length: count }, (_, i) => track(i, { kind: 'cpu', process: CPUS, thread: -1 }));
  const words = (count: number, folds: string[] = []): string =>
    order(
      layoutTimeline(
        { order: 'owner', processes: [], tracks: [...cpus(count), track(9)] },
        { ...SHUT, folds: new Set(folds) },
        heights,
      ),
    );
  assert.equal(words(3), 'P-2 c0 c1 c2 P0 t9');
  assert.equal(words(4), 'P-2 c0 c1 cpu.-2 P0 t9');
  assert.equal(words(4, ['cpu.-2']), 'P-2 c0 c1 c2 c3 cpu.-2 P0 t9');
  const folds = [0, 1, 2, 3, 9].map((number) => foldOfTrack([...cpus(4), track(9)], number));
  assert.deepEqual(folds, [null, null, 'cpu.-2', 'cpu.-2', null]);
});

test('an async track of many lanes shows a few, and the others on request', () => {
  const lane = (number: number, name: string): ReturnType<typeof track> =>
    track(number, { kind: 'async', name, thread: -1 });
  const tracks = [
    track(0),
    ...[1, 2, 3, 4, 5, 6].map((number) => lane(number, 'load')),
    ...[7, 8, 9, 10, 11].map((number) => lane(number, 'save')),
  ];
  const words = (folds: string[]): string =>
    order(
      layoutTimeline(
        { order: 'owner', processes: [], tracks },
        { ...SHUT, folds: new Set(folds) },
        heights,
      ),
    );
  assert.equal(words([]), 'P0 t0 a1 a2 a3 async.1 a7 a8 a9 a10 a11');
  assert.equal(words(['async.1']), 'P0 t0 a1 a2 a3 a4 a5 a6 async.1 a7 a8 a9 a10 a11');
  const folds = [0, 1, 3, 4, 6, 7, 11, 99].map((number) => foldOfTrack(tracks, number));
  assert.deepEqual(folds, [null, null, null, 'async.1', 'async.1', null, null, null]);
});

test('the stacks of samples are below their ticks, in as many levels as they have', () => {
  const samples = [
    { thread: 0, process: 0, samples: 5, levels: 3 },
    { thread: 1, process: 0, samples: 5 },
  ];
  const rows = timelineRows({ ...NOTHING, samples }, [], [track(0), track(1, { thread: 1 })]);
  const open = new Set([chartKey(0), chartKey(1)]);
  const placed = layoutTimeline(
    { order: 'owner', processes: [], tracks: [] },
    { ...SHUT, folds: open },
    heights,
    rows,
  );
  const high = placed.rows.map(({ row, height }) => [row.key, height]);
  const { collapsed, row, foot } = heights;
  assert.deepEqual(high, [
    ['s0', collapsed + 3 * row + foot],
    ['s1', collapsed],
  ]);
});
