// SPDX-License-Identifier: Apache-2.0
// Archives: the interface through which unpackers deliver members, and the reader of tar files.

import type { Bytes } from './bytes';
import { Refusal, type Take } from './streams';

/** Limit of members; an archive with more is an error. */
const MOST_MEMBERS = 65536;

/**
 * Receives the members of an archive. `begin` returns the functions that take the bytes of one
 * member.
 */
export interface Taker {
  begin(name: string): { take: Take; end: (whole: boolean) => void };
  /** A member that is stored without compression. */
  plain(name: string, bytes: Bytes): void;
  /** A member that cannot be unpacked here; `way` is its compression or encryption. */
  leaveOut(name: string, way: string): void;
}

/** Count one more member, and enforce the limit. */
export function countMember(looks: number): number {
  if (looks < MOST_MEMBERS) return looks + 1;
  throw new Refusal(`an archive with more than ${MOST_MEMBERS} members: unpack it first`, 'limit');
}

const BLOCK = 512;
const decoder = new TextDecoder();

function textField(head: Uint8Array, at: number, length: number): string {
  const field = head.subarray(at, at + length);
  const end = field.indexOf(0);
  return decoder.decode(end < 0 ? field : field.subarray(0, end));
}

/** Parse the size field: octal, or binary (base 256) if the first bit is set. */
function sizeField(head: Uint8Array): number {
  const [at, length] = [124, 12];
  const first = head[at] ?? 0;
  if ((first & 0x80) === 0) return parseInt(textField(head, at, length).trim() || '0', 8);
  let value = first & 0x7f;
  for (let i = 1; i < length; i++) value = value * 256 + (head[at + i] ?? 0);
  return value;
}

/** Compare the checksum of a header: the sum of its bytes, with spaces in place of the checksum. */
function checksumMatches(head: Uint8Array): boolean {
  const [at, length] = [148, 8];
  const sum = head.reduce((all, byte, i) => all + (i >= at && i < at + length ? 32 : byte), 0);
  return parseInt(textField(head, at, length).trim(), 8) === sum;
}

const MAGIC_AT = 257;

/**
 * Tell whether a file begins with a tar header. The magic alone could be text, but text has no NUL.
 */
export function isTar(head: Uint8Array): boolean {
  const magic = head.length >= BLOCK && textField(head, MAGIC_AT, 5) === 'ustar';
  return magic && head.subarray(0, MAGIC_AT).includes(0);
}

/** Parse a pax header ("12 path=a/b"), which describes the next member. */
function readPaxHeader(bytes: Uint8Array): { path?: string; size?: number } {
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

/** Unpack a tar file; true: complete. */
export function untar(packed: Bytes, taker: Taker): boolean {
  let next: { path?: string; size?: number } = {};
  let looks = 0;
  for (let at = 0; at + BLOCK <= packed.size;) {
    const head = packed.read(at, BLOCK);
    if (head.every((byte) => byte === 0)) return true;
    if (!checksumMatches(head)) return false;
    looks = countMember(looks);
    const kind = textField(head, 156, 1);
    const length = (kind === PAX || kind === GNU_NAME ? undefined : next.size) ?? sizeField(head);
    const start = at + BLOCK;
    if (!Number.isSafeInteger(length) || length < 0) return false;
    if (kind === PAX || kind === GNU_NAME) {
      const bytes = packed.read(start, Math.min(length, LONGEST_HEAD));
      next =
        kind === PAX
          ? { ...next, ...readPaxHeader(bytes) }
          : { ...next, path: textField(bytes, 0, length) };
    } else {
      // Old GNU headers ("ustar  ") use this field differently.
      const folder = textField(head, MAGIC_AT, 6) === 'ustar' ? textField(head, 345, 155) : '';
      const name = next.path ?? (folder && `${folder}/`) + textField(head, 0, 100);
      const end = Math.min(start + length, packed.size);
      if (kind === '' || kind === '0') taker.plain(name, packed.part(start, end));
      next = {};
    }
    at = start + Math.ceil(length / BLOCK) * BLOCK;
    if (start + length > packed.size) return false;
  }
  return packed.size % BLOCK === 0;
}
