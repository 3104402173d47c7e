// SPDX-License-Identifier: Apache-2.0
// The box for a query, which completes names of tables, columns and functions.

import { fill, h, setAttribute } from '../../base/dom';
import { completions, wordBefore, type SqlName } from '../../model/sql';

/** The lines of the box: as many as the query has, from MIN_LINES to MAX_LINES. */
const MIN_LINES = 2;
const MAX_LINES = 10;

let boxes = 0;

/** The query box with its list of names. */
export class SqlBox {
  readonly element: HTMLElement;
  readonly area: HTMLTextAreaElement;
  private readonly list: HTMLElement;
  private offered: SqlName[] = [];
  private chosen = 0;
  private names: readonly SqlName[] | null = null;
  /** Something was written before the names were there. */
  private waits = false;

  /** `askNames` is called once, at the first focus. */
  constructor(
    private readonly act: {
      run: () => void;
      cancel: () => void;
      askNames: () => Promise<readonly SqlName[]>;
    },
  ) {
    const id = `sql-names-${++boxes}`;
    this.area = h('textarea', {
      class: 'mono',
      attrs: {
        'aria-label': 'Query in SQL',
        'aria-autocomplete': 'list',
        'aria-controls': id,
        placeholder: 'select name, count(*), sum(dur) from slice group by name order by 3 desc',
        spellcheck: false,
        autocomplete: 'off',
        rows: MIN_LINES,
      },
    });
    this.list = h('div', {
      ...{ class: 'menu sql-names', id, hidden: true },
      attrs: { role: 'listbox', 'aria-label': 'Names' },
    });
    this.element = h('div', { class: 'sql-box' }, this.area, this.list);
    this.area.addEventListener('focus', () => void this.learn());
    this.area.addEventListener('input', () => {
      this.fit();
      this.offer();
    });
    this.area.addEventListener('blur', () => this.close());
    this.area.addEventListener('click', () => this.close());
    this.area.addEventListener('keydown', (e) => this.key(e));
  }

  get text(): string {
    return this.area.value;
  }

  set text(text: string) {
    if (this.area.value !== text) this.area.value = text;
    this.fit();
    this.close();
  }

  /** Make the box as high as its text, unless the user has given it a height. */
  private fit(): void {
    const { area } = this;
    if (area.style.height !== '') return;
    area.rows = MIN_LINES;
    // Long lines are wrapped; a box that is hidden has no height to compare with.
    const line = parseFloat(getComputedStyle(area).lineHeight);
    const more =
      area.clientHeight > 0
        ? Math.ceil((area.scrollHeight - area.clientHeight) / line)
        : area.value.split('\n').length - MIN_LINES;
    area.rows = Math.min(MAX_LINES, MIN_LINES + Math.max(0, more));
  }

  private async learn(): Promise<void> {
    if (this.names) return;
    this.names = [];
    try {
      this.names = await this.act.askNames();
      if (this.waits && document.activeElement === this.area) this.offer();
    } catch {
      this.names = null; // the next focus tries again
    }
  }

  private offer(): void {
    const { selectionStart, value } = this.area;
    this.offered = completions(this.names ?? [], value, selectionStart);
    this.waits = !this.names?.length;
    this.chosen = 0;
    this.show();
  }

  private show(): void {
    const { id } = this.list;
    this.list.hidden = this.offered.length === 0;
    fill(
      this.list,
      ...this.offered.map(({ name, kind }, i) => {
        const item = h(
          'div',
          { id: `${id}-${i}`, attrs: { role: 'option', 'aria-selected': i === this.chosen } },
          h('span', { class: 'mono' }, name),
          h('span', { class: 'dim' }, kind),
        );
        // The box keeps the focus.
        item.addEventListener('mousedown', (e) => {
          e.preventDefault();
          this.take(i);
        });
        return item;
      }),
    );
    const active = this.offered.length > 0 ? `${id}-${this.chosen}` : null;
    setAttribute(this.area, 'aria-activedescendant', active);
  }

  private close(): void {
    this.waits = false;
    if (this.offered.length === 0) return;
    this.offered = [];
    this.show();
  }

  /** Replace the word before the caret by a name. */
  private take(i: number): void {
    const found = this.offered[i];
    const { selectionStart: caret, value } = this.area;
    if (!found) return;
    const word = wordBefore(value, caret);
    const end = found.kind === 'function' ? `${found.name}(` : found.name;
    this.area.setRangeText(end, caret - word.length, caret, 'end');
    this.close();
  }

  private key(e: KeyboardEvent): void {
    const { length } = this.offered;
    if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) {
      this.close();
      this.act.run();
    } else if (length > 0 && (e.key === 'ArrowDown' || e.key === 'ArrowUp')) {
      this.chosen = (this.chosen + (e.key === 'ArrowDown' ? 1 : length - 1)) % length;
      this.show();
    } else if (length > 0 && (e.key === 'Tab' || e.key === 'Enter')) this.take(this.chosen);
    else if (e.key === 'Escape' && length > 0) this.close();
    else if (e.key === 'Escape') this.act.cancel();
    else return;
    e.preventDefault();
    e.stopPropagation();
  }
}
