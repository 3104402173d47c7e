// SPDX-License-Identifier: Apache-2.0
// The Findings tab: what is told, of which range and tracks, and the way to the places.
import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openPage, place, until } from './browser.mjs';
import { program, view } from './program.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'findings-'));

const frame = (ts, dur) => ({
  ...{ ph: 'X', name: 'ProxyMain::BeginMainFrame', cat: 'cc', pid: 1, tid: 1, ts, dur },
});
/** Eight frames, of 20 to 27 ms, one every 100 ms from 0 on; two locks of 5 and 9 ms at 850 ms. */
const EVENTS = [
  { ph: 'M', name: 'thread_name', pid: 1, tid: 1, args: { name: 'CrRendererMain' } },
  { ph: 'M', name: 'thread_name', pid: 1, tid: 2, args: { name: 'Worker' } },
  ...[0, 1, 2, 3, 4, 5, 6, 7].map((i) => frame(i * 100_000, 20_000 + i * 1000)),
  { ph: 'X', name: 'Contending for a', pid: 1, tid: 2, ts: 850_000, dur: 5000 },
  { ph: 'X', name: 'Contending for b', pid: 1, tid: 2, ts: 860_000, dur: 9000 },
  { ph: 'B', name: 'a', pid: 1, tid: 2, ts: 900_000 },
  { ph: 'E', name: 'b', pid: 1, tid: 2, ts: 900_100 },
];
const QUIET = [{ ph: 'X', name: 'task', pid: 1, tid: 1, ts: 0, dur: 1000 }];

const path = (name) => join(folder, `${name}.json`);
const viewers = {};

before(async () => {
  for (const [name, events] of Object.entries({ slow: EVENTS, quiet: QUIET })) {
    writeFileSync(path(name), JSON.stringify(events));
    viewers[name] = await view(path(name));
  }
});

after(async () => {
  for (const viewer of Object.values(viewers)) await viewer.stop();
  rmSync(folder, { recursive: true });
});

async function onFindings(body, { trace = 'slow', hash = '#tab=findings', ...options } = {}) {
  const { page, troubles, close } = await openPage(viewers[trace].address + hash, {
    bypassCSP: true,
    ...options,
  });
  try {
    await page.waitForSelector('.profile .row.method', { state: 'attached' });
    await body(page);
    assert.deepEqual(troubles, []);
  } finally {
    await close();
  }
}

/** Waits until these findings are shown. */
const shows = (page, expected) =>
  until(
    () => page.locator('.finding h2').allInnerTexts(),
    (found) => found.join() === expected.join(),
    'findings',
  );
const links = (page, rule) => page.locator(`[data-rule="${rule}"] [data-call]`).allInnerTexts();

const ALL = ['Unbalanced events', 'Slow frames', 'Lock contention'].map((t) => `Warning:\n${t}`);

test('findings are told in words, warnings first, as check tells them', async () => {
  await onFindings(async (page) => {
    await shows(page, ALL);
    const told = await page.locator('.finding > p:not(.second):not(.kind)').allInnerTexts();
    // The file has a fault as well: the exit code is 1.
    const { stdout } = spawnSync(program(), ['check', '--format', 'json', path('slow')]);
    const check = JSON.parse(stdout).filter((one) => one.finding);
    assert.deepEqual(
      told,
      check.map((one) => one.text),
    );
    assert.equal(await page.locator('#tab-findings .tab-count').innerText(), '3');
  });
});

test('how many there are stands on the tab before anybody looks', async () => {
  await onFindings(
    async (page) => {
      await until(() => page.locator('#tab-findings .tab-count').innerText(), '3');
    },
    { hash: '' },
  );
});

test('a place is a link that selects its slice and shows it', async () => {
  await onFindings(
    async (page) => {
      await shows(page, ALL);
      const longest = page.locator('[data-rule="slow-frame"] [data-call]').first();
      await longest.click();
      await until(async () => (await place(page)).call !== undefined, true);
      assert.equal(await longest.getAttribute('aria-current'), 'true');
      assert.equal(await page.locator('.findings [aria-current]').count(), 1);
      // 27 ms, the eighth, at 700 ms: it was not in view.
      const [from, to] = (await place(page)).view.split('-').map(Number);
      assert.ok(from <= 700e6 && to >= 727e6, `${from}-${to}`);
    },
    { hash: '#tab=findings&view=0-50000000' },
  );
});

test('more places are shown on demand, and the keyboard goes on there', async () => {
  await onFindings(async (page) => {
    await shows(page, ALL);
    assert.equal((await links(page, 'slow-frame')).length, 5);
    await page.getByRole('button', { name: '3 more places' }).press('Enter');
    assert.equal((await links(page, 'slow-frame')).length, 8);
    const focused = () =>
      page.evaluate(() =>
        [...document.querySelectorAll('[data-rule="slow-frame"] [data-call]')].indexOf(
          document.activeElement,
        ),
      );
    assert.equal(await focused(), 5);
    await page.keyboard.press('ArrowDown');
    assert.equal(await focused(), 6);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    assert.equal(await focused(), 4);
    await page.keyboard.press('Enter');
    await until(async () => (await place(page)).call !== undefined, true);
  });
});

test('findings are those of the selected range and tracks', async () => {
  // From 150 to 410 ms: the third and fourth frame whole, and 10 ms of the fifth.
  await onFindings(
    async (page) => {
      await shows(page, ALL.slice(0, 2));
      const text = await page.locator('[data-rule="slow-frame"] p').first().innerText();
      assert.match(text, /^3 slices longer than 16\.7 ms: 55 ms in all, the longest 24 ms/);
    },
    { hash: '#tab=findings&range=150000000-410000000' },
  );
  const { tracks } = await (await fetch(`${viewers.slow.address}api/trace`)).json();
  const worker = tracks.find((t) => t.name === 'Worker').track;
  await onFindings(
    async (page) => {
      await shows(page, [ALL[0], ALL[2]]);
      await page.locator('.others').filter({ hasText: 'a main thread that is known' }).waitFor();
    },
    { hash: `#tab=findings&threads=${worker}` },
  );
});

test('what the reader found leads to Health', async () => {
  await onFindings(async (page) => {
    await shows(page, ALL);
    await page.getByRole('button', { name: '1 × title-mismatch' }).click();
    await until(async () => (await place(page)).tab, 'health');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'health');
    await page.locator('.health .diagnostic').first().waitFor();
  });
});

test('when nothing is found it is said what was looked for', async () => {
  await onFindings(
    async (page) => {
      await until(() => page.locator('.findings > p').innerText(), 'Nothing found in the trace.');
      assert.deepEqual(await page.locator('.others h2').allInnerTexts(), [
        'Looked for',
        'Not looked for',
      ]);
      const looked = await page.locator('.others').first().innerText();
      assert.match(looked, /Slow frames\s+the making of pictures, .*, longer than 16\.7 ms/);
      const not = await page.locator('.others').last().innerText();
      assert.match(not, /Waiting inside slices\s+the trace does not have both clocks/);
      assert.equal(await page.locator('#tab-findings .tab-count').innerText(), '');
    },
    { trace: 'quiet' },
  );
});

for (const colorScheme of ['light', 'dark'])
  test(`accessible: findings, ${colorScheme}`, async () => {
    await onFindings(
      async (page) => {
        await shows(page, ALL);
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => globalThis.axe.run(document));
        assert.deepEqual(
          violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).join(' ')}`),
          [],
        );
      },
      { colorScheme },
    );
  });
