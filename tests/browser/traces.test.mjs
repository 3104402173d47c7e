// SPDX-License-Identifier: Apache-2.0
// Real traces of others, where the reference material is at hand: each one opens and draws.
import { strict as assert } from 'node:assert';
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { colours, openPage, until } from './browser.mjs';
import { test } from './suite.mjs';
import { view } from './program.mjs';

const folder = fileURLToPath(new URL('../../../shared/data/method-trace/real/', import.meta.url));

async function assertShown(page) {
  await page.waitForSelector('.page, .screen h1');
  if ((await page.locator('.screen h1').count()) > 0) return;
  // A damaged file may have lost every call: then the table says so, under another tab.
  const told = '.profile .row.method, .profile .empty:not([hidden])';
  await page.waitForSelector(told, { state: 'attached' });
  if ((await page.locator('.profile .row.method').count()) === 0) return;
  const drawn = () => colours(page, '.list-view');
  await until(drawn, (n) => n > 4, 'colours of the time line');
}

if (!existsSync(folder)) {
  test('real traces open', { skip: 'skipped: ../shared not there' }, () => {});
} else {
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.trace'))) {
    test(`${name} opens or says why not`, async () => {
      let viewer;
      try {
        viewer = await view(folder + name);
      } catch (error) {
        // A file that cannot be read at all ends the program at once, with one line.
        assert.match(
          error.message,
          new RegExp(`ended with 1 .*${name.replaceAll('.', '\\.')}`, 's'),
        );
        return;
      }
      const { page, troubles, close } = await openPage(viewer.address);
      try {
        await assertShown(page);
        assert.deepEqual(troubles, []);
      } finally {
        await close();
        await viewer.stop();
      }
    });
  }
}
