import { type Static, type TObject, Type } from '@sinclair/typebox'
import { applicationOptions } from './application-options.ts'
import { issuerOptions } from './issuer-options.ts'
import { keyOptions } from './key-options.ts'
import { tenantOptions } from './tenant-options.ts'
import { tokenOptions } from './token-options.ts'

/**
 * Every option: its type, its default, and what a value must be. The INI keys are the snake_case of
 * the names, where an INI file can say it at all.
 */
export const Options: TObject<Groups> = Type.Object({
  ...issuerOptions,
  ...tokenOptions,
  ...keyOptions,
  ...tenantOptions,
  ...applicationOptions,
})

/** Named, so that the declarations that are published keep the options' documentation. */
type Groups = typeof issuerOptions &
  typeof tokenOptions &
  typeof keyOptions &
  typeof tenantOptions &
  typeof applicationOptions

/** Everything configured, with the defaults filled in. */
export type Settings = Readonly<Static<typeof Options>>

/** Names of the options. */
export type OptionName = keyof Settings

/**
 * What the plugin and `AuthService` take. An option that is `undefined` stops the boot: it may be
 * an environment variable that is missing.
 */
export interface AuthOptions extends Partial<Settings> {
  /**
   * INI file whose `[auth]`, `[auth.NAME]` and `[tenants]` sections give options too; an option
   * given in code wins.
   */
  readonly configFile?: string
}
