import { ERR_AUTH_TENANTS_UNAVAILABLE } from '../errors.ts'
import type { ReportFailure } from '../outside/ask-application.ts'
import { AskedAnswers } from '../outside/asked-answers.ts'
import type { NowOrLater } from '../outside/now-or-later.ts'
import { readBoolean } from '../outside/unusable.ts'
import type { Waits } from '../outside/waits.ts'
import { withoutStack } from '../outside/without-stack.ts'
import type { KnownTenants } from './known-tenants.ts'

/** Most tenants whose existence is remembered. */
const MAX_REMEMBERED = 100_000

export interface AskedTenantsOptions {
  /** Seconds for one call. */
  readonly timeout: number
  /** Seconds for which a `true` is kept. A `false` is never kept. */
  readonly maxAge: number
  /** Is told why there is no answer. */
  readonly report?: ReportFailure
}

/** A function of the application. Requests that arrive together ask it once. */
export class AskedTenants implements KnownTenants {
  readonly isReady = true
  readonly #answers: AskedAnswers<boolean, boolean>

  constructor(
    exists: (tenant: string) => boolean | Promise<boolean>,
    { timeout, maxAge, ...reporting }: AskedTenantsOptions,
  ) {
    this.#answers = new AskedAnswers({
      ask: (tenant) => exists(tenant),
      timeout,
      ...reporting,
      read: readBoolean,
      learn: (doesExist) => doesExist,
      refuse: (reason) =>
        withoutStack(() => new ERR_AUTH_TENANTS_UNAVAILABLE(1, `the tenants function ${reason}`)),
      keptFor: (doesExist) => (doesExist ? maxAge : 0),
      maxKept: MAX_REMEMBERED,
    })
  }

  open(): void {
    this.#answers.open()
  }

  close(): void {
    this.#answers.close()
  }

  forget(tenant?: string): void {
    this.#answers.forget((known) => tenant === undefined || known === tenant)
  }

  has(tenant: string, waits: Waits): NowOrLater<boolean> {
    return this.#answers.get(tenant, waits)
  }
  state(): undefined {}
}
