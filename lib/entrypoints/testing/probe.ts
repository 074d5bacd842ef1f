import { AssertionError } from 'node:assert'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyTypeProvider,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerBase,
} from 'fastify'
import { entryPointOptions } from '../../config/option-reader.ts'
import { visible } from '../../config/redact.ts'
import { hasCors, isOfCors } from '../../guard/boot-audit.ts'
import { whileProbing } from '../../guard/probe-gate.ts'
import { installedGuards } from '../../guard/scopes.ts'
import { ownCopy } from '../../platform/runtime/own-property.ts'
import { rootScope, scopesWithin } from '../../routes/fastify-scope.ts'
import { placeWords } from '../../routes/route-constraints.ts'
import type { ListedPlace } from '../../routes/route-list.ts'
import {
  type Attempt,
  forbiddenAttempts,
  goodTokenRefusal,
  isAdmitted,
  personaHeaders,
  unauthenticatedAttempts,
} from './personas.ts'
import {
  hasReachedNone,
  isAsExpected,
  otherRouteReached,
  type ProbeAnswer,
  sendProbe,
} from './probe-answer.ts'
import {
  type Persona,
  PROBE_OPTIONS,
  type ProbeOptions,
  type ProbeTarget,
  probeTarget,
} from './probe-target.ts'
import { addressOf, headersFor, type TargetPlace, targetPlaces } from './probe-url.ts'
import type { TestAuthority } from './test-authority.ts'

/**
 * A route, and the statuses of its answers. Null: its policy does not refuse that persona, which is
 * not asked. A route for guests is asked all the same by the stranger and the foreigner: 204.
 */
export interface ProbedRoute {
  readonly method: string
  readonly url: string
  /** True: the route is open, and was not asked. Null: its policy cannot be known. */
  readonly noauth: boolean | null
  readonly stranger: number | null
  /** With an expired token of a user who holds everything. */
  readonly expired: number | null
  /** As a user of another tenant, who holds there what the route requires. */
  readonly foreigner: number | null
  /** As a member of the tenant, who holds all but what the route requires. */
  readonly without: number | null
  /** As a member of a suspended tenant. Absent: none is given. */
  readonly suspended?: number | null
  /**
   * With a good token that is bound to a key, as a bearer token, and with one that is not bound.
   * Absent: the route takes unbound tokens.
   */
  readonly unproved?: number
  /** With a good token that says nothing of a login. Absent: the route wants none. */
  readonly stale?: number
}

/**
 * Requests each route of `routes()` as those whom its policy refuses. No handler runs: during a
 * probe the guard's last gate answers in its place, with 204 where the handler would have run. A
 * request that the router gives to a route outside of every guard is stopped before its first hook.
 * So it is safe on any application. Its hooks run as ever: those before the guard, those of an
 * answer, its error handler, and the hooks between guard and gate, if the guard fails, of a route
 * for guests, and of a late one.
 *
 * @param app the application, or a scope of it: the guards there or below, or the one around it
 * @param authority one that the application trusts; of several, each needs a probe of its own
 * @returns one entry for each of `routes()`
 * @throws Error in dev mode, with `resourcesOf` or `opaqueToken` without `grant`, if the application
 * refuses a good token of the authority, and if a route cannot be asked or does not answer within
 * 10 seconds
 */
export function probe<
  Server extends RawServerBase,
  Request extends RawRequestDefaultExpression<Server>,
  Reply extends RawReplyDefaultExpression<Server>,
  Logger extends FastifyBaseLogger,
  TypeProvider extends FastifyTypeProvider,
