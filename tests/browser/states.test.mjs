// SPDX-License-Identifier: Apache-2.0
// Processors and states of threads: rows, colours, who woke whom, who ran instead, tables, VSync.
import { strict as assert } from 'node:assert';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openPage, place, ready, until } from './browser.mjs';
import { after, before, test } from './suite.mjs';
import { view } from './program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'states-'));

/**
 * CPU 0 runs app 0..1, work 1..5, app 5..6.5 ms; CPU 1 disk 0..7, work 7..10.  app waits for I/O
 * 1..3, when disk wakes it, and for CPU 0 until 5.  The beat is on 2..4 and 6..8 ms.
 */
const SCHED = fileURLToPath(new URL('../golden/data/sched.ftrace', import.meta.url));
const BEAT = [2, 4, 6, 8].map(
  (ms, i) =>
    `app-100 ( 100) [000] ...1 1.00${ms}000: tracing_mark_write: C|100|VSYNC|${1 - (i % 2)}`,
);
const FREQUENCY = ['0', '1'].map(
  (cpu) => `app-100 ( 100) [000] ...1 1.000500: cpu_frequency: state=1000 cpu_id=${cpu}`,
);

let viewer;
let opened;
let page;
let facts;

before(async () => {
  const file = join(folder, 'sched.txt');
  writeFileSync(file, `${readFileSync(SCHED, 'utf8')}${[...FREQUENCY, ...BEAT].join('\n')}\n`);
  viewer = await view(file);
  opened = await openPage(viewer.address);
  page = opened.page;
  await ready(page);
  facts = await (await fetch(`${viewer.address}api/trace`)).json();
});

after(async () => {
  await opened.close();
  await viewer.stop();
  rmSync(folder, { recursive: true });
});

const texts = (selector) => page.locator(selector).allInnerTexts();
const track = (kind, name) => facts.tracks.find((t) => t.kind === kind && t.name === name);

/** Distance of a label's middle from the top of the time line. */
async function middleOf(label) {
  const box = await page.locator(label).boundingBox();
  const canvas = await page.locator('.list-view').boundingBox();
  return box.y + box.height / 2 - canvas.y;
}

/** The colour at a time in ms, as red, green, blue. */
function colourAt(ms, y) {
  return page.evaluate(
    ([at, top]) => {
      const copy = window.copyOf('.list-view');
      const { width, height } = copy.canvas;
      const ratio = height / document.querySelector('.list-view').clientHeight;
      return [
        ...copy.getImageData(Math.round(at * width), Math.round(top * ratio), 1, 1).data,
      ].slice(0, 3);
    },
    [share(ms), y],
  );
}

/** The whole trace is shown with a margin at both sides. */
let margin = 0;
function share(ms) {
  return margin + (ms / 10) * (1 - 2 * margin);
}

async function select(row, index) {
  await page.evaluate((hash) => (location.hash = hash), `tab=selection&call=${row}.${index}`);
  await until(async () => (await texts('#pane-selection h2')).length > 0, true, 'the page');
}

test('kernel tracks are not counted as threads', async () => {
  const file = join(folder, 'irqs.txt');
  const lines = [
    'app-100 ( 100) [000] ...1 1.000000: tracing_mark_write: B|100|work',
    'app-100 ( 100) [000] d.h1 1.001000: irq_handler_entry: irq=27 name=timer',
    'app-100 ( 100) [000] d.h1 1.002000: irq_handler_exit: irq=27 ret=handled',
    'app-100 ( 100) [000] ...1 1.003000: tracing_mark_write: E|100',
  ];
  writeFileSync(file, `# tracer: nop\n${lines.join('\n')}\n`);
  const other = await view(file);
  const shown = await openPage(`${other.address}#tab=info`);
  try {
    await shown.page.locator('.labels').getByText('irqs cpu 0').waitFor();
    assert.match(await shown.page.locator('.top .facts').innerText(), /\b1 thread\b/);
    assert.match(await shown.page.locator('.ruler .key').innerText(), /1 of 1 thread\b/);
    assert.match(await shown.page.locator('#pane-info').innerText(), /1 thread, 1 with slices/);
    assert.match(await shown.page.locator('#pane-info').innerText(), /Lines of the kernel\s+1/);
    await shown.page.getByText('1 active thread', { exact: false }).first().waitFor();
    assert.deepEqual(shown.troubles, []);
  } finally {
    await shown.close();
    await other.stop();
  }
});

