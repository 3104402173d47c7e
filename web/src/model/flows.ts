// SPDX-License-Identifier: Apache-2.0
// Flows: the arrows of the selected call, the arrows of the chosen categories in view, and
// navigation along them.

import { Latest, debounce } from '../base/latest';
import { computed, effect, signal, type ReadSignal } from '../base/signal';
import type { Call } from './engine';
import type { Arrows, Flow, FlowCategory, FlowEnd, FlowsOfCall } from './flowAnswers';
import { spanLength, sameSpan, type Span } from './span';
import { sameCall, type Viewer } from './viewer';

const MOST_PIXELS = 8192;
/** Number of calls for which the trail remembers the arrow that was followed last. */
const TURNS_KEPT = 1000;

/** The arrow to follow next. */
export interface FollowedFlow {
  flow: Flow;
  end: FlowEnd;
  /** Position of the arrow among those of the call, from 1. */
  nth: number;
}

/** A step along an arrow. */
interface TrailStep {
  flow: number;
  direction: 1 | -1;
  /** The call that the step led to. */
  at: Call;
}

/**
 * Chooses which of several arrows to follow: backwards, the arrow by which the user came; otherwise
 * each arrow in turn.
 */
export class Trail {
  private readonly turns = new Map<string, number>();
  private steps: TrailStep[] = [];

  choose(call: Call, arrows: readonly Flow[], direction: 1 | -1): FollowedFlow | null {
    const back = this.takeBack(call, arrows, direction);
    const at = back >= 0 ? back : this.next(call, arrows.length, direction);
    const flow = arrows[at];
    if (!flow) return null;
    const end = direction === 1 ? flow.to : flow.from;
    if (back < 0) this.steps.push({ flow: flow.flow, direction, at: end });
    return { flow, end, nth: at + 1 };
  }

  /**
   * Undo the last step if it led here in the other direction, and return its arrow; -1: it did not.
   */
  private takeBack(call: Call, arrows: readonly Flow[], direction: 1 | -1): number {
    const last = this.steps[this.steps.length - 1];
    // The user selected another call: the trail is lost.
    if (last && !sameCall(last.at, call)) this.steps = [];
    else if (last && last.direction !== direction) {
      this.steps.pop();
      return arrows.findIndex((arrow) => arrow.flow === last.flow);
    }
    return -1;
  }

  private next(call: Call, count: number, direction: 1 | -1): number {
    const key = `${call.row}.${call.index}.${direction}`;
    const at = ((this.turns.get(key) ?? -1) + 1) % Math.max(1, count);
    if (this.turns.size >= TURNS_KEPT) this.turns.clear();
    this.turns.set(key, at);
    return at;
  }
}

/** The question that the current arrows answer. */
interface ArrowsQuestion extends Span {
  nsPerPixel: number;
  of: string;
}

/** Holds the flows of the trace and follows the selection and the view. */
export class FlowStore {
  readonly categories = signal<readonly FlowCategory[]>([]);
  /** Flows of the selected call; null: no call is selected, or the answer is pending. */
  readonly ofCall = signal<(FlowsOfCall & { call: Call }) | null>(null);
  readonly arrows = signal<Arrows | null>(null);
  /** Result of following a flow, shown until another call is selected. */
  readonly said = signal('');
  /** Flows drawn for the selected call. */
  readonly selected: ReadSignal<readonly Flow[]>;
  /** Other flows that are drawn. */
  readonly others: ReadSignal<readonly Flow[]>;
  private covers: ArrowsQuestion | null = null;
  private width = 1000;
  private askedCategories = false;

  constructor(private readonly viewer: Viewer) {
    this.selected = computed(() => {
      const own = this.ofCall.get();
      return own && viewer.flows.get().selection ? [...own.in, ...own.out] : [];
    });
    this.others = computed(() => {
      const list = this.arrows.get()?.list ?? [];
      const drawn = new Set(this.selected.get().map((flow) => flow.flow));
      return drawn.size > 0 ? list.filter((f) => f.count > 1 || !drawn.has(f.flow)) : list;
    });
    if (viewer.facts.flows === 0) return;
    effect(() => {
      viewer.flowEnd.get();
      this.said.set('');
    });
    const askingOwn = new Latest(viewer.failed);
    effect(() => this.askOwn(viewer.flowEnd.get(), askingOwn));
    const asking = new Latest(viewer.failed);
    const load = debounce(40, () => this.ask(asking));
    effect(() => {
      viewer.view.get();
      viewer.tracks.get();
      if (viewer.flows.get().categories.length > 0) this.needCategories();
      this.categories.get();
      load();
    });
  }

  setWidth(pixels: number): void {
    this.width = Math.max(100, pixels);
  }

  /** Load the list of categories when the user first opens it. */
  needCategories(): void {
    if (this.askedCategories) return;
    this.askedCategories = true;
    new Latest(this.viewer.failed).run(
      () => this.viewer.engine.flowCategories(),
      (list) => this.categories.set(list),
    );
  }

  toggleCategory(category: number): void {
    const { selection, categories } = this.viewer.flows.peek();
    const without = categories.filter((c) => c !== category);
    const next = without.length < categories.length ? without : [...without, category];
    this.viewer.flows.set({ selection, categories: next.sort((a, b) => a - b) });
  }

  private askOwn(call: Call | null, asking: Latest): void {
    asking.cancel();
    if (sameCall(this.ofCall.peek()?.call ?? null, call)) return;
    this.ofCall.set(null);
    if (!call) return;
    asking.run(
      (signal) => this.viewer.engine.flowsOf(call, signal),
      (answer) => this.ofCall.set({ ...answer, call }),
    );
  }

  /** Return the flows of a call, from the selection if it is that call. */
  async flowsOf(call: Call): Promise<FlowsOfCall> {
    const own = this.ofCall.peek();
    return own && sameCall(own.call, call) ? own : await this.viewer.engine.flowsOf(call);
  }

  private ask(asking: Latest): void {
    const { viewer } = this;
    // A link may name categories that this trace lacks.
    const known = this.categories.peek().length;
    const wanted = viewer.flows.peek().categories.filter((c) => c < known);
    const tracks = viewer.tracks.peek();
    const view = viewer.view.peek();
    const nsPerPixel = spanLength(view) / this.width;
    const of = `${wanted.join()} ${tracks.join()}`;
    asking.cancel();
    if (wanted.length === 0) {
      this.covers = null;
      return this.arrows.set(null);
    }
    // Ask for half a screen more on both sides, so that panning finds arrows at once.
    const from = Math.floor(view.from - spanLength(view) / 2);
    const to = Math.ceil(view.to + spanLength(view) / 2);
    const next = { from, to, nsPerPixel, of };
    if (this.covers && this.covers.of === of && sameSpan(this.covers, next)) return;
    const pixels = Math.min(MOST_PIXELS, 2 * Math.round(this.width));
    const scope = { from, to, ...(tracks.length > 0 ? { tracks } : {}) };
    asking.run(
      (signal) => viewer.engine.arrows(scope, pixels, wanted, signal),
      (answer) => {
        this.covers = next;
        this.arrows.set(answer);
      },
    );
  }
}
