// SPDX-License-Identifier: Apache-2.0
// The Findings tab: what is told, of which range and tracks, and the way to the places.
import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assertAccessible } from './axe.mjs';
import { openPage, place, until } from './browser.mjs';
import { after, before, test } from './suite.mjs';
import { program, view } from './program.mjs';

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

const rows = (page, level) => page.locator(`#pane-findings [aria-level="${level}"]`);
const cells = (page, level, column) =>
  rows(page, level).locator(`[data-column="${column}"]`).allInnerTexts();

/** Waits until these findings are shown. */
const shows = (page, expected) =>
  until(
    () =>
      rows(page, 1)
        .filter({ has: page.locator('.severity') })
        .locator('b')
        .allInnerTexts(),
    (found) => found.join() === expected.join(),
    'findings',
  );
const ALL = ['Unbalanced events', 'Slow frames', 'Waiting for locks'];
const table = (page) => page.getByRole('treegrid', { name: 'Findings' });
const about = (page) => page.getByRole('region', { name: 'About the finding' });

test('findings are sentences, warnings first, as check prints them', async () => {
  await onFindings(async (page) => {
    await shows(page, ALL);
    const { stdout } = spawnSync(program(), ['check', '--format', 'json', path('slow')]);
    const check = JSON.parse(stdout).filter((one) => one.finding);
    const told = (await cells(page, 1, 'name')).slice(0, ALL.length);
    assert.deepEqual(
      told,
      check.map((one, i) => `${ALL[i]} ${one.text}`),
    );
    // The line under the cursor is told whole, with the reason.
    await table(page).focus();
    for (const [i, one] of check.entries()) {
      await rows(page, 1).nth(i).locator('[data-column="severity"]').click();
      await until(() => about(page).locator('p').first().innerText(), one.text);
      assert.equal(await about(page).locator('code').innerText(), one.kind);
      await rows(page, 1).nth(i).locator('[data-column="severity"]').click();
    }
    assert.equal(await page.locator('#tab-findings .tab-count').innerText(), '3');
  });
});

test('the tab shows the number of findings before it is opened', async () => {
  await onFindings(
    async (page) => {
      await until(() => page.locator('#tab-findings .tab-count').innerText(), '3');
    },
    { hash: '' },
  );
});

test('a link to a place selects its slice and shows it', async () => {
  await onFindings(
    async (page) => {
      await shows(page, ALL);
      const longest = rows(page, 2).filter({ hasText: 'ProxyMain' }).first();
      await longest.click();
      await until(async () => (await place(page)).call !== undefined, true);
      await until(() => longest.getAttribute('aria-selected'), 'true');
      assert.equal(await page.locator('#pane-findings [aria-selected=true]').count(), 1);
      // 27 ms, the eighth, at 700 ms: it was not in view.
      const [from, to] = (await place(page)).view.split('-').map(Number);
      assert.ok(from <= 700e6 && to >= 727e6, `${from}-${to}`);
    },
    { hash: '#tab=findings&view=0-50000000' },
  );
});

test('findings can be opened, walked and sorted by keyboard, and the address restores them', async () => {
  await onFindings(async (page) => {
    await shows(page, ALL);
    const lengths = async () =>
      (await cells(page, 2, 'time')).filter((text) => /^2\d\./.test(text)).map(Number);
    assert.deepEqual(await lengths(), [27, 26, 25, 24, 23, 22, 21, 20], 'the worst first');
    await page.getByRole('button', { name: /^Start ms/ }).press('Enter');
    await until(async () => (await lengths())[0], 27, 'the last begins last');
    await page.getByRole('button', { name: /^Start ms/ }).press('Enter');
    await until(async () => (await lengths())[0], 20, 'by time');
    // What has no place in time stands last; what found nothing below all.
    await until(
      async () => (await cells(page, 1, 'name')).map((text) => text.split(/ \d| 1 /)[0]).join(),
      (text) => /^Slow frames,Waiting .*,Unbalanced events,Also checked/.test(text),
      'by the first place',
    );
    await table(page).focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowLeft');
    await until(async () => (await lengths()).length, 0, 'closed');
    await until(async () => (await place(page)).findings?.startsWith('start.up,'), true);
    await page.reload();
    await shows(page, ['Slow frames', 'Waiting for locks', 'Unbalanced events']);
    assert.deepEqual(await lengths(), []);
    await table(page).focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await until(async () => (await lengths()).length, 8, 'open again');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await until(async () => (await place(page)).call !== undefined, true);
  });
});

