import * as Type from '@sinclair/typebox'
import { entryPointOptions } from '../../../config/option-reader.ts'
import { Custom, List, TextThat } from '../../../config/option-types.ts'
import { withoutRegisterOptions } from '../../../config/problems.ts'
import { ERR_AUTH_CONFIG_INVALID } from '../../../errors.ts'
import type { InstalledGuard } from '../../../guard/scopes.ts'
import { isDenyList } from '../../../identity/authentication/revocation-check.ts'
import type { DenyList } from '../deny-list-function.ts'

/** The options of `backchannelLogout`. */
export interface BackchannelLogoutOptions {
  /** The deny list that is the option `isRevoked` of the guard. */
  readonly revoked: DenyList
  /**
   * The ids of the clients whose users are logged out: the `aud` of logout tokens. They are those
   * of the front ends, at which users log in, not that of the API.
   */
  readonly clients: readonly string[]
  /** The path of the route; a prefix comes before it. @default '/backchannel-logout' */
  readonly url?: string
  /**
   * For access tokens that carry no `sid`: a logout of one session ends all tokens of its user that
   * were issued up to then, those of other sessions too. `subject`: whoever the issuer is. A list:
   * of these issuers. Not given: a logout that names a session ends that one.
   */
  readonly sessionless?: 'subject' | readonly string[]
}

const Several = List(Type.String({ minLength: 1 }))

const MEMBERS = {
  revoked: Custom('a deny list, as denyList() makes it', (value): value is DenyList =>
    isDenyList(value),
  ),
  clients: { ...Several, uniqueItems: true, expected: 'a list of different client ids' },
  url: TextThat(
    'a path without parameters, such as /backchannel-logout',
    (url) => /^\/[^:*?#\s]*$/.test(url),
    { default: '/backchannel-logout' },
  ),
  sessionless: Type.Optional(
    Type.Union([Type.Literal('subject'), Several], { expected: "'subject' or a list of issuers" }),
  ),
}

/** The options, with the defaults of those that are not given. */
export interface LogoutOptions extends BackchannelLogoutOptions {
  readonly url: string
}

/**
 * @param guard the one around the plugin; undefined: none
 * @throws ERR_AUTH_CONFIG_INVALID
 */
export function logoutOptions(
  given: object,
  guard: InstalledGuard | undefined,
): { readonly options: LogoutOptions; readonly guard: InstalledGuard } {
  const options = entryPointOptions(NAME, withoutRegisterOptions(given), MEMBERS).finish()
  if (guard === undefined) throw misplaced('a scope that is guarded already', 'no guard')
  const { settings, issuers } = guard.loaded
  if (settings.isRevoked !== options.revoked) {
    throw misplaced('revoked to be the isRevoked of the guard', 'another one')
  }
  const { sessionless } = options
  // An issuer that nobody accepts is misspelt, and its users would not be logged out.
  if (Array.isArray(sessionless) && typeof issuers !== 'function' && !settings.devMode) {
    const accepts = (iss: string) => issuers.some(({ issuer }) => issuer?.includes(iss) ?? true)
    if (!sessionless.every(accepts)) {
      throw misplaced('issuers of the guard in sessionless', 'another one')
    }
  }
  return { options, guard }
}

const NAME = 'backchannelLogout'

function misplaced(expected: string, found: string): ERR_AUTH_CONFIG_INVALID {
  return new ERR_AUTH_CONFIG_INVALID(`${NAME}: expected ${expected}, found ${found} (code)`)
}
