// SPDX-License-Identifier: Apache-2.0
// The lower panel over a file of events: search with its list, the table by name, health with the
// bytes, metadata.
import { strict as assert } from 'node:assert';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPage, place, ready, rested, until } from './browser.mjs';
import { after, before, test } from './suite.mjs';
import { view } from './program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'lower-'));
const LONG = 'a long property '.repeat(60);

/** One event a line; times in microseconds. Two of the lines are no events as they should be. */
const LINES = [
  { ph: 'M', name: 'thread_name', pid: 1, tid: 11, args: { name: 'main' } },
  { ph: 'M', name: 'thread_name', pid: 1, tid: 12, args: { name: 'pool' } },
  {
    ph: 'X',
    name: 'task',
    cat: 'top',
    pid: 1,
    tid: 11,
    ts: 0,
    dur: 1000,
    args: { url: 'http://café/' },
  },
  { ph: 'X', name: 'step', cat: 'top', pid: 1, tid: 11, ts: 0, dur: 100 },
  {
    ph: 'X',
    name: 'step',
    cat: 'top',
    pid: 1,
    tid: 11,
    ts: 200,
    dur: 300,
    args: { note: 'a <b>Needle</b>' },
  },
  { ph: 'X', name: 'step', cat: 'top', pid: 1, tid: 11, ts: 600, dur: 200 },
  { ph: 'X', name: 'Needle', cat: 'gpu', pid: 1, tid: 12, ts: 300, dur: 50 },
  {
    ph: 'i',
    name: 'mark',
    cat: 'top',
    s: 't',
    pid: 1,
    tid: 12,
    ts: 700,
    args: { why: ['one', 'needle'] },
  },
  { ph: 'Q', name: 'odd', pid: 1, tid: 11, ts: 5 },
  {
    ph: 'X',
    name: 'less',
    cat: 'needlework',
    pid: 1,
    tid: 12,
    ts: 100,
    dur: -5,
  },
];

const TEXT =
  `{"otherData":{"build":{"os":"Linux <i>","list":[1,2]}},"story":${JSON.stringify(LONG)},\n` +
  `"traceEvents":[\n${LINES.map((line) => JSON.stringify(line))
    .join(',\n')
    .replace('café', 'caf\\u00e9')}\n]}\n`;

let page;
let troubles;
const closing = [];

before(async () => {
  const file = join(folder, 'lower.json');
  writeFileSync(file, TEXT);
  const viewer = await view(file);
  const opened = await openPage(viewer.address);
  closing.push(opened.close, viewer.stop);
  ({ page, troubles } = opened);
  await ready(page);
});

after(async () => {
  for (const close of closing) await close();
  rmSync(folder, { recursive: true });
});

const tab = (name) => page.getByRole('tab', { name: new RegExp(`^${name}`) });
const squeeze = (text) => text.replace(/\s+/g, ' ').trim();

/** The cells of the visible lines of a grid. */
const cells = (label, columns) =>
  page
    .getByRole('grid', { name: label })
    .evaluate(
      (grid, wanted) =>
        [...grid.querySelectorAll('.grid-row')]
          .sort((a, b) => Number(a.dataset.line) - Number(b.dataset.line))
          .map((row) =>
            wanted
              .map((name) => row.querySelector(`[data-column=${name}]`).textContent.trim())
              .join(' | '),
          ),
      columns,
    );
const hits = (...columns) => cells('Search hits', columns);
const names = (...columns) => cells('Table by name', columns);

async function search(text) {
  await page.getByLabel('Search names and arguments').fill(text);
}

test('the list has the matches in names, categories and arguments, in time order', async () => {
  await tab('Search').click();
  await search('needle');
  await until(
    () => hits('name', 'where', 'kind', 'time', 'length', 'track').then((h) => h.join('\n')),
    [
      'less | category needlework | slice | 0.100 | 0.000 | [12] pool',
      'step | note: a <b>Needle</b> | slice | 0.200 | 0.300 | [11] main',
      'Needle | name | slice | 0.300 | 0.050 | [12] pool',
      'mark | why: needle | instant | 0.700 |  | [12] pool',
    ].join('\n'),
    'the hits',
  );
  assert.equal(squeeze(await tab('Search').innerText()), 'Search 4');
  assert.deepEqual(await page.locator('#pane-search .found').allInnerTexts(), [
    'needle',
    'Needle',
    'Needle',
    'needle',
  ]);
});

