// SPDX-License-Identifier: Apache-2.0
// The upload server itself, used through its page: files of several kinds go in, the numbers and
// pictures are those of the command line, and a view is shared by its address.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { openPage, ready, until } from './browser.mjs';
import { after, test } from './suite.mjs';
import { example, json, program, serveStore } from './program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'hub-'));
after(() => rmSync(folder, { recursive: true }));

function fileOf(name, data) {
  const path = join(folder, name);
  writeFileSync(path, data);
  return path;
}

let stores = 0;

/** Starts the server on a store of its own. */
const serve = (...options) => serveStore(join(folder, `store-${++stores}`), ...options);

/** The page on a server of its own. */
async function onServer(options, work, expected = /^$/) {
  const server = await serve(...options);
  const { page, troubles, close } = await openPage(server.address);
  try {
    await work(page, server);
    assert.deepEqual(
      troubles.filter((text) => !expected.test(text)),
      [],
    );
  } finally {
    await close();
    await server.stop();
  }
}

async function upload(page, ...files) {
  await page.waitForSelector('.drop-zone');
  await page.locator('input[type=file]').setInputFiles(files);
}

/** A file of the server, as text. */
const text = (page, path) => page.evaluate(async (from) => await (await fetch(from)).text(), path);

const command = (...words) =>
  execFileSync(program(), [...words, '-q'], { encoding: 'utf8', maxBuffer: 1 << 28 });

const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');

test('server: an uploaded trace has the numbers and pictures of the command line', () =>
  onServer([], async (page) => {
    await upload(page, example());
    await page.waitForSelector('.picture.whole.there');
    assert.equal(await page.locator('h1').textContent(), basename(example()));
    const info = json('info', '--format', 'json', example());
    const summary = await page.locator('.summary').textContent();
    assert.ok(summary.includes(`${grouped(info.calls)} calls`), summary);
    assert.ok(summary.includes(`${info.threads} threads`), summary);

    const path = new URL(page.url()).pathname;
    assert.match(path, /^\/t\/[0-9a-f]{32}\/$/);
    assert.equal(await text(page, `${path}collapsed.txt`), command('collapse', example()));
    const own = command('flamegraph', '--title', basename(example()), example());
    assert.equal(await text(page, `${path}flamegraph.svg`), own);

    const main = page.locator('figure', { hasText: '] main' });
    await main.scrollIntoViewIfNeeded();
    await main.locator('.picture.there').waitFor();
    const one = await text(page, await main.locator('.picture').getAttribute('href'));
    const frames = (svg) =>
      svg.match(/<title>[^<]*<\/title>/g)?.length ?? svg.match(/<g\b/g).length;
    const alone = command('flamegraph', '--thread', 'main', example());
    assert.equal(frames(one), frames(alone));

    const original = await page.evaluate(async (from) => {
      const bytes = await (await fetch(from)).arrayBuffer();
      return [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))];
    }, `${path}file`);
    const digest = createHash('sha256').update(readFileSync(example())).digest();
    assert.deepEqual(original, [...digest]);
  }));

test('server: a view is shared by its address', () =>
  onServer([], async (page) => {
    await upload(page, example());
    await page.getByRole('link', { name: 'Open in the viewer' }).click();
    await ready(page);
    await page.getByRole('tab', { name: 'Bottom-up' }).click();
    await until(
      () => page.url(),
      (url) => url.includes('tab='),
      'the address has the tab',
    );
    const shared = page.url();
    const other = await openPage(shared);
    try {
      const tab = other.page.getByRole('tab', { name: 'Bottom-up' });
      await until(() => tab.getAttribute('aria-selected'), 'true', 'the same tab');
      assert.deepEqual(other.troubles, []);
    } finally {
      await other.close();
    }
  }));

test('server: uploads several kinds of files at once, one of which is not a trace', () => {
  const events = [
    { ph: 'M', pid: 7, tid: 7, name: 'process_name', args: { name: 'shop' } },
    { ph: 'X', pid: 7, tid: 7, ts: 10, dur: 5, name: 'load' },
    { ph: 'X', pid: 7, tid: 8, ts: 12, dur: 9, name: 'draw' },
  ];
  const files = [
    fileOf('events.json', JSON.stringify({ traceEvents: events })),
    fileOf('stacks.folded', 'main;run;load 12\nmain;run;draw 30\n'),
    fileOf('packed.trace.gz', gzipSync(readFileSync(example()))),
    fileOf('nothing.bin', Buffer.alloc(5000, 0xa5)),
  ];
  return onServer([], async (page) => {
    await upload(page, ...files);
    const state = (name) => page.locator('.traces tr', { hasText: name }).locator('td.state');
    for (const name of ['events.json', 'stacks.folded', 'packed.trace.gz'])
      await until(
        () => state(name).first().textContent(),
        (words) => /^ready/.test(words),
        name,
      );
    await until(() => state('nothing.bin').textContent(), 'failed', 'no trace');
    await page.locator('.traces').getByRole('button', { name: 'shop' }).click();
    await until(() => page.locator('.traces tbody tr').count(), 1, 'by process');
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByRole('link', { name: 'nothing.bin', exact: true }).last().click();
    await page.locator('.failure').waitFor();
    assert.equal(
      await text(page, await page.getByRole('link', { name: 'Download' }).getAttribute('href')),
      await text(page, `${new URL(page.url()).pathname}file`),
    );
    await page.getByRole('button', { name: 'Read it again' }).click();
    await page.locator('.failure').waitFor();
  });
});

