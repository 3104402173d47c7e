// SPDX-License-Identifier: Apache-2.0
// The line that filters everything: what it leaves equals the command line's, what is selected stays,
// Back and one click clear it, a wrong one says where.
import { strict as assert } from 'node:assert';
import { ms, rested, tableLines, until } from './browser.mjs';
import { showFile } from './files.mjs';
import { before, test } from './suite.mjs';
import { json } from './program.mjs';

const slice = (tid, name, ts, dur, args) => ({
  ...{ ph: 'X', pid: 1, tid, name, cat: name === 'draw' ? 'gpu' : 'app', ts, dur },
  ...(args ? { args } : {}),
});
const EVENTS = [
  { ph: 'M', name: 'thread_name', pid: 1, tid: 1, args: { name: 'main' } },
  { ph: 'M', name: 'thread_name', pid: 1, tid: 2, args: { name: 'io' } },
  slice(1, 'frame', 0, 10000),
  slice(1, 'access$1', 1000, 6000),
  slice(1, 'draw', 2000, 4000),
  slice(1, 'frame', 20000, 1000),
  slice(2, 'load', 0, 5000, { url: 'https://x/img/1' }),
  slice(2, 'load', 6000, 500, { url: 'https://x/css' }),
  { ph: 'i', s: 't', pid: 1, tid: 2, name: 'mark', ts: 300 },
];

let opened;
let page;

before(async () => {
  opened = await showFile('filter.json', EVENTS);
  page = opened.page;
});

const box = () => page.getByRole('textbox', { name: 'Filter events' });
const share = () => page.locator('.filter-place .share').textContent();
const hash = () => new URLSearchParams(new URL(page.url()).hash.slice(1));
const tracks = () => page.locator('.label .name').allTextContents();

async function filter(text, words) {
  await box().fill(text);
  await until(share, (now) => now === words, `the share "${words}"`);
}

async function assertTableIs(text) {
  const rows = json('profile', '--format', 'json', '--filter', text, opened.file);
  await until(
    async () => (await tableLines(page)).filter((line) => line.kind === 'method').length,
    (count) => count === rows.length,
    `${rows.length} lines`,
  );
  const lines = (await tableLines(page)).filter((line) => line.kind === 'method');
  const figures = (list) => list.sort((a, b) => (a[0] < b[0] ? -1 : 1));
  assert.deepEqual(
    figures(lines.map((l) => [l.cells.incl_real, l.cells.excl_real])),
    figures(rows.map((m) => [ms(m.incl_real_ns), ms(m.excl_real_ns)])),
  );
}

for (const [text, words] of [
  ['thread:main', '4 of 6 slices'],
  ['-name:access$', '5 of 6 slices'],
  ['dur>=4ms', '4 of 6 slices'],
  ['cat:gpu', '1 of 6 slices'],
  ['arg.url:*img*', '1 of 6 slices'],
  ['thread:main -name:access$ dur>2ms cat:gpu', '1 of 6 slices'],
  ['nothing', '0 of 6 slices'],
])
  test(`${text} keeps what the command keeps`, async () => {
    await filter(text, words);
    await until(hash, (now) => now.get('filter') === text, 'the filter in the address');
    if (!words.startsWith('0')) await assertTableIs(text);
  });

test('the time line shows the matching slices, and the cross shows all again', async () => {
  await filter('thread:io', '2 of 6 slices');
  assert.match((await tracks()).join(), /io/);
  assert.doesNotMatch((await tracks()).join(), /main/);
  await page.getByRole('button', { name: 'Clear the filter' }).click();
  await until(share, (now) => now === '', 'no share');
  assert.match((await tracks()).join(), /main/);
  assert.equal(await box().inputValue(), '');
  assert.ok(await box().evaluate((e) => e === document.activeElement), 'the box has the keyboard');
});

test('a filter without matches says so, and one click restores what was open', async () => {
  const levels = () =>
    page.evaluate(() =>
      [...document.querySelectorAll('.label')].map((label) => {
        const twist = label.querySelector('.twist');
        return `${label.querySelector('.name').textContent} ${twist.getAttribute('aria-expanded')}`;
      }),
    );
  await page.getByRole('button', { name: /Levels of .*io/ }).click();
  const opened = (await levels()).join();
  await filter('thread:main', '4 of 6 slices');
  await filter('nothing', '0 of 6 slices');
  assert.equal(await page.locator('.readout .name').innerText(), 'No slice matches the filter.');
  const table = page.locator('.profile');
  await table.getByText('No slice matches the filter.').waitFor();
  await table.getByRole('button', { name: 'Clear the filter' }).click();
  await until(share, (now) => now === '', 'all of the trace');
  assert.equal(await box().inputValue(), '');
  assert.equal((await levels()).join(), opened);
});

