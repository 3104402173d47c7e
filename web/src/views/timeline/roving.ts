// SPDX-License-Identifier: Apache-2.0
// Roving focus: of a column of buttons only one is a tab stop, and Up and Down go to the next one.
// However many tracks there are, one Tab leaves their names.

/** The buttons in the column, in visible order. */
const BUTTONS = 'button[data-key]';

/** Manages the tab stop of a column of buttons. */
export class Roving {
  /** The key of the button that had the focus last. */
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

  /** Restore the tab stop after the buttons were replaced. */
  refresh(): void {
    const buttons = this.buttons();
    const stop = buttons.find((b) => b.dataset['key'] === this.key) ?? buttons[0];
    for (const button of buttons) {
      const index = button === stop ? '0' : '-1';
      if (button.getAttribute('tabindex') !== index) button.setAttribute('tabindex', index);
    }
  }

  /**
   * Move the focus along the labels. Only one of them is in the order of Tab, so that the list is
   * one stop.
   */
  private keydown(e: KeyboardEvent): void {
    const target = e.target as HTMLElement;
    if (e.altKey || e.ctrlKey || e.metaKey || e.shiftKey) return;
    // After a mouse click on a name, the arrow keys still move between calls.
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
