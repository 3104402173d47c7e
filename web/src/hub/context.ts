// SPDX-License-Identifier: Apache-2.0
// What every part of the page has at hand.

import type { ReadSignal } from '../base/signal';
import type { Api, Hub } from './api';
import type { Uploads } from './uploads';

export interface Context {
  /** Everything of the server is below it. */
  base: string;
  api: Api;
  uploads: Uploads;
  /** What the server is and allows; null until it has answered. */
  hub: ReadSignal<Hub | null>;
  /** Asks for that again: somebody has logged in or out, or something was added or deleted. */
  again: () => Promise<void>;
  /** To another address of this page, without loading it anew. */
  go: (address: string) => void;
  /** To be read out, for those who do not see it. */
  say: (text: string) => void;
}

/** A part of the page that fills its main region. */
export interface Screen {
  element: HTMLElement;
  title: string;
  /** Takes the keyboard when somebody has come here from another part. */
  focus: () => void;
}
