// SPDX-License-Identifier: Apache-2.0
// Trace Event files: what they have beside the calls of threads.
import { strict as assert } from 'node:assert';
import { place, until } from './browser.mjs';
import { showFile } from './files.mjs';
import { before, test } from './suite.mjs';
import { json } from './program.mjs';

/** Two processes, of which the second stands first; times in microseconds. */
const EVENTS = [
  { ph: 'M', name: 'process_name', pid: 1, args: { name: 'Browser' } },
  { ph: 'M', name: 'process_sort_index', pid: 1, args: { sort_index: 5 } },
  { ph: 'M', name: 'process_name', pid: 2, args: { name: 'Renderer' } },
  { ph: 'M', name: 'process_labels', pid: 2, args: { labels: 'a tab' } },
  { ph: 'M', name: 'process_uptime_seconds', pid: 2, args: { uptime: 90 } },
  { ph: 'M', name: 'thread_name', pid: 1, tid: 11, args: { name: 'main' } },
  { ph: 'M', name: 'thread_name', pid: 2, tid: 21, args: { name: 'paint' } },
  { ph: 'X', name: 'task', cat: 'top', pid: 1, tid: 11, ts: 0, dur: 1000, args: { url: 'x:y' } },
  { ph: 'X', name: 'inner', cat: 'top', pid: 1, tid: 11, ts: 100, dur: 300, cname: 'terrible' },
  { ph: 'X', name: 'draw', cat: 'gpu', pid: 2, tid: 21, ts: 600, dur: 300 },
  { ph: 'X', name: 'late', cat: 'gpu', pid: 2, tid: 21, ts: 800, dur: 200 },
  { ph: 'C', name: 'memory', pid: 1, ts: 0, args: { used: 10, free: 20 } },
  { ph: 'C', name: 'memory', pid: 1, ts: 500, args: { used: '25', free: 5 } },
  { ph: 'i', name: 'mark', cat: 'top', s: 't', pid: 1, tid: 11, ts: 700, args: { why: 'now' } },
  { ph: 'i', name: 'whole', s: 'p', pid: 2, tid: 21, ts: 250 },
  { ph: 'b', name: 'load', cat: 'net', id: 7, pid: 1, tid: 11, ts: 50 },
  { ph: 'e', name: 'load', cat: 'net', id: 7, pid: 1, tid: 11, ts: 700 },
];

const NARROW = { viewport: { width: 1400, height: 900 } };

let page;
let troubles;
let address;
let file;

before(async () => {
  ({ page, troubles, address, file } = await showFile('small.json', {
    displayTimeUnit: 'ns',
    traceEvents: EVENTS,
  }));
});

const texts = (selector) => page.locator(selector).allInnerTexts();

/** The colour of a canvas at a share of its width and a distance from its top, as #rrggbb. */
function colourAt(selector, x, y) {
  return page.evaluate(
    ([found, share, top]) => {
      const copy = window.copyOf(found);
      const { width, height } = copy.canvas;
      const ratio = height / document.querySelector(found).clientHeight;
      const at = [Math.round(share * width), Math.round(top * ratio)];
      const [r, g, b] = copy.getImageData(...at, 1, 1).data;
      return '#' + [r, g, b].map((n) => n.toString(16).padStart(2, '0')).join('');
    },
    [selector, x, y],
  );
}

const topOf = (text) =>
  page
    .locator('.label', { hasText: text })
    .first()
    .evaluate((e) => parseFloat(e.style.top));

test('tracks are below their processes, in the order of the file', async () => {
  assert.deepEqual(
    (await texts('.labels .group')).map((text) => text.replace(/\s+/g, ' ').trim()),
    ['Renderer pid 2 a tab', 'Browser pid 1'],
  );
  assert.match(
    await page.locator('.labels .group').first().getAttribute('title'),
    /^Renderer, process 2, a tab, up for 1 min 30 s, 1 thread\./,
  );
  assert.deepEqual(await texts('.label .name'), ['paint', 'paint', 'main', 'load', 'memory']);
  assert.deepEqual(await texts('.label .kind'), ['overlap', 'async']);
  assert.match(await page.locator('.label .pick').nth(3).getAttribute('title'), /\[11\] main/);
  assert.match(await page.locator('.ruler .key').innerText(), /2 of 2 threads\s+2 processes/);
});