test('fields and case narrow the matches and are in the address', async () => {
  await page.getByRole('button', { name: 'Names' }).click();
  await page.getByRole('button', { name: 'Categories' }).click();
  await until(() => hits('name').then((h) => h.join()), 'step,mark', 'arguments alone');
  await page.getByRole('button', { name: 'Arguments' }).click();
  assert.equal(
    await page.getByRole('button', { name: 'Arguments' }).getAttribute('aria-pressed'),
    'true',
  );
  await page.getByRole('button', { name: 'Match case' }).click();
  await until(() => hits('name').then((h) => h.join()), 'mark', 'small letters alone');
  await until(
    () => place(page).then((p) => `${p.tab} ${p.in} ${p.case} ${p.search}`),
    'search args 1 needle',
    'the address',
  );
  await page.reload();
  await until(() => hits('name').then((h) => h.join()), 'mark', 'after reload');
  await page.getByRole('button', { name: 'Match case' }).click();
  await page.getByRole('button', { name: 'Names' }).click();
  await page.getByRole('button', { name: 'Categories' }).click();
  await until(() => hits('name').then((h) => h.length), 4, 'all of it again');
});

test('an escape in the file becomes the character that it stands for', async () => {
  await search('/CAFÉ');
  await until(() => hits('where').then((h) => h.join()), '', 'none with capitals');
  await search('/café/');
  await until(
    () => hits('name', 'where').then((h) => h.join()),
    'task | url: http://café/',
    'the hit',
  );
  await search('no such text');
  await until(
    () => page.locator('#pane-search .nothing').innerText(),
    'Nothing contains this text.',
    'none',
  );
});

test('threads and metadata are found and lead to their places', async () => {
  await search('pool');
  await until(() => hits('kind', 'name').then((h) => h.join()), 'thread | pool', 'the thread');
  await page.getByRole('grid', { name: 'Search hits' }).locator('.grid-row').first().click();
  await until(
    () => page.evaluate(() => document.activeElement?.closest('.label')?.textContent ?? ''),
    (text) => text.includes('pool'),
    'the label of its track',
  );
  await search('Linux');
  const where = () => hits('kind', 'name', 'where').then((h) => h.map(squeeze).join());
  await until(where, (text) => /^metadata \| otherData \| .*Linux/.test(text), 'its value');
  await page.getByRole('grid', { name: 'Search hits' }).locator('.grid-row').first().click();
  await until(async () => (await place(page)).tab, 'info', 'where it stands');
  await tab('Search').click();
});

test('a regular expression is matched by the engine, and the address keeps it', async () => {
  await search('^(ta|ste).{1,2}$');
  await page.getByRole('button', { name: 'Regular expression' }).click();
  await until(
    () => hits('name').then((h) => h.join()),
    'task,step,step,step',
    'names that match from end to end',
  );
  await until(async () => (await place(page)).re, '1', 'the address');
  // In arguments as well, each text by itself.
  await search('^one$');
  await until(
    () => hits('name', 'where').then((h) => h.map(squeeze).join()),
    'mark | why: one',
    'arguments',
  );
  assert.equal(await page.locator('#pane-search .found').first().innerText(), 'one');
  await search('(');
  const status = page.locator('#pane-search .about');
  await until(
    () => status.innerText(),
    (t) => /the pattern cannot be used/.test(t),
    'what is wrong',
  );
  // The browser notes each refusal; nothing else went wrong.
  assert.ok(troubles.splice(0).every((trouble) => / 400 /.test(trouble)));
  // A pattern at which trying one way after the other never ends.
  await search('(a+)+(a|aa)+$|(needle|needl.)+$');
  await until(() => hits('name').then((h) => h.includes('Needle')), true, 'an answer');
  await page.getByRole('button', { name: 'Regular expression' }).click();
});

test('the order of the hits is in the address', async () => {
  await search('step');
  await until(() => hits('time').then((h) => h.join()), '0.000,0.200,0.600', 'in time order');
  const grid = page.getByRole('grid', { name: 'Search hits' });
  await grid.getByRole('button', { name: /^Length/ }).click();
  await until(() => hits('length').then((h) => h.join()), '0.300,0.200,0.100', 'the longest first');
  await until(async () => (await place(page)).hits, 'length.down', 'the address');
  await page.reload();
  await until(() => hits('length').then((h) => h.join()), '0.300,0.200,0.100', 'after a reload');
  await grid.getByRole('button', { name: /Start/ }).click();
  await until(async () => (await place(page)).hits, undefined, 'the usual order');
});

