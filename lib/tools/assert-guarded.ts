import { AssertionError } from 'node:assert'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyTypeProvider,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerBase,
} from 'fastify'
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
 * @throws AssertionError with a table of the answers that should not be; or where no route was asked
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
  if (rows.length > 0) fail(`not refused as their policies say:\n\n${table([HEAD, ...rows])}`)
}

function fail(message: string): never {
  throw new AssertionError({ message: `assertGuarded: ${message}` })
}

const HEAD = ['method', 'url', 'persona', 'expected', 'got']

function rowsOf({ method, url, answers }: AskedRoute): string[][] {
  return answers
    .filter((answer) => !isRefused(answer))
    .map((answer) => {
      const { persona, status, codes } = answer.asked
      const [code, ...others] = codes
      const expected = others.length === 0 ? `${status} ${code}` : `${status}`
      return [method, url, persona, expected, `${answer.status}${found(answer)}`]
    })
}

/** What the status alone does not say. */
function found({ end }: Answer): string {
  if (end === undefined) return ', not from the guard'
  if (end.error !== null) return ` ${end.error.code}`
  return end.url === undefined ? ', no such route' : ', the handler would have run'
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = HEAD.map((_name, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
