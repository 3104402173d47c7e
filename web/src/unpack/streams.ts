// SPDX-License-Identifier: Apache-2.0
// One packed stream as a member: gzip, zlib (also as "atrace -z" prints it).  A stream that ends
// early or is damaged gives what came before.

import { FlateErrorCode, Gunzip, Unzlib, type FlateError } from 'fflate';
import { eachPiece, type Bytes } from './bytes';

/** Where what is unpacked goes; false: no more is wanted. */
export type Take = (bytes: Uint8Array) => boolean;

/** What somebody who takes throws to end it; it is nothing of the container's. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly kind: 'unsupported' | 'limit' | 'memory' | 'syntax' | 'io',
  ) {
    super(message);
  }
}

interface Unpacker {
  push(piece: Uint8Array, last: boolean): void;
}

/** True: whole to its end. */
function run(
  packed: Bytes,
  from: number,
  make: (take: (bytes: Uint8Array, last: boolean) => void) => Unpacker,
  take: Take,
): boolean {
  let wanted = true;
  let ended = false;
  const unpacker = make((bytes, last) => {
    ended = last;
    if (wanted && bytes.length > 0) wanted = take(bytes);
  });
  try {
    eachPiece(packed, from, (piece, last) => {
      unpacker.push(piece, last);
      return wanted;
    });
  } catch (error) {
    if (error instanceof Refusal) throw error;
    return false;
  }
  return ended || !wanted;
}

/** Head and tail of a stream without anything in it. */
const SHORTEST_GZIP = 18;
const DEFLATED = 8;

/**
 * Several streams one behind the other are one; what stands behind them and is no stream, such as
 * the zeros up to the end of a tape's block, is no damage.
 */
export function gunzip(packed: Bytes, take: Take): boolean {
  // The first head is one, so that what is none comes behind a stream.
  const deflated = packed.read(2, 1)[0] === DEFLATED;
  let behind = false;
  const make = (out: (bytes: Uint8Array, last: boolean) => void): Unpacker => {
    const unpacker = new Gunzip(out);
    return {
      push: (piece, last) => {
        if (behind) return;
        try {
          unpacker.push(piece, last);
        } catch (error) {
          behind = deflated && (error as FlateError).code === FlateErrorCode.InvalidHeader;
          if (!behind) throw error;
        }
      },
    };
  };
  return packed.size >= SHORTEST_GZIP && (run(packed, 0, make, take) || behind);
}

/** Where a zlib stream begins, and how many carriage returns a terminal put before line feeds. */
export interface ZlibPlace {
  start: number;
  returns: number;
}

const MOST_RETURNS = 2; // "\r\r\n": a terminal in raw mode under another one in raw mode
const LINE_FEED = 10;
const RETURN = 13;

/** RFC 1950: deflate, no dictionary, and a checksum of five bits. */
function isHeader(first: number | undefined, second: number | undefined): boolean {
  if (first === undefined || second === undefined) return false;
  const method = (first & 0x0f) === 8 && first >> 4 <= 7 && (second & 0x20) === 0;
  return method && ((first << 8) | second) % 31 === 0;
}

/** Behind a line "TRACE:" within these first bytes. */
function behindMarker(head: Uint8Array): ZlibPlace | null {
  let line = 0;
  for (;;) {
    const end = head.indexOf(LINE_FEED, line);
    if (end < 0) return null;
    let returns = 0;
    while (returns < MOST_RETURNS && head[end - 1 - returns] === RETURN) returns++;
    const text = String.fromCharCode(...head.subarray(line, Math.max(line, end - returns)));
    if (text === 'TRACE:') return { start: end + 1, returns };
    line = end + 1;
  }
}

/** Two bytes of a header may be chance: something has to come out. */
function comesOut(head: Uint8Array, place: ZlibPlace): boolean {
  if (!isHeader(head[place.start], head[place.start + 1])) return false;
  let some = false;
  try {
    const unpacker = new Unzlib((bytes) => (some ||= bytes.length > 0));
    unpacker.push(withoutReturns(place.returns)(head.subarray(place.start), true), false);
  } catch {
    return some;
  }
  return some;
}

export function findZlib(head: Uint8Array): ZlibPlace | null {
  const whole = { start: 0, returns: 0 };
  if (comesOut(head, whole)) return whole;
  const behind = behindMarker(head);
  return behind && comesOut(head, behind) ? behind : null;
}

/**
 * Takes out the carriage returns in front of line feeds, as many as were put in; of more in a row
 * the first ones are the stream's own.  Those at the end of a piece are kept for the next.
 */
function withoutReturns(returns: number): (from: Uint8Array, last: boolean) => Uint8Array {
  let pending = 0;
  return (from, last) => {
    const to = new Uint8Array(from.length + pending);
    let length = 0;
    for (const byte of from) {
      if (byte === RETURN && pending < returns) {
        pending++;
        continue;
      }
      if (byte === LINE_FEED) pending = 0;
      for (; byte !== RETURN && pending > 0; pending--) to[length++] = RETURN;
      to[length++] = byte;
    }
    for (; last && pending > 0; pending--) to[length++] = RETURN;
    return to.subarray(0, length);
  };
}

export function unzlib(packed: Bytes, place: ZlibPlace, take: Take): boolean {
  const strip = withoutReturns(place.returns);
  const make = (out: (bytes: Uint8Array, last: boolean) => void): Unpacker => {
    const unpacker = new Unzlib(out);
    return { push: (piece, last) => unpacker.push(strip(piece, last), last) };
  };
  return run(packed, place.start, make, take);
}
