// SPDX-License-Identifier: Apache-2.0
// Containers to be unpacked in tests, and an engine that knows traces of words.
import { gzipSync, strToU8, zipSync, type Zippable } from 'fflate';
import type { Bytes, ByteStorage } from '../src/unpack/bytes';
import { Unpacking, type Judge } from '../src/unpack/unpack';

export class ArrayBytes implements Bytes {
  constructor(readonly bytes: Uint8Array) {}
  get size(): number {
    return this.bytes.length;
  }
  read(offset: number, length: number): Uint8Array {
    return this.bytes.subarray(offset, offset + length);
  }
  part(start: number, end: number): Bytes {
    return new ArrayBytes(this.bytes.slice(start, end));
  }
}

export function together(pieces: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

export const whole = (bytes: Bytes): Uint8Array => bytes.read(0, bytes.size);

export const room: ByteStorage = {
  spool() {
    const pieces: Uint8Array[] = [];
    return {
      add: (bytes) => void pieces.push(bytes),
      finish: () => new ArrayBytes(together(pieces)),
    };
  },
  join: (first, second) => new ArrayBytes(together([whole(first), whole(second)])),
};

/** What begins with "trace" is one; a page has one plain trace after its first line. */
export const judge: Judge = {
  knows: (head) => text(head).startsWith('trace'),
  isPage: (head) => text(head).startsWith('<html>'),
  foreign: (head) => (text(head).startsWith('foreign') ? 'a foreign file' : ''),
  page: (page) => {
    const shared = { start: 7, end: page.size, bytes: page.size - 7, open: false };
    const traces = [
      { ...shared, plain: true, name: '', machine: 0, offset: 0n },
      { ...shared, plain: false, name: '', machine: 0, offset: 0n },
    ];
    return { traces, notes: [], cut: false };
  },
  traceText: (page, _block, take) => take(page.read(7, page.size)),
};

export const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

export function found(name: string, bytes: Uint8Array): [string, string, number | null][] {
  const { parts } = new Unpacking(judge, room, { name, bytes: new ArrayBytes(bytes) }).run();
  return parts.map((part) => [part.name, text(whole(part.bytes)), part.machine]);
}

export function notes(bytes: Uint8Array): string[] {
  return new Unpacking(judge, room, { name: 'x', bytes: new ArrayBytes(bytes) }).run().notes;
}

export const zip = (files: Zippable): Uint8Array => zipSync(files);
export const gzip = (bytes: Uint8Array | string): Uint8Array =>
  gzipSync(typeof bytes === 'string' ? strToU8(bytes) : bytes);

/** A member as ustar has it; `kind` '0' is a file. */
export function tarMember(name: string, content: string, kind = '0'): Uint8Array {
  const body = strToU8(content);
  const head = new Uint8Array(512);
  head.set(strToU8(name), 0);
  head.set(strToU8(body.length.toString(8).padStart(11, '0')), 124);
  head.set(strToU8(' '.repeat(8)), 148);
  head.set(strToU8(kind), 156);
  head.set(strToU8('ustar\0' + '00'), 257);
  const sum = head.reduce((all, byte) => all + byte, 0);
  head.set(strToU8(`${sum.toString(8).padStart(6, '0')}\0 `), 148);
  return together([head, body, new Uint8Array((512 - (body.length % 512)) % 512)]);
}

export const tar = (...members: Uint8Array[]): Uint8Array =>
  together([...members, new Uint8Array(1024)]);
