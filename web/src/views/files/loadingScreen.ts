// SPDX-License-Identifier: Apache-2.0
// Shows the progress of loading, with a preview of the data read so far and a Cancel button.

import { h, setText } from '../../base/dom';
import { fileName, formatBig, formatBytes } from '../../base/format';
import type { LoadingStatus } from '../../model/opening';
import { screenButton, homeLink, Screen } from '../screens';
import { SketchView } from '../timeline/sketchView';

/** The time in ms over which the rate is measured. */
const WINDOW = 2000;
const NOTHING = '\u00a0';

/** The current phase. A rate is measured within one phase only. */
type Doing = 'Unpacking' | 'Reading' | 'Putting together';

function loadingPhase(status: LoadingStatus): Doing {
  return status.unpacking ? 'Unpacking' : status.joining ? 'Putting together' : 'Reading';
}

/** The loading screen. Its line, figures and Cancel button have fixed places while data arrive. */
export class LoadingScreen extends Screen {
  private readonly bar = h('i', null);
  private readonly progress = h(
    'div',
    { class: 'progress', attrs: { role: 'progressbar', 'aria-label': 'Reading the file' } },
    this.bar,
  );
  private readonly bytes = h('b', null, NOTHING);
  private readonly total = h('span', null, NOTHING);
  private readonly records = h('b', null, NOTHING);
  private readonly rate = h('b', null, NOTHING);
  private readonly rateOf = h('span', null, NOTHING);
  private readonly heading = h('h1', null, 'Reading');
  private readonly sketch = new SketchView();
  private recent: { at: number; done: number }[] = [];
  private doing: Doing = 'Reading';

  /** `behind` tells that another trace was open. */
  constructor(
    { name, home }: LoadingStatus,
    tools: HTMLElement,
    behind: boolean,
    cancel: () => void,
  ) {
    super(name, tools);
    const stop =
      home === undefined ? screenButton('Cancel', '', cancel) : homeLink(home, 'About this trace');
    if (home === undefined) stop.append(h('kbd', { attrs: { 'aria-hidden': true } }, 'Esc'));
    this.header.append(this.progress);
    this.main.append(
      this.heading,
      h(
        'div',
        { class: 'figures' },
        h('div', null, this.bytes, this.total),
        h('div', null, this.rate, this.rateOf),
        h('div', null, this.records, h('span', null, 'events')),
      ),
      h(
        'div',
        { class: 'actions' },
        stop,
        behind && h('p', { class: 'second' }, 'returns to the trace that was open'),
      ),
      this.sketch.element,
    );
  }

  show(status: LoadingStatus, now: number): void {
    setText(this.file, fileName(status.name));
    const share = status.total_bytes > 0 ? Math.min(1, status.bytes / status.total_bytes) : 0;
    const percent = Math.floor(share * 100);
    const what = loadingPhase(status);
    this.bar.style.width = `${(share * 100).toFixed(1)}%`;
    this.progress.setAttribute('aria-valuenow', String(percent));
    this.progress.setAttribute('aria-valuetext', `${what}, ${percent} %`);
    setText(this.heading, status.total_bytes > 0 ? `${what}, ${percent} %` : what);
    setText(this.bytes, formatBytes(status.bytes));
    setText(this.total, status.total_bytes > 0 ? `of ${formatBytes(status.total_bytes)}` : 'read');
    setText(this.records, status.unpacking ? '–' : formatBig(status.records));
    if (status.sketch) this.sketch.show(status.sketch);
    this.showRate(what, what === 'Unpacking' ? status.bytes : status.records, now);
  }

  /** Show the rate: of events while reading, of bytes while unpacking, none in the last phase. */
  private showRate(what: Doing, done: number, now: number): void {
    if (what !== this.doing) this.recent = [];
    this.doing = what;
    this.recent = this.recent.filter((past) => past.at > now - WINDOW);
    this.recent.push({ at: now, done });
    const [first = { at: now, done }] = this.recent;
    const seconds = (now - first.at) / 1000;
    const rate = seconds > 0.2 ? Math.round((done - first.done) / seconds) : 0;
    const known = what !== 'Putting together' && rate > 0;
    const words = what === 'Unpacking' ? formatBytes(rate) : formatBig(rate);
    setText(this.rate, known ? words : '–');
    setText(this.rateOf, what === 'Unpacking' ? 'a second' : 'events a second');
  }
}
