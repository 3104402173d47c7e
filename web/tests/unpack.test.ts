// SPDX-License-Identifier: Apache-2.0
// Containers: what is found in them, in which order and under which names, and what becomes of
// those that end early, are damaged, nested or made to be too large.
import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync, gzipSync, strFromU8, strToU8, zlibSync } from 'fflate';
import { BlobBytes, blobStorage } from '../src/engine/blobs';
import type { Bytes } from '../src/unpack/bytes';
import { Checksum } from '../src/unpack/checksum';
import { findZlib, Refusal } from '../src/unpack/streams';
import { Unpacking, type Judge, type PageContents } from '../src/unpack/unpack';
import {
  ArrayBytes,
  found,
  gzip,
  judge,
  notes,
  room,
  tar,
  tarMember,
  text,
  together,
  whole,
  zip,
} from './containers';

test('bytes that are no container are unchanged', () => {
  assert.deepEqual(found('a', strToU8('trace 1')), [['a', 'trace 1', null]]);
  assert.deepEqual(found('a', strToU8('anything')), [['a', 'anything', null]]);
});

test('a stream has the name of its file', () => {
  assert.deepEqual(found('a.gz', gzip('trace 1')), [['a.gz', 'trace 1', null]]);
  const zlib = zlibSync(strToU8('trace 2'));
  assert.deepEqual(found('a.z', zlib), [['a.z', 'trace 2', null]]);
});

test('concatenated gzip streams are one', () => {
  assert.deepEqual(found('a', together([gzip('trace 1'), gzip(' and 2')])), [
    ['a', 'trace 1 and 2', null],
  ]);
});

test('other bytes after a gzip stream are not damage', () => {
  for (const after of [new Uint8Array(512), strToU8('garbage of some length')]) {
    const packed = together([gzip('trace 1'), after]);
    assert.deepEqual(found('a', packed), [['a', 'trace 1', null]]);
    assert.deepEqual(notes(packed), []);
  }
  const damaged = gzip('trace 1');
  damaged[2] = 7;
  assert.throws(() => found('a', damaged), /damaged container/);
});

/** Of "zstd --check": 45 bytes in one block that is not packed; with length and checksum. */
const ZSTD = 'KLUv/SQtaQEAdHJhY2Ugb2YgZm9ydHktZml2ZSBieXRlcywgaW4gb25lIGZyYW1lIG9mIGl0c+zB1A==';

test('a zstd frame is read when its length and checksum are right', () => {
  const words = 'trace of forty-five bytes, in one frame of it';
  const packed = Uint8Array.from(atob(ZSTD), (letter) => letter.charCodeAt(0));
  const skipped = new Uint8Array([0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 1, 2]);
  assert.deepEqual(found('a', packed), [['a', words, null]]);
  assert.deepEqual(found('a', together([packed, skipped, packed])), [['a', words + words, null]]);
  assert.deepEqual(notes(together([packed, skipped, packed])), []);
  const wrong = (at: number, by: number): Uint8Array =>
    packed.map((byte, i) => (i === at ? byte ^ by : byte));
  assert.throws(() => found('a', wrong(20, 1)), /damaged container/); // a letter
  assert.throws(() => found('a', wrong(5, 1)), /damaged container/); // the length
  assert.throws(() => found('a', wrong(packed.length - 1, 128)), /damaged container/);
  assert.deepEqual(found('a', together([packed, wrong(20, 1)])), [['a', words, null]]);
  assert.match(notes(together([packed, wrong(20, 1)])).join(), /damaged/);
  assert.throws(() => found('a', packed.subarray(0, 20)), /damaged container/);
});

/** A frame without a length in its head, of one block that is not packed. */
function frame(described: number, words: string): Uint8Array {
  const body = strToU8(words);
  const block = [1 | ((body.length << 3) & 255), body.length >> 5, 0];
  return new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 0, described, ...block, ...body]);
}

test('a zstd frame that needs more memory than the program gives is refused', () => {
  // RFC 8878: 2^(10 + exponent), and eighths of that; the exponent is in the upper five bits.
  assert.deepEqual(found('a', frame(17 << 3, 'trace 1')), [['a', 'trace 1', null]]);
  const refused = /window of 144 MiB, more than the 128 .* "zstd -d --long=31"/;
  assert.throws(() => found('a', frame((17 << 3) | 1, 'trace 1')), refused);
  assert.throws(() => found('a', frame(21 << 3, 'trace 1')), /window of 2048 MiB/);
  assert.throws(() => found('a', frame(0xff, 'trace 1')), /window of \d+ MiB/);
  // All that comes out in one: its length is the window.
  const single = new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 1, 0, 0, 8, 1, 0, 0]);
  assert.throws(() => found('a', single), /window of 129 MiB/);
});

