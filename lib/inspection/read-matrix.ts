import { type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { type PolicyMatrix, policyMatrix } from './policy-matrix.ts'

const OrNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])
const Ids = Type.Array(Type.String())

const Route = Type.Object({
  method: Type.String(),
  url: Type.String(),
  noauth: OrNull(Type.Boolean()),
  tenant: OrNull(Type.Union(['path', 'query', 'optional'].map((place) => Type.Literal(place)))),
  require: OrNull(Type.Union([Ids, Type.Object({ any: Ids })])),
  seen: Type.Boolean(),
  userInfo: OrNull(Type.Boolean()),
  resources: OrNull(Type.Boolean()),
  authorization: OrNull(Type.Boolean()),
})

const Matrix = Type.Object({
  applications: Type.Array(Type.Object({ routes: Type.Array(Route) })),
})

/**
 * Reads what `matrixJson` wrote, in any order and layout.
 *
 * @throws TypeError that says what was expected, and where
 */
export function readMatrix(text: string): PolicyMatrix {
  const value = parse(text)
  assertMatrix(value)
  return policyMatrix(value.applications.map(({ routes }) => routes))
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new TypeError('it is no JSON')
  }
}

function assertMatrix(value: unknown): asserts value is PolicyMatrix {
  for (const { path } of Value.Errors(Matrix, value)) {
    throw new TypeError(`it is no policy matrix: ${path || '/'} is not as --write writes it`)
  }
}
