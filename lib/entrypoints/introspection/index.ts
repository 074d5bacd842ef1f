/** @module introspection */

export type { OpaqueAnswer, OpaqueToken } from '../../identity/authentication/opaque-answer.ts'
export { introspection } from './introspection.ts'
export type { IntrospectionOptions } from './introspection-options.ts'
export { type SeacatExchangeOptions, seacatExchange } from './seacat.ts'
export {
  type SharedSecretOptions,
  type SymmetricAlgorithm,
  sharedSecret,
} from './shared-secret.ts'
