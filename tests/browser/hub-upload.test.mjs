// SPDX-License-Identifier: Apache-2.0
// Uploads by the upload server's page, on a mock server that is slow, full, or breaks off.
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './browser.mjs';
import { onHub } from './hub-page.mjs';
import { after, test } from './suite.mjs';
import { id, made } from './mock-hub.mjs';

const folder = mkdtempSync(join(tmpdir(), 'hub-'));
after(() => rmSync(folder, { recursive: true }));

function fileOf(name, data) {
  const path = join(folder, name);
  writeFileSync(path, data);
  return path;
}

const PIECE = 8 * 1024 * 1024;
const small = fileOf('small.trace', randomBytes(3000));
const other = fileOf('other.json', randomBytes(2000));
const bigBytes = randomBytes(2 * PIECE + 1234);
const big = fileOf('big.trace', bigBytes);
const empty = fileOf('empty.trace', '');

const choose = (page, ...files) => page.locator('input[type=file]').setInputFiles(files);
const line = (page, name) => page.locator('.upload', { hasText: name });
const isPiece = ({ method }, { pathname }) =>
  method === 'PATCH' && pathname.startsWith('/api/uploads/');
const sent = (server) =>
  server.asked.filter((text) => /^(PATCH|HEAD|POST|DELETE) \/api\/up/.test(text));

test('hub: uploading one file opens its page', () =>
  onHub({}, '', async (page, { world, asked }) => {
    await page.waitForSelector('.drop-zone');
    await choose(page, small);
    await until(() => page.locator('h1').textContent(), 'small.trace', 'its page');
    assert.equal(world.arrived[0].length, 3000);
    assert.deepEqual(sent({ asked }), ['POST /api/uploads', 'PATCH /api/uploads/u1']);
    await until(
      () => page.locator('body > [role=status]').textContent(),
      'small.trace is uploaded.',
      'said',
    );
    await page.goBack();
    await page.waitForSelector('.traces tbody tr');
  }));

test('hub: uploading several files keeps a line for each', () =>
  onHub({}, '', async (page, { world }) => {
    await page.waitForSelector('.drop-zone');
    await choose(page, small, other, empty);
    for (const name of ['small.trace', 'other.json'])
      await line(page, name).getByRole('link', { name: 'Open its page' }).waitFor();
    assert.match(await line(page, 'empty.trace').textContent(), /not sent.*The file is empty\./);
    assert.equal(new URL(page.url()).pathname, '/');
    await until(() => page.locator('.traces tbody tr').count(), 2, 'both in the list');
    await line(page, 'empty.trace').getByRole('button', { name: 'Clear' }).click();
    assert.equal(await page.locator('.upload').count(), 2);
    assert.deepEqual(world.arrived.map(({ length }) => length).sort(), [2000, 3000]);
  }));

test('hub: files can be dropped anywhere', () =>
  onHub({ traces: [made(1)] }, `t/${id(1)}/`, async (page) => {
    await page.waitForSelector('.picture.whole.there');
    const drop = (type) =>
      page.evaluate((event) => {
        const data = new DataTransfer();
        data.items.add(new File(['abc'], 'dropped.trace'));
        dispatchEvent(
          new DragEvent(event, { dataTransfer: data, bubbles: true, cancelable: true }),
        );
      }, type);
    await drop('dragenter');
    assert.equal(await page.locator('.drop-target').isVisible(), true);
    await drop('drop');
    await until(() => page.locator('h1').textContent(), 'dropped.trace', 'its page');
  }));

test('hub: an upload shows progress and rate and can be cancelled', () => {
  let release;
  const held = new Promise((done) => (release = done));
  let pieces = 0;
  const before = async (request, url) => {
    if (isPiece(request, url) && ++pieces === 2) await held;
  };
  return onHub({ before }, '', async (page, { world, asked }) => {
    await page.waitForSelector('.drop-zone');
    await choose(page, big);
    const bar = line(page, 'big.trace').getByRole('progressbar');
    await until(
      async () => Number(await bar.getAttribute('aria-valuenow')),
      (n) => n >= 49,
      'half',
    );
    assert.match(await line(page, 'big.trace').textContent(), /MB of 16\.8 MB/);
    await line(page, 'big.trace')
      .getByRole('button', { name: /Cancel/ })
      .click();
    await until(() => page.locator('.upload').count(), 0, 'its line is gone');
    await until(() => world.uploads.size, 0, 'thrown away');
    assert.equal(sent({ asked }).at(-1), 'DELETE /api/uploads/u1');
    assert.equal(world.arrived.length, 0);
    release();
  });
});

