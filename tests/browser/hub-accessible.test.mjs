// SPDX-License-Identifier: Apache-2.0
// The upload server's page: what axe-core finds fault with (nothing), and that nothing is wider
// than the window, from a telephone's to a large one.
import { strict as assert } from 'node:assert';
import { assertAccessible } from './axe.mjs';
import { onHub } from './hub-page.mjs';
import { test } from './suite.mjs';
import { id, someTraces } from './mock-hub.mjs';

const file = { name: 'big.trace', mimeType: '', buffer: Buffer.alloc(3000, 1) };
const upload = async (page) => {
  await page.waitForSelector('.drop-zone');
  await page.locator('input[type=file]').setInputFiles([file, { ...file, name: 'b.trace' }]);
  await page.locator('.upload[data-phase=stopped]').nth(1).waitFor();
};
const full = (request) =>
  request.method === 'PATCH' ? { status: 507, json: { error: 'the disk is full' } } : undefined;
const ask = (page) => page.locator('[data-role=delete]').first().click();
const rename = (page) => page.getByRole('button', { name: 'Rename' }).click();

const STATES = [
  ['list', '', '.traces tbody tr', {}],
  ['narrowed list', '?label=startup&q=a', '.traces tbody tr', {}],
  ['list that asks', '', '.traces tbody tr', {}, ask],
  ['uploads', '', '.drop-zone', { before: full }, upload],
  ['empty list', '', '.list .nothing:not([hidden])', { traces: [] }],
  ['log in', '', '.login form', { token: 'secret' }],
  ['trace', `t/${id(1)}/`, '.picture.whole.there', {}],
  ['trace with its name in a box', `t/${id(1)}/`, '.picture.whole.there', {}, rename],
  ['trace that is read', `t/${id(4)}/`, '.trace-screen [role=progressbar]', {}],
  ['trace that could not be read', `t/${id(3)}/`, '.failure', {}],
];

for (const [what, path, selector, world, act] of STATES) {
  test(`hub: accessible: ${what}`, () =>
    onHub(
      { traces: someTraces(), ...world },
      path,
      async (page) => {
        await page.waitForSelector(selector);
        await act?.(page);
        await assertAccessible(page);
      },
      // The test's own script is not in the page's content policy.
      { colorScheme: 'light', bypassCSP: true, expected: /507/ },
    ));
  test(`hub: fits: ${what}, from a telephone to a wall display`, () =>
    onHub(
      { traces: someTraces(), ...world },
      path,
      async (page) => {
        await page.waitForSelector(selector);
        await act?.(page);
        for (const width of [3840, 1200, 900, 700, 360]) {
          await page.setViewportSize({ width, height: 800 });
          const over = await page.evaluate(
            () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
          );
          assert.equal(over, 0, `${width} px`);
        }
      },
      { expected: /507/ },
    ));
}

test('hub: in forced colours the main button has its own background', () =>
  onHub(
    { traces: someTraces() },
    `t/${id(1)}/`,
    async (page) => {
      const button = page.locator('.button.primary').first();
      await button.waitFor();
      const style = await button.evaluate((node) => {
        const { color, backgroundColor, forcedColorAdjust } = getComputedStyle(node);
        return { color, backgroundColor, forcedColorAdjust };
      });
      // Else the browser gives the words a background of its own colour, which then counts as theirs.
      assert.equal(style.forcedColorAdjust, 'none');
      assert.notEqual(style.color, style.backgroundColor);
    },
    { forcedColors: 'active' },
  ));
