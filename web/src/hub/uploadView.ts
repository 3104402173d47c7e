// SPDX-License-Identifier: Apache-2.0
// The uploads, one line each, with the rejected files and the unfinished uploads of earlier pages.
//
// A line lives as long as its upload: only its texts and buttons change, so that the focus stays. It
// owns its effects, which end with it and not with the list.

import { fill, h, icon, setText, type Child } from '../base/dom';
import { formatBytes, plural } from '../base/format';
import { effect, onEnd, ownEffects, untracked } from '../base/signal';
import { screenButton } from '../views/screens';
import type { Context } from './context';
import { copyButton, internalLink } from './controls';
import { singleLine } from './facts';
import type { Remembered } from './fingerprint';
import { timeLeft } from './rate';
import { traceAddress } from './route';
import type { Phase, Upload } from './upload';
import type { Refused } from './uploads';

const PHASES: Record<Phase, string> = {
  waiting: 'waiting for its turn',
  sending: '',
  resting: '',
  stopped: 'stopped',
  done: 'there',
  cancelled: 'cancelled',
};

/** The update interval of the numbers. Nobody reads faster changes. */
const TICK_MS = 250;

export function uploadShare(upload: Upload): number {
  const { size } = upload.file;
  return size > 0 ? Math.min(1, upload.sent.get() / size) : 1;
}

/** Return "412.6 MB of 980.0 MB, 28.4 MB/s, about 20 s left". */
export function uploadFigures(upload: Upload): string {
  const { size } = upload.file;
  const sent = upload.sent.get();
  const phase = upload.phase.get();
  if (phase === 'done') return formatBytes(size);
  if (phase === 'sending' && sent >= size)
    return `${formatBytes(size)} sent, the server is writing them`;
  const perSecond = phase === 'sending' ? upload.rate.perSecond() : null;
  return [
    `${formatBytes(sent)} of ${formatBytes(size)}`,
    perSecond === null ? PHASES[phase] : `${formatBytes(Math.round(perSecond))}/s`,
    timeLeft(size - sent, perSecond),
  ]
    .filter(Boolean)
    .join(', ');
}

class UploadLine {
  readonly element: HTMLElement;
  readonly end: () => void;
  private readonly bar = h('i', null);
  private readonly figures = h('span', { class: 'figures' });
  private readonly message = h('p', { class: 'message' });
  private readonly actions = h('span', { class: 'actions' });
  private readonly name: string;
  private last = -Infinity;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly ctx: Context,
    private readonly upload: Upload,
  ) {
    this.name = singleLine(upload.file.name);
    const progress = h(
      'div',
      {
        class: 'progress-line',
        attrs: {
          role: 'progressbar',
          'aria-label': `Upload of ${this.name}`,
          'aria-valuemin': 0,
          'aria-valuemax': 100,
        },
      },
      this.bar,
    );
    this.element = h(
      'li',
      { class: 'upload' },
      h('span', { class: 'name', title: this.name }, this.name),
      this.figures,
      this.actions,
      progress,
      this.message,
    );
    this.end = ownEffects(() => {
      effect(() => {
        const percent = uploadShare(upload) * 100;
        this.bar.style.width = `${percent.toFixed(2)}%`;
        progress.setAttribute('aria-valuenow', String(Math.floor(percent)));
        this.update();
      });
      effect(() => {
        const phase = upload.phase.get();
        this.element.dataset['phase'] = phase;
        setText(this.message, upload.message.get());
        untracked(() => this.act(phase));
      });
    });
  }

  /** Show the figures, at most once in TICK_MS while bytes arrive; the last ones always. */
  private update(): void {
    const text = uploadFigures(this.upload);
    const now = performance.now();
    clearTimeout(this.timer);
    if (this.upload.phase.peek() === 'sending' && now - this.last < TICK_MS) {
      this.timer = setTimeout(() => untracked(() => this.update()), TICK_MS);
      return;
    }
    this.last = now;
    setText(this.figures, text);
  }

  /** Show the actions of a phase. The new buttons replace the old ones and inherit the focus. */
  private act(phase: Phase): void {
    const hadFocus = this.actions.contains(document.activeElement);
    const { uploads } = this.ctx;
    const trace = this.upload.trace.peek();
    const cancel = screenButton('Cancel', '', () => void uploads.cancel(this.upload));
    cancel.setAttribute('aria-label', `Cancel the upload of ${this.name}`);
    const parts: Child[] = [];
    if (phase === 'done' && trace !== null) {
      const address = traceAddress(this.ctx.base, trace);
      parts.push(internalLink(address, 'button primary', 'Open its page'));
      parts.push(copyButton(this.ctx, 'Copy address', () => location.origin + address));
      parts.push(screenButton('Clear', '', () => uploads.remove(this.upload)));
    } else if (phase === 'stopped' && this.upload.resumable.peek()) {
      const words = this.upload.sent.peek() > 0 ? 'Continue' : 'Try again';
      parts.push(screenButton(words, 'primary', () => uploads.again(this.upload)));
      parts.push(cancel);
    } else if (phase === 'stopped') {
      parts.push(screenButton('Clear', '', () => void uploads.cancel(this.upload)));
    } else if (phase !== 'cancelled') parts.push(cancel);
    fill(this.actions, ...parts);
    if (hadFocus) this.actions.querySelector<HTMLElement>('a, button')?.focus();
  }
}

