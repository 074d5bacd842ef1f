import { reasonOf } from '../../../platform/http/failure.ts'
import type { FetchLimits } from '../../../platform/http/fetch-json.ts'
import { redactUrl } from '../../../platform/http/urls.ts'
import { type Finding, wrong } from './finding.ts'

/** The head of an answer. */
interface AnswerHead {
  readonly location: string | null
  readonly contentType: string
  /** The server's clock, in milliseconds since the epoch; NaN: it does not say. */
  readonly date: number
}

/** The requests of one examination, with the limits of the guard. */
export class Exchange {
  readonly limits: FetchLimits
  /** Milliseconds since the epoch, as in `answeredAt`. */
  readonly beganAt = Date.now()
  /** That of the last answer. */
  head: AnswerHead | undefined
  answeredAt = Number.NaN

  /** @param seconds until it ends */
  constructor(maxBytes: number, seconds: number) {
    const signal = AbortSignal.timeout(seconds * 1000)
    const onAnswer: FetchLimits['onAnswer'] = ({ headers }) => {
      this.answeredAt = Date.now()
      this.head = {
        location: headers.get('location'),
        contentType: headers.get('content-type') ?? '',
        // A cache says how old its copy is (RFC 9111 §5.1).
        date: Date.parse(headers.get('date') ?? '') + Number(headers.get('age') ?? 0) * 1000,
      }
    }
    this.limits = { maxBytes, signal, onAnswer }
  }
}

/** A document, and the keys of the INI file that name its address and time limit. */
interface DocumentSource {
  /** Its name, such as `keys`. */
  readonly what: string
  readonly url: string
  readonly setting: string
  readonly limit: string
}

type Cure = (source: DocumentSource, head: AnswerHead | undefined) => string

const TLS =
  'give the server a certificate of a known authority for this name, or trust its own by NODE_EXTRA_CA_CERTS'

/** By the reason that the guard gives, the first that fits. */
const CURES: readonly (readonly [reason: RegExp, cure: Cure])[] = [
  [
    /status 3\d\d$/,
    ({ setting }) => `no redirect is followed: ${setting} must name the last address itself`,
  ],
  [
    /status 40[13]$/,
    () => 'it must answer without credentials: look at the gateway in front of it',
  ],
  [/status 404$/, ({ setting }) => `nothing is there: correct the path in ${setting}`],
  [/status (?:429|5\d\d)$/, () => 'the server fails: look into its log, or try again later'],
  [/status \d+$/, () => 'only an answer of status 200 counts'],
  [/not JSON$/, notJson],
  [/no JSON array/, notJson],
  [/too large$/, ({ setting }) => `${setting} must name a document of a sane size`],
  [/broke off$/, () => 'the server or a proxy ends the connection early: look into their logs'],
  [
    /in time$/,
    ({ limit }) => `the server is slow, or a firewall is silent; ${limit} is the limit in seconds`,
  ],
  [/\((?:ENOTFOUND|EAI_AGAIN)\)$/, ({ setting }) => `no such host: correct it in ${setting}`],
  [
    /\(ECONNREFUSED\)$/,
    ({ url }) =>
      isTestAuthority(url)
        ? 'start your server, or npx fastify-tenant-auth authority'
        : 'nothing listens there: start the server, or correct host and port',
  ],
  [/\((?:EPROTO|ERR_SSL_\w+)\)$/, () => 'that port speaks no TLS: use http, or another port'],
  [/\((?:CERT|ERR_TLS|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)\w*\)$/, () => TLS],
  // The second one is that of Node 24.
  [/\((?:HPE_\w+|HTTPParserError)\)$/, () => 'what listens there speaks no HTTP: correct the port'],
]

/** The reason why a document cannot be had, and the cure. */
export function fetchFinding(source: DocumentSource, error: unknown, { head }: Exchange): Finding {
  const reason = reasonOf(error)
  const [, cure] = CURES.find(([pattern]) => pattern.test(reason)) ?? []
  const target = head?.location ? redactUrl(absolute(head.location, source.url)) : null
  const redirect = target === null ? '' : `, a redirect to ${target}`
  return wrong(
    `${source.what}: ${redactUrl(source.url)}: ${reason}${redirect}`,
    cure?.(source, head) ?? 'look at the network between here and the server',
  )
}

function notJson({ setting }: DocumentSource, head: AnswerHead | undefined): string {
  return head?.contentType.includes('html')
    ? `a page for people (a login, or a proxy's) answers: correct the address in ${setting}`
    : `${setting} must name the address of the document, in UTF-8`
}

function isTestAuthority(url: string): boolean {
  return new URL(url).host === 'localhost:8081'
}

function absolute(location: string, base: string): string | null {
  return URL.canParse(location, base) ? new URL(location, base).href : null
}
