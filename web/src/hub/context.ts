// SPDX-License-Identifier: Apache-2.0
// The context that every part of the page receives.

import type { ReadSignal } from '../base/signal';
import type { Api, Hub } from './api';
import type { Uploads } from './uploads';

export interface Context {
  /** The base address of the server. All its addresses are below it. */
  base: string;
  api: Api;
  uploads: Uploads;
  /** The description and limits of the server; null until it has answered. */
  hub: ReadSignal<Hub | null>;
  /**
   * Request that description again, after a login or logout, or after traces were added or deleted.
   */
  again: () => Promise<void>;
  /** Go to another address of this page without loading it again. */
  go: (address: string) => void;
  /** Announce a text to screen readers. */
  say: (text: string) => void;
}

/** A part of the page that fills its main region. */
export interface HubScreen {
  element: HTMLElement;
  title: string;
  /** Take the focus when the user comes from another part. */
  focus: () => void;
}
