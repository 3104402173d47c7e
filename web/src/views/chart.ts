// SPDX-License-Identifier: Apache-2.0
// A chart, drawn by uPlot in the colours of the page. It fills its container, follows its size and
// the theme, and says in words what it shows. The arrow keys move the cursor, Enter clicks.

import uPlot from 'uplot';
import { fill, h } from '../base/dom';
import { shortened } from '../base/visible';
import {
  axisText,
  markTexts,
  chartWords,
  extremes,
  type Chart,
  type ChartAxis,
  type ChartPoint,
  type HistogramChart,
  type LineChart,
} from '../model/chart';

/** Colours of series, as custom properties that have contrast on the ground in every theme. */
const COLOURS = ['accent', 'hit', 'ok', 'parents-mark', 'children-mark', 'text-3'];
/** Series after the last colour repeat them with dashes. */
const DASHES = [[], [6, 3], [2, 2]];
/** The height of a bar with its gap, and of the axis below the bars, in CSS pixels. */
const BAR_HEIGHT = 20;
const AXIS_HEIGHT = 34;
const LABEL_MOST = 260;
/** A click on a gap goes to a value at most this many places away. */
const MOST_APART = 20;
const LEAST_WIDTH = 160;
/** The least room on the right of a plot. */
const LEAST_MARGIN = 28;
const LEAST_HEIGHT = 90;

/** The events of a chart that its owner hears of. */
export interface ChartActions {
  /** The nearest point was clicked. */
  click?: (point: ChartPoint) => void;
  /** The cursor moved to a point; null: it left the chart. */
  hover?: (point: ChartPoint | null) => void;
}

/** Steps between the marks of an axis of whole numbers. */
const WHOLE_STEPS = Array.from({ length: 10 }, (_, power) =>
  [1, 2, 5].map((n) => n * 10 ** power),
).flat();