test('a click on the line of a process closes and opens it, and the address keeps it', async () => {
  const line = page.locator('.labels .group').first();
  await line.click();
  await until(() => texts('.label .name').then((t) => t.join()), 'main,load,memory', 'tracks left');
  assert.equal(await line.getAttribute('aria-expanded'), 'false');
  await until(async () => 'closed' in (await place(page)), true, 'the address');
  await page.locator('.labels .group').first().press('Enter');
  await until(() => texts('.label .name').then((t) => t.length), 5, 'all tracks');
});

test('times have the unit that the reader chose, not that of the file', async () => {
  assert.equal(await page.getByLabel('Unit of times').inputValue(), 'ms');
  assert.equal('unit' in (await place(page)), false);
});

test('the top bar shows the number of events where threads have no slices', async () => {
  const bar = (opened) => opened.locator('.top .facts');
  const value = { ph: 'C', name: 'load', pid: 1 };
  const values = [1, 9].map((ts) => ({ ...value, ts, args: { now: ts } }));
  const wait = { name: 'wait', cat: 'net', pid: 1, tid: 1 };
  const waits = [2, 3].flatMap((id) => [
    { ...wait, ph: 'b', id, ts: id },
    { ...wait, ph: 'e', id, ts: id + 5 },
  ]);
  const shown = (other) => bar(other).waitFor();
  const some = await showFile('counter.json', values, { waits: shown });
  assert.match(await bar(some.page).innerText(), /0\.008 ms\s+0 threads\s+1 counter$/);
  const more = await showFile('async.json', [...values, ...waits], { waits: shown });
  assert.match(await bar(more.page).innerText(), /1 thread\s+2 async slices\s+1 counter$/);
});

test('slices have the colour of their name, or the one that the event gives', async () => {
  // In the style sheet: --te-11 for "task", whose hash is worked out here as the format says.
  let hash = 0;
  for (const c of 'task') hash = (hash + 37 * hash + 11 * c.charCodeAt(0)) % 0xffffffff;
  const expected = await page.evaluate(
    (n) => getComputedStyle(document.documentElement).getPropertyValue(`--te-${n}`).trim(),
    hash % 23,
  );
  const swatch = page.locator('.profile .row.method', { hasText: 'task' }).locator('.swatch');
  const shown = await swatch.evaluate((e) => getComputedStyle(e).backgroundColor);
  assert.deepEqual(
    shown.match(/\d+/g).map(Number),
    expected.match(/[0-9a-f]{2}/g).map((c) => parseInt(c, 16)),
  );
  const top = await topOf('main');
  // The view begins 1.5 % before the trace; "inner" lies at 100 to 400 of 1000 us.
  await until(() => colourAt('.list-view', 0.35, top + 30), '#b40000', 'terrible');
});

test('a name whose slices all have one reserved colour has it in lists and details', async () => {
  // "terrible" of Trace Viewer's reserved colours
  const terrible = 'rgb(180, 0, 0)';
  const row = page.locator('.profile .row.method', { hasText: 'inner' });
  const shown = (swatch) => swatch.evaluate((e) => getComputedStyle(e).backgroundColor);
  assert.equal(await shown(row.locator('.swatch').first()), terrible);
  await row.click();
  await page.locator('.details.beside').getByRole('button', { name: 'First slice' }).click();
  await page.locator('.details.beside').getByText('Slices inside').waitFor();
  assert.equal(await shown(page.locator('.details.beside h2 .swatch')), terrible);
  await page.keyboard.press('Escape');
});

test('counters are stacked areas and show the value under the pointer', async () => {
  assert.deepEqual(await texts('.label.counter .name, .label.counter .second'), [
    'memory',
    'used, free',
  ]);
  // The colour of a series is that of "counter.series".
  const colourOf = (text) => {
    let hash = 0;
    for (const c of text) hash = (hash + 37 * hash + 11 * c.charCodeAt(0)) % 0xffffffff;
    return page.evaluate(
      (n) => getComputedStyle(document.documentElement).getPropertyValue(`--te-${n}`).trim(),
      hash % 23,
    );
  };
  const top = await topOf('memory');
  // The stack is 30 in 28 px: used has 9 of them at first and 23 later, free stands upon it.
  const used = await colourOf('memory.used');
  const free = await colourOf('memory.free');
  await until(() => colourAt('.list-view', 0.25, top + 28), used, 'used at first');
  assert.equal(await colourAt('.list-view', 0.25, top + 15), free);
  assert.equal(await colourAt('.list-view', 0.75, top + 15), used);
  assert.equal(await colourAt('.list-view', 0.75, top + 6), free);
  const canvas = await page.locator('.list-view').boundingBox();
  await page.mouse.move(canvas.x + canvas.width * 0.75, canvas.y + top + 15);
  await page.waitForSelector('.tip:not([hidden])');
  assert.deepEqual(
    (await texts('.tip div')).map((text) => text.replace(/\s+/g, ' ').trim()),
    ['memory', 'used 25', 'free 5'],
  );
  await page.mouse.move(5, 5);
});

