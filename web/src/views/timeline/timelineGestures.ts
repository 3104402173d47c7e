// SPDX-License-Identifier: Apache-2.0
// Mouse, wheel and touch on the tracks and the ruler.
//
// At most one Drag exists at a time. pointerdown chooses its kind:
//
//    right button, or Shift or Space + left, or touch   pan    (without a move: measureTo with
//                                                              Shift, a menu with the right button)
//    middle button, or left button on the ruler         zoom   (applied at pointerup)
//    left button on an edge of the range                edge
//    left button on the tracks                          press  (a click at pointerup)
//
// A drag computes the new span from the place of the press and the view at that moment, not from
// the last event, so rounding never adds up. Range edges snap to slice edges unless Alt is down.
// Two touch points pinch: the times below both fingers stay below them.

import { listen } from '../../base/dom';
import { selectCounter } from '../../model/counters';
import { resolveDensity } from '../../model/hit';
import {
  framingView,
  orderedSpan,
  pannedView,
  wholeView,
  zoomedView,
  spanLength,
  type Span,
} from '../../model/span';
import { sameCall } from '../../model/viewer';
import { TimeScale } from '../../render/timeScale';
import { callSpan, goToCallOn, type Views } from '../context';
import { Hovering, type Edge } from './hovering';
import type { TimelineView } from './timelineView';
import type { Tip } from '../tip';

/** A press becomes a drag after this distance, in CSS pixels. */
const DRAG_FROM = 4;
/** A range edge snaps to a slice edge within this distance, in CSS pixels. */
const SNAP = 6;
const ZOOM_PER_WHEEL = 1.0022;

interface Drag {
  kind: 'press' | 'range' | 'edge' | 'pan' | 'zoom' | 'pinch';
  pointer: number;
  x: number;
  y: number;
  time: number;
  /** The visible range at the start of the drag. */
  view: Span;
  edge: Edge;
  scroll: number;
}

/** Translates pointer and wheel events of the time line. */
export class TimelineGestures {
  private drag: Drag | null = null;
  private readonly touches = new Map<number, { x: number; y: number }>();
  private pinchFrom: { distance: number; view: Span; at: number } | null = null;
  private spaceDown = false;
  private readonly hovering: Hovering;

  constructor(
    private readonly v: Views,
    private readonly line: TimelineView,
    private readonly tip: Tip,
  ) {
    this.hovering = new Hovering(v, line, tip, () => this.drag !== null);
    this.listen(line.canvas.element, false);
    this.listen(line.rulerPlace, true);
    line.tracks.addEventListener('wheel', this.wheel, { passive: false });
    line.rulerPlace.addEventListener('wheel', this.wheel, { passive: false });
    line.canvas.element.addEventListener('contextmenu', (e) => e.preventDefault());
    // The middle button drags. Suppress the browser's own scrolling, which would conflict.
    line.canvas.element.addEventListener('mousedown', (e) => {
      if (e.button === 1) e.preventDefault();
    });
    line.canvas.element.addEventListener('dblclick', (e) => void this.doubleClick(e));
    line.rulerPlace.addEventListener('dblclick', () => this.showAll());
    listen<KeyboardEvent>(window, 'keydown', (e) => {
      if (e.code === 'Space') this.spaceDown = true;
    });
    listen<KeyboardEvent>(window, 'keyup', (e) => {
      if (e.code === 'Space') this.spaceDown = false;
    });
  }

  private listen(place: HTMLElement, onRuler: boolean): void {
    place.addEventListener('pointerdown', (e) => this.down(e, place, onRuler));
    place.addEventListener('pointermove', (e) => this.move(e, onRuler));
    place.addEventListener('pointerup', (e) => this.up(e, onRuler));
    place.addEventListener('pointercancel', (e) => this.cancel(e));
    place.addEventListener('pointerleave', () => {
      if (!this.drag) this.hovering.leave();
    });
  }

  showAll(): void {
    this.v.mover.glide(wholeView(this.v.viewer.paired.reach));
  }

  private x(e: MouseEvent): number {
    return e.clientX - this.line.canvas.element.getBoundingClientRect().left;
  }

  private y(e: MouseEvent): number {
    return e.clientY - this.line.canvas.element.getBoundingClientRect().top;
  }

  /** Return the gesture that a button begins; null: none. */
  private kindOf(e: PointerEvent, onRuler: boolean): Drag['kind'] | null {
    if (e.button === 2 || (e.button === 0 && (e.shiftKey || this.spaceDown))) return 'pan';
    if (e.button === 1) return 'zoom';
    if (e.button !== 0) return null;
    if (this.hovering.edgeAt(this.x(e), onRuler)) return 'edge';
    if (e.pointerType === 'touch') return 'pan';
    return onRuler ? 'zoom' : 'press';
  }

