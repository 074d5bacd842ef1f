import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ERR_AUTH_CONFIG_INVALID } from '../errors.ts'
import { ImmutableSet } from '../identity/authorization/immutable-set.ts'
import { errorCode } from '../platform/runtime/error.ts'
import { asConstructor, requestOf } from '../routes/fastify-scope.ts'
import { authContextOf, isAdmitted } from './context.ts'

type Getter = (this: FastifyRequest) => unknown

const NAMES = ['tenant', 'userInfo', 'resources', 'authorization'] as const

const OF_GUESTS = { userInfo: null, authorization: null, resources: new ImmutableSet<string>([]) }

const GETTERS: ReadonlyMap<string, Getter> = new Map(
  NAMES.map((name) => [
    name,
    function getter(this: FastifyRequest) {
      const context = authContextOf(this)
      if (!context || !isAdmitted(context)) return undefined
      const { membership, policy, tenant } = context
      if (policy.declared[name] === false) return undefined
      if (membership === null) return { ...OF_GUESTS, tenant }[name]
      if (name === 'tenant') return membership.tenant
      const { authorization } = membership
      return name === 'authorization' ? authorization : authorization[name]
    },
  ]),
)

/**
 * Gives requests the properties that their routes declare. They stand on the prototype, so a
 * request pays only for what it reads.
 */
export function decorateRequest(app: FastifyInstance): void {
  for (const [name, getter] of GETTERS) {
    try {
      app.decorateRequest(name, {
        getter,
        setter(this: FastifyRequest) {
          // A prototype of requests. A scope below decorates its own with a function of this name.
          if (Object.hasOwn(this, 'constructor')) throw conflictError([name])
          // Fastify's constructor assigns the values that a scope below decorates. An exception
          // here would end the process.
          if (authContextOf(this) !== undefined) throw new TypeError(`request.${name} is read-only`)
        },
      })
    } catch (error) {
      // Fastify's own error names no cure.
      throw errorCode(error) === 'FST_ERR_DEC_ALREADY_PRESENT' ? conflictError([name]) : error
    }
  }
}

/** False if a decoration of another scope hides our getters. */
export function readsDeclared(request: FastifyRequest): boolean {
  return [...GETTERS].every(([name, getter]) => propertyOf(request, name)?.get === getter)
}

function propertyOf(object: object, name: string): PropertyDescriptor | undefined {
  let holder: object | null = object
  while (holder !== null) {
    const property = Object.getOwnPropertyDescriptor(holder, name)
    if (property) return property
    holder = Reflect.getPrototypeOf(holder)
  }
  return undefined
}

/**
 * Our names with which a scope below the guard also decorates its requests. Fastify keeps the
 * constructor of requests under a symbol. Without that symbol nothing is found here, and
 * `readsDeclared` refuses the requests.
 */
export function decoratorConflicts(guarded: FastifyInstance, scope: FastifyInstance): string[] {
  const end = requestOf(guarded)
  const found = new Set<string>()
  let maker = requestOf(scope)
  while (maker !== undefined && maker !== end) {
    const { prototype, props } = maker
    for (const name of NAMES) {
      const isAssigned =
        Array.isArray(props) && props.some((prop: unknown) => Object(prop).key === name)
      if (isAssigned || Object.hasOwn(prototype, name)) found.add(name)
    }
    maker = asConstructor(Reflect.getPrototypeOf(maker))
  }
  return [...found]
}

/** The error of a boot in which somebody else decorates guarded requests with our names. */
export function conflictError(names: readonly string[]): ERR_AUTH_CONFIG_INVALID {
  return new ERR_AUTH_CONFIG_INVALID(
    `decorateRequest: expected no other decoration of the guard's names, found ${names.join(', ')} (boot): another plugin or the application decorates requests with them; rename that decoration, or remove it and let routes declare the guard's own`,
  )
}
