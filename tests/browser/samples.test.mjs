// SPDX-License-Identifier: Apache-2.0
// Samples as marks and as a flame graph.
import { strict as assert } from 'node:assert';
import { place, rested, until } from './browser.mjs';
import { showFile } from './files.mjs';
import { before, test } from './suite.mjs';
import { json } from './program.mjs';

const FRAMES = {
  1: { name: 'main' },
  2: { name: 'work', parent: 1 },
  3: { name: 'rest', parent: 1 },
};
const sample = (ts, sf, weight) => ({ cpu: 0, tid: 1, ts, name: 'tick', sf, weight });
/** Work 300 us and rest 100; one more weighs much. */
const SAMPLES = [sample(100, 2, 1), sample(200, 2, 1), sample(300, 2, 1), sample(400, 3, 27)];

const EVENTS = [{ ph: 'X', name: 'task', pid: 1, tid: 1, ts: 0, dur: 1000 }];
const LONE = [{ ph: 'M', name: 'thread_name', pid: 1, tid: 1, args: { name: 'worker' } }];

let page;
let troubles;

before(async () => {
  const content = { traceEvents: EVENTS, stackFrames: FRAMES, samples: SAMPLES };
  ({ page, troubles } = await showFile('both.json', content));
});

const details = () => page.locator('.details.beside');
const words = async () => (await details().innerText()).replace(/\s+/g, ' ');

test('a thread with samples has a row of them, and each shows its stack', async () => {
  const row = page.locator('.label', { hasText: 'samples' });
  assert.match(await row.getAttribute('title'), /^4 samples of/);
  const top = await row.evaluate((e) => parseFloat(e.style.top));
  const canvas = await page.locator('.list-view').boundingBox();
  await until(
    async () => {
      const x = canvas.x + ((0.4 + 0.015) / 1.03) * canvas.width;
      await page.mouse.click(x, canvas.y + top + 10);
      await rested(page);
      return words();
    },
    (text) => /^rest/.test(text),
    'the sample',
  );
  assert.match(await words(), /Sample tick Time 0\.400 ms .*CPU 0 Weight 27/);
  assert.match(await words(), /Stack, 2 frames, the innermost first rest main/);
  await details().getByText('‹ previous').click();
  await until(words, (text) => /^work.*Time 0\.300 ms/.test(text), 'the one before');
});

test('stacks of samples open over time, and a click on a box selects its method', async () => {
  const button = page.getByRole('button', { name: /^Show the stacks of the samples of / });
  await button.click();
  await page.getByRole('button', { name: /^Hide the stacks/ }).waitFor();
  await rested(page);
  const row = page.locator('.label', { hasText: 'samples' });
  const [top, ticks, level] = await row.evaluate((e) => {
    const size = (name) =>
      parseFloat(getComputedStyle(document.documentElement).getPropertyValue(name));
    return [parseFloat(e.style.top), size('--h-collapsed'), size('--h-row')];
  });
  const canvas = await page.locator('.list-view').boundingBox();
  /** A point of the chart: a time in ms, and a level. */
  const point = (ms, at) => ({
    x: canvas.x + ((ms + 0.015) / 1.03) * canvas.width,
    y: canvas.y + top + ticks + (at + 0.5) * level,
  });
  const tip = async () =>
    (await page.locator('.tip').allInnerTexts()).join(' ').replace(/\s+/g, ' ');
  const rest = ({ x, y }) => page.mouse.move(x, y);
  // Work in 100, 200 and 300 us, rest in 400; the last one lasts one distance.
  await rest(point(0.35, 1));
  await until(tip, (text) => /^work samples 3 .*lasts about 0\.300 ms/.test(text), 'work');
  await rest(point(0.45, 0));
  await until(tip, (text) => /^main samples 4 .*lasts about 0\.400 ms/.test(text), 'main');
  const { x, y } = point(0.45, 1);
  await page.mouse.click(x, y);
  await until(words, (text) => /^rest/.test(text), 'the method');
  await page.getByRole('button', { name: /^Hide the stacks/ }).click();
});

/** What the flame graph says of the frame that the arrows stand on. */
async function walked(...keys) {
  await page.locator('.flame .scroller').focus();
  for (const key of keys) await page.keyboard.press(key);
  return await page.locator('.flame .about').innerText();
}

/** What stands there once a key has had its effect. */
async function below(expected, what) {
  await page.locator('.flame .scroller').focus();
  await page.keyboard.press('ArrowDown');
  const about = page.locator('.flame .about');
  await until(
    () => about.innerText(),
    (text) => expected.test(text),
    what,
  );
}

