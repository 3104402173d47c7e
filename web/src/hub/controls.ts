// SPDX-License-Identifier: Apache-2.0
// Small parts that several places of the page share.

import { fill, h, icon, type Child } from '../base/dom';
import { button } from '../views/screens';
import type { Context } from './context';
import { messageOf } from './http';
import { agoText, whenText } from './when';

/** A link within this page: followed without loading it anew. */
export function inside(address: string, className: string, ...children: Child[]): HTMLElement {
  return h('a', { class: className, attrs: { href: address, 'data-inside': true } }, ...children);
}

/** The browser's own way needs a safe connection, which a server in a local network has not. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByHand(text);
  }
}

function copyByHand(text: string): boolean {
  const before = document.activeElement;
  const area = h('textarea', { class: 'sr-only', attrs: { readonly: true, 'aria-hidden': true } });
  area.value = text;
  document.body.append(area);
  area.select();
  let copied = false;
  try {
    copied = document.execCommand('copy');
  } catch {
    // Then the user has to.
  }
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return copied;
}

const SAID_MS = 2000;

export function copyButton(
  ctx: Pick<Context, 'say'>,
  words: string,
  text: () => string,
  className = '',
): HTMLButtonElement {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const made = button(words, className, () => {
    void copyText(text()).then((copied) => {
      // What stands beside it stays where it is.
      made.style.minWidth = `${made.offsetWidth}px`;
      const said = copied ? 'Copied' : 'Select it and copy by hand';
      fill(made, said);
      ctx.say(said);
      clearTimeout(timer);
      timer = setTimeout(() => fill(made, words), SAID_MS);
    });
  });
  return made;
}

/** An instant for reading, with how long ago that is for who rests on it. */
export function timeOf(iso: string): HTMLElement {
  const title = agoText(iso, Date.now());
  return h('time', { title, attrs: { datetime: iso } }, whenText(iso));
}

/** What goes wrong is told where it was asked for. */
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

  /** Does something; what goes wrong is shown.  Resolves to whether it went well. */
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

/** Asks in the place of a button whether it is meant: a dialog would cover what it is about. */
export function asking(
  question: string,
  yes: string,
  act: () => void,
  back: () => void,
): HTMLElement {
  const sure = button(yes, 'danger', act);
  const keep = button('Keep', '', back);
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

/** A label or process; a click on it narrows the list. */
export function chip(text: string, title: string, click: () => void): HTMLButtonElement {
  return h('button', { class: 'tag', title, attrs: { type: 'button' }, on: { click } }, text);
}
