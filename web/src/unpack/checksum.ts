// SPDX-License-Identifier: Apache-2.0
// The checksum of zstd frames: the lower half of XXH64 with seed 0 (RFC 8878, 3.1.1, and the XXH64
// specification). A 64-bit number is a pair of 32-bit numbers, since BigInt is twenty times slower.

/** A mutable 64-bit number. All operations change it in place and return it. */
class Word {
  constructor(
    public high: number,
    public low: number,
  ) {}

  set(from: Word): this {
    return this.put(from.high, from.low);
  }

  put(high: number, low: number): this {
    this.high = high | 0;
    this.low = low | 0;
    return this;
  }

  add(by: Word): this {
    const low = (this.low >>> 0) + (by.low >>> 0);
    return this.put(this.high + by.high + (low > 0xffffffff ? 1 : 0), low);
  }

  xor(by: Word): this {
    return this.put(this.high ^ by.high, this.low ^ by.low);
  }

  /**
   * Multiply, modulo 2^64, as on paper: of the four products of halves, high * high is beyond 64
   * bits, and the crosswise ones need their lower 32 bits alone. low * low needs all 64, which a
   * double cannot hold, so it is taken in parts of 16 bits.
   */
  times(by: Word): this {
    const [a1, a0, b1, b0] = [this.low >>> 16, this.low & 0xffff, by.low >>> 16, by.low & 0xffff];
    const cross = a1 * b0 + ((a0 * b0) >>> 16);
    const middle = a0 * b1 + (cross & 0xffff);
    const carried = a1 * b1 + Math.floor(cross / 65536) + Math.floor(middle / 65536);
    const high = Math.imul(this.high, by.low) + Math.imul(this.low, by.high);
    return this.put(carried + high, Math.imul(this.low, by.low));
  }

  /** Rotate left by 1 to 31 bits. */
  turn(by: number): this {
    const { high, low } = this;
    return this.put((high << by) | (low >>> (32 - by)), (low << by) | (high >>> (32 - by)));
  }

  /** XOR with itself shifted right by 29, 32 or 33 bits. */
  fold(by: number): this {
    const { high, low } = this;
    if (by >= 32) return this.put(high, low ^ (high >>> (by - 32)));
    return this.put(high ^ (high >>> by), low ^ ((low >>> by) | (high << (32 - by))));
  }
}

const ZERO = new Word(0, 0);
const P1 = new Word(0x9e3779b1, 0x85ebca87);
const P2 = new Word(0xc2b2ae3d, 0x27d4eb4f);
const P3 = new Word(0x165667b1, 0x9e3779f9);
const P4 = new Word(0x85ebca77, 0xc2b2ae63);
const P5 = new Word(0x27d4eb2f, 0x165667c5);

/*
 * Four lanes take 8 bytes each of a stripe of 32, so that a processor works on them side by side.
 * Less than a stripe is kept until more comes, or is mixed in at the end: 8, 4 and 1 bytes at a
 * time.
 */
const STRIPE = 32;
const LANE = 8;
const SHORT_LANE = 4;

function copy(of: Word): Word {
  return new Word(0, 0).set(of);
}

/** Computes the checksum of bytes that arrive in chunks. */
export class Checksum {
  private readonly lanes = [copy(P1).add(P2), copy(P2), copy(ZERO), new Word(~P1.high, -P1.low)];
  /** Bytes that do not fill a stripe yet. */
  private readonly rest = new Uint8Array(STRIPE);
  private kept = 0;
  /** Number of all bytes. */
  private length = 0;
  private readonly lane = new Word(0, 0);

  add(bytes: Uint8Array): void {
    this.length += bytes.length;
    let at = 0;
    if (this.kept > 0) {
      at = Math.min(STRIPE - this.kept, bytes.length);
      this.rest.set(bytes.subarray(0, at), this.kept);
      this.kept += at;
      if (this.kept < STRIPE) return;
      this.stripes(this.rest);
    }
    const end = bytes.length - ((bytes.length - at) % STRIPE);
    this.stripes(bytes.subarray(at, end));
    this.rest.set(bytes.subarray(end));
    this.kept = bytes.length - end;
  }

  private stripes(bytes: Uint8Array): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = 0; at < bytes.length; at += STRIPE)
      this.lanes.forEach((sum, i) => this.round(sum, this.read(view, at + i * LANE)));
  }

  private read(view: DataView, at: number): Word {
    return this.lane.put(view.getUint32(at + 4, true), view.getUint32(at, true));
  }

  /** Take 8 bytes into a lane. `lane` is used up: it is multiplied in place. */
  private round(sum: Word, lane: Word): Word {
    return sum.add(lane.times(P2)).turn(31).times(P1);
  }

  /** Join the lanes. Fewer bytes than a stripe never reached them: then P5 stands for all four. */
  private together(): Word {
    if (this.length < STRIPE) return copy(P5);
    const sum = new Word(0, 0);
    this.lanes.forEach((lane, i) => sum.add(copy(lane).turn([1, 7, 12, 18][i] ?? 1)));
    for (const lane of this.lanes)
      sum
        .xor(this.round(copy(ZERO), copy(lane)))
        .times(P1)
        .add(P4);
    return sum;
  }

  /** Return the lower half of the checksum of all bytes. */
  low(): number {
    const sum = this.together().add(new Word(Math.floor(this.length / 2 ** 32), this.length));
    const view = new DataView(this.rest.buffer, 0, this.kept);
    let at = 0;
    for (; at + LANE <= this.kept; at += LANE)
      sum
        .xor(this.round(copy(ZERO), this.read(view, at)))
        .turn(27)
        .times(P1)
        .add(P4);
    for (; at + SHORT_LANE <= this.kept; at += SHORT_LANE)
      sum
        .xor(new Word(0, view.getUint32(at, true)).times(P1))
        .turn(23)
        .times(P2)
        .add(P3);
    for (; at < this.kept; at++)
      sum
        .xor(new Word(0, view.getUint8(at)).times(P5))
        .turn(11)
        .times(P1);
    return sum.fold(33).times(P2).fold(29).times(P3).fold(32).low >>> 0;
  }
}
