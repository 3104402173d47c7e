// SPDX-License-Identifier: Apache-2.0
// Small controls that several parts of the page share.

import { copyText } from '../base/clipboard';
import { fill, h, icon, type Child } from '../base/dom';
import { screenButton } from '../views/screens';
import type { Context } from './context';
import { messageOf } from './http';
import { agoText, whenText } from './when';

/** Create a link within this page, followed without loading the page again. */
export function internalLink(
  address: string,
  className: string,
  ...children: Child[]
): HTMLElement {
  return h('a', { class: className, attrs: { href: address, 'data-inside': true } }, ...children);
}

const SAID_MS = 2000;

export function copyButton(
  ctx: Pick<Context, 'say'>,
  words: string,
  text: () => string,
  className = '',
): HTMLButtonElement {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const made = screenButton(words, className, () => {
    void copyText(text()).then((copied) => {
      // Keep the width, so that neighbours do not move.
      made.style.minWidth = `${made.offsetWidth}px`;
      const said = copied ? 'Copied' : 'Select the text and copy it';
      fill(made, said);
      ctx.say(said);
      clearTimeout(timer);
      timer = setTimeout(() => fill(made, words), SAID_MS);
    });
  });
  return made;
}

/** Create a formatted time, with its age as tooltip. */
export function timeElement(iso: string): HTMLElement {
  const title = agoText(iso, Date.now());
  return h('time', { title, attrs: { datetime: iso } }, whenText(iso));
}

/** Shows errors next to the control that caused them. */
export class Trouble {
  readonly element = h('p', { class: 'trouble', hidden: true, attrs: { role: 'alert' } });

  show(error: unknown): void {
    fill(this.element, icon('error'), messageOf(error));
    this.element.hidden = false;
  }

  clear(): void {
    this.element.hidden = true;
    fill(this.element);
  }

  /** Run an action and show its error. Resolves to true if it succeeded. */
  async during(work: () => Promise<unknown>): Promise<boolean> {
    this.clear();
    try {
      await work();
      return true;
    } catch (error) {
      this.show(error);
      return false;
    }
  }
}

/** Ask for confirmation in place of a button; a dialog would cover the subject. */
export function confirmInPlace(
  question: string,
  yes: string,
  act: () => void,
  back: () => void,
): HTMLElement {
  const sure = screenButton(yes, 'danger', act);
  const keep = screenButton('Keep', '', back);
  return h(
    'span',
    {
      class: 'asking',
      attrs: { role: 'group', 'aria-label': question },
      on: {
        keydown: (e) => {
          if (e.key !== 'Escape') return;
          e.stopPropagation();
          back();
        },
      },
    },
    h('span', null, question),
    sure,
    keep,
  );
}

/** Create a label or process chip. A click filters the list by it. */
export function filterChip(text: string, title: string, click: () => void): HTMLButtonElement {
  return h('button', { class: 'tag', title, attrs: { type: 'button' }, on: { click } }, text);
}
