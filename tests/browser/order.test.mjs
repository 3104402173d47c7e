// SPDX-License-Identifier: Apache-2.0
// Order of processes: sort index, work of the main thread, name, labels, id; order of threads: sort
// index, the main thread, busy before idle threads, name, id. Rows of the process stand below.
import { strict as assert } from 'node:assert';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPage, place, ready, until } from './browser.mjs';
import { showFile } from './files.mjs';
import { test } from './suite.mjs';
import { example, view } from './program.mjs';

const named = (pid, name, index) => [
  { ph: 'M', name: 'process_name', pid, args: { name } },
  ...(index === undefined
    ? []
    : [{ ph: 'M', name: 'process_sort_index', pid, args: { sort_index: index } }]),
];

const thread = (pid, tid, name, index) => [
  ...(name ? [{ ph: 'M', name: 'thread_name', pid, tid, args: { name } }] : []),
  ...(index === undefined
    ? []
    : [{ ph: 'M', name: 'thread_sort_index', pid, tid, args: { sort_index: index } }]),
];

const slice = (pid, tid) => ({ ph: 'X', name: 'work', pid, tid, ts: 10, dur: 80 });
const instant = (pid, tid) => ({ ph: 'i', s: 't', name: 'mark', pid, tid, ts: 50 });
const squeeze = (texts) => texts.map((text) => text.replace(/\s+/g, ' ').trim());

test('processes have the order of the format, with slices or without', async () => {
  const { page, troubles } = await showFile('processes.json', [
    ...named(1, 'Zeta', 1),
    ...named(2, 'instants alone', -2),
    ...named(3, 'counters alone', -1),
    ...named(5, 'Beta'),
    ...named(6, 'alpha'),
    ...named(7, 'Beta'),
    { ph: 'M', name: 'process_labels', pid: 5, args: { labels: 'two' } },
    { ph: 'M', name: 'process_labels', pid: 7, args: { labels: 'one' } },
    ...[9, 8, 7, 6, 5, 1].map((pid) => slice(pid, 1)),
    instant(2, 1),
    { ph: 'C', name: 'memory', pid: 3, ts: 40, args: { used: 1 } },
  ]);
  assert.deepEqual(squeeze(await page.locator('.labels .group').allInnerTexts()), [
    'instants alone pid 2',
    'counters alone pid 3',
    'alpha pid 6',
    'Beta pid 7 one',
    'Beta pid 5 two',
    'Process 8',
    'Process 9',
    'Zeta pid 1',
  ]);
  assert.deepEqual(troubles, []);
});

test('labels of a process give way to its name', async () => {
  const { page } = await showFile('labels.json', [
    ...named(12345, 'Renderer of a page'),
    { ph: 'M', name: 'process_labels', pid: 12345, args: { labels: 'Encyclopedia, all of it' } },
    ...named(6, `a name that is ${'very '.repeat(20)}long`),
    slice(12345, 1),
    slice(6, 1),
  ]);
  // A part of a pixel is enough to cost a text its end.
  const shown = await page.locator('.labels .group').evaluateAll((lines) => {
    const range = document.createRange();
    const state = (element) => {
      const box = element.getBoundingClientRect();
      // Text without room is on a line below the label's own, which is out of sight.
      if (box.top >= element.parentElement.getBoundingClientRect().bottom) return 'hidden';
      range.selectNodeContents(element);
      return range.getBoundingClientRect().width > box.width ? 'cut' : 'whole';
    };
    return lines.map((line) => [...line.children].slice(1).map(state));
  });
  assert.deepEqual(shown, [
    ['cut', 'hidden'],
    ['whole', 'whole', 'hidden'],
  ]);
});

test('threads without slices come after those with slices', async () => {
  const { page } = await showFile('threads.json', {
    stackFrames: { 1: { name: 'main' } },
    traceEvents: [
      ...thread(1, 10, 'worker'),
      ...thread(1, 11, 'Alone'),
      ...thread(1, 12, 'sampled', -1),
      ...thread(1, 13, 'last', 7),
      ...[13, 10, 14].map((tid) => slice(1, tid)),
      instant(1, 11),
      { ph: 'P', name: 'cpu', pid: 1, tid: 12, ts: 30, sf: 1 },
    ],
  });
  assert.deepEqual(squeeze(await page.locator('.label .name').allInnerTexts()), [
    'sampled',
    'worker',
    '(work)',
    'Alone',
    'last',
  ]);
});

const lasting = (pid, tid, dur) => ({ ph: 'X', name: 'work', pid, tid, ts: 10, dur });

test('the main thread comes first, numbers in names sort by value, and counters are below', async () => {
  const { page } = await showFile('main.json', [
    ...thread(7, 1, 'worker-10'),
    ...thread(7, 2, 'worker-2'),
    ...thread(7, 3, 'RenderThread'),
    ...thread(7, 7, 'zygote'),
    ...[1, 2, 3, 7].map((tid) => slice(7, tid)),
    { ph: 'C', name: 'memory', pid: 7, ts: 40, args: { used: 1 } },
  ]);
  assert.deepEqual(squeeze(await page.locator('.label .name').allInnerTexts()), [
    'zygote',
    'RenderThread',
    'worker-2',
    'worker-10',
    'memory',
  ]);
});

test('without sort indexes the process with the busiest main thread comes first', async () => {
  const { page } = await showFile('work.json', [
    ...named(1, 'a helper'),
    ...named(2, 'the program'),
    lasting(1, 1, 50),
    lasting(1, 9, 900),
    lasting(2, 2, 60),
  ]);
  assert.deepEqual(squeeze(await page.locator('.labels .group').allInnerTexts()), [
    'the program pid 2',
    'a helper pid 1',
  ]);
});

