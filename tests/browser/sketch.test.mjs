// SPDX-License-Identifier: Apache-2.0
// While a file is read the page shows a strip of activity for each track.
import { strict as assert } from 'node:assert';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { openPage, ready, until } from './browser.mjs';
import { after, test } from './suite.mjs';
import { view } from './program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'sketch-'));
after(() => rmSync(folder, { recursive: true }));

/** What the program would answer half way through a file that takes long. */
const half = {
  ...{ trace: 1, files: [], start: [{ input: 0, offset_ns: '0' }] },
  inputs: [{ input: 0, name: '', offset_ns: '0' }],
  state: 'loading',
  name: 'long.json',
  bytes: 500,
  total_bytes: 1000,
  records: 5,
  sketch: {
    length_ns: 1000,
    tracks: [
      {
        name: '1/2',
        heights: Array.from({ length: 200 }, (_, x) => (x < 100 ? 255 : 0)),
      },
      {
        name: '1/3',
        heights: Array.from({ length: 200 }, (_, x) => (x === 150 ? 1 : 0)),
      },
    ],
  },
};

/** Where a strip is drawn: how many of its columns have any colour, left and right of the middle. */
const drawn = (page, index) =>
  page.$$eval(
    '.sketch canvas',
    (strips, at) => {
      const { width, height } = strips[at];
      const pixels = strips[at].getContext('2d').getImageData(0, 0, width, height).data;
      const columns = [0, 0];
      for (let x = 0; x < width; x++)
        for (let y = 0; y < height; y++)
          if (pixels[(y * width + x) * 4 + 3] > 0) {
            columns[x < width / 2 ? 0 : 1]++;
            break;
          }
      return columns;
    },
    index,
  );

test('the sketch of activity is shown before the trace', async () => {
  const file = join(folder, 'long.json');
  writeFileSync(file, JSON.stringify([{ ph: 'X', name: 'a', pid: 1, tid: 2, ts: 0, dur: 5 }]));
  const viewer = await view(file);
  const { page, troubles, close } = await openPage('about:blank');
  let held = true;
  await page.route('**/api/status*', (route) =>
    held ? route.fulfill({ json: half }) : route.continue(),
  );
  await page.goto(viewer.address);
  await page.waitForSelector('.sketch canvas');
  const names = (spans) => spans.map((span) => span.textContent).join(' ');
  await until(() => page.$$eval('.sketch span', names), '1/2 1/3', 'names');
  assert.deepEqual(await drawn(page, 0), [100, 0]);
  assert.deepEqual(await drawn(page, 1), [0, 1]);
  held = false;
  await ready(page);
  assert.deepEqual(troubles, []);
  await close();
  await viewer.stop();
});

/** The loading screen over what the program answers, one answer after the other. */
async function loading(run) {
  const file = join(folder, 'answers.json');
  writeFileSync(file, '[{"ph":"M","name":"process_name","pid":1,"args":{"name":"a"}}]');
  const viewer = await view(file);
  const { page, troubles, close } = await openPage('about:blank');
  const answer = { now: half, cancelled: 0 };
  await page.route('**/api/status*', (route) => route.fulfill({ json: answer.now }));
  await page.route('**/api/cancel*', (route) => {
    answer.cancelled++;
    answer.now = { ...half, state: 'empty' };
    return route.fulfill({ json: {} });
  });
  await page.goto(viewer.address);
  await page.waitForSelector('.figures');
  await run(page, answer);
  assert.deepEqual(troubles, []);
  await close();
  await viewer.stop();
}

const figures = (page) =>
  page.$$eval('.figures > div', (all) => all.map((one) => one.innerText.replace(/\s+/g, ' ')));

test('the page names each stage of reading and its rate', () =>
  loading(async (page, answer) => {
    const shown = async (heading, expected) => {
      await page.getByRole('heading', { name: heading }).waitFor();
      await until(
        () => figures(page),
        (told) => expected.every((part, i) => part.test(told[i])),
        `${heading}: ${expected}`,
      );
    };
    const grow = setInterval(() => {
      if (answer.now.unpacking) answer.now = { ...answer.now, bytes: answer.now.bytes + 1 };
    }, 50);
    answer.now = {
      ...half,
      unpacking: true,
      records: 0,
      sketch: undefined,
      bytes: 500,
    };
    await shown(/^Unpacking, \d+ %$/, [/ of 1\.0 kB$/, /^\d+ bytes a second$/, /^– events$/]);
    clearInterval(grow);
    answer.now = half;
    await shown(/^Reading, 50 %$/, [/^500 bytes of 1\.0 kB$/, /events a second$/, /^5 events$/]);
    answer.now = { ...half, joining: true };
    await shown(/^Putting together, 50 %$/, [/./, /^– events a second$/, /^5 events$/]);
    assert.equal(
      await page.getByRole('progressbar').getAttribute('aria-valuetext'),
      'Putting together, 50 %',
    );
  }));

test('Escape cancels reading, unless something is open over the page', () =>
  loading(async (page, answer) => {
    await page.getByRole('button', { name: 'Keys and help' }).click();
    await page.locator('dialog[open]').waitFor();
    await page.keyboard.press('Escape');
    await until(() => page.locator('dialog[open]').count(), 0, 'help');
    assert.equal(answer.cancelled, 0);
    await page.keyboard.press('Escape');
    await page.getByText('was cancelled').waitFor();
    assert.equal(answer.cancelled, 1);
    await page.keyboard.press('Escape');
    assert.equal(answer.cancelled, 1);
  }));

/** Members of gzip one after the other are one file: 400 MB of events, made in no time. */
function largePacked() {
  const event = '{"ph":"X","name":"a","pid":1,"tid":2,"ts":1,"dur":5},\n';
  const some = gzipSync(event.repeat(4_000_000 / event.length));
  return Buffer.concat([gzipSync('['), ...Array.from({ length: 100 }, () => some)]);
}

test('a packed file shows the progress of unpacking, and Cancel stops it', async () => {
  const viewer = await view();
  const { page, troubles, close } = await openPage(viewer.address);
  const file = join(folder, 'large.json.gz');
  writeFileSync(file, largePacked());
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.keyboard.press('Control+o'),
  ]);
  await chooser.setFiles([file]);
  await page.getByRole('heading', { name: /^Unpacking, \d+ %$/ }).waitFor();
  assert.match((await figures(page))[0], /^[\d.]+ (bytes|[kM]B) of [\d.]+ [kM]B$/);
  await page.locator('.sketch canvas').first().waitFor();
  assert.match(await page.locator('h1, h2').first().textContent(), /^Unpacking/);
  await page.keyboard.press('Escape');
  await page.getByText('Reading large.json.gz was cancelled.').waitFor();
  assert.deepEqual(troubles, []);
  await close();
  await viewer.stop();
});
