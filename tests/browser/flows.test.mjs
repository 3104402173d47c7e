// SPDX-License-Identifier: Apache-2.0
// Flows: arrows over the tracks, the ways along them, links in the details, the menu of categories;
// and the contexts of a call.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { openPage, place, ready, rested, until } from './browser.mjs';
import { showFile } from './files.mjs';
import { before, test } from './suite.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const slice = (name, pid, tid, ts, dur, more = {}) => ({
  ...{ ph: 'X', name, cat: 'work', pid, tid, ts, dur },
  ...more,
});
const flow = (ph, id, pid, tid, ts, cat = 'net', name = 'message') => ({
  ...{ ph, id, name, cat, pid, tid, ts },
  ...(ph === 'f' ? { bp: 'e' } : {}),
});

/** Times in microseconds; the trace is 1000 long. */
const EVENTS = [
  { ph: 'M', name: 'process_name', pid: 1, args: { name: 'Client' } },
  { ph: 'M', name: 'process_name', pid: 2, args: { name: 'Server' } },
  { ph: 'M', name: 'thread_name', pid: 1, tid: 11, args: { name: 'main' } },
  { ph: 'M', name: 'thread_name', pid: 2, tid: 21, args: { name: 'worker' } },
  slice('frame', 1, 11, 0, 1000),
  slice('send', 1, 11, 100, 100),
  slice('handle', 2, 21, 500, 100),
  slice('log', 2, 21, 650, 50),
  slice('store', 2, 21, 800, 100),
  // send -> handle, log, store: one start and three ends
  { ...flow('s', 7, 1, 11, 150), args: { bytes: 1234 } },
  flow('f', 7, 2, 21, 500),
  flow('f', 7, 2, 21, 660),
  flow('f', 7, 2, 21, 810),
  // handle -> frame, by bind_id: from the end of one to the start of an async slice
  slice('reply', 2, 21, 700, 50, { bind_id: '0x9', flow_out: true }),
  {
    ...{ ph: 'b', name: 'await', cat: 'wait', id: 3, pid: 1, tid: 11, ts: 850 },
    ...{ bind_id: '0x9', flow_in: true },
  },
  { ph: 'e', name: 'await', cat: 'wait', id: 3, pid: 1, tid: 11, ts: 950 },
  // no slice to bind to
  flow('s', 8, 2, 99, 10),
  // a context around send
  { ph: '(', name: 'Request', id: '0x51', pid: 1, tid: 11, ts: 90 },
  { ph: ')', name: 'Request', id: '0x51', pid: 1, tid: 11, ts: 300 },
];

let page;
let troubles;
let address;

before(async () => {
  ({ page, troubles, address } = await showFile('flows.json', EVENTS));
});

const texts = (selector) => page.locator(selector).allInnerTexts();
const details = () => page.locator('.details.beside');
const heading = () => details().locator('h2').innerText();
const spoken = () => page.locator('.page > .sr-only').first().innerText();

const topOf = (text) =>
  page
    .locator('.label', { hasText: text })
    .first()
    .evaluate((e) => parseFloat(e.style.top));

/** Of a time in microseconds while the whole trace is shown, which begins 1.5 % before it. */
async function xOf(us) {
  const { width } = await page.locator('.list-view').boundingBox();
  return ((us / 1000 + 0.015) / 1.03) * width;
}

/** Click on a call: its track's name, row and a time in it. */
async function choose(track, row, us) {
  const box = await page.locator('.list-view').boundingBox();
  await page.mouse.click(box.x + (await xOf(us)), box.y + (await topOf(track)) + 3 + row * 18 + 8);
}

