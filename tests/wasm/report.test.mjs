// SPDX-License-Identifier: Apache-2.0
// Reports of traces from below a size to fifty times it: none is larger, what travels is what `cut`
// makes of the trace, and the engine inside opens it and counts what the command line counts.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { program } from '../browser/program.mjs';
import { open } from './module.mjs';

const folder = mkdtempSync(join(tmpdir(), 'report-'));
after(() => rmSync(folder, { recursive: true }));

const generate = (kind, ...words) =>
  execFileSync(join(process.env.GENERATORS, `generate-${kind}`), words);
const run = (...words) => execFileSync(program(), words, { maxBuffer: 1 << 28 });

/** The page and its engine, and room for a part of each trace, however large these two become. */
const BUDGET = (() => {
  const [trace, page] = [join(folder, 'one.json'), join(folder, 'one.html')];
  writeFileSync(trace, '[{"ph":"X","ts":0,"dur":1,"pid":1,"tid":1,"name":"n"}]');
  run('html', '-q', '-o', page, trace);
  return statSync(page).size + 155_000;
})();

/** Stacks of functions that call each other, with weights. */
function stacks() {
  let seed = 5;
  const roll = (below) => (seed = (seed * 48271) % 2147483647) % below;
  const line = () =>
    Array.from({ length: 3 + roll(9) }, () => `function_${roll(400)}`).join(';') +
    ` ${1 + roll(900)}\n`;
  return Array.from({ length: 30_000 }, line).join('');
}

/** The least and the most that each is larger than the budget. */
const TRACES = [
  ['small.trace', 0, 1, (file) => generate('method-trace', file, '12000')],
  ['stacks.txt', 1, 5, (file) => writeFileSync(file, stacks())],
  ['phone.ftrace', 5, 6, (file) => generate('ftrace', file, '10000000')],
  ['page.json', 18, 21, (file) => generate('trace-event', file, '36000000')],
  ['large.trace', 47, 51, (file) => generate('method-trace', file, '6600000')],
];

/** Where the shortest slices are not what makes it large. */
const draw = (count, event) => {
  let seed = 7;
  const roll = () => (seed = (seed * 48271) % 2147483647);
  return JSON.stringify(
    Array.from({ length: count }, (_, i) => ({ ...event(roll, i), pid: 1, tid: 1, ts: i * 3 })),
  );
};
const STUBBORN = [
  [
    'arguments.json',
    /^This is a part of the trace\. 40000 of 40000 .* Arguments .* of more than 40 bytes after .*/,
    () =>
      draw(40_000, (roll) => ({
        ph: 'X',
        dur: 2,
        name: 'n',
        args: { text: `${roll()}${roll()}${roll()}${roll()}` },
      })),
  ],
  [
    'counters.json',
    /^This is a part of the trace; up to ([\d.]+ms)\. Arguments, .* were left out\.$/,
    () => draw(250_000, (roll) => ({ ph: 'C', name: 'c', args: { value: roll() } })),
  ],
];

function reportOf(file) {
  const page = readFileSync(file, 'latin1');
  const [, manifest] = /data-of="manifest">([^<]*)</.exec(page);
  const elements = [...page.matchAll(/data-of="file0">([^<]*)</g)];
  const packed = Buffer.concat(elements.map(([, text]) => Buffer.from(text, 'base64')));
  return { ...JSON.parse(manifest), carried: gunzipSync(packed) };
}

for (const [name, least, most, make] of TRACES)
  test(`${name} fits into ${BUDGET} bytes`, async () => {
    const [whole, page] = [join(folder, name), join(folder, `${name}.html`)];
    make(whole);
    const times = statSync(whole).size / BUDGET;
    assert.ok(times >= least && times <= most, `${times} times the budget`);
    run('html', '-q', '--max-size', String(BUDGET), '-o', page, whole);
    assert.ok(statSync(page).size <= BUDGET, `${statSync(page).size} bytes`);
    const { files, note, carried } = reportOf(page);
    const [, shortest] = /slices shorter than ([\d.]+\w+),/.exec(note ?? '') ?? [];
    const [, time] = /up to ([\d.]+ ms)/.exec(note ?? '') ?? [];
    // Stacks without times lie one after another, a nanosecond for a weight of 1.
    const [, weight] = /up to weight (\d+)/.exec(note ?? '') ?? [];
    const end = time?.replace(' ', '') ?? (weight && `${weight}ns`);
    assert.equal(shortest === undefined && !weight, times < 1, note);
    const chosen = shortest ? ['--filter', `dur>=${shortest}`] : [];
    if (end) chosen.push('--range', `:${end}`);
    const limited = /Arguments|Instants|Metadata/.test(note ?? '');
    const cut = chosen.length > 0 ? run('cut', '-q', ...chosen, whole) : readFileSync(whole);
    assert.ok(limited || carried.equals(cut), 'what travels is not the cut');
    const { module, ready } = await open([{ name: files[0].name, bytes: carried }]);
    assert.ok(ready, module.status());
    const part = join(folder, `part-${files[0].name}`);
    writeFileSync(part, carried);
    const lines = run('collapse', '-q', part);
    assert.ok(lines.length > 0);
    assert.ok(lines.equals(Buffer.from(module.ask('collapsed').bytes)), 'other stacks');
    // Slices that overlap nest otherwise when what kept them apart has gone; one that the range ends
    // is cut to whole ticks.
    if (!name.endsWith('.ftrace') && !end)
      assert.ok(lines.equals(run('collapse', '-q', ...chosen, whole)));
  });

for (const [name, expected, make] of STUBBORN)
  test(`${name} fits into ${BUDGET} bytes`, () => {
    const [whole, page] = [join(folder, name), join(folder, `${name}.html`)];
    writeFileSync(whole, make());
    run('html', '-q', '--max-size', String(BUDGET), '-o', page, whole);
    const size = statSync(page).size;
    assert.ok(size <= BUDGET, `${size} bytes`);
    const { note, carried } = reportOf(page);
    const [, end] = expected.exec(note.replace(' ms', 'ms')) ?? assert.fail(note);
    assert.ok(size > 0.9 * BUDGET, `${size} bytes: there is room for more`);
    if (end)
      assert.ok(
        carried.equals(run('cut', '-q', '--strip-args', '--range', `:${end}`, whole)),
        'what travels is not the cut',
      );
  });
