// SPDX-License-Identifier: Apache-2.0
// The little of node that the tests use; its full types would be a package.
declare module 'node:test' {
  /** What a test gets: `mock` undoes its changes at the end of the test. */
  export interface TestContext {
    mock: { method(object: object, name: string, body: (...given: never[]) => unknown): void };
  }
  export function test(name: string, body: (context: TestContext) => void | Promise<void>): void;
  export function describe(name: string, body: () => void): void;
}

declare module 'node:assert/strict' {
  interface Assert {
    (value: unknown, message?: string): asserts value;
    equal(actual: unknown, expected: unknown, message?: string): void;
    deepEqual(actual: unknown, expected: unknown, message?: string): void;
    throws(body: () => unknown, expected?: RegExp): void;
    rejects(
      promise: Promise<unknown>,
      expected?: RegExp | ((error: unknown) => boolean),
    ): Promise<void>;
    match(text: string, expected: RegExp): void;
  }
  const assert: Assert;
  export { assert as strict };
}
