// SPDX-License-Identifier: Apache-2.0
// Frames of the display: a row for each process, late ones marked, and a table of late frames whose
// numbers are those of the command `frames`.
import { strict as assert } from 'node:assert';
import { fileURLToPath } from 'node:url';
import { boxOf, ms, openPage, place, ready, until } from './browser.mjs';
import { after, before, test } from './suite.mjs';
import { json, view } from './program.mjs';

/** Three frames of app, of which that from 11 to 24 ms is late, and one of game from 0 to 12 ms. */
const FRAMES = fileURLToPath(new URL('../golden/data/frames.ftrace', import.meta.url));

let viewer;
let opened;
let page;
let facts;
let told;

before(async () => {
  viewer = await view(FRAMES);
  opened = await openPage(viewer.address);
  page = opened.page;
  await ready(page);
  facts = await (await fetch(`${viewer.address}api/trace`)).json();
  told = json('frames', '--late', '--format', 'json', FRAMES);
});

after(async () => {
  await opened.close();
  await viewer.stop();
});

const pane = () => page.locator('#pane-frames');
const late = (process) => told.list.find((frame) => frame.process === process);

const framesRows = () => page.locator('.labels .label.row', { hasText: 'Frames' });

/** The middle of the row of frames below the heading of a process. */
async function middleBelow(process) {
  const heading = await boxOf(page.locator('.group-line', { hasText: process }).first());
  const boxes = await Promise.all((await framesRows().all()).map((row) => boxOf(row)));
  const below = boxes.filter(({ y }) => y > heading.y).sort((a, b) => a.y - b.y);
  return below[0].y + below[0].height / 2;
}

/** The cells of a line of the table by their text. */
const cells = (text) =>
  pane().locator('.grid-row', { hasText: text }).first().locator('[role=gridcell]').allInnerTexts();

/** The line of the late frame of a process, as the command tells it. */
function lineOf(process) {
  const frame = late(process);
  const time = (ns) => (ns === null ? '' : ms(ns));
  return [
    frame.frame,
    ...[frame.duration_ns, frame.deadline_ns, frame.duration_ns - frame.deadline_ns].map(time),
    ...[frame.main_ns, frame.render_ns].map(time),
    `${frame.cause} ${ms(frame.cause_ns)}`,
    time(frame.start_ns),
  ];
}

/** The call that stands for a frame, of the track of a thread. */
async function callOf(thread, start) {
  const { first_row } = facts.tracks.find((t) => t.kind === 'thread' && t.name === thread);
  const address = `${viewer.address}api/slice?row=${first_row}&index=`;
  for (let index = 0; ; index++) {
    const call = await (await fetch(address + index)).json();
    if (call.start_ns === start) return `${first_row}.${index}`;
  }
}

test('the tab shows how many frames are late and where the deadline comes from', async () => {
  const tab = page.locator('#tab-frames');
  await until(
    () => tab.innerText(),
    (text) => /^Frames\s*2$/.test(text),
    'the tab',
  );
  await tab.click();
  const about = pane().locator('.about');
  await until(
    () => about.innerText(),
    (text) => text.startsWith('2 of 5 frames late.'),
    'the sum',
  );
  assert.match(await about.innerText(), /The deadline is 10\.000 ms, the period of VSYNC-app\./);
});

test('late frames have the figures of the command', async () => {
  assert.deepEqual(await cells('Choreographer#doFrame'), lineOf('app'));
  assert.deepEqual(await cells('eglSwapBuffers'), lineOf('game'));
  const [app] = told.processes;
  const [head, longest] = await cells('app 3 frames');
  const [p50, p95, p99] = [app.p50_ns, app.p95_ns, app.p99_ns].map(ms);
  assert.equal(
    head.replace(/\s+/g, ' '),
    `app ${app.frames} frames, ${app.late} late; p50 ${p50}, p95 ${p95}, p99 ${p99}`,
  );
  assert.equal(longest, ms(app.max_ns));
});

test('a late frame leads to its call', async () => {
  await pane().locator('.grid-row', { hasText: 'Choreographer#doFrame' }).first().click();
  const call = await callOf('app', late('app').start_ns);
  await until(async () => (await place(page)).call, call, 'the selected call');
});

test('each process has a row of its frames, where a click selects one', async () => {
  assert.equal(await framesRows().count(), 3);
  const words = (await framesRows().allInnerTexts()).map((text) =>
    text.replace(/\s+/g, ' ').trim(),
  );
  assert.deepEqual(words.sort(), ['Frames', 'Frames 1 late', 'Frames 1 late']);
  const game = late('game');
  const canvas = await boxOf(page.locator('.list-view'));
  const margin = Math.round(canvas.width * 0.015);
  const middle = game.start_ns + game.duration_ns / 2 - facts.start_ns;
  const share = middle / (facts.end_ns - facts.start_ns);
  const x = canvas.x + margin + share * (canvas.width - 2 * margin);
  await page.mouse.click(x, await middleBelow('game'));
  const call = await callOf('game', game.start_ns);
  await until(async () => (await place(page)).call, call, 'the selected call');
});

test('a range lists the late frames that overlap it', async () => {
  await page.evaluate(() => (location.hash = 'tab=frames&range=12500000-20000000'));
  const about = pane().locator('.about');
  await until(
    () => about.innerText(),
    (text) => text.startsWith('1 of 1 frame late.'),
    'the sum',
  );
  assert.deepEqual(await cells('Choreographer#doFrame'), lineOf('app'));
  assert.deepEqual(opened.troubles, []);
});
