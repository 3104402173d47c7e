// SPDX-License-Identifier: Apache-2.0
// What all tables of the lower panel share: lines that are made only when they are seen, however
// many there are; the keyboard; marks and the clipboard; exports; what is open in the address.
import { strict as assert } from 'node:assert';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openPage, place, ready, until } from './browser.mjs';
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

async function show(file, hash = '') {
  const viewer = await view(file);
  const opened = await openPage(viewer.address + hash);
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

test(
  'a million hits scroll, and the last of them is the last call',
  { timeout: 300_000 },
  async () => {
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
    // What is looked for in the table leaves none of them.
    await page.getByLabel('Find in table').fill('tock');
    await until(() => page.locator('.find .count').innerText(), '0 of 1,048,500', 'none');
    await page.getByLabel('Find in table').fill('');
    assert.deepEqual(troubles, []);
  },
);
