// SPDX-License-Identifier: Apache-2.0
// The query that runs, and its rows.

import { Latest } from '../base/latest';
import { signal } from '../base/signal';
import { EngineError } from './engine';
import { joinedAnswer, type SqlAnswer } from './sql';
import type { Viewer } from './viewer';

/** Number of rows of one part. */
const PART = 10_000;
/** The page holds no more rows than this. */
export const MOST_ROWS = 200_000;

/** Why there are no rows. */
export interface SqlFailure {
  message: string;
  picture: string;
}

/** Runs one query at a time. */
export class SqlStore {
  /** The rows so far, and the query that they answer. */
  readonly answer = signal<{ of: string; rows: SqlAnswer } | null>(null);
  readonly failure = signal<SqlFailure | null>(null);
  readonly running = signal(false);
  /** Duration of the last query, in ms. */
  readonly took = signal(0);
  private readonly asking = new Latest((error) => this.failed(error));
  private start = 0;
  /** The rows that are shown stay, whatever becomes of the question. */
  private addsRows = false;

  constructor(private readonly viewer: Viewer) {}

  /** Run a query from its first row. */
  run(text: string): void {
    this.ask(text, 0, (rows) => this.answer.set({ of: text, rows }));
  }

  /** Ask for the next part of the rows. */
  more(): void {
    const shown = this.answer.peek();
    if (!shown?.rows.more || this.running.peek()) return;
    this.ask(shown.of, shown.rows.rows.length, (rows) =>
      this.answer.set({ of: shown.of, rows: joinedAnswer(shown.rows, rows) }),
    );
  }

  cancel(): void {
    if (!this.running.peek()) return;
    this.asking.cancel();
    this.running.set(false);
    if (!this.addsRows) this.answer.set(null);
    this.failure.set({ message: 'Cancelled.', picture: '' });
  }

  private ask(text: string, offset: number, done: (rows: SqlAnswer) => void): void {
    const { engine } = this.viewer;
    this.start = performance.now();
    this.addsRows = offset > 0;
    this.failure.set(null);
    this.running.set(true);
    this.asking.run(
      (signal) => engine.sql.ask({ text, offset, limit: PART }, signal),
      (rows) => {
        this.took.set(performance.now() - this.start);
        this.running.set(false);
        done(rows);
      },
    );
  }

  private failed(error: unknown): void {
    this.running.set(false);
    if (!(error instanceof EngineError) || error.gone) {
      this.viewer.failed(error);
      return;
    }
    if (!this.addsRows) this.answer.set(null);
    this.failure.set({ message: error.message.replace(/^SQL: /, ''), picture: error.picture });
  }
}
