// SPDX-License-Identifier: Apache-2.0
// Transforms change the stacks that profile, trees and flame graph are computed from
// (docs/transforms.md): which ones there are, in the address, in questions, and in words.

import { signal, untracked } from '../base/signal';
import type { Frames } from './names';
import { inTermsOf, type Words } from './words';

export const TRANSFORM_WORDS = ['focus', 'callers', 'merge', 'collapse-package', 'drop'] as const;
export type TransformWord = (typeof TRANSFORM_WORDS)[number];

/** One change to all stacks, as an option of the command line has it. */
export interface Transform {
  word: TransformWord;
  /** The name of functions, or of a package or library. */
  name: string;
}

/** The engine accepts no more. */
export const MOST_TRANSFORMS = 32;

/** Format a transform for the address: "merge:com.app.Main.run". */
export function writeTransform({ word, name }: Transform): string {
  return `${word}:${name}`;
}

/** Parse transforms; malformed ones are dropped. */
export function readTransforms(texts: readonly string[]): Transform[] {
  const list = texts.flatMap((text) => {
    const colon = text.indexOf(':');
    const word = TRANSFORM_WORDS.find((known) => known === text.slice(0, Math.max(0, colon)));
    const name = text.slice(colon + 1);
    return word && isTransformName(name) ? [{ word, name }] : [];
  });
  return list.slice(0, MOST_TRANSFORMS);
}

/** Tell whether a transform can name it: questions hold no control characters. */
export function isTransformName(name: string): boolean {
  return name !== '' && !/\p{Cc}/u.test(name);
}

/** Return the parameter of questions (docs/view-protocol.md). */
function transformsQuery(list: readonly Transform[]): string {
  const length = (name: string): number => new TextEncoder().encode(name).length;
  return list.map(({ word, name }) => `${word}:${length(name)}:${name}`).join('');
}

const CHIP_WORDS: Record<TransformWord, string> = {
  focus: 'Focus',
  callers: 'Callers',
  merge: 'Merged',
  'collapse-package': 'Collapsed',
  drop: 'Dropped',
};

/** Describe a transform in a few words: "Merged: Main.run". */
export function transformText({ word, name }: Transform, words: Words): string {
  const short = word === 'collapse-package' ? name : withoutPackage(name);
  return `${inTermsOf(words, `${CHIP_WORDS[word]}:`)} ${short}`;
}

/** Return Class.method of a dotted name, without signature; other names stay. */
function withoutPackage(name: string): string {
  return /^(?:[\w$]+[./])*([\w$]+\.[\w$<>]+)(?:\(.*)?$/.exec(name)?.[1] ?? name;
}

/** The transforms of the page, in the order in which they are applied. */
export class Transforms {
  readonly list = signal<readonly Transform[]>([]);

  constructor(private readonly frames: Frames) {}

  set(list: readonly Transform[]): void {
    const now = untracked(() => this.list.get());
    if (transformsQuery(list) === transformsQuery(now)) return;
    // Answers name collapsed packages by frames beyond those of the trace, one for each name.
    const packages = list.filter(({ word }) => word === 'collapse-package');
    this.frames.setPackages([...new Set(packages.map(({ name }) => name))]);
    this.list.set(list);
  }

  add(transform: Transform): void {
    this.set([...this.list.peek(), transform].slice(0, MOST_TRANSFORMS));
  }

  remove(at: number): void {
    this.set(this.list.peek().filter((_, i) => i !== at));
  }

  /** Return the transforms as a parameter of questions; nothing without transforms. */
  scope(): { transforms?: string } {
    const list = this.list.get();
    return list.length > 0 ? { transforms: transformsQuery(list) } : {};
  }
}
