// SPDX-License-Identifier: Apache-2.0
// Tracks what is under the pointer, and shows it in readout and tooltip. The picture can move
// under a mouse that rests; then the time and the hit change without a mouse event.

import { formatValue } from '../../base/format';
import { effect } from '../../base/signal';
import { seriesTitle } from '../../model/counterFigures';
import { numericSeries, sampleAt, valueAt } from '../../model/counters';
import type { CounterFacts, Instant } from '../../model/engine';
import type { Flow } from '../../model/flowAnswers';
import { inTermsOf, wordsFor } from '../../model/words';
import { overlayColour, seriesColour } from '../../render/counterPainter';
import { HANDLE_WIDTH } from '../../render/rulerPainter';
import type { Views } from '../context';
import type { Tip } from '../tip';
import type { MarkHit } from './nonSliceLayer';
import type { TimelineView, Under } from './timelineView';

/** An edge of the selected range. */
export type Edge = 'from' | 'to';

/** A point in window coordinates. */
interface Point {
  clientX: number;
  clientY: number;
}

interface HoverHits {
  edge: Edge | null;
  slice: Under | null;
  counter: CounterFacts | null;
  instant: Instant | null;
  flow: Flow | null;
  mark: MarkHit | null;
}

const NOTHING: HoverHits = {
  ...{ edge: null, slice: null, counter: null },
  ...{ instant: null, flow: null, mark: null },
};

function instantWords(instant: Instant): string {
  const scope = ['a thread', 'its process', 'the whole trace', 'a processor'][instant.scope] ?? '';
  const more = instant.count > 1 ? `; the first of ${instant.count} in this pixel` : '';
  return `instant of ${scope}${more}`;
}

/** The pointer state of the time line. */
export class Hovering {
  /** The mouse position, or null while the mouse is outside the time line. */
  private mouse: (Point & { onRuler: boolean }) | null = null;
  /** A short form of the last report, to detect changes. */
  private reported = '';

  /** While `busy` returns true, the user drags and nothing else is reported. */
  constructor(
    private readonly v: Views,
    private readonly line: TimelineView,
    private readonly tip: Tip,
    private readonly busy: () => boolean,
  ) {
    // Update the time at once, so that it is painted together with the move. Look for hits after
    // painting.
    effect(() => {
      v.viewer.view.get();
      if (this.mouse) v.viewer.pointer.set(line.scale.t(this.x(this.mouse)));
    });
    line.whenDrawn = () => this.stay();
  }

  private x(e: Point): number {
    return e.clientX - this.line.canvas.element.getBoundingClientRect().left;
  }

  private y(e: Point): number {
    return e.clientY - this.line.canvas.element.getBoundingClientRect().top;
  }

  /** Return the edge of the range that can be dragged here. */
  edgeAt(x: number, onRuler: boolean): Edge | null {
    const range = this.v.viewer.range.peek();
    if (!range) return null;
    const slop = this.v.settings.theme.peek().hitSlop;
    const outside = (onRuler ? HANDLE_WIDTH : 0) + slop;
    const from = this.line.scale.x(range.from);
    const to = this.line.scale.x(range.to);
    if (x >= to - slop && x <= to + outside) return 'to';
    return x >= from - outside && x <= from + slop ? 'from' : null;
  }

  /** Take the mouse position, which counts even while the mouse does not move. */
  rest({ clientX, clientY }: Point, onRuler: boolean): void {
    this.mouse = { clientX, clientY, onRuler };
    this.v.viewer.pointer.set(this.line.scale.t(this.x(this.mouse)));
  }

  leave(): void {
    this.mouse = null;
    this.reported = '';
    this.v.viewer.pointer.set(null);
    this.v.viewer.hover.set(null);
    this.line.overCounter.set(null);
    this.line.flows.hovered.set(null);
    this.line.marks.hovered.set(null);
    this.tip.hide();
  }

  over(point: Point, onRuler: boolean): void {
    this.report(point, onRuler, this.find(point, onRuler));
  }

