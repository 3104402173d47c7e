// SPDX-License-Identifier: Apache-2.0
// The static site: any host serves it, it opens files by itself, keeps them to itself, and does so
// without a network once it was visited.  Its numbers are those of the command line.
import { strict as assert } from 'node:assert';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateSync, gunzipSync, gzipSync } from 'node:zlib';
import { openPage, place, ready, rested, until } from './browser.mjs';
import { exported, FIGURES, nameOf, shown } from './exported.mjs';
import { after, test } from './suite.mjs';
import { example, json, program } from './program.mjs';

const DATA = fileURLToPath(new URL('../../../shared/data/', import.meta.url));
const site = process.env.TRACEVIEW_SITE ?? join(dirname(program()), '../web');
const skip = !existsSync(join(site, 'sw.js')) && 'the site is not in this build';
const folder = mkdtempSync(join(tmpdir(), 'site-'));
after(() => rmSync(folder, { recursive: true }));

const TYPES = { html: 'text/html', js: 'text/javascript' };

/** A host of files and nothing else, below a path; `files` are what it has. */
async function serve(files, below = '/some/path/') {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    const name = request.url.slice(below.length) || 'index.html';
    const bytes = request.url.startsWith(below) ? files[name] : undefined;
    const type = TYPES[name.split('.').pop()] ?? 'application/octet-stream';
    response.writeHead(bytes ? 200 : 404, { 'Content-Type': type, 'Cache-Control': 'no-store' });
    response.end(bytes);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const stop = async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise((done) => server.close(done));
  };
  after(stop);
  return { address: `http://127.0.0.1:${server.address().port}${below}`, asked, stop, files };
}

const built = () => ({
  'index.html': readFileSync(join(site, 'index.html')),
  'sw.js': readFileSync(join(site, 'sw.js')),
});

/** What would go to another machine goes to this proxy, from pages, workers and service workers. */
async function openSite(address) {
  const away = [];
  // Chromium's own, about forms: no page can make it or see it.
  const note = (url) => url === 'content-autofill.googleapis.com:443' || away.push(url);
  const proxy = createServer((request, response) => {
    note(request.url);
    response.end();
  });
  proxy.on('connect', (request, socket) => {
    note(request.url);
    socket.destroy();
  });
  await new Promise((done) => proxy.listen(0, '127.0.0.1', done));
  proxy.unref(); // a test that fails does not close it
  const opened = await openPage(address, {
    proxy: { server: `http://127.0.0.1:${proxy.address().port}`, bypass: '127.0.0.1' },
  });
  const close = async () => {
    await opened.close();
    proxy.closeAllConnections();
    await new Promise((done) => proxy.close(done));
  };
  return { ...opened, away, close };
}

const invites = (page) => page.getByRole('heading', { name: 'Drop traces here' }).waitFor();

async function choose(page, ...paths) {
  await page.locator('input[type=file]').setInputFiles(paths);
}

/** "opened", or the words of why not. */
async function outcome(page) {
  const words = page.locator('.open-dialog[open] [role=alert], .screen [role=alert]');
  await page.locator('.page .top h1').or(words).first().waitFor();
  return (await words.count()) > 0 ? await words.first().innerText() : 'opened';
}

/** Names as the page shows them: what cannot be seen has signs of its own, none has words. */
const seen = (name) => (name || '(no name)').replaceAll(/[^\x20-\x7e]+/g, '?');

const figures = (m) =>
  JSON.stringify([seen(nameOf(m)), m.signature ?? '', ...FIGURES.map((k) => m[k] ?? null)]);

/** The page's profile is the command line's; how many lines it has. */
async function same(page, file) {
  await page.getByRole('tab', { name: 'Profile' }).click();
  const ours = await shown(page, 'profile');
  const theirs = json('profile', '--format', 'json', '--context-switch', file);
  const called = theirs.filter((m) => m.calls !== 0);
  assert.deepEqual(ours.map(figures).sort(), called.map(figures).sort());
  return ours.length;
}

