// SPDX-License-Identifier: Apache-2.0
// Reader of binary answers: little-endian; arrays of 64-bit numbers start at multiples of 8. Every
// length is checked.

const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** Reads a buffer from front to back. Arrays are views of the buffer, not copies. */
export class ByteReader {
  private at = 0;
  private readonly view: DataView;

  constructor(private readonly buffer: ArrayBuffer) {
    this.view = new DataView(buffer);
  }

  private take(bytes: number): number {
    const at = this.at;
    if (!(bytes >= 0) || at + bytes > this.buffer.byteLength) {
      throw new Error(
        `answer too short: ${bytes} bytes wanted at ${at} of ${this.buffer.byteLength}`,
      );
    }
    this.at = at + bytes;
    return at;
  }

  /** Check the four bytes at the begin of an answer. */
  magic(text: string): void {
    const at = this.take(4);
    for (let i = 0; i < 4; i++) {
      if (this.view.getUint8(at + i) !== text.charCodeAt(i))
        throw new Error(`answer is not ${text}`);
    }
  }

  u32(): number {
    return this.view.getUint32(this.take(4), true);
  }

  f64(): number {
    return this.view.getFloat64(this.take(8), true);
  }

  u8s(n: number): Uint8Array {
    return new Uint8Array(this.buffer, this.take(n), n);
  }

  u32s(n: number): Uint32Array {
    const at = this.take(n * 4);
    if (LITTLE_ENDIAN) return new Uint32Array(this.buffer, at, n);
    return Uint32Array.from({ length: n }, (_, i) => this.view.getUint32(at + 4 * i, true));
  }

  f64s(n: number): Float64Array {
    const at = this.take(n * 8);
    if (LITTLE_ENDIAN) return new Float64Array(this.buffer, at, n);
    return Float64Array.from({ length: n }, (_, i) => this.view.getFloat64(at + 8 * i, true));
  }

  /** Skip the padding up to a multiple of `size`. */
  align(size: number): void {
    this.at = Math.min(Math.ceil(this.at / size) * size, this.buffer.byteLength);
  }
}
