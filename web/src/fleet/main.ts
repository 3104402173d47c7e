// SPDX-License-Identifier: Apache-2.0
// The entry point of the page of the fleet: the methods that changed most between two versions,
// the trend of one of them, and the traces behind a version. The choice is in the address.
//
//   choice --> versions --> regressions --> table of methods --> the first one, or the chosen one
//                   |                          ^     ^                     |
//                   |--> trends: courses ------'     |                     '--> trend: the chart
//                   '--> changes: since when --------'                                '--> traces
//
// Questions take from milliseconds to many seconds, and the user may choose something else
// meanwhile. Each kind of question counts its turns, and only the answer of the latest is shown.

import { breakable, fill, h, iconButton, setAttribute, setText } from '../base/dom';
import { plural } from '../base/format';
import { histogramOf } from '../model/chart';
import { ChartView } from '../views/chart';
import { Settings } from '../views/settings';
import { HubError, messageOf, sendHubRequest } from '../hub/http';
import { Choices } from './choices';
import { FlamePart } from './flamePart';
import {
  changeText,
  deviationText,
  exemplarHash,
  figureText,
  graphFigure,
  isUploaded,
  labelOf,
  lastChange,
  methodAlone,
  sortChanged,
  sparkPath,
  trendChart,
  typicalTrace,
  versionsOf,
  type ChangePoint,
  type LabelRow,
  type MethodRow,
  type TraceRow,
  type TrendRow,
  type TrendsRow,
  type VersionRow,
} from './model';
import { ask, base, Place, Superseded } from './place';
import { TracesOf } from './tracesOf';

const MOST_SHOWN = 200;
const MOST_TRACES = 100;
/** The pointer rests for this time before the traces below it are asked for, in ms. */
const REST = 150;

const SVG = 'http://www.w3.org/2000/svg';

/** An answer of `regressions`: rows by method, and what the server says about them. */
interface Compared {
  rows: MethodRow[];
  note?: string;
}

class FleetPage {
  private readonly settings = new Settings();
  private readonly place = new Place();
  private readonly flame = new FlamePart(this.settings, (method) => this.chooseMethod(method));
  private readonly flameButton = h(
    'button',
    { class: 'toggle', attrs: { type: 'button' }, on: { click: () => this.toggleFlame() } },
    'Flame graph',
  );
  private readonly choices = new Choices(this.place, () => void this.during(() => this.show()));
  private readonly trouble = h('p', { class: 'trouble', hidden: true, attrs: { role: 'alert' } });
  private readonly note = h('p', { class: 'note' });
  private readonly methods = h('tbody', null);
  private readonly title = h('h2', { class: 'method' });
  private readonly chart = new ChartView({
    click: ({ index }) => this.chooseVersion(index),
    hover: (point) => this.showSpread(point?.index ?? null),
  });
  private readonly spread = new ChartView();
  private readonly tracesTitle = h('h2', null, 'Traces');
  private readonly traceRows = h('tbody', null);
  private versions: VersionRow[] = [];
  private labels: LabelRow[] = [];
  private trend: TrendRow[] = [];
  /** The traces of the method by version, as far as they were asked for. */
  private readonly traces = new TracesOf(this.place);
  private points: ChangePoint[] = [];
  private compared: Compared = { rows: [] };
  /** The medians of methods by their whole names, as the server wrote them. */
  private readonly courses = new Map<string, string>();
  /** Counts questions, so that an answer to an earlier one is dropped. */
  private readonly turns = { methods: 0, method: 0, graph: 0, traces: 0, spread: 0 };
  private resting: ReturnType<typeof setTimeout> | undefined;

