// SPDX-License-Identifier: Apache-2.0
// Canvases over a scrolled list. The list is painted onto sheets: canvases of one height, which lie
// below each other in the list and are scrolled by the browser. A scrolled list needs no new pixels
// but those of the lines that come into view, and only the sheet with these lines is uploaded again.
//
//     list                      sheets
//   +--------+ 0               +-------+
//   |        |                 | 0     |  moves to the place of sheet 3 when the list gets there
//   :        : ahead           +-------+
//   +========+ scroll          | 1     |
//   |  view  |                 |       |
//   |        |                 +-------+
//   +========+                 | 2     |
//   :        : ahead           |       |
//   |        |                 +-------+
//
// `painted` is the part of the list whose pixels are right: after each frame it contains the view.
// Frames that have nothing else to paint extend it by STEP until AHEAD is painted on both sides, so
// that lines are there when the browser scrolls before the page hears of it. While the user pans
// or zooms, which changes all lines, only the view is painted. Pixels farther away are given up,
// because nobody tells what changes there.

import { h } from '../../base/dom';

/** Lines this far outside the view, in pixels, are painted before the user scrolls to them. */
export const AHEAD = 120;
const STEP = 60;
/** Nothing is painted ahead for so many ms after all lines have changed. */
const QUIET_MS = 150;
/**
 * The height of a sheet: about half a view. Lower sheets cost more overlap when all lines change,
 * higher ones more pixels to upload when the list is scrolled. A multiple of UNIT is a whole number
 * of pixels of the canvas at all usual device pixel ratios, so that no sheet is blurred.
 */
const SHEET = 0.5;
const MIN_SHEET = 120;
const UNIT = 60;

/** A part of the list, in pixels from its top. */
export interface ListPart {
  from: number;
  to: number;
}

/** A part of the list to be painted on a surface that has the coordinates of the list. */
export interface PaintJob extends ListPart {
  g: CanvasRenderingContext2D;
}

interface CanvasSheet {
  canvas: HTMLCanvasElement;
  g: CanvasRenderingContext2D;
}

const NOTHING: ListPart = { from: 0, to: 0 };
const isEmpty = ({ from, to }: ListPart): boolean => from >= to;

/** Return what two parts have in common. */
function common(a: ListPart, b: ListPart): ListPart {
  const part = { from: Math.max(a.from, b.from), to: Math.min(a.to, b.to) };
  return isEmpty(part) ? NOTHING : part;
}

/** Parts closer than this are painted as one: each is painted with some lines around it. */
const CLOSE = 16;

/** Return the parts from the top down, with those joined that are close. */
function joinedParts(parts: readonly ListPart[]): ListPart[] {
  const found: ListPart[] = [];
  for (const { from, to } of [...parts].sort((a, b) => a.from - b.from)) {
    if (from >= to) continue;
    const last = found.at(-1);
    if (last && from - last.to < CLOSE) last.to = Math.max(last.to, to);
    else found.push({ from, to });
  }
  return found;
}

/** The painted part of a list: what is missing in the view, and what to paint ahead of it. */
export class PaintedPart {
  private painted = NOTHING;
  private stale: ListPart[] = [];
  private scroll = 0;
  private isDown = true;

  /** Forget everything: all of it looks different. */
  clear(): void {
    this.painted = NOTHING;
    this.stale = [];
  }

  /** Paint a part of the list again, if it is painted. */
  paintAgain(part: ListPart): void {
    this.stale.push(part);
  }

  /**
   * Return the parts to paint now: those that the view lacks, or a step from the view to `near` if
   * the view is right and quiet.
   */
  next(view: ListPart, near: ListPart, isQuiet: boolean): ListPart[] {
    if (view.from !== this.scroll) this.isDown = view.from > this.scroll;
    this.scroll = view.from;
    const kept = common(this.painted, near);
    const touches = !isEmpty(kept) && kept.to >= view.from && kept.from <= view.to;
    const before = touches ? kept : { from: view.from, to: view.from };
    const parts = this.stale.map((part) => common(part, before));
    this.stale = [];
    parts.push({ from: view.from, to: before.from }, { from: before.to, to: view.to });
    this.painted = {
      from: Math.min(view.from, before.from),
      to: Math.max(view.to, before.to),
    };
    const found = joinedParts(parts);
    if (found.length === 0 && isQuiet) found.push(...this.ahead(near));
    return found;
  }

  /** True if lines ahead of the view remain to be painted. */
  isShort(near: ListPart): boolean {
    return this.painted.from > near.from || this.painted.to < near.to;
  }

  /** Extend the painted part by a step, first to where the user scrolls. */
  private ahead(near: ListPart): ListPart[] {
    const { from, to } = this.painted;
    const above = { from: Math.max(near.from, from - STEP), to: from };
    const below = { from: to, to: Math.min(near.to, to + STEP) };
    const part = [this.isDown ? below : above, above, below].find((each) => !isEmpty(each));
    if (!part) return [];
    this.painted = { from: Math.min(from, part.from), to: Math.max(to, part.to) };
    return [part];
  }
}

/** The sheets of a list, painted at most once per frame. */
export class ListCanvas {
  /** The visible part of the list: it takes the focus and the pointer. */
  readonly element: HTMLElement;
  width = 0;
  height = 0;
  ratio = 1;
  /** The height of the list, which may be lower than the view. */
  listHeight = 0;
  private readonly part = new PaintedPart();
  private readonly sheets = new Map<number, CanvasSheet>();
  private waiting = 0;
  private later = 0;
  /** When all lines changed, in ms. */
  private changed = 0;

