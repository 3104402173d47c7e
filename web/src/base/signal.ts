// SPDX-License-Identifier: Apache-2.0
// Values that tell who read them when they change.  Who reads what is kept by
// @preact/signals-core; here is what the page does otherwise: an effect runs once at once, and
// again in the next microtask, once for all that has changed, and what a part of the page made
// ends with that part.

import * as core from '@preact/signals-core';

export interface ReadSignal<T> {
  get(): T;
  /** The value, without becoming a reader. */
  peek(): T;
}

export interface Signal<T> extends ReadSignal<T> {
  set(value: T): void;
  update(change: (old: T) => T): void;
}

type Equal<T> = (a: T, b: T) => boolean;

export function signal<T>(initial: T, equal: Equal<T> = Object.is): Signal<T> {
  const inner = core.signal(initial);
  const set = (next: T): void => {
    if (!equal(inner.peek(), next)) inner.value = next;
  };
  return {
    get: () => inner.value,
    peek: () => inner.peek(),
    set,
    update: (change) => set(change(inner.peek())),
  };
}

/** A value worked out from others when it is asked for, if one of them has changed since. */
export function computed<T>(work: () => T, equal: Equal<T> = Object.is): ReadSignal<T> {
  let last: { value: T } | null = null;
  const inner = core.computed(() => {
    const value = work();
    if (!last || !equal(last.value, value)) last = { value };
    return last.value;
  });
  return { get: () => inner.value, peek: () => inner.peek() };
}

/** Run without becoming a reader of anything. */
export const untracked: <T>(body: () => T) => T = core.untracked;

let waiting = new Set<() => void>();

function schedule(run: () => void): void {
  if (waiting.size === 0) queueMicrotask(flushEffects);
  waiting.add(run);
}

/** Run the effects that are waiting now, not in the next microtask. */
export function flushEffects(): void {
  // Effects may set signals; a loop that never settles is a bug and must not hang the page.
  for (let round = 0; waiting.size > 0; round++) {
    if (round > 100) throw new Error('effects do not settle');
    const batch = waiting;
    waiting = new Set();
    for (const run of batch) run();
  }
}

/** Returns the function that ends the effect. */
export function effect(body: () => void): () => void {
  let stop = (): void => undefined;
  let ended = false;
  const run = (): void => {
    if (ended) return;
    stop();
    let told = false;
    // The library calls again at once when something changes: that call only asks for the next run.
    stop = core.effect(() => {
      const first = !told;
      told = true;
      if (first) body();
      else schedule(run);
    });
  };
  run();
  const end = (): void => {
    ended = true;
    stop();
  };
  onEnd(end);
  return end;
}

/** What is to be done when that ends which is being made now; null: it lasts as long as the page. */
let owned: (() => void)[] | null = null;

/** To be done when what is being made now comes to its end. */
export function onEnd(work: () => void): void {
  owned?.push(work);
}

/** Makes something.  Returns the function that ends its effects, and does what onEnd was told. */
export function ownEffects(make: () => void): () => void {
  const outer = owned;
  const mine: (() => void)[] = [];
  owned = mine;
  try {
    make();
  } finally {
    owned = outer;
  }
  return () => {
    for (const work of mine.splice(0)) work();
  };
}
