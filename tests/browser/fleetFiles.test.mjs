// SPDX-License-Identifier: Apache-2.0
// The files of a fleet, read by a reader of Parquet that knows neither traceview nor DuckDB, as
// Spark or pandas read them: all rows of all tables, and a question that the files alone answer.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decompress } from 'fzstd';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { after, test } from './suite.mjs';
import { example, json, program } from './program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'fleet-files-'));
const fleet = join(folder, 'fleet');
after(() => rmSync(folder, { recursive: true }));

const run = (...words) => execFileSync(program(), words, { encoding: 'utf8', maxBuffer: 1 << 28 });

/** A display frame and slices, so that every table has rows; many methods, so that columns are packed. */
function makeTrace(name, version, methods) {
  const path = join(folder, name);
  const calls = Array.from({ length: methods }, (_, i) => [
    `m${i}`,
    100 + 10 * i,
    1 + (i % 7) * version,
  ]);
  calls.push(
    ['Choreographer#doFrame', 200_000, 30_000 * version],
    ['work', 300_000, 1000 * version],
  );
  const events = calls.map(([method, ts, dur]) => ({
    ph: 'X',
    name: method,
    pid: 1,
    tid: 1,
    ts,
    dur,
  }));
  const process = {
    ph: 'M',
    name: 'process_name',
    pid: 1,
    args: { name: 'Größe "1"' },
  };
  writeFileSync(path, JSON.stringify({ traceEvents: [...events, process], host_name: 'lab-1' }));
  return path;
}

/** Collapsed stacks, whose weights have rows of their own. */
function makeProfile() {
  const path = join(folder, 'stacks.txt');
  writeFileSync(path, 'main;work 300\nmain 100\n');
  return path;
}

const SLICES = ['--names', 'work'];
const traces = [
  [makeTrace('1.json', 1, 9000), 'version=1'],
  [makeTrace('2.json', 2, 10), 'version=2'],
  [makeTrace('3.json', 3, 10), 'version=2'],
  [makeProfile(), 'version=1'],
  [example(), 'version=1'],
];
for (const [trace, label] of traces)
  run('fleet', 'add', '-q', '--to', fleet, '--label', label, '--label', 'team=x', ...SLICES, trace);

const compressors = {
  ZSTD: (bytes, length) => decompress(bytes, new Uint8Array(length)),
};
const isFile = (name) => name.endsWith('.parquet') && !name.startsWith('0'.repeat(16));
const filesOf = (table) =>
  readdirSync(join(fleet, table))
    .filter(isFile)
    .map((name) => {
      const bytes = readFileSync(join(fleet, table, name));
      return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    });

async function rowsOf(table) {
  const rows = [];
  for (const file of filesOf(table))
    rows.push(...(await parquetReadObjects({ file, compressors })));
  return rows;
}

/** The rows that the program prints, with numbers as texts: keys have more digits than a double. */
function printed(table, trace, label) {
  const labels = ['--label', label, '--label', 'team=x'];
  const lines = run('fleet', 'rows', '--table', table, ...labels, ...SLICES, trace).split('\n');
  const exact = (line) => line.replaceAll(/(?<=[:,[] ?)-?\d+(?=[,\]}])/g, '"$&"');
  return lines.filter(Boolean).map((line) => JSON.parse(exact(line)));
}

/** Numbers as texts, without what is not known, and without the time and the batch of adding. */
function known(row) {
  const text = (value) => (typeof value === 'boolean' ? value : String(value));
  return Object.fromEntries(
    Object.entries(row)
      .filter(([name, value]) => value !== null && name !== 'batch' && name !== 'added')
      .filter(([, value]) => !Array.isArray(value) || value.length > 0)
      .map(([name, value]) => [name, Array.isArray(value) ? value.map(text) : text(value)]),
  );
}

/** Rows as sorted texts; a method has a name in each batch. */
function texts(table, rows) {
  const all = rows.map((row) => JSON.stringify(Object.entries(known(row)).sort()));
  return (table === 'method_name' ? [...new Set(all)] : all).sort();
}

const TABLES = [
  'trace',
  'method',
  'method_name',
  'path',
  'thread',
  'sample',
  'finding',
  'frame',
  'slice',
];
for (const table of TABLES)
  test(`another reader finds every row of ${table}`, async () => {
    const expected = traces.flatMap(([trace, label]) => printed(table, trace, label));
    assert.ok(expected.length > 0, 'the table has rows');
    assert.deepEqual(texts(table, await rowsOf(table)), texts(table, expected));
  });

test('another reader finds the times of a method by version', async () => {
  const names = new Map((await rowsOf('method_name')).map((row) => [row.method, row.name]));
  const versions = new Map((await rowsOf('trace')).map((row) => [row.trace, row.version]));
  const times = {};
  for (const { method, trace, incl } of await rowsOf('method'))
    if (names.get(method) === 'work') (times[versions.get(trace)] ??= []).push(Number(incl));
  // The stack of version 1 weighs 300; the calls are 1, 2 and 3 ms long.
  for (const list of Object.values(times)) list.sort((a, b) => a - b);
  assert.deepEqual(times, { 1: [300, 1_000_000], 2: [2_000_000, 3_000_000] });
});

test('another reader finds the calls of a profile in the sketches', async () => {
  const [{ trace }] = (await rowsOf('trace')).filter(({ uri }) => uri === example());
  const calls = (await rowsOf('method'))
    .filter((row) => row.trace === trace)
    .map((row) => row.counts.reduce((sum, count) => sum + count, 0));
  const expected = json('profile', '--format', 'json', example()).map(
    (method) => method.calls + method.recursive_calls,
  );
  assert.deepEqual(
    calls.sort((a, b) => a - b),
    expected.sort((a, b) => a - b),
  );
});

test('the files have columns of every encoding', () => {
  const groups = TABLES.flatMap(filesOf).flatMap((file) => parquetMetadata(file).row_groups);
  const chunks = groups.flatMap(({ columns }) => columns.map(({ meta_data }) => meta_data));
  const encodings = new Set(chunks.flatMap((chunk) => chunk.encodings));
  for (const name of ['PLAIN', 'DELTA_BINARY_PACKED', 'RLE_DICTIONARY'])
    assert.ok(encodings.has(name), `${name} is among ${[...encodings]}`);
  assert.deepEqual([...new Set(chunks.map(({ codec }) => codec))], ['ZSTD']);
});

test('a file says what it is', () => {
  const [file] = filesOf('path');
  const notes = parquetMetadata(file).key_value_metadata.map(({ key, value }) => [key, value]);
  const version = run('--version').split(/\s/)[1];
  const expected = {
    'traceview.schema': '1',
    'traceview.table': 'path',
    'traceview.version': version,
  };
  assert.deepEqual(Object.fromEntries(notes), expected);
});
