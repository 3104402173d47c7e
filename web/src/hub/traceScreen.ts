// SPDX-License-Identifier: Apache-2.0
// The page of one trace: facts, pictures, and the link to the viewer. It polls while the server
// reads the trace.
//
// The elements are built once, when the trace arrives for the first time. Later answers only set
// `trace`, and the parts follow that signal; so a text that somebody edits is not replaced by a poll.
// Everything ends with the screen: the request, the timer, and the effects of the parts.

import { fill, h, icon, setText } from '../base/dom';
import { computed, effect, onEnd, ownEffects, signal, untracked } from '../base/signal';
import { screenButton } from '../views/screens';
import type { Trace } from './api';
import type { Context, HubScreen } from './context';
import { copyButton, internalLink, Trouble } from './controls';
import { progressPercent, singleLine, isBeingRead } from './facts';
import { busyThreads, flamesView } from './flamesView';
import { HubError, LOGIN_WANTED, messageOf } from './http';
import { LoginView } from './loginView';
import { traceAddress } from './route';
import { editViews, nameView, noteLine, type Edited } from './traceEdit';
import { factsTable, failedPart, findingsPart, healthPart, traceSummary } from './traceParts';

const FIRST_POLL_MS = 500;
const POLL_MS = 1500;
/** The poll interval after the server did not answer. */
const RETRY_MS = 5000;

/** The page of one trace. */
export class TraceScreen implements HubScreen {
  readonly element = h('div', { class: 'trace-screen' });
  title = 'Trace';
  private readonly trace = signal<Trace | null>(null);
  private readonly trouble = new Trouble();
  private readonly base: string;
  private readonly abort = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private endParts: () => void = () => undefined;
  /** Polls so far. The first few come faster, because small traces are soon read. */
  private polls = 0;
  /** The heading does not exist yet; it takes the focus once it is built. */
  private wantsFocus = false;

  constructor(
    private readonly ctx: Context,
    private readonly id: string,
  ) {
    this.base = traceAddress(ctx.base, id);
    onEnd(() => {
      this.abort.abort();
      clearTimeout(this.timer);
      this.endParts();
    });
    let could: boolean | null = null;
    effect(() => {
      const hub = ctx.hub.get();
      const may = hub && hub.may.change;
      // After a login or logout more or less may be visible.
      if (may !== could) untracked(() => void this.load());
      could = may;
    });
  }

  focus(): void {
    const heading = this.element.querySelector<HTMLElement>('h1');
    this.wantsFocus = heading === null;
    heading?.focus();
  }

  private async load(): Promise<void> {
    clearTimeout(this.timer);
    try {
      this.arrived(await this.ctx.api.trace(this.id, this.abort.signal));
    } catch (error) {
      if (this.abort.signal.aborted) return;
      this.failed(error);
    }
  }

  private later(ms: number): void {
    if (!this.abort.signal.aborted) this.timer = setTimeout(() => void this.load(), ms);
  }

  private arrived(trace: Trace): void {
    const before = this.trace.peek();
    this.trace.set(trace);
    this.title = singleLine(trace.name, 80);
    document.title = `${this.title} – traceview`;
    this.trouble.clear();
    if (!before) this.build();
    if (before && isBeingRead(before) && !isBeingRead(trace))
      this.ctx.say(trace.state === 'ready' ? 'The trace is read.' : 'The trace could not be read.');
    if (isBeingRead(trace)) this.later(this.polls++ < 4 ? FIRST_POLL_MS : POLL_MS);
  }

  /**
   * Show that the trace could not be read. While there is an older answer, that stays; a trace that
   * is not there is not asked for again.
   */
  private failed(error: unknown): void {
    if (this.trace.peek()) {
      this.trouble.show(error);
      return this.later(RETRY_MS);
    }
    const login = error instanceof HubError && error.status === LOGIN_WANTED;
    const absent = error instanceof HubError && error.absent;
    const words = absent
      ? 'There is no trace at this address. It may have been deleted, or it has expired.'
      : login
        ? 'Log in to see this trace.'
        : messageOf(error);
    const title = absent ? 'No such trace' : login ? 'Log in' : 'The trace cannot be shown';
    this.endParts();
    this.endParts = ownEffects(() => {
      fill(
        this.element,
        h('h1', { tabIndex: -1 }, title),
        h('p', { class: 'second', attrs: { role: 'alert' } }, words),
        login && new LoginView(this.ctx).element,
        h('p', null, internalLink(this.ctx.base, 'link', 'To the list of traces')),
      );
    });
    if (!absent && !login) this.later(RETRY_MS);
  }

