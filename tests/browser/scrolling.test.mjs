// SPDX-License-Identifier: Apache-2.0
// A scrolled time line paints only the lines that come into view. The result must be the same, pixel
// for pixel, as painting everything.
import { strict as assert } from 'node:assert';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { browser, openPage, rested } from './browser.mjs';
import { showFile } from './files.mjs';
import { test } from './suite.mjs';
import { example, view } from './program.mjs';

const data = join(import.meta.dirname, '../../../shared/data/trace-event');

/** Scroll in steps that do not divide the height of a line, with a frame after each. */
const scroll = (page, steps) =>
  page.evaluate(async (tops) => {
    const tracks = document.querySelector('.tracks');
    for (const by of tops) {
      tracks.scrollTop += by;
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    }
    return tracks.scrollTop;
  }, steps);

/** The pixels of the time line, and how far its list is scrolled. */
const pixels = (page) =>
  page.evaluate(() => {
    const copy = window.copyOf('.list-view');
    const { width, height } = copy.canvas;
    const { data } = copy.getImageData(0, 0, width, height);
    const scroll = document.querySelector('.tracks').scrollTop;
    return { width, height, scroll, all: [...new Uint32Array(data.buffer)] };
  });

/**
 * The same lines in a higher window, and again in this one: a resized time line is painted whole.
 * Sheets of a higher one begin and end at other lines.
 */
async function paintAll(page) {
  const { width, height } = page.viewportSize();
  await page.setViewportSize({ width, height: height + 40 });
  await rested(page);
  const higher = await pixels(page);
  await page.setViewportSize({ width, height });
  await rested(page);
  return [higher, await pixels(page)];
}

/** Edges of curves are rounded by another level of a colour when another part is painted. */
const LEVELS = 2;

const differ = (a, b) =>
  a !== b &&
  [0, 8, 16, 24].some((at) => Math.abs(((a >>> at) & 255) - ((b >>> at) & 255)) > LEVELS);

/** Compare the lines of the list that both show. */
function assertSame(moved, painted) {
  assert.equal(moved.width, painted.width);
  const { width } = moved;
  const other = [];
  for (let y = 0; y < moved.height; y++) {
    const line = y + moved.scroll - painted.scroll;
    if (line < 0 || line >= painted.height) continue;
    for (let x = 0; x < width; x++)
      if (differ(moved.all[y * width + x], painted.all[line * width + x])) {
        other.push(y);
        break;
      }
  }
  assert.deepEqual(other, [], 'lines that differ');
  assert.ok(new Set(moved.all).size > 8, 'a blank time line');
}

const FILES = [
  ['the example', null],
  ['slices and counters of Chrome', 'devtools/Trace-20230603T221323.json'],
  ['systrace with states and frames', 'catapult/android_systrace.html'],
  ['objects, async slices and instants', 'catapult/big_trace.json'],
];

for (const [what, name] of FILES) {
  const path = name === null ? null : join(data, name);
  test(`scrolling gives the same pixels as painting anew: ${what}`, async (t) => {
    if (path && !existsSync(path)) return t.skip(`${path} is missing`);
    const viewer = await view(path ?? example());
    const { page, troubles, close } = await openPage(viewer.address, {
      viewport: { width: 1280, height: 560 },
    });
    await page.waitForSelector('.list-view');
    await rested(page);
    for (const steps of [
      [37, 37, 37],
      [-13, 41, -29],
      [150, -7],
    ]) {
      const before = await scroll(page, [0]);
      const after = await scroll(page, steps);
      await rested(page);
      const moved = await pixels(page);
      for (const painted of await paintAll(page)) assertSame(moved, painted);
      if (name !== null) assert.notEqual(after, before, 'nothing to scroll');
    }
    assert.deepEqual(troubles, []);
    await close();
    await viewer.stop();
  });
}