>(
  app: FastifyInstance<Server, Request, Reply, Logger, TypeProvider>,
  authority: TestAuthority,
  options?: ProbeOptions,
): Promise<ProbedRoute[]>
export async function probe(
  app: FastifyInstance,
  authority: TestAuthority,
  options: ProbeOptions = {},
): Promise<ProbedRoute[]> {
  return (await probeRoutes(app, authority, options)).map(({ method, url, noauth, answers }) => {
    // If a persona made several attempts, the status that should not be counts.
    const statusOf = (persona: Persona): number | null => {
      const all = answers.filter(({ attempt }) => attempt.persona === persona)
      return (all.find((answer) => !isAsExpected(answer)) ?? all[0])?.status ?? null
    }
    const unproved = statusOf('unproved')
    const stale = statusOf('stale')
    return {
      method,
      url,
      noauth,
      stranger: statusOf('stranger'),
      expired: statusOf('expired'),
      foreigner: statusOf('foreigner'),
      without: statusOf('without'),
      ...(options.suspended !== undefined && { suspended: statusOf('suspended') }),
      ...(unproved !== null && { unproved }),
      ...(stale !== null && { stale }),
    }
  })
}

/**
 * Requests each route as `probe` does, and throws unless the guard refused each persona as the
 * policy says. A route that no guard covers is not among them; `uncovered: 'refuse'` finds those.
 *
 * @param app as for `probe`
 * @param authority as for `probe`
 * @throws AssertionError with a table of the answers that should not be, or if no route was asked
 * @throws Error as `probe` does
 * @example await assertGuarded(app, authority)
 */
export function assertGuarded<
  Server extends RawServerBase,
  Request extends RawRequestDefaultExpression<Server>,
  Reply extends RawReplyDefaultExpression<Server>,
  Logger extends FastifyBaseLogger,
  TypeProvider extends FastifyTypeProvider,
>(
  app: FastifyInstance<Server, Request, Reply, Logger, TypeProvider>,
  authority: TestAuthority,
  options?: ProbeOptions,
): Promise<void>
export async function assertGuarded(
  app: FastifyInstance,
  authority: TestAuthority,
  options: ProbeOptions = {},
): Promise<void> {
  const routes = await probeRoutes(app, authority, options)
  if (routes.every(({ answers }) => answers.length === 0)) {
    fail('no route was asked: each is open, or there is none')
  }
  const rows = routes.flatMap(failureRows)
  if (rows.length > 0) fail(`not refused as their policies say:\n\n${table([HEAD, ...rows])}`)
}

function fail(message: string): never {
  throw new AssertionError({ message: `assertGuarded: ${message}` })
}

type Row = readonly [method: string, url: string, persona: string, expected: string, got: string]

const HEAD: Row = ['method', 'url', 'persona', 'expected', 'got']

function failureRows(route: RouteAnswers): Row[] {
  const [method, url] = [visible(route.method), visible(placeWords(route))]
  return route.answers
    .filter((answer) => !isAsExpected(answer))
    .map((answer) => {
      const { persona, status, codes } = answer.attempt
      const expected = codes.length === 1 ? `${status} ${codes}` : `${status}`
      return [method, url, persona, expected, `${answer.status}${endWords(answer)}`]
    })
}

function endWords({ end }: ProbeAnswer): string {
  if (end === undefined) return ', not from the guard'
  if (end.error !== null) return ` ${end.error.code}`
  return ', the handler would have run'
}

function table(rows: readonly Row[]): string {
  const widths = HEAD.map((_head, column) =>
    Math.max(...rows.map((row) => Number(row[column]?.length))),
  )
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(Number(widths[column]))))
    .map((cells) => cells.join('  ').trimEnd())
    .join('\n')
}

interface RouteAnswers extends ListedPlace {
  readonly noauth: boolean | null
  readonly answers: readonly ProbeAnswer[]
}

