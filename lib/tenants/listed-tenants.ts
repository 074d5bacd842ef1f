import type { KnownTenants } from './known-tenants.ts'

/** A list in the configuration. */
export class ListedTenants implements KnownTenants {
  readonly isReady = true
  readonly #names: ReadonlySet<string>

  constructor(names: readonly string[]) {
    this.#names = new Set(names)
  }

  open(): void {}

  close(): void {}

  /** There is nothing that could change. */
  forget(): void {}

  has(tenant: string): boolean {
    return this.#names.has(tenant)
  }
  state(): undefined {}
}
