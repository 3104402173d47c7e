// SPDX-License-Identifier: Apache-2.0
// By what a file is known again when it is chosen a second time, and the uploads that the browser
// remembers by it.

import { stored, store } from '../views/settings';

/** Recordings of one size are common (their buffer is), so a little of what is in them counts too. */
const TASTE = 32 * 1024;

/** FNV-1a, 32 bits: it tells files apart, it guards nothing. */
function fnv(bytes: Uint8Array, start: number): number {
  let hash = start;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

export type Known = Pick<File, 'name' | 'size' | 'lastModified' | 'slice'>;

export async function fingerprint(file: Known): Promise<string> {
  const first = await file.slice(0, TASTE).arrayBuffer();
  const last = await file.slice(Math.max(TASTE, file.size - TASTE)).arrayBuffer();
  const hash = fnv(new Uint8Array(last), fnv(new Uint8Array(first), 0x811c9dc5));
  return [hash.toString(16), file.size, file.lastModified, file.name].join(' ');
}

export interface Remembered {
  uid: string;
  name: string;
  size: number;
  /** The trace it will be, if the server has said so. */
  trace: string | null;
  /** When a page was last at work on it; 0: it was left. */
  at: number;
}

export interface Box {
  get(): string | null;
  set(text: string): void;
}

const BROWSER: Box = {
  get: () => stored('uploads'),
  set: (text) => store('uploads', text),
};

const MOST = 50;
/** A page that says nothing for so long is not at work any more. */
const SILENT_MS = 20_000;

type Table = Record<string, Remembered>;

function isRemembered(value: unknown): value is Remembered {
  const entry = value as Partial<Remembered> | null;
  return (
    typeof entry === 'object' &&
    typeof entry?.uid === 'string' &&
    /^[\w-]+$/.test(entry.uid) &&
    typeof entry.name === 'string' &&
    typeof entry.size === 'number' &&
    typeof entry.at === 'number'
  );
}

/** Kept in the browser, so that an upload goes on after a reload.  Several pages may write. */
export class Memory {
  constructor(private readonly box: Box = BROWSER) {}

  private read(): Table {
    try {
      const table = JSON.parse(this.box.get() ?? '{}') as Record<string, unknown> | null;
      return Object.fromEntries(
        Object.entries(table ?? {}).filter((pair): pair is [string, Remembered] =>
          isRemembered(pair[1]),
        ),
      );
    } catch {
      return {}; // What somebody else wrote there is nothing.
    }
  }

  private write(table: Table): void {
    const newest = Object.entries(table)
      .sort(([, a], [, b]) => b.at - a.at)
      .slice(0, MOST);
    this.box.set(JSON.stringify(Object.fromEntries(newest)));
  }

  find(key: string): Remembered | null {
    return this.read()[key] ?? null;
  }

  keep(key: string, entry: Remembered): void {
    this.write({ ...this.read(), [key]: entry });
  }

  forget(key: string): void {
    const { [key]: _, ...rest } = this.read();
    this.write(rest);
  }

  /** Uploads that nobody is at work on. */
  left(now: number): [key: string, entry: Remembered][] {
    return Object.entries(this.read()).filter(([, entry]) => now - entry.at > SILENT_MS);
  }
}