test('processors come first with their counters and are not counted as threads', async () => {
  const groups = await texts('.labels .group b');
  assert.equal(groups[0], 'CPUs');
  const labels = await texts('.labels .label .name');
  assert.deepEqual(labels.slice(0, 4), [
    'CPU 0',
    'CPU 0 Clock Frequency',
    'CPU 1',
    'CPU 1 Clock Frequency',
  ]);
  assert.match((await texts('.ruler .key'))[0], /3 of \d+ threads\s+3 processes/);
});

test('a state has its colour, and a thread without slices has a row of states', async () => {
  const width = await page.locator('.list-view').evaluate((c) => c.clientWidth);
  margin = Math.round(width * 0.015) / width;
  const y = await middleOf(`.label:has([data-key="n${track('states', 'disk').track}"])`);
  const [red, green, blue] = await colourAt(3, y);
  assert.ok(green > red + 50 && green > blue + 30, `running is green: ${[red, green, blue]}`);
});

test('a slice on an expanded row is pale while its thread waits', async () => {
  const box = await page.locator(`.label:has([data-key="n${track('thread', 'app').track}"])`);
  const top = (await box.boundingBox()).y;
  const y = top - (await page.locator('.list-view').boundingBox()).y + 16;
  // The slice lasts from 0.1 to 6 ms; app runs until 1 ms, and again from 5 ms on.
  const [first, waiting, last] = [
    await colourAt(0.9, y),
    await colourAt(3, y),
    await colourAt(5.5, y),
  ];
  assert.deepEqual(first, last);
  assert.ok(Math.min(...waiting) > Math.min(...first), `pale: ${waiting}, full: ${first}`);
});

test('a wait links to the thread that woke this one and to those that ran meanwhile', async () => {
  const app = track('states', 'app').first_row;
  await select(app, 2);
  const details = page.locator('#pane-selection .details');
  await details.getByText('Woken by').waitFor();
  const words = await details.innerText();
  assert.match(words, /Woken by\s+\[300\] disk on CPU 1/);
  assert.match(words, /Until it ran\s+2\.000/);
  assert.match(words, /Who ran instead on CPU 0\s+work 2\.000/);
  await details.getByRole('button', { name: 'work' }).click();
  await details.getByText('Ran on').waitFor();
  assert.match(await details.innerText(), /CPU 0[^]*\[200\] work[^]*Priority\s+110[^]*preempted/);
  const cpu = `${track('cpu', 'CPU 0').first_row}.1`;
  await until(async () => (await place(page)).call, cpu, 'the address');
});

test('"woken by" links to the waker, and the blocking function is shown', async () => {
  await select(track('states', 'app').first_row, 1);
  const details = page.locator('#pane-selection .details');
  await details.getByText('Blocked in').waitFor();
  assert.match(await details.innerText(), /Blocked in\s+read_page\+0x10\/0x20/);
  assert.match(await details.innerText(), /Waited for I\/O\s+yes/);
  await details.getByRole('button', { name: '[300] disk on CPU 1' }).click();
  const disk = `${track('states', 'disk').first_row}.0`;
  await until(async () => (await place(page)).call === disk, true, 'the page');
});

test('keys move from state to state', async () => {
  const row = track('states', 'app').first_row;
  await select(row, 1);
  await page.locator('.list-view').focus();
  await page.keyboard.press('.');
  await until(async () => (await place(page)).call === `${row}.2`, true, 'the page');
  await page.keyboard.press(',');
  await until(async () => (await place(page)).call === `${row}.1`, true, 'the page');
});

test('a thread that ran for no time is linked by the state in which it left', async () => {
  const line = (name, pid, at, state, next) =>
    `${name}-${pid} [000] d..3 ${at}: sched_switch: prev_comm=${name} prev_pid=${pid} ` +
    `prev_prio=120 prev_state=${state} ==> next_comm=${next[0]} next_pid=${next[1]} next_prio=120`;
  const file = join(folder, 'zero.txt');
  const lines = [
    line('app', 100, '1.000000', 'S', ['work', 200]),
    line('work', 200, '1.000000', 'D', ['disk', 300]),
    line('disk', 300, '1.002000', 'S', ['app', 100]),
    line('app', 100, '1.003000', 'S', ['work', 200]),
  ];
  writeFileSync(file, `# tracer: nop\n${lines.join('\n')}\n`);
  const other = await view(file);
  const shown = await openPage(`${other.address}#tab=selection&call=0.0`);
  try {
    const details = shown.page.locator('#pane-selection .details');
    await details.getByText('Ran on').waitFor();
    await details.evaluate((shownIn) => {
      window.said = '';
      const watch = new MutationObserver(() => (window.said += shownIn.innerText));
      watch.observe(shownIn, { childList: true, subtree: true });
    });
    await details.getByRole('button', { name: '[200] work' }).click();
    await details.getByText('waits in the kernel').waitFor();
    assert.match(await details.innerText(), /Start\s+0\.000/);
    // That a state has no slices of its own was said while its details were on their way.
    assert.doesNotMatch(await shown.page.evaluate(() => window.said), /No slice of it/);
    assert.deepEqual(shown.troubles, []);
    // No thread has slices of its own: the processor's are told, one a switch, also the last one.
    assert.match(await shown.page.locator('.top .facts').innerText(), /3 threads\s+4 CPU slices/);
  } finally {
    await shown.close();
    await other.stop();
  }
});

