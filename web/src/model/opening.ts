// SPDX-License-Identifier: Apache-2.0
// The files of a trace: selection, time offsets, state of loading, and the questions that open
// other files.

/** A file of the trace by its number. `offset` is added to its times, in nanoseconds. */
export interface ChosenFile {
  input: number;
  offset: bigint;
}

/** A file of the trace with its name. */
export interface OpenedInput extends ChosenFile {
  name: string;
}

/** A file that can be opened. `bytes` is null if only the engine knows the file. */
export interface KnownFile {
  input: number;
  name: string;
  bytes: number | null;
}

export interface LoadingStatus {
  state: 'empty' | 'loading' | 'ready' | 'error';
  /** Number of the trace; 0: none. */
  trace: number;
  inputs: OpenedInput[];
  /** Every file that can be opened, and the default selection. */
  files: KnownFile[];
  start: ChosenFile[];
  name: string;
  bytes: number;
  total_bytes: number;
  records: number;
  /** `bytes` counts bytes of compressed files, which are unpacked before reading. */
  unpacking?: boolean;
  /** Reading is complete, and the trace is being assembled: `bytes` stands still. */
  joining?: boolean;
  /** Preview of the trace while it is loaded. */
  sketch?: Sketch;
  /**
   * On an upload server: address of the trace's page. Files cannot be opened, and loading cannot be
   * cancelled or ended here.
   */
  home?: string;
  /** The engine can make reports. */
  reports?: boolean;
  /** The program can send the files of a trace to the user's server. */
  sends?: boolean;
  /** Queries in SQL can be asked; a text says why not, and what to do. */
  sql?: true | string;
  /** `quote` holds the bytes around the offset in hex, from byte `quoted_at` on. */
  error?: {
    message: string;
    kind?: ErrorKind;
    offset?: number;
    quoted_at?: number;
    quote?: string;
  };
}

/**
 * Cause of an error, which selects the advice: "room" means a full disk, "memory" a page out of
 * memory, "many" too many files.
 */
export type ErrorKind =
  'many' | 'memory' | 'io' | 'syntax' | 'unsupported' | 'limit' | 'usage' | 'room' | 'other';

/** Preview of a trace. */
export interface Sketch {
  length_ns: number;
  /** Activity of each track, 0 to 255, from left to right. */
  tracks: { name: string; heights: number[] }[];
}

/** Limit of files in one trace. */
export const MOST_FILES = 64;

/**
 * Open the chosen files instead of the trace, or in addition to its files, or compare the trace with
 * them.
 */
export type OpeningMode = 'instead' | 'beside' | 'compare';

/** The questions that open and close files. */
export interface OpeningEngine {
  /** Upload a file and return its number. `told` receives the number of bytes sent so far. */
  take(file: File, told: (bytes: number) => void, signal: AbortSignal): Promise<number>;
  /** Forget an uploaded file. */
  drop(input: number): Promise<void>;
  /**
   * Start to read these files as one trace, unless that trace is open, and return its number. Its
   * status reports the progress. Other traces stay open.
   */
  open(files: readonly ChosenFile[]): Promise<number>;
  /** Stop reading a trace, or dismiss its error. */
  cancel(trace: number): Promise<void>;
}

const OFFSET_UNITS: Record<string, bigint> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  '': 1_000_000n,
};

/** Limit of an offset: 73 years. */
const MOST_OFFSET = 1n << 61n;

/**
 * Parse an offset such as "12ms", "-1.5 s" or "300us"; milliseconds by default. Fractions of a
 * nanosecond are cut off.
 */
export function parseOffset(text: string): bigint | null {
  const found = /^([+\-−]?)(\d+)?(?:\.(\d*))?\s*(ns|us|µs|μs|ms|s|)$/.exec(text.trim());
  const [, sign, whole = '', part = '', unit = ''] = found ?? [];
  const per = OFFSET_UNITS[unit];
  if (!found || per === undefined || whole + part === '' || part.length > 18) return null;
  const scaled = BigInt(whole + part) * per;
  const size = scaled / 10n ** BigInt(part.length);
  if (size > MOST_OFFSET) return null;
  return sign === '' || sign === '+' ? size : -size;
}

/**
 * Format an offset so that parseOffset reads it, in the largest unit that needs at most three
 * decimals.
 */
export function offsetText(offset: bigint): string {
  const size = offset < 0n ? -offset : offset;
  const sign = offset < 0n ? '-' : '';
  for (const unit of ['s', 'ms', 'us']) {
    const per = OFFSET_UNITS[unit] ?? 1n;
    if (size >= per && (size * 1000n) % per === 0n) {
      const part = String(((size % per) * 1000n) / per)
        .padStart(3, '0')
        .replace(/0+$/, '');
      return `${sign}${size / per}${part && `.${part}`} ${unit === 'us' ? 'µs' : unit}`;
    }
  }
  return size === 0n ? '0 ms' : `${sign}${size} ns`;
}

/** Format the files for the address, as in "0,3:-1500". */
export function writeFiles(files: readonly ChosenFile[]): string {
  return files
    .map(({ input, offset }) => (offset === 0n ? String(input) : `${input}:${offset}`))
    .join(',');
}

/** Parse the output of writeFiles; null: malformed, or a file stands twice. */
export function readFiles(text: string): readonly ChosenFile[] | null {
  const files = text.split(',').map((word) => /^(\d{1,9})(?::(-?\d{1,19}))?$/.exec(word));
  if (files.length > MOST_FILES || files.some((found) => !found)) return null;
  const chosen = files.map((found) => ({
    input: Number(found?.[1]),
    offset: BigInt(found?.[2] ?? 0),
  }));
  return new Set(chosen.map((c) => c.input)).size === chosen.length ? chosen : null;
}

/** Tell whether two selections are equal, including offsets. */
export function sameFiles(a: readonly ChosenFile[], b: readonly ChosenFile[]): boolean {
  return writeFiles(a) === writeFiles(b);
}
