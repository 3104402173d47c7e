// SPDX-License-Identifier: Apache-2.0
// The traces of a method by version, each version asked for once.

import { labelOf, type TraceRow } from './model';
import { ask, Superseded, type Place } from './place';

interface Asked {
  answer: Promise<readonly TraceRow[]>;
  /** Callers that asked; the question is dropped when none of them wants its answer any more. */
  wanted: (() => boolean)[];
}

export class TracesOf {
  private known = new Map<string, readonly TraceRow[]>();
  private asked = new Map<string, Asked>();

  constructor(private readonly place: Place) {}

  /** Forget all: the method or the choice is another one. */
  clear(): void {
    this.known = new Map();
    this.asked = new Map();
  }

  /** The traces of a version, if they were asked for already. */
  get(version: string): readonly TraceRow[] | undefined {
    return this.known.get(version);
  }

  /** Return the traces of a version; null: of those without one. */
  async load(version: string | null, wanted: () => boolean): Promise<readonly TraceRow[]> {
    const name = version ?? '';
    const known = this.known.get(name);
    if (known) return known;
    let asked = this.asked.get(name);
    if (asked) {
      asked.wanted.push(wanted);
    } else {
      const all = [wanted];
      asked = { answer: this.request(version, () => all.some((one) => one())), wanted: all };
      this.asked.set(name, asked);
    }
    const found = await asked.answer;
    if (!wanted()) throw new Superseded();
    return found;
  }

  private async request(
    version: string | null,
    wanted: () => boolean,
  ): Promise<readonly TraceRow[]> {
    const { known, asked, place } = this; // those of this method
    const [method, figure] = [place.get('method'), place.get('figure')];
    // A question cannot name traces without a version.
    const named = version !== null;
    const where = named ? place.where(labelOf('version', version)) : place.where();
    try {
      const rows = await ask<TraceRow[]>('traces', { method, figure, where }, wanted);
      const found = named ? rows : rows.filter(({ label }) => label === version);
      known.set(version ?? '', found);
      return found;
    } finally {
      asked.delete(version ?? '');
    }
  }
}
