// SPDX-License-Identifier: Apache-2.0
// The numbers in the page equal the command line's: what every table exports, for the whole trace
// and for a range of it, from a method trace, Trace Event JSON and ftrace text.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPage, ready, until } from './browser.mjs';
import { exported, nameOf, profile, sorted } from './exported.mjs';
import { after, test } from './suite.mjs';
import { example, json, program, view } from './program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'numbers-'));
const closing = [];

after(async () => {
  for (const close of closing) await close();
  rmSync(folder, { recursive: true });
});

/** The example with its two clocks, as Trace Event JSON. */
function asJson() {
  const file = join(folder, 'example.json');
  execFileSync(program(), ['convert', '--to', 'json', '-q', '--output', file, example()]);
  return file;
}

/** Three threads on two processors, which take turns; two of them have slices within slices. */
function asFtrace() {
  const lines = ['# tracer: nop', '#'];
  const at = (us) => `1.${String(us).padStart(6, '0')}`;
  const line = (comm, cpu, us, event) =>
    lines.push(`${comm} ( 100) [00${cpu}] ...1 ${at(us)}: ${event}`);
  const turn = (cpu, us, from, state, to) =>
    line(
      `${from[0]}-${from[1]}`,
      cpu,
      us,
      `sched_switch: prev_comm=${from[0]} prev_pid=${from[1]} prev_prio=120 prev_state=${state} ` +
        `==> next_comm=${to[0]} next_pid=${to[1]} next_prio=120`,
    );
  const [app, work, disk] = [
    ['app', 100],
    ['work', 101],
    ['disk', 102],
  ];
  for (let i = 0; i < 200; i++) {
    const us = 1000 * i;
    turn(0, us, i ? work : ['swapper/0', 0], i % 3 ? 'R' : 'S', app);
    turn(1, us + 5, ['swapper/1', 0], 'R', disk);
    line('app-100', 0, us + 10, `tracing_mark_write: B|100|frame ${i % 5}`);
    line('app-100', 0, us + 20, 'tracing_mark_write: B|100|draw');
    line('app-100', 0, us + 300 + ((i * 37) % 100), 'tracing_mark_write: E|100');
    line('app-100', 0, us + 450, 'tracing_mark_write: E|100');
    line('disk-102', 1, us + 470, 'tracing_mark_write: B|100|read');
    turn(0, us + 500, app, ['S', 'D', 'R'][i % 3], work);
    line('disk-102', 1, us + 520 + ((i * 91) % 300), 'tracing_mark_write: E|100');
    turn(1, us + 900, disk, i % 2 ? 'D' : 'S', ['swapper/1', 0]);
  }
  const file = join(folder, 'turns.ftrace');
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

/** Lines with all that they lie under. */
function paths(lines, level) {
  const way = [];
  return lines.map((line) => {
    way.length = line[level];
    way.push(nameOf(line) + (line.signature ?? ''));
    return way.join(' > ');
  });
}

/** Every line of the tree, opened by the address. */
async function topDown(page, hash, file, range) {
  const top = (await exported(page, `${hash}&tab=top-down&down=none`, 'top-down')).length;
  const theirs = json('tree', '--format', 'json', '--min-percent', '0', ...range, file);
  const frames = await page.evaluate(async () => (await (await fetch('api/frames')).json()).frames);
  const named = frames.map(
    ([owner, method, signature]) =>
      nameOf({ class: owner.replaceAll('/', '.'), method }) + signature,
  );
  const first = theirs.filter((line) => line.depth === 0);
  const all = first.map((line) => `${named.indexOf(nameOf(line) + line.signature).toString(36)}*`);
  const opened = `${hash}&tab=top-down&down=${all.join()}`;
  await page.evaluate((text) => (location.hash = text), opened);
  if (theirs.some((line) => line.depth > 0))
    await until(
      () =>
        page
          .locator('#pane-top-down [role=treegrid]')
          .getAttribute('aria-rowcount')
          .then((n) => Number(n) - 1 > top),
      true,
      'opened',
    );
  const ours = await exported(page, opened, 'top-down');
  const mine = paths(ours, 'level').map((way, i) => [
    ...[way, ours[i].calls, ours[i].incl_real_ns, ours[i].self_real_ns],
  ]);
  const other = new Map(
    paths(theirs, 'depth').map((way, i) => [
      way,
      [way, theirs[i].calls, theirs[i].total_ns, theirs[i].self_ns],
    ]),
  );
  // What took no time at all the command line leaves out.
  const none = (line) => !other.has(line[0]) && line[2] === 0;
  for (const line of mine) if (!none(line)) assert.deepEqual(line, other.get(line[0]));
  assert.equal(mine.filter((line) => !none(line)).length, theirs.length);
  return mine.length;
}

/** The command line tells the time of the methods themselves, and who called them then. */
async function bottomUp(page, hash, file, range) {
  const ours = await exported(page, `${hash}&tab=bottom-up`, 'bottom-up');
  const theirs = json(
    ...['tree', '--bottom-up', '--format', 'json', '--min-percent', '0', '--depth', '1'],
    ...[...range, file],
  );
  const mine = new Map(paths(ours, 'level').map((way, i) => [way, ours[i].self_real_ns]));
  const ways = paths(theirs, 'depth');
  ways.forEach((way, i) => assert.equal(mine.get(way), theirs[i].self_ns, way));
  return ways.length;
}

/** From every slice, as the model is dumped. */
function durations(file, from, to) {
  const text = execFileSync(program(), ['dump', '--format', 'jsonl', '-q', file], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  const lines = text.split('\n').filter((line) => /^\{"type": "(slice|track)"/.test(line));
  const objects = lines.map((line) => JSON.parse(line));
  const kinds = new Map(objects.filter((o) => o.type === 'track').map((t) => [t.id, t.kind]));
  const lengths = new Map();
  for (const o of objects) {
    const { type, track, name: own, class: owner, method, start_ns: at, length_ns: length } = o;
    if (type !== 'slice' || !['thread', 'overflow', 'async'].includes(kinds.get(track))) continue;
    const touches = length > 0 ? at < to && at + length > from : at >= from && at < to;
    const name = nameOf({ name: own, class: owner, method });
    if (!touches) continue;
    if (!lengths.has(name)) lengths.set(name, []);
    lengths.get(name).push(Math.min(at + length, to) - Math.max(at, from));
  }
  return lengths;
}

async function statistics(page, hash, file, from, to) {
  const ours = await exported(page, `${hash}&tab=selection`, 'selection');
  const theirs = durations(file, from, to);
  const names = new Set(ours.map((row) => row.name));
  assert.deepEqual([...names].sort(), [...theirs.keys()].sort());
  const alone = ours.filter((row) => ours.filter((r) => r.name === row.name).length === 1);
  for (const row of alone) {
    const all = theirs.get(row.name).sort((a, b) => a - b);
    const n = all.length;
    const sum = all.reduce((a, b) => a + b, 0);
    const median = (all[Math.floor((n - 1) / 2)] + all[Math.floor(n / 2)]) / 2;
    assert.deepEqual(
      [row.count, row.total_ns, row.min_ns, row.max_ns, row.p95_ns],
      [n, sum, all[0], all[n - 1], all[Math.ceil(0.95 * n) - 1]],
      row.name,
    );
    assert.ok(Math.abs(row.median_ns - median) < 1 && Math.abs(row.average_ns - sum / n) < 1);
  }
  assert.ok(alone.length > 0.9 * ours.length);
  return ours.length;
}

async function states(page, hash, file, range) {
  const ours = await exported(page, `${hash}&tab=states`, 'states');
  const theirs = json('states', '--format', 'json', ...range, file).threads;
  const line = (o) => [o.wakeups, o.longest_wait_ns];
  const kinds = ['running', 'runnable', 'sleeping', 'uninterruptible'];
  assert.deepEqual(
    sorted(ours.map((o) => [o.thread, ...kinds.map((k) => o[`${k}_ns`]), ...line(o)])),
    sorted(
      theirs.map((o) => [
        `[${o.thread_id}] ${o.thread}`,
        ...kinds.map((k) => o.states[`${k}_ns`]),
        ...line(o),
      ]),
    ),
  );
  return ours.length;
}

/** The command line looks at whole files alone. */
async function findings(page, file) {
  const ours = await exported(page, 'tab=findings', 'findings');
  let text;
  try {
    text = execFileSync(program(), ['check', '--format', 'json', '-q', file], { encoding: 'utf8' });
  } catch (error) {
    text = error.stdout; // there are some
  }
  const theirs = JSON.parse(text).filter((d) => d.finding);
  const rules = new Map(
    ours.map((row) => [row.rule, [row.rule, row.text, row.count, row.total_ns]]),
  );
  assert.deepEqual(
    sorted([...rules.values()]),
    sorted(theirs.map((d) => [d.kind, d.text, d.count, d.finding.total_ns])),
  );
  for (const { kind, finding } of theirs) {
    const places = ours.filter((row) => row.rule === kind && row.start_ns !== null);
    const worst = (finding.worst ?? []).filter((place) => place.time_ns !== undefined);
    assert.deepEqual(
      places.map((p) => [p.start_ns, p.length_ns, p.value]),
      worst.map((p) => [p.time_ns, p.length_ns, p.figure_ns]),
      kind,
    );
  }
  return ours.length;
}

for (const [what, make] of [
  ['a method trace', example],
  ['Trace Event JSON', asJson],
  ['ftrace text', asFtrace],
]) {
  test(`the tables of ${what} have the command line's numbers`, async () => {
    const file = make();
    const viewer = await view(file);
    const { page, troubles, close } = await openPage(viewer.address);
    closing.push(close, viewer.stop);
    await ready(page);
    const { start_ns: start, end_ns: end } = await (
      await fetch(`${viewer.address}api/trace`)
    ).json();
    const [from, to] = [
      start + Math.round((end - start) * 0.31),
      start + Math.round((end - start) * 0.57),
    ];
    for (const [hash, range, first, last] of [
      ['', [], -Infinity, Infinity],
      [`range=${from}-${to}`, ['--range', `${from}ns:${to}ns`], from, to],
    ]) {
      const lines = [
        await profile(page, hash, file, range),
        await topDown(page, hash, file, range),
        await bottomUp(page, hash, file, range),
        await statistics(page, hash, file, first, last),
      ];
      if (what === 'ftrace text') lines.push(await states(page, hash, file, range));
      assert.ok(
        lines.every((n) => n > 1),
        `something was compared: ${lines}`,
      );
    }
    assert.ok((await findings(page, file)) >= (what === 'ftrace text' ? 0 : 2));
    assert.deepEqual(troubles, []);
  });
}
