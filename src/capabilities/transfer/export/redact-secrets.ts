import { isJsonObject } from '../../../core/base/json.ts'
import type { AuthTokenRecord, WorkspaceRecord } from '../../../core/directory/store/records.ts'
import { CredentialGenerator } from '../../../core/directory/tenants/workspace-service.ts'
import { generateSecret } from '../../../core/outgoing/sign.ts'
import type { Key } from '../../../core/store/engine.ts'
import type { CallbacksRecord } from '../../webhooks/callback-records.ts'
import type { BasicConfig, EndpointRecord } from '../../webhooks/webhook-records.ts'

/** A record without its secrets, and the names of the members that an import must generate. */
interface RedactedRecord {
  readonly record: unknown
  readonly secrets: readonly string[]
}

type RedactionRule = (record: unknown) => RedactedRecord | null

/**
 * Functions that remove secrets in plain text from records. The key of a function consists of the first
 * segment of the partition, the record kind in the stored key, and the number of segments of the stored key.
 */
const rules: ReadonlyMap<string, RedactionRule> = new Map<string, RedactionRule>([
  ['directory workspaces 2', withoutWorkspaceToken],
  ['directory authTokens 5', withoutAuthToken],
  // The export omits these tokens, because they are valid only for a short time.
  ['directory retiredTokens 4', () => null],
  ['webhooks endpoints 2', withoutSigningSecret],
  ['webhooks callbacks 1', withoutSigningSecret],
  ['webhooks basic 1', withoutReceiverToken],
])

/**
 * Removes the secrets of a record. Returns null if the export must omit the whole record. Digests and
 * encrypted values are not secrets.
 */
export function redactSecrets(part: Key, key: Key, record: unknown): RedactedRecord | null {
  const kind = part[0] === 'directory' && key.length > 2 ? key[2] : key[0]
  const rule = rules.get(`${part[0]} ${kind} ${key.length}`)
  return rule === undefined ? { record, secrets: [] } : rule(record)
}

function withoutWorkspaceToken(record: unknown): RedactedRecord {
  const { retiredTokens: _, isUnissued: __, ...others } = record as WorkspaceRecord
  return { record: { ...others, authToken: '' }, secrets: ['authToken'] }
}

function withoutAuthToken(record: unknown): RedactedRecord {
  const { isUnissued: _, ...others } = record as AuthTokenRecord
  return { record: { ...others, token: '' }, secrets: ['token'] }
}

function withoutSigningSecret(record: unknown): RedactedRecord {
  const signed = { ...(record as EndpointRecord | CallbacksRecord), secret: '', previousSecret: null }
  return { record: signed, secrets: ['secret'] }
}

/**
 * Empties the token for the webhook receiver. An import cannot generate a new token, because the receiver
 * must know the token.
 */
function withoutReceiverToken(record: unknown): RedactedRecord {
  const config = record as BasicConfig
  const webhookServiceConfig = { ...config.webhookServiceConfig, authToken: '' }
  return { record: { ...config, webhookServiceConfig }, secrets: [] }
}

/** Returns the record with newly generated values for the members in `secrets`. */
export function regenerateSecrets(record: unknown, secrets: readonly string[]): object {
  const make = (name: string): string =>
    name === 'secret' ? generateSecret() : new CredentialGenerator().secret()
  const isToken = secrets.some((name) => name !== 'secret')
  const made = Object.fromEntries(secrets.map((name) => [name, make(name)]))
  return { ...(isJsonObject(record) && record), ...made, ...(isToken && { isUnissued: true }) }
}
