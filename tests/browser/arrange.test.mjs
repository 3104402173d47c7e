// SPDX-License-Identifier: Apache-2.0
// Tracks are pinned, hidden, moved and filtered, by keys, buttons and dragging, and stay so.
import { strict as assert } from 'node:assert';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPage, place, ready, rested, until } from './browser.mjs';
import { after, before, test } from './suite.mjs';
import { view } from './program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'arrange-'));

/**
 * Two processes: app with disk, io and net, gpu with raster. No thread is the main one and all are
 * equally busy, so they stand by name.
 */
function trace(pids, names = ['disk', 'io', 'net', 'raster']) {
  const events = [
    { ph: 'M', name: 'process_name', pid: pids[0], args: { name: 'app' } },
    { ph: 'M', name: 'process_name', pid: pids[1], args: { name: 'gpu' } },
  ];
  names.forEach((name, i) => {
    const [pid, tid] = [name === 'raster' ? pids[1] : pids[0], 10 + i];
    events.push({ ph: 'M', name: 'thread_name', pid, tid, args: { name } });
    for (let k = 0; k < 9; k++)
      events.push({ ph: 'X', name: `work of ${name}`, pid, tid, ts: k * 100, dur: 90 });
  });
  return JSON.stringify(events);
}

let viewer;
let opened;
let page;

async function open(text, hash = '') {
  writeFileSync(join(folder, 'app.json'), text);
  viewer = await view(join(folder, 'app.json'));
  opened = await openPage(viewer.address + hash);
  page = opened.page;
  await ready(page);
}

async function close() {
  assert.deepEqual(opened.troubles, []);
  await opened.close();
  await viewer.stop();
}

before(() => open(trace([1, 2])));

after(async () => {
  await close();
  rmSync(folder, { recursive: true });
});

/** Names of tracks and processes from the top down, as they are seen. */
const order = () =>
  page.evaluate(() =>
    [...document.querySelectorAll('.labels .name, .labels .group b')]
      .map((e) => ({ y: e.getBoundingClientRect().top, text: e.textContent }))
      .sort((a, b) => a.y - b.y)
      .map(({ text }) => text)
      .join(' '),
  );
const label = (name) => page.locator('.labels .pick', { hasText: name });
const shows = (expected, what) => until(order, expected, what);
const USUAL = 'app disk io net gpu raster';

/** Names that are listed anew lose the focus, so keys wait for a page at rest. */
async function focus(locator) {
  await rested(page);
  await locator.focus();
}

/** The name of what is under the pointer in the middle of a track. */
async function under(name) {
  const box = await label(name).boundingBox();
  const canvas = await page.locator('.list-view').boundingBox();
  await page.mouse.move(canvas.x + canvas.width / 2, box.y + box.height / 2);
  return page.locator('.readout').innerText();
}

test('a pinned track comes first, does not scroll, and is drawn at its pinned place', async () => {
  await shows(USUAL, 'nothing is arranged');
  await focus(label('net'));
  await page.keyboard.press('p');
  await shows('net app disk io gpu raster', 'pinned by its key');
  await until(
    () => under('net'),
    (text) => text.includes('work of net'),
    'drawn on top',
  );
  await until(
    () => under('disk'),
    (text) => text.includes('work of disk'),
    'the others below',
  );
  await until(async () => (await place(page)).pin, 't2', 'in the address');
  const top = () => label('net').evaluate((e) => e.getBoundingClientRect().top);
  const before = await top();
  await page.setViewportSize({ width: 1600, height: 600 });
  await focus(page.locator('.splitter'));
  await page.locator('.tracks').evaluate((e) => (e.style.height = '70px'));
  await page.locator('.tracks').evaluate((e) => (e.scrollTop = 40));
  assert.equal(await top(), before);
  await until(
    () => under('net'),
    (text) => text.includes('work of net'),
    'also when scrolled',
  );
  await page.locator('.tracks').evaluate((e) => {
    e.scrollTop = 0;
    e.style.height = '';
  });
  await page.setViewportSize({ width: 1600, height: 1000 });
  await rested(page); // the address, and with it the history, is written a moment later
  await page.keyboard.press('Control+z');
  await shows(USUAL, 'undone');
});

test('the buttons on a name never cover the time line', async () => {
  const overlap = (name) =>
    page.evaluate((text) => {
      const own = [...document.querySelectorAll('.scrolled-labels .label')].find(
        (e) => e.querySelector('.name')?.textContent === text,
      );
      const line = own.querySelector('.line').getBoundingClientRect();
      const side = own.querySelector('.side').getBoundingClientRect();
      const buttons = own.querySelector('.arrange').getBoundingClientRect();
      const seen = side.width > 0 && side.top < line.bottom - 2;
      return { pointed: buttons.width > 0, over: seen && side.right > buttons.left };
    }, name);
  for (const name of ['disk', 'net']) {
    await label(name).hover();
    const now = await until(
      () => overlap(name),
      ({ pointed }) => pointed,
      'buttons',
    );
    assert.equal(now.over, false, name);
  }
});

