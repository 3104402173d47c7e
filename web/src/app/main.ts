// SPDX-License-Identifier: Apache-2.0
// The page begins here: wait for the trace, then put the page together; and again when other files
// are opened.

import { h } from '../base/dom';
import { fileName } from '../base/format';
import { readAddress, writeAddress, type PageState } from '../model/address';
import { EngineError, type Engine } from '../model/engine';
import { Frames } from '../model/names';
import { sameFiles, writeFiles, type ChosenFile, type LoadingStatus } from '../model/opening';
import { LoadingScreen } from '../views/files/loadingScreen';
import { HelpDialog } from '../views/helpDialog';
import { EmptyScreen, EndedScreen, ErrorScreen, type Screen } from '../views/screens';
import { Settings } from '../views/settings';
import { lookButtons } from '../views/topBar';
import { History } from './history';
import { hostOfPage } from './host';
import { HttpEngine } from './httpEngine';
import { Opener, type Current } from './opener';
import { Pages } from './pages';

const GONE_FILES = 'The files of that address are not there any more: open them again.';
/** How often the reading is looked at: at first often, for what is small is read soon. */
const POLL = 200;
const FIRST_POLL = 40;
const FIRST = 1500;
/** A page that is there stays for so long while what takes its place is read. */
const PATIENCE = 300;

const NO_STATUS: LoadingStatus = {
  ...{ state: 'error', name: '', trace: 0, behind: false, inputs: [], files: [], start: [] },
  ...{ bytes: 0, total_bytes: 0, records: 0 },
};

