// SPDX-License-Identifier: Apache-2.0
// The Search tab: the list of all matches.
//
// SearchList asks for them part by part, in the order of time, and may be stopped and continued; the
// table shows what has come so far, in its own order. `version` counts the parts, so that an effect
// which reads it runs again with each of them.

import { h, setAttribute, setText, type Child } from '../../base/dom';
import { fixedUnit, formatCount, formatTime, plural, unitHead } from '../../base/format';
import { effect, untracked } from '../../base/signal';
import { shortened } from '../../base/visible';
import {
  EVENT,
  EVENT_WORDS,
  FIELD,
  SEARCH_FIELDS,
  USUAL_HIT_SORT,
  type HitColumn,
  type SearchField,
  type SearchRow,
} from '../../model/eventAnswers';
import { sameMark } from '../../model/marks';
import { isCaseSensitive, indexOfMatch } from '../../model/names';
import { patternAt } from '../../model/patternMatch';
import type { SearchList } from '../../model/searchList';
import { searchSheet } from '../../model/searchSheet';
import { wordsFor } from '../../model/words';
import { eventName, eventPlace, goToEvent, markOfEvent } from './events';
import type { Exported } from './exportMenu';
import type { Findable } from './findBox';
import { Grid, type GridColumn } from './grid';
import { pathText } from './pathText';
import { swatch } from '../swatch';
import { markedText } from './tableTab';
import type { Views } from '../context';

const FIELD_WORDS: Record<SearchField, string> = {
  names: 'Names',
  categories: 'Categories',
  args: 'Arguments',
};
/** A longer name is cut around its match. */
const LONGEST_NAME = 300;

/** The list of search results. */
export class SearchView {
  readonly element: HTMLElement;
  private readonly grid: Grid;

  constructor(
    private readonly v: Views,
    private readonly list: SearchList,
    focusSearch: () => void,
  ) {
    this.grid = new Grid(
      'Search hits',
      {
        activate: (line) => this.go(line),
        sort: (column) => this.sortBy(column as HitColumn),
        selected: (line) => this.isSelected(line),
      },
      v,
    );
    this.element = h('div', { class: 'with-bar' }, this.bar(focusSearch), this.grid.element);
    effect(() => this.showColumns());
    effect(() => this.show());
    // A new search starts at the top.
    effect(() => {
      v.viewer.search.get();
      untracked(() => this.grid.reset());
    });
    effect(() => {
      v.viewer.call.get();
      v.viewer.mark.get();
      untracked(() => this.grid.refresh());
    });
  }

  /** Create the bar: fields, switches, progress. */
  private bar(focusSearch: () => void): HTMLElement {
    const { viewer } = this.v;
    const status = h('span', { class: 'about', attrs: { 'aria-live': 'polite' } });
    const stop = h('button', { class: 'link', attrs: { type: 'button' } });
    stop.addEventListener('click', () => {
      if (this.list.state.peek() === 'running') this.list.stop();
      else this.list.goOn();
    });
    effect(() => {
      const state = this.list.state.get();
      setText(status, this.statusText());
      stop.hidden = (state !== 'running' && state !== 'stopped') || this.list.fault.get() !== '';
      setText(stop, state === 'running' ? 'Stop' : 'Go on');
    });
    const search = h(
      'button',
      { class: 'link', attrs: { type: 'button' }, on: { click: focusSearch } },
      'Change the text (/)',
    );
    return h(
      'div',
      { class: 'pane-bar' },
      h(
        'div',
        { class: 'segments', attrs: { role: 'group', 'aria-label': 'Search in' } },
        ...SEARCH_FIELDS.map((field) => this.fieldButton(field)),
      ),
      this.toggle(
        'Match case',
        'Match case. Without it, case matters only if the text contains a capital letter',
        () => viewer.matchCase.get(),
        () => viewer.matchCase.update((on) => !on),
      ),
      this.toggle(
        'Regular expression',
        'The text is a pattern: . [a-z] \\d \\w \\s \\b ^ $ ( ) | * + ? {2,3}',
        () => viewer.regex.get(),
        () => viewer.regex.update((on) => !on),
      ),
      search,
      h('span', { class: 'grow' }),
      status,
      stop,
    );
  }

  /**
   * Create a switch. It shows the state of the viewer, not its own, so that an address or a key may
   * change it too.
   */
  private toggle(text: string, title: string, on: () => boolean, click: () => void): HTMLElement {
    const button = h(
      'button',
      { class: 'toggle', title, attrs: { type: 'button' }, on: { click } },
      text,
    );
    effect(() => setAttribute(button, 'aria-pressed', on()));
    return button;
  }

