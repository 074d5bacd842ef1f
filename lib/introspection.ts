export type { OpaqueAnswer, OpaqueToken } from './authentication/opaque-answer.ts'
export { introspection } from './opaque/introspection-client.ts'
export type { IntrospectionOptions } from './opaque/introspection-options.ts'
export { type SeacatExchangeOptions, seacatExchange } from './opaque/seacat-exchange.ts'
