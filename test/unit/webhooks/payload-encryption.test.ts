import { execFileSync } from 'node:child_process'
import {
  createDecipheriv,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  privateDecrypt,
} from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  encodePayload,
  encodingFor,
  type PayloadEncoding,
  readPublicKey,
} from '../../../src/capabilities/webhooks/sending/payload-encryption.ts'
import { missing } from '../../support/needs.ts'

const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength })
const { publicKey, privateKey } = rsa(2048)
const spki = publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
const pkcs1 = publicKey.export({ format: 'der', type: 'pkcs1' }).toString('base64')

function sealed(json: string, given: Parameters<typeof encodingFor>[0]): Record<string, string> {
  const sealing = encodingFor(given)
  if (sealing.kind === 'impossible') throw new Error('it cannot be sealed')
  return JSON.parse(encodePayload(Buffer.from(json), sealing).toString()) as Record<string, string>
}

const encrypted = (json: string, text = spki): Record<string, string> =>
  sealed(json, { encryptData: true, encodeData: false, publicKey: text })

function decrypted({ encryptedData, encryptedKey, iv }: Record<string, string>, key: KeyObject): string {
  const bytes = (text = '') => Buffer.from(text, 'base64')
  const wrapped = privateDecrypt({ key, oaepHash: 'sha256' }, bytes(encryptedKey))
  const decipher = createDecipheriv('aes-256-cbc', wrapped, bytes(iv))
  return Buffer.concat([decipher.update(bytes(encryptedData)), decipher.final()]).toString()
}

it('[HOOK-104] encodes a payload as base64 of the JSON, or leaves it as JSON if encoding is off', () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      const form = sealed(json, { encodeData: true, encryptData: false, publicKey: spki })
      expect(Object.keys(form)).toEqual(['encodedPayload'])
      expect(Buffer.from(form.encodedPayload ?? '', 'base64').toString()).toBe(json)
      expect(encodePayload(Buffer.from(json), { kind: 'plain' }).toString()).toBe(json)
    }),
  )
})

it('[HOOK-105] encrypts a payload that Node decrypts to the JSON', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(spki, pkcs1), (json, text) => {
      const form = encrypted(json, text)
      expect(Object.keys(form)).toEqual(['encryptedData', 'encryptedKey', 'iv'])
      expect(Buffer.from(form.iv ?? '', 'base64')).toHaveLength(16)
      expect(decrypted(form, privateKey)).toBe(json)
    }),
    { numRuns: 30 },
  )
})

it('[HOOK-105] prefers encryption to encoding, and uses different keys and ivs for two forms of one payload', () => {
  const both = { encryptData: true, encodeData: true, publicKey: spki }
  const [one, two] = [sealed('{}', both), sealed('{}', both)]
  expect(Object.keys(one)).toEqual(['encryptedData', 'encryptedKey', 'iv'])
  for (const member of Object.keys(one)) expect(one[member]).not.toBe(two[member])
})

const commands = String.raw`
member() { node -p "JSON.parse(require('fs').readFileSync('body.json', 'utf8')).$1"; }
member encryptedKey | openssl base64 -d -A | openssl pkeyutl -decrypt -inkey private.pem \
  -pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256 -pkeyopt rsa_mgf1_md:sha256 -out key.bin
member encryptedData | openssl base64 -d -A | openssl enc -d -aes-256-cbc \
  -K "$(od -An -v -tx1 key.bin | tr -d ' \n')" -iv "$(member iv | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')"
`

it.skipIf(missing('openssl'))('[HOOK-105] encrypts a payload that openssl decrypts', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'weft-seal-'))
  const json = JSON.stringify({ event: 'comment.add', data: { text: 'Zoë 😀 '.repeat(2000) } })
  writeFileSync(join(cwd, 'body.json'), JSON.stringify(encrypted(json)))
  writeFileSync(join(cwd, 'private.pem'), privateKey.export({ format: 'pem', type: 'pkcs8' }))
  const shown = execFileSync('sh', ['-euc', commands], { cwd, encoding: 'utf8' })
  expect(shown.trim()).toBe(json)
})

it('[HOOK-6] reads both kinds of RSA public key, with and without line breaks', () => {
  const lines = (text: string): string => (text.match(/.{1,64}/g) ?? []).join('\n')
  for (const text of [spki, pkcs1, lines(spki), `${lines(pkcs1)}\r\n`])
    expect(readPublicKey(text)?.equals(publicKey)).toBe(true)
})

const der = (key: KeyObject): string => key.export({ format: 'der', type: 'spki' }).toString('base64')
/** The same key with an even modulus, which loads and is useless. */
function evenModulus(): string {
  const bytes = Buffer.from(pkcs1, 'base64')
  const last = bytes.length - 6
  bytes[last] = (bytes[last] ?? 0) & 0xfe
  return bytes.toString('base64')
}

/** The same key with the exponent 1, with which encryption changes nothing. */
function exponentOne(): string {
  const jwk = publicKey.export({ format: 'jwk' })
  return der(createPublicKey({ key: { ...jwk, e: 'AQ' }, format: 'jwk' }))
}

const none: readonly (readonly [what: string, text: string])[] = [
  ['nothing', ''],
  ['no base64', 'not a key!'],
  ['with PEM lines of a certificate', `-----BEGIN CERTIFICATE-----\n${spki}\n-----END CERTIFICATE-----`],
  ['base64 of something else', Buffer.from('hello').toString('base64')],
  ['cut', spki.slice(0, 200)],
  ['a private key', privateKey.export({ format: 'der', type: 'pkcs1' }).toString('base64')],
  ['a private key of the other kind', privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')],
  ['RSA of 1,024 bits', der(rsa(1024).publicKey)],
  ['RSA for signatures', der(generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).publicKey)],
  ['an elliptic curve', der(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey)],
  ['Ed25519', der(generateKeyPairSync('ed25519').publicKey)],
  ['an even modulus', evenModulus()],
  ['an exponent of 1', exponentOne()],
  ['far too long', 'A'.repeat(1_000_000)],
]
it('[HOOK-6] reads the key from a complete PEM file', () => {
  const pem = `-----BEGIN PUBLIC KEY-----\n${spki}\n-----END PUBLIC KEY-----\n`
  expect(readPublicKey(pem)?.export({ format: 'der', type: 'spki' }).toString('base64')).toBe(spki)
})

it.each(none)('[HOOK-6] rejects %s as a key, and sends no payload with it', (_what, text) => {
  expect(readPublicKey(text)).toBeNull()
  const sealing: PayloadEncoding = encodingFor({ encryptData: true, encodeData: true, publicKey: text })
  expect(sealing).toEqual({ kind: 'impossible' })
})
