// SPDX-License-Identifier: Apache-2.0
// Questions of which only the newest matters: asking again takes back the one before.

export class Latest {
  private controller: AbortController | null = null;

  constructor(private readonly failed: (error: unknown) => void) {}

  /** Ask, and hand the answer over unless another question has come in between. */
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

/** Calls `work` once, `ms` after the last call of the returned function. */
export function debounce(ms: number, work: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(work, ms);
  };
}
