// SPDX-License-Identifier: Apache-2.0
// The tabs Top-down and Bottom-up on the example trace: their numbers are the command's, children
// come when a line opens, and the keys of a tree work.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { ms, openPage, place, until } from './browser.mjs';
import { showFile } from './files.mjs';
import { after, before, test } from './suite.mjs';
import { example, json, view } from './program.mjs';

let page;
let troubles;
const closing = [];

before(async () => {
  const viewer = await view(example());
  const opened = await openPage(`${viewer.address}#tab=top-down`);
  closing.push(opened.close, viewer.stop);
  ({ page, troubles } = opened);
  await page.waitForSelector('#pane-top-down .grid-row');
});

after(async () => {
  for (const close of closing) await close();
  assert.deepEqual(troubles, []);
});

/** The lines there are, from the top: level, name and cells by column. */
const lines = (tab) =>
  page.evaluate(
    (id) =>
      [...document.querySelectorAll(`#pane-${id} .grid-row`)]
        .map((row) => ({
          line: Number(row.dataset.line),
          level: Number(row.getAttribute('aria-level')),
          open: row.getAttribute('aria-expanded'),
          cursor: row.classList.contains('cursor'),
          selected: row.classList.contains('selected'),
          name: row.querySelector('.text').textContent,
          ...Object.fromEntries(
            [...row.querySelectorAll('[data-column]')].map((c) => [
              c.dataset.column,
              c.textContent,
            ]),
          ),
        }))
        .sort((a, b) => a.line - b.line),
    tab,
  );
const count = (tab) => page.locator(`#pane-${tab} .scroller`).getAttribute('aria-rowcount');
const shown = async (tab) => Number(await count(tab)) - 1;
const fullName = (m) => `${m.class ? `${m.class.replaceAll('/', '.')}.` : ''}${m.method}`;

/** What `traceview tree` says of the lines under a chain of names. */
function children(tree, chain) {
  const path = [];
  return tree.filter((line) => {
    path.length = line.depth;
    const under = path.length === chain.length && chain.every((name, i) => path[i] === name);
    path.push(fullName(line));
    return under;
  });
}

test('top-down figures equal those of the command, line by line', async () => {
  const tree = json('tree', '--format', 'json', '--clock', 'real', '--min-percent', '0', example());
  const cpu = json('tree', '--format', 'json', '--clock', 'cpu', '--min-percent', '0', example());
  await page.locator('#pane-top-down .scroller').focus();
  const check = async (chain) => {
    const level = chain.length + 1;
    const there = (await lines('top-down')).filter((line) => line.level === level);
    const expected = children(tree, chain);
    const inCpu = children(cpu, chain);
    assert.deepEqual(
      there.map((line) => [line.name, line.incl_real, line.excl_real, line.calls]),
      expected.map((m) => [
        fullName(m),
        ms(m.total_ns),
        ms(m.self_ns),
        m.calls.toLocaleString('en'),
      ]),
    );
    for (const line of there) {
      const same = inCpu.find((m) => fullName(m) === line.name);
      if (same) assert.equal(line.incl_cpu, ms(same.total_ns), line.name);
    }
    return there.map((line) => line.name);
  };
  const [first] = await check([]);
  await page.keyboard.press('Home');
  const before = await shown('top-down');
  await page.keyboard.press('ArrowRight');
  await until(
    () => shown('top-down'),
    (n) => n > before,
    'the line opened',
  );
  await check([first]);
});

test('arrows open, close and move, * opens all levels below, Home and End go to the ends', async () => {
  await page.keyboard.press('Home');
  const at = async () => (await lines('top-down')).find((line) => line.cursor);
  assert.equal((await at()).open, 'true');
  await page.keyboard.press('ArrowRight');
  assert.equal((await at()).level, 2);
  await page.keyboard.press('ArrowLeft');
  assert.equal((await at()).line, 0);
  const few = await shown('top-down');
  await page.keyboard.press('*');
  await until(
    () => shown('top-down'),
    (n) => n > few + 20,
    'all below is open',
  );
  const tree = json('tree', '--format', 'json', '--min-percent', '0', example());
  const end = tree.findIndex((line, i) => i > 0 && line.depth === 0);
  const below = end < 0 ? tree.length : end;
  // Calls without time are lines too, which the command leaves out.
  assert.ok((await shown('top-down')) >= below + tree.filter((l) => l.depth === 0).length - 1);
  await page.keyboard.press('ArrowLeft');
  await until(
    () => shown('top-down'),
    (n) => n < few,
    'the line closed',
  );
  await page.keyboard.press('End');
  assert.equal((await at()).line, (await shown('top-down')) - 1);
  await page.keyboard.press('Home');
  assert.equal((await at()).line, 0);
});

