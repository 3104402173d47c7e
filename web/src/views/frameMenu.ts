// SPDX-License-Identifier: Apache-2.0
// The context menu of a frame: in the flame graph, the trees, the profile and the time line. It
// changes the stacks (transforms.ts), or takes the name elsewhere.

import { copyText } from '../base/clipboard';
import { fill, h, listen } from '../base/dom';
import { shortened } from '../base/visible';
import type { Tab } from '../model/address';
import { FlameNames } from '../model/flameNames';
import { isTransformName, MOST_TRANSFORMS, type TransformWord } from '../model/transforms';
import type { Viewer } from '../model/viewer';
import { inTermsOf, wordsFor } from '../model/words';

/** The place at which a menu opens, in pixels of the window. */
export interface MenuPlace {
  x: number;
  y: number;
}

/** Tabs that show transformed stacks. */
const TRANSFORMED: readonly Tab[] = ['profile', 'flame', 'top-down', 'bottom-up'];

/** Tell whether a key opens the menu of what has the focus. */
export function isMenuKey(e: KeyboardEvent): boolean {
  return e.key === 'ContextMenu' || (e.key === 'F10' && e.shiftKey);
}

/** The menu; one for a page. */
export class FrameMenu {
  readonly element = h('div', {
    class: 'menu scroller frame-menu',
    attrs: { role: 'menu', 'aria-label': 'Actions for a function' },
    hidden: true,
  });
  /** The element that had the focus before. */
  private back: Element | null = null;

  constructor(private readonly viewer: Viewer) {
    this.element.addEventListener('keydown', (e) => this.key(e));
    this.element.addEventListener('contextmenu', (e) => e.preventDefault());
    this.element.addEventListener('focusout', (e) => {
      if (e.relatedTarget instanceof Node && !this.element.contains(e.relatedTarget))
        this.close(false);
    });
    listen<PointerEvent>(document, 'pointerdown', (e) => {
      if (!this.element.hidden && !this.element.contains(e.target as Node)) this.close(false);
    });
    listen(window, 'blur', () => this.close(false));
  }

  /** Open the menu of a frame; threads and pseudo frames have none. */
  open(frame: number, at: MenuPlace): void {
    const { viewer, element } = this;
    if (frame < 0 || FlameNames.isThread(frame)) return;
    const { activeElement } = document;
    if (element.hidden) this.back = activeElement;
    fill(element, ...this.items(frame));
    viewer.hover.set(null);
    element.hidden = false;
    const most = { x: innerWidth - element.offsetWidth, y: innerHeight - element.offsetHeight };
    element.style.left = `${Math.max(0, Math.min(at.x, most.x - 4))}px`;
    element.style.top = `${Math.max(0, Math.min(at.y, most.y - 4))}px`;
    this.buttons[0]?.focus();
  }

  private close(refocus: boolean): void {
    if (this.element.hidden) return;
    const { back } = this;
    this.element.hidden = true;
    this.back = null;
    if (refocus && back instanceof HTMLElement && back.isConnected)
      back.focus({ preventScroll: true });
  }

  private get buttons(): HTMLButtonElement[] {
    return [...this.element.querySelectorAll<HTMLButtonElement>('button:not(:disabled)')];
  }

  private items(frame: number): HTMLElement[] {
    const { viewer } = this;
    const { frames } = viewer;
    const name = frames.exact(frame);
    const group = frames.packageOf(frame);
    const full = viewer.transforms.list.peek().length >= MOST_TRANSFORMS;
    const change = (words: string, word: TransformWord, of: string): HTMLElement =>
      this.item(words, full || !isTransformName(of), () => this.transform(word, of));
    return [
      h(
        'div',
        { class: 'head', attrs: { role: 'presentation' } },
        shortened(frames.short(frame), 60),
      ),
      change('Focus on this', 'focus', name),
      change(this.words('Show callers'), 'callers', name),
      change(this.words('Merge into its callers'), 'merge', name),
      ...(group
        ? [
            change(
              `Collapse ${group.library ? 'library' : 'package'} ${shortened(group.name, 40)}`,
              'collapse-package',
              group.name,
            ),
          ]
        : []),
      change(this.words('Drop it with all calls inside'), 'drop', name),
      h('div', { class: 'line', attrs: { role: 'separator' } }),
      this.item('Copy the name', false, () => void this.copy(frames.full(frame))),
      this.item('Search for it', frames.isPackage(frame), () => this.search(frame)),
      this.item('Open in the profile', false, () => {
        viewer.selectFrame(frame);
        viewer.tab.set('profile');
      }),
    ];
  }

  private words(text: string): string {
    return inTermsOf(wordsFor(this.viewer.facts), text);
  }

  private item(text: string, disabled: boolean, act: () => void): HTMLElement {
    return h(
      'button',
      {
        attrs: { type: 'button', role: 'menuitem', disabled },
        tabIndex: -1,
        on: {
          click: () => {
            this.close(true);
            act();
          },
        },
      },
      text,
    );
  }

  /** Change the stacks, and show a tab that is computed from them. */
  private transform(word: TransformWord, name: string): void {
    const { viewer } = this;
    viewer.transforms.add({ word, name });
    if (!TRANSFORMED.includes(viewer.tab.peek())) viewer.tab.set('flame');
  }

  private async copy(name: string): Promise<void> {
    if (!(await copyText(name)))
      this.viewer.wrong('The browser did not let the page copy the name.');
  }

  private search(frame: number): void {
    const { viewer } = this;
    viewer.regex.set(false);
    viewer.search.set(viewer.frames.full(frame));
    viewer.tab.set('search');
  }

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
      // A letter goes to the next entry that begins with it.
      const after = [...buttons.slice(at + 1), ...buttons.slice(0, at + 1)];
      const letter = e.key.toLowerCase();
      after.find((b) => b.textContent.toLowerCase().startsWith(letter))?.focus();
    } else if (!isMenuKey(e)) return;
    e.preventDefault();
  }
}
