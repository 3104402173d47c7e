// SPDX-License-Identifier: Apache-2.0
// Unpacking of single compressed streams: gzip, and zlib (also as "atrace -z" prints it). A
// truncated or damaged stream yields the bytes before the damage.

import { FlateErrorCode, Gunzip, Unzlib, type FlateError } from 'fflate';
import { eachChunk, type Bytes } from './bytes';

/** Receives unpacked bytes; returns false to stop. */
export type Take = (bytes: Uint8Array) => boolean;

/**
 * An error that ends unpacking and is shown to the user. Unpackers must pass it on, unlike errors
 * of damaged data.
 */
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

/** Unpack a stream; true: complete, or stopped by `take`. */
function runUnpacker(
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
    eachChunk(packed, from, (piece, last) => {
      unpacker.push(piece, last);
      return wanted;
    });
  } catch (error) {
    if (error instanceof Refusal) throw error;
    return false;
  }
  return ended || !wanted;
}

/** Length of header and trailer, which an empty stream has as well. */
const SHORTEST_GZIP = 18;
const DEFLATED = 8;

/**
 * Unpack gzip. Concatenated streams form one, and trailing data that is no stream, such as the
 * padding of a tape block, is ignored.
 */
export function gunzip(packed: Bytes, take: Take): boolean {
  // Only data after a valid stream counts as trailing.
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
  return packed.size >= SHORTEST_GZIP && (runUnpacker(packed, 0, make, take) || behind);
}

/**
 * Position of a zlib stream, and number of carriage returns that a terminal inserted before each
 * line feed.
 */
export interface ZlibPlace {
  start: number;
  returns: number;
}

const MOST_RETURNS = 2; // "\r\r\n": a terminal in raw mode under another one in raw mode
const LINE_FEED = 10;
const RETURN = 13;

/** Check a zlib header (RFC 1950): deflate, no dictionary, and a valid check value of five bits. */
function isZlibHeader(first: number | undefined, second: number | undefined): boolean {
  if (first === undefined || second === undefined) return false;
  const method = (first & 0x0f) === 8 && first >> 4 <= 7 && (second & 0x20) === 0;
  return method && ((first << 8) | second) % 31 === 0;
}

/** Find the position after a line "TRACE:". */
function zlibAfterMarker(head: Uint8Array): ZlibPlace | null {
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

/** Two bytes may match a header by chance: check that the stream yields data. */
function yieldsData(head: Uint8Array, place: ZlibPlace): boolean {
  if (!isZlibHeader(head[place.start], head[place.start + 1])) return false;
  let some = false;
  try {
    const unpacker = new Unzlib((bytes) => (some ||= bytes.length > 0));
    unpacker.push(withoutReturns(place.returns)(head.subarray(place.start), true), false);
  } catch {
    return some;
  }
  return some;
}

/** Find a zlib stream at the begin of a file or after "TRACE:"; null: none. */
export function findZlib(head: Uint8Array): ZlibPlace | null {
  const whole = { start: 0, returns: 0 };
  if (yieldsData(head, whole)) return whole;
  const behind = zlibAfterMarker(head);
  return behind && yieldsData(head, behind) ? behind : null;
}

/**
 * Return a filter that removes inserted carriage returns before line feeds. Of a longer row, the
 * first ones belong to the stream. Those at the end of a chunk wait for the next chunk.
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

/** Unpack a zlib stream; true: complete. */
export function unzlib(packed: Bytes, place: ZlibPlace, take: Take): boolean {
  const strip = withoutReturns(place.returns);
  const make = (out: (bytes: Uint8Array, last: boolean) => void): Unpacker => {
    const unpacker = new Unzlib(out);
    return { push: (piece, last) => unpacker.push(strip(piece, last), last) };
  };
  return runUnpacker(packed, place.start, make, take);
}
