import type { FastifyInstance } from 'fastify'
import { plainOptions } from '../../config/option-reader.ts'
import { visible } from '../../config/redact.ts'
import { isOfCors } from '../../guard/boot-audit.ts'
import { whileProbing } from '../../guard/probe-gate.ts'
import { installedGuards } from '../../guard/scopes.ts'
import { rootScope } from '../../routes/fastify-scope.ts'
import { placeWords, type RouteConstraints } from '../../routes/route-constraints.ts'
import {
  type AskedPersona,
  PersonaTokens,
  refusedPersonas,
  unauthenticatedPersonas,
} from './personas.ts'
import { type Answer, ask, otherRoute } from './probe-answer.ts'
import { PROBE_OPTIONS, type ProbedGuard, type ProbeOptions, probedGuard } from './probe-target.ts'
import { addressOf, headersFor, type ProbedPlace, probedPlaces } from './probe-url.ts'
import type { TestAuthority } from './test-authority.ts'

/** A route with the answers to those whom its policy refuses. */
export interface AskedRoute {
  readonly method: string
  readonly url: string
  /** What tells it from other routes of its url. */
  readonly constraints?: RouteConstraints
  /** Null if its policy cannot be known. */
  readonly noauth: boolean | null
  readonly answers: readonly Answer[]
}

/**
 * Asks every route of the guards of a scope.
 *
 * @throws Error that says why a probe would tell nothing, or names each route that it cannot ask
 */
export async function askRoutes(
  app: FastifyInstance,
  authority: TestAuthority,
  given: ProbeOptions,
): Promise<AskedRoute[]> {
  const options = plainOptions('probe', given, PROBE_OPTIONS)
  // A scope is ready before the hooks run by which the application gets ready.
  await rootScope(app).ready()
  const guards = installedGuards(app)
  if (guards.length === 0)
    throw new Error('probe: found no guard in this scope, around or below it')
  const problems: string[] = []
  const routes: AskedRoute[] = []
  for (const installed of guards) {
    const guard = await probedGuard(installed, authority, options)
    const tokens = new PersonaTokens(authority, guard, options)
    for (const place of probedPlaces(guard.registry)) {
      const asked = await whileProbing(app, () => askPlace(app, place, { guard, tokens, options }))
      if (typeof asked === 'string')
        problems.push(visible(`${place.method} ${placeWords(place)}: ${asked}`))
      else routes.push(asked)
    }
  }
  if (problems.length > 0) throw new Error(`probe: cannot ask\n${problems.join('\n')}`)
  return routes
}

/** What the requests of a probe of one guard are made with. */
interface Means {
  readonly guard: ProbedGuard
  readonly tokens: PersonaTokens
  readonly options: ProbeOptions
}

/** @returns the answers, or why the route cannot be asked */
async function askPlace(
  app: FastifyInstance,
  place: ProbedPlace,
  { guard, tokens, options }: Means,
): Promise<AskedRoute | string> {
  const { route, ...listed } = place
  const open = { ...listed, noauth: true, answers: [] }
  if (route.policy?.noauth) return open
  const { scope } = route
  if (isOfCors(place, scope)) return { ...listed, noauth: null, answers: [] }
  const address = addressOf(place, guard, options)
  if (typeof address === 'string') return address
  const unknown = headersFor(place, options.headers?.(address.tenant) ?? {})
  if (typeof unknown === 'string') return `${unknown}; ${CURE}`
  const askAs = async (asked: AskedPersona): Promise<Answer> =>
    ask(app, asked, {
      method: place.method,
      url: address.urlFor(asked.tenant),
      routeUrl: place.url,
      headers: {
        ...Object(headersFor(place, options.headers?.(asked.tenant ?? address.tenant) ?? {})),
        ...(await tokens.headersOf(asked)),
      },
      isBehindCors: place.method === 'OPTIONS' && scope.hasPlugin('@fastify/cors'),
    })
  const answers: Answer[] = []
  for (const asked of unauthenticatedPersonas(route.policy, address.tenant, guard)) {
    answers.push(await askAs(asked))
  }
  // If the application was made before this package was loaded, only a request tells the policy.
  const policy = route.policy ?? answers[0]?.end?.policy ?? null
  if (policy?.noauth) return open
  for (const asked of policy === null ? [] : refusedPersonas(policy, address, guard)) {
    answers.push(await askAs(asked))
  }
  const other = otherRoute(answers, route)
  if (other !== undefined) return `the request reached ${other} instead; ${CURE}`
  return { ...listed, noauth: policy?.noauth ?? null, answers }
}

const CURE = 'give the probe params or headers that fit: probe(app, authority, { params, headers })'
