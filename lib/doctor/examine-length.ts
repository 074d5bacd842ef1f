import { maxHeaderSize } from 'node:http'
import { doubtful, type Finding, wrong } from './finding.ts'

/** Bytes of the header line around a token. */
const HEADER_LINE = 'authorization: Bearer \r\n'.length

/** Bytes that browsers and gateways send beside it, on a usual day. */
const OTHERS = 4096

const CURE =
  'raise http.maxHeaderSize of Fastify and of the gateways, or take rights from a database by resourcesOf'

/**
 * The length of a token against both limits: ours, and that of Node for all headers of a request
 * together, beyond which it answers 431 by itself.
 *
 * @param limit characters
 */
export function examineLength(token: string, limit: number): Finding[] {
  const { length } = token
  const findings: Finding[] = []
  if (length > limit) {
    const cure = `raise max_token_length; and ${CURE}`
    findings.push(wrong(`token: its ${length} characters are more than ${limit}`, cure))
  }
  const size = length + HEADER_LINE
  const against = `token: its header takes ${size} of the ${maxHeaderSize} bytes that Node reads`
  if (size > maxHeaderSize) findings.push(wrong(against, CURE))
  else if (size + OTHERS > maxHeaderSize) findings.push(doubtful(against, CURE))
  return findings
}
