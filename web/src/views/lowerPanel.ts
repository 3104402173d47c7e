// SPDX-License-Identifier: Apache-2.0
// The lower panel: tabs, what it is computed for, the splitter above it, the details beside it.

import { fill, h, icon, iconButton, setAttribute, setText } from '../base/dom';
import {
  fixedUnit,
  formatCount,
  formatTime,
  formatTimeUnit,
  plural,
  unitLabel,
  UNITS,
  type Unit,
} from '../base/format';
import { computed, effect, flushEffects, type ReadSignal } from '../base/signal';
import { TABS, type Tab } from '../model/address';
import { exportStatistics } from '../model/exportStatistics';
import { SearchList } from '../model/searchList';
import { hasStates, tracksOfSlices } from '../model/states';
import { StatisticsStore } from '../model/statisticsStore';
import { wordsFor } from '../model/words';
import { detailsHint } from './detailsHint';
import { DetailsView } from './detailsView';
import { exportButton, profileExport, type Exported } from './exportMenu';
import { FlameView } from './flameView';
import { HealthView } from './healthView';
import { infoView } from './infoView';
import { ProfileTable } from './profileTable';
import { searchCount, SearchView } from './searchView';
import { makeSplitter } from './splitter';
import { StatesView } from './statesView';
import { StatisticsView } from './statisticsView';
import type { Views } from './context';

const NAMES: Record<Tab, string> = {
  profile: 'Profile',
  flame: 'Flame',
  selection: 'Selection',
  states: 'States',
  search: 'Search',
  health: 'Health',
  info: 'Info',
};

export class LowerPanel {
  readonly element: HTMLElement;
  readonly splitter: HTMLElement;
  readonly table: ProfileTable;
  readonly findInput: HTMLInputElement;
  private readonly panes = h('div', { class: 'panes' });
  private readonly tabButtons = new Map<Tab, HTMLButtonElement>();
  private page: HTMLElement | null = null;
  private readonly searching: SearchList;
  private readonly statistics: StatisticsStore;
  private readonly statisticsView: StatisticsView;
  /** null: the trace does not tell of the scheduler. */
  private readonly states: StatesView | null;
  private readonly tabs: readonly Tab[];
  /** The Selection tab shows the table by name: no single thing is selected. */
  private readonly byName: ReadSignal<boolean>;

  /** `focusSearch` goes to the search box of the top bar. */
  constructor(
    private readonly v: Views,
    private readonly focusSearch: () => void,
  ) {
    const { viewer } = v;
    this.searching = new SearchList(viewer, () => viewer.tab.get() === 'search');
    this.byName = computed(
      () =>
        viewer.tab.get() === 'selection' &&
        viewer.call.get() === null &&
        viewer.mark.get() === null,
    );
    this.statistics = new StatisticsStore(viewer, () => this.byName.get());
    this.statisticsView = new StatisticsView(v, this.statistics);
    this.states = hasStates(viewer.facts)
      ? new StatesView(v, () => viewer.tab.get() === 'states')
      : null;
    this.tabs = TABS.filter((tab) => tab !== 'states' || this.states);
    this.table = new ProfileTable(v);
    this.findInput = h('input', {
      attrs: {
        type: 'text',
        'aria-label': 'Find in table',
        placeholder: 'Find in table',
        spellcheck: false,
        autocomplete: 'off',
      },
    });
    const beside = h('div', {
      class: 'details beside scroller',
      attrs: { role: 'region', 'aria-label': 'Details of the selection' },
    });
    new DetailsView(v, beside);
    const panes = this.makePanes();
    this.panes.append(
      ...panes.values(),
      beside,
      detailsHint(v, () => this.choose('selection')),
    );
    this.element = h(
      'section',
      { class: 'lower', attrs: { 'aria-label': 'Tables' } },
      this.makeTabRow(),
      this.panes,
    );
    this.splitter = makeSplitter(
      this.element,
      (pixels) => this.setHeight(pixels),
      () => this.toggle(),
    );
    effect(() => {
      const tab = v.viewer.tab.get();
      for (const [name, pane] of panes) pane.hidden = name !== tab;
      const withTable = tab === 'profile' || tab === 'flame';
      beside.hidden = !withTable;
      this.panes.classList.toggle('with-details', withTable);
    });
  }