test('with states only, the running time of threads counts as their work', async () => {
  const idle = 'comm=swapper prev_pid=0';
  const text = [
    ['a', 100, '001', '002'],
    ['b', 200, '003', '007'],
  ].flatMap(([name, id, from, to]) => [
    `<idle>-0 (-----) [000] d..3 1.${from}: sched_switch: prev_${idle} prev_prio=120 prev_state=R ==> next_comm=${name} next_pid=${id} next_prio=120`,
    `${name}-${id} (${id}) [000] d..3 1.${to}: sched_switch: prev_comm=${name} prev_pid=${id} prev_prio=120 prev_state=S ==> next_comm=swapper next_pid=0 next_prio=120`,
  ]);
  const waits = (opened) => opened.locator('.label .name').first().waitFor();
  const { page } = await showFile('sched.txt', `# tracer: nop\n#\n${text.join('\n')}\n`, { waits });
  const groups = squeeze(await page.locator('.labels .group').allInnerTexts());
  assert.deepEqual(groups.slice(0, 3), ['CPUs', 'b pid 200', 'a pid 100']);
});

test('sort indexes that only repeat thread ids are ignored', async () => {
  const { page } = await showFile('ids.json', [
    ...thread(9, 3, 'worker', 3),
    ...thread(9, 5, 'helper', 5),
    ...thread(9, 9, 'program', 9),
    ...[3, 5, 9].map((tid) => slice(9, tid)),
  ]);
  assert.deepEqual(squeeze(await page.locator('.label .name').allInnerTexts()), [
    'program',
    'helper',
    'worker',
  ]);
});

test('in Chrome the busiest renderer comes before the browser process', async () => {
  const { page } = await showFile('chrome.json', [
    ...named(1, 'Browser', -6),
    ...named(2, 'Renderer', -5),
    ...named(3, 'Renderer', -5),
    ...thread(1, 1, 'CrBrowserMain'),
    ...thread(2, 20, 'CrRendererMain'),
    ...thread(3, 30, 'CrRendererMain'),
    lasting(1, 1, 500),
    lasting(2, 20, 50),
    lasting(3, 30, 90),
  ]);
  assert.deepEqual(squeeze(await page.locator('.labels .group').allInnerTexts()), [
    'Renderer pid 3',
    'Browser pid 1',
    'Renderer pid 2',
  ]);
});

test('the menu above the names changes the order, and the address keeps it', async () => {
  const opened = await showFile('menu.json', [
    ...named(1, 'zeta'),
    ...named(2, 'alpha'),
    ...thread(1, 1, 'main'),
    ...thread(1, 12, 'worker-10', -3),
    ...thread(1, 13, 'worker-9'),
    ...thread(2, 21, 'helper'),
    lasting(1, 1, 300),
    lasting(1, 12, 40),
    { ...lasting(1, 13, 500), ts: 400 },
    lasting(2, 21, 50),
    { ph: 'C', name: 'memory', pid: 2, ts: 40, args: { used: 1 } },
  ]);
  const { page } = opened;
  const names = () =>
    page
      .locator('.label .name, .group b')
      .allInnerTexts()
      .then((all) => all.join(' '));
  const menu = page.getByLabel('Order of rows');
  const choose = async (text, expected) => {
    await menu.selectOption({ label: text });
    await until(names, expected, text);
  };
  await until(names, 'zeta worker-10 main worker-9 alpha helper memory', 'at first');
  await choose('Busiest first', 'zeta worker-9 main worker-10 alpha helper memory');
  await choose('By name', 'alpha helper memory zeta main worker-9 worker-10');
  await until(async () => (await place(page)).sorted, 'name', 'the address');
  // Only worker-9 has a call at 600 to 800 us.
  await page.locator('.list-view').focus();
  await page.keyboard.press('r');
  await page.getByRole('textbox', { name: /range/i }).fill('0.6 .. 0.8 ms');
  await page.keyboard.press('Enter');
  await choose('Only active rows', 'zeta worker-9');
  await until(async () => (await place(page)).sorted, 'name,active', 'the address');
  await page.reload();
  await ready(page);
  await until(names, 'zeta worker-9', 'loaded again');
  await choose('Show all rows', 'alpha helper memory zeta main worker-9 worker-10');
  assert.deepEqual(opened.troubles, []);
});

test('processes and threads of several files name their file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'order-'));
  const write = (name, content) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const json = (pid) => JSON.stringify([...named(pid, 'app'), slice(pid, pid)]);
  const labels = async (selector, ...files) => {
    const viewer = await view(...files);
    const { page, troubles, close } = await openPage(viewer.address);
    await ready(page);
    const texts = squeeze(await page.locator(selector).allInnerTexts());
    assert.deepEqual(troubles, []);
    await close();
    await viewer.stop();
    return texts;
  };
  const both = [write('a.json', json(1)), write('b.json', json(2))];
  const groups = await labels('.labels .group', ...both);
  assert.deepEqual(groups.sort(), ['app pid 1 a.json', 'app pid 2 b.json']);
  assert.deepEqual(await labels('.labels .group', both[0]), ['app pid 1']);
  const trace = readFileSync(example());
  const sides = await labels('.label .side', write('c.trace', trace), write('d.trace', trace));
  const count = (name) => sides.filter((text) => text === name).length;
  assert.ok(count('c.trace') > 0 && count('c.trace') === count('d.trace'), sides.join());
  rmSync(folder, { recursive: true });
});
