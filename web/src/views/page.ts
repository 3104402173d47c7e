// SPDX-License-Identifier: Apache-2.0
// The page of a trace: all views put together.
//
//     Viewer (model)     the state: range, selection, tab, order ...: signals, mostly in the address
//     stores (model)     ask the engine when the state changes, and hold the last answer
//     views              paint the state and the answers, and change the state
//
// A view knows the viewer and the stores, never another view. What it wants from elsewhere (show a
// track, say something to a screen reader, open a menu) is a function in Views, which is filled in
// here.

import { h, listen, setText } from '../base/dom';
import { effect, signal } from '../base/signal';
import type { Track, TraceFacts } from '../model/traceFacts';
import {
  firstExpanded,
  firstWhole,
  isSingle,
  layoutTracks,
  processesOf,
  totalHeight,
} from '../model/layout';
import { NonSliceStore } from '../model/nonSliceStore';
import { CallPairStore } from '../model/callPair';
import { CounterStore } from '../model/counters';
import { FlowStore } from '../model/flows';
import { InstantStore } from '../model/instants';
import { MarkStore } from '../model/marks';
import { hasOwnName, ownerId } from '../model/names';
import { ProfileStore } from '../model/profileStore';
import { SearchStore } from '../model/searchStore';
import { SelectionStore } from '../model/selectionStore';
import { namedTracks } from '../model/states';
import type { Viewer } from '../model/viewer';
import { VsyncStore } from '../model/vsync';
import { Meters, revealHit, type TraceFiles, type Views } from './context';
import { CallList } from './timeline/callList';
import { explainCutTexts } from './cutTexts';
import { Finder } from './finder';
import { HelpDialog } from './helpDialog';
import { LowerPanel } from './lowerPanel';
import { Mover } from './timeline/mover';
import { NotesRow } from './timeline/notesRow';
import { PairedLine } from './timeline/pairedLine';
import { OverviewView } from './timeline/overviewView';
import { pictureEntries } from './files/pictures';
import { QueryStrip } from './timeline/queryStrip';
import { RangeDialog } from './timeline/rangeDialog';
import { Readout } from './timeline/readout';
import { SaveMenu, traceEntries } from './files/saveMenu';
import type { Settings } from './settings';
import { liveSummary } from './timeline/summary';
import { TimelineGestures } from './timeline/timelineGestures';
import { TimelineView } from './timeline/timelineView';
import { showCounter } from './timeline/showCounter';
import { Tip } from './tip';
import { FrameMenu } from './frameMenu';
import { TopBar } from './topBar';

/** The height of top bar, overview, readout, ruler and splitter. */
const AROUND = 153;
const USUAL_PANEL = 398;
const LOWEST_PANEL = 300;
/** The room below the last row of the time line, and again as much. */
const LINE_END = 8;
/** The minimum height of the tracks, however few there are. */
const MIN_TRACKS = 120;

/** Return the tracks, busiest first. */
function busiestTracks(facts: TraceFacts): readonly Track[] {
  if (facts.order === 'busiest') return facts.tracks;
  return facts.tracks
    .filter((t) => !isSingle(t))
    .sort((a, b) => (b.real_ns ?? 0) - (a.real_ns ?? 0));
}

function hasTimes(facts: TraceFacts): boolean {
  const beside = facts.counters + facts.instants + facts.objects;
  return facts.tracks.length + beside + facts.samples + facts.memory_dumps > 0;
}

/** The actions that leave the page. */
export interface PageActions extends TraceFiles {
  quit: (() => void) | null;
  /**
   * On an upload server, the address of the trace page, which replaces the actions that open and
   * quit.
   */
  home: string | null;
  unfilter: () => void;
}

/** The page of one trace. */
export class Page {
  readonly element: HTMLElement;
  readonly views: Views;
  readonly lower: LowerPanel;
  readonly top: TopBar;
  readonly save: SaveMenu;
  readonly help: HelpDialog;
  readonly line: TimelineView;
  private readonly finder = new Finder();
  readonly notes: NotesRow;
  readonly range: RangeDialog;

