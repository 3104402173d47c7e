// SPDX-License-Identifier: Apache-2.0
// The search box of the top bar: the matching methods, their number of calls, and stepping through
// the calls in time. The engine finds the next call, so that millions of hits cost one small answer.

import { Latest, debounce } from '../base/latest';
import { computed, effect, signal, type ReadSignal } from '../base/signal';
import type { Call, CallDetails } from './engine';
import { isCaseSensitive, substringMatcher } from './names';
import type { Viewer } from './viewer';

/** Number of methods whose calls are marked in the overview, with one question each. */
const TICKED = 16;

/** The methods that match the search. */
export interface MatchingMethods {
  /** Matching methods, the longest running first. */
  frames: readonly number[];
  /** Indexed by frame, 1: matches; used by the painter. */
  matches: Uint8Array;
}

/** The current hit; `position` counts from 1. */
export interface CurrentHit {
  position: number;
  call: Call;
  start: number;
  /** The step passed the end (1) or the beginning (-1) of the trace. */
  wrapped: 1 | -1 | 0;
}

/** Holds the matches and the current hit. */
export class SearchStore {
  readonly hits: ReadSignal<MatchingMethods | null>;
  /** Number of matching calls; null: not counted yet. */
  readonly total = signal<number | null>(null);
  readonly current = signal<CurrentHit | null>(null);
  /** Start and end times of hits in the whole trace, for the overview. */
  readonly ticks = signal<readonly number[]>([]);
  readonly focused = signal(false);
  /** Frames that match the regular expression; null: not known yet. */
  private readonly matched = signal<readonly number[] | null>(null);
  private readonly walking: Latest;
  private readonly ticking: Latest;

  constructor(
    private readonly viewer: Viewer,
    private readonly reveal: (found: CallDetails) => void,
  ) {
    this.walking = new Latest(viewer.failed);
    this.ticking = new Latest(viewer.failed);
    const asking = new Latest(() => this.matched.set(null));
    effect(() => {
      const query = viewer.search.get();
      const matchCase = isCaseSensitive(query, viewer.matchCase.get());
      this.matched.set(null);
      asking.cancel();
      if (!viewer.regex.get() || query === '') return;
      asking.run(
        (signal) => viewer.engine.searchFrames(query, matchCase, signal),
        (frames) => this.matched.set(frames),
      );
    });
    this.hits = computed(() =>
      viewer.regex.get()
        ? this.matchPattern(viewer.search.get(), this.matched.get())
        : this.match(viewer.search.get(), viewer.matchCase.get()),
    );
    const loadTicks = debounce(120, () => this.loadTicks());
    effect(() => {
      const hits = this.hits.get();
      this.current.set(null);
      this.ticks.set([]);
      this.walking.cancel();
      this.ticking.cancel();
      this.total.set(hits?.frames.length === 0 ? 0 : null);
      if (hits && hits.frames.length > 0) loadTicks();
    });
  }

  private match(query: string, matchCase: boolean): MatchingMethods | null {
    if (query === '') return null;
    const { frames } = this.viewer;
    const test = substringMatcher(query, matchCase);
    const all = Array.from({ length: frames.count }, (_, frame) => frame);
    return this.hitsOf(all.filter((frame) => test(frames.searchText(frame))));
  }

  /** Regular expressions run in the engine only: in the browser they could take forever. */
  private matchPattern(query: string, matched: readonly number[] | null): MatchingMethods | null {
    return query === '' ? null : this.hitsOf(matched ?? []);
  }

  private hitsOf(candidates: readonly number[]): MatchingMethods {
    const { frames } = this.viewer;
    const matches = new Uint8Array(frames.count);
    const found = candidates.filter((frame) => frames.rank(frame) > 0);
    for (const frame of found) matches[frame] = 1;
    found.sort((a, b) => frames.rank(a) - frames.rank(b));
    return { frames: found, matches };
  }

  private question(): { text: string; matchCase: boolean; regex: boolean } {
    const { viewer } = this;
    const text = viewer.search.peek();
    const matchCase = isCaseSensitive(text, viewer.matchCase.peek());
    return { text, matchCase, regex: viewer.regex.peek() };
  }

  private loadTicks(): void {
    const hits = this.hits.peek();
    if (!hits) return;
    const { engine, bounds } = this.viewer;
    this.ticking.run(
      async (signal) => {
        const [{ of }, ...lists] = await Promise.all([
          engine.searchStep({ ...this.question(), time: bounds.from - 1, direction: 1 }, signal),
          ...hits.frames
            .slice(0, TICKED)
            .map(async (frame) =>
              (await engine.extents(frame, {}, 1600, signal)).tracks.flatMap(([, times]) => times),
            ),
        ]);
        return { total: of, ticks: lists.flat() };
      },
      ({ total, ticks }) => {
        this.total.set(total);
        this.ticks.set(ticks);
      },
    );
  }

  /**
   * Go to the next (1) or previous (-1) hit in time, from the current hit or else from the visible
   * range.
   */
  step(direction: 1 | -1): void {
    const hits = this.hits.peek();
    if (!hits || hits.frames.length === 0) return;
    const { engine, view } = this.viewer;
    const current = this.current.peek();
    const edge = Math.round(direction === 1 ? view.peek().from - 1 : view.peek().to);
    const from = current ? { after: current.call, time: current.start } : { time: edge };
    this.walking.run(
      async (signal) => {
        const answer = await engine.searchStep({ ...this.question(), ...from, direction }, signal);
        return { ...answer, call: answer.call && (await engine.slice(answer.call, signal)) };
      },
      ({ call, nth, of, wrapped }) => {
        this.total.set(of);
        if (!call) return;
        const { row, index, start_ns: start } = call;
        const passed = wrapped ? direction : 0;
        this.current.set({ position: nth, call: { row, index }, start, wrapped: passed });
        this.viewer.selectCall(call, call.frame);
        this.reveal(call);
      },
    );
  }
}
