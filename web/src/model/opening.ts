// SPDX-License-Identifier: Apache-2.0
// Which files a trace is made of, by how much each is moved in time, how far the reading of them
// is, and what there is to ask to have others opened.

/** A file of a trace, by its number; its times are moved by so many nanoseconds. */
export interface Chosen {
  input: number;
  offset: bigint;
}

export interface Input extends Chosen {
  name: string;
}

/** A file that can be opened; how long it is, is not known of those that only the engine has. */
export interface KnownFile {
  input: number;
  name: string;
  bytes: number | null;
}

export interface Status {
  /** Of what is being read, or could not be, before what lies open; empty: there is neither. */
  state: 'empty' | 'loading' | 'ready' | 'error';
  /** Its number: every opening makes another. */
  trace: number;
  /** Another trace is open and stays so until this one is there. */
  behind: boolean;
  inputs: Input[];
  /** Everything that can be opened, and what is when nobody has asked for anything. */
  files: KnownFile[];
  start: Chosen[];
  name: string;
  bytes: number;
  total_bytes: number;
  records: number;
  /** The bytes are those of packed files, which are read when they are unpacked. */
  unpacking?: boolean;
  /** What was read is put together: no byte is gone over meanwhile. */
  joining?: boolean;
  /** While it is read: how much of what was read lies where. */
  sketch?: Sketch;
  /** On an upload server: the page of this trace.  Nothing is opened, cancelled or ended here. */
  home?: string;
  /** Whoever answers can make reports. */
  reports?: boolean;
  /** `quote` is what stands around the offset, in hex, from byte `quoted_at` on. */
  error?: {
    message: string;
    kind?: ErrorKind;
    offset?: number;
    quoted_at?: number;
    quote?: string;
  };
}

/** What advice goes by; of "room" there is none on the disk, of "memory" none in a page, files are
 * too "many". */
export type ErrorKind =
  'many' | 'memory' | 'io' | 'syntax' | 'unsupported' | 'limit' | 'usage' | 'room' | 'other';

export interface Sketch {
  length_ns: number;
  /** Heights from 0 to 255, from the left to the right. */
  tracks: { name: string; heights: number[] }[];
}

/** More are not opened together. */
export const MOST_FILES = 64;

/** How somebody who chose files wants them. */
export type How = 'instead' | 'beside';

export interface OpeningEngine {
  /** Takes a file in and gives it a number; `told` hears how many of its bytes are there. */
  take(file: File, told: (bytes: number) => void, signal: AbortSignal): Promise<number>;
  /** A file that was taken in is not wanted. */
  drop(input: number): Promise<void>;
  /** Begins to read these files as one trace; the status tells how far that is. */
  open(files: readonly Chosen[]): Promise<void>;
  /** Ends the reading, or puts away its error: what was open before stays. */
  cancel(): Promise<void>;
}

const NS_PER: Record<string, bigint> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  '': 1_000_000n,
};

/** 73 years, as far as clocks may be apart. */
const MOST = 1n << 61n;

/** "12ms", "-1.5 s", "300us"; without a unit ms. Parts of a nanosecond are none. */
export function parseOffset(text: string): bigint | null {
  const found = /^([+\-−]?)(\d+)?(?:\.(\d*))?\s*(ns|us|µs|μs|ms|s|)$/.exec(text.trim());
  const [, sign, whole = '', part = '', unit = ''] = found ?? [];
  const per = NS_PER[unit];
  if (!found || per === undefined || whole + part === '' || part.length > 18) return null;
  const scaled = BigInt(whole + part) * per;
  const size = scaled / 10n ** BigInt(part.length);
  if (size > MOST) return null;
  return sign === '' || sign === '+' ? size : -size;
}

/** As it can be typed again, in the largest unit in which it has at most three digits behind the point. */
export function offsetText(offset: bigint): string {
  const size = offset < 0n ? -offset : offset;
  const sign = offset < 0n ? '-' : '';
  for (const unit of ['s', 'ms', 'us']) {
    const per = NS_PER[unit] ?? 1n;
    if (size >= per && (size * 1000n) % per === 0n) {
      const part = String(((size % per) * 1000n) / per)
        .padStart(3, '0')
        .replace(/0+$/, '');
      return `${sign}${size / per}${part && `.${part}`} ${unit === 'us' ? 'µs' : unit}`;
    }
  }
  return size === 0n ? '0 ms' : `${sign}${size} ns`;
}

/** "0,3:-1500": as it stands in an address. */
export function writeFiles(files: readonly Chosen[]): string {
  return files
    .map(({ input, offset }) => (offset === 0n ? String(input) : `${input}:${offset}`))
    .join(',');
}

export function readFiles(text: string): readonly Chosen[] | null {
  const files = text.split(',').map((word) => /^(\d{1,9})(?::(-?\d{1,19}))?$/.exec(word));
  if (files.length > MOST_FILES || files.some((found) => !found)) return null;
  const chosen = files.map((found) => ({
    input: Number(found?.[1]),
    offset: BigInt(found?.[2] ?? 0),
  }));
  return new Set(chosen.map((c) => c.input)).size === chosen.length ? chosen : null;
}

export function sameFiles(a: readonly Chosen[], b: readonly Chosen[]): boolean {
  return writeFiles(a) === writeFiles(b);
}
