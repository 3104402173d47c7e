// SPDX-License-Identifier: Apache-2.0
// The entry point of the page. It waits for a trace, builds the page, and builds it again when
// other files are opened.

import { h } from '../base/dom';
import { fileName } from '../base/format';
import { readAddress, writeAddress, type PageState } from '../model/address';
import { writeRuns } from '../model/comparison';
import { EngineError, type Engine } from '../model/engine';
import { Frames } from '../model/names';
import { sameFiles, writeFiles, type ChosenFile, type LoadingStatus } from '../model/opening';
import { LoadingScreen } from '../views/files/loadingScreen';
import { HelpDialog } from '../views/helpDialog';
import { askToQuit, SilenceBar } from '../views/programDialogs';
import { EmptyScreen, EndedScreen, ErrorScreen, type Screen } from '../views/screens';
import { Settings } from '../views/settings';
import { lookButtons } from '../views/topBar';
import { History } from './history';
import { hostOfPage } from './host';
import { HttpEngine } from './httpEngine';
import { Opener, type Current } from './opener';
import { Pages } from './pages';

const SQL_ELSEWHERE =
  'SQL needs the program: open the file with "traceview FILE", or ask in a terminal, ' +
  "traceview sql 'select name, sum(dur) from slice group by name' FILE";
const GONE_FILES = 'The files of that address are no longer open: open them again.';
/**
 * The poll intervals while a trace loads, in ms. The first polls are frequent, because small traces
 * load quickly.
 */
const POLL = 200;
const FIRST_POLL = 40;
const FIRST = 1500;
/** The interval, in ms, at which a program that does not answer is asked again. */
const RETRY = 2000;
/** The interval, in ms, at which a page checks that its program still answers. */
const CHECK = 10_000;
/** An existing page stays this long, in ms, while its replacement loads. */
const PATIENCE = 300;

const NO_STATUS: LoadingStatus = {
  ...{ state: 'error', name: '', trace: 0, inputs: [], files: [], start: [] },
  ...{ bytes: 0, total_bytes: 0, records: 0 },
};

