// SPDX-License-Identifier: Apache-2.0
// The profile of the selected range and threads, and the relations of the expanded methods.

import { Latest } from '../base/latest';
import { computed, effect, signal, untracked, type ReadSignal } from '../base/signal';
import type { ProfileAnswer, ProfileQuestion, Relations } from './engine';
import { scaleOf, type Measure, type Scale } from './measure';
import { substringMatcher } from './names';
import { profileTotal } from './profileColumns';
import {
  methodName,
  orderOfMeasure,
  rankedMethods,
  sortMethods,
  profileLines,
  WAITS,
  type ProfileLine,
  type ProfileSort,
  type RankedMethod,
} from './profileRows';
import type { Viewer } from './viewer';

/** Holds the profile and keeps it up to date with the selection. */
export class ProfileStore {
  readonly answer = signal<ProfileAnswer | null>(null);
  /** True from a new question to its answer; the old profile stays visible until then. */
  readonly pending = signal(true);
  readonly opened = signal<ReadonlyMap<number, Relations | null>>(new Map());
  readonly sorted: ReadSignal<readonly RankedMethod[]>;
  readonly lines: ReadSignal<readonly ProfileLine[]>;
  /** Frames that match the text in the table's find box, in the order of the table. */
  readonly found: ReadSignal<readonly number[]>;
  private readonly asking: Latest;
  private asked: ProfileQuestion = {};
  /** Method that was expanded because it was selected; selecting another one collapses it again. */
  private openedBySelection: number | null = null;
  /** The expanded methods that were last written to the address. */
  private noted: readonly number[] | null = null;

  constructor(private readonly viewer: Viewer) {
    this.asking = new Latest((error) => {
      this.pending.set(false);
      viewer.failed(error);
    });
    const methods = computed(() => {
      const answer = this.answer.get();
      return answer ? rankedMethods(answer, viewer.frames) : [];
    });
    this.sorted = computed(() => sortMethods(methods.get(), this.sort, viewer.frames));
    this.lines = computed(() => {
      const find = viewer.onlyFound.get() ? viewer.find.get() : '';
      const found = new Set(find === '' ? [] : this.findAll(find));
      const sorted = this.sorted.get();
      const wanted = find === '' ? sorted : sorted.filter((m) => found.has(m.frame));
      return profileLines(wanted, this.opened.get());
    });
    this.found = computed(() => this.findAll(viewer.find.get()));
    effect(() => this.ask(viewer.measured(), viewer.measure()));
    effect(() => this.openSelected(viewer.frame.get()));
    effect(() => {
      const named = viewer.openMethods.get();
      untracked(() => this.openNamed(named));
    });
    effect(() => {
      const frames = [...this.opened.get().keys()].sort((a, b) => a - b);
      viewer.frame.get();
      untracked(() => this.note(frames));
    });
  }

  /** The measure of the answer, or of the first one that is awaited. */
  get measure(): Measure {
    return this.answer.get()?.measure ?? this.viewer.measure();
  }

  /** The scale of the figures of the table. */
  scale(unit = this.viewer.unit.get()): Scale {
    return scaleOf(this.measure, unit, profileTotal(this.answer.get(), 'real'));
  }

  /** The order of the table. */
  get sort(): ProfileSort {
    return orderOfMeasure(this.viewer.sort.get(), this.measure.of);
  }

  private ask(question: ProfileQuestion, measure: Measure): void {
    this.pending.set(true);
    this.asking.run(
      (signal) => this.viewer.engine.profile(question, signal),
      (answer) => {
        this.asked = question;
        this.answer.set({ ...answer, measure });
        this.pending.set(false);
        untracked(() => this.reopen());
      },
    );
  }

  /** After a change of the range, keep the methods expanded and load their new relations. */
  private reopen(): void {
    const called = new Set(this.answer.peek()?.rows.map((row) => row[0]));
    const frames = [...this.opened.peek().keys()].filter((frame) => called.has(frame));
    this.opened.set(new Map(frames.map((frame) => [frame, null])));
    for (const frame of frames) this.load(frame);
    const selected = this.viewer.frame.peek();
    if (selected !== null && called.has(selected)) this.openSelected(selected);
  }

  /** Without an entry in the address, only the selected method is expanded. */
  private usual(): number[] {
    const frame = this.viewer.frame.peek();
    return frame !== null && (!this.answer.peek() || this.isCalled(frame)) ? [frame] : [];
  }

  private note(frames: readonly number[]): void {
    // Nothing is expanded before the first answer, so keep the address as it is.
    if (!this.answer.peek()) return;
    const usual = this.usual();
    const same = frames.length === usual.length && frames.every((f, i) => f === usual[i]);
    this.noted = same ? null : frames;
    this.viewer.openMethods.set(this.noted);
  }

  /** Expand the methods that the address names and collapse all others. */
  private openNamed(named: readonly number[] | null): void {
    if (named === this.noted) return; // It is what is open.
    const wanted = named ?? this.usual();
    const old = this.opened.peek();
    if (wanted.length === old.size && wanted.every((frame) => old.has(frame))) return;
    if (!this.answer.peek() && named === null) return;
    const frame = this.viewer.frame.peek();
    if (named !== null) this.openedBySelection = frame;
    this.opened.set(new Map(wanted.map((f) => [f, old.get(f) ?? null])));
    if (this.answer.peek()) for (const f of wanted) if (!old.get(f)) this.load(f);
  }

  private load(frame: number): void {
    const { asked } = this;
    this.viewer.engine
      .relations(frame, asked)
      .then((relations) => {
        if (asked !== this.asked || !this.opened.peek().has(frame)) return;
        this.opened.update((old) => new Map(old).set(frame, relations));
      })
      .catch(this.viewer.failed);
  }

  isOpen(frame: number): boolean {
    return this.opened.peek().has(frame);
  }

  open(frame: number): void {
    if (frame < 0 || this.isOpen(frame) || !this.isCalled(frame)) return;
    this.opened.update((old) => new Map(old).set(frame, null));
    this.load(frame);
  }

  close(frame: number): void {
    if (!this.isOpen(frame)) return;
    if (this.openedBySelection === frame) this.openedBySelection = null;
    this.opened.update((old) => {
      const next = new Map(old);
      next.delete(frame);
      return next;
    });
  }

  private isCalled(frame: number): boolean {
    return this.answer.peek()?.rows.some((row) => row[0] === frame) ?? false;
  }

  private openSelected(frame: number | null): void {
    untracked(() => {
      if (frame === this.openedBySelection) return;
      const old = this.openedBySelection;
      this.openedBySelection = null;
      if (old !== null) this.close(old);
      if (frame === null || this.isOpen(frame) || !this.isCalled(frame)) return;
      this.openedBySelection = frame;
      this.open(frame);
    });
  }

  private findAll(query: string): readonly number[] {
    if (query === '') return [];
    const matches = substringMatcher(query);
    const { frames } = this.viewer;
    return this.sorted
      .get()
      .map((m) => m.frame)
      .filter((frame) =>
        matches(frame === WAITS ? methodName(frame, frames) : frames.searchText(frame)),
      );
  }
}
