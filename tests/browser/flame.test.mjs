// SPDX-License-Identifier: Apache-2.0
// The flame graph on a small file of events: its orders and switches, zoom and crumbs, a sandwich.
import { strict as assert } from 'node:assert';
import { place, rested, until } from './browser.mjs';
import { showFile } from './files.mjs';
import { before, test } from './suite.mjs';

const slice = (tid, name, ts, dur) => ({ ph: 'X', pid: 1, tid, name, ts, dur });
/** main: task 0-400 with step, step in step, rest, step; task again at once. pool: task 300. */
const EVENTS = [
  { ph: 'M', name: 'thread_name', pid: 1, tid: 1, args: { name: 'main' } },
  { ph: 'M', name: 'thread_name', pid: 1, tid: 2, args: { name: 'pool' } },
  slice(1, 'task', 0, 400),
  slice(1, 'step', 0, 100),
  slice(1, 'step', 20, 50),
  slice(1, 'rest', 100, 100),
  slice(1, 'step', 250, 100),
  slice(1, 'task', 400, 200),
  slice(1, 'step', 400, 60),
  slice(2, 'task', 1000, 300),
];

let page;
let troubles;

before(async () => {
  ({ page, troubles } = await showFile('flame.json', { traceEvents: EVENTS }));
  await page.keyboard.press('2');
  await page.waitForSelector('.flame canvas');
});

const about = () => page.locator('.flame .about').innerText();
const crumbs = async () => (await page.locator('.flame .crumbs').innerText()).replace(/\s+/g, ' ');
/** The frame at a share of the width, in a row from 0. */
const at = async (share, row) => {
  const box = await page.locator('.flame canvas').boundingBox();
  const high = await page.evaluate(() =>
    parseFloat(getComputedStyle(document.documentElement).getPropertyValue('--h-frame')),
  );
  return { x: box.width * share, y: (row + 1.5) * high };
};
const hover = async (share, row) => {
  await page.locator('.flame canvas').hover({ position: await at(share, row) });
  return about();
};
const pressed = async (name) =>
  page.getByRole('button', { name, exact: false }).first().getAttribute('aria-pressed');
const settled = (share, row, words, what) =>
  until(
    () => hover(share, row),
    (text) => words.test(text),
    what,
  );

test('left heavy merges threads, time order keeps them apart', async () => {
  await settled(0.01, 0, /^task inclusive 0\.900 ms, 100\.0 %/, 'task of both threads');
  await settled(0.01, 1, /^step inclusive 0\.260 ms/, 'the steps of task together');
  await page.keyboard.press('1');
  await settled(0.01, 0, /main inclusive 0\.600 ms, 66\.7 %/, 'the thread');
  await settled(0.01, 1, /^task inclusive 0\.600 ms.* 2 slices$/, 'two tasks that touch');
  await settled(0.01, 2, /^step inclusive 0\.100 ms/, 'the first step');
  await settled((0.1 / 0.9) * 1.5, 2, /^rest inclusive 0\.100 ms/, 'then rest');
  // The step at the end of the first task and that at the begin of the second follow each other.
  await settled(0.25 / 0.9, 2, /^step inclusive 0\.160 ms.* 2 slices$/, 'then steps');
  await settled(0.9, 0, /pool inclusive 0\.300 ms/, 'the other thread');
  assert.equal((await place(page)).flame, 'time');
  assert.equal(await page.getByRole('button', { name: 'Threads apart' }).isDisabled(), true);
});

test('recursion is folded, and threads can be shown apart', async () => {
  await page.keyboard.press('2');
  await settled(0.01, 2, /^step inclusive 0\.050 ms/, 'the step in a step');
  await page.getByRole('button', { name: 'Fold recursion' }).click();
  await until(() => hover(0.01, 2), '', 'no frame on the step');
  await page.getByRole('button', { name: 'Threads apart' }).click();
  await settled(0.01, 0, /main inclusive 0\.600 ms/, 'main by itself');
  await until(async () => (await place(page)).apart, '1', 'it stands in the address');
  await page.getByRole('button', { name: 'Fold recursion' }).click();
  await page.getByRole('button', { name: 'Threads apart' }).click();
});

test('a click zooms and selects; crumbs, keys and Back zoom out', async () => {
  await settled(0.01, 0, /^task inclusive 0\.900 ms/, 'merged again');
  await page.locator('.flame canvas').click({ position: await at(0.01, 1) });
  await settled(0.5, 0, /^step inclusive 0\.260 ms, 28\.9 % of all/, 'the step fills it');
  assert.equal(await crumbs(), 'All threads › task › step');
  const { method, zoom } = await until(
    () => place(page),
    (p) => p.zoom !== undefined,
    'zoom',
  );
  assert.equal(zoom.split('.')[1], method);
  await page.getByRole('button', { name: 'task', exact: true }).click();
  await settled(0.01, 0, /^task inclusive 0\.900 ms/, 'the task');
  assert.equal(await crumbs(), 'All threads › task');
  await until(async () => (await place(page)).zoom?.split('.')[1] !== method, true, 'address');
  await page.goBack();
  await settled(0.5, 0, /^step inclusive 0\.260 ms/, 'Back goes to the step');
  await page.locator('.flame .scroller').focus();
  await page.keyboard.press('0');
  await settled(0.01, 0, /^task inclusive 0\.900 ms/, 'all of it');
  assert.match(await crumbs(), /a click zooms$/);
});

test('with Ctrl a click only selects', async () => {
  await page
    .locator('.flame canvas')
    .click({ position: await at(0.01, 1), modifiers: ['Control'] });
  await rested(page);
  assert.match(await crumbs(), /a click zooms$/);
  await settled(0.01, 0, /^task inclusive 0\.900 ms, 100\.0 %/, 'all of it still');
});

test('a sandwich shows callers above the name and callees below', async () => {
  await page.keyboard.press('3');
  // step: outermost 260 us, all of it in task; in it 50 us of step.
  await settled(0.5, 0, /^task inclusive 0\.260 ms, 28\.9 % of all, 3 slices$/, 'who calls it');
  await settled(0.5, 1, /^step inclusive 0\.260 ms.* exclusive 0\.210 ms, 3 slices$/, 'itself');
  await settled(0.05, 2, /^step inclusive 0\.050 ms/, 'what it calls');
  await page.locator('.flame canvas').click({ position: await at(0.5, 0) });
  await settled(0.1, 0, /^task inclusive 0\.900 ms/, 'now of the task');
  assert.equal(await pressed('Sandwich'), 'true');
  await page.keyboard.press('Escape');
  await page.getByText(/Select a name to see/).waitFor();
  await page.locator('.flame .nothing').getByText('rest', { exact: true }).click();
  await settled(0.5, 1, /^rest inclusive 0\.100 ms/, 'of what was chosen there');
  assert.deepEqual(troubles, []);
});