function delay(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

/** The place to show when the trace is loaded. */
interface Aim {
  address: string;
  /** True if Back returns to the current page. */
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
    compare: (files, side) => this.pages?.compareWith(files, side),
    openRuns: (files) => this.openRuns(files),
    gone: () => this.ended(false),
  });
  private status = NO_STATUS;
  /** The files of the trace that was shown last; empty if the page shows none. */
  private shown: readonly ChosenFile[] = [];
  private loading: LoadingScreen | null = null;
  private pages: Pages | null = null;
  /** The bar of a page whose program does not answer. */
  private silence: SilenceBar | null = null;
  private over = false;
  /** Identifies the latest run; older runs stop. */
  private turn = 0;
  private running = false;

  private show(...elements: HTMLElement[]): void {
    this.root.replaceChildren(...elements);
  }

  private showScreen(screen: Screen): void {
    this.show(screen.element, this.help.element);
    screen.begin();
  }

  /** Esc cancels loading, wherever the focus is. */
  private readonly stopByKey = (e: KeyboardEvent): void => {
    if (e.key !== 'Escape' || !this.loading?.element.isConnected) return;
    if (document.querySelector('dialog[open]')) return;
    if (this.status.home !== undefined) return;
    e.preventDefault();
    void this.cancel();
  };

  private ended(byHand: boolean): void {
    if (this.over && !byHand) return;
    if (!byHand && this.pages) return void this.waitForProgram();
    this.over = true;
    this.leave();
    this.showScreen(new EndedScreen(this.status.name, byHand));
  }

  /** Keep the page, say that the program does not answer, and go on once it does. */
  private async waitForProgram(): Promise<void> {
    if (this.silence) return;
    let again = (): void => undefined;
    const bar = new SilenceBar(() => again());
    this.silence = bar;
    document.body.append(bar.element);
    let status: LoadingStatus | null = null;
    while (!status && !this.over) {
      try {
        status = await this.engine.status();
      } catch (error) {
        // After a restart, the address has another token.
        if (error instanceof EngineError && !error.gone) bar.sayOther();
        await Promise.race([delay(RETRY), new Promise<void>((done) => (again = done))]);
      }
    }
    bar.element.remove();
    this.silence = null;
    if (status) await this.follow(status);
  }

  /** Notice that the program has ended, even if the page has no question for it. */
  private watchProgram(): void {
    const check = (): void => {
      if (!this.pages || this.silence || this.over || document.hidden) return;
      // Any failure counts: a program that was started again does not know the address.
      void this.engine.status().catch(() => this.waitForProgram());
    };
    setInterval(check, CHECK);
    document.addEventListener('visibilitychange', check);
  }

  /** Return the action that ends the program, or null if there is none. */
  private get quit(): (() => void) | null {
    return this.host.ends ? () => void this.end() : null;
  }

  private async end(): Promise<void> {
    if (this.pages && !(await askToQuit())) return;
    this.over = true;
    try {
      await this.engine.quit();
    } catch {
      // The program may end before it has answered.
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
    try {
      const latest = await this.engine.status();
      this.opener.refuses = latest.home !== undefined;
      this.status = latest;
      if (this.host.ends && latest.home === undefined) this.watchProgram();
      await this.follow(latest);
    } catch (error) {
      if (error instanceof EngineError && error.gone) return this.ended(false);
      throw error;
    }
  }

  /** Return the files that an address means. */
  private filesOf(address: string): readonly ChosenFile[] {
    return readAddress(address).files ?? this.status.start;
  }

  /** Show the trace of the address. `latest` is the status of any trace if it is known. */
  private async follow(latest: LoadingStatus = this.status): Promise<void> {
    const address = location.hash.slice(1);
    const aim = { address, move: false };
    if (latest.home !== undefined) return this.run(aim, latest.trace, '', latest);
    const files = this.filesOf(address);
    if (files.length > 0 && sameFiles(files, latest.inputs))
      return this.run(aim, latest.trace, '', latest);
    try {
      await this.openFiles(files, aim);
    } catch (error) {
      if (error instanceof EngineError && error.gone) return this.ended(false);
      // The files of an old address may be gone. Show those of the command line instead.
      if (readAddress(address).files === null) throw error;
      this.history.replace('');
      await this.openFiles(this.status.start, { address: '', move: false }, GONE_FILES);
    }
  }

  /** Open files and show their trace from then on; without files, the empty screen. */
  private async openFiles(files: readonly ChosenFile[], aim: Aim, said = ''): Promise<void> {
    const left = this.running ? this.status : null;
    const trace = files.length > 0 ? await this.engine.opening.open(files) : 0;
    // A page waits for one trace only.
    this.turn++;
    if (left?.state === 'loading' && left.trace !== trace)
      await this.engine.opening.cancel(left.trace).catch(() => undefined);
    void this.run(aim, trace, said);
  }

  /** Show trace number `trace` from now on. `first` is its status if it is known. */
  private async run(aim: Aim, trace: number, said: string, first?: LoadingStatus): Promise<void> {
    const turn = ++this.turn;
    this.running = true;
    try {
      const status = trace === 0 ? await this.noTrace() : await this.read(turn, trace, first);
      if (!status || turn !== this.turn || this.over) return;
      if (status.state === 'error') this.showError(status);
      else if (status.state === 'empty') this.showEmpty(said);
      else await this.openPages(status, aim, turn);
    } catch (error) {
      if (this.over || turn !== this.turn) return;
      if (error instanceof EngineError && error.gone) return this.ended(false);
      this.showError({ ...this.status, state: 'error', error: { message: String(error) } });
      throw error; // A bug of the page belongs on the console too.
    } finally {
      if (turn === this.turn) this.running = false;
    }
  }

  /**
   * Poll until the trace is loaded or has failed. Show the loading screen only if that takes a
   * while.
   */
  private async read(
    turn: number,
    trace: number,
    first?: LoadingStatus,
  ): Promise<LoadingStatus | null> {
    const start = performance.now();
    let screen: LoadingScreen | null = null;
    let known = first;
    for (;;) {
      const status = known ?? (await this.engine.status(trace));
      known = undefined;
      if (turn !== this.turn || this.over) return null;
      this.status = status;
      document.title = status.name ? `${fileName(status.name)} – traceview` : 'traceview';
      if (status.state !== 'loading') return status;
      const now = performance.now();
      if (!screen && (!this.pages || now - start > PATIENCE)) {
        screen = new LoadingScreen(status, this.tools(), this.behind, () => void this.cancel());
        this.loading = screen;
        this.leave();
        this.showScreen(screen);
      }
      screen?.show(status, now);
      await delay(now - start < FIRST ? FIRST_POLL : POLL);
    }
  }

  private readonly back = async (said: string): Promise<void> => {
    this.turn++;
    this.running = false;
    try {
      await this.engine.opening.cancel(this.status.trace);
    } catch {
      // The next request reports that the server does not answer.
    }
    const files = this.behind ? this.shown : [];
    await this.openFiles(files, { address: location.hash.slice(1), move: false }, said);
  };

  /** True if the page showed another trace before the one that loads or has failed. */
  private get behind(): boolean {
    return this.shown.length > 0 && !sameFiles(this.shown, this.status.inputs);
  }

  /** Return the state of a page that has no trace. */
  private async noTrace(): Promise<LoadingStatus> {
    const { files, start } = await this.engine.status();
    this.status = { ...NO_STATUS, state: 'empty', files, start };
    this.shown = [];
    document.title = 'traceview';
    return this.status;
  }

  private cancel(): Promise<void> {
    return this.back(`Reading ${fileName(this.status.name)} was cancelled.`);
  }

  private showError(status: LoadingStatus): void {
    this.leave();
    const screen = new ErrorScreen(status, this.tools(), {
      choose: this.opener.choose,
      behind: this.behind,
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
      compare: ends ? () => this.opener.chooseFor('runs') : null,
      open: ({ input }) => {
        const { offset = 0n } = this.status.start.find((own) => own.input === input) ?? {};
        void this.open([{ input, offset }], this.plainAddress([{ input, offset }]));
      },
      quit: this.quit,
    });
    this.showScreen(screen);
  }

  /** Return the files as an address names them; null if nobody asked for these files. */
  private named(files: readonly ChosenFile[]): readonly ChosenFile[] | null {
    return sameFiles(files, this.status.start) ? null : files;
  }

  private plainAddress(files: readonly ChosenFile[]): string {
    const named = this.named(files);
    return named ? `files=${writeFiles(named)}` : '';
  }

  private async openPages(status: LoadingStatus, aim: Aim, turn: number): Promise<void> {
    const engineFor = (filter: string): Engine =>
      new HttpEngine(this.host, filter, status.trace, () => this.closed());
    const engine = engineFor('');
    const frames = await engine.frames();
    const facts = await engine.trace();
    if (turn !== this.turn) return;
    const notes = this.host.notesOf(status.inputs);
    facts.metadata.unshift(...notes.map(({ of, text }): [string, string] => [of, text]));
    facts.notes = notes.map(({ text }) => text);
    if (status.reports) facts.saves = [...(facts.saves ?? []), 'html'];
    facts.hashes = status.reports === true;
    // A page that reads files itself has no database.
    const sql = status.sql ?? (this.host.ends ? undefined : SQL_ELSEWHERE);
    const ofHost = {
      compares: this.compares,
      sends: status.sends === true,
      ...(sql !== undefined && status.home === undefined ? { sql } : {}),
    };
    Object.assign(facts, ofHost);
    // An address with other files is not about this trace.
    const fits = sameFiles(this.filesOf(aim.address), status.inputs);
    const address = fits ? aim.address : this.plainAddress(status.inputs);
    const box = this.offsetBoxes().indexOf(document.activeElement);
    this.leave();
    this.shown = status.inputs;
    if (aim.move) this.history.push(address);
    else if (!fits) this.history.replace(address);
    const byKind = (): boolean => this.settings.byKind.peek();
    this.pages = new Pages(this.settings, new Frames(frames, facts.colours, byKind), this.history, {
      show: (element) => this.show(element),
      quit: this.quit,
      gone: () => this.ended(false),
      choose: this.opener.choose,
      compare: this.opener.chooseFor,
      move: (place, files) =>
        void this.open(files, writeAddress({ ...place, files: this.named(files) })),
      home: status.home ?? null,
      inputs: status.inputs,
      files: this.named(status.inputs),
      engineFor,
      ofHost,
    });
    await this.pages.open(engine, facts, address);
    if (notes.length > 0) this.pages.say(facts.notes.join(' '));
    if (box >= 0) (this.offsetBoxes()[box] as HTMLElement | undefined)?.focus();
  }

  /** Return the offset boxes, so that the focus can stay in one of them. */
  private offsetBoxes(): (Element | null)[] {
    return [...this.root.querySelectorAll('.files .offset')];
  }

  /** Handle that the program has closed the trace for those of other pages: open it again. */
  private closed(): void {
    if (this.running || this.over) return;
    const aim = { address: location.hash.slice(1), move: false };
    this.openFiles(this.status.inputs, aim).catch((error: unknown) => {
      if (error instanceof EngineError && error.gone) this.ended(false);
      else this.pages?.wrong(GONE_FILES);
    });
  }

  /** True if a program serves the page that keeps several traces open. */
  private get compares(): boolean {
    return this.host.ends && this.status.home === undefined;
  }

  private current(): Current | null {
    const { state, name, inputs } = this.status;
    return state === 'ready' || state === 'loading'
      ? { name, files: inputs, compares: state === 'ready' && this.compares }
      : null;
  }

  /** Open the first of the runs of the new version, and let the user choose the base. */
  private async openRuns(files: readonly ChosenFile[]): Promise<void> {
    const [first, ...others] = files.map((file) => [file]);
    if (!first) return;
    const more = others.length > 0 ? `new=${writeRuns(others)}` : '';
    const words = [this.plainAddress(first), more, 'tab=compare'];
    await this.open(first, words.filter((word) => word !== '').join('&'));
  }

  private async open(files: readonly ChosenFile[], address: string): Promise<void> {
    await this.openFiles(files, { address, move: true });
  }

  /** Handle Back and Forward, which may lead to other files. */
  private async arrived(place: PageState, address: string): Promise<void> {
    const files = this.filesOf(address);
    if (this.status.home !== undefined || sameFiles(files, this.status.inputs)) {
      await this.pages?.arrive(place);
      return;
    }
    try {
      await this.openFiles(files, { address, move: false });
    } catch (error) {
      if (error instanceof EngineError && error.gone) return this.ended(false);
      this.pages?.wrong(GONE_FILES);
      this.history.replace(this.plainAddress(this.status.inputs));
    }
  }
}

void new App().start();