test('hub: a broken upload continues from the byte that the server has', () => {
  let pieces = 0;
  // The browser itself asks a second time when a connection that was used before breaks.
  const before = (request, url) =>
    isPiece(request, url) && [2, 3].includes(++pieces) ? 'cut' : undefined;
  return onHub(
    { before },
    '',
    async (page, { world, asked }) => {
      await page.waitForSelector('.drop-zone');
      await choose(page, big);
      await until(() => world.arrived.length, 1, 'arrived');
      assert.ok(world.arrived[0].equals(bigBytes), 'every byte in its place');
      // On a connection that was not used before, the second piece breaks once more.
      const methods = sent({ asked }).map((text) => text.split(' ')[0]);
      assert.match(methods.join(' '), /^POST PATCH( PATCH)+( HEAD PATCH)+( PATCH)*$/);
    },
    { expected: /ERR_/ },
  );
});

test('hub: after a reload the same file continues its upload', () => {
  let full = true;
  let pieces = 0;
  const before = (request, url) =>
    isPiece(request, url) && ++pieces > 1 && full
      ? { status: 507, json: { error: 'the disk of the server is full' } }
      : undefined;
  return onHub(
    { before },
    '',
    async (page, { world, asked }) => {
      await page.waitForSelector('.drop-zone');
      await choose(page, big);
      await until(
        () => line(page, 'big.trace').locator('.message').textContent(),
        'The disk of the server is full. 8.4 MB are there and stay. Continue when there is room.',
        'stopped',
      );
      await page.reload();
      await until(
        () => line(page, 'big.trace').locator('.figures').textContent(),
        '16.8 MB, interrupted',
        'remembered',
      );
      full = false;
      asked.length = 0;
      await choose(page, big);
      await until(() => page.locator('h1').textContent(), 'big.trace', 'its page');
      assert.deepEqual(
        sent({ asked }).map((text) => text.split(' ')[0]),
        ['HEAD', 'PATCH', 'PATCH'],
      );
      assert.ok(world.arrived[0].equals(bigBytes), 'every byte in its place');
    },
    { expected: /507/ },
  );
});

test('hub: a full disk stops the upload, and Continue resumes it', () => {
  let full = true;
  const before = (request, url) =>
    full && isPiece(request, url)
      ? { status: 507, json: { error: 'the disk is full' } }
      : undefined;
  return onHub(
    { before },
    '',
    async (page, { world }) => {
      await page.waitForSelector('.drop-zone');
      await choose(page, small, other);
      await line(page, 'small.trace').getByRole('button', { name: 'Try again' }).waitFor();
      await line(page, 'other.json').getByRole('button', { name: 'Try again' }).waitFor();
      full = false;
      await line(page, 'small.trace').getByRole('button', { name: 'Try again' }).click();
      await line(page, 'small.trace').getByRole('link', { name: 'Open its page' }).waitFor();
      assert.equal(world.arrived.length, 1);
    },
    { expected: /507/ },
  );
});

test('hub: files that the server refuses are not sent, or the refusal is shown', () =>
  onHub(
    {
      hub: { limits: { upload_bytes: 2500, keep_seconds: null, store_bytes: null } },
      before: (request, url) =>
        isPiece(request, url)
          ? { status: 413, json: { error: 'the file is too large' } }
          : undefined,
    },
    '',
    async (page) => {
      await page.waitForSelector('.drop-zone');
      assert.match(await page.locator('.drop-zone').textContent(), /Files up to 2\.5 kB/);
      await choose(page, small, other);
      assert.match(
        await line(page, 'small.trace').textContent(),
        /larger than this server accepts/,
      );
      await until(
        () => line(page, 'other.json').locator('.message').textContent(),
        'The file is too large.',
        'refused',
      );
      assert.equal(await line(page, 'other.json').getByRole('button').count(), 1);
    },
    { expected: /413/ },
  ));

test('hub: uploads continue while a trace is open', () => {
  let release;
  const held = new Promise((done) => (release = done));
  const before = async (request, url) => {
    if (isPiece(request, url)) await held;
  };
  return onHub({ before, traces: [made(1)] }, '', async (page, { world }) => {
    await page.waitForSelector('.traces tbody tr');
    await choose(page, small);
    await line(page, 'small.trace').waitFor();
    await page.locator('.traces th.name .link').first().click();
    await page.waitForSelector('.picture.whole.there');
    await until(
      () => page.locator('.strip').textContent(),
      (text) => /Uploading 1 file/.test(text),
      'told',
    );
    release();
    await until(() => world.arrived.length, 1, 'arrived');
    await until(() => page.locator('.strip').isVisible(), false, 'over');
    assert.equal(await page.locator('h1').textContent(), 'trace-1.trace');
  });
});
