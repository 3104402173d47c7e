// SPDX-License-Identifier: Apache-2.0
// The time line of the base below that of the page: partners, alignment, one view for both, and the
// address.
import { strict as assert } from 'node:assert';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { faults } from './axe.mjs';
import { openPage, place, until } from './browser.mjs';
import { copies } from './files.mjs';
import { after, test } from './suite.mjs';
import { view } from './program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'traceview-paired-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a trace of threads { name: [[slice, start, length], ...] }, in µs. */
function trace(name, threads) {
  const file = join(folder, name);
  const events = Object.entries(threads).flatMap(([thread, slices], i) => [
    { ph: 'M', name: 'thread_name', pid: 1, tid: i + 1, args: { name: thread } },
    ...slices.map(([slice, ts, dur]) => ({ ph: 'X', name: slice, ts, dur, pid: 1, tid: i + 1 })),
  ]);
  writeFileSync(file, JSON.stringify(events));
  return file;
}

const BASE = trace('old.json', {
  'pool-27': [['load', 0, 400]],
  fresh: [['idle', 50, 20]],
  main: [
    ['draw', 0, 100],
    ['draw', 300, 100],
    ['draw', 700, 100],
  ],
});
const NEW = trace('new.json', {
  main: [
    ['draw', 0, 100],
    ['draw', 150, 100],
    ['draw', 400, 100],
    ['draw', 600, 100],
  ],
  'pool-11': [['load', 0, 500]],
  gone: [['idle', 50, 20]],
});

const names = (page, where) =>
  page
    .locator(`${where} .label:has(.name)`)
    .evaluateAll((labels) =>
      labels.map(
        (label) =>
          label.querySelector('.name').textContent +
          (label.querySelector('.alone') ? ', no partner' : ''),
      ),
    );

const head = (page) => page.locator('.paired-head span').innerText();

/** Clicks where the time is on the first level of a thread. */
async function clickAt(page, where, thread, share) {
  const lanes = await page.locator(`${where} .list-view`).boundingBox();
  const label = await page.locator(`${where} .label`, { hasText: thread }).first().boundingBox();
  await page.mouse.click(lanes.x + share * lanes.width, label.y + 10);
}

async function opened(work) {
  const viewer = await view('diff', '--open', BASE, NEW);
  const { page, troubles, close } = await openPage(viewer.address);
  try {
    await page.waitForSelector('.compare .grid-row');
    await work(page, viewer);
    assert.deepEqual(troubles, []);
  } finally {
    await close();
    await viewer.stop();
  }
}

async function bothLines(page) {
  await page.click('text=Both time lines');
  await page.waitForSelector('.paired-head');
}

test('threads have the order of their partners, and those without a partner say so', async () => {
  await opened(async (page) => {
    const before = await names(page, '#tracks');
    await bothLines(page);
    await until(
      () => names(page, '#tracks-base'),
      (list) => list.length === 3,
      'the threads of the base',
    );
    const own = await names(page, '#tracks');
    assert.deepEqual(
      own.map((name) => name.replace(', no partner', '')),
      before,
    );
    assert.deepEqual(
      own.filter((name) => name.includes('no partner')),
      ['gone, no partner'],
    );
    const partner = { main: 'main', 'pool-11': 'pool-27' };
    const expected = own.flatMap((name) => partner[name] ?? []);
    assert.deepEqual(await names(page, '#tracks-base'), [...expected, 'fresh, no partner']);
    assert.deepEqual(await faults(page), []);
    await page.click('[aria-label="Close the time line of the base"]');
    assert.deepEqual(await names(page, '#tracks'), before);
    assert.equal(await page.locator('.paired').isHidden(), true);
  });
});

