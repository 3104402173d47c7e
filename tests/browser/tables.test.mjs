// SPDX-License-Identifier: Apache-2.0
// What all tables of the lower panel share: lines that are made only when they are seen, however
// many there are; the keyboard; marks and the clipboard; exports; what is open in the address.
import { strict as assert } from 'node:assert';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPage, place, ready, until } from './browser.mjs';
import { after, test } from './suite.mjs';
import { example, view } from './program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'tables-'));
const closing = [];

/** Call number i lasts from 4 i to 4 i + 1 + i mod 3 microseconds. */
const CALLS = 1_048_500;

/** A method trace of version 2: thread, method and way, microseconds; 10 bytes a record. */
function manyCalls() {
  const key =
    '*version\n2\ndata-file-overflow=false\nclock=wall\nelapsed-time-usec=' +
    `${4 * CALLS}\nnum-method-calls=${2 * CALLS}\nvm=art\n` +
    '*threads\n1\tmain\n*methods\n' +
    '0x10\tMany\ttick\t()V\tMany.java\t1\n*end\n';
  const head = Buffer.alloc(32);
  head.write('SLOW', 0, 'latin1');
  head.writeUInt16LE(2, 4);
  head.writeUInt16LE(32, 6);
  const records = Buffer.alloc(2 * CALLS * 10);
  for (let i = 0; i < CALLS; i++) {
    for (const [way, time] of [
      [0, 4 * i],
      [1, 4 * i + 1 + (i % 3)],
    ]) {
      const at = (2 * i + way) * 10;
      records.writeUInt16LE(1, at);
      records.writeUInt32LE(0x10 + way, at + 2);
      records.writeUInt32LE(time, at + 6);
    }
  }
  return Buffer.concat([Buffer.from(key, 'latin1'), head, records]);
}

async function show(file, hash = '', options = {}) {
  const viewer = await view(file);
  const opened = await openPage(viewer.address + hash, options);
  closing.push(opened.close, viewer.stop);
  return { ...opened, address: viewer.address };
}

after(async () => {
  for (const close of closing) await close();
  rmSync(folder, { recursive: true });
});

/** The lines that can be seen, whole: number, place on the screen, texts of some columns. */
const seen = (page, label, columns) =>
  page.getByRole('grid', { name: label }).evaluate((grid, wanted) => {
    const { top, bottom } = grid.getBoundingClientRect();
    const head = grid.firstElementChild.getBoundingClientRect().bottom;
    return [...grid.querySelectorAll('[data-line]')]
      .map((row) => ({ row, box: row.getBoundingClientRect() }))
      .filter(({ box }) => box.top >= Math.max(top, head) - 1 && box.bottom <= bottom + 1)
      .map(({ row, box }) => ({
        line: Number(row.dataset.line),
        y: Math.round(box.top),
        cells: wanted.map((c) => row.querySelector(`[data-column=${c}]`).textContent.trim()),
      }))
      .sort((a, b) => a.line - b.line);
  }, columns);

/** Milliseconds as the table shows them. */
const shownMs = (us) => (us / 1000).toLocaleString('en', { minimumFractionDigits: 3 });