test('the flame graph shows slices or samples', async () => {
  await page.getByRole('tab', { name: 'Flame' }).click();
  const choice = page.getByLabel('Figure of the flame graph');
  assert.equal(await choice.inputValue(), 'calls');
  await choice.selectOption('count');
  await page.keyboard.press('Escape');
  await until(
    () => walked('ArrowUp', 'ArrowUp'),
    (text) => /^main inclusive 4 samples/.test(text),
    'main',
  );
  await below(/^work inclusive 3 samples,? 75\.0 %/, 'work');
  await until(async () => (await place(page)).samples, 'count', 'the address');
  await choice.selectOption('weight');
  await until(
    () => walked('ArrowUp', 'ArrowUp'),
    (text) => /^main inclusive 30 of weight/.test(text),
    'by weight',
  );
  await below(/^rest inclusive 27 of weight, 90\.0 %/, 'rest by weight');
  await choice.selectOption('time');
  // The last one counts as long as the one before it.
  await until(
    () => walked('ArrowUp', 'ArrowUp'),
    (text) => /^main inclusive 0\.400 ms/.test(text),
    'by time',
  );
  await below(/^work inclusive 0\.300 ms, 75\.0 %/, 'work by time');
});

test('samples can be shown in the order of time', async () => {
  const turns = [2, 3, 2, 2].map((sf, i) => sample(100 * (i + 1), sf, 1));
  const content = { traceEvents: EVENTS, stackFrames: FRAMES, samples: turns };
  const hash = '#tab=flame&samples=count';
  const waits = (p) => p.waitForSelector('#pane-flame canvas');
  const { page: shown, troubles: wrong } = await showFile('turns.json', content, { hash, waits });
  await shown.locator('.flame .scroller').focus();
  await shown.keyboard.press('1');
  await until(async () => (await place(shown)).flame, 'time', 'the address');
  const button = shown.getByRole('button', { name: /Time order/ });
  assert.equal(await button.getAttribute('aria-pressed'), 'true');
  const about = () => shown.locator('.flame .about').innerText();
  const keys = ['ArrowUp', 'ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowLeft'];
  const told = [];
  for (const key of keys) {
    await shown.keyboard.press(key);
    await rested(shown);
    told.push(
      (await about())
        .match(/^(\w+) inclusive (\d) sample/)
        ?.slice(1)
        .join(' '),
    );
  }
  // On main one sample of work, one of rest, and two of work that follow each other.
  assert.deepEqual(told.slice(1), ['main 4', 'work 2', 'rest 1', 'work 1']);
  assert.deepEqual(wrong, []);
});

test('a trace with only samples shows them at once', async () => {
  const lone = await showFile(
    'lone.json',
    { traceEvents: LONE, stackFrames: FRAMES, samples: SAMPLES },
    { waits: (page) => page.waitForSelector('.label .name') },
  );
  assert.deepEqual(await lone.page.locator('.label .name').allInnerTexts(), ['worker']);
  await lone.page.getByRole('tab', { name: 'Flame' }).click();
  const choice = lone.page.getByLabel('Figure of the flame graph');
  assert.equal(await choice.inputValue(), 'count');
  assert.equal(await choice.locator('option').count(), 3);
  assert.deepEqual(lone.troubles, []);
});

/** A field of a protocol buffer: a number, or bytes with their length. */
const varint = (n) => (n < 128 ? [n] : [(n % 128) | 128, ...varint(Math.floor(n / 128))]);
const field = (number, value) =>
  typeof value === 'number'
    ? [...varint(number * 8), ...varint(value)]
    : [...varint(number * 8 + 2), ...varint(value.length), ...value];

/** A pprof file: main calls load and save; each sample has a time and a number of bytes. */
function pprof() {
  const texts = ['', 'cpu', 'nanoseconds', 'alloc', 'bytes', 'main', 'load', 'save'];
  const type = (name, unit) => field(1, [...field(1, name), ...field(2, unit)]);
  const sample = (stack, ns, bytes) =>
    field(2, [...stack.flatMap((at) => field(1, at)), ...field(2, ns), ...field(2, bytes)]);
  const code = (id) => field(4, [...field(1, id), ...field(4, field(1, id))]);
  const name = (id) => field(5, [...field(1, id), ...field(2, 4 + id)]);
  return Uint8Array.from([
    ...[type(1, 2), type(3, 4)].flat(),
    ...[sample([2, 1], 3e6, 1_000_000), sample([3, 1], 1e6, 7_000_000)].flat(),
    ...[1, 2, 3].flatMap((id) => [...code(id), ...name(id)]),
    ...texts.flatMap((text) => field(6, Buffer.from(text))),
  ]);
}

