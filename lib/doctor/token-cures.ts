import type { TokenRefused } from '../tokens/token-refused.ts'
import { doubtful, type Finding, spellingDifference, wrong } from './finding.ts'

const CLOCK = 'compare the clocks of the server and of this machine'

const COPY = 'give the whole token as it is, without quotes, spaces or line breaks'

/** By the reason of the guard. */
const CURES: ReadonlyMap<string, string> = new Map([
  ['not three parts', COPY],
  ['a part is not base64url', COPY],
  ['a part is not UTF-8', COPY],
  ['a part is not JSON', COPY],
  ['a part is not a JSON object', COPY],
  ['the signature does not match', 'was it cut or changed? Otherwise another server has signed it'],
  ['the algorithm is not allowed', 'name it in algorithms if the server should sign with it'],
  [
    'the token type is not allowed',
    'is it an access token? If so, name its typ in token_types; an ID token is none',
  ],
  ['the issuer is not accepted', 'write issuer exactly as the token has it, if you trust it'],
  ['the audience is not accepted', 'ask the server for a token for this API, or correct audience'],
  ['bound to its sender', 'ask for a bearer token, which has no cnf'],
  ['the key is unknown', 'is it of this server, and of now? Get a new one'],
  ['no key fits', 'let each key of the server have a kid of its own, and the alg of its tokens'],
  ['expired', `get a new one; if it is new, ${CLOCK}`],
  ['not valid yet', CLOCK],
  ['issued in the future', CLOCK],
  ['exp is missing', 'let the server say when its tokens end'],
])

/** Code may say what the INI file cannot. */
const MALFORMED = 'sub, resources or preferred_username is malformed'
const MAPPING =
  'give mapClaims in code, if it is not there: a recipe of fastify-tenant-auth/claims may fit'

/** A reason for which the guard refuses a token, and what to do. */
export function tokenFinding({ reason, mismatch }: TokenRefused, detail = ''): Finding {
  if (reason === MALFORMED) return doubtful(`token: ${reason}`, MAPPING)
  const cure = CURES.get(reason) ?? 'let the server make its tokens otherwise'
  if (mismatch === undefined) return wrong(`token: ${reason}${detail}`, cure)
  const { expected, unverified } = mismatch()
  return wrong(`token: ${reason}${detail}: expected ${expected}, found ${unverified}`, cure)
}

/** How the spelling of a token's issuer misses those that are accepted, in words. */
export function issuerDetail(accepted: readonly string[], found: string): string {
  const differences = accepted.map((each) => spellingDifference(each, found))
  const difference = differences.find((each) => each !== null)
  return difference ? ` (it differs in ${difference})` : ''
}