function colourNamed(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function markFont(): string {
  return `11px ${colourNamed('font')}`;
}

const meter = document.createElement('canvas').getContext('2d');

/** Return the width of a text at an axis, in pixels. */
function textWidth(text: string): number {
  if (!meter) return 7 * text.length;
  meter.font = markFont();
  return meter.measureText(text).width;
}

/** Return the widths of the first and the last mark of the x axis. */
function endWidths(chart: LineChart | HistogramChart): [number, number] {
  const ends = extremes(chart.kind === 'lines' ? chart.places : chart.bounds) ?? [0, 0];
  return [textWidth(axisText(chart.x, ends[0])), textWidth(axisText(chart.x, ends[1]))];
}

/** Return the room around a plot: half of the marks at its ends is beside it. */
function placesMargins(chart: LineChart | HistogramChart): uPlot.Padding {
  const [first, last] = endWidths(chart);
  return [8, Math.max(LEAST_MARGIN, last / 2 + 4), 0, Math.max(0, first / 2 - LEAST_MARGIN)];
}

function seriesColour(i: number): string {
  return colourNamed(COLOURS[i % COLOURS.length] ?? 'accent');
}

function seriesDash(i: number): number[] {
  return DASHES[Math.floor(i / COLOURS.length) % DASHES.length] ?? [];
}

/** Tell whether a series only bounds a band. */
function boundsBand(chart: LineChart, i: number): boolean {
  return chart.band?.includes(i) ?? false;
}

const finite = (value: number | null): number | null =>
  value !== null && Number.isFinite(value) ? value : null;

/** Return the columns that uPlot draws: the places, then the series. */
function columnsOf(chart: Chart): uPlot.AlignedData {
  if (chart.kind === 'lines')
    return [[...chart.places], ...chart.series.map(({ values }) => values.map(finite))];
  const values = chart.kind === 'bars' ? chart.values : chart.counts;
  return [values.map((_, i) => i), values.map(finite)];
}

/** The element of a chart. */
export class ChartView {
  readonly element: HTMLElement;
  private readonly plot = h('div', { class: 'chart-plot', tabIndex: 0, attrs: { role: 'img' } });
  private readonly legend = h('div', { class: 'chart-legend', attrs: { 'aria-live': 'polite' } });
  private chart: Chart | null = null;
  private drawn: uPlot | null = null;
  private readonly sizes = new ResizeObserver(() => this.resize());
  private readonly themes = new MutationObserver(() => this.draw());

  constructor(private readonly actions: ChartActions = {}) {
    this.element = h('div', { class: 'chart' }, this.legend, this.plot);
    this.plot.addEventListener('keydown', (e) => this.key(e));
    this.sizes.observe(this.element);
    // The values under the pointer may take another line.
    this.sizes.observe(this.legend);
    this.themes.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  }

  /** Show a chart in place of the last one; null: none. */
  show(chart: Chart | null): void {
    this.chart = chart;
    this.plot.setAttribute('aria-label', chart ? chartWords(chart) : 'No chart');
    this.draw();
  }

  /** End the chart; nothing of it stays. */
  end(): void {
    this.sizes.disconnect();
    this.themes.disconnect();
    this.drawn?.destroy();
    this.drawn = null;
  }

  /** Return the room of the plot. Many bars are as high as they need; the tab then scrolls. */
  private size(): { width: number; height: number } {
    const bars = this.chart?.kind === 'bars' ? this.chart.names.length : 0;
    const height = this.element.clientHeight - this.legend.offsetHeight;
    return {
      width: Math.max(LEAST_WIDTH, this.plot.clientWidth),
      height: Math.max(LEAST_HEIGHT, height, bars > 0 ? bars * BAR_HEIGHT + AXIS_HEIGHT : 0),
    };
  }

  private resize(): void {
    if (!this.drawn) this.draw();
    else if (this.element.clientWidth > 0) this.drawn.setSize(this.size());
  }

  /** Draw anew: uPlot keeps colours and fonts, so a new theme needs a new plot. */
  private draw(): void {
    this.drawn?.destroy();
    this.drawn = null;
    this.tell(null);
    // Without a size the chart is hidden; the observer draws it once it has one.
    if (!this.chart || this.element.clientWidth === 0) return;
    this.drawn = new uPlot(this.options(this.chart), columnsOf(this.chart), this.plot);
    this.drawn.over.addEventListener('click', () => this.clicked());
  }

  private options(chart: Chart): uPlot.Options {
    const upright = chart.kind !== 'bars';
    const [first, last] = extremes(columnsOf(chart)[0] as number[]) ?? [0, 0];
    const margin = chart.kind === 'bars' ? 0.5 : 0;
    return {
      ...this.size(),
      padding: chart.kind === 'bars' ? [8, LEAST_MARGIN, 0, 0] : placesMargins(chart),
      legend: { show: false },
      series: [{}, ...this.series(chart)],
      scales: {
        x: {
          time: false,
          ...(upright ? { ori: 0 } : { ori: 1, dir: -1 }),
          ...(chart.kind === 'lines'
            ? {}
            : { range: [first - margin, last + (upright ? 1 : margin)] }),
        },
        y: {
          ori: upright ? 1 : 0,
          // Bars begin at 0; their length would lie otherwise.
          range: (_, low, high) => {
            const [from, to] = chart.kind === 'lines' ? [low, high] : [Math.min(0, low), high];
            return from === to ? [from - 1, to + 1] : uPlot.rangeNum(from, to, 0.05, true);
          },
        },
      },
      axes: this.axes(chart),
      bands: this.bands(chart),
      cursor: {
        drag: { x: false, y: false, setScale: false },
        y: false,
        points: { size: 7, ...(chart.kind === 'lines' ? {} : { show: false }) },
      },
      hooks: {
        draw: [(u) => this.drawMarks(u)],
        setCursor: [() => this.tell(this.nearest())],
      },
    };
  }

  /** Describe the series to uPlot. The bounds of a band are not drawn, only the area between them. */
  private series(chart: Chart): uPlot.Series[] {
    if (chart.kind === 'lines')
      return chart.series.map((_, i) => {
        const band = boundsBand(chart, i);
        const colour = seriesColour(i);
        const lonely = chart.places.length === 1;
        return {
          stroke: band ? 'transparent' : colour,
          width: band ? 0 : 1.5,
          dash: seriesDash(i),
          spanGaps: chart.joined ?? false,
          points: band ? { show: false } : { size: 5, fill: colour, ...(lonely && { show: true }) },
        };
      });
    const { bars } = uPlot.paths;
    const histogram = chart.kind === 'histogram';
    const paths = bars?.({
      size: histogram ? [1, 200] : [0.7, 26],
      gap: 1,
      align: histogram ? 1 : 0,
    });
    const colour = colourNamed('accent');
    return [
      { stroke: colour, fill: colour, width: 0, points: { show: false }, ...(paths && { paths }) },
    ];
  }

  private bands(chart: Chart): uPlot.Band[] {
    if (chart.kind !== 'lines' || !chart.band) return [];
    const [low, high] = chart.band;
    return [{ series: [high + 1, low + 1], fill: colourNamed('row-selected') }];
  }

  /** Describe the axes. Bars lie on their side, so that long names fit: their axes change places. */
  private axes(chart: Chart): uPlot.Axis[] {
    const upright = chart.kind !== 'bars';
    const font = markFont();
    const line = { stroke: colourNamed('line'), width: 1 };
    const look = {
      ...{ font, labelFont: font, labelSize: 16, stroke: colourNamed('text-2') },
      ...{ grid: line, ticks: { ...line, size: 4 }, gap: 4 },
    };
    const wide: uPlot.Axis['size'] = (u, texts) => {
      u.ctx.font = font;
      const width = (texts ?? []).reduce(
        (n, text) => Math.max(n, u.ctx.measureText(text).width),
        0,
      );
      return Math.ceil(width) + 14;
    };
    const texts =
      (axis: ChartAxis) =>
      (_: uPlot, places: number[]): string[] =>
        markTexts(axis, places);
    const y: uPlot.Axis = {
      ...{ ...look, side: upright ? 3 : 0, label: chart.y.name, values: texts(chart.y) },
      // A histogram counts; there is no half of a trace.
      ...(chart.kind === 'histogram' && { incrs: WHOLE_STEPS }),
      ...(upright ? { size: wide } : { size: AXIS_HEIGHT - 16, space: 80 }),
    };
    const space =
      chart.kind === 'bars'
        ? 0
        : Math.max(chart.kind === 'lines' ? 80 : 60, ...endWidths(chart)) + 10;
    if (chart.kind === 'lines') {
      // Between two names there is none.
      const incrs = chart.x.named && { incrs: WHOLE_STEPS };
      return [
        { ...look, ...incrs, label: chart.x.name, size: 22, space, values: texts(chart.x) },
        y,
      ];
    }
    if (chart.kind === 'histogram') {
      const values = (_: uPlot, places: number[]): string[] =>
        markTexts(
          chart.x,
          places.map((i) => chart.bounds[i] ?? 0),
        );
      return [{ ...look, label: chart.x.name, size: 22, space, incrs: WHOLE_STEPS, values }, y];
    }
    const named = chart.names.map((name) => this.fitted(name));
    const values = (_: uPlot, places: number[]): string[] => places.map((i) => named[i] ?? '');
    const names: uPlot.Axis = {
      ...look,
      side: 3,
      size: wide,
      values,
      incrs: WHOLE_STEPS,
      space: 14,
    };
    return [{ ...names, grid: { show: false } }, y];
  }

  /** Cut a name to the room that the axis gives it. */
  private fitted(name: string): string {
    let text = shortened(name, 100);
    for (let most = text.length; most > 2 && textWidth(text) > LABEL_MOST;)
      text = shortened(name, (most -= 2));
    return text;
  }

  /** Draw the vertical lines; a label that would cover the one before it is left out. */
  private drawMarks(u: uPlot): void {
    if (this.chart?.kind !== 'lines' || !this.chart.marks) return;
    const { ctx, bbox } = u;
    const scale = uPlot.pxRatio;
    let free = -Infinity;
    ctx.save();
    ctx.font = `${11 * scale}px ${colourNamed('font')}`;
    ctx.strokeStyle = ctx.fillStyle = colourNamed('text-2');
    ctx.setLineDash([4 * scale, 3 * scale]);
    ctx.lineWidth = scale;
    ctx.textBaseline = 'top';
    ctx.textAlign = 'left';
    for (const { at, label } of [...this.chart.marks].sort((a, b) => a.at - b.at)) {
      const x = Math.round(u.valToPos(at, 'x', true)) + 0.5;
      if (!(x >= bbox.left && x <= bbox.left + bbox.width)) continue;
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      const text = shortened(label, 40);
      const { width } = ctx.measureText(text);
      const left = Math.max(bbox.left, Math.min(x + 3 * scale, bbox.left + bbox.width - width));
      if (left < free) continue;
      ctx.fillText(text, left, bbox.top + 2 * scale);
      free = left + width + 6 * scale;
    }
    ctx.restore();
  }

  // ---- Cursor ----

  /** Return the point nearest to the cursor. */
  private nearest(): ChartPoint | null {
    const u = this.drawn;
    const index = u?.cursor.idx ?? null;
    if (!u || index === null || (u.cursor.left ?? -1) < 0) return null;
    // The nearest place counts at which a series has a value.
    for (let apart = 0; apart <= MOST_APART; apart++)
      for (const at of new Set([index - apart, index + apart])) {
        const series = this.nearestSeries(u, at);
        if (series !== null) return { series, index: at };
      }
    return null;
  }

  /** Return the series whose value at a place is nearest to the cursor. */
  private nearestSeries(u: uPlot, index: number): number | null {
    const across = (u.scales['y']?.ori === 0 ? u.cursor.left : u.cursor.top) ?? 0;
    let found: number | null = null;
    let least = Infinity;
    for (let series = 0; series + 1 < u.data.length; series++) {
      const value = u.data[series + 1]?.[index] ?? null;
      if (value === null) continue;
      const apart = Math.abs(u.valToPos(value, 'y') - across);
      if (apart < least) [least, found] = [apart, series];
    }
    return found;
  }

  private clicked(): void {
    const point = this.nearest();
    if (point) this.actions.click?.(point);
  }

  /** Move the cursor from place to place with the arrow keys; Enter is a click. */
  private key(e: KeyboardEvent): void {
    const u = this.drawn;
    const steps = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };
    const step = steps[e.key as keyof typeof steps];
    if (!u || this.chart === null) return;
    if (e.key === 'Enter') this.clicked();
    else if (step !== undefined) {
      const bars = this.chart.kind === 'bars';
      const count = u.data[0].length;
      const at = Math.max(0, Math.min(count - 1, (u.cursor.idx ?? -1) + step));
      const half = this.chart.kind === 'histogram' ? 0.5 : 0;
      const along = u.valToPos((u.data[0][at] ?? 0) + half, 'x');
      const value = u.data.slice(1).find((column) => (column[at] ?? null) !== null)?.[at] ?? 0;
      const across = u.valToPos(value, 'y');
      u.setCursor(bars ? { left: across, top: along } : { left: along, top: across });
    } else return;
    e.preventDefault();
    e.stopPropagation();
  }

  /** Show the names of the series, and their values at the cursor. */
  private tell(point: ChartPoint | null): void {
    const { chart } = this;
    this.actions.hover?.(point);
    fill(this.legend, h('b', null, chart ? shortened(chart.title, 120) : ''));
    if (!chart) return;
    if (chart.kind === 'lines') {
      const place = point && chart.places[point.index];
      if (typeof place === 'number')
        this.legend.append(h('span', null, `${chart.x.name} ${axisText(chart.x, place)}`));
      chart.series.forEach(({ name, values }, i) => {
        const value = point ? (values[point.index] ?? null) : null;
        const colour = boundsBand(chart, i) ? colourNamed('row-selected') : seriesColour(i);
        this.legend.append(
          h(
            'span',
            null,
            h('i', { class: 'swatch', style: { 'background-color': colour } }),
            shortened(name, 60),
            value !== null && h('b', null, axisText(chart.y, value)),
          ),
        );
      });
    } else if (point) {
      const { index } = point;
      const values = chart.kind === 'bars' ? chart.values : chart.counts;
      const name =
        chart.kind === 'bars'
          ? (chart.names[index] ?? '')
          : [index, index + 1].map((i) => axisText(chart.x, chart.bounds[i] ?? 0)).join(' to ');
      const value = axisText(chart.y, values[index] ?? 0);
      this.legend.append(h('span', null, shortened(name, 200), h('b', null, value)));
    }
  }
}
