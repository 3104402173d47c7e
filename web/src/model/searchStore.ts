// SPDX-License-Identifier: Apache-2.0
// The search box of the top bar: the matching methods, their number of calls, and stepping through
// the hits. With few matches each call is a hit; with many matches each method is a hit.

import { Latest, debounce } from '../base/latest';
import { computed, effect, signal, type ReadSignal } from '../base/signal';
import type { Call, CallDetails } from './engine';
import { isCaseSensitive, substringMatcher } from './names';
import type { Viewer } from './viewer';

/** Up to this many methods, every call is a hit; each step then needs one question per method. */
const FEW_METHODS = 40;
/** Number of methods whose calls are marked in the overview, with one question each. */
const TICKED = 16;

/** The methods that match the search. */
export interface MatchingMethods {
  /** Matching methods, the longest running first. */
  frames: readonly number[];
  /** Indexed by frame, 1: matches; used by the painter. */
  matches: Uint8Array;
  byCall: boolean;
}

/** The current hit; `position` counts from 1. */
export interface CurrentHit {
  position: number;
  call: Call | null;
  start: number | null;
}

/** Holds the matches and the current hit. */
export class SearchStore {
  readonly hits: ReadSignal<MatchingMethods | null>;
  readonly total = signal(0);
  readonly current = signal<CurrentHit | null>(null);
  /** Start and end times of hits in the whole trace, for the overview. */
  readonly ticks = signal<readonly number[]>([]);
  readonly focused = signal(false);
  /** Frames that match the regular expression; null: not known yet. */
  private readonly matched = signal<readonly number[] | null>(null);
  private callsOf: ReadonlyMap<number, number> | null = null;
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
      this.total.set(hits && !hits.byCall ? hits.frames.length : 0);
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
    return { frames: found, matches, byCall: found.length <= FEW_METHODS };
  }

  private async counts(signal: AbortSignal): Promise<ReadonlyMap<number, number>> {
    if (!this.callsOf) {
      const answer = await this.viewer.engine.profile({}, signal);
      this.callsOf = new Map(answer.rows.map((row) => [row[0], row[1] + row[2]]));
    }
    return this.callsOf;
  }

  private loadTicks(): void {
    const hits = this.hits.peek();
    if (!hits) return;
    this.ticking.run(
      async (signal) => {
        const counts = await this.counts(signal);
        const lists = await Promise.all(
          hits.frames
            .slice(0, TICKED)
            .map(async (frame) =>
              (await this.viewer.engine.extents(frame, {}, 1600, signal)).tracks.flatMap(
                ([, times]) => times,
              ),
            ),
        );
        return {
          total: hits.frames.reduce((sum, frame) => sum + (counts.get(frame) ?? 0), 0),
          ticks: lists.flat(),
        };
      },
      ({ total, ticks }) => {
        if (hits.byCall) this.total.set(total);
        this.ticks.set(ticks);
      },
    );
  }

  /**
   * Go to the next (1) or previous (-1) hit, from the selected call or else from the visible range.
   */
  step(direction: 1 | -1): void {
    const hits = this.hits.peek();
    if (!hits || hits.frames.length === 0) return;
    if (hits.byCall) this.stepCall(hits, direction);
    else this.stepMethod(hits, direction);
  }

  private stepMethod(hits: MatchingMethods, direction: 1 | -1): void {
    const n = hits.frames.length;
    const at = this.current.peek()?.position ?? (direction === 1 ? 0 : 1);
    const position = ((at - 1 + direction + n) % n) + 1;
    this.current.set({ position, call: null, start: null });
    this.viewer.selectFrame(hits.frames[position - 1] ?? null);
  }

  private stepCall(hits: MatchingMethods, direction: 1 | -1): void {
    const view = this.viewer.view.peek();
    const edge = direction === 1 ? view.from - 1 : view.to;
    const from = Math.round(this.current.peek()?.start ?? edge);
    this.walking.run(
      async (signal) => {
        const call =
          (await this.nearest(hits, from, direction, signal)) ??
          // Wrap around at the ends of the trace.
          (await this.nearest(
            hits,
            direction === 1 ? this.viewer.bounds.from - 1 : this.viewer.bounds.to + 1,
            direction,
            signal,
          ));
        return call && { call, position: await this.positionOf(hits, call, signal) };
      },
      (found) => {
        if (!found) return;
        this.current.set({
          position: found.position,
          call: found.call,
          start: found.call.start_ns,
        });
        this.viewer.selectCall(found.call, found.call.frame);
        this.reveal(found.call);
      },
    );
  }

  private async nearest(
    hits: MatchingMethods,
    t: number,
    direction: 1 | -1,
    signal: AbortSignal,
  ): Promise<CallDetails | null> {
    const { engine } = this.viewer;
    const calls = await Promise.all(
      hits.frames.map(async (frame) => {
        const call = await engine.step(frame, t, direction, undefined, signal);
        return call && (await engine.slice(call, signal));
      }),
    );
    let best: CallDetails | null = null;
    for (const call of calls) {
      if (call && (!best || direction * (call.start_ns - best.start_ns) < 0)) best = call;
    }
    return best;
  }

  /** Return the number of a hit: the number of matching calls that begin up to this one. */
  private async positionOf(
    hits: MatchingMethods,
    call: CallDetails,
    signal: AbortSignal,
  ): Promise<number> {
    const scope = { from: this.viewer.bounds.from, to: call.start_ns + 1 };
    const answer = await this.viewer.engine.profile(scope, signal);
    let n = 0;
    for (const row of answer.rows) if (hits.matches[row[0]]) n += row[1] + row[2];
    return n;
  }
}
