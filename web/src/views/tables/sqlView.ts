// SPDX-License-Identifier: Apache-2.0
// The SQL tab: a query box, ready and kept queries, and the rows, whose ids and times are links
// into the time line.
//
//     box -> run -> store -> rows -> sorted by the page -> grid, chart, track above the time line
//
// The page sorts the rows that it has; the query is not run again, as it may take minutes. Columns
// whose names are those of the tables (slice, thread, start ...) become links: docs/sql.md says
// which.
//
// Queries that were run or kept stay in this browser. The address carries the text of one, which
// runs as soon as the tab, or its track, is visible.

import { fill, h, setAttribute, setText, type Child } from '../../base/dom';
import { formatCount, plural } from '../../base/format';
import { computed, effect, signal, untracked, type ReadSignal } from '../../base/signal';
import { shortened } from '../../base/visible';
import { hasTrack, queryTrack, type QueryTrack } from '../../model/queryTrack';
import { framingView, revealingView } from '../../model/span';
import {
  linksOf,
  NAMES_QUERY,
  readQueries,
  sortedRows,
  sqlSheet,
  sqlText,
  titleOf,
  withQuery,
  type ReadyQuery,
  type SqlAnswer,
  type SqlLink,
  type SqlName,
  type SqlSort,
  type SqlValue,
} from '../../model/sql';
import type { SqlPlace } from '../../model/sqlPlace';
import { MOST_ROWS, SqlStore } from '../../model/sqlStore';
import { goToCallOn, type Views } from '../context';
import { readSetting, writeSetting } from '../settings';
import type { Exported } from './exportMenu';
import { Grid, type GridColumn } from './grid';
import { SqlBox } from './sqlBox';
import { SqlChartPart } from './sqlChartPart';
import { readyGroups, readyList, type QueryGroup } from './sqlReady';
import { markedText } from './tableTab';

const PADDING = 18;
const LEAST = 56;
const WIDEST = 420;
/** Rows whose texts are measured for the width of a column. */
const MEASURED = 200;
/** Number of latest, and of kept, queries that the browser stores. */
const LATEST = 30;
const KEPT = 100;
const NO_ROWS: SqlValue[][] = [];

/** The tab. */
export class SqlView {
  readonly element: HTMLElement;
  readonly findable = null;
  private readonly store: SqlStore;
  private readonly box: SqlBox;
  private readonly grid: Grid;
  private readonly sort = signal<SqlSort | null>(null);
  private readonly rows: ReadSignal<readonly SqlValue[][]>;
  private links: readonly (((row: readonly SqlValue[]) => SqlLink | null) | null)[] = [];
  private readonly status = h('span', { class: 'about', attrs: { 'aria-live': 'polite' } });
  private readonly failure = h('div', { class: 'sql-failure', attrs: { role: 'alert' } });
  private readonly kept = signal<readonly string[]>(readQueries(readSetting('sql.kept')));
  private readonly latest = signal<readonly string[]>(readQueries(readSetting('sql.latest')));
  private readonly chart: SqlChartPart;
  private readonly list: HTMLSelectElement;
  /** The ready queries, in place of the rows until a query has run. */
  private readonly ready = readyList((query) => this.take(query));
  private listed: ReadyQuery[] = [];
  private ran = '';
  private track: QueryTrack | null = null;