test('dragging and keys widen the name column, and the width is kept', async () => {
  const width = () => page.locator('.labels').evaluate((e) => e.offsetWidth);
  const starts = () => page.locator('.list-view').evaluate((e) => e.getBoundingClientRect().left);
  const usual = await width();
  const box = await page.locator('.labels').boundingBox();
  await page.mouse.move(box.x + box.width, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width + 100, box.y + box.height / 2, { steps: 3 });
  await page.mouse.up();
  await until(width, usual + 100, 'drawn');
  await until(starts, usual + 100, 'the time line beside it');
  const edge = page.getByRole('separator', { name: 'Width of the names' });
  await focus(edge);
  await page.keyboard.press('ArrowLeft');
  await until(width, usual + 76, 'by a key');
  await until(() => edge.getAttribute('aria-valuenow'), String(usual + 76), 'told');
  await page.reload();
  await ready(page);
  await until(width, usual + 76, 'kept');
  for (let i = 0; i < 30; i++) await edge.press('ArrowRight');
  await until(width, 640, 'at most four tenths of the window');
  await edge.dblclick();
  await until(width, usual, 'as usual');
});

test('the list keeps scrolling while a dragged name is held at its end', async () => {
  await page.setViewportSize({ width: 1600, height: 420 });
  const tracks = page.locator('.tracks');
  const left = () => tracks.evaluate((e) => e.scrollHeight - e.clientHeight - e.scrollTop);
  await until(left, (pixels) => pixels > 40, 'a list that is longer than its place');
  const box = await label('disk').boundingBox();
  const place = await tracks.boundingBox();
  await page.mouse.move(box.x + 20, box.y + 8);
  await page.mouse.down();
  await page.mouse.move(box.x + 20, place.y + place.height - 6);
  await until(left, (pixels) => pixels < 1, 'its end, without another move');
  await page.mouse.up();
  await shows('app io net disk gpu raster', 'dropped at the end of its process');
  await page.setViewportSize({ width: 1600, height: 1000 });
  await tracks.evaluate((e) => (e.scrollTop = 0));
  await focus(label('disk'));
  for (let i = 0; i < 2; i++) await page.keyboard.press('Alt+ArrowUp');
  await shows(USUAL, 'as before');
});

test('the keys named on the buttons act on the track under the pointer', async () => {
  await page.evaluate(() => document.activeElement?.blur());
  await label('io').hover();
  await page.keyboard.press('p');
  await until(order, (now) => now.startsWith('io '), 'pinned');
  await label('io').hover();
  await page.keyboard.press('p');
  await shows(USUAL, 'as before');
  // Not where letters are written.
  await focus(page.getByRole('textbox', { name: 'Filter events' }));
  await label('io').hover();
  await page.keyboard.press('p');
  await page.keyboard.press('Backspace');
  assert.equal(await order(), USUAL);
  await page.evaluate(() => document.activeElement?.blur());
});

test('a hidden track is counted and can be shown again', async () => {
  await label('disk').hover();
  await page.getByRole('button', { name: 'Hide (H): disk' }).click();
  await shows('app io net gpu raster', 'hidden by its button');
  await page.getByRole('button', { name: '1 hidden' }).click();
  await shows(USUAL, 'shown again');
  await focus(page.locator('.labels .group').last());
  await page.keyboard.press('h');
  await shows('app disk io net', 'a process');
  await rested(page); // the address, and with it the history, is written a moment later
  await page.keyboard.press('Control+z');
  await shows(USUAL, 'undone');
});

test('a link to a hidden track shows the track', async () => {
  await focus(label('disk'));
  await page.keyboard.press('h');
  await shows('app io net gpu raster', 'hidden');
  await page.keyboard.press('Control+p');
  await page.keyboard.type('disk');
  await page.keyboard.press('Enter');
  await shows(USUAL, 'the finder found it');
});

test('keys and dragging move tracks within their process', async () => {
  await focus(label('net'));
  await page.keyboard.press('Alt+ArrowUp');
  await shows('app disk net io gpu raster', 'one up');
  await page.keyboard.press('Alt+ArrowUp');
  await page.keyboard.press('Alt+ArrowUp');
  await shows('app net disk io gpu raster', 'no farther than the first');
  const [from, to] = [await label('net').boundingBox(), await label('io').boundingBox()];
  await page.mouse.move(from.x + 5, from.y + 9);
  await page.mouse.down();
  await page.mouse.move(from.x + 5, from.y + 30);
  await page.mouse.move(to.x + 5, to.y + 200);
  await page.mouse.up();
  await shows(USUAL, 'dragged below the last of its process');
  assert.equal(await page.locator('.label.selected').count(), 0, 'a drag is no click');
});

test('a text keeps only the tracks whose names contain it', async () => {
  await page.getByRole('button', { name: 'Show only some tracks' }).click();
  await page.keyboard.type('ra');
  await shows('gpu raster', 'while one types');
  await page.keyboard.press('Escape');
  await shows(USUAL, 'Esc shows all');
});

test('the next trace of the same kind gets the same arrangement; an address overrides it', async () => {
  await focus(label('disk'));
  await page.keyboard.press('p');
  await focus(label('net'));
  await page.keyboard.press('h');
  await shows('disk app io gpu raster', 'arranged');
  const kept = await page.evaluate(() => ({ ...localStorage }));
  await close();
  const again = async (hash) => {
    writeFileSync(join(folder, 'app.json'), trace([5, 4], ['raster', 'net', 'io', 'disk']));
    viewer = await view(join(folder, 'app.json'));
    opened = await openPage('about:blank');
    page = opened.page;
    await page.goto(viewer.address);
    await page.evaluate((all) => Object.assign(localStorage, all), kept);
    await page.goto('about:blank');
    await page.goto(viewer.address + hash);
    await ready(page);
  };
  await again('');
  await shows('disk app io gpu raster', 'by names');
  await close();
  await again('#pin=t2');
  await shows('io app disk net gpu raster', 'as the address says');
});
