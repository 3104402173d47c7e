// SPDX-License-Identifier: Apache-2.0
// Counters: selected with mouse and keys, their figures, the way to peaks, and the table of all.
// The figures are those that `traceview counters` prints.
import { strict as assert } from 'node:assert';
import { place, until } from './browser.mjs';
import { shown } from './exported.mjs';
import { showFile } from './files.mjs';
import { before, test } from './suite.mjs';
import { json } from './program.mjs';

const heap = [40, 10, 70, 20, 90, 30].map((used, i) => ({
  ...{ ph: 'C', name: 'heap', cat: 'gc', pid: 1, ts: 100 * i },
  args: { used, free: 100.5 - used },
}));
const EVENTS = [
  { ph: 'M', name: 'process_name', pid: 1, args: { name: 'server' } },
  { ph: 'X', name: 'work', pid: 1, tid: 1, ts: 0, dur: 1000 },
  ...heap,
  { ph: 'C', name: 'load', pid: 1, ts: 250, args: { value: 1234567 } },
];

let page;
let troubles;
let file;

before(async () => {
  ({ page, troubles, file } = await showFile('counters.json', EVENTS));
});

const details = () => page.locator('.details:visible');

/** The facts in the details, of one series: {"Mean": "41.5", ...}. */
async function factsOf(series) {
  const rows = details().locator(`section[data-series="${series}"] tr`);
  const cells = await rows.evaluateAll((all) =>
    all.map((row) => [...row.cells].map((cell) => cell.innerText.trim())),
  );
  return Object.fromEntries(cells);
}

/** Figures that the command prints, as the page writes them. */
function figuresOf(counter, series, ...options) {
  const { series: rows } = json('counters', '--format', 'json', ...options, file);
  const row = rows.find((r) => r.counter === counter && r.series === series);
  const text = (value) =>
    value === null ? 'unknown' : value.toLocaleString('en', { maximumSignificantDigits: 6 });
  return {
    ...{ Values: text(row.samples), Mean: text(row.mean), Min: text(row.min), Max: text(row.max) },
    ...{ First: text(row.first), Last: text(row.last) },
    ...{ Change: text(row.change), 'Per s': text(row.rate_per_s) },
  };
}

/** Click on the row of a counter at a share of the whole trace. */
async function clickCounter(name, share) {
  const label = await page.locator('.label.counter', { hasText: name }).boundingBox();
  const canvas = await page.locator('.list-view').boundingBox();
  const view = await page.evaluate(() => document.querySelector('.list-view').clientWidth);
  await page.mouse.click(canvas.x + view * share, label.y + label.height / 2);
}

const mark = async () => (await place(page)).mark;

test('a click on a counter shows its value there and its figures', async () => {
  await clickCounter('heap', 0.5);
  await until(mark, (m) => /^counter\.0\.0\.\d+$/.test(m ?? ''), 'the address');
  await details().locator('section[data-series="1"]').waitFor();
  for (const [k, series] of ['used', 'free'].entries()) {
    const { ...facts } = await factsOf(k);
    const [at, value] = Object.entries(facts)[0];
    assert.match(at, /^At 0\.[45]\d\d ms$/);
    const ns = (await mark()).split('.')[3];
    const { series: rows } = json('counters', '--format', 'json', '--at', `${ns}ns`, file);
    const row = rows.find((r) => r.counter === 'heap' && r.series === series);
    assert.equal(value, String(row.value));
    delete facts[at];
    assert.deepEqual(facts, figuresOf('heap', series));
  }
});

test('a range changes the figures', async () => {
  await page.keyboard.press('r');
  await page.keyboard.type('0.15 .. 0.45 ms');
  await page.keyboard.press('Enter');
  const expected = figuresOf('heap', 'used', '--range', '150us:450us');
  // 10 for 50 us, 70 and 20 for 100 us, 90 for 50 us.
  assert.equal(expected.Mean, '46.6667');
  await until(async () => (await factsOf(0)).Mean, expected.Mean, 'the mean of the range');
  const facts = await factsOf(0);
  for (const [what, text] of Object.entries(expected)) assert.equal(facts[what], text, what);
});

test('keys and buttons lead to peaks, troughs and changes', async () => {
  const at = (us) => `counter.0.0.${us * 1000}`;
  await clickCounter('heap', 0.05);
  await until(mark, (m) => /^counter\.0\.0\.\d{4,5}$/.test(m ?? ''), 'the beginning');
  const go = async (key, us) => {
    await page.keyboard.press(key);
    await until(mark, at(us), `${key} to ${us} us`);
  };
  await go('x', 200);
  await go('x', 400);
  await go('Shift+X', 200);
  await go('n', 300);
  await go('Shift+N', 100);
  await go('ArrowRight', 200);
  await go(',', 100);
  await details().getByRole('button', { name: 'peak ›' }).click();
  await until(mark, at(200), 'the button of the next peak');
  await details().getByRole('button', { name: '‹ trough' }).click();
  await until(mark, at(100), 'the button of the trough before');
  // The other series: where "used" is low, "free" is high.
  await page.keyboard.press('ArrowDown');
  await until(mark, 'counter.0.1.100000', 'the next series');
});

