// SPDX-License-Identifier: Apache-2.0
// The tab SQL: a query, its rows, their links, errors, completion, kept queries, and the advice
// where there is no DuckDB. Skipped, aloud, where its library is missing (make sql).
import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { openPage, place, until } from './browser.mjs';
import { showFile } from './files.mjs';
import { test } from './suite.mjs';
import { example, program, view } from './program.mjs';

const asked = spawnSync(program(), ['sql', 'select 1', example()], {
  encoding: 'utf8',
});
const skip = /SQL needs libduckdb/.test(asked.stderr) && 'there is no libduckdb.so: run `make sql`';

const slice = (name, ts, dur, tid = 1) => ({
  ph: 'X',
  name,
  ts,
  dur,
  pid: 1,
  tid,
});
const EVENTS = [
  ...[slice('draw', 0, 100), slice('parse', 10, 30), slice('parse', 50, 40)],
  slice('<b>"hostile', 200, 7, 2),
];

const cells = (page) =>
  page
    .locator('.sql .grid-row')
    .evaluateAll((lines) =>
      lines.map((line) => [...line.querySelectorAll('[data-column]')].map((c) => c.textContent)),
    );
const cell = (page, line, column) =>
  page.locator(`.sql .grid-row[data-line="${line}"] [data-column="${column}"] .link`);

/** The tab is there. */
const there = (page) => page.locator('.sql').waitFor();

async function run(page, query) {
  await page.locator('.sql textarea').fill(query);
  await page.keyboard.press('Control+Enter');
}

/** Wait until the rows are these. */
const rowsAre = (page, expected) =>
  until(
    async () => JSON.stringify(await cells(page)),
    JSON.stringify(expected),
    'the rows of the query',
  );

async function opened() {
  const shown = await showFile('t.json', EVENTS);
  await shown.page.click('#tab-sql');
  return shown;
}

test('a query is answered, sorted, exported and kept in the address', { skip }, async () => {
  const { page, troubles } = await opened();
  await run(page, 'select name, count(*) as n, sum(dur) as t from slice group by name order by t');
  await rowsAre(page, [
    ['<b>"hostile', '1', '7000'],
    ['parse', '2', '70000'],
    ['draw', '1', '100000'],
  ]);
  await page.locator('.sql [role="columnheader"] button').nth(1).click();
  assert.deepEqual((await cells(page))[0], ['parse', '2', '70000']);
  assert.match(await page.locator('.sql .about').innerText(), /^3 rows, [\d,]+ ms$/);

  await page.getByRole('button', { name: 'Export' }).click();
  const saved = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'CSV' }).click();
  assert.equal(
    readFileSync(await (await saved).path(), 'utf8'),
    'name,n,t\r\nparse,2,70000\r\n"<b>""hostile",1,7000\r\ndraw,1,100000\r\n',
  );

  await until(async () => (await place(page)).sql?.slice(0, 11), 'select name', 'the address');
  await page.reload();
  await rowsAre(page, [
    ['<b>"hostile', '1', '7000'],
    ['parse', '2', '70000'],
    ['draw', '1', '100000'],
  ]);
  assert.deepEqual(troubles, []);
});

test('a note names what was taken as in SQLite, and fits', { skip }, async () => {
  const { page, troubles } = await opened();
  const about = page.locator('.sql .about');
  await run(
    page,
    'select name, ts, "some" as a, sum(dur) as t from slice group by name order by t',
  );
  await until(
    () => about.innerText(),
    (text) =>
      text.endsWith(
        'taken as texts: "some"; not grouped, so the value of one row of each group: "ts"',
      ),
    'the note',
  );
  const size = page.viewportSize();
  for (const width of [1280, 1600]) {
    await page.setViewportSize({ width, height: 800 });
    const parts = () =>
      page
        .locator('.sql')
        .evaluate((pane) =>
          [pane, pane.querySelector('.about')].map((part) => part.getBoundingClientRect().right),
        );
    const [pane, note] = await parts();
    assert.ok(pane <= width && note <= pane, `${note} of ${pane} at ${width}`);
  }
  await page.setViewportSize(size);
  assert.deepEqual(troubles, []);
});

test('ids, times and threads link to the time line', { skip }, async () => {
  const { page } = await opened();
  await run(page, 'select id, ts, dur, utid, name from slice order by ts desc limit 2');
  await until(async () => (await cells(page)).length, 2, 'two rows');
  await cell(page, 1, 0).click();
  await page.click('#tab-selection');
  const told = () => page.locator('#pane-selection').innerText();
  await until(told, (text) => text.includes('parse') && /0\.040/.test(text), 'the slice of the id');
  await page.click('#tab-sql');
  await cell(page, 0, 1).click();
  await until(async () => (await place(page)).range, '200000-207000', 'the range of ts and dur');
});

test('an id links to its slice when a filter hides others', { skip }, async () => {
  const { page } = await showFile('t.json', EVENTS, {
    hash: '#filter=name:hostile&tab=sql',
    waits: there,
  });
  await run(page, "select id from slice where name::text like '%hostile'");
  await until(async () => (await cells(page)).length, 1, 'a row');
  assert.match(await page.locator('.sql .about').innerText(), /without the filter/);
  await cell(page, 0, 0).click();
  await until(async () => (await place(page)).call !== undefined, true, 'a selected slice');
  await page.click('#tab-selection');
  const told = () => page.locator('#pane-selection').innerText();
  await until(told, (text) => text.includes('hostile'), 'the slice of the id');
});

