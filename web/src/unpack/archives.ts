// SPDX-License-Identifier: Apache-2.0
// Archives: the files in them, one after the other, as they lie there; tar.

import type { Bytes } from './bytes';
import { Refusal, type Take } from './streams';

/** More are not looked at: an archive with more is an error. */
const MOST_LOOKS = 65536;

/** Who takes the members: for each a function that takes its bytes. */
export interface Taker {
  begin(name: string): { take: Take; end: (whole: boolean) => void };
  /** A member that stands unpacked in the archive. */
  plain(name: string, bytes: Bytes): void;
  /** A member that is not unpacked here, for what was done to it. */
  leaveOut(name: string, way: string): void;
}

/** One more member is looked at. */
export function counted(looks: number): number {
  if (looks < MOST_LOOKS) return looks + 1;
  throw new Refusal(`an archive with more than ${MOST_LOOKS} members: unpack it first`, 'limit');
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

const MAGIC_AT = 257;

/** No text has a NUL before the magic. */
export function isTar(head: Uint8Array): boolean {
  const magic = head.length >= BLOCK && text(head, MAGIC_AT, 5) === 'ustar';
  return magic && head.subarray(0, MAGIC_AT).includes(0);
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
    looks = counted(looks);
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
      const folder = text(head, MAGIC_AT, 6) === 'ustar' ? text(head, 345, 155) : '';
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
