// SPDX-License-Identifier: Apache-2.0
// The start page: an introduction, the uploads, and the list of traces.

import { fill, h, listen, setText } from '../base/dom';
import { formatBytes, formatCount, plural } from '../base/format';
import { effect, onEnd, untracked } from '../base/signal';
import { screenButton } from '../views/screens';
import type { TraceLine } from './api';
import type { Context, HubScreen } from './context';
import { Trouble } from './controls';
import { singleLine } from './facts';
import { FilterView } from './filterView';
import {
  isFiltered,
  parseListQuery,
  WHOLE_LIST,
  formatListQuery,
  type ListQuery,
} from './listQuery';
import { ListStore } from './listStore';
import { ListTable } from './listTable';
import { LoginView } from './loginView';
import { SendView } from './sendView';
import { UploadView } from './uploadView';

/** The start page. */
export class ListScreen implements HubScreen {
  readonly element: HTMLElement;
  readonly title = 'Traces';
  private readonly store: ListStore;
  private readonly filter: FilterView;
  private readonly table: ListTable;
  private readonly trouble = new Trouble();
  private readonly count = h('span', { class: 'second', attrs: { role: 'status' } });
  private readonly nothing = h('div', { class: 'nothing', hidden: true });
  private readonly more = screenButton('Show more', '', () => this.store.more());
  private readonly section: HTMLElement;

  constructor(
    private readonly ctx: Context,
    choose: () => void,
  ) {
    this.store = new ListStore(ctx.api, parseListQuery(location.search));
    onEnd(() => this.store.end());
    this.filter = new FilterView(this.store.query, (query) => this.ask(query));
    this.table = new ListTable(ctx, this.store, {
      ask: (query) => this.ask(query),
      pin: (line) => void this.pin(line),
      remove: (line) => void this.remove(line),
    });
    this.section = h(
      'section',
      { class: 'list', hidden: true, attrs: { 'aria-labelledby': 'traces' } },
      h('div', { class: 'list-head' }, h('h2', { id: 'traces' }, 'Traces'), this.count),
      this.filter.element,
      this.trouble.element,
      h('div', { class: 'wide' }, this.table.element),
      this.nothing,
      h('p', { class: 'more' }, this.more),
    );
    this.element = h(
      'div',
      { class: 'list-screen' },
      new SendView(ctx, choose).element,
      new LoginView(ctx).element,
      new UploadView(ctx, choose).element,
      this.section,
    );
    this.follow();
    listen<KeyboardEvent>(document, 'keydown', (e) => {
      const typing = (e.target as Element).matches('input, textarea');
      if (e.key !== '/' || typing || e.ctrlKey || e.metaKey || this.section.hidden) return;
      e.preventDefault();
      this.filter.focus();
    });
  }

  focus(): void {
    this.element.querySelector<HTMLElement>('h1')?.focus();
  }

  private follow(): void {
    const { ctx, store } = this;
    let allowed: boolean | null = null;
    effect(() => {
      const may = ctx.hub.get()?.may.list ?? null;
      this.section.hidden = may !== true;
      if (may === allowed) return;
      allowed = may;
      if (may) untracked(() => store.ask(store.query.peek()));
    });
    let done = ctx.uploads.all.peek().filter(({ phase }) => phase.peek() === 'done').length;
    effect(() => {
      const now = ctx.uploads.all.get().filter(({ phase }) => phase.get() === 'done').length;
      if (now > done && allowed) untracked(() => store.refresh());
      done = now;
    });
    effect(() => this.tell());
    effect(() => {
      if (store.error.get()) this.trouble.show(new Error(store.error.get()));
      else this.trouble.clear();
    });
  }

  /** Show how many traces there are, or why there are none. */
  private tell(): void {
    const listed = this.store.listed.get();
    const query = this.store.query.get();
    const hub = this.ctx.hub.get();
    this.more.hidden = !listed?.after;
    const empty = listed !== null && listed.traces.length === 0;
    this.table.element.hidden = listed === null || empty;
    this.nothing.hidden = !empty;
    this.filter.element.hidden = empty && !isFiltered(query);
    if (!listed) return;
    setText(this.count, empty ? '' : countText(listed.total, query, hub?.store ?? null));
    if (empty) fill(this.nothing, ...this.emptyWords(query));
  }

  private emptyWords(query: ListQuery): HTMLElement[] {
    if (isFiltered(query)) {
      const all = (): void => this.ask({ ...WHOLE_LIST, sort: query.sort, down: query.down });
      return [
        h('p', null, 'No trace is like that.'),
        h('p', null, screenButton('Show all traces', '', all)),
      ];
    }
    const may = this.ctx.hub.peek()?.may.upload === true;
    const words = may ? ' The first trace that is sent appears here.' : '';
    return [h('p', null, `Nothing is here yet.${words}`)];
  }

  private ask(query: ListQuery): void {
    history.replaceState(null, '', location.pathname + formatListQuery(query));
    this.store.ask(query);
  }

  private async pin(line: TraceLine): Promise<void> {
    await this.trouble.during(async () => {
      const { pinned } = await this.ctx.api.change(line.id, { pinned: !line.pinned });
      this.store.replace(line.id, { ...line, pinned });
      this.ctx.say(`${singleLine(line.name, 60)} is ${pinned ? 'pinned' : 'not pinned any more'}.`);
    });
  }

  private async remove(line: TraceLine): Promise<void> {
    await this.trouble.during(async () => {
      await this.ctx.api.remove(line.id);
      this.store.replace(line.id, null);
      this.ctx.say(`${singleLine(line.name, 60)} was deleted.`);
      await this.ctx.again();
    });
  }
}

function countText(
  total: number,
  query: ListQuery,
  store: { traces: number; bytes: number } | null,
): string {
  if (isFiltered(query)) return `${formatCount(total)} found`;
  return store ? `${plural(total, 'trace')}, ${formatBytes(store.bytes)}` : plural(total, 'trace');
}
