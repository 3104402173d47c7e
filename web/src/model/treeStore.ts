// SPDX-License-Identifier: Apache-2.0
// A tree table of the selected range and tracks. Lines are loaded when their parent opens, and open
// lines stay open when the range changes.
//
// The engine numbers the nodes of a tree, and the numbers stay the same for another range; with
// transforms they do not. After a change the open lines are therefore asked for by number, or else
// found again by their frames, level by level:
//
//     scope changes -> ask for the root and all open nodes at once -> new lines, opened as before
//     address names lines -> ask for a level -> open it -> ask for the next one
//     a method is selected -> ask for the way to its longest path -> open that, once
//
// Every answer belongs to one TreeLines object. If the table has another one when it arrives, the
// answer is dropped: its lines would be those of another range.
//
// Open lines are part of the address, except the lines that the selected method opened: a link
// would otherwise change with each click.

import { Latest } from '../base/latest';
import { computed, effect, signal, untracked, type ReadSignal, type Signal } from '../base/signal';
import type { Scope } from './engine';
import { scaleOf, type Measure, type Scale } from './measure';
import { substringMatcher } from './names';
import { readOpen, writeOpen, type OpenLine } from './openLines';
import { orderOfMeasure, type ProfileSort } from './profileRows';
import type { TreeAnswer, TreeQuestion } from './treeAnswer';
import { TREE_ROOT, TreeLines, type FilteredLines } from './treeLines';
import type { Viewer } from './viewer';

/** Limit of lines to reopen after a change of the range: the engine accepts 256 nodes. */
const REOPENED = 255;

type NodesQuestion = Omit<TreeQuestion, keyof Scope | 'of' | 'bottomUp'>;

/** Holds one tree table; it loads data while `active`. */
export class TreeStore {
  /** The loaded lines, in a new object after every change; null: no answer yet. */
  readonly lines = signal<{ tree: TreeLines } | null>(null);
  readonly shown: ReadSignal<readonly number[]>;
  readonly pending = signal(false);
  /** Indexes among the visible lines that match the find box. */
  readonly found: ReadSignal<readonly number[]>;
  private readonly asking: Latest;
  private scope: Omit<TreeQuestion, keyof NodesQuestion> | null = null;
  private asked = '';
  private revealed: number | null = null;
  /** Lines that are open only because of the selection: the address omits them. */
  private usual = '';
  /** True while the lines of an address are being opened. */
  private opening = false;
  /** Matches of the find box in the whole tree; null: show all open lines. */
  private readonly leading: ReadSignal<FilteredLines | null>;
  /** Lines among the matches that the user closed. */
  private readonly closedFound = signal<ReadonlySet<number>>(new Set());
  /** The tree whose lines were all requested. */
  private gathered: TreeLines | null = null;

  constructor(
    private readonly viewer: Viewer,
    readonly bottomUp: boolean,
    active: () => boolean,
  ) {
    this.asking = new Latest((error) => {
      this.pending.set(false);
      viewer.failed(error);
    });
    const onlyFind = (): string => (viewer.onlyFound.get() && active() ? viewer.find.get() : '');
    this.leading = computed(() => {
      const tree = this.lines.get()?.tree;
      const find = onlyFind();
      if (!tree || find === '') return null;
      const matches = this.frameMatcher(find);
      return tree.leading((line) => matches(tree.frame[line] ?? 0));
    });
    this.shown = computed(() => {
      const tree = this.lines.get()?.tree;
      const leading = this.leading.get();
      const only = leading && { leading, closed: this.closedFound.get() };
      return tree ? tree.shown(this.sort, viewer.frames, only) : [];
    });
    effect(() => {
      onlyFind();
      untracked(() => this.closedFound.set(new Set()));
    });
    effect(() => {
      const tree = this.lines.get()?.tree;
      if (tree && onlyFind() !== '') untracked(() => this.gather(tree));
    });
    this.found = computed(() => (active() ? this.findAll(viewer.find.get()) : []));
    effect(() => {
      const scope = {
        ...viewer.measured(),
        bottomUp,
      };
      const measure = viewer.measure();
      if (active()) untracked(() => this.ask(scope, measure));
    });
    effect(() => {
      const frame = viewer.frame.get();
      if (frame === null) this.revealed = null;
      else if (active() && this.lines.get()) untracked(() => this.reveal(frame));
    });
    effect(() => {
      const tree = this.lines.get()?.tree;
      if (tree) untracked(() => this.note(tree));
    });
    effect(() => {
      const text = this.named.get();
      untracked(() => this.goBackTo(text));
    });
  }

  /** The measure of the lines, or of the first ones that are awaited. */
  get measure(): Measure {
    return this.lines.get()?.tree.measure ?? this.viewer.measure();
  }

