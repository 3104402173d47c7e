// SPDX-License-Identifier: Apache-2.0
// Reports: one HTML file with trace, page and engine, opened from the disk.  They tell the numbers of
// the command line, ask nobody for anything, and run nothing of what a trace has inside.
import { strict as assert } from 'node:assert';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { openPage, ready, rested, until } from './browser.mjs';
import { exported, nameOf, profile } from './exported.mjs';
import { after, test } from './suite.mjs';
import { example, json, program, view } from './program.mjs';

const DATA = fileURLToPath(new URL('../../../shared/data/', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'report-'));
after(() => rmSync(folder, { recursive: true }));

const tried = spawnSync(program(), ['html', '-q', '-o', join(folder, 'tried.html'), example()]);
const skip =
  /without the engine/.test(String(tried.stderr)) && 'this build has no engine for pages';

let made = 0;
function report(...words) {
  const file = join(folder, `${made++}.html`);
  execFileSync(program(), ['html', '-q', '-o', file, ...words]);
  return file;
}

/** Besides the report itself nothing may be asked for; the tests of pages allow files nowhere. */
async function openReport(file) {
  const opened = await openPage(pathToFileURL(file).href);
  const own = `request: ${pathToFileURL(file).href}`;
  const others = () => opened.troubles.filter((words) => words !== own);
  return { ...opened, others };
}

test('a report on disk has the figures of the command line', { skip }, async () => {
  const { page, others, close } = await openReport(report(example()));
  await ready(page);
  assert.equal(await page.title(), 'example.trace – traceview');
  assert.ok((await profile(page, 'view=0,4768269000', example(), [])) > 100);
  assert.equal(await page.getByRole('button', { name: 'Quit traceview' }).count(), 0);
  assert.deepEqual(others(), []);
  await close();
});

