import { reasonOf } from '../../../platform/http/failure.ts'
import type { FetchLimits } from '../../../platform/http/fetch-json.ts'
import { redactUrl } from '../../../platform/http/urls.ts'
import { type Finding, wrong } from './finding.ts'

/** The requests of one examination, with the limits of the guard. */
export class Exchange {
  readonly limits: FetchLimits
  // Milliseconds since the epoch.
  readonly beganAt = Date.now()
  answeredAt = Number.NaN
  headers: Headers = new Headers()

  /** @param seconds until it ends */
  constructor(maxBytes: number, seconds: number) {
    const signal = AbortSignal.timeout(seconds * 1000)
    const onAnswer: FetchLimits['onAnswer'] = ({ headers }) => {
      this.answeredAt = Date.now()
      this.headers = headers
    }
    this.limits = { maxBytes, signal, onAnswer }
  }

  /** The server's clock; NaN: it does not say. A cache says how old its copy is (RFC 9111 §5.1). */
  get date(): number {
    const { headers } = this
    return Date.parse(headers.get('date') ?? '') + Number(headers.get('age') ?? 0) * 1000
  }
}

/** A document, and the keys of the INI file that name its address and time limit. */
interface ConfiguredDocument {
  readonly what: string
  readonly url: string
  readonly setting: string
  readonly limit: string
}

const PAGE = "a page for people (a login, or a proxy's) answers: correct the address in SETTING"
const OTHER_PLACE = 'no redirect is followed: issuer must be the one that the server names itself'
const TEST_AUTHORITY = 'start your server, or npx fastify-tenant-auth authority'
const TLS =
  'give the server a certificate of a known authority for this name, or trust its own by NODE_EXTRA_CA_CERTS'

const CURES: readonly (readonly [reason: RegExp, cure: string])[] = [
  [/status 3\d\d$/, 'no redirect is followed: SETTING must name the last address itself'],
  [/status 40[13]$/, 'it must answer without credentials: look at the gateway in front of it'],
  [/status 404$/, 'nothing is there: correct the path in SETTING'],
  [/status (?:429|5\d\d)$/, 'the server fails: look into its log, or try again later'],
  [/status \d+$/, 'only an answer of status 200 counts'],
  [/not JSON$|no JSON array/, 'SETTING must name the address of the document, in UTF-8'],
  [/too large$/, 'SETTING must name a document of a sane size'],
  [/broke off$/, 'the server or a proxy ends the connection early: look into their logs'],
  [/in time$/, 'the server is slow, or a firewall is silent; LIMIT is the limit in seconds'],
  [/\((?:ENOTFOUND|EAI_AGAIN)\)$/, 'no such host: correct it in SETTING'],
  [/\(ECONNREFUSED\)$/, 'nothing listens there: start the server, or correct host and port'],
  [/\((?:EPROTO|ERR_SSL_\w+)\)$/, 'that port speaks no TLS: use http, or another port'],
  [/\((?:CERT|ERR_TLS|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)\w*\)$/, TLS],
  // The second one is that of Node 24.
  [/\((?:HPE_\w+|HTTPParserError)\)$/, 'what listens there speaks no HTTP: correct the port'],
]

export function fetchFinding(
  { what, url, setting, limit }: ConfiguredDocument,
  error: unknown,
  { headers }: Exchange,
): Finding {
  const reason = reasonOf(error)
  const location = headers.get('location') ?? ''
  const target = location && URL.canParse(location, url) ? new URL(location, url) : null
  const shown = redactUrl(target?.href)
  const redirect = shown === null ? '' : `, a redirect to ${shown}`
  const known = CURES.find(([pattern]) => pattern.test(reason))?.[1]
  const isPage = known?.endsWith('in UTF-8') && headers.get('content-type')?.includes('html')
  const isNearby = reason.includes('ECONNREFUSED') && new URL(url).host === 'localhost:8081'
  const isDiscovery = what === 'discovery' && /status 3\d\d$/.test(reason)
  const isElsewhere = isDiscovery && !target?.pathname.endsWith('/.well-known/openid-configuration')
  const cure = isElsewhere ? OTHER_PLACE : isPage ? PAGE : isNearby ? TEST_AUTHORITY : known
  return wrong(
    `${what}: ${redactUrl(url)}: ${reason}${redirect}`,
    cure?.replace('SETTING', () => setting).replace('LIMIT', limit) ??
      'look at the network between here and the server',
  )
}
