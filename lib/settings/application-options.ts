import { Type } from '@sinclair/typebox'
import { RESOURCE_ADDRESS, Switch, Text } from './option-kinds.ts'
import { RESOURCE_EXPECTED } from './resource-address.ts'

/** What the log can name of a decided request. */
const LOG_BINDINGS = ['tenant', 'sub', 'issuer'] as const

export type LogBinding = (typeof LOG_BINDINGS)[number]

/** How the guard behaves in its application. */
export const applicationOptions = {
  /**
   * Whether every request acts as a mock user, without tokens and without network. Refused where
   * NODE_ENV is `production`.
   * @default false
   */
  devMode: Switch(false),

  /**
   * JSON file of the mock user of dev mode. A relative path counts from the INI file's folder, or
   * from the working directory where it is given in code.
   * @default '/conf/dev-userinfo.json'
   */
  devUserInfoPath: Text('a path', { default: '/conf/dev-userinfo.json' }),

  /**
   * Whether `currentAuthorization()` tells the authorization of a request anywhere below its
   * handler, and `authService.actAs()` may be called.
   * @default false
   */
  asyncContext: Switch(false),

  /** The realm of the challenges (RFC 9110 §11.5); printable ASCII. @default 'api' */
  realm: Text('printable ASCII', { pattern: '^[ -~]+$', default: 'api' }),

  /**
   * The API's own address as its clients know it, such as `https://api.example.com/mcp`: the
   * resource identifier of RFC 9728 §1.2. https, or http on loopback; no credentials, query,
   * fragment, `%` or `*`, and no slash at its end. An issuer must be configured. Where `audience`
   * is not given, it is the audience. Every challenge names the address of its metadata (RFC 9728
   * §5.1), and that of a 401 the route's `require` as `scope`. See `resourceMetadata`.
   */
  resource: Type.Optional(Text(RESOURCE_EXPECTED, { format: RESOURCE_ADDRESS })),

  /** What to do at boot about routes that no guard covers. @default 'refuse' */
  uncovered: Type.Union([Type.Literal('warn'), Type.Literal('refuse'), Type.Literal('ignore')], {
    default: 'refuse',
    expected: 'warn, refuse or ignore',
  }),

  /**
   * What each line of the log names of a decided request: `tenant`, `sub`, `issuer`, each once. Of
   * a refused request it is what is known. `sub` and `issuer` are personal data.
   * @default none
   */
  logBindings: Type.Optional(
    Type.Unsafe<readonly LogBinding[]>(
      Type.Array(Type.Union(LOG_BINDINGS.map((name) => Type.Literal(name))), {
        minItems: 1,
        uniqueItems: true,
        expected: `a list of ${LOG_BINDINGS.join(', ')}, each once`,
      }),
    ),
  ),
}