test('a report carries only the chosen part', { skip }, async () => {
  const range = ['--range', '50ms:200ms', '--thread', 'main'];
  const file = report(...range, example());
  const { page, others, close } = await openReport(file);
  await ready(page);
  const ours = await exported(page, 'tab=profile', 'profile');
  const theirs = json('profile', '--format', 'json', '--context-switch', ...range, example());
  const figures = (m) => `${nameOf(m)} ${m.calls} ${m.incl_real_ns} ${m.excl_real_ns}`;
  // Waiting is a difference of two clocks, each cut to whole microseconds.
  const calls = (rows) => rows.filter((m) => m.calls > 0 && !/^\(context/.test(nameOf(m)));
  assert.deepEqual(calls(ours).map(figures).sort(), calls(theirs).map(figures).sort());
  assert.deepEqual(others(), []);
  await close();
});

const FORMATS = [
  'method-trace/synthetic/f3-dual.trace',
  'method-trace/synthetic/f5B-stream-dual-ns.trace',
  'method-trace/synthetic/v1-thread-cpu.trace',
  'trace-event/clang/SkiaHelper.json',
  'trace-event/viztracer/different_sorts.json.gz',
  'trace-event/viztracer/fib.json',
];

/** One small file of each format that tests can write. */
function written() {
  const file = (name, bytes) => {
    writeFileSync(join(folder, name), bytes);
    return join(folder, name);
  };
  const mark = (at, text) => `app-100 (100) [000] ...1 1.000${at}: tracing_mark_write: ${text}\n`;
  const marks = `# tracer: nop\n#\n${mark(100, 'B|100|frame')}${mark(350, 'E|100')}`;
  const stacks = 'main;work;deep 7\nmain;work 3\nmain;idle 12\n';
  return [
    file('stacks.txt', stacks),
    file('stacks.txt.gz', gzipSync(stacks)),
    file('marks.ftrace', marks),
    file(
      'page.html',
      `<html><script class="trace-data" type="application/text">\n${marks}</script></html>`,
    ),
    file(
      'java.hprof.txt',
      `JAVA PROFILE 1.0.1, created Sun Nov 22 07:00:00 2026
THREAD START (obj=1, id = 200001, name="main", group="main")
TRACE 300001: (thread=200001)
\tApp.work(App.java:12)
\tApp.main(App.java:3)
TRACE 300002: (thread=200001)
\tApp.main(App.java:4)
CPU SAMPLES BEGIN (total = 4) Sun Nov 22 07:00:01 2026
rank   self  accum   count trace method
   1 75.00% 75.00%       3 300001 App.work
   2 25.00% 100.00%       1 300002 App.main
CPU SAMPLES END
`,
    ),
  ];
}

async function compare(file) {
  const { page, others, close } = await openReport(report(file));
  await ready(page);
  assert.ok((await profile(page, 'tab=profile', file, [])) > 0, basename(file));
  assert.deepEqual(others(), [], basename(file));
  await close();
}

test('reports of all formats open', { skip }, async () => {
  for (const file of written()) await compare(file);
});

test(
  'reports of real files of all formats open',
  { skip: skip || (!existsSync(DATA) && '../shared not there') },
  async () => {
    for (const name of FORMATS) await compare(join(DATA, name));
  },
);

test('a report keeps its maximum size and says what was left out', { skip }, async () => {
  const tiny = join(folder, 'tiny.json');
  writeFileSync(tiny, '[{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":1}]');
  const [none, whole] = [statSync(report(tiny)).size, statSync(report(example())).size];
  const sizes = [0.2, 0.4, 0.6, 0.8].map((share) => Math.floor(none + share * (whole - none)));
  const files = sizes.map((most) => report('--max-size', String(most), example()));
  files.forEach((file, i) => assert.ok(statSync(file).size <= sizes[i]));
  files.forEach((file, i) =>
    assert.ok(i === 0 || statSync(file).size >= statSync(files[i - 1]).size),
  );
  const { page, others, close } = await openReport(files[2]);
  await ready(page);
  const words = await page
    .getByText(/without slices shorter than [\d.]+[um]s, so that it is no larger/)
    .first()
    .innerText();
  const [, length] = /shorter than ([\w.]+),/.exec(words);
  const ours = await exported(page, 'tab=profile', 'profile');
  const theirs = json('profile', '--format', 'json', '--filter', `dur>=${length}`, example());
  const figures = (m) =>
    `${nameOf(m)} ${m.signature} ${m.calls} ${m.incl_real_ns} ${m.excl_real_ns}`;
  const calls = (rows) => rows.filter((m) => m.calls > 0 && !/^\(context/.test(nameOf(m)));
  assert.deepEqual(calls(ours).map(figures).sort(), calls(theirs).map(figures).sort());
  assert.deepEqual(others(), []);
  await close();
});

test('two files become one trace, each with its own times', { skip }, async () => {
  const other = join(folder, 'other.json');
  const event = { ph: 'X', name: 'other', pid: 1, tid: 1, ts: 0, dur: 1000 };
  writeFileSync(other, JSON.stringify([event]));
  const file = report('--offset', `${other}=2ms`, example(), other);
  const { page, close } = await openReport(file);
  await ready(page);
  assert.equal(await page.title(), 'example.trace and 1 more – traceview');
  const rows = await exported(page, 'tab=profile', 'profile');
  assert.equal(rows.find((row) => nameOf(row) === 'other').incl_real_ns, 1_000_000);
  await close();
});

const HOSTILE = [
  '</script><script>window.hit = 1</script>',
  '<img src=x onerror="window.hit = 2">',
  '"></title></style></textarea><svg onload="window.hit = 3">',
  '<!-- --><script data-of="engine">AAAA</script>',
  '--></script><!--<script>window.hit = 4',
  "javascript:window.hit=5//'",
  '\u2028window.hit = 6\u2029</script>\u2028',
  '${window.hit = 7}`;window.hit = 8//&lt;b&gt;]]>',
];

/** Every kind of event, with a text of `text` wherever one can stand. */
function hostileEvents(text, i) {
  const of = (ph, ts, more = {}) => ({ ph, name: text, cat: text, pid: 1, tid: i, ts, ...more });
  const args = { [text]: text, deep: { [text]: [text, { [text]: text }] } };
  const id = { id: `0x${i + 1}` };
  const dump = {
    [text]: { guid: text, attrs: { [text]: { type: 'string', value: text, units: '' } } },
  };
  return [
    { ph: 'M', name: 'thread_name', pid: 1, tid: i, args: { name: text } },
    { ph: 'M', name: 'process_name', pid: i, args: { name: text } },
    { ph: 'M', name: 'process_labels', pid: i, args: { labels: text } },
    { ph: 'M', name: text, pid: i, args },
    of('X', i, { dur: 50, args, stack: [text, text], [text]: text }),
    of('B', 60 + i, { dur: 5, args, cname: text }),
    of('E', 70 + i, { args }),
    of('b', i, { ...id, args }),
    of('n', i + 1, { ...id, args }),
    of('e', i + 20, { ...id, args }),
    of('s', i + 1, id),
    of('f', 61 + i, { ...id, bp: 'e' }),
    of('i', i + 2, { s: 'gpt'[i % 3], args }),
    of('R', i + 3, { args }),
    of('C', i, { args: { [text]: i } }),
    of('C', i + 9, { id: text, args: { [text]: 2 * i } }),
    of('N', i, id),
    of('O', i + 3, { ...id, args: { snapshot: args } }),
    of('O', i + 5, { ...id, args: { snapshot: { type: text, [text]: { id_ref: `0x${i + 1}` } } } }),
    of('D', i + 40, id),
    of('P', i + 4, { sf: i, args }),
    of('v', i + 6, { ...id, args: { dumps: { allocators: dump, level_of_detail: text } } }),
    of('X', i, { dur: 9, pid: text, tid: text, args }),
  ];
}

function hostileTrace() {
  const frames = HOSTILE.map((name, i) => [i, { name, category: name }]);
  return {
    traceEvents: HOSTILE.flatMap(hostileEvents),
    stackFrames: Object.fromEntries(frames),
    samples: HOSTILE.map((name, i) => ({ cpu: 0, tid: i, ts: i / 1e6, name, sf: i, weight: 1 })),
    metadata: { [HOSTILE[0]]: HOSTILE },
    otherData: Object.fromEntries(HOSTILE.map((text) => [text, text])),
    [HOSTILE[4]]: HOSTILE[4],
  };
}

const TABS = ['profile', 'flame', 'top-down', 'bottom-up', 'selection', 'states', 'search'].concat(
  ...['findings', 'health', 'info'],
);
const MARKS = ['instant', 'object', 'snapshot', 'sample', 'memory'];

/** Addresses of everything that can be looked at. */
function hostilePlaces() {
  const word = encodeURIComponent(HOSTILE[0]);
  const numbers = [0, 1, 4, 6, 7];
  return [
    ...TABS.map((tab) => `tab=${tab}&search=hit&in=name,args&method=1`),
    ...['time', 'by-name', 'sandwich', 'inverted'].map(
      (order) => `tab=flame&flame=${order}&method=1`,
    ),
    ...numbers.flatMap((number) => MARKS.map((kind) => `tab=selection&mark=${kind}.${number}`)),
    ...[0, 1, 2, 3, 4, 5].map((row) => `tab=selection&call=${row}.0`),
    `tab=search&search=${word}&find=${word}&only=${word}&note=${word}`,
    `filter=${encodeURIComponent('name:hit')}&tab=flame&samples=count&pin=${word}`,
    `filter=${word}`,
  ];
}

test('no script inside a trace runs', { skip }, async () => {
  const name = '<img src=x onerror=window.hit=9><!--\u2028<script>.json';
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(hostileTrace()));
  const term = 'name:</script><script>window.hit=10</script>';
  // Both ways on which texts get into a report by themselves: its list of files, and what it tells.
  for (const words of [[], ['--filter', `-${term}`, '--strip-args'], ['--range', ':1s']]) {
    const made = report(...words, file);
    assert.ok(!/window\.hit ?= ?\d+<\/script>|<img src=x/.test(readFileSync(made, 'latin1')));
    const { page, others, close } = await openReport(made);
    await ready(page);
    assert.ok((await page.title()).startsWith('<img src=x onerror=window.hit=9><!--'));
    const shown = new Set();
    const elements = () =>
      page.locator('img, svg[onload], iframe, object, embed, base, meta').count();
    const before = await elements();
    const scripts = await page.locator('script').count();
    if (words.length === 0) {
      const rows = (await exported(page, 'tab=profile', 'profile')).map(nameOf);
      // What would break lines is shown as a letter that stands for it.
      const seen = HOSTILE.map((text) => text.replaceAll(/[\u2028\u2029]/g, '\ufffd'));
      for (const text of seen) assert.ok(rows.includes(text), `${text} in ${rows.join('\n')}`);
    }
    for (const place of words.length === 0 ? hostilePlaces() : ['tab=info', 'tab=search']) {
      await page.evaluate((text) => (location.hash = text), place);
      await rested(page);
      const text = await page.evaluate(() => document.body.innerText);
      for (const hostile of HOSTILE) if (text.includes(hostile.slice(0, 12))) shown.add(hostile);
      assert.equal(await page.evaluate(() => window.hit), undefined, place);
      assert.equal(await elements(), before, place);
      assert.equal(await page.locator('script').count(), scripts, place);
    }
    if (words.length === 0) assert.ok(shown.size >= HOSTILE.length - 2, [...shown].join('\n'));
    if (words[0] === '--filter')
      assert.match(await page.evaluate(() => document.body.innerText), /filter: -name:<\/script>/);
    assert.deepEqual(others(), []);
    await close();
  }
});

test('the content policy stops a script that got into the page', { skip }, async () => {
  const { page, close } = await openReport(report(example()));
  await ready(page);
  const tried = await page.evaluate(async () => {
    const script = document.createElement('script');
    script.textContent = 'window.hit = 1';
    document.body.append(script);
    const away = await fetch('https://example.invalid/').then(String, () => 'refused');
    return [window.hit ?? null, away];
  });
  assert.deepEqual(tried, [null, 'refused']);
  await close();
});

test(
  'an unreadable report says so, and another file can be opened in its place',
  { skip },
  async () => {
    // `html` makes no report of such a file: what travels was exchanged on the way.
    const broken = report(example());
    const inside = gzipSync('JAVA PROFILE 1.0.1\0\0\0').toString('base64');
    const whole = readFileSync(broken, 'utf8');
    writeFileSync(broken, whole.replace(/(data-of="file0">)[^<]*/, `$1${inside}`));
    const { page, close } = await openReport(broken);
    await until(() => page.getByRole('alert').count(), 1, 'an error');
    await page.locator('input[type=file]').setInputFiles(example());
    await ready(page);
    assert.equal(await page.title(), 'example.trace – traceview');
    await close();
  },
);

test('a report weighs as much as page and engine plus the packed trace', { skip }, () => {
  const empty = join(folder, 'one.json');
  writeFileSync(empty, '[{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":1}]');
  assert.ok(statSync(report(empty)).size < 1_810_000);
});

const SAVED = 'Self-contained HTML';

/** Saves a report from the viewer's menu; null: the menu has none. */
async function saveReport(page) {
  await page.keyboard.press('Control+s');
  await page.waitForSelector('.save-menu:not([hidden])');
  const entry = page.getByRole('menuitem', { name: SAVED });
  if ((await entry.count()) === 0) return null;
  const [file] = await Promise.all([page.waitForEvent('download'), entry.click()]);
  const path = join(folder, `${made++}-${file.suggestedFilename()}`);
  copyFileSync(await file.path(), path);
  return { path, name: file.suggestedFilename() };
}

test('a report saved from the viewer equals that of the command', { skip }, async () => {
  const viewer = await view(example());
  const { page, close } = await openPage(viewer.address);
  await ready(page);
  const whole = await saveReport(page);
  assert.equal(whole.name, 'example.html');
  assert.ok(readFileSync(whole.path).equals(readFileSync(report(example()))));
  await page.evaluate(() => (location.hash = 'range=50000000-200000000'));
  await page.keyboard.press('Control+s');
  const head = () => page.locator('.save-menu .head').textContent();
  await until(head, (text) => /^Selection of 150/.test(text), 'the selection');
  await page.keyboard.press('Escape');
  const part = await saveReport(page);
  assert.equal(part.name, 'example-part.html');
  await close();
  await viewer.stop();
  const theirs = readFileSync(report('--range', '50ms:200ms', example()));
  assert.ok(readFileSync(part.path).equals(theirs));
});

/** Where an element is cut off: beyond the window, or its text beyond itself. */
const cutOff = (locator) =>
  locator.evaluate((element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const inside = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
    if (!inside || right - left < 1 || bottom - top < 1) return 'outside of the window';
    const fits = [element, element.parentElement].every(
      (box) => box.scrollWidth <= box.clientWidth && box.scrollHeight <= box.clientHeight,
    );
    return fits ? '' : 'does not fit';
  });

test(
  'the note on left-out data is visible in full, however narrow the window',
  { skip },
  async () => {
    const short = report('--range', '50ms:', example());
    const long = report('--range', '50ms:200ms', '--hash-names', '--strip-args', example());
    for (const file of [short, long]) {
      const { page, close } = await openReport(file);
      await ready(page);
      const notice = page.locator('.readout .notice');
      for (const width of [400, 700, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        await page.keyboard.press('Escape');
        await until(() => notice.innerText(), '', 'the notice has gone');
        const button = page.getByRole('button', { name: 'A part of the trace' });
        const box = await button.boundingBox();
        assert.ok(box.x >= 0 && box.x + box.width <= width, `the button at ${width}`);
        await button.focus();
        await page.keyboard.press('Enter');
        await until(
          () => notice.innerText(),
          (text) => /^This is a part/.test(text),
          'the notice',
        );
        assert.equal(await cutOff(notice), '', `at ${width}`);
      }
      await close();
    }
  },
);

test('a report cannot save reports and says which part it shows', { skip }, async () => {
  const { page, others, close } = await openReport(report('--range', '50ms:200ms', example()));
  await ready(page);
  await page
    .getByText(/^This is a part of the trace; from 50 ms to 200 ms\. \d+ of/)
    .first()
    .waitFor();
  assert.equal(await saveReport(page), null);
  // Keys take the notice away; this stays, and the tab "info" has all of it.
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'A part of the trace' }).waitFor();
  assert.match(
    await page.locator('.top .facts').getAttribute('title'),
    /\d+ of \d+ slices are in it/,
  );
  assert.deepEqual(others(), []);
  await close();
});

test(
  'a build without the engine has no entry for reports',
  { skip: !skip && 'this build has it' },
  async () => {
    const viewer = await view(example());
    const { page, close } = await openPage(viewer.address);
    await ready(page);
    assert.equal(await saveReport(page), null);
    await close();
    await viewer.stop();
  },
);

test('a browser without its own base64 decoder opens a report, too', { skip }, async () => {
  const { page, close } = await openPage('about:blank');
  await page.addInitScript(() => delete Uint8Array.fromBase64);
  await page.goto(pathToFileURL(report(example())).href);
  await ready(page);
  assert.equal(await page.evaluate(() => Uint8Array.fromBase64), undefined);
  assert.equal(await page.title(), 'example.trace – traceview');
  await close();
});
