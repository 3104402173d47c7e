// SPDX-License-Identifier: Apache-2.0
// Interfaces for bytes and their storage: files of the browser in a worker, arrays in tests.

/** Bytes that can be read at any offset. */
export interface Bytes {
  readonly size: number;
  /** Return at most `length` bytes; fewer only at the end. */
  read(offset: number, length: number): Uint8Array;
  /** Return a part without copying, from `start` to before `end`. */
  part(start: number, end: number): Bytes;
}

/** Collects bytes. */
export interface Spool {
  /** Append an array; the spool owns it from now on. */
  add(bytes: Uint8Array): void;
  finish(): Bytes;
}

/** Creates storage for unpacked bytes. */
export interface ByteStorage {
  spool(): Spool;
  /** Concatenate. */
  join(first: Bytes, second: Bytes): Bytes;
}

/**
 * Number of packed bytes to read at once. They may unpack to a thousand times as much, in memory.
 */
const CHUNK_LENGTH = 64 * 1024;

/** Pass the bytes from `from` to before `to` to `take` in chunks, until `take` returns false. */
export function eachChunk(
  bytes: Bytes,
  from: number,
  take: (piece: Uint8Array, last: boolean) => boolean,
  to = bytes.size,
): void {
  for (let at = from; at < to; at += CHUNK_LENGTH) {
    const more = take(bytes.read(at, Math.min(CHUNK_LENGTH, to - at)), at + CHUNK_LENGTH >= to);
    if (!more) return;
  }
}
