// SPDX-License-Identifier: Apache-2.0
// The flame graph of the selected range and threads, with the options of its toolbar.

import { Latest } from '../base/latest';
import { effect, signal } from '../base/signal';
import { profileTotal } from './profileColumns';
import type { FlameFrame } from './address';
import type { FlameGraph, FlameLayout } from './engine';
import { joinSides } from './flameSides';
import type { ProfileStore } from './profileStore';
import type { Viewer } from './viewer';

/** Smallest width of a frame as a share of the whole: less than half a pixel. */
const LEAST = 0.0003;

/** The engine's path number of a frame that the graph cannot be zoomed to. */
const NO_PATH = 0xffffffff;

/** Holds the flame graph, and asks for it while `active`. */
export class FlameStore {
  /** null: not asked for, or not received yet. */
  readonly graph = signal<FlameGraph | null>(null);
  private readonly asking: Latest;
  /** Width of the unzoomed graph, once it was shown. */
  private all = 0;

  constructor(
    private readonly viewer: Viewer,
    private readonly profile: ProfileStore,
    active: () => boolean,
  ) {
    this.asking = new Latest(viewer.failed);
    effect(() => {
      if (active()) this.ask();
    });
  }

  /** True for the sandwich view, which shows only the selected method. */
  get isSandwich(): boolean {
    return this.viewer.flameOrder.get() === 'sandwich';
  }

  private layout(): FlameLayout {
    const { viewer } = this;
    const order = viewer.flameOrder.get();
    const root = viewer.flameZoom.way().at(-1);
    return {
      // In the order of time nothing is compensated.
      ...(order === 'time'
        ? { ...viewer.scope(), ...viewer.transforms.scope() }
        : viewer.callScope()),
      order: order === 'time' || order === 'by-name' ? order : 'left-heavy',
      inverted: order === 'inverted',
      fold: viewer.flameFold.get(),
      min: LEAST,
      ...(root ? { root: root.path } : {}),
    };
  }

  private ask(): void {
    const { viewer } = this;
    const layout = this.layout();
    const measure = viewer.measure();
    if (!this.isSandwich) {
      return this.asking.run(
        (signal) => this.flame(layout, signal),
        (graph) => {
          if (layout.root === undefined) this.all = graph.total;
          this.graph.set({ ...graph, measure });
        },
      );
    }
    const frame = viewer.frame.get();
    if (frame === null) {
      this.asking.cancel();
      return this.graph.set(null);
    }
    const side = (of: 'callers' | 'callees', signal: AbortSignal): Promise<FlameGraph> =>
      this.flame({ ...layout, frame, side: of }, signal);
    this.asking.run(
      (signal) => Promise.all([side('callers', signal), side('callees', signal)]),
      ([callers, callees]) => this.graph.set({ ...joinSides(callers, callees), measure }),
    );
  }

  private flame(layout: FlameLayout, signal: AbortSignal): Promise<FlameGraph> {
    const { engine, clock, flameOf, flameApart, valueType } = this.viewer;
    const of = flameOf.get();
    return of === 'calls'
      ? engine.flame({ ...layout, clock: clock.get(), apart: flameApart.get() }, signal)
      : engine.nonSlice.sampleFlame({ ...layout, measure: of, value: valueType.get() }, signal);
  }

  /** Return the total time of the range and threads; a zoomed graph shows only a part of it. */
  whole(graph: FlameGraph): number {
    const answer = this.isPart ? this.profile.answer.peek() : null;
    if (this.viewer.flameOf.peek() !== 'calls')
      return this.all || profileTotal(answer, 'real') || graph.total;
    const clock = this.viewer.clock.peek();
    const recorded = this.viewer.flameOrder.peek() === 'time' && answer?.compensated;
    // The total of changed stacks without compensation is known once the whole graph was shown.
    if (recorded && this.viewer.transforms.list.peek().length > 0) return this.all || graph.total;
    const more = recorded ? (recorded[`${clock}_ns`] ?? 0) : 0;
    return (answer && (profileTotal(answer, clock) ?? 0) + more) || graph.total;
  }

  /** True if the graph shows less than everything. */
  get isPart(): boolean {
    return this.viewer.flameZoom.way().length > 0 || this.isSandwich;
  }

  /** Return the frames from the root to entry i; null: the graph cannot be zoomed to it. */
  wayTo(graph: FlameGraph, i: number): readonly FlameFrame[] | null {
    const way: FlameFrame[] = [];
    let depth = Infinity;
    for (let k = i; k >= 0 && depth > 0; k--) {
      const own = graph.depth[k] ?? 0;
      if (own >= depth) continue;
      depth = own;
      way.unshift({ path: graph.path[k] ?? NO_PATH, frame: graph.frame[k] ?? 0 });
    }
    const before = this.viewer.flameZoom.way();
    if (way.at(-1)?.path === NO_PATH || way.length === 0) return null;
    // A zoomed graph begins with the last frame of the path to it.
    return [...before.slice(0, -1), ...way];
  }
}
