// SPDX-License-Identifier: Apache-2.0
// Makes the pictures of docs/viewer.md, sql.md, compare.md and profilers.md, and the one in the README:
//
//     TRACEVIEW=... TRACEVIEW_EXAMPLE=... npm --prefix tests/browser run pictures [NAME...]
//
// Profiles of other programs are in the folder PROFILES, as pprof/heap.pb.gz, firefox/profile.json.gz and
// callgrind/callgrind.out; without it their pictures stay as they are.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { executablePath } from './browser.mjs';
import { requests } from './made-up-events.mjs';
import { example, view } from './program.mjs';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'pictures-'));
const REST = 700;

const events = join(folder, 'server.json');
writeFileSync(events, JSON.stringify(requests()));
const sched = fileURLToPath(new URL('../golden/data/sched.ftrace', import.meta.url));
const frames = fileURLToPath(new URL('../golden/data/frames.ftrace', import.meta.url));

/** Writes a run of a made-up program: 40 requests, whose parts last so many µs; runs differ by 3 %. */
function run(name, number, { parse, plan, fetch, layout, paint }) {
  const events = [];
  let noise = number * 7919 + 17;
  const about = (time) => {
    noise = (noise * 1103515245 + 12345) % 2147483648;
    return Math.round(time * (0.97 + (0.06 * noise) / 2147483648));
  };
  for (let ts = 0, i = 0; i < 40; i++) {
    const put = (name, start, dur) =>
      events.push({ ph: 'X', name: `shop.${name}`, ts: start, dur, pid: 1, tid: 1 });
    const [a, b, c, d, e] = [parse, plan, fetch, layout, paint].map(about);
    put('Server.handle', ts, a + b + c + d + e + 40);
    put('Request.parse', ts + 10, a);
    put('Orders.query', ts + 15 + a, b + c);
    put('Plan.make', ts + 15 + a, b);
    put('Table.fetch', ts + 15 + a + b, c);
    put('Page.render', ts + 20 + a + b + c, d + e);
    put('Layout.place', ts + 20 + a + b + c, d);
    put('Layout.paint', ts + 20 + a + b + c + d, e);
    ts += a + b + c + d + e + 60;
  }
  const file = join(folder, `${name}-${number}.json`);
  writeFileSync(file, JSON.stringify(events));
  return file;
}

const BEFORE = { parse: 200, plan: 120, fetch: 600, layout: 300, paint: 400 };
const AFTER = { parse: 200, plan: 190, fetch: 600, layout: 210, paint: 400 };
const runs = (name, times) => [1, 2, 3, 4, 5].map((number) => run(name, number, times));

async function search(page, text) {
  await page.keyboard.press('/');
  await page.keyboard.type(text);
  await page.waitForTimeout(REST);
  await page.locator('.top .search input').first().blur();
}

/** Asks a query twice: the first answer takes longer, because it opens DuckDB. */
async function ask(page, query) {
  await page.locator('.sql-box textarea').fill(query);
  await page.keyboard.press('Control+Enter');
  await page.waitForSelector('.sql .grid-row');
  await page.waitForTimeout(REST);
  await page.keyboard.press('Control+Enter');
  await page.waitForTimeout(REST);
}

async function canvas(page) {
  return page.locator('.list-view').boundingBox();
}

async function tab(page, name) {
  await page.getByRole('tab', { name }).click();
  await page.waitForTimeout(REST);
}

/** Records the program with perf while it reads the example; returns what opens the recording. */
function perf() {
  const file = join(folder, 'perf.data');
  const command = [process.env.TRACEVIEW, 'flamegraph', '--colors', 'kind', example()];
  execFileSync('perf', ['record', '-q', '-F', '3999', '-g', '-o', file, '--', ...command], {
    stdio: 'ignore',
  });
  return [`--symbols=${process.env.TRACEVIEW}`, file];
}

