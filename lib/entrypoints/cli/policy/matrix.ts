import type { TSchema } from '@sinclair/typebox'
import * as Type from '@sinclair/typebox'
import { visible } from '../../../config/redact.ts'
import { isRight, wrongPlace } from '../../../config/schema-check.ts'
import type { Implies } from '../../../identity/authorization/implied-ids.ts'
import { type ConstrainedRoute, wholeRoute } from '../../../routes/route-list.ts'

export interface MatrixApplication {
  /** In the order of url, method and constraints. */
  readonly routes: readonly ConstrainedRoute[]
  /** As configured. Absent: no id implies another one. */
  readonly implies?: Implies | undefined
}

export interface PolicyMatrix {
  readonly applications: readonly MatrixApplication[]
}

/** @param implies of each application, as configured */
export function policyMatrix(
  applications: readonly (readonly ConstrainedRoute[])[],
  implies: readonly (Implies | undefined)[] = [],
): PolicyMatrix {
  return {
    applications: applications.map((routes, index) => ({
      routes: routes.map(wholeRoute).sort(inOrder),
      ...(implies[index] && { implies: implies[index] }),
    })),
  }
}

/** JSON with a line for each route, so that a reviewer sees the changes. */
export function matrixJson({ applications }: PolicyMatrix): string {
  const texts = applications.map(({ routes, implies }) => {
    const lines = routes.map((route) => `        ${routeJson(route)}`)
    return `    {\n      "routes": [\n${lines.join(',\n')}\n      ]${impliesJson(implies)}\n    }`
  })
  return `{\n  "applications": [\n${texts.join(',\n')}\n  ]\n}\n`
}

function impliesJson(implies: Implies | undefined): string {
  if (implies === undefined) return ''
  const lines = orderedImplies(implies).map(
    ([id, ids]) => `        ${JSON.stringify(id)}: ${JSON.stringify(ids)}`,
  )
  return `,\n      "implies": {\n${lines.join(',\n')}\n      }`
}

/** The ids and what each implies, in an order of their own. */
export function orderedImplies(implies: Implies): [id: string, ids: readonly string[]][] {
  return Object.entries(implies)
    .sort(([a], [b]) => compare(a, b))
    .map(([id, ids]) => [id, [...ids].sort(compare)])
}

/** A route in one line. The members have an order, so that the same policies make the same text. */
function routeJson({ stepUp, ...route }: ConstrainedRoute): string {
  const ordered = stepUp && { acr: stepUp.acr, maxAge: stepUp.maxAge }
  const members = new Map(Object.entries({ ...route, stepUp: ordered }))
  const line = Object.keys(Route.properties).map((name) => [name, members.get(name)])
  // In JSON only strings have invisible characters, and a string may have them by their number.
  return visible(JSON.stringify(Object.fromEntries(line)))
}

/** The line of a route has its constraints before its policy. */
function inOrder(a: ConstrainedRoute, b: ConstrainedRoute): number {
  return compare(a.url, b.url) || compare(a.method, b.method) || compare(routeJson(a), routeJson(b))
}

/** The same order on each machine, in every language. */
function compare(a: string, b: string): number {
  return Number(a > b) - Number(a < b)
}

const OrNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])
const Ids = Type.Array(Type.String())

const Scalar = OrNull(Type.Union([Type.String(), Type.Number(), Type.Boolean()]))

/** In the order of the members of a line. */
const Route = Type.Object({
  method: Type.String(),
  url: Type.String(),
  constraints: Type.Optional(Type.Object({}, { additionalProperties: Scalar })),
  noauth: OrNull(Type.Boolean()),
  tenant: OrNull(Type.Union(['path', 'query', 'optional'].map((place) => Type.Literal(place)))),
  require: OrNull(Type.Union([Ids, Type.Object({ any: Ids }), Type.Object({ among: Ids })])),
  guests: Type.Optional(Type.Literal(true)),
  suspended: Type.Optional(Type.Literal(true)),
  late: Type.Optional(Type.Literal(true)),
  check: Type.Optional(Ids),
  confirmation: Type.Optional(Type.Literal('require')),
  stepUp: Type.Optional(Type.Object({ acr: Ids, maxAge: OrNull(Type.Number()) })),
  seen: Type.Boolean(),
  userInfo: OrNull(Type.Boolean()),
  resources: OrNull(Type.Boolean()),
  authorization: OrNull(Type.Boolean()),
})

const Matrix = Type.Object({
  applications: Type.Array(
    Type.Object({
      routes: Type.Array(Route),
      implies: Type.Optional(Type.Object({}, { additionalProperties: Ids })),
    }),
  ),
})

/**
 * Reads the JSON of a matrix, in any order and layout. Editors of some systems begin a file with a
 * byte order mark.
 *
 * @returns the matrix, or words that say what is wrong with the text, and where
 */
export function readMatrix(text: string): PolicyMatrix | string {
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch {
    return 'it is no JSON'
  }
  if (isMatrix(value)) {
    const { applications } = value
    return policyMatrix(
      applications.map(({ routes }) => routes),
      applications.map(({ implies }) => implies),
    )
  }
  return `it is no policy matrix: ${wrongPlace(Matrix, value) || '/'} is not as --write writes it`
}

function isMatrix(value: unknown): value is PolicyMatrix {
  return isRight(Matrix, value)
}
