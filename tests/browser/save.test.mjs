// SPDX-License-Identifier: Apache-2.0
// The selection saved as a trace: what is downloaded has the profile that the command line prints of
// the same selection.
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { openPage, until } from './browser.mjs';
import { after, test } from './suite.mjs';
import { example, json, serveStore, view } from './program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'save-'));
after(() => rmSync(folder, { recursive: true }));

/** Slices across 300 us and 700 us, a counter, an arrow that stays, one that goes. */
const EVENTS = [
  { ph: 'M', name: 'thread_name', pid: 1, tid: 1, args: { name: 'main' } },
  { ph: 'X', name: 'outer', cat: 'a', pid: 1, tid: 1, ts: 100, dur: 800, args: { n: 1 } },
  { ph: 'B', name: 'inner', cat: 'b', pid: 1, tid: 1, ts: 200 },
  { ph: 'E', pid: 1, tid: 1, ts: 400 },
  { ph: 'X', name: 'late', cat: 'a', pid: 1, tid: 1, ts: 500, dur: 100 },
  { ph: 'X', name: 'other', cat: 'a', pid: 1, tid: 2, ts: 350, dur: 500 },
  { ph: 'C', name: 'heap', pid: 1, ts: 0, args: { used: 5 } },
  { ph: 's', name: 'go', cat: 'f', id: 1, pid: 1, tid: 1, ts: 510 },
  { ph: 'f', name: 'go', cat: 'f', id: 1, bp: 'e', pid: 1, tid: 2, ts: 520 },
  { ph: 's', name: 'go', cat: 'f', id: 2, pid: 1, tid: 1, ts: 150 },
  { ph: 'f', name: 'go', cat: 'f', id: 2, bp: 'e', pid: 1, tid: 2, ts: 530 },
];

const FTRACE = `# tracer: nop
  app-7 (    7) [000] .... 0.000100: tracing_mark_write: B|7|frame
  app-7 (    7) [000] .... 0.000250: tracing_mark_write: B|7|draw
  app-7 (    7) [000] .... 0.000450: tracing_mark_write: E
  app-7 (    7) [000] .... 0.000500: tracing_mark_write: C|7|queue|3
  app-7 (    7) [000] .... 0.000900: tracing_mark_write: E
`;

const methods = (rows) =>
  rows
    .map((row) => ({
      name: row.name ?? [row.class, row.method].join('.'),
      calls: row.calls + row.recursive_calls,
      inclusive: row.incl_real_ns,
      exclusive: row.excl_real_ns,
    }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.inclusive - b.inclusive));

const profile = (...words) => methods(json('profile', '--format', 'json', ...words));

async function open(file, hash) {
  const viewer = await view(file);
  const opened = await openPage(viewer.address + hash);
  await opened.page.waitForSelector('.page');
  return {
    ...opened,
    end: async () => {
      await opened.close();
      await viewer.stop();
    },
  };
}

/** Saves by the menu, with the keys alone. */
async function save(page, name) {
  await page.keyboard.press('Control+s');
  await page.waitForSelector('.save-menu:not([hidden])');
  const items = await page.locator('.save-menu [role=menuitem]').allTextContents();
  const at = items.findIndex((text) => text.startsWith(name));
  assert.notEqual(at, -1, `${name} is none of ${items.join(', ')}`);
  for (let i = 0; i < at; i++) await page.keyboard.press('ArrowDown');
  const [file] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
  const path = join(folder, file.suggestedFilename());
  copyFileSync(await file.path(), path);
  return { path, name: file.suggestedFilename() };
}

const made = (name, text) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

test('a range of a method trace is saved in its format and as JSON', async () => {
  const from = 100_000_000;
  const to = 150_000_000;
  const { page, troubles, end } = await open(example(), `#range=${from}-${to}`);
  try {
    await until(
      () => page.locator('.lower .wide').first().textContent(),
      (text) => text.includes('100.000'),
      'the range',
    );
    const file = await save(page, 'Method trace');
    assert.equal(file.name, 'example-part.trace');
    const expected = profile('--range', `${from}ns:${to}ns`, example());
    assert.ok(expected.length > 20);
    assert.deepEqual(profile(file.path), expected);
    const events = await save(page, 'Trace Event JSON');
    assert.equal(events.name, 'example-part.json');
    const sum = (rows, key) => rows.reduce((all, row) => all + row[key], 0);
    for (const key of ['calls', 'exclusive'])
      assert.equal(sum(profile(events.path), key), sum(expected, key));
    assert.deepEqual(troubles, []);
  } finally {
    await end();
  }
});

