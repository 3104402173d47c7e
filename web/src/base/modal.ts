// SPDX-License-Identifier: Apache-2.0
// Dialogs and the keyboard's focus.

/**
 * Take the focus off a dialog as soon as it closes. If nothing had the focus before, the browser
 * leaves it on the hidden dialog until the next frame, which would swallow a key pressed meanwhile.
 */
export function letGoWhenClosed(dialog: HTMLDialogElement): void {
  const look = () => {
    const { activeElement } = document;
    if (!dialog.open && activeElement instanceof HTMLElement && dialog.contains(activeElement))
      activeElement.blur();
  };
  new MutationObserver(look).observe(dialog, { attributeFilter: ['open'] });
}
