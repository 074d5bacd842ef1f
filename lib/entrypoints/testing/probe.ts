import { AssertionError } from 'node:assert'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyTypeProvider,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerBase,
} from 'fastify'
import { visible } from '../../config/redact.ts'
import { placeWords } from '../../routes/route-constraints.ts'
import { type Answer, isRefused } from './probe-answer.ts'
import { type AskedRoute, askRoutes } from './probe-run.ts'
import type { Persona, ProbeOptions } from './probe-target.ts'
import type { TestAuthority } from './test-authority.ts'

/** A route, and the statuses of its answers. Null: its policy does not refuse that persona. */
export interface ProbedRoute {
  readonly method: string
  readonly url: string
  /** True: the route is open, and was not asked. Null: its policy cannot be known. */
  readonly noauth: boolean | null
  /** Without a token. */
  readonly stranger: number | null
  /** With an expired token of a user who holds everything. */
  readonly expired: number | null
  /** As a user of another tenant, who holds there what the route requires. */
  readonly foreigner: number | null
  /** As a member of the tenant, who holds all but what the route requires. */
  readonly without: number | null
}

/**
 * Requests each route of `routes()` as those whom its policy refuses. No handler runs: during a
 * probe the guard's last gate answers in its place, with 204 where the handler would have run. A
 * request that the router gives to a route outside of every guard is stopped before its first hook.
 * So it is safe on any application. Its hooks run as ever: those before the guard, those of an
 * answer, its error handler, and, if the guard fails, the hooks between it and the gate.
 *
 * @param app the application, or a scope of it: the guards there or below, or the one around it
 * @param authority one that the application trusts; of several, each needs a probe of its own
 * @returns one entry for each of `routes()`
 * @throws Error in dev mode, with `resourcesOf` or `opaqueToken` without `grant`, and where a route
 * cannot be asked or does not answer within 10 seconds
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
  return (await askRoutes(app, authority, options)).map(rowOf)
}

function rowOf({ method, url, noauth, answers }: AskedRoute): ProbedRoute {
  // Where a persona was asked as more than once, the status that should not be counts.
  const statusOf = (persona: Persona): number | null => {
    const all = answers.filter(({ asked }) => asked.persona === persona)
    return (all.find((answer) => !isRefused(answer)) ?? all[0])?.status ?? null
  }
  return {
    method,
    url,
    noauth,
    stranger: statusOf('stranger'),
    expired: statusOf('expired'),
    foreigner: statusOf('foreigner'),
    without: statusOf('without'),
  }
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
  const routes = await askRoutes(app, authority, options)
  if (routes.every(({ answers }) => answers.length === 0)) {
    fail('no route was asked: each is open, or there is none')
  }
  const rows = routes.flatMap(rowsOf)
  if (rows.length > 0) fail(`not refused as their policies say:\n\n${table(rows)}`)
}

function fail(message: string): never {
  throw new AssertionError({ message: `assertGuarded: ${message}` })
}

type Row = readonly [method: string, url: string, persona: string, expected: string, got: string]

const HEAD: Row = ['method', 'url', 'persona', 'expected', 'got']

function rowsOf(route: AskedRoute): Row[] {
  const [method, url] = [visible(route.method), visible(placeWords(route))]
  return route.answers
    .filter((answer) => !isRefused(answer))
    .map((answer) => {
      const { persona, status, codes } = answer.asked
      const expected = codes.length === 1 ? `${status} ${codes}` : `${status}`
      return [method, url, persona, expected, `${answer.status}${found(answer)}`]
    })
}

/** What the status alone does not say. */
function found({ end }: Answer): string {
  if (end === undefined) return ', not from the guard'
  if (end.error !== null) return ` ${end.error.code}`
  return end.url === undefined ? ', no such route' : ', the handler would have run'
}

function table(rows: readonly Row[]): string {
  const all = [HEAD, ...rows]
  const widths = HEAD.map((_head, column) =>
    Math.max(...all.map((row) => Number(row[column]?.length))),
  )
  const lineOf = (row: Row): string =>
    row
      .map((cell, column) => cell.padEnd(Number(widths[column])))
      .join('  ')
      .trimEnd()
  return all.map(lineOf).join('\n')
}
