// SPDX-License-Identifier: Apache-2.0
// The time line and the flame graph saved as pictures, and what stands in them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { browser, openPage, ready, rested } from './browser.mjs';
import { showFile } from './files.mjs';
import { test } from './suite.mjs';
import { example, view } from './program.mjs';

const HOSTILE = '</text><script>window.broken = 1</script>&amp;\u0001"\'';

/** A thread of six slices: 100 us each, one with a name that is markup, one inside another. */
const EVENTS = [
  { ph: 'M', name: 'thread_name', pid: 1, tid: 7, args: { name: `<b>${HOSTILE}` } },
  ...['alpha', 'beta', 'gamma', 'delta', HOSTILE].map((name, i) => ({
    ...{ ph: 'X', name, pid: 1, tid: 7, ts: i * 200, dur: 100 },
  })),
  { ph: 'X', name: 'inner', pid: 1, tid: 7, ts: 10, dur: 80 },
];

/** Saves by the menu, as a person does; the file. */
async function save(page, name) {
  await page.keyboard.press('Control+s');
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name }).click(),
  ]);
  return { path: await file.path(), name: file.suggestedFilename() };
}

/** What a reader of the file finds, by a parser that forgives nothing. */
async function parse(text) {
  const page = await (await browser()).newPage();
  const found = await page.evaluate((source) => {
    const file = new DOMParser().parseFromString(source, 'image/svg+xml');
    const all = (what) => [...file.querySelectorAll(what)];
    const number = (of, name) => Number(of.getAttribute(name));
    return {
      root: file.documentElement.nodeName,
      errors: all('parsererror').length,
      title: file.querySelector('title')?.textContent,
      names: [...new Set(all('*').map((e) => e.nodeName))].sort(),
      outside: all('*').flatMap((e) =>
        [...e.attributes].filter(
          ({ name, value }) => /^on|href|src/.test(name) || /url\((?!#)/.test(value),
        ),
      ).length,
      texts: all('text').map((e) => e.textContent),
      rects: all('rect').map((e) => ({
        ...{ x: number(e, 'x'), width: number(e, 'width'), height: number(e, 'height') },
        fill: e.getAttribute('fill'),
      })),
    };
  }, text);
  await page.close();
  return found;
}

for (const scheme of ['light', 'dark'])
  test(`the time line as SVG has every bar and name, ${scheme}`, async () => {
    const { page, troubles } = await showFile('server.json', EVENTS, {
      hash: '#view=0-800000&range=200000-500000&note=400000-600000~a note <i>',
      options: { colorScheme: scheme },
    });
    await rested(page);
    const file = await save(page, 'Time line, shapes');
    assert.equal(file.name, 'server-part.svg');
    const text = readFileSync(file.path, 'utf8');
    const found = await parse(text);
    assert.equal(found.root, 'svg');
    assert.equal(found.errors, 0);
    assert.equal(found.outside, 0, 'nothing is loaded and nothing runs');
    assert(!found.names.some((name) => ['script', 'image', 'foreignObject', 'a'].includes(name)));
    assert.match(found.title, /^server\.json\. Time line, 0\.000 ms to 0\.800 ms, 0\.800 ms/);
    assert.match(found.title, /Selected: 0\.200 ms to 0\.500 ms, 0\.300 ms/);
    for (const name of ['alpha', 'beta', 'gamma', 'delta', 'inner', 'a note <i>', 'server.json'])
      assert(found.texts.includes(name), `${name} in ${found.texts}`);
    // An eighth of the width for 100 us, a tenth for the 80 us inside; the last ends outside.
    const width = (await page.locator('.list-view').boundingBox()).width;
    const bars = found.rects.filter((r) => r.height === 17 && r.width > 20);
    assert.equal(bars.length, 5);
    const wide = bars.map((b) => b.width).sort((a, b) => a - b);
    assert(Math.abs(wide[0] - width * 0.1) <= 1 && Math.abs(wide[1] - width / 8) <= 1, wide);
    assert.equal(new Set(bars.map((b) => b.fill)).size > 2, true);
    // It stands by itself.
    const alone = await (await browser()).newPage();
    const loaded = [];
    alone.on('request', (request) => loaded.push(request.url()));
    await alone.route('**/picture.svg', (route) =>
      route.fulfill({ contentType: 'image/svg+xml', body: text }),
    );
    await alone.goto('http://127.0.0.1/picture.svg');
    const said = await alone.evaluate(() => [
      document.documentElement.nodeName,
      document.querySelectorAll('text').length,
      window.broken ?? null,
    ]);
    assert.deepEqual(said, ['svg', found.texts.length, null]);
    assert.equal(loaded.filter((url) => !/picture\.svg|favicon/.test(url)).length, 0);
    await alone.close();
    assert.deepEqual(troubles, []);
  });

test('the time line as PNG has two pixels for each of the screen', async () => {
  const { page, troubles } = await showFile('server.json', EVENTS, { hash: '#view=0-800000' });
  await rested(page);
  const file = await save(page, 'Time line, pixels');
  assert.equal(file.name, 'server.png');
  const found = await page.evaluate(async (data) => {
    const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const g = new OffscreenCanvas(image.width, image.height).getContext('2d');
    g.drawImage(image, 0, 0);
    const pixels = new Uint32Array(g.getImageData(0, 0, image.width, image.height).data.buffer);
    return { width: image.width, height: image.height, colours: new Set(pixels).size };
  }, readFileSync(file.path).toString('base64'));
  const tracks = await page.evaluate(() => document.querySelector('#tracks').clientWidth);
  assert.equal(found.width, 2 * tracks);
  assert(found.height > 2 * 100 && found.colours > 20, JSON.stringify(found));
  assert.deepEqual(troubles, []);
});

test('the flame graph is offered while it is shown, with its frames and shares', async () => {
  const viewer = await view(example());
  const opened = await openPage(viewer.address);
  const { page, troubles } = opened;
  await ready(page);
  const offered = async () => {
    await page.keyboard.press('Control+s');
    const names = await page.getByRole('menuitem').allTextContents();
    await page.keyboard.press('Escape');
    return names.filter((name) => /Flame/.test(name)).length;
  };
  assert.equal(await offered(), 0);
  await page.getByRole('tab', { name: 'Flame' }).click();
  await rested(page);
  assert.equal(await offered(), 2);
  const file = await save(page, 'Flame graph, shapes');
  assert.equal(file.name, 'example.flame.svg');
  const found = await parse(readFileSync(file.path, 'utf8'));
  assert.equal(found.errors, 0);
  assert.match(found.title, /^example\.trace\. Flame graph, left heavy\. real time/);
  assert(found.texts.some((text) => /^All threads {3}[\d,.]+ ms {3}100\.0 %$/.test(text)));
  // The first row are roots of all threads: together they are as wide as the time that is told.
  const canvas = (await page.locator('.flame canvas').boundingBox()).width;
  const roots = found.texts.filter((text) => / {2}\d+\.\d %$/.test(text));
  assert(roots.length > 3, roots.join());
  assert(found.rects.every((r) => r.width <= canvas + 0.5));
  await opened.close();
  await viewer.stop();
  assert.deepEqual(troubles, []);
});