test('a range and a thread of Trace Event JSON are saved', async () => {
  const whole = made('events.json', JSON.stringify(EVENTS));
  const { page, troubles, end } = await open(whole, '#range=300000-700000&threads=0');
  try {
    const file = await save(page, 'Trace Event JSON');
    assert.equal(file.name, 'events-part.json');
    assert.deepEqual(
      profile(file.path),
      profile('--range', '300us:700us', '--thread', 'main', whole),
    );
    const events = JSON.parse(readFileSync(file.path, 'utf8')).traceEvents;
    assert.deepEqual(
      events.find((e) => e.name === 'outer').args,
      { n: 1 },
      'arguments are the event’s own',
    );
    assert.ok(!events.some((e) => e.tid === 2));
    assert.deepEqual(troubles, []);
  } finally {
    await end();
  }
});

test('a saved part respects the filter and has the arrows and counters of its range', async () => {
  const whole = made('events.json', JSON.stringify(EVENTS));
  const { page, end } = await open(whole, '#filter=-name%3Ainner&range=300000-700000');
  try {
    const file = await save(page, 'Trace Event JSON');
    const { traceEvents } = JSON.parse(readFileSync(file.path, 'utf8'));
    assert.deepEqual(
      profile(file.path),
      profile('--range', '300us:700us', '--filter', '-name:inner', whole),
    );
    assert.deepEqual(
      traceEvents.filter((e) => 'sf'.includes(e.ph)).map((e) => e.id),
      [1, 1],
    );
    assert.deepEqual(
      traceEvents.filter((e) => e.ph === 'C').map((e) => [e.ts, e.args.used]),
      [[300, 5]],
    );
  } finally {
    await end();
  }
});

test('a range of ftrace text is saved', async () => {
  const whole = made('marks.txt', FTRACE);
  const { page, end } = await open(whole, '#range=200000-600000');
  try {
    const file = await save(page, 'Trace Event JSON');
    assert.equal(file.name, 'marks-part.json');
    assert.deepEqual(profile(file.path), profile('--range', '200us:600us', whole));
  } finally {
    await end();
  }
});

test('without a selection the whole trace is saved', async () => {
  const { page, end } = await open(example(), '');
  try {
    const file = await save(page, 'Method trace');
    assert.equal(file.name, 'example.trace');
    assert.deepEqual(profile(file.path), profile(example()));
  } finally {
    await end();
  }
});

test('an empty selection says so, and the menu returns the focus', async () => {
  const whole = made('events.json', JSON.stringify(EVENTS));
  const { page, end } = await open(whole, '#range=0-50000&threads=0');
  try {
    await page.keyboard.press('Control+s');
    await page.waitForSelector('.save-menu:not([hidden])');
    assert.match(await page.locator('.save-menu .head').textContent(), /^Selection of .*1 track$/);
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.save-menu:not([hidden])').count(), 0);
    await page.locator('button', { hasText: 'Save' }).click();
    await page.getByRole('menuitem', { name: 'Trace Event JSON' }).click();
    const said = () => page.locator('.notice').textContent();
    await until(said, (text) => /^nothing of the trace is/.test(text), 'the reason');
  } finally {
    await end();
  }
});

/** Whatever could be told of the trace. */
const SECRETS = ['secretMethod', 'secretArgument', 'secretThread', 'secretValue', 'secret-file'];
const SECRET = [
  { ph: 'M', name: 'thread_name', pid: 1, tid: 1, args: { name: 'secretThread' } },
  {
    ph: 'X',
    name: 'secretMethod',
    pid: 1,
    tid: 1,
    ts: 1,
    dur: 9,
    args: { secretArgument: 'secretValue' },
  },
];

