// SPDX-License-Identifier: Apache-2.0
// The search box: Enter goes through all hits in time, however many names match, and shows each wide
// enough to be read. Matches in signatures are marked.
import { strict as assert } from 'node:assert';
import { openPage, place, ready, until } from './browser.mjs';
import { showFile } from './files.mjs';
import { test } from './suite.mjs';
import { example, json, view } from './program.mjs';

/** 60 names; the k-th begins at k * 7 mod 60 ms, lasts 10 us, and 10 s of another name follow. */
const NAMES = 60;
const START = (k) => ((k * 7) % NAMES) * 1000;
const EVENTS = [
  ...Array.from({ length: NAMES }, (_, k) => ({
    ...{ ph: 'X', name: `hit ${k}`, pid: 1, tid: 1 + (k % 2), ts: START(k), dur: 10 },
  })),
  { ph: 'X', name: 'rest', pid: 1, tid: 1, ts: 100_000, dur: 10_000_000 },
];
/** The names in the order of their starts. */
const IN_TIME = Array.from({ length: NAMES }, (_, k) => k).sort((a, b) => START(a) - START(b));

test('Enter goes to the next hit in time at a readable width, and says when it wraps', async () => {
  const { page, troubles } = await showFile('hits.json', EVENTS, { options: { reader: null } });
  const count = () => page.locator('.search .count').innerText();
  const selected = () => page.locator('.details.beside h2').innerText();
  await page.keyboard.press('/');
  await page.keyboard.type('hit');
  await until(count, '60 in 60 names', 'the count');
  for (const at of [0, 1, 2]) {
    await page.keyboard.press('Enter');
    await until(count, `${at + 1} of 60`, `hit ${at + 1}`);
    await until(selected, `hit ${IN_TIME[at]}`, 'the selected hit');
  }
  // 10 us are at least 40 px of the time line.
  const width = await page.locator('.list-view').evaluate((canvas) => canvas.clientWidth);
  await until(
    async () => {
      const [from, to] = ((await place(page)).view ?? '').split('-').map(Number);
      return (10_000 / (to - from)) * width;
    },
    (px) => px >= 40,
    'the width of the hit',
  );
  await page.keyboard.press('Shift+Enter');
  await until(count, '2 of 60', 'back');
  await page.keyboard.press('Shift+Enter');
  await until(count, '1 of 60', 'back at the first');
  await page.keyboard.press('Shift+Enter');
  await until(count, '60 of 60, again from the end', 'the last');
  await until(selected, `hit ${IN_TIME.at(-1)}`, 'the last in time');
  await page.keyboard.press('Enter');
  await until(count, '1 of 60, again from the start', 'the first again');
  assert.deepEqual(troubles, []);
});

test('a match in a signature is counted and marked in the table and the tree', async () => {
  const methods = json('profile', '--format', 'json', example()).filter((m) =>
    `${m.class}.${m.method} ${m.signature}`.includes('Ljava/lang/String;'),
  );
  assert.ok(methods.length > 0);
  const calls = methods.reduce((sum, m) => sum + m.calls + m.recursive_calls, 0);
  const viewer = await view(example());
  const { page, close } = await openPage(viewer.address);
  await ready(page);
  await page.keyboard.press('/');
  await page.keyboard.type('Ljava/lang/String;');
  await until(
    () => page.locator('.search .count').innerText(),
    (text) => text.replaceAll(',', '').startsWith(`${calls} in ${methods.length} method`),
    'the count',
  );
  const box = page.getByLabel('Find in table');
  await box.fill('Ljava/lang/String;');
  const marked = (pane) => page.locator(`${pane} .signature .found`).first().innerText();
  await until(() => marked('.profile'), 'Ljava/lang/String;', 'the profile');
  await page.getByRole('tab', { name: 'Top-down' }).click();
  await until(() => marked('#pane-top-down'), 'Ljava/lang/String;', 'the tree');
  // In a narrow window, the signature in the list of hits does not hide the name before it.
  await page.setViewportSize({ width: 900, height: 700 });
  await page.getByRole('tab', { name: 'Search' }).click();
  await until(() => marked('#pane-search'), 'Ljava/lang/String;', 'the list of hits');
  const cells = page.locator('#pane-search .grid-row:has(.signature)');
  const [row, own] = [cells.first(), cells.locator('.own').first()];
  // A list that is drawn anew has none of its old elements for a moment.
  const seen = async () => {
    const [around, name] = [await row.boundingBox(), await own.boundingBox()];
    if (!around || !name) return false;
    return name.y >= around.y && name.y + name.height <= around.y + around.height;
  };
  await until(seen, true, 'the name beside the signature');
  await close();
  await viewer.stop();
});