/** How many pixels around a point have nearly that colour of the theme. */
function inkAround(x, y, name, reach = 3, near = 30) {
  return page.evaluate(
    ([cx, cy, property, r, most]) => {
      const copy = window.copyOf('.list-view');
      const ratio = copy.canvas.height / document.querySelector('.list-view').clientHeight;
      const text = getComputedStyle(document.documentElement).getPropertyValue(property).trim();
      const wanted = [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16));
      const size = 2 * r + 1;
      const { data } = copy.getImageData(
        ...[Math.round(cx * ratio) - r, Math.round(cy * ratio) - r, size, size],
      );
      let found = 0;
      for (let i = 0; i < data.length; i += 4)
        if (wanted.every((c, k) => Math.abs(c - data[i + k]) < most)) found++;
      return found;
    },
    [x, y, name, reach, near],
  );
}

/** Half-way along the arrow from send (row 1 of main) to handle (row 0 of worker). */
async function middle() {
  const from = (await topOf('main')) + 3 + 18 + 8.5;
  const to = (await topOf('worker')) + 3 + 8.5;
  return [((await xOf(150)) + (await xOf(500))) / 2, (from + to) / 2];
}

test('no arrow is drawn before a call is selected', async () => {
  const [x, y] = await middle();
  assert.equal(await inkAround(x, y, '--text-2'), 0);
});

test('the arrows of the selected call are drawn', async () => {
  await choose('main', 1, 110);
  await until(heading, 'send', 'the selected call');
  const [x, y] = await middle();
  await until(
    () => inkAround(x, y, '--text-2'),
    (n) => n > 0,
    'the arrow',
  );
  // The head at the start of "handle", in the middle of its row.
  const top = (await topOf('worker')) + 3 + 8;
  assert.ok((await inkAround((await xOf(500)) - 4, top, '--text-2', 2)) >= 6);
});

test('the details link to the calls at the other ends', async () => {
  await until(
    async () =>
      (await texts('.details.beside .flow-links li'))
        .map((t) => t.replace(/\s+/g, ' ').trim())
        .join('; '),
    'to › handle 0.350 ms after [21] worker, Server, flow message 7; ' +
      'to › log 0.510 ms after [21] worker, Server, flow message 7; ' +
      'to › store 0.660 ms after [21] worker, Server, flow message 7',
    'the links',
  );
  await details().locator('.flow-links button', { hasText: 'log' }).click();
  await until(heading, 'log', 'the call at the other end');
  const back = details().locator('.flow-links li');
  await until(async () => (await back.count()) === 1, true, 'its one flow');
  assert.match(await back.innerText(), /from\s+send/);
});

test('a link opens the arguments of the flow events', async () => {
  await choose('main', 1, 110);
  await until(heading, 'send', 'the selected call');
  const first = details().locator('.flow-links details').first();
  await first.locator('summary').click();
  await until(
    async () => /bytes\s*1234/.test(await first.innerText()),
    true,
    'the arguments of the start',
  );
});

test('] and [ follow the flow, one arrow after the other where there are several', async () => {
  await choose('worker', 0, 675);
  await until(heading, 'log', 'a call where a flow arrives');
  await page.keyboard.press('[');
  await until(heading, 'send', 'back along the flow');
  await page.keyboard.press(']');
  await until(heading, 'log', 'on to where it came from');
  await choose('main', 1, 110);
  await until(heading, 'send', 'the first call');
  for (const [name, nth] of [
    ['handle', 1],
    ['log', 2],
    ['store', 3],
    ['handle', 1],
  ]) {
    await page.keyboard.press(']');
    await until(heading, name, 'on along the flow');
    await until(spoken, (text) => text.startsWith(`Flow on, ${nth} of 3: ${name}`), 'what is said');
    await until(
      () => details().locator('.flow-links .said').innerText(),
      (text) => text.includes('of 3'),
      'what the details say',
    );
    await page.keyboard.press('[');
    await until(heading, 'send', 'back again');
  }
  await page.keyboard.press('[');
  await until(spoken, 'No flow arrives at this slice', 'that there is none');
  assert.equal(await heading(), 'send');
});

