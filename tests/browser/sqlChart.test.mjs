// SPDX-License-Identifier: Apache-2.0
// Charts of the rows of a query, and its rows as a track of the time line. Skipped, aloud, where
// DuckDB's library is missing (make sql).
import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { faults } from './axe.mjs';
import { place, rested, until } from './browser.mjs';
import { showFile } from './files.mjs';
import { test } from './suite.mjs';
import { example, program } from './program.mjs';

const asked = spawnSync(program(), ['sql', 'select 1', example()], { encoding: 'utf8' });
const skip = /SQL needs libduckdb/.test(asked.stderr) && 'there is no libduckdb.so: run `make sql`';

const slice = (name, ts, dur) => ({ ph: 'X', name, ts, dur, pid: 1, tid: 1 });
const EVENTS = [
  ...[slice('draw', 0, 100), slice('parse', 200, 40), slice('draw', 300, 20)],
  slice('<b>"hostile', 400, 7),
];
const LAYOUTS = [
  { width: 1280, scheme: 'light' },
  { width: 1600, scheme: 'light' },
  { width: 1280, scheme: 'dark' },
  { width: 1600, scheme: 'dark' },
];

async function opened(layout, query) {
  const options = {
    viewport: { width: layout?.width ?? 1280, height: 800 },
    ...{ colorScheme: layout?.scheme ?? 'light', bypassCSP: layout !== null },
  };
  const shown = await showFile('t.json', EVENTS, { options });
  const { page } = shown;
  await page.click('#tab-sql');
  await page.locator('.sql textarea').fill(query);
  await page.keyboard.press('Control+Enter');
  await page.locator('.sql .grid-row').first().waitFor();
  return shown;
}

const kinds = (page) => page.getByLabel('Chart', { exact: true });
const words = (page) => page.locator('.sql .chart-plot').getAttribute('aria-label');

/** Count the pixels of the chart that are not its ground. */
const inked = (page) =>
  page.locator('.sql .chart-plot canvas').evaluate((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let i = 3; i < data.length; i += 4) if (data[i] > 0) count++;
    return count;
  });

for (const layout of LAYOUTS) {
  const about = `${layout.width} px, ${layout.scheme}`;
  test(`names and numbers become bars (${about})`, { skip }, async () => {
    const query = 'select name, sum(dur) as total from slice group by name order by total desc';
    const { page, troubles } = await opened(layout, query);
    assert.deepEqual(await kinds(page).locator('option').allInnerTexts(), [
      'No chart',
      'Bars',
      'Histogram',
    ]);
    await kinds(page).selectOption('bars');
    await page.locator('.sql .chart-plot canvas').waitFor();
    await rested(page);
    assert.equal(
      await words(page),
      'Bar chart, total by name: 3 bars of total; draw: 120,000; parse: 40,000; <b>"hostile: 7,000',
    );
    assert.ok((await inked(page)) > 1000);
    // Chart and rows stand beside each other, inside of the panel.
    const [chart, grid, panel] = await Promise.all(
      ['.sql .chart', '.sql .grid', '.sql'].map((one) => page.locator(one).boundingBox()),
    );
    assert.ok(grid.x + grid.width <= chart.x + 1);
    assert.ok(chart.x + chart.width <= panel.x + panel.width + 1);
    assert.ok(chart.height > 80);
    assert.deepEqual(await faults(page), []);
    assert.deepEqual(troubles, []);
  });
}

test('times and numbers become lines whose points link to their rows', { skip }, async () => {
  const { page, troubles } = await opened(null, 'select ts, dur, name from slice order by dur');
  await kinds(page).selectOption('lines');
  await page.locator('.sql .chart-plot canvas').waitFor();
  assert.match(await words(page), /^Line chart, dur over ts: 4 places of ts from 0 to 400\.000 µs/);
  await page.locator('.sql .chart-plot').focus();
  // The points are in order of time: the second one is "parse", the third row.
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await until(async () => (await place(page)).range, '200000-240000', 'the range of the point');
  assert.match(await page.locator('.sql .chart-legend').innerText(), /200\.000 µs/);
  await kinds(page).selectOption('');
  await page.locator('.sql .chart').waitFor({ state: 'hidden' });
  assert.deepEqual(troubles, []);
});