test('the series of a counter can be overlaid or shown alone, and the address keeps it', async () => {
  const choice = page.getByLabel('How memory is drawn');
  const top = await topOf('memory');
  const stacked = await colourAt('.list-view', 0.25, top + 15);
  await choice.selectOption('only used');
  // Alone its scale ends at 25: at first it has 10 of 25, and the place of "free" is empty.
  const ground = await page.evaluate(() =>
    getComputedStyle(document.documentElement).getPropertyValue('--bg').trim(),
  );
  await until(() => colourAt('.list-view', 0.25, top + 12), ground, 'nothing stands upon it');
  assert.notEqual(stacked, ground);
  await until(async () => (await place(page)).counters, '0.0', 'the address');
  await choice.selectOption('overlaid');
  await until(async () => (await place(page)).counters, '0.overlap', 'the address');
  await choice.selectOption('All counters: end at the last value');
  // The last sample is in the middle of the trace: after it there is nothing more.
  await until(() => colourAt('.list-view', 0.75, top + 25), ground, 'no value is held');
  await until(async () => (await place(page)).hold, '0', 'the address');
  await choice.selectOption('All counters: hold the last value to the end');
  await choice.selectOption('stacked');
  await until(async () => (await place(page)).counters, undefined, 'the address');
});

test('instants are marks that show their fields', async () => {
  const canvas = await page.locator('.list-view').boundingBox();
  // The view begins and ends 1.5 % beside the trace.
  const at = (share) => ((share + 0.015) / 1.03) * canvas.width;
  // The colour of its name, as slices have.
  let hash = 0;
  for (const c of 'mark') hash = (hash + 37 * hash + 11 * c.charCodeAt(0)) % 0xffffffff;
  const own = await page.evaluate(
    (n) => getComputedStyle(document.documentElement).getPropertyValue(`--te-${n}`).trim(),
    hash % 23,
  );
  const top = await topOf('main');
  await until(() => colourAt('.list-view', at(0.7) / canvas.width, top + 3), own, 'the tick');
  await page.mouse.click(canvas.x + at(0.7), canvas.y + top + 3);
  const details = page.locator('.details.beside');
  await until(() => details.locator('h2').innerText(), 'mark', 'the details');
  assert.match(await details.innerText(), /\[11\] main/);
  assert.match(await details.innerText(), /why\s*now/);
  const line = await page
    .locator('.labels .group')
    .first()
    .evaluate((e) => e.parentElement.offsetTop);
  await page.mouse.click(canvas.x + at(0.25), canvas.y + line + 16);
  await until(() => details.locator('h2').innerText(), 'whole', 'the details of the other');
  assert.match(await details.innerText(), /process 2 Renderer/);
  await page.locator('.profile .row.method', { hasText: 'task' }).click();
  await until(() => details.locator('h2').innerText(), 'task', 'a name selected after it');
  await page.keyboard.press('Escape');
  await until(() => details.locator('h2').count(), 0, 'nothing selected');
});

test('the Info tab has the numbers of the info command', async () => {
  const info = json('info', '--format', 'json', file);
  await page.getByRole('tab', { name: 'Info' }).click();
  const lines = await page
    .locator('#pane-info tr')
    .evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
  const told = Object.fromEntries(lines);
  const counts = {
    counters: 'Counters',
    counter_series: 'Counter series',
    async_slices: 'Async slices',
  };
  Object.assign(counts, { thread_instants: 'Instants of threads', instants: 'Other instants' });
  for (const [key, line] of Object.entries(counts)) {
    assert.ok(info[key] > 0, key);
    assert.equal(told[line], String(info[key]), line);
  }
  assert.match(told['Slices'], new RegExp(`^${info.slices} slices`));
  assert.match(told['Threads'], new RegExp(`^${info.threads} threads?`));
  assert.equal(told['Counter samples'], String(info.counter_samples));
  await page.getByRole('tab', { name: 'Profile' }).click();
});

