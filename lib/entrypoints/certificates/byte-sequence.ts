import { certificateOf } from './certificate.ts'

/** The certificate of a Byte Sequence (RFC 9440 §2.2, RFC 9651 §3.3.5), without parameters. */
export function readByteSequence(value: string): Buffer | null {
  return certificateOf(/^:([^:]*):$/.exec(value)?.[1] ?? '')
}
