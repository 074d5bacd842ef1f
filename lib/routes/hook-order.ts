import type { FastifyInstance } from 'fastify'
import type { PrintedRoute } from './printed-routes.ts'

/** Plugins that answer requests themselves, by the name of their hook, and where they belong. */
const NEIGHBOURS = [
  {
    name: '@fastify/cors',
    hook: 'handleCors',
    belongs: 'before',
    advice:
      '@fastify/cors is registered after this plugin: browsers cannot read its refusals from another origin; register it before',
  },
  {
    name: '@fastify/middie',
    hook: 'runMiddie',
    belongs: 'after',
    advice:
      '@fastify/middie is registered before this plugin: its middleware answers strangers; register it after',
  },
] as const

/** Whether a plugin is anywhere in the application whose place is to be looked at. */
export function hasNeighbours(app: FastifyInstance): boolean {
  const plugins = app.printPlugins()
  return NEIGHBOURS.some(({ name }) => plugins.includes(name))
}

/** What to tell of neighbours whose hooks run on the wrong side of the guard's. */
export function misplacedNeighbours(routes: readonly PrintedRoute[], guard: string): string[] {
  const misplaced = NEIGHBOURS.filter(({ hook, belongs }) =>
    routes.some(({ hooks }) => {
      const [ours, theirs] = [hooks.indexOf(guard), hooks.indexOf(hook)]
      if (ours === -1 || theirs === -1) return false
      return belongs === 'before' ? theirs > ours : theirs < ours
    }),
  )
  return misplaced.map(({ advice }) => advice)
}