test('an error shows its position, and a query can be cancelled', { skip }, async () => {
  const { page } = await opened();
  const failure = () => page.locator('.sql-failure').innerText();
  await run(page, 'select 7 as a');
  await rowsAre(page, [['7']]);
  await run(page, 'select name\nfrom slic');
  await until(failure, (text) => /Did you mean "slice"/.test(text), 'the error');
  assert.match(await failure(), /LINE 2: from slic\n +\^/);
  assert.equal(await page.locator('.sql .grid').isVisible(), false); // columns of another query
  await run(
    page,
    'select count(*) from range(1000000000) a, range(1000000000) b where a.range = -1',
  );
  await page.locator('.sql').getByRole('button', { name: 'Cancel' }).click();
  await until(failure, 'Cancelled.', 'the end of the query');
  // The next one need not wait for it.
  await run(page, 'select 42 as answer');
  await rowsAre(page, [['42']]);
});

test('names are completed, and queries are saved', { skip }, async () => {
  const { page } = await opened();
  const box = page.locator('.sql textarea');
  const names = page.locator('.sql-names [role="option"]');
  // The names are there a moment after the box has the focus: what was written until then counts.
  await box.fill('select * from thread_s');
  await until(
    () => names.allInnerTexts(),
    (texts) => texts.length >= 2 && /^thread_s\w+\s+table$/.test(texts[0]),
    'the list of names',
  );
  const second = (await names.allInnerTexts())[1].split(/\s/)[0];
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Tab');
  assert.match(second, /^thread_s/);
  assert.equal(await box.inputValue(), `select * from ${second}`);

  await box.fill('-- mine\nselect 7 as a');
  await page.locator('.sql').getByRole('button', { name: 'Keep' }).click();
  await until(async () => (await place(page)).tab, 'sql', 'the tab in the address');
  await page.reload();
  await there(page);
  await page.getByLabel('Ready queries').selectOption({ label: 'mine' });
  await rowsAre(page, [['7']]);
  assert.equal(await box.inputValue(), '-- mine\nselect 7 as a');
});

test('the page offers the ready queries of the manual', { skip }, async () => {
  const { page, troubles } = await opened();
  const list = page.getByLabel('Ready queries');
  const count = await list.locator('optgroup:not([label="Latest"]) option').count();
  assert.ok(count >= 20, `${count} queries`);
  const first = await list.locator('optgroup option').first().innerText();
  assert.equal(first, 'the slices that took most time of their own');
  await list.selectOption({ label: first });
  await until(async () => (await cells(page))[0]?.[0], 'parse', 'the rows of a ready query');
  assert.deepEqual(troubles, []);
});

test('without DuckDB the tab says what to do', async () => {
  const before = process.env.TRACEVIEW_DUCKDB;
  process.env.TRACEVIEW_DUCKDB = '/missing/libduckdb.so';
  const starting = view(example());
  if (before === undefined) delete process.env.TRACEVIEW_DUCKDB;
  else process.env.TRACEVIEW_DUCKDB = before;
  const viewer = await starting;
  const { page, troubles, close } = await openPage(`${viewer.address}#tab=sql`);
  try {
    await there(page);
    const text = await page.locator('#pane-sql').innerText();
    assert.match(text, /SQL needs libduckdb/);
    assert.match(text, /make sql/);
    assert.equal(await page.locator('#pane-sql textarea').count(), 0);
    assert.deepEqual(troubles, []);
  } finally {
    await close();
    await viewer.stop();
  }
});

test('ready queries are listed until one runs, and the box fits its query', { skip }, async () => {
  const { page, troubles } = await opened();
  const ready = page.locator('.sql-ready');
  const lines = () => page.locator('.sql textarea').evaluate((box) => box.rows);
  assert.equal(await lines(), 2);
  assert.match(await ready.innerText(), /^Any trace with slices\s+the slices that took most time/);
  await ready.getByRole('button', { name: 'what runs within what' }).click();
  await until(async () => String((await cells(page))[0]), 'NULL,draw,1,100000', 'the rows');
  assert.equal(await ready.isVisible(), false);
  assert.match(
    await page.locator('.sql textarea').inputValue(),
    /^-- what runs within what\nselect/,
  );
  // Columns of another number are drawn with their own heads.
  await run(page, '-- one\n-- two\n-- three\nselect 1 as a, 2 as b, 3 as c, 4 as d, 5 as e');
  await rowsAre(page, [['1', '2', '3', '4', '5']]);
  assert.equal(await lines(), 4);
  await run(page, `select ${Array.from({ length: 80 }, (_, i) => `${i} as a_long_name_${i}`)}`);
  await until(async () => (await cells(page))[0]?.length, 80, '80 columns');
  assert.ok((await lines()) > 4, 'long lines are wrapped');
  // A chart of no rows would hide that there are none.
  await page.getByLabel('Chart', { exact: true }).selectOption('histogram');
  await page.locator('.sql .chart').waitFor();
  await run(page, 'select 1 as a where false');
  await page.locator('.sql .chart').waitFor({ state: 'hidden' });
  assert.match(await page.locator('.sql .grid').innerText(), /The query finds no rows\./);
  assert.deepEqual(troubles, []);
});
