import { isObject } from '../outside/is-object.ts'
import { ownProperty } from '../outside/own-property.ts'
import { isProtected, shownAddress } from '../outside/protected-address.ts'
import { reasonOf } from '../outside/unusable.ts'
import { showValue } from '../settings/shown-value.ts'
import { doubtful, type Finding, fine, wrong } from './finding.ts'
import { spellingDifference } from './spelling.ts'

/** Why the guard does not take the metadata of an issuer (OpenID Connect Discovery 1.0 §4.3). */
export function metadataFinding(metadata: unknown, issuer: string, error: unknown): Finding {
  const reason = reasonOf(error)
  const told = memberOf(metadata, 'issuer')
  if (told !== issuer && typeof told === 'string') {
    return wrong(`discovery: ${otherIssuer(told, issuer)}`, `write issuer = ${showValue(told)}`)
  }
  return wrong(
    `discovery: ${reason}`,
    reason.endsWith('that can be used')
      ? 'let the server name an https address there (http on loopback only)'
      : 'is it metadata of an authorization server? If it has none, give public_keys_url',
  )
}

/**
 * What the metadata of an issuer tell beside its keys.
 *
 * @param issuer given where the keys have an address of their own
 */
export function examineMetadata(metadata: unknown, issuer?: string): Finding[] {
  const told = memberOf(metadata, 'issuer')
  if (issuer !== undefined && typeof told === 'string' && told !== issuer) {
    const cure = `write issuer = ${showValue(told)} if the tokens name that one`
    return [doubtful(`discovery: ${otherIssuer(told, issuer)}`, cure)]
  }
  const endpoint = memberOf(metadata, 'introspection_endpoint')
  const address =
    typeof endpoint === 'string' && isProtected(endpoint) ? shownAddress(endpoint) : null
  const offered =
    address === null
      ? 'none is offered, so that tokens must be JWTs'
      : `offered at ${address}; tokens that are no JWTs need the option opaqueToken in code`
  return [fine('discovery: the metadata are there'), fine(`introspection: ${offered}`)]
}

function otherIssuer(told: string, issuer: string): string {
  const difference = spellingDifference(told, issuer)
  const why = difference === null ? '' : ` (they differ in ${difference})`
  return `the server calls itself ${showValue(told)}, and the configuration ${showValue(issuer)}${why}`
}

function memberOf(metadata: unknown, name: string): unknown {
  return isObject(metadata) ? ownProperty(metadata, name) : undefined
}
