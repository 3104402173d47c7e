// SPDX-License-Identifier: Apache-2.0
// The box that filters everything (docs/filter.md). It also shows the number of remaining events,
// or the error in the filter.

import { fill, h, icon, iconButton, setText } from '../base/dom';
import { formatCount, plural } from '../base/format';
import { debounce } from '../base/latest';

const REST = 300;
const HINT = 'Show only events that match every term, in all views (Shift+Ctrl+F)';
const WORDS = 'Filter: thread:main -name:init dur>2ms';

/** The filter box. */
export class FilterBox {
  readonly element: HTMLElement;
  private readonly label: HTMLElement;
  private readonly input: HTMLInputElement;
  private readonly share = h('span', { class: 'share', attrs: { role: 'status' } });
  private readonly fault = h('div', { class: 'filter-fault', id: 'filter-fault', hidden: true });
  private readonly clear: HTMLButtonElement;
  /** The requested filter while its answer is pending. */
  private asked: string | null = null;
  /** The last requested filter. */
  private last: string | null = null;
  private readonly rest: () => void;

  constructor(private readonly apply: (text: string) => void) {
    // Enter may have requested the filter already.
    this.rest = debounce(REST, () => {
      if (this.input.value.trim() !== this.last) this.ask();
    });
    this.input = h('input', {
      attrs: {
        type: 'text',
        'aria-label': 'Filter events',
        'aria-describedby': 'filter-fault',
        placeholder: WORDS,
        spellcheck: false,
        autocomplete: 'off',
      },
      on: {
        input: () => {
          this.clear.hidden = this.input.value === '';
          this.rest();
        },
        keydown: (e) => this.key(e),
      },
    });
    this.clear = iconButton('close', 'Clear the filter', () => {
      this.empty();
      this.input.focus();
    });
    this.clear.hidden = true;
    this.fault.setAttribute('role', 'alert');
    const parts = [icon('funnel'), this.input, this.share, this.clear];
    this.label = h('label', { class: 'filter', title: HINT }, ...parts);
    this.element = h('div', { class: 'filter-place' }, this.label, this.fault);
  }

  focus(): void {
    this.input.focus();
    this.input.select();
  }

  /** Set the text, unless the user is typing. */
  set(text: string): void {
    if (this.input.value.trim() !== text) this.input.value = text;
    this.last = text;
    this.clear.hidden = text === '';
  }

  /** Show that the answer is pending. */
  wait(text: string): void {
    if (this.asked === null) this.set(text);
    this.asked = text;
    this.element.classList.add('busy');
  }

  /** Show how many events remain, or the error and its position. */
  showResult(
    left: { slices: number; of: number } | null,
    fault: string | null,
    column: number | null,
  ): void {
    this.asked = null;
    this.element.classList.remove('busy');
    const share =
      fault !== null || !left ? '' : `${formatCount(left.slices)} of ${plural(left.of, 'slice')}`;
    setText(this.share, share);
    this.label.title = share === '' ? HINT : `${share}. ${HINT}`;
    this.element.classList.toggle('wrong', fault !== null);
    this.input.setAttribute('aria-invalid', String(fault !== null));
    this.fault.hidden = fault === null;
    if (fault === null) return fill(this.fault);
    const letters = [...this.input.value];
    const at = column === null ? letters.length : column - 1;
    const marked = h(
      'code',
      { attrs: { 'aria-hidden': true } },
      letters.slice(0, at).join(''),
      h('mark', null, letters.slice(at).join('') || ' '),
    );
    fill(this.fault, marked, h('span', null, fault));
  }

  private ask(): void {
    this.last = this.input.value.trim();
    this.apply(this.last);
  }

  /** Remove the filter. */
  empty(): void {
    this.input.value = '';
    this.clear.hidden = true;
    this.ask();
  }

  private key(e: KeyboardEvent): void {
    if (e.key === 'Enter') this.ask();
    else if (e.key === 'Escape') {
      if (this.input.value === '') this.input.blur();
      else this.empty();
    } else return;
    e.preventDefault();
    e.stopPropagation();
  }
}