test('a flow by bind_id leads to an async slice', async () => {
  await choose('worker', 0, 725);
  await until(heading, 'reply', 'the producer');
  await page.keyboard.press(']');
  await until(heading, 'await', 'the consumer');
  await until(
    async () => (await texts('.details.beside .flow-links li')).join().replace(/\s+/g, ' '),
    (text) => text.includes('from reply 0.100 ms before'),
    'the way back',
  );
});

test('an arrow shows its figures, and a click on it goes to the other end', async () => {
  await choose('main', 1, 110);
  await until(heading, 'send', 'the selected call');
  const box = await page.locator('.list-view').boundingBox();
  const [x, y] = await middle();
  await until(
    () => inkAround(x, y, '--text-2'),
    (n) => n > 0,
    'the arrow',
  );
  await page.mouse.move(box.x + x, box.y + y);
  await page.waitForSelector('.tip:not([hidden])');
  const tip = (await page.locator('.tip').innerText()).replace(/\s+/g, ' ').trim();
  assert.equal(
    tip,
    'message id 7: send on [11] main, Client → handle on [21] worker, Server, 0.350 ms between',
  );
  await until(
    () => inkAround(x, y, '--select'),
    (n) => n > 0,
    'the arrow under the pointer',
  );
  await page.mouse.click(box.x + x, box.y + y);
  await until(heading, 'handle', 'the other end');
  await page.mouse.move(5, 5);
});

test('a second click does not hit the arrow that the first click moved under the pointer', async () => {
  await page.keyboard.press('Escape');
  await until(() => details().locator('h2').count(), 0, 'nothing selected');
  const box = await page.locator('.list-view').boundingBox();
  // In "send", right after the point at which its arrows leave.
  const x = box.x + (await xOf(155));
  const y = box.y + (await topOf('main')) + 3 + 18 + 8;
  await page.mouse.move(x, y);
  await page.mouse.click(x, y);
  await until(heading, 'send', 'the selected call');
  await until(() => details().locator('.flow-links li').count(), 3, 'its flows');
  await page.mouse.down();
  await page.mouse.up();
  await rested(page);
  assert.equal(await heading(), 'send');
});

test('arrows to a collapsed track or a closed process end on its line', async () => {
  await choose('main', 1, 110);
  await until(heading, 'send', 'the selected call');
  await page.locator('.labels .group', { hasText: 'Server' }).click();
  await until(() => page.locator('.label', { hasText: 'worker' }).count(), 0, 'closed');
  const line = await page
    .locator('.labels .group', { hasText: 'Server' })
    .evaluate((e) => e.parentElement.offsetTop + e.offsetHeight / 2);
  const x = (await xOf(500)) - 4;
  await until(
    () => inkAround(x, line, '--text-2', 2),
    (n) => n >= 6,
    'the head on the line',
  );
  await page.locator('.labels .group', { hasText: 'Server' }).click();
  await page.getByRole('button', { name: 'Levels of [21] worker' }).click();
  const top = await topOf('worker');
  const height = await page
    .locator('.label', { hasText: 'worker' })
    .evaluate((e) => e.offsetHeight);
  await until(
    () => inkAround(x, top + height / 2, '--text-2', 2),
    (n) => n >= 6,
    'collapsed',
  );
  await page.getByRole('button', { name: 'Levels of [21] worker' }).click();
});

test('an arrow whose end is out of view leaves at the edge', async () => {
  await rested(page); // the address is written a moment after the process was opened again
  // 0 to 300 us: "handle" begins at 500.
  await page.evaluate(() => {
    location.hash = location.hash.replace(/view=[^&]*&?/, '') + '&view=0-300000';
  });
  const { width } = await page.locator('.list-view').boundingBox();
  const top = (await topOf('worker')) + 3 + 8;
  await until(
    () => inkAround(width - 4, top, '--text-2', 2),
    (n) => n >= 6,
    'head at the edge',
  );
  await page.keyboard.press('0');
  await until(async () => 'view' in (await place(page)), false, 'the whole trace');
});