test('findings are those of the selected range and tracks', async () => {
  // From 150 to 410 ms: the third and fourth frame whole, and 10 ms of the fifth.
  await onFindings(
    async (page) => {
      await shows(page, ALL.slice(0, 2));
      const [, text] = await cells(page, 1, 'name');
      assert.match(text, /3 frames later than the deadline: 55 ms in all, the longest 24 ms/);
    },
    { hash: '#tab=findings&range=150000000-410000000' },
  );
  const { tracks } = await (await fetch(`${viewers.slow.address}api/trace`)).json();
  const worker = tracks.find((t) => t.name === 'Worker').track;
  await onFindings(
    async (page) => {
      await shows(page, [ALL[0], ALL[2]]);
      const not = rows(page, 1).filter({ hasText: 'Not checked' });
      if ((await not.getAttribute('aria-expanded')) === 'false') await not.click();
      await rows(page, 2).filter({ hasText: 'a main thread that is known' }).first().waitFor();
    },
    { hash: `#tab=findings&threads=${worker}` },
  );
});

test('diagnostics of the reader link to Health', async () => {
  await onFindings(async (page) => {
    await shows(page, ALL);
    await rows(page, 2).first().click();
    await until(async () => (await place(page)).tab, 'health');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'health');
    const cursor = page.locator('#health .cursor [data-column="kind"]');
    await until(() => cursor.innerText(), 'title-mismatch');
  });
});

test('without findings the tab says what was looked for', async () => {
  await onFindings(
    async (page) => {
      await until(
        () => page.locator('.findings .about').innerText(),
        'Nothing found in the trace.',
      );
      const heads = () => cells(page, 1, 'name');
      await until(async () => (await heads()).join(), 'Checked, and not found,Not checked');
      const rest = (text) => rows(page, 2).filter({ hasText: text }).first().innerText();
      assert.match(
        await rest('Slow frames'),
        /the making of pictures, .*, later than its deadline/,
      );
      await rows(page, 2).filter({ hasText: 'the trace does not have both clocks' }).waitFor();
      assert.equal(await page.locator('#tab-findings .tab-count').innerText(), '');
    },
    { trace: 'quiet' },
  );
});

test('in a narrow window with forced colours the selected line and its subject are readable', async () => {
  await onFindings(
    async (page) => {
      await shows(page, ALL);
      await rows(page, 2).filter({ hasText: 'ProxyMain' }).first().click();
      const line = page.locator('#pane-findings [aria-selected=true]');
      await line.waitFor();
      const colours = await line.evaluate((row) =>
        [...row.children].flatMap((cell) => {
          const ground = getComputedStyle(cell).backgroundColor;
          const words = [...cell.querySelectorAll('.text')].map((e) => getComputedStyle(e).color);
          return [ground, ...words];
        }),
      );
      // One ground and one colour on it, in every cell.
      assert.equal(new Set(colours).size, 2, colours.join(' '));
      const box = await about(page).boundingBox();
      assert.ok(box.height > 40 && box.y + box.height <= 700, JSON.stringify(box));
    },
    { forcedColors: 'active', viewport: { width: 900, height: 700 } },
  );
});

test('accessible: findings', async () => {
  await onFindings(async (page) => {
    await shows(page, ALL);
    await assertAccessible(page);
  });
});
