// SPDX-License-Identifier: Apache-2.0
// The arrows over the tracks: paints them, finds the one under the pointer, and follows it.

import { formatTimeUnit, formatCount } from '../../base/format';
import { signal } from '../../base/signal';
import { shortened } from '../../base/visible';
import type { Flow, FlowEnd } from '../../model/flowAnswers';
import { sameCall } from '../../model/viewer';
import { flowAt, paintFlows, type FlowScene } from '../../render/flowPainter';
import type { Surface } from '../../render/surface';
import type { Views } from '../context';
import { goToFlowEnd, ownerOfEnd } from './followFlow';

/**
 * The distance at which an arrow is hit, in pixels. It is smaller if there are many arrows, so that
 * the bars below them stay reachable.
 */
const REACH = 4;
const REACH_OF_MANY = 2.5;
const MANY = 60;

type FlowLayerScene = Omit<FlowScene, 'processOf'>;

/** The layer of flow arrows. */
export class FlowLayer {
  readonly hovered = signal<Flow | null>(null);
  private readonly processes: ReadonlyMap<number, number>;
  private readonly ofThreads: ReadonlyMap<number, number>;

  constructor(private readonly v: Views) {
    const { tracks } = v.viewer.facts;
    this.processes = new Map(tracks.map((t) => [t.track, t.process]));
    this.ofThreads = new Map(tracks.map((t) => [t.thread, t.process]));
  }

  /** Read every signal on which the drawing depends. */
  watch(): void {
    this.v.flows.selected.get();
    this.v.flows.others.get();
    this.hovered.get();
  }

  /** True if any arrow is drawn. */
  get any(): boolean {
    const { selected, others } = this.v.flows;
    return selected.peek().length + others.peek().length > 0 || this.hovered.peek() !== null;
  }

  private whole(scene: FlowLayerScene): FlowScene {
    return { ...scene, processOf: (end) => this.processOf(end) };
  }

  private processOf({ track, thread }: FlowEnd): number {
    if (thread === undefined) return this.processes.get(track) ?? -1;
    const lone = this.v.beside.rows.peek().threads.find((t) => t.thread === thread);
    return this.ofThreads.get(thread) ?? lone?.process ?? -1;
  }

  /** Paint the arrows in a part of the list, whose top is at the top of the surface. */
  paint(g: Surface, scene: FlowLayerScene, part: { from: number; to: number }): void {
    const { flows } = this.v;
    const s = this.whole(scene);
    paintFlows(g, s, flows.others.peek(), 'other', part);
    paintFlows(g, s, flows.selected.peek(), 'selected', part);
    const hovered = this.hovered.peek();
    if (hovered) paintFlows(g, s, [hovered], 'hovered', part);
  }

  /** Return the arrow at a point; y counts from the top of the scrolled list. */
  at(scene: FlowLayerScene, x: number, y: number): Flow | null {
    const { selected, others } = this.v.flows;
    const s = this.whole(scene);
    const many = others.peek();
    return (
      flowAt(s, selected.peek(), x, y, REACH) ??
      flowAt(s, many, x, y, many.length > MANY ? REACH_OF_MANY : REACH)
    );
  }

  /**
   * Return true if the user meant to click the arrow. An arrow that appeared under a resting
   * pointer between the two clicks of a double click does not count.
   */
  isMeant(flow: Flow | null, pointer: string): flow is Flow {
    return flow !== null && (pointer === 'touch' || this.hovered.peek()?.flow === flow.flow);
  }

  /** Describe a flow: "id 7: send on main → receive on worker, 1.500 ms between". */
  words(flow: Flow): string {
    const { viewer } = this.v;
    const end = (of: FlowEnd): string =>
      `${shortened(viewer.frames.short(of.frame), 80)} on ${ownerOfEnd(viewer.facts, of) || '?'}`;
    const between = formatTimeUnit(flow.to.time - flow.from.time, viewer.unit.peek());
    const more =
      flow.count > 1 ? `; the first of ${formatCount(flow.count)} that fall together here` : '';
    return `id ${shortened(flow.id, 80)}: ${end(flow.from)} → ${end(flow.to)}, ${between} between${more}`;
  }

  /** Go to the end that is not selected, else to the end farther from the click. */
  follow(flow: Flow, time: number): Promise<void> {
    const call = this.v.viewer.flowEnd.peek();
    const { from, to } = flow;
    if (sameCall(call, from)) return goToFlowEnd(this.v, flow, to, '');
    if (sameCall(call, to)) return goToFlowEnd(this.v, flow, from, '');
    const toStart = Math.abs(time - from.time) > Math.abs(time - to.time);
    return goToFlowEnd(this.v, flow, toStart ? from : to, '');
  }
}
