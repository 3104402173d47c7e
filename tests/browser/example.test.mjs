// SPDX-License-Identifier: Apache-2.0
// The viewer on the bundled example, as somebody uses it; every figure on the page is held against
// the program's own commands.
import { strict as assert } from 'node:assert';
import {
  colours,
  computed,
  ms,
  openPage,
  place,
  ready,
  rested,
  tableLines,
  until,
} from './browser.mjs';
import { after, before, test } from './suite.mjs';
import { example, json, view } from './program.mjs';

let viewer;
let opened;
let page;

before(async () => {
  viewer = await view(example());
  opened = await openPage(viewer.address);
  page = opened.page;
  await ready(page);
});

after(async () => {
  await opened?.close();
  await viewer?.stop();
});

const key = (m) => (m.class ? `${m.class}.${m.method}` : m.method);

/** The table's lines of methods and the command's, by frame name and signature, must be the same. */
async function assertTableIs(methods) {
  const frames = (await (await fetch(`${viewer.address}api/frames`)).json()).frames;
  const shown = (await tableLines(page)).filter(
    (line) => line.kind === 'method' && Number(line.frame) >= 0,
  );
  const expected = new Map(methods.map((m) => [`${key(m)} ${m.signature}`, m]));
  assert.equal(shown.length, methods.length, 'number of methods');
  for (const line of shown) {
    const [className, method, signature] = frames[line.frame];
    const name = `${key({ class: className, method })} ${signature}`;
    const m = expected.get(name);
    assert.ok(m, `${name} is not in the command's table`);
    for (const column of ['incl_cpu', 'excl_cpu', 'incl_real', 'excl_real']) {
      assert.equal(line.cells[column], ms(m[`${column}_ns`]), `${column} of ${name}`);
    }
    assert.equal(
      line.cells.calls.replaceAll(',', ''),
      `${m.calls}+${m.recursive_calls}`,
      `calls of ${name}`,
    );
  }
}

async function selectMethod(name) {
  const find = page.getByLabel('Find in table');
  await find.fill(name);
  await find.press('Enter');
  await until(
    () =>
      page
        .locator('.profile .row.selected .cell.name')
        .first()
        .textContent()
        .catch(() => ''),
    (text) => text.includes(name),
    'the selected row',
  );
  await find.fill('');
}

async function reset() {
  await page.goto(viewer.address);
  await page.reload();
  await ready(page);
}

const viewOf = async () =>
  (await place(page)).view?.match(/-?\d+/g).map((n) => Math.abs(Number(n))) ?? null;
/** Another range than `old` in the address, and not one from the middle of the drag. */
async function rangeAtRest(old) {
  const ends = (range) => range.split('-').map(Number);
  const range = await until(
    async () => [(await place(page)).range, await page.locator('.chip').allInnerTexts()],
    ([r, chips]) =>
      r !== undefined && r !== old && chips.includes(`${ms(ends(r)[1] - ends(r)[0])} ms`),
    'the range',
  );
  return ends(range[0]);
}

const trackBox = async () => await page.locator('.list-view').boundingBox();

test('the example opens with both panels', async () => {
  const info = json('info', '--format', 'json', example());
  assert.match(await page.title(), /^example\.trace/);
  const facts = await page.locator('.top .facts').innerText();
  assert.ok(facts.includes(`${info.threads} threads`), facts);
  assert.equal(await page.locator('.label').count(), info.threads_with_events);
  await until(
    () => colours(page, '.list-view'),
    (n) => n > 12,
    'colours of the time line',
  );
  await until(
    () => colours(page, '.overview canvas'),
    (n) => n > 3,
    'colours of the overview',
  );
  assert.ok((await tableLines(page, 20)).length >= 20);
  assert.deepEqual(opened.troubles, []);
});

test('the table has the figures of the command', async () => {
  await assertTableIs(json('profile', '--format', 'json', example()));
});

test('typing finds a method', async () => {
  await page.locator('.profile .scroller').focus();
  await page.keyboard.type('inline.piece');
  const cursor = page.locator('.profile .row.cursor .cell.name');
  await until(
    () => cursor.innerText(),
    (text) => /Inline\.piece/.test(text),
    'the row under the cursor',
  );
  assert.match(await page.locator('.find .count').innerText(), /^1 of \d+$/);
  await page.keyboard.press('Enter');
  await until(() => page.locator('.profile .row.selected').count(), 1, 'selected rows');
  await page.getByLabel('Find in table').fill('no such method');
  await until(() => page.locator('.find.miss').count(), 1, 'the pink box');
  assert.equal(await page.locator('.find .count').innerText(), '0 of 0');
  await page.getByLabel('Find in table').fill('');
});

