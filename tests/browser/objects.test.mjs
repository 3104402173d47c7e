// SPDX-License-Identifier: Apache-2.0
// Objects with their snapshots, and memory dumps.
import { strict as assert } from 'node:assert';
import { openPage, place, ready, rested, until } from './browser.mjs';
import { showFile } from './files.mjs';
import { before, test } from './suite.mjs';

const of = (ph, name, id, ts, more = {}) => ({
  ph,
  name,
  id,
  ts,
  cat: 'obj',
  pid: 1,
  tid: 1,
  ...more,
});
const snapshot = (value) => ({ args: { snapshot: value } });
const dump = (pid, ts, allocators) => ({
  ...{ ph: 'v', name: 'dump', cat: 'mem', pid, ts, id: '0xd' },
  args: {
    dumps: { level_of_detail: 'light', process_totals: { resident_set_bytes: '400' }, allocators },
  },
});
const bytes = (value) => ({ attrs: { size: { type: 'scalar', units: 'bytes', value } } });

/** One pixel as PNG. */
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** From 0 to 1000 us; 1.5 % beside it are in view as well. */
const EVENTS = [
  { ph: 'M', name: 'process_name', pid: 1, args: { name: 'Browser' } },
  { ph: 'M', name: 'process_name', pid: 2, args: { name: 'Renderer' } },
  { ph: 'X', name: 'task', cat: 'a', pid: 1, tid: 1, ts: 0, dur: 1000 },
  {
    ph: 'X',
    name: 'uses',
    cat: 'a',
    pid: 1,
    tid: 1,
    ts: 600,
    dur: 100,
    args: { it: { id_ref: '0x1' } },
  },
  // what it ran in: an object, and an id that means none
  { ph: '(', name: 'Tree', id: '0x1', pid: 1, tid: 1, ts: 590 },
  { ph: '(', name: 'Request', id: '0x51', pid: 1, tid: 1, ts: 595 },
  { ph: ')', name: 'Request', id: '0x51', pid: 1, tid: 1, ts: 710 },
  { ph: ')', name: 'Tree', id: '0x1', pid: 1, tid: 1, ts: 720 },
  { ph: 'X', name: 'draw', cat: 'a', pid: 2, tid: 2, ts: 0, dur: 10 },
  of('N', 'Tree', '0x1', 100),
  of(
    'O',
    'Tree',
    '0x1',
    200,
    snapshot({
      ...{ size: 1, leaf: { green: true }, next: { id_ref: '0x3' } },
      other: { id_ref: '0x1', pid_ref: 2 },
    }),
  ),
  of('O', 'Tree', '0x1', 500, snapshot({ size: 2 })),
  of('D', 'Tree', '0x1', 900),
  of('O', 'Seed', '0x3', 150, snapshot({ small: 'yes' })),
  of('N', 'Tree', '0x2', 400),
  of('D', 'Tree', '0x2', 800),
  of('O', 'Screenshot', '0x9', 700, snapshot(PICTURE)),
  of('O', 'Screenshot', '0x9', 950, snapshot("x' onerror='alert(1)")),
  of('O', 'Windows', '0x1', 960, { ...snapshot({ size: 'elsewhere' }), pid: 2, tid: 2 }),
  dump(1, 300, { malloc: bytes('100'), 'malloc/heap': bytes('80') }),
  dump(2, 310, { malloc: bytes('200') }),
];

let opened;
let page;

before(async () => {
  opened = await showFile('objects.json', { traceEvents: EVENTS });
  page = opened.page;
});

const details = () => page.locator('.details.beside');

const topOf = (text) =>
  page
    .locator('.label', { hasText: text })
    .first()
    .evaluate((e) => parseFloat(e.style.top));

/** Press at a time in us, some pixels under the top of a row. */
async function clickAt(time, label, under) {
  const canvas = await page.locator('.list-view').boundingBox();
  const x = canvas.x + ((time / 1000 + 0.015) / 1.03) * canvas.width;
  await page.mouse.click(x, canvas.y + (await topOf(label)) + under);
}

const words = async () => (await details().innerText()).replace(/\s+/g, ' ');

/** The answers for the rows are there when something is found under the pointer. */
async function select(time, label, under, expected) {
  await until(
    async () => {
      await clickAt(time, label, under);
      await rested(page);
      return words();
    },
    (text) => expected.test(text),
    `what is selected at ${time}`,
  );
}

test('each type of objects has a row', async () => {
  await until(
    async () => (await page.locator('.label .name').allInnerTexts()).join(),
    (text) => text.startsWith('(task),Memory dumps,Screenshot,Seed,Tree,'),
    'the rows',
  );
  assert.match(
    await page.locator('.label', { hasText: 'Tree' }).getAttribute('title'),
    /2 objects, 2 snapshots/,
  );
});