  /** Create the button of a field. At least one field stays on. */
  private fieldButton(field: SearchField): HTMLElement {
    const { searchIn } = this.v.viewer;
    const flip = (): void => {
      const on = searchIn.peek();
      const next = SEARCH_FIELDS.filter((f) => on.includes(f) !== (f === field));
      searchIn.set(
        next.length === SEARCH_FIELDS.length ? SEARCH_FIELDS : next.length > 0 ? next : on,
      );
    };
    return this.toggle(
      FIELD_WORDS[field],
      `Search in ${FIELD_WORDS[field].toLowerCase()}`,
      () => searchIn.get().includes(field),
      flip,
    );
  }

  /** Say how many hits there are, and how far the search has come. */
  private statusText(): string {
    const [listed, total] = [this.list.count.get(), this.list.total.get()];
    const found =
      total > listed
        ? `the first ${formatCount(listed)} of ${plural(total, 'hit')}`
        : plural(listed, 'hit');
    const percent = `${Math.floor(this.list.progress.get() * 100)} %`;
    switch (this.list.state.get()) {
      case 'idle':
        return '';
      case 'running':
        return `${found}, ${percent} searched`;
      case 'stopped':
        return this.list.fault.get() || `${found}, stopped at ${percent}`;
      case 'done':
        return found;
    }
  }

  private showColumns(): void {
    const { viewer } = this.v;
    const unit = viewer.unit.get();
    const sort = viewer.hitSort.get();
    const time = (ns: number): string => formatTime(ns, viewer.unit.peek());
    const column = (
      id: string,
      head: string,
      width: number,
      cell: GridColumn['cell'],
      more: Partial<GridColumn> = {},
    ): GridColumn => ({ id, head, title: head, width, number: false, sorts: true, cell, ...more });
    const number = { number: true };
    this.grid.setColumns(
      [
        column('at', '#', 78, (line) => formatCount(line + 1), { ...number, sorts: false }),
        column('name', 'Name', 0, (line) => this.nameCell(line), { least: 150 }),
        column('where', 'Found in', 0, (line) => this.whereCell(line), {
          sorts: false,
          least: 150,
        }),
        column('kind', 'Kind', 92, (line) => this.kindWord(line)),
        column(
          'time',
          unitHead('Start', unit),
          112,
          (line) => time(this.list.at(line)?.[3] ?? 0),
          number,
        ),
        column('length', unitHead('Length', unit), 96, (line) => this.lengthCell(line), number),
        column('track', 'Track', 170, (line) => this.placeCell(line), { least: 110 }),
      ],
      sort,
    );
    untracked(() => this.grid.refresh());
  }

  /**
   * Show the hits found so far. An empty table has three causes that the user has to tell apart:
   * hits that the table's own search hides, no text yet, and no hit; while the search runs, it says
   * nothing.
   */
  private show(): void {
    this.list.version.get();
    this.v.settings.theme.get();
    this.v.settings.density.get();
    const text = this.v.viewer.search.get();
    const state = this.list.state.get();
    const left = this.list.count.get() > 0;
    const empty = left
      ? 'No hit contains the search text of the table.'
      : text === ''
        ? 'Type into the search box above; the matches appear here.'
        : state === 'done'
          ? `Nothing ${this.v.viewer.regex.get() ? 'matches this pattern' : 'contains this text'}.`
          : '';
    untracked(() => this.grid.show(this.list.order.length, empty));
  }

  exported(): Exported {
    const { viewer } = this.v;
    const unit = fixedUnit(viewer.unit.peek());
    const place = (hit: SearchRow): string => eventPlace(this.v, hit);
    const { slice } = wordsFor(viewer.facts);
    return {
      name: 'search',
      sheet: () => searchSheet(this.list, viewer.frames, place, unit, slice),
    };
  }

  copyText(): string | null {
    return markedText(this.grid, this.exported());
  }

  /** The table shows only hits that contain the text to find. */
  readonly findable: Findable = {
    text: () => {
      this.list.version.get();
      return `${formatCount(this.list.order.length)} of ${formatCount(this.list.count.get())}`;
    },
    miss: () => {
      this.list.version.get();
      return this.list.order.length === 0 && this.list.count.get() > 0;
    },
    typed: () => this.grid.reset(),
    step: (direction) => {
      this.grid.moveTo(this.grid.cursor + direction);
      this.go(this.grid.cursor);
    },
    focus: () => this.grid.scroller.focus(),
  };