  constructor(
    private readonly v: Views,
    private readonly shown: () => boolean,
  ) {
    const { viewer } = v;
    this.store = new SqlStore(viewer);
    this.rows = computed(() => {
      const answer = this.store.answer.get();
      return answer ? sortedRows(answer.rows, this.sort.get()) : NO_ROWS;
    });
    this.grid = new Grid(
      'Rows of the query',
      {
        activate: (line, target) => this.activate(line, target),
        sort: (column) => this.sortBy(Number(column)),
      },
      v,
    );
    this.box = new SqlBox({
      run: () => this.run(),
      cancel: () => this.store.cancel(),
      askNames: () => this.askNames(),
    });
    this.chart = new SqlChartPart(
      { answer: this.store.answer, sorted: this.rows },
      computed(() => viewer.sql.get().chart),
      (chart) => viewer.sql.set({ ...viewer.sql.peek(), chart }),
      (line) => {
        this.grid.leadTo(line);
        this.activate(line);
      },
    );
    this.list = h('select', { class: 'of', attrs: { 'aria-label': 'Ready queries' } });
    this.list.addEventListener('change', () => this.choose());
    // Without DuckDB, the program says why and what to do: the tab shows that instead of a box.
    if (typeof viewer.facts.sql === 'string') {
      const [what = '', ...remedy] = viewer.facts.sql.split(': ');
      this.element = h(
        'div',
        { class: 'sql sql-none scroller', tabIndex: 0, attrs: { role: 'note' } },
        h('h2', null, what),
        h('p', null, remedy.join(': ')),
      );
      return;
    }
    this.element = h(
      'div',
      { class: 'with-bar sql' },
      this.box.element,
      this.bar(),
      this.failure,
      this.grid.element,
      this.chart.element,
      this.ready,
    );
    effect(() => void this.element.classList.toggle('pending', this.store.running.get()));
    effect(() => this.listQueries());
    effect(() => this.follow(viewer.sql.get()));
    effect(() => this.drawTrack(viewer.sql.get(), this.store.answer.get()));
    effect(() => this.noteTrack(v.asTrack.get()));
    effect(() => {
      this.showColumns(); // first: the lines are made of them
      this.showRows();
    });
    effect(() => {
      const { answer, failure, running } = this.store;
      const asked = [answer.get() !== null, failure.get() !== null, running.get()];
      this.ready.hidden = asked.includes(true);
    });
    effect(() => this.showStatus());
    effect(() => this.showFailure());
  }

  private button(text: string, title: string, act: () => void): HTMLButtonElement {
    const attrs = { type: 'button' };
    return h('button', { class: 'text-button', title, attrs, on: { click: act } }, text);
  }

  private bar(): HTMLElement {
    const run = this.button('Run', 'Run the query (Ctrl+Enter)', () => this.run());
    run.className = 'button primary';
    const cancel = this.button('Cancel', 'Stop the query (Esc)', () => this.store.cancel());
    const keep = this.button('Keep', '', () => this.keep());
    const more = this.button('More rows', 'Load more rows', () => this.store.more());
    const track = this.button('As a track', 'Draw the rows above the tracks', () => this.asTrack());
    const current = signal('');
    this.box.area.addEventListener('input', () => current.set(this.box.text));
    effect(() => {
      const running = this.store.running.get();
      run.hidden = running;
      cancel.hidden = !running;
      const answer = this.store.answer.get()?.rows;
      track.hidden = !answer || !hasTrack(answer.columns);
      more.hidden = running || !answer?.more || answer.rows.length >= MOST_ROWS;
    });
    effect(() => {
      current.get();
      this.store.answer.get();
      const on = this.kept.get().includes(this.box.text);
      setAttribute(keep, 'aria-pressed', on);
      keep.title = on
        ? 'Remove the query from the list'
        : 'Save the query; a comment in its first line becomes its name';
    });
    const { kinds, columns } = this.chart;
    const asked = [run, cancel, this.list, keep];
    return h('div', { class: 'pane-bar' }, ...asked, kinds, columns, track, more, this.status);
  }

  /**
   * Run what is in the box. The text goes to the address only now, not while it is typed, so that
   * Back leads from query to query.
   */
  private run(): void {
    const { text } = this.box;
    if (text.trim() === '') return;
    this.latest.set(withQuery(this.latest.peek(), text, LATEST));
    writeSetting('sql.latest', JSON.stringify(this.latest.peek()));
    this.start(text);
    const old = this.v.viewer.sql.peek();
    this.v.viewer.sql.set({ ...old, text, track: old.track && old.text === text });
  }

  /** `ran` is noted first: the address, which changes with it, must not start the query again. */
  private start(text: string): void {
    this.ran = text;
    this.sort.set(null);
    this.grid.reset();
    this.store.run(text);
  }

  /** The address names another query: it runs once the tab or its track is visible. */
  private follow({ text, track }: SqlPlace): void {
    if (!(this.shown() || track) || text === this.ran) return;
    untracked(() => {
      this.box.text = text;
      if (text !== '') this.start(text);
    });
  }

  private async askNames(): Promise<readonly SqlName[]> {
    const question = { text: NAMES_QUERY, offset: 0, limit: 10_000 };
    const { rows } = await this.v.viewer.engine.sql.ask(question);
    return rows.map(([name, kind]) => ({ name: String(name), kind: kind as SqlName['kind'] }));
  }