test('a snapshot shows its tree and links to its neighbours', async () => {
  // The block from 200 to 500 us is the first snapshot.
  await select(350, 'Tree', 8, /Snapshot 1 of 2/);
  assert.match(await words(), /Tree 0x1 .*Taken 0\.200 ms Holds until 0\.500 ms/);
  assert.match(await words(), /size 1 leaf \{1\} green true/);
  await until(async () => (await place(page)).mark, 'snapshot.0', 'the address');
  await details().getByText('next ›').click();
  await until(words, (text) => /Snapshot 2 of 2/.test(text) && /size 2/.test(text), 'the next');
  await details().getByText('the object').click();
  await until(words, (text) => /Created 0\.100 ms Deleted 0\.900 ms Lived 0\.800/.test(text), 'it');
  await details().getByText('First snapshot').click();
  await until(words, (text) => /Snapshot 1 of 2/.test(text), 'its first snapshot');
});

test('an id in a snapshot links to its object', async () => {
  await select(350, 'Tree', 8, /Snapshot 1 of 2/);
  await details().locator('.value-tree button', { hasText: '0x3' }).click();
  await until(words, (text) => /Seed 0x3 .*small yes/.test(text), 'the other object');
});

test('an id of another process links there', async () => {
  await select(350, 'Tree', 8, /Snapshot 1 of 2/);
  const other = details().locator('.value-tree li', { hasText: 'other' }).last();
  await other.locator('button', { hasText: '0x1' }).click();
  await until(words, (text) => /size elsewhere/.test(text), 'the object of process 2');
});

test('before its first snapshot an object is pale and can be selected', async () => {
  await select(150, 'Tree', 8, /Snapshots 2/);
  // 0x2 lives at the same time, so that it stands in the second lane.
  await select(600, 'Tree', 8 + 18, /Tree 0x2 .*Snapshots none/);
});

test('an event links to the snapshot that it refers to', async () => {
  await page.locator('.profile .row.method', { hasText: 'uses' }).click();
  await details().getByText('First slice').click();
  await until(words, (text) => /Objects it refers to 0x1/.test(text), 'the reference');
  await details().locator('.references button').click();
  // Taken at 500 us, the one that holds at 600.
  await until(words, (text) => /Snapshot 2 of 2/.test(text), 'the snapshot');
});

test('a context links to its object and its time', async () => {
  await page.locator('.profile .row.method', { hasText: 'uses' }).click();
  await details().getByText('First slice').click();
  const lines = details().locator('.contexts tr');
  await until(() => lines.count(), 2, 'the contexts');
  assert.equal(
    await lines.filter({ hasText: 'Request' }).getByText('0x51').locator('button').count(),
    0,
  );
  await lines.filter({ hasText: 'Tree' }).getByText('0.590 ms to 0.720 ms').click();
  await until(async () => (await place(page)).range, '590000-720000', 'the range');
  await page.keyboard.press('Escape');
  await lines.filter({ hasText: 'Tree' }).getByRole('button', { name: '0x1' }).click();
  // Taken at 500 us, the one that holds at 600.
  await until(words, (text) => /Snapshot 2 of 2/.test(text), 'the snapshot');
});

test('a link to an object opens it', async () => {
  const other = await openPage(`${opened.address}#mark=object.2`);
  await ready(other.page);
  const text = () => other.page.locator('.details.beside').innerText();
  await until(text, (found) => /0x2/.test(found), 'the object of the link');
  assert.deepEqual(other.troubles, []);
  await other.close();
});

test('a screenshot is shown as a picture, other text as text', async () => {
  await select(700, 'Screenshot', 8, /Snapshot 1 of 2/);
  const picture = details().getByRole('img', { name: 'Screenshot' });
  // The page's content policy lets it in, and it can be decoded.
  await until(() => picture.evaluate((img) => img.complete && img.naturalWidth), 1, 'the picture');
  await select(950, 'Screenshot', 8, /Snapshot 2 of 2/);
  assert.match(await words(), /onerror='alert/);
  assert.equal(await picture.count(), 0);
});

test('a memory dump is a table of processes and allocators', async () => {
  await select(300, 'Memory dumps', 11, /Memory dump Process 1 Browser/);
  const text = await words();
  // 0x400, 0x100 and 0x80 bytes
  assert.match(text, /Level of detail light/);
  assert.match(text, /Processes of this dump resident set 1 Browser 1\.0 KiB 2 Renderer 1\.0 KiB/);
  const rows = await details().locator('table.memory').last().locator('tbody tr').allInnerTexts();
  assert.match(rows[0], /^malloc\s+256 bytes/);
  assert.ok(
    rows.some((row) => /^heap\s+128 bytes/.test(row)),
    rows.join(),
  );
  await details().getByText('2 Renderer').click();
  await until(words, (found) => /Process 2 Renderer/.test(found), 'the other process');
});

test('no errors were reported', () => assert.deepEqual(opened.troubles, []));