test('the checksum equals that of its specification, also in pieces', () => {
  const of = (...pieces: Uint8Array[]): string => {
    const sum = new Checksum();
    pieces.forEach((piece) => sum.add(piece));
    return sum.low().toString(16);
  };
  // Lower halves of XXH64 as the libraries of others document them; the last is from "zstd --check".
  const long = strToU8('0123456789'.repeat(30));
  const values = ['', 'a', 'abc', 'Nobody inspects the spammish repetition'].map((words) =>
    of(strToU8(words)),
  );
  assert.deepEqual(values, ['51d8e999', 'a98c6e5b', 'ad770999', '8a378bf1']);
  assert.equal(of(long), '1dd597e4');
  for (const cut of [1, 31, 32, 33, 100])
    assert.equal(of(long.subarray(0, cut), long.subarray(cut)), of(long));
});

test('a zip has its traces in their order, under both names', () => {
  const packed = zip({
    'b/2.json': strToU8('trace 2'),
    'readme.txt': strToU8('words'),
    '1.json': [strToU8('trace 1'), { level: 0 }],
  });
  assert.deepEqual(found('x.zip', packed), [
    ['x.zip: b/2.json', 'trace 2', null],
    ['x.zip: 1.json', 'trace 1', null],
  ]);
});

test('a tar has its files, with long names', () => {
  const long = `${'folder/'.repeat(20)}x.trace`;
  const pax = `${`30 path=${long}`.length + 4} path=${long}\n`;
  const packed = tar(
    tarMember('a.trace', 'trace 1'),
    tarMember('link', 'trace no', '2'),
    tarMember('././@LongLink', `${long}\0`, 'L'),
    tarMember('short', 'trace 2'),
    tarMember('pax', pax, 'x'),
    tarMember('short', 'trace 3'),
  );
  const expected = [
    ['x: a.trace', 'trace 1', null],
    [`x: ${long}`, 'trace 2', null],
    [`x: ${long}`, 'trace 3', null],
  ];
  assert.deepEqual(found('x', packed), expected);
  assert.deepEqual(found('x', gzip(packed)), expected);
});

test('stored members of an archive are not taken for text', () => {
  const all: Judge = { ...judge, knows: (head) => text(head).includes('trace') };
  const open = (bytes: Uint8Array): string[] =>
    new Unpacking(all, room, { name: 'x', bytes: new ArrayBytes(bytes) })
      .run()
      .parts.map((part) => `${part.name}: ${text(whole(part.bytes))}`);
  const stored = zip({ a: [strToU8('trace 1'), { level: 0 }] });
  assert.deepEqual(open(stored), ['x: a: trace 1']);
  assert.deepEqual(open(gzipSync(strToU8('trace 1'), { level: 0 })), ['x: trace 1']);
  assert.deepEqual(open(tar(tarMember('a', 'trace 1'))), ['x: a: trace 1']);
  const printed = together([strToU8('done\nTRACE:\n'), zlibSync(strToU8('trace 2'))]);
  const both = zip({ a: [printed, { level: 0 }], b: strToU8('trace 3') });
  assert.deepEqual(open(both), ['x: a: trace 2', 'x: b: trace 3']);
  // Words at the place of tar's magic are words.
  const words = `${'trace '.repeat(50).slice(0, 257)}ustar${' '.repeat(300)}`;
  assert.deepEqual(open(strToU8(words)), [`x: ${words}`]);
});

test('the halves of a split trace are joined', () => {
  const packed = zip({ 'a.data': strToU8('trace data'), 'a.key': strToU8('trace key,') });
  assert.deepEqual(found('x', packed), [['x: a.key', 'trace key,trace data', null]]);
});

test('traces of a page are of one machine', () => {
  assert.deepEqual(found('x', strToU8('<html>\ntrace 1')), [
    ['x: block 1', 'trace 1', 0],
    ['x: block 2', 'trace 1', 0],
  ]);
});

