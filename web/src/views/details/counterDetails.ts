// SPDX-License-Identifier: Apache-2.0
// The details of a counter: the value of each series at the selected time, and its figures in the
// selected range.

import { h } from '../../base/dom';
import { formatCount, formatTimeUnit, formatValue } from '../../base/format';
import { shortened } from '../../base/visible';
import {
  FIGURE_HEADS,
  FIGURES,
  figureText,
  type CounterStop,
  type Figure,
  type SeriesFigures,
} from '../../model/counterFigures';
import { numericSeries, selectCounter } from '../../model/counters';
import type { CounterFacts } from '../../model/engine';
import type { MarkDetails } from '../../model/marks';
import { ownerId } from '../../model/names';
import { seriesColour } from '../../render/counterPainter';
import type { Views } from '../context';
import { chooseOverlay } from '../timeline/counterOverlay';
import { goToCounter, stepCounter } from '../timeline/counterSteps';
import { factRow, factTable, linkButton } from './detailsParts';

type CounterAnswer = Extract<MarkDetails, { kind: 'counter' }>;

/** Further series have no figures in the details. */
const MOST_SERIES = 40;

function counterSwatch(v: Views, counter: CounterFacts, series: number): HTMLElement {
  const colour = seriesColour(v.settings.theme.peek(), counter, series);
  return h('i', {
    class: 'swatch',
    style: { 'background-color': colour },
    attrs: { 'aria-hidden': 'true' },
  });
}

/** Return a figure; an extreme leads to its first place. */
function figureCell(
  v: Views,
  counter: CounterFacts,
  figures: SeriesFigures,
  figure: Figure,
): HTMLElement | string {
  const text = figureText(figures, figure);
  const at = { min: figures.min_at_ns, max: figures.max_at_ns }[figure as 'min' | 'max'] ?? null;
  if (text === '') return 'unknown';
  if (at === null) return text;
  const button = linkButton(text, () => goToCounter(v, counter, at, figures.series));
  button.title = `Go there: ${formatTimeUnit(at, v.viewer.unit.peek())}`;
  return button;
}

function seriesSection(
  v: Views,
  counter: CounterFacts,
  { mark }: CounterAnswer,
  figures: SeriesFigures,
): HTMLElement {
  const { series, value = null } = figures;
  const chosen = mark.series === series;
  const several = numericSeries(counter).length > 1;
  const head = h(
    'h3',
    null,
    h(
      'button',
      {
        class: 'link',
        title: 'Peaks, troughs and changes are those of the chosen series',
        attrs: { type: 'button', 'aria-pressed': chosen },
        on: { click: () => selectCounter(v.viewer, counter, mark.at, series) },
      },
      counterSwatch(v, counter, series),
      ` ${shortened(counter.series[series] ?? '', 80)}`,
    ),
    chosen && h('span', { class: 'second' }, ' chosen'),
  );
  const at = `At ${formatTimeUnit(mark.at, v.viewer.unit.peek())}`;
  return h(
    'section',
    { attrs: { 'data-series': series } },
    several ? head : null,
    factTable(
      factRow(at, h('b', null, value === null ? 'unknown' : formatValue(value))),
      ...FIGURES.map((figure) =>
        factRow(FIGURE_HEADS[figure][0], figureCell(v, counter, figures, figure)),
      ),
    ),
  );
}

/** Return the buttons that draw another counter over this one, and take it away again. */
function overlayButtons(v: Views, counter: CounterFacts): HTMLElement[] {
  v.viewer.overlays.get();
  const over = v.counters.overlayOf(counter);
  const choose = linkButton('overlay…', () => chooseOverlay(v, counter));
  choose.title = 'Draw another counter over this one (O)';
  if (!over) return [choose];
  const remove = linkButton(`without ${shortened(over.name, 40)}`, () =>
    v.viewer.overlayCounter(counter.counter, null),
  );
  remove.title = 'Draw this counter alone again (Shift+O)';
  return [choose, remove];
}

function stepButtons(v: Views, counter: CounterFacts): HTMLElement {
  const step = (text: string, to: CounterStop, direction: 1 | -1, key: string): HTMLElement => {
    const button = linkButton(text, () => stepCounter(v, to, direction));
    button.title = `${direction > 0 ? 'Next' : 'Previous'} ${to} (${key})`;
    return button;
  };
  return h(
    'div',
    { class: 'actions' },
    step('‹ peak', 'peak', -1, 'Shift+X'),
    step('peak ›', 'peak', 1, 'X'),
    step('‹ trough', 'trough', -1, 'Shift+N'),
    step('trough ›', 'trough', 1, 'N'),
    step('‹ change', 'change', -1, 'Left'),
    step('change ›', 'change', 1, 'Right'),
    ...overlayButtons(v, counter),
  );
}

/** Return the details of a counter: figures of the range, and values at the chosen time. */
export function counterDetails(v: Views, answer: CounterAnswer): HTMLElement[] {
  const counter = v.counters.list.get()[answer.mark.number];
  if (!counter) return [];
  const { processes } = v.viewer.facts;
  const process = processes[counter.process];
  const unit = v.viewer.unit.peek();
  const numeric = numericSeries(counter);
  const { figures } = answer;
  const rows = figures.rows.filter((row) => numeric.includes(row.series));
  const left = rows.length - MOST_SERIES;
  const range = `${formatTimeUnit(figures.from_ns, unit)} to ${formatTimeUnit(figures.to_ns, unit)}`;
  return [
    h('h2', null, counterSwatch(v, counter, numeric[0] ?? 0), shortened(counter.name, 120)),
    factTable(
      process ? factRow('Process', `${ownerId(process)} ${process.name}`) : null,
      counter.category ? factRow('Category', counter.category) : null,
      factRow('Samples', formatCount(counter.samples)),
      factRow('Range', v.viewer.range.peek() ? range : `all, ${range}`),
    ),
    stepButtons(v, counter),
    ...rows.slice(0, MOST_SERIES).map((row) => seriesSection(v, counter, answer, row)),
    ...(left > 0
      ? [h('p', { class: 'second' }, `${formatCount(left)} more series: see the tab Counters`)]
      : []),
  ];
}
