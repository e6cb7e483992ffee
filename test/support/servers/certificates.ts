import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openssl } from './openssl.ts'

/** A certificate and its private key, in PEM format. */
export interface Certificate {
  readonly key: string
  readonly cert: string
}

/**
 * Creates a self-signed certificate with the `openssl` command. The certificate is valid for one day.
 * @param name name of the subject, in the form `DNS:…` or `IP:…`
 */
export function selfSigned(name: string): Certificate {
  const cwd = mkdtempSync(join(tmpdir(), 'weft-cert-'))
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc', '-keyout', 'key.pem']
  const what = ['-subj', '/CN=weft tests', '-addext', `subjectAltName=${name}`, '-days', '1']
  openssl(cwd, 'req', '-x509', ...key, ...what, '-out', 'cert.pem')
  return {
    key: readFileSync(join(cwd, 'key.pem'), 'utf8'),
    cert: readFileSync(join(cwd, 'cert.pem'), 'utf8'),
  }
}
