/**
 * A plugin's options without those that `register` itself takes. Loaders such as @fastify/autoload
 * add these to every plugin's options.
 */
export function ownOptions(options: object): object {
  const registerOptions = ['prefix', 'logLevel', 'logSerializers']
  const own = Object.entries(Object.getOwnPropertyDescriptors(options))
  return Object.defineProperties(
    {},
    Object.fromEntries(own.filter(([name]) => !registerOptions.includes(name))),
  )
}
