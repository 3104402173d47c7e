// SPDX-License-Identifier: Apache-2.0
// Find the match of a regular expression in a text that the engine found, to underline it.
//
// The engine matches in linear time, but the browser's RegExp may backtrack exponentially. This
// module therefore runs only harmless patterns: no repeated group, and few repetitions.

/** Limit of repetitions: the number of steps is the text length to this power. */
const MOST_REPEATED = 2;
/** Limit of alternatives: each doubles the number of steps in the worst case. */
const MOST_CHOICES = 8;
const LONGEST = 400;

/** Compile a pattern; null: it may take too long, or the browser does not support it. */
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
 * Return begin and end of the first match; null: unknown. In an excerpt of arguments ("key: value")
 * the engine may have matched the key or the value alone.
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
