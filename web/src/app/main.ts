// SPDX-License-Identifier: Apache-2.0
// The page begins here: wait for the trace, then put the page together.

import { h } from '../base/dom';
import { fileName } from '../base/format';
import { EngineError, type Engine, type Status } from '../model/engine';
import { Frames } from '../model/names';
import { HelpDialog } from '../views/helpDialog';
import { EndedScreen, ErrorScreen, LoadingScreen } from '../views/screens';
import { Settings } from '../views/settings';
import { lookButtons } from '../views/topBar';
import { HttpEngine } from './httpEngine';
import { Pages } from './pages';

const POLL = 200;
const NO_STATUS: Omit<Status, 'name'> = { state: 'error', bytes: 0, total_bytes: 0, records: 0 };

function wait(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

class App {
  private readonly engine: Engine = new HttpEngine();
  private readonly settings = new Settings();
  private readonly help = new HelpDialog(this.settings);
  private name = '';
  private ended = false;

  private readonly quit = async (): Promise<void> => {
    this.ended = true;
    try {
      await this.engine.quit();
    } catch {
      // It may end before it has answered; that is what was asked for.
    }
    this.show(new EndedScreen(this.name, true).element);
  };

  private show(...elements: HTMLElement[]): void {
    document.body.replaceChildren(...elements);
  }

  async start(): Promise<void> {
    try {
      const status = await this.load();
      if (!status || this.ended) return;
      if (status.state === 'error') return this.showError(status);
      await this.open();
    } catch (error) {
      if (this.ended) return;
      if (error instanceof EngineError && error.gone)
        return this.show(new EndedScreen(this.name, false).element);
      this.showError({ ...NO_STATUS, name: this.name, error: { message: String(error) } });
      throw error; // A fault of the page belongs on the console as well.
    }
  }

  private showError(status: Status): void {
    const tools = lookButtons(this.settings, () => this.help.toggle());
    const screen = new ErrorScreen(status, tools, () => void this.quit());
    this.show(screen.element, this.help.element);
  }

  /** Ask until it is read, or cannot be; the screen comes only when that takes a while. */
  private async load(): Promise<Status | null> {
    let screen: LoadingScreen | null = null;
    for (;;) {
      const status = await this.engine.status();
      this.name = status.name;
      document.title = `${fileName(status.name)} – traceview`;
      if (status.state !== 'loading') return status;
      if (!screen) {
        screen = new LoadingScreen(
          status.name,
          lookButtons(this.settings, () => this.help.toggle()),
          () => void this.quit(),
        );
        this.show(screen.element, this.help.element);
      }
      screen.show(status, performance.now());
      await wait(POLL);
      if (this.ended) return null;
    }
  }

  private async open(): Promise<void> {
    const frames = await this.engine.frames();
    const facts = await this.engine.trace();
    const pages = new Pages(this.settings, new Frames(frames, facts.colours), {
      show: (element) => this.show(element),
      quit: () => void this.quit(),
      gone: () => {
        if (!this.ended) this.show(h('div', null), new EndedScreen(this.name, false).element);
      },
    });
    await pages.open(this.engine, facts, location.hash.slice(1));
  }
}

void new App().start();
