import { AssertionError } from 'node:assert'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyTypeProvider,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerBase,
} from 'fastify'
import { placeWords } from '../inspection/route-constraints.ts'
import { visible } from '../settings/shown-value.ts'
import { type AskedRoute, askRoutes } from './asked-routes.ts'
import { type Answer, isRefused } from './probe-answer.ts'
import type { ProbeOptions } from './probe-options.ts'
import type { TestAuthority } from './test-authority.ts'

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

const COLUMNS = ['method', 'url', 'persona', 'expected', 'got'] as const

type Row = Readonly<Record<(typeof COLUMNS)[number], string>>

function rowsOf(route: AskedRoute): Row[] {
  const [method, url] = [visible(route.method), visible(placeWords(route))]
  return route.answers
    .filter((answer) => !isRefused(answer))
    .map((answer) => {
      const { persona, status, codes } = answer.asked
      const expected = codes.length === 1 ? `${status} ${codes}` : `${status}`
      return { method, url, persona, expected, got: `${answer.status}${found(answer)}` }
    })
}

/** What the status alone does not say. */
function found({ end }: Answer): string {
  if (end === undefined) return ', not from the guard'
  if (end.error !== null) return ` ${end.error.code}`
  return end.url === undefined ? ', no such route' : ', the handler would have run'
}

function table(rows: readonly Row[]): string {
  const head = {
    method: 'method',
    url: 'url',
    persona: 'persona',
    expected: 'expected',
    got: 'got',
  }
  const all = [head, ...rows]
  const lineOf = (row: Row): string =>
    COLUMNS.map((name) => row[name].padEnd(widthOf(all, name)))
      .join('  ')
      .trimEnd()
  return all.map(lineOf).join('\n')
}

function widthOf(rows: readonly Row[], name: keyof Row): number {
  return Math.max(...rows.map((row) => row[name].length))
}