test('a report has files of several machines with their offsets, and says what it lacks', () => {
  const report = (page: Bytes): PageContents => {
    const shared = { start: 7, end: page.size, bytes: page.size - 7, open: false, plain: false };
    const traces = [
      { ...shared, name: 'a', machine: 1, offset: 0n },
      { ...shared, name: 'b', machine: 0, offset: -5n },
    ];
    return { traces, notes: ['a part'], cut: true };
  };
  const both = zip({ p: strToU8('<html>\ntrace 1'), q: strToU8('<html>\ntrace 2') });
  const file = { name: 'x', bytes: new ArrayBytes(both) };
  const { parts, notes, cut } = new Unpacking({ ...judge, page: report }, room, file).run();
  const told = parts.map(({ name, machine, offset }) => [name, machine, offset]);
  // The machines of the second page are others than those of the first.
  assert.deepEqual(told, [
    ['x: p: a', 1, 0n],
    ['x: p: b', 0, -5n],
    ['x: q: a', 3, 0n],
    ['x: q: b', 2, -5n],
  ]);
  const words = 'the container ends early or is damaged: what came before is read';
  assert.deepEqual(notes, ['a part', words, 'a part', words]);
  assert.equal(cut, 2);
});

test('other parts of a report are named, with their own bytes', () => {
  const report = (): PageContents => {
    const shared = { open: false, plain: false, machine: 0, offset: 0n };
    const traces = [
      { ...shared, start: 9, end: 30, bytes: 12, name: 'first.bin' },
      { ...shared, start: 40, end: 50, bytes: 10, name: '' },
      { ...shared, start: 50, end: 60, bytes: 0, name: 'empty' },
      { ...shared, start: 60, end: 70, bytes: 10, name: 'b' },
    ];
    return { traces, notes: [], cut: false };
  };
  const traceText: Judge['traceText'] = (_page, i, take) => take(strToU8(i < 3 ? 'x' : 'trace'));
  const file = { name: 'x', bytes: new ArrayBytes(strToU8('<html>')) };
  const { parts, notes } = new Unpacking({ ...judge, page: report, traceText }, room, file).run();
  assert.deepEqual(
    parts.map(({ name }) => name),
    ['x: b'],
  );
  assert.deepEqual(notes, [
    'first.bin, 12 bytes at byte 9, is of no known format: left out',
    'block 2, 10 bytes at byte 40, is of no known format: left out',
  ]);
});

test('offsets of nested reports have the same limit as those of one report', () => {
  const most = 1n << 61n;
  const moving = (offset: bigint) => (page: Bytes) => {
    const place = { start: 6, end: page.size, bytes: page.size - 6, plain: true, open: false };
    return { traces: [{ ...place, name: 'a', machine: 0, offset }], notes: [], cut: false };
  };
  const file = { name: 'x', bytes: new ArrayBytes(strToU8('<html><html><html>trace 1')) };
  for (const [each, all] of [
    [5n, 15n],
    [most, most],
    [-most, -most],
  ] as const) {
    const { parts } = new Unpacking({ ...judge, page: moving(each) }, room, file).run();
    assert.deepEqual(
      parts.map(({ offset }) => offset),
      [all],
    );
  }
});

test('a truncated stream gives its beginning and says so', () => {
  const words = `trace ${Array.from({ length: 20000 }, (_, i) => i * 7919).join(' ')}`;
  const packed = gzip(words);
  const cut = packed.subarray(0, packed.length >> 1);
  const [first] = found('x', cut);
  assert(words.startsWith(first?.[1] ?? '-'));
  assert((first?.[1].length ?? 0) > words.length / 3);
  assert.match(notes(cut).join(), /ends early/);
  assert.deepEqual(notes(packed), []);
});

test('a truncated zip gives the members before the end', () => {
  const packed = zip({ a: strToU8('trace 1'), b: strToU8('trace 2') });
  const second = packed.findIndex((byte, at) => at > 4 && byte === 0x50 && packed[at + 2] === 3);
  const cut = packed.subarray(0, second + 35);
  assert.deepEqual(found('x', cut)[0], ['x: a', 'trace 1', null]);
  assert.match(notes(cut).join(), /ends early/);
});

test('a tar with a damaged head gives the members before it', () => {
  const packed = tar(tarMember('a', 'trace 1'), tarMember('b', 'trace 2'));
  packed[1024] = 33;
  assert.deepEqual(found('x', packed), [['x: a', 'trace 1', null]]);
  assert.match(notes(packed).join(), /damaged/);
});

test('a container without a trace says so and names what is in it', () => {
  assert.throws(() => found('x', zip({ a: strToU8('words') })), /without a trace in it/);
  assert.throws(() => found('x', gzip('foreign')), /found a foreign file/);
  assert.throws(() => found('x', new Uint8Array([0x1f, 0x8b, 8, 0, 1, 2])), /damaged/);
});