  /** The scale of the figures of the table. */
  scale(unit = this.viewer.unit.get()): Scale {
    return scaleOf(this.measure, unit, this.lines.get()?.tree.real?.total ?? 0);
  }

  /** The order of the table. */
  get sort(): ProfileSort {
    return orderOfMeasure(this.viewer.treeOrder(this.bottomUp), this.measure.of);
  }

  private get named(): Signal<string | null> {
    return this.bottomUp ? this.viewer.openUp : this.viewer.openDown;
  }

  /** Write the open lines to the address. */
  private note(tree: TreeLines): void {
    if (this.opening) return;
    const text = writeOpen(tree.openShown());
    this.named.set(text === this.usual ? null : text);
  }

  /** Open the lines that the address names and close all others. */
  private goBackTo(text: string | null): void {
    const tree = this.lines.peek()?.tree;
    if (!tree || this.opening || (text ?? this.usual) === writeOpen(tree.openShown())) return;
    tree.closeAll();
    this.lines.set({ tree });
    if (text !== null) return this.openNamed(tree, text);
    this.usual = '';
    this.revealed = null;
    const frame = this.viewer.frame.peek();
    if (frame !== null) this.reveal(frame);
  }

  /** Open lines level by level: a line can be requested only after its parent is loaded. */
  private openNamed(tree: TreeLines, text: string): void {
    const wanted = readOpen(text);
    this.revealed = this.viewer.frame.peek();
    this.opening = true;
    void this.openLevel(
      tree,
      wanted.map((open) => ({ under: TREE_ROOT, open })),
    )
      .catch(this.viewer.failed)
      .finally(() => {
        if (this.lines.peek()?.tree !== tree) return;
        this.opening = false;
        this.lines.set({ tree });
      });
  }

  /**
   * Open lines one level after the other: a line is named by its place below the one above it,
   * which must be there first.
   */
  private async openLevel(
    tree: TreeLines,
    wanted: readonly { under: number; open: OpenLine }[],
  ): Promise<void> {
    const found = wanted.flatMap(({ under, open }) => {
      const line = tree.childOf(under, open.frame);
      return line === null || tree.isOpen(line) === null ? [] : [{ line, open }];
    });
    for (const below of [false, true]) {
      const lines = found.filter(({ open }) => open.all === below).map(({ line }) => line);
      if (lines.length === 0) continue;
      const nodes = lines.map((line) => tree.name(line));
      const answer = await this.question({ nodes, below });
      if (this.lines.peek()?.tree !== tree) return;
      for (const line of lines) tree.open(line);
      tree.add(answer, (k) => lines[k] ?? null);
      this.lines.set({ tree });
    }
    const next = found.flatMap(({ line, open }) =>
      open.under.map((o) => ({ under: line, open: o })),
    );
    if (next.length > 0) await this.openLevel(tree, next);
  }

  /** Load all lines: matches may be below closed ones. */
  private gather(tree: TreeLines): void {
    if (this.gathered === tree) return;
    this.gathered = tree;
    if (tree.isWhole) return;
    this.pending.set(true);
    this.question({ nodes: ['0'], below: true })
      .then((answer) => {
        if (this.lines.peek()?.tree !== tree) return;
        this.pending.set(false);
        tree.add(answer, () => TREE_ROOT, false);
        this.lines.set({ tree });
      })
      .catch((error: unknown) => {
        this.pending.set(false);
        this.viewer.failed(error);
      });
  }

  /** Tell whether a line is open; null: nothing below it, or no match. */
  isOpen(line: number): boolean | null {
    const leading = this.leading.peek();
    if (!leading) return this.lines.peek()?.tree.isOpen(line) ?? null;
    return leading.above[line] === 1 ? !this.closedFound.peek().has(line) : null;
  }

  private question(asked: NodesQuestion, signal?: AbortSignal): Promise<TreeAnswer> {
    const scope = this.scope ?? { of: 'calls' as const, bottomUp: this.bottomUp };
    return this.viewer.engine.tree({ ...scope, ...asked }, signal);
  }

