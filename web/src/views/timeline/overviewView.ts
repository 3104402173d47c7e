// SPDX-License-Identifier: Apache-2.0
// The overview below the top bar: the whole trace, and a window that can be dragged.
//
//     | ...===..==|=======|===...........   |     a lane for each thread: busy shares by bucket
//                 ^ window ^                      drag inside: move it; an edge: resize it;
//                                                 outside: a new one; click outside: centre it there
//
// The activity is asked for once, in buckets that are finer than the pixels. Lanes and ground are
// painted into a backdrop when the size or the theme changes; moving the window only paints the
// window.

import { h, setText } from '../../base/dom';
import { formatTimeUnit, plural } from '../../base/format';
import { effect, signal } from '../../base/signal';
import { otherEventsHint } from '../../model/otherEventsHint';
import { axisWords, WEIGHT_AXIS, wordsFor } from '../../model/words';
import {
  bucketsFor,
  busiestCounters,
  busyActivity,
  counterLanes,
  fewerLanes,
  sampleLanes,
} from '../../model/activity';
import type { Activity } from '../../model/engine';
import type { TraceFacts } from '../../model/traceFacts';
import {
  clampView,
  sameSpan,
  spanLength,
  orderedSpan,
  wholeView,
  type Span,
} from '../../model/span';
import { activeThreads } from '../../model/states';
import { Backdrop } from '../../render/backdrop';
import { paintOverview, paintOverviewGround } from '../../render/overviewPainter';
import type { Surface } from '../../render/surface';
import { TimeScale } from '../../render/timeScale';
import { Canvas } from '../canvas';
import type { Views } from '../context';

const BUCKETS = 2000;
const SAMPLE_BUCKETS = 500;
/** Counters that are asked for, as many do not change, and the lanes of those that do. */
const COUNTERS_ASKED = 60;
const COUNTER_LANES = 6;
/** More lanes than the overview has pixels. */
const MOST_LANES = 200;
const GRASP = 6;

type WindowPart = 'from' | 'to' | 'window' | 'outside';

/** The view of the whole trace. */
export class OverviewView {
  readonly element: HTMLElement;
  private readonly canvas: Canvas;
  private readonly place = h('div', { class: 'canvas' });
  private readonly activity = signal<Activity | null>(null);
  private readonly ground = new Backdrop(h('canvas', null));
  private drag: { part: WindowPart; x: number; view: Span } | null = null;

  constructor(private readonly v: Views) {
    const { viewer } = v;
    this.canvas = new Canvas(
      this.place,
      this.place,
      'Activity of every thread over the whole trace',
      (g) => this.draw(g),
    );
    this.place.append(this.canvas.element);
    const { facts } = viewer;
    const threads = plural(activeThreads(facts.tracks), 'active thread');
    const about = h('span', null);
    effect(() => {
      const length = formatTimeUnit(facts.end_ns - facts.start_ns, viewer.unit.get());
      const lone = facts.calls === 0 ? otherEventsHint(facts).brief : threads;
      const whole = lone === null ? `no ${wordsFor(facts).slices}` : `${length}, ${lone}`;
      const weight = facts.axis === 'weight';
      about.title = weight ? `${whole}; this axis is ${axisWords(facts)}` : whole;
      setText(about, weight ? `${WEIGHT_AXIS}: ${length}` : whole);
    });
    this.element = h(
      'section',
      { class: 'strip overview', attrs: { 'aria-label': 'Overview' } },
      h('div', { class: 'key' }, h('b', null, 'Whole trace'), about),
      this.place,
    );
    if (facts.dense) this.place.append(this.restLabel(facts.dense));
    this.listen();
    this.load().catch(viewer.failed);
    effect(() => {
      this.activity.get();
      viewer.view.get();
      viewer.range.get();
      v.search.ticks.get();
      v.search.current.get();
      v.settings.theme.get();
      this.canvas.invalidate();
    });
  }

  /** Ask for the activity of the tracks; without any, of the samples, or else of the counters. */
  private async load(): Promise<void> {
    const { viewer } = this.v;
    const { tracks, samples, counters } = viewer.facts;
    const buckets = bucketsFor(tracks.length, BUCKETS);
    const answer = await busyActivity(viewer.engine, tracks, viewer.bounds, buckets);
    // A thread is in some state all the time, so states are no activity.
    const states = new Set(tracks.filter((t) => t.kind === 'states').map((t) => t.track));
    let lanes = answer.lanes.filter((lane) => !states.has(lane.track));
    if (lanes.length === 0 && samples > 0) {
      const { list } = await viewer.engine.nonSlice.samples(viewer.bounds, SAMPLE_BUCKETS);
      lanes = sampleLanes(list, viewer.bounds, SAMPLE_BUCKETS);
    } else if (lanes.length === 0 && counters > 0) lanes = await this.counterLanes();
    this.activity.set({ ...answer, lanes: fewerLanes(lanes, MOST_LANES) });
  }

