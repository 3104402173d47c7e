// SPDX-License-Identifier: Apache-2.0
// Copies texts, also where the clipboard API is missing.

import { h } from './dom';

/**
 * Copy a text. The clipboard API needs a secure context, which a server in a local network may not
 * have.
 */
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
    // The user has to copy it.
  }
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return copied;
}