/** The trace in what was saved, whatever that is. */
function traceIn(path) {
  const text = readFileSync(path, 'utf8');
  const inside = /data-of="file0">([^<]*)/.exec(text);
  const manifest = /data-of="manifest">([^<]*)/.exec(text);
  if (!inside) return text;
  return gunzipSync(Buffer.from(inside[1], 'base64')).toString() + manifest[1];
}

async function check(page, name) {
  await page.keyboard.press('Control+s');
  await page.getByRole('menuitemcheckbox', { name }).click();
  await page.keyboard.press('Escape');
}

test('names can be hashed and arguments left out', async () => {
  const { page, troubles, end } = await open(made('secret-file.json', JSON.stringify(SECRET)), '');
  try {
    await page.locator('.top h1').waitFor();
    await page.keyboard.press('Control+s');
    const entries = await page.locator('.save-menu [role=menuitem]').allTextContents();
    await page.keyboard.press('Escape');
    const reports = entries.some((text) => text.startsWith('Self-contained'));
    const kinds = ['Trace Event JSON', ...(reports ? ['Self-contained HTML'] : [])];
    const told = async (kind) => {
      await page.keyboard.press('Control+s');
      const entry = page.getByRole('menuitem', { name: kind });
      const waiting = page.waitForEvent('download');
      const [file] = await Promise.all([waiting, entry.click()]);
      const [path, name] = [await file.path(), file.suggestedFilename()];
      await page.locator('button[aria-busy=false]', { hasText: 'Save' }).waitFor();
      const text = traceIn(path) + name;
      return SECRETS.filter((secret) => text.includes(secret));
    };
    for (const kind of kinds) assert.deepEqual(await told(kind), SECRETS, kind);
    await check(page, 'Leave arguments out');
    const bare = SECRETS.filter((secret) => !/Argument|Value/.test(secret));
    for (const kind of kinds) assert.deepEqual(await told(kind), bare, kind);
    if (reports) {
      await check(page, 'Hash names');
      for (const kind of kinds) assert.deepEqual(await told(kind), [], kind);
      await page.evaluate(() => (location.hash = 'range=1000-5000&threads=0'));
      await page.keyboard.press('Control+s');
      const head = () => page.locator('.save-menu .head').first().textContent();
      await until(head, (text) => text.startsWith('Selection of'), 'the selection');
      await page.keyboard.press('Escape');
      for (const kind of kinds) assert.deepEqual(await told(kind), [], `part as ${kind}`);
    }
    assert.deepEqual(troubles, []);
  } finally {
    await end();
  }
});

/** An upload server on this machine, which needs no token. */
async function uploadServer() {
  const server = await serveStore(join(folder, 'store'));
  after(server.stop);
  return server.address;
}

/** Opens the dialog by the menu, with the keys alone. */
async function askToSend(page) {
  await page.keyboard.press('Control+s');
  await page.waitForSelector('.save-menu:not([hidden])');
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.send-dialog[open]');
  await page.keyboard.press('Enter');
}

test('the original file is sent to the server of `push`', async () => {
  const config = join(folder, 'config', 'traceview');
  process.env.XDG_CONFIG_HOME = join(folder, 'config');
  mkdirSync(config, { recursive: true });
  const { page, troubles, end } = await open(example(), '');
  try {
    await askToSend(page);
    const dialog = page.locator('.send-dialog');
    await until(
      () => dialog.textContent(),
      (text) =>
        text.includes('No server is set up') && text.includes(`chmod 600 ${join(config, 'push')}`),
      'how to set it up',
    );
    const server = await uploadServer();
    writeFileSync(join(config, 'push'), `to = ${server}\n`, { mode: 0o600 });
    await dialog.getByText('Send', { exact: true }).click();
    const link = dialog.locator('a');
    await link.waitFor();
    const address = await link.getAttribute('href');
    assert.ok(address.startsWith(`${server}t/`), address);
    const sent = await fetch(`${address.replace(/\/$/, '')}/file`);
    assert.deepEqual(Buffer.from(await sent.arrayBuffer()), readFileSync(example()));
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.deepEqual(troubles, []);
  } finally {
    await end();
  }
});
