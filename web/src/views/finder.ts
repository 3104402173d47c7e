// SPDX-License-Identifier: Apache-2.0
// A dialog that finds one of many things, such as threads, by a part of its name; Enter chooses it.

import { fill, h, setAttribute, blurWhenClosed } from '../base/dom';
import { plural } from '../base/format';
import { substringMatcher } from '../model/names';

/** Number of names before and after the chosen one that are elements. */
const AROUND = 100;

/** One of the things that can be found: `dim`, which may be empty, is before its name. */
export interface FinderItem {
  dim: string;
  name: string;
  choose: () => void;
}

/** The words of a question: its title, the hint in the empty box, and a word for one thing. */
export interface FinderWords {
  title: string;
  placeholder: string;
  noun: string;
}

/** The dialog; one for a page. */
export class Finder {
  readonly element: HTMLDialogElement;
  private readonly input = h('input', {
    attrs: {
      ...{ type: 'text', role: 'combobox', spellcheck: false },
      ...{ 'aria-controls': 'finder-options', 'aria-expanded': true, 'aria-label': 'Find' },
    },
  });
  private readonly list = h('div', {
    class: 'options scroller',
    id: 'finder-options',
    attrs: { role: 'listbox' },
  });
  private all: readonly FinderItem[] = [];
  private found: readonly FinderItem[] = [];
  private noun = '';
  private at = 0;

  constructor() {
    this.element = h('dialog', { class: 'finder' }, this.input, this.list);
    this.input.addEventListener('input', () => this.show(0));
    blurWhenClosed(this.element);
    this.element.addEventListener('keydown', (e) => this.key(e));
    this.element.addEventListener('click', (e) => {
      const option = (e.target as Element).closest<HTMLElement>('[role=option]');
      if (option) this.choose(Number(option.dataset['at']));
      else if (e.target === this.element) this.element.close();
    });
  }

  /** Open the dialog and offer these things. */
  open({ title, placeholder, noun }: FinderWords, all: readonly FinderItem[]): void {
    this.all = all;
    this.noun = noun;
    for (const part of [this.element, this.input, this.list])
      part.setAttribute('aria-label', title);
    this.input.placeholder = placeholder;
    this.input.value = '';
    this.element.showModal();
    this.show(0);
  }

  private show(at: number): void {
    const { noun } = this;
    const matches = substringMatcher(this.input.value);
    this.found = this.all.filter(({ dim, name }) => matches(dim + name));
    this.at = Math.max(0, Math.min(at, this.found.length - 1));
    const first = Math.max(0, this.at - AROUND);
    const shown = this.found.slice(first, this.at + AROUND);
    const left = this.found.length - first - shown.length;
    fill(
      this.list,
      ...shown.map((thing, i) => this.option(thing, first + i)),
      left > 0 && h('p', { class: 'second' }, `and ${plural(left, noun)} more`),
      this.found.length === 0 && h('p', { class: 'second' }, `No ${noun} has such a name.`),
    );
    const active = this.list.querySelector(`#option-${this.at}`);
    setAttribute(this.input, 'aria-activedescendant', active ? active.id : null);
    active?.scrollIntoView({ block: 'nearest' });
  }

  private option({ dim, name }: FinderItem, at: number): HTMLElement {
    return h(
      'div',
      {
        id: `option-${at}`,
        attrs: {
          ...{ role: 'option', 'aria-selected': at === this.at, 'data-at': at },
          ...{ 'aria-posinset': at + 1, 'aria-setsize': this.found.length },
        },
      },
      dim === '' ? null : h('span', { class: 'dim' }, dim),
      name,
    );
  }

  private choose(at: number): void {
    const chosen = this.found[at];
    this.element.close();
    chosen?.choose();
  }

  private key(e: KeyboardEvent): void {
    e.stopPropagation();
    if (e.key === 'Enter') this.choose(this.at);
    else if (e.key === 'ArrowDown') this.show(this.at + 1);
    else if (e.key === 'ArrowUp') this.show(this.at - 1);
    else return;
    e.preventDefault();
  }
}
