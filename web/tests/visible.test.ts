// SPDX-License-Identifier: Apache-2.0
// Names from a trace cannot hide or turn what stands around them.

import { strict as assert } from 'node:assert/strict';
import { test } from 'node:test';
import { brief, named, visible, visibleTexts } from '../src/base/visible';

test('ordinary names stay as they are, in any script', () => {
  for (const name of ['Cart.add', 'Корзина', 'سلة', '购物车', '🛒'])
    assert.equal(visible(name), name);
});

test('control characters get their pictures', () => {
  assert.equal(visible('a\nb\tc\u0000\u007f'), 'a␊b␉c␀␡');
});

test('what turns the direction is replaced', () => {
  assert.equal(visible('safe\u202egpj.exe'), 'safe\ufffdgpj.exe');
  assert.equal(visible('\u2066x\u2069\u200f\ufeff'), '\ufffdx\ufffd\ufffd\ufffd');
});

test('every text of an answer is looked at', () => {
  const answer = { rows: [['a\u202e', 1, null]], name: 'b\n' };
  assert.deepEqual(visibleTexts(answer), { rows: [['a\ufffd', 1, null]], name: 'b␊' });
});

test('a name of which nothing is to be seen says so', () => {
  for (const name of ['', ' ', '\u3000 ', '\u200d']) assert.equal(named(name), '(no name)');
  for (const name of ['a', ' a ', '0', '🛒']) assert.equal(named(name), name);
  assert.equal(visible('a\u200b\u00adb'), 'a\ufffd\ufffdb', 'what has no width hides nothing');
});

test('a text beyond reading is cut, between letters', () => {
  assert.equal(brief('short'), 'short');
  assert.equal(brief('a'.repeat(65536)).length, 400);
  assert.equal(brief('abcdef', 5), 'abcd…');
  assert.equal(brief('abc🛒ef', 5), 'abc…');
});