test('flows can be drawn by category, and the address keeps it', async () => {
  await page.keyboard.press('Escape');
  await until(() => details().locator('h2').count(), 0, 'nothing selected');
  const [x, y] = await middle();
  await until(() => inkAround(x, y, '--text-2'), 0, 'no arrow');
  await page.getByRole('button', { name: 'Flows' }).click();
  const menu = page.getByRole('menu', { name: 'Flows drawn as arrows' });
  await until(
    async () => (await menu.getByRole('menuitemcheckbox').allInnerTexts()).length,
    3,
    'the categories',
  );
  assert.deepEqual(
    (await menu.getByRole('menuitemcheckbox').allInnerTexts()).map((t) => t.replace(/\s+/g, ' ')),
    ['✓ Of the selected slice', 'net 3', 'work 1'],
  );
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  for (const [key, entry] of [
    ['End', 'work1'],
    ['n', 'None'],
    ['n', 'net3'],
    ['Home', '✓Of the selected slice'],
    ['ArrowUp', 'work1'],
  ]) {
    await page.keyboard.press(key);
    assert.equal(await focused(), entry, `after ${key}`);
  }
  assert.match(await menu.innerText(), /1 flow event without an arrow: see Health/);
  await menu.getByRole('menuitemcheckbox', { name: 'net' }).click();
  // Thin and half transparent, so the head at the start of "handle" is looked at.
  const head = [(await xOf(500)) - 3, (await topOf('worker')) + 3 + 8];
  const ink = () => inkAround(...head, '--text-3', 2, 60);
  await until(ink, (n) => n >= 3, 'the arrows of the category');
  await until(async () => (await place(page)).flows !== undefined, true, 'the address');
  assert.match(await menu.innerText(), /3 arrows in view/);
  await menu.getByRole('menuitem', { name: 'None' }).click();
  await until(async () => (await place(page)).flows, 'none', 'the address without flows');
  await until(ink, 0, 'no arrow again');
  await page.keyboard.press('Escape');
  assert.equal(await menu.isHidden(), true);
  assert.equal(await focused(), 'Flowsnone', 'the focus is back on the button');
  await choose('main', 1, 110);
  await until(heading, 'send', 'the selected call');
  await rested(page);
  assert.equal(await inkAround(x, y, '--text-2'), 0);
  await until(async () => 'call' in (await place(page)), true, 'the address with the call');
  await page.goBack();
  await page.goBack();
  await until(async () => /^\d+$/.test((await place(page)).flows), true, 'the category again');
});

test('a call shows the contexts in which it ran', async () => {
  const lines = async () =>
    (await texts('.details.beside .contexts tr')).map((t) => t.replace(/\s+/g, ' ')).join();
  await choose('main', 1, 110);
  await until(lines, 'Request 0x51 0.090 ms to 0.300 ms', 'the call in the context');
  await choose('worker', 0, 550);
  await until(heading, 'handle', 'a call in none');
  await until(lines, '', 'no context');
});

test('accessible: the menu and the links of flows', async () => {
  // The test's own script is not in the page's content policy.
  const other = await openPage(address, { colorScheme: 'dark', bypassCSP: true });
  try {
    await ready(other.page);
    await other.page.evaluate(
      (hash) => {
        location.hash = hash;
      },
      `call=${(await place(page)).call}`,
    );
    await other.page.waitForSelector('.details.beside .flow-links li');
    await other.page.getByRole('button', { name: 'Flows' }).click();
    await other.page.waitForSelector('.flow-menu [data-key=c1]');
    await other.page.evaluate(axe);
    const { violations } = await other.page.evaluate(() => globalThis.axe.run(document));
    assert.deepEqual(
      violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).join(' ')}`),
      [],
    );
  } finally {
    await other.close();
  }
});

test('no errors were reported', () => {
  assert.deepEqual(troubles, []);
});
