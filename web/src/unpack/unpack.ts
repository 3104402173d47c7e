// SPDX-License-Identifier: Apache-2.0
// Finding the traces in a file, like src/unpack and src/cli/input/inputs.c: the file may be a trace, a
// compressed trace, an archive, an HTML page, or any nesting of these.
//
//   Unpacking.run    a stack of parts, depth first
//     recognizeContainer   page, zlib, gzip, zstd, zip, tar; otherwise the part is a trace
//     Unpacking.take       one container: the unpacker calls ContainerMembers (a Taker)
//                          for each member, which keeps those that the engine knows
//
// Input is not trusted. Limits hold for nesting, members, traces, and for the unpacked size in
// relation to the file's size, against decompression bombs.

import { shortened, makeVisible } from '../base/visible';
import { isTar, untar, type Taker } from './archives';
import type { Bytes, ByteStorage } from './bytes';
import { findZlib, gunzip, Refusal, unzlib } from './streams';
import { ENCRYPTION, unzip } from './zip';
import { unzstd } from './zstd';

/** A trace, or a container that may have traces in it. */
export interface TracePart {
  name: string;
  bytes: Bytes;
  /** Parts of one page with equal numbers come from one machine; null: a machine of its own. */
  machine: number | null;
  /** Added to its times, in nanoseconds. */
  offset: bigint;
}

/** A trace in an HTML page: its position, and its properties. */
export interface PageTrace {
  start: number;
  end: number;
  /** Total length of its blocks; the gaps between them do not belong to it. */
  bytes: number;
  plain: boolean;
  /** The page ends before the trace does. */
  open: boolean;
  /** File name, in a page that is a report; otherwise empty. */
  name: string;
  /** Traces with equal numbers come from one machine. */
  machine: number;
  offset: bigint;
}

/** The contents of an HTML page. */
export interface PageContents {
  traces: PageTrace[];
  /** Messages for the user. */
  notes: string[];
  /** The page ends before traces that it lists. */
  cut: boolean;
}

/** Questions about formats that only the engine can answer. */
export interface Judge {
  knows(head: Uint8Array, size: number): boolean;
  isPage(head: Uint8Array): boolean;
  /** Name a format that no reader knows; empty: unknown. */
  foreign(head: Uint8Array): string;
  /** List the traces of a page; throws a Refusal. */
  page(page: Bytes): PageContents;
  /** Pass the text of a trace to `take`; false: damaged. */
  traceText(page: Bytes, trace: number, take: (bytes: Uint8Array) => boolean): boolean;
}

/** The result of unpacking. */
export interface Unpacked {
  parts: TracePart[];
  /** Messages about parts that were skipped or are incomplete. */
  notes: string[];
  /** Number of containers that are truncated or damaged. */
  cut: number;
}

const PREFIX_LENGTH = 4096;
/** Limit of nested containers. */
const NESTING = 3;
/** Limit of directly nested streams, which count as one container, as in libarchive. */
const LAYERS = 25;
const MOST_PARTS = 64;
const FREE = 2 ** 30;
const RATIO = 256;
/** Limit of what a page can hold. */
const CEILING = 2 ** 32;

type ContainerKind = 'page' | 'zlib' | 'gzip' | 'zstd' | 'zip' | 'tar';

function beginsWith(head: Uint8Array, ...magic: number[]): boolean {
  return magic.every((byte, i) => head[i] === byte);
}

function archiveKind(head: Uint8Array): ContainerKind | null {
  if (beginsWith(head, 0x1f, 0x8b)) return 'gzip';
  if (beginsWith(head, 0x28, 0xb5, 0x2f, 0xfd)) return 'zstd';
  if (beginsWith(head, 0x50, 0x4b, 3, 4)) return 'zip';
  return isTar(head) ? 'tar' : null;
}

/**
 * Recognize a container; null: none. Archives come first, since the begin of an archive may show
 * the line "TRACE:" of a stored member.
 */
function recognizeContainer(head: Uint8Array, judge: Judge): ContainerKind | null {
  const archive = archiveKind(head);
  if (archive) return archive;
  if (judge.isPage(head)) return 'page';
  return findZlib(head) ? 'zlib' : null;
}

/** Number of skipped members to name in a message. */
const NAMED = 3;
const LONGEST_NAME = 80;

interface LeftOut {
  names: string[];
  count: number;
}

/**
 * Describe skipped members: "a and b: packed with bzip2, which is not unpacked in a page: left
 * out".
 */
function leftOutWords(way: string, { names, count }: LeftOut): string {
  const more = count > names.length ? ` and ${count - names.length} more` : '';
  const done = way === ENCRYPTION ? 'encrypted' : `packed with ${way}`;
  return `${names.join(', ')}${more}: ${done}, which is not unpacked in a page: left out`;
}

