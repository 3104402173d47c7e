// SPDX-License-Identifier: Apache-2.0
// The state of the page: the visible range, the selection, the sort orders and options of all
// panels. Views read the signals and call the methods; this class knows nothing about elements or
// pixels.
//
//   address  --goTo-->  Viewer signals  --place()-->  address
//                         |        ^
//                   read  v        |  set
//                 views and stores (profileStore, treeStore, ...)
//
// The Viewer is made anew for each trace and filter, so `facts`, `frames` and `filter` never
// change. A member of Place that is null means the default, which depends on the trace.

import { computed, signal, type ReadSignal, type Signal } from '../base/signal';
import type { Unit } from '../base/format';
import type { FlameOf, FlameOrder, FlowChoice, PageState, Tab } from './address';
import type { Call, Engine, ProfileQuestion, Scope } from './engine';
import type { Clock, TraceFacts, Track } from './traceFacts';
import { EngineError } from './engine';
import { FlameZoom } from './flameZoom';
import {
  firstClock,
  firstSort,
  firstStatisticsSort,
  firstTab,
  firstView,
  NOTHING_PREFERRED,
  type Preferred,
} from './firstScreen';
import type { Hit } from './hit';
import { UNARRANGED, type Arrangement } from './arrangement';
import { sameMark, type Mark } from './marks';
import { axisUnits, usualUnit, type Measure } from './measure';
import type { CounterView } from './counters';
import { sameRuns, USUAL_COMPARE, type CompareChoice, type Run } from './comparison';
import { USUAL_FIGURE_SORT, type FigureSort } from './counterFigures';
import { USUAL_GROUPS, type GroupState } from './groups';
import type { Frames } from './names';
import type { Note } from './notes';
import type { ChosenFile } from './opening';
import type { ProfileSort } from './profileRows';
import { SEARCH_FIELDS, USUAL_HIT_SORT, type HitSort, type SearchField } from './eventAnswers';
import { USUAL_ROWS, type RowChoice } from './rowOrder';
import { PairedLines } from './pairing';
import { sameFlows, sameNumbers, sameOpened, sameSort, toggled } from './stateValues';
import { sameSpan, type Span } from './span';
import { NO_SQL, sameSql } from './sqlPlace';
import { Transforms } from './transforms';
import { isUsualStates, usualStates, type StatesChoice } from './statesTable';
import { usualMeasure, valueNumberOf, valueTypeOf } from './valueTypes';
import type { StatisticsSort } from './statistics';

/** The slice under the pointer. */
export interface Hover {
  track: Track;
  hit: Hit;
}

/** A message to the user in one line. */
export interface Notice {
  text: string;
  /** True: something failed. False: everything is fine. */
  wrong: boolean;
}

/** Tell whether both name the same call, or both are null. */
export function sameCall(a: Call | null, b: Call | null): boolean {
  return a === b || (a !== null && b !== null && a.row === b.row && a.index === b.index);
}

