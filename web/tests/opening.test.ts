// SPDX-License-Identifier: Apache-2.0
// Offsets as people write them, files in an address, and how files go over.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { httpHost } from '../src/app/host';
import { HttpEngine } from '../src/app/httpEngine';
import { HttpOpening } from '../src/app/httpOpening';
import { EngineError, isAbort } from '../src/model/engine';
import { offsetText, parseOffset, readFiles, sameFiles, writeFiles } from '../src/model/opening';

test('offsets are read with and without units', () => {
  const right: [string, bigint][] = [
    ['12ms', 12_000_000n],
    ['12', 12_000_000n],
    [' -1.5 s ', -1_500_000_000n],
    ['−1.5s', -1_500_000_000n],
    ['+.5us', 500n],
    ['300 µs', 300_000n],
    ['7.9ns', 7n],
    ['-7.9ns', -7n],
    ['0', 0n],
    ['1.', 1_000_000n],
    ['2305843009s', 2305843009n * 10n ** 9n],
  ];
  for (const [text, offset] of right) assert.equal(parseOffset(text), offset, text);
  for (const text of ['', 'ms', '-', '.', '1 min', '1e3', '1,5ms', '1 2ms', '9999999999s', '0x1'])
    assert.equal(parseOffset(text), null, text);
});

test('a written offset can be read again', () => {
  const texts: [bigint, string][] = [
    [0n, '0 ms'],
    [12_000_000n, '12 ms'],
    [-1_500_000_000n, '-1.5 s'],
    [1_500n, '1.5 µs'],
    [1_000_001n, '1000.001 µs'],
    [1_000_000_001n, '1000000.001 µs'],
    [999n, '999 ns'],
    [61_001_000_000n, '61.001 s'],
  ];
  for (const [offset, text] of texts) {
    assert.equal(offsetText(offset), text);
    assert.equal(parseOffset(text), offset);
  }
});

test('files are named in an address', () => {
  const files = [
    { input: 0, offset: 0n },
    { input: 12, offset: -1500n },
  ];
  assert.equal(writeFiles(files), '0,12:-1500');
  assert.deepEqual(readFiles('0,12:-1500'), files);
  for (const text of [
    '',
    '0,',
    'x',
    '0:',
    '0,0',
    '0:1.5',
    '-1',
    '9999999999',
    '0:99999999999999999999',
  ])
    assert.equal(readFiles(text), null, text);
  assert.equal(readFiles(Array.from({ length: 65 }, (_, i) => i).join(',')), null);
  assert(sameFiles(files, [...files]));
  assert(!sameFiles(files, [...files].reverse()));
});

/** What is asked, and answers in their order. */
async function withFetch(
  answers: (() => Response)[],
  run: (asked: { line: string; own: string | null; bytes: number }[]) => Promise<void>,
): Promise<void> {
  const original = globalThis.fetch;
  const asked: { line: string; own: string | null; bytes: number }[] = [];
  globalThis.fetch = (input, init) => {
    const body = init?.body;
    asked.push({
      line: `${init?.method ?? 'GET'} ${String(input)}`,
      own: new Headers(init?.headers).get('X-Traceview'),
      bytes: body instanceof Blob ? body.size : 0,
    });
    return Promise.resolve((answers.shift() ?? (() => new Response('{}')))());
  };
  try {
    await run(asked);
  } finally {
    globalThis.fetch = original;
  }
}

const MIB = 1 << 20;

test('a file is sent in pieces, each from where the last one ended', async () => {
  const size = 17 * MIB;
  const file = new File([new Uint8Array(size)], 'a\nb/.. c.trace');
  const held: number[] = [];
  const piece = (kept: number) => () => {
    held.push(kept);
    return new Response(`{"held":${kept}}`);
  };
  // Of the second not all is kept: the rest comes again.
  const answers = [() => new Response('{"input":5}'), piece(4 * MIB), piece(5 * MIB), piece(size)];
  await withFetch(answers, async (asked) => {
    const told: number[] = [];
    const opening = new HttpOpening();
    assert.equal(await opening.take(file, (n) => told.push(n), new AbortController().signal), 5);
    assert.deepEqual(told, held);
    assert.deepEqual(
      asked.map((a) => a.line),
      [
        `POST api/upload?name=a%E2%90%8Ab%2F..+c.trace&bytes=${size}`,
        'PUT api/upload?input=5&offset=0',
        `PUT api/upload?input=5&offset=${4 * MIB}`,
        `PUT api/upload?input=5&offset=${5 * MIB}`,
      ],
    );
    assert.equal(asked[1]?.bytes, 4 * MIB);
    assert(asked.every((a) => a.own !== null));
  });
});

test('a failed upload is dropped and its reason kept', async () => {
  const file = new File(['abc'], 'x');
  const full = (): Response =>
    new Response('{"error":"no room for 3 bytes","held":0}', { status: 507 });
  await withFetch([() => new Response('{"input":5}'), full], async (asked) => {
    await assert.rejects(
      new HttpOpening().take(file, () => undefined, new AbortController().signal),
      (e) => e instanceof EngineError && e.kind === 'room' && e.message === 'no room for 3 bytes',
    );
    assert.equal(asked.at(-1)?.line, 'POST api/drop?input=5');
  });
  const abort = new AbortController();
  abort.abort();
  await withFetch([() => new Response('{"input":5}')], async (asked) => {
    await assert.rejects(
      new HttpOpening().take(file, () => undefined, abort.signal),
      isAbort,
    );
    assert.deepEqual(
      asked.map((a) => a.line),
      ['POST api/upload?name=x&bytes=3', 'POST api/drop?input=5'],
    );
  });
  // An answer that gets nowhere must not be asked for ever.
  const stuck = (): Response => new Response('{"held":0}');
  await withFetch([() => new Response('{"input":5}'), stuck], async () => {
    await assert.rejects(
      new HttpOpening().take(file, () => undefined, new AbortController().signal),
      (e) => e instanceof EngineError,
    );
  });
});

test('a request to open has files and offsets, and so has a status', async () => {
  await withFetch([], async (asked) => {
    const opening = new HttpOpening();
    await opening.open([
      { input: 0, offset: 0n },
      { input: 7, offset: -(2n ** 60n) },
    ]);
    await opening.cancel(3);
    assert.deepEqual(
      asked.map((a) => a.line),
      ['POST api/open?inputs=0,7&offsets=0,-1152921504606846976', 'POST api/cancel?trace=3'],
    );
  });
  const status = JSON.stringify({
    state: 'ready',
    inputs: [{ input: 0, name: 'a\u0000', offset_ns: '-1152921504606846976' }],
    start: [{ input: 0, offset_ns: '0' }],
  });
  await withFetch([() => new Response(status)], async () => {
    const read = await new HttpEngine(httpHost()).status();
    assert.deepEqual(read.inputs, [{ input: 0, name: 'a␀', offset: -(2n ** 60n) }]);
    assert.deepEqual(read.start, [{ input: 0, offset: 0n }]);
  });
});

test('a question about a closed trace says so', async () => {
  const gone = (): Response => new Response('{"error":"another"}', { status: 410 });
  await withFetch([() => new Response('{}'), gone], async (asked) => {
    let changed = 0;
    const engine = new HttpEngine(httpHost(), 'a b', 3, () => changed++);
    await engine.profile({});
    assert.equal(asked[0]?.line, 'GET api/profile?filter=a+b&trace=3');
    await assert.rejects(engine.profile({}), isAbort);
    assert.equal(changed, 1);
  });
});
