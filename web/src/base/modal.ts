// SPDX-License-Identifier: Apache-2.0
// Dialogs and the keyboard's focus.

/**
 * Makes a dialog let go of the focus as soon as it closes.  Where nothing had the focus before, the
 * browser leaves it on the hidden element until the next frame, and a key that comes in between
 * would be lost there.
 */
export function letGoWhenClosed(dialog: HTMLDialogElement): void {
  const look = () => {
    const { activeElement } = document;
    if (!dialog.open && activeElement instanceof HTMLElement && dialog.contains(activeElement))
      activeElement.blur();
  };
  new MutationObserver(look).observe(dialog, { attributeFilter: ['open'] });
}
