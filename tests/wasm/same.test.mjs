// SPDX-License-Identifier: Apache-2.0
// The engine as WebAssembly gives the answers of the program, byte by byte: both are asked the same
// questions about small files of all formats.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { example, view } from '../browser/program.mjs';
import { open } from './module.mjs';
import { questionsFor } from './questions.mjs';

const DATA = fileURLToPath(new URL('../../../shared/data', import.meta.url));
const LARGEST = 1_500_000;
const AT_LEAST = 100;

function bytesOf(path) {
  const bytes = readFileSync(path);
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes;
}

/** The program unpacks pages and archives; a page of ours gets what was in them. */
function isPlain(path) {
  return !/\.(md|html|key|data|b64|zip|systrace)$/.test(path) && statSync(path).size < LARGEST;
}

async function ask(address, question) {
  const response = await fetch(`${address}api/${question}`);
  return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
}

async function settled(address) {
  for (;;) {
    const { bytes } = await ask(address, 'status');
    const status = JSON.parse(bytes.toString());
    if (status.state !== 'loading') return status;
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** The members of a status that do not tell which program it is of. */
function judgement({ state, error }) {
  return { state, error };
}

/** The program has refused the files, in so many words. */
function compareRefusal(words, { module, ready }) {
  const { error } = JSON.parse(`{${module.status()}}`);
  assert.equal(ready, false);
  // What is said of a packed file is the unpacker's.
  assert.ok(
    / a container /.test(words) || words.includes(error.message),
    `${words}${error.message}`,
  );
}

async function compare(...paths) {
  const opened = await open(paths.map((path) => ({ name: path, bytes: bytesOf(path) })));
  const program = await view(...paths).catch((error) => {
    compareRefusal(error.message, opened);
    return null;
  });
  if (!program) return 0;
  try {
    const native = await settled(program.address);
    const { module, ready } = opened;
    const status = JSON.parse(`{${module.status()}}`);
    assert.equal(ready, native.state === 'ready');
    assert.deepEqual(judgement(status), judgement(native));
    if (!ready) return 0;
    const facts = JSON.parse((await ask(program.address, 'trace')).bytes.toString());
    const questions = questionsFor(facts);
    for (const question of questions) {
      const expected = await ask(program.address, question);
      const { status, bytes } = module.ask(question);
      assert.equal(status, expected.status, question);
      assert.ok(expected.bytes.equals(bytes), `${question}: the answers differ`);
    }
    return questions.length;
  } finally {
    await program.stop();
  }
}

test('the example trace is read as by the native program', async () => {
  assert.ok((await compare(example())) >= AT_LEAST);
});

if (existsSync(DATA)) {
  test('two files are read as one trace', async () => {
    const other = join(DATA, 'trace-event/bazel/tiny.json.gz');
    assert.ok((await compare(example(), other)) >= AT_LEAST);
  });
  const files = ['method-trace', 'trace-event'].flatMap((folder) =>
    readdirSync(join(DATA, folder), { recursive: true }).map((name) => join(DATA, folder, name)),
  );
  for (const path of files.filter((path) => statSync(path).isFile() && isPlain(path)).sort())
    test(relative(DATA, path), async () => {
      await compare(path);
    });
} else {
  test(
    'files of all formats are read as by the native program',
    { skip: '../shared not there' },
    () => undefined,
  );
}

test('reading reports its progress', async () => {
  const bytes = readFileSync(example());
  const told = [];
  const { ready } = await open([{ name: 'a.trace', bytes }], (module) => {
    if (told.length < 50) told.push(JSON.parse(`{${module.status() || '"state":"loading"'}}`));
  });
  assert.ok(ready);
  assert.ok(told.length > 0);
  assert.ok(told.every(({ state }) => state === 'loading'));
});

test('truncated containers are reported', async () => {
  const bytes = readFileSync(example());
  const files = [1, 2].map((cut) => ({ name: `${cut}.trace`, bytes, cut }));
  const { module } = await open(files);
  const health = JSON.parse(Buffer.from(module.ask('health').bytes).toString());
  const told = health.diagnostics.filter(({ kind }) => kind === 'container-cut');
  assert.deepEqual(
    told.map(({ severity, count }) => [severity, count]),
    [['error', 3]],
  );
});

test('an unreadable file gives an error with its position', async () => {
  const bytes = Buffer.from('this is no trace of any kind');
  const { module, ready } = await open([{ name: 'note.txt', bytes }]);
  const status = JSON.parse(`{${module.status()}}`);
  assert.equal(ready, false);
  assert.equal(status.error.kind, 'unsupported');
  assert.match(status.error.message, /^note\.txt: .*found the text "this is no trace/);
  assert.deepEqual(module.ask('profile').status, 409);
});
