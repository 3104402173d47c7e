// SPDX-License-Identifier: Apache-2.0
// Roving focus: of many buttons in a column only one is a stop of Tab, and Up and Down go from one to
// the next.  However many tracks there are, Tab leaves their names at once.

/** Buttons that have a key, in the order in which they are seen. */
const BUTTONS = 'button[data-key]';

export class Roving {
  /** The button the keyboard was on last. */
  private key: string | null = null;

  constructor(private readonly column: HTMLElement) {
    column.addEventListener('focusin', (e) => {
      const key = (e.target as HTMLElement).dataset['key'];
      if (key === undefined) return;
      this.key = key;
      this.refresh();
    });
    column.addEventListener('keydown', (e) => this.keydown(e));
  }

  private buttons(): HTMLElement[] {
    return [...this.column.querySelectorAll<HTMLElement>(BUTTONS)];
  }

  /** The buttons are new ones. */
  refresh(): void {
    const buttons = this.buttons();
    const stop = buttons.find((b) => b.dataset['key'] === this.key) ?? buttons[0];
    for (const button of buttons) button.tabIndex = button === stop ? 0 : -1;
  }

  private keydown(e: KeyboardEvent): void {
    const target = e.target as HTMLElement;
    if (e.altKey || e.ctrlKey || e.metaKey || e.shiftKey) return;
    // Who clicked on a name with the mouse still means the calls by the arrows.
    if (!target.matches(`${BUTTONS}:focus-visible`)) return;
    const buttons = this.buttons();
    const at = buttons.indexOf(target);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[e.key];
    if (to === undefined) return;
    const next = buttons[Math.max(0, Math.min(buttons.length - 1, to))];
    next?.focus({ preventScroll: true });
    next?.closest('[style*="top"]')?.scrollIntoView({ block: 'nearest' });
    e.preventDefault();
    e.stopPropagation();
  }
}