  start(): void {
    const head = (...names: string[]): HTMLElement =>
      h('thead', null, h('tr', null, ...names.map((n) => h('th', { attrs: { scope: 'col' } }, n))));
    const scrolled = (name: string, table: HTMLElement): HTMLElement =>
      h(
        'div',
        { class: 'scrolled', tabIndex: 0, attrs: { role: 'region', 'aria-label': name } },
        table,
      );
    document.title = 'Fleet – traceview';
    document.body.replaceChildren(
      h(
        'header',
        { class: 'top' },
        h('a', { class: 'home', attrs: { href: base } }, h('b', null, 'traceview')),
        h('h1', null, 'Fleet'),
        h('span', { class: 'grow' }),
        iconButton('contrast', 'Light or dark', () => this.settings.toggleShade()),
      ),
      h(
        'main',
        null,
        this.choices.element,
        this.choices.note,
        this.trouble,
        this.flame.element,
        h(
          'div',
          { class: 'columns', hidden: true },
          h(
            'section',
            { class: 'changed', attrs: { 'aria-label': 'Methods' } },
            h('h2', null, 'Changed most'),
            this.note,
            scrolled(
              'Methods that changed most',
              h(
                'table',
                null,
                head('Method', 'Course', 'Base', 'New', 'Change', 'p', 'Since'),
                this.methods,
              ),
            ),
          ),
          h(
            'section',
            { class: 'detail', attrs: { 'aria-label': 'Trend' } },
            this.title,
            h('div', { class: 'trend' }, this.chart.element),
            h('div', { class: 'spread' }, this.spread.element),
            this.tracesTitle,
            scrolled(
              'Traces of the version',
              h('table', null, head('Trace', 'Figure', 'Deviations'), this.traceRows),
            ),
          ),
        ),
      ),
    );
    void this.during(() => this.begin());
  }

  /** Show what goes wrong in a piece of work. A superseded question is no trouble. */
  private async during(work: () => Promise<void>): Promise<void> {
    this.trouble.hidden = true;
    try {
      await work();
    } catch (error) {
      if (error instanceof Superseded) return;
      this.trouble.hidden = false;
      const login = error instanceof HubError && error.status === 401;
      fill(
        this.trouble,
        messageOf(error),
        error instanceof HubError &&
          error.status === 404 &&
          ' Upload traces with labels such as version=1.4 and device=lab-1.',
        login && h('a', { class: 'link', attrs: { href: base } }, ' To the login'),
      );
    }
  }

  /** Ask for the versions and other labels first: without them there is nothing to choose. */
  private async begin(): Promise<void> {
    this.versions = await ask<VersionRow[]>('versions', {}, () => true);
    this.labels = await ask<LabelRow[]>('labels', {}, () => true);
    document.querySelector<HTMLElement>('.columns')?.removeAttribute('hidden');
    await this.show();
  }

  /** Begin a question; return whether none of its kind has begun since. */
  private turn(kind: keyof FleetPage['turns']): () => boolean {
    const number = ++this.turns[kind];
    return () => number === this.turns[kind];
  }

  /**
   * Ask for everything that the choices at the top decide. The table of methods comes first; the
   * courses, the trend and the flame graph follow side by side, each with its own error.
   */
  private async show(): Promise<void> {
    const wanted = this.turn('methods');
    this.choices.show(this.versions, this.labels, this.flameButton);
    const [figure, where] = [this.place.get('figure'), this.place.where()];
    const sides = this.place.sides();
    const compared = sides
      ? await ask<Compared>('regressions', { ...sides, figure, where }, wanted)
      : await this.largest(wanted);
    this.points = [];
    this.courses.clear();
    this.compared = compared;
    this.showMethods(compared.rows, compared.note ?? '');
    if (this.place.get('method') === '') this.place.set('method', compared.rows[0]?.key ?? '');
    void this.during(() => this.showMethod());
    void this.during(() => this.showCourses(wanted));
    void this.during(() => this.showFlame());
    // All figures of the fleet are read for it, so it takes longest.
    void this.during(() => this.showChanges(wanted));
  }

  /** Add the small courses to the table. They cover all versions and come after the methods. */
  private async showCourses(wanted: () => boolean): Promise<void> {
    const question = { figure: this.place.get('figure'), where: this.place.where() };
    const rows = await ask<TrendsRow[]>('trends', question, wanted);
    for (const { method, medians } of rows) this.courses.set(method, medians);
    this.showMethods(this.compared.rows, this.compared.note ?? '');
  }

  /** Return the largest methods of the new version alone, for a fleet with one version. */
  private async largest(wanted: () => boolean): Promise<Compared> {
    const version = this.place.get('new');
    const named = version === '' ? [] : [labelOf('version', version)];
    const question = { figure: this.place.get('figure'), where: this.place.where(...named) };
    const rows = await ask<TrendsRow[]>('trends', question, wanted);
    return {
      rows: rows.map(methodAlone),
      note: 'The largest methods of one version. Choose two versions to compare them.',
    };
  }

