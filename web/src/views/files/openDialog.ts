// SPDX-License-Identifier: Apache-2.0
// The dialog between choosing and loading files. It asks what to do with the open trace, and shows
// the progress and errors of the upload.

import { fill, h, icon, setText, blurWhenClosed } from '../../base/dom';
import { formatBytes, plural } from '../../base/format';
import { shortened, makeVisible } from '../../base/visible';
import type { ErrorKind, OpeningMode } from '../../model/opening';
import { remedyFor } from './remedy';
import { screenButton } from '../screens';

/** The time in ms over which the rate is measured. */
const WINDOW = 2000;

/** Return "app.trace" or "app.trace and 2 more files". */
export function filesWords(names: readonly string[]): string {
  const [first = ''] = names;
  const more = names.length - 1;
  const shown = shortened(makeVisible(first), 120);
  return more > 0 ? `${shown} and ${plural(more, 'more file', 'more files')}` : shown;
}

/** The dialog. */
export class OpenDialog {
  readonly element = h('dialog', { class: 'open-dialog' });
  private readonly body = h('div', { class: 'open-body' });
  /** Called by Esc, or when the dialog closes in any other way than by its buttons. */
  private closed: () => void = () => undefined;
  private recent: { at: number; bytes: number }[] = [];

  constructor() {
    this.element.append(this.body);
    this.element.addEventListener('cancel', (e) => {
      e.preventDefault();
      this.closed();
    });
    // Keep keys from the page, and Ctrl+O from the browser, while the dialog is open.
    blurWhenClosed(this.element);
    this.element.addEventListener('keydown', (e) => {
      if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === 'o') e.preventDefault();
      e.stopPropagation();
    });
  }

  get open(): boolean {
    return this.element.open;
  }

  close(): void {
    this.element.close();
  }

  private show(label: string, closed: () => void, ...content: (Node | false)[]): void {
    this.closed = closed;
    fill(this.body, ...content);
    this.element.setAttribute('aria-label', label);
    if (!this.element.open) this.element.showModal();
    this.body.querySelector<HTMLElement>('.primary, .button')?.focus();
  }

  /** Ask what to do with the open trace; null means that nothing shall be opened. */
  ask(names: readonly string[], open: string, compares: boolean): Promise<OpeningMode | null> {
    return new Promise((answered) => {
      const answer = (how: OpeningMode | null) => () => {
        this.close();
        answered(how);
      };
      this.show(
        'Open files',
        answer(null),
        h('h1', null, `Open ${filesWords(names)}`),
        h('p', null, `${shortened(open, 120)} is open.`),
        h(
          'div',
          { class: 'choices' },
          screenButton('Open instead', 'primary', answer('instead')),
          h('span', null, 'replaces the trace that is open; Back returns to it'),
          screenButton('Add to this trace', '', answer('beside')),
          h('span', null, 'together on one time line; Info moves one against the other'),
          ...(compares
            ? [
                screenButton('Compare with it', '', answer('compare')),
                h('span', null, 'the open trace is the new version, these files are the old one'),
              ]
            : []),
        ),
        h('div', { class: 'actions' }, screenButton('Cancel', '', answer(null))),
      );
    });
  }

  /** Show the upload. Return the function that reports its progress in bytes. */
  taking(names: readonly string[], total: number, cancel: () => void): (bytes: number) => void {
    const bar = h('i', null);
    const progress = h(
      'div',
      { class: 'bar', attrs: { role: 'progressbar', 'aria-label': 'Adding' } },
      bar,
    );
    const figures = h('p', { class: 'second' }, '\u00a0');
    this.recent = [];
    this.show(
      'Adding files',
      cancel,
      h('h1', null, `Adding ${filesWords(names)}`),
      progress,
      figures,
      h('div', { class: 'actions' }, screenButton('Cancel', '', cancel)),
    );
    return (bytes) => {
      const share = total > 0 ? bytes / total : 1;
      bar.style.width = `${(share * 100).toFixed(1)}%`;
      progress.setAttribute('aria-valuenow', String(Math.floor(share * 100)));
      const rate = this.rate(bytes, performance.now());
      const speed = rate > 0 ? `, ${formatBytes(rate)} a second` : '';
      setText(figures, `${formatBytes(bytes)} of ${formatBytes(total)}${speed}`);
    };
  }

  private rate(bytes: number, now: number): number {
    this.recent = this.recent.filter((past) => past.at > now - WINDOW);
    this.recent.push({ at: now, bytes });
    const [first = { at: now, bytes }] = this.recent;
    const seconds = (now - first.at) / 1000;
    return seconds > 0.2 ? Math.round((bytes - first.bytes) / seconds) : 0;
  }

  failed(name: string, message: string, kind: ErrorKind): void {
    const close = (): void => this.close();
    this.show(
      'Files could not be opened',
      close,
      h('h1', null, icon('error'), `${shortened(makeVisible(name), 120)} could not be opened`),
      h('p', { attrs: { role: 'alert' } }, message),
      h('p', null, remedyFor(kind, message)),
      h('div', { class: 'actions' }, screenButton('Close', 'primary', close)),
    );
  }
}
