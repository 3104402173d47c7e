// SPDX-License-Identifier: Apache-2.0
// Bytes that lie somewhere, and a place where bytes are gathered: in a worker files of the browser,
// in tests arrays.

export interface Bytes {
  readonly size: number;
  /** As many as there are, at most `length`. */
  read(offset: number, length: number): Uint8Array;
  /** The same bytes without a copy, from `start` to before `end`. */
  part(start: number, end: number): Bytes;
}

export interface Spool {
  /** Takes the array over. */
  add(bytes: Uint8Array): void;
  finish(): Bytes;
}

export interface Room {
  spool(): Spool;
  /** One behind the other. */
  join(first: Bytes, second: Bytes): Bytes;
}

/** What is read of a container at once; what comes of it, a thousand times as much, is in memory. */
const PIECE = 64 * 1024;

/** All bytes from `from` to before `to`, in pieces; false from `take` ends it. */
export function eachPiece(
  bytes: Bytes,
  from: number,
  take: (piece: Uint8Array, last: boolean) => boolean,
  to = bytes.size,
): void {
  for (let at = from; at < to; at += PIECE) {
    const more = take(bytes.read(at, Math.min(PIECE, to - at)), at + PIECE >= to);
    if (!more) return;
  }
}
