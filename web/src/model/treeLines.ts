// SPDX-License-Identifier: Apache-2.0
// Lines of a tree table: an incremental copy of the engine's call tree. It holds the lines that
// were loaded so far, which of them are open, and computes the visible ones.
//
//   line    0      1      2      3 ...      one number per line, never reused
//   frame   main   run    read   write      one array per property, for up to a
//   parent  TOP    0      1      1          million lines
//   level   0      1      2      2
//   families: TOP -> [0, 1)   0 -> [1, 2)   1 -> [2, 4)
//
// The children of a line (a family) always arrive together and have consecutive numbers, and every
// child has a greater number than its parent. Backward loops therefore visit children first.

import { columnValue, type ColumnId, type Figures } from './profileColumns';
import type { Measure } from './measure';
import type { Frames } from './names';
import { MOST_OPEN, type OpenLine } from './openLines';
import type { ProfileSort } from './profileRows';
import { TREE_LINE, type TreeAnswer, type TreeTimes } from './treeAnswer';

/** Parent of the lines of the first level. */
export const TREE_ROOT = -1;

/** The children of a line: `count` lines from `first` on. */
interface Family {
  first: number;
  count: number;
}

/** Result of a search, by line: 1 or 0. */
export interface FilteredLines {
  kept: Uint8Array;
  /** The line has a kept line below it. */
  above: Uint8Array;
}

interface LineTimes {
  total: number;
  incl: number[];
  self: number[];
}

function emptyTimes(times: TreeTimes | null): LineTimes | null {
  return times && { total: times.total, incl: [], self: [] };
}

/** The loaded part of a tree. */
export class TreeLines {
  readonly frame: number[] = [];
  readonly parent: number[] = [];
  readonly level: number[] = [];
  readonly calls: number[] = [];
  readonly real: LineTimes | null;
  readonly cpu: LineTimes | null;
  private readonly node: number[] = [];
  private readonly mayOpen: boolean[] = [];
  /** The children of a line, once loaded. */
  private readonly families = new Map<number, Family>();
  private readonly opened = new Set<number>();
  private sorted = new Map<number, Uint32Array>();
  private order: ProfileSort = { column: 'name', descending: false };

  /** Totals and clocks are taken from the first answer. */
  constructor(
    private readonly bottomUp: boolean,
    answer: TreeAnswer,
    readonly measure: Measure = { of: 'calls', name: '', unit: '' },
  ) {
    this.real = emptyTimes(answer.real);
    this.cpu = emptyTimes(answer.cpu);
  }

  get count(): number {
    return this.frame.length;
  }

  /** Return the engine's name of a line. */
  name(line: number): string {
    if (line === TREE_ROOT) return '0';
    const node = this.node[line] ?? 0;
    return this.bottomUp ? `${node}.${this.level[line] ?? 0}` : String(node);
  }

  /**
   * Add an answer. `asked` maps the number of an expanded node to its line; null: the line is gone.
   * Known lines keep their numbers. If `opens` is false, no line is opened.
   */
  add(answer: TreeAnswer, asked: (k: number) => number | null, opens = true): void {
    const opened = answer.opened.length;
    // Maps lines of the answer to lines of the table, for the children that follow; -2: dropped.
    const lines = new Int32Array(answer.count).fill(-2);
    for (let first = 0, end = 0; first < answer.count; first = end) {
      const parent = answer.parent[first] ?? 0;
      while (end < answer.count && answer.parent[end] === parent) end++;
      const under = parent < opened ? asked(parent) : (lines[parent - opened] ?? -2);
      if (under === null || under < TREE_ROOT) continue;
      this.addFamily(answer, first, end, under, lines);
      for (let k = first; opens && k < end; k++)
        if (((answer.flags[k] ?? 0) & TREE_LINE.opened) !== 0) this.open(lines[k] ?? TREE_ROOT);
    }
  }

  private addFamily(
    answer: TreeAnswer,
    first: number,
    end: number,
    under: number,
    lines: Int32Array,
  ): void {
    const known = this.families.get(under);
    const byFrame = new Map<number, number>();
    for (let k = 0; known && k < known.count; k++)
      byFrame.set(this.frame[known.first + k] ?? -1, known.first + k);
    if (!known) this.families.set(under, { first: this.count, count: end - first });
    for (let k = first; k < end; k++) {
      const line = known
        ? (byFrame.get(answer.frame[k] ?? -1) ?? -2)
        : this.addLine(answer, k, under);
      lines[k] = line;
    }
  }

  private addLine(answer: TreeAnswer, k: number, under: number): number {
    const line = this.count;
    this.frame.push(answer.frame[k] ?? 0);
    this.node.push(answer.node[k] ?? 0);
    this.parent.push(under);
    this.level.push(under === TREE_ROOT ? 0 : (this.level[under] ?? 0) + 1);
    this.calls.push(answer.calls[k] ?? 0);
    for (const clock of ['real', 'cpu'] as const) {
      this[clock]?.incl.push(answer[clock]?.incl[k] ?? 0);
      this[clock]?.self.push(answer[clock]?.self[k] ?? 0);
    }
    this.mayOpen.push(((answer.flags[k] ?? 0) & TREE_LINE.hasChildren) !== 0);
    return line;
  }

  /** Tell whether a line is open; null: it has no children. */
  isOpen(line: number): boolean | null {
    return this.mayOpen[line] ? this.opened.has(line) : null;
  }

  hasFamily(line: number): boolean {
    return this.families.has(line);
  }

  open(line: number): void {
    if (this.mayOpen[line]) this.opened.add(line);
  }

  close(line: number): void {
    this.opened.delete(line);
  }

