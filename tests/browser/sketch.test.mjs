// SPDX-License-Identifier: Apache-2.0
// While a file is read the page shows a strip of activity for each track.
import { strict as assert } from 'node:assert';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openPage, ready, until } from './browser.mjs';
import { view } from './program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'sketch-'));
after(() => rmSync(folder, { recursive: true }));

/** What the program would answer half way through a file that takes long. */
const half = {
  ...{ trace: 1, behind: false, inputs: [], files: [], start: [] },
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

test('strips of activity are there before the trace is', async () => {
  const file = join(folder, 'long.json');
  writeFileSync(file, JSON.stringify([{ ph: 'X', name: 'a', pid: 1, tid: 2, ts: 0, dur: 5 }]));
  const viewer = await view(file);
  const { page, troubles, close } = await openPage('about:blank');
  let held = true;
  await page.route('**/api/status', (route) =>
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