  /** Begin a gesture. A second finger makes a pinch of the first one's. */
  private down(e: PointerEvent, place: HTMLElement, onRuler: boolean): void {
    if (e.pointerType === 'touch') this.touches.set(e.pointerId, { x: this.x(e), y: this.y(e) });
    if (this.touches.size === 2) return this.beginPinch();
    const kind = this.kindOf(e, onRuler);
    if (!kind) return;
    const x = this.x(e);
    place.setPointerCapture(e.pointerId);
    if (e.button === 1) e.preventDefault();
    this.drag = {
      kind,
      pointer: e.pointerId,
      x,
      y: this.y(e),
      time: onRuler ? this.line.scale.t(x) : this.timeAt(e, x),
      view: this.v.mover.goal,
      edge: this.hovering.edgeAt(x, onRuler) ?? 'to',
      scroll: this.line.tracks.scrollTop,
    };
    this.tip.hide();
  }

  private move(e: PointerEvent, onRuler: boolean): void {
    if (this.touches.has(e.pointerId))
      this.touches.set(e.pointerId, { x: this.x(e), y: this.y(e) });
    if (this.pinchFrom && this.touches.size === 2) return this.pinch();
    const x = this.x(e);
    if (e.pointerType !== 'touch') this.hovering.rest(e, onRuler);
    if (this.drag && this.drag.pointer === e.pointerId)
      this.dragTo(this.drag, x, this.y(e), onRuler ? this.line.scale.t(x) : this.timeAt(e, x));
    else this.hovering.over(e, onRuler);
  }

  /** Return the time under the pointer, snapped to an edge nearby unless Alt is down. */
  private timeAt(e: PointerEvent, x: number): number {
    const { scale } = this.line;
    let best = scale.t(x);
    let nearest = e.altKey ? 0 : SNAP;
    for (const aside of [0, -SNAP, SNAP]) {
      const found = this.line.under(x + aside, this.y(e));
      // On a collapsed track the end of a part is not the end of a call.
      if (!found?.hit?.call || !found.lane || found.lane.depth < 0) continue;
      const { start, length: size } = found.hit;
      for (const edge of [start, start + size]) {
        const far = Math.abs(scale.x(edge) - x);
        if (far < nearest) [best, nearest] = [edge, far];
      }
    }
    return best;
  }

  private dragTo(drag: Drag, x: number, y: number, now: number): void {
    const { viewer, mover } = this.v;
    if (drag.kind === 'press' && Math.hypot(x - drag.x, y - drag.y) >= DRAG_FROM) {
      drag.kind = 'range';
      viewer.hover.set(null);
    }
    if (drag.kind === 'range') viewer.setRange(orderedSpan(drag.time, now));
    if (drag.kind === 'edge') this.moveEdge(drag, now);
    if (drag.kind === 'zoom') this.line.zooming.set(orderedSpan(drag.time, now));
    if (drag.kind === 'pan') {
      // Compute from the place of the press, so that rounding never adds up.
      const scale = new TimeScale(drag.view, this.line.canvas.width);
      mover.jump(pannedView(drag.view, (drag.x - x) * scale.nsPerPixel, viewer.paired.reach));
      this.line.tracks.scrollTop = drag.scroll + drag.y - y;
      document.body.style.cursor = 'grabbing';
    }
  }

  private moveEdge(drag: Drag, now: number): void {
    const range = this.v.viewer.range.peek();
    if (!range) return;
    const other = drag.edge === 'from' ? range.to : range.from;
    // The dragged edge passed the other one, so the edges change roles.
    drag.edge = now < other ? 'from' : 'to';
    if (Math.round(now) !== other) this.v.viewer.setRange(orderedSpan(now, other));
  }

  private up(e: PointerEvent, onRuler: boolean): void {
    this.touches.delete(e.pointerId);
    if (this.touches.size < 2) this.pinchFrom = null;
    const drag = this.drag;
    if (!drag || drag.pointer !== e.pointerId) return;
    this.drag = null;
    document.body.style.removeProperty('cursor');
    const zoom = this.line.zooming.peek();
    this.line.zooming.set(null);
    const moved = Math.abs(this.x(e) - drag.x) >= DRAG_FROM;
    if (drag.kind === 'zoom' && zoom && moved) this.v.mover.glide(zoom);
    const still = !moved && Math.abs(this.y(e) - drag.y) < DRAG_FROM;
    if (drag.kind === 'pan' && e.shiftKey && still && !onRuler) void this.measureTo(e);
    if (e.button === 2 && still && !onRuler) this.openMenu(e);
    const tap = drag.kind === 'pan' && e.pointerType === 'touch' && !moved && !onRuler;
    if (drag.kind === 'press' || tap) void this.click(e);
  }

  /** Open the menu of the slice under the pointer. */
  private openMenu(e: PointerEvent): void {
    const frame = this.line.under(this.x(e), this.y(e))?.hit?.frame;
    if (frame !== undefined) this.v.menu(frame, { x: e.clientX, y: e.clientY });
  }

  /** Set the range from the current range, or the selected call, to the call under the pointer. */
  private async measureTo(e: PointerEvent): Promise<void> {
    const { viewer, selection } = this.v;
    const hit = this.line.under(this.x(e), this.y(e))?.hit;
    if (!hit?.call) return;
    const details = selection.details.peek();
    const selected = sameCall(viewer.call.peek(), details) ? details : null;
    try {
      const there = callSpan(await viewer.engine.slice(hit.call));
      const here = viewer.range.peek() ?? (selected ? callSpan(selected) : there);
      viewer.setRange({ from: Math.min(here.from, there.from), to: Math.max(here.to, there.to) });
    } catch (error) {
      viewer.failed(error);
    }
  }

