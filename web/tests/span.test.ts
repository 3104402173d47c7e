// SPDX-License-Identifier: Apache-2.0
// How the visible piece of time moves.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import {
  interpolateSpan,
  clampView,
  framingView,
  spanLength,
  pannedView,
  readableView,
  revealingView,
  tickStep,
  wholeView,
  zoomedView,
} from '../src/model/span';

const TRACE = { from: 0, to: 1e9 };

function near(a: number, b: number): void {
  assert(Math.abs(a - b) <= Math.abs(b) * 1e-9 + 1e-6, `${a} is not ${b}`);
}

test('zooming keeps the time under the pointer in place', () => {
  const view = { from: 200e6, to: 600e6 };
  const next = zoomedView(view, 0.5, 300e6, TRACE);
  near(spanLength(next), 200e6);
  near((300e6 - next.from) / spanLength(next), (300e6 - view.from) / spanLength(view));
});

test('the view is never longer than the trace with its margins, nor shorter than 64 ns', () => {
  near(spanLength(zoomedView({ from: 0, to: 1e9 }, 100, 5e8, TRACE)), spanLength(wholeView(TRACE)));
  near(spanLength(zoomedView({ from: 500, to: 600 }, 1e-6, 550, TRACE)), 64);
});

test('some of the trace is always in view', () => {
  const far = pannedView({ from: 0, to: 1e8 }, 1e12, TRACE);
  assert(far.from < TRACE.to, 'panned out at the right');
  const back = pannedView({ from: 0, to: 1e8 }, -1e12, TRACE);
  assert(back.to > TRACE.from, 'panned out at the left');
});

test('an impossible view is moved into the trace', () => {
  const view = clampView({ from: -5e12, to: 7e12 }, TRACE);
  near(view.from, wholeView(TRACE).from);
  near(view.to, wholeView(TRACE).to);
});

test('a span is framed with a margin on both sides', () => {
  const view = framingView({ from: 400e6, to: 500e6 }, TRACE);
  near(view.from, 392e6);
  near(view.to, 508e6);
});

test('revealing a span moves the view as little as possible', () => {
  const view = { from: 100e6, to: 200e6 };
  assert.equal(revealingView(view, { from: 120e6, to: 130e6 }, TRACE), view);
  assert.equal(revealingView(view, { from: 0, to: 900e6 }, TRACE), view);
  const moved = revealingView(view, { from: 300e6, to: 310e6 }, TRACE);
  near(spanLength(moved), 100e6);
  near(moved.to, 316e6);
});

test('a move goes from one view to the other', () => {
  const a = { from: 0, to: 100 };
  const b = { from: 40, to: 50 };
  near(interpolateSpan(a, b, 0).from, 0);
  near(interpolateSpan(a, b, 1).from, 40);
  near(interpolateSpan(a, b, 1).to, 50);
  near(spanLength(interpolateSpan(a, b, 0.5)), Math.sqrt(1000));
  near(interpolateSpan(a, { from: 20, to: 120 }, 0.25).from, 5);
});

test('marks are 1, 2 or 5 times a power of ten apart', () => {
  assert.equal(tickStep(1e6, 110), 200e6);
  assert.equal(tickStep(100, 90), 10e3);
  assert.equal(tickStep(100, 100), 10e3);
  assert.equal(tickStep(0.01, 110), 2);
  assert.equal(tickStep(1024, 110, 'KiB'), 200 * 1024);
});

test('marks in minutes, hours and days are parts or multiples of these apart', () => {
  const steps = [19e9, 21e9, 50e9, 6 * 60e9, 40 * 60e9, 20 * 3600e9, 30 * 86400e9];
  assert.deepEqual(
    steps.map((raw) => tickStep(raw / 110, 110, 'auto') / 1e9),
    [20, 30, 60, 600, 3600, 86400, 50 * 86400],
  );
  assert.equal(tickStep(50e9 / 110, 110, 's'), 50e9);
});

test('a hit is shown at a readable width, and the view does not grow', () => {
  const view = { from: 0, to: 100e6 };
  // 4 % are wanted: a span of 10 % moves the view, one of 1 % fills 8 % of the next view.
  assert.equal(readableView(view, { from: 20e6, to: 30e6 }, TRACE, 0.04), view);
  near(spanLength(readableView(view, { from: 500e6, to: 510e6 }, TRACE, 0.04)), 100e6);
  const next = readableView(view, { from: 500e6, to: 501e6 }, TRACE, 0.04);
  near(spanLength(next), 12.5e6);
  assert(next.from < 500e6 && next.to > 501e6, 'the hit is in view');
});