test('threads with only async slices are named and counted once, and the trace is not called empty', async () => {
  const async = (ph, tid, ts) => ({ ph, name: 'fetch', cat: 'n', id: tid, pid: 1, tid, ts });
  const name = (tid, text) => ({ ph: 'M', name: 'thread_name', pid: 1, tid, args: { name: text } });
  const events = [
    ...[async('b', 1, 1), async('e', 1, 6), async('b', 2, 2), async('e', 2, 7)],
    ...[name(1, 'Worker1'), name(2, 'Worker2')],
  ];
  const opened = await showFile('async.json', events, { options: NARROW, waits: () => {} });
  const other = opened.page;
  const labels = async () =>
    (await other.locator('.labels .pick').allInnerTexts()).map((t) => t.replace(/\s+/g, ' '));
  const order = '[1] Worker1,fetch,[2] Worker2,fetch';
  await until(() => labels().then((t) => t.join()), order, 'the labels');
  assert.match(await other.locator('.ruler .key').innerText(), /2 of 2 threads\s+1 process/);
  assert.match(await other.locator('.overview .key').innerText(), /async slices/);
  // Five microseconds are not "0.0 ms".
  assert.equal((await other.locator('.label .side').first().innerText()).trim(), '5.0 µs');
  // There is no profile to open on.
  await until(() => other.locator('#pane-selection .grid-row').count(), 1, 'the statistics');
  assert.deepEqual(opened.troubles, []);
});

test('a memory table scrolls sideways and keeps its names whole', async () => {
  const attrs = (names) =>
    Object.fromEntries(names.map((n) => [n, { type: 'scalar', units: 'bytes', value: '800' }]));
  const columns = ['size', 'effective_size', 'proportional_resident', 'private_dirty_resident'];
  const dumps = {
    process_totals: { resident_set_bytes: '1000' },
    allocators: {
      malloc: { attrs: attrs(columns) },
      'malloc/allocated': { attrs: attrs(columns) },
    },
  };
  const dump = { ph: 'v', name: 'd', id: '0x1', ts: 10, pid: 1, tid: -1, args: { dumps } };
  const work = { ph: 'X', name: 'w', pid: 1, tid: 1, ts: 0, dur: 20 };
  const opened = await showFile('memory.json', [work, dump], { options: NARROW });
  const other = opened.page;
  const canvas = await other.locator('.list-view').boundingBox();
  const label = await other.locator('.label', { hasText: 'Memory dumps' }).boundingBox();
  await other.mouse.click(canvas.x + canvas.width / 2, label.y + label.height / 2);
  const wide = other.locator('.details.beside .wide').last();
  await wide.waitFor();
  const seen = await wide.evaluate((e) => {
    const details = e.closest('.details');
    const row = [...e.querySelectorAll('tr')].find((r) => /malloc/.test(r.innerText));
    const line = parseFloat(getComputedStyle(row).lineHeight) || 20;
    return {
      itself: e.scrollWidth > e.clientWidth,
      around: details.scrollWidth > details.clientWidth,
      lines: Math.round(row.clientHeight / line),
    };
  });
  assert.deepEqual(seen, { itself: true, around: false, lines: 1 });
  assert.deepEqual(opened.troubles, []);
});

test('a slice shows how much of it was on the CPU', async () => {
  const third = { ph: 'X', name: 'third', cname: 'good', pid: 1, tid: 1 };
  const opened = await showFile('cpu.json', [{ ...third, ts: 0, dur: 30, tts: 0, tdur: 10 }]);
  const before = page;
  page = opened.page;
  const top = await topOf('(third)');
  // The first 10 of 30 us in the colour itself, the others paler.
  await until(() => colourAt('.list-view', 0.3, top + 15), '#007d00', 'on the CPU');
  assert.notEqual(await colourAt('.list-view', 0.4, top + 15), '#007d00');
  const canvas = await page.locator('.list-view').boundingBox();
  await page.mouse.click(canvas.x + canvas.width * 0.6, canvas.y + top + 10);
  const line = page.locator('.details.beside tr', { hasText: 'Not on the CPU' });
  assert.match(await line.innerText(), /0\.020\s+66\.7 %/);
  page = before;
  assert.deepEqual(opened.troubles, []);
});

test('no errors were reported', async () => {
  assert.ok(address);
  assert.deepEqual(troubles, []);
});
