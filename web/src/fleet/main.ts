// SPDX-License-Identifier: Apache-2.0
// The entry point of the page of the fleet: the methods that changed most between two versions,
// the trend of one of them, and the traces behind a version. The choice is in the address.

import { breakable, fill, h, iconButton, setText } from '../base/dom';
import { plural } from '../base/format';
import { histogramOf } from '../model/chart';
import { ChartView } from '../views/chart';
import { Settings } from '../views/settings';
import { HubError, messageOf, sendHubRequest } from '../hub/http';
import {
  changeText,
  exemplarHash,
  FIGURES,
  figureText,
  isUploaded,
  methodName,
  trendChart,
  typicalTrace,
  valuesOf,
  versionsOf,
  type ChangePoint,
  type MethodRow,
  type TraceRow,
  type TrendRow,
  type VersionRow,
} from './model';

const base = location.pathname.replace(/fleet\/?$/, '');
const MOST_SHOWN = 200;
const MOST_TRACES = 100;

type Choice = 'figure' | 'base' | 'new' | 'device' | 'scenario' | 'method' | 'version';

async function ask<T>(question: string, parameters: Record<string, string> = {}): Promise<T> {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ''));
  const answer = await sendHubRequest(`${base}api/fleet/${question}?${query.toString()}`, {});
  return (await answer.json()) as T;
}

