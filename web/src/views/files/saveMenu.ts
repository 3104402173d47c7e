// SPDX-License-Identifier: Apache-2.0
// The menu that saves files. Each entry produces the bytes of one file, which may take a while.

import { download, fill, h, icon, setAttribute, setText } from '../../base/dom';
import { fileName, formatTimeUnit, plural } from '../../base/format';
import { shortened } from '../../base/visible';
import { isAbort } from '../../model/engine';
import type { Redaction, SavedKind } from '../../model/traceFacts';
import { wordsFor } from '../../model/words';
import type { Views } from '../context';
import { PopupMenu } from '../popupMenu';
import { openSendDialog } from './sendDialog';

/** An entry of the menu. */
export interface SaveEntry {
  /** The name in the menu. */
  name: string;
  /** The tooltip. */
  title: string;
  /** The file name extension without the dot. */
  ending: string;
  /** If missing, the entry is always shown. */
  shown?: () => boolean;
  make: (signal: AbortSignal) => Promise<Blob>;
}

const KINDS: Record<SavedKind, Omit<SaveEntry, 'make'>> = {
  trace: { name: 'Method trace', title: 'Calls and their times, as .trace', ending: 'trace' },
  json: { name: 'Trace Event JSON', title: 'All events, for any viewer', ending: 'json' },
  html: {
    name: 'Self-contained HTML',
    title: 'Trace and viewer as one file, for anybody with a browser',
    ending: 'html',
  },
};

/** The redaction settings. They last as long as the page is open, across filters. */
const redaction: Redaction = { names: false, args: false };

const REDACTIONS: Record<keyof Redaction, { name: string; title: string }> = {
  names: {
    name: 'Hash names',
    title: 'Replace all names and texts of a saved trace by hashes; pictures keep them',
  },
  args: {
    name: 'Leave arguments out',
    title: 'A saved trace without arguments, snapshots, stack texts and metadata',
  },
};

/** Return the entries that save the selection as a trace, for each format possible. */
export function traceEntries(v: Views): SaveEntry[] {
  const { engine, facts } = v.viewer;
  return (facts.saves ?? []).map((kind) => ({
    ...KINDS[kind],
    make: (signal) => engine.save(kind, v.viewer.scope(), redaction, signal),
  }));
}

/** Return the file name: "app.trace" as JSON is "app.json", or "app-part.json" with a selection. */
export function savedName(v: Views, ending: string): string {
  const own = redaction.names ? '' : fileName(v.viewer.facts.name);
  const name = own.replace(/(\.(trace|json|html|txt|gz|zip|zst))+$/i, '');
  const { from, tracks } = v.viewer.scope();
  const part = from !== undefined || tracks || v.viewer.filter !== '' ? '-part' : '';
  return `${name || 'trace'}${part}.${ending}`;
}

/** Describe the part of the trace that is saved. */
function savedScope(v: Views): string {
  const { viewer } = v;
  const { from, to, tracks } = viewer.scope();
  const whole = viewer.filter === '' ? 'Whole trace' : 'All that is filtered';
  const time =
    from === undefined || to === undefined
      ? whole
      : `Selection of ${formatTimeUnit(to - from, viewer.unit.peek())}`;
  return tracks ? `${time}, ${plural(tracks.length, wordsFor(viewer.facts).track)}` : time;
}

/** The menu. */
export class SaveMenu {
  readonly button: HTMLButtonElement;
  private readonly label = h('span', null, 'Save');
  private readonly menu: PopupMenu;
  /** The file being produced. */
  private making: { name: string; abort: AbortController } | null = null;

  constructor(
    private readonly v: Views,
    private readonly entries: readonly SaveEntry[],
  ) {
    this.button = h(
      'button',
      {
        class: 'text-button',
        title: 'Save the selection or everything as a file (Ctrl+S)',
        attrs: { type: 'button' },
        hidden: entries.length === 0,
        on: { click: () => this.toggle() },
      },
      icon('save'),
      this.label,
    );
    this.menu = new PopupMenu('Save', 'save-menu', this.button);
  }

