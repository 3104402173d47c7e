// SPDX-License-Identifier: Apache-2.0
// The traces in a file, as src/unpack and src/cli/input/inputs.c find them: it may be one itself, packed,
// an archive of several, a page, and all that in each other.  Nothing here trusts its input.

import { brief, visible } from '../base/visible';
import { isTar, untar, type Taker } from './archives';
import type { Bytes, Room } from './bytes';
import { joinHalves } from './halves';
import { findZlib, gunzip, Refusal, unzlib } from './streams';
import { ENCRYPTION, unzip } from './zip';
import { unzstd } from './zstd';

export interface Part {
  name: string;
  bytes: Bytes;
  /** Those of one page that are of one machine have one number; null: of a machine of its own. */
  machine: number | null;
  /** Added to its times, in nanoseconds. */
  offset: bigint;
}

/** A trace in an HTML page: where it stands, and, where it is not plain, its text. */
export interface PageTrace {
  start: number;
  end: number;
  /** Those of its blocks: between them is what is none of it. */
  bytes: number;
  plain: boolean;
  /** The page ends within it. */
  open: boolean;
  /** Of a file of a report; else empty. */
  name: string;
  /** Those of one number are of one machine. */
  machine: number;
  offset: bigint;
}

export interface Page {
  traces: PageTrace[];
  /** What is to be told of it. */
  notes: string[];
  /** It ends before traces that it lists. */
  cut: boolean;
}

/** What only the engine knows. */
export interface Judge {
  knows(head: Uint8Array, size: number): boolean;
  isPage(head: Uint8Array): boolean;
  /** What no reader knows, in words; empty: it does not know either. */
  foreign(head: Uint8Array): string;
  /** Throws a Refusal. */
  page(page: Bytes): Page;
  /** False: it is damaged there. */
  traceText(page: Bytes, trace: number, take: (bytes: Uint8Array) => boolean): boolean;
}

export interface Unpacked {
  parts: Part[];
  /** What was left out, or is not whole, in words. */
  notes: string[];
  /** So many containers end early or are damaged. */
  cut: number;
}

const HEAD = 4096;
/** A container inside a container inside a container is as far as it goes. */
const NESTING = 3;
/** Streams directly in streams count as one, as libarchive takes them, up to so many. */
const LAYERS = 25;
const MOST_PARTS = 64;
const FREE = 2 ** 30;
const RATIO = 256;
/** What a page can hold at all. */
const CEILING = 2 ** 32;

type Kind = 'page' | 'zlib' | 'gzip' | 'zstd' | 'zip' | 'tar';

function begins(head: Uint8Array, ...magic: number[]): boolean {
  return magic.every((byte, i) => head[i] === byte);
}

function archiveKind(head: Uint8Array): Kind | null {
  if (begins(head, 0x1f, 0x8b)) return 'gzip';
  if (begins(head, 0x28, 0xb5, 0x2f, 0xfd)) return 'zstd';
  if (begins(head, 0x50, 0x4b, 3, 4)) return 'zip';
  return isTar(head) ? 'tar' : null;
}

/** Archives first: the head of one may show the line "TRACE:" of a member that is stored. */
function kindOf(head: Uint8Array, judge: Judge): Kind | null {
  const archive = archiveKind(head);
  if (archive) return archive;
  if (judge.isPage(head)) return 'page';
  return findZlib(head) ? 'zlib' : null;
}

/** Of members that are left out so many are named. */
const NAMED = 3;
const LONGEST_NAME = 80;

interface LeftOut {
  names: string[];
  count: number;
}

/** "a and b: packed with bzip2, which is not unpacked in a page: left out". */
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

/** 73 years, as in the program (TV_MOVE_MAX). */
const MOST_MOVED = 1n << 61n;

/** A file moved, and once more with what it lies in: within that. */
function moved(outer: bigint, inner: bigint): bigint {
  const sum = outer + inner;
  return sum > MOST_MOVED ? MOST_MOVED : sum < -MOST_MOVED ? -MOST_MOVED : sum;
}

/** One container, and what is taken out of it. */
class Taking implements Taker {
  readonly parts: Part[] = [];
  foreign = '';
  /** What was done to members that were left out, and which those are. */
  readonly leftOut = new Map<string, LeftOut>();