class FleetPage {
  private readonly settings = new Settings();
  private readonly place = new URLSearchParams(location.hash.slice(1));
  private readonly choices = h('div', { class: 'choices', attrs: { role: 'group' } });
  private readonly trouble = h('p', { class: 'trouble', hidden: true, attrs: { role: 'alert' } });
  private readonly note = h('p', { class: 'note' });
  private readonly methods = h('tbody', null);
  private readonly title = h('h2', { class: 'method' });
  private readonly chart = new ChartView({
    click: ({ index }) => this.chooseVersion(index),
    hover: (point) => this.showSpread(point?.index ?? null),
  });
  private readonly spread = new ChartView();
  private readonly tracesTitle = h('h2', null);
  private readonly traceRows = h('tbody', null);
  private versions: VersionRow[] = [];
  private trend: TrendRow[] = [];
  private traces: TraceRow[] = [];
  private points: ChangePoint[] = [];
  /** Counts questions, so that an answer to an earlier one is dropped. */
  private asked = 0;

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
        this.choices,
        this.trouble,
        h(
          'div',
          { class: 'columns' },
          h(
            'section',
            { class: 'changed', attrs: { 'aria-label': 'Methods' } },
            h('h2', null, 'Changed most'),
            this.note,
            scrolled(
              'Methods that changed most',
              h('table', null, head('Method', 'Base', 'New', 'Change', 'p'), this.methods),
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
              h('table', null, head('Trace', 'Version', 'Figure', 'Deviations'), this.traceRows),
            ),
          ),
        ),
      ),
    );
    this.choices.setAttribute('aria-label', 'What to compare');
    void this.during(() => this.begin());
  }

  private get(name: Choice): string {
    return this.place.get(name) ?? (name === 'figure' ? 'excl' : '');
  }

  private set(name: Choice, value: string): void {
    if (value === '') this.place.delete(name);
    else this.place.set(name, value);
    history.replaceState(null, '', `#${this.place.toString()}`);
  }

  /** The parameter `where` of all questions. */
  private where(...more: string[]): string {
    const labels = (['device', 'scenario'] as const).filter((name) => this.get(name) !== '');
    return [...labels.map((name) => `${name}=${this.get(name)}`), ...more].join(' ');
  }

  private async during(work: () => Promise<void>): Promise<void> {
    this.trouble.hidden = true;
    try {
      await work();
    } catch (error) {
      this.trouble.hidden = false;
      const login = error instanceof HubError && error.status === 401;
      fill(
        this.trouble,
        messageOf(error),
        login && h('a', { class: 'link', attrs: { href: base } }, ' To the login'),
      );
    }
  }

  private async begin(): Promise<void> {
    this.versions = await ask<VersionRow[]>('versions');
    const names = versionsOf(this.versions);
    if (this.get('new') === '') this.set('new', names.at(-1) ?? '');
    if (this.get('base') === '') this.set('base', names.at(-2) ?? '');
    const any = (label: 'device' | 'scenario'): string[] => ['', ...valuesOf(this.versions, label)];
    fill(
      this.choices,
      this.choice('figure', 'Figure', [...FIGURES]),
      this.choice('base', 'Base', names),
      this.choice('new', 'New', names),
      this.choice('device', 'Device', any('device')),
      this.choice('scenario', 'Scenario', any('scenario')),
    );
    await this.show();
  }

  private choice(name: Choice, label: string, values: string[]): HTMLElement {
    const select = h('select', {
      on: {
        change: () => {
          this.set(name, select.value);
          void this.during(() => this.show());
        },
      },
    });
    for (const value of values)
      select.append(h('option', { attrs: { value } }, value === '' ? 'all' : value));
    select.value = this.get(name);
    return h('label', null, label, select);
  }

  private async show(): Promise<void> {
    const number = ++this.asked;
    const [figure, where] = [this.get('figure'), this.where()];
    const sides = { base: `version=${this.get('base')}`, new: `version=${this.get('new')}` };
    const same = this.get('base') === this.get('new') || this.get('base') === '';
    const none = { rows: [] as MethodRow[], note: 'Choose two versions to compare.' };
    const compared = same
      ? none
      : await ask<{ rows: MethodRow[]; note?: string }>('regressions', { ...sides, figure, where });
    if (number !== this.asked) return;
    this.showMethods(compared.rows, compared.note ?? '');
    // Fewer than 20 versions have no change points; the server says so.
    this.points = await ask<ChangePoint[]>('changes', { figure, where }).catch(() => []);
    if (number !== this.asked) return;
    if (this.get('method') === '') this.set('method', methodName(compared.rows[0]?.key ?? ''));
    if (this.get('method') !== '') await this.showMethod();
  }

  private showMethods(rows: MethodRow[], note: string): void {
    const figure = this.get('figure');
    const size = (row: MethodRow): number => Math.abs((row.new ?? 0) - (row.base ?? 0));
    const sorted = [...rows].sort((a, b) => size(b) - size(a)).slice(0, MOST_SHOWN);
    setText(this.note, note);
    const value = (n: number | null): string => (n === null ? '–' : figureText(figure, n));
    fill(
      this.methods,
      ...sorted.map((row) =>
        h(
          'tr',
          null,
          h('th', { attrs: { scope: 'row' } }, this.methodButton(row.key)),
          h('td', null, value(row.base)),
          h('td', null, value(row.new)),
          h(
            'td',
            { title: `95 %: ${changeText(row.low)} to ${changeText(row.high)}` },
            changeText(row.change),
          ),
          h('td', null, row.p === null ? '–' : row.p.toPrecision(2)),
        ),
      ),
    );
  }

  private methodButton(key: string): HTMLElement {
    const click = (): void => {
      this.set('method', methodName(key));
      void this.during(() => this.showMethod());
    };
    return h(
      'button',
      { class: 'name', attrs: { type: 'button' }, on: { click } },
      ...breakable(key, 200),
    );
  }

  private async showMethod(): Promise<void> {
    const number = ++this.asked;
    const [method, figure, where] = [this.get('method'), this.get('figure'), this.where()];
    const [trend, traces] = [
      await ask<TrendRow[]>('trend', { method, figure, where }),
      await ask<TraceRow[]>('traces', { method, figure, where }),
    ];
    if (number !== this.asked) return;
    this.trend = trend;
    this.traces = traces;
    fill(this.title, ...breakable(method, 200));
    const points = this.points.filter((point) => methodName(point.method) === method);
    this.chart.show(trendChart(method, figure, trend, points));
    const known = trend.findIndex(({ version }) => version === this.get('version'));
    this.chooseVersion(known < 0 ? trend.length - 1 : known);
  }

  private chooseVersion(index: number): void {
    const version = this.trend[index]?.version ?? '';
    this.set('version', version);
    this.showSpread(index);
    this.showTraces(version);
  }

  /** Show the distribution of the figure over the traces of a version; null: of the chosen one. */
  private showSpread(index: number | null): void {
    const version = index === null ? this.get('version') : (this.trend[index]?.version ?? '');
    const figure = this.get('figure');
    const values = this.tracesOf(version).map((row) => row.figure);
    this.spread.show({
      kind: 'histogram',
      title: `${plural(values.length, 'trace')} of ${version}`,
      x: { name: figure, text: (value) => figureText(figure, value) },
      y: { name: `traces of ${version}` },
      ...histogramOf(values, 20),
    });
  }

  private tracesOf(version: string): TraceRow[] {
    return this.traces.filter(({ label }) => (label ?? '') === version);
  }

  /** Show the traces of a version, those first that are farthest from the median of all. */
  private showTraces(version: string): void {
    const rows = this.tracesOf(version).slice(0, MOST_TRACES);
    const figure = this.get('figure');
    const typical = typicalTrace(this.tracesOf(version));
    fill(
      this.tracesTitle,
      `Traces of ${version === '' ? 'no version' : version}`,
      typical && h('span', { class: 'typical' }, 'typical: ', this.traceLink(typical)),
    );
    fill(
      this.traceRows,
      ...rows.map((row) =>
        h(
          'tr',
          null,
          h('th', { attrs: { scope: 'row' } }, this.traceLink(row)),
          h('td', null, row.label ?? ''),
          h('td', null, figureText(figure, row.figure)),
          h('td', null, row.deviations === null ? '–' : row.deviations.toFixed(1)),
        ),
      ),
    );
  }

  /** A link to the longest call of the method in the viewer; a text for traces of elsewhere. */
  private traceLink(row: TraceRow): HTMLElement | string {
    const hash = exemplarHash(row, this.get('method'));
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
