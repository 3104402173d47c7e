// SPDX-License-Identifier: Apache-2.0
// Parts of a scrolled list that are painted: what the view lacks, and then what is ahead of it.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { AHEAD, PaintedPart, type ListPart } from '../src/views/timeline/listCanvas';

const HEIGHT = 400;
const LIST = 2000;

/** Return the parts that a frame paints at a scroll position: [from, to] of each. */
function frame(part: PaintedPart, scroll: number, isQuiet = true): number[][] {
  const near = { from: Math.max(0, scroll - AHEAD), to: Math.min(LIST, scroll + HEIGHT + AHEAD) };
  const parts = part.next({ from: scroll, to: scroll + HEIGHT }, near, isQuiet);
  return parts.map(({ from, to }) => [from, to]);
}

test('a frame paints the view, and later frames the lines ahead of it', () => {
  const part = new PaintedPart();
  assert.deepEqual(frame(part, 600, false), [[600, 1000]]);
  assert.deepEqual(frame(part, 600, false), [], 'everything changed just now');
  const ahead = [0, 1, 2, 3].map(() => frame(part, 600)).flat();
  assert.deepEqual(ahead, [
    [1000, 1060],
    [1060, 1120],
    [540, 600],
    [480, 540],
  ]);
  assert.deepEqual(frame(part, 600), []);
});

test('scrolling paints the lines that come into view, and nothing twice', () => {
  const part = new PaintedPart();
  frame(part, 600, false);
  assert.deepEqual(frame(part, 640, false), [[1000, 1040]]);
  assert.deepEqual(frame(part, 560, false), [[560, 600]]);
  assert.deepEqual(frame(part, 1400, false), [[1400, 1800]], 'nothing of it was painted');
});

test('lines far from the view are given up', () => {
  const part = new PaintedPart();
  frame(part, 600, false);
  frame(part, 900, false);
  // Painted were 600 to 1300; at 900 all above 780 was given up.
  assert.deepEqual(frame(part, 700, false), [[700, 780]]);
});

test('changed lines are painted again if they are painted', () => {
  const part = new PaintedPart();
  frame(part, 600, false);
  const changed: ListPart[] = [
    { from: 590, to: 610 },
    { from: 700, to: 720 },
    { from: 725, to: 730 },
    { from: 1200, to: 1300 },
  ];
  for (const each of changed) part.paintAgain(each);
  assert.deepEqual(frame(part, 600, false), [
    [600, 610],
    [700, 730],
  ]);
  part.clear();
  assert.deepEqual(frame(part, 600, false), [[600, 1000]]);
});

/** Any way of scrolling and changing: the view is always painted since its lines last changed. */
test('the view is right after every frame', () => {
  const part = new PaintedPart();
  const paintedAt = new Array<number>(LIST).fill(-1);
  const changedAt = new Array<number>(LIST).fill(0);
  let random = 1;
  const below = (end: number): number => {
    random = (random * 48271) % 2147483647;
    return random % end;
  };
  let scroll = 0;
  for (let now = 1; now < 2000; now++) {
    scroll = Math.max(0, Math.min(LIST - HEIGHT, scroll + below(300) - 150));
    if (below(40) === 0) {
      part.clear();
      changedAt.fill(now);
    } else if (below(3) === 0) {
      const from = below(LIST - 50);
      part.paintAgain({ from, to: from + 50 });
      changedAt.fill(now, from, from + 50);
    }
    for (const [from = 0, to = 0] of frame(part, scroll, below(2) === 0))
      paintedAt.fill(now, from, to);
    const wrong = Array.from({ length: HEIGHT }, (_, y) => scroll + y).filter(
      (y) => (paintedAt[y] ?? -1) < (changedAt[y] ?? 0),
    );
    assert.deepEqual(wrong, [], `frame ${now}, scrolled to ${scroll}`);
  }
});
