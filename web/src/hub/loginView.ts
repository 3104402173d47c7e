// SPDX-License-Identifier: Apache-2.0
// The login form, shown if the server requires authentication.

import { fill, h } from '../base/dom';
import { effect } from '../base/signal';
import { screenButton } from '../views/screens';
import { sendHubRequest, FORBIDDEN, HubError } from './http';
import type { Context } from './context';
import { Trouble } from './controls';

/** The login form. */
export class LoginView {
  readonly element = h('section', {
    class: 'login',
    hidden: true,
    attrs: { 'aria-labelledby': 'login' },
  });
  private readonly trouble = new Trouble();

  constructor(private readonly ctx: Context) {
    let made: string | null = null;
    effect(() => {
      const hub = ctx.hub.get();
      const login = hub && !hub.may.change ? hub.login : null;
      this.element.hidden = login === null;
      // Keep the typed text if the server was only queried again.
      if (login === made) return;
      made = login;
      if (login !== null) fill(this.element, ...this.form(login));
    });
  }

  focus(): void {
    this.element.querySelector<HTMLElement>('input, button')?.focus();
  }

  private form(login: 'token' | 'basic'): HTMLElement[] {
    const title = h('h2', { id: 'login' }, 'Log in');
    return login === 'token' ? [title, ...this.token()] : [title, ...this.basic()];
  }

  private token(): HTMLElement[] {
    const input = h('input', {
      class: 'field',
      id: 'token',
      attrs: { type: 'password', autocomplete: 'current-password', required: true },
    });
    const submit = h('button', { class: 'button primary', attrs: { type: 'submit' } }, 'Log in');
    const form = h(
      'form',
      {
        on: {
          submit: (e) => {
            e.preventDefault();
            void this.enter(input, submit);
          },
        },
      },
      // Password managers expect a user name next to a password.
      h('input', {
        hidden: true,
        attrs: { type: 'text', autocomplete: 'username', value: 'token', 'aria-hidden': true },
      }),
      h('label', { attrs: { for: 'token' } }, 'Token'),
      input,
      submit,
    );
    const words = 'This server requires the token that its owner gave you.';
    return [h('p', { class: 'second' }, words), form, this.trouble.element];
  }

  private async enter(input: HTMLInputElement, submit: HTMLButtonElement): Promise<void> {
    submit.disabled = true;
    const well = await this.trouble.during(async () => {
      try {
        await this.ctx.api.login(input.value.trim());
      } catch (error) {
        if (error instanceof HubError && error.status === FORBIDDEN)
          throw new Error('That is not the token of this server.');
        throw error;
      }
      input.value = '';
      await this.ctx.again();
    });
    submit.disabled = false;
    if (well) this.ctx.say('You are logged in.');
    else input.select();
  }

  /** Basic authentication: the browser asks for name and password by itself. */
  private basic(): HTMLElement[] {
    const enter = async (): Promise<void> => {
      await this.trouble.during(async () => {
        await sendHubRequest(`${this.ctx.base}api/traces?limit=1`);
        await this.ctx.again();
      });
    };
    return [
      h(
        'p',
        { class: 'second' },
        'This server requires a name and a password; your browser asks for them.',
      ),
      h(
        'p',
        null,
        screenButton('Log in…', 'primary', () => void enter()),
      ),
      this.trouble.element,
    ];
  }
}
