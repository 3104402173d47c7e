// SPDX-License-Identifier: Apache-2.0
// Questions of which only the newest matters: a new question cancels the previous one.

/** Runs one question at a time. */
export class Latest {
  private controller: AbortController | null = null;

  constructor(private readonly failed: (error: unknown) => void) {}

  /** Ask, and pass the answer to `done` unless another question has come in between. */
  run<T>(ask: (signal: AbortSignal) => Promise<T>, done: (answer: T) => void): void {
    this.cancel();
    const controller = new AbortController();
    this.controller = controller;
    ask(controller.signal)
      .then((answer) => {
        if (!controller.signal.aborted) done(answer);
      })
      .catch((error: unknown) => {
        if (!controller.signal.aborted) this.failed(error);
      });
  }

  cancel(): void {
    this.controller?.abort();
    this.controller = null;
  }
}

/** Return a function that calls `work` once, `ms` after its last call. */
export function debounce(ms: number, work: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(work, ms);
  };
}
