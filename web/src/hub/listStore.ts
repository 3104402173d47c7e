// SPDX-License-Identifier: Apache-2.0
// The list of traces. It is requested again when the query changes and while traces are being read,
// and extended when the user wants more.

import { Latest } from '../base/latest';
import { signal } from '../base/signal';
import type { Api, TraceLine, TraceList } from './api';
import { isBeingRead } from './facts';
import { messageOf } from './http';
import { serverQuery, type ListQuery } from './listQuery';

export const PAGE = 50;
/** The maximum page size of the server. */
const MOST = 200;
export const POLL_MS = 2000;

export interface ListedTraces {
  traces: readonly TraceLine[];
  total: number;
  after: string | null;
}

/** The store of the list. */
export class ListStore {
  readonly listed = signal<ListedTraces | null>(null);
  readonly error = signal('');
  readonly loading = signal(false);
  readonly query;
  private readonly latest = new Latest((error) => {
    this.loading.set(false);
    this.error.set(messageOf(error));
  });
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly api: Pick<Api, 'list'>,
    query: ListQuery,
    private readonly pollMs = POLL_MS,
  ) {
    this.query = signal(query);
  }

  ask(query: ListQuery): void {
    this.query.set(query);
    this.load(PAGE, null, (answer) => answer);
  }

  /** Request the same lines again. */
  refresh(): void {
    const there = this.listed.peek()?.traces ?? [];
    this.load(Math.min(MOST, Math.max(PAGE, there.length)), null, (answer) => {
      if (there.length <= MOST) return answer;
      const now = new Map(answer.traces.map((line) => [line.id, line]));
      const traces = there.map((line) => now.get(line.id) ?? line);
      return { ...answer, traces, after: this.listed.peek()?.after ?? null };
    });
  }

  more(): void {
    const before = this.listed.peek();
    if (!before?.after) return;
    this.load(PAGE, before.after, (answer) => {
      const known = new Set(before.traces.map(({ id }) => id));
      const added = answer.traces.filter(({ id }) => !known.has(id));
      return { ...answer, traces: [...before.traces, ...added] };
    });
  }

  private load(
    limit: number,
    after: string | null,
    join: (answer: TraceList) => ListedTraces,
  ): void {
    clearTimeout(this.timer);
    this.loading.set(true);
    this.latest.run(
      (abort) => this.api.list(serverQuery(this.query.peek(), limit, after), abort),
      (answer) => {
        this.loading.set(false);
        this.error.set('');
        this.listed.set(join(answer));
        this.pollLater();
      },
    );
  }

  private pollLater(): void {
    const wanted = this.listed.peek()?.traces.some(isBeingRead);
    if (wanted) this.timer = setTimeout(() => this.refresh(), this.pollMs);
  }

  /** Replace a line, or remove it if `line` is null. */
  replace(id: string, line: TraceLine | null): void {
    this.listed.update((old) => {
      if (!old) return old;
      const traces = old.traces.flatMap((one) => (one.id !== id ? [one] : line ? [line] : []));
      return { ...old, traces, total: old.total - (old.traces.length - traces.length) };
    });
  }

  end(): void {
    clearTimeout(this.timer);
    this.latest.cancel();
  }
}
