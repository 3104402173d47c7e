// SPDX-License-Identifier: Apache-2.0
// A mouse that rests over the time line: when the picture moves under it, what is told and what is
// zoomed around is what is under it then.
import { strict as assert } from 'node:assert';
import { place, until } from './browser.mjs';
import { showFile } from './files.mjs';
import { before, test } from './suite.mjs';

/** Times in microseconds; each thread has ten calls of 100 after each other, "main 0" and so on. */
const THREADS = ['main', 'loader', ...Array.from({ length: 40 }, (_, i) => `pool ${i}`)];
const EVENTS = THREADS.flatMap((name, tid) => [
  { ph: 'M', name: 'thread_name', pid: 1, tid, args: { name } },
  ...Array.from({ length: 10 }, (_, i) => {
    return { ph: 'X', name: `${name} ${i}`, pid: 1, tid, ts: 100 * i, dur: 100 };
  }),
]);

/** What is shown at first, in nanoseconds. */
const VIEW = [100_000, 600_000];

let page;
let troubles;
let canvas;

before(async () => {
  const hash = `#view=${VIEW.join('-')}&open=none`;
  ({ page, troubles } = await showFile('rest.json', EVENTS, { hash }));
  canvas = await page.locator('.list-view').boundingBox();
});

const readout = () => page.locator('.readout .name').innerText();
const told = (expected, what) =>
  until(async () => (await readout()).trim(), expected, `the line of what is told: ${what}`);

async function view() {
  const words = (await place(page)).view?.match(/^(-?\d+)-(-?\d+)$/).slice(1);
  return words.map(Number);
}

/** Onto a time of a thread, while what is shown is that of the beginning. */
async function restOn(thread, time) {
  const label = await page.locator('.label', { hasText: thread }).first().boundingBox();
  const share = (time - VIEW[0]) / (VIEW[1] - VIEW[0]);
  await page.mouse.move(canvas.x + share * canvas.width, label.y + 12);
  return share;
}

test('keys pan and zoom under a resting pointer', async () => {
  const share = await restOn('main', 250_000);
  await told('main 2', 'at first');
  await page.keyboard.press('d');
  // 15 % of what is shown further.
  await told('main 3', 'after a pan');
  const moved = await until(view, ([from]) => from > VIEW[0], 'the pan in the address');
  const under = moved[0] + share * (moved[1] - moved[0]);
  await page.keyboard.press('w');
  const near = await until(view, ([from]) => from > moved[0], 'the zoom in the address');
  const still = near[0] + share * (near[1] - near[0]);
  assert.ok(Math.abs(still - under) < 1000, `the pointer was at ${under}, is at ${still}`);
  await told('main 3', 'after a zoom');
});

test('the tracks scroll under a resting pointer', async () => {
  await page.evaluate(([from, to]) => (location.hash = `view=${from}-${to}&open=none`), VIEW);
  await until(view, ([from]) => from === VIEW[0], 'the beginning');
  await restOn('loader', 250_000);
  await told('loader 2', 'at first');
  const before = await readout();
  await page.mouse.wheel(0, 220);
  await told((text) => /^pool \d+ 2$/.test(text), 'after a scroll');
  assert.notEqual(await readout(), before);
  // Away from the time line nothing is told, however it moves.
  await page.mouse.move(20, 20);
  await told('Point at a slice', 'away');
  await page.keyboard.press('d');
  await until(view, ([from]) => from > VIEW[0], 'a pan');
  assert.equal((await readout()).trim(), 'Point at a slice');
  assert.deepEqual(troubles, []);
});
