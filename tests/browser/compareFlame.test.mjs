// SPDX-License-Identifier: Apache-2.0
// The differential flame graph of the page: its frames against `diff --format json --by path` and
// a layout by hand, and what the pointer and the keyboard tell.
import { strict as assert } from 'node:assert';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPage, rested, until } from './browser.mjs';
import { copies } from './files.mjs';
import { after, test } from './suite.mjs';
import { json, view } from './program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'traceview-compare-flame-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a trace of slices [name, start, length] in µs. */
function trace(name, ...slices) {
  const file = join(folder, name);
  const events = slices.map(([name, ts, dur]) => ({ ph: 'X', name, ts, dur, pid: 1, tid: 1 }));
  writeFileSync(file, JSON.stringify(events));
  return file;
}

// Own times: draw 60 and 40, parse 30 and 90, gone 10, fresh 20.
const BASE = trace('old.json', ['draw', 0, 100], ['parse', 10, 30], ['gone', 50, 10]);
const NEW = trace(
  'new.json',
  ...[
    ['draw', 0, 150],
    ['parse', 10, 60],
    ['parse', 80, 30],
    ['fresh', 120, 20],
  ],
);

/** Opens the flame graph; `work` gets the page and the answer that it shows. */
async function opened(words, work) {
  const viewer = await view('diff', '--open', '--by', 'path', ...words);
  const { page, troubles, close } = await openPage(viewer.address);
  try {
    // The page's first answer has arrived: the one that is awaited is that of the page after it.
    await page.locator('.change-flame canvas').waitFor();
    await rested(page);
    const answer = page.waitForResponse((response) => response.url().includes('graph='));
    await page.reload();
    await work(page, await (await answer).json());
    assert.deepEqual(troubles, []);
  } finally {
    await close();
    await viewer.stop();
  }
}

/** [name, depth, start, width, verdict] of each frame, in µs. */
const laidOut = ({ rows }) =>
  rows.map((r) => [r.key, r.depth, r.start / 1000, r.width / 1000, r.verdict]);

test('a frame is as wide as its children and its own time on the larger side', async () => {
  await opened([BASE, NEW], (page, answer) => {
    assert.deepEqual(laidOut(answer), [
      ['draw', 0, 0, 180, 'less'], // 60 + 20 + 10 + 90
      ['fresh', 1, 0, 20, 'appeared'],
      ['gone', 1, 20, 10, 'vanished'],
      ['parse', 1, 30, 90, 'more'],
    ]);
    assert.deepEqual(answer.graph, { total: 180_000, left_out: 0 });
  });
  await opened([BASE, NEW, '--width', 'base'], (page, answer) => {
    assert.deepEqual(laidOut(answer), [
      ['draw', 0, 0, 100, 'less'],
      ['gone', 1, 0, 10, 'vanished'],
      ['parse', 1, 10, 30, 'more'],
    ]);
  });
});

test('frames have the figures of diff --format json --by path', async () => {
  const groups = ['--base', ...copies(BASE, 3), '--new', ...copies(NEW, 2)];
  for (const figure of ['excl', 'incl'])
    await opened([...groups, '--figure', figure], (page, answer) => {
      const told = json('diff', ...groups, '--by', 'path', '--figure', figure, '--format', 'json');
      const way = [];
      const shown = answer.rows.map(({ start, width, depth, verdict, ...row }) => {
        way.splice(depth, way.length, row.key);
        return { ...row, key: way.join(';') };
      });
      const expected = told.rows.map(({ base_runs, new_runs, ...row }) => row);
      const byKey = (a, b) => (a.key < b.key ? -1 : 1);
      assert.deepEqual(shown.sort(byKey), expected.sort(byKey));
      assert.deepEqual(answer.total, told.total);
    });
});

test('pointer and keys show the figures of a frame, and a click selects its method', async () => {
  await opened([BASE, NEW], async (page) => {
    const canvas = page.locator('.change-flame canvas');
    await rested(page);
    const { x, y, width } = await canvas.boundingBox();
    const row = 18;
    // parse: from 30 of 180 on, one level above draw, under the title
    const at = [x + (width * 60) / 180, y + 2.5 * row];
    await page.mouse.move(...at);
    await until(
      () => page.locator('.change-flame .tip').innerText(),
      (text) =>
        /^parse\s+Own time: 0\.030 ms → 0\.090 ms \(\+200\.0 %\)\s+Slices: 1 → 2$/.test(text),
      'the figures of parse',
    );
    await page.mouse.click(...at);
    await until(
      () => page.url(),
      (url) => /method=\d/.test(url),
      'the selected method in the address',
    );
    await page.locator('.change-flame .canvas').press('0');
    await page.locator('.change-flame .canvas').press('ArrowUp');
    await until(
      () => page.locator('body').innerText(),
      (text) => text.includes('draw, Own time: 0.060 ms → 0.040 ms (−33.3 %)'),
      'the words about draw',
    );
    await page.selectOption('.compare [aria-label="Width"]', 'new');
    await page.click('text=Only what changed');
    await until(
      () => page.url(),
      (url) => /compare=flame,width\.new,changed/.test(decodeURIComponent(url)),
      'all choices in the address',
    );
  });
});
