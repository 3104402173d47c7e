// SPDX-License-Identifier: Apache-2.0
// Questions in SQL to the viewer's server.

import { visibleTexts } from '../base/visible';
import type { Call } from '../model/engine';
import type { SqlAnswer, SqlEngine, SqlRowPlace, SqlQuestion } from '../model/sql';
import { requestEngineJson, sendEngineRequest, type Ask } from './http';
import type { Query } from './query';

interface PlaceAnswer {
  row?: number;
  index?: number;
  instant?: number;
}

/** The part of the client of a trace that questions in SQL need. */
export interface SqlCarrier {
  /** Return a request about the trace. */
  about(query: Query): Ask;
  place(id: number): Promise<PlaceAnswer>;
  /** Return a call of the whole trace as the filter numbers it; null: the filter hides it. */
  visible(call: Call): Promise<Call | null>;
}

export class HttpSql implements SqlEngine {
  constructor(private readonly carrier: SqlCarrier) {}

  async ask({ text, offset, limit }: SqlQuestion, signal?: AbortSignal): Promise<SqlAnswer> {
    // Numbers of questions differ between pages, which may ask about one trace.
    const number = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER) + 1;
    const post = { method: 'POST', changing: true } as const;
    const cancel = (): void =>
      void sendEngineRequest('api/sql_cancel', {
        ...this.carrier.about({ number }),
        ...post,
      }).catch(
        () => undefined, // the program has ended
      );
    signal?.addEventListener('abort', cancel);
    try {
      const asked = { ...this.carrier.about({ offset, limit, number }), ...post };
      return visibleTexts(
        await requestEngineJson<SqlAnswer>('api/sql', { ...asked, body: text, signal }),
      );
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  async place(id: number): Promise<SqlRowPlace | null> {
    const { row, index, instant } = await this.carrier.place(id);
    if (instant !== undefined) return { instant };
    return row === undefined || index === undefined ? null : this.carrier.visible({ row, index });
  }
}