/** The state of the page for one trace. */
export class Viewer {
  readonly bounds: Span;
  readonly firstView: Span;
  readonly view: Signal<Span>;
  readonly range = signal<Span | null>(null, sameSpan);
  /** Ranges that the user marked, by time. */
  readonly notes = signal<readonly Note[]>([]);
  /** Selected tracks; empty means all. */
  readonly tracks = signal<readonly number[]>([], sameNumbers);
  readonly frame = signal<number | null>(null);
  readonly call = signal<Call | null>(null, sameCall);
  /** The call that is held beside the selected one. */
  readonly pinnedCall = signal<Call | null>(null, sameCall);
  /** The selected event other than a call; excludes `call`. */
  readonly mark = signal<Mark | null>(null, sameMark);
  /** The selected end of flows: a call, or an instant, which is written as a call of row -1. */
  readonly flowEnd: ReadSignal<Call | null> = computed(() => {
    const mark = this.mark.get();
    return mark?.kind === 'instant' ? { row: -1, index: mark.number } : this.call.get();
  });
  readonly tab: Signal<Tab>;
  readonly clock: Signal<Clock>;
  readonly sort: Signal<ProfileSort>;
  readonly unit: Signal<Unit>;
  readonly find = signal('');
  /** Show only matching lines in tables with a find box. */
  readonly onlyFound = signal(false);
  /** Methods that are expanded in the profile; null: the selected one. */
  readonly openMethods = signal<readonly number[] | null>(null, sameOpened);
  /** Open lines of the tree tables (openLines.ts); null: the path to the selection. */
  readonly openDown = signal<string | null>(null);
  readonly openUp = signal<string | null>(null);
  readonly search = signal('');
  /** The query of the tab SQL that was run. */
  readonly sql = signal(NO_SQL, sameSql);
  /** Fields that the list of hits searches; case-sensitive even without capital letters. */
  readonly searchIn = signal<readonly SearchField[]>(SEARCH_FIELDS);
  readonly matchCase = signal(false);
  readonly regex = signal(false);
  readonly hitSort = signal<HitSort>(USUAL_HIT_SORT);
  /** Sort order of the statistics. */
  readonly by: Signal<StatisticsSort>;
  /** Columns and sort order of the state table. */
  readonly states = signal<StatesChoice>(usualStates('state'));
  /** The runs that the trace is compared with, and further runs of its own side. */
  readonly base = signal<readonly Run[]>([], sameRuns);
  readonly more = signal<readonly Run[]>([], sameRuns);
  readonly compare = signal<CompareChoice>(USUAL_COMPARE);
  readonly paired: PairedLines;
  /** Sort order of the table of counters. */
  readonly figures = signal<FigureSort>(USUAL_FIGURE_SORT);
  /** Sort order and open groups of these tables. */
  readonly findings = signal<GroupState>(USUAL_GROUPS);
  readonly displayFrames = signal<GroupState>(USUAL_GROUPS);
  readonly health = signal<GroupState>(USUAL_GROUPS);
  readonly flameOrder = signal<FlameOrder>('left-heavy');
  readonly flameFold = signal(false);
  readonly flameApart = signal(false);
  readonly flameZoom: FlameZoom = new FlameZoom(() => this.graph());
  /** Subtract the overhead of recording from times of calls. */
  readonly compensate = signal(false);
  /** Changes to the stacks of profile, trees and flame graph. */
  readonly transforms: Transforms;
  /** Sort order of the tree tables; null: each has its own (treeOrder). */
  readonly treeSort = signal<ProfileSort | null>(null);
  readonly expanded = signal<ReadonlySet<number>>(new Set());
  /** Expanded tracks that show every level. */
  readonly whole = signal<ReadonlySet<number>>(new Set());
  /** Processes that show only their heading. */
  readonly closed = signal<ReadonlySet<number>>(new Set());
  /** Pinned, hidden and moved units of the timeline. */
  readonly arrangement = signal<Arrangement>(UNARRANGED);
  /** Show only tracks whose name contains this text. */
  readonly only = signal('');
  readonly rows = signal<RowChoice>(USUAL_ROWS);
  /** The flows that are drawn. */
  readonly flows = signal<FlowChoice>({ selection: true, categories: [] }, sameFlows);
  /** Counters whose series are not stacked; and whether last values are drawn until the end. */
  readonly counterViews = signal<ReadonlyMap<number, CounterView>>(new Map());
  /** The second counter in the row of a counter. */
  readonly overlays = signal<ReadonlyMap<number, number>>(new Map());
  readonly hold = signal(true);
  /** Fold lines that are open (rows.ts). */
  readonly folds = signal<ReadonlySet<string>>(new Set());
  /** Source of the flame graph: calls, or a measure of the samples. */
  readonly flameOf: Signal<FlameOf>;
  /** Number of the value type of samples, from 1; 0: the one that is shown first. */
  readonly valueType = signal(0);
  readonly hover = signal<Hover | null>(null);
  /** Time under the pointer, anywhere in the timeline. */
  readonly pointer = signal<number | null>(null);
  /** The keyboard is in the table, where letters are typed to find. */
  readonly inTable = signal(false);
  /** The current message; null: none. */
  readonly notice = signal<Notice | null>(null);
  readonly gone = signal(false);