test('a click on a column head sorts, a second click reverses', async () => {
  await reset();
  const methods = json('profile', '--format', 'json', example());
  const shown = async () =>
    (await tableLines(page, 8)).slice(0, 8).map((line) => line.cells.excl_real);
  const head = page.locator('.profile .column[data-column=excl_real]');
  const sorted = [...methods]
    .sort((a, b) => b.excl_real_ns - a.excl_real_ns)
    .map((m) => ms(m.excl_real_ns));
  await head.click();
  await until(
    () => page.locator('.profile [aria-sort=descending]').innerText(),
    (t) => t.includes('ms'),
    'sorted column',
  );
  // "(context switch)" stands among the methods: its time is no method's.
  const waits = (await tableLines(page, 8)).find((line) => line.frame === '-2')?.cells.excl_real;
  assert.deepEqual(
    (await shown()).filter((t) => t !== waits).slice(0, 7),
    sorted.filter((t) => t !== waits).slice(0, 7),
  );
  await head.click();
  const least = [...sorted].reverse().slice(0, 7);
  assert.deepEqual((await shown()).slice(0, 7), least);
  await page.locator('.profile .column[data-column=name]').click();
  const names = (await tableLines(page))
    .filter((l) => Number(l.frame) >= 0)
    .map((l) => l.name.replace(/^[\d,]+/, '').split(' (')[0]);
  assert.deepEqual(
    names,
    [...names].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)),
  );
});

test('a method opens into its parents and children, also when it is recursive', async () => {
  await reset();
  const all = json('profile', '--format', 'json', '--callers-callees', example());
  const m = all.find(
    (k) => k.class === 'press.Inline' && k.method === 'piece' && k.recursive_calls > 0,
  );
  assert.ok(m, 'the example has a recursive method');
  await selectMethod('Inline.piece (');
  await until(() => page.locator('.profile .row.group').count(), 4, 'groups');
  const lines = await tableLines(page);
  for (const [group, list] of [
    ['parents', m.parents],
    ['children', m.children],
    ['recursive_parents', m.recursive_parents],
    ['recursive_children', m.recursive_children],
  ]) {
    const shown = lines.filter((line) => line.group === group && line.frame !== 'self');
    assert.equal(shown.length, list.length, group);
    for (const [i, r] of list.entries()) {
      const line = shown.find((l) => l.name === key(r));
      assert.ok(line, `${group} ${i}: ${key(r)}`);
      assert.equal(line.cells.incl_real, ms(r.real_ns), `${group}: real of ${key(r)}`);
      assert.equal(line.cells.incl_cpu, ms(r.cpu_ns), `${group}: CPU of ${key(r)}`);
      assert.equal(
        line.cells.calls.replaceAll(',', ''),
        `${r.calls}/${r.of_calls}`,
        `${group}: calls of ${key(r)}`,
      );
    }
  }
  const self = lines.find((line) => line.group === 'children');
  assert.equal(self.frame, 'self', 'the first child is self');
  const others = m.children.reduce((sum, r) => sum + r.real_ns, 0);
  assert.equal(
    self.cells.incl_real,
    ms(m.incl_real_ns - others),
    'self is what the children leave',
  );
});

test('keys and the wheel with Ctrl zoom and pan, the wheel alone does not, and undo takes it back', async () => {
  await reset();
  const box = await trackBox();
  const x = box.x + box.width / 2;
  await page.mouse.move(x, box.y + 60);
  await page.keyboard.press('w');
  const [from, to] = await until(viewOf, (v) => v !== null, 'the visible range after W');
  await page.keyboard.press('d');
  const panned = await until(viewOf, (v) => v[0] > from, 'the visible range after D');
  assert.ok(Math.abs(panned[1] - panned[0] - (to - from)) <= 2, 'panning keeps the length');
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -400);
  await page.keyboard.up('Control');
  const wheeled = await until(viewOf, (v) => v[1] - v[0] < (to - from) * 0.8, 'after Ctrl+wheel');
  await page.mouse.wheel(0, 120);
  await rested(page);
  assert.deepEqual(await viewOf(), wheeled, 'a plain wheel never zooms');
  await page.keyboard.press('Control+z');
  await until(viewOf, (v) => v[0] === panned[0] && v[1] === panned[1], 'after undo');
  await page.goForward();
  await until(viewOf, (v) => v[0] === wheeled[0], 'after forward');
  await page.keyboard.press('0');
  await until(viewOf, null, 'the whole trace');
});