  constructor(
    readonly viewer: Viewer,
    settings: Settings,
    outside: PageActions,
  ) {
    const spoken = h('div', { class: 'sr-only', attrs: { 'aria-live': 'polite' } });
    this.help = new HelpDialog(settings, viewer.facts);
    const menu = new FrameMenu(viewer);
    const mover = new Mover(viewer.view, () => viewer.paired.reach);
    const counters = new CounterStore(viewer);
    const views: Views = {
      viewer,
      settings,
      mover,
      profile: new ProfileStore(viewer),
      selection: new SelectionStore(viewer),
      counters,
      vsync: new VsyncStore(viewer, counters.list, settings.vsync),
      flows: new FlowStore(viewer),
      instants: new InstantStore(viewer),
      beside: new NonSliceStore(viewer),
      marks: new MarkStore(viewer),
      pair: new CallPairStore(viewer),
      asTrack: signal(null),
      search: new SearchStore(viewer, (call) => {
        if (!viewer.expanded.peek().has(call.track)) viewer.toggleExpanded(call.track);
        revealHit(views, call, this.line.canvas.width);
      }),
      meters: new Meters(),
      showTrack: (track) => this.showTrack(track),
      showCounter: (counter) => showCounter(viewer, this.line, counter),
      askForRange: () => this.range.open(),
      files: outside,
      unfilter: outside.unfilter,
      menu: (frame, at) => menu.open(frame, at),
      find: (words, all) => this.finder.open(words, all),
      announce: (text) => setText(spoken, text),
    };
    this.views = views;
    this.line = new TimelineView(views);
    this.notes = new NotesRow(views, () => this.line.canvas.width);
    this.line.tracks.append(new CallList(views, this.line).element);
    this.range = new RangeDialog(views);
    this.lower = new LowerPanel(views, () => this.top.searchInput.focus());
    this.save = new SaveMenu(views, [
      ...traceEntries(views),
      ...pictureEntries(views, this.line, this.lower.flame),
    ]);
    this.top = new TopBar(views, this.save, {
      help: () => this.help.toggle(),
      quit: outside.quit,
      open: outside.choose,
      home: outside.home,
      compare: viewer.facts.compares ? () => this.lower.choose('compare') : null,
      health: () => this.showHealth(),
    });
    const strip = new QueryStrip(views);
    const tip = new Tip(viewer.frames, settings);
    new TimelineGestures(views, this.line, tip);
    this.element = h(
      'div',
      { class: 'page' },
      this.top.element,
      h(
        'main',
        { class: 'contents' },
        new OverviewView(views).element,
        new Readout(views).element,
        this.line.ruler,
        this.notes.element,
        strip.element,
        h('div', { class: 'lines' }, this.line.tracks, new PairedLine(views, this.line).element),
        this.lower.splitter,
        this.lower.element,
      ),
      tip.element,
      menu.element,
      spoken,
      liveSummary(viewer),
      this.help.element,
      this.finder.element,
      this.range.element,
    );
    explainCutTexts(this.element);
    effect(() => {
      const width = settings.labelWidth.get();
      if (width === null) this.element.style.removeProperty('--w-labels');
      else this.element.style.setProperty('--w-labels', `min(${width}px, 40vw)`);
    });
    effect(() => {
      const any = viewer.notes.get().length > 0;
      this.element.classList.toggle('with-notes', any);
      this.element.style.setProperty('--h-notes', any ? `${this.notes.height}px` : '0px');
    });
    effect(() => {
      this.element.classList.toggle('with-query', views.asTrack.get() !== null);
      this.element.style.setProperty('--h-query', `${strip.height.get()}px`);
    });
    // A trace with no times has no time line.
    this.element.classList.toggle('no-tracks', !hasTimes(viewer.facts));
    this.arrange();
    this.lower.attach(this.element);
    this.matchScrollbar();
    this.followSelection();
  }

  /** Let the user find a thread by its name, and show it. */
  findThread(): void {
    const { facts } = this.viewer;
    const items = namedTracks(facts.tracks).map((track) => ({
      dim: hasOwnName(track) ? '' : `[${ownerId(track)}] `,
      name: track.name,
      choose: () => this.showTrack(track),
    }));
    const placeholder = 'Name or id of a thread';
    this.finder.open({ title: 'Find a thread', placeholder, noun: 'thread' }, items);
  }

  private showTrack({ track }: Track): void {
    const { viewer } = this;
    if (!viewer.expanded.peek().has(track)) viewer.toggleExpanded(track);
    // The place is known after the labels are laid out again.
    requestAnimationFrame(() => this.line.showTrack(track));
  }

  /**
   * Expand the busiest threads while they fit, and give the tracks the height that the first one
   * needs.
   */
  private arrange(): void {
    const { heights } = this.views.settings.theme.peek();
    const { facts } = this.viewer;
    const { tracks } = facts;
    const first = tracks[0] ? layoutTracks([tracks[0]], new Set([tracks[0].track]), heights) : [];
    const needed = totalHeight(first) + Math.min(4, tracks.length) * heights.collapsed;
    const free = innerHeight - AROUND;
    const lower = Math.max(LOWEST_PANEL, Math.min(USUAL_PANEL, free - needed));
    this.element.style.setProperty('--lower', `${Math.min(lower, Math.round(free * 0.6))}px`);
    const lines = facts.order === 'owner' ? processesOf(tracks).size * heights.group : 0;
    const room = free - lower - lines;
    const expanded = firstExpanded(busiestTracks(facts), heights, room);
    this.viewer.expanded.set(expanded);
    this.viewer.whole.set(firstWhole(busiestTracks(facts), expanded, heights, room));
    if (facts.calls === 0) this.giveRoom(free, lower);
  }

  /**
   * Give the tables the height that a few rows of samples or counters leave. Such rows come after
   * the page. From the first click or key on the height stays, and so does one that another page
   * had.
   */
  private giveRoom(free: number, least: number): void {
    const { style } = this.element;
    let [used, ours] = [false, style.getPropertyValue('--lower')];
    for (const kind of ['pointerdown', 'keydown']) listen(window, kind, () => (used = true));
    effect(() => {
      const { height, rows } = this.line.placed.get();
      const room = free - Math.max(MIN_TRACKS, height + 2 * LINE_END);
      used ||= style.getPropertyValue('--lower') !== ours;
      if (used || rows.length === 0 || room <= least) return;
      ours = `${room}px`;
      style.setProperty('--lower', ours);
    });
  }

  /** End overview and ruler where the tracks end: at the scroll bar, whatever its width. */
  private matchScrollbar(): void {
    const { tracks } = this.line;
    new ResizeObserver(() => {
      this.element.style.setProperty(
        '--w-scrollbar',
        `${tracks.offsetWidth - tracks.clientWidth}px`,
      );
    }).observe(tracks);
  }

  private followSelection(): void {
    effect(() => {
      const call = this.views.selection.details.get();
      if (call) this.line.showRow(call.track, call.depth);
    });
  }

  private showHealth(): void {
    this.lower.choose('health');
    this.element.querySelector<HTMLElement>('#health')?.focus({ preventScroll: true });
  }
}
