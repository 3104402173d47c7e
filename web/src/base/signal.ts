// SPDX-License-Identifier: Apache-2.0
// Values that tell who read them when they change.  An effect runs once at once, notes which
// signals it read, and runs again in the next microtask after one of them has changed.

type Runner = { run: () => void; sources: Set<Set<Runner>>; queued: boolean; dead: boolean };

let active: Runner | null = null;
/** What is to be done when that ends which is being made now; null: it lasts as long as the page. */
let owned: (() => void)[] | null = null;
let queue: Runner[] = [];

export interface ReadSignal<T> {
  get(): T;
  /** The value, without becoming a reader. */
  peek(): T;
}

export interface Signal<T> extends ReadSignal<T> {
  set(value: T): void;
  update(change: (old: T) => T): void;
}

function schedule(runner: Runner): void {
  if (runner.queued || runner.dead) return;
  runner.queued = true;
  if (queue.push(runner) === 1) queueMicrotask(flushEffects);
}

/** Run what is waiting now, not in the next microtask. */
export function flushEffects(): void {
  // Effects may set signals; a loop that never settles is a bug and must not hang the page.
  for (let round = 0; queue.length > 0; round++) {
    if (round > 100) throw new Error('effects do not settle');
    const batch = queue;
    queue = [];
    for (const runner of batch) {
      runner.queued = false;
      if (!runner.dead) runner.run();
    }
  }
}

export function signal<T>(initial: T, equal: (a: T, b: T) => boolean = Object.is): Signal<T> {
  let value = initial;
  const readers = new Set<Runner>();
  const set = (next: T): void => {
    if (equal(value, next)) return;
    value = next;
    for (const reader of readers) schedule(reader);
  };
  return {
    get() {
      if (active) {
        readers.add(active);
        active.sources.add(readers);
      }
      return value;
    },
    peek: () => value,
    set,
    update: (change) => set(change(value)),
  };
}

/** Returns the function that ends the effect. */
export function effect(body: () => void): () => void {
  const forget = (): void => {
    for (const readers of runner.sources) readers.delete(runner);
    runner.sources.clear();
  };
  const runner: Runner = {
    sources: new Set(),
    queued: false,
    dead: false,
    run() {
      forget();
      const outer = active;
      active = runner;
      try {
        body();
      } finally {
        active = outer;
      }
    },
  };
  runner.run();
  const end = (): void => {
    runner.dead = true;
    forget();
  };
  onEnd(end);
  return end;
}

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

/** A value worked out from others, and worked out again only when one of them has changed. */
export function computed<T>(work: () => T, equal?: (a: T, b: T) => boolean): ReadSignal<T> {
  let inner: Signal<T> | null = null;
  effect(() => {
    const value = work();
    if (inner) inner.set(value);
    else inner = signal(value, equal);
  });
  const made = inner as Signal<T> | null;
  if (!made) throw new Error('a computed value has no first value');
  return made;
}

/** Run without becoming a reader of anything. */
export function untracked<T>(body: () => T): T {
  const outer = active;
  active = null;
  try {
    return body();
  } finally {
    active = outer;
  }
}
