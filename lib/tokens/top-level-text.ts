const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const SPACES = [0x20, 0x09, 0x0a, 0x0d]

/**
 * A member of a JSON object, where its value is a string: found without parsing the object, since a
 * payload that nobody has signed may cost more to parse than a signature costs to verify. It is a
 * guess of what parsing gives, and no proof that the text is JSON.
 *
 * @param name without characters that JSON escapes
 */
export function topLevelText(json: Buffer, name: string): string | undefined {
  const key = Buffer.from(JSON.stringify(name))
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === QUOTE) {
      const end = endOfString(json, at)
      const value = depth === 1 && equals(json, at, end, key) ? afterColon(json, end) : undefined
      if (value !== undefined) return textAt(json, value)
      at = end - 1
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth += 1
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      depth -= 1
    }
  }
  return undefined
}

/** Where the string ends that begins there: behind its closing quote, or with the text. */
function endOfString(json: Buffer, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    const byte = json[at]
    if (byte === BACKSLASH) at += 1
    else if (byte === QUOTE) return at + 1
  }
  return json.length
}

function equals(json: Buffer, start: number, end: number, key: Buffer): boolean {
  return end - start === key.length && json.compare(key, 0, key.length, start, end) === 0
}

/** Where the value begins of the member whose name ends there; undefined: it is no name. */
function afterColon(json: Buffer, end: number): number | undefined {
  const colon = skipSpaces(json, end)
  return json[colon] === COLON ? skipSpaces(json, colon + 1) : undefined
}

function skipSpaces(json: Buffer, start: number): number {
  let at = start
  for (let byte = json[at]; byte !== undefined && SPACES.includes(byte); byte = json[at]) at += 1
  return at
}

function textAt(json: Buffer, start: number): string | undefined {
  if (json[start] !== QUOTE) return undefined
  try {
    return String(JSON.parse(json.toString('utf8', start, endOfString(json, start))))
  } catch {
    return undefined
  }
}
