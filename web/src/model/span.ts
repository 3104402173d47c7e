// SPDX-License-Identifier: Apache-2.0
// Ranges of time [from, to) in nanoseconds of the trace's axis, and movements of the visible range.

import { unitLength, type Unit } from '../base/format';

/** A range of time. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Minimum length of the view: the axis has no marks below whole nanoseconds. */
const SHORTEST = 64;
/** Space beyond both ends of the trace, as a share of its length. */
const MARGIN = 0.015;

export function sameSpan(a: Span | null, b: Span | null): boolean {
  return a === b || (a !== null && b !== null && a.from === b.from && a.to === b.to);
}

export function spanLength(span: Span): number {
  return span.to - span.from;
}

/** Return the span between two times in either order. */
export function orderedSpan(a: number, b: number): Span {
  return a < b ? { from: a, to: b } : { from: b, to: a };
}

/** Return the view of the whole trace, with its margins. */
export function wholeView(trace: Span): Span {
  const margin = Math.max(spanLength(trace), SHORTEST) * MARGIN;
  return { from: trace.from - margin, to: trace.to + margin };
}

/**
 * Limit a view: not longer than the whole, not shorter than the minimum, not far outside the trace.
 */
export function clampView(view: Span, trace: Span): Span {
  const whole = wholeView(trace);
  const size = Math.min(Math.max(spanLength(view), SHORTEST), spanLength(whole));
  // A zoomed view may go a little beyond the ends, so that the user recognizes them.
  const slack = 0.1 * size * (1 - size / spanLength(whole));
  const from = (view.from + view.to) / 2 - size / 2;
  const clamped = Math.max(whole.from - slack, Math.min(from, whole.to - size + slack));
  return { from: clamped, to: clamped + size };
}

/** Scale a view; a factor below 1 zooms in. The time `at` keeps its position on the screen. */
export function zoomedView(view: Span, factor: number, at: number, trace: Span): Span {
  const longest = spanLength(wholeView(trace));
  const size = Math.min(Math.max(spanLength(view) * factor, SHORTEST), longest);
  const share = (at - view.from) / spanLength(view);
  return clampView({ from: at - share * size, to: at + (1 - share) * size }, trace);
}

/** Move a view by `ns`. */
export function pannedView(view: Span, ns: number, trace: Span): Span {
  return clampView({ from: view.from + ns, to: view.to + ns }, trace);
}

/** Return a view that a span fills almost completely. */
export function framingView(span: Span, trace: Span): Span {
  const margin = Math.max(spanLength(span), SHORTEST / 2) * 0.08;
  return clampView({ from: span.from - margin, to: span.to + margin }, trace);
}

/** Move a view as little as possible to show a span. A longer span fills the view instead. */
export function revealingView(view: Span, span: Span, trace: Span): Span {
  const margin = spanLength(view) * 0.06;
  if (span.from >= view.from && span.to <= view.to) return view;
  if (span.from <= view.from && span.to >= view.to) return view;
  if (spanLength(span) + 2 * margin > spanLength(view)) return framingView(span, trace);
  const shift = span.from < view.from ? span.from - margin - view.from : span.to + margin - view.to;
  return pannedView(view, shift, trace);
}

/**
 * Move a view as `revealingView` does, and zoom in if the span would take less than `least` of its
 * length. The span then takes twice that, so that spans of about one length need no further zoom.
 */
export function readableView(view: Span, span: Span, trace: Span, least: number): Span {
  const moved = revealingView(view, span, trace);
  const share = spanLength(span) / spanLength(moved);
  if (share >= least) return moved;
  return zoomedView(moved, share / (2 * least), (span.from + span.to) / 2, trace);
}

/** Return the view at a share (0 to 1) of an animation from a to b. */
export function interpolateSpan(a: Span, b: Span, share: number): Span {
  // Lengths are interpolated by ratio, so that a long zoom keeps an even pace.
  const size = spanLength(a) * (spanLength(b) / spanLength(a)) ** share;
  const ratio =
    spanLength(b) === spanLength(a)
      ? share
      : (size - spanLength(a)) / (spanLength(b) - spanLength(a));
  const from = a.from + (b.from - a.from) * ratio;
  return { from, to: from + size };
}

/**
 * Return the distance of the ruler's marks: 1, 2 or 5 times a power of ten, about `pixels` apart;
 * where times are written in minutes, hours and days, parts and multiples of these. Marks of an axis
 * of bytes are multiples of `unit`.
 */
export function tickStep(nsPerPixel: number, pixels: number, unit: Unit = 'ns'): number {
  const raw = nsPerPixel * pixels;
  if (unit === 'auto' && raw > LONGEST_IN_SECONDS) return clockStep(raw);
  if (unit === 'KiB' || unit === 'MiB' || unit === 'GiB') {
    const per = unitLength(unit);
    return Math.max(1, per * decimalStep((nsPerPixel / per) * pixels));
  }
  return decimalStep(Math.max(1, raw));
}

/** Marks that are farther apart are not decimal, as minutes are not. */
const LONGEST_IN_SECONDS = 20e9;
const DAY_NS = 86_400e9;
const MINUTES = [0.5, 1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440];

function clockStep(raw: number): number {
  const minutes = MINUTES.find((n) => n * 60e9 >= raw * (1 - 1e-9));
  return minutes === undefined ? DAY_NS * decimalStep(raw / DAY_NS) : minutes * 60e9;
}

function decimalStep(raw: number): number {
  const power = 10 ** Math.floor(Math.log10(raw) + 1e-9);
  return power * ([1, 2, 5, 10].find((k) => k * power >= raw * (1 - 1e-9)) ?? 10);
}
