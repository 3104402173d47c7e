// SPDX-License-Identifier: Apache-2.0
// The calls of a selected method in both sides of a comparison: percentiles against `diff --figure`,
// counts in common buckets, and the way to the slowest calls.
import { strict as assert } from 'node:assert';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPage, until } from './browser.mjs';
import { after, test } from './suite.mjs';
import { json, view } from './program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'traceview-compare-calls-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a trace in which "draw" takes these lengths, in µs, one after the other. */
function trace(name, lengths, more = []) {
  const file = join(folder, name);
  let ts = 0;
  const events = [...lengths.map((dur) => ['draw', dur]), ...more].map(([name, dur]) => {
    ts += 1000;
    return { ph: 'X', name, ts, dur, pid: 1, tid: 1 };
  });
  writeFileSync(file, JSON.stringify(events));
  return file;
}

const OLD = [
  trace('old1.json', [10, 10, 11, 40], [['gone', 7]]),
  trace('old2.json', [10, 12, 12, 30], [['gone', 7]]),
];
const NEW = [trace('new1.json', [20, 20, 22, 90]), trace('new2.json', [20, 21, 24, 300])];

const section = (page) => page.locator('.compared-calls');
const cells = (page) =>
  section(page)
    .locator('.call-figures tr')
    .evaluateAll((rows) =>
      rows.map((row) => [...row.children].map((cell) => cell.innerText.trim())),
    );

test('a selected method shows its calls on both sides and links to the slowest ones', async () => {
  const viewer = await view('diff', '--open', '--base', ...OLD, '--new', ...NEW);
  const { page, troubles, close } = await openPage(viewer.address);
  const told = (figure) => {
    const groups = ['--base', ...OLD, '--new', ...NEW, '--figure', figure, '--format', 'json'];
    const row = json('diff', ...groups).rows.find(({ key }) => key === 'draw');
    return [row.base, row.new].map((ns) => `${(ns / 1e6).toFixed(3)} ms`);
  };
  try {
    await page.locator('.compare .grid-row', { hasText: 'draw' }).click();
    await until(
      () => cells(page),
      (rows) => rows.length === 5,
      'the figures of both sides',
    );
    assert.deepEqual(await cells(page), [
      ['', 'Base', 'New'],
      ['Slices', '8', '8'],
      ['Median', ...told('p50')],
      ['95 %', ...told('p95')],
      ['Longest', ...told('max')],
    ]);

    // Ten buckets a power of ten: from 10 µs of the base to 320 µs of the new side.
    const bars = await section(page)
      .locator('.histogram i')
      .evaluateAll((all) => all.map((bar) => bar.title));
    assert.equal(bars.length, 15);
    assert.equal(bars[0], '0.010 ms to 0.013 ms: base 6, new 0');
    assert.equal(bars[3], '0.020 ms to 0.025 ms: base 0, new 6');
    assert.equal(bars[14], '0.250 ms to 0.320 ms: base 0, new 1');

    const lengths = (side) => section(page).locator(`.of-${side} .link`).allInnerTexts();
    assert.deepEqual((await lengths('base')).slice(0, 3), ['0.040 ms', '0.030 ms', '0.012 ms']);
    assert.deepEqual((await lengths('new')).slice(0, 2), ['0.300 ms', '0.090 ms']);

    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      section(page).locator('.of-base .link').first().click(),
    ]);
    await until(
      () => tab.locator('body').innerText(),
      (text) => text.includes('0.040 ms'),
      'the call in its trace',
    );
    assert.match(await tab.title(), /old1\.json/);
    await section(page).locator('.of-new button').first().click();
    await until(
      () => page.url(),
      (url) => /call=\d/.test(url),
      'the call of the trace of the page',
    );

    await page.locator('.compare .grid-row', { hasText: 'gone' }).click();
    await until(
      () => cells(page),
      (rows) => rows[1]?.join() === 'Slices,2,0',
      'a method of the base alone',
    );
    assert.deepEqual(troubles, []);
  } finally {
    await close();
    await viewer.stop();
  }
});

test('a single call on each side has visible bars', async () => {
  const viewer = await view('diff', '--open', trace('one.json', [400]), trace('two.json', [520]));
  const { page, troubles, close } = await openPage(viewer.address);
  try {
    await page.locator('.compare .grid-row', { hasText: 'draw' }).click();
    // 400 and 520 µs are in neighbouring buckets; each side fills half of its own.
    const widths = () =>
      section(page)
        .locator('.histogram b')
        .evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width));
    await until(
      widths,
      (all) => all.length === 4 && all.every((width) => width > 20),
      'wide bars of two buckets',
    );
    assert.deepEqual(troubles, []);
  } finally {
    await close();
    await viewer.stop();
  }
});