  private async showChanges(wanted: () => boolean): Promise<void> {
    const question = { figure: this.place.get('figure'), where: this.place.where() };
    try {
      this.points = await ask<ChangePoint[]>('changes', question, wanted);
    } catch (error) {
      // Fewer than 20 versions have no change points; the server says so.
      if (error instanceof HubError && error.status === 400) return;
      throw error;
    }
    this.showMethods(this.compared.rows, this.compared.note ?? '');
    this.showChart();
  }

  /** Do something when the pointer has come to rest. */
  private rest(work: () => void): void {
    clearTimeout(this.resting);
    this.resting = setTimeout(work, REST);
  }

  private toggleFlame(): void {
    this.place.set('flame', this.place.get('flame') === '' ? '1' : '');
    void this.during(() => this.showFlame());
  }

  /** Show the flame graph of the two versions if it is wanted. */
  private async showFlame(): Promise<void> {
    const sides = this.place.sides();
    const shown = this.place.get('flame') !== '' && sides !== null;
    setAttribute(this.flameButton, 'aria-pressed', String(shown));
    this.flameButton.disabled = sides === null;
    this.flame.element.hidden = !shown;
    if (!shown) return;
    this.flame.expect(`${this.place.get('base')} → ${this.place.get('new')}`);
    const figure = graphFigure(this.place.get('figure'));
    const question = { ...sides, figure, where: this.place.where() };
    const wanted = this.turn('graph');
    try {
      this.flame.show(await ask('flamegraph', question, wanted), figure);
    } catch (error) {
      if (!(error instanceof Superseded)) this.flame.end();
      throw error;
    }
    this.flame.mark(this.place.get('method'));
  }

  private chooseMethod(method: string): void {
    this.place.set('method', method);
    this.flame.mark(method);
    void this.during(() => this.showMethod());
  }

  private showMethods(rows: MethodRow[], note: string): void {
    const sorted = sortChanged(rows).slice(0, MOST_SHOWN);
    setText(this.note, note);
    const value = (n: number | null): string => (n === null ? '–' : this.figureText(n));
    fill(
      this.methods,
      ...sorted.map((row) =>
        h(
          'tr',
          null,
          h('th', { attrs: { scope: 'row' } }, this.methodButton(row.key)),
          this.courseOf(row.key),
          h('td', null, value(row.base)),
          h('td', null, value(row.new)),
          h(
            'td',
            { title: `95 %: ${changeText(row.low)} to ${changeText(row.high)}` },
            changeText(row.change),
          ),
          h('td', null, row.p === null ? '–' : row.p.toPrecision(2)),
          this.sinceOf(row.key),
        ),
      ),
    );
  }

  /** Show the medians of a method over the latest versions as a line. */
  private courseOf(key: string): HTMLElement {
    const medians = this.courses.get(key);
    const cell = h('td', { class: 'course' });
    if (medians === undefined) return cell;
    const [width, height] = [80, 18];
    const box = document.createElementNS(SVG, 'svg');
    box.setAttribute('viewBox', `-1 -1 ${String(width + 2)} ${String(height + 2)}`);
    box.setAttribute('aria-hidden', 'true');
    const line = document.createElementNS(SVG, 'path');
    line.setAttribute('d', sparkPath(medians, width, height));
    box.append(line);
    cell.append(box);
    return cell;
  }

  /** Show the version since which a method is as it is. */
  private sinceOf(key: string): HTMLElement {
    const point = lastChange(this.points, versionsOf(this.versions), key);
    const title = point ? `${changeText(point.change)} since ${point.version}` : '';
    return h('td', { title }, point?.version ?? '–');
  }

  /** Format a value of the chosen figure. */
  private figureText(value: number): string {
    return figureText(this.place.get('figure'), value, this.choices.unit);
  }

  private methodButton(key: string): HTMLElement {
    const click = (): void => this.chooseMethod(key);
    return h(
      'button',
      { class: 'name', attrs: { type: 'button' }, on: { click } },
      ...breakable(key, 200),
    );
  }

