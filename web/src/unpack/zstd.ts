// SPDX-License-Identifier: Apache-2.0
// Unpacking of concatenated zstd frames (RFC 8878). fzstd decodes the blocks; this module checks
// the length and checksum of each frame, which fzstd ignores.

import { Decompress } from 'fzstd';
import type { Bytes } from './bytes';
import { Checksum } from './checksum';
import { Refusal, type Take } from './streams';

const LONGEST_HEAD = 18;
const BLOCK_HEAD = 3;
const LONGEST_BLOCK = 128 * 1024;
const CHECKSUM = 4;
const ONE_BYTE_REPEATED = 1;

interface FrameHeader {
  length: number;
  checked: boolean;
  /** Length of the content; null: unknown. */
  content: number | null;
  /** Number of decoded bytes that the decoder must keep. */
  window: number;
}

function readNumber(bytes: Uint8Array, at: number, length: number): number {
  let value = 0;
  for (let i = length - 1; i >= 0; i--) value = value * 256 + (bytes[at + i] ?? 0);
  return value;
}

/** Limit of the window, as in the program and in libzstd; larger ones need "zstd --long=31". */
const LARGEST_WINDOW = 128 * 1024 * 1024;

/** Decode the window descriptor (RFC 8878, 3.1.1.1.2). */
function decodeWindow(described: number): number {
  const base = 2 ** (10 + (described >> 3));
  return base + (base / 8) * (described & 7);
}

function checkWindow({ window }: FrameHeader): void {
  if (window <= LARGEST_WINDOW) return;
  const needed = `${Math.ceil(window / 2 ** 20)} MiB`;
  throw new Refusal(
    `the zstd stream needs a window of ${needed}, more than the 128 MiB of the limit here: ` +
      'unpack it first, with "zstd -d --long=31"',
    'limit',
  );
}

function readFrameHeader(bytes: Uint8Array): FrameHeader | null {
  const flags = bytes[4] ?? 0;
  const single = (flags & 0x20) !== 0;
  const size = [single ? 1 : 0, 2, 4, 8][flags >> 6] ?? 0;
  const at = 5 + (single ? 0 : 1) + ([0, 1, 2, 4][flags & 3] ?? 0);
  if (readNumber(bytes, 0, 4) !== 0xfd2fb528 || bytes.length < at + size) return null;
  const content = size === 0 ? null : readNumber(bytes, at, size) + (size === 2 ? 256 : 0);
  const window = single ? (content ?? 0) : decodeWindow(bytes[5] ?? 0);
  return { length: at + size, checked: (flags & 4) !== 0, content, window };
}

/**
 * The decoded data of a frame. The last blocks, up to the length of one block, are held back until
 * the frame's checksum is verified.
 */
class ContentFrame {
  private readonly checksum = new Checksum();
  private held: Uint8Array[] = [];
  private heldLength = 0;
  private length = 0;
  wanted = true;

  constructor(
    private readonly head: FrameHeader,
    private readonly take: Take,
  ) {}

  block(bytes: Uint8Array): void {
    if (this.heldLength + bytes.length > LONGEST_BLOCK) this.give();
    this.held.push(bytes);
    this.heldLength += bytes.length;
    this.length += bytes.length;
    if (this.head.checked) this.checksum.add(bytes);
  }

  give(): void {
    for (const bytes of this.held)
      if (bytes.length > 0 && this.wanted) this.wanted = this.take(bytes);
    this.held = [];
    this.heldLength = 0;
  }

  isSound(checksum: Uint8Array): boolean {
    const { content, checked } = this.head;
    if (content !== null && content !== this.length) return false;
    return !checked || readNumber(checksum, 0, CHECKSUM) === this.checksum.low();
  }
}

/** Unpack a frame and return its end; null: truncated, damaged, or no more is wanted. */
function unpackFrame(
  packed: Bytes,
  start: number,
  head: FrameHeader,
  frame: ContentFrame,
): number | null {
  const unpacker = new Decompress((bytes) => frame.block(bytes));
  const tail = head.checked ? CHECKSUM : 0;
  let from = start;
  for (let at = start + head.length; frame.wanted;) {
    const word = readNumber(packed.read(at, BLOCK_HEAD), 0, BLOCK_HEAD);
    const last = (word & 1) === 1;
    const length = ((word >> 1) & 3) === ONE_BYTE_REPEATED ? 1 : word >> 3;
    const end = at + BLOCK_HEAD + length + (last ? tail : 0);
    if (end > packed.size) break;
    const bytes = packed.read(from, end - from);
    unpacker.push(bytes, last);
    if (last && !frame.isSound(bytes.subarray(bytes.length - tail))) return null;
    if (last) frame.give();
    if (last) return end;
    from = at = end;
  }
  frame.give();
  return null;
}

/** Return the end of a skippable frame; null: there is none at this offset. */
function skippableEnd(bytes: Uint8Array, at: number): number | null {
  return readNumber(bytes, 0, 4) >>> 4 === 0x184d2a5 ? at + 8 + readNumber(bytes, 4, 4) : null;
}

/** Unpack a zstd file; true: complete. */
export function unzstd(packed: Bytes, take: Take): boolean {
  for (let at = 0; at < packed.size;) {
    const first = packed.read(at, LONGEST_HEAD);
    const head = readFrameHeader(first);
    if (head) checkWindow(head);
    const frame = head && new ContentFrame(head, take);
    let end = skippableEnd(first, at);
    try {
      if (head && frame) end = unpackFrame(packed, at, head, frame);
    } catch (error) {
      if (error instanceof Refusal) throw error;
      return false;
    }
    if (frame && !frame.wanted) return true;
    if (end === null || end > packed.size) return false;
    at = end;
  }
  return packed.size > 0;
}