  // ---- Ready queries ----

  private listQueries(): void {
    const own = (name: string, texts: readonly string[]): QueryGroup => ({
      name,
      queries: texts.map((text) => ({ group: name, title: titleOf(text), text })),
    });
    const groups = [
      own('Kept', this.kept.get()),
      ...readyGroups(),
      own('Latest', this.latest.get()),
    ].filter(({ queries }) => queries.length > 0);
    this.listed = groups.flatMap(({ queries }) => queries);
    // The value of an entry is its place in `listed`, over all groups.
    let at = 0;
    fill(
      this.list,
      h('option', { attrs: { value: '' } }, 'Queries…'),
      ...groups.map(({ name, queries }) =>
        h(
          'optgroup',
          { attrs: { label: name } },
          ...queries.map(({ title }) =>
            h('option', { attrs: { value: at++ } }, shortened(title, 80)),
          ),
        ),
      ),
    );
  }

  /** The list shows "Queries…" again at once, so that the same query can be chosen twice. */
  private choose(): void {
    const query = this.listed[Number(this.list.value || -1)];
    this.list.value = '';
    if (query) this.take(query);
  }

  private take({ text }: ReadyQuery): void {
    this.box.text = text;
    this.run();
  }

  private keep(): void {
    const { text } = this.box;
    if (text.trim() === '') return;
    const old = this.kept.peek();
    this.kept.set(
      old.includes(text) ? old.filter((other) => other !== text) : withQuery(old, text, KEPT),
    );
    writeSetting('sql.kept', JSON.stringify(this.kept.peek()));
  }

  // ---- Rows ----

  private sortBy(column: number): void {
    const old = this.sort.peek();
    const number = this.store.answer.peek()?.rows.columns[column]?.[1] !== 'text';
    if (old?.column !== column) this.sort.set({ column, descending: number });
    else if (old.descending === number) this.sort.set({ column, descending: !number });
    else this.sort.set(null);
    this.grid.reset();
  }

  private showColumns(): void {
    const answer = this.store.answer.get();
    const sort = this.sort.get();
    const { bodyFont } = this.v.settings.theme.get();
    if (!answer) return;
    const meter = this.v.meters.get(bodyFont);
    this.links = linksOf(answer.of, answer.rows.columns);
    const columns = answer.rows.columns.map(([name, type], at): GridColumn => {
      const widest = answer.rows.rows
        .slice(0, MEASURED)
        .reduce((n, row) => Math.max(n, sqlText(row[at] ?? null).length), 0);
      const width = Math.max(LEAST, widest * meter.width('0'), meter.width(`▾ ${name}`)) + PADDING;
      return {
        id: String(at),
        head: shortened(name, 60),
        title: `${shortened(name, 200)}, ${type}`,
        width: Math.ceil(Math.min(width, WIDEST)),
        number: type === 'integer' || type === 'real',
        sorts: true,
        cell: (line) => this.cell(line, at),
      };
    });
    const sorted = sort && { column: String(sort.column), descending: sort.descending };
    untracked(() => this.grid.setColumns(columns, sorted ?? { column: '', descending: false }));
  }

  private cell(line: number, at: number): Child {
    const row = this.rows.peek()[line];
    if (!row) return null;
    const value = row[at] ?? null;
    const text = sqlText(value);
    const title = shortened(value === null ? 'NULL' : String(value), 1000);
    const name = value === null ? 'text dim' : 'text';
    const link = this.links[at]?.(row);
    if (!link) return h('span', { class: name, title }, shortened(text, 300));
    const words = {
      slice: 'Go to the slice',
      thread: 'Go to the thread',
      track: 'Go to the track',
    };
    const target = link.to === 'time' ? 'Go to the time' : words[link.to];
    return h(
      'span',
      { class: `${name} link`, title: `${title}: ${target}`, attrs: { 'data-link': at } },
      text,
    );
  }

  private showRows(): void {
    const rows = this.rows.get();
    const answer = this.store.answer.get();
    this.v.settings.theme.get();
    this.v.settings.density.get();
    this.grid.element.hidden = answer === null;
    untracked(() => this.grid.show(rows.length, answer ? 'The query finds no rows.' : ''));
  }