  private makePanes(): Map<Tab, HTMLElement> {
    const { viewer } = this.v;
    const pane = (tab: Tab, className: string, ...content: HTMLElement[]): HTMLElement =>
      h(
        'div',
        {
          class: `pane ${className}`,
          id: `pane-${tab}`,
          attrs: { role: 'tabpanel', 'aria-labelledby': `tab-${tab}` },
        },
        ...content,
      );
    const selection = h('div', { class: 'details' });
    new DetailsView(this.v, selection);
    effect(() => {
      const byName = this.byName.get();
      selection.hidden = byName;
      this.statisticsView.element.hidden = !byName;
    });
    const info = pane('info', 'scrolls scroller');
    info.tabIndex = 0;
    effect(() => infoView(info, viewer.facts, viewer.frames.called, viewer.unit.get()));
    const search = new SearchView(this.v, this.searching, this.focusSearch);
    const health = new HealthView(this.v, () => viewer.tab.get() === 'health');
    return new Map<Tab, HTMLElement>([
      ['profile', pane('profile', '', this.table.element)],
      [
        'flame',
        pane('flame', '', new FlameView(this.v, () => viewer.tab.get() === 'flame').element),
      ],
      ['selection', pane('selection', 'scrolls scroller', selection, this.statisticsView.element)],
      ...(this.states
        ? [['states', pane('states', '', this.states.element)] as [Tab, HTMLElement]]
        : []),
      ['search', pane('search', '', search.element)],
      ['health', pane('health', '', health.element)],
      ['info', info],
    ]);
  }

  private makeTabRow(): HTMLElement {
    const { viewer } = this.v;
    const tabs = h('div', {
      class: 'tabs',
      attrs: { role: 'tablist', 'aria-label': 'Lower panel' },
    });
    for (const tab of this.tabs) {
      const button = h(
        'button',
        {
          id: `tab-${tab}`,
          attrs: { type: 'button', role: 'tab', 'aria-controls': `pane-${tab}` },
          on: { click: () => this.choose(tab) },
        },
        NAMES[tab],
        this.tabCount(tab),
      );
      this.tabButtons.set(tab, button);
      tabs.append(button);
      effect(() => {
        const on = viewer.tab.get() === tab;
        setAttribute(button, 'aria-selected', on);
        button.tabIndex = on ? 0 : -1;
      });
    }
    tabs.addEventListener('keydown', (e) => this.tabKey(e));
    return h('div', { class: 'tab-row' }, tabs, this.makeScope());
  }

  /** How much there is in a tab, behind its name. */
  private tabCount(tab: Tab): HTMLElement | null {
    if (tab !== 'search' && tab !== 'health') return null;
    const { facts } = this.v.viewer;
    const count = h('span', { class: 'tab-count' });
    const findings = facts.diagnostics.reduce((sum, d) => sum + d.count, 0);
    effect(() =>
      setText(
        count,
        tab === 'search' ? searchCount(this.searching) : findings > 0 ? formatCount(findings) : '',
      ),
    );
    return count;
  }

  private exported(): Exported {
    const { viewer } = this.v;
    if (viewer.tab.peek() === 'states' && this.states) return this.states.exported();
    if (viewer.tab.peek() !== 'selection') return profileExport(this.v, this.table);
    const rows = this.statistics.rows.peek();
    return {
      name: 'statistics',
      text: (format) =>
        exportStatistics(format, rows, viewer.facts, viewer.frames, fixedUnit(viewer.unit.peek())),
    };
  }

  choose(tab: Tab): void {
    this.v.viewer.tab.set(tab);
    this.page?.classList.remove('closed');
  }

  private tabKey(e: KeyboardEvent): void {
    const { tabs } = this;
    const at = tabs.indexOf(this.v.viewer.tab.peek());
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[e.key];
    const tab = to === undefined ? undefined : tabs[(to + tabs.length) % tabs.length];
    if (!tab) return;
    e.preventDefault();
    e.stopPropagation();
    this.choose(tab);
    this.tabButtons.get(tab)?.focus();
  }

  private makeScope(): HTMLElement {
    const { viewer } = this.v;
    const words = h('span', null);
    const chips = h('span', { class: 'chips' });
    const unit = h(
      'select',
      { class: 'small-select', title: 'Unit of times', attrs: { 'aria-label': 'Unit of times' } },
      ...UNITS.map((name) => h('option', { attrs: { value: name } }, unitLabel(name) || name)),
    );
    unit.addEventListener('change', () => viewer.unit.set(unit.value as Unit));
    effect(() => {
      unit.value = viewer.unit.get();
    });
    const tools = h(
      'div',
      { class: 'table-tools' },
      this.makeFind(),
      exportButton(this.v, () => this.exported()),
    );
    effect(() => {
      const tab = viewer.tab.get();
      tools.hidden = tab !== 'profile' && tab !== 'states' && !this.byName.get();
      // What the file says of itself is computed for nothing.
      for (const element of [words, chips]) element.hidden = tab === 'info' || tab === 'health';
    });
    effect(() => this.showScope(words, chips));
    return h('div', { class: 'scope' }, words, chips, unit, tools);
  }