/** @throws Error that says why a probe would find nothing, or names each route it cannot ask */
async function probeRoutes(
  app: FastifyInstance,
  authority: TestAuthority,
  given: ProbeOptions,
): Promise<RouteAnswers[]> {
  entryPointOptions('probe', given, PROBE_OPTIONS).finish()
  const options = ownCopy(given)
  // A scope is ready before the hooks run by which the application gets ready.
  await rootScope(app).ready()
  const guards = installedGuards(app)
  if (guards.length === 0) throw new Error(`probe: ${noGuardIn(app)}`)
  const problems: string[] = []
  const routes: RouteAnswers[] = []
  for (const installed of guards) {
    const target = await probeTarget(installed, authority, options)
    const tokenOf = personaHeaders(authority, target, options)
    const places = targetPlaces(target.registry)
    // Else a refusal of an expired token would say nothing. Only `grant` makes users that are known.
    if (options.grant === undefined && places.some(({ route }) => !route.policy?.noauth)) {
      const refusal = await goodTokenRefusal(target, tokenOf)
      if (refusal !== null) throw new Error(`probe: a good token of the authority is ${refusal}`)
    }
    for (const place of places) {
      const result = await whileProbing(app, () => probeRoute(app, place, target, tokenOf, options))
      if (typeof result === 'string')
        problems.push(visible(`${place.method} ${placeWords(place)}: ${result}`))
      else routes.push(result)
    }
  }
  if (problems.length > 0) throw new Error(`probe: cannot ask\n${problems.join('\n')}`)
  return routes
}

function noGuardIn(app: FastifyInstance): string {
  const root = rootScope(app)
  const isOfOther =
    installedGuards(root).length === 0 &&
    scopesWithin(root).some((scope) => Object.hasOwn(scope, 'authService'))
  return isOfOther
    ? 'the guard is of another copy of fastify-tenant-auth than this probe; import both from the same one, unbundled, both by import or both by require'
    : 'found no guard in this scope, around or below it'
}

const CURE = 'give the probe params or headers that fit: probe(app, authority, { params, headers })'

async function probeRoute(
  app: FastifyInstance,
  place: TargetPlace,
  target: ProbeTarget,
  tokenOf: ReturnType<typeof personaHeaders>,
  options: ProbeOptions,
): Promise<RouteAnswers | string> {
  const { route, ...listed } = place
  const open = { ...listed, noauth: true, answers: [] }
  if (route.policy?.noauth) return open
  const { scope } = route
  if (isOfCors(place, scope)) return { ...listed, noauth: null, answers: [] }
  const address = addressOf(place, target, options)
  if (typeof address === 'string') return address
  const headersOf = (tenant: string) => headersFor(place, options.headers?.(tenant, listed) ?? {})
  const unknown = headersOf(address.tenant)
  if (typeof unknown === 'string') return `${unknown}; ${CURE}`
  const hasBody = route.policy?.late && !['GET', 'HEAD'].includes(place.method)
  const bodyFor = (tenant: string) => (hasBody ? options.body?.(tenant) : undefined)
  const send = async (attempt: Attempt): Promise<ProbeAnswer> => {
    const to = { method: place.method, url: address.urlFor(attempt.tenant) }
    return sendProbe(app, attempt, {
      ...to,
      routeUrl: place.url,
      headers: {
        ...Object(headersOf(attempt.tenant ?? address.tenant)),
        ...(await tokenOf(attempt, to)),
      },
      payload: bodyFor(attempt.tenant ?? address.tenant),
      isBehindOthers:
        (place.method === 'OPTIONS' && hasCors(scope)) ||
        (isAdmitted(attempt) && (route.validatesBody || route.validatesUrlOrHeaders)),
    })
  }
  const answers: ProbeAnswer[] = []
  for (const attempt of unauthenticatedAttempts(route.policy, address.tenant, target)) {
    answers.push(await send(attempt))
  }
  // If the application was made before this package was loaded, only a request shows the policy.
  const policy = route.policy ?? answers[0]?.end?.policy ?? null
  if (policy?.noauth) return open
  // If what is sent may not be valid, the validation answers before the guard decides the rest.
  const hasInvalidBody = hasBody && route.validatesBody && options.body === undefined
  const isUnasked = policy?.late && (hasInvalidBody || route.validatesUrlOrHeaders)
  if (policy !== null && !isUnasked) {
    for (const attempt of forbiddenAttempts(policy, address, target, place.method)) {
      answers.push(await send(attempt))
    }
  }
  const other = otherRouteReached(answers, route)
  if (other !== undefined) return `the request reached ${other} instead; ${CURE}`
  if (answers.some(hasReachedNone)) return `the request reached no route; ${CURE}`
  return { ...listed, noauth: policy?.noauth ?? null, answers }
}