/** Writes OpenTelemetry spans of three services: 12 requests, of which one fails. */
function spans() {
  const file = join(folder, 'traces.json');
  const services = { shop: [], prices: [], database: [] };
  let id = 0;
  const put = (service, trace, parent, name, kind, from, to, more = {}) => {
    const spanId = (++id).toString(16).padStart(16, '0');
    services[service].push({
      traceId: trace.toString(16).padStart(32, '0'),
      spanId,
      parentSpanId: parent,
      name,
      kind,
      startTimeUnixNano: `${1700000000000 + Math.round(from)}000000`,
      endTimeUnixNano: `${1700000000000 + Math.round(to)}000000`,
      ...more,
    });
    return spanId;
  };
  const attribute = (key, stringValue) => ({ key, value: { stringValue } });
  for (let i = 0; i < 12; i++) {
    const at = i * 70;
    const status = i === 7 ? { status: { code: 2, message: 'timeout' } } : {};
    const attributes = [attribute('http.route', '/cart'), attribute('user.id', `u${i}`)];
    const get = put('shop', i + 1, '', 'GET /cart', 2, at, at + 60, { attributes, ...status });
    const events = [{ timeUnixNano: `${1700000000000 + at + 6}000000`, name: 'cache miss' }];
    put('shop', i + 1, get, 'cart.load', 1, at + 2, at + 20, { events: i % 3 === 0 ? events : [] });
    const call = put('shop', i + 1, get, 'prices.get', 3, at + 22, at + 55, status);
    const post = put('prices', i + 1, call, 'POST /price', 2, at + 24, at + 53, status);
    put('database', i + 1, post, 'SELECT price', 3, at + 28, at + 40 + (i % 4) * 3);
  }
  const resourceSpans = Object.entries(services).map(([service, spans]) => ({
    resource: { attributes: [attribute('service.name', service)] },
    scopeSpans: [{ scope: { name: 'http' }, spans }],
  }));
  writeFileSync(file, JSON.stringify({ resourceSpans }));
  return file;
}

/** Profiles a module of Python's library with cProfile. */
function cprofile() {
  const file = join(folder, 'app.pstats');
  const program =
    'import json; [json.dumps(json.loads(json.dumps(list(range(9)), indent=1))) for _ in range(400)]';
  execFileSync('python3', [
    '-c',
    `import cProfile; cProfile.run(${JSON.stringify(program)}, ${JSON.stringify(file)})`,
  ]);
  return file;
}

/** Records the system calls of the program while it reads the example. */
function strace() {
  const file = join(folder, 'strace.txt');
  const command = [process.env.TRACEVIEW, 'info', '--no-cache', example()];
  execFileSync('strace', ['-f', '-ttt', '-T', '-o', file, ...command], { stdio: 'ignore' });
  return file;
}

/** The tab alone, of a profile in the folder of profiles. */
function ofProfile(file, tabOnly) {
  return {
    of: () => join(process.env.PROFILES, file),
    needs: 'PROFILES',
    above: tabOnly ? 212 : 0,
    hash: '#tab=flame',
    async act(page) {
      await page.setViewportSize({ width: tabOnly ? 900 : 1280, height: tabOnly ? 530 : 800 });
    },
  };
}