  constructor(
    private readonly container: Part,
    /** So many machines there were before. */
    private readonly of: {
      judge: Judge;
      room: Room;
      machines: number;
      grown: (bytes: number) => void;
    },
  ) {}

  private wanted(head: Uint8Array): boolean {
    const { judge } = this.of;
    if (!kindOf(head, judge) && !judge.knows(head, Number.MAX_SAFE_INTEGER)) {
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

  /** A page in a page is of the machine of that. */
  place(part: Part, { machine, offset }: PageTrace): void {
    part.machine ??= this.of.machines + machine;
    part.offset = moved(part.offset, offset);
  }

  /** The first bytes are gathered until there are enough to tell what it is. */
  begin(name: string): ReturnType<Taker['begin']> {
    const spool = this.of.room.spool();
    let head = new Uint8Array(0);
    let wanted: boolean | null = null;
    const decide = (): boolean => {
      wanted = this.wanted(head.subarray(0, HEAD));
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
        return head.length < HEAD || decide();
      },
      end: () => {
        if (wanted ?? (head.length > 0 && decide())) this.add(name, spool.finish());
      },
    };
  }

  leaveOut(name: string, way: string): void {
    const { names, count } = this.leftOut.get(way) ?? { names: [], count: 0 };
    if (names.length < NAMED) names.push(brief(visible(name), LONGEST_NAME));
    this.leftOut.set(way, { names, count: count + 1 });
  }

  plain(name: string, bytes: Bytes): void {
    if (bytes.size > 0 && this.wanted(bytes.read(0, HEAD))) this.add(name, bytes);
  }
}

function unpackStream(kind: Kind, packed: Bytes, taker: Taker): boolean {
  const { take, end } = taker.begin('');
  const place = kind === 'zlib' ? findZlib(packed.read(0, HEAD)) : null;
  const whole = place
    ? unzlib(packed, place, take)
    : (kind === 'gzip' ? gunzip : unzstd)(packed, take);
  end(whole);
  return whole;
}

function unpackPage(bytes: Bytes, judge: Judge, taker: Taking, page: Page): boolean {
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
        `${brief(visible(called), LONGEST_NAME)}, ${trace.bytes} bytes at byte ${trace.start}, ` +
          'is of no known format: left out',
      );
    }
  });
  return whole;
}

export class Unpacking {
  private readonly notes: string[] = [];
  private readonly ceiling: number;
  private total = 0;
  private machines = 0;
  private cut = 0;

  constructor(
    private readonly judge: Judge,
    private readonly room: Room,
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

  private takePage(bytes: Bytes, taking: Taking): boolean {
    const page = this.judge.page(bytes);
    const whole = unpackPage(bytes, this.judge, taking, page);
    for (const { machine } of taking.parts)
      this.machines = Math.max(this.machines, (machine ?? 0) + 1);
    this.notes.push(...page.notes);
    return whole;
  }

  private take(container: Part, kind: Kind): Part[] {
    const { judge, room, machines } = this;
    const grown = (bytes: number): void => this.grown(bytes);
    const taking = new Taking(container, { judge, room, machines, grown });
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

  private nothing(kind: Kind, whole: boolean, foreign: string): Refusal {
    const what = kind === 'page' ? 'an HTML page' : 'a container (gzip, zlib, zstd, zip or tar)';
    if (foreign)
      return new Refusal(`a container without a trace in it: found ${foreign}`, 'unsupported');
    if (whole || kind === 'page')
      return new Refusal(`${what} without a trace in it`, 'unsupported');
    return new Refusal('damaged container: it cannot be unpacked', 'syntax');
  }

  /** Throws a Refusal when there is no trace in it; what is no container is left to the reader. */
  run(): Unpacked {
    const { name, bytes } = this.file;
    const parts: Part[] = [];
    const whole: Part = { name, bytes, machine: null, offset: 0n };
    const stack = [{ part: whole, nesting: 0, layers: 0 }];
    for (let next = stack.pop(); next; next = stack.pop()) {
      const { part, nesting, layers } = next;
      const head = part.bytes.read(0, HEAD);
      const kind = nesting < NESTING ? kindOf(head, this.judge) : null;
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
