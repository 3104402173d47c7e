// SPDX-License-Identifier: Apache-2.0
// The entry point of the upload server's page: it chooses the screen for the address and draws the
// frame around it.

import { fill, h, iconButton, setText } from '../base/dom';
import { plural } from '../base/format';
import { effect, ownEffects, signal } from '../base/signal';
import { DropTarget, type Dropped } from '../views/files/dropTarget';
import { screenButton } from '../views/screens';
import { Settings } from '../views/settings';
import { Api, type Hub } from './api';
import type { Context, HubScreen } from './context';
import { internalLink, Trouble } from './controls';
import { singleLine } from './facts';
import { Memory } from './fingerprint';
import { ListScreen } from './listScreen';
import { readPath, traceAddress } from './route';
import { TraceScreen } from './traceScreen';
import { Tus } from './tus';
import type { Upload } from './upload';
import { Uploads } from './uploads';
import { uploadSummaryLine } from './uploadView';

/** The retry interval while the server has not described itself. */
const RETRY_MS = 3000;

/** Wait; resolves early when the browser is back online. */
function waitForNetwork(ms: number, abort: AbortSignal): Promise<void> {
  return new Promise((done, failed) => {
    const end = (work: () => void) => (): void => {
      clearTimeout(timer);
      removeEventListener('online', early);
      abort.removeEventListener('abort', stop);
      work();
    };
    const early = end(done);
    const stop = end(() => failed(new DOMException('it was cancelled', 'AbortError')));
    const timer = setTimeout(early, ms);
    addEventListener('online', early);
    abort.addEventListener('abort', stop);
  });
}

/**
 * The page. Its frame stays while screens change:
 *
 *   address --> readPath --> ListScreen or TraceScreen, with its effects ended by the next screen
 *   links inside, Back and Forward --> show(); uploads go on, whatever is on the screen
 */
class HubApp {
  private readonly settings = new Settings();
  private readonly hub = signal<Hub | null>(null);
  private readonly main = h('main', null);
  private readonly trouble = new Trouble();
  private readonly voice = h('div', { class: 'sr-only', attrs: { role: 'status' } });
  private readonly chooser = h('input', {
    hidden: true,
    attrs: { type: 'file', multiple: true, 'aria-label': 'Traces to upload' },
  });
  private readonly ctx: Context;
  private screen: HubScreen | null = null;
  private endScreen: () => void = () => undefined;

  constructor() {
    const { base } = readPath(location.pathname);
    const wire = new Tus(base);
    const memory = new Memory();
    const uploads = new Uploads(
      { wire, memory, now: () => Date.now(), wait: waitForNetwork },
      (upload) => this.ended(upload),
    );
    this.ctx = {
      ...{ base, uploads, api: new Api(base), hub: this.hub },
      again: () => this.again(),
      go: (address) => this.go(address),
      say: (text) => this.say(text),
    };
    this.chooser.addEventListener('change', () => {
      this.send({ files: [...(this.chooser.files ?? [])], folders: [] });
      this.chooser.value = '';
    });
  }

  start(): void {
    const strip = uploadSummaryLine(this.ctx);
    const drop = new DropTarget((dropped) => this.send(dropped), 'Drop to upload');
    document.body.replaceChildren(
      h('a', { class: 'skip', attrs: { href: '#main' } }, 'To the content'),
      this.header(),
      strip,
      this.trouble.element,
      this.main,
      this.chooser,
      drop.element,
      this.voice,
    );
    this.main.id = 'main';
    document.addEventListener('click', (e) => this.clicked(e));
    addEventListener('popstate', () => this.show(false));
    addEventListener('beforeunload', (e) => {
      if (this.ctx.uploads.active() > 0) e.preventDefault();
    });
    addEventListener('pagehide', () => this.ctx.uploads.leave());
    this.show(false);
    void this.begin();
  }

  /** Ask what this user may do, until the server answers; then uploads of an earlier visit go on. */
  private async begin(): Promise<void> {
    try {
      await this.again();
      this.trouble.clear();
      if (this.hub.peek()?.may.upload) void this.ctx.uploads.findLeft();
    } catch (error) {
      this.trouble.show(error);
      setTimeout(() => void this.begin(), RETRY_MS);
    }
  }

