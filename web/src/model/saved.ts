// SPDX-License-Identifier: Apache-2.0
// What a part of the trace is saved as, and what of it is not told.

export type SavedKind = 'trace' | 'json' | 'html';

export interface Disguise {
  /** Hashes in the place of all names and texts. */
  names: boolean;
  /** Without arguments. */
  args: boolean;
}
