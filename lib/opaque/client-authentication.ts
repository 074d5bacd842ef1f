import { importPKCS8 } from 'jose'
import {
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  modifyAssertion,
  PrivateKeyJwt,
} from 'oauth4webapi'
import type { ClientKey } from './client-key.ts'

const BASIC = 'client_secret_basic'
const POST = 'client_secret_post'

/**
 * The ways in which a client may prove itself, the likeliest first. What the metadata say (RFC 8414
 * §2) holds for all clients of a server, and one client may be registered for another way, so that
 * the first may be refused and the second be right.
 *
 * @param credentials the secret or the key
 * @param methods what the server supports; undefined: it does not say
 */
export function clientAuthentications(
  credentials: string | ClientKey,
  methods: readonly string[] | undefined,
): readonly [ClientAuth, ...ClientAuth[]] {
  if (typeof credentials !== 'string') return [signingWith(credentials)]
  const basic = ClientSecretBasic(credentials)
  const post = ClientSecretPost(credentials)
  if (methods?.includes(POST) === methods?.includes(BASIC)) return [basic, post]
  return methods?.includes(POST) ? [post] : [basic]
}

function signingWith({ key, alg, kid }: ClientKey): ClientAuth {
  const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString()
  let authentication: Promise<ClientAuth> | undefined
  return async (...request) => {
    authentication ??= importPKCS8(pem, alg).then((key) =>
      PrivateKeyJwt(kid === undefined ? key : { key, kid }, {
        // One algorithm has two names, EdDSA and Ed25519 (RFC 9864).
        [modifyAssertion]: (header) => Object.assign(header, { alg }),
      }),
    )
    await (await authentication)(...request)
  }
}
