// SPDX-License-Identifier: Apache-2.0
// What the details of events say where a file has several processes, objects inside of others, and
// arguments that hide each other.
import { strict as assert } from 'node:assert';
import { until } from './browser.mjs';
import { showFile } from './files.mjs';
import { before, test } from './suite.mjs';

const slice = (name, pid, tid, ts, dur, more = {}) => ({
  ...{ ph: 'X', name, pid, tid, ts, dur },
  ...more,
});

/** Two processes with a thread 1 each, of which one tells no CPU time. */
const EVENTS = [
  { ph: 'M', name: 'process_name', pid: 7, args: { name: 'Browser' } },
  { ph: 'M', name: 'process_name', pid: 8, args: { name: 'Renderer' } },
  slice('paint', 7, 1, 0, 1000, { tts: 0, tdur: 400 }),
  slice('draw', 8, 1, 0, 1000),
  slice('deep', 8, 1, 200, 100),
  { ph: 's', cat: 'ipc', name: 'call', id: 1, pid: 7, tid: 1, ts: 100 },
  { ph: 'f', cat: 'ipc', name: 'call', id: 1, pid: 8, tid: 1, ts: 150, bp: 'e' },
  { ph: 'B', name: 'fetch', pid: 8, tid: 2, ts: 100, args: { url: 'a needle', kept: 'both' } },
  { ph: 'E', pid: 8, tid: 2, ts: 900, args: { url: 'redirected' } },
  {
    ...{ ph: 'O', name: 'Tree', id: '0x1', pid: 8, tid: 1, ts: 300 },
    args: { snapshot: { root: { id: 'Leaf/0x2', depth: 3 } } },
  },
];

let page;
let troubles;

before(async () => {
  ({ page, troubles } = await showFile('details.json', EVENTS, {
    options: { viewport: { width: 1600, height: 1000 } },
  }));
});

const details = async () =>
  (await page.locator('.details.beside').innerText()).replace(/\s+/g, ' ').trim();

/** The nth row of lanes of which the label says this is clicked at a share of the trace. */
async function press(label, nth, share, words) {
  const row = await page.locator('.label', { hasText: label }).nth(nth).boundingBox();
  const canvas = await page.locator('.list-view').boundingBox();
  const x = canvas.x + ((share + 0.015) / 1.03) * canvas.width;
  await page.mouse.click(x, row.y + 11);
  return until(details, (text) => words.test(text), `${label} at ${share}`);
}

test('a slice shows the name of its process, and its own name once', async () => {
  // Its flows come last.
  const text = await press('[1]', 1, 0.6, /^draw .* flow call 1/);
  assert.match(text, /^draw Real ms/, 'nothing stands between the name and its times');
  assert.match(text, /Process 8 Renderer Thread \[1\] \(draw\), level 1/);
  assert.match(text, /‹ from paint .* \[1\] \(paint\), Browser, flow call 1/);
});

test('a thread without CPU times shows how long its slices took', async () => {
  const words = await page.locator('.label').allInnerTexts();
  const times = words.map((text) => text.replace(/\s+/g, ' ').trim());
  assert.ok(times.includes('[1] (paint) 0.4 ms'), 'of the one that does: its CPU time');
  assert.ok(times.includes('[1] (draw) 1.0 ms'), `of the other its slices: ${times}`);
});

test('search finds overwritten arguments and shows the process', async () => {
  await page.keyboard.press('/');
  await page.keyboard.type('needle');
  await page.keyboard.press('Enter');
  const row = page.locator('#pane-search [role=row]', { hasText: 'fetch' });
  await row.waitFor();
  const text = (await row.innerText()).replace(/\s+/g, ' ');
  assert.match(text, /fetch url: a needle slice .*\[2\] \(fetch\), Renderer/);
  await row.click();
  await page.getByRole('tab', { name: 'Profile' }).click();
  const told = await until(details, (words) => /overwritten/.test(words), 'the slice');
  assert.match(told, /url redirected .*overwritten \{1\} url a needle/);
});

test('an object inside a snapshot links to its own snapshot', async () => {
  await press('Tree', 0, 0.6, /^Tree 0x1/);
  await page.locator('.details.beside').getByRole('button', { name: 'Leaf/0x2' }).click();
  const text = await until(details, (words) => words.startsWith('Leaf 0x2'), 'the inner object');
  assert.match(text, /Snapshot 1 of 1/);
  assert.deepEqual(troubles, []);
});
