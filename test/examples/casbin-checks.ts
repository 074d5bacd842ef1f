import { newEnforcer, newModelFromString, StringAdapter } from 'casbin'
import type { AuthOptions } from '../../lib/index.ts'

/** Who may do what in which tenant; roles are of a tenant. */
const MODEL = `
[request_definition]
r = sub, tenant, object, action
[policy_definition]
p = sub, tenant, object, action
[role_definition]
g = _, _, _
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = g(r.sub, p.sub, r.tenant) && r.tenant == p.tenant && keyMatch(r.object, p.object) && r.action == p.action
`

/**
 * A check that asks Casbin. Its name stands in the lock and in the document, which a hook of one's
 * own does not.
 *
 * @param rules of Casbin, such as `p, cook, acme, /menus/*, PUT` and `g, alice, cook, acme`
 */
export async function casbinChecks(rules: string): Promise<NonNullable<AuthOptions['checks']>> {
  const enforcer = await newEnforcer(newModelFromString(MODEL), new StringAdapter(rules))
  return {
    'casbin:permitted': (user, { method, params }) =>
      user !== null &&
      enforcer.enforce(user.userInfo.sub, user.tenant, `/${Object(params)['*']}`, method),
  }
}
