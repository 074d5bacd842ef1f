import type { FastifyInstance } from 'fastify'
import { asConstructor, requestOf } from '../outside/fastify-context.ts'
import { GETTERS } from './decorated-request.ts'

/**
 * Which of our names a scope below the guard also decorates its requests with. Fastify keeps the
 * constructor of requests under a symbol. Without that symbol nothing is found here, and
 * `readsDeclared` refuses the requests.
 */
export function redecorated(guarded: FastifyInstance, scope: FastifyInstance): string[] {
  const end = requestOf(guarded)
  const names = [...GETTERS.keys()]
  const found = new Set<string>()
  let maker = requestOf(scope)
  while (maker !== undefined && maker !== end) {
    const { prototype, props } = maker
    for (const name of names) {
      if (Object.hasOwn(prototype, name) || hasKey(props, name)) found.add(name)
    }
    maker = asConstructor(Reflect.getPrototypeOf(maker))
  }
  return [...found]
}

function hasKey(props: unknown, name: string): boolean {
  return Array.isArray(props) && props.some((prop: unknown) => Object(prop).key === name)
}