test('a single numeric column becomes a histogram', { skip }, async () => {
  const { page, troubles } = await opened(null, 'select dur from slice');
  await kinds(page).selectOption('histogram');
  await until(
    () => words(page),
    (text) => /^Histogram, rows by dur: 4 values of dur from /.test(text),
    'the words of the histogram',
  );
  // The next query has nothing to draw.
  await page.locator('.sql textarea').fill("select 'a' as b");
  await page.keyboard.press('Control+Enter');
  await page.locator('.sql .chart').waitFor({ state: 'hidden' });
  assert.equal(await kinds(page).isVisible(), false);
  assert.deepEqual(troubles, []);
});

test('a chart follows the theme', { skip }, async () => {
  const { page } = await opened(null, 'select name, dur from slice');
  await kinds(page).selectOption('bars');
  const canvas = page.locator('.sql .chart-plot canvas');
  await canvas.waitFor();
  const picture = () => canvas.evaluate((own) => own.toDataURL());
  await rested(page);
  const light = await picture();
  await page.evaluate(() => (document.documentElement.dataset.theme = 'dark'));
  await until(picture, (data) => data !== light, 'a chart in other colours');
});

for (const layout of LAYOUTS) {
  const about = `${layout.width} px, ${layout.scheme}`;
  test(`rows can be drawn above the tracks and removed (${about})`, { skip }, async () => {
    const query = '-- long ones\nselect ts, dur, name from slice where dur > 10000';
    const { page, troubles } = await opened(layout, query);
    await page.getByRole('button', { name: 'As a track' }).click();
    const strip = page.locator('.query-strip');
    await strip.waitFor();
    assert.match(await strip.locator('.key').innerText(), /long ones\s+3 rows/);
    const [above, tracks] = await Promise.all(
      ['.query-strip', '#tracks'].map((one) => page.locator(one).boundingBox()),
    );
    assert.ok(above.height >= 15);
    assert.ok(above.y + above.height <= tracks.y + 1, 'the strip is above the tracks');
    assert.deepEqual(await faults(page), []);

    await strip.locator('canvas').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await until(async () => (await place(page)).range, '200000-240000', 'the range of the bar');
    await strip.getByRole('button', { name: 'Remove the rows of the query' }).click();
    await strip.waitFor({ state: 'hidden' });
    assert.deepEqual(troubles, []);
  });
}

test('a click on a bar of a query selects its time', { skip }, async () => {
  const { page } = await opened(null, 'select ts, dur, name from slice');
  await page.getByRole('button', { name: 'As a track' }).click();
  const canvas = page.locator('.query-strip canvas');
  await canvas.waitFor();
  const { width } = await canvas.boundingBox();
  // The trace is 407 us long; the pointer is in the middle of "parse".
  await canvas.click({ position: { x: (width * 220) / 407, y: 8 } });
  await until(async () => (await place(page)).range, '200000-240000', 'the range of the bar');
});

test('a shared address restores chart and track, and so does Back', { skip }, async () => {
  const query = 'select name, ts, dur from slice order by ts';
  const { page } = await showFile('t.json', EVENTS, {
    hash: `#tab=sql&sql=${encodeURIComponent(query)}&chart=bars.2&as-track=1`,
    waits: (own) => own.locator('.query-strip').first().waitFor(),
  });
  const bar = page.locator('.query-strip');
  await until(() => kinds(page).inputValue(), 'bars', 'the chart of the address');
  assert.match(await words(page), /dur by name/);
  await page.getByRole('button', { name: 'Remove the rows of the query' }).click();
  await until(async () => (await place(page))['as-track'] ?? null, null, 'no track in the address');
  assert.equal(await bar.isVisible(), false);
  await page.goBack();
  await bar.waitFor();
  await kinds(page).selectOption('histogram');
  await until(async () => (await place(page)).chart, 'histogram.2', 'the chart in the address');
});

test('a shared address restores the query', { skip }, async () => {
  const query = 'select name, dur from slice order by ts';
  const { page } = await showFile('t.json', EVENTS, {
    hash: `#tab=sql&sql=${encodeURIComponent(query)}`,
    waits: (own) => own.locator('.sql .grid-row').first().waitFor(),
  });
  assert.equal(await page.locator('.sql textarea').inputValue(), query);
  assert.equal(await page.locator('.sql .grid-row').count(), 4);
});
