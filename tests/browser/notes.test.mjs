// SPDX-License-Identifier: Apache-2.0
// Ranges that are kept as notes, and measuring from one call to another.
import { strict as assert } from 'node:assert';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPage, place, ready, rested, until } from './browser.mjs';
import { after, before, test } from './suite.mjs';
import { view } from './program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'notes-'));

/** Of one thread, in microseconds. */
const EVENTS = [
  ['read', 1000, 2000],
  ['parse', 5000, 1000],
  ['draw', 8000, 2000],
].map(([name, ts, dur]) => ({ ph: 'X', name, pid: 1, tid: 1, ts, dur }));

let viewer;
let opened;
let page;

before(async () => {
  writeFileSync(join(folder, 'app.json'), JSON.stringify(EVENTS));
  viewer = await view(join(folder, 'app.json'));
  opened = await openPage(viewer.address);
  page = opened.page;
  await ready(page);
});

after(async () => {
  assert.deepEqual(opened.troubles, []);
  await opened.close();
  await viewer.stop();
  rmSync(folder, { recursive: true });
});

/** Where a time in ms since the first event is; the whole of 9 ms is shown, and 1.5 % around it. */
async function at(ms) {
  const canvas = await page.locator('.list-view').boundingBox();
  const label = await page.locator('.label .pick').first().boundingBox();
  return { x: canvas.x + ((ms / 9 + 0.015) / 1.03) * canvas.width, y: label.y + 8 };
}

async function click(ms, modifiers = []) {
  const { x, y } = await at(ms);
  for (const key of modifiers) await page.keyboard.down(key);
  await page.mouse.click(x, y);
  for (const key of modifiers) await page.keyboard.up(key);
}

const range = async () => (await place(page)).range;
const notes = () => page.locator('.note-text').allInnerTexts();
const shows = (expected, what) => until(async () => (await notes()).join('|'), expected, what);
async function noRange() {
  await page.keyboard.press('Escape');
  await until(range, undefined, 'the range is cleared');
}
/** The details of a call are there: they tell its start. */
const starts = async () =>
  /Start\s+(\S+)/.exec(await page.locator('.details.beside').innerText())?.[1];

test('Shift and a click measure from the selected call to another call', async () => {
  await click(1);
  await until(starts, '0.000', 'read is selected');
  await click(8, ['Shift']);
  await until(range, '0-9000000', 'from the first to the last');
  await noRange();
  await click(4.5);
  await until(starts, '4.000', 'parse is selected');
  await click(1, ['Shift']);
  await until(range, '0-5000000', 'also backwards');
  await noRange();
});

test('an end of a range snaps to the edge of a call, and with Alt it does not', async () => {
  const drag = async (from, to) => {
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x - 20, to.y);
    await page.mouse.move(to.x, to.y);
    await page.mouse.up();
  };
  const [from, to] = [await at(2), await at(7)];
  await drag({ ...from, x: from.x + 3 }, { ...to, x: to.x - 3 });
  await until(range, '2000000-7000000', 'from the end of read to the start of draw');
  await noRange();
  await page.keyboard.down('Alt');
  await drag({ ...from, x: from.x + 3 }, { ...to, x: to.x - 3 });
  await page.keyboard.up('Alt');
  const exact = await until(range, (text) => text !== undefined, 'a range');
  assert.notEqual(exact, '2000000-7000000');
  await noRange();
});

test('a kept range has a text, can be selected, and is in the address', async () => {
  await click(8);
  await until(starts, '7.000', 'draw is selected');
  await page.keyboard.press('Shift+M');
  assert.equal(await page.locator('.note input').inputValue(), 'draw');
  await page.keyboard.type('slow, why?');
  await page.keyboard.press('Enter');
  await shows('slow, why?', 'the note');
  await until(async () => (await place(page)).note, '7000000-9000000~slow, why?', 'the address');
  await page.locator('.note-text').click();
  await until(range, '7000000-9000000', 'its range');
  await page.reload();
  await ready(page);
  await shows('slow, why?', 'after reload');
});

test('keys rewrite and remove a note, and undo restores it', async () => {
  await page.locator('.note-text').focus();
  await page.keyboard.press('F2');
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  await page.keyboard.press('Enter');
  await shows('2.000 ms', 'without a text its length');
  await until(async () => (await place(page)).note, '7000000-9000000', 'a step of its own');
  await page.locator('.note-text').focus();
  await page.keyboard.press('Delete');
  await shows('', 'removed');
  assert.equal(await page.locator('.notes').isVisible(), false);
  await rested(page);
  await page.keyboard.press('Control+z');
  await shows('2.000 ms', 'undone');
});

test('notes at the same time are below each other, and the tracks move down', async () => {
  const top = () => page.locator('.tracks').evaluate((e) => e.getBoundingClientRect().top);
  await page.evaluate(() => (location.hash = ''));
  await until(async () => (await notes()).length, 0, 'none');
  const before = await top();
  const words = [
    ['1000000-8000000', 'all of it'],
    ['2000000-4000000', 'a part with a long text'],
    ['3000000-3000100', 'a moment'],
    ['3000200-3000300', 'and another'],
    ['5000000-5100000', 'a later one, free of those'],
  ];
  const hash = words.map(([span, text]) => `note=${span}~${encodeURIComponent(text)}`);
  /** Pairs of notes that are seen and overlap. */
  const overlaps = () =>
    page.evaluate(() => {
      const boxes = [...document.querySelectorAll('.note-lane .note')]
        .map((e) => [e.textContent, e.getBoundingClientRect()])
        .filter(([, box]) => box.width > 0);
      const over = (a, b) =>
        a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
      return boxes.flatMap(([text, a], i) =>
        boxes.slice(i + 1).flatMap(([other, b]) => (over(a, b) ? [`${text} / ${other}`] : [])),
      );
    });
  for (const view of ['', '&view=2900000-3100000', '&view=3000000-3000400']) {
    await page.evaluate((text) => (location.hash = text), hash.join('&') + view);
    await until(async () => (await notes()).length, words.length, 'the notes');
    await until(async () => (await place(page)).view ?? '', view.slice(6), 'the view');
    await until(async () => (await overlaps()).join(), '', `none overlap ${view}`);
    // Four lanes, whatever is seen of them.
    assert.equal((await top()) - before, 82);
  }
  await page.evaluate(() => (location.hash = ''));
  await until(top, before, 'no strip without notes');
});