test('Enter in the top bar opens the list where no name matches', async () => {
  await tab('Profile').click();
  await search('http://');
  await until(
    () => page.locator('.top .search .count').innerText(),
    'no name, Enter lists all',
    'what the box says',
  );
  await page.keyboard.press('Enter');
  await until(() => hits('name').then((h) => h.join()), 'task', 'the hit in an argument');
});

test('arrows move in the list, Enter goes to the event', async () => {
  await search('needle');
  await until(() => hits('name').then((h) => h.length), 4, 'the hits');
  const grid = page.getByRole('grid', { name: 'Search hits' });
  await grid.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await until(
    () => grid.locator('[aria-selected=true]').innerText().then(squeeze),
    (text) => /^2 step/.test(text),
    'the selected hit',
  );
  const id = await grid.getAttribute('aria-activedescendant');
  assert.equal(await page.locator(`#${id}`).getAttribute('aria-rowindex'), '3');
  await until(async () => 'call' in (await place(page)), true, 'the selected call');
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await until(async () => (await place(page)).mark, 'instant.0', 'the selected instant');
  await page.keyboard.press('Escape');
  await page
    .locator('#pane-search')
    .getByRole('button', { name: 'Length: sort' })
    .or(page.locator('#pane-search [data-column=length].column'))
    .first()
    .click();
  await until(() => hits('name', 'length').then((h) => h[0]), 'step | 0.300', 'the longest first');
});

test('the table by name has counts, sums and percentiles', async () => {
  await page.keyboard.press('Escape');
  await search('');
  await tab('Selection').click();
  const columns = ['name', 'count', 'total', 'self', 'min', 'average', 'median', 'p95', 'max'];
  await until(
    () => names(...columns).then((n) => n.join('\n')),
    [
      'task top | 1 | 1.000 | 0.400 | 1.000 | 1.000 | 1.000 | 1.000 | 1.000',
      'step top | 3 | 0.600 | 0.600 | 0.100 | 0.200 | 0.200 | 0.300 | 0.300',
      'Needle gpu | 1 | 0.050 | 0.050 | 0.050 | 0.050 | 0.050 | 0.050 | 0.050',
      'less needlework | 1 | 0.000 | 0.000 | 0.000 | 0.000 | 0.000 | 0.000 | 0.000',
    ].join('\n'),
    'the table',
  );
  await page.locator('#pane-selection [data-column=count].column').click();
  await until(
    () => names('name').then((n) => n.join()),
    'step top,Needle gpu,less needlework,task top',
    'by count',
  );
  await until(async () => (await place(page)).by, 'count.down', 'the address');
  await page.getByLabel('Find in table').fill('ste');
  await until(() => names('name').then((n) => n.join()), 'step top', 'what is found');
  assert.equal(await page.locator('.find .count').innerText(), '1 of 4');
  await page.getByLabel('Find in table').fill('');
});

