import { isObject } from '../outside/is-object.ts'
import { ownProperty } from '../outside/own-property.ts'

/** How many references are followed one after the other. A schema may refer to itself. */
const MOST_FOLLOWED = 5

/** The keywords whose schemas hold for the same value. */
const PARTS = ['anyOf', 'oneOf', 'allOf']

/** A JSON schema, with those that it may refer to. */
export class KnownSchema {
  readonly #schema: object
  readonly #document: unknown
  readonly #shared: object
  readonly #left: number

  /**
   * @param schema what is no object says nothing
   * @param shared what the application has added, by `$id`
   * @param document what a reference without an `$id` is of
   */
  constructor(schema: unknown, shared: object = {}, document = schema, left = MOST_FOLLOWED) {
    this.#schema = isObject(schema) ? schema : {}
    this.#shared = shared
    this.#document = document
    this.#left = left
  }

  /** A keyword's value, of this schema alone. */
  of(keyword: string): unknown {
    return ownProperty(this.#schema, keyword)
  }

  /** Schemas that say more of the same value. That of a reference is among them, if it is known. */
  parts(): KnownSchema[] {
    const written = PARTS.flatMap((keyword) => this.of(keyword)).filter(isObject)
    return [...written.map((part) => this.#beside(part)), ...this.#referred()]
  }

  /** What is said of a property of an object. */
  ofProperty(name: string): KnownSchema[] {
    const properties = this.of('properties')
    const own = isObject(properties) ? ownProperty(properties, name) : undefined
    const more = this.parts().flatMap((part) => part.ofProperty(name))
    return own === undefined ? more : [this.#beside(own), ...more]
  }

  #beside(schema: unknown): KnownSchema {
    return new KnownSchema(schema, this.#shared, this.#document, this.#left)
  }

  #referred(): KnownSchema[] {
    const reference = this.of('$ref')
    if (typeof reference !== 'string' || this.#left === 0) return []
    const [id = '', pointer = ''] = reference.split('#')
    const document = id === '' ? this.#document : ownProperty(this.#shared, id)
    const found = at(document, pointer)
    if (found === undefined) return []
    return [new KnownSchema(found, this.#shared, document, this.#left - 1)]
  }
}

/** What a JSON pointer in a fragment leads to (RFC 6901 §6). */
function at(document: unknown, pointer: string): unknown {
  const [start, ...steps] = pointer.split('/')
  // What does not begin with a slash is the name of an anchor.
  if (start !== '') return undefined
  return steps.reduce<unknown>((value, step) => {
    const hasParts = typeof value === 'object' && value !== null
    return hasParts ? ownProperty(value, unescaped(step)) : undefined
  }, document)
}

function unescaped(step: string): string {
  return decoded(step).replaceAll('~1', '/').replaceAll('~0', '~')
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}