  /** Handle a painted frame, which may have put something else under the mouse. */
  private stay(): void {
    const { mouse } = this;
    if (!mouse || this.busy()) return;
    const hits = this.find(mouse, mouse.onRuler);
    // Ignore an arrow that appeared under a resting mouse (FlowLayer.isMeant).
    if (hits.flow?.flow !== this.line.flows.hovered.peek()?.flow) hits.flow = null;
    if (this.brief(hits) !== this.reported) this.report(mouse, mouse.onRuler, hits);
  }

  private find(point: Point, onRuler: boolean): HoverHits {
    const [x, y] = [this.x(point), this.y(point)];
    const edge = this.edgeAt(x, onRuler);
    if (onRuler || edge) return { ...NOTHING, edge };
    const instant = this.line.instantAt(x, y);
    const flow = instant ? null : this.line.flowAt(x, y);
    const mark = instant || flow ? null : this.line.markAt(x, y);
    const slice = this.line.under(x, y);
    return { edge, slice, counter: this.line.counterAt(y), instant, flow, mark };
  }

  /** Return a text that is equal for hits with equal reports. */
  private brief({ edge, slice, counter, instant, flow, mark }: HoverHits): string {
    const { hit } = slice ?? {};
    const call = hit?.call ?? (hit ? { frame: hit.frame, start: hit.start } : null);
    const values = counter && [counter.counter, this.v.viewer.pointer.peek()];
    return JSON.stringify([
      edge,
      call,
      values,
      instant?.instant,
      flow?.flow,
      mark?.mark,
      mark?.call,
      mark?.frame,
    ]);
  }

  private report(at: Point, onRuler: boolean, hits: HoverHits): void {
    const { edge, slice, counter, instant, flow, mark } = hits;
    this.reported = this.brief(hits);
    const hit = slice?.hit ?? null;
    this.line.overCounter.set(counter);
    this.v.viewer.hover.set(slice && hit ? { track: slice.box.track, hit } : null);
    this.line.flows.hovered.set(flow);
    this.line.marks.hovered.set(mark?.mark ?? null);
    const place = onRuler ? this.line.rulerPlace : this.line.canvas.element;
    const plain = onRuler ? 'col-resize' : flow ? 'pointer' : 'default';
    place.style.cursor = edge ? 'ew-resize' : plain;
    const { clientX, clientY } = at;
    // The readout describes bars completely. For a pixel of a density row it knows only the longest
    // call.
    if (instant) {
      this.tip.show(clientX, clientY, instant.frame, instantWords(instant), instant.colour);
    } else if (flow) {
      this.tip.show(clientX, clientY, flow.frame, this.line.flows.words(flow));
    } else if (mark) {
      this.tip.values(clientX, clientY, mark.title, mark.lines);
    } else if (hit && !hit.call) {
      const words = 'the longest call that starts in this pixel; zoom in to tell them apart';
      this.tip.show(
        ...([clientX, clientY, hit.frame] as const),
        inTermsOf(wordsFor(this.v.viewer.facts), words),
      );
    } else if (counter) {
      const over = this.v.counters.overlayOf(counter);
      const name = over ? `${counter.name}, ${over.name}` : counter.name;
      this.tip.values(clientX, clientY, name, this.valuesOf(counter, over, this.x(at)));
    } else this.tip.hide();
  }

  /** Return the value of each series at a place, with its colour: of a counter, and of `over`. */
  private valuesOf(
    counter: CounterFacts,
    over: CounterFacts | null,
    x: number,
  ): [string, string, string][] {
    const theme = this.v.settings.theme.peek();
    const valuesOf = (
      of: CounterFacts,
      colour: (series: number) => string,
    ): [string, string, string][] => {
      const values = this.v.counters.values.peek().get(of.counter);
      const at = values ? sampleAt(values, this.line.scale.t(x)) : -1;
      return numericSeries(of).map((k) => {
        const value = values && at >= 0 ? valueAt(values, k, at) : null;
        const text = value === null ? 'no value' : formatValue(value);
        return [colour(k), over ? seriesTitle(of, k) : (of.series[k] ?? ''), text];
      });
    };
    return [
      ...valuesOf(counter, (k) => seriesColour(theme, counter, k)),
      ...(over ? valuesOf(over, (k) => overlayColour(theme, counter, over, k)) : []),
    ];
  }
}
