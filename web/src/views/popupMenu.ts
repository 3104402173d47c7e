// SPDX-License-Identifier: Apache-2.0
// A menu that opens below a button or at the pointer. All menus of the page behave alike
// (WAI-ARIA's menu pattern): arrow keys go round at the ends, a letter goes to the next entry that
// begins with it, Escape gives the focus back, and a press of the pointer outside closes the menu.
// The menu's owner says what the entries are and do.

import { h, listen, setAttribute } from '../base/dom';

/** The place at which a menu opens, in pixels of the window. */
export interface MenuPlace {
  x: number;
  y: number;
}

/** Tell whether a key opens the menu of what has the focus. */
export function isMenuKey(e: KeyboardEvent): boolean {
  return e.key === 'ContextMenu' || (e.key === 'F10' && e.shiftKey);
}

/** Distance from the edge of the window, and from the button, in CSS pixels. */
const GAP = 4;

/** The menu's element, which its owner fills with buttons. */
export class PopupMenu {
  readonly element: HTMLElement;
  /** The element that had the focus before. */
  private back: Element | null = null;

  /** `button`: opens the menu, and has the focus after it if the element before is gone. */
  constructor(
    label: string,
    look: string,
    private readonly button?: HTMLElement,
  ) {
    this.element = h('div', {
      class: `menu ${look}`.trim(),
      attrs: { role: 'menu', 'aria-label': label },
      hidden: true,
    });
    if (button) {
      setAttribute(button, 'aria-haspopup', 'menu');
      setAttribute(button, 'aria-expanded', false);
    }
    this.element.addEventListener('keydown', (e) => this.key(e));
    listen<PointerEvent>(document, 'pointerdown', (e) => {
      const at = e.target as Node;
      if (!this.element.contains(at) && !button?.contains(at)) this.close(false);
    });
  }

  get isOpen(): boolean {
    return this.element.hidden === false;
  }

  /** Open the filled menu below its button; `within`: the element that holds it from now on. */
  openBelow(button: HTMLElement, within?: Element): void {
    if (within) within.append(this.element);
    else button.after(this.element);
    this.show();
    const box = button.getBoundingClientRect();
    this.element.style.right = `${Math.max(GAP, innerWidth - box.right)}px`;
    this.element.style.top = `${box.bottom + GAP}px`;
    this.focusFirst();
  }

  /** Open the filled menu at a place, or as near to it as the window has room. */
  openAt(at: MenuPlace): void {
    this.show();
    const { style, offsetWidth, offsetHeight } = this.element;
    style.left = `${Math.max(0, Math.min(at.x, innerWidth - offsetWidth - GAP))}px`;
    style.top = `${Math.max(0, Math.min(at.y, innerHeight - offsetHeight - GAP))}px`;
    this.focusFirst();
  }

  private show(): void {
    if (!this.isOpen) this.back = document.activeElement;
    this.element.hidden = false;
    if (this.button) setAttribute(this.button, 'aria-expanded', true);
  }

  focusFirst(): void {
    this.buttons[0]?.focus();
  }

  close(refocus: boolean): void {
    if (!this.isOpen) return;
    const { back, button } = this;
    this.element.hidden = true;
    this.back = null;
    if (button) setAttribute(button, 'aria-expanded', false);
    if (!refocus) return;
    const known = back instanceof HTMLElement && back.isConnected && back !== document.body;
    (known ? back : button)?.focus({ preventScroll: true });
  }

  private get buttons(): HTMLButtonElement[] {
    return [...this.element.querySelectorAll<HTMLButtonElement>('button:not(:disabled)')];
  }

  /** Keys go no further: arrows would move the timeline. */
  private key(e: KeyboardEvent): void {
    const { buttons } = this;
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const to = {
      ArrowDown: at + 1,
      ArrowUp: at < 0 ? -1 : at - 1,
      Home: 0,
      End: -1,
    }[e.key];
    e.stopPropagation();
    if (to !== undefined) buttons.at(to % buttons.length)?.focus();
    else if (e.key === 'Escape' || e.key === 'Tab') this.close(true);
    else if (e.key.length === 1 && !e.ctrlKey && !e.metaKey && e.key !== ' ') {
      const after = [...buttons.slice(at + 1), ...buttons.slice(0, at + 1)];
      const letter = e.key.toLowerCase();
      const starts = (b: HTMLElement): boolean =>
        b.textContent.trim().toLowerCase().startsWith(letter);
      after.find(starts)?.focus();
    } else if (!isMenuKey(e)) return;
    e.preventDefault();
  }
}