  private showStatus(): void {
    const answer = this.store.answer.get()?.rows;
    if (this.store.running.get()) setText(this.status, 'Running…');
    else setText(this.status, answer && !this.store.failure.get() ? this.about(answer) : '');
  }

  private about({ rows, more, cut, quoted, ungrouped }: SqlAnswer): string {
    const took = `${formatCount(Math.round(this.store.took.get()))} ms`;
    const count = more ? `the first ${formatCount(rows.length)} rows` : plural(rows.length, 'row');
    const full = more && rows.length >= MOST_ROWS ? '; LIMIT and OFFSET find others' : '';
    const short = cut > 0 ? `; ${plural(cut, 'long text')} cut off` : '';
    const whole = this.v.viewer.filter === '' ? '' : '; of the whole trace, without the filter';
    const texts = quoted ? `; no columns, so taken as texts: ${quoted}` : '';
    const some = ungrouped
      ? `; not grouped, so the value of one row of each group: ${ungrouped}`
      : '';
    return `${count}, ${took}${full}${short}${whole}${texts}${some}`;
  }

  private showFailure(): void {
    const failure = this.store.failure.get();
    this.failure.hidden = failure === null;
    fill(
      this.failure,
      failure && h('p', null, shortened(failure.message, 1000)),
      failure && failure.picture !== '' && h('pre', null, failure.picture),
    );
  }

  /** Draw the rows as a track, or remove it, as the address says. */
  private drawTrack({ text, track }: SqlPlace, answer: { of: string } | null): void {
    const { asTrack } = this.v;
    const isDrawn = asTrack.peek()?.of === text;
    if (track && !isDrawn && answer?.of === text) untracked(() => this.asTrack());
    else if (!track && isDrawn) untracked(() => asTrack.set(null));
  }

  /** The track was drawn or removed: the address says so. */
  private noteTrack(drawn: QueryTrack | null): void {
    if (drawn === this.track) return;
    this.track = drawn;
    const { sql } = this.v.viewer;
    untracked(() => sql.set({ ...sql.peek(), track: drawn?.of === sql.peek().text }));
  }

  /** Draw the rows above the tracks, in place of those of the last query. */
  private asTrack(): void {
    const { viewer, asTrack } = this.v;
    const answer = this.store.answer.peek();
    if (answer) asTrack.set(queryTrack(answer.of, answer.rows, viewer.bounds));
  }

  // ---- Links ----

  /** Follow the link that was clicked; the Enter key follows the first one of the row. */
  private activate(line: number, target?: Element): void {
    const row = this.rows.peek()[line];
    if (!row) return;
    const clicked = target?.closest<HTMLElement>('[data-link]')?.dataset['link'];
    if (target && clicked === undefined) return;
    const all = this.links.map((link) => link?.(row) ?? null);
    const link = clicked === undefined ? all.find((one) => one !== null) : all[Number(clicked)];
    if (link) void this.go(link);
  }

  private async go(link: SqlLink): Promise<void> {
    const { viewer, mover } = this.v;
    if (link.to === 'time') {
      const { from, length } = link;
      const span = { from, to: from + Math.max(1, length) };
      if (length > 0) viewer.setRange(span);
      // A time without a length keeps the zoom.
      mover.glide(
        length > 0
          ? framingView(span, viewer.bounds)
          : revealingView(mover.goal, span, viewer.bounds),
      );
      return;
    }
    if (link.to !== 'slice') {
      const track = viewer.facts.tracks.find((one) =>
        link.to === 'thread'
          ? one.thread === link.thread && one.kind !== 'states'
          : one.track === link.track,
      );
      if (track) this.v.showTrack(track);
      else this.v.announce('It has no row of its own in the time line.');
      return;
    }
    try {
      const place = await viewer.engine.sql.place(link.id);
      if (place && 'instant' in place)
        viewer.selectMark({ kind: 'instant', number: place.instant });
      else if (place) goToCallOn(this.v, place);
    } catch (error) {
      viewer.failed(error);
    }
  }

  exported(): Exported {
    return {
      name: 'query',
      sheet: () => {
        const answer = this.store.answer.peek();
        return answer && sqlSheet(answer.rows, this.rows.peek());
      },
    };
  }

  copyText(): string | null {
    return markedText(this.grid, this.exported());
  }
}
