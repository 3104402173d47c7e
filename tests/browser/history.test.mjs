// SPDX-License-Identifier: Apache-2.0
// Moves are undone and done again, also by a page that was loaded anew; and nothing that floats over
// the page is without an edge where forced colours take its shadow away.
import { strict as assert } from 'node:assert';
import { openPage, ready, until } from './browser.mjs';
import { test } from './suite.mjs';
import { example, view } from './program.mjs';

async function onExample(options, run) {
  const viewer = await view(example());
  const { page, troubles, close } = await openPage(viewer.address, options);
  try {
    await ready(page);
    await run(page);
    assert.deepEqual(troubles, []);
  } finally {
    await close();
    await viewer.stop();
  }
}

const hash = (page) => page.evaluate(() => location.hash);
const number = (page) => page.evaluate(() => history.state?.traceview);

test('undo and redo continue where a reloaded page was', () =>
  onExample({ reducedMotion: 'reduce' }, async (page) => {
    const move = async (key, at) => {
      await page.keyboard.press(key);
      await until(() => number(page), at, `the move by ${key}`);
      return hash(page);
    };
    const first = await move('w', 1);
    const second = await move('d', 2);
    const third = await move('d', 3);
    await page.keyboard.press('Control+z');
    await until(() => hash(page), second, 'undo');
    await page.reload();
    await ready(page);
    assert.equal(await hash(page), second);
    await page.keyboard.press('Shift+Control+z');
    await until(() => hash(page), third, 'redo after the reload');
    await page.reload();
    await ready(page);
    for (const expected of [second, first]) {
      await page.keyboard.press('Control+z');
      await until(() => hash(page), expected, 'undo after the reload');
    }
    await page.keyboard.press('Shift+Control+z');
    await until(() => hash(page), second, 'redo');
  }));

test('floating elements have a border in forced colours', () =>
  onExample({ forcedColors: 'active', reducedMotion: 'reduce' }, async (page) => {
    const OPEN = {
      '.call-list': () => page.locator('.call-list [role=grid]').focus(),
      '.save-menu': () => page.keyboard.press('Control+s'),
      'dialog[open]': () => page.keyboard.press('?'),
    };
    for (const [selector, open] of Object.entries(OPEN)) {
      await open();
      await page.locator(selector).first().waitFor();
      const edge = await page
        .locator(selector)
        .first()
        .evaluate((e) => {
          const { outlineStyle, outlineColor, outlineWidth } = getComputedStyle(e);
          return [outlineStyle, outlineColor, outlineWidth];
        });
      assert.notEqual(edge[0], 'none', selector);
      // Seen, not the transparent one that there is without forced colours.
      assert.doesNotMatch(edge[1], /^rgba\(.*, 0\)$|transparent/, selector);
      assert.notEqual(edge[2], '0px', selector);
      await page.keyboard.press('Escape');
    }
  }));
