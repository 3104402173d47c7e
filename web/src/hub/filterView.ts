// SPDX-License-Identifier: Apache-2.0
// The filters of the list: a text, two days, a label, a process.

import { fill, h, icon, iconButton, setAttribute } from '../base/dom';
import { debounce } from '../base/latest';
import { effect, type ReadSignal } from '../base/signal';
import { singleLine } from './facts';
import { isFiltered, WHOLE_LIST, type ListQuery } from './listQuery';

const TYPING_MS = 200;

type Texts = 'q' | 'since' | 'until' | 'label' | 'process';

/** The filters of the list. */
export class FilterView {
  readonly element: HTMLElement;
  private readonly search = h('input', {
    attrs: {
      type: 'search',
      'aria-label': 'Search traces by name, note, label or process',
      placeholder: 'Search',
      spellcheck: false,
      autocomplete: 'off',
    },
  });
  private readonly since = this.day('since', 'From');
  private readonly until = this.day('until', 'To');
  private readonly chosen = h('span', { class: 'chosen' });
  private readonly clear = h(
    'button',
    { class: 'link', attrs: { type: 'button' }, on: { click: () => this.whole() } },
    'Show all',
  );

  /** True if the user typed something that has not been requested yet. */
  private pending = false;

  constructor(
    private readonly query: ReadSignal<ListQuery>,
    private readonly ask: (query: ListQuery) => void,
  ) {
    const typed = debounce(TYPING_MS, () => this.typed());
    this.search.addEventListener('input', () => {
      this.pending = true;
      typed();
    });
    this.element = h(
      'form',
      {
        class: 'filter',
        attrs: { role: 'search', 'aria-label': 'Traces' },
        on: {
          submit: (e) => {
            e.preventDefault();
            this.typed();
          },
        },
      },
      h(
        'label',
        { class: 'search-box' },
        icon('lens'),
        this.search,
        h('kbd', { attrs: { 'aria-hidden': true } }, '/'),
      ),
      h('label', { class: 'day' }, 'From', this.since),
      h('label', { class: 'day' }, 'To', this.until),
      this.chosen,
      this.clear,
    );
    effect(() => this.show(query.get()));
  }

  focus(): void {
    this.search.focus();
    this.search.select();
  }

  private day(name: 'since' | 'until', words: string): HTMLInputElement {
    const input = h('input', {
      class: 'field',
      attrs: { type: 'date', 'aria-label': words === 'From' ? 'Uploaded from' : 'Uploaded to' },
    });
    input.addEventListener('change', () => this.set(name, input.value));
    return input;
  }

  private typed(): void {
    this.pending = false;
    this.set('q', this.search.value);
  }

  private set(name: Texts, value: string): void {
    const query = this.query.peek();
    if (query[name] !== value) this.ask({ ...query, [name]: value });
  }

  private whole(): void {
    const { sort, down } = this.query.peek();
    this.pending = false;
    this.ask({ ...WHOLE_LIST, sort, down });
    this.search.focus();
  }

  private show(query: ListQuery): void {
    // The typed text is newer than the requested one.
    const theirs = this.pending || (document.activeElement === this.search && query.q !== '');
    if (!theirs) this.search.value = query.q;
    this.since.value = query.since;
    this.until.value = query.until;
    setAttribute(this.since, 'max', query.until || null);
    setAttribute(this.until, 'min', query.since || null);
    this.clear.hidden = !isFiltered(query);
    const one = (name: 'label' | 'process'): HTMLElement | false =>
      query[name] !== '' &&
      h(
        'span',
        { class: 'chip' },
        h('span', null, `${name}: ${singleLine(query[name], 60)}`),
        iconButton('close', `Any ${name}`, () => this.set(name, '')),
      );
    fill(this.chosen, one('label'), one('process'));
  }
}
