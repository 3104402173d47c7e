// SPDX-License-Identifier: Apache-2.0
// The tree tables: the bytes of an answer, lines that open, what is asked and when; the exports.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { flushEffects } from '../src/base/signal';
import type { TraceFacts } from '../src/model/traceFacts';
import { timeScale } from '../src/model/measure';
import { Frames } from '../src/model/names';
import { decodeTree, TREE_LINE, type TreeAnswer, type TreeQuestion } from '../src/model/treeAnswer';
import { treeColumns } from '../src/model/treeColumns';
import { TREE_ROOT, TreeLines } from '../src/model/treeLines';
import { treeSheet, type ShownTree } from '../src/model/treeSheet';
import { sheetText } from '../src/model/sheet';
import { TreeStore } from '../src/model/treeStore';
import { Viewer } from '../src/model/viewer';
import { FRAMES, settle, tileEngine, track } from './fixtures';

const frames = new Frames(FRAMES);

/** frame, node, parent, inclusive, self, flags */
type Row = [number, number, number, number, number, number?];

function answer(opened: number[], rows: Row[]): TreeAnswer {
  const times = (at: 3 | 4): Float64Array => Float64Array.from(rows, (row) => row[at]);
  const numbers = (at: 0 | 1 | 2 | 5): Uint32Array => Uint32Array.from(rows, (row) => row[at] ?? 0);
  return {
    count: rows.length,
    opened: Uint32Array.from(opened),
    real: { total: 100, incl: times(3), self: times(4) },
    cpu: null,
    calls: Float64Array.from(rows, (_, k) => k + 1),
    frame: numbers(0),
    node: numbers(1),
    parent: numbers(2),
    flags: numbers(5),
  };
}

/** main 60 with run 40 and get 15 in it; idle 40. */
const ROOT = answer(
  [0],
  [
    [0, 1, 0, 60, 5, TREE_LINE.hasChildren],
    [3, 4, 0, 40, 40],
  ],
);
const MAIN = answer(
  [1],
  [
    [2, 3, 0, 15, 15],
    [1, 2, 0, 40, 30, TREE_LINE.hasChildren],
  ],
);
const RUN = answer([2], [[2, 5, 0, 10, 10]]);

const names = (tree: TreeLines, lines: readonly number[]): string[] =>
  lines.map((line) => '  '.repeat(tree.level[line] ?? 0) + frames.method(tree.frame[line] ?? 0));

const byTime = { column: 'incl_real', descending: true } as const;

function opened(): TreeLines {
  const tree = new TreeLines(false, ROOT);
  tree.add(ROOT, () => TREE_ROOT);
  tree.open(0);
  tree.add(MAIN, () => 0);
  return tree;
}

test('the bytes of an answer are decoded', () => {
  const bytes = new ArrayBuffer(32 + 3 * 8 + 5 * 8);
  const view = new DataView(bytes);
  [...'TVN1'].forEach((c, i) => view.setUint8(i, c.charCodeAt(0)));
  [1, 1, 2].forEach((n, i) => view.setUint32(4 + 4 * i, n, true)); // a line, an opened one, CPU
  view.setFloat64(24, 70, true);
  [50, 20, 3].forEach((n, i) => view.setFloat64(32 + 8 * i, n, true));
  [7, 8, 0, 1, 9].forEach((n, i) => view.setUint32(56 + 8 * i, n, true));
  const tree = decodeTree(bytes);
  assert.equal(tree.real, null);
  assert.equal(tree.cpu?.total, 70);
  assert.deepEqual([tree.cpu?.incl[0], tree.cpu?.self[0], tree.calls[0]], [50, 20, 3]);
  assert.deepEqual([tree.frame[0], tree.node[0], tree.parent[0], tree.flags[0]], [7, 8, 0, 1]);
  assert.deepEqual([...tree.opened], [9]);
});

test('siblings are ordered, and children follow their parent', () => {
  const tree = opened();
  const main = ['main', '  run', '  get', 'idle'];
  assert.deepEqual(names(tree, tree.shown(byTime, frames)), main);
  const up = { column: 'incl_real', descending: false } as const;
  assert.deepEqual(names(tree, tree.shown(up, frames)), ['idle', 'main', '  get', '  run']);
  const named = { column: 'name', descending: false } as const;
  assert.deepEqual(names(tree, tree.shown(named, frames)), ['main', '  run', '  get', 'idle']);
  tree.close(0);
  assert.deepEqual(names(tree, tree.shown(byTime, frames)), ['main', 'idle']);
  assert.equal(tree.isOpen(1), null);
  assert.equal(tree.most('excl_real'), 40);
});

test('known lines stay, and all lines below arrive level by level', () => {
  const tree = opened();
  const all = answer(
    [1],
    [
      [2, 3, 0, 15, 15],
      [1, 2, 0, 40, 30, TREE_LINE.hasChildren | TREE_LINE.opened],
      [2, 5, 2, 10, 10],
    ],
  );
  tree.add(all, () => 0);
  assert.equal(tree.count, 5);
  assert.deepEqual(names(tree, tree.shown(byTime, frames)), [
    'main',
    '  run',
    '    get',
    '  get',
    'idle',
  ]);
  assert.equal(tree.childOf(0, 1), 3);
  assert.equal(tree.childOf(0, 9), null);
  assert.deepEqual(tree.openLines(10), [0, 3]);
});

