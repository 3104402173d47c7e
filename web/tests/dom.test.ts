// SPDX-License-Identifier: Apache-2.0
// Attributes of elements: what is false is absent, but where false is a word.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { setAttribute } from '../src/base/dom';

test('a false attribute is omitted unless its specification has the value "false"', () => {
  const there = new Map<string, string>([['selected', '']]);
  const element: Pick<Element, 'setAttribute' | 'removeAttribute'> = {
    setAttribute: (name: string, value: string) => void there.set(name, value),
    removeAttribute: (name: string) => void there.delete(name),
  };
  setAttribute(element, 'selected', false);
  setAttribute(element, 'disabled', false);
  setAttribute(element, 'title', null);
  assert.deepEqual([...there], []);
  setAttribute(element, 'aria-pressed', false);
  setAttribute(element, 'spellcheck', false);
  setAttribute(element, 'checked', true);
  assert.deepEqual(
    [...there],
    [
      ['aria-pressed', 'false'],
      ['spellcheck', 'false'],
      ['checked', 'true'],
    ],
  );
});
