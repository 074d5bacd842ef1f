/** Most characters of a value, or of a name, that a message shows. */
const MOST_SHOWN = 80

/** A value as a boot error shows it: on one line, short, and without what may be a secret. */
export function showValue(value: unknown): string {
  return cut(Array.isArray(value) ? showList(value) : showItem(value))
}

/** A value that may be a secret: its type alone, and the length of a text. */
export function showHidden(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return 'a number'
  const isText = typeof value === 'string' && value !== ''
  return isText ? `a text of ${value.length} characters` : showItem(value)
}

function showList(list: readonly unknown[]): string {
  // Each item takes a character at least, so that later ones are cut off.
  const length = Math.min(list.length, MOST_SHOWN)
  const items = Array.from({ length }, (_, i) => list[i])
  const secret = items.findIndex(holdsSecret)
  // The next items may be the rest of a secret that was split into a list.
  const shown = items.map((item, i) => (secret === -1 || i <= secret ? showItem(item) : '***'))
  return `[${shown.join(', ')}]`
}

function holdsSecret(value: unknown): boolean {
  return typeof value === 'string' && withoutSecrets(value) !== value
}

/** A key or a section's name. A character beyond ASCII may look like another, so it is a number. */
export function showName(name: string): string {
  return cut(withoutSecrets(name).replace(/[^ -~]/gu, asNumbers))
}

/** The path of a file. It is shown whole, unless it is an address. */
export function showPath(path: string): string {
  const isAddress = /\w\w:[/\\]/.test(path)
  return visible(isAddress ? withoutSecrets(path) : path)
}

/** A reason that another part of the package gives. */
export function showReason(reason: string): string {
  return visible(reason.split(' ').map(withoutSecrets).join(' '))
}

function showItem(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value !== 'string') return visible(withoutSecrets(String(value)))
  return visible(JSON.stringify(withoutSecrets(value)))
}

/** Not within a pair of surrogates. */
function cut(text: string): string {
  if (text.length <= MOST_SHOWN) return text
  return `${text.slice(0, MOST_SHOWN).replace(/[\ud800-\udbff]$/, '')}…`
}

/** Replaces characters that are invisible, or that move others, by their number. */
export function visible(text: string): string {
  return text.replace(/[\p{C}\p{DI}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu, asNumbers)
}

/** The same for a text of several lines, such as JSON with an indent. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n')
}

function asNumbers(character: string): string {
  const units = character.split('')
  return units.map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
}

/** A text without credentials and queries of addresses, tokens and keys. */
function withoutSecrets(text: string): string {
  return withoutCredentials(text)
    .replace(/([?#]).+/s, '$1***')
    .replace(/\{.*/s, '{***')
    .replace(/-----BEGIN.*/s, '-----BEGIN***')
    .replace(/eyJ[\w.-]{8,}/g, 'eyJ***')
}

/**
 * Up to the last `@`, and however it is spelt: an address that cannot be parsed has credentials
 * too.
 */
function withoutCredentials(text: string): string {
  const at = [...text.matchAll(/@|%40|\uff20/g)].at(-1)
  if (at === undefined) return text
  const scheme = /^\s*[a-z][a-z\d+.-]*:[/\\]*/i.exec(text)?.[0] ?? ''
  const hidden = text.slice(scheme.length, at.index)
  // The `@` may belong to a query, and the secret follow it.
  return /[?#]/.test(hidden)
    ? `${scheme}***`
    : `${scheme}***@${text.slice(at.index + at[0].length)}`
}
