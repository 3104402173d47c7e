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
import { PopupMenu, type MenuPlace } from './popupMenu';

/** Tabs that show transformed stacks. */
const TRANSFORMED: readonly Tab[] = ['profile', 'flame', 'top-down', 'bottom-up'];

/** The menu; one for a page. */
export class FrameMenu {
  private readonly menu = new PopupMenu('Actions for a function', 'scroller frame-menu');
  readonly element = this.menu.element;

  constructor(private readonly viewer: Viewer) {
    this.element.addEventListener('contextmenu', (e) => e.preventDefault());
    this.element.addEventListener('focusout', (e) => {
      if (e.relatedTarget instanceof Node && !this.element.contains(e.relatedTarget))
        this.menu.close(false);
    });
    listen(window, 'blur', () => this.menu.close(false));
  }

  /** Open the menu of a frame; threads and pseudo frames have none. */
  open(frame: number, at: MenuPlace): void {
    const { viewer, menu } = this;
    if (frame < 0 || FlameNames.isThread(frame)) return;
    fill(menu.element, ...this.items(frame));
    viewer.hover.set(null);
    menu.openAt(at);
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
            this.menu.close(true);
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
}