test('pinned tracks and sheets are right after changes of the window', async (t) => {
  const path = join(data, 'catapult/android_systrace.html');
  if (!existsSync(path)) return t.skip(`${path} is missing`);
  const viewer = await view(path);
  const { page, troubles, close } = await openPage(viewer.address, {
    viewport: { width: 900, height: 420 },
  });
  await page.waitForSelector('.list-view');
  await rested(page);
  /** Press the first button with this name, which shows when the pointer is on its label. */
  const press = async (name) => {
    const button = page.locator(`.labels [aria-label^="${name}"]`).first();
    await button.evaluate((found) => found.click());
    await rested(page);
  };
  await page.setViewportSize({ width: 1280, height: 800 });
  for (let i = 0; i < 3; i++) await press('Pin to the top');
  await page.mouse.move(640, 1);
  await scroll(page, [900, -500]);
  await page.setViewportSize({ width: 1600, height: 1000 });
  await rested(page);
  const resized = await pixels(page);
  // The line of the pointer comes and goes: everything is painted again.
  const box = await page.locator('.list-view').boundingBox();
  await page.mouse.move(box.x + 300, box.y + 200);
  await rested(page);
  await page.mouse.move(640, 1);
  await rested(page);
  assertSame(resized, await pixels(page));
  assert.ok(
    (await page.locator('.lanes > canvas').count()) <= 5,
    'sheets of the low window are left',
  );
  assert.equal(await page.locator('.pinned-lanes').isVisible(), true);
  for (let i = 0; i < 3; i++) await press('Unpin');
  assert.equal(await page.locator('.pinned-lanes').isVisible(), false);
  assert.deepEqual(troubles, []);
  await close();
  await viewer.stop();
});

test('scrolling a table paints only the rows that come into view', async () => {
  const events = Array.from({ length: 500 }, (_, i) => ({
    ...{ ph: 'X', name: `function ${i}`, pid: 1, tid: 1, ts: 1000 * i, dur: 10 + i },
  }));
  const { page, troubles } = await showFile('many.json', events);
  const path = join(mkdtempSync(join(tmpdir(), 'painted-')), 'trace.json');
  const categories = ['-*', 'devtools.timeline', 'cc'];
  await (await browser()).startTracing(page, { path, categories });
  const frames = 20;
  const rows = await page.evaluate(async (n) => {
    const scroller = document.querySelector('#pane-profile .scroller');
    for (let i = 0; i < n; i++) {
      scroller.scrollTop += 40;
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    }
    return scroller.querySelectorAll('.row').length;
  }, frames);
  await (await browser()).stopTracing();
  const { traceEvents } = JSON.parse(readFileSync(path, 'utf8'));
  rmSync(dirname(path), { recursive: true });
  // The browser paints the table, its head and the new row; without containment, every row anew.
  const painted = traceEvents.filter(({ name, ph }) => name === 'Paint' && ph === 'X').length;
  assert.ok(rows > 20, `${rows} rows`);
  assert.ok(painted > frames && painted < (frames * rows) / 2, `${painted} of ${rows} rows`);
  assert.deepEqual(troubles, []);
});

test('scrolling keeps the labels that stay, and their order', async (t) => {
  const path = join(data, 'catapult/android_systrace.html');
  if (!existsSync(path)) return t.skip(`${path} is missing`);
  const viewer = await view(path);
  const { page, troubles, close } = await openPage(viewer.address, {
    viewport: { width: 1280, height: 560 },
  });
  await page.waitForSelector('.list-view');
  await rested(page);
  const tops = () =>
    page.$$eval('.scrolled-labels > *', (all) => all.map((one) => parseFloat(one.style.top)));
  const first = await tops();
  await page.evaluate(() => {
    for (const label of document.querySelectorAll('.scrolled-labels > *')) label.kept = true;
  });
  await scroll(page, [200, 200, 200]);
  await rested(page);
  const after = await tops();
  assert.ok(Math.max(...after) > Math.max(...first), 'no label came into view');
  assert.deepEqual(
    after,
    [...after].sort((a, b) => a - b),
  );
  const kept = await page.$$eval('.scrolled-labels > *', (all) =>
    all.filter((one) => one.kept).map((one) => parseFloat(one.style.top)),
  );
  assert.deepEqual(
    kept,
    first.filter((top) => after.includes(top)),
  );
  // A change of the layout makes them anew: none is left over.
  await page.evaluate(() => document.querySelector('.group-line .group').click());
  await rested(page);
  assert.equal(
    await page.$$eval('.scrolled-labels > *', (all) => all.filter((one) => one.kept).length),
    0,
  );
  assert.deepEqual(troubles, []);
  await close();
  await viewer.stop();
});
