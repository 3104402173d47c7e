// SPDX-License-Identifier: Apache-2.0
// A file of events has slices and names: nowhere does the page speak of calls or methods.
import { strict as assert } from 'node:assert';
import { rested } from './browser.mjs';
import { showFile } from './files.mjs';
import { before, test } from './suite.mjs';

const EVENTS = [
  { ph: 'X', name: 'outer', cat: 'a', pid: 1, tid: 1, ts: 0, dur: 1000, tts: 0, tdur: 500 },
  { ph: 'X', name: 'inner', cat: 'a', pid: 1, tid: 1, ts: 100, dur: 300, tts: 50, tdur: 100 },
  { ph: 'B', name: 'open', cat: 'a', pid: 1, tid: 1, ts: 600 },
  { ph: 's', name: 'go', cat: 'f', id: 1, pid: 1, tid: 1, ts: 110 },
  { ph: 'f', bp: 'e', name: 'go', cat: 'f', id: 1, pid: 1, tid: 1, ts: 700 },
  { ph: 'P', name: 'S', cat: 'p', pid: 1, tid: 1, ts: 200, stack: ['main'] },
];

let opened;
let page;

before(async () => {
  opened = await showFile('words.json', EVENTS);
  page = opened.page;
});

/** Texts, tooltips and labels of the whole page, shown or not, that hold such a word. */
const wrong = () =>
  page.evaluate(() => {
    const found = new Set();
    const look = (text) => {
      // What check calls a kind of diagnostic is its name everywhere.
      if (text !== 'open-call' && /\b(calls?|called|callers?|methods?)\b/i.test(text ?? ''))
        found.add(text);
    };
    for (const element of document.querySelectorAll('body *:not(script):not(style)')) {
      for (const name of ['title', 'aria-label', 'placeholder']) look(element.getAttribute(name));
      for (const node of element.childNodes)
        if (node.nodeType === Node.TEXT_NODE) look(node.textContent);
    }
    return [...found];
  });

for (const name of ['Profile', 'Flame', 'Selection', 'Search', 'Health', 'Info']) {
  test(`the tab ${name} speaks of slices`, async () => {
    await page.getByRole('tab', { name: new RegExp(`^${name}`) }).click();
    await rested(page);
    assert.deepEqual(await wrong(), []);
  });
}

test('an opened name, the details of a slice, its flows and the help speak of slices', async () => {
  await page.getByRole('tab', { name: 'Profile' }).click();
  await page.locator('.profile .row.method', { hasText: 'inner' }).click();
  await page.locator('.profile .row.group').first().waitFor();
  assert.deepEqual(await wrong(), []);
  await page.locator('.details.beside').getByRole('button', { name: 'First slice' }).click();
  await page.locator('.details.beside').getByText('Slices inside').waitFor();
  assert.deepEqual(await wrong(), []);
  for (const entry of ['Show parents', 'Merge into its parents']) {
    await page.locator('.profile .row.method').first().click({ button: 'right' });
    assert.deepEqual(await wrong(), []);
    await page.getByRole('menuitem', { name: entry }).click();
    await page.locator('.transforms .chip').first().waitFor();
    assert.deepEqual(await wrong(), []);
    await page.locator('.transforms .chip button').click();
  }
  await page.getByRole('button', { name: /^Flows/ }).click();
  assert.deepEqual(await wrong(), []);
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor();
  assert.deepEqual(await wrong(), []);
});

test('no errors were reported', () => assert.deepEqual(opened.troubles, []));
