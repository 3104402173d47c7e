// SPDX-License-Identifier: Apache-2.0
// The list of search results. The engine searches in steps; each step is asked for when the
// previous answer has arrived, and its hits are merged into the sorted list.
//
//     HitTable     all hits, in columns, in the order in which they arrived
//     all          their numbers in the order of the table
//     order        those that the find box of the table leaves
//
// A step returns some thousand hits. They are sorted alone and merged into `all` in one pass;
// sorting everything again with each step would cost more with every step. The list can be
// scrolled, sorted and stopped while the search goes on.
//
// After a million hits the search only counts: the table would need more memory than the page may
// use, and nobody reads that far.

import { Latest, debounce } from '../base/latest';
import { effect, signal, untracked } from '../base/signal';
import type { EventRow, HitSort, SearchField, SearchRow, SearchStep } from './eventAnswers';
import { isCaseSensitive, substringMatcher, type Frames } from './names';
import { EngineError } from './engine';
import type { Viewer } from './viewer';

/** The first step is small, so that the first hits appear at once. */
const FIRST_STEP = 500;
const STEP = 20000;
/** Further hits are only counted: each takes about fifty bytes of memory. */
export const MOST_HITS = 1 << 20;

const INTEGERS = ['kind', 'a', 'b', 'track', 'process', 'frame', 'fields'] as const;
type IntegerColumn = (typeof INTEGERS)[number];

/**
 * Search results in columns: about fifty bytes each, where an array per hit would take several
 * hundred.
 */
export class HitTable {
  count = 0;
  private capacity = 1024;
  private readonly integers: Record<IntegerColumn, Int32Array>;
  private time = new Float64Array(this.capacity);
  private length = new Float64Array(this.capacity);
  private readonly names = new Map<number, string>();
  private readonly excerpts = new Map<number, string>();

  constructor() {
    const column = (): Int32Array => new Int32Array(this.capacity);
    this.integers = {
      ...{ kind: column(), a: column(), b: column(), track: column() },
      ...{ process: column(), frame: column(), fields: column() },
    };
  }

  private grow(): void {
    this.capacity *= 2;
    const wider = <T extends Int32Array | Float64Array>(old: T, made: T): T => {
      made.set(old);
      return made;
    };
    for (const name of INTEGERS)
      this.integers[name] = wider(this.integers[name], new Int32Array(this.capacity));
    this.time = wider(this.time, new Float64Array(this.capacity));
    this.length = wider(this.length, new Float64Array(this.capacity));
  }

  add(row: SearchRow): void {
    if (this.count === this.capacity) this.grow();
    const at = this.count++;
    const [kind, a, b, time, length, track, process, frame, name, fields, excerpt] = row;
    const values = { kind, a, b, track, process, frame, fields };
    for (const column of INTEGERS) this.integers[column][at] = values[column];
    this.time[at] = time;
    this.length[at] = length;
    if (name !== null) this.names.set(at, name);
    if (excerpt !== null) this.excerpts.set(at, excerpt);
  }

  get(at: number): SearchRow {
    const n = (column: IntegerColumn): number => this.integers[column][at] ?? 0;
    const event: EventRow = [
      ...([n('kind'), n('a'), n('b'), this.time[at] ?? 0, this.length[at] ?? 0] as const),
      ...([n('track'), n('process'), n('frame'), this.names.get(at) ?? null] as const),
    ];
    return [...event, n('fields'), this.excerpts.get(at) ?? null];
  }

  /** Return a comparison of two hits by a sort order; ties are sorted by time. */
  comparer(sort: HitSort, frames: Frames): (x: number, y: number) => number {
    const sign = sort.descending ? -1 : 1;
    const { time } = this;
    const ties = (x: number, y: number): number => (time[x] ?? 0) - (time[y] ?? 0) || x - y;
    if (sort.column === 'name') {
      const byName = this.byName(frames);
      return (x, y) => sign * byName(x, y) || ties(x, y);
    }
    const column =
      sort.column === 'time'
        ? time
        : sort.column === 'length'
          ? this.length
          : this.integers[sort.column];
    return (x, y) => sign * ((column[x] ?? 0) - (column[y] ?? 0)) || ties(x, y);
  }

  /** Compare hits by name. Most names are names of frames, whose order is precomputed. */
  private byName(frames: Frames): (x: number, y: number) => number {
    const { frame } = this.integers;
    const orders = frames.nameOrder();
    const text = (at: number): string =>
      this.names.get(at) ?? ((frame[at] ?? -1) < 0 ? '' : frames.full(frame[at] ?? 0));
    const order = (at: number): number =>
      this.names.has(at) ? -1 : (orders[frame[at] ?? -1] ?? -1);
    return (x, y) => {
      const [a, b] = [order(x), order(y)];
      if (a >= 0 && b >= 0) return a - b;
      const [s, t] = [text(x), text(y)];
      return s < t ? -1 : s > t ? 1 : 0;
    };
  }

  /** Return a test whether a hit contains a text in its name or excerpt. */
  holding(text: string, frames: Frames): (at: number) => boolean {
    const matches = substringMatcher(text);
    const { frame } = this.integers;
    const known = new Map<number, boolean>();
    const inFrame = (number: number): boolean => {
      let found = known.get(number);
      if (found === undefined) known.set(number, (found = matches(frames.searchText(number))));
      return found;
    };
    return (at) => {
      const name = this.names.get(at);
      const number = frame[at] ?? -1;
      if (name !== undefined ? matches(name) : number >= 0 && inFrame(number)) return true;
      const excerpt = this.excerpts.get(at);
      return excerpt !== undefined && matches(excerpt);
    };
  }
}