function wait(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

/** Where to go when the trace is there. */
interface Aim {
  address: string;
  /** It is a move from where the page is now: Back leads there. */
  move: boolean;
}

class App {
  private readonly host = hostOfPage();
  private readonly engine: Engine = new HttpEngine(this.host);
  private readonly settings = new Settings();
  private readonly help = new HelpDialog(this.settings);
  private readonly root = h('div', { class: 'root' });
  private readonly history = new History((place, text) => void this.arrived(place, text));
  private readonly opener = new Opener(this.engine.opening, {
    current: () => this.current(),
    open: (files) => this.open(files, this.plainAddress(files)),
    gone: () => this.ended(false),
  });
  private status = NO_STATUS;
  private loading: LoadingScreen | null = null;
  private pages: Pages | null = null;
  private over = false;
  /** Of several runs the last counts. */
  private turn = 0;
  private running = false;

  private show(...elements: HTMLElement[]): void {
    this.root.replaceChildren(...elements);
  }

  private showScreen(screen: Screen): void {
    this.show(screen.element, this.help.element);
    screen.begin();
  }

  /** Esc is the button Cancel of a reading, wherever the keyboard is. */
  private readonly stopByKey = (e: KeyboardEvent): void => {
    if (e.key !== 'Escape' || !this.loading?.element.isConnected) return;
    if (document.querySelector('dialog[open]')) return;
    if (this.status.home !== undefined) return;
    e.preventDefault();
    void this.cancel();
  };

  private ended(byHand: boolean): void {
    if (this.over && !byHand) return;
    this.over = true;
    this.leave();
    this.showScreen(new EndedScreen(this.status.name, byHand));
  }

  /** Null where there is no program to end. */
  private get quit(): (() => void) | null {
    return this.host.ends ? () => void this.end() : null;
  }

  private async end(): Promise<void> {
    this.over = true;
    try {
      await this.engine.quit();
    } catch {
      // It may end before it has answered; that is what was asked for.
    }
    this.ended(true);
  }

  private tools(): HTMLElement {
    return lookButtons(this.settings, () => this.help.toggle());
  }

  private leave(): void {
    this.pages?.end();
    this.pages = null;
  }

  async start(): Promise<void> {
    document.body.replaceChildren(this.root, ...this.opener.elements);
    document.addEventListener('keydown', this.stopByKey);
    const address = location.hash.slice(1);
    let said = '';
    let first: LoadingStatus | undefined;
    try {
      first = await this.engine.status();
      this.opener.refuses = first.home !== undefined;
      const { files } = readAddress(address);
      if (files && !sameFiles(files, first.inputs)) {
        first = undefined;
        await this.engine.opening.open(files);
      }
    } catch (error) {
      // The files of an old address may be gone: what is open is shown then.
      if (error instanceof EngineError && error.gone) return this.ended(false);
      said = GONE_FILES;
    }
    await this.run({ address, move: false }, said, first);
  }

  /** Shows what is open, or is being read, from now on; `first` if that is known. */
  private async run(aim: Aim, said = '', first?: LoadingStatus): Promise<void> {
    const turn = ++this.turn;
    this.running = true;
    try {
      const status = await this.read(turn, first);
      if (!status || turn !== this.turn || this.over) return;
      if (status.state === 'error') this.showError(status);
      else if (status.state === 'empty') this.showEmpty(said);
      else await this.openPages(status, aim, turn);
    } catch (error) {
      if (this.over || turn !== this.turn) return;
      if (error instanceof EngineError && error.gone) return this.ended(false);
      this.showError({ ...this.status, state: 'error', error: { message: String(error) } });
      throw error; // A fault of the page belongs on the console as well.
    } finally {
      if (turn === this.turn) this.running = false;
    }
  }

  /** Asks until it is read, or cannot be; the screen comes only when that takes a while. */
  private async read(turn: number, first?: LoadingStatus): Promise<LoadingStatus | null> {
    const start = performance.now();
    let screen: LoadingScreen | null = null;
    let known = first;
    for (;;) {
      const status = known ?? (await this.engine.status());
      known = undefined;
      if (turn !== this.turn || this.over) return null;
      this.status = status;
      document.title = status.name ? `${fileName(status.name)} – traceview` : 'traceview';
      if (status.state !== 'loading') return status;
      const now = performance.now();
      if (!screen && (!this.pages || now - start > PATIENCE)) {
        screen = new LoadingScreen(status, this.tools(), () => void this.cancel());
        this.loading = screen;
        this.leave();
        this.showScreen(screen);
      }
      screen?.show(status, now);
      await wait(now - start < FIRST ? FIRST_POLL : POLL);
    }
  }

  private readonly back = async (said: string): Promise<void> => {
    try {
      await this.engine.opening.cancel();
    } catch {
      // The next question tells that nobody answers.
    }
    await this.run({ address: location.hash.slice(1), move: false }, said);
  };

  private cancel(): Promise<void> {
    return this.back(`The reading of ${fileName(this.status.name)} was cancelled.`);
  }

  private showError(status: LoadingStatus): void {
    this.leave();
    const screen = new ErrorScreen(status, this.tools(), {
      choose: this.opener.choose,
      back: () => void this.back(''),
      quit: this.quit,
    });
    this.showScreen(screen);
  }

  private showEmpty(said: string): void {
    this.leave();
    const { example, ends } = this.host;
    const others = this.status.files.filter(({ input }) => input !== example);
    const screen = new EmptyScreen(others, said, this.tools(), {
      example: example === null ? null : `#${this.plainAddress([{ input: example, offset: 0n }])}`,
      alone: !ends,
      choose: this.opener.choose,
      open: ({ input }) => {
        const { offset = 0n } = this.status.start.find((own) => own.input === input) ?? {};
        void this.open([{ input, offset }], this.plainAddress([{ input, offset }]));
      },
      quit: this.quit,
    });
    this.showScreen(screen);
  }

  /** The files as an address has them; null: those that nobody asked for. */
  private named(files: readonly ChosenFile[]): readonly ChosenFile[] | null {
    return sameFiles(files, this.status.start) ? null : files;
  }

  private plainAddress(files: readonly ChosenFile[]): string {
    const named = this.named(files);
    return named ? `files=${writeFiles(named)}` : '';
  }

  private async openPages(status: LoadingStatus, aim: Aim, turn: number): Promise<void> {
    const engineFor = (filter: string): Engine =>
      new HttpEngine(this.host, filter, status.trace, () => this.changed());
    const engine = engineFor('');
    const frames = await engine.frames();
    const facts = await engine.trace();
    if (turn !== this.turn) return;
    const notes = this.host.notesOf(status.inputs);
    facts.metadata.unshift(...notes.map(({ of, text }): [string, string] => [of, text]));
    facts.notes = notes.map(({ text }) => text);
    if (status.reports) facts.saves = [...(facts.saves ?? []), 'html'];
    facts.hashes = status.reports === true;
    // An address whose files are others is not about this trace.
    const asked = readAddress(aim.address).files ?? status.start;
    const fits = sameFiles(asked, status.inputs);
    const address = fits ? aim.address : this.plainAddress(status.inputs);
    const box = this.offsetBoxes().indexOf(document.activeElement);
    this.leave();
    if (aim.move) this.history.push(address);
    else if (!fits) this.history.replace(address);
    this.pages = new Pages(this.settings, new Frames(frames, facts.colours), this.history, {
      show: (element) => this.show(element),
      quit: this.quit,
      gone: () => this.ended(false),
      choose: this.opener.choose,
      move: (place, files) =>
        void this.open(files, writeAddress({ ...place, files: this.named(files) })),
      home: status.home ?? null,
      inputs: status.inputs,
      files: this.named(status.inputs),
      engineFor,
    });
    await this.pages.open(engine, facts, address);
    if (notes.length > 0) this.pages.say(facts.notes.join(' '));
    if (box >= 0) (this.offsetBoxes()[box] as HTMLElement | undefined)?.focus();
  }

  /** Whoever moves one file against another stays in its box. */
  private offsetBoxes(): (Element | null)[] {
    return [...this.root.querySelectorAll('.files .offset')];
  }

  /** Another page has opened something else. */
  private changed(): void {
    if (!this.running && !this.over) void this.run({ address: '', move: false });
  }

  private async current(): Promise<Current | null> {
    const { state, name, inputs } = await this.engine.status();
    return state === 'ready' || state === 'loading' ? { name, files: inputs } : null;
  }

  private async open(files: readonly ChosenFile[], address: string): Promise<void> {
    await this.engine.opening.open(files);
    void this.run({ address, move: true });
  }

  /** Back and Forward, perhaps to other files. */
  private async arrived(place: PageState, address: string): Promise<void> {
    const files = place.files ?? this.status.start;
    if (files.length === 0 || sameFiles(files, this.status.inputs)) {
      await this.pages?.arrive(place);
      return;
    }
    try {
      await this.engine.opening.open(files);
    } catch (error) {
      if (error instanceof EngineError && error.gone) return this.ended(false);
      this.pages?.wrong(GONE_FILES);
      this.history.replace(this.plainAddress(this.status.inputs));
      return;
    }
    await this.run({ address, move: false });
  }
}

void new App().start();