test('a range and a thread give the table the figures of the command', async () => {
  await reset();
  const box = await trackBox();
  const y = box.y + 100;
  await page.mouse.move(box.x + box.width * 0.1, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.2, y, { steps: 4 });
  await page.mouse.up();
  const [from, to] = await rangeAtRest();
  await computed(page);
  const first = json('profile', '--format', 'json', '--range', `${from}ns:${to}ns`, example());
  await assertTableIs(first);
  assert.equal(await page.locator('.chip').innerText(), `${ms(to - from)} ms`);

  const name = await page.locator('.label .pick').nth(1).innerText();
  const thread = /\[(\d+)\]/.exec(name)[1];
  await page.locator('.label .pick').nth(1).click();
  await computed(page);
  await assertTableIs(
    json(
      'profile',
      '--format',
      'json',
      '--range',
      `${from}ns:${to}ns`,
      '--thread',
      thread,
      example(),
    ),
  );

  await page.keyboard.press('Escape');
  await computed(page);
  await assertTableIs(json('profile', '--format', 'json', example()));
});

test('the ends of a range can be dragged', async () => {
  await reset();
  await page.goto(`${viewer.address}#range=100000000-150000000`);
  await page.reload();
  await ready(page);
  const box = await trackBox();
  const whole = await (await fetch(`${viewer.address}api/trace`)).json();
  const margin = (whole.end_ns - whole.start_ns) * 0.015;
  const span = whole.end_ns - whole.start_ns + 2 * margin;
  const at = (ns) => box.x + ((ns - whole.start_ns + margin) / span) * box.width;
  await page.mouse.move(at(150e6) + 1, box.y + 80);
  await page.mouse.down();
  await page.mouse.move(at(200e6) + 1, box.y + 80, { steps: 3 });
  await page.mouse.up();
  const [from, to] = await rangeAtRest('100000000-150000000');
  assert.equal(from, 100e6);
  assert.ok(Math.abs(to - 200e6) < 2e6, `${to}`);
});

test('the clock switch turns the tables to CPU time', async () => {
  await reset();
  const sums = json('profile', '--format', 'json', example());
  await page.getByRole('button', { name: 'Real', exact: true }).click();
  await page.keyboard.press('2');
  const title = () => page.evaluate(() => document.querySelector('.flame .crumbs').textContent);
  await until(title, (t) => t.includes('real'), 'the flame graph in real time');
  await page.getByRole('button', { name: 'CPU', exact: true }).click();
  await until(title, (t) => t.includes('CPU'), 'the flame graph in CPU time');
  await until(
    () => colours(page, '.flame canvas'),
    (n) => n > 12,
    'colours of the flame graph',
  );
  await page.getByRole('tab', { name: 'Profile' }).click();
  const sorted = page.locator('.profile [aria-sort=descending] .column');
  assert.equal(await sorted.getAttribute('data-column'), 'incl_cpu');
  assert.equal(
    (await tableLines(page, 1))[0].cells.incl_cpu,
    ms(Math.max(...sums.map((m) => m.incl_cpu_ns))),
  );
  await until(async () => (await place(page)).clock, 'cpu', 'the clock in the address');
  await page.getByRole('button', { name: 'Real', exact: true }).click();
  assert.equal(await sorted.getAttribute('data-column'), 'incl_real');
  // Readers who have chosen no clock would see CPU time: a link names it.
  await until(async () => (await place(page)).clock, 'real', 'the clock in the address');
});

test('keys select a call, walk from call to call, and make a call the range', async () => {
  await reset();
  const box = await trackBox();
  await page.mouse.click(box.x + box.width / 2, box.y + 12);
  await until(
    () => page.locator('.details.beside h2').innerText(),
    (t) => t.includes('Press.main'),
    'the details',
  );
  const call = async () => (await place(page)).call;
  const outer = await until(call, (c) => c !== undefined, 'the call in the address');
  const answer = async (name) => {
    const [row, index] = name.split('.');
    return (await fetch(`${viewer.address}api/slice?row=${row}&index=${index}`)).json();
  };
  const details = await answer(outer);
  const shown = await page.locator('.details.beside').innerText();
  assert.ok(
    shown.includes(ms(details.length_ns)) && shown.includes(ms(details.cpu_length_ns)),
    shown,
  );
  await page.keyboard.press('ArrowDown');
  const inner = await until(call, (c) => c !== outer, 'the first call inside');
  assert.equal(inner, details.first_child.join('.'));
  await page.keyboard.press('m');
  const child = await answer(inner);
  await until(
    async () => (await place(page)).range,
    `${child.start_ns}-${child.start_ns + child.length_ns}`,
    'the range',
  );
  await page.keyboard.press('ArrowUp');
  await until(call, outer, 'back at the caller');
});

