// SPDX-License-Identifier: Apache-2.0
// The page of the fleet, on a server with 24 versions: the method that became slower comes first,
// its trend has a change point, and a trace of a version opens in the viewer.  Skipped, aloud,
// where there is no library of DuckDB (make sql).
import { strict as assert } from 'node:assert';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assertAccessible } from './axe.mjs';
import { openPage, until } from './browser.mjs';
import { after, test } from './suite.mjs';
import { program, serveStore } from './program.mjs';

const VERSIONS = 24;
const STEP = 12;
const METHODS = 12;
const RUNS = 3;
const folder = mkdtempSync(join(tmpdir(), 'fleet-'));
const fleet = join(folder, 'fleet');
after(() => rmSync(folder, { recursive: true }));

/** Numbers from 0 to 1 that are the same each time. */
let seed = 1;
function random() {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return seed / 0x7fffffff;
}

/** A trace whose methods take about 2 ms each; method 3 takes 30 % more from version STEP on. */
function traceOf(version, run) {
  let ts = version * 1000 + run;
  return JSON.stringify(
    Array.from({ length: METHODS }, (_, i) => {
      const dur = 2000 * (1 + 0.02 * random()) * (i === 3 && version >= STEP ? 1.3 : 1);
      // A blank and a bracket are part of this name: it has no signature.
      const name = i === 5 ? 'step5 (int)' : `step${i}`;
      const call = { ph: 'X', name, cat: 'app.Feed', pid: 1, tid: 1, ts, dur };
      ts += dur + 1;
      return call;
    }),
  );
}

const versionName = (version) => `1.${String(version).padStart(2, '0')}`;

function makeFleet() {
  for (let version = 0; version < VERSIONS; version++) {
    const files = Array.from({ length: RUNS }, (_, run) => {
      const path = join(folder, `${version}-${run}.json`);
      writeFileSync(path, traceOf(version, run));
      return path;
    });
    const labels = ['--label', `version=${versionName(version)}`, '--label', 'device=lab'];
    execFileSync(program(), ['fleet', 'add', '-q', '--to', fleet, ...labels, ...files]);
  }
  return !/libduckdb/.test(
    spawnSync(program(), ['fleet', 'schema', '--to', fleet], { encoding: 'utf8' }).stderr,
  );
}

const has = makeFleet();
const skip = has ? false : 'there is no libduckdb.so: run `make sql`';

/** A server with the fleet, to which one trace of the last version is uploaded. */
async function serve() {
  const server = await serveStore(join(folder, 'store'), '--fleet', fleet);
  const { address } = server;
  const labels = `version=${versionName(VERSIONS - 1)},device=lab`;
  const put = `${address}up.json?labels=${encodeURIComponent(labels)}`;
  const answer = await fetch(put, { method: 'PUT', body: traceOf(VERSIONS - 1, 77) });
  const id = /[0-9a-f]{32}/.exec(answer.headers.get('location'))[0];
  await until(
    async () => (await fetch(`${address}api/fleet/traces?method=step3`)).json(),
    (rows) => rows.some?.(({ uri }) => uri === id),
    'the trace in the fleet',
  );
  return { ...server, id };
}

async function onFleet(hash, options, work) {
  const server = await serve();
  const { page, troubles, close } = await openPage(`${server.address}fleet${hash}`, options);
  try {
    await page.waitForSelector('.detail tbody tr');
    await work(page, server);
    assert.deepEqual(
      troubles.filter((text) => !/400|404|503/.test(text)),
      [],
    );
  } finally {
    await close();
    await server.stop();
  }
}

