import { Type } from '@sinclair/typebox'
import { Switch, Text } from './option-kinds.ts'

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

  /** The realm of the challenges (RFC 9110 §11.5); printable ASCII. @default 'api' */
  realm: Text('printable ASCII', { pattern: '^[ -~]+$', default: 'api' }),

  /** What to do at boot about routes that no guard covers. @default 'warn' */
  uncovered: Type.Union([Type.Literal('warn'), Type.Literal('refuse'), Type.Literal('ignore')], {
    default: 'warn',
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
