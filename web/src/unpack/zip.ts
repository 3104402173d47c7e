// SPDX-License-Identifier: Apache-2.0
// Unpacking of zip files by their local headers in order (APPNOTE 4.3), because a truncated file
// lacks its directory. A member is unpacked only as far as it is wanted.
//
//     | local header | name, extra | data | descriptor? | local header ... | directory | end |
//       method, flags, packed length        length, if the header has none
//
// A writer that could not seek back left the length out of the header. The end of such a member is
// searched: at each signature the number before or after it must be the distance to the start, in
// one of four layouts. Packed data has the bytes of a signature by chance, but hardly with that
// number.
//
// Archives are untrusted: members are counted against a limit, names of directories are skipped,
// and a damaged member ends the reading after what could be unpacked of it was delivered.

import { Inflate, inflateSync, strFromU8 } from 'fflate';
import { countMember, type Taker } from './archives';
import { eachChunk, type Bytes } from './bytes';
import { Refusal } from './streams';

/** The `way` of encrypted members in leaveOut. */
export const ENCRYPTION = 'encryption';

const STORED = 0;
const DEFLATED = 8;
const AES = 99;
/** Names of unsupported compression methods. */
const METHODS: Readonly<Record<number, string>> = {
  1: 'Shrink',
  6: 'Implode',
  9: 'Deflate64',
  12: 'bzip2',
  14: 'LZMA',
  93: 'zstd',
  95: 'xz',
  98: 'PPMd',
};

const P = 0x50;
/** Signatures: "PK" and two more bytes. */
const LOCAL_HEADER = 0x04034b50;
const DESCRIPTOR = 0x08074b50;
const DIRECTORY = 0x02014b50;
const END = 0x06054b50;
const LARGE_END = 0x06064b50;
const SIGNATURES: readonly number[] = [LOCAL_HEADER, DESCRIPTOR, DIRECTORY, END, LARGE_END];

const LOCAL_HEADER_LENGTH = 30;
const ENCRYPTED = 1;
/** Flag: the length follows the member in a data descriptor. */
const DESCRIBED = 8;
const UTF8 = 0x800;
/** Marks a length that is in the zip64 extra field. */
const ELSEWHERE = 0xffffffff;

interface LocalHeader {
  name: string;
  method: number;
  encrypted: boolean;
  /** Offset of the member's data. */
  start: number;
  /** Length of the packed data; null: it follows the member. */
  length: number | null;
}

/** End of a member and begin of the next header; `whole` is false if the archive ends before. */
interface MemberExtent {
  end: number;
  next: number;
  whole: boolean;
}

function dataViewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

function readU64(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
}

/**
 * Return the packed length from the zip64 extra field, which follows the unpacked length; null:
 * none.
 */
function longLength(extra: DataView): number | null {
  for (let at = 0; at + 4 <= extra.byteLength;) {
    const [id, size] = [extra.getUint16(at, true), extra.getUint16(at + 2, true)];
    if (id === 1 && size >= 16 && at + 20 <= extra.byteLength) return readU64(extra, at + 12);
    at += 4 + size;
  }
  return null;
}

/** Parse a local header; null: truncated. */
function readLocalHeader(packed: Bytes, at: number): LocalHeader | null {
  const head = dataViewOf(packed.read(at, LOCAL_HEADER_LENGTH));
  if (head.byteLength < LOCAL_HEADER_LENGTH) return null;
  const word = (field: number): number => head.getUint16(field, true);
  const [flags, method, named, more] = [word(6), word(8), word(26), word(28)];
  const rest = packed.read(at + LOCAL_HEADER_LENGTH, named + more);
  if (rest.length < named + more) return null;
  const length = head.getUint32(18, true);
  const large = length === ELSEWHERE ? longLength(dataViewOf(rest.subarray(named))) : null;
  return {
    name: strFromU8(rest.slice(0, named), (flags & UTF8) === 0),
    method,
    encrypted: (flags & ENCRYPTED) !== 0 || method === AES,
    start: at + LOCAL_HEADER_LENGTH + named + more,
    length: (flags & DESCRIBED) === 0 ? (large ?? length) : null,
  };
}

/** Number of bytes to search at once, at first and at most. */
const FIRST_PIECE = 256;
const LARGEST_PIECE = 64 * 1024;

/**
 * Report the offset of each signature from `from` on, until `found` returns true. Data may contain
 * signatures by chance.
 */