test('a name shows its histogram and its slowest slices', async () => {
  await page
    .getByRole('grid', { name: 'Table by name' })
    .locator('.grid-row', { hasText: 'step' })
    .click();
  const durations = page.locator('.durations');
  await until(
    () =>
      durations
        .locator('h2')
        .innerText()
        .catch(() => ''),
    'step',
    'the name',
  );
  assert.match(await durations.innerText(), /3 slices, median 0\.200, 95 % 0\.300, max 0\.300 ms/);
  // Ten bars a power of ten: from the one that begins at 100 us to that at 250 us.
  assert.equal(await durations.locator('.bars i').count(), 5);
  assert.equal(
    await durations.locator('.bars i').first().getAttribute('title'),
    '0.100 ms to 0.130 ms: 1 slice',
  );
  assert.match(
    await durations.getByRole('img').getAttribute('aria-label'),
    /^Histogram of lengths/,
  );
  // No bar has more than one of the three slices, and the last one ends at 320 us.
  assert.deepEqual((await durations.locator('.histogram span').allInnerTexts()).map(squeeze), [
    ...['1', '0'],
    ...['0.100 ms', '0.320 ms'],
  ]);
  assert.equal(
    await durations.locator('.histogram .of').innerText(),
    'Number of slices by real time, logarithmic scale',
  );
  assert.deepEqual((await durations.locator('li').allInnerTexts()).map(squeeze), [
    '0.300 ms at 0.200 ms, [11] main',
    '0.200 ms at 0.600 ms, [11] main',
    '0.100 ms at 0.000 ms, [11] main',
  ]);
  await durations.getByRole('button', { name: '0.200 ms' }).click();
  await until(
    () => page.locator('#pane-selection .details h2').innerText(),
    'step',
    'the slice itself',
  );
  const columns = () =>
    page
      .locator('#pane-selection .details > :is(table, h3, ul, .actions)')
      .evaluateAll((parts) => new Set(parts.map((p) => p.getBoundingClientRect().left)).size);
  await until(columns, 3, 'its facts use the width of 1600 px');
  await until(async () => 'call' in (await place(page)), true, 'the selected call');
  await page.keyboard.press('Escape');
  await until(async () => 'call' in (await place(page)), false, 'nothing selected');
});

test('the table by name is saved as shown', async () => {
  await until(
    () => page.getByRole('grid', { name: 'Table by name' }).isVisible(),
    true,
    'the table',
  );
  await until(
    () => names('name').then((n) => n[0] ?? ''),
    (name) => /^step/.test(name),
    'its order',
  );
  await page.getByRole('button', { name: 'Export' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'CSV' }).click(),
  ]);
  assert.equal(download.suggestedFilename(), 'lower.json.statistics.csv');
  const lines = readFileSync(await download.path(), 'utf8').split('\r\n');
  assert.equal(lines[0], 'name,count,total_ns,self_ns,min_ns,average_ns,median_ns,p95_ns,max_ns');
  assert.equal(lines[1], 'step,3,600000,600000,100000,200000,200000,300000,300000');
});

/** The lines of a table as they stand, cell by cell. */
const linesOf = (page, pane) =>
  page
    .locator(`${pane} [data-line]`)
    .evaluateAll((rows) =>
      rows
        .sort((a, b) => Number(a.dataset.line) - Number(b.dataset.line))
        .map((row) => [...row.children].map((cell) => cell.textContent).join(' | ')),
    );

test('Health lists places with line and text and links to bytes and events', async () => {
  await page.getByRole('button', { name: /^Health/ }).click();
  const offset = Buffer.byteLength(TEXT.slice(0, TEXT.indexOf('{"ph":"Q"')));
  const line = TEXT.slice(0, TEXT.indexOf('{"ph":"Q"')).split('\n').length;
  const number = offset.toLocaleString('en-US');
  const lines = await until(
    () => linesOf(page, '#health'),
    (all) => all.some((text) => text.endsWith(` | ${line} | ${number}`)),
    'the places',
  );
  const at = lines.findIndex((text) => text.includes('| unknown-phase |'));
  assert.ok(lines[at + 1].startsWith('{"ph":"Q"'), lines[at + 1]);
  const rows = page.locator('#health [data-line]');
  const place0 = rows.filter({ hasText: '{"ph":"Q"' });
  await place0.click();
  const bytes = page.locator('.bytes-view');
  await bytes.waitFor();
  assert.equal(await bytes.locator('.here .gutter').innerText(), number);
  assert.equal(await bytes.locator('mark').innerText(), '{');
  assert.match(await bytes.locator('.here').innerText(), /"name":"odd"/);
  // What was left out has no event: nothing is selected, and its neighbour is told of.
  const told = page.locator('.health .pane-bar');
  await until(
    () => told.innerText().then(squeeze),
    `Byte ${number}: left out: the trace has no event from there; the nearest in the file is the slice less`,
    'that it was left out',
  );
  await rested(page);
  const { call, method, mark } = await place(page);
  assert.deepEqual([call, method, mark], [undefined, undefined, undefined], 'nothing is selected');
  await told.getByRole('button', { name: 'the slice less' }).click();
  await until(async () => (await place(page)).call !== undefined, true, 'the neighbour');
  // By keyboard the same: the place below the kind, and what stands there is selected.
  await page.locator('#health').focus();
  await page.keyboard.press('Home');
  for (let i = 0; i < lines.findIndex((text) => text.includes('| negative-duration |')); i++)
    await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await until(
    () => told.innerText().then(squeeze),
    (text) => /^Byte [\d,]+: the slice less$/.test(text),
    'the event',
  );
  await page.getByRole('button', { name: 'Close the bytes' }).click();
  assert.equal(await bytes.isVisible(), false);
});

