// SPDX-License-Identifier: Apache-2.0
// Instants of threads without slices, slices without length, and what keeps a page of thousands of rows usable.
import { strict as assert } from 'node:assert';
import { place, rested, until } from './browser.mjs';
import { showFile } from './files.mjs';
import { test } from './suite.mjs';

const rows = (page) => page.waitForSelector('.label .name');

test('a file with only instants has a row for each thread', async () => {
  const instant = (name, tid, ts, s, more = {}) => ({ ph: 'i', name, pid: 1, tid, ts, s, ...more });
  const { page, troubles } = await showFile(
    'instants.json',
    [
      { ph: 'M', name: 'thread_name', pid: 1, tid: 5, args: { name: 'logger' } },
      instant('begin', 5, 0, 't', { args: { why: 'so' } }),
      instant('all', 6, 500, 'g'),
      instant('mine', 5, 250, 'p'),
      instant('end', 5, 1000, 't'),
    ],
    { waits: rows },
  );
  assert.deepEqual(await page.locator('.label .name').allInnerTexts(), ['logger']);
  assert.match(await page.locator('.ruler .key').innerText(), /1 of \d threads?\s+1 process/);
  // Without slices the page opens on another tab, where no details stand beside a table.
  await page.getByRole('tab', { name: 'Profile' }).click();
  const canvas = await page.locator('.list-view').boundingBox();
  const at = (share) => canvas.x + ((share + 0.015) / 1.03) * canvas.width;
  const details = page.locator('.details.beside');
  const words = async () => (await details.innerText()).replace(/\s+/g, ' ');
  const press = async (share, y, expected) =>
    until(
      async () => {
        await page.mouse.click(at(share), canvas.y + y);
        await rested(page);
        return words();
      },
      (text) => expected.test(text),
      `the instant at ${share}`,
    );
  const top = await page
    .locator('.label')
    .first()
    .evaluate((e) => parseFloat(e.style.top));
  await press(0, top + 4, /^begin.*Scope thread \[5\] logger.*why so/);
  // Those of more than a thread have their marks in the line of the process.
  await press(0.5, top - 4, /^all.*Scope the whole trace/);
  await press(0.25, top - 4, /^mine.*Scope process 1/);
  await until(
    async () => (await place(page)).mark,
    (mark) => /^instant\.\d$/.test(mark),
    'address',
  );
  assert.deepEqual(troubles, []);
});

test('a click selects a slice of length 0', async () => {
  const slice = (name, ts, dur) => ({ ph: 'X', name, pid: 1, tid: 1, ts, dur });
  const all = [
    slice('outer', 0, 10),
    slice('mark', 1, 2),
    slice('mark', 5, 0),
    slice('mark', 8, 2),
  ];
  const { page, troubles } = await showFile('zero.json', all);
  const canvas = await page.locator('.list-view').boundingBox();
  const top = await page
    .locator('.label')
    .first()
    .evaluate((e) => parseFloat(e.style.top));
  // The lower half of the second row.
  await page.mouse.click(canvas.x + (0.515 / 1.03) * canvas.width, canvas.y + top + 33);
  await until(async () => (await place(page)).call, '1.1', 'the second slice inside');
  assert.deepEqual(troubles, []);
});

test('a click on a collapsed thread selects a call that is shorter than a pixel', async () => {
  const slice = (name, ts, dur) => ({ ph: 'X', name, pid: 1, tid: 1, ts, dur });
  const all = [slice('long', 0, 1000), slice('tick', 5000, 1), slice('tock', 10000, 0)];
  const { page, troubles } = await showFile('short.json', all, { hash: '#open=none' });
  const canvas = await page.locator('.list-view').boundingBox();
  const label = await page.locator('.label').first().boundingBox();
  for (const [share, call] of [
    [0.50005, '0.1'],
    [1, '0.2'],
  ]) {
    const x = canvas.x + ((share + 0.015) / 1.03) * canvas.width;
    await page.mouse.click(x, label.y + label.height - 7);
    await until(async () => (await place(page)).call, call, 'the call at that pixel');
  }
  assert.deepEqual(troubles, []);
});

test('many counters are one line that opens', async () => {
  const events = [{ ph: 'X', name: 'work', pid: 1, tid: 1, ts: 0, dur: 100 }];
  for (let i = 0; i < 40; i++)
    events.push({ ph: 'C', name: `counter ${i}`, pid: 1, ts: i, args: { value: i } });
  const { page, troubles } = await showFile('counters.json', events);
  const fold = page.locator('.label .fold');
  await until(() => fold.allInnerTexts().then((t) => t.join()), '40 counters', 'the line');
  assert.equal(await page.locator('.label.counter').count(), 0);
  await fold.click();
  await until(
    () => page.locator('.label.counter').count(),
    (n) => n > 10,
    'the counters',
  );
  await until(async () => (await place(page)).rows, 'counter.0', 'the address');
  await page.locator('.label .fold').press('Enter');
  await until(() => page.locator('.label.counter').count(), 0, 'closed again');
  assert.deepEqual(troubles, []);
});

test('of 5,000 threads only those in view have labels', async () => {
  const events = [];
  for (let i = 1; i <= 5000; i++)
    events.push({ ph: 'X', name: `n${i % 50}`, pid: 1 + (i % 20), tid: i, ts: i, dur: 3 });
  const { page, troubles } = await showFile('threads.json', events);
  const labels = () => page.locator('.labels > *').count();
  assert.ok((await labels()) < 200, 'labels at first');
  const height = await page.evaluate(() => document.querySelector('#tracks').scrollHeight);
  assert.ok(height > 5000 * 18);
  await page.evaluate((y) => {
    document.querySelector('#tracks').scrollTop = y;
  }, height / 2);
  // What is in the middle now has a label there.
  const inMiddle = () =>
    page.evaluate(() => {
      const view = document.querySelector('#tracks').getBoundingClientRect();
      const found = document.elementFromPoint(view.left + 60, view.top + view.height / 2);
      return found?.closest('.label, .group') !== null;
    });
  await until(inMiddle, true, 'labels in the middle');
  assert.ok((await labels()) < 200, 'labels in the middle');
  assert.deepEqual(troubles, []);
});