  toggle(): void {
    if (this.entries.length === 0) return;
    if (this.menu.isOpen) return this.menu.close(false);
    this.list();
    this.menu.openBelow(this.button);
  }

  /** Fill the menu. One file is made at a time: meanwhile, just cancelling is offered. */
  private list(): void {
    const { making, menu } = this;
    const head = h('div', { class: 'head', attrs: { role: 'presentation' } });
    if (making) {
      setText(head, `Making ${shortened(making.name, 60)}`);
      fill(
        menu.element,
        head,
        this.item('Cancel', '', '', () => making.abort.abort()),
      );
      return;
    }
    setText(head, savedScope(this.v));
    fill(
      menu.element,
      head,
      ...this.entries
        .filter(({ shown }) => shown?.() ?? true)
        .map((entry) =>
          this.item(entry.name, entry.title, `.${entry.ending}`, () => void this.save(entry)),
        ),
      ...this.checks(),
      ...this.others(),
    );
  }

  /** Create the check boxes that redact names and arguments. */
  private checks(): HTMLElement[] {
    const { saves = [], hashes = false } = this.v.viewer.facts;
    if (saves.length === 0) return [];
    const attrs = { role: 'presentation' };
    const head = h('div', { class: 'between', attrs }, 'In a saved trace');
    return [head, ...(hashes ? [this.check('names')] : []), this.check('args')];
  }

  /** Create the entry that sends the original files, which no check box above changes. */
  private others(): HTMLElement[] {
    if (this.v.viewer.facts.sends !== true) return [];
    const title = 'Send the original files of this trace to your upload server';
    const head = h('div', { class: 'between', attrs: { role: 'presentation' } }, 'Original files');
    return [head, this.item('Send to server…', title, '', () => openSendDialog(this.v))];
  }

  /** Create a check box. It leaves the menu open, since it is set before a format is chosen. */
  private check(what: keyof Redaction): HTMLElement {
    const { name, title } = REDACTIONS[what];
    const mark = h('span', { class: 'mark', attrs: { 'aria-hidden': true } });
    const button = h(
      'button',
      { title, attrs: { type: 'button', role: 'menuitemcheckbox' } },
      h('span', null, name),
      mark,
    );
    const show = (): void => {
      setAttribute(button, 'aria-checked', redaction[what]);
      setText(mark, redaction[what] ? '✓' : '');
    };
    button.addEventListener('click', () => {
      redaction[what] = !redaction[what];
      show();
    });
    show();
    return button;
  }

  /**
   * Create an entry. The menu is closed before the entry acts, so that a dialog which it opens
   * keeps the focus.
   */
  private item(name: string, title: string, ending: string, act: () => void): HTMLElement {
    return h(
      'button',
      {
        title,
        attrs: { type: 'button', role: 'menuitem' },
        on: {
          click: () => {
            this.menu.close(true);
            act();
          },
        },
      },
      h('span', null, name),
      ending !== '' && h('span', { class: 'number dim' }, ending),
    );
  }

  /**
   * Make the file and hand it to the browser. The name is fixed at the start: a selection that
   * changes meanwhile is not what is being saved.
   */
  private async save(entry: SaveEntry): Promise<void> {
    const { v } = this;
    const making = { name: savedName(v, entry.ending), abort: new AbortController() };
    this.making = making;
    this.busy(true);
    try {
      const file = await entry.make(making.abort.signal);
      download(making.name, file);
      v.announce(`Saved ${making.name}`);
    } catch (error) {
      if (!isAbort(error)) v.viewer.failed(error);
    } finally {
      this.making = null;
      this.busy(false);
    }
  }

  /**
   * Show that a file is being made, or no longer. A menu that is open is filled anew, and the
   * focus, whose button that removes, goes to the first.
   */
  private busy(busy: boolean): void {
    setText(this.label, busy ? 'Saving…' : 'Save');
    setAttribute(this.button, 'aria-busy', busy);
    if (!this.menu.isOpen) return;
    const within = this.menu.element.contains(document.activeElement);
    this.list();
    if (within) this.menu.focusFirst();
  }
}
