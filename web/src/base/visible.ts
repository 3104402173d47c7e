// SPDX-License-Identifier: Apache-2.0
// Texts of a trace as they may be shown: what is invisible, or turns the reading direction of what
// stands around it, is replaced by a sign.

// C0 and C1 controls, direction marks, embeddings, overrides and isolates, what has no width (but
// the joiners, which scripts and emoji need), the byte-order mark.
const HIDDEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;
const ALL_HIDDEN = new RegExp(HIDDEN.source, 'g');

/** The sign for a control character (U+2400 has pictures of them), else the replacement sign. */
function sign(c: string): string {
  const code = c.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\ufffd';
}

export function visible(text: string): string {
  return HIDDEN.test(text) ? text.replace(ALL_HIDDEN, sign) : text;
}

/** A name of which something is to be seen. */
export function named(text: string): string {
  return /[^\s\u200c\u200d]/.test(text) ? text : '(no name)';
}

/** As much of a text as is read where it may take several lines. */
export function brief(text: string, most = 400): string {
  if (text.length <= most) return text;
  // No half of a pair at the end.
  const end = /[\ud800-\udbff]/.test(text[most - 2] ?? '') ? most - 2 : most - 1;
  return `${text.slice(0, end)}…`;
}

/** A decoded answer with every text in it visible: lists and objects are changed in place. */
export function visibleTexts<T>(value: T): T {
  if (typeof value === 'string') return visible(value) as T;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = visibleTexts<unknown>(value[i]);
  } else if (typeof value === 'object' && value !== null) {
    const members = value as Record<string, unknown>;
    for (const key of Object.keys(members)) members[key] = visibleTexts(members[key]);
  }
  return value;
}