  constructor(
    readonly engine: Engine,
    readonly facts: TraceFacts,
    readonly frames: Frames,
    readonly filter = '',
    /** The files of the trace, as in the address. */
    readonly files: readonly ChosenFile[] | null = null,
    private readonly preferred: Preferred = NOTHING_PREFERRED,
  ) {
    this.bounds = { from: facts.start_ns, to: Math.max(facts.end_ns, facts.start_ns + 1) };
    this.paired = new PairedLines(this.bounds);
    this.firstView = firstView(facts, this.bounds);
    this.view = signal<Span>(this.firstView, sameSpan);
    this.transforms = new Transforms(frames);
    this.tab = signal<Tab>(this.usualTab);
    this.clock = signal<Clock>(this.usualClock());
    this.sort = signal<ProfileSort>(firstSort(this.usualClock()), sameSort);
    this.by = signal<StatisticsSort>(firstStatisticsSort(facts, this.usualClock()), sameSort);
    this.unit = signal<Unit>(this.usualUnit);
    this.flameOf = signal<FlameOf>(usualMeasure(this.facts));
  }

  /** Return the selected range and tracks, which the lower panels refer to. */
  scope(): Scope {
    const range = this.range.get();
    const tracks = this.tracks.get();
    return {
      ...(range ? { from: range.from, to: range.to } : {}),
      ...(tracks.length > 0 ? { tracks } : {}),
    };
  }

  /** Return the scope for tables of calls, with compensation and transforms. */
  callScope(): Scope {
    const scope = { ...this.scope(), ...this.transforms.scope() };
    return this.compensate.get() ? { ...scope, compensate: true } : scope;
  }

  /** Return the question for tables of the chosen measure. */
  measured(): ProfileQuestion & { of: FlameOf } {
    const of = this.flameOf.get();
    if (of === 'calls') return { ...this.callScope(), of };
    return { ...this.scope(), ...this.transforms.scope(), of, value: this.valueType.get() };
  }

  /** Return what the tables and the flame graph measure. */
  measure(): Measure {
    return { of: this.flameOf.get(), ...valueTypeOf(this.facts, this.valueType.get()) };
  }

  has(clock: Clock): boolean {
    return this.facts.clocks.includes(clock);
  }

  usualClock(): Clock {
    return firstClock(this.facts, this.preferred.clock);
  }

  /** Return the units that lengths on the axis can be written in. */
  get units(): readonly Unit[] {
    return axisUnits(this.facts);
  }

  get usualUnit(): Unit {
    return usualUnit(this.facts, this.preferred.unit);
  }

  get usualTab(): Tab {
    return firstTab(this.facts);
  }

  /** Choose a value type by its number; a value is the weight of samples. */
  chooseValue(number: number): void {
    this.valueType.set(valueNumberOf(this.facts, valueTypeOf(this.facts, number).name));
    this.flameOf.set('weight');
  }

  /** Return the sort order of a tree: bottom-up by the time of the methods themselves. */
  treeOrder(bottomUp: boolean): ProfileSort {
    return this.treeSort.get() ?? firstSort(this.clock.get(), bottomUp ? 'excl' : 'incl');
  }

  setClock(clock: Clock): void {
    if (!this.has(clock)) return;
    this.clock.set(clock);
    // Choosing a clock also sorts the tables by the same column of that clock.
    const ofClock = ({ column, descending }: ProfileSort): ProfileSort => {
      const other = column.replace(clock === 'cpu' ? 'real' : 'cpu', clock);
      return { column: other as ProfileSort['column'], descending };
    };
    this.sort.update(ofClock);
    this.treeSort.update((sort) => sort && ofClock(sort));
    const sums = { real: 'total', cpu: 'cpu' } as const;
    const { column, descending } = this.by.peek();
    if (column !== sums[clock] && (column === 'total' || column === 'cpu'))
      this.by.set({ column: sums[clock], descending });
  }

  /** Return a text that identifies the flame graph: path numbers are valid in one graph only. */
  private graph(): string {
    const order = this.flameOrder.get();
    const kind = order === 'by-name' ? 'left-heavy' : order;
    return JSON.stringify([
      ...[kind, this.flameFold.get(), this.flameApart.get()],
      ...[this.flameOf.get(), this.valueType.get(), this.range.get(), this.tracks.get()],
      // Which frames are drawn, and so numbered, in the order of time depends on the clock.
      ...[this.transforms.scope(), kind === 'time' && this.clock.get()],
    ]);
  }

  setRange(range: Span | null): void {
    if (range === null) return this.range.set(null);
    const from = Math.max(Math.round(range.from), this.bounds.from);
    const to = Math.min(Math.round(range.to), this.bounds.to);
    this.range.set(to > from ? { from, to } : null);
  }