function nothingUnpacked(leftOut: ReadonlyMap<string, LeftOut>): Refusal {
  const ways = [...leftOut.keys()].filter((way) => way !== ENCRYPTION).join(', ');
  const encrypted = leftOut.get(ENCRYPTION);
  const first = encrypted ? ` (${encrypted.names[0]})` : '';
  const what = encrypted ? `an encrypted zip${first}` : `a zip packed with ${ways}`;
  return new Refusal(`${what}, which is not unpacked in a page`, 'unsupported');
}

/** Limit of a time offset: 73 years, as in the program (TV_MOVE_MAX). */
const MOST_MOVED = 1n << 61n;

/** Add the offset of a file and that of its container, and clamp the sum. */
function addOffsets(outer: bigint, inner: bigint): bigint {
  const sum = outer + inner;
  return sum > MOST_MOVED ? MOST_MOVED : sum < -MOST_MOVED ? -MOST_MOVED : sum;
}

/** Keeps the traces among the members of one container. */
class ContainerMembers implements Taker {
  readonly parts: TracePart[] = [];
  foreign = '';
  /** Skipped members, by compression method. */
  readonly leftOut = new Map<string, LeftOut>();

  constructor(
    private readonly container: TracePart,
    /** `machines`: the number of machines in earlier containers. */
    private readonly of: {
      judge: Judge;
      room: ByteStorage;
      machines: number;
      grown: (bytes: number) => void;
    },
  ) {}

  private wanted(head: Uint8Array): boolean {
    const { judge } = this.of;
    if (!recognizeContainer(head, judge) && !judge.knows(head, Number.MAX_SAFE_INTEGER)) {
      this.foreign ||= judge.foreign(head);
      return false;
    }
    if (this.parts.length === MOST_PARTS)
      throw new Refusal(`an archive with more than ${MOST_PARTS} traces: unpack it first`, 'limit');
    return true;
  }

  private add(name: string, bytes: Bytes): void {
    const full = name ? `${this.container.name}: ${name}` : this.container.name;
    const { machine, offset } = this.container;
    this.parts.push({ name: full, bytes, machine, offset });
  }

  /**
   * Set machine and offset from the page. A page inside a page comes from the machine of the outer
   * one.
   */
  place(part: TracePart, { machine, offset }: PageTrace): void {
    part.machine ??= this.of.machines + machine;
    part.offset = addOffsets(part.offset, offset);
  }

  /**
   * Collect the first bytes until they suffice to recognize the format, then keep or drop the
   * member.
   */
  begin(name: string): ReturnType<Taker['begin']> {
    const spool = this.of.room.spool();
    let head = new Uint8Array(0);
    let wanted: boolean | null = null;
    const decide = (): boolean => {
      wanted = this.wanted(head.subarray(0, PREFIX_LENGTH));
      if (wanted) spool.add(head);
      return wanted;
    };
    return {
      take: (bytes) => {
        if (wanted === false) return false;
        this.of.grown(bytes.length);
        if (wanted) {
          spool.add(bytes);
          return true;
        }
        const all = new Uint8Array(head.length + bytes.length);
        all.set(head);
        all.set(bytes, head.length);
        head = all;
        return head.length < PREFIX_LENGTH || decide();
      },
      end: () => {
        if (wanted ?? (head.length > 0 && decide())) this.add(name, spool.finish());
      },
    };
  }

  leaveOut(name: string, way: string): void {
    const { names, count } = this.leftOut.get(way) ?? { names: [], count: 0 };
    if (names.length < NAMED) names.push(shortened(makeVisible(name), LONGEST_NAME));
    this.leftOut.set(way, { names, count: count + 1 });
  }

  plain(name: string, bytes: Bytes): void {
    if (bytes.size > 0 && this.wanted(bytes.read(0, PREFIX_LENGTH))) this.add(name, bytes);
  }
}

function unpackStream(kind: ContainerKind, packed: Bytes, taker: Taker): boolean {
  const { take, end } = taker.begin('');
  const place = kind === 'zlib' ? findZlib(packed.read(0, PREFIX_LENGTH)) : null;
  const whole = place
    ? unzlib(packed, place, take)
    : (kind === 'gzip' ? gunzip : unzstd)(packed, take);
  end(whole);
  return whole;
}

function unpackPage(
  bytes: Bytes,
  judge: Judge,
  taker: ContainerMembers,
  page: PageContents,
): boolean {
  let whole = !page.cut;
  page.traces.forEach((trace, i) => {
    const called = trace.name || `block ${i + 1}`;
    const name = !trace.name && page.traces.length === 1 ? '' : called;
    const before = taker.parts.length;
    if (trace.plain) {
      taker.plain(name, bytes.part(trace.start, trace.end));
    } else {
      const { take, end } = taker.begin(name);
      const good = judge.traceText(bytes, i, take);
      end(good);
      whole &&= good;
    }
    whole &&= !trace.open;
    const part = taker.parts[before];
    if (part) {
      taker.place(part, trace);
    } else if (trace.bytes > 0) {
      page.notes.push(
        `${shortened(makeVisible(called), LONGEST_NAME)}, ${trace.bytes} bytes at byte ${trace.start}, ` +
          'is of no known format: left out',
      );
    }
  });
  return whole;
}