  private build(): void {
    const trace = computed((): Trace => this.trace.get() ?? throwMissing());
    const edited: Edited = {
      ctx: this.ctx,
      trace,
      may: computed(() => this.ctx.hub.get()?.may.change === true),
      change: (change, said) =>
        this.trouble.during(async () => {
          this.arrived(await this.ctx.api.change(this.id, change));
          this.ctx.say(said);
        }),
      remove: () =>
        this.trouble.during(async () => {
          await this.ctx.api.remove(this.id);
          this.ctx.say(`${singleLine(trace.peek().name, 60)} was deleted.`);
          this.ctx.go(this.ctx.base);
        }),
    };
    this.endParts();
    this.endParts = ownEffects(() => this.parts(edited));
    if (this.wantsFocus) this.focus();
  }

  private parts(edited: Edited): void {
    const head = h('div', { class: 'head' });
    const main = h('div', { class: 'pictures' });
    const side = h('div', { class: 'told' });
    fill(
      this.element,
      h(
        'div',
        { class: 'trace-top' },
        nameView(edited),
        noteLine(edited),
        head,
        this.trouble.element,
      ),
      h(
        'div',
        { class: 'columns' },
        main,
        h('aside', { attrs: { 'aria-label': 'About this trace' } }, side, ...editViews(edited)),
      ),
    );
    // Draw the pictures again only if the trace has changed, not at every poll.
    let told = '';
    effect(() => {
      const {
        labels: _,
        note: __,
        pinned: ___,
        expires: ____,
        name: _____,
        ...rest
      } = edited.trace.get();
      const text = JSON.stringify(rest);
      if (text === told) return;
      told = text;
      untracked(() => this.show(edited.trace.peek(), head, main, side));
    });
  }

  /** Offer to read the trace again: a newer server may understand more, or have more memory now. */
  private readAgain(): HTMLElement {
    const again = screenButton('Read it again', 'large', () => {
      void this.trouble.during(async () => this.arrived(await this.ctx.api.readAgain(this.id)));
    });
    again.hidden = this.ctx.hub.peek()?.may.change !== true;
    return again;
  }

  private show(trace: Trace, head: HTMLElement, main: HTMLElement, side: HTMLElement): void {
    const { base, ctx } = this;
    const viewer = `${base}view/`;
    const ready = trace.state === 'ready';
    const drawn = ready && busyThreads(trace).length > 0;
    const link = (path: string, words: string, className = 'link'): HTMLElement =>
      h('a', { class: className, attrs: { href: base + path } }, words);
    fill(
      head,
      traceSummary(trace),
      h(
        'div',
        { class: 'actions' },
        ready && link('view/', 'Open in the viewer', 'button primary large'),
        drawn && link('flamegraph.svg', 'Flame graph', 'button large'),
        trace.state === 'failed' && link('file', 'Download the original', 'button primary large'),
        trace.state === 'failed' && this.readAgain(),
        copyButton(ctx, 'Copy address', () => location.origin + base, 'large'),
        h(
          'span',
          { class: 'links' },
          drawn && link('view/#tab=flame', 'Flame graph in the viewer'),
          drawn && link('collapsed.txt', 'Collapsed stacks'),
          ready && ctx.hub.peek()?.reports && link('report.html', 'Self-contained HTML'),
          trace.state !== 'failed' && link('file', 'Original file'),
        ),
      ),
    );
    if (ready) fill(main, ...flamesView(base, trace));
    else fill(main, trace.state === 'failed' ? failedPart(trace) : readingPart(trace));
    fill(
      side,
      ready && findingsPart(trace.findings, viewer),
      ready && healthPart(trace.health, viewer),
      h(
        'section',
        { attrs: { 'aria-labelledby': 'facts' } },
        h('h2', { id: 'facts' }, 'Facts'),
        factsTable(trace, ctx.base),
      ),
    );
  }
}

function throwMissing(): never {
  throw new Error('the trace is not loaded yet');
}

function readingPart(trace: Trace): HTMLElement {
  const part = progressPercent(trace.progress);
  const words = trace.state === 'waiting' ? 'Waiting for its turn' : 'Reading the trace';
  const bar = h('i', null);
  bar.style.width = `${part ?? 0}%`;
  const text = h('h2', null, icon('open'));
  text.append(part === null ? words : `${words}, ${part} %`);
  const line = h(
    'div',
    { class: 'progress-line', attrs: { role: 'progressbar', 'aria-label': words } },
    bar,
  );
  if (part !== null) line.setAttribute('aria-valuenow', String(part));
  const note = h('p', { class: 'second' });
  setText(note, 'The pictures will appear here. You can share the address already.');
  return h('section', { class: 'reading' }, text, line, note);
}
