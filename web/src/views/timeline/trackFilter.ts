// SPDX-License-Identifier: Apache-2.0
// Above the labels: a box that filters tracks by name, and the button that shows hidden tracks.

import { h, icon, iconButton, setText } from '../../base/dom';
import { plural } from '../../base/format';
import { effect, type ReadSignal } from '../../base/signal';
import { UNARRANGED } from '../../model/arrangement';
import type { TimelineLayout } from '../../model/layout';
import type { Viewer } from '../../model/viewer';

/** Return the button that shows everything hidden. The button is hidden while nothing else is. */
export function hiddenButton(viewer: Viewer, placed: ReadSignal<TimelineLayout>): HTMLElement {
  const button = h('button', {
    class: 'link',
    attrs: { type: 'button' },
    on: { click: () => viewer.arrangement.update((a) => ({ ...a, hidden: UNARRANGED.hidden })) },
  });
  effect(() => {
    const { hidden } = placed.get();
    button.hidden = hidden === 0;
    setText(button, `${hidden} hidden`);
    button.title = `${plural(hidden, 'track')} hidden: show all`;
  });
  return button;
}

/** Return the filter box, which replaces `words` while it is open. */
export function trackFilter(viewer: Viewer, words: HTMLElement): HTMLElement[] {
  const input = h('input', {
    attrs: {
      ...{
        type: 'text',
        'aria-label': 'Show only tracks whose names contain this text',
        spellcheck: false,
      },
      ...{ placeholder: 'Only tracks with …', autocomplete: 'off' },
    },
  });
  const clear = iconButton('close', 'Show all tracks (Esc)', () => close());
  const box = h('label', { class: 'find track-filter', hidden: true }, icon('lens'), input, clear);
  const open = iconButton('lens', 'Show only some tracks', () => show(true));
  const show = (on: boolean): void => {
    box.hidden = !on;
    open.hidden = on;
    words.hidden = on;
    if (on) input.focus();
  };
  const close = (): void => {
    viewer.only.set('');
    show(false);
    open.focus();
  };
  input.addEventListener('input', () => viewer.only.set(input.value));
  input.addEventListener('keydown', (e) => {
    if (e.key !== 'Escape') return;
    e.stopPropagation();
    close();
  });
  input.addEventListener('blur', () => {
    if (input.value === '') show(false);
  });
  effect(() => {
    const only = viewer.only.get();
    if (input.value !== only) input.value = only;
    if (only !== '' && box.hidden) {
      box.hidden = false;
      open.hidden = words.hidden = true;
    }
    if (only === '' && document.activeElement !== input) show(false);
  });
  return [open, box];
}
