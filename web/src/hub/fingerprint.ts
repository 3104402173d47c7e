// SPDX-License-Identifier: Apache-2.0
// Fingerprints of files, by which a file is recognized when it is chosen again, and the browser's
// memory of unfinished uploads.

import { readSetting, writeSetting } from '../views/settings';

/** Many recordings have the same size (the size of their buffer), so hash some content too. */
const TASTE = 32 * 1024;

/** FNV-1a, 32 bits: it distinguishes files and has no security purpose. */
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
  /** The trace that the file will become, if the server has said so. */
  trace: string | null;
  /** The time when a page last worked on the upload; 0 if it was released. */
  at: number;
}

export interface UploadMemory {
  get(): string | null;
  set(text: string): void;
}

const BROWSER: UploadMemory = {
  get: () => readSetting('uploads'),
  set: (text) => writeSetting('uploads', text),
};

const MOST = 50;
/** A page silent for this long no longer works on the upload. */
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

/**
 * The unfinished uploads in the browser storage, so that they resume after a reload. Several pages
 * may write it.
 */
export class Memory {
  constructor(private readonly box: UploadMemory = BROWSER) {}

  private read(): Table {
    try {
      const table = JSON.parse(this.box.get() ?? '{}') as Record<string, unknown> | null;
      return Object.fromEntries(
        Object.entries(table ?? {}).filter((pair): pair is [string, Remembered] =>
          isRemembered(pair[1]),
        ),
      );
    } catch {
      return {}; // Ignore foreign content.
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

  /** Return the uploads that no page works on. */
  left(now: number): [key: string, entry: Remembered][] {
    return Object.entries(this.read()).filter(([, entry]) => now - entry.at > SILENT_MS);
  }
}
