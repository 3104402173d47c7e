// SPDX-License-Identifier: Apache-2.0
// A live region for screen readers: the visible span and the selected range, announced when
// movement has stopped.

import { h, setText } from '../../base/dom';
import { formatTime, formatTimeUnit, type Unit } from '../../base/format';
import { debounce } from '../../base/latest';
import { effect } from '../../base/signal';
import { spanLength, sameSpan, wholeView, type Span } from '../../model/span';
import type { Viewer } from '../../model/viewer';

const REST = 600;

function summarySpanWords({ from, to }: Span, unit: Unit): string {
  return `${formatTime(from, unit)} to ${formatTimeUnit(to, unit)}`;
}

function summaryWords(viewer: Viewer): string {
  const { bounds } = viewer;
  const unit = viewer.unit.peek();
  const view = viewer.view.peek();
  const from = Math.max(bounds.from, Math.round(view.from));
  const to = Math.min(bounds.to, Math.round(view.to));
  const shown = sameSpan(view, wholeView(bounds))
    ? `the whole trace, ${formatTimeUnit(spanLength(bounds), unit)}`
    : summarySpanWords({ from, to: Math.max(from, to) }, unit);
  const range = viewer.range.peek();
  const chosen = range
    ? `${summarySpanWords(range, unit)}, ${formatTimeUnit(spanLength(range), unit)} long`
    : 'none';
  return `Shown: ${shown}. Range: ${chosen}.`;
}

/** Return the live region. */
export function liveSummary(viewer: Viewer): HTMLElement {
  const element = h('div', { class: 'sr-only summary', attrs: { 'aria-live': 'polite' } });
  setText(element, summaryWords(viewer));
  const rest = debounce(REST, () => setText(element, summaryWords(viewer)));
  effect(() => {
    viewer.view.get();
    viewer.range.get();
    viewer.unit.get();
    rest();
  });
  return element;
}