test('a name selected in the tree is selected everywhere, and the other way round', async () => {
  const row = page.locator('#pane-top-down .grid-row').first();
  await row.locator('.text').click();
  await until(
    async () => (await place(page)).method,
    (m) => m !== undefined,
    'the method',
  );
  await page.getByRole('tab', { name: 'Profile' }).click();
  await until(() => page.locator('.profile .row.selected').count(), 1, 'selected in the table');
  // Another one, deep in the tree: the way to it opens.
  const deep = page.locator('.profile .row.method:not(.selected)').nth(12);
  const name = await deep.locator('.path').textContent();
  await deep.locator('.path').click();
  await page.getByRole('tab', { name: 'Top-down' }).click();
  await until(
    async () => (await lines('top-down')).find((line) => line.selected)?.name,
    name,
    'the line of the method',
  );
});

test('bottom-up, the first level is the profile and the callers are below', async () => {
  await page.getByRole('tab', { name: 'Bottom-up' }).click();
  await page.waitForSelector('#pane-bottom-up .grid-row');
  const profile = json('profile', '--format', 'json', example());
  assert.equal(await shown('bottom-up'), profile.length);
  const sorted = page.locator('#pane-bottom-up [aria-sort=descending]');
  assert.match(await sorted.innerText(), /Self Real/);
  const byName = new Map(profile.map((m) => [`${fullName(m)} ${m.excl_real_ns}`, m]));
  for (const line of (await lines('bottom-up')).slice(0, 15)) {
    const m = profile.find(
      (p) => fullName(p) === line.name && ms(p.excl_real_ns) === line.excl_real,
    );
    assert.ok(m, line.name);
    assert.equal(line.incl_real, ms(m.incl_real_ns));
    assert.equal(line.incl_cpu, ms(m.incl_cpu_ns));
    assert.equal(line.calls, (m.calls + m.recursive_calls).toLocaleString('en'));
  }
  assert.ok(byName.size > 0);
  await page.locator('#pane-bottom-up .scroller').focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  await until(async () => (await lines('bottom-up'))[1]?.level, 2, 'the callers');
});

test('the find box marks and jumps, Enter selects', async () => {
  const find = page.getByLabel('Find in table');
  await find.fill('take');
  await until(
    () => page.locator('.find .count').innerText(),
    (t) => /^1 of \d+$/.test(t),
    'found',
  );
  assert.ok((await page.locator('#pane-bottom-up .found').count()) > 0);
  await find.press('Enter');
  const [line] = (await lines('bottom-up')).filter((l) => l.selected);
  assert.match(line.name, /take/i);
  await find.fill('no such method');
  await until(() => page.locator('.find .count').innerText(), '0 of 0', 'nothing found');
  await find.fill('');
});

test('only matches are those of the whole tree, whether open or not', async () => {
  const tree = json('tree', '--format', 'json', '--min-percent', '0', example());
  const has = (line) => fullName(line).includes('Blocks.b');
  const kept = new Set();
  const path = [];
  tree.forEach((line, i) => {
    path.length = line.depth;
    path.push(i);
    if (has(line)) for (const above of path) kept.add(above);
  });
  const matches = tree.filter(has).length;
  const find = page.getByLabel('Find in table');
  const only = page.getByRole('button', { name: 'Only matches' });
  await page.locator('#tab-top-down').click();
  await find.fill('Blocks.b');
  await only.click();
  assert.ok(matches > 1);
  await until(() => shown('top-down'), kept.size, 'matches and what they lie under');
  await until(
    () => page.locator('.find .count').innerText(),
    (text) => text.endsWith(` of ${matches.toLocaleString('en')}`),
    'all matches',
  );
  // One that leads to others closes and opens.
  const twist = (open) => page.locator(`#pane-top-down [aria-expanded=${open}] .twist`).first();
  await twist(true).click();
  await until(async () => (await shown('top-down')) < kept.size, true, 'closed');
  await twist(false).click();
  await until(() => shown('top-down'), kept.size, 'open again');
  await find.fill('no such method');
  await until(
    () => page.locator('#pane-top-down .empty').innerText(),
    'No line of the tree contains the search text.',
  );
  await only.click();
  await find.fill('');
  await page.locator('#tab-bottom-up').click();
});

