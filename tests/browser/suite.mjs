// SPDX-License-Identifier: Apache-2.0
// The functions of node:test for files that run one after another in one process.
//
// node:test knows one list of hooks for a process: with many files, each would prepare its pages before
// the first test of all, and keep them until the last. Here the hooks of a file run just before its first
// test and after its last one, so that the pages of one file are there at a time, and the next file can
// have them. Each test has a limit: a page that does not answer fails the test that asked it, and the
// others run all the same.
import * as node from 'node:test';

/** Five times what the longest test takes on two processors. */
const LIMIT = { timeout: 600_000 };

async function all(hooks) {
  for (const work of hooks) await work();
}

/** The hooks of a file, and how many of its tests have yet to end. */
class Suite {
  hooks = { before: [], after: [] };
  left = 0;

  async run(work, context) {
    ending = this.hooks.after;
    try {
      await (this.prepared ??= all(this.hooks.before));
      ending = [];
      await work(context);
    } finally {
      if (ending !== this.hooks.after) await all(ending);
      this.left -= 1;
      if (this.left === 0) await all(this.hooks.after);
    }
  }
}

/** The file that declares its tests now; a file that is run alone is the only one. */
let declaring = new Suite();
/** The hooks that run after what runs now: a test, or the file that is being prepared. */
let ending = null;

/** Loads a file of tests, whose hooks are its own. */
export async function load(address) {
  declaring = new Suite();
  await import(address);
}

export function test(name, ...rest) {
  const work = rest.pop();
  const options = { ...LIMIT, ...rest[0] };
  const suite = declaring;
  if (!options.skip) suite.left += 1;
  return node.test(name, options, (context) => suite.run(work, context));
}

/** Before the first test of this file. */
export const before = (work) => declaring.hooks.before.push(work);
/** After the last test of this file that is not skipped. */
export const after = (work) => declaring.hooks.after.push(work);
/** After this test; called before the first one, after the last test of the file. */
export const afterThis = (work) => ending.push(work);
/** After all tests of this process. */
export const afterAll = (work) => node.after(work, LIMIT);