test('nested containers have a limit', () => {
  const layers = (count: number): Uint8Array =>
    Array.from({ length: count }).reduce<Uint8Array>((packed) => gzip(packed), strToU8('trace 1'));
  assert.deepEqual(found('x', layers(4)), [['x', 'trace 1', null]]);
  let packed: Uint8Array = strToU8('trace 1');
  for (let i = 0; i < 3; i++) packed = zip({ x: packed });
  assert.deepEqual(found('x', packed), [['x: x: x: x', 'trace 1', null]]);
  // More are left to the readers, who do not know them.
  assert.deepEqual(found('x', zip({ x: packed }))[0]?.[1].slice(0, 2), 'PK');
  assert.deepEqual(found('x', layers(80))[0]?.[1].slice(0, 1), '\x1f');
});

test('an archive of too many traces is refused', () => {
  const many = (count: number): Uint8Array =>
    zip(Object.fromEntries(Array.from({ length: count }, (_, i) => [`${i}`, strToU8('trace')])));
  assert.equal(found('x', many(64)).length, 64);
  assert.throws(() => found('x', many(65)), /more than 64 traces/);
});

test('a zip of very many small members is read with a small stack', () => {
  const words = Array.from({ length: 3000 }, (_, i): [string, Uint8Array] => [
    i.toString(36),
    strToU8('words'),
  ]);
  const packed = zip({ ...Object.fromEntries(words), last: strToU8('trace 1') });
  const limit = { stackTraceLimit: 10, ...Error }.stackTraceLimit;
  Object.assign(Error, { stackTraceLimit: 10_000 });
  let deepest = 0;
  const foreign = (): string => {
    deepest = Math.max(deepest, new Error().stack?.split('\n').length ?? 0);
    return '';
  };
  const file = { name: 'x', bytes: new ArrayBytes(packed) };
  const { parts } = new Unpacking({ ...judge, foreign }, room, file).run();
  Object.assign(Error, { stackTraceLimit: limit });
  assert.deepEqual([parts.length, parts[0]?.name], [1, 'x: last']);
  assert(deepest > 0 && deepest < 500, `${deepest} calls deep`);
});

/** The archive with another method (or flags) in the heads of its members, as the format has them. */
function patched(packed: Uint8Array, at: number, value: number, first = 0): Uint8Array {
  const made = packed.slice();
  let member = 0;
  for (let i = 0; i + 4 < made.length; i++) {
    const local =
      made[i] === 0x50 && made[i + 1] === 0x4b && made[i + 2] === 3 && made[i + 3] === 4;
    if (local && member++ >= first) made[i + at] = value;
  }
  return made;
}

test('an unsupported compression is named and is not called damage', () => {
  const packed = zip({ a: strToU8('trace 1'), b: strToU8('trace 2') });
  assert.throws(
    () => found('x', patched(packed, 8, 12)),
    /packed with bzip2, which is not unpacked/,
  );
  assert.throws(
    () => found('x', patched(packed, 8, 14)),
    /packed with LZMA, which is not unpacked/,
  );
  assert.throws(() => found('x', patched(packed, 8, 77)), /packed with method 77/);
  const one = patched(packed, 8, 12, 1);
  assert.deepEqual(found('x', one), [['x: a', 'trace 1', null]]);
  assert.deepEqual(notes(one), ['b: packed with bzip2, which is not unpacked in a page: left out']);
});

test('an encrypted member is named, and the others are read', () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const packed = zip(Object.fromEntries(names.map((name) => [name, strToU8(`trace ${name}`)])));
  assert.throws(() => found('x', patched(packed, 6, 1)), /an encrypted zip \(a\), which is not/);
  const last = patched(packed, 6, 1, 4);
  assert.equal(found('x', last).length, 4);
  assert.deepEqual(notes(last), ['e: encrypted, which is not unpacked in a page: left out']);
  const most = patched(packed, 6, 1, 1);
  assert.deepEqual(found('x', most), [['x: a', 'trace a', null]]);
  assert.deepEqual(notes(most), [
    'b, c, d and 1 more: encrypted, which is not unpacked in a page: left out',
  ]);
});