test('a slice shows the states of its thread during its time', async () => {
  await select(track('thread', 'app').first_row, 0);
  const inside = page.locator('#pane-selection .states-inside');
  await inside.waitFor();
  const words = await inside.innerText();
  assert.match(words, /Running\s+1\.900/);
  assert.match(words, /Runnable\s+2\.000/);
  assert.match(words, /I\/O wait\s+2\.000/);
});

test('the tables are of the selected range, by state and by processor', async () => {
  await page.evaluate(() => (location.hash = 'tab=states&range=1000000-4000000'));
  const grid = page.getByRole('grid', { name: 'States of threads' });
  await grid.locator('.grid-row').nth(2).waitFor();
  const line = async (name) =>
    (await grid.locator('.grid-row', { hasText: name }).innerText()).replace(/\s+/g, ' ');
  await until(
    async () => /^\[200\] work 3\.000 100\.0 %/.test(await line('work')),
    true,
    'the page',
  );
  await page.getByRole('button', { name: 'By CPU' }).click();
  await grid.locator('.grid-row', { hasText: '(busy)' }).waitFor();
  assert.match(await line('busy'), /6\.000 3\.000 100\.0 % 3\.000 100\.0 %/);
  assert.match(await line('disk'), /3\.000 0\.000 0\.0 % 3\.000 100\.0 %/);
  assert.equal(await grid.locator('.grid-row', { hasText: 'app' }).count(), 0);
  await grid.getByRole('columnheader', { name: 'CPU 1' }).click();
  await until(async () => (await place(page)).states, 'cpu.cpu1.down', 'the address');
  await page.goBack();
  await page.goForward();
  const pressed = page.getByRole('button', { name: 'By CPU' });
  await until(() => pressed.getAttribute('aria-pressed'), 'true', 'the columns');
  const sorted = grid.getByRole('columnheader', { name: 'CPU 1' });
  await until(() => sorted.getAttribute('aria-sort'), 'descending', 'the order');
});

test('V draws a band where the VSync counter is on', async () => {
  await page.evaluate(() => (location.hash = ''));
  await page.locator('.list-view').focus();
  const y = (await page.locator('.list-view').evaluate((c) => c.clientHeight)) - 3;
  const plain = await colourAt(2.6, y);
  await page.keyboard.press('v');
  await until(async () => String(await colourAt(2.6, y)) !== String(plain), true, 'the page');
  assert.deepEqual(await colourAt(4.6, y), plain);
  assert.notDeepEqual(await colourAt(7.4, y), plain);
  assert.equal(
    await page.getByRole('button', { name: 'VSync', exact: true }).getAttribute('aria-pressed'),
    'true',
  );
  await page.keyboard.press('v');
  await until(async () => String(await colourAt(2.6, y)) === String(plain), true, 'the page');
});

/** Of one thread the kernel's text tells one slice, JSON in the same page another, and none overlap. */
test('facts of another trace about a thread are shown beside its own', async () => {
  const json = '[{"ph":"X","pid":100,"tid":100,"name":"drawn","ts":1007000,"dur":500}]';
  const mark = (ms, text) => `app-100 ( 100) [000] ...1 1.00${ms}000: tracing_mark_write: ${text}`;
  const text = `${readFileSync(SCHED, 'utf8')}${mark(1, 'B|100|marked')}\n${mark(2, 'E|100')}\n`;
  const block = (body) => `<script class="trace-data" type="application/text">\n${body}\n</script>`;
  const file = join(folder, 'page.html');
  writeFileSync(file, `<!DOCTYPE html><html><body>${block(text)}${block(json)}</body></html>`);
  const other = await view(file);
  const both = await openPage(other.address);
  try {
    await ready(both.page);
    const labels = both.page.locator('.label', { hasText: '[100]' });
    const kinds = () => labels.locator('.kind').allInnerTexts();
    await until(async () => (await kinds()).join(), 'beside', 'kinds of rows');
  } finally {
    await both.close();
    await other.stop();
  }
});

test('no errors were reported', () => assert.deepEqual(opened.troubles, []));
