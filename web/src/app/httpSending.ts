// SPDX-License-Identifier: Apache-2.0
// Asks the program to send the files of a trace to the user's upload server, and waits for the end.

import { visibleLines } from '../base/visible';
import { EngineError } from '../model/engine';
import { requestEngineJson, type Ask } from './http';

/** Answer about what is being sent. */
interface SentAnswer {
  state: 'none' | 'sending' | 'sent' | 'failed';
  text: string;
}

/** Pause between two questions whether the files are sent, in milliseconds. */
const PAUSE = 300;

/** `asked` names the trace. See `send` of the engine. */
export async function sendFiles(asked: Ask, signal: AbortSignal): Promise<string> {
  await requestEngineJson('api/send', { ...asked, method: 'POST', changing: true });
  for (;;) {
    const { state, text } = await requestEngineJson<SentAnswer>('api/sent', { ...asked, signal });
    if (state === 'sent') return text;
    if (state !== 'sending') throw new EngineError(visibleLines(text), false);
    await new Promise((done) => setTimeout(done, PAUSE));
  }
}
