// SPDX-License-Identifier: Apache-2.0
// The page begins here.

import { h } from '../base/dom';
import { HttpEngine } from './httpEngine';

async function start(): Promise<void> {
  const engine = new HttpEngine();
  const status = await engine.status();
  document.body.append(h('h1', null, status.name), h('p', null, status.state));
}

void start();
