/** @module certificates */

export {
  type CertificateHeader,
  type CertificateHeaderOptions,
  certificateFrom,
} from './certificate-from.ts'
