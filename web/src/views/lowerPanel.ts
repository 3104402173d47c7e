// SPDX-License-Identifier: Apache-2.0
// The lower panel: tabs, a text that says which range and threads they describe, the splitter
// above, and the details at the side.
//
//     [Profile][Flame][Top-down] ...  search box, "of 3 threads, 12 ms"   tab row
//     transforms, if there are any
//     pane of the tab                         | details of the selection
//
// All panes are made at once and hidden, so a table keeps its lines, its scroll position and its
// sort order while another tab is shown. Their stores ask the engine only while their own tab is
// visible: a change of the range would otherwise compute fourteen tables.
//
// Most tabs are a view with an element and the table interface (tableTab.ts: find, copy, export). A
// view that is null has nothing in this trace, and its tab is left out.

import { h, setAttribute, setText } from '../base/dom';
import { formatCount } from '../base/format';
import { computed, effect, untracked, type ReadSignal } from '../base/signal';
import { TABS, type Tab } from '../model/address';
import { FindingsStore } from '../model/findings';
import type { NonSliceRows } from '../model/nonSliceEvents';
import { SearchList } from '../model/searchList';
import { hasStates } from '../model/states';
import { cutSlices } from '../model/statistics';
import { StatisticsStore } from '../model/statisticsStore';
import { TreeStore } from '../model/treeStore';
import { detailsHint } from './details/detailsHint';
import { DetailsView } from './details/detailsView';
import { compensateSwitch } from './tables/compensateSwitch';
import { CompareView } from './tables/compareView';
import { CountersView } from './tables/countersView';
import { exportButton } from './tables/exportMenu';
import { FindBox } from './tables/findBox';
import { FindingsView } from './tables/findingsView';
import { FramesView } from './tables/framesView';
import { FlameView } from './tables/flameView';
import { HealthView } from './tables/healthView';
import { InfoView } from './tables/infoView';
import { profileFind } from './tables/profileFind';
import { ProfileTable } from './tables/profileTable';
import { clipWords, scopeWords, unitSelect } from './tables/scopeWords';
import { transformChips } from './tables/transformChips';
import { searchCount, SearchView } from './tables/searchView';
import { makeSplitter } from './splitter';
import { SqlView } from './tables/sqlView';
import { StatesView } from './tables/statesView';
import { StatisticsView } from './tables/statisticsView';
import type { TableTab } from './tables/tableTab';
import { TreeView } from './tables/treeView';
import type { Views } from './context';

const NAMES: Record<Tab, string> = {
  profile: 'Profile',
  flame: 'Flame',
  'top-down': 'Top-down',
  'bottom-up': 'Bottom-up',
  selection: 'Selection',
  states: 'States',
  counters: 'Counters',
  frames: 'Frames',
  compare: 'Compare',
  search: 'Search',
  sql: 'SQL',
  findings: 'Findings',
  health: 'Health',
  info: 'Info',
};

/** Tabs whose figures are those of the profile. */
const CLIPPING: readonly Tab[] = ['profile', 'flame', 'top-down', 'bottom-up'];
/** Tabs that have the details of the selection beside them. */
const WITH_DETAILS: readonly Tab[] = [...CLIPPING, 'counters'];

/** Tabs whose panes the panel puts together itself. */
const JOINT = ['profile', 'flame', 'selection'] as const;
type OwnTab = Exclude<Tab, (typeof JOINT)[number]>;

/** The view of every other tab; null: this trace has nothing for the tab, which is left out. */
type OwnViews = Record<OwnTab, (TableTab & { element: HTMLElement }) | null>;

function hasOwnView(tab: Tab): tab is OwnTab {
  return !(JOINT as readonly Tab[]).includes(tab);
}

/** The lower panel. */
export class LowerPanel {
  readonly element: HTMLElement;
  readonly splitter: HTMLElement;
  readonly table: ProfileTable;
  readonly flame: FlameView;
  private readonly find: FindBox;
  /** The table interface of each tab that has one. */
  private readonly tables: Partial<Record<Tab, TableTab | null>>;
  private readonly panes = h('div', { class: 'panes' });
  private readonly tabButtons = new Map<Tab, HTMLButtonElement>();
  private page: HTMLElement | null = null;
  private readonly searching: SearchList;
  private readonly findings: FindingsStore;
  private readonly statistics: StatisticsStore;
  private readonly statisticsView: StatisticsView;
  private readonly tabs: readonly Tab[];
  /** True if the Selection tab shows the table by name, because no single thing is selected. */
  private readonly byName: ReadSignal<boolean>;

