// SPDX-License-Identifier: Apache-2.0
// Values that tell who read them.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { computed, effect, flushEffects, signal, untracked } from '../src/base/signal';

test('an effect runs at once, and once for many changes', () => {
  const a = signal(1);
  const b = signal(10);
  const seen: number[] = [];
  effect(() => {
    seen.push(a.get() + b.get());
  });
  a.set(2);
  b.set(20);
  flushEffects();
  assert.deepEqual(seen, [11, 22]);
});

test('an equal value notifies nobody', () => {
  const a = signal({ n: 1 }, (x, y) => x.n === y.n);
  let runs = 0;
  effect(() => {
    a.get();
    runs++;
  });
  a.set({ n: 1 });
  flushEffects();
  assert.equal(runs, 1);
});

test('a signal that an effect no longer reads does not run it', () => {
  const which = signal(true);
  const a = signal(1);
  let runs = 0;
  effect(() => {
    runs++;
    if (which.get()) a.get();
  });
  which.set(false);
  flushEffects();
  a.set(2);
  flushEffects();
  assert.equal(runs, 2);
});

test('a computed value passes on only real changes', () => {
  const a = signal(1);
  const even = computed(() => a.get() % 2 === 0);
  const seen: boolean[] = [];
  effect(() => {
    seen.push(even.get());
  });
  a.set(3);
  flushEffects();
  a.set(4);
  flushEffects();
  assert.deepEqual(seen, [false, true]);
});

test('a computed value is never older than its inputs', () => {
  const a = signal(1);
  const twice = computed(() => a.get() * 2);
  const both: [number, number][] = [];
  effect(() => {
    both.push([a.get(), twice.get()]);
  });
  a.set(2);
  assert.equal(twice.get(), 4);
  flushEffects();
  assert.deepEqual(both, [
    [1, 2],
    [2, 4],
  ]);
});

test('untracked reading does not subscribe, and an ended effect stays ended', () => {
  const a = signal(1);
  let runs = 0;
  const end = effect(() => {
    runs++;
    untracked(() => a.get());
  });
  a.set(2);
  flushEffects();
  end();
  assert.equal(runs, 1);
});

test('effects that trigger each other without end raise an error', () => {
  const a = signal(0);
  const end = effect(() => {
    a.set(a.get() + 1);
  });
  assert.throws(() => flushEffects(), /do not settle/);
  end();
});