/** The list of uploads. */
export class UploadView {
  readonly element = h('section', {
    class: 'uploads',
    hidden: true,
    attrs: { 'aria-label': 'Uploads' },
  });
  private readonly list = h('ul', null);
  private readonly others = h('ul', null);
  private readonly lines = new Map<Upload, UploadLine>();

  constructor(
    private readonly ctx: Context,
    choose: () => void,
  ) {
    this.element.append(this.list, this.others);
    const { uploads } = ctx;
    effect(() => {
      const all = uploads.all.get();
      untracked(() => this.show(all));
    });
    effect(() => {
      const [refused, left] = [uploads.refused.get(), uploads.left.get()];
      fill(
        this.others,
        ...refused.map((one) => this.refusedLine(one)),
        ...left.map(([key, entry]) => this.leftLine(key, entry, choose)),
      );
    });
    effect(() => {
      const count = [uploads.all, uploads.refused, uploads.left].map((list) => list.get().length);
      this.element.hidden = count.every((n) => n === 0);
    });
    onEnd(() => {
      for (const line of this.lines.values()) line.end();
    });
  }

  /**
   * Add and remove lines. A line lasts as long as its upload, so that its buttons keep the focus.
   */
  private show(all: readonly Upload[]): void {
    for (const [upload, line] of this.lines) {
      if (all.includes(upload)) continue;
      line.end();
      line.element.remove();
      this.lines.delete(upload);
    }
    for (const upload of all) {
      if (this.lines.has(upload)) continue;
      const line = new UploadLine(this.ctx, upload);
      this.lines.set(upload, line);
      this.list.append(line.element);
    }
  }

  /** Create the line of a file that was never sent, and why. */
  private refusedLine(refused: Refused): HTMLElement {
    const clear = (): void =>
      this.ctx.uploads.refused.update((all) => all.filter((one) => one !== refused));
    return h(
      'li',
      { class: 'upload', attrs: { 'data-phase': 'stopped' } },
      h('span', { class: 'name' }, singleLine(refused.name)),
      h('span', { class: 'figures' }, 'not sent'),
      h('span', { class: 'actions' }, screenButton('Clear', '', clear)),
      h('p', { class: 'message' }, refused.why),
    );
  }

  /**
   * Create the line of an upload that an earlier visit left. A page cannot open a file again by
   * itself, so the user has to choose it.
   */
  private leftLine(key: string, { name, size }: Remembered, choose: () => void): HTMLElement {
    return h(
      'li',
      { class: 'upload', attrs: { 'data-phase': 'left' } },
      h('span', { class: 'name' }, singleLine(name)),
      h('span', { class: 'figures' }, `${formatBytes(size)}, interrupted`),
      h(
        'span',
        { class: 'actions' },
        screenButton('Choose it again…', 'primary', choose),
        screenButton('Forget', '', () => void this.ctx.uploads.dropLeft(key)),
      ),
      h(
        'p',
        { class: 'message' },
        'Choose or drop the same file again: the upload continues where it stopped.',
      ),
    );
  }
}

/** Create the one-line summary for pages that do not show the uploads. */
export function uploadSummaryLine(ctx: Context): HTMLElement {
  const words = h('span', null);
  const bar = h('i', null);
  const strip = h(
    'aside',
    { class: 'strip', hidden: true, attrs: { 'aria-label': 'Uploads' } },
    icon('open'),
    words,
    internalLink(ctx.base, 'link', 'Show'),
    h('div', { class: 'progress-line', attrs: { 'aria-hidden': true } }, bar),
  );
  effect(() => {
    const active = ctx.uploads.all.get().filter((upload) => upload.active());
    strip.hidden = active.length === 0;
    const size = active.reduce((sum, { file }) => sum + file.size, 0);
    const sent = active.reduce((sum, upload) => sum + upload.sent.get(), 0);
    const part = size > 0 ? (100 * sent) / size : 0;
    bar.style.width = `${part.toFixed(1)}%`;
    setText(words, `Uploading ${plural(active.length, 'file')}, ${Math.floor(part)} %`);
  });
  return strip;
}
