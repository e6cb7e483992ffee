import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '../../..', 'src')
/** Tokens of `core/content/` are words. */
const sources = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts') && !name.startsWith('core/content/'),
)
const read = (name: string): string => readFileSync(join(root, name), 'utf8')

/** A name that contains a secret, alone or as a member. */
const secret = String.raw`[\w.?[\]]*\b(?:\w*(?:[tT]oken|[sS]ecret|[pP]assword)|authorization)\b`
/** Comparisons with these only check whether a secret exists. */
const harmless = String.raw`(?:null|undefined|''|-?\d|true|false)`
const comparisons: readonly RegExp[] = [
  new RegExp(String.raw`${secret} [!=]==? (?!${harmless})\S.*`, 'g'),
  new RegExp(String.raw`(?<![\w)])(?!${harmless})[\w.?]+ [!=]==? ${secret}(?!\w|\.length)`, 'g'),
  new RegExp(String.raw`\.(?:includes|indexOf|startsWith|endsWith|localeCompare)\(${secret}\)`, 'g'),
]

/**
 * Comparisons of configured or stored values at the start, which no client can request or measure, and of types
 * or names of members.
 */
const allowed: readonly string[] = [
  'core/config/read-config.ts: config.jwtSecret === config.jwtSecretPrevious',
  'core/directory/tenants/bootstrap.ts: found.authToken === token',
  'core/directory/tenants/bootstrap.ts: record.token === token',
  "client/api/create-api.ts: token === 'pageToken'",
  "client/rest/read-response.ts: pageToken === 'string' && { nextPage: pageToken }",
  "client/rest/verify-webhook.ts: secret === 'string' ? [secret] : secret.slice(0, secretsMax",
  "client/provider/token-cache.ts: token !== 'string' || !token",
  'capabilities/transfer/documents/rest-client.ts: page.pageToken === pageToken',
  "console/playground/join.ts: token === 'string' ? { name, token } : null",
]

const found = (name: string, text: string): readonly string[] =>
  comparisons.flatMap((pattern) =>
    [...text.matchAll(pattern)].map(([match]) => `${name}: ${match.replace(/\).*/, '')}`),
  )

it('[SEC-8] compares secrets with one function, in constant time', () => {
  const compared = new Set(sources.flatMap((name) => found(name, read(name))))
  expect([...compared].filter((each) => !allowed.includes(each))).toEqual([])
  const direct = sources.filter((name) => /\btimingSafeEqual\b/.test(read(name)))
  expect(direct).toEqual(['core/access/credentials/timing-safe.ts'])
})

it.each([
  'if (given === options.adminToken) return',
  'if (record.token !== given) throw',
  'return secret == other',
  'tokens.includes(authToken)',
  'headers.authorization !== expected',
])('[SEC-8] finds a comparison of secrets that is not in constant time: %s', (line) => {
  expect(found('x.ts', line)).not.toEqual([])
})