test('the value type changes profile, trees and flame graph, and the address keeps it', async () => {
  const {
    page: shown,
    file,
    troubles: wrong,
  } = await showFile('two.pb', pprof(), {
    hash: '#tab=profile',
    waits: (p) => p.waitForSelector('.profile .row.method'),
  });
  /** Name, total and self of each line, as the page writes them. */
  const lines = () =>
    shown.locator('.profile .row.method').evaluateAll((rows) =>
      rows.map((row) => {
        const text = (column) => row.querySelector(`[data-column=${column}]`).textContent;
        const own = row.querySelector('.own').textContent;
        return [own, text('incl_real'), text('excl_real'), text('samples')].join(' ');
      }),
    );
  const told = (value, scale, digits = 3) =>
    json('profile', '--value', value, '--format', 'json', file)
      .sort((a, b) => b.total - a.total)
      .map(({ name, total, self, samples }) =>
        [name, (total / scale).toFixed(digits), (self / scale).toFixed(digits), samples].join(' '),
      );
  const menu = shown.locator('#pane-profile').getByLabel('Value type of samples');
  const choose = async (index, expected, what) => {
    await menu.selectOption({ index });
    await until(async () => (await lines()).join(', '), expected.join(', '), what);
  };
  assert.deepEqual(told('cpu', 1e6), [
    'main 4.000 0.000 2',
    'load 3.000 3.000 1',
    'save 1.000 1.000 1',
  ]);
  const times = told('cpu', 1e6).map((line) =>
    line.replace(/\d\.\d{3}/g, (ms) => (ms === '0.000' ? '0' : `${ms} ms`)),
  );
  // The last type is shown first, and not in the address.
  await choose(0, times, 'times');
  const chosen = await menu.inputValue();
  await until(async () => (await place(shown)).value, 'cpu', 'the address');
  await shown.reload();
  await shown.waitForSelector('.profile .row.method');
  await until(async () => (await lines()).join(', '), times.join(', '), 'again');
  assert.equal(await menu.inputValue(), chosen);
  await choose(1, told('alloc', 1024 ** 2, 2), 'bytes');
  assert.deepEqual(await shown.locator('.profile .head .column').allInnerTexts(), [
    ...['Name', '%', '▾ MiB', '%', 'MiB', 'count'],
  ]);
  await shown.getByRole('tab', { name: 'Flame' }).click();
  await until(
    async () => {
      await shown.locator('.flame .scroller').focus();
      for (const key of ['ArrowUp', 'ArrowUp']) await shown.keyboard.press(key);
      return await shown.locator('.flame .about').innerText();
    },
    (text) => /^main inclusive 7\.63 MiB, 100\.0 %/.test(text),
    'the flame graph',
  );
  await shown.getByRole('tab', { name: 'Bottom-up' }).click();
  const first = shown.locator('#pane-bottom-up .grid-row').first();
  await until(
    async () => (await first.innerText()).replace(/\s+/g, ' ').trim(),
    (text) => /^save 87\.5 6\.68 87\.5 6\.68 1$/.test(text),
    'the tree',
  );
  assert.deepEqual(wrong, []);
});

test('the axis of a heap profile is weight, not time', async () => {
  const node = (functionName, selfSize, children) => {
    const callFrame = { functionName, scriptId: '0', url: '', lineNumber: 0 };
    return { callFrame, selfSize, id: selfSize, children };
  };
  const head = node('main', 3 * 1024 ** 2, [node('load', 1024 ** 2, [])]);
  const heap = await showFile(
    'a.heapprofile',
    { head, samples: [] },
    { hash: '#tab=info&range=1048576-2097152', waits: (p) => p.waitForSelector('.info') },
  );
  const text = async (selector) => await heap.page.locator(selector).innerText();
  assert.match(await text('.overview .key'), /weight, not time: 4\.00 MiB/);
  assert.match(await text('.info'), /Axis\s+weight, not time: 4\.00 MiB long/);
  assert.match(await text('.info'), /This axis is weight, not time/);
  assert.match(await text('.scope-words'), /1\.00 to 2\.00 MiB/);
  const units = heap.page.getByLabel('Unit of weights').locator('option');
  assert.deepEqual(await units.allInnerTexts(), ['bytes', 'KiB', 'MiB', 'GiB']);
  assert.doesNotMatch(await text('body'), /\d (ns|µs|ms|s)\b/);
  assert.deepEqual(heap.troubles, []);
});

test('colours show the kinds of frames, with a legend of those in the trace', async () => {
  const { page: kinds, troubles: wrong } = await showFile(
    'a.folded',
    'main;run_[j];read_[k] 3\nmain;run_[j] 1\n',
    { hash: '#tab=flame', waits: (p) => p.waitForSelector('.flame canvas') },
  );
  const legend = kinds.locator('.flame .legend');
  assert(await legend.isHidden());
  await kinds.getByRole('button', { name: 'By kind' }).click();
  const entries = legend.locator('span');
  await until(
    () => entries.allInnerTexts(),
    (texts) => texts.join('; ') === 'Unknown; Kernel, with a line at the foot; JIT',
    'the legend',
  );
  assert.deepEqual(wrong, []);
});

test('no errors were reported', () => assert.deepEqual(troubles, []));
