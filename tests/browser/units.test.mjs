// SPDX-License-Identifier: Apache-2.0
// Units of the page: times choose their own, samples are counted and have no times and no calls.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { openPage, place, ready, tableLines, until } from './browser.mjs';
import { showFile } from './files.mjs';
import { test } from './suite.mjs';
import { example, json, view } from './program.mjs';

const NS = { ns: 1, µs: 1e3, ms: 1e6, s: 1e9, min: 60e9, h: 3600e9, d: 86400e9 };

/** Read a time in nanoseconds, and how far it may be off: one of its last digit. */
function readTime(text) {
  if (text === '0') return { ns: 0, off: 1 };
  let [ns, off] = [0, 0];
  for (const [, number, unit] of text.matchAll(/([\d,.]+) (ns|µs|ms|min|[shd])(?: |$)/g)) {
    ns += Number(number.replaceAll(',', '')) * NS[unit];
    off = NS[unit] / 10 ** (number.split('.')[1] ?? '').length;
  }
  return { ns, off };
}

test('profile times equal those of the command line, each in its own unit', async () => {
  const viewer = await view(example());
  const { page, close } = await openPage(viewer.address, { reader: null });
  await ready(page);
  const wanted = json('profile', '--format', 'json', example());
  const lines = (await tableLines(page)).filter(({ name }) => !name.startsWith('(context'));
  assert.equal(lines.length, wanted.length);
  const units = new Set();
  for (const { name, cells } of lines) {
    // Several methods of a class may have one name: one of them has these times.
    const fits = (m) =>
      name.includes(`${m.class}.${m.method} (`) &&
      ['incl_real', 'excl_cpu'].every((id) => {
        const { ns, off } = readTime(cells[id]);
        return Math.abs(ns - m[`${id}_ns`]) <= off;
      });
    assert.ok(wanted.some(fits), `${name}: ${JSON.stringify(cells)}`);
    units.add(cells.incl_real.split(' ')[1]);
  }
  assert.ok(units.has('ms') && units.has('µs'), [...units].join());
  await close();
  await viewer.stop();
});

test('long times are minutes and seconds, and the next trace keeps a chosen unit', async () => {
  const long = [
    { ph: 'X', name: 'wait', pid: 1, tid: 1, ts: 0, dur: 469_076_500 },
    { ph: 'X', name: 'work', pid: 1, tid: 1, ts: 1, dur: 2_481_000 },
  ];
  const { page, troubles } = await showFile('long.json', long, { options: { reader: null } });
  const times = async () => (await tableLines(page)).map(({ cells }) => cells.incl_real).join(', ');
  assert.equal(await times(), '7 min 49 s, 2.481 s');
  assert.match(await page.locator('.strip.overview').innerText(), /7 min 49 s/);
  const unit = page.getByLabel('Unit of times');
  assert.equal(await unit.inputValue(), 'auto');
  await unit.selectOption('s');
  await until(times, '469.076500, 2.481000', 'seconds');
  await until(async () => (await place(page)).unit, 's', 'the address');
  // Without an address the page has what the reader chose.
  await page.goto(page.url().split('#')[0]);
  await page.reload();
  await ready(page);
  assert.equal(await unit.inputValue(), 's');
  assert.deepEqual(troubles, []);
});

const FOLDED = 'main;load;read 3\nmain;load 2\nmain;save 10\n';
const HPROF = `TRACE 300001: (thread=200001)
\tjava.lang.Long.parseLong(Long.java:433)
\tapp.Main.main(Main.java:3)
TRACE 300002: (thread=200001)
\tapp.Main.main(Main.java:5)
CPU SAMPLES BEGIN (total = 626) Wed Jul 21 12:03:46 2010
rank   self  accum   count trace method
   1 86.58% 86.58%     542  300001 java.lang.Long.parseLong
   2 13.42% 100.00%      84  300002 app.Main.main
CPU SAMPLES END
`;

for (const [file, content] of [
  ['stacks.folded', FOLDED],
  ['java.hprof.txt', HPROF],
]) {
  test(`${file}: samples are shown as samples everywhere`, async () => {
    const {
      page,
      troubles,
      file: path,
    } = await showFile(file, content, {
      options: { reader: null },
    });
    assert.equal(
      await page.getByRole('tab', { name: 'Flame' }).getAttribute('aria-selected'),
      'true',
    );
    assert.match(await page.locator('.flame .bar').innerText(), /width is the number of samples/);
    const wanted = json('profile', '--format', 'json', path).map((m) => ({
      name: m.name,
      incl: m.total,
      excl: m.self,
    }));
    await page.locator('.flame .scroller').focus();
    await page.keyboard.press('ArrowDown');
    const about = page.locator('.flame .about');
    await until(
      () => about.innerText(),
      (text) => text !== '',
      'a frame',
    );
    assert.match(await about.innerText(), new RegExp(`inclusive ${wanted[0].incl} samples`));

    await page.getByRole('tab', { name: 'Profile' }).click();
    const heads = await page.locator('.profile .head .line').allInnerTexts();
    assert.doesNotMatch(heads.join(), /Real|Calls|per call|ms|time/);
    for (const { name, cells, kind } of await tableLines(page)) {
      if (kind !== 'method') continue;
      const row = wanted.find((m) => name.includes(m.name));
      assert.equal(cells.incl_real, String(row.incl));
      assert.equal(cells.excl_real, String(row.excl));
    }
    // There is nothing to choose.
    assert.equal(await page.locator('.scope select').count(), 0);

    await page.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'JSON' }).click(),
    ]);
    const saved = JSON.parse(readFileSync(await download.path(), 'utf8'));
    assert.deepEqual(
      saved.map((row) => ({
        name: [row.class, row.function].filter(Boolean).join('.'),
        incl: row.total,
        excl: row.self,
      })),
      wanted,
    );
    assert.deepEqual(Object.keys(saved[0]), [
      ...['class', 'function', 'signature', 'source', 'samples', 'total', 'self'],
    ]);
    await page.getByRole('tab', { name: 'Selection' }).click();
    const text = page.locator('#pane-selection');
    await until(
      () => text.innerText(),
      (all) => all.includes('Total samples'),
      'the table by name',
    );
    assert.doesNotMatch(await text.innerText(), /Real|\d m?s\b/);
    assert.deepEqual(troubles, []);
  });
}
