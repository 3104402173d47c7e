// SPDX-License-Identifier: Apache-2.0
// Opens files that are dropped on the page or chosen in the file dialog, in place of the open trace
// or together with it.

import { h } from '../base/dom';
import { EngineError, isAbort } from '../model/engine';
import {
  MOST_FILES,
  type ChosenFile,
  type OpeningEngine,
  type OpeningMode,
} from '../model/opening';
import { DropTarget, type Dropped } from '../views/files/dropTarget';
import { OpenDialog } from '../views/files/openDialog';

/** The files and the name of the open or loading trace; null if there is none. */
export interface Current {
  name: string;
  files: readonly ChosenFile[];
  /** The trace can be compared with other files. */
  compares: boolean;
}

interface OpenerHost {
  current: () => Current | null;
  open: (files: readonly ChosenFile[]) => Promise<void>;
  /** Compare the open trace with these files, each a run of the base or of the same version. */
  compare: (files: readonly ChosenFile[], side: 'base' | 'more') => void;
  /** Open files, each a run of the new version, to compare them. */
  openRuns: (files: readonly ChosenFile[]) => Promise<void>;
  gone: () => void;
}

/**
 * The purpose of the files that are chosen next: to open them, or to compare them as runs of the
 * base, as more runs of the open trace's version, or as runs of the new version.
 */
type Purpose = 'open' | 'base' | 'more' | 'runs';

/** Refuse all files before any of them is uploaded. */
function refuseAll(count: number): never {
  const why = `expected at most ${MOST_FILES} files on one time line, found ${count}`;
  throw new EngineError(why, false, null, 'many');
}

/** Uploads and opens files. */
export class Opener {
  private readonly dialog = new OpenDialog();
  private readonly target = new DropTarget((dropped) => void this.dropped(dropped));
  private readonly input = h('input', {
    class: 'file-input',
    hidden: true,
    attrs: { type: 'file', multiple: true, 'aria-label': 'Open files' },
  });
  /** Elements that belong to every page. */
  readonly elements = [this.input, this.target.element, this.dialog.element];

  /** The purpose of the files of the file dialog. */
  private purpose: Purpose = 'open';

  /** True on an upload server, which takes files on its first page only. */
  refuses = false;

  constructor(
    private readonly engine: OpeningEngine,
    private readonly outside: OpenerHost,
  ) {
    this.input.addEventListener('change', () => {
      const files = [...(this.input.files ?? [])];
      this.input.value = ''; // allows the same file to be chosen again
      void this.take(files, this.purpose);
    });
    addEventListener('keydown', (e) => {
      if (!(e.ctrlKey || e.metaKey) || e.shiftKey || e.altKey || e.key.toLowerCase() !== 'o')
        return;
      e.preventDefault();
      this.choose();
    });
  }

  /** Open the file dialog of the browser. */
  readonly choose = (): void => this.chooseFor('open');

  /** Open the file dialog to choose files that are compared. */
  readonly chooseFor = (purpose: Purpose): void => {
    this.purpose = purpose;
    if (!this.dialog.open && !this.refuses) this.input.click();
  };

  /** Open dropped files, or say why that cannot be. */
  private async dropped({ files, folders }: Dropped): Promise<void> {
    const [folder] = folders;
    if (this.dialog.open) return;
    if (folder === undefined && !this.refuses) return this.take(files, 'open');
    const why = this.refuses
      ? 'this page shows one trace of a server: upload others on the server’s first page'
      : 'expected files, found a folder: drop the traces in it';
    this.dialog.failed(folder ?? files[0]?.name ?? '', why, 'unsupported');
  }

  private async take(files: readonly File[], purpose: Purpose): Promise<void> {
    if (files.length === 0 || this.dialog.open) return;
    const names = files.map((file) => file.name);
    let at = names[0] ?? '';
    try {
      if (files.length > MOST_FILES) refuseAll(files.length);
      const current = this.outside.current();
      const how = purpose === 'open' ? await this.askHow(names, current) : purpose;
      if (!how) return;
      const all = files.length + (how === 'beside' ? (current?.files.length ?? 0) : 0);
      if (all > MOST_FILES) refuseAll(all);
      const taken = await this.takeIn(files, (name) => (at = name));
      if (!taken) return;
      at = names.length === 1 ? at : `${names.length} files`;
      if (how === 'compare' || how === 'base') this.outside.compare(taken, 'base');
      else if (how === 'more') this.outside.compare(taken, 'more');
      else if (how === 'runs') await this.outside.openRuns(taken);
      else
        await this.outside.open(how === 'beside' && current ? [...current.files, ...taken] : taken);
      this.dialog.close();
    } catch (error) {
      this.dialog.close();
      if (error instanceof EngineError && error.gone) return this.outside.gone();
      const kind = error instanceof EngineError ? error.kind : 'other';
      this.dialog.failed(at, error instanceof Error ? error.message : String(error), kind);
    }
  }

  private askHow(names: readonly string[], current: Current | null): Promise<OpeningMode | null> {
    if (!current) return Promise.resolve('instead');
    return this.dialog.ask(names, current.name, current.compares);
  }

  /** Upload one file after the other. Return null if the user cancelled. */
  private async takeIn(
    files: readonly File[],
    at: (name: string) => void,
  ): Promise<readonly ChosenFile[] | null> {
    const abort = new AbortController();
    const total = files.reduce((sum, file) => sum + file.size, 0);
    const names = files.map((file) => file.name);
    const report = this.dialog.taking(names, total, () => abort.abort());
    const taken: ChosenFile[] = [];
    let before = 0;
    try {
      for (const file of files) {
        at(file.name);
        report(before);
        const input = await this.engine.take(file, (held) => report(before + held), abort.signal);
        taken.push({ input, offset: 0n });
        before += file.size;
      }
      return taken;
    } catch (error) {
      await Promise.all(taken.map(({ input }) => this.engine.drop(input).catch(() => undefined)));
      if (!isAbort(error)) throw error;
      this.dialog.close();
      return null;
    }
  }
}
