// SPDX-License-Identifier: Apache-2.0
// The functions of node:test with a limit for each test and hook: a page that does not answer
// fails the test that asked it, and the others run all the same.
import * as node from 'node:test';

/** Five times what the longest test takes on two processors. */
const LIMIT = { timeout: 600_000 };

export function test(name, ...rest) {
  const work = rest.pop();
  return node.test(name, { ...LIMIT, ...rest[0] }, work);
}
export const before = (work) => node.before(work, LIMIT);
export const after = (work) => node.after(work, LIMIT);