test('the n-th call of a method or a click in each time line aligns both, and the address keeps it', async () => {
  await opened(async (page) => {
    await bothLines(page);
    assert.match(await head(page), /Aligned at the start of both/);
    // The view has margins of 1.5 %: of 800 µs, which the longer trace takes.
    await page.keyboard.press('0');
    const share = (us) => (us / 800 + 0.015) / 1.03;
    await until(
      () => page.evaluate(() => location.hash),
      (hash) => /view=-12000-812000/.test(hash),
      'the whole of both traces',
    );
    await clickAt(page, '#tracks', 'main', share(450));
    await until(
      () => page.evaluate(() => location.hash),
      (hash) => /call=/.test(hash),
      'the selected call',
    );
    await page.click('text=Align at selection');
    // The third call: 400 µs in the new trace, 700 µs in the base.
    await until(
      () => head(page),
      (text) => /slice 3 of 4 of draw in main, base earlier by 0\.300 ms/.test(text),
      'the alignment',
    );
    await until(
      () => page.evaluate(() => location.hash),
      (hash) => /pair=300000,\d+\.2(&|$)/.test(hash),
      'the alignment in the address',
    );
    await page.reload();
    await until(
      () => head(page).catch(() => ''),
      (text) => /slice 3 of 4 of draw in main, base earlier by 0\.300 ms/.test(text),
      'the alignment after a reload',
    );

    // Whatever moves, the base shows the time of the page plus the shift. Both traces together
    // reach from -300 to 700 µs of the new one.
    await page.locator('#tracks').hover();
    await page.keyboard.press('0');
    await until(
      () => page.evaluate(() => location.hash),
      (hash) => /view=-315000-715000/.test(hash),
      'the whole of both traces, shifted',
    );
    const shifted = (us) => ((us + 300) / 1000 + 0.015) / 1.03;
    // The second call of the base, at 300 to 400 µs, is 0 to 100 µs of the new trace.
    await clickAt(page, '#tracks-base', 'main', shifted(50));
    await page.click('text=Align at selection');
    await until(
      () => head(page),
      (text) => /slice 3 of 4 of draw in main, base later by 0\.100 ms/.test(text),
      'the two selected calls',
    );
    await page.click('text=Align starts');
    await until(
      () => head(page),
      (text) => text === 'Aligned at the start of both',
      'the starts',
    );
  });
});

test('a call without a partner says so, and a range below is also the range above', async () => {
  await opened(async (page) => {
    await bothLines(page);
    await page.keyboard.press('0');
    await until(
      () => page.evaluate(() => location.hash),
      (hash) => /view=-12000-812000/.test(hash),
      'the whole of both traces',
    );
    const share = (us) => (us / 800 + 0.015) / 1.03;
    await clickAt(page, '#tracks', 'main', share(650));
    await page.click('text=Align at selection');
    await until(
      () => page.locator('.notice').innerText(),
      (text) => text.includes('The base has no slice 4 of draw in main'),
      'why it cannot be aligned',
    );
    const lanes = await page.locator('#tracks-base .list-view').boundingBox();
    await page.mouse.move(lanes.x + share(500) * lanes.width, lanes.y + lanes.height - 8);
    await page.mouse.down();
    await page.mouse.move(lanes.x + share(600) * lanes.width, lanes.y + lanes.height - 8);
    await page.mouse.up();
    await until(
      () => page.evaluate(() => location.hash),
      (hash) => {
        const [, from, to] = /range=(\d+)-(\d+)/.exec(hash) ?? [];
        return Math.abs(from - 500_000) < 2000 && Math.abs(to - 600_000) < 2000;
      },
      'the range',
    );
  });
});

test('the list in the head shows another run of the base, and the address keeps it', async () => {
  const second = trace('second.json', { main: [['paint', 0, 300]] });
  const viewer = await view('diff', '--open', '--base', BASE, second, '--new', ...copies(NEW, 2));
  const { page, troubles, close } = await openPage(viewer.address);
  await page.waitForSelector('.compare .grid-row');
  await bothLines(page);
  const run = page.getByLabel('Run of the base');
  const chosen = () => run.evaluate((list) => list.selectedOptions[0].textContent);
  await until(chosen, 'Run 1: old.json', 'the first run');
  const threads = () => names(page, '#tracks-base');
  await until(async () => (await threads()).length, 3, 'its threads');
  await run.selectOption('1');
  await until(async () => (await threads()).join(), 'main', 'the threads of the second run');
  await until(chosen, 'Run 2: second.json', 'the second run');
  await until(async () => (await place(page)).pair, '0,r1', 'the address');
  await page.reload();
  await until(chosen, 'Run 2: second.json', 'the second run, again');
  assert.deepEqual(troubles, []);
  await close();
  await viewer.stop();
});
