// SPDX-License-Identifier: Apache-2.0
// Where a pattern matches in a text that the engine found with it, to be underlined.
//
// The engine reads each character once whatever the pattern; a RegExp of the browser may go on
// without end. So only patterns run here that cannot: no group is repeated, and few parts are.

/** Each may match each part of a text: the steps are the length of the text to that power. */
const MOST_REPEATED = 2;
/** Each doubles the steps at worst. */
const MOST_CHOICES = 8;
const LONGEST = 400;

/** null: it may take too long, or is no pattern of the browser's. */
export function quickPattern(pattern: string, matchCase: boolean): RegExp | null {
  const bare = pattern
    .replace(/\\./gsu, 'x')
    .replace(/\[[^\]]*\]/gu, 'x')
    .replaceAll('(?:', '(');
  const count = (what: RegExp): number => bare.match(what)?.length ?? 0;
  if (/\)[*+?{]/u.test(bare)) return null;
  if (count(/[*+{]/gu) > MOST_REPEATED || count(/[?|]/gu) > MOST_CHOICES) return null;
  try {
    return new RegExp(pattern, matchCase ? 'u' : 'iu');
  } catch {
    return null;
  }
}

/**
 * Begin and end of the first match; null: not known. In an excerpt of arguments, "key: value", it
 * may be one of the key or of the value alone.
 */
export function patternAt(
  text: string,
  pattern: string,
  matchCase: boolean,
): [from: number, to: number] | null {
  const quick = quickPattern(pattern, matchCase);
  if (!quick) return null;
  const key = text.indexOf(': ');
  const parts: [number, string][] = [[0, text]];
  if (key >= 0) parts.push([key + 2, text.slice(key + 2)], [0, text.slice(0, key)]);
  for (const [begin, part] of parts) {
    const found = quick.exec(part.slice(0, LONGEST));
    if (found && found[0] !== '') {
      const from = begin + found.index;
      return [from, from + found[0].length];
    }
  }
  return null;
}
