// SPDX-License-Identifier: Apache-2.0
// The transforms of the page as chips that can be removed one by one.

import { fill, h, iconButton } from '../../base/dom';
import { effect } from '../../base/signal';
import { shortened } from '../../base/visible';
import { transformText, type Transform, type TransformWord } from '../../model/transforms';
import type { Viewer } from '../../model/viewer';
import { inTermsOf, wordsFor } from '../../model/words';

const MEANINGS: Record<TransformWord, string> = {
  focus: 'Only its outermost calls and everything inside them',
  callers: 'Only its callers, the direct ones first',
  merge: 'Merged: its self time is in its callers',
  'collapse-package': 'Each chain of calls within it becomes one call',
  drop: 'Dropped with everything inside, and with their time',
};

function chip(viewer: Viewer, transform: Transform, at: number): HTMLElement {
  const words = wordsFor(viewer.facts);
  const text = shortened(transformText(transform, words), 60);
  const title = `${inTermsOf(words, MEANINGS[transform.word])}: ${shortened(transform.name)}`;
  return h(
    'span',
    {
      class: 'chip transform',
      title,
    },
    h('span', null, text),
    iconButton('close', `Undo ${text}`, () => viewer.transforms.remove(at)),
  );
}

/** Return the chips. They are hidden in tabs that are not computed from changed stacks. */
export function transformChips(viewer: Viewer): HTMLElement {
  const chips = h('div', {
    class: 'transforms scroller',
    attrs: { role: 'group', 'aria-label': 'Changes to the stacks' },
  });
  effect(() => {
    const list = viewer.transforms.list.get();
    const tab = viewer.tab.get();
    const within = chips.contains(document.activeElement);
    chips.hidden =
      list.length === 0 || !['profile', 'flame', 'top-down', 'bottom-up'].includes(tab);
    const undo = h(
      'button',
      { class: 'link', attrs: { type: 'button' }, on: { click: () => viewer.transforms.set([]) } },
      'Undo all',
    );
    fill(chips, ...list.map((transform, i) => chip(viewer, transform, i)), list.length > 1 && undo);
    // A removed chip had the focus: the last one gets it, or the tab.
    if (within)
      (
        [...chips.querySelectorAll<HTMLElement>('.chip button')].at(-1) ??
        document.getElementById(`tab-${tab}`)
      )?.focus();
  });
  return chips;
}
