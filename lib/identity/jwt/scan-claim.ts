const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
/** Brackets and braces differ in one bit. */
const BRACE = 0x20
const OPENING = 0x7b
const CLOSING = 0x7d
const SPACE = 0x20
const TAB = 0x09
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/**
 * A member of a JSON object, if its value is a string: found without parsing the object, since a
 * payload that nobody has signed may cost more to parse than a signature costs to verify. It is a
 * guess of what parsing gives, and no proof that the text is JSON.
 *
 * @param name without characters that JSON escapes
 */
export function scanClaim(json: Buffer, name: string): string | undefined {
  // With its quotes, so that no longer name begins with it.
  const key = Buffer.from(JSON.stringify(name))
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === QUOTE) {
      const end = endOfString(json, at)
      if (depth === 1) {
        const value = afterColon(json, end)
        // A string in the place of a member's name: this is no JSON.
        if (value === undefined) return undefined
        if (startsWith(json, at, key)) return textAt(json, value)
        at = json[value] === QUOTE ? endOfString(json, value) - 1 : value - 1
      } else {
        at = end - 1
      }
    } else {
      // Without branches: a stranger can send thousands of brackets.
      const kind = Number(byte) | BRACE
      depth += Number(kind === OPENING) - Number(kind === CLOSING)
    }
  }
  return undefined
}

/** The index behind the closing quote of the string that begins there, or the end of the text. */
function endOfString(json: Buffer, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    const byte = json[at]
    if (byte === BACKSLASH) at += 1
    else if (byte === QUOTE) return at + 1
  }
  return json.length
}

/** Byte by byte: a call of Buffer's own costs more, and a stranger can cause thousands. */
function startsWith(json: Buffer, start: number, key: Buffer): boolean {
  for (let at = 0; at < key.length; at++) if (json[start + at] !== key[at]) return false
  return true
}

/** The index of the value of the member whose name ends there; undefined: it is no name. */
function afterColon(json: Buffer, end: number): number | undefined {
  const colon = skipSpaces(json, end)
  return json[colon] === COLON ? skipSpaces(json, colon + 1) : undefined
}

function skipSpaces(json: Buffer, start: number): number {
  let at = start
  while (isSpace(json[at])) at += 1
  return at
}

function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB || byte === LINE_FEED || byte === CARRIAGE_RETURN
}

function textAt(json: Buffer, start: number): string | undefined {
  if (json[start] !== QUOTE) return undefined
  try {
    return String(JSON.parse(json.toString('utf8', start, endOfString(json, start))))
  } catch {
    return undefined
  }
}