  /**
   * The sheets lie in `place`, which `scroller` scrolls. `draw` paints the parts of a frame, which
   * may be none if the user scrolled; the label describes the contents.
   */
  constructor(
    private readonly place: HTMLElement,
    private readonly scroller: HTMLElement,
    label: string,
    private readonly draw: (jobs: readonly PaintJob[]) => void,
    resized: () => void,
  ) {
    this.element = h('div', {
      class: 'list-view',
      attrs: { role: 'img', 'aria-label': label, tabindex: '0' },
    });
    place.append(this.element);
    const observer = new ResizeObserver(() => {
      if (this.width === place.clientWidth && this.height === scroller.clientHeight) return;
      this.width = place.clientWidth;
      this.height = scroller.clientHeight;
      this.element.style.height = `${this.height}px`;
      this.forget();
      resized();
      // Paint now, not in the next frame: a resized canvas is blank until it is painted.
      this.paint();
    });
    for (const element of [place, scroller]) observer.observe(element);
  }

  /** Paint everything in the next frame. */
  readonly invalidate = (): void => {
    this.forget();
    this.scrolled();
  };

  /** Paint a part of the list again in the next frame. */
  paintAgain(part: ListPart): void {
    this.part.paintAgain(this.outwards(part));
    this.scrolled();
  }

  /** Ask for a frame in which only the scroll position has changed. */
  readonly scrolled = (): void => {
    if (this.waiting === 0) this.waiting = requestAnimationFrame(() => this.paint());
  };

  /**
   * Paint what is missing in and near the view. The view comes first; what is near waits until
   * nothing has changed for a while.
   */
  private paint(): void {
    cancelAnimationFrame(this.waiting);
    this.waiting = 0;
    if (this.width === 0 || this.height === 0) return;
    const ratio = window.devicePixelRatio || 1;
    if (ratio !== this.ratio) this.forget();
    this.ratio = ratio;
    const { scrollTop } = this.scroller;
    const end = Math.max(this.listHeight, scrollTop + this.height);
    const view = this.outwards({ from: scrollTop, to: scrollTop + this.height });
    const near = this.outwards({
      from: Math.max(0, scrollTop - AHEAD),
      to: Math.min(end, scrollTop + this.height + AHEAD),
    });
    const isQuiet = performance.now() - this.changed > QUIET_MS;
    const parts = this.part.next(view, near, isQuiet);
    this.laySheets(near);
    this.draw(parts.flatMap((part) => this.jobs(part)));
    if (!this.part.isShort(near)) return;
    if (isQuiet) this.scrolled();
    else this.later ||= window.setTimeout(this.continue, QUIET_MS);
  }

  private readonly continue = (): void => {
    this.later = 0;
    this.scrolled();
  };

  private forget(): void {
    this.part.clear();
    this.changed = performance.now();
  }

  /** Extend a part to whole pixels of the canvas, so that it has no blurred edges. */
  private outwards({ from, to }: ListPart): ListPart {
    const { ratio } = this;
    return { from: Math.floor(from * ratio) / ratio, to: Math.ceil(to * ratio) / ratio };
  }

  /** The height of a sheet in pixels of the canvas. */
  private get sheetPixels(): number {
    const height = UNIT * Math.ceil(Math.max(MIN_SHEET, SHEET * this.height) / UNIT);
    return Math.round(height * this.ratio);
  }

  /** Put sheets under a part of the list. Those that lie elsewhere are moved, and one is kept. */
  private laySheets({ from, to }: ListPart): void {
    const height = this.sheetPixels / this.ratio;
    const first = Math.floor(from / height);
    const last = Math.ceil(to / height) - 1;
    const free = [...this.sheets].filter(([number]) => number < first || number > last);
    for (let number = first; number <= last; number++) {
      if (this.sheets.has(number)) continue;
      const [old, sheet = this.newSheet()] = free.pop() ?? [];
      if (old !== undefined) this.sheets.delete(old);
      this.sheets.set(number, sheet);
    }
    for (const [number, sheet] of free.slice(1)) {
      this.sheets.delete(number);
      sheet.canvas.remove();
    }
    for (const [number, sheet] of this.sheets) {
      sheet.canvas.style.top = `${number * height}px`;
      this.fit(sheet);
    }
  }

  private newSheet(): CanvasSheet {
    const canvas = h('canvas', { attrs: { 'aria-hidden': 'true' } });
    const g = canvas.getContext('2d');
    if (!g) throw new Error('this browser cannot draw on a canvas');
    this.place.append(canvas);
    return { canvas, g };
  }

  /** Give a sheet the size of the place. */
  private fit({ canvas }: CanvasSheet): void {
    const width = Math.round(this.width * this.ratio);
    if (canvas.width === width && canvas.height === this.sheetPixels) return;
    canvas.width = width;
    canvas.height = this.sheetPixels;
    canvas.style.width = `${this.width}px`;
    canvas.style.height = `${this.sheetPixels / this.ratio}px`;
  }

  /** Return what is to be painted on each sheet for a part of the list. */
  private jobs(part: ListPart): PaintJob[] {
    const { ratio, sheetPixels } = this;
    const found: PaintJob[] = [];
    for (const [number, { g }] of this.sheets) {
      const top = number * sheetPixels;
      const own = common(part, { from: top / ratio, to: (top + sheetPixels) / ratio });
      if (isEmpty(own)) continue;
      g.setTransform(ratio, 0, 0, ratio, 0, -top);
      found.push({ g, ...own });
    }
    return found;
  }
}
