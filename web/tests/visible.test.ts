// SPDX-License-Identifier: Apache-2.0
// Names from a trace cannot hide or turn what stands around them.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { shortened, nameOrPlaceholder, makeVisible, visibleTexts } from '../src/base/visible';

test('ordinary names are unchanged, in any script', () => {
  for (const name of ['Cart.add', 'Корзина', 'سلة', '购物车', '🛒'])
    assert.equal(makeVisible(name), name);
});

test('control characters are replaced by their pictures', () => {
  assert.equal(makeVisible('a\nb\tc\u0000\u007f'), 'a␊b␉c␀␡');
});

test('characters that change the direction are replaced', () => {
  assert.equal(makeVisible('safe\u202egpj.exe'), 'safe\ufffdgpj.exe');
  assert.equal(makeVisible('\u2066x\u2069\u200f\ufeff'), '\ufffdx\ufffd\ufffd\ufffd');
});

test('every text of an answer is checked', () => {
  const answer = { rows: [['a\u202e', 1, null]], name: 'b\n' };
  assert.deepEqual(visibleTexts(answer), { rows: [['a\ufffd', 1, null]], name: 'b␊' });
});

test('a name without visible characters says so', () => {
  for (const name of ['', ' ', '\u3000 ', '\u200d'])
    assert.equal(nameOrPlaceholder(name), '(no name)');
  for (const name of ['a', ' a ', '0', '🛒']) assert.equal(nameOrPlaceholder(name), name);
  assert.equal(makeVisible('a\u200b\u00adb'), 'a\ufffd\ufffdb', 'what has no width hides nothing');
});

test('an excessively long text is cut between letters', () => {
  assert.equal(shortened('short'), 'short');
  assert.equal(shortened('a'.repeat(65536)).length, 400);
  assert.equal(shortened('abcdef', 5), 'abcd…');
  assert.equal(shortened('abc🛒ef', 5), 'abc…');
});