  /** Return where the search text is in a text, or -1. */
  private found(text: string): readonly [at: number, end: number] {
    const { viewer } = this.v;
    const query = viewer.search.peek();
    const matchCase = viewer.matchCase.peek();
    if (viewer.regex.peek())
      return patternAt(text, query, isCaseSensitive(query, matchCase)) ?? [-1, -1];
    const at = indexOfMatch(text, query, matchCase);
    return [at, at + query.length];
  }

  /** Return the text with the match underlined. */
  private marked(text: string): Child[] {
    const [at, end] = this.found(text);
    if (at < 0) return [shortened(text, LONGEST_NAME)];
    const found = h('span', { class: 'found' }, text.slice(at, end));
    return [
      text.slice(Math.max(0, at - LONGEST_NAME), at),
      found,
      shortened(text.slice(end), LONGEST_NAME),
    ];
  }

  private kindWord(line: number): string {
    const kind = this.list.at(line)?.[0] ?? 0;
    return kind === EVENT.slice ? wordsFor(this.v.viewer.facts).slice : (EVENT_WORDS[kind] ?? '');
  }

  /**
   * Return the cell with the name; the match is underlined just when it is the name that matched,
   * not a category that has the same text by chance.
   */
  private nameCell(line: number): Child[] {
    const hit = this.list.at(line);
    if (!hit) return [];
    const name = eventName(this.v, hit);
    const inName = (hit[9] & FIELD.names) !== 0;
    const { viewer, settings } = this.v;
    const [, , , , , , , frame, own] = hit;
    const text =
      own === null && frame >= 0
        ? pathText(viewer.frames, frame, inName ? (part) => this.found(part) : () => [-1, -1])
        : h(
            'span',
            { class: 'text', title: shortened(name) },
            ...(inName ? this.marked(name) : [shortened(name)]),
          );
    return [swatch(viewer.frames, frame, settings.theme.peek()), text];
  }

  /** Create the cell with the text that matched. The excerpt of an argument is from the engine. */
  private whereCell(line: number): Child {
    const hit = this.list.at(line);
    if (!hit) return null;
    const [, , , , , , , , , fields, excerpt] = hit;
    const word = fields & FIELD.names ? 'name' : fields & FIELD.categories ? 'category' : '';
    if (excerpt === null) return h('span', { class: 'second' }, word);
    return h(
      'span',
      { class: 'text', title: excerpt },
      word !== '' && h('span', { class: 'second' }, `${word} `),
      ...this.marked(excerpt),
    );
  }

  /** Return the length of slices and objects. Other events have none, and 0 would be a figure. */
  private lengthCell(line: number): string {
    const hit = this.list.at(line);
    const lasting = hit && (hit[0] === EVENT.slice || hit[0] === EVENT.object);
    return lasting ? formatTime(hit[4], this.v.viewer.unit.peek()) : '';
  }

  private placeCell(line: number): Child {
    const hit = this.list.at(line);
    const place = hit ? eventPlace(this.v, hit) : '';
    return h('span', { class: 'text', title: place }, place);
  }

  /** Tell whether a hit is selected: slices are selected as calls, all other events as marks. */
  private isSelected(line: number): boolean {
    const hit = this.list.at(line);
    const call = this.v.viewer.call.peek();
    const mark = this.v.viewer.mark.peek();
    if (hit?.[0] === EVENT.slice) return call?.row === hit[1] && call.index === hit[2];
    return hit !== null && mark !== null && sameMark(markOfEvent(hit), mark);
  }

  /** Sort by a column; a second click turns the order round. */
  private sortBy(column: HitColumn): void {
    const { hitSort } = this.v.viewer;
    const old = hitSort.peek();
    const descending = old.column === column ? !old.descending : column === 'length';
    const usual = column === USUAL_HIT_SORT.column && !descending;
    hitSort.set(usual ? USUAL_HIT_SORT : { column, descending });
  }

  private go(line: number): void {
    const hit = this.list.at(line);
    if (hit) void goToEvent(this.v, hit);
  }
}

/** Return the text of the tab, such as "Search 41". */
export function searchCount(list: SearchList): string {
  const count = list.total.get();
  return list.state.get() === 'idle' ? '' : formatCount(count);
}
