// SPDX-License-Identifier: Apache-2.0
// How the tab Health looks.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { place, until } from './browser.mjs';
import { showFile } from './files.mjs';
import { test } from './suite.mjs';
import { example } from './program.mjs';

test('diagnostics are a table that can be sorted, opened and copied, and the address keeps it', async () => {
  const { page } = await showFile('faults.json', [
    { ph: 'X', name: 'fine', pid: 1, tid: 1, ts: 0, dur: 10, cname: 'none such' },
    { ph: 'B', name: 'open', pid: 1, tid: 1, ts: 20 },
    { ph: 'X', name: 'no time', pid: 1, tid: 1, dur: 5 },
    { ph: 'E', pid: 1, tid: 2, ts: 30 },
  ]);
  await page.getByRole('button', { name: /^Health/ }).click();
  const rows = page.locator('#health [data-line]');
  const cells = (column) => rows.locator(`[data-column="${column}"]`).allInnerTexts();
  await until(() => cells('line').then((all) => all.some((n) => n !== '')), true, 'the places');
  const kinds = async () => (await cells('severity')).filter((text) => text !== '');
  assert.deepEqual(await kinds(), ['Error', 'Note', 'Note', 'Note']);
  assert.equal(await rows.count(), 8, 'each kind with its place');
  const boxes = await rows.evaluateAll((parts) =>
    parts.map((part) => part.getBoundingClientRect().toJSON()),
  );
  boxes.slice(1).forEach((box, i) => {
    assert.ok(box.top >= boxes[i].bottom, `${box.top} is below ${boxes[i].bottom}`);
    assert.equal(box.left, boxes[0].left);
  });
  // A head sorts kinds, and by a third click they stand as they were; the address has it all.
  const order = async () => (await cells('kind')).filter((text) => text !== '');
  const first = await order();
  const head = page.locator('#health').getByRole('button', { name: /^Kind/ });
  await head.click();
  await until(async () => (await order()).join(), [...first].sort().join(), 'upwards');
  await until(async () => (await place(page)).health, 'kind.up', 'the address');
  await head.click();
  await until(async () => (await order()).join(), [...first].sort().reverse().join(), 'downwards');
  await head.click();
  await until(async () => (await order()).join(), first.join(), 'as it was');
  // Left closes a kind, and goes from a place to it.
  await page.locator('#health').focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await until(() => rows.count(), 7, 'the first is closed');
  await until(async () => (await place(page)).health?.split(',').length, 3, 'the address');
  await page.keyboard.press('ArrowRight');
  await until(() => rows.count(), 8, 'and open again');
  // Two lines, as they are marked.
  await page.keyboard.press('Shift+ArrowDown');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.keyboard.press('Control+c');
  const copied = await until(
    () => page.evaluate(() => navigator.clipboard.readText()),
    (text) => text.startsWith('Severity'),
    'the clipboard',
  );
  assert.equal(copied.trimEnd().split('\n').length, 3);
});

test('a file of which nothing was read opens on what was found, with what to do', async () => {
  const start = readFileSync(example()).subarray(0, 40);
  const waits = (page) => page.getByText('ends in the middle').first().waitFor();
  const { page, troubles } = await showFile('cut.trace', start, { waits });
  assert.match(
    await page.locator('#pane-health').innerText(),
    /^Nothing of this file can be shown/,
  );
  assert.match(await page.locator('#pane-health').innerText(), /copy it again, or record it again/);
  assert.match(await page.locator('#health').innerText(), /ends in the middle/);
  assert.deepEqual(troubles, []);
});