  /** Ask for the tree of another scope, and open the lines that were open before. */
  private ask(scope: Omit<TreeQuestion, keyof NodesQuestion>, measure: Measure): void {
    const text = JSON.stringify(scope);
    if (text === this.asked) return;
    const sameNodes = this.scope?.transforms === undefined;
    this.asked = text;
    this.scope = scope;
    this.pending.set(true);
    const before = this.lines.peek()?.tree ?? null;
    // Transforms number the nodes anew; open lines are then found again by their frames.
    const old = scope.transforms === undefined && sameNodes ? before : null;
    const open = old?.openLines(REOPENED) ?? [];
    const nodes = ['0', ...open.map((line) => old?.name(line) ?? '0')];
    this.asking.run(
      (signal) => this.question({ nodes }, signal),
      (answer) => {
        const tree = new TreeLines(this.bottomUp, answer, measure);
        const now = new Map<number, number | null>([[TREE_ROOT, TREE_ROOT]]);
        tree.add(answer, (k) => {
          const line = open[k - 1];
          if (line === undefined || !old) return TREE_ROOT;
          const under = now.get(old.parent[line] ?? TREE_ROOT) ?? null;
          const same = under === null ? null : tree.childOf(under, old.frame[line] ?? -1);
          now.set(line, same);
          if (same !== null) tree.open(same);
          return same;
        });
        this.pending.set(false);
        this.opening = false;
        const text = this.named.peek() ?? (before && !old ? writeOpen(before.openShown()) : null);
        if (old || text === null) this.lines.set({ tree });
        else {
          this.opening = true;
          this.lines.set({ tree });
          this.openNamed(tree, text);
        }
      },
    );
  }

  /** Request further lines. The answer is dropped if the table was replaced meanwhile. */
  private addTo(asked: NodesQuestion, lines: (answer: TreeAnswer, tree: TreeLines) => void): void {
    const tree = this.lines.peek()?.tree;
    if (!tree) return;
    this.question(asked)
      .then((answer) => {
        if (this.lines.peek()?.tree !== tree) return;
        lines(answer, tree);
        this.lines.set({ tree });
      })
      .catch(this.viewer.failed);
  }

  private setFound(line: number, open: boolean): void {
    const closed = new Set(this.closedFound.peek());
    if (open) closed.delete(line);
    else closed.add(line);
    this.closedFound.set(closed);
  }

  open(line: number): void {
    if (this.leading.peek()) return this.setFound(line, true);
    const tree = this.lines.peek()?.tree;
    if (!tree || tree.isOpen(line) !== false) return;
    tree.open(line);
    if (tree.hasFamily(line)) this.lines.set({ tree });
    else this.addTo({ nodes: [tree.name(line)] }, (answer, into) => into.add(answer, () => line));
  }

  openBelow(line: number): void {
    if (this.leading.peek()) return this.setFound(line, true);
    const tree = this.lines.peek()?.tree;
    if (!tree || tree.isOpen(line) === null) return;
    this.addTo({ nodes: [tree.name(line)], below: true }, (answer, into) => {
      into.open(line);
      into.add(answer, () => line);
    });
  }

  close(line: number): void {
    if (this.leading.peek()) return this.setFound(line, false);
    const tree = this.lines.peek()?.tree;
    if (!tree?.isOpen(line)) return;
    tree.close(line);
    this.lines.set({ tree });
  }

  /**
   * A method was selected elsewhere: open the path to its longest call path, unless it is visible.
   */
  private reveal(frame: number): void {
    const tree = this.lines.peek()?.tree;
    if (!tree || this.bottomUp || this.revealed === frame) return;
    this.revealed = frame; // Once: what is closed then stays closed.
    const alone = this.named.peek() === null;
    if (this.shown.peek().some((line) => tree.frame[line] === frame)) return;
    this.addTo({ reveal: frame }, (answer, into) => {
      const way: number[] = [];
      into.add(answer, (k) => {
        const under = way[k - 1] ?? TREE_ROOT;
        const frameOf = k === 0 ? null : this.frameOfNode(answer, k);
        const line = k === 0 ? TREE_ROOT : frameOf === null ? null : into.childOf(under, frameOf);
        if (line === null) return null;
        way[k] = line;
        if (line !== TREE_ROOT) into.open(line);
        return line;
      });
      if (alone) this.usual = writeOpen(into.openShown());
    });
  }

  /** The k-th expanded node is a line of the answer, below the previous node. */
  private frameOfNode(answer: TreeAnswer, k: number): number | null {
    const at = answer.node.indexOf(answer.opened[k] ?? -1);
    return at < 0 ? null : (answer.frame[at] ?? null);
  }

  private frameMatcher(query: string): (frame: number) => boolean {
    const matches = substringMatcher(query);
    const { frames } = this.viewer;
    const known = new Map<number, boolean>();
    return (frame) => {
      let found = known.get(frame);
      if (found === undefined) known.set(frame, (found = matches(frames.searchText(frame))));
      return found;
    };
  }

  private findAll(query: string): readonly number[] {
    const tree = this.lines.get()?.tree;
    if (query === '' || !tree) return [];
    const matches = this.frameMatcher(query);
    const places: number[] = [];
    this.shown.get().forEach((line, place) => {
      if (matches(tree.frame[line] ?? 0)) places.push(place);
    });
    return places;
  }
}