test('a bottom-up line has its level in its name', () => {
  const tree = new TreeLines(true, ROOT);
  tree.add(ROOT, () => TREE_ROOT);
  tree.add(MAIN, () => 0);
  assert.deepEqual(
    [TREE_ROOT, 0, 3].map((line) => tree.name(line)),
    ['0', '1.0', '2.1'],
  );
});

const FACTS = {
  clocks: ['real'],
  order: 'busiest',
  start_ns: 0,
  end_ns: 10000,
  calls: 5,
  samples: 0,
  tracks: [track(0)],
} as TraceFacts;

/** A store on an engine that answers by hand. */
function onStore(): {
  viewer: Viewer;
  store: TreeStore;
  asked: { question: TreeQuestion; answer: (answer: TreeAnswer) => void }[];
} {
  const asked: { question: TreeQuestion; answer: (answer: TreeAnswer) => void }[] = [];
  const engine = {
    ...tileEngine([]),
    tree: (question: TreeQuestion) =>
      new Promise<TreeAnswer>((done) => asked.push({ question, answer: done })),
  };
  const viewer = new Viewer(engine, FACTS, frames);
  return { viewer, store: new TreeStore(viewer, false, () => true), asked };
}

function shownNames(store: TreeStore): string[] {
  const tree = store.lines.peek()?.tree;
  return tree ? names(tree, store.shown.peek()) : [];
}

test('children are requested when a line opens, and once', async () => {
  const { store, asked } = onStore();
  assert.deepEqual(asked[0]?.question, { of: 'calls', bottomUp: false, nodes: ['0'] });
  asked[0]?.answer(ROOT);
  await settle();
  store.open(0);
  assert.deepEqual(asked[1]?.question.nodes, ['1']);
  asked[1]?.answer(MAIN);
  await settle();
  assert.equal(store.shown.peek().length, 4);
  store.close(0);
  flushEffects();
  assert.equal(store.shown.peek().length, 2);
  store.open(0);
  store.open(1); // nothing is below it
  flushEffects();
  assert.equal(store.shown.peek().length, 4);
  assert.equal(asked.length, 2);
});

test('a new range requests the open lines again at once', async () => {
  const { viewer, store, asked } = onStore();
  asked[0]?.answer(ROOT);
  await settle();
  store.open(0);
  asked[1]?.answer(MAIN);
  await settle();
  store.open(3);
  asked[2]?.answer(RUN);
  await settle();
  viewer.setRange({ from: 5, to: 50 });
  flushEffects();
  assert.deepEqual(asked[3]?.question.nodes, ['0', '1', '2']);
  assert.equal(asked[3]?.question.from, 5);
  asked[3]?.answer(
    answer(
      [0, 1, 2],
      [
        [0, 1, 0, 6, 1, TREE_LINE.hasChildren],
        [1, 2, 1, 5, 4, TREE_LINE.hasChildren],
        [2, 5, 2, 1, 1],
      ],
    ),
  );
  await settle();
  assert.deepEqual(shownNames(store), ['main', '  run', '    get']);
});

test('a name selected elsewhere is shown once', async () => {
  const { viewer, store, asked } = onStore();
  asked[0]?.answer(ROOT);
  await settle();
  viewer.selectFrame(2);
  flushEffects();
  assert.equal(asked[1]?.question.reveal, 2);
  asked[1]?.answer(
    answer(
      [0, 1],
      [
        [0, 1, 0, 60, 5, TREE_LINE.hasChildren],
        [3, 4, 0, 40, 40],
        [2, 3, 1, 15, 15],
        [1, 2, 1, 40, 30, TREE_LINE.hasChildren],
      ],
    ),
  );
  await settle();
  assert.deepEqual(shownNames(store), ['main', '  run', '  get', 'idle']);
  store.close(0);
  flushEffects();
  await settle();
  assert.deepEqual([asked.length, store.shown.peek().length], [2, 2]);
});

test('matches are indexes of the visible lines', async () => {
  const { viewer, store, asked } = onStore();
  asked[0]?.answer(ROOT);
  await settle();
  viewer.find.set('idle');
  flushEffects();
  assert.deepEqual(store.found.peek(), [1]);
});

test('the exports have levels, times in nanoseconds, and unchanged names', () => {
  const tree = opened();
  const columns = treeColumns(FACTS, 'calls', false);
  const shown: ShownTree = {
    tree,
    lines: tree.shown(byTime, frames).slice(0, 2),
    columns,
    frames,
    scale: timeScale('ns'),
  };
  assert.deepEqual(JSON.parse(sheetText(treeSheet(shown), 'json')), [
    {
      ...{ level: 0, class: 'com.acme.Main', method: 'main', calls: 1 },
      ...{ signature: '([Ljava/lang/String;)V', incl_real_ns: 60, self_real_ns: 5 },
    },
    {
      ...{ level: 1, class: 'com.acme.Work', method: 'run', calls: 2 },
      ...{ signature: '()V', incl_real_ns: 40, self_real_ns: 30 },
    },
  ]);
  assert.equal(
    sheetText(treeSheet(shown), 'tsv').split('\n')[2],
    '1\tcom.acme.Work.run\t40.0\t40\t30.0\t30\t2',
  );
  assert.equal(sheetText(treeSheet(shown), 'csv').split('\r\n').length, 4);
  assert.match(
    sheetText(treeSheet(shown), 'markdown'),
    /\n\| &emsp;`com\.acme\.Work\.run` \| 40\.0 \| 40 \|/,
  );
  const samples = treeColumns(FACTS, 'count', true).map((column) => column.text);
  assert.deepEqual(samples, [...['Name', 'Total %', 'Total', 'Self %', 'Self']]);
});