test('a counter can be read without a mouse, from its name and the list of its values', async () => {
  const { page: own } = await showFile('keys.json', EVENTS);
  const chosen = async () => (await place(own)).mark;
  await own.locator('.label.counter button.pick', { hasText: 'load' }).focus();
  await own.keyboard.press('Enter');
  await until(chosen, (m) => /^counter\.1\.0\./.test(m ?? ''), 'the counter of that name');
  await own.locator('.call-list [role=grid]').focus();
  const list = own.locator('.call-list');
  for (let i = 0; i < 6; i++) await own.keyboard.press('ArrowLeft');
  for (let i = 0; i < 6 && !/of heap/.test(await list.innerText()); i++)
    await own.keyboard.press('ArrowRight');
  await own.keyboard.press('End');
  await own.keyboard.press('Enter');
  await until(chosen, 'counter.0.0.500000', 'the last value of the list');
});

test('the table has the figures of all counters and can be sorted and saved', async () => {
  await page.getByRole('tab', { name: 'Counters' }).click();
  const names = () => page.locator('.counters .grid-rows .text:first-of-type').allInnerTexts();
  await until(async () => (await names()).length, 3, 'the series');
  assert.deepEqual(await names(), ['heap: free', 'heap: used', 'load']);
  await page.locator('.counters').getByRole('button', { name: /^Mean/ }).click();
  await until(async () => (await place(page)).figures, 'mean.down', 'the address');
  assert.deepEqual(await names(), ['load', 'heap: free', 'heap: used']);
  // Enter in the box goes from hit to hit.
  const find = page.getByLabel('Find in table');
  await find.fill('heap');
  await until(async () => (await names()).join(), 'heap: free,heap: used', 'the hits');
  const chosen = () => page.locator('.counters .cursor .text:first-of-type').allInnerTexts();
  for (const name of ['heap: free', 'heap: used']) {
    await find.press('Enter');
    await until(async () => (await chosen()).join(), name, 'the next hit');
  }
  await find.fill('');
  await until(async () => (await names()).length, 3, 'all again');
  const ours = await shown(page, 'counters');
  const theirs = json(
    ...['counters', '--format', 'json', '--sort', 'mean', '--range', '150us:450us'],
    file,
  ).series;
  assert.equal(ours.length, theirs.length);
  for (const [i, line] of ours.entries())
    assert.deepEqual(
      line,
      Object.fromEntries(Object.keys(line).map((key) => [key, theirs[i][key]])),
    );
});

test('a line of the table leads to the largest value of its counter', async () => {
  await page.keyboard.press('Escape');
  await until(async () => (await place(page)).range, undefined, 'the range is cleared');
  await page.keyboard.press('Escape');
  await until(mark, undefined, 'nothing is selected');
  await page.locator('.counters .grid-rows [role=row]', { hasText: 'heap: used' }).click();
  await until(mark, 'counter.0.0.400000', 'the largest value');
  await page.locator('.label.counter.holds', { hasText: 'heap' }).waitFor();
});

test('another counter can be drawn over the selected one and removed', async () => {
  const { page: own } = await showFile('overlay.json', EVENTS);
  const over = async () => (await place(own)).overlay;
  const label = () => own.locator('.label.counter', { hasText: 'heap' });
  const found = () => own.locator('.finder[open] [role=option]').allInnerTexts();
  // With keys: the name of the counter, O, Enter.
  await label().getByRole('button').focus();
  await own.keyboard.press('Enter');
  await until(async () => (await place(own)).mark !== undefined, true, 'the counter is selected');
  await own.keyboard.press('o');
  await until(async () => (await found()).length, 1, 'the other counter');
  assert.match((await found())[0], /load$/);
  await own.keyboard.press('Enter');
  await until(over, '0.1', 'the address');
  await label().getByText('with load').waitFor();
  // After a reload, the values of both stand at the pointer: "load" begins at 0.25 ms.
  await own.reload();
  await label().getByText('with load').waitFor();
  const canvas = await own.locator('.list-view').boundingBox();
  const row = await label().boundingBox();
  const values = async () => {
    await own.mouse.move(canvas.x + canvas.width * 0.46, row.y + row.height / 2 + Math.random());
    return own.locator('.tip:visible').innerText();
  };
  await until(values, (text) => /load\s*1,?234,?5/.test(text ?? ''), 'the value of the other one');
  assert.match(await values(), /heap: used\s*90/);
  assert.match(await values(), /heap: free\s*10\.5/);
  await own.keyboard.press('Shift+O');
  await until(over, undefined, 'it is drawn alone');
  // With the menu of the row.
  await label().getByRole('combobox').selectOption({ label: 'Overlay another counter…' });
  await own.locator('.finder[open] [role=option]').click();
  await until(over, '0.1', 'chosen in the menu');
  await label().getByRole('combobox').selectOption({ label: 'Without load' });
  await until(over, undefined, 'taken away in the menu');
  // With the details, which stand beside the tab Counters as well.
  await own.getByRole('tab', { name: 'Counters' }).click();
  await own.locator('.details:visible').getByRole('button', { name: 'overlay…' }).click();
  await own.locator('.finder[open] [role=option]').click();
  await until(over, '0.1', 'chosen in the details');
  await own.locator('.details:visible').getByRole('button', { name: 'without load' }).click();
  await until(over, undefined, 'taken away in the details');
});

test('the palette applies to counters', async () => {
  const colour = () =>
    page
      .locator('.counters .grid-rows .swatch')
      .first()
      .evaluate((e) => getComputedStyle(e).backgroundColor);
  const own = await colour();
  const button = page.getByRole('button', { name: 'Colour-blind-safe palette' });
  await button.click();
  await until(colour, (now) => now !== own, 'another colour');
  await button.click();
  await until(colour, own, 'its own colour');
  assert.deepEqual(troubles, []);
});
