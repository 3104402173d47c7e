// SPDX-License-Identifier: Apache-2.0
// Two calls side by side: one is pinned, another one selected.
import { strict as assert } from 'node:assert';
import { place, until } from './browser.mjs';
import { showFile } from './files.mjs';
import { test } from './suite.mjs';

const slice = (name, ts, dur, tdur, args = {}) => ({
  ...{ ph: 'X', name, pid: 1, tid: 1, ts, dur, tts: ts, tdur, args },
});

/** Two frames: the second is longer, draws twice, and has another url. Microseconds. */
const EVENTS = [
  slice('frame', 0, 100, 80, { url: 'a', size: 1 }),
  slice('layout', 10, 20, 20),
  slice('draw', 40, 50, 40),
  slice('frame', 150, 200, 100, { url: 'b', size: 1 }),
  slice('layout', 160, 10, 10),
  slice('draw', 180, 60, 30),
  slice('draw', 250, 70, 40),
];

const FIRST = 'call=0.0&method=0';

/** The rows of the tables in the section of both calls, without blanks around. */
const rowsOf = (page) =>
  page
    .locator('.details:visible .pair-details tr')
    .evaluateAll((all) =>
      all.map((row) => [...row.cells].map((cell) => cell.innerText.replace(/\s+/g, ' ').trim())),
    );

test('a pinned call is shown beside the next selected call', async () => {
  const { page, troubles } = await showFile('pair.json', EVENTS, { hash: `#${FIRST}&unit=us` });
  const details = page.locator('.details:visible');
  await details.getByRole('button', { name: 'Pin', exact: true }).click();
  await until(async () => (await place(page)).pinned, '0.0', 'the address');
  await page.keyboard.press('.');
  await details.locator('.pair-details').waitFor();
  const rows = await rowsOf(page);
  const line = (what) => rows.find(([name]) => name === what)?.slice(1);
  assert.deepEqual(line('Real'), ['200.000', '100.000', '+100.000']);
  assert.deepEqual(line('CPU'), ['100.000', '80.000', '+20.000']);
  assert.deepEqual(line('On the CPU'), ['50.0 %', '80.0 %', '']);
  assert.deepEqual(line('Excl real'), ['60.000', '30.000', '+30.000']);
  assert.deepEqual(line('Slices inside'), ['3', '2', '+1']);
  assert.deepEqual(line('draw 2× : 1×'), ['130.000', '50.000', '+80.000']);
  assert.deepEqual(line('layout'), ['10.000', '20.000', '-10.000']);
  assert.deepEqual(line('url'), ['b', 'a', '']);
  assert.equal(line('size'), undefined);
  // From 0..100 to 150..350.
  assert.deepEqual(line('Start to start'), ['150.000 µs']);
  assert.deepEqual(line('End to start'), ['50.000 µs']);
  assert.deepEqual(line('End to end'), ['250.000 µs']);
  assert.deepEqual(line('Both together'), ['350.000 µs']);
  await page.getByRole('tab', { name: 'Selection' }).click();
  const tables = page.locator('#pane-selection .pair-details table');
  await tables.first().waitFor();
  const lefts = await tables.evaluateAll((all) => all.map((e) => e.getBoundingClientRect().left));
  assert.equal(new Set(lefts).size, 3, 'columns of the Selection tab');
  await details.getByRole('button', { name: 'Range of both' }).click();
  await until(async () => (await place(page)).range, '0-350000', 'the range of both');
  assert.deepEqual(troubles, []);
});

test('C pins and unpins a call; a link restores both calls', async () => {
  const { page } = await showFile('link.json', EVENTS, { hash: `#${FIRST}&pinned=0.1` });
  const details = page.locator('.details:visible');
  await details.locator('.pair-details').waitFor();
  await details.getByRole('button', { name: 'Unpin' }).first().click();
  await until(() => details.locator('.pair-details').count(), 0, 'one call alone');
  await page.keyboard.press('c');
  await until(async () => (await place(page)).pinned, '0.0', 'the key pins');
  await page.keyboard.press('c');
  await until(async () => (await place(page)).pinned, undefined, 'the key lets go');
});