/** State of the search; "stopped": by the user or by an error. */
export type SearchState = 'idle' | 'running' | 'stopped' | 'done';

/** Searches while the list is visible, and holds the results. */
export class SearchList {
  hits = new HitTable();
  /** `all`: numbers of all hits in sort order; `order`: those that the table shows. */
  private all: Uint32Array = new Uint32Array(0);
  order: Uint32Array = new Uint32Array(0);
  readonly count = signal(0);
  /** Progress from 0 to 1. */
  readonly progress = signal(0);
  readonly state = signal<SearchState>('idle');
  /** Number of hits, including those that were only counted. */
  readonly total = signal(0);
  /** Message of the engine if it rejects the regular expression. */
  readonly fault = signal('');
  /** Incremented with every change of the list. */
  readonly version = signal(0);
  private readonly asking: Latest;
  private after: string | null = null;

  /** Search only while `shown` returns true. */
  constructor(
    private readonly viewer: Viewer,
    shown: () => boolean,
  ) {
    this.asking = new Latest((error) => {
      this.state.set('stopped');
      const refused = error instanceof EngineError && !error.gone && this.viewer.regex.peek();
      if (refused) this.fault.set(error.message);
      else viewer.failed(error);
    });
    const begin = debounce(150, () => {
      if (shown() && viewer.search.peek() !== '') this.step(FIRST_STEP);
    });
    let searched = '';
    effect(() => {
      const asked = JSON.stringify(this.question());
      const visible = shown();
      untracked(() => {
        if (asked !== searched) this.clear();
        if (asked === searched && this.state.peek() !== 'idle') return;
        searched = asked;
        if (visible) begin();
      });
    });
    effect(() => {
      viewer.hitSort.get();
      untracked(() => this.sortAll());
    });
    effect(() => {
      if (!shown()) return;
      viewer.find.get();
      untracked(() => this.show());
    });
  }

  private question(): {
    text: string;
    fields: readonly SearchField[];
    matchCase: boolean;
    regex: boolean;
    from?: number;
    to?: number;
    tracks?: readonly number[];
  } {
    const { viewer } = this;
    const text = viewer.search.get();
    return {
      text,
      fields: viewer.searchIn.get(),
      matchCase: isCaseSensitive(text, viewer.matchCase.get()),
      regex: viewer.regex.get(),
      ...viewer.scope(),
    };
  }

  private clear(): void {
    this.asking.cancel();
    this.hits = new HitTable();
    this.all = this.order = new Uint32Array(0);
    this.after = null;
    this.count.set(0);
    this.total.set(0);
    this.fault.set('');
    this.progress.set(0);
    this.state.set('idle');
    this.version.update((n) => n + 1);
  }

  private step(limit: number): void {
    this.state.set('running');
    const left = MOST_HITS - this.hits.count;
    const question = {
      ...untracked(() => this.question()),
      limit: Math.max(1, Math.min(limit, left)),
      countOnly: left === 0,
      ...(this.after === null ? {} : { after: this.after }),
    };
    this.asking.run(
      (signal) => this.viewer.engine.search(question, signal),
      (answer: SearchStep) => {
        this.take(answer.hits);
        this.total.update((n) => n + answer.count);
        this.progress.set(answer.of > 0 ? Math.min(1, answer.done / answer.of) : 1);
        this.after = answer.next;
        if (answer.next === null) this.state.set('done');
        else this.step(STEP);
      },
    );
  }

  stop(): void {
    this.asking.cancel();
    if (this.state.peek() === 'running') this.state.set('stopped');
  }

  goOn(): void {
    if (this.state.peek() === 'stopped') this.step(STEP);
  }

  private compare(): (x: number, y: number) => number {
    return this.hits.comparer(this.viewer.hitSort.peek(), this.viewer.frames);
  }

  /** Apply the find box of the table to the list. */
  private show(): void {
    const find = this.viewer.find.peek();
    this.order =
      find === '' ? this.all : this.all.filter(this.hits.holding(find, this.viewer.frames));
    this.version.update((n) => n + 1);
  }

  /** Sort new hits and merge them into the sorted list. */
  private take(rows: readonly SearchRow[]): void {
    const before = this.all;
    const begin = this.hits.count;
    for (const row of rows) this.hits.add(row);
    if (rows.length === 0) return;
    const compare = this.compare();
    const fresh = Uint32Array.from(rows, (_, i) => begin + i).sort(compare);
    const merged = new Uint32Array(before.length + fresh.length);
    let i = 0;
    for (let at = 0, k = 0; at < merged.length; at++) {
      const [old, added] = [before[i], fresh[k]];
      const first = added === undefined || (old !== undefined && compare(old, added) <= 0);
      merged[at] = (first ? old : added) ?? 0;
      if (first) i++;
      else k++;
    }
    this.all = merged;
    this.count.set(this.hits.count);
    this.show();
  }

  private sortAll(): void {
    if (this.all.length === 0) return;
    this.all = this.all.slice().sort(this.compare());
    this.show();
  }

  /** Return the hit on a line of the table. */
  at(line: number): SearchRow | null {
    const hit = this.order[line];
    return hit === undefined ? null : this.hits.get(hit);
  }
}