  selectMark(mark: Mark): void {
    this.clearSelection();
    this.mark.set(mark);
  }

  selectCall(call: Call, frame: number): void {
    this.mark.set(null);
    this.frame.set(frame);
    this.call.set({ row: call.row, index: call.index });
  }

  selectFrame(frame: number | null): void {
    if (frame !== this.frame.peek()) this.call.set(null);
    this.mark.set(null);
    this.frame.set(frame);
  }

  /** Tell whether anything has details. */
  hasSelection(): boolean {
    return this.frame.get() !== null || this.mark.get() !== null;
  }

  clearSelection(): void {
    this.mark.set(null);
    this.frame.set(null);
    this.call.set(null);
  }

  toggleTrack(track: number, add: boolean): void {
    const old = this.tracks.peek();
    const has = old.includes(track);
    if (add)
      this.tracks.set(has ? old.filter((t) => t !== track) : [...old, track].sort((a, b) => a - b));
    else this.tracks.set(has && old.length === 1 ? [] : [track]);
  }

  toggleExpanded(track: number): void {
    this.expanded.update((set) => toggled(set, track));
  }

  toggleProcess(process: number): void {
    this.closed.update((set) => toggled(set, process));
  }

  showCounter(counter: number, view: CounterView): void {
    const next = new Map(this.counterViews.peek());
    if (view === 'stack') next.delete(counter);
    else next.set(counter, view);
    this.counterViews.set(next);
  }

  /** Draw another counter over one, in its row; null: draw it alone. */
  overlayCounter(counter: number, over: number | null): void {
    const next = new Map(this.overlays.peek());
    if (over === null) next.delete(counter);
    else next.set(counter, over);
    this.overlays.set(next);
  }

  toggleFold(key: string): void {
    this.folds.update((set) => toggled(set, key));
  }

  toggleWhole(track: number): void {
    this.whole.update((set) => toggled(set, track));
  }

  expandAll(open: boolean): void {
    this.expanded.set(new Set(open ? this.facts.tracks.map((t) => t.track) : []));
  }

  trackOfRow(row: number): Track | undefined {
    return this.facts.tracks.find((t) => row >= t.first_row && row < t.first_row + t.rows);
  }

  failed = (error: unknown): void => {
    if (error instanceof EngineError && error.gone) this.gone.set(true);
    this.wrong(error instanceof Error ? error.message : String(error));
  };

  wrong(text: string): void {
    this.notice.set({ text, wrong: true });
  }

  say(text: string): void {
    this.notice.set({ text, wrong: false });
  }

  /** Return the state for the address. */
  place(): PageState {
    const view = this.view.get();
    const clock = this.clock.get();
    return {
      files: this.files,
      filter: this.filter,
      ...{ base: this.base.get(), more: this.more.get() },
      compare: this.compare.get(),
      pairing: this.paired.pairing.get(),
      view: sameSpan(view, this.firstView) ? null : view,
      range: this.range.get(),
      tracks: this.tracks.get(),
      frame: this.frame.get(),
      ...{ call: this.call.get(), slice: null },
      pinned: this.pinnedCall.get(),
      mark: this.mark.get(),
      tab: this.tab.get() === this.usualTab ? null : this.tab.get(),
      // A link names the clock unless it is the one that every reader sees.
      clock: clock === this.usualClock() && clock === firstClock(this.facts, null) ? null : clock,
      sort: sameSort(this.sort.get(), firstSort(clock)) ? null : this.sort.get(),
      unit: this.unit.get() === this.usualUnit ? null : this.unit.get(),
      find: this.find.get(),
      onlyFound: this.onlyFound.get(),
      openMethods: this.openMethods.get(),
      openDown: this.openDown.get(),
      openUp: this.openUp.get(),
      search: this.search.get(),
      sql: this.sql.get(),
      searchIn: this.searchIn.get(),
      matchCase: this.matchCase.get(),
      regex: this.regex.get(),
      hits: this.hitSort.get() === USUAL_HIT_SORT ? null : this.hitSort.get(),
      by: sameSort(this.by.get(), firstStatisticsSort(this.facts, clock)) ? null : this.by.get(),
      states: isUsualStates(this.states.get()) ? null : this.states.get(),
      figures: this.figures.get() === USUAL_FIGURE_SORT ? null : this.figures.get(),
      findings: this.findings.get(),
      displayFrames: this.displayFrames.get(),
      health: this.health.get(),
      flame: this.flameOrder.get(),
      zoom: this.flameZoom.way().at(-1) ?? null,
      fold: this.flameFold.get(),
      apart: this.flameApart.get(),
      compensate: this.compensate.get(),
      transforms: this.transforms.list.get(),
      tree: this.treeSort.get(),
      expanded: [...this.expanded.get()].sort((a, b) => a - b),
      closed: [...this.closed.get()].sort((a, b) => a - b),
      folds: [...this.folds.get()].sort(),
      arrangement: this.arrangement.get(),
      only: this.only.get(),
      rows: this.rows.get(),
      notes: this.notes.get(),
      flameOf: this.flameOf.get() === usualMeasure(this.facts) ? null : this.flameOf.get(),
      value: this.valueType.get() === 0 ? '' : this.measure().name,
      flows: this.flows.get(),
      counters: this.counterViews.get(),
      overlays: this.overlays.get(),
      hold: this.hold.get(),
    };
  }

