// SPDX-License-Identifier: Apache-2.0
// Files of the browser as bytes that a worker reads when they are wanted.

import type { Bytes, Room, Spool } from '../unpack/bytes';
import { Refusal } from '../unpack/streams';

/** Workers alone have it, and the page's types do not know it. */
declare const FileReaderSync: new () => { readAsArrayBuffer(blob: Blob): ArrayBuffer };

/** Each reading has a cost of its own: so much is read at once. */
const PIECE = 4 * 1024 * 1024;

export class BlobBytes implements Bytes {
  /** The piece that was read last. */
  private start = 0;
  private piece = new Uint8Array(0);

  /** `told` hears how many bytes were read anew. */
  constructor(
    readonly blob: Blob,
    private readonly told: (bytes: number) => void = () => undefined,
  ) {}

  get size(): number {
    return this.blob.size;
  }

  read(offset: number, length: number): Uint8Array {
    const end = Math.min(offset + length, this.size);
    if (offset < this.start || end > this.start + this.piece.length) {
      const whole = this.blob.slice(offset, offset + Math.max(PIECE, length));
      this.piece = this.bytesOf(whole);
      this.start = offset;
      this.told(this.piece.length);
    }
    return this.piece.subarray(offset - this.start, end - this.start);
  }

  private bytesOf(blob: Blob): Uint8Array<ArrayBuffer> {
    try {
      return new Uint8Array(new FileReaderSync().readAsArrayBuffer(blob));
    } catch (error) {
      throw this.unreadable(error);
    }
  }

  /** What is said when it cannot be read. */
  protected unreadable(error: unknown): Refusal {
    const why = error instanceof Error ? error.message : String(error);
    return new Refusal(`it cannot be read any more: ${why}`, 'io');
  }

  part(start: number, end: number): Bytes {
    return new BlobBytes(this.blob.slice(start, end));
  }
}

export function blobOf(bytes: Bytes): Blob {
  if (bytes instanceof BlobBytes) return bytes.blob;
  throw new Error('bytes that are no file of the browser');
}

/**
 * Bytes that were unpacked, as a file of the browser.  One for which there was no room is made
 * without a word, and none of it can be read.
 */
export class UnpackedBytes extends BlobBytes {
  protected override unreadable(): Refusal {
    return new Refusal('unpacked it is more than this page can hold', 'memory');
  }

  override part(start: number, end: number): Bytes {
    return new UnpackedBytes(this.blob.slice(start, end));
  }
}

/** What is gathered becomes a file of the browser whenever there is so much of it. */
const GATHERED = 16 * 1024 * 1024;

class BlobSpool implements Spool {
  private readonly blobs: Blob[] = [];
  private pieces: Uint8Array<ArrayBuffer>[] = [];
  private length = 0;

  add(bytes: Uint8Array): void {
    this.pieces.push(bytes as Uint8Array<ArrayBuffer>);
    this.length += bytes.length;
    if (this.length >= GATHERED) this.put();
  }

  private put(): void {
    this.blobs.push(new Blob(this.pieces));
    this.pieces = [];
    this.length = 0;
  }

  finish(): Bytes {
    this.put();
    return new UnpackedBytes(new Blob(this.blobs));
  }
}

export const blobRoom: Room = {
  spool: () => new BlobSpool(),
  join: (first, second) => new UnpackedBytes(new Blob([blobOf(first), blobOf(second)])),
};
