// SPDX-License-Identifier: Apache-2.0
// How processes and threads stand: by sort index, then those with a name, by name, by labels, by id,
// whatever they have.
import { strict as assert } from 'node:assert';
import { showFile } from './files.mjs';
import { test } from './limited.mjs';

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

test('processes stand in the order of the format, with slices or without', async () => {
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
  const cut = await page.locator('.labels .group').evaluateAll((lines) => {
    const range = document.createRange();
    const isCut = (element) => {
      range.selectNodeContents(element);
      return range.getBoundingClientRect().width > element.getBoundingClientRect().width;
    };
    return lines.map((line) => [...line.children].slice(1).map(isCut));
  });
  assert.deepEqual(cut, [
    [true, true],
    [false, false, true],
  ]);
});

test('threads without slices stand among those that have some', async () => {
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
    'Alone',
    'worker',
    '(no name)',
    'last',
  ]);
});