  /** Restore the state of an address, and return its visible range, which the caller animates. */
  goTo(place: PageState): Span {
    this.setRange(place.range);
    const known = new Set(this.facts.tracks.map((t) => t.track));
    this.tracks.set(place.tracks.filter((t) => known.has(t)));
    this.transforms.set(place.transforms);
    const named = place.frame !== null && this.frames.has(place.frame) ? place.frame : null;
    // A link may name a call without its method; the page knows the method if the call is selected
    // already.
    const same = place.call !== null && sameCall(place.call, this.call.peek());
    this.frame.set(named ?? (same ? this.frame.peek() : null));
    this.call.set(place.call);
    this.pinnedCall.set(place.pinned);
    this.mark.set(place.mark);
    this.tab.set(place.tab ?? this.usualTab);
    const clock = place.clock && this.has(place.clock) ? place.clock : this.usualClock();
    this.clock.set(clock);
    this.sort.set(place.sort ?? firstSort(clock));
    this.unit.set(place.unit && this.units.includes(place.unit) ? place.unit : this.usualUnit);
    this.find.set(place.find);
    this.onlyFound.set(place.onlyFound);
    this.openMethods.set(place.openMethods);
    this.openDown.set(place.openDown);
    this.openUp.set(place.openUp);
    this.search.set(place.search);
    this.sql.set(place.sql);
    this.searchIn.set(place.searchIn);
    this.matchCase.set(place.matchCase);
    this.regex.set(place.regex);
    this.hitSort.set(place.hits ?? USUAL_HIT_SORT);
    this.by.set(place.by ?? firstStatisticsSort(this.facts, clock));
    this.states.set(place.states ?? usualStates('state'));
    this.base.set(place.base);
    this.more.set(place.more);
    this.compare.set(place.compare);
    this.paired.pairing.set(place.pairing);
    this.figures.set(place.figures ?? USUAL_FIGURE_SORT);
    this.findings.set(place.findings);
    this.displayFrames.set(place.displayFrames);
    this.health.set(place.health);
    this.flameOrder.set(place.flame);
    this.flameFold.set(place.fold);
    this.flameApart.set(place.apart);
    this.compensate.set(place.compensate && this.facts.clock_cost_ns !== undefined);
    this.treeSort.set(place.tree);
    this.closed.set(new Set(place.closed));
    this.folds.set(new Set(place.folds));
    this.arrangement.set(place.arrangement);
    this.only.set(place.only);
    this.rows.set(place.rows);
    this.notes.set(place.notes);
    this.flameOf.set(
      this.facts.samples > 0 && place.flameOf ? place.flameOf : usualMeasure(this.facts),
    );
    this.valueType.set(valueNumberOf(this.facts, place.value));
    this.flameZoom.goTo(place.zoom);
    this.flows.set(place.flows);
    this.counterViews.set(place.counters);
    this.overlays.set(place.overlays);
    this.hold.set(place.hold);
    if (place.expanded) this.expanded.set(new Set(place.expanded.filter((t) => known.has(t))));
    return place.view ? this.paired.clamp(place.view) : this.firstView;
  }
}