function file(name, bytes) {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

const slice = (name, pid, ts, dur) => ({ ph: 'X', name, pid, tid: pid, ts, dur });
const events = JSON.stringify([slice('alpha', 1, 1000, 10), slice('beta', 1, 1002, 3)]);
const others = JSON.stringify([slice('gamma', 2, 1004, 2)]);

test('the first page says what the program is and links to the example', { skip }, async () => {
  const host = await serve(built());
  const { page, troubles, away, close } = await openSite(host.address);
  await invites(page);
  assert.equal(await page.getByText('sends nothing, and needs no network').count(), 1);
  assert.equal(await page.getByRole('button', { name: 'Quit' }).count(), 0);
  await page.getByRole('link', { name: 'Look at an example' }).click();
  await ready(page);
  assert.equal(await page.title(), 'example.trace – traceview');
  assert.ok((await same(page, example())) > 100);
  await page.reload();
  await ready(page);
  assert.equal(await page.title(), 'example.trace – traceview');
  assert.deepEqual([troubles, away], [[], []]);
  assert.deepEqual([...new Set(host.asked)].sort(), ['/some/path/', '/some/path/sw.js']);
  await close();
});

test('a page visited once opens without a network', { skip }, async () => {
  const host = await serve(built());
  const { page, troubles, close } = await openSite(host.address);
  await invites(page);
  await page.evaluate(async () => (await navigator.serviceWorker.ready).active.state);
  await until(() => page.evaluate(async () => (await caches.keys()).length), 1, 'the page is kept');
  await host.stop();
  await page.reload();
  await invites(page);
  await choose(page, file('offline.json', events));
  await ready(page);
  assert.equal(await same(page, join(folder, 'offline.json')), 2);
  await page.goto(`${host.address}index.html#files=0`);
  await page.reload();
  await ready(page);
  assert.equal(await page.title(), 'example.trace – traceview');
  assert.deepEqual(troubles, []);
  await close();
});

/** Another build of the site: its page differs, and its worker names that page. */
async function another(text) {
  const { 'index.html': page, 'sw.js': worker } = built();
  const digest = async (bytes) =>
    Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex');
  const changed = Buffer.from(String(page).replace('<title>traceview', `<title>${text}`));
  const script = String(worker).replaceAll(await digest(page), await digest(changed));
  return { 'index.html': changed, 'sw.js': Buffer.from(script) };
}

test('a new version replaces the old one as a whole', { skip }, async () => {
  const host = await serve(built());
  const { page, close } = await openSite(host.address);
  await invites(page);
  const kept = () => page.evaluate(async () => await caches.keys());
  /** Look for a new version, and wait until its worker is installed or refused. */
  const update = () =>
    page.evaluate(async () => {
      const registration = await navigator.serviceWorker.getRegistration();
      await registration.update().catch(() => undefined);
      const worker = registration.installing;
      while (worker?.state === 'installing')
        await new Promise((done) => worker.addEventListener('statechange', done, { once: true }));
    });
  await until(async () => (await kept()).length, 1, 'the page is kept');
  const [before] = await kept();
  const next = await another('next');
  host.files['sw.js'] = next['sw.js']; // its page is not there yet
  await update();
  await rested(page);
  assert.deepEqual(await kept(), [before]);
  Object.assign(host.files, next);
  // Chromium lets an update join the one before for as long as that has not quite ended.
  await until(
    async () => {
      await update();
      return (await kept()).filter((name) => name !== before).length;
    },
    1,
    'the next version is kept',
  );
  await until(async () => (await kept()).length, 1, 'the version before is not');
  await host.stop();
  const raw = await page.evaluate(async () => {
    const [name] = await caches.keys();
    return await (await (await caches.open(name)).match('./')).text();
  });
  assert.match(raw, /<title>next/);
  await close();
});

/** A file of the command line's own making, where it can pack: gzip, zlib, zstd, zip, tar, a page. */
function packed() {
  const inner = join(folder, 'inner');
  if (!existsSync(inner)) execFileSync('mkdir', ['-p', inner]);
  writeFileSync(join(inner, 'a.json'), events);
  writeFileSync(join(inner, 'b.json'), others);
  writeFileSync(join(inner, 'readme.txt'), 'not a trace\n');
  const at = (name) => join(folder, name);
  const made = [
    file('a.json.gz', gzipSync(events)),
    file('two.json.gz', Buffer.concat([gzipSync(events.slice(0, 50)), gzipSync(events.slice(50))])),
    file('a.json.zz', deflateSync(events)),
    file(
      'cut.json.gz',
      gzipSync(
        JSON.stringify(
          Array.from({ length: 9000 }, (_, i) => slice(`n${i % 7}`, 1, i * 10, (i * 7919) % 9)),
        ),
      ).subarray(0, 30000),
    ),
    file(
      'page.html',
      `<!DOCTYPE html>\n<html><body><script class="trace-data" type="application/text">${events}</script></body></html>`,
    ),
    file(
      'viewer.html',
      `<!DOCTYPE html>\n<html><body><script id="viewer-data" type="text/plain">${gzipSync(events).toString('base64')}</script></body></html>`,
    ),
  ];
  const pack = (name, command, ...words) => {
    if (spawnSync(command, words, { cwd: inner }).status === 0) made.push(at(name));
    else console.log(`# no ${command}: ${name} skipped`);
  };
  pack('both.tar', 'tar', '-cf', at('both.tar'), 'a.json', 'b.json', 'readme.txt');
  pack('both.tar.gz', 'tar', '-czf', at('both.tar.gz'), 'b.json', 'a.json');
  const zip =
    'import sys, zipfile\nz = zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED)\nfor n in sys.argv[2:]: z.write(n)\nz.close()';
  pack('both.zip', 'python3', '-c', zip, at('both.zip'), 'a.json', 'readme.txt', 'b.json');
  pack('a.json.zst', 'zstd', '-qf', 'a.json', '-o', at('a.json.zst'));
  pack('both.tar.zst', 'tar', '--zstd', '-cf', at('both.tar.zst'), 'a.json', 'b.json');
  return made;
}

function plain() {
  const mark = (at, text) => `app-100 (100) [000] ...1 1.000${at}: tracing_mark_write: ${text}\n`;
  return [
    example(),
    file('a.json', events),
    file('stacks.txt', 'main;work;deep 7\nmain;work 3\nmain;idle 12\n'),
    file('marks.ftrace', `# tracer: nop\n#\n${mark(100, 'B|100|frame')}${mark(350, 'E|100')}`),
  ];
}

test(
  'files of every format, packed or not, have the figures of the command line',
  { skip },
  async () => {
    const host = await serve(built());
    const { page, troubles, away, close } = await openSite(host.address);
    for (const path of [...plain(), ...packed()]) {
      await page.goto('about:blank');
      await page.goto(host.address);
      await invites(page);
      await choose(page, path);
      assert.equal(await outcome(page), 'opened', basename(path));
      await ready(page);
      assert.ok((await same(page, path)) > 0, basename(path));
    }
    assert.deepEqual([troubles, away], [[], []]);
    await close();
  },
);

test('several files become one trace, and so do the halves of a split one', { skip }, async () => {
  const host = await serve(built());
  const { page, close } = await openSite(host.address);
  await invites(page);
  await choose(page, file('one.json', events), file('two.json.gz', gzipSync(others)));
  await ready(page);
  assert.equal(await page.title(), 'one.json and 1 more – traceview');
  const rows = await exported(page, `files=${(await place(page)).files}&tab=profile`, 'profile');
  assert.deepEqual(rows.map(nameOf).sort(), ['alpha', 'beta', 'gamma']);
  await close();
});

test('a report opens like the files in it, with their offsets', { skip }, async () => {
  const [one, two] = [file('first.json', events), file('second.json', others)];
  const report = join(folder, 'both.html');
  execFileSync(program(), ['html', '-q', '-o', report, one, two, '--offset', `${two}=5ms`]);
  const host = await serve(built());
  const { page, troubles, close } = await openSite(host.address);
  await invites(page);
  await choose(page, report);
  await ready(page);
  assert.equal(await same(page, report), 3);
  // 1 ms to 1.006 ms and 5 ms: as the program has it.
  assert.equal(json('info', '--format', 'json', report).span_ns, 5_006_000);
  assert.match(await page.locator('body').innerText(), /5\.006/);
  assert.deepEqual(troubles, []);
  await close();
});

/** A stream that ends early. */
function cutOff() {
  const list = Array.from({ length: 9000 }, (_, i) => slice(`n${i % 7}`, 1, i, (i * 7919) % 9));
  return file('early.json.gz', gzipSync(JSON.stringify(list)).subarray(0, 30000));
}

test('a diagnostic of an opened file is not an error of the page', { skip }, async () => {
  const host = await serve(built());
  const { page, close } = await openSite(host.address);
  await invites(page);
  await choose(page, cutOff());
  await ready(page);
  const notice = page.locator('.readout .notice');
  const words = /^The container ends early or is damaged/;
  await until(
    () => notice.textContent(),
    (text) => words.test(text),
    'the notice',
  );
  const colour = (element) => getComputedStyle(element).color;
  const plain = await page.locator('.top h1').evaluate(colour);
  assert.equal(await notice.evaluate(colour), plain);
  const { files } = await place(page);
  await page.evaluate((text) => (location.hash = text), `files=${files}&tab=info`);
  const said = page.locator('#pane-info tr', { hasText: 'The container ends early' });
  assert.equal(await said.locator('th').textContent(), 'unpacking');
  await page.evaluate(() => (location.hash = 'files=77'));
  await until(
    () => notice.textContent(),
    (text) => text.startsWith('The files of that address are no longer open'),
    'the error',
  );
  assert.notEqual(await notice.evaluate(colour), plain);
  await close();
});

const LARGEST = 1_500_000;

/** Three seconds each. That the page answers as the program does is for tests/wasm to show. */
const OF_EACH = 1;

/** Small files of each of these folders; others may lie beside them. */
function small() {
  const taken = {};
  return ['method-trace', 'trace-event']
    .flatMap((folder) =>
      readdirSync(join(DATA, folder), { recursive: true }).map((name) => join(DATA, folder, name)),
    )
    .filter((path) => {
      const stat = statSync(path);
      return stat.isFile() && stat.size < LARGEST && !/\.(md|jsonl|data)$/.test(path);
    })
    .sort()
    .filter((path) => (taken[dirname(path)] = (taken[dirname(path)] ?? 0) + 1) <= OF_EACH);
}

const noData = skip || (!existsSync(DATA) && '../shared not there');

test(
  'the small files of the collection have the figures of the command line',
  { skip: noData },
  async () => {
    const host = await serve(built());
    const { page, troubles, away, close } = await openSite(host.address);
    const troubled = [];
    let opened = 0;
    for (const path of small()) {
      const name = relative(DATA, path);
      const theirs = spawnSync(program(), ['profile', '--format', 'json', '-q', path], {
        maxBuffer: 1 << 28,
      });
      await page.goto('about:blank');
      await page.goto(host.address);
      await invites(page);
      await choose(
        page,
        ...(path.endsWith('.key') ? [path, path.replace(/key$/, 'data')] : [path]),
      );
      const words = await outcome(page);
      if ((words === 'opened') !== (theirs.status === 0)) troubled.push(`${name}: ${words}`);
      if (words !== 'opened' || theirs.status !== 0) continue;
      opened++;
      if (!JSON.parse(theirs.stdout).some(({ calls }) => calls > 0)) continue;
      // The command line has async slices in its profile, the page in a table of their own.
      const pane = page.locator('#pane-profile');
      const alone = pane.getByText('No thread has slices of its own');
      await pane.locator('[data-line]').or(alone).first().waitFor();
      if ((await alone.count()) > 0) continue;
      await same(page, path).catch((error) => troubled.push(`${name}: ${error.message}`));
    }
    assert.deepEqual(troubled, []);
    assert.ok(opened > 10);
    assert.deepEqual([troubles, away], [[], []]);
    await close();
  },
);

/** The page's engine with a ceiling of so many pages of 64 KiB, in as many bytes as it had. */
function confined(html, pages) {
  const element = /(<script type="application\/octet-stream" data-of="engine">)([^<]+)(<)/;
  const [, , text] = element.exec(html);
  const code = gunzipSync(Buffer.from(text, 'base64'));
  const at = code.indexOf(Buffer.from([0x80, 0x80, 0x04])); // 65536, the most there can be
  assert.ok(at > 0 && at < code.length);
  code.set([0x80 | (pages & 0x7f), 0x80 | ((pages >> 7) & 0x7f), pages >> 14], at);
  const packed = gzipSync(code).toString('base64');
  return html.replace(element, (_all, begin, _text, end) => begin + packed + end);
}

test('a file too large for a page says so and names the command', { skip }, async () => {
  const files = built();
  const html = confined(String(files['index.html']), 128);
  const host = await serve({ 'index.html': Buffer.from(html) });
  const { page, close } = await openSite(host.address);
  await invites(page);
  const many = Array.from({ length: 300_000 }, (_, i) => slice(`n${i}`, i % 9, i, 1));
  await choose(page, file("it's large.json", JSON.stringify(many)));
  await page.getByRole('alert').waitFor();
  const words = await page.locator('.screen main').innerText();
  assert.match(words, /the memory that a page can have is not enough/);
  assert.match(words, /The program can use all the memory of the machine/);
  assert.ok(words.includes("traceview 'it'\\''s large.json'"), words);
  await choose(page, file('small.json', events));
  await ready(page);
  await close();
});

test('a reload says that the files must be chosen again', { skip }, async () => {
  const host = await serve(built());
  const { page, close } = await openSite(host.address);
  await invites(page);
  await choose(page, file('gone.json', events));
  await ready(page);
  await page.reload();
  await page.getByText('The files of that address are no longer open').waitFor();
  await invites(page);
  await close();
});

const HOSTILE = [
  '</script><script>window.hit = 1</script>',
  '<img src=x onerror="window.hit = 2">',
  '"></title><svg onload="window.hit = 3">',
  '<a href="javascript:window.hit=4">x</a>',
];

test('no script inside a file runs, and no request leaves the page', { skip }, async () => {
  const list = HOSTILE.flatMap((text, i) => [
    { ...slice(text, 1, i, 50), tid: i, cat: text, args: { [text]: text } },
    { ph: 'M', name: 'thread_name', pid: 1, tid: i, args: { name: text } },
  ]);
  const inside = JSON.stringify(list).replaceAll('</script', '<\\/script');
  const name = 'x<img src=y onerror=window.hit=5>.html';
  const body = `<script>window.hit = 6</script><script class="trace-data">${inside}</script>`;
  const host = await serve(built());
  const { page, away, close } = await openSite(host.address);
  await invites(page);
  await choose(page, file(name, `<!DOCTYPE html>\n<html>${body}</html>`));
  await ready(page);
  const { files } = await place(page);
  const rows = await exported(page, `files=${files}&tab=profile`, 'profile');
  assert.deepEqual(rows.map(nameOf).sort(), [...HOSTILE].sort());
  for (const tab of ['flame', 'top-down', 'search', 'findings', 'health', 'info', 'selection']) {
    await page.evaluate((text) => (location.hash = text), `files=${files}&tab=${tab}&search=hit`);
    await rested(page);
  }
  const tried = await page.evaluate(async () => {
    const script = document.createElement('script');
    script.textContent = 'window.hit = 7';
    document.body.append(script);
    const own = await fetch(location.pathname).then(String, () => 'refused');
    const elsewhere = await fetch('http://traces.example/').then(String, () => 'refused');
    const beacon = await fetch('http://traces.example/', { mode: 'no-cors', method: 'POST' }).then(
      String,
      () => 'refused',
    );
    return [window.hit ?? null, own, elsewhere, beacon];
  });
  assert.deepEqual(tried, [null, 'refused', 'refused', 'refused']);
  assert.equal(await page.locator('img, svg[onload], iframe').count(), 0);
  assert.deepEqual(away, []);
  await close();
});
