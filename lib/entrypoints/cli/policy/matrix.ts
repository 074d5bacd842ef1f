import type { TSchema } from '@sinclair/typebox'
import * as Type from '@sinclair/typebox'
import { visible } from '../../../config/redact.ts'
import { isRight, wrongPlace } from '../../../config/schema-check.ts'
import type { Implies } from '../../../identity/authorization/implied-ids.ts'
import { constraintsKey, notCompared, placeWords } from '../../../routes/route-constraints.ts'
import { type ConstrainedRoute, type ListedPlace, wholeRoute } from '../../../routes/route-list.ts'

export interface MatrixApplication {
  readonly routes: readonly ConstrainedRoute[]
  /** As configured. Absent: no id implies another one. */
  readonly implies?: Implies | undefined
}

export interface PolicyMatrix {
  /** Each with its routes in the order of url, method and constraints. */
  readonly applications: readonly MatrixApplication[]
}

export function policyMatrix(applications: readonly MatrixApplication[]): PolicyMatrix {
  return {
    applications: applications.map(({ routes, implies }) => ({
      routes: routes.map(wholeRoute).sort(inOrder),
      ...(implies && { implies }),
    })),
  }
}

/**
 * JSON with a line for each route, so that a reviewer sees the changes. In JSON only strings have
 * invisible characters, and a string may have them by their number.
 */
export function matrixJson({ applications }: PolicyMatrix): string {
  const texts = applications.map(({ routes, implies }) => {
    const lines = routes.map((route) => `        ${routeJson(route)}`)
    return `    {\n      "routes": [\n${lines.join(',\n')}\n      ]${impliesJson(implies)}\n    }`
  })
  return `{\n  "applications": [\n${texts.join(',\n')}\n  ]\n}\n`
}

function impliesJson(implies: Implies | undefined): string {
  if (implies === undefined) return ''
  const lines = orderedImplies(implies).map(([id, ids]) =>
    visible(`        ${JSON.stringify(id)}: ${JSON.stringify(ids)}`),
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

/** A member that only a later version knows may close a route, so it is not passed over. */
const CLOSED = { additionalProperties: false }

const Scalar = OrNull(Type.Union([Type.String(), Type.Number(), Type.Boolean()]))

/** In the order of the members of a line. */
const Route = Type.Object(
  {
    method: Type.String(),
    url: Type.String(),
    constraints: Type.Optional(Type.Object({}, { additionalProperties: Scalar })),
    noauth: OrNull(Type.Boolean()),
    tenant: OrNull(Type.Union(['path', 'query', 'optional'].map((place) => Type.Literal(place)))),
    require: OrNull(
      Type.Union([Ids, Type.Object({ any: Ids }, CLOSED), Type.Object({ among: Ids }, CLOSED)]),
    ),
    guests: Type.Optional(Type.Literal(true)),
    suspended: Type.Optional(Type.Literal(true)),
    late: Type.Optional(Type.Literal(true)),
    check: Type.Optional(Ids),
    confirmation: Type.Optional(Type.Literal('require')),
    stepUp: Type.Optional(Type.Object({ acr: Ids, maxAge: OrNull(Type.Number()) }, CLOSED)),
    seen: Type.Boolean(),
    userInfo: OrNull(Type.Boolean()),
    resources: OrNull(Type.Boolean()),
    authorization: OrNull(Type.Boolean()),
  },
  CLOSED,
)

const Matrix = Type.Object(
  {
    applications: Type.Array(
      Type.Object(
        {
          routes: Type.Array(Route),
          implies: Type.Optional(Type.Object({}, { additionalProperties: Ids })),
        },
        CLOSED,
      ),
    ),
  },
  CLOSED,
)

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
    const isConflict = /^(?:<{7}|={7}|>{7})(?: |\r?$)/m.test(text)
    return isConflict ? 'it has conflict markers of Git' : 'it is no JSON'
  }
  if (!isMatrix(value)) {
    const place = wrongPlace(Matrix, value) || '/'
    return `it is no policy matrix: ${place} is not as --write of this version writes it`
  }
  const matrix = policyMatrix(value.applications)
  const twice = matrix.applications.map(({ routes }) => repeatedRoute(routes)).find(Boolean)
  return twice ? `${twice.method} ${placeWords(twice)} stands twice in the file` : matrix
}

/** A merge may leave both lines of a route. Constraints that cannot be compared may differ. */
function repeatedRoute(ordered: readonly ConstrainedRoute[]): ConstrainedRoute | undefined {
  return ordered.find((route, index) => {
    const before = ordered[index - 1]
    return before && placeKey(before) === placeKey(route) && notCompared(route).length === 0
  })
}

/** The place that no two routes of an application have in common. */
export function placeKey(place: ListedPlace): string {
  return `${place.method} ${place.url} ${constraintsKey(place)}`
}

function isMatrix(value: unknown): value is PolicyMatrix {
  return isRight(Matrix, value)
}