  /** Return at most `most` open lines, parents first. */
  openLines(most: number): number[] {
    return [...this.opened]
      .filter((line) => this.families.has(line))
      .sort((a, b) => (this.level[a] ?? 0) - (this.level[b] ?? 0) || a - b)
      .slice(0, most);
  }

  /** Return the open lines that are visible, as many as an address can hold. */
  openShown(): OpenLine[] {
    const whole = this.openBelow();
    let left = MOST_OPEN;
    const under = (line: number): OpenLine[] => {
      const found: OpenLine[] = [];
      const family = this.families.get(line);
      for (let k = 0; family && k < family.count; k++) {
        const child = family.first + k;
        if (!this.opened.has(child) || !this.families.has(child) || left === 0) continue;
        left--;
        const all = whole[child] === 2;
        found.push({ frame: this.frame[child] ?? 0, all, under: all ? [] : under(child) });
      }
      return found;
    };
    return under(TREE_ROOT);
  }

  /**
   * For each line: 0: something below is closed, 1: nothing below can be closed, 2: everything is
   * open.
   */
  private openBelow(): Uint8Array {
    const whole = new Uint8Array(this.count).fill(1);
    // Children have greater numbers than their parents.
    for (let line = this.count - 1; line >= 0; line--) {
      const open = this.opened.has(line) && this.families.has(line);
      const closed = (this.mayOpen[line] ?? false) && !open;
      if (closed) whole[line] = 0;
      const parent = this.parent[line] ?? TREE_ROOT;
      if (parent === TREE_ROOT || whole[parent] === 0) continue;
      if (closed || whole[line] === 0) whole[parent] = 0;
      else if (open) whole[parent] = 2;
    }
    return whole;
  }

  closeAll(): void {
    this.opened.clear();
  }

  /** Return the child with a frame; null: there is none. */
  childOf(line: number, frame: number): number | null {
    const family = this.families.get(line);
    for (let k = 0; family && k < family.count; k++)
      if (this.frame[family.first + k] === frame) return family.first + k;
    return null;
  }

  figures(line: number): Figures {
    return {
      calls: this.calls[line] ?? 0,
      recursive: 0,
      incl_real: this.real?.incl[line] ?? null,
      excl_real: this.real?.self[line] ?? null,
      incl_cpu: this.cpu?.incl[line] ?? null,
      excl_cpu: this.cpu?.self[line] ?? null,
    };
  }

  private column(id: ColumnId): number[] | undefined {
    const times = id.includes('cpu') ? this.cpu : this.real;
    if (id === 'calls') return this.calls;
    return id.startsWith('incl') ? times?.incl : times?.self;
  }

  /** Sort the children of a line, and remember their order until the order of the table changes. */
  private sort(line: number, family: Family, frames: Frames): Uint32Array {
    const names = this.order.column === 'name';
    const values = names ? undefined : this.column(this.order.column);
    const sign = this.order.descending ? -1 : 1;
    const byName = (a: number, b: number): number => {
      const one = frames.full(this.frame[a] ?? 0);
      const other = frames.full(this.frame[b] ?? 0);
      return one < other ? -1 : one > other ? 1 : a - b;
    };
    const sorted = Uint32Array.from({ length: family.count }, (_, k) => family.first + k);
    sorted.sort((a, b) =>
      values ? sign * ((values[a] ?? 0) - (values[b] ?? 0)) || byName(a, b) : sign * byName(a, b),
    );
    this.sorted.set(line, sorted);
    return sorted;
  }

  /** True when all lines of the tree are loaded. */
  get isWhole(): boolean {
    return this.mayOpen.every((may, line) => !may || this.families.has(line));
  }

  /** Return the wanted lines and all their ancestors. */
  leading(wanted: (line: number) => boolean): FilteredLines {
    const kept = new Uint8Array(this.count);
    const above = new Uint8Array(this.count);
    // Children have greater numbers than their parents.
    for (let line = this.count - 1; line >= 0; line--) {
      if (above[line] === 0 && !wanted(line)) continue;
      kept[line] = 1;
      const parent = this.parent[line] ?? TREE_ROOT;
      if (parent !== TREE_ROOT) above[parent] = 1;
    }
    return { kept, above };
  }

  /**
   * Return the visible lines in order, children after their parent. With `only`, return the kept
   * lines instead, except below lines in `closed`.
   */
  shown(
    sort: ProfileSort,
    frames: Frames,
    only: { leading: FilteredLines; closed: ReadonlySet<number> } | null = null,
  ): number[] {
    if (sort.column !== this.order.column || sort.descending !== this.order.descending) {
      this.order = sort;
      this.sorted = new Map();
    }
    const shown: number[] = [];
    const open: { lines: Uint32Array; at: number }[] = [];
    const descend = (line: number): void => {
      const family = this.families.get(line);
      if (!family) return;
      open.push({ lines: this.sorted.get(line) ?? this.sort(line, family, frames), at: 0 });
    };
    descend(TREE_ROOT);
    for (let top = open.at(-1); top; top = open.at(-1)) {
      const line = top.lines[top.at++];
      if (line === undefined) open.pop();
      else if (!only || only.leading.kept[line] === 1) {
        shown.push(line);
        const open = only
          ? only.leading.above[line] === 1 && !only.closed.has(line)
          : this.opened.has(line);
        if (open) descend(line);
      }
    }
    return shown;
  }

  /** Return the greatest value of a column, to size it. */
  most(id: ColumnId): number {
    const values = this.column(id) ?? [];
    let most = 0;
    for (const value of values) if (value > most) most = value;
    return most;
  }

  figure(line: number, id: ColumnId): number | null {
    return columnValue(this.figures(line), id);
  }
}
