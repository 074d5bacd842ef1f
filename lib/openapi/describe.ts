import type { Settings } from '../config/options.ts'
import type { SenderProofs } from '../identity/proofs/sender-proofs.ts'
import { isObject } from '../platform/runtime/own-property.ts'
import type { Policy } from '../routes/policy.ts'
import { type DocumentedRoute, indexRoutes } from './match-routes.ts'
import {
  type Draft,
  draft,
  errorSchema,
  freeName,
  list,
  mapValues,
  type OuterParameters,
  refusalsOf,
  responseOf,
  type TenantParameterRules,
  withTenantParameter,
} from './operation.ts'

interface OpenapiRules extends TenantParameterRules, Pick<Settings, 'tenants' | 'tokenFrom'> {
  readonly senderProofs: SenderProofs
}

interface Description {
  readonly rules: OpenapiRules
  /** Names of the schemes and of the error schema in the document's components. */
  readonly bearer: string
  readonly dpop: string
  readonly errors: string
  /** The Security Requirement Objects of the whole document. */
  readonly security: unknown
  readonly parameters: OuterParameters
}

/**
 * A copy of an OpenAPI document that describes the guard: the schemes of tokens, and for each
 * operation its `security`, its `tenant` parameter and its refusals. The application's own
 * descriptions are kept.
 */
export function describeGuard<Document extends object>(
  document: Document,
  routes: readonly DocumentedRoute[],
  rules: OpenapiRules,
): Document {
  const { components, paths, security } = draft(document)
  const { securitySchemes, schemas, parameters } = draft(components)
  const schemes = draft(securitySchemes)
  const nameOf = (wanted: string, scheme: string) =>
    Object.keys(schemes).find((name) => isHttp(schemes[name], scheme)) ?? freeName(wanted, schemes)
  const names = {
    bearer: nameOf('bearerAuth', 'bearer'),
    dpop: nameOf('dpopAuth', 'dpop'),
    errors: freeName('AuthError', draft(schemas)),
  }
  const policiesOf = indexRoutes(routes, document)

  const describePath = (path: string, item: Draft): Draft => {
    const description = {
      rules,
      ...names,
      security,
      parameters: { shared: list(item['parameters']), named: draft(parameters) },
    }
    const describe = (operation: unknown, method: string): unknown => {
      const policies = policiesOf(method, path)
      return policies.length > 0 && isObject(operation)
        ? describeOperation(operation, policies, description)
        : operation
    }
    // OpenAPI 3.2 §4.9: the methods that have no field of their own.
    const { additionalOperations: more } = item
    const described = mapValues(item, describe)
    return isObject(more)
      ? { ...described, additionalOperations: mapValues(more, describe) }
      : described
  }

  return {
    ...document,
    components: {
      ...draft(components),
      securitySchemes: {
        [names.bearer]: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        ...(rules.senderProofs.dpop && { [names.dpop]: { type: 'http', scheme: 'DPoP' } }),
        ...schemes,
      },
      schemas: { ...draft(schemas), [names.errors]: errorSchema() },
    },
    paths: mapValues(draft(paths), (item, path) =>
      isObject(item) ? describePath(path, item) : item,
    ),
  }
}

/**
 * Several routes may share one place. The document shows one of them, but a request may reach each.
 * So the operation is open only if all routes are. If a client meets what the operation asks for,
 * it meets what each route asks for. The refusals of all routes are named.
 */
function describeOperation(
  operation: Draft,
  policies: readonly Policy[],
  description: Description,
): Draft {
  const guarded = policies.filter(({ noauth }) => !noauth)
  const decided = policies.filter(({ isExempt }) => !isExempt)
  const open = guarded.length === 0 ? { security: [] } : {}
  if (decided.length === 0) return { ...open, ...operation }
  const { rules, errors } = description
  const own = requirementsIn(operation['security'])
  const parameters = decided.reduce(
    (known, policy) => withTenantParameter(known, policy, description.parameters, rules),
    list(operation['parameters']),
  )
  const responses = draft(operation['responses'])
  const answers = decided
    .flatMap((policy) => refusalsOf(policy, rules))
    .filter((status) => !isAnswered(responses, status))
    .map((status) => [status, responseOf(status, errors, decided)])
  const security = [
    ...(own.length > 0 ? own : securityOf(description, guarded)),
    // OpenAPI 3.1 §4.8.30: an empty one lets anonymous requests in.
    ...(policies.every(({ noauth, guests }) => noauth || guests) ? [{}] : []),
  ]
  return {
    ...open,
    ...operation,
    ...(guarded.length > 0 && { security }),
    ...(parameters.length > 0 && { parameters }),
    responses: { ...responses, ...Object.fromEntries(answers) },
  }
}

/** The guard wants its token in addition to what the application asks for in the whole document. */
function securityOf(
  { bearer, dpop, security: shared, rules }: Description,
  policies: readonly Policy[],
): Draft[] {
  const { senderProofs } = rules
  const takesBearer = senderProofs.certificate || !policies.some(({ mustBeBound }) => mustBeBound)
  const tokens = [...(takesBearer ? [bearer] : []), ...(senderProofs.dpop ? [dpop] : [])]
  const wanted = (tokens.length > 0 ? tokens : [bearer]).map((name) => ({ [name]: [] }))
  const security = requirementsIn(shared)
  if (security.length === 0) return wanted
  // The application may ask for the very same token there, in a cookie for instance.
  if (rules.tokenFrom !== undefined) return [...security, ...wanted]
  return security.flatMap((alternative) => wanted.map((token) => ({ ...token, ...alternative })))
}

/**
 * The Security Requirement Objects of a list, without empty ones: an empty one lets anonymous
 * requests in (OpenAPI 3.1 §4.8.30), but the guard does not. All lists are copied, because an
 * object that stands in several places becomes an alias in YAML.
 */
function requirementsIn(security: unknown): Draft[] {
  return list(security)
    .map((requirement) => mapValues(draft(requirement), (scopes) => [...list(scopes)]))
    .filter((requirement) => Object.keys(requirement).length > 0)
}

/** A range or `default` counts too: Fastify serializes our refusals as the schema there says. */
function isAnswered(responses: Draft, status: number): boolean {
  const range = `${Math.floor(status / 100)}XX`
  return [String(status), range, 'default'].some((key) => Object.hasOwn(responses, key))
}

/** The scheme's name is case-insensitive (RFC 9110 §11.1). */
function isHttp(value: unknown, wanted: string): boolean {
  const { type, scheme } = draft(value)
  return type === 'http' && typeof scheme === 'string' && scheme.toLowerCase() === wanted
}