test('with several files each place names its own file and links there', async () => {
  const odd = (name) =>
    `[{"ph":"X","name":"${name}","ts":1,"dur":2},\n{"ph":"Q","name":"odd ${name}"}]`;
  const paths = ['first', 'second'].map((name) => {
    const path = join(folder, `${name}.json`);
    writeFileSync(path, odd(name));
    return path;
  });
  const viewer = await view(...paths);
  const opened = await openPage(viewer.address);
  closing.push(opened.close, viewer.stop);
  await ready(opened.page);
  await opened.page.getByRole('button', { name: /^Health/ }).click();
  const rows = opened.page.locator('#health [aria-level="2"]');
  const texts = () =>
    rows.evaluateAll((all) =>
      all.map((row) => [...row.children].map((cell) => cell.textContent).join(' | ')),
    );
  await until(texts, (all) => all.some((text) => text.includes('second.json')), 'the places');
  assert.deepEqual(
    (await texts()).slice(0, 2),
    ['first', 'second'].map((name) => {
      const text = odd(name);
      const offset = text.indexOf('{"ph":"Q"');
      const there = text.slice(offset, offset + 60);
      return `${there} |  |  |  | ${name}.json | 2 | ${offset}`;
    }),
  );
  for (const [i, name] of ['first', 'second'].entries()) {
    await rows.nth(i).click();
    const bytes = opened.page.locator('.bytes-view');
    await until(
      () => bytes.locator('.pane-bar').allInnerTexts(),
      (bars) => bars.some((text) => text.includes(`${name}.json`)),
      'the bytes of that file',
    );
    assert.match(await bytes.locator('.here').innerText(), new RegExp(`odd ${name}`));
  }
  assert.deepEqual(opened.troubles, []);
});

test('a range clips the table by name as it clips the profile, and both say so', async () => {
  // From 50 to 250 us, the task has 200 us, and 50 us each of the first two steps lie inside of it.
  const hash = '#range=50000-250000';
  const address = page.url().replace(/#.*/, '');
  const { page: other, close } = await openPage(`${address}${hash}&tab=selection`);
  closing.push(close);
  const rows = other.locator('#pane-selection .grid-row');
  await until(
    async () => (await rows.allInnerTexts()).map(squeeze).filter((row) => /^(task|step)/.test(row)),
    (found) =>
      found.length === 2 &&
      /^task top 1 0\.200 0\.100 /.test(found[0]) &&
      /^step top 2 0\.100 0\.100 0\.050 /.test(found[1]),
    'the table of the range',
  );
  const clipped = other.locator('.clip-words');
  await until(() => clipped.innerText(), '3 slices clipped', 'the table says so');
  assert.match(
    await clipped.getAttribute('title'),
    /^3 slices reach beyond the range, and count with the part inside it only$/,
  );
  await other.getByRole('tab', { name: 'Profile' }).click();
  const task = other.locator('.profile .row.method', { hasText: 'task' });
  await until(async () => /0\.200.*0\.100/s.test(await task.innerText()), true, 'the profile');
  await until(() => clipped.innerText(), '3 slices clipped', 'the profile says so');
  await other.getByRole('tab', { name: 'Info' }).click();
  await until(() => clipped.isHidden(), true, 'what is not of the range does not');
});

test('JSON metadata is a tree, and long values are folded', async () => {
  await tab('Info').click();
  const info = page.locator('#pane-info');
  assert.match(
    squeeze(await info.innerText()),
    /otherData build \{2\} os Linux <i> list \[2\] 0 1 1 2/,
  );
  const all = info.getByRole('button', { name: /^all \d+ characters$/ });
  assert.equal((await info.innerText()).includes(LONG.trim()), false);
  await all.click();
  assert.ok(squeeze(await info.innerText()).includes(squeeze(LONG)));
  assert.match(squeeze(await info.innerText()), /Slices 6 slices, at most 2 levels deep/);
});

test('no errors were reported', () => {
  assert.deepEqual(troubles, []);
});