/** A member as whoever writes to a pipe writes it: its length stands after it. */
function piped(name: string, content: Uint8Array, signature: boolean, large: boolean): Uint8Array {
  const head = new Uint8Array(30 + name.length);
  head.set([0x50, 0x4b, 3, 4, 20, 0, 8, 0, 8]);
  head[26] = name.length;
  head.set(strToU8(name), 30);
  const field = (value: number): number[] => {
    const low = [value & 255, (value >> 8) & 255, (value >> 16) & 255, value >>> 24];
    return large ? [...low, 0, 0, 0, 0] : low;
  };
  const sizes = [...field(content.length), ...field(99)];
  const first = signature ? [0x50, 0x4b, 7, 8] : [];
  return together([head, content, new Uint8Array([...first, 1, 2, 3, 4, ...sizes])]);
}

const DIRECTORY = new Uint8Array([0x50, 0x4b, 1, 2, ...new Uint8Array(42)]);

test('members whose length follows them have the right end', () => {
  // Signatures within what is packed are no ends.
  const hard = strToU8(`trace ${'PK\x07\x08PK\x03\x04PK\x01\x02'.repeat(30)}`);
  for (const signature of [true, false])
    for (const large of [true, false]) {
      const packed = together([
        piped('a', deflateSync(hard, { level: 0 }), signature, large),
        piped('b', deflateSync(strToU8('trace 2')), signature, large),
        DIRECTORY,
      ]);
      const all = found('x', packed);
      assert.deepEqual(
        all.map(([name]) => name),
        ['x: a', 'x: b'],
        `${signature} ${large}`,
      );
      assert.equal(all[0]?.[1], text(hard));
      assert.deepEqual(notes(packed), []);
      assert.match(notes(packed.subarray(0, packed.length - 60)).join(), /ends early/);
    }
});

/** Counts what is read of it. */
class Counted extends ArrayBytes {
  taken = 0;
  override read(offset: number, length: number): Uint8Array {
    const bytes = super.read(offset, length);
    this.taken += bytes.length;
    return bytes;
  }
}

/** So many members of words that are not packed, a trace, and a directory. */
function crowd(count: number): Counted {
  const words = Array.from({ length: count }, (_, i) => {
    const member = piped(`${i}`, strToU8('words'), true, false);
    member[8] = 0;
    return member;
  });
  const trace = piped('last', deflateSync(strToU8('trace 1')), true, false);
  return new Counted(together([...words, trace, DIRECTORY]));
}

test('a zip is read once, however many members it has, and too many are refused', () => {
  const open = (bytes: Bytes): string[] =>
    new Unpacking(judge, room, { name: 'x', bytes }).run().parts.map(({ name }) => name);
  const some = crowd(60_000);
  assert.deepEqual(open(some), ['x: last']);
  // Of each a piece for its beginning, one for its end, and what is in it.
  assert(some.taken < 1024 * 60_000, `${some.taken} bytes`);
  assert.throws(() => open(crowd(65_536)), /more than 65536 members/);
});

test('the output of atrace -z is found after its line, without carriage returns', () => {
  const stream = zlibSync(strToU8(`trace ${'\n\r\n'.repeat(300)}${Math.PI}\n`));
  for (const returns of ['', '\r', '\r\r']) {
    const latin = `capturing\nTRACE:\n${strFromU8(stream, true)}`.replaceAll('\n', `${returns}\n`);
    const printed = strToU8(latin, true);
    assert.deepEqual(findZlib(printed)?.returns, returns.length);
    assert.equal(found('x', printed)[0]?.[1].length, 6 + 900 + 18);
  }
  assert.equal(findZlib(strToU8('TRACE:\nno stream')), null);
});

/** What is said when the browser gives no byte of what `make` makes. */
function refusalOf(make: () => Bytes): Refusal {
  class NoReader {
    readAsArrayBuffer(): ArrayBuffer {
      throw new DOMException('no', 'NotReadableError');
    }
  }
  Object.assign(globalThis, { FileReaderSync: NoReader });
  try {
    make().read(0, 4096);
    throw new Error('it was read');
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  } finally {
    Reflect.deleteProperty(globalThis, 'FileReaderSync');
  }
}

test('a deleted file and a full disk have different errors', () => {
  const spool = blobStorage.spool();
  spool.add(strToU8('trace 1'));
  const unpacked = spool.finish();
  assert.equal(refusalOf(() => unpacked).kind, 'memory');
  assert.equal(refusalOf(() => unpacked.part(1, 3)).kind, 'memory');
  assert.equal(refusalOf(() => blobStorage.join(unpacked, unpacked)).kind, 'memory');
  assert.equal(refusalOf(() => new BlobBytes(new Blob(['trace 2']))).kind, 'io');
});