test('a million hits scroll, and the last one is the last call', { timeout: 300_000 }, async () => {
  const file = join(folder, 'many.trace');
  writeFileSync(file, manyCalls());
  const { page, troubles } = await show(file, '#tab=search&search=tick');
  const grid = page.getByRole('grid', { name: 'Search hits' });
  // The name of the method is no hit of its own: each call is one.
  await until(
    () => page.locator('#pane-search .about').innerText(),
    '1,048,500 hits',
    'all of them',
  );
  assert.equal(await grid.getAttribute('aria-rowcount'), String(CALLS + 1));
  const right = (lines) => {
    assert.ok(lines.length > 5);
    lines.forEach(({ line, y, cells }, i) => {
      assert.deepEqual(cells, [shownMs(4 * line), shownMs(1 + (line % 3))], `line ${line}`);
      if (i > 0) assert.deepEqual([line, y], [lines[i - 1].line + 1, lines[i - 1].y + 20]);
    });
  };
  const lines = () => seen(page, 'Search hits', ['time', 'length']);
  await grid.focus();
  await page.keyboard.press('End');
  await until(() => lines().then((l) => l.at(-1)?.line), CALLS - 1, 'the very last');
  right(await lines());
  // Few lines are elements, wherever one is.
  assert.ok((await grid.locator('[data-line]').count()) < 100);
  await page.keyboard.press('PageUp');
  const before = (await lines())[0].line;
  await page.keyboard.press('PageDown');
  right(await lines());
  // The wheel goes line by line, not in steps of the scroll bar's pixels.
  await grid.hover();
  await page.keyboard.press('PageUp');
  await page.keyboard.press('PageUp');
  for (let i = 0; i < 5; i++) {
    const [{ line }] = await lines();
    await page.mouse.wheel(0, -60);
    await until(() => lines().then((l) => line - l[0]?.line), 3, 'three lines up');
    right(await lines());
  }
  assert.ok(before > CALLS - 200);
  // The scroll bar reaches both ends and everything between.
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    await grid.evaluate((g, s) => (g.scrollTop = s * (g.scrollHeight - g.clientHeight)), share);
    await until(
      () => lines().then((l) => Math.abs(l[0]?.line / (CALLS - 10) - share) < 0.001),
      true,
      `at ${share}`,
    );
    right(await lines());
  }
  assert.equal((await lines()).at(-1).line, CALLS - 1);
  // Sorted by length, the last are the shortest: ties by time.
  await grid.getByRole('button', { name: /^Length/ }).click();
  await grid.focus();
  await page.keyboard.press('End');
  const shortest = Math.floor((CALLS - 1) / 3) * 3;
  await until(
    () => lines().then((l) => l.at(-1)?.cells.join()),
    [shownMs(4 * shortest), '0.001'].join(),
    'the last of the shortest',
  );
  // Enter goes to the call.
  await page.keyboard.press('Enter');
  await until(async () => (await place(page)).call, `0.${shortest}`, 'the call');
  // A text that no line of the table has leaves none of them.
  await page.getByLabel('Find in table').fill('tock');
  await until(() => page.locator('.find .count').innerText(), '0 of 1,048,500', 'none');
  await page.getByLabel('Find in table').fill('');
  assert.deepEqual(troubles, []);
});

const ODD = [
  { ph: 'M', name: 'thread_name', pid: 1, tid: 1, args: { name: 'CrRendererMain' } },
  { ph: 'X', name: '=cmd()', cat: 'a', pid: 1, tid: 1, ts: 0, dur: 400000, args: { q: 'one' } },
  { ph: 'X', name: 'a|b`c', cat: 'a', pid: 1, tid: 1, ts: 10, dur: 100, args: { q: 'tab\there' } },
  { ph: 'X', name: 'late "x", y', cat: 'b', pid: 1, tid: 1, ts: 500, dur: 10 },
  { ph: 'Q', name: 'odd', pid: 1, tid: 1, ts: 5 },
];

/** The lines of a table in a format.  Chromium may hold a file back when many are saved at once:
 *  then it is asked again. */
async function saved(page, format, tries = 2) {
  const coming = page.waitForEvent('download', { timeout: 20_000 }).catch(() => null);
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('menuitem', { name: format, exact: true }).click();
  const file = await coming;
  assert.ok(file || tries > 1, `no file came for ${format}`);
  if (!file) return saved(page, format, tries - 1);
  return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') };
}