test('bottom-up, a match may be the caller of a closed line', async () => {
  const slice = (name, ts, dur) => ({ ph: 'X', name, pid: 1, tid: 1, ts, dur });
  // a > b > hit, a > c, d > e > hit > f
  const events = [
    ...[slice('a', 0, 100), slice('b', 0, 50), slice('hit', 0, 20), slice('c', 60, 10)],
    ...[slice('d', 200, 100), slice('e', 200, 80), slice('hit', 200, 60), slice('f', 200, 30)],
  ];
  const { page: other } = await showFile('callers.json', events, {
    hash: '#tab=bottom-up&find=hit&found=1',
    waits: (opened) => opened.waitForSelector('#pane-bottom-up .grid-row'),
  });
  const told = () =>
    other.locator('#pane-bottom-up .grid-row').evaluateAll((rows) =>
      rows
        .sort((x, y) => Number(x.dataset.line) - Number(y.dataset.line))
        .map((row) => `${row.getAttribute('aria-level')} ${row.querySelector('.text').textContent}`)
        .join(),
    );
  await until(told, '1 hit,1 f,2 hit');
  await other.locator('#tab-top-down').click();
  const down = other.locator('#pane-top-down .grid-row');
  await until(() => down.count(), 6, 'a, b, hit and d, e, hit');
});

test('the export has the visible lines with their levels', async () => {
  const download = async (format) => {
    await page.getByRole('button', { name: 'Export' }).click();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: format }).click(),
    ]);
    return readFileSync(await file.path(), 'utf8');
  };
  await page.locator('#pane-bottom-up .scroller').focus();
  await page.keyboard.press('Home');
  const rows = JSON.parse(await download('JSON'));
  const there = await lines('bottom-up');
  assert.equal(rows.length, await shown('bottom-up'));
  assert.deepEqual(
    rows.slice(0, 5).map((row) => [row.level, ms(row.self_real_ns), row.calls]),
    there.slice(0, 5).map((l) => [l.level - 1, l.excl_real, Number(l.calls.replaceAll(',', ''))]),
  );
  const tsv = (await download('TSV')).trimEnd().split('\n');
  assert.equal(tsv.length, rows.length + 1);
  assert.match(tsv[0], /^Level\tName\tIncl CPU %\t/);
  assert.match((await download('Markdown')).split('\n')[1], /^\| --- \| ---: /);
  assert.equal((await download('CSV')).trimEnd().split('\r\n').length, rows.length + 1);
});

test('a range changes the figures and keeps the open lines', async () => {
  await page.locator('#pane-bottom-up .scroller').focus();
  await page.keyboard.press('Home');
  const [first] = await lines('bottom-up');
  assert.equal(first.open, 'true');
  const range = '60000000-120000000';
  await page.evaluate((text) => {
    location.hash = `tab=bottom-up&range=${text}&tree=excl_real.down`;
  }, range);
  const [from, to] = range.split('-');
  const profile = json('profile', '--format', 'json', '--range', `${from}ns:${to}ns`, example());
  const there = async () => (await lines('bottom-up')).find((line) => line.name === first.name);
  const method = profile.find((m) => fullName(m) === first.name);
  await until(
    async () => (await there())?.excl_real,
    ms(method.excl_real_ns),
    'its time in the range',
  );
  assert.equal((await there()).open, 'true');
  const open = (await lines('bottom-up')).filter((line) => line.level > 1).length;
  assert.ok(open > 0);
});

test('a range without calls says so', async () => {
  await page.evaluate(async () => {
    const { tracks, start_ns: start } = await (await fetch('api/trace')).json();
    const late = tracks.find((track) => track.start_ns > start + 1e6).track;
    location.hash = `tab=top-down&range=${start}-${start + 1000}&threads=${late}`;
  });
  const nothing = page.locator('#pane-top-down .nothing');
  await until(() => nothing.isVisible(), true, 'it says so');
  assert.match(await nothing.innerText(), /^No call lies in the selected range and threads\./);
});
