/** The sections of options. */
export type OptionSection = 'auth' | 'tenants'

/** The section of an issuer. */
export type IssuerSection = `auth.${string}`

/** The sections that are ours. All others belong to the application. */
export type SectionName = OptionSection | IssuerSection

/** Our sections, as a message names them. */
export const OUR_SECTIONS = '[auth], [auth.NAME] or [tenants]'

const WORDS: readonly OptionSection[] = ['auth', 'tenants']

export function isOurs(name: string): name is SectionName {
  return isOptionSection(name) || isIssuerSection(name)
}

export function isOptionSection(name: string): name is OptionSection {
  return WORDS.some((word) => word === name)
}

function isIssuerSection(name: string): name is IssuerSection {
  return /^auth\.[\w.-]{1,64}$/.test(name)
}

/**
 * The section of ours that a name may have been meant for: it differs by case, or by one letter
 * more, less or other. `oauth` is a word of its own.
 */
export function meantSection(name: string): OptionSection | 'auth.NAME' | undefined {
  const [first = '', ...others] = name.toLowerCase().split('.')
  const isAuth = first !== 'oauth' && isOneLetterOff(first, 'auth')
  if (others.length > 0) return isAuth ? 'auth.NAME' : undefined
  if (isAuth) return 'auth'
  return isOneLetterOff(first, 'tenants') ? 'tenants' : undefined
}

/** Or the same. */
function isOneLetterOff(name: string, ours: string): boolean {
  let same = 0
  while (same < ours.length && name[same] === ours[same]) same++
  const [rest, restOfOurs] = [name.slice(same), ours.slice(same)]
  return [restOfOurs, restOfOurs.slice(1)].includes(rest.slice(1)) || rest === restOfOurs.slice(1)
}
