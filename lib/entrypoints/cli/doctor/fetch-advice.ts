import { reasonOf } from '../../../platform/http/failure.ts'
import type { FetchLimits } from '../../../platform/http/fetch-json.ts'
import { redactUrl } from '../../../platform/http/urls.ts'
import { type Finding, wrong } from './finding.ts'

/** What an answer tells beside its document. */
interface AnswerHead {
  readonly status: number
  readonly location: string | null
  readonly contentType: string
  /** The server's clock, in milliseconds since the epoch; NaN: it does not say. */
  readonly date: number
}

/** One question to a server, with the limits of the guard. */
export class Exchange {
  readonly limits: FetchLimits
  /** When it began, in milliseconds since the epoch. */
  readonly beganAt = Date.now()
  /** Of the last answer. */
  head: AnswerHead | undefined
  /** When that came, in milliseconds since the epoch. */
  answeredAt = Number.NaN

  /** @param seconds until it ends */
  constructor(maxBytes: number, seconds: number) {
    const signal = AbortSignal.timeout(seconds * 1000)
    this.limits = { maxBytes, signal, onAnswer: (answer) => this.#take(answer) }
  }

  #take({ status, headers }: Pick<Response, 'status' | 'headers'>): void {
    this.answeredAt = Date.now()
    this.head = {
      status,
      location: headers.get('location'),
      contentType: headers.get('content-type') ?? '',
      // A cache says how old its copy is (RFC 9111 §5.1).
      date: Date.parse(headers.get('date') ?? '') + Number(headers.get('age') ?? 0) * 1000,
    }
  }
}

/** A document that could not be had. */
export interface Fetched {
  /** What it is, such as `keys`. */
  readonly what: string
  /** Where it was looked for. */
  readonly url: string
  /** What says where it is, such as the key `public_keys_url`. */
  readonly setting: string
  /** The key of the time limit. */
  readonly limit: string
}

type Cure = (fetched: Fetched, head: AnswerHead | undefined) => string

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
  // The second one is what Node 24 tells.
  [/\((?:HPE_\w+|HTTPParserError)\)$/, () => 'what listens there speaks no HTTP: correct the port'],
]

/** Why a document cannot be had, and what to do. */
export function fetchFinding(fetched: Fetched, error: unknown, { head }: Exchange): Finding {
  const reason = reasonOf(error)
  const [, cure] = CURES.find(([pattern]) => pattern.test(reason)) ?? []
  const target = head?.location ? redactUrl(absolute(head.location, fetched.url)) : null
  const redirect = target === null ? '' : `, a redirect to ${target}`
  return wrong(
    `${fetched.what}: ${redactUrl(fetched.url)}: ${reason}${redirect}`,
    cure?.(fetched, head) ?? 'look at the network between here and the server',
  )
}

function notJson({ setting }: Fetched, head: AnswerHead | undefined): string {
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
