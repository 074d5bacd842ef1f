import { Kind, OptionalKind } from '@sinclair/typebox'
import { isObject } from '../platform/runtime/own-property.ts'

// Alone, so that a few lines are published in the place of TypeBox's own reader, which knows every
// schema, and is larger than all options.

/** A schema, with the keywords that are used here. */
interface Schema {
  readonly [Kind]?: string
  readonly [OptionalKind]?: string
  readonly judge?: (value: unknown) => boolean
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly minItems?: number
  readonly uniqueItems?: boolean
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean | undefined
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
}

/** The kind of a value that a function of ours checks. */
export const JUDGED = 'fastify-tenant-auth/judged'

export function isOptional(schema: Schema): boolean {
  return schema[OptionalKind] === 'Optional'
}

export function isRight(schema: Schema, value: unknown): boolean {
  return wrongPlace(schema, value) === undefined
}

/**
 * The first place in a value that its schema does not allow, as a JSON pointer (RFC 6901); undefined
 * if there is none. A schema of a kind that is not known allows nothing.
 */
export function wrongPlace(given: Schema, value: unknown, place = ''): string | undefined {
  // Its own keywords alone: Object.prototype may have others.
  const schema = { __proto__: null, ...given }
  if (schema[Kind] === 'Object' && isObject(value)) return wrongMember(schema, value, place)
  if (schema[Kind] === 'Array' && Array.isArray(value)) return wrongItem(schema, value, place)
  return isScalar(schema, value) ? undefined : place
}

/** A member that is inherited is none. */
function wrongMember(schema: Schema, value: object, place: string): string | undefined {
  const { properties = {}, additionalProperties: others = true } = schema
  const own = new Map<string, unknown>(Object.entries(value))
  for (const [name, member] of Object.entries(properties)) {
    const found = own.get(name)
    if (found === undefined && isOptional(member)) continue
    const wrong = wrongPlace(member, found, `${place}/${name}`)
    if (wrong !== undefined) return wrong
  }
  if (others === true) return undefined
  for (const [name, found] of own) {
    if (Object.hasOwn(properties, name)) continue
    if (others === false) return `${place}/${name}`
    const wrong = wrongPlace(others, found, `${place}/${name}`)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

function wrongItem(schema: Schema, value: readonly unknown[], place: string): string | undefined {
  const { items = {}, minItems = 0, uniqueItems = false } = schema
  if (value.length < minItems || (uniqueItems && new Set(value).size < value.length)) return place
  for (const [index, item] of value.entries()) {
    const wrong = wrongPlace(items, item, `${place}/${index}`)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

function isScalar(schema: Schema, value: unknown): boolean {
  switch (schema[Kind]) {
    case JUDGED:
      return schema.judge?.(value) === true
    case 'Literal':
      return value === schema.const
    case 'Union':
      return (schema.anyOf ?? []).some((each) => isRight(each, value))
    case 'String':
      return typeof value === 'string' && isText(schema, value)
    case 'Number':
      return Number.isFinite(value) && isWithin(schema, Number(value))
    case 'Integer':
      return Number.isInteger(value) && isWithin(schema, Number(value))
    case 'Boolean':
      return typeof value === 'boolean'
    case 'Function':
      return typeof value === 'function'
    case 'Null':
      return value === null
    default:
      return schema[Kind] === 'Unknown'
  }
}

function isText({ minLength = 0, maxLength = Infinity, pattern = '' }: Schema, text: string) {
  return text.length >= minLength && text.length <= maxLength && new RegExp(pattern).test(text)
}

function isWithin({ minimum = -Infinity, maximum = Infinity }: Schema, value: number): boolean {
  return value >= minimum && value <= maximum
}
