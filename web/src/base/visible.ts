// SPDX-License-Identifier: Apache-2.0
// Safe display of texts from a trace: invisible characters, and those that change the reading
// direction, are replaced by a symbol.

// C0 and C1 controls, direction marks, embeddings, overrides and isolates, zero-width characters
// (except the joiners, which scripts and emoji need), the byte-order mark.
const HIDDEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;
const ALL_HIDDEN = new RegExp(HIDDEN.source, 'g');

/**
 * Return the symbol for a control character (U+2400 onwards), or else the replacement character.
 */
function symbolFor(c: string): string {
  const code = c.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\ufffd';
}

/** Replace invisible characters in a text. */
export function makeVisible(text: string): string {
  return HIDDEN.test(text) ? text.replace(ALL_HIDDEN, symbolFor) : text;
}

/** Return the text, or a placeholder if it has no visible character. */
export function nameOrPlaceholder(text: string): string {
  return /[^\s\u200c\u200d]/.test(text) ? text : '(no name)';
}

/** Cut a text after `most` characters. */
export function shortened(text: string, most = 400): string {
  if (text.length <= most) return text;
  // Do not cut a surrogate pair in half.
  const end = /[\ud800-\udbff]/.test(text[most - 2] ?? '') ? most - 2 : most - 1;
  return `${text.slice(0, end)}…`;
}

/**
 * Replace invisible characters in all texts of a decoded answer. Changes lists and objects in
 * place.
 */
export function visibleTexts<T>(value: T): T {
  if (typeof value === 'string') return makeVisible(value) as T;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = visibleTexts<unknown>(value[i]);
  } else if (typeof value === 'object' && value !== null) {
    const members = value as Record<string, unknown>;
    for (const key of Object.keys(members)) members[key] = visibleTexts(members[key]);
  }
  return value;
}

/** Make the text of several lines visible, and keep its lines. */
export function visibleLines(text: string): string {
  return text.split('\n').map(makeVisible).join('\n');
}