  private async again(): Promise<void> {
    this.hub.set(await this.ctx.api.hub());
  }

  private header(): HTMLElement {
    const about = h('span', { class: 'facts' });
    const list = internalLink(this.ctx.base, 'link to-list', 'All traces');
    const fleet = h('a', { class: 'link', attrs: { href: `${this.ctx.base}fleet` } }, 'Fleet');
    const login = h('span', { class: 'contents' });
    fleet.hidden = true;
    effect(() => {
      const hub = this.hub.get();
      if (!hub) return;
      setText(about, hub.name === 'traceview' ? '' : singleLine(hub.name, 60));
      list.hidden = !hub.may.list;
      fleet.hidden = hub.fleet !== true;
      const out = hub.login === 'token' && hub.may.change;
      fill(login, out && screenButton('Log out', '', () => void this.logout()));
    });
    return h(
      'header',
      { class: 'top' },
      internalLink(this.ctx.base, 'home', h('b', null, 'traceview')),
      about,
      list,
      fleet,
      h('span', { class: 'grow' }),
      login,
      iconButton('contrast', 'Light or dark', () => this.settings.toggleShade()),
    );
  }

  private async logout(): Promise<void> {
    const well = await this.trouble.during(async () => {
      await this.ctx.api.logout();
      await this.again();
    });
    if (well) this.say('You are logged out.');
  }

  private say(text: string): void {
    // Clear the text first, so that a repeated message is announced again.
    setText(this.voice, '');
    setTimeout(() => setText(this.voice, text), 50);
  }

  /** Follow links inside without a reload, which would end uploads; leave others to the browser. */
  private clicked(e: MouseEvent): void {
    if (e.defaultPrevented || e.button !== 0 || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey)
      return;
    const link = (e.target as Element).closest<HTMLAnchorElement>('a[data-inside]');
    if (!link) return;
    e.preventDefault();
    this.go(link.pathname + link.search);
  }

  private go(address: string): void {
    history.pushState(null, '', address);
    this.show(true);
    scrollTo(0, 0);
  }

  private show(focus: boolean): void {
    const { trace } = readPath(location.pathname);
    // Effects of the old screen would keep it alive and write into elements that are gone.
    this.endScreen();
    this.endScreen = ownEffects(() => {
      this.screen =
        trace === null
          ? new ListScreen(this.ctx, () => this.chooser.click())
          : new TraceScreen(this.ctx, trace);
    });
    document.body.classList.toggle('at-list', trace === null);
    document.title = trace === null ? 'traceview' : `${this.screen?.title ?? ''} – traceview`;
    fill(this.main, this.screen?.element);
    if (focus) this.screen?.focus();
  }

  private send(chosen: Dropped): void {
    const hub = this.hub.peek();
    if (chosen.files.length + chosen.folders.length === 0) return;
    if (hub && !hub.may.upload) {
      this.trouble.show(new Error('Log in to upload something.'));
      return;
    }
    // The lines of running uploads are on the start page.
    if (readPath(location.pathname).trace !== null) this.go(this.ctx.base);
    this.ctx.uploads.add(chosen, hub?.limits.upload_bytes ?? null);
    const { length } = this.ctx.uploads.refused.peek();
    if (length > 0) this.say(`${plural(length, 'file')} not sent.`);
  }

  private ended(upload: Upload): void {
    const name = singleLine(upload.file.name, 60);
    const phase = upload.phase.peek();
    if (phase === 'stopped') this.say(`The upload of ${name} stopped. ${upload.message.peek()}`);
    if (phase === 'cancelled') this.say(`The upload of ${name} was cancelled.`);
    if (phase !== 'done') return;
    this.say(`${name} is uploaded.`);
    void this.again().catch(() => undefined);
    // A user who sent one file wants to see it; one of several files, or elsewhere, is not led away.
    const trace = upload.trace.peek();
    if (upload.alone && trace !== null && readPath(location.pathname).trace === null) {
      this.ctx.uploads.remove(upload);
      this.go(traceAddress(this.ctx.base, trace));
    }
  }
}

new HubApp().start();