/** A split trace consists of x.key and x.data. */
function areHalves(key: string, data: string): boolean {
  return key.endsWith('.key') && data.endsWith('.data') && key.slice(0, -3) === data.slice(0, -4);
}

/** Join the two halves of each split trace, in place of the key file. */
export function joinHalves<T extends { name: string }>(
  parts: T[],
  join: (key: T, data: T) => T,
): T[] {
  const second = new Set<T>();
  const joined = parts.map((part) => {
    const data = parts.find(({ name }) => areHalves(part.name, name));
    if (data) second.add(data);
    return data ? { of: part, part: join(part, data) } : { of: part, part };
  });
  return joined.filter(({ of }) => !second.has(of)).map(({ part }) => part);
}

/** Finds the traces in one file. */
export class Unpacking {
  private readonly notes: string[] = [];
  private readonly ceiling: number;
  private total = 0;
  private machines = 0;
  private cut = 0;

  constructor(
    private readonly judge: Judge,
    private readonly room: ByteStorage,
    private readonly file: { name: string; bytes: Bytes },
  ) {
    this.ceiling = Math.min(FREE + RATIO * file.bytes.size, CEILING);
  }

  private grown(bytes: number): void {
    this.total += bytes;
    if (this.total <= this.ceiling) return;
    const most = `it unpacks to more than ${this.ceiling} bytes, the ceiling`;
    if (this.ceiling < CEILING) throw new Refusal(`${most} for its size`, 'limit');
    throw new Refusal(`${most} of a page`, 'memory');
  }

  private takePage(bytes: Bytes, taking: ContainerMembers): boolean {
    const page = this.judge.page(bytes);
    const whole = unpackPage(bytes, this.judge, taking, page);
    for (const { machine } of taking.parts)
      this.machines = Math.max(this.machines, (machine ?? 0) + 1);
    this.notes.push(...page.notes);
    return whole;
  }

  private take(container: TracePart, kind: ContainerKind): TracePart[] {
    const { judge, room, machines } = this;
    const grown = (bytes: number): void => this.grown(bytes);
    const taking = new ContainerMembers(container, { judge, room, machines, grown });
    const { bytes } = container;
    const whole =
      kind === 'page'
        ? this.takePage(bytes, taking)
        : kind === 'zip'
          ? unzip(bytes, taking)
          : kind === 'tar'
            ? untar(bytes, taking)
            : unpackStream(kind, bytes, taking);
    if (taking.parts.length === 0 && taking.leftOut.size > 0) throw nothingUnpacked(taking.leftOut);
    for (const [way, names] of taking.leftOut) this.notes.push(leftOutWords(way, names));
    if (taking.parts.length === 0) throw this.nothing(kind, whole, taking.foreign);
    if (!whole) {
      this.cut++;
      this.notes.push('the container ends early or is damaged: what came before is read');
    }
    return joinHalves(taking.parts, (key, data) => ({
      ...key,
      bytes: room.join(key.bytes, data.bytes),
    }));
  }

  private nothing(kind: ContainerKind, whole: boolean, foreign: string): Refusal {
    const what = kind === 'page' ? 'an HTML page' : 'a container (gzip, zlib, zstd, zip or tar)';
    if (foreign)
      return new Refusal(`a container without a trace in it: found ${foreign}`, 'unsupported');
    if (whole || kind === 'page')
      return new Refusal(`${what} without a trace in it`, 'unsupported');
    return new Refusal('damaged container: it cannot be unpacked', 'syntax');
  }

  /**
   * Return the traces. Throws a Refusal if a container has none. A file that is no container is
   * returned as it is, for the reader to judge.
   */
  run(): Unpacked {
    const { name, bytes } = this.file;
    const parts: TracePart[] = [];
    const whole: TracePart = { name, bytes, machine: null, offset: 0n };
    const stack = [{ part: whole, nesting: 0, layers: 0 }];
    for (let next = stack.pop(); next; next = stack.pop()) {
      const { part, nesting, layers } = next;
      const head = part.bytes.read(0, PREFIX_LENGTH);
      const kind = nesting < NESTING ? recognizeContainer(head, this.judge) : null;
      if (!kind) {
        parts.push(part);
        continue;
      }
      const stream = (kind === 'gzip' || kind === 'zstd') && layers + 1 < LAYERS;
      const depth = stream ? { nesting, layers: layers + 1 } : { nesting: nesting + 1, layers: 0 };
      const inside = this.take(part, kind).map((each) => ({ part: each, ...depth }));
      stack.push(...inside.reverse());
    }
    return { parts, notes: this.notes, cut: this.cut };
  }
}
