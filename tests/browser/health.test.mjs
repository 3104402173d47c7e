// SPDX-License-Identifier: Apache-2.0
// How the tab Health looks.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { until } from './browser.mjs';
import { showFile } from './files.mjs';

test('kinds of faults stand below each other, notes as warnings', async () => {
  const { page } = await showFile('faults.json', [
    { ph: 'X', name: 'fine', pid: 1, tid: 1, ts: 0, dur: 10, cname: 'none such' },
    { ph: 'B', name: 'open', pid: 1, tid: 1, ts: 20 },
    { ph: 'X', name: 'no time', pid: 1, tid: 1, dur: 5 },
    { ph: 'E', pid: 1, tid: 2, ts: 30 },
  ]);
  await page.getByRole('button', { name: /^Health/ }).click();
  const health = page.locator('#health');
  await until(() => health.innerText().then((t) => t.includes('line ')), true, 'the places');
  const words = await health.locator('h2').allInnerTexts();
  assert.deepEqual(
    words.map((text) => text.split(':')[0]),
    ['Warning', 'Note', 'Note', 'Note'],
  );
  // From above: the words of each kind, then its places.
  const boxes = await health
    .locator('.diagnostic > *')
    .evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect().toJSON()));
  assert.equal(boxes.length, 8);
  boxes.slice(1).forEach((box, i) => {
    assert.ok(box.top >= boxes[i].bottom, `${box.top} is below ${boxes[i].bottom}`);
    assert.equal(box.left, boxes[0].left);
  });
});
