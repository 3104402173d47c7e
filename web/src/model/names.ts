// SPDX-License-Identifier: Apache-2.0
// Names of methods, threads and processes in readable form, and matching of names with a search.
//
// A frame has several names, each for a purpose:
//
//     short      Bitmap.draw                          in bars, where room is scarce
//     full       android.graphics.Bitmap.draw         in tables and tooltips
//     raw        android/graphics/Bitmap.draw         as the file has it: in transforms
//     compared   android/graphics/Bitmap.draw (I)V    as a comparison has it
//     search     full and readable signature, and raw with its own: whichever a user types is found
//
// Traces may have a hundred thousand frames and more, of which a screen shows a few hundred. So a name
// is made when it is first asked for, and what needs all names (their order, which ones are
// overloaded) is made once.

import { nameOrPlaceholder } from '../base/visible';
import { eventColour, hashedColour, KERNEL, KINDS, kindColour } from './colours';
import type { FrameRow } from './engine';
import type { Process, Track } from './traceFacts';
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

/** Parse one type of a JVM descriptor at `at`. Return its short name and the position after it. */
function readDescriptorType(text: string, at: number): [string, number] | null {
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

/**
 * Format a JVM descriptor: (Landroid/os/Bundle;I)V becomes (Bundle, int) void. Other texts stay
 * unchanged.
 */
export function readableSignature(text: string): string {
  const close = text.indexOf(')');
  if (text[0] !== '(' || close < 0) return text;
  const types: string[] = [];
  for (let at = 1; at < close;) {
    const type = readDescriptorType(text, at);
    if (!type || type[1] > close) return text;
    types.push(type[0]);
    at = type[1];
  }
  const result = readDescriptorType(text, close + 1);
  if (!result || result[1] !== text.length) return text;
  return `(${types.join(', ')}) ${result[0]}`;
}

/**
 * Split the name that a comparison has into package, Class.method and readable signature. Names
 * without a JVM descriptor stay whole.
 */
export function comparedParts(key: string): { package: string; own: string; signature: string } {
  const at = key.lastIndexOf(' (');
  const descriptor = key.slice(at + 1);
  const signature = at < 0 ? descriptor : readableSignature(descriptor);
  if (signature === descriptor) return { package: '', own: key, signature: '' };
  const name = key.slice(0, at);
  const method = name.lastIndexOf('.');
  const owner = name.slice(0, Math.max(0, method)).replaceAll('/', '.');
  const simple = owner.lastIndexOf('.') + 1;
  return {
    package: owner.slice(0, simple),
    own: owner.slice(simple) + name.slice(Math.max(0, method)),
    signature,
  };
}

/** Return what is before the function, and before its class if it begins with a capital. */
function packageOfName(text: string): string | null {
  const name = /^[^(<\s]*/.exec(text)?.[0] ?? '';
  const colons = name.lastIndexOf('::');
  if (colons > 0) return name.slice(0, colons);
  const owner = /^(.+)\.[^./]+$/.exec(name)?.[1] ?? null;
  return owner && (/^(.+)[./][A-Z][\w$]*$/.exec(owner)?.[1] ?? owner);
}

/** A library or program, which functions of native code have in place of a class. */
const MODULE = /^[^/]+\.(so(\.\d+)*|dll|exe|dylib)$/;
/**
 * The end of the name of a hidden class of the JVM, such as one of a lambda: an address, or in JDK 17
 * an address and a hash ("+0x00007efce0007a08.1790421142").
 */
const HIDDEN_CLASS = /(\.0x[0-9a-f]+|\+0x[0-9a-f]+\.[0-9]+)$/;

/** Return the last components of a path. */
function lastPart(path: string, components: number): string {
  return path.split('/').slice(-components).join('/');
}

/** Names of all frames. Each name is computed on first use and cached. */
export class Frames {
  private readonly texts: (string | undefined)[];
  private readonly shorts: (string | undefined)[];

  /** The kinds of the trace's frames, in the order of their numbers; 0: unknown. */
  readonly kinds: readonly number[];

  private packages: readonly string[] = [];
  private overloaded: ReadonlySet<string> | null = null;
  private order: Uint32Array | null = null;
  private readonly hashes: (number | undefined)[];

  constructor(
    private readonly rows: readonly FrameRow[],
    private readonly colours: 'rank' | 'name' = 'rank',
    /** Colours tell the kinds of frames, if the trace has any. */
    private readonly byKind: () => boolean = () => false,
  ) {
    const kinds = new Set(rows.map((row) => row[9] ?? 0));
    this.kinds = KINDS.map((_, kind) => kind).filter((kind) => kinds.has(kind));
    this.texts = new Array<string | undefined>(rows.length);
    this.shorts = new Array<string | undefined>(rows.length);
    this.hashes = new Array<number | undefined>(rows.length);
  }

  get count(): number {
    return this.rows.length;
  }

  /** Collapsed packages are frames beyond those of the trace (transforms.ts). */
  setPackages(names: readonly string[]): void {
    this.packages = names;
    this.order = null;
    for (const cache of [this.texts, this.shorts, this.hashes]) cache.length = this.count;
  }

  /** Tell whether a frame is a collapsed package, which no event has. */
  isPackage(frame: number): boolean {
    return frame >= this.count && frame < this.count + this.packages.length;
  }

  has(frame: number): boolean {
    return frame < this.count || this.isPackage(frame);
  }

  /** Number of methods that the trace calls at least once. */
  get called(): number {
    return this.rows.reduce((n, row) => n + (row[5] > 0 ? 1 : 0), 0);
  }

  private row(frame: number): FrameRow {
    const name = this.packages[frame - this.count] ?? `method ${frame}`;
    return this.rows[frame] ?? ['', name, '', '', 0, 0];
  }

  className(frame: number): string {
    return this.row(frame)[0].replaceAll('/', '.');
  }

  method(frame: number): string {
    return nameOrPlaceholder(this.row(frame)[1]);
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

  /** Category of an event; only in formats that have categories instead of classes. */
  category(frame: number): string {
    return this.row(frame)[6] ?? '';
  }

  get hasKinds(): boolean {
    return this.kinds.some((kind) => kind > 0);
  }

  /** The kind of a frame's code, a number of KINDS; 0: unknown. */
  kind(frame: number): number {
    return this.row(frame)[9] ?? 0;
  }

  isKernel(frame: number): boolean {
    return this.kind(frame) === KERNEL;
  }

  rank(frame: number): number {
    return this.row(frame)[5];
  }

  /**
   * Return a colour number of the theme: by rank in the whole trace, so that no selection changes a
   * colour, by the hash of the name, or by the kind of the frame. Calls that are no samples have no
   * kind and keep their colours.
   */
  colour(frame: number): number {
    if (this.byKind() && this.hasKinds && (this.kind(frame) > 0 || this.rank(frame) === 0))
      return kindColour(this.kind(frame));
    const own = this.row(frame)[7];
    if (own) return eventColour(own, 0);
    if (this.colours === 'name' || this.isPackage(frame))
      return (this.hashes[frame] ??= hashedColour(this.row(frame)[1]));
    const rank = this.rank(frame);
    return rank > 0 ? (rank - 1) % 16 : 15;
  }

  /** Return Class.method without the package, or a function without its module. */
  short(frame: number): string {
    return (this.shorts[frame] ??= this.full(frame).slice(this.packagePrefix(frame).length));
  }

  /** Return what is before the short name: "android.view.", "libc.so.6.", or an empty text. */
  packagePrefix(frame: number): string {
    const name = this.className(frame);
    if (MODULE.test(this.row(frame)[0])) return `${name}.`;
    return name.slice(0, name.replace(HIDDEN_CLASS, '').lastIndexOf('.') + 1);
  }

  full(frame: number): string {
    const name = this.className(frame);
    return name ? `${name}.${this.method(frame)}` : this.method(frame);
  }

  /** Return the full name as the file has it. */
  private raw(frame: number): string {
    const [className, method] = this.row(frame);
    return className ? `${className}.${method}` : method;
  }

  /** Return the name of a frame as a comparison has it: with its signature. */
  comparedName(frame: number): string {
    return `${this.raw(frame)} ${this.rawSignature(frame)}`.trimEnd();
  }

  /** Tell whether other frames have the same name. */
  private isOverloaded(frame: number): boolean {
    if (!this.overloaded) {
      const seen = new Set<string>();
      const again = new Set<string>();
      for (let i = 0; i < this.count; i++) (seen.has(this.raw(i)) ? again : seen).add(this.raw(i));
      this.overloaded = again;
    }
    return this.overloaded.has(this.raw(frame));
  }

  /** Return the name of a frame for transforms: with its signature if other frames have the name. */
  exact(frame: number): string {
    return this.raw(frame) + (this.isOverloaded(frame) ? this.rawSignature(frame) : '');
  }

  /**
   * Return the text that tells a frame from others of its name: its signature, else its source line,
   * library or category. The text is empty if no other frame has the name.
   */
  distinction(frame: number): string {
    if (!this.isOverloaded(frame)) return '';
    const library = this.row(frame)[8] ?? '';
    return (
      this.signature(frame) ||
      lastPart(this.source(frame), 2) ||
      lastPart(library, 1) ||
      this.category(frame)
    );
  }

  /** Return the library of a frame, else its package; null if it has neither. */
  packageOf(frame: number): { name: string; library: boolean } | null {
    if (this.isPackage(frame)) return null;
    const [className, method, , , , , , , library] = this.row(frame);
    if (library) return { name: lastPart(library, 1), library: true };
    const name = className
      ? (/^(.+)[./]/.exec(className)?.[1] ?? className)
      : packageOfName(method);
    return name ? { name, library: false } : null;
  }

  /**
   * Return the position of each frame in alphabetical order. Frames with equal names share a
   * position.
   */
  nameOrder(): Uint32Array {
    if (this.order) return this.order;
    const all = this.count + this.packages.length;
    const names = Array.from({ length: all }, (_, frame) => this.full(frame));
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

  /**
   * Return the text to search in: name and signature, as displayed and as stored. The engine
   * searches in the same two texts (view/endpoints/search.c).
   */
  searchText(frame: number): string {
    let text = this.texts[frame];
    if (text === undefined) {
      const raw = this.rawSignature(frame);
      const readable = readableSignature(raw);
      const shown = `${this.full(frame)} ${readable}`;
      const stored = `${this.raw(frame)} ${raw}`;
      text = shown === stored ? shown : `${shown}\n${stored}`;
      this.texts[frame] = text;
    }
    return text;
  }
}

/** Return the id of a thread or process as the file writes it. */
export function ownerId(owner: { id?: number; thread_id?: number; key?: string }): string {
  return owner.key ?? String(owner.id ?? owner.thread_id ?? '');
}

/**
 * Tell whether a track has a name of its own: async slices, processors and lines of the kernel do.
 */
export function hasOwnName(track: Track): boolean {
  return track.kind === 'async' || track.kind === 'cpu' || track.key === track.name;
}

/** Return "[12] main", or the track's own name. */
export function trackName(track: Track): string {
  return hasOwnName(track) ? track.name : `[${ownerId(track)}] ${track.name}`;
}

/**
 * Return the track name with its process if there are several: other processes may have an equally
 * named thread.
 */
export function trackPlace(track: Track, processes: readonly Process[]): string {
  const known = processes.length > 1 && processes[track.process];
  const own = trackName(track);
  return known ? `${own}, ${processName(processes, track.process)}` : own;
}

/** Tell whether case matters: on request, or if the query contains a capital letter. */
export function isCaseSensitive(query: string, matchCase = false): boolean {
  return matchCase || query !== query.toLowerCase();
}

/** Return the name of a process by index, or a name for items without a process. */
export function processName(processes: readonly Process[], index: number): string {
  const process = processes[index];
  if (!process) return index === CPUS ? 'CPUs' : 'No process';
  return process.name || `Process ${ownerId(process)}`;
}

/** Return a substring test. Case matters on request, or if the query contains a capital letter. */
export function substringMatcher(query: string, matchCase = false): (text: string) => boolean {
  if (isCaseSensitive(query, matchCase)) return (text) => text.includes(query);
  return (text) => text.toLowerCase().includes(query);
}

/** Find where a text matches; at -1: it does not. */
export type MatchFinder = (text: string) => readonly [at: number, end: number];

/** Return a finder of a query, as the find boxes of the tables search. */
export function finderOf(query: string): MatchFinder {
  return (text) => {
    const at = indexOfMatch(text, query);
    return [at, at + query.length];
  };
}

/**
 * Return the signature of a frame whose name does not match but whose signature does, in the form
 * that matches, and where; null otherwise.
 */
export function signatureMatch(
  frames: Frames,
  frame: number,
  find: MatchFinder,
): { text: string; at: number; end: number } | null {
  if (find(frames.full(frame))[0] >= 0) return null;
  for (const text of [frames.signature(frame), frames.rawSignature(frame)]) {
    const [at, end] = find(text);
    if (at >= 0) return { text, at, end };
  }
  return null;
}

/** Return the position of the query in a text, or -1. */
export function indexOfMatch(text: string, query: string, matchCase = false): number {
  if (query === '') return -1;
  return isCaseSensitive(query, matchCase)
    ? text.indexOf(query)
    : text.toLowerCase().indexOf(query);
}