test('server: keeps names, labels, notes and pins, and forgets deleted traces', () =>
  onServer(
    [],
    async (page) => {
      await upload(page, example());
      await page.waitForSelector('.picture.whole.there');
      await page.getByRole('button', { name: 'Rename' }).click();
      await page.keyboard.type('cold <b>start</b> ü');
      await page.keyboard.press('Enter');
      await until(() => page.locator('h1').textContent(), 'cold <b>start</b> ü', 'renamed');
      await page.getByLabel('Add a label').fill('nightly');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Remove the label nightly' }).waitFor();
      await page.getByRole('textbox', { name: 'Note' }).fill('two\nlines');
      await page.getByRole('button', { name: 'Save the note' }).click();
      await until(() => page.locator('.note-text').textContent(), 'two\nlines', 'noted');
      await page.getByRole('button', { name: 'Pin', exact: true }).click();
      await page.getByRole('button', { name: 'Unpin' }).waitFor();
      await page.reload();
      await until(() => page.locator('.note-text').textContent(), 'two\nlines', 'still there');
      const address = page.url();
      await page.getByRole('button', { name: 'nightly', exact: true }).click();
      const rows = page.locator('.traces tbody tr');
      await until(() => rows.count(), 1, 'found by its label');
      assert.match(page.url(), /\?label=nightly$/);
      await rows.getByRole('button', { name: /^Delete/ }).click();
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await until(() => rows.count(), 0, 'deleted');
      await page.goto(address);
      await until(() => page.locator('h1').textContent(), 'No such trace', 'gone');
    },
    /404/,
  ));

test('server: the server sorts, searches and groups by day as the page does', () =>
  onServer([], async (page) => {
    const files = ['b', 'a', 'c'].map((name, i) =>
      fileOf(`${name}.folded`, `main;${'x'.repeat(10 * (i + 1))} 1\n`),
    );
    await upload(page, ...files);
    await until(() => page.locator('.traces tbody tr').count(), 3, 'all there');
    const names = async () =>
      (await page.locator('.traces th.name > .link').allTextContents()).join();
    await page.getByRole('button', { name: 'Name' }).click();
    await until(names, 'a.folded,b.folded,c.folded', 'by name');
    await page.getByRole('button', { name: 'Size' }).click();
    await until(names, 'c.folded,a.folded,b.folded', 'by size');
    await page.getByRole('searchbox').fill('B.fold');
    await until(names, 'b.folded', 'searched');
    await page.getByRole('searchbox').fill('');
    // A day may end after the uploads.
    const day = await page.evaluate(async () => {
      const { traces } = await (await fetch('/api/traces')).json();
      const first = new Date(Math.min(...traces.map(({ uploaded }) => Date.parse(uploaded))));
      const local = new Date(first.getTime() - first.getTimezoneOffset() * 60_000);
      return local.toISOString().slice(0, 10);
    });
    await page.getByLabel('Uploaded from').fill(day);
    await until(names, 'c.folded,a.folded,b.folded', 'since that day');
    await page.getByLabel('Uploaded from').fill('');
    await page.getByLabel('Uploaded to').fill('2020-01-01');
    await until(() => page.locator('.list .nothing').isVisible(), true, 'long ago');
  }));

test('server: a user logs in with a token on the page, and out', () =>
  onServer(
    ['--token', 'a-long-secret-of-the-team'],
    async (page) => {
      await page.getByLabel('Token').fill('a-wrong-secret');
      await page.keyboard.press('Enter');
      await page.getByText('That is not the token of this server.').waitFor();
      await page.getByLabel('Token').fill('a-long-secret-of-the-team');
      await page.keyboard.press('Enter');
      await upload(page, fileOf('x.folded', 'main;x 1\n'));
      await page.waitForSelector('.picture.whole.there');
      const address = page.url();
      await page.getByRole('button', { name: 'Log out' }).click();
      await page.goto(address);
      await page.getByLabel('Token').waitFor();
      assert.equal(await page.locator('img').count(), 0);
    },
    /40[13]/,
  ));
