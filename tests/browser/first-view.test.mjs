// SPDX-License-Identifier: Apache-2.0
// The first screen: the visible range, where nearly all events lie in a small part of the trace.
import { strict as assert } from 'node:assert';
import { place, until } from './browser.mjs';
import { showFile } from './files.mjs';
import { test } from './limited.mjs';

/** A stray event at 0, and 200 slices of 1 ms from 2,000 s on. */
const STRAY = [
  { ph: 'X', name: 'boot', pid: 1, tid: 1, ts: 0, dur: 10 },
  ...Array.from({ length: 200 }, (_, i) => {
    return { ph: 'X', name: 'work', pid: 1, tid: 1, ts: 2e9 + 1000 * i, dur: 900 };
  }),
];

/** The view as the page announces it. */
const shown = (page) => page.locator('.summary').innerText();

test('a trace with a stray event opens on its data', async () => {
  const { page, troubles } = await showFile('stray.json', STRAY, { hash: '#unit=s' });
  const [, from, to] = /Shown: ([\d,.]+) to ([\d,.]+) s/.exec(await shown(page));
  // The data, from 2,000 to 2,000.2 s, with the margins of a view.
  assert.ok(Number(from.replace(',', '')) > 1999.9 && Number(to.replace(',', '')) < 2000.3);
  assert.equal(
    await page.locator('.overview .rest').innerText(),
    '1 event before the part shown; 0 shows all',
  );
  assert.equal((await place(page)).view, undefined);

  await page.keyboard.press('0');
  await until(
    () => shown(page),
    (text) => /the whole trace/.test(text),
    'everything is shown',
  );
  assert.equal(await page.locator('.overview .rest').isVisible(), false);
  // The address names the whole trace, so a copied link shows it.
  await until(async () => (await place(page)).view !== undefined, true, 'the view in the address');
  await page.reload();
  await until(
    () => shown(page),
    (text) => /the whole trace|^Shown: 0/.test(text),
    'all, again',
  );
  assert.deepEqual(troubles, []);
});

test('a trace with events everywhere opens on all of it', async () => {
  const spread = STRAY.map((event, i) => ({ ...event, ts: i * 1e7 }));
  const { page } = await showFile('spread.json', spread, { hash: '#unit=s' });
  assert.match(await shown(page), /the whole trace/);
  assert.equal(await page.locator('.overview .rest').count(), 0);
});
