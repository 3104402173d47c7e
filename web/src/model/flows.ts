// SPDX-License-Identifier: Apache-2.0
// Flows: the arrows of the selected call, those of the chosen categories in view, and the way along
// them from end to end.

import { Latest, debounce } from '../base/latest';
import { computed, effect, signal, type ReadSignal } from '../base/signal';
import type { Arrows, Call, Flow, FlowCategory, FlowEnd, FlowsOfCall } from './engine';
import { length, sameSpan, type Span } from './span';
import { sameCall, type Viewer } from './viewer';

const MOST_PIXELS = 8192;
/** Calls of which is known which of their arrows was followed last. */
const TURNS_KEPT = 1000;

export interface Choice {
  flow: Flow;
  end: FlowEnd;
  /** From 1. */
  nth: number;
}

interface Step {
  flow: number;
  direction: 1 | -1;
  /** Where it led. */
  at: Call;
}

/**
 * Which of several arrows is followed: against the direction of the last step the one on which one
 * came, else one after the other.
 */
export class Trail {
  private readonly turns = new Map<string, number>();
  private steps: Step[] = [];

  choose(call: Call, arrows: readonly Flow[], direction: 1 | -1): Choice | null {
    const back = this.takeBack(call, arrows, direction);
    const at = back >= 0 ? back : this.next(call, arrows.length, direction);
    const flow = arrows[at];
    if (!flow) return null;
    const end = direction === 1 ? flow.to : flow.from;
    if (back < 0) this.steps.push({ flow: flow.flow, direction, at: end });
    return { flow, end, nth: at + 1 };
  }

  /** The last step the other way, which is forgotten then; -1: there was none to here. */
  private takeBack(call: Call, arrows: readonly Flow[], direction: 1 | -1): number {
    const last = this.steps[this.steps.length - 1];
    // Who has gone elsewhere has left the trail.
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

interface Asked extends Span {
  nsPerPixel: number;
  of: string;
}

export class FlowStore {
  readonly categories = signal<readonly FlowCategory[]>([]);
  /** Of the selected call; null: none is selected, or they are on their way. */
  readonly ofCall = signal<(FlowsOfCall & { call: Call }) | null>(null);
  readonly arrows = signal<Arrows | null>(null);
  /** What following a flow came to, until another call is selected. */
  readonly said = signal('');
  /** What is drawn for the selected call. */
  readonly selected: ReadSignal<readonly Flow[]>;
  /** What is drawn beside. */
  readonly others: ReadSignal<readonly Flow[]>;
  private covers: Asked | null = null;
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

  /** Their list comes when somebody wants to see it. */
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

  /** The flows of a call, those that are there or new ones. */
  async flowsOf(call: Call): Promise<FlowsOfCall> {
    const own = this.ofCall.peek();
    return own && sameCall(own.call, call) ? own : await this.viewer.engine.flowsOf(call);
  }

  private ask(asking: Latest): void {
    const { viewer } = this;
    // A link may name categories that are not there.
    const known = this.categories.peek().length;
    const wanted = viewer.flows.peek().categories.filter((c) => c < known);
    const tracks = viewer.tracks.peek();
    const view = viewer.view.peek();
    const nsPerPixel = length(view) / this.width;
    const of = `${wanted.join()} ${tracks.join()}`;
    asking.cancel();
    if (wanted.length === 0) {
      this.covers = null;
      return this.arrows.set(null);
    }
    // Half a screen more on both sides, so that panning finds arrows.
    const from = Math.floor(view.from - length(view) / 2);
    const to = Math.ceil(view.to + length(view) / 2);
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
