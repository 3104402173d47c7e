// SPDX-License-Identifier: Apache-2.0
// A tree table: the lines under what is open, asked for when it opens, in the selected range and
// tracks.  What was open stays open in another range.

import { Latest } from '../base/latest';
import { computed, effect, signal, untracked, type ReadSignal } from '../base/signal';
import type { Scope } from './engine';
import { matcher } from './names';
import type { TreeAnswer, TreeQuestion } from './treeAnswer';
import { TOP, TreeLines } from './treeLines';
import type { Viewer } from './viewer';

/** Lines that are opened again at once; the engine takes 256 names. */
const REOPENED = 255;

type Asked = Omit<TreeQuestion, keyof Scope | 'of' | 'bottomUp'>;

export class TreeStore {
  /** What is there, in a new box whenever it has changed; null: no answer yet. */
  readonly lines = signal<{ tree: TreeLines } | null>(null);
  readonly shown: ReadSignal<readonly number[]>;
  readonly pending = signal(false);
  /** Places among the shown lines that have the text to find. */
  readonly found: ReadSignal<readonly number[]>;
  private readonly asking: Latest;
  private scope: Omit<TreeQuestion, keyof Asked> | null = null;
  private asked = '';
  private revealed: number | null = null;

  constructor(
    private readonly viewer: Viewer,
    readonly bottomUp: boolean,
    active: () => boolean,
  ) {
    this.asking = new Latest((error) => {
      this.pending.set(false);
      viewer.failed(error);
    });
    this.shown = computed(() => {
      const tree = this.lines.get()?.tree;
      return tree ? tree.shown(viewer.treeSort.get(), viewer.frames) : [];
    });
    this.found = computed(() => (active() ? this.findAll(viewer.find.get()) : []));
    effect(() => {
      const scope = { ...viewer.scope(), of: viewer.flameOf.get(), bottomUp };
      if (active()) untracked(() => this.ask(scope));
    });
    effect(() => {
      const frame = viewer.frame.get();
      if (frame === null) this.revealed = null;
      else if (active() && this.lines.get()) untracked(() => this.reveal(frame));
    });
  }

  private question(asked: Asked, signal?: AbortSignal): Promise<TreeAnswer> {
    const scope = this.scope ?? { of: 'calls' as const, bottomUp: this.bottomUp };
    return this.viewer.engine.tree({ ...scope, ...asked }, signal);
  }

  private ask(scope: Omit<TreeQuestion, keyof Asked>): void {
    const text = JSON.stringify(scope);
    if (text === this.asked) return;
    this.asked = text;
    this.scope = scope;
    this.pending.set(true);
    const old = this.lines.peek()?.tree ?? null;
    const open = old?.openLines(REOPENED) ?? [];
    const nodes = ['0', ...open.map((line) => old?.name(line) ?? '0')];
    this.asking.run(
      (signal) => this.question({ nodes }, signal),
      (answer) => {
        const tree = new TreeLines(this.bottomUp, answer);
        const now = new Map<number, number | null>([[TOP, TOP]]);
        tree.add(answer, (k) => {
          const line = open[k - 1];
          if (line === undefined || !old) return TOP;
          const under = now.get(old.parent[line] ?? TOP) ?? null;
          const same = under === null ? null : tree.childOf(under, old.frame[line] ?? -1);
          now.set(line, same);
          if (same !== null) tree.open(same);
          return same;
        });
        this.pending.set(false);
        this.lines.set({ tree });
      },
    );
  }

  /** Asks for what is to be added, unless the table is another one when it comes. */
  private addTo(asked: Asked, lines: (answer: TreeAnswer, tree: TreeLines) => void): void {
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

  open(line: number): void {
    const tree = this.lines.peek()?.tree;
    if (!tree || tree.isOpen(line) !== false) return;
    tree.open(line);
    if (tree.hasFamily(line)) this.lines.set({ tree });
    else this.addTo({ nodes: [tree.name(line)] }, (answer, into) => into.add(answer, () => line));
  }

  openBelow(line: number): void {
    const tree = this.lines.peek()?.tree;
    if (!tree || tree.isOpen(line) === null) return;
    this.addTo({ nodes: [tree.name(line)], below: true }, (answer, into) => {
      into.open(line);
      into.add(answer, () => line);
    });
  }

  close(line: number): void {
    const tree = this.lines.peek()?.tree;
    if (!tree?.isOpen(line)) return;
    tree.close(line);
    this.lines.set({ tree });
  }

  /** A frame selected elsewhere: the way to its longest call path opens, unless it is in sight. */
  private reveal(frame: number): void {
    const tree = this.lines.peek()?.tree;
    if (!tree || this.bottomUp || this.revealed === frame) return;
    this.revealed = frame; // Once: what is closed then stays closed.
    if (this.shown.peek().some((line) => tree.frame[line] === frame)) return;
    this.addTo({ reveal: frame }, (answer, into) => {
      const way: number[] = [];
      into.add(answer, (k) => {
        const under = way[k - 1] ?? TOP;
        const frameOf = k === 0 ? null : this.frameOfNode(answer, k);
        const line = k === 0 ? TOP : frameOf === null ? null : into.childOf(under, frameOf);
        if (line === null) return null;
        way[k] = line;
        if (line !== TOP) into.open(line);
        return line;
      });
    });
  }

  /** The k-th opened node is a line of the answer under the one before it. */
  private frameOfNode(answer: TreeAnswer, k: number): number | null {
    const at = answer.node.indexOf(answer.opened[k] ?? -1);
    return at < 0 ? null : (answer.frame[at] ?? null);
  }

  private findAll(query: string): readonly number[] {
    const tree = this.lines.get()?.tree;
    if (query === '' || !tree) return [];
    const matches = matcher(query);
    const { frames } = this.viewer;
    const known = new Map<number, boolean>();
    const places: number[] = [];
    this.shown.get().forEach((line, place) => {
      const frame = tree.frame[line] ?? 0;
      let found = known.get(frame);
      if (found === undefined) {
        found = matches(frames.searchText(frame));
        known.set(frame, found);
      }
      if (found) places.push(place);
    });
    return places;
  }
}
