// SPDX-License-Identifier: Apache-2.0
// The pages of one trace, one for each filter. A filtered trace has its own numbers for threads and
// calls, so the page is built anew, and selections are carried over by meaning.

import { keepTyping } from '../base/dom';
import { effect, ownEffects, untracked } from '../base/signal';
import { readAddress, type PageState } from '../model/address';
import type { CallDetails, Engine } from '../model/engine';
import type { TraceFacts } from '../model/traceFacts';
import { EngineError } from '../model/engine';
import type { Frames } from '../model/names';
import type { ChosenFile, OpenedInput } from '../model/opening';
import { OpenTracks, refilter } from '../model/refilter';
import type { StoredArrangement } from '../model/storedArrangement';
import { Viewer } from '../model/viewer';
import { beginAtCall } from '../views/context';
import { FilterBox } from '../views/filterBox';
import { Page } from '../views/page';
import { rememberTracks } from '../views/timeline/rememberTracks';
import type { Settings } from '../views/settings';
import type { History } from './history';
import { Keys } from './keys';

interface PagesHost {
  show: (element: HTMLElement) => void;
  quit: (() => void) | null;
  gone: () => void;
  /** Open the file dialog of the browser. */
  choose: () => void;
  /** Open it to choose files that are compared with the trace, or as the trace. */
  compare: (side: 'base' | 'more') => void;
  /** On an upload server, the page of the trace. */
  home: string | null;
  /** Go to the same place with the files shifted in time. */
  move: (place: PageState, files: readonly ChosenFile[]) => void;
  inputs: readonly OpenedInput[];
  /** The same files as an address names them. */
  files: readonly ChosenFile[] | null;
  engineFor: (filter: string) => Engine;
  /** The abilities of the host of the page, whatever the filter. */
  ofHost: Pick<TraceFacts, 'compares' | 'sends' | 'sql'>;
}

/** The page on the screen. */
interface Shown {
  viewer: Viewer;
  page: Page;
  remembered: () => StoredArrangement;
  end: () => void;
}

/** Builds and replaces the pages of a trace. */
export class Pages {
  private shown: Shown | null = null;
  /** The call that the address of the first page names by its id. */
  private linked: CallDetails | null = null;
  /** Identifies the latest filter; answers for older filters are ignored. */
  private asked = 0;
  private readonly openTracks = new OpenTracks();
  private readonly box = new FilterBox((text) => void this.change(text));

  constructor(
    private readonly settings: Settings,
    private readonly frames: Frames,
    private readonly history: History,
    private readonly outside: PagesHost,
  ) {}

  /** End the pages, because another trace replaces this one. */
  end(): void {
    this.asked++;
    this.history.detach();
    this.shown?.end();
    this.shown = null;
  }

  say(text: string): void {
    this.shown?.viewer.say(text);
  }

  /** Compare the trace with these files, each a run of one side. */
  compareWith(files: readonly ChosenFile[], side: 'base' | 'more'): void {
    const viewer = this.shown?.viewer;
    viewer?.[side].set(files.map((file) => [file]));
    viewer?.tab.set('compare');
  }

  wrong(text: string): void {
    this.shown?.viewer.wrong(text);
  }

  /** Show the first page. An address may name a filter, which may be invalid. */
  async open(engine: Engine, facts: TraceFacts, address: string): Promise<void> {
    const place = readAddress(address);
    if (place.filter !== '') await this.arrive(place);
    if (this.shown) return;
    const whole = { ...place, filter: '', tracks: [], expanded: null, call: null, mark: null };
    const wrong = place.filter !== '';
    // A call that the trace does not have is left out, as all that is wrong in a link.
    this.linked = place.slice === null ? null : await engine.sliceOf(place.slice).catch(() => null);
    this.put(engine, facts, '', wrong ? whole : address === '' ? null : place, false);
  }

  /** Go to a place in an address. Its numbers belong to the filter of the address. */
  async arrive(place: PageState): Promise<void> {
    const answer = await this.ask(place.filter);
    if (!answer) return;
    this.put(answer.engine, answer.facts, place.filter, place, false);
    this.box.set(place.filter);
    this.showFilterState(null);
  }

  /** Change the filter and keep the place. */
  private async change(filter: string): Promise<void> {
    const old = this.shown;
    if (!old || filter === old.viewer.filter) {
      this.asked++;
      this.showFilterState(null);
      return;
    }
    const answer = await this.ask(filter);
    if (!answer) return;
    const asked = this.asked;
    const call = old.viewer.call.peek();
    const same = call && (await answer.engine.same(call, old.viewer.filter).catch(() => null));
    if (asked !== this.asked) return;
    const place = untracked(() => old.viewer.place());
    const { openTracks } = this;
    const moved = refilter(place, old.viewer.facts, answer.facts, filter, {
      call: same,
      openTracks,
    });
    this.put(answer.engine, answer.facts, filter, moved, true);
    this.showFilterState(null);
  }

  private async ask(filter: string): Promise<{ engine: Engine; facts: TraceFacts } | null> {
    const asked = ++this.asked;
    const engine = this.outside.engineFor(filter);
    this.box.wait(filter);
    try {
      const facts = { ...(await engine.trace()), ...this.outside.ofHost };
      return asked === this.asked ? { engine, facts } : null;
    } catch (error) {
      if (asked !== this.asked) return null;
      this.showFilterState(error);
      this.history.stay();
      if (error instanceof EngineError && error.gone) this.outside.gone();
      return null;
    }
  }

  /** Show the state of the filter in its box, or why the filter failed. */
  private showFilterState(error: unknown): void {
    const column = error instanceof EngineError ? error.column : null;
    const message = error === null ? null : error instanceof Error ? error.message : String(error);
    this.box.showResult(this.shown?.viewer.facts.filtered ?? null, message, column);
  }

  /**
   * Replace the page by one for another engine or filter. The user keeps the height of the lower
   * panel, the place in the list and what he types.
   */
  private put(
    engine: Engine,
    facts: TraceFacts,
    filter: string,
    place: PageState | null,
    move: boolean,
  ): void {
    const old = this.shown;
    const before = old && move ? old.remembered() : null;
    const lower = old?.page.element.style.getPropertyValue('--lower');
    const scrolled = old?.page.line.tracks.scrollTop ?? 0;
    old?.end();
    const end = ownEffects(() => {
      const { quit, choose, compare, home, inputs, files } = this.outside;
      const viewer = new Viewer(engine, facts, this.frames, filter, files, {
        unit: this.settings.unit,
        clock: this.settings.clock,
      });
      const page = new Page(viewer, this.settings, {
        quit,
        choose,
        compare,
        home,
        inputs,
        unfilter: () => this.box.empty(),
        move: (moved) =>
          this.outside.move(
            untracked(() => viewer.place()),
            moved,
          ),
      });
      if (lower) page.element.style.setProperty('--lower', lower);
      keepTyping(() => {
        page.top.searchInput.closest('label')?.after(this.box.element);
        this.outside.show(page.element);
        if (place) page.views.mover.jump(viewer.goTo(place));
      });
      if (this.linked) beginAtCall(page.views, this.linked);
      this.linked = null;
      const remembered = rememberTracks(viewer, page.line.rows, before);
      this.history.attach(viewer, page.views.mover, move);
      new Keys(page, this.history, this.box);
      effect(() => {
        if (viewer.gone.get()) this.outside.gone();
      });
      this.shown = { viewer, page, remembered, end: () => end() };
      requestAnimationFrame(() => (page.line.tracks.scrollTop = scrolled));
    });
  }
}
