// SPDX-License-Identifier: Apache-2.0
// Very many tracks: the page makes elements for what is seen, not for what there is.
import { strict as assert } from 'node:assert';
import { showFile } from './files.mjs';
import { test } from './suite.mjs';

const MANY = 20_000;
/** Far less than one a track. */
const MOST = 5000;

const elements = (page) => page.evaluate(() => document.getElementsByTagName('*').length);

test('of very many tracks only those in view are elements', async () => {
  const events = Array.from({ length: MANY }, (_, i) => {
    return { ph: 'X', name: `work ${i % 7}`, pid: i + 1, tid: i + 1, ts: (i * 3) % 900, dur: 40 };
  });
  const { page, troubles } = await showFile('many.json', events);
  assert.ok((await elements(page)) < MOST, `${await elements(page)} elements`);

  await page.getByRole('tab', { name: 'Info' }).click();
  const info = page.getByRole('region', { name: 'Metadata of the file' });
  await info.getByText(/^and [\d,]+ more; /).waitFor();
  assert.ok((await elements(page)) < MOST, `${await elements(page)} elements`);

  await page.locator('#tracks').evaluate((list) => (list.scrollTop = list.scrollHeight));
  await page.locator('.labels .group', { hasText: `Process ${MANY}` }).waitFor();
  assert.ok((await elements(page)) < MOST, `${await elements(page)} elements`);

  await page.keyboard.press('Control+p');
  const finder = page.getByRole('dialog', { name: 'Find a thread' });
  await finder.getByRole('option').first().waitFor();
  assert.ok((await finder.getByRole('option').count()) < 300);
  assert.equal(await finder.getByRole('option').first().getAttribute('aria-setsize'), `${MANY}`);
  await finder.getByRole('combobox').fill(`${MANY - 1}`);
  await page.keyboard.press('Enter');
  await page.locator(`.labels [data-key="n${MANY - 2}"]`).waitFor();
  assert.deepEqual(troubles, []);
});
