// SPDX-License-Identifier: Apache-2.0
// Signals: values that notify their readers of changes. @preact/signals-core tracks the readers.
// This module adds two rules: an effect runs at once, and then again in a microtask, once for all
// changes; and an effect ends with its owner, the part of the page that created it.

import * as core from '@preact/signals-core';

/** A value that can be read. Reading it in an effect or computed value subscribes to it. */
export interface ReadSignal<T> {
  get(): T;
  /** Return the value without subscribing. */
  peek(): T;
}

/** A value that can be changed. */
export interface Signal<T> extends ReadSignal<T> {
  set(value: T): void;
  update(change: (old: T) => T): void;
}

type Equal<T> = (a: T, b: T) => boolean;

/** Create a signal; `equal` values do not notify. */
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

/**
 * Create a value derived from others; it is computed when it is read and one of them has changed.
 */
export function computed<T>(work: () => T, equal: Equal<T> = Object.is): ReadSignal<T> {
  let last: { value: T } | null = null;
  const inner = core.computed(() => {
    const value = work();
    if (!last || !equal(last.value, value)) last = { value };
    return last.value;
  });
  return { get: () => inner.value, peek: () => inner.peek() };
}

/** Run without subscribing to anything. */
export const untracked: <T>(body: () => T) => T = core.untracked;

let pendingEffects = new Set<() => void>();

function scheduleEffect(run: () => void): void {
  if (pendingEffects.size === 0) queueMicrotask(flushEffects);
  pendingEffects.add(run);
}

/** Run the pending effects now instead of in the next microtask. */
export function flushEffects(): void {
  // Effects may set signals. A cycle is a bug, but must not hang the page.
  for (let round = 0; pendingEffects.size > 0; round++) {
    if (round > 100) throw new Error('effects do not settle');
    const batch = pendingEffects;
    pendingEffects = new Set();
    for (const run of batch) run();
  }
}

/**
 * Run `body` now, and again after changes of what it read. Return the function that ends the
 * effect.
 */
export function effect(body: () => void): () => void {
  let stop = (): void => undefined;
  let ended = false;
  const run = (): void => {
    if (ended) return;
    stop();
    let told = false;
    // After a change the library calls again at once; that call only schedules the next run.
    stop = core.effect(() => {
      const first = !told;
      told = true;
      if (first) body();
      else scheduleEffect(run);
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

/** Cleanup work of the current owner; null: the page owns it, so it never ends. */
let ownedWork: (() => void)[] | null = null;

/** Register work for the end of the current owner. */
export function onEnd(work: () => void): void {
  ownedWork?.push(work);
}

/** Run `make` as an owner. Return the function that ends it: its effects, and the work of onEnd. */
export function ownEffects(make: () => void): () => void {
  const outer = ownedWork;
  const mine: (() => void)[] = [];
  ownedWork = mine;
  try {
    make();
  } finally {
    ownedWork = outer;
  }
  return () => {
    for (const work of mine.splice(0)) work();
  };
}