  private cancel(e: PointerEvent): void {
    this.touches.delete(e.pointerId);
    this.pinchFrom = null;
    this.drag = null;
    this.line.zooming.set(null);
    document.body.style.removeProperty('cursor');
  }

  private async click(e: PointerEvent): Promise<void> {
    const { viewer } = this.v;
    const instant = this.line.instantAt(this.x(e), this.y(e));
    if (instant) return viewer.selectMark({ kind: 'instant', number: instant.instant });
    const flow = this.line.flowAt(this.x(e), this.y(e));
    if (this.line.flows.isMeant(flow, e.pointerType))
      return this.line.flows.follow(flow, this.line.scale.t(this.x(e)));
    const mark = this.line.markAt(this.x(e), this.y(e));
    if (mark?.call) return goToCallOn(this.v, mark.call);
    if (mark?.frame !== undefined) return viewer.selectFrame(mark.frame);
    if (mark?.mark) return viewer.selectMark(mark.mark);
    const counter = this.line.counterAt(this.y(e));
    if (counter) return selectCounter(viewer, counter, this.line.scale.t(this.x(e)));
    const found = this.line.under(this.x(e), this.y(e));
    if (!found?.hit) return viewer.clearSelection();
    if (e.ctrlKey || e.metaKey) {
      viewer.call.set(null);
      return viewer.frame.set(found.hit.frame);
    }
    if (found.hit.call) return viewer.selectCall(found.hit.call, found.hit.frame);
    viewer.selectFrame(found.hit.frame);
    if (!found.lane) return;
    try {
      const call = await resolveDensity(
        viewer.engine,
        { track: found.box.track.track, lane: found.lane.lane },
        this.line.resolution,
        found.hit,
      );
      if (call && viewer.frame.peek() === found.hit.frame) viewer.selectCall(call, found.hit.frame);
    } catch (error) {
      viewer.failed(error);
    }
  }

  private async doubleClick(e: MouseEvent): Promise<void> {
    const { viewer, mover } = this.v;
    const found = this.line.under(this.x(e), this.y(e));
    if (!found?.hit) return;
    if (!found.hit.call) return mover.zoom(1 / 8, this.line.scale.t(this.x(e)), true);
    try {
      mover.glide(
        framingView(callSpan(await viewer.engine.slice(found.hit.call)), viewer.paired.reach),
      );
    } catch (error) {
      viewer.failed(error);
    }
  }

  private readonly wheel = (e: WheelEvent): void => {
    const { mover } = this.v;
    const unit =
      e.deltaMode === WheelEvent.DOM_DELTA_LINE
        ? 16
        : e.deltaMode === WheelEvent.DOM_DELTA_PAGE
          ? 400
          : 1;
    if (e.ctrlKey || e.metaKey || e.altKey || this.wheelZooms(e)) {
      e.preventDefault();
      // A pinch on a touch pad arrives as small wheel steps with Ctrl. It needs more zoom per step,
      // and no animation. The notches of a wheel are far apart, so they are animated.
      const isFine = Math.abs(e.deltaY * unit) < 20;
      const strength = isFine && e.ctrlKey ? 4 : 1;
      mover.zoom(
        ZOOM_PER_WHEEL ** (e.deltaY * unit * strength),
        this.line.scale.t(this.x(e)),
        !isFine,
      );
      return;
    }
    const along = e.shiftKey ? e.deltaY || e.deltaX : e.deltaX;
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      e.preventDefault();
      mover.pan(along * unit * this.line.scale.nsPerPixel, false);
    }
    // The browser scrolls for a plain wheel.
  };

  /**
   * Return true if the plain wheel zooms: if the setting is on and the pointer is over the picture.
   * Over the names it always scrolls.
   */
  private wheelZooms(e: WheelEvent): boolean {
    if (!this.v.settings.wheelZooms.peek() || e.shiftKey) return false;
    return Math.abs(e.deltaY) > Math.abs(e.deltaX) && this.x(e) >= 0;
  }

  private beginPinch(): void {
    this.drag = null;
    const [a, b] = [...this.touches.values()];
    if (!a || !b) return;
    this.pinchFrom = {
      distance: Math.max(10, Math.abs(a.x - b.x)),
      view: this.v.mover.goal,
      at: this.line.scale.t((a.x + b.x) / 2),
    };
  }

  private pinch(): void {
    const [a, b] = [...this.touches.values()];
    const from = this.pinchFrom;
    if (!a || !b || !from) return;
    const factor = from.distance / Math.max(10, Math.abs(a.x - b.x));
    const { reach } = this.v.viewer.paired;
    const view = zoomedView(from.view, factor, from.at, reach);
    const nsPerPixel = spanLength(view) / this.line.canvas.width;
    // The time first touched stays between the fingers.
    const shift = from.at - (view.from + ((a.x + b.x) / 2) * nsPerPixel);
    this.v.mover.jump(pannedView(view, shift, reach));
  }
}
