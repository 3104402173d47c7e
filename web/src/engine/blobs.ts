// SPDX-License-Identifier: Apache-2.0
// Files of the browser as bytes that a worker reads on demand.

import type { Bytes, ByteStorage, Spool } from '../unpack/bytes';
import { Refusal } from '../unpack/streams';

/** Exists only in workers, and is missing in the page's type definitions. */
declare const FileReaderSync: new () => { readAsArrayBuffer(blob: Blob): ArrayBuffer };

/** Number of bytes to read at once: each read has a fixed cost. */
const READ_LENGTH = 4 * 1024 * 1024;

/** A file of the browser, with a cache of one chunk. */
export class BlobBytes implements Bytes {
  /** The chunk that was read last, and its offset. */
  private start = 0;
  private piece = new Uint8Array(0);

  /** `told` receives the number of bytes of each new read. */
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
      const whole = this.blob.slice(offset, offset + Math.max(READ_LENGTH, length));
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

  /** Return the error for a file that cannot be read. */
  protected unreadable(error: unknown): Refusal {
    const why = error instanceof Error ? error.message : String(error);
    return new Refusal(`it cannot be read any more: ${why}`, 'io');
  }

  part(start: number, end: number): Bytes {
    return new BlobBytes(this.blob.slice(start, end));
  }
}

/** Return the file whose bytes came from this module. */
export function blobOf(bytes: Bytes): Blob {
  if (bytes instanceof BlobBytes) return bytes.blob;
  throw new Error('bytes that are no file of the browser');
}

/**
 * Unpacked bytes as a file of the browser. If memory was short, the browser creates the file
 * without an error, but reading it fails.
 */
export class UnpackedBytes extends BlobBytes {
  protected override unreadable(): Refusal {
    return new Refusal('unpacked it is more than this page can hold', 'memory');
  }

  override part(start: number, end: number): Bytes {
    return new UnpackedBytes(this.blob.slice(start, end));
  }
}

/** Collected chunks become a file of the browser when they reach this size. */
const BLOB_LENGTH = 16 * 1024 * 1024;

class BlobSpool implements Spool {
  private readonly blobs: Blob[] = [];
  private pieces: Uint8Array<ArrayBuffer>[] = [];
  private length = 0;

  add(bytes: Uint8Array): void {
    this.pieces.push(bytes as Uint8Array<ArrayBuffer>);
    this.length += bytes.length;
    if (this.length >= BLOB_LENGTH) this.put();
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

export const blobStorage: ByteStorage = {
  spool: () => new BlobSpool(),
  join: (first, second) => new UnpackedBytes(new Blob([blobOf(first), blobOf(second)])),
};
