// SPDX-License-Identifier: Apache-2.0
// Without a mouse: the list beside the picture goes to each value of a counter,
// object, snapshot, sample and memory dump.
import { strict as assert } from 'node:assert';
import { until } from './browser.mjs';
import { showFile } from './files.mjs';
import { test } from './suite.mjs';

const own = { cat: 'o', id: '0x5', pid: 1, tid: 1 };
const EVENTS = {
  traceEvents: [
    { ph: 'X', name: 'work', pid: 1, tid: 1, ts: 0, dur: 1000 },
    { ph: 'N', name: 'Tree', ts: 100, ...own },
    { ph: 'O', name: 'Tree', ts: 300, ...own, args: { snapshot: { v: 1 } } },
    { ph: 'D', name: 'Tree', ts: 900, ...own },
    { ph: 'C', name: 'heap', pid: 1, ts: 200, args: { used: 3, free: 7 } },
    { ph: 'P', name: 'tick', pid: 1, tid: 1, ts: 400, sf: 1 },
    {
      ...{ ph: 'v', name: 'periodic', id: '0x9', pid: 1, tid: 1, ts: 600 },
      args: {
        dumps: {
          level_of_detail: 'light',
          process_totals: { resident_set_bytes: 'ff' },
        },
      },
    },
  ],
  stackFrames: { 1: { name: 'spin' } },
};

test('arrows move from line to line and mark to mark', async () => {
  const { page } = await showFile('twin.json', EVENTS);
  await page.locator('.call-list [role=grid]').focus();
  const list = page.locator('.call-list');
  const text = async () => (await list.innerText()).replace(/\s+/g, ' ');
  const address = () => page.evaluate(() => decodeURIComponent(location.hash));
  await until(text, (t) => /slices of .*work/i.test(t), 'the slices');
  /** The line of that name, however many there are before it. */
  const go = async (name) => {
    for (let i = 0; i < 6; i++) await page.keyboard.press('ArrowLeft');
    for (let i = 0; i < 6 && !name.test(await text()); i++) await page.keyboard.press('ArrowRight');
    await until(text, (t) => name.test(t), String(name));
  };
  const take = async (kind, ...keys) => {
    for (const key of [...keys, 'Enter']) await page.keyboard.press(key);
    await until(address, (a) => new RegExp(`mark=${kind}\\.0`).test(a), kind);
  };
  await go(/marks of Tree .*0x5 0\.100 0\.800 object 0x5 0\.300 snapshot/i);
  await take('object', 'Home');
  await take('snapshot', 'End');
  await go(/marks of heap .*used 3, free 7 0\.200 value/i);
  await go(/marks of \[1\] .*spin 0\.400 sample/i);
  await take('sample', 'Home');
  await go(/marks of Memory dumps .*memory dump 0\.600 light/i);
  await take('memory', 'Home');
  assert.match(await page.locator('.details.beside').innerText(), /light/);
});
