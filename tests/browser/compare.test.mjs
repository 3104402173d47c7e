// SPDX-License-Identifier: Apache-2.0
// The page compares: `traceview diff --open`, the table against `diff --format json`, and the
// address.
import { strict as assert } from 'node:assert';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPage, until } from './browser.mjs';
import { copies } from './files.mjs';
import { after, test } from './suite.mjs';
import { json, view } from './program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'traceview-compare-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a trace of slices [name, start, length] in µs. */
function trace(name, ...slices) {
  const file = join(folder, name);
  const events = slices.map(([name, ts, dur]) => ({ ph: 'X', name, ts, dur, pid: 1, tid: 1 }));
  writeFileSync(file, JSON.stringify(events));
  return file;
}

// draw: 100 - 30 - 10 = 60 and 150 - 90 - 20 = 40 of its own; parse: 30, then 90 in two calls.
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

const rows = (page) =>
  page
    .locator('.compare .grid-row')
    .evaluateAll((lines) =>
      lines.map((line) =>
        [...line.querySelectorAll('[data-column]')].map((cell) =>
          cell.textContent.replace(/base$/, ''),
        ),
      ),
    );

async function compared(page) {
  await until(
    async () => (await rows(page)).length,
    (n) => n > 1,
    'rows of the comparison',
  );
  return rows(page);
}

async function opened(files, work) {
  const viewer = await view(...files);
  const { page, troubles, close } = await openPage(viewer.address);
  try {
    await work(page, viewer);
    assert.deepEqual(troubles, []);
  } finally {
    await close();
    await viewer.stop();
  }
}

test('diff --open shows the changes, the most certain ones first', async () => {
  await opened(['diff', '--open', BASE, NEW], async (page) => {
    assert.deepEqual(await compared(page), [
      ['(total of all threads)', '0.100', '0.150', '+0.050', '+50.0 %', ''],
      ['!parse', '0.030', '0.090', '+0.060', '+200.0 %', '1 → 2'],
      ['+fresh', '0.000', '0.020', '+0.020', 'new', '0 → 1'],
      ['−gone', '0.010', '0.000', '−0.010', 'gone', '1 → 0'],
      ['draw', '0.060', '0.040', '−0.020', '−33.3 %', '1'],
    ]);
    assert.match(await page.locator('.compare .about').innerText(), /one run on a side/);
    await page.selectOption('.compare [aria-label="Figure"]', 'incl');
    await until(
      () => rows(page),
      (now) => now[4][1] === '0.100',
      'times with callees',
    );
    await until(
      () => page.url(),
      (address) => /base=1/.test(address) && /compare=incl/.test(address),
      'the address of the choice',
    );
    await page.reload();
    assert.equal((await compared(page))[4][1], '0.100');
  });
});

test('the table has the figures of diff --format json', async () => {
  for (const by of ['method', 'class', 'package', 'thread'])
    await opened(['diff', '--open', BASE, NEW, '--by', by], async (page) => {
      // The page's first answer has arrived: the one that is awaited is that of the page after it.
      await compared(page);
      const answer = page.waitForResponse((response) => response.url().includes('api/diff'));
      await page.reload();
      const { left_out, ...shown } = await (await answer).json();
      const told = json('diff', '--base', BASE, '--new', NEW, '--format', 'json', '--by', by);
      for (const run of [...told.sides.base, ...told.sides.new])
        run.file = run.file.replace(/.*\//, '');
      // Calls of a method are another answer, when it is selected (compareCalls.test.mjs).
      for (const row of told.rows) delete row.lengths;
      assert.equal(left_out, 0);
      assert.deepEqual(shown, told);
    });
});

test('groups of runs have intervals and p values, as in diff', async () => {
  const group = ['--base', ...copies(BASE, 3), '--new', ...copies(NEW, 2)];
  await opened(['diff', '--open', ...group], async (page) => {
    const parse = (await compared(page)).find(([name]) => name.includes('parse'));
    const told = json('diff', ...group, '--format', 'json').rows.find(({ key }) => key === 'parse');
    const percent = (x) => `${x < 0 ? '−' : '+'}${Math.abs(x * 100).toFixed(1)} %`;
    assert.deepEqual(parse.slice(4, 6), [
      percent(told.change),
      `${percent(told.low)} … ${percent(told.high)}`,
    ]);
    assert.equal(parse[6], told.p.toFixed(told.p < 0.01 ? 4 : 3).replace('0.0000', '<0.0001'));
  });
});

test('a trace can be compared with a known file, and a click selects the method', async () => {
  await opened([NEW], async (page) => {
    await page.click('.top >> text=Compare');
    const chooser = page.waitForEvent('filechooser');
    await page.click('text=Choose the base…');
    await (await chooser).setFiles(BASE);
    await compared(page);
    await page.locator('.compare .grid-row', { hasText: 'parse' }).click();
    await until(
      () => page.url(),
      (url) => /base=\d/.test(url) && /method=\d/.test(url),
      'the method in the address',
    );
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      page.locator('.compare .grid-row', { hasText: 'parse' }).locator('a').click(),
    ]);
    await tab.waitForSelector('.profile .row.method');
    assert.match(await tab.title(), /old\.json/);
  });
});

test('an empty page asks for the new runs, then for the base runs', async () => {
  const choose = async (page, button, files) => {
    const chooser = page.waitForEvent('filechooser');
    await page.click(`text=${button}`);
    await (await chooser).setFiles(files);
  };
  await opened([], async (page) => {
    await choose(page, 'Compare…', [NEW, trace('again.json', ['draw', 0, 150])]);
    await page.waitForSelector('text=The trace of this page and 1 more run are the new version.');
    await choose(page, 'Choose the base…', [BASE, trace('older.json', ['draw', 0, 90])]);
    await compared(page);
    assert.match(await page.locator('.compare .about').innerText(), /2 runs → 2 runs/);
    await until(
      () => page.url(),
      (url) => /base=\d%2F\d/.test(url) && /new=\d/.test(url) && /tab=compare/.test(url),
      'both groups in the address',
    );
  });
});
