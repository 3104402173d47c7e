// SPDX-License-Identifier: Apache-2.0
// The box that finds in the table of the tab that is shown.

import { h, icon, setAttribute, setText } from '../../base/dom';
import { effect, flushEffects } from '../../base/signal';
import type { Viewer } from '../../model/viewer';

/** A table in which something can be found; its texts are worked out from signals. */
export interface Findable {
  /** "3 of 41"; nothing when nothing is looked for. */
  text: () => string;
  miss: () => boolean;
  /** What is looked for has changed. */
  typed: () => void;
  /** Enter and the arrows: to the next, and select it. */
  step: (direction: 1 | -1) => void;
  focus: () => void;
  /** It goes from match to match, and shows only these where that is wanted; others always do. */
  jumps?: boolean;
}

export class FindBox {
  readonly element: HTMLElement;
  /** The switch beside it. */
  readonly only: HTMLElement;
  readonly input: HTMLInputElement;

  constructor(
    private readonly viewer: Viewer,
    /** null: there is nothing to find in. */
    private readonly shown: () => Findable | null,
  ) {
    this.input = h('input', {
      attrs: {
        type: 'text',
        'aria-label': 'Find in table',
        placeholder: 'Find in table',
        spellcheck: false,
        autocomplete: 'off',
      },
    });
    const count = h('span', { class: 'count', attrs: { 'aria-live': 'polite' } });
    this.element = h('label', { class: 'find' }, icon('lens'), this.input, count);
    this.only = h(
      'button',
      {
        class: 'icon-button toggle',
        title: 'Show only lines that have the text, and what they lie under',
        attrs: { type: 'button', 'aria-label': 'Only matches' },
        on: { click: () => viewer.onlyFound.update((on) => !on) },
      },
      icon('funnel'),
    );
    effect(() => setAttribute(this.only, 'aria-pressed', viewer.onlyFound.get()));
    this.input.addEventListener('input', () => {
      viewer.find.set(this.input.value);
      // What is found is worked out before the jump, not in the next microtask.
      flushEffects();
      this.shown()?.typed();
    });
    this.input.addEventListener('keydown', (e) => this.key(e));
    effect(() => {
      const query = viewer.find.get();
      const table = this.shown();
      this.only.hidden = table?.jumps !== true;
      if (this.input.value !== query) this.input.value = query;
      this.element.classList.toggle('miss', query !== '' && table?.miss() === true);
      setText(count, query === '' ? '' : (table?.text() ?? ''));
    });
  }

  private key(e: KeyboardEvent): void {
    if (e.key === 'Escape') {
      if (this.input.value === '') this.shown()?.focus();
      this.viewer.find.set('');
    } else if (e.key === 'Enter' || e.key === 'ArrowDown' || e.key === 'ArrowUp') {
      this.shown()?.step(e.key === 'ArrowUp' || e.shiftKey ? -1 : 1);
    } else return;
    e.preventDefault();
    e.stopPropagation();
  }
}
