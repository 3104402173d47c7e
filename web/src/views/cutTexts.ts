// SPDX-License-Identifier: Apache-2.0
// Tooltips of texts that end with an ellipsis because their place is too narrow. The style sheet
// decides what is cut, and the width of the window changes it, so the text is measured when the
// pointer comes to it.

import { shortened } from '../base/visible';

/** The number of elements, from the one under the pointer outwards, that may cut the text. */
const NEAR = 3;

function isCut(element: HTMLElement): boolean {
  if (element.scrollWidth <= element.clientWidth) return false;
  return getComputedStyle(element).textOverflow === 'ellipsis';
}

/** Give each text of the page that is cut off a tooltip with all of it, if it has none. */
export function explainCutTexts(page: HTMLElement): void {
  const given = new WeakSet<HTMLElement>();
  page.addEventListener('pointerover', ({ target }) => {
    let element = target instanceof HTMLElement ? target : null;
    for (let i = 0; i < NEAR && element && element !== page; i++, element = element.parentElement) {
      if (given.has(element)) element.removeAttribute('title');
      if (element.closest('[title]')) return;
      if (!isCut(element)) continue;
      element.title = shortened(element.textContent ?? '');
      given.add(element);
      return;
    }
  });
}