test('every table can be saved in every format, and a spreadsheet runs no formula', async () => {
  const file = join(folder, 'odd.json');
  writeFileSync(file, JSON.stringify(ODD));
  const { page, troubles } = await show(file, '#tab=search&search=a');
  await page.locator('#pane-search [data-line]').first().waitFor();
  const tab = (name) => page.getByRole('tab', { name: new RegExp(`^${name}`) }).click();
  for (const [name, waits] of [
    ['Profile', '#pane-profile [data-line]'],
    ['Top-down', '#pane-top-down [data-line]'],
    ['Bottom-up', '#pane-bottom-up [data-line]'],
    ['Selection', '#pane-selection [data-line]'],
    ['Search', '#pane-search [data-line]'],
    ['Findings', '#pane-findings [data-line]'],
    ['Health', '#pane-health [data-line]'],
    ['Info', '#pane-info tr'],
  ]) {
    await tab(name);
    await page.locator(waits).first().waitFor();
    const json = await saved(page, 'JSON');
    assert.match(json.name, /^odd\.json\.[a-z-]+\.json$/);
    const rows = JSON.parse(json.text);
    assert.ok(rows.length > 0, name);
    const csv = (await saved(page, 'CSV')).text;
    const markdown = (await saved(page, 'Markdown')).text.trimEnd().split('\n');
    const tsv = (await saved(page, 'TSV')).text.trimEnd().split('\n');
    assert.deepEqual([markdown.length, tsv.length], [rows.length + 2, rows.length + 1], name);
    assert.equal(csv.split('\r\n')[0], Object.keys(rows[0]).join(','), name);
    const columns = tsv[0].split('\t').length;
    assert.ok(
      tsv.every((line) => line.split('\t').length === columns),
      name,
    );
    // Neither a cell of CSV nor one of TSV begins like a formula.
    assert.doesNotMatch(csv, /(^|,)"?[=@]/m, name);
    assert.ok(
      tsv.every((line) => line.split('\t').every((cell) => !/^[=@]/.test(cell))),
      name,
    );
    if (JSON.stringify(rows).includes('=cmd()')) assert.match(csv, /'=cmd\(\)/, name);
  }
  assert.deepEqual(troubles, []);
});

test('the find box filters findings and diagnostics', async () => {
  const { page } = await show(join(folder, 'odd.json'), '#tab=health');
  const faults = page.locator('#health [data-line]');
  await faults.first().waitFor();
  const find = page.getByLabel('Find in table');
  await find.fill('nothing of that kind');
  await until(() => faults.count(), 0, 'none');
  assert.equal(
    await page.locator('#health .empty').innerText(),
    'Nothing here contains the search text.',
  );
  assert.match(await page.locator('.find .count').innerText(), /^0 of \d+$/);
  assert.ok((await page.locator('.find.miss').count()) === 1);
  await find.fill('odd');
  await until(() => page.locator('#health [aria-level="1"]').count(), 1, 'the one with that text');
  await page.getByRole('tab', { name: /^Findings/ }).click();
  await find.fill('');
  const findings = page.locator('#pane-findings [data-line]');
  await findings.first().waitFor();
  await find.fill('=cmd');
  await until(
    () => page.locator('#pane-findings [aria-level="2"] .link').allInnerTexts(),
    (found) => found[0] === '=cmd()',
    'the place',
  );
  await find.fill('no such call');
  await until(() => findings.count(), 0, 'none');
});

const lines = (page, pane, column = 'name') =>
  page.evaluate(
    ([where, name]) =>
      [...document.querySelectorAll(`${where} [data-line]`)]
        .sort((a, b) => Number(a.dataset.line) - Number(b.dataset.line))
        .map((row) =>
          [
            row.getAttribute('aria-level'),
            row.querySelector(`[data-column=${name}], .cell.name`).textContent.trim(),
          ].join(' '),
        ),
    [pane, column],
  );

test('the address restores opened lines, order and find text', async () => {
  const { page, troubles } = await show(example(), '#tab=top-down');
  await page.locator('#pane-top-down [data-line]').first().waitFor();
  const tree = page.getByRole('treegrid', { name: 'Top-down' });
  await tree.focus();
  await page.keyboard.press('Home');
  for (const depth of [2, 3]) {
    await page.keyboard.press('ArrowRight');
    const there = () =>
      lines(page, '#pane-top-down').then((l) => l[depth - 1].startsWith(`${depth} `));
    await until(there, true, `level ${depth}`);
    await page.keyboard.press('ArrowRight');
  }
  await page.keyboard.press('Home');
  const opened = await lines(page, '#pane-top-down');
  await until(async () => /^\w+\(\w+\)$/.test((await place(page)).down), true, 'the address');
  await page.reload();
  await until(() => lines(page, '#pane-top-down').then(String), String(opened), 'after a reload');
  // All below a line is one star.
  await tree.focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('*');
  await until(async () => /^\w+\*$/.test((await place(page)).down), true, 'a star');
  const whole = await tree.getAttribute('aria-rowcount');
  await page.reload();
  await until(() => tree.getAttribute('aria-rowcount'), whole, 'all of it again');
  await page.goBack();
  await until(() => lines(page, '#pane-top-down').then(String), String(opened), 'Back');
  await page.goForward();
  await until(() => tree.getAttribute('aria-rowcount'), whole, 'forward');
  // Only what is found, and what it lies under.
  await page.getByLabel('Find in table').fill('take');
  await page.getByRole('button', { name: 'Only matches' }).click();
  await until(() => page.locator('#pane-top-down .pending').count(), 0, 'the whole tree');
  const found = await until(
    () => lines(page, '#pane-top-down'),
    (l) => l.length > 0 && /take/.test(l.at(-1)),
    'matches',
  );
  assert.ok(found.some((line) => /take/.test(line)));
  await until(async () => (await place(page)).found, '1', 'the switch in the address');
  await page.reload();
  await until(() => lines(page, '#pane-top-down').then(String), String(found), 'found again');
  await page.getByLabel('Find in table').fill('');
  await page.getByRole('button', { name: 'Only matches' }).click();

  // The profile: two methods opened by their marks, none selected.
  await page.getByRole('tab', { name: 'Profile' }).click();
  await ready(page);
  for (const nth of [2, 0])
    await page.locator('.profile .row.method[aria-expanded] .twist').nth(nth).click();
  const groups = () => page.locator('.profile .row.group').count();
  await until(groups, (n) => n >= 4, 'opened');
  await until(async () => (await place(page)).opened?.split(',').length, 2, 'in the address');
  const profile = await lines(page, '.profile');
  await page.reload();
  await ready(page);
  await until(() => lines(page, '.profile').then(String), String(profile), 'opened again');
  await page.locator('.profile [data-column=excl_real].column').click();
  await until(async () => (await place(page)).sort, 'excl_real.down', 'the order');
  await page.goBack();
  await until(() => lines(page, '.profile').then(String), String(profile), 'the order before');
  assert.deepEqual(troubles, []);
});

test('Shift marks lines, which can be copied', async () => {
  const { page } = await show(example(), '#tab=selection');
  await page.locator('#pane-selection [data-line]').first().waitFor();
  const grid = page.getByRole('grid', { name: 'Table by name' });
  await grid.focus();
  const steps = ['Home', 'Shift+ArrowDown', 'Shift+ArrowDown'];
  for (const key of steps) await page.keyboard.press(key);
  assert.equal(await grid.locator('.marked').count(), 3);
  const copied = await page.evaluate(() => {
    const data = new DataTransfer();
    document.dispatchEvent(new ClipboardEvent('copy', { clipboardData: data, cancelable: true }));
    return data.getData('text/plain');
  });
  const rows = copied.trimEnd().split('\n');
  assert.equal(rows.length, 4);
  assert.match(rows[0], /^Name\tCount\tReal ms\t/);
  await page.keyboard.press('Control+a');
  assert.ok((await grid.locator('.marked').count()) > 10);
  await page.keyboard.press('ArrowUp');
  assert.equal(await grid.locator('.marked').count(), 0);
});

test('the table by name, its histogram and slowest slices use the chosen clock', async () => {
  // Real 40, 10 and 20 ms; CPU 2, 9 and none; inside of the second 1 ms of both.
  const slice = (name, ts, dur, cpu) => ({
    ...{ ph: 'X', name, pid: 1, tid: 1, ts, dur },
    ...(cpu === undefined ? {} : { tts: ts, tdur: cpu }),
  });
  const events = [
    slice('com.acme.work', 0, 40_000, 2000),
    slice('com.acme.work', 50_000, 10_000, 9000),
    slice('inner', 51_000, 1000, 1000),
    slice('com.acme.work', 70_000, 20_000),
  ];
  const file = join(folder, 'clocks.json');
  writeFileSync(file, JSON.stringify(events));
  const { page, troubles } = await show(file, '#tab=selection');
  const rows = page.locator('#pane-selection .grid-row');
  const cells = (nth) =>
    rows
      .nth(nth)
      .locator('.grid-cell')
      .allInnerTexts()
      .then((texts) => texts.map((text) => text.trim()).join(' | '));
  const real = '| 3 | 70.000 | 69.000 | 11.000 | 10.000 | 23.333 | 20.000 | 40.000 | 40.000';
  await until(() => cells(0), `com.acme.work ${real}`, 'by real time');
  await rows.first().click();
  const figures = page.locator('.durations');
  const first = figures.locator('li').first();
  await until(
    () => first.innerText(),
    (text) => /^40\.000 ms/.test(text),
    'the longest',
  );
  await page.getByRole('button', { name: 'CPU', exact: true }).click();
  const cpu = '| 3 | 70.000 | 10.000 | 11.000 | 2.000 | 5.500 | 5.500 | 9.000 | 9.000';
  await until(() => cells(0), `com.acme.work ${cpu}`, 'by CPU time');
  await until(
    () => first.innerText(),
    (text) => /^9\.000 ms/.test(text),
    'the busiest',
  );
  assert.match(await figures.innerText(), /3 slices, CPU time, median 5\.500/);
  const head = page.locator('#pane-selection [aria-sort=descending]');
  assert.match(await head.innerText(), /CPU/);
  assert.deepEqual(troubles, []);
});

/** The example, its classes in a package with a long name. */
function longPackages() {
  const [head, ...rest] = readFileSync(example(), 'latin1').split('\n*end\n');
  const far = head.replace(/^(0x\w+\t)press\./gm, '$1org.example.garden.site.press.');
  const file = join(folder, 'far.trace');
  writeFileSync(file, [far, ...rest].join('\n*end\n'), 'latin1');
  return file;
}

test('what tells frames of one name apart keeps room in a narrow profile', async () => {
  const name = `${'org.example.a.package.that.gives.way.'.repeat(3)}Worker.run`;
  const events = ['first', 'second'].map((cat, i) => {
    return { ph: 'X', name, cat, pid: 1, tid: 1, ts: 10 * i, dur: 5 };
  });
  const file = join(folder, 'apart.json');
  writeFileSync(file, JSON.stringify(events));
  const { page } = await show(file, '', { viewport: { width: 900, height: 700 } });
  await ready(page);
  const apart = await page
    .locator('.profile .row.method .signature')
    .evaluateAll((all) => all.map((e) => [e.textContent.trim(), e.clientWidth > 40]));
  assert.deepEqual(apart.sort(), [
    ['first', true],
    ['second', true],
  ]);
});

test('a narrow column shortens the package before the name', async () => {
  const { page } = await show(longPackages(), '#tab=selection', {
    viewport: { width: 900, height: 700 },
  });
  const names = page.locator('#pane-selection .path:has(.package)');
  await names.first().waitFor();
  const cut = await names.evaluateAll((all) =>
    all.map((path) => {
      const [pack, own] = path.children;
      const gone = pack.offsetTop !== own.offsetTop;
      return [gone || pack.scrollWidth > pack.clientWidth, own.scrollWidth > own.clientWidth, gone];
    }),
  );
  assert.ok(cut.some(([pack]) => pack));
  // A name is cut only where nothing is left of its package.
  assert.ok(cut.every(([, own, gone]) => !own || gone));
  // What is typed takes no room from the buttons beside it.
  await page.getByRole('tab', { name: 'Bottom-up' }).click();
  await page.getByLabel('Find in table').fill('a');
  const saves = await page.getByRole('button', { name: 'Export' }).boundingBox();
  assert.ok(saves.x + saves.width <= 900, JSON.stringify(saves));
  await page.getByLabel('Find in table').fill('');
  // Where there is nothing to find there is no switch for it.
  const only = page.getByRole('button', { name: 'Only matches' });
  await page.getByRole('tab', { name: 'Top-down' }).click();
  await only.waitFor();
  await page.getByRole('tab', { name: 'Info' }).click();
  await until(() => only.isVisible(), false, 'none');
});

test('no cell of a table has a layer of its own, which would make scrolling slow', async () => {
  const { page } = await show(example(), '', { width: 1600, height: 1000 });
  for (const [tab, cells] of [
    ['Profile', '#pane-profile .row.method .cell'],
    ['Top-down', '.tree .grid-row .grid-cell'],
  ]) {
    await page.getByRole('tab', { name: tab }).click();
    await page.locator(cells).first().waitFor();
    const layers = await page.evaluate((selector) => {
      const all = [...document.querySelectorAll(`${selector}, ${selector} > *`)];
      const layered = all.filter((e) => getComputedStyle(e).position !== 'static');
      return { cells: all.length, layers: layered.map((e) => e.className) };
    }, cells);
    assert.ok(layers.cells > 20, tab);
    assert.deepEqual(layers.layers, [], tab);
  }
});
