// SPDX-License-Identifier: Apache-2.0
// From a window of 900 pixels to 4K, also where a CSS pixel is two: nothing is pushed out of the
// window, and what stands beside each other does not overlap.
import { strict as assert } from 'node:assert';
import { until } from './browser.mjs';
import { Hand } from './hand.mjs';
import { test } from './suite.mjs';
import { FORMATS } from './three-formats.mjs';

const SIZES = [
  [900, 600],
  [1400, 900],
  [1920, 1080],
  [3840, 2160],
];

/** What overlaps its neighbour, or is not wholly in its row, in words. */
function crowded(page) {
  return page.evaluate(() => {
    const wrong = [];
    const box = (e) => e.getBoundingClientRect();
    // What only comes under the pointer may cover its neighbour then.
    const shown = (e) =>
      e.getClientRects().length > 0 && box(e).width > 1 && getComputedStyle(e).opacity !== '0';
    const look = (parent, children) => {
      const all = [...children].filter(shown);
      all.forEach((e, i) => {
        const next = all[i + 1];
        const name = `${e.className} "${e.textContent.slice(0, 20)}"`;
        if (next && box(e).right > box(next).left + 0.5 && box(e).bottom > box(next).top + 0.5)
          wrong.push(`${name} runs into "${next.textContent.slice(0, 20)}"`);
        if (box(e).right > box(parent).right + 0.5) wrong.push(`${name} is cut off`);
      });
    };
    const bar = document.querySelector('.top');
    look(bar, bar.children);
    look(bar, bar.querySelectorAll('.tools button'));
    for (const line of document.querySelectorAll('.label .line, .strip > .key'))
      if (!line.closest('.overview')) look(line, line.children);
    for (const row of document.querySelectorAll('.tabs, .readout')) look(row, row.children);
    if (document.documentElement.scrollWidth > innerWidth) wrong.push('the page scrolls sideways');
    return wrong;
  });
}

for (const format of Object.keys(FORMATS))
  for (const deviceScaleFactor of [1, 2])
    test(`windows of all sizes, ${format}, device pixel ratio ${deviceScaleFactor}`, () =>
      Hand.holds(format, { deviceScaleFactor }, async (hand) => {
        await hand.at({ call: hand.id(1, 21), range: '5000000-15000000' });
        for (const [width, height] of SIZES) {
          await hand.page.setViewportSize({ width, height });
          const canvas = () =>
            hand.page
              .locator('.lanes > canvas')
              .first()
              .evaluate((c) => c.width);
          const most = width * deviceScaleFactor;
          await until(canvas, (n) => n > 0.7 * most && n < most, 'the canvas of this window');
          assert.deepEqual(await crowded(hand.page), [], `${width}x${height}`);
        }
      }));