function findSignature(
  packed: Bytes,
  from: number,
  found: (signature: number, at: number) => boolean,
): void {
  let piece = FIRST_PIECE;
  for (let start = from; start + 4 <= packed.size; start += piece - 3, piece *= 2) {
    piece = Math.min(piece, LARGEST_PIECE);
    const bytes = packed.read(start, piece);
    const view = dataViewOf(bytes);
    for (let at = bytes.indexOf(P); at >= 0 && at + 4 <= bytes.length;) {
      const signature = view.getUint32(at, true);
      if (SIGNATURES.includes(signature) && found(signature, start + at)) return;
      at = bytes.indexOf(P, at + 1);
    }
  }
}

/**
 * Find the end of a member of unknown length. The data descriptor after it states the length, with
 * or without a signature, in 4 or 8 bytes; a match of that length confirms the position.
 */
function findDescriptor(packed: Bytes, start: number): MemberExtent | null {
  let place: MemberExtent | null = null;
  const fits = (at: number, end: number, next: number, large: boolean): boolean => {
    const field = dataViewOf(packed.read(at, 8));
    if (end < start || field.byteLength < 8) return false;
    if ((large ? readU64(field, 0) : field.getUint32(0, true)) !== end - start) return false;
    place = { end, next, whole: true };
    return true;
  };
  findSignature(packed, start, (signature, at) =>
    signature === DESCRIPTOR
      ? fits(at + 8, at, at + 24, true) || fits(at + 8, at, at + 16, false)
      : fits(at - 8, at - 12, at, false) || fits(at - 16, at - 20, at, true),
  );
  return place;
}

function memberExtent(packed: Bytes, { start, length }: LocalHeader): MemberExtent {
  const rest = { end: packed.size, next: packed.size, whole: false };
  if (length === null) return findDescriptor(packed, start) ?? rest;
  const end = start + length;
  return end <= packed.size ? { end, next: end, whole: true } : rest;
}

/** Packed length up to which a member is unpacked in one call, if the result fits the buffer. */
const SHORT = 16 * 1024;
const inflateBuffer = new Uint8Array(64 * 1024);

/**
 * Unpack a short member; null: not short, or damaged. The streaming way allocates 200 KB for each
 * member.
 */
function inflateShort(
  packed: Bytes,
  start: number,
  { end, whole }: MemberExtent,
): Uint8Array | null {
  if (!whole || end - start > SHORT) return null;
  try {
    const bytes = inflateSync(packed.read(start, end - start), { out: inflateBuffer });
    return bytes.length < inflateBuffer.length ? bytes.slice() : null;
  } catch {
    return null;
  }
}

/** Unpack a member; false: truncated or damaged, after delivering the bytes before the damage. */
function inflate(packed: Bytes, head: LocalHeader, place: MemberExtent, taker: Taker): boolean {
  const member = taker.begin(head.name);
  const short = inflateShort(packed, head.start, place);
  if (short) {
    member.take(short);
    member.end(true);
    return true;
  }
  const { end, whole } = place;
  let wanted = true;
  let sound = whole;
  const unpacker = new Inflate((bytes) => {
    if (wanted && bytes.length > 0) wanted = member.take(bytes);
  });
  try {
    eachChunk(
      packed,
      head.start,
      (piece, last) => {
        unpacker.push(piece, last && whole);
        return wanted;
      },
      end,
    );
  } catch (error) {
    if (error instanceof Refusal) throw error;
    sound = false;
  }
  member.end(sound);
  return sound || !wanted;
}

function takeMember(packed: Bytes, head: LocalHeader, place: MemberExtent, taker: Taker): boolean {
  const { name, method, encrypted, start } = head;
  if (name.endsWith('/')) return place.whole;
  if (encrypted) taker.leaveOut(name, ENCRYPTION);
  else if (method === DEFLATED) return inflate(packed, head, place, taker);
  else if (method === STORED) taker.plain(name, packed.part(start, place.end));
  else taker.leaveOut(name, METHODS[method] ?? `method ${method}`);
  return place.whole;
}

/** Unpack a zip file; true: complete. */
export function unzip(packed: Bytes, taker: Taker): boolean {
  let looks = 0;
  for (let at = 0; at < packed.size;) {
    let signature = 0;
    findSignature(packed, at, (found, place) => {
      [signature, at] = [found, place];
      return found !== DESCRIPTOR;
    });
    if (signature !== LOCAL_HEADER) return signature !== 0 && signature !== DESCRIPTOR;
    looks = countMember(looks);
    const head = readLocalHeader(packed, at);
    if (!head) return false;
    const place = memberExtent(packed, head);
    if (!takeMember(packed, head, place, taker)) return false;
    at = place.next;
  }
  return false;
}
