// SPDX-License-Identifier: Apache-2.0
// Know when a page is at rest: no timer that is due soon, no frame to be drawn, no request and no
// question to a worker is outstanding.  Tests wait for that and never for a time.

/** Tests wait for conditions; this ends one that will never hold, also on a busy machine. */
export const PATIENCE_MS = 120_000;

/** Runs in the page before its own scripts: counts what is outstanding. */
export function watchRest() {
  const LONG_MS = 5000; // a timer that waits longer is not part of an answer
  const frame = window.requestAnimationFrame.bind(window);
  const outstanding = { timers: new Set(), frames: new Set(), requests: 0, questions: new Set() };

  const startTimer = window.setTimeout.bind(window);
  const stopTimer = window.clearTimeout.bind(window);
  const stopFrame = window.cancelAnimationFrame.bind(window);
  window.setTimeout = (work, ms = 0, ...rest) => {
    const id = startTimer(() => {
      outstanding.timers.delete(id);
      if (typeof work === 'function') work(...rest);
    }, ms);
    if (ms <= LONG_MS) outstanding.timers.add(id);
    return id;
  };
  window.clearTimeout = (id) => {
    outstanding.timers.delete(id);
    stopTimer(id);
  };
  window.requestAnimationFrame = (work) => {
    const id = frame((now) => {
      outstanding.frames.delete(id);
      work(now);
    });
    outstanding.frames.add(id);
    return id;
  };
  window.cancelAnimationFrame = (id) => {
    outstanding.frames.delete(id);
    stopFrame(id);
  };

  const ask = window.fetch;
  window.fetch = async (...words) => {
    outstanding.requests++;
    try {
      return await ask(...words);
    } finally {
      outstanding.requests--;
    }
  };

  const Thread = window.Worker;
  window.Worker = class extends Thread {
    constructor(...words) {
      super(...words);
      this.addEventListener('message', ({ data }) => {
        if (data?.kind === 'answer') outstanding.questions.delete(data.id);
        if (data?.kind === 'end') outstanding.questions.clear();
      });
    }
    postMessage(message, ...rest) {
      if (message?.kind === 'ask') outstanding.questions.add(message.id);
      if (message?.kind === 'forget') outstanding.questions.delete(message.id);
      super.postMessage(message, ...rest);
    }
  };

  const busy = () =>
    Object.entries({
      timers: outstanding.timers.size,
      frames: outstanding.frames.size,
      requests: outstanding.requests,
      questions: outstanding.questions.size,
      elements: [...document.querySelectorAll('.pending, [aria-busy=true]')].filter((element) =>
        element.checkVisibility(),
      ).length,
    }).filter(([, count]) => count > 0);

  /**
   * Wait until the page is at rest in three frames one after the other: an answer's body has been
   * read and shown.  After `patience` milliseconds throws what is still outstanding.
   */
  window.atRest = async (patience) => {
    const end = performance.now() + patience;
    for (let quiet = 0; quiet < 3;) {
      await new Promise((done) => frame(() => startTimer(done, 0)));
      const outstandingNow = busy();
      quiet = outstandingNow.length > 0 ? 0 : quiet + 1;
      if (performance.now() > end)
        throw new Error(`the page does not come to rest: ${JSON.stringify(outstandingNow)}`);
    }
  };
}

/** Wait until the page is at rest; the error of one that never is names what is outstanding. */
export async function rested(page) {
  const late = 10_000; // a page that draws no frames cannot tell by itself
  let timer;
  const never = new Promise((_, fail) => {
    const error = new Error('the page draws no frames');
    timer = setTimeout(() => fail(error), PATIENCE_MS + late);
  });
  try {
    await Promise.race([page.evaluate((ms) => window.atRest(ms), PATIENCE_MS), never]);
  } finally {
    clearTimeout(timer);
  }
}