/** name: where it is kept, of what, at which place, and what is done first. */
const PICTURES = {
  viewer: {
    file: 'viewer.png',
    of: example(),
    hash: '#view=52000000-182000000&range=62000000-154500000',
    async act(page) {
      await page.locator('.label', { hasText: 'main' }).locator('.twist').click();
      for (const name of ['press-2', 'press-1'])
        await page.locator('.label', { hasText: name }).locator('.twist').click();
      await page.waitForTimeout(REST);
      await search(page, 'SearchIndex.add');
      await page.getByLabel('Find in table').fill('Plot.point');
      await page.getByLabel('Find in table').press('Enter');
      await page.waitForTimeout(REST);
    },
  },
  events: {
    of: events,
    hash: '#view=0-42000000',
    async act(page) {
      const box = await page.locator('.label .pick', { hasText: 'worker 1' }).boundingBox();
      const { x } = await canvas(page);
      await page.mouse.click(x + 300, box.y + 12);
      await tab(page, 'Selection');
    },
  },
  flame: {
    of: example(),
    hash: '#tab=flame',
    async act(page) {
      await page.setViewportSize({ width: 1400, height: 900 });
    },
  },
  stacks: {
    of: example(),
    hash:
      '#tab=flame&transform=focus%3Apress.Worker.run' +
      '&transform=merge%3Apress.Blocks.block&transform=collapse-package%3Apress.Plot',
    async act(page) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.waitForTimeout(REST);
      const box = await page.locator('.flame canvas').boundingBox();
      const position = { x: box.width / 2, y: 80 };
      await page.locator('.flame canvas').click({ button: 'right', position });
    },
  },
  frames: {
    of: frames,
    hash: '#tab=frames',
    async act(page) {
      await page.setViewportSize({ width: 1280, height: 800 });
    },
  },
  counters: {
    of: events,
    hash: '#view=0-42000000&range=5000000-30000000&tab=counters',
    async act(page) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.locator('.label .pick', { hasText: 'memory' }).first().click();
      await tab(page, 'Counters');
    },
  },
  compare: {
    of: [
      'diff',
      '--open',
      '--by',
      'path',
      '--base',
      ...runs('old', BEFORE),
      '--new',
      ...runs('new', AFTER),
    ],
    hash: '',
    async act(page) {
      await page.setViewportSize({ width: 1280, height: 800 });
    },
  },
  sql: {
    of: example(),
    hash: '',
    async act(page) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await tab(page, 'SQL');
      await ask(page, 'select id, ts, dur, name, utid from slice order by dur desc limit 1000');
    },
  },
  'sql-chart': {
    of: example(),
    hash: '',
    async act(page) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await tab(page, 'SQL');
      await ask(
        page,
        '-- calls of 1 ms and more\nselect ts, dur, name from slice where dur > 1000000',
      );
      await page.getByRole('button', { name: 'As a track' }).click();
      await page.getByLabel('Chart', { exact: true }).selectOption('lines');
      await page.waitForSelector('.sql .chart-plot canvas');
    },
  },
  states: {
    of: sched,
    hash: '#tab=states',
    async act() {},
  },
  perf: {
    of: perf,
    above: 212, // the tab alone: a small file
    hash: '#tab=flame',
    async act(page) {
      await page.setViewportSize({ width: 900, height: 530 });
    },
  },
  spans: {
    of: spans,
    hash: '#view=440000000-640000000',
    async act(page) {
      await page.setViewportSize({ width: 1280, height: 720 });
      const row = await page
        .locator('.label .pick', { hasText: 'GET /cart' })
        .first()
        .boundingBox();
      const { x, width } = await canvas(page);
      await page.mouse.click(x + width * 0.44, row.y + 30);
    },
  },
  cprofile: {
    of: cprofile,
    above: 212,
    hash: '#tab=flame',
    async act(page) {
      await page.setViewportSize({ width: 900, height: 530 });
    },
  },
  strace: {
    of: strace,
    hash: '',
    async act(page) {
      await page.setViewportSize({ width: 1280, height: 620 });
    },
  },
  pprof: ofProfile('pprof/heap.pb.gz', true),
  callgrind: ofProfile('callgrind/callgrind.out', true),
  firefox: ofProfile('firefox/profile.json.gz', false),
  dark: {
    of: example(),
    hash: '#view=52000000-182000000&note=62000000-154500000~pages are built&tab=top-down',
    scheme: 'dark',
    async act() {},
  },
};

const browser = await chromium.launch({
  executablePath,
  args: ['--headless', '--no-sandbox', '--disable-gpu'],
});

async function take(
  name,
  { file = `pictures/${name}.png`, of, hash, scheme = 'light', above = 0, act },
) {
  const viewer = await view(...[typeof of === 'function' ? of() : of].flat());
  const page = await browser.newPage({
    viewport: { width: 1600, height: 1000 },
    colorScheme: scheme,
  });
  await page.goto(viewer.address + hash);
  await page.waitForSelector('.page');
  // The letters of pictures are the same wherever they are made; the theme reads them anew.
  await page.evaluate(() =>
    document.documentElement.style.setProperty('--font', '"Liberation Sans", sans-serif'),
  );
  const shade = page.getByRole('button', { name: 'Light or dark' });
  await shade.click();
  await shade.click();
  await page.waitForTimeout(REST);
  await act(page);
  await page.waitForTimeout(REST);
  const { width, height } = page.viewportSize();
  const clip = { x: 0, y: above, width, height: height - above };
  await page.screenshot({ path: join(docs, file), clip });
  await page.close();
  await viewer.stop();
  console.log(join(docs, file));
}

const wanted = process.argv.slice(2);
for (const [name, picture] of Object.entries(PICTURES)) {
  if (picture.needs && !process.env[picture.needs]) continue;
  if (wanted.length === 0 || wanted.includes(name)) await take(name, picture);
}
await browser.close();
rmSync(folder, { recursive: true });