test('fleet: what changed, since when, and in which traces', { skip }, () =>
  onFleet('#base=1.05&new=1.20', {}, async (page, { id }) => {
    const first = page.locator('.changed tbody tr').first();
    assert.match(await first.innerText(), /step3/);
    // The other columns leave room for names.
    assert.ok((await first.locator('td, th').first().boundingBox()).width > 140);
    const change = await first.locator('td').nth(3).innerText();
    await until(() => first.locator('td').last().innerText(), '1.12', 'since when');
    await first.locator('.course path').waitFor({ state: 'attached' });
    const shown = Number(/^\+([\d.]+) %$/.exec(change)?.[1]);
    assert.ok(shown > 25 && shown < 35, change);
    await page.waitForSelector('.detail h2.method');
    assert.match(await page.locator('h2.method').innerText(), /step3/);
    const words = await until(
      () => page.locator('.trend .chart-plot').getAttribute('aria-label'),
      (text) => /marks: \+(2[6-9]|3[0-4])\.\d % at 1\.12/.test(text),
      'the change point',
    );
    assert.match(words, /24 places of version from 1\.00 to 1\.23/);
    await until(
      () => page.locator('.spread .chart-plot').getAttribute('aria-label'),
      (text) => /4 traces of 1\.23/.test(text),
      'the distribution',
    );
    // The values under the pointer take a second line, and the charts still fit.
    await page.locator('.trend').evaluate((e) => (e.style.width = '400px'));
    await page.locator('.trend .u-over').hover();
    for (const chart of ['.trend .chart', '.spread .chart'])
      await until(
        () => page.locator(chart).evaluate((e) => e.scrollHeight - e.clientHeight),
        0,
        `what is cut off ${chart}`,
      );
    const link = page.locator('.detail tbody a');
    const typical = page.locator('.detail .typical a');
    assert.equal(await typical.getAttribute('href'), await link.getAttribute('href'));
    assert.equal(await link.count(), 1);
    assert.ok((await link.getAttribute('href')).includes(`/t/${id}/view/#`));
    await page.getByRole('button', { name: 'step5' }).click();
    await until(
      () => page.locator('h2.method').innerText(),
      (text) => /step5/.test(text),
      'step5',
    );
    assert.match(page.url(), /method=step5/);
    await page.locator('.detail tbody a').click();
    // step5 is the sixth call of the only row
    await page.waitForURL(/\/view\/#.*slice=5$/);
    await until(
      () => page.locator('.details:visible').innerText(),
      (text) => /step5/.test(text),
      'the call',
    );
    await page.goBack();
    await page.waitForURL(/\/fleet#.*method=step5/);
    await page.locator('.typical a').waitFor();
    const gone = await fetch(`${new URL(page.url()).origin}/api/traces/${id}`, {
      method: 'DELETE',
    });
    assert.ok(gone.ok, String(gone.status));
    await page.locator('.typical a').click();
    await until(
      () => page.locator('.trouble').innerText(),
      (text) => /was deleted from the server/.test(text),
      'that the trace is gone',
    );
  }),
);

test('fleet: the flame graph of two versions selects methods', { skip }, () =>
  onFleet('#base=1.05&new=1.20&method=step3', {}, async (page) => {
    await page.getByRole('button', { name: 'Flame graph' }).click();
    assert.match(page.url(), /flame=1/);
    await page.getByRole('heading', { name: 'Flame graph of 1.05 → 1.20' }).waitFor();
    const place = page.locator('.graph[aria-busy="false"] .canvas');
    await place.focus();
    // frames stand in the order of their names: step0, step1, step10, step11, step2, step3
    for (let i = 0; i < 6; i++) await page.keyboard.press('ArrowRight');
    await until(
      () => page.locator('.graph .said').innerText(),
      (text) => /^step3, Own time: 2\.0.* → 2\.6.* \(\+(2\d|3[0-5])\.\d %\)/.test(text),
      'the changed frame',
    );
    await page.reload();
    await page.getByRole('heading', { name: 'Flame graph of 1.05 → 1.20' }).waitFor();
    await page.getByRole('button', { name: 'Flame graph' }).click();
    await place.waitFor({ state: 'hidden' });
    await page.route('**/api/fleet/flamegraph?*', (route) => route.fulfill({ body: '{' }));
    await page.getByRole('button', { name: 'Flame graph' }).click();
    await page.locator('.trouble').waitFor();
    await page.locator('.graph[aria-busy="false"]').waitFor();
  }),
);

/** Two versions, each with calls of two programs and with samples. */
function makeMixedFleet() {
  const to = join(folder, 'mixed');
  for (const version of [1, 2]) {
    const add = (name, text, ...labels) => {
      const path = join(folder, `mixed-${version}-${name}`);
      writeFileSync(path, text);
      const all = [`version=${version}`, ...labels].flatMap((label) => ['--label', label]);
      execFileSync(program(), ['fleet', 'add', '-q', '--to', to, ...all, path]);
    };
    add('shop.json', traceOf(version, 1), 'program=shop');
    add('cart.json', traceOf(version, 2), 'program=cart');
    add('stacks.txt', `main;step3 ${300 * version}\n`);
  }
  return to;
}

test('fleet: one unit at a time, and traces of one program', { skip }, async () => {
  const server = await serveStore(join(folder, 'mixed-store'), '--fleet', makeMixedFleet());
  const { page, troubles, close } = await openPage(`${server.address}fleet`);
  try {
    const first = page.locator('.changed tbody tr').first();
    await first.waitFor();
    assert.equal(
      await page.locator('.note.units').innerText(),
      'Figures are in several units: ns in 4 traces, samples in 2 traces. Shown are those in ns.',
    );
    assert.match(await first.innerText(), /step\d.* ms/s);
    assert.equal(await page.getByLabel('Host').count(), 0);
    const programs = page.getByLabel('Program');
    assert.deepEqual(await programs.locator('option').allInnerTexts(), ['all', 'cart', 'shop']);
    await programs.selectOption('cart');
    await page.getByRole('heading', { name: 'Traces of 2' }).waitFor();
    await until(
      () => page.locator('.spread .chart-plot').getAttribute('aria-label'),
      (text) => /1 trace of 2/.test(text),
      'the traces of one program',
    );
    assert.match(page.url(), /program=cart/);
    await page.getByLabel('Program').selectOption('all');
    await page.getByLabel('Unit').selectOption('samples');
    await until(
      () => first.innerText(),
      (text) => /step3.*300 samples.*600 samples/s.test(text),
      'weights of samples',
    );
    assert.match(await page.locator('.note.units').innerText(), /Shown are those in samples\.$/);
    assert.deepEqual(
      troubles.filter((text) => !/400|404|503/.test(text)),
      [],
    );
  } finally {
    await close();
    await server.stop();
  }
});

test('fleet: accessible, and fits screens from a telephone to a desktop', { skip }, () =>
  onFleet(
    '#base=1.05&new=1.20&flame=1',
    { colorScheme: 'light', bypassCSP: true },
    async (page) => {
      await assertAccessible(page);
      for (const width of [1600, 1280, 700, 360]) {
        await page.setViewportSize({ width, height: 900 });
        const over = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        assert.equal(over, 0, `${width} px`);
      }
    },
  ),
);
