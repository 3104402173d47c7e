// SPDX-License-Identifier: Apache-2.0
// The differential flame graph: the shown part, its texts and its look.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { changeGraph, changeLines, pathRows } from '../src/model/changeGraph';
import type { ComparedFrame, Comparison } from '../src/model/comparison';
import { drawChange } from '../src/render/changeLook';
import { DrawLog } from './drawLog';
import { theme } from './fixtures';

type Verdict = ComparedFrame['verdict'];

/** name, depth, start, width, verdict, base, new. */
function frame(...f: [string, number, number, number, Verdict, number, number]): ComparedFrame {
  const [key, depth, start, width, verdict, base, fresh] = f;
  const side = base === 0 ? 'new' : fresh === 0 ? 'base' : 'both';
  return {
    ...{ key, depth, start, width, verdict, side, base, new: fresh, match: 'exact' },
    ...{ effect: fresh - base, change: base === 0 ? null : fresh / base - 1 },
    ...{ low: null, high: null, p: null, base_calls: 1, new_calls: 1, calls_differ: false },
  };
}

const ANSWER: Comparison<ComparedFrame> = {
  ...{ by: 'path', figure: 'excl', clock: 'wall', note: '', sides: { base: [], new: [] } },
  total: { base: 60, new: 80, change: 1 / 3, low: null, high: null, p: null },
  graph: { total: 100, left_out: 0 },
  rows: [
    frame('main', 0, 0, 100, 'unsure', 10, 10),
    frame('a', 1, 0, 60, 'unsure', 20, 20),
    frame('b', 2, 0, 40, 'more', 20, 40),
    frame('c', 1, 60, 20, 'unsure', 20, 20),
    frame('d', 1, 80, 10, 'appeared', 0, 10),
    frame('e', 1, 90, 10, 'vanished', 10, 0),
  ],
};

const shown = (changed: boolean, root: number | null): [string, number, number][] => {
  const { frame, names, start, width } = changeGraph(ANSWER, changed, root);
  return [...frame].map((number, i) => [names[number] ?? '', start[i] ?? 0, width[i] ?? 0]);
};

test('"only what changed" keeps changed frames and their callers', () => {
  assert.deepEqual(
    shown(true, null).map(([name]) => name),
    ['main', 'a', 'b', 'd', 'e'],
  );
});

test('a zoomed graph has the frame, its callers at full width, and its callees', () => {
  assert.deepEqual(shown(false, 1), [
    ['main', 0, 60],
    ['a', 0, 60],
    ['b', 0, 40],
  ]);
  assert.deepEqual(shown(false, 3), [
    ['main', 0, 20],
    ['c', 0, 20],
  ]);
});

test('the keys of exported rows are call paths', () => {
  assert.deepEqual(
    pathRows(ANSWER.rows).map(({ key }) => key),
    ['main', 'main;a', 'main;a;b', 'main;c', 'main;d', 'main;e'],
  );
});

test('a frame has base, new, change, interval, p and calls where they are known', () => {
  const b = { ...frame('b', 2, 0, 40, 'more', 20e6, 40e6), low: 0.9, high: 1.1, p: 0.003 };
  assert.deepEqual(changeLines(ANSWER, { ...b, new_calls: 3 }, 'Own time', 'ms'), [
    'Own time: 20.000 ms → 40.000 ms (+100.0 %)',
    '95 % interval: +90.0 % … +110.0 %',
    'p = 0.0030',
    'Calls: 1 → 3',
  ]);
  assert.deepEqual(changeLines(ANSWER, ANSWER.rows[4] as ComparedFrame, 'Own time', 'ns'), [
    'Own time: 0 ns → 10 ns (new)',
    'Calls: 1',
    'Only in the new runs',
  ]);
});

test('colour shows direction and size; a border and hatching mark frames of one side', () => {
  const box = { x: 0, y: 0, w: 50, h: 17 };
  const drawn = (i: number): string[] => {
    const g = new DrawLog();
    const named = theme();
    const hex = {
      more: '#ff0000',
      'more-full': '#800000',
      less: '#0000ff',
      'less-full': '#000080',
    };
    const colours = { ...named, colour: { ...named.colour, ...hex } };
    drawChange(g, colours, ANSWER.rows[i] as ComparedFrame, box);
    return g.log;
  };
  assert.equal(drawn(0)[0], 'fillRect 0 0 50 17 --unsure');
  assert.equal(drawn(2)[0], 'fillRect 0 0 50 17 rgb(128,0,0)', 'twice as much is the full colour');
  assert.equal(drawn(4)[0], 'fillRect 0 0 50 17 #800000');
  assert(drawn(4).some((line) => line.startsWith('strokeRect')));
  assert(
    drawn(5).some((line) => line.startsWith('hatch')),
    drawn(5).join('\n'),
  );
});
