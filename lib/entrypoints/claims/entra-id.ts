import { entryPointOptions } from '../../config/option-reader.ts'
import { isText } from '../../config/option-types.ts'
import { ownProperty } from '../../platform/runtime/own-property.ts'
import {
  GRANTS,
  type Grants,
  granting,
  listIn,
  type MapClaims,
  malformed,
  tenantIn,
  userInfo,
} from './mapping.ts'

export interface EntraIdOptions {
  /** The ids that app roles grant. Not given: `role:<value>`. */
  readonly roles?: Grants | undefined
}

/**
 * Microsoft Entra ID, access tokens of version 1.0 and 2.0. They name the client that they were
 * issued to in `appid` or `azp`; ID tokens have neither, and are refused. The tenant is the
 * directory, by its id `tid`. The app roles in `roles` are assigned in that directory, and are
 * granted in it. `tid` must be the directory in `iss`. All directories share the same keys, so list
 * in the option `issuer` those that you serve. Microsoft identity platform: "Access token claims
 * reference", "Secure applications and APIs by validating claims".
 *
 * @throws ERR_AUTH_CONFIG_INVALID which names all problems of the options
 */
export function entraId(options: EntraIdOptions = {}): MapClaims {
  const { roles } = entryPointOptions('entraId', options, { roles: GRANTS }).finish()
  const grants = granting('role', roles)
  return (claims) => {
    if (!CLIENTS.some((name) => isText(ownProperty(claims, name)))) throw malformed('azp')
    const directory = tenantIn(claims, 'tid')
    const issuer = ownProperty(claims, 'iss')
    if (!GUID.test(directory)) throw malformed('tid')
    if (typeof issuer !== 'string' || !issuer.split('/').includes(directory)) throw malformed('iss')
    return userInfo(claims, [[directory, listIn(claims, 'roles').flatMap(grants)]])
  }
}

/** Of version 2.0, and of version 1.0. */
const CLIENTS = ['azp', 'appid']

const GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