  private showScope(words: HTMLElement, chips: HTMLElement): void {
    const { viewer } = this.v;
    const range = viewer.range.get();
    const tracks = viewer.tracks.get();
    const unit = viewer.unit.get();
    const time = (ns: number): string => formatTime(ns, unit);
    const threads = plural(
      tracks.length || tracksOfSlices(viewer.facts.tracks),
      wordsFor(viewer.facts).track,
    );
    words.className = 'wide';
    if (!range && tracks.length === 0) {
      setText(words, `Computed for the whole trace, ${threads}`);
      return fill(chips);
    }
    const what = range
      ? `${time(range.from)} to ${formatTimeUnit(range.to, unit)}`
      : 'the whole trace';
    setText(words, `Computed for ${what}, ${threads}`);
    const chip = (text: string, label: string, clear: () => void): HTMLElement =>
      h('span', { class: 'chip' }, h('span', null, text), iconButton('close', label, clear));
    const names = tracks
      .map((t) => viewer.facts.tracks.find((k) => k.track === t)?.name ?? '')
      .join(', ');
    fill(
      chips,
      range &&
        chip(formatTimeUnit(range.to - range.from, unit), 'Clear the range (Esc)', () =>
          viewer.setRange(null),
        ),
      tracks.length > 0 &&
        chip(
          tracks.length > 2 ? plural(tracks.length, wordsFor(viewer.facts).track) : names,
          `All ${wordsFor(viewer.facts).track}s again`,
          () => viewer.tracks.set([]),
        ),
    );
  }

  private makeFind(): HTMLElement {
    const { viewer, profile } = this.v;
    const input = this.findInput;
    const count = h('span', { class: 'count', attrs: { 'aria-live': 'polite' } });
    const box = h('label', { class: 'find' }, icon('lens'), input, count);
    input.addEventListener('input', () => {
      viewer.find.set(input.value);
      // What is found is worked out before the jump, not in the next microtask.
      flushEffects();
      if (!this.byName.peek() && viewer.tab.peek() !== 'states') this.jump(0);
    });
    input.addEventListener('keydown', (e) => this.findKey(e));
    effect(() => {
      const query = viewer.find.get();
      const found = profile.found.get();
      viewer.frame.get();
      if (input.value !== query) input.value = query;
      if (this.states && viewer.tab.get() === 'states') {
        box.classList.toggle('miss', this.states.foundText().startsWith('0 '));
        return setText(count, this.states.foundText());
      }
      if (this.byName.get()) {
        const none = this.statistics.rows.get().length === 0;
        box.classList.toggle('miss', query !== '' && none && this.statistics.answer.get() !== null);
        return setText(count, this.statisticsView.foundText());
      }
      box.classList.toggle(
        'miss',
        query !== '' && found.length === 0 && profile.answer.get() !== null,
      );
      const at = found.indexOf(this.table.cursorMethod ?? -1);
      setText(
        count,
        query === ''
          ? ''
          : found.length === 0
            ? '0 of 0'
            : `${at < 0 ? '–' : formatCount(at + 1)} of ${formatCount(found.length)}`,
      );
    });
    return box;
  }

  /** To the match under the cursor or the first after it (0), the next (1), the one before (-1). */
  private jump(direction: 0 | 1 | -1): number | null {
    const found = this.v.profile.found.peek();
    if (found.length === 0) return null;
    const order = this.v.profile.sorted.peek().map((m) => m.frame);
    const cursor = order.indexOf(this.table.cursorMethod ?? -1);
    const at = found.indexOf(order[cursor] ?? NaN);
    let next: number;
    if (at >= 0) next = (at + direction + found.length) % found.length;
    else {
      const after = found.findIndex((frame) => order.indexOf(frame) > cursor);
      next = direction === -1 ? (after <= 0 ? found.length : after) - 1 : Math.max(0, after);
    }
    const frame = found[next] ?? null;
    if (frame !== null) this.table.showMethod(frame);
    const count = this.findInput.parentElement?.querySelector('.count');
    if (count) setText(count, `${formatCount(next + 1)} of ${formatCount(found.length)}`);
    return frame;
  }

  /** Enter selects the match; on the selected one it goes to the next. */
  private findKey(e: KeyboardEvent): void {
    const { viewer } = this.v;
    if (e.key === 'Escape') {
      if (this.findInput.value === '') this.table.scroller.focus();
      viewer.find.set('');
    } else if (e.key === 'Enter' || e.key === 'ArrowDown' || e.key === 'ArrowUp') {
      const back = e.key === 'ArrowUp' || e.shiftKey;
      if (viewer.tab.peek() === 'states') return;
      if (this.byName.peek()) {
        e.preventDefault();
        e.stopPropagation();
        return this.statisticsView.step(back ? -1 : 1);
      }
      const here = this.jump(0);
      const frame = here !== null && here === viewer.frame.peek() ? this.jump(back ? -1 : 1) : here;
      if (frame !== null && frame >= 0) viewer.selectFrame(frame);
    } else return;
    e.preventDefault();
    e.stopPropagation();
  }

  /** The page's grid holds the heights. */
  attach(page: HTMLElement): void {
    this.page = page;
  }

  toggle(): void {
    this.page?.classList.toggle('closed');
  }

  private setHeight(pixels: number): void {
    this.page?.classList.remove('closed');
    this.page?.style.setProperty('--lower', `${pixels}px`);
  }
}
