// SPDX-License-Identifier: Apache-2.0
// The picture that `traceview flamegraph` writes, in a real browser: search, zoom, keyboard, light
// and dark.  The trace is the nine events of tests/golden/data: run 100 us holds go 30 holds leaf 10,
// loop 90 on another thread; all together 190.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openPage, until } from './browser.mjs';
import { test } from './suite.mjs';

const golden = join(dirname(fileURLToPath(import.meta.url)), '../golden');

/** The SVG of a trace in the assembler's language. */
function draw(text, ...options) {
  const folder = mkdtempSync(join(tmpdir(), 'flamegraph-'));
  try {
    const trace = join(folder, 'nine.trace');
    writeFileSync(trace, execFileSync(join(golden, 'assemble'), { input: text }));
    return execFileSync(process.env.TRACEVIEW, ['flamegraph', ...options, trace], {
      encoding: 'utf8',
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const nine = () => readFileSync(join(golden, 'data/nine.txt'), 'utf8');

/** What `traceview diff` writes: main with parse, 10 us and then 12, and old 4 us or fresh 2. */
function compare(format) {
  const folder = mkdtempSync(join(tmpdir(), 'flamegraph-'));
  const slice = (name, ts, dur) => ({ ph: 'X', pid: 1, tid: 1, name, ts, dur });
  const write = (name, ...slices) => {
    writeFileSync(join(folder, name), JSON.stringify([slice('main', 0, 24), ...slices]));
    return join(folder, name);
  };
  try {
    const base = write('a.json', slice('parse', 0, 10), slice('old', 10, 4));
    const fresh = write('b.json', slice('parse', 0, 12), slice('fresh', 12, 2));
    return execFileSync(process.env.TRACEVIEW, ['diff', base, fresh, '--format', format], {
      encoding: 'utf8',
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function onPicture(text, body, options, type = 'image/svg+xml') {
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/picture' ? 200 : 204, { 'Content-Type': type });
    response.end(request.url === '/picture' ? text : '');
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  server.unref(); // a test that fails does not close it
  const address = `http://127.0.0.1:${server.address().port}/picture`;
  const { page, troubles, close } = await openPage(address, options);
  try {
    await page.waitForSelector('#bar input');
    await body(page);
    assert.deepEqual(troubles, []);
  } finally {
    await close();
    server.closeAllConnections();
    server.close();
  }
}

/** What the page shows of the frames: name, label and width of those that are not hidden. */
const frames = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('#frames > g:not(.hidden)')].map((g) => ({
      name: g.querySelector('title').textContent.split('\n')[0],
      label: g.querySelector('text').textContent,
      text: g.querySelector('text').getComputedTextLength(),
      width: Number(g.querySelector('rect').getAttribute('width')),
      above: g.classList.contains('above'),
      hit: g.classList.contains('hit'),
    })),
  );
const widthOf = async (page, name) => (await frames(page)).find((f) => f.name === name)?.width;
const found = (page) => page.locator('#bar span').textContent();
const details = (page) => page.locator('#details').textContent();

test('search shows the matched share of the graph and counts nested matches once', async () => {
  await onPicture(draw(nine()), async (page) => {
    await page.keyboard.press('/');
    await page.keyboard.type('LEAF');
    assert.equal(await found(page), '1 found, 5.3%'); // 10 of 190
    await page.locator('#bar input').fill('/run|go|leaf/');
    assert.equal(await found(page), '3 found, 52.6%'); // 100 of 190
    assert.deepEqual(
      (await frames(page)).filter((f) => f.hit).map((f) => f.name),
      ['com.ex.A.run', 'com.ex.B.go', 'com.ex.C.leaf'],
    );
    await page.keyboard.press('Enter');
    assert.match(await details(page), /^com\.ex\.A\.run {3}100 us, 52\.6%, self 70 us, 1 call$/);
    await page.keyboard.press('Escape');
    assert.equal(await found(page), '');
    assert.equal((await frames(page)).filter((f) => f.hit).length, 0);
  });
});

test('a click zooms, keeps the callers, and shows shares of the zoomed frame', async () => {
  await onPicture(draw(nine()), async (page) => {
    const full = await widthOf(page, 'all');
    await page.locator('#frames > g', { hasText: 'com.ex.B.go' }).first().click();
    await until(() => widthOf(page, 'com.ex.B.go'), full, 'the zoomed frame fills the picture');
    assert.deepEqual(
      (await frames(page)).map((f) => [f.name, f.above]),
      [
        ['all', true],
        ['com.ex.A.run', true],
        ['com.ex.B.go', false],
        ['com.ex.C.leaf', false],
      ],
    );
    assert.ok(Math.abs((await widthOf(page, 'com.ex.C.leaf')) / full - 1 / 3) < 0.002);
    await page.keyboard.press('ArrowUp');
    assert.match(await details(page), /^com\.ex\.C\.leaf .*, 33\.3% of com\.ex\.B\.go$/);
    await page.getByRole('button', { name: 'Reset zoom' }).click();
    assert.equal((await frames(page)).length, 5);
  });
});

test('labels fit their frames in wide and narrow windows', async () => {
  for (const width of [1600, 700, 500]) {
    await onPicture(
      draw(nine()),
      async (page) => {
        const shown = await frames(page);
        for (const { label, text, width: room } of shown) assert.ok(text <= room, label);
        assert.ok(shown.some((f) => f.label === 'com.ex.D.loop'));
        assert.ok(shown[0].width <= width);
      },
      { viewport: { width, height: 600 } },
    );
  }
});

test('hostile names stay text, and dark colours follow the system', async () => {
  const evil = '</title><script>document.documentElement.id="owned"</script>&amp;]]>';
  const svg = draw(nine().replaceAll('com.ex.D', evil), '--title', evil);
  await onPicture(
    svg,
    async (page) => {
      assert.equal(await page.locator('svg#owned').count(), 0);
      assert.equal(await page.locator('#title').textContent(), evil);
      const inDots = `${evil.replaceAll('/', '.')}.loop`; // as class names are written
      assert.ok((await frames(page)).some((f) => f.name === inDots));
      const paper = () =>
        page.evaluate(() => getComputedStyle(document.querySelector('#paper')).fill);
      assert.equal(await paper(), 'rgb(19, 21, 25)');
      await page.getByRole('button', { name: 'Light / dark' }).click();
      assert.equal(await paper(), 'rgb(255, 255, 255)');
    },
    { colorScheme: 'dark' },
  );
});

test('inverted, the methods that used the time are below "all" and their callers below them', async () => {
  await onPicture(draw(nine(), '--inverted'), async (page) => {
    const places = await page.evaluate(() =>
      [...document.querySelectorAll('#frames > g')].map((g) => [
        g.querySelector('title').textContent.split('\n')[0],
        Number(g.querySelector('rect').getAttribute('y')),
      ]),
    );
    const top = places[0][1];
    assert.equal(places[0][0], 'all');
    assert.ok(places.slice(1).every(([, y]) => y > top));
    await page.locator('#frames > g', { hasText: 'com.ex.C.leaf' }).first().click();
    await page.keyboard.press('ArrowDown');
    assert.match(await details(page), /^com\.ex\.B\.go {3}10 us/);
  });
});

test('a differential flame graph marks frames that only one side has', async () => {
  await onPicture(compare('svg'), async (page) => {
    const labels = (await frames(page)).map((f) => f.label);
    assert.deepEqual(labels, ['all', 'main', '+ fresh', '- old', 'parse']);
    await page.locator('#frames > g', { hasText: 'parse' }).last().hover();
    assert.match(
      await details(page),
      /^parse {3}self 0\.010 ms -> 0\.012 ms \(\+20\.0 %\); with callees 0\.010 ms -> 0\.012 ms$/,
    );
  });
});

test('the page of a comparison filters and sorts its table', async () => {
  const names = (page) =>
    page.evaluate(() =>
      [
        ...document.querySelectorAll('#rows > tbody > tr:not([hidden]) > td:last-child summary'),
      ].map((cell) => cell.textContent.trim()),
    );
  const body = async (page) => {
    const whole = await names(page);
    assert.deepEqual([...whole].sort(), ['fresh', 'main', 'old', 'parse']);
    await page.getByRole('button', { name: 'New' }).click();
    assert.deepEqual(await names(page), ['parse', 'main', 'fresh', 'old']);
    await page.getByRole('button', { name: 'New' }).click();
    assert.deepEqual(await names(page), ['old', 'fresh', 'main', 'parse']);
    await page.getByRole('button', { name: 'New' }).click();
    assert.deepEqual(await names(page), whole);
    await page.getByRole('searchbox', { name: 'Filter by name' }).fill('MAI');
    assert.deepEqual(await names(page), ['main']);
    assert.equal((await frames(page)).length, 5); // and the flame graph is in the page
    await page.getByText('main', { exact: true }).last().click();
    assert.match(
      await page.locator('.calls:visible').innerText(),
      /Longest\s+24\.000 µs\s+24\.000 µs[^]*Slowest calls: new\s+24\.000 µs at 0\.000 ms/,
    );
    await page.getByRole('searchbox', { name: 'Filter by name' }).fill('slowest');
    assert.deepEqual(await names(page), []); // the filter is about names alone
  };
  await onPicture(compare('html'), body, undefined, 'text/html');
});
