// SPDX-License-Identifier: Apache-2.0
// The switch that takes what recording cost off the figures of calls: what it shows and says, where
// it is remembered, and that it is not to be had where the file does not state the cost.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { computed, openPage, place, ready, tableLines, until } from './browser.mjs';
import { after, test } from './suite.mjs';
import { view } from './program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'compensate-'));
const closing = [];
const golden = new URL('../golden/', import.meta.url);

after(async () => {
  for (const close of closing) await close();
  rmSync(folder, { recursive: true });
});

/** The trace whose figures compensate.txt works out by hand, perhaps without its cost. */
async function show(hash, stated = true) {
  const text = readFileSync(new URL('data/compensate.txt', golden), 'utf8');
  const input = stated ? text : text.replace(/^key .*$/m, '');
  const file = join(folder, stated ? 'stated.trace' : 'unstated.trace');
  writeFileSync(file, execFileSync(new URL('assemble', golden).pathname, { input }));
  const viewer = await view(file);
  const opened = await openPage(viewer.address + hash);
  closing.push(async () => {
    await opened.close();
    await viewer.stop();
  });
  await ready(opened.page);
  return opened.page;
}

async function times(page) {
  await computed(page);
  const lines = await tableLines(page);
  return Object.fromEntries(
    lines
      .filter(({ kind }) => kind === 'method')
      .map(({ name, cells }) => [
        name.match(/T\.(\w)/)[1],
        ['incl_real', 'excl_real', 'incl_cpu', 'excl_cpu'].map((column) => cells[column]),
      ]),
  );
}

const RECORDED = {
  f: ['1.000', '0.780', '0.900', '0.680'],
  g: ['0.220', '0.220', '0.220', '0.220'],
  h: ['0.050', '0.050', '0.050', '0.050'],
};
const LESS = {
  f: ['0.915', '0.720', '0.815', '0.620'],
  g: ['0.195', '0.195', '0.195', '0.195'],
  h: ['0.040', '0.040', '0.040', '0.040'],
};

test('figures without the cost of recording are labelled, and the choice is remembered', async () => {
  const page = await show('');
  const button = page.locator('.compensate');
  assert.equal(await button.getAttribute('aria-pressed'), 'false');
  assert.match(await button.getAttribute('title'), /10,000 ns, once within each call/);
  assert.deepEqual(await times(page), RECORDED);
  await button.click();
  await until(() => button.innerText(), 'Compensated: 2 × 10,000 ns a call', 'the switch');
  assert.deepEqual(await times(page), LESS);
  const words =
    'Compensated: 10,000 ns subtracted from each call and as much from its caller, ' +
    '0.095 ms real, 0.095 ms CPU in total';
  assert.ok((await page.locator('.profile .head').textContent()).includes(words));
  await page.locator('.profile .row.method').first().click();
  await until(
    async () => (await page.locator('.details.beside').textContent()).includes(words),
    true,
    'the words of the details',
  );
  await until(async () => (await place(page)).compensate, '1', 'the address');
  await page.reload();
  await ready(page);
  assert.deepEqual(await times(page), LESS);
  await page.locator('.compensate').click();
  assert.deepEqual(await times(page), RECORDED);
  await until(async () => (await place(page)).compensate, undefined, 'the address');
});

test('trees and flame graphs are compensated, but the graph in time order is not', async () => {
  const page = await show('#compensate=1');
  await page.locator('#tab-top-down').click();
  const tree = page.locator('#pane-top-down');
  await until(async () => (await tree.textContent()).includes('0.915'), true, 'the tree');
  const flame = (asked) => page.waitForRequest((request) => request.url().includes(asked));
  const compensated = flame('api/flame?');
  await page.locator('#tab-flame').click();
  assert.match((await compensated).url(), /compensate=1/);
  const button = page.locator('.compensate');
  assert.equal(await button.isDisabled(), false);
  const recorded = flame('order=time');
  await page.getByRole('button', { name: /Time order/ }).click();
  assert.doesNotMatch((await recorded).url(), /compensate/);
  await until(() => button.isDisabled(), true, 'the switch');
  assert.match(await button.getAttribute('title'), /as they were recorded/);
  await page.locator('#tab-search').click();
  await until(() => button.isVisible(), false, 'a tab without figures');
});

test('a file that does not state the cost of recording says so', async () => {
  const page = await show('#compensate=1', false);
  const button = page.locator('.compensate');
  assert.equal(await button.isDisabled(), true);
  assert.equal(await button.innerText(), 'Compensate');
  assert.match(await button.getAttribute('title'), /does not state what reading its clock cost/);
  assert.deepEqual(await times(page), RECORDED);
});
