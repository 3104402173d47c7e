// SPDX-License-Identifier: Apache-2.0
// What a report keeps when it must be small: with every byte more at least as many slices, never
// none, and no room left over that something would fit in.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { program } from '../browser/program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'ladder-'));
after(() => rmSync(folder, { recursive: true }));

let seed = 11;
const roll = (below) => (seed = (seed * 48271) % 2147483647) % below;
const text = (length) => Array.from({ length }, () => roll(36).toString(36)).join('');

const slice = (i, dur, args) => ({
  ...{ ph: 'X', name: `f${roll(300)}`, pid: 1, tid: 1 + roll(4), ts: i * 500 + roll(400), dur },
  ...(args && { args }),
});
const instant = (i) => ({ ph: 'i', name: 'tick', s: 't', pid: 1, tid: 1, ts: i * 3 + roll(3) });
const snapshot = (i) => ({
  ...{ ph: 'O', name: 'Layer', id: '0x1', pid: 1, tid: 1, ts: i * 900 },
  args: { snapshot: { picture: text(200 + roll(20_000)) } },
});
const some = (count, make) => Array.from({ length: count }, (_, i) => make(i));

/** What makes each of them large. */
const TRACES = {
  'lengths.json': { traceEvents: some(20_000, (i) => slice(i, 1 + roll(1000) ** 2 / 1000)) },
  'equal.json': { traceEvents: some(20_000, (i) => slice(i, 2)) },
  'arguments.json': {
    traceEvents: some(3000, (i) => slice(i, 1 + roll(90), { text: text(roll(i % 9 ? 40 : 900)) })),
  },
  'snapshots.json': {
    traceEvents: [...some(500, (i) => slice(i, 1 + roll(90))), ...some(60, snapshot)],
  },
  'objects.json': { traceEvents: some(60, snapshot) },
  'instants.json': {
    traceEvents: [...some(2000, (i) => slice(i, 1 + roll(90))), ...some(90_000, instant)],
  },
  'beside.json': { traceEvents: some(2000, (i) => slice(i, 1 + roll(90))), dump: text(300_000) },
};

function write(file, size) {
  const page = join(folder, 'report.html');
  const words = ['html', '--no-cache', '-q', '-o', page, file];
  if (size) words.push('--max-size', String(size));
  const { status, stderr } = spawnSync(program(), words, { encoding: 'utf8' });
  return status === 0 ? readReport(page) : { status, stderr };
}

function readReport(page) {
  const html = readFileSync(page, 'latin1');
  const [, manifest] = /data-of="manifest">([^<]*)</.exec(html);
  const elements = [...html.matchAll(/data-of="file0">([^<]*)</g)].map(([, packed]) => packed);
  const packed = Buffer.concat(elements.map((one) => Buffer.from(one, 'base64')));
  const { traceEvents } = JSON.parse(gunzipSync(packed));
  return {
    status: 0,
    size: html.length,
    empty: html.length - elements.join('').length,
    note: JSON.parse(manifest).note ?? '',
    slices: traceEvents.filter(({ ph }) => ph === 'X').length,
    events: traceEvents,
  };
}

for (const [name, content] of Object.entries(TRACES))
  test(name, () => {
    const file = join(folder, name);
    writeFileSync(file, JSON.stringify(content));
    const whole = write(file);
    const carried = whole.size - whole.empty;
    let before = { slices: 0 };
    for (const share of [0.03, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 1]) {
      // The smaller note is in what it has room for, too.
      const size = share === 1 ? whole.size - 1 : Math.round(whole.empty + share * carried);
      const made = write(file, size);
      const told = `${share}: ${made.size} of ${size} bytes, ${made.slices} slices: ${made.note}`;
      if (made.status !== 0) {
        assert.equal(before.slices, 0, 'less room was enough');
        continue;
      }
      assert.ok(made.size <= size, told);
      if (made.slices < whole.slices || name !== 'beside.json')
        assert.ok(made.size - whole.empty >= 0.7 * (size - whole.empty), told);
      assert.match(made.note, /^This is a part of the trace/);
      assert.ok(made.slices >= before.slices, `${told}; before: ${before.slices}`);
      assert.ok(made.slices > 0 || whole.slices === 0, told);
      assert.ok(made.events.length > 0, told);
      before = made;
    }
    assert.ok(before.size, 'nothing was small enough');
  });

test('arguments are dropped before slices that carry much information', () => {
  const file = join(folder, 'arguments.json');
  const whole = write(file);
  const made = write(file, Math.round(whole.empty + 0.6 * (whole.size - whole.empty)));
  const longest = Math.max(...made.events.map(({ args }) => args?.text?.length ?? 0));
  assert.ok(made.slices > 0.5 * whole.slices, made.note);
  assert.ok(longest > 30 && longest < 900, `${longest} characters`);
});

test('data beside the events of a file are dropped first', () => {
  const made = write(join(folder, 'beside.json'), write(join(folder, 'beside.json')).size - 1);
  assert.equal(made.slices, 2000);
  assert.match(made.note, /Metadata of more than 4096 bytes were left out\./);
});

test('a limit that is too small names the smallest one that works', () => {
  for (const name of Object.keys(TRACES)) {
    const file = join(folder, name);
    const { status, stderr } = write(file, 10_000);
    assert.equal(status, 1);
    const [, least] = /the smallest possible report has (\d+) bytes/.exec(stderr);
    assert.ok(write(file, least).size <= least);
    // Packed, a little more may be a few bytes shorter.
    assert.equal(write(file, least - 200).status, 1);
  }
});