test('the search goes from hit to hit', async () => {
  await reset();
  await page.keyboard.press('/');
  await page.keyboard.type('Source.');
  const count = () => page.locator('.search .count').innerText();
  const text = await until(
    count,
    (t) => /^\d[\d,]* in 1 method$/.test(t) || /^\d[\d,]* in \d+ methods$/.test(t),
    'the number of hits',
  );
  const total = Number(text.split(' ')[0].replaceAll(',', ''));
  const methods = json('profile', '--format', 'json', example()).filter((m) =>
    `${key(m)} ${m.signature}`.toLowerCase().includes('source.'),
  );
  assert.equal(
    total,
    methods.reduce((sum, m) => sum + m.calls + m.recursive_calls, 0),
  );
  await page.keyboard.press('Enter');
  await until(count, (t) => t.startsWith('1 of '), 'the first hit');
  await page.keyboard.press('Enter');
  await until(count, (t) => t.startsWith('2 of '), 'the second hit');
  await page.keyboard.press('Shift+Enter');
  await until(count, (t) => t.startsWith('1 of '), 'back at the first');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
});

test('a collapsed thread shows its innermost calls', async () => {
  await reset();
  await page.locator('.ruler .key button').first().click();
  await until(
    () => page.locator('.label .twist[aria-expanded=true]').count(),
    0,
    'expanded threads',
  );
  await until(
    () => colours(page, '.list-view'),
    (n) => n > 12,
    'colours of the time line',
  );
  await page.locator('.label .twist').nth(1).click();
  const { tracks } = await (await fetch(`${viewer.address}api/trace`)).json();
  await until(
    async () => (await place(page)).open,
    String(tracks[1].track),
    'the thread in the address',
  );
});

test('Info shows every property of the file', async () => {
  await reset();
  await page.getByRole('tab', { name: 'Info' }).click();
  const text = await page.locator('#pane-info').innerText();
  const info = json('info', '--format', 'json', example());
  for (const [name, value] of Object.entries(info.metadata)) {
    assert.match(text, new RegExp(`${name}\\s+${value}`));
  }
  const called = json('profile', '--format', 'json', example()).length;
  assert.match(text, new RegExp(`Methods\\s+${called} called, ${info.methods} in the file`));
});

test('a copied link restores the same view', async () => {
  await reset();
  const hash =
    '#view=50000000-250000000&range=100000000-200000000&method=3&tab=flame&clock=cpu&flame=inverted&unit=us';
  const second = await openPage(viewer.address + hash);
  await second.page.waitForSelector('.flame .segments [aria-pressed=true]');
  await until(
    () => place(second.page),
    (p) => p.view === '50000000-250000000' && p.tab === 'flame',
    'the place',
  );
  assert.equal(
    await second.page
      .locator('.flame .segments [aria-pressed=true]')
      .innerText()
      .then((t) => t.replace(/\s+/g, ' ')),
    '4 Inverted',
  );
  assert.equal(await second.page.locator('.chip').first().innerText(), '100,000.000 µs');
  assert.deepEqual(second.troubles, []);
  await second.close();
});

test('the table can be copied and exported', async () => {
  await reset();
  const methods = json('profile', '--format', 'json', '--context-switch', example());
  await page.getByRole('button', { name: 'Export' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'JSON' }).click(),
  ]);
  assert.equal(download.suggestedFilename(), 'example.trace.profile.json');
  const stream = await download.createReadStream();
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  const saved = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  const order = (list) =>
    [...list].sort((a, b) => (`${key(a)}${a.signature}` < `${key(b)}${b.signature}` ? -1 : 1));
  const figures = (m) =>
    [
      'class',
      'method',
      'signature',
      'calls',
      'recursive_calls',
      'incl_real_ns',
      'excl_real_ns',
      'incl_cpu_ns',
      'excl_cpu_ns',
    ].map((k) => m[k]);
  assert.deepEqual(order(saved).map(figures), order(methods).map(figures));
  // "(context switch)" may stand first; it is no method that can be selected.
  await page.locator('.profile .row.method[aria-expanded]').first().click();
  const text = await page.evaluate(() => {
    const data = new DataTransfer();
    document.dispatchEvent(new ClipboardEvent('copy', { clipboardData: data, cancelable: true }));
    return data.getData('text/plain');
  });
  assert.equal(text.split('\n').length, 3);
  const first = await page.locator('.profile .row.selected').getAttribute('data-frame');
  const { frames } = await (await fetch(`${viewer.address}api/frames`)).json();
  const [className, method] = frames[first];
  assert.ok(text.split('\n')[1].startsWith(key({ class: className, method })), text);
});

test('no errors were reported, and the button ends the program', async () => {
  assert.deepEqual(opened.troubles, []);
  const quit = page.getByRole('button', { name: 'Quit traceview' });
  await quit.click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await quit.click();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await quit.click();
  await page.getByRole('dialog').getByRole('button', { name: 'Quit' }).click();
  await page.getByRole('heading', { name: 'traceview has ended' }).waitFor();
  assert.equal(await viewer.ended, 0);
});
