import { Generator } from '../directory/generator.ts'
import type { AuthTokenRecord, WorkspaceRecord } from '../directory/records.ts'
import type { Key } from '../engine/engine.ts'
import type { BasicConfig, EndpointRecord } from '../subscriptions/records.ts'
import { makeSecret } from '../subscriptions/secrets.ts'

/** A record, and which of its members an import is to make anew. */
export interface WithoutSecrets {
  readonly record: object
  readonly secrets: readonly string[]
}

type Rule = (record: object) => WithoutSecrets | null

/** By the first segments of partition and key, and the number of those of the key: what is kept in plain text. */
const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['directory workspaces 2', withoutWorkspaceToken],
  ['directory authTokens 5', withoutAuthToken],
  // Good for a while only: gone.
  ['directory retiredTokens 4', () => null],
  ['webhooks endpoints 2', withoutSigningSecret],
  ['webhooks basic 1', withoutReceiverToken],
])

/** A record without its secrets; null: it is left out. What is stored as a digest, or encrypted, is none. */
export function withoutSecrets(part: Key, key: Key, record: object): WithoutSecrets | null {
  const kind = part[0] === 'directory' && key.length > 2 ? key[2] : key[0]
  const rule = rules.get(`${part[0]} ${kind} ${key.length}`)
  return rule === undefined ? { record, secrets: [] } : rule(record)
}

function withoutWorkspaceToken(record: object): WithoutSecrets {
  const { retiredTokens: _, ...others } = record as WorkspaceRecord
  return { record: { ...others, authToken: '' }, secrets: ['authToken'] }
}

function withoutAuthToken(record: object): WithoutSecrets {
  return { record: { ...(record as AuthTokenRecord), token: '' }, secrets: ['token'] }
}

function withoutSigningSecret(record: object): WithoutSecrets {
  const endpoint = { ...(record as EndpointRecord), secret: '', previousSecret: null }
  return { record: endpoint, secrets: ['secret'] }
}

/** It is the receiver's: nobody else can make a new one. */
function withoutReceiverToken(record: object): WithoutSecrets {
  const config = record as BasicConfig
  const webhookServiceConfig = { ...config.webhookServiceConfig, authToken: '' }
  return { record: { ...config, webhookServiceConfig }, secrets: [] }
}

/** The record with new secrets in the place of those that were left out. */
export function withNewSecrets(record: object, secrets: readonly string[]): object {
  const make = (name: string): string => (name === 'secret' ? makeSecret() : new Generator().secret())
  return { ...record, ...Object.fromEntries(secrets.map((name) => [name, make(name)])) }
}
