// SPDX-License-Identifier: Apache-2.0
// The first screen: the visible range, where nearly all events lie in a small part of the trace;
// the tab, the clock and the order of the tables.
import { strict as assert } from 'node:assert';
import { openPage, place, ready, rested, tableLines, until } from './browser.mjs';
import { showFile } from './files.mjs';
import { test } from './suite.mjs';
import { example, json, view } from './program.mjs';

/** A stray event at 0, and 200 slices of 1 ms from 2,000 s on. */
const STRAY = [
  { ph: 'X', name: 'boot', pid: 1, tid: 1, ts: 0, dur: 10 },
  ...Array.from({ length: 200 }, (_, i) => {
    return { ph: 'X', name: 'work', pid: 1, tid: 1, ts: 2e9 + 1000 * i, dur: 900 };
  }),
];

/** The view as the page announces it. */
const shown = (page) => page.locator('.summary').innerText();

test('a trace with a stray event opens on the part that has data', async () => {
  const { page, troubles } = await showFile('stray.json', STRAY, { hash: '#unit=s' });
  const [, from, to] = /Shown: ([\d,.]+) to ([\d,.]+) s/.exec(await shown(page));
  // The data, from 2,000 to 2,000.2 s, with the margins of a view.
  assert.ok(Number(from.replace(',', '')) > 1999.9 && Number(to.replace(',', '')) < 2000.3);
  assert.equal(
    await page.locator('.overview .rest').innerText(),
    '1 event before the part shown; press 0 to see all',
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

test('a trace with events everywhere opens on its whole span', async () => {
  const spread = STRAY.map((event, i) => ({ ...event, ts: i * 1e7 }));
  const { page } = await showFile('spread.json', spread, { hash: '#unit=s' });
  assert.match(await shown(page), /the whole trace/);
  assert.equal(await page.locator('.overview .rest').count(), 0);
});

test('a method trace with two clocks opens by CPU time unless the user prefers wall time', async () => {
  const viewer = await view(example());
  const { page, troubles, close } = await openPage(viewer.address, { reader: null });
  await ready(page);
  const byCpu = json('profile', '--format', 'json', '--sort', 'incl-cpu', example());
  const first = async () => (await tableLines(page, 1)).slice(0, 3).map(({ name }) => name);
  for (const [i, name] of (await first()).entries())
    assert.ok(name.includes(`${byCpu[i].class}.${byCpu[i].method}`), `${i}: ${name}`);
  assert.equal((await place(page)).clock, undefined);

  // Bottom-up, those that used the time themselves lead.
  await page.getByRole('tab', { name: 'Bottom-up' }).click();
  await rested(page);
  const [most] = json('tree', '--bottom-up', '--clock', 'cpu', '--format', 'json', example());
  const line = page.locator('#pane-bottom-up .grid-row').first();
  assert.equal(await line.locator('.path').textContent(), `${most.class}.${most.method}`);
  const sorted = page.locator('#pane-bottom-up [aria-sort=descending]');
  assert.match(await sorted.innerText(), /Self CPU/);

  await page.getByRole('button', { name: 'Real', exact: true }).click();
  await until(
    () => sorted.innerText(),
    (head) => /Self Real/.test(head),
    'the order',
  );
  await page.goto('about:blank');
  await page.goto(viewer.address);
  await ready(page);
  assert.match((await first())[0], /context switch/);
  assert.deepEqual(troubles, []);
  await close();
  await viewer.stop();
});

test('a trace without slices opens on the tab that has data', async () => {
  const counter = { ph: 'C', name: 'heap', pid: 1, ts: 0, args: { bytes: 5 } };
  const async = { cat: 'net', id: 1, name: 'load', pid: 1, tid: 1 };
  for (const [tab, events] of [
    ['Counters', [counter, { ...counter, ts: 10 }]],
    ['Info', [{ ph: 'I', name: 'mark', pid: 1, tid: 1, ts: 5 }]],
    [
      'Selection',
      [
        { ...async, ph: 'b', ts: 0 },
        { ...async, ph: 'e', ts: 9 },
      ],
    ],
  ]) {
    const waits = rested;
    const { page } = await showFile(`${tab}.json`, events, { waits });
    const shown = page.locator('[role=tab][aria-selected=true]');
    await until(() => shown.innerText(), tab, 'the tab');
    assert.notEqual(await page.getByRole('tabpanel').innerText(), '');
  }
});

test('a trace with only counters opens on their table and draws each of them', async () => {
  const events = Array.from({ length: 12 }, (_, i) =>
    [0, 2000, 5000].map((ts) => ({
      ...{ ph: 'C', name: `counter ${i}`, pid: 1, ts, args: { value: ts + i } },
    })),
  ).flat();
  const { page, troubles } = await showFile('counters.json', events, {
    waits: (shown) => shown.waitForSelector('#pane-counters .grid-row'),
  });
  assert.match(await page.locator('.overview .key').innerText(), /, 12 counters$/);
  const active = () =>
    page.evaluate(() => {
      const canvas = document.querySelector('.overview canvas');
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
      copy.drawImage(canvas, 0, 0);
      // At 80 % of its width, which is 80 % of the time.
      const { data } = copy.getImageData(0.8 * canvas.width, 4, 1, canvas.height - 12);
      return new Set(new Uint32Array(data.buffer)).size > 1;
    });
  await until(active, true, 'the counters in the overview');
  const names = page.locator('.label .name');
  await until(async () => (await names.allInnerTexts()).includes('counter 1'), true, 'a row');
  assert.deepEqual(troubles, []);
});
