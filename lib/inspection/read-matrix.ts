import { type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { type PolicyMatrix, policyMatrix } from './policy-matrix.ts'

const OrNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])
const Ids = Type.Array(Type.String())

const Scalar = OrNull(Type.Union([Type.String(), Type.Number(), Type.Boolean()]))

const Route = Type.Object({
  method: Type.String(),
  url: Type.String(),
  constraints: Type.Optional(Type.Object({}, { additionalProperties: Scalar })),
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
 * Reads what `matrixJson` wrote, in any order and layout. Editors of some systems begin a file with
 * a byte order mark.
 *
 * @returns the matrix, or words that say what is wrong with the text, and where
 */
export function readMatrix(text: string): PolicyMatrix | string {
  const value = parsed(text)
  if (value === undefined) return 'it is no JSON'
  if (isMatrix(value)) return policyMatrix(value.applications.map(({ routes }) => routes))
  const path = Value.Errors(Matrix, value).First()?.path
  return `it is no policy matrix: ${path || '/'} is not as --write writes it`
}

/** Undefined where the text is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch {
    return undefined
  }
}

function isMatrix(value: unknown): value is PolicyMatrix {
  return Value.Check(Matrix, value)
}
