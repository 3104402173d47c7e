// SPDX-License-Identifier: Apache-2.0
// A piece of time [from, to), in nanoseconds of the trace's axis, and how the visible one moves.

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Below this the axis has no finer marks: whole nanoseconds. */
const SHORTEST = 64;
/** The whole trace is shown with a little of what lies beyond it on both sides. */
const MARGIN = 0.015;

export function sameSpan(a: Span | null, b: Span | null): boolean {
  return a === b || (a !== null && b !== null && a.from === b.from && a.to === b.to);
}

export function length(span: Span): number {
  return span.to - span.from;
}

export function ordered(a: number, b: number): Span {
  return a < b ? { from: a, to: b } : { from: b, to: a };
}

export function wholeView(trace: Span): Span {
  const margin = Math.max(length(trace), SHORTEST) * MARGIN;
  return { from: trace.from - margin, to: trace.to + margin };
}

/** Neither longer than the whole, nor shorter than can be seen, nor far outside the trace. */
export function clampView(view: Span, trace: Span): Span {
  const whole = wholeView(trace);
  const size = Math.min(Math.max(length(view), SHORTEST), length(whole));
  // A little beyond the ends may be seen, so that they are known for ends; of the whole nothing.
  const slack = 0.1 * size * (1 - size / length(whole));
  const from = (view.from + view.to) / 2 - size / 2;
  const clamped = Math.max(whole.from - slack, Math.min(from, whole.to - size + slack));
  return { from: clamped, to: clamped + size };
}

/** factor below 1 zooms in; the time `at` stays where it is on the screen. */
export function zoomed(view: Span, factor: number, at: number, trace: Span): Span {
  const longest = length(wholeView(trace));
  const size = Math.min(Math.max(length(view) * factor, SHORTEST), longest);
  const share = (at - view.from) / length(view);
  return clampView({ from: at - share * size, to: at + (1 - share) * size }, trace);
}

export function panned(view: Span, ns: number, trace: Span): Span {
  return clampView({ from: view.from + ns, to: view.to + ns }, trace);
}

/** So that a span fills most of the screen. */
export function framing(span: Span, trace: Span): Span {
  const margin = Math.max(length(span), SHORTEST / 2) * 0.08;
  return clampView({ from: span.from - margin, to: span.to + margin }, trace);
}

/** Move as little as shows the span; a span longer than the view is shown from its start. */
export function revealing(view: Span, span: Span, trace: Span): Span {
  const margin = length(view) * 0.06;
  if (span.from >= view.from && span.to <= view.to) return view;
  if (span.from <= view.from && span.to >= view.to) return view;
  if (length(span) + 2 * margin > length(view)) return framing(span, trace);
  const shift = span.from < view.from ? span.from - margin - view.from : span.to + margin - view.to;
  return panned(view, shift, trace);
}

export function between(a: Span, b: Span, share: number): Span {
  // Lengths are interpolated by ratio, so that a long zoom keeps an even pace.
  const size = length(a) * (length(b) / length(a)) ** share;
  const ratio = length(b) === length(a) ? share : (size - length(a)) / (length(b) - length(a));
  const from = a.from + (b.from - a.from) * ratio;
  return { from, to: from + size };
}

/** The distance of the ruler's marks: 1, 2 or 5 times a power of ten, about `pixels` apart. */
export function tickStep(nsPerPixel: number, pixels: number): number {
  const raw = Math.max(1, nsPerPixel * pixels);
  const power = 10 ** Math.floor(Math.log10(raw) + 1e-9);
  return power * ([1, 2, 5, 10].find((k) => k * power >= raw * (1 - 1e-9)) ?? 10);
}