test('the selected slice stays selected when a filter changes its index', async () => {
  await page.goto(`${opened.address}#call=2.0`);
  await page.reload();
  const details = page.locator('.details.beside');
  await details.getByText('draw').first().waitFor();
  await filter('name:draw', '1 of 6 slices');
  await until(hash, (now) => now.get('call') === '0.0', 'draw at depth 0');
  await details.getByText('draw').first().waitFor();
  await filter('name:draw|frame', '3 of 6 slices');
  await until(hash, (now) => now.get('call') === '1.0', 'draw below frame');
  await filter('name:frame', '2 of 6 slices');
  await until(hash, (now) => now.get('call') === null, 'nothing selected');
});

test('what is typed while the answer to a filter arrives goes on in the same box', async () => {
  await filter('', '');
  let answer;
  let arrives;
  const caught = new Promise((done) => (arrives = done));
  await page.route(/api\/trace\?.*filter=./, (route) => {
    answer = () => route.continue();
    arrives();
  });
  await box().fill('thread:main');
  await caught;
  const search = page.getByRole('textbox', { name: 'Search names and arguments' });
  await search.focus();
  await page.keyboard.type('drw');
  await page.keyboard.press('ArrowLeft');
  await answer();
  await until(share, (now) => now === '4 of 6 slices', 'the filter');
  await page.keyboard.type('a');
  assert.equal(await search.inputValue(), 'draw');
  await page.unroute(/api\/trace\?.*filter=./);
  // A place without a search has none, whatever stood in the box.
  await page.evaluate(() => (location.hash = 'filter=thread%3Aio'));
  await until(share, (now) => now === '2 of 6 slices', 'the filter of the place');
  assert.equal(await search.inputValue(), '');
});

test('Back undoes a filter, Forward brings it back', async () => {
  await page.goto(opened.address);
  await page.reload();
  await box().waitFor();
  await filter('thread:io', '2 of 6 slices');
  await until(hash, (now) => now.get('filter') === 'thread:io', 'the filter in the address');
  await page.goBack();
  await until(share, (now) => now === '', 'no filter');
  assert.equal(await box().inputValue(), '');
  await page.goForward();
  await until(share, (now) => now === '2 of 6 slices', 'the filter');
  assert.equal(await box().inputValue(), 'thread:io');
  await box().blur();
  await rested(page);
  await page.keyboard.press('Control+z');
  await until(share, (now) => now === '', 'no filter');
});

test('a link with a filter opens with it; the keyboard finds the box', async () => {
  await page.goto(`${opened.address}#filter=dur%3E%3D5ms`);
  await page.reload();
  await until(share, (now) => now === '3 of 6 slices', 'the filter');
  await rested(page);
  await page.keyboard.press('Control+Shift+F');
  await until(() => box().evaluate((e) => e === document.activeElement), true, 'the focus');
  await page.keyboard.press('Escape');
  await until(share, (now) => now === '', 'no filter');
});

test('an invalid filter shows where the error is and changes nothing', async () => {
  await filter('thread:main', '4 of 6 slices');
  await box().fill('thread:main dur>x');
  await box().press('Enter');
  const fault = page.locator('.filter-fault');
  await fault.getByText('column 17').waitFor();
  const asked = [];
  const listen = (request) => /filter=.*dur/.test(request.url()) && asked.push(request.url());
  page.on('request', listen);
  assert.equal(await fault.locator('mark').textContent(), 'x');
  assert.equal(await box().getAttribute('aria-invalid'), 'true');
  assert.doesNotMatch((await tracks()).join(), /io/);
  // A filter that was answered is not asked again when the hand has rested.
  await rested(page);
  page.off('request', listen);
  assert.deepEqual(asked, []);
  await filter('thread:main dur>5ms', '2 of 6 slices');
  assert.ok(await fault.isHidden());
  // The browser tells of the one answer that was an error.
  const troubles = opened.troubles.filter((text) => !/status of 400/.test(text));
  assert.deepEqual(troubles, []);
});

test('each key acts once after the page was rendered several times', async () => {
  await page.goto(opened.address);
  await page.reload();
  await box().waitFor();
  for (const text of ['load', 'frame', '']) await filter(text, text === '' ? '' : '2 of 6 slices');
  await box().blur();
  const help = page.getByRole('dialog');
  await page.keyboard.press('?');
  await help.first().waitFor();
  assert.equal(await help.count(), 1);
});
