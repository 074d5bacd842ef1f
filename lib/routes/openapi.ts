import { type AnswerRules, answerOf, errorSchema, refusalsOf } from './openapi/answers.ts'
import { type DocumentedRoute, indexRoutes } from './openapi/documented-routes.ts'
import { type Draft, draft, drafts, freeName, mapValues } from './openapi/draft.ts'
import {
  type OuterParameters,
  type TenantParameterRules,
  withTenantParameter,
} from './openapi/tenant-parameter.ts'
import type { Policy } from './policy.ts'

export interface OpenapiRules extends AnswerRules, TenantParameterRules {
  /** Finds tokens in other places than the Authorization header. */
  readonly tokenFrom?: unknown
}

/** What the operations of one path item are described with. */
interface Description {
  readonly rules: OpenapiRules
  /** Name of the bearer scheme, and of the schema of errors, in the document's components. */
  readonly scheme: string
  readonly errors: string
  /** The Security Requirement Objects of the whole document. */
  readonly security: Draft[]
  readonly parameters: OuterParameters
}

/**
 * A copy of an OpenAPI document that tells what the guard does: the bearer scheme, and each operation's `security`,
 * `tenant` parameter and refusals. What the application has written itself is kept.
 */
export function describeGuard<Document extends object>(
  document: Document,
  routes: Iterable<DocumentedRoute>,
  rules: OpenapiRules,
): Document {
  const { components, paths, security } = draft(document)
  const { securitySchemes, schemas, parameters } = draft(components)
  const schemes = draft(securitySchemes)
  const scheme = Object.keys(schemes).find((name) => isBearer(schemes[name]))
  const names = {
    scheme: scheme ?? freeName('bearerAuth', schemes),
    errors: freeName('AuthError', draft(schemas)),
  }
  const policyOf = indexRoutes(routes, document)

  const describePath = (path: string, item: Draft): Draft => {
    const description = {
      rules,
      ...names,
      security: [...drafts(security)],
      parameters: { shared: drafts(item['parameters']), named: draft(parameters) },
    }
    const describe = (operation: unknown, method: string): unknown => {
      const policy = policyOf(method, path)
      return policy ? describeOperation(draft(operation), policy, description) : operation
    }
    // OpenAPI 3.2 §4.9: the methods that have no field of their own.
    const { additionalOperations: more } = item
    const described = mapValues(item, describe)
    return more === undefined
      ? described
      : { ...described, additionalOperations: mapValues(draft(more), describe) }
  }

  return {
    ...document,
    components: {
      ...draft(components),
      securitySchemes: { [names.scheme]: bearerScheme(), ...schemes },
      schemas: { ...draft(schemas), [names.errors]: errorSchema() },
    },
    paths: mapValues(draft(paths), (item, path) => describePath(path, draft(item))),
  }
}

function describeOperation(operation: Draft, policy: Policy, description: Description): Draft {
  if (policy.noauth) return { security: [], ...operation }
  const { rules, errors } = description
  const own = drafts(operation['parameters'])
  const parameters = withTenantParameter(own, policy, description.parameters, rules)
  const responses = draft(operation['responses'])
  const answers = refusalsOf(policy, rules)
    .filter((status) => !isAnswered(responses, status))
    .map((status) => [status, answerOf(status, errors)])
  return {
    security: securityOf(description),
    ...operation,
    ...(parameters.length > 0 && { parameters }),
    responses: { ...responses, ...Object.fromEntries(answers) },
  }
}

/** The guard wants its token beside whatever the application asks for in the whole document. */
function securityOf({ scheme, security: shared, rules }: Description): Draft[] {
  const bearer = { [scheme]: [] }
  // Copied down to the lists: what is one object in several places becomes an alias in YAML.
  const security = structuredClone(shared)
  if (security.length === 0) return [bearer]
  // There the application may ask for the very same token, in a cookie for instance.
  if (rules.tokenFrom !== undefined) return [...security, bearer]
  return security.map((alternative) => ({ ...bearer, ...alternative }))
}

/** By a range or by `default` too: Fastify serializes our refusals as these say. */
function isAnswered(responses: Draft, status: number): boolean {
  const range = `${Math.floor(status / 100)}XX`
  return [String(status), range, 'default'].some((key) => Object.hasOwn(responses, key))
}

function bearerScheme(): Draft {
  return { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }
}

/** The scheme's name is case-insensitive (RFC 9110 §11.1). */
function isBearer(value: unknown): boolean {
  const { type, scheme } = draft(value)
  return type === 'http' && String(scheme).toLowerCase() === 'bearer'
}
