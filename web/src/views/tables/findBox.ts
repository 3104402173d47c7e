// SPDX-License-Identifier: Apache-2.0
// The box that finds text in the table of the visible tab.

import { h, icon, setAttribute, setText } from '../../base/dom';
import { effect, flushEffects } from '../../base/signal';
import type { Viewer } from '../../model/viewer';

/** A table that can be searched. Its texts are computed from signals. */
export interface Findable {
  /** "3 of 41", or empty if no text is searched. */
  text: () => string;
  miss: () => boolean;
  /** The text changed. */
  typed: () => void;
  /** Go to the next or previous match, and select it. */
  step: (direction: 1 | -1) => void;
  focus: () => void;
  /**
   * True if the box jumps from match to match, and filters only on request. Other tables always
   * filter.
   */
  jumps?: boolean;
}

/** The find box. */
export class FindBox {
  readonly element: HTMLElement;
  /** The switch that filters the table. */
  readonly only: HTMLElement;
  readonly input: HTMLInputElement;

  constructor(
    private readonly viewer: Viewer,
    /** Null if the visible tab cannot be searched. */
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
        title: 'Show only lines that contain the text, and their parents',
        attrs: { type: 'button', 'aria-label': 'Only matches' },
        on: { click: () => viewer.onlyFound.update((on) => !on) },
      },
      icon('funnel'),
    );
    effect(() => setAttribute(this.only, 'aria-pressed', viewer.onlyFound.get()));
    this.input.addEventListener('input', () => {
      viewer.find.set(this.input.value);
      // Compute the results before the jump, not in the next microtask.
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

  /** Step through the lines found; the first Escape empties the box, the second leaves it. */
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