  private async showMethod(): Promise<void> {
    const method = this.place.get('method');
    if (method === '') return;
    const question = { method, figure: this.place.get('figure'), where: this.place.where() };
    const trend = await ask<TrendRow[]>('trend', question, this.turn('method'));
    this.trend = trend;
    this.traces.clear();
    fill(this.title, ...breakable(method, 200));
    this.showChart();
    const known = trend.findIndex(({ version }) => version === this.place.get('version'));
    this.chooseVersion(known < 0 ? trend.length - 1 : known);
  }

  private showChart(): void {
    const method = this.place.get('method');
    const points = this.points.filter((point) => point.method === method);
    const measure = { figure: this.place.get('figure'), unit: this.choices.unit };
    this.chart.show(trendChart(method, measure, this.trend, points));
  }

  private chooseVersion(index: number): void {
    const row = this.trend[index];
    if (!row) return;
    this.place.set('version', row.version ?? '');
    // The rows of another method or version must not stand below this one's name.
    fill(this.traceRows);
    fill(this.tracesTitle, 'Traces');
    void this.during(async () => {
      this.showTraces(row.version, await this.traces.load(row.version, this.turn('traces')));
      this.showSpread(null);
    });
  }

  /** Show the distribution of the figure over the traces of a version; null: of the chosen one. */
  private showSpread(index: number | null): void {
    if (this.trend.length === 0) return;
    const chosen = this.place.get('version');
    const version = index === null ? chosen : (this.trend[index]?.version ?? '');
    const wanted = this.turn('spread');
    const known = this.traces.get(version);
    if (known) return this.drawSpread(version, known);
    this.rest(() => {
      if (!wanted()) return;
      void this.during(async () =>
        this.drawSpread(version, await this.traces.load(version === '' ? null : version, wanted)),
      );
    });
  }

  private drawSpread(version: string, traces: readonly TraceRow[]): void {
    const figure = this.place.get('figure');
    const values = traces.map((row) => row.figure);
    const name = version === '' ? 'no version' : version;
    this.spread.show({
      kind: 'histogram',
      title: `${plural(values.length, 'trace')} of ${name}`,
      x: { name: figure, text: (value) => this.figureText(value) },
      y: { name: 'traces' },
      ...histogramOf(values, 20),
    });
  }

  /** Show the traces of a version, those first that are farthest from their median. */
  private showTraces(version: string | null, traces: readonly TraceRow[]): void {
    const rows = traces.slice(0, MOST_TRACES);
    const typical = typicalTrace(traces);
    const left = traces.length - rows.length;
    fill(
      this.tracesTitle,
      `Traces of ${version ?? 'no version'}`,
      typical && h('span', { class: 'typical' }, 'typical: ', this.traceLink(typical)),
      left > 0 && h('span', { class: 'typical' }, `the ${String(MOST_TRACES)} farthest out`),
    );
    fill(
      this.traceRows,
      ...rows.map((row) =>
        h(
          'tr',
          null,
          h('th', { attrs: { scope: 'row' } }, this.traceLink(row)),
          h('td', null, this.figureText(row.figure)),
          h('td', null, deviationText(row.deviations)),
        ),
      ),
    );
  }

  /** A link to the longest call of the method in the viewer; a text for traces of elsewhere. */
  private traceLink(row: TraceRow): HTMLElement | string {
    const hash = exemplarHash(row, this.place.get('method'));
    if (!isUploaded(row.uri)) return row.uri;
    const href = `${base}t/${row.uri}/view/#${hash}`;
    const title = row.slice === null ? 'Open the trace' : 'Open its longest call of the method';
    const click = (e: MouseEvent): void => {
      if (e.ctrlKey || e.metaKey || e.shiftKey) return;
      e.preventDefault();
      void this.during(() => this.openTrace(row.uri, href));
    };
    return h('a', { class: 'link', title, attrs: { href }, on: { click } }, row.uri.slice(0, 12));
  }

  /** Leave for a trace, unless it was deleted: its figures stay in the fleet. */
  private async openTrace(id: string, href: string): Promise<void> {
    try {
      await sendHubRequest(`${base}api/traces/${id}`, {});
    } catch (error) {
      if (!(error instanceof HubError) || error.status !== 404) throw error;
      throw new Error('This trace was deleted from the server. Its figures stay in the fleet.');
    }
    location.assign(href);
  }
}

new FleetPage().start();