  /** `focusSearch` focuses the search box of the top bar. */
  constructor(
    private readonly v: Views,
    focusSearch: () => void,
  ) {
    const { viewer } = v;
    this.searching = new SearchList(viewer, () => viewer.tab.get() === 'search');
    this.findings = new FindingsStore(viewer, () => viewer.tab.get() === 'findings');
    this.byName = computed(
      () =>
        viewer.tab.get() === 'selection' &&
        viewer.call.get() === null &&
        viewer.mark.get() === null,
    );
    this.statistics = new StatisticsStore(viewer, () => this.byName.get());
    this.statisticsView = new StatisticsView(v, this.statistics);
    const shown = (tab: Tab) => (): boolean => viewer.tab.get() === tab;
    this.table = new ProfileTable(v);
    this.flame = new FlameView(v, shown('flame'));
    const health = new HealthView(v, shown('health'));
    const toHealth = (kind: string): void => health.leadTo(kind);
    const { facts } = viewer;
    const views: OwnViews = {
      'top-down': this.makeTree('top-down', false),
      'bottom-up': this.makeTree('bottom-up', true),
      states: hasStates(facts) ? new StatesView(v, shown('states')) : null,
      counters: facts.counters > 0 ? new CountersView(v, shown('counters')) : null,
      frames: facts.display_frames > 0 ? new FramesView(v, shown('frames')) : null,
      compare: facts.compares ? new CompareView(v, shown('compare')) : null,
      sql: facts.sql === undefined ? null : new SqlView(v, shown('sql')),
      search: new SearchView(v, this.searching, focusSearch),
      findings: new FindingsView(v, this.findings, shown('findings'), toHealth),
      health,
      info: new InfoView(v),
    };
    this.tabs = TABS.filter((tab) => !hasOwnView(tab) || views[tab] !== null);
    const inProfile = profileFind(v, this.table);
    this.tables = {
      ...views,
      profile: {
        findable: inProfile,
        exported: () => this.table.exported(),
        copyText: () => this.table.copyText(),
      },
      selection: this.statisticsView,
    };
    this.find = new FindBox(viewer, () => this.shown()?.findable ?? null);
    const beside = h('div', {
      class: 'details beside scroller',
      attrs: { role: 'region', 'aria-label': 'Details of the selection' },
    });
    new DetailsView(v, beside);
    const panes = this.makePanes(views);
    this.panes.append(
      ...panes.values(),
      beside,
      detailsHint(v, () => this.choose('selection')),
    );
    this.element = h(
      'section',
      { class: 'lower', attrs: { 'aria-label': 'Tables' } },
      this.makeTabRow(),
      transformChips(viewer),
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
      // Without a selection there are no details, and the table has their room.
      const withDetails = WITH_DETAILS.includes(tab) && viewer.hasSelection();
      beside.hidden = !withDetails;
      this.panes.classList.toggle('with-details', withDetails);
    });
  }

  private makeTree(tab: Tab, bottomUp: boolean): TreeView {
    const { viewer } = this.v;
    const store = new TreeStore(viewer, bottomUp, () => viewer.tab.get() === tab);
    return new TreeView(this.v, store, NAMES[tab]);
  }

  /**
   * Create all panes at once. The constructor hides all but one, so a table keeps its elements while
   * another tab is shown; its store asks for data only while its own tab is.
   */
  private makePanes(views: OwnViews): Map<Tab, HTMLElement> {
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
    return new Map<Tab, HTMLElement>([
      ['profile', pane('profile', '', this.table.element)],
      ['flame', pane('flame', '', this.flame.element)],
      ['selection', pane('selection', 'scrolls scroller', selection, this.statisticsView.element)],
      ...this.tabs.filter(hasOwnView).flatMap((tab): [Tab, HTMLElement][] => {
        const view = views[tab];
        return view ? [[tab, pane(tab, '', view.element)]] : [];
      }),
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

  /** Return the number shown after the name of a tab, or null if the tab has none. */
  private tabCount(tab: Tab): HTMLElement | null {
    const { facts } = this.v.viewer;
    const faults = facts.diagnostics.reduce((sum, d) => sum + d.count, 0);
    const some = (n: number | null): string => (n ? formatCount(n) : '');
    const texts: Partial<Record<Tab, () => string>> = {
      search: () => searchCount(this.searching),
      frames: () => some(lateFrames(this.v.beside.rows.get())),
      findings: () => some(this.findings.count()),
      health: () => some(faults),
    };
    const text = texts[tab];
    if (!text) return null;
    const count = h('span', { class: 'tab-count' });
    effect(() => setText(count, text()));
    return count;
  }

  /** Return the table of the visible tab, or null. */
  private shown(): TableTab | null {
    const tab = this.v.viewer.tab.get();
    if (tab === 'selection' && !this.byName.get()) return null;
    return this.tables[tab] ?? null;
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
    const tools = h(
      'div',
      { class: 'table-tools' },
      this.find.element,
      this.find.only,
      exportButton(this.v, () => untracked(() => this.shown()?.exported() ?? null)),
    );
    effect(() => {
      const table = this.shown();
      tools.hidden = table === null;
      this.find.element.hidden = table?.findable === null;
    });
    const whole: readonly Tab[] = ['info', 'health', 'compare', 'sql'];
    const applies = (): boolean => !whole.includes(viewer.tab.get());
    return h(
      'div',
      { class: 'scope' },
      ...scopeWords(viewer, applies, this.v.askForRange),
      clipWords(viewer, () => this.clipped()),
      compensateSwitch(this.v),
      unitSelect(this.v),
      tools,
    );
  }

  /** Return how many calls of the visible table reach beyond the selected range. */
  private clipped(): number {
    const { viewer, profile } = this.v;
    if (!viewer.range.get()) return 0;
    if (this.byName.get()) return cutSlices(this.statistics.answer.get() ?? []);
    return CLIPPING.includes(viewer.tab.get()) ? (profile.answer.get()?.cut ?? 0) : 0;
  }

  /** Return the marked lines of the table that has the focus. */
  copyText(): string | null {
    return untracked(() => this.shown()?.copyText() ?? null);
  }

  get findInput(): HTMLInputElement {
    return this.find.input;
  }

  /** Attach the panel. The CSS grid of the page stores the heights. */
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

/** Return the number of late frames of the whole trace. */
function lateFrames({ display_frames }: NonSliceRows): number {
  return display_frames.reduce((sum, { late }) => sum + late, 0);
}
