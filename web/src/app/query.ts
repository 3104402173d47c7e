// SPDX-License-Identifier: Apache-2.0
// Query parameters that several requests share (docs/view-protocol.md).

import type { FlameLayout, ProfileQuestion, Scope } from '../model/engine';

export type Query = Record<string, string | number | undefined>;

/** Return the parameters of a flame graph. */
export function flameQuery(q: FlameLayout): Query {
  return {
    ...scopeQuery(q),
    order: q.order,
    inverted: q.inverted ? 1 : 0,
    fold: q.fold ? 1 : undefined,
    frame: q.frame,
    side: q.side,
    root: q.root,
    min: q.min,
  };
}

/** Return the parameters of a selection of time and threads. */
export function scopeQuery(scope: Scope): Query {
  const { from, to, tracks, compensate, transforms } = scope;
  return {
    from,
    to,
    tracks: tracks?.join(','),
    compensate: compensate ? 1 : undefined,
    transforms,
  };
}

/** Tell whether a question is about samples. */
export function isOfSamples({ of = 'calls' }: ProfileQuestion): boolean {
  return of !== 'calls';
}

/** Return the parameters of a selection, and of the measure of samples. */
export function measureQuery(q: ProfileQuestion): Query {
  if (!isOfSamples(q)) return scopeQuery(q);
  return { ...scopeQuery({ ...q, compensate: false }), measure: q.of, value: q.value || undefined };
}
