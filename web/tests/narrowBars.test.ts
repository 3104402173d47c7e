// SPDX-License-Identifier: Apache-2.0
// Narrow bars and waits as pixels: the same as the shapes that stand for them elsewhere.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { isNarrow, PixelRow, putBar, putWait } from '../src/render/narrowBars';
import { drawBar, CLOSED, drawWait } from '../src/render/shapes';
import { DrawLog } from './drawLog';
import { random, theme } from './fixtures';

/** Colours by name have no pixels: here each has a number of its own. */
const THEME = {
  ...theme(),
  pixels: Uint32Array.from({ length: 16 }, (_, i) => 100 + i),
  edgePixels: Uint32Array.from({ length: 16 }, (_, i) => 200 + i),
  ...{ dimPixel: 1, dimEdgePixel: 2, waitPixel: 3, groundPixel: 4 },
};

/** A line of the drawing as pixels: which colour lies on top, with edges over their bars. */
function rasterise(g: DrawLog, width: number, ratio: number, y: number): number[] {
  const row = Array<number>(width).fill(0);
  for (const { box, style } of g.of('fillRect')) {
    if (y < box.y || y >= box.y + box.h) continue;
    for (let x = Math.round(box.x * ratio); x < Math.round((box.x + box.w) * ratio); x++) {
      if (x < 0 || x >= width) continue;
      if (style === '--bar-edge') row[x] = (row[x] ?? 0) === 1 ? 2 : (row[x] ?? 0) + 100;
      else if (style === '--bar-dim') row[x] = 1;
      else if (style === '--wait') row[x] = 3;
      else if (style === '--bg') row[x] = 4;
      else row[x] = 100 + Number(style.replace('--m-', ''));
    }
  }
  return row;
}

/** From left to right, now and then over each other by a pixel, as widened bars are. */
function places(next: () => number, ratio: number, width: number): { x: number; w: number }[] {
  const found: { x: number; w: number }[] = [];
  for (let x = -4; x < width / ratio + 4;) {
    const w = Math.max(1, Math.round(next() * 12 * ratio) / ratio);
    found.push({ x: Math.round(x * ratio) / ratio, w });
    x += w + Math.floor(next() * 4) - 1;
  }
  return found;
}

test('narrow bars as pixels equal those of drawBar()', () => {
  const next = random(5);
  for (const ratio of [1, 2])
    for (let round = 0; round < 40; round++) {
      const row = new PixelRow();
      const g = new DrawLog();
      row.begin(200);
      let edge = -1;
      for (const { x, w } of places(next, ratio, 200)) {
        const number = Math.floor(next() * 17) - 1;
        // An edge over an edge is drawn once as pixels.
        if (x * ratio < edge) continue;
        const b = { x, y: 0, w, h: 17 };
        edge = (x + w) * ratio;
        putBar(row, THEME, b, number, ratio);
        drawBar(g, THEME, b, number, CLOSED);
      }
      assert.deepEqual([...row.pixels], rasterise(g, 200, ratio, 5));
    }
});

test('waits as pixels equal those of drawWait()', () => {
  const next = random(6);
  for (const ratio of [1, 2])
    for (let round = 0; round < 40; round++) {
      const [foot, ends] = [new PixelRow(), new PixelRow()];
      const g = new DrawLog();
      for (const row of [foot, ends]) row.begin(200);
      for (const { x, w } of places(next, ratio, 200)) {
        const b = { x, y: 0, w: w - 1, h: 17 };
        putWait(foot, ends, THEME, b, ratio);
        drawWait(g, THEME, b);
      }
      assert.deepEqual([...foot.pixels], rasterise(g, 200, ratio, 15.5));
      assert.deepEqual([...ends.pixels], rasterise(g, 200, ratio, 13.5));
    }
});

test('a row knows its used part and can be cleared', () => {
  const row = new PixelRow();
  row.begin(10);
  row.put(-5, 2, 7);
  row.put(4, 6, 8);
  row.put(20, 30, 9);
  assert.deepEqual([row.from, row.to, ...row.pixels], [0, 6, 7, 7, 0, 0, 8, 8, 0, 0, 0, 0]);
  row.begin(10);
  assert.deepEqual([row.from < row.to, ...row.pixels], [false, ...Array<number>(10).fill(0)]);
});

test('bars with a name or hatching are drawn as shapes', () => {
  const b = (w: number) => ({ x: 0, y: 0, w, h: 17 });
  assert.equal(isNarrow(THEME, b(21), 0), true);
  assert.equal(isNarrow(THEME, b(22), 0), false);
  const safe = { ...THEME, hatched: [true, false] };
  assert.equal(isNarrow(safe, b(10), 0), false);
  assert.equal(isNarrow(safe, b(2), 0), true, 'hatching is not seen there');
  assert.equal(isNarrow(safe, b(10), -1), true, 'nor on what is dimmed');
});
