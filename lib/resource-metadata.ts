import * as Type from '@sinclair/typebox'
import type { FastifyInstance, FastifyRegisterOptions } from 'fastify'
import type { LoadedSettings } from './config/load-settings.ts'
import { entryPointOptions } from './config/option-reader.ts'
import { metadataPath } from './config/option-types.ts'
import { withoutRegisterOptions } from './config/problems.ts'
import { showValue } from './config/redact.ts'
import { senderProofs } from './config/sender-proofs.ts'
import { ERR_AUTH_CONFIG_INVALID } from './errors.ts'
import { installedGuards } from './guard/scopes.ts'
import type { IssuerEntry } from './identity/authentication/issuer.ts'
import { supportedAlgorithms } from './identity/jwks/algorithms.ts'
import { isWithin } from './routes/fastify-scope.ts'

/** The options of `resourceMetadata`. */
export interface ResourceMetadataOptions {
  /**
   * The scopes that clients may ask for (RFC 9728 §2 `scopes_supported`): a list of different ones,
   * in the characters of RFC 6750 §3. Not given: the document names none.
   */
  readonly scopes?: readonly string[]
}

const MEMBERS = {
  scopes: Type.Optional(
    // RFC 6749 §3.3.
    Type.Array(Type.String({ pattern: '^[!#-[\\]-~]+$' }), {
      minItems: 1,
      uniqueItems: true,
      expected: 'a list of different scopes, in the characters of RFC 6750',
    }),
  ),
}

/**
 * Adds the document from which clients learn whose tokens the API accepts (RFC 9728 §2), as a
 * `noauth` GET route at the well-known address of the guard's option `resource` (§3.1). It is made
 * once, of the configuration, so everybody gets the same bytes.
 *
 * @example
 * await app.register(tenantAuth, { issuer, resource: 'https://api.example.com/mcp' })
 * await app.register(resourceMetadata, { scopes: ['menu:read'] })
 * @throws ERR_AUTH_CONFIG_INVALID at boot: without a guard that is there before it, without the
 * option `resource`, in a scope with a prefix, for a bad option
 */
export async function resourceMetadata(
  app: FastifyInstance,
  options: FastifyRegisterOptions<ResourceMetadataOptions>,
): Promise<void> {
  const { resource, scope, loaded } = protectedResource(app)
  const own = withoutRegisterOptions(options)
  const { scopes } = entryPointOptions('resourceMetadata', own, MEMBERS).finish()
  const servers = authorizationServers(loaded)
  if (servers.length === 0 && !loaded.settings.devMode) {
    app.log.warn(
      'tenant auth: no issuer serves every tenant, so resourceMetadata names no authorization server',
    )
  }
  const document = JSON.stringify({
    resource,
    // A member without values is left out (RFC 9728 §3.2).
    authorization_servers: servers.length > 0 ? servers : undefined,
    scopes_supported: scopes,
    // Tokens in a body or a query are not read. The RFC has no name for other places.
    bearer_methods_supported: ['header'],
    ...boundTokens(loaded, scope.server),
  })
  // A colon would begin a parameter.
  const url = metadataPath(resource).replaceAll(':', '::')
  app.get(url, { config: { noauth: true } }, async (_request, reply) =>
    reply.type('application/json').send(document),
  )
}

/** @throws ERR_AUTH_CONFIG_INVALID without a guard that has a `resource`, and with a prefix */
function protectedResource(app: FastifyInstance): {
  readonly resource: string
  readonly scope: FastifyInstance
  readonly loaded: LoadedSettings
} {
  const guard = installedGuards(app).find(({ scope }) => isWithin(scope, app))
  if (guard === undefined) throw misplaced('a scope that is guarded already', 'no guard')
  const { scope, loaded } = guard
  const { resource } = loaded.settings
  if (resource === undefined) throw misplaced('the option resource of the guard', 'none')
  const { prefix } = app
  if (prefix === '') return { resource, scope, loaded }
  // The well-known address would move.
  const hint = 'register it without, and the routes that have a prefix in a scope below'
  throw misplaced('a scope without a prefix', `${showValue(prefix)}: ${hint}`)
}

function misplaced(expected: string, found: string): ERR_AUTH_CONFIG_INVALID {
  return new ERR_AUTH_CONFIG_INVALID(
    `resourceMetadata: expected ${expected}, found ${found} (code)`,
  )
}

/** How bound tokens are proved (RFC 9728 §2). A member that says no is left out. */
function boundTokens({ settings }: LoadedSettings, server: object) {
  const { dpop, certificate } = senderProofs(settings, server)
  return {
    ...(certificate && { tls_client_certificate_bound_access_tokens: true }),
    ...(dpop && { dpop_signing_alg_values_supported: supportedAlgorithms }),
    // A token that is bound to a certificate alone will do, too.
    ...(settings.confirmation === 'require' &&
      !certificate && { dpop_bound_access_tokens_required: true }),
  }
}

/**
 * The issuers that everybody may know. One that serves some tenants only is a customer's. Those of
 * a function are not known here.
 */
function authorizationServers({ issuers }: LoadedSettings): readonly string[] {
  if (typeof issuers === 'function') return []
  const isPublic = (entry: IssuerEntry) => issuers.length === 1 || entry.tenants === '*'
  return issuers.filter(isPublic).flatMap(({ issuer = [] }) => issuer)
}
