import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isObject } from '../platform/runtime/own-property.ts'

// Outside: Fastify, which has no function for the order of its scopes. The prototype of a scope is
// the scope around it.

/** The whole application that a scope belongs to. */
export function rootScope(app: FastifyInstance): FastifyInstance {
  let root = app
  for (;;) {
    const around = Reflect.getPrototypeOf(root)
    if (around === null || !isScope(around)) return root
    root = around
  }
}

/** True: `scope` is `outer`, or below it. */
export function isWithin(outer: object, scope: FastifyInstance): boolean {
  return outer === scope || Object.prototype.isPrototypeOf.call(outer, scope)
}

/**
 * A scope and all below it. Fastify keeps the children of a scope under a symbol; without that
 * symbol only the scope itself is found.
 */
export function scopesWithin(scope: FastifyInstance): FastifyInstance[] {
  const symbol = symbolOf(scope, 'fastify.children')
  const children: unknown = symbol && Reflect.get(scope, symbol)
  const below = Array.isArray(children) ? children.filter(isScope).flatMap(scopesWithin) : []
  return [scope, ...below]
}

export function isScope(value: object): value is FastifyInstance {
  return 'server' in value
}

// Outside: Fastify, whose public interface has no place that all handlers pass, also those of
// routes without a guard and those for requests that match no route.

/** Fastify's context of a route, or of a not-found handler. Fastify reads it at each step. */
export interface RequestContext {
  handler(request: FastifyRequest, reply: FastifyReply): unknown
}

/** The key of the context of a request. Undefined: this version of Fastify keeps it elsewhere. */
export function contextKey(request: FastifyRequest): symbol | undefined {
  return symbolOf(request, 'fastify.context')
}

/** Undefined: this version of Fastify keeps it elsewhere. */
export function contextOf(
  request: FastifyRequest,
  key = contextKey(request),
): RequestContext | undefined {
  const context: unknown = key && Reflect.get(request, key)
  return isContext(context) ? context : undefined
}

export function isContext(value: unknown): value is RequestContext {
  return isObject(value) && typeof value['handler'] === 'function'
}

/** The constructor of the requests of a scope. */
interface RequestConstructor {
  readonly prototype: object
  /** The properties that the constructor assigns. */
  readonly props?: unknown
}

/** Undefined: this version of Fastify keeps it elsewhere. */
export function requestOf(scope: FastifyInstance): RequestConstructor | undefined {
  const key = symbolOf(scope, 'fastify.Request')
  return key === undefined ? undefined : asConstructor(Reflect.get(scope, key))
}

export function asConstructor(value: unknown): RequestConstructor | undefined {
  return typeof value === 'function' && Object.hasOwn(value, 'prototype') ? value : undefined
}

/** The prototype that the requests of all applications have in common. */
export function commonPrototype(scope: FastifyInstance): object | undefined {
  let prototype = requestOf(scope)?.prototype
  for (;;) {
    const next = prototype && Reflect.getPrototypeOf(prototype)
    if (!next || next === Object.prototype) return prototype
    prototype = next
  }
}

function symbolOf(object: object, description: string): symbol | undefined {
  for (const symbol of Object.getOwnPropertySymbols(object)) {
    if (symbol.description === description) return symbol
  }
  return undefined
}
