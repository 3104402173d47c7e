// SPDX-License-Identifier: Apache-2.0
// Names of methods as people read them.

import { named } from '../base/visible';
import { eventColour, hashedColour } from './colours';
import type { FrameRow, Process, Track } from './engine';
import { CPUS } from './states';

const PRIMITIVES: Record<string, string> = {
  B: 'byte',
  C: 'char',
  D: 'double',
  F: 'float',
  I: 'int',
  J: 'long',
  S: 'short',
  V: 'void',
  Z: 'boolean',
};

/** One type of a JVM descriptor from `at` on: its short name and where the next one begins. */
function readType(text: string, at: number): [string, number] | null {
  let arrays = 0;
  while (text[at + arrays] === '[') arrays++;
  const first = at + arrays;
  const suffix = '[]'.repeat(arrays);
  const primitive = PRIMITIVES[text[first] ?? ''];
  if (primitive) return [primitive + suffix, first + 1];
  const end = text.indexOf(';', first);
  if (text[first] !== 'L' || end < 0) return null;
  const name = text.slice(first + 1, end);
  return [name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('.')) + 1) + suffix, end + 1];
}

/** (Landroid/os/Bundle;I)V becomes (Bundle, int) void; what is no descriptor stays as it is. */
export function readableSignature(text: string): string {
  const close = text.indexOf(')');
  if (text[0] !== '(' || close < 0) return text;
  const types: string[] = [];
  for (let at = 1; at < close;) {
    const type = readType(text, at);
    if (!type || type[1] > close) return text;
    types.push(type[0]);
    at = type[1];
  }
  const result = readType(text, close + 1);
  if (!result || result[1] !== text.length) return text;
  return `(${types.join(', ')}) ${result[0]}`;
}

/** Every frame's names, worked out when first asked for. */
export class Frames {
  private readonly texts: (string | undefined)[];
  private readonly shorts: (string | undefined)[];

  private order: Uint32Array | null = null;
  private readonly hashes: (number | undefined)[];

  constructor(
    private readonly rows: readonly FrameRow[],
    private readonly colours: 'rank' | 'name' = 'rank',
  ) {
    this.texts = new Array<string | undefined>(rows.length);
    this.shorts = new Array<string | undefined>(rows.length);
    this.hashes = new Array<number | undefined>(rows.length);
  }

  get count(): number {
    return this.rows.length;
  }

  /** Methods that are called somewhere in the trace. */
  get called(): number {
    return this.rows.reduce((n, row) => n + (row[5] > 0 ? 1 : 0), 0);
  }

  private row(frame: number): FrameRow {
    return this.rows[frame] ?? ['', `method ${frame}`, '', '', 0, 0];
  }

  className(frame: number): string {
    return this.row(frame)[0].replaceAll('/', '.');
  }

  method(frame: number): string {
    return named(this.row(frame)[1]);
  }

  rawSignature(frame: number): string {
    return this.row(frame)[2];
  }

  signature(frame: number): string {
    return readableSignature(this.row(frame)[2]);
  }

  source(frame: number): string {
    const [, , , file, line] = this.row(frame);
    return file && line > 0 ? `${file}:${line}` : file;
  }

  /** Of formats that have categories instead of classes. */
  category(frame: number): string {
    return this.row(frame)[6] ?? '';
  }

  rank(frame: number): number {
    return this.row(frame)[5];
  }

  /**
   * A number of the theme's bars: dealt by rank in the whole trace, so that no selection changes a
   * colour, or by the hash of the name.
   */
  colour(frame: number): number {
    const own = this.row(frame)[7];
    if (own) return eventColour(own, 0);
    if (this.colours === 'name') return (this.hashes[frame] ??= hashedColour(this.row(frame)[1]));
    const rank = this.rank(frame);
    return rank > 0 ? (rank - 1) % 16 : 15;
  }

  /** Class.method without the package. */
  short(frame: number): string {
    return (this.shorts[frame] ??= this.className(frame)
      ? `${this.simpleClass(frame)}.${this.method(frame)}`
      : this.method(frame));
  }

  simpleClass(frame: number): string {
    const name = this.className(frame);
    return name.slice(name.lastIndexOf('.') + 1);
  }

  /** With its last point: "android.view.", or nothing. */
  packagePrefix(frame: number): string {
    const name = this.className(frame);
    return name.slice(0, name.lastIndexOf('.') + 1);
  }

  full(frame: number): string {
    const name = this.className(frame);
    return name ? `${name}.${this.method(frame)}` : this.method(frame);
  }

  /** The place of each frame in the order of full names; those of one name share it. */
  nameOrder(): Uint32Array {
    if (this.order) return this.order;
    const names = this.rows.map((_, frame) => this.full(frame));
    const sorted = names
      .map((_, frame) => frame)
      .sort((a, b) => {
        const [s, t] = [names[a] ?? '', names[b] ?? ''];
        return s < t ? -1 : s > t ? 1 : 0;
      });
    const order = new Uint32Array(names.length);
    sorted.forEach((frame, at) => {
      const before = sorted[at - 1];
      const same = before !== undefined && names[before] === names[frame];
      order[frame] = same ? (order[before] ?? 0) : at;
    });
    this.order = order;
    return order;
  }

  /** What searching looks at: the name and the signature, as shown and as written. */
  searchText(frame: number): string {
    let text = this.texts[frame];
    if (text === undefined) {
      const raw = this.rawSignature(frame);
      const readable = readableSignature(raw);
      text = `${this.full(frame)} ${readable}${readable === raw ? '' : `\n${this.full(frame)} ${raw}`}`;
      this.texts[frame] = text;
    }
    return text;
  }
}

/** The id of a thread or process as its file writes it. */
export function idOf(owner: { id?: number; thread_id?: number; key?: string }): string {
  return owner.key ?? String(owner.id ?? owner.thread_id ?? '');
}

/** Tracks of async slices and of processors have names of their own, as have lines of the kernel. */
export function ownName(track: Track): boolean {
  return track.kind === 'async' || track.kind === 'cpu' || track.key === track.name;
}

/** "[12] main", or the track's own name. */
export function trackName(track: Track): string {
  return ownName(track) ? track.name : `[${idOf(track)}] ${track.name}`;
}

/** The same, and its process where there are several: other processes may have such a thread, too. */
export function trackPlace(track: Track, processes: readonly Process[]): string {
  const known = processes.length > 1 && processes[track.process];
  const own = trackName(track);
  return known ? `${own}, ${processName(processes, track.process)}` : own;
}

/** Whether case counts: when it is to, or when the query holds a capital. */
export function caseCounts(query: string, matchCase = false): boolean {
  return matchCase || query !== query.toLowerCase();
}

/** Of a process by its index, also of what stands for none. */
export function processName(processes: readonly Process[], index: number): string {
  const process = processes[index];
  if (!process) return index === CPUS ? 'CPUs' : 'No process';
  return process.name || `Process ${idOf(process)}`;
}

/** Substring; capitals count only when the query holds one, or when they are to. */
export function matcher(query: string, matchCase = false): (text: string) => boolean {
  if (caseCounts(query, matchCase)) return (text) => text.includes(query);
  return (text) => text.toLowerCase().includes(query);
}

/** Where the query stands in a text, or -1. */
export function matchAt(text: string, query: string, matchCase = false): number {
  if (query === '') return -1;
  return caseCounts(query, matchCase) ? text.indexOf(query) : text.toLowerCase().indexOf(query);
}
