// SPDX-License-Identifier: Apache-2.0
// Archives: the files in them, one after the other, as they lie there.

import {
  Unzip,
  UnzipInflate,
  type AsyncFlateStreamHandler,
  type UnzipDecoderConstructor,
} from 'fflate';
import { eachPiece, type Bytes } from './bytes';
import { Refusal, type Take } from './streams';

/** More are not looked at: an archive with more is an error. */
const MOST_LOOKS = 65536;

/** Who takes the members: for each a function that takes its bytes. */
export interface Taker {
  begin(name: string): { take: Take; end: (whole: boolean) => void };
  /** A member that stands unpacked in the archive. */
  plain(name: string, bytes: Bytes): void;
  /** A member that is packed in a way that is not unpacked here. */
  leaveOut(way: string): void;
}

function look(looks: number): number {
  if (looks < MOST_LOOKS) return looks + 1;
  throw new Refusal(`an archive with more than ${MOST_LOOKS} members: unpack it first`, 'limit');
}

const STORED = 0;
const DEFLATED = 8;
/** The other methods that the format names. */
const METHODS: Readonly<Record<number, string>> = {
  1: 'Shrink',
  6: 'Implode',
  9: 'Deflate64',
  12: 'bzip2',
  14: 'LZMA',
  93: 'zstd',
  95: 'xz',
  98: 'PPMd',
  99: 'AES encryption',
};

/** Goes over members of this method without taking anything out. */
function passing(method: number): UnzipDecoderConstructor {
  return class {
    static compression = method;
    ondata: AsyncFlateStreamHandler = () => undefined;

    push(_bytes: Uint8Array, last: boolean): void {
      this.ondata(null, new Uint8Array(0), last);
    }
  };
}

/** Bit 0 of the flags of the first member. */
function isEncrypted(packed: Bytes): boolean {
  return ((packed.read(6, 1)[0] ?? 0) & 1) === 1;
}

/** fflate calls itself once for each member that begins in what it is given. */
const BEGINNINGS = 64;
const SIGNATURE = [0x50, 0x4b, 3, 4] as const;

/** So that no part has more beginnings than that, whatever they are beginnings of. */
function* inParts(piece: Uint8Array): Generator<Uint8Array> {
  const [first] = SIGNATURE;
  let [start, count] = [0, 0];
  for (let at = piece.indexOf(first); at >= 0; at = piece.indexOf(first, at + 1)) {
    if (!SIGNATURE.every((byte, i) => piece[at + i] === byte) || ++count <= BEGINNINGS) continue;
    yield piece.subarray(start, at);
    [start, count] = [at, 1];
  }
  yield piece.subarray(start);
}

/** True: whole to its end. */
export function unzip(packed: Bytes, taker: Taker): boolean {
  if (isEncrypted(packed))
    throw new Refusal('an encrypted zip, which is not unpacked in a page', 'unsupported');
  let looks = 0;
  let open: { end: (whole: boolean) => void } | null = null;
  let damaged = false;
  const unpacker = new Unzip((file) => {
    looks = look(looks);
    if (file.name.endsWith('/')) return;
    const method = file.compression;
    const known = method === STORED || method === DEFLATED;
    if (!known) {
      unpacker.register(passing(method));
      taker.leaveOut(METHODS[method] ?? `method ${method}`);
    }
    const member = taker.begin(file.name);
    let wanted = true;
    open = member;
    file.ondata = (error, bytes, last) => {
      if (error) throw error;
      if (wanted) wanted = member.take(bytes);
      if (!last) return;
      if (open === member) open = null;
      member.end(true);
    };
    file.start();
  });
  unpacker.register(UnzipInflate);
  try {
    eachPiece(packed, 0, (piece, last) => {
      for (const part of inParts(piece)) unpacker.push(part, false);
      if (last) unpacker.push(new Uint8Array(0), true);
      return true;
    });
  } catch (error) {
    if (error instanceof Refusal) throw error;
    damaged = true;
  }
  const left = open as { end: (whole: boolean) => void } | null;
  left?.end(false);
  return !damaged && left === null;
}

const BLOCK = 512;
const decoder = new TextDecoder();

function text(head: Uint8Array, at: number, length: number): string {
  const field = head.subarray(at, at + length);
  const end = field.indexOf(0);
  return decoder.decode(end < 0 ? field : field.subarray(0, end));
}

/** Octal, or where the first bit is set all others as one number. */
function size(head: Uint8Array): number {
  const [at, length] = [124, 12];
  const first = head[at] ?? 0;
  if ((first & 0x80) === 0) return parseInt(text(head, at, length).trim() || '0', 8);
  let value = first & 0x7f;
  for (let i = 1; i < length; i++) value = value * 256 + (head[at + i] ?? 0);
  return value;
}

/** The sum of all bytes of the head, its own place counted as blanks. */
function sumFits(head: Uint8Array): boolean {
  const [at, length] = [148, 8];
  const sum = head.reduce((all, byte, i) => all + (i >= at && i < at + length ? 32 : byte), 0);
  return parseInt(text(head, at, length).trim(), 8) === sum;
}

export function isTar(head: Uint8Array): boolean {
  return head.length >= BLOCK && text(head, 257, 5) === 'ustar';
}

/** "12 path=a/b" and others: what an extended head says of the next member. */
function extended(bytes: Uint8Array): { path?: string; size?: number } {
  const found: { path?: string; size?: number } = {};
  for (const line of decoder.decode(bytes).split('\n')) {
    const [, key, value = ''] = /^\d+ (path|size)=(.*)$/s.exec(line) ?? [];
    if (key === 'path') found.path = value;
    if (key === 'size') found.size = Number(value);
  }
  return found;
}

const LONGEST_HEAD = 65536;
const GNU_NAME = 'L';
const PAX = 'x';

/** True: whole to its end. */
export function untar(packed: Bytes, taker: Taker): boolean {
  let next: { path?: string; size?: number } = {};
  let looks = 0;
  for (let at = 0; at + BLOCK <= packed.size;) {
    const head = packed.read(at, BLOCK);
    if (head.every((byte) => byte === 0)) return true;
    if (!sumFits(head)) return false;
    looks = look(looks);
    const kind = text(head, 156, 1);
    const length = (kind === PAX || kind === GNU_NAME ? undefined : next.size) ?? size(head);
    const start = at + BLOCK;
    if (!Number.isSafeInteger(length) || length < 0) return false;
    if (kind === PAX || kind === GNU_NAME) {
      const bytes = packed.read(start, Math.min(length, LONGEST_HEAD));
      next =
        kind === PAX ? { ...next, ...extended(bytes) } : { ...next, path: text(bytes, 0, length) };
    } else {
      // GNU's older heads ("ustar  ") have something else there.
      const folder = text(head, 257, 6) === 'ustar' ? text(head, 345, 155) : '';
      const name = next.path ?? (folder && `${folder}/`) + text(head, 0, 100);
      const end = Math.min(start + length, packed.size);
      if (kind === '' || kind === '0') taker.plain(name, packed.part(start, end));
      next = {};
    }
    at = start + Math.ceil(length / BLOCK) * BLOCK;
    if (start + length > packed.size) return false;
  }
  return packed.size % BLOCK === 0;
}