  private async counterLanes(): Promise<Activity['lanes']> {
    const { engine, bounds } = this.v.viewer;
    const counters = busiestCounters(await engine.counters(), COUNTERS_ASKED);
    const numbers = counters.map(({ counter }) => counter);
    const values = await engine.counterValues(numbers, bounds, BUCKETS);
    return counterLanes(counters, values, bounds, BUCKETS).slice(0, COUNTER_LANES);
  }

  /** Return the text beside the first window that says how many events are outside of it. */
  private restLabel(dense: NonNullable<TraceFacts['dense']>): HTMLElement {
    const { viewer } = this.v;
    const { from, to } = viewer.bounds;
    const { before, after } = dense;
    const sides = [
      ...(before > 0 ? [`${plural(before, 'event')} before`] : []),
      ...(after > 0 ? [`${plural(after, 'event')} after`] : []),
    ];
    const label = h(
      'div',
      { class: 'rest' },
      `${sides.join(', ')} the part shown; press 0 to see all`,
    );
    label.title = 'The first view is the part of the trace in which 99 % of the events begin';
    // The label is beside the window, on the side with more room.
    const { firstView } = viewer;
    const isLeft = firstView.from - from > to - firstView.to;
    const edge = isLeft ? to - firstView.from : firstView.to - from;
    const share = (100 * edge) / (to - from);
    label.style[isLeft ? 'right' : 'left'] = `calc(${share.toFixed(2)}% + 1.5em)`;
    effect(() => {
      label.hidden = !sameSpan(viewer.view.get(), firstView);
    });
    return label;
  }

  private get scale(): TimeScale {
    return new TimeScale(this.v.viewer.bounds, this.canvas.width);
  }

  private draw(g: Surface): void {
    const { viewer, search, settings } = this.v;
    const theme = settings.theme.peek();
    const activity = this.activity.peek();
    const scene = {
      theme,
      scale: this.scale,
      height: this.canvas.height,
      activity,
      view: viewer.view.peek(),
      range: viewer.range.peek(),
      ticks: search.ticks.peek(),
      hit: search.current.peek()?.start ?? null,
    };
    this.ground.paint(g, this.canvas, [activity, theme.generation], (c) =>
      paintOverviewGround(c, scene),
    );
    paintOverview(g, scene);
  }

  private partAt(x: number): WindowPart {
    const view = this.v.viewer.view.peek();
    const from = Math.max(0, this.scale.x(view.from));
    const to = Math.min(this.canvas.width, this.scale.x(view.to));
    if (Math.abs(x - to) <= GRASP) return 'to';
    if (Math.abs(x - from) <= GRASP) return 'from';
    return x > from && x < to ? 'window' : 'outside';
  }

  private listen(): void {
    const { mover, viewer } = this.v;
    this.place.addEventListener('pointerdown', (e) => {
      if (e.button !== 0) return;
      this.place.setPointerCapture(e.pointerId);
      this.drag = { part: this.partAt(e.offsetX), x: e.offsetX, view: viewer.view.peek() };
    });
    this.place.addEventListener('pointermove', (e) => {
      if (this.drag) this.dragTo(this.drag, e.offsetX);
      const part = this.drag?.part ?? this.partAt(e.offsetX);
      this.place.style.cursor = {
        from: 'ew-resize',
        to: 'ew-resize',
        window: 'grab',
        outside: 'default',
      }[part];
    });
    this.place.addEventListener('pointerup', (e) => {
      const drag = this.drag;
      this.drag = null;
      // A click outside the window centres the window there.
      if (drag?.part !== 'outside' || Math.abs(e.offsetX - drag.x) > 3) return;
      const half = spanLength(drag.view) / 2;
      const at = this.scale.t(e.offsetX);
      mover.glide(clampView({ from: at - half, to: at + half }, viewer.bounds));
    });
    this.place.addEventListener('pointercancel', () => {
      this.drag = null;
    });
    this.place.addEventListener('dblclick', () => mover.glide(wholeView(viewer.bounds)));
    this.place.addEventListener(
      'wheel',
      (e) => {
        if (!e.ctrlKey && !e.metaKey && !e.altKey) return;
        e.preventDefault();
        mover.zoom(1.0022 ** e.deltaY, this.scale.t(e.offsetX), false);
      },
      { passive: false },
    );
  }

  private dragTo(drag: NonNullable<OverviewView['drag']>, x: number): void {
    const { mover, viewer } = this.v;
    const moved = (x - drag.x) * this.scale.nsPerPixel;
    const { from, to } = drag.view;
    if (drag.part === 'window')
      mover.jump(clampView({ from: from + moved, to: to + moved }, viewer.bounds));
    if (drag.part === 'from') mover.jump(clampView(orderedSpan(from + moved, to), viewer.bounds));
    if (drag.part === 'to') mover.jump(clampView(orderedSpan(from, to + moved), viewer.bounds));
    if (drag.part === 'outside' && Math.abs(x - drag.x) > 3) {
      mover.jump(clampView(orderedSpan(this.scale.t(drag.x), this.scale.t(x)), viewer.bounds));
    }
  }
}
